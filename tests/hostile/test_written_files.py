"""Files that are written over: they keep their permissions, and no path makes a file where none was asked for."""

import os
import stat

import numpy as np
import pytest

import teachconv as tc
from teachconv.cli.main import main
from teachconv.support.files import replacing

X, W = np.ones((1, 3, 3, 1), "float32"), np.ones((2, 2, 1, 1), "float32")


def model():
    return tc.keras.Sequential([tc.keras.Input((3,)), tc.keras.layers.Dense(2)])


def run_metadata():
    metadata = tc.graph.RunMetadata()
    with tc.graph.Graph().as_default(), tc.graph.Session() as session:
        session.run(tc.graph.constant(1.0), run_metadata=metadata)
    return metadata


def weights(path):
    model().save_weights(path)


def safetensors(path):
    pytest.importorskip("safetensors")
    model().save_weights(path)


def onnx_file(path):
    pytest.importorskip("onnx")
    tc.to_onnx(tc.conv2d, X, W, path=path)


def explorer(path):
    tc.explore(tc.conv2d, X, W).save(path)


def animation(path):
    pytest.importorskip("matplotlib")
    tc.plot.animate(path, tc.conv2d, X, W)


def playground(path):
    tc.playground().save(path)


def log(path):
    run_metadata().save_html(path)


def chrome_trace(path):
    run_metadata().save_chrome_trace(path)


WHOLE = [  # never half written, each with the name of its argument and an ending
    (weights, "filepath", ".weights.npz"),
    (safetensors, "filepath", ".safetensors"),
    (onnx_file, "path", ".onnx"),
]
IN_PLACE = [
    (explorer, "path", ".html"),
    (animation, "path", ".gif"),
    (playground, "path", ".html"),
    (log, "path", ".html"),
    (chrome_trace, "path", ".json"),
]
whole = pytest.mark.parametrize(("write", "name", "ending"), WHOLE)
every = pytest.mark.parametrize(("write", "name", "ending"), WHOLE + IN_PLACE)
posix = pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o022, 0o077, 0o000], ids=oct)
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@posix
@whole
def test_permissions_are_kept_and_new_files_have_those_of_the_process(write, name, ending, umask, tmp_path):
    path = tmp_path / f"file{ending}"
    write(path)
    assert mode_of(path) == 0o666 & ~umask
    for mode in (0o600, 0o640, 0o666):
        path.chmod(mode)
        write(path)
        assert mode_of(path) == mode
    assert os.listdir(tmp_path) == [path.name]


@posix
@pytest.mark.parametrize(("write", "name", "ending"), IN_PLACE)
def test_what_is_written_in_place_keeps_its_permissions(write, name, ending, tmp_path):
    path = tmp_path / f"file{ending}"
    path.touch(0o600)
    write(path)
    assert mode_of(path) == 0o600
    assert path.stat().st_size > 0


@posix
def test_nobody_else_reads_a_private_file_while_it_is_written(tmp_path):
    path = tmp_path / "file"
    for mode in (None, 0o600, 0o664):
        if mode is not None:
            path.chmod(mode)
        with replacing(path) as file:
            file.write(b"new")
            seen = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            assert seen == (0o600 if mode else 0o666 & ~os.umask(os.umask(0o022)))
        assert path.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root may give files away")
def test_owner_and_group_are_kept_where_that_is_allowed(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"")
    os.chown(path, 12345, 23456)
    path.chmod(0o660)
    with replacing(path) as file:
        file.write(b"new")
    assert (path.stat().st_uid, path.stat().st_gid, mode_of(path)) == (12345, 23456, 0o660)

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    with replacing(path) as file:
        file.write(b"newer")
    assert path.stat().st_gid != 23456
    assert mode_of(path) == 0o600  # the other group's permissions are not for this one


@posix
@whole
def test_a_link_stays_and_its_target_is_written(write, name, ending, tmp_path):
    (tmp_path / "inside").mkdir()
    target, link = tmp_path / "inside" / f"target{ending}", tmp_path / f"link{ending}"
    link.symlink_to(target)
    write(link)  # a link to nothing so far
    target.chmod(0o600)
    write(link)
    assert link.is_symlink()
    assert mode_of(target) == 0o600
    assert os.listdir(tmp_path / "inside") == [target.name]
    link.unlink()
    link.symlink_to(link)
    with pytest.raises(OSError, match="(?i)symbolic link|cache must be"):
        write(link)
    assert link.is_symlink()


@every
def test_a_folder_is_no_file_and_nothing_is_left_beside_it(write, name, ending, tmp_path):
    folder = tmp_path / f"folder{ending}"
    folder.mkdir()
    with pytest.raises((OSError, tc.ArgumentError), match="folder") as error:
        write(folder)
    assert os.listdir(tmp_path) == [folder.name]
    assert os.listdir(folder) == []
    assert isinstance(error.value, (IsADirectoryError, PermissionError, tc.ArgumentError))
    with pytest.raises((OSError, tc.ArgumentError), match="nowhere"):
        write(tmp_path / "nowhere" / f"file{ending}")
    assert os.listdir(tmp_path) == [folder.name]


@every
@pytest.mark.parametrize("path", ["", "a\0b", "\ud800", "a" * 10**5, 3, None, b"bytes", ["a"]], ids=ascii)
def test_what_is_no_path_of_a_file_is_refused(write, name, ending, path, tmp_path, monkeypatch):
    (tmp_path / "inside").mkdir()
    monkeypatch.chdir(tmp_path / "inside")
    if path is None and write is onnx_file:
        return  # no file is asked for
    with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=rf"^{name} must ") as error:
        write(path)
    assert len(str(error.value)) < 300
    assert os.listdir(tmp_path) == ["inside"]
    assert os.listdir(tmp_path / "inside") == []


@pytest.mark.parametrize(
    "command",
    [
        "explore conv2d --input 1,3,3,1 --filters 2,2,1,1 --output",
        "demo --output",
    ],
)
def test_the_command_line_refuses_an_empty_path(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([*command.split(), ""]) == 2
    assert "must be the path of a file; got ''" in capsys.readouterr().err


@whole
def test_a_name_as_long_as_names_may_be(write, name, ending, tmp_path):
    path = tmp_path / ("n" * (255 - len(ending)) + ending)
    write(path)
    assert os.listdir(tmp_path) == [path.name]


@posix
def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(pipe) as file:
        file.write(b"text")
    assert os.read(reader, 10) == b"text"
    os.close(reader)
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


@posix
@pytest.mark.skipif(hasattr(os, "getuid") and os.getuid() == 0, reason="root may write every file")
def test_a_file_that_must_not_be_written_is_not(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="file"), replacing(path):
        pass
    assert path.read_bytes() == b"old"


def test_a_block_that_fails_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail():
        with replacing(path) as file:
            file.write(b"new")
            raise OSError("mine")

    with pytest.raises(OSError, match="^mine$"):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]
