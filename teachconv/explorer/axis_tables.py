"""The tables that the picture is drawn from: the taps of each axis, and the kind of each cell.

A tap is one position of the filter. The page derives no indices itself: it contains the tables of `taps`,
limited to the part that is shown. The zero-inserted axis of a transposed convolution follows from the same
taps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import taps
from ..dispatch import Call
from ..geometry import AxisGeometry
from ..kinds import Kind

__all__ = ["Part", "axis_table", "part_of"]

_VALUES = 20_000  # the most numbers of one array on a page
_SIDES = (40, 24, 16, 10, 6, 3, 1)  # rows and columns of a plane: the first number that fits is used
_CHANNELS = 512
_IMAGES = 8


# ---------------------------------------------------------------------------------------------
# Which part of a large call is shown
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Part:
    """The part of a call that a page shows: ranges of indices of the whole arrays.

    Attributes:
        images: the images.
        in_rows: rows of the forward input.
        in_cols: its columns.
        in_channels: its channels.
        out_rows: rows of the forward output.
        out_cols: its columns.
        out_channels: its channels.
    """

    images: range
    in_rows: range
    in_cols: range
    in_channels: range
    out_rows: range
    out_cols: range
    out_channels: range


def part_of(call: Call, at: tuple[int, int, int, int]) -> Part:
    """Return the part of a call that is shown: all of it if it fits, else the surroundings of one cell.

    As far as they fit, all taps of the result's cells are shown too; a page says which taps it leaves out.

    Args:
        call: the call.
        at: a cell of the result.

    Returns:
        A `Part`.
    """
    g = call.geometry
    n, row, col, channel = (0, *at[:2], at[3]) if call.kind.sums_images else at
    for side in _SIDES:
        ins_r, outs_r = _axis_part(g.rows, call.kind, row, side)
        ins_c, outs_c = _axis_part(g.cols, call.kind, col, side)
        for few in _halvings(max(g.in_channels, g.out_channels)):
            ins, outs = _channel_part(call, channel, few)
            in_values = len(ins_r) * len(ins_c) * len(ins)
            out_values = len(outs_r) * len(outs_c) * len(outs)
            filter_values = g.rows.filter_size * g.cols.filter_size * len(outs) * min(len(ins), _depth(call))
            if max(in_values, out_values, filter_values) <= _VALUES:
                break
        else:
            continue
        break
    images = min(g.batch, _IMAGES, max(1, _VALUES // max(1, in_values, out_values)))
    return Part(_around(n, images, g.batch), ins_r, ins_c, ins, outs_r, outs_c, outs)


def _depth(call: Call) -> int:
    """Return the number of input channels of a group, at least 1."""
    return max(1, call.geometry.filters_shape[2])


def _halvings(most: int) -> list[int]:
    """Return the numbers of result channels to try: all of them, half of them, and so on down to four."""
    tries = [min(most, _CHANNELS)]
    while tries[-1] > 4:
        tries.append(max(4, tries[-1] // 2))
    return tries


def _channel_part(call: Call, channel: int, few: int) -> tuple[range, range]:
    """Return all channels that are summed over, and ``few`` of the result's channels."""
    g = call.geometry
    if call.kind.scatters:
        ins = _around(channel, few, g.in_channels)
        group = channel // _depth(call)
        outs = _around(group * (g.out_channels // g.groups), _CHANNELS, g.out_channels)
    else:
        outs = _around(channel, few, g.out_channels)
        group = channel // max(1, g.out_channels // g.groups)
        ins = _around(group * _depth(call), _CHANNELS, g.in_channels)
    return ins, outs


def _axis_part(axis: AxisGeometry, kind: Kind, at: int, side: int) -> tuple[range, range]:
    """Return the input and output indices of one axis that are shown, at most about ``side`` of them."""
    if max(axis.in_size, axis.out_size) <= side:
        return range(axis.in_size), range(axis.out_size)
    transposed = kind.scatters
    table = taps.scatter(axis) if transposed else taps.gather(axis)
    if kind.sums_images:
        at = axis.out_size // 2  # the cell is one of the filter's, which every output uses
    at = min(at, len(table) - 1)
    source_size = axis.out_size if transposed else axis.in_size
    met = table[at].indices or (min(at, source_size - 1),)
    length = max(1, side // axis.stride) if transposed else side
    source = _around(met[len(met) // 2], length, source_size)
    whole = [i for i, reach in enumerate(table) if reach.indices and all(j in source for j in reach.indices)]
    result = range(whole[0], whole[-1] + 1) if whole else range(at, at + 1)
    if len(result) > side:
        result = _around(at - result.start, side, len(result), result.start)
    return (result, source) if transposed else (source, result)


def _around(centre: int, length: int, size: int, start: int = 0) -> range:
    """Return a range of ``length`` indices out of ``size`` around ``centre``, shifted at the borders."""
    length = min(length, size)
    first = max(0, min(centre - length // 2, size - length))
    return range(start + first, start + first + length)


# ---------------------------------------------------------------------------------------------
# One axis
# ---------------------------------------------------------------------------------------------


def axis_table(axis: AxisGeometry, kind: Kind, ins: range, outs: range) -> dict[str, Any]:
    """Return the tables of one axis for the page.

    Args:
        axis: the geometry of the axis.
        kind: the kind of call.
        ins: the input indices whose values are on the page.
        outs: the output indices whose values are on the page.

    Returns:
        A dict. ``gather`` and ``scatter`` list the taps of each index as [tap, other index, whether that is
        outside]. ``in`` and ``out`` are the indices to draw, each with its kind: "" (a value), "padding",
        "crop" (cropped by negative padding), "unread" (read by no tap) or "outside" (before the first output
        or after the last). A transposed op also has ``inserted``, its input with stride - 1 zeros after each
        index, and ``windows``, the places of ``inserted`` that each result index reads with the flipped
        filter.
    """
    gather = {o: [[t.tap, t.in_index, int(t.in_padding)] for t in taps.gather_all(axis, o)] for o in outs}
    scatter = {i: [[t.tap, t.out_index, int(t.in_padding)] for t in taps.scatter_all(axis, i)] for i in ins}
    table: dict[str, Any] = {
        "in_size": axis.in_size,
        "out_size": axis.out_size,
        "filter_size": axis.filter_size,
        "stride": axis.stride,
        "dilation": axis.dilation,
        "pad": [axis.pad_before, axis.pad_after],
        "gather": gather,
        "scatter": scatter,
        "in": _drawn_in(axis, ins, outs),
        "out": [[o, ""] for o in outs],
        "formulas": list(axis.formulas),
    }
    if kind.scatters:
        reached = {t[1] for row in scatter.values() for t in row if t[2]}
        before, after = sorted(o for o in reached if o < 0), sorted(o for o in reached if o >= axis.out_size)
        table["out"] = [[o, "outside"] for o in before] + table["out"] + [[o, "outside"] for o in after]
        table |= _zero_insertion(axis, ins)
    return table


def _drawn_in(axis: AxisGeometry, ins: range, outs: range) -> list[list[Any]]:
    """Return the input indices to draw, those with values and the padding beside them, with their kinds."""
    low, high = ins.start, ins.stop - 1
    reach = [axis.in_index(o, tap) for o in outs for tap in (0, axis.filter_size - 1)]
    if ins.start == 0:
        low = min(0, *reach, max(-axis.pad_before, -len(ins) - axis.filter_size))
    if ins.stop == axis.in_size:
        end = axis.in_size - 1
        high = max(end, *reach, min(end + axis.pad_after, end + len(ins) + axis.filter_size))
    read = taps.scatter(axis)

    def what(index: int) -> str:
        if not 0 <= index < axis.in_size:
            return "padding"
        if not -axis.pad_before <= index < axis.in_size + axis.pad_after:
            return "crop"
        return "" if read[index].taps else "unread"

    return [[index, what(index)] for index in range(low, high + 1)]


def _zero_insertion(axis: AxisGeometry, ins: range) -> dict[str, Any]:
    """Return the transposed convolution as an ordinary one: zeros inserted, filter flipped, stride 1.

    Places of the zero-inserted axis are numbered from the first place that the first result index reads, so
    that tap t of result index y reads the place y + (effective filter - 1) - t * dilation. If
    `taps.scatter_all` has this tap, an input index is there; otherwise an inserted zero (None).
    """
    inserted: dict[int, Any] = {}
    windows: dict[int, list[list[int]]] = {}
    for y in ins:
        found = {t.tap: t for t in taps.scatter_all(axis, y)}
        windows[y] = []
        for tap in reversed(range(axis.filter_size)):
            place = y + axis.effective_filter - 1 - tap * axis.dilation
            windows[y].append([place, tap])
            meets = found.get(tap)
            inserted[place] = None if meets is None else [meets.out_index, int(meets.in_padding)]
    low, high = min(inserted, default=0), max(inserted, default=-1)
    return {
        "inserted": [[place, inserted.get(place)] for place in range(low, high + 1)],
        "windows": windows,
    }
