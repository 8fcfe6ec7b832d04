"""Converts a filter from one framework's layout to another's."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..core.arguments import as_array, positive, truth
from ..dialects.calls import groups_to_last
from ..support.argument_types import ArrayLike, Framework
from ..support.devices import contiguous
from ..support.errors import ArgumentError, brief, check_word
from ..support.tables import count
from .targets import TARGETS, framework

_FILTERS = {name: target.filter_layouts for name, target in TARGETS.items()}
_FILTERS["tensorflow_depthwise"] = "HWIM", "HWIM"
_FILTERS["tflite"] = "OHWI", "OHWI"
_FILTERS["tflite_depthwise"] = "IHWO", "IHWO"  # I is 1


def convert_filters(
    w: ArrayLike,
    from_: Framework | Literal["tensorflow_depthwise", "tflite", "tflite_depthwise"],
    to: Framework | Literal["tensorflow_depthwise", "tflite", "tflite_depthwise"],
    transposed: bool = False,
    groups: int = 1,
) -> np.ndarray:
    """Return a filter of one framework in the layout of another, over one, two or three axes.

    Args:
        w: a filter: [rows, cols, in/groups, out] for tensorflow, keras and scipy, [out, in/groups, rows,
            cols] for torch, onnx and jax. That of a transposed convolution is [rows, cols, out/groups, in]
            for tensorflow, keras and scipy, [in, out/groups, rows, cols] for torch and onnx, and for jax what
            jax.lax.conv_transpose takes, [rows, cols, in, out] and flipped. "tensorflow_depthwise" is
            [rows, cols, channels, multiplier] with one group for each channel. Over one axis there are no
            rows, over three the depth comes before them. In a TFLite file it is [out, rows, cols, in/groups],
            transposed or not, and [1, rows, cols, channels * multiplier] for "tflite_depthwise". Besides the
            dtypes of `conv2d`, int8, uint8 and int16 are taken.
        from_: "tensorflow", "torch", "jax", "onnx", "keras", "scipy", "tflite", "tensorflow_depthwise" or
            "tflite_depthwise".
        to: one of the same names; "pytorch" and "tf" are known too.
        transposed: whether the filter is that of a transposed convolution.
        groups: needed only for jax's transposed filter, whose groups lie along its output channels.

    Returns:
        The filter in C order; a view of ``w`` if nothing changes.

    Raises:
        ValueError, TypeError: if a name is unknown, the groups do not divide the channels, or a filter of
            TFLite is not that of an image: CONV_3D has TensorFlow's layout, a signal is an image of one row.

    >>> import numpy as np, teachconv as tc
    >>> tc.convert_filters(np.zeros((3, 5, 8, 16), "float32"), "tensorflow", "torch").shape
    (16, 8, 3, 5)
    >>> tc.convert_filters(np.zeros((3, 5, 8, 2), "float32"), "tensorflow_depthwise", "torch").shape
    (16, 1, 3, 5)
    >>> tc.convert_filters(np.zeros((16, 8, 3, 5), "float32"), "torch", "tflite").shape
    (16, 3, 5, 8)
    """
    if getattr(w, "dtype", None) in (np.int8, np.uint8, np.int16):  # of a quantized file: only the axes move
        moved = convert_filters(np.asarray(w, np.int32), from_, to, transposed, groups)
        return moved.astype(np.asarray(w).dtype)
    from_, to = framework(from_), framework(to)
    for name, value in (("from_", from_), ("to", to)):
        check_word(value, name, _FILTERS)
        if "depthwise" in value and transposed:
            raise ArgumentError(f"{name} must not be {brief(value)} for a transposed convolution")
    groups, transposed = positive(groups, "groups"), truth(transposed, "transposed")
    ranks = (4,) if "tflite" in from_ + to else (3, 4, 5)
    filters = as_array(w, "w", ranks, f"{_FILTERS[from_][transposed]}, HW for the axes")
    rank = filters.ndim - 2
    axes = "DHW"[-rank:]
    law = f"{axes}OI" if transposed else f"{axes}IO"
    letters, wanted = (_FILTERS[name][transposed].replace("HW", axes) for name in (from_, to))
    if letters[-1] == "M":
        *taps, channels, multiplier = filters.shape
        filters, letters = filters.reshape(*taps, 1, channels * multiplier), law
    filters = filters.transpose([letters.index(letter) for letter in law])
    flip = (slice(None, None, -1),) * rank
    if transposed and from_ == "jax":
        _check_divides(groups, filters.shape[rank])
        filters = groups_to_last(filters, groups)[flip]
    *taps, third, fourth = filters.shape
    _check_divides(groups, fourth)
    if "depthwise" in from_ + to and third != 1:
        raise ArgumentError(f"w must have one input channel in each group to be depthwise; got {third}")
    if wanted[-1] == "M":
        channels = groups if groups > 1 else fourth
        return contiguous(filters.reshape(*taps, channels, fourth // channels))
    if transposed and to == "jax":
        filters = np.moveaxis(filters.reshape(*taps, third, groups, fourth // groups), -2, -3)
        filters = filters.reshape(*taps, groups * third, fourth // groups)[flip]
    return contiguous(filters.transpose([law.index(letter) for letter in wanted]))


def _check_divides(groups: int, channels: int) -> None:
    """Raise unless the groups divide the channels."""
    if channels % groups:
        raise ArgumentError(f"groups must divide the filter's {count(channels, 'channel')}; got {groups}")
