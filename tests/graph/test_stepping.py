"""``use_backend("reference", algorithm="loops")``: a debugger steps from a TensorFlow program to the product."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from traceback import walk_stack

import numpy as np
import pytest

import teachconv as tc
import teachconv.tf as tf
from teachconv import keras
from teachconv.inspection import marks

FOLDER = str(Path(tc.__file__).parent)
FORWARD, INPUT, FILTER = LOOPS = (
    "conv2d_loops",
    "conv2d_backprop_input_loops",
    "conv2d_backprop_filter_loops",
)
PRODUCTS = {one.line for one in marks.find("reference", ["loops"]) if one.mark == "multiply-add"}
IMAGE = np.arange(9, dtype="float32").reshape(1, 3, 3, 1)
WINDOW = np.float32([1, 10, 100, 1000]).reshape(2, 2, 1, 1)
# by hand: 0 * 1 + 1 * 10 + 3 * 100 + 4 * 1000 = 4310, and with each cell to the right 1111 more
RESULT = [[4310, 5421], [7643, 8754]]
SCATTERED = [[1, 11, 10], [101, 1111, 1010], [100, 1100, 1000]]  # a one from each of the four cells
OF_WINDOW = [[8, 12], [20, 24]]  # of each tap the sum of the inputs that it meets: 0 + 1 + 3 + 4 first


def stepped(run):
    """Run as under a debugger that steps into everything.

    Returns:
        The result; how often each function of loops multiplied; the modules of backends that were entered; and
        the stack at the first product, the innermost frame first.
    """
    products, backends, stack = Counter(), set(), []

    def look(frame, event, arg):
        file, name = frame.f_code.co_filename, frame.f_code.co_name
        if not file.startswith(FOLDER):
            return None
        if Path(file).parent.name == "backends" and event == "call":
            backends.add(Path(file).stem)
        if event == "line" and name in LOOPS and frame.f_lineno in PRODUCTS:
            products[name] += 1
            if not stack:
                stack.extend(
                    (Path(one.f_code.co_filename).stem, one.f_code.co_name) for one, _ in walk_stack(frame)
                )
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        return run(), products, backends, stack
    finally:
        sys.settrace(before)


@pytest.fixture(autouse=True)
def loops():
    with tc.use_backend("reference", algorithm="loops"):
        yield


def test_session_run_leads_to_the_multiplication_in_a_dozen_frames():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder("float32", IMAGE.shape)
        y = tf.nn.conv2d(x, tf.Variable(WINDOW), 1, "VALID")
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            value, products, backends, stack = stepped(lambda: session.run(y, {x: IMAGE}))
    assert value[0, :, :, 0].tolist() == RESULT
    assert products == {FORWARD: 16}  # four cells, four taps
    assert backends <= {"__init__", "reference"}
    way = stack[: stack.index(("session", "run")) + 1][::-1]
    steps = [
        ("session", "run"),
        ("executor", "run"),
        ("conv_ops", "compute"),
        ("dispatch", "compute"),
        ("reference", "conv2d"),
        ("reference", "conv2d_loops"),
    ]
    assert [step for step in way if step in steps] == steps
    assert len(way) <= 14  # with the frame of NumPy's errstate


def eager():
    return [tf.nn.conv2d(IMAGE, WINDOW, 1, "VALID")]


def gradients():
    x, w = tf.constant(IMAGE), tf.constant(WINDOW)
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, 1, "VALID")
    return [y, *tape.gradient(y, [x, w])]


def transposed():
    return [tf.nn.conv2d_transpose(np.ones((1, 2, 2, 1), "float32"), WINDOW, [1, 3, 3, 1], 1, "VALID")]


ALL = {FORWARD: 16, INPUT: 16, FILTER: 16}


@pytest.mark.parametrize(
    ("run", "products", "values"),
    [
        (eager, {FORWARD: 16}, [RESULT]),
        (tf.function(eager), {FORWARD: 16}, [RESULT]),
        (gradients, ALL, [RESULT, SCATTERED, OF_WINDOW]),
        (tf.function(gradients), ALL, [RESULT, SCATTERED, OF_WINDOW]),
        (transposed, {INPUT: 16}, [SCATTERED]),
    ],
)
def test_every_way_of_running_a_convolution_runs_the_loops(run, products, values):
    results, counted, backends, _ = stepped(run)
    assert [np.squeeze(result).tolist() for result in results] == values
    assert counted == products
    assert backends <= {"__init__", "reference"}


@pytest.mark.parametrize(("eagerly", "into_the_images"), [(False, 0), (True, 72)])  # which a graph prunes
def test_fit_trains_by_the_loops_with_the_bits_of_the_reference(eagerly, into_the_images):
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((2, 4, 4, 1), dtype="float32"), np.int32([0, 1])
    start = [rng.standard_normal(shape, dtype="float32") for shape in ((3, 3, 1, 2), (2,), (8, 2), (2,))]

    def fit():
        layers = [keras.layers.Conv2D(2, 3), keras.layers.Flatten(), keras.layers.Dense(2)]
        model = keras.Sequential([keras.Input((4, 4, 1)), *layers])
        model.set_weights(start)
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(keras.optimizers.SGD(0.1), loss, run_eagerly=eagerly)
        model.fit(x, labels, epochs=2, verbose=0)
        return model.get_weights()

    weights, products, backends, _ = stepped(fit)
    # two steps of two images: a convolution of 2 * 2 cells, 9 taps and 2 channels, and a product of 8 by 2
    counts = {FORWARD: 72 + 16, FILTER: 72 + 16, INPUT: into_the_images + 16}
    assert products == {name: 2 * 2 * count for name, count in counts.items()}
    assert backends <= {"__init__", "reference"}
    with tc.use_backend("reference"):
        wanted, others, *_ = stepped(fit)
    assert not others
    assert all(np.array_equal(one, other) for one, other in zip(weights, wanted, strict=True))


def test_the_algorithm_is_that_of_calls_on_its_backend_which_name_none():
    def ran(**options):
        done = tc.trace(tc.conv2d, IMAGE, WINDOW, **options)
        return done.backend, done.algorithm

    assert ran() == ran(backend="reference") == ("reference", "loops")
    assert ran(algorithm="direct") == ran(algorithm="auto") == ("reference", "direct")
    assert ran(backend="numpy")[0] == "numpy"
    with tc.use_backend("reference"):
        assert ran() == ("reference", "direct")
    tc.set_backend("numpy", algorithm="taps")
    try:
        assert ran() == ("reference", "loops")  # the block goes before the process
        with tc.use_backend("numpy"):
            assert ran() == ("numpy", "im2col")
    finally:
        tc.set_backend(None)


@pytest.mark.parametrize(("label", "products"), [("", 16), ("reference", 16), ("numpy", 0)])
def test_a_session_whose_config_names_the_backend_runs_its_loops(label, products):
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder("float32", IMAGE.shape)
        y = tf.nn.conv2d(x, WINDOW, 1, "VALID")
        with tf.compat.v1.Session(config=tc.graph.ConfigProto(backend=label)) as session:
            value, counted, *_ = stepped(lambda: session.run(y, {x: IMAGE}))
    assert counted[FORWARD] == products
    assert value[0, :, :, 0].tolist() == RESULT


def test_a_call_that_the_algorithm_cannot_compute_is_refused():
    with tc.use_backend("cython", algorithm="winograd2"):
        with pytest.raises(ValueError, match="'winograd2' needs filters 3 x 3.* got filters \\(2, 2\\)"):
            tf.nn.conv2d(IMAGE, WINDOW, 1, "VALID")


def test_an_algorithm_that_the_backend_lacks_is_refused():
    for name in (tc.use_backend, tc.set_backend):
        with pytest.raises(ValueError, match="algorithm of backend 'reference' must be one of loops"):
            name("reference", algorithm="loop")
        with pytest.raises(ValueError, match="algorithm='loops' needs the name of the backend"):
            name(None, algorithm="loops")


def test_a_stream_and_a_plan_keep_the_algorithm():
    assert tc.plan(tc.conv2d, WINDOW, input_shape=IMAGE.shape).algorithm == "loops"
    value, products, *_ = stepped(lambda: tc.plan(tc.conv2d, WINDOW, input_shape=IMAGE.shape)(IMAGE))
    assert products == {FORWARD: 16}
    assert value[0, :, :, 0].tolist() == RESULT


@pytest.mark.parametrize("library", ["jax.numpy", "dask.array"])
def test_arrays_whose_calls_run_elsewhere_take_the_algorithm_along(library):
    module = pytest.importorskip(library)
    called = []
    from teachconv.backends import reference

    own = reference.conv2d_loops
    reference.conv2d_loops = lambda *args: called.append(args) or own(*args)
    try:
        value = np.asarray(tc.conv2d(module.asarray(IMAGE), module.asarray(WINDOW)))
    finally:
        reference.conv2d_loops = own
    assert called
    assert value[0, :, :, 0].tolist() == RESULT


def test_the_environment_variables_name_backend_and_algorithm_of_a_program():
    program = (
        "import numpy as np, teachconv as tc\n"
        "ran = tc.trace(tc.conv2d, np.ones((1, 3, 3, 1)), np.ones((2, 2, 1, 1)))\n"
        "print(ran.backend, ran.algorithm)"
    )

    def output(**variables):
        environment = os.environ | {"PYTHONPATH": str(Path(FOLDER).parent)} | variables
        return subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True
        )

    assert output(TEACHCONV_BACKEND="reference", TEACHCONV_ALGORITHM="loops").stdout == "reference loops\n"
    wrong = output(TEACHCONV_BACKEND="numpy", TEACHCONV_ALGORITHM="loops").stderr
    assert "must be one of auto, im2col, taps; got 'loops'" in wrong
