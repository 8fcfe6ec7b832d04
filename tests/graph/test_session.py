"""Graph and session: names and scopes, fetches and feeds, variables, and errors that change nothing."""

import threading
from collections import namedtuple

import numpy as np
import pytest

import teachconv as tc
from teachconv.graph.framework.node_def import from_operation, sorted_nodes

tg = tc.graph


@pytest.fixture
def graph():
    with tg.Graph().as_default() as graph:
        yield graph


def test_importing_teachconv_does_not_import_the_graph():
    import subprocess
    import sys

    code = "import sys, teachconv; assert 'teachconv.graph' not in sys.modules; teachconv.function"
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'grahp'"):
        tc.grahp  # noqa: B018


# --- names and scopes --------------------------------------------------------------------------------


def test_names_are_made_unique_as_tensorflow_does(graph):
    names = [tg.constant(1.0, name=name).op.name for name in ("a", "a", "A", "a_1", "a")]
    assert names == ["a", "a_1", "A_2", "a_1_1", "a_3"]
    with graph.name_scope("layer") as scope:
        assert tg.constant(1.0).op.name == "layer/Const"
        with tg.name_scope("inner"):
            assert tg.constant(1.0).op.name == "layer/inner/Const"
        with tg.name_scope(None):
            assert tg.constant(1.0).op.name == "Const"
    with graph.name_scope("layer"):
        assert tg.constant(1.0).op.name == "layer_1/Const"
    with graph.name_scope(scope):
        assert tg.constant(1.0).op.name == "layer/Const_1"
        assert graph.unique_name("_x") == "layer/_x"
    for bad in ("", "-x", "_x", "a b", "a:0", 3):
        with pytest.raises(ValueError, match="name must be letters"):
            graph.unique_name(bad)


def test_tensors_have_no_value(graph):
    x = tg.placeholder("float32", [2], name="x")
    with pytest.raises(TypeError, match="'x:0' is a tensor of a graph and has no length"):
        len(x)
    with pytest.raises(tg.OperatorNotAllowedInGraphError, match="'x:0' has no value"):
        list(x)
    with pytest.raises(NotImplementedError, match=r"Cannot convert a symbolic tf.Tensor \(x:0\)"):
        np.asarray(x)
    with pytest.raises(tg.OperatorNotAllowedInGraphError, match=r"AutoGraph would .*tf.where\(pred, x, y"):
        bool(x)
    assert repr(x) == "<tf.Tensor 'x:0' shape=(2,) dtype=float32>"
    assert repr(x.op) == "<tf.Operation 'x' type=Placeholder>"


def test_operations_know_the_line_that_made_them(graph):
    x = tg.nn.relu(np.ones(2, "float32")).op
    assert x.file == __file__
    with open(x.file) as source:
        assert "tg.nn.relu(np.ones(2" in source.read().splitlines()[x.line - 1]
    assert x.get_attr("T") == "float32"
    with pytest.raises(ValueError, match="Relu has no attribute 'U'; it has T"):
        x.get_attr("U")


def test_lookups_name_what_is_missing(graph):
    tg.constant(1.0, name="one")
    assert graph.get_tensor_by_name("one:0").op is graph.get_operation_by_name("one")
    with pytest.raises(ValueError, match="no operation 'two'; it has one"):
        graph.get_operation_by_name("two")
    with pytest.raises(ValueError, match="such as \"one:0\"; got 'one'"):
        graph.get_tensor_by_name("one")
    with pytest.raises(ValueError, match="has 1 outputs; got 'one:1'"):
        graph.get_tensor_by_name("one:1")


def test_operators_work_with_numbers_and_arrays_on_either_side(graph):
    x = tg.placeholder("float32", [2, 2], name="x")
    array = np.float32([[1, 2], [3, 4]])
    results = [1 + x, x + 1, 1 - x, x - 1, 2 * x, array + x, array @ x, x @ array, array - x, array * x]
    with tg.Session() as session:
        got = session.run(results, {x: array})
    want = [1 + array, array + 1, 1 - array, array - 1, 2 * array]
    want += [array + array, array @ array, array @ array, array - array, array * array]
    assert all(np.array_equal(a, b) for a, b in zip(got, want, strict=True))


def test_nodes_run_in_the_order_of_their_creation_and_what_passes_add_follows_its_source():
    config = tg.ConfigProto(device_count={"CPU": 2})
    with tg.Graph().as_default() as graph:
        with graph.device("/cpu:1"):
            x = tg.identity(tg.placeholder("float32", [2], name="x"), name="there")
        y = tg.add(x, 1.0, name="here")
    metadata = tg.RunMetadata()
    with tg.Session(graph, config) as session:
        session.run(y, {graph.get_tensor_by_name("x:0"): [1, 2]}, run_metadata=metadata)
    ops = [node.op for node in metadata.nodes if node.op not in ("_Arg", "Const")]
    assert ops[-4:] == ["Identity", "_Send", "_Recv", "Add"]
    nodes = {op.name: from_operation(op) for op in graph.get_operations()}
    assert [node.name for node in sorted_nodes(dict(reversed(nodes.items())))] == list(nodes)


def test_a_failed_wrapper_adds_no_node_of_its_own(graph):
    """Its arguments have become nodes by then, and stay, as in TensorFlow."""
    x = tg.placeholder("float32", [1, 4, 4, 1], name="x")
    for fails, left in (
        (lambda: tg.nn.conv2d(x, np.ones((9, 9, 1, 1), "float32")), ["Conv2D/filter"]),
        (lambda: tg.reduce_mean(x, name="bad name"), ["Const"]),
        (lambda: tg.Variable(np.array([1.5]), name="v", dtype="int32"), []),
        (lambda: tg.transpose(x, [0, 0, 1, 2]), ["transpose/perm"]),
        (lambda: tg.group(x, "not an operation"), []),
    ):
        before = graph.get_operations()
        with pytest.raises((ValueError, TypeError, AttributeError)):
            fails()
        assert [op.name for op in graph.get_operations() if op not in before] == left
    assert tg.global_variables() == []


# --- fetches -----------------------------------------------------------------------------------------


def test_fetches_keep_their_structure(graph):
    x = tg.placeholder("float32", [], name="x")
    point = namedtuple("point", "first second")
    fetches = {"a": [x, (x + 1, [])], "b": point(x * 2, {"c": "x:0"}), "d": x.op.graph.get_operations()[1]}
    with tg.Session() as session:
        got = session.run(fetches, {x: 3})
        assert got == {"a": [3, (4, [])], "b": point(6, {"c": 3}), "d": None}
        assert isinstance(got["b"], point)
        assert session.run([], {}) == []
        assert x.eval({x: 1}, session) == 1
        assert x.eval({x: 1}) == 1  # the default session
    with pytest.raises(ValueError, match="No default session is registered"):
        x.eval({x: 1})


def test_what_cannot_be_fetched_is_refused(graph):
    x = tg.constant(1.0, name="x")
    with tg.Graph().as_default():
        other = tg.constant(1.0, name="other")
    with tg.Session() as session:
        for bad, error, message in (
            (other, ValueError, "'other:0' belongs to a graph other than"),
            (other.op, ValueError, "'other' belongs to a graph other than"),
            (None, TypeError, "fetches must be tensors"),
            (3.0, TypeError, "got 3.0 of type float"),
            ("y:0", ValueError, "no operation 'y'; it has x"),
            ([x, ["x:7"]], ValueError, "has 1 outputs"),
        ):
            with pytest.raises(error, match=message):
                session.run(bad)
    with pytest.raises(ValueError, match="closed Session"):
        session.run(x)
    for bad in ("graph", 3):
        with pytest.raises(TypeError, match="graph must be a Graph"):
            tg.Session(bad)
    with pytest.raises(TypeError, match="config must be a ConfigProto"):
        tg.Session(graph, {"CPU": 2})


def test_results_are_the_caller_s_own(graph):
    x = tg.placeholder("float32", [2, 2], name="x")
    c = tg.constant(np.ones((2, 2), "float32"))
    array = np.zeros((2, 2), "float32")
    with tg.Session() as session:
        fetched = session.run([x, c, c, tg.transpose(x), tg.identity(x), x + c, "add:0"], {x: array})
        for result in fetched:
            assert result.flags.c_contiguous
            result[...] = 7  # allowed: the caller owns the array
        assert (array == 0).all()
        assert (session.run(c) == 1).all()
        assert len({id(result) for result in fetched}) == 7


# --- feeds -------------------------------------------------------------------------------------------


def test_any_tensor_can_be_fed(graph):
    x = tg.placeholder("float32", [2], name="x")
    y = tg.add(x, 1.0, name="y")
    z = tg.multiply(y, y, name="z")
    with tg.Session() as session:
        assert session.run(z, {"y:0": [3, 4]}).tolist() == [9, 16]
        assert session.run([y, z], {y: [3, 4]})[0].tolist() == [3, 4]
        assert session.run([x, z], {x: [0, 0], y: [3, 4]})[1].tolist() == [9, 16]
        assert session.run(z, {x: np.float64([0, 1])}).tolist() == [1, 4]  # converted, as TensorFlow does
        assert session.run([y.op, z], {x: [0, 1], y: [3, 4]})[1].tolist() == [9, 16]


def test_missing_feeds_are_all_named_before_anything_runs(graph):
    x, y = tg.placeholder("float32", [2], name="x"), tg.placeholder("int32", name="y")
    v = tg.Variable(0.0, name="v")
    with tg.Session() as session:
        session.run(v.initializer)
        with pytest.raises(
            tg.InvalidArgumentError, match=r"missing: 'x' \(\(2,\) float32\), 'y' \(<unknown> int32"
        ):
            session.run([x, y, v.assign(1.0)])
        assert session.run(v) == 0
        session.run(v)  # needs neither


def test_what_cannot_be_fed_is_refused(graph):
    x, n = tg.placeholder("float32", [None, 2], name="x"), tg.placeholder("int32", [2], name="n")
    v = tg.Variable([1.0, 2.0], name="v")
    with tg.Graph().as_default():
        other = tg.placeholder("float32", name="other")
    y = tg.identity(x)
    with tg.Session() as session:
        for feed, error, message in (
            ({x: [1, 2, 3]}, ValueError, r"'x:0' must have shape \(None, 2\); got \(3,\)"),
            ({x: [[1, 2, 3]]}, ValueError, r"must have shape \(None, 2\); got \(1, 3\)"),
            ({x: y}, TypeError, "must be numbers; got <tf.Tensor 'Identity:0'"),
            ({x: "text"}, TypeError, "'x:0'"),
            ({x: [[1], [1, 2]]}, ValueError, "equal lengths"),
            ({n: [1.5, 2]}, TypeError, "must have dtype int32"),
            ({n: np.float32([1.5, 2])}, ValueError, "'n:0' must fit dtype int32; got float32 1.5"),
            ({n: np.int64([1, 2**40])}, ValueError, "must fit dtype int32; got int64 1099511627776"),
            ({x: np.array([[1j, 2]])}, TypeError, "complex"),
            ({x.op: [[1, 2]]}, TypeError, "'x' is an operation; feed its tensor, 'x:0'"),
            ({other: 1}, TypeError, "'other:0' belongs to a graph other than"),
            ({3: 1}, TypeError, "feed_dict must be tensors"),
            ({"q:0": 1}, TypeError, "no operation 'q'"),
            ({v.op.outputs[0]: [1, 2]}, ValueError, "reference to a variable, which cannot be fed"),
            ({x: [[1, 2]], "x:0": [[1, 2]]}, ValueError, "two values for 'x:0'"),
            ([(x, 1)], TypeError, "feed_dict must map tensors"),
        ):
            with pytest.raises(error, match=message):
                session.run(y, feed)
        assert session.run(v, {v: [5, 6]}).tolist() == [5, 6]  # its value, for this run


# --- variables ---------------------------------------------------------------------------------------


def test_variables_outlive_a_run_and_sessions_have_their_own(graph):
    v = tg.Variable([1.0, 2.0], name="v")
    add = v.assign_add([1.0, 1.0])
    with tg.Session(graph) as first:
        with pytest.raises(
            tg.FailedPreconditionError, match=r"node 'v/read' .*variable 'v' has no value yet"
        ):
            first.run(v)
        first.run(tg.global_variables_initializer())
        assert first.run(add).tolist() == [2, 3]
        assert first.run(v).tolist() == v.eval(first).tolist() == [2, 3]
        with tg.Session(graph) as second:
            second.run("init")
            assert second.run(v).tolist() == [1, 2]
        assert first.run(v.assign_sub([2.0, 2.0])).tolist() == [0, 1]
    assert [op.type for op in graph.get_operations()[:4]] == ["Const", "Variable", "Assign", "Identity"]


def test_variables_keep_shape_and_dtype(graph):
    v = tg.Variable([1.0, 2.0], name="v")
    count = len(graph.get_operations())
    with pytest.raises(ValueError, match="must have the variable's shape"):
        v.assign([1.0])
    with pytest.raises(TypeError, match="float32"):
        v.assign(tg.constant(np.ones(2), name="wide"))
    with pytest.raises(TypeError, match="'add:0' is a value, which nothing can be assigned to"):
        tg.gen_nn_ops.assign(v + 1.0, [1.0, 2.0])
    assert [op.type for op in graph.get_operations()[count:]] == [
        "Const",
        "Const",
        "Const",
        "Add",
    ]  # arguments
    x = tg.placeholder("float32", None, name="x")
    late = v.assign(x)
    with tg.Session() as session:
        session.run(v.initializer)
        with pytest.raises(tg.InvalidArgumentError, match="variable 'v' has shape"):
            session.run(late, {x: [1.0]})
        assert session.run(v).tolist() == [1, 2]
    with pytest.raises(ValueError, match=r"session.run\('v:0'\) gives its value"):
        v.numpy()


def test_a_failed_run_leaves_what_it_assigned(graph):
    v = tg.Variable(1.0, name="v")
    x = tg.placeholder("float32", None, name="x")
    assigned = v.assign(5.0)
    with graph.control_dependencies([assigned]):
        fails = tg.add(x, np.ones(3, "float32"))
    with tg.Session(graph) as session:
        session.run(v.initializer)
        with pytest.raises(tg.InvalidArgumentError):
            session.run(fails, {x: np.ones(2)})
        assert session.run(v) == 5


def test_control_dependencies_order_reads_and_assignments(graph):
    v = tg.Variable(1.0, name="v")
    before = v.read_value()
    with tg.control_dependencies([before]):
        assigned = v.assign(v + 1.0)
    with tg.control_dependencies([assigned]):
        after = v.read_value()
    with tg.Session() as session:
        for seed in range(10):
            session.run(v.initializer)
            assert session.run([before, after], options=tg.RunOptions(shuffle_seed=seed)) == [1, 2]
    with tg.control_dependencies([assigned]), tg.control_dependencies(None):
        assert tg.constant(1.0).op.control_inputs == ()
    with pytest.raises(TypeError, match="inputs must hold operations"), tg.control_dependencies([3]):
        pass
    with tg.Graph().as_default():
        with pytest.raises(ValueError, match="another one"), tg.control_dependencies([assigned]):
            pass


def test_a_race_has_both_results_and_none_once_it_is_ordered(graph):
    v = tg.Variable(1.0, name="v")
    read, assigned = v.read_value(), v.assign(2.0)
    with tg.control_dependencies([assigned]):
        ordered = v.read_value()
    with tg.Session() as session:

        def results(fetch):
            found = []
            for seed in range(20):
                session.run(v.initializer)
                found.append(
                    float(session.run([fetch, assigned], options=tg.RunOptions(shuffle_seed=seed))[0])
                )
            return found

        race = results(read)
        assert set(race) == {1, 2}
        assert race == results(read)  # a seed decides
        assert set(results(ordered)) == {2}
        with pytest.raises(TypeError, match="options must be RunOptions"):
            session.run(v, options={})
    with pytest.raises(ValueError, match="trace_level must be"):
        tg.RunOptions(trace_level=9)
    with pytest.raises(TypeError, match="shuffle_seed"):
        tg.RunOptions(shuffle_seed="1")


def test_a_missing_value_is_named_with_the_node_that_reads_it(graph):
    a, b = (tg.Variable(1.0, name=name) for name in "ab")
    with tg.Session() as session:
        session.run(b.initializer)
        with pytest.raises(
            tg.FailedPreconditionError, match=r"node 'a/read' .*variable 'a' has no value yet"
        ):
            session.run([a, b])
        session.run(a.initializer)
        assert session.run([a, b]) == [1, 1]


def test_initialisers_may_be_tensors_variables_and_functions(graph):
    a = tg.Variable(lambda: np.float32([1, 2]), name="a")
    b = tg.Variable(tg.constant([1.0, 1.0]) + 1.0, name="b")
    c = tg.Variable(a, name="c")
    with pytest.raises(ValueError, match="initial_value must have a known shape"):
        tg.Variable(tg.placeholder("float32", [None]))
    with tg.Session() as session:
        session.run(a.initializer)
        session.run([b.initializer, c.initializer])
        assert [value.tolist() for value in session.run([a, b, c])] == [[1, 2], [2, 2], [1, 2]]


def test_variables_do_not_mix_with_other_graphs():
    eager = tg.Variable(1.0, name="eager")
    with pytest.raises(ValueError, match="made outside a graph"):
        eager.op  # noqa: B018
    with tg.Graph().as_default():
        v = tg.Variable(1.0, name="v")
        with pytest.raises(TypeError, match="'eager' was made eagerly"):
            tg.identity(eager)
    with pytest.raises(ValueError, match="'v' is of a graph: make the assignment inside"):
        v.assign(2.0)
    with tg.Graph().as_default() as other:
        with pytest.raises(ValueError, match="variable 'v' belongs to a graph other than"):
            tg.identity(v)
        with tg.Session(other) as session:
            with pytest.raises(RuntimeError, match="graph is empty"):
                session.run(v)
            tg.constant(1.0)
            with pytest.raises(ValueError, match="not of the session's graph"):
                session.run(v)
    assert eager.assign(3.0).numpy() == 3
    assert tg.assign(eager, 4.0).numpy() == 4
    assert float(eager + 1.0) == 5
    with pytest.raises(ValueError, match="shape"):
        eager.assign([1.0])
    assert repr(eager) == "<tf.Variable 'eager:0' shape=() dtype=float32, numpy=4.0>"


def test_many_threads_can_run_one_session(graph):
    x = tg.placeholder("float32", [None], name="x")
    y = tg.reduce_sum(x * x)
    results = {}
    with tg.Session() as session:

        def work(i):
            results[i] = [float(session.run(y, {x: [i, j]})) for j in range(50)]

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == {i: [float(i * i + j * j) for j in range(50)] for i in range(4)}


# --- TensorFlow 1: default graph and session, collections, graphs as data ----------------------------


def test_a_tensorflow_1_program_needs_no_graph_and_no_session_argument():
    tg.disable_v2_behavior()
    try:
        assert not tg.executing_eagerly()
        v = tg.Variable([1.0, 2.0], name="v")
        y = v * 2.0
        with tg.init_scope():
            assert tg.constant(1.0).op.graph is tg.get_default_graph()
        with tg.Session() as session:
            assert tg.get_default_session() is session
            tg.global_variables_initializer().run()
            assert y.eval().tolist() == v.eval().tolist()[:0] + [2, 4]
            with tg.Graph().as_default():
                assert tg.global_variables() == []
                with pytest.raises(ValueError, match="clear nested graphs"):
                    tg.reset_default_graph()
        assert tg.get_default_session() is None
        session = tg.Session()
        with session.as_default():
            session.run(v.initializer)
            assert v.eval().tolist() == [1, 2]
        session.run(v)  # as_default does not close it
        session.close()
        graph = tg.get_default_graph()
        tg.reset_default_graph()
        assert tg.get_default_graph() is not graph
        assert tg.get_default_graph().get_operations() == []
    finally:
        tg.enable_v2_behavior()
    assert tg.executing_eagerly()
    tg.reset_default_graph()  # without a default graph of the process there is nothing to do
    with pytest.raises(ValueError, match="there is no graph here"):
        tg.Session()


def test_an_interactive_session_is_the_default_until_it_is_closed():
    graph = tg.Graph()
    session = tg.InteractiveSession(graph)
    y = tg.constant(2.0) + 1.0
    assert y.eval() == 3
    assert y.graph is graph
    session.close()
    session.close()
    assert tg.executing_eagerly()
    assert tg.get_default_session() is None


def test_collections_list_the_variables(graph):
    a = tg.Variable(1.0, name="a")
    with tg.name_scope("layer"):
        b = tg.Variable(1.0, name="b", trainable=False)
        c = tg.Variable(1.0, name="c")
    assert tg.global_variables() == [a, b, c]
    assert tg.trainable_variables() == [a, c]
    assert tg.trainable_variables("layer/") == [c]
    graph.add_to_collection("losses", 3)
    assert graph.get_collection("losses") == [3]
    assert graph.get_collection("nothing") == []
    with tg.Session() as session:
        session.run(tg.variables_initializer([b]))
        assert session.run(b) == 1
        with pytest.raises(tg.FailedPreconditionError):
            session.run(a)


def test_a_graph_reads_as_data(graph):
    x = tg.placeholder("float32", [None, 2], name="x")
    with tg.control_dependencies([tg.constant([1, 2], name="c")]):
        y = tg.nn.relu(x, name="y")
    assert y.get_shape() == (None, 2)
    nodes = {node.name: node for node in graph.as_graph_def().node}
    assert nodes["y"].input == ["x", "^c"]
    assert nodes["y"].attr["T"] == y.op.node_def.attr["T"] == "float32"


def test_an_op_may_have_another_gradient_by_name(graph):
    x = tg.placeholder("float32", [2])
    with graph.gradient_override_map({"Relu": "GuidedRelu"}):
        y = tg.nn.relu(x)
    assert y.op.get_attr("_gradient_op_type") == "GuidedRelu"
    assert "_gradient_op_type" not in tg.nn.relu(x).op.attrs
    with pytest.raises(ValueError, match="did you mean Relu"), graph.gradient_override_map({"relu": "x"}):
        pass
