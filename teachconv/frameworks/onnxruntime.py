"""Follows a run of onnxruntime to its kernels: the optimised graph, execution provider, kernel and time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..graph.common_runtime import executor, graph_optimizer
from ..inspection.sources import SourceChain, SourceStep, step_at
from ..support.errors import ArgumentError
from ..support.tables import duration
from . import child
from .libraries import known_from
from .ours import chain, refusals

_SOURCE = "onnxruntime/"
# domain and op -> the file of its kernel on the CPU, and the file of MLAS with the loops
_KERNELS = {
    ("", "Conv"): ("core/providers/cpu/nn/conv.cc", "core/mlas/lib/convolve.cpp"),
    ("", "ConvTranspose"): ("core/providers/cpu/nn/conv_transpose.cc", "core/mlas/lib/sgemm.cpp"),
    ("com.microsoft", "FusedConv"): ("contrib_ops/cpu/fused_conv.cc", "core/mlas/lib/convolve.cpp"),
    ("com.microsoft.nchwc", "Conv"): ("contrib_ops/cpu/nchwc_ops.cc", "core/mlas/lib/snchwc.cpp"),
    ("com.microsoft.nchwc", "ReorderInput"): ("contrib_ops/cpu/nchwc_ops.cc", "core/mlas/lib/reorder.cpp"),
    ("com.microsoft.nchwc", "ReorderOutput"): ("contrib_ops/cpu/nchwc_ops.cc", "core/mlas/lib/reorder.cpp"),
}


_BESIDE: dict[str, tuple[str, Callable[..., Any]]] = {
    "node": ("optimiser", graph_optimizer.remap),
    "ran": ("executor", executor.Executor.run),
}


def follow(op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Run a session's model again in a separate process, with its profile, and say what ran.

    Args:
        op: the method ``session.run``.
        args: its arguments: the names of the outputs or None, and the inputs by name.
        kwargs: the same by keyword.

    Returns:
        The steps of every convolution, and of the layout changes that onnxruntime added around them.

    Raises:
        ArgumentError: if ``op`` is another method, or the model has no convolution.
    """
    import onnxruntime

    session = getattr(op, "__self__", None)
    if isinstance(op, onnxruntime.InferenceSession):  # a session with its inputs
        session, op, args = op, op.run, (None, *args)
    name = getattr(op, "__name__", type(op).__name__)
    if not isinstance(session, onnxruntime.InferenceSession) or name != "run":
        call = "find_source(session.run, None, inputs)"
        raise ArgumentError(f"find_source follows only session.run of onnxruntime: {call}; got {name}")
    given = dict(zip(("output_names", "input_feed"), args, strict=False)) | kwargs
    feeds = {name: np.asarray(value) for name, value in (given.get("input_feed") or {}).items()}
    options = session.get_session_options()
    job = {
        "path": str(session._model_path or ""),
        "inputs": list(feeds),
        "outputs": given.get("output_names"),
        "level": int(options.graph_optimization_level),
        "threads": options.intra_op_num_threads,
        "providers": session.get_providers(),
    }
    arrays = {f"input{index:03}": array for index, array in enumerate(feeds.values())}
    if session._model_bytes:
        arrays["model"] = np.frombuffer(session._model_bytes, np.uint8)
    with refusals("onnxruntime"):
        session.run(job["outputs"], feeds)
    answer = child.run(f"{__package__}.onnxruntime_probe", job, arrays, {})
    steps = list(_steps(answer.facts))
    if not steps:
        ran = ", ".join(dict.fromkeys(node["op"] for node in answer.facts["ran"].values()))
        raise ArgumentError(f"the model ran no convolution; its ops: {ran[:300]}")
    first = step_at("public function", type(session).run)
    first = replace(first, name="InferenceSession.run", known="Python")
    shapes = ", ".join(f"{name} {list(array.shape)}" for name, array in feeds.items())
    names = [step.name for step in steps if step.what == "node"]
    version = f"onnxruntime {onnxruntime.__version__}"
    return chain(f"onnxruntime's run of {shapes}", (first, *steps), ["Conv2D"], version, names, _BESIDE)


def _steps(facts: dict[str, Any]) -> Iterator[SourceStep]:
    nodes = facts["nodes"]
    for name, ran in facts["ran"].items():
        if not ran["op"].startswith(("Conv", "FusedConv", "QLinearConv", "NhwcFusedConv", "Reorder")):
            continue
        node = (nodes or {}).get(name, {"domain": "", "activation": ""})
        shapes = " * ".join(str(shape) for item in ran["shapes"][:2] for shape in item.values())
        fused = f"; {node['activation']} is part of it" if node["activation"] else ""
        unknown = "" if nodes is not None else "; its domain is not known: the package onnx is not installed"
        full = f"{node['domain']}.{ran['op']}".lstrip(".")
        yield SourceStep("node", full, note=f"{name}: {shapes}{fused}{unknown}", known="optimised graph")
        note = f"{ran['provider']}; {duration(ran['seconds'])}"
        file, loops = _KERNELS.get((node["domain"], ran["op"]), ("", ""))
        known = f", {known_from('onnxruntime', 'capi/onnxruntime_pybind11_state*', file)}" if file else ""
        yield SourceStep("ran", ran["op"], file and _SOURCE + file, note=note, known=f"profile{known}")
        if loops:
            note = "MLAS logs nothing: which of its kernels for this processor ran is not known"
            yield SourceStep("loops", "MLAS", _SOURCE + loops, note=note, known="recorded")
