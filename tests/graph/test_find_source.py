"""find_source of tensors: of a graph, of eager ops, and of what gradients and tapes return."""

import numpy as np
import pytest

import teachconv as tc
from teachconv import graph as tg
from teachconv import tf

X, W = np.ones((1, 8, 8, 1), "float32"), np.ones((3, 3, 1, 2), "float32")


def names(chain, what):
    return [step.name for step in chain.steps if step.what == what]


def test_a_node_is_followed_from_the_line_that_created_it():
    with tg.Graph().as_default():
        y = tg.nn.conv2d(X, W, name="conv")
        chain = tc.find_source(y)
    assert chain.query == "conv:0, which has not run,"
    first = chain.steps[0]
    assert (first.what, first.name) == ("created at", "conv")
    with open(first.file) as source:
        assert 'y = tg.nn.conv2d(X, W, name="conv")' in source.read().split("\n")[first.line - 1]
    assert names(chain, "op definition") == ["Conv2D"]
    assert names(chain, "backend") == ["cython.conv2d"]
    assert tc.find_source(y.op).steps == chain.steps


def test_the_gradient_of_a_convolution_is_the_kernel_of_conv2d_transpose():
    with tg.Graph().as_default():
        x = tg.placeholder("float32", X.shape)
        (dx,) = tg.gradients(tg.nn.conv2d(x, W), x)
        with tg.Graph().as_default():
            transposed = tg.nn.conv2d_transpose(np.ones((1, 6, 6, 2), "float32"), W, X.shape, padding="VALID")
    gradient, public = tc.find_source(dx), tc.find_source(transposed)
    assert names(gradient, "gradient function") == ["_conv2d_grad"]
    for what in ("op definition", "kernel", "backend"):
        assert names(gradient, what) == names(public, what) != []


def test_what_a_tape_returns_is_followed_from_its_gradient_function():
    w = tg.Variable(W)
    with tg.GradientTape() as tape:
        y = tg.nn.conv2d(X, w)
    chain = tc.find_source(tape.gradient(y, w))
    assert names(chain, "gradient function") == ["_conv2d_grad"]
    assert names(chain, "op definition") == ["Conv2DBackpropFilter"]
    assert names(tc.find_source(y), "op definition") == ["Conv2D"]
    assert names(tc.find_source(tg.constant(1.0)), "constant") == ["no op"]


def test_an_op_without_a_gradient_that_the_tape_passes_by_is_left_out():
    v = tg.Variable(np.ones((2, 2), "float32"))
    with tg.GradientTape() as tape:
        tf.reduce_prod(v)
        y = tg.square(v)
    assert len(names(tc.find_source(tape.gradient, y, v), "gradient function")) == 2  # Square's, the read's


def test_an_overridden_gradient_is_the_one_that_is_shown():
    @tg.RegisterGradient("TestHalfSquare")
    def half_square(op, grad):
        return grad * op.inputs[0]

    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [2])
        with graph.gradient_override_map({"Square": "TestHalfSquare"}):
            y = tg.square(x)
        (dx,) = tg.gradients(y, x)
    assert names(tc.find_source(dx), "gradient function") == ["half_square"]


def test_a_label_selects_the_backend():
    with tg.Graph().as_default():
        chain = tc.find_source(tg.nn.conv2d(X, W, backend="reference"))
    assert names(chain, "backend") == ["reference.conv2d"]


def test_a_tensor_is_not_called():
    with pytest.raises(ValueError, match="no arguments"):
        tc.find_source(tg.constant(1.0), X)


def test_a_function_of_tf_is_followed_with_and_without_the_arguments_of_a_call():
    forward = tc.find_source(tf.nn.conv2d, X, W, 1, "VALID")
    assert [(step.what, step.name) for step in forward.steps[:4]] == [
        ("public function", "conv2d"),
        ("public wrapper", "conv2d"),
        ("generated wrapper", "conv2d"),
        ("op definition", "Conv2D"),
    ]
    assert forward.steps[0].file.endswith("tf/nn.py")
    assert names(forward, "backend") == ["cython row_gemm"]  # the one that ran; without arguments it is all
    assert set(names(tc.find_source(tf.nn.conv2d), "backend")) > {"cython.conv2d", "reference.conv2d"}
    transposed = tc.find_source(tf.nn.conv2d_transpose, np.ones((1, 8, 8, 2), "float32"), W, (1, 8, 8, 1), 1)
    assert names(transposed, "op definition") == ["Conv2DBackpropInput"]
    assert names(tc.find_source(tf.nn.softmax), "public function") == ["softmax"]
    assert tc.find_source(tf.nn.relu).steps[0].what == "generated wrapper"  # which is the public one, too


def test_a_function_of_several_ops_is_followed_by_a_call():
    chain = tc.find_source(tf.nn.moments, X, [0, 1])
    assert {"Mean", "Square"} <= set(names(chain, "op definition"))
    alone = tc.find_source(tf.nn.moments)  # nothing runs: what its code names
    assert set(names(chain, "op definition")) <= set(names(alone, "op definition"))
    assert alone.steps[0] == chain.steps[0]


def test_a_function_that_adds_a_node_to_a_graph_is_followed_as_the_node():
    with tg.Graph().as_default():
        chain = tc.find_source(tf.nn.conv2d, tg.placeholder("float32", X.shape), W, 1, "VALID")
    assert chain.steps[0].what == "created at"
    assert names(chain, "op definition") == ["Conv2D"]
