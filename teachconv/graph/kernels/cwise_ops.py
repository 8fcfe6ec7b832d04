"""The kernels of the element-wise ops: the NumPy function in the row of each op, Cast and AddN.

TensorFlow: core/kernels/cwise_ops_common.h, where UnaryOp and BinaryOp are templates over the function;
cast_op.cc, aggregate_ops.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import to_accumulator
from ...core.dtypes import is_integer
from ..framework.op_def import REGISTRY
from ..framework.shape_inference import register_function

for _op_def in REGISTRY.values():  # AddOp, SubOp, ...
    if _op_def.function is not None:
        register_function(_op_def.name, place=(_op_def.file, _op_def.line))(_op_def.function)


@register_function("Cast")
def _cast(x: Any, *, DstT: Any) -> Any:
    """Return the input in another dtype, as C converts: floats are cut off towards zero."""
    return x.astype(DstT, copy=False)


@register_function("AddN", infers=True)
def _add_n(*inputs: Any) -> Any:
    """Return the sum of the inputs from left to right; float16 and bfloat16 are summed in float32."""
    first = inputs[0]
    total = np.array(first if is_integer(first.dtype) else to_accumulator(first))
    for term in inputs[1:]:
        total += term
    return total.astype(first.dtype, copy=False)
