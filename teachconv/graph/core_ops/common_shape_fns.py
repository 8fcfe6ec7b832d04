"""Shape functions: compute the static shapes of an op's outputs from those of its inputs, before a run.

A shape function takes an `InferenceContext` and returns a list with one static shape for each output.

TensorFlow: core/framework/common_shape_fns.cc. Sizes that depend on windows and padding come from
`teachconv.geometry`, so that the static shape always agrees with the kernel's result. An unknown size is
None, and every size that depends on it is None.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np

from ...arguments import channels_last, normalize_padding, normalize_steps
from ...errors import ArgumentError, brief
from ...geometry import conv2d_geometry
from ...windows.pooling import refuse_wide_pads
from ..framework.shape_inference import InferenceContext
from ..framework.tensor_shape import StaticShape, is_compatible, is_fully_defined, merge, text

_LARGE = 1 << 30  # used for unknown rows: no filter is larger


def padding_argument(attrs: Mapping[str, Any]) -> Any:
    """Return ``padding`` in the form that geometry accepts: the string, or four pairs for explicit padding.

    Args:
        attrs: the attributes of a windowed op.

    Returns:
        The string, or four (before, after) pairs in ``data_format`` order.

    Raises:
        ValueError: if ``padding`` and ``explicit_paddings`` contradict each other.

    >>> padding_argument({"padding": "EXPLICIT", "explicit_paddings": (0, 0, 1, 2, 3, 4, 0, 0)})
    ((0, 0), (1, 2), (3, 4), (0, 0))
    """
    padding, explicit = attrs["padding"], attrs.get("explicit_paddings", ())
    if padding != "EXPLICIT":
        if explicit:
            raise ArgumentError(
                f"explicit_paddings must be empty where padding is {brief(padding)}; got {list(explicit)}"
            )
        return padding
    if len(explicit) != 8:
        raise ArgumentError(
            'explicit_paddings must hold 8 ints where padding is "EXPLICIT": before and after for each '
            f"of the 4 axes, in data_format order; got {list(explicit)}"
        )
    return tuple(zip(explicit[::2], explicit[1::2], strict=True))


# ---------------------------------------------------------------------------------------------
# Windows: convolution and pooling
# ---------------------------------------------------------------------------------------------


def conv2d_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [batch, out_rows, out_cols, out_channels] in data_format order."""
    return [_windowed(c, c.with_rank(0, 4, "input"), c.with_rank(1, 4, "filter"))]


def depthwise_conv2d_native_shape(c: InferenceContext) -> list[StaticShape]:
    """Return `conv2d_shape` for a filter [filter_rows, filter_cols, in_channels, channel_multiplier]."""
    shape, (rows, cols, channels, multiplier) = c.with_rank(0, 4, "input"), c.with_rank(1, 4, "filter")
    in_channels = _nhwc(c, shape)[3]
    if not is_compatible((in_channels,), (channels,)):
        raise ArgumentError(
            f"filter of {c.op} must be [filter_rows, filter_cols, in_channels, channel_multiplier] with "
            f"in_channels = {in_channels}; got {text(c.shapes[1])}"
        )
    known = in_channels if channels is None else channels
    outs = None if known is None or multiplier is None else known * multiplier
    # a depthwise convolution has one group per channel
    return [_windowed(c, shape, (rows, cols, None if known is None else min(1, known), outs))]


def conv2d_backprop_input_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``input_sizes`` as far as it is known; check that it fits ``out_backprop``."""
    given = c.shapes[0]
    if given is not None and len(given) == 1 and given[0] not in (None, 2, 4):
        raise ArgumentError(
            f"{c.op} requires input_sizes to contain 4 values or 2 values, but got: {given[0]}"
        )
    filters, out_backprop = c.with_rank(1, 4, "filter"), c.with_rank(2, 4, "out_backprop")
    sizes = _two_sizes(c, out_backprop, filters) if given == (2,) else input_sizes(c)
    check_out_backprop(c, conv2d_shape, sizes, filters)
    return [sizes]


def check_out_backprop(
    c: InferenceContext,
    forward: Callable[[InferenceContext], list[StaticShape]],
    images: StaticShape,
    filters: StaticShape,
) -> None:
    """Raise unless ``out_backprop`` has the shape of a convolution of images with filters."""
    (wanted,) = forward(replace(c, shapes=[images, filters]))
    out_backprop = c.with_rank(2, 4, "out_backprop")
    if not is_compatible(wanted, out_backprop):
        raise ArgumentError(
            f"out_backprop of {c.op} must have shape {text(wanted)}, that of the convolution of an input "
            f"{text(images)} with filters {text(filters)}; got {text(out_backprop)}"
        )


def _two_sizes(
    c: InferenceContext, out_backprop: tuple[int | None, ...], filters: tuple[int | None, ...]
) -> tuple[int | None, ...]:
    """Return all four sizes where ``input_sizes`` holds rows and columns alone, as TensorFlow allows."""
    sizes: Any = c.shape_value(0, "input_sizes", 2)
    return all_input_sizes(sizes, out_backprop[0], filters[2], c.attrs["data_format"])


def all_input_sizes(sizes: Any, batch: Any, channels: Any, data_format: str) -> tuple[Any, ...]:
    """Return the sizes of a batch of images in ``data_format`` order, from rows and columns."""
    return (batch, channels, *sizes) if data_format == "NCHW" else (batch, *sizes, channels)


def input_sizes(c: InferenceContext) -> tuple[int | None, ...]:
    """Return the value of ``input_sizes`` as far as it is known; -1 for the batch is ``out_backprop``'s."""
    sizes: Any = c.shape_value(0, "input_sizes", 4)
    if sizes[0] == -1:
        sizes = (c.with_rank(2, 4, "out_backprop")[0], *sizes[1:])
    if any(size is not None and size < 0 for size in sizes):
        raise ArgumentError(
            f"input_sizes of {c.op} must have no negative size except -1 for the batch; got {text(sizes)}"
        )
    return tuple(sizes)


def conv2d_backprop_filter_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``filter_sizes`` as far as it is known; check that it fits ``out_backprop``."""
    shape, _ = c.with_rank(0, 4, "input"), c.with_rank(2, 4, "out_backprop")
    sizes = c.shape_value(1, "filter_sizes", 4)
    check_out_backprop(c, conv2d_shape, shape, sizes)
    return [sizes]


def pool_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the number of windows along rows and columns; batch and channels are unchanged."""
    shape = c.with_rank(0, 4, "input")
    rows, cols = normalize_steps(list(c.attrs["ksize"]), "ksize", c.attrs["data_format"])
    refuse_wide_pads(normalize_padding(padding_argument(c.attrs), c.attrs["data_format"])[1], (rows, cols))
    channels = _nhwc(c, shape)[3]
    # a depthwise filter has the same windows
    one_channel = (rows, cols, None if channels is None else min(1, channels), channels)
    return [_windowed(c, shape, one_channel)]


def _nhwc(c: InferenceContext, shape: Any) -> tuple[int | None, ...]:
    return channels_last(shape, c.attrs["data_format"])


def _windowed(
    c: InferenceContext, shape: tuple[int | None, ...], filters: tuple[int | None, ...]
) -> StaticShape:
    """Compute the shape with a legal value for every unknown size, then drop the sizes that depend on one."""
    data_format = c.attrs["data_format"]
    batch, in_rows, in_cols, in_channels = channels_last(shape, data_format)
    filter_rows, filter_cols, depth, outs = filters
    some_depth = 1 if depth is None else depth
    channels = some_depth if in_channels is None else in_channels
    some_depth = channels if depth is None else depth
    mode, pads = normalize_padding(padding_argument(c.attrs), data_format)
    same = mode in ("SAME", "SAME_LOWER")  # then the size does not depend on the filter
    padding: Any = pads if mode == "EXPLICIT" else mode
    rows_known = in_rows is not None and (same or filter_rows is not None)
    cols_known = in_cols is not None and (same or filter_cols is not None)
    geometry = conv2d_geometry(
        (
            1 if batch is None else batch,
            in_rows if in_rows is not None and rows_known else _LARGE,
            in_cols if in_cols is not None and cols_known else _LARGE,
            channels,
        ),
        (filter_rows or 1, filter_cols or 1, some_depth, channels if outs is None else outs),
        normalize_steps(list(c.attrs["strides"]), "strides", data_format),
        padding,
        dilations=normalize_steps(list(c.attrs.get("dilations", (1, 1))), "dilations", data_format),
    )
    rows = geometry.rows.out_size if rows_known else None
    cols = geometry.cols.out_size if cols_known else None
    return (batch, outs, rows, cols) if data_format == "NCHW" else (batch, rows, cols, outs)


# ---------------------------------------------------------------------------------------------
# Element-wise ops, reductions and reshaping
# ---------------------------------------------------------------------------------------------


def unchanged_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the first input."""
    return [c.shapes[0]]


def merged_shape(c: InferenceContext, first: int = 0) -> list[StaticShape]:
    """Return what is known about the shape of all inputs (from ``first`` on), which must be the same."""
    shape: StaticShape = None
    for other in c.shapes[first:]:
        if not is_compatible(shape, other):
            raise ArgumentError(
                f"the inputs of {c.op} must have one shape; got {', '.join(map(text, c.shapes[first:]))}"
            )
        shape = merge(shape, other)
    return [shape]


def no_outputs(c: InferenceContext) -> list[StaticShape]:
    """Return no shapes, for an op without outputs."""
    return []


def explicit_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the attribute ``shape``."""
    shape: StaticShape = c.attrs["shape"]
    return [shape]


def const_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the attribute ``value``."""
    return [tuple(c.attrs["value"].shape)]


def assign_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the variable's shape, which the value must have."""
    if not is_compatible(c.shapes[0], c.shapes[1]):
        raise ArgumentError(
            f"value must have the variable's shape {text(c.shapes[0])}; got {text(c.shapes[1])}"
        )
    return [merge(c.shapes[0], c.shapes[1])]


def bias_add_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the value, and check that the bias has one element per channel."""
    bias, value = c.with_rank(1, 1, "bias"), c.shape(0)
    nchw = c.attrs["data_format"] == "NCHW"
    if len(value) < (3 if nchw else 2):
        raise ArgumentError(f"value of {c.op} must have an axis of channels; got shape {text(value)}")
    axis = 1 if nchw else len(value) - 1
    if not is_compatible((value[axis],), bias):
        raise ArgumentError(
            f"bias of {c.op} must have {value[axis]} elements, one for each channel of the value "
            f"{text(value)} in {c.attrs['data_format']} order; got {text(bias)}"
        )
    return [value]


def broadcast_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape to which all inputs are broadcast."""
    return [reduce(partial(broadcast, op=c.op), map(c.shape, range(len(c.shapes))))]


def broadcast(x: tuple[int | None, ...], y: tuple[int | None, ...], op: str) -> tuple[int | None, ...]:
    """Return the broadcast shape by NumPy's rule: axes are matched from the last, and a size of 1 expands.

    >>> broadcast((8, 1, None), (5, 3), "Add")
    (8, 5, 3)
    """
    longest = max(len(x), len(y))
    sizes: list[int | None] = []
    ones: tuple[int, ...] = (1,)
    for a, b in zip(ones * (longest - len(x)) + x, ones * (longest - len(y)) + y, strict=True):
        if a == 1 or a == b:
            sizes.append(b)
        elif b == 1:
            sizes.append(a)
        elif a is None or b is None:
            sizes.append(b if a is None else a)
        else:
            raise ArgumentError(
                f"x and y of {op} must have shapes that fit each other, from the last axis on, sizes "
                f"equal or 1; got {text(x)} and {text(y)}"
            )
    return tuple(sizes)


def matmul_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [rows of a, columns of b] after the transposes given by the attributes."""
    a, b = c.with_rank(0, 2, "a"), c.with_rank(1, 2, "b")
    rows, inner = a[::-1] if c.attrs["transpose_a"] else a
    other, cols = b[::-1] if c.attrs["transpose_b"] else b
    if not is_compatible((inner,), (other,)):
        raise ArgumentError(
            f"the columns of a and the rows of b must be equally many for {c.op}; got {inner} and {other} "
            f"(a {text(c.shapes[0])}, b {text(c.shapes[1])})"
        )
    return [(rows, cols)]


def reduction_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape without the reduced axes, or with size 1 for them if ``keep_dims``."""
    shape, keeps = c.shape(0), c.attrs["keep_dims"]
    axes = c.value(1, len(shape) if keeps else None)
    gone = normalize_axes(axes, len(shape), f"reduction_indices of {c.op}")
    if keeps:
        return [tuple(1 if axis in gone else size for axis, size in enumerate(shape))]
    return [without(shape, gone)]


def without(shape: tuple[int | None, ...], gone: Collection[int]) -> tuple[int | None, ...]:
    """Return a shape without some axes."""
    return tuple(size for axis, size in enumerate(shape) if axis not in gone)


def normalize_axes(axes: Any, rank: int, what: str) -> tuple[int, ...]:
    """Return axes counted from 0; raise ``ValueError`` if one is out of range or repeated.

    >>> normalize_axes([-1, 0], 3, "axis")
    (2, 0)
    """
    found = tuple(int(axis) for axis in np.ravel(axes))
    if any(not -rank <= axis < rank for axis in found):
        raise ArgumentError(f"{what} must be from {-rank} to {rank - 1}; got {brief(list(found))}")
    found = tuple(axis % rank for axis in found)
    if len(set(found)) < len(found):
        raise ArgumentError(f"{what} must name each axis once; got {brief(list(found))}")
    return found


def reshape_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the sizes in ``shape``; a size of -1 is derived from the number of elements."""
    sizes, source = c.shape_value(1, "shape"), c.shapes[0]
    if sizes is None:
        return [None]
    if sizes.count(-1) > 1 or any(size is not None and size < -1 for size in sizes):
        raise ArgumentError(f"shape of {c.op} must hold sizes, one of them -1 at most; got {brief(sizes)}")
    if not is_fully_defined(source) or None in sizes:
        return [tuple(None if size == -1 else size for size in sizes)]
    rest = prod(size for size in sizes if size not in (-1, None))
    count = prod(source)  # type: ignore[arg-type]
    if (-1 not in sizes and rest != count) or (-1 in sizes and (rest == 0 or count % rest)):
        raise ArgumentError(
            f"{c.op} must keep the number of elements: {text(source)} has {count}, which "
            f"{brief(list(sizes))} cannot hold"
        )
    return [tuple(count // rest if size == -1 else size for size in sizes)]


def transpose_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the sizes of the input in the order of ``perm``."""
    shape = c.shape(0)
    order = normalize_axes(c.value(1, len(shape)), len(shape), f"perm of {c.op}")
    if len(order) != len(shape):
        raise ArgumentError(f"perm of {c.op} must name all {len(shape)} axes; got {list(order)}")
    return [tuple(shape[axis] for axis in order)]


def pad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return each size plus its padding before and after."""
    pairs, shape = c.with_rank(1, 2, "paddings"), c.shape(0)
    paddings = c.value(1, len(shape))
    if pairs != (len(shape), 2):
        raise ArgumentError(
            f"paddings of {c.op} must have shape [{len(shape)}, 2]: before and after for each axis of "
            f"{text(shape)}; got {text(pairs)}"
        )
    if paddings.min(initial=0) < 0:
        raise ArgumentError(f"paddings of {c.op} must not be negative; got {paddings.tolist()}")
    padded = zip(shape, paddings, strict=True)
    return [tuple(None if size is None else size + int(a) + int(b) for size, (a, b) in padded)]


def softmax_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the logits, which must have at least one axis."""
    if c.shapes[0] is not None and not c.shapes[0]:
        raise ArgumentError(f"logits of {c.op} must have at least one axis; got a scalar")
    return [c.shapes[0]]
