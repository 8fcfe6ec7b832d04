"""The part of a call that a page shows, and the cell that it begins with, by the tables of `taps`.

A tap is one position of the filter. The page itself makes the tables that it draws, with ``law.js``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from ..core import taps
from ..core.calls import Call
from ..core.kinds import Kind
from ..core.law import AxisGeometry
from ..core.slabs import slab
from ..windows.walking import whole

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
        ins: depth, rows and columns of the forward input.
        in_channels: its channels.
        outs: depth, rows and columns of the forward output.
        out_channels: its channels.
    """

    images: range
    ins: tuple[range, ...]
    in_channels: range
    outs: tuple[range, ...]
    out_channels: range


def lifted(call: Call) -> Call:
    """Return a call over depth, rows and columns, as a page draws it: an axis that it lacks has one index."""
    kind, g = call.kind, call.geometry
    axes = (*(whole(1),) * (3 - g.rank), *g.axes)
    arrays = lift(call.first, kind.first), lift(call.second, kind.second)
    return replace(call, first=arrays[0], second=arrays[1], geometry=replace(g, axes=axes, data_format=""))


def lift(array: np.ndarray, role: str) -> np.ndarray:
    """Return an array of a role, with channels last, with the axes that a page draws."""
    return array.reshape(lift_cell(array.shape, role, 1))


def lift_cell(cell: Sequence[int], role: str, index: int = 0) -> tuple[int, ...]:
    """Return a cell with ``index`` on the axes that only a page draws."""
    at = 0 if role == "filters" else 1
    return (*cell[:at], *(index,) * (5 - len(cell)), *cell[at:])


def part_of(call: Call, at: Sequence[int]) -> Part:
    """Return the part of a call that is shown: all of it if it fits, else the surroundings of one cell.

    As far as they fit, all taps of the result's cells are shown too; a page says which taps it leaves out.

    Args:
        call: the call, `lifted`.
        at: a cell of the result.

    Returns:
        A `Part`.
    """
    g = call.geometry
    n, *places, channel = (0, *at[:3], at[4]) if call.kind.sums_images else at
    for side in _SIDES:
        shown = [_axis_part(axis, call.kind, place, side) for axis, place in zip(g.axes, places, strict=True)]
        axes_in, axes_out = zip(*shown, strict=True)
        for few in _halvings(max(g.in_channels, g.out_channels)):
            ins, outs = _channel_part(call, channel, few)
            in_values = prod(map(len, axes_in)) * len(ins)
            out_values = prod(map(len, axes_out)) * len(outs)
            filter_values = prod(g.filters_shape[:3]) * len(outs) * min(len(ins), _depth(call))
            if max(in_values, out_values, filter_values) <= _VALUES:
                break
        else:
            continue
        break
    images = min(g.batch, _IMAGES, max(1, _VALUES // max(1, in_values, out_values)))
    return Part(_around(n, images, g.batch), axes_in, ins, axes_out, outs)


def part_call(call: Call, part: Part) -> tuple[Call, tuple[slice, ...]]:
    """Return the call that computes only the part of the result that is shown, with all its terms.

    Args:
        call: the call, `lifted`; one with groups, or a filter gradient, is returned whole.
        part: the part of it that a page shows.

    Returns:
        The call, and the slices of the whole result that it computes.
    """
    g = call.geometry
    if call.kind.sums_images or g.groups > 1:
        return call, (slice(None),) * 5
    transposed = call.kind.scatters
    ranges = [(indices.start, indices.stop) for indices in (part.ins if transposed else part.outs)]
    geometry, read = slab(g, call.kind.result, len(part.images), ranges)
    channels = part.in_channels if transposed else part.out_channels
    images = slice(part.images.start, part.images.stop)
    kept = slice(channels.start, channels.stop)
    first = call.first[(images, *(slice(*each) for each in read))]
    second = call.second[..., kept, :] if transposed else call.second[..., kept]
    if transposed:
        geometry = replace(geometry, in_channels=len(channels))
    else:
        geometry = replace(geometry, out_channels=len(channels))
    bias = None if call.bias is None else call.bias[kept]
    smaller = replace(call, first=first, second=second, geometry=geometry, bias=bias)
    return smaller, (images, *(slice(*each) for each in ranges), kept)


def _depth(call: Call) -> int:
    """Return the number of input channels of a group, at least 1."""
    return max(1, call.geometry.filters_shape[-2])


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
        outs = _around(group * (g.out_channels // max(1, g.groups)), _CHANNELS, g.out_channels)
    else:
        outs = _around(channel, few, g.out_channels)
        group = channel // max(1, g.out_channels // max(1, g.groups))
        ins = _around(group * _depth(call), _CHANNELS, g.in_channels)
    return ins, outs


def _axis_part(axis: AxisGeometry, kind: Kind, at: int, side: int) -> tuple[range, range]:
    """Return the input and output indices of one axis that are shown, at most about ``side`` of them."""
    if max(axis.in_size, axis.out_size) <= side:
        return range(axis.in_size), range(axis.out_size)
    transposed = kind.scatters
    if kind.sums_images:
        at = axis.out_size // 2  # the cell is one of the filter's, which every output uses
    result_size, source_size = axis.out_size, axis.in_size
    if transposed:
        result_size, source_size = source_size, result_size
    look, look_back = (_scattered, _gathered) if transposed else (_gathered, _scattered)
    at = min(at, result_size - 1)
    met = look(axis, at) or [min(at, source_size - 1)]
    length = max(1, side // axis.stride) if transposed else side
    source = _around(met[len(met) // 2], length, source_size)
    near = {i for j in source for i in look_back(axis, j)}
    whole = [i for i in near if all(j in source for j in look(axis, i))]
    result = range(min(whole), max(whole) + 1) if whole else range(at, at + 1)
    if len(result) > side:
        result = _around(at - result.start, side, len(result), result.start)
    return (result, source) if transposed else (source, result)


def _gathered(axis: AxisGeometry, index: int) -> list[int]:
    """The input indices with values that one output index is computed from."""
    return [t.in_index for t in taps.gather_all(axis, index) if not t.in_padding]


def _scattered(axis: AxisGeometry, index: int) -> list[int]:
    """The output indices that one input index is added to."""
    return [t.out_index for t in taps.scatter_all(axis, index) if not t.in_padding]


def _around(centre: int, length: int, size: int, start: int = 0) -> range:
    """Return a range of ``length`` indices out of ``size`` around ``centre``, shifted at the borders."""
    length = min(length, size)
    first = max(0, min(centre - length // 2, size - length))
    return range(start + first, start + first + length)


def same_place(axis: AxisGeometry, other: AxisGeometry, kind: Kind, index: int) -> int:
    """Return the index of another call's result whose window is where the window of one of this call's is.

    Args:
        axis: the geometry of one axis.
        other: that of the other call, whose source is the same.
        kind: the kind of both, not a filter gradient.
        index: an index of the result.

    Returns:
        The index; where no window of the other call reads that place, that of a place before.
    """
    look, look_back = (_scattered, _gathered) if kind.scatters else (_gathered, _scattered)
    met = look(axis, index) or [index]
    size = other.out_size if kind.scatters else other.in_size
    for place in range(min(met[len(met) // 2], size - 1), -1, -1):
        if found := look_back(other, place):
            return found[len(found) // 2]
    return 0


def teaching(axis: AxisGeometry, kind: Kind) -> int:
    """Return the index of the result to begin with: an inner one, or the middle of an image.

    Args:
        axis: the geometry of one axis.
        kind: the kind of call, not a filter gradient.

    Returns:
        The middle if the axis is too long to be shown whole; else the first index of those with the most taps
        inside the array.
    """
    size, look = (axis.in_size, taps.scatter_all) if kind.scatters else (axis.out_size, taps.gather_all)
    if max(axis.in_size, axis.out_size) > _SIDES[0]:
        return size // 2
    return max(range(size), key=lambda index: sum(not tap.in_padding for tap in look(axis, index)))
