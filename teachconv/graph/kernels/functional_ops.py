"""PartitionedCall and If, which run functions; _Send and _Recv, by which a value changes its device.

TensorFlow: core/kernels/partitioned_function_ops.cc, functional_ops.cc and sendrecv_ops.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...devices import to_host
from ..framework.errors import InvalidArgumentError
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel

__all__: list[str] = []


def _call(function: Any, context: OpKernelContext, inputs: Sequence[Any]) -> Any:
    """Run a function; return its output, or a tuple unless there is exactly one."""
    outputs = function.run_in_kernel(context, inputs)
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


@register_kernel("PartitionedCall")
@register_kernel("StatefulPartitionedCall")
class PartitionedCallOp(OpKernel):
    """Runs the function in the attribute ``f``."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the function's outputs for its arguments; the references to variables come after them."""
        return _call(self.node.attrs["f"], context, inputs)


@register_kernel("StatelessIf")
@register_kernel("If")
class IfOp(OpKernel):
    """Runs one of two functions."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the outputs of the branch that the first input chooses."""
        chosen, *operands = inputs
        if np.ndim(chosen):
            raise InvalidArgumentError(f"cond of If must be a scalar; got shape {chosen.shape}")
        then, other = self.node.attrs["then_branch"], self.node.attrs["else_branch"]
        first, all_values = len(then.captured_inputs), len(then.captured_inputs) + len(other.captured_inputs)
        refs = all_values + len(then.variables)
        if chosen:
            return _call(then, context, [*operands[:first], *operands[all_values:refs]])
        return _call(other, context, [*operands[first:all_values], *operands[refs:]])


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
