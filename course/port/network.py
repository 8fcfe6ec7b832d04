"""A small network in TensorFlow's words. Do not change it: port it."""

import numpy as np

import teachconv as tc

_random = np.random.default_rng(0)


def _filters(*shape: int) -> np.ndarray:
    return _random.integers(-4, 5, shape).astype(float)


WEIGHTS = {  # as TensorFlow keeps them
    "stem": _filters(7, 7, 3, 4),
    "depthwise": _filters(3, 3, 4, 2),
    "mix": _filters(1, 1, 8, 6),
    "gamma": _filters(6) + 8,
    "beta": _filters(6),
    "mean": _filters(6),
    "variance": np.array([3.75, 0.75, 15.75, 3.75, 0.75, 8.75]),  # plus 0.25 they are squares
    "up": _filters(3, 3, 2, 6),  # [rows, cols, out, in]
}
STEPS = ("stem", "depthwise", "mix", "normalised", "pooled", "up")
EPSILON = 0.25


def forward(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return the output of every step for images [batch, rows, cols, 3], rows and cols a multiple of 8."""
    w, out = WEIGHTS, {}
    out["stem"] = tc.conv2d(x, w["stem"], 2, "SAME")
    out["depthwise"] = tc.depthwise_conv2d(out["stem"], w["depthwise"], (1, 2, 2, 1), "SAME")
    out["mix"] = tc.conv2d(out["depthwise"], w["mix"])
    scale = w["gamma"] / np.sqrt(w["variance"] + EPSILON)
    out["normalised"] = np.maximum((out["mix"] - w["mean"]) * scale + w["beta"], 0)
    out["pooled"] = tc.avg_pool(out["normalised"], 3, 1, "SAME")
    batch, rows, cols, _ = out["pooled"].shape
    out["up"] = tc.conv2d_transpose(out["pooled"], w["up"], [batch, 2 * rows, 2 * cols, 2], 2, "SAME")
    return out
