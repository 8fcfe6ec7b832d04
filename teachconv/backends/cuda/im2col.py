"""The steps of im2col: patches as a matrix, one block at a time, and one large product by cuBLAS."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from ...core.geometry import Conv2DGeometry
from ...core.taps import scatter
from .job import Job
from .launches import Matmul, Matrix

_BLOCK_BYTES = 128 << 20  # the most memory for a block of patches


def im2col(job: Job) -> None:
    """Add the steps of im2col, one block of places at a time."""
    g, size = job.g, np.dtype(job.sum_dtype).itemsize
    is_same_type = job.dtype == job.sum_dtype
    if is_one_product(g) and is_same_type and not (job.kind.scatters and (job.bias or job.relu)):
        _one_product(job)
        return
    if job.kind.scatters:
        _col2im(job)
        return
    block = min(job.places, max(1, _BLOCK_BYTES // (job.depth * g.groups * size)))
    patches = job.buffer("patches", block * job.depth * g.groups)
    other = job.buffer("matrix", (job.depth if job.kind.gathers else block) * g.out_channels)
    sums = job.buffer("product", (block if job.kind.gathers else job.depth) * g.out_channels)
    to_patches, to_groups, from_groups = (
        job.kernel("im2col.cu", name, kind=name == "from_groups")
        for name in ("to_patches", "to_groups", "from_groups")
    )
    operands, groups, last = (job.problem, "first", "second"), (g.groups, job.out_depth), (job.bias, job.relu)
    if job.kind.gathers:
        _split_filter(job, other)
    for first in range(0, job.places, block):
        count = min(block, job.places - first)
        span = np.int64(first), np.int64(count)
        job.launch(to_patches, count * job.depth * g.groups, job.problem, "first", *span, patches)
        left = Matrix(patches, (g.groups, count, job.depth))
        if job.kind.gathers:
            right = Matrix(other, (g.groups, job.depth, job.out_depth))
            job.steps.append(Matmul(left, right, Matrix(sums, (g.groups, count, job.out_depth))))
            job.launch(from_groups, count * g.out_channels, *operands, sums, *span, *last, "result")
            continue
        job.launch(to_groups, count * g.out_channels, "second", *span, *groups, other)
        left = Matrix(patches, left.shape, transposed=True)
        right = Matrix(other, (g.groups, count, job.out_depth))
        out = Matrix(sums, (g.groups, job.depth, job.out_depth))
        job.steps.append(Matmul(left, right, out, accumulate=first > 0))
    if job.kind.sums_images:
        whole = np.int64(0), np.int64(job.depth)
        job.launch(from_groups, job.depth * g.out_channels, *operands, sums, *whole, *last, "result")


def is_one_product(g: Conv2DGeometry) -> bool:
    """Return whether a convolution is one product of the arrays as they are, without patches."""
    plain = g.filters_shape[:2] == g.strides == (1, 1) and g.groups == 1 and not g.has_padding
    return plain and g.input_shape[:3] == g.output_shape[:3] and prod(g.output_shape[:3]) < 1 << 31


def _one_product(job: Job) -> None:
    """Add the product of x and w, of dy and the transposed w, or of the transposed x and dy."""
    x, w = (1, job.places, job.in_depth), (1, job.in_depth, job.out_depth)
    y = 1, job.places, job.out_depth
    if job.kind.gathers:
        job.steps.append(Matmul(Matrix("first", x), Matrix("second", w), Matrix("result", y)))
    elif job.kind.scatters:
        job.steps.append(Matmul(Matrix("first", y), Matrix("second", w, True), Matrix("result", x)))
    else:
        job.steps.append(Matmul(Matrix("first", x, True), Matrix("second", y), Matrix("result", w)))
    if job.bias or job.relu:  # in place
        span = np.int64(0), np.int64(job.places)
        operands = job.problem, "first", "second", "result"
        finish = job.kernel("im2col.cu", "from_groups")
        job.launch(finish, job.cells, *operands, *span, job.bias, job.relu, "result")


def _split_filter(job: Job, matrix: str) -> None:
    """Add the launch that writes the filter as [groups, taps * in_channels / groups, .. / groups]."""
    kernel, depth = job.kernel("im2col.cu", "to_groups", kind=False), np.int64(job.depth)
    cells = job.depth * job.g.out_channels
    job.launch(kernel, cells, "second", np.int64(0), depth, job.g.groups, job.out_depth, matrix)


def _col2im(job: Job) -> None:
    """Add the steps of col2im: dy times the transposed filter, gathered.

    No padding is multiplied, so nothing has to be recomputed.
    """
    g = job.g
    out_cols, row_numbers = g.cols.out_size, g.cols.out_size * job.depth * g.groups
    fit = max(1, _BLOCK_BYTES // (row_numbers * np.dtype(job.sum_dtype).itemsize))  # output rows of a block
    blocks = list(_input_blocks(g, fit))
    rows = max(block.images * block.out_rows for block in blocks)
    columns = job.buffer("columns", rows * row_numbers)
    upstream = job.buffer("upstream", rows * out_cols * g.out_channels)
    matrix = job.buffer("matrix", job.depth * g.out_channels)
    _split_filter(job, matrix)
    to_groups, col2im = (job.kernel("im2col.cu", name, kind=False) for name in ("to_groups", "col2im"))
    right = Matrix(matrix, (g.groups, job.depth, job.out_depth), transposed=True)
    for b in blocks:
        first = (b.first_image * g.rows.out_size + b.first_out_row) * out_cols
        count = b.images * b.out_rows * out_cols
        span = np.int64(first), np.int64(count)
        job.launch(to_groups, count * g.out_channels, "first", *span, g.groups, job.out_depth, upstream)
        left = Matrix(upstream, (g.groups, count, job.out_depth))
        job.steps.append(Matmul(left, right, Matrix(columns, (g.groups, count, job.depth))))
        cells = b.images * b.in_rows * g.cols.in_size * g.in_channels
        where = b.first_image, b.images, b.first_in_row, b.in_rows, b.first_out_row, b.out_rows
        job.launch(col2im, cells, job.problem, columns, *where, job.bias, job.relu, "result")


@dataclass(frozen=True, slots=True)
class _InputBlock:
    """Whole images, or input rows of one image, and the output rows that read them."""

    first_image: int
    images: int
    first_in_row: int
    in_rows: int
    first_out_row: int
    out_rows: int


def _input_blocks(g: Conv2DGeometry, fit: int) -> Iterator[_InputBlock]:
    """Yield blocks that need at most ``fit`` output rows, or a single input row if even that needs more."""
    in_rows, out_rows = g.rows.in_size, g.rows.out_size
    if out_rows <= fit:
        step = min(g.batch, fit // out_rows)
        for image in range(0, g.batch, step):
            yield _InputBlock(image, min(step, g.batch - image), 0, in_rows, 0, out_rows)
        return
    spans, first = [], 0
    low, high = out_rows, 0  # the outputs that read rows first .. row
    for row, reach in enumerate(scatter(g.rows)):
        new_low, new_high = min((low, *reach.indices)), max((high, *(i + 1 for i in reach.indices)))
        if row > first and new_high - new_low > fit:
            spans.append((first, row - first, low, high))
            first, low, high = row, out_rows, 0
            new_low, new_high = min((low, *reach.indices)), max((high, *(i + 1 for i in reach.indices)))
        low, high = new_low, new_high
    spans.append((first, in_rows - first, low, high))
    for image in range(g.batch):
        for row, rows, low, high in spans:
            low = min(low, out_rows - 1)  # for rows that no output reads: one output row, which is not used
            yield _InputBlock(image, 1, row, rows, low, max(1, high - low))
