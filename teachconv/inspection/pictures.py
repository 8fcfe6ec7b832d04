"""Static pictures as SVG text: one cell explained, where a convolution pads, and images as PNG."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.geometry import Conv2DGeometry
from ..core.kinds import ROLES, layout_of
from ..core.law import AxisGeometry
from ..running import dispatch
from ..support import tables
from .panels import SAMPLE, Panel, largest_of, panels_to_svg, short

if TYPE_CHECKING:
    from ..core.calls import Call
    from .explaining import Explanation, Tap

_LIMIT = 12  # cells of a plane that are drawn in each direction
_COMPUTED = 10**7  # multiply-adds of a call whose other results are computed for its picture


def png(image: np.ndarray) -> bytes:
    """Encode an image as PNG: uint8, [rows, cols] in grey or [rows, cols, 3] in colour.

    >>> png(np.zeros((2, 3), "uint8"))[:8]
    b'\\x89PNG\\r\\n\\x1a\\n'
    """

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    rows, cols = image.shape[:2]
    colour = 2 if image.ndim == 3 else 0
    steps = image.copy()
    # filter 1: each pixel is what it adds to the one before, which packs better
    steps[:, 1:] -= image[:, :-1]
    lines = b"".join(b"\1" + line.tobytes() for line in steps)
    header = struct.pack(">IIBBBBB", cols, rows, 8, colour, 0, 0, 0)
    signature = b"\x89PNG\r\n\x1a\n"
    return signature + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


# ---------------------------------------------------------------------------------------------
# The picture of an explanation
# ---------------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def cell_picture(explanation: Explanation) -> str:
    """Draw an explanation: what is read, what it is multiplied by, and where the sum goes."""
    call, cell, inverse = explanation.call, explanation.cell, explanation.inverse
    g, kind = call.geometry, call.kind
    taps = explanation.taps[:4000]
    nothing = (0,) * (g.rank + 2)
    inside = next((tap for tap in taps if not tap.in_padding), taps[0] if taps else None)
    first = cell if inverse else inside.input_index if inside else nothing
    second = second_cell(inside) if inside else nothing
    third = cell if not inverse else next((tap.output_index for tap in taps if tap.output_index), nothing)
    # the planes drawn are those of one image, and of one depth
    before, channel = max(1, g.rank - 1), first[-1]
    taps = [tap for tap in taps if tap.input_index[:before] == first[:before]]
    read = {in_plane(kind.first, tap.input_index) for tap in taps if tap.input_index[-1] == channel}
    met = {in_plane(kind.second, second_cell(tap)) for tap in taps if not tap.in_padding}
    written = {in_plane(kind.result, tap.output_index) for tap in taps if tap.output_index is not None}
    axes = (AxisGeometry(1, 1, 1, 1, 1, 0, 0), *g.axes)[-2:]  # a sequence is drawn as one row
    sizes = {role: (axes[0].size_of(role), axes[1].size_of(role)) for role in ROLES}
    focus, target = (in_plane(kind.first, cell), None) if inverse else (None, in_plane(kind.result, cell))
    reach = [(0, 0), (0, 0)] if kind.scatters else [_reach(axis) for axis in axes]
    computed = g.macs <= _COMPUTED and 0 not in call.backend_shape
    result = dispatch.run_canonical(call, "numpy") if computed else np.empty(0)
    words, planes = (
        kind.words,
        (plane_of(call.first, kind.first, first), plane_of(call.second, kind.second, second)),
    )
    left = _plane(words[0], planes[0], sizes[kind.first], set() if inverse else read, focus, reach)
    middle = _plane(words[1], planes[1], sizes[kind.second], met)
    plane = plane_of(result, kind.result, third)
    right = _plane(words[2], plane, sizes[kind.result], written if inverse else set(), target)
    right.framed_text, middle.ring, right.ring = short(explanation.value), "factor", "fed"
    for panel, array in zip((left, middle, right), (call.first, call.second, result), strict=True):
        panel.largest = largest_of(array)
    strides, dilations = g.strides, g.dilations
    caption = f"stride {' x '.join(map(str, strides))}, dilation {' x '.join(map(str, dilations))}"
    caption += "; one plane of each drawn" if g.rank == 3 else ""
    if g.in_channels > 1 or g.out_channels > 1:
        caption += f"; one channel of each drawn (input channel {channel})"
    if not computed:
        caption += "; the other results of a call of this size are not computed"
    if max(array.size for array in (call.first, call.second, result)) > SAMPLE:
        caption += f"; colours by the largest of {SAMPLE:,} cells of an array, chosen at random"
    return panels_to_svg([left, middle, right], ["×", "→" if inverse else equals_sign(call)], caption)


def equals_sign(call: Call) -> str:
    """Return the sign before the result: what its sum has beside the planes drawn, in lines, and "="."""
    g, kind = call.geometry, call.kind
    if kind.sums_images:
        others, noun = g.batch, "more image"
    else:
        others, noun = (g.filters_shape[-2] if kind.gathers else g.out_channels // g.groups), "more channel"
    parts = [f"+ {tables.count(others - 1, noun)}"] if others > 1 else []
    parts += [] if call.bias is None else ["+ bias"]
    return "\n".join([*parts, "="])


def in_plane(role: str, cell: tuple[int, ...]) -> tuple[int, ...]:
    """Return row and column of a cell of the array of one role; the row of a sequence is 0."""
    return (0, *(cell[:-2] if role == "filters" else cell[1:-1]))[-2:]


def plane_of(array: np.ndarray, role: str, cell: tuple[int, ...]) -> np.ndarray | None:
    """Return the rows and columns that lie around a cell: its image and channel, or its two channels.

    An array without numbers, of which an empty sum is made, has no plane: None.
    """
    if not array.size:
        return None
    letters = layout_of(role, array.ndim - 2)
    where = (slice(None) if letter in "HW" else at for letter, at in zip(letters, cell, strict=True))
    return np.atleast_2d(array[tuple(where)])


def second_cell(tap: Tap) -> tuple[int, ...]:
    """Return the cell of a tap's second factor: of the filters, or of out_backprop."""
    return tap.filter_index if tap.out_backprop_index is None else tap.out_backprop_index


def padding_picture(geometry: Conv2DGeometry, *, transposed: bool = False) -> str:
    """Draw where a convolution pads, as SVG text: the input with its padding, first and last window ringed.

    Of a transposed one, drawn from the forward ``geometry``: the full result, crossed where it is cropped;
    what is kept from beyond the full result is dashed, and zero. A large plane is drawn by its first and its
    last corner.
    """
    rows, cols = geometry.rows, geometry.cols
    if transposed:
        size = (max(0, rows.full_size), max(0, cols.full_size))
        reach = [(axis.pad_before, axis.pad_before + axis.in_size - 1) for axis in (rows, cols)]
        windows = [[range(first, last + 1) for first, last in reach]]
        title, (down, right) = "full result", (rows.pad_before, cols.pad_before)
        caption = f"kept: {rows.in_size} x {cols.in_size} from ({down}, {right})"
    else:
        size = (rows.in_size, cols.in_size)
        reach = [(-axis.pad_before, axis.in_size + axis.pad_after - 1) for axis in (rows, cols)]
        windows = [[_window(rows, 0), _window(cols, 0)]]
        windows += [[_window(rows, rows.out_size - 1), _window(cols, cols.out_size - 1)]]
        title, ((top, bottom), (left, right)) = "input", geometry.padding
        caption = f"padding: top {top}, bottom {bottom}, left {left}, right {right}; "
        caption += "ringed: the first and the last window"
    all_rows, all_cols = (
        range(min(0, first), max(length, last + 1)) for length, (first, last) in zip(size, reach, strict=True)
    )

    def panel(name: str, drawn_rows: range, drawn_cols: range) -> Panel:
        cells = set(product(drawn_rows, drawn_cols))
        met = {
            cell for cell in cells if any(cell[0] in down and cell[1] in across for down, across in windows)
        }
        marks: Any = {"cropped": cells - met} if transposed else {"window": met}
        return Panel(f"{title} {size[0]} x {size[1]}{name}", None, size, drawn_rows, drawn_cols, **marks)

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
    window: Iterable[Any],
    framed: Any = None,
    reach: Sequence[tuple[int, int]] = ((0, 0), (0, 0)),
) -> Panel:
    """A panel that shows the whole plane, and its padding, where they are small, else what is marked."""
    window = set(window)
    marked = window | ({framed} if framed is not None else set())
    most = _LIMIT if plane is not None else _LIMIT // 2 + 1  # a plane without numbers needs less room
    marks = [[cell[axis] for cell in marked] for axis in (0, 1)]
    whole = [_whole(size[axis], marks[axis], *reach[axis]) for axis in (0, 1)]
    rows, cols = (_drawn(whole[axis], most, marks[axis]) for axis in (0, 1))
    title += f" {size[0]} x {size[1]}" + ("" if [rows, cols] == whole else " (part)")
    return Panel(title, plane, size, rows, cols, window, framed=framed)


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
