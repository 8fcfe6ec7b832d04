"""tensorflow.python.ops: the generated wrappers of ops, which TensorFlow does not keep in its repository.

>>> from teachconv.tf.python.ops import gen_nn_ops
>>> gen_nn_ops.conv2d.__module__
'teachconv.graph.ops.gen_nn_ops'
"""

from ....graph.ops import gen_nn_ops
from ....graph.options import refuse_other_names
from ...missing import module_getattr

__all__ = ["gen_nn_ops"]

refuse_other_names(__name__, module_getattr)
