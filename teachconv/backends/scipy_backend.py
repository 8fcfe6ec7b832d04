"""Convolution with SciPy: as a sparse matrix, as a correlation, and as a product of spectra.

``sparse`` builds the matrix C of the convolution, so that y = C x and the transposed convolution is C.T y.
``direct`` and ``fft`` pass a zero-extended image to scipy.signal, which has no strides, dilation or SAME.
They are added here by slicing and zero insertion, as is possible with any library that has a correlation.
Unless the caller names one, the algorithm that takes the least time runs, by a count of its work.

A tap is one position of the filter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import log2, prod
from typing import Any, TypeAlias

import numpy as np

from ..core.dtypes import FLOATS, float_format
from ..core.geometry import ConvGeometry
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ..core.taps import by_place, gather, overlap, reached, window
from ..support import record
from ..support.memory import check_bytes, check_memory
from . import QUIET, Algorithm, blocks, finish, load, pad, to_accumulator, zeros

ALGORITHMS = (
    Algorithm(
        "sparse",
        "the convolution as a sparse matrix C: y = C x, and its transpose is C.T",
        why="the default where the matrix is small",
    ),
    Algorithm(
        "direct",
        "scipy.signal.correlate2d, row by row or plane by plane, on padded images",
        why="a large matrix takes longer to build than all planes take",
        gives_way_to="sparse",
    ),
    Algorithm(
        "fft",
        "scipy.signal.fftconvolve: a product of spectra; pays for large filters",
        dtypes=FLOATS,
        precision="fast",
        error="fft",
        why="a large image and filter",
        gives_way_to="sparse",
    ),
)

RANKS = (1, 2, 3)
_BLOCK_ENTRIES = 2 << 20  # of one sparse matrix: building it takes up to 32 bytes for each
_BLOCK_PLACES = 1 << 14  # that taps read, whose rows are written together
_BLOCK_MACS = 128 << 20  # of one call of SciPy, which Ctrl-C does not interrupt
_BLOCK_POINTS = 4 << 20  # that one call transforms
# Nanoseconds, measured on an Intel Xeon, rounded: to find a place that a tap reads, and to write an entry of
# C there; to compute a cell of a plane by correlate2d, beside one for each multiply-add; to transform a
# point, for each bit of the number of points. The last is the number of cells that take as long as a call of
# correlate2d.
_PLACE, _ENTRY, _CELL, _POINT, _CALL = 20, 3, 20, 1.5, 500
Index: TypeAlias = tuple[slice, ...]


@QUIET
def conv2d(
    x: np.ndarray,
    w: np.ndarray,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Gather: compute y = C x for each image, or correlate the padded image and keep every stride-th cell."""
    images, filters = to_accumulator(x), to_accumulator(w)
    algorithm = _choose(algorithm or _cheapest(FORWARD, geometry, x.dtype, precision), images, filters)
    if algorithm == "sparse":
        y = zeros(geometry.output_shape, images.dtype)
        for matrix, inputs, outputs in _matrices(filters, geometry):
            # mark: kernel of sparse/y
            y[outputs] = _multiply(matrix, images[inputs]).reshape(y[outputs].shape)
    else:
        padded = pad(images, geometry)
        # mark: dilation of direct/y fft/y
        spread = _dilate(filters, geometry.dilations)
        y = zeros(geometry.output_shape, images.dtype)
        strides = _every(geometry.strides)
        for n, o, ins, _ in _cells(geometry):
            # mark: stride kernel of direct/y fft/y
            y[n, ..., o] = _correlate(padded[n, ..., ins], spread[..., o], algorithm)[strides]
        _clear_unreached(y, geometry, "output")
    return finish(y, x.dtype, bias, activation, out)


@QUIET
def conv2d_backprop_input(
    dy: np.ndarray,
    w: np.ndarray,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Scatter: compute dx = C.T dy, or correlate the zero-inserted dy with the flipped filter."""
    upstream, filters = to_accumulator(dy), to_accumulator(w)
    algorithm = _choose(
        algorithm or _cheapest(INPUT_GRADIENT, geometry, dy.dtype, precision), upstream, filters
    )
    if algorithm == "sparse":
        dx = zeros(geometry.input_shape, upstream.dtype)
        for matrix, inputs, outputs in _matrices(filters, geometry):
            # mark: kernel of sparse/dx
            dx[inputs] += _multiply(matrix.T, upstream[outputs]).reshape(dx[inputs].shape)
    else:
        windows = [window(axis) for axis in geometry.axes]
        # mark: stride of direct/dx fft/dx
        stuffed = _dilate(np.moveaxis(upstream, 0, -1), geometry.strides)
        margins = [(axis.effective_filter - 1,) * 2 for axis in geometry.axes] + [(0, 0), (0, 0)]
        padded_shape = [size + sum(pair) for size, pair in zip(stuffed.shape, margins, strict=True)]
        check_memory(padded_shape, stuffed.dtype, "the padded out_backprop")
        padded = np.pad(stuffed, margins)
        # mark: dilation of direct/dx fft/dx
        spread = np.flip(_dilate(filters, geometry.dilations), tuple(range(geometry.rank)))
        depth, outs = geometry.filters_shape[-2], geometry.out_channels // geometry.groups
        dx = zeros(geometry.input_shape, upstream.dtype)
        for n, channel in np.ndindex(geometry.batch, geometry.in_channels):
            group, i = divmod(channel, depth)
            of_group = slice(group * outs, group * outs + outs)
            # mark: kernel of direct/dx fft/dx
            full = _correlate(padded[..., of_group, n], spread[..., i, of_group], algorithm)
            # mark: padding of direct/dx fft/dx
            dx[n, *(axis.source for axis in windows), channel] = full[*(axis.inside for axis in windows)]
        _clear_unreached(dx, geometry, "input")
    return finish(np.ascontiguousarray(dx), dy.dtype, bias, activation, out)


@QUIET
def conv2d_backprop_filter(
    x: np.ndarray,
    dy: np.ndarray,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Sum over the same taps: multiply the input's matrix by dy, or correlate x with the zero-inserted dy."""
    images, upstream = to_accumulator(x), to_accumulator(dy)
    algorithm = _choose(
        algorithm or _cheapest(FILTER_GRADIENT, geometry, x.dtype, precision), images, upstream
    )
    dw = zeros(geometry.filters_shape, images.dtype)
    if algorithm == "sparse":
        outs, one = geometry.out_channels // geometry.groups, replace(geometry, batch=1)
        places = _BLOCK_MACS // prod(geometry.filters_shape)
        for n, group in np.ndindex(geometry.batch, geometry.groups):
            for block in blocks(one, min(places, _BLOCK_ENTRIES // prod(geometry.filters_shape[:-1]))):
                cells = upstream[n : n + 1][block.outputs].reshape(-1, geometry.groups, outs)[:, group]
                # mark: kernel of sparse/dw
                matrix = _input_matrix(images[n : n + 1][block.inputs][0], group, block.geometry)
                dw.reshape(-1, geometry.groups, outs)[:, group] += _multiply(matrix, cells.T).T
    else:
        padded = pad(images, geometry)
        # mark: stride of direct/dw fft/dw
        spread = _dilate(np.moveaxis(upstream, 0, -1), geometry.strides)
        dilations = _every(geometry.dilations)
        for n, o, ins, depth in _cells(geometry):
            for i in range(depth):
                plane = padded[n, ..., ins.start + i, None]
                # mark: dilation kernel of direct/dw fft/dw
                dw[..., i, o] += _correlate(plane, spread[..., o, n, None], algorithm)[dilations]
        _clear_unreached(dw, geometry, "filters")
    return finish(dw, x.dtype, out=out)


# ---------------------------------------------------------------------------------------------
# The convolution as a matrix
# ---------------------------------------------------------------------------------------------


def _matrices(w: np.ndarray, geometry: ConvGeometry) -> Iterator[tuple[Any, Index, Index]]:
    """Yield a part of C at a time, which the images share, and what it reads and gives of some images."""
    w = np.moveaxis(np.ascontiguousarray(np.moveaxis(w, -1, 0)), 0, -1)  # as the rows of C have it
    for block in blocks(replace(geometry, batch=1), _BLOCK_ENTRIES // prod(geometry.filters_shape)):
        matrix = conv_matrix(w, block.geometry)
        step = max(1, _BLOCK_MACS // max(matrix.nnz, 16 * max(matrix.shape)))
        for first in range(0, geometry.batch, step):
            images = slice(first, first + step)
            yield matrix, (images, *block.inputs[1:]), (images, *block.outputs[1:])


def conv_matrix(w: np.ndarray, geometry: ConvGeometry):  # type: ignore[no-untyped-def]
    """Return the CSR matrix C of one image, with cells in NHWC order: vec(y) = C vec(x).

    It has one entry for each tap of each output that is not in the padding: C[out cell, in cell] = w[tap].
    Where the filter is zero, an explicit zero is stored, because zero times NaN is NaN.

    Args:
        w: the filter, [filter_rows, filter_cols, in_channels / groups, out_channels].
        geometry: the geometry of the convolution.

    Returns:
        A ``scipy.sparse.csr_array``.

    Raises:
        MemoryError: if the matrix does not fit into memory.
    """
    csr_array = load("scipy.sparse").csr_array
    with record.stage("build matrix") as stage:
        depth, channels = geometry.filters_shape[-2:]
        shape = prod(geometry.output_shape[1:]), prod(geometry.input_shape[1:])
        entries, index = _room(geometry, depth * channels, shape, w.dtype)
        data, indices = np.empty(entries, w.dtype), np.empty(entries, index)
        weights, first = np.moveaxis(w, -1, 0), 0  # [out_channels, *taps, depth]
        # what an out channel reads: the in channels of its group
        groups = np.arange(channels)[:, None, None] // max(1, channels // geometry.groups)
        read = (groups * depth + np.arange(depth)).astype(index)
        places, lengths, tables = [], [], [gather(axis) for axis in geometry.axes]
        for taps, cells, met in by_place(tables, geometry.input_shape[1:-1], _BLOCK_PLACES):
            block = len(cells), channels, len(taps[0]), depth  # the axes of its entries
            part = slice(first, first + prod(block))
            data[part].reshape(block)[:] = weights[:, *taps]
            in_cells = (met * geometry.in_channels).astype(index)
            np.add(in_cells[:, None, :, None], read, out=indices[part].reshape(block))
            lengths.append(np.full(len(cells) * channels, block[2] * depth, index))
            places.append(cells)
            first = part.stop
        starts = np.concatenate([[0], *lengths]).cumsum(dtype=index)  # of the rows
        matrix = csr_array((data, indices, starts), shape)
        if len(places) > 1:
            rows = np.argsort(np.concatenate(places))[:, None] * channels + np.arange(channels)
            matrix = matrix[rows.ravel()]
        stage.arrays(data=matrix.data, indices=matrix.indices, indptr=matrix.indptr)
        stage.say("C is {} x {} with {} entries", *shape, matrix.nnz)
    return matrix


def _input_matrix(image: np.ndarray, group: int, geometry: ConvGeometry):  # type: ignore[no-untyped-def]
    """Return the matrix X of one image and group, for which vec(dw) = X vec(dy)."""
    csr_array = load("scipy.sparse").csr_array
    *filter_sizes, depth, _ = geometry.filters_shape
    out_sizes = geometry.output_shape[1:-1]
    shape = prod(filter_sizes) * depth, prod(out_sizes)
    _, index = _room(geometry, depth, shape, image.dtype)
    places, data, indices = np.arange(shape[1], dtype=index).reshape(out_sizes), [], []
    for taps in np.ndindex(*filter_sizes):
        fed, met = zip(*map(overlap, geometry.axes, taps), strict=True)
        values = image[*met, group * depth : (group + 1) * depth].reshape(-1, depth).T
        data += [*values]
        indices += [places[fed].ravel()] * depth
    starts = np.cumsum([0, *map(len, data)], dtype=index)  # of the rows
    return csr_array((np.concatenate(data), np.concatenate(indices), starts), shape)


def _room(
    geometry: ConvGeometry, channels: int, shape: tuple[int, int], dtype: np.dtype
) -> tuple[int, np.dtype]:
    """Return how many entries a matrix of ``shape`` has, and the type of the numbers of its rows and columns.

    A tap of an output, if it is not in the padding, and one of ``channels`` pairs of channels are an entry.
    Raises ``MemoryError`` where the matrix cannot be built: it is held twice while its rows are ordered, with
    some numbers for each row and each place of the output (measured).
    """
    fed = [
        [outputs.stop - outputs.start for outputs, _ in map(partial(overlap, axis), range(axis.filter_size))]
        for axis in geometry.axes
    ]
    entries = prod(map(sum, fed)) * channels
    index = np.dtype(np.int32 if max(*shape, entries) < 2**31 else np.int64)
    numbers = 2 * entries + 7 * shape[0] + 3 * prod(geometry.output_shape[1:-1])
    nbytes = 2 * entries * dtype.itemsize + numbers * index.itemsize
    check_bytes(nbytes, f"building the sparse matrix of shape {list(shape)} with {entries:,} entries")
    return entries, index


def _multiply(matrix: Any, images: np.ndarray) -> np.ndarray:
    """Return a sparse matrix times the cells of each image, which is a column of the other factor."""
    with record.stage("matrix times images") as stage:
        cells = images.reshape(len(images), -1).T
        product = matrix @ cells  # mark: multiply-add of sparse by scipy.sparse
        stage.arrays(cells=cells, product=product)
    return product.T


# ---------------------------------------------------------------------------------------------
# Plain correlation, and the strides and dilation around it
# ---------------------------------------------------------------------------------------------


def _correlate(image: np.ndarray, kernel: np.ndarray, method: str) -> np.ndarray:
    """Correlate [*sizes, channels] with a kernel of as many channels, "valid", and sum the channels."""
    load("scipy.signal")
    with record.stage(f"scipy.signal, {method}") as stage:
        taps = kernel.shape[:-1]
        sizes = [size - count + 1 for size, count in zip(image.shape, taps, strict=False)]
        correlate = _fft if method == "fft" else _direct
        steps = _tile(sizes, taps, method)
        result = np.empty(sizes, image.dtype)
        for first in product(*(range(0, size, step) for size, step in zip(sizes, steps, strict=True))):
            past = [start + step for start, step in zip(first, steps, strict=True)]
            halo = (slice(f, p + k - 1) for f, p, k in zip(first, past, taps, strict=True))
            result[*map(slice, first, past)] = correlate(image[*halo], kernel)
        stage.arrays(image=image, kernel=kernel, result=result)
    return result


def _clear_unreached(sums: np.ndarray, geometry: ConvGeometry, role: str) -> None:
    """Write zeros to cells that no tap reaches: fft leaves rounding errors of other cells there."""
    np.copyto(sums, 0, where=~reached(geometry, role))


def _direct(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Correlate by the fewer calls: one for each row of the result, or one for each channel."""
    channels = image.shape[-1]
    rows = [size - count + 1 for size, count in zip(image.shape[:-2], kernel.shape, strict=False)]
    if channels * prod(kernel.shape[:-3]) >= prod(rows[-1:]):
        return _by_rows(image, kernel, rows)
    return np.asarray(sum(_planes(image[..., i], kernel[..., i]) for i in range(channels)))


def _by_rows(image: np.ndarray, kernel: np.ndarray, rows: Sequence[int]) -> np.ndarray:
    """Correlate along the columns; all other taps and the channels are one axis, which the kernel fills."""
    weights = np.moveaxis(kernel, -2, 0).reshape(kernel.shape[-2], -1)
    result = np.empty((*rows, image.shape[-2] - len(weights) + 1), image.dtype)
    for place in np.ndindex(*rows):
        read = image[*(slice(p, p + taps) for p, taps in zip(place, kernel.shape, strict=False))]
        columns = np.moveaxis(read, -2, 0).reshape(image.shape[-2], -1)
        result[place] = _correlate2d(columns, weights)[:, 0]
    return result


def _planes(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Correlate an array of rank 2 or 3 plane by plane: scipy.signal.correlate takes twice as long."""
    if image.ndim == 2:
        return _correlate2d(image, kernel)
    places, taps = range(len(image) - len(kernel) + 1), range(len(kernel))
    return np.stack([sum(_planes(image[place + tap], kernel[tap]) for tap in taps) for place in places])


def _correlate2d(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    # mark: multiply-add of direct by scipy.signal
    return load("scipy.signal").correlate2d(image, kernel, "valid")


def _fft(image: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Multiply spectra, of some channels at a time, and sum the results."""
    fftconvolve, axes = load("scipy.signal").fftconvolve, tuple(range(image.ndim - 1))
    flipped = np.flip(kernel, axes)  # because fftconvolve flips its kernel, unlike a correlation
    step = max(1, _BLOCK_POINTS // prod(image.shape[:-1]))
    parts = (slice(first, first + step) for first in range(0, image.shape[-1], step))
    # mark: multiply-add of fft by scipy.signal
    return sum(fftconvolve(image[..., c], flipped[..., c], "valid", axes).sum(axis=-1) for c in parts)


def _tile(sizes: Sequence[int], taps: Sequence[int], method: str) -> list[int]:
    """Return how many cells of each axis one call of SciPy computes: the last axes are cut last.

    A tile is read with the cells around it. For spectra, which take as long for these, it is no smaller than
    the kernel.
    """
    fft, steps = method == "fft", list(sizes)
    halo = [k - 1 if fft else 0 for k in taps]
    most = _BLOCK_POINTS if fft else max(1, _BLOCK_MACS // prod(taps))
    for axis, least in enumerate(taps if fft else [1] * len(taps)):
        others = prod(n + more for a, (n, more) in enumerate(zip(steps, halo, strict=True)) if a != axis)
        steps[axis] = min(steps[axis], max(least, most // others - halo[axis]))
    return steps


def _cells(geometry: ConvGeometry) -> Iterator[tuple[int, int, slice, int]]:
    """Yield (image, out channel, in channels of its group, their number) for each output plane."""
    depth, outs = geometry.filters_shape[-2], geometry.out_channels // geometry.groups
    for n, o in np.ndindex(geometry.batch, geometry.out_channels):
        first = o // outs * depth
        yield n, o, slice(first, first + depth), depth


def _dilate(array: np.ndarray, steps: Sequence[int]) -> np.ndarray:
    """Insert zeros between the cells of each of the first axes."""
    sizes = ((size - 1) * step + 1 for size, step in zip(array.shape, steps, strict=False))
    shape = (*sizes, *array.shape[len(steps) :])
    spread = zeros(shape, array.dtype, "an array with its zeros inserted")
    spread[_every(steps)] = array
    return spread


def _every(steps: Sequence[int]) -> Index:
    """Return an index that takes every ``step``-th cell of each of the first axes."""
    return tuple(slice(None, None, step) for step in steps)


def expected_seconds(kind: Kind, geometry: ConvGeometry) -> dict[str, float]:
    """Return the time of each algorithm, estimated by a count of its work.

    C has an entry for each multiply-add of one image; for a filter gradient, that of each image has one for
    each out channel less. Plain correlation also multiplies the zeros between dilated taps, and computes the
    cells that a stride skips. Spectra are transformed for each pair of channels.
    """
    depth, entries = geometry.filters_shape[-2], _entries(kind, geometry)
    places = entries // max(1, depth if kind.sums_images else depth * geometry.out_channels)
    planes = geometry.batch * depth * geometry.out_channels
    sizes = [window(axis).size for axis in geometry.axes]
    points = prod(sizes)
    # of a volume correlate2d computes a plane for each tap in depth
    correlated = planes * prod(axis.filter_size for axis in geometry.axes[:-2]) * (points + _CALL)
    summed = {"output": depth, "input": geometry.out_channels // geometry.groups}.get(kind.result, 1)
    by_rows = planes // max(1, summed) * prod(sizes[:-1]) * _CALL
    skipped = prod((*geometry.strides, *geometry.dilations))  # cells computed for each that is kept
    nanoseconds = {
        "sparse": _PLACE * places + _ENTRY * entries + geometry.macs,
        "direct": _CELL * min(correlated, by_rows) + geometry.macs * skipped,
        "fft": _POINT * planes * points * log2(points + 1),
    }
    return {name: 1e-9 * number for name, number in nanoseconds.items()}


def _cheapest(kind: Kind, geometry: ConvGeometry, dtype: np.dtype, precision: str | None) -> str:
    """Return the algorithm that takes the least time, of those that dtype and ``precision`` allow."""
    if _entries(kind, geometry) <= _BLOCK_ENTRIES:
        return "sparse"
    allowed = (one for one in ALGORITHMS if one.may_be_chosen(precision) and dtype.name in one.dtypes)
    return min((one.name for one in allowed), key=expected_seconds(kind, geometry).__getitem__)


def _entries(kind: Kind, geometry: ConvGeometry) -> int:
    """Return how many entries C has, or of a filter gradient the matrices of all images together."""
    outs = geometry.out_channels // geometry.groups
    return geometry.macs // max(1, outs if kind.sums_images else geometry.batch)


def _choose(chosen: str, *factors: np.ndarray) -> str:
    """Return the algorithm, or the one that it gives way to if it does not suit the data."""
    with record.stage("choose algorithm") as stage:
        if chosen == "direct" and not all(np.isfinite(factor).all() for factor in factors):
            stage.say("direct gives way: it would multiply padding zeros by infinity or NaN")
            chosen = "sparse"
        if chosen == "fft" and not _fft_is_safe(*factors):
            stage.say("fft gives way: it would spread infinity or NaN, or overflow or underflow")
            chosen = "sparse"
        stage.know(algorithm=chosen)
        stage.say("{}", chosen)
    return chosen


def _fft_is_safe(*factors: np.ndarray) -> bool:
    """Return whether the spectra of the factors, and their product, stay well inside the type's range."""
    form = float_format(factors[0].dtype)
    highest = lowest = 0.0
    for factor in factors:
        largest = np.max([np.abs(part).max() for part in factor])  # NaN if there is one
        if not np.isfinite(largest):
            return False
        if largest:
            # a spectrum is at most the sum of all values
            highest += log2(largest) + log2(np.count_nonzero(factor))
            lowest += log2(largest)
    return highest < log2(form.largest) - 1 and lowest > form.smallest_exponent + 2 * form.precision
