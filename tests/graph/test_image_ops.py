"""Patches, other sizes and what else is composed of ops for images. Values without another source: TensorFlow 2.21."""

from functools import partial

import numpy as np
import pytest

import teachconv as tc
from teachconv import graph as tg
from teachconv.graph.ops import image_ops, nn_impl

IMAGE = np.arange(12, dtype="float32").reshape(1, 3, 4, 1)
SIZES = {  # (nearest, align_corners, half_pixel_centers) -> the image in 2 x 5
    (False, False, False): [0, 0.8, 1.6, 2.4, 3, 6, 6.8, 7.6, 8.4, 9],
    (False, True, False): [0, 0.75, 1.5, 2.25, 3, 8, 8.75, 9.5, 10.25, 11],
    (False, False, True): [1, 1.7, 2.5, 3.3, 4, 7, 7.7, 8.5, 9.3, 10],
    (True, False, False): [0, 0, 1, 2, 3, 4, 4, 5, 6, 7],
    (True, True, False): [0, 1, 2, 2, 3, 8, 9, 10, 10, 11],
    (True, False, True): [0, 1, 2, 2, 3, 8, 9, 10, 10, 11],
}
GRADIENTS = {
    "bilinear": [0.225, 1.275, 2.325, 3.675, 1.775, 2.35, 3.05, 4.075, 5.1, 5.775, 6.825, 8.55],
    "nearest": [0, 1, 5, 4, 0, 0, 0, 0, 5, 6, 15, 9],
}


def gradient(function, values):
    x = tg.Variable(values)
    with tg.GradientTape() as tape:
        y = function(x)
    return tape.gradient(y, x).numpy()


@pytest.mark.parametrize("rule", SIZES, ids=str)
def test_the_three_rules_for_where_a_pixel_lies(rule):
    np.testing.assert_allclose(
        image_ops.resized(IMAGE, [2, 5], *rule).numpy().ravel(), SIZES[rule], rtol=1e-6
    )
    np.testing.assert_allclose(
        image_ops.resized(IMAGE[0], [2, 5], *rule).numpy().ravel(), SIZES[rule], rtol=1e-6
    )


@pytest.mark.parametrize("method", GRADIENTS)
def test_the_gradient_of_another_size(method):
    weights = np.arange(10, dtype="float32").reshape(1, 2, 5, 1)
    found = gradient(lambda x: tg.reduce_sum(image_ops.resize(x, [2, 5], method) * weights), IMAGE)
    np.testing.assert_allclose(found.ravel(), GRADIENTS[method], rtol=1e-5)


def test_dtypes_and_methods_of_another_size():
    assert image_ops.resize(IMAGE.astype("uint8"), (2, 2), "nearest").dtype == "uint8"
    assert image_ops.resize(IMAGE.astype("uint8"), (2, 2)).dtype == "float32"
    with pytest.raises(ValueError, match="method must be .*got 'bicubic'"):
        image_ops.resize(IMAGE, (2, 2), "bicubic")


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("name", ["depth_to_space", "space_to_depth"])
def test_blocks_of_pixels_in_a_session_a_function_and_their_gradient(name, data_format):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 4, 8, 12) if data_format == "NHWC" else (3, 12, 4, 8)).astype("float32")
    law, op = getattr(tc, name), partial(getattr(image_ops, name), block_size=2, data_format=data_format)
    want = law(x, 2, data_format)
    assert np.array_equal(op(x).numpy(), want)
    assert np.array_equal(tg.function(op)(x).numpy(), want)
    with tg.Graph().as_default(), tg.Session() as session:
        fed = tg.placeholder("float32", (None, *x.shape[1:]))
        y = op(fed)
        assert y.shape.as_list() == [None, *want.shape[1:]]
        weights = rng.normal(size=want.shape).astype("float32")
        (grad,) = tg.gradients(tg.reduce_sum(y * weights), [fed])
        value, slope = session.run([y, grad], {fed: x})
    assert np.array_equal(value, want)
    other = tc.space_to_depth if name == "depth_to_space" else tc.depth_to_space
    assert np.array_equal(slope, other(weights, 2, data_format))
    with pytest.raises(ValueError, match="must be a multiple of"):
        op(x[:, :3, :, :11] if data_format == "NHWC" else x[:, :11, :3])
    with pytest.raises(ValueError, match="input must have known sizes"), tg.Graph().as_default():
        op(tg.placeholder("float32"))


def test_patches_are_the_rows_of_the_three_steps():
    found = image_ops.extract_patches(IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], [1, 2, 1, 1], "SAME").numpy()
    assert found.tolist() == [[[[0, 0, 4, 5], [0, 0, 6, 7]], [[4, 5, 0, 0], [6, 7, 0, 0]]]]
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 6, 5, 3)).astype("float32"), rng.normal(size=(3, 2, 3, 4)).astype("float32")
    rows = image_ops.extract_patches(x, [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 1, 1], "SAME")
    steps = tg.matmul(rows, w.reshape(-1, 4))
    np.testing.assert_allclose(steps, tg.nn.conv2d(x, w, (2, 1), "SAME"), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="images must have known sizes"), tg.Graph().as_default():
        image_ops.extract_patches(tg.placeholder("float32"), [1, 2, 2, 1], 1, 1, "SAME")


def test_the_gradient_of_patches_counts_the_windows_over_a_cell():
    found = gradient(
        lambda x: tg.reduce_sum(image_ops.extract_patches(x, [1, 2, 2, 1], [1] * 4, [1] * 4, "VALID")), IMAGE
    )
    assert found.ravel().tolist() == [1, 2, 2, 1, 2, 4, 4, 2, 1, 2, 2, 1]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_the_gradient_of_gather_adds_up_over_an_axis(axis):
    """By hand: how often an index is taken, along the axis."""
    x = np.zeros((2, 3, 2), "float32")
    indices = np.int32([[1, 1], [0, 1]])
    found = gradient(lambda x: tg.reduce_sum(tg.gather(x, indices, axis=axis)), x)
    wanted = np.zeros_like(x)
    np.add.at(np.moveaxis(wanted, axis, 0), indices.ravel(), 1)
    assert (found == wanted).all()


def test_parts_of_a_tensor():
    x = np.arange(12).reshape(2, 6)
    assert [part.numpy().tolist() for part in tg.split(x, 3, axis=1)] == [
        [[0, 1], [6, 7]],
        [[2, 3], [8, 9]],
        [[4, 5], [10, 11]],
    ]
    assert [part.shape for part in tg.split(x, [1, -1, 2], -1)] == [(2, 1), (2, 3), (2, 2)]
    for number in (4, [1, 2], [7, -1], 0):
        with pytest.raises(ValueError, match="num_or_size_splits must divide the 6 of axis 1"):
            tg.split(x, number, 1)
    with tg.Graph().as_default(), pytest.raises(ValueError, match="known size along axis 0"):
        tg.split(tg.placeholder("float32", [None, 2]), 2)
    with tg.Graph().as_default():
        first, second = tg.split(tg.placeholder("float32", [None, 4]), 2, 1)
        assert (first.shape.as_list(), second.shape.as_list()) == ([None, 2], [None, 2])


def test_norms_and_their_gradients():
    vector = np.float32([3, 4])
    np.testing.assert_allclose(
        gradient(lambda x: nn_impl.clip_by_norm(x, 2.0)[0], vector), [0.256, -0.192], rtol=1e-5
    )
    np.testing.assert_allclose(
        gradient(lambda x: nn_impl.l2_normalize(x)[0], vector), [0.128, -0.096], rtol=1e-5
    )
    assert nn_impl.clip_by_norm(vector, 9.0).numpy().tolist() == [3, 4]
    found = gradient(lambda x: tg.reduce_sum(nn_impl.clip_by_norm(x, 2.0)), np.zeros(2, "float32"))
    assert found.tolist() == [1, 1]  # not NaN, although a root has no gradient at 0
    with pytest.raises(ValueError, match="both 'dim' and 'axis'"):
        nn_impl.l2_normalize(vector, axis=0, dim=0)
