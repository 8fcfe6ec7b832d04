"""Arrays of more than 2^31 numbers: indices of 32 bits would end.

Of a large input most are zeros, whose pages take no memory until they are written. A large result takes 8.6 GB.
"""

from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import why_not

COLS, CHANNELS, CROP = 2**20 + 8, 1025, 2**20  # two rows of them: 2^31 + 2.1 million numbers
NEEDED = 14 * 2**30  # bytes that are free before a result of 8.6 GB is written
pytestmark = [
    pytest.mark.xdist_group("large_arrays"),
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
    if algorithm == "winograd4":  # its points are not whole numbers: the result is rounded, by less than half
        assert np.abs(y - want).max() < 0.5
        y = np.rint(y)
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


# ---------------------------------------------------------------------------------------------
# Large results
# ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def out():
    """Memory for a result; every test writes all of it."""
    lines = Path("/proc/meminfo").read_text().split("\n") if Path("/proc/meminfo").exists() else []
    free = next((1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")), 0)
    if free < NEEDED:
        pytest.skip(f"{NEEDED / 2**30:.0f} GiB of free memory are needed; there are {free / 2**30:.1f}")
    array = np.empty((1, 2, COLS, CHANNELS), "float32")
    assert array.size > 2**31
    return array


def pieces():
    """Columns that are compared: both ends, those around number 2^31, and some of the rest."""
    border = (2**31 - COLS * CHANNELS) // CHANNELS  # in the second row
    some = np.random.default_rng(5).integers(0, COLS - 64, 24).tolist()
    return [slice(first, first + 64) for first in (0, border - 32, COLS - 64, *some)]


def call_all(out, run):
    """Fill the result by a call, all of it."""
    out[:, :, ::1024] = np.nan
    out[:, :, -1] = np.nan
    assert run(out=out) is out
    assert not np.isnan(out[:, :, ::1024]).any()
    return out


SMALL = np.random.default_rng(6).integers(-3, 4, (1, 2, COLS + 2, 1)).astype("float32")
FILTERS = np.random.default_rng(7).integers(-3, 4, (1, 3, 1, CHANNELS)).astype("float32")


@pytest.mark.parametrize("algorithm", ["direct", "im2col", "row_gemm", None])
def test_a_result(out, algorithm):
    def run(out):
        return tc.conv2d(SMALL, FILTERS, backend="cython", algorithm=algorithm, out=out)

    call_all(out, run)
    for part in pieces():
        near = SMALL[:, :, part.start : part.stop + 2]
        assert np.array_equal(out[:, :, part], tc.conv2d(near, FILTERS, backend="numpy"))


@pytest.mark.parametrize("algorithm", ["direct", "phases", "col2im", None])
def test_an_input_gradient(out, algorithm):
    dy = np.ascontiguousarray(SMALL[:, :, :-2])
    w = FILTERS.reshape(1, 3, CHANNELS, 1)

    def run(out):
        how = {"padding": "SAME", "backend": "cython", "algorithm": algorithm}
        return tc.conv2d_backprop_input(out.shape, w, dy, **how, out=out)

    call_all(out, run)
    wide = np.pad(
        dy, ((0, 0), (0, 0), (1, 1), (0, 0))
    )  # dx[c] = dy[c + 1] w[0] + dy[c] w[1] + dy[c - 1] w[2]
    for part in pieces():
        near = [wide[:, :, part.start + shift : part.stop + shift] for shift in (2, 1, 0)]
        want = sum(column * w[0, tap, :, 0] for tap, column in enumerate(near))
        assert np.array_equal(out[:, :, part], want)


def test_a_depthwise_result(out):
    wide = np.broadcast_to(SMALL[:, :, :-2], out.shape)
    w = FILTERS[:, :1].reshape(1, 1, 1, CHANNELS)
    image = SMALL[:, :, :-2]
    call_all(out, lambda out: tc.depthwise_conv2d(image, w, backend="cython", out=out))
    for part in pieces():
        assert np.array_equal(out[:, :, part], wide[:, :, part] * w[0, 0, 0])
