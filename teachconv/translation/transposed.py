"""How each framework expresses a transposed convolution: full[a : a + o], or all of it and a crop after.

No padding arithmetic is here beyond the law of `geometry`: a call chooses only (a, o). Arguments that are
None are left out of the call.
"""

from __future__ import annotations

from typing import Any

from ..core.arguments import Pads, Shape
from ..core.law import split_padding
from ..dialects import jax, keras, onnx, torch
from ..dialects.calls import ConvCall
from ..running import nn_ops
from .forward import in_filter_order, keras_layout, onnx_arguments
from .target_calls import (
    Code,
    Family,
    TargetCall,
    dilations_of,
    explicit,
    filter_letters,
    groups_of,
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
    wanted = _wanted(conv)
    pads = tuple((a, max(0, full - a - o)) for a, o, full, _, _ in wanted)
    extra = tuple(max(0, a + o - full) for a, o, full, _, _ in wanted)
    fits = all(a >= 0 and more < s for (a, _, _, s, _), more in zip(wanted, extra, strict=True))
    return (pads, extra) if fits else None


def of_tensorflow(family: Family) -> TargetCall:
    """Return the call of tf.nn.conv2d_transpose, or of tf.nn.conv_transpose over one or three axes."""
    conv = family[0]
    g, flat = conv.geometry, len(conv.spatial) == 2
    sizes = tuple(axis.in_size for axis in g.axes)
    wanted, notes = _wanted(conv), []
    crop: Pads = ()
    ends = _end_pads(conv)
    padding: Any = "VALID"
    if all(full - axis.effective_filter < o <= axis.out_size * s and a == split_padding(max(0, full - o))[0]
           for (a, o, full, s, _), axis in zip(wanted, g.axes, strict=True)):  # fmt: skip
        padding = "SAME"
    elif ends is not None and flat and max(g.dilations) == 1:
        padding = explicit(ends[0])
    elif not all(a == 0 and full <= o < full + s for a, o, full, s, _ in wanted):
        crop, sizes = crop_of_full(conv), tuple(axis.full_size for axis in g.axes)
        notes.append(CROP_AFTER.format("TensorFlow"))
    if max(g.dilations) > 1:
        notes.append("on a CPU TensorFlow needs oneDNN for a dilation here")
    if conv.groups > 1:
        notes.append("one call for each group: not every build of TensorFlow has groups here")
    arguments = {
        "output_shape": _output_shape(family, sizes),
        "strides": g.strides,
        "padding": padding,
        "dilations": dilations_of(g),
    }
    function: Any = nn_ops.conv2d_transpose if flat else nn_ops.conv_transpose
    name = "tf.nn.conv2d_transpose" if flat else "tf.nn.conv_transpose"
    return TargetCall(function, name, arguments, pad_output=crop, split=conv.groups, notes=tuple(notes))


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


def of_torch(family: Family) -> TargetCall:
    """Return the call of torch.nn.functional.conv_transpose2d, or that of another rank."""
    conv = family[0]
    wanted, rank, layout = _wanted(conv), len(conv.spatial), f"NC{conv.spatial}"
    pads = tuple(a for a, *_ in wanted)
    extra = tuple(o - (full - 2 * a) for a, o, full, _, _ in wanted)
    crop: Pads = ()
    notes: tuple[str, ...] = ()
    if not all(a >= 0 and 0 <= more < max(s, d) for (a, _, _, s, d), more in zip(wanted, extra, strict=True)):
        crop, pads, extra = crop_of_full(conv), (), ()
        notes = (
            "torch crops both sides equally: the full result is computed, then "
            f"F.pad(y, {torch_order(crop)}); negative numbers crop",
        )
    arguments = {
        "stride": conv.geometry.strides,
        "padding": pads if any(pads) else None,
        "output_padding": extra if any(extra) else None,
        "groups": groups_of(conv),
        "dilation": dilations_of(conv.geometry),
    }
    call = _TORCH[rank], f"F.conv_transpose{rank}d", arguments
    return TargetCall(*call, layout, layout, f"IO{conv.spatial}", pad_output=crop, notes=notes)


_TORCH = {1: torch.conv_transpose1d, 2: torch.conv_transpose2d, 3: torch.conv_transpose3d}


def of_jax(family: Family) -> TargetCall:
    """Return the call of jax.lax.conv_transpose, or with groups of conv_general_dilated."""
    conv = family[0]
    g, layouts = conv.geometry, jax_layouts(conv)
    pads, notes = dilated_pads(conv), []
    crop: Pads = ()
    if max(g.strides) == 1 and mixed(pads):
        pads = tuple((axis.effective_filter - 1, axis.effective_filter - 1) for axis in g.axes)
        crop = crop_of_full(conv)
        notes.append("JAX 0.10.2 computes some pads of mixed signs wrong: the full result is cropped instead")
    steps = {"padding": pads, "rhs_dilation": dilations_of(g)}
    if conv.groups == 1:
        letters = filter_letters(conv).replace("OM", "OI")  # a depthwise filter of one channel
        # with transpose_kernel, the axis that JAX calls O holds the input's channels
        words = letters if conv.flip else letters.translate(str.maketrans("IO", "OI"))
        arguments = in_filter_order({"strides": g.strides} | steps, letters) | {
            "dimension_numbers": (layouts[0], words, layouts[1]),
            "transpose_kernel": None if conv.flip else True,  # JAX's own filter is flipped already
        }
        own = jax.conv_transpose, "jax.lax.conv_transpose", arguments
        return TargetCall(*own, *layouts, letters, flip=conv.flip, pad_output=crop, notes=tuple(notes))
    letters = filter_letters(conv) if conv.regroup else f"{conv.spatial}OI"
    steps = {"window_strides": (1,) * len(g.strides)} | steps | {"lhs_dilation": g.strides}
    arguments = in_filter_order(steps, letters) | {
        "dimension_numbers": (layouts[0], letters, layouts[1]),
        "feature_group_count": conv.groups,
    }
    if not conv.regroup:
        notes.append(
            "jax.lax.conv_transpose has no groups: conv_general_dilated with lhs_dilation, the filter flipped"
        )
    call = jax.conv_general_dilated, "jax.lax.conv_general_dilated", arguments
    return TargetCall(*call, *layouts, letters, regroup=True, flip=True, pad_output=crop, notes=tuple(notes))


def dilated_pads(conv: ConvCall) -> Pads:
    """Return the pads of the dilated input that give (a, o)."""
    facts = zip(_wanted(conv), (axis.effective_filter - 1 for axis in conv.geometry.axes), strict=True)
    return tuple((reach - a, a + o - full + reach) for (a, o, full, _, _), reach in facts)


def of_onnx(family: Family) -> TargetCall:
    """Return the node of ONNX's ConvTranspose."""
    conv = family[0]
    ends, layout = _end_pads(conv), f"NC{conv.spatial}"
    fields: dict[str, Any] = {}
    if ends is None:
        fields = {"pad_output": crop_of_full(conv), "notes": (CROP_AFTER.format("ONNX"),)}
    pads, extra = ends or ((), ())
    arguments = onnx_arguments(conv, some(pads)) | {"output_padding": list(extra) if any(extra) else None}
    call = onnx.conv_transpose, "ConvTranspose", arguments
    return TargetCall(*call, layout, layout, f"IO{conv.spatial}", **fields)


def of_keras(family: Family) -> TargetCall:
    """Return the call of keras.ops.conv_transpose."""
    conv, notes = family[0], []
    g = conv.geometry
    layout, data_format = keras_layout(conv)
    facts = list(zip(_wanted(conv), g.axes, strict=True))
    crop: Pads = ()
    padding, extra = "valid", (0,) * len(facts)
    odd = [axis.effective_filter % 2 for axis in g.axes]
    same = [o - (full - axis.effective_filter) - parity
            for ((_, o, full, _, _), axis), parity in zip(facts, odd, strict=True)]  # fmt: skip
    if all(
        a == split_padding(max(0, full - o))[0] and 1 - parity <= more <= s - parity
        for ((a, o, full, s, _), _), parity, more in zip(facts, odd, same, strict=True)
    ):
        padding, extra = "same", tuple(same)
        usual = all(o == axis.out_size * s for (_, o, _, s, _), axis in facts)
    elif all(a == 0 and full <= o < full + s for (a, o, full, s, _), _ in facts):
        extra = tuple(o - full for (_, o, full, _, _), _ in facts)
        usual = all(o == full + max(0, s - axis.effective_filter) for (_, o, full, s, _), axis in facts)
    else:
        usual, crop = False, crop_of_full(conv)
        notes.append(CROP_AFTER.format("Keras"))
    if conv.groups > 1:
        notes.append("Keras has no groups in conv_transpose: one call for each group")
    arguments = {
        "strides": g.strides,
        "padding": padding,
        "output_padding": None if usual else extra,
        "dilation_rate": dilations_of(g),
        "data_format": data_format,
    }
    call = keras.conv_transpose, "keras.ops.conv_transpose", arguments, layout, layout
    return TargetCall(*call, pad_output=crop, split=conv.groups, notes=tuple(notes))


def of_scipy(family: Family) -> TargetCall:
    """Return the use of scipy.signal.convolve."""
    notes = (
        "SciPy has neither channels nor strides: zeros inserted between the cells, then full convolutions",
    )
    return TargetCall(None, "signal.convolve", pad_output=crop_of_full(family[0]), notes=notes)
