"""The founding question's answer in one chain: session.run, place, optimise, prune, partition, executor, kernel."""

import re

import numpy as np
import pytest

import teachconv as tc
import teachconv.tf.compat.v1 as tf
from teachconv import graph as tg
from teachconv import tf as tf2
from teachconv.backends import why_not
from teachconv.cli.main import main
from teachconv.graph.framework.op_kernel import KERNELS

X = np.ones((1, 5, 5, 1), "float32")
# the functions are defined in the libraries of TensorFlow 2.21, and named so in its sources
TENSORFLOW = {
    "Session.run": "tensorflow/core/common_runtime/direct_session.cc DirectSession::Run",
    "place": "tensorflow/core/common_runtime/placer.cc Placer::Run",
    "optimise": "tensorflow/core/grappler/optimizers/meta_optimizer.cc RunMetaOptimizer",
    "prune": "tensorflow/core/graph/subgraph.cc RewriteGraphForExecution",
    "partition": "tensorflow/core/graph/graph_partition.cc Partition",
    "executor": "tensorflow/core/common_runtime/executor.cc ExecutorState::Process",
    "compute": "tensorflow/core/kernels/conv_ops_impl.h Conv2DOp::Compute",
}
ANSWER = ["program", *TENSORFLOW, "backend", "kernel", "innermost loop"]
COMPILED = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")


@pytest.fixture
def snippet():
    """The program of the question."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 5, 5, 1], name="x")
        w = tf.Variable(tf.ones([3, 3, 1, 2]), name="w")
        tf.Variable(tf.ones([3]), name="unused")
        conv = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME", name="conv")
        yield x, w, conv


def kinds(chain):
    return [step.what for step in chain.steps]


def step_of(chain, what):
    return next(step for step in chain.steps if step.what == what)


def without_times(chain):
    return re.sub(r"[\d.,]+ (µs|ms|s)\b", "", str(chain.all))


@COMPILED
def test_every_sentence_of_the_answer_is_in_the_chain(snippet):
    x, _, conv = snippet
    chain = tc.find_source(conv, feed_dict={x: X})
    assert kinds(chain) == ANSWER
    assert {step.what: step.tensorflow for step in chain.steps if step.tensorflow} == TENSORFLOW
    notes = {step.what: step.note for step in chain.steps}
    assert notes["program"] == "adds conv; computes nothing"
    assert notes["Session.run"] == "1 fetch, 1 feed"
    assert notes["place"] == "CPU:0, the first device with a kernel"
    assert notes["optimise"] == "nothing to share, fold or fuse"
    assert (
        notes["prune"]
        == "7 of 10 nodes not needed: x, ones, w/Assign, ones_1, unused, unused/Assign, unused/read"
    )
    assert notes["partition"] == "one subgraph, on CPU:0"
    assert notes["executor"].startswith("w, w/read, conv; started at: _arg_x_0_0 ")
    assert notes["compute"].startswith(
        "Conv2DOp for (Conv2D, CPU, default), its entry in KERNELS, made at conv_"
    )
    assert re.fullmatch(
        r"row_gemm: the general default; (avx512|avx2|baseline); \[1, 5, 5, 1\] \* \[3, 3, 1, 2\] -> \[1, 5, 5, 2\]",
        notes["backend"],
    )
    assert [line.mark for line in chain.lines] == ["stride", "padding", "dilation", "multiply-add"]


@COMPILED
def test_the_chain_is_printed_in_fifteen_lines(snippet):
    x, _, conv = snippet
    chain = tc.find_source(conv, feed_dict={x: X})
    lines = str(chain).split("\n")
    assert len(lines) == 15
    assert max(map(len, lines)) <= 100
    assert [line.split()[1] for line in lines[1:11]] == ANSWER[:-1]
    files = [place.rpartition("/")[2] for place in (step_of(chain, "prune").where, "subgraph.cc")]
    assert all(file in lines[5] for file in files)
    text = str(chain.all)
    for there in TENSORFLOW.values():
        assert there in text
    assert "unused/read" in text


def test_each_step_begins_at_the_line_that_it_names(snippet):
    x, _, conv = snippet
    chain = tc.find_source(conv, feed_dict={x: X})
    first_lines = {step.what: step.code(0)[0][1].strip() for step in chain.steps}
    assert first_lines["program"].startswith("conv = tf.nn.conv2d(x, w, strides")
    for what, begins in (
        ("Session.run", "def run("),
        ("place", "def place("),
        ("optimise", "def optimize("),
        ("prune", "def prune("),
        ("partition", "def partition("),
        ("executor", "def run("),
        ("compute", "def compute("),
    ):
        assert first_lines[what].startswith(begins)


def test_the_four_ways_to_ask_show_the_same_chain(snippet, capsys):
    x, _, conv = snippet
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(conv, {x: X}, run_metadata=metadata)
        asked = [
            tc.find_source(session.run, conv, {x: X}),
            tc.find_source(conv, feed_dict={x: X}),
            tc.find_source(conv.eval, {x: X}),
        ]
    shown = without_times(metadata.chain)
    assert [without_times(chain) for chain in asked] == [shown] * 3
    assert str(metadata) == str(metadata.chain)
    assert (
        main(
            ["find-source", "Session.run", "--input", "1,5,5,1", "--filters", "3,3,1,2", "--padding", "SAME"]
        )
        == 0
    )
    printed = capsys.readouterr().out.split("\n")
    assert [line.split()[1] for line in printed[1:9]] == ANSWER[:8]


def test_what_the_passes_did_is_that_of_this_run():
    with tg.Graph().as_default():
        x = tg.placeholder("float32", [1, 5, 5, 1], name="x")
        w = tg.constant(np.ones((3, 3, 1, 2), "float32"), name="w")
        conv = tg.nn.conv2d(x, tg.multiply(w, 2.0, name="twice"), name="conv")
        with tg.device("/cpu:1"):
            y = tg.nn.relu(tg.nn.bias_add(conv, [0.0, 1.0], name="biased"), name="y")
        session = tg.Session(config=tg.ConfigProto(device_count={"CPU": 2}))
        chain = tc.find_source(session.run, y, {x: X})
        notes = {step.what: step.note for step in chain.steps}
        assert notes["optimise"] == "constant folding: twice (Mul of constants: w, twice/y)"
        assert notes["place"] == (
            "CPU:0, the first device with a kernel: x, w, twice/y, twice, conv; "
            "CPU:1, asked for /device:CPU:1: biased/bias, biased, y"
        )
        assert notes["partition"].startswith(
            "2 subgraphs: CPU:0 4 nodes; CPU:1 4 nodes; sent: conv from /device:CPU:0"
        )
        fused = tc.find_source(session.run, tg.nn.relu(tg.nn.bias_add(conv, [0.0, 1.0])), {x: X})
        note = step_of(fused, "optimise").note
        assert "remapper: conv + BiasAdd + Relu -> Relu (Conv2D + BiasAdd + Relu, which nothing else" in note
        assert kinds(fused)[:4] == ["program", "program", "program", "Session.run"]


def test_without_a_session_there_is_one_whose_variables_are_initialised(snippet):
    x, w, conv = snippet
    assert "compute" in kinds(tc.find_source(conv, {x: X}))
    with tf.Session():  # the default session's are not
        stopped = tc.find_source(conv, {x: X})
    assert kinds(stopped) == ANSWER[:7]
    assert stopped.steps[-1].note.startswith("stops here: variable 'w' has no value yet: run its initializer")
    assert stopped.lines == ()
    assert "has no value yet" in str(stopped)
    assert step_of(stopped, "prune").note.startswith("7 of 10 nodes not needed")


def test_a_session_that_is_given_is_the_one_that_is_asked(snippet):
    x, w, conv = snippet
    given = tf.Session()
    given.run(w.initializer)
    with tf.Session():
        assert "compute" not in kinds(tc.find_source(conv.eval, {x: X}))
        assert "compute" in kinds(tc.find_source(conv.eval, {x: X}, session=given))


def test_what_a_partition_s_own_passes_did_is_told_there(snippet):
    x, _, _ = snippet
    same = [tf.square(x, name="a"), tf.square(x, name="b")]
    with tf.Session() as session:
        chain = tc.find_source(session.run, same, {x: X})
    assert step_of(chain, "optimise").note == "nothing to share, fold or fuse"
    assert step_of(chain, "partition").note == (
        "one subgraph, on CPU:0; common subexpressions in a partition: b -> a (the same Square of the same inputs)"
    )


def test_a_run_in_which_nothing_computes_has_a_chain_too(snippet):
    _, w, _ = snippet
    with tf.Session() as session:
        session.run(w.initializer)
        chain = tc.find_source(session.run, w)
    assert kinds(chain) == ANSWER[:7]
    assert chain.steps[0].name.startswith("w = tf.Variable(")
    assert chain.steps[-1].note.startswith("w, w/read; started at: w ")
    assert kinds(tg.RunMetadata().chain) == ANSWER[2:7]
    assert step_of(tg.RunMetadata().chain, "prune").note == "keeps the nodes that the fetches need"


def test_a_missing_feed_ends_the_chain(snippet):
    _, _, conv = snippet
    with tf.Session() as session:
        for chain in (tc.find_source(session.run, conv), tc.find_source(conv, feed_dict={})):
            assert kinds(chain) == ANSWER[:5]
            assert re.match(r"stops here: feed_dict must hold .* missing: 'x'", chain.steps[-1].note)
            assert "missing:" in str(chain)


def test_what_is_wrong_with_the_call_itself_is_raised(snippet):
    x, _, conv = snippet
    with tf.Session() as session:
        with pytest.raises(ValueError, match="must have shape"):
            tc.find_source(session.run, conv, {x: X[0]})
        with pytest.raises(TypeError, match="must be tensors"):
            tc.find_source(session.run, 3)
        with pytest.raises(ValueError, match="find_source follows only run of a session; got"):
            tc.find_source(session.close)


def test_a_run_that_assigns_leaves_the_values_as_they_are(snippet):
    x, w, conv = snippet
    step = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(conv))
    noise = tf.random_normal([3], seed=1)
    init = tf.global_variables_initializer()
    with tf.Session() as session:
        session.run(init)
        session.run(noise)
        chain = tc.find_source(session.run, [step, noise], {x: X})
        assert "ApplyGradientDescentOp.compute" in str(chain.all)
        assert "gradient function" in kinds(chain)
        assert (session.run(w) == 1).all()
        second = session.run(noise)
    with tf.Session() as session:
        session.run(init)
        session.run(noise)
        assert np.array_equal(session.run(noise), second)  # the generator's state is a copy's too


def test_a_traced_function_has_the_chain_of_a_function_and_keeps_its_variables():
    counter = tg.Variable(0.0)

    @tc.function
    def layer(x):
        counter.assign_add(1.0)
        return tg.nn.conv2d(x, np.ones((3, 3, 1, 2), "float32"))

    chain = tc.find_source(layer, X)
    assert kinds(chain)[:8] == ["traced function", "program", "call", *ANSWER[2:7]]
    assert step_of(chain, "call").tensorflow.endswith("concrete_function.py ConcreteFunction._call_flat")
    assert step_of(chain, "traced function").note.startswith("trace 1: the first call; signature x: ")
    assert step_of(tc.find_source(layer, X), "traced function").note == "traced before: the trace runs again"
    assert counter.numpy() == 0
    layer(X)
    assert counter.numpy() == 1


def test_an_eager_call_has_no_session_in_its_chain():
    chain = tc.find_source(tg.nn.conv2d, X, np.ones((3, 3, 1, 2), "float32"))
    assert step_of(chain, "execute").tensorflow.endswith("common_runtime/eager/execute.cc EagerExecute")
    assert not {"Session.run", "place", "executor"}.intersection(kinds(chain))
    both = tc.find_source(
        tf2.nn.separable_conv2d,
        X,
        np.ones((3, 3, 1, 2), "float32"),
        np.ones((1, 1, 2, 3), "float32"),
        [1, 1, 1, 1],
        "SAME",
    )
    assert [step.name for step in both.steps if step.what == "compute"] == [
        "DepthwiseConv2dNativeOp.compute",
        "Conv2DOp.compute",
    ]
    assert kinds(both).count("backend") == 2  # what ran, and no alternatives


@pytest.mark.parametrize(
    ("asked", "name", "there"),
    [
        ("Session.run", "Session.run", "DirectSession::Run"),
        ("TF_Session", "Session.run", "TF_SessionRun"),
        ("placer", "place", "Placer::Run"),
        ("Grappler", "optimize", "RunMetaOptimizer"),
        ("prune", "prune", "RewriteGraphForExecution"),
        ("partition", "partition", "Partition"),
        ("executor", "Executor.run", "ExecutorState::Process"),
        ("OpKernel", "OpKernel", "OpKernel"),
        ("Compute", "OpKernel.compute", "OpKernel::Compute"),
        ("REGISTER_KERNEL_BUILDER", "register_kernel", "REGISTER_KERNEL_BUILDER"),
        ("EagerExecute", "execute", "EagerExecute"),
    ],
)
def test_the_name_of_a_part_is_an_answer(asked, name, there, capsys):
    chain = tc.find_source(asked)
    here, in_tensorflow, _ = chain.steps
    assert here.name == name
    assert re.search(rf"\b(def|class) {name.rpartition('.')[2]}\b", here.code(0)[0][1])
    assert here.note
    assert in_tensorflow.name == there
    assert in_tensorflow.file.startswith("tensorflow/")
    assert main(["find-source", asked]) == 0
    assert in_tensorflow.file in capsys.readouterr().out


def test_the_whole_question_asks_for_the_op_and_a_function_for_its_part():
    asked = "I see tf.nn.conv2d -> gen_nn_ops.conv2d -> _apply_op ... session.run: where is it executed?"
    assert tc.find_source(asked).steps == tc.find_source("tf.nn.conv2d").steps
    part = tc.find_source("Session.run")
    assert (
        part.steps == tc.find_source("tf.compat.v1.Session.run").steps == tc.find_source(tg.Session.run).steps
    )
    with tf.Session(graph=tg.Graph()) as session:
        assert tc.find_source(session.run).steps == part.steps


def test_the_class_of_a_kernel_is_an_answer():
    chain = tc.find_source("Conv2DOp")
    assert [step.name for step in chain.steps[:5]] == [
        *("conv2d", "conv2d", "Conv2D", "Conv2DOp", "Conv2DOp.compute")
    ]
    assert all(tc.find_source(each.kernel.__name__).steps for each in KERNELS.values())


def test_a_tensor_that_has_not_run_says_how_to_see_its_run(snippet):
    _, _, conv = snippet
    step = step_of(tc.find_source(conv), "Session.run")
    assert "feed_dict" in step.note
