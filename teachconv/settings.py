"""The few process-wide settings: the default backend and the number of threads.

Two environment variables are read once, at import: ``TEACHCONV_BACKEND`` names the default backend, and
``OMP_NUM_THREADS`` sets the number of threads.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar

from .argument_types import BackendName
from .errors import ArgumentError, ArgumentTypeError, brief


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
_num_threads: int | None = None  # of `set_num_threads`
instruction_set = ""  # of the cython backend, which keeps it up to date


def in_force() -> tuple[int, str | None, str]:
    """Return every setting that decides how a call runs: threads, default backend and instruction set."""
    return get_num_threads(), default_backend(), instruction_set


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
    return _threads_here.get() or _num_threads


@contextmanager
def on_threads(number: int) -> Iterator[None]:
    """Let calls in the running context use a number of threads: one if the caller runs its own threads."""
    token = _threads_here.set(number)
    try:
        yield
    finally:
        _threads_here.reset(token)


_threads_here: ContextVar[int | None] = ContextVar("teachconv_threads_here", default=None)


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
    global _num_threads
    try:
        wanted = operator.index(None if isinstance(num_threads, bool) else num_threads)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(f"num_threads must be an integer; got {brief(num_threads)}") from None
    if not 1 <= wanted <= 4096:
        raise ArgumentError(f"num_threads must be from 1 to 4096; got {brief(wanted)}")
    _num_threads = wanted


def default_backend() -> str | None:
    """Return the backend of the innermost block, or else of the process; None where the library chooses."""
    blocks = _blocks.get()
    return blocks[-1]._name if blocks else _process_default


def set_backend(name: BackendName | None) -> None:
    """Set the default backend of the whole process, including all its threads.

    Blocks of `use_backend` are not affected: a thread that is in one keeps the backend of its block.

    Args:
        name: one of the names in ``teachconv.backends()``; None gives the choice back to the library:
            cython for host arrays.

    Raises:
        ValueError: for a name that is not in the table.
        BackendUnavailable: for a backend that cannot run here.

    >>> import teachconv as tc
    >>> tc.set_backend("numpy")
    >>> tc.trace(tc.conv2d, [[[[2]]]], [[[[3]]]]).backend
    'numpy'
    >>> tc.set_backend(None)
    """
    global _process_default
    _process_default = _checked(name)


class use_backend(ContextDecorator):
    """Set the default backend of a block: ``with use_backend("numpy"):``.

    It holds in the thread or asyncio task that runs the block, and nowhere else, at no moment: other threads
    keep their default. What starts inside the block inherits it if it gets a copy of the context: tasks of
    asyncio and functions of ``asyncio.to_thread`` do, and keep it when the block is over; threads and the
    workers of an executor do not, except where Python itself gives them a copy (free-threaded builds from
    3.14 on). Blocks may be nested, and one instance may be used for several blocks. A generator that yields
    inside a block shares it with whoever runs it, as it does every context variable.

    ``@use_backend("numpy")`` before a function makes each of its calls such a block. Without either it has no
    effect: `set_backend` sets the default of the process.

    Args:
        name: one of the names in ``teachconv.backends()``; None gives the choice back to the library:
            cython for host arrays.

    Raises:
        ValueError: for a name that is not in the table.
        BackendUnavailable: for a backend that cannot run here.

    >>> import teachconv as tc
    >>> with tc.use_backend("reference"):
    ...     tc.trace(tc.conv2d, [[[[2]]]], [[[[3]]]]).backend
    'reference'
    """

    def __init__(self, name: BackendName | None) -> None:
        self._name = _checked(name)

    def __enter__(self) -> use_backend:
        _blocks.set((*_blocks.get(), self))
        return self

    def __exit__(self, *exception: object) -> None:
        blocks = _blocks.get()
        if self in blocks:
            # it need not be the innermost: a generator may leave its block while its caller is in another
            last = len(blocks) - 1 - blocks[::-1].index(self)
            _blocks.set(blocks[:last] + blocks[last + 1 :])


def _checked(name: str | None) -> str | None:
    """Return the name of a backend that can run here, or None; raise otherwise."""
    if name is not None:
        from .backends import get  # late: backends come after this module in the order of imports

        get(name)
    return name


_process_default = os.environ.get("TEACHCONV_BACKEND") or None
# The blocks of ``with use_backend(...)`` that the running context is in, the innermost last.
_blocks: ContextVar[tuple[use_backend, ...]] = ContextVar("teachconv_use_backend", default=())
