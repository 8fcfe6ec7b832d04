"""Random layers over one, two and three axes beside real Keras, and functions of tf.nn beside TensorFlow, live."""

import os

import numpy as np
import pytest

import teachconv.tf as ours
from teachconv import keras as mine

pytestmark = pytest.mark.peers
KINDS = [
    "Conv1D",
    "Conv2D",
    "Conv3D",
    "Conv1DTranspose",
    "Conv2DTranspose",
    "Conv3DTranspose",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "SeparableConv1D",
    "SeparableConv2D",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "AveragePooling1D",
    "AveragePooling3D",
]


@pytest.fixture(scope="module")
def theirs():
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    return pytest.importorskip("keras", reason="keras is not installed")


def layer_of(rng, kind):
    """Arguments of a layer, and the shape of its input."""
    rank, transposed = (
        int(kind[kind.index("D") - 1]) if "Depth" not in kind else int(kind[-2]),
        "Transpose" in kind,
    )
    sizes = [int(rng.integers(4, 8 if rank < 3 else 6)) for _ in range(rank)]
    words = {"padding": str(rng.choice(["valid", "same"]))}
    if "Pooling" in kind:  # two, so that means are exact
        return words | {"pool_size": 2, "strides": int(rng.integers(1, 4))}, (*sizes, int(rng.integers(1, 4)))
    words["kernel_size"] = tuple(int(rng.integers(1, 4)) for _ in range(rank))
    steps = "strides" if transposed or rng.random() < 0.5 else "dilation_rate"
    same = int(rng.integers(1, 3))  # depthwise and separable ones want equal steps
    words[steps] = (
        (same,) * rank if "wise" in kind or "Sep" in kind else tuple(map(int, rng.integers(1, 3, rank)))
    )
    if kind == "Conv1D" and rng.random() < 0.4:
        words["padding"] = "causal"
    if "Depthwise" in kind or "Separable" in kind:
        words["depth_multiplier"] = int(rng.integers(1, 3))
    if "Depthwise" not in kind:
        words["filters"] = int(rng.integers(1, 4))
    if transposed and words["padding"] == "valid" and rng.random() < 0.5:
        words["output_padding"] = tuple(int(rng.integers(0, stride)) for stride in words["strides"])
    return words, (*sizes, int(rng.integers(1, 4)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_a_random_layer_is_keras(theirs, kind, seed):
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    words, shape = layer_of(rng, kind)
    one, other = getattr(mine.layers, kind)(**words), getattr(theirs.layers, kind)(**words)
    one.build((None, *shape))
    other.build((None, *shape))
    weights = [rng.integers(-3, 4, weight.shape).astype("float32") for weight in other.weights]
    one.set_weights(weights)
    other.set_weights(weights)
    x = rng.integers(-3, 4, (2, *shape)).astype("float32")
    np.testing.assert_array_equal(one(x), np.array(other(x)), err_msg=str(words))
    assert one.output_shape == tuple(other.compute_output_shape((None, *shape)))


@pytest.mark.parametrize("seed", range(12))
def test_functions_of_tf_nn_are_tensorflow_s(seed):
    tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed")
    rng = np.random.default_rng(seed)
    rank, stride, padding = (
        int(rng.choice([1, 3])),
        int(rng.integers(1, 3)),
        str(rng.choice(["SAME", "VALID"])),
    )
    sizes, taps = rng.integers(4, 7, rank).tolist(), rng.integers(1, 4, rank).tolist()
    ins, outs = rng.integers(1, 4, 2).tolist()
    x = rng.integers(-3, 4, (2, *sizes, ins)).astype("float32")
    w = rng.integers(-3, 4, (*taps, ins, outs)).astype("float32")
    y = ours.nn.convolution(x, w, stride, padding).numpy()
    np.testing.assert_array_equal(y, tf.nn.convolution(x, w, stride, padding))
    for name in (f"conv{rank}d", f"conv{rank}d_transpose"):
        steps = stride if rank == 1 else [1, *[stride] * rank, 1]
        given = (x, w) if name.endswith("d") else (y, w, list(x.shape))
        np.testing.assert_array_equal(
            getattr(ours.nn, name)(*given, steps, padding), getattr(tf.nn, name)(*given, steps, padding)
        )
    # TensorFlow has no gradient of a convolution whose data_format it was not told
    layout = "N" + "DHW"[-rank:] + "C"
    with tf.GradientTape() as their_tape, ours.GradientTape() as our_tape:
        a, b = tf.Variable(w), ours.Variable(w)
        totals = tf.reduce_sum(tf.nn.convolution(x, a, stride, padding, layout) * y)
        total = ours.reduce_sum(ours.nn.convolution(x, b, stride, padding, layout) * y)
    np.testing.assert_array_equal(our_tape.gradient(total, b), their_tape.gradient(totals, a))
