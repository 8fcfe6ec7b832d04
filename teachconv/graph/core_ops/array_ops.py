"""Ops that build, move, split and join tensors. TensorFlow: core/ops/array_ops.cc, data_flow_ops.cc."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..framework.op_def import define_op
from . import array_shape_fns
from . import common_shape_fns as shape_fns

_MIRROR_PAD: dict[str, Any] = {
    "inputs": ["input: T", "paddings: Tpaddings"],
    "outputs": ["output: T"],
    "attrs": ["T: realnumbertype", "Tpaddings: {int32, int64} = int32", "mode: {'REFLECT', 'SYMMETRIC'}"],
    "shape_fn": shape_fns.pad_shape,
}
_SLICE = ("T: type", "Index: {int32, int64}", *(f"{mask}: int = 0" for mask in array_shape_fns.MASKS))

OP_DEFS = (
    define_op(
        "Identity",
        inputs=["input: T"],
        outputs=["output: T"],
        attrs=["T: type"],
        shape_fn=shape_fns.unchanged_shape,
        function=lambda x: x,  # the executor has replaced a reference to a variable by its value
        summary="Returns its input; for a variable, its current value.",
    ),
    define_op(
        "StopGradient",
        inputs=["input: T"],
        outputs=["output: T"],
        attrs=["T: type"],
        shape_fn=shape_fns.unchanged_shape,
        function=lambda x: x,
        summary="Returns its input, which counts as a constant for gradients.",
    ),
    define_op(
        "CheckNumerics",
        inputs=["tensor: T"],
        outputs=["output: T"],
        attrs=["T: floattype", "message: string"],
        shape_fn=shape_fns.unchanged_shape,
        summary="Returns its input; fails if it holds NaN or infinity.",
    ),
    # --- shapes as values ---------------------------------------------------------------------------------
    define_op(
        "Shape",
        inputs=["input: T"],
        outputs=["output: out_type"],
        attrs=["T: type", "out_type: {int32, int64} = int32"],
        shape_fn=array_shape_fns.shape_n_shape,
        summary="Returns the shape of a tensor as a vector.",
    ),
    define_op(
        "ShapeN",
        inputs=["input: N * T"],
        outputs=["output: N * out_type"],
        attrs=["N: int", "T: type", "out_type: {int32, int64} = int32"],
        shape_fn=array_shape_fns.shape_n_shape,
        summary="Returns the shapes of several tensors.",
    ),
    define_op(
        "Size",
        inputs=["input: T"],
        outputs=["output: out_type"],
        attrs=["T: type", "out_type: {int32, int64} = int32"],
        shape_fn=array_shape_fns.scalar_shape,
        summary="Returns the number of elements of a tensor.",
    ),
    define_op(
        "BroadcastGradientArgs",  # _BroadcastGradientArgs is a name of its own in TensorFlow
        inputs=["s0: T", "s1: T"],
        outputs=["r0: T", "r1: T"],
        attrs=["T: {int32, int64} = int32"],
        shape_fn=array_shape_fns.broadcast_gradient_args_shape,
        summary="Returns, for two shapes, the axes along which broadcasting repeated each of them.",
    ),
    # --- constants by shape -------------------------------------------------------------------------------
    define_op(
        "Fill",
        inputs=["dims: index_type", "value: T"],
        outputs=["output: T"],
        attrs=["T: type", "index_type: {int32, int64} = int32"],
        shape_fn=array_shape_fns.fill_shape,
        summary="Returns a tensor of a shape filled with one value.",
    ),
    define_op(
        "ZerosLike",
        inputs=["x: T"],
        outputs=["y: T"],
        attrs=["T: type"],
        shape_fn=shape_fns.unchanged_shape,
        function=np.zeros_like,
        summary="Returns zeros of the shape and dtype of x.",
    ),
    define_op(
        "OnesLike",
        inputs=["x: T"],
        outputs=["y: T"],
        attrs=["T: type"],
        shape_fn=shape_fns.unchanged_shape,
        function=np.ones_like,
        summary="Returns ones of the shape and dtype of x.",
    ),
    define_op(
        "OneHot",
        inputs=["indices: TI", "depth: int32", "on_value: T", "off_value: T"],
        outputs=["output: T"],
        attrs=["axis: int = -1", "T: type", "TI: {uint8, int32, int64}"],
        shape_fn=array_shape_fns.one_hot_shape,
        summary="Returns on_value at each index along a new axis and off_value elsewhere.",
    ),
    # --- the same elements in another shape ---------------------------------------------------------------
    define_op(
        "Reshape",
        inputs=["tensor: T", "shape: Tshape"],
        outputs=["output: T"],
        attrs=["T: type", "Tshape: {int32, int64} = int32"],
        shape_fn=shape_fns.reshape_shape,
        summary="Returns the same elements, in the same order, in another shape.",
    ),
    define_op(
        "Squeeze",
        inputs=["input: T"],
        outputs=["output: T"],
        attrs=["T: type", "squeeze_dims: list(int) = []"],
        shape_fn=array_shape_fns.squeeze_shape,
        summary="Removes axes of size 1: all of them, or those that are named.",
    ),
    define_op(
        "ExpandDims",
        inputs=["input: T", "dim: Tdim"],
        outputs=["output: T"],
        attrs=["T: type", "Tdim: {int32, int64} = int32"],
        shape_fn=array_shape_fns.expand_dims_shape,
        summary="Inserts an axis of size 1.",
    ),
    define_op(
        "Transpose",
        inputs=["x: T", "perm: Tperm"],
        outputs=["y: T"],
        attrs=["T: type", "Tperm: {int32, int64} = int32"],
        shape_fn=shape_fns.transpose_shape,
        summary="Returns the input with its axes permuted.",
    ),
    # --- more or fewer elements ---------------------------------------------------------------------------
    define_op(
        "Pad",
        inputs=["input: T", "paddings: Tpaddings"],
        outputs=["output: T"],
        attrs=["T: type", "Tpaddings: {int32, int64} = int32"],
        shape_fn=shape_fns.pad_shape,
        summary="Adds zeros before and after along each axis.",
    ),
    define_op(
        "MirrorPad",
        **_MIRROR_PAD,
        summary="Adds cells before and after each axis that mirror those inside.",
    ),
    define_op(
        "MirrorPadGrad",
        **_MIRROR_PAD,
        summary="Adds the gradient of each cell to that of the cell that it mirrors.",
    ),
    define_op(
        "Slice",
        inputs=["input: T", "begin: Index", "size: Index"],
        outputs=["output: T"],
        attrs=["T: type", "Index: {int32, int64}"],
        shape_fn=array_shape_fns.slice_shape,
        summary="Returns the part that starts at begin and has a size; a size of -1 means to the end.",
    ),
    define_op(
        "Tile",
        inputs=["input: T", "multiples: Tmultiples"],
        outputs=["output: T"],
        attrs=["T: type", "Tmultiples: {int32, int64} = int32"],
        shape_fn=array_shape_fns.tile_shape,
        summary="Repeats a tensor along each axis.",
    ),
    define_op(
        "BroadcastTo",
        inputs=["input: T", "shape: Tidx"],
        outputs=["output: T"],
        attrs=["T: type", "Tidx: {int32, int64} = int32"],
        shape_fn=array_shape_fns.broadcast_to_shape,
        summary="Expands axes of size 1 to a shape.",
    ),
    define_op(
        "GatherV2",
        inputs=["params: Tparams", "indices: Tindices", "axis: Taxis"],
        outputs=["output: Tparams"],
        attrs=["Tparams: type", "Tindices: {int32, int64}", "Taxis: {int32, int64}"],
        shape_fn=array_shape_fns.gather_shape,
        summary="Returns the slices at the indices along an axis.",
    ),
    define_op(
        "InvertPermutation",
        inputs=["x: T"],
        outputs=["y: T"],
        attrs=["T: {int32, int64} = int32"],
        shape_fn=shape_fns.unchanged_shape,
        summary="Returns the permutation that undoes a permutation.",
    ),
    # --- several tensors ----------------------------------------------------------------------------------
    define_op(
        "Pack",
        inputs=["values: N * T"],
        outputs=["output: T"],
        attrs=["N: int", "T: type", "axis: int = 0"],
        shape_fn=array_shape_fns.pack_shape,
        summary="Joins tensors of one shape along a new axis.",
    ),
    define_op(
        "Unpack",
        inputs=["value: T"],
        outputs=["output: num * T"],
        attrs=["num: int", "T: type", "axis: int = 0"],
        shape_fn=array_shape_fns.unpack_shape,
        summary="Splits a tensor into its slices along an axis.",
    ),
    define_op(
        "ConcatV2",
        inputs=["values: N * T", "axis: Tidx"],
        outputs=["output: T"],
        attrs=["N: int", "T: type", "Tidx: {int32, int64} = int32"],
        shape_fn=array_shape_fns.concat_shape,
        summary="Joins tensors along an axis.",
    ),
    define_op(
        "ConcatOffset",
        inputs=["concat_dim: int32", "shape: N * int32"],
        outputs=["offset: N * int32"],
        attrs=["N: int"],
        shape_fn=array_shape_fns.concat_offset_shape,
        summary="Returns where each input of a ConcatV2 starts in its output, for Slice.",
    ),
    define_op(
        "DynamicStitch",
        inputs=["indices: N * int32", "data: N * T"],
        outputs=["merged: T"],
        attrs=["N: int", "T: type"],
        shape_fn=array_shape_fns.dynamic_stitch_shape,
        summary="Merges slices into one tensor by their indices; where two are equal the last one stays.",
    ),
    define_op(
        "StridedSlice",
        inputs=["input: T", "begin: Index", "end: Index", "strides: Index"],
        outputs=["output: T"],
        attrs=_SLICE,
        shape_fn=array_shape_fns.strided_slice_shape,
        summary="Returns input[key], with the key written as begin, end, strides and masks.",
    ),
    define_op(
        "StridedSliceGrad",
        inputs=["shape: Index", "begin: Index", "end: Index", "strides: Index", "dy: T"],
        outputs=["output: T"],
        attrs=_SLICE,
        shape_fn=array_shape_fns.shape_from_value,
        summary="Returns zeros with dy where StridedSlice took its output from.",
    ),
)
