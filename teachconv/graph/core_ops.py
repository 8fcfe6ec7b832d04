"""Registers every op of the runtime with TensorFlow's names, arguments, attributes and defaults.

TensorFlow: REGISTER_OP in core/ops/nn_ops.cc, math_ops.cc, array_ops.cc and state_ops.cc. Omitted are
attributes that only affect TensorFlow's own kernels (``use_cudnn_on_gpu``) and formats of BiasAdd that the
runtime does not support. Added are padding SAME_LOWER, and int64 wherever int32 is allowed. After a change
run ``python -m teachconv.graph.op_gen`` to write gen_nn_ops.py again.
"""

from __future__ import annotations

from . import common_shape_fns as shape_fns
from .op_def import register_op

__all__: list[str] = []

_STRIDES = "strides: list(int)"
_PADDING = "padding: {'SAME', 'VALID', 'SAME_LOWER', 'EXPLICIT'}"
_EXPLICIT = "explicit_paddings: list(int) = []"
_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1]"
_WINDOWS = (_STRIDES, _PADDING, _EXPLICIT, _FORMAT, _DILATIONS)

# --- sources of values ------------------------------------------------------------------------------

register_op(
    "Placeholder",
    outputs=["output: dtype"],
    attrs=["dtype: type", "shape: shape = None"],
    shape_fn=shape_fns.explicit_shape,
    summary="Stands for a value that is fed to each run.",
)
register_op(
    "_Arg",  # pruning replaces fed tensors by it
    outputs=["output: T"],
    attrs=["T: type", "shape: shape", "index: int"],
    shape_fn=shape_fns.explicit_shape,
    summary="Returns a value that was fed to the run.",
    is_stateful=True,
)
register_op(
    "Const",
    outputs=["output: dtype"],
    attrs=["value: tensor", "dtype: type"],
    shape_fn=shape_fns.const_shape,
    summary="Returns the same value in each run.",
)
register_op(
    "Variable",  # VariableV2 in TensorFlow, where "Variable" is an older version
    outputs=["ref: Ref(dtype)"],
    attrs=["shape: shape", "dtype: type"],
    shape_fn=shape_fns.explicit_shape,
    summary="Returns a reference to a value that outlives the run; the session stores the value.",
    is_stateful=True,
)
register_op(
    "Assign",
    inputs=["ref: Ref(T)", "value: T"],
    outputs=["output_ref: Ref(T)"],
    attrs=["T: type"],
    shape_fn=shape_fns.assign_shape,
    summary="Assigns a new value to a variable and returns the reference.",
    is_stateful=True,
)
register_op(
    "Identity",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: type"],
    shape_fn=shape_fns.unchanged_shape,
    summary="Returns its input; for a variable, its current value.",
)
register_op(
    "NoOp",
    shape_fn=shape_fns.no_outputs,
    summary="Does nothing; carries control dependencies, as in `group`.",
    is_stateful=True,
)

# --- convolution ------------------------------------------------------------------------------------

register_op(
    "Conv2D",
    inputs=["input: T", "filter: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS],
    shape_fn=shape_fns.conv2d_shape,
    summary="Convolves images with filters (a cross-correlation).",
)
register_op(
    "Conv2DBackpropInput",
    inputs=["input_sizes: int32", "filter: T", "out_backprop: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS],
    shape_fn=shape_fns.conv2d_backprop_input_shape,
    summary="Returns the gradient of Conv2D with respect to its input; this is conv2d_transpose.",
)
register_op(
    "Conv2DBackpropFilter",
    inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS],
    shape_fn=shape_fns.conv2d_backprop_filter_shape,
    summary="Returns the gradient of Conv2D with respect to its filter.",
)
register_op(
    "DepthwiseConv2dNative",
    inputs=["input: T", "filter: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS],
    shape_fn=shape_fns.depthwise_conv2d_native_shape,
    summary="Convolves each channel with its own filters.",
)
register_op(
    "_FusedConv2D",  # only the remapper creates it; names with an underscore have no wrapper
    inputs=["input: T", "filter: T", "bias: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS, "fused_ops: list(string)"],
    shape_fn=shape_fns.fused_conv2d_shape,
    summary="Conv2D, BiasAdd and optionally Relu in one kernel call.",
)

# --- the rest of a network --------------------------------------------------------------------------

register_op(
    "BiasAdd",
    inputs=["value: T", "bias: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", _FORMAT],
    shape_fn=shape_fns.bias_add_shape,
    summary="Adds one number to each channel.",
)
register_op(
    "Relu",
    inputs=["features: T"],
    outputs=["activations: T"],
    attrs=["T: numbertype"],
    shape_fn=shape_fns.unchanged_shape,
    summary="Returns max(features, 0) element-wise.",
)
register_op(
    "MaxPool",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", "ksize: list(int)", _STRIDES, _PADDING, _EXPLICIT, _FORMAT],
    shape_fn=shape_fns.pool_shape,
    summary="Returns the largest value of each window; padding is ignored.",
)
register_op(
    "AvgPool",
    inputs=["value: T"],
    outputs=["output: T"],
    attrs=[
        "T: floattype",
        "ksize: list(int)",
        _STRIDES,
        "padding: {'SAME', 'VALID', 'SAME_LOWER'}",
        _FORMAT,
    ],
    shape_fn=shape_fns.pool_shape,
    summary="Returns the mean of each window; padding is not counted.",
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
    "Softmax",
    inputs=["logits: T"],
    outputs=["softmax: T"],
    attrs=["T: floattype"],
    shape_fn=shape_fns.softmax_shape,
    summary="Returns exp(logits) divided by its sum over the last axis.",
)

# --- arithmetic -------------------------------------------------------------------------------------

register_op(
    "Add",  # AddV2 in TensorFlow, where "Add" also accepts strings
    inputs=["x: T", "y: T"],
    outputs=["z: T"],
    attrs=["T: numbertype"],
    shape_fn=shape_fns.broadcast_shape,
    summary="Returns x + y with broadcasting.",
)
register_op(
    "Sub",
    inputs=["x: T", "y: T"],
    outputs=["z: T"],
    attrs=["T: numbertype"],
    shape_fn=shape_fns.broadcast_shape,
    summary="Returns x - y with broadcasting.",
)
register_op(
    "Mul",
    inputs=["x: T", "y: T"],
    outputs=["z: T"],
    attrs=["T: numbertype"],
    shape_fn=shape_fns.broadcast_shape,
    summary="Returns x * y with broadcasting.",
)
register_op(
    "Square",
    inputs=["x: T"],
    outputs=["y: T"],
    attrs=["T: numbertype"],
    shape_fn=shape_fns.unchanged_shape,
    summary="Returns x * x.",
)
register_op(
    "Mean",
    inputs=["input: T", "reduction_indices: Tidx"],
    outputs=["output: T"],
    attrs=["keep_dims: bool = false", "T: numbertype", "Tidx: {int32, int64} = int32"],
    shape_fn=shape_fns.reduction_shape,
    summary="Returns the mean over axes; integer means are rounded towards zero.",
)
register_op(
    "Sum",
    inputs=["input: T", "reduction_indices: Tidx"],
    outputs=["output: T"],
    attrs=["keep_dims: bool = false", "T: numbertype", "Tidx: {int32, int64} = int32"],
    shape_fn=shape_fns.reduction_shape,
    summary="Returns the sum over axes.",
)

# --- shape ------------------------------------------------------------------------------------------

register_op(
    "Reshape",
    inputs=["tensor: T", "shape: Tshape"],
    outputs=["output: T"],
    attrs=["T: type", "Tshape: {int32, int64} = int32"],
    shape_fn=shape_fns.reshape_shape,
    summary="Returns the same elements, in the same order, in another shape.",
)
register_op(
    "Transpose",
    inputs=["x: T", "perm: Tperm"],
    outputs=["y: T"],
    attrs=["T: type", "Tperm: {int32, int64} = int32"],
    shape_fn=shape_fns.transpose_shape,
    summary="Returns the input with its axes permuted.",
)
register_op(
    "Pad",
    inputs=["input: T", "paddings: Tpaddings"],
    outputs=["output: T"],
    attrs=["T: type", "Tpaddings: {int32, int64} = int32"],
    shape_fn=shape_fns.pad_shape,
    summary="Adds zeros before and after along each axis.",
)
