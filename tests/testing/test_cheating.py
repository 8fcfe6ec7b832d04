"""A kernel that is not honest: in a process of its own it cannot touch what judges it."""

import json
import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv import testing as T
from teachconv.truth import bounds
from teachconv.verification import diffing, running

sys.path.insert(0, str(Path(__file__).parent))
import cheating

X, W = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2), np.ones((3, 3, 2, 5), np.float32)


def row_of(function, **options):
    """What is said of a kernel that is run once or twice."""
    report = tc.diff(tc.conv2d, X.copy(), W.copy(), backends=[T.kernel(function, **options)])
    return report.rows[0]


@pytest.fixture
def untouched(monkeypatch):
    """What the kernels patch, which is put back."""
    monkeypatch.setattr(bounds, "judge", bounds.judge)
    monkeypatch.setattr(np, "maximum", np.maximum)
    monkeypatch.setitem(diffing._BY_SIZE, "direct", bounds.direct)
    monkeypatch.setattr(diffing, "never_rounds", diffing.never_rounds)


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        cheating.patches_the_judge,
        pytest.param(cheating.patches_the_bounds, marks=pytest.mark.slow),
        cheating.patches_numpy,
        pytest.param(cheating.reads_the_answer, marks=pytest.mark.slow),
        pytest.param(cheating.changes_the_answer, marks=pytest.mark.slow),
    ],
)
def test_only_a_process_of_its_own_is_out_of_reach(function, isolate, untouched):
    row = row_of(function, isolate=isolate)
    assert row.passed is not isolate
    assert row.where == ("every cell: zeros" if isolate else "")


@pytest.mark.parametrize(
    ("function", "note"),
    [
        pytest.param(cheating.returns_objects, "object, not", marks=pytest.mark.slow),
        (cheating.raises_what_runs, r"raised RuntimeError: \x1b[2Jno luck"),
        (cheating.sends_a_pickle, "where a line such as"),
        pytest.param(
            cheating.sends_a_line_and_no_numbers, "its process answered no array: ", marks=pytest.mark.slow
        ),
        pytest.param(cheating.sends_depth, "where a line such as", marks=pytest.mark.slow),
        pytest.param(cheating.has_an_error_that_cannot_be_shown, "raised Hidden", marks=pytest.mark.slow),
    ],
)
def test_nothing_that_another_process_sends_is_run_here(function, note, tmp_path, monkeypatch):
    trace = tmp_path / "was here"
    monkeypatch.setenv("TEACHCONV_TEST_CHEAT", str(trace))
    row = row_of(function, isolate=True)
    assert row.passed is False
    assert note in row.note
    assert not trace.exists()
    pickle.loads(pickle.dumps(cheating.Runs(str(trace)))).close()
    assert trace.exists()  # which is what would have been run


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
def test_what_a_kernel_starts_ends_with_it():
    start = time.monotonic()
    row = row_of(cheating.starts_another_and_hangs, isolate=True, seconds=0.5)
    assert row.note == "took more than 0.5 seconds, and was stopped"
    assert time.monotonic() - start < 40  # and not the minute that what was started would go on


@pytest.mark.slow  # four processes
def test_a_kernel_that_hangs_is_not_run_for_ever():
    report = tc.check_backend(
        T.kernel(cheating.hangs, isolate=True, seconds=0.1), tags="hand", data="integers", kinds="conv2d"
    )
    notes = Counter(row.note for row in report.failed)
    stopped = "took more than 0.1 seconds, and was stopped"
    assert notes[stopped] == 3
    assert notes[f"not run: 3 calls in turn {stopped}"] == len(report.failed) - 3 > 0


MODULE = """
import numpy as np
{}
def conv2d(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], (1, 2))
    return np.einsum("nrciab,abio->nrco", windows, w)
"""


@pytest.mark.parametrize(
    ("statement", "note"),
    [
        pytest.param("print('hello')", "", marks=pytest.mark.slow),
        ("np.maximum = np.minimum", ""),
        ("import sys; sys.exit(3)", "another process cannot import it: raised SystemExit: 3"),
        pytest.param(
            "import os; os._exit(3)",
            "another process cannot import it: ended its process with exit status 3",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "1 / 0",
            "another process cannot import it: raised ZeroDivisionError: division by zero",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "input()",
            "another process cannot import it: raised EOFError: EOF when reading a line",
            marks=pytest.mark.slow,
        ),
        ("while True: pass", "another process cannot import it: took more than 3 seconds, and was stopped"),
        pytest.param(
            "def conv2d(:",
            "another process cannot import it: raised SyntaxError: invalid syntax (handed_in.py, line 3)",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_module_that_is_named_is_imported_elsewhere(statement, note, tmp_path, monkeypatch, capfd):
    if "while" in statement:
        monkeypatch.setattr(running, "_IMPORT", 3.0)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "handed_in.py").write_text(MODULE.format(statement))
    row = row_of("handed_in:conv2d", isolate=True)
    assert row.passed is (not note), row.note
    assert row.note == note
    assert "handed_in" not in sys.modules
    assert capfd.readouterr() == ("", "")


def test_a_name_that_is_not_there_is_a_failed_row():
    assert "No module named 'no_such_module'" in row_of("no_such_module:conv2d", isolate=True).note
    assert "has no attribute 'no_such'" in row_of("cheating:no_such", isolate=True).note
    assert (
        "answers_for_itself must have a parameter for filter"
        in row_of("cheating:answers_for_itself", isolate=True).note
    )


def test_a_script_needs_no_guard_and_runs_once(tmp_path):
    (tmp_path / "handed_in.py").write_text(MODULE.format(""))
    (tmp_path / "grade.py").write_text(
        "import numpy as np, teachconv as tc\nfrom teachconv import testing as T\n"
        "print('once')\n"
        "x, w = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)\n"
        "kernel = T.kernel('handed_in:conv2d', isolate=True)\n"
        "print(tc.diff(tc.conv2d, x, w, backends=[kernel]).passed)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(tc.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "grade.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("once\nTrue\n", "")


def test_an_interrupt_leaves_no_answer_for_the_next_call(monkeypatch):
    kernel = T.kernel(cheating.slow, isolate=True)
    case = T.Case("mine", "conv2d", (1, 4, 4, 1), (3, 3, 1, 1))
    with monkeypatch.context() as patched:
        patched.setattr(json, "loads", interrupted)  # while it waits for the answer
        with pytest.raises(KeyboardInterrupt):
            T.check(kernel, case, data="integers", kinds="conv2d")
    assert T.check(kernel, case, data="normal", kinds="conv2d").passed


def interrupted(line):
    raise KeyboardInterrupt
