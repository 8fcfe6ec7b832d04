"""The steps of a run, in order: where each is in the code, what it did, and its counterpart in TensorFlow.

A `RunMetadata` prints them, and `teachconv.find_source` follows a run by them.
"""

from __future__ import annotations

import json
import linecache
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from textwrap import shorten
from traceback import walk_tb
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import backends
from ...inspection.marks import place as place_of
from ...inspection.sources import Found, Ran, SourceChain, SourceStep, chain_of, step_at
from ...inspection.tracing import facts_of
from ...support import record, tables
from ...support.errors import plain
from ..framework.op_def import GRADIENTS
from ..framework.op_kernel import SILENT, KernelDef, OpKernel, register_kernel
from .executor import Executor
from .graph_optimizer import IN_PARTITION, optimize
from .graph_partition import partition
from .placer import place
from .subgraph import prune

if TYPE_CHECKING:
    from ..framework.node_def import NodeDef
    from ..framework.ops import Operation
    from .run_metadata import NodeStats, RunMetadata

_FILES = Path(__file__).parents[2] / "frameworks" / "tensorflow_files.json"


class Part(NamedTuple):
    """A part of the runtime that a program does not call itself.

    Attributes:
        what: what it is called here.
        function: the function or class that does it.
        tensorflow: file and function of TensorFlow that do it.
        does: what it does.
        names: the other words for it, in small letters.
    """

    what: str
    function: Callable[..., Any]
    tensorflow: str
    does: str
    names: tuple[str, ...] = ()

    def step(self, note: str = "") -> SourceStep:
        """Return the part as a step of a chain, with what it did."""
        step = step_at(self.what, self.function, note or self.does)
        return replace(step, name=self.function.__qualname__, tensorflow=self.tensorflow)


# the passes and the executor, in the order of a run
PASSES = (
    Part(
        "place",
        place,
        "tensorflow/core/common_runtime/placer.cc Placer::Run",
        "chooses a device for each node of the whole graph",
        ("placer", "placement", "placer.run"),
    ),
    Part(
        "optimise",
        optimize,
        "tensorflow/core/grappler/optimizers/meta_optimizer.cc RunMetaOptimizer",
        "shares equal nodes, folds constants, and fuses Conv2D, BiasAdd and Relu",
        ("grappler", "optimize", "optimizer", "meta_optimizer", "metaoptimizer"),
    ),
    Part(
        "prune",
        prune,
        "tensorflow/core/graph/subgraph.cc RewriteGraphForExecution",
        "keeps the nodes that the fetches need",
        ("pruned", "pruning", "rewritegraphforexecution"),
    ),
    Part(
        "partition",
        partition,
        "tensorflow/core/graph/graph_partition.cc Partition",
        "makes a subgraph for each device; pairs of _Send and _Recv join them",
        ("graph_partition",),
    ),
    Part(
        "executor",
        Executor.run,
        "tensorflow/core/common_runtime/executor.cc ExecutorState::Process",
        "runs each node when its inputs are there, by the compute of its kernel",
        ("executor.run", "executorstate", "process"),
    ),
)
# what the executor finds and calls
KERNEL_PARTS = (
    Part(
        "kernel",
        OpKernel,
        "tensorflow/core/framework/op_kernel.h OpKernel",
        "computes one node; each op has a class that inherits it",
        ("opkernel",),
    ),
    Part(
        "compute",
        OpKernel.compute,
        "tensorflow/core/framework/op_kernel.h OpKernel::Compute",
        "is what the executor calls; the kernel's class overrides it and calls a backend or NumPy",
        ("opkernel.compute",),
    ),
    Part(
        "registration",
        register_kernel,
        "tensorflow/core/framework/op_kernel.h REGISTER_KERNEL_BUILDER",
        "enters a kernel's class into KERNELS, by op, kind of device and label",
        ("register_kernel_builder", "register_kernel", "kernels"),
    ),
)


@cache
def recorded_files() -> dict[str, Any]:
    """Return where kernels' classes, ops' definitions and the log's files are in TensorFlow's sources."""
    return json.loads(_FILES.read_text(encoding="utf-8"))


@cache
def compute_step(definition: KernelDef) -> SourceStep:
    """Return the step of the compute of a kernel, with the entry of the registry that led to it."""
    kernel = definition.kernel
    registered = place_of(definition.file), definition.line
    file = registered[0].rpartition("/")[2]
    label = definition.label or "default"
    entry = f"({definition.op}, {definition.device}, {label})"
    note = f"{kernel.__name__} for {entry}, its entry in KERNELS, made at {file}:{definition.line}"
    step = (
        SourceStep("compute", "", *registered, note)
        if hasattr(kernel, "function")  # which was registered, and is what computes
        else step_at("compute", kernel.compute, note)
    )
    known = recorded_files()["classes"].get(kernel.__name__, "")
    return replace(
        step, name=f"{kernel.__name__}.compute", tensorflow=known and f"{known} {kernel.__name__}::Compute"
    )


def gradient_step(op: Any, note: str) -> SourceStep:
    """Return the step of the gradient function of an operation, or of the name that has one."""
    op_type = op if isinstance(op, str) else op.attrs.get("_gradient_op_type", op.type)
    function: Any = GRADIENTS[op_type]
    return step_at("gradient function", function, note)


# ---------------------------------------------------------------------------------------------
# What a run did
# ---------------------------------------------------------------------------------------------


def chain_of_run(metadata: RunMetadata) -> SourceChain:
    """Return the chain of a run: from the line of the program to the lines that multiplied and added."""
    by = {(node.backend, node.algorithm) for node in metadata.nodes if node.backend}
    ran = by.pop() if len(by) == 1 else ("", "")
    query = metadata.called.name if metadata.called else "the run"
    return chain_of(query, _steps(metadata), *ran)


def stopped_chain(metadata: RunMetadata, error: BaseException) -> SourceChain:
    """Return the chain of a run that failed, up to the step that raised the error.

    Args:
        metadata: the log that was given to the run.
        error: what the run raised.

    Returns:
        The chain; its last step says why the run stops there.

    Raises:
        BaseException: the error, if no step of the run raised it.
    """
    codes = {frame.f_code for frame, _ in walk_tb(error.__traceback__)}
    reached = [i for i, part in enumerate(PASSES) if part.function.__code__ in codes]
    if not reached or metadata.called is None:
        raise error
    first = (step for step in (metadata.asked, metadata.called) if step)
    steps = [*first, *steps_of_passes(metadata)[: reached[-1]]]
    last = PASSES[reached[-1]].step(f"stops here: {plain(error.__cause__ or error)}")
    return chain_of(metadata.called.name, [*steps, last])


def steps_of_passes(metadata: RunMetadata) -> list[SourceStep]:
    """Return the steps of the passes and the executor: what each did in the run, or does if none was."""
    done = _what_passes_did(metadata) if metadata.before else {}
    return [part.step(done.get(part.what, "")) for part in PASSES]


def _steps(metadata: RunMetadata) -> Iterator[Found]:
    """Yield the steps: line of the program, call, passes, executor; then those of each node that ran.

    A node that convolves comes first, rather one that was fetched. What made a node, a line of the program or
    a gradient function, precedes its steps.
    """
    built = metadata.before.nodes if metadata.before else {}
    numbers = {name: number for number, name in enumerate(built)}
    nodes = sorted(
        (node for node in metadata.nodes if node.op not in SILENT),
        key=lambda node: numbers.get(node.name, len(numbers)),
    )
    first = min(nodes, key=lambda node: (not node.loops, node.name not in metadata.fetched), default=None)
    run = [*filter(None, [metadata.called]), *steps_of_passes(metadata)]
    latest: SourceStep | None = None
    if metadata.asked and not nodes:  # a variable that is only read
        yield metadata.asked
    for node in sorted(nodes, key=lambda node: node is not first):
        origins = list(_origins(metadata, node))
        yield from (step for step in origins if step != latest)
        latest = origins[-1]
        yield from run  # once, behind the line of the program
        run.clear()
        yield replace(node.computed, name=f"{node.name}: {node.computed.name}")
        yield from steps_of_backend(node.stages)
    yield from run


def _origins(metadata: RunMetadata, node: NodeStats) -> Iterator[SourceStep]:
    """Yield the line of the program, or the gradient function, that made a node, or each node fused in it."""
    fused = {r.into: r.removed for r in metadata.rewrites if r.optimizer == "remapper"}
    for name in fused.get(node.name, (node.name,)):
        made = metadata.before.nodes.get(name) if metadata.before else None
        if name in metadata.gradients:
            yield metadata.gradients[name]
        elif made is not None:
            yield program_step(made)
        else:  # a node of a function that a node calls
            file, _, line = node.made_at.rpartition(":")
            yield SourceStep("program", node.name, file, int(line))


def program_step(node: NodeDef | Operation) -> SourceStep:
    """Return the line of the program that added a node to the graph, as a step."""
    text = shorten(linecache.getline(node.file, node.line).strip(), 60, placeholder=" ...")
    return SourceStep("program", text, place_of(node.file), node.line, f"adds {node.name}; computes nothing")


def convolves(stages: Sequence[record.Stage]) -> bool:
    """Whether the stages of a kernel's call are those of a convolution with something to sum."""
    return "geometry" in facts_of(stages) and not any(stage.name == "nothing to sum" for stage in stages)


def steps_of_backend(stages: Sequence[record.Stage]) -> Iterator[Found]:
    """Yield what a backend did in a kernel's call, down to the innermost loops; nothing without a backend."""
    facts = facts_of(stages)
    if "backend" in facts:
        ran = Ran(stages) if convolves(stages) else None
        function = getattr(backends.get(facts["backend"]), facts["kind"])
        step = step_at("backend", function, ran.reason() if ran else "")
        yield replace(step, name=f"{facts['backend']} {facts.get('algorithm', '')}")
        if ran:
            yield from ran.kernels()
            yield from ran.lines()


def _what_passes_did(metadata: RunMetadata) -> dict[str, str]:
    """Return for each pass, and the executor, what it did in this run."""
    reasons: dict[str, list[str]] = {}
    for name, placed in metadata.placements.items():
        reasons.setdefault(f"{_short(placed.device)}, {placed.reason}", []).append(name)
    placed_texts = [
        text if len(reasons) == 1 else f"{text}: {', '.join(names)}" for text, names in reasons.items()
    ]
    changes: dict[str, list[str]] = {}
    for rewrite in metadata.rewrites:
        gone = "" if rewrite.removed == (rewrite.into,) else f"{' + '.join(rewrite.removed)} -> "
        changes.setdefault(rewrite.optimizer, []).append(f"{gone}{rewrite.into} ({rewrite.why})")
    changed = {name: f"{name}: {', '.join(texts)}" for name, texts in changes.items()}
    pruned = [node.name for node in metadata.pruned]
    sizes = [
        f"{_short(device)} {tables.count(len(nodes), 'node')}"
        for device, nodes in metadata.partitions.items()
    ]
    parts = [
        f"{len(sizes)} subgraphs: {'; '.join(sizes)}"
        if len(sizes) != 1
        else f"one subgraph, on {_short(next(iter(metadata.partitions)))}",
        *(f"sent: {transfer}" for transfer in metadata.transfers),
    ]
    ran = [node.name for node in metadata.nodes if node.op != "_Arg"]
    starts = ", ".join(f"{node.name} {tables.duration(node.start)}" for node in metadata.nodes)
    return {
        "place": "; ".join(placed_texts),
        "optimise": "; ".join(text for name, text in changed.items() if not name.endswith(IN_PARTITION))
        or "nothing to share, fold or fuse",
        "prune": f"{len(pruned)} of {tables.count(len(metadata.placements), 'node')} not needed"
        + (f": {', '.join(pruned)}" if pruned else ""),
        "partition": "; ".join(
            [*parts, *(text for name, text in changed.items() if name.endswith(IN_PARTITION))]
        ),
        "executor": f"{', '.join(ran) or 'no node'}; started at: {starts}",
    }


def _short(device: str) -> str:
    return device.removeprefix("/device:")
