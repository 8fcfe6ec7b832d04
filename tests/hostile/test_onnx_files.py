"""Damaged and hostile ONNX files: each gives a report or an error that says what is wrong, in bounded memory."""

import random
import shutil
import sys

import numpy as np
import pytest

import teachconv as tc
from teachconv.cli.main import main
from teachconv.translation.onnx_run import run_model

onnx = pytest.importorskip("onnx", reason="onnx is not installed")

LEGAL = (ValueError, TypeError, MemoryError, OSError, tc.BackendUnavailable)


def make_model(**changes):
    """Two convolutions with their filters; ``changes`` replace parts."""
    helper, rng = onnx.helper, np.random.default_rng(20261122)
    tensors = {"w1": rng.normal(size=(4, 3, 3, 3)), "w2": rng.normal(size=(4, 2, 2, 2))}
    nodes = changes.get("nodes") or [
        helper.make_node("Conv", ["x", "w1"], ["h"], name="first", strides=[2, 2], auto_pad="SAME_UPPER"),
        helper.make_node("ConvTranspose", ["h", "w2"], ["y"], name="second", strides=[2, 2]),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, changes.get("input", [1, 3, 8, 8]))],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(array.astype("float32"), name) for name, array in tensors.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def outcome(path, **options):
    """The report, or the error; anything else than a legal error is the test's failure."""
    try:
        return tc.onnx_model(path, **options)
    except LEGAL as error:
        return error


def damaged(data, rng):
    """The bytes with one to four random changes: cut, flipped, repeated, spliced, or a number made enormous."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place, way = rng.randrange(len(data) + 1), rng.randrange(6)
        if way == 0:
            del data[place:]
        elif way == 1 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif way == 2:
            data[place:place] = data[place : place + rng.randrange(64)]
        elif way == 3:
            data[place : place + rng.randrange(16)] = rng.randbytes(rng.randrange(16))
        elif way == 4:
            data[place : place + 1] = b"\xff" * rng.randint(1, 9) + b"\x01"  # a varint of up to 64 bits
        else:
            del data[place : place + rng.randrange(32)]
    return bytes(data)


def try_damaged(folder, trials, seed):
    rng, whole = random.Random(seed), make_model().SerializeToString()
    reports = 0
    for number in range(trials):
        path = folder / "model.onnx"
        path.write_bytes(damaged(whole, rng))
        result = outcome(path, inputs={"x": (1, 3, 8, 8)} if number % 3 == 0 else None)
        reports += isinstance(result, tc.OnnxModel)
        if isinstance(result, tc.OnnxModel):
            assert str(result)
    return reports


def test_damaged_files(tmp_path):
    reports = try_damaged(tmp_path, 150, 1)
    assert 0 < reports < 150  # some stay readable, some do not


@pytest.mark.slow
def test_many_damaged_files(tmp_path):
    assert 0 < try_damaged(tmp_path, 2000, 2) < 2000


@pytest.mark.parametrize(
    "data", [b"", b"\x00", b"not a model", b"\x80\x04K*.", b"\x93NUMPY", b"\x08" * 1000], ids=repr
)
def test_what_is_no_model(data, tmp_path, capsys):
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    assert isinstance(outcome(path), (ValueError, tc.OnnxModel))
    status, err = main(["onnx", str(path)]), capsys.readouterr().err
    assert status in (0, 2)
    assert "Traceback" not in err
    assert data or (status, err) == (2, f"teachconv onnx: path must be an ONNX model; {path} is empty\n")


def test_a_folder_and_a_missing_file(tmp_path):
    for path in (tmp_path, tmp_path / "none.onnx"):
        assert isinstance(outcome(path), OSError)


def test_nodes_without_their_inputs(tmp_path):
    helper = onnx.helper
    nodes = [
        [helper.make_node("Conv", [], ["y"])],
        [helper.make_node("Conv", ["x"], ["y"])],
        [helper.make_node("Conv", ["x", ""], ["y"])],
        [helper.make_node("Conv", ["x", "w1"], [])],
        [helper.make_node("Conv", ["x", "w1"], ["y"], strides=[0])],
        [helper.make_node("Conv", ["x", "w1"], ["y"], strides="SAME")],
        [helper.make_node("Conv", ["x", "w1"], ["y"], group=0)],
        [helper.make_node("Conv", ["x", "w1"], ["y"], kernel_shape=[2**62, 2**62])],
        [helper.make_node("Conv", ["x", "w1"], ["y"], pads=[2**62, 0, 2**62, 0])],
        [helper.make_node("Conv", ["x", "w1"], ["y"], auto_pad=b"\xff\xfe")],
    ]
    for number, one in enumerate(nodes):
        path = tmp_path / f"{number}.onnx"
        path.write_bytes(make_model(nodes=one).SerializeToString())
        outcome(path)


def test_a_cycle(tmp_path):
    helper = onnx.helper
    nodes = [
        helper.make_node("Conv", ["y", "w1"], ["h"], name="first"),
        helper.make_node("ConvTranspose", ["h", "w2"], ["y"], name="second"),
    ]
    path = tmp_path / "cycle.onnx"
    path.write_bytes(make_model(nodes=nodes).SerializeToString())
    result = outcome(path)
    assert not isinstance(result, tc.OnnxModel) or all(node.call is None for node in result.nodes)


def test_an_enormous_tensor_takes_no_memory(tmp_path):
    """A filter that claims 4 TB and has none, and an input of that size."""
    model = make_model()
    tensor = model.graph.initializer[0]
    del tensor.dims[:]
    tensor.dims.extend([1 << 20, 1 << 20, 1, 1])
    path = tmp_path / "large.onnx"
    path.write_bytes(model.SerializeToString())
    assert isinstance(outcome(path), ValueError)
    path.write_bytes(make_model(input=[1, 3, 1 << 31, 1 << 31]).SerializeToString())
    outcome(path)


@pytest.mark.parametrize("location", ["../secret.bin", "/etc/hostname", "a/../../secret.bin"])
def test_external_data_outside_the_folder_is_refused(location, tmp_path):
    (tmp_path / "secret.bin").write_bytes(bytes(4 * 108))
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a").mkdir()
    model = make_model()
    tensor = model.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert isinstance(outcome(path), ValueError)
    shutil.rmtree(folder)


def test_script_in_names_is_escaped(tmp_path):
    name = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    model = make_model()
    model.graph.node[0].name = name
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    html = tc.onnx_model(path)._repr_html_()
    assert "<script" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


# --- running a model --------------------------------------------------------------------------


def run(model, feeds):
    """What a run returns, or its error; anything else than a legal error is the test's failure."""
    try:
        return tc.onnx_model(model).run(feeds)
    except LEGAL as error:
        return error


X = np.ones((1, 3, 8, 8), "float32")


def test_the_model_here_runs():
    assert run(make_model(), {"x": X})["y"].shape == (1, 2, 8, 8)


@pytest.mark.parametrize("op_type", ["Loop", "If", "Scan", "Foo", "Exp", "Upsample"])
def test_other_operators_are_refused_by_name(op_type):
    node = onnx.helper.make_node(op_type, ["x"], ["y"], name="the node")
    with pytest.raises(ValueError, match=f"node 'the node' is {op_type}"):
        run_model(make_model(nodes=[node]), {"x": X})


def test_operators_of_other_domains_and_functions_are_refused():
    node = onnx.helper.make_node("Conv", ["x", "w1"], ["y"], name="n", domain="com.example")
    with pytest.raises(ValueError, match=r"node 'n' is com\.example\.Conv"):
        run_model(make_model(nodes=[node]), {"x": X})
    model = make_model()
    body = onnx.helper.make_node("Identity", ["a"], ["b"])
    opset = onnx.helper.make_opsetid("", 17)
    model.functions.append(onnx.helper.make_function("own", "Conv", ["a"], ["b"], [body], [opset]))
    assert "no functions" in str(run(model, {"x": X}))


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ([X], "feeds must be arrays by the names of the inputs, ['x']"),
        ({}, "feeds must be named x; got none"),
        ({"x": X, "z": X}, "feeds must be named x; got x, z"),
        ({"x": X.astype("float64")}, "feeds['x'] must have dtype float32; got float64"),
        ({"x": X[0]}, "feeds['x'] must have shape [1, 3, 8, 8]; got [3, 8, 8]"),
        ({"x": X[:, :, :4]}, "got [1, 3, 4, 8]"),
        ({"x": "text"}, "feeds['x']"),
        ({"x": np.array([{}], object)}, "feeds['x']"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_feeds_that_do_not_fit(feeds, message):
    error = run(make_model(), feeds)
    assert isinstance(error, (ValueError, TypeError))
    assert message in str(error)


def test_inputs_of_other_types_are_refused():
    for elem_type in (0, 99, onnx.TensorProto.STRING):
        model = make_model()
        model.graph.input[0].type.tensor_type.elem_type = elem_type
        with pytest.raises((ValueError, TypeError)):
            run_model(model, {"x": X})
    model = make_model()
    model.graph.input[0].type.CopyFrom(onnx.helper.make_sequence_type_proto(model.graph.input[0].type))
    with pytest.raises((ValueError, TypeError)):
        run_model(model, {"x": X})


def test_weights_may_be_listed_as_inputs():
    """Files before version 4 of the format list the weights among the inputs."""
    model = make_model()
    for tensor in model.graph.initializer:
        info = onnx.helper.make_tensor_value_info(tensor.name, onnx.TensorProto.FLOAT, tensor.dims)
        model.graph.input.append(info)
    np.testing.assert_array_equal(run(model, {"x": X})["y"], run(make_model(), {"x": X})["y"])


def test_a_batch_of_any_size_is_one_size():
    model = make_model(input=["n", 3, 8, 8])
    assert run(model, {"x": np.ones((3, 3, 8, 8), "float32")})["y"].shape == (3, 2, 8, 8)
    other = onnx.helper.make_tensor_value_info("other", onnx.TensorProto.FLOAT, ["n"])
    model.graph.input.append(other)
    assert "feeds['other'] must have shape ['n']" in str(run(model, {"x": X, "other": np.ones(2, "float32")}))


def constant(name, values):
    return onnx.helper.make_node(
        "Constant", [], [name], value=onnx.numpy_helper.from_array(np.array(values, "int64"))
    )


def test_results_larger_than_the_memory_are_refused_before_the_run():
    helper, huge = onnx.helper, 1 << 40
    pads = [constant("p", [0, 0, huge, 0, 0, 0, 0, 0]), helper.make_node("Pad", ["x", "p"], ["y"])]
    for nodes in (
        pads,
        [helper.make_node("Conv", ["x", "w1"], ["y"], pads=[huge, 0, huge, 0])],
        [helper.make_node("ConvTranspose", ["x", "w2"], ["y"], strides=[huge, 1])],
    ):
        assert isinstance(run(make_model(nodes=nodes), {"x": X}), (MemoryError, ValueError))


def test_sizes_that_only_a_run_would_show_are_refused():
    helper = onnx.helper
    shape = helper.make_node("Cast", ["x"], ["s"], to=onnx.TensorProto.INT64)
    nodes = [shape, helper.make_node("Reshape", ["x", "s"], ["y"], name="late")]
    model = make_model(nodes=nodes, input=[1, 3, 8, 8])
    assert isinstance(run(model, {"x": X}), ValueError)


def test_invalid_graphs_are_refused():
    helper = onnx.helper
    conv = helper.make_node("Conv", ["x", "w1"], ["y"], name="first")
    for nodes in (
        [helper.make_node("Relu", ["nowhere"], ["y"])],
        [helper.make_node("Add", ["y", "x"], ["y"])],
        [conv, helper.make_node("Relu", ["x"], ["y"])],  # y has two makers
        [helper.make_node("Relu", [], ["y"])],
        [helper.make_node("Softmax", ["x"], ["y"], axis=9)],
        [helper.make_node("Conv", ["x", "w2"], ["y"])],
        [helper.make_node("Relu", ["x"], ["z"])],  # nothing makes y
    ):
        assert isinstance(run(make_model(nodes=nodes), {"x": X}), (ValueError, TypeError)), nodes


def run_damaged(trials):
    """How many damaged models still run; each of the others says why it does not."""
    rng, whole, ran = random.Random(5), make_model().SerializeToString(), 0
    for _ in range(trials):
        model = onnx.ModelProto()
        try:
            model.ParseFromString(damaged(whole, rng))
        except Exception:  # protobuf's own error, which onnx_model of a file reports
            continue
        ran += isinstance(run(model, {"x": X}), dict)
    return ran


def test_damaged_models_run_or_say_why():
    assert 0 < run_damaged(100) < 100


@pytest.mark.slow
def test_many_damaged_models_run_or_say_why():
    assert 0 < run_damaged(2000) < 2000


def test_a_damaged_model_says_what_is_wrong_without_onnxruntime(tmp_path, monkeypatch):
    """Shapes that the file does not say come from onnxruntime; in a damaged model that is not what is missing."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    helper = onnx.helper
    lost = helper.make_node("Conv", ["x", "lost"], ["y"], name="first", strides=[2, 2])
    wrong = [
        helper.make_node("Conv", ["x", "w1"], ["h"], name="first", strides=[2, 2, 2]),
        helper.make_node("ConvTranspose", ["h", "w2"], ["y"], name="second"),
    ]
    whole = helper.make_node("Conv", ["x", "w"], ["y"], name="first")
    made = helper.make_node("Unknown", ["x"], ["w"], domain="somebody")
    for nodes, error, message in [
        ([lost], tc.ArgumentError, "path must be an ONNX model; .*'lost'"),
        (wrong, tc.ArgumentError, "path must be an ONNX model; .*node name: first"),
        ([made, whole], tc.BackendUnavailable, "onnxruntime"),
    ]:
        model = make_model(nodes=nodes)
        model.opset_import.append(helper.make_opsetid("somebody", 1))
        onnx.save(model, str(tmp_path / "model.onnx"))
        with pytest.raises(error, match=message) as caught:
            tc.onnx_model(tmp_path / "model.onnx")
        assert len(str(caught.value)) <= 600
