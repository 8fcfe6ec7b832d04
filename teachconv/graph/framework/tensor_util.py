"""Converts values to arrays: the dtype of Python numbers, and which conversions are allowed.

TensorFlow: python/framework/tensor_util.py. The same rules apply here: Python ints become int32, Python
floats become float32, and arrays keep their dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arguments import as_array, converted
from ...dtypes import is_integer
from ...errors import ArgumentError, ArgumentTypeError
from .eager_tensor import EagerTensor
from .tensor_shape import as_shape

__all__ = ["frozen", "int_vector", "static_shape", "to_array"]


def to_array(value: Any, dtype: np.dtype[Any] | None, name: str) -> np.ndarray:
    """Convert a value to an array of a supported dtype.

    Arrays are never converted to another dtype, because that would hide mistakes. Python numbers are
    converted if they fit.

    Args:
        value: an array, a NumPy scalar, a Python number or nested lists.
        dtype: the required dtype, or None.
        name: the name of the argument, for messages.

    Returns:
        The array.

    Raises:
        TypeError, ValueError: if the value is not numeric or has another dtype.

    >>> to_array(1, np.dtype("float32"), "x"), to_array(1.5, None, "x").dtype
    (array(1., dtype=float32), dtype('float32'))
    """
    if isinstance(value, EagerTensor):
        value = value._numpy()
    if type(value) is np.ndarray and value.dtype == dtype:
        return value
    if value is None:
        raise ArgumentError(f"{name} must be numbers; got None: None values not supported.")
    first = value
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if isinstance(first, (bool, np.bool_)) or getattr(value, "dtype", None) == np.bool_:
        if dtype is None or dtype == np.bool_:
            return np.asarray(value)
        raise ArgumentTypeError(f"{name} must have dtype {dtype.name}; got {value!r}, which is bool")
    python = isinstance(value, (int, float, list, tuple)) and not isinstance(value, np.generic)
    if isinstance(value, (int, float)) and python:
        array = as_array([value], name, None).reshape(())
    else:
        array = as_array(np.asarray(value) if isinstance(value, np.generic) else value, name, None)
    if python and dtype is None and array.dtype == np.float64:
        return array.astype(np.float32)
    if dtype is None or array.dtype == dtype:
        return array
    if python and (not is_integer(dtype) or is_integer(array.dtype) or not array.size):
        return array.astype(dtype)
    raise ArgumentTypeError(
        f"{name} must have dtype {dtype.name}; got {array.dtype.name}: {converted(name, dtype.name)}"
    )


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a read-only copy, for a node to own."""
    array = np.array(array, order="C")
    array.flags.writeable = False
    return array


def static_shape(value: Any) -> Any:
    """Return the static shape of a tensor, a variable, an array or nested lists."""
    return as_shape(value.shape if hasattr(value, "shape") else to_array(value, None, "input").shape)


def int_vector(value: Any, name: str = "shape") -> Any:
    """Return ``value`` as a vector of ints; an empty list would otherwise become a vector of floats.

    Args:
        value: a tensor or an array, which is returned as it is, or an int or a sequence of ints or tensors.
        name: the name of the argument, for messages.

    Returns:
        What an op takes as a vector.

    Raises:
        TypeError: if it is none of these.
    """
    if hasattr(value, "dtype"):
        return value
    if isinstance(value, int):
        return [value]
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise ArgumentTypeError(f"{name} must be ints or a vector; got {value!r}")
    return list(value) or to_array([], None, name).astype("int32")
