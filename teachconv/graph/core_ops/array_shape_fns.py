"""Shape functions of the ops that build, move, split and join tensors, and of the ops that train variables.

TensorFlow: the functions given to SetShapeFn in core/ops/array_ops.cc, math_ops.cc, data_flow_ops.cc and
training_ops.cc; core/util/strided_slice_op.cc. A size that depends on a value which is not known before the
run is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...support.errors import ArgumentError, brief
from ..framework.op_def import get_op_def
from ..framework.shape_inference import InferenceContext, UnknownShapeError
from ..framework.tensor_shape import StaticShape, is_compatible, merge, text
from .common_shape_fns import merged_shape, normalize_axes, without


def scalar_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape without axes."""
    return [()]


def shape_from_value(c: InferenceContext) -> list[StaticShape]:
    """Return the value of the first input, as far as it is known."""
    name = get_op_def(c.op).inputs[0].name
    return [_not_negative(c.shape_value(0, name), f"{name} of {c.op}")]


def fill_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``dims``; the value must be a scalar."""
    c.with_rank(1, 0, "value")
    return shape_from_value(c)


def shape_n_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [number of axes] of each input."""
    return [(None,) if shape is None else (len(shape),) for shape in c.shapes]


def broadcast_gradient_args_shape(c: InferenceContext) -> list[StaticShape]:
    """Return two vectors of unknown length."""
    return [(None,), (None,)]


def one_hot_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the indices with the depth inserted as a new axis."""
    c.with_rank(1, 0, "depth")
    shape, axis, value = c.shape(0), c.attrs["axis"], c.values[1]
    if not -1 <= axis <= len(shape):
        raise ArgumentError(f"axis of {c.op} must be from -1 to {len(shape)}; got {axis}")
    depth: Any = None if value is None else value[()]
    if depth is not None and depth < 0:
        raise ArgumentError(f"depth of {c.op} must be at least 0; got {depth}")
    return [_inserted(shape, len(shape) if axis == -1 else axis, depth)]


# --- the same elements in another shape ---------------------------------------------------------------


def squeeze_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape without the named axes of size 1, or without all of them."""
    shape = c.shape(0)
    gone = normalize_axes(c.attrs["squeeze_dims"], len(shape), f"squeeze_dims of {c.op}")
    for axis in gone:
        if shape[axis] not in (1, None):
            raise ArgumentError(
                f"squeeze_dims of {c.op} must name axes of size 1; axis {axis} of {text(shape)} has size "
                f"{shape[axis]}"
            )
    if not gone and None in shape:
        return [None]  # which axes have size 1 is not known
    return [without(shape, gone or [axis for axis, size in enumerate(shape) if size == 1])]


def expand_dims_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape with an axis of size 1 inserted."""
    shape = c.shape(0)
    axis = c.int_value(1, len(shape) + 1)
    return [_inserted(shape, _axis(axis, len(shape) + 1, f"dim of {c.op}"), 1)]


def _inserted(shape: tuple[int | None, ...], axis: int, size: int | None) -> tuple[int | None, ...]:
    return (*shape[:axis], size, *shape[axis:])


def _not_negative(sizes: StaticShape, what: str) -> StaticShape:
    if sizes is not None and any(size is not None and size < 0 for size in sizes):
        raise ArgumentError(f"{what} must have no negative number; got {text(sizes)}")
    return sizes


def _axis(axis: int, rank: int, what: str) -> int:
    return normalize_axes([axis], rank, what)[0]


# --- more or fewer elements ---------------------------------------------------------------------------


def slice_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the sizes; a size of -1 extends to the end of its axis."""
    shape, begin, size = c.shapes[0], c.shape_value(1, "begin"), c.shape_value(2, "size")
    rank = next((len(known) for known in (shape, begin, size) if known is not None), None)
    if rank is None:
        return [None]
    unknown = (None,) * rank
    shape, begin, size = (unknown if known is None else known for known in (shape, begin, size))
    if not len(shape) == len(begin) == len(size):
        raise ArgumentError(
            f"begin and size of {c.op} must have one element for each axis of {text(shape)}; got "
            f"{len(begin)} and {len(size)}"
        )
    result: list[int | None] = []
    for whole, first, length in zip(shape, begin, size, strict=True):
        if length == -1:
            length = None if whole is None or first is None else whole - first
        known = None not in (whole, first, length)
        if known and not 0 <= first <= first + length <= whole:  # type: ignore[operator]
            raise ArgumentError(
                f"begin and size of {c.op} must lie inside {text(shape)}; got {list(begin)} and {list(size)}"
            )
        result.append(length)
    return [tuple(result)]


def tile_shape(c: InferenceContext) -> list[StaticShape]:
    """Return each size times its multiple."""
    multiples = _not_negative(c.shape_value(1, "multiples"), f"multiples of {c.op}")
    shape = c.shapes[0] if c.shapes[0] is not None or multiples is None else (None,) * len(multiples)
    if shape is None or multiples is None:
        return [shape and (None,) * len(shape)]
    if len(shape) != len(multiples):
        raise ArgumentError(
            f"multiples of {c.op} must have one number for each axis of {text(shape)}; got {list(multiples)}"
        )
    pairs = zip(shape, multiples, strict=True)
    return [tuple(None if size is None or times is None else size * times for size, times in pairs)]


def broadcast_to_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``shape``, to which the input must expand."""
    shape, wanted = c.shapes[0], c.shape_value(1, "shape")
    if shape is not None and wanted is not None:
        fits = len(shape) <= len(wanted) and all(
            a in (1, None) or b in (a, None) for a, b in zip(shape[::-1], wanted[::-1], strict=False)
        )
        if not fits:
            raise ArgumentError(f"{c.op} cannot expand {text(shape)} to {text(wanted)}")
    return [wanted]


def gather_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of params with its axis replaced by the axes of the indices."""
    params, indices = c.shape(0), c.shape(1)
    axis = _axis(c.int_value(2), len(params), f"axis of {c.op}")
    return [(*params[:axis], *indices, *params[axis + 1 :])]


# --- several tensors ----------------------------------------------------------------------------------


def pack_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the common shape of the inputs with their number as a new axis."""
    (shape,) = merged_shape(c)
    if shape is None:
        raise UnknownShapeError
    return [_inserted(shape, _axis(c.attrs["axis"], len(shape) + 1, f"axis of {c.op}"), len(c.shapes))]


def unpack_shape(c: InferenceContext) -> list[StaticShape]:
    """Return, for each slice, the shape without the axis."""
    shape, count = c.shape(0), c.attrs["num"]
    axis = _axis(c.attrs["axis"], len(shape), f"axis of {c.op}")
    if shape[axis] not in (count, None):
        raise ArgumentError(f"num of {c.op} must be {shape[axis]}, the size of the axis; got {count}")
    return [without(shape, [axis])] * count


def concat_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the inputs with the sum of their sizes along the axis."""
    rank = next((len(shape) for shape in c.shapes[:-1] if shape is not None), None)
    axis = c.int_value(len(c.shapes) - 1, rank)
    if rank is None:
        raise UnknownShapeError
    axis = _axis(axis, rank, f"axis of {c.op}")
    shapes = [(None,) * rank if shape is None else shape for shape in c.shapes[:-1]]
    merged: Any = (None,) * rank
    for shape in shapes:
        others = (*shape[:axis], None, *shape[axis + 1 :])
        if len(shape) != rank or not is_compatible(others, merged):
            raise ArgumentError(
                f"values of {c.op} must have equal sizes except along axis {axis}; got "
                f"{', '.join(map(text, c.shapes[:-1]))}"
            )
        merged = merge(others, merged)
    joined: Any = [shape[axis] for shape in shapes]
    return [(*merged[:axis], None if None in joined else sum(joined), *merged[axis + 1 :])]


def concat_offset_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shapes of the inputs ``shape``, which are vectors."""
    return list(c.shapes[1:])


def dynamic_stitch_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [largest index + 1] and the axes of data after those of the indices."""
    half = len(c.shapes) // 2
    rest = c.shape(half)[len(c.shape(0)) :]
    largest = max(int(c.value(number, 1 + len(rest)).max(initial=-1)) for number in range(half))
    return [(largest + 1, *rest)]


# --- arithmetic ---------------------------------------------------------------------------------------


def arg_max_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape without the axis."""
    shape = c.shape(0)
    axis = c.int_value(1, len(shape) - 1)
    return [without(shape, [_axis(axis, len(shape), f"dimension of {c.op}")])]


def range_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the number of steps from start to limit."""
    values = [c.value(index, 1) for index in range(3)]
    if not all(np.size(value) == 1 and np.isfinite(value).all() for value in values):
        raise ArgumentError(f"start, limit and delta of {c.op} must be finite numbers; got {brief(values)}")
    start, limit, delta = (value[()] for value in values)
    if not delta:
        raise ArgumentError(f"delta of {c.op} must not be 0")
    return [(max(0, int(-((start - limit) // delta))),)]


# --- training -----------------------------------------------------------------------------------------


def apply_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the variable's shape, which slots and gradient must have; rates and powers are scalars."""
    shape = c.shapes[0]
    for arg, given in zip(get_op_def(c.op).inputs, c.shapes, strict=True):
        wanted: StaticShape = shape if arg.is_ref or arg.name in ("grad", "delta") else ()
        if not is_compatible(given, wanted):
            raise ArgumentError(f"{arg.name} of {c.op} must have shape {text(wanted)}; got {text(given)}")
    return [shape]


def strided_slice_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of input[key], as far as begin, end and strides are known."""
    shape = c.shape(0)
    axes = len(shape) - c.attrs["shrink_axis_mask"].bit_count() + c.attrs["new_axis_mask"].bit_count()
    return [sliced_shape(shape, index_of(c.attrs, *(c.value(index, axes) for index in (1, 2, 3))))]


MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def index_of(attrs: Mapping[str, Any], begin: Any, end: Any, strides: Any) -> tuple[Any, ...]:
    """Return the key as NumPy takes it.

    Args:
        attrs: the attributes of the node, among them the masks.
        begin, end, strides: the vectors.

    Returns:
        A tuple of ints, slices, ``...`` and None.

    Raises:
        ValueError: if a stride is 0, or the vectors differ in length.
    """
    if not len(begin) == len(end) == len(strides):
        raise ArgumentError(
            f"begin, end and strides must be equally long; got {len(begin)}, {len(end)} and {len(strides)}"
        )
    key: list[Any] = []
    for index, (first, last, step) in enumerate(zip(begin, end, strides, strict=True)):
        begin_mask, end_mask, ellipsis, new_axis, shrink = (attrs[name] >> index & 1 for name in MASKS)
        if ellipsis:
            key.append(Ellipsis)
        elif new_axis:
            key.append(None)
        elif shrink:
            key.append(int(first))
        elif not step:
            raise ArgumentError(f"strides[{index}] must be non-zero")
        else:
            key.append(slice(None if begin_mask else int(first), None if end_mask else int(last), int(step)))
    return tuple(key)


def sliced_shape(shape: tuple[int | None, ...], key: tuple[Any, ...]) -> StaticShape:
    """Return the static shape of ``x[key]``.

    Args:
        shape: the static shape of x.
        key: the key, from `index_of`.

    Returns:
        The shape; a size that depends on an unknown one is None.

    Raises:
        ValueError: if an index is out of range or there are too many.

    >>> sliced_shape((None, 8, 8), (0, slice(1, None, 2)))
    (4, 8)
    """
    rest = len(shape) - sum(item is not None and item is not Ellipsis for item in key)
    if rest < 0:
        raise ArgumentError(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims"
        )
    at = key.index(Ellipsis) if Ellipsis in key else len(key)
    sizes: list[int | None] = []
    axis = 0
    for item in (*key[:at], *[slice(None)] * rest, *key[at + 1 :]):
        if item is None:
            sizes.append(1)
            continue
        size = shape[axis]
        if isinstance(item, slice):
            sizes.append(None if size is None else len(range(*item.indices(size))))
        elif size is not None and not -size <= item < size:
            raise ArgumentError(f"slice index {item} of dimension {axis} out of bounds.")
        axis += 1
    return tuple(sizes)
