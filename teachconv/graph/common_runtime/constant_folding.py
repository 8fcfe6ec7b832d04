"""Constant folding: computes nodes that depend only on constants once, before any run.

TensorFlow: core/common_runtime/constant_folding.cc and core/grappler/optimizers/constant_folding.cc.
A folded node becomes a Const of the same name, so that it can still be fetched.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..framework.node_def import NodeDef, Nodes, Rewrite, Subgraph, reachable, sorted_nodes
from ..framework.op_def import get_op_def
from ..framework.op_kernel import OpKernelContext, find_kernel
from ..framework.tensor_util import frozen

__all__ = ["fold_constants"]

MAX_BYTES = 10 << 20  # larger results are not worth the memory; TensorFlow's limit


def fold_constants(subgraph: Subgraph, label: str = "") -> tuple[Subgraph, list[Rewrite]]:
    """Replace every node whose inputs are constants by its value.

    The kernel that would have run computes the value. A node that fails stays, so that the run reports the
    error.

    Args:
        subgraph: the subgraph.
        label: the kernel label of the run (the backend).

    Returns:
        The new subgraph and the rewrites.
    """
    nodes: Nodes = dict(subgraph.nodes)
    values: dict[str, np.ndarray] = {}
    rewrites: list[Rewrite] = []
    for node in sorted_nodes(subgraph.nodes):
        if node.op == "Const":
            values[node.name] = node.attrs["value"]
        elif _foldable(node, values):
            value = _compute(node, [values[name] for name, _ in node.inputs], label)
            if value is None or value.nbytes > MAX_BYTES:
                continue
            values[node.name] = value
            attrs = {"value": value, "dtype": value.dtype}
            nodes[node.name] = replace(node, op="Const", inputs=(), attrs=attrs)
            sources = tuple(dict.fromkeys(name for name, _ in node.inputs))
            why = f"{node.op} of constants: {', '.join(sources)}"
            rewrites.append(Rewrite("constant folding", (node.name,), node.name, why))
    return (reachable(replace(subgraph, nodes=nodes)) if rewrites else subgraph), rewrites


def _foldable(node: NodeDef, values: dict[str, np.ndarray]) -> bool:
    op_def = get_op_def(node.op)
    if not node.inputs or node.control_inputs or op_def.is_stateful:
        return False
    if len(op_def.flat(op_def.outputs, node.attrs)) != 1:
        return False  # a Const has one output
    return all(name in values for name, _ in node.inputs)


def _compute(node: NodeDef, inputs: list[np.ndarray], label: str) -> np.ndarray | None:
    kernel_def = find_kernel(node, "CPU", label)
    try:
        with np.errstate(all="ignore"):
            value = kernel_def.kernel(node, kernel_def.label).compute(OpKernelContext({}), *inputs)
    except Exception:  # the run will raise it again, with the node's name
        return None
    return frozen(np.asarray(value))
