"""The same graph in TensorFlow and here: names, static shapes, pruning, folding, fusing, values, retraces.

tools/recorders/record_tensorflow_graph.py recorded TensorFlow's side; its `build` makes ours.
"""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest
from recorders import record_tensorflow_graph as script

import teachconv as tc
from teachconv.graph.framework.op_def import REGISTRY

tg = tc.graph
HERE = Path(__file__).parents[1] / "recorded"
RECORDED = json.loads((HERE / "tensorflow_graph.json").read_text())


OURS = {theirs: ours for ours, theirs in script.TENSORFLOW_OPS.items()}

# What differs, all of it. TensorFlow's Python wrapper of depthwise_conv2d makes two constants that nothing
# uses, and names the filter after its own local variable.
RENAMED = {"depthwise/filter_in": "depthwise/filter"}
UNUSED = {"depthwise/Shape", "depthwise/dilation_rate"}
# Grappler removes an Identity that is not fetched; there is no such optimiser here.
IDENTITIES = {"scores"}
# Attributes that only steer TensorFlow's own kernels, containers or gradients.
LEFT_OUT = {
    "use_cudnn_on_gpu",
    "use_locking",
    "validate_shape",
    "container",
    "shared_name",
    "grad_a",
    "grad_b",
}


@pytest.fixture(scope="module")
def graph():
    graph = tg.Graph()
    with graph.as_default():
        script.build(tg)
    return graph


def test_was_recorded_with_a_known_version():
    assert RECORDED["versions"]["tensorflow"] == "2.21.0"
    assert RECORDED["script"] == "record_tensorflow_graph.py"


def test_nodes_have_the_same_names_ops_and_inputs_in_the_same_order(graph):
    ours = [
        (
            op.name,
            op.type,
            [tensor.op.name for tensor in op.inputs] + ["^" + before.name for before in op.control_inputs],
        )
        for op in graph.get_operations()
    ]
    theirs = [
        (
            RENAMED.get(node["name"], node["name"]),
            OURS.get(node["op"], node["op"]),
            [RENAMED.get(name, name) for name in node["inputs"]],
        )
        for node in RECORDED["graph"]
        if node["name"] not in UNUSED
    ]
    assert ours == theirs


def test_static_shapes_are_the_same(graph):
    ours = {op.name: op.outputs[0].shape for op in graph.get_operations() if op.outputs}
    theirs = {
        RENAMED.get(name, name): None if shape is None else tuple(shape)
        for name, shape in RECORDED["shapes"].items()
        if name not in UNUSED
    }
    # TensorFlow does not look at the batch in a constant output_shape; the rest is the same
    known_better = {"up", "transpose", "edges"}
    assert {name for name in ours if ours[name] != theirs[name]} == known_better
    assert all(theirs[name][0] is None and ours[name][1:] == theirs[name][1:] for name in known_better)
    assert ours.keys() == theirs.keys()


@pytest.mark.parametrize("name", script.RUNS)
@pytest.mark.parametrize("backend", ["", "numpy"])
def test_runs_keep_the_same_nodes_and_give_the_same_values(graph, name, backend):
    fetches, feeds, optimised = script.RUNS[name]
    config = tg.ConfigProto(optimised, optimised, optimised, backend=backend)
    metadata = tg.RunMetadata()
    with tg.Session(graph, config) as session:
        session.run("init")
        values = session.run(
            fetches, {feed: script.integers(feed, script.FED[feed]) for feed in feeds}, run_metadata=metadata
        )
    ran = {(name, node.op) for name, node in metadata.after.nodes.items()}
    recorded = RECORDED["runs"][name]
    theirs = {
        (node["name"], OURS.get(node["op"], node["op"]))
        for node in recorded["nodes"]
        if node["op"] != "_Retval"
    }
    wanted = {fetch.removesuffix(":0") for fetch in fetches}
    ours = {(node, op) for node, op in ran if op != "Identity" or node not in IDENTITIES - wanted}
    assert ours == theirs
    for value, expected in zip(values, recorded["values"], strict=True):
        assert np.array_equal(value, np.array(expected))


def test_the_same_ops_are_fused(graph):
    metadata = tg.RunMetadata()
    with tg.Session(graph) as session:
        session.run("init")
        session.run("scores:0", {"images:0": script.integers("", (1, 8, 8, 1))}, run_metadata=metadata)
    ours = {
        rewrite.into: [graph.get_operation_by_name(node).type for node in rewrite.removed[1:]]
        for rewrite in metadata.rewrites
        if rewrite.optimizer == "remapper"
    }
    theirs = {
        node["name"]: node["fused_ops"] for node in RECORDED["runs"]["scores"]["nodes"] if "fused_ops" in node
    }
    assert ours == theirs == {"conv1/Relu": ["BiasAdd", "Relu"]}


@pytest.mark.parametrize("name", RECORDED["op_defs"])
def test_op_definitions_have_the_same_arguments_and_attributes(name):
    theirs, ours = RECORDED["op_defs"][name], REGISTRY[OURS.get(name, name)]
    assert [arg.name for arg in ours.inputs] == theirs["inputs"]
    assert [arg.name for arg in ours.outputs] == theirs["outputs"]
    assert {attr.name for attr in ours.attrs} == set(theirs["attrs"]) - LEFT_OUT
    for attr in ours.attrs:
        their = theirs["attrs"][attr.name]
        assert attr.type.removeprefix("list(").removesuffix(")") in their["type"]
        if "allowed" in their:
            assert set(attr.allowed) - {"SAME_LOWER"} == set(their["allowed"]) - {"NCHW_VECT_C"}
        if attr.has_default and attr.type != "type" and "default" in their and attr.type != "shape":
            default = list(attr.default) if isinstance(attr.default, tuple) else str(attr.default)
            assert default == their["default"]


def test_functions_are_traced_as_often():
    """TensorFlow takes 1, 1.0 and True for one signature, because they are equal; here each has its own."""
    count = 0

    @tc.function
    def traced(x):
        nonlocal count
        count += 1
        return x

    ours = []
    for _, arguments in script.TRACES:
        traced(*arguments)
        ours.append(count)
    new = {name: a - b for (name, _), a, b in zip(script.TRACES, ours, [0, *ours], strict=False)}
    their_counts = RECORDED["traces"]
    theirs = {
        name: a - b for (name, _), a, b in zip(script.TRACES, their_counts, [0, *their_counts], strict=False)
    }
    assert {name for name in new if new[name] != theirs[name]} == {"Python 1.0", "True"}
    assert new["Python 1.0"] == new["True"] == 1


def test_the_mean_of_integers_is_rounded_towards_zero():
    for text, mean in RECORDED["integer_means"].items():
        assert tg.reduce_mean(json.loads(text)) == mean


def test_the_docs_tables_are_up_to_date():
    """If this fails, run: python docs/graph_tables.py"""
    path = HERE.parents[1] / "docs" / "graph_tables.py"
    spec = importlib.util.spec_from_file_location("graph_tables", path)
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    assert tables.TARGET.read_text(encoding="utf-8") == tables.generate()


KERNELS = json.loads((HERE / "tensorflow_kernels.json").read_text())


def test_the_page_says_which_ops_run_on_a_cpu():
    """The table in docs/graph.md: TensorFlow with and without oneDNN, recorded, and teachconv, run here."""
    with tg.Graph().as_default() as graph:
        images = tg.placeholder("float32", [None, 16, 16, 8], name="images")
        rows = tg.placeholder("float32", [None, 64], name="rows")
        filters, matrix = (np.ones(shape, "float32") for shape in ((3, 3, 8, 16), (64, 16)))
        bias = np.ones(16, "float32")
        programs = {
            "Conv2D": tg.nn.conv2d(images, filters, 1, "SAME"),
            "Conv2D + BiasAdd + Relu": tg.nn.relu(
                tg.nn.bias_add(tg.nn.conv2d(images, filters, 1, "SAME"), bias)
            ),
            "MatMul": tg.matmul(rows, matrix),
            "MatMul + BiasAdd + Relu": tg.nn.relu(tg.nn.bias_add(tg.matmul(rows, matrix), bias)),
        }
    page = (HERE.parents[1] / "docs" / "graph.md").read_text(encoding="utf-8")
    assert KERNELS["versions"]["tensorflow"] == "2.21.0"
    for program, tensor in programs.items():
        metadata = tg.RunMetadata()
        with tg.Session(graph) as session:
            feeds = {images: np.ones((2, 16, 16, 8)), rows: np.ones((2, 64))}
            session.run(tensor, feeds, run_metadata=metadata)
        ours, theirs = metadata.nodes[-1].op, KERNELS["without oneDNN"][program]
        assert ours == theirs
        assert f"| {program} | `{KERNELS['default'][program]}` | `{theirs}` | `{ours}` |" in page
