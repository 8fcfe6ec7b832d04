"""What counts as a statement or a line, and the table before and after, on a small made-up repository."""

import shutil
import subprocess
import sys
from pathlib import Path

import built_links
import pytest

ROOT = Path(__file__).parents[1]
statements = built_links.module_at("statements", ROOT / "tests")

PYTHON = '''"""A module."""
import math
def double(x):
    """Twice."""
    y = (  # a comment
        2 * x
    )
    if y: y += 1; return y
    "a string that stands alone"
'''
CYTHON = '''"""A module,
of two lines."""

cdef int f(int x):  # a comment
    """A docstring."""
    # nothing
    return x or len("# none")
'''
C = """/* Two
   lines. */
#include <stdio.h>

int f(void) {  // a comment
    /* alone */
    return puts("/* none */"), '"'; /* one
    more */ }
"""
JAVASCRIPT = """// A module.
const link = "http://example.org", quote = /["'`/*]/g;
/** A function. */
const half = (x) => x / 2 / 1; // a comment
const text = `
  // part of the text

`;
"""


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [("a.py", PYTHON, 6), ("a.pyx", CYTHON, 2), ("a.h", C, 4), ("a.cu", C, 4), ("a.js", JAVASCRIPT, 5)],
)
def test_docstrings_comments_and_blank_lines_do_not_count(path, code, expected):
    assert statements.size(path, code)[1] == expected


@pytest.fixture
def repository(tmp_path):
    """A repository with one commit, and changes after it: a file less, a shorter one, a new one, an ignored one."""
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    for path, text in {
        ".gitignore": "*.c\n",
        "other/a.py": "x = 1\n",
        "package/a.py": "x = 1\n",
        "package/one/a.py": "x = 1\ny = 2\n",
        "package/one/deep/a.h": "int x;\n",
        "package/gone/a.js": "1;\n",
        "package/notes.txt": "x = 1\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "package/gone/a.js").unlink()
    (tmp_path / "package/one/a.py").write_text("x = 1\n")
    (tmp_path / "package/one/new.cu").write_text("int x;\n\nint y;\n")
    (tmp_path / "package/ignored.c").write_text("int x;\n")
    return tmp_path


def run(repository, *arguments):
    command = [sys.executable, ROOT / "tests" / "statements.py", "--root", repository, *arguments, "package"]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8").stdout


HEADING = "| folder | Python | Cython | C | CUDA | JavaScript |\n|---|--:|--:|--:|--:|--:|\n"


def test_the_table_has_a_row_for_each_folder(repository):
    one, total = "| one/ | 1 |  | 1 | 2 |  |\n", "| total | 2 |  | 1 | 2 |  |\n"
    assert run(repository) == HEADING + "| * | 1 |  |  |  |  |\n" + one + total
    assert "| one/ | 1 |  |  | 2 |  |\n| one/deep/ |  |  | 1 |  |  |\n" in run(repository, "--depth", "2")


def test_the_table_before_and_after(repository):
    assert run(repository, "--since", "HEAD") == HEADING + (
        "| * | 1 |  |  |  |  |\n"
        "| gone/ |  |  |  |  | 1 → 0 (-1) |\n"
        "| one/ | 2 → 1 (-1) |  | 1 | 0 → 2 (+2) |  |\n"
        "| total | 3 → 2 (-1) |  | 1 | 0 → 2 (+2) | 1 → 0 (-1) |\n"
    )


def test_the_folders_of_the_package_are_each_in_one_group():
    named = " ".join(statements.GROUPS.values()).split()
    folders = [f"{path.name}/" for path in (ROOT / "teachconv").iterdir() if (path / "__init__.py").exists()]
    assert sorted(named) == sorted([*folders, "kernels/"])
