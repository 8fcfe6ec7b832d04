"""Warnings of NumPy do not escape: overflow and NaN are correct arithmetic, and nobody can act on the warning."""

import warnings

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import TABLE, why_not
from teachconv.core.dtypes import to_dtype
from teachconv.data.seeded import make_array

# the bits of a NaN that signals, of the smallest number and of the largest
BITS = {
    "float16": (0x7D00, 1, 0x7BFF),
    "bfloat16": (0x7F81, 1, 0x7F7F),
    "float32": (0x7F800001, 1, 0x7F7FFFFF),
    "float64": (0x7FF0000000000001, 1, 0x7FEFFFFFFFFFFFFF),
}
KINDS = ["zeros", "signalling NaN", "smallest", "largest", "infinities", "normal"]
NOT_FINITE = {"signalling NaN", "infinities"}
PAIRS = [(kind, other) for kind in KINDS for other in KINDS]


def numbers(shape, dtype, kind):
    if kind == "normal":
        return make_array(shape, dtype)
    array = np.zeros(shape, to_dtype(dtype))
    if kind == "infinities":
        array.flat[0], array.flat[-1] = np.inf, -np.inf
    elif kind != "zeros":
        bits = array.view(f"u{array.itemsize}")
        bits[...] = BITS[dtype][KINDS.index(kind) - 1]
    return array


@pytest.fixture(autouse=True)
def warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(params=BITS)
def dtype(request):
    if request.param == "bfloat16":
        pytest.importorskip("ml_dtypes")
    return request.param


@pytest.mark.parametrize(("kind", "other"), PAIRS)
def test_ops_and_the_tools_that_judge_them(dtype, kind, other):
    x, w = numbers((1, 4, 5, 2), dtype, kind), numbers((3, 2, 2, 3), dtype, other)
    dy, bias = numbers((1, 4, 5, 3), dtype, other), numbers((3,), dtype, other)
    for backend in (name for name in TABLE if not why_not(name)):
        tc.conv2d(x, w, 1, "SAME", bias=bias, backend=backend)
        tc.conv2d_backprop_input(x.shape, w, dy, 1, "SAME", backend=backend)
        tc.conv2d_backprop_filter(x, w.shape, dy, 1, "SAME", backend=backend)
    shown = tc.explain(tc.conv2d, x, w, 1, "SAME", bias=bias, at=(0, 0, 0, 0))
    str(shown), shown.picture()
    str(tc.diff(tc.conv2d, x, w, 1, "SAME", backends=["numpy"]))
    if not {kind, other} & NOT_FINITE:
        tc.check_gradients(tc.conv2d, x, w, 1, "SAME", cells=2)


@pytest.mark.parametrize("kind", KINDS)
def test_pools_and_normalisation(dtype, kind):
    """float16 pooling of zeros warned: the place of the last bit of infinity is no number."""
    x, torch = numbers((1, 2, 5, 6), dtype, kind), tc.dialects.torch
    torch.max_pool2d(x, 2, padding=1)
    torch.avg_pool2d(x, 2, padding=1)
    tc.max_pool(x, 2, 2, "SAME")
    tc.avg_pool(x, 2, 2, "SAME")
    str(tc.explain(tc.avg_pool, x, 2, 2, "SAME", at=(0, 0, 0, 0)))
    mean = numbers((2,), dtype, kind)
    if kind not in NOT_FINITE:
        torch.batch_norm(x, mean, np.ones_like(mean))
    else:
        with pytest.raises(ValueError, match="must be finite"):
            torch.batch_norm(x, mean, np.ones_like(mean))
