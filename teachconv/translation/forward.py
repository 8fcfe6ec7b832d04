"""How each framework expresses a forward convolution: its padding words where they fit, else numbers.

No padding arithmetic is here: every choice is checked against `geometry`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.arguments import Pads, begins_then_ends
from ..core.law import AxisGeometry, forward_axis
from ..dialects import jax, keras, onnx, torch
from ..dialects.calls import ConvCall
from ..running import nn_ops
from .target_calls import (
    NO_PADS,
    Family,
    TargetCall,
    channels_first,
    filter_letters,
    jax_layouts,
    mixed,
    negative,
    pads_by_size,
    pads_of,
    positive,
    same_word,
    some,
    torch_order,
)

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
    if all(min(sides) >= 0 for sides in pads):
        return pads, {}
    return some(positive(pads)), {"pad_input": negative(pads), "notes": (_CROP_FIRST.format(framework),)}


def _by_words(family: Family, any_size: bool, function: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return strides and padding of a function that has words only and no strides with a dilation.

    Returns:
        The arguments, and the fields of a `TargetCall` for what is done before and after.
    """
    g, notes = family[0].geometry, []
    both = max(g.strides) > 1 and max(g.dilations) > 1
    strides = (1,) * len(g.strides) if both else g.strides
    if same_word(family) == "SAME" and not both:
        return {"strides": strides, "padding": "SAME"}, {}
    pads, rule = pads_by_size(family, any_size)
    if pads or rule:
        notes.append(f"{function} has no explicit padding: the input is padded (or cropped) first")
    if both:
        notes.append(f"{function} has no strides with a dilation on TensorFlow: stride 1, then subsampled")
    before = {"pad_input": pads, "pad_rule": rule, "subsample": g.strides if both else (), "notes": notes}
    return {"strides": strides, "padding": "VALID"}, before


def _tensorflow(family: Family, any_size: bool) -> TargetCall:
    """Return the call of tf.nn.conv2d, or of tf.nn.convolution over one or three axes."""
    conv, split = family[0], 1
    g, rank = conv.geometry, len(conv.spatial)
    name = "tf.nn.conv2d" if rank == 2 else "tf.nn.convolution"
    arguments: dict[str, Any] = {"strides": g.strides}
    before: dict[str, Any] = {}
    if rank != 2:
        arguments, before = _by_words(family, any_size, name)
    elif same_word(family) == "SAME":
        arguments["padding"] = "SAME"
    else:
        pads, before = split_pads(family, any_size, "TensorFlow")
        arguments["padding"] = [[0, 0], *[list(sides) for sides in pads], [0, 0]] if pads else "VALID"
    if max(g.dilations) > 1:
        arguments["dilations"] = g.dilations
    notes = [*before.get("notes", ())]
    if rank == 3 and conv.groups > 1:
        split = conv.groups
        notes.append("one call for each group: TensorFlow has no groups over three axes on a CPU")
    return TargetCall(
        "tensorflow",
        nn_ops.conv2d if rank == 2 else nn_ops.convolution,
        name,
        arguments,
        split=split,
        **before | {"notes": tuple(notes)},
    )


_TORCH = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}


def _torch(family: Family, any_size: bool) -> TargetCall:
    """Return the call of torch.nn.functional.conv2d, or that of another rank."""
    conv = family[0]
    rank, first = len(conv.spatial), f"NC{conv.spatial}"
    arguments: dict[str, Any] = {"stride": conv.geometry.strides}
    before: dict[str, Any] = {}
    pads = pads_of(conv)
    begin = tuple(before for before, _ in pads)
    if _is_symmetric(family, begin):
        if any(begin):
            arguments["padding"] = begin
    else:
        pads, rule = pads_by_size(family, any_size)
        cropped = any(min(sides) < 0 for sides in pads)
        why = "no negative padding" if cropped else "no asymmetric padding"
        if _is_symmetric((conv,), begin):
            why = "no padding that depends on the size"
        note = f"torch has {why}: F.pad(x, {torch_order(pads)}) first"
        if mixed(pads):
            note = "torch has no negative padding: F.pad pads the input, then crops it"
        before = {"pad_input": pads, "pad_rule": rule, "notes": (note,)}
        if rule:
            before["notes"] = (_COMPUTED.format("torch", rule),)
    if max(conv.geometry.dilations) > 1:
        arguments["dilation"] = conv.geometry.dilations
    if conv.groups > 1:
        arguments["groups"] = conv.groups
    layouts = first, first, f"OI{conv.spatial}"
    return TargetCall("torch", _TORCH[rank], f"F.conv{rank}d", arguments, *layouts, **before)


def _is_symmetric(family: Family, begin: tuple[int, ...]) -> bool:
    """Return whether pads on both sides give the same result at all sizes."""
    return all(
        _is_symmetric_axis(axis, pad)
        for conv in family
        for axis, pad in zip(conv.geometry.axes, begin, strict=True)
    )


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
        arguments["padding"] = pads_by_size(family, any_size)[0] or pads
    if max(conv.geometry.dilations) > 1:
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
    """Return JAX's arguments with one item for each axis in the order that the axes have in the filter."""
    axes = "".join(letter for letter in "DHW" if letter in letters)
    order = [axes.index(letter) for letter in letters if letter in axes]
    return {
        name: value if isinstance(value, str) else tuple(value[axis] for axis in order)
        for name, value in arguments.items()
    }


def _onnx(family: Family, any_size: bool) -> TargetCall:
    """Return the node of ONNX's Conv."""
    conv, word = family[0], same_word(family)
    before: dict[str, Any] = {}
    constant = all(pads_of(other) == pads_of(conv) for other in family)
    if word and not constant and max(conv.geometry.dilations) == 1:  # onnxruntime takes no dilation with it
        auto_pad = {"SAME": "SAME_UPPER", "SAME_LOWER": "SAME_LOWER"}[word]
        arguments = {"auto_pad": auto_pad} | onnx_arguments(conv, NO_PADS)
    else:
        pads, before = split_pads(family, any_size, "ONNX")
        arguments = onnx_arguments(conv, pads)
    first = f"NC{conv.spatial}"
    return TargetCall("onnx", onnx.conv, "Conv", arguments, first, first, f"OI{conv.spatial}", **before)


def onnx_arguments(conv: ConvCall, pads: Pads) -> dict[str, Any]:
    """Return the attributes that Conv and ConvTranspose have in common."""
    arguments: dict[str, Any] = {"strides": list(conv.geometry.strides)}
    if pads:
        arguments["pads"] = begins_then_ends(pads)
    if max(conv.geometry.dilations) > 1:
        arguments["dilations"] = list(conv.geometry.dilations)
    if conv.groups > 1:
        arguments["group"] = conv.groups
    return arguments


def _keras(family: Family, any_size: bool) -> TargetCall:
    """Return the call of keras.ops.conv."""
    conv, g = family[0], family[0].geometry
    arguments, before = _by_words(family, any_size, "keras.ops.conv")
    arguments["padding"] = arguments["padding"].lower()
    if max(g.dilations) > 1:
        arguments["dilation_rate"] = g.dilations
    first = channels_first(conv)
    layout = f"NC{conv.spatial}" if first else g.data_format
    arguments["data_format"] = "channels_first" if first else "channels_last"
    notes = [*before.get("notes", ())]
    if len(conv.spatial) == 1 and all(_is_causal(other) for other in family):
        notes.append('the layer keras.layers.Conv1D has padding="causal" for it')
    call = keras.conv, "keras.ops.conv", arguments, layout, layout
    return TargetCall("keras", *call, **before | {"notes": tuple(notes)})


def _is_causal(conv: ConvCall) -> bool:
    """Return whether a call is padded before its input only, as far as its filter reaches."""
    return all(
        (axis.pad_before, axis.pad_after) == (axis.effective_filter - 1, 0) for axis in conv.geometry.axes
    )


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
