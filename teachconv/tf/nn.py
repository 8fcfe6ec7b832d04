"""tf.nn: convolution, pooling, activations and losses, with TensorFlow 2's signatures.

TensorFlow: python/ops/nn_ops.py. The functions forward to teachconv.graph.ops.nn_ops; from there the way
leads to gen_nn_ops.
"""

from __future__ import annotations

from typing import Any

from ..core.arguments import check_data_format, normalize_steps
from ..core.kinds import layout_of
from ..graph.framework.eager_tensor import static_shape
from ..graph.ops import gen_nn_ops, nn_ops
from ..graph.ops.array_ops import gather
from ..graph.ops.image_ops import depth_to_space, space_to_depth
from ..graph.ops.math_ops import sigmoid, tanh
from ..graph.ops.nn_impl import (
    batch_normalization,
    dropout,
    l2_loss,
    l2_normalize,
    leaky_relu,
    moments,
    pool,
    relu6,
    separable_conv2d,
    sigmoid_cross_entropy_with_logits,
)
from ..graph.ops.nn_ops import avg_pool as avg_pool2d
from ..graph.ops.nn_ops import (
    bias_add,
    elu,
    log_softmax,
    relu,
    softmax,
    softmax_cross_entropy_with_logits,
    softplus,
    sparse_softmax_cross_entropy_with_logits,
)
from ..graph.ops.nn_ops import max_pool as max_pool2d
from ..graph.options import unsupported
from ..support.argument_types import Ints, PaddingLike
from ..support.errors import ArgumentError, brief

__all__ = [
    "atrous_conv2d",
    "avg_pool",
    "avg_pool2d",
    "batch_normalization",
    "bias_add",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
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
    "softplus",
    "space_to_depth",
    "sparse_softmax_cross_entropy_with_logits",
    "tanh",
]


def conv2d(
    input: Any,
    filters: Any,
    strides: Ints,
    padding: PaddingLike,
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
    strides: Ints,
    padding: PaddingLike = "SAME",
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


def conv1d(
    input: Any,
    filters: Any,
    stride: Ints,
    padding: PaddingLike,
    data_format: Any = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve signals with filters: as images of one row, because TensorFlow has no op over one axis.

    Args:
        input: [batch, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_cols, in_channels / groups, out_channels], of the same dtype.
        stride: an int, or 3 ints in ``data_format`` order.
        padding: "SAME", "VALID", or three pairs of ints in ``data_format`` order. "CAUSAL", which
            `teachconv.conv1d` accepts, does not exist in TensorFlow: pad (k - 1) * dilation cells before.
        data_format: "NWC", which None stands for, or "NCW".
        dilations: as ``stride``; None stands for 1.
        name: the name of the node.

    Returns:
        A tensor [batch, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> import teachconv.tf as tf
    >>> tf.nn.conv1d(tf.ones([1, 5, 1]), tf.ones([3, 1, 1]), 2, "SAME").numpy().ravel().tolist()
    [2.0, 3.0, 2.0]
    """
    return nn_ops.conv1d(input, filters, stride, _not_causal(padding), data_format, dilations, name)


def _not_causal(padding: Any) -> Any:
    """Return a padding; refuse the word that only `teachconv.conv1d` and Keras have."""
    if isinstance(padding, str) and padding == "CAUSAL":
        raise ArgumentError(
            'padding must be "SAME", "VALID", or three pairs in tf.nn; got "CAUSAL", which is that of '
            "teachconv.conv1d and of keras.layers.Conv1D: ((k - 1) * dilation, 0) for the columns"
        )
    return padding


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Ints,
    padding: PaddingLike = "SAME",
    data_format: Any = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Return the transposed convolution over one axis: the gradient of conv1d with respect to its input.

    Args:
        input: [batch, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_cols, out_channels, in_channels], of the same dtype.
        output_shape: 3 ints in ``data_format`` order, or an int32 tensor.
        strides, data_format, dilations, name: as in `conv1d`.
        padding: that of the convolution whose gradient it is.

    Returns:
        A tensor of ``output_shape``.

    Raises:
        ValueError, TypeError: as `conv2d_transpose`.
    """
    return nn_ops.conv1d_transpose(
        input, filters, output_shape, strides, padding, data_format, dilations, name
    )


def conv3d(
    input: Any,
    filters: Any,
    strides: Ints,
    padding: PaddingLike,
    data_format: Any = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve volumes with filters.

    Args:
        input: [batch, in_depth, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_depth, filter_rows, filter_cols, in_channels / groups, out_channels].
        strides: an int, (depth, rows, cols), or 5 ints in ``data_format`` order.
        padding: "SAME" or "VALID"; here also pairs of ints, which TensorFlow has for two axes only.
        data_format: "NDHWC", which None stands for, or "NCDHW".
        dilations: as ``strides``; None stands for 1.
        name: the name of the node.

    Returns:
        A tensor [batch, out_depth, out_rows, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> import teachconv.tf as tf
    >>> tf.nn.conv3d(tf.ones([1, 4, 6, 8, 2]), tf.ones([3, 3, 3, 2, 5]), 2, "SAME").shape
    TensorShape([1, 2, 3, 4, 5])
    """
    return nn_ops.conv3d(input, filters, strides, padding, data_format, dilations, name)


def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Ints,
    padding: PaddingLike = "SAME",
    data_format: Any = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Return the transposed convolution over three axes: the gradient of conv3d with respect to its input.

    Args:
        input: [batch, in_depth, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_depth, filter_rows, filter_cols, out_channels, in_channels].
        output_shape: 5 ints in ``data_format`` order, or an int32 tensor.
        strides, data_format, dilations, name: as in `conv3d`.
        padding: that of the convolution whose gradient it is.

    Returns:
        A tensor of ``output_shape``.

    Raises:
        ValueError, TypeError: as `conv2d_transpose`.
    """
    return nn_ops.conv3d_transpose(
        input, filters, output_shape, strides, padding, data_format, dilations, name
    )


def convolution(
    input: Any,
    filters: Any,
    strides: Ints | None = None,
    padding: PaddingLike = "VALID",
    data_format: Any = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve over one, two or three axes: what `conv1d`, `conv2d` or `conv3d` does.

    Where it is executed: ``teachconv.find_source(tf.nn.convolution, input, filters)``.

    Args:
        input, filters, padding, dilations, name: as in `conv1d`, `conv2d` and `conv3d`.
        strides: likewise; None stands for 1.
        data_format: likewise; None for channels last.

    Returns:
        As `conv1d`, `conv2d` or `conv3d`.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or strides and dilations are both above 1, which
            only the others take.

    >>> import teachconv.tf as tf
    >>> tf.nn.convolution(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 2])).shape
    TensorShape([1, 2, 2, 2])
    """
    shape = static_shape(filters) or static_shape(input) or ()
    if len(shape) not in (3, 4, 5):
        raise ArgumentError(f"filters must have 3, 4 or 5 axes; got shape {brief(shape)}")
    rank = len(shape) - 2
    layout = check_data_format(layout_of("input", rank) if data_format is None else data_format, rank)
    steps = normalize_steps(strides, "strides", layout)
    if max(steps) > 1 and max(normalize_steps(dilations, "dilations", layout)) > 1:
        raise ArgumentError(
            f"strides and dilations must not both be above 1; got {brief(strides)} and {brief(dilations)}: "
            f"conv{rank}d has both"
        )
    op = (nn_ops.conv1d, nn_ops.conv2d, nn_ops.conv3d)[rank - 1]
    return op(input, filters, steps, _not_causal(padding), layout, dilations, name)


def atrous_conv2d(value: Any, filters: Any, rate: Ints, padding: PaddingLike, name: str | None = None) -> Any:
    """Convolve images with dilated filters: `conv2d` with the dilation ``rate`` and strides of 1.

    Args:
        value: [batch, in_rows, in_cols, in_channels], the input of `conv2d`.
        filters, padding, name: as in `conv2d`.
        rate: the dilation, an int or (rows, cols).

    Returns:
        As `conv2d`.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    return nn_ops.conv2d(value, filters, 1, padding, dilations=rate, name=name)


def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Ints,
    padding: PaddingLike = "SAME",
    data_format: Any = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Return the transposed convolution over one, two or three axes, by the length of ``output_shape``.

    Args:
        input, filters, output_shape, strides, padding, dilations, name: as in `conv1d_transpose`,
            `conv2d_transpose` and `conv3d_transpose`.
        data_format: likewise; None for channels last.

    Returns:
        A tensor of ``output_shape``.

    Raises:
        ValueError, TypeError: as `conv2d_transpose`.

    >>> import teachconv.tf as tf
    >>> tf.nn.conv_transpose(tf.ones([1, 4, 1]), tf.ones([3, 1, 1]), [1, 8, 1], 2).shape
    TensorShape([1, 8, 1])
    """
    length = static_shape(output_shape) or (None,)
    if length[0] not in (3, 4, 5):
        raise ArgumentError(f"output_shape must hold 3, 4 or 5 sizes; got {brief(output_shape)}")
    rank = length[0] - 2
    op = (nn_ops.conv1d_transpose, nn_ops.conv2d_transpose, nn_ops.conv3d_transpose)[rank - 1]
    return op(input, filters, output_shape, strides, padding, data_format, dilations, name)


def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Ints,
    padding: PaddingLike,
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
    strides: Ints,
    padding: PaddingLike,
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
    strides: Ints,
    padding: PaddingLike,
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


@unsupported("max_norm")
def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """Return the rows of a matrix at some indices: ``tf.gather``.

    Args:
        params: [number, size], usually a variable.
        ids: indices, of any shape.
        max_norm: must be None.
        name: the name of the node.

    Returns:
        A tensor with the shape of ``ids`` and, behind it, [size].

    Raises:
        ValueError: if an index is not one of a row.
    """
    return gather(params, ids, name=name)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Ints,
    padding: PaddingLike,
    data_format: Any = None,
    name: str | None = None,
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
    input: Any,
    ksize: Any,
    strides: Ints,
    padding: PaddingLike,
    data_format: Any = None,
    name: str | None = None,
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
