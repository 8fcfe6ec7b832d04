"""Kernels for constants, feeds and variables: Placeholder, Const, Variable, Assign, NoOp.

TensorFlow: core/kernels/constant_op.cc, variable_ops.cc and assign_op.h. A Variable returns a reference;
reading through it gives the current value.
"""

from __future__ import annotations

from typing import Any

from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, VariableRef, register_kernel

__all__: list[str] = []


@register_kernel("Placeholder")
class PlaceholderOp(OpKernel):
    """Raises an error; the session normally rejects a run with a missing feed earlier."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Raise `InvalidArgumentError`."""
        raise InvalidArgumentError(f"placeholder {self.node.name!r} was not fed")


@register_kernel("_Arg")
class ArgOp(OpKernel):
    """Returns a value that was fed."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.index = node.attrs["index"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the value; the session has checked its shape and dtype."""
        return context.feeds[self.index]


@register_kernel("Const")
class ConstantOp(OpKernel):
    """Returns the attribute ``value``."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.value = node.attrs["value"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the same read-only array in each run."""
        return self.value


@register_kernel("Variable")
class VariableOp(OpKernel):
    """Returns a reference to the variable with the node's name."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.facts = node.name, node.attrs["shape"], node.attrs["dtype"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the reference without reading the value, which may not exist before an Assign."""
        name = self.facts[0]
        if name not in context.variables:
            context.variables.setdefault(name, VariableRef(*self.facts))  # at once for all threads
        return context.variables[name]


@register_kernel("Assign")
class AssignOp(OpKernel):
    """Assigns a new value to a variable."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Store the value; it stays where the run fails later."""
        ref, value = inputs
        ref.assign(value)
        return ref


@register_kernel("NoOp")
class NoOp(OpKernel):
    """Does nothing; it only carries control dependencies."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return no outputs."""
        return ()
