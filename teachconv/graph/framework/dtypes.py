"""`DType`: a dtype of NumPy with TensorFlow's attributes. TensorFlow: python/framework/dtypes.py."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.dtypes import FLOATS, is_integer, lowest

_ATTRIBUTES: dict[str, Callable[[np.dtype[Any]], Any]] = {
    "as_numpy_dtype": lambda dtype: dtype.type,
    "base_dtype": lambda dtype: DType(dtype),
    "real_dtype": lambda dtype: DType(dtype),
    "is_floating": lambda dtype: dtype.name in FLOATS,
    "is_integer": is_integer,
    "is_unsigned": lambda dtype: dtype.kind == "u",
    "is_bool": lambda dtype: dtype.kind == "b",
    "is_complex": lambda dtype: False,
    "min": lowest,
    "max": lambda dtype: np.iinfo(dtype).max if is_integer(dtype) else -lowest(dtype),
    "size": lambda dtype: dtype.itemsize,
}


class DType:
    """A dtype that equals NumPy's dtype of the same name; NumPy accepts it in place of its own.

    It has NumPy's attributes, such as ``name`` and ``itemsize``, and TensorFlow's: ``as_numpy_dtype``,
    ``base_dtype``, ``real_dtype``, ``is_floating``, ``is_integer``, ``is_unsigned``, ``is_bool``,
    ``is_complex``, ``min``, ``max`` and ``size``, in bytes.

    Attributes:
        dtype: NumPy's.

    >>> import numpy as np, teachconv.tf as tf
    >>> x = tf.constant(1.5)
    >>> x.dtype, x.dtype.is_floating, x.dtype.as_numpy_dtype, np.zeros(2, x.dtype), x.dtype == np.float32
    (tf.float32, True, <class 'numpy.float32'>, array([0., 0.], dtype=float32), True)
    """

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype

    def __getattr__(self, name: str) -> Any:
        return _ATTRIBUTES[name](self.dtype) if name in _ATTRIBUTES else getattr(self.dtype, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.dtype == other)

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __reduce__(self) -> Any:
        return with_attributes, (self.dtype,)

    def __str__(self) -> str:
        return f"<dtype: {self.dtype.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.dtype.name}"


@lru_cache(maxsize=64)
def with_attributes(dtype: Any) -> DType:
    """Return the `DType` of a dtype of NumPy."""
    return DType(np.dtype(dtype))
