"""ONNX's convolutions, pools, Pad, BatchNormalization, Resize and DepthToSpace, as onnxruntime has them.

The opset is 22. Activations are NCHW, over one axis NCW, over three NCDHW. Filters are OIHW; those of
ConvTranspose are [in, out/group, rows, cols]. ``pads`` are [top, left, bottom, right]: all begins, then all
ends. Where onnxruntime and the specification's reference evaluator
differ, this module follows onnxruntime. It also computes what the specification allows and onnxruntime
lacks: auto_pad SAME with a dilation, output_padding from the stride up to the dilation, float64. The
derivation of a call notes both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import islice
from math import floor, prod
from typing import Any, Literal, Never

import numpy as np

from ..core.arguments import Pads, Pair, Shape, check_steps, integer, positive, truth
from ..core.geometry import ConvGeometry, forward_geometry, one_each
from ..core.kinds import AXES
from ..core.law import AxisGeometry, check_extra, cropped_axis, split_padding
from ..support.argument_types import ArrayLike, Backend, Int
from ..support.errors import ArgumentError, brief, check_word, is_one_of, suggestion
from ..windows.calls import run_window, window_function
from ..windows.normalization import BatchNormCall, finite, norm_call
from ..windows.padding import PadCall, pad_call
from ..windows.pooling import PoolCall, pool_call, refuse_wide_pads
from ..windows.resizing import (
    NEAREST,
    SHIFTS,
    ResizeCall,
    ShuffleCall,
    check_defined,
    resize_call,
    shuffle_call,
)
from .calls import (
    CONV,
    CONV_TRANSPOSE,
    ConvCall,
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
    rank_of,
    run,
    steps_of,
)

__all__ = [
    *("average_pool", "batch_normalization", "conv", "conv_transpose", "depth_to_space", "max_pool", "pad"),
    *("resize", "space_to_depth"),
]

_RANKS = (3, 4, 5)
_X = Operand("X", "input", "[batch, channels, *sizes]", _RANKS)
_W = Operand("W", "filters", "[out, in / group, *sizes]", _RANKS)
_W_TRANSPOSED = Operand("W", "filters", "[in, out / group, *sizes]", _RANKS)
_B = Operand("B", "bias")

_AUTO_PAD = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
_FORWARD_MODES = {"SAME_UPPER": "SAME", "SAME_LOWER": "SAME_LOWER", "VALID": "VALID", "NOTSET": "EXPLICIT"}


# ---------------------------------------------------------------------------------------------
# Resolvers: each takes shapes and attributes and returns a ConvCall
# ---------------------------------------------------------------------------------------------


def _attributes(
    X: Shape, W: Shape, auto_pad: Any, strides: Any, dilations: Any, kernel_shape: Any
) -> tuple[Shape, Shape]:
    """Check the attributes that both ops have; return strides and dilations."""
    rank = rank_of(X, W, "W")
    _check_auto_pad(auto_pad)
    if kernel_shape is not None:
        size = ints(kernel_shape, "kernel_shape", rank, scalar=False)
        if size != tuple(W[2:]):
            raise ArgumentError(f"kernel_shape must be W's {list(W[2:])}, or be left out; got {list(size)}")
    if 0 in X[2:]:
        raise ArgumentError(f"X must have at least {one_each(rank)}; got shape {list(X)}")
    return steps_of(strides, "strides", rank), steps_of(dilations, "dilations", rank)


def _check_auto_pad(auto_pad: Any) -> None:
    """Raise unless it is a word of ONNX."""
    if not is_one_of(auto_pad, _AUTO_PAD):
        near = suggestion(auto_pad, _AUTO_PAD)
        raise ArgumentError(f"auto_pad must be one of {', '.join(_AUTO_PAD)}; got {brief(auto_pad)}{near}")


_SIDES = {1: "[left, right]", 2: "[top, left, bottom, right]", 3: "[front, top, left, back, bottom, right]"}


def _sides(pads: Any, auto_pad: str, rank: int) -> Pads:
    """Return ONNX's pads, all begins and then all ends, as a pair for each axis."""
    if pads is None:
        return tuple((0, 0) for _ in range(rank))
    numbers = ints(pads, "pads", 2 * rank, least=None, scalar=False, axes=_SIDES[rank])
    if min(numbers) < 0:
        raise ArgumentError(f"pads must not be negative in ONNX; got {brief(pads)}")
    if auto_pad != "NOTSET" and any(numbers):
        raise ArgumentError(
            f"pads and auto_pad {auto_pad} both set the padding; give only one of them; got pads "
            f"{brief(pads)}"
        )
    return tuple((numbers[axis], numbers[rank + axis]) for axis in range(rank))


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
    n, in_channels, *in_sizes = X
    outs, depth, *sizes = W
    step, spread = _attributes(X, W, auto_pad, strides, dilations, kernel_shape)
    groups = positive(group, "group")
    check_groups(groups, "group", in_channels, depth, "W.shape[1]", outs, "W.shape[0]")
    check_bias(B, outs, "B")
    rank = len(sizes)
    padding = (_FORWARD_MODES[auto_pad], _sides(pads, auto_pad, rank))
    geometry = forward_geometry(
        (n, *in_sizes, in_channels), (*sizes, depth, outs), step, padding, spread, "W"
    )
    axes = "DHW"[-rank:]
    steps = [filter_step("W", f"OI{axes}", f"{axes}IO")]
    if auto_pad.startswith("SAME"):
        where = "end of the axis, as in TensorFlow" if auto_pad == "SAME_UPPER" else "beginning of the axis"
        steps.append(f"auto_pad {auto_pad}: the odd cell goes to the {where}")
        if max(spread) > 1:
            steps.append("onnxruntime 1.31.1 refuses auto_pad with a dilation; the specification does not")
    layout, bias = f"NC{axes}", B is not None
    return ConvCall(
        "onnx.conv", CONV[rank], geometry, layout, f"OI{axes}", layout, bias=bias, steps=tuple(steps)
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
    groups = positive(group, "group")
    check_transposed_groups(groups, "group", in_channels, "X's", weight_in, "W.shape[0]")
    check_bias(B, depth * groups, "B")
    rank = len(sizes)
    extra: Shape = (0,) * rank
    if output_padding is not None:
        extra = ints(output_padding, "output_padding", rank, least=0, scalar=False)
    wanted: tuple[int | None, ...] = (None,) * rank
    if output_shape is not None:
        wanted = ints(output_shape, "output_shape", rank, scalar=False)
        pads = None  # output_shape determines the pads; like onnxruntime, ignore those given
    both = _sides(pads, auto_pad, rank)
    axes = tuple(
        _transposed_axis(auto_pad, *facts)
        for facts in zip(AXES[-rank:], in_sizes, sizes, step, spread, both, extra, wanted, strict=True)
    )
    geometry = ConvGeometry(n, axes, depth * groups, in_channels, groups)
    letters = "DHW"[-rank:]
    steps = [filter_step("W", f"IO{letters}", f"{letters}OI")]
    if any(r >= s for r, s in zip(extra, step, strict=True)):
        steps.append(
            "onnxruntime 1.31.1 refuses an output_padding of the stride or more; the specification does not"
        )
    short = any(axis.effective_filter < axis.stride for axis in axes)
    if auto_pad.startswith("SAME") and output_shape is None and short:
        steps.append(
            "filter shorter than stride: o = F, as in onnxruntime; the specification's text and its "
            "reference evaluator give i·s, with zeros after F"
        )
    layout, bias = f"NC{letters}", B is not None
    return ConvCall(
        "onnx.conv_transpose",
        CONV_TRANSPOSE[rank],
        geometry,
        layout,
        f"IO{letters}",
        layout,
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
    check_extra(axis, extra, s, d)
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
    """Convolve like ONNX's Conv, over one, two or three axes.

    Args:
        X: ``[batch, in_channels, *in_sizes]`` with one, two (rows, cols) or three sizes.
        W: ``[out_channels, in_channels / group, *filter_sizes]``, of X's dtype.
        B: [out_channels] or None.
        auto_pad: "NOTSET" (use ``pads``), "VALID", "SAME_UPPER" (the odd cell at the end, as in
            TensorFlow) or "SAME_LOWER" (the odd cell at the beginning).
        dilations: one int for each axis; None means 1.
        group: must divide the numbers of input and output channels.
        kernel_shape: the filter's sizes; None takes them from W.
        pads: all begins, then all ends, such as [top, left, bottom, right], none of them negative; only with
            auto_pad NOTSET.
        strides: one int for each axis; None means 1.
        backend: as in `teachconv.conv2d`.

    Returns:
        ``[batch, out_channels, *out_sizes]``.

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
        X=X,
        W=W,
        B=B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
        backend=backend,
        unknown=unknown,
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
    """Apply a transposed convolution like ONNX's ConvTranspose, over one, two or three axes.

    The full result has F = (in - 1) * stride + dilation * (filter - 1) + 1 cells on each axis. The result is
    full[pad_begin : pad_begin + out]. ``pads`` and ``output_padding`` give out = F - pads +
    output_padding. With ``output_shape`` or auto_pad SAME the size is given and determines the pads.

    Args:
        X: ``[batch, in_channels, *in_sizes]`` with one, two (rows, cols) or three sizes.
        W: ``[in_channels, out_channels / group, *filter_sizes]``, of X's dtype.
        B: [out_channels] or None.
        auto_pad: "NOTSET", "VALID", "SAME_UPPER" or "SAME_LOWER". The larger half of an odd padding goes to
            the end for SAME_UPPER, and to the *beginning* for everything else, NOTSET included.
        dilations: one int for each axis; None means 1.
        group: must divide the numbers of input and output channels.
        kernel_shape: the filter's sizes; None takes them from W.
        output_padding: one int for each axis, below the larger of stride and dilation; None means 0.
        output_shape: the result's sizes; ``pads`` are then ignored.
        pads: all begins, then all ends, such as [top, left, bottom, right], none of them negative; only with
            auto_pad NOTSET.
        strides: one int for each axis; None means 1.
        backend: as in `teachconv.conv2d`.

    Returns:
        ``[batch, out_channels, *out_sizes]``.

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
        backend=backend,
        unknown=unknown,
    )


# ---------------------------------------------------------------------------------------------
# Pooling
# ---------------------------------------------------------------------------------------------


def _pool(reduce: str, name: str) -> Callable[..., PoolCall]:
    """Return the resolver of MaxPool or AveragePool."""

    def resolve(
        X: Shape,
        kernel_shape: Any,
        auto_pad: Any,
        ceil_mode: Any,
        dilations: Any,
        pads: Any,
        strides: Any,
        count_include_pad: Any = 0,
        storage_order: Any = 0,
        indices: Any = False,
    ) -> PoolCall:
        rank = len(X) - 2
        layout = "NC" + "DHW"[-rank:]
        _check_auto_pad(auto_pad)
        sizes = ints(kernel_shape, "kernel_shape", rank, scalar=False)
        ones = (1,) * rank
        steps = ones if strides is None else ints(strides, "strides", rank, scalar=False)
        spread = ones if dilations is None else ints(dilations, "dilations", rank, scalar=False)
        sides = _sides(pads, auto_pad, rank)
        refuse_wide_pads(sides, sizes, "pads")
        if auto_pad.startswith("SAME"):  # the pads of the window without its dilation
            plain = pool_call(name, reduce, X, layout, sizes, steps, (_FORWARD_MODES[auto_pad], sides))
            sides = plain.geometry.padding
        places = tuple(prod(X[axis + 1 :]) for axis in range(len(X)))
        if truth(storage_order, "storage_order"):
            places = (*places[:2], *(prod(X[2:axis]) for axis in range(2, len(X))))
        return pool_call(
            name,
            reduce,
            X,
            layout,
            sizes,
            steps,
            ("EXPLICIT", sides),
            spread,
            ceil=truth(ceil_mode, "ceil_mode"),
            divisor="padded" if truth(count_include_pad, "count_include_pad") else "inside",
            places=places if truth(indices, "indices") else (),
        )

    return resolve


_POOLED = "[batch, channels, *sizes]"


@window_function(_pool("max", "onnx.max_pool"), "X", (3, 4, 5), _POOLED)
def max_pool(
    X: ArrayLike,
    kernel_shape: Sequence[Int],
    *,
    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[Int] | None = None,
    pads: Sequence[Int] | None = None,
    storage_order: int = 0,
    strides: Sequence[Int] | None = None,
    indices: bool = False,
) -> Any:
    """Return the largest value of each window like ONNX's MaxPool, over one, two or three axes.

    Args:
        X: ``[batch, channels, *sizes]``.
        kernel_shape: the size of the window, an int for each axis.
        auto_pad: as in `conv`; SAME takes the pads of the window without its dilation, as onnxruntime does.
        ceil_mode: 1 if a last window that does not fit counts too, unless it would begin in the padding at
            the end; onnxruntime 1.32.0 does so for every opset from 10 to 22.
        dilations: the distance between the cells of a window.
        pads: all begins, then all ends; each smaller than the window.
        storage_order: 1 for indices in column-major order.
        strides: the distance between windows; None for 1, not for the window's size.
        indices: whether to return the operator's second output as well: where the values are in X, flattened;
            -1 for a window without cells.

    Returns:
        The values, or (values, indices). NaN is skipped, which ONNX does not define.

    Raises:
        ValueError, TypeError: if the specification or onnxruntime forbids the arguments.

    Source: https://onnx.ai/onnx/operators/onnx__MaxPool.html, opset 22, and onnxruntime's pool_attributes.h.

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([[[1, 2, 3, 4, 5]]])
    >>> tc.dialects.onnx.max_pool(x, [2], strides=[2], ceil_mode=1).tolist()
    [[[2.0, 4.0, 5.0]]]
    """
    return run_window(
        max_pool,
        X=X,
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        dilations=dilations,
        pads=pads,
        storage_order=storage_order,
        strides=strides,
        indices=indices,
    )


@window_function(_pool("average", "onnx.average_pool"), "X", (3, 4, 5), _POOLED)
def average_pool(
    X: ArrayLike,
    kernel_shape: Sequence[Int],
    *,
    auto_pad: Literal["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"] = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Sequence[Int] | None = None,
    pads: Sequence[Int] | None = None,
    strides: Sequence[Int] | None = None,
) -> Any:
    """Return the mean of each window like ONNX's AveragePool, over one, two or three axes.

    Args:
        X, kernel_shape, auto_pad, ceil_mode, dilations, pads, strides: as in `max_pool`.
        count_include_pad: 1 if padding counts in the divisor; what ``ceil_mode`` adds beyond it does not.

    Returns:
        The means, exact and rounded once; 0 for a window without cells.

    Raises:
        ValueError, TypeError: as `max_pool`.

    Source: https://onnx.ai/onnx/operators/onnx__AveragePool.html, opset 22.

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([[[6, 6, 6]]])
    >>> tc.dialects.onnx.average_pool(x, [3], pads=[1, 1]).tolist()
    [[[6.0, 6.0, 6.0]]]
    """
    return run_window(
        average_pool,
        X=X,
        kernel_shape=kernel_shape,
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        count_include_pad=count_include_pad,
        dilations=dilations,
        pads=pads,
        strides=strides,
    )


# ---------------------------------------------------------------------------------------------
# Padding
# ---------------------------------------------------------------------------------------------

_MODES = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}


def _chosen(axes: Any, shape: Shape) -> list[int]:
    """Return the axes that an argument is for, counted from the first; None stands for all."""
    rank = len(shape)
    several = range(rank) if axes is None else axes if hasattr(axes, "__iter__") else [axes]
    numbers = [integer(axis, "axes") for axis in islice(several, rank + 1)]
    found = [axis % rank for axis in numbers if -rank <= axis < rank]
    if len({*found}) < len(numbers):
        raise ArgumentError(f"axes must be axes of shape {list(shape)}, each once; got {brief(axes)}")
    return found


def _pad(data: Shape, pads: Any, constant_value: Any, axes: Any, mode: Any) -> PadCall:
    """Resolve a call of Pad."""
    chosen = _chosen(axes, data)
    numbers = ints(
        pads,
        "pads",
        2 * len(chosen),
        least=None,
        scalar=False,
        axes="all begins, then all ends, for the axes of data",
    )
    pairs = zip(numbers[: len(chosen)], numbers[len(chosen) :], strict=True)
    given = dict(zip(chosen, pairs, strict=True))
    sides = [given.get(axis, (0, 0)) for axis in range(len(data))]
    return pad_call(
        "onnx.pad",
        "pads",
        data,
        sides,
        mode,
        _MODES,
        constant_value,
        limits=is_one_of(mode, ["reflect"]),
        negative=True,
        crops_first=True,
        value_name="constant_value",
    )


@window_function(_pad, "data", None)
def pad(
    data: ArrayLike,
    pads: Sequence[Int],
    constant_value: float | None = None,
    axes: Sequence[Int] | None = None,
    *,
    mode: Literal["constant", "reflect", "edge", "wrap"] = "constant",
) -> Any:
    """Pad like ONNX's Pad: all begins first, then all ends.

    Args:
        data: an array of any number of axes.
        pads: [begin of each axis, ..., end of each axis, ...]. Negative numbers remove cells, before the mode
            looks at the cells.
        constant_value: the number that "constant" pads with; None stands for 0.
        axes: the axes that ``pads`` are for; None for all.
        mode: "constant"; "reflect", which does not repeat the edge, for less than the size; "edge", which
            repeats it; or "wrap", which wraps around.

    Returns:
        The padded array.

    Raises:
        ValueError, TypeError: if the specification or onnxruntime forbids the arguments.

    Source: https://onnx.ai/onnx/operators/onnx__Pad.html, opset 21, and onnxruntime's pad.cc.

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.onnx.pad(np.int32([[1, 2, 3]]), [0, 1, 0, 2], mode="edge").tolist()
    [[1, 1, 2, 3, 3, 3]]
    """
    return run_window(pad, data=data, pads=pads, constant_value=constant_value, axes=axes, mode=mode)


# ---------------------------------------------------------------------------------------------
# Batch normalisation
# ---------------------------------------------------------------------------------------------


def _batch_normalization(
    X: Shape,
    scale: Any,
    B: Any,
    input_mean: Any,
    input_var: Any,
    epsilon: Any,
    momentum: Any,
    training_mode: Any,
) -> BatchNormCall:
    """Resolve a call of BatchNormalization."""
    given = {"input_mean": input_mean, "input_var": input_var, "scale": scale, "B": B}
    eps, share = (  # an attribute of a node holds float32
        float(np.float32(finite(value, name)))
        for name, value in (("epsilon", epsilon), ("momentum", momentum))
    )
    keeps = Fraction(share) if truth(training_mode, "training_mode") else None
    return norm_call("onnx.batch_normalization", "X", X, 1, eps, given, (None,) * 4, keeps=keeps)


@window_function(_batch_normalization, "X", (2, 3, 4, 5), "[batch, channels, *sizes]")
def batch_normalization(
    X: ArrayLike,
    scale: ArrayLike,
    B: ArrayLike,
    input_mean: ArrayLike,
    input_var: ArrayLike,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> Any:
    """Normalise each channel like ONNX's BatchNormalization.

    Args:
        X: ``[batch, channels, *sizes]``; floating.
        scale: gamma, [channels].
        B: beta, [channels].
        input_mean: the moving mean, [channels].
        input_var: the moving variance, [channels].
        epsilon: what is added to the variance; an attribute holds float32.
        momentum: while training, the share of the *old* value in a moving average, as in Keras.
        training_mode: 1 if mean and variance are those of the batch, whose variance is divided by n.

    Returns:
        The result, exact and rounded once; with training_mode 1 (result, running_mean, running_var).

    Raises:
        ValueError, TypeError: as PyTorch's ``batch_norm``.

    Source: https://onnx.ai/onnx/operators/onnx__BatchNormalization.html, opset 15.

    >>> import numpy as np, teachconv as tc
    >>> x, zero, one = np.float32([[1], [3]]), np.float32([0]), np.float32([1])
    >>> tc.dialects.onnx.batch_normalization(x, one, one, one, one, epsilon=3.0).ravel().tolist()
    [1.0, 2.0]
    """
    return run_window(
        batch_normalization,
        X=X,
        scale=scale,
        B=B,
        input_mean=input_mean,
        input_var=input_var,
        epsilon=epsilon,
        momentum=momentum,
        training_mode=training_mode,
    )


# ---------------------------------------------------------------------------------------------
# Resizes
# ---------------------------------------------------------------------------------------------


def _resize(
    X: Shape,
    scales: Any,
    sizes: Any,
    antialias: Any,
    axes: Any,
    coordinate_transformation_mode: Any,
    exclude_outside: Any,
    keep_aspect_ratio_policy: Any,
    mode: Any,
    nearest_mode: Any,
    **_: Any,
) -> ResizeCall:
    """Resolve a call of Resize."""
    check_defined(mode, "mode", "nearest", "linear")
    check_defined(coordinate_transformation_mode, "coordinate_transformation_mode", *SHIFTS)
    check_word(nearest_mode, "nearest_mode", NEAREST)
    check_defined(antialias, "antialias", 0)
    check_defined(exclude_outside, "exclude_outside", 0)
    check_defined(keep_aspect_ratio_policy, "keep_aspect_ratio_policy", "stretch")
    chosen, ratios = _chosen(axes, X), dict[int, Fraction]()
    by_size, by_scale = (  # before opset 13 an array without numbers stands for none
        value is not None and getattr(value, "shape", None) != (0,) for value in (sizes, scales)
    )
    if by_size == by_scale:
        raise ArgumentError(f"one of scales and sizes must be given; got {brief(scales)} and {brief(sizes)}")
    if by_size:
        counts = ints(
            sizes, "sizes", len(chosen), least=None, scalar=False, axes="one for each axis of X, or of axes"
        )
    else:
        numbers = np.array(factors(scales, "scales", len(chosen)), np.float32)
        counts = tuple(map(floor, (numbers * np.array([X[axis] for axis in chosen], np.float32)).tolist()))
        check_steps(counts, "scales", scales)
        if counts != tuple(X[axis] for axis in chosen):  # else onnxruntime copies
            ratios = dict(zip(chosen, map(Fraction, numbers.tolist()), strict=True))
    reads = nearest_mode if mode == "nearest" else mode
    facts = coordinate_transformation_mode, reads, True
    layout, given = "NCDHW" if len(X) == 5 else "NCHWDEFG"[: len(X)], dict(zip(chosen, counts, strict=True))
    return resize_call("onnx.resize", "sizes", layout, X, given, ratios, *facts)


@window_function(_resize, "X", None)
def resize(
    X: ArrayLike,
    roi: Sequence[float] | None = None,
    scales: Sequence[float] | None = None,
    sizes: Sequence[Int] | None = None,
    *,
    antialias: int = 0,
    axes: Sequence[Int] | None = None,
    coordinate_transformation_mode: Literal[
        "half_pixel", "pytorch_half_pixel", "tf_half_pixel_for_nn", "asymmetric", "align_corners"
    ] = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: Literal["stretch"] = "stretch",
    mode: Literal["nearest", "linear"] = "nearest",
    nearest_mode: Literal["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"] = "round_prefer_floor",
) -> np.ndarray:
    """Return images of another size like ONNX's Resize.

    Args:
        X: an array of any number of axes; linearly of a floating dtype.
        roi, cubic_coeff_a, extrapolation_value: not used in these modes.
        scales: what the sizes are multiplied by, and rounded down, one float32 for each axis; or None.
        sizes: the sizes of the result, one for each axis; or None.
        antialias, exclude_outside: must be 0.
        axes: the axes that ``scales`` or ``sizes`` are for; None for all.
        coordinate_transformation_mode: where a cell of the result lies among the input's cells.
        keep_aspect_ratio_policy: must be "stretch".
        mode: "nearest" or "linear".
        nearest_mode: which cell is the nearest.

    Returns:
        The resized array; an interpolated cell is exact and rounded once.

    Raises:
        ValueError, TypeError: if the specification forbids the arguments, or for cubic, tf_crop_and_resize,
            half_pixel_symmetric and antialias.

    Source: https://onnx.ai/onnx/operators/onnx__Resize.html, opset 19, and onnxruntime's upsamplebase.h.

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([[[0, 4]]])
    >>> tc.dialects.onnx.resize(x, scales=[1, 1, 2], mode="linear").ravel().tolist()
    [0.0, 1.0, 3.0, 4.0]
    >>> tc.dialects.onnx.resize(x, sizes=[1, 1, 3], nearest_mode="ceil").ravel().tolist()
    [0.0, 4.0, 4.0]
    """
    return run_window(
        resize,
        X=X,
        roi=roi,
        scales=scales,
        sizes=sizes,
        antialias=antialias,
        axes=axes,
        coordinate_transformation_mode=coordinate_transformation_mode,
        cubic_coeff_a=cubic_coeff_a,
        exclude_outside=exclude_outside,
        extrapolation_value=extrapolation_value,
        keep_aspect_ratio_policy=keep_aspect_ratio_policy,
        mode=mode,
        nearest_mode=nearest_mode,
    )


def _depth_to_space(input: Shape, blocksize: Any, mode: Any) -> ShuffleCall:
    """Resolve a call of DepthToSpace."""
    check_word(mode, "mode", ("DCR", "CRD"))
    return shuffle_call("onnx.depth_to_space", input, "NCHW", "blocksize", blocksize, mode)


@window_function(_depth_to_space, "input", (4,), "[batch, channels, rows, cols]")
def depth_to_space(input: ArrayLike, blocksize: Int, *, mode: Literal["DCR", "CRD"] = "DCR") -> np.ndarray:
    """Return channels as blocks of pixels like ONNX's DepthToSpace.

    Args:
        input: [batch, channels · blocksize², rows, cols]; of any dtype.
        blocksize: how many rows, and columns, a block has.
        mode: "DCR" if the pixel of the block comes first in a channel's number, as in TensorFlow; "CRD" if
            the channel does, as in PyTorch's ``pixel_shuffle``.

    Returns:
        [batch, channels, rows · blocksize, cols · blocksize].

    Raises:
        ValueError, TypeError: if the specification forbids the arguments.

    Source: https://onnx.ai/onnx/operators/onnx__DepthToSpace.html, opset 13.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(8).reshape(1, 8, 1, 1)
    >>> [tc.dialects.onnx.depth_to_space(x, 2, mode=mode)[0, 0].tolist() for mode in ("DCR", "CRD")]
    [[[0, 2], [4, 6]], [[0, 1], [2, 3]]]
    """
    return run_window(depth_to_space, input=input, blocksize=blocksize, mode=mode)


def _space_to_depth(input: Shape, blocksize: Any) -> ShuffleCall:
    """Resolve a call of SpaceToDepth."""
    facts = "onnx.space_to_depth", input, "NCHW", "blocksize", blocksize, "DCR"
    return shuffle_call(*facts, to_depth=True)


@window_function(_space_to_depth, "input", (4,), "[batch, channels, rows, cols]")
def space_to_depth(input: ArrayLike, blocksize: Int) -> np.ndarray:
    """Return blocks of pixels as channels like ONNX's SpaceToDepth, the inverse of `depth_to_space` with DCR.

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.onnx.space_to_depth(np.arange(4).reshape(1, 1, 2, 2), 2).ravel().tolist()
    [0, 1, 2, 3]
    """
    return run_window(space_to_depth, input=input, blocksize=blocksize)
