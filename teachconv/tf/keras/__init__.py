"""tf.keras: `teachconv.keras`, whose modules can be imported from here too.

>>> from teachconv.tf.keras import layers
>>> import teachconv.keras
>>> layers.Conv2D is teachconv.keras.layers.Conv2D
True
"""

import sys

from ...graph.options import refuse_other_names
from ...keras import (
    Input,
    Model,
    Sequential,
    activations,
    callbacks,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    utils,
)
from ...keras.missing import module_getattr
from . import backend

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
    "utils",
]

for _name in __all__[3:]:  # so that `import teachconv.tf.keras.layers` finds the module
    sys.modules[f"{__name__}.{_name}"] = globals()[_name]

refuse_other_names(__name__, module_getattr)
