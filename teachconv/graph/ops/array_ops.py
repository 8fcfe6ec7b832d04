"""Placeholders, constants, ops that rearrange values, and the conversion of other values to tensors.

TensorFlow: python/ops/array_ops.py; python/framework/constant_op.py and tensor_conversion_registry.py.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.arguments import UNKNOWN_SIZE, integer
from ...support.errors import ArgumentError, ArgumentTypeError, brief, check_word
from ...support.memory import check_memory
from ..framework import op_def_library
from ..framework.context import executing_eagerly
from ..framework.eager_tensor import (
    EagerTensor,
    frozen,
    int_vector,
    items,
    own_dtype,
    static_shape,
    to_argument,
    to_array,
)
from ..framework.op_def import as_dtype
from ..framework.ops import eager_device, name_scope
from ..framework.tensor import Tensor, tensor_dtype
from ..framework.tensor_shape import as_shape, is_fully_defined
from ..options import unsupported
from . import gen_nn_ops
from .control_flow_ops import group
from .gen_nn_ops import identity, stop_gradient

__all__ = [
    "broadcast_to",
    "check_numerics",
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
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "tile",
    "transpose",
    "unstack",
    "zeros",
    "zeros_like",
]


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Return a tensor whose value is fed to each run.

    Args:
        dtype: the dtype of the value.
        shape: the static shape; None stands for an unknown size or, alone, for an unknown rank.
        name: the name of the node.

    Returns:
        The tensor.

    Raises:
        RuntimeError: outside a graph.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     tg.placeholder("float32", [None, 28, 28, 1], name="images")
    <tf.Tensor 'images:0' shape=(None, 28, 28, 1) dtype=float32>
    """
    if executing_eagerly():
        raise RuntimeError(
            "tf.placeholder() is not compatible with eager execution: use `with graph.as_default():`, or "
            "pass the array"
        )
    return gen_nn_ops.placeholder(dtype, shape, name=name)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Return the same elements in another shape.

    Args:
        tensor: a tensor, variable or array.
        shape: the new sizes; one of them may be -1 and is then derived.
        name: the name of the node.

    Returns:
        A tensor or array of the new shape.

    Raises:
        ValueError: if the number of elements differs.

    >>> reshape([1, 2, 3, 4], [2, -1]).numpy().tolist()
    [[1, 2], [3, 4]]
    """
    return gen_nn_ops.reshape(tensor, int_vector(shape), name=name)


@unsupported("conjugate")
def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """Return the input with permuted axes.

    Args:
        a: a tensor, variable or array.
        perm: the new order of the axes; None reverses them.
        conjugate: must be False.
        name: the name of the node.

    Returns:
        A tensor or array.

    Raises:
        ValueError: if ``perm`` does not name each axis once, or is None and the rank is unknown.

    >>> transpose([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    if perm is None:
        shape = static_shape(a)
        if shape is None:
            raise ArgumentError("perm must be given for a tensor whose number of axes is not known; got None")
        perm = list(range(len(shape)))[::-1]
    return gen_nn_ops.transpose(a, int_vector(perm, "perm"), name=name or "transpose")


@unsupported("constant_values")
def pad(
    tensor: Any, paddings: Any, mode: Any = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Any:
    """Add cells around the input.

    Args:
        tensor: a tensor, variable or array.
        paddings: [before, after] for each axis.
        mode: "CONSTANT", which adds zeros; "REFLECT", which mirrors the input at its outermost cells;
            "SYMMETRIC", which mirrors it at its edges, so that the outermost cells occur twice.
        constant_values: must be 0.
        name: the name of the node.

    Returns:
        A tensor or array of the larger shape.

    Raises:
        ValueError: if ``paddings`` has another shape or a negative entry, or is wider than what is mirrored.

    >>> pad([1, 2], [[1, 2]]).numpy().tolist(), pad([1, 2, 3], [[2, 1]], "REFLECT").numpy().tolist()
    ([0, 1, 2, 0, 0], [3, 2, 1, 2, 3, 2])
    """
    word = mode.upper() if isinstance(mode, str) else mode
    check_word(word, "mode", ("CONSTANT", "REFLECT", "SYMMETRIC"))
    if not hasattr(paddings, "op"):
        legal = "[before, after] for each axis"
        paddings = [items(pair, "paddings", legal) for pair in items(paddings, "paddings", legal)]
    if word == "CONSTANT":
        return gen_nn_ops.pad(tensor, paddings, name=name)
    return gen_nn_ops.mirror_pad(tensor, paddings, word, name=name)


# --- shapes as values ---------------------------------------------------------------------------------


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the shape of a tensor as a vector, as tf.shape: what an unknown batch is in this run.

    Args:
        input: a tensor, variable or array.
        out_type: int32, which None stands for, or int64.
        name: the name of the node.

    Returns:
        A vector with one size for each axis; a constant if the static shape is fully known.

    >>> shape([[1, 2, 3]]).numpy().tolist()
    [1, 3]
    """
    known, dtype = static_shape(input), as_dtype("int32" if out_type is None else out_type)
    if is_fully_defined(known):
        return constant(np.array(known, dtype), name=name or "Shape")
    return gen_nn_ops.shape(input, out_type=dtype, name=name)


def size(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the number of elements of a tensor.

    Args:
        input, out_type, name: as in `shape`.

    Returns:
        A scalar; a constant if the static shape is fully known.
    """
    known, dtype = static_shape(input), as_dtype("int32" if out_type is None else out_type)
    if is_fully_defined(known):
        return constant(np.array(prod(known), dtype), name=name or "Size")
    return gen_nn_ops.size(input, out_type=dtype, name=name)


def rank(input: Any, name: str | None = None) -> Any:
    """Return the number of axes of a tensor.

    Args:
        input, name: as in `shape`.

    Returns:
        An int32 scalar; a constant if the rank is known.
    """
    known = static_shape(input)
    if known is not None:
        return constant(np.array(len(known), "int32"), name=name or "Rank")
    return size(shape(input), name=name)


# --- the same elements in another shape ---------------------------------------------------------------


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Remove axes of size 1, as tf.squeeze.

    Args:
        input: a tensor, variable or array.
        axis: an int or several; None removes all axes of size 1.
        name: the name of the node.

    Returns:
        A tensor with fewer axes.

    Raises:
        ValueError: if an axis has another size.

    >>> squeeze([[[1], [2]]]).numpy().tolist(), squeeze([[[1], [2]]], 0).numpy().tolist()
    ([1, 2], [[1], [2]])
    """
    axes = [] if axis is None else [axis] if isinstance(axis, int) else items(axis, "axis", "ints")
    return gen_nn_ops.squeeze(input, squeeze_dims=axes, name=name)


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """Insert an axis of size 1, as tf.expand_dims.

    Args:
        input: a tensor, variable or array.
        axis: where the axis comes; -1 is the last.
        name: the name of the node.

    Returns:
        A tensor with one axis more.
    """
    return gen_nn_ops.expand_dims(input, axis, name=name)


# --- more or fewer elements ---------------------------------------------------------------------------


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """Return the part of a tensor that starts at ``begin`` and has a size.

    Args:
        input_: a tensor, variable or array.
        begin: the first index along each axis.
        size: the size along each axis; -1 means to the end.
        name: the name of the node.

    Returns:
        A tensor.

    Raises:
        ValueError: if the part does not lie inside the tensor.

    >>> slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]).numpy().tolist()
    [[2, 3], [5, 6]]
    """
    return gen_nn_ops.slice(input_, begin, size, name=name)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeat a tensor along each axis.

    Args:
        input: a tensor, variable or array.
        multiples: how often, for each axis.
        name: the name of the node.

    Returns:
        A tensor.
    """
    return gen_nn_ops.tile(input, int_vector(multiples, "multiples"), name=name)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Expand axes of size 1 to a shape.

    Args:
        input: a tensor, variable or array.
        shape: the shape, a list or a vector.
        name: the name of the node.

    Returns:
        A tensor of the shape.

    Raises:
        ValueError: if the tensor does not expand to the shape.
    """
    return gen_nn_ops.broadcast_to(input, int_vector(shape), name=name)


@unsupported("validate_indices", "batch_dims")
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Any:
    """Return the slices at the indices along an axis.

    Args:
        params: a tensor, variable or array.
        indices: int32 or int64, of any shape.
        validate_indices: must be None.
        axis: the axis; None stands for the first.
        batch_dims: must be 0.
        name: the name of the node.

    Returns:
        ``params`` with the axis replaced by the axes of ``indices``.

    Raises:
        ValueError: if an index is out of range.

    >>> gather([10, 20, 30], [2, 0]).numpy().tolist()
    [30, 10]
    """
    return gen_nn_ops.gather_v2(params, indices, 0 if axis is None else axis, name=name)


# --- several tensors ----------------------------------------------------------------------------------


def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """Join tensors of one shape along a new axis, as tf.stack.

    Args:
        values: a list of tensors, variables, arrays or numbers.
        axis: where the new axis comes.
        name: the name of the node.

    Returns:
        A tensor with one axis more.

    Raises:
        ValueError, TypeError: if shapes or dtypes differ.

    >>> stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    values, axis = items(values, "values", "a list of tensors"), integer(axis, "axis")
    if axis == 0 and tensor_dtype(values) is None:
        return constant(values, name=name)
    return gen_nn_ops.pack(values, axis=axis, name=name)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> Any:
    """Split a tensor into its slices along an axis, as tf.unstack.

    Args:
        value: a tensor, variable or array.
        num: the size of the axis; None takes it from the static shape.
        axis: the axis.
        name: the name of the node.

    Returns:
        A list of tensors with one axis less.

    Raises:
        ValueError: if the size is not known, or is not ``num``.
    """
    axis = integer(axis, "axis")
    if num is None:
        known = static_shape(value)
        num = None if known is None or not -len(known) <= axis < len(known) else known[axis]
        if num is None:
            raise ArgumentError(f"num must be given where the size of axis {axis} is not known; got None")
    return list(gen_nn_ops.unpack(value, num, axis=axis, name=name))


def split(
    value: Any, num_or_size_splits: Any, axis: int = 0, num: Any = None, name: str = "split"
) -> list[Any]:
    """Cut a tensor into parts along an axis.

    Args:
        value: a tensor, variable or array.
        num_or_size_splits: how many equal parts, or the sizes of the parts, of which one may be -1.
        axis: the axis, of known size.
        num: has no effect.
        name: the name scope of the nodes.

    Returns:
        The parts.

    Raises:
        ValueError: if the sizes do not add up to that of the axis.

    >>> [part.numpy().tolist() for part in split([1, 2, 3, 4], [1, -1])]
    [[1], [2, 3, 4]]
    """
    shape = static_shape(value)
    whole = None if shape is None else shape[axis]
    if whole is None:
        raise ArgumentError(f"value must have a known size along axis {axis}; got shape {brief(shape)}")
    if isinstance(num_or_size_splits, int):
        sizes = [whole // max(num_or_size_splits, 1)] * num_or_size_splits
    else:
        given = items(num_or_size_splits, "num_or_size_splits", "an int or ints")
        sizes = [whole - sum(given) - 1 if size == -1 else size for size in given]
    if sum(sizes) != whole or min(sizes, default=-1) < 0:
        raise ArgumentError(
            f"num_or_size_splits must divide the {whole} of axis {axis}; got {brief(num_or_size_splits)}"
        )
    before, ends = [np.s_[:]] * (axis % len(shape)), np.cumsum(sizes).tolist()
    with name_scope(name):
        value = convert_to_tensor(value, name="value")
        return [value[(*before, np.s_[end - size : end])] for size, end in zip(sizes, ends, strict=True)]


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Join tensors along an axis, as tf.concat.

    Args:
        values: a list of tensors, variables or arrays.
        axis: the axis.
        name: the name of the node.

    Returns:
        A tensor.

    Raises:
        ValueError, TypeError: if other sizes or dtypes differ.

    >>> concat([[[1], [2]], [[3], [4]]], 1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    return gen_nn_ops.concat_v2(items(values, "values", "a list of tensors"), axis, name=name)


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """Return the input; a run fails there if it holds NaN or infinity, as tf.debugging.check_numerics.

    Args:
        tensor: a tensor, variable or array of floats.
        message: how the error begins.
        name: the name of the node.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: eagerly, if the input is not finite.

    >>> check_numerics([1.0], "loss").numpy().tolist()
    [1.0]
    """
    return gen_nn_ops.check_numerics(tensor, message, name=name)


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
    (tf.int32, array([0.5, 0.5], dtype=float32))
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
        layout: must be None.

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
        layout: must be None.

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
        raise ArgumentError(f"shape must be known; got {brief(shape)}: {UNKNOWN_SIZE}")
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
        dtype: must be None.
        name: the name of the node.
        layout: must be None.

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
