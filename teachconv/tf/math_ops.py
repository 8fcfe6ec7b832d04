"""Arithmetic, comparisons and reductions, from tf.abs to tf.truediv, with TensorFlow's signatures.

TensorFlow: python/ops/math_ops.py.
"""

# ruff: noqa: F403, F405  (of cwise_ops everything is here, and what __all__ lists is public)

from __future__ import annotations

from typing import Any

from ..graph.ops import cwise_ops, math_ops
from ..graph.ops.cwise_ops import *
from ..graph.ops.math_ops import (
    add,
    argmax,
    multiply,
    range,
    reduce_all,
    reduce_any,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    subtract,
)
from .options import unsupported

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
    return cwise_ops.truediv(x, y, name)


@unsupported("adjoint_a", "adjoint_b", "a_is_sparse", "b_is_sparse", "output_type", "grad_a", "grad_b")
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Any:
    """Return the product of two matrices, either of them transposed first on request."""
    return math_ops.matmul(a, b, transpose_a, transpose_b, name)
