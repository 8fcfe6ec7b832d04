"""The kernels. Importing this package fills the registry. TensorFlow: core/kernels/.

There is one file per family: conv_ops and math_ops (matrix products), which call teachconv's backends, and
the others, which use NumPy. Most are functions of their inputs (`register_function`); one that keeps
something, or calls a backend, is a class with `compute` (`register_kernel`). All but those in gpu_ops run on
"CPU".
"""

from .. import core_ops  # noqa: F401  (registers the ops)
from ..framework.op_kernel import KERNELS
from . import (
    array_ops,
    conv_ops,
    cwise_ops,
    functional_ops,
    gpu_ops,
    math_ops,
    nn_ops,
    pooling_ops,
    state_ops,
)

__all__ = [
    "KERNELS",
    "array_ops",
    "conv_ops",
    "cwise_ops",
    "functional_ops",
    "gpu_ops",
    "math_ops",
    "nn_ops",
    "pooling_ops",
    "state_ops",
]
