"""Turns a graph, fetches and feeds into an executable that can run many times.

TensorFlow: core/common_runtime/graph_execution_state.cc and direct_session.cc, GetOrCreateExecutors:
prune, place, optimise (grappler's meta_optimizer.cc), partition by device, create an executor. Placement
comes before optimisation, so that a missing device is an error even for a node that would be folded.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from . import kernels  # noqa: F401  (fills the registry)
from .config import ConfigProto
from .constant_folding import fold_constants
from .executor import Executor
from .node_def import NodeDef, Rewrite, Subgraph
from .op_kernel import OpKernelContext
from .ops import Graph, Operation, Tensor
from .optimizer_cse import eliminate_common_subexpressions
from .placer import Placement, insert_copies, place
from .remapper import remap
from .run_metadata import Recorder, RunMetadata
from .subgraph import prune

__all__ = ["Executable", "SoftPlacementWarning", "make_executable"]


class SoftPlacementWarning(UserWarning):
    """Warns that nodes run on another device than they request."""


@dataclass(frozen=True, eq=False)
class Executable:
    """A placed and optimised subgraph with its executor and a record of the passes.

    Attributes:
        graph: the graph.
        subgraph: the subgraph after all passes.
        executor: the executor.
        pruned: the nodes that the run does not need.
        rewrites: the changes made by the optimisers.
        placements: the placement by node name.
        copies: the nodes that copy between devices.
    """

    graph: Graph
    subgraph: Subgraph
    executor: Executor
    pruned: tuple[NodeDef, ...]
    rewrites: tuple[Rewrite, ...]
    placements: dict[str, Placement]
    copies: tuple[NodeDef, ...]

    def run(self, context: OpKernelContext, run_metadata: RunMetadata | None = None) -> list[object]:
        """Run and return the fetched values; fill ``run_metadata`` with a log if it is given."""
        if run_metadata is None:
            return self.executor.run(context)
        recorder = Recorder()
        values = self.executor.run(context, recorder)
        run_metadata.fill(self, recorder)
        return values


def make_executable(
    graph: Graph,
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    feeds: Sequence[Tensor],
    config: ConfigProto,
) -> Executable:
    """Prune, place, optimise, insert copies, and find a kernel for every node.

    Args:
        graph: the graph.
        fetches: the tensors to fetch.
        targets: the operations to run.
        feeds: the tensors that are fed.
        config: the configuration of the session.

    Returns:
        The executable.

    Raises:
        ValueError: if a placeholder is not fed, a device does not exist, or there is no kernel for a node.
    """
    subgraph, pruned = prune(graph, fetches, targets, feeds)
    subgraph, placements = place(subgraph, config.devices(), config.allow_soft_placement)
    subgraph, rewrites = optimize(subgraph, config)
    subgraph, copies = insert_copies(subgraph)
    executor = Executor(subgraph, config)
    soft = [name for name, placement in placements.items() if placement.soft]
    if soft:
        warnings.warn(
            f"{', '.join(soft[:4])}{', ...' if len(soft) > 4 else ''}: {placements[soft[0]].reason}; "
            f"placed on {placements[soft[0]].device}",
            SoftPlacementWarning,
            stacklevel=3,
        )
    return Executable(graph, subgraph, executor, pruned, tuple(rewrites), placements, tuple(copies))


def optimize(subgraph: Subgraph, config: ConfigProto) -> tuple[Subgraph, list[Rewrite]]:
    """Apply the enabled optimisers in order; return the subgraph and the rewrites."""
    rewrites: list[Rewrite] = []
    if config.constant_folding:
        subgraph, done = fold_constants(subgraph, config.backend)
        rewrites += done
    if config.common_subexpression_elimination:
        subgraph, done = eliminate_common_subexpressions(subgraph)
        rewrites += done
    if config.remapping:
        subgraph, done = remap(subgraph)
        rewrites += done
    return subgraph, rewrites
