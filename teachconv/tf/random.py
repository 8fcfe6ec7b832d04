"""tf.random: random numbers. They are seeded, but they are not TensorFlow's values.

TensorFlow: python/ops/random_ops.py.
"""

from ..graph.ops.random_ops import normal, truncated_normal, uniform
from ..graph.ops.random_ops import set_random_seed as set_seed

__all__ = ["normal", "set_seed", "truncated_normal", "uniform"]
