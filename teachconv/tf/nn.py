"""tf.nn: convolution, pooling, activations and losses, with TensorFlow 2's signatures.

TensorFlow: python/ops/nn_ops.py. The functions forward to teachconv.graph.ops.nn_ops, which describes them;
from there the way leads to gen_nn_ops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..graph.ops import gen_nn_ops, nn_impl, nn_ops
from ..graph.ops.cwise_ops import sigmoid, tanh
from ..graph.ops.nn_impl import l2_loss, leaky_relu, relu6
from ..graph.ops.nn_ops import relu
from .missing import module_getattr
from .options import unsupported

__all__ = [
    "avg_pool",
    "avg_pool2d",
    "bias_add",
    "conv2d",
    "conv2d_transpose",
    "convolution",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "dropout",
    "l2_loss",
    "leaky_relu",
    "log_softmax",
    "max_pool",
    "max_pool2d",
    "moments",
    "relu",
    "relu6",
    "sigmoid",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
    "tanh",
]


def bias_add(value: Any, bias: Any, data_format: Any = None, name: str | None = None) -> Any:
    """Add a bias to each channel."""
    return nn_ops.bias_add(value, bias, data_format or "NHWC", name)


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve images with filters (a cross-correlation)."""
    return nn_ops.conv2d(input, filters, strides, padding, data_format, dilations, name)


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: Any = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Return the transposed convolution: the gradient of conv2d with respect to its input."""
    return nn_ops.conv2d_transpose(
        input, filters, output_shape, strides, padding, data_format, dilations, name
    )


def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: Any = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve images with filters; only convolutions over two axes are here."""
    return nn_ops.conv2d(input, filters, strides or 1, padding, data_format or "NHWC", dilations, name)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: Any = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve each channel with filters of its own."""
    return nn_ops.depthwise_conv2d(input, filter, strides, padding, data_format or "NHWC", dilations, name)


def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """Return the gradient of depthwise_conv2d with respect to its filter."""
    return gen_nn_ops.depthwise_conv2d_native_backprop_filter(
        input, filter_sizes, out_backprop, strides, padding, (), data_format, dilations, name
    )


def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Any:
    """Return the gradient of depthwise_conv2d with respect to its input."""
    return gen_nn_ops.depthwise_conv2d_native_backprop_input(
        input_sizes, filter, out_backprop, strides, padding, (), data_format, dilations, name
    )


def avg_pool(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None, name: str | None = None
) -> Any:
    """Return the mean of each window; padding is not counted."""
    return nn_ops.avg_pool(input, ksize, strides, padding, data_format or "NHWC", name)


def avg_pool2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC", name: str | None = None
) -> Any:
    """Return the mean of each window; padding is not counted."""
    return nn_ops.avg_pool(input, ksize, strides, padding, data_format, name)


def max_pool(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None, name: str | None = None
) -> Any:
    """Return the largest value of each window."""
    return nn_ops.max_pool(input, ksize, strides, padding, data_format or "NHWC", name)


def max_pool2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = "NHWC", name: str | None = None
) -> Any:
    """Return the largest value of each window."""
    return nn_ops.max_pool(input, ksize, strides, padding, data_format, name)


def softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return exp(logits) divided by its sum along the last axis."""
    unsupported(axis=(None if axis == -1 else axis, None))
    return nn_ops.softmax(logits, name)


def log_softmax(logits: Any, axis: Any = None, name: str | None = None) -> Any:
    """Return the logarithm of the softmax along the last axis."""
    unsupported(axis=(None if axis == -1 else axis, None))
    return nn_ops.log_softmax(logits, name)


def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Any:
    """Set elements to zero at random and scale the others by 1 / (1 - rate)."""
    unsupported(noise_shape=(noise_shape, None))
    return nn_impl.dropout(x, rate, seed, name)


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: Any = -1, name: str | None = None
) -> Any:
    """Return the cross entropy of each row, for labels that are distributions."""
    unsupported(axis=(axis, -1))
    return nn_ops.softmax_cross_entropy_with_logits(labels, logits, name)


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """Return the cross entropy of each row, for labels that are class numbers."""
    return nn_ops.sparse_softmax_cross_entropy_with_logits(labels, logits, name)


def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the mean and the variance over axes."""
    unsupported(shift=(shift, None))
    return nn_impl.moments(x, axes, keepdims, name)


if not TYPE_CHECKING:
    __getattr__ = module_getattr(__name__, __all__)
