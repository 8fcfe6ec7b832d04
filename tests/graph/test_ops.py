"""Op definitions, generated wrappers, kernels: each op in a graph and eagerly, compared with NumPy."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import TABLE, why_not
from teachconv.graph import core_ops
from teachconv.graph.core_ops import op_gen
from teachconv.graph.framework import op_kernel
from teachconv.graph.framework.op_def import REGISTRY, define_op, get_op_def, parse_attr, register_ops
from teachconv.graph.framework.op_def_library import apply_op
from teachconv.graph.gradients import gradients_util
from teachconv.graph.ops import gen_nn_ops
from teachconv.truth import bounds

tg = tc.graph
FLOATS, INTEGERS = ["float16", "float32", "float64"], ["int32", "int64"]

ISSUE = """Placeholder Const Variable Assign Identity Conv2D Conv2DBackpropInput Conv2DBackpropFilter
DepthwiseConv2dNative BiasAdd Relu MaxPool AvgPool MatMul Add Sub Mul Square Mean Sum Reshape Transpose Pad
Softmax"""


def both_ways(function, *arrays, **config):
    """Run eagerly and in a graph with placeholders of unknown shape; the results must be bit-identical."""
    eager = function(*arrays)
    graph = tg.Graph()
    with graph.as_default():
        inputs = [tg.placeholder(array.dtype, [None] * array.ndim) for array in arrays]
        output = function(*inputs)
    with tg.Session(graph, tg.ConfigProto(**config)) as session:
        got = session.run(output, dict(zip(inputs, arrays, strict=True)))
    assert output.dtype == eager.dtype == got.dtype
    assert len(output.shape) == eager.ndim
    assert all(size in (None, known) for size, known in zip(output.shape, eager.shape, strict=True))
    assert np.array_equal(eager, got, equal_nan=eager.dtype.kind == "f")
    return eager.numpy()


# --- definitions -------------------------------------------------------------------------------------


def test_every_op_of_the_issue_is_defined_and_has_a_kernel():
    for name in ISSUE.split():
        assert Path(REGISTRY[name].file).parent == Path(core_ops.__file__).parent
        assert (name, "CPU") in {key[:2] for key in op_kernel.KERNELS}


def test_generated_wrappers_are_up_to_date():
    """If this fails, run: python -m teachconv.graph.core_ops.op_gen"""
    assert op_gen.TARGET.read_text(encoding="utf-8") == op_gen.generate()
    assert "GENERATED from core_ops/ by op_gen.py" in gen_nn_ops.__doc__


def test_gradients_are_of_ops_that_exist():
    for name, function in gradients_util.GRADIENTS.items():
        if function is None or (function.__module__ or "").startswith("teachconv"):
            assert name in REGISTRY
    with pytest.raises(ValueError, match="op 'Conv2D' has a gradient already"):
        tg.RegisterGradient("Conv2D")
    with pytest.raises(TypeError, match="op_type must be the name of an op; got 3"):
        tg.RegisterGradient(3)


def test_unknown_ops_and_attributes_are_refused():
    with pytest.raises(ValueError, match="did you mean Conv2D"):
        get_op_def("Conv2d")
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [1, 4, 4, 1])
        w = np.ones((2, 2, 1, 1), "float32")
        with pytest.raises(ValueError, match="has no attribute 'stride'; it has T, strides"):
            apply_op("Conv2D", None, [x, w], {"stride": [1, 1, 1, 1]})
        with pytest.raises(ValueError, match=r"needs the attribute strides \(list\(int\)\)"):
            apply_op("Conv2D", None, [x, w], {})
        with pytest.raises(ValueError, match="attribute padding of Conv2D must be one of SAME, VALID"):
            apply_op("Conv2D", None, [x, w], {"strides": [1, 1, 1, 1], "padding": "FULL"})
        with pytest.raises(TypeError, match="attribute strides of Conv2D must be a list"):
            apply_op("Conv2D", None, [x, w], {"strides": "1111", "padding": "SAME"})
        with pytest.raises(TypeError, match="keep_dims of Sum must be True or False"):
            apply_op("Sum", None, [x, [0]], {"keep_dims": 1})
        with pytest.raises(ValueError, match=r"takes 2 inputs \(input, filter\); got 1"):
            apply_op("Conv2D", None, [x], {})
        with pytest.raises(ValueError, match="explicit_paddings must hold 8 ints"):
            apply_op("Conv2D", None, [x, w], {"strides": [1] * 4, "padding": "EXPLICIT"})
        with pytest.raises(ValueError, match="explicit_paddings must be empty"):
            apply_op(
                "Conv2D", None, [x, w], {"strides": [1] * 4, "padding": "SAME", "explicit_paddings": [0] * 8}
            )
        with pytest.raises(TypeError, match="T of AvgPool must be one of float16"):
            tg.nn.avg_pool(tg.placeholder("int32", [1, 4, 4, 1]), 2, 2, "SAME")
        assert {op.type for op in graph.get_operations()} == {"Placeholder", "Const"}


def test_definitions_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="registered already"):
        register_ops([define_op("Conv2D", shape_fn=None, summary="")])
    with pytest.raises(ValueError, match="type of an attribute must be one of"):
        parse_attr("strides: tuple")


def test_find_source_follows_every_op():
    for name in ISSUE.split():
        chain = tg.find_source(name)
        kinds = [step.what for step in chain.steps]
        assert kinds.index("generated wrapper") < kinds.index("op definition") < kinds.index("kernel")
        for step in chain.steps:
            if step.file:
                with open(op_gen.TARGET.parents[3] / step.file) as source:
                    text = source.read().splitlines()[step.line - 1 : step.line + 3]
                what = step.name.split(".")[-1]  # AddOp is in the row of "Add"
                found = (what in row or "register" in row or f'"{name}"' in row for row in text)
                assert any(found), step
    assert "<summary>1 public wrapper <b>conv2d</b>" in tg.find_source("conv2d")._repr_html_()
    with pytest.raises(ValueError, match="name must be that of an op"):
        tg.find_source("nothing at all")


# --- convolution: the same backends, the same bits ---------------------------------------------------


@pytest.mark.parametrize("backend", TABLE)
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_convolution_kernels_are_the_library_s_own_ops(backend, data_format, rng):
    if why_not(backend):
        pytest.skip(why_not(backend))
    shape = (2, 5, 6, 4) if data_format == "NHWC" else (2, 4, 5, 6)
    x, w = rng.standard_normal(shape), rng.standard_normal((3, 2, 2, 6))
    depthwise = rng.standard_normal((3, 3, 4, 2))
    pads = ((1, 0), (2, 1))
    options = {"data_format": data_format, "backend": backend}

    def same(function, ours, *arrays):
        assert np.array_equal(both_ways(function, *arrays), ours)

    for padding in ("SAME", "VALID", "SAME_LOWER", pads):
        arguments = {"strides": (2, 1), "padding": padding, "dilations": (1, 2), **options}
        y = tc.conv2d(x, w, **arguments)
        same(lambda x, w: tg.nn.conv2d(x, w, **arguments), y, x, w)  # noqa: B023
        dx = tc.conv2d_backprop_input(x.shape, w, y, **arguments)
        same(lambda w, y: tg.nn.conv2d_backprop_input(x.shape, w, y, **arguments), dx, w, y)  # noqa: B023
        dw = tc.conv2d_backprop_filter(x, w.shape, y, **arguments)
        same(lambda x, y: tg.nn.conv2d_backprop_filter(x, w.shape, y, **arguments), dw, x, y)  # noqa: B023
        z = tc.depthwise_conv2d(x, depthwise, **arguments)
        same(lambda x, w: tg.nn.depthwise_conv2d(x, w, **arguments), z, x, depthwise)  # noqa: B023


def test_the_library_s_own_ops_take_tensors(rng):
    """teachconv.conv2d adds a node for a tensor of a graph, and runs one for an eager tensor or variable."""
    x, w = (
        rng.standard_normal((1, 5, 5, 2)).astype("float32"),
        rng.standard_normal((3, 3, 2, 4)).astype("float32"),
    )
    b, depthwise = rng.standard_normal(4).astype("float32"), w[..., :2]
    y = tc.conv2d(x, w, 2, "SAME", bias=b)
    programs = (  # with the number of terms of a sum: taps, channels, the bias; positions for the filter
        (lambda x, w, b: tc.conv2d(x, w, 2, "SAME", bias=b), 19, (x, w, b)),
        (lambda x, w, b: tc.depthwise_conv2d(x, w, bias=b), 10, (x, depthwise, b)),
        (lambda y, w: tc.conv2d_transpose(y, w, strides=2, output_padding=1, padding="VALID"), 36, (y, w)),
        (lambda y, w: tc.conv2d_backprop_input(x.shape, w, y, 2, "SAME"), 36, (y, w)),
        (lambda x, y: tc.conv2d_backprop_filter(x, w.shape, y, 2, "SAME"), 9, (x, y)),
    )
    for op, terms, arrays in programs:
        exact = op(*(array.astype("float64") for array in arrays)).astype("float32")
        sizes = op(*(abs(array).astype("float64") for array in arrays))
        bound = bounds.direct(sizes, terms, "float32")
        eager = op(*map(tg.constant, arrays))
        assert isinstance(eager, tg.EagerTensor)
        assert bounds.judge(eager.numpy(), exact, bound).passed
        assert np.array_equal(op(tg.Variable(arrays[0]), *arrays[1:]).numpy(), eager.numpy())
        with tg.Graph().as_default() as graph:
            first = tg.placeholder("float32", arrays[0].shape)
            tensor = op(first, *arrays[1:])
            with tg.Session(graph) as session:
                assert bounds.judge(session.run(tensor, {first: arrays[0]}), exact, bound).passed
        assert np.array_equal(tc.function(op)(*arrays).numpy(), eager.numpy())
    for bad, message in (
        (
            lambda: tc.conv2d(tg.constant(x), w, algorithm="im2col"),
            "algorithm must not be given where conv2d takes",
        ),
        (lambda: tc.conv2d(tg.constant(x), w, out=y), "out must not be given"),
        (
            lambda: tc.depthwise_conv2d_backprop_input(x.shape, tg.constant(w), y),
            "takes no tensors of a graph",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            bad()


def test_conv2d_transpose_is_conv2d_backprop_input(rng):
    x, w = rng.standard_normal((1, 4, 4, 2)), rng.standard_normal((3, 3, 3, 2))
    for output_shape in (None, (1, 7, 8, 3), (1, 8, 8, 3)):
        want = tc.conv2d_transpose(x, w, output_shape, 2)
        assert np.array_equal(tg.nn.conv2d_transpose(x, w, output_shape, 2), want)
    with tg.Graph().as_default() as graph:
        known = tg.placeholder("float64", [1, 4, 4, 2])
        assert tg.nn.conv2d_transpose(known, w, strides=2).shape == (1, 8, 8, 3)
        unknown = tg.placeholder("float64", [None, 4, 4, 2])
        with pytest.raises(ValueError, match="rows must be 7 or 8 for SAME, stride 2"):
            tg.nn.conv2d_transpose(known, w, (1, 6, 8, 3), 2)
        with pytest.raises(ValueError, match="output_shape must be given"):
            tg.nn.conv2d_transpose(unknown, w, strides=2)
        sizes = tg.placeholder("int32", [4])
        y = tg.nn.conv2d_transpose(unknown, w, sizes, 2)
    with tg.Session(graph) as session:
        got = session.run(y, {unknown: x, sizes: [1, 7, 8, 3]})
        assert np.array_equal(got, tc.conv2d_transpose(x, w, (1, 7, 8, 3), 2))
        with pytest.raises(tg.InvalidArgumentError, match="node 'conv2d_transpose_1' .*test_ops.py:"):
            session.run(y, {unknown: x, sizes: [1, 6, 8, 3]})


def test_the_sizes_of_an_input_have_one_number_for_each_axis(rng):
    """TensorFlow's Conv2DBackpropInput also takes rows and columns alone."""
    dy, w = rng.standard_normal((2, 4, 4, 2)), rng.standard_normal((3, 3, 3, 2))
    windows = {"strides": [1, 2, 2, 1], "padding": "SAME"}
    for bad in ([8], [8, 7], [8, 7, 3]):
        for op in (gen_nn_ops.conv2d_backprop_input, gen_nn_ops.depthwise_conv2d_native_backprop_input):
            with pytest.raises(ValueError, match="input_sizes of .* must hold 4 sizes"):
                op(bad, w, dy, **windows)


def test_minus_one_is_the_batch_of_the_result(rng):
    """As in TensorFlow 2.21 with oneDNN, where -1 for another size ends the process."""
    x, w = rng.standard_normal((2, 4, 4, 2)), rng.standard_normal((3, 3, 3, 2))
    want = tc.conv2d_transpose(x, w, (2, 8, 7, 3), 2)
    assert np.array_equal(tc.conv2d_transpose(x, w, [-1, 8, 7, 3], 2), want)
    assert np.array_equal(tg.nn.conv2d_transpose(x, w, [-1, 8, 7, 3], 2), want)
    assert tc.conv2d_transpose_geometry(x.shape, w.shape, (-1, 8, 7, 3), 2).output_shape == want.shape
    assert np.array_equal(tc.conv2d_backprop_input([-1, 8, 7, 3], w, x, 2, "SAME"), want)
    assert tc.resolve(tc.conv2d_backprop_input, [-1, 8, 7, 3], w.shape, x.shape, 2, "SAME")
    depthwise = tc.depthwise_conv2d_backprop_input([-1, 4, 4, 2], np.ones((1, 1, 2, 1)), x, 1, "SAME")
    assert np.array_equal(depthwise, x)
    with tg.Graph().as_default() as graph, tg.Session(graph) as session:
        unknown, sizes = tg.placeholder("float64", [None, 4, 4, 2]), tg.placeholder("int32", [4])
        y, fed = (tg.nn.conv2d_transpose(unknown, w, each, 2) for each in ([-1, 8, 7, 3], sizes))
        assert y.shape == (None, 8, 7, 3)
        assert np.array_equal(session.run(y, {unknown: x}), want)
        assert np.array_equal(session.run(fed, {unknown: x, sizes: [-1, 8, 7, 3]}), want)
        (gradient,) = tg.gradients(y, unknown)
        assert session.run(gradient, {unknown: x}).shape == x.shape
        with pytest.raises(
            ValueError, match=r"no negative size except -1 for the batch; got \[\?, -1, 7, 3\]"
        ):
            tg.nn.conv2d_transpose(unknown, w, [-1, -1, 7, 3], 2)
    with pytest.raises(ValueError, match="output_shape must have no negative size except -1 for the batch"):
        tc.conv2d_transpose(x, w, [-1, 8, -7, 3], 2)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int32", "int64"])
def test_every_dtype_goes_through(dtype, rng):
    if dtype == "bfloat16":
        pytest.importorskip("ml_dtypes")
    x = rng.integers(-3, 4, (1, 4, 4, 2)).astype(dtype)
    w, b = rng.integers(-3, 4, (3, 3, 2, 3)).astype(dtype), rng.integers(-3, 4, 3).astype(dtype)

    def network(x, w, b):
        y = tg.nn.relu(tg.nn.bias_add(tg.nn.conv2d(x, w, padding="SAME"), b))
        y = tg.nn.max_pool(y, 2, 2, "SAME")
        y = tg.matmul(tg.reshape(y, [4, 3]), tg.reshape(y, [3, 4]))
        y = tg.pad(tg.transpose(y), [[1, 0], [0, 1]])
        return tg.reduce_sum(y * 2 - y, 0)

    got = both_ways(network, x, w, b)
    wide = [array.astype("float64") for array in (x, w, b)]
    exact = network(*wide).numpy()
    if got.dtype.kind == "i":
        assert np.array_equal(got, exact)
    else:  # small integers: exact as long as the type holds them
        rounded = exact.astype(dtype)
        assert np.array_equal(got.astype("float64"), rounded.astype("float64"))


# --- the rest, beside NumPy --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS + INTEGERS)
def test_arithmetic_is_numpy_s(dtype, rng):
    x, y = (rng.integers(-9, 9, shape).astype(dtype) for shape in ((3, 1, 4), (2, 1)))
    for ours, numpys in ((tg.add, np.add), (tg.subtract, np.subtract), (tg.multiply, np.multiply)):
        assert np.array_equal(both_ways(ours, x, y), numpys(x, y))
    assert np.array_equal(both_ways(tg.square, x), x * x)
    assert np.array_equal(both_ways(tg.nn.relu, x), np.maximum(x, 0))
    assert np.array_equal(both_ways(lambda x: tg.transpose(x, [2, 0, 1]), x), x.transpose(2, 0, 1))
    assert np.array_equal(both_ways(lambda x: tg.reshape(x, [-1, 2]), x), x.reshape(-1, 2))
    assert np.array_equal(
        both_ways(lambda x: tg.pad(x, [[1, 2], [0, 0], [0, 1]]), x), np.pad(x, [(1, 2), (0, 0), (0, 1)])
    )
    for axis in (None, 0, -1, [0, 2]):
        numpy_axis = tuple(axis) if isinstance(axis, list) else axis
        for keep in (False, True):
            got = both_ways(lambda x: tg.reduce_sum(x, axis, keep), x)  # noqa: B023
            assert np.array_equal(got, x.sum(axis=numpy_axis, keepdims=keep, dtype=dtype))


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=6))
def test_integers_wrap_around(numbers):
    x = np.array(numbers, "int32")
    assert np.array_equal(tg.square(x), (x.astype("int64") ** 2).astype("int32"))
    assert np.array_equal(tg.reduce_sum(x), x.sum(dtype="int64").astype("int32"))
    wide = int(x.sum(dtype="int64"))  # TensorFlow 2.21 sums a mean of integers in int64
    assert int(tg.reduce_mean(x)) == abs(wide) // len(numbers) * (1 if wide >= 0 else -1)


@pytest.mark.parametrize("dtype", FLOATS)
def test_means_products_and_softmax_keep_their_bounds(dtype, rng):
    x, w = rng.standard_normal((7, 9)).astype(dtype), rng.standard_normal((9, 5)).astype(dtype)
    wide_x, wide_w = x.astype("longdouble"), w.astype("longdouble")

    def judged(got, exact, abs_sum, terms):
        want = exact.astype(dtype)
        bound = bounds.direct(abs_sum.astype("float64"), terms, dtype)
        assert bounds.judge(np.asarray(got), np.asarray(want), bound).passed

    judged(both_ways(tg.matmul, x, w), wide_x @ wide_w, abs(wide_x) @ abs(wide_w), 9)
    transposed = both_ways(lambda x, w: tg.matmul(x, w, True, True), x[:5].copy(), w[:, :5].copy())
    judged(transposed, wide_x[:5].T @ wide_w[:, :5].T, abs(wide_x[:5].T) @ abs(wide_w[:, :5].T), 6)
    many, more = (rng.standard_normal(shape).astype(dtype) for shape in ((2, 1, 7, 9), (4, 9, 5)))
    wide_many, wide_more = many.astype("longdouble"), more.astype("longdouble")
    for a, b, wide_a, wide_b in (
        (many, more, wide_many, wide_more),
        (many, w, wide_many, wide_w),
        (x, more, wide_x, wide_more),
    ):
        judged(
            both_ways(lambda a, b: a @ tg.identity(b), a, b), wide_a @ wide_b, abs(wide_a) @ abs(wide_b), 9
        )
    flipped = both_ways(
        lambda a, b: tg.matmul(a, b, True, True), many.swapaxes(-1, -2), more.swapaxes(-1, -2)
    )
    assert np.array_equal(flipped, tg.matmul(many, more))  # the same products in the same order
    assert both_ways(tg.matmul, many[:0], more).shape == (0, 4, 7, 5)
    judged(both_ways(lambda x: tg.reduce_mean(x, 0), x), wide_x.mean(0), abs(wide_x).mean(0), 8)
    softmax = both_ways(tg.nn.softmax, x)
    exact = np.exp(wide_x) / np.exp(wide_x).sum(-1, keepdims=True)
    # 9 terms; subtraction of the largest, exp and the quotient are a few more roundings of each
    judged(softmax, exact, exact * (1 + 2 * abs(wide_x).max()), 9 + 4)
    assert np.isfinite(both_ways(tg.nn.softmax, np.array([[1e4, -1e4]], dtype))).all()


@given(st.data())
def test_pooling_is_its_definition(data):
    rows, cols = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    ksize = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    strides = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 3)))
    padding = data.draw(st.sampled_from(["SAME", "SAME_LOWER", "VALID"]))
    if padding == "VALID" and (rows < ksize[0] or cols < ksize[1]):
        return
    x = np.random.default_rng(rows * 7 + cols).integers(-9, 9, (2, rows, cols, 3)).astype("float32")
    geometry = tc.conv2d_geometry((2, rows, cols, 1), (*ksize, 1, 1), strides, padding)
    largest = both_ways(lambda x: tg.nn.max_pool(x, ksize, strides, padding), x)
    mean = both_ways(lambda x: tg.nn.avg_pool(x, ksize, strides, padding), x)
    for r, c in np.ndindex(geometry.output_shape[1:3]):
        at_rows = [geometry.rows.in_index(r, tap) for tap in range(ksize[0])]
        at_cols = [geometry.cols.in_index(c, tap) for tap in range(ksize[1])]
        cells = [x[:, i, j] for i in at_rows for j in at_cols if 0 <= i < rows and 0 <= j < cols]
        assert np.array_equal(largest[:, r, c], np.max(cells, axis=0))
        assert np.array_equal(mean[:, r, c], np.sum(cells, axis=0) / np.float32(len(cells)))


def test_pooling_in_nchw_and_its_refusals(rng):
    x = rng.standard_normal((2, 3, 6, 5)).astype("float32")
    for pool in (tg.nn.max_pool, tg.nn.avg_pool):
        got = both_ways(lambda x: pool(x, [1, 1, 2, 3], [1, 1, 2, 1], "SAME", "NCHW"), x)  # noqa: B023
        nhwc = pool(x.transpose(0, 2, 3, 1), (2, 3), (2, 1), "SAME")
        assert np.array_equal(got, nhwc.numpy().transpose(0, 3, 1, 2))
    assert tg.nn.max_pool(np.full((1, 1, 1, 1), -5, "int32"), 3, 1, 1).numpy().tolist() == [[[[-5]]]]
    with pytest.raises(ValueError, match="padding of avg_pool must be"):
        tg.nn.avg_pool(x, 2, 2, 1)
    with pytest.raises(ValueError, match="ksize must be 1 at N and C"):
        tg.nn.max_pool(x, [2, 2, 2, 1], 2, "SAME")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: tg.nn.bias_add(x, np.ones(3, "float32")), "must have 2 elements, one for each channel"),
        (lambda x: tg.nn.bias_add(x, np.ones((2, 1), "float32")), "bias of BiasAdd must have 1 axes"),
        (lambda x: tg.matmul(x, x), "a must have as many columns as b has rows"),
        (
            lambda x: tg.matmul(x, np.ones((3, 4, 4), "float32")),
            "x and y of BatchMatMulV2 must have shapes that",
        ),
        (lambda x: tg.matmul(x, np.ones(4, "float32")), r"y of BatchMatMulV2 must have at least 2 axes; got"),
        (lambda x: tg.reshape(x, [5, -1]), "must keep the number of elements"),
        (lambda x: tg.reshape(x, [-1, -1]), "one of them -1 at most"),
        (lambda x: tg.transpose(x, [0, 1]), "perm of Transpose must name all 4 axes"),
        (lambda x: tg.transpose(x, [0, 0, 1, 2]), "must name each axis once"),
        (lambda x: tg.pad(x, [[1, 1]]), r"paddings of Pad must have shape \[4, 2\]"),
        (lambda x: tg.pad(x, [[0, 0], [0, 0], [0, 0], [-1, 0]]), "must not be negative"),
        (lambda x: tg.reduce_sum(x, 4), "must be from -4 to 3"),
        (lambda x: tg.add(x, np.ones((3, 2), "float32")), "shapes that fit each other"),
        (lambda x: tg.nn.conv2d(x, np.ones((9, 9, 2, 1), "float32")), "VALID needs in_rows >= 9"),
        (lambda x: tg.nn.conv2d(x, np.ones((1, 1, 3, 1), "float32")), "must be the input's 2 channels"),
        (lambda x: tg.nn.depthwise_conv2d(x, np.ones((1, 1, 3, 1), "float32")), "with in_channels = 2"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_alike(function, message):
    """Errors are the same eagerly and in a graph, and the node is not in the graph."""
    x = np.ones((1, 4, 4, 2), "float32")
    with pytest.raises(ValueError, match=message):
        function(x)
    with tg.Graph().as_default() as graph:
        tensor = tg.placeholder("float32", x.shape, name="x")
        with pytest.raises(ValueError, match=message):
            function(tensor)
        assert {op.type for op in graph.get_operations()} <= {"Placeholder", "Const"}
        assert tg.nn.relu(tensor).op.name == "Relu"


def test_shapes_that_show_only_in_the_run_are_refused_there():
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", None, name="x")
        shape = tg.placeholder("int32", [None], name="shape")
        y = tg.reshape(x, shape, name="y")
        z = tg.add(x, np.ones(3, "float32"), name="z")
    with tg.Session(graph) as session:
        with pytest.raises(
            tg.InvalidArgumentError, match=r"node 'y' \(Reshape, made at .*number of elements"
        ):
            session.run(y, {x: np.ones(4), shape: [3]})
        with pytest.raises(tg.InvalidArgumentError, match=r"node 'z' \(Add, made at "):
            session.run(z, {x: np.ones(2)})


def test_dtypes_follow_tensorflow_s_rules():
    assert tg.constant(1).dtype == "int32"
    assert tg.constant([1.5, 2]).dtype == "float32"
    assert tg.constant(np.float64(1)).dtype == "float64"
    assert tg.add(np.ones(2, "float64"), 1).dtype == "float64"
    assert tg.constant([]).dtype == "float32"
    assert tg.constant(tg.constant([1, 2]).shape).dtype == "int32"
    assert tg.constant(1, "float64", [2, 2]).numpy().tolist() == [[1, 1], [1, 1]]
    assert tg.add(np.ones(2, "float32"), np.ones(2, "float64")).dtype == "float32"
    with pytest.raises(TypeError, match="y of Add must have the dtype of x, float32; got float64"):
        tg.add(np.ones(2, "float32"), tg.constant(np.ones(2)))
    with pytest.raises(TypeError, match=r"y of add must have dtype int32; got 1\.5"):
        tg.add(np.ones(2, "int32"), 1.5)
    assert tg.constant(True).dtype == tg.constant([True, False]).dtype == "bool"
    assert tg.add(np.ones(2, "float32"), True).numpy().tolist() == [2, 2]
    with pytest.raises(TypeError, match="complex"):
        tg.constant(1j)


@pytest.mark.parametrize(
    "make", [tg.constant, tg.convert_to_tensor, lambda value, dtype: tg.Variable(value, dtype=dtype)]
)
def test_a_dtype_that_is_asked_for_converts_an_array(make):
    """As in TensorFlow 2.21, but for numbers that the dtype cannot hold: TensorFlow makes 1 of 1.5 for int32."""
    for value, dtype, wanted in [
        (np.linspace(0, 1, 3), "float32", [0, 0.5, 1]),
        (np.array([1, 2]), "float32", [1, 2]),
        (np.float32([1.5, 1e6]), "float16", [1.5, np.inf]),
        (np.uint8([1, 255]), "int32", [1, 255]),
        (np.array([True, False]), "float32", [1, 0]),
        (np.float64(1.5), "float32", 1.5),
        (np.array([]), "int32", []),
    ]:
        made = make(value, dtype=dtype)
        assert made.dtype == dtype
        assert made.numpy().tolist() == wanted
    for value, dtype in [
        (np.array([1.5]), "int32"),
        (np.array([2**40]), "int32"),
        (np.array([np.nan]), "int64"),
    ]:
        with pytest.raises(ValueError, match=f"must fit dtype {dtype}; got {value.dtype} .*, which does not"):
            make(value, dtype=dtype)
    with pytest.raises((TypeError, ValueError), match="float32"):
        make(tg.constant([1.5]), dtype="int32")


@pytest.mark.parametrize("traced", [False, True])
def test_padding_as_large_as_the_window_is_refused_as_in_tensorflow(traced):
    """A window would hold padding only; TensorFlow 2.21 has the same message."""
    x = np.ones((1, 4, 4, 1), "float32")
    for pads, side in [([(3, 0), (0, 0)], "Top"), ([(0, 0), (0, 3)], "Right")]:
        explicit = [(0, 0), *pads, (0, 0)]
        pool = tg.function(lambda x, pads=explicit: tg.nn.max_pool(x, 2, 2, pads))
        with pytest.raises(ValueError, match=f"{side} padding 3 needs to be smaller than the window size 2"):
            pool(x) if traced else tg.nn.max_pool(x, 2, 2, explicit)
    assert tg.nn.max_pool(x, (1, 3), 1, [(0, 0), (0, 0), (2, 2), (0, 0)]).numpy().tolist() == [
        [[[1]] * 6] * 4
    ]


def test_numbers_that_fit_no_dtype():
    assert tg.constant(2**40).dtype == tg.constant([1, 2**40]).dtype == "int64"
    with pytest.raises(ValueError, match="must fit dtype int32; got int64 1099511627776"):
        tg.constant(2**40, "int32")
    with pytest.raises(TypeError, match="value of constant must have dtype"):
        tg.constant(2**70)
    with pytest.raises(ValueError, match="shape must hold the value's 2 elements"):
        tg.constant([1, 2], shape=[3])


def test_eager_tensors_share_no_memory_with_the_caller_s_arrays():
    x = np.ones((2, 2), "float32")
    results = [tg.identity(x), tg.reshape(x, [4]), tg.transpose(x), tg.constant(x), tg.Variable(x)]
    results += [tg.Variable(np.zeros((2, 2), "float32")).assign(x)]
    x[...] = 5
    for result in results:
        assert (result.numpy() == 1).all()
        result.numpy()[...] = 7  # a copy, the caller's own
        assert (np.asarray(result) == 1).all()
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(results[0])[...] = 7


def test_graph_ops_do_not_run_eagerly():
    with pytest.raises(RuntimeError, match=r"tf.placeholder\(\) is not compatible with eager execution"):
        tg.placeholder("float32")
    with pytest.raises(ValueError, match="belongs to a graph"):
        gen_nn_ops.variable([1], "float32")
    with tg.Graph().as_default():
        x = tg.placeholder("float32", [1], name="x")
    with pytest.raises(TypeError, match="'x:0' is a tensor of a graph"):
        tg.nn.relu(x)
    with pytest.raises(ValueError, match="there is no graph here"):
        tg.global_variables_initializer()
    with tg.name_scope("layer") as scope, tg.control_dependencies([tg.constant(1.0)]):  # no effect
        assert scope == "layer/"
        assert int(tg.add(1, 2)) == 3


def test_all_and_any():
    cells = np.array([[True, False, True], [True, True, True]])
    for axis in (None, 0, 1, [0, 1], -1):
        for keep in (False, True):
            numpys = tuple(axis) if isinstance(axis, list) else axis
            assert np.array_equal(tg.reduce_all(cells, axis, keep), cells.all(numpys, keepdims=keep))
            assert np.array_equal(tg.reduce_any(cells, axis, keep), cells.any(numpys, keepdims=keep))
    assert (bool(tg.reduce_all(np.zeros(0, bool))), bool(tg.reduce_any(np.zeros(0, bool)))) == (True, False)
    with pytest.raises(TypeError, match="input_tensor of reduce_all must have dtype bool"):
        tg.reduce_all([1, 0])
    with pytest.raises(ValueError, match="input_tensor of reduce_all must fit dtype bool; got int64 2"):
        tg.reduce_all(np.array([1, 2]))


@pytest.mark.parametrize(
    ("op", "output", "grad", "name"),
    [
        ("max_pool_grad", (1, 2, 1, 1), (1, 2, 2, 1), "orig_output"),
        ("max_pool_grad", (1, 2, 2, 1), (1, 1, 2, 1), "grad"),
    ],
)
def test_a_gradient_of_pooling_takes_what_the_pooling_made(op, output, grad, name):
    x, y, dy = (np.ones(shape, "f4") for shape in ((1, 4, 4, 1), output, grad))
    windows = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"}
    with pytest.raises(ValueError, match=f"^{name} of MaxPool.* must have shape"):
        getattr(tc.graph.gen_nn_ops, op)(x, y, dy, **windows)
