"""From a geometry back to a call: how each framework expresses a convolution, and what it cannot express.

`target_call` uses the framework's padding strings where they fit, explicit numbers where those do, and
otherwise pads or crops before or after the call. It has no padding arithmetic of its own: it checks every
choice against `geometry`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .. import nn_ops
from ..arguments import Pads, Pair
from ..dialects import jax, keras, onnx, torch
from ..dialects.calls import ConvCall
from ..geometry import AxisGeometry, forward_axis, split_padding

__all__ = ["TARGETS", "TargetCall", "filter_letters", "is_input_gradient", "is_transposed", "target_call"]

TARGETS = ("tensorflow", "torch", "jax", "onnx", "keras", "scipy")
_NONE: Pads = ((0, 0), (0, 0))


@dataclass(frozen=True, slots=True)
class TargetCall:
    """One call of a framework's function, and what has to be done before and after it.

    Attributes:
        target: the framework.
        function: teachconv's function of the same signature, or None for SciPy, which has none here.
        name: the function's name in the framework.
        arguments: all arguments but the arrays.
        layout: the layout of the input.
        out_layout: the layout of the output.
        filter_layout: the layout of the filter.
        regroup: whether the filter's groups lie along its output channels.
        flip: whether the framework's filter is flipped, compared with teachconv's.
        stuffs: whether the call itself inserts zeros between the input's cells.
        pad_input: zeros to add before the call, ((top, bottom), (left, right)); negative numbers crop.
        pad_output: zeros to add after the call, likewise.
        split: the number of groups to compute in separate calls.
        notes: sentences on what the framework cannot express directly.
        why_not: why there is no such call, or "".
    """

    target: str
    function: Callable[..., Any] | None = None
    name: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    layout: str = "NHWC"
    out_layout: str = "NHWC"
    filter_layout: str = "HWIO"
    regroup: bool = False
    flip: bool = False
    stuffs: bool = False
    pad_input: Pads = _NONE
    pad_output: Pads = _NONE
    split: int = 1
    notes: tuple[str, ...] = ()
    why_not: str = ""


def is_transposed(conv: ConvCall) -> bool:
    """Return whether the call scatters: a transposed convolution, or a gradient with respect to the input."""
    return conv.kind.scatters


def is_input_gradient(conv: ConvCall) -> bool:
    """Return whether the call is a gradient with respect to the input of a forward convolution."""
    return conv.kind.scatters and not conv.op.transposed


def filter_letters(conv: ConvCall) -> str:
    """Return the filter's layout, with I and O for the input and output channels of *this* call."""
    if is_input_gradient(conv):  # its filter is named for the forward convolution
        return conv.filter_layout.translate(str.maketrans("IO", "OI"))
    return conv.filter_layout


def target_call(conv: ConvCall, target: str) -> TargetCall:
    """Return the call of a framework that computes a convolution.

    Args:
        conv: the convolution.
        target: one of `TARGETS`.

    Returns:
        A `TargetCall`; its ``why_not`` is set if the framework has no such call.
    """
    problem = _impossible(conv, target)
    if problem:
        return TargetCall(target, why_not=problem)
    return (_TRANSPOSED if is_transposed(conv) else _FORWARD)[target](conv)


_GRADIENT = {
    "tensorflow": "tf.raw_ops.Conv2DBackpropFilter",
    "torch": "torch.nn.grad.conv2d_weight",
    "jax": "jax.vjp of conv_general_dilated",
    "onnx": "no operator",
    "keras": "no function; use the automatic differentiation of its backend",
    "scipy": "no function",
}


def _impossible(conv: ConvCall, target: str) -> str:
    """Return why a framework has no call for a convolution, or ""."""
    g = conv.geometry
    if conv.kind.sums_images:
        return (
            "the call computes a filter, so there is no filter that convolve(x, w) could take; "
            f"for this {target} has {_GRADIENT[target]}"
        )
    sizes = (*g.input_shape, *g.output_shape, *g.filters_shape)
    if 0 in sizes and target != "jax":
        return (
            f"the result or an input is empty ({list(conv.input_shape)} -> {list(conv.output_shape)}): "
            f"{target} refuses that, or returns something else"
        )
    return ""


# ---------------------------------------------------------------------------------------------
# Forward
# ---------------------------------------------------------------------------------------------


def _axes(conv: ConvCall) -> tuple[AxisGeometry, AxisGeometry]:
    """Return rows and columns."""
    return conv.geometry.rows, conv.geometry.cols


def _pads(conv: ConvCall) -> Pads:
    """Return the forward convolution's pads."""
    rows, cols = _axes(conv)
    return (rows.pad_before, rows.pad_after), (cols.pad_before, cols.pad_after)


def _is_same(conv: ConvCall) -> bool:
    """Return whether SAME gives these sizes and this alignment."""
    for axis in _axes(conv):
        same = forward_axis(
            "rows",
            axis.in_size,
            axis.filter_size,
            axis.stride,
            axis.dilation,
            "SAME",
            (0, 0),
            may_be_empty=True,
        )
        if (same.out_size, same.pad_before) != (axis.out_size, axis.pad_before):
            return False
    return True


def _cropped(pads: Pads) -> tuple[Pads, Pads]:
    """Split explicit pads into what is cropped first and what remains to be padded."""
    crop = tuple((min(0, before), min(0, after)) for before, after in pads)
    rest = tuple((max(0, before), max(0, after)) for before, after in pads)
    return crop, rest  # type: ignore[return-value]


_CROP_FIRST = "{} has no negative padding: the input is cropped first"


def _tensorflow(conv: ConvCall) -> TargetCall:
    """Return the call of tf.nn.conv2d."""
    arguments: dict[str, Any] = {"strides": conv.geometry.strides}
    crop, pads = _cropped(_pads(conv))
    if _is_same(conv):
        arguments["padding"], crop = "SAME", _NONE
    elif pads == _NONE:
        arguments["padding"] = "VALID"
    else:
        arguments["padding"] = [[0, 0], list(pads[0]), list(pads[1]), [0, 0]]
    if conv.geometry.dilations != (1, 1):
        arguments["dilations"] = conv.geometry.dilations
    notes = (_CROP_FIRST.format("TensorFlow"),) if crop != _NONE else ()
    return TargetCall("tensorflow", nn_ops.conv2d, "tf.nn.conv2d", arguments, pad_input=crop, notes=notes)


def _torch(conv: ConvCall) -> TargetCall:
    """Return the call of torch.nn.functional.conv2d."""
    arguments: dict[str, Any] = {"stride": conv.geometry.strides}
    before = [axis.pad_before for axis in _axes(conv)]
    pad, notes = _NONE, []
    if all(_is_symmetric(axis) for axis in _axes(conv)):
        if any(before):
            arguments["padding"] = tuple(before)
    else:
        pad = _pads(conv)
        (top, bottom), (left, right) = pad
        why = "no negative padding" if min(*pad[0], *pad[1]) < 0 else "no asymmetric padding"
        notes.append(f"torch has {why}: F.pad(x, ({left}, {right}, {top}, {bottom})) first")
    if conv.geometry.dilations != (1, 1):
        arguments["dilation"] = conv.geometry.dilations
    if conv.groups > 1:
        arguments["groups"] = conv.groups
    return TargetCall(
        "torch",
        torch.conv2d,
        "F.conv2d",
        arguments,
        "NCHW",
        "NCHW",
        "OIHW",
        pad_input=pad,
        notes=tuple(notes),
    )


def _is_symmetric(axis: AxisGeometry) -> bool:
    """Return whether pad_before on both sides gives the same result; rows that no tap reads do not matter."""
    if axis.pad_before < 0:
        return False
    pads = (axis.pad_before, axis.pad_before)
    both = forward_axis(
        "rows",
        axis.in_size,
        axis.filter_size,
        axis.stride,
        axis.dilation,
        "EXPLICIT",
        pads,
        may_be_empty=True,
    )
    return both.out_size == axis.out_size


def _jax(conv: ConvCall) -> TargetCall:
    """Return the call of jax.lax.conv_general_dilated."""
    arguments: dict[str, Any] = {"window_strides": conv.geometry.strides}
    arguments["padding"] = "SAME" if _is_same(conv) and not conv.has_gaps else _pads(conv)
    if conv.geometry.dilations != (1, 1):
        arguments["rhs_dilation"] = conv.geometry.dilations
    layouts = _jax_layouts(conv)
    arguments["dimension_numbers"] = (layouts[0], "HWIO", layouts[1])
    if conv.has_gaps:
        arguments["lhs_dilation"] = conv.stuffing
    if conv.groups > 1:
        arguments["feature_group_count"] = conv.groups
    name = "jax.lax.conv_general_dilated"
    return TargetCall("jax", jax.conv_general_dilated, name, arguments, *layouts, stuffs=conv.has_gaps)


def _jax_layouts(conv: ConvCall) -> tuple[str, str]:
    """Return the source's own layouts, since JAX reads and writes any layout."""
    first, result = conv.layout(conv.kind.first), conv.layout(conv.kind.result)
    return ("" if "N" in first else "N") + first, ("" if "N" in result else "N") + result


def _onnx(conv: ConvCall) -> TargetCall:
    """Return the node of ONNX's Conv."""
    crop, pads = _cropped(_pads(conv))
    arguments = _onnx_arguments(conv, pads)
    notes = (_CROP_FIRST.format("ONNX"),) if crop != _NONE else ()
    return TargetCall(
        "onnx", onnx.conv, "Conv", arguments, "NCHW", "NCHW", "OIHW", pad_input=crop, notes=notes
    )


def _onnx_arguments(conv: ConvCall, pads: Pads) -> dict[str, Any]:
    """Return the attributes that Conv and ConvTranspose have in common."""
    arguments: dict[str, Any] = {"strides": list(conv.geometry.strides)}
    if pads != _NONE:
        (top, bottom), (left, right) = pads
        arguments["pads"] = [top, left, bottom, right]
    if conv.geometry.dilations != (1, 1):
        arguments["dilations"] = list(conv.geometry.dilations)
    if conv.groups > 1:
        arguments["group"] = conv.groups
    return arguments


def _keras(conv: ConvCall) -> TargetCall:
    """Return the call of keras.ops.conv."""
    arguments: dict[str, Any] = {"strides": conv.geometry.strides}
    pad, notes = _NONE, []
    if _is_same(conv):
        arguments["padding"] = "same"
    else:
        arguments["padding"], pad = "valid", _pads(conv)
        if pad != _NONE:
            notes.append("Keras has no explicit padding: the input is padded (or cropped) first")
    if conv.geometry.dilations != (1, 1):
        arguments["dilation_rate"] = conv.geometry.dilations
        if max(conv.geometry.strides) > 1:
            notes.append("Keras' TensorFlow backend refuses strides together with dilation_rate")
    arguments["data_format"] = "channels_last"
    return TargetCall("keras", keras.conv, "keras.ops.conv", arguments, pad_input=pad, notes=tuple(notes))


def _scipy(conv: ConvCall) -> TargetCall:
    """Return the use of scipy.signal.correlate."""
    notes = ("SciPy has neither channels nor strides: one correlation for each output channel, subsampled",)
    return TargetCall("scipy", None, "signal.correlate", pad_input=_pads(conv), notes=notes)


# ---------------------------------------------------------------------------------------------
# Transposed: full[a : a + o], or the full result and a crop or pad after the call
# ---------------------------------------------------------------------------------------------


def _wanted(conv: ConvCall) -> list[tuple[int, int, int, int, int]]:
    """Return (a, o, F, stride, dilation) of each axis."""
    return [
        (axis.pad_before, axis.in_size, axis.full_size, axis.stride, axis.dilation) for axis in _axes(conv)
    ]


def _crop_of_full(conv: ConvCall) -> Pads:
    """Return the pads that turn the full result into full[a : a + o]; negative numbers crop."""
    rows, cols = ((-a, a + o - full) for a, o, full, _, _ in _wanted(conv))
    return rows, cols


_CROP_AFTER = "{} cannot express this alignment: the full result is computed, then cropped or padded"


def _end_pads(conv: ConvCall) -> tuple[Pads, Pair] | None:
    """Return pads, and an output_padding below the stride, that give (a, o), or None if there are none."""
    pads, extra = [], []
    for a, o, full, s, _ in _wanted(conv):
        after = max(0, full - a - o)
        more = o - (full - a - after)
        if a < 0 or not 0 <= more < s:
            return None
        pads.append((a, after))
        extra.append(more)
    return (pads[0], pads[1]), (extra[0], extra[1])


def _tensorflow_transpose(conv: ConvCall) -> TargetCall:
    """Return the call of tf.nn.conv2d_transpose."""
    g = conv.geometry
    outs = g.in_channels // conv.groups
    arguments: dict[str, Any] = {"output_shape": (g.batch, g.rows.in_size, g.cols.in_size, outs)}
    arguments["strides"] = g.strides
    wanted, crop, notes = _wanted(conv), _NONE, []
    ends = _end_pads(conv)
    if all(full - _ek(axis) < o <= axis.out_size * s and a == split_padding(max(0, full - o))[0]
           for (a, o, full, s, _), axis in zip(wanted, _axes(conv), strict=True)):  # fmt: skip
        arguments["padding"] = "SAME"
    elif all(a == 0 and full <= o < full + s for a, o, full, s, _ in wanted):
        arguments["padding"] = "VALID"
    elif ends is not None and g.dilations == (1, 1):
        arguments["padding"] = [[0, 0], list(ends[0][0]), list(ends[0][1]), [0, 0]]
    else:
        arguments["padding"], crop = "VALID", _crop_of_full(conv)
        arguments["output_shape"] = (g.batch, g.rows.full_size, g.cols.full_size, outs)
        notes.append(_CROP_AFTER.format("TensorFlow"))
    if g.dilations != (1, 1):
        arguments["dilations"] = g.dilations
        notes.append("on a CPU TensorFlow needs oneDNN for a dilation here")
    if conv.groups > 1:
        notes.append("one call for each group: not every build of TensorFlow has groups here")
    name = "tf.nn.conv2d_transpose"
    return TargetCall(
        "tensorflow",
        nn_ops.conv2d_transpose,
        name,
        arguments,
        filter_layout="HWOI",
        pad_output=crop,
        split=conv.groups,
        notes=tuple(notes),
    )


def _ek(axis: AxisGeometry) -> int:
    """Return the effective filter, including dilation gaps."""
    return axis.effective_filter


def _torch_transpose(conv: ConvCall) -> TargetCall:
    """Return the call of torch.nn.functional.conv_transpose2d."""
    arguments: dict[str, Any] = {"stride": conv.geometry.strides}
    wanted = _wanted(conv)
    extra = [o - (full - 2 * a) for a, o, full, _, _ in wanted]
    crop, notes = _NONE, []
    if all(a >= 0 and 0 <= more < max(s, d) for (a, _, _, s, d), more in zip(wanted, extra, strict=True)):
        if any(a for a, *_ in wanted):
            arguments["padding"] = tuple(a for a, *_ in wanted)
        if any(extra):
            arguments["output_padding"] = tuple(extra)
    else:
        crop = _crop_of_full(conv)
        (top, bottom), (left, right) = crop
        notes.append(
            "torch crops both sides equally: the full result is computed, then "
            f"F.pad(y, ({left}, {right}, {top}, {bottom})); negative numbers crop"
        )
    if conv.groups > 1:
        arguments["groups"] = conv.groups
    if conv.geometry.dilations != (1, 1):
        arguments["dilation"] = conv.geometry.dilations
    return TargetCall(
        "torch",
        torch.conv_transpose2d,
        "F.conv_transpose2d",
        arguments,
        "NCHW",
        "NCHW",
        "IOHW",
        pad_output=crop,
        notes=tuple(notes),
    )


def _jax_transpose(conv: ConvCall) -> TargetCall:
    """Return the call of jax.lax.conv_transpose, or with groups of conv_general_dilated."""
    g, layouts = conv.geometry, _jax_layouts(conv)
    pads = []
    for (a, o, full, _, _), axis in zip(_wanted(conv), _axes(conv), strict=True):
        before = axis.effective_filter - 1 - a
        pads.append((before, o - (full - axis.effective_filter + 1) - before + axis.effective_filter - 1))
    arguments: dict[str, Any] = {"padding": tuple(pads)}
    if g.dilations != (1, 1):
        arguments["rhs_dilation"] = g.dilations
    if conv.groups == 1:
        arguments = {"strides": g.strides} | arguments
        arguments["dimension_numbers"] = (layouts[0], "HWIO", layouts[1])
        if not conv.flip:  # JAX's own filter is flipped already
            arguments["transpose_kernel"] = True
        name = "jax.lax.conv_transpose"
        letters = "HWIO" if conv.flip else "HWOI"
        return TargetCall("jax", jax.conv_transpose, name, arguments, *layouts, letters, flip=conv.flip)
    arguments = (
        {"window_strides": (1, 1)}
        | arguments
        | {
            "lhs_dilation": g.strides,
            "dimension_numbers": (layouts[0], "HWOI", layouts[1]),
            "feature_group_count": conv.groups,
        }
    )
    note = "jax.lax.conv_transpose has no groups: conv_general_dilated with lhs_dilation, the filter flipped"
    return TargetCall(
        "jax",
        jax.conv_general_dilated,
        "jax.lax.conv_general_dilated",
        arguments,
        *layouts,
        filter_layout="HWOI",
        regroup=True,
        flip=True,
        notes=(note,),
    )


def _onnx_transpose(conv: ConvCall) -> TargetCall:
    """Return the node of ONNX's ConvTranspose."""
    ends, crop, notes = _end_pads(conv), _NONE, []
    if ends is None:
        crop = _crop_of_full(conv)
        notes.append(_CROP_AFTER.format("ONNX"))
    arguments = _onnx_arguments(conv, ends[0] if ends else _NONE)
    if ends and ends[1] != (0, 0):
        arguments["output_padding"] = list(ends[1])
    return TargetCall(
        "onnx",
        onnx.conv_transpose,
        "ConvTranspose",
        arguments,
        "NCHW",
        "NCHW",
        "IOHW",
        pad_output=crop,
        notes=tuple(notes),
    )


def _keras_transpose(conv: ConvCall) -> TargetCall:
    """Return the call of keras.ops.conv_transpose."""
    g = conv.geometry
    facts = list(zip(_wanted(conv), _axes(conv), strict=True))
    arguments: dict[str, Any] = {"strides": g.strides}
    crop, notes = _NONE, []
    odd = [axis.effective_filter % 2 for axis in _axes(conv)]
    same = [o - (full - axis.effective_filter) - parity
            for ((_, o, full, _, _), axis), parity in zip(facts, odd, strict=True)]  # fmt: skip
    if all(
        a == split_padding(max(0, full - o))[0] and 1 - parity <= more <= s - parity
        for ((a, o, full, s, _), _), parity, more in zip(facts, odd, same, strict=True)
    ):
        arguments["padding"] = "same"
        if any(o != axis.out_size * s for (_, o, _, s, _), axis in facts):
            arguments["output_padding"] = tuple(same)
    elif all(a == 0 and full <= o < full + s for (a, o, full, s, _), _ in facts):
        arguments["padding"] = "valid"
        if any(o != full + max(0, s - _ek(axis)) for (_, o, full, s, _), axis in facts):
            arguments["output_padding"] = tuple(o - full for (_, o, full, _, _), _ in facts)
    else:
        arguments |= {"padding": "valid", "output_padding": (0, 0)}
        crop = _crop_of_full(conv)
        notes.append(_CROP_AFTER.format("Keras"))
    if g.dilations != (1, 1):
        arguments["dilation_rate"] = g.dilations
    if conv.groups > 1:
        notes.append("Keras has no groups in conv_transpose: one call for each group")
    arguments["data_format"] = "channels_last"
    return TargetCall(
        "keras",
        keras.conv_transpose,
        "keras.ops.conv_transpose",
        arguments,
        filter_layout="HWOI",
        pad_output=crop,
        split=conv.groups,
        notes=tuple(notes),
    )


def _scipy_transpose(conv: ConvCall) -> TargetCall:
    """Return the use of scipy.signal.convolve."""
    notes = (
        "SciPy has neither channels nor strides: zeros inserted between the cells, then full convolutions",
    )
    return TargetCall(
        "scipy",
        None,
        "signal.convolve",
        filter_layout="HWOI",
        pad_output=_crop_of_full(conv),
        notes=notes,
    )


_FORWARD: dict[str, Callable[[ConvCall], TargetCall]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "jax": _jax,
    "onnx": _onnx,
    "keras": _keras,
    "scipy": _scipy,
}
_TRANSPOSED: dict[str, Callable[[ConvCall], TargetCall]] = {
    "tensorflow": _tensorflow_transpose,
    "torch": _torch_transpose,
    "jax": _jax_transpose,
    "onnx": _onnx_transpose,
    "keras": _keras_transpose,
    "scipy": _scipy_transpose,
}
