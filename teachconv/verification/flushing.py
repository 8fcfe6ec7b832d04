"""Subnormal numbers that are flushed to zero: code under test may run so, what judges it does not.

A library that was linked with ``-ffast-math`` sets this mode in the process that loads it, for all its code.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..support.errors import ContractError

_ENVIRONMENT = 512  # bytes, more than any system's fenv_t has
# in `judging`, the floating-point environment that code under test runs in, or None for the usual one
_outside: ContextVar[list[bytes | None] | None] = ContextVar("teachconv_flushing", default=None)


def flushes() -> bool:
    """Return whether this thread flushes subnormal numbers to zero, or did so outside `judging`."""
    outside = _outside.get()
    return _now() or (outside is not None and outside[0] is not None)


@contextmanager
def judging() -> Iterator[None]:
    """Compute with subnormal numbers in this ``with`` statement, whatever mode a library has set."""
    if _outside.get() is not None:
        yield
        return
    outside: list[bytes | None] = [None]
    token = _outside.set(outside)
    try:
        _keep(outside)
        yield
    finally:
        _outside.reset(token)
        if outside[0] is not None:
            _system().fesetenv(outside[0])


@contextmanager
def theirs() -> Iterator[None]:
    """Run code under test, inside `judging`, in the mode that it would run in elsewhere, or that it sets."""
    outside = _outside.get()
    if outside is None:
        yield
        return
    if outside[0] is not None:
        _system().fesetenv(outside[0])
    try:
        yield
    finally:
        _keep(outside)


def _keep(outside: list[bytes | None]) -> None:
    """Set the usual mode, and remember the other one."""
    if not _now():
        return
    system = _system()
    if system is not None:
        found = ctypes.create_string_buffer(_ENVIRONMENT)
        system.fegetenv(found)
        outside[0] = found.raw
        system.fesetenv(
            ctypes.byref(ctypes.c_char.in_dll(system, "_FE_DFL_ENV"))
            if sys.platform == "darwin"
            else ctypes.c_void_p(-1)  # FE_DFL_ENV
        )
    if _now():
        raise ContractError(
            "subnormal numbers are flushed to zero in this process, by a library that sets this mode: "
            "run the code in another one, by isolate=True"
        )


def _now() -> bool:
    return not sys.float_info.min / 2


def _system() -> Any:
    """Return the C library, or None where it has no such functions."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):  # Windows
        return None
    return library if hasattr(library, "fesetenv") else None
