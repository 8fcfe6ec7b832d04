"""Follows a call of PyTorch to the library that computed: dispatcher, chosen backend, ops, primitives.

The call is run once here, to see which convolutions it ends in. A probe repeats each of them, with the
profiler and with the logs of oneDNN and MKL.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..graph.framework.op_def import get_op_def
from ..graph.framework.op_kernel import find_kernel
from ..inspection.sources import SourceChain, SourceStep
from ..running.dispatch import find_backend
from ..support.errors import ArgumentError
from ..support.tables import duration
from . import child, onednn
from .libraries import folder, known_from
from .ours import chain, refusals

_NATIVE = "aten/src/ATen/native/"
# an aten op -> the C++ file that has its function
_FILES = {
    "convolution": "Convolution.cpp",
    "_convolution": "Convolution.cpp",
    "convolution_backward": "Convolution.cpp",
    "mkldnn_convolution": "mkldnn/Conv.cpp",
    "thnn_conv2d": "ConvolutionMM2d.cpp",
    "_slow_conv2d_forward": "ConvolutionMM2d.cpp",
    "_slow_conv2d_backward": "ConvolutionMM2d.cpp",
    "slow_conv3d": "ConvolutionMM3d.cpp",
    "slow_conv3d_forward": "ConvolutionMM3d.cpp",
    "slow_conv_transpose2d": "NaiveConvolutionTranspose2d.cpp",
    "slow_conv_transpose3d": "NaiveConvolutionTranspose3d.cpp",
    "slow_conv_dilated2d": "NaiveDilatedConvolution.cpp",
    "slow_conv_dilated3d": "NaiveDilatedConvolution.cpp",
    "_nnpack_spatial_convolution": "NNPACK.cpp",
}
# backends that are called as a function, without an op of their own in the profile
_INSIDE = {
    "Mkldnn": "mkldnn/Conv.cpp",
    "MkldnnTranspose": "mkldnn/Conv.cpp",
    "Winograd3x3Depthwise": "cpu/DepthwiseConvKernel.cpp",
    "SlowTranspose2d": "NaiveConvolutionTranspose2d.cpp",
    "SlowTranspose3d": "NaiveConvolutionTranspose3d.cpp",
    "SlowDilated2d": "NaiveDilatedConvolution.cpp",
    "SlowDilated3d": "NaiveDilatedConvolution.cpp",
    "Slow3d": "ConvolutionMM3d.cpp",
}
_COMPUTES = re.compile(r"conv|mm$|gemm|addmm|im2col|col2im")
_PYTHON = re.compile(r"[/\\]torch[/\\](nn|autograd|_tensor|functional)")
_SWITCHES = {
    **onednn.VERBOSE,
    "MKL_VERBOSE": "1",
    "CUDNN_LOGLEVEL_DBG": "2",
    "CUDNN_LOGDEST_DBG": "stdout",
}


_BESIDE: dict[str, tuple[str, Callable[..., Any]]] = {
    "op definition": ("op registry", get_op_def),
    "dispatcher": ("kernel registry", find_kernel),
    "choice": ("choice of a backend", find_backend),
}


def follow(op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> SourceChain:
    """Run a call of PyTorch and say what ran.

    Args:
        op: a function, a layer or another module, or a method such as ``loss.backward``.
        args: its positional arguments; NumPy arrays become tensors.
        kwargs: its keyword arguments.

    Returns:
        The steps of every different convolution that the call ends in.

    Raises:
        ArgumentError: if PyTorch refuses the call, or no convolution is part of it.
    """
    import torch

    recorder = _recorded(torch, op, args, kwargs)
    arrays: dict[str, np.ndarray] = {}
    alike = [repr((call.name, _encoded(torch, call.args, None))) for call in recorder.calls]  # no values
    calls = dict(zip(alike, recorder.calls, strict=True))
    counts = [alike.count(key) for key in calls]
    job = {
        "threads": torch.get_num_threads(),
        "onednn": bool(torch.backends.mkldnn.enabled),
        "calls": [
            {
                "name": call.name,
                "overload": call.overload,
                "args": _encoded(torch, call.args, arrays),
            }
            for call in calls.values()
        ],
    }
    answer = child.run(f"{__package__}.torch_probe", job, arrays, _SWITCHES)
    steps: list[SourceStep] = []
    if any(isinstance(value, np.ndarray) for value in (*args, *kwargs.values())):
        note = "became tensors first: PyTorch takes no others"
        steps.append(SourceStep("arguments", "NumPy arrays", note=note, known="find_source"))
    if type(op).__name__ == "builtin_function_or_method":
        note = "made from native_functions.yaml when PyTorch is built; no Python"
        steps.append(SourceStep("binding", f"torch.{op.__name__}", note=note, known="Python"))
    for number, (call, count) in enumerate(zip(calls.values(), counts, strict=True)):
        facts, log = answer.facts["calls"][number], answer.log[f"call {number}"]
        first = onednn.read(answer.log.get("", "") + answer.log[f"first {number}"])
        if len(calls) > 1:
            name = f"{number + 1} of {len(calls)}"
            steps.append(SourceStep("convolution", name, note=_shapes(torch, call), known="dispatch mode"))
        steps += [*call.python, *_steps(torch, call, count, facts, log, first)]
    shape = "" if len(calls) > 1 else f" {_shapes(torch, next(iter(calls.values())))}"
    return chain(
        f"torch's {_name(op)}{shape}",
        steps,
        map(_ours, calls.values()),
        f"PyTorch {torch.__version__}",
        (step.name for step in steps if step.what == "primitive"),
        _BESIDE,
    )


class _Call:
    """A convolution that PyTorch ran: its aten op with the arguments, and the lines of Python before it."""

    def __init__(self, op: Any, args: tuple[Any, ...], python: list[SourceStep]) -> None:
        self.name, self.overload = op._schema.name.partition("::")[2], op._overloadname
        self.args, self.python = args, python


def _recorded(torch: Any, op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the call here and return what it ran: ``.calls``, and the names of all ops in ``.names``."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Recorder(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.calls: list[_Call] = []
            self.names: dict[str, None] = {}

        def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.names[op._schema.name] = None
            if "conv" in op._schema.name:
                self.calls.append(_Call(op, args, _python()))
            return op(*args, **(kwargs or {}))

    def tensor(value: Any) -> Any:
        return torch.from_numpy(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value

    if isinstance(op, torch.Tensor):
        call = "find_source(torch.nn.functional.conv2d, x, w)"
        raise ArgumentError(f"a tensor does not know the call that it came from: {call} runs a call")
    if not callable(op):
        raise ArgumentError(
            f"op must be a function, a module or a method of PyTorch; got a {type(op).__name__}"
        )
    recorder = Recorder()
    with refusals("PyTorch"), recorder:
        op(*map(tensor, args), **{name: tensor(value) for name, value in kwargs.items()})
    if not recorder.calls:
        ran = ", ".join(list(recorder.names)[:6]) or "none"
        raise ArgumentError(f"{_name(op)} ran no convolution; the ops that ran: {ran}")
    return recorder


def _python() -> list[SourceStep]:
    """Return the lines of PyTorch's own Python on the way to an op that is just being run."""
    return [
        SourceStep("Python", frame.name, frame.filename, frame.lineno or 0, known="call stack")
        for frame in traceback.extract_stack()
        if _PYTHON.search(frame.filename)
    ]


def _encoded(torch: Any, item: Any, arrays: dict[str, np.ndarray] | None) -> Any:
    """Return an argument in types of JSON; a tensor's memory goes into ``arrays``, if given, as bytes."""
    if isinstance(item, (list, tuple)):
        return [_encoded(torch, inner, arrays) for inner in item]
    if not isinstance(item, torch.Tensor):
        return item
    if item.layout is not torch.strided or item.is_quantized:
        raise ArgumentError(f"only dense tensors can be followed; got one of layout {item.layout}")
    if item.is_meta:
        raise ArgumentError(
            "only tensors with numbers can be followed; got one on meta: torch.ones_like(x, device='cpu')"
        )
    name = ""
    if arrays is not None:
        span = 1 + sum((size - 1) * stride for size, stride in zip(item.shape, item.stride(), strict=True))
        memory = item.detach().as_strided((span if item.numel() else 0,), (1,)).cpu()
        name = f"tensor{len(arrays)}"
        arrays[name] = memory.view(torch.uint8).numpy()
    return {
        "tensor": name,
        "dtype": str(item.dtype).removeprefix("torch."),
        "device": str(item.device),
        "shape": list(item.shape),
        "strides": list(item.stride()),
    }


def _steps(
    torch: Any, call: _Call, count: int, facts: dict[str, Any], log: str, first: onednn.Log
) -> Iterator[SourceStep]:
    times = f"; {count} calls like this" if count > 1 else ""
    yaml, line, _ = _definition(call.name)
    yield SourceStep(
        "op definition",
        f"aten::{call.name}",
        yaml,
        line,
        f"{_shapes(torch, call)}{_options(call)}{times}",
        "installed file",
    )
    yield from _dispatch(facts)
    backend = _backend(facts["backend"])
    if backend:
        place = f"{_NATIVE}Convolution.cpp"
        yield SourceStep(
            "choice",
            f"{backend}",
            place,
            note="by shapes, dtype, device and switches",
            known="PyTorch's query",
        )
    total = max((event["seconds"] for event in facts["events"]), default=0.0)
    for event in facts["events"]:
        name = event["name"].removeprefix("aten::")
        if not event["name"].startswith("aten::") or not _COMPUTES.search(name):
            continue
        file = _FILES.get(name, "")
        function = _definition(name)[2]
        time = f"{duration(total)} with all that it calls" if event["seconds"] == total else ""
        note = "; ".join(filter(None, [time, f"function {function}" if function else ""]))
        known = f"profiler, {_known(file)}" if file else "profiler"
        place = _NATIVE + file if file else ""
        yield SourceStep("ran", event["name"], place, 0, note, known)
    files = {_FILES.get(event["name"].removeprefix("aten::")) for event in facts["events"]}
    if backend in _INSIDE and _INSIDE[backend] not in files:
        file = _INSIDE[backend]
        note = "called as a function, not as an op: the profiler does not name it"
        yield SourceStep("ran", backend, _NATIVE + file, 0, note, _known(file))
    yield from _libraries(log, first)


def _backend(number: int | None) -> str:
    """Return the name of a chosen backend: Python's enumeration lacks some, the installed header has all."""
    if number is None:
        return ""
    try:
        text = (folder("torch") / "include/ATen/native/ConvUtils.h").read_text(encoding="utf-8")
        return re.findall(r"\w+", text.partition("enum class ConvBackend {")[2].partition("}")[0])[number]
    except (OSError, IndexError):
        return f"number {number} of ConvBackend"


def _dispatch(facts: dict[str, Any]) -> Iterator[SourceStep]:
    """The dispatcher's entries for this call: those of the keys that its tensors have."""
    keys = re.findall(r"\w+", facts["keys"].partition("(")[2])
    table = dict(line.split(": ", 1) for line in facts["table"] if ": " in line)
    for key in sorted(keys, key=lambda key: not key.startswith("Autograd")):
        entry = table.get(key, "fallthrough")
        if entry.startswith("fallthrough") or key.startswith("Autocast"):  # autocasting has happened before
            continue
        found = re.search(r"registered at (\S+):(\d+) \[(.*)\]", entry)
        if found:
            path = re.sub(r"^.*?/(?=build/|torch/csrc/|aten/)", "", found[1])
            yield SourceStep("dispatcher", key, path, int(found[2]), found[3], "dispatcher")


def _known(file: str) -> str:
    return known_from("torch", "lib/libtorch_cpu.*", _NATIVE + file)


def _libraries(log: str, first: onednn.Log) -> Iterator[SourceStep]:
    """What the libraries printed: oneDNN's primitives, and MKL's matrix products."""
    primitives = onednn.read(log).primitives
    for ran in primitives:
        note = "; ".join(filter(None, [ran.algorithm, ran.formats, duration(ran.seconds)]))
        version = f"oneDNN {first.version} {ran.kind}" if first.version else f"oneDNN {ran.kind}"
        name = ran.implementation or ran.kind
        what = "primitive" if ran.direction != "undef" else ran.kind  # only reorders have no direction
        yield SourceStep(what, name, note=f"{version}: {note}", known="oneDNN's log")
    products = re.findall(r"^MKL_VERBOSE (\w*GEMM\w*\([^)]*\)) (\S+)", log, re.MULTILINE)
    for product, time in dict(products).items():
        routine, _, sizes = product.partition("(")
        first_five = ",".join(sizes.split(",")[:5])
        yield SourceStep(
            "primitive",
            f"MKL {routine}({first_five}, ...)",
            note=f"transpositions, then rows, columns and terms of the product; {time}",
            known="MKL's log",
        )
    if not primitives and not products:
        yield SourceStep(
            "primitive", "none", note="oneDNN and MKL logged nothing: PyTorch's own loops", known="both logs"
        )


def _definition(name: str) -> tuple[str, int, str]:
    """Return file and line of an op's installed definition, and its C++ function on the CPU."""
    path = folder("torchgen") / "packaged/ATen/native/native_functions.yaml"
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    before, found, rest = text.partition(f"\n- func: {name}(")
    if not found:
        return "", 0, ""
    own = rest.partition("\n- func")[0]
    function = re.search(r"^ +[\w, ]*\b(?:CPU|Composite\w+)\b[\w, ]*: (\w+)", own, re.MULTILINE)
    return str(path), before.count("\n") + 2, function[1] if function else ""


def _options(call: _Call) -> str:
    """Say what a convolution was asked for, or its gradients, whose arguments begin one later."""
    if call.name not in ("convolution", "convolution_backward"):
        return ""
    strides, padding, dilations, _, _, groups = call.args[4 if "backward" in call.name else 3 :][:6]
    return f"; strides {strides}, padding {padding}, dilations {dilations}, groups {groups}"


def _ours(call: _Call) -> str:
    """Return the op of our runtime that does what a two-dimensional call of PyTorch does; "" for others."""
    if call.name == "convolution" and len(call.args[3]) == 2:
        return "Conv2DBackpropInput" if call.args[6] else "Conv2D"
    return "Conv2DBackpropInput" if call.name == "convolution_backward" and len(call.args[4]) == 2 else ""


def _shapes(torch: Any, call: _Call) -> str:
    tensors = [list(item.shape) for item in call.args if isinstance(item, torch.Tensor)]
    return " * ".join(map(str, tensors[:3]))


def _name(op: Any) -> str:
    return getattr(op, "__name__", type(op).__name__)
