"""ONNX's Conv and ConvTranspose of opset 22, as onnxruntime computes them.

Activations are NCHW. Filters are OIHW; those of ConvTranspose are [in, out/group, rows, cols]. ``pads`` are
[top, left, bottom, right]. Where onnxruntime and the specification's reference evaluator differ, this module
follows onnxruntime. It also computes what the specification allows and onnxruntime lacks: auto_pad SAME with
a dilation, output_padding from the stride up to the dilation, float64. The derivation of a call notes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, Literal, Never

import numpy as np

from .. import tables
from ..argument_types import ArrayLike, Backend, Int
from ..arguments import Pads, Pair, Shape, check_steps, integer
from ..errors import ArgumentError, ArgumentTypeError, brief, is_one_of, suggestion
from ..geometry import AxisGeometry, Conv2DGeometry, cropped_axis, forward_geometry, split_padding
from ..kinds import OPS
from .calls import (
    ConvCall,
    Operand,
    check_bias,
    check_groups,
    check_size,
    count,
    dialect_function,
    full_size,
    pair,
    run,
)

__all__ = ["conv", "conv_transpose"]

_X = Operand("X", "input", "[batch, channels, rows, cols]")
_W = Operand("W", "filters", "[out, in / group, rows, cols]")
_W_TRANSPOSED = Operand("W", "filters", "[in, out / group, rows, cols]")
_B = Operand("B", "bias")

_AUTO_PAD = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
_FORWARD_MODES = {"SAME_UPPER": "SAME", "SAME_LOWER": "SAME_LOWER", "VALID": "VALID", "NOTSET": "EXPLICIT"}


# ---------------------------------------------------------------------------------------------
# Resolvers: each takes shapes and attributes and returns a ConvCall
# ---------------------------------------------------------------------------------------------


def _attributes(
    X: Shape, W: Shape, auto_pad: Any, strides: Any, dilations: Any, kernel_shape: Any
) -> tuple[Pair, Pair]:
    """Check the attributes that both ops have; return strides and dilations."""
    if not is_one_of(auto_pad, _AUTO_PAD):
        near = suggestion(auto_pad, _AUTO_PAD)
        raise ArgumentError(f"auto_pad must be one of {', '.join(_AUTO_PAD)}; got {brief(auto_pad)}{near}")
    if kernel_shape is not None:
        size = pair(kernel_shape, "kernel_shape", scalar=False)
        if size != tuple(W[2:]):
            raise ArgumentError(f"kernel_shape must be W's {list(W[2:])}, or be left out; got {list(size)}")
    if 0 in X[2:]:
        raise ArgumentError(f"X must have at least one row and one column; got shape {list(X)}")
    return _pair(strides, "strides"), _pair(dilations, "dilations")


def _pair(value: Any, name: str, least: int = 1) -> Pair:
    """Return an attribute of 2 ints, or (1, 1) for None."""
    return (1, 1) if value is None else pair(value, name, least=least, scalar=False)


def _pads(pads: Any, auto_pad: str) -> Pads:
    """Return ONNX's [top, left, bottom, right] as ((top, bottom), (left, right))."""
    if pads is None:
        return (0, 0), (0, 0)
    if isinstance(pads, str) or not hasattr(pads, "__iter__"):
        raise ArgumentTypeError(f"pads must be 4 ints, [top, left, bottom, right]; got {brief(pads)}")
    numbers = [integer(pad, "pads") for pad in islice(pads, 5)]
    if len(numbers) != 4:
        raise ArgumentError(f"pads must be 4 ints, [top, left, bottom, right]; got {brief(pads)}")
    if min(numbers) < 0:
        raise ArgumentError(f"pads must not be negative in ONNX; got {brief(pads)}")
    check_steps(numbers, "pads", pads)
    if auto_pad != "NOTSET" and any(numbers):
        raise ArgumentError(
            f"pads and auto_pad {auto_pad} both set the padding; give only one of them; got pads "
            f"{brief(pads)}"
        )
    top, left, bottom, right = numbers
    return (top, bottom), (left, right)


def _conv(
    X: Shape,
    W: Shape,
    B: Shape | None,
    auto_pad: Any,
    dilations: Any,
    group: Any,
    kernel_shape: Any,
    pads: Any,
    strides: Any,
) -> ConvCall:
    """Resolve a call of Conv."""
    n, in_channels, in_rows, in_cols = X
    outs, depth, rows, cols = W
    step, spread = _attributes(X, W, auto_pad, strides, dilations, kernel_shape)
    groups = count(group, "group")
    check_groups(groups, "group", in_channels, depth, "W.shape[1]", outs, "W.shape[0]")
    check_bias(B, outs, "B")
    padding = (_FORWARD_MODES[auto_pad], _pads(pads, auto_pad))
    geometry = forward_geometry(
        (n, in_rows, in_cols, in_channels), (rows, cols, depth, outs), step, padding, spread
    )
    steps = ["filter: W.transpose(2, 3, 1, 0), OIHW to HWIO, no flip"]
    if auto_pad.startswith("SAME"):
        where = "bottom, as TensorFlow's SAME" if auto_pad == "SAME_UPPER" else "top"
        steps.append(f"auto_pad {auto_pad}: the odd row goes to the {where}")
        if spread != (1, 1):
            steps.append("onnxruntime 1.31.1 refuses auto_pad with a dilation; the specification does not")
    bias = B is not None
    return ConvCall(
        "onnx.conv", OPS["conv2d"], geometry, "NCHW", "OIHW", "NCHW", bias=bias, steps=tuple(steps)
    )


def _conv_transpose(
    X: Shape,
    W: Shape,
    B: Shape | None,
    auto_pad: Any,
    dilations: Any,
    group: Any,
    kernel_shape: Any,
    output_padding: Any,
    output_shape: Any,
    pads: Any,
    strides: Any,
) -> ConvCall:
    """Resolve a call of ConvTranspose."""
    n, in_channels, *in_sizes = X
    weight_in, depth, *sizes = W
    step, spread = _attributes(X, W, auto_pad, strides, dilations, kernel_shape)
    groups = count(group, "group")
    if weight_in != in_channels:
        raise ArgumentError(f"W.shape[0] must be X's {tables.count(in_channels, 'channel')}; got {weight_in}")
    if in_channels % groups:
        raise ArgumentError(f"group must divide X's {tables.count(in_channels, 'channel')}; got {groups}")
    check_bias(B, depth * groups, "B")
    extra = (
        (0, 0) if output_padding is None else pair(output_padding, "output_padding", least=0, scalar=False)
    )
    wanted: tuple[int | None, int | None] = (None, None)
    if output_shape is not None:
        wanted = pair(output_shape, "output_shape", scalar=False)
        pads = None  # output_shape determines the pads; like onnxruntime, ignore those given
    both = _pads(pads, auto_pad)
    rows, cols = (
        _transposed_axis(auto_pad, *facts)
        for facts in zip(("rows", "cols"), in_sizes, sizes, step, spread, both, extra, wanted, strict=True)
    )
    geometry = Conv2DGeometry(n, (rows, cols), depth * groups, in_channels, groups)
    steps = ["filter: W.transpose(2, 3, 1, 0), [in, out, rows, cols] to [rows, cols, out, in], no flip"]
    if any(r >= s for r, s in zip(extra, step, strict=True)):
        steps.append(
            "onnxruntime 1.31.1 refuses an output_padding of the stride or more; the specification does not"
        )
    short = any(axis.effective_filter < axis.stride for axis in (rows, cols))
    if auto_pad.startswith("SAME") and output_shape is None and short:
        steps.append(
            "filter shorter than stride: o = F, as in onnxruntime; the specification's text and its "
            "reference evaluator give i·s, with zeros after F"
        )
    bias = B is not None
    return ConvCall(
        "onnx.conv_transpose",
        OPS["conv2d_transpose"],
        geometry,
        "NCHW",
        "IOHW",
        "NCHW",
        bias=bias,
        steps=tuple(steps),
    )


def _transposed_axis(
    auto_pad: str,
    axis: str,
    i: int,
    k: int,
    s: int,
    d: int,
    pads: Pair,
    extra: int,
    wanted: int | None,
) -> AxisGeometry:
    """Return one axis of ConvTranspose; onnxruntime/core/providers/cpu/nn/conv_transpose_attributes.h."""
    if extra >= max(s, d):
        raise ArgumentError(
            f"output_padding {axis} must be from 0 to {max(s, d) - 1} (below the larger of stride {s} and "
            f"dilation {d}); got {extra}"
        )
    full = full_size(i, k, s, d)
    before, after = pads
    if wanted is None and not auto_pad.startswith("SAME"):
        o = full - before - after + extra
        check_size(o, axis, full, f"pads {before} and {after}", i)
        chosen = [
            "output            o  = F - pad_begin - pad_end + output_padding"
            f" = {full} - {before} - {after} + {extra} = {o}"
        ]
        return cropped_axis(i, k, s, d, before, after, o, chosen)
    if wanted is not None and wanted > full + s - 1:
        raise ArgumentError(
            f"output_shape {axis} must be at most F + stride - 1 = {full + s - 1} (input {i}, filter {k}, "
            f"stride {s}, dilation {d}); got {wanted}"
        )
    target = i * s if wanted is None else wanted
    surplus = full + extra - target
    total = max(0, surplus)
    lower = auto_pad != "SAME_UPPER"
    before, after = split_padding(total, lower)
    o = full + extra - total if wanted is None else wanted
    name = "i·s" if wanted is None else "output_shape"
    first = "P - ⌊P / 2⌋" if lower else "⌊P / 2⌋"
    chosen = [
        f"total padding     P  = max(0, F + output_padding - {name})"
        f" = max(0, {full} + {extra} - {target}) = {total}",
        f"{auto_pad:<17} pad_begin = {first} = {before}, pad_end = {after}",
        f"output            o  = {o}"
        + (" = F + output_padding - P" if wanted is None else ", requested (output_shape)"),
    ]
    return cropped_axis(i, k, s, d, before, after, o, chosen)


# ---------------------------------------------------------------------------------------------
# The functions
# ---------------------------------------------------------------------------------------------


@dialect_function("onnx.conv", _conv, _X, _W, _B)
def conv(
    X: ArrayLike,
    W: ArrayLike,
    B: ArrayLike | None = None,
    *,
    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET",
    dilations: Sequence[Int] | None = None,
    group: Int = 1,
    kernel_shape: Sequence[Int] | None = None,
    pads: Sequence[Int] | None = None,
    strides: Sequence[Int] | None = None,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve like ONNX's Conv.

    Args:
        X: [batch, in_channels, in_rows, in_cols].
        W: [out_channels, in_channels / group, filter_rows, filter_cols], of X's dtype.
        B: [out_channels] or None.
        auto_pad: "NOTSET" (use ``pads``), "VALID", "SAME_UPPER" (the odd row at the bottom, as in
            TensorFlow) or "SAME_LOWER" (the odd row at the top).
        dilations: 2 ints; None means 1.
        group: must divide the numbers of input and output channels.
        kernel_shape: W's rows and columns; None takes them from W.
        pads: [top, left, bottom, right], none of them negative; only with auto_pad NOTSET.
        strides: 2 ints; None means 1.
        backend: as in `teachconv.conv2d`.

    Returns:
        [batch, out_channels, out_rows, out_cols].

    Raises:
        ValueError, TypeError: if the specification forbids the arguments.

    Source: https://onnx.ai/onnx/operators/onnx__Conv.html, opset 22.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([[[[1, 2, 3, 4]]]]), np.int32([[[[1, 10]]]])
    >>> tc.dialects.onnx.conv(x, w, auto_pad="SAME_UPPER").ravel().tolist()
    [21, 32, 43, 4]
    >>> tc.dialects.onnx.conv(x, w, auto_pad="SAME_LOWER").ravel().tolist()
    [10, 21, 32, 43]
    """
    return run(
        conv,
        backend,
        unknown,
        X=X,
        W=W,
        B=B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )


@dialect_function("onnx.conv_transpose", _conv_transpose, _X, _W_TRANSPOSED, _B)
def conv_transpose(
    X: ArrayLike,
    W: ArrayLike,
    B: ArrayLike | None = None,
    *,
    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET",
    dilations: Sequence[Int] | None = None,
    group: Int = 1,
    kernel_shape: Sequence[Int] | None = None,
    output_padding: Sequence[Int] | None = None,
    output_shape: Sequence[Int] | None = None,
    pads: Sequence[Int] | None = None,
    strides: Sequence[Int] | None = None,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply a transposed convolution like ONNX's ConvTranspose.

    The full result has F = (in - 1) * stride + dilation * (filter - 1) + 1 rows, and likewise columns. The
    result is full[pad_begin : pad_begin + out]. ``pads`` and ``output_padding`` give out = F - pads +
    output_padding. With ``output_shape`` or auto_pad SAME the size is given and determines the pads.

    Args:
        X: [batch, in_channels, in_rows, in_cols].
        W: [in_channels, out_channels / group, filter_rows, filter_cols], of X's dtype.
        B: [out_channels] or None.
        auto_pad: "NOTSET", "VALID", "SAME_UPPER" or "SAME_LOWER". The larger half of an odd padding goes to
            the end for SAME_UPPER, and to the *beginning* for everything else, NOTSET included.
        dilations: 2 ints; None means 1.
        group: must divide the numbers of input and output channels.
        kernel_shape: W's rows and columns; None takes them from W.
        output_padding: 2 ints below the larger of stride and dilation; None means 0.
        output_shape: 2 ints, the result's rows and columns; ``pads`` are then ignored.
        pads: [top, left, bottom, right], none of them negative; only with auto_pad NOTSET.
        strides: 2 ints; None means 1.
        backend: as in `teachconv.conv2d`.

    Returns:
        [batch, out_channels, out_rows, out_cols].

    Raises:
        ValueError, TypeError: if the specification forbids the arguments.

    Source: https://onnx.ai/onnx/operators/onnx__ConvTranspose.html, opset 22, and onnxruntime's
    conv_transpose_attributes.h. If the filter is shorter than the stride, SAME gives F rows there, where the
    specification's reference evaluator gives in * stride.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([[[[1, 2]]]]), np.int32([[[[1, 10, 100]]]])
    >>> tc.dialects.onnx.conv_transpose(x, w, strides=[1, 2], auto_pad="SAME_UPPER").ravel().tolist()
    [1, 10, 102, 20]
    >>> tc.dialects.onnx.conv_transpose(x, w, strides=[1, 2], output_shape=[1, 4]).ravel().tolist()
    [10, 102, 20, 200]
    """
    return run(
        conv_transpose,
        backend,
        unknown,
        X=X,
        W=W,
        B=B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        output_padding=output_padding,
        output_shape=output_shape,
        pads=pads,
        strides=strides,
    )
