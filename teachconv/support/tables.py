"""One way to show a report, as text and as HTML, and one way to write its numbers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from math import isfinite
from typing import Any, TypeAlias
from unicodedata import combining, east_asian_width

from .errors import printable

# ---------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------


def number(value: float, digits: int = 3) -> str:
    """Format a number with ``digits`` significant digits, and an exponent only where it saves many zeros.

    >>> number(0.12345), number(16_800_000), number(1640.0), number(4.768e-07), number(3), number(-0.0)
    ('0.123', '1.68e+07', '1,640', '4.77e-07', '3', '0')
    """
    rounded = float(f"{value:.{digits}g}") + 0.0  # -0.0 + 0.0 is 0.0
    if 1e3 <= abs(rounded) < 10 ** max(6, digits):
        return f"{rounded:,.15g}"
    return f"{rounded:.{digits}g}"


def index(cell: tuple[int, ...] | None) -> str:
    """Write the index of a cell; nothing if there is no cell.

    >>> index((0, 1, 2, 3)), index(None)
    ('0,1,2,3', '')
    """
    return "" if cell is None else ",".join(map(str, cell))


def count(items: int, noun: str, plural: str = "") -> str:
    """Format a count of things; ``plural`` defaults to the noun with an s.

    >>> count(1, "node"), count(1200, "node"), count(2, "axis", "axes")
    ('1 node', '1,200 nodes', '2 axes')
    """
    return f"{items:,} {noun if items == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """Write a time with three significant digits, in the unit that suits it.

    >>> duration(9.46e-05), duration(0.00164), duration(0.9999), duration(1.64), duration(100)
    ('94.6 µs', '1.64 ms', '1 s', '1.64 s', '1 min 40 s')
    """
    rounded = float(f"{seconds:.3g}")
    if rounded < 60:
        unit, scale = ("s", 1.0) if rounded >= 1 else ("ms", 1e3) if rounded >= 1e-3 else ("µs", 1e6)
        return f"{number(rounded * scale)} {unit}"
    if not isfinite(seconds):
        return f"{seconds} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes:,} min {rest} s" if rest else f"{minutes:,} min"


def size(nbytes: int) -> str:
    """Write a size in memory, in bytes or in units of 1024.

    >>> size(1), size(1000), size(1536), size(1024**2 - 1), size(36 * 1024**3)
    ('1 B', '1,000 B', '1.5 KiB', '1 MiB', '36 GiB')
    """
    if nbytes < 1024:
        return f"{nbytes:,} B"
    value = float(nbytes)
    for unit in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if round(value) < 1024 or unit == "TiB":
            break
    return f"{number(value, 3 if value < 999.5 else 4)} {unit}"


def verdict(judged: Iterable[bool | None]) -> bool | None:
    """Return whether all parts of a report passed: None, for "not judged", if one is, or if there is none.

    >>> verdict([True, True]), verdict([True, None]), verdict([None, False]), verdict([])
    (True, None, False, None)
    """
    verdicts = list(judged)
    return False if False in verdicts else None if None in verdicts or not verdicts else True


def verdict_text(judged: Iterable[bool | None], missing: str) -> str:
    """Say how many parts failed and how many were not judged, in the word for that; or that all pass.

    >>> verdict_text([True, None, False], "not judged"), verdict_text([True], "not judged")
    ('1 of 3 FAIL, 1 of 3 not judged', 'all pass')
    """
    seen = list(judged)
    words = {False: "FAIL", None: missing}
    bad = [f"{seen.count(case)} of {len(seen)} {word}" for case, word in words.items() if case in seen]
    return ", ".join(bad) or "all pass"


def pre(html: str, style: str = "") -> str:
    """Return HTML as it is spaced, in letters of one width whatever the page around it says of ``pre``.

    >>> pre("a &lt; b", "margin:0")
    "<pre style='font-family:ui-monospace,monospace;margin:0'>a &lt; b</pre>"
    """
    return f"<pre style='font-family:ui-monospace,monospace;{style}'>{html}</pre>"


_ROOM = 100  # characters in a line of a report as text
_BAR = 40  # characters of the longest bar
_SHORT = 8  # a longest bar of fewer says nothing
_FOLDED = 16  # a longer word, such as a path, is cut where the room is narrow

# spaces outside brackets, not those before a unit
_BREAKS = re.compile(r" (?![^\[\]]*\])(?!(?<=\d )[^\W\d])")

Cell: TypeAlias = str | list[str]  # a text of one line, or several lines


def bar(fraction: float, width: int = _BAR) -> str:
    """Draw a fraction between 0 and 1 as a bar of blocks, at least one."""
    return "█" * max(1, round(width * fraction))


# ---------------------------------------------------------------------------------------------
# Tables
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name, ``align``, "left" or "right", and whether its cells are bars."""

    name: str
    align: str = "left"
    bars: bool = False


def left(*names: str) -> tuple[Column, ...]:
    """Return columns of text, by their names."""
    return tuple(Column(name) for name in names)


def right(*names: str) -> tuple[Column, ...]:
    """Return columns of numbers, by their names."""
    return tuple(Column(name, "right") for name in names)


def bars(*names: str) -> tuple[Column, ...]:
    """Return columns of bars, which `bar` draws and a narrow terminal shortens, by their names."""
    return tuple(Column(name, bars=True) for name in names)


@dataclass(frozen=True, slots=True)
class Table:
    r"""Columns and rows of text, with lines before and after, to be shown in two ways.

    Names may come from anywhere: what is not printable is escaped (`errors.printable`) wherever it is shown.

    Attributes:
        columns: name and alignment; without any name no head is shown.
        rows: a cell for each column: one line of text, or a list of lines.
        caption: the headline.
        lines: further lines between the headline and the table.
        notes: lines after the table.
        marked: the positions of the rows that are bold in HTML, such as failures.

    >>> table = Table((*left("op"), *right("time")), [("conv2d", "9 µs"), ("re\nlu", "12.5 µs")], "two ops")
    >>> print(table.text())
    two ops
    op         time
    conv2d     9 µs
    re\nlu  12.5 µs
    >>> Table(left("", ""), [("a < b", "c")]).html()[:60]
    "<table><tbody><tr><td style='text-align:left'>a &lt; b</td><"
    """

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    marked: Collection[int] = ()

    @property
    def _above(self) -> list[str]:
        return [printable(line) for line in [*([self.caption] if self.caption else []), *self.lines]]

    @property
    def _head(self) -> list[str]:
        names = [printable(column.name) for column in self.columns]
        return names if any(names) else []

    def text(self, room: int = _ROOM) -> str:
        """The table in columns of characters, each line with as many as there is room for.

        Bars are shortened, text is folded, numbers are whole. What is last in its line may run on to the
        right. Where the numbers do not fit side by side, each row is written as lines of a name and a value.
        """
        return "\n".join(self._laid_out(room))

    def html(self) -> str:
        """The table for a notebook or a page; all text is escaped."""

        def row(tag: str, cells: Sequence[Cell], style: str = "") -> str:
            texts = "".join(
                f"<{tag} style='text-align:{column.align}{';white-space:pre-wrap' if len(lines) > 1 else ''}"
                f"{style}'>{escape(chr(10).join(lines))}</{tag}>"
                for lines, column in zip(map(_lines_of, cells), self.columns, strict=True)
            )
            return f"<tr>{texts}</tr>"

        above = "<br>".join(map(escape, self._above))
        caption = f"<caption style='text-align:left'>{above}</caption>" if above else ""
        head = f"<thead>{row('th', self._head)}</thead>" if self._head else ""
        body = "".join(
            row("td", cells, ";font-weight:bold" if i in self.marked else "")
            for i, cells in enumerate(self.rows)
        )
        foot = "".join(
            f"<tr><td colspan='{len(self.columns)}' style='text-align:left'>{escape(note)}</td></tr>"
            for note in map(printable, self.notes)
        )
        foot = f"<tfoot>{foot}</tfoot>" if foot else ""
        return f"<table>{caption}{head}<tbody>{body}</tbody>{foot}</table>"

    __str__, _repr_html_ = text, html

    def _laid_out(self, room: int) -> Iterator[str]:
        """Yield the lines, none longer than ``room``."""
        for line in self._above:
            yield from _folded(line, room)
        grid = [[*map(_lines_of, cells)] for cells in self.rows]
        if self._head:
            grid = [[[name] for name in self._head], *grid]
        widths = self._widths(grid, room)
        if widths is None:
            yield from self._listed(room)
            grid, widths = [], {}
        for number, cells in enumerate(grid):
            last = max((i for i, lines in enumerate(cells) if any(lines)), default=0)
            parts: list[list[str]] = []
            for i, width in widths.items():
                most = room - sum(widths[j] + 2 for j in widths if j < i) if i == last else width
                fitted = (self._fitted(i, line, width) for line in cells[i])
                parts.append([part for line in fitted for part in _folded(line, most)])
            tall = max(map(len, parts), default=0)
            if self._head and not number:  # a folded head is right above its column
                parts = [[""] * (tall - len(part)) + part for part in parts]
            for side in zip_longest(*parts, fillvalue=""):
                yield "  ".join(map(self._aligned, widths, side, widths.values())).rstrip()
        for note in self.notes:
            yield from _folded(printable(note), room)

    def _listed(self, room: int) -> Iterator[str]:
        """Yield each row as lines of a name and a value."""
        wide = max(len(column.name) for column in self.columns)
        for cells in self.rows:
            for column, lines in zip(self.columns, map(_lines_of, cells), strict=True):
                if any(lines) and not column.bars:
                    folded = [part for line in lines for part in _folded(line, max(1, room - wide - 2))]
                    for name, part in zip_longest([column.name], folded, fillvalue=""):
                        yield f"{name:{wide}}  {part}".rstrip()
            yield ""

    def _aligned(self, i: int, cell: str, width: int) -> str:
        """Return a line of a cell with the spaces that fill its column."""
        spaces = " " * (width - _width(cell))
        return spaces + cell if self.columns[i].align == "right" else cell + spaces

    def _fitted(self, i: int, cell: str, width: int) -> str:
        """Return a cell, a bar as long as the width of its column allows."""
        return "█" * max(1, len(cell) * width // _BAR) if self.columns[i].bars and cell else cell

    def _widths(self, grid: Sequence[Sequence[list[str]]], room: int) -> dict[int, int] | None:
        """Return the columns that fit into ``room`` characters, and their widths; None if they do not fit.

        Bars give way first, and are left out where little is left of them; then heads of numbers are folded,
        then the text that needs the fewest lines more. What is last in its line, but not in the last
        column, has the room that is left of the line.
        """
        sizes, wide, least = [], [], []  # sizes: of each cell, and of its longest word
        for i, column in enumerate(self.columns):
            to_the_end = i == len(self.columns) - 1 or column.align == "right"
            shown = [row for row in grid[bool(self._head) :] if to_the_end or any(map(any, row[i + 1 :]))]
            lines = [line for row in shown for line in row[i]]
            sizes.append([(_width(cell), _longest_word(cell)) for cell in lines])
            longest, word = (max((size[part] for size in sizes[i]), default=0) for part in (0, 1))
            head = max(map(_width, column.name.split()), default=0)
            there = any(any(row[i]) for row in grid)  # be it last in its line everywhere
            wide.append(max(_width(column.name), longest, int(there)))
            whole = longest if column.align == "right" else min(word, _FOLDED)
            least.append(0 if column.bars else max(whole, head))

        def gives(i: int) -> tuple[bool, str, int, float, int]:
            """How readily a column gives way: it should cut few words, and take few lines for it."""
            gain = min(excess, wide[i] - least[i])
            cut = sum(word >= wide[i] for _, word in sizes[i])
            lines = sum((cell - 1) // max(1, wide[i] - gain) - (cell - 1) // wide[i] for cell, _ in sizes[i])
            return self.columns[i].bars, self.columns[i].align, -cut, -lines / gain, wide[i]

        while (excess := sum(wide) + 2 * (sum(map(bool, wide)) - 1) - room) > 0:
            give = [i for i, width in enumerate(wide) if width > least[i]]
            if not give:
                return None
            most = max(give, key=gives)
            wide[most] = max(least[most], wide[most] - (excess if self.columns[most].bars else 1))
        enough = (_SHORT if column.bars else 1 for column in self.columns)
        return {i: width for i, (width, need) in enumerate(zip(wide, enough, strict=True)) if width >= need}


def _lines_of(cell: Cell) -> list[str]:
    """Return the lines of a cell, what is not printable escaped."""
    return [printable(line) for line in ([cell] if isinstance(cell, str) else cell)]


def _width(text: str) -> int:
    """Return the columns of a terminal that a text takes: East Asian characters take two."""
    if text.isascii():
        return len(text)
    return sum((2 if east_asian_width(c) in "WF" else 1) for c in text if not combining(c))


def _indent(line: str) -> int:
    """Return where the text of a line begins; > marks a line of code."""
    return len(line) - len(line.lstrip(" >"))


def _longest_word(line: str) -> int:
    """Return the least width in which a line can be folded without cutting a word, or a name of a path."""
    return _indent(line) + max(map(_width, re.findall("[^ /]+/?", line)), default=0)


def _folded(line: str, room: int) -> list[str]:
    """Return a line in parts that have room; those of an indented line go further in.

    It is cut at a space, rather outside a shape and not before a unit, else after a slash.

    >>> _folded("  a formula that is long", 15), _folded("kernels/row_gemm.h:14", 14)
    (['  a formula', '    that is', '    long'], ['kernels/', 'row_gemm.h:14'])
    >>> _folded("conv2d [1, 8, 8, 1] in 3 ms", 15), _folded("conv2d [1, 8, 8, 1] in 3 ms", 25)
    (['conv2d', '[1, 8, 8, 1] in', '3 ms'], ['conv2d [1, 8, 8, 1] in', '3 ms'])
    """
    further = min(_indent(line) + 2, room // 2) if _indent(line) else 0
    parts = []
    while len(line) > room:
        first, stop = further + 1, room + 1
        near = (gap.start() for gap in _BREAKS.finditer(line[: 2 * room], first))
        cut = max((place for place in near if place < stop), default=-1)
        if cut < room // 3:
            cut = max(line.rfind(" ", first, stop), cut)
        if cut < first:
            cut = line.rfind("/", first, room) + 1
        cut = room if cut < first else cut
        parts.append(line[:cut].rstrip())
        line = " " * further + line[cut:].lstrip()
    return [*parts, line]


class Report:
    """What shows itself as a table: printed as text, in a notebook as HTML.

    A report says its headline and its table; ``repr`` is one line and holds no array.
    """

    __slots__ = ()

    def _headline(self) -> str:
        raise NotImplementedError

    def _table(self) -> Table:
        raise NotImplementedError

    def _as_text(self, room: int = _ROOM) -> str:
        """The report in lines of ``room`` characters."""
        return self._table().text(room)

    def __str__(self) -> str:
        return self._as_text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {printable(self._headline())}>"

    def _repr_html_(self) -> str:
        return self._table().html()


# ---------------------------------------------------------------------------------------------
# Steps
# ---------------------------------------------------------------------------------------------

_COLUMNS = (*right(""), *left("", "", "", ""))
_LEAST = 28  # characters: less of a remark says too little
_LINES = 15  # a chain prints no more lines
_NAME, _PLACE = 30, 54  # characters of the columns of names and places


class Steps(Report):
    """Steps on the path of a call, and lines of code: `inspection.sources.SourceChain` says which.

    A step has ``what``, ``name``, ``where``, ``note``, ``known``, ``beside``, ``tensorflow`` and ``html``; a
    line ``mark``, ``backend``, ``algorithm``, ``file``, ``line``, ``place``, ``text`` and ``around``.
    """

    query: str
    steps: Any
    lines: Any
    backend: str
    algorithm: str
    shown: int

    @property
    def all(self) -> Table:
        """All steps, and all lines; those of a call with the line before and after each."""
        return self._table()

    def _headline(self) -> str:
        return " ".join(self._above())

    @property
    def _elsewhere(self) -> bool:
        """Whether the steps are those of another framework."""
        return bool(self.steps) and bool(self.steps[0].known)

    def _above(self, room: int = 0) -> list[str]:
        """The question, and what ran; one line if it fits into the room."""
        ran = f"backend {self.backend}, algorithm {self.algorithm}"
        if self._elsewhere:
            ran = f"{self.backend}: {self.algorithm}".removesuffix(": ")
        above = [f"where is {self.query} executed?", *([ran] if self.backend else [])]
        one = "   ".join(above)
        return [one] if len(one) <= room else above

    def _as_text(self, room: int = _ROOM) -> str:
        """The chain in at most 15 lines of 100 characters."""
        lines = [] if self._elsewhere else first_lines(self.lines)
        headline, *ran = self._above(_ROOM)
        # of a run, and of a call that goes on behind it, the innermost loop is among the lines
        goes_on = self._is_run or (bool(self.steps) and self.steps[-1].what == "rescaling")
        left = {"innermost loop"} if goes_on and lines else ()
        steps = [(number, step) for number, step in enumerate(self.steps, 1) if step.what not in left]
        shown = self._shown_of(steps)
        free = _LINES - 1 - len(ran) - len(lines)
        if len(shown) > free or len(shown) < len(steps) or len(lines) < len(self.lines):
            free -= 1  # for the line that says what is left out
            if self._is_run and len(shown) > free:
                free += sum(not line.file for line in lines)
                lines = [line for line in lines if line.file]
            shown = shown[:free]
        rows = [(str(number), *self._row(step)) for number, step in shown]
        below = fitted([(line.mark, line.place, line.text) for line in lines])
        notes = Table(_COLUMNS[1:4], below).text().splitlines()
        left_out = (len(steps) - len(shown), "step"), (len(self.lines) - len(lines), "line")
        if counts := [count(*pair) for pair in left_out if pair[0]]:
            notes.append(f"and {' and '.join(counts)} more: --all, or print(chain.all)")
        order = sorted(range(len(shown)), key=lambda i: (shown[i][1].what != "geometry", -i))
        return Table(_COLUMNS, fitted(rows, order, 2, free - len(shown)), headline, ran, notes).text(room)

    @property
    def _is_run(self) -> bool:
        """Whether the steps are those of a run of our graph runtime."""
        return not self.shown and any(step.what == "executor" for step in self.steps)

    def _shown_of(self, steps: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        """The steps of the short form: of a run the first of each kind, else those up to the kernel."""
        if self._is_run:
            first = {step.what: number for number, step in reversed(steps)}
            return [(number, step) for number, step in steps if first[step.what] == number]
        ways = (i for i, (_, step) in enumerate(steps) if step.what == "in a tf.function")  # other calls
        return steps[: self.shown or next(ways, len(steps))]

    def _row(self, step: Any) -> tuple[str, ...]:
        """The cells of a step in the short form; of a run TensorFlow's file is one of them."""
        if self._is_run:
            files = [place.rpartition("/")[2] for place in (step.where, step.tensorflow.partition(" ")[0])]
            return (step.what, *files, step.note or step.name)
        place = _PLACE - 26 if self._elsewhere else _PLACE  # beside it is how the step is known
        return step.what, cut(step.name, _NAME), tail(step.where, place), step.known or step.note

    def _table(self) -> Table:
        rows: list[Any] = []
        for number, step in enumerate(self.steps, 1):
            below = [*filter(None, (step.where, step.note))]  # of another framework's step the place is long
            notes = [*filter(None, (step.tensorflow, step.note))]
            cells: list[Any] = [step.name, step.where, notes]
            if self._elsewhere:
                cells = [step.name, below, step.known]
            elif self._is_run:
                cells = [[*filter(None, (step.name, step.where)), *notes], "", ""]
            rows.append((str(number), step.what, *cells))
        notes = self._beside()
        if self._elsewhere and self.lines:
            notes.append("their loops are machine code; these lines of teachconv's kernels do the same")
        lines = [
            (
                "" if self.backend else f"{line.backend} {line.algorithm}",
                line.mark,
                line.place,
                self._text(line),
            )
            for line in self.lines
        ]
        notes += Table(_COLUMNS[1:], lines).text().split("\n")
        headline, *ran = self._above(_ROOM)
        return Table(_COLUMNS, rows, headline, ran, notes)

    def _beside(self) -> list[str]:
        """The lines that say where our runtime does what another framework's steps do; [] for our own."""
        rows = []
        for ours in dict.fromkeys(step.beside for step in self.steps if step.beside):
            numbers = (str(number) for number, step in enumerate(self.steps, 1) if step.beside == ours)
            rows.append((ours.what, ours.name, ours.where, ", ".join(numbers)))
        title = "the same steps in teachconv's runtime, to be read and stepped into"
        return str(Table(_COLUMNS[1:], rows, title)).split("\n") if rows else []

    def _text(self, line: Any) -> Cell:
        """A line; of a call with the line before and after it."""
        shown = line.around() if self.backend and line.file else []
        margin = min((len(text) - len(text.lstrip()) for _, text in shown), default=0)
        return [
            f"{'>' if number == line.line else ' '} {text[margin:]}" for number, text in shown
        ] or line.text

    def _repr_html_(self) -> str:
        """The steps and the lines; a click on one opens or closes the code around it."""
        parts = [f"<p>{'<br>'.join(map(escape, self._above(_ROOM)))}</p>"]
        parts += [step.html(f"{number} {escape(step.what)}") for number, step in enumerate(self.steps, 1)]
        lines = []
        for line in self.lines:
            name = line.mark if self.backend else f"{line.backend} {line.algorithm}: {line.mark}"
            where = f"{line.file}:{line.line}" if line.file else line.text
            title = f"<b>{escape(name)}</b> {escape(where)}"
            lines.append(on_click(title, line.around(2), line.line, opened=bool(self.backend)))
        if lines and not self.backend:  # of all backends: too many to show at once
            lines = ["<details><summary>the lines of every algorithm</summary>", *lines, "</details>"]
        return "".join(parts + lines)


def aligned(steps: Sequence[tuple[str, Any]]) -> list[str]:
    """Return steps, (what is done, the number after it), as lines with the numbers below each other."""
    width = max((len(what) for what, _ in steps), default=0)
    return [f"{what:{width}}  {number!s}" for what, number in steps]


def first_lines(lines: Sequence[Any]) -> list[Any]:
    """Return the first line for each mark, of the algorithm that comes first."""
    mine = [line for line in lines if line.algorithm == lines[0].algorithm]
    first = {line.mark: line for line in reversed(mine)}
    return [first[mark] for mark in dict.fromkeys(line.mark for line in mine)]


def cut(text: str, room: int) -> str:
    """Return a text, the beginning of it that fits, or nothing where little would fit."""
    return text if len(text) <= room else f"{text[: room - 4].rstrip()} ..." * (room > _LEAST)


def tail(text: str, room: int) -> str:
    """Return a text such as a path, or the end of it that fits."""
    return text if len(text) <= room else f"...{text[3 - room :]}"


def fitted(
    rows: Sequence[tuple[str, ...]], order: Sequence[int] = (), under: int = 0, spare: int = 0
) -> list[tuple[str, ...]]:
    """Return rows no wider than a line of a report: a last cell that is too long goes below, or is cut.

    Args:
        rows: the rows; none is empty.
        order: the rows whose last cells may go below, the most important one first.
        under: the column in which a cell that goes below begins.
        spare: how many lines there are for what goes below; the first row takes those that are left.
    """
    widths = [max(map(len, column)) + 2 for column in list(zip(*rows, strict=True))[:-1]]
    room = _ROOM - sum(widths)
    below = [i for i in order if len(rows[i][-1]) > room][:spare]
    lines: list[tuple[str, ...]] = []
    for i, (*cells, last) in enumerate(rows):
        if i in below:
            parts = _folded(last, _ROOM - sum(widths[:under]) - 4)
            kept = parts[: 1 + (spare - len(below)) * (i == below[0])]
            kept[-1] += " ..." * (kept != parts)
            lines += [(*cells, ""), *((*[""] * under, part, *[""] * (len(cells) - under)) for part in kept)]
        else:
            lines.append((*cells, cut(last, room)))
    return lines


def on_click(title: str, code: Sequence[tuple[int, str]], marked: int = 0, opened: bool = False) -> str:
    """Return HTML: a title that shows and hides numbered lines of code, of which one is marked."""
    if not code:
        return f"<div>{title}</div>"
    texts = (f"{number:5} {escape(text)}" for number, text in code)
    lines = [
        f"<mark>{text}</mark>" if number == marked else text
        for text, (number, _) in zip(texts, code, strict=True)
    ]
    state = " open" if opened else ""
    return f"<details{state}><summary>{title}</summary>{pre('<br>'.join(lines))}</details>"
