"""Resizes and shuffles of pixels: numbers worked out by hand, the adjoint, what is explained, named and refused."""

from enum import Enum
from fractions import Fraction

import numpy as np
import pytest

import teachconv as tc
from teachconv import graph as tg
from teachconv.core.rounding import round_sum
from teachconv.data.seeded import make_array
from teachconv.graph.ops import image_ops
from teachconv.verification.window_mistakes import limits
from teachconv.windows import walking
from teachconv.windows.calls import bound_call

torch, onnx, jax, keras = (getattr(tc.dialects, name) for name in ("torch", "onnx", "jax", "keras"))
ROW = np.float64([0, 12])  # in the numbers by hand, 12 is a whole number for every weight


def linear(shift):
    return lambda x: onnx.resize(
        x[None, None], scales=[1, 1, 2], mode="linear", coordinate_transformation_mode=shift
    )


def nearest(reads, shift="half_pixel", size=5):
    def function(x):
        words = {"nearest_mode": reads, "coordinate_transformation_mode": shift}
        return onnx.resize(x[None, None], sizes=[1, 1, size], **words)

    return function


BY_HAND = [
    # places (o + 1/2) / 2 - 1/2: -1/4, 1/4, 3/4, 5/4
    (lambda x: torch.interpolate(x[None, None], 4, mode="linear"), ROW, [0, 3, 9, 12]),
    (lambda x: tc.resize(x[None, :, None], (1, 4)), ROW, [0, 3, 9, 12]),
    (lambda x: keras.resize(x[:, None, None], (4, 1)), ROW, [0, 3, 9, 12]),
    (linear("half_pixel"), ROW, [0, 3, 9, 12]),
    (lambda x: jax.resize(x, (4,), "triangle"), ROW, [0, 3, 9, 12]),
    # three cells to two: places (o + 1/2) 3/2 - 1/2 = 1/4, 7/4, whose cells beside them are not read
    (lambda x: jax.resize(x, (2,), "linear", antialias=False), np.float64([0, 12, 16]), [3, 15]),
    # o / 3
    (lambda x: torch.interpolate(x[None, None], 4, mode="linear", align_corners=True), ROW, [0, 4, 8, 12]),
    (lambda x: tc.resize(x[None, :, None], (1, 4), coordinates="align_corners"), ROW, [0, 4, 8, 12]),
    (linear("align_corners"), ROW, [0, 4, 8, 12]),
    # o / 2
    (lambda x: tc.resize(x[None, :, None], (1, 4), coordinates="asymmetric"), ROW, [0, 6, 12, 12]),
    (linear("asymmetric"), ROW, [0, 6, 12, 12]),
    # a scale of 5/4 keeps two cells: 4/5 (o + 1/2) - 1/2, or as if there were no scale
    (
        lambda x: torch.interpolate(x[None, None], scale_factor=1.75, mode="linear"),
        np.float64([0, 7]),
        [0, 2.5, 6.5],
    ),
    (
        lambda x: torch.interpolate(
            x[None, None], scale_factor=1.75, mode="linear", recompute_scale_factor=True
        ),
        np.float64([0, 6]),
        [0, 3, 6],
    ),
    # one cell: in the middle, or the first
    (lambda x: torch.interpolate(x[None, None], 1, mode="linear"), ROW, [6]),
    (lambda x: torch.interpolate(x[None, None], 1, mode="linear", align_corners=True), ROW, [0]),
    (lambda x: onnx.resize(x, sizes=[1], mode="linear"), ROW, [6]),
    (
        lambda x: onnx.resize(
            x, sizes=[1], mode="linear", coordinate_transformation_mode="pytorch_half_pixel"
        ),
        ROW,
        [0],
    ),
    # two cells to five: (o + 1/2) 2/5 is 0.2, 0.6, 1, 1.4, 1.8, and o 2/5 is 0, 0.4, 0.8, 1.2, 1.6
    (lambda x: torch.interpolate(x[None, None], 5), ROW, [0, 0, 0, 12, 12]),
    (lambda x: torch.interpolate(x[None, None], 5, mode="nearest-exact"), ROW, [0, 0, 12, 12, 12]),
    (lambda x: tc.resize(x[None, :, None], (1, 5), "nearest"), ROW, [0, 0, 12, 12, 12]),
    (
        lambda x: tc.resize(x[None, :, None], (1, 5), "nearest", coordinates="asymmetric"),
        ROW,
        [0, 0, 0, 12, 12],
    ),
    (lambda x: jax.resize(x[None], (1, 5), "nearest"), ROW, [0, 0, 12, 12, 12]),
    # -0.3, 0.1, 0.5, 0.9, 1.3
    (nearest("round_prefer_floor"), ROW, [0, 0, 0, 12, 12]),
    (nearest("round_prefer_ceil"), ROW, [0, 0, 12, 12, 12]),
    (nearest("floor"), ROW, [0, 0, 0, 0, 12]),
    (nearest("ceil"), ROW, [0, 12, 12, 12, 12]),
    (nearest("ceil", "asymmetric"), ROW, [0, 12, 12, 12, 12]),
    (nearest("floor", "tf_half_pixel_for_nn"), ROW, [0, 0, 12, 12, 12]),
    (nearest("floor", "align_corners"), ROW, [0, 0, 0, 0, 12]),
    # PyTorch ignores the scale of two axes where a size stays, but not of one axis: o / 1.25 is 0, 0.8, 1.6
    (lambda x: torch.interpolate(x[None, None], scale_factor=1.25), np.float64([1, 2, 3]), [1, 1, 2]),
    (lambda x: torch.interpolate(x[None, None, None], scale_factor=1.25), np.float64([1, 2, 3]), [1, 2, 3]),
]


@pytest.mark.parametrize(("function", "x", "right"), BY_HAND)
def test_by_hand(function, x, right):
    for dtype in ("float64", "float32", "float16"):
        made = function(x.astype(dtype))
        assert (made.ravel().tolist(), made.dtype) == (right, dtype)


def test_the_nearest_cell_of_jax_lies_by_a_rounded_step():
    """10 · float32(1 / 25) is the float below 0.4, so (12 + 1/2) · 0.4 = 5 is not reached, and so for every fifth cell.

    20 · float32(1 / 55) is likewise below 4 / 11; other quotients are as exact as they have to be.
    """
    for size, new in ((10, 25), (20, 55), (3, 9), (8, 5), (7, 7)):
        exact = (2 * np.arange(new) + 1) * size // (2 * new)
        made = jax.resize(np.arange(size), (new,), "nearest")
        one_less = (2 * np.arange(new) + 1) * size % (2 * new) == 0
        if (size, new) in ((10, 25), (20, 55)):
            assert 0 < (exact - made).sum() <= one_less.sum()
            assert one_less[made != exact].all()
        else:
            assert np.array_equal(made, exact)
    assert tc.explain(jax.resize, np.arange(10), (25,), "nearest", at=(12,)).value == 4


def test_the_axes_of_jax_have_no_names_but_those_that_change():
    layouts = {
        ((1, 8, 8, 2), (1, 16, 4, 2)): "NHWC",
        ((1, 2, 8, 8), (1, 2, 16, 4)): "NCHW",
        ((1, 8, 8, 2), (1, 8, 8, 2)): "NHWC",
        ((8, 8, 2), (9, 7, 2)): "HWN",
        ((8, 8), (9, 7)): "HW",
        ((1, 2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1)): "ABEDHW",
    }
    for (shape, new), layout in layouts.items():
        call = tc.resolve(jax.resize, shape, new, "nearest")
        assert (call.layout, call.output_shape) == (layout, new)
    assert np.array_equal(jax.resize(ROW, (2,), "linear"), ROW)


def test_two_axes_by_hand():
    """The middle of four cells is their mean; corners are one cell."""
    x = np.float32([[0, 4], [8, 16]])[None, None]
    assert torch.interpolate(x, 1, mode="bilinear").item() == 7
    assert torch.interpolate(x, 3, mode="bilinear", align_corners=True)[0, 0].tolist() == [
        [0, 2, 4],
        [4, 7, 10],
        [8, 12, 16],
    ]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_a_cell_is_the_exact_sum_rounded_once(dtype):
    x = make_array((1, 2, 5, 4), dtype, "scaled", "resize")
    call = tc.resolve(torch.interpolate, x, (7, 9), mode="bilinear")
    made = call(x)
    for cell in np.ndindex(call.output_shape):
        terms = [Fraction(float(x[at])) * weight for at, weight in call.taps(cell).items()]
        assert made[cell] == round_sum([sum(terms)], np.dtype(dtype))
        assert 1 <= len(terms) <= 4


def test_a_cell_of_weight_0_is_not_read():
    x = np.float32([np.inf, 1, 2])[None, None]
    assert torch.interpolate(x, 5, mode="linear", align_corners=True).ravel().tolist() == [
        np.inf,
        np.inf,
        1,
        1.5,
        2,
    ]
    x = np.float32([np.nan, 1, 2])[None, None]
    assert np.isnan(torch.interpolate(x, 6, mode="linear")).ravel().tolist() == [True] * 3 + [False] * 3


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(7, 3), (2, 9)])
def test_the_runtimes_gradient_is_the_adjoint(method, size):
    """<resize(x), y> = <x, gradient(y)>, where the runtime gathers and multiplies by itself."""
    x, y = (make_array((2, *sizes, 3), "float32", "normal", "adjoint") for sizes in ((4, 5), size))
    variable = tg.Variable(x)
    with tg.GradientTape() as tape:
        made = image_ops.resize(variable, size, method)
    assert np.allclose(made.numpy(), tc.resize(x, size, method), rtol=1e-5, atol=1e-6)
    back = tape.gradient(made, variable, y).numpy()
    assert np.isclose(
        (tc.resize(x, size, method) * y).sum(dtype=float), (x * back).sum(dtype=float), rtol=1e-5
    )


def test_shuffles_by_hand():
    """Two channels of blocks of two pixels: of eight numbers, the even ones, or the first four, are channel 0."""
    x = np.arange(8).reshape(1, 8, 1, 1)
    by_pixel, by_channel = [[[0, 2], [4, 6]], [[1, 3], [5, 7]]], [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert onnx.depth_to_space(x, 2)[0].tolist() == by_pixel
    assert onnx.depth_to_space(x, 2, mode="CRD")[0].tolist() == by_channel
    assert torch.pixel_shuffle(x, 2)[0].tolist() == by_channel
    assert tc.depth_to_space(x, 2, "NCHW")[0].tolist() == by_pixel
    assert tc.depth_to_space(x.reshape(1, 1, 1, 8), 2)[0].transpose(2, 0, 1).tolist() == by_pixel


SHUFFLES = [
    (lambda x: torch.pixel_shuffle(x, 3), lambda y: torch.pixel_unshuffle(y, 3)),
    (lambda x: onnx.depth_to_space(x, 3), lambda y: onnx.space_to_depth(y, 3)),
    (lambda x: tc.depth_to_space(x, 3, "NCHW"), lambda y: tc.space_to_depth(y, 3, "NCHW")),
]


@pytest.mark.parametrize(("there", "back"), SHUFFLES)
def test_a_shuffle_and_its_inverse(there, back):
    x = np.arange(2 * 18 * 2 * 4).reshape(2, 18, 2, 4)
    y = there(x)
    assert y.shape == (2, 2, 6, 12)
    assert sorted(y.ravel()) == sorted(x.ravel())
    assert np.array_equal(back(y), x)


def test_the_orders_are_a_reshape_and_a_transpose():
    """As exporters write them."""
    x = np.arange(2 * 12 * 3 * 2).reshape(2, 12, 3, 2)
    by_pixel = x.reshape(2, 2, 2, 3, 3, 2).transpose(0, 3, 4, 1, 5, 2).reshape(2, 3, 6, 4)
    by_channel = x.reshape(2, 3, 2, 2, 3, 2).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 6, 4)
    assert np.array_equal(onnx.depth_to_space(x, 2), by_pixel)
    assert np.array_equal(torch.pixel_shuffle(x, 2), by_channel)
    assert np.array_equal(torch.pixel_shuffle(x[None], 2)[0], by_channel)
    assert np.array_equal(torch.pixel_shuffle(x[1], 2), by_channel[1])


def test_explain():
    found = tc.explain(torch.interpolate, ROW[None, None], 4, mode="linear", at=(0, 0, 1))
    assert (found.value, found.taps) == (3.0, (((0, 0, 0), 0.0), ((0, 0, 1), 12.0)))
    assert found.weights == (0.75, 0.25)
    text = " ".join(str(found).split())
    assert "axis 2: (1 + 1/2) · 1/2 - 1/2 = 0.25" in text
    assert "0,0,1 12.0 0.25" in text
    near = tc.explain(tc.resize, ROW[None, :, None], (1, 5), "nearest", at=(0, 2, 0))
    assert (near.value, near.taps, near.weights) == (12.0, (((0, 1, 0), 12.0),), (1.0,))
    four = tc.explain(torch.interpolate, np.ones((1, 1, 2, 2)), 4, mode="bilinear", at=(0, 0, 1, 1))
    assert four.weights == (0.5625, 0.1875, 0.1875, 0.0625)
    moved = tc.explain(torch.pixel_shuffle, np.arange(8).reshape(8, 1, 1), 2, at=(1, 0, 1))
    assert (moved.value, moved.taps) == (5, (((5, 0, 0), 5),))
    assert "(channel · block + row) · block + col" in str(moved)


def test_resolve():
    call = tc.resolve("torch.interpolate", (1, 2, 3, 4), scale_factor=2.5, mode="bilinear")
    assert (call.output_shape, call.layout) == ((1, 2, 7, 10), "NCHW")
    assert "axis 2: the step is 2/5" in str(call)
    assert "half_pixel: cell o lies at (o + 1/2) · step - 1/2" in str(call)
    assert tc.resolve("onnx.depth_to_space", (1, 8, 2, 3), 2).output_shape == (1, 2, 4, 6)


IMAGE = make_array((2, 3, 6, 7), "float32", "normal", "resized")
TEN = {"size": (10, 9), "mode": "bilinear"}
CHANNELS = make_array((2, 12, 3, 2), "float32", "normal", "shuffled")
PLANTED = [
    ("align_corners", torch.interpolate, IMAGE, TEN, torch.interpolate(IMAGE, **TEN, align_corners=True)),
    (
        "align_corners",
        torch.interpolate,
        IMAGE,
        TEN | {"align_corners": True},
        torch.interpolate(IMAGE, **TEN),
    ),
    (
        "coordinates",
        tc.resize,
        IMAGE,
        {"size": (5, 9)},
        tc.resize(IMAGE, (5, 9), coordinates="asymmetric"),
    ),
    ("interpolation", torch.interpolate, IMAGE, TEN, torch.interpolate(IMAGE, (10, 9))),
    ("interpolation", torch.interpolate, IMAGE, TEN, torch.interpolate(IMAGE, (10, 9), mode="nearest-exact")),
    ("interpolation", torch.interpolate, IMAGE, {"size": (10, 9)}, torch.interpolate(IMAGE, **TEN)),
    (
        "nearest_mode",
        onnx.resize,
        IMAGE,
        {"sizes": (2, 3, 4, 3)},
        onnx.resize(IMAGE, sizes=(2, 3, 4, 3), nearest_mode="ceil"),
    ),
    (
        "scale",
        torch.interpolate,
        IMAGE,
        {"scale_factor": 1.6, "mode": "bilinear"},
        torch.interpolate(IMAGE, scale_factor=1.6, mode="bilinear", recompute_scale_factor=True),
    ),
    (
        "interpolation",
        jax.resize,
        IMAGE,
        {"shape": (2, 3, 10, 9), "method": "linear"},
        torch.interpolate(IMAGE, (10, 9), mode="nearest-exact"),
    ),
    (  # as tf.image.resize does it
        "scale",
        jax.resize,
        np.arange(10.0),
        {"shape": (25,), "method": "nearest"},
        tc.resize(np.arange(10.0)[None, :, None], (1, 25), "nearest").ravel(),
    ),
    ("channel_order", torch.pixel_shuffle, CHANNELS, {"upscale_factor": 2}, onnx.depth_to_space(CHANNELS, 2)),
    ("channel_order", onnx.depth_to_space, CHANNELS, {"blocksize": 2}, torch.pixel_shuffle(CHANNELS, 2)),
    ("not_moved", torch.pixel_shuffle, CHANNELS, {"upscale_factor": 2}, CHANNELS.reshape(2, 3, 6, 4)),
]


@pytest.mark.parametrize(("code", "function", "x", "arguments", "wrong"), PLANTED)
def test_planted_and_found(code, function, x, arguments, wrong):
    report = tc.diff(function, x, **arguments, against={"right": function(x, **arguments), "wrong": wrong})
    assert [row.passed for row in report.rows] == [True, False]
    assert report.rows[1].diagnosis.code == code, str(report)
    assert str(report.rows[1].diagnosis.sentence).startswith("equal if ")


def test_a_linear_result_of_another_program_for_a_nearest_one_is_named():
    """Its floats are rounded, which those of the nearest cells are not."""
    x = make_array((2, 9, 8, 3), "float32", "scaled", "named")
    floats = image_ops.resize(x, (11, 13)).numpy()
    (row,) = tc.diff(tc.resize, x, (11, 13), "nearest", against=floats).rows
    assert (row.passed, row.diagnosis.code) == (False, "interpolation")


@pytest.mark.parametrize("size", [(11, 3), (4, 50)])
def test_floats_of_another_order_are_within_the_bound_and_a_changed_weight_is_not(size):
    """The runtime computes in float32, one axis after the other."""
    x = make_array((2, 9, 8, 3), "float32", "scaled", "bound")
    floats = image_ops.resize(x, size).numpy()
    report = tc.diff(tc.resize, x, size, against=floats)
    assert report.passed
    assert 0 <= report.rows[0].bound_fraction <= 1
    assert not tc.diff(tc.resize, x, size, against=floats * 1.01).passed
    (bound,) = limits(tc.resolve(tc.resize, x, size), x)
    # 3 roundings along each of four axes, and 8 times the cells of each resized one, and one more
    assert np.allclose(
        bound, (12 + 8 * 10 + 8 * 9) * 2.0**-24 * np.abs(x).max((1, 2), keepdims=True), rtol=1e-4
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: torch.interpolate(IMAGE, 3, mode="bicubic"),
            "mode must be 'nearest', 'nearest-exact' or 'bilinear'",
        ),
        (lambda: torch.interpolate(IMAGE, 3, mode="linear"), "as nothing else is defined here; got 'linear'"),
        (lambda: torch.interpolate(IMAGE, 3, mode="bilinear", antialias=True), "antialias must be False"),
        (lambda: torch.interpolate(IMAGE, 3, align_corners=False), "align_corners must be None for nearest"),
        (lambda: torch.interpolate(IMAGE), "one of size and scale_factor must be given"),
        (lambda: torch.interpolate(IMAGE, 3, 2.0), "one of size and scale_factor must be given"),
        (lambda: torch.interpolate(IMAGE, scale_factor=(2.0,)), "scale_factor must be 2 numbers above 0"),
        (lambda: torch.interpolate(IMAGE, scale_factor=0.1), "size of axis 2 must be at least 1 .*got 0"),
        (lambda: torch.interpolate(IMAGE[:, :, :0], 3), "of which no resized axis may be empty"),
        (lambda: torch.interpolate(np.ones((1, 1, 3), int), 2, mode="linear"), "must have a floating dtype"),
        (lambda: tc.resize(IMAGE, (2, 3), "area"), "method must be 'bilinear' or 'nearest'"),
        (lambda: tc.resize(IMAGE, (2, 3), antialias=True), "antialias must be False"),
        (
            lambda: jax.resize(IMAGE, (2, 3, 9, 5), "linear"),
            r"antialias must be False where an axis shrinks: .*; got True for \[2, 3, 6, 7\] -> \[2, 3, 9, 5\]",
        ),
        (lambda: jax.resize(IMAGE, (2, 3, 9, 9), "cubic"), "method must be 'linear', .* or 'nearest'"),
        (
            lambda: jax.resize(IMAGE, (2, 3, 9, 9), Enum("ResizeMethod", "LANCZOS3").LANCZOS3),
            "method must be 'linear'",
        ),
        (lambda: jax.resize(IMAGE, (9, 9), "linear"), r"shape must have 4 sizes; got \[9, 9\]"),
        (lambda: jax.resize(IMAGE, (2, 3, 0, 9), "nearest"), "shape of axis 2 must be at least 1"),
        (lambda: tc.resize(IMAGE, 2), "size must be a sequence of 2 ints"),
        (lambda: keras.resize(IMAGE, (2, 3), "bicubic"), "interpolation must be 'bilinear' or 'nearest'"),
        (lambda: onnx.resize(IMAGE, sizes=(1, 2, 3, 4), mode="cubic"), "mode must be 'nearest' or 'linear'"),
        (
            lambda: onnx.resize(
                IMAGE, scales=(1, 1, 1, 2), coordinate_transformation_mode="tf_crop_and_resize"
            ),
            "as nothing else is defined here; got 'tf_crop_and_resize'",
        ),
        (lambda: onnx.resize(IMAGE, scales=(1, 2)), "scales must be 4 numbers above 0"),
        (lambda: onnx.resize(IMAGE), "one of scales and sizes must be given"),
        (lambda: tc.depth_to_space(IMAGE, 1), "block_size must be at least 2; got 1"),
        (
            lambda: tc.depth_to_space(IMAGE, 2),
            r"axis C of the input \[2, 3, 6, 7\] NHWC must be a multiple of 4",
        ),
        (
            lambda: torch.pixel_unshuffle(IMAGE, 2),
            "axis W .* must be a multiple of 2 for downscale_factor 2; got 7",
        ),
        (lambda: onnx.depth_to_space(CHANNELS, 2, mode="RCD"), "mode must be one of DCR, CRD; got 'RCD'"),
        (
            lambda: tc.translate(torch.interpolate, (1, 1, 8, 8), 7, to="keras").check(),
            "no call of keras.ops.image.resize reads the same cells with the same weights",
        ),
    ],
)
def test_errors_say_what_is_legal(call, message):
    with pytest.raises((tc.ArgumentError, tc.ArgumentTypeError), match=message):
        call()


def test_a_translation_says_what_is_missing():
    for function, arguments, to in ((torch.pixel_shuffle, (2,), "jax"), (torch.pixel_shuffle, (2,), "keras")):
        found = tc.translate(function, (1, 4, 2, 2), *arguments, to=to)
        assert (found.possible, found.code) == (False, "")
        assert "has no function here that does this to an array NCHW" in found.why


def test_only_cells_that_doubles_cannot_decide_are_summed_as_fractions(monkeypatch):
    """Of an image twice as large, an eighth of the cells lies in the middle between two floats."""
    wide_range = make_array((1, 8, 9, 2), "float32", seed="ties") * 10.0 ** -np.arange(0, 36, 2).reshape(9, 2)
    x = wide_range.astype("float32")
    call = bound_call(tc.resize, (x, (16, 18)), {})[0]
    exact = [
        round_sum([sum(Fraction(float(x[i])) * w for i, w in call.taps(at).items())], x.dtype)
        for at in np.ndindex(call.output_shape)
    ]
    cells = []
    monkeypatch.setattr(walking, "round_sum", lambda *args: cells.append(args) or round_sum(*args))
    assert np.array_equal(call(x).ravel(), np.float32(exact))
    assert len(cells) < len(exact) / 100
    monkeypatch.setattr(walking, "round_sum", None)  # a sum of floats near each other is exact in doubles
    tc.resize(np.abs(make_array((1, 64, 64, 2), "float32", seed="near")) + 1, (128, 128))
