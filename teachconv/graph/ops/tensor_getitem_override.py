"""``tensor[key]``: writes a key as the inputs and attributes of StridedSlice.

TensorFlow: python/ops/tensor_getitem_override.py, _slice_helper.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError
from ..core_ops.strided_slice import MASKS
from ..framework.context import current_graph
from . import gen_nn_ops

__all__ = ["slice_helper"]

_STACKS = ("stack", "stack_1", "stack_2")  # TensorFlow's names of begin, end and strides


def slice_helper(tensor: Any, key: Any) -> Any:
    """Return ``tensor[key]``.

    Args:
        tensor: a tensor or variable.
        key: an int, a slice, ``...``, None (a new axis), or a tuple of them; ints may be scalar tensors.

    Returns:
        A tensor.

    Raises:
        TypeError: if an item of the key is something else, such as an array or a mask.
        ValueError: if an index is out of range.

    >>> from teachconv import graph as tg
    >>> t = tg.constant([[1, 2, 3], [4, 5, 6]])
    >>> print(t[1, ::2], t[..., -1], t[:, None].shape)
    tf.Tensor([4 6], shape=(2,), dtype=int32) tf.Tensor([3 6], shape=(2,), dtype=int32) (2, 1, 3)
    """
    begin, end, strides = [], [], []
    masks: dict[str, Any] = dict.fromkeys(MASKS, 0)
    for position, item in enumerate(key if isinstance(key, tuple) else (key,)):
        bit = 1 << position
        first, last, step = 0, 0, 1
        if item is Ellipsis:
            masks["ellipsis_mask"] |= bit
        elif item is None:
            masks["new_axis_mask"] |= bit
        elif isinstance(item, slice):
            step = 1 if item.step is None else _integer(item.step, tensor)
            masks["begin_mask"] |= bit * (item.start is None)
            masks["end_mask"] |= bit * (item.stop is None)
            first = 0 if item.start is None else _integer(item.start, tensor)
            last = 0 if item.stop is None else _integer(item.stop, tensor)
        else:
            masks["shrink_axis_mask"] |= bit
            first = _integer(item, tensor)
            last = first + 1
        begin.append(first)
        end.append(last)
        strides.append(step)
    graph = current_graph()
    if graph is None:
        first_of, last_of, step_of = (np.array(items, np.int32) for items in (begin, end, strides))
        return gen_nn_ops.strided_slice(tensor, first_of, last_of, step_of, **masks)
    with graph.name_scope("strided_slice") as scope:
        parts = [_stacked(items, name) for items, name in zip((begin, end, strides), _STACKS, strict=True)]
        return gen_nn_ops.strided_slice(tensor, parts[0], parts[1], parts[2], name=scope, **masks)


def _integer(item: Any, tensor: Any) -> Any:
    """Return a bound as an int, or unchanged if it is a scalar tensor of a graph."""
    try:
        return index(item)
    except TypeError:
        pass
    if getattr(item, "dtype", None) in (np.int32, np.int64) and item.shape in ((), None):
        return item
    raise ArgumentTypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
        f"tensors are valid indices, got {item!r}"
    )


def _stacked(items: list[Any], name: str) -> Any:
    if any(hasattr(item, "op") for item in items):
        return gen_nn_ops.pack(items, name=name)
    return gen_nn_ops.const(np.array(items, np.int32), np.int32, name=name)
