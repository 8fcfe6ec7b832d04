"""The steps of the rungs that multiply tiles with our own kernels: tiled, registers, and the three gemms."""

from __future__ import annotations

import numpy as np

from ...core.geometry import Conv2DGeometry
from ...core.kinds import Kind
from .job import ENOUGH_BLOCKS, MULTIPROCESSORS, Job

_NARROW = 64  # the most columns for which pipelined_gemm's tiles have 64 of them
_SHORT_ON = (90,)  # the cards on which pipelined_gemm's tiles have 128 rows: only these were measured
_SHORTEST = 256  # the least depth of a block that shares its tile with others


def tiled(job: Job) -> None:
    """Add the launch of tiled."""
    job.launch_blocks(job.kernel("tiled.cu"), _tiles(job, 16, 16), *job.call, "result")


def registers(job: Job) -> None:
    """Add the launch of registers."""
    job.launch_blocks(job.kernel("registers.cu"), _tiles(job, 64, 64), *job.call, "result")


def implicit_gemm(job: Job) -> None:
    """Add the steps of implicit_gemm."""
    # 8 x 8 sums of 64 bits would take all registers
    _product(job, "implicit_gemm.cu", *_tile(job, 64 if job.dtype == "float64" else 128))


def tensor_gemm(job: Job) -> None:
    """Add the steps of tensor_gemm."""
    _product(job, "tensor_gemm.cu", *_tile(job, 128))


def pipelined_gemm(job: Job, defines: tuple[str, ...] = (), rows: int = 0) -> None:
    """Add the steps of pipelined_gemm.

    Args:
        job: the job.
        defines: ("TF32",) to round float32 for tensor cores, else nothing.
        rows: rows of a tile, 128 or 256; 0 to choose.
    """
    # with offsets of 64 bits, the registers do not hold 128 columns
    cols = 64 if job.is_wide or _sizes(job)[1] <= _NARROW else 128
    if not rows:
        # a filter gradient's depth is always split
        shares = _sizes(job)[3] // _SHORTEST if job.kind.sums_images else 1
        fills_card = cols == 128 and _tiles(job, 256, cols) * shares >= MULTIPROCESSORS
        on_tensor_cores = bool(defines) or job.dtype != "float32"
        rows = 256 if fills_card and on_tensor_cores and job.arch not in _SHORT_ON else 128
    itemsize = np.dtype(np.uint16 if job.dtype == "bfloat16" else job.dtype).itemsize
    vector = 16 // itemsize
    # as STAGES and TILE_DEPTH in the source
    stages, depth = (4 if rows == 128 else 3, 4 * vector) if cols > 64 else (3, 8 * vector)
    # as `Layout` in the source: lines along the depth, or along the rows (columns)
    a_size = depth * (rows + 8) if job.kind.sums_images else rows * (depth + vector)
    b_size = cols * (depth + vector) if job.kind.scatters else depth * (cols + 8)
    shared = stages * (a_size + b_size) * itemsize
    _product(job, "pipelined_gemm.cu", rows, cols, *defines, shared=shared)


def pipelined_needs(vector: int, kind: Kind, geometry: Conv2DGeometry) -> str:
    """Return what pipelined_gemm needs and a geometry lacks, or "": ``vector`` is the numbers in 16 bytes."""
    sizes = geometry.in_channels // geometry.groups, geometry.out_channels // geometry.groups
    if not any(size % vector for size in sizes):
        return ""
    return (
        f"in and out channels of a group in multiples of {vector}, so that a copy of 16 bytes has "
        f"channels of one pixel; got {sizes[0]} and {sizes[1]}"
    )


def _sizes(job: Job) -> tuple[int, int, int, int]:
    """Return rows, columns, repetitions (groups, phases) and depth of a call's matrix product."""
    g = job.g
    if job.kind.gathers:
        return job.places, job.out_depth, g.groups, job.depth
    if job.kind.sums_images:
        return job.depth, job.out_depth, g.groups, job.places
    (row_stride, col_stride), taps = g.strides, g.filters_shape[0] * g.filters_shape[1]
    cells = g.batch * -(-g.rows.in_size // row_stride) * -(-g.cols.in_size // col_stride)
    phases = row_stride * col_stride
    return cells, job.in_depth, g.groups * phases, max(1, taps // phases) * job.out_depth


def _tiles(job: Job, tile_rows: int, tile_cols: int) -> int:
    """Return the number of tiles of the result."""
    rows, cols, repeats, _ = _sizes(job)
    return -(-rows // tile_rows) * -(-cols // tile_cols) * repeats


def _tile(job: Job, largest: int) -> tuple[int, int]:
    """Return rows and columns of the largest tile of which, the depth split, there are enough."""
    rows, cols, _, depth = _sizes(job)
    for tile_rows, tile_cols in ((largest, largest), (largest, 64), (64, 64)):
        enough = _tiles(job, tile_rows, tile_cols) * -(-depth // _SHORTEST) >= ENOUGH_BLOCKS
        if enough and (cols > tile_cols // 2 or tile_cols == 64):
            break
    return tile_rows, tile_cols


def _product(job: Job, file: str, rows: int, cols: int, *defines: str, shared: int = 0) -> None:
    """Add the launch of a product and, if blocks share its depth, the sum of their parts."""
    tiles, depth = _tiles(job, rows, cols), _sizes(job)[3]
    kernel = job.kernel(file, "", f"TILE_ROWS={rows}", f"TILE_COLS={cols}", *defines)
    # half the blocks that would fill the card are not worth the traffic of partial sums
    splits = 1 if tiles > ENOUGH_BLOCKS // 2 else job.splits(tiles, depth, _SHORTEST)
    partial = job.partial(splits) if splits > 1 else None
    job.launch_blocks(kernel, tiles * splits, *job.call, splits, partial, "result", shared=shared)
    if splits > 1:
        job.add_splits(splits)
