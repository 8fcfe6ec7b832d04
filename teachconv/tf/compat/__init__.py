"""tf.compat: TensorFlow 1, as `teachconv.tf.compat.v1`."""

from . import v1

__all__ = ["v1"]
