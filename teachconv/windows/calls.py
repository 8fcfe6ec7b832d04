"""The table of the functions of windows (pools, padding, batch normalisation), and how one of them is run.

Beside each function is its resolver, which needs the array's shape only: it checks the other arguments as the
framework does, and returns the call, frozen, with every step of the derivation as text. A call is a function
of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..core.arguments import Shape, as_array, shape_of
from ..core.dtypes import converted, is_integer
from ..running import nn_ops
from ..support import record, tables
from ..support.devices import is_on_device, override_of, to_host
from ..support.errors import ArgumentError, ArgumentTypeError

F = TypeVar("F", bound=Callable[..., Any])


# of each function the resolver, the name of its array, how many axes that may have and what they are called
FUNCTIONS: dict[Callable[..., Any], tuple[Callable[..., Any], str, tuple[int, ...] | None, str]] = {}


def window_function(
    resolver: Callable[..., Any], array: str, ranks: tuple[int, ...] | None, axes: str = ""
) -> Callable[[F], F]:
    """Enter a function into the table; the tools then take it.

    Args:
        resolver: takes the function's arguments by name, a shape in place of the array, and returns the call.
        array: the name of the function's array.
        ranks: how many axes that may have; None for any number.
        axes: what messages call them.
    """

    def enter(function: F) -> F:
        FUNCTIONS[function] = resolver, array, ranks, axes
        return function

    return enter


def run_window(function: Callable[..., Any], **arguments: Any) -> Any:
    """Run a function of the table on its arguments."""
    resolver, name, ranks, axes = FUNCTIONS[function]
    if (override := override_of(arguments[name])) is not None:
        return override(function, arguments)
    x = as_array(arguments[name], name, ranks, axes)
    with record.stage("resolve geometry") as stage:
        stage.at(resolver)
        call = resolver(**arguments | {name: x.shape})
        stage.say("{}", call)
    with record.stage("compute") as stage:
        stage.at(type(call).__call__)
        result = call(x)
        stage.arrays(x=x, result=result[0] if isinstance(result, tuple) else result)
    return result


def bound_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, np.ndarray]:
    """Return the call that a function of the table comes to with these arguments, and its array."""
    arguments = nn_ops.with_defaults(function, args, kwargs)
    resolver, name, ranks, axes = FUNCTIONS[function]
    x = host_array(to_host(arguments[name]), name, ranks, axes)
    return resolver(**arguments | {name: x.shape}), x


def bound_shapes(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """Return the call, and the arguments by name with a shape in place of the array, which may be one."""
    arguments = nn_ops.with_defaults(function, args, kwargs)
    resolver, name, ranks, axes = FUNCTIONS[function]
    arguments[name] = shape_of(arguments[name], name, ranks, axes)
    return resolver(**arguments), arguments


@dataclass(frozen=True, eq=False, repr=False)
class CellExplanation(tables.Report):
    """The explanation of one cell of the result of a function of windows, such as a pool or a resize.

    Attributes:
        call: the resolved call.
        cell: the explained cell of the result.
        value: its value.
        taps: (index in the input, value) of the cells that it reads; the value of padding is None.
        what: what it is, in words.
        divisor: of a mean, what the sum is divided by; else None.
        steps: of a quantized pool, (what is done, the number after it), up to the value; of a resize the
            place of the cell along each axis.
        weights: of a resize, what the value of each tap is multiplied by.
    """

    call: Any
    cell: Shape
    value: Any
    taps: tuple[tuple[Shape, Any], ...]
    what: str
    divisor: int | None = None
    steps: tuple[tuple[str, Any], ...] = ()
    weights: tuple[float, ...] = ()

    def _headline(self) -> str:
        return f"{self.call.function}: output[{tables.index(self.cell)}] = {self.value}, {self.what}"

    def _table(self) -> tables.Table:
        names, notes = ["input", "value"], [self.call.rule, *tables.aligned(self.steps)]
        rows = [[tables.index(i), "padding" if value is None else str(value)] for i, value in self.taps]
        if self.weights:
            names.append("weight")
            rows = [[*row, f"{weight:g}"] for row, weight in zip(rows, self.weights, strict=True)]
        return tables.Table(tables.right(*names), rows, self._headline(), notes)


def text_of(call: Any, steps: Iterable[str] = (), formulas: Iterable[str] = ()) -> str:
    """Return a call as text: its shapes, the steps of its derivation, its rule, and lines about its axes."""
    head = f"{call.function}: input {list(call.input_shape)} {call.layout} -> {list(call.output_shape)}"
    lines = [f"  {line}" for line in (*steps, call.rule)]
    return tables.Table((), [], head, [*lines, *formulas]).text()


def host_array(value: Any, name: str, ranks: int | tuple[int, ...] | None, axes: str = "") -> np.ndarray:
    """Return an array argument as `as_array` does; raise for one that lies on a GPU."""
    x = as_array(value, name, ranks, axes)
    if is_on_device(x):
        raise ArgumentTypeError(f"{name} must be in the host's memory, not on a GPU: {name}.get()")
    return x


def checked_grad(grad: Any, call: Any, by: str) -> np.ndarray:
    """Return the gradient of a result as an array; raise unless it has the shape that follows from ``by``."""
    dy = host_array(grad, "grad", None)
    if dy.shape != call.output_shape:
        raise ArgumentError(f"grad must have shape {list(call.output_shape)}, by {by}; got {list(dy.shape)}")
    return dy


def floating(x: np.ndarray, name: str) -> np.ndarray:
    """Return an array of floats; raise for integers: their mean mostly is not one."""
    if is_integer(x.dtype):
        raise ArgumentTypeError(
            f"{name} must have a floating dtype; got {x.dtype}: {converted(name, 'float32')}"
        )
    return x
