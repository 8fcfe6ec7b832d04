"""`teachconv.quantized` beside the runtimes that its schemes are named after: equal bits of random calls."""

import numpy as np
import pytest
from peers import quantized_runtimes as runtimes
from quantized import drawn

import teachconv as tc

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # of the runtimes' own code
MODULES = {
    "onnx": "onnxruntime",
    **dict.fromkeys(drawn.LITERT, "ai_edge_litert"),
    **dict.fromkeys(drawn.TORCH, "torch"),
}
CALLS = 2000


def theirs(scheme, op, given, shape):
    """What the scheme's runtime computes."""
    arguments = {name: value for name, value in given.items() if name not in ("scheme", "output_padding")}
    if scheme == "onnx":
        return runtimes.onnxruntime(op, **arguments)
    if scheme in drawn.TORCH:
        return runtimes.torch({"torch": "fbgemm"}.get(scheme, "qnnpack"), op, **arguments)
    return runtimes.litert(scheme, op, y_shape=shape, **arguments)


def fused(op, given, cell):
    """The cell where bias / (x_scale * w_scale) is multiplied and added in one operation, rounded once.

    Some loops of fbgemm do so with one scale for all channels: those over the channels that are left, and those for
    filters of 3x3.
    """
    found = tc.quantized.explain(getattr(tc.quantized, op), at=cell, **given)
    units = np.float32(given["x_scale"] * given["w_scale"])
    exact = found.steps[0][1] + np.float64(given["bias"][cell[-1]]) * np.float64(np.float32(1) / units)
    rounded = np.rint(np.float32(exact) * found.rescaling.factor) + given["y_zero_point"]
    return np.clip(rounded, *found.call.limits)


@pytest.mark.parametrize("scheme", MODULES)
def test_convolutions_have_equal_bits(scheme):
    pytest.importorskip(MODULES[scheme])
    narrow = scheme == "onnx" and runtimes.saturates_in_16_bits()
    if narrow:
        print("onnxruntime saturates in 16 bits on this processor: weights have 7 bits here")
    for seed in range(CALLS):
        op, given = drawn.convolution(seed, scheme)
        if narrow and given["x"].dtype == np.uint8 and given["w"].dtype == np.int8:
            given["w"] //= 2  # 7 bits: their pairs of products fit into 16
        ours = getattr(tc.quantized, op)(**given)
        got = theirs(scheme, op, given, ours.shape)
        assert got.dtype == ours.dtype, (seed, op)
        different = [tuple(cell) for cell in np.argwhere(got != ours)]
        if scheme == "torch" and given["bias"] is not None and not np.ndim(given["w_scale"]):
            different = [cell for cell in different if got[cell] != fused(op, given, cell)]
        assert not different, (seed, op, len(different), different[0])


@pytest.mark.parametrize("scheme", MODULES)
def test_pools_have_equal_bits(scheme):
    pytest.importorskip(MODULES[scheme])
    for seed in range(CALLS // 4):
        for kind in ("avg_pool", "max_pool"):
            given = drawn.pool(seed, scheme, kind)
            ours = getattr(tc.quantized, kind)(**given)
            assert np.array_equal(theirs(scheme, kind, given, ours.shape), ours), (seed, kind)
