"""Grades a folder of answers: each file runs in a process of its own, and is judged here."""

from __future__ import annotations

import ast
import csv
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..support import tables
from ..support.errors import ArgumentError, ContractError, brief, plain, words_of
from ..support.files import path_of, replacing
from ..verification.running import elsewhere
from ..verification.submission import Submission
from .checking import Checked, answers, check_seconds, judged
from .checking import puzzles as all_puzzles


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
            lines.writerow(_plain(cell) if isinstance(cell, str) else cell for cell in row)
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


def _plain(text: str) -> str:
    """Return a cell that no spreadsheet reads as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


_NOTHING = "there is no function with the name of a puzzle (a class or async def is none)"


@dataclass(frozen=True)
class Read:
    """What a file says before anything runs: its text, the names that it sets, its imports, or a note."""

    text: bytes = b""
    functions: frozenset[str] = frozenset()
    imports: tuple[str, ...] = ()
    note: str = ""


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
    if not Path(folder).is_dir():
        raise ArgumentError(f"folder must be a folder; there is none at {brief(str(folder))}")
    check_seconds(seconds)
    if Path(folder).resolve() in {Path(place).resolve() for place in sys.path}:
        raise ArgumentError(
            "folder must not be one from which Python imports: a file numpy.py in it would run in place of "
            f"NumPy, in the process that judges; start it outside of {brief(str(folder))}"
        )
    found = (path for path in Path(folder).rglob("*") if path.suffix.lower() in (".py", ".ipynb"))
    paths = sorted(path for path in found if not (_is_hidden(path.relative_to(folder)) or path.is_dir()))
    if not paths:
        raise ArgumentError(f"folder must have files *.py of functions; got {brief(str(folder))}")
    asked = words_of(names, "names", all_puzzles().names)
    read = [_read(path) for path in paths]  # all of them, before one runs and can change another
    answered = {name for one in read for name in one.functions}
    chosen = tuple(name for name in asked if names is not None or name in answered)
    files = list[Graded]()
    text = Grades(chosen, ()).csv
    for path, one in zip(paths, read, strict=True):
        submission = Submission(str(path.absolute()), one.text)
        checked = _checked(submission, [name for name in chosen if name in one.functions], seconds, nbytes)
        note = one.note or (_NOTHING if names is None and not one.functions else "")
        files.append(Graded(_name_of(path, folder), checked, one.imports, note))
        if csv_file is not None:
            text += Grades(chosen, (files[-1],)).csv.partition("\n")[2]
            with replacing(path_of(csv_file, "csv_file")) as file:
                file.write(text.encode())
    return Grades(chosen, tuple(files))


def _name_of(path: Path, folder: str | Path) -> str:
    """Return the name below the folder as text that can be written to any file."""
    return str(path.relative_to(folder)).encode(errors="backslashreplace").decode()


def _is_hidden(path: Path) -> bool:
    return any(part.startswith((".", "__")) for part in path.parts)


# functions with which a file can run what it does not show, or read another
_OPEN = {"__import__", "compile", "eval", "exec", "getattr", "globals", "locals", "open", "vars"}
# names, also behind a dot, by which it reaches other modules' objects, or the process that judges
_INSIDE = {
    "__base__", "__bases__", "__builtins__", "__closure__", "__code__", "__dict__", "__getattribute__",
    "__globals__", "__loader__", "__mro__", "__spec__", "__subclasses__", "__traceback__", "_getframe",
    "f_back", "f_builtins", "f_globals", "f_locals", "get_objects", "get_referrers", "getppid", "gi_frame",
    "kill", "killpg", "modules", "mro", "tb_frame",
}  # fmt: skip
# modules that others hold, as np.lib.format holds os; and what reads files
_BEHIND_A_DOT = {
    "builtins", "ctypes", "ctypeslib", "fromfile", "gc", "genfromtxt", "importlib", "inspect", "load",
    "loadtxt", "memmap", "os", "pickle", "signal", "subprocess", "sys",
}  # fmt: skip
_LARGEST = 1 << 20  # bytes of a file


def _read(path: Path) -> Read:
    """Read a file; what it defines and imports is told from its text."""
    if path.suffix.lower() == ".ipynb":
        return Read(note="a notebook: jupyter nbconvert --to script makes a file of it")
    if not path.is_file() or path.stat().st_size > _LARGEST:  # a pipe would not end
        return Read(note=f"cannot be read: it must be a file of at most {_LARGEST} bytes")
    try:
        text = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text).readline)
        # another codec may take hours, and hide what the file says
        if encoding.lower() not in ("utf-8", "utf8", "utf-8-sig"):
            return Read(note=f"cannot be read: its encoding must be UTF-8; its first lines say {encoding}")
        tree = ast.parse(text.decode(encoding), path.name)
    except (SyntaxError, ValueError, OSError, RecursionError, MemoryError) as error:
        return Read(note=f"cannot be read: {plain(error) or type(error).__name__}")
    uses = set[str]()
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name):
            uses |= {node.id} & (_OPEN | _INSIDE)
            names |= {node.id} if isinstance(node.ctx, ast.Store) else set()
        elif isinstance(node, ast.Attribute):
            uses |= {node.attr} & (_OPEN | _INSIDE | _BEHIND_A_DOT)
        elif isinstance(node, ast.MatchClass):  # case object(__globals__=found)
            uses |= {*node.kwd_attrs} & (_OPEN | _INSIDE | _BEHIND_A_DOT)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {alias.asname or alias.name for alias in node.names}
            uses |= {getattr(node, "module", None) or alias.name for alias in node.names}
    functions = frozenset(names & {*all_puzzles().names})
    return Read(text, functions, tuple(sorted(uses - {"numpy", "math"})))


def _checked(submission: Submission, names: list[str], seconds: float, nbytes: int) -> dict[str, Checked]:
    """Check a file's functions; after one hangs or crashes, the next starts in a new process."""
    found, ask = dict[str, Checked](), None
    for name in names:
        puzzle = all_puzzles()[name]
        if ask is None:
            ask, end = elsewhere(submission, seconds, nbytes)

        def call(args: tuple[Any, ...], ask: Any = ask, name: str = name) -> Any:
            answer = ask("answer", (name, *args), {})
            return object() if answer.dtype.hasobject and answer.shape else answer  # no numbers

        given = answers(puzzle, call)
        found[name] = judged(puzzle, given)
        if name == names[-1] or any(isinstance(one, ContractError) for one in given):
            end()
            ask = None
    return found
