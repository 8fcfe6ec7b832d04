"""Turns a graph, fetches and feeds into an executable that can run many times.

TensorFlow: core/common_runtime/graph_execution_state.cc and direct_session.cc. The order is theirs.
InitBaseGraph places the whole graph (placer.cc). BuildGraph optimises it (OptimizeGraph: Grappler) and then
prunes it to what the run needs (subgraph.cc, RewriteGraphForExecution). DirectSession::CreateGraphs
partitions it by device, and CreateExecutors optimises each partition once more (graph_optimizer.cc) and
creates its executor. Because placement comes first, a node that no device can run is an error even if no run
needs it.

Simplified: TensorFlow has more passes, which optimization_registry.h calls before and after each of these
steps. What only fed tensors need is left out before the graph is optimised; TensorFlow may optimise it and
then prunes it. A fetch is read from the executor's memory; TensorFlow adds a node _Retval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...support.errors import warn
from .. import kernels  # noqa: F401  (fills the registry)
from ..framework.config import ConfigProto
from ..framework.errors import SoftPlacementWarning
from ..framework.node_def import NodeDef, Nodes, Rewrite, Subgraph, from_operation
from ..framework.op_kernel import KernelDef, OpKernelContext
from ..framework.ops import Graph, Operation
from ..framework.tensor import Tensor
from ..kernels.compiled import reused_memory
from .executor import Executor
from .graph_optimizer import optimize, optimize_partitions
from .graph_partition import Transfer, partition
from .placer import Placement, place
from .run_metadata import RunMetadata, StepStatsCollector
from .subgraph import prune


@dataclass(frozen=True, eq=False)
class Executable:
    """The partitions of one run with their executor and a record of the passes.

    Attributes:
        graph: the graph.
        subgraph: what is left of the graph after optimisation and pruning.
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
        try:
            values = self.run_inside(context, recorder, seed)
        finally:
            if run_metadata is not None and recorder is not None:
                run_metadata.fill(self, recorder)
        self.graph.last_run = self.kernels
        return values

    def run_inside(
        self, context: OpKernelContext, recorder: StepStatsCollector | None, seed: int | None = None
    ) -> list[object]:
        """Run as a part of another run, which records it."""
        context.recorder = recorder
        with reused_memory():
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
            warn(
                f"{', '.join(soft[:4])}{', ...' if len(soft) > 4 else ''}: {first.reason}; placed on "
                f"{first.device}",
                SoftPlacementWarning,
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
            names = [tuple((tensor.op.name, tensor.index) for tensor in each) for each in (fetches, feeds)]
            whole = Subgraph(self._placed, names[0], tuple(op.name for op in targets), frozenset(names[1]))
            optimized, rewrites = optimize(whole, self.config)
            subgraph = prune(optimized, feeds)
            placed, transfers, sources = partition(subgraph)
            partitions, fetched, more = optimize_partitions(placed, sources, subgraph.targets, self.config)
            gone = {name for rewrite in (*rewrites, *more) for name in rewrite.removed}
            kept = subgraph.nodes.keys() | gone
            self._executables[key] = Executable(
                self.graph,
                subgraph,
                partitions,
                Executor(partitions, transfers, fetched, self.config),
                tuple(node for name, node in self._placed.items() if name not in kept),
                (*rewrites, *more),
                self._placements,
                tuple(transfers),
            )
        return self._executables[key]
