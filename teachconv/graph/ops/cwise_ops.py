"""The public element-wise ops. TensorFlow: python/ops/math_ops.py and gen_math_ops.py.

Two inputs are broadcast: axes are matched from the last, and a size of 1 expands.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...dtypes import is_integer
from ..framework.default_graph import name_scope
from ..framework.op_def import as_dtype, is_trainable
from ..framework.tensor import tensor_dtype
from . import gen_nn_ops
from .constant_op import convert_to_tensor, is_tensor

__all__ = [
    "abs",
    "add_n",
    "cast",
    "equal",
    "exp",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "maximum",
    "minimum",
    "negative",
    "not_equal",
    "pow",
    "rsqrt",
    "sigmoid",
    "sign",
    "sqrt",
    "square",
    "tanh",
    "truediv",
    "where",
]


def negative(x: Any, name: str | None = None) -> Any:
    """Return -x element-wise.

    Args:
        x: numbers, a tensor, variable, array or number.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    return gen_nn_ops.neg(x, name=name)


def abs(x: Any, name: str | None = None) -> Any:
    """Return the absolute value element-wise.

    Args:
        x, name: as in `negative`.

    Returns:
        As `negative`.
    """
    return gen_nn_ops.abs(x, name=name)


def sign(x: Any, name: str | None = None) -> Any:
    """Return -1, 0 or 1 element-wise.

    Args:
        x, name: as in `negative`.

    Returns:
        As `negative`.
    """
    return gen_nn_ops.sign(x, name=name)


def square(x: Any, name: str | None = None) -> Any:
    """Return x * x element-wise.

    Args:
        x, name: as in `negative`.

    Returns:
        As `negative`.
    """
    return gen_nn_ops.square(x, name=name)


def sqrt(x: Any, name: str | None = None) -> Any:
    """Return the square root element-wise.

    Args:
        x: floats, a tensor, variable, array or number.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    return gen_nn_ops.sqrt(x, name=name)


def rsqrt(x: Any, name: str | None = None) -> Any:
    """Return 1 / sqrt(x) element-wise.

    Args:
        x, name: as in ``sqrt``.

    Returns:
        As ``sqrt``.
    """
    return gen_nn_ops.rsqrt(x, name=name)


def exp(x: Any, name: str | None = None) -> Any:
    """Return e to the power of x element-wise.

    Args:
        x, name: as in ``sqrt``.

    Returns:
        As ``sqrt``.
    """
    return gen_nn_ops.exp(x, name=name)


def log(x: Any, name: str | None = None) -> Any:
    """Return the natural logarithm element-wise.

    Args:
        x, name: as in ``sqrt``.

    Returns:
        As ``sqrt``.
    """
    return gen_nn_ops.log(x, name=name)


def tanh(x: Any, name: str | None = None) -> Any:
    """Return the hyperbolic tangent element-wise.

    Args:
        x, name: as in ``sqrt``.

    Returns:
        As ``sqrt``.
    """
    return gen_nn_ops.tanh(x, name=name)


def sigmoid(x: Any, name: str | None = None) -> Any:
    """Return 1 / (1 + exp(-x)) element-wise.

    Args:
        x, name: as in ``sqrt``.

    Returns:
        As ``sqrt``.
    """
    return gen_nn_ops.sigmoid(x, name=name)


def logical_not(x: Any, name: str | None = None) -> Any:
    """Return not x element-wise.

    Args:
        x: booleans, a tensor, variable, array or number.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    return gen_nn_ops.logical_not(x, name=name)


def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y with broadcasting; integers are converted to float64 first, uint8 to float32.

    Args:
        x, y: numbers of one dtype: tensors, variables, arrays or Python numbers.
        name: the name of the node.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.
    """
    dtype = tensor_dtype([x, y])
    if dtype is not None and is_trainable(dtype):
        return gen_nn_ops.real_div(x, y, name=name or "truediv")
    with name_scope(name or "truediv") as scope:
        x = x if is_tensor(x) else convert_to_tensor(x, dtype, "x")
        y = y if is_tensor(y) else convert_to_tensor(y, x.dtype, "y")
        if is_integer(x.dtype) and x.dtype == y.dtype:
            wide = "float32" if x.dtype == "uint8" else "float64"
            x, y = cast(x, wide), cast(y, wide)
        return gen_nn_ops.real_div(x, y, name=scope)


def floordiv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y rounded down, with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.floor_div(x, y, name=name or "floordiv")


def floormod(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the remainder of x / y, which has the sign of y, with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.floor_mod(x, y, name=name)


def pow(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x to the power of y with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.pow(x, y, name=name)


def maximum(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the larger one of x and y with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.maximum(x, y, name=name)


def minimum(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the smaller one of x and y with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.minimum(x, y, name=name)


def greater(x: Any, y: Any, name: str | None = None) -> Any:
    """Return whether x > y with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.greater(x, y, name=name)


def greater_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Return whether x >= y with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.greater_equal(x, y, name=name)


def less(x: Any, y: Any, name: str | None = None) -> Any:
    """Return whether x < y with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.less(x, y, name=name)


def less_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Return whether x <= y with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.less_equal(x, y, name=name)


def equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Return whether x and y are equal, with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.equal(x, y, name=name)


def not_equal(x: Any, y: Any, name: str | None = None) -> Any:
    """Return whether x and y differ, with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.not_equal(x, y, name=name)


def logical_and(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x and y with broadcasting.

    Args:
        x, y: booleans: tensors, variables or arrays.
        name: the name of the node.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.
    """
    return gen_nn_ops.logical_and(x, y, name=name)


def logical_or(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x or y with broadcasting.

    Args:
        x, y, name: as in `logical_and`.

    Returns:
        As `logical_and`.

    Raises:
        ValueError, TypeError: as `logical_and`.
    """
    return gen_nn_ops.logical_or(x, y, name=name)


def where(condition: Any, x: Any, y: Any, name: str | None = None) -> Any:
    """Return x where the condition is true and y elsewhere, with broadcasting, as tf.where.

    Args:
        condition: booleans.
        x: numbers.
        y: numbers of the same dtype.
        name: the name of the node.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.

    >>> where([True, False], 1, [2, 3]).numpy().tolist()
    [1, 3]
    """
    return gen_nn_ops.select_v2(condition, x, y, name=name)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert to another dtype; floats are cut off towards zero, bool becomes 0 or 1.

    Args:
        x: a tensor, variable, array or number.
        dtype: the dtype.
        name: the name of the node.

    Returns:
        A tensor of the same shape; ``x`` itself if it is a tensor of that dtype.

    >>> cast([1.7, -1.7], "int32").numpy().tolist()
    [1, -1]
    """
    wanted = as_dtype(dtype)
    if is_tensor(x) and x.dtype == wanted:
        return x
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "iu":
        x = x.astype("int64")  # of any size, such as int8, of which there are no tensors
    return gen_nn_ops.cast(x, wanted, name=name)


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Return the sum of tensors of one shape and dtype.

    Args:
        inputs: a list of at least one tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor; the input itself if there is only one.

    Raises:
        ValueError, TypeError: if the list is empty, or shapes or dtypes differ.

    >>> add_n([[1, 2], [3, 4], [5, 6]]).numpy().tolist()
    [9, 12]
    """
    inputs = [convert_to_tensor(each) for each in inputs]
    if len(inputs) == 1:
        return inputs[0] if name is None else gen_nn_ops.identity(inputs[0], name=name)
    return gen_nn_ops.add_n(inputs, name=name)
