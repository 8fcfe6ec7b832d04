"""Mistakes of hand-written int8 kernels are named by `diff`, at three sizes; the kernels are in quantized/by_hand.py."""

from functools import partial

import numpy as np
import pytest
from quantized import by_hand
from quantized.by_hand import convolve

import teachconv as tc

SIZES = [(1, 7, 6, 3, 5), (2, 9, 8, 4, 6), (1, 12, 13, 8, 10)]  # images, rows, columns, in and out channels
SMALL, TIES, USUAL, FULL, LARGE = 6, 5, 40, 60, 100  # how large the numbers of x and w are
CONV = tc.quantized.conv2d


def drawn(size, spread):
    """Arrays with numbers up to about ``spread``, and scales with which the results fill int8, and a little more."""
    images, rows, cols, depth, outs = SIZES[size]
    rng = np.random.default_rng(size)
    x = np.clip(rng.normal(-9, spread, (images, rows, cols, depth)), -128, 127).astype("int8")
    w = np.clip(rng.normal(0, spread, (3, 3, depth, outs)), -127, 127).astype("int8")
    sums = spread**2 * (9 * depth) ** 0.5
    w_scale = np.float32(0.004 * (1 + rng.permutation(outs) / 2))
    if spread == TIES:
        w_scale = np.float32(2.0 ** -rng.integers(6, 9, outs))
    bias = np.int32(rng.normal(0, sums / 2, outs))
    facts = {"x_scale": 0.02, "x_zero_point": -9, "w_scale": w_scale, "y_zero_point": 14, "scheme": "tflite"}
    y_scale = np.float32(0.02 * w_scale.max() * sums / (110 if spread == FULL else 50))
    if spread == TIES:
        facts, y_scale = facts | {"x_scale": 2.0**-4}, 2.0**-8
    return x, w, bias, facts | {"y_scale": float(y_scale)}


def row(x, w, bias, facts, got, op=CONV, **more):
    return tc.diff(op, x, w, bias, padding="SAME", backends=[], against=got, **facts, **more).rows[0]


def by_float32(total, multiplier):
    return np.rint(np.float32(total) * np.float32(multiplier)).astype("int64")


def exactly(total, multiplier):
    """The products as Python's integers over 2**60."""
    scaled = np.array([round(float(real) * 2**60) for real in multiplier], object)
    return total.astype(object) * scaled


def single(total, multiplier):
    return (exactly(total, multiplier) + 2**59 >> 60).astype("int64")


def single_away(total, multiplier):
    product = exactly(total, multiplier)
    return (np.sign(product) * (abs(product) + 2**59 >> 60)).astype("int64")


def truncated(total, multiplier):
    product = exactly(total, multiplier)
    return (np.sign(product) * (abs(product) >> 60)).astype("int64")


def shifted(numbers, bits):
    return numbers >> bits


def half_even(numbers, bits):
    """Python's round, of fractions that float64 holds."""
    return np.rint(numbers / 2.0**bits).astype("int64")


def skipping(axis, index):
    """A kernel that takes a row or a column of x for padding."""

    def kernel(x, *others, **facts):
        x = x.copy()
        np.moveaxis(x, axis, 0)[index] = facts["x_zero_point"]
        return convolve(x, *others, **facts)

    return kernel


def wrap(numbers):
    return (numbers + 128) % 256 - 128


def in_8_bits(kept):
    """A kernel that keeps what is left of x in 8 bits."""

    def kernel(x, *others, x_zero_point, **facts):
        less = kept(x.astype("int64") - x_zero_point)
        return convolve(less + x_zero_point, *others, x_zero_point=x_zero_point, **facts)

    return kernel


def one_shift(total, multiplier):
    """Each channel has its own bits, and all have the shift of the first."""
    parts = [by_hand.fixed_point(float(real)) for real in multiplier]
    same = [bits / 2**31 * 2.0 ** parts[0][1] for bits, _ in parts]
    return by_hand.rescale(total, np.array(same))


def by_columns(total, multiplier):
    """The multiplier of a column, not of a channel."""
    return np.stack([by_hand.rescale(total[:, :, c], multiplier[c]) for c in range(total.shape[2])], 2)


def before_the_bias(x, w, bias, **facts):
    """The bias is rescaled by itself, and added to numbers that are saturated already."""
    product = facts["x_scale"] * facts["w_scale"] / facts["y_scale"]
    return by_hand.saturate(convolve(x, w, 0 * bias, **facts) + np.rint(bias * product).astype("int64"))


# name, the spread of the numbers, the code of the diagnosis, and the kernel with the mistake in it
KERNELS = {
    "border of zeros": (USUAL, "zero_padding", partial(convolve, border=0)),
    "border of the zero point and 1": (USUAL, "zero_padding", partial(convolve, border=-8)),
    "border of the least integer": (USUAL, "zero_padding", partial(convolve, border=-128)),
    "x_zero_point ignored": (USUAL, "zero_point", partial(convolve, minus=0)),
    "x_zero_point ignored, border skipped": (USUAL, "zero_point", partial(convolve, minus=0, border=0)),
    "input_offset of the other sign": (USUAL, "zero_point", partial(convolve, minus=9)),
    "input_offset of the other sign, border skipped": (USUAL, "zero_point", partial(convolve, minus=9, border=9)),
    "y_zero_point forgotten": (USUAL, "zero_point", partial(convolve, plus=0)),
    "y_zero_point negated": (USUAL, "zero_point", partial(convolve, plus=-14)),
    "one multiplier": (USUAL, "one_scale", lambda *a, w_scale, **f: convolve(*a, w_scale=w_scale[[0] * len(w_scale)], **f)),
    "multipliers off by one": (USUAL, "scale_axis", lambda *a, w_scale, **f: convolve(*a, w_scale=np.roll(w_scale, 1), **f)),
    "builtin": (SMALL, "rounding(tflite_builtin)", partial(convolve, rescale=partial(by_hand.rescale, last=by_hand.half_up))),
    "single rounding": (TIES, "rounding(tflite_single)", partial(convolve, rescale=single)),
    "half away from zero, once": (TIES, "rounding(half away)", partial(convolve, rescale=single_away)),
    "in float32, half to even": (TIES, "rounding(onnx)", partial(convolve, rescale=by_float32)),
    "truncated": (SMALL, "rounding(truncation)", partial(convolve, rescale=truncated)),
    "last shift truncated": (SMALL, "rounding(last shift)", partial(convolve, rescale=partial(by_hand.rescale, last=shifted))),
    "last shift half to even": (TIES, "rounding(last shift to even)", partial(convolve, rescale=partial(by_hand.rescale, last=half_even))),
    "high half to even": (TIES, "rounding(high half to even)", partial(convolve, rescale=partial(by_hand.rescale, first=half_even))),
    "half to even twice": (TIES, "rounding(to even twice)", partial(convolve, rescale=partial(by_hand.rescale, first=half_even, last=half_even))),
    "row 0 skipped": (USUAL, "border_bound", skipping(1, 0)),
    "the last column skipped": (USUAL, "border_bound", skipping(2, -1)),
    "high half truncated": (SMALL, "rounding(high half)", partial(convolve, rescale=partial(by_hand.rescale, first=shifted))),
    "shift too large": (USUAL, "multiplier_shift", partial(convolve, rescale=partial(by_hand.rescale, more=1))),
    "one shift for all": (FULL, "multiplier_shift", partial(convolve, rescale=one_shift)),
    "x less its zero point saturates": (LARGE, "zero_point", in_8_bits(partial(np.clip, a_min=-128, a_max=127))),
    "x less its zero point wraps": (LARGE, "zero_point", in_8_bits(wrap)),
    "saturates at -127": (FULL, "saturation", partial(convolve, finish=partial(by_hand.saturate, low=-127))),
    "wraps around": (FULL, "saturation", partial(convolve, finish=wrap)),
    "saturates before the bias": (FULL, "saturation", before_the_bias),
    "bias in steps of w_scale": (USUAL, "bias_scale", lambda x, w, b, **f: convolve(x, w, np.rint(b * f["x_scale"]), **f)),
    "bias in steps of x_scale": (USUAL, "bias_scale", lambda x, w, b, **f: convolve(x, w, np.rint(b * f["w_scale"]), **f)),
    "bytes of x without a sign": (USUAL, "other_type", lambda x, *a, **f: convolve(x.view("uint8"), *a, **f)),
    "bytes of w without a sign": (USUAL, "other_type", lambda x, w, *a, **f: convolve(x, w.view("uint8"), *a, **f)),
    "bytes of y without a sign": (USUAL, "other_type", lambda *a, **f: convolve(*a, **f).astype("int8").view("uint8")),
    "x moved to uint8, its zero point not": (USUAL, "zero_point_moved", lambda x, *a, **f: convolve(np.int16(x) + 128, *a, **f)),
    "y moved to uint8": (USUAL, "zero_point_moved", lambda *a, **f: convolve(*a, **f) + 128),
    "16 bits that wrap": (LARGE, "accumulator_16_bits", partial(convolve, accumulate=by_hand.wrap16)),
    "16 bits that saturate": (LARGE, "accumulator_16_bits", partial(convolve, accumulate=by_hand.clip16)),
}  # fmt: skip


@pytest.mark.parametrize("size", range(len(SIZES)))
@pytest.mark.parametrize("name", KERNELS)
def test_a_mistake_is_named(name, size):
    spread, code, kernel = KERNELS[name]
    x, w, bias, facts = drawn(size, spread)
    right = CONV(x, w, bias, padding="SAME", **facts)
    assert np.array_equal(convolve(x, w, bias, **facts), right)
    found = row(x, w, bias, facts, kernel(x, w, bias, **facts))
    assert found.passed is False
    assert found.diagnosis is not None, found
    assert found.diagnosis.code == code


@pytest.mark.parametrize("size", range(len(SIZES)))
@pytest.mark.parametrize(("wrong", "words"), [(0, "is ignored"), (-5, "is added and not taken off")])
def test_the_zero_point_of_the_filter_is_named(wrong, words, size):
    x, w, bias, facts = drawn(size, USUAL)
    y_scale = float(2.0 ** np.rint(np.log2(facts["y_scale"])))
    facts |= {"scheme": "onnx", "x_scale": 2.0**-6, "y_scale": y_scale}  # the product of the scales is exact
    kernel = partial(convolve, x, w, bias, rescale=by_float32, **facts)
    assert np.array_equal(kernel(minus_w=5), CONV(x, w, bias, padding="SAME", w_zero_point=5, **facts))
    found = row(x, w, bias, facts, kernel(minus_w=wrong), w_zero_point=5).diagnosis
    assert found.code == "zero_point"
    assert f"zero point of w {words}" in found.sentence


@pytest.mark.parametrize("size", range(len(SIZES)))
def test_the_clamps_of_activations_are_named(size):
    x, w, bias, facts = drawn(size, USUAL)
    facts |= {"x_scale": 4 * facts["x_scale"], "y_scale": 4 * facts["y_scale"], "y_zero_point": -14}
    six = int(np.floor(6 / np.float32(facts["y_scale"]) + 0.5))
    for activation, least, most, code in (
        ("relu", 0, 127, "relu_clamp"),
        ("relu", -128, 127, "relu_clamp"),
        (None, -14, 127, "relu_clamp"),
        ("relu6", -14, 127, "relu6_clamp"),
        ("relu6", -14, six, "relu6_clamp"),
        ("relu6", -14, 6, "relu6_clamp"),
    ):
        got = convolve(x, w, bias, **facts, finish=partial(by_hand.saturate, low=least, high=most))
        assert row(x, w, bias, facts, got, activation=activation).diagnosis.code == code, (activation, least)


@pytest.mark.parametrize("size", range(len(SIZES)))
def test_depthwise_multipliers_in_the_other_order_are_named(size):
    """A depthwise convolution is a dense one whose other weights are 0."""
    x, w, _, facts = drawn(size, USUAL)
    depth = x.shape[-1]
    own = w[..., :3]
    dense = np.zeros((3, 3, depth, 3 * depth), "int8")
    for channel in range(depth):
        dense[:, :, channel, 3 * channel : 3 * channel + 3] = own[:, :, channel]
    scales = np.float32(np.linspace(0.004, 0.02, 3 * depth))
    facts |= {"w_scale": scales, "y_scale": facts["y_scale"] / 2}
    bias = np.zeros(3 * depth, "int32")
    right = tc.quantized.depthwise_conv2d(x, own, bias, padding="SAME", **facts)
    assert np.array_equal(convolve(x, dense, bias, **facts), right)
    facts_of_wrong = facts | {"w_scale": scales.reshape(depth, 3).T.ravel()}
    got = convolve(x, dense, bias, **facts_of_wrong)
    found = row(x, own, bias, facts, got, tc.quantized.depthwise_conv2d).diagnosis
    assert found.code == "scale_axis"
    assert "(multiplier, channel)" in found.sentence


@pytest.mark.parametrize("size", range(len(SIZES)))
def test_arrays_of_channels_that_a_kernel_indexes_within_a_group_are_named(size):
    """A convolution with two groups is a dense one whose other weights are 0."""
    x, w, bias, facts = drawn(size, USUAL)
    x, w = np.concatenate([x, x[::-1, :, ::-1]], -1), np.concatenate([w, w[:, ::-1]], -1)
    depth, outs = w.shape[2], w.shape[3] // 2
    scales = np.float32(np.linspace(0.004, 0.02, 2 * outs))
    facts, bias = facts | {"w_scale": scales}, np.concatenate([bias, bias // 2 + 300])
    dense = np.zeros((3, 3, 2 * depth, 2 * outs), "int8")
    dense[:, :, :depth, :outs], dense[:, :, depth:, outs:] = w[..., :outs], w[..., outs:]
    right = CONV(x, w, bias, padding="SAME", **facts)
    assert np.array_equal(convolve(x, dense, bias, **facts), right)
    first = list(range(outs)) * 2
    for biases, words in ((bias, "the multipliers of"), (bias[first], "the multipliers and the biases of")):
        got = convolve(x, dense, biases, **facts | {"w_scale": scales[first]})
        found = row(x, w, bias, facts, got).diagnosis
        assert found.code == "scale_axis"
        assert f"{words} the channels are those of the first group" in found.sentence


def test_a_rounding_with_one_multiplier_for_all_channels_is_no_scale():
    """A call with as many input channels as output channels, and equal scales: it was named scale_axis."""
    x, facts = np.arange(-60, 40, dtype="int8").reshape(1, 10, 10, 1), {"x_scale": 0.5, "x_zero_point": 0}
    facts |= {"w_scale": 0.25, "y_scale": 0.25, "y_zero_point": 1, "scheme": "tflite"}
    got = CONV(x, np.int8([[[[1]]]]), **facts | {"scheme": "onnx"})
    assert row(x, np.int8([[[[1]]]]), None, facts, got).diagnosis.code == "rounding(onnx)"


@pytest.mark.parametrize("size", range(1, len(SIZES)))
def test_multipliers_along_another_axis_are_named(size):
    x, w, bias, facts = drawn(size, USUAL)
    x, w, bias = x[:, :, : w.shape[3]], w, 0 * bias
    found = row(x, w, bias, facts, convolve(x, w, bias, **facts, rescale=by_columns)).diagnosis
    assert found.code == "scale_axis"
    assert "axis 2" in found.sentence


def test_multipliers_of_the_input_channels_are_named():
    x, w, bias, facts = drawn(2, USUAL)
    w, bias, facts["w_scale"] = w[..., :8], bias[:8], facts["w_scale"][:8]
    real = np.float64(np.float32(facts["x_scale"])) * facts["w_scale"] / np.float32(facts["y_scale"])
    sums = tc.conv2d(x.astype("float64") + 9, w * real[:, None], padding="SAME") + bias * real
    found = row(x, w, bias, facts, np.clip(np.rint(sums) + 14, -128, 127)).diagnosis
    assert found.code == "scale_axis"
    assert "input channels" in found.sentence


def test_a_geometry_of_a_quantized_call_is_named_too():
    x, w, bias, facts = drawn(1, USUAL)
    assert (
        row(x, w, bias, facts, convolve(x, w[::-1, ::-1], bias, **facts)).diagnosis.code == "flipped_filter"
    )
    assert row(x, w, bias, facts, convolve(x, w, 0 * bias, **facts)).diagnosis.code == "bias"
    moved = np.roll(convolve(x, w, bias, **facts), 1, 2)
    assert row(x, w, bias, facts, moved).diagnosis.code == "shift(0,1)"
    mixed = convolve(x, w, bias, **facts)[..., ::-1]
    assert row(x, w, bias, facts, mixed).diagnosis.code == "permuted_channels"


def test_a_step_may_be_allowed_and_backends_are_equal():
    x, w, bias, facts = drawn(1, USUAL)
    near = CONV(x, w, bias, padding="SAME", **facts).astype("int32")
    near[0, 0, 0] += 1
    report = tc.diff(CONV, x, w, bias, padding="SAME", against=near, **facts)
    assert [(row.name, row.passed, row.max_abs) for row in report.rows if row.passed is False] == [
        ("against", False, 1)
    ]
    assert {"numpy", "scipy"} < {row.name for row in report.rows}
    assert tc.diff(CONV, x, w, bias, padding="SAME", against=near, atol=1, **facts).passed
    wrong = report.rows[-1]
    assert wrong.diagnosis is None
    assert f"theirs is {near[0, 0, 0, 0]}" in str(wrong.explanation)
    assert row(x, w, bias, facts, near[:, 1:]).diagnosis.code == "window"


@pytest.mark.parametrize("way", ["a few cells", "one cell in ten", "a channel", "some rows"])
def test_errors_that_no_mistake_makes_have_no_name(way):
    for size in range(len(SIZES)):
        rng = np.random.default_rng(size)
        x, w, bias, facts = drawn(size, (SMALL, TIES, USUAL)[size])
        got = CONV(x, w, bias, padding="SAME", **facts).astype("int32")
        if way == "a few cells":
            got.ravel()[rng.choice(got.size, 5, replace=False)] += 1
        elif way == "one cell in ten":
            got += rng.integers(-1, 2, got.shape) * (rng.random(got.shape) < 0.1)
        elif way == "a channel":
            got[..., 1] += 1
        else:
            got[:, 2:4] = rng.integers(-128, 128, got[:, 2:4].shape)
        assert row(x, w, bias, facts, got).diagnosis is None


def test_a_large_layer_takes_seconds_and_is_named():
    rng = np.random.default_rng(0)
    x, w = (
        rng.integers(-128, 128, (1, 40, 41, 32)).astype("int8"),
        rng.integers(-127, 128, (3, 3, 32, 32)).astype("int8"),
    )
    facts = {
        "x_scale": 0.02,
        "x_zero_point": 3,
        "w_scale": 0.01,
        "y_scale": 0.5,
        "y_zero_point": 4,
        "scheme": "tflite",
    }
    bordered = CONV(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), w, **facts)
    assert row(x, w, None, facts, bordered).diagnosis.code == "zero_padding"


def test_what_diff_cannot_compare_is_refused():
    x, w, bias, facts = drawn(0, USUAL)
    with pytest.raises(ValueError, match="against must be an array, or arrays by name: max_pool has no back"):
        tc.diff(tc.quantized.max_pool, x, 2, 2, "VALID")
    with pytest.raises(TypeError, match="max_pool takes no backends: it has none, give against="):
        tc.diff(tc.quantized.max_pool, x, 2, 2, "VALID", backends="numpy", against=x)
    with pytest.raises(TypeError, match="diff takes no backend: give backends="):
        tc.diff(CONV, x, w, bias, backend="numpy", **facts)


def mean(x, strides=2, pad=0, rounding=np.rint, cells=None):
    """The mean of each window of 3 x 3, padded with 1 cell: the sum over ``cells``, or over those inside."""
    wide = np.pad(x.astype("int64"), ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=pad)
    inside = np.pad(np.ones_like(x, "int64"), ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows, ones = (
        np.lib.stride_tricks.sliding_window_view(array, (3, 3), (1, 2))[:, ::strides, ::strides].sum((-2, -1))
        for array in (wide, inside)
    )
    return np.clip(rounding(windows, ones if cells is None else cells), -128, 127)


def half_away(total, count):
    return np.sign(total) * ((2 * abs(total) + count) // (2 * count))


@pytest.mark.parametrize("size", range(1, len(SIZES)))  # halves are at the border alone
@pytest.mark.parametrize(
    ("code", "change"),
    [
        (None, {}),
        ("rounding(down)", {"rounding": np.floor_divide}),
        ("rounding(truncation)", {"rounding": lambda total, count: np.trunc(total / count)}),
        ("rounding(half to even)", {"rounding": lambda total, count: np.rint(total / count)}),
        ("rounding(half up)", {"rounding": lambda total, count: np.floor(total / count + 0.5)}),
        ("count_include_pad", {"cells": 9}),
        ("stride", {"strides": 1}),
    ],
)
def test_mistakes_of_an_average_are_named(code, change, size):
    x = drawn(size, USUAL)[0]
    facts = {"x_scale": 0.1, "x_zero_point": -9, "scheme": "tflite"}
    got = mean(x, **{"rounding": half_away} | change)
    row = tc.diff(tc.quantized.avg_pool, x, 3, 2, 1, against=got, **facts).rows[0]
    assert row.passed is (code is None)
    assert code is None or row.diagnosis.code == code, row


def test_mistakes_of_pools_are_named():
    x = drawn(1, USUAL)[0]
    facts = {"x_scale": 0.1, "x_zero_point": -9, "scheme": "tflite"}

    def named(op, got, *windows, **more):
        return tc.diff(op, x, *windows, against=got, **more).rows[0].diagnosis.code

    largest = tc.quantized.max_pool(x, 3, 2, 1)
    assert named(tc.quantized.avg_pool, largest, 3, 2, 1, **facts) == "max_for_average"
    average = tc.quantized.avg_pool(x, 3, 2, 1, **facts)
    assert named(tc.quantized.max_pool, average, 3, 2, 1) == "average_for_max"
    low = (x // 2 - 64).astype("int8")
    bordered = tc.quantized.max_pool(np.pad(low, ((0, 0), (1, 1), (1, 1), (0, 0))), 3, 2, "VALID")
    row = tc.diff(tc.quantized.max_pool, low, 3, 2, 1, against=bordered).rows[0]
    assert row.diagnosis.code == "padded_with_zeros"
    assert row.where == "first and last row or column 0 of 4: zeros"
    by_onnx = tc.quantized.avg_pool(x, 3, 2, 1, **facts | {"scheme": "onnx"})
    assert (
        named(tc.quantized.avg_pool, by_onnx, 3, 2, 1, **facts) == "rounding(onnx)"
    )  # its float32, at halves
    relu = facts | {"activation": "relu"}
    assert named(tc.quantized.avg_pool, average, 3, 2, 1, **relu) == "relu_clamp"
