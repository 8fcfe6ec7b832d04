"""tf.reshape, tf.concat and what else makes and rearranges tensors.

TensorFlow: python/ops/array_ops.py.
"""

from typing import Any

from ..graph.ops import array_ops
from ..graph.ops.array_ops import (
    concat,
    expand_dims,
    fill,
    gather,
    identity,
    one_hot,
    ones,
    ones_like,
    pad,
    rank,
    reshape,
    shape,
    size,
    slice,
    squeeze,
    stack,
    stop_gradient,
    tile,
    transpose,
    unstack,
    zeros,
    zeros_like,
)
from ..graph.ops.math_ops import where

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


def group(*inputs: Any, **kwargs: Any) -> Any:
    """Return an operation that finishes after all inputs have finished."""
    return array_ops.group(*inputs, **kwargs)
