"""Node definitions: plain data that the passes between a graph and its execution read and rewrite.

TensorFlow: core/framework/node_def.proto. The passes do not change the `Graph` that a program builds:
pruning creates node definitions for a part of it, and each later pass returns new ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from textwrap import indent
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .errors import InvalidArgumentError
from .op_def import get_op_def

if TYPE_CHECKING:
    from .ops import Operation

__all__ = ["GraphDef", "NodeDef", "Nodes", "Subgraph", "Rewrite", "reachable", "sorted_nodes"]


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
        colocated_with: the name of the node that it shares a device with, or None.
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
    colocated_with: str | None = None

    @property
    def input(self) -> list[str]:
        """The inputs as TensorFlow writes them: ``x``, ``split:1``, and ``^before`` for a control input."""
        data = [name if index == 0 else f"{name}:{index}" for name, index in self.inputs]
        return data + [f"^{name}" for name in self.control_inputs]

    @property
    def attr(self) -> Mapping[str, Any]:
        """The attributes, under TensorFlow's name."""
        return self.attrs

    def __str__(self) -> str:
        lines = [f'name: "{self.name}"', f'op: "{self.op}"']
        lines += [f'input: "{name}"' for name in self.input]
        if self.device:
            lines.append(f'device: "{self.device}"')
        for name in sorted(self.attrs):
            value = self._attr_text(name)
            lines += [
                "attr {",
                f'  key: "{name}"',
                "  value {",
                *(f"    {line}" for line in value),
                "  }",
                "}",
            ]
        return "\n".join(lines)

    def _attr_text(self, name: str) -> list[str]:
        attr = get_op_def(self.op).attr_by_name.get(name)
        is_shape = attr is not None and attr.type == "shape"
        return _shape_text("shape", self.attrs[name]) if is_shape else _attr_text(self.attrs[name])


_DATA_TYPES = {"float16": "HALF", "float32": "FLOAT", "float64": "DOUBLE"}  # the others keep their names


def _shape_text(field: str, shape: Any) -> list[str]:
    """Return the lines of a shape in the text form of TensorFlow's TensorShapeProto."""
    if shape is None:
        return [f"{field} {{", "  unknown_rank: true", "}"]
    dims = [
        line for size in shape for line in ("  dim {", f"    size: {-1 if size is None else size}", "  }")
    ]
    return [f"{field} {{", *dims, "}"]


def _attr_text(value: Any) -> list[str]:
    """Return the lines of an attribute's value in the text form of TensorFlow's AttrValue."""
    if isinstance(value, np.dtype):
        return [f"type: DT_{_DATA_TYPES.get(value.name, value.name.upper())}"]
    if isinstance(value, bool):
        return [f"b: {str(value).lower()}"]
    if isinstance(value, int):
        return [f"i: {value}"]
    if isinstance(value, str):
        return [f's: "{value}"']
    if isinstance(value, np.ndarray):
        sizes = [f"  {line}" for line in _shape_text("tensor_shape", value.shape)]
        dtype = _attr_text(value.dtype)[0].replace("type", "dtype")
        return ["tensor {", f"  {dtype}", *sizes, f"  # {value.ravel()[:8]}", "}"]
    if isinstance(value, tuple):
        return ["list {", *(f"  {line}" for item in value for line in _attr_text(item)), "}"]
    return [f'func {{ name: "{getattr(value, "name", value)}" }}']


@dataclass(frozen=True, slots=True, eq=False)
class GraphDef:
    """The nodes of a graph as plain data; it prints in the text form of TensorFlow's GraphDef.

    Attributes:
        node: the nodes in order of creation.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default() as graph:
    ...     y = tg.nn.relu(tg.placeholder("float32", [2], name="x"), name="y")
    >>> [(node.name, node.op, node.input) for node in graph.as_graph_def().node]
    [('x', 'Placeholder', []), ('y', 'Relu', ['x'])]
    >>> print(graph.as_graph_def().node[1])
    name: "y"
    op: "Relu"
    input: "x"
    attr {
      key: "T"
      value {
        type: DT_FLOAT
      }
    }
    """

    node: tuple[NodeDef, ...]

    def __str__(self) -> str:
        return "\n".join("node {\n" + indent(str(node), "  ") + "\n}" for node in self.node)


Nodes: TypeAlias = "dict[str, NodeDef]"
TensorName: TypeAlias = "tuple[str, int]"


@dataclass(frozen=True, slots=True, eq=False)
class Subgraph:
    """The work of one run.

    Attributes:
        nodes: the nodes by name.
        fetches: the tensors to return.
        targets: the names of nodes to run without returning a value.
    """

    nodes: Nodes
    fetches: tuple[TensorName, ...]
    targets: tuple[str, ...]

    @property
    def wanted(self) -> frozenset[str]:
        """The names of the requested nodes, which no pass may remove."""
        return frozenset([*(name for name, _ in self.fetches), *self.targets])


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
    """Return the definition of an operation; without its own device it gets that of its colocated node."""
    partner = op.colocated_with
    return NodeDef(
        op.name,
        op.type,
        tuple((tensor.op.name, tensor.index) for tensor in op.inputs),
        tuple(before.name for before in op.control_inputs),
        op.attrs,
        op.device or ("" if partner is None else partner.device),
        op.number,
        op.file,
        op.line,
        None if partner is None else partner.name,
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
    """Return the subgraph without the nodes that are no longer needed."""
    stack, needed = list(subgraph.wanted), set(subgraph.wanted)
    while stack:
        for name in before(subgraph.nodes[stack.pop()]):
            if name not in needed:
                needed.add(name)
                stack.append(name)
    nodes = {name: node for name, node in subgraph.nodes.items() if name in needed}
    return Subgraph(nodes, subgraph.fetches, subgraph.targets)


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
