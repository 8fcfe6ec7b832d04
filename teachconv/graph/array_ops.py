"""Placeholders, and what changes a shape but no value.

TensorFlow: python/ops/array_ops.py and control_flow_ops.py (`group`).
"""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentError
from . import gen_nn_ops
from .context import executing_eagerly, get_default_graph
from .errors import InvalidArgumentError
from .nn_ops import _static_shape
from .ops import composite
from .tensor_util import to_array

__all__ = ["group", "identity", "pad", "placeholder", "reshape", "transpose"]


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """Return a tensor that stands for a value fed to each run.

    ``shape`` may leave sizes open with None, or be None altogether. Raises ``ValueError`` outside a
    graph, where there is nothing to stand for.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     tg.placeholder("float32", [None, 28, 28, 1], name="images")
    <Tensor 'images:0' shape=[?, 28, 28, 1] dtype=float32>
    """
    if executing_eagerly():
        raise InvalidArgumentError(
            "placeholder needs a graph to stand in: use `with graph.as_default():`; eagerly, pass the array"
        )
    return gen_nn_ops.placeholder(dtype, shape, name=name)


def identity(input: Any, name: str | None = None) -> Any:
    """Return the input; inside ``control_dependencies``, once those have finished."""
    return gen_nn_ops.identity(input, name=name)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Return the same elements in another shape; one size may be -1.

    >>> reshape([1, 2, 3, 4], [2, -1]).tolist()
    [[1, 2], [3, 4]]
    """
    return gen_nn_ops.reshape(tensor, _int_vector(shape), name=name)


@composite
def transpose(a: Any, perm: Any = None, name: str | None = None) -> Any:
    """Return the axes in the order ``perm``; without it, backwards.

    >>> transpose([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    if perm is None:
        shape = _static_shape(a)
        if shape is None:
            raise ArgumentError("perm must be given for a tensor whose number of axes is not known; got None")
        perm = list(range(len(shape)))[::-1]
    return gen_nn_ops.transpose(a, _int_vector(perm), name=name or "transpose")


def pad(tensor: Any, paddings: Any, name: str | None = None) -> Any:
    """Put zeros around: ``paddings`` is [before, after] for each axis.

    >>> pad([1, 2], [[1, 2]]).tolist()
    [0, 1, 2, 0, 0]
    """
    if not hasattr(paddings, "op"):
        paddings = [list(pair) for pair in paddings]
    return gen_nn_ops.pad(tensor, paddings, name=name)


def group(*inputs: Any, name: str | None = None) -> Any:
    """Return an operation that has finished when all ``inputs`` have."""
    graph = get_default_graph()
    with graph.atomic(), graph.control_dependencies(sorted(inputs, key=lambda item: str(item.name))):
        return gen_nn_ops.no_op(name=name or "group_deps")


def _int_vector(value: Any) -> Any:
    """An empty list would become a vector of floats."""
    if hasattr(value, "op") or hasattr(value, "dtype"):
        return value
    return list(value) or to_array([], None, "shape").astype("int32")
