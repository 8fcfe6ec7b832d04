"""Record what real TensorFlow makes of a graph: names, pruning, folding, fusing, values and retraces.

    pip install tensorflow-cpu==2.21.0 && python record_tensorflow_graph.py   # writes tensorflow_graph.json

`build` makes the same graph with ``tensorflow.compat.v1`` and with ``teachconv.graph``: the test calls it
with the latter. oneDNN's rewrites are off, and so are the optimisers that have no counterpart here
(layout, arithmetic, ...), so that like is compared with like. The data are small integers, so that all
values are exact.
"""

import json
import os
from pathlib import Path

import numpy as np

# how our ops are called in TensorFlow, where that differs
TENSORFLOW_OPS = {"Variable": "VariableV2", "Add": "AddV2"}

RUNS = {  # what is fetched, what is fed, which optimisers are on
    "scores": (["scores:0"], ["images:0"], True),
    "scores, not optimised": (["scores:0"], ["images:0"], False),
    "conv fetched too": (["conv1/Relu:0", "conv1/Conv2D:0"], ["images:0"], True),
    "fed in the middle": (["scores:0", "total:0"], ["pool:0"], True),
    "transposed": (["up:0", "edges:0"], ["images:0"], True),
    "both means": (["Mean:0", "Mean_1:0"], ["images:0"], True),
    "control dependency": (["after:0"], ["images:0"], True),
    "assignment": (["weights/Assign"], [], True),
}

TRACES = [  # name of the call, arguments: how often tf.function traces in all, after each of them
    ("float32 of 2", [np.zeros(2, "float32")]),
    ("the same again", [np.ones(2, "float32")]),
    ("float32 of 3", [np.zeros(3, "float32")]),
    ("int32 of 2", [np.zeros(2, "int32")]),
    ("Python 1", [1]),
    ("Python 2", [2]),
    ("Python 1 again", [1]),
    ("Python 1.0", [1.0]),
    ("True", [True]),
    ("a list of two arrays", [[np.zeros(2, "float32"), np.zeros(2, "float32")]]),
    ("a tuple of two arrays", [(np.zeros(2, "float32"), np.zeros(2, "float32"))]),
]


def integers(name, shape):
    """Small integers as float32, the same everywhere."""
    cells = np.arange(np.prod(shape)) * 7 + len(name)
    return (cells % 5 - 2).astype("float32").reshape(shape)


def build(tf):
    """A network with all that there is to see: scopes, variables, constants to fold, twins, loose ends."""
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    with tf.name_scope("conv1"):
        weights = tf.Variable(integers("weights", (3, 3, 1, 4)), name="weights")
        biases = tf.Variable(integers("biases", (4,)), name="biases")
        convolved = tf.nn.conv2d(images, weights, [1, 1, 1, 1], "SAME")
        hidden = tf.nn.relu(tf.nn.bias_add(convolved, biases))
    pool = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="pool")
    mean_pool = tf.nn.avg_pool(pool, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    with tf.name_scope("conv1"):  # the same name again: TensorFlow makes it conv1_1
        scale = tf.constant([2.0, 3.0])
        shift = tf.constant([1.0, 2.0])
        factor = scale * shift + shift - scale
    flat = tf.reshape(mean_pool, [-1, 16])
    dense = tf.Variable(integers("dense", (16, 2)), name="weights")
    scores = tf.identity(tf.matmul(flat, dense) * factor, name="scores")
    tf.nn.softmax(scores, name="probabilities")
    tf.reduce_sum(scores, axis=[0, 1], name="total")
    tf.reduce_mean(tf.square(scores))
    tf.reduce_mean(tf.square(scores), axis=[1])
    up = tf.nn.conv2d_transpose(
        mean_pool, integers("up", (3, 3, 1, 4)), [1, 4, 4, 1], [1, 2, 2, 1], "SAME", name="up"
    )
    tf.pad(tf.transpose(up, [0, 2, 1, 3]), [[0, 0], [1, 0], [0, 1], [0, 0]], name="edges")
    tf.nn.depthwise_conv2d(pool, integers("depthwise", (3, 3, 4, 1)), [1, 1, 1, 1], "SAME")
    tf.nn.conv2d(images, integers("explicit", (3, 3, 1, 2)), 2, [[0, 0], [1, 0], [0, 1], [0, 0]])
    zero = tf.assign(biases, [0.0, 0.0, 0.0, 0.0], name="zero")
    with tf.control_dependencies([zero]):
        tf.identity(scores, name="after")
    1.0 + scores
    scores - 1.0
    tf.add(scores, scores)
    tf.subtract(scores, 1.0)
    tf.multiply(scores, scores)
    tf.transpose(scores)
    tf.group(zero)
    return tf.global_variables_initializer()


def main():
    os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    import tensorflow
    import tensorflow.compat.v1 as tf
    from tensorflow.core.protobuf import rewriter_config_pb2
    from tensorflow.python.framework import op_def_registry

    recorded = {
        "versions": {"tensorflow": tensorflow.__version__, "numpy": np.__version__, "oneDNN": "off"},
        "script": Path(__file__).name,
        "op_defs": {name: op_def(op_def_registry.get(name)) for name in OPS},
        "traces": traces(tensorflow),
        "integer_means": {
            str(values): int(tensorflow.reduce_mean(tensorflow.constant(values)))
            for values in ([1, 2], [-1, -2], [3, 4, 4], [-7, 2])
        },
    }
    tf.disable_eager_execution()
    tf.disable_resource_variables()
    graph = tf.Graph()
    with graph.as_default():
        init = build(tf)
    recorded["graph"] = [node(n) for n in graph.as_graph_def().node]
    recorded["shapes"] = {
        op.name: op.outputs[0].shape.as_list() for op in graph.get_operations() if op.outputs
    }
    recorded["runs"] = {}
    for name, (fetches, feeds, optimised) in RUNS.items():
        config = tf.ConfigProto(inter_op_parallelism_threads=1)
        rewriter = rewriter_config_pb2.RewriterConfig
        options = config.graph_options.rewrite_options
        options.min_graph_nodes = -1
        for other in ("layout_optimizer", "arithmetic_optimization", "loop_optimization"):
            setattr(options, other, rewriter.OFF)
        for other in ("dependency_optimization", "function_optimization", "shape_optimization"):
            setattr(options, other, rewriter.OFF)
        options.memory_optimization = rewriter.NO_MEM_OPT
        if not optimised:
            options.disable_meta_optimizer = True
            config.graph_options.optimizer_options.opt_level = -1
        with tf.Session(graph=graph, config=config) as session:
            session.run(init)
            metadata = tf.RunMetadata()
            values = session.run(
                fetches,
                {feed: integers(feed, FED[feed]) for feed in feeds},
                options=tf.RunOptions(trace_level=3, output_partition_graphs=True),
                run_metadata=metadata,
            )
        nodes = [node(n) for part in metadata.partition_graphs for n in part.node]
        recorded["runs"][name] = {
            "nodes": nodes,
            "values": [None if value is None else np.asarray(value).tolist() for value in values],
        }
    path = Path(__file__).parents[2] / "tests" / "recorded" / "tensorflow_graph.json"
    path.write_text(json.dumps(recorded, indent=None, separators=(",", ":"), sort_keys=True) + "\n")
    print(f"{path.name}: {len(recorded['graph'])} nodes, {len(RUNS)} runs, {path.stat().st_size:,} bytes")


FED = {"images:0": (1, 8, 8, 1), "pool:0": (1, 4, 4, 4)}
OPS = [
    "Placeholder",
    "Const",
    "VariableV2",
    "Assign",
    "Identity",
    "NoOp",
    "Conv2D",
    "Conv2DBackpropInput",
    "Conv2DBackpropFilter",
    "DepthwiseConv2dNative",
    "BiasAdd",
    "Relu",
    "MaxPool",
    "AvgPool",
    "MatMul",
    "AddV2",
    "Sub",
    "Mul",
    "Square",
    "Mean",
    "Sum",
    "Reshape",
    "Transpose",
    "Pad",
    "Softmax",
]


def node(node_def):
    """A node by what can be compared: name, op, inputs, and which ops were fused into it."""
    entry = {"name": node_def.name, "op": node_def.op, "inputs": list(node_def.input)}
    fused = [op.decode() for op in node_def.attr["fused_ops"].list.s] if "fused_ops" in node_def.attr else []
    return entry | ({"fused_ops": fused} if fused else {})


def op_def(definition):
    """An op definition: names of inputs, outputs and attributes, defaults and allowed strings."""

    def attr(a):
        value = {"type": a.type}
        if a.HasField("allowed_values") and a.type == "string":
            value["allowed"] = [item.decode() for item in a.allowed_values.list.s]
        if a.HasField("default_value"):
            kind = a.default_value.WhichOneof("value")
            given = getattr(a.default_value, kind)
            value["default"] = (
                list(given.i)
                if kind == "list"
                else given.decode()
                if isinstance(given, bytes)
                else str(given)
            )
        return value

    return {
        "inputs": [a.name for a in definition.input_arg],
        "outputs": [a.name for a in definition.output_arg],
        "attrs": {a.name: attr(a) for a in definition.attr},
    }


def traces(tensorflow):
    """How often a tf.function has been traced after each call of `TRACES`."""
    count = 0

    @tensorflow.function
    def traced(x):
        nonlocal count
        count += 1
        return x

    counts = []
    for _, arguments in TRACES:
        traced(*arguments)
        counts.append(count)
    return counts


if __name__ == "__main__":
    main()
