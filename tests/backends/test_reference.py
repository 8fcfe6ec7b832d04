"""The reference is the exact sum rounded once: shown against rational arithmetic, not claimed."""

import math
from fractions import Fraction

import numpy as np
import pytest
from helpers import problems
from hypothesis import given
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends.reference import round_sum
from teachconv.data.seeded import make_array
from teachconv.dtypes import float_format
from teachconv.geometry import conv2d_geometry

FLOATS = ["float16", "bfloat16", "float32", "float64"]


def nearest(exact, dtype):
    """Round a Fraction to the nearest number of a format, ties to even, by trying its two neighbours."""
    form = float_format(dtype)
    if exact == 0:
        return 0.0
    size, quantum = abs(exact), Fraction(2) ** form.smallest_exponent
    while size >= quantum * 2**form.precision:
        quantum *= 2
    below = size // quantum
    rest = size - below * quantum
    if rest * 2 > quantum or (rest * 2 == quantum and below % 2):
        below += 1
    value = below * quantum
    result = math.inf if value > Fraction(form.largest) else float(value)
    return -result if exact < 0 else result


def oracle(x, w, g):
    """conv2d straight from the index law, in rational numbers: slow, and as plain as can be."""
    y = np.empty(g.output_shape, object)
    outs, depth = g.out_channels // g.groups, g.filters_shape[2]
    for n, r, c, o in np.ndindex(*g.output_shape):
        total = Fraction(0)
        for a, b, i in np.ndindex(*g.filters_shape[:3]):
            row = r * g.strides[0] - g.padding[0][0] + a * g.dilations[0]
            col = c * g.strides[1] - g.padding[1][0] + b * g.dilations[1]
            if 0 <= row < x.shape[1] and 0 <= col < x.shape[2]:
                total += Fraction(float(x[n, row, col, o // outs * depth + i])) * Fraction(
                    float(w[a, b, i, o])
                )
        y[n, r, c, o] = total
    return y


@pytest.mark.parametrize("dtype", FLOATS)
@given(terms=st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=12))
def test_round_sum_rounds_once(dtype, terms):
    assert round_sum(terms, dtype) == nearest(sum(map(Fraction, terms), Fraction(0)), dtype)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_round_sum_at_midpoints(dtype):
    """Where rounding by way of double rounds twice: the part that double drops decides."""
    form = float_format(dtype)
    ulp = 2.0 ** (1 - form.precision)
    for base in (1.0, 1.0 + ulp):
        for crumb in (2.0**-80, -(2.0**-80), 0.0):
            terms = [base, ulp / 2, crumb]
            assert round_sum(terms, dtype) == nearest(sum(map(Fraction, terms)), dtype)
    assert round_sum([1.0, 2.0**-24, 2.0**-60], "float32") == 1 + 2.0**-23
    assert round_sum([-1.0, -(2.0**-24), -(2.0**-60)], "float32") == -(1 + 2.0**-23)


@pytest.mark.parametrize("dtype", FLOATS)
def test_round_sum_at_the_ends_of_the_range(dtype):
    form = float_format(dtype)
    half = form.smallest_subnormal / 2 if dtype != "float64" else None
    assert round_sum([form.largest], dtype) == form.largest
    assert round_sum([form.largest, form.largest], dtype) == math.inf
    assert round_sum([-form.largest, -form.largest], dtype) == -math.inf
    assert round_sum([form.largest, form.largest, -form.largest], dtype) == form.largest
    if half is not None:
        assert round_sum([half], dtype) == 0.0  # a tie: zero is even
        assert round_sum([half, 2.0**-1074], dtype) == form.smallest_subnormal
        assert round_sum([3 * half], dtype) == 2 * form.smallest_subnormal
        limit = form.largest * (1 + 2.0 ** -(form.precision + 1))
        assert round_sum([limit], dtype) == form.largest


def test_round_sum_of_what_is_not_finite():
    nan, inf = math.nan, math.inf
    for dtype in FLOATS:
        assert round_sum([1.0, inf], dtype) == inf
        assert round_sum([1.0, -inf, -inf], dtype) == -inf
        assert math.isnan(round_sum([inf, -inf], dtype))
        assert math.isnan(round_sum([1.0, nan, inf], dtype))
        assert round_sum([], dtype) == 0.0


def test_integers_wrap_around():
    assert round_sum([2**31 - 1, 1], "int32") == -(2**31)
    assert round_sum([2**40, 5], "int32") == 5
    assert round_sum([-(2**63), -1], "int64") == 2**63 - 1


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("data", ["normal", "scaled", "tiny", "huge"])
def test_every_cell_is_correctly_rounded(dtype, data):
    g = conv2d_geometry((1, 4, 5, 4), (3, 2, 2, 4), (1, 2), "SAME")
    x = make_array(g.input_shape, dtype, data, "oracle x")
    w = make_array(g.filters_shape, dtype, data, "oracle w")
    got = tc.conv2d(x, w, (1, 2), "SAME", backend="reference").astype(np.float64)
    for cell, exact in np.ndenumerate(oracle(x, w, g)):
        assert got[cell] == nearest(exact, dtype), cell


@given(problem=problems(max_size=4, max_filter=3, max_channels=2), data=st.sampled_from(["normal", "scaled"]))
def test_random_shapes_against_the_oracle(problem, data):
    g = conv2d_geometry(**problem)
    x, w = (make_array(shape, "float64", data, name) for shape, name in
            ((g.input_shape, "x"), (g.filters_shape, "w")))  # fmt: skip
    arguments = {key: problem[key] for key in ("strides", "padding", "dilations")}
    got = tc.conv2d(x, w, **arguments, backend="reference")
    want = oracle(x, w, g)
    assert all(got[cell] == nearest(exact, "float64") for cell, exact in np.ndenumerate(want))


def test_float64_beyond_the_splitting_range():
    """Above 2^995 Veltkamp's constant overflows, below 2^-970 half products underflow: exact all the same."""
    for x, w in [
        ([2.0**1000, 2.0**1000, -(2.0**1000)], [3.0, 2.0**-50, 3.0]),
        ([2.0**-600, 2.0**-600], [2.0**-470 * (1 + 2.0**-52), -(2.0**-470)]),
        ([2.0**1023, 2.0**1023, -(2.0**1023)], [1.0, 1.0, 1.0]),
        ([5e-324, 5e-324], [0.5, 0.5]),
        ([2.0**1023, 2.0**1023], [1.0, 1.0]),
    ]:
        got = tc.conv2d(np.reshape(x, (1, 1, 1, -1)), np.reshape(w, (1, 1, -1, 1)), backend="reference")
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(x, w, strict=True))
        assert got.item() == nearest(exact, "float64")


def test_bias_is_one_more_term():
    """A bias added after rounding would be lost here: 2^24 + 1 - 2^24."""
    x, w = np.float32([2.0**24, 1]).reshape(1, 1, 1, 2), np.ones((1, 1, 2, 1), np.float32)
    got = tc.conv2d(x, w, bias=np.float32([-(2.0**24)]), backend="reference")
    assert got.item() == 1.0


def test_padding_is_a_tap_that_is_not_there():
    x, w = np.ones((1, 2, 2, 1), np.float32), np.full((3, 3, 1, 1), np.nan, np.float32)
    w[1:, 1:] = 1
    y = tc.conv2d(x, w, padding="SAME", backend="reference")[0, :, :, 0]
    assert y[0, 0] == 4  # the taps with NaN all lie in the padding of this cell
    assert np.isnan(y[1, 1])
