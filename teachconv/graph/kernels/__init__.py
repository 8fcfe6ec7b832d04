"""The kernels: importing this package fills the registry. TensorFlow: core/kernels/.

One file for each family: conv_ops (which call teachconv's backends), pooling_ops, nn_ops, math_ops,
array_ops and state_ops (plain NumPy). Every kernel here runs on "CPU"; a kernel for another device is
a class with `compute` and one line that registers it.
"""

from ..op_kernel import KERNELS
from . import array_ops, conv_ops, math_ops, nn_ops, pooling_ops, state_ops

__all__ = ["KERNELS", "array_ops", "conv_ops", "math_ops", "nn_ops", "pooling_ops", "state_ops"]
