"""`teachconv.compare` on networks that are ported for real, and beside other tools on planted mistakes."""

import numpy as np
import pytest
from peers import frameworks as frameworks  # it sets what the frameworks read from the environment

import teachconv as tc

pytestmark = pytest.mark.peers
pytest.importorskip("torch")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of Keras' variables
def test_three_ports_agree_and_the_planted_mistake_is_found():
    pytest.importorskip("keras")
    import ported_networks

    found = 0
    for what, original, right, wrong, layer, code, x in ported_networks.ports():
        report = tc.compare(original, right, x)
        assert report.passed, (what, str(report))
        row = tc.compare(original, wrong, x).first_parting
        assert layer in (row.a + row.b), (what, row)
        assert code in row.code, (what, row)
        found += 1
    assert found == 3


@pytest.mark.slow
def test_networks_in_other_words_are_equal_and_their_twins_are_found():
    """Those of PyTorch and ONNX."""
    import equal_networks as nets

    verdicts, missed = {}, []
    for name in (name for name in nets.PAIRS if not name.startswith(("keras", "tflite"))):
        verdicts[name] = nets.run(name, nets.same)[0].passed
        report, places, _ = nets.run(name, nets.changed)
        missed += [] if nets.found(report, places) else [name]
    assert missed == []
    assert [name for name, passed in verdicts.items() if not passed] == []


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of Keras' variables
@pytest.mark.parametrize("rank", [1, 3])
def test_layers_over_one_and_three_axes_are_lined_up_with_keras_own(rank):
    keras, torch = pytest.importorskip("keras"), pytest.importorskip("torch")
    first, second = (getattr(torch.nn, f"{name}{rank}d") for name in ("Conv", "ConvTranspose"))
    theirs = torch.nn.Sequential(first(4, 6, 3, padding=1), torch.nn.ReLU(), second(6, 3, 4, 2, 1)).eval()
    first, second = (getattr(keras.layers, f"Conv{rank}D{end}") for end in ("", "Transpose"))
    layers = first(6, 3, padding="same"), keras.layers.ReLU(), second(3, 4, 2, padding="same")
    model = keras.Sequential([keras.Input((*(5, 4, 3)[:rank], 4)), *layers])
    for at, transposed in ((0, False), (2, True)):
        weight, bias = (getattr(theirs[at], name).detach().numpy() for name in ("weight", "bias"))
        model.layers[at].set_weights([tc.convert_filters(weight, "torch", "keras", transposed), bias])
    x = np.random.default_rng(0).standard_normal((1, *(5, 4, 3)[:rank], 4)).astype("float32")
    report = tc.compare(model, theirs, x)
    assert report.passed, str(report)
    assert [row.op_type for row in report.layers] == ["convolution", "relu", "transposed convolution"]


@pytest.mark.release
def test_beside_polygraphy_and_verify_onnx_program():
    """What docs/comparing_tools.inc shows: all find where numbers part, `compare` says why."""
    for name in ("onnx", "onnxruntime", "onnxscript", "polygraphy"):
        pytest.importorskip(name)
    from peers import comparing_tools

    for what, layer, row, (_, polygraphy, torch) in comparing_tools.findings():
        assert layer == row.a, what
        assert row.code, what
        assert "outputs differ" in polygraphy
        assert "values differ" in torch


def small_integers(model):
    """Give a model of PyTorch or Keras weights whose sums every framework computes exactly."""
    random = np.random.default_rng(0)
    if hasattr(model, "set_weights"):
        model.set_weights([random.integers(-2, 3, w.shape).astype("float32") for w in model.get_weights()])
        return model
    import torch

    with torch.no_grad():
        for w in model.parameters():
            w.copy_(torch.from_numpy(random.integers(-2, 3, tuple(w.shape)).astype("float32")))
    return model.eval()


@pytest.mark.slow
@pytest.mark.parametrize("to", ["tensorflow", "torch", "jax", "onnx", "keras"])
def test_a_sequential_of_pytorch_runs_in_every_framework(to):
    import torch
    from torch import nn

    pytest.importorskip(to)
    model = small_integers(nn.Sequential(
        nn.ZeroPad2d((0, 1, 0, 1)), nn.Conv2d(3, 4, 3, 2), nn.ReLU6(), nn.MaxPool2d(2, 1), nn.Dropout(),
        nn.Conv2d(4, 4, 3, padding=1, groups=2, bias=False), nn.ConstantPad2d(1, 2.0), nn.Hardtanh(-3, 9),
        nn.LeakyReLU(0.5), nn.ConvTranspose2d(4, 2, 3, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(242, 5),
    ))  # fmt: skip
    x = np.random.default_rng(1).integers(-2, 3, (2, 3, 10, 10)).astype("float32")
    found = tc.translate(model, x.shape, to=to)
    assert found.possible, found.why
    with torch.no_grad():
        want = model(torch.from_numpy(x)).numpy()
    assert np.array_equal(found.function()(x, found.weights), want)
    assert found.check().passed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of Keras' variables
@pytest.mark.parametrize("to", ["tensorflow", "torch", "onnx", "keras"])
def test_a_sequential_of_keras_runs_in_every_framework(to):
    keras = pytest.importorskip("keras")
    pytest.importorskip(to)
    layers = keras.layers
    model = small_integers(keras.Sequential([
        keras.Input((11, 9, 3)), layers.Conv2D(4, 3, 2, "same", activation="relu"), layers.ZeroPadding2D(1),
        layers.DepthwiseConv2D(3), layers.AveragePooling2D(2, 1), layers.ReLU(max_value=2.0),
        layers.Conv2DTranspose(2, 3, strides=2, padding="same"), layers.Flatten(), layers.Dense(4),
    ]))  # fmt: skip
    x = np.random.default_rng(1).integers(-2, 3, (2, 11, 9, 3)).astype("float32")
    found = tc.translate(model, x.shape, to=to)
    assert found.possible, found.why
    assert np.array_equal(found.function()(x, found.weights), np.asarray(model(x)))


def test_a_model_that_is_no_chain_is_not_translated():
    import torch
    from torch import nn

    class Branch(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 2, 1)

        def forward(self, x):
            return self.conv(x) + x

    class Moved(nn.Sequential):
        def forward(self, x):
            return torch.relu(super().forward(x).permute(0, 2, 3, 1))

    for model, words in (
        (Branch(), "'add' does not take the result of the layer before it alone"),
        (Moved(nn.Conv2d(2, 2, 1)), "no axes change places"),
        (nn.Sequential(nn.Conv2d(3, 2, 1)), "raised RuntimeError"),
    ):
        with pytest.raises(ValueError, match=words):
            tc.translate(model.eval(), (1, 2, 6, 6), to="jax")


def as_tensorflow(parts, shape):
    """The layers of a list of parts as one function of TensorFlow, for its converter."""
    import tensorflow as tf

    def layer(part, x):
        facts, w = part.facts, part.weights
        words = [facts.get("stride", 1), facts.get("padding", "valid").upper()]
        if part.kind == "conv":
            return tf.nn.conv2d(x, w["kernel"], *words, dilations=facts["dilation"]) + w["bias"]
        if part.kind == "depthwise":
            strides = [1, words[0], words[0], 1]
            return tf.nn.depthwise_conv2d(x, w["kernel"], strides, words[1]) + w["bias"]
        if part.kind == "max_pool":
            return tf.nn.max_pool2d(x, facts["size"], *words)
        if part.kind == "average_pool":
            return tf.nn.avg_pool2d(x, facts["size"], *words)
        if part.kind == "dense":
            return tf.matmul(x, w["kernel"]) + w["bias"]
        return tf.nn.relu(x) if part.kind == "relu" else tf.reshape(x, (1, -1))

    @tf.function(input_signature=[tf.TensorSpec((1, *shape), tf.float32)])
    def network(x):
        for part in parts:
            x = layer(part, x)
        return x

    return network.get_concrete_function()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_outputs_of_a_tflite_file_have_the_order_of_their_numbers(tmp_path):
    """Not that in which the converter writes them."""
    pytest.importorskip("ai_edge_litert")
    tf = pytest.importorskip("tensorflow")
    from teachconv.networks.recorder import record_tflite

    held = tf.Module()
    held.call = tf.function(
        lambda x: {f"output_{n}": x[:, : n + 1] * 2.0 for n in range(12)},
        input_signature=[tf.TensorSpec((1, 12), tf.float32)],
    )
    tf.saved_model.save(held, str(tmp_path / "model"), signatures=held.call.get_concrete_function())
    path = tmp_path / "model.tflite"
    path.write_bytes(tf.lite.TFLiteConverter.from_saved_model(str(tmp_path / "model")).convert())
    returned = record_tflite(path, np.ones((1, 12), "float32"))[-1]["returned"]
    assert [value.size for _, value in returned] == [*range(1, 13)]


@pytest.mark.slow
@pytest.mark.filterwarnings(
    "ignore:Statistics for quantized inputs:UserWarning", "ignore::DeprecationWarning"
)
def test_a_tflite_file_beside_the_model_that_it_came_from(tmp_path):
    pytest.importorskip("ai_edge_litert")
    tf = pytest.importorskip("tensorflow")
    from networks import built_networks as nets

    maker = nets.Maker(3, (12, 10, 3)).conv(6, 3, 2).relu().depthwise().relu().conv(6, 3, dilation=2).relu()
    maker = maker.pool("max_pool", 3, 2, "same").pool("average_pool", 2, 1).flatten().dense(4)
    model = nets.build("teachconv", maker.parts, maker.input_shape)
    x = np.random.default_rng(0).standard_normal((1, *maker.input_shape)).astype("float32")
    path = tmp_path / "model.tflite"

    def convert(parts, **options):
        converter = tf.lite.TFLiteConverter.from_concrete_functions([as_tensorflow(parts, maker.input_shape)])
        for name, value in options.items():
            setattr(converter, name, value)
        path.write_bytes(converter.convert())

    convert(maker.parts)
    for pair in ((model, path), (path, model)):
        report = tc.compare(*pair, x)
        assert report.passed, str(report)
    for what in ("flipped", "dilation"):
        layer, _, codes, parts = next(each for each in nets.mutants(maker.parts) if each[1] == what)
        convert(parts)
        row = tc.compare(model, path, x).first_parting
        assert layer in row.a
        assert row.code in codes
        assert row.share == pytest.approx(1, abs=1e-3)  # the rest runs again with this layer's exact result
    convert(maker.parts, optimizations=[tf.lite.Optimize.DEFAULT], representative_dataset=lambda: [[x]] * 3)
    report = tc.compare(path, path, x)
    assert report.passed, str(report)  # by the bits of int8
    assert tc.compare(model, path, x).sqnr > 25
