"""Runs ops of TensorFlow with its log and oneDNN's switched on; `child.run` starts it.

Each op runs eagerly, in a tf.function, in one with BiasAdd and Relu after it, and with arrays that do not
fit: a kernel's refusal is logged with the file and the line of its own check. Each way has a section of the
log. Then all run again, with the profiler on and the kernels made.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .child import begin

_FORWARD = ("Conv2D", "Conv3D", "DepthwiseConv2dNative")


def work(job: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Return what each op of the job gave: its device, errors and times, and its HLO if XLA compiles it."""
    import tensorflow as tf
    from tensorflow.python.eager import context

    facts: list[dict[str, Any]] = []
    ways: dict[str, Callable[[], Any]] = {}
    for index, op in enumerate(job["ops"]):
        with tf.device(op["device"]):
            inputs = [
                tf.constant(_typed(tf, arrays[f"{index}_{number}"], dtype))
                for number, dtype in enumerate(op["dtypes"])
            ]
        facts.append({"errors": {}})
        for way, call in _ways(tf, op, inputs):
            begin(f"{index} {way}")
            context.context().clear_kernel_cache()  # of an op like one before, too, the making is logged
            try:
                facts[index]["device"] = call().device
                ways[f"{index} {way}"] = call
            except (tf.errors.OpError, ValueError, TypeError) as error:
                facts[index]["errors"][way] = f"{type(error).__name__}: {error}"
        if op["compiled"]:
            facts[index]["hlo"] = _compiled(tf, op, inputs)
    begin("times")
    return {"ops": facts, "times": {way: _times(tf, call) for way, call in ways.items()}}


def _typed(tf: Any, array: np.ndarray, dtype: str) -> np.ndarray:
    """Return the array with its type, which a file keeps only for NumPy's own types."""
    return array.view(tf.as_dtype(dtype).as_numpy_dtype) if array.dtype.kind == "V" else array


def _ways(tf: Any, op: dict[str, Any], inputs: list[Any]) -> list[tuple[str, Callable[[], Any]]]:
    """Return the ways to run an op that differ in what runs it, each with a name and a call."""
    first = op["attrs"].get("data_format", "N").startswith("NC")
    run = _runner(tf, op)

    def layer(*inputs: Any) -> Any:
        result = run(*inputs)
        # Grappler removes an addition of zeros
        bias = tf.ones([result.shape[1 if first else -1]], result.dtype)
        return tf.nn.relu(tf.nn.bias_add(result, bias, "NCHW" if first else "NHWC"))

    graph, fused = tf.function(run, jit_compile=op["compiled"] or None), tf.function(layer)
    ways = [("eager", lambda: run(*inputs))] if op["eager"] else []
    ways.append(("graph", lambda: graph(*inputs)))
    if op["op"] in _FORWARD and not op["compiled"]:
        ways.append(("fused", lambda: fused(*inputs)))
    if not op["compiled"] and (op["op"] in _FORWARD or "out_backprop" in op["inputs"]):
        ways.append(("refused", lambda: run(*_unfit(tf, op["op"] in _FORWARD, first, inputs))))
    return ways


def _runner(tf: Any, op: dict[str, Any]) -> Callable[..., Any]:
    """Return a function of the inputs that runs the op."""
    return lambda *inputs: getattr(tf.raw_ops, op["op"])(
        **dict(zip(op["inputs"], inputs, strict=True)), **op["attrs"]
    )


def _compiled(tf: Any, op: dict[str, Any], inputs: list[Any]) -> str:
    """Return the instructions to which XLA compiles the op."""
    function = tf.function(_runner(tf, op), jit_compile=True)
    return str(function.experimental_get_compiler_ir(*inputs)(stage="optimized_hlo"))


def _unfit(tf: Any, forward: bool, channels_first: bool, inputs: list[Any]) -> list[Any]:
    """Return inputs that a kernel refuses: filters of one channel more, or out_backprop of one row more."""
    at = 1 if forward else 2
    rank = inputs[at].shape.rank
    axis = rank - 2 if forward else 2 if channels_first else 1
    pads = [[0, int(each == axis)] for each in range(rank)]
    return [tf.pad(value, pads) if each == at else value for each, value in enumerate(inputs)]


def _times(tf: Any, call: Callable[[], Any]) -> dict[str, float]:
    """Run a call again; return the seconds of the profiler's events."""
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    with tempfile.TemporaryDirectory(prefix="teachconv-") as folder:
        with tf.profiler.experimental.Profile(folder):
            call()
        space = xplane_pb2.XSpace()
        for path in Path(folder).rglob("*.xplane.pb"):
            space.ParseFromString(path.read_bytes())
    return {
        plane.event_metadata[event.metadata_id].name: event.duration_ps / 1e12
        for plane in space.planes
        for line in plane.lines
        for event in line.events
    }
