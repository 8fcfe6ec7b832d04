"""The reference's slices: the bits of its loops, and the conditions under which their products have no error."""

from fractions import Fraction
from itertools import product
from math import fsum, prod
from operator import mul

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import reference
from teachconv.backends.slices import cut, exact_sums, span_of, widths_for
from teachconv.core.dtypes import float_format
from teachconv.data.seeded import make_array

FLOATS = ("float16", "float32", "float64")


def slices_of(left, right, precision=53):
    """Cut two matrices, [cells, terms] and [terms, channels]; None if they cannot be cut."""
    spans = [span_of(numbers, precision) for numbers in (left, right)]
    widths = widths_for(left.shape[1], *spans)
    return widths and [*map(cut, (left, right), spans, widths)]


def sums_of(left, right, bias=None, precision=53):
    """The sums of their products; None if they cannot be cut."""
    cuts = slices_of(left, right, precision)
    return cuts and exact_sums(*cuts, bias)


def exact(left, right, bias):
    """The same in fractions, rounded once by Python."""
    rows, columns = ([[*map(Fraction, numbers)] for numbers in one.tolist()] for one in (left, right.T))
    return [
        [
            float(sum((a * b for a, b in zip(row, column, strict=True)), Fraction(extra)))
            for column, extra in pairs
        ]
        for row in rows
        for pairs in [zip(columns, bias.tolist(), strict=True)]
    ]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    terms=st.integers(1, 60),
    spread=st.sampled_from([0, 3, 20, 60]),
    cancel=st.booleans(),
    dtype=st.sampled_from(FLOATS),
)
def test_a_sum_is_exact_and_rounded_once(seed, terms, spread, cancel, dtype):
    rng = np.random.default_rng(seed)

    def numbers(*shape):
        found = rng.standard_normal(shape) * 2.0 ** rng.integers(-spread, spread + 1, shape)
        return found.clip(-60000, 60000).astype(dtype).astype(float)

    left, right, bias = numbers(3, terms), numbers(terms, 4), numbers(4)
    if cancel:  # nearly all bits of the sums
        left, right = np.concatenate([left, -left], 1), np.concatenate([right, np.nextafter(right, 0)])
    if cancel:
        dtype = "float64"
    found = sums_of(left, right, bias, float_format(dtype).precision)
    if found is None:
        assert spread >= 20 or cancel
    else:
        assert found.tolist() == exact(left, right, bias)


@pytest.mark.parametrize("precision", [8, 11, 24, 53])
@pytest.mark.parametrize("terms", [1, 2, 9, 576, 4608, 10**6])
def test_every_partial_sum_is_at_most_2_to_53_units(terms, precision):
    """The largest units of two slices, times the terms; and no way to cut takes fewer products."""
    rng = np.random.default_rng(terms)
    numbers = [np.float32(rng.standard_normal(100) * 2.0 ** rng.integers(-low, 3, 100)) for low in (0, 9)]
    numbers = [round_to(one.astype(float), precision) for one in numbers]
    spans = [span_of(one, precision) for one in numbers]
    widths = widths_for(terms, *spans)
    for one, span, width in zip(numbers, spans, widths, strict=True):
        parts = cut(one, span, width)
        units = [part * 2.0 ** (width * (i + 1) - 1 - span.exponent) for i, part in enumerate(parts)]
        assert all((part == np.rint(part)).all() and np.abs(part).max() <= 2 ** (width - 1) for part in units)
        assert (parts.sum(axis=0) == one).all()
        assert len(parts) <= -(-(span.bits + 1) // width)
    assert terms * 2 ** (sum(widths) - 2) <= 2**53
    fewest = min(
        prod(-(-(span.bits + 1) // width) for span, width in zip(spans, pair, strict=True))
        for pair in product(range(2, 54), repeat=2)
        if terms * 2 ** (sum(pair) - 2) <= 2**53
    )
    assert prod(-(-(span.bits + 1) // width) for span, width in zip(spans, widths, strict=True)) == fewest


def round_to(numbers, precision):
    """Leave so many bits of each number."""
    parts, exponents = np.frexp(numbers)
    return np.ldexp(np.rint(np.ldexp(parts, precision)), exponents - precision)


def test_a_sum_of_the_largest_units_is_exact():
    """All slices as large as they may be, and of one sign: 4096 products add up to 2^53 units."""
    one = np.full((1, 4096), 2.0**22)
    left, right = one - 2.0**-21, one.T - 2.0**-21  # the first slices round up to 2^22
    assert sums_of(left, right)[0, 0] == float(4096 * (Fraction(2) ** 22 - Fraction(2) ** -21) ** 2)


def test_zeros_have_no_sign():
    assert np.signbit(sums_of(-np.zeros((1, 3)), np.ones((3, 1)))).tolist() == [[False]]


@pytest.mark.parametrize("numbers", [[1.0, 2.0**-300], [2.0**900], [2.0**-900], [2.0**300, 5e-324]], ids=str)
def test_what_cannot_be_cut(numbers):
    assert slices_of(np.array([numbers]), np.array([numbers]).T) is None


def test_float32_of_a_layer_takes_six_products(rng):
    x, w = (rng.standard_normal(shape, "float32").astype(float) for shape in ((50, 4608), (4608, 50)))
    assert prod(len(one) for one in slices_of(x, w, 24)) == 6
    whole = np.rint(x * 4), np.rint(w * 4)
    assert prod(len(one) for one in slices_of(*whole, 24)) == 1


def test_what_two_passes_leave_in_doubt_is_added_by_fsum(monkeypatch):
    """1 + 2^-53 is halfway between two doubles: what is 2^-110 of it decides."""
    seen = []
    monkeypatch.setattr("teachconv.backends.slices.fsum", lambda parts: seen.append(1) or fsum(parts))
    terms = np.array([[1.0, 2.0**-53, 2.0**-110, 2.0**-112]])
    assert sums_of(terms, np.ones((4, 1)))[0, 0] == 1 + 2.0**-52
    terms[0, 2:] *= -1
    assert sums_of(terms, np.ones((4, 1)))[0, 0] == 1.0
    assert seen


CASES = {
    "forward": lambda x, w, dy, how: tc.conv2d(x, w, **how),
    "input gradient": lambda x, w, dy, how: tc.conv2d_backprop_input(x.shape, w, dy, **how),
    "filter gradient": lambda x, w, dy, how: tc.conv2d_backprop_filter(x, w.shape, dy, **how),
}


@pytest.mark.parametrize("data", ["normal", "integers", "scaled", "tiny", "huge"])
@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "int64"])
@pytest.mark.parametrize("name", CASES)
def test_the_bits_of_loops(name, dtype, data):
    x, w = make_array((2, 6, 5, 4), dtype, data), make_array((3, 2, 2, 6), dtype, data)
    how = {"strides": (2, 1), "padding": ((1, 0), (2, 1)), "dilations": (1, 2), "backend": "reference"}
    dy = make_array(tc.conv2d(x, w, **how).shape, dtype, data, "dy")
    loops, slices = (CASES[name](x, w, dy, how | {"algorithm": one}) for one in ("loops", "slices"))
    assert np.array_equal(np.isnan(loops), np.isnan(slices)) if dtype in FLOATS else True
    finite = ~np.isnan(loops)
    assert loops[finite].tobytes() == slices[finite].tobytes()


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_with_a_bias_wrap_around(dtype):
    x, w = np.full((1, 2, 2, 3), 7, dtype), np.full((1, 1, 3, 3), 5, dtype)
    bias = np.array([0, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    y = tc.conv2d(x, w, bias=bias, backend="reference", algorithm="slices")
    assert (
        y[0, 0, 0].tolist()
        == tc.conv2d(x, w, bias=bias, backend="reference", algorithm="loops")[0, 0, 0].tolist()
    )
    assert y[0, 0, 0, 1] == np.iinfo(dtype).min + 104


def test_midpoints_of_the_type_are_settled():
    """Sums halfway between two numbers of float16, but for a term far below: 2049 and a bit, less a bit, none."""
    x = np.float16([[2048, 1, 2.0**-14], [2048, 1, -(2.0**-14)], [2048, 1, 0]]).reshape(1, 3, 1, 3)
    w = np.ones((1, 1, 3, 4), "float16")
    y = tc.conv2d(x, w, backend="reference", algorithm="slices")
    assert y[0, :, 0, 0].tolist() == [2050, 2048, 2048]


def test_it_is_chosen_for_large_calls_and_gives_way_to_infinity():
    x, w = make_array((1, 24, 24, 8), "float32"), make_array((3, 3, 8, 16), "float32")
    how = {"padding": "SAME", "backend": "reference"}
    assert tc.trace(tc.conv2d, x, w, **how).algorithm == "slices"
    assert tc.trace(tc.conv2d, x[:, :4, :4], w, **how).algorithm == "direct"
    many, each = np.tile(x, 8), np.ones((3, 3, 64, 1), "float32")
    assert tc.trace(tc.depthwise_conv2d, many, each, **how).algorithm == "direct"
    x[0, 3, 3, 1] = np.inf
    trace = tc.trace(tc.conv2d, x, w, **how)
    assert trace.algorithm == "direct"
    assert "slices gives way" in str(trace)
    assert trace.result.tobytes() == tc.conv2d(x, w, **how, algorithm="direct").tobytes()


@pytest.mark.slow
def test_a_million_cells_have_the_bits_of_direct():
    x, w = make_array((9, 58, 58, 8), "float32", "scaled"), make_array((3, 3, 8, 40), "float32")
    slices, direct = (tc.conv2d(x, w, backend="reference", algorithm=one) for one in ("slices", "direct"))
    assert slices.size > 1_000_000
    assert slices.tobytes() == direct.tobytes()


FAULTS = {
    "a slice is left out": lambda sums, left, right, *more: sums(
        left * np.append(np.ones(len(left) - 1), 0)[:, None, None], right, *more
    ),
    "a product of slices is added twice": lambda sums, left, right, *more: (
        sums(left, right, *more) + sums(left[:1], right[:1], *more)
    ),
    "a sum is twice as large": lambda sums, *given: 2 * sums(*given),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dtype", [*FLOATS, "bfloat16", "int32"])
@pytest.mark.parametrize("name", CASES)
def test_a_fault_in_the_products_is_found(name, dtype, fault, monkeypatch):
    """Of each call some cells are summed one by one, so that a fault of the slices, or of a BLAS, raises."""
    pytest.importorskip("ml_dtypes")
    data = "integers" if dtype == "int32" else "normal"  # others are too large to be one slice
    x, w = make_array((2, 6, 5, 4), dtype, data), make_array((3, 2, 2, 6), dtype, data)
    how = {"strides": (2, 1), "padding": ((1, 0), (2, 1)), "backend": "reference"}
    dy = make_array(tc.conv2d(x, w, **how).shape, dtype, data, "dy")
    how["algorithm"] = "slices"
    CASES[name](x, w, dy, how)
    faulty = lambda *given: FAULTS[fault](exact_sums, *given)  # noqa: E731
    monkeypatch.setattr("teachconv.backends.reference.exact_sums", faulty)
    with pytest.raises(tc.ContractError, match=r"slices of the reference: cell \[.* the exact sum.*BLAS"):
        CASES[name](x, w, dy, how)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64", "int64"])
def test_of_a_small_result_every_cell_is_compared(dtype, monkeypatch):
    pytest.importorskip("ml_dtypes")
    x, w = make_array((1, 4, 4, 3), dtype, "integers"), make_array((1, 1, 3, 4), dtype, "integers")
    for place in range(64):

        def faulty(*given, place=place):
            sums = exact_sums(*given)
            sums.flat[place] += 1
            return sums

        monkeypatch.setattr("teachconv.backends.reference.exact_sums", faulty)
        with pytest.raises(
            tc.ContractError, match=rf"cell \[0, {place // 16}, {place // 4 % 4}, {place % 4}\]"
        ):
            tc.conv2d(x, w, backend="reference", algorithm="slices")


def test_long_sums_are_compared_in_fewer_cells(monkeypatch):
    """At most half a million terms are summed again, and at least one cell."""
    seen = []
    monkeypatch.setattr(
        reference,
        "round_sum",
        lambda terms, dtype, real=reference.round_sum: seen.append(1) or real(terms, dtype),
    )
    for dtype, length, cells in (("float32", 9, 64), ("float32", 1 << 14, 32), ("float64", 1 << 14, 1)):
        x, w = make_array((1, 1, 9, length), dtype), make_array((1, 1, length, 9), dtype)
        tc.conv2d(x, w, backend="reference", algorithm="slices")
        assert len(seen) == cells
        seen.clear()


def test_the_products_that_cells_are_checked_by_are_exact(rng):
    """Integers instead of fractions: over all exponents, with zeros and subnormal numbers."""
    for count in range(40):
        one, other = (
            rng.standard_normal(count) * 2.0 ** rng.integers(least, most, count)
            for least, most in ((-1070, 990), (-500, 30))
        )
        if count:
            one[0], other[-1] = 0.0, 5e-324
        want = sum(map(mul, map(Fraction, one.tolist()), map(Fraction, other.tolist())))
        assert sum(reference._products(one, other)) == want
