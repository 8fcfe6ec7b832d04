"""tf.compat: TensorFlow 1, as `teachconv.tf.compat.v1`."""

from ...graph.options import refuse_other_names
from ..missing import module_getattr
from . import v1

__all__ = ["v1"]

refuse_other_names(__name__, module_getattr)
