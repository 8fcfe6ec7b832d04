"""Values as arrays: which dtype a Python number gets, and what may be converted to what.

TensorFlow: python/framework/tensor_util.py, whose rules hold: Python's ints become int32, its floats
float32, arrays keep their dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import as_array
from ..dtypes import is_integer
from ..errors import ArgumentTypeError

__all__ = ["frozen", "to_array"]


def to_array(value: Any, dtype: np.dtype[Any] | None, name: str) -> np.ndarray:
    """Return ``value`` as an array of a supported dtype; of ``dtype`` where one is given.

    Arrays are not converted to another kind of number, nor to another dtype at all: that would hide a
    mistake. Python's numbers are, where they fit.

    >>> to_array(1, np.dtype("float32"), "x"), to_array(1.5, None, "x").dtype
    (array(1., dtype=float32), dtype('float32'))
    """
    if type(value) is np.ndarray and value.dtype == dtype:
        return value
    python = isinstance(value, (int, float, list, tuple)) and not isinstance(value, np.generic)
    if isinstance(value, bool):
        raise ArgumentTypeError(f"{name} must be numbers; got {value!r}")
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
        f'{name} must have dtype {dtype.name}; got {array.dtype.name}: .astype("{dtype}")'
    )


def frozen(array: np.ndarray) -> np.ndarray:
    """Return a copy that cannot be written to: a node's own."""
    array = np.array(array, order="C")
    array.flags.writeable = False
    return array
