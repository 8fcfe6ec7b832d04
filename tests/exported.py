"""What the tests of ONNX export share: calls and models, and how the numbers that come back are judged.

``run(file, feeds)`` is our own run of a model, or onnxruntime's.
"""

import numpy as np
from keras_networks import NETWORKS
from layer_bounds import propagate
from peers import sweeps

import teachconv as tc
from teachconv import keras
from teachconv.keras import layers
from teachconv.truth import bounds

# ---------------------------------------------------------------------------------------------
# Calls: small integers make every sum exact, so that results must be equal
# ---------------------------------------------------------------------------------------------


def operators(model):
    return [node.op_type for node in model.graph.node]


def exported(op, arguments, stored=True):
    """A call as a model, with its filters in the file or as an input, and the arrays to feed."""
    given = arguments
    if not stored:
        given = {name: getattr(value, "shape", value) for name, value in arguments.items()}
        given["dtype"] = next(value.dtype for value in arguments.values() if isinstance(value, np.ndarray))
    model = tc.to_onnx(op, **given)
    return model, {info.name: arguments[info.name] for info in model.graph.input}


def run_here(model, feeds):
    return tc.onnx_model(model).run(feeds)["output"]


def check(op, arguments, run=run_here):
    want = op(**arguments)
    for stored in (True, False):
        got = run(*exported(op, arguments, stored))
        assert got.dtype == want.dtype
        assert got.shape == want.shape
        assert np.array_equal(got, want), (op, arguments)


def calls_of(problem):
    """Every op of one geometry on small integers: forward, transposed and gradients, depthwise as well."""
    rng, words = np.random.default_rng(0), dict(problem)
    x_shape, w_shape = words.pop("input_shape"), words.pop("filters_shape")

    def integers(shape):
        return rng.integers(-3, 4, shape).astype("float32")

    x, w = integers(x_shape), integers(w_shape)
    dy = integers(tc.conv2d_geometry(x_shape, w_shape, **words).output_shape)
    yield tc.conv2d, {"input": x, "filters": w, "bias": integers(w_shape[3])} | words
    yield tc.conv2d_backprop_input, {"input_sizes": x_shape, "filters": w, "out_backprop": dy} | words
    yield tc.conv2d_backprop_filter, {"input": x, "filter_sizes": w_shape, "out_backprop": dy} | words
    transposed = {"input": dy, "filters": w, "output_shape": x_shape, "bias": integers(x_shape[3])} | words
    try:
        tc.conv2d_transpose_geometry(dy.shape, w_shape, x_shape, **words)
    except ValueError:  # this size of the forward input is none that the transposed op may give
        pass
    else:
        yield tc.conv2d_transpose, transposed
    depthwise = (*w_shape[:2], x_shape[3], 2)
    dy = integers(tc.conv2d_geometry(x_shape, (*w_shape[:2], 1, 2 * x_shape[3]), **words).output_shape)
    w = integers(depthwise)
    yield tc.depthwise_conv2d, {"input": x, "filters": w} | words
    yield (
        tc.depthwise_conv2d_backprop_input,
        {"input_sizes": x_shape, "filters": w, "out_backprop": dy} | words,
    )
    yield (
        tc.depthwise_conv2d_backprop_filter,
        {"input": x, "filter_sizes": depthwise, "out_backprop": dy} | words,
    )


def dialect_calls(framework, seeds, rank=2):
    """The calls of a sweep that are legal and not empty, over so many axes, on small integers."""
    dialect = tc if framework == "tensorflow" else getattr(tc.dialects, framework)
    for seed in seeds:
        name, shapes, arguments = getattr(sweeps, framework)(seed, rank)
        rng = np.random.default_rng(seed)
        arrays = {key: rng.integers(-3, 4, shape).astype("float32") for key, shape in shapes.items()}
        try:
            result = getattr(dialect, name)(**arrays, **arguments)
        except (ValueError, TypeError):
            continue
        if result.size:
            yield getattr(dialect, name), arrays | arguments


# ---------------------------------------------------------------------------------------------
# Models: results must be within the bound that is propagated through the layers
# ---------------------------------------------------------------------------------------------


def random_weights(model, seed=0):
    """Weights of both signs; the last of a BatchNormalization, its variance, is positive."""
    rng = np.random.default_rng(seed)
    drawn = {weight.name: rng.standard_normal(weight.shape) for weight in model.weights}
    return [(abs(value) if "variance" in name else value).astype("float32") for name, value in drawn.items()]


def odd():
    """Layers as the recorded networks do not have them."""
    return keras.Sequential(
        [
            keras.Input((7, 9, 3)),
            layers.Conv2D(6, (3, 2), strides=(2, 3), padding="same", groups=3, activation="relu"),
            layers.MaxPooling2D((3, 2), strides=(2, 1), padding="same"),
            layers.Conv2DTranspose(4, (2, 3), strides=2, padding="same", output_padding=(1, 0)),
            layers.DepthwiseConv2D(2, dilation_rate=(1, 2), padding="same", depth_multiplier=2),
            layers.BatchNormalization(scale=True),
            layers.AveragePooling2D(2, strides=1, padding="same"),
            layers.Conv2DTranspose(3, 2, strides=3, padding="valid", use_bias=False),
            layers.Dense(5, activation="relu"),
            layers.Reshape((-1, 5)),
            layers.Dense(4, use_bias=False),
            layers.Activation("softmax"),
        ],
        name="odd",
    )


def channels_first():
    return keras.Sequential(
        [
            keras.Input((3, 8, 6)),
            layers.Conv2D(4, 3, padding="same", strides=2, data_format="channels_first"),
            layers.BatchNormalization(axis=1),
            layers.MaxPooling2D(2, data_format="channels_first"),
            layers.UpSampling2D((2, 3), data_format="channels_first"),
            layers.Flatten(data_format="channels_first"),
            layers.Dense(3),
        ],
        name="first",
    )


MODELS = {name: network[0] for name, network in NETWORKS.items()} | {"odd": odd, "first": channels_first}


def judged(build, run, batch=2, seed=0):
    """Whether ``run(file, feeds)`` gives the float64 model's numbers, each within its bound."""
    model = build()
    weights = random_weights(model, seed)
    model.set_weights(weights)
    x = np.random.default_rng(seed + 1).standard_normal((batch, *model.input_shape[1:])).astype("float32")
    file = tc.to_onnx(model)
    got = run(file, {file.graph.input[0].name: x})
    want, allowed = propagate(build, weights, x)
    assert got.dtype == np.float32
    assert got.shape == want.shape
    return bounds.judge(got, want.astype("float32"), allowed)
