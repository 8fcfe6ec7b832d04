"""Grids of numbers beside each other, as SVG text; ``palette.py`` says what the marks mean."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from html import escape
from itertools import product
from typing import Any

import numpy as np

from ..support.palette import TINT
from .svg import element, picture, text

SAMPLE = 1 << 20  # cells of an array among which the largest number is looked for
_CELL = 36  # pixels
_TOP = 44  # pixels above the cells: the title and the column numbers

Cell = tuple[int, int]


@dataclass
class Panel:
    """One grid: a plane of numbers, and the marks on it.

    Attributes:
        title: its title.
        plane: [rows, cols], or None where only indices are known. A missing number is masked.
        size: the rows and columns of the plane.
        rows: the rows that are drawn; those outside the plane are padding.
        cols: the columns that are drawn.
        window: the cells that have a ring; those of them outside the plane are taps in the padding.
        ring: which ring it is: "window" of what is read, "factor" of what it is multiplied by, "fed" of the
            outputs that use a cell.
        framed: the cell that is explained.
        framed_text: its number, if it is not that of the plane.
        cropped: the cells that are cut away.
        largest: the size of the number that has the strongest colour; 0 for no colours.
    """

    title: str
    plane: np.ndarray | None
    size: Cell
    rows: range
    cols: range
    window: AbstractSet[Cell] = frozenset()
    ring: str = "window"
    framed: Cell | None = None
    framed_text: str | None = None
    cropped: AbstractSet[Cell] = frozenset()
    largest: float = 0.0

    def value(self, cell: Cell) -> Any:
        """The number in a cell; None in the padding, and where it is unknown or missing."""
        if self.plane is None or not self.inside(cell) or np.ma.is_masked(self.plane[cell]):
            return None
        return self.plane[cell]

    def words(self, cell: Cell) -> str:
        """The number to show in a cell, "" where there is none."""
        if cell == self.framed and self.framed_text is not None:
            return self.framed_text
        value = self.value(cell)
        return "" if value is None else short(value)

    def inside(self, cell: Cell) -> bool:
        """Whether the cell is in the plane, not in the padding around it."""
        return 0 <= cell[0] < self.size[0] and 0 <= cell[1] < self.size[1]

    def marks(self, cell: Cell) -> list[str]:
        """The marks of a cell, that of its ground first."""
        inside = self.inside(cell)
        marks = ["cropped" if cell in self.cropped else "plain"] if inside else ["padding"]
        if cell in self.window:
            marks.append(self.ring if inside else "tap in the padding")
        if cell == self.framed:
            marks.append("cell")
        return marks


def short(value: Any) -> str:
    """A number in at most five characters or so."""
    number = float(value) + 0.0  # -0.0 + 0.0 is 0.0
    if not np.isfinite(number):
        return str(number)
    if number == int(number) or abs(number) >= 100:
        text = f"{number:.0f}"
        return text if len(text) <= 5 else f"{number:.0e}"
    return f"{number:.2g}"


@np.errstate(all="ignore")
def largest_of(array: np.ndarray) -> float:
    """Return the size of the largest finite number of an array, 0 if there is none: the end of its scale.

    Of an array with more than `SAMPLE` cells, the largest among so many, the same ones at every call.
    """
    if array.size > SAMPLE:
        random = np.random.Generator(np.random.PCG64(array.size))
        array = array[tuple(random.integers(0, size, SAMPLE) for size in array.shape)]
    found = np.abs(array.astype(np.float64))
    return float(np.max(found, initial=0.0, where=np.isfinite(found)))


def panels_to_svg(
    panels: list[Panel], signs: list[str], caption: str, legend: AbstractSet[str] = frozenset()
) -> str:
    """Draw panels beside each other, ``signs`` of one or more lines between them, as one SVG element.

    Below them stand the legend and the caption. The legend has the marks that are drawn, and those given.
    """
    body, x = "", 12.0
    middle = _TOP + max(len(panel.rows) for panel in panels) * _CELL / 2
    for panel, sign in zip(panels, ["", *signs], strict=True):
        if sign:
            drawn, width = _sign(sign, x, middle)
            body += drawn
            x += width + 6
        drawn, width = _panel(panel, x, middle - len(panel.rows) * _CELL / 2)
        body += drawn
        x += width + 8
    bottom = 2 * middle - _TOP
    if any(panel.largest for panel in panels):
        bottom += 22
    marks = {
        mark for panel in panels for cell in product(panel.rows, panel.cols) for mark in panel.marks(cell)
    }
    drawn, width = _legend(legend or marks, 12.0, bottom + 16)
    total = bottom + (38 if drawn else 12) + 20
    body += drawn + text(12, total - 12, caption, size=12, text_anchor="start", fill="faint")
    return picture(max(x + 4, width, 6.6 * len(caption) + 24), total, caption, body)


def _sign(sign: str, x: float, middle: float) -> tuple[str, float]:
    """Return the lines of a sign between two panels, and its width."""
    lines = sign.split("\n")
    width = max(28.0, 7.0 * max(map(len, lines)))
    body, y = "", middle + 6 - 10 * (len(lines) - 1)
    for line in lines:
        body += text(x + width / 2, y, line, size=20 if len(line) == 1 else 12, fill="faint")
        y += 20
    return body, width


def _panel(panel: Panel, x: float, y: float) -> tuple[str, float]:
    """Return one grid whose cells begin at ``y``, and its width."""
    left = x + 22  # room for row numbers
    width, height = len(panel.cols) * _CELL, len(panel.rows) * _CELL
    body = text(left, y - 22, panel.title, size=12, text_anchor="start", font_weight="bold")
    for i, col in enumerate(panel.cols):
        body += text(left + (i + 0.5) * _CELL, y - 6, str(col), size=9, fill="faint")
    for j, row in enumerate(panel.rows):
        top = y + j * _CELL
        body += text(left - 6, top + _CELL / 2 + 3, str(row), size=9, text_anchor="end", fill="faint")
        for i, col in enumerate(panel.cols):
            body += _cell(panel, (row, col), left + i * _CELL, top)
    if panel.ring == "window" and len(panel.window) > 1:
        body += _frame(panel, left, y)
    right = left + max(width, 7.0 * len(panel.title))
    if panel.largest:
        scale, end = _scale(panel, left, y + height + 8)
        body += scale
        right = max(right, end)
    return body, right - x


def _frame(panel: Panel, left: float, y: float) -> str:
    """Return the frame around the window, open where the window goes on outside the panel."""
    rows, cols = zip(*panel.window, strict=True)
    across, down = left + (min(cols) - panel.cols.start) * _CELL, y + (min(rows) - panel.rows.start) * _CELL
    width, height = _CELL * (max(cols) - min(cols) + 1), _CELL * (max(rows) - min(rows) + 1)
    place = {"x": across, "y": down, "width": width, "height": height}
    looks: Any = place | {"fill": "none", "stroke": "ring", "stroke_width": 3, "rx": 3, "mark": "frame"}
    frame = element("rect", **looks)
    if {*rows} <= {*panel.rows} and {*cols} <= {*panel.cols}:
        return frame
    room = {"width": _CELL * len(panel.cols) + 4, "height": _CELL * len(panel.rows) + 4}
    port = {"x": left - 2, "y": y - 2} | room
    return element("svg", frame, **port, viewBox=" ".join(f"{value:.6g}" for value in port.values()))


def _cell(panel: Panel, cell: Cell, x: float, y: float) -> str:
    """Return one cell: its ground, its marks and its number."""
    ground, *marks = panel.marks(cell)
    label = f"{panel.title} [{cell[0]}, {cell[1]}]"
    if "tap in the padding" in marks:
        label += ": a tap in the padding"
    elif ground != "plain":
        label += f": {ground}"
    body = element("title", escape(label))
    body += _mark(ground, x, y, _CELL, **_tint(panel.value(cell), panel.largest))
    body += "".join(_mark(mark, x, y, _CELL) for mark in marks)
    if words := panel.words(cell):
        size = min(11, 60 / len(words))  # of longer numbers the digits are smaller
        fill = "faint" if ground == "cropped" else ""
        body += text(x + _CELL / 2, y + _CELL / 2 + 4, words, size=size, fill=fill)
    return element("g", body)


def _tint(value: Any, largest: float) -> dict[str, Any]:
    """Return the colour of a number, over paper, as attributes; none for zero and for no number."""
    number = 0.0 if value is None else float(value)
    if not (largest and number and np.isfinite(number)):
        return {"fill": "none"}
    share = TINT * min(1.0, abs(number) / largest)
    return {"fill": "above" if number > 0 else "below", "fill_opacity": f"{share:.2g}"}


# each mark: how far inside its cell it is drawn, its colour, its width and its dashes
_MARKS = {
    "plain": (0.0, "line", "", ""),
    "padding": (1.0, "faint", "", "3 3"),
    "window": (2.0, "ring", 2.5, ""),
    "factor": (2.0, "filter", 2.5, ""),
    "fed": (2.0, "mark", 2.5, ""),
    "tap in the padding": (2.5, "ring", 2.5, "5 4"),
    "cell": (1.5, "mark", 4.0, ""),
}
_MEANING = {
    "window": "in the window",
    "factor": "what it is multiplied by",
    "tap in the padding": "padding in the window",
    "padding": "padding",
    "cell": "the cell",
    "fed": "uses the cell",
    "cropped": "cropped",
}


def _mark(mark: str, x: float, y: float, size: float, fill: str = "none", fill_opacity: str = "") -> str:
    """Return one mark of a cell. The class says which it is."""
    if mark == "cropped":
        ends: Any = {"x1": x, "y1": y + size, "x2": x + size, "y2": y}
        line = element("line", mark="cropped", **ends, fill="none", stroke="faint")
        return _mark("plain", x, y, size, fill, fill_opacity) + line
    inset, stroke, width, dash = _MARKS[mark]
    place = {"x": x + inset, "y": y + inset, "width": size - 2 * inset, "height": size - 2 * inset}
    looks: Any = place | {"stroke": stroke, "stroke_width": width, "stroke_dasharray": dash}
    return element("rect", mark=mark, fill=fill, fill_opacity=fill_opacity, **looks)


def _scale(panel: Panel, x: float, y: float) -> tuple[str, float]:
    """Return the colours from the smallest to the largest number that there may be, and where they end."""
    steps, side = range(-4, 5), 10
    low, high = short(-panel.largest), short(panel.largest)
    start = x + 6.5 * len(low) + 4
    end = start + side * len(steps)
    body = text(start - 4, y + 9, low, size=10, text_anchor="end", fill="faint")
    for i, step in enumerate(steps):
        body += element("rect", x=start + side * i, y=y, width=side, height=side, **_tint(step, 4))
    body += element("rect", x=start, y=y, width=end - start, height=side, fill="none", stroke="line")
    body += text(end + 4, y + 9, high, size=10, text_anchor="start", fill="faint")
    return body, end + 4 + 6.5 * len(high)


def _legend(marks: AbstractSet[str], x: float, y: float) -> tuple[str, float]:
    """Return what the marks mean that a picture has, and where the text ends."""
    body = ""
    for mark, meaning in _MEANING.items():
        if mark in marks:
            body += _mark(mark, x, y, 14) + text(x + 20, y + 11, meaning, text_anchor="start")
            x += 20 + 6.2 * len(meaning) + 18
    return body, x
