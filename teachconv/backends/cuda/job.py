"""A schedule under construction, and what the steps of all algorithms have in common.

The builders, one for each algorithm, are here, in `gemm`, `im2col` and `winograd`; `ladder` calls them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import gcd, prod

import numpy as np

from ...core.dtypes import accumulator, to_dtype
from ...core.geometry import Conv2DGeometry
from ...core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ...support.errors import ArgumentError
from .launches import BLOCK, MOST_BLOCKS, Argument, Buffer, Kernel, Launch, Matmul, Schedule, problem

KIND_NAMES = {FORWARD: "Forward", INPUT_GRADIENT: "InputGradient", FILTER_GRADIENT: "FilterGradient"}
_WIDE = 1 << 30  # elements: arrays of this size need offsets of 64 bits
_CHUNK = 64  # the depth of the deepest chunk of the gemms
SPLIT_BYTES = 64 << 20  # the most memory for partial sums
MULTIPROCESSORS = 132  # of a large card
ENOUGH_BLOCKS = 2 * MULTIPROCESSORS


@dataclass
class Job:
    """A schedule under construction.

    Attributes:
        kind: the kind of call.
        g: its geometry.
        dtype: the dtype's name.
        bias: the name of the bias among the call's arrays, or None.
        relu: 1 if the activation is relu, else 0.
        arch: the card's compute capability, times ten.
        buffers: the scratch buffers so far, by name.
        steps: the steps so far.
        kept: the names of the buffers that a plan keeps, as in `Schedule`.
        preparing: how many steps, from the first on, fill these.
    """

    kind: Kind
    g: Conv2DGeometry
    dtype: str
    bias: str | None
    relu: int
    arch: int = 90
    buffers: dict[str, Buffer] = field(default_factory=dict)
    steps: list[Launch | Matmul] = field(default_factory=list)
    kept: tuple[str, ...] = ()
    preparing: int = 0

    @property
    def sum_dtype(self) -> str:
        """The type in which products are summed."""
        return str(accumulator(self.dtype).name)

    @property
    def itemsize(self) -> int:
        """The bytes of a number."""
        return to_dtype(self.dtype).itemsize

    @property
    def places(self) -> int:
        """The number of output cells of one channel, all images together."""
        return self.g.batch * self.g.rows.out_size * self.g.cols.out_size

    @property
    def depth(self) -> int:
        """The number of values in a patch: taps times the channels of a group."""
        return prod(self.g.filters_shape[:3])

    @property
    def in_depth(self) -> int:
        """The input channels of a group."""
        return self.g.in_channels // self.g.groups

    @property
    def out_depth(self) -> int:
        """The output channels of a group."""
        return self.g.out_channels // self.g.groups

    @property
    def cells(self) -> int:
        """The number of elements of the result."""
        return prod(self.g.shape_of(self.kind.result))

    @property
    def is_wide(self) -> bool:
        """Whether an array is so large that its offsets need 64 bits."""
        arrays = (self.g.input_shape, self.g.filters_shape, self.g.output_shape)
        sizes = [prod(shape) for shape in arrays]
        # kernels step from a place in the padding, as far outside as a filter and the pads reach
        rows, cols = (sum(axis.full_edges[1]) + axis.effective_filter for axis in self.g.axes)
        sizes += [((n * h + rows) * w + cols) * depth for n, h, w, depth in (arrays[0], arrays[2])]
        sizes += [buffer.size for name, buffer in self.buffers.items() if name != "partial"]
        sizes.append(_CHUNK * self.g.out_channels)  # the last chunk of a product may end beyond its operand
        return max(sizes) >= _WIDE

    @property
    def problem(self) -> np.ndarray:
        """The geometry as the kernels take it."""
        return problem(self.g)

    @property
    def call(self) -> tuple[Argument | int, ...]:
        """The first arguments of most kernels."""
        return self.problem, "first", "second", self.bias, self.relu

    def kernel(self, file: str, name: str = "", *defines: str, kind: bool = True) -> Kernel:
        """Return a kernel for the dtype of the call, and for its kind unless ``kind`` is false.

        A file with several kernels is given the name of one, which becomes a macro: it is compiled alone.
        """
        own = (f"KIND={KIND_NAMES[self.kind]}",) if kind else ()
        alone = (name.upper(),) if name else ()
        return Kernel(file, name or file.removesuffix(".cu"), self.dtype, (*alone, *own, *defines))

    def buffer(self, name: str, size: int, dtype: str = "", zero: bool = False) -> str:
        """Add a scratch buffer and return its name."""
        self.buffers[name] = Buffer(size, dtype or self.sum_dtype, zero)
        return name

    def launch(self, kernel: Kernel, threads: int, *arguments: Argument | int, block: int = BLOCK) -> None:
        """Add a launch with a thread for each cell, or fewer, each of which computes several cells.

        Args:
            kernel: the kernel.
            threads: the number of cells.
            *arguments: the kernel's arguments. Plain ints become 32-bit integers; pass ``np.int64`` for a
                kernel's ``Index``.
            block: the number of threads in a block.
        """
        self.launch_blocks(kernel, max(1, min(MOST_BLOCKS, -(-threads // block))), *arguments, block=block)

    def launch_blocks(
        self, kernel: Kernel, blocks: int, *arguments: Argument | int, block: int = BLOCK, shared: int = 0
    ) -> None:
        """Add a launch with an exact number of blocks.

        Args:
            kernel: the kernel.
            blocks: the number of blocks.
            *arguments: as for `launch`.
            block: the number of threads in a block.
            shared: bytes of shared memory for each block, besides what the kernel declares itself.

        Raises:
            ArgumentError: if CUDA takes no grid of this size.
        """
        if blocks >= 1 << 31:
            raise ArgumentError(
                f"the cupy backend needs fewer than 2**31 blocks for {kernel.name}; got {blocks}"
            )
        values = tuple(np.int32(a) if type(a) is int else a for a in arguments)
        self.steps.append(Launch(kernel, blocks, block, values, shared))  # type: ignore[arg-type]

    def number(self, value: float) -> np.generic:
        """Return a number in the type of sums."""
        return np.dtype(self.sum_dtype).type(value)

    def splits(self, blocks: int, depth: int, shortest: int, enough: int = ENOUGH_BLOCKS) -> int:
        """Return how many blocks share a depth: ``enough`` in all, each with ``shortest`` or more of it."""
        partial = self.cells * np.dtype(self.sum_dtype).itemsize
        most = min(-(-depth // shortest), max(1, SPLIT_BYTES // partial))
        return max(1, min(most, -(-enough // blocks)))

    def partial(self, splits: int) -> str:
        """Add the buffer of partial sums and return its name."""
        return self.buffer("partial", splits * self.cells)

    def add_splits(self, splits: int) -> None:
        """Add the launch that adds the partial sums."""
        self.launch(self.kernel("add_splits.cu"), self.cells, *self.call, splits, "partial", "result")

    def finish(self, algorithm: str, why: str) -> Schedule:
        """Return the schedule. Its kernels are compiled for offsets of 64 bits if an array needs them."""
        wide = self.is_wide
        steps = tuple(_with_offsets(step, wide) for step in self.steps)
        return Schedule(algorithm, why, self.buffers, steps, self.kept, self.preparing)


def _with_offsets(step: Launch | Matmul, wide: bool) -> Launch | Matmul:
    """Return a step whose offsets, the arguments of type int64, have the bits that its kernel takes."""
    if isinstance(step, Matmul):
        return step
    if wide:
        return replace(step, kernel=replace(step.kernel, defines=(*step.kernel.defines, "WIDE")))
    narrow = tuple(np.int32(a) if isinstance(a, np.int64) else a for a in step.arguments)
    return replace(step, arguments=narrow)


def direct(job: Job) -> None:
    """Add the launch of direct."""
    job.launch(job.kernel("direct.cu"), job.cells, *job.call, "result")


def depthwise(job: Job) -> None:
    """Add the steps of depthwise."""
    g = job.g
    rows, cols = g.filters_shape[:2]
    # as many as 16 bytes hold, if that divides their number
    channels = gcd(16 // job.itemsize, g.out_channels) if job.out_depth == 1 else 1
    known = max(rows, cols) <= 7 and max(g.strides) <= 2 and g.dilations == (1, 1)
    names = ("FILTER_ROWS", "STRIDE_ROWS", "STRIDE_COLS")
    constants = [f"{name}={value}" for name, value in zip(names, (rows, *g.strides), strict=True) if known]
    if job.kind.sums_images:
        _depthwise_filter_gradient(job, channels, constants)
        return
    batch, height, width, depth = g.shape_of(job.kind.result)
    lines = batch * height * depth // channels
    # a small result is bound by latency: more and smaller blocks, whose threads load all rows at once
    is_small = lines * -(-width // 4) < MULTIPROCESSORS * BLOCK
    strip, block = (2, 64) if is_small else (4, BLOCK)
    tap_rows = rows if known and is_small and rows * cols <= 9 else 1
    sizes = (f"CHANNELS={channels}", f"STRIP={strip}", f"TAPS={cols if known else 1}", f"TAP_ROWS={tap_rows}")
    kernel = job.kernel("depthwise.cu", "depthwise_strips", *sizes, *constants)
    job.launch(kernel, lines * (width // strip + 1), *job.call, "result", block=block)


def _depthwise_filter_gradient(job: Job, channels: int, constants: Sequence[str]) -> None:
    """Add the steps of depthwise's filter gradient; with constants, the compiler knows filter and strides."""
    g = job.g
    rows, cols = g.filters_shape[:2]
    taps, strip = (cols, 4 // g.cols.stride) if constants else (5, 1)
    if taps * channels > 46:  # the sums of a thread for which shared memory has room
        channels = 4
    # the sums of a thread take at most 320 bytes of its registers, and its loads the rest
    most = min(5, 320 // (taps * channels * accumulator(job.dtype).itemsize)) if constants else 1
    row_blocks = -(-rows // most)
    strips = g.batch * g.rows.out_size * -(-g.cols.out_size // strip)
    # lanes load 128 neighbouring bytes, or 64 if the channels do not fill them or there are few strips
    lanes = 128 // (channels * job.itemsize)
    if g.out_channels % (lanes * channels) or strips < BLOCK:
        lanes //= 2
    sizes = (f"CHANNELS={channels}", f"LANES={lanes}", f"STRIP={strip}", f"TAPS={taps}")
    tap_rows = f"TAP_ROWS={-(-rows // row_blocks)}"
    kernel = job.kernel("depthwise.cu", "depthwise_filter_gradient", *sizes, tap_rows, *constants, kind=False)
    blocks = row_blocks * -(-cols // taps) * -(-g.out_channels // (lanes * channels))
    at_once = BLOCK // lanes  # strips that a block takes at the same time
    # a multiprocessor has registers for one block: all blocks run at the same time
    most_blocks = MULTIPROCESSORS // blocks * blocks
    splits = 1 if strips <= 2 * at_once else job.splits(blocks, strips, at_once, most_blocks)
    partial = job.partial(splits) if splits > 1 else None
    job.launch_blocks(kernel, blocks * splits, job.problem, "first", "second", splits, partial, "result")
    if splits > 1:
        job.add_splits(splits)
