"""What a lecturer gets: assignments and their checkers, slides, recipes for graders, and the study."""

import json
import os
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

COURSE = Path(__file__).parents[1] / "course"
SOLUTIONS = {"conv_layer": "layer.py", "port": "port.py"}


@pytest.fixture(params=SOLUTIONS)
def checker(request, monkeypatch):
    """What runs an assignment's checker on a file, and returns its points and lines."""
    folder = COURSE / request.param
    monkeypatch.syspath_prepend(str(folder))
    found = runpy.run_path(str(folder / f"check_{SOLUTIONS[request.param]}"))
    return request.param, found


def lines_of(found, path, capsys):
    status = found["main"](str(path))
    *lines, total = capsys.readouterr().out.splitlines()
    return status, {line.split()[0]: line for line in lines}, int(total.split()[0])


def test_an_empty_submission_has_no_points_and_a_solution_all(checker, capsys):
    name, found = checker
    status, lines, points = lines_of(found, COURSE / name / SOLUTIONS[name], capsys)
    assert (status, points) == (1, 0)
    assert all("not written yet" in line for line in lines.values())
    if name == "conv_layer":  # it times two functions, on a machine that others use
        found["verdict"].__globals__["is_fast"] = lambda fast, slow: True
    status, lines, points = lines_of(found, COURSE / "solutions" / SOLUTIONS[name], capsys)
    assert (status, points) == (0, 85), lines


WRONG = {  # of a solution, what is replaced by what, and what the line of which function then says
    "conv_layer": (
        ("w[channel]", "w[channel, :, ::-1, ::-1]", "conv_forward", "flipped_filter"),
        (" + b[channel]", "", "conv_forward", "bias"),
        ('"no,oirc->nirc", dout[:, :, r, c], w', '"no,oirc->nirc", dout[:, :, r, c], w[:, :, ::-1, ::-1]',
         "conv_backward_input", "flipped_filter"),
        ("[:, :, ::stride, ::stride]", "", "conv_forward_fast", "stride 2"),
        ("sum((0, 2, 3))", "mean((0, 2, 3))", "conv_backward_bias", "right is"),
    ),
    "port": (
        ("total // 2, total - total // 2", "total - total // 2, total // 2", "stem", "padding_side"),
        (".reshape(*w.shape[:2], 1, -1)", ".swapaxes(2, 3).reshape(*w.shape[:2], 1, -1)", "depthwise", "groups"),
        ("count_include_pad=False", "count_include_pad=True", "pooled", "at the border only"),
        ("+ EPSILON", "+ 1e-5", "normalised", "the numbers differ"),
        ("full[:, :, : 2 * x.shape[2], : 2 * x.shape[3]]", "full[:, :, 1:, 1:]", "up", "output_alignment"),
    ),
}  # fmt: skip


def test_usual_mistakes_are_named(checker, tmp_path, capsys):
    name, found = checker
    right = (COURSE / "solutions" / SOLUTIONS[name]).read_text(encoding="utf-8")
    for old, new, where, said in WRONG[name]:
        assert old in right
        (tmp_path / "wrong.py").write_text(right.replace(old, new), encoding="utf-8")
        function = runpy.run_path(str(tmp_path / "wrong.py"))
        assert said in found["verdict"](where, function), (where, found["verdict"](where, function))


def test_every_answer_of_the_study_is_right():
    X, W = np.arange(16.0).reshape(1, 4, 4, 1), np.arange(1.0, 10).reshape(3, 3, 1, 1)
    names = {"np": np, "tc": tc, "X": X, "W": W, "Y": np.array([1.0, 2, 3, 4]).reshape(1, 2, 2, 1)}
    questions = json.loads((COURSE / "study" / "questions.json").read_text(encoding="utf-8"))
    assert len(questions) == 10
    for question in questions:
        for form in (question["A"], question["B"]):
            assert len({*form["options"]}) == 4
            assert str(eval(form["check"], names)) == form["options"][form["right"]], form["text"]
        assert question["A"]["text"] != question["B"]["text"]


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
    wanted = {f"slides/{name}" for name in figures} | {
        "index.md", "assignments.md", "study/study.html", "study/analysis.ipynb", "conv_layer/check_layer.py",
        "port/network.py", "solutions/layer.py", "solutions/graders.py", "notebooks/00_why.ipynb",
        "notebooks/answers/same.py", "examples/eight_bugs.py",
    }  # fmt: skip
    assert {f"course/{name}" for name in wanted} <= names
    assert not [name for name in names if "__pycache__" in name]
    assert "\\" not in "".join(map(build["plain_formulas"], slides))


@pytest.mark.slow  # a kernel
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")  # of the Jupyter stack
def test_the_analysis_runs_on_a_class_that_was_made_up_and_on_files(tmp_path):
    pytest.importorskip("matplotlib")
    nbformat = pytest.importorskip("nbformat")
    from nbclient import NotebookClient

    def printed():
        notebook = nbformat.read(COURSE / "study" / "analysis.ipynb", as_version=4)
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
        outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
        return "".join(out.get("text", "") for out in outputs)

    shutil.copy(COURSE / "study" / "questions.json", tmp_path)
    assert "40 people with both files; 0 codes left out" in printed()
    (tmp_path / "results").mkdir()
    questions = json.loads((COURSE / "study" / "questions.json").read_text(encoding="utf-8"))
    for code, phases in (("AAAAAA", "before after"), ("BBBBBB", "before after"), ("CCCCCC", "before")):
        for phase in phases.split():
            form = "AB"[(code[0] == "B") ^ (phase == "after")]
            answers = [question[form]["right"] if phase == "after" else -1 for question in questions]
            result = {
                "study": 1,
                "code": code,
                "phase": phase,
                "form": form,
                "answers": answers,
                "seconds": 9,
            }
            (tmp_path / "results" / f"{phase}-{code}.json").write_text(json.dumps(result))
    (tmp_path / "results" / "broken.json").write_text("{}")
    text = printed()
    assert "2 people with both files; 1 codes left out" in text
    assert "before 0.00 of 10, after 10.00" in text


@pytest.mark.slow
@pytest.mark.browser
@needs_browser
def test_the_page_of_the_study_saves_a_file_without_names(tmp_path):
    build = runpy.run_path(str(COURSE / "build.py"))
    build["study"](tmp_path / "study")
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
            for number in range(10):
                driver.find_elements("css selector", f"input[name=q{number}]")[number % 5].click()
            driver.find_element("css selector", "form > button").click()
            while not (files := [*tmp_path.glob(f"{phase}-*.json")]):
                time.sleep(0.05)
            result = json.loads(files[0].read_text())
            assert result.keys() == {"study", "code", "phase", "form", "answers", "seconds"}
            assert result["answers"] == [0, 1, 2, 3, -1] * 2
            codes.append((result["code"], result["form"]))
        assert len({code for code, _ in codes}) == 1
        assert {form for _, form in codes} == {"A", "B"}
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
