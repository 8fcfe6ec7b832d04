"""Converts Python values and arrays to Const nodes.

TensorFlow: python/framework/constant_op.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import to_dtype
from ..errors import ArgumentError
from . import op_def_library
from .context import executing_eagerly
from .eager_tensor import EagerTensor
from .ops import Tensor
from .tensor_shape import as_shape
from .tensor_util import frozen, to_array

__all__ = ["constant", "is_tensor"]


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """Return a tensor with the same value in each run; outside a graph, an eager tensor.

    Args:
        value: an array, nested lists or a number.
        dtype: the dtype to convert to; None keeps that of the value.
        shape: a shape to reshape to, or to fill if ``value`` is a single number.
        name: the name of the node.

    Returns:
        A tensor.

    Raises:
        TypeError, ValueError: if ``value`` is not an array of a supported dtype or does not fit ``shape``.

    >>> from teachconv import graph as tg
    >>> tg.constant([1, 2]).dtype, tg.constant(0.5, shape=[2]).numpy()
    (dtype('int32'), array([0.5, 0.5], dtype=float32))
    """
    if value is None:
        raise ArgumentError("None values not supported.")
    array = to_array(value, None if dtype is None else to_dtype(dtype), "value")
    if shape is not None:
        sizes: Any = as_shape(shape)
        if None in sizes or (array.size not in (1, int(np.prod(sizes)))):
            raise ArgumentError(f"shape must hold the value's {array.size} elements; got {list(sizes)}")
        array = array.reshape(sizes) if array.size == np.prod(sizes) else np.full(sizes, array.ravel()[0])
    if executing_eagerly():
        return EagerTensor(frozen(array))
    return op_def_library.apply_op("Const", name, [], {"value": frozen(array), "dtype": array.dtype})


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor, of a graph or eager, and no variable, array or number.

    >>> is_tensor(constant(1)), is_tensor(1)
    (True, False)
    """
    return isinstance(value, (EagerTensor, Tensor))
