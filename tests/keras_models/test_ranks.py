"""Layers of one axis, two and three, through all that a layer goes through; the table is that of the recorder."""

import json
from pathlib import Path

import numpy as np
import pytest
from recorders import record_keras_layers as script

import teachconv as tc
from teachconv import graph as tg
from teachconv import keras
from teachconv.keras import layers

RECORDED = np.load(Path(__file__).parents[1] / "recorded" / "keras_layers.npz")
META = json.loads(RECORDED["meta"].item())
NAMES = list(script.LAYERS)
CONVOLUTIONS = [name for name in NAMES if "Conv" in name]
EDGES = [name for name in NAMES if "ding2D" in name or "ping2D" in name or "Global" in name]


def made(name, **more):
    """A layer of the table with the recorded weights, built for its input."""
    kind, arguments, shape = script.LAYERS[name]
    layer = getattr(layers, kind)(**arguments, **more, input_shape=shape)
    layer.set_weights(script.weights(name, [tuple(weight.shape) for weight in layer.weights]))
    return layer


def recorded(name):
    found = [key for key in RECORDED.files if key.rpartition("/")[0] == name]
    return [RECORDED[f"{name}/{index}"] for index in range(len(found))]


def test_was_recorded_with_a_known_version():
    assert META["versions"] == {"keras": "3.15.1", "tensorflow": "2.21.0"}
    assert set(META["layers"]) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_layer_is_keras(name):
    """Output, gradients, shapes and weights; small integers make every sum exact."""
    layer, facts = made(name), META["layers"][name]
    assert list(layer.output_shape) == facts["output_shape"]
    assert layer.count_params() == facts["params"]
    ours = [[weight.name.rpartition("/")[2], list(weight.shape)] for weight in layer.weights]
    assert ours == facts["weights"]
    x = tg.constant(script.sample(name))
    with tg.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = layer(x)
        total = tg.reduce_sum(y * script.counts(name, tuple(y.shape)))
    found = [y, tape.gradient(total, x), *(tape.gradient(total, weight) for weight in layer.weights)]
    for ours, theirs in zip(found, recorded(name), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", NAMES)
def test_in_a_graph_with_sizes_that_only_the_run_knows(name):
    layer, x = made(name), script.sample(name)
    open_sizes = (None,) * (x.ndim - 1) + x.shape[-1:]
    unknown = layer.compute_output_shape(open_sizes)
    assert set(unknown[:-1]) == {None}
    assert unknown[-1] == layer.output_shape[-1]
    fresh = getattr(layers, script.LAYERS[name][0])(**script.LAYERS[name][1])
    fresh.build(open_sizes)
    fresh.set_weights(layer.get_weights())
    traced = tc.function(fresh).get_concrete_function(tg.TensorSpec(open_sizes, "float32"))
    np.testing.assert_array_equal(traced(x), recorded(name)[0])


@pytest.mark.parametrize(
    "name", [name for name in NAMES if "Separable" not in name and name not in (*EDGES, "LeakyReLU")]
)
def test_the_geometry_is_that_of_the_layer(name):
    layer = made(name)
    (geometry,) = layer.geometries(layer.input_shape)
    assert geometry.output_shape[1:-1] == layer.output_shape[1:-1]
    assert tc.receptive_field([geometry]).size == tuple(
        (k - 1) * d + 1 if not isinstance(layer, layers.Conv2DTranspose) else -(-((k - 1) * d + 1) // s)
        for k, d, s in zip(layer.window, geometry.dilations, layer.strides, strict=True)
    )


@pytest.mark.parametrize("name", EDGES)
def test_the_geometry_of_padding_and_of_the_whole_image(name):
    """A window of one cell, padded or cropped; and one as large as the image."""
    layer = made(name)
    (geometry,) = layer.geometries(layer.input_shape)
    whole = "Global" in name
    rows, cols = layer.input_shape[1:3]
    assert geometry.output_shape[1:3] == ((1, 1) if whole else layer.output_shape[1:3])
    assert tc.receptive_field([geometry]).size == ((rows, cols) if whole else (1, 1))
    sign = -1 if "Cropping" in name else 1
    assert whole or geometry.padding == tuple((sign * a, sign * b) for a, b in layer.padding)


def test_the_geometries_of_a_separable_layer_are_two():
    layer = made("SeparableConv1D")
    by_channel, by_cell = layer.geometries(layer.input_shape)
    assert (by_channel.groups, by_channel.out_channels, by_cell.filters_shape) == (2, 4, (1, 4, 4))
    assert by_channel.macs + by_cell.macs == 6 * 3 * 4 + 6 * 4 * 4


@pytest.mark.parametrize("name", [name for name in NAMES if "causal" not in name and name != "LeakyReLU"])
def test_channels_first_is_channels_last_turned(name):
    layer, x = made(name), script.sample(name)
    kind, arguments, _ = script.LAYERS[name]
    first = getattr(layers, kind)(**arguments, data_format="channels_first")
    turned = np.moveaxis(x, -1, 1)
    first.build((None, *turned.shape[1:]))
    first.set_weights(layer.get_weights())
    np.testing.assert_array_equal(np.moveaxis(first(turned).numpy(), 1, -1), layer(x))
    assert first.output_shape[1] == layer.output_shape[-1]


@pytest.mark.parametrize("name", NAMES)
def test_as_an_onnx_file(name):
    model = keras.Sequential([keras.Input(script.LAYERS[name][2]), made(name)])
    file, x = tc.to_onnx(model), script.sample(name)
    onnx_reference = pytest.importorskip("onnx.reference", reason="onnx is not installed")
    evaluator = onnx_reference.ReferenceEvaluator(file)
    (found,) = evaluator.run(None, {file.graph.input[0].name: x})
    np.testing.assert_array_equal(found, recorded(name)[0])


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_find_source_and_files(name, tmp_path):
    """A layer is followed to the loops, and its weights come back from a file."""
    model = keras.Sequential([keras.Input(script.LAYERS[name][2]), made(name)])
    chain = tc.find_source(model.layers[0], script.sample(name))
    assert chain.steps[0].what == "layer"
    assert "innermost loop" in [step.what for step in chain.steps]
    assert any(line.mark == "multiply-add" for line in chain.lines)
    before = [weight.copy() for weight in model.get_weights()]
    model.save_weights(tmp_path / "w.weights.npz")
    model.set_weights([0 * weight for weight in before])
    model.load_weights(tmp_path / "w.weights.npz")
    for a, b in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("backend", ["reference", "numpy", "scipy", "cython"])
@pytest.mark.parametrize("name", ["Conv1D causal, stride 2", "Conv3D", "Conv3DTranspose", "DepthwiseConv1D"])
def test_every_backend_computes_a_layer(name, backend):
    with tc.use_backend(backend):
        np.testing.assert_array_equal(made(name)(script.sample(name)), recorded(name)[0])


def test_a_model_of_signals_is_trained_summarised_and_turned_for_torch():
    """The last matrix is reordered for PyTorch, which flattens [channels, cols]."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential(
        [
            keras.Input((16, 2)),
            layers.Conv1D(8, 3, padding="causal", dilation_rate=2, activation="relu"),
            layers.MaxPooling1D(),
            layers.SeparableConv1D(8, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(2),
        ]
    )
    lines = []
    model.summary(geometry=True, print_fn=lines.append)
    row = next(row for row in lines[0].splitlines() if "Conv1D)" in row and "Separable" not in row)
    assert "3, dilation 2" in row
    assert "4, 0" in row
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((32, 16, 2)), np.arange(32) % 2
    x[y == 1, 8:, 0] += 3
    model.compile(keras.optimizers.Adam(0.02), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    losses = model.fit(x, y, epochs=8, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: layers.Conv2D(2, 3, padding="causal"), "padding must be .*valid.*same.*got 'causal'"),
        (lambda: layers.Conv1DTranspose(2, 3, padding="causal"), "padding must be .*got 'causal'"),
        (lambda: layers.DepthwiseConv1D(3, padding="causal"), "padding must be .*got 'causal'"),
        (lambda: layers.Conv1D(2, (3, 3)), "kernel_size must be"),
        (lambda: layers.Conv3D(2, (3, 3)), "kernel_size must be"),
        (lambda: layers.Conv1D(2, 3, 2, dilation_rate=2), "strides above 1 do not go with a dilation_rate"),
        (
            lambda: layers.Conv1D(2, 3, input_shape=(8, 8, 1)),
            r"it needs 3 axes \(batch, cols, channels\), not 4",
        ),
        (
            lambda: layers.MaxPooling3D(input_shape=(8, 8, 1)),
            r"it needs 5 axes \(batch, depth, rows, cols, ch",
        ),
        (lambda: layers.Conv3DTranspose(1, 3, 2, output_padding=2), "output_padding must be .*below strides"),
        (lambda: layers.SeparableConv2D(0, 3), "filters must be at least 1"),
        (lambda: layers.ZeroPadding2D(-1), r"padding must be an int, .* none negative; got -1"),
        (lambda: layers.ZeroPadding2D("same"), "padding must be an int, .*got 'same'"),
        (lambda: layers.ZeroPadding2D((1, 2, 3)), "padding must be an int"),
        (lambda: layers.ZeroPadding2D(((1, 2), (3,))), "padding must be an int"),
        (lambda: layers.ZeroPadding2D(None), "padding must be an int"),
        (lambda: layers.Cropping2D(1.5), "cropping must be an int, .*got 1.5"),
        (lambda: layers.Cropping2D(((0, -1), (0, 0))), "cropping must be an int, .* none negative"),
        (
            lambda: layers.Cropping2D(2, input_shape=(4, 4, 1)),
            r"layer '.*' \(Cropping2D\) cannot take an input",
        ),
        (lambda: layers.GlobalMaxPooling2D("channels_frist"), 'did you mean "channels_first"'),
        (lambda: layers.GlobalMaxPooling2D(input_shape=(4, 4)), "it needs 4 axes"),
        (lambda: layers.LeakyReLU(-0.1), "negative_slope must be from 0"),
        (lambda: layers.LeakyReLU(None), "negative_slope must be a number; got None"),
        (lambda: layers.ELU("1"), "alpha must be a number"),
    ],
)
def test_what_is_illegal_is_refused_by_name(make, message):
    with pytest.raises((ValueError, TypeError), match=message):
        make()


@pytest.mark.parametrize("padding", ["valid", "same"])
def test_depthwise_layers_take_strides_with_a_dilation(padding):
    """As Keras's do; the taps lie two cells apart, and every second window is kept."""
    layer = layers.DepthwiseConv1D(2, strides=2, padding=padding, dilation_rate=2, use_bias=False)
    layer.build((1, 7, 1))
    layer.set_weights([np.float32([1, 10]).reshape(2, 1, 1)])
    got = layer(np.arange(7, dtype="float32").reshape(1, 7, 1)).numpy().ravel().tolist()
    assert got == ([20, 42, 64] if padding == "valid" else [10, 31, 53, 5])
    with pytest.raises(ValueError, match="dilation_rate above 1, as in Keras"):
        layers.Conv1D(1, 2, strides=2, dilation_rate=2)
