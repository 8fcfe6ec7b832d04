"""Pictures: a graph as an indented text tree; a run as a trace.

TensorFlow shows its graphs in TensorBoard, and its runs through python/client/timeline.py. A trace is in the
Trace Event Format of chrome://tracing, with times in microseconds, one bar per node, one row per device, and
an arrow for each value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from html import escape
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...inspection.tracing import loop_text
from ...support import tables
from ..framework import tensor_shape
from ..framework.node_def import NodeDef, Nodes, before, from_operation

if TYPE_CHECKING:
    from ..framework.ops import Graph
    from .graph_execution_state import Executable
    from .run_metadata import NodeStats, RunMetadata


_LINES = 200  # limit for the lines of a tree
_INDENT = 24


@dataclass(frozen=True, repr=False)
class GraphPicture:
    """A picture of a graph.

    Attributes:
        title: the first line.
        nodes: the nodes by name.
        roots: the nodes that were fetched or that no other node reads.
        gives: shape and dtype of the outputs of a node.
        marks: "pruned", "folded", "fused", "merged", "copy" or "fed", for some nodes.
    """

    title: str
    nodes: Nodes
    roots: tuple[str, ...]
    gives: Mapping[str, str]
    marks: Mapping[str, str]

    def tree(self) -> str:
        """Return the graph as text, with the inputs of each node indented below it.

        Returns:
            The text; a node that is shown again appears only with its name.
        """
        lines = [self.title, *islice(self._below(self.roots, 0, set()), _LINES + 1)]
        if len(lines) > _LINES + 1:
            lines[-1] = f"... and more: {tables.count(len(self.nodes), 'node')} in all"
        return tables.Table((), [], lines=lines).text()

    __str__ = tree

    def _below(self, names: Iterable[str], depth: int, shown: set[str]) -> Iterator[str]:
        """Yield the lines of some inputs of a node, written as in a NodeDef, and of what is below them."""
        for name in names:
            indent, node = "  " * min(depth, _INDENT) + "^" * name.count("^"), self.nodes.get(name.strip("^"))
            if node is None:
                continue
            if node.name in shown:
                yield f"{indent}{node.name} (above)"
                continue
            shown.add(node.name)
            mark = f" [{self.marks[node.name]}]" if node.name in self.marks else ""
            yield f"{indent}{node.name}  {node.op} {self.gives.get(node.name, '')}".rstrip() + mark
            inputs = [*(other for other, _ in node.inputs), *(f"^{other}" for other in node.control_inputs)]
            yield from self._below(inputs, depth + 1, shown)

    def __repr__(self) -> str:
        return f"<GraphPicture: {self.title}, {tables.count(len(self.nodes), 'node')}>"

    def _repr_html_(self) -> str:
        return tables.pre(escape(self.tree()), "line-height:1.3")


# ---------------------------------------------------------------------------------------------
# Pictures of a graph and of a run
# ---------------------------------------------------------------------------------------------


def picture_graph(graph: Graph, title: str = "the graph") -> GraphPicture:
    """Return a picture of a whole graph with its static shapes.

    Args:
        graph: the graph.
        title: the first line.

    Returns:
        The picture.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default() as graph:
    ...     y = tg.nn.relu(tg.placeholder("float32", [2], name="x") - 1.0)
    >>> print(picture_graph(graph))
    the graph
    Relu  Relu [2] float32
      sub  Sub [2] float32
        x  Placeholder [2] float32
        sub/y  Const [] float32
    """
    return _picture(title, [from_operation(op) for op in graph.get_operations()], _static(graph), {}, ())


def picture_before(executable: Executable) -> GraphPicture:
    """Return the graph as the program built it, with a mark for what the passes did to each node."""
    words = {"constant folding": "folded", "remapper": "fused"}
    fed = (node.name.removeprefix("_arg_").rsplit("_", 2)[0] for node in _arguments(executable))
    marks = {
        **{node.name: "pruned" for node in executable.pruned},
        **{name: words.get(r.optimizer, "merged") for r in executable.rewrites for name in r.removed},
        **dict.fromkeys(fed, "fed"),
    }
    graph = executable.graph
    nodes = [from_operation(op) for op in graph.get_operations()]
    return _picture("before: the graph as it was built", nodes, _static(graph), marks, ())


def picture_after(executable: Executable, stats: Iterable[NodeStats]) -> GraphPicture:
    """Return the graph that ran, with the actual shapes."""
    gives = {node.name: gives_of(node) for node in stats}
    marks = {
        **{r.into: "folded" for r in executable.rewrites if r.optimizer == "constant folding"},
        **{r.into: "fused" for r in executable.rewrites if r.optimizer == "remapper"},
        **{node.name: "copy" for pair in executable.transfers for node in (pair.send, pair.recv)},
        **{node.name: "fed" for node in _arguments(executable)},
    }
    sends = {pair.recv.name: pair.send.name for pair in executable.transfers}
    wanted = tuple(sorted(executable.subgraph.wanted))
    nodes = [node for part in executable.partitions.values() for node in part.values()]
    return _picture("after: what ran", nodes, gives, marks, wanted, sends)


def _arguments(executable: Executable) -> list[NodeDef]:
    return [node for node in executable.subgraph.nodes.values() if node.op == "_Arg"]


def gives_of(node: NodeStats) -> str:
    """Return the shapes and dtypes of what a node returned."""
    return ", ".join(f"{list(shape)} {dtype}" for shape, dtype in zip(node.shapes, node.dtypes, strict=True))


def _static(graph: Graph) -> dict[str, str]:
    return {
        op.name: ", ".join(
            f"{tensor_shape.text(tensor_shape.as_shape(out.shape))} {out.dtype.name}" for out in op.outputs
        )
        for op in graph.get_operations()
    }


def _picture(
    title: str,
    nodes: Iterable[NodeDef],
    gives: dict[str, str],
    marks: dict[str, str],
    wanted: tuple[str, ...],
    sends: Mapping[str, str] = MappingProxyType({}),
) -> GraphPicture:
    drawn = {node.name: node for node in nodes}
    drawn |= {name: replace(drawn[name], inputs=((send, 0),)) for name, send in sends.items()}
    read = {name for node in drawn.values() for name in before(node)}
    loose = tuple(name for name in drawn if name not in read and name not in wanted)
    return GraphPicture(title, drawn, wanted + loose, gives, marks)


def chrome_trace(metadata: RunMetadata) -> str:
    """Return the trace of a run as JSON.

    Args:
        metadata: the log of the run.

    Returns:
        The JSON text.

    >>> import json
    >>> from teachconv import graph as tg
    >>> json.loads(chrome_trace(tg.RunMetadata()))["traceEvents"]
    []
    """
    devices = sorted({node.device for node in metadata.nodes})
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": device}}
        for pid, device in enumerate(devices)
    ]
    events += [
        {
            "name": node.op,
            "cat": "Op",
            "ph": "X",
            "pid": devices.index(node.device),
            "tid": 0,
            "ts": node.start * 1e6,
            "dur": (node.end - node.start) * 1e6,
            "args": {
                "node": node.name,
                "kernel": node.kernel,
                "kernel at": node.kernel_at,
                "backend": f"{node.backend} {node.algorithm}".strip(),
                "backend at": node.backend_at,
                "innermost loop": list(map(loop_text, node.loops)),
                "made at": node.made_at,
                "output": list(map(list, node.shapes)),
                "dtype": list(node.dtypes),
                "bytes": node.nbytes,
            },
        }
        for node in metadata.nodes
    ]
    events += [
        {
            "name": "value",
            "cat": "value",
            "id": number,
            "pid": devices.index(node.device),
            "tid": 0,
            **phase,
        }
        for number, (maker, user) in enumerate(_edges(metadata))
        for node, phase in (
            (maker, {"ph": "s", "ts": maker.end * 1e6}),
            (user, {"ph": "f", "ts": user.start * 1e6, "bp": "e"}),
        )
    ]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, indent=1)


def _edges(metadata: RunMetadata) -> list[tuple[NodeStats, NodeStats]]:
    """Return, for each value that one node gives to another, its maker and its user."""
    ran = {node.name: node for node in metadata.nodes}
    nodes = metadata.after.nodes if metadata.after else {}
    return [
        (ran[source], node)
        for name, node in ran.items()
        for source in dict.fromkeys(source for source, _ in nodes[name].inputs)
        if source in ran
    ]
