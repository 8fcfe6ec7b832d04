"""Keras 3's keras.ops: conv, conv_transpose and pools of one to three axes, pad, batch_normalization, resize.

Activations are channels_last (NHWC) or channels_first (NCHW). In both cases the kernel is [rows, cols,
in/groups, out], and that of a transposed convolution [rows, cols, out, in]. Keras computes the size of a
transposed result by a formula of its own, in which output_padding *replaces* the default size: ``None`` and 0
are not the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Never

import numpy as np

from ..core.arguments import Shape, channels_last
from ..core.geometry import ConvGeometry, forward_geometry, one_each
from ..core.kinds import AXES, layout_of
from ..core.law import AxisGeometry, cropped_axis, split_padding
from ..support import tables
from ..support.argument_types import ArrayLike, Backend, Int, Ints, KerasPadding, Pairs
from ..support.errors import ArgumentError, ArgumentTypeError, brief, check_word, is_one_of, suggestion
from ..windows.calls import run_window, window_function
from ..windows.normalization import BatchNormCall, finite, norm_call
from ..windows.padding import PadCall, pad_call, pairs
from ..windows.pooling import AdaptiveCall, PoolCall, adaptive_call, pool_call
from ..windows.resizing import ResizeCall, check_defined, resize_call
from .calls import (
    CONV,
    CONV_TRANSPOSE,
    ConvCall,
    Operand,
    dialect_function,
    full_size,
    ints,
    rank_of,
    run,
)

__all__ = [
    *("adaptive_average_pool", "adaptive_max_pool", "average_pool", "batch_normalization", "conv"),
    *("conv_transpose", "max_pool", "pad", "resize"),
]

_RANKS = (3, 4, 5)
_INPUTS = Operand("inputs", "input", "[batch, *sizes, channels], or that in data_format order", _RANKS)
_KERNEL = Operand("kernel", "filters", "[*sizes, in / groups, out]", _RANKS)
_TRANSPOSED = Operand("kernel", "filters", "[*sizes, out, in]", _RANKS)

_FORMATS = (None, "channels_last", "channels_first")


def _words(padding: Any, data_format: Any, rank: int) -> tuple[str, str]:
    """Return the padding in upper case, and the layout."""
    if not isinstance(padding, str):
        raise ArgumentTypeError(f"padding must be 'valid' or 'same'; got {brief(padding)}")
    if padding.lower() not in ("valid", "same"):
        causal = " ('causal' is a word of the layer Conv1D, which pads first)"
        near = causal if padding.lower() == "causal" else suggestion(padding, ("valid", "same"))
        raise ArgumentError(f"padding must be 'valid' or 'same'; got {brief(padding)}{near}")
    if not (data_format is None or isinstance(data_format, str)) or data_format not in _FORMATS:
        raise ArgumentError(
            f"data_format must be 'channels_last', 'channels_first' or None; got {brief(data_format)}"
            f"{suggestion(data_format, filter(None, _FORMATS))}"
        )
    last = layout_of("input", rank)
    return padding.upper(), f"NC{last[1:-1]}" if data_format == "channels_first" else last


def _conv(
    inputs: Shape, kernel: Shape, strides: Any, padding: Any, data_format: Any, dilation_rate: Any
) -> ConvCall:
    """Resolve a call of conv."""
    rank = rank_of(inputs, kernel, "kernel")
    mode, layout = _words(padding, data_format, rank)
    shape = channels_last(inputs, layout)
    channels = shape[rank + 1]
    *_, depth, outs = kernel
    if not depth or channels % depth:
        raise ArgumentError(
            f"kernel.shape[{rank}] must be the inputs' {tables.count(channels, 'channel')}, or divide them "
            f"(groups); got {depth}"
        )
    if outs % max(1, channels // depth):
        raise ArgumentError(
            f"kernel.shape[{rank + 1}] must be a multiple of the {tables.count(channels // depth, 'group')} "
            f"(inputs' channels {channels} / kernel.shape[{rank}] {depth}); got {outs}"
        )
    geometry = forward_geometry(
        shape,
        kernel,
        ints(strides, "strides", rank),
        (mode, ((0, 0),) * rank),
        ints(dilation_rate, "dilation_rate", rank),
        "kernel",
    )
    letters = layout_of("filters", rank)
    steps = [f"filter: as TensorFlow's, {letters}"]
    if max(geometry.strides) > 1 and max(geometry.dilations) > 1:
        steps.append("strides with dilation_rate: Keras' TensorFlow backend refuses this, the others run it")
    return ConvCall("keras.conv", CONV[rank], geometry, layout, letters, layout, steps=tuple(steps))


def _conv_transpose(
    inputs: Shape,
    kernel: Shape,
    strides: Any,
    padding: Any,
    output_padding: Any,
    data_format: Any,
    dilation_rate: Any,
) -> ConvCall:
    """Resolve a call of conv_transpose."""
    rank = rank_of(inputs, kernel, "kernel")
    mode, layout = _words(padding, data_format, rank)
    n, *in_sizes, channels = channels_last(inputs, layout)
    *sizes, outs, depth = kernel
    if depth != channels:
        raise ArgumentError(
            f"kernel must be [{', '.join(AXES[-rank:])}, out, in] with the inputs' "
            f"{tables.count(channels, 'channel')} last; got {list(kernel)}"
        )
    if min(sizes) < 1:
        raise ArgumentError(f"kernel must have at least {one_each(rank)}; got {list(kernel)}")
    steps, dilations = ints(strides, "strides", rank), ints(dilation_rate, "dilation_rate", rank)
    extra: tuple[int | None, ...] = (None,) * rank
    if output_padding is not None:
        extra = ints(output_padding, "output_padding", rank, least=None)
    facts = zip(AXES[-rank:], in_sizes, sizes, steps, dilations, extra, strict=True)
    axes = tuple(transposed_axis(mode, *each) for each in facts)
    geometry, letters = ConvGeometry(n, axes, outs, channels, 1), "DHW"[-rank:] + "OI"
    text = (f"filter: as TensorFlow's, {letters}",)
    return ConvCall(
        "keras.conv_transpose", CONV_TRANSPOSE[rank], geometry, layout, letters, layout, steps=text
    )


def transposed_axis(mode: str, axis: str, i: int, k: int, s: int, d: int, extra: int | None) -> AxisGeometry:
    """Return one axis of conv_transpose; keras/src/backend/common/backend_utils.py."""
    ek = (k - 1) * d + 1
    full = full_size(i, k, s, d)
    if mode == "VALID":
        low, high = 0, s - 1
        if extra is None:
            o = (i - 1) * s + max(ek, s)
            formula = f"(i - 1)·s + max(ek, s) = ({i} - 1)·{s} + max({ek}, {s})"
        else:
            o = full + extra
            formula = f"F + output_padding = {full} + {extra}"
        before = 0
    else:
        low, high = 1 - ek % 2, s - ek % 2
        if extra is None:
            o = i * s
            formula = f"i·s = {i}·{s}"
        else:
            o = (i - 1) * s + ek % 2 + extra
            formula = f"(i - 1)·s + ek % 2 + output_padding = ({i} - 1)·{s} + {ek % 2} + {extra}"
        before, _ = split_padding(max(0, full - o))
    if extra is not None and not low <= extra <= high:
        raise ArgumentError(
            f"output_padding {axis} must be from {low} to {high} for {mode.lower()}, filter {k}, stride {s}, "
            f"dilation {d}; got {extra}"
        )
    o = max(0, o)
    chosen = [f"output            o  = {formula} = {o}"]
    if mode == "SAME":
        chosen.append(f"first cell        a  = ⌊max(0, F - o) / 2⌋ = ⌊max(0, {full} - {o}) / 2⌋ = {before}")
    return cropped_axis(i, k, s, d, before, full - before - o, o, chosen)


@dialect_function("keras.conv", _conv, _INPUTS, _KERNEL)
def conv(
    inputs: ArrayLike,
    kernel: ArrayLike,
    strides: Ints = 1,
    padding: KerasPadding = "valid",
    data_format: Literal["channels_last", "channels_first"] | None = None,
    dilation_rate: Ints = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve like keras.ops.conv, over one, two or three axes.

    Args:
        inputs: ``[batch, *in_sizes, in_channels]`` with one, two (rows, cols) or three sizes, or that in the
            order of ``data_format``.
        kernel: ``[*filter_sizes, in_channels / groups, out_channels]`` for either ``data_format``; the groups
            follow from the channels.
        strides: an int, or one for each axis.
        padding: "valid" or "same", as in TensorFlow; case does not matter. "causal" is a word of the layer
            Conv1D, which pads (filter - 1) * dilation_rate cells first.
        data_format: "channels_last", "channels_first", or None for channels_last.
        dilation_rate: an int, or one for each axis.
        backend: as in `teachconv.conv2d`; it is not Keras' backend.

    Returns:
        ``[batch, *out_sizes, out_channels]`` in the order of ``data_format``.

    Raises:
        ValueError, TypeError: if Keras refuses the arguments on every backend. strides together with
            dilation_rate, which Keras refuses only on TensorFlow, are computed.

    Source: keras/src/ops/nn.py and keras/src/backend (3.15.1).

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([1, 2, 3, 4]).reshape(1, 1, 4, 1), np.int32([1, 10]).reshape(1, 2, 1, 1)
    >>> tc.dialects.keras.conv(x, w, padding="same").ravel().tolist()
    [21, 32, 43, 4]
    """
    return run(
        conv,
        inputs=inputs,
        kernel=kernel,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilation_rate=dilation_rate,
        backend=backend,
        unknown=unknown,
    )


@dialect_function("keras.conv_transpose", _conv_transpose, _INPUTS, _TRANSPOSED)
def conv_transpose(
    inputs: ArrayLike,
    kernel: ArrayLike,
    strides: Ints = 1,
    padding: KerasPadding = "valid",
    output_padding: Ints | None = None,
    data_format: Literal["channels_last", "channels_first"] | None = None,
    dilation_rate: Ints = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply a transposed convolution like keras.ops.conv_transpose, over one, two or three axes.

    Without ``output_padding`` the size is in * stride for "same" and (in - 1) * stride + max(filter, stride)
    for "valid". With it the size is (in - 1) * stride + filter % 2 + output_padding for "same" and
    (in - 1) * stride + filter + output_padding for "valid". Here, filter is the effective size, including
    dilation gaps.

    Args:
        inputs: ``[batch, *in_sizes, in_channels]`` with one, two (rows, cols) or three sizes, or that in the
            order of ``data_format``.
        kernel: ``[*filter_sizes, out_channels, in_channels]``; there are no groups.
        strides: an int, or one for each axis.
        padding: "valid" or "same"; case does not matter.
        output_padding: None, an int, or one for each axis; None and 0 are not the same. The size must be
            legal for the convolution that this is the transpose of, which Keras checks only on TensorFlow and
            this function always.
        data_format: "channels_last", "channels_first", or None for channels_last.
        dilation_rate: an int, or one for each axis.
        backend: as in `teachconv.conv2d`; it is not Keras' backend.

    Returns:
        ``[batch, *out_sizes, out_channels]`` in the order of ``data_format``.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    Source: keras/src/ops/nn.py and keras/src/backend/common/backend_utils.py (3.15.1).

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([1, 2]).reshape(1, 1, 2, 1), np.int32([1, 10, 100]).reshape(1, 3, 1, 1)
    >>> tc.dialects.keras.conv_transpose(x, w, (1, 2), "same").ravel().tolist()
    [1, 10, 102, 20]
    >>> tc.dialects.keras.conv_transpose(x, w, (1, 2), "same", output_padding=0).ravel().tolist()
    [10, 102, 20]
    """
    return run(
        conv_transpose,
        inputs=inputs,
        kernel=kernel,
        strides=strides,
        padding=padding,
        output_padding=output_padding,
        data_format=data_format,
        dilation_rate=dilation_rate,
        backend=backend,
        unknown=unknown,
    )


# ---------------------------------------------------------------------------------------------
# Pooling
# ---------------------------------------------------------------------------------------------


def _pool(reduce: str, name: str) -> Callable[..., PoolCall]:
    """Return the resolver of max_pool or average_pool."""

    def resolve(inputs: Shape, pool_size: Any, strides: Any, padding: Any, data_format: Any) -> PoolCall:
        rank = len(inputs) - 2
        mode, layout = _words(padding, data_format, rank)
        sizes = ints(pool_size, "pool_size", rank)
        steps = sizes if strides is None else ints(strides, "strides", rank)
        return pool_call(name, reduce, inputs, layout, sizes, steps, (mode, ((0, 0),) * rank))

    return resolve


_POOLED = "[batch, *sizes, channels], or that in data_format order"


@window_function(_pool("max", "keras.max_pool"), "inputs", (3, 4, 5), _POOLED)
def max_pool(
    inputs: ArrayLike,
    pool_size: Ints,
    strides: Ints | None = None,
    padding: KerasPadding = "valid",
    data_format: Literal["channels_last", "channels_first"] | None = None,
) -> Any:
    """Return the largest value of each window like keras.ops.max_pool, over one, two or three axes.

    Args:
        inputs: ``[batch, *sizes, channels]``, or that in the order of ``data_format``.
        pool_size: the size of the window, an int or one for each axis.
        strides: the distance between windows; None for ``pool_size``.
        padding: "valid" or "same", which never wins.
        data_format: "channels_last", "channels_first", or None for channels_last.

    Returns:
        The values. NaN is skipped, as on Keras' TensorFlow backend.

    Raises:
        ValueError, TypeError: if Keras refuses the arguments, or the window is larger than the input.

    Source: keras/src/ops/nn.py (3.15.1).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.keras.max_pool(np.float32([1, 2, 3]).reshape(1, 3, 1), 2, padding="same").ravel().tolist()
    [2.0, 3.0]
    """
    return run_window(
        max_pool,
        inputs=inputs,
        pool_size=pool_size,
        strides=strides,
        padding=padding,
        data_format=data_format,
    )


@window_function(_pool("average", "keras.average_pool"), "inputs", (3, 4, 5), _POOLED)
def average_pool(
    inputs: ArrayLike,
    pool_size: Ints,
    strides: Ints | None = None,
    padding: KerasPadding = "valid",
    data_format: Literal["channels_last", "channels_first"] | None = None,
) -> Any:
    """Return the mean of each window like keras.ops.average_pool; padding does not count.

    Args:
        inputs, pool_size, strides, padding, data_format: as in `max_pool`; a floating dtype.

    Returns:
        The means, exact and rounded once.

    Raises:
        ValueError, TypeError: as `max_pool`.

    Source: keras/src/ops/nn.py (3.15.1).

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([1, 2, 3]).reshape(1, 3, 1)
    >>> tc.dialects.keras.average_pool(x, 2, padding="same").ravel().tolist()
    [1.5, 3.0]
    """
    return run_window(
        average_pool,
        inputs=inputs,
        pool_size=pool_size,
        strides=strides,
        padding=padding,
        data_format=data_format,
    )


def _adaptive(reduce: str) -> Callable[..., AdaptiveCall]:
    """Return the resolver of adaptive_max_pool or adaptive_average_pool."""

    def resolve(inputs: Shape, output_size: Any, data_format: Any) -> AdaptiveCall:
        rank = len(inputs) - 2
        _, layout = _words("valid", data_format, rank)
        sizes = ints(output_size, "output_size", rank)
        return adaptive_call(f"keras.adaptive_{reduce}_pool", reduce, layout, inputs, sizes)

    return resolve


@window_function(_adaptive("average"), "inputs", (3, 4, 5), _POOLED)
def adaptive_average_pool(
    inputs: ArrayLike,
    output_size: Ints,
    data_format: Literal["channels_last", "channels_first"] | None = None,
) -> np.ndarray:
    """Return means of as many windows as asked for like keras.ops.adaptive_average_pool.

    The windows are PyTorch's: cell o of m reads from ⌊o · n / m⌋ up to before ⌈(o + 1) · n / m⌉ of n cells.

    Args:
        inputs: ``[batch, *sizes, channels]``, or that in the order of ``data_format``; floating.
        output_size: the sizes of the result, an int or one for each axis.
        data_format: "channels_last", "channels_first", or None for channels_last.

    Returns:
        The means, exact and rounded once.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    Source: keras/src/backend/tensorflow/nn.py (3.15.1).

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([0, 2, 4, 6, 8]).reshape(1, 5, 1)
    >>> tc.dialects.keras.adaptive_average_pool(x, 3).ravel().tolist()
    [1.0, 4.0, 7.0]
    """
    words = {"output_size": output_size, "data_format": data_format}
    return run_window(adaptive_average_pool, inputs=inputs, **words)


@window_function(_adaptive("max"), "inputs", (3, 4, 5), _POOLED)
def adaptive_max_pool(
    inputs: ArrayLike,
    output_size: Ints,
    data_format: Literal["channels_last", "channels_first"] | None = None,
) -> np.ndarray:
    """Return the largest of as many windows as asked for like Keras's; see `adaptive_average_pool`."""
    words = {"output_size": output_size, "data_format": data_format}
    return run_window(adaptive_max_pool, inputs=inputs, **words)


# ---------------------------------------------------------------------------------------------
# Padding
# ---------------------------------------------------------------------------------------------

_MODES = {name: name for name in ("constant", "reflect", "symmetric")}


def _pad(x: Shape, pad_width: Any, mode: Any, constant_values: Any) -> PadCall:
    """Resolve a call of pad."""
    word = mode.lower() if isinstance(mode, str) else mode
    if is_one_of(word, ["reflect", "symmetric"]) and constant_values is not None:
        raise ArgumentError(f"constant_values must be None for {word}; got {brief(constant_values)}")
    return pad_call(
        "keras.pad",
        "pad_width",
        x,
        pairs(pad_width, "pad_width", len(x), "an int, or ", spread=True),
        word,
        _MODES,
        constant_values,
    )


@window_function(_pad, "x", None)
def pad(
    x: ArrayLike,
    pad_width: Int | Sequence[Int] | Pairs,
    mode: Literal["constant", "reflect", "symmetric"] = "constant",
    constant_values: float | None = None,
) -> Any:
    """Pad like keras.ops.pad; ZeroPadding2D(((1, 2), (3, 4))) is ((0, 0), (1, 2), (3, 4), (0, 0)) here.

    Args:
        x: an array of any number of axes.
        pad_width: (before, after) for each axis, none of them negative; or one pair, or one int, for all.
        mode: "constant", "reflect" or "symmetric", as in `teachconv.pad`. Keras passes the word to its
            backend; JAX has more modes, without a limit.
        constant_values: the number that "constant" pads with; None for 0. Other modes do not allow it.

    Returns:
        The padded array.

    Raises:
        ValueError, TypeError: if Keras refuses the arguments on its TensorFlow backend.

    Source: keras/src/ops/numpy.py (3.15.1).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.keras.pad(np.int32([[1, 2, 3]]), ((0, 0), (1, 2)), "symmetric").tolist()
    [[1, 1, 2, 3, 3, 2]]
    """
    return run_window(pad, x=x, pad_width=pad_width, mode=mode, constant_values=constant_values)


# ---------------------------------------------------------------------------------------------
# Batch normalisation
# ---------------------------------------------------------------------------------------------


def _batch_normalization(
    x: Shape, mean: Any, variance: Any, axis: Any, offset: Any, scale: Any, epsilon: Any
) -> BatchNormCall:
    """Resolve a call of batch_normalization."""
    return norm_call(
        "keras.batch_normalization",
        "x",
        x,
        axis,
        finite(epsilon, "epsilon"),
        {"mean": mean, "variance": variance, "scale": scale, "offset": offset},
    )


@window_function(_batch_normalization, "x", None)
def batch_normalization(
    x: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    axis: Int,
    offset: ArrayLike | None = None,
    scale: ArrayLike | None = None,
    epsilon: float = 1e-3,
) -> Any:
    """Normalise each channel like keras.ops.batch_normalization.

    Args:
        x: an array; floating.
        mean: [channels].
        variance: [channels].
        axis: the axis of the channels; -1 for channels_last, 1 for channels_first.
        offset: beta, [channels]; None for zeros.
        scale: gamma, [channels]; None for ones.
        epsilon: what is added to the variance.

    Returns:
        An array of the shape and dtype of ``x``, exact and rounded once.

    Raises:
        ValueError, TypeError: as `teachconv.batch_normalization`.

    Source: keras/src/ops/nn.py (3.15.1).

    >>> import numpy as np, teachconv as tc
    >>> x, one = np.float32([[1], [3]]), np.float32([1])
    >>> tc.dialects.keras.batch_normalization(x, one, one, -1, epsilon=3.0).ravel().tolist()
    [0.0, 1.0]
    """
    return run_window(
        batch_normalization,
        x=x,
        mean=mean,
        variance=variance,
        axis=axis,
        offset=offset,
        scale=scale,
        epsilon=epsilon,
    )


# ---------------------------------------------------------------------------------------------
# Resizes
# ---------------------------------------------------------------------------------------------


def _resize(images: Shape, size: Any, interpolation: Any, data_format: Any, **others: Any) -> ResizeCall:
    """Resolve a call of resize."""
    check_defined(interpolation, "interpolation", "bilinear", "nearest")
    for name in ("antialias", "crop_to_aspect_ratio", "pad_to_aspect_ratio"):
        check_defined(others[name], name, False)
    check_word(data_format, "data_format", _FORMATS)
    layout = "NCHW" if data_format == "channels_first" else "NHWC"
    sizes = dict(enumerate(ints(size, "size", 2, scalar=False), layout.index("H") - 4 + len(images)))
    reads = "linear" if interpolation == "bilinear" else "round_prefer_ceil"
    facts = "keras.resize", "size", layout[-len(images) :], images, sizes
    return resize_call(*facts, {}, "half_pixel", reads)


@window_function(_resize, "images", (3, 4), "[batch, rows, cols, channels], or that without the batch")
def resize(
    images: ArrayLike,
    size: Sequence[Int],
    interpolation: Literal["bilinear", "nearest"] = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: Literal["channels_last", "channels_first"] | None = None,
) -> Any:
    """Return images of another size like keras.ops.image.resize, by half pixels; UpSampling2D does the same.

    Args:
        images: [batch, rows, cols, channels], or that in ``data_format`` order, or one image.
        size: (rows, cols) of the result.
        interpolation: "bilinear", of a floating dtype, or "nearest".
        antialias, crop_to_aspect_ratio, pad_to_aspect_ratio: must be False.
        fill_mode, fill_value: not used, as nothing is padded.
        data_format: "channels_last", "channels_first" or None for the first.

    Returns:
        The resized images; an interpolated cell is exact and rounded once.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: keras/src/ops/image.py (3.15.1).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.keras.resize(np.float32([0, 4]).reshape(1, 2, 1), (1, 4)).ravel().tolist()
    [0.0, 1.0, 3.0, 4.0]
    """
    return run_window(
        resize,
        images=images,
        size=size,
        interpolation=interpolation,
        antialias=antialias,
        crop_to_aspect_ratio=crop_to_aspect_ratio,
        pad_to_aspect_ratio=pad_to_aspect_ratio,
        fill_mode=fill_mode,
        fill_value=fill_value,
        data_format=data_format,
    )
