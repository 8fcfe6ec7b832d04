"""`gradients`, GradientTape and the optimizers: what they record, what they refuse, and long chains."""

import json
import sys
from collections import Counter

import numpy as np
import pytest
from recorders import record_tensorflow_jacobians
from recorders.snippets import FOLDER

import teachconv as tc
import teachconv.tf
from teachconv.truth import bounds

tg = tc.graph
RECORDED = FOLDER.parent


def tape_of(function, *sources, **options):
    with tg.GradientTape(**options) as tape:
        tape.watch([source for source in sources if not isinstance(source, tg.Variable)])
        result = function(*sources)
    return tape, result


# --- tape --------------------------------------------------------------------------------------------


def test_what_a_tape_watches():
    v, frozen = tg.Variable(3.0), tg.Variable(5.0, trainable=False)
    c = tg.constant(2.0)
    with tg.GradientTape() as tape:
        y = v * c * frozen
    assert tape.watched_variables() == (v,)
    sources = {"v": v, "frozen": [frozen], "c": (c,)}
    assert tape.gradient(y, sources) == {"v": tg.constant(10.0), "frozen": [None], "c": (None,)}
    with tg.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch({"a": [frozen, c]})
        y = v * c * frozen
    grads = tape.gradient(y, [v, frozen, c], unconnected_gradients="zero")
    assert [float(grad) for grad in grads] == [0.0, 6.0, 15.0]
    before = tg.square(v)  # made before the tape
    with tg.GradientTape() as tape:
        y = before * v
    assert float(tape.gradient(y, v)) == 9.0
    with tg.GradientTape() as tape:
        y = v * 2.0
        v.assign(4.0)
        y = y * v
    assert float(tape.gradient(y, v)) == 14.0  # 2 * 4 + 6, the values when they were read


def test_jacobians_are_tensorflow_s():
    recorded = json.loads((RECORDED / "tensorflow_jacobians.json").read_text())
    assert record_tensorflow_jacobians.jacobians(teachconv.tf) == recorded["jacobians"]


def test_jacobians_without_a_path_and_what_they_refuse():
    """As TensorFlow 2.21 answers."""
    x = tg.constant([[1.0, 2.0], [3.0, 4.0]])

    def jacobian(function, **options):
        tape, y = tape_of(function, x)
        return tape.jacobian(y, x, **options)

    assert jacobian(lambda x: tg.constant(3.0)) is None
    assert jacobian(lambda x: tg.constant([3.0]), unconnected_gradients="zero").shape == (2, 2)
    assert jacobian(lambda x: x[:0]).shape == (0, 2, 2, 2)
    tape, y = tape_of(lambda x: x * x, x)
    tape.jacobian(y, x)
    with pytest.raises(RuntimeError, match="can only be used to compute one set of gradients"):
        tape.jacobian(y, x)
    with pytest.raises(ValueError, match="target must hold tensors; got 3"):
        tape_of(lambda x: x, x)[0].jacobian(3, x)
    with tg.Graph().as_default():
        unknown = tg.placeholder("float32", [None])
        tape, y = tape_of(lambda x: x * x, unknown)
        with pytest.raises(ValueError, match="a Jacobian needs known shapes; target has"):
            tape.jacobian(y, unknown)


def test_targets_and_starts():
    x = tg.constant([1.0, 2.0])
    tape, (y, z) = tape_of(lambda x: (x * x, 3.0 * x), x, persistent=True)
    assert tape.gradient([y, z], x).numpy().tolist() == [5.0, 7.0]  # of the sum of all targets
    assert tape.gradient(y, x, tg.constant([10.0, 100.0])).numpy().tolist() == [20.0, 400.0]
    assert tape.gradient(
        {"a": y, "b": z}, x, {"a": tg.zeros([2]), "b": tg.constant([1.0, 0.0])}
    ).numpy().tolist() == [
        3,
        0,
    ]
    assert tape.gradient(x, x).numpy().tolist() == [1.0, 1.0]
    assert tape.gradient(z, y) is None
    assert tape.gradient(tg.constant(1.0), x) is None


def test_a_tape_is_used_once_unless_it_is_persistent(caplog):
    x = tg.constant(3.0)
    tape, y = tape_of(tg.square, x)
    tape.gradient(y, x)
    with pytest.raises(
        RuntimeError, match="A non-persistent GradientTape can only be used to compute one set"
    ):
        tape.gradient(y, x)
    with tg.GradientTape() as tape:
        tape.watch(x)
        y = tg.square(x)
        assert float(tape.gradient(y, x)) == 6.0  # inside its own block
        z = y * x  # is no longer recorded
    with pytest.raises(RuntimeError, match=r"has no records: ask with GradientTape\(persistent=True\)"):
        tape.why_none(x)  # said that no op had read it
    with tg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        first = tape.gradient(y, x)  # and this is recorded
    assert float(tape.gradient(first, x)) == 2.0
    with pytest.raises(ValueError, match="still recording"), tape, tape:
        pass
    assert float(z) == 27.0


def test_what_a_tape_refuses(caplog):
    x = tg.constant(3.0)
    tape, y = tape_of(tg.square, x, persistent=True)
    for call, message in (
        (lambda: tape.watch(np.ones(2)), "Passed in object .* of type 'ndarray', not tf.Tensor"),
        (lambda: tape.gradient(y, [np.ones(2)]), "sources must hold tensors and variables"),
        (lambda: tape.gradient(np.ones(2), x), "target must hold tensors"),
        (
            lambda: tape.gradient(y, x, unconnected_gradients="nought"),
            "must be one of none, zero; got 'nought'",
        ),
        (lambda: tape.gradient(y, x, [1.0, 2.0]), "one gradient for each of the 1 ys; got 2"),
        (
            lambda: tape.gradient(y, x, tg.ones([2])),
            r"shape and dtype of its y, \(\) and float32; got \(2,\)",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    tape, y = tape_of(lambda x: tg.reduce_prod(tg.stack([x, x])), x)
    with pytest.raises(LookupError, match="No gradient defined for operation 'Prod' .op type: Prod"):
        tape.gradient(y, x)
    whole = tg.constant(3)
    with caplog.at_level("WARNING"):
        tape, y = tape_of(tg.square, whole)
        assert tape.gradient(y, whole) is None
    assert "dtype of the watched tensor must be floating" in caplog.text
    assert "dtype of the target tensor must be floating" in caplog.text


def test_casts_to_integers_end_the_gradient():
    x = tg.constant([1.5, 2.5])
    tape, y = tape_of(
        lambda x: tg.cast(tg.cast(x, "int32"), "float32") * 2.0 + tg.cast(x > 2.0, "float32"), x
    )
    assert tape.gradient(y, x) is None


def test_a_tape_in_a_graph_and_in_a_function():
    v = tg.Variable([1.0, 2.0])

    def gradient(x):
        with tg.GradientTape() as outer:
            outer.watch(x)
            with tg.GradientTape() as inner:
                inner.watch(x)
                y = tg.reduce_sum(x * x * x * v)
            first = inner.gradient(y, x)
        return [first, *outer.gradient(first, [x, v])]

    x = tg.constant([3.0, -1.0])
    eager = [value.numpy().tolist() for value in gradient(x)]
    assert eager == [[27.0, 6.0], [18.0, -12.0], [27.0, 3.0]]
    assert [value.numpy().tolist() for value in tc.function(gradient)(x)] == eager
    with tg.Graph().as_default() as graph:
        w, fixed = tg.Variable([1.0, 2.0]), tg.constant([5.0, 5.0])
        with tg.GradientTape() as tape:
            y = tg.reduce_sum(w * w * fixed)
        assert tape.watched_variables() == (w,)
        dw, none = tape.gradient(y, [w, fixed])
        assert none is None
        assert "gradient_tape/mul_1/Mul" in [op.name for op in graph.get_operations()]
        with tg.Session() as session:
            session.run(tg.global_variables_initializer())
            assert session.run(dw).tolist() == [10.0, 20.0]


def test_calls_of_functions_are_differentiated_with_what_they_computed():
    """Random numbers of the forward call are those of the backward call: nothing is computed twice."""
    v, k = tg.Variable([1.0, 2.0]), tg.constant([3.0, 4.0])

    @tc.function
    def noisy(x, n):
        noise = tg.random_normal([2])
        return {"y": x * noise * v + k, "noise": noise, "n": n + 1}

    x = tg.constant([2.0, -1.0])
    with tg.GradientTape() as tape:
        tape.watch([x, k])
        result = noisy(x, np.int32(1))
        loss = tg.reduce_sum(tg.square(result["y"]))
    dx, dv, dk = tape.gradient(loss, [x, v, k])
    above, noise = 2 * result["y"].numpy(), result["noise"].numpy()
    for grad, want in ((dx, above * noise * v.numpy()), (dv, above * noise * x.numpy()), (dk, above)):
        assert bounds.judge(grad.numpy(), want, bounds.direct(abs(want), 8, want.dtype)).passed
    assert int(result["n"]) == 2


def test_second_derivatives_through_a_call_of_a_function():
    cube = tc.function(lambda x: tg.tanh(x) * x * x)
    x = tg.constant(np.array([0.5, -1.25]))

    def twice(function, x=x):
        with tg.GradientTape() as outer:
            outer.watch(x)
            with tg.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            first = inner.gradient(y, x)
        return outer.gradient(first, x)

    plain = twice(lambda x: tg.tanh(x) * x * x)
    t = np.tanh(x.numpy())
    exact = (1 - t * t) * (4 * x.numpy() - 2 * t * x.numpy() ** 2) + 2 * t
    for result in (plain, twice(cube), tc.function(lambda x: twice(cube, x))(x)):
        assert bounds.judge(result.numpy(), exact, bounds.direct(abs(exact) + 4, 64, exact.dtype)).passed


def test_find_source_follows_a_gradient():
    x, w = tg.constant(np.ones((1, 4, 4, 1), "float32")), tg.Variable(np.ones((3, 3, 1, 2), "float32"))
    with tg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tg.nn.relu(tg.nn.conv2d(x, w))
    steps = tg.find_source(tape.gradient, y, [x, w]).steps
    assert [step.name for step in steps[:4]] == ["gradient", "backpropagate", "_relu_grad", "_conv2d_grad"]
    ran = [step.name for step in steps if step.what == "compute"]
    assert {f"{name}Op.compute" for name in ("ReluGrad", "Conv2DBackpropInput", "Conv2DBackpropFilter")} <= {
        *ran
    }
    assert len([step for step in steps if step.what == "backend"]) == 2  # what ran, and no alternatives
    with tg.Graph().as_default():
        image = tg.placeholder("float32", [None, 4, 4, 1])
        with tg.name_scope("layer"):
            z = tg.nn.conv2d(image, tg.ones([3, 3, 1, 2]), name="conv")
        (dx,) = tg.gradients(z, image)
    chain = tg.find_source(dx)
    assert [step.name for step in chain.steps[:2]] == [dx.op.name, "_conv2d_grad"]
    assert chain.steps[0].file.endswith("test_tape.py")
    # the kernel and the lines are those of conv2d_transpose, which has those of the other backends too
    transpose = tg.find_source("conv2d_transpose")
    assert chain.lines
    assert set(chain.lines) <= set(transpose.lines)
    assert {step for step in chain.steps if step.what == "kernel"} <= set(transpose.steps)
    assert tg.find_source(z.op).steps[1].name == "conv2d"


# --- gradients ----------------------------------------------------------------------------------------


def test_what_gradients_takes_and_refuses():
    with tg.Graph().as_default() as graph:
        x, y = tg.placeholder("float32", [2], name="x"), tg.placeholder("float32", [2], name="y")
        z = x * y
        half = tg.stop_gradient(z)
        assert tg.gradients(z, [x, tg.constant(1.0)])[1] is None
        zero = tg.gradients(half, x, unconnected_gradients="zero")
        stopped = tg.gradients(z * x, [x], stop_gradients=[z], name="stopped")
        started = tg.gradients([z, x], x, [[1.0, 2.0], None])
        count = len(graph.get_operations())
        with pytest.raises(ValueError, match="one gradient for each of the 1 ys; got 2"):
            tg.gradients(z, x, [None, None])
        with pytest.raises(TypeError, match="takes tensors and variables of a graph; got 'x'"):
            tg.gradients(z, "x")
        assert len(graph.get_operations()) == count
        with tg.Graph().as_default(), pytest.raises(ValueError, match="ys must be of the default graph"):
            tg.gradients(z, x)
        feed = {x: [3.0, 4.0], y: [5.0, 6.0]}
        with tg.Session() as session:
            assert session.run(zero, feed)[0].tolist() == [0.0, 0.0]
            assert session.run(stopped, feed)[0].tolist() == [15.0, 24.0]
            assert session.run(started, feed)[0].tolist() == [6.0, 13.0]
    with pytest.raises(RuntimeError, match="Use GradientTape instead"):
        tg.gradients(tg.constant(1.0), tg.constant(1.0))


def test_variables_and_their_reads_are_sources():
    with tg.Graph().as_default():
        w = tg.Variable([2.0, 3.0], name="w")
        y = tg.reduce_sum(w * w + w.read_value())
        both = tg.gradients(y, [w, w.value()])
        with tg.Session() as session:
            session.run(tg.global_variables_initializer())
            assert [grad.tolist() for grad in session.run(both)] == [[5.0, 7.0], [4.0, 6.0]]


def test_a_gradient_of_the_wrong_shape_or_number_is_refused():
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [2, 3])
        for name, function, message in (
            ("TwoOfOne", lambda op, grad: (grad, grad), "one gradient for each of the 1 inputs .*; got 2"),
            ("Narrow", lambda op, grad: tg.reduce_sum(grad, 1), r"must have the shape \(2, 3\)"),
        ):
            tg.RegisterGradient(name)(function)
            with graph.gradient_override_map({"Square": name}):
                y = tg.square(x)
            with pytest.raises(ValueError, match=message):
                tg.gradients(y, x)


def test_a_registered_gradient_overrides_that_of_the_op():
    tg.RegisterGradient("StraightThroughInTests")(lambda op, grad: grad)
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [2])
        with graph.gradient_override_map({"Sign": "StraightThroughInTests"}):
            y = tg.sign(x) * 3.0
        (dx,) = tg.gradients(y, x)
        with tg.Session() as session:
            assert session.run(dx, {x: [-2.0, 5.0]}).tolist() == [3.0, 3.0]


def test_a_chain_of_3000_nodes_neither_overflows_nor_goes_quadratic():
    """It counts how often the walk touches a tensor: twice as long a chain takes twice as many steps."""
    from teachconv.graph.gradients import gradients_util

    def steps(length):
        touched = 0

        class Op:
            def __init__(self, inputs):
                self.inputs, self.outputs, self.name, self.attrs = inputs, [Tensor(self)], "op", {}
                self.type = "Identity"

        class Tensor:
            dtype = np.dtype("float32")

            def __init__(self, op):
                self.op = op

        def producer(tensor):
            nonlocal touched
            touched += 1
            return tensor.op

        first = tensor = Tensor(None)
        for _ in range(length):
            tensor = Op([tensor]).outputs[0]
        grad = type("Grad", (), {})()  # Identity's gradient hands it on
        assert gradients_util.backpropagate([tensor], [grad], [first], producer) == [grad]
        return touched

    assert steps(6_000) < 2.1 * steps(3_000)
    with tg.Graph().as_default():
        x = y = tg.placeholder("float32", [])
        for _ in range(3_000):
            y = tg.identity(y)
        assert tg.gradients(y, x)[0].shape == ()


# --- unknown batch and training -------------------------------------------------------------------------


def test_a_network_with_an_unknown_batch_learns():
    rng = np.random.default_rng(3)
    images = rng.standard_normal((24, 6, 6, 1)).astype("float32")
    labels = (images.mean(axis=(1, 2, 3)) > 0).astype("int32")
    with tg.Graph().as_default():
        tg.set_random_seed(1)
        x = tg.placeholder("float32", [None, 6, 6, 1])
        y = tg.placeholder("int32", [None])
        w = tg.Variable(tg.truncated_normal([3, 3, 1, 4], stddev=0.5), name="w")
        b = tg.Variable(tg.zeros([4]), name="b")
        up = tg.Variable(tg.truncated_normal([2, 2, 2, 4], stddev=0.5), name="up")
        dense = tg.Variable(tg.truncated_normal([72, 2], stddev=0.2), name="dense")
        hidden = tg.nn.max_pool(tg.nn.relu(tg.nn.bias_add(tg.nn.conv2d(x, w, 1, "SAME"), b)), 2, 2, "VALID")
        larger = tg.nn.conv2d_transpose(hidden, up, [tg.shape(x)[0], 6, 6, 2], 2)
        assert larger.shape == (None, 6, 6, 2)
        logits = tg.matmul(tg.reshape(larger, [-1, 72]), dense)
        loss = tg.reduce_mean(tg.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        step = tg.train.AdamOptimizer(0.03).minimize(loss)
        losses = []
        with tg.Session() as session:
            session.run(tg.global_variables_initializer())
            for _ in range(12):
                for part in (slice(0, 8), slice(8, 24)):  # batches of two sizes
                    _, value = session.run([step, loss], {x: images[part], y: labels[part]})
                losses.append(value)
    assert losses[-1] < 0.5 * losses[0]


def test_optimizers_run_eagerly_and_in_functions():
    def steps(decorate):
        v = tg.Variable([1.0, -2.0], name="v")
        optimizer = tg.train.MomentumOptimizer(0.125, 0.5)
        count = tg.Variable(0, trainable=False)

        def step():
            with tg.GradientTape() as tape:
                loss = tg.reduce_sum(tg.square(v))
            optimizer.apply_gradients([(tape.gradient(loss, v), v)], global_step=count)

        run = decorate(step)
        for _ in range(3):
            run()
        assert int(count.numpy()) == 3
        return v.numpy().tolist(), optimizer.get_slot(v, "momentum").numpy().tolist()

    eager = steps(lambda function: function)
    assert eager == steps(tc.function)


def test_what_optimizers_refuse():
    optimizer = tg.train.GradientDescentOptimizer(0.1)
    v = tg.Variable(1.0)
    with pytest.raises(RuntimeError, match="need a graph: eagerly, a GradientTape"):
        optimizer.minimize(tg.constant(1.0), var_list=[v])
    with pytest.raises(TypeError, match="pairs with a Variable; got 'v'"):
        optimizer.apply_gradients([(tg.constant(1.0), "v")])
    with pytest.raises(ValueError, match=r"delta of ApplyGradientDescent must have shape \[\]; got \[2\]"):
        optimizer.apply_gradients([(tg.ones([2]), v)])
    with tg.Graph().as_default():
        with pytest.raises(ValueError, match="No variables to optimize"):
            optimizer.minimize(tg.constant(1.0))
        tg.Variable(1.0)
        with pytest.raises(ValueError, match="No gradients provided for any variable"):
            optimizer.minimize(tg.constant(1.0))
    assert v.numpy() == 1.0


def test_keras_momentum_scales_each_gradient_by_the_rate_of_its_own_step():
    from teachconv.graph.ops import gen_nn_ops

    for nesterov in (False, True):
        v, velocity = tg.Variable([1.0, 2.0]), tg.Variable([0.5, -0.5], trainable=False)
        gen_nn_ops.resource_apply_keras_momentum(v, velocity, 0.5, [1.0, 2.0], 0.5, use_nesterov=nesterov)
        assert velocity.numpy().tolist() == [-0.25, -1.25]  # 0.5 * velocity - 0.5 * gradient
        step = [0.5 * -0.25 - 0.5, 0.5 * -1.25 - 1.0] if nesterov else [-0.25, -1.25]
        assert v.numpy().tolist() == [1.0 + step[0], 2.0 + step[1]]


@pytest.mark.parametrize("name", ["GradientDescent", "Momentum", "Adam"])
def test_optimizers_update_a_variable_without_axes_as_one_of_one_element(name):
    results = []
    for start, gradient in ((1.0, 0.5), ([1.0], [0.5])):
        momentum = (0.5,) if name == "Momentum" else ()
        optimizer, v = getattr(tg.train, f"{name}Optimizer")(0.125, *momentum), tg.Variable(start)
        for _ in range(2):
            optimizer.apply_gradients([(tg.constant(gradient), v)])
        assert v.numpy().shape == np.shape(start)
        results.append(np.ravel(v.numpy()).tolist())
    assert results[0] == results[1] != [1.0]


def test_a_chain_in_a_function_takes_twice_the_steps_for_twice_the_length():
    """Of each function of the package, from tracing and the backward function to the run, by its lines."""

    def lines_of(length):
        counts = Counter()

        def line(frame, event, _):
            counts[frame.f_code] += event == "line"
            return line

        def call(frame, event, _):
            return line if "teachconv" in frame.f_code.co_filename else None

        @tc.function
        def chain(x):
            for _ in range(length):
                x = x * 2.0
            return x

        x, before = tg.constant(1.0), sys.gettrace()
        sys.settrace(call)
        try:
            with tg.GradientTape() as tape:
                tape.watch(x)
                y = chain(x)
            assert float(tape.gradient(y, x)) == 2.0**length
        finally:
            sys.settrace(before)
        return counts

    lines_of(2)  # what is computed once, such as the geometry of a shape
    one, two = lines_of(30), lines_of(60)
    steep = {code.co_qualname: two[code] / one[code] for code in two if two[code] > 2.1 * one[code] + 100}
    assert steep == {}


@pytest.mark.parametrize("trainable", [True, False])
def test_a_variable_that_is_watched_in_a_graph_has_a_gradient(trainable):
    """Whether or not the tape watches by itself, and also where the variable was read before."""

    def of_cube(v, **options):
        with tg.GradientTape(**options) as tape:
            tape.watch(v)
            y = v * v * v
        return tape.gradient(y, v)

    with tg.Graph().as_default():
        v = tg.Variable(2.0, trainable=trainable)
        grads = [of_cube(v), of_cube(v, watch_accessed_variables=False)]
        with tg.GradientTape(watch_accessed_variables=False) as tape:
            y = v * v
        assert tape.gradient(y, v) is None
        with tg.Session() as session:
            session.run(v.initializer)
            assert session.run(grads) == [12.0, 12.0]
    eager = tg.Variable(2.0, trainable=trainable)
    assert float(tg.function(lambda: of_cube(eager, watch_accessed_variables=False))()) == 12.0
    assert float(of_cube(eager, watch_accessed_variables=False)) == 12.0
