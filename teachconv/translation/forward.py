"""How each framework expresses a forward convolution: its padding words where they fit, else numbers.

No padding arithmetic is here: every choice is checked against `geometry`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import nn_ops
from ..arguments import Pads
from ..dialects import jax, keras, onnx, torch
from ..dialects.calls import ConvCall
from ..geometry import AxisGeometry, forward_axis
from .target_calls import (
    NO_PADS,
    Family,
    TargetCall,
    axes,
    channels_first,
    filter_letters,
    jax_layouts,
    mixed,
    pads_by_size,
    pads_of,
    same_word,
)

__all__ = ["FORWARD", "in_filter_order", "onnx_arguments", "split_pads"]

_CROP_FIRST = "{} has no negative padding: the input is cropped first"
_COMPUTED = "{} cannot express {} here: the padding is computed and added first"


def split_pads(family: Family, any_size: bool, framework: str) -> tuple[Pads, dict[str, Any]]:
    """Return the pads that the call itself takes, and the fields of a `TargetCall` for the rest."""
    pads, rule = pads_by_size(family, any_size)
    if rule:
        return NO_PADS, {"pad_rule": rule, "notes": (_COMPUTED.format(framework, rule),)}
    if mixed(pads):  # cropping first may need more cells than there are
        note = f"{framework} has no negative padding: the input is padded, then cropped"
        return NO_PADS, {"pad_input": pads, "notes": (note,)}
    if min(*pads[0], *pads[1]) >= 0:
        return pads, {}
    (top, bottom), (left, right) = pads
    crop = (min(0, top), min(0, bottom)), (min(0, left), min(0, right))
    rest = (max(0, top), max(0, bottom)), (max(0, left), max(0, right))
    return rest, {"pad_input": crop, "notes": (_CROP_FIRST.format(framework),)}


def _tensorflow(family: Family, any_size: bool) -> TargetCall:
    """Return the call of tf.nn.conv2d."""
    g = family[0].geometry
    arguments: dict[str, Any] = {"strides": g.strides}
    before: dict[str, Any] = {}
    if same_word(family) == "SAME":
        arguments["padding"] = "SAME"
    else:
        pads, before = split_pads(family, any_size, "TensorFlow")
        explicit = [[0, 0], list(pads[0]), list(pads[1]), [0, 0]]
        arguments["padding"] = "VALID" if pads == NO_PADS else explicit
    if g.dilations != (1, 1):
        arguments["dilations"] = g.dilations
    return TargetCall("tensorflow", nn_ops.conv2d, "tf.nn.conv2d", arguments, **before)


def _torch(family: Family, any_size: bool) -> TargetCall:
    """Return the call of torch.nn.functional.conv2d."""
    conv = family[0]
    arguments: dict[str, Any] = {"stride": conv.geometry.strides}
    before: dict[str, Any] = {}
    pads = pads_of(conv)
    begin = tuple(before for before, _ in pads)
    if _is_symmetric(family, begin):
        if any(begin):
            arguments["padding"] = begin
    else:
        pads, rule = pads_by_size(family, any_size)
        (top, bottom), (left, right) = pads
        why = "no negative padding" if min(*pads[0], *pads[1]) < 0 else "no asymmetric padding"
        if _is_symmetric((conv,), begin):
            why = "no padding that depends on the size"
        note = f"torch has {why}: F.pad(x, ({left}, {right}, {top}, {bottom})) first"
        if mixed(pads):
            note = "torch has no negative padding: F.pad pads the input, then crops it"
        before = {"pad_input": pads, "pad_rule": rule, "notes": (note,)}
        if rule:
            before["notes"] = (_COMPUTED.format("torch", rule),)
    if conv.geometry.dilations != (1, 1):
        arguments["dilation"] = conv.geometry.dilations
    if conv.groups > 1:
        arguments["groups"] = conv.groups
    return TargetCall("torch", torch.conv2d, "F.conv2d", arguments, "NCHW", "NCHW", "OIHW", **before)


def _is_symmetric(family: Family, begin: tuple[int, ...]) -> bool:
    """Return whether pads on both sides give the same result at all sizes."""
    members = ((axis, pad) for conv in family for axis, pad in zip(axes(conv), begin, strict=True))
    return all(_is_symmetric_axis(axis, pad) for axis, pad in members)


def _is_symmetric_axis(axis: AxisGeometry, before: int) -> bool:
    """Return whether a pad on both sides gives the same result; rows that no tap reads do not matter."""
    if before < 0 or before != axis.pad_before:
        return False
    facts = axis.in_size, axis.filter_size, axis.stride, axis.dilation
    both = forward_axis("rows", *facts, "EXPLICIT", (before, before), may_be_empty=True)
    return both.out_size == axis.out_size


def _jax(family: Family, any_size: bool) -> TargetCall:
    """Return the call of jax.lax.conv_general_dilated."""
    conv, before = family[0], NO_PADS
    arguments: dict[str, Any] = {"window_strides": conv.geometry.strides}
    word, pads = same_word(family), pads_of(conv)
    notes: tuple[str, ...] = ()
    if not conv.has_gaps and (word == "SAME" or (word and any(pads_of(other) != pads for other in family))):
        arguments["padding"] = word
    elif mixed(pads) and not conv.has_gaps:
        arguments["padding"], before = "VALID", pads
        notes = ("JAX 0.10.2 computes some pads of mixed signs wrong: padded, then cropped, before the call",)
    else:
        arguments["padding"] = pads_by_size(family, any_size)[0]
    if conv.geometry.dilations != (1, 1):
        arguments["rhs_dilation"] = conv.geometry.dilations
    layouts, letters = jax_layouts(conv), filter_letters(conv).replace("M", "O")
    if conv.has_gaps:
        arguments["lhs_dilation"] = conv.stuffing
    arguments = in_filter_order(arguments, letters)
    arguments["dimension_numbers"] = (layouts[0], letters, layouts[1])
    if conv.batch_groups > 1:
        arguments["batch_group_count"] = conv.batch_groups
    elif conv.groups > 1:
        arguments["feature_group_count"] = conv.groups
    return TargetCall(
        "jax",
        jax.conv_general_dilated,
        "jax.lax.conv_general_dilated",
        arguments,
        *layouts,
        letters,
        stuffs=conv.has_gaps,
        splits_batch=True,
        pad_input=before,
        notes=notes,
    )


def in_filter_order(arguments: dict[str, Any], letters: str) -> dict[str, Any]:
    """Return JAX's arguments with their pairs in the order that rows and columns have in the filter."""
    if letters.index("H") < letters.index("W"):
        return arguments
    return {name: value if isinstance(value, str) else value[::-1] for name, value in arguments.items()}


def _onnx(family: Family, any_size: bool) -> TargetCall:
    """Return the node of ONNX's Conv."""
    conv, word = family[0], same_word(family)
    before: dict[str, Any] = {}
    constant = all(pads_of(other) == pads_of(conv) for other in family)
    if word and not constant and conv.geometry.dilations == (1, 1):  # onnxruntime takes no dilation with it
        auto_pad = {"SAME": "SAME_UPPER", "SAME_LOWER": "SAME_LOWER"}[word]
        arguments = {"auto_pad": auto_pad} | onnx_arguments(conv, NO_PADS)
    else:
        pads, before = split_pads(family, any_size, "ONNX")
        arguments = onnx_arguments(conv, pads)
    return TargetCall("onnx", onnx.conv, "Conv", arguments, "NCHW", "NCHW", "OIHW", **before)


def onnx_arguments(conv: ConvCall, pads: Pads) -> dict[str, Any]:
    """Return the attributes that Conv and ConvTranspose have in common."""
    arguments: dict[str, Any] = {"strides": list(conv.geometry.strides)}
    if pads != NO_PADS:
        (top, bottom), (left, right) = pads
        arguments["pads"] = [top, left, bottom, right]
    if conv.geometry.dilations != (1, 1):
        arguments["dilations"] = list(conv.geometry.dilations)
    if conv.groups > 1:
        arguments["group"] = conv.groups
    return arguments


def _keras(family: Family, any_size: bool) -> TargetCall:
    """Return the call of keras.ops.conv."""
    conv, g, notes = family[0], family[0].geometry, []
    before: dict[str, Any] = {}
    both = max(g.strides) > 1 and max(g.dilations) > 1
    arguments: dict[str, Any] = {"strides": (1, 1) if both else g.strides}
    if same_word(family) == "SAME" and not both:
        arguments["padding"] = "same"
    else:
        arguments["padding"] = "valid"
        pads, rule = pads_by_size(family, any_size)
        before = {"pad_input": pads, "pad_rule": rule}
        if pads != NO_PADS or rule:
            notes.append("Keras has no explicit padding: the input is padded (or cropped) first")
    if g.dilations != (1, 1):
        arguments["dilation_rate"] = g.dilations
    if both:
        notes.append("Keras on TensorFlow has no strides with dilation_rate: stride 1, then subsampled")
        before["subsample"] = g.strides
    layout = "NCHW" if channels_first(conv) else "NHWC"
    arguments["data_format"] = "channels_first" if channels_first(conv) else "channels_last"
    call = keras.conv, "keras.ops.conv", arguments, layout, layout
    return TargetCall("keras", *call, notes=tuple(notes), **before)


def _scipy(family: Family, any_size: bool) -> TargetCall:
    """Return the use of scipy.signal.correlate."""
    notes = ("SciPy has neither channels nor strides: one correlation for each output channel, subsampled",)
    pads, rule = pads_by_size(family, any_size)
    return TargetCall("scipy", None, "signal.correlate", pad_input=pads, pad_rule=rule, notes=notes)


FORWARD: dict[str, Callable[[Family, bool], TargetCall]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "jax": _jax,
    "onnx": _onnx,
    "keras": _keras,
    "scipy": _scipy,
}
