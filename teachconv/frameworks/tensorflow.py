"""Follows a call of TensorFlow's own functions to the kernel and the primitive that run on this machine.

The call runs once in this process, while a callback, one that TensorFlow's debugger uses too, notes each op
with the lines of Python that led to it. The registries of this process say how the op is defined and which
kernels it has. What the runtime then does is in TensorFlow's log: `tensorflow_probe` runs the same ops on
the same arrays with that log switched on, which is possible only in a process that starts.
"""

from __future__ import annotations

import inspect
import linecache
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from textwrap import shorten
from types import CodeType
from typing import Any

import numpy as np

from ..graph.common_runtime import execute, executor, graph_optimizer, graph_partition, placer
from ..graph.common_runtime.run_steps import gradient_step, recorded_files
from ..graph.eager.backprop import GradientTape
from ..graph.find_source import find_source
from ..graph.framework import op_kernel
from ..graph.framework.op_def import REGISTRY
from ..graph.gradients.gradients_util import backpropagate
from ..inspection.sources import SourceChain, SourceStep, step_at, step_at_code
from ..support.errors import ArgumentError
from ..support.tables import duration
from . import child, onednn
from .ours import chain

# how a step is known
_STACK, _OPS, _KERNELS = "call stack", "op registry", "kernel registry"
_LOG, _PROFILER, _ONEDNN, _RECORDED = "TensorFlow's log", "profiler", "oneDNN's log", "recorded"

_SWITCHES = {
    **onednn.VERBOSE,
    "CUDNN_LOGLEVEL_DBG": "3",
    "CUDNN_LOGDEST_DBG": "stdout",
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "TF_CPP_MIN_LOG_LEVEL": "0",
    "TF_CPP_VMODULE": "placer=2,graph_partition=1,op_kernel=1,mkl_layout_pass=1,remapper=2,executor=1,"
    "generic_layout_optimizer=2,conv_ops_impl=2,conv_ops_fused_impl=2,conv_grad_input_ops=2",
}
_CONVOLUTION = re.compile("Conv(?!ert)")  # in the names of all ops that are followed
# files between a function and the next that TensorFlow's and Keras's own tracebacks leave out, too
_BETWEEN = re.compile(
    r"tensorflow.python.(?:util|framework|autograph)\b|tensorflow.python.eager.(?:execute|context|polymorphic_)"
    r"|keras.src.utils\b|__autograph_generated"
)
_THEIRS = re.compile(r"[/\\](?:tensorflow|keras)[/\\]")
_LINE = re.compile(r"^[IWE]\d{4} \S+ +\d+ ([\w.]+):(\d+)\] (.*)$", re.MULTILINE)
_MADE = re.compile(r"Instantiating kernel for node: \{\{node \S+\}\} = (\w*Conv\w*)\[(.*)")
_WAYS = ("eager", "graph", "fused", "refused")
# (what, the file that logs it, the text)
_LOGGED = (
    ("placement", "placer.cc", r"\S+\((?P<name>\w*Conv\w*)\) placed on: (?P<note>\S+)"),
    ("partition", "graph_partition.cc", r"Added (?P<name>send/recv): (?P<note>.*)"),
    ("rewrite", "generic_layout_optimizer.cc", r"(?P<note>.*?(?P<name>layout conversion).*)"),
    ("rewrite", "remapper.cc", r"(?P<name>Fuse \w+)(?P<note> .*?): "),
    ("rewrite", "mkl_layout_pass.cc", r"(?P<note>MklLayoutRewritePass): New node:.*?\}\} = (?P<name>\w+)\["),
    ("executor", "executor.cc", r"Process node: .*?\{\{node \S+\}\} = (?P<name>\w*Conv\w*)\["),
    ("in the kernel", "conv_ops_impl.h", r"(?P<name>\w+): (?P<note>in_depth.*)"),
    ("in the kernel", "conv_ops_fused_impl.h", r"(?P<name>\w+): (?P<note>in_depth.*)"),
    ("in the kernel", "conv_grad_input_ops.h", r"(?P<name>\w+):(?P<note>.*)"),
)


@dataclass(frozen=True, slots=True)
class _Op:
    """An op that a call ran, with what is needed to run it again."""

    type: str
    attrs: dict[str, Any]
    inputs: list[np.ndarray]
    dtypes: list[str]
    device: str
    eager: bool  # in a graph its arrays are not known, and zeros of their shapes take their places
    frames: list[tuple[CodeType, int]]
    compiled: bool = False  # by XLA


def follow(op: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> SourceChain:
    """Run a call of TensorFlow's and return its steps, from the public function to the primitive.

    Args:
        op: a function, a method such as ``tape.gradient``, a tf.function or a layer.
        args: its positional arguments.
        kwargs: its keyword arguments.

    Raises:
        ValueError: without arguments, if TensorFlow refuses them, and if the call runs no convolution.
        ProbeError: if the process that runs the ops again gives no answer.
    """
    import tensorflow as tf

    name = _name(op)
    if not callable(op):
        call = 'find_source(tf.nn.conv2d, x, w, 1, "SAME")'
        raise ArgumentError(f"a result, {name}, does not know the call that it came from: {call} runs a call")
    if not (args or kwargs):
        needs = "an input" if hasattr(op, "weights") else "its arguments"
        raise ArgumentError(f"find_source runs a call: give {name} {needs}")
    # a tf.function's ops run one by one, so that arrays are seen
    function = getattr(op, "python_function", op)
    ran = _ran(name, function, args, kwargs)
    if hasattr(op, "python_function"):
        ran = [replace(each, eager=False, compiled=bool(op._jit_compile)) for each in ran]  # type: ignore[attr-defined]
    answer = _ask(ran)
    steps: list[SourceStep] = []
    for index, each in enumerate(ran):
        steps += _Steps(tf.__version__, each, index, answer).all()
    steps = [step for i, step in enumerate(steps) if step.known != _STACK or step not in steps[:i]]
    used = (step.name for step in steps if step.what in ("primitive", "loops", "compiled by XLA"))
    query = f"{name} {' * '.join(str(list(array.shape)) for array in ran[0].inputs if array.ndim > 1)}"
    return chain(query, steps, (each.type for each in ran), f"TensorFlow {tf.__version__}", used)


def _name(op: Any) -> str:
    """Return the name by which users know a function, such as "tf.nn.conv2d" of ``conv2d_v2``."""
    if hasattr(op, "python_function"):
        return f"tf.function({_name(op.python_function)})"
    named = op if hasattr(op, "__name__") else type(op)
    plain = inspect.unwrap(named, stop=lambda each: bool(vars(each).get("_tf_api_names")))
    exported = [*vars(plain).get("_tf_api_names", ()), *vars(plain).get("_tf_api_names_v1", ())]
    if exported:
        return f"tf.{exported[0]}"
    paths = getattr(named, "_api_export_path", None)
    return paths[0] if paths else str(getattr(named, "__qualname__", named))


# ---------------------------------------------------------------------------------------------
# The ops that a call runs, and the lines of Python that lead to them
# ---------------------------------------------------------------------------------------------


def _ran(
    name: str, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[_Op]:
    """Run a call and return its convolutions."""
    from tensorflow.python.eager import context, def_function
    from tensorflow.python.framework import op_callbacks

    noted: list[Callable[[bool], _Op]] = []
    in_graphs: set[int] = set()
    compiled: set[int] = set()
    others: dict[str, None] = {}

    def note(
        op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> Any:
        kind = op_type.decode() if isinstance(op_type, bytes) else op_type
        if _CONVOLUTION.search(kind) and _definition(kind) is not None:
            if graph is not None:
                in_graphs.add(len(noted))
            noted.append(partial(_op, kind, inputs, attrs, outputs, graph is not None, _frames()))
        else:
            others[kind] = None
        if context.context().has_function(kind):
            definition = context.context().get_function_def(kind)
            if definition.attr["_XlaMustCompile"].b:  # the ops in graphs up to here are its nodes
                compiled.update(in_graphs)
        return outputs

    def call() -> Any:
        return function(*args, **kwargs)

    if str(getattr(function, "__module__", "")).startswith("tensorflow.python.ops."):
        # a graph refuses shapes with which an eager kernel of 2.21 ends the process
        _call(name, def_function.function(call, autograph=False).get_concrete_function)
    op_callbacks.add_op_callback(note)
    try:
        _call(name, call)
    finally:
        op_callbacks.remove_op_callback(note)
    if not noted:
        ops = f"it ran {', '.join(others)}" if others else "it ran no op"
        raise ArgumentError(
            f"{name} ran no convolution, which is what find_source follows in TensorFlow; {ops}"
        )
    return [make(i in compiled) for i, make in enumerate(noted)]


def _call(name: str, function: Callable[[], Any]) -> None:
    """Run a function; what it raises becomes an error of one line."""
    try:
        function()
    except Exception as error:
        raise ArgumentError(f"{name} refuses this call: {_one_line(error)}") from error


def _frames() -> list[tuple[CodeType, int]]:
    """Return code and line of each function between the call and the callback, the outermost first."""
    found = []
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code is not _call.__code__:
        found.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return found[-2::-1]  # without the function that makes the call


def _op(
    kind: str,
    inputs: Any,
    attrs: Any,
    outputs: Any,
    in_graph: bool,
    frames: list[tuple[CodeType, int]],
    compiled: bool,
) -> _Op:
    names = [attr.name for attr in _definition(kind).attr if attr.type != "type"]
    if in_graph:
        given = {name: outputs[0].op.get_attr(name) for name in names}
        arrays = [_stand_in(kind, value) for value in inputs]
    else:
        given = dict(zip(attrs[::2], attrs[1::2], strict=True))
        arrays = [value.numpy() for value in inputs]
    attributes = {name: _plain(given[name]) for name in names if given.get(name) is not None}
    dtypes = [value.dtype.name for value in inputs]
    return _Op(kind, attributes, arrays, dtypes, outputs[0].device, not in_graph, frames, compiled)


def _plain(value: Any) -> Any:
    """Return an attribute in types of JSON."""
    if isinstance(value, bytes):
        return value.decode()
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def _stand_in(kind: str, tensor: Any) -> np.ndarray:
    """Return the value of a graph's constant, or zeros of a tensor's shape, on which the kernel depends."""
    from tensorflow.python.framework import tensor_util

    value = tensor_util.constant_value(tensor)
    if value is None:
        if not tensor.shape.is_fully_defined():
            raise ArgumentError(
                f"a {kind} of the graph has an input of shape {tensor.shape}: call it with arrays"
            )
        value = np.zeros(tensor.shape.as_list(), tensor.dtype.as_numpy_dtype)
    return np.asarray(value)


def _definition(kind: str) -> Any:
    from tensorflow.python.framework import op_def_registry

    return op_def_registry.get(kind)


def _one_line(error: object) -> str:
    """Return an error of TensorFlow's without the names of nodes that the user has never seen."""
    text = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
    return " ".join(re.sub(r" for '\{\{node.*?\)'|\{\{.*?\}\}|\[Op:.*", "", text).split())


def _ask(ran: list[_Op]) -> child.Answer:
    """Run the ops again in a process of its own."""
    from tensorflow.python.util import _pywrap_util_port

    ops = [
        {
            "op": op.type,
            "inputs": [arg.name for arg in _definition(op.type).input_arg],
            "attrs": op.attrs,
            "dtypes": op.dtypes,
            "device": op.device,
            "eager": op.eager,
            "compiled": op.compiled,
        }
        for op in ran
    ]
    arrays = {f"{i}_{j}": array for i, op in enumerate(ran) for j, array in enumerate(op.inputs)}
    # as it is in this process: the variable may have changed since the import
    enabled = str(int(_pywrap_util_port.IsMklEnabled()))
    switches = _SWITCHES | {"TF_ENABLE_ONEDNN_OPTS": enabled}
    return child.run(f"{__package__}.tensorflow_probe", {"ops": ops}, arrays, switches)


# ---------------------------------------------------------------------------------------------
# The steps of one op
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Ran:
    """The kernel that a node got, and what oneDNN ran in it."""

    node: str  # its op
    kernel: str  # the class
    type: str
    label: str
    primitives: tuple[str, ...]


class _Steps:
    """Makes the steps of one op from its frames, the registries, and the answer of the probe."""

    def __init__(self, version: str, op: _Op, index: int, answer: child.Answer) -> None:
        self.version, self.op, self.facts = version, op, answer.facts["ops"][index]
        self.log = {way: answer.log.get(f"{index} {way}", "") for way in _WAYS}
        self.times = {way: answer.facts["times"].get(f"{index} {way}", {}) for way in _WAYS}
        self.onednn = onednn.read("".join(answer.log.values()))
        self.device = self.facts.get("device", op.device).rpartition("device:")[2]
        self.rewrites: set[tuple[str, str]] = set()
        self.recorded = version.split(".")[:2] == recorded_files()["versions"]["tensorflow"].split(".")[:2]

    def all(self) -> list[SourceStep]:
        """Return the steps, each with ours beside it."""
        beside = ours(self.op.type)
        steps = [*self._python(), *self._registered(), *self._runs()]
        return [replace(step, beside=beside.get(step.what)) for step in steps]

    def _python(self) -> Iterator[SourceStep]:
        """The frames of the call, the outermost first."""
        shown = [(code, line) for code, line in self.op.frames if not _BETWEEN.search(code.co_filename)]
        words = {"nn_grad.py": "gradient function", "backprop.py": "tape", "imperative_grad.py": "engine"}
        public = "public function"
        for code, line in shown:
            file = Path(code.co_filename).name
            generated = file.startswith("gen_")
            if not (generated and code.co_name.endswith("_eager_fallback")):
                what = "generated function" if generated else words.get(file, public)
                if not _THEIRS.search(code.co_filename):
                    what = "program"
                note = "" if generated else f"goes on at line {line}"
                yield replace(step_at_code(what, code.co_qualname, code, note), known=_STACK)
                public = "wrapper" if what == public else public
        code, line = shown[-1]
        called = re.search(r"\.(\w+)\(", linecache.getline(code.co_filename, line).strip())
        yield SourceStep("into C++", called[1] if called else "", code.co_filename, line, known=_STACK)

    def _registered(self) -> Iterator[SourceStep]:
        """What the registries hold: the op's definition, and its kernels."""
        definition = _definition(self.op.type)
        inputs, attributes = (
            [each.name for each in part] for part in (definition.input_arg, definition.attr)
        )
        given = ("strides", "padding", "explicit_paddings", "dilations", "data_format")
        here = ", ".join(f"{name} {self.op.attrs[name]}" for name in given if self.op.attrs.get(name))
        note = f"inputs {', '.join(inputs)}; attributes {', '.join(attributes)}; here {here}"
        yield SourceStep(
            "op definition", self.op.type, self._file("definitions", _module(self.op.type)), 0, note, _OPS
        )
        devices: dict[str, list[str]] = {}
        for kernel in _kernels(self.op.type):
            place = kernel.device_type + (f" ({kernel.label})" if kernel.label else "")
            devices.setdefault(place, []).extend(_names(kernel))
        note = "; ".join(f"{place}: {', '.join(sorted(names))}" for place, names in devices.items())
        note += "" if any(place.startswith("GPU") for place in devices) else "; GPU: not in this build"
        yield SourceStep("kernels", self.op.type, note=note, known=_KERNELS)
        if not self.recorded:
            other = recorded_files()["versions"]["tensorflow"]
            note = f"recorded for TensorFlow {other}; this is {self.version}"
            yield SourceStep("not known", "some files of C++", note=note, known=_RECORDED)

    def _runs(self) -> Iterator[SourceStep]:
        """What ran for the call, and where a tf.function, and what follows in it, changes the answer."""
        main = "eager" if self.op.eager else "graph"
        same = self._ran(main)
        yield from self._way(main)
        for way, title in (("graph", "alone"), ("fused", "with BiasAdd and Relu")):
            if way != main and self.log[way]:
                note = "not this call: what ran for the same op in a tf.function, as far as it differs"
                yield SourceStep("in a tf.function", title, note=note, known=_LOG)
                yield from self._way(way, same)

    def _way(self, way: str, before: _Ran | None = None) -> Iterator[SourceStep]:
        """The steps of one way to run the op; after another way, those that differ."""
        if way in self.facts["errors"]:
            yield SourceStep("error", way, note=_one_line(self.facts["errors"][way]), known=_LOG)
            return
        if self.op.compiled:
            yield from self._compiled()
            return
        lines = _LINE.findall(self.log[way])
        for what, file, pattern in _LOGGED:
            found = ((line, re.match(pattern, text)) for name, line, text in lines if name == file)
            line, match = next(((line, match) for line, match in found if match), ("", None))
            if match and (before is None or what in ("rewrite", "executor")):
                if what == "rewrite" and (file, match["name"]) in self.rewrites:  # as in the way before
                    continue
                self.rewrites.add((file, match["name"]))
                note = self._time(way, match["name"]) if what == "executor" else match["note"].strip()
                yield SourceStep(what, match["name"], self._in_sources(file), int(line), note, _LOG)
        ran = self._ran(way)
        if ran is None:
            yield SourceStep("not known", "the kernel", note="the log names none", known=_LOG)
        elif ran == before:
            yield SourceStep("kernel", ran.kernel, note="the same, with the same primitives", known=_KERNELS)
        else:
            yield from self._kernel(ran, checked=before is None)
            yield from self._loops(way, ran)
        if way == "eager":
            yield SourceStep("run", self.op.type, note=self._time(way, self.op.type), known=_PROFILER)

    def _ran(self, way: str) -> _Ran | None:
        """Return what the log of one way says about the kernel."""
        found = _MADE.search(self.log[way])
        if not found:
            return None
        dtype, label = (re.search(name, found[2]) for name in (r"\bT=(DT_\w+)", r'_kernel="(\w+)"'))
        name = dtype[1] if dtype else ""
        kernel = _class(found[1], self.device.partition(":")[0], name, label[1] if label else "")
        ran = tuple(each.implementation for each in onednn.read(self.log[way]).primitives)
        return _Ran(found[1], kernel, name, label[1] if label else "", ran)

    def _kernel(self, ran: _Ran, checked: bool) -> Iterator[SourceStep]:
        """The class of the kernel, and the line of a check in it that TensorFlow's log named."""
        note = f"of {ran.node} on {self.device}, T {ran.type}" + (f", label {ran.label}" if ran.label else "")
        file = self._in_sources(self._file("classes", ran.kernel))
        yield SourceStep("kernel", f"{ran.kernel}::Compute", file, _compute(file, ran.kernel), note, _KERNELS)
        failed = re.search(r"OP_REQUIRES failed at ([\w.]+):(\d+) : (.*)", self.log["refused"])
        if failed and checked:
            said = shorten(_one_line(failed[3]), 100, placeholder=" ...")
            note = f"found by a second call, made wrong on purpose: {said}"
            yield SourceStep(
                "a check in it", ran.kernel, self._in_sources(failed[1]), int(failed[2]), note, _LOG
            )

    def _loops(self, way: str, ran: _Ran) -> Iterator[SourceStep]:
        """The primitives that oneDNN or cuDNN ran, or the library whose loops are in the kernel itself."""
        for each in onednn.read(self.log[way]).primitives:
            what = "primitive" if each.direction != "undef" else each.kind
            words = [
                f"oneDNN {self.onednn.version}",
                each.direction.replace("undef", ""),
                each.algorithm,
                each.formats,
            ]
            note = ", ".join(filter(None, words))  # its time is of another run than the profiler's
            yield SourceStep(what, each.implementation, note=note, known=_ONEDNN)
        for name in dict.fromkeys(re.findall(r"function (cudnn\w+)\(\) called", self.log[way])):
            yield SourceStep("primitive", name, known="cuDNN's log")
        if not ran.primitives and self.device.startswith("CPU"):
            if ran.node.startswith("_Mkl"):
                yield SourceStep("not known", "the loops", note="oneDNN logged nothing", known=_ONEDNN)
            else:
                note = "oneDNN logged nothing: the loops are compiled into the kernel"
                yield SourceStep("loops", "Eigen", note=note, known=_ONEDNN)

    def _compiled(self) -> Iterator[SourceStep]:
        """XLA's instructions: no kernel of the registry runs."""
        for line in re.findall(
            r"^ .*\b(?:convolution|custom-call|fusion)\(.*$", self.facts["hlo"], re.MULTILINE
        ):
            name = re.search(r"\b(?:convolution|custom-call|fusion)\(", line)
            note = line.strip().partition(", metadata")[0]
            yield SourceStep("compiled by XLA", name[0][:-1] if name else "", note=note, known="XLA's HLO")
        note = "which loops XLA's runtime takes for an instruction is in no log"
        yield SourceStep("not known", "the loops", note=note, known="XLA's HLO")

    def _time(self, way: str, op: str) -> str:
        """Say how long the op took in its last run, with everything that the profiler counts as its own."""
        ends = (f"EagerLocalExecute: {op}", f":{op}")
        seconds = [time for name, time in self.times[way].items() if name.endswith(ends)]
        return f"{duration(seconds[0])} on {self.device}, by the profiler" if seconds else f"on {self.device}"

    def _file(self, table: str, key: str) -> str:
        """Return the file that was recorded, if it was for this version."""
        return recorded_files()[table].get(key, "") if self.recorded else ""

    def _in_sources(self, file: str) -> str:
        """Return the path of a file that the log names without folders; of a header, its installed copy."""
        from tensorflow import sysconfig

        path = recorded_files()["files"].get(file, file)
        header = Path(sysconfig.get_include(), path)
        return str(header) if header.suffix == ".h" and header.is_file() else path


# ---------------------------------------------------------------------------------------------
# The registries, ours beside theirs
# ---------------------------------------------------------------------------------------------


def _module(op: str) -> str:
    """Return the module that was generated from the file that defines an op."""
    from tensorflow import raw_ops

    return str(getattr(raw_ops, op).__module__).rpartition(".")[2]


def _compute(file: str, kernel: str) -> int:
    """Return the line of a kernel's Compute() in an installed header, or 0."""
    if not file.endswith(".h") or not Path(file).is_file():
        return 0
    lines = Path(file).read_text(encoding="utf-8").splitlines()
    begin = next((i for i, line in enumerate(lines) if line.startswith(f"class {kernel} ")), len(lines))
    return next((i for i, line in enumerate(lines, 1) if i > begin and " Compute(OpKernelContext" in line), 0)


def _kernels(op: str) -> list[Any]:
    from tensorflow.python.framework import kernels

    return list(kernels.get_registered_kernels_for_op(op).kernel)


def _types(kernel: Any) -> list[int]:
    return [each for item in kernel.constraint if item.name == "T" for each in item.allowed_values.list.type]


def _names(kernel: Any) -> list[str]:
    from tensorflow import dtypes

    return [dtypes.as_dtype(each).name for each in _types(kernel)]


def _class(op: str, device: str, dtype: str, label: str) -> str:
    """Return the class that is registered for an op, without its template's arguments; "" if none is."""
    from tensorflow.core.framework import node_def_pb2, types_pb2
    from tensorflow.python.util import _pywrap_kernel_registry

    for kernel in _kernels(op):
        wanted = types_pb2.DataType.Value(dtype) if dtype else None
        if (kernel.device_type, kernel.label) == (device, label) and (not dtype or wanted in _types(kernel)):
            node = node_def_pb2.NodeDef(name="node", op=op, device=f"/device:{device}:0")
            node.attr["_kernel"].s = label.encode()
            for item in kernel.constraint:
                if types := item.allowed_values.list.type:
                    node.attr[item.name].type = wanted if item.name == "T" else types[0]
            found = _pywrap_kernel_registry.TryFindKernelClass(node.SerializeToString())
            return found.decode().partition("<")[0].strip() if found else ""
    return ""


@lru_cache
def ours(op: str) -> dict[str, SourceStep]:
    """Return the steps of our graph runtime by what the steps of TensorFlow that do the same are called."""
    found = {
        "into C++": step_at("eager execution", execute.execute),
        "placement": step_at("placer", placer.place),
        "partition": step_at("partition", graph_partition.partition),
        "rewrite": step_at("optimiser", graph_optimizer.remap),
        "kernels": step_at("kernel registry", op_kernel.find_kernel),
        "executor": step_at("executor", executor.Executor.run),
        "tape": step_at("tape", GradientTape.gradient),
        "engine": step_at("engine", backpropagate),
        "gradient function": gradient_step("Conv2D", ""),
    }
    if op in REGISTRY:
        steps = find_source(op).steps
        names = {
            "public wrapper": "public function",
            "generated wrapper": "generated function",
            "backend": "loops",
        }
        for step in reversed(steps):
            if step.what != "backend" or step.name.startswith("cython."):
                found[names.get(step.what, step.what)] = step
        found["primitive"] = found["loops"]
    return found
