"""Static pictures of a convolution: one cell explained, where it pads, and the columns of a geometry."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..core import taps as tap_tables
from ..core.geometry import Conv2DGeometry, Conv2DTransposeGeometry
from ..core.kinds import ROLES, layout_of
from ..core.law import AxisGeometry
from ..running import dispatch
from ..support import tables
from .panels import SAMPLE, Panel, largest_of, panels_to_svg, short
from .receptive import scattered
from .svg import Picture, element, picture, text

if TYPE_CHECKING:
    from ..core.calls import Call
    from .explaining import Explanation, Tap

Geometry: TypeAlias = Conv2DGeometry | Conv2DTransposeGeometry

PART = " (part)"  # what the title of a panel says that does not show the whole plane
_LIMIT = 12  # cells of a plane that are drawn in each direction
_COMPUTED = 10**7  # multiply-adds of a call whose other results are computed for its picture


# ---------------------------------------------------------------------------------------------
# The picture of an explanation
# ---------------------------------------------------------------------------------------------


@np.errstate(all="ignore")
def cell_picture(explanation: Explanation) -> Picture:
    """Draw an explanation: what is read, what it is multiplied by, and where the sum goes."""
    found = explanation.canonical or explanation
    call, g = found.call, found.call.geometry
    computed = g.macs <= _COMPUTED and 0 not in call.backend_shape
    result = dispatch.run_canonical(call, "numpy") if computed else np.empty(0)
    panels = call_panels(found, result)
    name = call.kind.words[0 if found.inverse else 2].split()[0]
    caption = f"{name}{list(explanation.cell)} = {short(found.value)}; "
    caption += steps_of(call)
    caption += "; one plane of each drawn" if g.rank == 3 else ""
    if g.in_channels > 1 or g.out_channels > 1:
        caption += f"; one channel of each drawn (input channel {_cells(found)[0][-1]})"
    if not computed:
        caption += "; the other results of a call of this size are not computed"
    if max(array.size for array in (call.first, call.second, result)) > SAMPLE:
        caption += f"; colours by the largest of {SAMPLE:,} cells of an array, chosen at random"
    sign = "→" if found.inverse else equals_sign(call)
    return Picture(panels_to_svg(panels, ["×", sign], caption), caption)


def call_panels(found: Explanation, result: np.ndarray, most: int = _LIMIT) -> list[Panel]:
    """Return the three panels of an explained cell, with its window.

    Args:
        found: the explanation, in canonical order.
        result: the call's result, of which a plane is drawn; without cells only the explained one.
        most: the rows and columns that are drawn; larger planes are cut to the surroundings of the window.

    Returns:
        What is read, what it is multiplied by, and where the sum goes.
    """
    call, cell, inverse = found.call, found.cell, found.inverse
    g, kind = call.geometry, call.kind
    first, second, third = _cells(found)
    # the planes drawn are those of one image, and of one depth
    before, channel = max(1, g.rank - 1), first[-1]
    taps = [tap for tap in found.taps[:4000] if tap.input_index[:before] == first[:before]]
    read = {in_plane(kind.first, tap.input_index) for tap in taps if tap.input_index[-1] == channel}
    met = {in_plane(kind.second, second_cell(tap)) for tap in taps if not tap.in_padding}
    written = {in_plane(kind.result, tap.output_index) for tap in taps if tap.output_index is not None}
    axes = (AxisGeometry(1, 1, 1, 1, 1, 0, 0), *g.axes)[-2:]  # a sequence is drawn as one row
    sizes = {role: (axes[0].size_of(role), axes[1].size_of(role)) for role in ROLES}
    focus, target = (in_plane(kind.first, cell), None) if inverse else (None, in_plane(kind.result, cell))
    reach = [_reach(axis, kind.scatters) for axis in axes]
    planes = (
        plane_of(call.first, kind.first, first),
        plane_of(call.second, kind.second, second),
        plane_of(result, kind.result, third),
    )
    words = kind.words
    left = _plane(words[0], planes[0], sizes[kind.first], set() if inverse else read, most, focus, reach)
    middle = _plane(words[1], planes[1], sizes[kind.second], met, most)
    fed = written if inverse else set()
    right = _plane(words[2], planes[2], sizes[kind.result], fed, most, target)
    right.framed_text, middle.ring, right.ring = short(found.value), "factor", "fed"
    panels = [left, middle, right]
    for panel, array in zip(panels, (call.first, call.second, result), strict=True):
        panel.largest = largest_of(array)
    return panels


def _cells(found: Explanation) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Return a cell of what is read, of its factor, and of the result: the planes around them are drawn."""
    taps, nothing = found.taps[:4000], (0,) * (found.call.geometry.rank + 2)
    inside = next((tap for tap in taps if not tap.in_padding), taps[0] if taps else None)
    second = second_cell(inside) if inside else nothing
    if found.inverse:
        return found.cell, second, next((tap.output_index for tap in taps if tap.output_index), nothing)
    return inside.input_index if inside else nothing, second, found.cell


def steps_of(call: Call) -> str:
    """Return strides and dilations of a call as text."""
    strides, dilations = (
        " x ".join(map(str, steps)) for steps in (call.geometry.strides, call.geometry.dilations)
    )
    return f"stride {strides}, dilation {dilations}"


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
    """Draw where a convolution pads: the input with its padding, first and last window ringed.

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
    most: int,
    framed: Any = None,
    reach: Sequence[tuple[int, int]] = ((0, 0), (0, 0)),
) -> Panel:
    """A panel that shows the whole plane, and its padding, where they are small, else what is marked."""
    window = set(window)
    marked = window | ({framed} if framed is not None else set())
    if plane is None:  # one without numbers needs less room
        most = most // 2 + 1
    marks = [[cell[axis] for cell in marked] for axis in (0, 1)]
    whole = [_whole(size[axis], marks[axis], *reach[axis]) for axis in (0, 1)]
    rows, cols = (_drawn(whole[axis], most, marks[axis]) for axis in (0, 1))
    title += f" {size[0]} x {size[1]}" + ("" if [rows, cols] == whole else PART)
    return Panel(title, plane, size, rows, cols, window, framed=framed)


def _reach(axis: AxisGeometry, scatters: bool = False) -> tuple[int, int]:
    """The first and the last index that any tap touches: beyond the plane where there is padding."""
    if scatters:
        indices = scattered(axis, range(axis.in_size))
        return indices.start, indices.stop - 1
    first = axis.in_index(0, 0)
    return first, first + axis.full_size - 1


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


# ---------------------------------------------------------------------------------------------
# The columns of a geometry
# ---------------------------------------------------------------------------------------------

_STEP, _BOX = 36, 32  # pixels from one column to the next, and of its box
_NAMES = 66  # pixels before the first column
_DOWN = 110  # pixels from the upper row to the lower one
_LINE = 15  # pixels of a line of formulas


def columns_picture(geometries: Sequence[Geometry], *, formulas: bool = True) -> Picture:
    """Draw the columns of each geometry, one below the other, with its formulas unless those are left out."""
    body, titles, width, y = "", [], 0.0, 0.0
    for g in geometries:
        axis = g.cols
        names, sizes = ("input", "output"), (axis.in_size, axis.out_size)
        if isinstance(g, Conv2DTransposeGeometry):
            names, sizes = names[::-1], sizes[::-1]
        title = (
            f"{g._name}, columns: {sizes[0]} to {sizes[1]}, stride {axis.stride}, dilation {axis.dilation}"
        )
        body += text(12, y + 24, title, size=12, text_anchor="start", font_weight="bold")
        body += _columns(axis, names, y + 40)
        y += 40 + _DOWN + _BOX + 24
        lines = axis.formulas if formulas else ()
        for line in lines:
            spaced = line.replace(" ", "\N{NO-BREAK SPACE}")  # the formulas are aligned in columns
            body += text(12, y, spaced, text_anchor="start", font_family="monospace")
            y += _LINE
        titles.append(title)
        texts = [7.5 * len(title), *(6.8 * len(line) for line in lines)]
        width = max(width, _NAMES + _STEP * len(columns_of(axis)), *texts)
    caption = "; ".join(titles)
    return Picture(picture(width + 24, y, caption, body), caption)


def columns_of(axis: AxisGeometry) -> range:
    """Return the columns of the input, and those of the padding that any tap touches."""
    first, last = _reach(axis) if axis.out_size else (0, 0)
    return range(min(0, first), max(axis.in_size - 1, last) + 1)


def _columns(axis: AxisGeometry, names: tuple[str, str], top: float) -> str:
    """Return two rows of boxes, that of the input above, and a line from each output to each of its taps."""
    columns, bottom = columns_of(axis), top + _DOWN
    start = _NAMES + _STEP / 2 - _STEP * columns.start  # the middle of the input's column 0
    shift = (axis.in_size - axis.out_size) / 2
    body = ""
    for name, y in zip(names, (top, bottom), strict=True):
        body += text(_NAMES - 12, y + _BOX / 2 + 4, name, size=12, text_anchor="end")
    for index in columns:
        body += _column(index, start + _STEP * index, top, padding=not 0 <= index < axis.in_size)
    for out in range(axis.out_size):
        x = start + _STEP * (out + shift)
        body += _column(out, x, bottom)
        for tap in tap_tables.gather_all(axis, out):
            ends: Any = {"x1": x, "y1": bottom, "x2": start + _STEP * tap.in_index, "y2": top + _BOX}
            dash = "4 3" if tap.in_padding else ""
            body += element(
                "line", **ends, fill="none", stroke="ring", stroke_width=1.2, stroke_dasharray=dash
            )
    return body


def _column(index: int, x: float, y: float, *, padding: bool = False) -> str:
    """Return a box with its index."""
    colour, dash = ("faint", "3 3") if padding else ("ink", "")
    looks = {"fill": "none", "stroke": colour, "stroke_dasharray": dash}
    box = element("rect", x=x - _BOX / 2, y=y, width=_BOX, height=_BOX, **looks)
    return box + text(x, y + _BOX / 2 + 4, str(index), fill=colour)
