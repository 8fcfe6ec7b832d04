"""Arithmetic, comparisons and reductions. TensorFlow: core/ops/math_ops.cc and random_ops.cc."""

from __future__ import annotations

from typing import Any

from ..framework.op_def import register_op
from . import array_shape_fns
from . import common_shape_fns as shape_fns

__all__: list[str] = []

# --- one input ----------------------------------------------------------------------------------------


def _unary(kind: str) -> dict[str, Any]:
    return {
        "inputs": ["x: T"],
        "outputs": ["y: T"],
        "attrs": [f"T: {kind}"],
        "shape_fn": shape_fns.unchanged_shape,
    }


def _unary_grad() -> dict[str, Any]:
    return {
        "inputs": ["y: T", "dy: T"],
        "outputs": ["z: T"],
        "attrs": ["T: floattype"],
        "shape_fn": shape_fns.merged_shape,
    }


register_op("Neg", **_unary("numbertype"), summary="Returns -x.")
register_op("Abs", **_unary("numbertype"), summary="Returns the absolute value.")
register_op("Sign", **_unary("numbertype"), summary="Returns -1, 0 or 1.")
register_op("Square", **_unary("realnumbertype"), summary="Returns x * x.")
register_op("Sqrt", **_unary("floattype"), summary="Returns the square root.")
register_op("Rsqrt", **_unary("floattype"), summary="Returns 1 / sqrt(x).")
register_op("Exp", **_unary("floattype"), summary="Returns e to the power of x.")
register_op("Log", **_unary("floattype"), summary="Returns the natural logarithm.")
register_op("Tanh", **_unary("floattype"), summary="Returns the hyperbolic tangent.")
register_op("Sigmoid", **_unary("floattype"), summary="Returns 1 / (1 + exp(-x)).")
register_op("SqrtGrad", **_unary_grad(), summary="Returns dy / (2 y), where y = sqrt(x).")
register_op("RsqrtGrad", **_unary_grad(), summary="Returns -dy y ** 3 / 2, where y = 1 / sqrt(x).")
register_op("TanhGrad", **_unary_grad(), summary="Returns dy (1 - y ** 2), where y = tanh(x).")
register_op("SigmoidGrad", **_unary_grad(), summary="Returns dy y (1 - y), where y = sigmoid(x).")
register_op(
    "LogicalNot",
    inputs=["x: bool"],
    outputs=["y: bool"],
    shape_fn=shape_fns.unchanged_shape,
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


def _binary(kind: str, result: str = "T") -> dict[str, Any]:
    return {
        "inputs": ["x: T", "y: T"],
        "outputs": [f"z: {result}"],
        "attrs": [f"T: {kind}"],
        "shape_fn": shape_fns.broadcast_shape,
    }


register_op(
    "Add",  # AddV2 in TensorFlow, where "Add" also accepts strings
    **_binary("realnumbertype"),
    summary="Returns x + y with broadcasting.",
)
register_op("Sub", **_binary("realnumbertype"), summary="Returns x - y with broadcasting.")
register_op("Mul", **_binary("realnumbertype"), summary="Returns x * y with broadcasting.")
register_op("RealDiv", **_binary("floattype"), summary="Returns x / y with broadcasting.")
register_op("FloorDiv", **_binary("realnumbertype"), summary="Returns x / y rounded down.")
register_op("FloorMod", **_binary("realnumbertype"), summary="Returns x - y * FloorDiv(x, y).")
register_op("Pow", **_binary("numbertype"), summary="Returns x to the power of y with broadcasting.")
register_op("Maximum", **_binary("realnumbertype"), summary="Returns the larger one of x and y.")
register_op("Minimum", **_binary("realnumbertype"), summary="Returns the smaller one of x and y.")
register_op("Greater", **_binary("realnumbertype", "bool"), summary="Returns x > y.")
register_op("GreaterEqual", **_binary("realnumbertype", "bool"), summary="Returns x >= y.")
register_op("Less", **_binary("realnumbertype", "bool"), summary="Returns x < y.")
register_op("LessEqual", **_binary("realnumbertype", "bool"), summary="Returns x <= y.")
register_op("Equal", **_binary("type", "bool"), summary="Returns whether x and y are equal.")
register_op("NotEqual", **_binary("type", "bool"), summary="Returns whether x and y differ.")


def _logical() -> dict[str, Any]:
    return {"inputs": ["x: bool", "y: bool"], "outputs": ["z: bool"], "shape_fn": shape_fns.broadcast_shape}


register_op("LogicalAnd", **_logical(), summary="Returns x and y with broadcasting.")
register_op("LogicalOr", **_logical(), summary="Returns x or y with broadcasting.")

# --- several inputs -----------------------------------------------------------------------------------

register_op(
    "Select",
    inputs=["condition: bool", "t: T", "e: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=array_shape_fns.select_shape,
    summary="Returns t where the condition is true, e elsewhere; all of one shape.",
)
register_op(
    "SelectV2",
    inputs=["condition: bool", "t: T", "e: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=array_shape_fns.select_v2_shape,
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
register_op(
    "MatMul",
    inputs=["a: T", "b: T"],
    outputs=["product: T"],
    attrs=["transpose_a: bool = false", "transpose_b: bool = false", "T: numbertype"],
    shape_fn=shape_fns.matmul_shape,
    summary="Multiplies two matrices.",
)
register_op(
    "_FusedMatMul",  # only the remapper creates it
    inputs=["a: T", "b: T", "bias: T"],
    outputs=["product: T"],
    attrs=[
        "transpose_a: bool = false",
        "transpose_b: bool = false",
        "T: numbertype",
        "fused_ops: list(string)",
    ],
    shape_fn=shape_fns.matmul_shape,
    summary="MatMul, BiasAdd and optionally Relu in one kernel call.",
)

# --- reductions ---------------------------------------------------------------------------------------


def _reduction(dtype: str = "T") -> dict[str, Any]:
    own = ["T: realnumbertype"] if dtype == "T" else []
    return {
        "inputs": [f"input: {dtype}", "reduction_indices: Tidx"],
        "outputs": [f"output: {dtype}"],
        "attrs": ["keep_dims: bool = false", *own, "Tidx: {int32, int64} = int32"],
        "shape_fn": shape_fns.reduction_shape,
    }


register_op("Sum", **_reduction(), summary="Returns the sum over axes.")
register_op(
    "Mean", **_reduction(), summary="Returns the mean over axes; integer means are rounded towards zero."
)
register_op("Prod", **_reduction(), summary="Returns the product over axes.")
register_op("Max", **_reduction(), summary="Returns the largest value over axes.")
register_op("Min", **_reduction(), summary="Returns the smallest value over axes.")
register_op("All", **_reduction("bool"), summary="Returns whether all values over axes are True.")
register_op("Any", **_reduction("bool"), summary="Returns whether any value over axes is True.")
register_op(
    "ArgMax",
    inputs=["input: T", "dimension: Tidx"],
    outputs=["output: output_type"],
    attrs=["T: type", "Tidx: {int32, int64} = int32", "output_type: {int32, int64} = int64"],
    shape_fn=array_shape_fns.arg_max_shape,
    summary="Returns the position of the largest value along an axis, the first of equal ones.",
)

# --- sequences and random numbers ---------------------------------------------------------------------

register_op(
    "Range",
    inputs=["start: Tidx", "limit: Tidx", "delta: Tidx"],
    outputs=["output: Tidx"],
    attrs=["Tidx: numbertype"],
    shape_fn=array_shape_fns.range_shape,
    summary="Returns start, start + delta, ... below limit.",
)


def _random(dtypes: str) -> dict[str, Any]:
    return {
        "inputs": ["shape: T"],
        "outputs": ["output: dtype"],
        "attrs": ["seed: int = 0", "seed2: int = 0", f"dtype: {dtypes}", "T: {int32, int64}"],
        "shape_fn": array_shape_fns.shape_from_value,
        "is_stateful": True,
    }


register_op("RandomUniform", **_random("floattype"), summary="Returns uniform random numbers in [0, 1).")
register_op(
    "RandomUniformInt",
    inputs=["shape: T", "minval: Tout", "maxval: Tout"],
    outputs=["output: Tout"],
    attrs=["seed: int = 0", "seed2: int = 0", "Tout: {int32, int64}", "T: {int32, int64}"],
    shape_fn=array_shape_fns.shape_from_value,
    summary="Returns uniform random integers from minval to maxval, which is not among them.",
    is_stateful=True,
)
register_op("RandomStandardNormal", **_random("floattype"), summary="Returns normal random numbers.")
register_op(
    "TruncatedNormal",
    **_random("floattype"),
    summary="Returns normal random numbers; those beyond two standard deviations are drawn again.",
)
