"""Grids of numbers as SVG text, without any plotting library; ``palette.py`` says what the marks mean."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from ..support.palette import COLOURS, TINT, svg_style

SAMPLE = 1 << 20  # cells of an array among which the largest number is looked for
_CELL = 36  # pixels
_TOP = 44  # pixels above the cells: the title and the column numbers
_LIGHT = {name: colour.light for name, colour in COLOURS.items()}  # svg_style has the dark values

Cell = tuple[int, int]


@dataclass
class Panel:
    """One grid: a plane of numbers, and the marks on it.

    Attributes:
        title: its title.
        plane: [rows, cols], or None where only indices are known.
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
        marks: which marks were drawn, for the legend.
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
    marks: set[str] = field(default_factory=set, init=False)

    def text(self, cell: Cell) -> str:
        """The number to show in a cell, "" where there is none."""
        if cell == self.framed and self.framed_text is not None:
            return self.framed_text
        return "" if self.plane is None or not self.inside(cell) else short(self.plane[cell])

    def inside(self, cell: Cell) -> bool:
        """Whether the cell is in the plane, not in the padding around it."""
        return 0 <= cell[0] < self.size[0] and 0 <= cell[1] < self.size[1]


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


def strength(value: Any, largest: float) -> float:
    """Return how strong the colour of a number is, from 0 to 1."""
    number = abs(float(value))
    return min(1.0, number / largest) if largest and np.isfinite(number) else 0.0


def panels_to_svg(panels: list[Panel], signs: list[str], caption: str) -> str:
    """Draw panels beside each other, ``signs`` of one or more lines between them, as one SVG element.

    Below them stand the legend and the caption.
    """
    parts: list[str] = []
    x, bottom = 12.0, 0.0
    middle = _TOP + max(len(panel.rows) for panel in panels) * _CELL / 2
    for number, panel in enumerate(panels):
        if number:
            lines = signs[number - 1].split("\n")
            room = max(28.0, 7.0 * max(map(len, lines)))
            top = middle + 6 - 10 * (len(lines) - 1)
            for line, text in enumerate(lines):
                size = 20 if len(text) == 1 else 12
                parts.append(_text(x + room / 2, top + 20 * line, text, size=size, colour="faint"))
            x += room + 6
        height = len(panel.rows) * _CELL
        body, width = _panel(panel, x, middle - height / 2)
        parts.append(body)
        x += width + 8
        bottom = max(bottom, middle + height / 2)
    if any(panel.largest for panel in panels):
        bottom += 22
    legend, width = _legend(set().union(*(panel.marks for panel in panels)), 12.0, bottom + 16)
    total = bottom + (38 if legend else 12) + 20
    width = max(x + 4, width, 6.6 * len(caption) + 24)
    parts += [legend, _text(12, total - 12, caption, size=12, anchor="start", colour="faint")]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(caption)}" '
        f'class="tc-picture" viewBox="0 0 {width:.0f} {total:.0f}" width="{width:.0f}" height="{total:.0f}" '
        f'style="max-width:100%;height:auto" font-family="system-ui, sans-serif" font-size="11" '
        f'text-anchor="middle" fill="{_LIGHT["ink"]}">{svg_style()}'
        f'<rect width="100%" height="100%" rx="6" fill="{_LIGHT["paper"]}"/>{"".join(parts)}</svg>'
    )


def _panel(panel: Panel, x: float, y: float) -> tuple[str, float]:
    """Return one grid whose cells begin at ``y``, and its width."""
    left = x + 22  # room for row numbers
    width, height = len(panel.cols) * _CELL, len(panel.rows) * _CELL
    parts = [f"<g font-weight='bold'>{_text(left, y - 22, panel.title, size=12, anchor='start')}</g>"]
    for i, col in enumerate(panel.cols):
        parts.append(_text(left + (i + 0.5) * _CELL, y - 6, str(col), size=9, colour="faint"))
    for j, row in enumerate(panel.rows):
        top = y + j * _CELL
        middle = top + _CELL / 2 + 3
        parts.append(_text(left - 6, middle, str(row), size=9, anchor="end", colour="faint"))
        for i, col in enumerate(panel.cols):
            parts.append(_cell(panel, (row, col), left + i * _CELL, top))
    if panel.ring == "window" and len(panel.window) > 1:
        rows, cols = ([cell[axis] for cell in panel.window] for axis in (0, 1))
        across, down = (
            left + (min(cols) - panel.cols.start) * _CELL,
            y + (min(rows) - panel.rows.start) * _CELL,
        )
        size = f'width="{_CELL * (max(cols) - min(cols) + 1)}" height="{_CELL * (max(rows) - min(rows) + 1)}"'
        frame = f'x="{across:.6g}" y="{down:.6g}" {size} rx="3" fill="none" stroke="{_LIGHT["ring"]}"'
        frame = f'<rect class="frame" {frame} stroke-width="3"/>'
        if not ({*rows} <= {*panel.rows} and {*cols} <= {*panel.cols}):  # open where the window goes on
            port = f'x="{left - 2:.6g}" y="{y - 2:.6g}" width="{width + 4}" height="{height + 4}"'
            frame = f"<svg {port} viewBox='{left - 2:.6g} {y - 2:.6g} {width + 4} {height + 4}'>{frame}</svg>"
        parts.append(frame)
    right = left + max(width, 7.0 * len(panel.title))
    if panel.largest:
        scale, end = _scale(panel, left, y + height + 8)
        parts.append(scale)
        right = max(right, end)
    return "".join(parts), right - x


def _cell(panel: Panel, cell: Cell, x: float, y: float) -> str:
    """Return one cell: its ground, its marks and its number."""
    label, text, inside = f"{panel.title} [{cell[0]}, {cell[1]}]", panel.text(cell), panel.inside(cell)
    drawn, colour = [], "ink"
    if not inside:
        label += ": a tap in the padding" if cell in panel.window else ": padding"
        drawn.append("padding")
    elif cell in panel.cropped:
        label, colour = label + ": cropped", "faint"
        drawn.append("cropped")
    else:
        drawn.append("plain")
    if cell in panel.window:
        drawn.append(panel.ring if inside else "tap in the padding")
    if cell == panel.framed:
        drawn.append("cell")
    panel.marks |= {*drawn}
    value = panel.plane[cell] if panel.plane is not None and inside else 0
    ground = _mark(drawn[0], x, y, _CELL, _tint(value, panel.largest))
    marks = "".join(_mark(mark, x, y, _CELL) for mark in drawn[1:])
    number = _text(x + _CELL / 2, y + _CELL / 2 + 4, text, colour=colour) if text else ""
    return f"<g><title>{escape(label)}</title>{ground}{marks}{number}</g>"


def _tint(value: Any, largest: float) -> str:
    """Return the colour of a number, which lies over paper, as attributes; none for zero."""
    opacity = TINT * strength(value, largest)
    colour = _LIGHT["above" if value > 0 else "below"]
    return f'fill="{colour}" fill-opacity="{opacity:.2g}"' if opacity else 'fill="none"'


def _mark(mark: str, x: float, y: float, size: float, fill: str = 'fill="none"') -> str:
    """Return one mark of a cell. The class says which it is."""
    if mark == "cropped":
        line = f'd="M{x:.6g} {y + size:.6g}l{size:.6g} {-size:.6g}" stroke="{_LIGHT["faint"]}"'
        return _mark("plain", x, y, size, fill) + f'<path class="cropped" {line}/>'
    inset, colour, width, dash = {
        "plain": (0.0, "line", 1.0, ""),
        "padding": (1.0, "faint", 1.0, "3 3"),
        "window": (2.0, "ring", 2.5, ""),
        "factor": (2.0, "filter", 2.5, ""),
        "fed": (2.0, "mark", 2.5, ""),
        "tap in the padding": (2.5, "ring", 2.5, "5 4"),
        "cell": (1.5, "mark", 4.0, ""),
    }[mark]
    stroke = f'stroke="{_LIGHT[colour]}"'
    stroke += f' stroke-width="{width:g}"' if width != 1 else ""
    stroke += f' stroke-dasharray="{dash}"' if dash else ""
    return f'<rect class="{mark}" {_square(x + inset, y + inset, size - 2 * inset)} {fill} {stroke}/>'


def _square(x: float, y: float, side: float) -> str:
    return f'x="{x:.6g}" y="{y:.6g}" width="{side:.6g}" height="{side:.6g}"'


def _scale(panel: Panel, x: float, y: float) -> tuple[str, float]:
    """Return the colours from the smallest to the largest number that there may be, and where they end."""
    steps, side = range(-4, 5), 10
    low, high = short(-panel.largest), short(panel.largest)
    start = x + 6.5 * len(low) + 4
    parts = [_text(start - 4, y + 9, low, size=10, anchor="end", colour="faint")]
    for i, step in enumerate(steps):
        parts.append(f"<rect {_square(start + side * i, y, side)} {_tint(step, 4)}/>")
    end = start + side * len(steps)
    frame = f'x="{start:.6g}" y="{y:.6g}" width="{end - start:.6g}" height="{side}"'
    parts.append(f'<rect {frame} fill="none" stroke="{_LIGHT["line"]}"/>')
    parts.append(_text(end + 4, y + 9, high, size=10, anchor="start", colour="faint"))
    return "".join(parts), end + 4 + 6.5 * len(high)


_MEANING = {
    "window": "in the window",
    "factor": "what it is multiplied by",
    "tap in the padding": "padding in the window",
    "padding": "padding",
    "cell": "the cell",
    "fed": "uses the cell",
    "cropped": "cropped",
}


def _legend(marks: set[str], x: float, y: float) -> tuple[str, float]:
    """Return what the marks mean that a picture has, and where the text ends."""
    parts = []
    for mark, meaning in _MEANING.items():
        if mark in marks:
            parts.append(_mark(mark, x, y, 14) + _text(x + 20, y + 11, meaning, anchor="start"))
            x += 20 + 6.2 * len(meaning) + 18
    return "".join(parts), x


def _text(x: float, y: float, text: str, *, size: int = 11, anchor: str = "", colour: str = "ink") -> str:
    """Return a text; what is not given is as the SVG element has it."""
    style = f' font-size="{size}"' if size != 11 else ""
    style += f' text-anchor="{anchor}"' if anchor else ""
    style += f' fill="{_LIGHT[colour]}"' if colour != "ink" else ""
    return f'<text x="{x:.6g}" y="{y:.6g}"{style}>{escape(text)}</text>'
