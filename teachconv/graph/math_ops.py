"""The public ops of arithmetic and reductions.

TensorFlow: python/ops/math_ops.py.
"""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from . import gen_nn_ops
from .constant_op import constant
from .nn_ops import _static_shape

__all__ = ["add", "matmul", "multiply", "reduce_mean", "reduce_sum", "square", "subtract"]


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x + y with broadcasting.

    Args:
        x: a tensor, variable, array or number.
        y: likewise, of the same dtype.
        name: the name of the node.

    Returns:
        A tensor or array.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.

    >>> add([1, 2], 3).numpy().tolist()
    [4, 5]
    """
    return gen_nn_ops.add(x, y, name=name)


def subtract(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x - y with broadcasting.

    Args:
        x, y, name: as in `add`.

    Returns:
        A tensor or array.

    Raises:
        ValueError, TypeError: as `add`.
    """
    return gen_nn_ops.sub(x, y, name=name)


def multiply(x: Any, y: Any, name: str | None = None) -> Any:
    """Return the element-wise product x * y with broadcasting.

    Args:
        x, y, name: as in `add`.

    Returns:
        A tensor or array.

    Raises:
        ValueError, TypeError: as `add`.
    """
    return gen_nn_ops.mul(x, y, name=name)


def square(x: Any, name: str | None = None) -> Any:
    """Return x * x element-wise.

    Args:
        x: a tensor, variable, array or number.
        name: the name of the node.

    Returns:
        A tensor or array of the same shape.
    """
    return gen_nn_ops.square(x, name=name)


def matmul(
    a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None
) -> Any:
    """Return the product of two matrices, optionally transposed.

    Args:
        a: [rows, inner], or [inner, rows] with ``transpose_a``.
        b: [inner, cols], or [cols, inner] with ``transpose_b``.
        transpose_a: whether to transpose ``a`` first.
        transpose_b: whether to transpose ``b`` first.
        name: the name of the node.

    Returns:
        [rows, cols], a tensor or array.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.
    """
    return gen_nn_ops.mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)


def reduce_sum(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the sum over axes.

    Args:
        input_tensor: numbers of any shape.
        axis: an int, several ints, or None for all axes.
        keepdims: whether to keep the summed axes with size 1.
        name: the name of the node.

    Returns:
        A tensor or array.

    Raises:
        ValueError: if an axis does not exist or is given twice, or ``axis`` is None and the rank is unknown.

    >>> reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
    [4, 6]
    """
    axes = _reduction_axes(input_tensor, axis)
    return gen_nn_ops.sum(input_tensor, axes, keep_dims=keepdims, name=name)


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the mean over axes; the mean of integers is an integer, rounded towards zero.

    Args:
        input_tensor, axis, keepdims, name: as in `reduce_sum`.

    Returns:
        A tensor or array.

    Raises:
        ValueError: as `reduce_sum`.

    >>> float(reduce_mean([1.0, 2.0])), int(reduce_mean([1, 2]))
    (1.5, 1)
    """
    axes = _reduction_axes(input_tensor, axis)
    return gen_nn_ops.mean(input_tensor, axes, keep_dims=keepdims, name=name)


def _reduction_axes(input_tensor: Any, axis: Any) -> Any:
    """Return the axes as TensorFlow's graphs contain them: for all axes, a separate constant."""
    if axis is not None:
        return axis if hasattr(axis, "op") else ([axis] if isinstance(axis, int) else list(axis))
    shape = _static_shape(input_tensor)
    if shape is None:
        raise ArgumentError("axis must be given for a tensor whose number of axes is not known; got None")
    return constant(list(range(len(shape))), "int32")
