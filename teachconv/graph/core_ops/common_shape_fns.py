"""Shape functions: compute the static shapes of an op's outputs from those of its inputs, before a run.

A shape function takes an `InferenceContext` and returns a list with one static shape for each output.

TensorFlow: core/framework/common_shape_fns.cc. Sizes that depend on windows and padding come from
`teachconv.core.geometry`, so that the static shape always agrees with the kernel's result. An unknown size is
None, and every size that depends on it is None.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np

from ...core.arguments import channels_last, normalize_padding, normalize_steps, other_order
from ...core.geometry import forward_geometry
from ...support.errors import ArgumentError, brief
from ...windows.padding import PadCall, pad_call
from ...windows.pooling import refuse_wide_pads
from ..framework.shape_inference import InferenceContext
from ..framework.tensor_shape import StaticShape, is_compatible, is_fully_defined, merge, text

_LARGE = 1 << 30  # used for unknown rows: no filter is larger


def padding_argument(attrs: Mapping[str, Any]) -> Any:
    """Return ``padding`` in the form that geometry accepts: the string, or a pair for each axis if explicit.

    Args:
        attrs: the attributes of a windowed op.

    Returns:
        The string, or a pair (before, after) for each letter of ``data_format``.

    Raises:
        ValueError: if ``padding`` and ``explicit_paddings`` contradict each other.

    >>> paddings = (0, 0, 1, 2, 3, 4, 0, 0)
    >>> padding_argument({"padding": "EXPLICIT", "explicit_paddings": paddings, "data_format": "NHWC"})
    ((0, 0), (1, 2), (3, 4), (0, 0))
    """
    padding, explicit = attrs["padding"], attrs.get("explicit_paddings", ())
    if padding != "EXPLICIT":
        if explicit:
            raise ArgumentError(
                f"explicit_paddings must be empty where padding is {brief(padding)}; got {list(explicit)}"
            )
        return padding
    axes = len(attrs["data_format"])
    if len(explicit) != 2 * axes:
        raise ArgumentError(
            f'explicit_paddings must hold {2 * axes} ints where padding is "EXPLICIT": before and after for '
            f"each of the {axes} axes, in data_format order; got {list(explicit)}"
        )
    return tuple(zip(explicit[::2], explicit[1::2], strict=True))


# ---------------------------------------------------------------------------------------------
# Windows: convolution and pooling
# ---------------------------------------------------------------------------------------------


def windowed_shape(
    c: InferenceContext, shape: tuple[int | None, ...], filters: tuple[int | None, ...]
) -> tuple[int | None, ...]:
    """Return the shape that windows make of ``shape``, in data_format order.

    It is computed with a legal size for each that is unknown; a size that depends on such a one is unknown.

    Args:
        c: the context, whose attributes say strides, dilations and padding.
        shape: the input's, in ``data_format`` order.
        filters: the filters' shape, ``[*taps, in_channels / groups, out_channels]``.
    """
    layout = c.attrs["data_format"]
    batch, *sizes, in_channels = channels_last(shape, layout)
    *taps, depth, outs = filters
    some_depth = 1 if depth is None else depth
    channels = some_depth if in_channels is None else in_channels
    some_depth = channels if depth is None else depth
    mode, pads = normalize_padding(padding_argument(c.attrs), layout)
    same = mode in ("SAME", "SAME_LOWER")  # then the size does not depend on the filter
    known = [n is not None and (same or k is not None) for n, k in zip(sizes, taps, strict=True)]
    facts = (
        (
            1 if batch is None else batch,
            *(n if n is not None and is_known else _LARGE for n, is_known in zip(sizes, known, strict=True)),
            channels,
        ),
        (*(k or 1 for k in taps), some_depth, channels if outs is None else outs),
        normalize_steps(list(c.attrs["strides"]), "strides", layout),
        (mode, pads),
        normalize_steps(list(c.attrs.get("dilations", [1])), "dilations", layout),
    )
    try:
        geometry = forward_geometry(*facts)
    except ArgumentError as error:
        error.args = (f"{error}{other_order(shape, layout, depth, 'data_format=')}",)
        raise
    outer = [axis.out_size if is_known else None for axis, is_known in zip(geometry.axes, known, strict=True)]
    return (batch, outs, *outer) if layout[1] == "C" else (batch, *outer, outs)


def pool_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the number of windows along each spatial axis; batch and channels are unchanged."""
    layout = c.attrs["data_format"]
    shape = c.with_rank(0, len(layout), "input")
    sizes = normalize_steps(list(c.attrs["ksize"]), "ksize", layout)
    refuse_wide_pads(normalize_padding(padding_argument(c.attrs), layout)[1], sizes)
    channels = channels_last(shape, layout)[-1]
    # a depthwise filter has the same windows
    return [windowed_shape(c, shape, (*sizes, None if channels is None else min(1, channels), channels))]


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
    return [c.attrs["shape"]]


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
        if a != b and not {1, None} & {a, b}:
            raise ArgumentError(
                f"x and y of {op} must have shapes that fit each other, from the last axis on, sizes "
                f"equal or 1; got {text(x)} and {text(y)}"
            )
        sizes.append(b if a == 1 or (a is None and b != 1) else a)
    return tuple(sizes)


def matmul_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [rows of a, columns of b] after the transposes given by the attributes."""
    a, b = c.with_rank(0, 2, "a"), c.with_rank(1, 2, "b")
    return [_product_shape(c, a, b, c.attrs["transpose_a"], c.attrs["transpose_b"])]


def batch_matmul_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [..., rows of x, columns of y]; the axes before these two are broadcast."""
    x, y = c.shape(0), c.shape(1)
    for name, shape in (("x", x), ("y", y)):
        if len(shape) < 2:
            raise ArgumentError(f"{name} of {c.op} must have at least 2 axes; got shape {text(shape)}")
    return [
        broadcast(x[:-2], y[:-2], c.op)
        + _product_shape(c, x[-2:], y[-2:], c.attrs["adj_x"], c.attrs["adj_y"])
    ]


def _product_shape(
    c: InferenceContext,
    a: tuple[int | None, ...],
    b: tuple[int | None, ...],
    transpose_a: bool,
    transpose_b: bool,
) -> tuple[int | None, int | None]:
    rows, inner = a[::-1] if transpose_a else a
    other, cols = b[::-1] if transpose_b else b
    if not is_compatible((inner,), (other,)):
        raise ArgumentError(
            f"a must have as many columns as b has rows for {c.op}; got {inner} and {other} "
            f"(a {text(c.shapes[0])}, b {text(c.shapes[1])})"
        )
    return rows, cols


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
    """Return each size plus its padding before and after; of the gradient of a mirror, less the padding."""
    pairs, shape = c.with_rank(1, 2, "paddings"), c.shape(0)
    paddings = c.value(1, len(shape))
    if pairs != (len(shape), 2):
        raise ArgumentError(
            f"paddings of {c.op} must have shape [{len(shape)}, 2]: before and after for each axis of "
            f"{text(shape)}; got {text(pairs)}"
        )
    if paddings.min(initial=0) < 0:
        raise ArgumentError(f"paddings of {c.op} must not be negative; got {paddings.tolist()}")
    sides = paddings.tolist()
    sign = -1 if c.op == "MirrorPadGrad" else 1
    padded = zip(shape, sides, strict=True)
    sizes = tuple(None if size is None else size + sign * (a + b) for size, (a, b) in padded)
    if "mode" in c.attrs and is_fully_defined(shape):
        mirror_pad(c.op, shape if sign == 1 else sizes, sides, c.attrs["mode"])  # raises for what is too wide
    return [sizes]


def mirror_pad(op: str, shape: Any, paddings: Any, mode: str) -> PadCall:
    """Return the call of `teachconv.windows.padding` that MirrorPad makes of an input of a shape.

    Args:
        op: the op's name, for messages.
        shape: the shape of the input.
        paddings: before and after for each axis.
        mode: "REFLECT" or "SYMMETRIC".

    Raises:
        ValueError: if the input has too few cells to mirror.
    """
    return pad_call("tf.pad", f"paddings of {op}", shape, paddings, mode, {mode: mode.lower()})


def softmax_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the logits, which must have at least one axis."""
    if c.shapes[0] is not None and not c.shapes[0]:
        raise ArgumentError(f"logits of {c.op} must have at least one axis; got a scalar")
    return [c.shapes[0]]
