"""Damaged and hostile .npy files on the command line: an error in one line, nothing executed, nothing allocated."""

import ast
import io
import pickle
import random
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.cli.main import main
from teachconv.verification import running


class Attack:
    """Unpickled, it would make a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def explain(path, capsys, *more):
    """The exit status and the errors of a call whose input is the file."""
    status = main(
        ["explain", "conv2d", "--input", str(path), "--filters", "2,2,1,1", "--at", "0,0,0,0", *more]
    )
    found = capsys.readouterr()
    assert "Traceback" not in found.err
    return status, found.err


def with_header(header, data=b""):
    text = header.encode("latin1")
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


WHOLE = saved(np.arange(16, dtype="float32").reshape(1, 4, 4, 1))
HEADER = "{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}"
FILES = {
    "empty": b"",
    "no header": WHOLE[:8],
    "half a header": WHOLE[:40],
    "no numbers": WHOLE[:128],
    "one number less": WHOLE[:-4],
    "text": b"1,2,3\n",
    "a later version": WHOLE[:6] + b"\x09" + WHOLE[7:],
    "a header of code": with_header("__import__('os').abort()"),
    "a header that is no dict": with_header("[1, 2, 3]"),
    "a header without a shape": with_header("{'descr': '<f4', 'fortran_order': False}"),
    "a shape of words": with_header(HEADER.format("<f4", False, "('a', 'b')"), bytes(64)),
    "a negative size": with_header(HEADER.format("<f4", False, "(1, -4, -4, 1)"), bytes(64)),
    "2^62 numbers": with_header(HEADER.format("<f4", False, "(4611686018427387904, 1, 1, 1)"), bytes(64)),
    "2^80 numbers": with_header(HEADER.format("<f4", False, f"({2**80}, 1, 1, 1)"), bytes(64)),
    "4 TB": with_header(HEADER.format("<f4", False, "(1, 1048576, 1048576, 1)"), bytes(64)),
    "1,000 nested brackets": with_header("(" * 1000),
    "a header of 60,000 characters": with_header("{" + " " * 60_000 + "}"),
    "a dtype of objects": with_header(HEADER.format("|O", False, "(1, 4, 4, 1)"), pickle.dumps([0] * 16)),
    "a dtype that is none": with_header(HEADER.format("<q9", False, "(1, 4, 4, 1)"), bytes(64)),
    "a structured dtype": saved(np.zeros((1, 4, 4, 1), [("a", "f4"), ("b", "f4")])),
    "text numbers": saved(np.full((1, 4, 4, 1), "1")),
    "times": saved(np.zeros((1, 4, 4, 1), "datetime64[s]")),
    "complex numbers": saved(np.zeros((1, 4, 4, 1), "complex64")),
    "two axes": saved(np.zeros((4, 4), "float32")),
    "no axis": saved(np.float32(3)),
    "no images": saved(np.zeros((0, 4, 4, 1), "float32")),
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_files(name, tmp_path, capsys):
    path = tmp_path / "x.npy"
    path.write_bytes(FILES[name])
    status, error = explain(path, capsys)
    assert status == 2
    assert len(error.strip().split("\n")) == 1
    assert error.startswith("teachconv explain: ")


def test_whole_files(tmp_path, capsys):
    path = tmp_path / "x.npy"
    for data in (WHOLE, saved(np.asfortranarray(np.ones((1, 4, 4, 1)))), saved(np.ones((1, 4, 4, 1), ">i4"))):
        path.write_bytes(data)
        more = [] if data is WHOLE else ["--dtype", str(np.load(path).dtype.newbyteorder("="))]
        assert explain(path, capsys, *more)[0] == 0


def test_a_pickle_is_not_executed(tmp_path, capsys):
    for number, data in enumerate(
        [pickle.dumps(Attack(tmp_path / "made")), with_header(HEADER.format("|O", False, "(1,)"),
         pickle.dumps(Attack(tmp_path / "made")))]
    ):  # fmt: skip
        path = tmp_path / f"{number}.npy"
        path.write_bytes(data)
        status, error = explain(path, capsys)
        assert status == 2
        assert "pickle" in error or "npy" in error
        assert (
            main(["diff", "conv2d", "--input", "1,4,4,1", "--filters", "2,2,1,1", "--against", str(path)])
            == 2
        )
        assert "Traceback" not in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def test_an_archive_is_no_array(tmp_path, capsys):
    path = tmp_path / "x.npy"
    with path.open("wb") as file:
        np.savez(file, a=np.zeros((1, 4, 4, 1), "float32"))
    status, error = explain(path, capsys)
    assert status == 2
    assert "npy" in error


def test_a_folder_and_a_missing_file(tmp_path, capsys):
    (tmp_path / "folder.npy").mkdir()
    for name in ("folder.npy", "none.npy"):
        assert explain(tmp_path / name, capsys)[0] == 2


def try_damaged(folder, capsys, trials):
    rng, path, statuses = random.Random(20261122), folder / "x.npy", set()
    for _ in range(trials):
        data = bytearray(WHOLE)
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(data))
            data[place : place + rng.randrange(3)] = rng.randbytes(rng.randrange(4))
        path.write_bytes(data)
        statuses.add(explain(path, capsys)[0])
    return statuses


def test_damaged_files(tmp_path, capsys):
    assert try_damaged(tmp_path, capsys, 60) == {0, 2}


@pytest.mark.slow
def test_many_damaged_files(tmp_path, capsys):
    assert try_damaged(tmp_path, capsys, 500) == {0, 2}


def test_no_module_unpickles():
    """No module imports pickle or lets NumPy use it: without the keyword NumPy refuses, in every version claimed.

    Only the process of `isolated` unpickles, what the one that started it sends.
    """
    for path in Path(tc.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert ast.unparse(node.value) == "False", f"{path}:{node.value.lineno}"
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                names = {alias.name for alias in node.names} | {getattr(node, "module", "")}
                assert path.name == "running.py" or not names & {"pickle", "marshal", "shelve"}, path
    assert _unpickling(Path(running.__file__)) == {"serve", "_imported"}


def _unpickling(path):
    """Return which functions of a module call pickle.load or pickle.loads."""
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    return {one.name for one in functions if "pickle.load" in ast.unparse(one)}
