"""Draws when each node of a run was computed: as SVG, and as a Chrome trace.

TensorFlow: python/client/timeline.py. The format of the trace is the Trace Event Format of chrome://tracing,
with times in microseconds, one bar per node, one row per device and thread, and an arrow for each value.
The SVG has a row for each node, so that nodes of very different durations can be read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from ... import tables
from ...inspection.tracing import loop_text
from ..framework.op_kernel import SILENT

if TYPE_CHECKING:
    from .run_metadata import NodeStats, RunMetadata

__all__ = ["chrome_trace", "timeline_svg"]

_ROWS = 40  # nodes that are drawn; of more, the longest
_ROW, _LEFT, _WIDTH = 16, 230, 900  # pixels: a row's height, the names' column, the whole
_NAME = 34  # letters of a node's name that are shown
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")  # of the devices; their names are in the rows too


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
    events: list[dict[str, Any]] = []
    for pid, device in enumerate(devices):
        events.append({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": device}})
        for thread in sorted({node.thread for node in metadata.nodes if node.device == device}):
            args = {"name": f"thread {thread}"}
            events.append({"name": "thread_name", "ph": "M", "pid": pid, "tid": thread, "args": args})
    device_of = {node.name: node.device for node in metadata.nodes}
    for load in metadata.loads:
        event = {"name": load.name, "cat": "Load", "ph": "X", "tid": load.thread, "args": {"node": load.node}}
        times = {"ts": load.start * 1e6, "dur": load.seconds * 1e6}
        events.append({**event, **times, "pid": devices.index(device_of[load.node])})
    for node in metadata.nodes:
        events.append(
            {
                "name": node.op,
                "cat": "Op",
                "ph": "X",
                "pid": devices.index(node.device),
                "tid": node.thread,
                "ts": node.start * 1e6,
                "dur": (node.end - node.start) * 1e6,
                "args": {
                    "node": node.name,
                    "kernel": node.kernel,
                    "kernel at": node.kernel_at,
                    "backend": f"{node.backend} {node.algorithm}".strip(),
                    "backend at": node.backend_at,
                    "innermost loop": [loop_text(mark) for mark in node.loops],
                    "made at": node.made_at,
                    "output": [list(shape) for shape in node.shapes],
                    "dtype": list(node.dtypes),
                    "bytes": node.nbytes,
                },
            }
        )
    for number, (maker, taker) in enumerate(_edges(list(metadata.nodes), metadata)):
        flow = {"name": "value", "cat": "value", "id": number}
        for phase, node, time in (("s", maker, maker.end), ("f", taker, taker.start)):
            where = {"pid": devices.index(node.device), "tid": node.thread, "ts": time * 1e6}
            events.append({**flow, "ph": phase, **where, **({"bp": "e"} if phase == "f" else {})})
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, indent=1)


def timeline_svg(metadata: RunMetadata) -> str:
    """Draw a run: a row for each node, a bar for its time, an arrow from each value's node to its users.

    Args:
        metadata: the log of the run.

    Returns:
        An SVG element; "" for a log of no run. Nodes that compute nothing, such as constants, are left
        out; of more than 40 others it shows the 40 that took longest.
    """
    compute = [node for node in metadata.nodes if node.op not in SILENT]
    longest = sorted(compute, key=lambda node: node.end - node.start, reverse=True)[:_ROWS]
    nodes = sorted(longest, key=lambda node: (node.start, node.end))
    if not nodes:
        return ""

    def clock(time: float) -> float:  # without the pauses in which something was loaded
        return time - sum(load.seconds for load in metadata.loads if load.start < time)

    begin, end = clock(nodes[0].start), max(clock(node.end) for node in nodes)
    scale = (_WIDTH - _LEFT - 80) / max(end - begin, 1e-9)
    row = {node.name: 30 + _ROW * number for number, node in enumerate(nodes)}
    devices = sorted({node.device for node in metadata.nodes})

    def at(time: float) -> float:
        return _LEFT + (clock(time) - begin) * scale

    parts = []
    for maker, taker in _edges(nodes, metadata):
        x, y, to_x, to_y = at(maker.end), row[maker.name] + 6, at(taker.start), row[taker.name] + 6
        parts.append(
            f'<path d="M{x:.1f} {y}C{x + 12:.1f} {y} {to_x - 12:.1f} {to_y} {to_x:.1f} {to_y}" fill="none" '
            'stroke="currentColor" opacity=".35" marker-end="url(#to)"/>'
        )
    for node in nodes:
        y, seconds = row[node.name], node.end - node.start
        color = _COLORS[devices.index(node.device) % len(_COLORS)]
        name = node.name if len(node.name) <= _NAME else "..." + node.name[3 - _NAME :]
        what = f"{node.name}: {node.op} on {node.device}, {tables.duration(seconds)}, {node.kernel}"
        parts.append(
            f"<g><title>{escape(what)}</title>"
            f'<text x="{_LEFT - 8}" y="{y + 10}" text-anchor="end">{escape(name)}</text>'
            f'<rect x="{at(node.start):.1f}" y="{y}" width="{max(seconds * scale, 1):.1f}" height="12" '
            f'fill="{color}"/>'
            f'<text x="{at(node.end) + 5:.1f}" y="{y + 10}">{tables.duration(seconds)}</text></g>'
        )
    legend = "   ".join(device.removeprefix("/device:") for device in devices)
    left_out = len(compute) - len(nodes)
    note = f"; {tables.count(left_out, 'shorter node')} not shown" if left_out else ""
    height = 30 + _ROW * len(nodes) + 6
    caption = f"{tables.duration(end - begin)} on {legend}{note}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="timeline: {escape(caption)}" '
        f'viewBox="0 0 {_WIDTH} {height}" style="width:100%;min-width:640px;max-width:{_WIDTH}px" '
        'font-family="system-ui, sans-serif" font-size="11" fill="currentColor">'
        '<defs><marker id="to" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="5" markerHeight="5" '
        'orient="auto"><path d="M0 0L6 3L0 6z" fill="currentColor"/></marker></defs>'
        f'<text x="{_LEFT}" y="16">{escape(caption)}</text>{"".join(parts)}</svg>'
    )


def _edges(nodes: list[NodeStats], metadata: RunMetadata) -> Iterator[tuple[NodeStats, NodeStats]]:
    """Yield, for each value that one of the nodes gives to another, its maker and its user."""
    ran = {node.name: node for node in nodes}
    if metadata.after is None:
        return
    for name, node in ran.items():
        for source in dict.fromkeys(metadata.after.nodes[name].inputs):
            if source in ran:
                yield ran[source], node
