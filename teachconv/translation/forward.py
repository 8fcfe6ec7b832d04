"""How each framework expresses a forward convolution: its padding words where they fit, else numbers.

No padding arithmetic is here: every choice is checked against `geometry`. Arguments that are None are left
out of the call.
"""

from __future__ import annotations

from typing import Any

from ..core.arguments import Pads, begins_then_ends
from ..dialects import jax, keras, onnx, torch
from ..dialects.calls import ConvCall
from ..running import nn_ops
from .target_calls import (
    Family,
    TargetCall,
    dilations_of,
    explicit,
    filter_letters,
    groups_of,
    jax_layouts,
    mixed,
    negative,
    pads_alike,
    pads_by_size,
    positive,
    same_word,
    some,
    torch_order,
)

_COMPUTED = "{} cannot express {} here: the padding is computed and added first"


def split_pads(family: Family, any_size: bool, framework: str) -> tuple[Pads, dict[str, Any]]:
    """Return the pads that the call itself takes, and the fields of a `TargetCall` for the rest."""
    pads, rule = pads_by_size(family, any_size)
    if rule:
        return (), {"pad_rule": rule, "notes": (_COMPUTED.format(framework, rule),)}
    if mixed(pads):  # cropping first may need more cells than there are
        note = f"{framework} has no negative padding: the input is padded, then cropped"
        return (), {"pad_input": pads, "notes": (note,)}
    if all(min(sides) >= 0 for sides in pads):
        return pads, {}
    note = f"{framework} has no negative padding: the input is cropped first"
    return some(positive(pads)), {"pad_input": negative(pads), "notes": (note,)}


def _by_words(family: Family, any_size: bool, function: str) -> tuple[tuple[int, ...], str, dict[str, Any]]:
    """Return strides and padding of a function that has words only and no strides with a dilation.

    Returns:
        The strides, the word, and the fields of a `TargetCall` for what is done before and after.
    """
    g, notes = family[0].geometry, []
    both = max(g.strides) > 1 and max(g.dilations) > 1
    if same_word(family) == "SAME" and not both:
        return g.strides, "SAME", {}
    pads, rule = pads_by_size(family, any_size)
    if pads or rule:
        notes.append(f"{function} has no explicit padding: the input is padded (or cropped) first")
    if both:
        notes.append(f"{function} has no strides with a dilation on TensorFlow: stride 1, then subsampled")
    before = {"pad_input": pads, "pad_rule": rule, "subsample": g.strides if both else (), "notes": notes}
    return (1,) * len(g.strides) if both else g.strides, "VALID", before


def of_tensorflow(family: Family, any_size: bool) -> TargetCall:
    """Return the call of tf.nn.conv2d, or of tf.nn.convolution over one or three axes."""
    conv, split = family[0], 1
    g, rank = conv.geometry, len(conv.spatial)
    name, strides, padding = "tf.nn.conv2d", g.strides, "SAME"
    before: dict[str, Any] = {}
    if rank != 2:
        name = "tf.nn.convolution"
        strides, padding, before = _by_words(family, any_size, name)
    elif same_word(family) != "SAME":
        pads, before = split_pads(family, any_size, "TensorFlow")
        padding = explicit(pads)
    notes = [*before.get("notes", ())]
    if rank == 3 and conv.groups > 1:
        split = conv.groups
        notes.append("one call for each group: TensorFlow has no groups over three axes on a CPU")
    arguments = {"strides": strides, "padding": padding, "dilations": dilations_of(g)}
    function: Any = nn_ops.conv2d if rank == 2 else nn_ops.convolution
    return TargetCall(function, name, arguments, split=split, **before | {"notes": tuple(notes)})


_TORCH = {1: torch.conv1d, 2: torch.conv2d, 3: torch.conv3d}


def of_torch(family: Family, any_size: bool) -> TargetCall:
    """Return the call of torch.nn.functional.conv2d, or that of another rank."""
    conv = family[0]
    rank, first = len(conv.spatial), f"NC{conv.spatial}"
    before: dict[str, Any] = {}
    begin = tuple(before for before, _ in conv.geometry.padding)
    symmetric = _is_symmetric(family, begin)
    if not symmetric:
        pads, rule = pads_by_size(family, any_size)
        why = "negative padding" if any(min(sides) < 0 for sides in pads) else "asymmetric padding"
        if _is_symmetric((conv,), begin):
            why = "padding that depends on the size"
        note = f"torch has no {why}: F.pad(x, {torch_order(pads)}) first"
        if mixed(pads):
            note = "torch has no negative padding: F.pad pads the input, then crops it"
        if rule:
            note = _COMPUTED.format("torch", rule)
        before = {"pad_input": pads, "pad_rule": rule, "notes": (note,)}
    arguments = {
        "stride": conv.geometry.strides,
        "padding": begin if symmetric and any(begin) else None,
        "dilation": dilations_of(conv.geometry),
        "groups": groups_of(conv),
    }
    layouts = first, first, f"OI{conv.spatial}"
    return TargetCall(_TORCH[rank], f"F.conv{rank}d", arguments, *layouts, **before)


def _is_symmetric(family: Family, begin: tuple[int, ...]) -> bool:
    """Return whether pads on both sides give the same result at all sizes."""
    return all(
        pad >= 0 and pads_alike(axis, "EXPLICIT", pad)
        for conv in family
        for axis, pad in zip(conv.geometry.axes, begin, strict=True)
    )


def of_jax(family: Family, any_size: bool) -> TargetCall:
    """Return the call of jax.lax.conv_general_dilated."""
    conv, word = family[0], same_word(family)
    before: Pads = ()
    notes: tuple[str, ...] = ()
    pads = conv.geometry.padding
    if not conv.has_gaps and (
        word == "SAME" or (word and any(other.geometry.padding != pads for other in family))
    ):
        padding: Any = word
    elif mixed(pads) and not conv.has_gaps:
        padding, before = "VALID", pads
        notes = ("JAX 0.10.2 computes some pads of mixed signs wrong: padded, then cropped, before the call",)
    else:
        padding = pads_by_size(family, any_size)[0] or pads
    layouts, letters = jax_layouts(conv), filter_letters(conv).replace("M", "O")
    arguments = {
        "window_strides": conv.geometry.strides,
        "padding": padding,
        "rhs_dilation": dilations_of(conv.geometry),
        "lhs_dilation": conv.stuffing if conv.has_gaps else None,
    }
    arguments = in_filter_order(arguments, letters) | {
        "dimension_numbers": (layouts[0], letters, layouts[1]),
        "batch_group_count": conv.batch_groups if conv.batch_groups > 1 else None,
        "feature_group_count": groups_of(conv) if conv.batch_groups == 1 else None,
    }
    call = jax.conv_general_dilated, "jax.lax.conv_general_dilated", arguments
    return TargetCall(*call, *layouts, letters, pad_input=before, notes=notes)


def in_filter_order(arguments: dict[str, Any], letters: str) -> dict[str, Any]:
    """Return JAX's arguments with one item for each axis in the order that the axes have in the filter."""
    axes = "".join(letter for letter in "DHW" if letter in letters)
    order = [axes.index(letter) for letter in letters if letter in axes]
    return {
        name: value if isinstance(value, str) else tuple(value[axis] for axis in order)
        for name, value in arguments.items()
        if value is not None
    }


def of_onnx(family: Family, any_size: bool) -> TargetCall:
    """Return the node of ONNX's Conv."""
    conv, word = family[0], same_word(family)
    before: dict[str, Any] = {}
    constant = all(other.geometry.padding == conv.geometry.padding for other in family)
    if word and not constant and max(conv.geometry.dilations) == 1:  # onnxruntime takes no dilation with it
        auto_pad = {"SAME": "SAME_UPPER", "SAME_LOWER": "SAME_LOWER"}[word]
        arguments = {"auto_pad": auto_pad} | onnx_arguments(conv, ())
    else:
        pads, before = split_pads(family, any_size, "ONNX")
        arguments = onnx_arguments(conv, pads)
    first = f"NC{conv.spatial}"
    return TargetCall(onnx.conv, "Conv", arguments, first, first, f"OI{conv.spatial}", **before)


def onnx_arguments(conv: ConvCall, pads: Pads) -> dict[str, Any]:
    """Return the attributes that Conv and ConvTranspose have in common."""
    g = conv.geometry
    return {
        "strides": list(g.strides),
        "pads": begins_then_ends(pads) if pads else None,
        "dilations": list(g.dilations) if max(g.dilations) > 1 else None,
        "group": groups_of(conv),
    }


def of_keras(family: Family, any_size: bool) -> TargetCall:
    """Return the call of keras.ops.conv."""
    conv = family[0]
    strides, word, before = _by_words(family, any_size, "keras.ops.conv")
    layout, data_format = keras_layout(conv)
    notes = [*before.get("notes", ())]
    if len(conv.spatial) == 1 and all(
        (axis.pad_before, axis.pad_after) == (axis.effective_filter - 1, 0)
        for other in family
        for axis in other.geometry.axes
    ):
        notes.append('the layer keras.layers.Conv1D has padding="causal" for it')
    arguments = {
        "strides": strides,
        "padding": word.lower(),
        "dilation_rate": dilations_of(conv.geometry),
        "data_format": data_format,
    }
    call = keras.conv, "keras.ops.conv", arguments, layout, layout
    return TargetCall(*call, **before | {"notes": tuple(notes)})


def keras_layout(conv: ConvCall) -> tuple[str, str]:
    """Return the layout that needs no transpose, as letters and in Keras' words."""
    first = f"NC{conv.spatial}"
    if jax_layouts(conv) == (first, first):
        return first, "channels_first"
    return conv.geometry.data_format, "channels_last"


def of_scipy(family: Family, any_size: bool) -> TargetCall:
    """Return the use of scipy.signal.correlate."""
    notes = ("SciPy has neither channels nor strides: one correlation for each output channel, subsampled",)
    pads, rule = pads_by_size(family, any_size)
    return TargetCall(None, "signal.correlate", pad_input=pads, pad_rule=rule, notes=notes)
