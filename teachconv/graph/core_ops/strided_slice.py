"""What the key of ``tensor[key]`` means, as the op StridedSlice writes it down.

TensorFlow: core/util/strided_slice_op.cc. A key such as ``[0, ..., 1:5:2]`` becomes three vectors, begin, end
and strides, with one entry per item, and five masks whose bits say which items have no begin or no end, are
an ellipsis, a new axis, or an index that removes its axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import ArgumentError
from ..framework.tensor_shape import StaticShape

__all__ = ["MASKS", "index_of", "sliced_shape"]


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


def sliced_shape(shape: StaticShape, key: tuple[Any, ...]) -> StaticShape:
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
    if shape is None:
        return None
    used = sum(item is not None and item is not Ellipsis for item in key)
    if used > len(shape):
        raise ArgumentError(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims"
        )
    if Ellipsis not in key:
        key = (*key, Ellipsis)
    sizes: list[int | None] = []
    axis = 0
    for item in key:
        if item is Ellipsis:
            rest = len(shape) - used
            sizes += shape[axis : axis + rest]
            axis += rest
        elif item is None:
            sizes.append(1)
        else:
            size = shape[axis]
            if isinstance(item, slice):
                sizes.append(_length(item, size))
            elif size is not None and not -size <= item < size:
                raise ArgumentError(f"slice index {item} of dimension {axis} out of bounds.")
            axis += 1
    return tuple(sizes)


def _length(part: slice, size: int | None) -> int | None:
    return None if size is None else len(range(*part.indices(size)))
