"""PyTorch's convolutions, of torch.nn.functional and torch.nn.grad, pools, pad, fold, batch_norm, resizes.

Activations are NCHW, or CHW without a batch; over one axis there is only W, over three D comes first. Filters
are OIHW; those of a transposed convolution are [in, out/groups, rows, cols]. Padding is symmetric and does
not depend on the stride: for a 3 x 3 filter ``padding=1`` equals TensorFlow's SAME at stride 1, but it is
aligned differently at stride 2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice
from math import floor, inf, prod
from typing import Any, Literal, Never

import numpy as np

from ..core.arguments import (
    Shape,
    channels_first,
    check_steps,
    integer,
    listed,
    normalize_shape,
    positive,
    truth,
)
from ..core.geometry import ConvGeometry, forward_geometry
from ..core.kinds import AXES, OPS
from ..core.law import AxisGeometry, check_extra, cropped_axis
from ..support import tables
from ..support.argument_types import ArrayLike, Backend, Int, Ints, ShapeLike
from ..support.errors import ArgumentError, ArgumentTypeError, brief, check_word, suggestion
from ..windows.calls import run_window, window_function
from ..windows.normalization import BatchNormCall, finite, norm_call
from ..windows.padding import PadCall, pad_call
from ..windows.patches import PatchCall, patch_call
from ..windows.pooling import AdaptiveCall, PoolCall, adaptive_call, pool_call
from ..windows.resizing import ResizeCall, ShuffleCall, check_defined, resize_call, shuffle_call
from .calls import (
    CONV,
    CONV_TRANSPOSE,
    ConvCall,
    F,
    Operand,
    check_bias,
    check_groups,
    check_size,
    check_transposed_groups,
    dialect_function,
    factors,
    filter_step,
    full_size,
    ints,
    run,
)

__all__ = [
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d"),
    *("adaptive_max_pool2d", "adaptive_max_pool3d", "fold", "unfold"),
    *("avg_pool1d", "avg_pool2d", "avg_pool3d", "batch_norm", "conv1d", "conv2d", "conv2d_input"),
    *("conv2d_weight", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    *("interpolate", "max_pool1d", "max_pool2d", "max_pool3d", "pad", "pixel_shuffle", "pixel_unshuffle"),
]

_GRAD_OUTPUT = Operand("grad_output", "out_backprop", "[batch, out_channels, rows, cols]")


def _operands(rank: int, channels: str = "out, in / groups") -> tuple[Operand, ...]:
    """Return the arrays of a convolution: input, weight, whose first two axes are given, and bias."""
    axes = ", ".join(AXES[-rank:])
    return (
        Operand("input", "input", f"[batch, channels, {axes}] or [channels, {axes}]", (rank + 1, rank + 2)),
        Operand("weight", "filters", f"[{channels}, {axes}]", (rank + 2,)),
        Operand("bias", "bias"),
    )


# ---------------------------------------------------------------------------------------------
# Resolvers: each takes shapes and arguments and returns a ConvCall
# ---------------------------------------------------------------------------------------------


def _batched(shape: Shape, rank: int) -> tuple[Shape, str]:
    """Return the shape as (batch, channels, rows, cols), and the layout of the activations."""
    layout = "NC" + "DHW"[-rank:]
    return (shape, layout) if len(shape) == len(layout) else ((1, *shape), layout[1:])


def _padding(padding: Any, strides: Shape, *, strings: bool) -> tuple[str, Shape]:
    """Return the padding mode, as `geometry` names it, and the symmetric padding of each axis."""
    rank = len(strides)
    if isinstance(padding, str) and strings:
        if padding == "same":
            if max(strides) > 1:
                raise ArgumentError(
                    f"padding 'same' needs stride 1, as in PyTorch; got stride {strides}: give "
                    "padding as integers"
                )
            return "SAME", (0,) * rank
        if padding == "valid":
            return "VALID", (0,) * rank
        near = suggestion(padding, ("same", "valid"))
        legal = f"'same', 'valid', an int or {tables.count(rank, 'int')}"
        raise ArgumentError(f"padding must be {legal}; got {brief(padding)}{near}")
    return "EXPLICIT", ints(padding, "padding", rank, least=0, single=True)


def _forward(
    shape: Shape, weight: Shape, stride: Any, padding: Any, dilation: Any, groups: Any, *, strings: bool
) -> tuple[ConvGeometry, list[str]]:
    """Return the geometry of a forward convolution, and the steps of its derivation."""
    n, in_channels, *in_sizes = shape
    outs, depth, *sizes = weight
    rank = len(sizes)
    strides = ints(stride, "stride", rank, single=True)
    mode, pads = _padding(padding, strides, strings=strings)
    groups = positive(groups, "groups")
    check_groups(groups, "groups", in_channels, depth, "weight.shape[1]", outs, "weight.shape[0]")
    if outs < 1:
        raise ArgumentError(f"weight.shape[0], the output channels, must be at least 1; got {outs}")
    geometry = forward_geometry(
        (n, *in_sizes, in_channels),
        (*sizes, depth, outs),
        strides,
        (mode, tuple((pad, pad) for pad in pads)),
        ints(dilation, "dilation", rank, single=True),
        "weight",
    )
    axes = "DHW"[-rank:]
    steps = [filter_step("weight", f"OI{axes}", f"{axes}IO")]
    if mode == "EXPLICIT":
        words = zip(("plane", "row", "column")[-rank:], pads, strict=True)
        edges = listed([tables.count(pad, word) for word, pad in words], "and")
        steps.append(f"padding: {edges} on both sides, whatever the stride")
    elif mode == "SAME":
        steps.append("padding 'same': the odd cell goes to the end of the axis, as in TensorFlow")
    return geometry, steps


def _conv(
    input: Shape,
    weight: Shape,
    bias: Shape | None,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> ConvCall:
    """Resolve a call of conv1d, conv2d or conv3d."""
    rank = len(weight) - 2
    shape, layout = _batched(input, rank)
    geometry, steps = _forward(shape, weight, stride, padding, dilation, groups, strings=True)
    check_bias(bias, geometry.out_channels)
    return ConvCall(
        f"torch.conv{rank}d",
        CONV[rank],
        geometry,
        layout,
        "OI" + "DHW"[-rank:],
        layout,
        bias=bias is not None,
        steps=tuple(steps),
    )


def _conv_transpose(
    input: Shape,
    weight: Shape,
    bias: Shape | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: Any,
    dilation: Any,
) -> ConvCall:
    """Resolve a call of conv_transpose1d, conv_transpose2d or conv_transpose3d."""
    weight_in, depth, *sizes = weight
    rank = len(sizes)
    (n, in_channels, *in_sizes), layout = _batched(input, rank)
    groups = positive(groups, "groups")
    check_transposed_groups(groups, "groups", in_channels, "the input's", weight_in, "weight.shape[0]")
    if isinstance(padding, str):
        legal = f"an int or {tables.count(rank, 'int')}, not a string"
        raise ArgumentTypeError(f"padding must be {legal}; got {brief(padding)}")
    if not depth:
        raise ArgumentError("weight.shape[1], the output channels / groups, must be at least 1; got 0")
    strides = ints(stride, "stride", rank, single=True)
    dilations = ints(dilation, "dilation", rank, single=True)
    pads = ints(padding, "padding", rank, least=0, single=True)
    extra = ints(output_padding, "output_padding", rank, least=0, single=True)
    facts = zip(AXES[-rank:], in_sizes, sizes, strides, dilations, pads, extra, strict=True)
    axes = tuple(_transposed_axis(*each) for each in facts)
    outs = depth * groups
    check_bias(bias, outs)
    letters = "DHW"[-rank:]
    steps = [filter_step("weight", f"IO{letters}", f"{letters}OI")]
    if any(r >= s for r, s in zip(extra, strides, strict=True)):
        steps.append("output_padding is not below the stride: TensorFlow allows no output_shape this large")
    return ConvCall(
        f"torch.conv_transpose{rank}d",
        CONV_TRANSPOSE[rank],
        ConvGeometry(n, axes, outs, in_channels, groups),
        layout,
        f"IO{letters}",
        layout,
        bias=bias is not None,
        steps=tuple(steps),
    )


def _transposed_axis(axis: str, i: int, k: int, s: int, d: int, p: int, extra: int) -> AxisGeometry:
    """Return one axis of a transposed convolution."""
    check_extra(axis, extra, s, d)
    full = full_size(i, k, s, d)
    o = full - 2 * p + extra
    # PyTorch refuses a negative size, and returns an empty result for size 0
    check_size(o, axis, full, f"padding {p}, output_padding {extra}", i, least=0)
    o = max(0, o)
    return cropped_axis(
        i,
        k,
        s,
        d,
        p,
        p,
        o,
        [f"output            o  = F - 2·p + output_padding = {full} - 2·{p} + {extra} = {o}"],
    )


def _gradient(
    name: str,
    op: str,
    input_size: Any,
    weight: Shape,
    grad_output: Shape,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: Any,
) -> ConvCall:
    """Return the call of a gradient, whose geometry is that of the forward convolution."""
    if isinstance(padding, str):
        raise ArgumentTypeError(f"padding must be an int or 2 ints in a gradient; got {brief(padding)}")
    geometry, steps = _forward(input_size, weight, stride, padding, dilation, groups, strings=False)
    if tuple(grad_output) != (want := channels_first(geometry.output_shape)):
        raise ArgumentError(
            f"grad_output must have shape {list(want)}, that of conv2d's output; got {list(grad_output)}"
        )
    return ConvCall(name, OPS[op], geometry, "NCHW", "OIHW", "NCHW", steps=tuple(steps))


def _conv2d_input(input_size: Any, **arguments: Any) -> ConvCall:
    """Resolve a call of conv2d_input."""
    return _gradient(
        "torch.conv2d_input", "conv2d_backprop_input", normalize_shape(input_size, "input_size"), **arguments
    )


def _conv2d_weight(input: Shape, weight_size: Any, **arguments: Any) -> ConvCall:
    """Resolve a call of conv2d_weight."""
    weight = normalize_shape(weight_size, "weight_size")
    return _gradient("torch.conv2d_weight", "conv2d_backprop_filter", input, weight, **arguments)


# ---------------------------------------------------------------------------------------------
# The functions
# ---------------------------------------------------------------------------------------------


@dialect_function("torch.conv2d", _conv, *_operands(2))
def conv2d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: Ints = 1,
    padding: Literal["same", "valid"] | Ints = 0,
    dilation: Ints = 1,
    groups: Int = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve like torch.nn.functional.conv2d.

    Args:
        input: [batch, in_channels, in_rows, in_cols], or that without the batch.
        weight: [out_channels, in_channels / groups, filter_rows, filter_cols], of the input's dtype.
        bias: [out_channels] or None.
        stride: an int or 2 ints.
        padding: an int or 2 ints, the zeros on both sides of rows and of columns; "valid"; or, at stride 1
            only, "same", which puts the odd row of an even filter at the bottom.
        dilation: an int or 2 ints.
        groups: must divide the numbers of input and output channels.
        backend: as in `teachconv.conv2d`.

    Returns:
        [batch, out_channels, out_rows, out_cols], without the batch if the input has none.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments: negative padding, "same" with a stride,
            channels that do not match, a filter larger than the padded input.

    Source: torch/nn/functional.py and aten/src/ATen/native/Convolution.cpp (2.13).

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(16, dtype="float32").reshape(1, 4, 4)
    >>> tc.dialects.torch.conv2d(x, np.ones((1, 1, 3, 3), "float32"), stride=2, padding=1)[0].tolist()
    [[10.0, 24.0], [51.0, 90.0]]
    """
    return run(
        conv2d,
        input=input,
        weight=weight,
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
        backend=backend,
        unknown=unknown,
    )


@dialect_function("torch.conv1d", _conv, *_operands(1))
def conv1d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: Ints = 1,
    padding: Literal["same", "valid"] | Ints = 0,
    dilation: Ints = 1,
    groups: Int = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve like torch.nn.functional.conv1d, over one axis; as `conv2d`.

    Args:
        input: [batch, in_channels, in_cols], or that without the batch.
        weight: [out_channels, in_channels / groups, filter_cols], of the input's dtype.
        bias, padding, groups, backend: as in `conv2d`.
        stride: an int or 1 int.
        dilation: an int or 1 int.

    Returns:
        [batch, out_channels, out_cols], without the batch if the input has none.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments.

    Source: as for `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.float32([[1, 2, 3, 4]]), np.float32([[[1, 10]]])
    >>> tc.dialects.torch.conv1d(x, w, stride=2, padding=1).tolist()
    [[10.0, 32.0, 4.0]]
    """
    return run(
        conv1d,
        input=input,
        weight=weight,
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
        backend=backend,
        unknown=unknown,
    )


@dialect_function("torch.conv3d", _conv, *_operands(3))
def conv3d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: Ints = 1,
    padding: Literal["same", "valid"] | Ints = 0,
    dilation: Ints = 1,
    groups: Int = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve like torch.nn.functional.conv3d, over three axes; as `conv2d`.

    Args:
        input: [batch, in_channels, in_depth, in_rows, in_cols], or that without the batch.
        weight: [out_channels, in_channels / groups, filter_depth, filter_rows, filter_cols], of the input's
            dtype.
        bias, padding, groups, backend: as in `conv2d`.
        stride: an int or 3 ints.
        dilation: an int or 3 ints.

    Returns:
        [batch, out_channels, out_depth, out_rows, out_cols], without the batch if the input has none.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments.

    Source: as for `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 3, 3, 3), "float32"), np.ones((1, 1, 2, 2, 2), "float32")
    >>> tc.dialects.torch.conv3d(x, w, padding=(1, 0, 0))[0, :, 0, 0].tolist()
    [4.0, 8.0, 8.0, 4.0]
    """
    return run(
        conv3d,
        input=input,
        weight=weight,
        bias=bias,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
        backend=backend,
        unknown=unknown,
    )


@dialect_function("torch.conv_transpose2d", _conv_transpose, *_operands(2, "in, out / groups"))
def conv_transpose2d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: Int = 1,
    dilation: Ints = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply a transposed convolution like torch.nn.functional.conv_transpose2d.

    The full result has F = (in - 1) * stride + dilation * (filter - 1) + 1 rows, and likewise columns. The
    result is full[padding : padding + out] with out = F - 2 * padding + output_padding.

    Args:
        input: [batch, in_channels, in_rows, in_cols], or that without the batch.
        weight: [in_channels, out_channels / groups, filter_rows, filter_cols], of the input's dtype.
        bias: [out_channels] or None.
        stride: an int or 2 ints.
        padding: an int or 2 ints, the rows and columns that are cropped on both sides; no string.
        output_padding: an int or 2 ints below the larger of stride and dilation: rows at the bottom and
            columns at the right that are added. They are computed, not filled with zeros.
        groups: must divide the numbers of input and output channels.
        dilation: an int or 2 ints.
        backend: as in `teachconv.conv2d`.

    Returns:
        [batch, out_channels, out_rows, out_cols], without the batch if the input has none.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments.

    Source: as for `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([[[1, 2]]]), np.int32([[[[1, 10, 100]]]])
    >>> y = tc.dialects.torch.conv_transpose2d(x, w, None, (1, 2), (0, 1), output_padding=(0, 1))
    >>> y.tolist()
    [[[10, 102, 20, 200]]]
    """
    return run(
        conv_transpose2d,
        input=input,
        weight=weight,
        bias=bias,
        stride=stride,
        padding=padding,
        output_padding=output_padding,
        groups=groups,
        dilation=dilation,
        backend=backend,
        unknown=unknown,
    )


@dialect_function("torch.conv_transpose1d", _conv_transpose, *_operands(1, "in, out / groups"))
def conv_transpose1d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: Int = 1,
    dilation: Ints = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply a transposed convolution like torch.nn.functional.conv_transpose1d; as `conv_transpose2d`.

    Args:
        input: [batch, in_channels, in_cols], or that without the batch.
        weight: [in_channels, out_channels / groups, filter_cols], of the input's dtype.
        bias, groups, backend: as in `conv_transpose2d`.
        stride: an int or 1 int.
        padding: an int or 1 int, what is cropped on both sides.
        output_padding: an int or 1 int below the larger of stride and dilation.
        dilation: an int or 1 int.

    Returns:
        [batch, out_channels, out_cols], without the batch if the input has none.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments.

    Source: as for `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.float32([[1, 2]]), np.float32([[[1, 10, 100]]])
    >>> tc.dialects.torch.conv_transpose1d(x, w, stride=2, padding=1, output_padding=1).tolist()
    [[10.0, 102.0, 20.0, 200.0]]
    """
    return run(
        conv_transpose1d,
        input=input,
        weight=weight,
        bias=bias,
        stride=stride,
        padding=padding,
        output_padding=output_padding,
        groups=groups,
        dilation=dilation,
        backend=backend,
        unknown=unknown,
    )


@dialect_function("torch.conv_transpose3d", _conv_transpose, *_operands(3, "in, out / groups"))
def conv_transpose3d(
    input: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    groups: Int = 1,
    dilation: Ints = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply a transposed convolution like torch.nn.functional.conv_transpose3d; as `conv_transpose2d`.

    Args:
        input: [batch, in_channels, in_depth, in_rows, in_cols], or that without the batch.
        weight: [in_channels, out_channels / groups, filter_depth, filter_rows, filter_cols], of the input's
            dtype.
        bias, groups, backend: as in `conv_transpose2d`.
        stride: an int or 3 ints.
        padding: an int or 3 ints, what is cropped on both sides.
        output_padding: an int or 3 ints below the larger of stride and dilation.
        dilation: an int or 3 ints.

    Returns:
        [batch, out_channels, out_depth, out_rows, out_cols], without the batch if the input has none.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments.

    Source: as for `conv2d`.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 1, 1, 2), "float32"), np.ones((1, 1, 1, 1, 3), "float32")
    >>> tc.dialects.torch.conv_transpose3d(x, w, stride=(1, 1, 2)).ravel().tolist()
    [1.0, 1.0, 2.0, 1.0, 1.0]
    """
    return run(
        conv_transpose3d,
        input=input,
        weight=weight,
        bias=bias,
        stride=stride,
        padding=padding,
        output_padding=output_padding,
        groups=groups,
        dilation=dilation,
        backend=backend,
        unknown=unknown,
    )


@dialect_function("torch.conv2d_input", _conv2d_input, _operands(2)[1], _GRAD_OUTPUT)
def conv2d_input(
    input_size: ShapeLike,
    weight: ArrayLike,
    grad_output: ArrayLike,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: Int = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `conv2d` with respect to its input, like torch.nn.grad.conv2d_input.

    Args:
        input_size: the input's shape, (batch, in_channels, in_rows, in_cols); with a stride the shape of
            ``grad_output`` does not determine it.
        weight: the weight of the forward call.
        grad_output: the gradient with respect to its output, [batch, out_channels, out_rows, out_cols].
        stride: that of the forward call.
        padding: that of the forward call, as integers.
        dilation: that of the forward call.
        groups: those of the forward call.
        backend: as in `teachconv.conv2d`.

    Returns:
        An array of shape ``input_size``.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or ``grad_output`` does not have the shape of
            the forward call's output.

    Source: torch/nn/grad.py (2.13).

    >>> import numpy as np, teachconv as tc
    >>> dy = np.ones((1, 1, 1, 2), "int32")
    >>> tc.dialects.torch.conv2d_input((1, 1, 1, 3), np.int32([[[[1, 10]]]]), dy).tolist()
    [[[[1, 11, 10]]]]
    """
    return run(
        conv2d_input,
        input_size=input_size,
        weight=weight,
        grad_output=grad_output,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
        backend=backend,
        unknown=unknown,
    )


@dialect_function(
    "torch.conv2d_weight",
    _conv2d_weight,
    Operand("input", "input", "[batch, channels, rows, cols]"),
    _GRAD_OUTPUT,
)
def conv2d_weight(
    input: ArrayLike,
    weight_size: ShapeLike,
    grad_output: ArrayLike,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: Int = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Return the gradient of `conv2d` with respect to its weight, like torch.nn.grad.conv2d_weight.

    Args:
        input: the input of the forward call, with a batch.
        weight_size: the weight's shape, (out_channels, in_channels / groups, filter_rows, filter_cols).
        grad_output: the gradient with respect to its output, [batch, out_channels, out_rows, out_cols].
        stride: that of the forward call.
        padding: that of the forward call, as integers.
        dilation: that of the forward call.
        groups: those of the forward call.
        backend: as in `teachconv.conv2d`.

    Returns:
        An array of shape ``weight_size``.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or ``grad_output`` does not have the shape of
            the forward call's output.

    Source: torch/nn/grad.py (2.13).

    >>> import numpy as np, teachconv as tc
    >>> x, dy = np.int32([[[[1, 2, 3]]]]), np.int32([[[[1, 10]]]])
    >>> tc.dialects.torch.conv2d_weight(x, (1, 1, 1, 2), dy).tolist()
    [[[[21, 32]]]]
    """
    return run(
        conv2d_weight,
        input=input,
        weight_size=weight_size,
        grad_output=grad_output,
        stride=stride,
        padding=padding,
        dilation=dilation,
        groups=groups,
        backend=backend,
        unknown=unknown,
    )


# ---------------------------------------------------------------------------------------------
# Pooling
# ---------------------------------------------------------------------------------------------


def _pool(reduce: str, rank: int) -> Callable[..., PoolCall]:
    """Return the resolver of max_pool or avg_pool of a rank."""
    words = f"torch.{'max' if reduce == 'max' else 'avg'}_pool{rank}d"

    def resolve(
        input: Shape,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        ceil_mode: Any,
        dilation: Any = 1,
        return_indices: Any = False,
        count_include_pad: Any = True,
        divisor_override: Any = None,
    ) -> PoolCall:
        layout = ("NC" + "DHW"[-rank:])[-len(input) :]
        if 0 in input[-rank - 1 :]:
            raise ArgumentError(f"input must have no empty axis except the batch; got shape {list(input)}")
        sizes = ints(kernel_size, "kernel_size", rank, single=True)
        steps = ints(kernel_size if stride is None else stride, "stride", rank, single=True)
        pads = ints(padding, "padding", rank, least=0, single=True)
        spread = ints(dilation, "dilation", rank, single=True)
        for axis, k, p in zip(AXES[-rank:], sizes, pads, strict=True):
            if 2 * p > k:  # without the dilation
                raise ArgumentError(f"padding {axis} must be at most half of the window of {k}; got {p}")
        if reduce == "average" and rank == 3 and any(n < k for n, k in zip(input[-3:], sizes, strict=True)):
            raise ArgumentError(
                f"input must be as large as the window without its padding; got {list(input)}"
            )
        places = tuple(prod(input[i + 1 :]) * (letter in "DHW") for i, letter in enumerate(layout))
        divisor: str | int = "padded" if truth(count_include_pad, "count_include_pad") else "inside"
        if divisor_override is not None:
            divisor = integer(divisor_override, "divisor_override")
            check_steps([divisor], "divisor_override", divisor_override)
            if not divisor:
                raise ArgumentError("divisor_override must not be 0, as sums are divided by it; got 0")
        return pool_call(
            words,
            reduce,
            input,
            layout,
            sizes,
            steps,
            ("EXPLICIT", tuple((p, p) for p in pads)),
            spread,
            ceil=truth(ceil_mode, "ceil_mode"),
            divisor=divisor,
            start=-inf,
            places=places if truth(return_indices, "return_indices") else (),
        )

    return resolve


def _pool_function(reduce: str, rank: int) -> Callable[[F], F]:
    axes = f"[batch, channels, {', '.join(AXES[-rank:])}], or that without the batch"
    return window_function(_pool(reduce, rank), "input", (rank + 1, rank + 2), axes)


@_pool_function("max", 1)
def max_pool1d(
    input: ArrayLike,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest value of each window like torch.nn.functional.max_pool1d; as `max_pool2d`.

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.max_pool1d(np.float32([[1, 2, 3, 4, 5]]), 2, ceil_mode=True).tolist()
    [[2.0, 4.0, 5.0]]
    """
    return run_window(
        max_pool1d,
        input=input,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        dilation=dilation,
        ceil_mode=ceil_mode,
        return_indices=return_indices,
    )


@_pool_function("max", 2)
def max_pool2d(
    input: ArrayLike,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest value of each window like torch.nn.functional.max_pool2d.

    Args:
        input: [batch, channels, rows, cols], or that without the batch.
        kernel_size: the size of the window, an int or 2 ints.
        stride: the distance between windows; None for ``kernel_size``.
        padding: minus infinity on both sides, at most half of the window.
        dilation: the distance between the cells of a window.
        ceil_mode: whether a last window that does not fit counts too, unless it would begin in the padding at
            the right or the bottom.
        return_indices: whether to return where the values are as well, as row * cols + col of the input;
            -1 for a window without cells.

    Returns:
        The values, or (values, indices). NaN is larger than any number.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments.

    Source: aten/src/ATen/native/Pool.h, pooling_output_shape, and DilatedMaxPool2d.cpp (2.13).

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([[[1, 2, 3], [4, 5, 6], [7, 8, 9]]])
    >>> tc.dialects.torch.max_pool2d(x, 2).shape, tc.dialects.torch.max_pool2d(x, 2, ceil_mode=True).shape
    ((1, 1, 1), (1, 2, 2))
    """
    return run_window(
        max_pool2d,
        input=input,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        dilation=dilation,
        ceil_mode=ceil_mode,
        return_indices=return_indices,
    )


@_pool_function("max", 3)
def max_pool3d(
    input: ArrayLike,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the largest value of each window like torch.nn.functional.max_pool3d; as `max_pool2d`."""
    return run_window(
        max_pool3d,
        input=input,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        dilation=dilation,
        ceil_mode=ceil_mode,
        return_indices=return_indices,
    )


@_pool_function("average", 1)
def avg_pool1d(
    input: ArrayLike,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Any:
    """Return the mean of each window like torch.nn.functional.avg_pool1d; as `avg_pool2d`.

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.avg_pool1d(np.float32([[6, 6, 6]]), 3, 2, 1).tolist()
    [[4.0, 4.0]]
    """
    return run_window(
        avg_pool1d,
        input=input,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
    )


@_pool_function("average", 2)
def avg_pool2d(
    input: ArrayLike,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Int | None = None,
) -> Any:
    """Return the mean of each window like torch.nn.functional.avg_pool2d.

    Args:
        input, kernel_size, stride, ceil_mode: as in `max_pool2d`; a floating dtype.
        padding: zeros on both sides, at most half of the window.
        count_include_pad: whether the padding counts in the divisor, which TensorFlow's never does. What
            ``ceil_mode`` adds beyond the padding does not count.
        divisor_override: a divisor to use instead of the count.

    Returns:
        The means, exact and rounded once.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments, and for int64, whose means PyTorch truncates.

    Source: aten/src/ATen/native/cpu/AvgPoolKernel.cpp (2.13).

    >>> import numpy as np, teachconv as tc
    >>> x = np.full((1, 2, 2), 4, "float32")
    >>> tc.dialects.torch.avg_pool2d(x, 2, 2, 1).tolist()
    [[[1.0, 1.0], [1.0, 1.0]]]
    >>> tc.dialects.torch.avg_pool2d(x, 2, 2, 1, count_include_pad=False).tolist()
    [[[4.0, 4.0], [4.0, 4.0]]]
    """
    return run_window(
        avg_pool2d,
        input=input,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )


@_pool_function("average", 3)
def avg_pool3d(
    input: ArrayLike,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: Int | None = None,
) -> Any:
    """Return the mean of each window like torch.nn.functional.avg_pool3d; as `avg_pool2d`."""
    return run_window(
        avg_pool3d,
        input=input,
        kernel_size=kernel_size,
        stride=stride,
        padding=padding,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        divisor_override=divisor_override,
    )


# ---------------------------------------------------------------------------------------------
# Adaptive pools
# ---------------------------------------------------------------------------------------------


def _adaptive_function(reduce: str, rank: int) -> Callable[[F], F]:
    """Enter an adaptive pool into the table of windows."""
    name = f"torch.adaptive_{'avg' if reduce == 'average' else reduce}_pool{rank}d"

    def resolve(input: Shape, output_size: Any, return_indices: Any = False) -> AdaptiveCall:
        check_defined(return_indices, "return_indices", False)
        given = output_size
        if rank > 1 and isinstance(given, (tuple, list)) and len(given) == rank:  # None keeps a size
            given = [n if new is None else new for n, new in zip(input[-rank:], given, strict=True)]
        layout = ("NC" + "DHW"[-rank:])[-len(input) :]
        return adaptive_call(name, reduce, layout, input, ints(given, "output_size", rank))

    axes = f"[batch, channels, {', '.join(AXES[-rank:])}], or that without the batch"
    return window_function(resolve, "input", (rank + 1, rank + 2), axes)


@_adaptive_function("average", 1)
def adaptive_avg_pool1d(input: ArrayLike, output_size: Ints) -> np.ndarray:
    """Return means of as many windows as asked for like PyTorch's; see `adaptive_avg_pool2d`.

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.adaptive_avg_pool1d(np.float32([[0, 2, 4, 6, 8]]), 3).tolist()
    [[1.0, 4.0, 7.0]]
    """
    return run_window(adaptive_avg_pool1d, input=input, output_size=output_size)


@_adaptive_function("average", 2)
def adaptive_avg_pool2d(input: ArrayLike, output_size: Int | Sequence[Int | None]) -> np.ndarray:
    """Return means of as many windows as asked for like torch.nn.functional.adaptive_avg_pool2d.

    Cell o of m reads from ⌊o · n / m⌋ up to before ⌈(o + 1) · n / m⌉ of n cells: where m does not divide n,
    windows overlap and may differ in size, so that no other pool computes the same.

    Args:
        input: [batch, channels, rows, cols], or that without the batch; floating.
        output_size: the rows and columns of the result, one int for both or (rows, cols), of which None keeps
            the input's.

    Returns:
        The means, exact and rounded once.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments, or for a size of 0.

    Source: aten/src/ATen/native/AdaptivePooling.h, start_index and end_index (2.13).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.adaptive_avg_pool2d(np.float32([[[1, 2, 3], [4, 5, 6]]]), (1, 2)).tolist()
    [[[3.0, 4.0]]]
    """
    return run_window(adaptive_avg_pool2d, input=input, output_size=output_size)


@_adaptive_function("average", 3)
def adaptive_avg_pool3d(input: ArrayLike, output_size: Int | Sequence[Int | None]) -> np.ndarray:
    """Return means of as many windows as asked for like PyTorch's; see `adaptive_avg_pool2d`."""
    return run_window(adaptive_avg_pool3d, input=input, output_size=output_size)


@_adaptive_function("max", 1)
def adaptive_max_pool1d(input: ArrayLike, output_size: Ints, return_indices: bool = False) -> np.ndarray:
    """Return the largest of as many windows as asked for like PyTorch's; see `adaptive_max_pool2d`."""
    words = {"output_size": output_size, "return_indices": return_indices}
    return run_window(adaptive_max_pool1d, input=input, **words)


@_adaptive_function("max", 2)
def adaptive_max_pool2d(
    input: ArrayLike, output_size: Int | Sequence[Int | None], return_indices: bool = False
) -> np.ndarray:
    """Return the largest of as many windows as asked for like torch.nn.functional.adaptive_max_pool2d.

    Args:
        input, output_size: as in `adaptive_avg_pool2d`, whose windows it has; of any dtype.
        return_indices: must be False.

    Returns:
        The largest values. NaN is larger than any number.

    Raises:
        ValueError, TypeError: as `adaptive_avg_pool2d`.

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.adaptive_max_pool2d(np.float32([[[1, 9, 3], [4, 5, 6]]]), 2).tolist()
    [[[9.0, 9.0], [5.0, 6.0]]]
    """
    words = {"output_size": output_size, "return_indices": return_indices}
    return run_window(adaptive_max_pool2d, input=input, **words)


@_adaptive_function("max", 3)
def adaptive_max_pool3d(
    input: ArrayLike, output_size: Int | Sequence[Int | None], return_indices: bool = False
) -> np.ndarray:
    """Return the largest of as many windows as asked for like PyTorch's; see `adaptive_max_pool2d`."""
    words = {"output_size": output_size, "return_indices": return_indices}
    return run_window(adaptive_max_pool3d, input=input, **words)


# ---------------------------------------------------------------------------------------------
# Patches
# ---------------------------------------------------------------------------------------------


def _patches(function: str) -> Callable[..., PatchCall]:
    """Return the resolver of unfold or fold."""

    def resolve(
        input: Shape, kernel_size: Any, dilation: Any, padding: Any, stride: Any, output_size: Any = None
    ) -> PatchCall:
        adds = function == "fold"
        sizes = ints(output_size, "output_size", 2) if adds else input[-2:]
        window, steps, spread = (
            ints(value, name, 2)
            for name, value in (("kernel_size", kernel_size), ("stride", stride), ("dilation", dilation))
        )
        pads = tuple((pad, pad) for pad in ints(padding, "padding", 2, least=0))
        return patch_call(f"torch.{function}", input, sizes, window, steps, pads, spread, adds=adds)

    return resolve


@window_function(
    _patches("unfold"), "input", (3, 4), "[batch, channels, rows, cols], or that without the batch"
)
def unfold(
    input: ArrayLike, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> np.ndarray:
    """Return the patches of an image as columns like torch.nn.functional.unfold: im2col.

    Row (channel · kernel_rows + row) · kernel_cols + col of column p is that cell of patch p. TensorFlow's
    ``extract_patches`` orders the cells (row, col, channel), and puts them last.

    Args:
        input: [batch, channels, rows, cols], or that without the batch; of any dtype.
        kernel_size: the size of a patch, an int or (rows, cols).
        dilation: the distance between its cells, likewise.
        padding: zeros on both sides, likewise.
        stride: the distance between patches, likewise.

    Returns:
        [batch, channels · kernel_rows · kernel_cols, patches].

    Raises:
        ValueError, TypeError: if the arguments are invalid, or no patch fits.

    Source: aten/src/ATen/native/Im2Col.cpp and im2col.h (2.13).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.unfold(np.arange(6).reshape(1, 2, 3), 2).tolist()
    [[0, 1], [1, 2], [3, 4], [4, 5]]
    """
    words = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return run_window(unfold, input=input, **words)


@window_function(
    _patches("fold"), "input", (2, 3), "[batch, channels * taps, patches], or that without the batch"
)
def fold(
    input: ArrayLike,
    output_size: Ints,
    kernel_size: Ints,
    dilation: Ints = 1,
    padding: Ints = 0,
    stride: Ints = 1,
) -> np.ndarray:
    """Return columns of patches added up to an image like torch.nn.functional.fold: col2im.

    It is the transpose of `unfold`, not its inverse: where patches overlap, ``fold(unfold(x))`` counts a cell
    as often as it was taken. Divide by ``fold(unfold(ones))`` for the mean.

    Args:
        input: [batch, channels · kernel_rows · kernel_cols, patches], or that without the batch.
        output_size: the size of the image, an int or (rows, cols).
        kernel_size, dilation, padding, stride: as in `unfold`.

    Returns:
        [batch, channels, rows, cols]; sums are exact and rounded once.

    Raises:
        ValueError, TypeError: if the arguments are invalid, or the columns are not those of such an image.

    Source: aten/src/ATen/native/Col2Im.cpp (2.13).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.fold(np.ones((4, 2), "int32"), (2, 3), 2).tolist()
    [[[1, 2, 1], [1, 2, 1]]]
    """
    words = {"kernel_size": kernel_size, "dilation": dilation, "padding": padding, "stride": stride}
    return run_window(fold, input=input, output_size=output_size, **words)


# ---------------------------------------------------------------------------------------------
# Padding
# ---------------------------------------------------------------------------------------------


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _pad(input: Shape, pad: Any, mode: Any, value: Any) -> PadCall:
    """Resolve a call of pad."""
    check_word(mode, "mode", _MODES)
    rank = len(input)
    numbers = [integer(size, "pad") for size in islice(pad, 2 * rank + 1)] if hasattr(pad, "__iter__") else []
    check_steps(numbers, "pad", pad)
    count, rest = divmod(len(numbers), 2)
    if rest or not numbers or count > rank:
        legal = "(left, right), (left, right, top, bottom), ..., at most 2 for each axis"
        raise ArgumentError(f"pad must be {legal} of the input {list(input)}; got {brief(pad)}")
    if mode != "constant" and rank - count not in (1, 2):
        raise ArgumentError(
            f"pad must have {2 * max(rank - 2, 1)} numbers for {mode}, or {2 * (rank - 1)} without a batch, "
            f"as PyTorch pads all axes after the channels then; got {brief(pad)}"
        )
    sides = [(0, 0)] * (rank - count) + [*zip(numbers[::2], numbers[1::2], strict=True)][::-1]
    how = {"negative": True, "crops_first": mode == "circular", "value_name": "value"}
    return pad_call("torch.pad", "pad", input, sides, mode, _MODES, value, **how)


@window_function(_pad, "input", None)
def pad(
    input: ArrayLike,
    pad: Sequence[Int],
    mode: Literal["constant", "reflect", "replicate", "circular"] = "constant",
    value: float | None = None,
) -> np.ndarray:
    """Pad like torch.nn.functional.pad, which counts from the last axis.

    nn.Conv2d pads in this way for its ``padding_mode``: ``nn.Conv2d(..., padding=p,
    padding_mode="reflect")(x)`` equals ``conv2d(pad(x, (p, p, p, p), mode="reflect"), weight)``.

    Args:
        input: an array; for a mode other than "constant" [batch, channels, rows, cols], that of another rank,
            or that without the batch.
        pad: (left, right), (left, right, top, bottom), ...: the last axis first. Negative numbers crop.
        mode: "constant"; "reflect", which does not repeat the edge, for less than the size; "replicate",
            which repeats the edge; or "circular", which wraps around, for at most the size.
        value: the number that "constant" pads with; None stands for 0, which other modes require.

    Returns:
        The padded array, of the input's dtype.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    Source: torch/nn/functional.py and aten/src/ATen/native/PadNd.cpp (2.13).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.pad(np.int32([[[1, 2, 3]]]), (1, 2), mode="reflect").tolist()
    [[[2, 1, 2, 3, 2, 1]]]
    """
    return run_window(_PAD, input=input, pad=pad, mode=mode, value=value)


_PAD = pad  # an argument of the function has the same name

# ---------------------------------------------------------------------------------------------
# Batch normalisation
# ---------------------------------------------------------------------------------------------


def _batch_norm(
    input: Shape,
    running_mean: Any,
    running_var: Any,
    weight: Any,
    bias: Any,
    training: Any,
    momentum: Any,
    eps: Any,
) -> BatchNormCall:
    """Resolve a call of batch_norm."""
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight, "bias": bias}
    keeps = 1 - Fraction(finite(momentum, "momentum"))
    return norm_call(
        "torch.batch_norm",
        "input",
        input,
        1,
        eps,
        given,
        keeps=keeps if truth(training, "training") else None,
        corrected=True,
    )


@window_function(_batch_norm, "input", (2, 3, 4, 5), "[batch, channels, *sizes]")
def batch_norm(
    input: ArrayLike,
    running_mean: ArrayLike,
    running_var: ArrayLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    """Normalise each channel like torch.nn.functional.batch_norm.

    Args:
        input: ``[batch, channels, *sizes]``; floating.
        running_mean: the moving mean, [channels]; not None, even while training.
        running_var: the moving variance, [channels].
        weight: gamma, [channels]; None for ones.
        bias: beta, [channels]; None for zeros.
        training: whether mean and variance are those of the batch, whose variance is divided by n.
        momentum: while training, the share of the *new* value in a moving average; Keras' is that of the old.
            The new variance is divided by n - 1.
        eps: what is added to the variance.

    Returns:
        The result, exact and rounded once; while training (result, running_mean, running_var).
        PyTorch writes the last two into its arguments; here no argument changes.

    Raises:
        ValueError, TypeError: if shapes do not fit each other, a number of a channel is not finite, variance
            + eps is not above 0, or a channel has too few numbers to train with.

    Source: aten/src/ATen/native/Normalization.cpp (2.13).

    >>> import numpy as np, teachconv as tc
    >>> x, zero, one = np.float32([[1], [3]]), np.float32([0]), np.float32([1])
    >>> y, mean, var = tc.dialects.torch.batch_norm(x, zero, one, training=True, momentum=0.5, eps=3.0)
    >>> y.ravel().tolist(), mean.tolist(), var.tolist()
    ([-0.5, 0.5], [1.0], [1.5])
    """
    return run_window(
        batch_norm,
        input=input,
        running_mean=running_mean,
        running_var=running_var,
        weight=weight,
        bias=bias,
        training=training,
        momentum=momentum,
        eps=eps,
    )


# ---------------------------------------------------------------------------------------------
# Resizes
# ---------------------------------------------------------------------------------------------

_LINEAR = {3: "linear", 4: "bilinear", 5: "trilinear"}  # the word for each number of axes


def _interpolate(
    input: Shape,
    size: Any,
    scale_factor: Any,
    mode: Any,
    align_corners: Any,
    recompute_scale_factor: Any,
    antialias: Any,
) -> ResizeCall:
    """Resolve a call of interpolate."""
    rank, linear, scales = len(input) - 2, _LINEAR[len(input)], dict[int, Fraction]()
    check_defined(mode, "mode", "nearest", "nearest-exact", linear)
    check_defined(antialias, "antialias", False)
    if align_corners is not None and mode != linear:
        raise ArgumentError(f"align_corners must be None for {mode}; got {brief(align_corners)}")
    recomputed = truth(recompute_scale_factor, "recompute_scale_factor")
    if (size is None) == (scale_factor is None) or (size is not None and recomputed):
        raise ArgumentError(
            "one of size and scale_factor must be given, recompute_scale_factor with the latter only; got "
            f"{brief(size)}, {brief(scale_factor)} and {brief(recompute_scale_factor)}"
        )
    if size is None:
        numbers = factors(scale_factor, "scale_factor", rank)
        sizes = [floor(n * number) for n, number in zip(input[2:], numbers, strict=True)]
        check_steps(sizes, "scale_factor", scale_factor)
        if not recomputed:
            scales = dict(enumerate(map(Fraction, numbers), 2))
    else:
        sizes = [*ints(size, "size", rank)]
    # PyTorch's loops ignore the scale of an axis whose size stays, and the nearest of two axes if it doubles
    ignoring = [1] * (mode == linear) + [1, 2] * (mode == "nearest" and rank == 2)
    scales = {n: scale for n, scale in scales.items() if sizes[n - 2] not in [k * input[n] for k in ignoring]}
    coordinates = "align_corners" if truth(align_corners, "align_corners") else "half_pixel"
    reads = {"nearest": "floor", "nearest-exact": "round_prefer_ceil"}.get(mode, "linear")
    facts = "asymmetric" if mode == "nearest" else coordinates, reads
    layout = "NC" + "DHW"[-rank:]
    return resize_call("torch.interpolate", "size", layout, input, dict(enumerate(sizes, 2)), scales, *facts)


@window_function(_interpolate, "input", (3, 4, 5), "[batch, channels, *sizes]")
def interpolate(
    input: ArrayLike,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: Literal["nearest", "nearest-exact", "linear", "bilinear", "trilinear"] = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> np.ndarray:
    """Return images of another size like torch.nn.functional.interpolate.

    Args:
        input: ``[batch, channels, *sizes]``; linearly of a floating dtype.
        size: the sizes of the result, an int or one for each axis; or None.
        scale_factor: what the sizes are multiplied by, and rounded down; a number or one for each axis.
        mode: "nearest", for which a cell lies at its index times the step and reads the cell at or before it;
            "nearest-exact", by half pixels; or "linear", "bilinear" or "trilinear" for one, two or three
            axes.
        align_corners: whether the first and the last cells coincide; half pixels otherwise. None for nearest.
        recompute_scale_factor: whether the step follows from the sizes; otherwise it is 1 / ``scale_factor``,
            which differs where a size was rounded down.
        antialias: must be False.

    Returns:
        The resized array; an interpolated cell is exact and rounded once.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments, or for bicubic, area and antialias.

    Source: torch/nn/functional.py and aten/src/ATen/native/UpSample.h (2.13).

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([[[0, 4]]])
    >>> tc.dialects.torch.interpolate(x, 4, mode="linear").ravel().tolist()
    [0.0, 1.0, 3.0, 4.0]
    >>> tc.dialects.torch.interpolate(x, 5, mode="linear", align_corners=True).ravel().tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    return run_window(
        interpolate,
        input=input,
        size=size,
        scale_factor=scale_factor,
        mode=mode,
        align_corners=align_corners,
        recompute_scale_factor=recompute_scale_factor,
        antialias=antialias,
    )


def _shuffled(function: str, argument: str, to_depth: bool) -> Callable[..., ShuffleCall]:
    """Return the resolver of pixel_shuffle or pixel_unshuffle."""

    def resolve(input: Shape, **factor: Any) -> ShuffleCall:
        facts = function, input, "NDEF"[: len(input) - 3] + "CHW", argument, factor[argument], "CRD"
        return shuffle_call(*facts, to_depth=to_depth)

    return resolve


_PIXEL_SHUFFLE = _shuffled("torch.pixel_shuffle", "upscale_factor", False)
_PIXEL_UNSHUFFLE = _shuffled("torch.pixel_unshuffle", "downscale_factor", True)


@window_function(_PIXEL_SHUFFLE, "input", (3, 4, 5, 6), "[*batch, channels, rows, cols]")
def pixel_shuffle(input: ArrayLike, upscale_factor: Int) -> np.ndarray:
    """Return channels as blocks of pixels like torch.nn.functional.pixel_shuffle.

    Channel (channel · upscale_factor + row) · upscale_factor + col becomes the pixel (row, col) of a block;
    TensorFlow's ``depth_to_space`` numbers the channels in another order.

    Args:
        input: [channels · upscale_factor², rows, cols] with any axes before; of any dtype.
        upscale_factor: how many rows, and columns, a block has.

    Returns:
        [channels, rows · upscale_factor, cols · upscale_factor] with the same axes before.

    Raises:
        ValueError, TypeError: if PyTorch refuses the arguments.

    Source: aten/src/ATen/native/PixelShuffle.cpp (2.13).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.pixel_shuffle(np.arange(8).reshape(8, 1, 1), 2)[0].tolist()
    [[0, 1], [2, 3]]
    """
    return run_window(pixel_shuffle, input=input, upscale_factor=upscale_factor)


@window_function(_PIXEL_UNSHUFFLE, "input", (3, 4, 5, 6), "[*batch, channels, rows, cols]")
def pixel_unshuffle(input: ArrayLike, downscale_factor: Int) -> np.ndarray:
    """Return blocks of pixels as channels like torch.nn.functional.pixel_unshuffle, the inverse.

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.torch.pixel_unshuffle(np.arange(4).reshape(1, 2, 2), 2).ravel().tolist()
    [0, 1, 2, 3]
    """
    return run_window(pixel_unshuffle, input=input, downscale_factor=downscale_factor)
