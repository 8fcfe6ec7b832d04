"""tf.train of TensorFlow 1: the optimizers of teachconv.graph.training, which add to the default graph.

TensorFlow: python/training/.
"""

from __future__ import annotations

from ....graph import training
from .default_graph import in_graph

__all__ = [
    "AdamOptimizer",
    "GradientDescentOptimizer",
    "MomentumOptimizer",
    "Optimizer",
    "RMSPropOptimizer",
    "exponential_decay",
]

exponential_decay = in_graph(training.exponential_decay)


class Optimizer(training.Optimizer):
    """The base class: `teachconv.graph.training.Optimizer`."""

    minimize = in_graph(training.Optimizer.minimize)
    compute_gradients = in_graph(training.Optimizer.compute_gradients)
    apply_gradients = in_graph(training.Optimizer.apply_gradients)


class GradientDescentOptimizer(Optimizer, training.GradientDescentOptimizer):
    """Gradient descent: `teachconv.graph.training.GradientDescentOptimizer`."""


class MomentumOptimizer(Optimizer, training.MomentumOptimizer):
    """Gradient descent with momentum: `teachconv.graph.training.MomentumOptimizer`."""


class RMSPropOptimizer(Optimizer, training.RMSPropOptimizer):
    """RMSProp: `teachconv.graph.training.RMSPropOptimizer`."""


class AdamOptimizer(Optimizer, training.AdamOptimizer):
    """Adam: `teachconv.graph.training.AdamOptimizer`."""
