"""Constants, tensors of a shape filled with one value, and the conversion of other values to tensors.

TensorFlow: python/framework/constant_op.py and tensor_conversion_registry.py; zeros and the like are in
python/ops/array_ops.py.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...errors import ArgumentError, ArgumentTypeError, brief
from ...memory import check_memory
from ..framework import op_def_library
from ..framework.context import executing_eagerly
from ..framework.default_graph import eager_device, name_scope
from ..framework.eager_tensor import (
    EagerTensor,
    frozen,
    int_vector,
    own_dtype,
    static_shape,
    to_argument,
    to_array,
)
from ..framework.op_def import as_dtype
from ..framework.ops import Tensor
from ..framework.tensor import tensor_dtype
from ..framework.tensor_shape import as_shape, is_fully_defined
from ..options import unsupported
from . import gen_nn_ops

__all__ = [
    "constant",
    "convert_to_tensor",
    "fill",
    "is_tensor",
    "one_hot",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

_LARGE = 1000  # larger constants would make the graph large; TensorFlow fills them during the run


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """Return a tensor with the same value in each run; outside a graph, an eager tensor.

    Args:
        value: an array, nested lists or a number.
        dtype: the dtype to convert to; None keeps that of the value.
        shape: a shape to reshape to, or to fill if ``value`` is a single number.
        name: the name of the node.

    Returns:
        A tensor.

    Raises:
        TypeError, ValueError: if ``value`` is not an array of a supported dtype, has numbers that ``dtype``
            cannot hold, or does not fit ``shape``.

    >>> from teachconv import graph as tg
    >>> tg.constant([1, 2]).dtype, tg.constant(0.5, shape=[2]).numpy()
    (dtype('int32'), array([0.5, 0.5], dtype=float32))
    """
    if value is None:
        raise ArgumentError("None values not supported.")
    array = to_argument(value, None if dtype is None else as_dtype(dtype), "value")
    if shape is not None:
        sizes: Any = as_shape(shape)
        if None in sizes or (array.size not in (1, int(np.prod(sizes)))):
            raise ArgumentError(
                f"shape must hold the value's {array.size} elements; got {brief(list(sizes))}"
            )
        check_memory(sizes, array.dtype, "value")
        array = array.reshape(sizes) if array.size == np.prod(sizes) else np.full(sizes, array.ravel()[0])
    if executing_eagerly():
        if eager_device() is not None:
            return gen_nn_ops.const(frozen(array), array.dtype)
        return EagerTensor(frozen(array))
    return op_def_library.apply_op("Const", name, [], {"value": frozen(array), "dtype": array.dtype})


def is_tensor(value: Any) -> bool:
    """Return whether a value is a tensor, of a graph or eager, and no variable, array or number.

    >>> is_tensor(constant(1)), is_tensor(1)
    (True, False)
    """
    return isinstance(value, (EagerTensor, Tensor))


@unsupported("layout")
def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """Return a tensor of a shape filled with one value.

    Args:
        dims: the shape: a vector, or a sequence of ints and scalar tensors.
        value: a scalar.
        name: the name of the node.
        layout: None; teachconv has no other.

    Returns:
        The tensor.
    """
    return gen_nn_ops.fill(int_vector(dims, "dims"), value, name=name)


@unsupported("layout")
def zeros(shape: Any, dtype: Any = "float32", name: str | None = None, layout: Any = None) -> Any:
    """Return zeros, as tf.zeros.

    Args:
        shape: the shape: a vector, or a sequence of ints and scalar tensors.
        dtype: the dtype.
        name: the name of the node.
        layout: None; teachconv has no other.

    Returns:
        A tensor; in a graph a constant, or for a shape that is not known or large, a Fill node.

    >>> zeros([2, 2]).numpy().tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """
    return _filled(shape, 0, dtype, name or "zeros")


@unsupported("layout")
def ones(shape: Any, dtype: Any = "float32", name: str | None = None, layout: Any = None) -> Any:
    """Return ones, as tf.ones.

    Args:
        shape, dtype, name, layout: as in `zeros`.

    Returns:
        As `zeros`.
    """
    return _filled(shape, 1, dtype, name or "ones")


def _filled(shape: Any, value: int, dtype: Any, name: str) -> Any:
    number = np.array(value, as_dtype(dtype))
    if is_tensor(shape) or (
        isinstance(shape, (list, tuple)) and any(isinstance(size, Tensor) for size in shape)
    ):
        with name_scope(name) as scope:
            return gen_nn_ops.fill(int_vector(shape), constant(number), name=scope or name)
    sizes: Any = as_shape(shape)
    if not is_fully_defined(sizes):
        raise ArgumentError(f"shape must be known; got {brief(shape)}")
    if prod(sizes) < _LARGE:
        return constant(np.full(sizes, number), name=name)
    with name_scope(name) as scope:
        index = "int32" if max(sizes) <= np.iinfo("int32").max else "int64"
        as_tensor = constant(np.array(sizes, index), name="shape_as_tensor")
        return gen_nn_ops.fill(as_tensor, constant(number), name=scope or name)


@unsupported("dtype", "layout")
def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return zeros of the shape and dtype of a tensor.

    Args:
        input: a tensor, variable or array.
        dtype: None; teachconv has no other.
        name: the name of the node.
        layout: None; teachconv has no other.

    Returns:
        A tensor.
    """
    return _filled_like(input, 0, gen_nn_ops.zeros_like, name or "zeros_like")


@unsupported("dtype", "layout")
def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return ones of the shape and dtype of a tensor.

    Args:
        input, dtype, name, layout: as in `zeros_like`.

    Returns:
        A tensor.
    """
    return _filled_like(input, 1, gen_nn_ops.ones_like, name or "ones_like")


def _filled_like(input: Any, value: int, wrapper: Any, name: str) -> Any:
    known = static_shape(input)
    if executing_eagerly() or not hasattr(input, "dtype") or not is_fully_defined(known):
        return wrapper(input, name=name)
    return _filled(known, value, input.dtype, name)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Return on_value at each index along a new axis and off_value elsewhere, as tf.one_hot.

    Args:
        indices: uint8, int32 or int64; one that is negative or too large gives only off_value.
        depth: the size of the new axis.
        on_value: 1 by default.
        off_value: 0 by default.
        axis: where the new axis comes; None or -1 for the last.
        dtype: the dtype of the values; None for theirs, or float32 if there are none.
        name: the name of the node.

    Returns:
        A tensor with one axis more.

    Raises:
        TypeError: if ``on_value``, ``off_value`` and ``dtype`` do not agree.

    >>> one_hot([0, 2], 3).numpy().tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    given = {"on_value": on_value, "off_value": off_value}
    fixed = {  # the dtypes that must agree
        key: own_dtype(value, key)
        for key, value in given.items()
        if value is not None and (dtype is None or tensor_dtype(value) is not None)
    }
    wanted = as_dtype(next(iter(fixed.values()), "float32") if dtype is None else dtype)
    for key, found in fixed.items():
        if found != wanted:
            raise ArgumentTypeError(
                f"on_value and off_value must have dtype {wanted.name}; got {key} of {found.name}"
            )
    on, off = (
        value if tensor_dtype(value) is not None else to_array(value, wanted, key)
        for key, value in (
            ("on_value", 1 if on_value is None else on_value),
            ("off_value", 0 if off_value is None else off_value),
        )
    )
    axis = -1 if axis is None else axis
    return gen_nn_ops.one_hot(indices, depth, on, off, axis=axis, name=name or "one_hot")


def convert_to_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Return a value as a tensor; a tensor is returned as it is.

    Args:
        value: a tensor, a variable, whose value is read, an array, a number, or nested lists of those.
        dtype: the dtype of the tensor; None keeps that of the value.
        name: the name of the node, where one is added.

    Returns:
        A tensor.

    Raises:
        ValueError: if ``value`` is None, or a tensor of another dtype, which is never converted: see `cast`.
        TypeError: if ``value`` is nothing that a tensor of the dtype can hold.

    >>> from teachconv import graph as tg
    >>> x = tg.constant([1.0, 2.0])
    >>> convert_to_tensor(x) is x, convert_to_tensor([x, [3, 4]]).numpy().tolist()
    (True, [[1.0, 2.0], [3.0, 4.0]])
    """
    if value is None:
        raise ArgumentError("None values not supported.")
    if hasattr(value, "_graph_tensor"):  # a variable
        value = value.value()
    if is_tensor(value):
        if dtype is not None and value.dtype != as_dtype(dtype):
            raise ArgumentError(
                f"Tensor conversion requested dtype {as_dtype(dtype)} for Tensor with dtype {value.dtype}: "
                f"{brief(value)}; cast converts a tensor"
            )
        return value
    found = tensor_dtype(value)  # of a tensor in lists
    if found is not None:
        wanted = found if dtype is None else dtype
        return gen_nn_ops.pack([convert_to_tensor(item, wanted) for item in value], name=name or "packed")
    return constant(value, dtype, name=name or "Const")
