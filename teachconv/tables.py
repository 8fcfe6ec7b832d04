"""One way to show a report, as text, as HTML and by rich, and one way to write its numbers. A leaf."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from math import isfinite
from typing import Any

__all__ = [
    "Column",
    "Report",
    "Table",
    "bar",
    "bars",
    "count",
    "duration",
    "index",
    "left",
    "number",
    "right",
    "size",
    "verdict",
]


# ---------------------------------------------------------------------------------------------
# Numbers
# ---------------------------------------------------------------------------------------------


def number(value: float, digits: int = 3) -> str:
    """Write a number with so many significant digits, and an exponent only where it saves many zeros.

    >>> number(0.12345), number(16_800_000), number(1640.0), number(4.768e-07), number(3)
    ('0.123', '1.68e+07', '1,640', '4.77e-07', '3')
    """
    rounded = float(f"{value:.{digits}g}")
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
    """Write a number of things; ``plural`` is the noun with an s if it is left out.

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
    found = list(judged)
    return False if False in found else None if None in found or not found else True


_BAR = 40  # characters of the longest bar
_SHORT = 8  # a longest bar of fewer says nothing
_FOLDED = 16  # a longer word, such as a path, is cut where the room is narrow


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
    r"""Columns and rows of text, with lines before and after, to be shown in three ways.

    Attributes:
        columns: name and alignment; without any name no head is shown.
        rows: a cell for each column; a cell may have several lines.
        caption: the headline.
        lines: further lines between the headline and the table.
        notes: lines after the table.
        marked: the positions of the rows that stand out, such as failures.

    >>> table = Table((*left("op"), *right("time")), [("conv2d", "9 µs"), ("relu", "12.5 µs")], "two ops")
    >>> print(table.text())
    two ops
    op         time
    conv2d     9 µs
    relu    12.5 µs
    >>> Table(left("", ""), [("a < b", "c")]).html()[:60]
    "<table><tbody><tr><td style='text-align:left'>a &lt; b</td><"
    """

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    marked: Collection[int] = ()

    @property
    def _above(self) -> list[str]:
        return [*([self.caption] if self.caption else []), *self.lines]

    @property
    def _head(self) -> list[str]:
        names = [column.name for column in self.columns]
        return names if any(names) else []

    def text(self) -> str:
        """The table in columns of characters; what is last in its line may run on to the right."""
        grid: list[tuple[str, ...]] = []
        for row in [*([self._head] if self._head else []), *self.rows]:
            grid += zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
        widths = []
        for i, column in enumerate(self.columns):
            counted = (line[i] for line in grid if column.align == "right" or any(line[i + 1 :]))
            widths.append(max(map(len, counted), default=0))
        body = []
        for line in grid:
            cells = [
                cell.rjust(width) if column.align == "right" else cell.ljust(width)
                for cell, width, column in zip(line, widths, self.columns, strict=True)
            ]
            body.append("  ".join(cells).rstrip())
        return "\n".join([*self._above, *body, *self.notes])

    def html(self) -> str:
        """The table for a notebook or a page; all text is escaped."""

        def row(tag: str, cells: Sequence[str], style: str = "") -> str:
            found = "".join(
                f"<{tag} style='text-align:{column.align}"
                f"{';white-space:pre-wrap' if chr(10) in cell else ''}{style}'>{escape(cell)}</{tag}>"
                for cell, column in zip(cells, self.columns, strict=True)
            )
            return f"<tr>{found}</tr>"

        above = "<br>".join(map(escape, self._above))
        caption = f"<caption style='text-align:left'>{above}</caption>" if above else ""
        head = f"<thead>{row('th', self._head)}</thead>" if self._head else ""
        body = "".join(
            row("td", cells, ";font-weight:bold" if i in self.marked else "")
            for i, cells in enumerate(self.rows)
        )
        foot = "".join(
            f"<tr><td colspan='{len(self.columns)}' style='text-align:left'>{escape(note)}</td></tr>"
            for note in self.notes
        )
        foot = f"<tfoot>{foot}</tfoot>" if foot else ""
        return f"<table>{caption}{head}<tbody>{body}</tbody>{foot}</table>"

    __str__, _repr_html_ = text, html

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        """The table for rich, which must be installed: bars are shortened, text is folded, numbers are whole.

        Where the numbers do not fit side by side, each row is written as lines of a name and a value.
        """
        from rich.table import Table as RichTable
        from rich.text import Text

        styles = ["bold red" if i in self.marked else "" for i in range(len(self.rows))]
        if self.caption:
            yield Text(self.caption, "bold")
        yield from map(Text, self.lines)
        widths = self._widths(options.max_width)
        if widths is None:
            table = RichTable.grid(padding=(0, 2, 0, 0))
            table.add_column(style="bold", no_wrap=True)
            table.add_column(overflow="fold")
            for cells, style in zip(self.rows, styles, strict=True):
                for column, cell in zip(self.columns, cells, strict=True):
                    if cell and not column.bars:
                        table.add_row(Text(column.name), Text(cell), style=style)
                table.add_row()
        else:
            table = RichTable(box=None, pad_edge=False, show_header=bool(self._head), header_style="bold")
            for i, width in widths.items():
                name, justify = self.columns[i].name, self.columns[i].align
                table.add_column(Text(name), justify=justify, overflow="fold", width=width)  # type: ignore[arg-type]
            for cells, style in zip(self.rows, styles, strict=True):
                table.add_row(
                    *(Text(self._fitted(i, cells[i], width)) for i, width in widths.items()), style=style
                )
        yield table
        yield from map(Text, self.notes)

    def _fitted(self, i: int, cell: str, width: int) -> str:
        """Return a cell, a bar as long as the width of its column allows."""
        return "█" * max(1, len(cell) * width // _BAR) if self.columns[i].bars and cell else cell

    def _widths(self, room: int) -> dict[int, int] | None:
        """Return the columns that are shown in so many characters, and their widths; None if they do not fit.

        Bars give way first, and are left out where little is left of them; then heads of numbers are folded,
        and then the widest text.
        """
        wide, least = [], []
        for i, column in enumerate(self.columns):
            cells = [line for row in self.rows for line in row[i].split("\n")]
            longest = max(map(len, cells), default=0)
            word = max((len(word) for cell in cells for word in cell.split()), default=0)
            need = longest if column.align == "right" else min(word, _FOLDED)
            wide.append(max(len(column.name), longest))
            least.append(0 if column.bars else max(need, *map(len, column.name.split() or [""])))
        while (excess := sum(wide) + 2 * (sum(map(bool, wide)) - 1) - room) > 0:
            give = [i for i, width in enumerate(wide) if width > least[i]]
            if not give:
                return None
            most = max(give, key=lambda i: (self.columns[i].bars, self.columns[i].align, wide[i]))
            wide[most] = max(least[most], wide[most] - (excess if self.columns[most].bars else 1))
        enough = (_SHORT if column.bars else 1 for column in self.columns)
        return {i: width for i, (width, need) in enumerate(zip(wide, enough, strict=True)) if width >= need}


class Report:
    """What shows itself as a table: printed as text, in a notebook as HTML, by rich where that prints.

    A report says its headline and its table; ``repr`` is one line and holds no array.
    """

    __slots__ = ()

    def _headline(self) -> str:
        raise NotImplementedError

    def _table(self) -> Table:
        raise NotImplementedError

    def __str__(self) -> str:
        return self._table().text()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._headline()}>"

    def _repr_html_(self) -> str:
        return self._table().html()

    def __rich__(self) -> Any:
        return self._table()
