"""tf.train of TensorFlow 1: the optimizers of teachconv.graph.training, which add to the default graph.

TensorFlow: python/training/.
"""

from __future__ import annotations

from typing import Any

from ....graph import training
from ....graph.framework.options import unsupported
from .default_graph import in_graph

__all__ = ["AdamOptimizer", "GradientDescentOptimizer", "MomentumOptimizer", "Optimizer"]


class Optimizer(training.Optimizer):
    """The base class: `teachconv.graph.training.Optimizer`."""

    minimize = in_graph(training.Optimizer.minimize)
    compute_gradients = in_graph(training.Optimizer.compute_gradients)
    apply_gradients = in_graph(training.Optimizer.apply_gradients)


class GradientDescentOptimizer(Optimizer, training.GradientDescentOptimizer):
    """Gradient descent: `teachconv.graph.training.GradientDescentOptimizer`."""


class MomentumOptimizer(Optimizer, training.MomentumOptimizer):
    """Gradient descent with momentum: `teachconv.graph.training.MomentumOptimizer`."""


class AdamOptimizer(Optimizer, training.AdamOptimizer):
    """Adam: `teachconv.graph.training.AdamOptimizer`."""

    @unsupported("use_own_namescope_for_non_slot_vars")
    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: Any = 0.9,
        beta2: Any = 0.999,
        epsilon: Any = 1e-08,
        use_locking: bool = False,
        name: str = "Adam",
        use_own_namescope_for_non_slot_vars: bool = False,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
