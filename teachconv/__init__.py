"""teachconv: the convolution library to learn from and to check against.

TensorFlow's conv2d, transposed convolution and gradients as readable Python beside fast backends,
under one API, so that one can trace what a call does, explain each number and diff each backend.

>>> import numpy as np, teachconv as tc
>>> x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
>>> w = np.ones((3, 3, 1, 1), "float32")
>>> tc.conv2d(x, w, strides=2, padding="SAME")[0, :, :, 0].tolist()
[[45.0, 39.0], [66.0, 50.0]]
"""

from typing import Any

from . import backends
from .diffing import DiffReport, DiffRow, check_backend, diff
from .errors import ArgumentError, ArgumentTypeError, BackendUnavailable
from .explaining import Explanation, Tap, explain
from .geometry import (
    AxisGeometry,
    Conv2DGeometry,
    Conv2DTransposeGeometry,
    conv2d_geometry,
    conv2d_transpose_geometry,
)
from .nn_ops import (
    conv2d,
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_transpose,
    conv_matrix,
    depthwise_conv2d,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
)
from .planning import Plan, plan
from .settings import get_num_threads, set_num_threads, use_backend
from .tracing import Trace, trace
from .tuning import autotune

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "AxisGeometry",
    "BackendUnavailable",
    "DiffReport",
    "DiffRow",
    "Explanation",
    "Plan",
    "Tap",
    "Trace",
    "Conv2DGeometry",
    "Conv2DTransposeGeometry",
    "autotune",
    "backends",
    "check_backend",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_geometry",
    "conv2d_transpose",
    "conv2d_transpose_geometry",
    "conv_matrix",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "diff",
    "explain",
    "get_num_threads",
    "plan",
    "set_num_threads",
    "trace",
    "use_backend",
]


def __getattr__(name: str) -> Any:
    """Import the graph runtime only when it is asked for: `teachconv.graph` and `teachconv.function`."""
    if name in ("graph", "function"):
        from importlib import import_module

        module = import_module("teachconv.graph")
        return module if name == "graph" else module.function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
