"""Marks submissions for the checkers: each runs in a process of its own, and is judged in this one.

That process is sent arguments and sends back numbers. Whatever a submission prints, raises, ends or waits
for, it cannot write its own points. It is not a sandbox: files and the network are open to it.
"""

import argparse
import csv
import json
import math
import re
import zlib
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from teachconv.errors import ContractError
from teachconv.exercises import submissions

MEMORY = 2**34  # bytes of address space: PyTorch alone takes several GiB of it
STOPPED = ("took more than", "ended its", "crashed: ")  # in what is said of a call that ended its process
HANDED_OUT = {
    "checking.py",
    "check_layer.py",
    "check_port.py",
    "check_digits.py",
    "network.py",
}  # no submissions
WHO = re.compile("name|student|user|login|email|\\bid\\b", re.IGNORECASE)  # columns that say who it is
NAMED = 0.5  # of a case's share, where the result has one mistake that has a name
Call = Callable[[str, tuple], np.ndarray]  # a function's name and its arguments; it returns the result


@dataclass(frozen=True)
class Fault:
    """What is wrong with a result, and which part of the case's points it earns."""

    said: str
    share: float = 0.0


def of(row: Any) -> Fault:
    """Return the fault of a row of diff that failed; that the shape is another one explains no numbers."""
    if row.diagnosis:
        return Fault(str(row.diagnosis), NAMED if row.diagnosis.code != "output_shape" else 0.0)
    return Fault(f"the result is wrong in {row.where}" if row.where else "another result")


def near(one: np.ndarray, other: Any, tolerance: float = 1e-9) -> bool:
    """Whether two results are the same up to rounding."""
    return one.shape == np.shape(other) and np.allclose(one, other, tolerance, tolerance)


def known(got: np.ndarray, mistakes: Iterable[tuple[str, Any]], tolerance: float = 1e-9) -> Fault | None:
    """Return the first mistake, a sentence and what it gives, that gives a result; None if none does."""
    found = (Fault(said, NAMED) for said, wrong in mistakes if near(got, wrong, tolerance))
    return next(found, None)


@dataclass(frozen=True)
class Assignment:
    """What is asked.

    Attributes:
        file: what students call their file.
        points: of each function.
        written: the points of the written questions.
        cases: each function is called with the arguments of each case; a list of numbers and lists.
        words: says in a few words which case it is.
        facts: of a case, what it is or has, each with whether this is so: where just those cases are wrong
            that have it, the student is told.
        legal: raises a ValueError unless a case that a teacher gives can be one.
        arguments: of a function's name, a case and a seed, the arguments.
        fault: of the same and a result, what is wrong, or None.
        last: of a function's name, how it is called and a seed, what else is wrong once all cases are right,
            or "": it costs half of the points.
        only: the names of teachconv, and of what is handed out, that a submission may import.
        given: the imports that nobody has to look at.
        once: the functions that are called for the first case alone.
        seconds: how long a call may take.
        seed: draws the numbers.
    """

    file: str
    points: dict[str, int]
    written: tuple[int, ...]
    cases: tuple[Any, ...]
    words: Callable[[Any], str]
    facts: Callable[[Any], dict[str, bool]]
    legal: Callable[[Any], None]
    arguments: Callable[[str, Any, int], tuple]
    fault: Callable[[str, Any, int, np.ndarray], Fault | None]
    last: Callable[[str, Call, int], str] = lambda name, call, seed: ""
    only: tuple[str, ...] = ()
    given: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()
    seconds: float = 10.0
    seed: int = 0

    @property
    def most(self) -> int:
        """The points of all functions."""
        return sum(self.points.values())


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


def numbers(shape: tuple[int, ...], name: str, seed: int) -> np.ndarray:
    """Whole numbers from -4 to 4 as float64, so that sums in any order are exact; another name has others."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())]).integers(-4, 5, shape).astype(float)


def answer(call: Call, name: str, args: tuple) -> tuple[np.ndarray | None, str]:
    """Return the numbers that a function returns; or None, and why there are none."""
    try:
        got = np.asarray(call(name, args))
    except (Exception, SystemExit) as error:
        said = str(error) if isinstance(error, ContractError) else f"raised {type(error).__name__}: {error}"
        if said.startswith("raised NotImplementedError"):
            return None, "not written yet"
        return None, "there is no such function" if said.startswith("raised NameError: there is no") else said
    if got.dtype.hasobject and not got.shape:
        return None, "the function returned None: a return is missing, at least on one path"
    return (got, "") if got.dtype.kind in "iuf" else (None, "the result is not an array of numbers")


def judge(assignment: Assignment, name: str, call: Call) -> tuple[int, str]:
    """Return a function's points, and what is wrong with it.

    Each case counts the same: all of it for a right result, half for one that a single mistake with a name
    explains, or as much as the assignment says. The sum is rounded down.
    """
    cases = assignment.cases[: 1 if name in assignment.once else None]
    wrong, share, count, most = {}, 0.0, len(cases), assignment.points[name]
    for number, case in enumerate(cases):
        got, said = answer(call, name, assignment.arguments(name, case, assignment.seed))
        if got is None and said in ("not written yet", "there is no such function"):
            return 0, said
        fault = Fault(said) if got is None else assignment.fault(name, case, assignment.seed, got)
        if fault:
            where = "" if name in assignment.once else f"{assignment.words(case)}: "
            wrong[number] = where + in_our_words(fault.said)
        share += fault.share if fault else 1
        if any(word in said for word in STOPPED):  # the other cases would do the same
            return 0, wrong[number]
    more = "" if wrong else assignment.last(name, call, assignment.seed)
    shared = what_they_share(assignment, wrong) if count > 1 else ""
    said = "; ".join(filter(None, [shared, *[*wrong.values()][:1], more]))
    if wrong and name not in assignment.once:
        said = f"right in {count - len(wrong)} of {count} cases; {said}"
    return math.floor(most * share / count * (0.5 if more else 1)), said


def what_they_share(assignment: Assignment, wrong: Any) -> str:
    """Say what all wrong cases have and no right one."""
    having = [assignment.facts(case) for case in assignment.cases]
    for fact in having[0]:
        if {number for number, facts in enumerate(having) if facts[fact]} == {*wrong} and len(wrong) < len(
            having
        ):
            return f"wrong {fact}, and only then"
    return ""


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


def mark(assignment: Assignment, path: Path, read: submissions.Read, seconds: float) -> Marked:
    """Mark one file, of which nothing is read again: another submission may have changed it."""
    nothing = Marked(dict.fromkeys(assignment.points, 0), dict.fromkeys(assignment.points, ""))
    if read.note:
        return replace(nothing, note=read.note)
    imports = tuple(word for word in read.imports if word not in assignment.given)
    call, end = submissions.calls(path, read, seconds, MEMORY, only=assignment.only)
    try:
        _, said = answer(call, "", ())
        if said:  # once, not for each function
            return replace(nothing, imports=imports, note=f"the file does not run: it {said}")
        points, words = {}, {}
        for name in assignment.points:
            points[name], words[name] = judge(assignment, name, call)
        return Marked(points, words, imports)
    finally:
        end()


def lines_of(assignment: Assignment, marked: Marked) -> list[str]:
    """Return a line for each function, and one with the points."""
    wide = max(map(len, assignment.points))
    lines = [
        f"{name:{wide}} {marked.points[name]:3} of {most:2}  {marked.said[name]}".rstrip()
        for name, most in assignment.points.items()
    ]
    lines += [marked.note] if marked.note else []
    lines += [f"It uses {', '.join(marked.imports)}."] if marked.imports else []
    written = sum(assignment.written)
    return [*lines, f"{marked.total} of {assignment.most} points; {written} more are for the written answers"]


def mark_folder(assignment: Assignment, asked: argparse.Namespace) -> None:
    """Mark all files in a folder and below it, print a line for each, and write what is asked for."""
    folder = asked.path
    paths = submissions.find(folder, HANDED_OUT)
    files = [submissions.read(path) for path in paths]  # all are read before one runs
    names = [submissions.name_of(path, folder) for path in paths]
    all_marked = []
    with ThreadPoolExecutor(asked.jobs) as pool:
        marking = pool.map(partial(mark, assignment, seconds=asked.seconds), paths, files)
        for name, marked in zip(names, marking, strict=True):
            all_marked.append(marked)
            lost = [f"{each} {got}" for each, got in marked.points.items() if got < assignment.points[each]]
            uses = [f"uses {', '.join(marked.imports)}"] if marked.imports else []
            note = [marked.note, *uses] if marked.note else [*lost, *uses]
            print(f"{name:30} {marked.total:3} of {assignment.most}  {'; '.join(note)}".rstrip(), flush=True)
            if asked.feedback:
                place = asked.feedback / Path(name).with_suffix(".txt")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text("\n".join([name, *lines_of(assignment, marked), ""]), encoding="utf-8")
    if asked.csv:
        write_table(assignment, asked.csv, dict(zip(names, all_marked, strict=True)))
    if asked.gradebook:
        fill_gradebook(assignment, asked.gradebook, dict(zip(names, all_marked, strict=True)))


def write_table(assignment: Assignment, file: Path, marked: dict[str, Marked]) -> None:
    """Write a line for each submission; the written answers have columns to fill in."""
    questions = [f"written {number}" for number in range(1, len(assignment.written) + 1)]
    head = ["file", *assignment.points, "checker", *questions, "what is wrong", "imports"]
    rows = []
    for name, one in marked.items():
        said = one.note or "; ".join(f"{each}: {word}" for each, word in one.said.items() if word)
        cells = [*one.points.values(), one.total, *("" for _ in questions)]
        rows.append([submissions.cell(name), *cells, submissions.cell(said), " ".join(one.imports)])
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([head, *rows])


def fill_gradebook(assignment: Assignment, file: Path, marked: dict[str, Marked]) -> None:
    """Write what a learning platform imports: its own export, with two more columns.

    A submission belongs to the row whose name, number or address is a part of its file's name: ana.py,
    ana/layer.py, and as the platforms name them, "Ana Lopez_1234_assignsubmission_file/layer.py" (Moodle) and
    "lopezana_1234_5678_layer.py" (Canvas, with the ID 1234).
    """
    with file.open(encoding="utf-8-sig", newline="") as stream:
        head, *rows = csv.reader(stream)
    title = assignment.file.removesuffix(".py")
    filled, found = [[*head, f"{title} (checker)", f"{title} (written)"]], set()
    for row in rows:
        if any(cell.strip() == "Points Possible" for cell in row):  # the second line of Canvas
            filled.append([*row, str(assignment.most), str(sum(assignment.written))])
            continue
        who = [cell.strip().lower() for word, cell in zip(head, row, strict=False) if WHO.search(word)]
        known = {*who, " ".join(who[:2]), *(cell.partition("@")[0] for cell in who)} - {""}
        mine = [name for name in marked if known & {*re.split(r"[/_.]", name.lower())}]
        if len(mine) > 1:
            raise SystemExit(f"{', '.join(mine)}: all belong to the row {', '.join(row)}; leave one")
        found |= {*mine}
        filled.append([*row, str(marked[mine[0]].total) if mine else "", ""])
    out = file.with_name(f"{file.stem} with points.csv")
    with out.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(filled)
    print(f"{out}: {len(found)} of {len(marked)} submissions have a row")
    for name in sorted(marked.keys() - found):
        print(f"{name} has no row")


def cases_of(assignment: Assignment, file: Path) -> tuple[Any, ...]:
    """Read a teacher's own cases: JSON, a list of cases."""
    try:
        cases = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(cases, list) or not cases:
            raise ValueError("it must hold a list of cases")
        cases = tuple(
            tuple(tuple(part) if isinstance(part, list) else part for part in case) for case in cases
        )
        for case in cases:
            assignment.legal(case)
    except (OSError, ValueError, TypeError) as error:
        example = json.dumps(assignment.cases[:2])
        raise SystemExit(f"{file}: {error}; the first two cases of this assignment are {example}") from None
    return cases


def limit(text: str) -> float:
    """Read a number of seconds; raise ``ValueError`` unless it is above 0 and not too large."""
    if not 0 < float(text) < 86400:
        raise ValueError("seconds must be above 0, and less than a day")
    return float(text)


def main(assignment: Assignment, arguments: list[str] | None = None) -> int:
    """The command line of a checker; return its exit status."""
    parser = argparse.ArgumentParser(description=f"Checks {assignment.file}, or all files in a folder.")
    parser.add_argument("path", nargs="?", type=Path, default=Path(assignment.file), help="a file or folder")
    usual = assignment.seconds
    parser.add_argument("--seconds", type=limit, default=usual, help=f"a call may take so long ({usual:g})")
    parser.add_argument(
        "--seed", type=int, default=0, help="other numbers, from 0 on: a secret of the teacher"
    )
    parser.add_argument("--cases", type=Path, metavar="FILE", help="other cases: a list in JSON")
    of_folders = parser.add_argument_group("for a folder")
    of_folders.add_argument("--csv", type=Path, metavar="FILE", help="write a table to this file")
    of_folders.add_argument(
        "--feedback", type=Path, metavar="FOLDER", help="write a text for each submission"
    )
    of_folders.add_argument(
        "--gradebook", type=Path, metavar="FILE", help="an export of Moodle or Canvas: add the points"
    )
    of_folders.add_argument("--jobs", type=int, default=1, help="how many submissions to mark at a time (1)")
    asked = parser.parse_args(arguments)
    if asked.seed < 0 or asked.jobs < 1:
        parser.error("--seed begins at 0, and --jobs at 1")
    assignment = replace(assignment, seed=asked.seed)
    if asked.cases:
        assignment = replace(assignment, cases=cases_of(assignment, asked.cases))
    if asked.path.is_dir():
        try:
            mark_folder(assignment, asked)
        except ValueError as error:
            raise SystemExit(str(error)) from None
        return 0
    if asked.csv or asked.feedback or asked.gradebook:
        parser.error("--csv, --feedback and --gradebook are for a folder")
    note = f"there is no file {asked.path.name}"
    read = submissions.read(asked.path) if asked.path.is_file() else submissions.Read(note=note)
    marked = mark(assignment, asked.path, read, asked.seconds)
    print("\n".join(lines_of(assignment, marked)))
    return 0 if marked.points == assignment.points else 1
