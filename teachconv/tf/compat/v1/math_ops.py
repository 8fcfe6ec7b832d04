"""The arithmetic of TensorFlow 1, from tf.abs to tf.truediv. TensorFlow: python/ops/math_ops.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import graph as tg
from ....core.dtypes import is_integer
from ....graph import cast, log, log1p, rsqrt
from ....graph.ops.nn_impl import clip_by_norm, clip_by_value
from ... import math_ops
from ...dtypes import float32, int32, int64
from ...math_ops import (
    abs,
    add,
    add_n,
    divide,
    equal,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    logical_and,
    logical_not,
    logical_or,
    matmul,
    maximum,
    minimum,
    multiply,
    negative,
    not_equal,
    pow,
    range,
    sigmoid,
    sign,
    sqrt,
    square,
    subtract,
    tanh,
    truediv,
)
from .default_graph import imported_in_graph, in_graph, version_1

__all__ = [
    "abs",
    "add",
    "add_n",
    "argmax",
    "cast",
    "clip_by_norm",
    "clip_by_value",
    "div",
    "divide",
    "equal",
    "exp",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "log",
    "log1p",
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
    "rsqrt",
    "sigmoid",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "to_float",
    "to_int32",
    "truediv",
]


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a reduction with the arguments of TensorFlow 1, some of them under two names."""

    @version_1(function)
    def reduction(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        """The parameters."""

    reduction.__name__ = reduction.__qualname__ = function.__name__
    reduction.__doc__ = (function.__doc__ or "").partition("\n    >>>")[0]  # the examples are eager
    return reduction


reduce_all = _reduction(math_ops.reduce_all)
reduce_any = _reduction(math_ops.reduce_any)
reduce_max = _reduction(math_ops.reduce_max)
reduce_mean = _reduction(math_ops.reduce_mean)
reduce_min = _reduction(math_ops.reduce_min)
reduce_prod = _reduction(math_ops.reduce_prod)
reduce_sum = _reduction(math_ops.reduce_sum)


@version_1(math_ops.argmax)
def argmax(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = int64
) -> Any:
    """Return the index of the largest value along an axis, the first by default."""


@in_graph
def to_float(x: Any, name: str = "ToFloat") -> Any:
    """Return the values as float32.

    Args:
        x: a tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    return tg.cast(x, float32, name)


@in_graph
def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """Return the values as int32; fractions are cut off.

    Args:
        x: a tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    return tg.cast(x, int32, name)


@in_graph
def div(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y as in Python 2: of integers, the quotient rounded down.

    Args:
        x, y: tensors, variables or arrays of one dtype.
        name: the name of the node.

    Returns:
        A tensor of their dtype.
    """
    x = tg.convert_to_tensor(x)
    return tg.floordiv(x, y, name) if is_integer(x.dtype) else truediv(x, y, name)


imported_in_graph(globals())
