"""tf.float32 and the other dtypes. TensorFlow: python/framework/dtypes.py."""

from __future__ import annotations

from typing import Any

from ..graph import bfloat16
from ..graph.framework import op_def
from ..graph.framework.dtypes import DType, with_attributes

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int32",
    "int64",
    "uint8",
]


def as_dtype(type_value: Any) -> DType:
    """Return a dtype of NumPy, or the name of one, as a `DType`.

    Args:
        type_value: the dtype or its name.

    Raises:
        TypeError: if teachconv has no such dtype.
    """
    return with_attributes(op_def.as_dtype(type_value))


bool, uint8, int32, int64 = map(as_dtype, ("bool", "uint8", "int32", "int64"))
half = float16 = as_dtype("float16")
float32 = as_dtype("float32")
double = float64 = as_dtype("float64")
