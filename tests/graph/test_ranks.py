"""Convolutions over one axis and three in the runtime: eagerly, in functions, in graphs, with every name they have."""

import json
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
import teachconv.tf as tf
import teachconv.tf.compat.v1 as tf1
from teachconv.graph.ops import gen_nn_ops

tg = tc.graph
RNG = np.random.default_rng(0)


def integers(*shape):
    return RNG.integers(-3, 4, shape).astype("float32")


# op of the library: its arrays and sizes in the order of its signature, and other arguments
CALLS = {
    "conv1d": [
        ((integers(2, 7, 3), integers(3, 3, 4)), {"strides": 2, "padding": "SAME"}),
        ((integers(2, 7, 3), integers(3, 3, 4)), {"padding": "CAUSAL", "dilations": 2}),
        ((integers(2, 4, 7), integers(3, 2, 6)), {"data_format": "NCW", "padding": [(2, 1)]}),
    ],
    "conv1d_transpose": [
        ((integers(2, 4, 3), integers(3, 2, 3), (2, 7, 2)), {"strides": 2}),
        ((integers(2, 4, 3), integers(3, 2, 3)), {"strides": 2, "padding": "VALID", "output_padding": 1}),
    ],
    "conv1d_backprop_input": [
        (((2, 7, 3), integers(3, 3, 4), integers(2, 4, 4)), {"strides": 2, "padding": "SAME"}),
        (((2, 7, 3), integers(3, 3, 4), integers(2, 7, 4)), {"padding": "CAUSAL"}),
    ],
    "conv1d_backprop_filter": [
        ((integers(2, 7, 3), (3, 3, 4), integers(2, 4, 4)), {"strides": 2, "padding": "SAME"}),
        ((integers(2, 7, 3), (3, 3, 4), integers(2, 7, 4)), {"padding": "CAUSAL"}),
    ],
    "conv3d": [
        ((integers(1, 4, 5, 3, 2), integers(2, 3, 2, 2, 3)), {"strides": (1, 2, 1), "padding": "SAME"}),
        (
            (integers(1, 2, 4, 5, 3), integers(2, 3, 2, 1, 4)),
            {"data_format": "NCDHW", "dilations": (1, 2, 1)},
        ),
        ((integers(1, 4, 5, 3, 2), integers(2, 3, 2, 2, 3)), {"padding": ((1, 0), (0, 2), (1, 1))}),
    ],
    "conv3d_transpose": [
        ((integers(1, 2, 3, 2, 2), integers(2, 3, 2, 3, 2), (1, 4, 5, 3, 3)), {"strides": 2}),
        ((integers(1, 2, 3, 2, 2), integers(2, 3, 2, 3, 2)), {"strides": 2, "padding": "VALID"}),
    ],
    "conv3d_backprop_input": [
        (((1, 4, 5, 3, 2), integers(2, 3, 2, 2, 3), integers(1, 3, 3, 2, 3)), {}),
    ],
    "conv3d_backprop_filter": [
        ((integers(1, 4, 5, 3, 2), (2, 3, 2, 2, 3), integers(1, 3, 3, 2, 3)), {}),
    ],
    "convolution": [
        ((integers(2, 7, 3), integers(3, 3, 4)), {"padding": "CAUSAL"}),
        ((integers(1, 4, 5, 3, 2), integers(2, 3, 2, 2, 3)), {"padding": "SAME"}),
    ],
    "conv_transpose": [((integers(2, 4, 3), integers(3, 2, 3)), {"strides": 2})],
    "convolution_backprop_input": [(((2, 7, 3), integers(3, 3, 4), integers(2, 7, 4)), {"padding": "SAME"})],
    "convolution_backprop_filter": [((integers(2, 7, 3), (3, 3, 4), integers(2, 7, 4)), {"padding": "SAME"})],
}
FLAT = [(name, *call) for name, calls in CALLS.items() for call in calls]


@pytest.mark.parametrize(("name", "given", "words"), FLAT, ids=[name for name, *_ in FLAT])
def test_an_op_of_the_library_takes_tensors(name, given, words):
    """It runs eagerly, adds its node to a graph, and is a part of a function; the numbers are those of arrays."""
    op = getattr(tc, name)
    want = op(*given, **words)
    tensors = [tg.constant(value) if isinstance(value, np.ndarray) else value for value in given]
    assert np.array_equal(op(*tensors, **words), want)

    def of_arrays(*arrays):
        waiting = iter(arrays)
        return op(*(next(waiting) if isinstance(each, np.ndarray) else each for each in given), **words)

    arrays = [value for value in given if isinstance(value, np.ndarray)]
    assert np.array_equal(tc.function(of_arrays)(*arrays), want)
    with tg.Graph().as_default() as graph, tg.Session(graph) as session:
        feeds = [tg.placeholder("float32", array.shape) for array in arrays]
        result = of_arrays(*feeds)
        assert result.shape == want.shape
        assert np.array_equal(session.run(result, dict(zip(feeds, arrays, strict=True))), want)


def test_a_bias_and_an_option_of_the_library():
    x, w, bias = integers(2, 7, 3), integers(3, 3, 4), integers(4)
    for layout, turned in (("NWC", x), ("NCW", x.transpose(0, 2, 1))):
        want = tc.conv1d(turned, w, data_format=layout, bias=bias)
        assert np.array_equal(tc.conv1d(tg.constant(turned), w, data_format=layout, bias=bias), want)
    with pytest.raises(ValueError, match="algorithm must not be given where conv1d takes a tensor"):
        tc.conv1d(tg.constant(x), w, algorithm="direct")
    with pytest.raises(ValueError, match='"CAUSAL" needs filters of known size'), tg.Graph().as_default():
        tc.conv1d(
            tg.placeholder("float32", [2, 7, 3]), tg.placeholder("float32", [None, 3, 4]), padding="CAUSAL"
        )


def test_tensorflow_s_names():
    """Eagerly, in a tf.function, and in a session of TensorFlow 1, whose arguments have other names."""
    x, w = integers(2, 7, 3), integers(3, 3, 4)
    volume, filters = integers(1, 4, 5, 3, 2), integers(2, 3, 2, 2, 3)
    want, wide = tc.conv1d(x, w, 2, "SAME"), tc.conv3d(volume, filters, 2, "SAME")
    for call, expected in [
        (lambda: tf.nn.conv1d(x, w, stride=2, padding="SAME"), want),
        (lambda: tf.nn.convolution(x, w, 2, "SAME"), want),
        (lambda: tf.nn.conv3d(volume, filters, [1, 2, 2, 2, 1], "SAME"), wide),
        (lambda: tf.nn.convolution(volume, filters, 2, "SAME"), wide),
        (lambda: tf.nn.conv1d_transpose(want, w, [2, 7, 3], 2), tc.conv1d_transpose(want, w, [2, 7, 3], 2)),
        (lambda: tf.nn.conv_transpose(want, w, [2, 7, 3], 2), tc.conv1d_transpose(want, w, [2, 7, 3], 2)),
        (
            lambda: tf.nn.conv3d_transpose(wide, filters, volume.shape, 2),
            tc.conv3d_transpose(wide, filters, volume.shape, 2),
        ),
        (lambda: tf.nn.max_pool(x, 2, 2, "SAME"), tc.max_pool(x, 2, 2, "SAME")),
        (lambda: tf.nn.max_pool(volume, 2, 2, "VALID"), tc.max_pool(volume, 2, 2, "VALID")),
        (lambda: tf.nn.avg_pool(x, 2, 2, "SAME"), tc.avg_pool(x, 2, 2, "SAME")),
        (lambda: tf.nn.avg_pool(volume, 2, 2, "SAME"), tc.avg_pool(volume, 2, 2, "SAME")),
    ]:
        assert np.array_equal(call(), expected)
        assert np.array_equal(tf.function(call)(), expected)
    signal, images = tf1.placeholder(tf1.float32, [None, 7, 3]), tf1.placeholder(tf1.float32, volume.shape)
    nodes = [
        tf1.nn.conv1d(value=signal, filters=w, stride=2, padding="SAME"),
        tf1.nn.conv3d(images, filter=filters, strides=[1, 2, 2, 2, 1], padding="SAME"),
        tf1.nn.conv3d_transpose(
            value=wide, filter=filters, output_shape=volume.shape, strides=[1, 2, 2, 2, 1]
        ),
    ]
    with tf1.Session() as session:
        first, second, _ = session.run(nodes, {signal: x, images: volume})
    assert np.array_equal(first, want)
    assert np.array_equal(second, wide)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.nn.conv1d(np.ones((1, 7, 1)), np.ones((3, 1, 1)), 1, "CAUSAL"), 'got "CAUSAL"'),
        (lambda: tf.nn.convolution(np.ones((1, 7, 1)), np.ones((3, 1, 1)), 1, "CAUSAL"), 'got "CAUSAL"'),
        (lambda: tf.nn.convolution(np.ones((1, 7)), np.ones((3, 1))), "filters must have 3, 4 or 5 axes"),
        (
            lambda: tf.nn.convolution(np.ones((1, 7, 1)), np.ones((3, 1, 1)), 2, "SAME", dilations=2),
            "conv1d has both",
        ),
        (
            lambda: tf.nn.conv_transpose(np.ones((1, 4, 1)), np.ones((3, 1, 1)), [8, 1], 2),
            "output_shape must hold 3, 4 or 5 sizes",
        ),
        (
            lambda: tf.nn.conv1d(np.ones((1, 7, 1)), np.ones((3, 1, 1)), 1, "SAME", data_format="NHWC"),
            'data_format must be "NWC" or "NCW"; got',
        ),
        (
            lambda: tf.nn.max_pool(np.ones((1, 4, 4, 4, 1)), 2, 2, [[0, 0]] * 5),
            "padding of max_pool3d must be",
        ),
        (lambda: tf.nn.avg_pool(np.ones((1, 4, 1)), 2, 2, [[0, 0]] * 3), "padding of avg_pool must be"),
        (
            lambda: gen_nn_ops.conv3d(
                np.ones((1, 4, 4, 4, 1)), np.ones((2, 2, 2, 1, 1)), [1] * 5, "EXPLICIT"
            ),
            "explicit_paddings must hold 10 ints",
        ),
        (
            lambda: gen_nn_ops.conv3d(np.ones((1, 4, 4, 1)), np.ones((2, 2, 1, 1)), [1] * 5, "SAME"),
            "input of Conv3D must have 5 axes",
        ),
    ],
)
def test_what_is_illegal_is_refused_by_name(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_second_derivatives_over_three_axes():
    """The gradient of each of the three ops is among them again; integers are exact."""
    x, w = tg.Variable(integers(1, 3, 4, 3, 1)), tg.Variable(integers(2, 2, 2, 1, 2))
    with tg.GradientTape(persistent=True) as outer:
        with tg.GradientTape() as inner:
            y = tg.reduce_sum(tg.square(tg.nn.conv3d(x, w)))
        dx, dw = inner.gradient(y, [x, w])
        total = tg.reduce_sum(dx) + tg.reduce_sum(dw)
    # y is quadratic in x and in w: a step of one along a direction changes the gradient by exactly the second one
    got_x, got_w = outer.gradient(total, [x, w])

    def first_gradients(a, b):
        with tg.GradientTape() as tape:
            tape.watch([a, b])
            y = tg.reduce_sum(tg.square(tg.nn.conv3d(a, b)))
        return [grad.numpy().astype("float64").sum() for grad in tape.gradient(y, [a, b])]

    step = np.zeros(x.shape, "float32")
    step[0, 1, 2, 1, 0] = 1
    above, below = (first_gradients(tg.constant(x.numpy() + s * step), w.value()) for s in (1, -1))
    # the part from w's gradient is cubic in no variable: central differences of a quadratic are exact
    assert float(got_x[0, 1, 2, 1, 0]) == (sum(above) - sum(below)) / 2
    assert got_w.shape == w.shape


def test_find_source_follows_them():
    x, w = integers(2, 7, 3), integers(3, 3, 4)
    chain = tc.find_source(tf.nn.conv1d, x, w, 1, "SAME")
    names = [step.name for step in chain.steps]
    assert {"conv1d", "conv2d", "Conv2D", "Conv2DOp.compute"} <= set(names)
    assert chain.backend == "cython"
    volume = tc.find_source("Conv3D")
    assert [(step.what, step.name) for step in volume.steps[:3]] == [
        ("public wrapper", "conv3d"),
        ("generated wrapper", "conv3d"),
        ("op definition", "Conv3D"),
    ]
    assert tg.find_source("conv3d_transpose").steps[1].name == "conv3d_backprop_input_v2"


def test_the_signatures_of_the_generated_functions_are_recorded():
    path = Path(__file__).parents[1] / "recorded" / "tensorflow_signatures.json"
    names = json.loads(path.read_text())["signatures"]
    for name in (
        "conv3d",
        "conv3d_backprop_input_v2",
        "conv3d_backprop_filter_v2",
        "max_pool3d",
        "avg_pool3d",
    ):
        assert f"python.ops.gen_nn_ops.{name}" in names
