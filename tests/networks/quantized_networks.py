"""Small chains of convolutions in float, and quantized by hand as ONNX: QDQ, and QLinearConv."""

import numpy as np

SHAPE = (2, 3, 12, 12)


def image(seed=0):
    return np.random.default_rng(seed).standard_normal(SHAPE).astype("float32")


def weights(count=4, seed=0, channels=8):
    """Filters [out, in, 3, 3] and biases of each layer."""
    draw, ins, found = np.random.default_rng(seed), SHAPE[1], []
    for _ in range(count):
        w = draw.standard_normal((channels, ins, 3, 3)) * np.sqrt(2 / (9 * ins))
        found.append(
            (w.astype("float32"), draw.standard_normal(channels).astype("float32") * np.float32(0.1))
        )
        ins = channels
    return found


def onnx_file(nodes, arrays, integers=False):
    """A model whose input is x and whose output is y."""
    from onnx import TensorProto, helper, numpy_helper

    tensors = [numpy_helper.from_array(np.asarray(array), name) for name, array in arrays.items()]
    kind = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8}.get(integers, TensorProto.FLOAT)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, list(SHAPE))
    graph = helper.make_graph(
        nodes, "network", [x], [helper.make_tensor_value_info("y", kind, None)], tensors
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def float_model(layers):
    """Convolutions, each with a ReLU."""
    from onnx import helper

    nodes, arrays, last = [], {}, "x"
    for n, (w, b) in enumerate(layers):
        arrays |= {f"w{n}": w, f"b{n}": b}
        end = "y" if n == len(layers) - 1 else f"relu{n}"
        nodes += [
            helper.make_node("Conv", [last, f"w{n}", f"b{n}"], [f"sum{n}"], f"conv{n}", pads=[1] * 4),
            helper.make_node("Relu", [f"sum{n}"], [end], f"relu{n}"),
        ]
        last = end
    return onnx_file(nodes, arrays)


def activations(layers, x):
    """What each ReLU computes, by plain NumPy, in float64."""
    found = [x.astype(float)]
    for w, b in layers:
        padded = np.pad(found[-1], ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        found.append(
            np.maximum(np.einsum("bcijkl,ockl->boij", windows, w.astype(float)) + b.reshape(-1, 1, 1), 0)
        )
    return found


def scales(layers, x):
    """The scale of uint8 for the input, whose zero point is 128, and for each ReLU, whose zero point is 0."""
    arrays = activations(layers, x)
    return [np.abs(arrays[0]).max() / 127, *(array.max() / 255 for array in arrays[1:])]


def quantized_model(layers, steps, form="qdq", one_scale=(), dtype="uint8"):
    """The same network with activations of uint8 and weights of int8.

    Args:
        layers: the filters and biases.
        steps: the scale of the input and of each ReLU.
        form: "qdq" or "qlinear".
        one_scale: the layers whose filters have one scale together.
        dtype: of the activations: "uint8", or "int16" for QDQ.
    """
    from onnx import helper

    first = np.array(128 if dtype == "uint8" else 0, dtype)
    arrays = {f"s{n}": np.float32(step) for n, step in enumerate(steps)} | {"z0": first}
    nodes, last = [helper.make_node("QuantizeLinear", ["x", "s0", "z0"], ["q0"])], "q0"
    for n, (w, b) in enumerate(layers, 1):
        largest = (
            np.abs(w).max(axis=(1, 2, 3)) if n - 1 not in one_scale else np.full(len(w), np.abs(w).max())
        )
        own = (largest / 127).astype("float32")
        unit = np.float32(steps[n - 1]) * own
        arrays |= {
            f"w{n}": np.rint(w / own.reshape(-1, 1, 1, 1)).astype("int8"),
            f"ws{n}": own[0] if n - 1 in one_scale else own,
            f"wz{n}": np.int8(0) if n - 1 in one_scale else np.zeros(len(w), "int8"),
            f"z{n}": np.array(0, dtype),
            f"b{n}": np.rint(b / unit).astype("int32"),
            f"bs{n}": unit[0] if n - 1 in one_scale else unit,
        }
        z = f"z{n - 1}"
        if form == "qlinear":
            names = [last, f"s{n - 1}", z, f"w{n}", f"ws{n}", f"wz{n}", f"s{n}", f"z{n}", f"b{n}"]
            nodes.append(helper.make_node("QLinearConv", names, [f"q{n}"], f"conv{n - 1}", pads=[1] * 4))
        else:
            nodes += [
                helper.make_node("DequantizeLinear", [last, f"s{n - 1}", z], [f"x{n}"]),
                helper.make_node("DequantizeLinear", [f"w{n}", f"ws{n}", f"wz{n}"], [f"wf{n}"], axis=0),
                helper.make_node("DequantizeLinear", [f"b{n}", f"bs{n}"], [f"bf{n}"], axis=0),
                helper.make_node("Conv", [f"x{n}", f"wf{n}", f"bf{n}"], [f"sum{n}"], pads=[1] * 4),
                helper.make_node("Relu", [f"sum{n}"], [f"relu{n}"]),
                helper.make_node("QuantizeLinear", [f"relu{n}", f"s{n}", f"z{n}"], [f"q{n}"]),
            ]
        last = f"q{n}"
    nodes.append(helper.make_node("DequantizeLinear", [last, f"s{len(layers)}", f"z{len(layers)}"], ["y"]))
    return onnx_file(nodes, arrays)
