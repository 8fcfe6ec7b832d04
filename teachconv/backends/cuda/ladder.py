"""The GPU's algorithms: what each can do, which one is chosen, and the launches that it consists of.

The algorithms form a ladder from simple to fast; each of them is a rung. This module takes plain integers
and returns a `Schedule`. The arithmetic is in the .cu files, each of which begins with a drawing. A choice
depends on shapes and dtype, never on the card, so that the same call gives the same bits with the same
library versions. The sizes of tiles, splits and scratch blocks were derived on paper and not tuned.

A *tap* is one position of the filter. The input gradient sorts the input's cells into *phases*: cells whose
indices have the same remainder by the stride, and which are therefore read through the same taps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod

import numpy as np

from ...dtypes import FLOATS, accumulator, float_format
from ...errors import ArgumentError
from ...geometry import Conv2DGeometry
from ...kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ...taps import scatter
from .. import Algorithm
from .launches import BLOCK, Argument, Buffer, Kernel, Launch, Matmul, Matrix, Schedule, launch, problem

__all__ = ["ALGORITHMS", "choose", "schedule"]

_SUFFIX = {FORWARD: "forward", INPUT_GRADIENT: "input_gradient", FILTER_GRADIENT: "filter_gradient"}
_HALVES = ("float16", "bfloat16")
_BLOCK_BYTES = 128 << 20  # the most memory for a block of patches, or of Winograd's transformed tiles
_SPLIT_BYTES = 64 << 20  # the most memory for a filter gradient's partial sums
_ENOUGH_TILES = 2 * 132  # two tiles for each multiprocessor of a large card
_REDO_BLOCKS = 4096  # images rarely have to be recomputed


def _winograd_needs(kind: Kind, geometry: Conv2DGeometry) -> str:
    """Return what Winograd needs and a geometry lacks, or ""."""
    sizes = geometry.filters_shape[:2], geometry.strides, geometry.dilations, geometry.groups
    if sizes == ((3, 3), (1, 1), (1, 1), 1):
        return ""
    return (
        f"filters 3 x 3, strides 1, dilations 1 and one group; got filters {sizes[0]}, strides {sizes[1]}, "
        f"dilations {sizes[2]} and groups {sizes[3]}"
    )


def _depthwise_needs(kind: Kind, geometry: Conv2DGeometry) -> str:
    """Return what depthwise needs and a geometry lacks, or ""."""
    if geometry.groups == geometry.in_channels:
        return ""
    return f"groups = in_channels; got {geometry.groups} groups of {geometry.in_channels} channels"


ALGORITHMS = (
    Algorithm("direct", "the definition, one thread per cell of the result"),
    Algorithm(
        "im2col", "patches as a matrix, one block at a time, and one large product by cuBLAS", dtypes=FLOATS
    ),
    Algorithm(
        "implicit_gemm",
        "tiles in shared memory, loaded directly from the input: no patches in memory",
        dtypes=FLOATS,
    ),
    Algorithm(
        "tensor_gemm",
        "the same tiles on tensor cores: half types, sums in float32",
        dtypes=_HALVES,
        precision="default",
        error="tensor",
    ),
    Algorithm(
        "tensor_gemm_tf32",
        "float32 on tensor cores, factors rounded to 11 bits: only on request",
        dtypes=("float32",),
        precision="tf32",
        error="tf32",
    ),
    Algorithm(
        "winograd2",
        "F(2x2, 3x3): 16 multiplications instead of 36, and more additions",
        kinds=(FORWARD, INPUT_GRADIENT),
        dtypes=FLOATS,
        precision="default",
        error="winograd2",
        refuses=_winograd_needs,
    ),
    Algorithm(
        "winograd4",
        "F(4x4, 3x3): 36 multiplications instead of 144, and a larger error",
        kinds=(FORWARD, INPUT_GRADIENT),
        dtypes=FLOATS,
        precision="fast",
        error="winograd4",
        refuses=_winograd_needs,
    ),
    Algorithm(
        "depthwise",
        "a strip of outputs per thread, each weight read once: groups = in_channels only",
        dtypes=FLOATS,
        refuses=_depthwise_needs,
    ),
)


def choose(kind: Kind, g: Conv2DGeometry, dtype: str, precision: str | None) -> tuple[str, str]:
    """Return the algorithm that fits a call best, and why.

    Args:
        kind: the kind of call.
        g: its geometry.
        dtype: the dtype's name.
        precision: None, "strict", "fast" or "tf32".

    Returns:
        The algorithm's name, and the reason in words.

    >>> from teachconv.geometry import conv2d_geometry
    >>> choose(FORWARD, conv2d_geometry((1, 56, 56, 64), (3, 3, 64, 64)), "float32", None)
    ('winograd2', '3x3 at stride 1 with enough channels to pay for its transforms')
    """
    if dtype not in FLOATS:
        return "direct", "the other algorithms take no integers"  # mark: choice of direct
    if not _depthwise_needs(kind, g) and g.in_channels > 1:
        return "depthwise", "every channel is a group of its own"  # mark: choice of depthwise
    width = (g.in_channels if kind.scatters else g.out_channels) // g.groups
    if g.groups > 1 and width < 8:
        # mark: choice of direct
        return "direct", f"groups of {width} channels would leave tiles nearly empty"
    if dtype == "float32" and precision == "tf32":
        return "tensor_gemm_tf32", "TF32 was requested"  # mark: choice of tensor_gemm_tf32
    if dtype in _HALVES and precision != "strict":
        return "tensor_gemm", "tensor cores take half types and sum in float32"  # mark: choice of tensor_gemm
    small = min(g.in_channels, g.out_channels)
    if precision != "strict" and not kind.sums_images and not _winograd_needs(kind, g) and small >= 32:
        if precision == "fast":
            # mark: choice of winograd4
            return "winograd4", "3x3 at stride 1, and precision='fast' allows the larger tile"
        # mark: choice of winograd2
        return "winograd2", "3x3 at stride 1 with enough channels to pay for its transforms"
    return "implicit_gemm", "the general default"  # mark: choice of implicit_gemm


@lru_cache(maxsize=1024)
def schedule(
    kind: Kind,
    geometry: Conv2DGeometry,
    dtype: str,
    algorithm: str | None,
    precision: str | None,
    bias: bool,
    relu: bool,
) -> Schedule:
    """Return the launches of one call.

    Args:
        kind: the kind of call.
        geometry: its geometry.
        dtype: the dtype's name.
        algorithm: the requested algorithm, or None to choose one.
        precision: None, "strict", "fast" or "tf32".
        bias: whether there is a bias.
        relu: whether the activation is relu.

    Returns:
        A `Schedule`.

    Raises:
        ArgumentError: if a size is too large for the kernels' 32-bit counters.
    """
    _check_sizes(geometry)
    chosen, why = (algorithm, "requested") if algorithm else choose(kind, geometry, dtype, precision)
    job = _Job(kind, geometry, dtype, "bias" if bias else None, int(relu))
    build = {
        "direct": _direct,
        "im2col": _im2col,
        "implicit_gemm": _implicit_gemm,
        "tensor_gemm": _tensor_gemm,
        "tensor_gemm_tf32": _tensor_gemm,
        "winograd2": lambda job: _winograd(job, 2),
        "winograd4": lambda job: _winograd(job, 4),
        "depthwise": _depthwise,
    }
    build[chosen](job)
    return Schedule(chosen, why, job.buffers, tuple(job.steps), "redo" if "redo" in job.buffers else "")


def _check_sizes(g: Conv2DGeometry) -> None:
    """Raise if a size is too large for the kernels' 32-bit counters."""
    for name, axis in (("rows", g.rows), ("cols", g.cols)):
        reach = max(axis.in_size, axis.full_size) + abs(axis.pad_before) + axis.effective_filter
        if reach >= 1 << 30:
            raise ArgumentError(
                f"backend 'cupy' counts {name} in 32 bits: size, padding and filter together must stay "
                f"below 2**30; got {reach}"
            )
    if max(g.batch, g.in_channels, g.out_channels) >= 1 << 30:
        raise ArgumentError(
            f"backend 'cupy' counts images and channels in 32 bits: each must stay below 2**30; got batch "
            f"{g.batch}, in_channels {g.in_channels}, out_channels {g.out_channels}"
        )


@dataclass
class _Job:
    """A schedule under construction."""

    kind: Kind
    g: Conv2DGeometry
    dtype: str
    bias: str | None
    relu: int
    buffers: dict[str, Buffer] = field(default_factory=dict)
    steps: list[Launch | Matmul] = field(default_factory=list)

    @property
    def sum_dtype(self) -> str:
        """The type in which products are summed."""
        return str(accumulator(self.dtype).name)

    @property
    def places(self) -> int:
        """The number of output cells of one channel, all images together."""
        return self.g.batch * self.g.rows.out_size * self.g.cols.out_size

    @property
    def depth(self) -> int:
        """The number of values in a patch: taps times the channels of a group."""
        return prod(self.g.filters_shape[:3])

    @property
    def out_depth(self) -> int:
        """The output channels of a group."""
        return self.g.out_channels // self.g.groups

    @property
    def last(self) -> tuple[Argument | int, ...]:
        """The arguments of a cell's last step: bias and relu, which a filter gradient does not have."""
        return () if self.kind.sums_images else (self.bias, self.relu)

    def kernel(self, file: str, name: str, *defines: str) -> Kernel:
        """Return a kernel for the dtype of the call."""
        return Kernel(file, name, self.dtype, defines)

    def buffer(self, name: str, size: int, dtype: str = "", zero: bool = False) -> str:
        """Add a scratch buffer and return its name."""
        self.buffers[name] = Buffer(size, dtype or self.sum_dtype, zero)
        return name

    def launch(
        self, kernel: Kernel, threads: int, *arguments: Argument | int, most: int | None = None
    ) -> None:
        """Add a launch."""
        self.steps.append(launch(kernel, threads, *arguments, most=most))

    def number(self, value: float) -> np.generic:
        """Return a number in the type of sums."""
        return np.dtype(self.sum_dtype).type(value)


# ---------------------------------------------------------------------------------------------
# direct, and recomputing the images that another algorithm cannot handle
# ---------------------------------------------------------------------------------------------


def _direct(job: _Job, redo: str | None = None) -> None:
    """Add a launch of direct, for all images or for those that the buffer ``redo`` flags."""
    kernel = job.kernel("direct.cu", f"direct_{_SUFFIX[job.kind]}")
    cells = prod(job.g.shape_of(job.kind.result))
    most = _REDO_BLOCKS if redo else None
    job.launch(kernel, cells, *problem(job.g), "first", "second", *job.last, redo, "result", most=most)


def _redo_where_second_is_not_finite(job: _Job) -> None:
    """Recompute a call by direct if padding zeros would be multiplied by infinity or NaN, which gives NaN.

    The other factor of the padding is the second array: the filter, or dy for a filter gradient. An input
    gradient has an edge on every side, whatever its padding.
    """
    if not job.kind.scatters and not job.g.has_padding:
        return
    numbers = prod(job.g.output_shape if job.kind.sums_images else job.g.filters_shape)
    largest = float_format(job.sum_dtype).largest
    marks = job.buffer("marks", 3, "int32", zero=True)
    look = job.kernel("helpers.cu", "look")
    limits = job.number(largest), job.number(0)
    job.launch(look, numbers, "second", np.int64(numbers), 1, *limits, marks)
    _decide_and_redo(job, None, marks)


def _decide_and_redo(job: _Job, data_marks: str | None, other_marks: str) -> None:
    """Flag the images to recompute by the marks of both arrays, and recompute them by direct."""
    images = 1 if job.kind.sums_images else job.g.batch
    redo = job.buffer("redo", images, "int32")
    decide = job.kernel("helpers.cu", "decide")
    job.launch(decide, images, data_marks, images, other_marks, images, redo)
    _direct(job, redo)


# ---------------------------------------------------------------------------------------------
# Matrix products: im2col with cuBLAS, tiles with our own kernels
# ---------------------------------------------------------------------------------------------


def _im2col(job: _Job) -> None:
    """Add the steps of im2col, one block of places at a time."""
    g, size = job.g, np.dtype(job.sum_dtype).itemsize
    if job.kind.scatters:
        _col2im(job)
        return
    block = min(job.places, max(1, _BLOCK_BYTES // (job.depth * g.groups * size)))
    patches = job.buffer("patches", block * job.depth * g.groups)
    other = job.buffer("matrix", (job.depth if job.kind.gathers else block) * g.out_channels)
    sums = job.buffer("product", (block if job.kind.gathers else job.depth) * g.out_channels)
    to_patches, to_groups, from_groups = (
        job.kernel("im2col.cu", name) for name in ("to_patches", "to_groups", "from_groups")
    )
    groups = g.groups, job.out_depth
    if job.kind.gathers:
        _split_filter(job, other)
    for first in range(0, job.places, block):
        count = min(block, job.places - first)
        span = np.int64(first), np.int64(count)
        job.launch(to_patches, count * job.depth * g.groups, *problem(g), "first", *span, patches)
        left = Matrix(patches, (g.groups, count, job.depth))
        if job.kind.gathers:
            right = Matrix(other, (g.groups, job.depth, job.out_depth))
            job.steps.append(Matmul(left, right, Matrix(sums, (g.groups, count, job.out_depth))))
            job.launch(from_groups, count * g.out_channels, sums, *span, *groups, *job.last, "result")
            continue
        job.launch(to_groups, count * g.out_channels, "second", *span, *groups, other)
        left = Matrix(patches, left.shape, transposed=True)
        right = Matrix(other, (g.groups, count, job.out_depth))
        out = Matrix(sums, (g.groups, job.depth, job.out_depth))
        job.steps.append(Matmul(left, right, out, accumulate=first > 0))
    if job.kind.sums_images:
        whole = np.int64(0), np.int64(job.depth)
        job.launch(from_groups, job.depth * g.out_channels, sums, *whole, *groups, None, 0, "result")
    _redo_where_second_is_not_finite(job)


def _split_filter(job: _Job, matrix: str) -> None:
    """Add the launch that writes the filter as [groups, taps * in_channels / groups, .. / groups]."""
    kernel, depth = job.kernel("im2col.cu", "to_groups"), np.int64(job.depth)
    cells = job.depth * job.g.out_channels
    job.launch(kernel, cells, "second", np.int64(0), depth, job.g.groups, job.out_depth, matrix)


def _col2im(job: _Job) -> None:
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
    to_groups, col2im = job.kernel("im2col.cu", "to_groups"), job.kernel("im2col.cu", "col2im")
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
        job.launch(col2im, cells, *problem(g), columns, *where, *job.last, "result")


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


def _product_sizes(job: _Job) -> tuple[int, int, int]:
    """Return rows, columns and repetitions (groups, phases) of a call's matrix product."""
    g = job.g
    if job.kind.gathers:
        return job.places, job.out_depth, g.groups
    if job.kind.sums_images:
        return job.depth, job.out_depth, g.groups
    (row_stride, col_stride), in_depth = g.strides, g.in_channels // g.groups
    cells = g.batch * -(-g.rows.in_size // row_stride) * -(-g.cols.in_size // col_stride)
    return cells, in_depth, g.groups * row_stride * col_stride


def _tile_sizes(job: _Job, row_sizes: tuple[int, int], col_sizes: tuple[int, int]) -> tuple[int, int, int]:
    """Return the largest tile of which there are enough, as rows and columns, and the number of tiles."""
    rows, cols, repeats = _product_sizes(job)
    for tile_rows, tile_cols in (
        (row_sizes[1], col_sizes[1]),
        (row_sizes[1], col_sizes[0]),
        (row_sizes[0], col_sizes[0]),
    ):
        tiles = -(-rows // tile_rows) * -(-cols // tile_cols) * repeats
        enough = tiles >= _ENOUGH_TILES or (job.kind.sums_images and rows >= tile_rows)
        if enough and (cols > tile_cols // 2 or tile_cols == col_sizes[0]):
            break
    return tile_rows, tile_cols, tiles


def _splits(job: _Job, tiles: int, shortest: int) -> int:
    """Return how many blocks share the places of a filter gradient."""
    partial = job.depth * job.g.out_channels * np.dtype(job.sum_dtype).itemsize
    most = min(-(-job.places // shortest), max(1, _SPLIT_BYTES // partial))
    return max(1, min(most, -(-2 * _ENOUGH_TILES // tiles)))


def _add_splits(job: _Job, partial: str, splits: int) -> None:
    """Add the launch that sums the splits of a filter gradient."""
    cells = job.depth * job.g.out_channels
    job.launch(job.kernel("helpers.cu", "add_splits"), cells, partial, splits, np.int64(cells), "result")


def _implicit_gemm(job: _Job) -> None:
    """Add the steps of implicit_gemm."""
    large = 64 if job.dtype == "float64" else 128  # 8 x 8 sums of 64 bits would take all registers
    rows, cols, tiles = _tile_sizes(job, (64, large), (64, large))
    defines = f"RM={rows // 16}", f"RN={cols // 16}"
    _tiled(job, "implicit_gemm.cu", "implicit", defines, tiles)


def _tensor_gemm(job: _Job) -> None:
    """Add the steps of tensor_gemm."""
    rows, cols, tiles = _tile_sizes(job, (64, 128), (64, 128))
    _tiled(job, "tensor_gemm.cu", "tensor", (f"TILE_ROWS={rows}", f"TILE_COLS={cols}"), tiles)


def _tiled(job: _Job, file: str, prefix: str, defines: tuple[str, ...], tiles: int) -> None:
    """Add the launch of a tiled kernel, and for a filter gradient the sum of its splits."""
    kernel = job.kernel(file, f"{prefix}_{_SUFFIX[job.kind]}", *defines)
    arrays = "first", "second"
    if job.kind.sums_images:
        splits = _splits(job, tiles, 256)
        partial = job.buffer("partial", splits * job.depth * job.g.out_channels)
        job.launch(kernel, tiles * splits * BLOCK, *problem(job.g), *arrays, splits, partial)
        _add_splits(job, partial, splits)
    else:
        job.launch(kernel, tiles * BLOCK, *problem(job.g), *arrays, *job.last, "result")
    _redo_where_second_is_not_finite(job)


def _depthwise(job: _Job) -> None:
    """Add the steps of depthwise."""
    g = job.g
    kernel = job.kernel("depthwise.cu", f"depthwise_{_SUFFIX[job.kind]}")
    if not job.kind.sums_images:
        batch, rows, cols, channels = g.shape_of(job.kind.result)
        threads = batch * rows * -(-cols // 4) * channels
        job.launch(kernel, threads, *problem(g), "first", "second", *job.last, "result")
        return
    jobs = prod(g.filters_shape[:2]) * -(-g.out_channels // 32)
    splits = _splits(job, jobs, 64)
    partial = job.buffer("partial", splits * job.depth * g.out_channels)
    job.launch(kernel, jobs * splits * BLOCK, *problem(g), "first", "second", splits, partial)
    _add_splits(job, partial, splits)


# ---------------------------------------------------------------------------------------------
# Winograd
# ---------------------------------------------------------------------------------------------


def _winograd(job: _Job, tile: int) -> None:
    """Add the steps of F(tile x tile, 3 x 3); an input gradient is the same with the filter flipped."""
    g, elements = job.g, (tile + 2) ** 2
    gather = job.kind.gathers
    depth, width = (g.in_channels, g.out_channels) if gather else (g.out_channels, g.in_channels)
    axes = g.rows, g.cols
    source = [axis.in_size if gather else axis.out_size for axis in axes]
    result = [axis.out_size if gather else axis.in_size for axis in axes]
    pads = [
        axis.pad_before if gather else 2 - axis.pad_before for axis in axes
    ]  # 2 - pad: for the flipped filter
    tiles = [-(-size // tile) for size in result]
    count, cell = g.batch * prod(tiles), elements * np.dtype(job.sum_dtype).itemsize
    block = min(count, max(1, _BLOCK_BYTES // (cell * (depth + width))))
    exponent = (
        450 if job.sum_dtype == "float64" else 50
    )  # beyond this, a transform could overflow or lose bits
    limits = job.number(2.0**exponent), job.number(2.0**-exponent)
    u = job.buffer("u", elements * depth * width)
    v, m = job.buffer("v", elements * block * depth), job.buffer("m", elements * block * width)
    data_marks = job.buffer("data_marks", 3 * g.batch, "int32", zero=True)
    marks = job.buffer("marks", 3, "int32", zero=True)
    to_u, to_v, from_m = (
        job.kernel("winograd.cu", f"transform_{name}", f"TILE={tile}")
        for name in ("filter", "input", "output")
    )
    channels = g.in_channels, g.out_channels
    job.launch(to_u, depth * width, "second", *channels, int(not gather), *limits, u, marks)
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
        job.launch(from_m, n * width, m, *result, width, *span, *job.last, "result")
    _decide_and_redo(job, data_marks, marks)
