"""The steps of Winograd's F(2x2, 3x3) and F(4x4, 3x3), and of the filter gradient by the former."""

from __future__ import annotations

from math import prod

import numpy as np

from ...core.geometry import Conv2DGeometry
from .job import ENOUGH_BLOCKS, Job
from .launches import Argument, Matmul, Matrix

# The transformed tiles of a block, in and out. Blocks of 16 MiB would stay in the second-level cache between
# the kernel that writes and the one that reads them, but a large layer then has dozens of blocks, and their
# launches take longer than the traffic that is saved.
_BLOCK_BYTES = 256 << 20
_EDGE = 128  # cells of a tile of cuBLAS along an axis: a product has a block for each tile
_SHORTEST = 128  # tiles of a slice, at least: its sums are written and read once more


def winograd2_pays(g: Conv2DGeometry) -> bool:
    """Return whether F(2x2, 3x3) saves more than its transformed tiles cost to write and read.

    For every tile of 2 x 2 outputs it saves 20 * in * out multiply-adds, and moves 16 * (in + out) numbers to
    memory and back. With 64 channels in and out both take an H100 as long; with fewer the traffic takes
    longer, unless all tiles fit into a block.
    """
    channels, pairs = g.in_channels + g.out_channels, g.in_channels * g.out_channels
    tiles = g.batch * prod(-(-size // 2) for size in g.output_shape[1:3])
    return pairs > 32 * channels or 16 * 4 * tiles * channels <= _BLOCK_BYTES


def winograd(job: Job, tile: int) -> None:
    """Add the steps of F(tile x tile, 3 x 3); an input gradient is the same with the filter flipped."""
    if job.kind.sums_images:
        _filter_gradient(job)
        return
    g, elements = job.g, (tile + 2) ** 2
    source, result = g.shape_of(job.kind.first), g.shape_of(job.kind.result)
    depth, width, is_flipped = source[3], result[3], job.kind.scatters
    # 2 - pad: for the flipped filter
    pads = [2 - axis.pad_before if is_flipped else axis.pad_before for axis in (g.rows, g.cols)]
    tiles = [-(-size // tile) for size in result[1:3]]
    count, cell = g.batch * prod(tiles), elements * np.dtype(job.sum_dtype).itemsize
    block = min(count, max(1, _BLOCK_BYTES // (cell * (depth + width))))
    u, limits = job.buffer("u", elements * depth * width), _limits(job)
    marks = job.buffer("filter_marks", 3, "int32", zero=True)
    v, m = job.buffer("v", elements * block * depth), job.buffer("m", elements * block * width)
    data_marks = job.buffer("data_marks", 3 * g.batch, "int32", zero=True)
    to_u, to_v, from_m = (
        job.kernel("winograd.cu", f"transform_{name}", f"TILE={tile}", kind=name == "output")
        for name in ("filter", "input", "output")
    )
    job.launch(to_u, depth * width, "second", *g.filters_shape[2:], int(is_flipped), *limits, u, marks)
    job.kept, job.preparing = (u, marks), len(job.steps)
    for first in range(0, count, block):
        n = min(block, count - first)
        span: tuple[Argument | int, ...] = (*tiles, np.int64(first), np.int64(n))
        job.launch(to_v, n * depth, "first", *source, *pads, *span, *limits, v, data_marks, 3)
        left, right = Matrix(v, (elements, n, depth)), Matrix(u, (elements, depth, width))
        job.steps.append(Matmul(left, right, Matrix(m, (elements, n, width))))
        sizes, last = (*source[1:3], *pads, *result[1:]), (job.bias, job.relu, "result")
        operands = job.problem, "first", "second", m, marks, data_marks
        job.launch(from_m, n * width, *operands, *sizes, *span, *last)


def _filter_gradient(job: Job) -> None:
    """Add the steps of the filter gradient by F(2x2, 3x3), whose products sum over the tiles."""
    g, elements = job.g, 16
    channels, tiles = (g.in_channels, g.out_channels), [-(-size // 2) for size in g.output_shape[1:3]]
    count, cell = g.batch * prod(tiles), elements * np.dtype(job.sum_dtype).itemsize
    blocks = -(-count // max(1, _BLOCK_BYTES // (cell * sum(channels))))
    # blocks of cuBLAS do not share a depth in a stack: as many slices as run at the same time
    grid = elements * prod(-(-size // _EDGE) for size in channels)
    slices = job.splits(grid, -(-count // blocks), _SHORTEST, ENOUGH_BLOCKS // grid * grid)
    depth, stack = -(-count // (blocks * slices)), elements * slices
    v, u = (job.buffer(name, stack * depth * size) for name, size in zip("vu", channels, strict=True))
    sums = job.buffer("sums", stack * prod(channels))
    x_marks, dy_marks = (job.buffer(name, 3, "int32", zero=True) for name in ("x_marks", "dy_marks"))
    to_v, to_u = (
        job.kernel("winograd.cu", "transform_input", "TILE=2", *of, kind=False)
        for of in ((), ("OF_GRADIENT",))
    )
    left = Matrix(v, (stack, depth, g.in_channels), transposed=True)
    right, out = Matrix(u, (stack, depth, g.out_channels)), Matrix(sums, (stack, *channels))
    x, dy = (*g.input_shape, g.rows.pad_before, g.cols.pad_before), (*g.output_shape, 0, 0)
    for first in range(0, count, slices * depth):
        span: tuple[Argument | int, ...] = (*tiles, np.int64(first), np.int64(slices * depth), *_limits(job))
        job.launch(to_v, slices * depth * g.in_channels, "first", *x, *span, v, x_marks, 0)
        job.launch(to_u, slices * depth * g.out_channels, "second", *dy, *span, u, dy_marks, 0)
        job.steps.append(Matmul(left, right, out, accumulate=first > 0))
    to_dw = job.kernel("winograd.cu", "transform_sums", "TILE=2")
    job.launch(
        to_dw, prod(channels), job.problem, "first", "second", sums, slices, x_marks, dy_marks, "result"
    )


def _limits(job: Job) -> tuple[np.generic, np.generic]:
    """Return the magnitudes beyond which a sum of 2**30 products could overflow, or a transform lose bits."""
    exponent = 450 if job.sum_dtype == "float64" else 45
    return job.number(2.0**exponent), job.number(2.0**-exponent)
