"""Fuses Conv2D or MatMul with BiasAdd and a following Relu into one node: one call to a backend.

TensorFlow: core/grappler/optimizers/remapper.cc, which makes _FusedConv2D and _FusedMatMul too; with oneDNN,
which is on by default, TensorFlow then calls them _MklNativeFusedConv2D and _MklNativeFusedMatMul. The bias
and the Relu are applied while the sums are still in cache. For float32, float64 and integers the result is
bit-identical to that of the separate nodes if the backend adds the bias last; float16, bfloat16 and the
reference backend round once instead of twice.
"""

from __future__ import annotations

from dataclasses import replace

from ..framework.node_def import NodeDef, Rewrite, Subgraph, reachable
from ..framework.op_kernel import has_kernel

__all__ = ["remap"]

FUSED = {"Conv2D": "_FusedConv2D", "MatMul": "_FusedMatMul"}


def remap(subgraph: Subgraph) -> tuple[Subgraph, list[Rewrite]]:
    """Fuse every such chain; the fused node has the name of the last node of the chain.

    A node is fused only if no other node uses it: a Conv2D that is fetched, or read by two nodes, stays. All
    nodes of a chain must be on the same device.

    Args:
        subgraph: the subgraph.

    Returns:
        The new subgraph and the rewrites.
    """
    uses = _uses(subgraph)
    relu_of = {
        node.inputs[0][0]: node
        for node in subgraph.nodes.values()
        if node.op == "Relu" and not node.control_inputs
    }
    nodes = dict(subgraph.nodes)
    rewrites: list[Rewrite] = []
    for bias_add in subgraph.nodes.values():
        first = subgraph.nodes.get(bias_add.inputs[0][0]) if bias_add.op == "BiasAdd" else None
        if first is None or first.op not in FUSED or not _fits(first, bias_add, uses):
            continue
        chain = [first, bias_add]
        relu = relu_of.get(bias_add.name)
        if relu is not None and uses[bias_add.name] == 1 and relu.device == first.device:
            chain.append(relu)
        fused = _fused(chain)
        for node in chain:
            del nodes[node.name]
        nodes[fused.name] = fused
        names = tuple(node.name for node in chain)
        why = " + ".join(node.op for node in chain) + ", which nothing else reads in between"
        rewrites.append(Rewrite("remapper", names, fused.name, why))
    return (reachable(replace(subgraph, nodes=nodes)) if rewrites else subgraph), rewrites


def _uses(subgraph: Subgraph) -> dict[str, int]:
    """Count the uses of each node: as an input, as a control input, or as a fetch or target."""
    uses = dict.fromkeys(subgraph.nodes, 0)
    for node in subgraph.nodes.values():
        for name in (*(name for name, _ in node.inputs), *node.control_inputs):
            uses[name] += 1
    for name in (*(name for name, _ in subgraph.fetches), *subgraph.targets):
        uses[name] += 1
    return uses


def _fits(first: NodeDef, bias_add: NodeDef, uses: dict[str, int]) -> bool:
    return (
        uses[first.name] == 1
        and not bias_add.control_inputs
        and first.device == bias_add.device
        and first.attrs.get("data_format", "NHWC") == bias_add.attrs["data_format"]
        and not first.attrs.get("transpose_a")
        and "_kernel" not in bias_add.attrs
        and has_kernel(replace(first, op=FUSED[first.op]), first.device.split(":")[1])
    )


def _fused(chain: list[NodeDef]) -> NodeDef:
    first, bias_add, last = chain[0], chain[1], chain[-1]
    fused_ops = tuple(node.op for node in chain[1:])
    return replace(
        last,
        op=FUSED[first.op],
        inputs=(*first.inputs, bias_add.inputs[1]),
        control_inputs=first.control_inputs,
        attrs={**first.attrs, "fused_ops": fused_ops},
    )
