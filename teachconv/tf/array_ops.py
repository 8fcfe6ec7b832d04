"""tf.reshape, tf.concat and what else makes and rearranges tensors, with TensorFlow's signatures.

TensorFlow: python/ops/array_ops.py.
"""

from __future__ import annotations

from typing import Any

from ..graph.ops import array_ops
from ..graph.ops.array_ops import (
    concat,
    expand_dims,
    identity,
    one_hot,
    rank,
    reshape,
    slice,
    squeeze,
    stack,
    stop_gradient,
    tile,
    unstack,
)
from ..graph.ops.cwise_ops import where
from .dtypes import float32
from .options import unsupported

__all__ = [
    "concat",
    "expand_dims",
    "fill",
    "gather",
    "group",
    "identity",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "rank",
    "reshape",
    "shape",
    "size",
    "slice",
    "squeeze",
    "stack",
    "stop_gradient",
    "tile",
    "transpose",
    "unstack",
    "where",
    "zeros",
    "zeros_like",
]


@unsupported("layout")
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """Return a tensor of a shape filled with one value."""
    return array_ops.fill(dims, value, name)


@unsupported("validate_indices", "batch_dims")
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """Return the slices at the indices along an axis."""
    return array_ops.gather(params, indices, 0 if axis is None else axis, name)


def group(*inputs: Any, **kwargs: Any) -> Any:
    """Return an operation that finishes after all inputs have finished."""
    return array_ops.group(*inputs, **kwargs)


@unsupported("layout")
def ones(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """Return ones."""
    return array_ops.ones(shape, dtype, name)


@unsupported("dtype", "layout")
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return ones of the shape of a tensor."""
    return array_ops.ones_like(input, name)


@unsupported("mode", "constant_values")
def pad(
    tensor: Any, paddings: Any, mode: Any = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Any:
    """Add zeros around a tensor."""
    return array_ops.pad(tensor, paddings, name)


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the shape as a tensor: what an unknown batch is in this run."""
    return array_ops.shape(input, name, "int32" if out_type is None else out_type)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the number of elements as a tensor."""
    return array_ops.size(input, name, "int32" if out_type is None else out_type)


@unsupported("conjugate")
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """Return the input with permuted axes; None reverses them."""
    return array_ops.transpose(a, perm, name)


@unsupported("layout")
def zeros(shape: Any, dtype: Any = float32, name: str | None = None, layout: Any = None) -> Any:
    """Return zeros."""
    return array_ops.zeros(shape, dtype, name)


@unsupported("dtype", "layout")
def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return zeros of the shape of a tensor."""
    return array_ops.zeros_like(input, name)
