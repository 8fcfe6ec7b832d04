"""Quantized convolutions: numbers worked by hand, results recorded from the runtimes, and refusals."""

from pathlib import Path

import numpy as np
import pytest
from quantized import drawn

import teachconv as tc
from teachconv.quantized.schemes import SCHEMES, fixed_point

RECORDED = np.load(Path(__file__).parents[1] / "recorded" / "quantized.npz")
INT32 = 2**31


def dots(sums, scheme, y_scale=8.0, **more):
    """A convolution of 1x1 whose sums are these numbers, each rescaled by 1 / y_scale."""
    x = np.asarray(sums, "int8" if "torch" not in scheme else "uint8").reshape(1, 1, -1, 1)
    given = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": y_scale, "y_zero_point": 0} | more
    return tc.quantized.conv2d(x, np.int8([[[[1]]]]), scheme=scheme, **given).ravel().tolist()


# sum / 8: 0.375, 0.5, -0.5, -0.625, 1.5, -1.5. As integers 1/8 is 2**30 / 2**31 * 2**-2: the first rounding is of sum / 2,
# half up: 2, 2, -2, -2, 6, -6; the second of that / 4.
@pytest.mark.parametrize(
    ("scheme", "want"),
    [
        ("onnx", [0, 0, 0, -1, 2, -2]),
        ("xnnpack", [0, 0, 0, -1, 2, -2]),
        ("float", [0, 0, 0, -1, 2, -2]),
        ("tflite", [1, 1, -1, -1, 2, -2]),
        ("tflite_builtin", [1, 1, 0, 0, 2, -1]),
        ("tflite_single", [0, 1, 0, -1, 2, -1]),
    ],
)
def test_the_roundings_by_hand(scheme, want):
    assert dots([3, 4, -4, -5, 12, -12], scheme) == want


def test_builtin_rounds_half_up_in_blocks_of_8_channels_only():
    """-4 / 8: half up 0, half away from zero -1."""
    x, w = np.full((1, 1, 1, 11), -4, "int8"), np.ones((1, 1, 11, 1), "int8")
    given = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 8.0, "y_zero_point": 0}
    got = tc.quantized.depthwise_conv2d(x, w, scheme="tflite_builtin", **given)
    assert got.ravel().tolist() == [0] * 8 + [-1] * 3
    grouped = tc.quantized.conv2d(
        x[..., :4], np.ones((1, 1, 2, 2), "int8"), scheme="tflite_builtin", **given | {"y_scale": 16.0}
    )
    assert grouped.ravel().tolist() == [-1, -1]


def test_sixteen_bits_by_hand():
    """A multiplier of 0.75 is 0x6000 in 16 bits: 3 * 0x6000 / 2**15 is 2.25, and 2 * 0x6000 / 2**15 is 1.5, half up."""
    x, w = np.int16([3, 2, -2]).reshape(1, 1, 3, 1), np.int8([[[[1]]]])
    given = {"x_scale": 0.75, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 0}
    got = tc.quantized.conv2d(x, w, np.int64([0]), scheme="tflite", **given)
    assert got.ravel().tolist() == [2, 2, -1]
    # by the 8-bit rule: 0.75 is 0x60000000 / 2**31, half up, and no second rounding
    assert tc.quantized.conv2d(x, w, np.int32([0]), scheme="tflite", **given).ravel().tolist() == [2, 2, -1]


def test_padding_and_zero_points_by_hand():
    """x is [1, 4] - 2 with a 2 on each side, w is [1, 2, 3] - 1: sums 0*-1 + ... by hand."""
    x, w = np.uint8([1, 4]).reshape(1, 2, 1), np.uint8([1, 2, 3]).reshape(3, 1, 1)
    given = {
        "x_scale": 1.0,
        "x_zero_point": 2,
        "w_scale": 1.0,
        "w_zero_point": 1,
        "y_scale": 1.0,
        "y_zero_point": 7,
    }
    # (0, -1, 2) . (0, 1, 2) = 3 and (-1, 2, 0) . (0, 1, 2) = 2
    assert tc.quantized.conv1d(x, w, padding="SAME", **given).ravel().tolist() == [10, 9]
    assert tc.quantized.conv1d(x, w, np.int32([-20]), padding="SAME", **given).ravel().tolist() == [0, 0]


def test_activations_clamp_at_the_zero_point_and_at_6():
    sums = [-40, 40, 100]
    assert dots(sums, "tflite", 4.0, y_zero_point=3) == [-7, 13, 28]
    assert dots(sums, "tflite", 4.0, y_zero_point=3, activation="relu") == [3, 13, 28]
    # 6 / 4 is 1.5: half away 2; half to even 2; with the zero point 3, in XNNPACK, 4.5 to even
    for scheme, six in (("tflite", 5), ("onnx", 5), ("xnnpack", 4)):
        assert dots(sums, scheme, 4.0, y_zero_point=3, activation="relu6") == [3, six, six]


def test_biases_of_pytorch_by_hand():
    """10 / 4 + bias / 4: fbgemm adds 1.5 / 1 unrounded, qnnpack 2."""
    for scheme, want in (("torch", [3]), ("torch_qnnpack", [3]), ("float", [3])):
        assert dots([10], scheme, 4.0, bias=np.float32([1.5])) == want
    for scheme, want in (("torch", [2]), ("torch_qnnpack", [2])):  # 8.5 / 4 and 8 / 4
        assert dots([8], scheme, 4.0, bias=np.float32([0.5])) == want
    assert dots([9], "torch", 2.0, bias=np.float32([0.5])) == [5]  # 4.75
    assert dots([9], "torch_qnnpack", 2.0, bias=np.float32([0.5])) == [4]  # 0.5 is rounded to 0: 4.5, to even


def test_averages_by_hand():
    """Means of 1.5, 2.5 and -1.5 of stored integers, with a zero point of 1: 0.5, 1.5 and -2.5 above it."""
    x = np.int8([1, 2, 2, 3, -1, -2]).reshape(1, 6, 1)
    for scheme, want in (("onnx", [2, 2, -2]), ("tflite", [2, 3, -2]), ("float", [1, 3, -1])):
        got = tc.quantized.avg_pool(x, 2, 2, "VALID", x_scale=1.0, x_zero_point=1, scheme=scheme)
        assert got.ravel().tolist() == want, scheme
    x = np.uint8([7, 7, 7]).reshape(1, 3, 1)  # the second window has one cell
    for scheme, want in (("torch", [7, 7]), ("torch_qnnpack", [7, 4])):
        got = tc.quantized.avg_pool(x, 2, 2, ((0, 1),), x_scale=1.0, x_zero_point=0, scheme=scheme)
        assert got.ravel().tolist() == want, scheme


@pytest.mark.parametrize("key", RECORDED.files)
def test_recorded_results_of_the_runtimes_are_equal(key):
    scheme, seed, op = key.split()
    if op.endswith("pool"):
        given = drawn.pool(int(seed), scheme, op)
    else:
        name, given = drawn.convolution(int(seed), scheme)
        assert name == op
    got = getattr(tc.quantized, op)(**given)
    assert got.dtype == RECORDED[key].dtype
    assert np.array_equal(got, RECORDED[key])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_plain_loops_and_each_backend_give_the_same(scheme):
    like = {"tflite_single": "tflite", "float": "torch"}.get(scheme, scheme)
    for seed in range(200, 212):
        op, given = drawn.convolution(seed, like)
        given["scheme"] = scheme
        want = getattr(tc.quantized, op)(**given)
        for backend in ("numpy", "scipy", *(["reference"] if want.size < 2000 else [])):
            assert np.array_equal(getattr(tc.quantized, op)(backend=backend, **given), want), (
                seed,
                op,
                backend,
            )


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_explanation_ends_in_the_cell(scheme):
    rng = np.random.default_rng(0)
    like = {"tflite_single": "tflite", "float": "torch"}.get(scheme, scheme)
    for seed in range(300, 320):
        op, given = drawn.convolution(seed, like)
        given["scheme"] = scheme
        y = getattr(tc.quantized, op)(**given)
        cell = tuple(int(rng.integers(size)) for size in y.shape)
        found = tc.quantized.explain(getattr(tc.quantized, op), at=cell, **given)
        assert found.value == y[cell]
        assert str(tc.explain(getattr(tc.quantized, op), at=cell, **given)) == str(found)
        assert found.steps[0][1] == sum(tap.x_less * tap.w_less for tap in found.taps)
        for tap in found.taps:
            assert tap.w == given["w"][tap.filter_index]
            assert tap.x == (given["x_zero_point"] if tap.in_padding else given["x"][tap.input_index])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_explanation_of_a_pool_ends_in_the_cell(scheme):
    rng = np.random.default_rng(1)
    like = {"tflite_single": "tflite", "float": "torch"}.get(scheme, scheme)
    for seed in range(20):
        for op in ("avg_pool", "max_pool"):
            given = drawn.pool(seed, like, op)
            if op == "avg_pool":
                given["scheme"] = scheme
            function = getattr(tc.quantized, op)
            y = function(**given)
            cell = tuple(int(rng.integers(size)) for size in y.shape)
            found = tc.explain(function, at=cell, **given)
            assert found.value == found.steps[-1][1] == y[cell]
            inside = [value for _, value in found.taps if value is not None]
            assert inside == [given["x"][place] for place, value in found.taps if value is not None]
            assert found.divisor == (
                None if op == "max_pool" else len(found.taps if "qnn" in scheme else inside)
            )
            assert found.steps[0][0] in str(found)


def test_the_steps_of_an_average_by_hand():
    """(1 + 2 + 2) / 3 is 1.67; half away from zero 2, and cut off by relu6 at 6 / 6 + 0."""
    x = np.int8([1, 2, 2]).reshape(1, 3, 1)
    words = {"x_scale": 6.0, "x_zero_point": 0, "scheme": "tflite", "activation": "relu6"}
    found = tc.explain(tc.quantized.avg_pool, x, 3, 3, "VALID", at=(0, 0, 0), **words)
    assert [(what, int(number)) for what, number in found.steps] == [
        ("sum of the stored integers", 5),
        ("/ cells, half away from zero", 2),
        ("saturated to 0 .. 1", 1),
    ]
    with pytest.raises(IndexError, match=r"at must be inside shape \[1, 1, 1\]"):
        tc.explain(tc.quantized.avg_pool, x, 3, 3, "VALID", at=(0, 1, 0), **words)


def test_channels_first_and_dtype():
    op, given = drawn.convolution(3, "tflite")
    y = getattr(tc.quantized, op)(**given)
    first = getattr(tc.quantized, op)(**given | {"x": np.moveaxis(given["x"], -1, 1), "data_format": "NCHW"})
    assert np.array_equal(np.moveaxis(first, 1, -1), y)
    assert dots([100, -100], "float", 0.5, dtype="int16") == [200, -200]


def test_sums_of_any_size_are_exact():
    """255 * 127 in 576 products: more than float32 counts one by one, and pairs of them do not fit into 16 bits."""
    x, w = np.full((1, 3, 3, 64), 255, "uint8"), np.full((3, 3, 64, 2), 127, "int8")
    w[0, 0, 0, 0] = 126
    given = {
        "x_scale": 1.0,
        "x_zero_point": 0,
        "w_scale": 1.0,
        "y_zero_point": 0,
        "y_scale": 255.0 * 127 * 576 / 200,
    }
    found = tc.quantized.explain(tc.quantized.conv2d, x, w, at=(0, 0, 0, 0), **given)
    assert found.steps[0][1] == 255 * 127 * 576 - 255
    assert tc.quantized.conv2d(x, w, **given).ravel().tolist() == [200, 200]


def test_a_multiplier_above_1_wraps_in_tflite():
    """2**26 is 2**30 / 2**31 * 2**27. 32 bits keep 20 * 2**27 as 20 * 2**27 - 2**32, which is negative, and saturates."""
    assert dots([20, 1], "tflite", 2.0**-26) == [-128, 127]
    assert dots([20, 1], "onnx", 2.0**-26) == [127, 127]


def test_the_multiplier_as_an_integer():
    """0.1 is 0.8 * 2**-3, and 0.8 * 2**31 is 1717986918.4."""
    assert fixed_point(0.1) == (1717986918, -3)
    assert fixed_point(1.0) == (2**30, 1)
    assert fixed_point(1 - 2.0**-40) == (2**30, 1)  # rounds up to 2**31, which has no place
    assert fixed_point(2.0**-40) == (0, 0)


X, W = np.int8([[[[1, 2]]]]), np.int8([[[[1, 2, 3], [4, 5, 6]]]])
GOOD = {
    "x_scale": 1.0,
    "x_zero_point": 0,
    "w_scale": 1.0,
    "y_scale": 1.0,
    "y_zero_point": 0,
    "scheme": "tflite",
}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"x_scale": 0.0}, ValueError, "x_scale must be positive and finite in float32; got 0.0"),
        ({"y_scale": float("nan")}, ValueError, "y_scale must be positive and finite in float32; got nan"),
        (
            {"w_scale": [1.0, -2.0, 1.0]},
            ValueError,
            "w_scale must be positive and finite in float32; got -2.0",
        ),
        ({"x_scale": 1e-30, "w_scale": 1e-30}, ValueError, "x_scale \\* w_scale must be positive in float32"),
        ({"x_scale": 1e-60}, ValueError, "x_scale must be positive and finite in float32; got 1e-60"),
        (
            {"w_scale": [1.0, 2.0]},
            ValueError,
            "w_scale must be one number or 3 of them, one for each output channel",
        ),
        ({"x_scale": [1.0]}, ValueError, r"x_scale must be one number; got shape \[1\]"),
        ({"x_zero_point": 128}, ValueError, "x_zero_point must be -128 to 127, in int8; got 128"),
        ({"x_zero_point": 0.5}, TypeError, "x_zero_point must be an integer; got 0.5"),
        ({"w_zero_point": 1}, ValueError, "w_zero_point must be 0 for scheme 'tflite'"),
        ({"x": X.astype("uint8")}, TypeError, "x and w must be int8 with int8 or int16 with int8"),
        ({"w": W.astype("uint8"), "scheme": "onnx"}, TypeError, "got int8 with uint8"),
        ({"x": X.astype("float32")}, TypeError, "x must have dtype int8, uint8 or int16; got float32"),
        ({"bias": np.int32([1, 2])}, ValueError, r"bias must have shape \[3\]"),
        ({"bias": np.float32([1, 2, 3])}, TypeError, "bias must have dtype int32, integers in units of"),
        ({"bias": np.int64([1, 2, 3])}, TypeError, "bias must have dtype int32"),
        (
            {"bias": np.int32([2**31 - 1, 0, 0])},
            ValueError,
            r"must fit into the 32 bits .* got 2147483656 in cell",
        ),
        ({"scheme": "tf_lite"}, ValueError, 'did you mean "tflite"'),
        ({"activation": "tanh"}, ValueError, "activation must be one of None, relu, relu6; got 'tanh'"),
        (
            {"dtype": "uint8"},
            ValueError,
            r"dtype of scheme 'tflite' .* for x of int8 must be one of int8; got 'uint8'",
        ),
        ({"x_scale": 300.0, "scheme": "xnnpack"}, ValueError, "must be less than 256 for scheme 'xnnpack'"),
        (
            {"x": X.astype("int16"), "x_zero_point": 1},
            ValueError,
            "must be 0 for int16 and scheme 'tflite' .*; got 1 and 0",
        ),
        ({"x": X[0]}, ValueError, r"x must have 4 axes, \[batch, \*sizes, channels\]"),
    ],
)
def test_what_is_refused(change, error, words):
    with pytest.raises(error, match=words):
        tc.quantized.conv2d(**{"x": X, "w": W} | GOOD | change)


def test_what_a_runtime_does_not_compute_in_integers_is_refused():
    with pytest.raises(
        ValueError, match="'onnx' .* has no conv2d_transpose: onnxruntime computes it in float32"
    ):
        tc.quantized.conv2d_transpose(X, W, **GOOD | {"scheme": "onnx"})
    with pytest.raises(ValueError, match="'tflite' .* has no conv3d: TFLite's conv3d is a float32 op"):
        tc.quantized.conv3d(X[None], W[None], **GOOD)
    with pytest.raises(ValueError, match="filters at least as large as the strides"):
        tc.quantized.conv2d_transpose(X, np.int8([[[[1, 2]]]]), strides=2, **GOOD | {"scheme": "xnnpack"})
    with pytest.raises(ValueError, match="y_scale and y_zero_point must be those of x"):
        tc.quantized.avg_pool(X, 1, 1, "VALID", x_scale=1.0, x_zero_point=0, y_scale=2.0, scheme="tflite")
    with pytest.raises(TypeError, match="x must be uint8 for scheme 'torch' .*; got int8"):
        tc.quantized.avg_pool(X, 1, 1, "VALID", x_scale=1.0, x_zero_point=0, scheme="torch")
    with pytest.raises(IndexError, match=r"at must be inside shape \[1, 1, 1, 3\] as \(N, H, W, C\)"):
        tc.quantized.explain(tc.quantized.conv2d, X, W, at=(0, 0, 0, 3), **GOOD)
    with pytest.raises(
        ValueError, match="op, a function of teachconv.quantized, must be one of conv1d, conv2d"
    ):
        tc.quantized.explain(tc.conv2d, X, W, at=(0, 0, 0, 0))


@pytest.mark.parametrize("name", ["x", "w", "bias", "w_scale"])
def test_masked_arrays_and_lists_without_an_end_are_refused(name):
    given = {"x": np.ones((1, 4, 4, 1), "int8"), "w": np.ones((2, 2, 1, 1), "int8")}
    given |= {"bias": np.ones(1, "int32"), "w_scale": np.ones(1, "float32")}
    facts = {"x_scale": 1.0, "x_zero_point": 0, "y_scale": 1.0, "y_zero_point": 0}
    masked = np.ma.array(given[name], mask=True)
    with pytest.raises(tc.ArgumentError, match=f"{name} must have no masked elements"):
        tc.quantized.conv2d(**given | {name: masked}, **facts)
    endless = []
    endless += [endless, endless]
    with pytest.raises(tc.ArgumentError, match=f"{name} must be nested lists of equal lengths"):
        tc.quantized.conv2d(**given | {name: endless}, **facts)
