"""Each usual mistake, planted in random geometries, is named; nothing else is."""

import re

import numpy as np
import pytest
from helpers import ignoring

import teachconv as tc
from teachconv.data.seeded import make_array
from teachconv.verification.failures import Tolerance

SEEDS = (1, 2, 3)
TYPES = ("float32", "int32")


def row_of(op, *args, got, **kwargs):
    """Return the failed row of ``got``, a wrong port of the call."""
    row = tc.diff(op, *args, backends=[], against={"port": got}, **kwargs).rows[0]
    assert not row.passed
    return row


def named(op, *args, got, **kwargs):
    """Return code and sentence of the diagnosis of ``got``."""
    row = row_of(op, *args, got=got, **kwargs)
    assert row.diagnosis is not None, row.note
    return row.diagnosis.code, row.diagnosis.sentence


class Problem:
    """A random call: odd sizes, several channels, filters whose rows and columns differ."""

    def __init__(self, seed, dtype="float32", *, min_stride=1, min_dilation=1, channels=None):
        random = np.random.default_rng(seed)
        self.strides = tuple(int(n) for n in random.integers(min_stride, 4, 2))
        self.dilations = tuple(int(n) for n in random.integers(min_dilation, 4, 2))
        depth = channels or int(random.integers(2, 6))
        rows, cols = (int(n) for n in random.integers(13, 18, 2))
        filter_rows, filter_cols = int(random.integers(2, 4)), int(random.integers(3, 5))
        outs = int(random.integers(3, 6))
        self.x = make_array((2, rows, cols, depth), dtype, "normal", f"x{seed}")
        self.w = make_array((filter_rows, filter_cols, depth, outs), dtype, "normal", f"w{seed}")
        self.bias = make_array((outs,), dtype, "normal", f"b{seed}")

    def arguments(self, **changes):
        return {"strides": self.strides, "dilations": self.dilations, "padding": "SAME"} | changes


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", SEEDS)
class TestPlanted:
    @pytest.mark.parametrize("padding", ["SAME", "VALID"])
    def test_dilation(self, seed, dtype, padding):
        p = Problem(seed, dtype, min_dilation=2)
        ours = p.arguments(padding=padding, dilations=(2, 2))
        words = (
            ("was forgotten", "dilations=4 instead of")
            if padding == "VALID"
            else ("ignored", "applied twice")
        )
        for theirs, word in zip((1, (4, 4)), words, strict=True):  # VALID gives another size
            got = tc.conv2d(p.x, p.w, **ours | {"dilations": theirs})
            code, sentence = named(tc.conv2d, p.x, p.w, **ours, got=got)
            assert code == "dilation"
            assert word in sentence

    @pytest.mark.parametrize("padding", ["SAME", "VALID", ((2, 1), (1, 2))])
    def test_stride_and_dilation_exchanged(self, seed, dtype, padding):
        p = Problem(seed, dtype)
        ours = {"strides": (1, 2), "dilations": (2, 1), "padding": padding}
        theirs = {"strides": (2, 1), "dilations": (1, 2), "padding": padding}
        code, sentence = named(tc.conv2d, p.x, p.w, **ours, got=tc.conv2d(p.x, p.w, **theirs))
        assert code == "stride_and_dilation"
        assert "strides=(2, 1) and dilations=(1, 2) instead of" in sentence

    def test_valid_for_same_and_the_reverse(self, seed, dtype):
        p = Problem(seed, dtype)
        for ours, theirs in (("SAME", "VALID"), ("VALID", "SAME")):
            got = tc.conv2d(p.x, p.w, **p.arguments(padding=theirs))
            code, sentence = named(tc.conv2d, p.x, p.w, **p.arguments(padding=ours), got=got)
            assert code == "padding_mode"
            assert f"padding='{ours}'" in sentence
            assert f"padding='{theirs}'" in sentence

    def test_valid_for_same_transposed(self, seed, dtype):
        p = Problem(seed, dtype)
        w = p.w.swapaxes(2, 3)
        for ours, theirs in (("SAME", "VALID"), ("VALID", "SAME")):
            arguments = {"strides": 2, "padding": ours}
            got = tc.conv2d_transpose(p.x, w, strides=2, padding=theirs)
            if ours == "SAME" and got.shape[1:3] == tuple(2 * n for n in p.x.shape[1:3]):
                continue
            assert named(tc.conv2d_transpose, p.x, w, **arguments, got=got)[0] == "padding_mode"

    def test_bias(self, seed, dtype):
        p = Problem(seed, dtype)
        arguments = p.arguments(bias=p.bias)
        for bias, words in ((None, "without"), (2 * p.bias, "added twice"), (-p.bias, "subtracted")):
            got = tc.conv2d(p.x, p.w, **p.arguments(bias=bias))
            code, sentence = named(tc.conv2d, p.x, p.w, **arguments, got=got)
            assert code == "bias"
            assert words in sentence

    def test_activation_left_in(self, seed, dtype):
        p = Problem(seed, dtype)
        got = np.maximum(tc.conv2d(p.x, p.w, **p.arguments()), 0)
        assert named(tc.conv2d, p.x, p.w, **p.arguments(), got=got)[0] == "activation"

    def test_scale(self, seed, dtype):
        p = Problem(seed, dtype)
        x, w = (make_array(a.shape, dtype, "integers", str(a.shape)) for a in (p.x, p.w))  # ints: no overflow
        y = tc.conv2d(x, w, **p.arguments())
        factors = {"float32": ((1 / 255, "1/255"), (-2, "by -2"), (1 / 3, "1/3"), (1.7, "17/10 (1.7)"))}
        for factor, words in factors.get(dtype, ((3, "by 3"), (-1, "by -1"))):
            code, sentence = named(tc.conv2d, x, w, **p.arguments(), got=(y * factor).astype(dtype))
            assert code == "scale"
            assert words in sentence

    def test_channels_permuted(self, seed, dtype):
        p = Problem(seed, dtype, channels=3)
        got = tc.conv2d(p.x[..., ::-1], p.w, **p.arguments())
        code, sentence = named(tc.conv2d, p.x, p.w, **p.arguments(), got=got)
        assert code == "permuted_channels"
        assert "input's channels are in the order [2, 1, 0] (BGR for RGB)" in sentence
        y = tc.conv2d(p.x, p.w, **p.arguments())
        order = np.random.default_rng(seed).permutation(y.shape[3])
        order = order if order.tolist() != sorted(order) else order[::-1]
        code, sentence = named(tc.conv2d, p.x, p.w, **p.arguments(), got=y[..., order])
        assert code == "permuted_channels"
        assert f"result's channels are in the order {order.tolist()}" in sentence

    def test_batch_permuted(self, seed, dtype):
        p = Problem(seed, dtype)
        x = np.concatenate([p.x, 2 * p.x])
        order = [2, 0, 3, 1]
        got = tc.conv2d(x, p.w, **p.arguments())[order]
        code, sentence = named(tc.conv2d, x, p.w, **p.arguments(), got=got)
        assert code == "permuted_batch"
        assert str(order) in sentence

    @pytest.mark.parametrize("mode", ["reflect", "edge", "symmetric", "wrap"])
    def test_padding_values(self, seed, dtype, mode):
        p = Problem(seed, dtype)
        arguments = p.arguments(padding=((2, 1), (1, 2)))
        padded = np.pad(p.x, ((0, 0), (2, 1), (1, 2), (0, 0)), mode)
        got = tc.conv2d(padded, p.w, **arguments | {"padding": "VALID"})
        assert named(tc.conv2d, p.x, p.w, **arguments, got=got)[0] == "padding_values"
        op, rest = tc.conv2d_backprop_filter, (p.w.shape, got)
        code, _ = named(
            op, p.x, *rest, **arguments, got=op(padded, *rest, **arguments | {"padding": "VALID"})
        )
        assert code == "padding_values"

    def test_flipped_and_padding_on_the_other_side(self, seed, dtype):
        p = Problem(seed, dtype)
        arguments = {"padding": ((0, 1), (2, 0)), "strides": p.strides}
        got = tc.conv2d(p.x, p.w[::-1, ::-1], **arguments | {"padding": ((1, 0), (0, 2))})
        code, sentence = named(tc.conv2d, p.x, p.w, **arguments, got=got)
        assert code == "flipped_filter+padding_side"
        assert "flipped in rows and columns" in sentence
        assert "pad_top 1 instead of 0" in sentence


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("seed", SEEDS)
class TestPlantedTransposed:
    def test_dilation_ignored(self, seed, dtype):
        p = Problem(seed, dtype)
        w = p.w.swapaxes(2, 3)
        for padding in ("SAME", "VALID"):
            ours = {"strides": p.strides, "padding": padding}
            got = tc.conv2d_transpose(p.x, w, **ours)
            code, sentence = named(tc.conv2d_transpose, p.x, w, **ours, dilations=2, got=got)
            assert code == "dilation"
            ignored = "with dilations (1, 1) instead of (2, 2): the dilation is ignored"
            assert (ignored if padding == "SAME" else "dilations=2 was forgotten") in sentence
        op, y = tc.conv2d_backprop_input, tc.conv2d(p.x, p.w, 1, "SAME")
        got = op(p.x.shape, p.w, y, 1, "SAME")
        assert named(op, p.x.shape, p.w, y, 1, "SAME", dilations=2, got=got)[0] == "dilation"

    def test_flipped_and_aligned_otherwise(self, seed, dtype):
        p = Problem(seed, dtype)
        w = p.w.swapaxes(2, 3)
        _, rows, cols, _ = shape = (len(p.x), 2 * p.x.shape[1], 2 * p.x.shape[2], p.w.shape[3])
        full = tc.conv2d_transpose(p.x, w[::-1, ::-1], strides=2, padding="VALID")
        full = np.pad(full, ((0, 0), (0, 4), (0, 4), (0, 0)))
        (top, _), (left, _) = tc.conv2d_transpose_geometry(p.x.shape, w.shape, shape, 2).padding
        got = full[:, top + 1 : top + 1 + rows, left + 1 : left + 1 + cols]
        code, _ = named(tc.conv2d_transpose, p.x, w, output_shape=shape, strides=2, got=got)
        assert code == "flipped_filter+output_alignment"


@pytest.mark.parametrize("seed", SEEDS)
class TestRounded:
    @pytest.mark.parametrize("name", ["float16", "bfloat16"])
    def test_rounded(self, seed, name):
        p = Problem(seed)
        small = pytest.importorskip("ml_dtypes").bfloat16 if name == "bfloat16" else np.float16
        x, w = (array.astype(small) for array in (p.x, p.w))
        y = tc.conv2d(p.x, p.w, **p.arguments())
        back = x.astype("float32"), w.astype("float32")
        found = {
            "the output is": y.astype(small).astype("float32"),
            "input and filter are": tc.conv2d(*back, **p.arguments()),
            "input, filter and output are": tc.conv2d(x, w, **p.arguments()).astype("float32"),
            "the filter is": tc.conv2d(p.x, back[1], **p.arguments()),
        }
        for words, got in found.items():
            code, sentence = named(tc.conv2d, p.x, p.w, **p.arguments(), got=got)
            too = " or tf32" if name == "float16" and "output" not in words else ""
            assert code == f"rounded({name}{too})"
            assert sentence.startswith(f"equal when {words} rounded to {name}")

    def test_rounded_to_float32(self, seed):
        p = Problem(seed, "float64")
        got = tc.conv2d(p.x.astype("float32"), p.w.astype("float32"), **p.arguments()).astype("float64")
        code, _ = named(tc.conv2d, p.x, p.w, **p.arguments(), got=got)
        assert code == "rounded(float32)"


def test_tf32_as_a_gpu_rounds_midpoints():
    """PTX's cvt.rna: the midpoint 1 + 2**-11 goes to 1 + 2**-10, where the even neighbour is 1."""
    x = np.float32(1) + np.arange(512, dtype="float32").reshape(1, 16, 16, 2) * np.float32(2.0**-11)
    w = make_array((3, 3, 2, 4), "float32", "integers", "midpoints")
    away = (x.view("int32") + 0x1000 & ~0x1FFF).view("float32")
    assert away[0, 0, 0, 1] == 1 + 2.0**-10
    code, sentence = named(tc.conv2d, x, w, got=tc.conv2d(away, w))
    assert code == "rounded(tf32, midpoints away)"
    assert "midpoints away from zero" in sentence


def tensor_cores(x, w, dropped=13, half=0x1000):
    """SAME as a GPU has it: factors of fewer bits, steps of eight products, whose sums are cut off."""
    x, w = ((a.view("int32") + half & -(1 << dropped)).view("float32").astype(float) for a in (x, w))
    rows, cols = x.shape[1:3]
    wide, total = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), np.zeros((*x.shape[:3], w.shape[3]))
    for r, c, i in np.ndindex(3, 3, x.shape[3] // 8):
        eight = slice(8 * i, 8 * i + 8)
        products = wide[:, r : r + rows, c : c + cols, eight, None] * w[r, c, eight]
        terms = np.concatenate([total[:, :, :, None], products], 3)
        unit = 2.0 ** (np.frexp(np.abs(terms).max(3, keepdims=True))[1] - 24)
        total = (np.trunc(terms / unit) * unit).sum(3).astype("float32").astype(float)
    return total.astype("float32")


@pytest.mark.parametrize("depth", [64, 256])
@pytest.mark.parametrize(
    ("name", "dropped", "half"),
    [("float16 or tf32", 13, 0x1000), ("tf32, cut off", 13, 0), ("bfloat16", 16, 0x8000)],
)
def test_fewer_bits_are_named_where_the_bound_hides_most_of_the_error(name, dropped, half, depth):
    """Of 2304 terms, all of TF32's error is below the bound: the row passes, and the note says what it looks like."""
    x = make_array((1, 6, 6, depth), "float32", "normal", "x")
    w, b = (make_array(shape, "float32", "normal", "wb") for shape in ((3, 3, depth, 16), (16,)))
    got = tensor_cores(x, w, dropped, half) + b
    row = tc.diff(tc.conv2d, x, w, 1, "SAME", bias=b, backends=[], against=got).rows[0]
    assert row.passed == (depth == 256 and dropped == 13)
    assert f"rounded({name}): equal when input and filter are" in row._found
    assert row.note.startswith("suspicious: the largest error is 0.") == row.passed


def test_sums_in_another_order_look_like_no_type():
    x, w = (make_array(shape, "float32", "normal", "order") for shape in ((1, 6, 6, 256), (3, 3, 256, 16)))
    got = tc.conv2d(x[..., ::-1], w[:, :, ::-1], 1, "SAME")
    assert tc.diff(tc.conv2d, x, w, 1, "SAME", backends=[], against=got).rows[0]._found == ""


def test_of_two_that_fit_the_simpler_is_the_name():
    """An image that is minus its mirror image: no number has to be read off the result to mirror it."""
    x, w = Problem(4).x, Problem(4).w
    x = x - x[:, ::-1]
    row = row_of(tc.conv2d, x, w, 1, "SAME", got=tc.conv2d(x[:, ::-1], w, 1, "SAME"))
    assert row.diagnosis.code == "flipped_image"
    assert row.note.startswith("scale fits as well: after multiplying by -1")


def test_a_second_mistake_that_fits_is_mentioned():
    """With a bias of zeros nobody can tell a relu before it from one after it."""
    p = Problem(4)
    bias = np.zeros_like(p.bias)
    got = np.maximum(tc.conv2d(p.x, p.w), 0)
    row = tc.diff(tc.conv2d, p.x, p.w, bias=bias, against={"theirs": got}).rows[-1]
    assert row.diagnosis.code == "relu_before_bias"
    assert row.note.startswith("activation fits as well: after a relu")


def test_another_name_of_the_same_call_is_not_mentioned():
    """Of a filter that is its own mirror image about one diagonal, to turn it by 180 degrees is to transpose it."""
    x, w = Problem(4).x, make_array((3, 3, Problem(4).x.shape[3], 4), "float32", "normal", "w")
    w = w + w[::-1, ::-1].transpose(1, 0, 2, 3)
    turned = w[::-1, ::-1]
    assert np.array_equal(turned, w.transpose(1, 0, 2, 3))
    row = tc.diff(tc.conv2d, x, w, against={"theirs": tc.conv2d(x, turned)}).rows[-1]
    assert row.diagnosis.code == "flipped_filter"
    assert "fits as well" not in row.note


@pytest.mark.parametrize("what", ["bias", "activation"])
def test_a_backend_that_leaves_something_out_is_told_what(what):
    rows = [
        row for row in tc.check_backend(ignoring(what), ["float32"], tags="small").rows if row.passed is False
    ]
    found = [row.diagnosis.code for row in rows if row.diagnosis]
    assert what in found


def test_input_scaled_before_the_bias():
    p = Problem(4)
    got = tc.conv2d(p.x / np.float32(4), p.w, bias=p.bias)
    code, sentence = named(tc.conv2d, p.x, p.w, bias=p.bias, got=got)
    assert code == "scale"
    assert sentence == "equal after multiplying by 1/4 (0.25), before the bias is added"


# ---------------------------------------------------------------------------------------------
# What has no cause
# ---------------------------------------------------------------------------------------------


def corrupted(y, random):
    """Return a result with one of several random faults."""
    got = y.copy()
    cell = tuple(int(random.integers(size)) for size in y.shape)
    fault = int(random.integers(8))
    if fault == 0:
        return (random.standard_normal(y.shape) * np.abs(y).mean()).astype(y.dtype)
    if fault == 1:
        got[cell] += random.choice([-1, 1]) * (1 + abs(got[cell]) / 3)
    elif fault == 2:
        got[:, cell[1]] = random.standard_normal(got[:, cell[1]].shape)
    elif fault == 3:
        got[..., cell[3]] += random.standard_normal(got[..., cell[3]].shape).astype(y.dtype)
    elif fault == 4:
        got *= (1 + random.random(y.shape) / 100).astype(y.dtype)
    elif fault == 5:
        got += (random.standard_normal(y.shape) / 100).astype(y.dtype)
    elif fault == 6:
        random.shuffle(got.reshape(-1))
    else:
        got[:, :, cell[2]] = 0
    return got


@pytest.mark.slow
def test_two_hundred_random_corruptions_have_no_named_cause():
    random = np.random.default_rng(12)
    remarks = []
    for seed in range(200):
        p = Problem(seed % 20, channels=2)
        arguments = p.arguments(bias=p.bias if seed % 3 else None)
        x = p.x[:, :7, :6]
        y = tc.conv2d(x, p.w, **arguments)
        row = row_of(tc.conv2d, x, p.w, **arguments, got=corrupted(y, random))
        assert row.diagnosis is None, (seed, row.diagnosis)
        remarks.append(row.note)
    assert all(remark.startswith("none of the usual mistakes") for remark in remarks)
    assert not any("nearest: " in remark for remark in remarks)


def test_the_nearest_says_how_much_it_explains():
    p = Problem(1)
    got = tc.conv2d(p.x, p.w[::-1], **p.arguments())
    random = np.random.default_rng(0)
    got += (0.1 * np.abs(got).mean() * random.standard_normal(got.shape)).astype("float32")
    row = row_of(tc.conv2d, p.x, p.w, **p.arguments(), got=got)
    assert row.diagnosis is None
    found = re.fullmatch(
        r"none of the usual mistakes; nearest: flipped_filter \(when the filter is flipped in rows\), "
        r"which explains (\d+) % of the error",
        row.note,
    )
    assert 85 < int(found[1]) < 97
    report = str(tc.diff(tc.conv2d, p.x, p.w, **p.arguments(), backends=[], against=got))
    assert row.note in " ".join(report.split())


def test_a_mistake_that_changes_nothing_is_not_named():
    p = Problem(1)
    w = p.w + p.w[::-1, ::-1]  # flipped, it is the same filter
    exact = tc.conv2d(p.x, w, **p.arguments(), backend="reference")

    def row(error):
        got = exact.copy()
        got[0, 1, 1, 1] += error
        return row_of(tc.conv2d, p.x, w, **p.arguments(), got=got)

    near = row(1.5 / row(1).bound_fraction)  # outside the bound, but inside twice the bound
    assert 1.2 < near.bound_fraction < 1.8
    assert near.diagnosis is None


def test_a_mistake_in_one_image_says_so():
    p = Problem(1)
    got = tc.conv2d(p.x, p.w, **p.arguments())
    got[1] = tc.conv2d(p.x, p.w[::-1], **p.arguments())[1]
    row = row_of(tc.conv2d, p.x, p.w, **p.arguments(), got=got)
    assert row.where == "image 1 of 2 (last)"
    assert str(row.diagnosis) == "flipped_filter: in these cells equal when the filter is flipped in rows"


# ---------------------------------------------------------------------------------------------
# Sentences, tables, tolerances
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "stride", "ours", "theirs", "words"),
    [
        (9, 1, (2, 3), (3, 2), "padding is on the other side"),
        (8, 2, (2, 3), (3, 3), "theirs has one more at the top"),
        (8, 2, (0, 1), (1, 1), "theirs has one more at the top"),
        (9, 3, (3, 0), (0, 3), "padding is on the other side"),
        (9, 2, (2, 1), (1, 1), "theirs has one less at the top"),
    ],
)
def test_where_padding_is(size, stride, ours, theirs, words):
    x, w = make_array((1, size, 5, 2), "float32"), make_array((3, 1, 2, 2), "float32", "normal", "w")
    results = [tc.conv2d(x, w, (stride, 1), (pads, (0, 0))) for pads in (ours, theirs)]
    row = row_of(tc.conv2d, x, w, (stride, 1), (ours, (0, 0)), got=results[1])
    assert row.diagnosis.sentence.endswith(words), row.diagnosis


def test_first_bad_and_worst_cell_and_their_value():
    p = Problem(1)
    y = tc.conv2d(p.x, p.w)
    got = y.copy()
    got[0, 1, 2, 0] += 0.5
    got[1, 3, 1, 2] += 40
    report = tc.diff(tc.conv2d, p.x, p.w, backends=[], against={"port": got})
    row = report.rows[0]
    assert (row.first_bad, row.worst) == ((0, 1, 2, 0), (1, 3, 1, 2))
    verdict, found, *_, head, line = str(report).split("\n")
    assert verdict.startswith("1 of 1 FAIL: conv2d against the reference")
    assert found.startswith(f"port: {row.note} (tried ")
    assert line.endswith("2 of 990 cells")
    for name, cell in (("worst cell", "1,3,1,2"), ("first bad cell", "0,1,2,0")):
        assert line[: head.index(name) + len(name)].endswith(cell)
    assert row.explanation.theirs == got[0, 1, 2, 0]
    assert f"theirs: {got[0, 1, 2, 0].item()}, ours: {row.explanation.value}" in str(row.explanation)
    assert "first bad cell" not in str(tc.diff(tc.conv2d, p.x, p.w, backends=[], against=y))


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_a_tolerance_is_given_and_printed(layout):
    p = Problem(2)
    arguments = p.arguments(data_format=layout)
    x = p.x.transpose(0, 3, 1, 2) if layout == "NCHW" else p.x
    y = tc.conv2d(x, p.w, **arguments)
    got = y * np.float32(1.001)
    assert not tc.diff(tc.conv2d, x, p.w, **arguments, backends=[], against=got).passed
    report = tc.diff(tc.conv2d, x, p.w, **arguments, backends=[], against=got, rtol=0.01)
    assert report.passed
    assert 0 < report.rows[0].bound_fraction <= 1
    verdict, tolerance = str(report).split("\n")[:2]
    assert verdict.startswith("all pass: conv2d against the reference")
    assert tolerance == "with a tolerance of rtol 0.01, atol 0 where that is more than the bound"
    assert report.summary == f"{verdict}, {tolerance}"
    assert "of tolerance" in str(report)
    assert not tc.diff(tc.conv2d, x, p.w, **arguments, backends=[], against=got + 1, rtol=0.01).passed
    assert tc.diff(tc.conv2d, x, p.w, **arguments, backends=[], against=got + 1, rtol=0.01, atol=1.01).passed


def test_a_mistake_within_the_tolerance_is_named():
    p = Problem(2)
    got = tc.conv2d(p.x, p.w[::-1], **p.arguments()) * np.float32(1.0001)
    assert named(tc.conv2d, p.x, p.w, **p.arguments(), got=got, rtol=1e-3, atol=1e-4)[0] == "flipped_filter"


def test_tolerance_of_integers():
    x, w = make_array((1, 5, 5, 1), "int32", "integers"), make_array((3, 3, 1, 2), "int32", "integers", "w")
    got = tc.conv2d(x, w) + 1
    assert not tc.diff(tc.conv2d, x, w, against=got).passed
    assert tc.diff(tc.conv2d, x, w, against=got, atol=1).passed
    assert not tc.diff(tc.conv2d, x, w, against=got, atol=0.5).passed


@pytest.mark.parametrize("wrong", [{"rtol": -1}, {"atol": float("nan")}, {"rtol": float("inf")}])
def test_a_tolerance_is_checked(wrong):
    p = Problem(1)
    with pytest.raises(ValueError, match="must be 0 or a positive finite number"):
        tc.diff(tc.conv2d, p.x, p.w, **wrong)
    with pytest.raises(TypeError, match="rtol must be a number; got 'a'"):
        tc.diff(tc.conv2d, p.x, p.w, rtol="a")


def test_infinite_values_have_no_tolerance():
    assert Tolerance(0.5, 1.0).of(np.array([2.0, np.inf, np.nan])).tolist() == [2.0, 0.0, 0.0]


def test_a_failed_row_of_a_large_call_is_quick(slow_clock):
    """Noise makes every mistake be tried, until half a second is over."""
    x, w = make_array((1, 64, 64, 16), "float32"), make_array((3, 3, 16, 16), "float32", "normal", "w")
    noise = make_array((1, 64, 64, 16), "float32", "normal", "noise")
    row = row_of(tc.conv2d, x, w, padding="SAME", got=noise)
    assert row.diagnosis is None
    assert (row.tried, 0.5 < row.looked < 0.53) == (50, True)


@pytest.mark.parametrize("size", [2, 4, 7])
@pytest.mark.parametrize(("rows", "image"), [("NCHW", "NHWC"), ("NHWC", "NCHW")])
def test_the_rows_of_a_dense_kernel_in_the_other_layouts_order(rows, image, size):
    """A dense layer after Flatten is a convolution whose filter is the image."""
    x = make_array((2, size, size + 1, 3), "float32", "normal", "dense image")
    w = make_array((size, size + 1, 3, 5), "float32", "normal", "dense kernel")
    flat = x if image == "NHWC" else x.transpose(0, 3, 1, 2)
    kernel = w if rows == "NHWC" else w.transpose(2, 0, 1, 3)
    got = flat.reshape(2, -1) @ kernel.reshape(-1, 5)
    (row,) = tc.diff(tc.conv2d, x, w, backends=[], against=got.reshape(2, 1, 1, 5)).rows
    assert row.diagnosis.code == "reshaped_image"
    words = f"the rows of the dense kernel are in {rows}'s order, the image is in {image}'s"
    assert row.diagnosis.sentence.endswith(words)
    assert "dense" not in str(
        tc.diff(
            tc.conv2d, x, w[:1], against=tc.conv2d(x.reshape(2, 3, size, -1).transpose(0, 2, 3, 1), w[:1])
        )
    )


@pytest.mark.parametrize("strides", [(2, 1), (1, 2)])
def test_a_mistake_with_as_many_cells_in_another_shape_is_passed_over(strides):
    """With strides in the other order the result has as many cells, and fewer in some rows of the window."""
    x, w = np.ones((1, 64, 4, 64), "float32"), np.ones((1, 1, 64, 64), "float32")
    y = tc.conv2d(x, w, strides)
    row = row_of(tc.conv2d, x, w, strides, got=np.zeros_like(y))
    assert "IndexError" not in row.note
    assert row.max_abs == 64


def test_a_factor_is_said_as_the_simplest_number_that_the_cells_allow():
    x = make_array((2, 11, 10, 3), "float32", "normal", "x")
    w = make_array((3, 3, 3, 8), "float32", "normal", "w")
    b = make_array((8,), "float32", "normal", "b")
    got = tc.conv2d(x * np.float32(255), w, 1, "SAME", bias=b)
    code, sentence = named(tc.conv2d, x, w, 1, "SAME", bias=b, got=got)
    assert (code, sentence) == ("scale", "equal after multiplying by 255, before the bias is added")
