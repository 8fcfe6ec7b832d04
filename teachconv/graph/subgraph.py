"""Prunes a graph to the nodes that the fetches need, and replaces each fed tensor by an _Arg node.

TensorFlow: core/graph/subgraph.cc, RewriteGraphForExecution. Nodes that a run does not need cost it nothing.
Feeding a tensor removes the nodes that are only needed to compute it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .errors import InvalidArgumentError
from .node_def import NodeDef, Nodes, Subgraph, from_operation
from .ops import Graph, Operation, Tensor
from .tensor_shape import as_shape

__all__ = ["prune"]


def prune(
    graph: Graph, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]
) -> tuple[Subgraph, tuple[NodeDef, ...]]:
    """Return the subgraph of a run and the nodes that it does not need.

    Args:
        graph: the graph.
        fetches: the tensors to fetch.
        targets: the operations to run.
        feeds: the tensors that are fed.

    Returns:
        The subgraph and the pruned nodes.

    Raises:
        ValueError: if placeholders are needed and not fed; the message names all of them.
    """
    arguments: dict[tuple[str, int], str] = {}
    nodes: Nodes = {}
    for index, tensor in enumerate(feeds):
        name = f"_arg_{tensor.op.name}_{tensor.index}_{index}"
        arguments[tensor.op.name, tensor.index] = name
        nodes[name] = _argument(name, tensor, index)

    def source(tensor: Tensor) -> tuple[str, int]:
        key = (tensor.op.name, tensor.index)
        return (arguments[key], 0) if key in arguments else key

    stack = [tensor.op for tensor in fetches if source(tensor)[0] == tensor.op.name] + list(targets)
    seen: set[Operation] = set()
    missing: list[Operation] = []
    while stack:
        op = stack.pop()
        if op in seen:
            continue
        seen.add(op)
        if op.type == "Placeholder":
            missing.append(op)
        node = from_operation(op)
        nodes[op.name] = replace(node, inputs=tuple(source(tensor) for tensor in op.inputs))
        stack += [tensor.op for tensor in op.inputs if source(tensor)[0] == tensor.op.name]
        stack += op.control_inputs
    if missing:
        names = ", ".join(
            f"{op.name!r} ({op.outputs[0]!r})" for op in sorted(missing, key=lambda op: op.number)
        )
        raise InvalidArgumentError(
            f"feed_dict must hold a value for each placeholder needed; missing: {names}"
        )
    subgraph = Subgraph(nodes, tuple(source(tensor) for tensor in fetches), tuple(op.name for op in targets))
    return subgraph, tuple(from_operation(op) for op in graph.get_operations() if op not in seen)


def _argument(name: str, tensor: Tensor, index: int) -> NodeDef:
    attrs = {"T": tensor.dtype, "shape": as_shape(tensor.shape), "index": index}
    op = tensor.op
    return NodeDef(name, "_Arg", (), (), attrs, "/device:CPU:0", op.number, op.file, op.line)
