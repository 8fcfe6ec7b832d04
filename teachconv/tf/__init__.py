"""teachconv.tf: TensorFlow's names for what teachconv has; a program that needs only these runs here.

``import teachconv.tf as tf`` has the words of TensorFlow 2 (eager tensors, ``tf.function``,
``tf.GradientTape``, ``tf.nn``, ``tf.keras``), ``import teachconv.tf.compat.v1 as tf`` those of TensorFlow 1
(a default graph, ``placeholder``, ``Session``). Nothing here computes: the functions have TensorFlow's
signatures and forward to teachconv.graph and teachconv.keras, where every line can be read and stepped into.
``tf.__version__`` is the version of TensorFlow whose words these are.

>>> import teachconv.tf as tf
>>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
>>> tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), strides=2, padding="VALID").numpy().ravel().tolist()
[10.0, 18.0, 42.0, 50.0]
>>> tf.signal
Traceback (most recent call last):
    ...
AttributeError: teachconv.tf has no 'signal', only what convolutional networks need (did you mean "sign"?)
"""

# ruff: noqa: F403  (a module says in __all__ which of its names are public)

from typing import TYPE_CHECKING

from ..graph import (
    EagerTensor,
    GradientTape,
    Graph,
    Operation,
    RegisterGradient,
    TensorShape,
    TensorSpec,
    cast,
)
from ..graph.ops.nn_impl import clip_by_norm, clip_by_value
from ..graph.options import refuse_other_names
from . import config, data, dtypes, errors, framework, image, math, math_ops, nn, random, summary
from .dtypes import *
from .framework import *
from .math_ops import *
from .missing import module_getattr

if TYPE_CHECKING:
    from . import compat, keras, python, train
    from .keras import initializers, losses, metrics, optimizers

    random_normal_initializer = initializers.RandomNormal

__version__ = VERSION = "2.21.0"  # TensorFlow's, with Keras 3
newaxis = None

__all__ = [
    "EagerTensor",
    "GradientTape",
    "Graph",
    "Operation",
    "RegisterGradient",
    "TensorShape",
    "TensorSpec",
    "VERSION",
    "__version__",
    "cast",
    "clip_by_norm",
    "clip_by_value",
    "compat",
    "config",
    "data",
    "dtypes",
    "errors",
    "image",
    "initializers",
    "keras",
    "losses",
    "math",
    "metrics",
    "newaxis",
    "nn",
    "optimizers",
    "python",
    "random",
    "random_normal_initializer",
    "summary",
    "train",
]
__all__ += dtypes.__all__
__all__ += framework.__all__
__all__ += math_ops.__all__

refuse_other_names(__name__, module_getattr)
