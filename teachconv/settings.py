"""The few process-wide settings: the default backend and the number of threads.

Two environment variables are read once, at import: ``TEACHCONV_BACKEND`` names the default backend, and
``OMP_NUM_THREADS`` sets the number of threads of the cython backend.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from weakref import ref

from .errors import ArgumentError, ArgumentTypeError

__all__ = ["get_num_threads", "set_num_threads", "use_backend"]


def _threads_at_start() -> int:
    """Return the initial number of threads."""
    # OMP_NUM_THREADS may hold a list, one number for each level of nesting: the first one counts.
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if first.isdigit() and int(first) >= 1:
        return int(first)
    if hasattr(os, "sched_getaffinity"):  # what this process may use, not what the machine has
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_num_threads = _threads_at_start()
instruction_set = ""  # of the cython backend, which keeps it up to date


def in_force() -> tuple[int, str | None, str]:
    """Return every setting that decides how a call runs: threads, default backend and instruction set."""
    return get_num_threads(), default_backend(), instruction_set


def get_num_threads() -> int:
    """Return how many threads the cython backend uses.

    The initial value is ``OMP_NUM_THREADS``, or the number of processors that this process may use.
    Results are bit-identical for every number of threads, but for the sign and payload of a NaN. If the
    system refuses some of the threads, a call runs on the others, and its trace says so.

    Returns:
        The number of threads, at least 1.

    >>> import teachconv as tc
    >>> tc.get_num_threads() >= 1
    True
    """
    return 1 if _one_thread.get() else _num_threads


@contextmanager
def one_thread() -> Iterator[None]:
    """Let the calls of the running context use one thread: for a caller that has threads of its own."""
    token = _one_thread.set(True)
    try:
        yield
    finally:
        _one_thread.reset(token)


_one_thread: ContextVar[bool] = ContextVar("teachconv_one_thread", default=False)


def set_num_threads(num_threads: int) -> None:
    """Set how many threads the cython backend uses, in the whole process.

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
        raise ArgumentTypeError(f"num_threads must be an integer; got {num_threads!r}") from None
    if not 1 <= wanted <= 4096:
        raise ArgumentError(f"num_threads must be from 1 to 4096; got {wanted}")
    _num_threads = wanted


def default_backend() -> str | None:
    """Return the backend that `use_backend` set, or None where the library chooses."""
    overrides = _overrides.get()
    return overrides[-1]._name if overrides else _plain_calls[-1][1]


class use_backend:
    """Set the default backend: of the whole process, or in ``with`` of the block alone.

    Called plainly, it sets the default of the process, all its threads included. In a ``with`` it holds for
    the block only, in the thread or asyncio task that runs it, and blocks may be nested; other threads keep
    their default. A generator that yields inside such a block shares it with whoever runs it, as it does
    every context variable. One instance may be used for several blocks.

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

    def __init__(self, name: str | None) -> None:
        global _plain_calls
        if name is not None:
            from .backends import get  # the table stands to the right; it is asked only here

            get(name)
        self._name = name
        with _lock:
            # an instance that is gone can no longer be taken back, so what was set before it is settled
            gone = [number for number, (owner, _) in enumerate(_plain_calls) if owner() is None]
            _plain_calls = (*_plain_calls[gone[-1] :], (ref(self), name))

    def _take_back(self) -> None:
        """Give the process the default that it had without this call."""
        global _plain_calls
        with _lock:
            _plain_calls = tuple(call for call in _plain_calls if call[0]() is not self)

    def __enter__(self) -> use_backend:
        self._take_back()
        _overrides.set((*_overrides.get(), self))
        return self

    def __exit__(self, *exception: object) -> None:
        self._take_back()
        overrides = _overrides.get()
        if self in overrides:
            # it need not be the innermost: a generator may leave its block while its caller is in another
            last = len(overrides) - 1 - overrides[::-1].index(self)
            _overrides.set(overrides[:last] + overrides[last + 1 :])


# The defaults that plain calls of `use_backend` set, the last one in force, each with the instance that did.
# Whether a call was a plain one shows only where its instance enters a block; then it is taken out again.
_plain_calls: tuple[tuple[Callable[[], use_backend | None], str | None], ...]
_plain_calls = ((lambda: None, os.environ.get("TEACHCONV_BACKEND") or None),)
_lock = Lock()


def _renew_lock() -> None:
    """Another thread may have held it at the moment of a fork, and is not there to release it."""
    global _lock
    _lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)

# The blocks of ``with use_backend(...)`` that the running context is in, the innermost last.
_overrides: ContextVar[tuple[use_backend, ...]] = ContextVar("teachconv_use_backend", default=())
