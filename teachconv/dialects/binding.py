"""The arguments of a call by name, with a shape wherever an array may stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nn_ops
from ..arguments import Shape, as_array, check_elements, integer
from ..errors import ArgumentError, ArgumentTypeError, brief, is_one_of
from .calls import FUNCTIONS, ConvCall

__all__ = ["bind_shapes", "is_shape"]


def bind_shapes(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    purpose: str = "the translation of a call",
) -> tuple[ConvCall, dict[str, Any]]:
    """Return the resolved call, and the function's arguments by name with shapes in place of arrays.

    Args:
        function: a function of a dialect, or one of teachconv's own ops.
        args: its positional arguments; a shape can stand in for an array.
        kwargs: its keyword arguments, likewise.
        purpose: what error messages call the caller, which runs nothing.

    Returns:
        The call, and the arguments that its resolver was given.

    Raises:
        ValueError, TypeError: if the function itself would raise it, or an option such as backend is given.
    """
    if not is_one_of(function, FUNCTIONS):
        raise ArgumentTypeError(f"function must be one of {nn_ops.listed(FUNCTIONS)}; got {brief(function)}")
    entry = FUNCTIONS[function]
    bound = nn_ops.bind(function, args, kwargs)
    bound.apply_defaults()
    unused = dict.fromkeys(nn_ops.OPTIONS, "nothing is computed")
    nn_ops.refuse(bound.arguments, purpose, **unused)
    arguments = nn_ops.without_options(bound.arguments)
    arguments.pop("name", None)
    for operand in entry.operands:
        ranks = (1,) if operand.role == "bias" else operand.ranks
        arguments[operand.name] = _shape(arguments[operand.name], operand.name, ranks, operand.axes)
    return entry.resolver(**arguments), arguments


def is_shape(value: Any) -> bool:
    """Return whether an argument is the shape of an array, and not an array or nested lists.

    >>> is_shape((1, 8, 8, 3)), is_shape([[1.0], [2.0]])
    (True, False)
    """
    return isinstance(value, (list, tuple)) and not any(isinstance(size, (list, tuple)) for size in value)


def _shape(value: Any, name: str, ranks: tuple[int, ...], axes: str) -> Shape | None:
    """Return the shape of an array, or the shape that was given instead."""
    if value is None and ranks == (1,):
        return None
    sizes = value if is_shape(value) else getattr(value, "shape", None)
    if sizes is None:
        sizes = as_array(value, name, ranks, axes).shape
    shape = tuple(integer(size, f"{name} shape") for size in sizes)
    if len(shape) not in ranks:
        legal = " or ".join(map(str, ranks))
        raise ArgumentError(
            f"{name} must have {legal} axes{', ' + axes if axes else ''}; got shape {brief(list(shape))}"
        )
    if min(shape, default=0) < 0:
        raise ArgumentError(f"{name} shape must have no negative size; got {list(shape)}")
    check_elements(shape, f"{name} shape")
    return shape
