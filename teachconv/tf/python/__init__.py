"""tensorflow.python: only the module of generated wrappers, `teachconv.tf.python.ops.gen_nn_ops`."""

from . import ops

__all__ = ["ops"]
