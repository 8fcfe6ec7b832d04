"""Where the gradient of each op is registered: a function from its outputs' gradients to its inputs'.

TensorFlow: python/framework/ops.py, RegisterGradient; the functions themselves are in
python/ops/nn_grad.py and math_grad.py. The registry is empty so far: this runtime executes, it does
not differentiate yet. What will stand here is short, because the kernels are there already: the
gradients of Conv2D are the ops Conv2DBackpropInput and Conv2DBackpropFilter, and conv2d_transpose has
no op of its own because it *is* the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArgumentError
from .op_def import get_op_def

__all__ = ["RegisterGradient", "get_gradient_function"]

_GRADIENTS: dict[str, Callable[..., Any]] = {}


class RegisterGradient:
    """Decorator: ``@RegisterGradient("Conv2D")`` on a function ``(op, *output_gradients)``.

    Raises ``ValueError`` for an op that is not defined, or one that has a gradient already.
    """

    def __init__(self, op_type: str) -> None:
        get_op_def(op_type)
        if op_type in _GRADIENTS:
            raise ArgumentError(f"op {op_type!r} has a gradient already: {_GRADIENTS[op_type]}")
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function, and return it as it is."""
        _GRADIENTS[self._op_type] = function
        return function


def get_gradient_function(op_type: str) -> Callable[..., Any] | None:
    """Return the gradient function of an op, None where none is registered.

    >>> get_gradient_function("Conv2D") is None
    True
    """
    return _GRADIENTS.get(op_type)
