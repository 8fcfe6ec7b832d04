"""How each framework expresses a transposed convolution: full[a : a + o], or all of it and a crop after.

No padding arithmetic is here beyond the law of `geometry`: a call chooses only (a, o).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.arguments import Pads, Shape
from ..core.law import split_padding
from ..dialects import jax, keras, onnx, torch
from ..dialects.calls import ConvCall
from ..running import nn_ops
from .forward import in_filter_order, onnx_arguments
from .target_calls import (
    NO_PADS,
    Code,
    Family,
    TargetCall,
    channels_first,
    filter_letters,
    jax_layouts,
    mixed,
    some,
    torch_order,
)


def _wanted(conv: ConvCall) -> list[tuple[int, int, int, int, int]]:
    """Return (a, o, F, stride, dilation) of each axis."""
    return [
        (axis.pad_before, axis.in_size, axis.full_size, axis.stride, axis.dilation)
        for axis in conv.geometry.axes
    ]


def crop_of_full(conv: ConvCall) -> Pads:
    """Return the pads that turn the full result into full[a : a + o]; negative numbers crop."""
    return some(tuple((-a, a + o - full) for a, o, full, _, _ in _wanted(conv)))


CROP_AFTER = "{} cannot express this alignment: the full result is computed, then cropped or padded"


def _end_pads(conv: ConvCall) -> tuple[Pads, Shape] | None:
    """Return pads, and an output_padding below the stride, that give (a, o), or None if there are none."""
    pads, extra = [], []
    for a, o, full, s, _ in _wanted(conv):
        after = max(0, full - a - o)
        more = o - (full - a - after)
        if a < 0 or not 0 <= more < s:
            return None
        pads.append((a, after))
        extra.append(more)
    return tuple(pads), tuple(extra)


def _channels_first(
    conv: ConvCall,
    framework: str,
    function: Callable[..., Any],
    name: str,
    arguments: dict[str, Any],
    crop: Pads,
    notes: list[str],
) -> TargetCall:
    """Return a call in the layouts of torch and ONNX."""
    layouts = f"NC{conv.spatial}", f"NC{conv.spatial}", f"IO{conv.spatial}"
    return TargetCall(framework, function, name, arguments, *layouts, pad_output=crop, notes=tuple(notes))


def _tensorflow(family: Family) -> TargetCall:
    """Return the call of tf.nn.conv2d_transpose, or of tf.nn.conv_transpose over one or three axes."""
    conv = family[0]
    g, flat = conv.geometry, len(conv.spatial) == 2
    sizes = tuple(axis.in_size for axis in g.axes)
    arguments: dict[str, Any] = {"output_shape": _output_shape(family, sizes), "strides": g.strides}
    wanted, crop, notes = _wanted(conv), NO_PADS, []
    ends = _end_pads(conv)
    if all(full - axis.effective_filter < o <= axis.out_size * s and a == split_padding(max(0, full - o))[0]
           for (a, o, full, s, _), axis in zip(wanted, g.axes, strict=True)):  # fmt: skip
        arguments["padding"] = "SAME"
    elif all(a == 0 and full <= o < full + s for a, o, full, s, _ in wanted):
        arguments["padding"] = "VALID"
    elif ends is not None and flat and max(g.dilations) == 1:
        arguments["padding"] = [[0, 0], *[list(sides) for sides in ends[0]], [0, 0]]
    else:
        arguments["padding"], crop = "VALID", crop_of_full(conv)
        arguments["output_shape"] = _output_shape(family, tuple(axis.full_size for axis in g.axes))
        notes.append(CROP_AFTER.format("TensorFlow"))
    if max(g.dilations) > 1:
        arguments["dilations"] = g.dilations
        notes.append("on a CPU TensorFlow needs oneDNN for a dilation here")
    if conv.groups > 1:
        notes.append("one call for each group: not every build of TensorFlow has groups here")
    return TargetCall(
        "tensorflow",
        nn_ops.conv2d_transpose if flat else nn_ops.conv_transpose,
        "tf.nn.conv2d_transpose" if flat else "tf.nn.conv_transpose",
        arguments,
        pad_output=crop,
        split=conv.groups,
        notes=tuple(notes),
    )


def _output_shape(family: Family, sizes: Shape) -> Any:
    """Return TensorFlow's output_shape: a formula of the input's shape, if the call takes other sizes."""
    g = family[0].geometry
    if len(family) == 1:
        return g.batch, *sizes, g.in_channels // g.groups
    terms = []
    for number, (axis, size) in enumerate(zip(g.axes, sizes, strict=True), 1):
        extra = size - axis.out_size * axis.stride
        term = f"x.shape[{number}]" + (f" * {axis.stride}" if axis.stride > 1 else "")
        terms.append(term + (f" {'-' if extra < 0 else '+'} {abs(extra)}" if extra else ""))
    return Code(f"(len(x), {', '.join(terms)}, w.shape[{len(sizes)}])")


def _torch(family: Family) -> TargetCall:
    """Return the call of torch.nn.functional.conv_transpose2d, or that of another rank."""
    conv = family[0]
    arguments: dict[str, Any] = {"stride": conv.geometry.strides}
    wanted = _wanted(conv)
    extra = [o - (full - 2 * a) for a, o, full, _, _ in wanted]
    crop, notes = NO_PADS, []
    if all(a >= 0 and 0 <= more < max(s, d) for (a, _, _, s, d), more in zip(wanted, extra, strict=True)):
        if any(a for a, *_ in wanted):
            arguments["padding"] = tuple(a for a, *_ in wanted)
        if any(extra):
            arguments["output_padding"] = tuple(extra)
    else:
        crop = crop_of_full(conv)
        notes.append(
            "torch crops both sides equally: the full result is computed, then "
            f"F.pad(y, {torch_order(crop)}); negative numbers crop"
        )
    if conv.groups > 1:
        arguments["groups"] = conv.groups
    if max(conv.geometry.dilations) > 1:
        arguments["dilation"] = conv.geometry.dilations
    rank = len(conv.spatial)
    call = _TORCH[rank], f"F.conv_transpose{rank}d", arguments
    return _channels_first(conv, "torch", *call, crop, notes)


_TORCH = {1: torch.conv_transpose1d, 2: torch.conv_transpose2d, 3: torch.conv_transpose3d}


def _jax(family: Family) -> TargetCall:
    """Return the call of jax.lax.conv_transpose, or with groups of conv_general_dilated."""
    conv = family[0]
    g, layouts, crop = conv.geometry, jax_layouts(conv), NO_PADS
    pads, notes = dilated_pads(conv), []
    if max(g.strides) == 1 and mixed(pads):
        pads = tuple((axis.effective_filter - 1, axis.effective_filter - 1) for axis in g.axes)
        crop = crop_of_full(conv)
        notes.append("JAX 0.10.2 computes some pads of mixed signs wrong: the full result is cropped instead")
    arguments: dict[str, Any] = {"padding": pads}
    if max(g.dilations) > 1:
        arguments["rhs_dilation"] = g.dilations
    if conv.groups == 1:
        letters = filter_letters(conv).replace("OM", "OI")  # a depthwise filter of one channel
        arguments = in_filter_order({"strides": g.strides} | arguments, letters)
        # with transpose_kernel, the axis that JAX calls O holds the input's channels
        words = letters if conv.flip else letters.translate(str.maketrans("IO", "OI"))
        arguments["dimension_numbers"] = (layouts[0], words, layouts[1])
        if not conv.flip:  # JAX's own filter is flipped already
            arguments["transpose_kernel"] = True
        call = jax.conv_transpose, "jax.lax.conv_transpose", arguments
        return TargetCall(
            "jax", *call, *layouts, letters, flip=conv.flip, pad_output=crop, notes=tuple(notes)
        )
    letters = filter_letters(conv) if conv.regroup else f"{conv.spatial}OI"
    arguments = {"window_strides": (1,) * len(g.strides)} | arguments | {"lhs_dilation": g.strides}
    arguments = in_filter_order(arguments, letters)
    arguments["dimension_numbers"] = (layouts[0], letters, layouts[1])
    arguments["feature_group_count"] = conv.groups
    if not conv.regroup:
        notes.append(
            "jax.lax.conv_transpose has no groups: conv_general_dilated with lhs_dilation, the filter flipped"
        )
    return TargetCall(
        "jax",
        jax.conv_general_dilated,
        "jax.lax.conv_general_dilated",
        arguments,
        *layouts,
        letters,
        regroup=True,
        flip=True,
        pad_output=crop,
        notes=tuple(notes),
    )


def dilated_pads(conv: ConvCall) -> Pads:
    """Return the pads of the dilated input that give (a, o)."""
    facts = zip(_wanted(conv), (axis.effective_filter - 1 for axis in conv.geometry.axes), strict=True)
    return tuple((reach - a, a + o - full + reach) for (a, o, full, _, _), reach in facts)


def _onnx(family: Family) -> TargetCall:
    """Return the node of ONNX's ConvTranspose."""
    conv = family[0]
    ends, crop, notes = _end_pads(conv), NO_PADS, []
    if ends is None:
        crop = crop_of_full(conv)
        notes.append(CROP_AFTER.format("ONNX"))
    arguments = onnx_arguments(conv, some(ends[0]) if ends else NO_PADS)
    if ends and max(ends[1]) > 0:
        arguments["output_padding"] = list(ends[1])
    return _channels_first(conv, "onnx", onnx.conv_transpose, "ConvTranspose", arguments, crop, notes)


def _keras(family: Family) -> TargetCall:
    """Return the call of keras.ops.conv_transpose."""
    conv = family[0]
    g = conv.geometry
    facts = list(zip(_wanted(conv), g.axes, strict=True))
    arguments: dict[str, Any] = {"strides": g.strides}
    crop, notes = NO_PADS, []
    odd = [axis.effective_filter % 2 for axis in g.axes]
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
        if any(o != full + max(0, s - axis.effective_filter) for (_, o, full, s, _), axis in facts):
            arguments["output_padding"] = tuple(o - full for (_, o, full, _, _), _ in facts)
    else:
        arguments |= {"padding": "valid", "output_padding": (0,) * len(facts)}
        crop = crop_of_full(conv)
        notes.append(CROP_AFTER.format("Keras"))
    if max(g.dilations) > 1:
        arguments["dilation_rate"] = g.dilations
    if conv.groups > 1:
        notes.append("Keras has no groups in conv_transpose: one call for each group")
    first = channels_first(conv)
    layout = f"NC{conv.spatial}" if first else g.data_format
    arguments["data_format"] = "channels_first" if first else "channels_last"
    return TargetCall(
        "keras",
        keras.conv_transpose,
        "keras.ops.conv_transpose",
        arguments,
        layout,
        layout,
        pad_output=crop,
        split=conv.groups,
        notes=tuple(notes),
    )


def _scipy(family: Family) -> TargetCall:
    """Return the use of scipy.signal.convolve."""
    notes = (
        "SciPy has neither channels nor strides: zeros inserted between the cells, then full convolutions",
    )
    return TargetCall(
        "scipy",
        None,
        "signal.convolve",
        pad_output=crop_of_full(family[0]),
        notes=notes,
    )


TRANSPOSED: dict[str, Callable[[Family], TargetCall]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "jax": _jax,
    "onnx": _onnx,
    "keras": _keras,
    "scipy": _scipy,
}
