"""PartitionedCall and If: kernels that run the graph of a function.

TensorFlow: core/kernels/partitioned_function_ops.cc and functional_ops.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
