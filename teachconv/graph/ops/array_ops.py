"""Placeholders, and ops that rearrange values without changing them.

TensorFlow: python/ops/array_ops.py.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...arguments import integer
from ...errors import ArgumentError
from ..framework.context import executing_eagerly
from ..framework.eager_tensor import int_vector, items, static_shape
from ..framework.op_def import as_dtype
from ..framework.tensor import tensor_dtype
from ..framework.tensor_shape import is_fully_defined
from ..options import unsupported
from . import gen_nn_ops
from .constant_op import constant, fill, one_hot, ones, ones_like, zeros, zeros_like
from .control_flow_ops import group

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
    "shape_n",
    "size",
    "slice",
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


def identity(input: Any, name: str | None = None) -> Any:
    """Return the input, after the surrounding control dependencies have finished.

    Args:
        input: a tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor or array of the same shape.
    """
    return gen_nn_ops.identity(input, name=name)


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
        conjugate: False; teachconv has no other.
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


@unsupported("mode", "constant_values")
def pad(
    tensor: Any, paddings: Any, mode: Any = "CONSTANT", constant_values: Any = 0, name: str | None = None
) -> Any:
    """Add zeros around the input.

    Args:
        tensor: a tensor, variable or array.
        paddings: [before, after] for each axis.
        mode: "CONSTANT"; teachconv has no other.
        constant_values: 0; teachconv has no other.
        name: the name of the node.

    Returns:
        A tensor or array of the larger shape.

    Raises:
        ValueError: if ``paddings`` has another shape or a negative entry.

    >>> pad([1, 2], [[1, 2]]).numpy().tolist()
    [0, 1, 2, 0, 0]
    """
    if not hasattr(paddings, "op"):
        legal = "[before, after] for each axis"
        paddings = [items(pair, "paddings", legal) for pair in items(paddings, "paddings", legal)]
    return gen_nn_ops.pad(tensor, paddings, name=name)


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


def shape_n(input: Any, out_type: Any = "int32", name: str | None = None) -> Any:
    """Return the shapes of several tensors of one dtype, each as a vector.

    Args:
        input: a list of tensors.
        out_type: int32 or int64.
        name: the name of the node.

    Returns:
        A list of vectors.
    """
    return list(gen_nn_ops.shape_n(input, out_type=out_type, name=name))


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
    return gen_nn_ops.rank(input, name=name)


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
        validate_indices: None; teachconv has no other.
        axis: the axis; None stands for the first.
        batch_dims: 0; teachconv has no other.
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


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """Return the input, which counts as a constant for gradients, as tf.stop_gradient.

    Args:
        input: a tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    return gen_nn_ops.stop_gradient(input, name=name)


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
