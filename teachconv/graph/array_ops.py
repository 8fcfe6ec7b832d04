"""Placeholders, and ops that rearrange values without changing them.

TensorFlow: python/ops/array_ops.py and control_flow_ops.py (`group`).
"""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from . import gen_nn_ops
from .context import executing_eagerly, get_default_graph
from .errors import InvalidArgumentError
from .nn_ops import _static_shape
from .tensor_util import to_array

__all__ = ["group", "identity", "pad", "placeholder", "reshape", "transpose"]


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Return a tensor whose value is fed to each run.

    Args:
        dtype: the dtype of the value.
        shape: the static shape; None stands for an unknown size or, alone, for an unknown rank.
        name: the name of the node.

    Returns:
        The tensor.

    Raises:
        ValueError: outside a graph.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     tg.placeholder("float32", [None, 28, 28, 1], name="images")
    <tf.Tensor 'images:0' shape=(None, 28, 28, 1) dtype=float32>
    """
    if executing_eagerly():
        raise InvalidArgumentError(
            "placeholder needs a graph: use `with graph.as_default():`; eagerly, pass the array"
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
    return gen_nn_ops.reshape(tensor, _int_vector(shape), name=name)


def transpose(a: Any, perm: Any = None, name: str | None = None) -> Any:
    """Return the input with permuted axes.

    Args:
        a: a tensor, variable or array.
        perm: the new order of the axes; None reverses them.
        name: the name of the node.

    Returns:
        A tensor or array.

    Raises:
        ValueError: if ``perm`` does not name each axis once, or is None and the rank is unknown.

    >>> transpose([[1, 2], [3, 4]]).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    if perm is None:
        shape = _static_shape(a)
        if shape is None:
            raise ArgumentError("perm must be given for a tensor whose number of axes is not known; got None")
        perm = list(range(len(shape)))[::-1]
    return gen_nn_ops.transpose(a, _int_vector(perm), name=name or "transpose")


def pad(tensor: Any, paddings: Any, name: str | None = None) -> Any:
    """Add zeros around the input.

    Args:
        tensor: a tensor, variable or array.
        paddings: [before, after] for each axis.
        name: the name of the node.

    Returns:
        A tensor or array of the larger shape.

    Raises:
        ValueError: if ``paddings`` has another shape or a negative entry.

    >>> pad([1, 2], [[1, 2]]).numpy().tolist()
    [0, 1, 2, 0, 0]
    """
    if not hasattr(paddings, "op"):
        paddings = [list(pair) for pair in paddings]
    return gen_nn_ops.pad(tensor, paddings, name=name)


def group(*inputs: Any, name: str | None = None) -> Any:
    """Return an operation that finishes after all ``inputs`` have finished.

    Args:
        *inputs: operations, tensors or variables of the default graph.
        name: the name of the node.

    Returns:
        A NoOp operation.

    Raises:
        ValueError: outside a graph.
    """
    graph = get_default_graph()
    with graph.control_dependencies(sorted(inputs, key=lambda item: str(item.name))):
        return gen_nn_ops.no_op(name=name or "group_deps")


def _int_vector(value: Any) -> Any:
    """Return ``value`` as a vector of ints; an empty list would otherwise become a vector of floats."""
    if hasattr(value, "op") or hasattr(value, "dtype"):
        return value
    return list(value) or to_array([], None, "shape").astype("int32")
