"""What runs on a GPU, as data: kernels, launches, matrix products and scratch; and `execute`, which runs it.

A `Schedule` is made from integers alone (see `ladder`). A `Machine` runs one: either the device by CuPy, or
the host, for which the tests compile the same kernels with a C++ compiler. Everything between a geometry and
a kernel is therefore the same on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from ...geometry import Conv2DGeometry

__all__ = [
    "Buffer",
    "Kernel",
    "Launch",
    "Machine",
    "Matmul",
    "Matrix",
    "Schedule",
    "execute",
    "launch",
    "problem",
]

# the name of an array, a number by value, or None for a null pointer
Argument: TypeAlias = "str | np.generic | None"

BLOCK = 256  # threads of a block, in every launch
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
class Launch:
    """One launch of a kernel.

    Attributes:
        kernel: the kernel.
        grid: the number of blocks.
        block: the number of threads in a block.
        arguments: the kernel's arguments, in order.
    """

    kernel: Kernel
    grid: int
    block: int
    arguments: tuple[Argument, ...]


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
        steps: the launches and matrix products, in order.
        redo: the name of the buffer that flags the images to recompute, or "".
    """

    algorithm: str
    why: str
    buffers: Mapping[str, Buffer]
    steps: tuple[Launch | Matmul, ...]
    redo: str = ""

    @property
    def scratch_bytes(self) -> int:
        """The size of all buffers together."""
        return sum(b.size * np.dtype(b.dtype).itemsize for b in self.buffers.values())


class Machine(Protocol):
    """What can run a schedule. Its arrays are its own, in C order."""

    def empty(self, size: int, dtype: str, zero: bool) -> Any:
        """Return a flat array, zeroed if ``zero`` is set."""

    def launch(self, kernel: Kernel, grid: int, block: int, arguments: Sequence[Any]) -> None:
        """Launch a kernel, compiling it first if necessary."""

    def matmul(self, left: Any, right: Any, out: Any, accumulate: bool) -> None:
        """Multiply stacks of matrices and write the products to ``out``, or add them to it."""


def execute(schedule: Schedule, arrays: Mapping[str, Any], machine: Machine) -> dict[str, Any]:
    """Run a schedule.

    Args:
        schedule: the schedule.
        arrays: the call's own arrays, by name.
        machine: what runs it.

    Returns:
        The scratch buffers, by name.
    """
    scratch = {name: machine.empty(b.size, b.dtype, b.zero) for name, b in schedule.buffers.items()}
    known = {**arrays, **scratch}

    def view(matrix: Matrix) -> Any:
        count = 1
        for size in matrix.shape:
            count *= size
        stack = known[matrix.name].reshape(-1)[:count].reshape(matrix.shape)
        return stack.swapaxes(-1, -2) if matrix.transposed else stack

    for step in schedule.steps:
        if isinstance(step, Matmul):
            machine.matmul(view(step.left), view(step.right), view(step.out), step.accumulate)
        else:
            values = [known[a] if isinstance(a, str) else a for a in step.arguments]
            machine.launch(step.kernel, step.grid, step.block, values)
    return scratch


def launch(kernel: Kernel, threads: int, *arguments: Argument | int, most: int | None = None) -> Launch:
    """Return a launch.

    Args:
        kernel: the kernel.
        threads: the number of threads, one for each cell.
        *arguments: the kernel's arguments. Plain ints become 32-bit integers; pass ``np.int64`` for a
            kernel's ``Long``.
        most: the largest number of blocks; with fewer threads, each computes several cells.

    Returns:
        A `Launch`.
    """
    blocks = max(1, min(most or MOST_BLOCKS, -(-threads // BLOCK)))
    return Launch(kernel, blocks, BLOCK, tuple(np.int32(a) if type(a) is int else a for a in arguments))  # type: ignore[misc]


def problem(g: Conv2DGeometry) -> tuple[np.int32, ...]:
    """Return a geometry as the 16 arguments from which the kernels make a ``Problem`` (common.cuh)."""
    return tuple(map(np.int32, g.integers))
