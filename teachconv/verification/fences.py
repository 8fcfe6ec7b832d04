"""Arrays in a process of its own, beside memory that cannot be read: a read there ends the process."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np

# where an array has no memory beside it; its pages are rarely full on both sides
SIDES = "behind", "before"
EDGE = 16 * mmap.PAGESIZE  # of memory that cannot be read, on each side
_side: list[str | None] = [None]


def set_side(side: str | None) -> None:
    """Say where the arrays of the next call have no memory beside them; None for no such side.

    With "?" behind it, they have the same place in a page, and memory beside them.
    """
    _side[0] = side


def laid(value: Any, strides: tuple[int, ...] | None = None) -> Any:
    """Return a copy of an array with these strides, beside memory that cannot be read; others as they are.

    Args:
        value: an array, or what is none.
        strides: in bytes; None for its own.
    """
    strides = getattr(value, "strides", None) if strides is None else strides
    if not isinstance(value, np.ndarray) or not value.size or (not _side[0] and strides == value.strides):
        return value
    assert strides is not None
    steps = [step * (size - 1) for step, size in zip(strides, value.shape, strict=True)]
    before = -sum(min(0, step) for step in steps)  # bytes before the first element
    size = before + sum(max(0, step) for step in steps) + value.itemsize
    pages = mmap.mmap(-1, 2 * EDGE + -(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
    start = EDGE if str(_side[0]).startswith("before") else len(pages) - EDGE - size
    pages[start : start + size] = b"\xff" * size  # NaN between its elements
    array = np.ndarray(value.shape, value.dtype, pages, start + before, strides)
    array[...] = value
    array.flags.writeable = value.flags.writeable
    if _side[0] in SIDES:
        address = array.ctypes.data - before - start
        for edge in (address, address + len(pages) - EDGE):
            _protect(edge, EDGE)
    return array


def _protect(address: int, size: int) -> None:
    """Let nobody read or write a part of the memory, where the system has such a function."""
    try:
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), 0)
    except (OSError, TypeError, AttributeError):  # Windows
        return
