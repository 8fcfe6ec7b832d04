"""tensorflow.python: only the module of generated wrappers, `teachconv.tf.python.ops.gen_nn_ops`."""

from ...graph.options import refuse_other_names
from ..missing import module_getattr
from . import ops

__all__ = ["ops"]

refuse_other_names(__name__, module_getattr)
