"""Reads the marks of the sources, which say what line applies the stride, the padding and so on.

A mark is a comment at the end of a line, or on a line of its own before it::

    mark: stride dilation of direct/y im2col if patches by BLAS

It says what the line does and for which algorithms of its backend, with the result that it is for (y, dx or
dw) where the lines differ. In a file that backends share, the backend's name comes before the algorithm's:
``numpy.im2col``. ``if`` names the ways through a kernel (kernels/paths.h) of which one must have been taken,
and ``by`` the library, or the other algorithm, that does the work from there. Besides "stride", "dilation",
"padding" and "multiply-add" a line can be in the "kernel" that the backend enters, be the "choice" of the
algorithm or the "fallback" to another one, or be an algorithm's "own", which no other runs.

A Python file may have a table instead, so that its code is free of them: ``MARKS``, which gives for the text
of a line, without a comment behind it, the functions that have it, each with the text after "mark:".
tests/inspection/test_find_source.py and test_compiled_marks.py run every marked line.
"""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ..backends import TABLE
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ..support.errors import brief

APPLIED = ("stride", "padding", "dilation", "multiply-add")  # in the order in which they are shown

_PACKAGE = Path(__file__).parents[1]
_RESULTS = {FORWARD: "y", INPUT_GRADIENT: "dx", FILTER_GRADIENT: "dw"}
_SHARED = ("core/law.py", "core/taps.py", "backends/__init__.py")
_MORE = {
    "reference": ("backends/slices.py",),
    "cython": ("_kernels.pyx", "kernels/*.h"),
    "cupy": ("backends/cuda/*.cu*", "backends/cuda/*.py"),
}
_TAG = re.compile(
    r"(?:#|/\*) mark: (?P<names>[a-z -]+?) of (?P<owners>[\w./ ]+?)"
    r"(?: if (?P<paths>[\w ]+?))?(?: by (?P<by>[\w.]+))?(?: \*/)?$"
)
_FUNCTION = re.compile(
    r"""^(\s*)(?:template\ <.*?>\ )?(?:extern\ "C"\ )?
    (?:def|cdef(?=\ .*\ noexcept|\ .*\($|\ inline)|KERNEL|INLINE|DEVICE|__global__|static\ inline)\b
    (?:.*?\ )??(?:__launch_bounds__\([\w,\ ]+\)\ )?[*]?(\w+)\(""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark of one algorithm.

    Attributes:
        name: "stride", "dilation", "padding", "multiply-add", "kernel", "choice", "fallback" or "own".
        backend: the backend.
        algorithm: the algorithm.
        result: "y", "dx" or "dw" if the line is for that result alone, else "".
        paths: ways through the kernel of which one must have been taken; empty for a line that always runs.
        by: the library or the algorithm that does the work from there, or "".
        file: the file, relative to the folder that contains the package.
        line: the line's number.
        text: the line without its mark.
    """

    name: str
    backend: str
    algorithm: str
    result: str
    paths: frozenset[str]
    by: str
    file: str
    line: int
    text: str


def find(
    backend: str, algorithms: Iterable[str], kind: Kind | None = None, paths: Iterable[str] | None = None
) -> list[Mark]:
    """Return the marks of some algorithms of a backend, in the order of files and lines.

    Args:
        backend: the backend's name.
        algorithms: the algorithms' names.
        kind: the kind of call; None for all three.
        paths: the ways through the kernels that were taken; None for all of them.

    Returns:
        The marks.
    """
    wanted, taken = set(algorithms), None if paths is None else set(paths)
    return [
        mark
        for mark in read()
        if mark.backend == backend
        and mark.algorithm in wanted
        and (kind is None or mark.result in ("", _RESULTS[kind]))
        and (taken is None or not mark.paths or mark.paths & taken)
    ]


@lru_cache(maxsize=1)
def read() -> tuple[Mark, ...]:
    """Return every mark in the sources of the backends."""
    found: list[Mark] = []
    for file in _SHARED:
        found += _marks_of("", _PACKAGE / file)
    for backend, module in TABLE.items():
        patterns = (f"{module.removeprefix('teachconv.').replace('.', '/')}.py", *_MORE.get(backend, ()))
        for path in (path for pattern in patterns for path in sorted(_PACKAGE.glob(pattern))):
            found += _marks_of(backend, path)
    return tuple(found)


def _marks_of(backend: str, path: Path) -> Iterator[Mark]:
    lines = _lines(str(path))
    for number, tag in sorted([*_comments(lines), *_table(path, lines)], key=lambda found: found[0]):
        for owner in tag["owners"].split():
            name, _, result = owner.partition("/")
            home, _, algorithm = name.rpartition(".")
            for what in tag["names"].split():
                yield Mark(
                    what,
                    home or backend,
                    algorithm,
                    result,
                    frozenset((tag["paths"] or "").split()),
                    tag["by"] or "",
                    os.path.relpath(path, _PACKAGE.parent).replace(os.sep, "/"),
                    number,
                    _code(lines[number - 1]),
                )


def _comments(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the marks written at their lines, with the lines' numbers."""
    for number, line in enumerate(lines, 1):
        tag = _TAG.search(line)
        while tag and not _code(lines[number - 1]):  # the mark has a line of its own: it is for the next one
            number += 1
        if tag:
            yield number, tag


def _table(path: Path, lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield the marks of a file's table with the numbers of their lines, each of which must be there once.

    A reader may have edited the file: then a mark without its line is left out, with a warning.
    """
    if not any(line.startswith("MARKS =") for line in lines):
        return
    body = ast.parse("\n".join(lines)).body
    spans = {
        node.name: range(node.lineno, (node.end_lineno or 0) + 1)
        for node in body
        if isinstance(node, ast.FunctionDef)
    }
    (table,) = (
        node for node in body if isinstance(node, ast.Assign) and "MARKS" in ast.dump(node.targets[0])
    )
    for text, marked in ast.literal_eval(table.value).items():
        for name, mark in marked.items():
            span = spans.get(name, ())
            found = [number for number in span if lines[number - 1].partition("  #")[0].strip() == text]
            if len(found) == 1 and (tag := _TAG.fullmatch(f"# mark: {mark}")):
                yield found[0], tag
            else:
                warnings.warn(
                    f"{place(str(path))}: {name} has {len(found)} lines {brief(text)} for {brief(mark)}: "
                    "find_source and trace leave out this mark of MARKS",
                    stacklevel=2,
                )


def _code(line: str) -> str:
    """Return a line without its mark and the space around it."""
    return _TAG.sub("", line).strip()


@lru_cache(maxsize=64)
def _lines(path: str) -> list[str]:
    return Path(path).read_text(encoding="utf-8").splitlines()


def source(file: str, line: int, around: int = 0) -> list[tuple[int, str]]:
    """Return numbers and text of the lines around one line, without the marks; only those with code.

    Args:
        file: the file, as `Mark` names it.
        line: the number of the line in the middle.
        around: how many lines before and after it.

    Returns:
        (number, text) of each.
    """
    lines = _lines(str(_PACKAGE.parent / file))
    with_code = [number for number in range(1, len(lines) + 1) if _TAG.sub("", lines[number - 1]).strip()]
    middle = sum(number < line for number in with_code)  # the line itself, unless the file was edited since
    shown = with_code[max(0, middle - around) : middle + around + 1]
    return [(number, _TAG.sub("", lines[number - 1]).rstrip()) for number in shown]


def function_at(file: str, line: int) -> tuple[str, int]:
    """Return the name of the function around a line and the line where it begins, or ("", line)."""
    lines = _lines(str(_PACKAGE.parent / file))[:line]  # fewer if the file was edited since
    indent = len(lines[-1]) - len(lines[-1].lstrip())
    for number in range(len(lines), 0, -1):
        found = _FUNCTION.match(lines[number - 1])
        if found and (len(found[1]) < indent or number == line):
            return found[2], number
    return "", line


def place(path: str) -> str:
    """Return a file relative to the folder that contains the package, where it is in the package."""
    full = Path(path).resolve()
    return full.relative_to(_PACKAGE.parent).as_posix() if full.is_relative_to(_PACKAGE) else str(path)
