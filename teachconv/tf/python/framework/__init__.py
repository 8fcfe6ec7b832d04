"""tensorflow.python.framework: ``ops``, as TensorFlow 1's programs import it for RegisterGradient and others.

>>> from teachconv.tf.python.framework import ops
>>> ops.RegisterGradient.__name__
'RegisterGradient'
"""

from ...compat import v1 as ops

__all__ = ["ops"]
