"""The optimisers of a graph: common subexpression elimination, constant folding, fusing.

TensorFlow has two sets of them. Grappler (core/grappler/optimizers/meta_optimizer.cc) optimises the placed
graph before it is pruned: common_subgraph_elimination.cc, constant_folding.cc, remapper.cc and a dozen
others. core/common_runtime/graph_optimizer.cc optimises each partition, by constant_folding.cc of that folder
and core/graph/optimizer_cse.cc. Here both sets call the same functions, and Grappler's first optimiser, the
model pruner, is the call of `reachable`. Grappler repeats its optimisers, and leaves graphs of fewer than
four nodes alone; here each runs once, on graphs of every size.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from ..framework.config import ConfigProto
from ..framework.eager_tensor import frozen
from ..framework.node_def import NodeDef, Nodes, Rewrite, Subgraph, TensorName, reachable, sorted_nodes
from ..framework.op_def import get_op_def
from ..framework.op_kernel import has_kernel
from ..framework.shape_inference import run_on_constants

IN_PARTITION = " in a partition"  # ends the name of an optimiser that ran there
MAX_BYTES = 10 << 20  # larger results are not worth the memory; TensorFlow's limit


def optimize(subgraph: Subgraph, config: ConfigProto) -> tuple[Subgraph, list[Rewrite]]:
    """Optimise what the fetches need of a placed graph: TensorFlow's Grappler.

    A fetched node keeps its name, and a fed one is left alone.

    Args:
        subgraph: the whole graph, with what is fetched and fed.
        config: which optimisers are on.

    Returns:
        What is left, and the rewrites.
    """
    needed = reachable(subgraph)
    merge = partial(eliminate_common_subexpressions, keep=needed.wanted)
    return _apply(needed, config, merge, remap)


def optimize_partitions(
    partitions: Mapping[str, Nodes],
    fetches: Sequence[TensorName],
    targets: Sequence[str],
    config: ConfigProto,
) -> tuple[dict[str, Nodes], Sequence[TensorName], list[Rewrite]]:
    """Optimise the nodes of each device: TensorFlow's GraphOptimizer, which gets one partition at a time.

    No node of one device is equal to one of another. Equal nodes that are both fetched become one only here.

    Args:
        partitions: the nodes by name for each device.
        fetches: the tensors to return.
        targets: the names of nodes to run without returning a value.
        config: which optimisers are on.

    Returns:
        The nodes by name for each device, where the fetches are now, and the rewrites.
    """
    nodes = {name: node for part in partitions.values() for name, node in part.items()}
    sends = [name for name, node in nodes.items() if node.op == "_Send"]
    whole = Subgraph(nodes, tuple(fetches), (*targets, *sends))
    left, rewrites = _apply(whole, config, eliminate_common_subexpressions)
    kept = {
        device: {name: left.nodes[name] for name in part if name in left.nodes}
        for device, part in partitions.items()
    }
    return (
        kept,
        left.fetches,
        [replace(each, optimizer=f"{each.optimizer}{IN_PARTITION}") for each in rewrites],
    )


def _apply(
    subgraph: Subgraph, config: ConfigProto, merge: Any, fuse: Any = None
) -> tuple[Subgraph, list[Rewrite]]:
    """Apply the optimisers that are on, in Grappler's order; return the subgraph and the rewrites."""
    rewrites: list[Rewrite] = []
    passes = (
        (config.common_subexpression_elimination, merge),
        (config.constant_folding, partial(fold_constants, label=config.backend)),
        (config.remapping, fuse),
    )
    for is_on, rewrite in passes:
        if is_on and rewrite is not None:
            subgraph, done = rewrite(subgraph)
            rewrites += done
    return subgraph, rewrites


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
    fed = subgraph.fed_nodes
    for node in sorted_nodes(subgraph.nodes):
        if node.name in fed:
            continue
        if node.op == "Const":
            values[node.name] = node.attrs["value"]
        elif _foldable(node, values):
            result = run_on_constants(node, [values[name] for name, _ in node.inputs], label)
            if result is None or result.nbytes > MAX_BYTES:
                continue
            values[node.name] = value = frozen(np.asarray(result))
            attrs = {"value": value, "dtype": value.dtype}
            nodes[node.name] = replace(node, op="Const", inputs=(), attrs=attrs)
            sources = tuple(dict.fromkeys(name for name, _ in node.inputs))
            why = f"{node.op} of constants: {', '.join(sources)}"
            rewrites.append(Rewrite("constant folding", (node.name,), node.name, why))
    return (reachable(replace(subgraph, nodes=nodes)) if rewrites else subgraph), rewrites


def _foldable(node: NodeDef, values: dict[str, np.ndarray]) -> bool:
    op_def = get_op_def(node.op)
    has_one_output = len(op_def.flat(op_def.outputs, node.attrs)) == 1  # as a Const
    if not (node.inputs and has_one_output) or node.control_inputs or op_def.is_stateful:
        return False
    return all(name in values for name, _ in node.inputs)


def eliminate_common_subexpressions(
    subgraph: Subgraph, keep: frozenset[str] = frozenset()
) -> tuple[Subgraph, list[Rewrite]]:
    """Merge equal nodes into the oldest of them.

    Nodes are equal if they have the same op, attributes, inputs, control inputs and device. Nodes that read a
    variable are not merged, because its value may change between two reads.

    Args:
        subgraph: the subgraph.
        keep: nodes that stay as they are.

    Returns:
        The new subgraph and the rewrites.
    """
    keep |= subgraph.fed_nodes
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
        may_share = not (op_def.is_stateful or reads_variable or node.name in keep)
        first = found.setdefault(_key(node), node.name) if may_share else node.name
        if first == node.name:
            nodes[node.name] = node
        else:
            stands_for[node.name] = first
            why = "the same value" if node.op == "Const" else f"the same {node.op} of the same inputs"
            rewrites.append(Rewrite("common subexpressions", (node.name,), first, why))
    fetches = tuple((stands_for.get(name, name), index) for name, index in subgraph.fetches)
    targets = tuple(stands_for.get(name, name) for name in subgraph.targets)
    return Subgraph(nodes, fetches, targets, subgraph.fed), rewrites


def gives_ref(node: NodeDef, index: int) -> bool:
    """Return whether an output of a node is a reference to a variable."""
    op_def = get_op_def(node.op)
    return op_def.flat(op_def.outputs, node.attrs)[index].is_ref


def _key(node: NodeDef) -> tuple[Any, ...]:
    attrs = tuple((name, _value_key(node.attrs[name])) for name in sorted(node.attrs))
    # the order of control inputs does not matter
    return node.op, node.inputs, frozenset(node.control_inputs), node.device, attrs


def _value_key(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    digest = blake2b(np.ascontiguousarray(value).tobytes(), digest_size=16).digest()
    return value.dtype.name, value.shape, digest


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


def _uses(subgraph: Subgraph) -> Counter[str]:
    """Count the uses of each node: as an input, as a control input, or as a fetch, feed or target."""
    nodes = subgraph.nodes.values()
    read = [name for node in nodes for name in (*(source for source, _ in node.inputs), *node.control_inputs)]
    fetched = [name for name, _ in subgraph.fetches]
    return Counter([*fetched, *subgraph.targets, *subgraph.fed_nodes, *read])


def _fits(first: NodeDef, bias_add: NodeDef, uses: Counter[str]) -> bool:
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
