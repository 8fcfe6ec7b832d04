"""Batch normalisation folded into a convolution: by hand, exactly, and within its bound."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import teachconv as tc
from teachconv.data.seeded import make_array
from teachconv.truth.bounds import direct


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
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
