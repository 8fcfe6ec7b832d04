"""_Send and _Recv: a value crosses from one device to another.

TensorFlow: core/kernels/sendrecv_ops.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices import to_host
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel

__all__: list[str] = []


@register_kernel("_Send")
@register_kernel("_Send", "GPU")
class SendOp(OpKernel):
    """Leaves a value at the rendezvous of the run."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Put the value under the key of the edge."""
        context.rendezvous[self.node.attrs["tensor_name"]] = inputs[0]
        return ()


@register_kernel("_Recv")
class RecvOp(OpKernel):
    """Takes a value from the rendezvous to the memory of this node's device."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a copy, because devices share no memory."""
        return np.array(to_host(context.rendezvous.pop(self.node.attrs["tensor_name"])))
