"""The log of a run: which nodes were placed, folded, fused and pruned, and which code computed each node.

TensorFlow: RunMetadata and StepStats (core/framework/step_stats.proto), which
``session.run(..., run_metadata=...)`` fills. The log prints as a table, shows as HTML in a notebook, draws
the graph before and after the passes and writes a chrome://tracing file (graph_pictures.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ... import backends
from ...inspection import marks
from ...inspection.sources import SourceChain, SourceStep, step_at
from ...inspection.tracing import facts_of, innermost_loops, loop_text
from ...support import record, tables
from ...support.files import path_of
from ..framework.op_kernel import OpKernelContext
from .graph_pictures import GraphPicture, chrome_trace, gives_of, picture_after, picture_before
from .run_steps import chain_of_run, compute_step, gradient_step, steps_of_passes

if TYPE_CHECKING:
    from ..framework.node_def import NodeDef, Rewrite
    from .executor import Item
    from .graph_execution_state import Executable
    from .graph_partition import Transfer
    from .placer import Placement


@dataclass(frozen=True)
class NodeStats:
    """The statistics of one node that ran.

    Attributes:
        name: the node's name.
        op: the op's name.
        device: the device it ran on.
        kernel: the kernel's class with op, device and label.
        kernel_at: ``file:line`` of the kernel's class.
        backend: the backend that the kernel called, or "".
        algorithm: the backend's algorithm, or "".
        backend_at: ``file:line`` of the backend's function, or "".
        loops: the mark of each innermost loop that ran (inspection/marks.py): its file, line and text.
        made_at: ``file:line`` of the program that created the node.
        shapes: the shapes of the outputs.
        dtypes: the dtypes of the outputs.
        nbytes: the bytes of the outputs.
        start: seconds from the start of the run until the node started.
        end: seconds from the start of the run until the node ended.
        computed: the kernel's ``compute``, or the function that is one, as a step of `find_source`.
        stages: the stages of the kernel's call, as `teachconv.trace` shows them.
    """

    name: str
    op: str
    device: str
    kernel: str
    kernel_at: str
    backend: str
    algorithm: str
    backend_at: str
    loops: tuple[marks.SourceLine, ...]
    made_at: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    nbytes: int
    start: float
    end: float
    computed: SourceStep
    stages: tuple[record.Stage, ...] = field(default=(), repr=False)


class StepStatsCollector:
    """Collects the statistics of nodes during a run; the executor reports each step to it."""

    def __init__(self) -> None:
        self.nodes: list[NodeStats] = []
        marks.read()  # they name the innermost loops; the time to read them must not count as part of the run
        self._begin = record.clock()

    def compute(self, item: Item, context: OpKernelContext, inputs: list[Any]) -> Any:
        """Compute a node and record its statistics."""
        start = record.clock() - self._begin
        with record.recording() as stages:
            result = item.compute(context, *inputs)
        end = record.clock() - self._begin
        node, kernel = item.node, item.kernel_def
        facts = facts_of(stages)
        outputs = (result,) if item.outputs == 1 else result
        backend, function = facts.get("backend", ""), item.kernel.backend_function
        self.nodes.append(
            NodeStats(
                node.name,
                node.op,
                node.device,
                str(kernel),
                f"{marks.place(kernel.file)}:{kernel.line}",
                backend,
                facts.get("algorithm", ""),
                step_at("backend", getattr(backends.get(backend), function)).where
                if backend and function
                else "",
                tuple(innermost_loops(facts)),
                f"{marks.place(node.file)}:{node.line}",
                tuple(tuple(output.shape or ()) for output in outputs),
                tuple(output.dtype.name for output in outputs),
                sum(output.nbytes for output in outputs),
                start,
                end,
                compute_step(kernel),
                tuple(stages),
            )
        )
        return result


@dataclass(repr=False)
class RunMetadata(tables.Report):
    """The log of one run. Pass an empty one to ``session.run(..., run_metadata=metadata)``.

    Attributes:
        pruned: the nodes that the run did not need.
        rewrites: the changes made by the optimisers.
        placements: device and reason by node name.
        partitions: the names of the nodes of each device.
        transfers: the pairs of _Send and _Recv that bring values from one device to another.
        nodes: the statistics of the nodes that ran, in order of completion.
        before: the graph as it was built.
        after: the graph that ran.
        asked: the line of the program that added the first node that is fetched, as a step of `find_source`.
        called: the call that ran it, such as `Session.run`, as a step too.
        fetched: the names of the nodes that were fetched.
        gradients: the gradient function of each node that one made, of the nodes that ran.

    Printed, a log shows the chain of steps that `teachconv.find_source` shows for the run; ``print(log.all)``
    shows a table of the nodes that ran, with sizes and times.

    >>> from teachconv import graph as tg
    >>> metadata = tg.RunMetadata()
    >>> with tg.Graph().as_default(), tg.Session() as session:
    ...     x = tg.placeholder("float32", [2], name="x")
    ...     y = x * (tg.constant(1.0) + 2.0)
    ...     unused = x - 1.0
    ...     result = session.run(y, {x: [1, 2]}, run_metadata=metadata)
    >>> [node.name for node in metadata.pruned], [rewrite.into for rewrite in metadata.rewrites]
    (['x', 'Const', 'add/y', 'sub/y', 'sub'], ['add'])
    >>> [node.name for node in metadata.nodes]
    ['_arg_x_0_0', 'add', 'mul']
    """

    pruned: tuple[NodeDef, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    placements: dict[str, Placement] = field(default_factory=dict)
    partitions: dict[str, tuple[str, ...]] = field(default_factory=dict)
    transfers: tuple[Transfer, ...] = ()
    nodes: tuple[NodeStats, ...] = ()
    before: GraphPicture | None = None
    after: GraphPicture | None = None
    asked: SourceStep | None = None
    called: SourceStep | None = None
    fetched: frozenset[str] = frozenset()
    gradients: dict[str, SourceStep] = field(default_factory=dict)

    def fill(self, executable: Executable, recorder: StepStatsCollector) -> None:
        """Fill the log from an executable and the recorder of a run."""
        self.pruned, self.rewrites = executable.pruned, executable.rewrites
        self.placements, self.transfers = executable.placements, executable.transfers
        self.partitions = {device: tuple(nodes) for device, nodes in executable.partitions.items()}
        self.nodes = tuple(recorder.nodes)
        self.fetched = executable.subgraph.wanted
        ran = {node.name for node in self.nodes} | {name for r in self.rewrites for name in r.removed}
        self.gradients = {
            op.name: gradient_step(op.original_op, f"of {op.original_op.name}")
            for op in executable.graph.get_operations()
            if op.original_op is not None and op.name in ran
        }
        self.before = picture_before(executable)
        self.after = picture_after(executable, self.nodes)

    @property
    def seconds(self) -> float:
        """Seconds from the start of the run to the end of the last node."""
        return max((node.end for node in self.nodes), default=0.0)

    @property
    def chain(self) -> SourceChain:
        """The steps of the run with file and line, as `teachconv.find_source` shows them."""
        return chain_of_run(self)

    # --- as text ---------------------------------------------------------------------------------

    @property
    def all(self) -> tables.Table:
        """The nodes that ran, with sizes and times."""
        return self._table()

    def _as_text(self, room: int = 100) -> str:
        return str(self.chain) if self.before else super()._as_text(room)

    def _passes(self) -> list[str]:
        return [f"{step.what}: {step.note}" for step in steps_of_passes(self)]

    def _headline(self) -> str:
        if not self.nodes and self.before is None:
            return "RunMetadata of no run yet: session.run(..., run_metadata=this)"
        return f"{tables.count(len(self.nodes), 'node')} ran in {tables.duration(self.seconds)}"

    def _table(self) -> tables.Table:
        if not self.nodes and self.before is None:
            return tables.Table((), [], self._headline())
        columns = (
            *tables.left("node"),
            *tables.right("size", "start", "time"),
            *tables.left("op, output, device, line of the program; kernel; backend and loops"),
        )
        return tables.Table(columns, [_cells(node) for node in self.nodes], self._headline(), self._passes())

    def _repr_html_(self) -> str:
        table = self._table()
        if self.before is None or self.after is None:
            return table.html()
        events = "<br>".join(map(escape, self._passes()))
        wide = "<div style='overflow-x:auto'>{}</div>"
        return (
            f"<div><p>{escape(self._headline())}</p>"
            f"<details><summary>what was changed before the run</summary>{events}</details>"
            f"<details open><summary>what ran</summary>"
            f"{wide.format(tables.Table(table.columns, table.rows).html())}</details>"
            f"<details><summary>the graph as it was built</summary>{self.before._repr_html_()}</details>"
            f"<details open><summary>the graph that ran</summary>{self.after._repr_html_()}</details></div>"
        )

    # --- as a file -------------------------------------------------------------------------------

    def save_html(self, path: str | Path, top: str = "") -> None:
        """Write the log as an HTML page.

        Args:
            path: the file to write.
            top: HTML to insert before the log.
        """
        page = (
            "<!doctype html><meta charset='utf-8'><title>RunMetadata</title>"
            "<style>:root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:1.5em}"
            "td,th{padding:.15em .8em .15em 0;white-space:nowrap}"
            "td{font-family:ui-monospace,monospace;"
            f"font-size:12px}}</style>{top}{self._repr_html_()}"
        )
        path_of(path).write_text(page, encoding="utf-8")

    def save_chrome_trace(self, path: str | Path) -> None:
        """Write the run as a file for chrome://tracing or https://ui.perfetto.dev.

        Args:
            path: the file to write.
        """
        path_of(path).write_text(chrome_trace(self), encoding="utf-8")


def _cells(node: NodeStats) -> tuple[tables.Cell, ...]:
    """The row of a node in the table of a run."""
    what = f"{node.op} {gives_of(node)}".rstrip()
    return (
        node.name,
        tables.size(node.nbytes),
        tables.duration(node.start),
        tables.duration(node.end - node.start),
        [
            f"{what} on {node.device.removeprefix('/device:')}, {node.made_at}".removesuffix(", "),
            f"{node.kernel.partition(' ')[0]} {node.kernel_at}",
            *filter(None, [f"{node.backend} {node.algorithm} {node.backend_at}".strip()]),
            *map(loop_text, node.loops),
        ],
    )
