"""Random calls, side by side with TensorFlow, PyTorch and JAX where they are installed (make test-peers)."""

import numpy as np
import pytest
from helpers import problems
from hypothesis import given, settings
from peers.frameworks import unwritten_by_onednn, wrong_in_jax

import teachconv as tc
from teachconv.core.geometry import conv2d_geometry
from teachconv.data.seeded import make_array

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # of the frameworks' own code


def arrays(problem, dtype="float32", data="integers"):
    g = conv2d_geometry(**problem)
    shapes = (("x", g.input_shape), ("w", g.filters_shape), ("dy", g.output_shape))
    return g, *(make_array(shape, dtype, data, name) for name, shape in shapes)


def options(problem):
    return {key: problem[key] for key in ("strides", "padding", "dilations")}


def agree(op, args, kwargs, theirs, name):
    report = tc.diff(op, *args, backends=["cython"], against={name: np.asarray(theirs)}, **kwargs)
    assert report.passed, report


@settings(max_examples=150)
@given(problem=problems())
def test_tensorflow(problem):
    tf = pytest.importorskip("tensorflow")
    if problem["padding"] == "SAME_LOWER":
        return  # TensorFlow has none
    if not isinstance(problem["padding"], str) and min(map(min, problem["padding"])) < 0:
        return  # nor a crop
    g, x, w, dy = arrays(problem)
    if unwritten_by_onednn(g):
        return
    pads = problem["padding"]
    if not isinstance(pads, str):
        pads = [[0, 0], list(pads[0]), list(pads[1]), [0, 0]]
    rows, cols = problem["strides"]
    common = {"strides": [1, rows, cols, 1], "padding": pads, "dilations": [1, *problem["dilations"], 1]}
    with tf.GradientTape() as tape:
        tx, tw = tf.constant(x), tf.constant(w)
        tape.watch([tx, tw])
        y = tf.nn.conv2d(tx, tw, **common)
    agree(tc.conv2d, (x, w), options(problem), y, "TensorFlow")
    if not isinstance(pads, str) and max(g.dilations) > 1:
        return  # TensorFlow has no CPU kernel for these gradients
    dx, dw = tape.gradient(y, [tx, tw], output_gradients=tf.constant(dy))
    agree(tc.conv2d_backprop_input, (x.shape, w, dy), options(problem), dx, "TensorFlow")
    agree(tc.conv2d_backprop_filter, (x, w.shape, dy), options(problem), dw, "TensorFlow")


@settings(max_examples=150)
@given(problem=problems())
def test_torch(problem):
    torch = pytest.importorskip("torch")
    g, x, w, dy = arrays(problem)
    (top, bottom), (left, right) = g.padding
    tx = torch.from_numpy(x.transpose(0, 3, 1, 2).copy()).requires_grad_()
    tw = torch.from_numpy(w.transpose(3, 2, 0, 1).copy()).requires_grad_()
    padded = torch.nn.functional.pad(tx, [max(0, pad) for pad in (left, right, top, bottom)])
    padded = torch.nn.functional.pad(padded, [min(0, pad) for pad in (left, right, top, bottom)])
    y = torch.nn.functional.conv2d(padded, tw, None, g.strides, 0, g.dilations, g.groups)
    agree(tc.conv2d, (x, w), options(problem), y.detach().numpy().transpose(0, 2, 3, 1), "PyTorch")
    y.backward(torch.from_numpy(dy.transpose(0, 3, 1, 2).copy()))
    dx, dw = tx.grad.numpy().transpose(0, 2, 3, 1), tw.grad.numpy().transpose(2, 3, 1, 0)
    agree(tc.conv2d_backprop_input, (x.shape, w, dy), options(problem), dx, "PyTorch")
    agree(tc.conv2d_backprop_filter, (x, w.shape, dy), options(problem), dw, "PyTorch")


@settings(max_examples=60)
@given(problem=problems())
def test_jax(problem):
    jax = pytest.importorskip("jax")
    g, x, w, dy = arrays(problem)
    if wrong_in_jax(g.padding):
        return

    def forward(x, w):
        return jax.lax.conv_general_dilated(
            x,
            w,
            g.strides,
            g.padding,
            rhs_dilation=g.dilations,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=g.groups,
        )

    y, back = jax.vjp(forward, x, w)
    dx, dw = back(dy)
    agree(tc.conv2d, (x, w), options(problem), y, "JAX")
    agree(tc.conv2d_backprop_input, (x.shape, w, dy), options(problem), dx, "JAX")
    agree(tc.conv2d_backprop_filter, (x, w.shape, dy), options(problem), dw, "JAX")
