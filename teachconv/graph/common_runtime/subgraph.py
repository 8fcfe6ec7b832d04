"""Prunes a graph to the nodes that the fetches need, and replaces each fed tensor by an _Arg node.

TensorFlow: core/graph/subgraph.cc, RewriteGraphForExecution. Nodes that a run does not need cost it nothing.
Feeding a tensor removes the nodes that are only needed to compute it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef, Nodes, Subgraph, TensorName
from ..framework.ops import Operation, Tensor
from ..framework.tensor_shape import TensorShape, as_shape

__all__ = ["prune"]


def prune(
    placed: Nodes, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]
) -> tuple[Subgraph, tuple[NodeDef, ...]]:
    """Return the subgraph of a run and the nodes that it does not need.

    Args:
        placed: all nodes of the graph by name, with their devices.
        fetches: the tensors to fetch.
        targets: the operations to run.
        feeds: the tensors that are fed.

    Returns:
        The subgraph and the pruned nodes.

    Raises:
        ValueError: if placeholders are needed and not fed; the message names all of them.
    """
    arguments: dict[TensorName, str] = {}
    nodes: Nodes = {}
    for index, tensor in enumerate(feeds):
        name = f"_arg_{tensor.op.name}_{tensor.index}_{index}"
        arguments[tensor.op.name, tensor.index] = name
        nodes[name] = _argument(name, tensor, index)

    def source(key: TensorName) -> TensorName:
        return (arguments[key], 0) if key in arguments else key

    sources = [source((tensor.op.name, tensor.index)) for tensor in fetches]
    stack = [name for name, _ in sources if name in placed] + [op.name for op in targets]
    seen: set[str] = set()
    missing: list[NodeDef] = []
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        node = placed[name]
        if node.op == "Placeholder":
            missing.append(node)
        inputs = tuple(map(source, node.inputs)) if arguments else node.inputs
        nodes[name] = node if inputs == node.inputs else replace(node, inputs=inputs)
        stack += [other for other, _ in inputs if other in placed]
        stack += node.control_inputs
    if missing:
        names = ", ".join(
            f"{node.name!r} ({TensorShape(node.attrs['shape'])} {node.attrs['dtype'].name})"
            for node in sorted(missing, key=lambda node: node.number)
        )
        raise InvalidArgumentError(
            f"feed_dict must hold a value for each placeholder needed; missing: {names}"
        )
    subgraph = Subgraph(nodes, tuple(sources), tuple(op.name for op in targets))
    return subgraph, tuple(node for name, node in placed.items() if name not in seen)


def _argument(name: str, tensor: Tensor, index: int) -> NodeDef:
    attrs = {"T": tensor.dtype, "shape": as_shape(tensor.shape), "index": index}
    op = tensor.op  # what is fed comes from the client, whose memory is the first CPU's
    return NodeDef(name, "_Arg", (), (), attrs, "/device:CPU:0", op.number, op.file, op.line)
