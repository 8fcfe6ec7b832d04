"""The arguments of a call by name, with a shape wherever an array may stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nn_ops
from ..arguments import shape_of
from ..errors import ArgumentTypeError, brief, is_one_of
from .calls import FUNCTIONS, ConvCall


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
        arguments[operand.name] = shape_of(arguments[operand.name], operand.name, ranks, operand.axes)
    return entry.resolver(**arguments), arguments
