"""Nodes as plain facts, which the passes between a graph and its execution read and rewrite.

TensorFlow: core/framework/node_def.proto. A `Graph` is what a program builds and is never rewritten;
pruning makes node definitions of a part of it, and each later pass returns others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

from .errors import InvalidArgumentError
from .ops import Operation

__all__ = ["NodeDef", "Nodes", "Plan", "Rewrite", "reachable", "sorted_nodes"]


@dataclass(frozen=True, slots=True, eq=False)
class NodeDef:
    """One node: ``inputs`` are names of tensors, ``control_inputs`` of nodes that have to finish before.

    A tensor is (node's name, output index). ``number`` counts the nodes in the order in which the
    program made them; ``file`` and ``line`` say where.
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


Nodes: TypeAlias = "dict[str, NodeDef]"
TensorName: TypeAlias = "tuple[str, int]"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What one run has to do: the nodes, the tensors that are fetched, the nodes that only have to run."""

    nodes: Nodes
    fetches: tuple[TensorName, ...]
    targets: tuple[str, ...]

    @property
    def wanted(self) -> frozenset[str]:
        """The names of the nodes that the caller asked for, which no pass may do away with."""
        return frozenset([*(name for name, _ in self.fetches), *self.targets])


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One thing that an optimiser did: the nodes it removed, the node that stands for them, and why."""

    optimizer: str
    removed: tuple[str, ...]
    into: str
    why: str


def from_operation(op: Operation) -> NodeDef:
    """The facts of an operation. Its device is that of its partner, where it goes with one and names none."""
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


def before(node: NodeDef) -> list[str]:
    """The names of the nodes that a node waits for, each once."""
    return list(dict.fromkeys([*(name for name, _ in node.inputs), *node.control_inputs]))


def reachable(plan: Plan) -> Plan:
    """Return the plan without the nodes that nothing in it needs any more."""
    stack, needed = list(plan.wanted), set(plan.wanted)
    while stack:
        for name in before(plan.nodes[stack.pop()]):
            if name not in needed:
                needed.add(name)
                stack.append(name)
    nodes = {name: node for name, node in plan.nodes.items() if name in needed}
    return Plan(nodes, plan.fetches, plan.targets)


def sorted_nodes(nodes: Nodes) -> list[NodeDef]:
    """Return the nodes in an order in which they can run; among those that can, the oldest first.

    Raises ``ValueError`` where nodes wait for each other. Takes time in proportion to the edges (times
    a logarithm), and no recursion, whatever the depth.
    """
    waiting = dict.fromkeys(nodes, 0)
    after: dict[str, list[str]] = {name: [] for name in nodes}
    for node in nodes.values():
        for name in before(node):
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
            f"these nodes wait for each other, in a cycle: {', '.join(sorted(stuck)[:6])}"
        )
    return done
