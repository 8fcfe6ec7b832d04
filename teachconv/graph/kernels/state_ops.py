"""Kernels for constants, feeds and variables: Placeholder, Const, Variable, Assign, NoOp; and for training.

TensorFlow: core/kernels/constant_op.cc, variable_ops.cc, assign_op.h and training_ops.cc. A Variable returns
a reference; reading through it gives the current value. The arithmetic of the training ops is in the
variable's dtype, in the order of TensorFlow's CPU functors.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import numpy as np

from ...errors import brief
from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, VariableRef, register_kernel
from ..framework.shape_inference import InferringKernel

__all__: list[str] = []


@register_kernel("Placeholder")
class PlaceholderOp(OpKernel):
    """Raises an error; the session normally rejects a run with a missing feed earlier."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Raise `InvalidArgumentError`."""
        raise InvalidArgumentError(f"placeholder {brief(self.node.name)} was not fed")


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


# --- training ----------------------------------------------------------------------------------------


class _Apply(InferringKernel):
    """Reads the variables that the references among the inputs stand for, updates them, and writes them."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Update the variable and its slots, while no other thread does; return the variable's reference."""
        refs = [value for value in inputs if isinstance(value, VariableRef)]
        with ExitStack() as locks:
            for ref in sorted(refs, key=id):  # one order for all kernels, or two could wait for each other
                locks.enter_context(ref.lock)
            values = [ref.read() for ref in refs]
            self.infer(*values, *inputs[len(refs) :])
            for ref, value in zip(refs, self.update(*values, *inputs[len(refs) :]), strict=True):
                ref.assign(value)
        return refs[0]

    def update(self, *values: Any) -> tuple[Any, ...]:
        """Return the new values of the variable and its slots."""
        raise NotImplementedError


@register_kernel("AssignAdd")
class AssignAddOp(_Apply):
    """Adds a value to a variable."""

    def update(self, *values: Any) -> tuple[Any, ...]:
        """Return the sum."""
        return (np.add(*values),)


@register_kernel("AssignSub")
class AssignSubOp(_Apply):
    """Subtracts a value from a variable."""

    def update(self, *values: Any) -> tuple[Any, ...]:
        """Return the difference."""
        return (np.subtract(*values),)


@register_kernel("ApplyGradientDescent")
class ApplyGradientDescentOp(_Apply):
    """One step against the gradient."""

    def update(self, *values: Any) -> tuple[Any, ...]:
        """Return var - alpha * delta."""
        var, alpha, delta = values
        return (var - delta * alpha,)


@register_kernel("ApplyMomentum")
class ApplyMomentumOp(_Apply):
    """Momentum as in TensorFlow 1: the learning rate scales the accumulated gradients."""

    def update(self, *values: Any) -> tuple[Any, ...]:
        """Return the variable and the accumulator."""
        var, accum, lr, grad, momentum = values
        accum = accum * momentum + grad
        if self.node.attrs["use_nesterov"]:
            return var - (grad * lr + accum * momentum * lr), accum
        return var - accum * lr, accum


@register_kernel("ResourceApplyKerasMomentum")
class ApplyKerasMomentumOp(_Apply):
    """Momentum as in Keras: each gradient is scaled by the learning rate of its own step."""

    def update(self, *values: Any) -> tuple[Any, ...]:
        """Return the variable and the velocity."""
        var, accum, lr, grad, momentum = values
        accum = accum * momentum - grad * lr
        return var + (accum * momentum - grad * lr if self.node.attrs["use_nesterov"] else accum), accum


@register_kernel("ApplyAdam")
class ApplyAdamOp(_Apply):
    """Adam, in the form at the end of section 2 of D. Kingma and J. Ba, 2015 (arXiv:1412.6980)."""

    def update(self, *values: Any) -> tuple[Any, ...]:
        """Return the variable and the two averages."""
        var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad = values
        one = var.dtype.type(1)
        alpha = lr * np.sqrt(one - beta2_power) / (one - beta1_power)
        new_m = grad - m  # m + (grad - m) * (1 - beta1), in place because memory takes the time
        new_m *= one - beta1
        new_m += m
        new_v = grad * grad
        new_v -= v
        new_v *= one - beta2
        new_v += v
        step = new_m * beta1 + grad * (one - beta1) if self.node.attrs["use_nesterov"] else new_m
        change = np.asarray(step * alpha)  # NumPy returns a scalar where the variable is one
        divisor = np.sqrt(new_v)
        divisor += epsilon
        change /= divisor
        return np.subtract(var, change, out=change), new_m, new_v
