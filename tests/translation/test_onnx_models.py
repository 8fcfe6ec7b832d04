"""The ONNX importer, on models made here: nodes, shapes, constants, and the check against onnxruntime."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import teachconv as tc
from teachconv.cli.main import main
from teachconv.translation.targets import TARGETS


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
        helper.make_node("Conv", ["v", "w4"], ["z"], name="one axis"),
        helper.make_node("ConvTranspose", ["u", "w5"], ["t"], name="volume", strides=[2, 1, 1], group=2),
    ]
    inputs = [
        helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3, "rows", 10]),
        helper.make_tensor_value_info("v", onnx.TensorProto.FLOAT, [1, 2, 9]),
        helper.make_tensor_value_info("u", onnx.TensorProto.FLOAT, [1, 2, 3, 4, 5]),
    ]
    outputs = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in ("y", "z", "t")]
    initializers = [
        weights("w1", 6, 3, 3, 3),
        weights("b1", 6),
        weights("w3", 6, 2, 3, 3),
        weights("w4", 1, 2, 3),
        weights("w5", 2, 1, 2, 2, 2),
    ]
    graph = helper.make_graph(nodes, "model", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "model.onnx"
    onnx.save(model, str(path))
    return path


def test_nodes_are_listed_with_their_geometry(model_file):
    model = tc.onnx_model(model_file, {"x": (1, 3, 9, 10)})
    assert [node.name for node in model.nodes] == ["first", "depthwise", "y", "one axis", "volume"]
    assert model.skipped == 0
    first, depthwise, up, row, volume = (node.call for node in model.nodes)
    assert first.geometry.padding == ((1, 1), (1, 0))  # 9 rows: even; 10 columns: the odd one at the left
    assert first.bias
    assert depthwise.groups == 6
    assert up.output_shape == (1, 2, 10, 10)
    assert (row.output_shape, row.filter_layout) == ((1, 1, 7), "OIW")
    assert (volume.output_shape, volume.geometry.strides) == ((1, 2, 6, 5, 6), (2, 1, 1))
    assert "first" in str(model)
    assert "6x3x3x3" in model._repr_html_()
    assert model.passed is None  # nothing was checked
    assert "NOT checked" not in str(model)  # nor was it asked


def test_dynamic_sizes_have_defaults_and_names_are_checked(model_file):
    found = tc.onnx_model(model_file).inputs
    assert found == {"x": (1, 3, 64, 10), "v": (1, 2, 9), "u": (1, 2, 3, 4, 5)}
    with pytest.raises(tc.ArgumentError, match="named x, v, u"):
        tc.onnx_model(model_file, {"image": (1, 3, 9, 10)})
    with pytest.raises(tc.ArgumentError, match="4 sizes"):
        tc.onnx_model(model_file, {"x": (1, 3, 9)})


def test_nodes_against_onnxruntime(model_file):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    done = []
    model = tc.onnx_model(model_file, check=True, progress=lambda *state: done.append(state))
    assert model.passed
    assert "not the file and the network that it came from" in str(model)
    assert done == [
        (n, 5, name) for n, name in enumerate(["first", "depthwise", "y", "one axis", "volume"], 1)
    ]
    for node in model.nodes:
        assert node.passed
        assert 0 < node.runtime_fraction <= 1
        assert 0 < node.bound_fraction <= 1


def test_a_wrong_weight_is_found(model_file, monkeypatch):
    """The check detects a changed weight: onnxruntime's activations then fail."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from teachconv.translation import onnx_models

    real = onnx_models.constants

    def changed(graph):
        found = real(graph)
        found["w1"] = found["w1"] + np.float32(0.01)
        return found

    monkeypatch.setattr(onnx_models, "constants", changed)
    model = tc.onnx_model(model_file, check=True)
    assert [node.passed for node in model.nodes] == [False, True, True, True, True]
    assert not model.passed


@pytest.mark.parametrize("to", [name for name in TARGETS if name != "onnx"])
def test_nodes_over_one_and_three_axes_are_handed_to_translate(model_file, to):
    for node in tc.onnx_model(model_file).nodes[3:]:
        report = tc.translate(node, to=to).check()
        assert report.passed, report
        assert not any(row.max_abs for row in report.rows)


def test_more_axes_than_three_are_left_out():
    text = "g (float[1, 1, 3, 3, 3, 3] x, float[1, 1, 2, 2, 2, 2] w) => (float[1, 1, 2, 2, 2, 2] y)"
    model = tc.onnx_model(parsed(f"{text} {{ y = Conv (x, w) }}"))
    assert (model.nodes, model.skipped, model.passed) == ((), 1, None)
    assert "1 over more than 3 axes left out" in str(model)


WEIGHTS = """<float[2, 1, 3, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 8, 7, 6, 5, 4, 3, 2, 1}>"""
ONE_CONV = f"g (float[1, 1, 5, 5] x) => (float[1, 2, 3, 3] y) {WEIGHTS} {{ y = Conv (x, w) }}"
MODELS = {
    "If": f"""g (float[1, 1, 5, 5] x, bool c) => (float[1, 2, 3, 3] y) {WEIGHTS}
        {{ [choose] y = If (c) <
            then_branch = one () => (float[1, 2, 3, 3] a) {{ h = Relu (x) [inside] a = Conv (h, w) }},
            else_branch = two () => (float[1, 2, 3, 3] b) {{ h = Neg (x) b = Conv (h, w) }}
        > }}""",
    "nchwc": f"""g (float[1, 1, 5, 5] x) => (float[1, 2, 3, 3] y) {WEIGHTS}
        {{ y = com.microsoft.nchwc.Conv (x, w) }}""",
    "function": f"""g (float[1, 1, 5, 5] x) => (float[1, 2, 3, 3] y) {WEIGHTS}
        {{ h = local.before (x, w) y = Relu (h) }}
        <domain: "local", opset_import: ["": 17]> before (a, f) => (b) {{ c = Neg (a) b = Conv (c, f) }}""",
}
HEAD = '<ir_version: 8, opset_import: ["": 17, "local": 1, "com.microsoft.nchwc": 1]> '


def parsed(text):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    return onnx.parser.parse_model(HEAD + text)


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("nchwc", [("com.microsoft.nchwc.Conv", "com.microsoft.nchwc.Conv is not read here", False)]),
        ("If", [("Conv", f"in {branch}_branch of If 'choose'", True) for branch in ("then", "else")]),
    ],
)
def test_what_no_check_reaches_is_counted_and_passes_nothing(name, places):
    """Nothing of these is run, so that they need no onnxruntime."""
    model = tc.onnx_model(parsed(MODELS[name]), check=True)
    assert [(node.op_type, node.note, node.call is not None) for node in model.nodes] == places
    assert model.passed is None
    assert f"{len(places)} of {len(places)} NOT checked" in str(model)


def test_a_model_without_convolutions_passes_nothing():
    model = tc.onnx_model(parsed("g (float[3] x) => (float[3] y) { y = Relu (x) }"), check=True)
    assert model.passed is None
    assert "nothing to check" in str(model)


def test_a_conv_in_a_local_function_is_checked():
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model = tc.onnx_model(parsed(MODELS["function"]), check=True)
    assert [(node.op_type, node.call.output_shape) for node in model.nodes] == [("Conv", (1, 2, 3, 3))]
    assert model.passed is True
    assert "all pass: " in str(model)


def test_a_failure_counts_more_than_what_was_not_checked(monkeypatch):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model = tc.onnx_model(parsed(ONE_CONV.replace("{ y =", "{ z = com.microsoft.nchwc.Conv (x, w) y =")))
    conv = replace(model.nodes[1], passed=False)
    assert replace(model, nodes=(model.nodes[0], conv)).passed is False
    assert replace(model, nodes=(model.nodes[0], replace(conv, passed=True))).passed is None
    assert replace(model, nodes=(replace(conv, passed=True),)).passed is True


INPUTS = {
    "float16": f"""g (float16[1, 1, 5, 5] x) => (float16[1, 2, 3, 3] y) {WEIGHTS}
        {{ f = Cast <to = 10> (w) y = Conv (x, f) }}""",
    "an image of bytes": f"""g (uint8[1, 1, 5, 5] x) => (float[1, 2, 3, 3] y) {WEIGHTS}
        {{ f = Cast <to = 1> (x) y = Conv (f, w) }}""",
    "indices": f"""g (int64[1, 5] i, float[5, 5] t) => (float[1, 2, 3, 3] y) {WEIGHTS}
        {{ r = Gather (t, i) u = Constant <value_ints = [1]> () f = Unsqueeze (r, u) y = Conv (f, w) }}""",
    "a flag, and a bias that is computed": f"""g (float[1, 1, 5, 5] x, bool c, float[2] b) => (float[1, 2, 3, 3] y)
        {WEIGHTS} {{ n = Not (c) m = Cast <to = 1> (n) d = Mul (m, b) y = Conv (x, w, d) }}""",
}


@pytest.mark.parametrize("name", INPUTS)
def test_each_input_is_fed_numbers_of_its_dtype(name):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    model = tc.onnx_model(parsed(INPUTS[name]), check=True)
    assert model.passed is True, model
    assert 0 <= model.nodes[0].runtime_fraction <= 1  # and not None: it was judged


def test_arrays_can_be_fed(tmp_path, rng, capsys):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    onnx = pytest.importorskip("onnx")
    dynamic = parsed(ONE_CONV.replace("float[1, 1, 5, 5] x", "float[n, 1, rows, 5] x"))
    x = rng.standard_normal((2, 1, 7, 5)).astype("float32")
    model = tc.onnx_model(dynamic, {"x": x}, check=True)
    assert model.inputs == {"x": (2, 1, 7, 5)}
    assert model.passed
    assert tc.onnx_model(dynamic, {"x": np.full((1, 1, 5, 5), np.nan, "f4")}, check=True).passed
    with pytest.raises(tc.ArgumentTypeError, match=r"inputs\['x'\] must have dtype float32; got float64"):
        tc.onnx_model(dynamic, {"x": x.astype("float64")}, check=True)
    onnx.save(dynamic, str(tmp_path / "model.onnx"))
    np.save(tmp_path / "x.npy", x)
    words = ["onnx", str(tmp_path / "model.onnx"), "--input", f"x={tmp_path / 'x.npy'}", "--check"]
    assert main(words) == 0
    assert "x [2, 1, 7, 5]" in capsys.readouterr().out


def test_what_onnxruntime_cannot_run_is_not_said_to_be_no_model():
    """No Conv of float64, and an index beyond the table: neither is the file's fault."""
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    double = ONE_CONV.replace("float[", "double[")
    gather = INPUTS["indices"].replace("float[5, 5] t", "float[1, 5] t")
    for text in (double, gather):
        with pytest.raises(tc.ArgumentError, match=r"^onnxruntime cannot run this one on (x|i) ") as raised:
            tc.onnx_model(parsed(text), check=True)
        assert "must be an ONNX model" not in str(raised.value)
    words = "g (string[2] s, float[1, 1, 5, 5] x) => (float[1, 2, 3, 3] y, string[2] t)"
    text = f"{words} {WEIGHTS} {{ t = Identity (s) y = Conv (x, w) }}"
    with pytest.raises(
        tc.ArgumentError, match=r"inputs\['s'\] has dtype object, for which no numbers are made up"
    ):
        tc.onnx_model(parsed(text), check=True)


def test_the_exit_status_is_0_only_where_all_was_checked(tmp_path, capsys):
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    path = tmp_path / "model.onnx"
    onnx.save(parsed(MODELS["nchwc"]), str(path))
    assert main(["onnx", str(path)]) == 0
    assert main(["onnx", str(path), "--check"]) == 1
    assert "1 of 1 NOT checked" in capsys.readouterr().out


def test_on_the_command_line(model_file, capsys):
    assert main(["onnx", str(model_file), "--input", "1,3,9,10"]) == 0
    out = capsys.readouterr().out
    assert "5 convolutions for x [1, 3, 9, 10]" in out
    assert main(["onnx", str(model_file), "--input", "x=big"]) == 2
    assert "--input must be a shape" in capsys.readouterr().err


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(tc.BackendUnavailable, match="pip install onnx"):
        tc.onnx_model("model.onnx")
