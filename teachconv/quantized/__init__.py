"""Convolutions and pools of quantized arrays, to the bit of the runtime that computes them.

A quantized array holds integers q that stand for the real numbers scale * (q - zero_point). A convolution
sums (x - x_zero_point) * (w - w_zero_point) exactly, adds the bias, multiplies by
x_scale * w_scale / y_scale, rounds, adds y_zero_point and saturates. How it multiplies and rounds differs
between runtimes; that is the *scheme*:

- ``"onnx"``: onnxruntime;
- ``"tflite"``: LiteRT's reference kernels, and CMSIS-NN by default; ``"tflite_single"``: CMSIS-NN with
  CMSIS_NN_USE_SINGLE_ROUNDING;
- ``"xnnpack"``: LiteRT by default; ``"tflite_builtin"``: LiteRT without XNNPACK;
- ``"torch"`` and ``"torch_qnnpack"``: PyTorch's engines fbgemm and qnnpack;
- ``"float"``: float64, rounded once, as fake quantization.

``teachconv.quantized.schemes`` has them, a few lines each, with their sources.
"""

from __future__ import annotations

import numpy as np

from ..support.argument_types import (
    AnyDataFormat,
    ArrayLike,
    Backend,
    CausalPaddingLike,
    DataFormat,
    DTypeLike,
    Ints,
    PaddingLike,
    SequenceFormat,
    ShapeLike,
    VolumeFormat,
)
from .calls import call_of, pool_call_of
from .explaining import QuantizedExplanation, explain

__all__ = [
    "QuantizedExplanation",
    "avg_pool",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "depthwise_conv2d",
    "explain",
    "max_pool",
]


def conv2d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: float | ArrayLike,
    w_zero_point: int | ArrayLike = 0,
    y_scale: float,
    y_zero_point: int,
    scheme: str = "onnx",
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    activation: str | None = None,
    dtype: DTypeLike | None = None,
    backend: Backend | None = None,
) -> np.ndarray:
    """Convolve quantized images with quantized filters.

    Args:
        x: [batch, in_rows, in_cols, in_channels] in ``data_format`` order; int8, uint8 or int16.
        w: [filter_rows, filter_cols, in_channels / groups, out_channels], int8 or uint8. The scheme's runtime
            decides which pairs of types are legal.
        bias: [out_channels]: int32 in units of x_scale * w_scale (int64 too for int16 ``x``); float32 real
            numbers for the schemes "torch", "torch_qnnpack" and "float".
        x_scale: the real number that one step of ``x`` stands for; kept in float32, as all scales.
        x_zero_point: the integer in ``x`` that stands for 0, with which ``x`` is padded.
        w_scale: that of ``w``: one for all, or [out_channels].
        w_zero_point: the integer in ``w`` that stands for 0: one for all, or [out_channels].
        y_scale: the scale of the result.
        y_zero_point: the integer of the result that stands for 0.
        scheme: whose rounding: one of the names above.
        strides, padding, data_format, dilations: as in `teachconv.conv2d`.
        activation: None, "relu" or "relu6": the result is clamped at y_zero_point, and 6 / y_scale above it.
        dtype: the dtype of the result: that of ``x``; with scheme "float" it may differ.
        backend: what sums: as in `teachconv.conv2d`. "reference" sums by plain loops over Python's integers.

    Returns:
        [batch, out_rows, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError: if a scale is not positive and finite, a zero point is outside its type, lengths do not
            fit the channels, a sum would overflow the runtime's accumulator, or the runtime refuses the
            arguments.
        TypeError: if the scheme's runtime does not take the dtypes.

    Source: ``teachconv.quantized.schemes`` names the file of each scheme.

    The schemes differ where a number is halfway between two integers, and near such places:

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int8([1, 3, -1, -3]).reshape(1, 1, 4, 1), np.int8([[[[1]]]])
    >>> facts = dict(x_scale=1.0, x_zero_point=0, w_scale=0.5, y_scale=1.0, y_zero_point=0)
    >>> for scheme in ("onnx", "tflite", "tflite_single"):
    ...     print(scheme, tc.quantized.conv2d(x, w, scheme=scheme, **facts).ravel().tolist())
    onnx [0, 2, 0, -2]
    tflite [1, 2, 0, -1]
    tflite_single [1, 2, 0, -1]
    """
    return call_of(
        "conv2d",
        x,
        w,
        bias,
        x_scale=x_scale,
        x_zero_point=x_zero_point,
        w_scale=w_scale,
        w_zero_point=w_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        scheme=scheme,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        activation=activation,
        dtype=dtype,
    ).run(backend)


def conv1d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: float | ArrayLike,
    w_zero_point: int | ArrayLike = 0,
    y_scale: float,
    y_zero_point: int,
    scheme: str = "onnx",
    strides: Ints = 1,
    padding: CausalPaddingLike = "VALID",
    data_format: SequenceFormat = "NWC",
    dilations: Ints | None = None,
    activation: str | None = None,
    dtype: DTypeLike | None = None,
    backend: Backend | None = None,
) -> np.ndarray:
    """Convolve quantized sequences: `conv2d` over one axis.

    Args:
        x: [batch, in_cols, in_channels] in ``data_format`` order.
        w: [filter_cols, in_channels / groups, out_channels].
        bias, x_scale, x_zero_point, w_scale, w_zero_point, y_scale, y_zero_point, scheme: as in `conv2d`.
        strides, padding, data_format, dilations: as in `teachconv.conv1d`.
        activation, dtype, backend: as in `conv2d`.

    Returns:
        [batch, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.uint8([10, 20, 30]).reshape(1, 3, 1), np.int8([1, 2]).reshape(2, 1, 1)
    >>> facts = dict(x_scale=1.0, x_zero_point=10, w_scale=1.0, y_scale=2.0, y_zero_point=5)
    >>> tc.quantized.conv1d(x, w, **facts).ravel().tolist()     # 0 + 10 * 2 and 10 + 20 * 2, halved
    [15, 30]
    """
    return call_of(
        "conv1d",
        x,
        w,
        bias,
        x_scale=x_scale,
        x_zero_point=x_zero_point,
        w_scale=w_scale,
        w_zero_point=w_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        scheme=scheme,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        activation=activation,
        dtype=dtype,
    ).run(backend)


def conv3d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: float | ArrayLike,
    w_zero_point: int | ArrayLike = 0,
    y_scale: float,
    y_zero_point: int,
    scheme: str = "onnx",
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: VolumeFormat = "NDHWC",
    dilations: Ints | None = None,
    activation: str | None = None,
    dtype: DTypeLike | None = None,
    backend: Backend | None = None,
) -> np.ndarray:
    """Convolve quantized volumes: `conv2d` over three axes.

    Args:
        x: [batch, in_depth, in_rows, in_cols, in_channels] in ``data_format`` order.
        w: [filter_depth, filter_rows, filter_cols, in_channels / groups, out_channels].
        bias, x_scale, x_zero_point, w_scale, w_zero_point, y_scale, y_zero_point, scheme: as in `conv2d`.
        strides, padding, data_format, dilations: as in `teachconv.conv3d`.
        activation, dtype, backend: as in `conv2d`.

    Returns:
        [batch, out_depth, out_rows, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: as `conv2d`; for the schemes of TFLite, which has this op for floats only.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.full((1, 2, 2, 2, 1), 7, "uint8"), np.ones((2, 2, 2, 1, 1), "int8")
    >>> facts = dict(x_scale=1.0, x_zero_point=2, w_scale=1.0, y_scale=4.0, y_zero_point=0)
    >>> tc.quantized.conv3d(x, w, **facts).ravel().tolist()     # 8 products of 5 * 1, divided by 4
    [10]
    """
    return call_of(
        "conv3d",
        x,
        w,
        bias,
        x_scale=x_scale,
        x_zero_point=x_zero_point,
        w_scale=w_scale,
        w_zero_point=w_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        scheme=scheme,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        activation=activation,
        dtype=dtype,
    ).run(backend)


def depthwise_conv2d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: float | ArrayLike,
    w_zero_point: int | ArrayLike = 0,
    y_scale: float,
    y_zero_point: int,
    scheme: str = "onnx",
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    activation: str | None = None,
    dtype: DTypeLike | None = None,
    backend: Backend | None = None,
) -> np.ndarray:
    """Convolve each channel of quantized images with its own filters.

    Args:
        x: [batch, in_rows, in_cols, in_channels] in ``data_format`` order.
        w: [filter_rows, filter_cols, in_channels, channel_multiplier].
        bias: as in `conv2d`, one number for each output channel: that of input channel c and filter m has the
            number c * channel_multiplier + m.
        w_scale, w_zero_point: one number for all, or one for each output channel in this order.
        x_scale, x_zero_point, y_scale, y_zero_point, scheme: as in `conv2d`.
        strides, padding, data_format, dilations: as in `teachconv.depthwise_conv2d`.
        activation, dtype, backend: as in `conv2d`.

    Returns:
        [batch, out_rows, out_cols, in_channels * channel_multiplier] in ``data_format`` order.

    Raises:
        ValueError, TypeError: as `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int8([[[[4, 6]]]]), np.int8([[[[1, 2], [3, 4]]]])
    >>> facts = dict(x_scale=1.0, x_zero_point=0, w_scale=[1.0, 1.0, 1.0, 0.5], y_scale=1.0, y_zero_point=0)
    >>> tc.quantized.depthwise_conv2d(x, w, **facts).ravel().tolist()
    [4, 8, 18, 12]
    """
    return call_of(
        "depthwise_conv2d",
        x,
        w,
        bias,
        x_scale=x_scale,
        x_zero_point=x_zero_point,
        w_scale=w_scale,
        w_zero_point=w_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        scheme=scheme,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        activation=activation,
        dtype=dtype,
    ).run(backend)


def conv2d_transpose(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: float | ArrayLike,
    w_zero_point: int | ArrayLike = 0,
    y_scale: float,
    y_zero_point: int,
    scheme: str = "onnx",
    output_shape: ShapeLike | None = None,
    output_padding: Ints | None = None,
    strides: Ints = 1,
    padding: PaddingLike = "SAME",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    activation: str | None = None,
    dtype: DTypeLike | None = None,
    backend: Backend | None = None,
) -> np.ndarray:
    """Apply the transpose of a convolution to quantized images.

    Args:
        x: [batch, in_rows, in_cols, in_channels] in ``data_format`` order.
        w: [filter_rows, filter_cols, out_channels / groups, in_channels].
        bias, x_scale, x_zero_point, w_scale, w_zero_point, y_scale, y_zero_point, scheme: as in `conv2d`.
        output_shape, output_padding: as in `teachconv.conv2d_transpose`.
        strides, padding, data_format, dilations: as in `teachconv.conv2d_transpose`.
        activation, dtype, backend: as in `conv2d`.

    Returns:
        An array of ``output_shape``.

    Raises:
        ValueError, TypeError: as `conv2d`; for scheme "onnx", because onnxruntime computes a quantized
            ConvTranspose in float32.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int8([5, 7]).reshape(1, 1, 2, 1), np.int8([1, 10, 1]).reshape(1, 3, 1, 1)
    >>> facts = dict(x_scale=1.0, x_zero_point=4, w_scale=1.0, y_scale=1.0, y_zero_point=-1)
    >>> tc.quantized.conv2d_transpose(x, w, scheme="tflite", strides=(1, 2), **facts).ravel().tolist()
    [0, 9, 3, 29]
    """
    return call_of(
        "conv2d_transpose",
        x,
        w,
        bias,
        x_scale=x_scale,
        x_zero_point=x_zero_point,
        w_scale=w_scale,
        w_zero_point=w_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        scheme=scheme,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        activation=activation,
        dtype=dtype,
        output_shape=output_shape,
        output_padding=output_padding,
    ).run(backend)


def max_pool(
    x: ArrayLike,
    ksize: Ints,
    strides: Ints,
    padding: PaddingLike,
    data_format: AnyDataFormat | None = None,
) -> np.ndarray:
    """Return the largest integer of each window of a quantized array, over one, two or three axes.

    A larger integer stands for a larger number: every runtime gives the same, and scales play no part.

    Args:
        x: ``[batch, *sizes, channels]`` in ``data_format`` order; int8, uint8 or int16.
        ksize, strides, padding, data_format: as in `teachconv.max_pool`. Padding never wins.

    Returns:
        ``[batch, *out_sizes, channels]`` in ``data_format`` order, with the dtype, scale and zero point of x.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: tensorflow/lite/kernels/internal/reference/integer_ops/pooling.h, MaxPool.

    >>> import numpy as np, teachconv as tc
    >>> tc.quantized.max_pool(np.int8([-5, -9, -7]).reshape(1, 3, 1), 2, 2, "SAME").ravel().tolist()
    [-5, -7]
    """
    pool, array = pool_call_of("max_pool", x, ksize, strides, padding, data_format)
    return pool(array)


def avg_pool(
    x: ArrayLike,
    ksize: Ints,
    strides: Ints,
    padding: PaddingLike,
    data_format: AnyDataFormat | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    y_scale: float | None = None,
    y_zero_point: int | None = None,
    scheme: str = "onnx",
    activation: str | None = None,
) -> np.ndarray:
    """Return the mean of each window of a quantized array, over one, two or three axes.

    Args:
        x: ``[batch, *sizes, channels]`` in ``data_format`` order, of a dtype that the scheme's runtime takes.
        ksize, strides, padding, data_format: as in `teachconv.avg_pool`. Padding is not counted, except by
            qnnpack, which divides by all cells of the window.
        x_scale, x_zero_point: as in `conv2d`.
        y_scale, y_zero_point: those of the result; None for those of ``x``, which only the schemes "onnx" and
            "float" can change.
        scheme, activation: as in `conv2d`.

    Returns:
        ``[batch, *out_sizes, channels]`` in ``data_format`` order, of the dtype of ``x``.

    Raises:
        ValueError, TypeError: as `conv2d`.

    Source: tensorflow/lite/kernels/internal/reference/integer_ops/pooling.h, AveragePool;
    onnxruntime/contrib_ops/cpu/quantization/qlinear_pool.cc;
    aten/src/ATen/native/quantized/cpu/kernels/QuantizedOpKernels.cpp.

    >>> import numpy as np, teachconv as tc
    >>> x = np.int8([1, 2, -1, -2]).reshape(1, 4, 1)                # means of 1.5 and -1.5
    >>> for scheme in ("onnx", "tflite"):
    ...     y = tc.quantized.avg_pool(x, 2, 2, "VALID", x_scale=1.0, x_zero_point=1, scheme=scheme)
    ...     print(scheme, y.ravel().tolist())
    onnx [2, -2]
    tflite [2, -2]
    """
    pool, array = pool_call_of(
        "avg_pool",
        x,
        ksize,
        strides,
        padding,
        data_format,
        x_scale=x_scale,
        x_zero_point=x_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        scheme=scheme,
        activation=activation,
    )
    return pool(array)
