"""Writes docs/graph_tables.inc, the tables in docs/graph.md that compare TensorFlow's runs with teachconv's.

    python docs/graph_tables.py            (tests/graph/test_tensorflow.py fails if the file is out of date)

TensorFlow's runs are recorded in tests/recorded/tensorflow_graph.json; this script runs teachconv's.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from teachconv import graph as tg

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "examples"))
sys.path.append(str(HERE.parent / "tools"))
from recorders import record_tensorflow_graph as script  # noqa: E402

TARGET = HERE / "graph_tables.inc"
RECORDED = HERE.parent / "tests" / "recorded"


def ours() -> dict[str, tg.RunMetadata]:
    """Run teachconv on the same graph and return the log of each run."""
    graph = tg.Graph()
    with graph.as_default():
        script.build(tg)
    logs = {}
    for name, (fetches, feeds, on) in script.RUNS.items():
        logs[name] = tg.RunMetadata()
        with tg.Session(graph, tg.ConfigProto(on, on, on, backend="numpy")) as session:
            session.run("init")
            values = {feed: script.integers(feed, script.FED[feed]) for feed in feeds}
            session.run(fetches, values, run_metadata=logs[name])
    return logs


def run_table(recorded: dict[str, Any], logs: dict[str, tg.RunMetadata]) -> list[str]:
    """Return a table of the runs: the fetches, the feeds, and how many nodes either runtime ran."""
    lines = ["| run | fetched | fed | nodes TensorFlow ran | nodes teachconv ran | only in teachconv |"]
    lines += ["|---|---|---|---|---|---|"]
    for name, (fetches, feeds, _) in script.RUNS.items():
        theirs = {node["name"] for node in recorded["runs"][name]["nodes"] if node["op"] != "_Retval"}
        mine = {node.name for node in logs[name].nodes}
        assert theirs <= mine
        only = ", ".join(f"`{node}`" for node in sorted(mine - theirs)) or "–"
        shown = [", ".join(f"`{item}`" for item in items) or "–" for items in (fetches, feeds)]
        lines.append(f"| {name} | {shown[0]} | {shown[1]} | {len(theirs)} | {len(mine)} | {only} |")
    return lines


def node_table(recorded: dict[str, Any], logs: dict[str, tg.RunMetadata]) -> list[str]:
    """Return a table of the run "scores" that compares the nodes one by one."""
    theirs = {node["name"]: node for node in recorded["runs"]["scores"]["nodes"]}
    lines = [
        "| node | TensorFlow's op | teachconv's op | inputs, the same in both |",
        "|---|---|---|---|",
    ]
    for node in logs["scores"].after.nodes.values():  # type: ignore[union-attr]
        their, inputs = theirs[node.name], [name for name, _ in node.inputs]
        assert their["inputs"] == inputs, node.name
        fused = f" ({' + '.join(their['fused_ops'])})" if "fused_ops" in their else ""
        reads = ", ".join(f"`{name}`" for name in inputs) or "–"
        lines.append(f"| `{node.name}` | {their['op']}{fused} | {node.op} | {reads} |")
    return lines


def fence(text: object) -> list[str]:
    """Return ``text`` as a fenced block."""
    return ["```text", str(text), "```"]


def generate() -> str:
    """Return the text of the file."""
    recorded = json.loads((RECORDED / "tensorflow_graph.json").read_text())
    logs = ours()
    import photo_network

    photo = photo_network.run("numpy").metadata
    events = [f"{rewrite.optimizer}: {rewrite.into} ({rewrite.why})" for rewrite in photo.rewrites]
    parts = [
        ["% written by docs/graph_tables.py: do not edit", ""],
        [f"TensorFlow {recorded['versions']['tensorflow']}, oneDNN {recorded['versions']['oneDNN']}:", ""],
        run_table(recorded, logs),
        ["", "The nodes of the first run:", ""],
        node_table(recorded, logs),
        ["", "## The photograph network before and after optimisation", ""],
        fence(photo.before),
        ["", "The optimisers made these changes:", ""],
        fence("\n".join(events)),
        ["", "The graph that ran:", ""],
        fence(photo.after),
    ]
    return "\n".join(line for part in parts for line in part) + "\n"


if __name__ == "__main__":
    TARGET.write_text(generate(), encoding="utf-8", newline="\n")
    print(f"wrote {TARGET}")
