"""The reference is the exact sum rounded once, checked against rational arithmetic."""

import ast
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_same_bits, mostly_slow, problems
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import reference
from teachconv.core.dtypes import float_format, to_dtype
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.rounding import round_sum
from teachconv.data.seeded import make_array
from teachconv.running import dispatch
from teachconv.verification.cases import find_cases

CASES = find_cases("small")
DTYPES = ["float16", "bfloat16", "float32", "float64", "int32", "int64"]
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
    """conv2d directly from the index law, in rational numbers."""
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
    """Rounding through double would round twice: the part that double drops decides."""
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


@pytest.mark.slow
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
    """Above 2^995 Veltkamp's constant overflows, below 2^-970 half products underflow: results are exact nevertheless."""
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


# ---------------------------------------------------------------------------------------------
# loops, which are for reading, and direct, which is what runs: the same bits
# ---------------------------------------------------------------------------------------------


FEW_TERMS = 3_000


def assert_loops_are_direct(call, activation=None):
    if call.kind.sums_images:
        activation = None
    loops, direct = (
        dispatch.run_canonical(call, "reference", name, activation=activation) for name in ("loops", "direct")
    )
    assert_same_bits(direct, loops)


@pytest.mark.parametrize("dtype", mostly_slow(DTYPES, "float32", "float16", "int32"))
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op} {case.name}".replace(" ", "-"))
def test_loops_and_direct_give_the_same_bits(case, dtype):
    for problem in case.problems(dtype):
        call, _ = tc.nn_ops.call_of(problem.op, problem.args, problem.kwargs)
        if call.geometry.macs <= FEW_TERMS:
            assert_loops_are_direct(call)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.op} {case.name}".replace(" ", "-"))
def test_loops_and_direct_give_the_same_bits_in_long_sums_and_many_channels(case, dtype):
    for problem in case.problems(dtype):
        call, _ = tc.nn_ops.call_of(problem.op, problem.args, problem.kwargs)
        most = 250_000 if dtype == "int32" else 10_000  # integers are quickest
        if FEW_TERMS < call.geometry.macs <= most:
            assert_loops_are_direct(call)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("data", ["integers", "scaled", "tiny", "huge", "nonfinite"])
def test_loops_and_direct_give_the_same_bits_on_odd_data(data, dtype):
    for case in CASES[::10]:
        for problem in case.problems(dtype, data):
            call, _ = tc.nn_ops.call_of(problem.op, problem.args, problem.kwargs)
            if call.geometry.macs <= 2_000:
                assert_loops_are_direct(call, "relu" if case.bias else None)


def awkward(dtype, shape, seed):
    """Small multiples of powers of two, zeros of either sign, and few values that are not finite.

    Sums of them lie at midpoints of the dtype, just beside them, among its subnormals and around its limit.
    """
    form, random = float_format(dtype), np.random.default_rng(seed)
    middle = form.smallest_exponent // 2
    top = int(math.log2(form.largest))
    powers = [0, -form.precision, -2 * form.precision, middle, middle + form.precision, top // 2, top - 3]
    exponents = random.choice(powers[: seed % 7 + 1], shape)
    with np.errstate(over="ignore"):
        values = np.ldexp(random.integers(-9, 10, shape).astype(float), exponents)
        values = np.where(random.random(shape) < 0.1, -0.0, values)
        if seed % 5 == 0:
            special = random.choice([np.nan, np.inf, -np.inf], shape)
            values = np.where(random.random(shape) < 0.05, special, values)
        return values.astype(to_dtype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@settings(max_examples=50)
@given(problem=problems(max_size=3, max_filter=3), seed=st.integers(0, 10**6), biased=st.booleans())
def test_loops_and_direct_round_midpoints_limits_and_subnormals_alike(dtype, problem, seed, biased):
    g = conv2d_geometry(**problem)
    x, w, dy = (
        awkward(dtype, shape, seed + turn)
        for turn, shape in enumerate((g.input_shape, g.filters_shape, g.output_shape))
    )
    common = {key: problem[key] for key in ("strides", "padding", "dilations")}
    bias = {"bias": awkward(dtype, (g.out_channels,), seed)} if biased else {}
    for op, args, extra in (
        (tc.conv2d, (x, w), bias),
        (tc.conv2d_backprop_input, (x.shape, w, dy), {}),
        (tc.conv2d_backprop_filter, (x, w.shape, dy), {}),
    ):
        assert_loops_are_direct(tc.nn_ops.call_of(op, args, common | extra)[0])


@given(problem=problems(), dtype=st.sampled_from(["int32", "int64"]))
def test_loops_and_direct_wrap_integers_alike(problem, dtype):
    g = conv2d_geometry(**problem)
    x, w = make_array(g.input_shape, dtype, "normal", "x"), make_array(g.filters_shape, dtype, "normal", "w")
    common = {key: problem[key] for key in ("strides", "padding", "dilations")}
    assert_loops_are_direct(tc.nn_ops.call_of(tc.conv2d, (x, w), common)[0])


def test_direct_is_the_default_of_small_calls():
    x, w = np.ones((1, 3, 3, 1), np.float32), np.ones((2, 2, 1, 1), np.float32)
    dy = np.ones((1, 2, 2, 1), np.float32)
    assert [algorithm.name for algorithm in reference.ALGORITHMS] == ["loops", "direct", "slices"]
    for op, args in (
        (tc.conv2d, (x, w)),
        (tc.conv2d_backprop_input, (x.shape, w, dy)),
        (tc.conv2d_backprop_filter, (x, w.shape, dy)),
    ):
        for algorithm, ran in ((None, "direct"), ("auto", "direct"), ("loops", "loops")):
            assert tc.trace(op, *args, backend="reference", algorithm=algorithm).algorithm == ran


@pytest.mark.parametrize("algorithm", ["direct", "slices"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_small_blocks_give_the_same_bits(dtype, algorithm, monkeypatch):
    call = []
    for strides in (1, 2):
        x, w = make_array((2, 7, 6, 4), dtype, "normal", "x"), make_array((3, 3, 2, 6), dtype, "normal", "w")
        call.append(tc.nn_ops.call_of(tc.conv2d, (x, w), {"strides": strides, "padding": "SAME"})[0])
    want = [dispatch.run_canonical(one, "reference", "direct") for one in call]
    monkeypatch.setattr(reference, "LARGEST_BLOCK", 1)
    for one, result in zip(call, want, strict=True):
        assert_same_bits(dispatch.run_canonical(one, "reference", algorithm), result)


def test_a_nan_does_not_hide_products_that_underflow():
    """2^-1070 + 2^-1075 is a midpoint of the subnormal numbers; 2^-1110 more, which no double holds, decides."""
    number, scale = 2.0**-600 * (1 + 2.0**-5 + 2.0**-40), 2.0**-470
    x = np.array([math.nan, math.inf, number]).reshape(3, 1, 1, 1)
    got = tc.conv2d(x, np.full((1, 1, 1, 1), scale), backend="reference").ravel()
    assert np.isnan(got[0])
    assert got[1] == math.inf
    assert got[2] == nearest(Fraction(number) * Fraction(scale), "float64") == 2.0**-1070 + 2.0**-1074


def test_round_sum_just_beside_a_midpoint():
    """The double next to a midpoint is on one side of it, whatever was rounded away to get there."""
    below = 1 + 2.0**-24 - 2.0**-52
    for crumb in (2.0**-54, -(2.0**-54), 2.0**-80):
        assert round_sum([below, crumb], "float32") == 1.0
        assert round_sum([-below, crumb], "float32") == -1.0
    assert round_sum([1.7e308, 1.7e308], "float32") == math.inf
    assert round_sum([1.7976931348623157e308], "float32") == math.inf  # rounds up to 2^1024


# ---------------------------------------------------------------------------------------------
# One index law
# ---------------------------------------------------------------------------------------------


LAW_NAMES = {"stride": "stride", "strides": "stride", "s": "stride"}
LAW_NAMES |= {"dilation": "dilation", "dilations": "dilation", "d": "dilation"}


def index_laws(tree):
    """Yield every sum in a syntax tree that has a product with a stride and a product with a dilation."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, (ast.Add, ast.Sub)):
            continue
        products = [n for n in ast.walk(node) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mult)]
        leaves = [leaf for one in products for leaf in ast.walk(one)]
        names = [getattr(leaf, "attr", getattr(leaf, "id", "")) for leaf in leaves]
        if {"stride", "dilation"} <= {LAW_NAMES.get(name) for name in names}:
            yield node


def test_an_index_law_is_recognised():
    for law in ("o * axis.stride - before + tap * axis.dilation", "t * d + (o * s - p)", "g.strides[0] * o + g.dilations[0] * t"):  # fmt: skip
        assert any(index_laws(ast.parse(f"index = {law}")))
    assert not any(index_laws(ast.parse("full = (size - 1) * stride + effective_filter")))


def test_the_index_law_stands_in_two_places():
    """In law, which all others ask, and literally in the plain loops of the reference.

    The exercises have it too, in what a learner is to write, and in what is often written instead.
    """
    package = Path(tc.__file__).parent
    found = {}
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        laws = set(map(ast.unparse, index_laws(tree)))
        if laws and path.parent.name != "exercises":
            found[path.relative_to(package).as_posix()] = laws
    law = "out_index * self.stride - self.pad_before + tap * self.dilation"
    assert law in found["core/law.py"]
    assert {law.replace("self", "axis")} == found["backends/reference.py"]
    assert set(found) == {"core/law.py", "backends/reference.py"}
