"""What runs on a GPU, as data: kernels, launches, matrix products and scratch; and `execute`, which runs it.

A `Schedule` is made from integers alone (see `ladder`). A `Machine` runs one: either the device by CuPy, or
the host, for which the tests compile the same kernels with a C++ compiler. Everything between a geometry and
a kernel is therefore the same on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol, TypeAlias

import numpy as np

from ...core.geometry import Conv2DGeometry
from ...support.errors import ArgumentError

# the name of an array, a number or a `problem` by value, a tensor map, or None for a null pointer
Argument: TypeAlias = "str | np.generic | np.ndarray | TensorMap | None"

BLOCK = 256  # threads of a block, in nearly every launch
_TILE = 256  # output rows or columns of a tile, at most
MOST_BLOCKS = 1 << 20  # more would gain nothing, because every kernel loops with a step of the whole grid


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel and how it is compiled.

    Attributes:
        file: its source file.
        name: its name.
        dtype: the dtype that it is compiled for.
        defines: further macros, such as "TILE=2".
    """

    file: str
    name: str
    dtype: str
    defines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TensorMap:
    """What a card's copy engine is told of an array, innermost axis first; see `hopper.cuh`.

    Attributes:
        array: the array's name.
        dtype: its dtype; "float32" is rounded to TF32.
        sizes: its sizes.
        box: what one copy brings, along each axis; with ``steps``, the number of channels and of places.
        steps: in im2col mode, the distance of places along columns and rows.
        lower: where the first place is.
        upper: where the last place is, from the end of the array.
    """

    array: str
    dtype: str
    sizes: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...] = ()
    lower: tuple[int, ...] = ()
    upper: tuple[int, ...] = ()

    @property
    def strides(self) -> tuple[int, ...]:
        """The distance, in bytes, of neighbours along each axis but the first."""
        itemsize = 4 if self.dtype == "float32" else 2
        return tuple(itemsize * prod(self.sizes[:axis]) for axis in range(1, len(self.sizes)))


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch of a kernel.

    Attributes:
        kernel: the kernel.
        grid: the number of blocks.
        block: the number of threads in a block.
        arguments: the kernel's arguments, in order.
        shared: bytes of shared memory for each block, besides what the kernel declares itself.
    """

    kernel: Kernel
    grid: int
    block: int
    arguments: tuple[Argument, ...]
    shared: int = 0


@dataclass(frozen=True, slots=True)
class Matrix:
    """A buffer, viewed as a stack of matrices.

    Attributes:
        name: the buffer's name.
        shape: [matrices, rows, columns].
        transposed: whether the last two axes are swapped.
    """

    name: str
    shape: tuple[int, ...]
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class Matmul:
    """A stack of matrix products, out = left times right.

    Attributes:
        left: the left factors.
        right: the right factors.
        out: the products.
        accumulate: whether the products are added to ``out``.
    """

    left: Matrix
    right: Matrix
    out: Matrix
    accumulate: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Copy:
    """A copy of one buffer, or of a part of it, to another.

    Attributes:
        source: the buffer that is read.
        out: the buffer that is written.
        why: what for, in words.
        source_part: the indices that are read; all of them by default.
        out_part: the indices that are written; the others become zero.
    """

    source: Matrix
    out: Matrix
    why: str
    source_part: tuple[slice, ...] = ()
    out_part: tuple[slice, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class Convolution:
    """A convolution by cuDNN.

    Attributes:
        graph: cuDNN's graph, with an engine chosen.
        tensors: the graph's tensors, by the names of their buffers.
        engine: the name of the engine. Its scratch memory is the buffer "workspace".
    """

    graph: Any
    tensors: Mapping[str, Any]
    engine: str


# one step of a schedule
Step: TypeAlias = "Launch | Matmul | Copy | Convolution"


@dataclass(frozen=True, slots=True)
class Buffer:
    """Scratch memory: a flat array.

    Attributes:
        size: the number of elements.
        dtype: their dtype.
        zero: whether it is zeroed before use.
    """

    size: int
    dtype: str
    zero: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Schedule:
    """What one call does on the GPU.

    The names "first", "second", "bias" and "result" stand for the call's own arrays.

    Attributes:
        algorithm: the algorithm.
        why: why it was chosen.
        buffers: scratch buffers, by name.
        steps: the launches, products and so on, in order.
        kept: the buffers that depend on "second" alone: a plan fills them once and keeps them.
        preparing: the number of steps, from the first on, that fill the kept buffers.
    """

    algorithm: str
    why: str
    buffers: Mapping[str, Buffer]
    steps: tuple[Step, ...]
    kept: tuple[str, ...] = ()
    preparing: int = 0

    @property
    def scratch_bytes(self) -> int:
        """The size of all buffers together."""
        return sum(b.size * np.dtype(b.dtype).itemsize for b in self.buffers.values())


class Machine(Protocol):
    """What can run a schedule. Its arrays are its own, in C order."""

    def empty(self, size: int, dtype: str, zero: bool) -> Any:
        """Return a flat array, zeroed if ``zero`` is set."""

    def launch(self, step: Launch, arguments: Sequence[Any]) -> None:
        """Launch a kernel, compiling it first if necessary; ``arguments`` are the step's own, as arrays."""

    def tensor_map(self, tensor: TensorMap, array: Any) -> np.ndarray:
        """Return a tensor map as a kernel takes it by value."""

    def matmul(self, left: Any, right: Any, out: Any, accumulate: bool) -> None:
        """Multiply stacks of matrices and write the products to ``out``, or add them to it."""

    def copy(self, step: Copy, source: Any, out: Any) -> None:
        """Copy an array to another one of the same shape."""

    def convolve(self, step: Convolution, arrays: Mapping[str, Any], workspace: Any) -> None:
        """Run a convolution of cuDNN's; ``arrays`` are its arrays by their names."""


def prepare(schedule: Schedule, second: Any, machine: Machine) -> dict[str, Any]:
    """Fill the buffers that depend on the second operand alone.

    Args:
        schedule: the schedule.
        second: the second operand.
        machine: what runs it.

    Returns:
        The kept buffers, by name, for `execute`.
    """
    kept = _allocate(schedule, schedule.kept, machine)
    _run(schedule.steps[: schedule.preparing], {"second": second, **kept}, machine)
    return kept


def execute(
    schedule: Schedule, arrays: Mapping[str, Any], machine: Machine, kept: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Run a schedule.

    Args:
        schedule: the schedule.
        arrays: the call's own arrays, by name.
        machine: what runs it.
        kept: what `prepare` returned, or None to do that work, too.

    Returns:
        The scratch buffers, by name.
    """
    scratch = _allocate(schedule, [name for name in schedule.buffers if name not in (kept or {})], machine)
    scratch |= kept or {}
    steps = schedule.steps[schedule.preparing :] if kept else schedule.steps
    _run(steps, {**arrays, **scratch}, machine)
    return scratch


def _allocate(schedule: Schedule, names: Sequence[str], machine: Machine) -> dict[str, Any]:
    buffers = {name: schedule.buffers[name] for name in names}
    return {name: machine.empty(b.size, b.dtype, b.zero) for name, b in buffers.items()}


def _run(steps: Sequence[Step], known: Mapping[str, Any], machine: Machine) -> None:
    def view(matrix: Matrix) -> Any:
        count = 1
        for size in matrix.shape:
            count *= size
        stack = known[matrix.name].reshape(-1)[:count].reshape(matrix.shape)
        return stack.swapaxes(-1, -2) if matrix.transposed else stack

    def value(argument: Argument) -> Any:
        if isinstance(argument, TensorMap):
            return machine.tensor_map(argument, known[argument.array])
        return known[argument] if isinstance(argument, str) else argument

    for step in steps:
        if isinstance(step, Matmul):
            machine.matmul(view(step.left), view(step.right), view(step.out), step.accumulate)
        elif isinstance(step, Copy):
            machine.copy(step, view(step.source), view(step.out))
        elif isinstance(step, Convolution):
            machine.convolve(step, {name: known[name] for name in step.tensors}, known["workspace"])
        else:
            machine.launch(step, [value(argument) for argument in step.arguments])


# struct Problem of common.cuh. CuPy passes a NumPy array with one element, of any dtype, by value.
PROBLEM = np.dtype([("integers", np.int32, 16), ("redone", np.uint64)])
TENSOR_MAP = np.dtype([("bits", np.uint8, 128)])  # struct TensorMap of hopper.cuh


def problem(g: Conv2DGeometry) -> np.ndarray:
    """Return a geometry as the struct that kernels take by value.

    Raises ``ValueError`` if an index could exceed 32 bits, in which the kernels count rows and columns.
    """
    for name, axis in (("rows", g.rows), ("columns", g.cols)):
        # the last tile of a kernel may begin inside the output and end beyond it
        span = (axis.out_size + _TILE) * axis.stride + axis.effective_filter + abs(axis.pad_before)
        if span >= 2**31:
            raise ArgumentError(
                f"the cupy backend counts in 32 bits, and the taps span {span} {name}; use backend='cython'"
            )
    return np.array((g.integers, 0), PROBLEM)
