"""tf.float32 and the other dtypes: NumPy's, under TensorFlow's names.

TensorFlow: python/framework/dtypes.py.
"""

import numpy as np

from ..graph import bfloat16
from ..graph.framework.op_def import as_dtype

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


DType = np.dtype
bool = np.dtype("bool")
half = float16 = np.dtype("float16")
float32 = np.dtype("float32")
double = float64 = np.dtype("float64")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
uint8 = np.dtype("uint8")
