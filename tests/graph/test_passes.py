"""From graph to execution: pruning, folding, merging, fusing, placing, copying, running, logging."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import TABLE, why_not
from teachconv.graph.common_runtime import graph_optimizer
from teachconv.graph.framework.context import set_default_graph
from teachconv.graph.framework.node_def import NodeDef, Subgraph, from_operation
from teachconv.graph.framework.op_kernel import KERNELS, OpKernel, find_kernel, register_kernel
from teachconv.truth import bounds

tg = tc.graph


@pytest.fixture
def graph():
    with tg.Graph().as_default() as graph:
        yield graph


def run(fetches, feeds=None, config=None, init=None):
    """The values, and the log."""
    metadata = tg.RunMetadata()
    with tg.Session(config=config) as session:
        if init is not None:
            session.run(init)
        values = session.run(fetches, feeds, run_metadata=metadata)
    return values, metadata


def text_of(metadata):
    return " ".join(str(metadata.all).split())


def ran(metadata):
    return [node.name for node in metadata.nodes]


# --- pruning -----------------------------------------------------------------------------------------


def test_only_what_is_needed_runs(graph):
    x = tg.placeholder("float32", [2], name="x")
    y = tg.add(x, x, name="y")
    tg.multiply(y, y, name="unused")
    tg.nn.relu(y, name="z")
    _, metadata = run("z:0", {x: [1, 2]})
    assert ran(metadata) == ["_arg_x_0_0", "y", "z"]
    assert [node.name for node in metadata.pruned] == ["x", "unused"]
    _, metadata = run("z:0", {y: [1, 2]})
    assert ran(metadata) == ["_arg_y_0_0", "z"]


# --- folding and merging -----------------------------------------------------------------------------


def test_constants_are_folded_and_keep_their_name(graph):
    y = tg.multiply(tg.constant([1.0, 2.0]) + 1.0, 2.0, name="y")
    value, metadata = run(y)
    assert value.tolist() == [4, 6]
    assert ran(metadata) == ["y"]
    assert metadata.nodes[0].op == "Const"
    value, metadata = run(y, config=tg.ConfigProto(constant_folding=False))
    assert value.tolist() == [4, 6]
    assert len(ran(metadata)) == 5


def test_a_convolution_of_constants_is_folded_on_the_backend_of_the_run(graph, monkeypatch):
    y = tg.nn.conv2d(np.ones((1, 3, 3, 1), "float32"), np.ones((2, 2, 1, 1), "float32"))
    calls = []
    from teachconv.backends import numpy_backend

    original = numpy_backend.conv2d
    monkeypatch.setattr(numpy_backend, "conv2d", lambda *a, **k: calls.append(1) or original(*a, **k))
    with tg.Session(config=tg.ConfigProto(backend="numpy")) as session:
        for _ in range(3):
            assert (session.run(y) == 4).all()
    assert calls == [1]


def test_large_results_and_failing_nodes_are_not_folded(graph, monkeypatch):
    monkeypatch.setattr(graph_optimizer, "MAX_BYTES", 100)
    large = tg.add(tg.constant(np.ones(100, "float32")), 1.0, name="large")
    _, metadata = run(large)
    assert metadata.rewrites == ()
    with graph.control_dependencies([tg.constant(1.0, name="first")]):
        waits = tg.add(tg.constant(1.0), 1.0, name="waits")
    _, metadata = run(waits)
    assert "first" in ran(metadata)
    assert "waits" not in [r.into for r in metadata.rewrites]


def test_what_is_fed_is_not_folded(graph):
    c = tg.constant(1.0, name="c")
    y = c + 1.0
    with tg.Session() as session:
        assert session.run(y) == 2
        assert session.run(y, {c: 5}) == 6


def test_equal_nodes_are_merged(graph):
    x = tg.placeholder("float32", [2], name="x")
    a, b = tg.square(x, name="a"), tg.square(x, name="b")
    other = tg.nn.max_pool(tg.reshape(x, [1, 1, 2, 1]), 1, 1, "SAME")
    another = tg.nn.max_pool(tg.reshape(x, [1, 1, 2, 1]), (1, 2), 1, "SAME")  # another attribute
    values, metadata = run([a, b, other, another], {x: [1, 2]})
    assert values[0].tolist() == values[1].tolist() == [1, 4]
    assert "b" not in ran(metadata)
    assert "MaxPool" in ran(metadata)
    assert "MaxPool_1" in ran(metadata)
    assert {rewrite.into for rewrite in metadata.rewrites} == {"a", "Reshape", "Reshape/shape"}
    values[0][...] = 9
    assert values[1].tolist() == [1, 4]  # the caller's own, all the same
    _, metadata = run([a, b], {x: [1, 2]}, tg.ConfigProto(common_subexpression_elimination=False))
    assert "b" in ran(metadata)


def test_equal_nodes_that_are_fetched_become_one_in_their_partition(graph):
    """In TensorFlow too: with optimizer_options.opt_level=-1, which leaves Grappler on, both run."""
    x = tg.placeholder("float32", [2], name="x")
    a, b = tg.square(x, name="a"), tg.square(x, name="b")
    whole = Subgraph(
        {op.name: from_operation(op) for op in graph.get_operations()},
        (("a", 0), ("b", 0)),
        (),
        frozenset([("x", 0)]),
    )
    after, rewrites = graph_optimizer.optimize(whole, tg.ConfigProto())
    assert (list(after.nodes), rewrites) == (["a", "b"], [])
    _, metadata = run([a, b], {x: [1, 2]})
    assert ran(metadata) == ["_arg_x_0_0", "a"]
    _, metadata = run(tg.add(a, b, name="c"), {x: [1, 2]})  # not fetched: Grappler merges them
    assert ran(metadata) == ["_arg_x_0_0", "a", "c"]


def test_the_graph_is_optimised_before_it_is_pruned(graph):
    """The nodes of TensorFlow's partition: e alone; with d fed _arg_d_0_0, e/y and e."""
    d = tg.multiply(tg.constant([1.0, 2.0], name="k"), 3.0, name="d")
    e = tg.add(d, 1.0, name="e")
    value, metadata = run(e)
    assert (value.tolist(), ran(metadata)) == ([4, 7], ["e"])
    assert [node.name for node in metadata.pruned] == ["k", "d/y", "e/y"]
    assert [rewrite.into for rewrite in metadata.rewrites] == ["d", "e"]
    value, metadata = run(e, {d: [5, 6]})
    assert (value.tolist(), ran(metadata)) == ([6, 7], ["_arg_d_0_0", "e/y", "e"])
    assert metadata.rewrites == ()


def test_what_is_fed_and_runs_all_the_same_is_neither_folded_nor_merged_nor_fused(graph):
    """As a target it runs, but its readers see the fed value."""
    c = tg.constant(1.0, name="c")
    y = c + 1.0
    same = tg.constant(1.0, name="same") + 2.0
    assert run([y, same, c.op], {c: 5.0})[0][:2] == [6, 3]
    images, conv, _, relu, (x, _, b) = conv_chain()
    fed = np.zeros((2, 5, 6, 4), "float32")
    value, metadata = run([relu, conv.op], {images: x, conv: fed})
    assert "conv" in ran(metadata)
    assert np.array_equal(value[0], np.maximum(fed + b, 0))


def test_reads_of_a_variable_are_not_merged(graph):
    v = tg.Variable(1.0, name="v")
    first = v.read_value()
    with graph.control_dependencies([first]):
        assigned = v.assign(2.0)
    with graph.control_dependencies([assigned]):
        second = v.read_value()
    values, _ = run([first, assigned, second], init=v.initializer)
    assert values == [1, 2, 2]


# --- fusing ------------------------------------------------------------------------------------------


def conv_chain(backend=None, relu=True, rng=None, dtype="float32", data_format="NHWC"):
    rng = rng or np.random.default_rng(0)
    shape = (2, 5, 6, 3) if data_format == "NHWC" else (2, 3, 5, 6)
    x, w = rng.standard_normal(shape).astype(dtype), rng.standard_normal((3, 3, 3, 4)).astype(dtype)
    b = rng.standard_normal(4).astype(dtype)
    images = tg.placeholder(dtype, [None, *shape[1:]], name="images")
    conv = tg.nn.conv2d(images, w, 1, "SAME", data_format, name="conv", backend=backend)
    y = biased = tg.nn.bias_add(conv, b, data_format, name="biased")
    if relu:
        y = tg.nn.relu(biased, name="relu")
    return images, conv, biased, y, (x, w, b)


@pytest.mark.parametrize("backend", TABLE)
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_a_chain_is_one_call_of_the_backend(graph, backend, relu, data_format, monkeypatch):
    if why_not(backend):
        pytest.skip(why_not(backend))
    images, _, _, y, (x, w, b) = conv_chain(backend, relu, data_format=data_format)
    module, calls = tc.backends.get(backend), []
    original = module.conv2d

    def spy(*args, **kwargs):
        calls.append((kwargs.get("bias") is not None, kwargs.get("activation")))
        return original(*args, **kwargs)

    monkeypatch.setattr(module, "conv2d", spy)
    value, metadata = run(y, {images: x})
    assert calls == [(True, "relu" if relu else None)]
    assert metadata.nodes[-1].op == "_FusedConv2D"
    assert metadata.nodes[-1].backend == backend
    apart, _ = run(y, {images: x}, tg.ConfigProto(remapping=False))
    call, _ = tc.nn_ops.call_of(tc.conv2d, (x, w, 1, "SAME", data_format), {"bias": b})
    from teachconv.truth.exact import abs_sum

    bound = bounds.direct(abs_sum(call), call.terms, "float32")
    bound = bound if data_format == "NHWC" else bound.transpose(0, 3, 1, 2)
    assert bounds.judge(value, apart, 2 * bound).passed  # the Relu brings no two values further apart
    if backend in ("numpy", "cython"):
        assert np.array_equal(value, apart)


@pytest.mark.parametrize("backend", TABLE)
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize("transpose_b", [True, False])
def test_a_dense_layer_is_one_call_too(graph, backend, relu, transpose_b, rng):
    if why_not(backend):
        pytest.skip(why_not(backend))
    a, b, bias = (rng.integers(-3, 4, shape).astype("float32") for shape in ((5, 7), (7, 4), 4))
    x = tg.placeholder("float32", [None, 7])
    product = tg.matmul(x, b.T.copy() if transpose_b else b, transpose_b=transpose_b, name="product")
    y = tg.nn.bias_add(product, bias, name="biased")
    y = tg.nn.relu(y, name="relu") if relu else y
    value, metadata = run(y, {x: a}, tg.ConfigProto(backend=backend))
    want = a @ b + bias
    assert np.array_equal(value, np.maximum(want, 0) if relu else want)
    assert (metadata.nodes[-1].op, metadata.nodes[-1].backend) == ("_FusedMatMul", backend)
    apart, metadata = run(y, {x: a}, tg.ConfigProto(remapping=False, backend=backend))
    assert np.array_equal(value, apart)
    assert "MatMul" in [node.op for node in metadata.nodes]


def test_a_product_whose_first_factor_is_transposed_stays(graph):
    x = tg.placeholder("float32", [3, 2])
    y = tg.nn.bias_add(tg.matmul(x, np.eye(3, dtype="float32"), transpose_a=True), np.ones(3, "float32"))
    value, metadata = run(y, {x: np.ones((3, 2))})
    assert metadata.nodes[-1].op == "BiasAdd"
    assert (value == 2).all()


def test_nothing_that_others_use_is_fused_away(graph):
    images, conv, biased, y, (x, _, _) = conv_chain()
    for fetches, fused in (
        ([y], ["relu"]),
        ([y, conv], []),
        ([y, biased], ["biased"]),
        ([y, biased.op], ["biased"]),
    ):
        _, metadata = run(fetches, {images: x})
        assert [r.into for r in metadata.rewrites if r.optimizer == "remapper"] == fused
    _, metadata = run(y, {conv: np.zeros((2, 5, 6, 4))})
    assert [r for r in metadata.rewrites if r.optimizer == "remapper"] == []
    twice = tg.add(conv, y)
    _, metadata = run(twice, {images: x})
    assert [r for r in metadata.rewrites if r.optimizer == "remapper"] == []


def test_an_empty_batch_goes_through_the_fused_kernel(graph):
    images, _, _, y, (x, _, _) = conv_chain()
    value, _ = run(y, {images: x[:0]})
    assert value.shape == (0, 5, 6, 4)


def test_no_input_channels_leave_the_bias_and_the_relu(graph):
    images = tg.placeholder("float32", [1, 2, 2, 0])
    conv = tg.nn.conv2d(images, np.ones((1, 1, 0, 2), "float32"))
    y = tg.nn.relu(tg.nn.bias_add(conv, np.float32([-1, 2])))
    value, metadata = run(y, {images: np.ones((1, 2, 2, 0))})
    assert value[0, 0, 0].tolist() == [0, 2]
    assert metadata.nodes[-1].op == "_FusedConv2D"


# --- all together ------------------------------------------------------------------------------------


@given(st.data())
def test_no_pass_changes_a_result(data):
    """Random graphs of integer ops give the same bits whichever passes are enabled."""
    seed = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    arrays = [seed.integers(-3, 4, (1, 3, 3, 2)).astype("int32") for _ in range(2)]
    filters, bias = seed.integers(-2, 3, (2, 2, 2, 2, 2)).astype("int32"), np.int32([1, -2])
    graph = tg.Graph()
    with graph.as_default():
        x = tg.placeholder("int32", [1, 3, 3, 2], name="x")
        tensors, eager = [x, tg.constant(arrays[1])], [arrays[0], arrays[1]]
        for _ in range(data.draw(st.integers(1, 12))):
            kind = data.draw(st.sampled_from(["add", "mul", "relu", "conv", "bias", "identity", "layer"]))
            first, second = (data.draw(st.integers(0, len(tensors) - 1)) for _ in range(2))
            place = data.draw(st.sampled_from(["", "/cpu:1"]))
            function = {
                "add": lambda a, b: tg.add(a, b),
                "mul": lambda a, b: tg.multiply(a, b),
                "relu": lambda a, b: tg.nn.relu(a),
                "conv": lambda a, b, w=filters[second % 2]: tg.nn.conv2d(a, w, padding="SAME"),
                "bias": lambda a, b: tg.nn.bias_add(a, bias),
                "identity": lambda a, b: tg.identity(a),
                "layer": lambda a, b, w=filters[0]: tg.nn.relu(
                    tg.nn.bias_add(tg.nn.conv2d(a, w, padding="SAME"), bias)
                ),
            }[kind]
            with graph.device(place):
                tensors.append(function(tensors[first], tensors[second]))
            with set_default_graph(None):
                eager.append(function(eager[first], eager[second]))
    wanted = data.draw(st.lists(st.integers(0, len(tensors) - 1), min_size=1, max_size=4))
    for switches in ((False, False, False), (True, True, True), data.draw(st.tuples(*[st.booleans()] * 3))):
        config = tg.ConfigProto(*switches, device_count={"CPU": 2})
        with tg.Session(graph, config) as session:
            metadata = data.draw(st.sampled_from([None, tg.RunMetadata()]))
            got = session.run([tensors[i] for i in wanted], {x: arrays[0]}, run_metadata=metadata)
        assert all(np.array_equal(value, eager[i]) for value, i in zip(got, wanted, strict=True))


# --- devices -----------------------------------------------------------------------------------------

TWO = tg.ConfigProto(device_count={"CPU": 2})


def test_each_device_has_a_partition_joined_by_send_and_recv(graph):
    x = tg.placeholder("float32", [2], name="x")
    with graph.device("/cpu:1"):
        y = tg.add(x, 1.0, name="y")
        z = tg.multiply(y, x, name="z")
    w = tg.subtract(z, y, name="w")
    value, metadata = run(w, {x: [1, 2]}, TWO)
    assert value.tolist() == [0, 3]
    device = {node.name: node.device for node in metadata.nodes}
    assert device["y"] == device["z"] == "/device:CPU:1"
    assert device["w"] == "/device:CPU:0"
    assert [transfer.value for transfer in metadata.transfers] == [
        ("_arg_x_0_0", 0),  # one, though y and z both read x
        ("z", 0),
        ("y", 0),
    ]
    assert {name: set(nodes) for name, nodes in metadata.partitions.items()} == {
        "/device:CPU:0": {"_arg_x_0_0", "_arg_x_0_0/_1", "z/_4", "y/_6", "w"},
        "/device:CPU:1": {"_arg_x_0_0/_2", "z/_3", "z", "y/_5", "y", "y/y"},
    }
    assert {node.op for node in metadata.nodes} >= {"_Send", "_Recv"}
    assert device["z/_3"] == "/device:CPU:1"
    assert device["z/_4"] == "/device:CPU:0"
    assert metadata.placements["y"].reason == "asked for /device:CPU:1"
    assert "sent: z from /device:CPU:1 to /device:CPU:0 (z/_3 -> z/_4)" in text_of(metadata)
    assert "partition: 2 subgraphs: CPU:0 5 nodes; CPU:1 6 nodes;" in text_of(metadata)


def test_a_control_dependency_crosses_devices_too(graph):
    v = tg.Variable(1.0, name="v")
    assigned = v.assign(2.0)
    with graph.device("/cpu:1"), graph.control_dependencies([assigned]):
        after = tg.constant(5.0, name="after")
        two = tg.constant(6.0, name="two")
    for seed in range(5):
        metadata = tg.RunMetadata()
        with tg.Session(config=TWO) as session:
            options = tg.RunOptions(shuffle_seed=seed)
            assert session.run([after, two], None, options, metadata) == [5, 6]
            assert session.run(v) == 2
        order = ran(metadata)
        assert order.index("Assign") < min(order.index("after"), order.index("two"))
    assert len(metadata.transfers) == 1
    assert "sent: ^Assign from /device:CPU:0 to /device:CPU:1" in text_of(metadata)


def test_what_cannot_be_placed_is_an_error_though_nobody_fetches_it(graph):
    x = tg.constant(1.0, name="x")
    with tg.Session() as session:
        assert session.run(x) == 1
        with graph.device("/gpu:7"):
            tg.constant(2.0, name="nowhere")
        with pytest.raises(tg.InvalidArgumentError, match=r"'nowhere' .*asks for /device:GPU:7"):
            session.run(x)


@pytest.mark.parametrize(
    "name", ["/gpu:0", "/device:GPU:0", "/cpu:3", "/job:localhost/replica:0/task:0/gpu:0"]
)
def test_a_device_that_is_not_there_is_an_error_or_is_reported(graph, name):
    with tg.device(name):
        y = tg.add(tg.constant(1.0), 2.0, name="y")
    with tg.Session() as session:
        with pytest.raises(
            tg.InvalidArgumentError, match=r"asks for /device:.PU:\d, which does not exist; available:"
        ):
            session.run(y)
    with pytest.warns(tg.SoftPlacementWarning, match="soft placement: asked for /device"):
        value, metadata = run(y, config=tg.ConfigProto(allow_soft_placement=True))
    assert value == 3
    assert metadata.placements["y"].soft
    assert "place: CPU:0, soft placement: asked for /device:" in text_of(metadata)


def test_device_names_are_checked(graph):
    for bad in ("/tpu:0", "cpu0", "/cpu:-1", "/cpu:x"):
        with pytest.raises(ValueError, match="device must be"), graph.device(bad):
            pass
    with pytest.raises(TypeError, match="device must be a string"), graph.device(0):
        pass
    with graph.device("/gpu:0"), graph.device("/cpu:0"):
        assert tg.constant(1.0).op.device == "/device:CPU:0"
        with graph.device(None):
            assert tg.constant(1.0).op.device == ""
    assert tg.constant(1.0).op.device == ""
    for bad in ({"TPU": 1}, {"CPU": 0}, {"GPU": -1}):
        with pytest.raises(ValueError, match="device_count must be"):
            tg.ConfigProto(device_count=bad)
    with pytest.raises(ValueError, match="backend must be one of"):
        tg.ConfigProto(backend="eigen")


def test_what_touches_a_variable_is_placed_with_it(graph):
    with graph.device("/cpu:1"):
        v = tg.Variable(1.0, name="v")
    assigned = v.assign(2.0)
    value, metadata = run([assigned, v], config=TWO, init=v.initializer)
    device = {node.name: node.device for node in metadata.nodes}
    assert device["v"] == device["Assign"] == device["v/read"] == "/device:CPU:1"
    assert metadata.placements["Assign"].reason == "together with 'v': asked for /device:CPU:1"
    with graph.device("/cpu:0"):
        assert v.assign(3.0).op.device == ""  # goes with the variable, whatever surrounds it
    with graph.device("/cpu:0"):
        tg.gen_nn_ops.assign(v, 3.0, name="clash")
    with tg.Session(config=TWO) as session:
        with pytest.raises(tg.InvalidArgumentError, match="'clash' asks for /device:CPU:0 and 'v'"):
            session.run(v)


def test_nodes_on_different_devices_are_not_fused(graph):
    images = tg.placeholder("float32", [1, 4, 4, 1], name="images")
    conv = tg.nn.conv2d(images, np.ones((3, 3, 1, 1), "float32"))
    with graph.device("/cpu:1"):
        y = tg.nn.bias_add(conv, [1.0])
    value, metadata = run(y, {images: np.ones((1, 4, 4, 1))}, TWO)
    assert (value == 10).all()
    assert metadata.rewrites == ()
    assert len(metadata.transfers) == 1


# --- kernels -----------------------------------------------------------------------------------------


def test_labels_choose_the_backend(graph):
    x, w = np.ones((1, 3, 3, 1), "float32"), np.ones((2, 2, 1, 1), "float32")
    images = tg.placeholder("float32", x.shape)
    by_argument = tg.nn.conv2d(images, w, backend="numpy", name="a")
    by_session = tg.nn.conv2d(images, w, name="c")
    _, metadata = run([by_argument, by_session], {images: x}, tg.ConfigProto(backend="scipy"))
    backend = {node.name: node.backend for node in metadata.nodes}
    assert (backend["a"], backend["c"]) == ("numpy", "scipy")
    with tc.use_backend("numpy"):
        _, metadata = run(by_session, {images: x})
    assert metadata.nodes[-1].backend == "numpy"


def test_a_label_without_a_kernel_is_refused(graph):
    images = tg.placeholder("float32", [1, 3, 3, 1])
    y = tg.nn.conv2d(images, np.ones((2, 2, 1, 1), "float32"), backend="eigen")
    with tg.Session() as session:
        with pytest.raises(
            ValueError, match=r"no kernel for op Conv2D on CPU with label 'eigen'.*CPU, numpy"
        ):
            session.run(y, {images: np.ones((1, 3, 3, 1))})
    node = NodeDef("n", "Softmax", (), (), {}, "", 0, "", 0)
    with pytest.raises(ValueError, match="no kernel for op Softmax on GPU"):
        find_kernel(node, "GPU")
    with pytest.raises(ValueError, match="registered already"):
        register_kernel("Relu")(AnotherRelu)


class AnotherRelu(OpKernel):
    pass


# --- the executor ------------------------------------------------------------------------------------


def chain(nodes):
    x, one = tg.placeholder("float32", [1], name="x"), tg.constant(1.0)
    y = x
    for _ in range(nodes):
        y = y + one
    return x, y


@pytest.mark.slow
def test_a_chain_of_10000_nodes_runs(graph):
    x, y = chain(10_000)
    for config in (None, tg.ConfigProto(False, False, False)):
        value, metadata = run(y, {x: [0.0]}, config)
        assert value.tolist() == [10_000]
        assert str(metadata.after).count("\n") <= 201


def test_a_chain_takes_linear_time():
    """Four times the nodes take about four times as many lines, not sixteen times: a clock would see other programs."""

    def lines(nodes):
        count = 0

        def follow(frame, event, argument):
            nonlocal count
            count += 1
            return follow

        before = sys.gettrace()
        sys.settrace(follow)
        try:
            with tg.Graph().as_default():
                x, y = chain(nodes)
                with tg.Session() as session:
                    session.run(y, {x: [0.0]})
        finally:
            sys.settrace(before)
        return count

    lines(10)  # what is done once
    few, many = lines(250), lines(1_000)
    assert many < 5 * few


def test_a_cascade_of_additions_does_not_double_the_work(graph):
    y = tg.placeholder("float64", [], name="x")
    for _ in range(200):
        y = y + y
    value, metadata = run(y, {"x:0": 1.0})
    assert value == 2.0**200
    assert len(metadata.nodes) == 201
    assert str(metadata.after).count("\n") == 201  # the tree is truncated


def test_values_are_really_let_go(graph, monkeypatch):
    import weakref

    relu = KERNELS["Relu", "CPU", ""].kernel
    made, alive = [], []
    original = relu.compute

    def compute(self, context, *inputs):
        result = original(self, context, *inputs)
        alive.append(sum(reference() is not None for reference in made))
        made.append(weakref.ref(result))
        return result

    monkeypatch.setattr(relu, "compute", compute)
    x = tg.placeholder("float32", [1000], name="x")
    y = x
    for _ in range(50):
        y = tg.nn.relu(y)
    with tg.Session() as session:
        session.run(y, {x: np.ones(1000)})
    assert len(made) == 50
    assert max(alive) <= 2  # the input of the node that runs, and perhaps the loop's last


def test_an_error_names_the_first_node(graph):
    x = tg.placeholder("float32", None, name="x")
    products = [tg.matmul(tg.reshape(x, [2, 3]), x, name=f"m{i}") for i in range(6)]
    with tg.Session() as session, pytest.raises(tg.InvalidArgumentError, match="node 'm0' "):
        session.run(products, {x: np.ones((2, 3))})


def test_other_errors_keep_their_type_and_gain_a_note(graph, monkeypatch):
    relu = KERNELS["Relu", "CPU", ""].kernel

    def compute(self, context, *inputs):
        raise MemoryError("none left")

    x = tg.placeholder("float32", [1])
    y = tg.nn.relu(x, name="y")
    monkeypatch.setattr(relu, "compute", compute)
    with tg.Session() as session:
        with pytest.raises(MemoryError, match="none left") as caught:
            session.run(y, {x: [1]})
    assert "node 'y' (Relu, made at" in caught.value.__notes__[0]


# --- the log -----------------------------------------------------------------------------------------


def test_the_log_says_where_everything_ran(graph):
    images, _, _, y, (x, _, _) = conv_chain("numpy")
    _, metadata = run(y, {images: x})
    node = metadata.nodes[-1]
    assert (node.name, node.op, node.device, node.backend) == (
        "relu",
        "_FusedConv2D",
        "/device:CPU:0",
        "numpy",
    )
    assert node.algorithm == "im2col"
    for place, text in (
        (node.kernel_at, "class FusedConv2DOp"),
        (node.backend_at, "def conv2d("),
        (f"{node.loops[0].file}:{node.loops[0].line}", "left @ right"),
        (node.made_at, "relu"),
    ):
        file, _, line = place.rpartition(":")
        path = file if file.startswith("/") else f"{tc.__path__[0]}/../{file}"
        with open(path) as source:
            assert text in "".join(source.read().splitlines()[int(line) - 1 : int(line) + 1])
    assert node.shapes == ((2, 5, 6, 4),)
    assert node.dtypes == ("float32",)
    assert node.nbytes == 2 * 5 * 6 * 4 * 4
    times = [(n.start, n.end) for n in metadata.nodes]
    assert times == sorted(times)
    assert all(start <= end <= metadata.seconds for start, end in times)
    assert "RunMetadata of no run yet" in str(tg.RunMetadata())
    with tg.Session() as session, pytest.raises(TypeError, match="run_metadata must be a RunMetadata"):
        session.run(y, {images: x}, run_metadata={})


def test_the_log_as_html_and_as_a_chrome_trace(graph, tmp_path):
    x = tg.placeholder("float32", [2], name="x")
    with graph.device("/cpu:1"):
        y = tg.add(x, 1.0, name="y")
    _, metadata = run(y, {x: [1, 2]}, TWO)
    page, trace = tmp_path / "log.html", tmp_path / "trace.json"
    metadata.save_html(page)
    assert "sent: _arg_x_0_0 from /device:CPU:0 to /device:CPU:1" in page.read_text(encoding="utf-8")
    metadata.save_chrome_trace(trace)
    events = json.loads(trace.read_text())["traceEvents"]
    bars = [event for event in events if event["ph"] == "X"]
    assert [bar["args"]["node"] for bar in bars] == ran(metadata)
    assert all(bar["dur"] >= 0 for bar in bars)
    names = {event["args"]["name"] for event in events if event["name"] == "process_name"}
    assert names == {"/device:CPU:0", "/device:CPU:1"}


def test_the_pictures_show_before_and_after(graph):
    images, _, _, y, (x, _, _) = conv_chain()
    tg.nn.softmax(y, name="unused")
    _, metadata = run(y, {images: x})
    before, after = metadata.before, metadata.after
    marks = before.marks
    assert marks["conv"] == marks["biased"] == marks["relu"] == "fused"
    assert marks["unused"] == "pruned"
    assert marks["images"] == "fed"
    assert "conv" not in after.nodes
    assert after.gives["relu"] == "[2, 5, 6, 4] float32"
    assert "relu  _FusedConv2D [2, 5, 6, 4] float32 [fused]" in after.tree()
    assert after._repr_html_().startswith("<pre")
