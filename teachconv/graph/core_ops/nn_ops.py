"""The ops of neural networks and of their gradients, with their shape functions.

TensorFlow: core/ops/nn_ops.cc, image_ops.cc and core/framework/common_shape_fns.cc.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...core.arguments import channels_last, other_order
from ...core.kinds import OPS, ROLES
from ...support.errors import ArgumentError
from ..framework.op_def import define_op
from ..framework.shape_inference import InferenceContext
from ..framework.tensor_shape import StaticShape, is_compatible, merge, text
from . import common_shape_fns as shape_fns

# each op that convolves, and what it is in teachconv; TensorFlow has none over one axis
CONVOLUTIONS = {
    "Conv2D": OPS["conv2d"],
    "Conv2DBackpropInput": OPS["conv2d_backprop_input"],
    "Conv2DBackpropFilter": OPS["conv2d_backprop_filter"],
    "DepthwiseConv2dNative": OPS["depthwise_conv2d"],
    "DepthwiseConv2dNativeBackpropInput": OPS["depthwise_conv2d_backprop_input"],
    "DepthwiseConv2dNativeBackpropFilter": OPS["depthwise_conv2d_backprop_filter"],
    "Conv3D": OPS["conv3d"],
    "Conv3DBackpropInputV2": OPS["conv3d_backprop_input"],
    "Conv3DBackpropFilterV2": OPS["conv3d_backprop_filter"],
}
_ARRAYS = {"input": "input", "filters": "filter", "output": "out_backprop"}  # their names by role
_SIZES = {"input": "input_sizes", "filters": "filter_sizes"}


def convolution_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the output; of a gradient its sizes, which must fit ``out_backprop``."""
    op = CONVOLUTIONS[c.op.removeprefix("_Fused")]
    axes, result = len(c.attrs["data_format"]), op.kind.result
    shapes = {
        role: c.with_rank(index, axes, _ARRAYS[role])
        if role != result
        else c.shape_value(index, _SIZES[role], axes) or ()
        for index, role in enumerate(ROLES if op.is_gradient else ROLES[:2])
    }
    if result == "input":
        shapes["input"] = _input_sizes(c, shapes["input"])
    filters = _grouped(c, shapes) if op.depthwise else shapes["filters"]
    output = shape_fns.windowed_shape(c, shapes["input"], filters)
    if not op.is_gradient:
        return [output]
    if not is_compatible(output, shapes["output"]):
        raise ArgumentError(
            f"out_backprop of {c.op} must have shape {text(output)}, that of the convolution of an input "
            f"{text(shapes['input'])} with filters {text(shapes['filters'])}; got {text(shapes['output'])}"
        )
    return [shapes[result]]


def _input_sizes(c: InferenceContext, sizes: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """Return the sizes of an input; -1 for the batch is that of ``out_backprop``."""
    if sizes[0] == -1:
        sizes = (c.with_rank(2, len(sizes), "out_backprop")[0], *sizes[1:])
    if any(size is not None and size < 0 for size in sizes):
        raise ArgumentError(
            f"input_sizes of {c.op} must have no negative size except -1 for the batch; got {text(sizes)}"
        )
    return sizes


def _grouped(c: InferenceContext, shapes: dict[str, tuple[int | None, ...]]) -> tuple[int | None, ...]:
    """Return the shape of depthwise filters as those of a convolution with one group for each channel."""
    *taps, channels, multiplier = shapes["filters"]
    in_channels = channels_last(shapes["input"], c.attrs["data_format"])[-1]
    if not is_compatible((in_channels,), (channels,)):
        raise ArgumentError(
            f"filter of {c.op} must be [filter_rows, filter_cols, in_channels, channel_multiplier] with "
            f"in_channels = {in_channels}; got {text(shapes['filters'])}"
            f"{other_order(shapes['input'], c.attrs['data_format'], channels, 'data_format=')}"
        )
    known = in_channels if channels is None else channels
    if known is None:
        return (*taps, None, None)
    return (*taps, min(1, known), None if multiplier is None else known * multiplier)


def bias_add_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [channels]."""
    shape = c.shapes[0]
    if shape is None:
        return [(None,)]
    shape_fns.bias_add_shape(replace(c, shapes=[shape, (None,)]))  # checks the number of axes
    return [(shape[1 if c.attrs["data_format"] == "NCHW" else -1],)]


def softmax_xent_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [batch] for the loss and [batch, classes] for the gradient."""
    logits = merge(c.with_rank(0, 2, "features"), c.with_rank(1, 2, "labels"))
    if not is_compatible(c.shapes[0], c.shapes[1]):
        raise ArgumentError(
            f"features and labels of {c.op} must have one shape; got {text(c.shapes[0])} and "
            f"{text(c.shapes[1])}"
        )
    return [None if logits is None else logits[:1], logits]


def sparse_softmax_xent_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [batch] for the loss and [batch, classes] for the gradient."""
    (rows, classes), labels = c.with_rank(0, 2, "features"), c.with_rank(1, 1, "labels")
    if not is_compatible((rows,), labels):
        raise ArgumentError(
            f"labels of {c.op} must have one class for each row of the features {text(c.shapes[0])}; got "
            f"shape {text(labels)}"
        )
    batch = labels[0] if rows is None else rows
    return [(batch,), (batch, classes)]


def max_pool_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of ``orig_input``."""
    (pooled,) = shape_fns.pool_shape(c)
    for name, given in zip(("orig_output", "grad"), c.shapes[1:], strict=True):
        if not is_compatible(pooled, given):
            raise ArgumentError(f"{name} of {c.op} must have shape {text(pooled)}; got {text(given)}")
    return [c.shapes[0]]


def avg_pool_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``orig_input_shape``."""
    axes = len(c.attrs["data_format"])
    sizes = c.shape_value(0, "orig_input_shape", axes)
    (pooled,) = shape_fns.pool_shape(replace(c, shapes=[sizes]))
    if not is_compatible(pooled, c.with_rank(1, axes, "grad")):
        raise ArgumentError(f"grad of {c.op} must have shape {text(pooled)}; got {text(c.shapes[1])}")
    return [sizes]


_STRIDES = "strides: list(int)"
_PADDING = "padding: {'SAME', 'VALID', 'SAME_LOWER', 'EXPLICIT'}"
_EXPLICIT = "explicit_paddings: list(int) = []"
_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1]"
_WINDOWS = (_STRIDES, _PADDING, _EXPLICIT, _FORMAT, _DILATIONS)
_MAX_POOL = ("ksize: list(int)", _STRIDES, _PADDING, _EXPLICIT, _FORMAT)
_WORDS = "padding: {'SAME', 'VALID', 'SAME_LOWER'}"
_AVG_POOL = ("ksize: list(int)", _STRIDES, _WORDS, _FORMAT)
_FORMAT_3D = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
# TensorFlow's Conv3D has no explicit padding; here it comes last, so that the others keep their places
_WINDOWS_3D = (_STRIDES, _PADDING, _FORMAT_3D, "dilations: list(int) = [1, 1, 1, 1, 1]", _EXPLICIT)
_POOL_3D = ("ksize: list(int)", _STRIDES, _WORDS, _FORMAT_3D)


_OF_MAX_POOL: dict[str, Any] = {
    "inputs": ["input: T"],
    "outputs": ["output: T"],
    "shape_fn": shape_fns.pool_shape,
    "summary": "Returns the largest value of each window; padding is ignored.",
}
_OF_MAX_POOL_GRAD: dict[str, Any] = {
    "inputs": ["orig_input: T", "orig_output: T", "grad: T"],
    "outputs": ["output: T"],
    "shape_fn": max_pool_grad_shape,
    "summary": "Adds the gradient of each window to the first of its largest cells, in row-major order.",
}
_OF_AVG_POOL: dict[str, Any] = {
    "outputs": ["output: T"],
    "shape_fn": shape_fns.pool_shape,
    "summary": "Returns the mean of each window; padding is not counted.",
}
_OF_AVG_POOL_GRAD: dict[str, Any] = {
    "inputs": ["orig_input_shape: int32", "grad: T"],
    "outputs": ["output: T"],
    "shape_fn": avg_pool_grad_shape,
    "summary": "Distributes the gradient of each window equally among its cells.",
}

OP_DEFS = (
    # --- convolution ------------------------------------------------------------------------------------
    define_op(
        "Conv2D",
        inputs=["input: T", "filter: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS],
        shape_fn=convolution_shape,
        summary="Convolves images with filters (a cross-correlation).",
    ),
    define_op(
        "Conv2DBackpropInput",
        inputs=["input_sizes: int32", "filter: T", "out_backprop: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS],
        shape_fn=convolution_shape,
        summary="Returns the gradient of Conv2D with respect to its input; this is conv2d_transpose.",
    ),
    define_op(
        "Conv2DBackpropFilter",
        inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS],
        shape_fn=convolution_shape,
        summary="Returns the gradient of Conv2D with respect to its filter.",
    ),
    define_op(
        "DepthwiseConv2dNative",
        inputs=["input: T", "filter: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS],
        shape_fn=convolution_shape,
        summary="Convolves each channel with its own filters.",
    ),
    define_op(
        "DepthwiseConv2dNativeBackpropInput",
        inputs=["input_sizes: int32", "filter: T", "out_backprop: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS],
        shape_fn=convolution_shape,
        summary="Returns the gradient of DepthwiseConv2dNative with respect to its input.",
    ),
    define_op(
        "DepthwiseConv2dNativeBackpropFilter",
        inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS],
        shape_fn=convolution_shape,
        summary="Returns the gradient of DepthwiseConv2dNative with respect to its filter.",
    ),
    define_op(
        "Conv3D",
        inputs=["input: T", "filter: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS_3D],
        shape_fn=convolution_shape,
        summary="Convolves volumes with filters (a cross-correlation).",
    ),
    define_op(
        "Conv3DBackpropInputV2",
        inputs=["input_sizes: Tshape", "filter: T", "out_backprop: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS_3D, "Tshape: {int32, int64} = int32"],
        shape_fn=convolution_shape,
        summary="Returns the gradient of Conv3D with respect to its input; this is conv3d_transpose.",
    ),
    define_op(
        "Conv3DBackpropFilterV2",
        inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS_3D],
        shape_fn=convolution_shape,
        summary="Returns the gradient of Conv3D with respect to its filter.",
    ),
    define_op(
        "_FusedConv2D",  # only the remapper creates it; names with an underscore have no wrapper
        inputs=["input: T", "filter: T", "bias: T"],
        outputs=["output: T"],
        attrs=["T: numbertype", *_WINDOWS, "fused_ops: list(string)"],
        shape_fn=convolution_shape,
        summary="Conv2D, BiasAdd and optionally Relu in one kernel call.",
    ),
    # --- bias, activations ------------------------------------------------------------------------------
    define_op(
        "BiasAdd",
        inputs=["value: T", "bias: T"],
        outputs=["output: T"],
        attrs=["T: realnumbertype", _FORMAT],
        shape_fn=shape_fns.bias_add_shape,
        summary="Adds one number to each channel.",
    ),
    define_op(
        "BiasAddGrad",
        inputs=["out_backprop: T"],
        outputs=["output: T"],
        attrs=["T: realnumbertype", _FORMAT],
        shape_fn=bias_add_grad_shape,
        summary="Returns the gradient of BiasAdd with respect to the bias: the sum over all other axes.",
    ),
    define_op(
        "Relu",
        inputs=["features: T"],
        outputs=["activations: T"],
        attrs=["T: realnumbertype"],
        shape_fn=shape_fns.unchanged_shape,
        function=lambda features: np.maximum(features, features.dtype.type(0)),
        summary="Returns max(features, 0) element-wise; NaN stays NaN.",
    ),
    define_op(
        "ReluGrad",
        inputs=["gradients: T", "features: T"],
        outputs=["backprops: T"],
        attrs=["T: realnumbertype"],
        shape_fn=shape_fns.merged_shape,
        summary="Returns the gradients where the features (or the activations) are positive, elsewhere 0.",
    ),
    define_op(
        "Softmax",
        inputs=["logits: T"],
        outputs=["softmax: T"],
        attrs=["T: floattype"],
        shape_fn=shape_fns.softmax_shape,
        summary="Returns exp(logits) divided by its sum over the last axis.",
    ),
    define_op(
        "LogSoftmax",
        inputs=["logits: T"],
        outputs=["logsoftmax: T"],
        attrs=["T: floattype"],
        shape_fn=shape_fns.softmax_shape,
        summary="Returns the logarithm of Softmax, computed without overflow.",
    ),
    define_op(
        "SoftmaxCrossEntropyWithLogits",
        inputs=["features: T", "labels: T"],
        outputs=["loss: T", "backprop: T"],
        attrs=["T: floattype"],
        shape_fn=softmax_xent_shape,
        summary="Returns the cross-entropy of each row, and its gradient: softmax(features) - labels.",
    ),
    define_op(
        "SparseSoftmaxCrossEntropyWithLogits",
        inputs=["features: T", "labels: Tlabels"],
        outputs=["loss: T", "backprop: T"],
        attrs=["T: floattype", "Tlabels: {int32, int64} = int64"],
        shape_fn=sparse_softmax_xent_shape,
        summary="Does the same for labels that are class numbers.",
    ),
    # --- pooling ------------------------------------------------------------------------------------------
    define_op("MaxPool", attrs=["T: realnumbertype", *_MAX_POOL], **_OF_MAX_POOL),
    define_op("MaxPoolGrad", attrs=["T: realnumbertype", *_MAX_POOL], **_OF_MAX_POOL_GRAD),
    define_op("AvgPool", inputs=["value: T"], attrs=["T: floattype", *_AVG_POOL], **_OF_AVG_POOL),
    define_op("AvgPoolGrad", attrs=["T: floattype", *_AVG_POOL], **_OF_AVG_POOL_GRAD),
    define_op("MaxPool3D", attrs=["T: realnumbertype", *_POOL_3D], **_OF_MAX_POOL),
    define_op("MaxPool3DGrad", attrs=["T: realnumbertype", *_POOL_3D], **_OF_MAX_POOL_GRAD),
    define_op("AvgPool3D", inputs=["input: T"], attrs=["T: floattype", *_POOL_3D], **_OF_AVG_POOL),
    define_op("AvgPool3DGrad", attrs=["T: floattype", *_POOL_3D], **_OF_AVG_POOL_GRAD),
)
