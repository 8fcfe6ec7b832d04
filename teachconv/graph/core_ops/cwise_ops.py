"""The element-wise ops: one row for each, with its definition and the NumPy function that computes it.

TensorFlow: REGISTER_OP in core/ops/math_ops.cc, a functor in core/kernels/cwise_ops.h, and a kernel in a file
of its own, such as cwise_op_add_1.cc. kernels/cwise_ops.py makes the kernel of each row. Two inputs are
broadcast: axes are matched from the last, and a size of 1 expands. Integers wrap around on overflow. A
comparison with NaN is false; Maximum and Minimum return NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import is_integer
from ..framework.errors import InvalidArgumentError
from ..framework.op_def import OpDef, define_op
from . import common_shape_fns as shape_fns

# --- one input ----------------------------------------------------------------------------------------


def _unary(
    name: str, kind: str, function: Callable[..., Any], summary: str, x: str = "x", y: str = "y"
) -> OpDef:
    return define_op(
        name,
        inputs=[f"{x}: T"],
        outputs=[f"{y}: T"],
        attrs=[f"T: {kind}"],
        shape_fn=shape_fns.unchanged_shape,
        function=function,
        summary=summary,
        depth=2,
    )


def _sigmoid(x: Any) -> Any:
    power = np.exp(-np.abs(x))  # cannot overflow
    one = x.dtype.type(1)
    return np.where(x < 0, power, one) / (one + power)


# --- two inputs ---------------------------------------------------------------------------------------


def _binary(name: str, kind: str, function: Callable[..., Any], summary: str, result: str = "T") -> OpDef:
    return define_op(
        name,
        inputs=["x: T", "y: T"],
        outputs=[f"z: {result}"],
        attrs=[f"T: {kind}"],
        shape_fn=shape_fns.broadcast_shape,
        function=function,
        summary=summary,
        depth=2,
    )


def _no_zero(x: Any, y: Any, op: str) -> None:
    if is_integer(y.dtype) and x.size and not y.all():
        raise InvalidArgumentError(f"y of {op} must not be 0 for integers")


def _floor_div(x: Any, y: Any) -> Any:
    """Return the quotient; that of floats is rounded first and then down: 1 // 0.1 is 10, in NumPy 9."""
    _no_zero(x, y, "FloorDiv")
    return np.floor_divide(x, y) if is_integer(x.dtype) else np.floor(x / y)


def _floor_mod(x: Any, y: Any) -> Any:
    """Return the remainder of `_floor_div`, which has the sign of y."""
    _no_zero(x, y, "FloorMod")
    rest = np.fmod(x, y)  # has the sign of x, which a zero keeps
    return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def _pow(x: Any, y: Any) -> Any:
    if is_integer(y.dtype) and y.min(initial=0) < 0:
        raise InvalidArgumentError("y of Pow must not be negative for integers")
    return np.power(x, y)


def _logical(name: str, function: Callable[..., Any], summary: str) -> OpDef:
    return define_op(
        name,
        inputs=["x: bool", "y: bool"],
        outputs=["z: bool"],
        shape_fn=shape_fns.broadcast_shape,
        function=function,
        summary=summary,
        depth=2,
    )


# --- the rows -----------------------------------------------------------------------------------------

OP_DEFS = (
    _unary("Neg", "numbertype", np.negative, "Returns -x."),
    _unary("Abs", "numbertype", np.abs, "Returns the absolute value."),
    _unary("Sign", "numbertype", np.sign, "Returns -1, 0 or 1."),
    _unary("Square", "realnumbertype", lambda x: x * x, "Returns x * x."),
    _unary("Sqrt", "floattype", np.sqrt, "Returns the square root."),
    _unary("Rsqrt", "floattype", lambda x: x.dtype.type(1) / np.sqrt(x), "Returns 1 / sqrt(x)."),
    _unary("Exp", "floattype", np.exp, "Returns e to the power of x."),
    _unary("Log", "floattype", np.log, "Returns the natural logarithm."),
    _unary("Log1p", "floattype", np.log1p, "Returns the natural logarithm of 1 + x."),
    _unary("Tanh", "floattype", np.tanh, "Returns the hyperbolic tangent."),
    _unary("Sigmoid", "floattype", _sigmoid, "Returns 1 / (1 + exp(-x))."),
    _unary(
        "Elu",
        "floattype",
        lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),  # the power of a large x would overflow
        "Returns exp(features) - 1 if features are negative, features otherwise.",
        "features",
        "activations",
    ),
    _unary(
        "Softplus",
        "floattype",
        lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))),
        "Returns log(exp(features) + 1).",
        "features",
        "activations",
    ),
    define_op(
        "LogicalNot",
        inputs=["x: bool"],
        outputs=["y: bool"],
        shape_fn=shape_fns.unchanged_shape,
        function=np.logical_not,
        summary="Returns not x.",
    ),
    define_op(
        "Cast",
        inputs=["x: SrcT"],
        outputs=["y: DstT"],
        attrs=["SrcT: type", "DstT: type"],
        shape_fn=shape_fns.unchanged_shape,
        summary="Converts to another dtype; floats are cut off towards zero, bool becomes 0 or 1.",
    ),
    _binary("Add", "realnumbertype", np.add, "Returns x + y with broadcasting."),
    _binary("Sub", "realnumbertype", np.subtract, "Returns x - y with broadcasting."),
    _binary("Mul", "realnumbertype", np.multiply, "Returns x * y with broadcasting."),
    _binary("RealDiv", "floattype", np.divide, "Returns x / y with broadcasting."),
    _binary("FloorDiv", "realnumbertype", _floor_div, "Returns x / y rounded down."),
    _binary("FloorMod", "realnumbertype", _floor_mod, "Returns x - y * FloorDiv(x, y)."),
    _binary("Pow", "numbertype", _pow, "Returns x to the power of y with broadcasting."),
    _binary("Maximum", "realnumbertype", np.maximum, "Returns the larger one of x and y."),
    _binary("Minimum", "realnumbertype", np.minimum, "Returns the smaller one of x and y."),
    _binary("Greater", "realnumbertype", np.greater, "Returns x > y.", "bool"),
    _binary("GreaterEqual", "realnumbertype", np.greater_equal, "Returns x >= y.", "bool"),
    _binary("Less", "realnumbertype", np.less, "Returns x < y.", "bool"),
    _binary("LessEqual", "realnumbertype", np.less_equal, "Returns x <= y.", "bool"),
    _binary("Equal", "type", np.equal, "Returns whether x and y are equal.", "bool"),
    _binary("NotEqual", "type", np.not_equal, "Returns whether x and y differ.", "bool"),
    _logical("LogicalAnd", np.logical_and, "Returns x and y with broadcasting."),
    _logical("LogicalOr", np.logical_or, "Returns x or y with broadcasting."),
    define_op(
        "SelectV2",
        inputs=["condition: bool", "t: T", "e: T"],
        outputs=["output: T"],
        attrs=["T: type"],
        shape_fn=shape_fns.broadcast_shape,
        function=np.where,
        summary="Returns t where the condition is true, e elsewhere, with broadcasting.",
    ),
    define_op(
        "AddN",
        inputs=["inputs: N * T"],
        outputs=["sum: T"],
        attrs=["N: int", "T: realnumbertype"],
        shape_fn=shape_fns.merged_shape,
        summary="Returns the sum of tensors of one shape.",
    ),
)
