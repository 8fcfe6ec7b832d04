"""Seeded models of one convolution of integers: QLinearConv, ConvInteger, or a Conv between DequantizeLinear and QuantizeLinear."""

import numpy as np


def integers(random, dtype, *shape):
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max + 1, shape).astype(dtype)


def made(seed, kinds=("QLinearConv", "ConvInteger", "QDQ")):
    """Return the kind of a model, the model, and its input."""
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(seed)
    kind, stride, dilation, group = kinds[seed % len(kinds)], *(int(n) for n in random.integers(1, 3, 3))
    in_dtype, dtype = [("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")][random.integers(3)]
    if kind == "ConvInteger":
        in_dtype = dtype = "uint8"  # onnxruntime has no other
    if kind == "QDQ":
        dtype = "int8"
    outs, each = 2 * group, dtype == "int8" and bool(random.integers(2)) and kind != "ConvInteger"
    size = (outs,) if each else ()
    x, w = integers(random, in_dtype, 1, 3 * group, 6, 5), integers(random, dtype, outs, 3, 3, 2)
    scales = {"xs": np.float32(random.uniform(0.001, 0.1)), "ys": np.float32(random.uniform(0.1, 2))}
    scales["ws"] = random.uniform(0.001, 0.1, size).astype("float32")
    zeros = {"xz": integers(random, in_dtype), "yz": integers(random, in_dtype)}
    zeros["wz"] = np.zeros(size, dtype) if dtype == "int8" else integers(random, dtype)
    bias = random.integers(-5000, 5000, outs).astype("int32")
    arrays = {
        "w": w,
        "b": bias,
        "bs": scales["xs"] * scales["ws"],
        "bz": np.zeros(size, "int32"),
        **scales,
        **zeros,
    }
    words = {
        "strides": [stride] * 2,
        "dilations": [dilation] * 2,
        "group": group,
        "pads": [1, 0, 2, 1],
        "name": "conv",
    }
    if kind == "QLinearConv":
        names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
        nodes = [helper.make_node(kind, names, ["y"], **words)]
    elif kind == "ConvInteger":
        names = ["x", "w", "xz", "wz"]
        nodes = [helper.make_node(kind, names, ["y"], **words)]
    else:
        nodes = [
            helper.make_node("DequantizeLinear", ["x", "xs", "xz"], ["xf"]),
            helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wf"], axis=0),
            helper.make_node("DequantizeLinear", ["b", "bs", "bz"], ["bf"], axis=0),
            helper.make_node("Conv", ["xf", "wf", "bf"], ["yf"], **words),
            helper.make_node("QuantizeLinear", ["yf", "ys", "yz"], ["y"]),
        ]
    used = {name for node in nodes for name in node.input}
    stored = [
        numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items() if name in used
    ]
    types = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8}
    out = TensorProto.INT32 if kind == "ConvInteger" else types[in_dtype]
    given, found = (
        helper.make_tensor_value_info("x", types[in_dtype], x.shape),
        helper.make_tensor_value_info("y", out, None),
    )
    graph = helper.make_graph(nodes, "quantized", [given], [found], stored)
    return kind, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), x
