"""Winograd's F(4x4, 3x3): its matrices in exact arithmetic, the kernel's copy of them, and its errors."""

from fractions import Fraction

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import cython_backend, why_not
from teachconv.data.seeded import make_array
from teachconv.truth import bounds

pytestmark = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")


class Surd:
    """p + q sqrt(2) with rational p and q: sqrt(1/2) is sqrt(2) / 2, so the matrices consist of such numbers."""

    def __init__(self, p, q=0):
        self.p, self.q = Fraction(p), Fraction(q)

    def __add__(self, other):
        return Surd(self.p + other.p, self.q + other.q)

    def __mul__(self, other):
        return Surd(self.p * other.p + 2 * self.q * other.q, self.p * other.q + self.q * other.p)

    def __eq__(self, other):
        return (self.p, self.q) == (other.p, other.q)

    __hash__ = None

    def __float__(self):
        return float(self.p) + float(self.q) * 2**0.5


def surds(*rows):
    """A matrix of rows such as "1 -b 5/2 a/2", where a is sqrt(1/2) and b is sqrt(2)."""
    roots = {"a": Surd(0, Fraction(1, 2)), "b": Surd(0, 1)}

    def entry(text):
        sign, text = (-1, text[1:]) if text[0] == "-" else (1, text)
        top, _, bottom = text.partition("/")
        root = roots.get(top[-1], Surd(1))
        return root * Surd(sign * Fraction(top.rstrip("ab") or 1) / int(bottom or 1))

    return [[entry(text) for text in row.split()] for row in rows]


# as in kernels/winograd4.h
B = surds(
    "1 0 -5/2 0 1 0", "0 b 2 -a -1 0", "0 -b 2 a -1 0", "0 -a -1/2 b 1 0", "0 a -1/2 -b 1 0", "0 1 0 -5/2 0 1"
)
G = surds("1 0 0", "2/3 2a/3 1/3", "2/3 -2a/3 1/3", "1/6 b/6 1/3", "1/6 -b/6 1/3", "0 0 1")
A = surds("1 1 1 1 1 0", "0 a -a b -b 0", "0 1/2 1/2 2 2 0", "0 a/2 -a/2 2b -2b 1")


def times(matrix, vector):
    return [sum((m * v for m, v in zip(row, vector, strict=True)), Surd(0)) for row in matrix]


def short_convolution(d, g):
    """A' [ (G g) * (B' d) ]: four outputs from six inputs and three taps."""
    return times(A, [u * v for u, v in zip(times(G, g), times(B, d), strict=True)])


def test_the_short_convolution_is_exact_in_exact_arithmetic():
    """It is linear in d and in g, so the unit vectors prove it for all numbers."""
    for place in range(6):
        for tap in range(3):
            d, g = ([Surd(i == at) for i in range(size)] for at, size in ((place, 6), (tap, 3)))
            assert short_convolution(d, g) == [Surd(out + tap == place) for out in range(4)]


def test_a_worked_example():
    """d = 1 0 0 2 0 0 and g = 1 2 3: y[1] = 0·1 + 0·2 + 2·3."""
    d, g = ([Surd(number) for number in numbers] for numbers in ((1, 0, 0, 2, 0, 0), (1, 2, 3)))
    b = Surd(0, 1)
    assert times(B, d) == [Surd(1), b * Surd(-1), b, b * Surd(2), b * Surd(-2), Surd(-5)]
    assert times(G, g) == [
        Surd(1),
        Surd(Fraction(5, 3), Fraction(2, 3)),
        Surd(Fraction(5, 3), Fraction(-2, 3)),
        Surd(Fraction(7, 6), Fraction(1, 3)),
        Surd(Fraction(7, 6), Fraction(-1, 3)),
        Surd(3),
    ]
    assert short_convolution(d, g) == [Surd(1), Surd(6), Surd(4), Surd(2)]


def test_the_bound_is_made_of_the_same_matrices():
    for exact, sizes in zip((B, G, A), bounds._WINOGRAD["winograd4_balanced"], strict=True):
        want = np.abs([[float(entry) for entry in row] for row in exact])
        assert np.allclose(want, sizes, rtol=1e-15, atol=0)


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2.0**-20), ("float64", 2.0**-49)])
def test_the_kernel_moves_a_single_number_to_its_place(isa, dtype, tolerance):
    """One input 1 and one tap 1, at each of their places in a tile: a transform with a wrong entry shows."""
    if cython_backend.set_isa(isa) != isa:
        cython_backend.set_isa("best")
        pytest.skip(f"no {isa} here")
    try:
        for cell in np.ndindex(6, 6):
            x = np.zeros((1, 6, 6, 1), dtype)
            x[0, *cell, 0] = 1
            w = np.zeros((3, 3, 1, 9), dtype)  # each output channel has one tap
            w.reshape(9, 9)[np.diag_indices(9)] = 1
            y = tc.conv2d(x, w, backend="cython", algorithm="winograd4")
            want = tc.conv2d(x, w, backend="cython", algorithm="direct")
            assert np.abs(y - want).max() <= tolerance
    finally:
        cython_backend.set_isa("best")


SIZES = [(1, 1), (1, 4), (3, 5), (4, 4), (5, 9), (8, 8), (13, 7)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_tiles_that_the_image_does_not_fill(size, dtype):
    """Whole tiles, parts of tiles, and images smaller than one; channels that fill no vector."""
    x, w = make_array((2, *size, 3), dtype), make_array((3, 3, 3, 18), dtype)
    for padding in ("SAME", ((2, 3), (1, 0)), ((-1, 4), (3, 3))):
        if padding != "SAME" and min(size[0] + 1, size[1] + 1) < 3:
            continue
        for op, args in (
            (tc.conv2d, (x, w)),
            (tc.conv2d_backprop_input, (x.shape, w, _dy(x, w, padding))),
        ):
            options = {"padding": padding, "backends": ["cython"], "algorithm": "winograd4"}
            assert tc.diff(op, *args, **options).passed, (op.__name__, padding)


def _dy(x, w, padding):
    return make_array(tc.conv2d_geometry(x.shape, w.shape, 1, padding).output_shape, x.dtype.name)


def test_only_winograd4_brings_a_large_neighbour_into_a_cells_error():
    """Of cells whose window does not read the large number, winograd2's error has the size of their own sums."""
    x, w = make_array((1, 16, 16, 16), "float32"), make_array((3, 3, 16, 32), "float32")
    x[0, 5, 5] *= 2.0**12
    truth, own = (
        tc.conv2d(f(x.astype(float)), f(w.astype(float)), padding="SAME", backend="numpy")
        for f in (np.array, np.abs)
    )
    away = np.ones(truth.shape, bool)
    away[:, 4:7, 4:7] = False
    errors = {
        name: (np.abs(tc.conv2d(x, w, padding="SAME", algorithm=name) - truth) / own)[away].max()
        for name in ("row_gemm", "winograd2", "winograd4")
    }
    assert max(errors["row_gemm"], errors["winograd2"]) < 1e-6
    assert errors["winograd4"] > 1e-4
    call, _ = tc.nn_ops.call_of(tc.conv2d, (x, w), {"padding": "SAME"})
    two, four = (
        (f(call.kind, x, w, call.geometry, "float32") / own)[away].max()
        for f in (bounds.winograd2, bounds.winograd4_balanced)
    )
    assert two < 1e-4
    assert four > errors["winograd4"]


def test_the_error_by_the_largest_sum_is_about_that_of_direct_summation():
    """In-order summation reaches 2e-7 to 3e-7 here; the textbook's points 0, +-1, +-2 would reach 1.6e-6."""
    x, w = make_array((1, 24, 24, 128), "float32"), make_array((3, 3, 128, 32), "float32")
    truth, sums = (
        tc.conv2d(f(x.astype(float)), f(w.astype(float)), backend="numpy") for f in (np.array, np.abs)
    )
    error = np.abs(tc.conv2d(x, w, backend="cython", algorithm="winograd4") - truth).max() / sums.max()
    assert error < 6e-7


@pytest.mark.parametrize("value", [2.0**-149, 2.0**-126])
def test_subnormal_parts_of_an_image_keep_the_bound(value):
    """The image is in range, but the inputs of some tiles are not normal numbers."""
    x, w = make_array((1, 16, 16, 4), "float32"), make_array((3, 3, 4, 8), "float32")
    x[0, :8] = np.float32(value) * np.arange(1, 5, dtype="float32")
    for size in (1.0, 2.0**40):
        options = {"padding": "SAME", "backends": ["cython"], "algorithm": "winograd4"}
        assert tc.diff(tc.conv2d, x, w * np.float32(size), **options).passed
