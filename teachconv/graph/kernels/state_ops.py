"""Kernels for constants, feeds and variables: Placeholder, Const, Variable, Assign, NoOp; and for training.

TensorFlow: core/kernels/constant_op.cc, variable_ops.cc, assign_op.h and training_ops.cc. A Variable returns
a reference; reading through it gives the current value. The arithmetic of the training ops is in the
variable's dtype, in the order of TensorFlow's CPU functors.
"""

from __future__ import annotations

import csv
from typing import Any

import numpy as np

from ..framework.errors import InvalidArgumentError
from ..framework.op_kernel import UPDATING, OpKernel, OpKernelContext, VariableRef, register_kernel
from ..framework.shape_inference import FunctionKernel, register_function


@register_function("Placeholder")
def _placeholder() -> Any:
    """Raise an error; the session normally rejects a run with a missing feed earlier."""
    raise InvalidArgumentError("a placeholder was not fed")


@register_function("_Arg", name="ArgOp")
def _arg(*, context: OpKernelContext, index: int) -> Any:
    """Return a value that was fed; the session has checked its shape and dtype."""
    return context.feeds[index]


@register_function("Const", name="ConstantOp")
def _const(*, value: Any) -> Any:
    """Return the same read-only array in each run."""
    return value


@register_kernel("Variable")
class VariableOp(OpKernel):
    """Returns a reference to the variable with the node's name."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the reference without reading the value, which may not exist before an Assign."""
        name, attrs = self.node.name, self.node.attrs
        if name not in context.variables:
            fresh = VariableRef(name, attrs["shape"], attrs["dtype"])
            context.variables.setdefault(name, fresh)  # at once for all threads
        return context.variables[name]


@register_function("Assign")
def _assign(ref: VariableRef, value: Any) -> VariableRef:
    """Store the value; it stays even if the run fails later."""
    ref.assign(value)
    return ref


@register_function("NoOp", name="NoOp")
def _no_op() -> tuple[Any, ...]:
    """Return no outputs: the node only carries control dependencies."""
    return ()


@register_function("WriteScalarSummary", name="WriteScalarSummaryOp")
def write_scalar_summary(step: Any, value: Any, *, writer: str, tag: str) -> tuple[Any, ...]:
    """Append a line: the step, the tag in quotes, the value."""
    with open(writer, "a", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerow([int(step), tag, value.item()])
    return ()


# --- training ----------------------------------------------------------------------------------------


class _Apply(FunctionKernel):
    """Reads the variables that the references among the inputs stand for, updates them, and writes them.

    Its function takes the values of the variable and its slots, then the other inputs, and returns the new
    values of the variable and its slots.
    """

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Update the variable and its slots, while no other thread does; return the variable's reference."""
        refs = [value for value in inputs if isinstance(value, VariableRef)]
        with UPDATING.lock:
            values = [*(ref.read() for ref in refs), *inputs[len(refs) :]]
            self.infer(*values)
            for ref, value in zip(refs, self._function(*values), strict=True):
                ref.assign(value)
        return refs[0]


@register_function("AssignAdd", base=_Apply)
def _assign_add(ref: Any, value: Any) -> tuple[Any, ...]:
    """Return the sum."""
    return (np.add(ref, value),)


@register_function("AssignSub", base=_Apply)
def _assign_sub(ref: Any, value: Any) -> tuple[Any, ...]:
    """Return the difference."""
    return (np.subtract(ref, value),)


@register_function("ApplyGradientDescent", base=_Apply)
def _gradient_descent(var: Any, alpha: Any, delta: Any) -> tuple[Any, ...]:
    """Return var - alpha * delta: one step against the gradient."""
    return (var - delta * alpha,)


@register_function("ApplyMomentum", base=_Apply)
def _momentum(
    var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool
) -> tuple[Any, ...]:
    """Momentum as in TensorFlow 1: the learning rate scales the accumulated gradients."""
    accum = accum * momentum + grad
    if use_nesterov:
        return var - (grad * lr + accum * momentum * lr), accum
    return var - accum * lr, accum


@register_function("ResourceApplyKerasMomentum", name="ApplyKerasMomentumOp", base=_Apply)
def _keras_momentum(
    var: Any, accum: Any, lr: Any, grad: Any, momentum: Any, *, use_nesterov: bool
) -> tuple[Any, ...]:
    """Momentum as in Keras: each gradient is scaled by the learning rate of its own step."""
    accum = accum * momentum - grad * lr
    return var + (accum * momentum - grad * lr if use_nesterov else accum), accum


@register_function("ApplyRMSProp", base=_Apply)
def _rms_prop(
    var: Any, ms: Any, mom: Any, lr: Any, rho: Any, momentum: Any, epsilon: Any, grad: Any
) -> tuple[Any, ...]:
    """RMSProp: each gradient is divided by the root of the average of the last squares."""
    ms = ms + (grad * grad - ms) * (var.dtype.type(1) - rho)
    mom = mom * momentum + grad * lr / np.sqrt(ms + epsilon)
    return var - mom, ms, mom


@register_function("ApplyAdam", base=_Apply)
def _adam(
    var: Any,
    m: Any,
    v: Any,
    beta1_power: Any,
    beta2_power: Any,
    lr: Any,
    beta1: Any,
    beta2: Any,
    epsilon: Any,
    grad: Any,
    *,
    use_nesterov: bool,
) -> tuple[Any, ...]:
    """Adam, in the form at the end of section 2 of D. Kingma and J. Ba, 2015 (arXiv:1412.6980)."""
    one = var.dtype.type(1)
    alpha = lr * np.sqrt(one - beta2_power) / (one - beta1_power)
    new_m = grad - m  # m + (grad - m) * (1 - beta1), in place because memory takes the time
    new_m *= one - beta1
    new_m += m
    new_v = grad * grad
    new_v -= v
    new_v *= one - beta2
    new_v += v
    step = new_m * beta1 + grad * (one - beta1) if use_nesterov else new_m
    change = np.asarray(step * alpha)  # NumPy returns a scalar where the variable is one
    divisor = np.sqrt(new_v)
    divisor += epsilon
    change /= divisor
    return np.subtract(var, change, out=change), new_m, new_v
