"""Forms of operators that ONNX allows and its evaluator in Python refuses or misreads: each runs, with the right numbers."""

import numpy as np
import pytest

import teachconv as tc

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
make, F32, U8, I8, I16, U16 = onnx.helper.make_node, np.float32, np.uint8, np.int8, np.int16, np.uint16
HALF = F32(0.5)


def model_of(nodes, x, dtype, opset, arrays):
    """A model of these nodes from x to y; the arrays are its weights."""
    kinds = [onnx.helper.np_dtype_to_tensor_dtype(np.dtype(each)) for each in (x.dtype, dtype)]
    ends = [
        onnx.helper.make_tensor_value_info(*end) for end in (("x", kinds[0], x.shape), ("y", kinds[1], None))
    ]
    weights = [onnx.numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
    graph = onnx.helper.make_graph(nodes, "g", ends[:1], ends[1:], weights)
    return onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=10)


def onnxruntime_says(model, x):
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    session = runtime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def quantized(weights="s", **axis):
    """A Conv between DequantizeLinear and QuantizeLinear."""
    return [
        make("DequantizeLinear", ["x", "s", "z"], ["a"]),
        make("DequantizeLinear", ["w", weights, "o"], ["b"], **axis),
        make("Conv", ["a", "b"], ["c"]),
        make("QuantizeLinear", ["c", "s", "z"], ["y"]),
    ]


W = np.int8([[[[1, 2], [3, 4]]]])  # sums to 10
ROW = np.arange(7, dtype="float32").reshape(1, 1, 1, 7)
CUT = np.int64([0, 0, 0, -1, 0, 0, 0, 1])


def full(value, dtype):
    return np.full((1, 1, 2, 2), value, dtype)


def row(*values, dtype="float32"):
    return np.array(values, dtype).reshape(1, 1, 1, -1)


FORMS = {  # nodes, opset, input, weights, and the result by hand
    "int16 activations": (
        quantized(),
        21,
        full(1000, I16),
        {"w": W, "s": HALF, "z": I16(0), "o": I8(0)},
        5000,
    ),
    "uint16 activations": (
        quantized(),
        21,
        full(1005, U16),
        {"w": W, "s": HALF, "z": U16(5), "o": I8(0)},
        5005,
    ),
    "int16 weights": (
        quantized(),
        21,
        full(9, I8),
        {"w": W.astype(I16), "s": HALF, "z": I8(0), "o": I16(0)},
        45,
    ),
    "scales in float16": (
        quantized(),
        21,
        full(9, I8),
        {"w": W, "s": np.float16(0.5), "z": I8(0), "o": I8(0)},
        45,
    ),
    "a scale for each block": (
        quantized("t", axis=0, block_size=1),
        21,
        full(9, I8),
        {"w": W, "s": HALF, "t": np.full(W.shape, HALF), "z": I8(0), "o": np.zeros(W.shape, I8)},
        45,
    ),
    "a crop, then zeros": ([make("Pad", ["x", "p"], ["y"])], 21, ROW, {"p": CUT}, row(1, 2, 3, 4, 5, 6, 0)),
    "crops of both sides": (
        [make("Pad", ["x", "p"], ["y"])],
        21,
        ROW,
        {"p": np.int64([0, 0, 0, -1, 0, 0, 0, -2])},
        row(1, 2, 3, 4),
    ),
    "a crop, then the edge": (
        [make("Pad", ["x", "p"], ["y"], mode="edge")],
        21,
        ROW,
        {"p": CUT},
        row(1, 2, 3, 4, 5, 6, 6),
    ),
    "a crop, then a reflection": (
        [make("Pad", ["x", "p"], ["y"], mode="reflect")],
        21,
        ROW,
        {"p": CUT},
        row(1, 2, 3, 4, 5, 6, 5),
    ),
    "a crop, then the other end": (  # of what the crop has left
        [make("Pad", ["x", "p"], ["y"], mode="wrap")],
        21,
        ROW,
        {"p": CUT},
        row(1, 2, 3, 4, 5, 6, 1),
    ),
    "a crop of one axis, and a number": (
        [make("Pad", ["x", "p", "v", "axes"], ["y"])],
        21,
        ROW,
        {"p": np.int64([-5, 2]), "v": F32(9), "axes": np.int64([-1])},
        row(5, 6, 9, 9),
    ),
    "a crop as attributes": (
        [make("Pad", ["x"], ["y"], pads=[0, 0, 0, -5, 0, 0, 0, 1], value=2.0)],
        10,
        ROW,
        {},
        row(5, 6, 2),
    ),
    "a crop of booleans": (
        [make("Pad", ["x", "p"], ["y"])],
        21,
        ROW > 2,
        {"p": CUT},
        row(0, 0, 1, 1, 1, 1, 0, dtype=bool),
    ),
    "a pool of bytes": (
        [make("MaxPool", ["x"], ["y"], kernel_shape=[1, 3], pads=[0, 1, 0, 1])],
        21,
        ROW.astype(I8) - I8(100),
        {},
        row(*(n - 100 for n in (1, 2, 3, 4, 5, 6, 6)), dtype=I8),
    ),
    "normalisation of version 7": (
        [make("BatchNormalization", ["x", "g", "b", "m", "v"], ["y"], epsilon=0.0)],
        8,
        ROW,
        {"g": F32([2]), "b": F32([1]), "m": F32([3]), "v": F32([4])},
        ROW - 2,
    ),
    "softmax of version 11": (
        [make("Softmax", ["x"], ["y"])],
        11,
        np.zeros((2, 3, 5), "float32"),
        {},
        1 / 15,
    ),
    "softmax of version 11, an axis": (
        [make("Softmax", ["x"], ["y"], axis=-1)],
        11,
        np.zeros((2, 3, 5), "float32"),
        {},
        1 / 5,
    ),
    "softmax of version 13": ([make("Softmax", ["x"], ["y"])], 13, np.zeros((2, 3, 5), "float32"), {}, 1 / 5),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_that_onnx_allows_runs(name):
    nodes, opset, x, arrays, wanted = FORMS[name]
    model = model_of(nodes, x, x.dtype, opset, arrays)
    found = tc.onnx_model(model).run({"x": x})["y"]
    assert found.dtype == x.dtype
    assert np.array_equal(found, np.broadcast_to(np.asarray(wanted).astype(x.dtype), found.shape)), found


@pytest.mark.parametrize("name", FORMS)
def test_onnxruntime_computes_the_same(name):
    nodes, opset, x, arrays, _ = FORMS[name]
    model = model_of(nodes, x, x.dtype, opset, arrays)
    want, found = onnxruntime_says(model, x), tc.onnx_model(model).run({"x": x})["y"]
    assert (found.dtype, found.shape) == (want.dtype, want.shape)
    if found.dtype == "float32":
        np.testing.assert_array_max_ulp(found, want, 1)
    else:
        np.testing.assert_array_equal(found, want)


def test_integers_of_8_bits_are_still_summed_as_integers():
    x = full(9, U8)
    model = model_of(quantized(), x, U8, 21, {"w": W, "s": HALF, "z": U8(0), "o": I8(0)})
    (node,) = tc.onnx_model(model).nodes
    assert node.op_type == "QLinearConv"
    wide = model_of(quantized(), full(9, I16), I16, 21, {"w": W, "s": HALF, "z": I16(0), "o": I8(0)})
    (node,) = tc.onnx_model(wide).nodes
    assert (node.op_type, node.quantized) == ("Conv", None)
