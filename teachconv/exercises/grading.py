"""Grades a folder of answers: each file runs in a process of its own, and is judged here."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..support import tables
from ..support.errors import ContractError, words_of
from ..support.files import path_of, replacing
from .checking import Checked, answers, check_seconds, judged
from .checking import puzzles as all_puzzles
from .submissions import Read, calls, cell, find, name_of, read


@dataclass(frozen=True)
class Graded:
    """One file.

    Attributes:
        file: its name below the folder, in which bytes that are no UTF-8 are escaped.
        checked: what was found, by the names of the puzzles that it answers.
        imports: the modules that it imports beside NumPy and math, and what else it uses to run code, to
            read files or to reach other modules, such as ``exec`` or ``__globals__``: look at them.
        note: why nothing of it was run, or "".
    """

    file: str
    checked: dict[str, Checked]
    imports: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, repr=False)
class Grades(tables.Report):
    """The grades of a folder.

    Attributes:
        puzzles: the puzzles that were asked for, or that a file answers.
        files: the files, each with ``file``, ``checked``, ``imports`` and ``note``.
    """

    puzzles: tuple[str, ...]
    files: tuple[Graded, ...]

    @property
    def csv(self) -> str:
        """A line for each file and puzzle: whether it passed, how many cases are right, and why not."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(("file", "puzzle", "passed", "right", "cases", "code", "sentence", "imports"))
        for one, name, found in self._each():
            facts = (found.passed, found.right) if found else (False, 0)
            nothing = "missing" if one.note in ("", _NOTHING) else "unreadable"
            told = (
                (found.code, found.sentence)
                if found
                else (nothing, one.note or f"there is no function {name}")
            )
            cases = len(list(all_puzzles()[name].cases())) if name else 0
            row = (one.file, name, *facts, cases, *told, " ".join(one.imports))
            lines.writerow(cell(word) if isinstance(word, str) else word for word in row)
        return text.getvalue()

    def _each(self) -> Iterator[tuple[Graded, str, Checked | None]]:
        names = self.puzzles or ("",)  # a file gets a line in any case
        return ((one, name, one.checked.get(name)) for one in self.files for name in names)

    def _headline(self) -> str:
        return f"{tables.count(len(self.files), 'file')}, {tables.count(len(self.puzzles), 'puzzle')}"

    def _table(self) -> tables.Table:
        rows = []
        for one in self.files:
            passed = sum(found.passed for found in one.checked.values())
            codes = {name: found.code for name, found in one.checked.items() if not found.passed}
            codes |= {name: "missing" for name in self.puzzles if name not in one.checked and not one.note}
            missed = [f"{name}: {code}" for name, code in codes.items()]
            said = [*missed, *(f"uses {name}" for name in one.imports), *filter(None, [one.note])]
            rows.append((one.file, f"{passed} of {len(self.puzzles)}", "; ".join(said)))
        return tables.Table(tables.left("file", "right", "to look at"), rows, self._headline())


_NOTHING = "there is no function with the name of a puzzle (a class or async def is none)"


def grade(
    folder: str | Path,
    names: Iterable[str] | str | None = None,
    *,
    seconds: float = 20.0,
    nbytes: int = 2**30,
    csv_file: str | Path | None = None,
) -> Grades:
    """Check all files of functions in a folder, each in a process of its own.

    A file that crashes, hangs, prints or exits fails its puzzle and no other; it is sent arguments and sends
    back numbers, so that it cannot write its own verdict. Its process holds no right answers. This is not
    a sandbox: files, other processes and the network are open to it. A file that imports teachconv, or finds
    it among the modules of its process, could call it for the answers, so such names are listed.

    Args:
        folder: the folder; its files of Python are read, also those in folders below it.
        names: the puzzles; None for all that any of the files answers.
        seconds: how long one call may take; a function is not asked again after three that took longer.
        nbytes: how much memory its process may take.
        csv_file: a file that gets ``.csv`` as far as it is known, after each submission: one of them may end
            this process too.

    Returns:
        The grades; ``.csv`` is a text for a spreadsheet.

    Raises:
        ValueError: if there is no such folder, no file in it, or no such puzzle; if Python imports from it.
        OSError: if ``csv_file`` cannot be written to.

    >>> import tempfile, pathlib
    >>> from teachconv import exercises as ex
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = "def due(arrived, k, s, before): return arrived // s"
    ...     _ = pathlib.Path(folder, "ana.py").write_text(text)
    ...     print(ex.grade(folder))
    1 file, 1 puzzle
    file    right   to look at
    ana.py  0 of 1  due: taps_ignored
    """
    check_seconds(seconds)
    paths = find(folder)
    asked = words_of(names, "names", all_puzzles().names)
    files = [read(path) for path in paths]  # all of them, before one runs and can change another
    answered = {name for one in files for name in one.names}
    chosen = tuple(name for name in asked if names is not None or name in answered)
    graded = list[Graded]()
    text = Grades(chosen, ()).csv
    for path, one in zip(paths, files, strict=True):
        mine = [name for name in chosen if name in one.names]
        checked = _checked(path, one, mine, seconds, nbytes)
        no_puzzle = one.names.isdisjoint(all_puzzles().names)
        note = one.note or (_NOTHING if names is None and no_puzzle else "")
        graded.append(Graded(name_of(path, folder), checked, one.imports, note))
        if csv_file is not None:
            text += Grades(chosen, (graded[-1],)).csv.partition("\n")[2]
            with replacing(path_of(csv_file, "csv_file")) as file:
                file.write(text.encode())
    return Grades(chosen, tuple(graded))


def _checked(path: Path, file: Read, names: list[str], seconds: float, nbytes: int) -> dict[str, Checked]:
    """Check a file's functions; after one hangs or crashes, the next starts in a new process."""
    found, ask = dict[str, Checked](), None
    for name in names:
        puzzle = all_puzzles()[name]
        if ask is None:
            ask, end = calls(path, file, seconds, nbytes)

        def call(args: tuple[Any, ...], ask: Any = ask, name: str = name) -> Any:
            answer = ask(name, args)
            return object() if answer.dtype.hasobject and answer.shape else answer  # no numbers

        given = answers(puzzle, call)
        found[name] = judged(puzzle, given)
        if name == names[-1] or any(isinstance(one, ContractError) for one in given):
            end()
            ask = None
    return found
