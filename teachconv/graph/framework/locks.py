"""Locks that no forked child waits for. TensorFlow's resource variables and functions have a mutex each."""

from __future__ import annotations

import os
from threading import RLock
from typing import Any
from weakref import WeakSet

__all__ = ["TRACING", "Lockable"]


class Lockable:
    """Something with a lock: ``with item.lock``.

    Attributes:
        lock: a lock that one thread may take several times; a new one in a forked child.
    """

    __slots__ = ("__weakref__", "lock")

    def __init__(self) -> None:
        self.lock: Any = RLock()
        _lockables.add(self)


_lockables: WeakSet[Lockable] = WeakSet()


def _renew_locks() -> None:
    """Another thread may have held one at the moment of a fork, and is not there to release it."""
    for item in list(_lockables):
        item.lock = RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)

# Held while a function is traced or its gradient is built. It is one for all functions: two that call each
# other, traced by two threads, would wait for each other's.
TRACING = Lockable()
