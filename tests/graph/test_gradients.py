"""Every gradient beside TensorFlow's, beside central differences, and in graphs, functions and tapes alike."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorders import record_tensorflow_gradients as script

import teachconv as tc
from teachconv.graph.framework.op_def import REGISTRY
from teachconv.graph.gradients.gradients_util import get_gradient_function
from teachconv.truth import bounds

tg = tc.graph
HERE = Path(__file__).parents[1] / "recorded"
GRAPHS = json.loads((HERE / "tensorflow_gradients.json").read_text())
VALUES = np.load(HERE / "tensorflow_gradients.npz")
UNIT = 2.0**-53


OURS = {"AddV2": "Add", "VariableV2": "Variable"}  # how TensorFlow's ops are called here
DILATED = lambda tf, x, w: tf.nn.conv2d(x, w, 1, "SAME", dilations=2)  # noqa: E731
# TensorFlow on a CPU has no gradient of a dilated convolution, so there is nothing recorded of it
CASES = script.CASES | {"conv2d dilated": (DILATED, (1, 5, 5, 1), (3, 3, 1, 2))}
script.CASES = CASES


def test_was_recorded_with_a_known_version():
    assert GRAPHS["versions"]["tensorflow"] == json.loads(VALUES["meta"].item())["tensorflow"] == "2.21.0"
    assert GRAPHS["script"] == "record_tensorflow_gradients.py"


# --- values ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in CASES if name != "conv2d dilated"])
def test_gradients_are_tensorflow_s(name):
    """Within the bound of a sum of 256 products: both sides add at most so many, in their own order."""
    for index, ours in enumerate(script.gradients_of(tg, name)):
        theirs = VALUES[f"{name}/{index}"]
        bound = bounds.direct(np.abs(theirs) + np.abs(theirs).max(), 256, theirs.dtype)
        assert bounds.judge(ours, theirs, bound).passed


def weighted_sum(name, inputs):
    """What is differentiated, and the sum of its absolute terms."""
    function = CASES[name][0]
    result = function(tg, *map(tg.constant, inputs)).numpy()
    terms = script.weights_of(result.shape) * result
    magnitude = function(tg, *(tg.constant(np.abs(array)) for array in inputs)).numpy()
    return terms.sum(), np.abs(terms).sum() + (
        np.abs(script.weights_of(result.shape)) * np.abs(magnitude)
    ).sum()


@pytest.mark.parametrize("name", [name for name in CASES if name not in ("cast", "stop_gradient")])
def test_gradients_are_central_differences(name):
    """The bound has two parts, for a step h = 2^-14, with which all inputs stay on their side of a tie.

    Truncation: the error of D(h) = (f(x + h) - f(x - h)) / 2h is T(h) = h^2 f'''/6 + O(h^4), and D(2h) - D(h)
    is T(2h) - T(h), about 3 T(h); it is taken whole. Rounding: each f is a sum of products with an error below
    gamma(256) times the sum of their absolute values, four of them divided by 2h.
    """
    inputs, step = script.inputs_of(name), 2.0**-14
    gradients = script.gradients_of(tg, name)
    rng = np.random.default_rng(7)
    for argument, gradient in enumerate(gradients):
        for cell in rng.choice(gradient.size, min(3, gradient.size), replace=False):
            at, found, magnitude = np.unravel_index(cell, gradient.shape), [], 0.0
            for h in (step, 2 * step):
                sums = []
                for sign in (1, -1):
                    moved = [array.copy() for array in inputs]
                    moved[argument][at] += sign * h
                    value, size = weighted_sum(name, moved)
                    sums.append(value)
                    magnitude = max(magnitude, size)
                found.append((sums[0] - sums[1]) / (2 * h))
            rounding = 4 * bounds.gamma(256, UNIT) * magnitude / (2 * step)
            assert abs(found[0] - gradient[at]) <= abs(found[1] - found[0]) + rounding


@pytest.mark.parametrize("name", CASES)
def test_graph_function_and_tape_agree(name):
    """With placeholders of unknown sizes, too: the same functions run on the same kernels."""
    function, inputs = CASES[name][0], script.inputs_of(name)
    eager = script.gradients_of(tg, name)
    with tg.Graph().as_default() as graph:
        unknown = name not in ("sparse cross-entropy", "unstack", "max_pool") or None
        shapes = [[None] * array.ndim if unknown else array.shape for array in inputs]
        xs = [tg.placeholder("float64", shape) for shape in shapes]
        y = function(tg, *xs)
        weights = tg.placeholder("float64", [None] * len(y.shape))
        grads = tg.gradients(y, xs, weights)
    shape = function(tg, *map(tg.constant, inputs)).shape
    assert all(grad.shape == x.shape for grad, x in zip(grads, xs, strict=True))
    with tg.Session(graph) as session:
        feed = dict(zip([*xs, weights], [*inputs, script.weights_of(shape)], strict=True))
        for one, other in zip(session.run(grads, feed), eager, strict=True):
            assert np.array_equal(one, other)

    class Traced:  # the same names, with the function behind a call node
        GradientTape, constant = tg.GradientTape, staticmethod(tg.constant)

    traced = tc.function(lambda *arrays: function(tg, *arrays))
    CASES["traced"] = (lambda _, *arrays: traced(*arrays), *CASES[name][1:])
    SCRIPT_INPUTS = script.inputs_of
    try:
        script.inputs_of = lambda _: inputs
        for one, other in zip(script.gradients_of(Traced, "traced"), eager, strict=True):
            assert np.array_equal(one, other)
    finally:
        script.inputs_of = SCRIPT_INPUTS
        del CASES["traced"]


def test_every_op_has_a_gradient_or_says_that_it_has_none():
    """Except for the sources of a graph, and what only the runtime and the gradients themselves put there."""
    without = {op for op in REGISTRY if not op.startswith("_")}
    for op in list(without):
        try:
            get_gradient_function(op)
        except LookupError:
            continue
        without.discard(op)
    assert without == {
        *("Placeholder", "Const", "Variable", "NoOp", "Prod"),
        *("ApplyGradientDescent", "ApplyMomentum", "ResourceApplyKerasMomentum", "ApplyAdam"),
        *("ApplyRMSProp", "WriteScalarSummary"),
        *("BiasAddGrad", "ReluGrad", "MaxPoolGrad", "AvgPoolGrad", "MaxPool3DGrad", "AvgPool3DGrad"),
    }


# --- nodes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("title", script.GRAPHS)
def test_the_backward_graph_is_tensorflow_s(title):
    """Names, ops, inputs and static shapes of all nodes, in the same order."""
    with tg.Graph().as_default() as graph:
        script.GRAPHS[title](tg)
    ours = [
        [op.name, op.type, [tensor.name for tensor in op.inputs], [str(out.shape) for out in op.outputs]]
        for op in graph.get_operations()
    ]
    theirs = [
        [name, OURS.get(op, op), inputs, shapes] for name, op, inputs, shapes in GRAPHS["graphs"][title]
    ]
    assert ours == theirs


@pytest.mark.parametrize("title", script.STEPS)
def test_optimizers_take_tensorflow_s_steps(title):
    with tg.Graph().as_default():
        ours = script.steps_of(tg, title)
    theirs = VALUES[f"steps {title}"]
    bound = bounds.direct(np.abs(theirs) + np.abs(theirs).max(), 256, theirs.dtype)
    assert bounds.judge(ours, theirs, bound).passed


# --- max pooling: the first of the largest -------------------------------------------------------------


@pytest.mark.parametrize("title", script.TIES)
def test_ties_of_max_pool_go_to_the_first_cell_as_in_tensorflow(title):
    images = tg.constant(script.tie_images())
    with tg.GradientTape() as tape:
        tape.watch(images)
        result = tg.nn.max_pool(images, *script.TIES[title])
    ours = tape.gradient(result, images, script.weights_of(result.shape, "float32")).numpy()
    assert np.array_equal(ours, VALUES[f"ties {title}"])


def test_max_pool_s_rule_by_hand():
    image = tg.constant(np.float32([[5, 1, 5], [2, 5, 0]]).reshape(1, 2, 3, 1))
    with tg.GradientTape() as tape:
        tape.watch(image)
        result = tg.nn.max_pool(image, 2, 1, "VALID")  # two windows; the second one's first 5 is at its right
    assert tape.gradient(result, image).numpy()[0, :, :, 0].tolist() == [[1, 0, 1], [0, 0, 0]]


# --- higher order ----------------------------------------------------------------------------------------


def test_second_order_of_conv2d_is_the_convolution_itself():
    """f = sum(conv(x, w) * y) is linear in w, and its derivatives are the three kinds of convolution."""
    rng = np.random.default_rng(0)
    x, w = rng.integers(-3, 4, (2, 5, 4, 2)) * 1.0, rng.integers(-3, 4, (3, 2, 2, 3)) * 1.0
    y = rng.integers(-3, 4, tc.conv2d(x, w, 2, "SAME").shape) * 1.0
    image, filters, above = map(tg.constant, (x, w, y))
    direction = tg.constant(rng.integers(-3, 4, x.shape) * 1.0)
    with tg.GradientTape(persistent=True) as outer:
        outer.watch([filters, above])
        with tg.GradientTape() as inner:
            inner.watch(image)
            result = tg.nn.conv2d(image, filters, 2, "SAME")
        first = inner.gradient(result, image, above)
    assert np.array_equal(first, tc.conv2d_backprop_input(x.shape, w, y, 2, "SAME"))
    again = outer.gradient(first, [filters, above], direction)
    want = tc.conv2d_backprop_filter(np.asarray(direction), w.shape, y, 2, "SAME")
    assert np.array_equal(again[0], want)
    assert np.array_equal(again[1], tc.conv2d(np.asarray(direction), w, 2, "SAME"))


SMOOTH = {
    "conv2d": lambda x: tg.nn.conv2d(tg.reshape(x, [1, 2, 3, 1]), tg.reshape(x, [2, 3, 1, 1]), 1, "SAME"),
    "depthwise": lambda x: tg.nn.depthwise_conv2d(
        tg.reshape(x, [1, 1, 3, 2]), tg.reshape(x, [1, 3, 2, 1]), 1, "SAME"
    ),
    "transpose": lambda x: tg.nn.conv2d_transpose(
        tg.reshape(x, [1, 2, 3, 1]), tg.reshape(x, [2, 3, 1, 1]), [1, 4, 6, 1], 2
    ),
    "softmax": lambda x: tg.nn.softmax(tg.reshape(x, [2, 3])),
    "cross-entropy": lambda x: tg.nn.sparse_softmax_cross_entropy_with_logits([1, 2], tg.reshape(x, [2, 3])),
    "dense cross-entropy": lambda x: tg.nn.softmax_cross_entropy_with_logits(
        tg.nn.softmax(tg.reshape(x, [2, 3])), tg.reshape(x, [2, 3])
    ),
    "activations": lambda x: tg.tanh(x) * tg.sigmoid(x) + tg.square(tg.nn.elu(x)) / tg.exp(x),
    "roots": lambda x: (
        tg.sqrt(tg.square(x) + 1.0) * tg.rsqrt(tg.square(x) + 2.0) + tg.log(tg.square(x) + 1.0)
    ),
    "broadcasting": lambda x: (
        tg.reshape(x, [2, 3]) * tg.reduce_mean(x) / (1.0 + tg.square(tg.reshape(x, [3, 2, 1])))
    ),
    "bias": lambda x: tg.square(tg.reshape(x, [2, 3]) + tg.slice(x, [1], [3])),
    "matmul": lambda x: tg.matmul(tg.reshape(x, [2, 3]), tg.reshape(x, [2, 3]), transpose_b=True),
    "batched matmul": lambda x: (
        tg.matmul(tg.reshape(x, [3, 1, 2]), tg.reshape(x, [2, 3]))
        @ tg.matmul(tg.reshape(x, [2, 1, 1, 3]), tg.reshape(x, [3, 2, 1]), transpose_a=True, transpose_b=True)
    ),
    "joined": lambda x: tg.concat([tg.tile(x[1:], [2]), tg.pad(x, [[1, 2]])], 0) ** 3.0,
    "picked": lambda x: tg.gather(x, [3, 3, 1]) * tg.reduce_max(x) * tg.stack(tg.unstack(x, 6)[:3]),
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("outside", [tg.square, tg.identity])
def test_second_derivatives_are_central_differences_of_the_first(name, outside):
    """A product H v of the Hessian with a vector, with the bound of the first derivatives' test."""
    at = np.array([0.5, -1.25, 0.75, 2.0, -0.375, 1.5])
    direction = np.array([1.0, -0.5, 0.25, 0.75, -1.0, 0.5])

    def first(point):
        x = tg.constant(point)
        with tg.GradientTape() as tape:
            tape.watch(x)
            y = tg.reduce_sum(outside(SMOOTH[name](x)))
        return tape.gradient(y, x)

    x = tg.constant(at)
    with tg.GradientTape() as outer:
        outer.watch(x)
        with tg.GradientTape() as inner:
            inner.watch(x)
            y = tg.reduce_sum(outside(SMOOTH[name](x)))
        gradient = inner.gradient(y, x)
    product = outer.gradient(gradient, x, direction).numpy()
    step = 2.0**-14
    near, far = (
        (first(at + h * direction).numpy() - first(at - h * direction).numpy()) / (2 * h)
        for h in (step, 2 * step)
    )
    size = float(np.abs(gradient.numpy()).sum() + tg.reduce_sum(outside(SMOOTH[name](tg.abs(x)))))
    rounding = 4 * bounds.gamma(1024, UNIT) * size / (2 * step)
    assert (np.abs(near - product) <= np.abs(far - near) + rounding).all()


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (tg.nn.relu, "ReluGrad"),
        (lambda x: tg.nn.bias_add(x, [1.0]), "BiasAddGrad"),
        (lambda x: tg.nn.max_pool(x, 2, 2, "VALID"), "MaxPoolGrad"),
        (lambda x: tg.nn.avg_pool(x, 2, 2, "VALID"), "AvgPoolGrad"),
    ],
)
def test_a_second_derivative_that_is_not_there_is_refused_by_name(function, op):
    x = tg.constant(np.ones((1, 4, 4, 1), "f4"))
    with tg.GradientTape() as outer:
        outer.watch(x)
        with tg.GradientTape() as inner:
            inner.watch(x)
            y = tg.square(function(x))
        first = inner.gradient(y, x)
    if op == "BiasAddGrad":  # its gradient is on the way to the bias only
        assert outer.gradient(first, x).numpy().tolist() == np.full(x.shape, 2.0).tolist()
    else:
        with pytest.raises(LookupError, match=f"No gradient defined for operation '{op}'.*no second"):
            outer.gradient(first, x)


@pytest.mark.parametrize("sparse", [True, False])
def test_the_second_derivative_of_a_cross_entropy_is_that_of_its_second_output(sparse):
    """The loss itself has no gradient then. At equal logits the Hessian is [[1, -1], [-1, 1]] / 4."""

    def loss_of(logits, labels):
        if sparse:
            return tg.nn.sparse_softmax_cross_entropy_with_logits([0], logits)
        return tg.nn.softmax_cross_entropy_with_logits(labels, logits)

    logits, labels, start = tg.constant([[0.0, 0.0]]), tg.constant([[1.0, 0.0]]), tg.constant([[4.0, 0.0]])
    with tg.GradientTape() as outer:
        outer.watch([logits, labels])
        with tg.GradientTape() as inner:
            inner.watch(logits)
            loss = loss_of(logits, labels)
        first = inner.gradient(loss, logits)
    second = outer.gradient(first, [logits, labels], start)
    assert first.numpy().tolist() == [[-0.5, 0.5]]
    assert second[0].numpy().tolist() == [[1.0, -1.0]]
    assert second[1] is None if sparse else second[1].numpy().tolist() == [[-4.0, 0.0]]
    with tg.Graph().as_default() as graph, tg.Session(graph) as session:
        xs = tg.constant([[0.0, 0.0]]), tg.constant([[1.0, 0.0]])
        (slope,) = tg.gradients(loss_of(*xs), xs[0])
        (curve,) = tg.gradients(slope, xs[0], tg.constant([[4.0, 0.0]]))
        assert session.run(curve).tolist() == [[1.0, -1.0]]


# --- broadcasting ----------------------------------------------------------------------------------------


@given(st.data())
def test_gradients_of_broadcasting_sum_over_what_was_repeated(data):
    """For any two shapes that fit, known or not: beside NumPy's own broadcasting, on small integers."""
    full = data.draw(st.lists(st.integers(1, 3), min_size=0, max_size=3))
    shapes = []
    for _ in range(2):
        kept = data.draw(st.integers(0, len(full)))
        shape = [size if data.draw(st.booleans()) else 1 for size in full[len(full) - kept :]]
        shapes.append(tuple(shape))
    rng = np.random.default_rng(len(full))
    x, y = (rng.integers(1, 5, shape).astype("float64") for shape in shapes)
    weights = rng.integers(-3, 4, np.broadcast_shapes(*shapes)).astype("float64")
    known = data.draw(st.booleans())
    with tg.Graph().as_default() as graph:
        xs = [tg.placeholder("float64", shape if known else [None] * len(shape)) for shape in shapes]
        products = tg.gradients(xs[0] * xs[1], xs, [weights])
        sums = tg.gradients(tg.subtract(*xs), xs, [weights])
    with tg.Session(graph) as session:
        found = session.run([products, sums], dict(zip(xs, (x, y), strict=True)))

    def summed(gradient, shape):
        gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
        axes = tuple(axis for axis, size in enumerate(shape) if size == 1)
        return gradient.sum(axis=axes, keepdims=True) if axes else gradient

    assert np.array_equal(found[0][0], summed(weights * y, x.shape))
    assert np.array_equal(found[0][1], summed(weights * x, y.shape))
    assert np.array_equal(found[1][0], summed(weights, x.shape))
    assert np.array_equal(found[1][1], summed(-weights, y.shape))
