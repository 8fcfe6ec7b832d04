"""Node definitions: plain data that the passes between a graph and its execution read and rewrite.

TensorFlow: core/framework/node_def.proto. The passes do not change the `Graph` that a program builds:
pruning creates node definitions for a part of it, and each later pass returns new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import InvalidArgumentError

if TYPE_CHECKING:
    from .ops import Operation


@dataclass(frozen=True, slots=True, eq=False)
class NodeDef:
    """One node.

    Attributes:
        name: the node's name.
        op: the op's name.
        inputs: the input tensors, each as (node name, output index).
        control_inputs: the names of the nodes that must finish first.
        attrs: the attributes by name.
        device: the device, requested or assigned.
        number: the position in the order in which the program created the nodes.
        file: the source file of the program that created it.
        line: the line in that file.
    """

    name: str
    op: str
    inputs: tuple[tuple[str, int], ...]
    control_inputs: tuple[str, ...]
    attrs: Mapping[str, Any]
    device: str
    number: int
    file: str
    line: int

    @property
    def input(self) -> list[str]:
        """The inputs as TensorFlow writes them: ``x``, ``split:1``, and ``^before`` for a control input."""
        data = [name if index == 0 else f"{name}:{index}" for name, index in self.inputs]
        return data + [f"^{name}" for name in self.control_inputs]

    @property
    def attr(self) -> Mapping[str, Any]:
        """The attributes, under TensorFlow's name."""
        return self.attrs


@dataclass(frozen=True, slots=True, eq=False)
class GraphDef:
    """The nodes of a graph as plain data.

    Attributes:
        node: the nodes in order of creation.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default() as graph:
    ...     y = tg.nn.relu(tg.placeholder("float32", [2], name="x"), name="y")
    >>> [(node.name, node.op, node.input) for node in graph.as_graph_def().node]
    [('x', 'Placeholder', []), ('y', 'Relu', ['x'])]
    """

    node: tuple[NodeDef, ...]


Nodes: TypeAlias = "dict[str, NodeDef]"
TensorName: TypeAlias = "tuple[str, int]"


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """The work of one run.

    Attributes:
        nodes: the nodes by name.
        fetches: the tensors to return.
        targets: the names of nodes to run without returning a value.
        fed: the tensors whose values the caller gives.
    """

    nodes: Nodes
    fetches: tuple[TensorName, ...]
    targets: tuple[str, ...]
    fed: frozenset[TensorName] = frozenset()

    @property
    def wanted(self) -> frozenset[str]:
        """The names of the requested nodes, which no pass may remove."""
        return frozenset([*(name for name, _ in self.fetches), *self.targets])

    @property
    def fed_nodes(self) -> frozenset[str]:
        """The names of the nodes of which a tensor is fed: their readers do not see what they compute."""
        return frozenset(name for name, _ in self.fed)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One change made by an optimiser.

    Attributes:
        optimizer: the name of the optimiser.
        removed: the names of the removed nodes.
        into: the name of the node that replaces them.
        why: the reason.
    """

    optimizer: str
    removed: tuple[str, ...]
    into: str
    why: str


def from_operation(op: Operation) -> NodeDef:
    """Return the definition of an operation."""
    return NodeDef(
        op.name,
        op.type,
        tuple((tensor.op.name, tensor.index) for tensor in op.inputs),
        tuple(before.name for before in op.control_inputs),
        op.attrs,
        op.device,
        op.number,
        op.file,
        op.line,
    )


def before(node: NodeDef, sends: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return the names of the nodes that a node waits for, without duplicates.

    Args:
        node: the node.
        sends: for each _Recv node the _Send node whose value it receives.

    Returns:
        The names.
    """
    names = [*(name for name, _ in node.inputs), *node.control_inputs]
    if node.name in sends:
        names.append(sends[node.name])
    return list(dict.fromkeys(names))


def reachable(subgraph: Subgraph) -> Subgraph:
    """Return the subgraph without the nodes that are not needed; only a fed tensor needs some of them."""
    unfed = (name for name, index in subgraph.fetches if (name, index) not in subgraph.fed)
    stack = list(dict.fromkeys([*unfed, *subgraph.targets]))
    needed = set(stack)
    while stack:
        node = subgraph.nodes[stack.pop()]
        inputs = [name for name, index in node.inputs if (name, index) not in subgraph.fed]
        for name in (*inputs, *node.control_inputs):
            if name not in needed:
                needed.add(name)
                stack.append(name)
    nodes = {name: node for name, node in subgraph.nodes.items() if name in needed}
    return replace(subgraph, nodes=nodes)


def sorted_nodes(nodes: Nodes, sends: Mapping[str, str] = MappingProxyType({})) -> list[NodeDef]:
    """Return the nodes in topological order; among nodes that are ready, the oldest comes first.

    The time is proportional to the number of edges, times a logarithm. There is no recursion, so the graph
    may be arbitrarily deep.

    Args:
        nodes: the nodes by name.
        sends: as for `before`.

    Returns:
        The nodes in an order in which they can run.

    Raises:
        ValueError: if the nodes form a cycle.
    """
    waiting = dict.fromkeys(nodes, 0)
    after: dict[str, list[str]] = {name: [] for name in nodes}
    for node in nodes.values():
        for name in before(node, sends):
            if name in nodes:
                waiting[node.name] += 1
                after[name].append(node.name)
    ready = [(node.number, name) for name, node in nodes.items() if not waiting[name]]
    heapify(ready)
    done: list[NodeDef] = []
    while ready:
        _, name = heappop(ready)
        done.append(nodes[name])
        for follower in after[name]:
            waiting[follower] -= 1
            if not waiting[follower]:
                heappush(ready, (nodes[follower].number, follower))
    if len(done) < len(nodes):
        finished = {node.name for node in done}
        stuck = [name for name in nodes if name not in finished]
        raise InvalidArgumentError(
            f"these nodes wait for each other in a cycle: {', '.join(sorted(stuck)[:6])}"
        )
    return done
