"""The functions of TensorFlow 1 that make and rearrange tensors. TensorFlow: python/ops/array_ops.py."""

from __future__ import annotations

from typing import Any

from ....graph.ops import array_ops as graph_array_ops
from ....graph.options import either
from ... import array_ops
from ...array_ops import (
    concat,
    fill,
    group,
    identity,
    one_hot,
    ones,
    rank,
    reshape,
    slice,
    stack,
    stop_gradient,
    tile,
    unstack,
    where,
    zeros,
)
from .default_graph import imported_in_graph, in_graph

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
    "placeholder",
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


@in_graph
def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """Insert an axis of size 1."""
    return array_ops.expand_dims(input, either("axis", axis, "dim", dim), name)


@in_graph
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,
    axis: Any = None,
    batch_dims: Any = 0,
) -> Any:
    """Return the slices at the indices along an axis."""
    return array_ops.gather(params, indices, validate_indices, axis, batch_dims, name)


@in_graph
def ones_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Return ones of the shape of a tensor."""
    return array_ops.ones_like(tensor, dtype, name)


@in_graph
def pad(
    tensor: Any, paddings: Any, mode: Any = "CONSTANT", name: str | None = None, constant_values: Any = 0
) -> Any:
    """Add zeros around a tensor."""
    return array_ops.pad(tensor, paddings, mode, constant_values, name)


@in_graph
def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Return a tensor whose value is fed to each run."""
    return graph_array_ops.placeholder(dtype, shape, name)


@in_graph
def shape(input: Any, name: str | None = None, out_type: Any = None) -> Any:
    """Return the shape as a tensor: what an unknown batch is in this run."""
    return array_ops.shape(input, out_type, name)


@in_graph
def size(input: Any, name: str | None = None, out_type: Any = None) -> Any:
    """Return the number of elements as a tensor."""
    return array_ops.size(input, out_type, name)


@in_graph
def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Remove axes of size 1."""
    return array_ops.squeeze(input, either("axis", axis, "squeeze_dims", squeeze_dims), name)


@in_graph
def transpose(a: Any, perm: Any = None, name: str = "transpose", conjugate: bool = False) -> Any:
    """Return the input with permuted axes; None reverses them."""
    return array_ops.transpose(a, perm, conjugate, name)


@in_graph
def zeros_like(tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True) -> Any:
    """Return zeros of the shape of a tensor."""
    return array_ops.zeros_like(tensor, dtype, name)


imported_in_graph(globals())
