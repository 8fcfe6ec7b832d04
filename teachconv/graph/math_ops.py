"""Arithmetic and reductions as one calls them.

TensorFlow: python/ops/math_ops.py.
"""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from . import gen_nn_ops
from .constant_op import constant
from .nn_ops import _static_shape
from .ops import composite

__all__ = ["add", "matmul", "multiply", "reduce_mean", "reduce_sum", "square", "subtract"]


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x + y, broadcast.

    >>> add([1, 2], 3).tolist()
    [4, 5]
    """
    return gen_nn_ops.add(x, y, name=name)


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x - y, broadcast."""
    return gen_nn_ops.sub(x, y, name=name)


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x * y, broadcast, element by element."""
    return gen_nn_ops.mul(x, y, name=name)


def square(x: Any, name: str | None = None) -> Any:
    """Return x * x, element by element."""
    return gen_nn_ops.square(x, name=name)


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None
) -> Any:
    """Return the product of two matrices, each transposed first where that is asked for."""
    return gen_nn_ops.mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


@composite
def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the sum over ``axis``: an int, several, or None for all.

    >>> reduce_sum([[1, 2], [3, 4]], axis=0).tolist()
    [4, 6]
    """
    axes = _reduction_axes(input_tensor, axis)
    return gen_nn_ops.sum(input_tensor, axes, keep_dims=keepdims, name=name)


@composite
def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the mean over ``axis``: an int, several, or None for all; of integers an integer.

    >>> reduce_mean([1.0, 2.0]).tolist(), reduce_mean([1, 2]).tolist()
    (1.5, 1)
    """
    axes = _reduction_axes(input_tensor, axis)
    return gen_nn_ops.mean(input_tensor, axes, keep_dims=keepdims, name=name)


def _reduction_axes(input_tensor: Any, axis: Any) -> Any:
    """The axes as TensorFlow has them in its graphs: all of them are a constant of their own."""
    if axis is not None:
        return axis if hasattr(axis, "op") else ([axis] if isinstance(axis, int) else list(axis))
    shape = _static_shape(input_tensor)
    if shape is None:
        raise ArgumentError("axis must be given for a tensor whose number of axes is not known; got None")
    return constant(list(range(len(shape))), "int32")
