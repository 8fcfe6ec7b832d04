"""The public ops of arithmetic, element by element, and reductions. TensorFlow: python/ops/math_ops.py.

Two inputs are broadcast: axes are matched from the last, and a size of 1 expands. Most element-wise
ops are the generated functions themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import FLOATS, INTEGERS, is_integer
from ..framework.eager_tensor import items, own_dtype, static_shape, to_argument
from ..framework.op_def import as_dtype, is_trainable
from ..framework.ops import name_scope
from ..framework.tensor import tensor_dtype
from ..options import unsupported
from . import array_ops, gen_nn_ops
from .array_ops import constant, convert_to_tensor, is_tensor
from .gen_nn_ops import (
    abs,
    equal,
    exp,
    greater,
    greater_equal,
    less,
    less_equal,
    log,
    log1p,
    logical_and,
    logical_not,
    logical_or,
    maximum,
    minimum,
    not_equal,
    pow,
    rsqrt,
    sigmoid,
    sign,
    sqrt,
    square,
    tanh,
)
from .gen_nn_ops import floor_mod as floormod
from .gen_nn_ops import mul as multiply
from .gen_nn_ops import neg as negative
from .gen_nn_ops import sub as subtract

__all__ = [
    "abs",
    "add",
    "add_n",
    "argmax",
    "cast",
    "equal",
    "exp",
    "floordiv",
    "floormod",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
    "log",
    "log1p",
    "logical_and",
    "logical_not",
    "logical_or",
    "matmul",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "not_equal",
    "pow",
    "range",
    "reduce_all",
    "reduce_any",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "reduced_shape",
    "rsqrt",
    "sigmoid",
    "sign",
    "sqrt",
    "square",
    "subtract",
    "tanh",
    "truediv",
    "where",
]


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x + y with broadcasting.

    Args:
        x: a tensor, variable, array or number.
        y: likewise; an array or number becomes the dtype of ``x``.
        name: the name of the node.

    Returns:
        A tensor or array.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.

    >>> add([1, 2], 3).numpy().tolist()
    [4, 5]
    """
    if is_tensor(x):
        return gen_nn_ops.add(x, y, name=name)
    with name_scope(name or "Add") as scope:
        return gen_nn_ops.add(convert_to_tensor(x, name="x"), y, name=scope)


@unsupported("adjoint_a", "adjoint_b", "a_is_sparse", "b_is_sparse", "output_type", "grad_a", "grad_b")
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Any:
    """Return the product of two matrices, optionally transposed, or of two batches of matrices.

    Args:
        a: [..., rows, inner], or [..., inner, rows] with ``transpose_a``.
        b: [..., inner, cols], or [..., cols, inner] with ``transpose_b``.
        transpose_a: whether to transpose ``a`` first.
        transpose_b: whether to transpose ``b`` first.
        adjoint_a, adjoint_b, a_is_sparse, b_is_sparse, grad_a, grad_b: must be False.
        output_type: must be None.
        name: the name of the node.

    Returns:
        [..., rows, cols], a tensor or array; the axes before the last two are broadcast.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.

    >>> matmul(array_ops.ones([3, 4]), array_ops.ones([5, 4, 2])).shape
    TensorShape([5, 3, 2])
    """
    if not is_tensor(a):
        a = convert_to_tensor(a, name="a")  # whatever b is, as in TensorFlow
    shapes = static_shape(a), static_shape(b)
    if all(shape is not None and len(shape) < 3 for shape in shapes):
        return gen_nn_ops.mat_mul(a, b, transpose_a=transpose_a, transpose_b=transpose_b, name=name)
    return gen_nn_ops.batch_mat_mul_v2(a, b, adj_x=transpose_a, adj_y=transpose_b, name=name)


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
        ValueError: if an axis does not exist or is given twice.

    >>> reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
    [4, 6]
    """
    return _reduced(gen_nn_ops.sum, input_tensor, axis, keepdims, name)


def reduce_mean(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the mean over axes; the mean of integers is an integer, rounded towards zero.

    Args:
        input_tensor, axis, keepdims, name: as in ``reduce_sum``.

    Returns:
        A tensor or array.

    Raises:
        ValueError: as ``reduce_sum``.

    >>> float(reduce_mean([1.0, 2.0])), int(reduce_mean([1, 2]))
    (1.5, 1)
    """
    return _reduced(gen_nn_ops.mean, input_tensor, axis, keepdims, name)


def reduce_max(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the largest value over axes.

    Args:
        input_tensor, axis, keepdims, name: as in ``reduce_sum``.

    Returns:
        A tensor; of no elements, the lowest value of the dtype.

    Raises:
        ValueError: as ``reduce_sum``.

    >>> reduce_max([[1, 5], [3, 4]], axis=1).numpy().tolist()
    [5, 4]
    """
    return _reduced(gen_nn_ops.max, input_tensor, axis, keepdims, name)


def reduce_min(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the smallest value over axes.

    Args:
        input_tensor, axis, keepdims, name: as in ``reduce_sum``.

    Returns:
        A tensor; of no elements, the largest value of the dtype.

    Raises:
        ValueError: as ``reduce_sum``.
    """
    return _reduced(gen_nn_ops.min, input_tensor, axis, keepdims, name)


def reduce_prod(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the product over axes; it has no gradient here.

    Args:
        input_tensor, axis, keepdims, name: as in ``reduce_sum``.

    Returns:
        A tensor.

    Raises:
        ValueError: as ``reduce_sum``.
    """
    return _reduced(gen_nn_ops.prod, input_tensor, axis, keepdims, name)


def reduce_all(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return whether all values over axes are True.

    Args:
        input_tensor: a tensor, variable or array of bools.
        axis, keepdims, name: as in ``reduce_sum``.

    Returns:
        A tensor of bools; of no elements, True.

    Raises:
        ValueError, TypeError: as ``reduce_sum``.

    >>> reduce_all([[True, False], [True, True]], axis=1).numpy().tolist()
    [False, True]
    """
    return _reduced(gen_nn_ops.all, input_tensor, axis, keepdims, name)


def reduce_any(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return whether any value over axes is True.

    Args:
        input_tensor, axis, keepdims, name: as in `reduce_all`.

    Returns:
        A tensor of bools; of no elements, False.

    Raises:
        ValueError, TypeError: as `reduce_all`.
    """
    return _reduced(gen_nn_ops.any, input_tensor, axis, keepdims, name)


def argmax(input: Any, axis: Any = None, output_type: Any = "int64", name: str | None = None) -> Any:
    """Return the position of the largest value along an axis, the first of equal ones.

    Args:
        input: numbers.
        axis: the axis; None for the first.
        output_type: int32 or int64.
        name: the name of the node.

    Returns:
        A tensor without the axis.

    Raises:
        ValueError: if there is no such axis.

    >>> argmax([[1, 9, 3], [4, 2, 4]], 1).numpy().tolist()
    [1, 0]
    """
    return gen_nn_ops.arg_max(
        input, 0 if axis is None else axis, output_type=output_type, name=name or "ArgMax"
    )


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Any:
    """Return start, start + delta and so on, below limit, as tf.range.

    Args:
        start: the first number; the limit, if ``limit`` is None.
        limit: where to stop; not included.
        delta: the step; negative to count down.
        dtype: the dtype; None for that of the arguments that holds most numbers.
        name: the name of the node.

    Returns:
        A vector.

    Raises:
        ValueError: if ``delta`` is 0.

    >>> range(2, 8, 3).numpy().tolist(), range(3).numpy().tolist()
    ([2, 5], [0, 1, 2])
    """
    first, last = (0, start) if limit is None else (start, limit)
    numbers = {"start": first, "limit": last, "delta": delta}
    if dtype is None:
        own = [own_dtype(value, key).name for key, value in numbers.items()]
        dtype = max(own, key=("bool", "uint8", *INTEGERS, *FLOATS).index)
    first, last, step = (
        cast(value, dtype) if is_tensor(value) else to_argument(value, as_dtype(dtype), key)
        for key, value in numbers.items()
    )
    return gen_nn_ops.range(first, last, step, name=name)


def reduced_shape(input_shape: Any, axes: Any) -> Any:
    """Return the shape of a reduction with ``keepdims``, computed by nodes; TensorFlow has the same helper.

    Args:
        input_shape: the shape of the input, a vector of int32.
        axes: the reduced axes.

    Returns:
        A vector of int32: ``input_shape`` with 1 for the reduced axes.

    >>> reduced_shape([2, 3, 4], [-1]).numpy().tolist()
    [2, 3, 1]
    """
    rank = array_ops.size(input_shape)
    axes = gen_nn_ops.floor_mod(cast(axes, "int32") + rank, rank, name="mod")
    sizes = array_ops.shape(axes)
    return gen_nn_ops.dynamic_stitch([range(rank), axes], [input_shape, array_ops.ones(sizes, "int32")])


def _reduced(wrapper: Callable[..., Any], input: Any, axis: Any, keepdims: Any, name: str | None) -> Any:
    """Return a reduction, its axes as TensorFlow's graphs contain them: for all axes, a separate constant."""
    if axis is None:
        shape = static_shape(input)
        known = shape is not None
        axis = constant(np.arange(len(shape), dtype="int32")) if known else range(array_ops.rank(input))
    elif not hasattr(axis, "dtype") and not isinstance(axis, int):
        axis = items(axis, "axis", "ints")
    return wrapper(input, axis, keep_dims=keepdims, name=name)


def truediv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y with broadcasting; integers are converted to float64 first, uint8 to float32.

    Args:
        x, y: numbers of one dtype: tensors, variables, arrays or Python numbers.
        name: the name of the node.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.
    """
    dtype = tensor_dtype([x, y])
    if dtype is not None and is_trainable(dtype):
        return gen_nn_ops.real_div(x, y, name=name or "truediv")
    with name_scope(name or "truediv") as scope:
        x = x if is_tensor(x) else convert_to_tensor(x, dtype, "x")
        y = y if is_tensor(y) else convert_to_tensor(y, x.dtype, "y")
        if is_integer(x.dtype) and x.dtype == y.dtype:
            wide = "float32" if x.dtype == "uint8" else "float64"
            x, y = cast(x, wide), cast(y, wide)
        return gen_nn_ops.real_div(x, y, name=scope)


def floordiv(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y rounded down, with broadcasting.

    Args:
        x, y, name: as in `truediv`.

    Returns:
        As `truediv`.

    Raises:
        ValueError, TypeError: as `truediv`.
    """
    return gen_nn_ops.floor_div(x, y, name=name or "floordiv")


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Return x where the condition is true and y elsewhere, with broadcasting, as tf.where.

    Args:
        condition: booleans.
        x: numbers.
        y: numbers of the same dtype.
        name: the name of the node.

    Returns:
        A tensor of the broadcast shape.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.

    >>> where([True, False], 1, [2, 3]).numpy().tolist()
    [1, 3]
    """
    return gen_nn_ops.select_v2(condition, x, y, name=name)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Convert to another dtype; floats are cut off towards zero, bool becomes 0 or 1.

    Args:
        x: a tensor, variable, array or number.
        dtype: the dtype.
        name: the name of the node.

    Returns:
        A tensor of the same shape; ``x`` itself if it is a tensor of that dtype.

    >>> cast([1.7, -1.7], "int32").numpy().tolist()
    [1, -1]
    """
    wanted = as_dtype(dtype)
    if is_tensor(x) and x.dtype == wanted:
        return x
    if isinstance(x, (np.ndarray, np.generic)) and x.dtype.kind in "iu":
        x = x.astype("int64")  # of any size, such as int8, of which there are no tensors
    return gen_nn_ops.cast(x, wanted, name=name)


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Return the sum of tensors of one shape and dtype.

    Args:
        inputs: a list of at least one tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor; the input itself if there is only one.

    Raises:
        ValueError, TypeError: if the list is empty, or shapes or dtypes differ.

    >>> add_n([[1, 2], [3, 4], [5, 6]]).numpy().tolist()
    [9, 12]
    """
    inputs = [convert_to_tensor(each) for each in inputs]
    if len(inputs) == 1:
        return inputs[0] if name is None else gen_nn_ops.identity(inputs[0], name=name)
    return gen_nn_ops.add_n(inputs, name=name)
