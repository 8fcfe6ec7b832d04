"""Common subexpression elimination: merges nodes that apply the same op to the same inputs.

TensorFlow: core/graph/optimizer_cse.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from ..framework.node_def import NodeDef, Nodes, Rewrite, Subgraph, sorted_nodes
from ..framework.op_def import get_op_def

__all__ = ["eliminate_common_subexpressions"]


def eliminate_common_subexpressions(subgraph: Subgraph) -> tuple[Subgraph, list[Rewrite]]:
    """Merge equal nodes into the oldest of them.

    Nodes are equal if they have the same op, attributes, inputs, control inputs and device. Nodes that read a
    variable are not merged, because its value may change between two reads.

    Args:
        subgraph: the subgraph.

    Returns:
        The new subgraph and the rewrites.
    """
    stands_for: dict[str, str] = {}
    found: dict[Any, str] = {}
    nodes: Nodes = {}
    rewrites: list[Rewrite] = []
    for node in sorted_nodes(subgraph.nodes):
        inputs = tuple((stands_for.get(name, name), index) for name, index in node.inputs)
        control = tuple(dict.fromkeys(stands_for.get(name, name) for name in node.control_inputs))
        node = replace(node, inputs=inputs, control_inputs=control)
        op_def = get_op_def(node.op)
        reads_variable = any(gives_ref(nodes[name], index) for name, index in node.inputs if name in nodes)
        if op_def.is_stateful or reads_variable:
            nodes[node.name] = node
            continue
        first = found.setdefault(_key(node), node.name)
        if first == node.name:
            nodes[node.name] = node
        else:
            stands_for[node.name] = first
            why = "the same value" if node.op == "Const" else f"the same {node.op} of the same inputs"
            rewrites.append(Rewrite("common subexpressions", (node.name,), first, why))
    fetches = tuple((stands_for.get(name, name), index) for name, index in subgraph.fetches)
    targets = tuple(stands_for.get(name, name) for name in subgraph.targets)
    return Subgraph(nodes, fetches, targets), rewrites


def gives_ref(node: NodeDef, index: int) -> bool:
    """Return whether an output of a node is a reference to a variable."""
    op_def = get_op_def(node.op)
    return op_def.flat(op_def.outputs, node.attrs)[index].is_ref


def _key(node: NodeDef) -> tuple[Any, ...]:
    # the order of control inputs does not matter
    return node.op, node.inputs, frozenset(node.control_inputs), node.device, _attrs_key(node.attrs)


def _attrs_key(attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple((name, _value_key(attrs[name])) for name in sorted(attrs))


def _value_key(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    digest = blake2b(np.ascontiguousarray(value).tobytes(), digest_size=16).digest()
    return value.dtype.name, value.shape, digest
