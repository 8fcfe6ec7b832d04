"""tf.nn of TensorFlow 1: with ``filter`` and ``value``, which TensorFlow 2 calls ``filters`` and ``input``.

TensorFlow: python/ops/nn_ops.py.
"""

from __future__ import annotations

from typing import Any

from .... import graph as tg
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
    l2_normalize,
    leaky_relu,
    max_pool2d,
    relu,
    relu6,
    sigmoid,
    sigmoid_cross_entropy_with_logits,
    softplus,
    tanh,
)
from .default_graph import imported_in_graph, in_graph, version_1

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
    "depth_to_space",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "dropout",
    "elu",
    "embedding_lookup",
    "l2_loss",
    "l2_normalize",
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
    "softmax_cross_entropy_with_logits_v2",
    "softplus",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "tanh",
    "xw_plus_b",
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


@version_1(nn_ops.conv2d_backprop_input)
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


@version_1(nn_ops.conv2d_backprop_filter)
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


@version_1(nn.conv1d)
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


@version_1(nn.conv3d)
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


@version_1(nn.conv3d_transpose)
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


@version_1(nn.convolution)
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


@version_1(nn.depthwise_conv2d)
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


@version_1(nn.separable_conv2d)
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


@version_1(nn.pool)
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


@version_1(nn.avg_pool)
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


avg_pool2d = avg_pool


@version_1(nn.max_pool)
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


@version_1(nn.softmax)
def softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Return exp(logits) divided by its sum along an axis."""


@version_1(nn.log_softmax)
def log_softmax(logits: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Return the logarithm of the softmax along an axis."""


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


@version_1(nn.sparse_softmax_cross_entropy_with_logits)
def sparse_softmax_cross_entropy_with_logits(
    labels: Any = None, logits: Any = None, name: str | None = None
) -> Any:
    """Return the cross entropy of each row, for labels that are class numbers."""


@version_1(nn.depth_to_space)
def depth_to_space(input: Any, block_size: Any, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Return channels as blocks of pixels."""


@version_1(nn.space_to_depth)
def space_to_depth(input: Any, block_size: Any, name: str | None = None, data_format: str = "NHWC") -> Any:
    """Return blocks of pixels as channels."""


@version_1(nn.moments)
def moments(
    x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: Any = None, keepdims: Any = None
) -> Any:
    """Return the mean and the variance over axes."""


@version_1(nn.softmax_cross_entropy_with_logits)
def softmax_cross_entropy_with_logits_v2(
    labels: Any, logits: Any, axis: Any = None, name: str | None = None, dim: Any = None
) -> Any:
    """Return the cross entropy of each row, arguments as without v2; the labels may have a gradient."""


@version_1(nn.embedding_lookup)
def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Any = None,
) -> Any:
    """Return the rows of a matrix at some indices."""


@in_graph
def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """Return a product of matrices with a bias added to each row.

    Args:
        x: [rows, inner].
        weights: [inner, cols].
        biases: [cols].
        name: the name of the node.

    Returns:
        A tensor [rows, cols].
    """
    return bias_add(tg.matmul(x, weights), biases, name=name or "xw_plus_b")


imported_in_graph(globals())
