"""Marks submissions for the checkers: each runs in a process of its own, and is judged in this one.

That process is sent arguments and sends back numbers. Whatever a submission prints, raises, ends or waits
for, it cannot write its own points. It is not a sandbox: files and the network are open to it.
"""

import argparse
import csv
import json
import math
import re
import unicodedata
import zlib
from collections import Counter
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
# modules beside a checker, which no submission may import
CLOSED = (*(Path(name).stem for name in HANDED_OUT), "layer", "port", "digits")
# columns that say whose row it is; the title of an assignment has a colon (Moodle) or a parenthesis (Canvas)
IDS = re.compile(r"[^:(]*(\bid\b|identifier|user|login|mail|student number)[^:(]*", re.IGNORECASE)
NAMES = re.compile(r"[^:(]*(name|student)[^:(]*", re.IGNORECASE)
CANVAS = re.compile(r"[^_]+_(?:late_)?(\d+)_\d+_")  # the student's ID, and the submission's
MOODLE = re.compile(r"(.+)_(\d+)_assignsubmission_")  # the student's name, and the participant's number
Call = Callable[[str, tuple], np.ndarray]  # a function's name and its arguments; it returns the result


@dataclass(frozen=True)
class Fault:
    """What is wrong with a result, and which part of the case's points it earns.

    With ``named`` it is one mistake that has a name: the part is the assignment's.
    """

    said: str
    share: float = 0.0
    named: bool = False


def of(row: Any) -> Fault:
    """Return the fault of a row of diff that failed; that the shape is another one explains no numbers."""
    if row.diagnosis:
        return Fault(str(row.diagnosis), named=row.diagnosis.code != "output_shape")
    return Fault(f"the result is wrong in {row.where}" if row.where else "another result")


ROUNDING = 1e-9  # relative and absolute: what two right results may differ by


def near(one: np.ndarray, other: Any, tolerance: float = ROUNDING) -> bool:
    """Whether two results are the same up to rounding."""
    return one.shape == np.shape(other) and np.allclose(one, other, tolerance, tolerance)


def known(got: np.ndarray, mistakes: Iterable[tuple[str, Any]], tolerance: float = ROUNDING) -> Fault | None:
    """Return the first mistake, a sentence and what it gives, that gives a result; None if none does."""
    found = (Fault(said, named=True) for said, wrong in mistakes if near(got, wrong, tolerance))
    return next(found, None)


def differ(got: np.ndarray, want: Any) -> Fault:
    """Return the fault of numbers that no known mistake explains: how many are wrong, and the first one."""
    wrong = ~np.isclose(got, want, ROUNDING, ROUNDING)
    first = np.unravel_index(wrong.argmax(), wrong.shape)
    where = f"at [{', '.join(map(str, first))}] " if first else ""
    numbers = f"{where}yours is {got[first]:g}, and right is {np.asarray(want)[first]:g}"
    return Fault(f"the numbers differ in {wrong.sum()} of {wrong.size} cells: {numbers}")


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
        named: the part of a case's points for a result that one mistake with a name explains.
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
    named: float = 0.5

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

    Each case counts the same: all of it for a right result, ``assignment.named`` of it for one that a single
    mistake with a name explains, or as much as the fault says. The sum is rounded down.
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
            share += assignment.named if fault.named else fault.share
        else:
            share += 1
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
    call, end = submissions.calls(path, read, seconds, MEMORY, only=(*assignment.only, *CLOSED))
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
    """Mark all files in a folder and below it, and print a line for each.

    The tables that are asked for are written again after each file: one that ends this process loses none.
    """
    folder = asked.path
    paths, beside = submissions_in(folder, assignment.file)
    files = [submissions.read(path) for path in paths]  # all are read before one runs
    names = [submissions.name_of(path, folder) for path in paths]
    written = written_points(assignment, asked.written) if asked.written else {}
    book = gradebook_of(assignment, asked.gradebook, names, written) if asked.gradebook else None
    marked: dict[str, Marked] = {}
    # only with a byte-order mark does Excel read UTF-8
    tables = {asked.csv: (table_of, "utf-8-sig")} if asked.csv else {}
    if book:
        tables[book.out] = (book.filled, "utf-8")
    for file in tables:
        if file.exists():
            raise SystemExit(f"{file} exists, perhaps with points typed in: move it, or name another file")
    for file, (make, encoding) in tables.items():
        # before marking, so that a file that cannot be written shows
        write(file, make(assignment, marked), encoding)
    with ThreadPoolExecutor(asked.jobs) as pool:
        marking = pool.map(partial(mark, assignment, seconds=asked.seconds), paths, files)
        for name, one in zip(names, marking, strict=True):
            marked[name] = one
            for file, (make, encoding) in tables.items():
                write(file, make(assignment, marked), encoding)
            lost = [f"{each} {got}" for each, got in one.points.items() if got < assignment.points[each]]
            uses = [f"uses {', '.join(one.imports)}"] if one.imports else []
            note = [one.note, *uses] if one.note else [*lost, *uses]
            print(f"{name:30} {one.total:3} of {assignment.most}  {'; '.join(note)}".rstrip(), flush=True)
            if asked.feedback:
                place = asked.feedback / Path(name).with_suffix(".txt")
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text("\n".join([name, *lines_of(assignment, one), ""]), encoding="utf-8")
    if beside:
        left_out = ", ".join(submissions.name_of(path, folder) for path in beside)
        print(f"not marked, because their folder has a {assignment.file}: {left_out}")
    if book:
        print(f"{book.out}: {len(book.names)} of {len(names)} submissions have a row")
        print("".join(f"{line}\n" for line in book.left), end="")


def submissions_in(folder: Path, asked: str) -> tuple[list[Path], list[Path]]:
    """Return the submissions in a folder, and files that are beside or below one in a student's own folder.

    A student's repository, and what nbgrader collects, has such files.
    """
    paths = submissions.find(folder, HANDED_OUT)
    students = {path.parent for path in paths if path.name == asked} - {folder}
    beside = [path for path in paths if path.name != asked and students & {*path.parents}]
    return [path for path in paths if path not in beside], beside


def write(file: Path, rows: list[list[str]], encoding: str) -> None:
    """Write a table; the one before stays whole until it is replaced."""
    part = file.with_name(f"{file.name}.part")
    with part.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)
    part.replace(file)


def table_of(assignment: Assignment, marked: dict[str, Marked]) -> list[list[str]]:
    """Return a line for each submission; the written answers have columns to fill in."""
    questions = [f"written {number}" for number in range(1, len(assignment.written) + 1)]
    rows = [["file", *assignment.points, "checker", *questions, "what is wrong", "imports"]]
    for name, one in marked.items():
        said = one.note or "; ".join(f"{each}: {word}" for each, word in one.said.items() if word)
        cells = [*map(str, one.points.values()), str(one.total), *("" for _ in questions)]
        rows.append([submissions.cell(name), *cells, submissions.cell(said), " ".join(one.imports)])
    return rows


@dataclass(frozen=True)
class Gradebook:
    """A learning platform's export, and which submission belongs to which of its rows.

    Attributes:
        out: the file to write.
        rows: of the export, the titles first.
        names: of a row's number, the name of its submission.
        left: sentences about submissions that no row gets.
        written: of a submission's name, the sum of its written points, where somebody has typed them in.
    """

    out: Path
    rows: list[list[str]]
    names: dict[int, str]
    left: list[str]
    written: dict[str, str]

    def filled(self, assignment: Assignment, marked: dict[str, Marked]) -> list[list[str]]:
        """Return what the platform imports: its own export, with two more columns."""
        title = assignment.file.removesuffix(".py")
        filled = [[*self.rows[0], f"{title} (checker)", f"{title} (written)"]]
        for number, row in enumerate(self.rows[1:], 1):
            name = self.names.get(number, "")
            cells = [str(marked[name].total) if name in marked else "", self.written.get(name, "")]
            if has_most_points(row):
                cells = [str(assignment.most), str(sum(assignment.written))]
            filled.append([*row, *cells])
        return filled


def has_most_points(row: list[str]) -> bool:
    """Whether a row is the second line of a Canvas export, the points of each assignment."""
    return any(cell.strip() == "Points Possible" for cell in row)


def gradebook_of(assignment: Assignment, file: Path, names: list[str], written: dict[str, str]) -> Gradebook:
    """Read a gradebook, and find each submission's row; points are given only where both fit nothing else."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            rows = [*csv.reader(stream)]
    except (OSError, ValueError, csv.Error) as error:
        raise SystemExit(f"{file} cannot be read; it must be CSV in UTF-8: {error}") from None
    title = assignment.file.removesuffix(".py")
    signs = {name: signs_of_file(name, title) for name in names}
    fits = []
    for number, row in enumerate(rows):
        mine = set() if not number or has_most_points(row) else signs_of_row(rows[0], row)
        fits += [(number, name) for name in names if mine & signs[name]]
    of_rows, of_names = Counter(number for number, _ in fits), Counter(name for _, name in fits)
    if not fits:
        raise SystemExit(f"{file}: no row fits a submission by ID, login, address or name")
    found = {number: name for number, name in fits if of_rows[number] == of_names[name] == 1}
    left = [
        f"{name} fits the row {', '.join(rows[number])}, but another file or row fits, too: no points"
        for number, name in fits
        if number not in found
    ]
    left += [f"{name} has no row" for name in names if name not in of_names]
    return Gradebook(file.with_name(f"{file.stem} with points.csv"), rows, found, left, written)


def written_points(assignment: Assignment, file: Path) -> dict[str, str]:
    """Return the sums of points typed into a table of ``--csv``; a file with an empty cell has none yet."""
    sums = {}
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            separator = ";" if ";" in stream.readline() else ","  # Excel's, where a comma is a decimal point
            stream.seek(0)
            for row in csv.DictReader(stream, delimiter=separator):
                cells = [row[f"written {number}"] for number in range(1, len(assignment.written) + 1)]
                points = [float(cell.replace(",", ".")) for cell in cells if cell]
                if not all(0 <= got <= max(assignment.written) for got in points):
                    raise ValueError(f"{row['file']} has {points}, and {assignment.written} are possible")
                if len(points) == len(cells):
                    sums[row["file"]] = f"{sum(points):g}"
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise SystemExit(f"{file} must be a table of --csv with written points typed in: {error}") from None
    return sums


def same_case(text: str) -> str:
    """Return a text to compare names by; a Mac writes an accent as a letter of its own."""
    return unicodedata.normalize("NFC", text.strip().casefold())


def words_of(text: str) -> frozenset[str]:
    """Return the words of a name, in any order: "Lopez, Ana" is ana_lopez."""
    return frozenset(re.findall(r"[^\W_]+", text))


def signs_of_row(head: list[str], row: list[str]) -> set[str | frozenset[str]]:
    """Return what a file of this row may be called: an ID, a login, an address, or all words of the name."""
    signs, name = set(), ""
    for title, cell in zip(head, map(same_case, row), strict=False):
        if IDS.fullmatch(title):
            signs |= {cell, cell.partition("@")[0]}
        elif NAMES.fullmatch(title):
            name += f" {cell}"
    return {*signs, words_of(name)} - {"", frozenset()}


def signs_of_file(name: str, title: str) -> set[str | frozenset[str]]:
    """Return what a file's name, and those of its folders, say about whose it is.

    ana_lopez/layer.py, 1234.py, and as the platforms name them: "lopezana_1234_5678_layer.py" (Canvas, of the
    student with the ID 1234) and "Ana Lopez_777_assignsubmission_file/layer.py" (Moodle).
    """
    signs: set[str | frozenset[str]] = set()
    for part in map(same_case, Path(name).with_suffix("").parts):
        if canvas := CANVAS.match(part):
            signs.add(canvas[1])
            continue
        if moodle := MOODLE.match(part):
            signs.add(f"participant {moodle[2]}")
            part = moodle[1]
        signs |= {part, words_of(part) - {title}}
    return signs - {title, frozenset()}


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


def part(text: str) -> float:
    """Read a part of the points; raise ``ValueError`` unless it is from 0 to 1."""
    if not 0 <= float(text) <= 1:
        raise ValueError("it must be from 0 to 1")
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
    parser.add_argument(
        "--named", type=part, default=assignment.named, metavar="PART",
        help=f"of a case's points for one mistake with a name, 0 to 1 ({assignment.named:g})",
    )  # fmt: skip
    of_folders = parser.add_argument_group("for a folder")
    of_folders.add_argument("--csv", type=Path, metavar="FILE", help="write a table to this file")
    of_folders.add_argument(
        "--feedback", type=Path, metavar="FOLDER", help="write a text for each submission"
    )
    of_folders.add_argument(
        "--gradebook", type=Path, metavar="FILE", help="an export of Moodle or Canvas: add the points"
    )
    of_folders.add_argument(
        "--written", type=Path, metavar="FILE", help="a table of --csv: its written points, too"
    )
    of_folders.add_argument("--jobs", type=int, default=1, help="how many submissions to mark at a time (1)")
    asked = parser.parse_args(arguments)
    if asked.seed < 0 or asked.jobs < 1:
        parser.error("--seed begins at 0, and --jobs at 1")
    assignment = replace(assignment, seed=asked.seed, named=asked.named)
    if asked.written and not asked.gradebook:
        parser.error("--written goes with --gradebook")
    if asked.cases:
        assignment = replace(assignment, cases=cases_of(assignment, asked.cases))
    if asked.path.is_dir():
        try:
            mark_folder(assignment, asked)
        except (ValueError, OSError) as error:
            raise SystemExit(str(error)) from None
        return 0
    if asked.csv or asked.feedback or asked.gradebook:
        parser.error("--csv, --feedback and --gradebook are for a folder")
    note = f"there is no file {asked.path.name}"
    read = submissions.read(asked.path) if asked.path.is_file() else submissions.Read(note=note)
    marked = mark(assignment, asked.path, read, asked.seconds)
    print("\n".join(lines_of(assignment, marked)))
    return 0 if marked.points == assignment.points else 1
