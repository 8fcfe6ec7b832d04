"""Quantized files of two converters: each layer by its bits, ruined twins, and which layer's quantization hurts."""

import os
import subprocess
import sys

import numpy as np
import pytest
from networks import built_networks
from peers import frameworks as frameworks  # it sets what the frameworks read from the environment
from quantized_layers import KINDS, changed, image

import teachconv as tc

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # of the frameworks' own code
OPERATORS = ("CONV_2D", "DEPTHWISE_CONV_2D", "TRANSPOSE_CONV", "FULLY_CONNECTED")
NOT_DEFINED = ("add", "relu", "softmax")  # of integers


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    for name in ("keras", "tensorflow", "ai_edge_litert"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("tflite")
    # the converter takes models of Keras with TensorFlow, and this process may have loaded it with another one
    code = f"from pathlib import Path; import quantized_layers; quantized_layers.write(Path({str(folder)!r}))"
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


@pytest.mark.parametrize("change", ["weight", "weight scale", "zero point"])
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
    other, _ = changed(files["float ends"], operator, "scale")
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


@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
@pytest.mark.parametrize("label", ["normed", "mobile"])
def test_files_of_onnxruntime_s_own_quantizer(label, form, tmp_path):
    onnx = pytest.importorskip("onnx")
    quantization = pytest.importorskip("onnxruntime.quantization")
    maker = built_networks.NETWORKS[label](1)
    model = built_networks.build("onnx", maker.parts, maker.input_shape)
    (start,) = model.graph.input
    shape = [dim.dim_value for dim in start.type.tensor_type.shape.dim]
    images = [np.random.default_rng(seed).standard_normal(shape).astype("float32") for seed in range(5)]

    class Reader(quantization.CalibrationDataReader):
        waiting = [{start.name: image} for image in images[:4]]

        def get_next(self):
            return self.waiting.pop() if self.waiting else None

    path = tmp_path / "quantized.onnx"
    onnx.save(model, tmp_path / "float.onnx")
    words = {"quant_format": quantization.QuantFormat[form], "per_channel": True}
    quantization.quantize_static(tmp_path / "float.onnx", path, Reader(), **words)
    found = tc.compare(model, str(path), images[4])
    assert not found.unmatched
    assert found.sqnr > 40
    assert all(row.sqnr > 30 for row in found.layers), str(found)  # each scale is that of its own activation
    again = tc.compare(str(path), str(path), images[4])
    assert again.passed is (True if form == "QDQ" else None)
    for row in again.layers:
        assert row.same is True, row
        assert row.a_passed is (None if row.op_type in ("qgemm", "qlinearleakyrelu") else True), row
