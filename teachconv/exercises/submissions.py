"""Files of functions that other people hand in: they are found, read, and run in processes of their own.

`teachconv.exercises.grade` is built on these, and so are the checkers of the course. A process is sent
arguments and sends back numbers, so that a file cannot write its own points. It is not a sandbox: files,
other processes and the network are open to it.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..support.errors import ArgumentError, brief, plain
from ..verification.running import elsewhere
from ..verification.submission import Submission

__all__ = ["Read", "calls", "cell", "find", "name_of", "read"]


@dataclass(frozen=True)
class Read:
    """What a file says before anything runs.

    Attributes:
        text: the file's bytes.
        names: the names that it sets, those of its functions among them.
        imports: the modules that it imports beside NumPy and math, and what else it uses to run code, to
            read files or to reach other modules, such as ``exec`` or ``__globals__``: look at them.
        note: why it cannot be run, or "".
    """

    text: bytes = b""
    names: frozenset[str] = frozenset()
    imports: tuple[str, ...] = ()
    note: str = ""


def find(folder: str | Path, leave_out: Collection[str] = ()) -> list[Path]:
    """Return the files of Python and the notebooks in a folder and below it, sorted, but no hidden ones.

    Args:
        folder: the folder.
        leave_out: names of files to leave out, such as those that were handed out.

    Raises:
        ValueError: if there is no such folder, or no file in it; if Python imports from it.

    >>> find("nowhere")
    Traceback (most recent call last):
        ...
    teachconv.support.errors.ArgumentError: folder must be a folder; there is none at 'nowhere'
    """
    if not Path(folder).is_dir():
        raise ArgumentError(f"folder must be a folder; there is none at {brief(str(folder))}")
    if Path(folder).resolve() in {Path(place).resolve() for place in sys.path}:
        raise ArgumentError(
            "folder must not be one from which Python imports: a file numpy.py in it would run in place of "
            f"NumPy, in the process that judges; start it outside of {brief(str(folder))}"
        )
    found = (path for path in Path(folder).rglob("*") if path.suffix.lower() in (".py", ".ipynb"))
    paths = sorted(
        path
        for path in found
        if not any(part.startswith((".", "__")) for part in path.relative_to(folder).parts)
        and path.name not in leave_out
        and not path.is_dir()
    )
    if not paths:
        raise ArgumentError(f"folder must have files *.py of functions; got {brief(str(folder))}")
    return paths


def name_of(path: Path, folder: str | Path) -> str:
    """Return a file's name below the folder as text that can be written to any file.

    >>> name_of(Path("handed in/ana/layer.py"), "handed in")
    'ana/layer.py'
    """
    return str(path.relative_to(folder)).encode(errors="backslashreplace").decode()


def cell(text: str) -> str:
    """Return a cell that no spreadsheet reads as a formula.

    >>> cell("=1+1")
    "'=1+1"
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def calls(
    path: Path,
    file: Read,
    seconds: float,
    nbytes: int | None = None,
    *,
    only: Collection[str] | None = None,
) -> tuple[Callable[[str, tuple[Any, ...]], np.ndarray], Callable[[], None]]:
    """Return what calls a file's functions in another process, and a function that ends that process.

    Args:
        path: where the file lies; its text is not read again.
        file: what `read` returned.
        seconds: how long a call may take. The next call is made in a new process.
        nbytes: how much memory the process may take beside what it has at its start; None for no limit.
        only: the names that ``import`` gives the file of teachconv and of each module that is named here,
            such as ``("teachconv.dialects.torch", "network.WEIGHTS")``; none of teachconv with ``()``, and
            none of a module whose name stands alone, such as ``"network"``. None lets it import everything.
            Other modules are not concerned.

    Returns:
        A function of the name of a function, or "" to run only the file, and a tuple of arguments,
        which returns an array; and one that ends the process. The first raises ``ContractError`` where the
        function raises, hangs, crashes, or returns no array.

    >>> import pathlib
    >>> call, end = calls(pathlib.Path("ana.py"), Read(b"def double(x): return 2 * x"), seconds=20)
    >>> call("double", (21,)).item()
    42
    >>> end()
    """
    submission = Submission(str(path.absolute()), file.text, None if only is None else tuple(only))
    ask, end = elsewhere(submission, seconds, nbytes)
    return (lambda name, args: ask("answer", (name, *args), {})), end


# functions with which a file can run what it does not show, or read another
_OPEN = {"__import__", "compile", "eval", "exec", "getattr", "globals", "locals", "open", "vars"}
# names, also behind a dot, by which it reaches other modules' objects, or the process that judges
_INSIDE = {
    "__base__", "__bases__", "__builtins__", "__closure__", "__code__", "__dict__", "__getattribute__",
    "__globals__", "__loader__", "__mro__", "__spec__", "__subclasses__", "__traceback__", "_getframe",
    "f_back", "f_builtins", "f_globals", "f_locals", "get_objects", "get_referrers", "getppid", "gi_frame",
    "kill", "killpg", "modules", "mro", "tb_frame",
}  # fmt: skip
# modules that others hold, as np.lib.format holds os; and what reads files or runs text
_BEHIND_A_DOT = {
    "DataSource", "builtins", "ctypes", "ctypeslib", "fromfile", "fromregex", "gc", "genfromtxt", "importlib",
    "inspect", "load", "loadtxt", "measure", "memmap", "open_memmap", "os", "pickle", "rundocs", "runstring",
    "signal", "subprocess", "sys",
}  # fmt: skip
_LARGEST = 1 << 20  # bytes of a file


def read(path: Path) -> Read:
    """Read a file; what it defines and imports is told from its text.

    >>> read(Path("nowhere.py")).note
    'cannot be read: it must be a file of at most 1048576 bytes'
    """
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
            uses |= {alias.name for alias in node.names} & (_OPEN | _INSIDE | _BEHIND_A_DOT)
            if isinstance(node, ast.ImportFrom) and node.module == "numpy" and node.names[0].name == "*":
                uses.add("numpy.*")
    return Read(text, frozenset(names), tuple(sorted(uses - {"numpy", "math"})))
