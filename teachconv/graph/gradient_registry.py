"""The registry of gradients: a function from the gradients of an op's outputs to those of its inputs.

TensorFlow: python/framework/ops.py, RegisterGradient; the functions themselves are in
python/ops/nn_grad.py and math_grad.py. The registry is empty so far: this runtime does not differentiate
yet. The kernels already exist: the gradients of Conv2D are the ops Conv2DBackpropInput and
Conv2DBackpropFilter. conv2d_transpose has no op of its own because it *is* the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError
from .op_def import get_op_def

__all__ = ["RegisterGradient", "get_gradient_function"]

_GRADIENTS: dict[str, Callable[..., Any]] = {}


class RegisterGradient:
    """Decorate a function ``(op, *output_gradients)`` to register it: ``@RegisterGradient("Conv2D")``.

    Args:
        op_type: the op's name.

    Raises:
        ValueError: if the op is not defined or already has a gradient.
    """

    def __init__(self, op_type: str) -> None:
        get_op_def(op_type)
        if op_type in _GRADIENTS:
            raise ArgumentError(f"op {op_type!r} has a gradient already: {_GRADIENTS[op_type]}")
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function and return it unchanged."""
        _GRADIENTS[self._op_type] = function
        return function


def get_gradient_function(op_type: str) -> Callable[..., Any] | None:
    """Return the gradient function of an op.

    Args:
        op_type: the op's name.

    Returns:
        The function, or None if none is registered.

    >>> get_gradient_function("Conv2D") is None
    True
    """
    return _GRADIENTS.get(op_type)
