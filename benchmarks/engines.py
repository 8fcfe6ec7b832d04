"""The competitors that prepare constant weights: engines for inference; and what all competitors share.

`peers` runs them; see there for what is timed.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

Facts = dict[str, Any]
Arrays = dict[str, np.ndarray]
Run = Callable[[], Any]
Restore = Callable[[Any], np.ndarray]  # a result with its channels last, or as [*sizes, in, out]


# The axes of an array of n axes: images between [batch, *sizes, channels] and [batch, channels, *sizes],
# filters between [*sizes, in, out] and [out, in, *sizes]
def channels_first(n: int) -> tuple[int, ...]:
    return (0, n - 1, *range(1, n - 1))


def channels_last(n: int) -> tuple[int, ...]:
    return (0, *range(2, n), 1)


def filters_first(n: int) -> tuple[int, ...]:
    return (n - 1, n - 2, *range(n - 2))


def filters_last(n: int) -> tuple[int, ...]:
    return (*range(2, n), 1, 0)


class RefusedError(Exception):
    """The framework does not have this op."""


class OnnxRuntime:
    """ONNX Runtime on a model with one node, whose constant weights are packed in advance."""

    def __init__(self, threads: int) -> None:
        import onnx
        import onnxruntime

        self.onnx, self.ort = onnx, onnxruntime
        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 4
        self.versions = {"onnxruntime": onnxruntime.__version__, "onnx": onnx.__version__}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        if facts["kind"] != "conv2d" and facts["op"] != "transposed":
            raise RefusedError("inference only: no gradients")
        helper, numpy_helper = self.onnx.helper, self.onnx.numpy_helper
        given, op_type = ("x", "Conv") if facts["kind"] == "conv2d" else ("dy", "ConvTranspose")
        data = np.ascontiguousarray(arrays[given].transpose(channels_first(arrays[given].ndim)))
        weights = np.ascontiguousarray(arrays["w"].transpose(filters_first(arrays["w"].ndim)))
        attributes = {
            "strides": facts["strides"],
            "pads": facts["padding"] * 2,
            "dilations": facts["dilations"],
            "group": facts["groups"],
            "kernel_shape": weights.shape[2:],
        }
        element = helper.np_dtype_to_tensor_dtype(data.dtype)
        graph = helper.make_graph(
            [helper.make_node(op_type, ["x", "w"], ["y"], **attributes)],
            "one node",
            [helper.make_tensor_value_info("x", element, data.shape)],
            [helper.make_tensor_value_info("y", element, None)],
            [numpy_helper.from_array(weights, "w")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        try:
            session = self.ort.InferenceSession(
                model.SerializeToString(), self.options, ["CPUExecutionProvider"]
            )
        except Exception as error:
            raise RefusedError(f"no {op_type} for {facts['dtype']}: {first_line(error)}") from error
        return lambda: session.run(None, {"x": data})[0], lambda y: y.transpose(channels_last(y.ndim))


class LiteRt:
    """LiteRT (ai-edge-litert), whose XNNPACK delegate packs the constant weights of a one-node model."""

    def __init__(self, threads: int) -> None:
        from importlib.metadata import version

        import flatbuffers
        from ai_edge_litert import interpreter, schema_py_generated

        self.flatbuffers, self.schema, self.threads = flatbuffers, schema_py_generated, threads
        self.interpreter = interpreter.Interpreter
        self.versions = {"ai-edge-litert": version("ai-edge-litert")}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        _forward_only(facts)
        x, w = arrays["x"], arrays["w"]
        depthwise = facts["depthwise"]
        if not facts["is_same"] and any(facts["padding"]):
            # it has only SAME and VALID; what neither expresses is padded in advance, outside the timing
            x = np.pad(x, ((0, 0), *((pad, pad) for pad in facts["padding"]), (0, 0)))
        # [1, rows, cols, outs] for depthwise, [outs, rows, cols, depth] otherwise
        weights = np.ascontiguousarray(w.transpose((2, 0, 1, 3) if depthwise else (3, 0, 1, 2)))
        model = self._model(facts, x.shape, weights, "SAME" if facts["is_same"] else "VALID")
        runner = self.interpreter(model_content=model, num_threads=self.threads)
        runner.allocate_tensors()
        given, result = runner.get_input_details()[0]["index"], runner.get_output_details()[0]["index"]
        runner.set_tensor(given, x)
        return runner.invoke, lambda _: runner.get_tensor(result)

    def _model(self, facts: Facts, x_shape: tuple[int, ...], weights: np.ndarray, padding: str) -> bytes:
        """Return a model file with one convolution; it requires a bias, which is zero."""
        schema, name = self.schema, "DEPTHWISE_CONV_2D" if facts["depthwise"] else "CONV_2D"
        kind = "DepthwiseConv2DOptions" if facts["depthwise"] else "Conv2DOptions"
        bias, y_shape = np.zeros(facts["shapes"]["dy"][3], np.float32), facts["shapes"]["dy"]
        model, graph, node, code = (
            getattr(schema, f"{part}T")() for part in ("Model", "SubGraph", "Operator", "OperatorCode")
        )
        model.buffers = [schema.BufferT() for _ in range(3)]
        graph.tensors = []
        for number, (shape, data) in enumerate(
            ((x_shape, None), (weights.shape, weights), (bias.shape, bias), (y_shape, None))
        ):
            tensor = schema.TensorT()
            tensor.name, tensor.shape, tensor.type = f"t{number}", list(shape), schema.TensorType.FLOAT32
            tensor.buffer = 0 if data is None else number
            if data is not None:
                model.buffers[number].data = np.frombuffer(data.tobytes(), np.uint8)
            graph.tensors.append(tensor)
        node.inputs, node.outputs = [0, 1, 2], [3]
        node.builtinOptionsType = getattr(schema.BuiltinOptions, kind)
        options = node.builtinOptions = getattr(schema, f"{kind}T")()
        options.padding = getattr(schema.Padding, padding)
        options.strideH, options.strideW = facts["strides"]
        options.dilationHFactor = options.dilationWFactor = 1
        if facts["depthwise"]:
            options.depthMultiplier = y_shape[3] // x_shape[3]
        graph.operators, graph.inputs, graph.outputs = [node], [0], [3]
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, name)
        code.version = 1
        model.version, model.operatorCodes, model.subgraphs = 3, [code], [graph]
        builder = self.flatbuffers.Builder(weights.nbytes + 4096)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


class OpenVino:
    """OpenVINO on a model with one node in NCHW; weights are packed and reordered at compile time."""

    def __init__(self, threads: int) -> None:
        import openvino

        self.openvino = openvino
        self.core = openvino.Core()
        self.options = {
            "INFERENCE_NUM_THREADS": threads,
            "NUM_STREAMS": 1,
            "INFERENCE_PRECISION_HINT": "f32",
            "ENABLE_CPU_PINNING": False,  # the process is pinned already
        }
        self.versions = {"openvino": openvino.__version__.partition("-")[0]}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        _forward_only(facts)
        opset = self.openvino.opset13
        data = np.ascontiguousarray(arrays["x"].transpose(channels_first(4)))
        weights = np.ascontiguousarray(arrays["w"].transpose(filters_first(arrays["w"].ndim)))
        x = opset.parameter(data.shape, data.dtype)
        pads = facts["padding"]
        if facts["depthwise"]:  # [groups, outs / groups, depth, rows, cols]
            groups = facts["groups"]
            weights = weights.reshape(groups, -1, *weights.shape[1:])
            node = opset.group_convolution(x, opset.constant(weights), facts["strides"], pads, pads, [1, 1])
        else:
            node = opset.convolution(x, opset.constant(weights), facts["strides"], pads, pads, [1, 1])
        model = self.openvino.Model([node], [x], "one node")
        request = self.core.compile_model(model, "CPU", self.options).create_infer_request()
        request.set_input_tensor(self.openvino.Tensor(data))

        def restore(_: Any) -> np.ndarray:
            return np.array(request.get_output_tensor().data).transpose(channels_last(4))

        return lambda: request.infer(), restore


class Ncnn:
    """ncnn on a model with one layer, in float32 throughout; weights are packed or transformed in advance.

    Its images have their channels in groups of 16, 8 or 4 between two layers of a network; the input is
    arranged so in advance, and the output is left so. It computes one image at a time: a batch is a loop.
    """

    def __init__(self, threads: int) -> None:
        import ncnn

        self.ncnn, self.threads = ncnn, threads
        self.versions = {"ncnn": ncnn.__version__}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        _forward_only(facts)
        ncnn, channels = self.ncnn, facts["shapes"]["x"][3]
        if facts["dtype"] != "float32":
            raise RefusedError(f"no {facts['dtype']}")
        net = self._net(facts, np.ascontiguousarray(arrays["w"].transpose(filters_first(4)), np.float32))
        packing = next(size for size in (16, 8, 4, 1) if channels % size == 0)
        images = [np.ascontiguousarray(image.transpose(2, 0, 1)) for image in arrays["x"]]
        data = [ncnn.convert_packing(ncnn.Mat(image).clone(), packing, net.opt) for image in images]

        def compute(image: Any) -> Any:
            extractor = net.create_extractor()
            extractor.input("x", image)
            status, result = extractor.extract("y", 1)  # 1: as the layer left it
            if status:
                raise RefusedError(f"ncnn's status {status}")
            return result

        def restore(results: list[Any]) -> np.ndarray:
            planes = [np.array(ncnn.convert_packing(result, 1, net.opt)) for result in results]
            return np.stack(planes).transpose(channels_last(4))

        return lambda: [compute(image) for image in data], restore

    def _net(self, facts: Facts, weights: np.ndarray) -> Any:
        """Return a net with one layer, read from files as ncnn's own tools write them."""
        net, outs = self.ncnn.Net(), facts["shapes"]["dy"][3]
        net.opt.num_threads = self.threads
        for kind in ("fp16", "bf16"):
            for use in ("packed", "storage", "arithmetic"):
                if hasattr(net.opt, f"use_{kind}_{use}"):
                    setattr(net.opt, f"use_{kind}_{use}", False)
        (rows, cols), (stride_rows, stride_cols) = facts["shapes"]["w"][:2], facts["strides"]
        (top, left), grouped = facts["padding"], facts["groups"] > 1
        layer = "ConvolutionDepthWise" if grouped else "Convolution"
        numbers = {
            0: outs,
            1: cols,
            11: rows,
            3: stride_cols,
            13: stride_rows,
            4: left,
            14: top,
            6: weights.size,
        }
        numbers |= {7: facts["groups"]} if grouped else {}
        text = " ".join(f"{key}={value}" for key, value in numbers.items())
        with tempfile.TemporaryDirectory() as folder:
            param, model = os.path.join(folder, "net.param"), os.path.join(folder, "net.bin")
            with open(param, "w") as file:
                file.write(f"7767517\n2 2\nInput input 0 1 x\n{layer} layer 1 1 x y {text}\n")
            with open(model, "wb") as file:
                file.write(np.uint32(0).tobytes() + weights.tobytes())  # 0: the weights are float32
            if net.load_param(param) or net.load_model(model):
                raise RefusedError("ncnn does not load the layer")
        return net


def _forward_only(facts: Facts) -> None:
    if facts["kind"] != "conv2d":
        raise RefusedError("timed on the forward convolution only")


def first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return re.sub(r"\{\{.*?\}\} ?", "", text.splitlines()[0])[:200]  # TensorFlow's numbered nodes
