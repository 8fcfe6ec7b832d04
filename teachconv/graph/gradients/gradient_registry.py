"""The registry of gradients: a function from the gradients of an op's outputs to those of its inputs.

TensorFlow: python/framework/ops.py, RegisterGradient. The functions themselves are in nn_grad.py,
math_grad.py and array_grad.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import ArgumentError, ArgumentTypeError
from ..framework.op_def import GRADIENTS

__all__ = ["NotDifferentiable", "RegisterGradient", "get_gradient_function"]


class RegisterGradient:
    """Decorate a function ``(op, *output_gradients)`` to register it: ``@RegisterGradient("Conv2D")``.

    The function returns the gradient of each input, or one gradient if there is one input; None for an input
    without a gradient.

    Args:
        op_type: the op's name; or a name of your own, which `Graph.gradient_override_map` gives to ops.

    Raises:
        ValueError: if that name already has a gradient.
    """

    def __init__(self, op_type: str) -> None:
        _check_new(op_type)
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function and return it unchanged."""
        GRADIENTS[self._op_type] = function
        return function


def NotDifferentiable(op_type: str) -> None:  # noqa: N802  (TensorFlow's name)
    """Register that an op has no gradient: its result counts as a constant, as tf.no_gradient.

    Args:
        op_type: the op's name.

    Raises:
        ValueError: if it already has a gradient.
    """
    _check_new(op_type)
    GRADIENTS[op_type] = None


def _check_new(op_type: str) -> None:
    if not isinstance(op_type, str) or not op_type:
        raise ArgumentTypeError(f"op_type must be the name of an op; got {op_type!r}")
    if op_type in GRADIENTS:
        raise ArgumentError(f"op {op_type!r} has a gradient already: {GRADIENTS[op_type]}")


def get_gradient_function(op: Any) -> Callable[..., Any] | None:
    """Return the gradient function of an op.

    Args:
        op: an operation; its attribute ``_gradient_op_type``, if it has one, names another registered
            gradient, and ``_gradient_function`` is one. Or the name of an op.

    Returns:
        The function, or None for an op that is not differentiable.

    Raises:
        LookupError: if nothing is registered for the op.

    >>> get_gradient_function("Conv2D").__name__, get_gradient_function("Shape")
    ('_conv2d_grad', None)
    """
    if not isinstance(op, str) and "_gradient_function" in op.attrs:
        own: Callable[..., Any] = op.attrs["_gradient_function"]
        return own
    op_type = op if isinstance(op, str) else op.attrs.get("_gradient_op_type", op.type)
    if op_type not in GRADIENTS:
        name = op_type if isinstance(op, str) else f"{op.name!r} (op type: {op.type})"
        raise LookupError(
            f"No gradient defined for operation {name}. An op needs a function registered by "
            "@RegisterGradient, or stop_gradient in front of it, which makes its input a constant"
        )
    return GRADIENTS[op_type]
