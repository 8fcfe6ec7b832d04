"""What bound a result is judged by, in one word; half types judged against the exact sum; what is suspicious."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import teachconv as tc
from teachconv import backends
from teachconv.backends import BOUNDS, numpy_backend
from teachconv.core.dtypes import float_format
from teachconv.data.seeded import make_array
from teachconv.running.nn_ops import call_of
from teachconv.truth import bounds
from teachconv.truth.exact import float64_result

pytestmark = pytest.mark.usefixtures("undiagnosed")  # which results pass, and not why the others fail

HALVES = ("float16", "bfloat16")
HOW = {"strides": (2, 1), "padding": ((1, 0), (2, 1)), "dilations": (1, 2)}


def calls(dtype, data="normal", depth=24):
    """Yield one call of each kind: the op, and its arguments."""
    x, w = make_array((2, 9, 8, depth), dtype, data), make_array((3, 2, depth, 10), dtype, data)
    dy = make_array(tc.conv2d(x, w, **HOW).shape, dtype, data, "dy")
    yield tc.conv2d, (x, w)
    yield tc.conv2d_backprop_input, (x.shape, w, dy)
    yield tc.conv2d_backprop_filter, (x, w.shape, dy)
    yield tc.conv2d_transpose, (dy, w, x.shape)


def judged(op, args, theirs, error=None, **more):
    """Return the row of one array."""
    return tc.diff(op, *args, backends=[], against=theirs, error=error, **HOW, **more).rows[0]


def truncated(values, dtype):
    """Round doubles to a type by leaving bits out: towards zero."""
    form = float_format(dtype)
    last = np.maximum(np.frexp(values)[1] - form.precision, form.smallest_exponent)
    return np.ldexp(np.trunc(np.ldexp(values, -last)), last)


def upwards(values, dtype):
    """Round doubles to a type away from zero."""
    form = float_format(dtype)
    last = np.maximum(np.frexp(values)[1] - form.precision, form.smallest_exponent)
    units = np.ldexp(values, -last)
    return np.ldexp(np.copysign(np.ceil(np.abs(units)), units), last)


@pytest.fixture(autouse=True)
def _bfloat16():
    pytest.importorskip("ml_dtypes")


# ---------------------------------------------------------------------------------------------
# half types: the exact sum, rounded once
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", ["normal", "scaled"])
@pytest.mark.parametrize("dtype", HALVES)
def test_what_is_truncated_to_a_half_type_fails_and_what_is_rounded_passes(dtype, data):
    for op, args in calls(dtype, data):
        exact = float64_result(call_of(op, args, HOW)[0])
        sums = exact.astype("float32")  # an excellent float32 accumulation: one rounding
        for round_it in (truncated, upwards):
            wrong = round_it(sums.astype("float64"), dtype).astype(dtype)
            row = judged(op, args, wrong)
            assert not row.passed, (op, round_it)
            assert 1 < row.bound_fraction < 2.1  # it is one unit off, where half of one is allowed
            assert "each cell is next to the exact sum" in row.note
            assert "truncated, or rounded twice" in row.note
        assert judged(op, args, float_format(dtype).round(sums.astype("float64"))[0].astype(dtype)).passed
        assert judged(op, args, sums).passed  # not rounded yet


@pytest.mark.parametrize("dtype", HALVES)
def test_float32_sums_in_any_order_rounded_once_pass(dtype):
    rng = np.random.default_rng(3)
    for seed in range(20):
        x = make_array((1, 6, 6, 40), dtype, "normal", f"x {seed}")
        w = make_array((1, 1, 40, 12), dtype, "normal", f"w {seed}")
        order = rng.permutation(40)
        products = x[..., None].astype("float32") * w[0, 0].astype("float32")  # exact
        total = np.zeros((1, 6, 6, 12), "float32")
        for term in order:
            total = total + products[..., term, :]
        for sums in (total, products.sum(axis=3), products.astype("float64").sum(axis=3)):
            rounded = float_format(dtype).round(sums.astype("float64"))[0].astype(dtype)
            row = tc.diff(tc.conv2d, x, w, backends=[], against=rounded).rows[0]
            assert row.passed, row
            assert "suspicious" not in row.note


def test_worked_by_hand():
    """1 + 2^-11 + 2^-12 lies at three quarters of the way from 1 to 1 + 2^-10, the next number of float16."""
    want, exact = np.float16([1 + 2.0**-10]), np.array([1 + 2.0**-11 + 2.0**-12])

    def passes(number, bound):
        return bounds.judge(np.float16([number]), want, bound, np.ones(1), 2, exact=exact).passed

    assert passes(1 + 2.0**-10, 0)
    assert not passes(1, 2.0**-12 - 2.0**-20)
    assert passes(1, 2.0**-12)  # 1 + 2^-11 is a tie, which goes to 1
    assert not passes(1 + 2.0**-9, 3 * 2.0**-12 - 2.0**-20)
    assert passes(1 + 2.0**-9, 3 * 2.0**-12)  # 1 + 3 * 2^-11
    # below 1 the numbers are twice as near: 1 - 2^-12 is halfway from 1 - 2^-11 to 1
    want, exact = np.float16([1]), np.array([1 - 2.0**-13])
    assert passes(1, 0)
    assert not passes(1 - 2.0**-11, 2.0**-13 - 2.0**-20)
    assert passes(1 - 2.0**-11, 2.0**-13)
    # the same, negative; and around zero, where the numbers are 2^-24 apart
    want, exact = np.float16([-1]), np.array([-1 + 2.0**-13])
    assert (passes(-1, 0), passes(-1 + 2.0**-11, 2.0**-14)) == (True, False)
    want, exact = np.float16([0]), np.array([2.0**-26])
    assert (passes(0, 0), passes(2.0**-24, 2.0**-27), passes(-(2.0**-24), 2.0**-27)) == (True, False, False)
    # 65519 is the last integer that becomes 65504; 65520 is a tie, which becomes infinity
    want, exact = np.float16([65504]), np.array([65519.0])
    assert (passes(65504, 0), passes(np.inf, 0.5), passes(np.inf, 1)) == (True, False, True)


@pytest.mark.parametrize("dtype", HALVES)
def test_bias_and_relu_are_part_of_the_exact_sum(dtype):
    x, w = make_array((1, 8, 8, 16), dtype), make_array((3, 3, 16, 8), dtype)
    bias = make_array((8,), dtype, "normal", "bias")
    exact = float64_result(call_of(tc.conv2d, (x, w), {"bias": bias})[0])
    row = tc.diff(tc.conv2d, x, w, bias=bias, backends=[], against=exact.astype(dtype)).rows[0]
    assert row.passed
    # the sums rounded, and then rounded again after the bias is added
    twice = float64_result(call_of(tc.conv2d, (x, w), {})[0]).astype(dtype) + bias
    assert not tc.diff(tc.conv2d, x, w, bias=bias, backends=[], against=twice).passed


# ---------------------------------------------------------------------------------------------
# one word for an array
# ---------------------------------------------------------------------------------------------


def by_fft(x, w):
    """A float32 convolution over images padded with zeros, by NumPy's complex64 transforms."""
    from scipy import fft

    size = [a + b - 1 for a, b in zip(x.shape[1:3], w.shape[:2], strict=True)]
    spectra = np.einsum(
        "nijc,ijco->nijo", fft.fft2(x, size, axes=(1, 2)), fft.fft2(w[::-1, ::-1], size, axes=(0, 1))
    )
    y = fft.ifft2(spectra, axes=(1, 2)).real
    return y[:, w.shape[0] - 1 : x.shape[1], w.shape[1] - 1 : x.shape[2]]


def test_an_fft_is_right_as_an_fft():
    """One large pixel: the error of a transform reaches every cell, and direct summation's bound does not."""
    x, w = make_array((1, 16, 16, 3), "float32"), make_array((3, 3, 3, 4), "float32")
    x[0, 0, 0, 0] = 1e4
    y = by_fft(x, w)
    assert y.dtype == np.float32
    against = {"mine": y, "theirs": y.copy()}
    how = {"backends": [], "against": against}
    assert [row.passed for row in tc.diff(tc.conv2d, x, w, **how).rows] == [False, False]
    assert tc.diff(tc.conv2d, x, w, **how, error="fft").passed
    assert [row.passed for row in tc.diff(tc.conv2d, x, w, **how, error={"mine": "fft"}).rows] == [
        True,
        False,
    ]
    against["mine"] = y * np.float32(1.01)
    assert not tc.diff(tc.conv2d, x, w, **how, error="fft").rows[0].passed


@pytest.mark.parametrize("word", ["winograd2", "winograd4", "winograd4_balanced"])
def test_winograd_has_its_word(word):
    x, w = make_array((1, 12, 12, 8), "float32"), make_array((3, 3, 8, 4), "float32")
    x[0, 6, 6] *= 1e5
    algorithm = "winograd4" if "4" in word else word
    y = tc.conv2d(x, w, 1, "SAME", backend="cython", algorithm=algorithm, precision="fast")
    how = {"backends": [], "against": y}
    if algorithm != "winograd2":
        assert not tc.diff(tc.conv2d, x, w, 1, "SAME", **how).passed
    assert tc.diff(tc.conv2d, x, w, 1, "SAME", **how, error=word).passed
    needs = "one group, dilations 1" if "balanced" in word else "filters 3 x 3, strides 1.*; got .*strides"
    with pytest.raises(ValueError, match=f"error '{word}' needs {needs}"):
        tc.diff(tc.conv2d, x, w, 1, "SAME", dilations=2, backends=[], against=y, error=word)
    gradient = tc.conv2d_backprop_filter, x, w.shape, y, 1, "SAME"
    dw = gradient[0](*gradient[1:], backend="cython", algorithm="winograd4" if "4" in word else "winograd")
    assert tc.diff(*gradient, backends=[], against=dw, error=word).passed


def test_tf32_and_tensor_cores_have_their_words():
    """TF32 keeps 11 bits of each factor; a tensor core truncates sums."""
    x, w = make_array((1, 6, 6, 32), "float32"), make_array((1, 1, 32, 8), "float32")
    tf32 = lambda array: (array.view("int32") + 0x1000 & ~0x1FFF).view("float32")  # noqa: E731
    y = tc.conv2d(tf32(x), tf32(w))
    for word, passes in (("tf32", True), ("direct", False), ("tensor", False)):
        assert tc.diff(tc.conv2d, x, w, backends=[], against=y, error=word).passed is passes
    x, w = np.abs(x).astype("float16"), np.abs(w).astype("float16")
    total = np.zeros((1, 6, 6, 8))
    for term in range(32):  # to float32, towards zero
        total = truncated(total + x[..., term, None].astype(float) * w[0, 0, term].astype(float), "float32")
    once = total.astype("float16")
    assert tc.diff(tc.conv2d, x, w, backends=[], against=once, error="tensor").passed
    assert not tc.diff(
        tc.conv2d, x, w, backends=[], against=truncated(total, "float16"), error="tensor"
    ).passed


def in_half(x, w, dtype, order, fused):
    """Sum products in a half type itself, one by one or in lanes of four."""
    form = float_format(dtype)
    rounded = lambda doubles: form.round(doubles)[0]  # noqa: E731
    products = x[..., None].astype(float) * w[0, 0].astype(float)  # [..., terms, channels], exact
    products = products if fused else rounded(products)
    lanes = 4 if order == "lanes" else 1
    totals = []
    for lane in range(lanes):
        total = np.zeros(products.shape[:-2] + products.shape[-1:])
        for term in range(lane, products.shape[-2], lanes):
            total = rounded(total + products[..., term, :])
        totals.append(total)
    while len(totals) > 1:
        totals = [rounded(a + b) for a, b in zip(totals[::2], totals[1::2], strict=True)]
    return totals[0].astype(dtype)


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("order", ["one by one", "lanes"])
@pytest.mark.parametrize(("dtype", "terms"), [("float16", 64), ("float16", 2048), ("bfloat16", 600)])
def test_sums_in_a_half_type_have_their_word(dtype, terms, order, fused):
    """Of positive terms, so that small ones are lost on the large total; gamma_K would be infinite for many."""
    x = np.abs(make_array((1, 3, 3, terms), dtype, "normal"))
    w = np.abs(make_array((1, 1, terms, 8), dtype, "normal"))
    y = in_half(x, w, dtype, order, fused)
    how = {"backends": [], "against": y}
    word = f"{dtype} accumulation"
    row = tc.diff(tc.conv2d, x, w, **how, error=word).rows[0]
    assert row.passed
    assert 0 < row.bound_fraction < 1
    assert not tc.diff(tc.conv2d, x, w, **how).passed
    if terms == 64:  # of more the bound is larger than the sum
        how["against"] = y * np.array(1.125, dtype)
        assert not tc.diff(tc.conv2d, x, w, **how, error=word).passed


def test_the_bound_of_sums_in_a_half_type_is_nearly_reached():
    """1 and 1023 terms a little above half a unit: each addition rounds up by nearly half a unit."""
    K, u = 1024, 2.0**-11
    form = float_format("float16")
    total, exact = 1.0, Fraction(1)
    for _ in range(K - 1):
        unit = np.ldexp(1.0, int(np.frexp(total)[1]) - 11)
        term = float(np.float16(unit / 2 * (1 + 2.0**-9)))
        exact += Fraction(term)
        total = float(form.round(np.array(total + term))[0])
    error = abs(Fraction(total) - exact) / exact
    assert 0.2 * K * u < error < float(bounds.half_accumulation(np.array(1.0), K, "float16"))


def test_an_overflow_of_sums_in_a_half_type_is_legal():
    """60000 + 60000 - 60000: float32 holds the sum, and float16 does not."""
    x, w = np.float16([60000, 60000, -60000]).reshape(1, 1, 1, 3), np.ones((1, 1, 3, 1), "float16")
    infinite = np.full((1, 1, 1, 1), np.inf, "float16")
    how = {"backends": [], "against": infinite}
    assert tc.diff(tc.conv2d, x, w, **how, error="float16 accumulation").passed
    assert not tc.diff(tc.conv2d, x, w, **how).passed
    x = np.ones((1, 1, 1, 4096), "float16")  # nowhere near the largest number
    how["against"] = infinite
    assert not tc.diff(
        tc.conv2d, x, np.ones((1, 1, 4096, 1), "float16"), **how, error="float16 accumulation"
    ).passed


def test_words_that_do_not_fit_are_refused():
    x, w = make_array((1, 4, 4, 2), "float32"), make_array((3, 3, 2, 2), "float32")
    y = tc.conv2d(x, w)
    how = {"backends": [], "against": {"mine": y}}
    for word in ("winograd3", "ftt", "", 3, ["fft"], np.ones(3)):
        with pytest.raises(
            ValueError, match="error must be one of direct, fft, tensor, .*float16 accumulation"
        ):
            tc.diff(tc.conv2d, x, w, **how, error=word)
    with pytest.raises(ValueError, match=r'got \'ftt\' \(did you mean "fft"\?\)'):
        tc.diff(tc.conv2d, x, w, **how, error="ftt")
    with pytest.raises(ValueError, match="error must have names that against has, 'mine'; got 'yours'"):
        tc.diff(tc.conv2d, x, w, **how, error={"yours": "fft"})
    with pytest.raises(ValueError, match="error must be None without against.*; got 'fft'"):
        tc.diff(tc.conv2d, x, w, backends="numpy", error="fft")
    with pytest.raises(ValueError, match="'bfloat16 accumulation' needs data of bfloat16; got float32"):
        tc.diff(tc.conv2d, x, w, **how, error="bfloat16 accumulation")


@pytest.mark.parametrize("word", BOUNDS)
def test_integers_must_be_equal_whatever_the_word(word):
    x, w = make_array((1, 4, 4, 2), "int32"), make_array((2, 2, 2, 2), "int32")
    y = tc.conv2d(x, w)
    assert tc.diff(tc.conv2d, x, w, backends=[], against=y, error=word).passed
    assert not tc.diff(tc.conv2d, x, w, backends=[], against=y + 1, error=word).passed


def test_a_backend_says_it_of_its_algorithms():
    half = backends.Algorithm("own", "", dtypes=("float16",), error="float16 accumulation")
    assert half.error == "float16 accumulation"
    for dtypes in (("float16", "float32"), ("bfloat16",), backends.FLOATS):
        with pytest.raises(ValueError, match="dtypes of algorithm 'own' must be float16 alone"):
            backends.Algorithm("own", "", dtypes=dtypes, error="float16 accumulation")

    class InHalf:
        """Rounds the sum of each tap to float16."""

        __name__ = "in_half"
        ALGORITHMS = (half,)
        conv2d_backprop_input = staticmethod(numpy_backend.conv2d_backprop_input)
        conv2d_backprop_filter = staticmethod(numpy_backend.conv2d_backprop_filter)

        @staticmethod
        def conv2d(x, w, geometry, *, algorithm=None, precision=None, bias=None, activation=None, out=None):
            y = np.zeros(geometry.output_shape, "float16")
            for tap in product(*map(range, w.shape[:2])):
                one = np.zeros_like(w)
                one[tap] = w[tap]
                y = y + numpy_backend.conv2d(x, one, geometry)
            y = y if bias is None else y + bias
            y = np.maximum(y, 0) if activation else y
            if out is not None:
                out[...] = y
            return y if out is None else out

    x, w = make_array((1, 8, 8, 4), "float16"), make_array((3, 3, 4, 4), "float16")
    row = tc.diff(tc.conv2d, x, w, backends=[InHalf]).rows[0]
    assert row.passed
    wrong = type("Wrong", (InHalf,), {"ALGORITHMS": (backends.Algorithm("own", "", dtypes=("float16",)),)})
    assert not tc.diff(tc.conv2d, x, w, backends=[wrong]).passed


def test_arrays_in_chunks_have_the_words_of_arrays_in_memory():
    da = pytest.importorskip("dask.array")
    x, w = make_array((2, 8, 8, 4), "float16"), make_array((3, 3, 4, 4), "float16")
    lazy = da.from_array(x, chunks=(1, 8, 8, 4))
    exact = float64_result(call_of(tc.conv2d, (x, w), {})[0])
    for word in (None, "direct", "tensor", "float16 accumulation", "fft"):
        assert tc.diff(tc.conv2d, lazy, w, backends=[], against=exact.astype("float16"), error=word).passed
    cut = truncated(exact, "float16").astype("float16")
    assert not tc.diff(tc.conv2d, lazy, w, backends=[], against=cut).passed


# ---------------------------------------------------------------------------------------------
# what passes and is suspicious
# ---------------------------------------------------------------------------------------------


def note_of(x, w, theirs, **how):
    """Return the note of an array that passes."""
    row = tc.diff(tc.conv2d, x, w, 1, "SAME", backends=[], against=theirs, **how).rows[0]
    assert row.passed
    return row.note


def test_errors_of_one_sign_are_suspicious():
    """A result that is 8 eps too large keeps the bound of 1,600 terms; all its errors point away from zero."""
    x, w = make_array((1, 12, 12, 64), "float32"), make_array((5, 5, 64, 4), "float32")
    y = tc.conv2d(x, w, 1, "SAME", backend="reference")
    eight = np.float32(8 * 2.0**-23)
    assert note_of(x, w, y * (1 + eight)) == "suspicious: 576 of 576 errors are away from zero"
    assert note_of(x, w, y * (1 - eight)) == "suspicious: 576 of 576 errors are towards zero"
    assert note_of(x, w, np.nextafter(y, np.float32(np.inf))) == "suspicious: 576 of 576 errors are upwards"
    up_and_down = np.where(np.arange(y.size).reshape(y.shape) % 2, 1 + eight, 1 - eight)
    assert note_of(x, w, y * up_and_down) == ""
    few = y.copy()
    few.flat[:31] *= 1 + eight  # chance gives as many more often than one time in 10^9
    assert note_of(x, w, few) == ""
    few.flat[31] *= 1 + eight
    assert note_of(x, w, few).startswith("suspicious: 32 of 32")
    assert note_of(x, w, y * (1 + eight), error="fft") == ""  # one coefficient reaches every cell
    assert note_of(x, w, y * (1 + eight), rtol=1e-5) == ""  # more is allowed on purpose
    report = tc.diff(tc.conv2d, x, w, 1, "SAME", backends="numpy", against=y * (1 + eight))
    assert report.passed
    assert report.summary.startswith("all pass, 1 suspicious: ")


def test_one_in_a_billion():
    """Chernoff's bound is above the true tail of the binomial distribution, and not by much."""
    from math import comb

    from teachconv.verification.places import odd_signs

    for count in (32, 40, 100, 1000):
        want = np.arange(1.0, count + 1)
        found = [
            most
            for most in range(count // 2, count + 1)
            if odd_signs(want + np.where(np.arange(count) < most, 2.0**-30, -(2.0**-30)), want)
        ]
        tail = sum(comb(count, k) for k in range(found[0], count + 1)) / 2**count
        assert 10 * found[0] >= 9 * count
        assert 4 * tail < 1e-9


def test_equal_cells_count_once():
    """A flat image has one sum, and one error, in all places."""
    x, w = np.full((1, 20, 20, 8), 0.1, "float32"), make_array((3, 3, 8, 3), "float32")
    y = tc.conv2d(x, w, backend="reference")
    assert tc.diff(tc.conv2d, x, w, backends=[], against=np.nextafter(y, np.float32(99))).rows[0].note == ""


def test_what_lost_bits_of_its_weights_is_suspicious():
    """Float16 weights in a layer of 4,608 terms: within the bound, and far from what plain loops do."""
    x, w = make_array((1, 8, 8, 512), "float32"), make_array((3, 3, 512, 8), "float32")
    y = tc.conv2d(x, w.astype("float16").astype("float32"), 1, "SAME")
    note = note_of(x, w, y)
    assert note.startswith("suspicious: the largest error is 0.0")
    assert note.endswith(" times that of cython's direct")


def orders(products):
    """Yield right float32 sums of products, [cells, terms]: the ways in which kernels add."""
    running = lambda terms: np.cumsum(terms, axis=1, dtype="float32")[:, -1]  # noqa: E731
    yield running(products)
    yield running(products[:, ::-1])
    yield running(np.stack([running(part) for part in np.array_split(products, 8, axis=1)], 1))
    yield running(np.stack([running(products[:, lane::8]) for lane in range(8)], 1))
    yield running(np.sort(products, axis=1))
    yield products.sum(axis=1)
    yield products.astype("float64").sum(axis=1).astype("float32")


@pytest.mark.parametrize("kind", ["normal", "positive", "image", "relu"])
def test_right_kernels_are_not_suspicious(kind):
    """1,400 runs of each kind of data."""
    from teachconv.verification.places import odd_signs

    rng = np.random.default_rng(5)
    for _ in range(200):
        terms, cells = int(rng.choice([8, 27, 64, 300])), int(rng.choice([40, 300, 1500]))
        x, w = rng.standard_normal((2, cells, terms)).astype("float32")
        if kind == "positive":
            x, w = abs(x), abs(w)
        elif kind == "image":
            x, w = (rng.integers(0, 256, x.shape) / 255).astype("float32"), w[rng.integers(0, 8, cells)]
        elif kind == "relu":
            x = np.maximum(x, 0)
        want = (x.astype("float64") * w).sum(axis=1).astype("float32")
        for got in orders(x * w):
            assert odd_signs(got, want) == ""
