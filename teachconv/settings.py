"""The few process-wide settings: the default backend and the number of threads.

Two environment variables are read once, at import: ``TEACHCONV_BACKEND`` names the default backend, and
``OMP_NUM_THREADS`` sets the number of threads of the cython backend.
"""

from __future__ import annotations

import operator
import os
from types import TracebackType

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
_default_backend: str | None = os.environ.get("TEACHCONV_BACKEND") or None


def get_num_threads() -> int:
    """Return how many threads the cython backend uses.

    The initial value is ``OMP_NUM_THREADS``, or the number of processors that this process may use.
    Results are bit-identical for every number of threads.

    Returns:
        The number of threads, at least 1.

    >>> import teachconv as tc
    >>> tc.get_num_threads() >= 1
    True
    """
    return _num_threads


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
        wanted = operator.index(num_threads)
    except TypeError:
        raise ArgumentTypeError(f"num_threads must be an integer; got {num_threads!r}") from None
    if not 1 <= wanted <= 4096:
        raise ArgumentError(f"num_threads must be from 1 to 4096; got {wanted}")
    _num_threads = wanted


def default_backend() -> str | None:
    """Return the backend that `use_backend` set, or None where the library chooses."""
    return _default_backend


class use_backend:
    """Set the default backend; as a context manager, set it back at the end of the block.

    ``name`` is one of the names in ``teachconv.backends()``; None gives the choice back to the
    library: cython for host arrays. Raises ``ValueError`` for a name that is not in the table and
    ``BackendUnavailable`` for a backend that cannot run here. The setting is the whole process's.

    >>> import teachconv as tc
    >>> with tc.use_backend("reference"):
    ...     tc.trace(tc.conv2d, [[[[2]]]], [[[[3]]]]).backend
    'reference'
    """

    def __init__(self, name: str | None) -> None:
        global _default_backend
        if name is not None:
            from .backends import get  # the table stands to the right; it is asked only here

            get(name)
        self._before = _default_backend
        _default_backend = name

    def __enter__(self) -> use_backend:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        global _default_backend
        _default_backend = self._before
