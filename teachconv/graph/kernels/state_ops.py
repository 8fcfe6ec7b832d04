"""Where values come from and where they stay: Placeholder, Const, Variable, Assign, NoOp.

TensorFlow: core/kernels/constant_op.cc, variable_ops.cc and assign_op.h. A Variable gives a reference;
whoever takes a value from it finds the value of that moment.
"""

from __future__ import annotations

from typing import Any

from ..errors import InvalidArgumentError
from ..node_def import NodeDef
from ..op_kernel import OpKernel, OpKernelContext, VariableRef, register_kernel

__all__: list[str] = []


@register_kernel("Placeholder")
class PlaceholderOp(OpKernel):
    """Has no value of its own; the session refuses a run before it comes here."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Raise."""
        raise InvalidArgumentError(f"placeholder {self.node.name!r} was not fed")


@register_kernel("_Arg")
class ArgOp(OpKernel):
    """A value that was fed."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.index = node.attrs["index"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """The session has checked its shape and dtype."""
        return context.feeds[self.index]


@register_kernel("Const")
class ConstantOp(OpKernel):
    """The attribute ``value``."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.value = node.attrs["value"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """The same array in each run; it cannot be written to."""
        return self.value


@register_kernel("Variable")
class VariableOp(OpKernel):
    """A reference, by the node's name."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.ref = VariableRef(node.name, node.attrs["shape"], node.attrs["dtype"])

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """No value is read here: an Assign needs none."""
        return self.ref


@register_kernel("Assign")
class AssignOp(OpKernel):
    """A variable's new value."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Keep the value for this run; the session takes it over when the run has succeeded."""
        ref, value = inputs
        context.assign(ref, value)
        return ref


@register_kernel("NoOp")
class NoOp(OpKernel):
    """Nothing; others wait for it, or it for them."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Nothing comes out."""
        return ()
