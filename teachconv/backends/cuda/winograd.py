"""The steps of Winograd's F(2x2, 3x3) and F(4x4, 3x3)."""

from __future__ import annotations

from math import prod

import numpy as np

from ...core.geometry import Conv2DGeometry
from .job import Job
from .launches import Argument, Matmul, Matrix

# The transformed tiles of a block, in and out. Blocks of 16 MiB would stay in the second-level cache between
# the kernel that writes and the one that reads them, but a large layer then has dozens of blocks, and their
# launches take longer than the traffic that is saved.
_BLOCK_BYTES = 256 << 20


def winograd2_pays(g: Conv2DGeometry) -> bool:
    """Return whether F(2x2, 3x3) saves more than its transformed tiles cost to write and read.

    For every tile of 2 x 2 outputs it saves 20 * in * out multiply-adds, and moves 16 * (in + out) numbers to
    memory and back. With 64 channels in and out both take an H100 as long; with fewer the traffic takes
    longer, unless all tiles fit into a block.
    """
    channels = g.in_channels + g.out_channels
    tiles = g.batch * prod(-(-size // 2) for size in (g.rows.out_size, g.cols.out_size))
    return g.in_channels * g.out_channels > 32 * channels or 16 * 4 * tiles * channels <= _BLOCK_BYTES


def winograd(job: Job, tile: int) -> None:
    """Add the steps of F(tile x tile, 3 x 3); an input gradient is the same with the filter flipped."""
    g, elements = job.g, (tile + 2) ** 2
    gather = job.kind.gathers
    depth, width = (g.in_channels, g.out_channels) if gather else (g.out_channels, g.in_channels)
    axes = g.rows, g.cols
    source = [axis.in_size if gather else axis.out_size for axis in axes]
    result = [axis.out_size if gather else axis.in_size for axis in axes]
    # 2 - pad: for the flipped filter
    pads = [axis.pad_before if gather else 2 - axis.pad_before for axis in axes]
    tiles = [-(-size // tile) for size in result]
    count, cell = g.batch * prod(tiles), elements * np.dtype(job.sum_dtype).itemsize
    block = min(count, max(1, _BLOCK_BYTES // (cell * (depth + width))))
    # beyond this, a transform could overflow or lose bits
    exponent = 450 if job.sum_dtype == "float64" else 50
    limits = job.number(2.0**exponent), job.number(2.0**-exponent)
    u = job.buffer("u", elements * depth * width)
    marks = job.buffer("filter_marks", 3, "int32", zero=True)
    v, m = job.buffer("v", elements * block * depth), job.buffer("m", elements * block * width)
    data_marks = job.buffer("data_marks", 3 * g.batch, "int32", zero=True)
    to_u, to_v, from_m = (
        job.kernel("winograd.cu", f"transform_{name}", f"TILE={tile}", kind=name == "output")
        for name in ("filter", "input", "output")
    )
    channels = g.in_channels, g.out_channels
    job.launch(to_u, depth * width, "second", *channels, int(not gather), *limits, u, marks)
    job.kept, job.preparing = (u, marks), len(job.steps)
    for first in range(0, count, block):
        n = min(block, count - first)
        span: tuple[Argument | int, ...] = (*tiles, np.int64(first), np.int64(n))
        job.launch(to_v, n * depth, "first", *source, depth, *pads, *span, *limits, v, data_marks)
        product = Matmul(
            Matrix(v, (elements, n, depth)),
            Matrix(u, (elements, depth, width)),
            Matrix(m, (elements, n, width)),
        )
        job.steps.append(product)
        operands = job.problem, "first", "second"
        last = job.bias, job.relu, "result"
        sizes = *source, *pads, *result, width
        job.launch(from_m, n * width, *operands, m, marks, data_marks, *sizes, *span, *last)
