"""The ONNX importer, on models made here: nodes, shapes, constants, and the check against onnxruntime."""

import sys

import numpy as np
import pytest

import teachconv as tc
from teachconv.cli.main import main


@pytest.fixture
def model_file(tmp_path, rng):
    """Return a file with two Convs, a ConvTranspose, a 1-D Conv and a dynamic input."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper

    def weights(name, *shape):
        return numpy_helper.from_array(rng.standard_normal(shape).astype("float32"), name)

    constant = helper.make_node("Constant", [], ["w2"], value=weights("", 6, 1, 3, 3))
    nodes = [
        helper.make_node(
            "Conv", ["x", "w1", "b1"], ["a"], name="first", strides=[2, 2], auto_pad="SAME_LOWER"
        ),
        helper.make_node("Relu", ["a"], ["r"]),
        constant,
        helper.make_node("Conv", ["r", "w2"], ["c"], name="depthwise", group=6, pads=[1, 1, 1, 1]),
        helper.make_node("ConvTranspose", ["c", "w3"], ["y"], strides=[2, 2], pads=[0, 0, 1, 1]),
        helper.make_node("Conv", ["v", "w4"], ["z"], name="one dimension"),
    ]
    inputs = [
        helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3, "rows", 10]),
        helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, [1, 2, 9]),
    ]
    outputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in ("y", "z")]
    initializers = [
        weights("w1", 6, 3, 3, 3),
        weights("b1", 6),
        weights("w3", 6, 2, 3, 3),
        weights("w4", 1, 2, 3),
    ]
    graph = helper.make_graph(nodes, "model", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    return path


def test_nodes_are_listed_with_their_geometry(model_file):
    model = tc.onnx_model(model_file, {"x": (1, 3, 9, 10)})
    assert [node.name for node in model.nodes] == ["first", "depthwise", "y"]
    assert model.skipped == 1
    first, depthwise, up = (node.call for node in model.nodes)
    assert first.geometry.padding == ((1, 1), (1, 0))  # 9 rows: even; 10 columns: the odd one at the left
    assert first.bias
    assert depthwise.groups == 6
    assert up.output_shape == (1, 2, 10, 10)
    assert "first" in str(model)
    assert "6x3x3x3" in model._repr_html_()
    assert model.passed


def test_dynamic_sizes_have_defaults_and_names_are_checked(model_file):
    assert tc.onnx_model(model_file).inputs == {"x": (1, 3, 64, 10), "v": (1, 2, 9)}
    with pytest.raises(tc.ArgumentError, match="named x, v"):
        tc.onnx_model(model_file, {"image": (1, 3, 9, 10)})
    with pytest.raises(tc.ArgumentError, match="4 sizes"):
        tc.onnx_model(model_file, {"x": (1, 3, 9)})


def test_nodes_against_onnxruntime(model_file):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    done = []
    model = tc.onnx_model(model_file, check=True, progress=lambda *state: done.append(state))
    assert model.passed
    assert done == [(1, 3, "first"), (2, 3, "depthwise"), (3, 3, "y")]
    for node in model.nodes:
        assert node.passed
        assert 0 < node.runtime_fraction <= 1
        assert 0 < node.bound_fraction <= 1


def test_a_wrong_weight_is_found(model_file, monkeypatch):
    """The check detects a changed weight: onnxruntime's activations then fail."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from teachconv.translation import onnx_models

    real = onnx_models._constants

    def changed(onnx, graph):
        found = real(onnx, graph)
        found["w1"] = found["w1"] + np.float32(0.01)
        return found

    monkeypatch.setattr(onnx_models, "_constants", changed)
    model = tc.onnx_model(model_file, check=True)
    assert [node.passed for node in model.nodes] == [False, True, True]
    assert not model.passed


def test_on_the_command_line(model_file, capsys):
    assert main(["onnx", str(model_file), "--input", "1,3,9,10"]) == 0
    out = capsys.readouterr().out
    assert "3 convolutions for x [1, 3, 9, 10]" in out
    assert main(["onnx", str(model_file), "--input", "x=big"]) == 2
    assert "--input must be a shape" in capsys.readouterr().err


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(tc.BackendUnavailable, match="pip install onnx"):
        tc.onnx_model("model.onnx")
