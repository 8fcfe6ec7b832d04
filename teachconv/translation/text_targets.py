"""How MLX and PaddlePaddle express a convolution: as text, from their signatures and recorded results.

teachconv has no functions of their signatures, so a translation is checked where the framework is installed.
MLX 0.32 and PaddlePaddle 3.3, by tests/recorders/record_text_targets.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..arguments import Pads
from ..dialects.calls import ConvCall
from .forward import onnx_arguments, split_pads
from .target_calls import NO_PADS, Family, TargetCall
from .transposed import CROP_AFTER, TRANSPOSED, crop_of_full, dilated_pads


def _mlx(conv: ConvCall, pads: Pads, words: dict[str, Any], **more: Any) -> TargetCall:
    """Return the call of mlx.core.conv_general."""
    said = {
        "padding": tuple([*ends] for ends in zip(*pads, strict=True)) if any(map(any, pads)) else None,
        "kernel_dilation": conv.geometry.dilations if max(conv.geometry.dilations) > 1 else None,
        "groups": conv.groups if conv.groups > 1 else None,
    }
    words |= {name: value for name, value in said.items() if value is not None}
    return TargetCall("mlx", None, "mx.conv_general", words, filter_layout=f"O{conv.spatial}I", **more)


def _mlx_forward(family: Family, any_size: bool) -> TargetCall:
    pads, before = split_pads(family, any_size, "MLX")
    return _mlx(family[0], pads, {"stride": family[0].geometry.strides}, **before)


def _mlx_transposed(family: Family) -> TargetCall:
    """Return zeros between the cells, and a convolution with the flipped filter."""
    conv, pads, crop, more = family[0], dilated_pads(family[0]), NO_PADS, list[str]()
    if any(min(sides) < 0 for sides in pads):
        reach = [axis.effective_filter - 1 for axis in conv.geometry.axes]
        pads, crop = tuple(zip(reach, reach, strict=True)), crop_of_full(conv)
        more.append(CROP_AFTER.format("MLX"))
    notes = ("MLX: zeros between the cells, and the filter flipped", *more)
    words = {"input_dilation": conv.geometry.strides, "flip": True}
    return _mlx(conv, pads, words, pad_output=crop, regroup=conv.regroup or conv.groups > 1, notes=notes)


_PADDLE = {"strides": "stride", "dilations": "dilation", "group": "groups", "pads": "padding"}


def _paddle(conv: ConvCall, target: TargetCall, ending: str = "") -> TargetCall:
    """Return the call of PaddlePaddle for ONNX's, whose layouts it has; its padding is axis by axis."""
    words = {_PADDLE.get(word, word): value for word, value in target.arguments.items()}
    rank = len(conv.spatial)
    if pads := words.get("padding"):
        words["padding"] = [pads[at] for axis in range(rank) for at in (axis, axis + rank)]
    notes = tuple(note.replace("ONNX", "PaddlePaddle") for note in target.notes)
    name = f"F.conv{rank}d{ending}"
    return replace(target, target="paddle", function=None, name=name, arguments=words, notes=notes)


def _paddle_forward(family: Family, any_size: bool) -> TargetCall:
    conv = family[0]
    pads, before = split_pads(family, any_size, "PaddlePaddle")
    layouts = f"NC{conv.spatial}", f"NC{conv.spatial}", f"OI{conv.spatial}"
    return _paddle(conv, TargetCall("paddle", None, "", onnx_arguments(conv, pads), *layouts, **before))


def _paddle_transposed(family: Family) -> TargetCall:
    return _paddle(family[0], TRANSPOSED["onnx"](family), "_transpose")


TEXT_FORWARD: dict[str, Callable[[Family, bool], TargetCall]] = {
    "mlx": _mlx_forward,
    "paddle": _paddle_forward,
}
TEXT_TRANSPOSED: dict[str, Callable[[Family], TargetCall]] = {
    "mlx": _mlx_transposed,
    "paddle": _paddle_transposed,
}
