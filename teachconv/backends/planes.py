"""Convolutions over one axis and over three, by kernels for rows and columns.

A sequence is an image of one row. A volume is a stack of planes, and each plane of a result is a sum, over
the taps in depth, of two-dimensional convolutions. If the planes that these taps read are laid side by side
as channels, and the filter's likewise, that sum is a single two-dimensional convolution: one kernel adds all
of its products and rounds once. A tap in the padding is left out, so no zero is multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..core.geometry import ConvGeometry
from ..core.kinds import Kind
from ..core.law import AxisGeometry
from ..core.taps import by_taps, gather, overlap, scatter
from ..support.devices import array_module
from ..support.memory import check_memory

# the most that the planes of one two-dimensional call take, if they are more than one
_STACK_BYTES = 32 << 20
ONE_ROW = AxisGeometry(1, 1, 1, 1, 1, 0, 0)


def flat_geometry(kind: Kind, geometry: ConvGeometry) -> ConvGeometry:
    """Return the two-dimensional convolution by which kernels compute a sequence, or most planes of a volume.

    >>> from teachconv.core.geometry import conv_geometry
    >>> from teachconv.kinds import FORWARD
    >>> flat_geometry(FORWARD, conv_geometry((1, 9, 2), (3, 2, 4))).filters_shape
    (1, 3, 2, 4)
    >>> flat_geometry(FORWARD, conv_geometry((1, 9, 8, 8, 2), (3, 5, 5, 2, 4))).filters_shape
    (5, 5, 6, 4)
    """
    if geometry.rank == 1:
        return replace(geometry, axes=(ONE_ROW, *geometry.axes), data_format="NHWC")
    if geometry.rank == 3:
        depth = geometry.depth
        if kind.sums_images:
            return _of_planes(kind, geometry, 1, geometry.batch * depth.out_size)
        return _of_planes(kind, geometry, depth.filter_size, geometry.batch * depth.size_of(kind.result))
    return geometry


def planes_gathered(kind: Kind, geometry: ConvGeometry) -> int:
    """Return how many input planes become channels of one call; 1 except for the forward op over a volume."""
    return geometry.depth.filter_size if geometry.rank == 3 and kind.gathers else 1


def _of_planes(kind: Kind, geometry: ConvGeometry, taps: int, batch: int) -> ConvGeometry:
    """Return the convolution of planes whose channels are those of several taps in depth."""
    channels = {"in_channels": geometry.in_channels, "out_channels": geometry.out_channels}
    channels["out_channels" if kind.scatters else "in_channels"] *= taps
    return replace(geometry, batch=batch, axes=geometry.axes[1:], data_format="NHWC", **channels)


def as_image(array: Any, role: str) -> Any:
    """Return a view of an array of rank 1 with an axis for its one row."""
    return array[None] if role == "filters" else array[:, None]


def with_planes(
    run: Callable[..., Any],
    kind: Kind,
    first: Any,
    second: Any,
    geometry: ConvGeometry,
    bias: Any = None,
    activation: str | None = None,
    out: Any = None,
) -> Any:
    """Compute a convolution of rank 1 or 3 by a function of rank 2.

    Args:
        run: computes ``run(first, second, geometry, bias, activation, out)`` for rank 2.
        kind: the kind of call.
        first, second: the arrays, of NumPy or CuPy.
        geometry: the geometry, of rank 1 or 3.
        bias, activation, out: as in the contract of `teachconv.backends`.

    Returns:
        The result, which is ``out`` if that is given.
    """
    if geometry.rank == 1:
        a, b = as_image(first, kind.first), as_image(second, kind.second)
        target = None if out is None else as_image(out, kind.result)
        result = run(a, b, flat_geometry(kind, geometry), bias, activation, target)
        return result.reshape(geometry.shape_of(kind.result)) if out is None else out
    if out is None:
        shape = geometry.shape_of(kind.result)
        check_memory(shape, first.dtype, "the result")
        out = array_module(first).empty(shape, first.dtype)
    if kind.sums_images:
        _sum_planes(run, kind, first, second, geometry, out)
        return out
    for taps, images, targets, sources in _stacks(kind, geometry, first):
        if len(taps):
            planes, filters = _at(first, images[:, None], sources), _at(second, taps)
        else:  # no tap reaches these planes: they hold the bias alone
            zeros = array_module(first).zeros
            planes = zeros((len(images), 1, *first.shape[2:]), first.dtype)
            filters = zeros((1, *second.shape[1:]), second.dtype)
        flat = _of_planes(kind, geometry, len(filters), len(images))
        part = run(*_side_by_side(kind, planes, filters, geometry.groups), flat, bias, activation, None)
        out[tuple(_index(first, index) for index in (images, targets))] = part
    return out


def _stacks(
    kind: Kind, geometry: ConvGeometry, first: Any
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield planes of the result that have the same taps in depth, some at a time.

    Yields:
        The taps; for each plane its image and its place in depth; for each plane and tap the plane of the
        first array that it reads.
    """
    depth, nbytes = geometry.depth, prod(first.shape[2:]) * first.dtype.itemsize
    for taps, cells, indices in by_taps(gather(depth) if kind.gathers else scatter(depth)):
        step = max(1, _STACK_BYTES // (nbytes * max(1, len(taps))))
        images, members = np.divmod(np.arange(geometry.batch * len(cells)), len(cells))
        for start in range(0, len(images), step):
            some = members[start : start + step]
            yield taps, images[start : start + step], cells[some], indices[some]


def _side_by_side(kind: Kind, planes: Any, filters: Any, groups: int) -> tuple[Any, Any]:
    """Return [images, taps, rows, cols, channels] and [taps, rows, cols, in, out] with the taps as channels.

    The channels of a group stay together: they are ordered by group, tap and channel.
    """
    batch, taps, *sizes, _ = planes.shape
    images = planes.reshape(batch, taps, *sizes, groups, -1).transpose(0, 2, 3, 4, 1, 5)
    *filter_sizes, depth, outs = filters.shape[1:]
    if kind.gathers:
        return images.reshape(batch, *sizes, -1), filters.transpose(1, 2, 0, 3, 4).reshape(
            *filter_sizes, -1, outs
        )
    flat = filters.reshape(taps, *filter_sizes, depth, groups, -1).transpose(1, 2, 3, 4, 0, 5)
    return images.reshape(batch, *sizes, -1), flat.reshape(*filter_sizes, depth, -1)


def _at(array: Any, *indices: np.ndarray) -> Any:
    return array[tuple(_index(array, index) for index in indices)]


def _index(array: Any, index: np.ndarray) -> Any:
    """Return an index on the device of an array."""
    return array_module(array).asarray(index)


def _sum_planes(
    run: Callable[..., Any], kind: Kind, x: Any, dy: Any, geometry: ConvGeometry, dw: Any
) -> None:
    """Compute a filter gradient tap by tap: one over all planes that the tap reads."""
    for tap in range(geometry.depth.filter_size):
        outputs, inputs = overlap(geometry.depth, tap)
        planes = [array[:, part] for array, part in ((x, inputs), (dy, outputs))]
        count = planes[0].shape[0] * planes[0].shape[1]
        if not count:
            dw[tap] = 0
            continue
        flat = _of_planes(kind, geometry, 1, count)
        images = (array.reshape(count, *array.shape[2:]) for array in planes)
        dw[tap] = run(*images, flat, None, None, None)


def depthwise_needs(kind: Kind, geometry: ConvGeometry) -> str:
    """Return what depthwise needs and a geometry lacks, or ""."""
    planes = planes_gathered(kind, geometry)
    if geometry.groups == geometry.in_channels and planes == 1:
        return ""
    several = f" and {planes} planes" if planes > 1 else ""
    return f"groups = in_channels; got {geometry.groups} groups of {geometry.in_channels} channels{several}"
