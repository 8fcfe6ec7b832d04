"""The number of threads, of the process and of a block, and the instruction set of the compiled kernels.

The environment variable ``OMP_NUM_THREADS`` is read once, at import: it sets the number of threads.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TypeVar

from .errors import ArgumentError, ArgumentTypeError, brief

Value = TypeVar("Value")


def _threads_at_start() -> int:
    """Return the initial number of threads."""
    # OMP_NUM_THREADS may hold a list, one number for each level of nesting: the first one counts.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdigit() and int(first) >= 1:
        return int(first)
    if hasattr(os, "sched_getaffinity"):  # what this process may use, not what the machine has
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_at_start = _threads_at_start()
asked_threads: int | None = None  # of `set_num_threads`
instruction_set = ""  # of the cython backend, which keeps it up to date


def get_num_threads() -> int:
    """Return how many threads a call uses.

    The initial value is ``OMP_NUM_THREADS``, or the number of processors that this process may use.
    Results of the backends reference, scipy and cython are bit-identical for every number of threads, except
    the sign and payload of a NaN; numpy's BLAS may round sums otherwise. If the system refuses some of the
    threads of cython, a call runs on the others, and its trace says so.

    Returns:
        The number of threads, at least 1.

    >>> import teachconv as tc
    >>> tc.get_num_threads() >= 1
    True
    """
    return blas_threads() or _at_start


def blas_threads() -> int | None:
    """Return how many threads BLAS is to use; None if nobody has said so: then it keeps its own number."""
    return threads_here.get() or asked_threads


@contextmanager
def within(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Within the block, give a context variable a value."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def on_threads(number: int) -> AbstractContextManager[None]:
    """Let calls in the running context use a number of threads: one if the caller runs its own threads."""
    return within(threads_here, number)


threads_here: ContextVar[int | None] = ContextVar("teachconv_threads_here", default=None)


def set_num_threads(num_threads: int) -> None:
    """Set how many threads a call uses, in the whole process: those of cython, and of NumPy's BLAS.

    BLAS gets this number while a call of teachconv multiplies matrices: on the backends numpy and reference,
    and where `diff` and similar checks sum in float64. Afterwards it has its own number again, which it keeps
    everywhere if this function is never called. A call of less than 65,536 multiply-adds does not set it,
    because that would take longer than to multiply. threadpoolctl sets the number of OpenBLAS, MKL and BLIS;
    for another BLAS, such as Apple's Accelerate, ``teachconv.backends()`` says that it is not set. The
    backend scipy calls no BLAS and uses one thread.

    Args:
        num_threads: the number of threads, from 1 to 4096.

    Raises:
        ValueError: if ``num_threads`` is out of this range.
        TypeError: if it is not an integer.

    >>> import teachconv as tc
    >>> before = tc.get_num_threads()
    >>> tc.set_num_threads(1)
    >>> tc.get_num_threads()
    1
    >>> tc.set_num_threads(before)
    """
    global asked_threads
    try:
        wanted = operator.index(None if isinstance(num_threads, bool) else num_threads)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(f"num_threads must be an integer; got {brief(num_threads)}") from None
    if not 1 <= wanted <= 4096:
        raise ArgumentError(f"num_threads must be from 1 to 4096; got {brief(wanted)}")
    asked_threads = wanted
