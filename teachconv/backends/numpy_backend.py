"""Convolution in NumPy, in the three steps that TensorFlow documents.

The documentation of tf.nn.conv2d says: flatten the filter to a 2-D matrix of shape [filter_height *
filter_width * in_channels, output_channels]; extract image patches from the input to form a virtual
tensor of shape [batch, out_height, out_width, filter_height * filter_width * in_channels]; for each
patch, right-multiply the filter matrix and the image patch vector. Each step is a function below. The
gradients are the transposes of the same steps; the transpose of extracting patches is adding them back, which
is called col2im. Both matrices have a leading axis of length ``groups``.

A tap is one position of the filter, here (tap row, tap column), or one index for each axis of another rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..core.geometry import ConvGeometry
from ..core.taps import each_tap, window
from ..support import record
from . import QUIET, Algorithm, Block, blocks, finish, pad, to_accumulator, zeros
from .blas import held

ALGORITHMS = (
    Algorithm(
        "im2col",
        "patches as a matrix, times the filter as a matrix: one large product",
        why="the default",
        gives_way_to="taps",
    ),
    Algorithm(
        "taps",
        "one matrix product for each filter tap, on a shifted view: no patches in memory",
        why="im2col would multiply little but padding",
    ),
)

RANKS = (1, 2, 3)
_BLOCK_BYTES = 64 << 20  # the most memory for the patches of one block
# The most multiply-adds of one product, which Ctrl-C does not interrupt: half a second of BLAS at 4 billion a
# second, and of NumPy's own loops, which integers need, at 60 million (large filters, outside the caches).
_BLOCK_MACS = {"f": 2 << 30, "u": 32 << 20}


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
    """Gather: compute y as the patches of x times the filter matrix."""
    algorithm = _choose(algorithm, w, geometry)
    images, filters = to_accumulator(x), to_accumulator(w)
    y = zeros(geometry.output_shape, images.dtype)
    if algorithm == "im2col":
        filter_matrix = flatten_filter(filters, geometry)
        for block in _patch_blocks(geometry, y.dtype):
            patches = extract_patches(images[block.inputs], block.geometry)
            # mark: kernel of im2col/y
            y[block.outputs] = _from_groups(_multiply(patches, filter_matrix), block.geometry.output_shape)
    else:
        for block, tap, inputs, outputs in _each_tap(geometry, y.dtype):
            cells = _to_groups(images[block.inputs][inputs], geometry.groups)
            # mark: kernel of taps/y
            _add(y[block.outputs], outputs, _multiply(cells, _split_filter(filters[tap], geometry)))
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
    """Scatter: add the patches, dy times the transposed filter matrix, back to the image."""
    algorithm = _choose(algorithm, dy[:0], geometry)  # nothing is padded here, so im2col is always right
    upstream, filters = to_accumulator(dy), to_accumulator(w)
    dx = zeros(geometry.input_shape, upstream.dtype)
    if algorithm == "im2col":
        filter_matrix = flatten_filter(filters, geometry).swapaxes(1, 2)
        for block in _patch_blocks(geometry, dx.dtype):
            patches = _multiply(_to_groups(upstream[block.outputs], geometry.groups), filter_matrix)
            add_patches(patches, dx[block.inputs], block.geometry)  # mark: kernel of im2col/dx
    else:
        for block, tap, inputs, outputs in _each_tap(geometry, dx.dtype):
            cells = _to_groups(upstream[block.outputs][outputs], geometry.groups)
            transposed = _split_filter(filters[tap], geometry).swapaxes(1, 2)
            _add(dx[block.inputs], inputs, _multiply(cells, transposed))  # mark: kernel of taps/dx
    return finish(dx, dy.dtype, bias, activation, out)


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
    """Sum over the same taps: compute dw as the transposed patches of x times dy."""
    algorithm = _choose(algorithm, dy, geometry)
    images, upstream = to_accumulator(x), to_accumulator(dy)
    dw = zeros(geometry.filters_shape, images.dtype)
    if algorithm == "im2col":
        for block in _patch_blocks(geometry, dw.dtype):
            patches = extract_patches(images[block.inputs], block.geometry).swapaxes(1, 2)
            cells = _to_groups(upstream[block.outputs], geometry.groups)
            dw += _from_groups(_multiply(patches, cells), dw.shape)  # mark: kernel of im2col/dw
    else:
        for block, tap, inputs, outputs in _each_tap(geometry, dw.dtype):
            transposed = _to_groups(images[block.inputs][inputs], geometry.groups).swapaxes(1, 2)
            cells = _to_groups(upstream[block.outputs][outputs], geometry.groups)
            _add(dw, tap, _multiply(transposed, cells))  # mark: kernel of taps/dw
    return finish(dw, x.dtype, out=out)


# ---------------------------------------------------------------------------------------------
# The three steps
# ---------------------------------------------------------------------------------------------


def flatten_filter(w: np.ndarray, geometry: ConvGeometry) -> np.ndarray:
    """Step 1: return the filter as [groups, taps * in_channels, output_channels]."""
    with record.stage("flatten filter") as stage:
        matrix = _split_filter(w.reshape(-1, w.shape[-1]), geometry)
        stage.arrays(filter_matrix=matrix)
    return matrix


def extract_patches(x: np.ndarray, geometry: ConvGeometry) -> np.ndarray:
    """Step 2: return the patch of each output, as [groups, batch * outputs, taps * in_channels].

    The patches are first a view of the padded image. The matrix product needs a copy in memory, which at
    stride 1 is as many times as large as the image as there are taps.
    """
    with record.stage("extract patches") as stage:
        axes, rank, groups = geometry.axes, geometry.rank, geometry.groups
        padded = pad(x, geometry)  # [batch, *window_sizes, in_channels]
        lengths = tuple(axis.effective_filter for axis in axes)
        view = sliding_window_view(padded, lengths, axis=tuple(range(1, rank + 1)))
        strides = [slice(None, None, axis.stride) for axis in axes]
        dilations = [slice(None, None, axis.dilation) for axis in axes]
        view = view[:, *strides, :, *dilations]  # mark: stride dilation of im2col/y im2col/dw
        view = view.reshape(*view.shape[: rank + 1], groups, -1, *view.shape[rank + 2 :])
        # groups, batch, *outputs, *taps, channels
        view = view.transpose(rank + 1, *range(rank + 1), *range(rank + 3, 2 * rank + 3), rank + 2)
        patches = view.reshape(groups, prod(view.shape[1 : rank + 2]), prod(view.shape[rank + 2 :]))
        stage.arrays(padded=padded, patches=patches)
    return patches


def _multiply(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Step 3: multiply the matrices of each group."""
    with record.stage("matmul") as stage:
        product = left @ right  # mark: multiply-add of im2col taps by BLAS
        stage.arrays(left=left, right=right, product=product)
    return product


def add_patches(patches: np.ndarray, dx: np.ndarray, geometry: ConvGeometry) -> None:
    """Add every patch back to where it was taken from: col2im, the transpose of `extract_patches`."""
    with record.stage("add patches") as stage:
        axes, rank, windows = geometry.axes, geometry.rank, [window(axis) for axis in geometry.axes]
        padded_shape = (len(dx), *(axis.size for axis in windows), dx.shape[-1])
        padded = zeros(padded_shape, dx.dtype, "the padded result")
        out_sizes = (axis.out_size for axis in axes)
        patches = patches.reshape(geometry.groups, len(dx), *out_sizes, *geometry.filters_shape[:-1])
        # *taps, batch, *outputs, groups, channels
        patches = patches.transpose(*range(rank + 2, 2 * rank + 2), *range(1, rank + 2), 0, -1)
        for tap in np.ndindex(patches.shape[:rank]):
            # mark: dilation of im2col/dx
            firsts = [index * axis.dilation for index, axis in zip(tap, axes, strict=True)]
            # mark: stride of im2col/dx
            places = [
                slice(n, n + a.out_size * a.stride, a.stride) for n, a in zip(firsts, axes, strict=True)
            ]
            target = padded[:, *places]
            target += patches[tap].reshape(target.shape)
        inside, source = (axis.inside for axis in windows), (axis.source for axis in windows)
        dx[:, *source] += padded[:, *inside]  # mark: padding of im2col/dx
        stage.arrays(patches=patches, padded=padded)


# ---------------------------------------------------------------------------------------------
# Groups, blocks of images, and one tap at a time
# ---------------------------------------------------------------------------------------------


def _to_groups(cells: np.ndarray, groups: int) -> np.ndarray:
    """Return [batch, *sizes, channels] as [groups, batch * sizes, channels / groups]."""
    *places, channels = cells.shape
    return cells.reshape(prod(places), groups, channels // groups).swapaxes(0, 1)


def _from_groups(cells: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return what `_to_groups` returned in its original shape."""
    return cells.swapaxes(0, 1).reshape(shape)


def _split_filter(matrix: np.ndarray, geometry: ConvGeometry) -> np.ndarray:
    """Return [taps * in_channels / groups, out_channels] as [groups, .., out_channels / groups]."""
    return matrix.reshape(len(matrix), geometry.groups, -1).swapaxes(0, 1)


def _patch_blocks(geometry: ConvGeometry, dtype: np.dtype) -> Iterator[Block]:
    """Yield blocks whose patches, and the products with them, are not too large."""
    taps = prod(geometry.filters_shape[:-2])
    return _blocks(geometry, dtype, taps * geometry.in_channels, prod(geometry.filters_shape))


def _blocks(geometry: ConvGeometry, dtype: np.dtype, numbers: int, macs: int) -> Iterator[Block]:
    """Yield blocks of at most `_BLOCK_BYTES` and `_BLOCK_MACS`, given what one place of the output takes."""
    places = min(_BLOCK_BYTES // (numbers * dtype.itemsize), _BLOCK_MACS[dtype.kind] // macs)
    with held("numpy", macs=geometry.macs):  # until the last block is multiplied
        yield from blocks(geometry, places)


def _each_tap(
    geometry: ConvGeometry, dtype: np.dtype
) -> Iterator[tuple[Block, tuple[int, ...], tuple[slice, ...], tuple[slice, ...]]]:
    """Yield each block and tap, with the inputs of the block that it reads and the outputs that it feeds."""
    channels = geometry.in_channels + geometry.out_channels
    for block in _blocks(geometry, dtype, channels, prod(geometry.filters_shape[-2:])):
        for tap, outputs, inputs in each_tap(block.geometry.axes):
            yield block, tap, (slice(None), *inputs), (slice(None), *outputs)


def _add(target: np.ndarray, where: tuple[Any, ...], product: np.ndarray) -> None:
    """Add a product, in the shape of groups, to a part of an array."""
    target[where] += _from_groups(product, target[where].shape)


def _mostly_padding(geometry: ConvGeometry) -> bool:
    """Whether a large dilation or padding makes the padded image many times as large as the image."""
    padded, image = prod(window(axis).size for axis in geometry.axes), geometry.input_shape[1:-1]
    return padded > 16 * max(prod(image), 1 << 16)


def _choose(algorithm: str | None, factor: np.ndarray, geometry: ConvGeometry) -> str:
    """Return im2col; or taps if im2col would multiply padding by infinity or NaN, or mostly padding."""
    with record.stage("choose algorithm") as stage:
        chosen = algorithm or ("taps" if _mostly_padding(geometry) else "im2col")
        if chosen == "im2col" and geometry.has_padding and not np.isfinite(factor).all():
            chosen = "taps"
            stage.say("im2col gives way: it would multiply padding zeros by infinity or NaN")
        stage.know(algorithm=chosen)
        stage.say("{}", chosen)
    return chosen
