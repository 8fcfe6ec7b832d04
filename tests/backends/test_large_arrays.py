"""An array of more than 2^31 numbers: indices of 32 bits would end. Its pages of zeros take no memory until written."""

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import why_not

COLS, CHANNELS, CROP = 2**20 + 8, 1025, 2**20  # two rows of them: 2^31 + 2.1 million numbers
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled"),
]


@pytest.fixture(scope="module")
def x():
    try:
        x = np.zeros((1, 2, COLS, CHANNELS), "float32")
    except MemoryError:
        pytest.skip("8 GiB of addresses are not to be had")
    assert x.size > 2**31
    x[:, :, CROP:] = np.random.default_rng(1).integers(-3, 4, (1, 2, 8, CHANNELS))
    return x


@pytest.mark.parametrize("algorithm", ["direct", "im2col", "row_gemm", "winograd2", "winograd4", None])
def test_the_last_columns_of_the_input(x, algorithm):
    w = np.random.default_rng(2).integers(-3, 4, (3, 3, CHANNELS, 2)).astype("float32")
    crop = ((1, 1), (-CROP, 0))  # of eight columns, the only ones that are read
    y = tc.conv2d(x, w, padding=crop, backend="cython", algorithm=algorithm)
    want = tc.conv2d(x[:, :, CROP:].copy(), w, padding=((1, 1), (0, 0)), backend="numpy")
    assert np.abs(want).max() > 0
    assert np.array_equal(y, want)


@pytest.mark.parametrize("algorithm", ["direct", "im2col", "pixel_gemm", None])
def test_the_filter_gradient_of_the_last_columns(x, algorithm):
    dy = np.random.default_rng(3).integers(-3, 4, (1, 2, 6, 2)).astype("float32")
    options = {"backend": "cython", "algorithm": algorithm}
    dw = tc.conv2d_backprop_filter(x, (3, 3, CHANNELS, 2), dy, padding=((1, 1), (-CROP, 0)), **options)
    near = x[:, :, CROP:].copy()
    want = tc.conv2d_backprop_filter(near, (3, 3, CHANNELS, 2), dy, padding=((1, 1), (0, 0)), backend="numpy")
    assert np.abs(want).max() > 0
    assert np.array_equal(dw, want)
