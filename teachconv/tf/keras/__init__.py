"""tf.keras: `teachconv.keras`, whose modules can be imported from here too.

>>> from teachconv.tf.keras import layers
>>> import teachconv.keras
>>> layers.Conv2D is teachconv.keras.layers.Conv2D
True
"""

from ...graph.options import refuse_other_names
from ...keras import (
    Input,
    Model,
    Sequential,
    activations,
    backend,
    callbacks,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    regularizers,
    utils,
)
from ...keras.missing import module_getattr

__all__ = [
    "Input",
    "Model",
    "Sequential",
    "activations",
    "backend",
    "callbacks",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "optimizers",
    "regularizers",
    "utils",
]

refuse_other_names(__name__, module_getattr)
