"""The log of a run: what was pruned, folded, fused and placed, and which code computed each node.

TensorFlow: RunMetadata and StepStats (core/framework/step_stats.proto), which
``session.run(..., run_metadata=...)`` fills. It prints as a table, shows as HTML in a notebook, draws the
graph before and after (graph_pictures.py) and writes a file for chrome://tracing (timeline.py).
"""

from __future__ import annotations

import inspect
import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import backends, record, tables
from .graph_pictures import GraphPicture, picture_after, picture_before
from .op_kernel import OpKernelContext

if TYPE_CHECKING:
    from .executor import Item
    from .graph_execution_state import Executable
    from .node_def import NodeDef, Rewrite
    from .placer import Placement

__all__ = ["NodeStats", "RunMetadata"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@dataclass(frozen=True)
class NodeStats:
    """One node that ran: what it is, where and by which code, what it gave, and when.

    ``made_at`` is the line of the program that made the node, ``kernel_at`` the kernel's class,
    ``backend_at`` the function of the backend that it called ("" where it called none); all as
    ``file:line``. ``shapes``, ``dtypes`` and ``nbytes`` are those of the outputs; ``start`` and ``end``
    are seconds since the start of the run, ``thread`` the number of the thread.
    """

    name: str
    op: str
    device: str
    kernel: str
    kernel_at: str
    backend: str
    algorithm: str
    backend_at: str
    made_at: str
    shapes: tuple[tuple[int, ...], ...]
    dtypes: tuple[str, ...]
    nbytes: int
    start: float
    end: float
    thread: int


class Recorder:
    """Collects a run's node statistics while it goes on; the executor tells it each step."""

    def __init__(self) -> None:
        self.nodes: list[NodeStats] = []
        self.peak_bytes = 0
        self._begin = time.perf_counter()
        self._threads: dict[int, int] = {}
        self._live: dict[int, tuple[int, int]] = {}  # buffer -> (uses, bytes): views share one
        self._bytes = 0

    def compute(self, item: Item, context: OpKernelContext, inputs: list[Any]) -> Any:
        """Compute a node, and keep what is to be known about it."""
        start = time.perf_counter() - self._begin
        with record.recording() as stages:
            result = item.compute(context, *inputs)
        end = time.perf_counter() - self._begin
        facts: dict[str, str] = {}
        for stage in stages:
            facts |= stage.facts
        node, kernel = item.node, item.kernel_def
        outputs = (result,) if item.outputs == 1 else result
        thread = self._threads.setdefault(threading.get_ident(), len(self._threads))
        self.nodes.append(
            NodeStats(
                node.name,
                node.op,
                node.device,
                str(kernel),
                place(kernel.file, kernel.line),
                facts.get("backend", ""),
                facts.get("algorithm", ""),
                _backend_at(facts.get("backend"), item.kernel.backend_function),
                place(node.file, node.line),
                tuple(tuple(output.shape or ()) for output in outputs),
                tuple(output.dtype.name for output in outputs),
                sum(output.nbytes for output in outputs),
                start,
                end,
                thread,
            )
        )
        return result

    def stored(self, value: Any) -> None:
        """Count a value that is kept for later nodes; a view counts as the array behind it."""
        buffer = _buffer(value)
        if buffer is not None:
            uses, nbytes = self._live.get(id(buffer), (0, buffer.nbytes))
            self._live[id(buffer)] = (uses + 1, nbytes)
            self._bytes += 0 if uses else nbytes
            self.peak_bytes = max(self.peak_bytes, self._bytes)

    def freed(self, value: Any) -> None:
        """Count a value that was let go."""
        buffer = _buffer(value)
        if buffer is not None:
            uses, nbytes = self._live.pop(id(buffer))
            if uses > 1:
                self._live[id(buffer)] = (uses - 1, nbytes)
            else:
                self._bytes -= nbytes


def _buffer(value: Any) -> np.ndarray | None:
    while isinstance(value, np.ndarray) and isinstance(value.base, np.ndarray):
        value = value.base
    return value if isinstance(value, np.ndarray) else None


def _backend_at(backend: str | None, function: str | None) -> str:
    """File and line of the backend's function."""
    if not backend or not function:
        return ""
    code = inspect.unwrap(getattr(backends.get(backend), function)).__code__
    return place(code.co_filename, code.co_firstlineno)


def place(file: str, line: int) -> str:
    """``file:line``, the file relative to the package's parent where it is inside."""
    path = os.path.abspath(file)
    if path.startswith(_PACKAGE + os.sep):
        path = os.path.relpath(path, _PACKAGE)
    return f"{path}:{line}"


@dataclass(repr=False)
class RunMetadata(tables.Report):
    """What one run did. Pass an empty one to ``session.run(..., run_metadata=metadata)``.

    ``pruned`` are the nodes that the run did not need, ``rewrites`` what each optimiser did,
    ``placements`` device and reason by node, ``copies`` the nodes that copy between devices, ``nodes`` the
    statistics of what ran, in the order of their end; ``peak_bytes`` is the most that was held at once
    for nodes to come.

    >>> from teachconv import graph as tg
    >>> metadata = tg.RunMetadata()
    >>> with tg.Graph().as_default(), tg.Session() as session:
    ...     x = tg.placeholder("float32", [2], name="x")
    ...     y = x * (tg.constant(1.0) + 2.0)
    ...     unused = x - 1.0
    ...     result = session.run(y, {x: [1, 2]}, run_metadata=metadata)
    >>> [node.name for node in metadata.pruned], [rewrite.into for rewrite in metadata.rewrites]
    (['x', 'sub/y', 'sub'], ['add'])
    >>> [node.name for node in metadata.nodes]
    ['_arg_x_0_0', 'add', 'mul']
    """

    pruned: tuple[NodeDef, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    placements: dict[str, Placement] = field(default_factory=dict)
    copies: tuple[NodeDef, ...] = ()
    nodes: tuple[NodeStats, ...] = ()
    peak_bytes: int = 0
    before: GraphPicture | None = None
    after: GraphPicture | None = None

    def fill(self, executable: Executable, recorder: Recorder) -> None:
        """Take over what a run left behind; the executor's side of it."""
        self.pruned, self.rewrites = executable.pruned, executable.rewrites
        self.placements, self.copies = executable.placements, executable.copies
        self.nodes, self.peak_bytes = tuple(recorder.nodes), recorder.peak_bytes
        self.before = picture_before(executable)
        self.after = picture_after(executable, self.nodes)

    @property
    def seconds(self) -> float:
        """From the start of the run to the end of the last node."""
        return max((node.end for node in self.nodes), default=0.0)

    # --- as text ---------------------------------------------------------------------------------

    def _events(self) -> list[str]:
        lines = [f"pruned: {_some([node.name for node in self.pruned])}"]
        for rewrite in self.rewrites:
            gone = "" if rewrite.removed == (rewrite.into,) else f"{' + '.join(rewrite.removed)} -> "
            lines.append(f"{rewrite.optimizer}: {gone}{rewrite.into} ({rewrite.why})")
        for name, placement in self.placements.items():
            if placement.soft:
                lines.append(f"placed: {name} on {placement.device} ({placement.reason})")
        lines += [f"copied: {copy.inputs[0][0]} to {copy.device} by {copy.name}" for copy in self.copies]
        return lines

    def _headline(self) -> str:
        if not self.nodes and self.before is None:
            return "RunMetadata of no run yet: session.run(..., run_metadata=this)"
        ran = tables.count(len(self.nodes), "node")
        return f"{ran} ran in {tables.duration(self.seconds)}, {tables.size(self.peak_bytes)} held at most"

    def _table(self) -> tables.Table:
        if not self.nodes and self.before is None:
            return tables.Table((), [], self._headline())
        columns = (
            *tables.left("node", "op", "device", "kernel", "backend", "output"),
            *tables.right("size", "start", "time"),
            *tables.left("made at"),
        )
        return tables.Table(columns, [_cells(node) for node in self.nodes], self._headline(), self._events())

    def _repr_html_(self) -> str:
        table = self._table().html()
        if self.before is None or self.after is None:
            return table
        return (
            f"<div><div style='overflow-x:auto'>{table}</div>"
            f"<details><summary>the graph before</summary>{self.before._repr_html_()}</details>"
            f"<details open><summary>what ran</summary>{self.after._repr_html_()}</details></div>"
        )

    # --- as a file -------------------------------------------------------------------------------

    def save_html(self, path: str | Path, top: str = "") -> None:
        """Write the log as a page that any browser shows; ``top`` is HTML to put before it."""
        page = (
            "<!doctype html><meta charset='utf-8'><title>RunMetadata</title>"
            "<style>:root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:1.5em}"
            "td,th{padding:.15em .8em .15em 0;white-space:nowrap}td{font-family:ui-monospace,monospace;"
            f"font-size:12px}}</style>{top}{self._repr_html_()}"
        )
        Path(path).write_text(page, encoding="utf-8")

    def save_chrome_trace(self, path: str | Path) -> None:
        """Write the run for chrome://tracing or https://ui.perfetto.dev."""
        from .timeline import chrome_trace

        Path(path).write_text(chrome_trace(self), encoding="utf-8")


def _cells(node: NodeStats) -> tuple[str, ...]:
    """The row of a node in the table of a run."""
    outputs = zip(node.shapes, node.dtypes, strict=True)
    return (
        node.name,
        node.op,
        node.device.removeprefix("/device:"),
        f"{node.kernel.partition(' ')[0]} {node.kernel_at}",
        f"{node.backend} {node.algorithm} {node.backend_at}".strip(),
        ", ".join(f"{list(shape)} {dtype}" for shape, dtype in outputs),
        tables.size(node.nbytes),
        tables.duration(node.start),
        tables.duration(node.end - node.start),
        node.made_at,
    )


def _some(names: list[str]) -> str:
    if not names:
        return "nothing"
    return f"{tables.count(len(names), 'node')}: {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"
