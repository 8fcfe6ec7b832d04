"""teachconv.function: traces, signatures, side effects, variables."""

import logging
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.graph.framework.op_kernel import OpKernelContext

tg = tc.graph


def test_python_runs_while_tracing_and_at_no_other_time():
    seen = []

    @tc.function
    def double(x):
        seen.append(x)
        return x + x

    for i in range(3):
        assert double(np.float32([i])).numpy().tolist() == [2 * i]
    assert len(seen) == 1
    assert isinstance(seen[0], tg.Tensor)
    assert double(np.float32([[1]])).numpy().tolist() == [[2]]
    assert double(np.int32([1])).dtype == "int32"
    assert len(seen) == 3
    assert [record.reason for record in double.trace_log] == [
        "the first call",
        "x: (1,) float32 -> (1, 1) float32",
        "x: (1,) float32 -> (1,) int32",
    ]
    assert repr(double).endswith("double, traced 3 times>")


def test_python_values_are_part_of_the_signature(caplog):
    @tc.function
    def power(x, times, flag=False, *, extra=()):
        for _ in range(times):
            x = x * x
        return [x, {"flag": flag, "extra": extra}]

    with caplog.at_level(logging.INFO, "teachconv.graph"):
        assert power(np.float32([2]), 1)[0] == 4
        result = power(np.float32([2]), times=2, flag=True, extra=("a",))
    assert result[0] == 16
    assert result[1] == {"flag": True, "extra": ("a",)}
    assert power(np.float32([3]), 1, False)[0] == 9  # defaults given or left out: the same signature
    assert len(power.trace_log) == 2
    assert "times: 1 -> 2; flag: False -> True; extra: tuple of 0 -> tuple of 1" in power.trace_log[1].reason
    assert "trace 2: times: 1 -> 2" in caplog.text
    with pytest.raises(TypeError, match="extra must be an array, a hashable Python value"):
        power(np.float32([1]), 1, extra={1, 2})


def test_structures_of_arrays_become_placeholders():
    @tc.function
    def dense(layers, x):
        for layer in layers:
            x = tg.matmul(x, layer["w"]) + layer["b"]
        return x, None

    layers = [{"w": np.eye(2, dtype="float32") * i, "b": np.float32([i, 0])} for i in (1, 2)]
    x = np.float32([[1, 2]])
    got, nothing = dense(layers, x)
    assert nothing is None
    assert (
        got.numpy().tolist()
        == ((x @ layers[0]["w"] + layers[0]["b"]) @ layers[1]["w"] + layers[1]["b"]).tolist()
    )
    concrete = dense.get_concrete_function(layers, x)
    names = [tensor.op.name for tensor in concrete.inputs]
    assert names == ["layers_0_w", "layers_0_b", "layers_1_w", "layers_1_b", "x"]
    dense(layers[::-1], x)
    assert len(dense.trace_log) == 1
    dense(layers[:1], x)
    assert "layers: list of 2 -> list of 1" in dense.trace_log[1].reason


def test_what_is_traced_must_be_callable():
    with pytest.raises(TypeError, match="python_function must be callable"):
        tc.function(3)


def test_concrete_functions():
    @tc.function
    def scale(x, factor):
        return x * factor

    concrete = scale.get_concrete_function(tg.TensorSpec([None, 3], "float32"), 2.0)
    for rows in (1, 4):
        assert (concrete(np.ones((rows, 3), "float32")).numpy() == 2).all()
    with pytest.raises(ValueError, match=r"must have shape \(None, 3\)"):
        concrete(np.ones((1, 2)))
    with pytest.raises(ValueError, match="takes 1 arrays"):
        concrete()
    assert [op.type for op in concrete.graph.get_operations()] == ["Placeholder", "Const", "Mul", "Identity"]


def test_the_graph_is_optimised_and_can_be_profiled(rng):
    w, b = rng.standard_normal((3, 3, 2, 4)).astype("float32"), rng.standard_normal(4).astype("float32")

    @tc.function
    def layer(x):
        scale = tg.constant(2.0) * 1.5
        return tg.nn.relu(tg.nn.bias_add(tg.nn.conv2d(x, w, padding="SAME"), b)) * scale

    x = rng.standard_normal((1, 5, 5, 2)).astype("float32")
    result, metadata = layer.profile(x)
    assert np.array_equal(result, layer(x))
    kinds = {rewrite.optimizer for rewrite in metadata.rewrites}
    assert kinds == {"constant folding", "remapper"}
    assert np.array_equal(result, 3 * np.maximum(tc.conv2d(x, w, padding="SAME", bias=b), 0))

    @tc.function(config=tg.ConfigProto(False, False, False, backend="numpy"))
    def plain(x):
        return layer(x)  # inside a trace the Python function itself is called

    _, metadata = plain.profile(x)
    assert metadata.rewrites == ()
    assert {node.backend for node in metadata.nodes} == {"", "numpy"}


@pytest.mark.parametrize("first", [tc.find_source, lambda function, x: function(x)])
def test_what_traced_a_function_first_is_no_line_of_the_program(first):
    doubled = tc.function(lambda x: x + x)
    first(doubled, np.float32(1))
    _, metadata = doubled.profile(np.float32(1))
    assert {Path(node.made_at.rpartition(":")[0]).name for node in metadata.nodes} == {Path(__file__).name}


def test_variables_are_captured_and_assigned():
    counter = tg.Variable(0.0, name="counter")
    history = []

    @tc.function
    def step(x):
        before = counter.read_value()
        counter.assign_add(x)
        history.append("traced")
        counter.assign(counter * 2.0)
        return before, counter

    x = np.float32(1)
    assert step(x) == (0, 2)
    assert step(x) == (2, 6)
    assert counter.numpy() == 6
    counter.assign(10.0)
    assert step(x) == (10, 22)
    assert history == ["traced"]


def test_a_function_reads_a_variable_by_the_op_that_tensorflow_s_has():
    """The names and ops of TensorFlow 2.21, where a Placeholder of dtype resource takes the place of w."""
    w = tg.Variable(np.ones((3, 3, 1, 2), "float32"), name="w")

    @tc.function
    def layer(x):
        return tg.nn.conv2d(x, w, 1, "SAME")

    concrete = layer.get_concrete_function(tg.TensorSpec([1, 5, 5, 1], "float32"))
    assert [(op.name, op.type) for op in concrete.graph.get_operations()] == [
        ("x", "Placeholder"),
        ("w", "Variable"),
        ("Conv2D/ReadVariableOp", "ReadVariableOp"),
        ("Conv2D", "Conv2D"),
        ("Identity", "Identity"),
    ]


def test_accesses_to_a_variable_keep_the_program_s_order():
    """Control dependencies are added while a function is traced, as TensorFlow 2 does."""
    v = tg.Variable(0.0, name="v")

    @tc.function
    def program():
        reads = []
        for i in range(10):
            v.assign(float(i))
            reads.append(v.read_value())
        return reads

    concrete = program.get_concrete_function()
    assert [float(value) for value in program()] == list(range(10))
    assign, read = (
        [op for op in concrete.graph.get_operations() if op.type == kind][1]
        for kind in ("Assign", "ReadVariableOp")
    )
    assert assign in read.control_inputs or assign in {tensor.op for tensor in read.inputs}
    executable = concrete._executable(tg.ConfigProto())
    for seed in range(5):
        values = executable.run(OpKernelContext({"v": v._storage}), None, seed)
        assert values == list(range(10))


def test_a_failed_call_leaves_what_it_assigned():
    v = tg.Variable(1.0, name="v")

    @tc.function
    def fails(x, y):
        with tg.control_dependencies([v.assign(5.0)]):
            return tg.matmul(x, y)

    spec = tg.TensorSpec([None, None], "float32")
    concrete = fails.get_concrete_function(spec, spec)
    with pytest.raises(tg.InvalidArgumentError, match=r"node 'MatMul' .*test_function.py:"):
        concrete(np.ones((2, 3)), np.ones((2, 3)))
    assert v.numpy() == 5
    v.assign(1.0)
    concrete(np.ones((2, 3)), np.ones((3, 2)))
    assert v.numpy() == 5


def test_errors_while_tracing_leave_no_trace():
    v = tg.Variable(1.0, name="v")

    @tc.function
    def f(x, wrong):
        v.assign(2.0)
        if wrong:
            raise RuntimeError("while tracing")
        return x + v

    with pytest.raises(RuntimeError, match="while tracing"):
        f(np.float32(1), True)
    assert f.trace_log == []
    assert v.numpy() == 1
    assert tg.executing_eagerly()
    assert f(np.float32(1), False) == 3
    with tg.Graph().as_default():
        foreign = tg.constant(1.0, name="foreign")
    with pytest.raises(ValueError, match="'foreign:0' belongs to a graph that does not enclose"):
        tc.function(lambda: foreign)()


def test_methods_trace_for_each_object():
    class Scale:
        def __init__(self, factor):
            self.factor = factor

        @tc.function
        def apply(self, x):
            return x * self.factor

    two, three = Scale(2.0), Scale(3.0)
    x = np.float32([1])
    assert (two.apply(x), three.apply(x), two.apply(x)) == (2, 3, 2)
    assert len(two.apply.trace_log) == 1
    assert isinstance(Scale.apply, tg.Function)


def test_arrays_from_outside_are_constants():
    w = np.float32([1])

    @tc.function
    def f(x):
        return x + w

    assert f(np.float32([1])) == 2
    w[0] = 5  # not seen: the graph holds the value of the trace, as TensorFlow's does
    assert f(np.float32([1])) == 2


# --- variables made inside, functions inside functions, captured tensors -----------------------------


def test_a_variable_may_be_made_on_the_first_call_only():
    made = []

    @tc.function
    def scale(x):
        if not made:
            made.append(tg.Variable(tg.constant(2.0) + 1.0, name="factor"))
        return x * made[0]

    assert float(scale(np.float32(2))) == 6
    made[0].assign(5.0)
    assert float(scale(np.float32(2))) == 10
    assert scale(np.ones(2, "float32")).numpy().tolist() == [5, 5]
    assert [record.reason for record in scale.trace_log][
        1
    ] == "the trace before made factor; this one makes none"
    assert made[0].graph is None

    @tc.function
    def again(x):
        return x * tg.Variable(2.0)

    with pytest.raises(ValueError, match="only supports singleton tf.Variables created on the first call"):
        again(np.float32(1))

    @tc.function
    def depends(x):
        return tg.Variable(x * 2.0)

    with pytest.raises(ValueError, match="initial_value must not depend on the arguments of 'depends'"):
        depends(np.float32(1))


def test_a_function_in_a_function_is_a_call_node():
    v = tg.Variable(1.0, name="v")

    @tc.function
    def square(x):
        return tg.square(x)

    @tc.function
    def step(x):
        v.assign_add(x)
        return {"v": v.read_value(), "constant": 3}

    @tc.function
    def outer(x):
        first = step(square(x))
        second = step(x)
        return [first, second, v.read_value()]

    got = outer(np.float32(3))
    assert [float(got[0]["v"]), float(got[1]["v"]), float(got[2])] == [10, 13, 13]
    assert got[0]["constant"] == 3
    assert v.numpy() == 13
    concrete = outer.get_concrete_function(np.float32(3))
    calls = [op for op in concrete.graph.get_operations() if "PartitionedCall" in op.type]
    assert [op.name for op in calls] == [
        "PartitionedCall",
        "StatefulPartitionedCall",
        "StatefulPartitionedCall_1",
    ]
    assert calls[0].get_attr("f").name == "square"
    assert [op.type for op in calls[0].get_attr("f").graph.get_operations()] == [
        "Placeholder",
        "Square",
        "Identity",
    ]
    assert calls[1] in calls[2].control_inputs  # the program's order
    _, metadata = outer.profile(np.float32(3))
    assert {"Square", "AssignAdd", "StatefulPartitionedCall"} <= {node.op for node in metadata.nodes}
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [None], name="x")
        y = square(x)
        assert y.shape == (None,)
        with tg.Session(graph) as session:
            assert session.run(y, {x: [1, 2, 3]}).tolist() == [1, 4, 9]


def test_an_error_in_a_function_names_the_inner_and_the_outer_node():
    @tc.function
    def product(x, y):
        return tg.matmul(x, y)

    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [None, None])
        y = product(x, x)
    with tg.Session(graph) as session:
        with pytest.raises(tg.InvalidArgumentError, match="node 'PartitionedCall' .*: node 'MatMul' "):
            session.run(y, {x: np.ones((2, 3))})


def test_tensors_from_outside_are_captured():
    t = tg.constant([1.0, 2.0])

    @tc.function
    def f(x):
        return [x + t, t]

    got = f(np.float32([1, 1]))
    assert [value.numpy().tolist() for value in got] == [[2, 3], [1, 2]]
    with tg.Graph().as_default() as graph:
        a = tg.placeholder("float32", [], name="a")

        @tc.function
        def g(x):
            @tc.function
            def inner(y):
                return x * y + a

            return inner(x)

        y = g(tg.constant(3.0))
    with tg.Session(graph) as session:
        assert session.run(y, {a: 1}) == 10
    with tg.Graph().as_default():
        foreign = tg.constant(1.0, name="foreign")
    with pytest.raises(ValueError, match="'foreign:0' belongs to a graph that does not enclose"):
        tc.function(lambda x: x + foreign)(np.float32(1))


def test_a_shape_may_hold_sizes_that_only_the_run_knows():
    @tg.function
    def filled(x):
        rows = tg.shape(x)[0]
        return tg.zeros([rows, 3]), tg.ones((2, rows), "int32"), tg.fill([rows], 2.0)

    traced = filled.get_concrete_function(tg.TensorSpec([None, 2], "float32"))
    values = [value.numpy().tolist() for value in traced(np.ones((2, 2), "float32"))]
    assert values == [[[0, 0, 0], [0, 0, 0]], [[1, 1], [1, 1]], [2, 2]]
