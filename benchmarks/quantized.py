"""Measures `teachconv.quantized.conv2d` beside onnxruntime's QLinearConv on one thread.

    python benchmarks/quantized.py [--rounds 15] [--markdown docs/quantized_times.inc]

uint8 images, int8 filters with a scale for each channel, 3x3 and SAME. First it checks that the two have
equal bits. They take turns; the table shows the median of onnxruntime's times, and the medians of the rounds'
ratios. "int32" is `teachconv.conv2d` of the same integers in int32, without rescaling.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import machine
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import teachconv as tc

LAYERS = ((56, 64), (28, 128), (14, 256), (7, 512))  # side, channels: ResNet's
HEAD = "| layer | onnxruntime | `quantized.conv2d` | int32 |"
GIVEN = {"x_scale": 0.02, "x_zero_point": 120, "y_scale": 0.5, "y_zero_point": 110}


def arrays(side: int, channels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return x, w, the scales of w and the bias of a layer."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (1, side, side, channels)).astype("uint8")
    w = np.clip(np.rint(rng.standard_normal((3, 3, channels, channels)) * 30), -127, 127).astype("int8")
    scale = np.float32(rng.uniform(0.001, 0.01, channels))
    return x, w, scale, rng.integers(-1000, 1000, channels).astype("int32")


def session(w: np.ndarray, scale: np.ndarray, bias: np.ndarray) -> onnxruntime.InferenceSession:
    """Return onnxruntime's convolution of x, [1, channels, rows, cols]."""
    constants = {
        name: np.float32(value) if name.endswith("scale") else np.uint8(value)
        for name, value in GIVEN.items()
    }
    constants |= {"w": np.ascontiguousarray(w.transpose(3, 2, 0, 1)), "w_scale": scale, "bias": bias}
    constants["w_zero_point"] = np.zeros(len(scale), "int8")
    triples = [f"{name}{end}" for name in "xw" for end in ("", "_scale", "_zero_point")]
    inputs = [*triples, "y_scale", "y_zero_point", "bias"]
    node = helper.make_node("QLinearConv", inputs, ["y"], auto_pad="SAME_UPPER")
    x, y = (helper.make_tensor_value_info(name, TensorProto.UINT8, None) for name in "xy")
    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    model = helper.make_model(
        helper.make_graph([node], "layer", [x], [y], tensors),
        opset_imports=[helper.make_opsetid("", 17)],
        ir_version=8,
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def seconds(run: Callable[[], object]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def row(side: int, channels: int, rounds: int) -> str:
    """Return the table's row of one layer."""
    x, w, scale, bias = arrays(side, channels)
    theirs, first = session(w, scale, bias), np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    wide = x.astype("int32") - GIVEN["x_zero_point"], w.astype("int32")
    runs: list[Callable[[], np.ndarray]] = [
        lambda: theirs.run(None, {"x": first})[0],
        lambda: tc.quantized.conv2d(x, w, bias, w_scale=scale, padding="SAME", **GIVEN),
        lambda: tc.conv2d(*wide, padding="SAME"),
    ]
    if not np.array_equal(runs[0]().transpose(0, 2, 3, 1), runs[1]()):
        raise SystemExit(f"{side}x{side}x{channels}: the two differ")
    times = [[seconds(run) for run in runs] for _ in range(rounds)]
    ratios = [statistics.median(each[place] / each[0] for each in times) for place in (1, 2)]
    base = statistics.median(each[0] for each in times) * 1000
    return f"| {side} x {side} x {channels} | {base:.2f} ms | {ratios[0]:.1f} times | {ratios[1]:.0f} times |"


def main(argv: list[str] | None = None) -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--markdown", type=Path, help="where to write the table")
    chosen = parser.parse_args(argv)
    facts = machine.facts_of_run("quantized.py", argv)
    tc.set_num_threads(1)
    rows = [row(*layer, chosen.rounds) for layer in LAYERS]
    note = (
        f"One thread of {facts['machine']['processor']}, onnxruntime {onnxruntime.__version__}, "
        f"{facts['date']}. The machine was shared with other work: the ratios are coarse. "
        f"`{facts['command']}`"
    )
    table = "\n".join([HEAD, "|---|--:|--:|--:|", *rows, "", note, ""])
    print(table)
    if chosen.markdown:
        chosen.markdown.write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
