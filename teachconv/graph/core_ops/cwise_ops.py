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
from ..framework.op_def import register_op
from . import common_shape_fns as shape_fns

# --- one input ----------------------------------------------------------------------------------------


def _unary(kind: str, function: Callable[..., Any], x: str = "x", y: str = "y") -> dict[str, Any]:
    return {
        "inputs": [f"{x}: T"],
        "outputs": [f"{y}: T"],
        "attrs": [f"T: {kind}"],
        "shape_fn": shape_fns.unchanged_shape,
        "function": function,
    }


def _sigmoid(x: Any) -> Any:
    power = np.exp(-np.abs(x))  # cannot overflow
    one = x.dtype.type(1)
    return np.where(x < 0, power, one) / (one + power)


def _elu(x: Any) -> Any:
    return np.where(x < 0, np.expm1(np.minimum(x, 0)), x)  # the power of a large x would overflow


def _softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _rsqrt(x: Any) -> Any:
    return x.dtype.type(1) / np.sqrt(x)


register_op("Neg", **_unary("numbertype", np.negative), summary="Returns -x.")
register_op("Abs", **_unary("numbertype", np.abs), summary="Returns the absolute value.")
register_op("Sign", **_unary("numbertype", np.sign), summary="Returns -1, 0 or 1.")
register_op("Square", **_unary("realnumbertype", lambda x: x * x), summary="Returns x * x.")
register_op("Sqrt", **_unary("floattype", np.sqrt), summary="Returns the square root.")
register_op("Rsqrt", **_unary("floattype", _rsqrt), summary="Returns 1 / sqrt(x).")
register_op("Exp", **_unary("floattype", np.exp), summary="Returns e to the power of x.")
register_op("Log", **_unary("floattype", np.log), summary="Returns the natural logarithm.")
register_op("Log1p", **_unary("floattype", np.log1p), summary="Returns the natural logarithm of 1 + x.")
register_op("Tanh", **_unary("floattype", np.tanh), summary="Returns the hyperbolic tangent.")
register_op("Sigmoid", **_unary("floattype", _sigmoid), summary="Returns 1 / (1 + exp(-x)).")
register_op(
    "Elu",
    **_unary("floattype", _elu, "features", "activations"),
    summary="Returns exp(features) - 1 if features are negative, features otherwise.",
)
register_op(
    "Softplus",
    **_unary("floattype", _softplus, "features", "activations"),
    summary="Returns log(exp(features) + 1).",
)
register_op(
    "LogicalNot",
    inputs=["x: bool"],
    outputs=["y: bool"],
    shape_fn=shape_fns.unchanged_shape,
    function=np.logical_not,
    summary="Returns not x.",
)
register_op(
    "Cast",
    inputs=["x: SrcT"],
    outputs=["y: DstT"],
    attrs=["SrcT: type", "DstT: type"],
    shape_fn=shape_fns.unchanged_shape,
    summary="Converts to another dtype; floats are cut off towards zero, bool becomes 0 or 1.",
)

# --- two inputs ---------------------------------------------------------------------------------------


def _binary(kind: str, function: Callable[..., Any], result: str = "T") -> dict[str, Any]:
    return {
        "inputs": ["x: T", "y: T"],
        "outputs": [f"z: {result}"],
        "attrs": [f"T: {kind}"],
        "shape_fn": shape_fns.broadcast_shape,
        "function": function,
    }


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


register_op("Add", **_binary("realnumbertype", np.add), summary="Returns x + y with broadcasting.")
register_op("Sub", **_binary("realnumbertype", np.subtract), summary="Returns x - y with broadcasting.")
register_op("Mul", **_binary("realnumbertype", np.multiply), summary="Returns x * y with broadcasting.")
register_op("RealDiv", **_binary("floattype", np.divide), summary="Returns x / y with broadcasting.")
register_op("FloorDiv", **_binary("realnumbertype", _floor_div), summary="Returns x / y rounded down.")
register_op("FloorMod", **_binary("realnumbertype", _floor_mod), summary="Returns x - y * FloorDiv(x, y).")
register_op("Pow", **_binary("numbertype", _pow), summary="Returns x to the power of y with broadcasting.")
register_op("Maximum", **_binary("realnumbertype", np.maximum), summary="Returns the larger one of x and y.")
register_op("Minimum", **_binary("realnumbertype", np.minimum), summary="Returns the smaller one of x and y.")
register_op("Greater", **_binary("realnumbertype", np.greater, "bool"), summary="Returns x > y.")
register_op("GreaterEqual", **_binary("realnumbertype", np.greater_equal, "bool"), summary="Returns x >= y.")
register_op("Less", **_binary("realnumbertype", np.less, "bool"), summary="Returns x < y.")
register_op("LessEqual", **_binary("realnumbertype", np.less_equal, "bool"), summary="Returns x <= y.")
register_op("Equal", **_binary("type", np.equal, "bool"), summary="Returns whether x and y are equal.")
register_op("NotEqual", **_binary("type", np.not_equal, "bool"), summary="Returns whether x and y differ.")


def _logical(function: Callable[..., Any]) -> dict[str, Any]:
    return {
        "inputs": ["x: bool", "y: bool"],
        "outputs": ["z: bool"],
        "shape_fn": shape_fns.broadcast_shape,
        "function": function,
    }


register_op("LogicalAnd", **_logical(np.logical_and), summary="Returns x and y with broadcasting.")
register_op("LogicalOr", **_logical(np.logical_or), summary="Returns x or y with broadcasting.")

# --- several inputs -----------------------------------------------------------------------------------


register_op(
    "SelectV2",
    inputs=["condition: bool", "t: T", "e: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=shape_fns.broadcast_shape,
    function=np.where,
    summary="Returns t where the condition is true, e elsewhere, with broadcasting.",
)
register_op(
    "AddN",
    inputs=["inputs: N * T"],
    outputs=["sum: T"],
    attrs=["N: int", "T: realnumbertype"],
    shape_fn=shape_fns.merged_shape,
    summary="Returns the sum of tensors of one shape.",
)
