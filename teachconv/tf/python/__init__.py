"""tensorflow.python: the generated wrappers, ``ops.gen_nn_ops``, and ``framework.ops``."""

from ...graph.options import refuse_other_names
from ..missing import module_getattr
from . import framework, ops

__all__ = ["framework", "ops"]

refuse_other_names(__name__, module_getattr)
