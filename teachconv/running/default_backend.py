"""The backend of calls that name none: of the process, and of a block; and what decides how a call runs.

The environment variables ``TEACHCONV_BACKEND`` and ``TEACHCONV_ALGORITHM`` are read once, at import: they
name the defaults of the process.
"""

from __future__ import annotations

import os
from contextlib import ContextDecorator
from contextvars import ContextVar

from ..backends import get
from ..support import settings
from ..support.argument_types import BackendName
from ..support.errors import ArgumentError, brief, check_word


def in_force() -> tuple[str | None, str | None, int | None, int | None, str]:
    """Return every setting that decides how a call runs: default backend and algorithm, threads, and ISA."""
    blocks = _blocks.get()
    default = blocks[-1]._default if blocks else _process_default
    return *default, settings.threads_here.get(), settings.asked_threads, settings.instruction_set


def default_backend() -> str | None:
    """Return the backend of the innermost block, or else of the process; None where the library chooses."""
    return in_force()[0]


def default_algorithm(backend: str) -> str | None:
    """Return the default algorithm of calls that run on a backend; None where the backend chooses."""
    name, algorithm, *_ = in_force()
    return algorithm if name in (None, backend) else None


def set_backend(name: BackendName | None, algorithm: str | None = None) -> None:
    """Set the default backend of the whole process, including all its threads.

    Blocks of `use_backend` are not affected: a thread that is in one keeps the backend of its block.

    Args:
        name: one of the names in ``teachconv.backends()``; None gives the choice back to the library:
            cython for host arrays.
        algorithm: as in `use_backend`.

    Raises:
        ValueError: for a name that is not in the table, and for an algorithm that the backend does not have.
        BackendUnavailable: for a backend that cannot run here.

    >>> import teachconv as tc
    >>> tc.set_backend("numpy")
    >>> tc.trace(tc.conv2d, [[[[2]]]], [[[[3]]]]).backend
    'numpy'
    >>> tc.set_backend(None)
    """
    global _process_default
    _process_default = _checked(name, algorithm)


class use_backend(ContextDecorator):
    """Set the default backend of a block: ``with use_backend("numpy"):``; and its algorithm.

    With ``use_backend("reference", algorithm="loops")`` every convolution of a program runs plain loops of
    Python, into which a debugger steps, also from ``session.run``, a ``tf.function`` and ``model.fit``.

    It holds in the thread or asyncio task that runs the block, and nowhere else: other threads keep their
    default throughout. What starts inside the block inherits it if it gets a copy of the context: tasks of
    asyncio and functions of ``asyncio.to_thread`` do, and keep it when the block is over; threads and the
    workers of an executor do not, except where Python itself gives them a copy (free-threaded builds from
    3.14 on). Blocks may be nested, and one instance may be used for several blocks. A generator that yields
    inside a block shares it with whoever runs it, as it does every context variable.

    ``@use_backend("numpy")`` before a function makes each of its calls such a block. Without either it has no
    effect: `set_backend` sets the default of the process.

    Args:
        name: one of the names in ``teachconv.backends()``; None gives the choice back to the library:
            cython for host arrays.
        algorithm: the algorithm of every call that runs on this backend and names none; None leaves the
            choice to the backend. A call that the algorithm cannot compute is refused.

    Raises:
        ValueError: for a name that is not in the table, and for an algorithm that the backend does not have.
        BackendUnavailable: for a backend that cannot run here.

    >>> import teachconv as tc
    >>> with tc.use_backend("reference", algorithm="loops"):
    ...     ran = tc.trace(tc.conv2d, [[[[2]]]], [[[[3]]]])
    >>> ran.backend, ran.algorithm
    ('reference', 'loops')
    """

    def __init__(self, name: BackendName | None, algorithm: str | None = None) -> None:
        self._default = _checked(name, algorithm)

    def __enter__(self) -> use_backend:
        _blocks.set((*_blocks.get(), self))
        return self

    def __exit__(self, *exception: object) -> None:
        blocks = _blocks.get()
        if self in blocks:
            # it need not be the innermost: a generator may leave its block while its caller is in another
            last = len(blocks) - 1 - blocks[::-1].index(self)
            _blocks.set(blocks[:last] + blocks[last + 1 :])


def _checked(name: str | None, algorithm: str | None) -> tuple[str | None, str | None]:
    """Return a backend that can run here, or None, and its algorithm, or None; raise otherwise."""
    module = None if name is None else get(name)
    if algorithm is not None:
        if module is None:
            raise ArgumentError(
                f"algorithm={brief(algorithm)} needs the name of the backend that has it; got None"
            )
        names = [one.name for one in module.ALGORITHMS]
        check_word(algorithm, f"algorithm of backend {brief(name)}", names)
    return name, algorithm


_process_default = (
    os.environ.get("TEACHCONV_BACKEND") or None,
    os.environ.get("TEACHCONV_ALGORITHM") or None,
)


# The blocks of ``with use_backend(...)`` that the running context is in, the innermost last.
_blocks: ContextVar[tuple[use_backend, ...]] = ContextVar("teachconv_use_backend", default=())
