"""Runs one competitor in its own process: waits for a problem, prepares it, times it on request.

``python peers.py NAME THREADS`` is started by `racing.Worker`, with the interpreter that has the
framework. No other package than NumPy is needed (except for teachconv, its plans and its numpy backend).
The number of threads and the pinning are inherited from the parent's environment and affinity.
A request is one line of JSON on standard input, an answer one line on standard output:

    {"do": "prepare", "facts": Problem.facts(), "arrays": {name: file}, "result": file}
        -> {"seconds": of one call, "algorithm": text}, or {"refused": reason}; the result is in the file
    {"do": "time", "calls": n, "warm": calls before}  -> {"seconds": [n of them]}

Converting arrays to each framework's preferred layout is not timed; allocating results is, as in users'
code.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Facts = dict[str, Any]
Arrays = dict[str, np.ndarray]
Run = Callable[[], Any]
Restore = Callable[[Any], np.ndarray]  # a result as NHWC, or HWIO for a filter gradient

NHWC_TO_NCHW, NCHW_TO_NHWC = (0, 3, 1, 2), (0, 2, 3, 1)
HWIO_TO_OIHW, OIHW_TO_HWIO = (3, 2, 0, 1), (2, 3, 1, 0)


class RefusedError(Exception):
    """The framework does not have this op."""


class Torch:
    """PyTorch: NCHW in memory order, or channels_last, which is NHWC underneath."""

    channels_last = False
    device = "cpu"

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        if torch.get_num_interop_threads() != 1:  # PyTorch takes this once in a process
            torch.set_num_interop_threads(1)
        self.torch = torch
        self.format = torch.channels_last if self.channels_last else torch.contiguous_format
        self.versions = {"torch": torch.__version__}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        torch = self.torch
        x, w, dy = (self._tensor(facts, arrays, name) for name in ("x", "w", "dy"))
        strides, padding, groups = facts["strides"], facts["padding"], facts["groups"]
        if facts["op"] == "transposed":
            transpose = torch.nn.functional.conv_transpose2d
            return lambda: transpose(dy, w, None, strides, padding, 0, groups), self._images
        if facts["kind"] == "conv2d":
            conv = torch.nn.functional.conv2d
            return lambda: conv(x, w, None, strides, padding, 1, groups), self._images
        backward = torch.ops.aten.convolution_backward
        fixed = (None, strides, padding, [1, 1], False, [0, 0], groups)
        if facts["kind"] == "conv2d_backprop_input":
            return lambda: backward(dy, x, w, *fixed, [True, False, False])[0], self._images
        return (
            lambda: backward(dy, x, w, *fixed, [False, True, False])[1],
            lambda dw: dw.cpu().numpy().transpose(OIHW_TO_HWIO),
        )

    def _tensor(self, facts: Facts, arrays: Arrays, name: str) -> Any:
        order = HWIO_TO_OIHW if name == "w" else NHWC_TO_NCHW
        if name in arrays:
            tensor = self.torch.from_numpy(arrays[name].transpose(order).copy())
        else:  # PyTorch takes shape and layout of the gradient from the array it belongs to
            shape = [facts["shapes"][name][axis] for axis in order]
            tensor = self.torch.empty(shape, dtype=getattr(self.torch, facts["dtype"]))
        return tensor.contiguous(memory_format=self.format).to(self.device)

    def _images(self, y: Any) -> np.ndarray:
        return y.cpu().numpy().transpose(NCHW_TO_NHWC)


class TorchChannelsLast(Torch):
    channels_last = True


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
        data = np.ascontiguousarray(arrays[given].transpose(NHWC_TO_NCHW))
        weights = np.ascontiguousarray(arrays["w"].transpose(HWIO_TO_OIHW))
        attributes = {
            "strides": facts["strides"],
            "pads": facts["padding"] * 2,
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
            raise RefusedError(f"no {op_type} for {facts['dtype']}: {_first_line(error)}") from error
        return lambda: session.run(None, {"x": data})[0], lambda y: y.transpose(NCHW_TO_NHWC)


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
        data = np.ascontiguousarray(arrays["x"].transpose(NHWC_TO_NCHW))
        weights = np.ascontiguousarray(arrays["w"].transpose(HWIO_TO_OIHW))
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
            return np.array(request.get_output_tensor().data).transpose(NCHW_TO_NHWC)

        return lambda: request.infer(), restore


class Ncnn:
    """ncnn on a model with one layer, in float32 throughout; weights are packed or transformed in advance.

    Its images have their channels in groups of 16, 8 or 4 between two layers of a network; the input is
    arranged so in advance, and the output is left so.
    """

    def __init__(self, threads: int) -> None:
        import ncnn

        self.ncnn, self.threads = ncnn, threads
        self.versions = {"ncnn": ncnn.__version__}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        _forward_only(facts)
        ncnn, (batch, _, _, channels) = self.ncnn, facts["shapes"]["x"]
        if batch != 1:
            raise RefusedError("one image at a time")
        if facts["dtype"] != "float32":
            raise RefusedError(f"no {facts['dtype']}")
        net = self._net(facts, np.ascontiguousarray(arrays["w"].transpose(HWIO_TO_OIHW), np.float32))
        image = np.ascontiguousarray(arrays["x"][0].transpose(2, 0, 1))
        packing = next(size for size in (16, 8, 4, 1) if channels % size == 0)
        data = ncnn.convert_packing(ncnn.Mat(image).clone(), packing, net.opt)

        def run() -> Any:
            extractor = net.create_extractor()
            extractor.input("x", data)
            status, result = extractor.extract("y", 1)  # 1: as the layer left it
            if status:
                raise RefusedError(f"ncnn's status {status}")
            return result

        def restore(result: Any) -> np.ndarray:
            return np.array(ncnn.convert_packing(result, 1, net.opt)).transpose(1, 2, 0)[None]

        return run, restore

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


class TensorFlow:
    """TensorFlow's raw ops, each compiled by tf.function; NHWC, which its CPU kernels require."""

    def __init__(self, threads: int) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.tf = tf
        self.versions = {"tensorflow": tf.__version__}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        raw, (rows, cols) = self.tf.raw_ops, facts["padding"]
        options = {"strides": [1, *facts["strides"], 1], "padding": "SAME"}
        if not facts["is_same"]:
            options |= {"padding": "EXPLICIT", "explicit_paddings": [0, 0, rows, rows, cols, cols, 0, 0]}
        shapes = dict(facts["shapes"])
        if facts["depthwise"]:
            taps, channels, outs = shapes["w"][:2], shapes["x"][3], shapes["w"][3]
            shapes["w"] = [*taps, channels, outs // channels]
        given = {name: self.tf.constant(array.reshape(shapes[name]).copy()) for name, array in arrays.items()}
        kind = facts["kind"].removeprefix("conv2d") or "_"
        op = {
            "_": (raw.Conv2D, raw.DepthwiseConv2dNative),
            "_backprop_input": (raw.Conv2DBackpropInput, raw.DepthwiseConv2dNativeBackpropInput),
            "_backprop_filter": (raw.Conv2DBackpropFilter, raw.DepthwiseConv2dNativeBackpropFilter),
        }[kind][facts["depthwise"]]
        if kind == "_":
            function = self.tf.function(lambda x, w: op(input=x, filter=w, **options))
            operands = given["x"], given["w"]
        elif kind == "_backprop_input":
            sizes = shapes["x"]
            function = self.tf.function(
                lambda w, dy: op(input_sizes=sizes, filter=w, out_backprop=dy, **options)
            )
            operands = given["w"], given["dy"]
        else:
            sizes = shapes["w"]
            function = self.tf.function(
                lambda x, dy: op(input=x, filter_sizes=sizes, out_backprop=dy, **options)
            )
            operands = given["x"], given["dy"]
        compiled = function.get_concrete_function(*operands)
        result_shape = facts["shapes"]["w"] if kind == "_backprop_filter" else None
        return (
            lambda: compiled(*operands),
            lambda y: y.numpy().reshape(result_shape) if result_shape else y.numpy(),
        )


class Jax:
    """JAX: conv_general_dilated and its linear transposes under jit; NHWC and HWIO."""

    def __init__(self, threads: int) -> None:
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        if threads == 1:  # above one, XLA uses as many threads as the process has processors
            flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
            os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
        import jax

        jax.config.update("jax_enable_x64", True)
        self.jax = jax
        self.versions = {"jax": jax.__version__, "jaxlib": jax.lib.__version__}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        jax = self.jax

        def forward(x: Any, w: Any) -> Any:
            return jax.lax.conv_general_dilated(
                x,
                w,
                facts["strides"],
                [(pad, pad) for pad in facts["padding"]],
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
                feature_group_count=facts["groups"],
            )

        given = {name: jax.device_put(array) for name, array in arrays.items()}
        if facts["kind"] == "conv2d":
            function, operands = jax.jit(forward), (given["x"], given["w"])
        elif facts["kind"] == "conv2d_backprop_input":
            blank = jax.ShapeDtypeStruct(facts["shapes"]["x"], facts["dtype"])
            function = jax.jit(lambda w, dy: jax.linear_transpose(lambda x: forward(x, w), blank)(dy)[0])
            operands = given["w"], given["dy"]
        else:
            blank = jax.ShapeDtypeStruct(facts["shapes"]["w"], facts["dtype"])
            function = jax.jit(lambda x, dy: jax.linear_transpose(lambda w: forward(x, w), blank)(dy)[0])
            operands = given["x"], given["dy"]
        compiled = function.lower(*operands).compile()
        return lambda: compiled(*operands).block_until_ready(), np.asarray


class Teachconv:
    """teachconv's public functions; the numpy backend's im2col is what a learner would write by hand."""

    backend = "cython"
    algorithm: str | None = None
    planned = False

    def __init__(self, threads: int) -> None:
        import scipy

        import teachconv as tc

        tc.set_num_threads(threads)
        tc.backends.get(self.backend)  # raises BackendUnavailable
        self.tc, self.used = tc, ""
        self.versions = {"teachconv": tc.__version__, "numpy": np.__version__, "scipy": scipy.__version__}
        if self.backend == "cython":
            from teachconv import _kernels

            self.versions["teachconv instruction set"] = str(_kernels.isa())

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        from layers import Problem

        problem = Problem.from_facts(facts)
        op, args, options = problem.call(arrays)
        options |= {"backend": self.backend, "algorithm": self.algorithm, "precision": facts["precision"]}
        shape = problem.shapes[({"x", "w", "dy"} - set(problem.operands)).pop()]

        def restore(result: np.ndarray) -> np.ndarray:
            return result.reshape(shape)

        if not self.planned:
            self.used = self.tc.trace(op, *args, **options).algorithm
            return lambda: op(*args, **options), restore
        if problem.kind == "conv2d_backprop_filter":
            raise RefusedError("a filter gradient has no constant filter")
        data = arrays["x" if problem.kind == "conv2d" else "dy"]
        if problem.op == "transposed":
            options["output_shape"] = problem.shapes["x"]
        filters = next(a for a in args if isinstance(a, np.ndarray) and a is not data)
        input_shape = data.shape if problem.op == "transposed" else problem.shapes["x"]
        plan = self.tc.plan(op, filters, input_shape=input_shape, **options)
        self.used = plan.algorithm or ""
        return lambda: plan(data), restore


class Plan(Teachconv):
    planned = True


class FastPlan(Plan):
    """A plan that may use algorithms with larger errors, whatever the precision of the run."""

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        return super().prepare(facts | {"precision": "fast"}, arrays)


class NumPy(Teachconv):
    backend, algorithm = "numpy", "im2col"


PEERS: dict[str, type[Any]] = {
    "teachconv": Teachconv,
    "plan": Plan,
    "fast_plan": FastPlan,
    "torch": Torch,
    "torch_channels_last": TorchChannelsLast,
    "onnxruntime": OnnxRuntime,
    "litert": LiteRt,
    "openvino": OpenVino,
    "ncnn": Ncnn,
    "tensorflow": TensorFlow,
    "jax": Jax,
    "numpy": NumPy,
}


def _forward_only(facts: Facts) -> None:
    if facts["kind"] != "conv2d":
        raise RefusedError("timed on the forward convolution only")


def _first_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return re.sub(r"\{\{.*?\}\} ?", "", text.splitlines()[0])[:200]  # TensorFlow's numbered nodes


def _clock(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _prepare(peer: Any, request: dict[str, Any]) -> tuple[Run, dict[str, Any]]:
    facts = request["facts"]
    arrays = {name: np.load(file).astype(facts["dtype"]) for name, file in request["arrays"].items()}
    run, restore = peer.prepare(facts, arrays)
    result = restore(run())
    if facts["kind"] != "conv2d_backprop_filter":
        result = result[facts["images"]]
    np.save(request["result"], result)
    return run, {"seconds": _clock(run), "algorithm": getattr(peer, "used", "")}


def serve(peer: Any, answer: Callable[[dict[str, Any]], None]) -> None:
    """Answer requests until standard input ends."""
    run: Run | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "prepare":
            run = None  # frees the arrays of the previous problem
            gc.collect()
            try:
                run, reply = _prepare(peer, request)
            except RefusedError as error:
                reply = {"refused": _first_line(error)}
            except Exception as error:  # any exception of a framework is its answer
                reply = {"refused": f"{type(error).__name__}: {_first_line(error)}"}
            answer(reply)
        elif run is not None:
            for _ in range(request["warm"]):
                run()
            answer({"seconds": [_clock(run) for _ in range(request["calls"])]})


def main() -> None:
    name, threads = sys.argv[1:]
    channel = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # frameworks print to standard output; keep the pipe for answers

    def answer(reply: dict[str, Any]) -> None:
        channel.write(json.dumps(reply) + "\n")
        channel.flush()

    try:
        peer = PEERS[name](int(threads))
    except Exception as error:
        missing = isinstance(error, ImportError)
        answer({"missing" if missing else "broken": f"{type(error).__name__}: {_first_line(error)}"})
        return
    gc.disable()
    answer({"versions": peer.versions})
    serve(peer, answer)


if __name__ == "__main__":
    main()
