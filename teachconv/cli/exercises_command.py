"""``python -m teachconv exercises``: the puzzles, their hints, and a verdict on files of answers."""

from __future__ import annotations

import argparse
import re
import runpy
from pathlib import Path

from .. import exercises
from ..support.errors import ArgumentError, plain
from .output import as_text, show

_COMMANDS = {  # what reports say to somebody in Python, broken into lines or not, and what to type here
    r"print\s+ex\.puzzles\(\)\['(\w+)'\]": r"python -m teachconv exercises \1",
    r'ex\.check\("\w+",\s+\w+\)': "python -m teachconv exercises FILE.py",
    r'ex\.hint\("(\w+)"\)': r"python -m teachconv exercises \1 --hint 1",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is asked about."""
    parser.add_argument(
        "what",
        nargs="*",
        help="names of puzzles, whose tasks are printed; files of functions, which are run and checked; or a "
        "folder of such files, each run in a process of its own, with the names of what is asked of them",
    )
    parser.add_argument("--hint", type=int, metavar="STEP", help="print hint 1, 2 or 3 of the named puzzles")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each call (default 20)")
    parser.add_argument("--csv", metavar="FILE", help="write the grades of a folder to a file")


def run(arguments: argparse.Namespace) -> int:
    """Exit status 1 where an answer is wrong."""
    known, status = exercises.puzzles(), 0
    named = [what for what in arguments.what if what in known.names]
    folders = [what for what in arguments.what if Path(what).is_dir()]
    if arguments.csv and len(folders) != 1:
        raise ArgumentError("--csv needs one folder of files")
    if arguments.hint is not None and not named:
        raise ArgumentError("--hint needs the name of a puzzle")
    for folder in folders:  # names beside it say what is asked of every file
        show(exercises.grade(folder, named or None, seconds=arguments.seconds, csv_file=arguments.csv))
    for what in arguments.what:
        if what in folders or (folders and what in named):
            continue
        if Path(what).suffix == ".py":
            status |= _check(Path(what), arguments.seconds)
        else:
            _show(known[what] if arguments.hint is None else exercises.hint(what, arguments.hint))
    if not arguments.what:
        _show(known)
    return status


def _check(path: Path, seconds: float) -> int:
    try:
        functions = runpy.run_path(str(path))
    except (Exception, SystemExit) as error:
        raise ArgumentError(f"{path.name} cannot be run: {type(error).__name__}: {plain(error)}") from None
    checks = [
        exercises.check(name, functions[name], seconds=seconds)
        for name in exercises.puzzles().names
        if name in functions
    ]
    if not checks:
        raise ArgumentError(f"{path.name} has no function with the name of a puzzle")
    right = sum(one.passed for one in checks)
    _show(f"{path.name}:", *checks, f"{right} of {len(checks)} functions are right")
    return 0 if right == len(checks) else 1


def _show(*reports: object) -> None:
    for report in reports:
        text = as_text(report)
        for call, command in _COMMANDS.items():
            text = re.sub(call, command, text)
        show(text)
