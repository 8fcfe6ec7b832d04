"""What a module of teachconv.tf answers when it is asked for a name that it does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from ..errors import suggestion

__all__ = ["module_getattr"]


def module_getattr(
    module: str, known: Iterable[str], later: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module: it refuses names, or imports the modules that are imported late.

    Args:
        module: the module's name.
        known: the names that the module has.
        later: the modules behind the names that are imported where they are first asked for.

    Returns:
        A function of the name, which raises ``AttributeError`` with the nearest name that is there.

    >>> module_getattr("tf.nn", ["relu"])("relu7")
    Traceback (most recent call last):
        ...
    AttributeError: tf.nn has no 'relu7', only what convolutional networks need (did you mean "relu"?)
    """

    def look_up(name: str) -> Any:
        if later and name in later:
            return import_module(later[name])
        near = "" if name.startswith("__") else suggestion(name, known)
        what = f"{module} has no {name!r}, only what convolutional networks need"
        raise AttributeError(what + near, name=name, obj=None)

    return look_up
