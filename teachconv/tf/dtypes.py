"""tf.float32 and the other dtypes: NumPy's, under TensorFlow's names.

TensorFlow: python/framework/dtypes.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import to_dtype
from ..graph import bfloat16

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
half = float16 = np.dtype("float16")
float32 = np.dtype("float32")
double = float64 = np.dtype("float64")
int32 = np.dtype("int32")
int64 = np.dtype("int64")


def as_dtype(type_value: Any) -> np.dtype[Any]:
    """Return the dtype that a name, a NumPy type or a dtype stands for.

    Args:
        type_value: such as "float32", numpy.float32 or tf.float32.

    Returns:
        A NumPy dtype.

    Raises:
        TypeError: if it stands for none.

    >>> as_dtype("half")
    dtype('float16')
    """
    return to_dtype(type_value)
