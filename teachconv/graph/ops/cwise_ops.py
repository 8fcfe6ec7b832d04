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
from .gen_nn_ops import (
    abs,
    equal,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    not_equal,
    pow,
    rsqrt,
    sigmoid,
    sign,
    sqrt,
    square,
    tanh,
)
from .gen_nn_ops import floor_mod as floormod
from .gen_nn_ops import neg as negative

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
