"""The arithmetic of TensorFlow 1: tf.math and what the root has of it. TensorFlow: python/ops/math_ops.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .... import graph as tg
from ....graph.ops import nn_impl
from ... import math
from ...dtypes import float32, int32, int64
from ...missing import module_getattr
from ...options import either
from .default_graph import in_graph
from .nn import log_softmax, softmax

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
    "log",
    "log_softmax",
    "logical_and",
    "logical_not",
    "logical_or",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "rsqrt",
    "sigmoid",
    "sign",
    "softmax",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "truediv",
]

abs = in_graph(math.abs)
add = in_graph(math.add)
add_n = in_graph(math.add_n)
cast = in_graph(tg.cast)
clip_by_value = in_graph(nn_impl.clip_by_value)
divide = in_graph(math.divide)
equal = in_graph(math.equal)
exp = in_graph(math.exp)
greater = in_graph(math.greater)
greater_equal = in_graph(math.greater_equal)
less = in_graph(math.less)
less_equal = in_graph(math.less_equal)
log = in_graph(math.log)
logical_and = in_graph(math.logical_and)
logical_not = in_graph(math.logical_not)
logical_or = in_graph(math.logical_or)
matmul = in_graph(math.matmul)
maximum = in_graph(math.maximum)
minimum = in_graph(math.minimum)
multiply = in_graph(math.multiply)
negative = in_graph(math.negative)
not_equal = in_graph(math.not_equal)
pow = in_graph(math.pow)
range = in_graph(math.range)
rsqrt = in_graph(math.rsqrt)
sigmoid = in_graph(math.sigmoid)
sign = in_graph(math.sign)
sqrt = in_graph(math.sqrt)
square = in_graph(math.square)
subtract = in_graph(math.subtract)
tanh = in_graph(math.tanh)
truediv = in_graph(math.truediv)


@in_graph
def argmax(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = int64
) -> Any:
    """Return the index of the largest value along an axis, the first by default."""
    return math.argmax(input, either("axis", axis, "dimension", dimension), output_type, name)


@in_graph
def reduce_max(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Any:
    """Return the largest value over axes; None stands for all of them."""
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    return math.reduce_max(input_tensor, axis, bool(keepdims), name)


@in_graph
def reduce_mean(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Any:
    """Return the mean over axes; None stands for all of them."""
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    return math.reduce_mean(input_tensor, axis, bool(keepdims), name)


@in_graph
def reduce_min(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Any:
    """Return the smallest value over axes; None stands for all of them."""
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    return math.reduce_min(input_tensor, axis, bool(keepdims), name)


@in_graph
def reduce_prod(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Any:
    """Return the product over axes; None stands for all of them."""
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    return math.reduce_prod(input_tensor, axis, bool(keepdims), name)


@in_graph
def reduce_sum(
    input_tensor: Any,
    axis: Any = None,
    keepdims: Any = None,
    name: str | None = None,
    reduction_indices: Any = None,
    keep_dims: Any = None,
) -> Any:
    """Return the sum over axes; None stands for all of them."""
    axis = either("axis", axis, "reduction_indices", reduction_indices)
    keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
    return math.reduce_sum(input_tensor, axis, bool(keepdims), name)


@in_graph
def to_float(x: Any, name: str = "ToFloat") -> Any:
    """Return the values as float32."""
    return tg.cast(x, float32, name)


@in_graph
def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """Return the values as int32."""
    return tg.cast(x, int32, name)


if not TYPE_CHECKING:
    __getattr__ = module_getattr(__name__, __all__)
