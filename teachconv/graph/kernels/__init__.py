"""The kernels. Importing this package fills the registry. TensorFlow: core/kernels/.

There is one file per family: conv_ops and math_ops (matrix products), which call teachconv's backends, and
the others, which use NumPy. Every kernel here runs on "CPU". To add a kernel for another device,
write a class with `compute` and one line that registers it.
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
