"""The dialects against recorded results and errors of the real frameworks, and against hand-worked numbers."""

import dataclasses

import numpy as np
import pytest
from recordings import answers_and_refusals

import teachconv as tc
from teachconv.dialects import jax, keras, onnx, torch
from teachconv.dialects.calls import FUNCTIONS
from teachconv.support.errors import ArgumentError, ArgumentTypeError

FRAMEWORKS = ("torch", "jax", "onnx", "keras")
# those of rows and columns, and those over one and three axes
RECORDINGS = {name: answers_and_refusals(name) for name in (*FRAMEWORKS, *(f"{f}_axes" for f in FRAMEWORKS))}


def entries(which):
    for framework, recording in RECORDINGS.items():
        for case, inputs, outputs in recording[which]:
            yield pytest.param(framework, case, inputs, outputs, id=f"{framework}-{case['name']}")


def function_of(framework, case):
    return getattr(getattr(tc.dialects, framework.removesuffix("_axes")), case["op"])


def small(shape, start=1):
    """Non-zero integers, different enough to reveal a shift."""
    count = int(np.prod(shape))
    return (np.arange(start, start + count) % 7 + 1).astype(np.int32).reshape(shape)


# ---------------------------------------------------------------------------------------------
# Recorded results of the real frameworks
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("framework", RECORDINGS)
def test_there_are_many(framework):
    versions, answers, refusals = RECORDINGS[framework]
    assert framework.removesuffix("_axes") in versions
    flat = framework in FRAMEWORKS
    assert len(answers) >= (60 if flat else 30)
    assert len(refusals) >= (15 if flat else 10)


@pytest.mark.parametrize(("framework", "case", "inputs", "outputs"), list(entries(1)))
def test_what_the_framework_answered(framework, case, inputs, outputs):
    function = function_of(framework, case)
    got = function(**inputs, **case["arguments"])
    assert got.shape == outputs["output"].shape
    assert got.dtype == outputs["output"].dtype
    report = tc.diff(function, **inputs, **case["arguments"], against={framework: outputs["output"]})
    assert report.passed, report
    if case["exact"]:  # small integers as data: equality
        assert np.array_equal(got, outputs["output"])
        assert report.rows[-1].max_abs == 0


@pytest.mark.parametrize("framework", RECORDINGS)
def test_resolve_needs_shapes_only(framework):
    for case, inputs, outputs in RECORDINGS[framework][1]:
        function, arguments = function_of(framework, case), case["arguments"]
        shapes = {name: array.shape for name, array in inputs.items()}
        call = tc.resolve(function, **shapes, **arguments)
        assert call == tc.resolve(function, **inputs, **arguments), case["name"]
        assert hash(call) == hash(tc.resolve(function, **shapes, **arguments))
        assert call.result_shape == outputs["output"].shape, case["name"]
        roles = {
            operand.role: shapes[operand.name]
            for operand in FUNCTIONS[function].operands
            if operand.name in shapes
        }
        found = {"input": call.input_shape, "filters": call.filter_shape, "out_backprop": call.output_shape}
        for role, shape in roles.items():
            assert role == "bias" or found[role] == shape, case["name"]
        assert 0 in call.result_shape or f"{call.geometry.cols.stride}" in str(call)


# What onnxruntime refuses and this library computes: the specification defines it. Its reference
# evaluator answers the first four (recorded as output_reference); output_padding is legal below
# max(stride, dilation); and the specification's T of Conv includes tensor(double).
WIDER_HERE = {
    "refused_dilation_2_same_upper",
    "refused_dilation_2_same_lower_even",
    "refused_dilation_2_stride_2_same_upper",
    "refused_dilation_2_stride_3_same_lower",
    "refused_transpose_output_padding_is_stride",
    "refused_transpose_output_padding_stride_1",
    "refused_float64",
}


@pytest.mark.parametrize(("framework", "case", "inputs", "outputs"), list(entries(2)))
def test_what_the_framework_refused(framework, case, inputs, outputs):
    function = function_of(framework, case)
    if framework == "onnx" and case["name"] in WIDER_HERE:
        got = function(**inputs, **case["arguments"])
        assert all(np.array_equal(got, wanted) for wanted in outputs.values())
        assert tc.diff(function, **inputs, **case["arguments"]).passed
        return
    with pytest.raises((ArgumentError, ArgumentTypeError)) as refusal:
        function(**inputs, **case["arguments"])
    text = str(refusal.value)
    names = [*inputs, *case["arguments"], "padding", "in_rows", "in_cols"]
    assert any(name in text for name in names), text  # the argument, or what it would have to be
    assert any(character.isdigit() for character in text) or "'" in text


# ---------------------------------------------------------------------------------------------
# Known traps, each with its source
# ---------------------------------------------------------------------------------------------


def test_onnx_same_lower_puts_the_odd_row_at_the_top():
    """onnx.ai, Conv, auto_pad: "In case of odd number add the extra padding ... at the beginning for SAME_LOWER"."""
    x, w = small((1, 1, 1, 4)), np.int32([[[[1, 10]]]])
    x[...] = [1, 2, 3, 4]
    assert onnx.conv(x, w, auto_pad="SAME_UPPER").ravel().tolist() == [21, 32, 43, 4]
    assert onnx.conv(x, w, auto_pad="SAME_LOWER").ravel().tolist() == [10, 21, 32, 43]


def test_onnx_auto_pad_counts_the_dilation():
    """onnx.ai, Conv: the effective filter pads; onnxruntime 1.31.1 refuses the call (recorded above)."""
    call = tc.resolve(onnx.conv, (1, 1, 8, 8), (1, 1, 3, 2), auto_pad="SAME_UPPER", dilations=[2, 3])
    assert call.geometry.padding == ((2, 2), (1, 2))
    assert any("onnxruntime" in step for step in call.steps)


def test_onnx_transposed_auto_pad_with_stride_above_the_kernel():
    """onnxruntime's conv_transpose_attributes.h gives F; the specification's text and evaluator i·s."""
    x, w = np.int32([[[[1, 2, 3]]]]), np.int32([[[[5]]]])
    got = onnx.conv_transpose(x, w, auto_pad="SAME_UPPER", strides=[1, 3])
    assert got.ravel().tolist() == [5, 0, 0, 10, 0, 0, 15]  # F = 7, not 9
    call = tc.resolve(onnx.conv_transpose, x.shape, w.shape, auto_pad="SAME_UPPER", strides=[1, 3])
    assert any("reference" in step for step in call.steps)


def test_the_onnx_evaluator_pads_where_onnxruntime_does_not():
    """The recorded answers of onnx.reference: i·s cells, among them onnxruntime's F in a row."""
    seen = 0
    for case, inputs, outputs in RECORDINGS["onnx"][1]:
        if "output_reference" not in outputs:
            continue
        seen += 1
        theirs, ours = outputs["output_reference"], outputs["output"]
        strides = case["arguments"]["strides"]
        sizes = [size * stride for size, stride in zip(inputs["X"].shape[2:], strides, strict=True)]
        assert theirs.shape[2:] == tuple(sizes)
        rows, cols = ours.shape[2:]
        assert any(
            np.array_equal(theirs[:, :, top : top + rows, left : left + cols], ours)
            for top in range(theirs.shape[2] - rows + 1)
            for left in range(theirs.shape[3] - cols + 1)
        )
    assert seen == 6


def test_onnx_output_shape_with_notset_puts_the_odd_pad_at_the_beginning():
    """onnx.ai, ConvTranspose: pads for anything but SAME_UPPER: the larger half at the start."""
    shapes = ((1, 1, 4, 4), (1, 1, 3, 3))
    for auto_pad, before in (("NOTSET", 1), ("VALID", 1), ("SAME_LOWER", 1), ("SAME_UPPER", 0)):
        call = tc.resolve(
            onnx.conv_transpose, *shapes, strides=[2, 2], output_shape=[8, 8], auto_pad=auto_pad
        )
        assert call.geometry.rows.pad_before == before
        assert call.output_shape == (1, 1, 8, 8)


def test_torch_output_padding_reaches_below_the_larger_of_stride_and_dilation():
    """aten/src/ATen/native/ConvolutionMM: output_padding < stride or dilation; TensorFlow has no such size."""
    x, w = np.int32([[[[1, 2]]]]), np.int32([[[[1, 10]]]])
    got = torch.conv_transpose2d(x, w, stride=(1, 2), dilation=(1, 3), output_padding=(0, 2))
    assert got.shape == (1, 1, 1, 8)
    assert got.ravel().tolist() == [1, 0, 2, 10, 0, 20, 0, 0]
    with pytest.raises(ArgumentError, match="from 0 to 2"):
        torch.conv_transpose2d(x, w, stride=(1, 2), dilation=(1, 3), output_padding=(0, 3))
    call = tc.resolve(
        torch.conv_transpose2d, x.shape, w.shape, stride=(1, 2), dilation=(1, 3), output_padding=(0, 2)
    )
    assert any("no output_shape" in step for step in call.steps)


def test_jax_integer_pads_with_and_without_consistent_padding():
    """jax/_src/lax/convolution.py, conv_transpose: raw pads of the dilated input, or those of the forward."""
    shapes = ((1, 4, 4, 1), (3, 3, 1, 1))
    raw = tc.resolve(jax.conv_transpose, *shapes, (2, 2), ((0, 0), (0, 0)))
    consistent = tc.resolve(
        jax.conv_transpose, *shapes, (2, 2), ((0, 0), (0, 0)), use_consistent_padding=True
    )
    assert (raw.geometry.rows.pad_before, raw.output_shape) == (2, (1, 5, 5, 1))
    assert (consistent.geometry.rows.pad_before, consistent.output_shape) == (0, (1, 9, 9, 1))


def test_jax_low_pad_beyond_the_filter_is_a_negative_crop():
    """a = ek - 1 - lo is -2 where lo is 4 and the filter 3: zeros before the full result."""
    x, w = np.int32([1, 2]).reshape(1, 1, 2, 1), np.int32([1, 10, 100]).reshape(1, 3, 1, 1)
    got = jax.conv_transpose(x, w, (1, 2), ((0, 0), (4, 2)), transpose_kernel=True)
    assert got.ravel().tolist() == [0, 0, 1, 10, 102, 20, 200]
    assert tc.diff(jax.conv_transpose, x, w, (1, 2), ((0, 0), (4, 2)), transpose_kernel=True).passed


def test_keras_filter_shorter_than_the_stride():
    """keras backend_utils.py: valid gives (i - 1)·s + max(k, s), and PyTorch (i - 1)·s + k."""
    x = np.int32([1, 2]).reshape(1, 1, 2, 1)
    w = np.int32([5]).reshape(1, 1, 1, 1)
    assert keras.conv_transpose(x, w, (1, 3)).ravel().tolist() == [5, 0, 0, 10, 0, 0]
    got = torch.conv_transpose2d(x.reshape(1, 1, 1, 2), w, stride=(1, 3))
    assert got.ravel().tolist() == [5, 0, 0, 10]


def test_keras_output_padding_none_is_not_zero():
    """keras backend_utils.py: None means i·s, 0 means (i - 1)·s + k % 2: another alignment."""
    shapes = ((1, 8, 8, 1), (3, 3, 1, 1), 2, "same")
    assert tc.resolve(keras.conv_transpose, *shapes).output_shape == (1, 16, 16, 1)
    assert tc.resolve(keras.conv_transpose, *shapes, output_padding=0).output_shape == (1, 15, 15, 1)


def test_15_and_16_in_every_dialect_that_can_say_them():
    """TensorFlow's output_shape, conv_grad_shape_utils.cc: the same input, and a shifted result."""
    x, w = small((1, 8, 8, 1)), small((3, 3, 1, 1))
    nchw, iohw = x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1)
    fifteen = tc.conv2d_transpose(x, w, (1, 15, 15, 1), 2)[0, :, :, 0]
    sixteen = tc.conv2d_transpose(x, w, (1, 16, 16, 1), 2)[0, :, :, 0]
    assert np.array_equal(fifteen, sixteen[1:, 1:])
    assert np.array_equal(torch.conv_transpose2d(nchw, iohw, stride=2, padding=1)[0, 0], fifteen)
    assert np.array_equal(keras.conv_transpose(x, w, 2, "same", 0)[0, :, :, 0], fifteen)
    assert np.array_equal(keras.conv_transpose(x, w, 2, "same")[0, :, :, 0], sixteen)
    upper = onnx.conv_transpose(nchw, iohw, strides=[2, 2], auto_pad="SAME_UPPER")[0, 0]
    assert np.array_equal(upper, sixteen)
    # PyTorch's 16 is another one: its odd row is computed at the bottom
    other = torch.conv_transpose2d(nchw, iohw, stride=2, padding=1, output_padding=1)[0, 0]
    assert np.array_equal(other[:15, :15], fifteen)
    assert not np.array_equal(other, sixteen)


def test_depthwise_with_multiplier_in_every_layout():
    """TensorFlow's [rows, cols, channels, multiplier] is [channels * multiplier, 1, rows, cols] elsewhere."""
    x, w = small((2, 5, 6, 3)), small((3, 2, 3, 2))
    want = tc.depthwise_conv2d(x, w)
    nchw = x.transpose(0, 3, 1, 2)
    oihw = tc.convert_filters(w, "tensorflow_depthwise", "torch")
    assert oihw.shape == (6, 1, 3, 2)
    assert np.array_equal(torch.conv2d(nchw, oihw, groups=3).transpose(0, 2, 3, 1), want)
    assert np.array_equal(onnx.conv(nchw, oihw, group=3).transpose(0, 2, 3, 1), want)
    got = jax.conv_general_dilated(nchw, oihw, (1, 1), "VALID", feature_group_count=3)
    assert np.array_equal(got.transpose(0, 2, 3, 1), want)
    hwio = w.reshape(3, 2, 1, 6)
    assert np.array_equal(keras.conv(x, hwio), want)
    numbers = ("NHWC", "HWIO", "NHWC")
    got = jax.conv_general_dilated(x, hwio, (1, 1), "VALID", None, None, numbers, 3)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("stride", [1, 2])
def test_even_kernels_everywhere(size, stride):
    """An even filter has an odd row of padding at stride 1: at the bottom in all but SAME_LOWER."""
    x, w = small((1, 7, 8, 1)), small((size, size, 1, 1))
    nchw, oihw = x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1)
    want = tc.conv2d(x, w, stride, "SAME")
    assert np.array_equal(keras.conv(x, w, stride, "same"), want)
    two = (stride, stride)
    assert np.array_equal(jax.conv_general_dilated(nchw, oihw, two, "SAME")[:, 0], want[..., 0])
    assert np.array_equal(onnx.conv(nchw, oihw, strides=two, auto_pad="SAME_UPPER")[:, 0], want[..., 0])
    if stride == 1:
        assert np.array_equal(torch.conv2d(nchw, oihw, padding="same")[:, 0], want[..., 0])
    lower = tc.conv2d(x, w, stride, "SAME_LOWER")
    assert np.array_equal(onnx.conv(nchw, oihw, strides=two, auto_pad="SAME_LOWER")[:, 0], lower[..., 0])
    assert np.array_equal(jax.conv_general_dilated(nchw, oihw, two, "SAME_LOWER")[:, 0], lower[..., 0])
    transposed = tc.conv2d_transpose(x, w, strides=stride, padding="SAME")
    assert np.array_equal(keras.conv_transpose(x, w, stride, "same"), transposed)
    if size >= stride:
        got = jax.conv_transpose(x, w, two, "SAME", transpose_kernel=True)
        assert np.array_equal(got, transposed)


# ---------------------------------------------------------------------------------------------
# The same bits as teachconv's own ops, where one of them says it
# ---------------------------------------------------------------------------------------------

X, W = (2, 6, 7, 4), (3, 2, 4, 6)
IDENTITIES = {
    "torch stride 2": (
        torch.conv2d,
        "OIHW",
        {"stride": 2, "padding": 1},
        tc.conv2d,
        {"strides": 2, "padding": 1},
    ),
    "torch same": (torch.conv2d, "OIHW", {"padding": "same"}, tc.conv2d, {"padding": "SAME"}),
    "onnx lower": (onnx.conv, "OIHW", {"auto_pad": "SAME_LOWER"}, tc.conv2d, {"padding": "SAME_LOWER"}),
    "jax": (
        jax.conv_general_dilated,
        "OIHW",
        {"window_strides": (2, 1), "padding": "SAME"},
        tc.conv2d,
        {"strides": (2, 1), "padding": "SAME"},
    ),
    "torch transpose": (
        torch.conv_transpose2d,
        "IOHW",
        {"stride": 2, "padding": 1, "output_padding": 1},
        tc.conv2d_transpose,
        {"strides": 2, "padding": 1, "output_padding": 1},
    ),
    "onnx transpose": (
        onnx.conv_transpose,
        "IOHW",
        {"strides": [2, 2], "auto_pad": "SAME_UPPER"},
        tc.conv2d_transpose,
        {"strides": 2, "padding": "SAME"},
    ),
}


@pytest.mark.parametrize("backend", ["reference", "numpy", "scipy", "cython"])
@pytest.mark.parametrize("name", IDENTITIES)
def test_the_same_bits_as_teachconv(name, backend, rng):
    if tc.backends.why_not(backend):
        pytest.skip(tc.backends.why_not(backend))
    function, layout, arguments, op, own = IDENTITIES[name]
    x = rng.standard_normal(X).astype("float32")
    transposed = layout == "IOHW"
    w = rng.standard_normal((3, 2, 6, 4) if transposed else W).astype("float32")
    theirs = np.ascontiguousarray(w.transpose(3, 2, 0, 1))
    got = function(np.ascontiguousarray(x.transpose(0, 3, 1, 2)), theirs, **arguments, backend=backend)
    assert np.array_equal(got.transpose(0, 2, 3, 1), op(x, w, **own, backend=backend))


@pytest.mark.parametrize("backend", ["reference", "cython"])
def test_keras_and_channels_first(backend, rng):
    if tc.backends.why_not(backend):
        pytest.skip(tc.backends.why_not(backend))
    x, w = rng.standard_normal(X).astype("float32"), rng.standard_normal(W).astype("float32")
    want = tc.conv2d(x, w, 2, "SAME", backend=backend)
    assert np.array_equal(keras.conv(x, w, 2, "same", backend=backend), want)
    first = keras.conv(x.transpose(0, 3, 1, 2), w, 2, "same", "channels_first", backend=backend)
    assert np.array_equal(first.transpose(0, 2, 3, 1), want)


def test_gradients_are_those_of_autograd(rng):
    """The adjoint identity, <conv(x, w), dy> = <x, conv2d_input> = <w, conv2d_weight>, in whole numbers."""
    x, w = small((2, 4, 7, 6)), small((6, 2, 3, 2))
    arguments = {"stride": (2, 1), "padding": (1, 2), "dilation": (1, 2), "groups": 2}
    y = torch.conv2d(x, w, None, **arguments)
    dy = rng.integers(-4, 5, y.shape).astype(np.int32)
    dx = torch.conv2d_input(x.shape, w, dy, **arguments)
    dw = torch.conv2d_weight(x, w.shape, dy, **arguments)
    assert (y * dy).sum() == (x * dx).sum() == (w * dw).sum()
    assert dx.shape == x.shape
    assert dw.shape == w.shape


# ---------------------------------------------------------------------------------------------
# Explain, diff and trace in the dialect's own layout
# ---------------------------------------------------------------------------------------------

NUMBERS = ("HWNC", "IHOW", "CNHW")
EXPLAINED = {
    "torch": (torch.conv2d, [(2, 4, 6, 5), (6, 2, 3, 2), (6,)], {"stride": 2, "padding": 1, "groups": 2}),
    "torch unbatched": (torch.conv2d, [(4, 6, 5), (6, 2, 3, 2)], {"padding": (2, 0), "groups": 2}),
    "torch transposed": (
        torch.conv_transpose2d,
        [(2, 4, 3, 4), (4, 3, 3, 2), (6,)],
        {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2},
    ),
    "onnx": (onnx.conv, [(1, 2, 5, 6), (3, 2, 2, 3)], {"auto_pad": "SAME_LOWER", "strides": [2, 1]}),
    "onnx transposed": (
        onnx.conv_transpose,
        [(1, 2, 3, 3), (2, 3, 3, 3)],
        {"strides": [2, 2], "output_shape": [6, 5]},
    ),
    "jax layouts": (
        jax.conv_general_dilated,
        [(6, 5, 2, 4), (2, 3, 6, 2)],
        {
            "window_strides": (2, 1),
            "padding": "SAME",
            "dimension_numbers": NUMBERS,
            "feature_group_count": 2,
        },
    ),
    "jax stuffed": (
        jax.conv_general_dilated,
        [(1, 2, 3, 4), (3, 2, 3, 2)],
        {"window_strides": (2, 1), "padding": ((1, 2), (2, 0)), "lhs_dilation": (2, 3)},
    ),
    "jax transposed groups": (
        jax.conv_general_dilated,
        [(1, 4, 3, 4), (6, 2, 3, 2)],
        {
            "window_strides": (1, 1),
            "padding": ((1, 2), (2, 0)),
            "lhs_dilation": (2, 3),
            "feature_group_count": 2,
        },
    ),
    "jax batch groups": (
        jax.conv_general_dilated,
        [(4, 2, 5, 4), (6, 2, 3, 2)],
        {"window_strides": (1, 1), "padding": "SAME", "batch_group_count": 2},
    ),
    "jax batch groups transposed": (
        jax.conv_general_dilated,
        [(4, 2, 3, 4), (6, 2, 3, 2)],
        {
            "window_strides": (1, 1),
            "padding": ((1, 2), (2, 0)),
            "lhs_dilation": (2, 2),
            "batch_group_count": 2,
        },
    ),
    "jax conv_transpose": (
        jax.conv_transpose,
        [(1, 3, 4, 2), (3, 2, 2, 3)],
        {"strides": (2, 2), "padding": "SAME"},
    ),
    "keras": (
        keras.conv,
        [(1, 4, 5, 6), (3, 3, 2, 4)],
        {"strides": 2, "padding": "same", "data_format": "channels_first"},
    ),
    "keras transposed": (
        keras.conv_transpose,
        [(1, 3, 4, 2), (2, 3, 3, 2)],
        {"strides": 2, "padding": "same"},
    ),
}


@pytest.mark.parametrize("name", EXPLAINED)
def test_every_index_is_one_of_the_dialects_own_arrays(name):
    function, shapes, arguments = EXPLAINED[name]
    arrays = [small(shape, start) for start, shape in enumerate(shapes)]
    x, w = arrays[:2]
    y = function(*arrays, **arguments)
    cells = [(0,) * y.ndim, tuple(size - 1 for size in y.shape), tuple(size // 2 for size in y.shape)]
    for at in cells:
        found = tc.explain(function, *arrays, **arguments, at=at)
        assert found.cell == at
        assert found.value == y[at]
        total = 0 if found.bias is None else found.bias
        for tap in found.taps:
            assert w[tap.filter_index] == tap.filter_value
            if not tap.in_padding:
                assert x[tap.input_index] == tap.input_value
                total += x[tap.input_index] * w[tap.filter_index]
            else:
                inside = zip(tap.input_index, x.shape, strict=True)
                assert not all(0 <= index < size for index, size in inside)
        assert total == y[at]
        assert str(at[-1]) in str(found)
        assert found.picture().startswith("<svg")


@pytest.mark.parametrize("name", EXPLAINED)
def test_what_one_input_cell_feeds(name):
    """Adding one to an input cell changes the outputs that at_input names, by the filter's values."""
    function, shapes, arguments = EXPLAINED[name]
    arrays = [small(shape, start) for start, shape in enumerate(shapes)]
    at = tuple(size // 2 for size in shapes[0])
    more = arrays[0].copy()
    more[at] += 1
    change = function(more, *arrays[1:], **arguments) - function(*arrays, **arguments)
    found = tc.explain(function, *arrays, **arguments, at_input=at)
    fed = np.zeros_like(change)
    for tap in found.taps:
        fed[tap.output_index] += arrays[1][tap.filter_index]
        assert tap.input_index == at
    assert np.array_equal(fed, change)
    assert found.value == arrays[0][at]


def test_explaining_a_weight_of_torch():
    x, dy = small((2, 2, 5, 4)), small((2, 3, 3, 2))
    dw = torch.conv2d_weight(x, (3, 2, 3, 3), dy)
    at = (2, 1, 0, 2)  # (out, in, row, col)
    found = tc.explain(torch.conv2d_weight, x, (3, 2, 3, 3), dy, at=at)
    assert found.value == dw[at]
    for tap in found.taps:
        assert tap.filter_index == at
        assert x[tap.input_index] == tap.input_value
        assert dy[tap.out_backprop_index] == tap.out_backprop_value
    with pytest.raises(IndexError, match="out_channel, in_channel, filter_row, filter_col"):
        tc.explain(torch.conv2d_weight, x, (3, 2, 3, 3), dy, at=(3, 0, 0, 0))


def test_explain_checks_cells_in_the_dialects_words():
    with pytest.raises(IndexError, match=r"\[1, 3, 4, 4\] as \(n, channel, row, col\)"):
        tc.explain(torch.conv2d, small((1, 2, 6, 6)), small((3, 2, 3, 3)), at=(0, 0, 0, 4))
    with pytest.raises(ArgumentError, match="3 integers"):
        tc.explain(torch.conv2d, small((2, 6, 6)), small((3, 2, 3, 3)), at=(0, 0, 0, 0))


@pytest.mark.parametrize("name", EXPLAINED)
def test_diff_names_the_mistake_in_the_dialects_layout(name, rng):
    function, shapes, arguments = EXPLAINED[name]
    x, w, *bias = (rng.standard_normal(shape).astype("float32") for shape in shapes)
    right = function(x, w, *bias, **arguments)
    wrong = right.copy()
    bad = tuple(size // 2 for size in right.shape)
    wrong[bad] += 1
    report = tc.diff(function, x, w, *bias, **arguments, against={"right": right, "wrong": wrong})
    assert [row.passed for row in report.rows[-2:]] == [True, False]
    assert all(row.passed for row in report.rows[:-1])
    assert report.rows[-1].first_bad == bad
    assert report.rows[-1].explanation.cell == bad
    assert function.__module__.rpartition(".")[2] in str(report)


def test_diff_finds_a_flip_and_a_shift_in_nchw(rng):
    x, w = (
        rng.standard_normal((1, 2, 8, 8)).astype("float32"),
        rng.standard_normal((3, 2, 3, 3)).astype("float32"),
    )
    against = {
        "flipped": torch.conv2d(x, w[:, :, ::-1, ::-1], None, 2, 1),
        "tensorflow": tc.conv2d(x, w.transpose(2, 3, 1, 0), 2, "SAME", "NCHW"),
        "nhwc": torch.conv2d(x, w, None, 2, 1).transpose(0, 2, 3, 1),
    }
    codes = [
        row.diagnosis.code
        for row in tc.diff(torch.conv2d, x, w, None, 2, 1, backends=[], against=against).rows
    ]
    assert codes == ["flipped_filter", "stride_phase", "layout"]


def test_diff_of_a_weight_gradient_in_oihw(rng):
    x, dy = (
        rng.standard_normal((2, 2, 6, 6)).astype("float32"),
        rng.standard_normal((2, 3, 4, 4)).astype("float32"),
    )
    dw = torch.conv2d_weight(x, (3, 2, 3, 3), dy)
    report = tc.diff(torch.conv2d_weight, x, (3, 2, 3, 3), dy, against={"flipped": dw[:, :, ::-1, ::-1]})
    assert [row.passed for row in report.rows] == [True] * (len(report.rows) - 1) + [False]
    assert report.rows[-1].diagnosis.code == "flipped_filter"


def test_trace_shows_the_derivation():
    trace = tc.trace(torch.conv_transpose2d, small((1, 2, 3, 3)), small((2, 1, 3, 3)), stride=2)
    names = [stage.name for stage in trace.stages]
    assert "resolve torch.conv_transpose2d" in names
    note = next(stage.note for stage in trace.stages if stage.name.startswith("resolve"))
    assert "F - 2·p + output_padding" in note
    assert trace.result.shape == (1, 1, 7, 7)


# ---------------------------------------------------------------------------------------------
# What the signatures can say besides
# ---------------------------------------------------------------------------------------------


def test_padding_modes_by_hand():
    x = np.int32([[[1, 2, 3], [4, 5, 6]]])
    assert torch.pad(x, (2, 1), "reflect").tolist() == [[[3, 2, 1, 2, 3, 2], [6, 5, 4, 5, 6, 5]]]
    assert torch.pad(x, (1, 0, 1, 0), "replicate").tolist() == [[[1, 1, 2, 3], [1, 1, 2, 3], [4, 4, 5, 6]]]
    assert torch.pad(x, (1, 1), "circular").tolist() == [[[3, 1, 2, 3, 1], [6, 4, 5, 6, 4]]]
    assert torch.pad(x, (-1, 1, 0, -1)).tolist() == [[[2, 3, 0]]]
    for pads, mode, text in [((3, 0), "reflect", "at most 2"), ((0, 4), "circular", "at most 3")]:
        with pytest.raises(ArgumentError, match=text):
            torch.pad(x, pads, mode)
    with pytest.raises(ArgumentError, match="mode"):
        torch.pad(x, (1, 1), "mirror")


def test_the_value_that_torch_pads_with():
    """As torch.nn.functional.pad of PyTorch 2.13: None is 0, and a value must be one that is used and fits."""
    x = np.float16([[[1]]])
    for value, first in [(None, 0), (0, 0), (2.5, 2.5), (65504, 65504), (np.inf, np.inf), (True, 1)]:
        assert torch.pad(x, (1, 0), value=value).tolist() == [[[first, 1]]]
    assert torch.pad(np.int32([[[1]]]), (1, 0), value=1.5).tolist() == [[[1, 1]]]
    assert torch.pad(np.float32([[[1, 2]]]), (1, 0), "reflect", 0.0).tolist() == [[[2, 1, 2]]]
    with pytest.raises(ValueError, match=r"value must be None or 0 for circular, .*; got 3\.0"):
        torch.pad(x, (1, 0), "circular", 3.0)
    for array, value in [(x, 1e6), (x.astype("float32"), 1e39), (np.int32(x), 3e9), (np.int32(x), np.nan)]:
        with pytest.raises(ValueError, match=f"value must be a number that {array.dtype} holds"):
            torch.pad(array, (1, 0), value=value)
    with pytest.raises(TypeError, match="value must be a number; got 'a'"):
        torch.pad(x, (1, 0), value="a")
    with pytest.raises(ArgumentError, match="left, right"):
        torch.pad(x, (1, 1, 1))
    with pytest.raises(ArgumentError, match="crop more"):
        torch.pad(x, (-2, -2))


def test_dimension_numbers_in_every_form():
    x, w = small((2, 5, 6, 3)), small((3, 3, 3, 4))
    strings = ("NHWC", "HWIO", "NHWC")
    want = jax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=strings)
    numbers = jax.ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    forms = [list(strings), numbers, tuple(numbers), ("NabC", "abIO", "NabC")]
    for form in forms:
        got = jax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=form)
        assert np.array_equal(got, want)
    nchw = x.transpose(0, 3, 1, 2)
    assert np.array_equal(
        jax.conv_general_dilated(nchw, w.transpose(3, 2, 0, 1), (2, 1), "SAME").transpose(0, 2, 3, 1), want
    )
    # the strides belong to the filter's order of rows and columns
    turned = jax.conv_general_dilated(
        x, w.swapaxes(0, 1), (1, 2), "SAME", dimension_numbers=("NHWC", "WHIO", "NHWC")
    )
    assert np.array_equal(turned, want)


def test_defaults_of_the_two_jax_functions_differ():
    assert (
        tc.resolve(jax.conv_general_dilated, (1, 2, 5, 5), (3, 2, 3, 3), (1, 1), "SAME").input_layout
        == "NCHW"
    )
    assert tc.resolve(jax.conv_transpose, (1, 5, 5, 2), (3, 3, 2, 3), (1, 1), "SAME").input_layout == "NHWC"


def test_resolve_notes_what_tensorflow_lacks():
    call = tc.resolve(
        jax.conv_general_dilated, (1, 1, 4, 4), (1, 1, 3, 3), (2, 2), ((1, 1), (1, 1)), lhs_dilation=(2, 2)
    )
    assert call.stuffing == (2, 2)
    assert any("TensorFlow has no such call" in step for step in call.steps)
    call = tc.resolve(
        jax.conv_general_dilated, (4, 1, 4, 4), (2, 1, 3, 3), (1, 1), "SAME", batch_group_count=2
    )
    assert any("batch_group_count 2" in step for step in call.steps)


def test_calls_are_frozen():
    call = tc.resolve(torch.conv2d, (1, 1, 4, 4), (1, 1, 3, 3))
    with pytest.raises(dataclasses.FrozenInstanceError):
        call.flip = True
    assert call.filter_permutation == (2, 3, 1, 0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: torch.conv2d(small((1, 1, 4, 4)), np.ones((1, 1, 3, 3))), "dtype"),
        (lambda: torch.conv2d([[["a"]]], small((1, 1, 1, 1))), "input"),
        (
            lambda: torch.conv2d(small((1, 1, 4, 4)), small((1, 1, 0, 3))),
            "^weight must have at least one row",
        ),
        (lambda: torch.conv2d(small((1, 1, 4, 4)), small((1, 1, 3, 3)), stride="2"), "stride"),
        (lambda: torch.conv2d(small((1, 1, 4, 4)), small((1, 1, 3, 3)), stride=True), "stride"),
        (lambda: torch.conv2d(small((1, 1, 4, 4)), small((1, 1, 3, 3)), groups=1.0), "groups"),
        (lambda: torch.conv2d_input((1, 1, 4), small((1, 1, 3, 3)), small((1, 1, 2, 2))), "input_size"),
        (
            lambda: torch.conv2d_input((1, 1, 4, 4), small((1, 1, 3, 3)), small((1, 1, 2, 2)), 1, "same"),
            "padding",
        ),
        (lambda: onnx.conv(small((1, 1, 4, 4)), small((1, 1, 3, 3)), strides=2), "strides"),
        (lambda: onnx.conv(small((1, 1, 4, 4)), small((1, 1, 3, 3)), pads=1), "pads"),
        (lambda: onnx.conv(small((1, 1, 4, 4)), small((1, 1, 3, 3)), auto_pad="VALID", pads=[1] * 4), "pads"),
        (lambda: onnx.conv(small((1, 1, 4, 4)), small((1, 1, 0, 3))), "^W must have at least one row"),
        (lambda: keras.conv(small((1, 4, 4, 1)), small((0, 3, 1, 1))), "^kernel must have at least one row"),
        (lambda: onnx.conv(small((1, 1, 0, 4)), small((1, 1, 3, 3)), pads=[2] * 4), "at least one row"),
        (
            lambda: jax.conv_general_dilated(small((1, 1, 4, 4)), small((1, 1, 3, 3)), None, "SAME"),
            "window_strides",
        ),
        (lambda: jax.conv_general_dilated(small((1, 1, 4, 4)), small((1, 1, 3, 3)), (1, 1), 1), "padding"),
        (
            lambda: jax.conv_general_dilated(
                small((1, 1, 4, 4)), small((1, 1, 3, 3)), (1, 1), [(-3, -3), (0, 0)]
            ),
            "crop",
        ),
        (
            lambda: jax.conv_transpose(
                small((1, 4, 4, 1)), small((3, 3, 1, 1)), (1, 1), "SAME", None, ("NHWC", "HWIO")
            ),
            "dimension_numbers",
        ),
        (
            lambda: jax.conv_transpose(
                small((1, 4, 4, 1)),
                small((3, 3, 1, 1)),
                (1, 1),
                "SAME",
                None,
                ((0, 1, 2, 3), (0, 1, 2, 3), (0, 0, 1, 2)),
            ),
            "positions",
        ),
        (lambda: keras.conv(small((1, 4, 4, 1)), small((3, 3, 1, 1)), padding=None), "padding"),
        (lambda: keras.conv(small((1, 4, 4, 1)), small((3, 3, 1, 1)), data_format=["x"]), "data_format"),
        (
            lambda: keras.conv_transpose(small((1, 4, 4, 1)), small((3, 3, 1, 1)), output_padding=0.5),
            "output_padding",
        ),
    ],
)
def test_bad_input_is_named(call, text):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=text):
        call()


@pytest.mark.parametrize(
    ("function", "shapes", "arguments"),
    [
        (torch.conv2d, ((1, 1, 4, 4), (1, 2, 3, 3)), {}),
        (torch.conv_transpose2d, ((1, 1, 4, 4), (2, 1, 3, 3)), {}),
        (torch.conv_transpose2d, ((1, 1, 4, 4), (1, 1, 3, 3)), {"groups": 2}),
        (onnx.conv, ((1, 1, 4, 4), (1, 2, 3, 3)), {}),
        (onnx.conv_transpose, ((1, 1, 4, 4), (2, 1, 3, 3)), {}),
        (onnx.conv_transpose, ((1, 1, 4, 4), (1, 1, 3, 3)), {"group": 2}),
        (jax.conv_transpose, ((1, 4, 4, 1), (3, 3, 2, 1), (1, 1), "SAME"), {}),
        (keras.conv, ((1, 4, 4, 1), (3, 3, 2, 1)), {}),
        (keras.conv_transpose, ((1, 4, 4, 1), (3, 3, 1, 2)), {}),
    ],
)
def test_one_channel_is_no_plural(function, shapes, arguments):
    with pytest.raises(ArgumentError, match="1 channel[^s]"):
        tc.resolve(function, *shapes, **arguments)


# ---------------------------------------------------------------------------------------------
# One axis and three: what a call over another number of axes is told
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: torch.conv1d(small((1, 2, 5, 5)), small((3, 2, 3))),
         r"input must have 2 or 3 axes, \[batch, channels, cols\] or \[channels, cols\]; got shape \[1, 2, 5, 5\]"),
        (lambda: torch.conv1d(small((1, 2, 5)), small((3, 2, 3, 3))),
         r"weight must have 3 axes, \[out, in / groups, cols\]; got shape \[3, 2, 3, 3\]"),
        (lambda: torch.conv3d(small((2, 5, 5)), small((3, 2, 3, 3, 3))), "input must have 4 or 5 axes"),
        (lambda: torch.conv1d(small((1, 2, 5)), small((3, 2, 3)), stride=[1, 2]),
         r"stride must be an int or 1 int, \(cols,\); got \[1, 2\]"),
        (lambda: torch.conv3d(small((1, 1, 3, 3, 3)), small((1, 1, 2, 2, 2)), padding=[1, 1]),
         r"padding must be an int or 1 or 3 ints, \(depth, rows, cols\); got \[1, 1\]"),
        (lambda: torch.conv3d(small((1, 1, 2, 3, 3)), small((1, 1, 3, 2, 2))), "in_depth >= 3"),
        (lambda: onnx.conv(small((1, 2, 5)), small((3, 2, 3, 3))),
         r"W must have 3 axes, as many as the input \[1, 2, 5\]; got \[3, 2, 3, 3\]"),
        (lambda: onnx.conv(small((1, 2)), small((3, 2))), r"X must have 3, 4 or 5 axes, \[batch, channels, \*sizes\]"),
        (lambda: onnx.conv(small((1, 2, 5)), small((3, 2, 3)), pads=[1, 1, 1, 1]), r"pads must be 2 ints, \[left, right\]"),
        (lambda: jax.conv_general_dilated(small((1, 2, 5)), small((3, 2, 3)), (1,), "SAME",
                                          dimension_numbers=("NHWC", "HWIO", "NHWC")),
         "dimension_numbers must be 3 letters each, with N and C and those of cols; got 'NHWC'"),
        (lambda: jax.conv_general_dilated(small((1, 2, 5)), small((3, 2, 3)), (1, 1), "SAME"),
         r"window_strides must be 1 int, \(cols,\); got \(1, 1\)"),
        (lambda: jax.conv_general_dilated(small((1, 2, 5)), small((3, 2, 3)), (1,), "CAUSAL"), "'VALID' or 1 pair; got"),
        (lambda: keras.conv(small((1, 5, 2)), small((3, 2, 3)), padding="causal"), "a word of the layer Conv1D"),
        (lambda: keras.conv(small((1, 5, 2)), small((3, 3, 2, 3))), "kernel must have 3 axes, as many as the input"),
        (lambda: keras.conv_transpose(small((1, 5, 2)), small((3, 2, 3))), r"kernel must be \[cols, out, in\]"),
    ],
)  # fmt: skip
def test_other_numbers_of_axes_are_named(call, text):
    with pytest.raises((ArgumentError, ArgumentTypeError), match=text):
        call()


def test_every_tool_takes_the_functions_of_other_ranks():
    """trace, explain and plan of a dialect's call count its axes as its shapes do."""
    x, w = small((2, 9)), small((3, 2, 3))
    result = torch.conv1d(x, w, stride=2, padding=1)
    assert np.array_equal(tc.trace(torch.conv1d, x, w, stride=2, padding=1).result, result)
    told = tc.explain(torch.conv1d, x, w, stride=2, padding=1, at=(1, 0))
    assert (told.value, [tap.in_padding for tap in told.taps].count(True)) == (result[1, 0], 2)
    volume, kernel = small((1, 2, 3, 4, 5)), small((2, 3, 2, 2, 2))
    got = torch.conv_transpose3d(volume, kernel, stride=(1, 2, 1))
    told = tc.explain(torch.conv_transpose3d, volume, kernel, stride=(1, 2, 1), at=(0, 2, 1, 3, 2))
    assert told.value == got[0, 2, 1, 3, 2]
    assert str(tc.find_source(torch.conv_transpose3d, volume, kernel, stride=(1, 2, 1)))
