"""Functions of one number, binary and absolute losses, metrics and RMSprop: what real Keras computed."""

import inspect
import json

import numpy as np
import pytest
from recorders import record_keras_layers  # noqa: F401  (the folder is a package)
from recordings import RECORDED

import teachconv as tc
from teachconv import graph as tg
from teachconv import keras
from teachconv.keras import layers
from teachconv.truth import bounds

ARRAYS = np.load(RECORDED / "keras_words.npz")
META = json.loads(ARRAYS["meta"].item())
U32, U64 = 2.0**-24, 2.0**-53
FUNCTIONS = sorted({name.rpartition("/")[0] for name in ARRAYS.files if name.endswith("/value")})
ARGUMENTS = {
    "leaky_relu of 0.5": {"negative_slope": 0.5},
    "elu of 2": {"alpha": 2.0},
}


def test_was_recorded_with_a_known_version():
    assert META["versions"] == {"keras": "3.15.1", "tensorflow": "2.21.0"}


@pytest.mark.parametrize("name", META["signatures"])
def test_signatures_are_those_of_keras(name):
    """What can be passed by position is the beginning of Keras' list; keywords have Keras' defaults."""
    thing = keras
    for part in name.split("."):
        thing = getattr(thing, part)
    theirs = dict(META["signatures"][name])
    ours = [each for each in inspect.signature(thing).parameters.values() if each.kind != each.VAR_KEYWORD]
    ours = [each for each in ours if each.name != "self"]
    by_position = [each.name for each in ours if each.kind == each.POSITIONAL_OR_KEYWORD]
    assert by_position == list(theirs)[: len(by_position)]
    for parameter in ours:
        if parameter.default is None:
            assert parameter.name in ("name", "data_format") or theirs[parameter.name] == "None"
        else:
            default = None if parameter.default is parameter.empty else repr(parameter.default)
            assert default == theirs[parameter.name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_keras(name):
    """Values and gradients in float64; exp, tanh and their kin are good to 4 ulp in every library."""
    function, arguments = getattr(keras.activations, name.split()[0]), ARGUMENTS.get(name, {})
    x = tg.constant(ARRAYS["x"])
    with tg.GradientTape() as tape:
        tape.watch(x)
        y = function(x, **arguments)
    allowed = bounds.gamma(32, U64)
    # leaky_relu's slope of 0.2 is rounded to float32, here as in TensorFlow
    np.testing.assert_allclose(y, ARRAYS[f"{name}/value"], rtol=allowed, atol=allowed)
    np.testing.assert_allclose(
        tape.gradient(y, x), ARRAYS[f"{name}/gradient"], rtol=8 * allowed, atol=8 * allowed
    )


def test_layers_and_names_of_functions_are_the_functions():
    x = ARRAYS["x"].astype("float32")[np.newaxis]
    for made, function, arguments in [
        (layers.LeakyReLU(), "leaky_relu", {"negative_slope": 0.3}),
        (layers.LeakyReLU(alpha=0.2), "leaky_relu", {}),
        (layers.ELU(), "elu", {}),
        (layers.ELU(0.5), "elu", {"alpha": 0.5}),
        (layers.Activation("sigmoid"), "sigmoid", {}),
        (layers.Activation("tanh"), "tanh", {}),
        (layers.Activation("leaky_relu"), "leaky_relu", {}),
        (layers.Activation("elu"), "elu", {}),
    ]:
        wanted = getattr(keras.activations, function)(x, **arguments)
        np.testing.assert_array_equal(made(x), wanted)
        model = keras.Sequential([keras.Input((49,)), made])
        if made.get_config().get("alpha") != 0.5:
            onnx = pytest.importorskip("onnx", reason="onnx is not installed")
            file = tc.to_onnx(model)
            onnx.checker.check_model(file)
            found = tc.onnx_model(file).run({file.graph.input[0].name: x})["output"]
            np.testing.assert_allclose(found, wanted, rtol=32 * U32, atol=32 * U32)
    whole = keras.Sequential([keras.Input((3,), dtype="float64"), layers.ELU(0.3, name="e", dtype="float64")])
    with pytest.raises(ValueError, match="alpha of layer 'e' must be a float32"):
        tc.to_onnx(whole)


@pytest.mark.parametrize("given", ["logits", "probabilities"])
def test_binary_crossentropy_is_keras(given):
    truth, scores, logits = ARRAYS["truth"], ARRAYS[given], given == "logits"
    loss = keras.losses.binary_crossentropy
    exact = np.asarray(loss(truth.astype("float64"), scores.astype("float64"), from_logits=logits))
    # log and exp are good to 8 u, of arguments that are rounded; their sizes are those of logits, at most 17
    size = 1 + abs(exact) + abs(ARRAYS["logits"]).max()
    allowed = bounds.gamma(32, U32) * size
    if not logits:  # 1 - p is rounded, and its logarithm divides by it, at least 1e-7
        allowed = allowed + U32 / 1e-7
    assert (abs(np.asarray(loss(truth, scores, from_logits=logits)) - exact) <= allowed).all()
    assert (abs(ARRAYS[f"binary_crossentropy/{given}"] - exact) <= allowed).all()
    mean = keras.losses.BinaryCrossentropy(from_logits=logits)(truth, scores)
    assert abs(float(mean) - ARRAYS[f"BinaryCrossentropy/{given}"]) <= 2 * np.max(allowed)


def test_the_logits_behind_a_sigmoid_are_found_again():
    """Minus the logarithm of a probability of e**-200 is 200; from the probability itself it would be 16.1."""
    logits = np.float32([[-200]])
    loss = keras.losses.binary_crossentropy
    assert loss([[1.0]], keras.activations.sigmoid(logits)).numpy().tolist() == [200.0]
    assert tc.function(lambda z: loss([[1.0]], tg.sigmoid(z)))(logits).numpy().tolist() == [200.0]


def test_the_absolute_loss_and_the_metrics_are_keras():
    truth, scores, logits = ARRAYS["truth"], ARRAYS["probabilities"], ARRAYS["logits"]
    exact = abs(truth.astype("float64") - scores).mean(-1)
    assert (
        abs(np.asarray(keras.losses.mae(truth, scores)) - exact) <= bounds.gamma(8, U32) * (1 + exact)
    ).all()
    for found, name in [
        (keras.losses.MeanAbsoluteError()(truth, scores), "MeanAbsoluteError"),
        (keras.metrics.MeanAbsoluteError()(truth, scores), "metrics.MeanAbsoluteError"),
        (keras.metrics.BinaryAccuracy()(truth, scores), "BinaryAccuracy"),
        (keras.metrics.BinaryAccuracy(threshold=0.0)(truth, logits), "BinaryAccuracy of 0"),
    ]:
        assert abs(float(found) - ARRAYS[name]) <= bounds.gamma(32, U32)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rmsprop", {"learning_rate": 2**-7, "rho": 0.875, "epsilon": 2**-20}),
        ("rmsprop with momentum", {"learning_rate": 2**-7, "rho": 0.75, "momentum": 0.5, "epsilon": 2**-10}),
    ],
)
def test_rmsprop_is_keras(name, arguments):
    weight, optimizer = tg.Variable(ARRAYS["start"]), keras.optimizers.RMSprop(**arguments)
    for gradient, theirs in zip(ARRAYS["gradients"], ARRAYS[name], strict=True):
        optimizer.apply_gradients(zip([tg.constant(gradient)], [weight], strict=True))
        np.testing.assert_allclose(weight.numpy(), theirs, rtol=bounds.gamma(64, U64))


def test_a_binary_classifier_trains():
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 2))
    y = (x[:, 0] > 0).astype(int)
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1, activation="sigmoid")])
    model.compile(keras.optimizers.RMSprop(0.1), "binary_crossentropy", metrics=["accuracy", "mae"])
    history = model.fit(x, y, epochs=8, verbose=0).history
    assert history["accuracy"][-1] > 0.9
    assert set(history) == {"accuracy", "loss", "mae"}
    with pytest.raises(ValueError, match="y must have the shape of the model's output"):
        model.fit(x, np.ones((64, 2)), verbose=0)
