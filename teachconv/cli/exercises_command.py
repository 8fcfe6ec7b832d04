"""``python -m teachconv exercises``: the puzzles, their hints, and a verdict on files of answers."""

from __future__ import annotations

import argparse
import runpy
from pathlib import Path

from .. import exercises
from ..errors import ArgumentError
from .output import show

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is asked about."""
    parser.add_argument(
        "what",
        nargs="*",
        help="names of puzzles, whose tasks are printed; files of functions, which are run and checked; or a "
        "folder of such files, each run in a process of its own (nothing: the list of puzzles)",
    )
    parser.add_argument("--hint", type=int, metavar="STEP", help="print hint 1, 2 or 3 of the named puzzles")
    parser.add_argument("--csv", metavar="FILE", help="write the grades of a folder to a file")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where an answer is wrong."""
    known = exercises.puzzles()
    status = 0
    for what in arguments.what:
        path = Path(what)
        if path.is_dir():
            grades = exercises.grade(path)
            show(grades)
            if arguments.csv:
                Path(arguments.csv).write_text(grades.csv, encoding="utf-8")
        elif path.suffix == ".py":
            status |= _check(path)
        else:
            show(known[what] if arguments.hint is None else exercises.hint(what, arguments.hint))
    if not arguments.what:
        show(known)
    return status


def _check(path: Path) -> int:
    functions = runpy.run_path(str(path))
    found = [
        exercises.check(name, functions[name]) for name in exercises.puzzles().names if name in functions
    ]
    if not found:
        raise ArgumentError(f"{path.name} has no function with the name of a puzzle")
    show(*found)
    return 0 if all(one.passed for one in found) else 1
