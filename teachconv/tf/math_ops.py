"""Arithmetic, comparisons and reductions, from tf.abs to tf.truediv, with TensorFlow's signatures.

TensorFlow: python/ops/math_ops.py.
"""

# ruff: noqa: F403, F405  (of math_ops everything is here, and what __all__ lists is public)

from __future__ import annotations

from typing import Any

from ..graph.ops.math_ops import *

__all__ = [
    "abs",
    "add",
    "add_n",
    "argmax",
    "divide",
    "equal",
    "exp",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "range",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "sigmoid",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "truediv",
]


def divide(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y, as the operator does.

    Args:
        x, y: tensors, variables or arrays; integers are divided as floats.
        name: the name of the node.

    Returns:
        A tensor of the shape to which both are broadcast.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.

    >>> divide([1, 6], 4).numpy().tolist()
    [0.25, 1.5]
    """
    return truediv(x, y, name)
