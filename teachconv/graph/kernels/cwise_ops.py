"""The kernels of the element-wise ops: one class, with the NumPy function in the row of each op.

TensorFlow: core/kernels/cwise_ops_common.h, where UnaryOp and BinaryOp are templates over the function;
cast_op.cc, aggregate_ops.cc.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...backends import to_accumulator
from ...dtypes import is_integer
from ..framework.node_def import NodeDef
from ..framework.op_def import REGISTRY
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel
from ..framework.shape_inference import InferringKernel

__all__: list[str] = []


class CwiseOp(OpKernel):
    """Calls a NumPy function on the inputs.

    Attributes:
        function: the function, from the op's row in core_ops/cwise_ops.py.
    """

    function: Callable[..., Any]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the function of the inputs."""
        return self.function(*inputs)


for _op_def in REGISTRY.values():  # AddOp, SubOp, ...
    if _op_def.function is not None:
        _kernel = type(f"{_op_def.name}Op", (CwiseOp,), {"function": staticmethod(_op_def.function)})
        register_kernel(_op_def.name)(_kernel)


@register_kernel("Cast")
class CastOp(OpKernel):
    """Converts to another dtype as C does: floats are cut off towards zero."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.dtype = node.attrs["DstT"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input in the new dtype, the input itself if it has that dtype."""
        return inputs[0].astype(self.dtype, copy=False)


@register_kernel("AddN")
class AddNOp(InferringKernel):
    """Computes the sum of its inputs from left to right; float16 and bfloat16 are summed in float32."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the sum."""
        self.infer(*inputs)
        first = inputs[0]
        total = np.array(first if is_integer(first.dtype) else to_accumulator(first))
        for term in inputs[1:]:
            total += term
        return total.astype(first.dtype, copy=False)
