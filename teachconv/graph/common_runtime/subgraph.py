"""Prunes an optimised graph to what a run needs.

TensorFlow: core/graph/subgraph.cc. RewriteGraphForExecution puts a node _Arg in the place of each fed tensor,
and then removes the nodes that no fetch and no target needs (PruneForReverseReachability).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef, Subgraph, TensorName, reachable
from ..framework.tensor import Tensor
from ..framework.tensor_shape import TensorShape, as_shape


def prune(subgraph: Subgraph, feeds: Sequence[Tensor]) -> Subgraph:
    """Return the nodes that a run needs; nodes _Arg take the places of the tensors that are fed.

    Args:
        subgraph: the optimised graph, with what is fetched.
        feeds: the tensors that are fed.

    Returns:
        The pruned subgraph.

    Raises:
        ValueError: if placeholders are needed and not fed; the message names all of them.
    """
    fed = [_argument(tensor, index) for index, tensor in enumerate(feeds)]
    stands_for: dict[TensorName, TensorName] = {
        (tensor.op.name, tensor.index): (node.name, 0) for tensor, node in zip(feeds, fed, strict=True)
    }

    def wired(node: NodeDef) -> NodeDef:
        inputs = tuple(stands_for.get(name, name) for name in node.inputs)
        return node if inputs == node.inputs else replace(node, inputs=inputs)

    nodes = {node.name: node for node in (*fed, *map(wired, subgraph.nodes.values()))}
    fetches = tuple(stands_for.get(name, name) for name in subgraph.fetches)
    pruned = reachable(Subgraph(nodes, fetches, subgraph.targets))
    needed = pruned.nodes.values()
    missing = sorted((node for node in needed if node.op == "Placeholder"), key=attrgetter("number"))
    if missing:
        names = ", ".join(
            f"{node.name!r} ({TensorShape(node.attrs['shape'])} {node.attrs['dtype'].name})"
            for node in missing
        )
        raise InvalidArgumentError(
            f"feed_dict must hold a value for each placeholder needed; missing: {names}"
        )
    return pruned


def _argument(tensor: Tensor, index: int) -> NodeDef:
    name = f"_arg_{tensor.op.name}_{tensor.index}_{index}"
    attrs = {"T": tensor.dtype, "shape": as_shape(tensor.shape), "index": index}
    op = tensor.op  # what is fed comes from the client, whose memory is the first CPU's
    return NodeDef(name, "_Arg", (), (), attrs, "/device:CPU:0", op.number, op.file, op.line)
