"""Turns a graph, fetches and feeds into an executable that can run many times.

TensorFlow: core/common_runtime/graph_execution_state.cc and direct_session.cc, GetOrCreateExecutors: place
the whole graph, prune it to what the run needs (core/graph/subgraph.cc), optimise (grappler's
meta_optimizer.cc), partition by device, create the executors. Because placement comes first, a node that no
device can run is an error even if no run needs it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter

from .. import kernels  # noqa: F401  (fills the registry)
from ..framework.config import ConfigProto
from ..framework.errors import InvalidArgumentError, SoftPlacementWarning
from ..framework.node_def import NodeDef, Nodes, Rewrite, Subgraph, TensorName, from_operation, reachable
from ..framework.op_kernel import KernelDef, OpKernelContext
from ..framework.ops import Graph, Operation, Tensor
from ..framework.tensor_shape import TensorShape, as_shape
from .executor import Executor
from .graph_optimizer import eliminate_common_subexpressions, fold_constants, remap
from .graph_partition import Transfer, partition
from .placer import Placement, place
from .run_metadata import RunMetadata, StepStatsCollector


@dataclass(frozen=True, eq=False)
class Executable:
    """The partitions of one run with their executor and a record of the passes.

    Attributes:
        graph: the graph.
        subgraph: what is left of the graph after pruning and optimisation.
        partitions: its nodes by name for each device, with the nodes that send and receive.
        executor: the executor.
        pruned: the nodes that the run does not need.
        rewrites: the changes made by the optimisers.
        placements: the placement by node name, of the whole graph.
        transfers: the pairs of _Send and _Recv.
        kernels: the kernel of each node, and for nodes that were fused that of the node that replaces them.
    """

    graph: Graph
    subgraph: Subgraph
    partitions: dict[str, Nodes]
    executor: Executor
    pruned: tuple[NodeDef, ...]
    rewrites: tuple[Rewrite, ...]
    placements: dict[str, Placement]
    transfers: tuple[Transfer, ...]
    kernels: dict[str, KernelDef] = field(init=False)

    def __post_init__(self) -> None:
        by_name = {item.node.name: item.kernel_def for item in self.executor.items}
        for rewrite in self.rewrites:
            if rewrite.into in by_name:
                by_name |= dict.fromkeys(rewrite.removed, by_name[rewrite.into])
        object.__setattr__(self, "kernels", by_name)

    def run(
        self, context: OpKernelContext, run_metadata: RunMetadata | None = None, seed: int | None = None
    ) -> list[object]:
        """Run and return the fetched values.

        Args:
            context: the feeds and the variables.
            run_metadata: filled with a log of the run if it is given.
            seed: shuffles the nodes that are ready, as in `Executor.run`.

        Returns:
            The fetched values.

        Raises:
            FailedPreconditionError: if a variable that the run reads has no value.
            ValueError: if a kernel fails.
        """
        recorder = None if run_metadata is None else StepStatsCollector()
        values = self.run_inside(context, recorder, seed)
        if run_metadata is not None and recorder is not None:
            run_metadata.fill(self, recorder)
        self.graph.last_run = self.kernels
        return values

    def run_inside(
        self, context: OpKernelContext, recorder: StepStatsCollector | None, seed: int | None = None
    ) -> list[object]:
        """Run as a part of another run, which records it."""
        context.recorder = recorder
        return self.executor.run(context, recorder, seed)


class GraphExecutionState:
    """A graph with its nodes placed, and the executables made of it.

    Args:
        graph: the graph, which may grow.
        config: the configuration of the session.
    """

    def __init__(self, graph: Graph, config: ConfigProto):
        self.graph, self.config = graph, config
        self._executables: dict[object, Executable] = {}
        self._version: object = None
        self._placed: Nodes = {}
        self._placements: dict[str, Placement] = {}

    def _extend(self) -> None:
        """Place the whole graph again if it has changed."""
        version = (len(self.graph.get_operations()), self.graph.version)
        if version == self._version:
            return
        nodes = {op.name: from_operation(op) for op in self.graph.get_operations()}
        before = self._placements
        wants_gpu = any("GPU" in node.device for node in nodes.values())
        self._placed, self._placements = place(
            nodes, self.config.devices(wants_gpu), self.config.allow_soft_placement, self.config.backend
        )
        self._version = version
        soft = [name for name, placed in self._placements.items() if placed.soft and name not in before]
        if soft:
            first = self._placements[soft[0]]
            warnings.warn(
                f"{', '.join(soft[:4])}{', ...' if len(soft) > 4 else ''}: {first.reason}; placed on "
                f"{first.device}",
                SoftPlacementWarning,
                stacklevel=5,
            )

    def executable(
        self, fetches: Sequence[Tensor], targets: Sequence[Operation], feeds: Sequence[Tensor]
    ) -> Executable:
        """Return the executable of a run, made once for each combination of arguments.

        Args:
            fetches: the tensors to fetch.
            targets: the operations to run.
            feeds: the tensors that are fed.

        Returns:
            The executable.

        Raises:
            ValueError: if a node of the graph cannot be placed, a placeholder is not fed, or there is no
                kernel for a node.
        """
        self._extend()
        key = (tuple(fetches), tuple(targets), tuple(feeds), self.graph.version)
        if key not in self._executables:
            subgraph, pruned = prune(self._placed, fetches, targets, feeds)
            subgraph, rewrites = optimize(subgraph, self.config)
            partitions, transfers, sources = partition(subgraph)
            executor = Executor(partitions, transfers, sources, self.config)
            self._executables[key] = Executable(
                self.graph,
                subgraph,
                partitions,
                executor,
                pruned,
                tuple(rewrites),
                self._placements,
                tuple(transfers),
            )
        return self._executables[key]


def optimize(subgraph: Subgraph, config: ConfigProto) -> tuple[Subgraph, list[Rewrite]]:
    """Apply the enabled optimisers in order; return the subgraph and the rewrites."""
    rewrites: list[Rewrite] = []
    passes = (
        (config.constant_folding, partial(fold_constants, label=config.backend)),
        (config.common_subexpression_elimination, eliminate_common_subexpressions),
        (config.remapping, remap),
    )
    for enabled, rewrite in passes:
        if enabled:
            subgraph, done = rewrite(subgraph)
            rewrites += done
    return subgraph, rewrites


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

    def wired(node: NodeDef) -> NodeDef:
        inputs = tuple(map(source, node.inputs))
        return node if inputs == node.inputs else replace(node, inputs=inputs)

    nodes |= {name: wired(node) for name, node in placed.items()}
    fetched = tuple(source((tensor.op.name, tensor.index)) for tensor in fetches)
    subgraph = reachable(Subgraph(nodes, fetched, tuple(op.name for op in targets)))
    needed = subgraph.nodes.values()
    missing = sorted((node for node in needed if node.op == "Placeholder"), key=attrgetter("number"))
    if missing:
        names = ", ".join(
            f"{node.name!r} ({TensorShape(node.attrs['shape'])} {node.attrs['dtype'].name})"
            for node in missing
        )
        raise InvalidArgumentError(
            f"feed_dict must hold a value for each placeholder needed; missing: {names}"
        )
    return subgraph, tuple(node for name, node in placed.items() if name not in subgraph.nodes)


def _argument(name: str, tensor: Tensor, index: int) -> NodeDef:
    attrs = {"T": tensor.dtype, "shape": as_shape(tensor.shape), "index": index}
    op = tensor.op  # what is fed comes from the client, whose memory is the first CPU's
    return NodeDef(name, "_Arg", (), (), attrs, "/device:CPU:0", op.number, op.file, op.line)
