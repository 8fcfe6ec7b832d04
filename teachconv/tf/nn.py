"""tf.nn: convolution, pooling, activations and losses, with TensorFlow 2's signatures.

TensorFlow: python/ops/nn_ops.py. The functions forward to teachconv.graph.ops.nn_ops; from there the way
leads to gen_nn_ops.
"""

from __future__ import annotations

from typing import Any

from ..arguments import check_data_format, normalize_steps
from ..errors import ArgumentError, brief
from ..graph.ops import gen_nn_ops, nn_ops
from ..graph.ops.math_ops import sigmoid, tanh
from ..graph.ops.nn_impl import dropout, l2_loss, leaky_relu, moments, relu6
from ..graph.ops.nn_ops import avg_pool as avg_pool2d
from ..graph.ops.nn_ops import (
    bias_add,
    log_softmax,
    relu,
    softmax,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from ..graph.ops.nn_ops import max_pool as max_pool2d

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


def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: Any = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve images with filters (a cross-correlation).

    Where it is executed: ``teachconv.find_source(tf.nn.conv2d, input, filters, strides, padding)``.

    Args:
        input: [batch, in_rows, in_cols, in_channels] in ``data_format`` order: a tensor, variable or array.
        filters: [filter_rows, filter_cols, in_channels / groups, out_channels], of the same dtype.
        strides: an int, (rows, cols), or 4 ints in ``data_format`` order.
        padding: "SAME", "VALID", or four pairs of ints in ``data_format`` order.
        data_format: "NHWC", which None stands for, or "NCHW".
        dilations: as ``strides``; None stands for 1.
        name: the name of the node.

    Returns:
        A tensor [batch, out_rows, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> import teachconv.tf as tf
    >>> tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 1]), strides=2, padding="SAME")[0, :, :, 0]
    <tf.Tensor: shape=(2, 2), dtype=float32, numpy=
    array([[9., 6.],
           [6., 4.]], dtype=float32)>
    """
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
    """Return the transposed convolution: the gradient of conv2d with respect to its input.

    Where it is executed: ``teachconv.find_source(tf.nn.conv2d_transpose, input, filters, output_shape, 2)``.

    Args:
        input: [batch, in_rows, in_cols, in_channels] in ``data_format`` order: a tensor, variable or array.
        filters: [filter_rows, filter_cols, out_channels, in_channels], of the same dtype.
        output_shape: 4 ints in ``data_format`` order, or an int32 tensor; -1 for the batch of the input.
        strides, data_format, dilations, name: as in `conv2d`.
        padding: that of the convolution whose gradient it is.

    Returns:
        A tensor of ``output_shape``.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or that convolution does not make the input's
            size from ``output_shape``.

    >>> import teachconv.tf as tf
    >>> tf.nn.conv2d_transpose(tf.ones([1, 1, 2, 1]), tf.ones([1, 2, 1, 1]), [1, 1, 4, 1], [1, 2]).shape
    TensorShape([1, 1, 4, 1])
    """
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
    """Convolve images with filters; only convolutions over two axes are here.

    Where it is executed: ``teachconv.find_source(tf.nn.convolution, input, filters)``.

    Args:
        input, filters, padding, dilations, name: as in `conv2d`.
        strides: as in `conv2d`; None stands for 1.
        data_format: as in `conv2d`.

    Returns:
        As `conv2d`.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or strides and dilations are both above 1, which
            only `conv2d` takes.

    >>> import teachconv.tf as tf
    >>> tf.nn.convolution(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 2])).shape
    TensorShape([1, 2, 2, 2])
    """
    layout = check_data_format("NHWC" if data_format is None else data_format)
    steps = normalize_steps(strides, "strides", layout)
    if max(steps) > 1 and max(normalize_steps(dilations, "dilations", layout)) > 1:
        raise ArgumentError(
            f"strides and dilations must not both be above 1; got {brief(strides)} and {brief(dilations)}: "
            "conv2d has both"
        )
    return nn_ops.conv2d(input, filters, steps, padding, data_format, dilations, name)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: Any = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve each channel with filters of its own.

    Where it is executed: ``teachconv.find_source(tf.nn.depthwise_conv2d, input, filter, strides, padding)``.

    Args:
        input, strides, padding, dilations, name: as in `conv2d`.
        filter: [filter_rows, filter_cols, in_channels, channel_multiplier], of the same dtype.
        data_format: as in `conv2d`.

    Returns:
        A tensor [batch, out_rows, out_cols, in_channels * channel_multiplier] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> import teachconv.tf as tf
    >>> tf.nn.depthwise_conv2d(tf.ones([1, 4, 4, 3]), tf.ones([2, 2, 3, 2]), [1, 1, 1, 1], "VALID").shape
    TensorShape([1, 3, 3, 6])
    """
    return nn_ops.depthwise_conv2d(input, filter, strides, padding, data_format, dilations, name)


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
    """Return the gradient of depthwise_conv2d with respect to its filter.

    Args:
        input, strides, padding, data_format, dilations, name: as in `depthwise_conv2d`.
        filter_sizes: the shape of the filter: 4 ints, or an int32 tensor.
        out_backprop: the gradient with respect to the output, in its shape.

    Returns:
        A tensor of shape ``filter_sizes``.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    return gen_nn_ops.depthwise_conv2d_native_backprop_filter(
        input,
        filter_sizes,
        out_backprop,
        **nn_ops.windows_of(strides, padding, data_format, dilations),
        name=name,
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
    """Return the gradient of depthwise_conv2d with respect to its input.

    Args:
        input_sizes: the shape of the input: 4 ints, or an int32 tensor.
        filter, strides, padding, data_format, dilations, name: as in `depthwise_conv2d`.
        out_backprop: the gradient with respect to the output, in its shape.

    Returns:
        A tensor of shape ``input_sizes``.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    return gen_nn_ops.depthwise_conv2d_native_backprop_input(
        input_sizes,
        filter,
        out_backprop,
        **nn_ops.windows_of(strides, padding, data_format, dilations),
        name=name,
    )


def avg_pool(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None, name: str | None = None
) -> Any:
    """Return the mean of each window; padding is not counted.

    Args:
        input: as in `max_pool`; floats.
        ksize, strides, data_format, name: as in `max_pool`.
        padding: "SAME" or "VALID".

    Returns:
        As `max_pool`.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> import teachconv.tf as tf
    >>> tf.nn.avg_pool(tf.constant([1.0, 2.0, 6.0], shape=[1, 1, 3, 1]), 2, 2, "SAME")[0, 0, :, 0].numpy()
    array([1.5, 6. ], dtype=float32)
    """
    return nn_ops.avg_pool(input, ksize, strides, padding, data_format, name)


def max_pool(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any = None, name: str | None = None
) -> Any:
    """Return the largest value of each window; padding is ignored.

    Args:
        input: [batch, in_rows, in_cols, channels] in ``data_format`` order: a tensor, variable or array.
        ksize: the size of the window: an int, (rows, cols), or 4 ints in ``data_format`` order.
        strides: as ``ksize``.
        padding: as in `conv2d`.
        data_format: "NHWC", which None stands for, or "NCHW".
        name: the name of the node.

    Returns:
        A tensor [batch, out_rows, out_cols, channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> import teachconv.tf as tf
    >>> tf.nn.max_pool(tf.constant([-1, -2, -6.0], shape=[1, 1, 3, 1]), 2, 2, "SAME").numpy().ravel().tolist()
    [-1.0, -6.0]
    """
    return nn_ops.max_pool(input, ksize, strides, padding, data_format, name)
