"""Nodes that only order others. TensorFlow: python/ops/control_flow_ops.py."""

from __future__ import annotations

from typing import Any

from ..framework.context import get_default_graph
from ..framework.ops import name_scope
from . import gen_nn_ops

__all__ = ["group", "tuple"]


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


def tuple(tensors: Any, name: str = "tuple") -> list[Any]:
    """Return tensors that are there only when all of them are, as tf.tuple.

    Args:
        tensors: a list of tensors of the default graph, and Nones.
        name: the name scope of the nodes.

    Returns:
        A list with an Identity for each tensor, and the Nones.
    """
    with name_scope(name):
        gate = group(*(tensor for tensor in tensors if tensor is not None))
        with get_default_graph().control_dependencies([gate]):
            return [
                None if tensor is None else gen_nn_ops.identity(tensor, name="control_dependency")
                for tensor in tensors
            ]
