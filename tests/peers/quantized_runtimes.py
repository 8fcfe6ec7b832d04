"""The convolutions of integers of onnxruntime, LiteRT and PyTorch, called in the words of `teachconv.quantized`.

Each function takes the name of a function of `teachconv.quantized` and its arguments, as `quantized.calls` draws
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
    """QLinearConv, MaxPool, or the QLinearAveragePool that onnxruntime makes of dequantized averages."""
    import onnxruntime as ort
    from onnx import helper, numpy_helper

    rank = x.ndim - 2
    padding = given["padding"]
    attributes = {"strides": steps(given["strides"], rank)}
    if isinstance(padding, str):
        attributes["auto_pad"] = {"SAME": "SAME_UPPER", "VALID": "VALID"}[padding]
    else:
        attributes["pads"] = [pad for side in zip(*padding, strict=True) for pad in side]
    constants, first = {}, lambda array: np.ascontiguousarray(np.moveaxis(array, -1, 1))
    types = {name: helper.np_dtype_to_tensor_dtype(np.dtype(name)) for name in ("int8", "uint8")}
    y_type = types[x.dtype.name]
    scales = {
        f"{side}_scale": np.float32(given[f"{side}_scale"]) for side in "xy" if f"{side}_scale" in given
    }
    zeros = {
        f"{side}_zero_point": np.array(given[f"{side}_zero_point"], x.dtype)
        for side in "xy"
        if f"{side}_zero_point" in given
    }
    domain = {}
    if op == "max_pool":
        attributes["kernel_shape"] = steps(given["ksize"], rank)
        kind, names = "MaxPool", ["x"]
    elif op == "avg_pool":
        attributes["kernel_shape"] = steps(given["ksize"], rank)
        constants = scales | zeros
        kind, names, domain = (
            "QLinearAveragePool",
            ["x", "x_scale", "x_zero_point", "y_scale", "y_zero_point"],
            {"domain": "com.microsoft"},
        )
    else:
        attributes["dilations"] = steps(given["dilations"], rank)
        if op == "depthwise_conv2d":
            w = w.reshape(*w.shape[:2], 1, -1)
        attributes["group"] = x.shape[-1] // w.shape[-2]
        weights = np.ascontiguousarray(np.moveaxis(np.moveaxis(w, -1, 0), -1, 1))
        zero = np.broadcast_to(np.array(given["w_zero_point"], w.dtype), np.shape(given["w_scale"]))
        constants = (
            scales | zeros | {"w": weights, "w_scale": np.float32(given["w_scale"]), "w_zero_point": zero}
        )
        kind, names = (
            "QLinearConv",
            ["x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point"],
        )
        if bias is not None:
            constants["bias"] = np.asarray(bias)
            names.append("bias")
    node = helper.make_node(kind, names, ["y"], **attributes, **domain)
    graph = helper.make_graph(
        [node],
        "one",
        [helper.make_tensor_value_info("x", types[str(x.dtype)], first(x).shape)],
        [helper.make_tensor_value_info("y", y_type, None)],
        [numpy_helper.from_array(np.array(value, order="C"), name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    options = ort.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, THREADS
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return np.moveaxis(session.run(None, {"x": first(x)})[0], 1, -1)


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


def litert(scheme, op, x, w=None, bias=None, **given):
    """One op of a TFLite model by one of LiteRT's three sets of kernels."""
    import flatbuffers
    from ai_edge_litert import interpreter
    from ai_edge_litert import schema_py_generated as s

    types = {
        "int8": s.TensorType.INT8,
        "int16": s.TensorType.INT16,
        "int32": s.TensorType.INT32,
        "int64": s.TensorType.INT64,
    }
    model, graph = s.ModelT(), s.SubGraphT()
    model.version, model.subgraphs, model.buffers, graph.tensors = 3, [graph], [s.BufferT()], []

    def tensor(shape, dtype, scale=None, zero=0, data=None, axis=0):
        one = s.TensorT()
        one.shape, one.type, one.buffer, one.name = (
            list(shape),
            types[str(np.dtype(dtype))],
            0,
            f"t{len(graph.tensors)}",
        )
        if data is not None:
            buffer = s.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            model.buffers.append(buffer)
            one.buffer = len(model.buffers) - 1
        if scale is not None:
            one.quantization = s.QuantizationParametersT()
            one.quantization.scale = np.atleast_1d(np.float32(scale))
            one.quantization.zeroPoint = np.broadcast_to(np.int64(zero), one.quantization.scale.shape).copy()
            one.quantization.quantizedDimension = axis
        graph.tensors.append(one)
        return len(graph.tensors) - 1

    same = s.Padding.SAME if given["padding"] == "SAME" else s.Padding.VALID
    activation = {
        None: s.ActivationFunctionType.NONE,
        "relu": s.ActivationFunctionType.RELU,
        "relu6": s.ActivationFunctionType.RELU6,
    }[given.get("activation")]
    rows, cols = steps(given["strides"], 2)
    x_in = tensor(x.shape, x.dtype, given.get("x_scale", 1.0), given.get("x_zero_point", 0))
    operator, code = s.OperatorT(), s.OperatorCodeT()
    operator.opcodeIndex, inputs = 0, [x_in]
    if op in ("max_pool", "avg_pool"):
        kind = {"max_pool": s.BuiltinOperator.MAX_POOL_2D, "avg_pool": s.BuiltinOperator.AVERAGE_POOL_2D}[op]
        options, operator.builtinOptionsType = s.Pool2DOptionsT(), s.BuiltinOptions.Pool2DOptions
        options.filterHeight, options.filterWidth = steps(given["ksize"], 2)
    else:
        axis = 0
        if op == "conv2d":
            kind, options, operator.builtinOptionsType = (
                s.BuiltinOperator.CONV_2D,
                s.Conv2DOptionsT(),
                s.BuiltinOptions.Conv2DOptions,
            )
            weights = np.moveaxis(w, -1, 0)
        elif op == "depthwise_conv2d":
            kind, options, operator.builtinOptionsType = (
                s.BuiltinOperator.DEPTHWISE_CONV_2D,
                s.DepthwiseConv2DOptionsT(),
                s.BuiltinOptions.DepthwiseConv2DOptions,
            )
            weights, axis = w.reshape(1, *w.shape[:2], -1), 3
            options.depthMultiplier = w.shape[-1]
        else:
            kind, options, operator.builtinOptionsType = (
                s.BuiltinOperator.TRANSPOSE_CONV,
                s.TransposeConvOptionsT(),
                s.BuiltinOptions.TransposeConvOptions,
            )
            weights = np.moveaxis(w, -2, 0)
        if op != "conv2d_transpose":
            options.dilationHFactor, options.dilationWFactor = steps(given["dilations"], 2)
        inputs.append(tensor(weights.shape, w.dtype, given["w_scale"], 0, weights, axis))
        if bias is not None:
            units = np.float32(given["x_scale"]) * np.float32(given["w_scale"])
            inputs.append(tensor(bias.shape, bias.dtype, units, 0, bias))
            if op != "depthwise_conv2d":
                options.quantizedBiasType = types[str(bias.dtype)]
    options.strideH, options.strideW, options.padding, options.fusedActivationFunction = (
        rows,
        cols,
        same,
        activation,
    )
    y_out = tensor(
        given["y_shape"],
        x.dtype,
        given.get("y_scale", given.get("x_scale", 1.0)),
        given.get("y_zero_point", given.get("x_zero_point", 0)),
    )
    if op == "conv2d_transpose":
        inputs[:2] = [tensor([4], np.int32, data=np.int32(given["y_shape"])), inputs[1], x_in, *inputs[2:]][
            :3
        ]
        inputs = [*inputs[:3], *([len(graph.tensors) - 3] if bias is not None else [])]
    code.builtinCode = code.deprecatedBuiltinCode = kind
    code.version = 1
    model.operatorCodes = [code]
    operator.builtinOptions, operator.inputs, operator.outputs = options, inputs, [y_out]
    graph.operators, graph.inputs, graph.outputs = [operator], [x_in], [y_out]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    resolver = getattr(interpreter.OpResolverType, LITERT[scheme])
    runner = interpreter.Interpreter(
        model_content=bytes(builder.Output()), experimental_op_resolver_type=resolver, num_threads=THREADS
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

    torch.set_num_threads(THREADS)
    torch.backends.quantized.engine = engine
    rank, first = x.ndim - 2, lambda array: torch.from_numpy(np.ascontiguousarray(np.moveaxis(array, -1, 1)))
    qx = torch._make_per_tensor_quantized_tensor(
        first(x), float(np.float32(given.get("x_scale", 1))), given.get("x_zero_point", 0)
    )
    strides = steps(given["strides"], rank)
    if op in ("max_pool", "avg_pool"):
        pads = [pad for pad, _ in given["padding"]]
        name = {"max_pool": "max_pool", "avg_pool": "avg_pool"}[op] + f"{rank}d"
        more = {"count_include_pad": False} if op == "avg_pool" else {}
        return np.moveaxis(
            getattr(torch.nn.functional, name)(qx, given["ksize"], strides, pads, **more).int_repr().numpy(),
            1,
            -1,
        )
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
    pads = [pad for pad, _ in given["padding"]]
    name = f"conv_transpose{rank}d" if transposed else f"conv{rank}d"
    extra = ([0] * rank,) if transposed else ()
    packed = getattr(torch.ops.quantized, f"{name}_prepack")(
        qw, bias, strides, pads, *extra, dilations, groups
    )
    run = getattr(torch.ops.quantized, name + ("_relu" if given.get("activation") == "relu" else ""))
    y = run(qx, packed, float(np.float32(given["y_scale"])), given["y_zero_point"])
    return np.moveaxis(y.int_repr().numpy(), 1, -1)
