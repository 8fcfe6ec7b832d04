"""The table of functions that are windows' own, and how one of them is run.

Beside each function is its resolver, which needs the array's shape only: it checks the other arguments as the
framework does, and returns the call, frozen, with every step of the derivation as text. A call is a function
of the array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..arguments import as_array
from ..devices import is_on_device, override_of
from ..errors import ArgumentTypeError

__all__ = ["FUNCTIONS", "WindowFunction", "host_array", "run", "window_function"]

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """A function: the name of its array, how many axes that may have and which, and its resolver."""

    array: str
    ranks: tuple[int, ...]
    axes: str
    resolver: Callable[..., Any]


FUNCTIONS: dict[Callable[..., Any], WindowFunction] = {}


def window_function(
    resolver: Callable[..., Any], array: str, ranks: tuple[int, ...], axes: str = ""
) -> Callable[[F], F]:
    """Enter a function into the table; the tools then take it.

    Args:
        resolver: takes the function's arguments by name, a shape in place of the array, and returns the call.
        array: the name of the function's array.
        ranks: how many axes that may have.
        axes: what messages call them.
    """

    def enter(function: F) -> F:
        FUNCTIONS[function] = WindowFunction(array, ranks, axes, resolver)
        return function

    return enter


def run(function: Callable[..., Any], **arguments: Any) -> Any:
    """Run a function of the table on its arguments."""
    entry = FUNCTIONS[function]
    if (override := override_of(arguments[entry.array])) is not None:
        return override(function, arguments)
    x = host_array(arguments[entry.array], entry.array, entry.ranks, entry.axes)
    return entry.resolver(**arguments | {entry.array: x.shape})(x)


def host_array(value: Any, name: str, ranks: int | tuple[int, ...] | None, axes: str = "") -> np.ndarray:
    """Return an array argument as `as_array` does; raise for one that lies on a GPU."""
    x = as_array(value, name, ranks, axes)
    if is_on_device(x):
        raise ArgumentTypeError(f"{name} must be in the host's memory, not on a GPU: {name}.get()")
    return x
