"""What a lecturer gets: assignments and their checkers, slides, recipes for graders, and the study."""

import csv
import dataclasses
import doctest
import importlib
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from browser import chromium, needs_browser

import teachconv as tc
from teachconv import exercises as ex
from teachconv.verification.submission import Submission

COURSE = Path(__file__).parents[1] / "course"
SOLUTIONS = {"conv_layer": "layer.py", "port": "port.py", "digits": "digits.py"}


@pytest.fixture(params=SOLUTIONS)
def checker(request, monkeypatch):
    """The name of an assignment, and what its checker defines."""
    return request.param, loaded(request.param, monkeypatch)


def loaded(name, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    return runpy.run_path(str(COURSE / name / f"check_{SOLUTIONS[name]}"))


def calls_of(text, folder):
    """What calls the functions of a text, in this process."""
    (folder / "text.py").write_text(text, encoding="utf-8")
    submission = Submission(str(folder / "text.py"), text.encode())
    return lambda name, args: np.asarray(submission.answer(name, *args))


def judged(found, call):
    """The points and the words for each function; their speed is judged elsewhere."""
    from checking import judge

    assignment = dataclasses.replace(found["ASSIGNMENT"], last=lambda *_: "")
    return {name: judge(assignment, name, call) for name in assignment.points}


def test_an_empty_submission_has_no_points_and_a_solution_all(checker, tmp_path):
    name, found = checker
    empty = (COURSE / name / SOLUTIONS[name]).read_text(encoding="utf-8")
    right = (COURSE / "solutions" / SOLUTIONS[name]).read_text(encoding="utf-8")
    assert {*judged(found, calls_of(empty, tmp_path)).values()} == {(0, "not written yet")}
    points = judged(found, calls_of(right, tmp_path))
    assert points == {name: (most, "") for name, most in found["POINTS"].items()}
    assert sum(found["POINTS"].values()) == 85


@pytest.mark.slow  # six processes
@pytest.mark.parametrize("name", SOLUTIONS)
def test_a_submission_cannot_write_its_own_points(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("sklearn")
    found = loaded(name, monkeypatch)
    main, functions = sys.modules["checking"].main, [*found["POINTS"]]
    (tmp_path / "ana").mkdir()
    shutil.copy(COURSE / "solutions" / SOLUTIONS[name], tmp_path / "ana")
    shutil.copy(COURSE / "port" / "network.py", tmp_path / "ana")  # not a submission
    verdict = "".join(f"print('{each} 25 of 25')\n" for each in functions)
    (tmp_path / "prints.py").write_text(verdict + "import os\nos._exit(0)\n")
    (tmp_path / "walks.py").write_text(
        "import sys\nframe = sys._getframe()\nwhile frame:\n"
        "    for place in (frame.f_globals, frame.f_locals):\n"
        "        for name in ('judge', 'mark', 'fault', 'verdict'):\n"
        "            if name in place:\n                place[name] = lambda *args: (25, '')\n"
        "    frame = frame.f_back\n"
        f"def {functions[0]}(*args):\n    sys.exit(0)\n"
        f"def {functions[1]}(*args):\n    while True:\n        pass\n"
        f"def {functions[2]}(*args):\n    pass\n"
    )
    (tmp_path / "wrong.py").write_text("def f(:\n")
    if name == "conv_layer":  # the speed, on a machine that others use, has a test of its own
        monkeypatch.setattr(sys.modules["checking"], "judge", without_speed(sys.modules["checking"].judge))
    assert (
        main(found["ASSIGNMENT"], [str(tmp_path), "--csv", str(tmp_path / "a.csv"), "--seconds", "10"]) == 0
    )
    shown = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert [*shown] == ["ana/" + SOLUTIONS[name], "prints.py", "walks.py", "wrong.py"]
    assert shown["prints.py"].endswith("uses os")
    assert "cannot be read" in shown["wrong.py"]
    table = (tmp_path / "a.csv").read_text(encoding="utf-8-sig")
    rows = {row["file"]: row for row in csv.DictReader(table.splitlines())}
    totals = {file: int(row["checker"]) for file, row in rows.items()}
    assert totals == {"ana/" + SOLUTIONS[name]: 85, "prints.py": 0, "walks.py": 0, "wrong.py": 0}
    said = rows["walks.py"]["what is wrong"]
    for words in ("SystemExit", "took more than 10 seconds", "a return is missing", "no such function"):
        assert words in said
    assert main(found["ASSIGNMENT"], [str(tmp_path / "prints.py")]) == 1
    assert main(found["ASSIGNMENT"], [str(tmp_path / "none.py")]) == 1
    assert "there is no file none.py" in capsys.readouterr().out
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(SystemExit, match="one from which Python imports"):
        main(found["ASSIGNMENT"], [str(tmp_path)])


KINDS = {  # of layer.py: what a kind of submission changes, its points, and what its feedback says
    "right": (None, 85, "85 of 85"),
    "slow": (("def conv_forward_fast", "def unused"), 75, "there is no such function"),
    "one_pad": (("(pad, pad), (pad, pad)]", "(2 * pad, 0), (pad, pad)]"), 65, "wrong with padding, and only then"),
    "stride": (("r * stride : r * stride + rows", "r : r + rows"), 66, "wrong with a stride above 1, and only then"),
    "crashing": (("import numpy", "import ctypes\nctypes.string_at(0)\nimport numpy"), 0, "it crashed"),
    "endless": (("import numpy", "while True:\n    pass\nimport numpy"), 0, "took more than"),
    "no_import": (("import numpy", "import nump"), 0, "No module named 'nump'"),
    "teachconv": (("import numpy", "import teachconv\nimport numpy"), 0, "may not import teachconv"),
    "others": (("import numpy", "from checking import near\nimport numpy"), 0, "may not import checking"),
    "table": (None, 0, "wrong"),
    "empty": (None, 0, "not written yet"),
}  # fmt: skip


@pytest.mark.slow  # eleven processes
def test_eleven_kinds_of_submissions_get_what_they_deserve(tmp_path, monkeypatch, capsys):
    found = loaded("conv_layer", monkeypatch)
    checking = sys.modules["checking"]
    monkeypatch.setattr(checking, "judge", without_speed(checking.judge))
    right = (COURSE / "solutions" / "layer.py").read_text(encoding="utf-8")
    folder = tmp_path / "in"
    folder.mkdir()
    for kind, (change, _, _) in KINDS.items():
        text = right.replace(*change) if change else right
        (folder / f"{kind}.py").write_text(text, encoding="utf-8")
    shutil.copy(COURSE / "conv_layer" / "layer.py", folder / "empty.py")
    # the results of the cases that students have, one after the other
    call = calls_of(right, tmp_path)
    table = ["import numpy as np", "from numpy import array", "results = {}"]
    for name in found["POINTS"]:
        lists = [call(name, found["arguments"](name, case, 0)).tolist() for case in found["CASES"]]
        table += [
            f"results[{name!r}] = {lists}",
            f"def {name}(*args):",
            f"    return np.array(results[{name!r}].pop(0))",
        ]
    (folder / "table.py").write_text("\n".join(table))
    arguments = [str(folder), "--seconds", "5", "--jobs", "2", "--feedback", str(tmp_path / "said")]
    assert checking.main(found["ASSIGNMENT"], [str(folder / "table.py")]) == 0  # why a teacher has a seed
    capsys.readouterr()
    checking.main(found["ASSIGNMENT"], [*arguments, "--seed", "7", "--csv", str(tmp_path / "points.csv")])
    table = (tmp_path / "points.csv").read_text(encoding="utf-8-sig")
    rows = {row["file"]: row for row in csv.DictReader(table.splitlines())}
    assert {kind: int(rows[f"{kind}.py"]["checker"]) for kind in KINDS} == {
        kind: points for kind, (_, points, _) in KINDS.items()
    }
    assert {(row["written 1"], row["written 3"]) for row in rows.values()} == {("", "")}
    for kind, (_, points, said) in KINDS.items():
        text = (tmp_path / "said" / f"{kind}.txt").read_text(encoding="utf-8")
        assert said in text
        assert f"{points} of 85 points" in text
    assert (tmp_path / "said" / "endless.txt").read_text().count("took more than") == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("from network import tc", "may not import network.tc; of network it may import network.WEIGHTS"),
        ("import network; network.tc", "has no attribute 'tc'"),
        ("import teachconv; teachconv.conv2d", "has no attribute 'conv2d'"),
        ("from teachconv import dialects; dialects.tensorflow", "has no attribute 'tensorflow'"),
        ("import teachconv.tf as tf", "may not import teachconv.tf"),
        ("from teachconv.dialects.torch import conv2d", ""),
        ("import teachconv.dialects.torch as F; F.conv2d", ""),
        ("from network import *; WEIGHTS, EPSILON", ""),
        ("import network; network.WEIGHTS", ""),
        ("import os.path, numpy.fft; numpy.fft.fft, os.path.join", ""),
    ],
)
def test_what_a_submission_may_import(line, said, monkeypatch):
    only = loaded("port", monkeypatch)["ASSIGNMENT"].only
    submission = Submission("port.py", line.encode(), only)
    if said:
        with pytest.raises((ImportError, AttributeError), match=re.escape(said)):
            submission.answer("")
    else:
        assert submission.answer("") == 1


def test_a_teachers_own_cases(monkeypatch, tmp_path, capsys):
    """One layer of three channels: a bias that is added twice is wrong in this case, too."""
    found = loaded("conv_layer", monkeypatch)
    main = sys.modules["checking"].main
    (tmp_path / "cases.json").write_text("[[[1, 3, 5, 4], [2, 3, 2, 2], 1, 0]]")
    (tmp_path / "a.py").write_text("def conv_backward_bias(dout):\n    return dout.sum((0, 2))\n")
    arguments = [str(tmp_path / "a.py"), "--cases", str(tmp_path / "cases.json")]
    assert main(found["ASSIGNMENT"], arguments) == 1
    assert (
        "right in 0 of 1 cases; x [1, 3, 5, 4], w [2, 3, 2, 2], stride 1, pad 0:" in capsys.readouterr().out
    )
    for text, said in (
        ("[[[1, 3, 5, 4], [2, 2, 2, 2], 1, 0]]", "channels"),
        ("[[[1, 3, 5, 4]]]", "a case has an x, a w, a stride and a pad"),
        ("{}", "it must hold a list of cases"),
        ("[1", "the first two cases of this assignment are"),
    ):
        (tmp_path / "cases.json").write_text(text)
        with pytest.raises(SystemExit, match=said):
            main(found["ASSIGNMENT"], arguments)
    (tmp_path / "cases.json").write_text("[[1, 12, 16, 3]]")
    with pytest.raises(SystemExit, match="multiples of 8"):
        main(loaded("port", monkeypatch)["ASSIGNMENT"], arguments)


CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Quiz (11)
    Points Possible,,,,,7
"Lopez, Ana",1234,,ana,S1,5
"Bold, Ben",99,,ben,S1,7
"""
MOODLE = """\
First name,Last name,ID number,Email address,Quiz
Ana,Lopez,1234,ana@school.org,5
Ben,Bold,99,ben@school.org,7
"""


@pytest.fixture
def grade(monkeypatch, tmp_path):
    """Mark files that are named, with a gradebook; the first gets 40 points, the next 50, and so on."""
    assignment = loaded("conv_layer", monkeypatch)["ASSIGNMENT"]
    checking = sys.modules["checking"]

    def graded(text, *files, mark=None, more=()):
        shutil.rmtree(tmp_path / "in", ignore_errors=True)
        for file in files:
            (tmp_path / "in" / file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "in" / file).touch()
        (tmp_path / "book.csv").write_text(text, encoding="utf-8-sig")
        points = {tmp_path / "in" / file: 40 + 10 * number for number, file in enumerate(files)}

        def by_order(assignment, path, read, seconds):
            return checking.Marked({"conv_forward": points[path]}, {})

        monkeypatch.setattr(checking, "mark", mark or by_order)
        options = ["--csv", str(tmp_path / "points.csv"), "--gradebook", str(tmp_path / "book.csv")]
        checking.main(assignment, [str(tmp_path / "in"), *options, *more])
        return (tmp_path / "book with points.csv").read_text(encoding="utf-8").splitlines()

    return graded


def not_yet(*_, **__):
    pytest.fail("something was marked")


@pytest.mark.parametrize(
    ("text", "files", "line"),
    [
        (CANVAS, ("lopezana_1234_5_layer.py", "ben.py"), '"Lopez, Ana",1234,,ana,S1,5,40,'),
        (CANVAS, ("lopezana_LATE_1234_99_layer.py", "ben.py"), '"Lopez, Ana",1234,,ana,S1,5,40,'),
        (MOODLE, ("Ana Lopez_99_assignsubmission_file/layer.py", "ben/layer.py"), "Ana,Lopez,1234,ana@school.org,5,40,"),
        (MOODLE, ("ana.py", "7.py"), "Ana,Lopez,1234,ana@school.org,5,40,"),
    ],
)  # fmt: skip
def test_a_gradebook_gets_the_points(text, files, line, grade, capsys):
    lines = grade(text, *files)
    assert line in lines
    assert lines[0].endswith(",layer (checker),layer (written)")
    assert ("    Points Possible,,,,,7,85,15" in lines) == (text is CANVAS)
    there = "7.py" not in files
    assert any(one.endswith("7,50,") for one in lines) == there
    assert ("7.py has no row" in capsys.readouterr().out) != there


def test_written_points_go_into_the_gradebook(grade, tmp_path):
    """Typed into the table of --csv: the sums of those that are complete."""
    typed = tmp_path / "typed.csv"
    head = "file,written 1,written 2,written 3\n"
    typed.write_text(f"{head}ana.py,5,2,0.5\nben.py,5,,2\n", encoding="utf-8-sig")
    lines = grade(MOODLE, "ana.py", "ben.py", more=["--written", str(typed)])
    assert "Ana,Lopez,1234,ana@school.org,5,40,7.5" in lines
    assert "Ben,Bold,99,ben@school.org,7,50," in lines
    for file in tmp_path.glob("*points.csv"):
        file.unlink()
    for text in ("file;written 1\nana.py;5\n", f"{head}ana.py,5,two,0\n", f"{head}ana.py,55,2,0\n"):
        typed.write_text(text)
        with pytest.raises(SystemExit, match="must be a table of --csv with written points typed in"):
            grade(MOODLE, "ana.py", more=["--written", str(typed)], mark=not_yet)


def test_a_spreadsheet_shows_the_table_right_and_its_own_is_read(grade, tmp_path):
    """Excel takes UTF-8 without a mark for another encoding; German and French ones write ; and a decimal comma."""
    grade(MOODLE, "josé.py", "ben.py")
    table = (tmp_path / "points.csv").read_bytes()
    assert table.startswith("\ufefffile,".encode())
    assert "\njosé.py,40," in table.decode()
    assert not (tmp_path / "book with points.csv").read_bytes().startswith("\ufeff".encode())
    for file in tmp_path.glob("*points.csv"):
        file.unlink()
    typed = tmp_path / "typed.csv"
    typed.write_text(
        "file;written 1;written 2;written 3\r\nben.py;5;2,5;0\r\n", encoding="utf-8-sig", newline=""
    )
    assert "Ben,Bold,99,ben@school.org,7,50,7.5" in grade(
        MOODLE, "ana.py", "ben.py", more=["--written", str(typed)]
    )


def test_a_roster_of_github_classroom_is_a_gradebook(grade):
    roster = (
        "identifier,github_username,github_id,name\nana@school.org,ana-l,77,Ana\nben@school.org,bold,78,Ben\n"
    )
    assert grade(roster, "ana-l/layer.py", "bold/layer.py")[1:] == [
        "ana@school.org,ana-l,77,Ana,40,",
        "ben@school.org,bold,78,Ben,50,",
    ]


def test_what_is_beside_the_file_that_is_asked_for_is_no_submission(grade, capsys):
    """A repository has tests, and nbgrader collects a notebook; in the folder itself every file is one."""
    more = ("ana/mine.py", "ana/tests/test_mine.py", "ana/work.ipynb")
    lines = grade(MOODLE, "ana/layer.py", *more, "ben.py", "layer.py")
    assert "Ana,Lopez,1234,ana@school.org,5,40," in lines
    assert any(line.startswith("Ben,") and line.endswith(",7,80,") for line in lines)
    shown = capsys.readouterr().out
    assert f"not marked, because their folder has a layer.py: {', '.join(more)}" in shown
    assert "layer.py has no row" in shown


@pytest.mark.parametrize(
    ("rows", "files", "points", "said"),
    [
        # the second number of Canvas is the submission's
        ("Lopez Ana,1234,|Bold Ben,5678,", ["lopezana_1234_5678_layer.py"], ["40", ""], ""),
        # a first name is nobody's, though it may be a login
        ("Ana Garcia,1,|Ana Lopez,2,", ["ana_garcia/layer.py", "ana/layer.py"], ["40", ""], "ana/layer.py has no row"),
        ("Ana Garcia,1,|Ana Lopez,2,ana@school.org", ["ana_garcia/layer.py", "ana/layer.py"], ["40", "50"], ""),
        ("Ana Lopez,1,|Ana Maria Lopez,2,", ["lopez-ana.py", "Ana Maria Lopez_3_assignsubmission_file/a.py"], ["40", "50"], ""),
        # Moodle's worksheet for marking without names, where 8 is another student's number
        (",Participant 8,|Ben,8,", ["Participant_8_assignsubmission_file/layer.py"], ["40", ""], ""),
        # two rows, or two files: nobody gets them, and the others keep theirs
        ("Ana Lopez,1,|Lopez Ana,2,|Ben,3,", ["ana_lopez.py", "ben.py"], ["", "", "50"], "ana_lopez.py fits the row Ana Lopez"),
        ("Ana Lopez,1,|Ben,3,", ["1.py", "ana_lopez/layer.py", "ben.py"], ["", "60"], "1.py fits the row Ana Lopez"),
        ("Ana Lopez,1,|Ben,3,", ["ana_lopez/layer.py", "1/more.py", "3.py"], ["", "60"], "more.py fits the row"),
        # a Mac's é is an e and an accent
        ("Ren\u00e9 \u00c5s,1,", ["rene\u0301_A\u030as.py"], ["40"], ""),
    ],
)  # fmt: skip
def test_points_go_to_the_row_that_alone_fits(rows, files, points, said, grade, capsys):
    _, *lines = grade("Name,ID,Email\n" + rows.replace("|", "\n"), *files)
    assert [line.split(",")[-2] for line in lines] == points
    assert said in capsys.readouterr().out


def test_a_table_that_is_there_is_not_written_over(grade, tmp_path):
    """Neither by a second run, nor the one that the first run made with what a teacher typed into it."""
    grade(CANVAS, "ben.py")
    for name in ("points.csv", "book with points.csv"):
        for other in ("points.csv", "book with points.csv"):
            (tmp_path / other).unlink(missing_ok=True)
        (tmp_path / name).write_text("typed;15", encoding="utf-8")
        with pytest.raises(SystemExit, match=f"{name} exists"):
            grade(CANVAS, "ben.py", mark=not_yet)
        assert (tmp_path / name).read_text(encoding="utf-8") == "typed;15"


def test_a_gradebook_is_checked_before_anything_is_marked(grade, tmp_path, monkeypatch):
    with pytest.raises(SystemExit, match="no row fits a submission"):
        grade(CANVAS, "carl.py", mark=not_yet)
    with pytest.raises(SystemExit, match="no row fits a submission"):
        grade("", "ben.py", mark=not_yet)
    write_text = Path.write_text
    monkeypatch.setattr(Path, "write_text", lambda path, text, encoding: write_text(path, text, "utf-16"))
    with pytest.raises(SystemExit, match="must be CSV in UTF-8"):
        grade(CANVAS, "ben.py", mark=not_yet)
    monkeypatch.setattr(Path, "write_text", lambda path, *_, **__: path.unlink(missing_ok=True))
    with pytest.raises(SystemExit, match="No such file"):
        grade(CANVAS, "ben.py", mark=not_yet)
    assert not (tmp_path / "points.csv").exists()


def test_what_was_marked_is_kept_when_marking_ends(grade, tmp_path):
    from checking import Marked

    def mark(assignment, path, read, seconds):
        if path.name == "ben.py":
            raise KeyboardInterrupt
        return Marked(dict.fromkeys(assignment.points, 1), dict.fromkeys(assignment.points, ""))

    with pytest.raises(KeyboardInterrupt):
        grade(CANVAS, "ana.py", "ben.py", mark=mark)
    assert "ana.py,1,1,1,1,1,5," in (tmp_path / "points.csv").read_text()
    assert '"Lopez, Ana",1234,,ana,S1,5,5,' in (tmp_path / "book with points.csv").read_text()


def without_speed(judge):
    return lambda assignment, *more: judge(dataclasses.replace(assignment, last=lambda *_: ""), *more)


@pytest.mark.slow  # slow loops
def test_speed_is_measured_against_loops_of_the_checker(monkeypatch, tmp_path):
    found = loaded("conv_layer", monkeypatch)
    right = (COURSE / "solutions" / "layer.py").read_text(encoding="utf-8")
    call, slowness, name = calls_of(right, tmp_path), found["slowness"], "conv_forward_fast"
    loops = {"conv_forward": call, name: lambda _, args: found["loops"](*args)}
    assert slowness(name, call, 0) == ""
    assert slowness("conv_forward", call, 0) == ""  # whose own speed does not count
    # no conv_forward, and loops in place of the fast function: they are timed all the same
    assert slowness(name, loops[name], 0).startswith("not ten times as fast as loops, only ")
    assert slowness(name, lambda *_: np.zeros((1, 1, 160, 160)), 0) == "on a larger layer: another result"


@pytest.mark.slow  # slow loops
def test_what_a_function_remembers_earns_nothing_for_speed(monkeypatch):
    found, kept = loaded("conv_layer", monkeypatch), {}

    def remembers(name, args):
        key = b"".join(np.asarray(arg).tobytes() for arg in args)
        if key not in kept:
            kept[key] = found["loops"](*args)
        return kept[key]

    assert found["slowness"]("conv_forward_fast", remembers, 0).startswith("not ten times as fast")


def test_each_case_counts_the_same_and_a_named_mistake_is_worth_half(monkeypatch, tmp_path):
    found = loaded("conv_layer", monkeypatch)
    text = (COURSE / "solutions" / "layer.py").read_text(encoding="utf-8")
    for old, new, points, said in (
        # no mistake explains it: 4 of 6 cases are right; 16.67 of 25
        ("out = np.zeros(", "x = np.where(stride == 2, np.cos(x), x)\n    out = np.zeros(", 16,
         "right in 4 of 6 cases; x [2, 2, 7, 9]"),
        # a named mistake in all cases, and one in those with padding: 2 + 4 / 2 of 6
        (" + b[channel]", "", 12, "right in 0 of 6 cases; x [1, 1, 4, 5]"),
        ("[(0, 0), (0, 0), (pad, pad), (pad, pad)]", "[(0, 0), (0, 0), (2 * pad, 0), (pad, pad)]", 16,
         "right in 2 of 6 cases; wrong with padding, and only then; x [1, 1, 5, 4]"),
        ("c * stride : c * stride + cols", "c : c + cols", 18,
         "right in 3 of 6 cases; wrong with a stride above 1, and only then; x [2, 2, 7, 9]"),
        # the cases with whole numbers, and one in which the mistake has a name: 3 + 1 / 2 of 6
        ("len(w), *size))", "len(w), *size), int)", 14,
         "right in 3 of 6 cases; wrong where the numbers are not whole, and only then; x [1, 1, 4, 5]"),
    ):  # fmt: skip
        assert old in text
        got, words = judged(found, calls_of(text.replace(old, new, 1), tmp_path))["conv_forward"]
        assert (got, words[: len(said)]) == (points, said)


def test_what_a_named_mistake_is_worth_is_the_teachers_choice(monkeypatch, tmp_path, capsys):
    """The sum over one axis too few is a mistake with a name, in all six cases: of 5 points all, 1 and none."""
    found = loaded("conv_layer", monkeypatch)
    (tmp_path / "a.py").write_text("def conv_backward_bias(dout):\n    return dout.sum((2, 3))\n")
    for named, points in (("1", 5), ("0.25", 1), ("0", 0)):
        sys.modules["checking"].main(found["ASSIGNMENT"], [str(tmp_path / "a.py"), "--named", named])
        assert f"conv_backward_bias     {points} of  5" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        sys.modules["checking"].main(found["ASSIGNMENT"], [str(tmp_path / "a.py"), "--named", "2"])


def test_a_network_has_points_by_its_accuracy(monkeypatch):
    """All from 95 % on, none below 80 %, and the part between: of 360 digits 315 are half way."""
    pytest.importorskip("sklearn")
    found = loaded("digits", monkeypatch)
    from checking import judge

    labels = found["digits"](0)[3]
    for right, points in ((342, 35), (341, 34), (315, 17), (288, 0), (100, 0)):
        got = np.where(np.arange(360) < right, labels, labels + 1)
        assert judge(found["ASSIGNMENT"], "read_digits", lambda *_, got=got: got)[0] == points
    points, said = judge(found["ASSIGNMENT"], "read_digits", lambda *_: labels[:, None])
    assert (points, said) == (0, "the shape is [360, 1], not [360]: one label for each image")


def test_the_other_mistakes_of_the_bias_are_named(monkeypatch):
    found = loaded("conv_layer", monkeypatch)
    dout = np.arange(48.0).reshape(2, 3, 4, 2)
    for wrong, said in (
        (dout.sum((2, 3)), "the images are not summed"),
        (dout.sum(0), "rows and cols are not summed"),
        (dout.sum((1, 2, 3)), "for each image"),
    ):
        fault = found["fault_of_bias"](dout, wrong)
        assert said in fault.said
        assert fault.named
    assert not found["fault_of_bias"](dout, dout.sum((0, 2, 3)) + 1).named


WRONG = {  # of a solution, what is replaced by what, and what the line of which function then says
    "conv_layer": (
        ("w[channel]", "w[channel, :, ::-1, ::-1]", "conv_forward", "flipped_filter"),
        (" + b[channel]", "", "conv_forward", "bias"),
        ('"no,oirc->nirc", dout[:, :, r, c], w', '"no,oirc->nirc", dout[:, :, r, c], w[:, :, ::-1, ::-1]',
         "conv_backward_input", "flipped_filter"),
        ("[:, :, ::stride, ::stride]", "", "conv_forward_fast", "stride 2"),
        ("sum((0, 2, 3))", "mean((0, 2, 3))", "conv_backward_bias", "yours is a mean"),
        ("return dw", "return dw * 0", "conv_backward_filter", "your result is zero everywhere"),
        ("return dw", "dw", "conv_backward_filter", "a return is missing"),
        ("dout[:, :, r, c], window", "dout[:1, :, r, c], window[:1]", "conv_backward_filter", "dout"),
    ),
    "port": (
        ("total // 2, total - total // 2", "total - total // 2, total // 2", "stem",
         "yours has one more row of padding at the top"),
        (".reshape(*w.shape[:2], 1, -1)", ".swapaxes(2, 3).reshape(*w.shape[:2], 1, -1)", "depthwise", "groups"),
        ("count_include_pad=False", "count_include_pad=True", "pooled", "count_include_pad"),
        ("+ EPSILON", "+ 1e-5", "normalised", "PyTorch's 1e-5"),
        ('np.sqrt(w["variance"] + EPSILON)', '(np.sqrt(w["variance"]) + EPSILON)', "normalised", "outside of the root"),
        ("np.maximum((x", "np.add((x", "normalised", "the relu is missing"),
        ("* scale", "* 2 * scale", "normalised", "cells: at [0, "),
        ("full[:, :, : 2 * x.shape[2], : 2 * x.shape[3]]", "full[:, :, 1:, 1:]", "up", "output_alignment"),
        ("full[:, :, : 2 * x.shape[2], : 2 * x.shape[3]]", "full", "up", "the right result is"),
    ),
    "digits": (
        ("dout * (x > 0)", "np.maximum(dout, 0)", "relu_backward", "yours is the relu of dout"),
        ("dout * (x > 0)", "dout * 2", "relu_backward", "the numbers differ in 1"),
        ("labels]).mean()", "labels]).max()", "loss", "cells: yours is "),
        ("_blocks(x).max((3, 5))", "_blocks(x).mean((3, 5))", "max_pool", "yours is the mean"),
        ("_blocks(x).max((3, 5))", "_blocks(x).max((2, 4))", "max_pool", "the shape is"),
        ("(largest * dout", "((largest >= 0) * dout", "max_pool_backward", "only its largest does"),
        ("labels]).mean()", "labels]).sum()", "loss", "yours is the sum"),
        (") / len(labels)", ")", "loss_backward", "divide by the number of images"),
        ("- np.eye(scores.shape[1])[labels]", "", "loss_backward", "1 is not subtracted at the label"),
    ),
}  # fmt: skip


def test_usual_mistakes_are_named(checker, tmp_path):
    name, found = checker
    right = (COURSE / "solutions" / SOLUTIONS[name]).read_text(encoding="utf-8")
    from checking import judge

    few = found["ASSIGNMENT"].cases[:4:3]  # is faster
    assignment = dataclasses.replace(found["ASSIGNMENT"], cases=few)
    for old, new, where, said in WRONG[name]:
        assert old in right
        points, words = judge(assignment, where, calls_of(right.replace(old, new), tmp_path))
        assert points < assignment.points[where]
        assert said in words
        assert not {"theirs", "reference", "out_backprop"} & {*re.findall(r"\w+", words)}, words


@pytest.mark.parametrize(
    "result",
    [True, "text", 1j, np.full((1, 1, 2, 3), np.nan)],
    ids=["bool", "text", "complex", "NaN"],
)
def test_whatever_a_function_returns_is_judged(checker, result):
    from checking import judge

    assignment = checker[1]["ASSIGNMENT"]
    assignment = dataclasses.replace(assignment, cases=assignment.cases[:1])
    for name in assignment.points:
        points, said = judge(assignment, name, lambda name, args: result)
        assert points == 0
        assert said


def test_the_numbers_in_the_rubric_are_right(monkeypatch):
    """Of the question about epsilon: how much each channel's factor changes, and where 5 % does not show it."""
    variance = loaded("port", monkeypatch)["network"].WEIGHTS["variance"]
    change = 100 * (np.sqrt(variance + 0.25) / np.sqrt(variance + 1e-5) - 1)
    text = " ".join((COURSE / "rubric.md").read_text(encoding="utf-8").split())
    assert ", ".join(f"{number:.1f}" for number in change) + " %" in text
    assert [*np.flatnonzero(change < 5)] == [0, 2, 3, 5]
    assert "missed in channels 0, 2, 3 and 5" in text


def test_the_answers_of_assignment_1_in_the_rubric_are_right():
    """Counted by the index law alone: 6 rows with 3 taps and a zero around, and 8 rows with 2 taps at stride 3."""
    inside = [sum(0 <= out - 1 + tap < 6 for out in range(6)) for tap in range(3)]
    unread = {*range(8)} - {3 * out + tap for out in range(3) for tap in range(2)}
    text = (COURSE / "rubric.md").read_text(encoding="utf-8")
    assert f"{inside[1] ** 2} and {inside[0] ** 2}; the window" in text
    assert "rows {} and {}, which no window reads".format(*sorted(unread)) in text


@pytest.mark.parametrize("name", SOLUTIONS)
def test_what_is_handed_out_asks_what_the_rubric_marks(name):
    task = (COURSE / name / "TASK.md").read_text(encoding="utf-8")
    points = [int(found) for found in re.findall(r"^\| (\d+) \| `", task, re.MULTILINE)]
    rubric = (COURSE / "rubric.md").read_text(encoding="utf-8")
    part = rubric.split("## ")[1 + [*SOLUTIONS].index(name)]
    assert sum(points) == 85
    assert [int(found) for found in re.findall(r"^\| (\d+) \|", part, re.MULTILINE)] == [*points, 5, 5, 5]
    assert len(re.findall(r"^\d\. ", task, re.MULTILINE)) == 3
    lectures = " ".join(path.read_text(encoding="utf-8") for path in (COURSE / "slides").glob("*.md"))
    for answer in re.findall(r"written \d \| 5: (.+?)[;.] ", part):
        assert answer not in task + lectures


def test_the_key_of_the_exam_answers_its_questions():
    """Its lines give what it says; each question has an answer, and none is on a page for students."""
    key = COURSE / "solutions" / "exam.md"
    outcome = doctest.testfile(str(key), module_relative=False)
    assert (outcome.failed, outcome.attempted > 15) == (0, True)
    asked = re.findall(
        r"^(\d+)\. \*\*\((\d+) points\)", (COURSE / "exam.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    answers = dict(re.findall(r"^(\d+)\. (.+?)[.:;] ", key.read_text(encoding="utf-8"), re.MULTILINE))
    assert [number for number, _ in asked] == [*answers]
    assert sum(int(points) for _, points in asked) == 100
    pages = "".join(
        path.read_text(encoding="utf-8") for path in (COURSE.parent / "docs" / "teach").glob("*.md")
    )
    assert not [answer for answer in answers.values() if len(answer) > 20 and answer in pages]


def test_what_is_handed_out_says_what_the_checker_enforces(checker):
    name, found = checker
    task = (COURSE / name / "TASK.md").read_text(encoding="utf-8")
    assert f"A call may take {found['ASSIGNMENT'].seconds:g} seconds" in task
    for rule in ("One file", "UTF-8", "helper file", "costs all points"):
        assert rule in task


def test_pages_that_students_read_hold_no_answers_of_the_marking_key_or_the_speaker(monkeypatch):
    """The rubric's words for full points, and the notes that are spoken."""
    monkeypatch.syspath_prepend(str(COURSE.parent / "docs"))
    as_cards = importlib.import_module("lectures").as_cards
    pages = [path.read_text(encoding="utf-8") for path in (COURSE.parent / "docs" / "teach").glob("*.md")]
    key = re.findall(r"written \d \| 5: (.+?)[;.] ", (COURSE / "rubric.md").read_text(encoding="utf-8"))
    assert len(key) == 9
    for path in sorted((COURSE / "slides").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        pages.append(as_cards(text))
        assert pages[-1].count("{container} slide\n") == text.count("\n---\n")
        key += [note.partition("\n")[0] for note in text.split("\nNote: ")[1:]]
    assert len(key) > 60
    assert [(answer, page[:60]) for answer in key for page in pages if answer in page] == []


def test_formulas_and_results_on_the_slides():
    pytest.importorskip("matplotlib")
    signal = pytest.importorskip("scipy.signal")
    plain_formulas = runpy.run_path(str(COURSE / "build.py"))["plain_formulas"]
    bound = plain_formulas((COURSE / "slides" / "lecture_3.md").read_text(encoding="utf-8"))
    assert "|error| ≤ γ<sub>K</sub> Σ |x w| with γ<sub>K</sub> = K u / (1 - K u)" in bound
    flipped = (COURSE / "slides" / "lecture_1.md").read_text(encoding="utf-8")
    x, w = [5, 6, 7, 8], [1, 0, 0]
    assert f"gives {signal.convolve(x, w, mode='valid').tolist()}; without" in flipped
    assert f"the full result, {signal.convolve(x, w).tolist()}" in flipped


def test_the_numbers_of_lenet_on_the_slides():
    """By the paper: learned numbers of the layers C1, S2, C3, S4, C5 and F6, 60,000 together, and products."""
    filters = 6 * 3 + 9 * 4 + 1 * 6  # of the second convolution: maps that read 3, 4 or all 6
    learned = 6 * 26, 6 * 2, filters * 25 + 16, 16 * 2, 120 * (16 * 25 + 1), 84 * 121
    assert sum(learned) == 60_000
    text = (COURSE / "slides" / "lecture_5.md").read_text(encoding="utf-8")
    *most, last = (f"{number:,}" for number in learned)
    assert f"Learned: {', '.join(most)} and {last}, together 60,000." in text
    assert f"all 6 to all 16, which has {6 * 16 * 25 + 16:,}" in text
    products = 28 * 28 * 6 * 25 + 10 * 10 * filters * 25, 120 * 400 + 84 * 120
    assert f"convolutions | {learned[0] + learned[2]:,} | {products[0]:,} |" in text
    assert f"dense layers | {learned[4] + learned[5]:,} | {products[1]:,} |" in text


@pytest.mark.slow  # figures
def test_labels_on_slides_can_be_read_from_the_last_row(tmp_path, monkeypatch):
    """Slides have 960 x 700 units, 1.48 pixels each on a screen of 1920 x 1080; figures 960 x 430, or 470 x 300."""
    pytest.importorskip("matplotlib")
    build = runpy.run_path(str(COURSE / "build.py"))
    monkeypatch.setitem(build["plt"].rcParams, "svg.fonttype", "none")  # letters, not their outlines
    build["draw"](tmp_path / "figures")
    slides = "".join(path.read_text(encoding="utf-8") for path in (COURSE / "slides").glob("*.md"))
    smallest = {}
    for name in build["FIGURES"]:
        text = (tmp_path / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        wide, high = map(float, re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', text).groups())
        beside = re.search(rf"figures/{name}.svg\) !|\) !\[[^]]*\]\(figures/{name}.svg", slides)
        scale = min(470 / wide, 300 / high) if beside else min(960 / wide, 430 / high)
        sizes = re.findall(r'font-size="([\d.]+)"|font: ([\d.]+)px|font-size: ([\d.]+)px', text)
        smallest[name] = min((float("".join(size)) * scale * 1.48 for size in sizes), default=99)
    assert {name: size for name, size in smallest.items() if size < 22} == {}
    assert sum(size < 99 for size in smallest.values()) >= 10


def test_every_answer_of_the_study_is_right():
    X, W = np.arange(16.0).reshape(1, 4, 4, 1), np.arange(1.0, 10).reshape(3, 3, 1, 1)
    names = {"np": np, "tc": tc, "X": X, "W": W, "Y": np.array([1.0, 2, 3, 4]).reshape(1, 2, 2, 1)}
    questions = json.loads((COURSE / "study" / "questions.json").read_text(encoding="utf-8"))
    assert len(questions) == 10
    for question in questions:
        for form in (question["A"], question["B"]):
            assert len({*form["options"]}) == 4
            assert str(eval(form["check"], names)) == form["options"][form["right"]], form["text"]
        one, other = question["A"], question["B"]
        assert one["text"] != other["text"]
        assert re.sub(r"[\d, ]+", "", one["text"]) == re.sub(r"[\d, ]+", "", other["text"])  # the same words
        assert (one["options"], one["right"]) != (other["options"], other["right"])


def test_the_page_of_the_study_has_no_answers_inside(tmp_path):
    build = runpy.run_path(str(COURSE / "build.py"))
    build["study"](tmp_path, tmp_path / "teachers")
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert "How many outputs are there?" in page
    assert '"right"' not in page
    assert "conv2d_geometry" not in page


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_every_slide_has_notes_for_the_speaker(number):
    """Notes of a few sentences each, and slides enough for 45 minutes."""
    text = (COURSE / "slides" / f"lecture_{number}.md").read_text(encoding="utf-8")
    slides = text.split("\n---\n")
    assert len(slides) >= 12
    for slide in slides:
        shown, _, notes = slide.partition("\nNote: ")
        assert 2 <= len(re.findall(r"[.?!:](?: |$)", notes.strip())) <= 9, slide
        if "Ask the class" in shown:
            assert re.search("nswers?: |One cannot say|Expected answer|gives|All of them|All five", notes), (
                slide
            )


def test_the_plan_teaches_before_it_is_due():
    text = (COURSE.parent / "docs" / "teach" / "index.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| week 2")]
    assert "gradients" in rows[0]
    assert "assignment 1 in" not in rows[0]
    assert "assignment 1 in" in rows[1]
    assert "20_pooling" in rows[1]


@pytest.mark.parametrize("name", ["same", "torch_pad", "receptive_field"])
def test_a_solution_of_a_grader_stands_in_its_function(name, monkeypatch):
    pytest.importorskip("nbformat")
    monkeypatch.syspath_prepend(str(COURSE))
    import graders

    space = {}
    text = graders.solved(ex.puzzles()[name], "### BEGIN SOLUTION", "### END SOLUTION")
    exec(text, space)
    assert text.startswith(ex.puzzles()[name].signature + "\n    ### BEGIN SOLUTION\n")
    assert ex.check(name, space[name]).passed
    assert all(graders.solved(puzzle, "#", "#") for puzzle in ex.puzzles())


def test_npm_is_started_by_its_path(tmp_path, monkeypatch):
    """Windows has a file npm.cmd, which no process finds by the name npm."""
    pytest.importorskip("matplotlib")
    slides, started = runpy.run_path(str(COURSE / "build.py"))["slides"], []

    def run(command, **_):
        started.extend(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setitem(slides.__globals__, "draw", lambda folder: None)
    monkeypatch.setattr(shutil, "which", lambda name: f"C:/node/{name}.cmd")
    monkeypatch.setattr(subprocess, "run", run)
    assert not slides(tmp_path)
    assert started[0] == "C:/node/npm.cmd"


@pytest.mark.slow  # figures
def test_the_zip_has_everything(tmp_path, capsys, monkeypatch):
    pytest.importorskip("matplotlib")
    build = runpy.run_path(str(COURSE / "build.py"))
    found = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name, **more: None if name == "npm" else found(name, **more))
    build["main"](tmp_path / "course")
    assert "the slides are Markdown only" in capsys.readouterr().out
    names = {*zipfile.ZipFile(tmp_path / "course.zip").namelist()}
    slides = [path.read_text(encoding="utf-8") for path in (COURSE / "slides").glob("*.md")]
    figures = {part.partition(")")[0] for text in slides for part in text.split("](")[1:]}
    assert figures == {f"figures/{name}.svg" for name in build["FIGURES"]}
    teachers = {f"slides/{name}" for name in figures} | {
        "index.md", "slides.md", "rubric.md", "exam.md", "solutions/exam.md", "study/analysis.ipynb", "solutions/layer.py", "solutions/graders.py",
        "notebooks/answers/same.py",
    }  # fmt: skip
    students = {
        "README.md", "study.html", "checking.py", "conv_layer/check_layer.py", "port/network.py",
        "conv_layer/TASK.md", "port/TASK.md",
        "notebooks/00_why.ipynb", "examples/eight_bugs.py",
    }  # fmt: skip
    wanted = {f"teachers/{name}" for name in teachers} | {f"students/{name}" for name in students}
    assert {f"course/{name}" for name in wanted | {"README.md"}} <= names
    assert not [name for name in names if "__pycache__" in name]
    assert not [name for name in names if name.startswith("course/students/") and "answers" in name]
    pages = [*(tmp_path / "course").rglob("*.md"), *(tmp_path / "course" / "students").rglob("*.ipynb")]
    links = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "{toctree}" not in text
        assert "[](" not in text
        for target in re.findall(r"\]\(([^)# ]+\.(?:md|ipynb))\)", text):
            assert (page.parent / target).is_file(), (page, target)
            links += 1
    assert links > 30
    check = tmp_path / "course" / "students" / "conv_layer" / "check_layer.py"
    done = subprocess.run([sys.executable, check], cwd=check.parent, capture_output=True, text=True)
    assert "0 of 85 points" in done.stdout
    assert "\\" not in "".join(map(build["plain_formulas"], slides))


@pytest.mark.slow  # 40,000 resamplings, and figures
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
def test_the_analysis_runs_on_a_class_that_was_made_up_and_on_files(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    cells = json.loads((COURSE / "study" / "analysis.ipynb").read_text(encoding="utf-8"))["cells"]

    def printed():
        names = {}
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
        return capsys.readouterr().out

    shutil.copy(COURSE / "study" / "questions.json", tmp_path)
    text = printed()
    assert "40 people with both files; 0 codes left out; 0 files refused" in text
    assert re.search(r"SAME +\d+% +\d+%\n", text)
    (tmp_path / "results").mkdir()
    questions = json.loads((COURSE / "study" / "questions.json").read_text(encoding="utf-8"))
    (tmp_path / "results" / "damaged.json").write_text('{"study": 1, "co')
    text = printed()
    assert "damaged.json is damaged" in text
    assert "There is nothing to analyse" in text

    def hand_in(code, first, before, after):
        """Of a code that has this form first, so many right answers before and after; None for no file."""
        for phase, points in (("before", before), ("after", after)):
            form = first if phase == "before" else {"A": "B", "B": "A"}[first]
            answers = [
                question[form]["right"] if i < (points or 0) else -1 for i, question in enumerate(questions)
            ]
            facts = {"study": 1, "code": code, "phase": phase, "form": form, "answers": answers, "seconds": 9}
            if points is not None:
                (tmp_path / "results" / f"{phase}-{code}.json").write_text(json.dumps(facts))

    for code in "AAAAAA", "CCCCCC", "EEEEEE":
        hand_in(code, "A", 0, 10)
    assert "All had the same form first" in printed()
    hand_in("BBBBBB", "B", 0, 2)
    hand_in("DDDDDD", "B", 4, None)
    results = tmp_path / "results"
    shutil.copy(results / "before-BBBBBB.json", results / "before-BBBBBB (1).json")
    nine = json.loads((results / "before-BBBBBB.json").read_text()) | {"code": "FFFFFF", "answers": [0] * 9}
    (results / "before-FFFFFF.json").write_text(json.dumps(nine))
    text = printed()
    assert "4 people with both files; 1 codes left out; 2 files refused" in text
    assert "before-FFFFFF.json has 9 answers, not 10" in text
    assert "DDDDDD: 1 before: not used" in text
    assert "mean gain 6.00" in text  # of three people with 10 and one with 2: each order counts the same
    assert "A first:   3 people, before 0.00, after 10.00" in text


def save(driver):
    for number in range(10):
        driver.find_elements("css selector", f"input[name=q{number}]")[number % 5].click()
    driver.find_element("css selector", "form > button").click()


@pytest.mark.slow
@pytest.mark.browser
@needs_browser
def test_the_page_of_the_study_saves_a_file_without_names(tmp_path):
    build = runpy.run_path(str(COURSE / "build.py"))
    build["study"](tmp_path / "study", tmp_path / "teachers")
    with chromium() as driver:
        allowed = {"behavior": "allow", "downloadPath": str(tmp_path)}
        driver.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
        codes = []
        for phase in ("before", "after"):
            driver.get((tmp_path / "study" / "study.html").as_uri())
            driver.find_element("css selector", f"input[value={phase}]").click()
            if codes:  # as the reader wrote it down; some browsers keep it as well
                field = driver.find_element("css selector", "input[name=code]")
                field.clear()
                field.send_keys(codes[0][0].lower(), "\t")
            save(driver)
            while not (files := [*tmp_path.glob(f"{phase}-*.json")]):
                time.sleep(0.05)
            assert not driver.find_element("css selector", "form").is_displayed()
            assert files[0].name in driver.find_element("css selector", "#saved p").text
            result = json.loads(files[0].read_text())
            assert result.keys() == {"study", "code", "phase", "form", "answers", "seconds"}
            assert result["answers"] == [0, 1, 2, 3, -1] * 2
            codes.append((result["code"], result["form"]))
        assert len({code for code, _ in codes}) == 1
        assert {form for _, form in codes} == {"A", "B"}
        shown = []
        next_person = "document.querySelector('#saved button').click()"
        for reload in (driver.refresh, lambda: driver.execute_script(next_person), driver.refresh):
            reload()  # the next person has another code, and keeps it until it is saved
            driver.find_element("css selector", "input[value=before]").click()
            shown.append(driver.find_element("css selector", "#message code").text)
            assert not driver.find_elements("css selector", "#questions input:checked")
            if len(shown) == 1:
                save(driver)
        assert shown[0] not in (codes[0][0], shown[1])
        assert shown[1] == shown[2]
        assert not driver.get_log("browser")


def environment(folder, *packages):
    """Make an environment with a grader, which sees this checkout and what teachconv needs."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    needs = ("numpy", "scipy", "threadpoolctl", "ipykernel")
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", *packages, *needs], check=True)
    paths = {"PYTHONPATH": str(COURSE.parent), "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    return {**os.environ, **paths}


def run(folder, variables, *command):
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.release  # installs nbgrader
def test_nbgrader_gives_points(tmp_path):
    variables = environment(tmp_path / "venv", "nbgrader")
    course = tmp_path / "course"
    source = course / "source" / "padding" / "padding.ipynb"
    python = tmp_path / "venv" / "bin" / "python"
    run(tmp_path, variables, python, COURSE / "graders.py", "nbgrader", source, "same", "causal")
    run(course, variables, "nbgrader", "generate_assignment", "padding", "--create")
    released = course / "release" / "padding" / "padding.ipynb"
    assert "total // 2" not in released.read_text()
    for name, text in (("ana", source.read_text()), ("ben", released.read_text())):
        (course / "submitted" / name / "padding").mkdir(parents=True)
        (course / "submitted" / name / "padding" / "padding.ipynb").write_text(text)
    run(course, variables, "nbgrader", "autograde", "padding")
    run(course, variables, "nbgrader", "generate_feedback", "padding")
    run(course, variables, "nbgrader", "export")
    rows = [line.split(",") for line in (course / "grades.csv").read_text().splitlines()[1:]]
    assert [(row[3], row[7]) for row in rows] == [("ana", "2.0"), ("ben", "0.0")]


@pytest.mark.slow
@pytest.mark.release  # installs otter-grader
def test_otter_gives_points(tmp_path):
    variables = environment(tmp_path / "venv", "otter-grader")
    python = tmp_path / "venv" / "bin" / "python"
    run(tmp_path, variables, python, COURSE / "graders.py", "otter", "padding.ipynb", "same", "causal")
    run(tmp_path, variables, "otter", "assign", "padding.ipynb", "dist")
    (archive,) = (tmp_path / "dist" / "autograder").glob("*.zip")
    released = json.loads((tmp_path / "dist" / "student" / "padding.ipynb").read_text())
    assert "total // 2" not in json.dumps(released)
    for cell in released["cells"]:
        if "".join(cell["source"]).startswith("def same"):
            cell["source"] = "def same(n, k, s, d):\n    return (k - 1) * d // 2, (k - 1) * d // 2"
    (tmp_path / "wrong.ipynb").write_text(json.dumps(released))
    points = []
    for name in ("dist/autograder/padding.ipynb", "wrong.ipynb"):
        run(tmp_path, variables, "otter", "run", "-a", archive, name)
        tests = json.loads((tmp_path / "results.json").read_text())["tests"]
        points.append({test["name"]: test["score"] for test in tests if "score" in test})
    assert points == [{"same": 1.0, "causal": 1.0}, {"same": 0, "causal": 0}]
    assert "symmetric: that is PyTorch" in json.dumps(tests)
