"""Registers every op of the runtime with TensorFlow's names, arguments, attributes and defaults.

TensorFlow: REGISTER_OP in core/ops/. There is one file per family, as there, with a table of its ops.
Omitted are attributes that only affect TensorFlow's own kernels (``use_cudnn_on_gpu``) and formats of BiasAdd
that the runtime does not support. Added are padding SAME_LOWER, and int64 wherever int32 is allowed. After a
change run ``python -m teachconv.graph.core_ops.op_gen`` to write the generated wrappers again.
"""

from ..framework.op_def import register_ops
from . import array_ops, cwise_ops, functional_ops, math_ops, nn_ops, state_ops

__all__ = ["array_ops", "cwise_ops", "functional_ops", "math_ops", "nn_ops", "state_ops"]

for _family in (array_ops, cwise_ops, functional_ops, math_ops, nn_ops, state_ops):
    register_ops(_family.OP_DEFS)
