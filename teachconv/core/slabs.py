"""Slabs: which part of an input computes a part of a result, on one axis and on all.

A backend that works in blocks, a stream and an array in chunks all ask here. The slab of a part is the part
of the input that its taps read, by the index law of `AxisGeometry.in_index`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .arguments import (
    Pair,
)
from .geometry import ConvGeometry
from .law import AxisGeometry


def axis_slab(
    axis: AxisGeometry, role: str, part: Pair, present: Pair | None = None
) -> tuple[AxisGeometry, Pair]:
    """Return the convolution that computes a part of a result on one axis, and what it reads.

    A *slab* is the part of the input that a part of the output depends on: the cells beneath the part, and
    beside them the *halo*, which the neighbouring parts read too. Inside its slab a part is a convolution of
    its own, with the same taps: only sizes and padding differ.

    Args:
        axis: one axis of the whole convolution.
        role: the role of the array that is cut into parts: "output" for the result of a forward convolution
            and for a filter gradient's out_backprop, "input" for the result of a transposed convolution or
            an input gradient.
        part: (first, past) of the part.
        present: (first, past) of the cells on the other side that are in memory, all that the part reads
            among them; None for the whole axis.

    Returns:
        The axis of the part, and (first, past) of the indices that it reads of the array on the other side.
        A part that reads only padding, or in a transposed convolution the gaps between short filters, is
        given the nearest cell that is present, because a convolution of nothing has a rule of its own.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> same = conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, "SAME").rows
    >>> part, read = axis_slab(same, "output", (2, 4))
    >>> read, (part.in_size, part.out_size, part.pad_before, part.pad_after)
    ((4, 8), (4, 2, 0, 1))
    >>> part, read = axis_slab(same, "input", (2, 4))       # of the transposed convolution
    >>> read, (part.in_size, part.out_size, part.pad_before)
    ((0, 2), (2, 2, 2))
    """
    first, past = part
    reach = axis.effective_filter - 1
    if role == "output":
        start = axis.in_index(first, 0)  # the first tap of the first output, perhaps in the padding
        low, high = _inside(
            (start, axis.in_index(past - 1, 0) + reach + 1), present or (0, axis.in_size), first < past
        )
        in_size, out_size, before = high - low, past - first, low - start
        read = low, high
    else:
        # output o reaches start..start + reach, where start is o * stride - pad_before
        shift = axis.pad_before + first
        span = -(-(shift - reach) // axis.stride), (axis.pad_before + past - 1) // axis.stride + 1
        low, high = _inside(span, present or (0, axis.out_size), first < past)
        in_size, out_size, before = past - first, high - low, shift - low * axis.stride
        read = low, high
    after = (out_size - 1) * axis.stride + reach + 1 - before - in_size
    return AxisGeometry(in_size, axis.filter_size, out_size, axis.stride, axis.dilation, before, after), read


def axis_due(axis: AxisGeometry, role: str, received: int) -> int:
    """Return how many cells of a result depend only on the first cells of the input.

    Their slabs end there, which makes this the inverse of `axis_slab`. A crop at the end removes the last
    cells, and which are the last is not known while the input grows: with a crop of 2 the newest two are held
    back.

    Args:
        axis: one axis of the convolution of an input of any length from ``received`` on. Only the sizes of
            the axis depend on that length, and they are not read.
        role: the role of the result, as in `axis_slab`.
        received: how many cells of the input there are.

    Returns:
        The number of cells of the result; 0 as long as there is no input.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> same = conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 1, "SAME").rows
    >>> [axis_due(same, "output", received) for received in range(5)]
    [0, 0, 1, 2, 3]
    """
    if not received:
        return 0
    reach, before, stride = axis.effective_filter - 1, axis.pad_before, axis.stride
    if role == "output":  # up to the output whose last tap reads the last cell
        return max(0, (received + min(0, axis.pad_after) + before - reach - 1) // stride + 1)
    after = axis.full_size - before - axis.in_size  # of the full result, behind its part that is kept
    return max(0, received * stride - before - max(0, stride - reach - 1 + after))


def _inside(span: Pair, present: Pair, wanted: bool) -> Pair:
    """Return the part of a span that is present, the index nearest to it if none is; none if unwanted."""
    if not wanted or present[0] == present[1]:
        return 0, 0
    low = min(max(present[0], span[0]), present[1] - 1)
    return low, max(low + 1, min(present[1], span[1]))


def slab(
    geometry: ConvGeometry, role: str, images: int, parts: Sequence[Pair]
) -> tuple[ConvGeometry, tuple[Pair, ...]]:
    """Return the convolution that computes a part of a result, and the slab that it reads.

    Args:
        geometry: the whole convolution.
        role: the role of the array that is cut into parts, as in `axis_slab`.
        images: how many images the part has.
        parts: (first, past) of the part on each axis.

    Returns:
        The geometry of the part, and (first, past) of its slab on each axis.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> whole = conv2d_geometry((2, 100, 100, 3), (5, 5, 3, 8), padding="SAME")
    >>> part, (rows, cols) = slab(whole, "output", 2, ((0, 50), (50, 100)))
    >>> rows, cols, part.output_shape, part.padding
    ((0, 52), (48, 100), (2, 50, 50, 8), ((2, 0), (0, 2)))
    """
    cut = (axis_slab(axis, role, part) for axis, part in zip(geometry.axes, parts, strict=True))
    axes, reads = zip(*cut, strict=True)
    return replace(geometry, batch=images, axes=axes), reads
