"""Pooling by hand, against plain loops in rational numbers, and the adjoint identity."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import teachconv as tc
from teachconv.core.dtypes import to_dtype
from teachconv.core.rounding import round_sum
from teachconv.data.seeded import make_array
from teachconv.truth.bounds import direct, judge
from teachconv.windows import pooling, walking
from teachconv.windows.pooling import PoolCall, forward
from teachconv.windows.walking import counts, whole


def windows(n, k, s, padding):
    """The indices of each window of one axis, those outside included, from the definition of SAME and VALID."""
    if padding == "VALID":
        return [range(start, start + k) for start in range(0, n - k + 1, s)]
    out = -(-n // s)
    before = max(0, (out - 1) * s + k - n) // 2
    return [range(o * s - before, o * s - before + k) for o in range(out)]


def by_loops(x, sizes, strides, padding, make):
    """The pool of [batch, *sizes, channels], each cell from the list of the cells of its window."""
    each = [windows(*facts, padding) for facts in zip(x.shape[1:-1], sizes, strides, strict=True)]
    y = np.empty((len(x), *map(len, each), x.shape[-1]), object)
    for n, c in product(range(len(x)), range(x.shape[-1])):
        for place in product(*(range(len(axis)) for axis in each)):
            cells = product(*(axis[o] for axis, o in zip(each, place, strict=True)))
            inside = [
                cell for cell in cells if all(0 <= i < m for i, m in zip(cell, x.shape[1:-1], strict=True))
            ]
            y[(n, *place, c)] = make([x[(n, *cell, c)] for cell in inside])
    return y


CASES = [
    ((2, 7, 2), (3,), (2,)),
    ((1, 6, 7, 2), (3, 2), (2, 1)),
    ((2, 5, 4, 1), (2, 4), (3, 3)),
    ((1, 4, 3, 5, 2), (2, 3, 2), (2, 1, 2)),
]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("shape", "sizes", "strides"), CASES)
def test_plain_loops(shape, sizes, strides, padding):
    x = make_array(shape, "float32", "scaled", "pool")
    want = by_loops(x, sizes, strides, padding, max)
    assert np.array_equal(tc.max_pool(x, sizes, strides, padding), want.astype("float32"))
    means = by_loops(
        x, sizes, strides, padding, lambda cells: sum(map(Fraction, map(float, cells))) / len(cells)
    )
    # a double of the exact mean is within half an ulp of it, and so is the float32 that is nearest to that
    got = tc.avg_pool(x, sizes, strides, padding)
    assert got.dtype == np.float32
    ulp = np.abs(np.spacing(got)).astype(object)
    error = [
        abs(Fraction(float(a)) - b) / Fraction(float(u))
        for a, b, u in zip(got.flat, means.flat, ulp.flat, strict=True)
    ]
    assert max(error) <= Fraction(1, 2)


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_layouts(data_format):
    x = make_array((2, 5, 6, 3), "int32", "integers", "layout")
    given = x if data_format == "NHWC" else x.transpose(0, 3, 1, 2)
    got = tc.max_pool(given, [1, 3, 2, 1] if data_format == "NHWC" else [1, 1, 3, 2], 2, "SAME", data_format)
    want = tc.max_pool(x, (3, 2), 2, "SAME")
    assert np.array_equal(got if data_format == "NHWC" else got.transpose(0, 2, 3, 1), want)


def test_the_mean_is_rounded_once():
    x = np.float32([1, 2**-24, 2**-60]).reshape(1, 3, 1) * 3
    assert tc.avg_pool(x, 3, 1, "VALID").item() == 1 + 2.0**-23  # rounding the sum first gives 1


def test_not_finite_numbers():
    x = np.float32([np.inf, 1, -np.inf, np.nan, 2, 3e38, 3e38]).reshape(1, 7, 1)
    got = tc.avg_pool(x, 2, 1, "VALID").ravel()
    assert np.array_equal(got, np.float32([np.inf, -np.inf, np.nan, np.nan, 1.5e38, 3e38]), equal_nan=True)
    largest = tc.max_pool(x, 2, 1, "VALID").ravel()
    assert largest.tolist() == [np.inf, 1, np.finfo("f4").min, 2, np.float32(3e38), np.float32(3e38)]


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("shape", "sizes", "strides"), CASES)
def test_gradients_are_adjoint(shape, sizes, strides, padding):
    """<pool(x), dy> = <x, grad(dy)>: both are linear, the maximum where the same cells win."""
    x = np.random.default_rng(3).permutation(np.prod(shape)).reshape(shape).astype("float64")
    y = tc.max_pool(x, sizes, strides, padding)
    dy = make_array(y.shape, "float64", "integers", "dy")
    assert (y * dy).sum() == (x * tc.max_pool_grad(x, dy, sizes, strides, padding)).sum()
    mean = tc.avg_pool(x * 5040, sizes, strides, padding)  # every divisor up to 8 and 12 divides them
    dy = dy * 5040
    assert (mean * dy).sum() == 5040 * (x * tc.avg_pool_grad(shape, dy, sizes, strides, padding)).sum()


def test_ties_go_to_the_first_cell():
    x = np.ones((1, 3, 3, 1), "float32")
    got = tc.max_pool_grad(x, np.ones((1, 2, 2, 1), "float32"), 2, 1, "VALID")
    assert got[0, :, :, 0].tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]


def test_the_numbers_of_the_graph_runtime_are_the_same_walk():
    x = make_array((2, 9, 8, 3), "float32", "normal", "graph")
    exact, floats = tc.avg_pool(x, 3, 2, "SAME"), tc.graph.nn.avg_pool(x, 3, 2, "SAME").numpy()
    sizes = tc.avg_pool(np.abs(x), 3, 2, "SAME").astype(float)
    assert judge(floats, exact, direct(sizes, 10, "float32")).passed
    assert np.array_equal(tc.max_pool(x, 3, 2, "SAME"), tc.graph.nn.max_pool(x, 3, 2, "SAME").numpy())


def test_counts():
    axis = tc.conv2d_geometry((1, 5, 5, 1), (4, 4, 1, 1), 2, 2).rows
    assert counts([axis]).tolist() == [2, 4, 3]
    assert counts([axis], padded=True).tolist() == [4, 4, 4]
    assert counts([whole(2), axis]).tolist() == [[2, 4, 3]] * 2


def test_a_window_without_cells():
    """A dilated window may step over the input: a maximum then is its start, a mean 0."""
    axis = tc.conv_geometry((1, 1, 1), (2, 1, 1), 1, ((1, 1),), None, 2).axes[0]
    call = PoolCall("own", "max", (axis,), "W", start=-np.inf)
    assert forward(call, np.float32([5])).tolist() == [-np.inf]
    assert PoolCall("own", "average", (axis,), "W")(np.float32([5])).tolist() == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ksize": 9, "padding": "VALID"}, r"VALID needs in_rows >= 9 \(filter 9, dilation 1\); got 4"),
        ({"padding": ((2, 0), (0, 0))}, "Top padding 2 needs to be smaller than the window size 2"),
        ({"padding": "same"}, "padding must be .*did you mean"),
        ({"ksize": None}, "ksize must be an int"),
        ({"ksize": [2, 2, 2, 1]}, "ksize must be 1 at N and C"),
        ({"strides": 0}, "strides must be at least 1; got 0"),
        ({"data_format": "NDHWC"}, 'data_format must be "NHWC" or "NCHW"'),
        ({"input": np.ones((4, 4))}, "input must have 3, 4 or 5 axes"),
        ({"input": np.ones((1, 4, 4, 1), "int32")}, "must have a floating dtype.*int32"),
    ],
)
def test_refused(arguments, message):
    right = {"input": np.ones((1, 4, 4, 1), "float32"), "ksize": 2, "strides": 2, "padding": "SAME"}
    with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=message):
        tc.avg_pool(**right | arguments)


def test_a_gradient_of_another_shape_is_refused():
    x = np.ones((1, 4, 4, 1), "float32")
    with pytest.raises(tc.ArgumentError, match=r"grad must have shape \[1, 2, 2, 1\]"):
        tc.max_pool_grad(x, x, 2, 2, "SAME")
    with pytest.raises(tc.ArgumentTypeError, match="grad must have the dtype of orig_input"):
        tc.max_pool_grad(x, np.ones((1, 2, 2, 1)), 2, 2, "SAME")


# ---------------------------------------------------------------------------------------------
# What porters do with pools
# ---------------------------------------------------------------------------------------------

TORCH = tc.dialects.torch
SIZES_OF_POOLS = [(1, 4, 8, 8), (2, 3, 11, 9), (3, 8, 14, 13)]
PORTED_POOLS = [  # the call that was meant, what gave the result, and the code
    (("avg_pool2d", 2, {"divisor_override": 1}), ("avg_pool2d", 2, {}), "divisor"),
    (
        ("avg_pool2d", 3, {"stride": 2, "padding": 1, "divisor_override": 4}),
        ("avg_pool2d", 3, {"stride": 2, "padding": 1}),
        "divisor",
    ),
    (("max_pool2d", 2, {}), ("max_pool2d", 2, {"stride": 1}), "stride"),
    (("max_pool2d", 3, {"stride": 2}), ("max_pool2d", 3, {}), "stride"),
    (("max_pool2d", 3, {"stride": 2, "padding": 1}), ("max_pool2d", 3, {"stride": 2}), "padding"),
    (("avg_pool2d", 3, {"stride": 2}), ("avg_pool2d", 3, {"stride": 2, "padding": 1}), "padding"),
    (("max_pool2d", (2, 3), {"stride": 1}), ("max_pool2d", (3, 2), {"stride": 1}), "swapped_window"),
    (("max_pool2d", 2, {"stride": (1, 2)}), ("max_pool2d", 2, {"stride": (2, 1)}), "swapped_strides"),
    (("max_pool2d", 3, {"stride": 1, "dilation": 2}), ("max_pool2d", 3, {"stride": 1}), "dilation"),
    (("max_pool2d", 2, {}), ("avg_pool2d", 2, {}), "average_for_max"),
    (("avg_pool2d", 2, {}), ("max_pool2d", 2, {}), "max_for_average"),
]


def row_of_a_pool(op, x, *args, got, **kwargs):
    [row] = tc.diff(op, x, *args, backends=[], against=got, **kwargs).rows
    return row


@pytest.mark.parametrize("shape", SIZES_OF_POOLS)
@pytest.mark.parametrize(("meant", "made", "code"), PORTED_POOLS)
def test_a_ported_pool_is_named(meant, made, code, shape):
    x = make_array(shape, "float32", "normal", "x")
    got = getattr(TORCH, made[0])(x, made[1], **made[2])
    row = row_of_a_pool(getattr(TORCH, meant[0]), x, meant[1], got=got, **meant[2])
    assert row.passed is False
    assert row.diagnosis is not None, row.note
    assert row.diagnosis.code == code


@pytest.mark.parametrize("shape", SIZES_OF_POOLS)
def test_same_and_padding_on_both_sides_are_named(shape):
    x = make_array(shape, "float32", "normal", "x")
    same, both = tc.max_pool(x, 3, 2, "SAME", "NCHW"), TORCH.max_pool2d(x, 3, 2, 1)
    if same.tobytes() != both.tobytes():  # at odd sizes they are the same
        assert row_of_a_pool(tc.max_pool, x, 3, 2, "SAME", "NCHW", got=both).diagnosis.code in (
            "padding",
            "padding_side",
        )
        assert row_of_a_pool(TORCH.max_pool2d, x, 3, 2, 1, got=same).diagnosis.code in (
            "padding",
            "padding_side",
        )
    row = row_of_a_pool(tc.avg_pool, x, 3, 2, "SAME", "NCHW", got=TORCH.avg_pool2d(x, 3, 2, 1))
    assert "count_include_pad" in row.diagnosis.code


def test_where_a_pool_is_wrong_is_said():
    x = make_array((2, 5, 8, 6), "float32", "normal", "x")
    got = TORCH.max_pool2d(x, 2).copy()
    got[:, 2] = 0
    row = row_of_a_pool(TORCH.max_pool2d, x, 2, got=got)
    assert (row.where, row.note) == ("channel 2 of 5: zeros", "none of the usual mistakes")
    assert (row.bad.sum(), row.first_bad) == (2 * 4 * 3, (0, 2, 0, 0))


@pytest.mark.parametrize("shape", [(1, 6, 6, 2), (2, 8, 5, 3), (1, 12, 14, 2)])
def test_a_maximum_that_begins_with_zero(shape):
    jax, x = tc.dialects.jax, -np.abs(make_array(shape, "float32", "normal", "x")) + np.float32(0.4)
    call = (np.maximum, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    row = row_of_a_pool(jax.reduce_window, x, -np.inf, *call, got=jax.reduce_window(x, 0.0, *call))
    assert row.diagnosis.code == "start"


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("seed", range(6))
def test_means_by_float64_are_those_of_rational_numbers(seed, dtype, monkeypatch):
    """Wide exponents, cancellation, ties of the rounding, zeros of both signs and infinities."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((2, 3, 9, 9)) * 10.0 ** random.integers(
        -8 if dtype == "float32" else -3, 4, (2, 3, 9, 9)
    )
    x[0, 0, :2], x[0, 1], x[1, 2] = -x[0, 0, 2:4], -0.0, random.integers(-9, 9, (9, 9))
    x[1, 1, 3, 3] = np.inf if seed % 2 else 1
    x = x.astype(dtype)
    for padding in (0, 1):
        for k in (2, 3):
            fast = TORCH.avg_pool2d(x, k, 2, padding)
            with monkeypatch.context() as patch:
                patch.setattr(pooling, "exactly", lambda walk, x, _, over: walking.exactly(walk, x, 0, over))
                slow = TORCH.avg_pool2d(x, k, 2, padding)
            assert fast.tobytes() == slow.tobytes()


def test_a_mean_in_bfloat16_is_rounded_once():
    """By way of float32 it would be 1 + 2**-8, a midpoint, and then 1."""
    x = np.array([4, 2.0**-6, 2.0**-28, 0]).astype(to_dtype("bfloat16")).reshape(1, 4, 1)
    assert float(tc.avg_pool(x, 4, 4, "VALID").item()) == 1 + 2.0**-7


def test_means_of_numbers_of_any_range_are_exact_without_fractions(monkeypatch):
    """Doubles sum them in parts whose sums have no error; four numbers by four is exact, by nine seldom a tie."""
    wide_range = make_array((1, 12, 12, 2), "float32", seed="range") * 10.0 ** -np.arange(0, 24).reshape(
        12, 2
    )
    x = wide_range.astype("float32")
    cells = []
    monkeypatch.setattr(
        walking, "round_sum", lambda terms, dtype: cells.append(terms) or round_sum(terms, dtype)
    )
    for size in (2, 3):
        mean = by_loops(
            x,
            (size,) * 2,
            (size,) * 2,
            "VALID",
            lambda window: round_sum(
                [sum(Fraction(float(cell)) for cell in window) / len(window)], "float32"
            ),
        )
        assert np.array_equal(tc.avg_pool(x, size, size, "VALID"), mean.astype("float32"))
    assert len(cells) <= 2
