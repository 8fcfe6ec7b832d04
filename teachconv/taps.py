"""Tables of the index law: every (output index, tap, input index) of a geometry, in order.

A tap is one position of the filter on one axis. The reference loops over these tables, the sparse matrix
is built from them, and `explain` prints them, so an explanation cannot disagree with the computation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from .geometry import AxisGeometry

__all__ = [
    "AxisTap",
    "Reach",
    "Window",
    "gather",
    "gather_all",
    "overlap",
    "scatter",
    "scatter_all",
    "triples",
    "window",
]


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

    >>> from teachconv.geometry import conv2d_geometry
    >>> rows = conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows
    >>> [(t.tap, t.in_index, t.in_padding) for t in gather_all(rows, 0)]
    [(0, -1, True), (1, 0, False), (2, 1, False)]
    """
    taps = []
    for tap in range(axis.filter_size):
        in_index = axis.in_index(out_index, tap)
        taps.append(AxisTap(out_index, tap, in_index, not 0 <= in_index < axis.in_size))
    return taps


def scatter_all(axis: AxisGeometry, in_index: int) -> list[AxisTap]:
    """Return every tap through which an output reads one input index: the index law, inverted.

    Args:
        axis: the geometry of one axis.
        in_index: an index of the input.

    Returns:
        `AxisTap` objects, in order of the taps. A tap that would belong to an index between two outputs (a
        gap of the stride) is left out; one that would belong to an index before the first output or after
        the last is marked ``in_padding``.

    >>> from teachconv.geometry import conv2d_transpose_geometry
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


class Reach(NamedTuple):
    """The taps of one index that have a value behind them.

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

    >>> from teachconv.geometry import conv2d_geometry
    >>> gather(conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows)[0]
    Reach(taps=(1, 2), indices=(0, 1))
    """
    table = []
    for out_index in range(axis.out_size):
        first = axis.in_index(out_index, 0)
        # solve 0 <= first + tap * dilation < in_size for the taps
        start = max(0, -(first // axis.dilation))
        stop = min(axis.filter_size, (axis.in_size - 1 - first) // axis.dilation + 1)
        inside = range(start, max(start, stop))
        table.append(Reach(tuple(inside), tuple(axis.in_index(out_index, tap) for tap in inside)))
    return tuple(table)


@lru_cache(maxsize=256)
def scatter(axis: AxisGeometry) -> tuple[Reach, ...]:
    """Return for each input index its taps and their output indices: the inverse of `gather`."""
    table: list[list[tuple[int, int]]] = [[] for _ in range(axis.in_size)]
    for out_index, tap, in_index in triples(axis):
        table[in_index].append((tap, out_index))
    return tuple(
        Reach(tuple(tap for tap, _ in sorted(pairs)), tuple(index for _, index in sorted(pairs)))
        for pairs in table
    )


def triples(axis: AxisGeometry) -> Iterator[tuple[int, int, int]]:
    """Yield every (out_index, tap, in_index) that is not in the padding, by output and then by tap.

    Args:
        axis: the geometry of one axis.

    Yields:
        (out_index, tap, in_index).

    >>> from teachconv.geometry import conv2d_geometry
    >>> list(triples(conv2d_geometry((1, 3, 3, 1), (2, 2, 1, 1), 2, "SAME").rows))
    [(0, 0, 0), (0, 1, 1), (1, 0, 2)]
    """
    for out_index, reach in enumerate(gather(axis)):
        for tap, in_index in zip(*reach, strict=True):
            yield out_index, tap, in_index


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


def window(axis: AxisGeometry) -> Window:
    """Return the part of the zero-extended input that the taps of one axis read.

    Args:
        axis: the geometry of one axis.

    Returns:
        A `Window`.

    >>> from teachconv.geometry import conv2d_geometry
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

    >>> from teachconv.geometry import conv2d_geometry
    >>> overlap(conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows, 0)
    (slice(1, 3, None), slice(1, 4, 2))
    """
    at_zero = axis.in_index(0, tap)
    first = max(0, -(at_zero // axis.stride))  # the first output with in_index >= 0
    stop = min(axis.out_size, (axis.in_size - 1 - at_zero) // axis.stride + 1)
    if stop <= first:
        return slice(0, 0), slice(0, 0)
    last = axis.in_index(stop - 1, tap)
    return slice(first, stop), slice(axis.in_index(first, tap), last + 1, axis.stride)
