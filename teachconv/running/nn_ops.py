"""The ops: their signatures, which are TensorFlow's, and what they mean.

TensorFlow: python/ops/nn_ops.py, whose functions end in a generated wrapper (gen_nn_ops.py). Each op
below hands its arguments to `dispatch.compute`; the table `kinds.OPS` says how the ops differ.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Never

import numpy as np

from ..core.arguments import as_array
from ..core.calls import Call, resolve
from ..core.geometry import ConvGeometry, ConvTransposeGeometry
from ..core.kinds import FORWARD, OPS, Op, sibling
from ..support.argument_types import (
    AnyDataFormat,
    ArrayLike,
    Backend,
    CausalPaddingLike,
    DataFormat,
    Ints,
    PaddingLike,
    Precision,
    SequenceFormat,
    ShapeLike,
    VolumeFormat,
)
from ..support.devices import override_of
from ..support.errors import (
    ArgumentError,
    ArgumentTypeError,
    brief,
    hide_unknown,
    is_one_of,
    plain,
    refuse_unknown,
)
from .dispatch import compute

# ---------------------------------------------------------------------------------------------
# Forward
# ---------------------------------------------------------------------------------------------


@hide_unknown
def conv2d(
    input: ArrayLike,
    filters: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve images with filters (a cross-correlation: the filter is not flipped), as tf.nn.conv2d.

    Args:
        input: [batch, in_rows, in_cols, in_channels], or that in "NCHW" order; float16, bfloat16,
            float32, float64, int32 or int64. Lists of ints become int32, lists of floats float64.
        filters: [filter_rows, filter_cols, in_channels / groups, out_channels], same dtype. Groups
            follow from the ratio of the channels.
        strides: an int, (rows, cols), or 4 ints in ``data_format`` order.
        padding: "SAME", "VALID", "SAME_LOWER", an int, (rows, cols), ((top, bottom), (left, right)),
            or 4 pairs in ``data_format`` order. Negative numbers crop.
        data_format: "NHWC" or "NCHW".
        dilations: the spacing of the filter's cells, given as ``strides`` are; 1 or None means none.
        name: accepted for compatibility with TensorFlow and ignored.
        bias: [out_channels], added to every cell.
        backend: "reference", "numpy", "scipy", "cython" or "cupy"; None for the default, which is cupy for
            arrays on a GPU. A module that implements the contract of `teachconv.backends` is accepted too.
        algorithm: one of the backend's algorithms; None or "auto" lets it choose.
        precision: None for the default; "strict" for algorithms that satisfy the element-wise error bound
            only; "fast" for less accurate ones as well; on a GPU, "tf32" for float32 factors rounded to 11
            bits.
        out: an array to write the result to.

    Returns:
        [batch, out_rows, out_cols, out_channels] in ``data_format`` order and the inputs' dtype, an array of
        the kind of ``input``: a NumPy array for NumPy and lists, a CuPy array, a PyTorch tensor, ...

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.
        BackendUnavailable: if the backend cannot run here.
        MemoryError: if the result does not fit into memory.

    Source: tensorflow/python/ops/nn_ops.py, conv2d_v2.

    >>> import teachconv as tc
    >>> image = [[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]]
    >>> kernel = [[1, 0, 1], [2, 1, 0], [0, 0, 1]]
    >>> import numpy as np
    >>> y = tc.conv2d(np.reshape(image, (1, 4, 4, 1)), np.reshape(kernel, (3, 3, 1, 1)))
    >>> y[0, :, :, 0].tolist()
    [[14, 6], [6, 12]]
    """
    if unknown or override_of(input, filters, bias) is not None:
        return _run(
            conv2d,
            input=input,
            filters=filters,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
            bias=bias,
            backend=backend,
            algorithm=algorithm,
            precision=precision,
            out=out,
            unknown=unknown,
        )
    arguments = strides, padding, data_format, dilations
    options = backend, algorithm, precision
    return compute(OPS["conv2d"], input, filters, arguments, options, bias, out)


@hide_unknown
def depthwise_conv2d(
    input: ArrayLike,
    filters: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve each channel with its own filters, as tf.nn.depthwise_conv2d.

    This is conv2d with groups = in_channels: output channel c * channel_multiplier + q is computed from input
    channel c and filter [:, :, c, q]. Unlike TensorFlow, it accepts strides together with dilations, and
    different strides for rows and columns.

    Args:
        input: [batch, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_rows, filter_cols, in_channels, channel_multiplier], same dtype.
        strides, padding, data_format, dilations, name, bias, backend, algorithm, precision, out: as
            in `conv2d`.

    Returns:
        [batch, out_rows, out_cols, in_channels * channel_multiplier] in ``data_format`` order.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(8, dtype="int32").reshape(1, 2, 2, 2)
    >>> tc.depthwise_conv2d(x, np.int32([[[[1, 10], [100, 1000]]]]))[0, 0, 1].tolist()
    [2, 20, 300, 3000]
    """
    if unknown or override_of(input, filters, bias) is not None:
        return _run(
            depthwise_conv2d,
            input=input,
            filters=filters,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
            bias=bias,
            backend=backend,
            algorithm=algorithm,
            precision=precision,
            out=out,
            unknown=unknown,
        )
    arguments = strides, padding, data_format, dilations
    options = backend, algorithm, precision
    return compute(OPS["depthwise_conv2d"], input, filters, arguments, options, bias, out)


@hide_unknown
def conv2d_transpose(
    input: ArrayLike,
    filters: ArrayLike,
    output_shape: ShapeLike | None = None,
    strides: Ints = 1,
    padding: PaddingLike = "SAME",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    output_padding: Ints | None = None,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply the transpose of a convolution, the input gradient of `conv2d`, as tf.nn.conv2d_transpose.

    Args:
        input: [batch, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_rows, filter_cols, out_channels / groups, in_channels]: the filters of the
            forward convolution.
        output_shape: 4 ints in ``data_format`` order. At stride s, s different output sizes correspond to
            the same input size; ``output_shape`` chooses one of them and thereby the alignment. The number
            of groups is its channels divided by ``filters.shape[2]``. Without it the size is in * s for
            SAME and (in - 1) * s + max(effective filter, s) for VALID, with one group.
        output_padding: the number of rows and columns to add at the end, for VALID or explicit padding,
            instead of ``output_shape``; less than max(stride, dilation).
        strides, padding, data_format, dilations, name, bias, backend, algorithm, precision, out: as
            in `conv2d`.

    Returns:
        An array of ``output_shape`` in the inputs' dtype.

    Raises:
        ValueError: if the convolution of ``output_shape`` does not give the input's size; the message
            lists the sizes that do.
        TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    Source: tensorflow/python/ops/nn_ops.py, conv2d_transpose_v2, which calls conv2d_backprop_input.

    >>> import numpy as np, teachconv as tc
    >>> x = np.int32([1, 2, 3]).reshape(1, 1, 3, 1)
    >>> w = np.int32([1, 10, 100]).reshape(1, 3, 1, 1)
    >>> tc.conv2d_transpose(x, w, strides=(1, 2)).ravel().tolist()
    [1, 10, 102, 20, 203, 30]
    >>> tc.conv2d_transpose(x, w, (1, 1, 5, 1), (1, 2)).ravel().tolist()    # full[1:6] of 7; above full[0:6]
    [10, 102, 20, 203, 30]
    """
    if unknown or override_of(input, filters, bias, output_shape) is not None:
        return _run(
            conv2d_transpose,
            input=input,
            filters=filters,
            output_shape=output_shape,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
            output_padding=output_padding,
            bias=bias,
            backend=backend,
            algorithm=algorithm,
            precision=precision,
            out=out,
            unknown=unknown,
        )
    arguments = strides, padding, data_format, dilations, output_shape, output_padding
    options = backend, algorithm, precision
    return compute(OPS["conv2d_transpose"], input, filters, arguments, options, bias, out)


# ---------------------------------------------------------------------------------------------
# Gradients
# ---------------------------------------------------------------------------------------------


@hide_unknown
def conv2d_backprop_input(
    input_sizes: ShapeLike,
    filters: ArrayLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `conv2d` with respect to its input, as tf.raw_ops.Conv2DBackpropInput.

    Args:
        input_sizes: the shape of conv2d's input: 4 ints in ``data_format`` order; -1 for the batch means
            that of ``out_backprop``.
        filters: as in `conv2d`.
        out_backprop: the gradient with respect to conv2d's output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in `conv2d`.

    Returns:
        An array of shape ``input_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> dy = np.ones((1, 2, 2, 1), "int32")
    >>> tc.conv2d_backprop_input((1, 3, 3, 1), np.ones((2, 2, 1, 1), "int32"), dy)[0, :, :, 0].tolist()
    [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
    """
    if unknown or override_of(filters, out_backprop, input_sizes) is not None:
        return _run(
            conv2d_backprop_input,
            input_sizes=input_sizes,
            filters=filters,
            out_backprop=out_backprop,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
            backend=backend,
            algorithm=algorithm,
            precision=precision,
            out=out,
            unknown=unknown,
        )
    arguments = strides, padding, data_format, dilations, input_sizes
    options = backend, algorithm, precision
    return compute(OPS["conv2d_backprop_input"], out_backprop, filters, arguments, options, None, out)


@hide_unknown
def depthwise_conv2d_backprop_input(
    input_sizes: ShapeLike,
    filters: ArrayLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `depthwise_conv2d` with respect to its input.

    Args:
        input_sizes: the shape of the input: 4 ints in ``data_format`` order; -1 for the batch means that of
            ``out_backprop``.
        filters: [filter_rows, filter_cols, in_channels, channel_multiplier].
        out_backprop: the gradient with respect to the output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in `conv2d`.

    Returns:
        An array of shape ``input_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> dy = np.ones((1, 1, 1, 4), "int32")
    >>> w = np.int32([1, 2, 3, 4]).reshape(1, 1, 2, 2)
    >>> tc.depthwise_conv2d_backprop_input((1, 1, 1, 2), w, dy).ravel().tolist()
    [3, 7]
    """
    if unknown or override_of(filters, out_backprop, input_sizes) is not None:
        return _run(
            depthwise_conv2d_backprop_input,
            input_sizes=input_sizes,
            filters=filters,
            out_backprop=out_backprop,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
            backend=backend,
            algorithm=algorithm,
            precision=precision,
            out=out,
            unknown=unknown,
        )
    arguments = strides, padding, data_format, dilations, input_sizes
    options = backend, algorithm, precision
    return compute(
        OPS["depthwise_conv2d_backprop_input"], out_backprop, filters, arguments, options, None, out
    )


@hide_unknown
def conv2d_backprop_filter(
    input: ArrayLike,
    filter_sizes: ShapeLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `conv2d` with respect to its filters, as tf.raw_ops.Conv2DBackpropFilter.

    Args:
        input: as in `conv2d`.
        filter_sizes: the shape of the filters: [filter_rows, filter_cols, in_channels / groups,
            out_channels].
        out_backprop: the gradient with respect to conv2d's output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in `conv2d`.

    Returns:
        An array of shape ``filter_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(9, dtype="int32").reshape(1, 3, 3, 1)
    >>> tc.conv2d_backprop_filter(x, (2, 2, 1, 1), np.ones((1, 2, 2, 1), "int32"))[:, :, 0, 0].tolist()
    [[8, 12], [20, 24]]
    """
    if unknown or override_of(input, out_backprop, filter_sizes) is not None:
        return _run(
            conv2d_backprop_filter,
            input=input,
            filter_sizes=filter_sizes,
            out_backprop=out_backprop,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
            backend=backend,
            algorithm=algorithm,
            precision=precision,
            out=out,
            unknown=unknown,
        )
    arguments = strides, padding, data_format, dilations, filter_sizes
    options = backend, algorithm, precision
    return compute(OPS["conv2d_backprop_filter"], input, out_backprop, arguments, options, None, out)


@hide_unknown
def depthwise_conv2d_backprop_filter(
    input: ArrayLike,
    filter_sizes: ShapeLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `depthwise_conv2d` with respect to its filters.

    Args:
        input: as in `depthwise_conv2d`.
        filter_sizes: the shape of the filters: [filter_rows, filter_cols, in_channels, channel_multiplier].
        out_backprop: the gradient with respect to the output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in `conv2d`.

    Returns:
        An array of shape ``filter_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x = np.int32([1, 2]).reshape(1, 1, 1, 2)
    >>> dy = np.int32([1, 10, 100, 1000]).reshape(1, 1, 1, 4)
    >>> tc.depthwise_conv2d_backprop_filter(x, (1, 1, 2, 2), dy).ravel().tolist()
    [1, 10, 200, 2000]
    """
    if unknown or override_of(input, out_backprop, filter_sizes) is not None:
        return _run(
            depthwise_conv2d_backprop_filter,
            input=input,
            filter_sizes=filter_sizes,
            out_backprop=out_backprop,
            strides=strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=name,
            backend=backend,
            algorithm=algorithm,
            precision=precision,
            out=out,
            unknown=unknown,
        )
    arguments = strides, padding, data_format, dilations, filter_sizes
    options = backend, algorithm, precision
    return compute(
        OPS["depthwise_conv2d_backprop_filter"], input, out_backprop, arguments, options, None, out
    )


# ---------------------------------------------------------------------------------------------
# Over one axis, and over three
# ---------------------------------------------------------------------------------------------


@hide_unknown
def conv1d(
    input: ArrayLike,
    filters: ArrayLike,
    strides: Ints = 1,
    padding: CausalPaddingLike = "VALID",
    data_format: SequenceFormat = "NWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve sequences such as audio or text with filters, over one axis, as tf.nn.conv1d.

    Args:
        input: [batch, in_size, in_channels], or that in "NCW" order.
        filters: [filter_size, in_channels / groups, out_channels], same dtype.
            Groups follow from the ratio of the channels: one for each channel is a depthwise convolution.
        strides: an int, or 3 ints in ``data_format`` order.
        padding: "SAME", "VALID", "SAME_LOWER", an int for both sides, ((before, after),), or 3 pairs in
            ``data_format`` order. Negative numbers crop. Also "CAUSAL": (k - 1)·d zeros before the sequence
            and none after it, at every stride, so that no output reads a later input.
        data_format: "NWC" or "NCW".
        dilations: the spacing of the filter's cells, given as ``strides`` are; 1 or None means none.
        name, bias, backend, algorithm, precision, out: as in `conv2d`; not ``winograd2``.

    Returns:
        [batch, out_size, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    Source: tensorflow/python/ops/nn_ops.py, conv1d_v2, which has no CAUSAL and calls its argument stride.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([1, 2, 4, 8]).reshape(1, 4, 1), np.int32([1, 10, 100]).reshape(3, 1, 1)
    >>> tc.conv1d(x, w, padding="CAUSAL").ravel().tolist()   # the last tap, 100, meets the present
    [100, 210, 421, 842]
    """
    return _run(
        conv1d,
        input=input,
        filters=filters,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        bias=bias,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def conv1d_transpose(
    input: ArrayLike,
    filters: ArrayLike,
    output_shape: ShapeLike | None = None,
    strides: Ints = 1,
    padding: PaddingLike = "SAME",
    data_format: SequenceFormat = "NWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    output_padding: Ints | None = None,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply the transpose of `conv1d`, its input gradient, as tf.nn.conv1d_transpose.

    Args:
        input: [batch, in_size, in_channels] in ``data_format`` order.
        filters: [filter_size, out_channels / groups, in_channels]: the filters of the
            forward convolution.
        output_shape, output_padding: as in `conv2d_transpose`, for one axis.
        strides, padding, data_format, dilations, name, bias, backend, algorithm, precision, out: as in
            `conv1d`; instead of CAUSAL give the crop ((0, ek - s),), where ek is (k - 1)·d + 1.

    Returns:
        An array of ``output_shape`` in the inputs' dtype.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d_transpose`.

    Source: tensorflow/python/ops/nn_ops.py, conv1d_transpose.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([1, 2, 3]).reshape(1, 3, 1), np.int32([1, 10, 100]).reshape(3, 1, 1)
    >>> tc.conv1d_transpose(x, w, strides=2).ravel().tolist()
    [1, 10, 102, 20, 203, 30]
    """
    return _run(
        conv1d_transpose,
        input=input,
        filters=filters,
        output_shape=output_shape,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        output_padding=output_padding,
        bias=bias,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def conv1d_backprop_input(
    input_sizes: ShapeLike,
    filters: ArrayLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: CausalPaddingLike = "VALID",
    data_format: SequenceFormat = "NWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `conv1d` with respect to its input.

    Args:
        input_sizes: the shape of conv1d's input: 3 ints in ``data_format`` order; -1 for the batch means
            that of ``out_backprop``.
        filters: as in `conv1d`.
        out_backprop: the gradient with respect to conv1d's output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in `conv1d`.

    Returns:
        An array of shape ``input_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv1d`.

    >>> import numpy as np, teachconv as tc
    >>> dy, w = np.ones((1, 2, 1), "int32"), np.int32([1, 10]).reshape(2, 1, 1)
    >>> tc.conv1d_backprop_input((1, 3, 1), w, dy).ravel().tolist()
    [1, 11, 10]
    """
    return _run(
        conv1d_backprop_input,
        input_sizes=input_sizes,
        filters=filters,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def conv1d_backprop_filter(
    input: ArrayLike,
    filter_sizes: ShapeLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: CausalPaddingLike = "VALID",
    data_format: SequenceFormat = "NWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `conv1d` with respect to its filters.

    Args:
        input: as in `conv1d`.
        filter_sizes: the shape of the filters: [filter_size, in_channels / groups,
            out_channels].
        out_backprop: the gradient with respect to conv1d's output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in `conv1d`.

    Returns:
        An array of shape ``filter_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv1d`.

    >>> import numpy as np, teachconv as tc
    >>> x, dy = np.int32([1, 2, 4]).reshape(1, 3, 1), np.int32([1, 10]).reshape(1, 2, 1)
    >>> tc.conv1d_backprop_filter(x, (2, 1, 1), dy).ravel().tolist()
    [21, 42]
    """
    return _run(
        conv1d_backprop_filter,
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def conv3d(
    input: ArrayLike,
    filters: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: VolumeFormat = "NDHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve volumes or videos with filters, over three axes, as tf.nn.conv3d.

    Args:
        input: [batch, in_depth, in_rows, in_cols, in_channels], or that in "NCDHW" order.
        filters: [filter_depth, filter_rows, filter_cols, in_channels / groups, out_channels], same dtype.
            Groups follow from the ratio of the channels: one for each channel is a depthwise convolution.
        strides: an int, (depth, rows, cols), or 5 ints in ``data_format`` order.
        padding: "SAME", "VALID", "SAME_LOWER", an int, (depth, rows, cols), ((front, back), (top, bottom),
            (left, right)), or 5 pairs in ``data_format`` order. Negative numbers crop.
        data_format: "NDHWC" or "NCDHW".
        dilations: the spacing of the filter's cells, given as ``strides`` are; 1 or None means none.
        name, bias, backend, algorithm, precision, out: as in `conv2d`.

    Returns:
        [batch, out_depth, out_rows, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    Source: tensorflow/python/ops/nn_ops.py, conv3d_v2.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(8, dtype="int32").reshape(1, 2, 2, 2, 1)
    >>> tc.conv3d(x, np.ones((2, 2, 2, 1, 1), "int32"), padding="SAME").ravel().tolist()
    [28, 16, 18, 10, 22, 12, 13, 7]
    """
    return _run(
        conv3d,
        input=input,
        filters=filters,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        bias=bias,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def conv3d_transpose(
    input: ArrayLike,
    filters: ArrayLike,
    output_shape: ShapeLike | None = None,
    strides: Ints = 1,
    padding: PaddingLike = "SAME",
    data_format: VolumeFormat = "NDHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    output_padding: Ints | None = None,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply the transpose of `conv3d`, its input gradient, as tf.nn.conv3d_transpose.

    Args:
        input: [batch, in_depth, in_rows, in_cols, in_channels] in ``data_format`` order.
        filters: [filter_depth, filter_rows, filter_cols, out_channels / groups, in_channels]: those of the
            forward convolution.
        output_shape, output_padding: as in `conv2d_transpose`, for three axes.
        strides, padding, data_format, dilations, name, bias, backend, algorithm, precision, out: as in
            `conv3d`.

    Returns:
        An array of ``output_shape`` in the inputs' dtype.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d_transpose`.

    Source: tensorflow/python/ops/nn_ops.py, conv3d_transpose_v2.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([1, 2]).reshape(1, 2, 1, 1, 1), np.int32([1, 10, 100]).reshape(3, 1, 1, 1, 1)
    >>> tc.conv3d_transpose(x, w, strides=(2, 1, 1)).ravel().tolist()
    [1, 10, 102, 20]
    """
    return _run(
        conv3d_transpose,
        input=input,
        filters=filters,
        output_shape=output_shape,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        output_padding=output_padding,
        bias=bias,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def conv3d_backprop_input(
    input_sizes: ShapeLike,
    filters: ArrayLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: VolumeFormat = "NDHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `conv3d` with respect to its input.

    Args:
        input_sizes: the shape of conv3d's input: 5 ints in ``data_format`` order; -1 for the batch means
            that of ``out_backprop``.
        filters: as in `conv3d`.
        out_backprop: the gradient with respect to conv3d's output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in `conv3d`.

    Returns:
        An array of shape ``input_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv3d`.

    >>> import numpy as np, teachconv as tc
    >>> dy, w = np.ones((1, 2, 1, 1, 1), "int32"), np.int32([1, 10]).reshape(2, 1, 1, 1, 1)
    >>> tc.conv3d_backprop_input((1, 3, 1, 1, 1), w, dy).ravel().tolist()
    [1, 11, 10]
    """
    return _run(
        conv3d_backprop_input,
        input_sizes=input_sizes,
        filters=filters,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def conv3d_backprop_filter(
    input: ArrayLike,
    filter_sizes: ShapeLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: VolumeFormat = "NDHWC",
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `conv3d` with respect to its filters.

    Args:
        input: as in `conv3d`.
        filter_sizes: the shape of the filters: [filter_depth, filter_rows, filter_cols, in_channels / groups,
            out_channels].
        out_backprop: the gradient with respect to conv3d's output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in `conv3d`.

    Returns:
        An array of shape ``filter_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv3d`.

    >>> import numpy as np, teachconv as tc
    >>> x, dy = np.int32([1, 2, 4]).reshape(1, 3, 1, 1, 1), np.int32([1, 10]).reshape(1, 2, 1, 1, 1)
    >>> tc.conv3d_backprop_filter(x, (2, 1, 1, 1, 1), dy).ravel().tolist()
    [21, 42]
    """
    return _run(
        conv3d_backprop_filter,
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


# ---------------------------------------------------------------------------------------------
# Over any number of axes
# ---------------------------------------------------------------------------------------------


@hide_unknown
def convolution(
    input: ArrayLike,
    filters: ArrayLike,
    strides: Ints = 1,
    padding: CausalPaddingLike = "VALID",
    data_format: AnyDataFormat | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve over one, two or three axes, as many as the arrays have, as tf.nn.convolution.

    Args:
        input: ``[batch, *sizes, in_channels]``: the sizes are (cols,), (rows, cols) or (depth, rows, cols).
        filters: ``[*taps, in_channels / groups, out_channels]``, same dtype.
        strides: an int, one for each axis, or one for each letter of ``data_format``.
        padding: "SAME", "VALID", "SAME_LOWER", an int, one for each axis, or a pair (before, after) for each;
            also "CAUSAL" for one axis, as in `conv1d`.
        data_format: "NWC", "NHWC" or "NDHWC", which None stands for, or "NCW", "NCHW" or "NCDHW".
        dilations: as strides; 1 or None means none.
        name, bias, backend, algorithm, precision, out: as in `conv2d`.

    Returns:
        ``[batch, *out_sizes, out_channels]`` in ``data_format`` order.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    Source: tensorflow/python/ops/nn_ops.py, convolution_v2.

    >>> import numpy as np, teachconv as tc
    >>> signal, kernel = np.int32([1, 2, 4, 8]).reshape(1, 4, 1), np.int32([1, 10, 100]).reshape(3, 1, 1)
    >>> tc.convolution(signal, kernel, padding="SAME").ravel().tolist()
    [210, 421, 842, 84]
    """
    return _run(
        convolution,
        input=input,
        filters=filters,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        bias=bias,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def conv_transpose(
    input: ArrayLike,
    filters: ArrayLike,
    output_shape: ShapeLike | None = None,
    strides: Ints = 1,
    padding: PaddingLike = "SAME",
    data_format: AnyDataFormat | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    output_padding: Ints | None = None,
    bias: ArrayLike | None = None,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply the transpose of a convolution over one, two or three axes, as tf.nn.conv_transpose.

    Args:
        input: ``[batch, *sizes, in_channels]`` in ``data_format`` order.
        filters: ``[*taps, out_channels / groups, in_channels]``: the filters of the forward convolution.
        output_shape, output_padding: as in `conv2d_transpose`, with one size for each axis.
        strides, padding, data_format, dilations, name, bias, backend, algorithm, precision, out: as in
            `convolution`.

    Returns:
        An array of ``output_shape``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d_transpose`.

    Source: tensorflow/python/ops/nn_ops.py, conv_transpose.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([1, 2, 3]).reshape(1, 3, 1), np.int32([1, 10, 100]).reshape(3, 1, 1)
    >>> tc.conv_transpose(x, w, strides=2).ravel().tolist()
    [1, 10, 102, 20, 203, 30]
    """
    return _run(
        conv_transpose,
        input=input,
        filters=filters,
        output_shape=output_shape,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        output_padding=output_padding,
        bias=bias,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def convolution_backprop_input(
    input_sizes: ShapeLike,
    filters: ArrayLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: CausalPaddingLike = "VALID",
    data_format: AnyDataFormat | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `convolution` with respect to its input.

    Args:
        input_sizes: the shape of the input in ``data_format`` order; -1 for the batch means that of
            ``out_backprop``.
        filters: as in `convolution`.
        out_backprop: the gradient with respect to the output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in
            `convolution`.

    Returns:
        An array of shape ``input_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> dy, w = np.ones((1, 2, 1), "int32"), np.int32([1, 10]).reshape(2, 1, 1)
    >>> tc.convolution_backprop_input((1, 3, 1), w, dy).ravel().tolist()
    [1, 11, 10]
    """
    return _run(
        convolution_backprop_input,
        input_sizes=input_sizes,
        filters=filters,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


@hide_unknown
def convolution_backprop_filter(
    input: ArrayLike,
    filter_sizes: ShapeLike,
    out_backprop: ArrayLike,
    strides: Ints = 1,
    padding: CausalPaddingLike = "VALID",
    data_format: AnyDataFormat | None = None,
    dilations: Ints | None = None,
    name: str | None = None,
    *,
    backend: Backend | None = None,
    algorithm: str | None = None,
    precision: Precision | None = None,
    out: np.ndarray | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `convolution` with respect to its filters.

    Args:
        input: as in `convolution`.
        filter_sizes: the shape of the filters, ``[*taps, in_channels / groups, out_channels]``.
        out_backprop: the gradient with respect to the output, of the output's shape.
        strides, padding, data_format, dilations, name, backend, algorithm, precision, out: as in
            `convolution`.

    Returns:
        An array of shape ``filter_sizes``.

    Raises:
        ValueError, TypeError, BackendUnavailable, MemoryError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x, dy = np.int32([1, 2, 4]).reshape(1, 3, 1), np.int32([1, 10]).reshape(1, 2, 1)
    >>> tc.convolution_backprop_filter(x, (2, 1, 1), dy).ravel().tolist()
    [21, 42]
    """
    return _run(
        convolution_backprop_filter,
        input=input,
        filter_sizes=filter_sizes,
        out_backprop=out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
        backend=backend,
        algorithm=algorithm,
        precision=precision,
        out=out,
        unknown=unknown,
    )


def _run(function: Callable[..., Any], *, unknown: Mapping[str, Any], **arguments: Any) -> np.ndarray:
    """Run a call of an op with its arguments by name.

    The two-dimensional ops give plain calls to `compute` themselves: a small one then takes half the time.
    """
    op = OPS[function.__name__]
    if unknown:
        refuse_unknown(function, unknown)
    arrays = (arguments.get(name) for name in (*op.arrays, op.sizes))
    if (override := override_of(*arrays)) is not None:
        return override(function, arguments)
    first, second = arguments[op.words[op.kind.first]], arguments[op.words[op.kind.second]]
    words = ("strides", "padding", "data_format", "dilations", op.sizes, "output_padding")
    of_law = tuple(arguments[word] for word in words if word in arguments)
    options = arguments["backend"], arguments["algorithm"], arguments["precision"]
    return compute(op, first, second, of_law, options, arguments.get("bias"), arguments["out"])


# ---------------------------------------------------------------------------------------------
# The convolution as a matrix
# ---------------------------------------------------------------------------------------------


def conv_matrix(filters: ArrayLike, geometry: ConvGeometry | ConvTransposeGeometry) -> Any:
    """Return the sparse matrix C of the convolution of one image: vec(y) = C vec(x), NHWC in C order.

    Args:
        filters: an array of the geometry's ``filters_shape``.
        geometry: a geometry from `conv_geometry` or `conv_transpose_geometry`, of any rank.

    Returns:
        A ``scipy.sparse.csr_array`` of shape [out_rows * out_cols * out_channels, in_rows * in_cols *
        in_channels], for another rank likewise; for a transposed geometry, the transpose of the forward
        matrix.

    Raises:
        ValueError, TypeError: if the filters have another shape, or ``geometry`` is not a geometry.

    >>> import numpy as np, teachconv as tc
    >>> w = np.float32([1, 2]).reshape(1, 2, 1, 1)
    >>> tc.conv_matrix(w, tc.conv2d_geometry((1, 1, 3, 1), w.shape)).toarray()
    array([[1., 2., 0.],
           [0., 1., 2.]], dtype=float32)
    """
    if not isinstance(geometry, (ConvGeometry, ConvTransposeGeometry)):
        raise ArgumentTypeError(
            f"geometry must come from conv_geometry or conv_transpose_geometry; got {brief(geometry)}"
        )
    w = as_array(filters, "filters", geometry.rank + 2)
    if w.shape != geometry.filters_shape:
        raise ArgumentError(f"filters must have shape {list(geometry.filters_shape)}; got {list(w.shape)}")
    from ..backends import scipy_backend

    transposed = isinstance(geometry, ConvTransposeGeometry)
    forward = geometry.forward if isinstance(geometry, ConvTransposeGeometry) else geometry
    forward = replace(forward, data_format="")  # channels last
    if w.dtype.name in ("float16", "bfloat16"):
        w = w.astype("float32")
    matrix = scipy_backend.conv_matrix(w, forward)
    return matrix.T.tocsr() if transposed else matrix


# ---------------------------------------------------------------------------------------------
# The call that an op would run, for tools that inspect calls
# ---------------------------------------------------------------------------------------------


def call_of(
    op: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tool: Callable[..., Any] | None = None,
) -> tuple[Call, dict[str, Any]]:
    """Return the `Call` that ``op(*args, **kwargs)`` would run, and its options.

    Args:
        op: an op of teachconv.
        args: its positional arguments.
        kwargs: its keyword arguments.
        tool: the function that was given them, whose own keyword a misspelt one may stand for.

    Returns:
        The call, and the options backend, algorithm, precision and out by name.

    Raises:
        TypeError: if ``op`` is not an op of teachconv or the arguments do not fit its signature.
        ValueError: if the arguments are invalid.
    """
    if not callable(op):
        raise ArgumentTypeError(
            "give the op first, then its arguments, such as (teachconv.conv2d, x, w); "
            f"got a {type(op).__name__} as the op"
        )
    if not is_one_of(op, RESOLVERS):
        raise ArgumentTypeError(f"op must be one of {listed(RESOLVERS)}; got {brief(op)}")
    arguments = with_defaults(op, args, kwargs, tool)
    options = {key: arguments.pop(key) for key in OPTIONS if key in arguments}
    arguments.pop("name", None)
    return RESOLVERS[op](**arguments), options


OPTIONS = ("backend", "algorithm", "precision", "out")


def bind(
    op: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    tool: Callable[..., Any] | None = None,
) -> inspect.BoundArguments:
    """Return the arguments of a call by name; raise ``TypeError`` where the op has no such argument."""
    signature = inspect.signature(op)
    unknown = [name for name in kwargs if name not in signature.parameters]
    if unknown:
        refuse_unknown(op, unknown, tool)
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentTypeError(f"{op.__name__}: {plain(error)}") from None


def with_defaults(
    op: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    tool: Callable[..., Any] | None = None,
) -> dict[str, Any]:
    """Return all arguments of a call by name, as `bind`, with defaults for those that are not given."""
    bound = bind(op, args, dict(kwargs), tool)
    bound.apply_defaults()
    return dict(bound.arguments)


def without_options(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without the options: backend, algorithm, precision and out."""
    return {name: value for name, value in kwargs.items() if name not in OPTIONS}


def refuse(options: dict[str, Any], function: str, **instead: str) -> None:
    """Raise ``TypeError`` for an option that a function cannot honour; ``instead`` says what to do."""
    for name, help_ in instead.items():
        if options.get(name) is not None:
            raise ArgumentTypeError(f"{function} takes no {name}: {help_}")


def name_of(op: Callable[..., Any]) -> str:
    """Return the public name of an op, such as teachconv.conv2d or teachconv.dialects.torch.conv2d."""
    module = getattr(op, "__module__", "")
    place = module if module.startswith(("teachconv.dialects.", "teachconv.quantized")) else "teachconv"
    return f"{place}.{getattr(op, '__name__', brief(op))}"


def listed(functions: Iterable[Callable[..., Any]]) -> str:
    """Return the names of functions for a message, without the packages that all of them are in."""
    names = (name_of(function).removeprefix("teachconv.") for function in functions)
    several = [name.removeprefix("dialects.") for name in names]
    any_rank = ("convolution", "conv_t")
    most = [name for name in several if not ("1d" in name or "3d" in name or name.startswith(any_rank))]
    more = "; conv1d, conv3d and convolution as conv2d" if len(most) < len(several) else ""
    return ", ".join(most) + more


def _resolver_of(op: Op) -> Callable[..., Call]:
    """Return the function of an op's arguments, by their names, that resolves its call."""

    def resolved(**arguments: Any) -> Call:
        first, second = (arguments.pop(op.words[role]) for role in (op.kind.first, op.kind.second))
        sizes, bias = arguments.pop(op.sizes, None), arguments.pop("bias", None)
        return resolve(op, first, second, bias, sizes=sizes, **arguments)

    return resolved


# each entry of the table of ops, and its function
FUNCTIONS: dict[Op, Callable[..., Any]] = {
    op: globals()[op.name] for op in sorted(OPS.values(), key=lambda op: op.is_gradient)
}
# each function, and what resolves its arguments to a call: they are given by name; dialects enter theirs
RESOLVERS: dict[Callable[..., Any], Callable[..., Call]] = {
    function: _resolver_of(op) for op, function in FUNCTIONS.items()
}

# gradient op -> the op that it is the gradient of
FORWARD_OF: dict[Callable[..., Any], Callable[..., Any]] = {
    function: FUNCTIONS[sibling(op, FORWARD)] for op, function in FUNCTIONS.items() if op.is_gradient
}
