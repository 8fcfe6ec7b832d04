"""What find_source says of an installed TensorFlow, against independent runs of it (make test-peers)."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import peers.frameworks  # noqa: F401  (sets the environment before TensorFlow is imported)
import pytest

import teachconv as tc
from teachconv.support.errors import ArgumentError

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed")
from teachconv.frameworks import tensorflow as follower  # noqa: E402

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # of the frameworks' own code

# each op on NHWC and NCHW, float32 and float64: the same program runs here and in a process of its own
PROGRAM = """
import numpy as np
import tensorflow as tf

def calls(layouts=("NHWC", "NCHW")):
    for dtype in ("float32", "float64"):
        for layout in layouts if dtype == "float32" else layouts[:1]:  # TensorFlow has no other on a CPU
            x = np.linspace(-1, 1, 512).reshape((2, 8, 8, 4) if layout == "NHWC" else (2, 4, 8, 8)).astype(dtype)
            w = np.linspace(-1, 1, 144).reshape(3, 3, 4, 4).astype(dtype)
            d = w[:, :, :, :1]
            ones, more = [1, 1, 1, 1], {"padding": "SAME", "data_format": layout}
            yield f"conv2d {dtype} {layout}", lambda: tf.nn.conv2d(x, w, 1, **more)
            yield f"transpose {dtype} {layout}", lambda: tf.nn.conv2d_transpose(x, w, x.shape, 1, **more)
            yield f"depthwise {dtype} {layout}", lambda: tf.nn.depthwise_conv2d(x, d, ones, **more)
            yield f"input {dtype} {layout}", lambda: tf.compat.v1.nn.conv2d_backprop_input(x.shape, w, x, ones, **more)
            yield f"filter {dtype} {layout}", lambda: tf.compat.v1.nn.conv2d_backprop_filter(x, w.shape, x, ones, **more)
"""
exec(PROGRAM)
NAMES = [name for name, _ in calls()]  # noqa: F821
GIVEN = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")


def in_a_process(program, **environment):
    """Run a program; return what it prints, with oneDNN's lines among it."""
    more = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", **environment}
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, **more},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def ops_of(chain):
    """Divide the steps: a list for each op that ran, which begins with its definition."""
    found = []
    for step in chain.steps:
        if step.what == "op definition":
            found.append([])
        if found:
            found[-1].append(step)
    return found


@pytest.fixture(scope="module")
def chain():
    """The chain of the program above: one probe for all ops."""

    def run_all(_):
        for _, call in calls():  # noqa: F821
            call()

    return follower.follow(run_all, (None,), {})


@pytest.fixture(scope="module")
def ran(chain):
    """The steps of each op, by the name of its call."""
    return dict(zip(NAMES, ops_of(chain), strict=True))


def named(steps, what):
    """The names of the steps of the first way to run the op."""
    first = next((i for i, step in enumerate(steps) if step.what == "in a tf.function"), len(steps))
    return [step.name for step in steps[:first] if step.what == what]


def test_the_primitives_are_those_that_an_independent_run_logs(ran):
    text = in_a_process(
        PROGRAM + "for name, call in calls():\n    print('call', name, flush=True)\n    call()",
        ONEDNN_VERBOSE="1",
    )
    for part in text.split("call ")[1:]:
        name, *lines = part.splitlines()
        fields = [line.split(",") for line in lines if ",exec," in line and ",convolution," in line]
        assert named(ran[name], "primitive") == [line[6] for line in fields], name
        assert bool(fields) == (name.split()[1] == "float32"), name


def test_without_a_primitive_the_kernel_is_one_that_computes_with_eigen(ran):
    for name, steps in ran.items():
        (kernel,) = named(steps, "kernel")
        eigen = name.split()[1] == "float64"
        assert named(steps, "loops") == (["Eigen"] if eigen else [])
        assert kernel.startswith("Mkl") != eigen, name


def test_rewrites_are_those_of_an_optimised_graph(ran):
    """The nodes of a session's partition graphs are what the steps say that a tf.function runs."""
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x, w = v1.placeholder("float32", GIVEN[0].shape), v1.placeholder("float32", GIVEN[1].shape)
        tf.nn.conv2d(x, w, 1, "SAME", name="plain")
        tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), tf.ones(2)), name="fused")
        metadata, options = v1.RunMetadata(), v1.RunOptions(output_partition_graphs=True)
        feeds = {x: GIVEN[0], w: GIVEN[1]}
        session.run(["plain:0", "fused:0"], feeds, options=options, run_metadata=metadata)
    nodes = {node.name: node.op for graph in metadata.partition_graphs for node in graph.node}
    executed = [step.name for step in ran["conv2d float32 NHWC"] if step.what == "executor"]
    assert executed == [nodes["plain"], nodes["fused"]]
    rewritten = [step.name for step in ran["conv2d float32 NHWC"] if step.what == "rewrite"]
    assert {*executed, "Fuse Conv2D"} <= set(rewritten)


def test_every_step_says_how_it_is_known(chain):
    assert all(step.known for step in chain.steps)
    assert {
        "call stack",
        "op registry",
        "kernel registry",
        "TensorFlow's log",
        "oneDNN's log",
        "profiler",
    } == {step.known for step in chain.steps}


def test_lines_exist_in_the_installed_files(chain):
    """A line of Python begins the function or has the call; one of C++ is in the statement that logged it."""
    package, seen = Path(tf.__file__).parent, set()
    for step in chain.steps:
        if step.line and Path(step.file).is_relative_to(package):
            lines = Path(step.file).read_text(encoding="utf-8").splitlines()
            name = step.name.rpartition(".")[2]
            want, more = {
                "kernel": (" Compute(OpKernelContext", 0),
                "into C++": (step.name, 0),
                "a check in it": ("OP_REQUIRES", 3),
                "in the kernel": ("VLOG(2)", 0),
            }.get(step.what, ("lambda" if name == "<lambda>" else f"def {name}(", 0))
            assert want in "".join(lines[step.line - 1 : step.line + more]), step
            seen.add(step.what)
    assert seen == {
        *(
            "public function",
            "wrapper",
            "generated function",
            "into C++",
            "kernel",
            "a check in it",
            "in the kernel",
        )
    }
    assert all(step.beside.line for step in chain.steps if step.beside)


def test_a_kernels_file_is_the_one_whose_check_the_log_names(chain):
    folders = {}
    for step, after in zip(chain.steps, chain.steps[1:], strict=False):
        if after.what == "a check in it":
            kernel, check = (Path(each.where.partition(":")[0]).stem for each in (step, after))
            folders[after.name] = kernel, check
    assert len(folders) == 7
    for name, (kernel, check) in folders.items():
        # MklConvOp's shapes are checked by a helper in the header of the same name
        assert kernel == check, name


def test_all_convolutions_of_the_installed_version_are_in_the_table():
    from tensorflow.core.framework.types_pb2 import DataType
    from tensorflow.python.framework import kernels

    table = json.loads(
        (Path(follower.__file__).with_name("tensorflow_files.json")).read_text(encoding="utf-8")
    )
    assert tf.__version__.split(".")[:2] == table["versions"]["tensorflow"].split(".")[:2]
    for op in dir(tf.raw_ops):
        if re.search("Conv(?!ert)", op):
            assert getattr(tf.raw_ops, op).__module__.rpartition(".")[2] in table["definitions"], op
    missing = set()
    for kernel in kernels.get_all_registered_kernels().kernel:
        if re.search("Conv(?!ert)", kernel.op) and kernel.device_type == "CPU":
            names = [DataType.Name(each) for each in follower._types(kernel)] or [""]
            found = follower._class(kernel.op, "CPU", names[0], kernel.label)
            missing |= {found} - {*table["classes"]}
    # no convolution is in these
    assert missing <= {"", "NoOp", "RaiseError", "XlaCompileOnDemandOp"}


def test_another_version_is_said_with_what_is_known(monkeypatch):
    monkeypatch.setattr(tf, "__version__", "2.99.0")
    steps = tc.find_source(tf.nn.conv2d, *GIVEN, 1, "SAME").steps
    (said,) = (step for step in steps if step.what == "not known")
    assert said.note.endswith("this is 2.99.0")
    (kernel,) = (step for step in steps[:12] if step.what == "kernel")
    assert (kernel.name, kernel.file) == ("MklConvOp::Compute", "")


def test_a_tape_is_followed_from_its_engine_to_both_gradients():
    x, w = map(tf.constant, GIVEN)
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.conv2d(x, w, 1, "SAME")
    chain = tc.find_source(tape.gradient, y, [x, w])
    assert [step.what for step in chain.steps[:2]] == ["tape", "engine"]
    assert [steps[0].name for steps in ops_of(chain)] == ["Conv2DBackpropInput", "Conv2DBackpropFilter"]
    gradients = [step for step in chain.steps if step.what == "gradient function"]
    assert {step.beside.where.partition(":")[0] for step in gradients} == {
        "teachconv/graph/gradients/nn_grad.py"
    }


def test_a_function_compiled_by_xla_has_instructions_and_no_kernel():
    chain = tc.find_source(tf.function(tf.nn.conv2d, jit_compile=True), *GIVEN, 1, "SAME")
    assert str(chain).startswith("where is tf.function(tf.nn.conv2d) [1, 8, 8, 2] * [3, 3, 2, 2] executed?")
    assert [step.name for step in chain.steps if step.what == "compiled by XLA"] == ["convolution"]
    assert not [step for step in chain.steps if step.what in ("kernel", "primitive")]


DISABLED = """
import json, numpy as np, keras, teachconv as tc
x = np.ones((1, 8, 8, 2), "float32")
chain = tc.find_source(keras.layers.Conv2D(2, 3), x)
print(json.dumps([(step.what, step.name, step.file) for step in chain.steps]))
"""


@pytest.mark.parametrize("enabled", ["0", "1"])
def test_a_layer_of_keras_and_without_onednn_other_kernels(enabled):
    pytest.importorskip("keras", reason="keras is not installed")
    text = in_a_process(DISABLED, KERAS_BACKEND="tensorflow", TF_ENABLE_ONEDNN_OPTS=enabled)
    steps = json.loads(text.splitlines()[-1])
    files = [file for what, _, file in steps if what in ("public function", "wrapper")]
    assert any("keras/src/layers/convolutional" in file for file in files)
    assert any("keras/src/backend/tensorflow/nn.py" in file for file in files)
    kernels = [name for what, name, _ in steps if what == "kernel"]
    rewrites = [name for what, name, _ in steps if what == "rewrite"]
    if enabled == "1":
        assert kernels == ["MklConvOp::Compute", "MklConvOp", "MklFusedConvOp::Compute"]
        assert "_MklNativeConv2D" in rewrites
    else:
        assert kernels == ["Conv2DOp::Compute", "Conv2DOp", "FusedConv2DOp::Compute"]
        assert "primitive" not in [what for what, *_ in steps]
    assert "Fuse Conv2D" in rewrites


def test_what_tensorflow_refuses_is_said_in_one_line():
    x, w = GIVEN
    for call, words in (
        (
            (tf.nn.conv2d, x, np.ones((3, 3, 5, 2), "float32"), 1, "SAME"),
            r"ValueError: Depth of input \(2\) is not a multiple of .*\(5\) with input shapes: ",
        ),
        (
            (tf.nn.conv2d, x.astype("float64").transpose(0, 3, 1, 2), w.astype("float64"), 1, "SAME", "NCHW"),
            "only supports the NHWC",
        ),
        ((tf.nn.conv2d, x), "TypeError: Missing required"),
    ):
        with pytest.raises(ArgumentError, match=f"^tf.nn.conv2d refuses this call: .*{words}") as caught:
            tc.find_source(*call)
        assert "\n" not in str(caught.value)


ABORTS = """
import numpy as np, tensorflow as tf, teachconv as tc
try:
    tc.find_source(tf.nn.conv2d, np.ones((8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32"), 1, "SAME")
except tc.ArgumentError as error:
    print(error)
"""


def test_an_image_without_a_batch_is_refused_and_does_not_end_the_process():
    """TensorFlow 2.21 itself aborts in MklConvOp, at "Check failed: index >= 0"."""
    assert "Shape must be rank 4 but is rank 3" in in_a_process(ABORTS)


def test_what_runs_no_convolution_is_refused():
    with pytest.raises(ArgumentError, match=r"tf.nn.relu ran no convolution, .*; it ran Relu"):
        tc.find_source(tf.nn.relu, GIVEN[0])
    with pytest.raises(ArgumentError, match="find_source runs a call: give .* its arguments"):
        tc.find_source(tf.nn.conv2d)
    with pytest.raises(ArgumentError, match="a result, .*, does not know the call that it came from"):
        tc.find_source(tf.constant(GIVEN[0]))
    assert tc.find_source("tensorflow.nn.conv2d").query == "tensorflow.nn.conv2d, as teachconv has it,"


def test_nothing_of_this_process_changes():
    from tensorflow.python.eager import context

    before = dict(os.environ)
    tc.find_source(tf.raw_ops.Conv2D, input=GIVEN[0], filter=GIVEN[1], strides=[1, 1, 1, 1], padding="VALID")
    assert dict(os.environ) == before
    assert not context.context().op_callbacks
