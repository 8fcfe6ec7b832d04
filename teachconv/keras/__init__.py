"""teachconv.keras: layers, models, optimizers, losses and metrics in Keras' words, on top of teachconv.graph.

A model is a graph of layers; in a Sequential they follow one another. Each layer adds its nodes to a graph,
``fit`` is a loop over one traced training step, and every file is short enough to be read:

layers/ -> models.py -> training.py (``train_step``, ``fit``) -> losses.py, optimizers.py -> teachconv.graph.

>>> import numpy as np
>>> from teachconv import keras
>>> keras.utils.set_random_seed(0)
>>> model = keras.Sequential([
...     keras.Input((4, 4, 1)),
...     keras.layers.Conv2D(4, 3, activation="relu"),
...     keras.layers.Flatten(),
...     keras.layers.Dense(2),
... ])
>>> loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
>>> model.compile(keras.optimizers.Adam(0.1), loss, metrics=["accuracy"])
>>> x, y = np.eye(4, dtype="float32").reshape(1, 4, 4, 1) * [[[[1]]], [[[-1]]]], [0, 1]
>>> model.fit(x, y, epochs=20, verbose=0).history["accuracy"][-1]
1.0
"""

from ..graph.options import refuse_other_names
from . import (
    activations,
    backend,
    callbacks,
    config,
    find_source,  # noqa: F401  (registers layers and models)
    initializers,
    layers,
    losses,
    metrics,
    models,
    onnx_export,  # noqa: F401  (registers models)
    ops,
    optimizers,
    random,
    regularizers,
    utils,
)
from .layers import Input, Layer
from .losses import Loss
from .metrics import Metric
from .missing import module_getattr
from .models import Model, Sequential
from .optimizers import Optimizer

__all__ = [
    "Input",
    "Layer",
    "Loss",
    "Metric",
    "Model",
    "Optimizer",
    "Sequential",
    "activations",
    "backend",
    "callbacks",
    "config",
    "initializers",
    "layers",
    "losses",
    "metrics",
    "models",
    "ops",
    "optimizers",
    "random",
    "regularizers",
    "utils",
]

refuse_other_names(__name__, module_getattr)
