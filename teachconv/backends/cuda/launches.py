"""What is run on a GPU, as data: kernels, launches, matrix products, scratch; and `execute`, which runs it.

A `Schedule` is made from integers alone (see `ladder`). A `Machine` is what can carry one out: the device by
CuPy, or the host, where the tests compile the same kernels with a C++ compiler. Everything between a
geometry and a kernel is therefore the same on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from ...errors import ArgumentError
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
_TILE = 256  # output rows or columns of a tile, at most
MOST_BLOCKS = 1 << 20  # more gain nothing: every kernel steps on by its whole grid


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kernel as it is compiled: its source file, its name, the dtype, and other macros."""

    file: str
    name: str
    dtype: str
    defines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """One launch: ``grid`` blocks of ``block`` threads, and the kernel's arguments in order."""

    kernel: Kernel
    grid: int
    block: int
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A buffer read as a stack of matrices of ``shape``; ``transposed`` swaps its last two axes."""

    name: str
    shape: tuple[int, ...]
    transposed: bool = False


@dataclass(frozen=True, slots=True)
class Matmul:
    """out = left times right, a stack of matrix products; added to ``out`` where ``accumulate`` is set."""

    left: Matrix
    right: Matrix
    out: Matrix
    accumulate: bool = False


@dataclass(frozen=True, slots=True)
class Buffer:
    """Scratch memory: a flat array of ``size`` numbers, zeroed first where ``zero`` is set."""

    size: int
    dtype: str
    zero: bool = False


@dataclass(frozen=True, eq=False, slots=True)
class Schedule:
    """What one call does: scratch buffers by name, and steps in order. "first", "second", "bias" and "result"
    are the call's own arrays. ``redo`` names the buffer that says which images were done again, or is "".
    """

    algorithm: str
    why: str
    buffers: Mapping[str, Buffer]
    steps: tuple[Launch | Matmul, ...]
    redo: str = ""

    @property
    def scratch_bytes(self) -> int:
        """Size of all buffers together."""
        return sum(b.size * np.dtype(b.dtype).itemsize for b in self.buffers.values())


class Machine(Protocol):
    """What can carry out a schedule. Arrays are the machine's own, C-contiguous."""

    def empty(self, size: int, dtype: str, zero: bool) -> Any:
        """Return a flat array."""

    def launch(self, kernel: Kernel, grid: int, block: int, arguments: Sequence[Any]) -> None:
        """Compile the kernel if that has not been done yet, and launch it."""

    def matmul(self, left: Any, right: Any, out: Any, accumulate: bool) -> None:
        """Multiply stacks of matrices into ``out``."""


def execute(schedule: Schedule, arrays: Mapping[str, Any], machine: Machine) -> dict[str, Any]:
    """Carry out a schedule on the call's arrays; return the scratch buffers by name."""
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
    """Return a launch of ``threads`` threads; of fewer, where that takes more than ``most`` blocks.

    Plain ints become 32-bit numbers; a kernel's ``Long`` is given as ``np.int64``.
    """
    blocks = max(1, min(most or MOST_BLOCKS, -(-threads // BLOCK)))
    return Launch(kernel, blocks, BLOCK, tuple(np.int32(a) if type(a) is int else a for a in arguments))  # type: ignore[misc]


def problem(g: Conv2DGeometry) -> tuple[np.int32, ...]:
    """Return the geometry as the arguments that ``Problem`` in common.cuh is made of."""
    for name, axis in (("rows", g.rows), ("columns", g.cols)):
        # the last tile of a kernel may begin inside the output and end beyond it
        span = (axis.out_size + _TILE) * axis.stride + axis.effective_filter + abs(axis.pad_before)
        if span >= 2**31:
            raise ArgumentError(
                f"the cupy backend counts in 32 bits, and the taps span {span} {name}; use backend='cython'"
            )
    return tuple(map(np.int32, g.integers))
