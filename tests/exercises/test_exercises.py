"""Puzzles: right answers of every style pass, and wrong ones get the code that is expected."""

import os
import re
import runpy
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from puzzle_answers import RIGHT, WRONG

import teachconv as tc
from teachconv import exercises as ex
from teachconv.cli import exercises_command
from teachconv.cli.main import main
from teachconv.exercises import grading, submissions
from teachconv.exercises.puzzle import ints

NAMES = ex.puzzles().names
DOCS = Path(__file__).parents[2] / "docs"
ANSWERS = DOCS.parent / "notebooks" / "answers"


@pytest.mark.parametrize("name", NAMES)
def test_answers_in_three_styles_pass(name):
    assert len(RIGHT[name]) >= 3
    for answer in RIGHT[name]:
        found = ex.check(name, answer)
        assert found.passed, (answer.__name__, str(found))


@pytest.mark.parametrize("name", NAMES)
def test_the_answers_of_the_pages_pass(name):
    found = ex.check(name, runpy.run_path(str(ANSWERS / f"{name}.py"))[name])
    assert found.passed, str(found)


def test_answers_are_checked_in_a_browser_which_has_no_threads(monkeypatch):
    def refuses(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("sys.platform", "emscripten")
    monkeypatch.setattr(threading.Thread, "start", refuses)
    assert ex.check("correlate", RIGHT["correlate"][0]).passed


@pytest.mark.parametrize("name", NAMES)
def test_wrong_answers_get_their_code(name, capsys):
    assert len(WRONG[name]) >= 4
    for code, answer in WRONG[name]:
        found = ex.check(name, answer)
        assert (found.passed, found.code) == (False, code), str(found)


@pytest.mark.parametrize("name", NAMES)
def test_the_mistakes_of_the_table_are_told_apart(name):
    """Each is found by its code, so that no two of them give the same numbers in all cases."""
    for code, sentence, makes in ex.puzzles()[name].mistakes:
        if makes is not None:
            found = ex.check(name, makes)
            assert (found.code, found.sentence) == (code, sentence)


@pytest.mark.parametrize("name", NAMES)
def test_a_puzzle_has_hints_and_a_page(name):
    puzzle = ex.puzzles()[name]
    assert len({*puzzle.hints}) == 3
    assert puzzle.signature in str(puzzle)
    assert (DOCS / f"{puzzle.page}.md").exists(), puzzle.page


def test_a_function_may_change_its_arguments():
    def correlate(x, w):
        found = np.correlate(x, w)
        x[:] = 0
        return found

    assert ex.check("correlate", correlate).passed


@pytest.mark.parametrize("name", ["same", "correlate", "conv2d", "filter_gradient", "scatter"])
def test_a_failure_is_drawn(name):
    html = ex.check(name, lambda *args: 7)._repr_html_()
    assert "<svg" in html


def test_what_is_near_a_mistake_is_told_of_the_smallest_case():
    found = ex.check("same", lambda n, k, s, d: ((k - 1) // 2, (k - 1) // 2))
    assert found.code == "dilation_ignored"
    assert found.sentence.startswith("in this case, ")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        (
            "rows_needed",
            lambda first, last, n, k, s, before: (
                max(0, first * s - before),
                min(n, (last - first - 1) * s + k),
            ),
        ),
        (
            "gather",
            lambda x, w, s, y: sum(
                x[(y + j) // s] * w[j] for j in range(len(w)) if (y + j) % s == 0 and (y + j) // s < len(x)
            ),
        ),
        (
            "winograd",
            lambda d, g: [
                (d[0] - d[2]) * g[0],
                (d[1] + d[2]) * sum(g) / 2,
                (d[2] - d[1]) * (g[0] + g[1] - g[2]) / 2,
                (d[1] - d[3]) * g[2],
            ],
        ),
        ("is_adjoint", lambda forward, backward, x, y: bool(np.sum(x) * np.sum(y) > 0)),
        ("tape", lambda program, inputs: [1.0] * len(inputs)),
    ],
)
def test_what_fits_a_mistake_in_a_few_cases_gets_no_name(name, answer):
    assert ex.check(name, answer).code == "wrong"


def test_an_answer_that_is_told_by_its_size():
    found = ex.check("correlate", lambda x, w: np.correlate(x, w)[1:])
    assert found.code == "shape"
    assert found.sentence == "you returned a list of 2 numbers; return a list of 3 numbers"


def test_an_unknown_puzzle_or_step():
    with pytest.raises(ValueError, match="name must be .*same"):
        ex.check("sam", len)
    with pytest.raises(TypeError, match="function must be your function same; got 3"):
        ex.check("same", 3)
    with pytest.raises(ValueError, match="step must be"):
        ex.hint("same", 4)


# ---------------------------------------------------------------------------------------------
# Grades
# ---------------------------------------------------------------------------------------------

SUBMISSIONS = {
    "ana.py": "def due(arrived, k, s, before):\n    return len(range(k, arrived + before + 1, s))\n",
    "ben/all.py": "import os\n\ndef due(arrived, k, s, before):\n    os._exit(0)\n\n"
    "def output_padding(i, k, s, p, wanted):\n    return wanted - ((i - 1) * s + k - 2 * p)\n",
    "cleo.py": "def due(arrived, k, s, before):\n    print('passed')\n    return None\n",
    "=dora.py": "def due(arrived, k, s, before:\n",
    "emil.py": "def due(arrived, k, s, before):\n    while True: pass\n",
    "gil.py": "due = lambda arrived, k, s, before: max(0, (arrived + before - k) // s + 1)\n",
    "fay.py": "from teachconv.exercises import checking\n"
    "checking.judged = lambda *args: None\n\ndef due(*args):\n    return True\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("answers")
    for name, text in SUBMISSIONS.items():
        file = path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return path


@pytest.mark.slow  # processes are started, and stopped
def test_a_folder_is_graded(folder):
    grades = ex.grade(folder, seconds=3)
    codes = {one.file: {name: found.code for name, found in one.checked.items()} for one in grades.files}
    assert grades.puzzles == ("output_padding", "due")
    assert codes["ana.py"] == {"due": ""}
    assert codes["ben/all.py"] == {"output_padding": "", "due": "ended"}
    assert codes["cleo.py"] == {"due": "nothing"}
    assert codes["emil.py"] == {"due": "timeout"}
    assert codes["=dora.py"] == {}
    assert codes["fay.py"] == {"due": "wrong"}
    notes = {one.file: (one.note, one.imports) for one in grades.files}
    assert notes["=dora.py"][0].startswith("cannot be read")
    assert notes["fay.py"][1] == ("teachconv.exercises",)
    assert "took more than 3 seconds" in str(grades.csv)
    assert "\n'=dora.py,due,False,0,35,unreadable,\"cannot be read: " in grades.csv


@pytest.mark.parametrize(
    "text",
    [
        "",
        "class same:\n    pass\n",
        "async def same(*args):\n    pass\n",
        "def __getattr__(name):\n    return len\n",
    ],
)
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside an answer"])
def test_a_file_without_a_function_has_a_note(text, beside, tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "_checked", lambda *args: {})
    (tmp_path / "a.py").write_text(text)
    if beside:
        (tmp_path / "b.py").write_text(SUBMISSIONS["ana.py"])
    grades = ex.grade(tmp_path)
    assert grades.files[0].note.startswith("there is no function with the name of a puzzle")
    assert "there is no function with the name of a puzzle" in str(grades)
    puzzle, cases = ("due", 35) if beside else ("", 0)
    assert f"\na.py,{puzzle},False,0,{cases},missing,there is no function with the name" in grades.csv
    asked = ex.grade(tmp_path, ["same"])
    assert asked.files[0].note == ""
    assert "same: missing" in str(asked)


def test_a_folder_without_files(tmp_path):
    with pytest.raises(ValueError, match=r"folder must have files \*\.py"):
        ex.grade(tmp_path)


def test_the_command(tmp_path, capsys):
    assert main(["exercises"]) == 0
    said = capsys.readouterr().out
    assert f"{len(NAMES)} puzzles; for a task, python -m teachconv exercises {NAMES[0]}" in said
    assert main(["exercises", "same"]) == 0
    said = capsys.readouterr().out
    assert "exercises FILE.py checks it, python -m teachconv exercises same --hint 1 helps" in said
    assert "ex." not in said
    assert main(["exercises", "same", "--hint", "2"]) == 0
    assert capsys.readouterr().out.strip() == ex.hint("same", 2)
    file = tmp_path / "mine.py"
    file.write_text("def same(n, k, s, d):\n    return (k - 1) * d // 2, (k - 1) * d // 2\n")
    assert main(["exercises", str(file)]) == 1
    said = capsys.readouterr().out
    assert "symmetric" in said
    assert "0 of 1 functions are right" in said
    assert main(["exercises", "--hint", "1"]) == 2
    assert "--hint needs the name of a puzzle" in capsys.readouterr().err
    assert main(["exercises", str(tmp_path), "--csv", str(tmp_path / "grades.csv")]) == 0
    assert (tmp_path / "grades.csv").read_text().startswith("file,puzzle,passed")


def test_the_command_is_shown_in_broken_lines_too(monkeypatch, capsys):
    monkeypatch.setattr(exercises_command, "as_text", lambda report: report._as_text(40))
    for words in ([], ["same"]):
        assert main(["exercises", *words]) == 0
        assert not re.search(r"\bex\.", capsys.readouterr().out)


def test_numbers_are_exact_in_any_order():
    assert {*ints(1000).tolist()} == {*map(float, range(-4, 5))}


# ---------------------------------------------------------------------------------------------
# What readers found
# ---------------------------------------------------------------------------------------------


def test_a_code_with_details_is_the_bug_too():
    codes = [ex.puzzles()["find_the_bug"].right(number) for number in range(8)]
    assert ex.check("find_the_bug", lambda n: codes[n] + "(1,0)" * (codes[n] == "shift")).passed


def test_objects_and_exits_are_answers():
    assert ex.check("correlate", lambda x, w: np.correlate(x, w).astype(object)).passed
    assert ex.check("same", lambda *args: exit()).code == "raised"
    assert ex.check("same", lambda *args: "3").sentence == "you returned a text; return a list of 2 numbers"


def test_a_list_of_texts_is_no_text():
    found = ex.check("find_the_bug", lambda number: ["bias"])
    assert found.sentence == "you returned a list of 1 text; return a text"


def test_sums_that_are_rounded_are_told_apart():
    found = ex.check("correlate", lambda x, w: np.correlate(x, w) + 1e-12)
    assert found.code == "rounding"
    assert found.sentence.startswith("right except for rounding")


def test_an_error_says_its_line():
    def correlate(x, w):
        return x[100]

    assert "(line " in ex.check("correlate", correlate).sentence


def test_a_function_that_fails_often_is_not_asked_again():
    asked = []
    ex.check("output_size", lambda *args: asked.append(args))
    assert len(asked) == 3


@pytest.mark.slow  # a second process, and calls that hang
def test_a_function_that_hangs_fails_alone(tmp_path):
    (tmp_path / "a.py").write_text(
        "def output_size(*args):\n    while True: pass\n\n"
        "due = lambda arrived, k, s, before: max(0, (arrived + before - k) // s + 1)\n"
    )
    (tmp_path / "b.ipynb").write_text("{}")
    (tmp_path / "__MACOSX").mkdir()
    (tmp_path / "__MACOSX" / "._a.py").write_bytes(b"\0")
    grades = ex.grade(tmp_path, ["output_size", "due", "same"], seconds=3)
    codes = {name: found.code for name, found in grades.files[0].checked.items()}
    assert codes == {"output_size": "timeout", "due": ""}
    assert "same: missing" in str(grades)
    assert [one.file for one in grades.files] == ["a.py", "b.ipynb"]
    assert "a notebook" in grades.files[1].note


# ---------------------------------------------------------------------------------------------
# What attackers tried
# ---------------------------------------------------------------------------------------------


def test_an_endless_loop_is_stopped():
    def due(arrived, k, s, before):
        while s == 2:
            with suppress(Exception):  # which does not catch what stops it
                len("")
        return max(0, (arrived + before - k) // s + 1)

    before = threading.active_count()
    found = ex.check("due", due, seconds=0.05)
    assert (found.code, found.args[2]) == ("timeout", 2)
    assert found.sentence == "took more than 0.05 seconds, and was stopped"
    assert threading.active_count() == before
    with pytest.raises(ValueError, match="seconds must be above 0"):
        ex.check("due", due, seconds=0)


def test_what_is_called_by_a_check_keeps_its_settings():
    def correlate(x, w):
        chosen.append(tc.running.default_backend.default_backend())
        return np.correlate(x, w)

    chosen = []
    with tc.use_backend("reference"):
        assert ex.check("correlate", correlate).passed
    assert {*chosen} == {"reference"}


_FORGED = """
import os

def due(*args):
    for number in range(3, 20):
        try:
            os.write(number, {line} + b"\\n" + {more})
        except OSError:
            pass
    return 1
"""
ATTACKS = {  # each with its code, or what is said of it
    "a_child_that_holds_the_pipe": (
        "import os, time\n\ndef due(*args):\n    if os.fork() == 0:\n        os.setsid()\n"
        "        time.sleep(9)\n        os._exit(0)\n    while True: pass\n",
        "timeout",
    ),
    "its_process_group": ("import os\n\ndef due(*args):\n    os.killpg(0, 9)\n", "crashed"),
    "a_pipe_that_is_closed": (
        "import os, time\n\ndef due(*args):\n    os.closerange(3, 20)\n    time.sleep(60)\n",
        "ended",
    ),
    "bytes_without_end": (_FORGED.format(line=b'{"nbytes":17179869184}', more='b"0" * (2 << 20)'), "raised"),
    "objects_without_end": (_FORGED.format(line=b'{"nbytes":0,"shape":[99999999999],"dtype":"O"}', more='b""'),
                            "type"),
    "a_formula": ("def due(*args):\n    raise type('=1+1', (Exception,), {})\n", "raised"),
    "an_answer_too_large": ("import numpy\n\ndef due(*args):\n    return numpy.zeros(1 << 20)\n", "raised"),
    "too_deep": ("due = " + "-" * 1_000_000 + "1\n", "cannot be read"),
    "too_long": ("due = 1\n" * (1 << 18), "cannot be read"),
}  # fmt: skip


@pytest.mark.slow  # processes are started, and stopped
@pytest.mark.skipif(not hasattr(os, "fork"), reason="attacks of POSIX")
@pytest.mark.parametrize("name", ATTACKS)
def test_a_file_cannot_stop_the_grades(name, tmp_path):
    text, code = ATTACKS[name]
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "b.py").write_text(SUBMISSIONS["ana.py"])
    grades = ex.grade(tmp_path, ["due"], seconds=3, nbytes=2**28)
    first, second = grades.files
    assert second.checked["due"].passed
    assert code in (first.note, first.checked["due"].code) if first.checked else code in first.note
    assert not [line for line in grades.csv.replace('"', "").split(",") if line.startswith("=")]


@pytest.mark.slow  # processes
def test_a_submission_cannot_change_another_one(tmp_path):
    """All texts are read before the first one runs, which may delete or overwrite the files of others."""
    (tmp_path / "a.py").write_text(
        "import pathlib\n\nhere = pathlib.Path(__file__).parent\n"
        "(here / 'y.py').write_text('due = 0')\n(here / 'z.py').unlink()\n" + SUBMISSIONS["ana.py"]
    )
    for name in ("y.py", "z.py"):
        (tmp_path / name).write_text(SUBMISSIONS["ana.py"])
    grades = ex.grade(tmp_path)
    assert not (tmp_path / "z.py").exists()  # the first one ran
    assert [one.checked["due"].passed for one in grades.files] == [True] * 3, grades.csv


_SEARCHES = {  # ways to the right answers that need no import of teachconv, and what the table says of them
    "import numpy as np\n\ndef same(n, k, s, d):\n"
    "    modules = np.lib._npyio_impl.os.sys.modules\n"
    "    return modules['teachconv.exercises'].puzzles()['same'].right(n, k, s, d)\n": {
        "os",
        "sys",
        "modules",
    },
    "def same(n, k, s, d):\n    for found in object.__subclasses__():\n"
    "        held = getattr(found.__init__, '__globals__', {})\n"
    "        if 'sys' in held and 'teachconv.exercises' in held['sys'].modules:\n"
    "            return held['sys'].modules['teachconv.exercises'].puzzles()['same'].right(n, k, s, d)\n": {
        "__subclasses__",
        "getattr",
        "modules",
    },
    "import gc\n\ndef same(n, k, s, d):\n    for found in gc.get_objects():\n"
    "        if type(found).__name__ == 'Puzzle' and found.name == 'same':\n"
    "            return found.right(n, k, s, d)\n": {"gc", "get_objects"},
}


@pytest.mark.slow  # processes
@pytest.mark.parametrize("text", _SEARCHES, ids=range(len(_SEARCHES)))
def test_the_process_of_a_submission_holds_no_right_answers(text, tmp_path):
    (tmp_path / "a.py").write_text(text)
    (found,) = ex.grade(tmp_path).files
    assert found.checked["same"].right == 0
    assert {*found.imports} >= _SEARCHES[text]


@pytest.mark.parametrize(
    ("line", "used"),
    [
        ("due = np.due.__init__.__globals__", "__globals__"),
        ("due = __builtins__", "__builtins__"),
        ("match np:\n    case object(__globals__=due): pass", "__globals__"),
        ("due = np.f2py.inspect", "inspect"),
        ("due = np.ctypeslib.ctypes", "ctypes ctypeslib"),
        ("due = np.lib.format.os.kill(np.lib.format.os.getppid(), 2)", "getppid kill os"),
        ("due = np.load", "load"),
        ("np.testing.runstring('due = 1', {})", "runstring"),
        ("np.testing.measure('due = 1')", "measure"),
        ("from numpy import fromfile as due", "fromfile"),
        ("from numpy import *", "numpy.*"),
        ("import importlib; exec(due); eval(due); compile(due)", "compile eval exec importlib"),
        ("os = gc = 3; due = os + gc; self.same = due.size", ""),
    ],
)
def test_ways_to_other_objects_are_listed(line, used, tmp_path):
    (tmp_path / "a.py").write_text(f"import numpy as np\n{line}\n")
    assert " ".join(submissions.read(tmp_path / "a.py").imports) == used


@pytest.mark.parametrize("name", NAMES)
def test_of_the_answers_of_the_pages_only_imports_are_listed(name):
    path = ANSWERS / f"{name}.py"
    assert all(f"import {word}" in path.read_text() for word in submissions.read(path).imports)


@pytest.mark.slow  # a process
def test_a_submission_that_can_be_run_does_not_run_the_script_that_grades(tmp_path, monkeypatch):
    """Its text says __main__, as what is defined in the teacher's script does when it is sent."""
    script = tmp_path / "script.py"
    script.write_text(f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n")
    monkeypatch.setattr(sys.modules["__main__"], "__file__", str(script), raising=False)  # a worker has none
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "a.py").write_text(
        SUBMISSIONS["ana.py"] + 'if __name__ == "__main__":\n    due = 0\n'
    )
    assert ex.grade(tmp_path / "answers").files[0].checked["due"].passed
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="names that are bytes")
@pytest.mark.slow  # processes
def test_a_name_that_is_no_utf_8_is_written_escaped(tmp_path, capsys):
    for name in ("ana.py", os.fsdecode(b"zo\xff.py")):
        (tmp_path / name).write_text(SUBMISSIONS["ana.py"])
    assert main(["exercises", str(tmp_path), "--csv", str(tmp_path / "grades.csv")]) == 0
    assert r"zo\udcff.py  1 of 1" in capsys.readouterr().out
    lines = (tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert [line.partition(",")[0] for line in lines] == ["file", "ana.py", r"zo\udcff.py"]


@pytest.mark.slow  # processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_a_submission_that_ends_the_grader_leaves_the_grades_until_then(name, tmp_path):
    (tmp_path / "a.py").write_text(SUBMISSIONS["ana.py"])
    (tmp_path / "b.py").write_text(
        f"import os, signal\n\ndef due(*args):\n    os.kill(os.getppid(), signal.{name})\n    return 1\n"
    )
    command = [sys.executable, "-m", "teachconv", "exercises", tmp_path, "--csv", tmp_path / "grades.csv"]

    def heeds_signals():
        signal.signal(
            signal.SIGINT, signal.SIG_DFL
        )  # a shell's job in the background inherits that it ignores it

    ended = subprocess.run(
        command, cwd=DOCS.parent, capture_output=True, text=True, timeout=120, preexec_fn=heeds_signals
    )
    assert ended.returncode != 0
    lines = (tmp_path / "grades.csv").read_text().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["file", "a.py"]
    assert {path.name for path in tmp_path.iterdir()} == {"a.py", "b.py", "grades.csv"}


def test_grades_that_cannot_be_written_leave_no_empty_file(tmp_path, monkeypatch, capsys):
    (tmp_path / "ana.py").write_text("due = 1\n")
    (tmp_path / "grades.csv").write_text("the grades of last week")
    monkeypatch.setattr(grading, "_checked", lambda *args: {})
    monkeypatch.setattr(grading, "name_of", lambda *args: "\udcff.py")
    assert main(["exercises", str(tmp_path), "--csv", str(tmp_path / "grades.csv")]) == 2
    assert "surrogates not allowed" in capsys.readouterr().err
    assert {path.name for path in tmp_path.iterdir()} == {"ana.py", "grades.csv"}
    assert (tmp_path / "grades.csv").read_text() == "the grades of last week"


@pytest.mark.parametrize("coding", ["punycode", "utf-7", "latin-1", "rot13", "none-such"])
def test_a_file_in_another_encoding_is_not_decoded(coding, tmp_path, monkeypatch):
    """Punycode's decoder takes time that grows with the square of the length: it would hold up the grades."""
    parsed = []
    monkeypatch.setattr(submissions.ast, "parse", lambda text, *more: parsed.append(text))
    (tmp_path / "a.py").write_bytes(
        b"#!/usr/bin/python\n# coding: %s\ndue = 1-" % coding.encode() + b"a" * 999_000
    )
    note = ex.grade(tmp_path, ["due"]).files[0].note
    assert note.startswith("cannot be read: ")
    assert "its encoding must be UTF-8" in note or "unknown encoding: none-such" in note
    assert not parsed


@pytest.mark.slow  # processes
@pytest.mark.parametrize(
    "start", [b"", b"\xef\xbb\xbf", b"# -*- coding: utf-8 -*-\n", b"# vim: fileencoding=UTF8\n"]
)
def test_utf_8_is_read_however_it_is_declared(start, tmp_path):
    text = "# größe\n" + SUBMISSIONS["ana.py"]
    (tmp_path / "a.py").write_bytes(start + text.encode())
    assert ex.grade(tmp_path).files[0].checked["due"].passed


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="files of POSIX")
def test_what_is_no_file_is_not_read(tmp_path):
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "dangling.py").symlink_to("nowhere")
    (tmp_path / "zeros.py").symlink_to("/dev/zero")
    grades = ex.grade(tmp_path, ["due"])
    assert [one.file for one in grades.files] == ["dangling.py", "pipe.py", "zeros.py"]
    assert all("must be a file" in one.note for one in grades.files)


def test_a_folder_from_which_python_imports(tmp_path, monkeypatch):
    (tmp_path / "numpy.py").write_text("due = 1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", ["", *sys.path])
    with pytest.raises(ValueError, match="folder must not be one from which Python imports"):
        ex.grade(".")


@pytest.mark.slow  # a process
def test_grades_take_what_a_check_takes(tmp_path):
    """Fractions, whole numbers that are no int64, nothing, and a list that is no array."""
    (tmp_path / "a.py").write_text(
        "from fractions import Fraction\n\n"
        "def due(arrived, k, s, before):\n    return Fraction(max(0, (arrived + before - k) // s + 1))\n\n"
        "def same(*args):\n    return [[1], [1, 2]]\n\ndef causal(*args):\n    pass\n"
    )
    codes = {name: found.code for name, found in ex.grade(tmp_path).files[0].checked.items()}
    assert codes == {"same": "type", "due": "", "causal": "nothing"}
    assert ex.check("same", lambda *args: [[1], [1, 2]]).code == "type"
