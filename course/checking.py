"""Marks submissions for the two checkers: each runs in a process of its own, and is judged in this one.

That process is sent arguments and sends back numbers. Whatever a submission prints, raises, ends or waits
for, it cannot write its own points. It is not a sandbox: files and the network are open to it.
"""

import argparse
import csv
import io
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from teachconv.exercises.checking import check_seconds
from teachconv.exercises.grading import Read, _is_hidden, _name_of, _plain, _read
from teachconv.support.errors import ContractError
from teachconv.support.files import replacing
from teachconv.verification.running import elsewhere, what_went_wrong
from teachconv.verification.submission import Submission

MEMORY = 2**34  # bytes of address space: PyTorch alone takes several GiB of it
STOPPED = ("took more than", "ended its", "crashed: ")  # in what is said of a call that ended its process
HANDED_OUT = {"checking.py", "check_layer.py", "check_port.py", "network.py"}  # no submissions
Call = Callable[[str, tuple], np.ndarray]  # a function's name and its arguments; it returns the result


@dataclass(frozen=True)
class Assignment:
    """What is asked.

    Attributes:
        file: what students call their file.
        points: of each function.
        cases: each function is called with the arguments of each case.
        words: says in a few words which case it is.
        arguments: of a function's name and a case, the arguments.
        fault: of a function's name, a case and a result, what is wrong, or "".
        last: of a function's name and how it is called, what else is wrong once all cases are right, or "".
        half: whether a function that is right in all cases but one gets half of its points, rounded down.
        given: the imports that the file has when it is handed out.
    """

    file: str
    points: dict[str, int]
    cases: tuple[Any, ...]
    words: Callable[[Any], str]
    arguments: Callable[[str, Any], tuple]
    fault: Callable[[str, Any, np.ndarray], str]
    last: Callable[[str, Call], str] = lambda name, call: ""
    half: bool = False
    given: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Marked:
    """A submission's points by function, what is wrong with each, its imports, or why it cannot run."""

    points: dict[str, int]
    said: dict[str, str]
    imports: tuple[str, ...] = ()
    note: str = ""

    @property
    def total(self):
        """The sum of its points."""
        return sum(self.points.values())


def answer(call: Call, name: str, args: tuple) -> tuple[np.ndarray | None, str]:
    """Return the numbers that a function returns; or None, and why there are none."""
    try:
        got = np.asarray(call(name, args))
    except (Exception, SystemExit) as error:
        said = what_went_wrong(error)
        said = "not written yet" if said.startswith("raised NotImplementedError") else said
        return None, "there is no such function" if said.startswith("raised NameError: there is no") else said
    if got.dtype.hasobject and not got.shape:
        return None, "the function returned None: a return is missing, at least on one path"
    return (got, "") if got.dtype.kind in "iuf" else (None, "the result is not an array of numbers")


def judge(assignment: Assignment, name: str, call: Call) -> tuple[int, str]:
    """Return a function's points, and what is wrong with it."""
    wrong, count, most = [], len(assignment.cases), assignment.points[name]
    for case in assignment.cases:
        got, said = answer(call, name, assignment.arguments(name, case))
        if got is None and said in ("not written yet", "there is no such function"):
            return 0, said
        said = said or in_our_words(assignment.fault(name, case, got))
        if said:
            wrong.append(f"{assignment.words(case)}: {said}")
        if any(word in said for word in STOPPED):  # the other cases would do the same
            return 0, wrong[-1]
    more = assignment.last(name, call)
    said = "; ".join(filter(None, [*wrong[:1], more]))
    if assignment.half and wrong:
        said = f"right in {count - len(wrong)} of {count} cases; {said}"
    part = 1 if not wrong else 0.5 if assignment.half and len(wrong) == 1 else 0
    return (0 if more else int(most * part)), said


def in_our_words(said: str) -> str:
    """Speak to the student: diff compares a result called theirs with a reference."""
    for theirs, ours in (
        (r"\btheirs has (\w+) more at the (top|bottom)", r"yours has \1 more row of padding at the \2"),
        (r"\b(\w+) more on the (left|right)", r"\1 more column on the \2"),
        (r"\btheirs\b", "yours"),
        (r"\bthe reference's\b", "the right one"),
        (r"\bthe reference is (\[.*?\]) of it", r"the right result is the part \1 of yours"),
        (r"\bthe reference\b", "the right result"),
        (r"\bout_backprop\b", "dout"),
    ):
        said = re.sub(theirs, ours, said)
    return said


def mark(assignment: Assignment, path: Path, read: Read, seconds: float) -> Marked:
    """Mark one file, of which nothing is read again: another submission may have changed it."""
    if read.note:
        nothing = dict.fromkeys(assignment.points, "")
        return Marked(dict.fromkeys(assignment.points, 0), nothing, note=read.note)
    points, said = {}, {}
    call = called(Submission(str(path.absolute()), read.text), seconds)
    for name in assignment.points:
        points[name], said[name] = judge(assignment, name, call)
    return Marked(points, said, tuple(word for word in read.imports if word not in assignment.given))


def called(submission: Submission, seconds: float) -> Call:
    """Return what calls a file's functions in another process, and in a new one after it was stopped."""

    def start() -> Callable[..., np.ndarray]:
        return elsewhere(submission, seconds, MEMORY)[0]

    ask = start()

    def call(name: str, args: tuple) -> np.ndarray:
        nonlocal ask
        try:
            return ask("answer", (name, *args), {})
        except ContractError as error:
            if any(word in str(error) for word in STOPPED):
                ask = start()
            raise

    return call


def show(assignment: Assignment, marked: Marked) -> None:
    """Print a line for each function, and the points."""
    wide = max(map(len, assignment.points))
    for name, most in assignment.points.items():
        print(f"{name:{wide}} {marked.points[name]:3} of {most:2}  {marked.said[name]}".rstrip())
    if marked.note:
        print(marked.note)
    if marked.imports:
        print(f"It uses {', '.join(marked.imports)}.")
    most = sum(assignment.points.values())
    print(f"{marked.total} of {most} points; {100 - most} more are for the written answers")


def mark_folder(assignment: Assignment, folder: Path, seconds: float, table: Path | None) -> None:
    """Mark all files in a folder and below it; print a line for each, and write a table for a spreadsheet."""
    if folder.resolve() in {Path(place).resolve() for place in sys.path}:
        raise SystemExit(f"Python imports from {folder}: put submissions into a folder of their own")
    found = (path for path in folder.rglob("*") if path.suffix in (".py", ".ipynb"))
    paths = sorted(
        path for path in found
        if path.name not in HANDED_OUT and not _is_hidden(path.relative_to(folder))
    )  # fmt: skip
    if not paths:
        raise SystemExit(f"no files *.py in {folder}")
    rows, most = [], sum(assignment.points.values())
    for path, read in [(path, _read(path)) for path in paths]:  # all are read before one runs
        marked, name = mark(assignment, path, read, seconds), _name_of(path, folder)
        lost = [f"{each} {got}" for each, got in marked.points.items() if got < assignment.points[each]]
        uses = [f"uses {', '.join(marked.imports)}"] if marked.imports else []
        note = [marked.note] if marked.note else [*lost, *uses]
        print(f"{name:30} {marked.total:3} of {most}  {'; '.join(note)}".rstrip(), flush=True)
        said = marked.note or "; ".join(f"{each}: {word}" for each, word in marked.said.items() if word)
        rows.append([_plain(name), *marked.points.values(), marked.total, said, " ".join(marked.imports)])
    if table:
        text = io.StringIO()
        head = ["file", *assignment.points, "total", "what is wrong", "imports"]
        csv.writer(text, lineterminator="\n").writerows([head, *rows])
        with replacing(table) as file:
            file.write(text.getvalue().encode())


def limit(text: str) -> float:
    """Read a number of seconds; raise ``ValueError`` unless it is above 0 and not too large."""
    check_seconds(float(text))
    return float(text)


def main(assignment: Assignment, arguments: list[str] | None = None) -> int:
    """The command line of a checker; return its exit status."""
    parser = argparse.ArgumentParser(description=f"Checks {assignment.file}, or all files in a folder.")
    parser.add_argument("path", nargs="?", type=Path, default=Path(assignment.file), help="a file or folder")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="of a folder: write a table to this file")
    parser.add_argument("--seconds", type=limit, default=10.0, help="a call may take so long (10)")
    asked = parser.parse_args(arguments)
    if asked.path.is_dir():
        mark_folder(assignment, asked.path, asked.seconds, asked.csv)
        return 0
    if asked.csv:
        parser.error("--csv is for a folder")
    read = _read(asked.path) if asked.path.is_file() else Read(note=f"there is no file {asked.path.name}")
    marked = mark(assignment, asked.path, read, asked.seconds)
    show(assignment, marked)
    return 0 if marked.points == assignment.points else 1
