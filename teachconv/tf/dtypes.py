"""tf.float32 and the other dtypes: NumPy's, under TensorFlow's names.

TensorFlow: python/framework/dtypes.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import to_dtype
from ..graph import bfloat16, float16, float32, float64, int32, int64

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
]

DType = np.dtype
bool = np.dtype("bool")
double, half = float64, float16


def as_dtype(type_value: Any) -> np.dtype[Any]:
    """Return the dtype that a name, a NumPy type or a dtype stands for."""
    return to_dtype(type_value)
