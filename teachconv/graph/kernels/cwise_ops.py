"""Element-wise kernels in NumPy: one class for each op, which names the NumPy function that computes it.

TensorFlow: core/kernels/cwise_ops.h, cwise_op_add_1.cc and similar files, aggregate_ops.cc, cast_op.cc.
Integers wrap around on overflow. A comparison with NaN is false; Maximum and Minimum return NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...backends import to_accumulator
from ...dtypes import is_integer
from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel
from ..framework.shape_inference import InferringKernel

__all__: list[str] = []


class CwiseOp(OpKernel):
    """Calls a NumPy function on the inputs; a subclass names the function.

    Attributes:
        function: the function, which expands axes of size 1 (broadcasting).
    """

    function: Callable[..., Any]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the function of the inputs."""
        return type(self).function(*inputs)


# --- one input ----------------------------------------------------------------------------------------


@register_kernel("Neg")
class NegOp(CwiseOp):
    """Computes -x."""

    function = np.negative


@register_kernel("Abs")
class AbsOp(CwiseOp):
    """Computes the absolute value."""

    function = np.abs


@register_kernel("Sign")
class SignOp(CwiseOp):
    """Computes the sign, 0 of 0."""

    function = np.sign


@register_kernel("Square")
class SquareOp(CwiseOp):
    """Computes x * x."""

    function = staticmethod(lambda x: np.multiply(x, x))


@register_kernel("Sqrt")
class SqrtOp(CwiseOp):
    """Computes the square root."""

    function = np.sqrt


@register_kernel("Rsqrt")
class RsqrtOp(CwiseOp):
    """Computes 1 / sqrt(x)."""

    function = staticmethod(lambda x: x.dtype.type(1) / np.sqrt(x))


@register_kernel("Exp")
class ExpOp(CwiseOp):
    """Computes e to the power of x."""

    function = np.exp


@register_kernel("Log")
class LogOp(CwiseOp):
    """Computes the natural logarithm."""

    function = np.log


@register_kernel("Tanh")
class TanhOp(CwiseOp):
    """Computes the hyperbolic tangent."""

    function = np.tanh


@register_kernel("Sigmoid")
class SigmoidOp(CwiseOp):
    """Computes 1 / (1 + exp(-x))."""

    @staticmethod
    def function(x: Any) -> Any:
        """Return the sigmoid; exp(-|x|) cannot overflow."""
        power = np.exp(-np.abs(x))
        one = x.dtype.type(1)
        return np.where(x < 0, power, one) / (one + power)


@register_kernel("SqrtGrad")
class SqrtGradOp(CwiseOp):
    """Computes dy / (2 y)."""

    function = staticmethod(lambda y, dy: dy * y.dtype.type(0.5) / y)


@register_kernel("RsqrtGrad")
class RsqrtGradOp(CwiseOp):
    """Computes -dy y ** 3 / 2."""

    function = staticmethod(lambda y, dy: y.dtype.type(-0.5) * dy * y * y * y)


@register_kernel("TanhGrad")
class TanhGradOp(CwiseOp):
    """Computes dy (1 - y ** 2)."""

    function = staticmethod(lambda y, dy: dy * (y.dtype.type(1) - y * y))


@register_kernel("SigmoidGrad")
class SigmoidGradOp(CwiseOp):
    """Computes dy y (1 - y)."""

    function = staticmethod(lambda y, dy: dy * y * (y.dtype.type(1) - y))


@register_kernel("LogicalNot")
class LogicalNotOp(CwiseOp):
    """Computes not x."""

    function = np.logical_not


@register_kernel("Cast")
class CastOp(OpKernel):
    """Converts to another dtype as C does: floats are cut off towards zero."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.dtype = node.attrs["DstT"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input in the new dtype, the input itself if it has that dtype."""
        return inputs[0].astype(self.dtype, copy=False)


# --- two inputs ---------------------------------------------------------------------------------------


@register_kernel("Add")
class AddOp(CwiseOp):
    """Computes x + y."""

    function = np.add


@register_kernel("Sub")
class SubOp(CwiseOp):
    """Computes x - y."""

    function = np.subtract


@register_kernel("Mul")
class MulOp(CwiseOp):
    """Computes x * y."""

    function = np.multiply


@register_kernel("RealDiv")
class RealDivOp(CwiseOp):
    """Computes x / y."""

    function = np.divide


def _no_zero(y: Any, what: str) -> None:
    if is_integer(y.dtype) and not y.all():
        raise InvalidArgumentError(f"y of {what} must not be 0 for integers")


@register_kernel("FloorDiv")
class FloorDivOp(CwiseOp):
    """Computes x / y rounded down."""

    @staticmethod
    def function(x: Any, y: Any) -> Any:
        """Return the quotient; raise ``ValueError`` for an integer divided by 0.

        That of floats is rounded first and then down, as in TensorFlow: 1 // 0.1 is 10, in NumPy 9.
        """
        _no_zero(y, "FloorDiv")
        return np.floor_divide(x, y) if is_integer(x.dtype) else np.floor(x / y)


@register_kernel("FloorMod")
class FloorModOp(CwiseOp):
    """Computes the remainder of `FloorDivOp`, which has the sign of y."""

    @staticmethod
    def function(x: Any, y: Any) -> Any:
        """Return the remainder; raise ``ValueError`` for an integer divided by 0."""
        _no_zero(y, "FloorMod")
        rest = np.fmod(x, y)  # has the sign of x, which a zero keeps
        return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


@register_kernel("Pow")
class PowOp(CwiseOp):
    """Computes x to the power of y."""

    @staticmethod
    def function(x: Any, y: Any) -> Any:
        """Return the power; raise ``ValueError`` for an integer to a negative power."""
        if is_integer(y.dtype) and y.min(initial=0) < 0:
            raise InvalidArgumentError("y of Pow must not be negative for integers")
        return np.power(x, y)


@register_kernel("Maximum")
class MaximumOp(CwiseOp):
    """Computes the larger one of x and y."""

    function = np.maximum


@register_kernel("Minimum")
class MinimumOp(CwiseOp):
    """Computes the smaller one of x and y."""

    function = np.minimum


@register_kernel("Greater")
class GreaterOp(CwiseOp):
    """Computes x > y."""

    function = np.greater


@register_kernel("GreaterEqual")
class GreaterEqualOp(CwiseOp):
    """Computes x >= y."""

    function = np.greater_equal


@register_kernel("Less")
class LessOp(CwiseOp):
    """Computes x < y."""

    function = np.less


@register_kernel("LessEqual")
class LessEqualOp(CwiseOp):
    """Computes x <= y."""

    function = np.less_equal


@register_kernel("Equal")
class EqualOp(CwiseOp):
    """Computes whether x and y are equal."""

    function = np.equal


@register_kernel("NotEqual")
class NotEqualOp(CwiseOp):
    """Computes whether x and y differ."""

    function = np.not_equal


@register_kernel("LogicalAnd")
class LogicalAndOp(CwiseOp):
    """Computes x and y."""

    function = np.logical_and


@register_kernel("LogicalOr")
class LogicalOrOp(CwiseOp):
    """Computes x or y."""

    function = np.logical_or


# --- several inputs -----------------------------------------------------------------------------------


@register_kernel("SelectV2")
class SelectV2Op(CwiseOp):
    """Computes t where the condition is true, e elsewhere."""

    function = np.where


@register_kernel("Select")
class SelectOp(InferringKernel):
    """Computes t where the condition is true, e elsewhere; a vector of conditions is one for each row."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the selection."""
        self.infer(*inputs)
        condition, t, e = inputs
        return np.where(condition.reshape(*condition.shape, *(1,) * (t.ndim - condition.ndim)), t, e)


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
