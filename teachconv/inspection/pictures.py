"""Static pictures as SVG text, made without any plotting library: grids of cells with numbers in them.

Colours are distinguishable for the colour-blind and never the only sign: the window is shaded, the
cell explained has a heavy frame, padding is dashed, and a tap in the padding has a heavier dash and no
shade. Lines and text take the page's own colour, so that the pictures read on light and on dark.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dispatch, tables
from ..geometry import AxisGeometry, Conv2DGeometry
from ..kinds import LAYOUTS, ROLES

if TYPE_CHECKING:
    from ..dispatch import Call
    from .explaining import Explanation, Tap

__all__ = ["Panel", "cell_picture", "padding_picture", "panels_to_svg", "png"]

_CELL = 36  # pixels
_LIMIT = 12  # cells of a plane that are drawn in each direction
_COMPUTED = 10**7  # multiply-adds of a call whose other results are computed for its picture
_SHADE, _FRAME = "#0072B2", "#D55E00"


@dataclass
class Panel:
    """One grid: a plane of numbers, the cells of it that are shaded, the one that is framed.

    ``rows`` and ``cols`` say which indices are drawn; those outside the plane are padding. Those of them that
    a tap meets are in ``skipped``.
    """

    title: str
    plane: np.ndarray | None  # [rows, cols], or None where only indices are known
    size: tuple[int, int]
    rows: range
    cols: range
    shaded: set[tuple[int, int]] = field(default_factory=set)
    framed: tuple[int, int] | None = None
    framed_text: str | None = None
    skipped: set[tuple[int, int]] = field(default_factory=set)

    def text(self, row: int, col: int) -> str:
        """The number to show in a cell, "" where there is none."""
        if (row, col) == self.framed and self.framed_text is not None:
            return self.framed_text
        if self.plane is None or not self.inside(row, col):
            return ""
        return short(self.plane[row, col])

    def inside(self, row: int, col: int) -> bool:
        """Whether the cell is in the plane, not in the padding around it."""
        return 0 <= row < self.size[0] and 0 <= col < self.size[1]


def short(value: Any) -> str:
    """A number in at most five characters or so."""
    number = float(value)
    if not np.isfinite(number):
        return str(number)
    if number == int(number) or abs(number) >= 100:
        text = f"{number:.0f}"
        return text if len(text) <= 5 else f"{number:.0e}"
    return f"{number:.2g}"


def panels_to_svg(panels: list[Panel], signs: list[str], caption: str) -> str:
    """Draw panels beside each other, ``signs`` of one or more lines between them, as one SVG element."""
    parts: list[str] = []
    x, height = 10.0, 0.0
    for number, panel in enumerate(panels):
        if number:
            lines = signs[number - 1].split("\n")
            room = max(28.0, 7.0 * max(map(len, lines)))
            for line, text in enumerate(lines):
                size = 20 if len(text) == 1 else 12
                parts.append(_text(x + room / 2, 60 + height / 4 + 20 * line, text, size=size))
            x += room + 6
        body, width, panel_height = _panel(panel, x, 40)
        parts.append(body)
        x += width + 8
        height = max(height, panel_height)
    width, total = x + 4, height + 70
    parts.append(_text(10, total - 10, caption, size=12, anchor="start"))
    width = max(width, 6.6 * len(caption) + 20)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(caption)}" '
        f'viewBox="0 0 {width:.0f} {total:.0f}" width="{width:.0f}" height="{total:.0f}" '
        f'style="max-width:100%;height:auto" font-family="system-ui, sans-serif" fill="currentColor">'
        + "".join(parts)
        + "</svg>"
    )


def _panel(panel: Panel, x: float, y: float) -> tuple[str, float, float]:
    left = x + 22  # room for row numbers
    width, height = len(panel.cols) * _CELL, len(panel.rows) * _CELL
    parts = [_text(left, y - 24, panel.title, size=12, anchor="start", weight="bold")]
    for i, col in enumerate(panel.cols):
        parts.append(_text(left + (i + 0.5) * _CELL, y - 6, str(col), size=9, opacity=0.65))
    for j, row in enumerate(panel.rows):
        top = y + j * _CELL
        parts.append(_text(left - 5, top + _CELL / 2 + 3, str(row), size=9, opacity=0.65, anchor="end"))
        for i, col in enumerate(panel.cols):
            parts.append(_cell(panel, row, col, left + i * _CELL, top))
    if panel.framed is not None and panel.framed[0] in panel.rows and panel.framed[1] in panel.cols:
        j, i = panel.rows.index(panel.framed[0]), panel.cols.index(panel.framed[1])
        parts.append(
            f'<rect x="{left + i * _CELL}" y="{y + j * _CELL}" width="{_CELL}" height="{_CELL}" '
            f'fill="none" stroke="{_FRAME}" stroke-width="3.5"/>'
        )
    return "".join(parts), max(22 + width, 7.0 * len(panel.title) + 22), y + height


def _cell(panel: Panel, row: int, col: int, x: float, y: float) -> str:
    inside = panel.inside(row, col)
    skipped = (row, col) in panel.skipped
    shade = f'fill="{_SHADE}" fill-opacity="0.28"' if (row, col) in panel.shaded else 'fill="none"'
    line = f'stroke="currentColor" stroke-opacity="{0.45 if inside else 0.3}"'
    if not inside:
        line += ' stroke-dasharray="3 3"'
    inset = 3 if skipped else 0  # clear of its neighbours' lines
    if skipped:
        line = f'stroke="{_SHADE}" stroke-width="2" stroke-dasharray="5 4"'
    label = f"{panel.title} [{row}, {col}]"
    label += ": a tap in the padding" if skipped else "" if inside else ": padding"
    side = _CELL - 2 * inset
    rect = (
        f'<rect x="{x + inset}" y="{y + inset}" width="{side}" height="{side}" {shade} {line}>'
        f"<title>{escape(label)}</title></rect>"
    )
    text = panel.text(row, col)
    return rect + (_text(x + _CELL / 2, y + _CELL / 2 + 4, text, size=11) if text else "")


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int,
    anchor: str = "middle",
    weight: str = "normal",
    opacity: float = 1.0,
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'font-weight="{weight}" fill-opacity="{opacity}">{escape(text)}</text>'
    )


def png(image: np.ndarray) -> bytes:
    """Encode an image as PNG: uint8, [rows, cols] in grey or [rows, cols, 3] in colour.

    >>> png(np.zeros((2, 3), "uint8"))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows, cols = image.shape[:2]
    colour = 2 if image.ndim == 3 else 0
    lines = b"".join(b"\0" + image[row].tobytes() for row in range(rows))  # filter 0 before each line
    header = struct.pack(">IIBBBBB", cols, rows, 8, colour, 0, 0, 0)
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


# ---------------------------------------------------------------------------------------------
# The picture of an explanation
# ---------------------------------------------------------------------------------------------


def cell_picture(explanation: Explanation) -> str:
    """Draw an explanation: what is read, what it is multiplied by, and where the sum goes."""
    call, cell, inverse = explanation.call, explanation.cell, explanation.inverse
    g, kind = call.geometry, call.kind
    taps = explanation.taps[:4000]
    first = cell if inverse else (taps[0].input_index if taps else (0, 0, 0, 0))
    second = second_cell(taps[0]) if taps else (0, 0, 0, 0)
    n, channel = first[0], first[3]
    taps = [tap for tap in taps if tap.input_index[0] == n]  # the planes drawn are those of one image
    read = {tap.input_index[1:3] for tap in taps if tap.input_index[3] == channel}
    met = {in_plane(kind.second, second_cell(tap)) for tap in taps if not tap.in_padding}
    written = {in_plane(kind.result, tap.output_index) for tap in taps if tap.output_index is not None}
    sizes = {role: (g.rows.size_of(role), g.cols.size_of(role)) for role in ROLES}
    focus, target = (cell[1:3], None) if inverse else (None, in_plane(kind.result, cell))
    reach = [(0, 0), (0, 0)] if kind.scatters else [_reach(g.rows), _reach(g.cols)]
    third = (
        cell if not inverse else next((tap.output_index for tap in taps if tap.output_index), (0, 0, 0, 0))
    )
    computed = g.macs <= _COMPUTED and 0 not in call.backend_shape
    result = dispatch.run_canonical(call, "numpy") if computed else np.empty(0)
    words, planes = (
        kind.words,
        (plane_of(call.first, kind.first, first), plane_of(call.second, kind.second, second)),
    )
    left = _plane(words[0], planes[0], sizes[kind.first], {focus} if focus else read, focus, None, reach)
    middle = _plane(words[1], planes[1], sizes[kind.second], met, None, None)
    plane = plane_of(result, kind.result, third)
    right = _plane(words[2], plane, sizes[kind.result], written, target, short(explanation.value))
    strides, dilations = g.strides, g.dilations
    caption = f"stride {strides[0]} x {strides[1]}, dilation {dilations[0]} x {dilations[1]}"
    if g.in_channels > 1 or g.out_channels > 1:
        caption += f"; one channel of each drawn (input channel {channel})"
    if not computed:
        caption += "; the other results of a call of this size are not computed"
    return panels_to_svg([left, middle, right], ["×", "→" if inverse else _equals(call)], caption)


def _equals(call: Call) -> str:
    """The sign before the result: what its sum has beside the planes drawn, in lines, and "="."""
    g, kind = call.geometry, call.kind
    if kind.sums_images:
        others, noun = g.batch, "more image"
    else:
        others, noun = (g.filters_shape[2] if kind.gathers else g.out_channels // g.groups), "more channel"
    parts = [f"+ {tables.count(others - 1, noun)}"] if others > 1 else []
    parts += [] if call.bias is None else ["+ bias"]
    return "\n".join([*parts, "="])


def in_plane(role: str, cell: tuple[int, ...]) -> tuple[int, ...]:
    """Return row and column of a cell of the array of one role."""
    first = LAYOUTS[role].index("H")
    return cell[first : first + 2]


def plane_of(array: np.ndarray, role: str, cell: tuple[int, ...]) -> np.ndarray | None:
    """Return the rows and columns that lie around a cell: its image and channel, or its two channels.

    An array without numbers, of which an empty sum is made, has no plane: None.
    """
    if not array.size:
        return None
    where = (slice(None) if letter in "HW" else at for letter, at in zip(LAYOUTS[role], cell, strict=True))
    return np.asarray(array[tuple(where)])


def second_cell(tap: Tap) -> tuple[int, ...]:
    """Return the cell of a tap's second factor: of the filters, or of out_backprop."""
    return tap.filter_index if tap.out_backprop_index is None else tap.out_backprop_index


def padding_picture(geometry: Conv2DGeometry, *, transposed: bool = False) -> str:
    """Draw where a convolution pads, as SVG text: the input with its padding, first and last window shaded.

    Of a transposed one, drawn from the forward ``geometry``: the full result, the part that is kept
    shaded; what is kept from beyond the full result is dashed, and zero. A large plane is drawn by its
    first and its last corner.
    """
    rows, cols = geometry.rows, geometry.cols
    if transposed:
        size = (max(0, rows.full_size), max(0, cols.full_size))
        reach = [(axis.pad_before, axis.pad_before + axis.in_size - 1) for axis in (rows, cols)]
        windows = [[range(first, last + 1) for first, last in reach]]
        title, (down, right) = "full result", (rows.pad_before, cols.pad_before)
        caption = f"shaded: what is kept, {rows.in_size} x {cols.in_size} from ({down}, {right})"
    else:
        size = (rows.in_size, cols.in_size)
        reach = [(-axis.pad_before, axis.in_size + axis.pad_after - 1) for axis in (rows, cols)]
        windows = [[_window(rows, 0), _window(cols, 0)]]
        windows += [[_window(rows, rows.out_size - 1), _window(cols, cols.out_size - 1)]]
        title, ((top, bottom), (left, right)) = "input", geometry.padding
        caption = f"padding: top {top}, bottom {bottom}, left {left}, right {right}; "
        caption += "shaded: the first and the last window"
    all_rows, all_cols = (
        range(min(0, first), max(length, last + 1)) for length, (first, last) in zip(size, reach, strict=True)
    )

    def panel(name: str, drawn_rows: range, drawn_cols: range) -> Panel:
        shaded = {
            (row, col)
            for row, col in product(drawn_rows, drawn_cols)
            if any(row in window[0] and col in window[1] for window in windows)
        }
        return Panel(f"{title} {size[0]} x {size[1]}{name}", None, size, drawn_rows, drawn_cols, shaded)

    if max(len(all_rows), len(all_cols)) <= _LIMIT:
        return panels_to_svg([panel("", all_rows, all_cols)], [], caption)
    half = _LIMIT // 2
    first_corner = panel(", first corner", all_rows[:half], all_cols[:half])
    last_corner = panel(", last corner", all_rows[-half:], all_cols[-half:])
    return panels_to_svg([first_corner, last_corner], ["…"], caption)


def _window(axis: AxisGeometry, out_index: int) -> range:
    """The indices that the taps of one output meet, a dilation left out between them."""
    first = axis.in_index(out_index, 0)
    return range(first, first + axis.effective_filter, axis.dilation)


def _plane(
    title: str,
    plane: np.ndarray | None,
    size: tuple[int, int],
    shaded: Iterable[Any],
    framed: Any,
    framed_text: str | None,
    reach: Sequence[tuple[int, int]] = ((0, 0), (0, 0)),
) -> Panel:
    """A panel that shows the whole plane, and its padding, where they are small, else what is marked."""
    shaded = set(shaded)
    skipped = {cell for cell in shaded if not all(0 <= i < n for i, n in zip(cell, size, strict=True))}
    marked = shaded | ({framed} if framed is not None else set())
    most = _LIMIT if plane is not None else _LIMIT // 2 + 1  # a plane without numbers needs less room
    marks = [[cell[axis] for cell in marked] for axis in (0, 1)]
    whole = [_whole(size[axis], marks[axis], *reach[axis]) for axis in (0, 1)]
    rows, cols = (_drawn(whole[axis], most, marks[axis]) for axis in (0, 1))
    title += f" {size[0]} x {size[1]}" + ("" if [rows, cols] == whole else " (part)")
    return Panel(title, plane, size, rows, cols, shaded - skipped, framed, framed_text, skipped)


def _reach(axis: AxisGeometry) -> tuple[int, int]:
    """The first and the last index that any tap touches: beyond the plane where there is padding."""
    return axis.in_index(0, 0), axis.in_index(0, 0) + axis.full_size - 1


def _whole(size: int, marked: list[int], first: int, last: int) -> range:
    """All indices of an axis, those of the padding included."""
    return range(min(0, first, *marked), max(size - 1, last, 0, *marked) + 1)


def _drawn(whole: range, most: int, marked: list[int]) -> range:
    """The indices to draw: all of them, or ``most`` of them around what is marked."""
    if len(whole) <= most:
        return whole
    start, stop = min(marked, default=whole.start), max(marked, default=whole.start)
    spare = max(0, most - (stop - start + 1))
    start = max(whole.start, min(start - spare // 2, whole.stop - most))
    return range(start, start + most)
