"""Runs one competitor in its own process: waits for a problem, prepares it, times it on request.

``python peers.py NAME THREADS`` is started by `racing.Worker`, with the interpreter that has the
framework. No other package than NumPy is needed (except for teachconv, its plans and its numpy backend).
The number of threads and the pinning are inherited from the parent's environment and affinity.
A request is one line of JSON on standard input, an answer one line on standard output:

    {"do": "prepare", "facts": Problem.facts(), "arrays": {name: file}, "result": file}
        -> {"seconds": of one call, "algorithm": text}, or {"refused": reason}; the result is in the file
    {"do": "time", "calls": n, "warm": calls before}  -> {"seconds": [n of them]}

Converting arrays to each framework's preferred layout is not timed; allocating results is, as in users'
code. Every array begins at a cache line, as the tensors of the frameworks and the larger results of
teachconv do. In NumPy's arrays most vector loads cross two lines, which would be counted against those that
read them in place.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from engines import (
    Arrays,
    Facts,
    LiteRt,
    Ncnn,
    OnnxRuntime,
    OpenVino,
    RefusedError,
    Restore,
    Run,
    channels_first,
    channels_last,
    filters_first,
    filters_last,
    first_line,
)


class Torch:
    """PyTorch: channels first in memory order, or channels_last, for images and volumes."""

    channels_last = False
    device = "cpu"

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        if torch.get_num_interop_threads() != 1:  # PyTorch takes this once in a process
            torch.set_num_interop_threads(1)
        self.torch = torch
        self.versions = {"torch": torch.__version__}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        torch = self.torch
        x, w, dy = (self._tensor(facts, arrays, name) for name in ("x", "w", "dy"))
        strides, padding, dilations = facts["strides"], facts["padding"], facts["dilations"]
        rank, groups = len(strides), facts["groups"]
        if facts["op"] == "transposed":
            transpose = getattr(torch.nn.functional, f"conv_transpose{rank}d")
            return lambda: transpose(dy, w, None, strides, padding, 0, groups, dilations), self._images
        if facts["kind"] == "conv2d":
            conv = getattr(torch.nn.functional, f"conv{rank}d")
            return lambda: conv(x, w, None, strides, padding, dilations, groups), self._images
        backward = torch.ops.aten.convolution_backward
        fixed = (None, strides, padding, dilations, False, [0] * rank, groups)
        if facts["kind"] == "conv2d_backprop_input":
            return lambda: backward(dy, x, w, *fixed, [True, False, False])[0], self._images
        return (
            lambda: backward(dy, x, w, *fixed, [False, True, False])[1],
            lambda dw: dw.cpu().numpy().transpose(filters_last(dw.ndim)),
        )

    def _tensor(self, facts: Facts, arrays: Arrays, name: str) -> Any:
        axes = len(facts["shapes"][name])
        order = filters_first(axes) if name == "w" else channels_first(axes)
        if name in arrays:
            tensor = self.torch.from_numpy(arrays[name].transpose(order).copy())
        else:  # PyTorch takes shape and layout of the gradient from the array it belongs to
            shape = [facts["shapes"][name][axis] for axis in order]
            tensor = self.torch.empty(shape, dtype=getattr(self.torch, facts["dtype"]))
        return tensor.contiguous(memory_format=self._format(axes)).to(self.device)

    def _format(self, axes: int) -> Any:
        if not self.channels_last:
            return self.torch.contiguous_format
        if axes == 3:
            raise RefusedError("no channels_last for sequences")
        return self.torch.channels_last if axes == 4 else self.torch.channels_last_3d

    def _images(self, y: Any) -> np.ndarray:
        return y.cpu().numpy().transpose(channels_last(y.ndim))


class TorchChannelsLast(Torch):
    channels_last = True


class TensorFlow:
    """TensorFlow's raw ops, each compiled by tf.function; channels last, which its CPU kernels require."""

    def __init__(self, threads: int) -> None:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
        import tensorflow as tf

        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(1)
        self.tf = tf
        self.versions = {"tensorflow": tf.__version__}

    def prepare(self, facts: Facts, arrays: Arrays) -> tuple[Run, Restore]:
        shapes, op = dict(facts["shapes"]), self._op(facts)
        dilations, options = facts["dilations"], self._padding(facts)
        options["strides"] = [1, *facts["strides"], 1]
        if len(dilations) == 1:  # as tf.nn.conv1d does; a depthwise convolution wants equal strides
            options["strides"], dilations = [1, *facts["strides"] * 2, 1], [1, *dilations]
            shapes = {name: [*shape[:-2], 1, *shape[-2:]] for name, shape in shapes.items()}
            shapes["w"] = [1, *facts["shapes"]["w"]]
        options["dilations"] = [1, *dilations, 1]
        if facts["depthwise"]:
            options["dilations"] = dilations
            taps, channels, outs = shapes["w"][:2], shapes["x"][3], shapes["w"][3]
            shapes["w"] = [*taps, channels, outs // channels]
        given = {name: self.tf.constant(array.reshape(shapes[name]).copy()) for name, array in arrays.items()}
        if facts["kind"] == "conv2d":
            function = self.tf.function(lambda x, w: op(input=x, filter=w, **options))
            operands, result = (given["x"], given["w"]), "dy"
        elif facts["kind"] == "conv2d_backprop_input":
            sizes = shapes["x"]
            function = self.tf.function(
                lambda w, dy: op(input_sizes=sizes, filter=w, out_backprop=dy, **options)
            )
            operands, result = (given["w"], given["dy"]), "x"
        else:
            sizes = shapes["w"]
            function = self.tf.function(
                lambda x, dy: op(input=x, filter_sizes=sizes, out_backprop=dy, **options)
            )
            operands, result = (given["x"], given["dy"]), "w"
        compiled = function.get_concrete_function(*operands)
        return lambda: compiled(*operands), lambda y: y.numpy().reshape(facts["shapes"][result])

    def _op(self, facts: Facts) -> Any:
        raw = self.tf.raw_ops
        ops = {
            "conv2d": (raw.Conv2D, raw.DepthwiseConv2dNative, raw.Conv3D),
            "conv2d_backprop_input": (
                raw.Conv2DBackpropInput,
                raw.DepthwiseConv2dNativeBackpropInput,
                raw.Conv3DBackpropInputV2,
            ),
            "conv2d_backprop_filter": (
                raw.Conv2DBackpropFilter,
                raw.DepthwiseConv2dNativeBackpropFilter,
                raw.Conv3DBackpropFilterV2,
            ),
        }
        return ops[facts["kind"]][2 if len(facts["strides"]) == 3 else facts["depthwise"]]

    def _padding(self, facts: Facts) -> dict[str, Any]:
        if facts["is_same"]:
            return {"padding": "SAME"}
        if len(facts["strides"]) == 3:
            raise RefusedError("no explicit padding for volumes")
        pads = facts["padding"] if len(facts["padding"]) == 2 else [0, *facts["padding"]]
        twice = [pad for pad in pads for _ in range(2)]
        return {"padding": "EXPLICIT", "explicit_paddings": [0, 0, *twice, 0, 0]}


class Jax:
    """JAX: conv_general_dilated and its linear transposes under jit; channels last."""

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
        jax, axes = self.jax, "DHW"[3 - len(facts["strides"]) :]

        def forward(x: Any, w: Any) -> Any:
            return jax.lax.conv_general_dilated(
                x,
                w,
                facts["strides"],
                [(pad, pad) for pad in facts["padding"]],
                rhs_dilation=facts["dilations"],
                dimension_numbers=(f"N{axes}C", f"{axes}IO", f"N{axes}C"),
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


def _clock(run: Run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _at_cache_line(array: np.ndarray, dtype: str) -> np.ndarray:
    """Copy an array to an address that is a multiple of 64, where NumPy's begin only by chance."""
    size = array.size * np.dtype(dtype).itemsize
    block = np.empty(size + 64, np.uint8)
    start = -block.__array_interface__["data"][0] % 64
    copy = block[start : start + size].view(dtype).reshape(array.shape)
    copy[...] = array
    return copy


def _prepare(peer: Any, request: dict[str, Any]) -> tuple[Run, dict[str, Any]]:
    facts = request["facts"]
    arrays = {name: _at_cache_line(np.load(file), facts["dtype"]) for name, file in request["arrays"].items()}
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
                reply = {"refused": first_line(error)}
            except Exception as error:  # any exception of a framework is its answer
                reply = {"refused": f"{type(error).__name__}: {first_line(error)}"}
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
        answer({"missing" if missing else "broken": f"{type(error).__name__}: {first_line(error)}"})
        return
    gc.disable()
    answer({"versions": peer.versions})
    serve(peer, answer)


if __name__ == "__main__":
    main()
