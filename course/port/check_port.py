"""Checks port.py, each step on the right input: python check_port.py [port.py]. Exits with 1 if wrong.

It marks a folder of submissions, too: python check_port.py FOLDER --csv points.csv
"""

import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]
import checking
import network

import teachconv as tc

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


def known_mistakes(step, before):
    """Yield usual mistakes of the steps that diff does not know: a sentence, and the result it gives."""
    w = network.WEIGHTS
    if step == "normalised":
        root, mean = np.sqrt(w["variance"] + network.EPSILON), w["mean"]
        for said, divisor, subtracted, least in (
            ("epsilon is PyTorch's 1e-5, not the network's", np.sqrt(w["variance"] + 1e-5), mean, 0),
            ("epsilon is outside of the root", np.sqrt(w["variance"]) + network.EPSILON, mean, 0),
            ("epsilon is missing", np.sqrt(w["variance"]), mean, 0),
            ("the root is missing", w["variance"] + network.EPSILON, mean, 0),
            ("the mean is not subtracted", root, 0, 0),
            ("the relu is missing", root, mean, -np.inf),
        ):
            yield said, np.maximum((before - subtracted) * w["gamma"] / divisor + w["beta"], least)
    if step == "pooled":
        ninths = np.full((3, 3, before.shape[3], 1), 1 / 9)
        counted = tc.depthwise_conv2d(before, ninths, (1, 1, 1, 1), "SAME")
        yield "zeros of the padding are counted in the mean: PyTorch's count_include_pad", counted


def fault(step, case, seed, got):
    """Return what is wrong with a step, or None."""
    before, want = steps(step, case, seed)
    if got.ndim != 4:
        return checking.Fault(f"the result has {got.ndim} axes, not 4")
    got = got.transpose(0, 2, 3, 1)
    if checking.near(got, want):
        return None
    if call := call_of(step, before):
        return checking.of(tc.diff(call[0], *call[1:], backends=[], against={"yours": got}).rows[0])
    if got.shape != want.shape:
        return checking.Fault(f"the shape is {list(got.shape)} in NHWC, not {list(want.shape)}")
    if found := checking.known(got, known_mistakes(step, before)):
        return found
    if checking.near(got[:, 1:-1, 1:-1], want[:, 1:-1, 1:-1]):
        return checking.Fault("the numbers differ at the border only")
    return checking.differ(channels_first(got), channels_first(want))


def steps(step, size, seed):
    """Return the input of a step for images of a size, and its result."""
    x = checking.numbers(size, "image", seed)
    outputs, names = network.forward(x), list(network.STEPS)
    before = x if step == names[0] else outputs[names[names.index(step) - 1]]
    return before, outputs[step]


def legal(size):
    """Raise a ValueError unless images of this size can be a case."""
    if len(size) != 4 or size[3] != 3 or any(not isinstance(n, int) or n < 1 for n in size):
        raise ValueError(f"a case is [images, rows, cols, 3]; got {list(size)}")
    if size[1] % 8 or size[2] % 8:
        raise ValueError(f"rows and cols must be multiples of 8; got {list(size)}")


def facts(size):
    """Return what images of a size are that others are not."""
    return {"with several images": size[0] > 1, "where rows are fewer than cols": size[1] < size[2]}


ASSIGNMENT = checking.Assignment(
    "port.py", POINTS, (5, 5, 5), SIZES, lambda size: f"images {list(size)}", facts, legal,
    lambda step, size, seed: (channels_first(steps(step, size, seed)[0]).copy(),), fault,
    only=("teachconv.dialects.torch", "network.WEIGHTS", "network.EPSILON"),
    given=frozenset({"network", "teachconv.dialects", "torch", "torch.nn", "torch.nn.functional"}),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(checking.main(ASSIGNMENT))
