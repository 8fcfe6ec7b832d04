"""tf.math of TensorFlow 1: the names of `teachconv.tf.math`. TensorFlow: python/ops/math_ops.py."""

# ruff: noqa: F403  (math_ops says in __all__ which of its names are public)

from ... import math
from .math_ops import *
from .nn import log_softmax, softmax, softplus  # noqa: F401  (in __all__, as everything of tf.math)

__all__: list[str] = []
__all__ += math.__all__
