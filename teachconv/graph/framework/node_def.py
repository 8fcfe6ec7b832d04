"""Node definitions: plain data that the passes between a graph and its execution read and rewrite.

TensorFlow: core/framework/node_def.proto. The passes do not change the `Graph` that a program builds:
pruning creates node definitions for a part of it, and each later pass returns new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

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


def sorted_nodes(nodes: Nodes) -> list[NodeDef]:
    """Return the nodes in an order in which they can run: that of their creation.

    An operation reads only what existed before it, so a graph has no cycle. A node that a pass adds has the
    number of the node whose value it holds, and follows it here; a _Recv, which is on another device, is the
    last one of a number.
    """
    return sorted(nodes.values(), key=lambda node: (node.number, node.op == "_Recv"))
