"""tf.math: the arithmetic of the root, and what only tf.math has. TensorFlow: python/ops/math_ops.py."""

# ruff: noqa: F403  (math_ops says in __all__ which of its names are public)

from ..graph.ops.math_ops import log, log1p, rsqrt
from . import math_ops
from .math_ops import *
from .nn import log_softmax, softmax, softplus

__all__ = ["log", "log1p", "log_softmax", "rsqrt", "softmax", "softplus"]
__all__ += math_ops.__all__
__all__.remove("matmul")  # of the root alone, as range
__all__.remove("range")
