"""Convolutions of integers in ONNX files: the sums, the rounding, and the explanation of a cell."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from translation import quantized_models

import teachconv as tc
from teachconv.translation.onnx_quantized import QuantizedConv, quantized

pytest.importorskip("onnx")
RECORDED = json.loads(
    (Path(__file__).parents[1] / "recorded/onnx_quantized.json").read_text(encoding="utf-8")
)


def test_recorded_results_of_onnxruntime_are_equal():
    assert len(RECORDED["results"]) == 24
    for seed, (name, found) in enumerate(RECORDED["results"].items()):
        kind, model, x = quantized_models.made(seed)
        assert name == f"{seed} {kind}"
        (got,) = tc.onnx_model(model).run({"x": x}).values()
        assert str(got.dtype) == found["dtype"]
        assert np.array_equal(got, found["output"]), name


def rounded(value):
    """The nearest integer of a fraction, and the even one of two."""
    return round(value)  # Python's own rule for fractions


def test_sums_are_exact_and_rounded_half_to_even_and_saturated():
    """By fractions, with scales whose products float32 holds: sums of 1 to 4 times a quarter, and far ones."""
    w = np.uint8([[[[3]]], [[[5]]]])
    half, zero, ten = np.float32(0.5), np.uint8(1), np.uint8(10)
    for dtype, limits in (("uint8", (0, 255)), ("int8", (-128, 127))):
        operands = [None, half, zero, w, np.float32([0.5, 1.0]), zero, np.float32(1), np.array(10, dtype)]
        conv = quantized("QLinearConv", operands, {})
        x = np.arange(256, dtype="uint8").reshape(1, 1, 16, 16)
        for at, scale in ((0, Fraction(1, 4)), (1, Fraction(1, 2))):
            sums = (x[0, 0].astype(int) - 1) * (int(w[at, 0, 0, 0]) - 1)
            want = [
                min(max(rounded(total * scale) + 10, limits[0]), limits[1]) for total in sums.ravel().tolist()
            ]
            assert conv(x)[0, at].ravel().tolist() == want
        assert conv.dtype == dtype
    assert int(ten) == conv.y_zero_point


def test_padding_stands_for_zero_and_not_for_the_integer_0():
    w, zero = np.ones((1, 1, 3, 3), "uint8"), np.uint8(100)
    conv = quantized("ConvInteger", [None, w, zero], {"pads": [1, 1, 1, 1]})
    x = np.full((1, 1, 2, 2), 101, "uint8")
    assert conv(x).tolist() == [[[[4, 4], [4, 4]]]]


def test_a_cell_is_explained_with_zero_points_sum_scale_and_rounding():
    seed = next(seed for seed in range(0, 24, 3))
    _, model, x = quantized_models.made(seed)
    (node,) = tc.onnx_model(model).nodes
    conv = node.quantized
    assert isinstance(conv, QuantizedConv)
    y = conv(x)
    for cell in ((0, 0, 0, 0), (0, 1, 2, 1)):
        found = conv.explain(x, cell)
        assert found.value == y[cell]
        assert found.sum.value == conv.sums(x)[cell]
        assert (
            sum(tap.product for tap in found.sum.taps if not tap.in_padding) + conv.bias[cell[1]]
            == found.sum.value
        )
        text = str(found)
        assert f"less the zero point {conv.x_zero_point}" in text
        assert "half to even" in text
        assert f"+ zero point {conv.y_zero_point}" in text
        assert text.split()[0] == "QLinearConv:"
    with pytest.raises(TypeError, match="x must be an array of int8 or uint8"):
        conv.explain(x.astype("float32"), (0, 0, 0, 0))
    with pytest.raises(IndexError):
        conv.explain(x, (0, 0, 0, 99))


def test_a_conv_between_dequantize_and_quantize_is_one_of_integers_only_where_it_is_the_same():
    _, model, x = quantized_models.made(2)
    (node,) = tc.onnx_model(model).nodes
    assert (node.name, node.op_type, node.call.output_shape) == (
        "conv",
        "QLinearConv",
        tc.onnx_model(model).run({"x": x})["y"].shape,
    )
    with pytest.raises(ValueError, match="QLinearConv sums integers"):
        tc.translate(node, to="torch")
    model.graph.output.append(type(model.graph.output[0])(name="yf"))  # another takes what is not rounded yet
    (node,) = tc.onnx_model(model).nodes
    assert (node.op_type, node.quantized) == ("Conv", None)


def qdq(x="uint8", w="int8", y=None, clamp=None, y_zero=0, bias="int32", op_type="Conv"):
    """A convolution between DequantizeLinear and QuantizeLinear, with float input and output."""
    from onnx import TensorProto, helper, numpy_helper

    random, y = np.random.default_rng(0), y or x
    filters = (4, 3, 3, 3) if op_type == "Conv" else (3, 4, 3, 3)
    scales = {"xs": 0.02, "ws": 0.01, "ys": 0.04} if "8" in x else {"xs": 0.0002, "ws": 0.01, "ys": 0.0004}
    arrays = {name: np.float32(value) for name, value in scales.items()}
    arrays |= {"xz": np.array(3, x), "w": random.integers(0, 50, filters).astype(w), "wz": np.array(0, w)}
    arrays |= {"yz": np.array(y_zero, y), "b": random.integers(-99, 99, 4).astype(bias)}
    arrays |= {"bs": arrays["xs"] * arrays["ws"], "low": np.float32(0), "high": np.float32(20)}
    inner = (
        [helper.make_node(clamp, ["yf", "low", "high"][: 3 if clamp == "Clip" else 1], ["yc"])]
        if clamp
        else []
    )
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"]),
        helper.make_node("DequantizeLinear", ["b", "bs"], ["bf"]),
        helper.make_node(op_type, ["xf", "wf", "bf"], ["yf"], "conv", pads=[1] * 4),
        *inner,
        helper.make_node("QuantizeLinear", ["yc" if clamp else "yf", "ys", "yz"], ["yq"]),
        helper.make_node("DequantizeLinear", ["yq", "ys", "yz"], ["y"]),
    ]
    used = {name for node in nodes for name in node.input}
    stored = [numpy_helper.from_array(np.asarray(arrays[name]), name) for name in used & arrays.keys()]
    ends = (
        helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, c, 8, 8]) for n, c in (("x", 3), ("y", 4))
    )
    graph = helper.make_graph(nodes, "quantized", *([end] for end in ends), stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model, random.standard_normal((1, 3, 8, 8)).astype("float32") * np.float32(100 * scales["xs"])


@pytest.mark.parametrize(
    ("facts", "integers"),
    [
        ({}, True),
        ({"x": "int8"}, True),
        ({"w": "uint8"}, True),
        ({"x": "int8", "w": "uint8"}, False),  # onnxruntime has no such QLinearConv
        ({"y": "int8"}, False),  # nor one whose result has another type than x
        ({"x": "int16"}, False),
        ({"w": "int16"}, False),
        ({"x": "int16", "op_type": "ConvTranspose"}, False),
        ({"op_type": "ConvTranspose"}, False),
        ({"bias": "int8"}, False),
        ({"clamp": "Relu"}, True),  # no integer stands for a number below 0
        ({"clamp": "Relu", "y_zero": 9}, False),
        ({"clamp": "Relu", "x": "int8", "y_zero": -128}, True),
        ({"clamp": "Clip"}, True),  # 255 stands for 10.2
        ({"clamp": "Clip", "y_zero": 1}, False),
        ({"clamp": "Clip", "x": "int16"}, False),
    ],
)
def test_every_form_that_onnxruntime_accepts_runs_and_is_one_of_integers_where_it_is_there(facts, integers):
    model, x = qdq(**facts)
    (node,) = tc.onnx_model(model).nodes
    assert (node.op_type, node.quantized is not None) == (
        "QLinearConv" if integers else facts.get("op_type", "Conv"), integers
    )  # fmt: skip
    (ours,) = tc.onnx_model(model).run({"x": x}).values()
    runtime = pytest.importorskip("onnxruntime")
    assert tc.onnx_model(model, check=True).passed
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (theirs,) = session.run(None, {"x": x})
    step = 0.04 if "8" in facts.get("y", facts.get("x", "uint8")) else 0.0004
    assert np.unique(ours).size > 40
    assert np.abs(ours - theirs).max() <= (0 if integers else 1.001 * step)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (1, np.float32(0), "x_scale must be a positive number"),
        (4, np.float32([1, np.nan]), "w_scale must be a positive number, or one for each filter"),
        (4, np.float32([1, 2, 3]), "w_scale must be"),
        (2, np.float32(3), "x_zero_point must be an integer"),
        (7, np.uint8([1, 2]), "y_zero_point must be an integer; got"),
    ],
)
def test_scales_and_zero_points_are_checked(place, value, words):
    one, zero = np.float32(1), np.uint8(0)
    operands = [None, one, zero, np.ones((2, 1, 1, 1), "uint8"), one, zero, one, zero]
    operands[place] = value
    with pytest.raises(ValueError, match=words):
        quantized("QLinearConv", operands, {})


def test_a_file_is_checked_against_onnxruntime():
    pytest.importorskip("onnxruntime")
    for seed in range(3):
        report = tc.onnx_model(quantized_models.made(seed)[1], check=True)
        assert report.passed, str(report)
        assert "pass 0, onnxruntime 0 of the bound" in " ".join(str(report).split())


@pytest.mark.parametrize(
    ("rank", "want"),
    [(1, [[1, 3], [0, 2]]), (2, [[8, 12, 20, 24], [4, 6, 10, 12]]),
     (3, [[52, 60, 76, 84, 124, 132, 148, 156], [26, 30, 38, 42, 62, 66, 74, 78]])],
)  # fmt: skip
def test_scales_and_zero_points_of_each_filter_on_every_rank(rank, want):
    """The numbers are onnxruntime 1.32's: windows of ones over 0, 1, 2, ..., and half of them."""
    w = np.ones((2, 1, *[2] * rank), "int8")
    zero, one = np.uint8(0), np.float32(1)
    operands = [None, one, zero, w, np.float32([1, 0.5]), np.int8([0, 0]), one, zero]
    conv = quantized("QLinearConv", operands, {})
    x = np.arange(3**rank, dtype="uint8").reshape(1, 1, *[3] * rank)
    assert conv(x).reshape(2, -1).tolist() == want
    assert conv.explain(x, (0, 1, *[1] * rank)).value == want[1][-1]
    sums = quantized("ConvInteger", [None, w], {})(x)
    assert sums[0, 0].ravel().tolist() == want[0]
