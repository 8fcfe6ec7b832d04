"""Tables of the index law: every (output index, tap, input index) of a geometry, in order.

A tap is one position of the filter on one axis. The reference's algorithm ``direct`` and the sparse matrix
are built from `gather` and `scatter`, which leave the padding out. `explain` lists every tap, by `gather_all`
and `scatter_all`. Tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..support.memory import check_bytes
from .geometry import ConvGeometry
from .kinds import Cell
from .law import AxisGeometry


@dataclass(frozen=True, slots=True)
class AxisTap:
    """One triple of the index law on one axis.

    Attributes:
        out_index: the index of the output.
        tap: the position of the filter.
        in_index: the index of the input.
        in_padding: whether the index on the other side lies outside the array, so that the tap is skipped.
    """

    out_index: int
    tap: int
    in_index: int
    in_padding: bool


def gather_all(axis: AxisGeometry, out_index: int) -> list[AxisTap]:
    """Return every tap of one output index, those in the padding included.

    Args:
        axis: the geometry of one axis.
        out_index: an index of the output.

    Returns:
        One `AxisTap` for each tap, in order.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> rows = conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows
    >>> [(t.tap, t.in_index, t.in_padding) for t in gather_all(rows, 0)]
    [(0, -1, True), (1, 0, False), (2, 1, False)]
    """
    return [_axis_tap(axis, out_index, tap) for tap in range(axis.filter_size)]


def scatter_all(axis: AxisGeometry, in_index: int) -> list[AxisTap]:
    """Return every tap through which an output reads one input index: the index law, inverted.

    Args:
        axis: the geometry of one axis.
        in_index: an index of the input.

    Returns:
        `AxisTap` objects, in order of the taps. A tap that would belong to an index between two outputs (a
        gap of the stride) is left out; one that would belong to an index before the first output or after
        the last is marked ``in_padding``.

    >>> from teachconv.core.geometry import conv2d_transpose_geometry
    >>> rows = conv2d_transpose_geometry((1, 3, 3, 1), (3, 3, 1, 1), strides=2).rows
    >>> [(t.tap, t.out_index, t.in_padding) for t in scatter_all(rows, 0)]
    [(0, 0, False), (2, -1, True)]
    """
    taps = []
    for tap in range(axis.filter_size):
        out_index, gap = divmod(in_index - axis.in_index(0, tap), axis.stride)
        if gap == 0:
            taps.append(AxisTap(out_index, tap, in_index, not 0 <= out_index < axis.out_size))
    return taps


def sum_all(axis: AxisGeometry, tap: int) -> list[AxisTap]:
    """Return every output index of one tap, with the input index that it reads there.

    Args:
        axis: the geometry of one axis.
        tap: a position of the filter.

    Returns:
        One `AxisTap` for each output index, in order.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> rows = conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows
    >>> [(t.out_index, t.in_index, t.in_padding) for t in sum_all(rows, 0)]
    [(0, -1, True), (1, 1, False), (2, 3, False)]
    """
    return [_axis_tap(axis, out_index, tap) for out_index in range(axis.out_size)]


def _axis_tap(axis: AxisGeometry, out_index: int, tap: int) -> AxisTap:
    in_index = axis.in_index(out_index, tap)
    return AxisTap(out_index, tap, in_index, not 0 <= in_index < axis.in_size)


# ---------------------------------------------------------------------------------------------
# All axes and channels together
# ---------------------------------------------------------------------------------------------


class Product(NamedTuple):
    """One product of the index law: an input cell, a filter cell and an output cell.

    Attributes:
        in_padding: whether the cell on the other side is in the padding, so that the product is skipped.
        cells: the three cells, by their roles "input", "filters" and "output".
    """

    in_padding: bool
    cells: Mapping[str, Cell]


def products_of(
    geometry: ConvGeometry, role: str, cell: Cell, *, inside: bool = False
) -> tuple[int, Callable[[], Iterator[Product]]]:
    """Return every product that one cell of an array belongs to.

    Args:
        geometry: the geometry of the convolution.
        role: the array's role, "input", "filters" or "output".
        cell: the cell.
        inside: whether to leave out products in the padding.

    Returns:
        The number of products, and a function that iterates over them as `Product` objects, in the
        reference's order: images, the axes from first to last, channels.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> g = conv2d_geometry((1, 1, 4, 1), (1, 3, 1, 1), 1, "SAME")
    >>> count, go = products_of(g, "output", (0, 0, 0, 0))
    >>> [(t.cells["input"], t.cells["filters"], t.in_padding) for t in go()][:2]
    [((0, 0, -1, 0), (0, 0, 0, 0), True), ((0, 0, 0, 0), (0, 1, 0, 0), False)]
    """
    images, indices, channels = _AT[role](geometry, cell)
    tables = [_ALONG[role](axis, index) for axis, index in zip(geometry.axes, indices, strict=True)]
    if inside:
        tables = [[tap for tap in table if not tap.in_padding] for table in tables]

    def go() -> Iterator[Product]:
        for n, taps in product(images, product(*tables)):
            in_padding = any(tap.in_padding for tap in taps)
            in_indices, tap_indices = [tap.in_index for tap in taps], [tap.tap for tap in taps]
            out_indices = [tap.out_index for tap in taps]
            for channel, depth, out_channel in channels:
                cells = {
                    "input": (n, *in_indices, channel),
                    "filters": (*tap_indices, depth, out_channel),
                    "output": (n, *out_indices, out_channel),
                }
                yield Product(in_padding, cells)

    return prod(map(len, (images, *tables, channels))), go


def factors_of(geometry: ConvGeometry, role: str, cell: Cell) -> dict[str, tuple[np.ndarray, ...]]:
    """Return where the factors of one cell's products are, without those in the padding.

    Args:
        geometry: the geometry of the convolution.
        role: the array's role, "input", "filters" or "output".
        cell: the cell.

    Returns:
        For each of the other two roles an index into its array: ``first[index] * second[index]``, flat, are
        the products in the order of `products_of`.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> places = factors_of(conv2d_geometry((1, 1, 4, 1), (1, 3, 1, 1), 1, "SAME"), "output", (0, 0, 0, 0))
    >>> [places[role][2 if role == "input" else 1].ravel().tolist() for role in ("input", "filters")]
    [[0, 1], [1, 2]]
    """
    images, indices, channels = _AT[role](geometry, cell)
    tables = [_ALONG[role](axis, index) for axis, index in zip(geometry.axes, indices, strict=True)]
    tables = [[tap for tap in table if not tap.in_padding] for table in tables]
    ins, depths, outs = map(list, map(dict.fromkeys, zip(*channels, strict=True))) if channels else ([],) * 3
    places = {
        "input": (images, *([tap.in_index for tap in table] for table in tables), ins),
        "filters": (*([tap.tap for tap in table] for table in tables), depths, outs),
        "output": (images, *([tap.out_index for tap in table] for table in tables), outs),
    }
    return {other: np.ix_(*place) for other, place in places.items() if other != role}


# images, an index of each axis, channels; each is (input channel, its depth in the filter, output channel)
_Place = tuple[Sequence[int], Sequence[int], list[tuple[int, int, int]]]


def _at_input(g: ConvGeometry, cell: Cell) -> _Place:
    """Return where the products of an input cell are."""
    n, *indices, channel = cell
    outs, (group, depth) = g.out_channels // g.groups, divmod(channel, g.filters_shape[-2])
    return [n], indices, [(channel, depth, group * outs + o) for o in range(outs)]


def _at_filters(g: ConvGeometry, cell: Cell) -> _Place:
    """Return where the products of a filter cell are."""
    *taps, depth, out_channel = cell
    group = out_channel // (g.out_channels // g.groups)
    return range(g.batch), taps, [(group * g.filters_shape[-2] + depth, depth, out_channel)]


def _at_output(g: ConvGeometry, cell: Cell) -> _Place:
    """Return where the products of an output cell are."""
    n, *indices, out_channel = cell
    depths, group = g.filters_shape[-2], out_channel // (g.out_channels // g.groups)
    return [n], indices, [(group * depths + depth, depth, out_channel) for depth in range(depths)]


_AT = {"input": _at_input, "filters": _at_filters, "output": _at_output}
_ALONG = {"input": scatter_all, "filters": sum_all, "output": gather_all}


class Reach(NamedTuple):
    """The taps of one index that are not in the padding.

    Attributes:
        taps: positions of the filter.
        indices: for each of them the index on the other side, of the input or of the output.
    """

    taps: tuple[int, ...]
    indices: tuple[int, ...]


@lru_cache(maxsize=256)
def gather(axis: AxisGeometry) -> tuple[Reach, ...]:
    """Return for each output index its taps and their input indices, without those in the padding.

    Args:
        axis: the geometry of one axis.

    Returns:
        One `Reach` for each output index.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> gather(conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows)[0]
    Reach(taps=(1, 2), indices=(0, 1))
    """
    _check_table(axis, 1)
    table = []
    for out_index in range(axis.out_size):
        first = axis.in_index(out_index, 0)
        # solve 0 <= first + tap * dilation < in_size for the taps
        start = max(0, -(first // axis.dilation))
        stop = min(axis.filter_size, (axis.in_size - 1 - first) // axis.dilation + 1)
        # mark: padding of reference.direct/y reference.direct/dx scipy.sparse/y scipy.sparse/dx
        # mark: padding of reference.slices/y reference.slices/dx
        inside = range(start, max(start, stop))
        table.append(Reach(tuple(inside), tuple(axis.in_index(out_index, tap) for tap in inside)))
    return tuple(table)


@lru_cache(maxsize=256)
def scatter(axis: AxisGeometry) -> tuple[Reach, ...]:
    """Return for each input index its taps and their output indices: the inverse of `gather`.

    Args:
        axis: the geometry of one axis.

    Returns:
        One `Reach` for each input index.
    """
    _check_table(axis, 3)  # that of `gather`, pairs, and its own
    table: list[list[tuple[int, int]]] = [[] for _ in range(axis.in_size)]
    for out_index, reach in enumerate(gather(axis)):
        for tap, in_index in zip(*reach, strict=True):
            table[in_index].append((tap, out_index))
    return tuple(
        Reach(tuple(tap for tap, _ in sorted(pairs)), tuple(index for _, index in sorted(pairs)))
        for pairs in table
    )


def _check_table(axis: AxisGeometry, copies: int) -> None:
    """Raise ``MemoryError`` if there is no memory for a table of the taps of an axis."""
    cells = max(axis.in_size, axis.out_size)
    nbytes = copies * (200 * cells + 60 * axis.out_size * axis.filter_size)  # measured, rounded up
    check_bytes(nbytes, f"a table of the {axis.filter_size} taps of an axis of {cells:,} cells")


class SameTaps(NamedTuple):
    """Indices of one axis that have the same taps.

    Attributes:
        taps: the taps, an array [taps].
        cells: the indices, an array [cells].
        indices: the index on the other side for each cell and tap, an array [cells, taps].
    """

    taps: np.ndarray
    cells: np.ndarray
    indices: np.ndarray


def by_taps(reaches: Sequence[Reach]) -> Iterator[SameTaps]:
    """Yield the indices of one axis, grouped by their taps.

    Args:
        reaches: the result of `gather`, `scatter` or `filled`.

    Yields:
        A `SameTaps` for each group.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> reaches = gather(conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 1, "SAME").rows)
    >>> [(group.taps.tolist(), group.cells.tolist()) for group in by_taps(reaches)]
    [([1, 2], [0]), ([0, 1, 2], [1, 2, 3]), ([0, 1], [4])]
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    for cell, reach in enumerate(reaches):
        groups.setdefault(reach.taps, []).append(cell)
    for same_taps, cells in groups.items():
        indices = [reaches[cell].indices for cell in cells]
        yield SameTaps(np.array(same_taps, int), np.array(cells), np.array(indices, int))


def filled(reaches: Sequence[Reach], place: int) -> tuple[Reach, ...]:
    """Return reaches to which taps in the padding are added, so that more indices have the same taps.

    An index gets the most taps that another one has, if its own are among them and are at least half of them.

    Args:
        reaches: the result of `gather` or `scatter`.
        place: the index on the other side for the taps that are added, where a zero has to be.

    Returns:
        As many reaches.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> reaches = gather(conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 1, "SAME").rows)
    >>> filled(reaches, 5)[0]
    Reach(taps=(0, 1, 2), indices=(5, 0, 1))
    """
    longest = sorted({reach.taps for reach in reaches}, key=len, reverse=True)
    wider = {
        taps: next(more for more in longest if len(more) <= 2 * len(taps) and set(taps) <= set(more))
        for taps in longest
    }
    inside = (dict(zip(*reach, strict=True)) for reach in reaches)
    return tuple(
        Reach(wider[reach.taps], tuple(indices.get(tap, place) for tap in wider[reach.taps]))
        for reach, indices in zip(reaches, inside, strict=True)
    )


def by_place(
    tables: Sequence[Sequence[Reach]], sizes: Sequence[int], most: int = 1 << 62
) -> Iterator[tuple[list[Any], np.ndarray, np.ndarray]]:
    """Yield places, of all axes together, that have the same taps. A place has one index for each axis.

    Args:
        tables: for each axis the result of `gather`, `scatter` or `filled`.
        sizes: for each axis how many indices there are on the other side.
        most: the most pairs of a place and a tap that are yielded together.

    Yields:
        The taps, for each axis an array [taps]: the same list for all places that have them. The numbers of
        the places in C order, [places]. The numbers of the places on the other side, [places, taps].

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> tables = [gather(axis) for axis in conv2d_geometry((1, 1, 4, 1), (1, 2, 1, 1)).axes]
    >>> next(by_place(tables, (1, 4)))
    ([array([0, 0]), array([0, 1])], array([0, 1, 2]), array([[0, 1],
           [1, 2],
           [2, 3]]))
    """
    shape = [*map(len, tables)]
    for same in product(*map(by_taps, tables)):  # for each axis some indices that have the same taps
        counts = zip(*((len(axis.taps), len(axis.cells)) for axis in same), strict=True)
        tap_at, cell_at = (np.unravel_index(np.arange(prod(lengths)), lengths) for lengths in counts)
        taps, step = (
            [axis.taps[at] for axis, at in zip(same, tap_at, strict=True)],
            most // max(1, len(tap_at[0])),
        )
        for first in range(0, len(cell_at[0]), max(1, step)):
            at = [cells[first : first + max(1, step)] for cells in cell_at]
            here = [axis.cells[cell] for axis, cell in zip(same, at, strict=True)]
            there = [a.indices[cell[:, None], tap] for a, cell, tap in zip(same, at, tap_at, strict=True)]
            yield taps, np.ravel_multi_index(here, shape), np.ravel_multi_index(there, sizes)


class Window(NamedTuple):
    """The part of the zero-extended input that the taps read, which begins at index -pad_before.

    It is filled by ``window[inside] = input[source]``; the rest of it is padding.

    Attributes:
        size: its length.
        inside: where the input's values lie in it.
        source: which part of the input these are.
    """

    size: int
    inside: slice
    source: slice


@lru_cache(maxsize=256)
def window(axis: AxisGeometry) -> Window:
    """Return the part of the zero-extended input that the taps of one axis read.

    Args:
        axis: the geometry of one axis.

    Returns:
        A `Window`.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> window(conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows)
    Window(size=7, inside=slice(1, 6, None), source=slice(0, 5, None))
    """
    size, start = axis.full_size, axis.in_index(0, 0)
    first, stop = max(0, -start), max(0, min(size, axis.in_size - start))
    stop = max(first, stop)
    return Window(size, slice(first, stop), slice(first + start, stop + start))


def overlap(axis: AxisGeometry, tap: int) -> tuple[slice, slice]:
    """Return the outputs for which one tap is not in the padding, and the inputs that it reads there.

    Args:
        axis: the geometry of one axis.
        tap: a position of the filter.

    Returns:
        A slice of the outputs and a slice of the inputs, equally long.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> overlap(conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows, 0)
    (slice(1, 3, None), slice(1, 4, 2))
    """
    # mark: dilation of reference.direct/dw reference.slices/dw numpy.taps scipy.sparse/dw
    at_zero = axis.in_index(0, tap)
    # mark: padding of reference.direct/dw reference.slices/dw numpy.taps scipy.sparse/dw
    first = max(0, -(at_zero // axis.stride))  # the first output with in_index >= 0
    stop = min(axis.out_size, (axis.in_size - 1 - at_zero) // axis.stride + 1)
    if stop <= first:
        return slice(0, 0), slice(0, 0)
    last = axis.in_index(stop - 1, tap)
    # mark: stride of reference.direct/dw reference.slices/dw numpy.taps scipy.sparse/dw
    return slice(first, stop), slice(axis.in_index(first, tap), last + 1, axis.stride)


def reached(geometry: ConvGeometry, role: str) -> np.ndarray:
    """Return which places of an array some tap lands on; the other cells are sums of no products.

    Args:
        geometry: the geometry of the convolution.
        role: the array's role, "input", "filters" or "output".

    Returns:
        A boolean array that broadcasts to the array: [*sizes, 1], for the filters [*sizes, 1, 1].

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> g = conv2d_geometry((1, 1, 5, 1), (1, 1, 1, 1), 2)  # a filter of 1 at stride 2 skips cells
    >>> reached(g, "input")[0, :, 0].tolist()
    [True, False, True, False, True]
    """
    masks = []
    for axis in geometry.axes:
        masks.append(np.zeros(axis.size_of(role), bool))
        for tap in range(axis.filter_size):
            outs, ins = overlap(axis, tap)
            at = {"output": outs, "filters": slice(tap, tap + (outs.start < outs.stop)), "input": ins}
            masks[-1][at[role]] = True
    cells = reduce(np.logical_and.outer, masks)
    return cells[..., None, None] if role == "filters" else cells[..., None]


def each_tap(axes: Sequence[AxisGeometry]) -> Iterator[tuple[Cell, tuple[slice, ...], tuple[slice, ...]]]:
    """Yield each tap of the window in row-major order, and the outputs and the inputs that it connects.

    Taps that lie in the padding of every window are left out.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> [found[1:] for found in each_tap([conv2d_geometry((1, 5, 5, 1), (2, 2, 1, 1), 2, "SAME").rows])]
    [((slice(0, 3, None),), (slice(0, 5, 2),)), ((slice(0, 2, None),), (slice(1, 4, 2),))]
    """
    for tap in product(*map(_reading, axes)):
        outputs, inputs = zip(*map(overlap, axes, tap), strict=True)
        yield tap, outputs, inputs


def _reading(axis: AxisGeometry) -> range:
    """Return the taps that some output reads from the input."""
    first = -(axis.in_index(axis.out_size - 1, 0) // axis.dilation)
    return range(
        max(0, first), min(axis.filter_size, (axis.in_size - 1 + axis.pad_before) // axis.dilation + 1)
    )
