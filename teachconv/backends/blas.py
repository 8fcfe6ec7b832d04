"""The BLAS that NumPy and SciPy call: which library it is, and on how many threads it multiplies.

A BLAS has one number of threads for the whole process, or, like BLIS, one for each thread that calls it. It
belongs to the caller's program. So it is set for the time of a product, and then set back.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any

from ..support import record, settings

# A call with fewer multiply-adds keeps BLAS's own number: to set it takes longer than to multiply.
_TINY = 1 << 16


@lru_cache
def libraries(home: str) -> list[Any]:
    """Return threadpoolctl's controllers of the BLAS that "numpy" or "scipy" calls; none if it finds none."""
    with record.loading("load threadpoolctl"):
        import_module(f"{home}.linalg")
        process = import_module("threadpoolctl").ThreadpoolController()  # it searches the process once
    loaded = process.select(user_api="blas").lib_controllers
    own = [one for one in loaded if f"{home}.libs" in one.filepath or f"/{home}/" in one.filepath]
    # the folder of another package has that package's own BLAS; elsewhere is one that packages share
    return own or [one for one in loaded if "site-packages" not in one.filepath]


_lock = threading.RLock()
# Of each BLAS in which products run now, and of the thread if it counts threads for each: the number that the
# caller had set, and the limits of the products, each with its thread.
_running: dict[tuple[Any, int], tuple[int, list[tuple[int, int]]]] = {}


@contextmanager
def held(home: str = "numpy", number: int | None = None, macs: int = _TINY) -> Iterator[None]:
    """Hold BLAS to a number of threads while products run.

    Where products of several Python threads overlap, the smallest of their numbers holds for all; the last to
    end restores the caller's.

    Args:
        home: "numpy" or "scipy", whose BLAS multiplies.
        number: the number of threads; None for that of `teachconv.set_num_threads`, if it was called.
        macs: the multiply-adds of all products.
    """
    number = number or (settings.blas_threads() if macs >= _TINY else None)
    if number is None:
        yield
        return
    limit, controllers = (threading.get_ident(), number), libraries(home)
    _change(controllers, list.append, limit)
    try:
        yield
    finally:
        _change(controllers, list.remove, limit)


def _change(controllers: list[Any], how: Any, limit: tuple[int, int]) -> None:
    """Add or remove the limit of some products, and set the number of threads that is then to hold."""
    with _lock:
        for library in controllers:
            of_thread = library.internal_api == "blis" or getattr(library, "threading_layer", "") == "openmp"
            place = library, limit[0] if of_thread else 0
            before, limits = _running.setdefault(place, (library.get_num_threads(), []))
            how(limits, limit)
            if not limits:
                del _running[place]
            # from 3.8 on, set_num_threads does nothing while another Python thread holds a limit of its own
            set_number = getattr(library, "_real_set_num_threads", library.set_num_threads)
            set_number(min((number for _, number in limits), default=before))


def _forget_other_threads() -> None:
    """Remove, in a forked child, the limits of products that run in its parent only."""
    _lock.release()
    for (library, _), (_, limits) in list(_running.items()):
        for limit in [limit for limit in limits if limit[0] != threading.get_ident()]:
            _change([library], list.remove, limit)


if hasattr(os, "register_at_fork"):  # a child forked while another thread has the lock would wait for ever
    os.register_at_fork(
        before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forget_other_threads
    )
