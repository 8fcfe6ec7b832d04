"""Adaptive pools, and patches of images as columns and back, by hand; the recorded windows have the frameworks' answers."""

import numpy as np
import pytest

import teachconv as tc

torch, keras = tc.dialects.torch, tc.dialects.keras
X = np.random.default_rng(0).standard_normal((2, 3, 7, 10)).astype("float32")


def test_windows_of_an_adaptive_pool_by_hand():
    """Five cells as three windows: cells 0 1, 1 2 3, 3 4."""
    x = np.float32([[1, 2, 4, 8, 18]])
    assert torch.adaptive_avg_pool1d(x, 3).tolist() == [[1.5, float(np.float32(14 / 3)), 13.0]]
    assert torch.adaptive_max_pool1d(x, 3).tolist() == [[2, 8, 18]]
    assert torch.adaptive_avg_pool1d(x, 7).tolist() == [[1, 1.5, 3, 4, 6, 13, 18]]
    assert np.isnan(torch.adaptive_max_pool1d(np.float32([[np.nan, 1]]), 1)).all()
    call = tc.resolve(torch.adaptive_avg_pool1d, x, 3)
    assert [[*call.window(1, out)] for out in range(3)] == [[0, 1], [1, 2, 3], [3, 4]]


def test_where_the_sizes_divide_it_is_a_plain_pool():
    x = X[:, :, :6]
    assert np.array_equal(torch.adaptive_avg_pool2d(x, (3, 5)), torch.avg_pool2d(x, 2))
    assert np.array_equal(torch.adaptive_max_pool2d(x, (3, 5)), torch.max_pool2d(x, 2))
    assert np.array_equal(torch.adaptive_max_pool2d(X, (None, 10)), X)
    last = np.moveaxis(X, 1, -1)
    for mean, most in ((torch.adaptive_avg_pool2d(X, 4), torch.adaptive_max_pool2d(X, 4)),):
        assert np.array_equal(np.moveaxis(keras.adaptive_average_pool(last, 4), -1, 1), mean)
        assert np.array_equal(np.moveaxis(keras.adaptive_max_pool(last, 4), -1, 1), most)


def test_an_adaptive_pool_is_explained():
    found = tc.explain(torch.adaptive_avg_pool2d, X, (3, 4), at=(0, 1, 1, 2))
    cells = [(0, 1, row, col) for row in (2, 3, 4) for col in (5, 6, 7)]
    assert [place for place, _ in found.taps] == cells
    assert found.divisor == 9
    assert "⌊1 · 7 / 3⌋" in str(found)
    assert float(found.value) == pytest.approx(float(X[0, 1, 2:5, 5:8].mean()), rel=1e-6)


PATCHES = {"kernel_size": (3, 2), "stride": (2, 1), "padding": (1, 0), "dilation": (1, 2)}


def test_columns_are_what_a_convolution_multiplies():
    w = np.random.default_rng(1).standard_normal((4, 3, 3, 2)).astype("float32")
    columns = torch.unfold(X, **PATCHES)
    words = {name: PATCHES[name] for name in ("stride", "padding", "dilation")}
    wanted = torch.conv2d(X, w, **words)
    assert np.allclose((w.reshape(4, -1) @ columns).reshape(wanted.shape), wanted, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_fold_is_the_transpose_of_unfold(dtype):
    rng = np.random.default_rng(2)
    x = rng.integers(-4, 5, X.shape).astype(dtype)
    columns = torch.unfold(x, **PATCHES)
    other = rng.integers(-4, 5, columns.shape).astype(dtype)
    assert (columns * other).sum() == (x * torch.fold(other, (7, 10), **PATCHES)).sum()


def test_each_cell_of_columns_and_of_images_is_explained():
    """What `explain` says was read, added up, is the result."""
    for function, x, arguments in (
        (torch.unfold, X[:1, :2], {}),
        (torch.fold, torch.unfold(X[:1, :2], **PATCHES), {"output_size": (7, 10)}),
    ):
        result = function(x, **arguments, **PATCHES)
        rng = np.random.default_rng(3)
        for flat in rng.integers(0, result.size, 12):
            cell = tuple(int(n) for n in np.unravel_index(flat, result.shape))
            found = tc.explain(function, x, **arguments, **PATCHES, at=cell)
            read = [0.0 if value is None else x[place] for place, value in found.taps]
            assert result[cell] == pytest.approx(sum(map(float, read)), abs=1e-6)
            assert [None if value is None else float(x[place]) for place, value in found.taps] == [
                value for _, value in found.taps
            ]


COLUMNS = torch.unfold(X, 2)
BY_TAP = COLUMNS.reshape(2, 3, 4, -1).swapaxes(1, 2).reshape(COLUMNS.shape)
ONES = torch.fold(np.ones_like(COLUMNS), (7, 10), 2)
OVERWRITTEN = np.zeros_like(X)  # by patches in their order
for number, (row, col) in enumerate(np.ndindex(6, 9)):
    OVERWRITTEN[:, :, row : row + 2, col : col + 2] = BY_TAP[:, :, number].reshape(2, 3, 2, 2)
MISTAKES = [
    ("regular_windows", torch.adaptive_avg_pool2d, (X, (3, 4)), torch.avg_pool2d(X, (3, 4), 2)),
    ("regular_windows", torch.adaptive_max_pool2d, (X, (3, 4)), torch.max_pool2d(X, (3, 4), 2)),
    ("max_for_average", torch.adaptive_avg_pool2d, (X, 3), torch.adaptive_max_pool2d(X, 3)),
    ("average_for_max", torch.adaptive_max_pool2d, (X, 3), torch.adaptive_avg_pool2d(X, 3)),
    ("channel_order", torch.unfold, (X, 2), BY_TAP),
    ("channel_order", torch.fold, (BY_TAP, (7, 10), 2), torch.fold(COLUMNS, (7, 10), 2)),
    ("overlap_overwritten", torch.fold, (BY_TAP, (7, 10), 2), OVERWRITTEN),
    ("overlap_averaged", torch.fold, (BY_TAP, (7, 10), 2), torch.fold(BY_TAP, (7, 10), 2) / ONES),
]


@pytest.mark.parametrize(("code", "function", "args", "wrong"), MISTAKES)
def test_mistakes_have_names(code, function, args, wrong):
    assert tc.diff(function, *args, against=function(*args)).passed
    row = tc.diff(function, *args, against=wrong.astype("float32")).rows[0]
    assert (row.passed, row.diagnosis.code) == (False, code), row


REFUSED = [
    (torch.adaptive_avg_pool2d, (X, 0), "output_size must be at least 1; got 0"),
    (torch.adaptive_avg_pool2d, (X, None), "output_size must be an int or 2 ints"),
    (torch.adaptive_avg_pool2d, (X[:, :, :0], 2), "no empty axis to pool"),
    (torch.adaptive_avg_pool1d, (X[0].astype("int32"), 2), "floating dtype"),
    (torch.adaptive_max_pool2d, (X, 2, True), "return_indices must be False"),
    (keras.adaptive_max_pool, (X, (2, 2, 2)), "output_size must be an int or 2 ints"),
    (torch.unfold, (X, 8), "needs in_rows >= 8"),
    (torch.fold, (COLUMNS, (7, 9), 2), "a multiple of 4 rows and 48 columns"),
    (torch.fold, (COLUMNS[:, :11], (7, 10), 2), "a multiple of 4 rows and 54 columns"),
]


@pytest.mark.parametrize(("function", "args", "words"), REFUSED)
def test_what_is_refused(function, args, words):
    with pytest.raises((ValueError, TypeError), match=words):
        function(*args)


def test_an_adaptive_pool_is_translated():
    made = tc.translate(torch.adaptive_avg_pool2d, X, (3, 4), to="keras")
    assert "keras.ops.adaptive_average_pool" in made.code
    assert not tc.translate(torch.adaptive_avg_pool2d, X, (3, 4), to="onnx").possible
    assert not tc.translate(torch.unfold, X, 2, to="keras").possible
