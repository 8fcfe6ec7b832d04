"""The public ops of neural networks: thin wrappers that normalise arguments and compute nothing.

TensorFlow: python/ops/nn_ops.py, nn_impl.py and the tf.nn module. Each wrapper calls a generated wrapper
(gen_nn_ops.py), which computes nothing either; ``find_source`` shows the steps after that. Inside a graph
each function returns a tensor, elsewhere an array.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...core.arguments import check_data_format, integer, normalize_padding, normalize_steps
from ...core.geometry import conv_transpose_geometry
from ...core.kinds import layout_of
from ...support.errors import ArgumentError, ArgumentTypeError, brief
from ..framework.eager_tensor import static_shape
from ..framework.ops import name_scope
from ..framework.tensor import tensor_dtype
from ..framework.tensor_shape import is_fully_defined, text
from . import gen_nn_ops
from .array_ops import concat, convert_to_tensor, expand_dims, is_tensor, squeeze
from .gen_nn_ops import elu, relu, softplus
from .math_ops import cast

__all__ = [
    "avg_pool",
    "bias_add",
    "conv1d",
    "conv1d_backprop_filter",
    "conv1d_backprop_input",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_backprop_filter",
    "conv3d_backprop_input",
    "conv3d_transpose",
    "depthwise_conv2d",
    "elu",
    "log_softmax",
    "max_pool",
    "relu",
    "softmax",
    "softmax_cross_entropy_with_logits",
    "softplus",
    "sparse_softmax_cross_entropy_with_logits",
]


def conv2d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Convolve images with filters, as tf.nn.conv2d; adds a Conv2D node.

    Args:
        input: [batch, in_rows, in_cols, in_channels] in ``data_format`` order: a tensor, variable or array.
        filters: [filter_rows, filter_cols, in_channels / groups, out_channels], same dtype.
        strides: as in `teachconv.conv2d`.
        padding: as in `teachconv.conv2d`.
        data_format: "NHWC", which None stands for, or "NCHW".
        dilations: as ``strides``; 1 or None means none.
        name: the name of the node.
        backend: the label of the kernel: the name of one of teachconv's backends, or None.

    Returns:
        [batch, out_rows, out_cols, out_channels] in ``data_format`` order, a tensor or an array.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> from teachconv import graph as tg
    >>> import numpy as np
    >>> with tg.Graph().as_default():
    ...     x = tg.placeholder("float32", [None, 8, 8, 1])
    ...     tg.nn.conv2d(x, np.ones((3, 3, 1, 4), "float32"), 2, "SAME")
    <tf.Tensor 'Conv2D:0' shape=(None, 4, 4, 4) dtype=float32>
    """
    return gen_nn_ops.conv2d(
        input, filters, **windows_of(strides, padding, data_format, dilations), name=name, _kernel=backend
    )


def depthwise_conv2d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Convolve each channel with its own filters, as tf.nn.depthwise_conv2d.

    Args:
        input: as in `conv2d`.
        filters: [filter_rows, filter_cols, in_channels, channel_multiplier].
        strides, padding, data_format, dilations, name, backend: as in `conv2d`.

    Returns:
        [batch, out_rows, out_cols, in_channels * channel_multiplier] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    if not is_tensor(input):
        input = convert_to_tensor(input, name="tensor_in")  # whatever filters is, as in TensorFlow
    return gen_nn_ops.depthwise_conv2d_native(
        input,
        filters,
        **windows_of(strides, padding, data_format, dilations),
        name=name or "depthwise",
        _kernel=backend,
    )


def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any = None,
    strides: Any = 1,
    padding: Any = "SAME",
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Apply the transpose of a convolution, as tf.nn.conv2d_transpose; adds a Conv2DBackpropInput node.

    There is no separate op: the transposed convolution *is* the gradient of Conv2D with respect to its input.

    Args:
        input: [batch, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_rows, filter_cols, out_channels, in_channels].
        output_shape: 4 ints or an int32 tensor, -1 for the batch of the input; None uses the default size of
            `teachconv.conv2d_transpose`, which requires static shapes of input and filters.
        strides, padding, data_format, dilations, name, backend: as in `conv2d`.

    Returns:
        A tensor or array of ``output_shape``.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or the size cannot be derived.

    >>> from teachconv import graph as tg
    >>> import numpy as np
    >>> tg.nn.conv2d_transpose(np.ones((1, 1, 2, 1), "int32"), np.ones((1, 2, 1, 1), "int32"),
    ...                        strides=(1, 2), padding="VALID").numpy().ravel().tolist()
    [1, 1, 1, 1]
    """
    windows = windows_of(strides, padding, data_format, dilations)
    sizes = _transposed_sizes(input, filters, output_shape, strides, padding, data_format, dilations)
    return gen_nn_ops.conv2d_backprop_input(
        sizes, filters, input, **windows, name=name or "conv2d_transpose", _kernel=backend
    )


def conv2d_backprop_input(
    input_sizes: Any,
    filters: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Return the gradient of `conv2d` with respect to its input.

    Args:
        input_sizes: the shape of the input: 4 ints or an int32 tensor, -1 for the batch of ``out_backprop``.
        filters: as in `conv2d`.
        out_backprop: the gradient with respect to the output.
        strides, padding, data_format, dilations, name, backend: as in `conv2d`.

    Returns:
        A tensor or array of shape ``input_sizes``.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    return gen_nn_ops.conv2d_backprop_input(
        input_sizes,
        filters,
        out_backprop,
        **windows_of(strides, padding, data_format, dilations),
        name=name,
        _kernel=backend,
    )


def conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Return the gradient of `conv2d` with respect to its filters.

    Args:
        input: as in `conv2d`.
        filter_sizes: the shape of the filters: 4 ints or an int32 tensor.
        out_backprop: the gradient with respect to the output.
        strides, padding, data_format, dilations, name, backend: as in `conv2d`.

    Returns:
        A tensor or array of shape ``filter_sizes``.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    return gen_nn_ops.conv2d_backprop_filter(
        input,
        filter_sizes,
        out_backprop,
        **windows_of(strides, padding, data_format, dilations),
        name=name,
        _kernel=backend,
    )


def conv3d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Convolve volumes with filters, as tf.nn.conv3d; adds a Conv3D node.

    Args:
        input: [batch, in_depth, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_depth, filter_rows, filter_cols, in_channels / groups, out_channels], same dtype.
        strides, padding, dilations: as in `teachconv.conv3d`.
        data_format: "NDHWC", which None stands for, or "NCDHW".
        name, backend: as in `conv2d`.

    Returns:
        [batch, out_depth, out_rows, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    return gen_nn_ops.conv3d(
        input,
        filters,
        **windows_of(strides, padding, data_format, dilations, rank=3),
        name=name,
        _kernel=backend,
    )


def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any = None,
    strides: Any = 1,
    padding: Any = "SAME",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Apply the transpose of `conv3d`, as tf.nn.conv3d_transpose; adds a Conv3DBackpropInputV2 node.

    Args:
        input: [batch, in_depth, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_depth, filter_rows, filter_cols, out_channels, in_channels].
        output_shape: 5 ints or an int32 tensor, as in `conv2d_transpose`.
        strides, padding, data_format, dilations, name, backend: as in `conv3d`.

    Returns:
        A tensor or array of ``output_shape``.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or the size cannot be derived.
    """
    windows = windows_of(strides, padding, data_format, dilations, rank=3)
    sizes = _transposed_sizes(input, filters, output_shape, strides, padding, data_format, dilations)
    return gen_nn_ops.conv3d_backprop_input_v2(
        sizes, filters, input, **windows, name=name or "conv3d_transpose", _kernel=backend
    )


def conv1d(
    input: Any,
    filters: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Convolve signals with filters, as tf.nn.conv1d: a Conv2D node of images of one row.

    TensorFlow has no op over one axis: ExpandDims adds the row, and Squeeze takes it away.

    Args:
        input: [batch, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_cols, in_channels / groups, out_channels], same dtype.
        strides, dilations: an int, or one for each letter of ``data_format``.
        padding: as in `teachconv.conv1d`; "CAUSAL" needs filters of known size.
        data_format: "NWC", which None stands for, or "NCW".
        name, backend: as in `conv2d`.

    Returns:
        [batch, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default() as graph:
    ...     y = tg.nn.conv1d(tg.placeholder("float32", [None, 8, 1]), tg.ones([3, 1, 2]), 2, "CAUSAL")
    >>> y, [op.name for op in graph.get_operations()][-2:]
    (<tf.Tensor 'conv1d/Squeeze:0' shape=(None, 4, 2) dtype=float32>, ['conv1d', 'conv1d/Squeeze'])
    """
    padding = _causal(padding, static_shape(filters), dilations)
    windows = windows_of(strides, padding, data_format, dilations, rank=1)
    arrays = {"input": input, "filter": filters}
    return _of_one_row(gen_nn_ops.conv2d, arrays, windows, name or "conv1d", backend)


def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any = None,
    strides: Any = 1,
    padding: Any = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Apply the transpose of `conv1d`, as tf.nn.conv1d_transpose: a Conv2DBackpropInput node of one row.

    Args:
        input: [batch, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_cols, out_channels, in_channels].
        output_shape: 3 ints or an int32 tensor, as in `conv2d_transpose`.
        strides, padding, data_format, dilations, name, backend: as in `conv1d`; there is no "CAUSAL".

    Returns:
        A tensor or array of ``output_shape``.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or the size cannot be derived.
    """
    windows = windows_of(strides, padding, data_format, dilations, rank=1)
    sizes = _transposed_sizes(input, filters, output_shape, strides, padding, data_format, dilations)
    arrays = {"out_backprop": input, "filter": filters, "input_sizes": sizes}
    return _of_one_row(gen_nn_ops.conv2d_backprop_input, arrays, windows, name or "conv1d_transpose", backend)


def conv3d_backprop_input(
    input_sizes: Any,
    filters: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Return the gradient of `conv3d` with respect to its input; arguments as in `conv2d_backprop_input`."""
    return gen_nn_ops.conv3d_backprop_input_v2(
        input_sizes,
        filters,
        out_backprop,
        **windows_of(strides, padding, data_format, dilations, rank=3),
        name=name,
        _kernel=backend,
    )


def conv3d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Return the gradient of `conv3d` by its filters; arguments as in `conv2d_backprop_filter`."""
    return gen_nn_ops.conv3d_backprop_filter_v2(
        input,
        filter_sizes,
        out_backprop,
        **windows_of(strides, padding, data_format, dilations, rank=3),
        name=name,
        _kernel=backend,
    )


def conv1d_backprop_input(
    input_sizes: Any,
    filters: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Return the gradient of `conv1d` with respect to its input, which is `conv1d_transpose`."""
    padding = _causal(padding, static_shape(filters), dilations)
    windows = strides, padding, data_format, dilations, name or "conv1d_backprop_input"
    return conv1d_transpose(out_backprop, filters, input_sizes, *windows, backend=backend)


def conv1d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any = 1,
    padding: Any = "VALID",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
    *,
    backend: str | None = None,
) -> Any:
    """Return the gradient of `conv1d` by its filters; arguments as in `conv2d_backprop_filter`."""
    padding = _causal(padding, None if hasattr(filter_sizes, "op") else filter_sizes, dilations)
    windows = windows_of(strides, padding, data_format, dilations, rank=1)
    arrays = {"input": input, "out_backprop": out_backprop, "filter_sizes": filter_sizes}
    name = name or "conv1d_backprop_filter"
    return _of_one_row(gen_nn_ops.conv2d_backprop_filter, arrays, windows, name, backend)


def bias_add(value: Any, bias: Any, data_format: str | None = None, name: str | None = None) -> Any:
    """Add a bias to each channel, as tf.nn.bias_add.

    Args:
        value: [..., channels], or [batch, channels, ...] for "NCHW".
        bias: [channels].
        data_format: "NHWC", which None stands for, or "NCHW"; or that of another rank.
        name: the name of the node.

    Returns:
        A tensor or array of the shape of ``value``.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.
    """
    layout = "NCHW" if _layout(data_format, _rank_of(data_format))[1] == "C" else "NHWC"
    return gen_nn_ops.bias_add(value, bias, data_format=layout, name=name)


def softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Return exp(logits) divided by its sum along an axis, as tf.nn.softmax.

    Args:
        logits: floats with at least one axis.
        name: the name of the node.
        axis: the axis; None stands for the last one.

    Returns:
        A tensor or array of the same shape.

    Raises:
        ValueError, TypeError: if ``logits`` is a scalar or not of a float dtype, or has no such axis.
    """
    return _along(axis, gen_nn_ops.softmax, logits, name)


def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Any:
    """Return the largest value of each window over one, two or three axes, as tf.nn.max_pool.

    Padding is ignored, even if all values of a window are negative.

    Args:
        input: [batch, in_rows, in_cols, channels] in ``data_format`` order, or that of another rank.
        ksize: the size of the window: an int, (rows, cols), or 4 ints in ``data_format`` order.
        strides: as ``ksize``.
        padding: as in `conv2d`; over three axes "SAME", "VALID" or "SAME_LOWER".
        data_format: "NHWC" or "NCHW", or that of another rank; None for channels last.
        name: the name of the node.

    Returns:
        [batch, out_rows, out_cols, channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> import numpy as np
    >>> max_pool(np.float32([-1, -2, -3]).reshape(1, 1, 3, 1), 2, 2, "SAME").numpy().ravel().tolist()
    [-1.0, -3.0]
    """
    wrappers = gen_nn_ops.max_pool, gen_nn_ops.max_pool3d
    return _pool(wrappers, "MaxPool1d", input, ksize, strides, padding, data_format, name)


def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Any:
    """Return the mean of each window over one, two or three axes, as tf.nn.avg_pool; padding is not counted.

    Args:
        input: as in `max_pool`; floats.
        ksize, strides, data_format, name: as in `max_pool`.
        padding: "SAME", "VALID" or "SAME_LOWER".

    Returns:
        [batch, out_rows, out_cols, channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> import numpy as np
    >>> avg_pool(np.float32([1, 2, 3]).reshape(1, 1, 3, 1), 2, 2, "SAME").numpy().ravel().tolist()
    [1.5, 3.0]
    """
    wrappers = gen_nn_ops.avg_pool, gen_nn_ops.avg_pool3d
    return _pool(wrappers, "AvgPool1D", input, ksize, strides, padding, data_format, name)


def log_softmax(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Return the logarithm of `softmax`, computed without overflow, as tf.nn.log_softmax.

    Args:
        logits, name, axis: as in `softmax`.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError, TypeError: if ``logits`` is a scalar or not of a float dtype, or has no such axis.
    """
    return _along(axis, gen_nn_ops.log_softmax, logits, name)


def softmax_cross_entropy_with_logits(
    labels: Any, logits: Any, axis: int | None = -1, name: str | None = None
) -> Any:
    """Return -sum(labels * log_softmax(logits)) of each row, as tf.nn.softmax_cross_entropy_with_logits.

    Args:
        labels: [..., classes], probabilities of each class, which are cast to the dtype of the logits.
        logits: [..., classes], floats.
        name: the name of the node.
        axis: the axis of the classes; None stands for the last one.

    Returns:
        A tensor without that axis.

    Raises:
        ValueError, TypeError: if shapes differ, the logits are not floats, or there is no such axis.

    >>> float(softmax_cross_entropy_with_logits([[0.0, 1.0]], [[0.0, 0.0]])[0])
    0.6931471824645996
    """
    logits = convert_to_tensor(logits, name="logits")
    if tensor_dtype(labels) is not None:
        labels = cast(labels, logits.dtype)
    order = _axis_last(logits, axis)
    if order is not None:
        labels, logits = gen_nn_ops.transpose(labels, order), gen_nn_ops.transpose(logits, order)
    return _of_rows(
        gen_nn_ops.softmax_cross_entropy_with_logits,
        logits,
        labels,
        static_shape(labels),
        name or "softmax_cross_entropy_with_logits",
    )


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """Return -log_softmax(logits)[label] of each row, for labels that are class numbers.

    Args:
        labels: [...], int32 or int64 from 0 to classes - 1.
        logits: [..., classes], floats.
        name: the name of the node.

    Returns:
        A tensor of the shape of ``labels``.

    Raises:
        ValueError, TypeError: if a label is not a class number, or shapes or dtypes do not fit.

    >>> float(sparse_softmax_cross_entropy_with_logits([1], [[0.0, 0.0]])[0])
    0.6931471824645996
    """
    op = gen_nn_ops.sparse_softmax_cross_entropy_with_logits
    with name_scope(name or "SparseSoftmaxCrossEntropyWithLogits"):
        return _of_rows(op, logits, labels, None, None)


_NO_POOLING = object()


def windows_of(
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    ksize: Any = _NO_POOLING,
    rank: int = 2,
) -> dict[str, Any]:
    """Return the attributes of a windowed op in TensorFlow's form: lists, one number or two for each axis."""
    for what, value in (("strides", strides), ("dilations", dilations), ("ksize", ksize)):
        if is_tensor(value) and not hasattr(value, "numpy"):
            raise ArgumentTypeError(f"{what} must be ints, known before the run; got {brief(value)}")
    layout = _layout(data_format, rank)
    mode, pads = normalize_padding(padding, layout)
    explicit = _for_each_axis(pads, (0, 0), layout) if mode == "EXPLICIT" else []
    attrs: dict[str, Any] = {
        "strides": _for_each_axis(normalize_steps(strides, "strides", layout), 1, layout),
        "padding": mode,
        "explicit_paddings": [side for pair in explicit for side in pair],
        "data_format": layout,
    }
    if ksize is None:
        raise ArgumentTypeError("ksize must be an int, (rows, cols) or 4 ints; got None")
    name, sizes = ("dilations", dilations) if ksize is _NO_POOLING else ("ksize", ksize)
    return attrs | {name: _for_each_axis(normalize_steps(sizes, name, layout), 1, layout)}


def _pool(
    wrappers: tuple[Any, Any],
    name_of_one_axis: str,
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    name: str | None,
) -> Any:
    """Call the wrapper of a pool over two axes or three; over one, that over two for images of one row."""
    shape, (over_two, over_three) = static_shape(input), wrappers
    rank = _rank_of(shape if data_format is None else data_format)
    windows = windows_of(strides, padding, data_format, None, ksize, rank)
    wrapper = over_three if rank == 3 else over_two
    if wrapper is not gen_nn_ops.max_pool and windows.pop("explicit_paddings"):
        raise ArgumentError(
            f'padding of {wrapper.__name__} must be "SAME", "VALID" or "SAME_LOWER"; got {brief(padding)}'
        )
    if rank > 1:
        return wrapper(input, **windows, name=name)
    name_of_input = "value" if wrapper is gen_nn_ops.avg_pool else "input"
    return _of_one_row(wrapper, {name_of_input: input}, windows, name or name_of_one_axis, None)


def _of_one_row(
    wrapper: Any, arrays: Mapping[str, Any], windows: Mapping[str, Any], name: str, backend: str | None
) -> Any:
    """Run an op of images on signals, as images of one row: TensorFlow has no ops over one axis.

    Args:
        wrapper: the wrapper of the op.
        arrays: its inputs by their names: signals, filters over one axis, and sizes of either.
        windows: the attributes of the op over one axis.
        name: the name of the node.
        backend: the label of the kernel.
    """
    row = windows["data_format"].index("W")
    before = {"strides": [1], "dilations": [1], "ksize": [1], "explicit_paddings": [0, 0]}
    lists = {key: [*before[key], *value] for key, value in windows.items() if key in before and value}
    attrs = {**windows, **lists, "data_format": windows["data_format"].replace("W", "HW")}
    with name_scope(name) as scope:
        given = {}
        for key, value in arrays.items():
            at = 0 if key.startswith("filter") else row
            if not key.endswith("sizes"):
                given[key] = expand_dims(value, at)
                continue
            given[key] = concat([value[:at], [1], value[at:]] if at else [[1], value], 0)
        result = wrapper(**given, **attrs, name=scope, _kernel=backend)
        return squeeze(result, [0 if "filter_sizes" in arrays else row])


def _layout(data_format: str | None, rank: int = 2) -> str:
    return check_data_format(layout_of("input", rank) if data_format is None else data_format, rank)


def _rank_of(axes: Any) -> int:
    """Return how many of the axes of a layout or a shape are spatial; 2 where neither says it."""
    return len(axes) - 2 if isinstance(axes, (str, tuple)) and len(axes) in (3, 5) else 2


def _for_each_axis(spatial: Sequence[Any], other: Any, layout: str) -> list[Any]:
    """Return what the spatial axes have, and ``other`` for batch and channels, in the order of a layout."""
    return [other, other, *spatial] if layout[1] == "C" else [other, *spatial, other]


def _causal(padding: Any, filters: Any, dilations: Any) -> Any:
    """Return the padding of a convolution over one axis, "CAUSAL" in numbers: no node has the word."""
    if not isinstance(padding, str) or padding != "CAUSAL":
        return padding
    if filters is None or filters[0] is None:
        raise ArgumentError(f'padding "CAUSAL" needs filters of known size; they are {text(filters)}')
    (dilation,) = normalize_steps(dilations, "dilations", "NWC")
    return [((filters[0] - 1) * dilation, 0)]


def _transposed_sizes(
    input: Any, filters: Any, output_shape: Any, strides: Any, padding: Any, data_format: Any, dilations: Any
) -> Any:
    """Return the output_shape of a transposed convolution; raise for one that is illegal, or unknown."""
    shapes = static_shape(input), static_shape(filters)
    known = all(is_fully_defined(shape) for shape in shapes)
    given = output_shape is not None and not hasattr(output_shape, "op")
    if output_shape is None and not known:
        raise ArgumentError(
            "output_shape must be given where the shapes of input and filters are not fully known: ints, one "
            f"for each axis, or an int32 tensor that is fed; input is {shapes[0]}, filters {shapes[1]}"
        )
    if not known or (output_shape is not None and not given):
        return output_shape
    geometry = conv_transpose_geometry(*shapes, output_shape, strides, padding, data_format, dilations)
    return list(geometry.output_shape)


def _axis_last(value: Any, axis: int | None) -> list[int] | None:
    """Return the order of the axes that brings one of them last; None if it is the last one already."""
    shape, index = static_shape(value), -1 if axis is None else integer(axis, "axis")
    if index == -1:
        return None
    if shape is None:
        raise ArgumentError(f"axis must be -1 where the number of axes is not known; got {axis}")
    axes = list(range(len(shape)))
    if not -len(axes) <= index < len(axes):
        raise ArgumentError(f"axis must be from {-len(axes)} to {len(axes) - 1}; got {axis}")
    last = axes.pop(index)
    return None if last == len(axes) else [*axes, last]


def _along(axis: int | None, op: Any, value: Any, name: str | None) -> Any:
    """Apply an op of the last axis to another axis, between two Transpose nodes."""
    order = _axis_last(value, axis)
    if order is None:
        return op(value, name=name)
    result = op(gen_nn_ops.transpose(value, order), name=name)
    return gen_nn_ops.transpose(result, np.argsort(order).astype("int32"))


def _of_rows(wrapper: Any, logits: Any, labels: Any, labels_shape: Any, name: str | None) -> Any:
    """Apply a loss to the rows of logits with any number of axes; the op itself takes matrices."""
    shape = static_shape(logits)
    if shape is None or len(shape) == 2:
        return wrapper(logits, labels, name=name)[0]
    if not shape:
        raise ArgumentError("logits must have an axis of classes; got a scalar")
    if shape[-1] is None:
        raise ArgumentError(f"the number of classes of logits must be known; got shape {text(shape)}")
    rows = gen_nn_ops.reshape(logits, [-1, shape[-1]])
    flat = gen_nn_ops.reshape(labels, [-1] if labels_shape is None else [-1, shape[-1]])
    sizes = gen_nn_ops.slice(gen_nn_ops.shape(logits), [0], [len(shape) - 1])
    return gen_nn_ops.reshape(wrapper(rows, flat, name=name)[0], sizes)
