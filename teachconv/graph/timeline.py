"""Writes a run as a Chrome trace, with one bar per node and one row per device and thread.

TensorFlow: python/client/timeline.py. The format is the Trace Event Format of chrome://tracing, with times
in microseconds.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..inspection.tracing import loop_text

if TYPE_CHECKING:
    from .run_metadata import RunMetadata

__all__ = ["chrome_trace"]


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
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns"}, indent=1)
