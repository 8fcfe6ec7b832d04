"""From a graph, fetches and feeds to something that can be run again and again.

TensorFlow: core/common_runtime/graph_execution_state.cc and direct_session.cc, GetOrCreateExecutors:
prune, place, optimise (grappler's meta_optimizer.cc), cut at the borders between devices, make an
executor. Placement comes before optimisation, so that a device which is not there is an error even for
a node that would have been folded away.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from . import kernels  # noqa: F401  (fills the registry)
from .config import ConfigProto
from .constant_folding import fold_constants
from .executor import Executor
from .node_def import NodeDef, Plan, Rewrite
from .op_kernel import OpKernelContext
from .ops import Graph, Operation, Tensor
from .optimizer_cse import eliminate_common_subexpressions
from .placer import Placement, insert_copies, place
from .remapper import remap
from .run_metadata import Recorder, RunMetadata
from .subgraph import prune

__all__ = ["Executable", "SoftPlacementWarning", "make_executable"]


class SoftPlacementWarning(UserWarning):
    """Nodes run on another device than they asked for."""


@dataclass(frozen=True, eq=False)
class Executable:
    """A plan that was placed and optimised, its executor, and all that was done on the way."""

    graph: Graph
    plan: Plan
    executor: Executor
    pruned: tuple[NodeDef, ...]
    rewrites: tuple[Rewrite, ...]
    placements: dict[str, Placement]
    copies: tuple[NodeDef, ...]

    def run(self, context: OpKernelContext, run_metadata: RunMetadata | None = None) -> list[object]:
        """Return the fetched values; where asked for, fill ``run_metadata`` with what happened."""
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
    """Prune, place, optimise, insert copies, and find a kernel for every node."""
    plan, pruned = prune(graph, fetches, targets, feeds)
    plan, placements = place(plan, config.devices(), config.allow_soft_placement)
    plan, rewrites = optimize(plan, config)
    plan, copies = insert_copies(plan)
    executor = Executor(plan, config)
    soft = [name for name, placement in placements.items() if placement.soft]
    if soft:
        warnings.warn(
            f"{', '.join(soft[:4])}{', ...' if len(soft) > 4 else ''}: {placements[soft[0]].reason}; "
            f"placed on {placements[soft[0]].device}",
            SoftPlacementWarning,
            stacklevel=3,
        )
    return Executable(graph, plan, executor, pruned, tuple(rewrites), placements, tuple(copies))


def optimize(plan: Plan, config: ConfigProto) -> tuple[Plan, list[Rewrite]]:
    """Run the optimisers that are switched on, in this order; each sees what the one before left."""
    rewrites: list[Rewrite] = []
    if config.constant_folding:
        plan, done = fold_constants(plan, config.backend)
        rewrites += done
    if config.common_subexpression_elimination:
        plan, done = eliminate_common_subexpressions(plan)
        rewrites += done
    if config.remapping:
        plan, done = remap(plan)
        rewrites += done
    return plan, rewrites
