"""The convolutions of integers of onnxruntime, LiteRT and PyTorch, called in the words of `teachconv.quantized`.

Each function takes the name of a function of `teachconv.quantized` and its arguments, as tests/quantized/drawn.py draws
them, and returns what the runtime computes. Arrays have channels last.
"""

from functools import cache

import numpy as np

THREADS = 1
LITERT = {
    "tflite": "BUILTIN_REF",
    "xnnpack": "BUILTIN",
    "tflite_builtin": "BUILTIN_WITHOUT_DEFAULT_DELEGATES",
}


def steps(value, rank):
    return [value] * rank if isinstance(value, int) else list(value)


# ---------------------------------------------------------------------------------------------
# onnxruntime
# ---------------------------------------------------------------------------------------------


def onnxruntime(op, x, w=None, bias=None, **given):
    """QLinearConv, MaxPool, or the QLinearAveragePool that onnxruntime makes of an average between Q and DQ."""
    import onnxruntime as ort
    from onnx import helper, numpy_helper

    rank, padding, constants = x.ndim - 2, given["padding"], {}
    attributes = {"strides": steps(given["strides"], rank)}
    if isinstance(padding, str):
        attributes["auto_pad"] = {"SAME": "SAME_UPPER", "VALID": "VALID"}[padding]
    else:
        attributes["pads"] = [pad for side in zip(*padding, strict=True) for pad in side]
    if op.endswith("pool"):
        attributes["kernel_shape"] = steps(given["ksize"], rank)
    if op != "max_pool":
        for side in "xy":
            constants[f"{side}_scale"] = np.float32(given[f"{side}_scale"])
            constants[f"{side}_zero_point"] = np.array(given[f"{side}_zero_point"], x.dtype)
    if w is not None:
        w = w.reshape(*w.shape[:2], 1, -1) if op == "depthwise_conv2d" else w
        attributes |= {"dilations": steps(given["dilations"], rank), "group": x.shape[-1] // w.shape[-2]}
        constants["w"] = np.moveaxis(np.moveaxis(w, -1, 0), -1, 1)
        constants["w_scale"] = np.float32(given["w_scale"])
        constants["w_zero_point"] = np.broadcast_to(
            np.array(given["w_zero_point"], w.dtype), np.shape(given["w_scale"])
        )
    if bias is not None:
        constants["bias"] = bias
    order = [
        "x",
        "x_scale",
        "x_zero_point",
        "w",
        "w_scale",
        "w_zero_point",
        "y_scale",
        "y_zero_point",
        "bias",
    ]
    names = [name for name in order if name == "x" or name in constants]
    kind = {"max_pool": "MaxPool", "avg_pool": "QLinearAveragePool"}.get(op, "QLinearConv")
    domain = "com.microsoft" if op == "avg_pool" else ""
    node = helper.make_node(kind, names, ["y"], domain=domain, **attributes)
    ends = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), None) for name in "xy"
    ]
    tensors = [numpy_helper.from_array(np.array(value, order="C"), name) for name, value in constants.items()]
    graph = helper.make_graph([node], "one", ends[:1], ends[1:], tensors)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, THREADS
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    first = np.ascontiguousarray(np.moveaxis(x, -1, 1))
    return np.moveaxis(session.run(None, {"x": first})[0], 1, -1)


@cache
def saturates_in_16_bits():
    """Whether onnxruntime's uint8 x int8 adds pairs of products in 16 bits here: processors without VNNI."""
    x, w = np.full((1, 1, 1, 64), 255, "uint8"), np.full((1, 1, 64, 16), 127, "int8")
    scales = {"x_scale": 1.0, "w_scale": 1.0, "y_scale": 64 * 127 * 255 / 200, "y_zero_point": 0}
    got = onnxruntime(
        "conv2d", x, w, x_zero_point=0, w_zero_point=0, strides=1, dilations=1, padding="VALID", **scales
    )
    return not (got == 200).all()


# ---------------------------------------------------------------------------------------------
# LiteRT
# ---------------------------------------------------------------------------------------------


KINDS = {  # the names of the op and of its options in the schema
    "conv2d": ("CONV_2D", "Conv2DOptions"),
    "depthwise_conv2d": ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions"),
    "conv2d_transpose": ("TRANSPOSE_CONV", "TransposeConvOptions"),
    "max_pool": ("MAX_POOL_2D", "Pool2DOptions"),
    "avg_pool": ("AVERAGE_POOL_2D", "Pool2DOptions"),
}


class Graph:
    """A TFLite model of one op, made tensor by tensor."""

    def __init__(self):
        from ai_edge_litert import schema_py_generated as schema

        self.schema, self.tensors, self.buffers = schema, [], [schema.BufferT()]

    def type_of(self, dtype):
        return getattr(self.schema.TensorType, np.dtype(dtype).name.upper())

    def tensor(self, shape, dtype, scale=None, zero=0, data=None, axis=0):
        """Add a tensor and return its number; with ``data`` it is a constant."""
        one = self.schema.TensorT()
        one.shape, one.type, one.buffer, one.name = (
            list(shape),
            self.type_of(dtype),
            0,
            f"t{len(self.tensors)}",
        )
        if data is not None:
            buffer = self.schema.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            one.buffer = len(self.buffers)
            self.buffers.append(buffer)
        if scale is not None:
            one.quantization = self.schema.QuantizationParametersT()
            one.quantization.scale = np.atleast_1d(np.float32(scale))
            one.quantization.zeroPoint = np.full(one.quantization.scale.shape, zero, np.int64)
            one.quantization.quantizedDimension = axis
        self.tensors.append(one)
        return len(self.tensors) - 1

    def model(self, op, options, inputs, x_in, y_out):
        """Return the bytes of the model."""
        import flatbuffers

        schema, (kind, name) = self.schema, KINDS[op]
        model, graph, operator, code = (
            schema.ModelT(),
            schema.SubGraphT(),
            schema.OperatorT(),
            schema.OperatorCodeT(),
        )
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, kind)
        code.version = 1
        operator.opcodeIndex, operator.inputs, operator.outputs = 0, inputs, [y_out]
        operator.builtinOptions, operator.builtinOptionsType = options, getattr(schema.BuiltinOptions, name)
        graph.tensors, graph.operators, graph.inputs, graph.outputs = (
            self.tensors,
            [operator],
            [x_in],
            [y_out],
        )
        model.version, model.subgraphs, model.buffers, model.operatorCodes = 3, [graph], self.buffers, [code]
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def litert(scheme, op, x, w=None, bias=None, **given):
    """One op of a TFLite model by one of LiteRT's three sets of kernels."""
    from ai_edge_litert import interpreter

    graph = Graph()
    schema = graph.schema
    options = getattr(schema, f"{KINDS[op][1]}T")()
    options.strideH, options.strideW = steps(given["strides"], 2)
    options.padding = getattr(schema.Padding, given["padding"])
    options.fusedActivationFunction = getattr(
        schema.ActivationFunctionType, (given.get("activation") or "none").upper()
    )
    x_scale, x_zero = given.get("x_scale", 1.0), given.get("x_zero_point", 0)
    x_in = graph.tensor(x.shape, x.dtype, x_scale, x_zero)
    inputs = [x_in]
    if op.endswith("pool"):
        options.filterHeight, options.filterWidth = steps(given["ksize"], 2)
    else:
        weights, axis = np.moveaxis(w, -2 if op == "conv2d_transpose" else -1, 0), 0
        if op == "depthwise_conv2d":
            weights, axis = w.reshape(1, *w.shape[:2], -1), 3
            options.depthMultiplier = w.shape[-1]
        if op != "conv2d_transpose":
            options.dilationHFactor, options.dilationWFactor = steps(given["dilations"], 2)
        inputs.append(graph.tensor(weights.shape, w.dtype, given["w_scale"], 0, weights, axis))
        if op == "conv2d_transpose":
            inputs = [graph.tensor([4], np.int32, data=np.int32(given["y_shape"])), inputs[1], x_in]
        if bias is not None:
            units = np.float32(x_scale) * np.float32(given["w_scale"])
            inputs.append(graph.tensor(bias.shape, bias.dtype, units, 0, bias))
            if op != "depthwise_conv2d":
                options.quantizedBiasType = graph.type_of(bias.dtype)
    y_scale, y_zero = given.get("y_scale", x_scale), given.get("y_zero_point", x_zero)
    y_out = graph.tensor(given["y_shape"], x.dtype, y_scale, y_zero)
    runner = interpreter.Interpreter(
        model_content=graph.model(op, options, inputs, x_in, y_out),
        experimental_op_resolver_type=getattr(interpreter.OpResolverType, LITERT[scheme]),
        num_threads=THREADS,
    )
    runner.allocate_tensors()
    runner.set_tensor(x_in, x)
    runner.invoke()
    return runner.get_tensor(y_out)


# ---------------------------------------------------------------------------------------------
# PyTorch
# ---------------------------------------------------------------------------------------------


def torch(engine, op, x, w=None, bias=None, **given):
    """PyTorch's quantized convolutions and pools by one of its engines, "fbgemm" or "qnnpack"."""
    import torch

    torch.backends.quantized.engine = engine
    rank, first = x.ndim - 2, lambda array: torch.from_numpy(np.ascontiguousarray(np.moveaxis(array, -1, 1)))
    qx = torch._make_per_tensor_quantized_tensor(
        first(x), float(np.float32(given.get("x_scale", 1))), given.get("x_zero_point", 0)
    )
    strides = steps(given["strides"], rank)
    pads = [pad for pad, _ in given["padding"]]
    if op.endswith("pool"):
        more = {"count_include_pad": False} if op == "avg_pool" else {}
        y = getattr(torch.nn.functional, f"{op}{rank}d")(qx, given["ksize"], strides, pads, **more)
        return np.moveaxis(y.int_repr().numpy(), 1, -1)
    dilations = steps(given["dilations"], rank)
    transposed = op == "conv2d_transpose"
    if op == "depthwise_conv2d":
        w = w.reshape(*w.shape[:2], 1, -1)
    groups = 1 if transposed else x.shape[-1] // w.shape[-2]
    weights = torch.from_numpy(np.ascontiguousarray(np.moveaxis(np.moveaxis(w, -1, 0), -1, 1)))
    scale, zero = given["w_scale"], given["w_zero_point"]
    if np.ndim(scale):
        qw = torch._make_per_channel_quantized_tensor(
            weights,
            torch.tensor(np.float32(scale)).double(),
            torch.tensor(np.broadcast_to(zero, np.shape(scale)).copy()).long(),
            int(transposed),
        )
    else:
        qw = torch._make_per_tensor_quantized_tensor(weights, float(np.float32(scale)), int(zero))
    bias = None if bias is None else torch.from_numpy(np.asarray(bias))
    name = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"
    extra = ([0] * rank,) if transposed else ()
    packed = getattr(torch.ops.quantized, f"{name}_prepack")(
        qw, bias, strides, pads, *extra, dilations, groups
    )
    run = getattr(torch.ops.quantized, name + ("_relu" if given.get("activation") == "relu" else ""))
    y = run(qx, packed, float(np.float32(given["y_scale"])), given["y_zero_point"])
    return np.moveaxis(y.int_repr().numpy(), 1, -1)
