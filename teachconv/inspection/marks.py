"""Reads the marks of the sources, which say what line applies the stride, the padding and so on.

A mark is a comment at the end of a line, or on a line of its own before it::

    mark: stride dilation of direct/y im2col if patches by BLAS

It says what the line does and for which algorithms of its backend, with the result that it is for (y, dx or
dw) where the lines differ. In a file that backends share, the backend's name comes before the algorithm's:
``numpy.im2col``. ``if`` names the ways through a kernel (kernels/paths.h) of which one must have been taken,
and ``by`` the library, or the other algorithm, that does the work from there. Besides "stride", "dilation",
"padding" and "multiply-add" a line can be in the "kernel" that the backend enters, be the "choice" of the
algorithm or the "fallback" to another one, or be an algorithm's "own", which no other runs. A "rounding" is
of "quantized" and the function that rescales the sums of a quantized call.

tests/inspection/test_find_source.py and test_compiled_marks.py run every marked line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path

from ..backends import TABLE
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind

APPLIED = ("stride", "padding", "dilation", "multiply-add")
# Winograd's; in a filter gradient out_backprop takes the place of the filter
TRANSFORMS = ("input-transform", "filter-transform", "gradient-transform", "output-transform")
IN_ORDER = (*APPLIED[:-1], *TRANSFORMS[:-1], APPLIED[-1], TRANSFORMS[-1])  # in which they are shown

_PACKAGE = Path(__file__).parents[1]
_RESULTS = {FORWARD: "y", INPUT_GRADIENT: "dx", FILTER_GRADIENT: "dw"}
_MORE = {  # the files with marks beside the backend's module; of "" those that backends share
    "": ("core/law.py", "core/taps.py", "backends/__init__.py", "quantized/schemes.py"),
    "reference": ("backends/slices.py",),
    "cython": ("_kernels.pyx", "backends/kernels/*.h"),
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
class SourceLine:
    """A marked line, such as one that applies the stride, for one algorithm.

    Attributes:
        mark: one of `APPLIED` or `TRANSFORMS`, "kernel", "choice", "fallback", "own" or "rounding".
        backend: the backend.
        algorithm: the algorithm.
        file: the file, relative to the folder that contains the package; "" if there is no such line.
        line: the line's number, or 0.
        text: the line without its mark; if there is none, the reason.
        result: "y", "dx" or "dw" if the line is for that result alone, else "".
        paths: ways through the kernel of which one must have been taken; empty for a line that always runs.
        by: the library or the algorithm that does the work from there, or "".
    """

    mark: str
    backend: str
    algorithm: str
    file: str = ""
    line: int = 0
    text: str = ""
    result: str = field(default="", compare=False)
    paths: tuple[str, ...] = field(default=(), compare=False)
    by: str = field(default="", compare=False)

    @property
    def place(self) -> str:
        """The file without its folders and the line, or ""."""
        return f"{self.file.rpartition('/')[2]}:{self.line}" if self.file else ""

    def around(self, more: int = 1) -> list[tuple[int, str]]:
        """Return numbers and text of the line and of ``more`` lines before and after it."""
        return source(self.file, self.line, more, more)


def find(
    backend: str, algorithms: Iterable[str], kind: Kind | None = None, paths: Iterable[str] | None = None
) -> list[SourceLine]:
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
        and (taken is None or not mark.paths or taken.intersection(mark.paths))
    ]


@lru_cache(maxsize=1)
def read() -> tuple[SourceLine, ...]:
    """Return every mark in the sources of the backends."""
    modules = {"": "", **{name: module.replace(".", "/") + ".py" for name, module in TABLE.items()}}
    return tuple(
        mark
        for backend, module in modules.items()
        for pattern in filter(None, (module.removeprefix("teachconv/"), *_MORE.get(backend, ())))
        for path in sorted(_PACKAGE.glob(pattern))
        for mark in _marks_of(backend, path)
    )


def _marks_of(backend: str, path: Path) -> Iterator[SourceLine]:
    lines, file = _lines(path), place(str(path))
    for number, tag in enumerate(map(_TAG.search, lines)):
        # a mark that has a line of its own is for the next one
        at = next((at for at in range(number, len(lines)) if _code(lines[at])), None) if tag else None
        if tag and at is not None:
            ways, by = tuple((tag["paths"] or "").split()), tag["by"] or ""
            for owner, mark in product(tag["owners"].split(), tag["names"].split()):
                name, _, result = owner.partition("/")
                home, _, algorithm = name.rpartition(".")
                where = file, at + 1, _code(lines[at]).strip()
                yield SourceLine(mark, home or backend, algorithm, *where, result, ways, by)


def _code(line: str) -> str:
    """Return a line without its mark and the space behind it."""
    return _TAG.sub("", line).rstrip()


@lru_cache(maxsize=64)
def _lines(path: Path) -> list[str]:
    """Return the lines of a file; none of one that cannot be read, such as that of a notebook's function."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return []


def source(file: str, line: int, before: int = 0, after: int = 0) -> list[tuple[int, str]]:
    """Return numbers and text of a line and of lines around it, without the marks; only those with code.

    Args:
        file: the file, as `SourceLine` names it.
        line: the number of the line in the middle.
        before: how many lines before it.
        after: how many lines after it.

    Returns:
        (number, text) of each.
    """
    with_code = [pair for pair in enumerate(map(_code, _lines(_PACKAGE.parent / file)), 1) if pair[1]]
    # the line itself, unless the file was edited since
    middle = sum(number < line for number, _ in with_code)
    return with_code[max(0, middle - before) : middle + after + 1]


def function_at(file: str, line: int) -> tuple[str, int]:
    """Return the name of the function around a line and the line where it begins, or ("", line)."""
    lines = _lines(_PACKAGE.parent / file)[:line]  # fewer if the file was edited since
    indent = len(lines[-1]) - len(lines[-1].lstrip()) if lines else 0
    for number in range(len(lines), 0, -1):
        found = _FUNCTION.match(lines[number - 1])
        if found and (len(found[1]) < indent or number == line):
            return found[2], number
    return "", line


def place(path: str) -> str:
    """Return a file relative to the folder that contains the package, where it is in the package."""
    full = Path(path).resolve()
    return full.relative_to(_PACKAGE.parent).as_posix() if full.is_relative_to(_PACKAGE) else str(path)
