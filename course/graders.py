"""Writes an assignment of puzzles for a grader: python graders.py nbgrader|otter FILE.ipynb PUZZLE ...

For each puzzle the notebook has its task, a cell for the function with a solution that the grader takes out,
and a cell that checks it with a diagnosis. It needs nbformat, which both graders install.
"""

import argparse
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_raw_cell

from teachconv import exercises as ex

ANSWERS = Path(__file__).parents[1] / "notebooks" / "answers"
INTRODUCTION = """# Puzzles

Write each function, and run the cell below it: it says which mistake gives what you return.
`ex.hint("NAME")` gives a hint, and `ex.hint("NAME", 2)` the next."""


def task(puzzle):
    """The task in Markdown."""
    return f"## {puzzle.name}: {puzzle.title}\n\n{puzzle.task}"


def solved(puzzle, begin, end):
    """The function with a solution between two marks; what it needs from around it comes inside."""
    lines = (ANSWERS / f"{puzzle.name}.py").read_text(encoding="utf-8").rstrip().splitlines()
    first = lines.index(puzzle.signature)
    around = [f"    {line}" if line else "" for line in lines[:first] if not line.startswith("#")]
    return "\n".join([puzzle.signature, f"    {begin}", *around, *lines[first + 1 :], f"    {end}"])


def check(puzzle):
    """The lines that check it."""
    return f'found = ex.check("{puzzle.name}", {puzzle.name})\nassert found.passed, found'


def graded(cell, name, *, solution=False, points=None):
    """Give a cell what nbgrader knows it by: an answer, or a test with points."""
    cell.metadata["nbgrader"] = {
        "grade": points is not None, "solution": solution, "locked": not solution, "task": False,
        "schema_version": 3, "grade_id": name,
    }  # fmt: skip
    if points is not None:
        cell.metadata["nbgrader"]["points"] = points
    return cell


def for_nbgrader(puzzles):
    """The source notebook of `nbgrader generate_assignment`."""
    cells = [
        new_markdown_cell(INTRODUCTION),
        graded(new_code_cell("from teachconv import exercises as ex"), "imports"),
    ]
    for puzzle in puzzles:
        answer = solved(puzzle, "### BEGIN SOLUTION", "### END SOLUTION")
        cells += [
            graded(new_markdown_cell(task(puzzle)), f"{puzzle.name}-task"),
            graded(new_code_cell(answer), puzzle.name, solution=True),
            graded(new_code_cell(check(puzzle)), f"{puzzle.name}-check", points=1),
        ]
    return new_notebook(cells=cells)


def for_otter(puzzles):
    """The source notebook of `otter assign`."""
    cells = [new_raw_cell("# ASSIGNMENT CONFIG\nsolutions_pdf: false\nexport_cell: false\nrun_tests: false")]
    cells += [new_markdown_cell(INTRODUCTION), new_code_cell("from teachconv import exercises as ex")]
    for puzzle in puzzles:
        cells += [
            new_raw_cell(f"# BEGIN QUESTION\nname: {puzzle.name}\npoints: 1"),
            new_markdown_cell(task(puzzle)),
            new_raw_cell("# BEGIN SOLUTION"),
            new_code_cell(solved(puzzle, "# BEGIN SOLUTION", "# END SOLUTION")),
            new_raw_cell("# END SOLUTION"),
            new_raw_cell("# BEGIN TESTS"),
            new_code_cell(check(puzzle)),
            new_raw_cell("# END TESTS"),
            new_raw_cell("# END QUESTION"),
        ]
    return new_notebook(cells=cells)


def main(arguments=None):
    """Write the notebook."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("grader", choices=("nbgrader", "otter"))
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "puzzles", nargs="+", metavar="PUZZLE", help="python -m teachconv exercises lists them"
    )
    chosen = parser.parse_args(arguments)
    puzzles = [ex.puzzles()[name] for name in chosen.puzzles]
    notebook = for_nbgrader(puzzles) if chosen.grader == "nbgrader" else for_otter(puzzles)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    chosen.file.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, chosen.file)


if __name__ == "__main__":
    main()
