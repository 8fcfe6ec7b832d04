"""The ops of neural networks and of their gradients. TensorFlow: core/ops/nn_ops.cc, image_ops.cc."""

from __future__ import annotations

from ..framework.op_def import register_op
from . import common_shape_fns as shape_fns
from . import nn_shape_fns

__all__: list[str] = []

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
    shape_fn=nn_shape_fns.depthwise_backprop_input_shape,
    summary="Returns the gradient of DepthwiseConv2dNative with respect to its input.",
)
register_op(
    "DepthwiseConv2dNativeBackpropFilter",
    inputs=["input: T", "filter_sizes: int32", "out_backprop: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS],
    shape_fn=nn_shape_fns.depthwise_backprop_filter_shape,
    summary="Returns the gradient of DepthwiseConv2dNative with respect to its filter.",
)
register_op(
    "_FusedConv2D",  # only the remapper creates it; names with an underscore have no wrapper
    inputs=["input: T", "filter: T", "bias: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_WINDOWS, "fused_ops: list(string)"],
    shape_fn=shape_fns.fused_conv2d_shape,
    summary="Conv2D, BiasAdd and optionally Relu in one kernel call.",
)

# --- bias, activations ------------------------------------------------------------------------------

register_op(
    "BiasAdd",
    inputs=["value: T", "bias: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", _FORMAT],
    shape_fn=shape_fns.bias_add_shape,
    summary="Adds one number to each channel.",
)
register_op(
    "BiasAddGrad",
    inputs=["out_backprop: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", _FORMAT],
    shape_fn=nn_shape_fns.bias_add_grad_shape,
    summary="Returns the gradient of BiasAdd with respect to the bias: the sum over all other axes.",
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
    "ReluGrad",
    inputs=["gradients: T", "features: T"],
    outputs=["backprops: T"],
    attrs=["T: numbertype"],
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
    shape_fn=nn_shape_fns.softmax_xent_shape,
    summary="Returns the cross-entropy of each row, and its gradient: softmax(features) - labels.",
)
register_op(
    "SparseSoftmaxCrossEntropyWithLogits",
    inputs=["features: T", "labels: Tlabels"],
    outputs=["loss: T", "backprop: T"],
    attrs=["T: floattype", "Tlabels: {int32, int64} = int64"],
    shape_fn=nn_shape_fns.sparse_softmax_xent_shape,
    summary="Does the same for labels that are class numbers.",
)

# --- pooling and resizing ---------------------------------------------------------------------------

register_op(
    "MaxPool",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_MAX_POOL],
    shape_fn=shape_fns.pool_shape,
    summary="Returns the largest value of each window; padding is ignored.",
)
register_op(
    "MaxPoolGrad",
    inputs=["orig_input: T", "orig_output: T", "grad: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_MAX_POOL],
    shape_fn=shape_fns.unchanged_shape,
    summary="Adds the gradient of each window to the first of its largest cells, in row-major order.",
)
register_op(
    "MaxPoolGradGrad",
    inputs=["orig_input: T", "orig_output: T", "grad: T"],
    outputs=["output: T"],
    attrs=["T: numbertype", *_MAX_POOL],
    shape_fn=nn_shape_fns.max_pool_grad_grad_shape,
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
    shape_fn=nn_shape_fns.avg_pool_grad_shape,
    summary="Distributes the gradient of each window equally among its cells.",
)
register_op(
    "ResizeNearestNeighbor",
    inputs=["images: T", "size: int32"],
    outputs=["resized_images: T"],
    attrs=["T: numbertype", "align_corners: bool = false", "half_pixel_centers: bool = false"],
    shape_fn=nn_shape_fns.resize_shape,
    summary="Resizes images [batch, rows, cols, channels]; each cell copies its nearest neighbour.",
)
register_op(
    "ResizeNearestNeighborGrad",
    inputs=["grads: T", "size: int32"],
    outputs=["output: T"],
    attrs=["T: numbertype", "align_corners: bool = false", "half_pixel_centers: bool = false"],
    shape_fn=nn_shape_fns.resize_shape,
    summary="Returns the gradient of ResizeNearestNeighbor: each cell sums the gradients of its copies.",
)
