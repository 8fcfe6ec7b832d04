"""Models as ONNX files: the operators, the numbers within their bound, and what is refused."""

import numpy as np
import pytest
from exported import MODELS, channels_first, judged, operators, random_weights, run_here
from keras_networks import NETWORKS, numbered
from layer_bounds import exact_models, propagate

import teachconv as tc
from teachconv import keras
from teachconv.keras import layers, onnx_export
from teachconv.truth import bounds

onnx = pytest.importorskip("onnx", reason="onnx is not installed")


@pytest.mark.parametrize("name", MODELS)
def test_every_layer_comes_back_within_its_bound(name):
    verdict = judged(MODELS[name], run_here)
    assert verdict.passed, verdict.fraction.max()


@pytest.mark.parametrize("name", ["mixed", "first"])
def test_float64_stays_float64(name):
    """Also where ONNX's attributes, such as the epsilon of BatchNormalization, are float32."""
    model, _ = exact_models(MODELS[name], random_weights(MODELS[name]()))
    x = np.random.default_rng(1).standard_normal((2, *model.input_shape[1:]))
    _, allowed = propagate(MODELS[name], model.get_weights(), x, "float64")
    file = tc.to_onnx(model)
    # both runs are in float64, and each may be off by the bound
    verdict = bounds.judge(run_here(file, {file.graph.input[0].name: x}), model.predict(x), 2 * allowed)
    assert verdict.passed, verdict.fraction.max()


def test_the_bound_sees_a_changed_weight():
    def changed(file, feeds):
        tensor = next(t for t in file.graph.initializer if t.name.endswith("filters"))
        array = onnx.numpy_helper.to_array(tensor) * np.float32(1.001)
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, tensor.name))
        return run_here(file, feeds)

    assert not judged(MODELS["digits"], changed).passed


def test_the_operators_are_those_of_the_layers():
    assert operators(tc.to_onnx(MODELS["digits"]())) == [
        *("Transpose", "Conv", "Relu", "MaxPool", "Transpose", "Flatten", "Gemm")
    ]
    mixed = operators(tc.to_onnx(MODELS["mixed"]()))
    assert mixed == [
        *("Transpose", "Conv", "BatchNormalization", "Relu", "AveragePool", "Resize", "Conv", "Relu"),
        *("Transpose", "Reshape", "Dropout", "Flatten", "Gemm", "Softmax"),
    ]
    # channels that come first need no Transpose but the one of Flatten, which puts them last
    assert operators(tc.to_onnx(channels_first())).count("Transpose") == 1


def test_a_trained_network_gives_its_predictions():
    model, images = MODELS["digits"](), NETWORKS["digits"][3][:6].astype("float32")
    model.set_weights(numbered("digits/initial"))
    file = tc.to_onnx(model)
    assert file.graph.input[0].name == model.input.name
    assert [dim.dim_param or dim.dim_value for dim in file.graph.input[0].type.tensor_type.shape.dim] == [
        *("batch", 8, 8, 1)
    ]
    assert (
        run_here(file, {file.graph.input[0].name: images}).argmax(-1) == model.predict(images).argmax(-1)
    ).all()
    report = tc.onnx_model(file)
    assert [node.call.filter_shape for node in report.nodes] == [(16, 1, 3, 3)]


def test_a_model_in_a_model_a_shared_layer_and_integers():
    again = layers.Dense(4, name="again")
    inner = keras.Sequential([keras.Input((4,)), again, layers.ReLU(), again], name="inner")
    whole = keras.Sequential([keras.Input((2, 2), dtype="int32"), layers.Flatten(), inner, layers.Dense(2)])
    file = tc.to_onnx(whole)
    assert operators(file) == ["Flatten", "Cast", "Gemm", "Relu", "Gemm", "Gemm"]
    assert len(file.graph.initializer) == 4  # two matrices and two biases: the shared ones once
    x = np.arange(12, dtype="int32").reshape(3, 2, 2)
    got, want = run_here(file, {file.graph.input[0].name: x}), whole.predict(x)
    sums = (
        abs(x).reshape(3, 4).sum(1, keepdims=True).max() * 5.0**2
    )  # |weights| below 1: three products of 4 terms
    assert bounds.judge(got, want, bounds.direct(np.float64(sums), 30, "float32")).passed


def test_a_gate_over_channels_in_another_order():
    """Multiply, Permute and the pool over all of a signal; the numbers are small integers, and so exact."""
    signal, gate = keras.Input((4, 3)), keras.Input((1, 3))
    gated = layers.Permute((2, 1))(layers.Multiply()([signal, gate]))
    model = keras.Model([signal, gate], layers.GlobalAveragePooling1D()(gated))
    file = tc.to_onnx(model)
    assert operators(file) == ["Mul", "Transpose", "ReduceMean"]
    x = [np.arange(24.0, dtype="float32").reshape(2, 4, 3) % 7, np.float32([[[3, -3, 6]], [[0, 3, 9]]])]
    named = dict(zip([each.name for each in file.graph.input], x, strict=True))
    moved = (x[0] * x[1]).transpose(0, 2, 1)
    wanted = moved.mean(1)
    np.testing.assert_array_equal(layers.GlobalMaxPooling1D()(moved), moved.max(1))
    np.testing.assert_array_equal(model(x), wanted)
    np.testing.assert_array_equal(run_here(file, named), wanted)


def test_every_layer_has_its_operator():
    kinds = {getattr(layers, name) for name in layers.__all__ if name[0].isupper()} - {
        layers.Layer,
        layers.Input,
        layers.Lambda,  # a function of which nothing is known
    }
    assert set(onnx_export._LAYERS) == kinds


def test_sizes_that_are_open_must_be_given():
    model = keras.Sequential([keras.Input((None, None, 1)), layers.Conv2D(2, 3, strides=2, padding="same")])
    with pytest.raises(tc.ArgumentError, match=r"input_shape must give all sizes .* \(None, None, None, 1\)"):
        tc.to_onnx(model)
    with pytest.raises(tc.ArgumentError, match="input_shape must fit"):
        tc.to_onnx(model, input_shape=(None, 8, 8, 3))
    file = tc.to_onnx(model, input_shape=(None, 8, 6, 1))
    x = np.ones((2, 8, 6, 1), "float32")
    assert run_here(file, {file.graph.input[0].name: x}).shape == (2, 4, 3, 2)


class Scale(layers.Layer):
    def call(self, inputs):
        return inputs * 2.0


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda: keras.Sequential([keras.Input((3,)), Scale(name="mine")]), "got 'mine' \\(Scale\\)"),
        (
            lambda: keras.Sequential(
                [keras.Input((3,)), layers.Dense(2, activation=tc.graph.tanh, name="d")]
            ),
            "activation of layer 'd' must be one of linear, relu, leaky_relu, elu, sigmoid, tanh, softmax",
        ),
        (lambda: keras.Sequential([layers.Dense(2)]), "has no weights yet"),
        (
            lambda: keras.Sequential([keras.Input((4, 4, 1), dtype="int32"), layers.MaxPooling2D(name="p")]),
            "layer 'p' must have a dtype .* got int32",
        ),
        (
            lambda: keras.Sequential(
                [keras.Input((3,), dtype="bfloat16"), layers.Dense(2, dtype="bfloat16")]
            ),
            "float16, float32, float64; got bfloat16",
        ),
    ],
    ids=["layer", "activation", "unbuilt", "integers", "bfloat16"],
)
def test_what_has_no_words_in_onnx_is_named(model, message):
    with pytest.raises(ValueError, match=message):
        tc.to_onnx(model())


def test_arguments_of_a_model():
    model = MODELS["digits"]()
    with pytest.raises(TypeError, match="input_shape and path alone; got strides"):
        tc.to_onnx(model, strides=2)
    with pytest.raises(TypeError, match="op must be a model"):
        tc.to_onnx(layers.Dense(2))
