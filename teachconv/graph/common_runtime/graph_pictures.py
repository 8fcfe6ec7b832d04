"""Pictures of a graph as an indented text tree, as DOT, and as SVG.

TensorFlow shows its graphs in TensorBoard. The text needs no other program; the SVG needs graphviz's program
``dot`` (graphviz.org). Shapes and dashes carry all information; colours are redundant.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING

from ... import tables
from ..framework import tensor_shape
from ..framework.node_def import NodeDef, from_operation

if TYPE_CHECKING:
    from ..framework.ops import Graph
    from .graph_execution_state import Executable
    from .run_metadata import NodeStats

__all__ = ["GraphPicture", "picture_graph"]

_LINES = 200  # limit for the lines of a tree and the nodes of a drawing
_INDENT = 24
_STYLES = {
    "": "",
    "pruned": ' style="dashed" color="#888888" fontcolor="#888888"',
    "folded": ' style="filled" fillcolor="#F0E442"',
    "fused": ' style="filled,bold" fillcolor="#9AD0F5"',
    "merged": ' style="filled" fillcolor="#F5C9A0"',
    "copy": ' style="bold" shape="cds"',
    "fed": ' shape="house"',
}


@dataclass(frozen=True)
class PictureNode:
    """One node of a picture.

    Attributes:
        name: the node's name.
        op: the op's name.
        gives: shape and dtype of its outputs.
        inputs: the names of the nodes it reads.
        control_inputs: the names of the nodes it waits for.
        mark: "pruned", "folded", "fused", "merged", "copy", "fed" or "".
    """

    name: str
    op: str
    gives: str
    inputs: tuple[str, ...]
    control_inputs: tuple[str, ...]
    mark: str = ""


@dataclass(frozen=True, repr=False)
class GraphPicture:
    """A picture of a graph.

    Attributes:
        title: the first line.
        nodes: the nodes by name.
        roots: the nodes that were fetched or that no other node reads.
    """

    title: str
    nodes: dict[str, PictureNode]
    roots: tuple[str, ...]

    def tree(self) -> str:
        """Return the graph as text, with the inputs of each node indented below it.

        Returns:
            The text; a node that is shown again appears only with its name.
        """
        lines, shown = [self.title], set()
        stack = [(name, 0, "") for name in reversed(self.roots)]
        while stack:
            name, depth, prefix = stack.pop()
            if len(lines) > _LINES:
                lines.append(f"... and more: {tables.count(len(self.nodes), 'node')} in all")
                break
            indent = "  " * min(depth, _INDENT) + prefix
            node = self.nodes.get(name)
            if node is None:
                continue
            if name in shown:
                lines.append(f"{indent}{name} (above)")
                continue
            shown.add(name)
            mark = f" [{node.mark}]" if node.mark else ""
            lines.append(f"{indent}{name}  {node.op} {node.gives}".rstrip() + mark)
            below = [(other, depth + 1, "") for other in node.inputs]
            below += [(other, depth + 1, "^") for other in node.control_inputs]
            stack += reversed(below)
        return "\n".join(lines)

    def to_dot(self) -> str:
        """Return the graph in graphviz's language.

        Returns:
            The DOT text. Values flow downwards, control dependencies are dotted, and each name scope with
            several nodes, such as ``gradients/Conv2D_grad/``, is a box.
        """
        nodes = list(self.nodes.values())[:_LINES]
        drawn = {node.name for node in nodes}
        lines = [
            "digraph {",
            f'  label="{_quoted(self.title)}" labelloc="t" fontname="sans-serif" fontcolor="#777777" '
            'bgcolor="transparent"',
            '  node [shape="box" fontname="sans-serif" fontsize="10" style="filled" fillcolor="white"]',
            '  edge [arrowsize="0.6" color="#777777"]',  # reads on light and on dark pages
        ]
        lines += _boxes(nodes, "")
        for node in nodes:
            for other in node.inputs:
                if other in drawn:
                    lines.append(f'  "{_quoted(other)}" -> "{_quoted(node.name)}"')
            for other in node.control_inputs:
                if other in drawn:
                    lines.append(f'  "{_quoted(other)}" -> "{_quoted(node.name)}" [style="dotted"]')
        return "\n".join([*lines, "}"])

    def to_svg(self) -> str | None:
        """Return the graph as SVG.

        Returns:
            The SVG text, or None if graphviz's program ``dot`` is not installed.
        """
        if shutil.which("dot") is None:
            return None
        done = subprocess.run(
            ["dot", "-Tsvg"],
            input=self.to_dot(),
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
        )
        return done.stdout[done.stdout.index("<svg") :]

    def __str__(self) -> str:
        return self.tree()

    def __repr__(self) -> str:
        return f"<GraphPicture: {self.title}, {tables.count(len(self.nodes), 'node')}>"

    def _repr_html_(self) -> str:
        svg = self.to_svg()
        return f"<pre style='line-height:1.3'>{escape(self.tree())}</pre>" if svg is None else svg


def _boxes(nodes: Iterable[PictureNode], scope: str) -> Iterator[str]:
    """Yield the nodes of a scope in DOT; scopes inside it that have several nodes are boxes."""
    inside: dict[str, list[PictureNode]] = {}
    for node in nodes:
        first, slash, _ = node.name[len(scope) :].partition("/")
        inside.setdefault(f"{scope}{first}/" if slash else "", []).append(node)
    for inner, members in inside.items():
        if inner and len(members) > 1:
            label = f'label="{_quoted(inner[len(scope) :])}" labeljust="l" fontname="sans-serif" fontsize="9"'
            yield f'  subgraph "cluster_{_quoted(inner)}" {{ {label} color="#aaaaaa" fontcolor="#777777"'
            yield from _boxes(members, inner)
            yield "  }"
            continue
        for node in members:
            gives = f"\\n{_quoted(node.gives)}" if node.gives else ""
            text = f"{_quoted(node.name[len(scope) :])}\\n{_quoted(node.op)}{gives}"
            mark = f" ({node.mark})" if node.mark else ""
            yield f'  "{_quoted(node.name)}" [label="{text}{mark}"{_STYLES[node.mark]}]'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


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
    marks = {node.name: "pruned" for node in executable.pruned}
    for rewrite in executable.rewrites:
        mark = {"constant folding": "folded", "remapper": "fused"}.get(rewrite.optimizer, "merged")
        marks |= dict.fromkeys(rewrite.removed, mark)
    graph = executable.graph
    nodes = [from_operation(op) for op in graph.get_operations()]
    fed = {node.name.removeprefix("_arg_").rsplit("_", 2)[0] for node in _arguments(executable)}
    marks |= dict.fromkeys(fed, "fed")
    return _picture("before: the graph as it was built", nodes, _static(graph), marks, ())


def picture_after(executable: Executable, stats: Iterable[NodeStats]) -> GraphPicture:
    """Return the graph that ran, with the actual shapes."""
    gives = {node.name: _gives(node) for node in stats}
    folded = [r.into for r in executable.rewrites if r.optimizer == "constant folding"]
    marks = dict.fromkeys(folded, "folded")
    marks |= {r.into: "fused" for r in executable.rewrites if r.optimizer == "remapper"}
    marks |= {node.name: "copy" for pair in executable.transfers for node in (pair.send, pair.recv)}
    sends = {pair.recv.name: pair.send.name for pair in executable.transfers}
    marks |= {node.name: "fed" for node in _arguments(executable)}
    wanted = tuple(sorted(executable.subgraph.wanted))
    nodes = [node for part in executable.partitions.values() for node in part.values()]
    return _picture("after: what ran", nodes, gives, marks, wanted, sends)


def _arguments(executable: Executable) -> list[NodeDef]:
    return [node for node in executable.subgraph.nodes.values() if node.op == "_Arg"]


def _gives(node: NodeStats) -> str:
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
    drawn = {
        node.name: PictureNode(
            node.name,
            node.op,
            gives.get(node.name, ""),
            (*(name for name, _ in node.inputs), *((sends[node.name],) if node.name in sends else ())),
            node.control_inputs,
            marks.get(node.name, ""),
        )
        for node in nodes
    }
    read = {name for node in drawn.values() for name in (*node.inputs, *node.control_inputs)}
    loose = tuple(name for name in drawn if name not in read and name not in wanted)
    return GraphPicture(title, drawn, wanted + loose)
