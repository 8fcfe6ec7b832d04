"""The command line as a program: help, usage errors, closed pipes, terminals."""

import contextlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import teachconv as tc
from teachconv.cli.main import COMMANDS, main

CALL = ["--input", "1,8,8,1", "--filters", "3,3,1,1", "--strides", "2", "--padding", "SAME"]
PROGRAM = [sys.executable, "-m", "teachconv"]


@pytest.mark.parametrize(
    ("arguments", "message", "help_of"),
    [
        (["dif"], "got 'dif' (did you mean \"diff\"?)", ""),
        (["nonsense"], "argument command: must be one of demo, explain", ""),
        (["--vresion"], 'unknown option --vresion (did you mean "--version"?)', ""),
        (["explain", "conv2"], '(did you mean "conv2d"?)', " explain"),
        (["explain"], "the following arguments are required: op", " explain"),
        (["explain", "conv2d", "--strides", "x"], "expected ints separated by commas", " explain"),
        (["diff", "--paddin", "SAME"], 'unknown option --paddin (did you mean "--padding"?)', " diff"),
        (["diff", "conv2d", "--paddin=SAME"], '(did you mean "--padding"?)', " diff"),
        (["trace", "conv2d", "conv2d"], "unexpected argument 'conv2d'", " trace"),
        (["translate", "conv2", "1,2,3,4", "--to", "pytorhc"], '(did you mean "torch"?)', " translate"),
        (["vectors", "expotr"], '(did you mean "export"?)', " vectors"),
        (["translate", "conv2d", "--chek", "x"], '(did you mean "--check"?)', " translate"),
    ],
)
def test_a_usage_error_is_two_lines(capsys, arguments, message, help_of):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    out, err = capsys.readouterr()
    assert (stop.value.code, out) == (2, "")
    wrong, where = err.splitlines()
    assert wrong.startswith(f"teachconv{help_of}: ")
    assert message in wrong
    assert where == f'See "python -m teachconv{help_of} --help".'


def test_a_function_without_its_framework_is_suggested(capsys):
    assert main(["translate", "conv2", "1,3,8,8", "4,3,3,3", "--to", "torch"]) == 2
    assert capsys.readouterr().err.endswith('(did you mean "conv2d"?)\n')


def test_without_a_command_there_is_help(capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert all(f" {name} " in out or f" {name}\n" in out for name in COMMANDS)
    assert main(["vectors"]) == 0
    assert "export" in capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(capsys, command):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"usage: python -m teachconv {command}" in capsys.readouterr().out


def test_version():
    assert subprocess.check_output([*PROGRAM, "--version"], text=True) == f"teachconv {tc.__version__}\n"


def test_help_imports_next_to_nothing():
    """What a command needs is imported when it runs; help takes little longer than NumPy."""
    code = """
import sys
from teachconv.cli.main import main
try:
    main(["--help"])
except SystemExit:
    print(*(name for name in sys.modules if name.startswith("teachconv")))
    print(*{name.partition(".")[0] for name in sys.modules})
"""
    out = subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()
    ours, roots = out[-2].split(), set(out[-1].split())
    rooms = {name.split(".")[1] for name in ours if "." in name}
    heavy = {
        "graph",
        "explorer",
        "verification",
        "inspection",
        "translation",
        "dialects",
        "truth",
        "_kernels",
    }
    assert not heavy & rooms
    assert not {"scipy", "matplotlib", "cupy", "ml_dtypes", "threadpoolctl"} & roots
    assert {name for name in ours if name.startswith("teachconv.cli.")} == {
        "teachconv.cli.main",
        "teachconv.cli.parsing",
    }


@pytest.mark.skipif(sys.platform == "win32", reason="pipes are closed in another way there")
@pytest.mark.parametrize("arguments", [["--help"], ["backends"], ["diff", "conv2d", *CALL]])
def test_a_closed_pipe_ends_quietly(arguments):
    read, write = os.pipe()
    os.close(read)  # nobody will read a word
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [*PROGRAM, *arguments], stdout=write, stderr=subprocess.PIPE, text=True, check=False, env=buffered
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (128 + 13, "")


def test_an_encoding_that_lacks_a_character_gets_another():
    ascii_ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*PROGRAM, "trace", "conv2d", *CALL], capture_output=True, check=True, env=ascii_)
    out = done.stdout.decode("ascii")
    assert " us" in out or " ms" in out


def test_a_removed_command_names_its_successor(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "conv2d", *CALL])
    assert "removed in 0.2; print(teachconv.autotune(op, x, w))" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="file descriptors are closed in another way there")
@pytest.mark.parametrize("words", ["backends", "--help"])
def test_a_closed_output_is_no_error(words):
    closed = f'"{sys.executable}" -m teachconv {words} >&-'
    done = subprocess.run(closed, shell=True, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


# --- on a terminal -----------------------------------------------------------------------------------


def on_a_terminal(arguments, **environment):
    """What the command line writes to a terminal of 200 columns."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    ours, theirs = pty.openpty()
    variables = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "200", **environment}
    variables = {name: value for name, value in variables.items() if value is not None}
    with subprocess.Popen([*PROGRAM, *arguments], stdout=theirs, stderr=theirs, env=variables) as process:
        os.close(theirs)
        written = b""
        with contextlib.suppress(OSError):  # Linux says so when the other side is closed
            while part := os.read(ours, 65536):
                written += part
    os.close(ours)
    return process.returncode, written.decode()


REPORTS = [
    ["backends"],
    ["diff", "conv2d", *CALL, "--backends", "numpy"],
    ["trace", "conv2d", *CALL],
    ["explain", "conv2d", *CALL],
    ["find-source", "conv2d"],
]


@pytest.mark.parametrize(
    "arguments",
    [
        *REPORTS,
        *(["diff", "conv2d", *CALL, "-v"], ["diff", "--help"], ["dialects"]),
        ["find-source", "tf.nn.conv2d_transpose"],
    ],
    ids=" ".join,
)
def test_what_is_printed_has_lines_of_100_columns(arguments, capsys):
    with contextlib.suppress(SystemExit):
        assert main(arguments) == 0
    assert max(map(len, capsys.readouterr().out.split("\n"))) <= 100


@pytest.mark.parametrize("arguments", REPORTS, ids=lambda arguments: arguments[0])
def test_a_terminal_gets_lines_of_its_width(arguments, capsys):
    status, narrow = on_a_terminal(arguments, COLUMNS="60")
    assert status == 0
    assert max(map(len, narrow.splitlines())) <= 60
    assert main(arguments) == 0
    piped = capsys.readouterr().out
    assert "\x1b" not in piped + narrow
    units = {"ns", "µs", "ms", "s", "min"}  # of times, which differ from run to run
    said = re.sub(r"\W", "", narrow)
    assert all(word in said for word in piped.split() if word.isalpha() and word not in units)


# --- names that a terminal would obey -----------------------------------------------------------------

HOSTILE = "\x1b]0;title\x07\x1b[2J\r\n\x9b31m\u202egnp.exe[/bold]"
ESCAPED = r"\x1b]0;title\x07\x1b[2J\r\n\x9b31m\u202egnp.exe[/bold]"


def test_names_in_a_file_are_escaped_on_a_terminal(tmp_path):
    """Those of nodes, of inputs and of the file."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    helper = onnx.helper
    filters = onnx.numpy_helper.from_array(np.ones((1, 1, 2, 2), "float32"), "w")
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in ((HOSTILE, [1, 1, 4, 4]), ("y", [1, 1, 3, 3]))
    ]
    node = helper.make_node("Conv", [HOSTILE, "w"], ["y"], name=HOSTILE)
    graph = helper.make_graph([node], "graph", ends[:1], ends[1:], [filters])
    path = tmp_path / f"{HOSTILE.replace('/', '')}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(path))
    status, shown = on_a_terminal(["onnx", str(path)])
    assert status == 0
    assert shown.count(ESCAPED[:20]) >= 3  # file, input and node, which may be folded
    assert ESCAPED in shown
    for part in ("\x1b]", "\x07", "\x1b[2J", "\x9b", "\u202e"):
        assert part not in shown, part


@pytest.mark.parametrize(
    "arguments",
    [
        [HOSTILE],
        [f"--{HOSTILE}"],
        ["diff", HOSTILE],
        ["diff", "conv2d", f"--{HOSTILE}"],
        ["diff", "conv2d", "--input", HOSTILE],
        ["diff", "conv2d", *CALL, "--against", f"{HOSTILE}.npy"],
        ["explain", "conv2d", "--input", f"{HOSTILE}.npy", "--filters", "1,1,1,1"],
        ["trace", "conv2d", *CALL, "--backend", HOSTILE],
        ["trace", "conv2d", *CALL, "--dtype", HOSTILE],
        ["translate", HOSTILE, "1", "--to", "torch"],
        ["translate", "torch.conv2d", f"{HOSTILE}=1", "--to", "torch"],
        ["find-source", HOSTILE],
        ["onnx", f"{HOSTILE}.onnx"],
        ["explore", "conv2d", "--image", f"{HOSTILE}.png"],
    ],
    ids=range(14),
)
def test_arguments_are_escaped_in_errors(arguments, capsys):
    try:
        status = main(arguments)
    except SystemExit as found:
        status = found.code
    assert status == 2
    shown = capsys.readouterr()
    assert not shown.out
    assert shown.err.replace("\n", "").isprintable()
    assert len(shown.err.split("\n")) <= 3  # the error, and where help is
