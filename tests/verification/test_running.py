"""Processes that run other people's code: what they import, what they answer, and what is left of them."""

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv import exercises as ex
from teachconv.testing import kernel, process
from teachconv.verification import running

X, W = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)
DUE = "def due(arrived, k, s, before):\n    return max(0, (arrived + before - k) // s + 1)\n"
needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts in /proc")


def test_a_process_that_was_stopped_says_nothing_of_padding():
    def ask(*_):
        raise running.ContractError("not run: 3 calls in turn took more than 1 seconds, and was stopped")

    module = kernel(lambda x, w: x)
    assert running._Elsewhere(module, None, ask).padded("conv2d") is False


def held():
    """How many files this process has open, and how many processes it has started."""
    children = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            children += stat.read_text().rpartition(")")[2].split()[1] == str(os.getpid())
        except OSError:  # it has ended
            continue
    return len(os.listdir("/proc/self/fd")), children


# ---------------------------------------------------------------------------------------------
# What is imported
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def shadows(tmp_path, monkeypatch):
    """A current folder with modules that have the names of others, one of its own, and a submission."""
    for name in ("numpy", "random", "json", "teachconv", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('this is not the module')\n")
    (tmp_path / "mine.py").write_text(
        "import random, numpy, teachconv\n\n"
        "def conv2d(x, w, stride, pads):\n    return teachconv.conv2d(x, w, stride, pads)\n"
    )
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions" / "ana.py").write_text(f"import json, random, numpy\n\n{DUE}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("listed", [False, True], ids=["", "in sys.path"])
def test_the_current_folder_shadows_nothing(shadows, listed, monkeypatch):
    """Also where this process imports from it, as a notebook does, which has imported NumPy long ago."""
    if listed:
        monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert ex.grade("submissions").files[0].checked["due"].passed
    row = tc.diff(tc.conv2d, X, W, backends=[kernel("mine:conv2d", isolate=True)]).rows[0]
    assert row.passed, row.note


def test_a_submission_imports_nothing_from_the_current_folder(shadows):
    """One student's file named as an optional package would run in every other one's process."""
    (shadows / "submissions" / "ana.py").write_text(f"import mine\n\n{DUE}")
    assert "No module named 'mine'" in ex.grade("submissions").files[0].checked["due"].sentence


# ---------------------------------------------------------------------------------------------
# What is answered
# ---------------------------------------------------------------------------------------------

_ANSWERS = {  # a line, and what is said of it
    '{"nbytes":-1}': "answered -1 bytes, not the 16 of its result",
    '{"nbytes":1e999}': "answered inf bytes, not the 16",
    '{"nbytes":NaN}': "answered nan bytes, not the 16",
    '{"nbytes":99999999999999999999}': "answered 99999999999999999999 bytes, not the 16",
    '{"nbytes":"16"}': "answered '16' bytes, not the 16",
    '{"nbytes":[16]}': "answered [16] bytes, not the 16",
    '{"nbytes":' + "[" * 60_000: "where a line such as",
    '{"error":' + "[" * 900 + "]" * 900 + "}": "where a line such as",
    '{"nbytes":' + "9" * 5_000 + "}": "where a line such as",
    "9" * (1 << 17): "printed '999",
}


@needs_proc
@pytest.mark.parametrize("line", _ANSWERS, ids=range(len(_ANSWERS)))
def test_a_program_that_answers_nonsense_without_end(line, tmp_path):
    """It fails with a sentence, is not read on, and leaves neither a process nor a file behind."""
    (tmp_path / "program.py").write_text(
        "import sys\n\nsys.stdin.buffer.readline()\n"
        f"sys.stdout.buffer.write({line.encode()!r} + b'\\n')\n"
        "while True:\n    sys.stdout.buffer.write(bytes(1 << 20))\n"
    )
    program = process([sys.executable, str(tmp_path / "program.py")], seconds=60)
    before = held()
    tracemalloc.start()
    try:
        rows = [tc.diff(tc.conv2d, X, W, backends=[program]).rows[0] for _ in range(2)]
        assert [row.passed for row in rows] == [False, False]
        assert _ANSWERS[line] in rows[0].note
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held() == before
    assert most < 2**23


_FORGED = """
import os

def due(*args):
    for number in range(3, 20):
        try:
            os.write(number, {line!r} + b"\\n" + bytes(16))
        except OSError:
            pass
    while True:
        pass
"""


@needs_proc
@pytest.mark.slow  # three processes each
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"nbytes":-1,"shape":[2],"dtype":"<f8"}', "answered -1 bytes, not the at most 1048576"),
        ('{"nbytes":1048577,"shape":[2],"dtype":"<f8"}', "answered 1048577 bytes, not the at most 1048576"),
        ('{"nbytes":16,"shape":[1e999],"dtype":"<f8"}', "its process answered no array"),
    ],
)
def test_a_submission_that_forges_an_answer(line, said, tmp_path):
    """Its process ends with the file, though the grades keep the error."""
    (tmp_path / "ana.py").write_text(_FORGED.format(line=line.encode()))
    before = held()
    grades = ex.grade(tmp_path, seconds=3)
    assert said in grades.files[0].checked["due"].sentence
    assert held() == before


@pytest.mark.parametrize("shape", [[1e999], [float("nan")], [-2], [2**70], [3], [2.5], {"a": 1}, "no", None])
@pytest.mark.parametrize(
    "dtype", ["<f8", "no", "f4,(2,", "(" * 999 + "f4", "(9999999999)f8", "U99999999999", 3, None]
)
def test_an_array_that_cannot_be_is_refused(shape, dtype, monkeypatch):
    said = {"nbytes": 16, "shape": shape, "dtype": dtype}
    monkeypatch.setattr(running.Program, "ask", lambda *args: (said, bytes(16)))
    ask, _ = running.elsewhere(tc, 1.0)
    with pytest.raises(tc.ContractError, match="its process answered no array: ."):
        ask("conv2d", (), {})


@needs_proc
def test_an_answer_of_a_kernel_may_be_wrong_but_not_without_end(tmp_path, monkeypatch):
    (tmp_path / "endless_kernel.py").write_text(
        "import numpy as np\n\ndef conv2d(x, w, stride, pads):\n    return np.zeros((1, 4096, 4096, 1), np.float64)\n"
    )
    monkeypatch.chdir(tmp_path)
    isolated = kernel("endless_kernel:conv2d", isolate=True)
    before = held()
    row = tc.diff(tc.conv2d, X, W, backends=[isolated]).rows[0]
    assert "answered 134217728 bytes, not the at most 67108864 of its result" in row.note
    assert held() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of POSIX")
def test_a_program_that_reads_nothing_and_leaves_a_process_behind_is_not_waited_for(tmp_path):
    """The process holds both pipes, and the request, larger than a pipe, stays half written."""
    code = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    {}\n    os._exit(0)\ntime.sleep(60)\n"
    program = process([sys.executable, "-c", code.format("time.sleep(6)")], seconds=1)
    row = tc.diff(tc.conv2d, np.ones((1, 400, 400, 1), np.float32), W, backends=[program]).rows[0]
    assert "took more than 1 seconds" in row.note
    writes = "until = time.time() + 3\n    while time.time() < until: os.write(1, bytes(1 << 16))"
    program = process([sys.executable, "-c", code.format(writes)], seconds=1)
    tracemalloc.start()
    try:
        assert "where a line such as" in tc.diff(tc.conv2d, X, W, backends=[program]).rows[0].note
        assert tracemalloc.get_traced_memory()[1] < 2**23
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory")
def test_a_limit_above_that_of_the_system_is_not_asked_for():
    """A teacher's shell with `ulimit -v` and `ulimit -f`: the lower limit holds, and files are judged."""
    code = (
        "import resource\nfrom teachconv.verification.running import _limit_memory\n"
        "for what in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE):\n    resource.setrlimit(what, (2**35, 2**35))\n"
        "_limit_memory(2**36)\nprint(resource.getrlimit(resource.RLIMIT_AS), resource.getrlimit(resource.RLIMIT_FSIZE))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=Path(tc.__file__).parents[1],
    )
    assert done.stdout.split() == ["(34359738368,", "34359738368)"] * 2, done.stderr
