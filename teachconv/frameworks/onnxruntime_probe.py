"""Runs a model with onnxruntime in a process of its own, with its profile; see onnxruntime.py."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return the profile of the second run, and the nodes of the graph after optimisation."""
    import onnxruntime

    model = arrays.pop("model").tobytes() if "model" in arrays else job["path"]
    feeds = dict(zip(job["inputs"], arrays.values(), strict=True))
    with tempfile.TemporaryDirectory() as folder:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel(job["level"])
        options.intra_op_num_threads = job["threads"]
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(folder, "profile"))
        options.optimized_model_filepath = str(Path(folder, "optimised.onnx"))
        session = onnxruntime.InferenceSession(model, options, providers=job["providers"])
        for _ in range(2):
            session.run(job["outputs"], feeds)
        events = json.loads(Path(session.end_profiling()).read_text(encoding="utf-8"))
        nodes = _nodes(options.optimized_model_filepath)
    ran = {}
    for event in events:
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            name = event["name"].removesuffix("_kernel_time")
            ran[name] = {  # the later run replaces the earlier one
                "op": event["args"]["op_name"],
                "provider": event["args"]["provider"],
                "shapes": event["args"].get("input_type_shape", []),
                "seconds": event["dur"] / 1e6,
            }
    return {"ran": ran, "nodes": nodes}


def _nodes(path: str) -> dict[str, dict[str, str]] | None:
    """Return the nodes of the optimised graph by name; None without the package onnx, which reads it."""
    try:
        import onnx
    except ImportError:
        return None
    return {
        node.name: {
            "op": node.op_type,
            "domain": node.domain,
            "activation": next((a.s.decode() for a in node.attribute if a.name == "activation"), ""),
        }
        for node in onnx.load(path).graph.node
    }
