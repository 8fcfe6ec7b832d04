"""The kernels. Importing this package fills the registry. TensorFlow: core/kernels/.

There is one file per family: conv_ops, which calls teachconv's backends, and pooling_ops, nn_ops, math_ops,
array_ops and state_ops, which use NumPy. Every kernel here runs on "CPU". To add a kernel for another device,
write a class with `compute` and one line that registers it.
"""

from .. import runtime_ops  # noqa: F401  (registers the ops)
from ..op_kernel import KERNELS
from . import array_ops, conv_ops, functional_ops, math_ops, nn_ops, pooling_ops, sendrecv_ops, state_ops

__all__ = [
    "KERNELS",
    "array_ops",
    "conv_ops",
    "functional_ops",
    "math_ops",
    "nn_ops",
    "pooling_ops",
    "sendrecv_ops",
    "state_ops",
]
