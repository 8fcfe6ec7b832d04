"""The founding questions, typed: into the command line, and handed to find_source. See evaluation/questions.txt.

Into the search of the built pages tools/built_pages.py types them, because only `make docs` has those pages.
"""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
import questions

import teachconv as tc
from teachconv import graph as tg
from teachconv import tf
from teachconv.backends import why_not
from teachconv.cli.main import main

X, W = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
NAMES = [pair for block in questions.read() for pair in block.names]
COMPILED = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")


def fits_a_terminal(text):
    lines = text.rstrip("\n").split("\n")
    return len(lines) <= 15 and max(map(len, lines)) <= 100


def names(chain, what):
    return [step.name for step in chain.steps if step.what == what]


def test_each_question_has_a_source_and_a_page_that_is_there():
    blocks = questions.read()
    assert len(blocks) >= 5
    for block in blocks:
        assert block.source
        assert (Path(__file__).parents[1] / "docs" / f"{block.page}.md").is_file()


def test_each_query_wants_pages_that_are_there():
    found = questions.queries()
    assert len(found) >= 50
    for words, pages in found:
        for page in pages:
            notebook = f"notebooks/{page.removeprefix('learn/')}.ipynb"
            files = f"docs/{page}.md", f"docs/{page}.py", notebook  # a .py writes a page
            assert any((Path(__file__).parents[1] / file).is_file() for file in files), (words, page)


@pytest.mark.parametrize(("typed", "op"), NAMES)
def test_a_name_from_a_question_leads_to_its_op(capsys, typed, op):
    assert main(["find-source", typed]) == 0
    out = capsys.readouterr().out
    assert fits_a_terminal(out)
    assert re.search(rf"op definition +{op} ", out) or typed.startswith("conv2d")


def test_a_whole_question_is_taken_if_it_names_one_op(capsys):
    for typed in (
        "Tensorflow: Where is tf.nn.conv2d Actually Executed?",
        "What does tf.nn.conv2d do in tensorflow?",
    ):
        assert tc.find_source(typed).steps == tc.find_source("tf.nn.conv2d").steps
    gen = tc.find_source("looking for source code of from gen_nn_ops in tensorflow")
    assert names(gen, "generator") == ["generate"]
    assert main(["find-source", "Can I see where and how the strides are executed?"]) == 2
    assert "such a name is tf.nn.conv2d" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"names Conv2D, Conv2DBackpropInput$"):
        tc.find_source("is conv2d() the same as conv2d_transpose()?")


def test_words_of_a_sentence_are_no_ops():
    """ "is", "size" and "all" would be; what counts looks like code."""
    assert tc.find_source("is the size of all that conv2d adds").query == "conv2d"


@COMPILED
def test_a_call_of_tf_ends_at_the_loops_that_ran_in_nine_steps():
    chain = tc.find_source(tf.nn.conv2d, X, W, 2, "SAME")
    assert [step.what for step in chain.steps] == [
        "public function",
        "public wrapper",
        "generated wrapper",
        "op definition",
        "execute",
        "compute",
        "backend",
        "kernel",
        "innermost loop",
    ]
    own = tc.find_source(tc.conv2d, X, W, 2, "SAME")
    assert (chain.lines, chain.algorithm, chain.paths) == (own.lines, own.algorithm, own.paths)
    assert chain.steps[-2:] == own.steps[-2:]
    assert fits_a_terminal(str(chain))


@COMPILED
def test_the_default_kernel_that_is_named_is_the_one_that_most_calls_get():
    x, w = np.ones((1, 20, 20, 32), "float32"), np.ones((3, 3, 32, 32), "float32")
    calls = {
        "conv2d": (tc.conv2d, x, w, 2, "SAME"),
        "conv2d_backprop_input": (tc.conv2d_backprop_input, x.shape, w, x[:, ::2, ::2], 2, "SAME"),
        "conv2d_backprop_filter": (tc.conv2d_backprop_filter, x, w.shape, x[:, ::2, ::2], 2, "SAME"),
    }
    for name, call in calls.items():
        ran, listed = tc.find_source(*call), tc.find_source(name)
        kind = tc.nn_ops.OPS[name].kind
        (usual,) = (a.name for a in tc.backends.get("cython").ALGORITHMS if a.usual and kind in a.kinds)
        assert (ran.backend, ran.algorithm) == ("cython", usual)
        assert names(listed, "backend")[0].startswith("cython.")
        shown = str(listed).split("\n")
        assert names(ran, "kernel")[0] == names(listed, "kernel")[0] in "".join(shown)
        assert "default" in "".join(shown)
        for line in (line for line in ran.lines if line.file):
            assert line in listed.lines, kind


def test_every_chain_fits_a_terminal_and_says_what_is_left_out():
    for name in (
        "conv2d",
        "tf.nn.conv2d",
        "Conv2DBackpropFilter",
        "torch.conv_transpose2d",
        "_FusedConv2D",
        "Add",
    ):
        chain = tc.find_source(name)
        assert fits_a_terminal(str(chain)), name
        if chain.lines:
            assert re.search(r"and \d+ steps and \d+ lines more: --all", str(chain))
            assert len(str(chain.all).split("\n")) > 40
    assert "more" not in str(tc.find_source(tc.conv2d, X, W, backend="numpy"))


def test_a_tensor_says_that_nothing_has_run_and_then_what_did():
    with tf.Graph().as_default():
        image = tf.compat.v1.placeholder("float32", [None, 8, 8, 2])
        conv = tf.nn.conv2d(image, W, 2, "SAME", name="conv")
        out = tf.nn.relu(tf.nn.bias_add(conv, np.zeros(2, "float32")), name="out")
        assert "conv:0, which has not run," in str(tc.find_source(conv))
        with tf.compat.v1.Session() as session:
            session.run(conv, feed_dict={image: X})
            assert "which ran as Conv2DOp (Conv2D, CPU, default)" in str(tc.find_source(conv))
            assert "out:0, which has not run" in str(tc.find_source(out))
            session.run(out, feed_dict={image: X})
        assert "which ran as FusedConv2DOp" in str(tc.find_source(conv))  # as a part of it


def test_a_tensor_with_feeds_is_run_and_followed():
    with tg.Graph().as_default() as graph:
        image = tg.placeholder("float32", [None, 8, 8, 2])
        scale = tg.Variable(2.0)
        conv = tg.nn.conv2d(image, W, 2, "SAME", name="conv")
        scaled = conv * scale
    for arguments in (({image: X},), ()):
        chain = tc.find_source(conv, *arguments, **({} if arguments else {"feed_dict": {image: X}}))
        assert chain.query == "session.run(conv:0)"
        assert names(chain, "compute") == ["conv: Conv2DOp.compute"]
        assert names(chain, "program") == ['conv = tg.nn.conv2d(image, W, 2, "SAME", name="conv")']
        assert {line.mark for line in chain.lines} == {"stride", "padding", "dilation", "multiply-add"}
        assert fits_a_terminal(str(chain))
    with tg.Session(graph) as session:  # the default one has the values of the variables
        session.run(scale.initializer)
        assert "Mul" in str(names(tc.find_source(scaled, {image: X}), "compute"))
    # without a session, one of its own, whose variables are initialised
    assert "Mul" in str(names(tc.find_source(scaled, {image: X}), "compute"))
    with pytest.raises(TypeError, match="feeds"):
        tc.find_source(conv, feeds={image: X})


def test_a_tf_function_is_followed_with_its_arguments():
    @tf.function
    def layer(x):
        return tf.nn.relu(tf.nn.conv2d(x, W, 2, "SAME"))

    chain = tc.find_source(layer, X)
    assert chain.steps[0].what == "traced function"
    assert names(chain, "compute") == ["Conv2D: Conv2DOp.compute", "Relu: ReluOp.compute"]
    assert chain.backend
    assert fits_a_terminal(str(chain))


def test_a_layer_is_followed_with_its_input():
    chain = tc.find_source(tf.keras.layers.Conv2D(4, 3), X)
    assert fits_a_terminal(str(chain))
    assert chain.lines


def test_the_generated_module_says_the_next_step():
    module = tf.nn.conv2d_transpose.__globals__["gen_nn_ops"]
    file = inspect.getsourcefile(module)
    assert "teachconv.find_source(gen_nn_ops.conv2d)" in Path(file).read_text(encoding="utf-8")[:1200]
    assert names(tc.find_source(module), "generated module") == ["gen_nn_ops"]
    with pytest.raises(ValueError, match="gen_nn_ops; got 're'"):
        tc.find_source(re)
    assert "public wrapper" in [step.what for step in tc.find_source(module.conv2d).steps]
    called = tc.find_source(module.conv2d, X, W, strides=[1, 2, 2, 1], padding="SAME")
    assert [step.what for step in called.steps[:2]] == ["generated wrapper", "op definition"]


@pytest.mark.parametrize("name", ["conv2d", "conv2d_transpose", "convolution", "depthwise_conv2d"])
def test_the_help_of_a_function_of_tf_says_the_next_step(name):
    assert f"teachconv.find_source(tf.nn.{name}, " in inspect.getdoc(getattr(tf.nn, name))


def test_the_three_steps_are_drawn_with_the_numbers_of_the_call():
    image = np.float32([[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]]).reshape(1, 4, 4, 1)
    taps = np.float32([[1, 0, 1], [2, 1, 0], [0, 0, 1]]).reshape(3, 3, 1, 1)
    trace = tc.trace(tc.conv2d, image, taps, backend="numpy")
    assert trace.result[0, :, :, 0].tolist() == [[14, 6], [6, 12]]
    drawn = str(trace).split("\n")[-10:]
    assert drawn[0] == "patches [4, 9]     @  filter [9, 1]  =  product [4, 1]"
    rows = [re.findall(r"\d+", line) for line in drawn[1:5]]
    assert [list(map(int, row[:9])) for row in rows] == [
        [4, 3, 1, 2, 1, 0, 1, 2, 4],
        [3, 1, 0, 1, 0, 1, 2, 4, 1],
        [2, 1, 0, 1, 2, 4, 3, 1, 0],
        [1, 0, 1, 2, 4, 1, 1, 0, 2],
    ]
    assert [int(row[10]) for row in rows] == [14, 6, 6, 12]
    assert [int(line.split()[9 if i < 4 else 0]) for i, line in enumerate(drawn[1:])] == taps.ravel().tolist()
    assert "<pre>patches [4, 9]" in trace._repr_html_()


@pytest.mark.parametrize("backend", ["numpy", "reference"])
def test_the_three_steps_are_drawn_only_where_they_ran_and_fit(backend):
    for op, args in (
        (tc.conv2d, (np.ones((1, 20, 20, 1)), np.ones((3, 3, 1, 2)))),
        (tc.conv2d, (np.ones((1, 5, 5, 8)), np.ones((3, 3, 8, 1)))),
        (tc.conv2d_backprop_input, ((1, 4, 4, 1), np.ones((3, 3, 1, 1)), np.ones((1, 2, 2, 1)))),
        (tc.conv2d_backprop_filter, (np.ones((1, 4, 4, 1)), (3, 3, 1, 1), np.ones((1, 2, 2, 1)))),
    ):
        assert "product [" not in str(tc.trace(op, *args, backend=backend)).split("\n")[-1]
        assert "@" not in str(tc.trace(op, *args, backend=backend))
