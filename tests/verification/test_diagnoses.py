"""Every row of the table of diagnoses is found by its own example; other explanations are not made up."""

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from helpers import broken, mostly_slow
from quantized import by_hand

import teachconv as tc
from teachconv.backends import numpy_backend
from teachconv.core.calls import resolve
from teachconv.core.kinds import OPS, layout_of
from teachconv.data.seeded import make_array
from teachconv.running import dispatch
from teachconv.verification.diagnoses import DIAGNOSES, Known
from teachconv.verification.diagnosing import diagnose
from teachconv.verification.diffing import Truth
from teachconv.verification.failures import Failure

SIZES = [
    (2, 9, 8, 4, 6),
    (1, 12, 11, 6, 10),
    (3, 14, 17, 8, 12),
]  # images, rows, columns, in and out channels
DOCS = Path(tc.__file__).parents[1] / "docs"
HELD = 7.0


def sum16(x, w):
    """SAME, with every product and every sum rounded to float16."""
    rows, cols = x.shape[1:3]
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    total = np.zeros((*x.shape[:3], w.shape[3]), "float16")
    for r, c, i in np.ndindex(w.shape[:3]):
        product = padded[:, r : r + rows, c : c + cols, i, None] * w[r, c, i]
        total = (total + product.astype("float16")).astype("float16")
    return total.astype("float32")


def overwritten(x, w):
    """A transposed convolution, SAME at stride 1, whose loop over pixels writes, and does not add."""
    rows, cols = x.shape[1:3]
    y = np.zeros((len(x), rows + 2, cols + 2, w.shape[3]), "float32")
    for r, c, i, j in np.ndindex(rows, cols, 3, 3):
        y[:, r + i, c + j] = x[:, r, c] @ w[i, j]
    return y[:, 1:-1, 1:-1]


def nc4hw4(y):
    """What is in memory if channels lie in blocks of four."""
    return y.reshape(*y.shape[:3], -1, 4).transpose(0, 3, 1, 2, 4).reshape(y.shape)


def aligned(x):
    """What is read if each plane of NCHW begins at a multiple of 16 numbers in memory."""
    planes = x.transpose(0, 3, 1, 2)
    flat = planes.reshape(-1, x.shape[1] * x.shape[2])
    wide = np.pad(flat, ((0, 0), (0, -flat.shape[1] % 16)))
    return wide.ravel()[: x.size].reshape(planes.shape).transpose(0, 2, 3, 1)


SAID = {
    "bordered": lambda array: np.pad(array, ((0, 0), (1, 1), (1, 1), (0, 0))),
    "in_16_bits": partial(by_hand.convolve, accumulate=by_hand.wrap16),
    "sum16": sum16,
    "overwritten": overwritten,
    "nc4hw4": nc4hw4,
    "aligned": aligned,
    "held": HELD,
    "dialects": tc.dialects,
    "nchw": lambda array: array.transpose(0, 3, 1, 2),
    "oihw": lambda array: array.transpose(3, 2, 0, 1),
}


def int8_of(arrays):
    """The arrays in int8, so that sums exceed 16 bits and results the ends of the type."""
    x, w, b = (arrays[name] for name in "xwb")
    w_scale = 0.005 * (1 + np.arange(len(b), dtype="float32") % 5)
    facts = {"x_scale": 0.01, "x_zero_point": -11, "w_scale": w_scale, "y_scale": 0.06, "y_zero_point": -20}
    return {
        "xq": np.clip(np.rint(x / 0.01), -128, 127).astype("int8"),
        "wq": np.clip(np.rint(w / 0.015), -127, 127).astype("int8"),
        "bq": np.rint(b * 2000).astype("int32"),
        "facts": facts | {"scheme": "tflite"},
    }


def names_of(size):
    """The names that an example may use."""
    images, rows, cols, depth, outs = SIZES[size]
    arrays = {
        "x": make_array((images, rows, cols, depth), "float32", "normal", "x"),
        "w": make_array((3, 3, depth, outs), "float32", "normal", "w"),
        "b": make_array((outs,), "float32", "normal", "b"),
    }
    arrays |= int8_of(arrays)
    numpy = {name: getattr(np, name) for name in np.__all__ if name not in ("bool", "long", "ulong")}
    return numpy | {name: getattr(tc, name) for name in tc.__all__} | arrays | SAID


def found_by(known, size):
    """Return the row of a diff of the example: the result with the mistake against the call that was meant."""
    names = names_of(size)
    op, _, rest = known.right.partition("(")
    args, kwargs = eval(f"(lambda *args, **kwargs: (args, kwargs))({rest}", names)
    got = np.asarray(eval(known.wrong, names))
    got = got.astype("float32") if got.dtype == "float64" else got
    return tc.diff(eval(op, names), *args, **kwargs, backends=[], against=got).rows[0]


@pytest.mark.parametrize("size", mostly_slow(range(len(SIZES)), 0, len(SIZES) - 1))
@pytest.mark.parametrize("known", DIAGNOSES, ids=[known.code for known in DIAGNOSES])
def test_the_example_of_every_row_is_named(known, size):
    if known.code == "accumulates":  # what out held is known to check_backend only
        names = names_of(size)
        call, _ = tc.nn_ops.call_of(tc.conv2d, (names["x"], names["w"], 1, "SAME"), {})
        got, want = (np.asarray(eval(text, names), "float32") for text in (known.wrong, known.right))
        found = diagnose(Failure(call, got, want, np.full(want.shape, 1e-4), held=HELD)).diagnosis
    else:
        found = found_by(known, size).diagnosis
    assert found is not None
    assert found.code.startswith(known.code)


def test_every_row_has_a_page_and_a_name_of_its_own():
    assert len({known.code for known in DIAGNOSES}) == len(DIAGNOSES) > 30
    for known in DIAGNOSES:
        assert isinstance(known, Known)
        assert (DOCS / f"{known.page}.md").exists(), known.page
        assert known.changes in ("filter", "geometry", "input", "bias", "result", "numbers", "size")


# ---------------------------------------------------------------------------------------------
# Where, and what the cells hold
# ---------------------------------------------------------------------------------------------

X = make_array((2, 9, 8, 4), "float32", "normal", "where x")
W = make_array((3, 3, 4, 33), "float32", "normal", "where w")
RIGHT = tc.conv2d(X, W, 1, "SAME")


def spoiled(*places, by=1.5, result=RIGHT):
    got = result.copy()
    for place in places:
        got[place] += by
    return got


def where_of(got, op=tc.conv2d, args=(X, W, 1, "SAME"), **kwargs):
    row = tc.diff(op, *args, backends=[], against=got, **kwargs).rows[0]
    assert not row.passed
    assert len(row.where) <= 60
    return row


s_ = np.s_
PLACES = [
    ([s_[..., 32]], "channel 32 of 33 (last)"),
    ([s_[..., 0]], "channel 0 of 33"),
    ([s_[1]], "image 1 of 2 (last)"),
    ([s_[:, -1]], "row 8 of 9 (last)"),
    ([s_[:, :, 3::4]], "columns 3, 7 of 8"),
    ([s_[..., 3::4]], "channels 3, 7, 11, ... of 33"),
    ([s_[..., 30:]], "channels 30-32 of 33 (last 3)"),
    ([s_[..., 6:8], s_[..., 14:16]], "channels 6-7, 14-15 of 33"),
    ([s_[:, :, [0, -1]]], "first and last column"),
    ([s_[:, [0, -1]], s_[:, 1:-1, [0, -1]]], "the border of rows and columns, 1 wide"),
    ([s_[:, -1], s_[:, :-1, -1]], "row 8 of 9 (last) or column 7 of 8 (last)"),
    ([s_[:, 2, 3, 4]], "channel 4 of 33, row 2 of 9, column 3 of 8"),
    ([s_[:, 7, 5:], s_[:, 8]], "pixels 61-71 of 72 (last 11)"),
    (
        [s_[0, 2, 3, 4], s_[1, 7, 7, 5]],
        "",
    ),
    ([...], "every cell"),
]


@pytest.mark.parametrize(("places", "words"), PLACES, ids=[words or "scattered" for _, words in PLACES])
def test_where_is_said_in_words(places, words):
    got = spoiled(*places)
    row = where_of(got)
    assert np.array_equal(row.bad, got != RIGHT)
    if words:
        assert row.where == words
    else:
        assert row.where.startswith("2 of 16 cells in ")


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_the_mask_is_in_the_callers_layout(layout):
    x = X if layout == "NHWC" else X.transpose(0, 3, 1, 2)
    right = tc.conv2d(x, W, 1, "SAME", layout)
    got = right.copy()
    got[s_[..., 32] if layout == "NHWC" else s_[:, 32]] = 0
    row = where_of(got, args=(x, W, 1, "SAME", layout))
    assert np.array_equal(row.bad, got != right)
    assert row.where == "channel 32 of 33 (last): zeros"


def of_rank(shape, filters, change, **how):
    """Return the row of a convolution over any number of axes, whose result is changed."""
    arrays = make_array(shape, "float32", "normal", "v"), make_array(filters, "float32", "normal", "k")
    op, layout = OPS["convolution"], layout_of("input", len(shape) - 2)
    arguments = {"strides": 1, "padding": "SAME", "dilations": 1}
    call, wrong = (
        resolve(op, *arrays, None, each["strides"], each["padding"], layout, each["dilations"])
        for each in (arguments, arguments | how)
    )
    got = dispatch.run_canonical(wrong, "reference")
    change(got)
    return Truth(call, dispatch.run_canonical(call, "reference")).row("port", "", got)


def test_one_and_three_dimensions():
    row = of_rank((2, 20, 3), (5, 3, 4), lambda y: y[:, -1].fill(np.nan))
    assert row.where == "column 19 of 20 (last): NaN"
    row = of_rank((2, 20, 3), (5, 3, 4), lambda y: None, dilations=2)
    assert row.diagnosis.code == "dilation"
    row = of_rank((1, 6, 7, 8, 2), (3, 3, 3, 2, 3), lambda y: y[:, 2].__iadd__(1))
    assert row.where == "slice 2 of 6"
    row = of_rank((1, 6, 7, 8, 2), (3, 3, 3, 2, 3), lambda y: None, padding=((2, 0), (1, 1), (1, 1)))
    assert "pad_front 2 instead of 1" in row.diagnosis.sentence


def test_where_in_a_filter_gradient_and_without_a_batch():
    args = X, (3, 3, 4, 5), make_array((2, 9, 8, 5), "float32", "normal", "dy"), 1, "SAME"
    got = tc.conv2d_backprop_filter(*args)
    got[0, :, 3] += 1
    row = where_of(got, tc.conv2d_backprop_filter, args)
    assert row.where == "in channel 3 of 4 (last), filter row 0 of 3"
    image, weight = X[0].transpose(2, 0, 1), W.transpose(3, 2, 0, 1)
    got = tc.dialects.torch.conv2d(image, weight).copy()
    got[7] += 1
    row = where_of(got, tc.dialects.torch.conv2d, (image, weight))
    assert row.where == "channel 7 of 33"
    assert row.bad.shape == got.shape


_ITEM = re.compile(r"(image|channel|row|column)s? (\d+(?:-\d+)?(?:, \d+(?:-\d+)?)*)(, \.\.\.)?")


def mask_of(words, shape):
    """The cells that words describe, read by someone who knows nothing of how they were written."""
    axes = {"image": 0, "row": 1, "column": 2, "channel": 3}
    mask = np.ones(shape, bool)
    for noun, numbers, more in _ITEM.findall(words):
        size = shape[axes[noun]]
        found = []
        for part in numbers.split(", "):
            first, _, last = part.partition("-")
            found.append(range(int(first), int(last or first) + 1))
        chosen = {i for run in found for i in run}
        if more:
            period = found[1][0] - found[0][0]
            chosen |= {i for i in range(found[0][0], size) if (i - found[0][0]) % period < len(found[0])}
        part = np.zeros(size, bool)
        part[sorted(chosen)] = True
        mask &= part.reshape([-1 if axis == axes[noun] else 1 for axis in range(4)])
    return mask


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize("seed", range(60))
def test_words_that_give_no_number_of_cells_are_exact(seed):
    random = np.random.default_rng(seed)
    mask = np.ones(RIGHT.shape, bool)
    for axis in random.choice(4, random.integers(1, 3), replace=False):
        size = RIGHT.shape[axis]
        kind, start, step = random.integers(3), int(random.integers(size)), int(random.integers(2, 6))
        chosen = [
            slice(start, start + 1),
            slice(start, min(size, start + step)),
            slice(start % step, None, step),
        ][kind]
        part = np.zeros(size, bool)
        part[chosen] = True
        mask &= part.reshape([-1 if each == axis else 1 for each in range(4)])
    row = where_of(np.where(mask, RIGHT + 1.5, RIGHT))
    assert np.array_equal(row.bad, mask)
    if re.search(r"\d of \d+ (cells|[a-z]+s)\b|first and last|all [a-z]+ but|every cell", row.where):
        pytest.skip("a number of cells, or words that the reader of this test does not know")
    assert np.array_equal(mask_of(row.where, RIGHT.shape), mask), row.where


# ---------------------------------------------------------------------------------------------
# What is shown, and how long it takes
# ---------------------------------------------------------------------------------------------


def test_the_search_is_bounded_and_says_what_it_tried(slow_clock):
    x, w = (
        make_array((1, 40, 40, 32), "float32", "normal", "x"),
        make_array((3, 3, 32, 32), "float32", "normal", "w"),
    )
    noise = make_array((1, 40, 40, 32), "float32", "normal", "noise")
    report = tc.diff(tc.conv2d, x, w, 1, "SAME", backends=[], against=noise)
    row = report.rows[0]
    assert row.diagnosis is None
    assert (row.tried, 0.5 < row.looked < 0.53) == (50, True)
    assert re.search(
        r"none of the usual mistakes in this time: tc\.diff\(\.\.\., thorough=True\) looks for all \(tried 50 explanations in ",
        " ".join(str(report).split()),
    )
    assert row.where in " ".join(str(report).split())
    got = tc.conv2d(x, w, 1, "SAME")
    got[..., 31] += 1
    report = tc.diff(tc.conv2d, x, w, 1, "SAME", backends=[], against=got)
    assert "1,600 cells: channel 31 of 32 (last)" in " ".join(str(report).split())


def test_thorough_tries_every_pair():
    x, w = X[:1, :6, :6], W[..., :3]
    got = tc.conv2d(x[..., ::-1], w[::-1], 1, "SAME")
    assert tc.diff(tc.conv2d, x, w, 1, "SAME", backends=[], against=got).rows[0].diagnosis is None
    row = tc.diff(tc.conv2d, x, w, 1, "SAME", backends=[], against=got, thorough=True).rows[0]
    assert row.diagnosis.code == "flipped_filter+permuted_channels"


def test_nothing_is_near_that_explains_less_than_half():
    got = tc.conv2d(X, W[::-1], 1, "SAME")
    noise = make_array(got.shape, "float32", "normal", "noise")
    shares = []
    for size in (0.1, 0.4, 3.0):
        row = where_of(got + np.float32(size) * np.abs(got).mean() * noise)
        assert row.diagnosis is None
        shares.append(re.search(r"nearest: flipped_filter .* explains (\d+) %", row.note))
    assert shares[0]
    assert shares[2] is None
    assert all(int(share[1]) >= 50 for share in shares if share)


def test_a_factor_of_one_and_the_reference_itself_are_no_explanation():
    got = RIGHT.copy()
    got[0, 0, 0, 0] += 2e-5 * np.abs(RIGHT).max()
    row = where_of(got)
    assert row.diagnosis is None
    assert "by 1" not in row.note


def test_a_mistake_in_some_cells_is_named_there():
    got = RIGHT.copy()
    got[:, 6:] = tc.conv2d(X[..., :3], W[:, :, :3], 1, "SAME")[:, 6:]
    row = where_of(got)
    assert row.where == "rows 6-8 of 9 (last 3)"
    assert str(row.diagnosis) == "missing_terms: in these cells equal without input channel 3 of 4 (last)"


def test_unwritten_cells_and_sums_on_top_of_what_was_there_are_told_apart():
    def forgets(x, w, geometry, *, out=None, **options):
        y = numpy_backend.conv2d(x, w, geometry, **options)
        if out is None:
            return y
        out[..., :-1] = y[..., :-1]
        return out

    def adds(x, w, geometry, *, out=None, **options):
        y = numpy_backend.conv2d(x, w, geometry, **options)
        if out is None:
            return y
        out += y
        return out

    for dtype in ("float32", "int32"):
        rows = tc.check_backend(broken(conv2d=forgets), dtype, tags="crop", kinds="conv2d").rows
        failed = [row for row in rows if row.passed is False]
        assert failed
        assert all(re.fullmatch(r"channel \d+ of \d+ \(last\): never written", row.where) for row in failed)
        rows = tc.check_backend(broken(conv2d=adds), dtype, tags="crop", kinds="conv2d").rows
        failed = [row for row in rows if row.passed is False]
        assert failed
        assert {row.diagnosis.code for row in failed} == {"accumulates"}


def test_a_gradient_that_is_wrong_is_diagnosed():
    def flipped(x, dy, geometry, **options):
        return numpy_backend.conv2d_backprop_filter(x, dy, geometry, **options)[::-1]

    mine = broken(conv2d_backprop_filter=flipped)
    report = tc.check_gradients(tc.conv2d, X, W, 1, "SAME", backend=mine)
    wrong = [row.wrong for row in report.rows if row.passed is False]
    assert len(wrong) == 2
    assert {row.diagnosis.code for row in wrong} == {"flipped_filter"}
    assert {row.where for row in wrong} == {"first and last filter row"}
    assert "filters gradient wrong in first and last filter row" in " ".join(str(report).split())


def test_integers_in_floats_are_no_evidence_of_a_half_type():
    x, w = (
        make_array((2, 9, 8, 4), "float32", "integers", "x"),
        make_array((3, 3, 4, 33), "float32", "integers", "w"),
    )
    bias = np.arange(33, dtype="float32") % 7 - 3
    got = tc.conv2d(x, w, 1, "SAME", bias=bias)
    got[..., 32] -= bias[32] + 1.5
    row = where_of(got, args=(x, w, 1, "SAME"), bias=bias)
    assert row.where == "channel 32 of 33 (last)"
    assert row.diagnosis is None or row.diagnosis.code == "channel_shift"


@pytest.mark.parametrize("number", [15, pytest.param(50, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_random_corruptions_have_no_name(dtype, number):
    """Cells, blocks, channels, rows, images: random numbers, one number, zeros."""
    random = np.random.default_rng(7)
    failed = 0
    for seed in range(number):
        shape = tuple(
            int(n) for n in (random.integers(1, 4), *random.integers(3, 9, 2), random.integers(1, 5))
        )
        outs = int(random.integers(1, 6))
        data = "normal" if dtype == "float32" else "integers"
        x, w = (
            make_array(shape, dtype, data, f"x{seed}"),
            make_array((3, 3, shape[3], outs), dtype, data, f"w{seed}"),
        )
        right = tc.conv2d(x, w, 1, "SAME")
        got = right.copy()
        starts = [int(random.integers(size)) for size in right.shape]
        part = tuple(slice(start, start + int(random.integers(1, 9))) for start in starts)
        if seed % 5 == 0:
            part = tuple(int(random.integers(size)) for size in right.shape)
        numbers = (
            random.integers(-20, 21, got[part].shape)
            if dtype == "int32"
            else random.normal(0, 3, got[part].shape)
        )
        got[part] = [numbers, numbers, 0, 3][seed % 4]
        row = tc.diff(tc.conv2d, x, w, 1, "SAME", backends=[], against=got).rows[0]
        failed += not row.passed
        assert row.diagnosis is None, (seed, row.where, row.diagnosis)
    assert failed > 0.8 * number


# ---------------------------------------------------------------------------------------------
# What porters do, at the sizes of real layers and on small ones
# ---------------------------------------------------------------------------------------------

torch = tc.dialects.torch
REAL = ((1, 8, 10, 10), (8, 8, 3, 3)), ((1, 64, 56, 56), (64, 64, 3, 3))


def layer_of_torch(shapes):
    x, w = (make_array(shape, "float32", "normal", name) for shape, name in zip(shapes, "xw", strict=True))
    return x, w, make_array((len(w),), "float32", "normal", "b")


def normalised(y, size):
    """Another batch normalisation: factors near 1, and small constants."""
    q = np.random.default_rng(0)
    factors, constants = 1 + size * q.random(y.shape[1]), size * q.standard_normal(y.shape[1])
    return (y * factors[:, None, None] + constants[:, None, None]).astype("float32")


def conv(x, w, b):
    return torch.conv2d(x, w, b, padding=1)


PORTED = {
    "scale": lambda x, w, b: conv(x * 255, w, b),
    "reshaped_filter": lambda x, w, b: conv(x, w.transpose(2, 3, 1, 0).reshape(w.shape).copy(), b),
    "layout": lambda x, w, b: (y := conv(x, w, b)).transpose(0, 2, 3, 1).reshape(y.shape),
    "reshaped_image": lambda x, w, b: conv(x.transpose(0, 2, 3, 1).reshape(x.shape), w, b),
    "swapped_image_axes": lambda x, w, b: conv(x.transpose(0, 1, 3, 2), w, b),
    "flipped_image": lambda x, w, b: conv(x[..., ::-1], w, b),
    "permuted_channels": lambda x, w, b: conv(x[:, ::-1], w, b),
    "scale_and_shift": lambda x, w, b: normalised(conv(x, w, b), 0.03),
    "activation+scale_and_shift": lambda x, w, b: np.maximum(normalised(conv(x, w, b), 0.03), 0),
    "activation+bias": lambda x, w, b: np.maximum(conv(x, w, None), 0),
    "activation+flipped_filter": lambda x, w, b: np.maximum(conv(x, w[:, :, ::-1, ::-1], b), 0),
    "activation": lambda x, w, b: (y := conv(x, w, b)) * np.clip(y + 3, 0, 6) / 6,
}


@pytest.mark.parametrize(
    ("code", "shapes"),
    [
        *(pytest.param(code, REAL[0], id=f"{code}-small") for code in PORTED),
        *(
            pytest.param(code, REAL[1], id=f"{code}-real", marks=[pytest.mark.slow] if number % 4 else [])
            for number, code in enumerate(PORTED)
        ),
    ],
)
def test_a_porters_mistake_is_named_at_every_size(code, shapes):
    x, w, b = layer_of_torch(shapes)
    got = PORTED[code](x, w, b).astype("float32")
    row = tc.diff(torch.conv2d, x, w, b, padding=1, backends=[], against=got).rows[0]
    assert row.diagnosis is not None, row.note
    assert row.diagnosis.code == code


@pytest.mark.parametrize("size", [1e-2, 1e-3])
@pytest.mark.parametrize("relu", [False, True])
def test_a_batch_normalisation_of_nearly_the_same_numbers_is_named(size, relu):
    x, w, b = layer_of_torch(((2, 4, 10, 10), (8, 4, 3, 3)))
    got = normalised(conv(x, w, b), size)
    got = np.maximum(got, 0) if relu else got
    row = tc.diff(torch.conv2d, x, w, b, padding=1, backends=[], against=got).rows[0]
    assert row.diagnosis is not None
    assert row.diagnosis.code == "activation+" * relu + "scale_and_shift"


def test_a_transposed_kernel_of_jax_is_named():
    x, w = make_array((1, 12, 12, 8), "float32", "normal"), make_array((3, 3, 8, 8), "float32", "normal", "w")
    op = tc.dialects.jax.conv_transpose
    row = tc.diff(
        op, x, w, (2, 2), "SAME", transpose_kernel=True, backends=[], against=op(x, w, (2, 2), "SAME")
    ).rows[0]
    assert row.diagnosis is not None
    assert row.diagnosis.code == "transposed_filter+flipped_filter"


@pytest.mark.parametrize(
    ("op", "padding"),
    [
        (tc.conv2d, "VALID"),
        pytest.param(tc.conv2d, "SAME", marks=pytest.mark.slow),
        pytest.param(tc.depthwise_conv2d, "SAME", marks=pytest.mark.slow),
        pytest.param(tc.conv2d_transpose, "SAME", marks=pytest.mark.slow),
    ],
)
def test_a_thorough_search_ends(op, padding):
    x, w = make_array((1, 6, 6, 2), "float32", "normal"), make_array((3, 3, 2, 2), "float32", "normal", "w")
    strides = {"strides": 1 if op is tc.conv2d_transpose else [1, 1, 1, 1], "padding": padding}
    noise = make_array(op(x, w, **strides).shape, "float32", "normal", "noise")
    report = tc.diff(op, x, w, **strides, backends=[], against=noise, thorough=True)
    assert report.rows[0].diagnosis is None
    assert report.rows[0].tried > 300


def test_of_two_that_explain_nearly_as_much_the_likelier_is_nearest():
    """A relu after another layer's numbers: relu6 comes a little nearer, as it cuts off what is large."""
    x, w, b = layer_of_torch(((1, 4, 12, 12), (6, 4, 3, 3)))
    y = conv(x, w, b)
    got = np.maximum(y + 0.2 * make_array(y.shape, "float32", "normal", "noise"), 0)
    note = tc.diff(torch.conv2d, x, w, b, padding=1, backends=[], against=got).rows[0].note
    assert "nearest: activation (after a relu," in note


# ---------------------------------------------------------------------------------------------
# What kernel writers do
# ---------------------------------------------------------------------------------------------


def code_of(got, op, *args, **kwargs):
    row = tc.diff(op, *args, backends=[], against=got, **kwargs).rows[0]
    assert row.passed is False
    return None if row.diagnosis is None else row.diagnosis.code


@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("biased", [False, True])
def test_float16_data_summed_in_float16(by_channel, biased):
    x, w = make_array((1, 8, 9, 5), "float16", "normal"), make_array((3, 3, 5, 4), "float16", "normal", "w")
    b = make_array((4,), "float16", "normal", "b") if biased else None
    padded, got = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), np.zeros((1, 8, 9, 4), "float16")
    terms = sorted(np.ndindex(3, 3, 5), key=lambda term: term[2]) if by_channel else np.ndindex(3, 3, 5)
    for r, c, i in terms:
        got = got + padded[:, r : r + 8, c : c + 9, i, None] * w[r, c, i]
    got = got if b is None else got + b
    assert got.dtype == "float16"
    assert code_of(got, tc.conv2d, x, w, 1, "SAME", bias=b) == "accumulator(float16)"


@pytest.mark.parametrize("groups", [2, 3])
def test_channels_that_belong_to_a_group_by_their_rest(groups):
    x = make_array((2, 7, 8, 2 * groups), "float32", "normal")
    w = make_array((3, 3, 2, 4 * groups), "float32", "normal", "w")
    got = np.stack(
        [
            tc.conv2d(x[..., 2 * (o % groups) : 2 * (o % groups) + 2], w[..., o : o + 1])[..., 0]
            for o in range(4 * groups)
        ],
        -1,
    )
    assert code_of(got, tc.conv2d, x, w) == "groups"


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("depth", [3, 40])
def test_columns_beside_the_image_are_read_from_memory(left, depth):
    x, w = (
        make_array((2, 6, 7, depth), "float32", "normal"),
        make_array((3, 3, depth, 4), "float32", "normal", "w"),
    )
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    padded[:, 1:-2, -1] = x[:, 1:, 0]
    if left:
        padded[:, 2:-1, 0] = x[:, :-1, -1]
    assert code_of(tc.conv2d(padded, w), tc.conv2d, x, w, 1, "SAME") == "padding_values"


@pytest.mark.parametrize("value", [1, -1])
def test_padding_with_one(value):
    x, w = make_array((1, 6, 7, 40), "float32", "normal"), make_array((3, 3, 40, 4), "float32", "normal", "w")
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=value)
    got = np.maximum(tc.conv2d(padded, w), 0)
    assert code_of(tc.conv2d(padded, w), tc.conv2d, x, w, 1, "SAME") == "padding_values"
    assert code_of(got, tc.conv2d, x, w, 1, "SAME") in (
        "activation+padding_values",
        "padding_values+activation",
    )


def test_one_number_has_no_name():
    """Zeros, and numbers that a wide bound does not tell from zeros, have many causes; NaN, too."""
    one = np.ones((1, 1, 1, 1), "float32")
    assert code_of(np.zeros_like(one), tc.conv2d, -one, one) is None
    x, w = make_array((2, 9, 8, 4), "float32", "normal"), make_array((3, 3, 4, 6), "float32", "normal", "w")
    huge = x * np.float32(1e30)
    for place, held in (((1,), 0), ((slice(None), -1), np.nan)):
        got = tc.conv2d(huge, w).copy()
        got[place] = held
        assert code_of(got, tc.conv2d, huge, w) is None
