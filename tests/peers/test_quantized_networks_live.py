"""Quantized files of TensorFlow's converter: each layer by its bits, ruined twins, and which layer's quantization hurts."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from peers import frameworks as frameworks  # it sets what the frameworks read from the environment

import teachconv as tc

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # of the frameworks' own code
OPERATORS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED")
NOT_DEFINED = ("add", "relu", "softmax")  # of integers
KINDS = ("int8", "float ends", "16x8")


def built():
    """A network with every layer that has integers of its own, and one with dilation."""
    from keras import Input, Model, Sequential, layers, utils

    utils.set_random_seed(0)
    start = Input((16, 16, 3))
    y = layers.Conv2D(8, 3, padding="same", activation="relu", name="stem")(start)
    y = layers.DepthwiseConv2D(3, 2, padding="same", name="depthwise")(y)
    y = layers.BatchNormalization(name="norm")(y)
    y = layers.ReLU(6.0, name="relu6")(y)
    y = layers.Add(name="sum")([y, layers.Conv2D(8, 1, name="pointwise")(y)])
    y = layers.MaxPooling2D(2, name="pool")(y)
    y = layers.Conv2DTranspose(6, 3, 2, padding="same", activation="relu", name="up")(y)
    y = layers.AveragePooling2D(2, name="average")(y)
    y = layers.Dense(10, name="dense")(layers.Flatten()(y))
    layer = layers.Conv2D(8, 3, padding="same", dilation_rate=2, name="dilated")
    dilated = Sequential([Input(batch_shape=(1, 16, 16, 3)), layer])
    return Model(start, layers.Softmax(name="softmax")(y)), dilated


def image(seed):
    return np.random.default_rng(seed).standard_normal((1, 16, 16, 3)).astype("float32")


def converted(network, kind):
    """The network as float, as full int8, as int8 with floats at both ends, or as 16x8."""
    import tensorflow

    converter, operations = tensorflow.lite.TFLiteConverter.from_keras_model(network), tensorflow.lite.OpsSet
    if kind != "float":
        converter.optimizations = [tensorflow.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image(seed)] for seed in range(20))
    if kind == "int8":
        converter.target_spec.supported_ops = [operations.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tensorflow.int8
    if kind == "16x8":
        wide = operations.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.target_spec.supported_ops = [wide]
    return converter.convert()


def write(folder):
    """Write the networks, and the files of TensorFlow's converter."""
    network, dilated = built()
    network.save(folder / "network.keras")
    dilated.save(folder / "dilated.keras")
    for kind in ("float", *KINDS):
        (folder / f"{kind}.tflite").write_bytes(converted(network, kind))
    (folder / "dilated.tflite").write_bytes(converted(dilated, "int8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    for name in ("keras", "tensorflow", "ai_edge_litert"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("tflite")
    # the converter takes models of Keras with TensorFlow, and this process may have loaded it with another one
    code = f"from pathlib import Path; from peers.{Path(__file__).stem} import write; write(Path({str(folder)!r}))"
    env = os.environ | {"KERAS_BACKEND": "tensorflow", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.fixture(scope="module")
def files(folder):
    return {kind: folder / f"{kind}.tflite" for kind in ("float", *KINDS)}


@pytest.fixture(scope="module")
def network(folder):
    import keras

    return keras.saving.load_model(folder / "network.keras")


def changed(path, operator, change):
    """Write a file in which the first operator of a kind has another weight, scale or zero point."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    graph, number = model.subgraphs[0], getattr(schema.BuiltinOperator, operator)
    codes = [max(code.builtinCode, code.deprecatedBuiltinCode) for code in model.operatorCodes]
    first = next(one for one in graph.operators if codes[one.opcodeIndex] == number)
    weights, y = (graph.tensors[at] for at in (first.inputs[1], first.outputs[0]))
    if change == "weight":
        data = np.array(model.buffers[weights.buffer].data, "uint8")
        data[0] += 64
        model.buffers[weights.buffer].data = data
    elif change == "scale":
        weights.quantization.scale = np.array(weights.quantization.scale) * np.float32(1.5)
    elif change == "zero point":
        y.quantization.zeroPoint = np.array(y.quantization.zeroPoint) + 9
    else:
        y.quantization.scale = np.array(y.quantization.scale) / 8
    builder = flatbuffers.Builder(0)
    builder.Finish(model.Pack(builder), b"TFL3")
    (other := path.with_name("changed.tflite")).write_bytes(bytes(builder.Output()))
    return other, y.name.decode().split(";")[0]


@pytest.mark.parametrize("kind", KINDS)
def test_each_layer_has_the_bits_of_its_own_arithmetic(files, kind):
    found = tc.compare(files[kind], files[kind], image(99))
    rows = {row.op_type: row for row in found.layers}
    assert {"convolution", "transposed convolution", "max pool", "average pool"} <= {*rows}
    assert sum(row.op_type == "convolution" for row in found.layers) == 4
    for row in found.layers:
        assert row.same is True, row
        assert row.a_passed is (None if row.op_type in NOT_DEFINED else True), row


def test_a_dilated_convolution_between_two_moves_of_its_cells(folder):
    import keras

    path, model = folder / "dilated.tflite", keras.saving.load_model(folder / "dilated.keras")
    found = tc.compare(path, path, image(99))
    assert found.passed, str(found)
    assert [row.op_type for row in found.layers] == ["convolution"]
    assert tc.compare(model, path, image(99)).sqnr > 30


@pytest.mark.parametrize("change", ["weight", "scale", "zero point"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_a_ruined_twin_is_named(files, operator, change):
    other, name = changed(files["int8"], operator, change)
    found = tc.compare(files["int8"], other, image(99))
    assert found.passed is not True
    assert found.first_wrong is None
    codes = [(row.b, row.code) for row in found.layers if row.code and name in (row.b or "")]
    assert codes, str(found)
    assert repr(name) in str(found)


def test_the_ranking_of_a_good_conversion(files, network):
    for kind, least in (("int8", 25), ("float ends", 25), ("16x8", 40)):
        found = tc.compare(network, files[kind], image(99))
        assert found.frameworks == ("keras", "tflite")
        assert found.sqnr > least, kind
        names = [row.name for row in found.layers]
        assert {"the input", "stem + stem (relu)", "depthwise + norm + relu6", "pointwise", "sum"} <= {
            *names
        }, names
        assert {"pool", "up (relu)", "average", "dense", "softmax"} <= {*names}, names
        assert not found.unmatched
        assert all(row.sqnr > 20 for row in found.layers), str(found)
        assert next(row for row in found.layers if row.name == "pool").sqnr > 100  # it adds nothing


@pytest.mark.parametrize(
    ("operator", "layer"),
    [
        ("CONV_2D", "stem + stem (relu)"),
        ("DEPTHWISE_CONV_2D", "depthwise + norm + relu6"),
        ("TRANSPOSE_CONV", "up"),
        ("FULLY_CONNECTED", "dense"),
    ],
)
def test_a_scale_eight_times_too_small_is_the_worst(files, network, operator, layer):
    right = tc.compare(network, files["float ends"], image(99))
    other, _ = changed(files["float ends"], operator, "result")
    found = tc.compare(network, other, image(99))
    assert (found.layers[0].name, found.layers[0].code) == (layer, "saturation"), str(found)
    scale = next(row.scale for row in right.layers if row.name == layer)
    assert found.layers[0].scale == pytest.approx(scale / 8)
    assert float(found.layers[0].reason.split("must be ")[1].split()[0]) == pytest.approx(scale, rel=0.5)


def test_a_float_file_beside_its_quantized_copy(files, network):
    right = tc.compare(network, files["int8"], image(99))
    found = tc.compare(files["float"], files["int8"], image(99))
    ours, theirs = ({row.tensor: row for row in each.layers} for each in (right, found))
    assert ours.keys() == theirs.keys()
    for tensor, row in ours.items():
        for name in ("sqnr", "total_sqnr", "rms_steps", "share"):
            assert (
                getattr(theirs[tensor], name) == pytest.approx(getattr(row, name), rel=0.02, abs=0.02)
                or row.sqnr > 90
            )
