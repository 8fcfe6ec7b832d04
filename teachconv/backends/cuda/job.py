"""A schedule under construction, and what the steps of all algorithms have in common.

The builders, one for each algorithm, are here, in `gemm`, `im2col` and `winograd`; `ladder` calls them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod

import numpy as np

from ...core.dtypes import accumulator
from ...core.geometry import Conv2DGeometry
from ...core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ...support.errors import ArgumentError
from .launches import BLOCK, MOST_BLOCKS, Argument, Buffer, Kernel, Launch, Matmul, Schedule, problem

KIND_NAMES = {FORWARD: "Forward", INPUT_GRADIENT: "InputGradient", FILTER_GRADIENT: "FilterGradient"}
_WIDE = 1 << 30  # elements: arrays of this size need offsets of 64 bits
_CHUNK = 64  # the depth of the deepest chunk of the gemms
SPLIT_BYTES = 64 << 20  # the most memory for partial sums
ENOUGH_BLOCKS = 2 * 132  # two for each multiprocessor of a large card


@dataclass
class Job:
    """A schedule under construction.

    Attributes:
        kind: the kind of call.
        g: its geometry.
        dtype: the dtype's name.
        bias: the name of the bias among the call's arrays, or None.
        relu: 1 if the activation is relu, else 0.
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
    buffers: dict[str, Buffer] = field(default_factory=dict)
    steps: list[Launch | Matmul] = field(default_factory=list)
    kept: tuple[str, ...] = ()
    preparing: int = 0

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

    def launch(self, kernel: Kernel, threads: int, *arguments: Argument | int) -> None:
        """Add a launch with a thread for each cell, or fewer, each of which computes several cells.

        Args:
            kernel: the kernel.
            threads: the number of cells.
            *arguments: the kernel's arguments. Plain ints become 32-bit integers; pass ``np.int64`` for a
                kernel's ``Index``.
        """
        self.launch_blocks(kernel, max(1, min(MOST_BLOCKS, -(-threads // BLOCK))), *arguments)

    def launch_blocks(self, kernel: Kernel, blocks: int, *arguments: Argument | int, shared: int = 0) -> None:
        """Add a launch with an exact number of blocks.

        Args:
            kernel: the kernel.
            blocks: the number of blocks.
            *arguments: as for `launch`.
            shared: bytes of shared memory for each block, besides what the kernel declares itself.

        Raises:
            ArgumentError: if CUDA takes no grid of this size.
        """
        if blocks >= 1 << 31:
            raise ArgumentError(
                f"the cupy backend needs fewer than 2**31 blocks for {kernel.name}; got {blocks}"
            )
        values = tuple(np.int32(a) if type(a) is int else a for a in arguments)
        self.steps.append(Launch(kernel, blocks, BLOCK, values, shared))  # type: ignore[arg-type]

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
    four = job.out_depth == 1 and g.out_channels % (128 if job.kind.sums_images else 4) == 0
    # of one thread; a block of the filter gradient has 32 threads along the channels
    channels = 4 if four else 1
    names = {FORWARD: "forward", INPUT_GRADIENT: "input_gradient", FILTER_GRADIENT: "filter_gradient"}
    kernel = job.kernel("depthwise.cu", f"depthwise_{names[job.kind]}", f"CHANNELS={channels}", kind=False)
    if not job.kind.sums_images:
        batch, rows, cols, depth = g.shape_of(job.kind.result)
        job.launch(kernel, batch * rows * -(-cols // 4) * (depth // channels), *job.call, "result")
        return
    filter_rows, filter_cols = g.filters_shape[:2]
    # as TAPS and LANES in the source
    blocks = filter_rows * -(-filter_cols // 5) * -(-g.out_channels // (32 * channels))
    # one product for each two loads: only many threads hide the waiting
    splits = job.splits(blocks, job.places, 64, 4 * ENOUGH_BLOCKS)
    job.launch_blocks(kernel, blocks * splits, job.problem, "first", "second", splits, job.partial(splits))
    job.add_splits(splits)
