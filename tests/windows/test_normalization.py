"""Batch normalisation folded into a convolution: by hand, exactly, and within its bound."""

import time
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import teachconv as tc
from teachconv.core.dtypes import to_dtype
from teachconv.data.seeded import make_array
from teachconv.truth.bounds import direct
from teachconv.windows.walking import affine, exactly


def layer(channels, dtype="float32", seed="bn"):
    gamma, beta, mean, bias = (make_array((channels,), dtype, "normal", f"{seed} {name}") for name in "abcd")
    variance = np.abs(make_array((channels,), dtype, "scaled", f"{seed} v"))
    return gamma, beta, mean, variance, bias


def test_by_hand():
    w, one = np.float32([[[[1, 2]]]]), np.ones(2, "float32")
    filters, bias = tc.fold_batch_norm(w, 7 * one, 3 * one, one, 5 * one, 2 * one, 0.25)
    # 3 / sqrt(2 + 0.25) = 2, (7 - 5) * 2 + 1 = 5
    assert filters.ravel().tolist() == [2, 4]
    assert bias.tolist() == [5, 5]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_weight_is_rounded_once(dtype):
    """Against 60 decimals: the error is at most half an ulp, up to what the decimals leave out."""
    w = make_array((2, 3, 4), dtype, "normal", "w")
    gamma, beta, mean, variance, bias = layer(4, dtype)
    filters, offsets = tc.fold_batch_norm(w, bias, gamma, beta, mean, variance, 1e-3)
    assert filters.dtype == offsets.dtype == w.dtype

    def decimal(number):
        return Decimal(float(number))

    def check(got, want):
        half = Fraction(float(np.spacing(np.abs(got)))) / 2
        assert abs(Fraction(float(got)) - Fraction(want)) <= half * (1 + Fraction(1, 10**20))

    with localcontext() as context:
        context.prec = 60
        for c in range(4):
            factor = decimal(gamma[c]) / (decimal(variance[c]) + Decimal(1e-3)).sqrt()
            check(offsets[c], (decimal(bias[c]) - decimal(mean[c])) * factor + decimal(beta[c]))
            for place in product(range(2), range(3)):
                check(filters[(*place, c)], decimal(w[(*place, c)]) * factor)


@pytest.mark.parametrize(("dtype", "padding"), [*product(["float32", "float64"], ["SAME", "VALID"])])
def test_the_bound_holds(dtype, padding):
    """In rational numbers: folded filters against the network with its normalisation; it is at most 20 times too wide."""
    x, w = make_array((1, 5, 5, 2), dtype, "normal", "x"), make_array((3, 3, 2, 3), dtype, "normal", "w")
    gamma, beta, mean, variance, bias = layer(3, dtype, "bound")
    folded = tc.fold_batch_norm(w, bias, gamma, beta, mean, variance, 1e-5)
    fraction = np.frompyfunc(lambda value: Fraction(float(value)), 1, 1)
    geometry = tc.conv2d_geometry(x.shape, w.shape, 1, padding)

    def exact(filters):
        """The convolution in rational numbers, by loops over the law."""
        y = np.zeros(geometry.output_shape, object)
        for n, r, c, o in np.ndindex(y.shape):
            for i, j, k in np.ndindex(filters.shape[:3]):
                row, col = geometry.rows.in_index(r, i), geometry.cols.in_index(c, j)
                if 0 <= row < 5 and 0 <= col < 5:
                    y[n, r, c, o] += Fraction(float(x[n, row, col, k])) * filters[i, j, k, o]
        return y

    with localcontext() as context:
        context.prec = 80
        roots = [Fraction((Decimal(float(v)) + Decimal(1e-5)).sqrt()) for v in variance]
    factor = fraction(gamma) / np.array(roots, object)
    true = (exact(fraction(w)) + fraction(bias) - fraction(mean)) * factor + fraction(beta)
    got = exact(fraction(folded.filters)) + fraction(folded.bias)
    error = np.abs(got - true).astype(float)
    sizes = tc.conv2d(np.abs(x).astype(float), np.abs(folded.filters).astype(float), 1, padding)
    share = (error / folded.error_bound(sizes)).max()
    assert 0.05 < share <= 1


def test_a_folded_convolution_is_the_network():
    x, w = (
        make_array((2, 6, 6, 3), "float32", "normal", "x"),
        make_array((3, 3, 3, 4), "float32", "normal", "w"),
    )
    gamma, beta, mean, variance, bias = layer(4)
    folded = tc.fold_batch_norm(w, bias, gamma, beta, mean, variance, 1e-3)
    normal = tc.keras.layers.BatchNormalization()
    normal.build((None, 4, 4, 4))
    normal.set_weights([gamma, beta, mean, variance])
    wide = tc.conv2d(x.astype(float), w.astype(float), bias=bias.astype(float))
    want = (wide - mean) * (gamma / np.sqrt(variance.astype(float) + 1e-3)) + beta
    sizes = tc.conv2d(np.abs(x).astype(float), np.abs(folded.filters).astype(float)) + np.abs(folded.bias)
    got = tc.conv2d(x, folded.filters, bias=folded.bias)
    assert (
        np.abs(got - want)
        <= folded.error_bound(sizes) + direct(sizes, 28, "float32") + np.spacing(np.abs(got))
    ).all()


def test_the_layouts_of_other_frameworks():
    w = make_array((3, 3, 2, 4), "float32", "normal", "w")
    facts = layer(4)
    gamma, beta, mean, variance, bias = facts
    want = tc.fold_batch_norm(w, bias, gamma, beta, mean, variance, 1e-5)
    oihw = tc.fold_batch_norm(
        w.transpose(3, 2, 0, 1), bias, gamma, beta, mean, variance, 1e-5, channel_axis=0
    )
    assert np.array_equal(oihw.filters.transpose(2, 3, 1, 0), want.filters)
    assert np.array_equal(oihw.bias, want.bias)
    plain = tc.fold_batch_norm(w, None, None, None, mean, variance, 1e-5)
    ones, zeros = np.ones(4, "float32"), np.zeros(4, "float32")
    spelled = tc.fold_batch_norm(w, zeros, ones, zeros, mean, variance, 1e-5)
    assert np.array_equal(plain.filters, spelled.filters)
    assert np.array_equal(plain.bias, spelled.bias)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize(("ins", "outs", "groups"), [(4, 4, 2), (3, 3, 3), (3, 6, 3), (6, 4, 2), (2, 3, 1)])
def test_transposed_convolutions_with_groups(rank, ins, outs, groups):
    """Filters as PyTorch has them against the network, and TensorFlow's are folded alike."""
    op = getattr(tc.dialects.torch, f"conv_transpose{rank}d")
    x = make_array((2, ins, *(4, 3, 2)[:rank]), "float32", "normal", "x")
    w = make_array((ins, outs // groups, *(3, 2, 2)[:rank]), "float32", "normal", "w")
    gamma, beta, mean, variance, bias = layer(outs)
    facts = (bias, gamma, beta, mean, variance, 1e-3)
    folded = tc.fold_batch_norm(w, *facts, channel_axis=1, groups=groups)
    assert folded.filters.shape == w.shape

    def channels_last(x, w):
        return np.moveaxis(op(x, w, stride=2, groups=groups), 1, -1)

    factor = gamma / np.sqrt(variance.astype(float) + 1e-3)
    want = (channels_last(x.astype(float), w.astype(float)) + bias - mean) * factor + beta
    got = channels_last(x, folded.filters) + folded.bias
    sizes = channels_last(np.abs(x).astype(float), np.abs(folded.filters).astype(float)) + np.abs(folded.bias)
    bound = folded.error_bound(sizes) + direct(sizes, ins * 12 + 1, "float32") + np.spacing(np.abs(got))
    assert (np.abs(got - want) <= bound).all()
    order = (*range(2, rank + 2), 1, 0)
    other = tc.fold_batch_norm(w.transpose(order), *facts, channel_axis=-2, groups=groups)
    assert np.array_equal(other.filters, folded.filters.transpose(order))
    assert np.array_equal(other.bias, folded.bias)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"groups": 2}, "groups must be 1 unless channel_axis is -2 or 1; got 2 and -1"),
        ({"groups": 3, "channel_axis": 1}, "finite, one for each of 9 output channels of filters"),
        ({"groups": 2, "channel_axis": 1}, "groups must divide the 3 input channels of filters; got 2"),
        ({"groups": 0, "channel_axis": 1}, "groups must divide the 3 input channels of filters; got 0"),
        ({"groups": 1.5}, "groups must be"),
        ({"variance": -np.ones(2, "f4")}, r"variance \+ eps must be above 0; got -0.999"),
        ({"mean": np.ones(3, "f4")}, "mean must be finite, one for each of 2 output channels"),
        ({"gamma": np.ones(2)}, "gamma must have the dtype of filters"),
        ({"filters": np.ones((3, 3, 2, 2), "int32")}, "filters"),
        ({"channel_axis": 4}, "channel_axis must be an axis of the filters"),
        ({"eps": float("nan")}, "eps must be finite"),
        ({"beta": np.float32([1, np.inf])}, "beta must be finite"),
    ],
)
def test_refused(change, message):
    two = np.ones(2, "f4")
    right = {"filters": np.ones((3, 3, 2, 2), "f4"), "bias": None, "gamma": two, "beta": two, "mean": two}
    with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=message):
        tc.fold_batch_norm(**right | {"variance": two, "eps": 1e-3} | change)


# ---------------------------------------------------------------------------------------------
# Batch normalisation itself
# ---------------------------------------------------------------------------------------------

torch, onnx, keras = (getattr(tc.dialects, name) for name in ("torch", "onnx", "keras"))
SHAPES = [(2, 3, 4, 4), (1, 2, 5, 3), (4, 5, 3)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_every_cell_is_rounded_once(dtype):
    x = make_array((3, 4), dtype, "normal", "bn x")
    gamma, beta, mean, variance, _ = layer(4, dtype)
    y = tc.batch_normalization(x, mean, variance, beta, gamma, 1e-3)
    assert y.dtype == x.dtype
    with localcontext() as context:
        context.prec = 60
        for n, c in np.ndindex(x.shape):
            number, g, b, m, v = (
                Decimal(float(a)) for a in (x[n, c], gamma[c], beta[c], mean[c], variance[c])
            )
            want = (number - m) * g / (v + Decimal(1e-3)).sqrt() + b
            half = Fraction(float(np.spacing(np.abs(y[n, c])))) / 2
            assert abs(Fraction(float(y[n, c])) - Fraction(want)) <= half * (1 + Fraction(1, 10**20))


def test_one_call_in_every_framework():
    """The same numbers under the same eps, and each framework's default."""
    x = make_array((2, 3, 4, 5), "float32", "normal", "x")
    gamma, beta, mean, variance, _ = layer(3)
    want = tc.batch_normalization(x.transpose(0, 2, 3, 1), mean, variance, beta, gamma, 1e-3)
    want = want.transpose(0, 3, 1, 2)
    assert np.array_equal(torch.batch_norm(x, mean, variance, gamma, beta, eps=1e-3), want)
    assert np.array_equal(keras.batch_normalization(x, mean, variance, 1, beta, gamma), want)
    float32 = float(np.float32(1e-3))  # what an attribute holds
    got = onnx.batch_normalization(x, gamma, beta, mean, variance, epsilon=1e-3)
    assert np.array_equal(got, torch.batch_norm(x, mean, variance, gamma, beta, eps=float32))
    assert tc.resolve(torch.batch_norm, x, mean, variance).eps == 1e-5
    assert tc.resolve(keras.batch_normalization, x, mean, variance, 1).eps == 1e-3


def test_momentum_is_the_share_of_the_new_or_of_the_old():
    x = np.float32([0, 2]).reshape(2, 1)
    zero, one = np.zeros(1, "float32"), np.ones(1, "float32")
    y, mean, variance = torch.batch_norm(x, zero, one, training=True)
    assert (mean.tolist(), variance.tolist()) == ([np.float32(0.1)], [np.float32(1.1)])  # 0.9 + 0.1 * 2
    same, mean, variance = onnx.batch_normalization(x, one, zero, zero, one, training_mode=1)
    assert np.array_equal(y, same)
    assert mean.tolist() == [np.float32(1 - float(np.float32(0.9)))]
    assert variance.tolist() == [1]


def test_what_is_not_finite():
    x = np.float32([[np.inf, 1, np.nan], [2, -np.inf, 3]])
    one, zero = np.ones(3, "float32"), np.zeros(3, "float32")
    y = tc.batch_normalization(x, zero, one, one, np.float32([-1, 2, 1]), 0.0)
    assert str(y.tolist()) == "[[-inf, 3.0, nan], [-1.0, -inf, 4.0]]"
    with pytest.raises(tc.ArgumentError, match="2 or more finite numbers in each channel while training"):
        torch.batch_norm(x, zero, one, training=True)


# the code of a diagnosis, and the mistake as a call of the same function
PLANTED = {
    "eps": {"eps": 1e-3},
    "mean_left_out": {"running_mean": 0},
    "variance_left_out": {"running_var": 1},
    "gamma_left_out": {"weight": None},
    "beta_left_out": {"bias": None},
    "gamma_and_beta": {"weight": "bias", "bias": "weight"},
    "mean_and_variance": {"running_mean": "running_var", "running_var": "running_mean"},
    "square_root": {"running_var": "squared"},
    "training": {"training": True},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("code", PLANTED)
def test_planted_and_found(code, shape):
    x, given = make_array(shape, "float32", "normal", "planted"), layer(shape[1], seed="planted")
    right = dict(zip(("weight", "bias", "running_mean", "running_var"), given, strict=False))
    right["running_var"] = right["running_var"] + np.float32(0.25)
    right["running_mean"] = np.abs(right["running_mean"]) + np.float32(0.5)  # it may stand for a variance
    words = {"squared": right["running_var"] ** 2, "bias": right["bias"], "weight": right["weight"]}
    words |= {0: 0 * right["bias"], 1: 0 * right["bias"] + 1}
    words |= {name: right[name] for name in ("running_mean", "running_var")}
    changed = {
        name: words.get(value, value) if isinstance(value, str | int) and name != "training" else value
        for name, value in PLANTED[code].items()
    }
    wrong = torch.batch_norm(x, **right | changed)
    wrong = wrong[0] if isinstance(wrong, tuple) else wrong
    report = tc.diff(
        torch.batch_norm, x, **right, against={"right": torch.batch_norm(x, **right), "wrong": wrong}
    )
    assert [row.passed for row in report.rows] == [True, False]
    assert report.rows[1].diagnosis.code == code, str(report)


@pytest.mark.parametrize("shape", SHAPES)
def test_planted_and_found_while_training(shape):
    x = make_array(shape, "float32", "normal", "planted")
    gamma, beta, mean, variance, _ = layer(shape[1])
    call = (x, mean, variance, gamma, beta, True)
    other = torch.batch_norm(*call, momentum=0.9)
    report = tc.diff(torch.batch_norm, *call, against={"port": other})
    assert [row.name for row in report.rows] == ["port", "port[1]", "port[2]"]
    assert [row.passed for row in report.rows] == [True, False, False]
    assert [row.diagnosis.code for row in report.rows[1:]] == ["momentum", "momentum"]
    divided = onnx.batch_normalization(
        x, gamma, beta, mean, variance, training_mode=1, momentum=0.9, epsilon=1e-5
    )
    report = tc.diff(torch.batch_norm, *call, against=divided)
    assert [row.passed for row in report.rows] == [True, True, False]
    assert report.rows[2].diagnosis.code == "moving_variance"
    moving = torch.batch_norm(*call[:-1])
    assert tc.diff(torch.batch_norm, *call, against=moving).rows[0].diagnosis.code == "training"


def test_resolve_and_explain_a_normalisation():
    x, one = np.float32([[1], [3]]), np.float32([1])
    found = tc.explain(torch.batch_norm, x, one, 3 * one, 4 * one, 5 * one, eps=1.0, at=(1, 0))
    assert (found.value, found.taps) == (9.0, (((1, 0), 3.0),))
    assert "4 · (3 - 1) / sqrt(3 + 1) + 5" in str(found)
    text = str(tc.resolve(torch.batch_norm, (2, 1), one, one, training=True))
    assert (
        "a moving average becomes 0.9 of itself + 0.1 of the batch's, whose variance is / n - 1"
        in " ".join(text.split())
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, v: torch.batch_norm(x, v, -v), r"variance \+ eps must be above 0; got -0.99999"),
        (lambda x, v: torch.batch_norm(x, None, None), "running_mean"),
        (
            lambda x, v: torch.batch_norm(x, v[:1], v),
            "running_mean must be finite, one for each of 2 channels",
        ),
        (lambda x, v: torch.batch_norm(x[0], v, v), "input must have 2, 3, 4 or 5 axes"),
        (lambda x, v: torch.batch_norm(x.astype("int32"), v, v), "must have a floating dtype"),
        (lambda x, v: torch.batch_norm(x, v, v, momentum="0.1"), "momentum"),
        (lambda x, v: torch.batch_norm(x[:1], v, v, training=True), "2 or more finite numbers"),
        (lambda x, v: onnx.batch_normalization(x, None, v, v, v), "scale"),
        (lambda x, v: keras.batch_normalization(x, v, v, 2), "axis must be an axis of x"),
        (lambda x, v: tc.batch_normalization(x, v, v, v, v, float("nan")), "variance_epsilon must be finite"),
        (lambda x, v: torch.batch_norm(x, v, v, momentum=float("nan")), "momentum must be finite"),
    ],
)
def test_a_normalisation_refused(call, message):
    with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=message):
        call(np.ones((3, 2), "float32"), np.ones(2, "float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_what_floats_decide_is_what_rational_numbers_give(dtype):
    """Numbers of every size, and results that nearly cancel or lie halfway between two numbers."""
    rng = np.random.default_rng(5)
    x = (rng.standard_normal((60, 6)) * 2.0 ** rng.integers(-12, 12, (60, 6))).astype(to_dtype(dtype))
    factors = np.array(
        [
            Fraction(1, 3),
            Fraction(3, 2),
            Fraction(-7, 5),
            Fraction(1, 2**20),
            Fraction(0),
            10**6 / Fraction(3),
        ]
    )
    offsets = np.array(
        [
            -Fraction(float(x[0, 0])) / 3,
            Fraction(0),
            Fraction(2**30),
            Fraction(1),
            Fraction(5, 7),
            Fraction(-1, 3),
        ]
    )
    for f, o in ((factors, offsets), (factors * 2**950, offsets), (factors, offsets / 2**950)):
        want = exactly(lambda numbers: numbers * f + o, x)  # noqa: B023
        got = affine(x, f, o)
        assert got.dtype == x.dtype
        assert got.tobytes() == want.tobytes()


def test_it_is_quick():
    x, c = np.ones((64, 1000), "float32") / 3, np.ones(1000, "float32") / 7
    started = time.process_time()
    tc.batch_normalization(x, c, c, c, c, 1e-3)
    assert time.process_time() - started < 1  # 64,000 numbers take 7 seconds one by one
