"""teachconv.tf.compat.v1: TensorFlow 1's names for what teachconv has.

Ops are added to a default graph, and a `Session` runs them.

>>> import teachconv.tf.compat.v1 as tf
>>> x = tf.placeholder(tf.float32, [None, 2])
>>> w = tf.Variable(tf.ones([2, 1]))
>>> y = tf.matmul(x, w)
>>> with tf.Session() as sess:
...     sess.run(tf.global_variables_initializer())
...     sess.run(y, feed_dict={x: [[1, 2], [3, 4]]}).tolist()
[[3.0], [7.0]]
"""

# ruff: noqa: F403  (a module says in __all__ which of its names are public)

from typing import TYPE_CHECKING

from ....graph import (
    ConfigProto,
    GPUOptions,
    Graph,
    GraphKeys,
    Operation,
    RegisterGradient,
    RunMetadata,
    RunOptions,
    TensorShape,
    TensorSpec,
    disable_v2_behavior,
    enable_v2_behavior,
    executing_eagerly,
    get_default_session,
)
from ....graph.options import refuse_other_names
from ... import VERSION, __version__, config, dtypes, errors, newaxis
from ...dtypes import *
from ...framework import Tensor, UnconnectedGradients, function, is_tensor
from ...missing import module_getattr
from . import app, framework, image, layers, losses, math, math_ops, metrics, nn, random, summary, train
from .default_graph import enable_eager_execution, reset_default_graph
from .framework import *
from .math_ops import *
from .random import random_normal, random_uniform, set_random_seed, truncated_normal

disable_eager_execution = disable_v2_behavior

if TYPE_CHECKING:
    from ... import keras

__all__ = [
    "ConfigProto",
    "GPUOptions",
    "Graph",
    "GraphKeys",
    "Operation",
    "RegisterGradient",
    "RunMetadata",
    "RunOptions",
    "Tensor",
    "TensorShape",
    "TensorSpec",
    "UnconnectedGradients",
    "VERSION",
    "__version__",
    "app",
    "config",
    "disable_eager_execution",
    "disable_v2_behavior",
    "dtypes",
    "enable_eager_execution",
    "enable_v2_behavior",
    "errors",
    "image",
    "layers",
    "losses",
    "metrics",
    "summary",
    "executing_eagerly",
    "function",
    "get_default_session",
    "is_tensor",
    "keras",
    "math",
    "newaxis",
    "nn",
    "random",
    "random_normal",
    "random_uniform",
    "reset_default_graph",
    "set_random_seed",
    "train",
    "truncated_normal",
]
__all__ += dtypes.__all__
__all__ += framework.__all__
__all__ += math_ops.__all__

refuse_other_names(__name__, module_getattr)
