"""Products, reductions and random numbers. TensorFlow: core/ops/math_ops.cc and random_ops.cc."""

from __future__ import annotations

from typing import Any

from ..framework.op_def import define_op
from . import array_shape_fns
from . import common_shape_fns as shape_fns


def _reduction(dtype: str = "T") -> dict[str, Any]:
    own = ["T: realnumbertype"] if dtype == "T" else []
    return {
        "inputs": [f"input: {dtype}", "reduction_indices: Tidx"],
        "outputs": [f"output: {dtype}"],
        "attrs": ["keep_dims: bool = false", *own, "Tidx: {int32, int64} = int32"],
        "shape_fn": shape_fns.reduction_shape,
    }


def _random(dtypes: str) -> dict[str, Any]:
    return {
        "inputs": ["shape: T"],
        "outputs": ["output: dtype"],
        "attrs": ["seed: int = 0", "seed2: int = 0", f"dtype: {dtypes}", "T: {int32, int64}"],
        "shape_fn": array_shape_fns.shape_from_value,
        "is_stateful": True,
    }


OP_DEFS = (
    # --- products and reductions --------------------------------------------------------------------------
    define_op(
        "MatMul",
        inputs=["a: T", "b: T"],
        outputs=["product: T"],
        attrs=["transpose_a: bool = false", "transpose_b: bool = false", "T: numbertype"],
        shape_fn=shape_fns.matmul_shape,
        summary="Multiplies two matrices.",
    ),
    define_op(
        "BatchMatMulV2",
        inputs=["x: T", "y: T"],
        outputs=["output: T"],
        attrs=["adj_x: bool = false", "adj_y: bool = false", "T: numbertype"],
        shape_fn=shape_fns.batch_matmul_shape,
        summary="Multiplies the matrices in the last two axes; the axes before them are broadcast.",
    ),
    define_op(
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
    ),
    # --- reductions ---------------------------------------------------------------------------------------
    define_op("Sum", **_reduction(), summary="Returns the sum over axes."),
    define_op(
        "Mean", **_reduction(), summary="Returns the mean over axes; integer means are rounded towards zero."
    ),
    define_op("Prod", **_reduction(), summary="Returns the product over axes."),
    define_op("Max", **_reduction(), summary="Returns the largest value over axes."),
    define_op("Min", **_reduction(), summary="Returns the smallest value over axes."),
    define_op("All", **_reduction("bool"), summary="Returns whether all values over axes are True."),
    define_op("Any", **_reduction("bool"), summary="Returns whether any value over axes is True."),
    define_op(
        "ArgMax",
        inputs=["input: T", "dimension: Tidx"],
        outputs=["output: output_type"],
        attrs=["T: type", "Tidx: {int32, int64} = int32", "output_type: {int32, int64} = int64"],
        shape_fn=array_shape_fns.arg_max_shape,
        summary="Returns the position of the largest value along an axis, the first of equal ones.",
    ),
    # --- sequences and random numbers ---------------------------------------------------------------------
    define_op(
        "Range",
        inputs=["start: Tidx", "limit: Tidx", "delta: Tidx"],
        outputs=["output: Tidx"],
        attrs=["Tidx: numbertype"],
        shape_fn=array_shape_fns.range_shape,
        summary="Returns start, start + delta, ... below limit.",
    ),
    define_op("RandomUniform", **_random("floattype"), summary="Returns uniform random numbers in [0, 1)."),
    define_op(
        "RandomUniformInt",
        inputs=["shape: T", "minval: Tout", "maxval: Tout"],
        outputs=["output: Tout"],
        attrs=["seed: int = 0", "seed2: int = 0", "Tout: {int32, int64}", "T: {int32, int64}"],
        shape_fn=array_shape_fns.shape_from_value,
        summary="Returns uniform random integers from minval to maxval, which is not among them.",
        is_stateful=True,
    ),
    define_op("RandomStandardNormal", **_random("floattype"), summary="Returns normal random numbers."),
    define_op(
        "TruncatedNormal",
        **_random("floattype"),
        summary="Returns normal random numbers; those beyond two standard deviations are drawn again.",
    ),
)
