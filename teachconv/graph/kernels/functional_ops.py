"""PartitionedCall, which runs a function; _Send and _Recv, which move a value between devices.

TensorFlow: core/kernels/partitioned_function_ops.cc and sendrecv_ops.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...support.devices import to_host
from ..framework.op_kernel import OpKernelContext
from ..framework.shape_inference import register_function


@register_function("StatefulPartitionedCall", "PartitionedCall")
def _partitioned_call(*inputs: Any, context: OpKernelContext, f: Any) -> Any:
    """Return the outputs of a function for its arguments; the references to variables come after them."""
    outputs = f.run_in_kernel(context, inputs)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _send(value: Any, *, context: OpKernelContext, tensor_name: str) -> tuple[Any, ...]:
    """Leave a value at the rendezvous of the run, under the key of the edge."""
    context.rendezvous[tensor_name] = value
    return ()


for _device in ("CPU", "GPU"):
    register_function("_Send", device=_device, name="SendOp")(_send)


@register_function("_Recv", name="RecvOp")
def _recv(*, context: OpKernelContext, tensor_name: str) -> Any:
    """Return a copy of a value from the rendezvous, because devices share no memory."""
    return np.array(to_host(context.rendezvous.pop(tensor_name)))
