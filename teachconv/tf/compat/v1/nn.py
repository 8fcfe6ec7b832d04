"""tf.nn of TensorFlow 1: with ``filter`` and ``value``, which TensorFlow 2 calls ``filters`` and ``input``.

TensorFlow: python/ops/nn_ops.py.
"""

from __future__ import annotations

from typing import Any

from .... import graph as tg
from ....core.arguments import truth
from ....graph.ops import gen_nn_ops, nn_ops  # noqa: F401 (a known answer looks gen_nn_ops up here)
from ....graph.options import either
from ... import nn
from ...nn import (
    atrous_conv2d,
    batch_normalization,
    bias_add,
    conv1d_transpose,
    conv_transpose,
    depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input,
    elu,
    l2_loss,
    leaky_relu,
    max_pool2d,
    relu,
    relu6,
    sigmoid,
    sigmoid_cross_entropy_with_logits,
    softplus,
    tanh,
)
from .default_graph import imported_in_graph, in_graph

__all__ = [
    "atrous_conv2d",
    "avg_pool",
    "avg_pool2d",
    "batch_normalization",
    "bias_add",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "dropout",
    "elu",
    "l2_loss",
    "leaky_relu",
    "log_softmax",
    "max_pool",
    "max_pool2d",
    "moments",
    "pool",
    "relu",
    "relu6",
    "separable_conv2d",
    "sigmoid",
    "sigmoid_cross_entropy_with_logits",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "sparse_softmax_cross_entropy_with_logits",
    "tanh",
]

_conv2d_transpose = in_graph(nn.conv2d_transpose)


@in_graph
def conv2d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """Convolve images with filters (a cross-correlation)."""
    return nn_ops.conv2d(
        input,
        either("filters", filters, "filter", filter),
        strides or 1,
        padding,
        data_format,
        dilations,
        name,
    )


def conv2d_transpose(
    value: Any = None,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: Any = "NHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """Return the transposed convolution: the gradient of conv2d with respect to its input."""
    value, filters = either("input", input, "value", value), either("filters", filters, "filter", filter)
    return _conv2d_transpose(value, filters, output_shape, strides, padding, data_format, dilations, name)


@in_graph
def conv2d_backprop_input(
    input_sizes: Any,
    filter: Any = None,
    out_backprop: Any = None,
    strides: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: bool = True,
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """Return the gradient of conv2d with respect to its input."""
    return nn_ops.conv2d_backprop_input(
        input_sizes,
        either("filters", filters, "filter", filter),
        out_backprop,
        strides,
        padding,
        data_format,
        dilations,
        name,
    )


@in_graph
def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: bool = True,
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """Return the gradient of conv2d with respect to its filter."""
    return nn_ops.conv2d_backprop_filter(
        input, filter_sizes, out_backprop, strides, padding, data_format, dilations, name
    )


@in_graph
def conv1d(
    value: Any = None,
    filters: Any = None,
    stride: Any = None,
    padding: Any = None,
    use_cudnn_on_gpu: Any = None,
    data_format: Any = None,
    name: str | None = None,
    input: Any = None,
    dilations: Any = None,
) -> Any:
    """Convolve signals with filters, as images of one row."""
    return nn.conv1d(
        either("input", input, "value", value), filters, stride, padding, data_format, dilations, name
    )


@in_graph
def conv3d(
    input: Any,
    filter: Any = None,
    strides: Any = None,
    padding: Any = None,
    data_format: Any = "NDHWC",
    dilations: Any = (1, 1, 1, 1, 1),
    name: str | None = None,
    filters: Any = None,
) -> Any:
    """Convolve volumes with filters."""
    filters = either("filters", filters, "filter", filter)
    return nn.conv3d(input, filters, strides, padding, data_format, dilations, name)


@in_graph
def conv3d_transpose(
    value: Any,
    filter: Any = None,
    output_shape: Any = None,
    strides: Any = None,
    padding: Any = "SAME",
    data_format: Any = "NDHWC",
    name: str | None = None,
    input: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """Return the transposed convolution over three axes: the gradient of conv3d with respect to its input."""
    value, filters = either("input", input, "value", value), either("filters", filters, "filter", filter)
    return nn.conv3d_transpose(value, filters, output_shape, strides, padding, data_format, dilations, name)


@in_graph
def convolution(
    input: Any,
    filter: Any,
    padding: Any,
    strides: Any = None,
    dilation_rate: Any = None,
    name: str | None = None,
    data_format: Any = None,
    filters: Any = None,
    dilations: Any = None,
) -> Any:
    """Convolve over one, two or three axes."""
    filters = either("filters", filters, "filter", filter)
    dilations = either("dilations", dilations, "dilation_rate", dilation_rate)
    return nn.convolution(input, filters, strides, padding, data_format, dilations, name)


@in_graph
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: Any = None,
    dilations: Any = None,
) -> Any:
    """Convolve each channel with filters of its own."""
    dilations = either("dilations", dilations, "rate", rate)
    return nn.depthwise_conv2d(input, filter, strides, padding, data_format, dilations, name)


@in_graph
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    rate: Any = None,
    name: str | None = None,
    data_format: Any = None,
    dilations: Any = None,
) -> Any:
    """Convolve each channel with filters of its own, then mix the channels."""
    dilations = either("dilations", dilations, "rate", rate)
    filters = depthwise_filter, pointwise_filter
    return nn.separable_conv2d(input, *filters, strides, padding, data_format, dilations, name)


@in_graph
def pool(
    input: Any,
    window_shape: Any,
    pooling_type: Any,
    padding: Any,
    dilation_rate: Any = None,
    strides: Any = None,
    name: str | None = None,
    data_format: Any = None,
    dilations: Any = None,
) -> Any:
    """Return max_pool or avg_pool over as many axes as the window has."""
    dilations = either("dilations", dilations, "dilation_rate", dilation_rate)
    return nn.pool(input, window_shape, pooling_type, strides, padding, data_format, dilations, name)


@in_graph
def avg_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Any:
    """Return the mean of each window; padding is not counted."""
    return nn.avg_pool(either("input", input, "value", value), ksize, strides, padding, data_format, name)


avg_pool2d = avg_pool


@in_graph
def max_pool(
    value: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    name: str | None = None,
    input: Any = None,
) -> Any:
    """Return the largest value of each window."""
    return nn.max_pool(either("input", input, "value", value), ksize, strides, padding, data_format, name)


@in_graph
def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Return exp(logits) divided by its sum along an axis."""
    return nn.softmax(logits, either("axis", axis, "dim", dim), name)


@in_graph
def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Return the logarithm of the softmax along an axis."""
    return nn.log_softmax(logits, either("axis", axis, "dim", dim), name)


@in_graph
def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Any:
    """Set elements to zero at random and scale the others."""
    if keep_prob is not None:
        rate = either("rate", rate, "keep_prob", 1 - keep_prob)
    return nn.dropout(x, rate, noise_shape, seed, name)


@in_graph
def softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, dim: Any = -1, name: str | None = None, axis: Any = None
) -> Any:
    """Return the cross entropy of each row, for labels that are distributions."""
    axis = either("axis", axis, "dim", None if dim == -1 else dim)
    labels = tg.stop_gradient(labels)  # TensorFlow 1 takes labels as constants
    return nn.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis, name)


@in_graph
def sparse_softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """Return the cross entropy of each row, for labels that are class numbers."""
    return nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


@in_graph
def moments(
    x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: Any = None, keepdims: Any = None
) -> Any:
    """Return the mean and the variance over axes."""
    return nn.moments(
        x, axes, shift, truth(either("keepdims", keepdims, "keep_dims", keep_dims), "keepdims"), name
    )


imported_in_graph(globals())
