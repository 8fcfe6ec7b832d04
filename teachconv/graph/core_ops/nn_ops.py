"""The ops of neural networks and of their gradients, with their shape functions.

TensorFlow: core/ops/nn_ops.cc, image_ops.cc and core/framework/common_shape_fns.cc.
"""

from __future__ import annotations

from dataclasses import replace

from ...errors import ArgumentError
from ..framework.op_def import register_op
from ..framework.shape_inference import InferenceContext
from ..framework.tensor_shape import StaticShape, is_compatible, merge, text
from . import common_shape_fns as shape_fns
from .common_shape_fns import (
    bias_add_shape,
    check_out_backprop,
    depthwise_conv2d_native_shape,
    input_sizes,
    merged_shape,
    pool_shape,
)


def depthwise_backprop_input_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``input_sizes``, and check that it fits ``out_backprop``."""
    sizes = input_sizes(c)
    check_out_backprop(c, depthwise_conv2d_native_shape, sizes, c.with_rank(1, 4, "filter"))
    return [sizes]


def depthwise_backprop_filter_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``filter_sizes``, and check that it fits ``out_backprop``."""
    sizes = c.shape_value(1, "filter_sizes", 4)
    check_out_backprop(c, depthwise_conv2d_native_shape, c.with_rank(0, 4, "input"), sizes)
    return [sizes]


def bias_add_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [channels]."""
    shape = c.shapes[0]
    if shape is None:
        return [(None,)]
    bias_add_shape(replace(c, shapes=[shape, (None,)]))  # checks the number of axes
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


def max_pool_grad_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of ``orig_output``; ``grad`` has that of ``orig_input``."""
    (pooled,) = pool_shape(c)
    merged_shape(replace(c, shapes=[c.shapes[0], c.shapes[2]]))
    if not is_compatible(pooled, c.shapes[1]):
        raise ArgumentError(f"orig_output of {c.op} must have shape {text(pooled)}; got {text(c.shapes[1])}")
    return [merge(pooled, c.shapes[1])]


def avg_pool_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``orig_input_shape``."""
    sizes = c.shape_value(0, "orig_input_shape", 4)
    (pooled,) = pool_shape(replace(c, shapes=[sizes]))
    if not is_compatible(pooled, c.with_rank(1, 4, "grad")):
        raise ArgumentError(f"grad of {c.op} must have shape {text(pooled)}; got {text(c.shapes[1])}")
    return [sizes]


def resize_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the images with the rows and columns of ``size``."""
    batch, _, _, channels = c.with_rank(0, 4, "images")
    rows, cols = c.shape_value(1, "size", 2) or (None, None)
    if 0 in (rows, cols):
        raise ArgumentError(f"size of {c.op} must be positive; got {[rows, cols]}")
    return [(batch, rows, cols, channels)]


_STRIDES = "strides: list(int)"
_PADDING = "padding: {'SAME', 'VALID', 'SAME_LOWER', 'EXPLICIT'}"
_EXPLICIT = "explicit_paddings: list(int) = []"
_FORMAT = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_DILATIONS = "dilations: list(int) = [1, 1, 1, 1]"
_WINDOWS = (_STRIDES, _PADDING, _EXPLICIT, _FORMAT, _DILATIONS)
_MAX_POOL = ("ksize: list(int)", _STRIDES, _PADDING, _EXPLICIT, _FORMAT)
_AVG_POOL = ("ksize: list(int)", _STRIDES, "padding: {'SAME', 'VALID', 'SAME_LOWER'}", _FORMAT)

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
    "DepthwiseConv2dNativeBackpropInput",
    inputs=["input_sizes: int32", "filter: T", "out_backprop: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS],
    shape_fn=depthwise_backprop_input_shape,
    summary="Returns the gradient of DepthwiseConv2dNative with respect to its input.",
)
register_op(
    "DepthwiseConv2dNativeBackpropFilter",
    inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS],
    shape_fn=depthwise_backprop_filter_shape,
    summary="Returns the gradient of DepthwiseConv2dNative with respect to its filter.",
)
register_op(
    "_FusedConv2D",  # only the remapper creates it; names with an underscore have no wrapper
    inputs=["input: T", "filter: T", "bias: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS, "fused_ops: list(string)"],
    shape_fn=shape_fns.conv2d_shape,
    summary="Conv2D, BiasAdd and optionally Relu in one kernel call.",
)

# --- bias, activations ------------------------------------------------------------------------------

register_op(
    "BiasAdd",
    inputs=["value: T", "bias: T"],
    outputs=["output: T"],
    attrs=["T: realnumbertype", _FORMAT],
    shape_fn=shape_fns.bias_add_shape,
    summary="Adds one number to each channel.",
)
register_op(
    "BiasAddGrad",
    inputs=["out_backprop: T"],
    outputs=["output: T"],
    attrs=["T: realnumbertype", _FORMAT],
    shape_fn=bias_add_grad_shape,
    summary="Returns the gradient of BiasAdd with respect to the bias: the sum over all other axes.",
)
register_op(
    "Relu",
    inputs=["features: T"],
    outputs=["activations: T"],
    attrs=["T: realnumbertype"],
    shape_fn=shape_fns.unchanged_shape,
    summary="Returns max(features, 0) element-wise.",
)
register_op(
    "ReluGrad",
    inputs=["gradients: T", "features: T"],
    outputs=["backprops: T"],
    attrs=["T: realnumbertype"],
    shape_fn=shape_fns.merged_shape,
    summary="Returns the gradients where the features (or the activations) are positive, elsewhere 0.",
)
register_op(
    "Softmax",
    inputs=["logits: T"],
    outputs=["softmax: T"],
    attrs=["T: floattype"],
    shape_fn=shape_fns.softmax_shape,
    summary="Returns exp(logits) divided by its sum over the last axis.",
)
register_op(
    "LogSoftmax",
    inputs=["logits: T"],
    outputs=["logsoftmax: T"],
    attrs=["T: floattype"],
    shape_fn=shape_fns.softmax_shape,
    summary="Returns the logarithm of Softmax, computed without overflow.",
)
register_op(
    "SoftmaxCrossEntropyWithLogits",
    inputs=["features: T", "labels: T"],
    outputs=["loss: T", "backprop: T"],
    attrs=["T: floattype"],
    shape_fn=softmax_xent_shape,
    summary="Returns the cross-entropy of each row, and its gradient: softmax(features) - labels.",
)
register_op(
    "SparseSoftmaxCrossEntropyWithLogits",
    inputs=["features: T", "labels: Tlabels"],
    outputs=["loss: T", "backprop: T"],
    attrs=["T: floattype", "Tlabels: {int32, int64} = int64"],
    shape_fn=sparse_softmax_xent_shape,
    summary="Does the same for labels that are class numbers.",
)

# --- pooling and resizing ---------------------------------------------------------------------------

register_op(
    "MaxPool",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: realnumbertype", *_MAX_POOL],
    shape_fn=shape_fns.pool_shape,
    summary="Returns the largest value of each window; padding is ignored.",
)
register_op(
    "MaxPoolGrad",
    inputs=["orig_input: T", "orig_output: T", "grad: T"],
    outputs=["output: T"],
    attrs=["T: realnumbertype", *_MAX_POOL],
    shape_fn=shape_fns.unchanged_shape,
    summary="Adds the gradient of each window to the first of its largest cells, in row-major order.",
)
register_op(
    "MaxPoolGradGrad",
    inputs=["orig_input: T", "orig_output: T", "grad: T"],
    outputs=["output: T"],
    attrs=["T: realnumbertype", *_MAX_POOL],
    shape_fn=max_pool_grad_grad_shape,
    summary="Returns, for each window, the value of grad at the first of its largest cells.",
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
    "AvgPoolGrad",
    inputs=["orig_input_shape: int32", "grad: T"],
    outputs=["output: T"],
    attrs=["T: floattype", *_AVG_POOL],
    shape_fn=avg_pool_grad_shape,
    summary="Distributes the gradient of each window equally among its cells.",
)
register_op(
    "ResizeNearestNeighbor",
    inputs=["images: T", "size: int32"],
    outputs=["resized_images: T"],
    attrs=["T: realnumbertype", "align_corners: bool = false", "half_pixel_centers: bool = false"],
    shape_fn=resize_shape,
    summary="Resizes images [batch, rows, cols, channels]; each cell copies its nearest neighbour.",
)
register_op(
    "ResizeNearestNeighborGrad",
    inputs=["grads: T", "size: int32"],
    outputs=["output: T"],
    attrs=["T: realnumbertype", "align_corners: bool = false", "half_pixel_centers: bool = false"],
    shape_fn=resize_shape,
    summary="Returns the gradient of ResizeNearestNeighbor: each cell sums the gradients of its copies.",
)
