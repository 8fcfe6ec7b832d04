"""Checks port.py, each step on the right input: python check_port.py [port.py]. Exits with 1 if wrong."""

import runpy
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))  # for network
import network

import teachconv as tc
from teachconv.data.seeded import make_array

POINTS = {"stem": 15, "depthwise": 20, "mix": 5, "normalised": 15, "pooled": 10, "up": 20}
SIZES = ((1, 16, 24, 3), (2, 32, 16, 3))


def channels_first(x):
    """[batch, channels, rows, cols] of [batch, rows, cols, channels]."""
    return x.transpose(0, 3, 1, 2)


def call_of(step, before):
    """Return TensorFlow's call of a convolution, for diff; None for the other steps."""
    w = network.WEIGHTS
    batch, rows, cols, _ = before.shape
    return {
        "stem": (tc.conv2d, before, w["stem"], 2, "SAME"),
        "depthwise": (tc.depthwise_conv2d, before, w["depthwise"], (1, 2, 2, 1), "SAME"),
        "mix": (tc.conv2d, before, w["mix"]),
        "up": (tc.conv2d_transpose, before, w["up"], [batch, 2 * rows, 2 * cols, 2], 2, "SAME"),
    }.get(step)


def fault(step, function, before, want):
    """Return what is wrong with a step, or ""."""
    got = np.asarray(function(channels_first(before).copy()))
    if got.ndim != 4:
        return f"the result has {got.ndim} axes, not 4"
    got = got.transpose(0, 2, 3, 1)
    if got.shape == want.shape and np.allclose(got, want, 1e-9, 1e-9):
        return ""
    if call := call_of(step, before):
        row = tc.diff(call[0], *call[1:], backends=[], against={"yours": got}).rows[0]
        return str(row.diagnosis or row.where)
    if got.shape != want.shape:
        return f"the shape is {list(got.shape)} in NHWC, not {list(want.shape)}"
    inside = np.allclose(got[:, 1:-1, 1:-1], want[:, 1:-1, 1:-1], 1e-9, 1e-9)
    return "the numbers differ" + (" at the border only" if inside else "")


def verdict(step, functions):
    """Return what is wrong with a step for images of two sizes, or ""."""
    for size in SIZES:
        x = make_array(size, "float64", "integers", "image")
        outputs = network.forward(x)
        names = list(network.STEPS)
        before = x if step == names[0] else outputs[names[names.index(step) - 1]]
        try:
            said = fault(step, functions[step], before, outputs[step])
        except NotImplementedError:
            return "not written yet"
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        if said:
            return f"images {list(size)}: {said}"
    return ""


def main(path="port.py"):
    """Print a line for each step, and the points."""
    functions, total = runpy.run_path(path), 0
    for step, points in POINTS.items():
        said = verdict(step, functions)
        total += 0 if said else points
        print(f"{step:11} {0 if said else points:3} of {points:2}  {said}")
    print(f"{total} of {sum(POINTS.values())} points; 15 more are for the written answers")
    return 0 if total == sum(POINTS.values()) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
