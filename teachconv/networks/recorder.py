"""Records what each layer of a network computes: with PyTorch, Keras, ONNX or TFLite, into one .npz file.

This file needs NumPy and the framework alone: copy it to where the model runs.

    import recorder
    recorder.save("model.npz", recorder.record_torch(model, x))

A recording is a list of dictionaries, one for each call in order: its ``name`` in the model, the
``framework``, the function or class as ``word``, ``args`` and ``kwargs`` with arrays and numbers in the
framework's own words, the ``output``, and an ``error`` where the call raised one. Arrays are copied before
the call, so an in-place operation changes nothing. Large ones are kept in a temporary file, equal ones once.
The last dictionary also holds the model's ``input``, and what it ``returned``: pairs of a place in nested
tuples, lists and dictionaries, such as "[1]['mask']", and the value there.

PyTorch's hooks and Keras' base class are changed while a recording runs. So one recording runs after the
other, and calls of other threads are not recorded.

``instead``, arrays by the number of a call, replaces the results of those calls: the rest of the model runs
on them. The arrays of ``added`` are added to results. Such a call's own result is its ``computed``.

Of a quantized TFLite file, a call has the ``quantization`` of each argument and of its output: scales and
zero points, which are empty for floats.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from hashlib import blake2b
from math import prod
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from threading import RLock, get_ident
from typing import Any
from unittest.mock import patch

import numpy as np

__all__ = ["load", "record_keras", "record_onnx", "record_tflite", "record_torch", "save"]

Recording = list[dict[str, Any]]
Instead = Mapping[int, np.ndarray]
_ALONE = RLock()  # held by the recording that has changed a framework


def record_torch(
    model: Any, x: Any, instead: Instead | None = None, added: Instead | None = None
) -> Recording:
    """Return what a ``torch.nn.Module`` computes for an array: modules, functions and operators."""
    import torch
    from torch.nn.modules import module as hooks
    from torch.overrides import TorchFunctionMode

    names = {module: name for name, module in model.named_modules()}
    functional: Any = torch.nn.functional
    calls, inside, own = _Calls("torch", instead, added), [""], get_ident()
    constant = {_memory(array): array for array in (*model.parameters(), *model.buffers())}

    class Recorder(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            word = getattr(function, "__name__", str(function)).strip("_")
            named, kwargs = (inside[-1] or word, _TORCH.get(word, word)), kwargs or {}
            if word == "multi_head_attention_forward":  # written in other functions, which are recorded
                return inner(*args, **kwargs)
            arrays = [leaf for _, leaf in _leaves([args, kwargs]) if hasattr(leaf, "dtype")]
            if arrays and all(_memory(array) in constant for array in arrays):  # it makes a weight of weights
                result = function(*args, **kwargs)
                constant.update((_memory(leaf), leaf) for _, leaf in _leaves(result))
                return result
            result = calls.run(*named, function, args, kwargs, kwargs)
            if arrays and (result is None or result is arrays[0]):  # which holds activations now
                constant.pop(_memory(arrays[0]), None)
            return result

    def inner(*args: Any, **kwargs: Any) -> Any:
        # it asks, and would come here again
        with patch.object(functional, "has_torch_function", lambda arrays: False), Recorder():
            return functional.multi_head_attention_forward(*args, **kwargs)

    def enter(module: Any, *_: Any) -> None:
        if get_ident() == own:
            inside.append("" if [*module.children()] else names.get(module, ""))

    def leave(*_: Any) -> None:
        if get_ident() == own:
            inside.pop()

    with _ALONE, ExitStack() as undone:
        undone.callback(hooks.register_module_forward_pre_hook(enter).remove)
        undone.callback(hooks.register_module_forward_hook(leave, always_call=True).remove)
        with calls.recorded(x), torch.no_grad():
            given = torch.from_numpy(np.array(x)).to(next(iter(model.parameters()), torch.empty(0)).device)
            with Recorder():
                calls.returned = model(given)
    return calls.made


def _memory(array: Any) -> int:
    """Return where the numbers of a tensor are, which its views share; of anything else, its identity."""
    try:
        return array.untyped_storage().data_ptr() or id(array)
    except (AttributeError, NotImplementedError, RuntimeError):  # such as a sparse tensor
        return id(array)


_TORCH = {"iadd": "add", "radd": "add", "imul": "mul", "rmul": "mul", "concat": "cat", "concatenate": "cat"}


def record_keras(
    model: Any, x: Any, instead: Instead | None = None, added: Instead | None = None
) -> Recording:
    """Return what a Keras model computes for an array: its layers, and operators on its symbolic tensors.

    Operators in the ``call`` of a class of your own are not recorded.
    """
    base: Any = next(
        cls
        for cls in reversed(type(model).__mro__)
        if cls.__module__.startswith(("keras.", "teachconv.")) and "__call__" in vars(cls)
    )
    calls, own = _Calls(base.__module__.partition(".")[0], instead, added), get_ident()
    inside: list[Any] = []  # layers call operations of Keras, which are part of them

    def record(layer: Any, *args: Any, **kwargs: Any) -> Any:
        if inside or get_ident() != own:
            return original(layer, *args, **kwargs)
        if _has_layers(layer):
            number, result = len(calls.made), original(layer, *args, **kwargs)
            if any(call["output"] is not None or call["error"] for call in calls.made[number:]):
                return result
            del calls.made[number:]  # JAX traces the layers inside, such as an LSTM's: it counts as one
            return calls.done(calls.entry(layer.name, type(layer).__name__, args, kwargs), result)
        activation, word = vars(layer).get("activation"), type(layer).__name__
        settings = {
            name: getattr(layer, name) for name in _SETTINGS if getattr(layer, name, None) is not None
        }
        name = "linear" if activation is None else getattr(activation, "__name__", type(activation).__name__)
        is_one = any(cls.__name__ == "Activation" for cls in type(layer).__mro__)
        entry = calls.entry(layer.name, name if word == "Activation" else word, args, settings | kwargs)
        activated: list[Any] = []

        def activate(value: Any, *more: Any, **named: Any) -> Any:
            if get_ident() != own:
                return activation(value, *more, **named)
            given = calls.done(entry, value), *more
            activated.append(calls.run(f"{layer.name} ({name})", name, activation, given, named, named))
            return activated[-1]

        inside.append(layer)
        number = len(calls.made)
        try:
            if name != "linear" and not is_one:
                layer.activation = activate  # the layer and its activation are two calls
            result = original(layer, *args, **kwargs)
        except Exception as error:
            if len(calls.made) == number:
                calls.add(entry, None, _words(error))
            raise
        finally:
            inside.pop()
            if activation is not None:
                layer.activation = activation
        if activated and (activated[1:] or result is not activated[0]):  # its activation is not the last step
            del calls.made[number:]
            entry["word"] += f" with {name} inside"
        return result if len(calls.made) > number else calls.done(entry, result)

    with _ALONE, ExitStack() as undone:
        original = base.__call__
        undone.callback(setattr, base, "__call__", original)
        base.__call__ = record
        with calls.recorded(x):
            calls.returned = model(np.array(x), training=False)
    return calls.made


# the attributes of layers that say what is computed
_SETTINGS = (
    *("kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance", "pointwise_kernel"),
    *("strides", "padding", "data_format", "dilation_rate", "groups", "output_padding", "depth_multiplier"),
    *("pool_size", "epsilon", "axis", "negative_slope", "max_value", "threshold", "approximate", "alpha"),
    *("x_min", "x_max"),  # of keras.ops.clip
    *("scale", "offset", "mean", "variance", "depthwise_kernel", "keepdims", "interpolation"),
    *("antialias", "crop_to_aspect_ratio", "pad_to_aspect_ratio", "pad_width", "mode", "sorted"),
    *("output_size", "decimals", "equation", "subscripts", "order", "correction", "axes"),
)


def _has_layers(layer: Any) -> bool:
    """Return whether a layer contains layers, which are recorded instead of it; or is only an input."""
    inner = getattr(layer, "_layers", None) or getattr(layer, "_sublayers", None)
    return bool(inner) or hasattr(layer, "layers") or type(layer).__name__ == "InputLayer"


def record_onnx(
    model: Any,
    x: Any,
    instead: Instead | None = None,
    added: Instead | None = None,
    run: Callable[[Any, Mapping[str, np.ndarray]], Mapping[str, Any]] | None = None,
) -> Recording:
    """Return what an ONNX file or ``ModelProto`` computes for an array: its nodes.

    ``run`` returns the outputs of a model by name, for arrays by name; None for onnxruntime.
    """
    import onnx

    whole, calls = onnx.ModelProto(), _Calls("onnx")
    whole.CopyFrom(model if isinstance(model, onnx.ModelProto) else onnx.load(str(model)))
    graph = whole.graph
    constants = [node for node in graph.node if node.op_type == "Constant"]
    held = {node.output[0]: onnx.helper.get_attribute_value(node.attribute[0]) for node in constants}
    held |= {tensor.name: tensor for tensor in graph.initializer}
    values = {
        name: onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
        for name, value in held.items()
    }
    feeds = {next(info.name for info in graph.input if info.name not in values): np.array(x)}
    inferred = onnx.shape_inference.infer_shapes(whole).graph.value_info
    known = {info.name: info for info in (*inferred, *graph.output)}
    values, error, nodes, ends = values | feeds, "", list(graph.node), [info.name for info in graph.output]
    seen = {*feeds}  # what is computed from the input; not from its sizes alone
    for node in graph.node:
        takes = seen & {*node.input} or any(item.type == item.GRAPH for item in node.attribute)
        seen |= {*node.output} if takes and node.op_type not in ("Shape", "Size") else set()
    real = [(node, at) for node in graph.node for at, name in enumerate(_recorded(node)) if name in seen]
    own: dict[str, str] = {}  # by the name of what is computed, that of the result
    for number, array in {**(instead or {}), **(added or {})}.items():
        node, at = real[number]
        name, is_sum = node.output[at], number in (added or {})
        node.output[at] = f"{name} as computed"
        graph.initializer.append(onnx.numpy_helper.from_array(np.array(array), f"array for {name}"))
        given = [node.output[at]] * is_sum + [f"array for {name}"]
        made = onnx.helper.make_node("Add" if is_sum else "Identity", given, [name])
        nodes.insert(nodes.index(node) + 1, made)
        own[node.output[at]] = name
    nodes = [copy(node) for node in nodes]
    del graph.node[:]
    graph.node.extend(nodes)
    for count in range(len(nodes), 0, -1):  # where a node cannot run, those before it
        del graph.node[count:], graph.output[:]
        there = dict.fromkeys(
            name for node in graph.node for name in node.output if name in ends or name in _recorded(node)
        )
        graph.output.extend(known.get(name) or onnx.ValueInfoProto(name=name) for name in there)
        try:
            values |= (run or _onnxruntime)(whole, feeds)
            break
        except Exception as problem:  # onnxruntime does not say which types it raises
            if count == 1 or isinstance(problem, ImportError):
                raise
            error = _words(problem)
    with calls.recorded(x):
        for node in nodes[: count + bool(error)]:
            settings = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
            found = [values.get(name) for name in node.input]
            failed = error if node is nodes[min(count, len(nodes) - 1)] else ""
            names = [name for name in _recorded(node) if failed or name in seen or name in own]
            for output in [name for name in names if name not in own.values()]:
                name = node.name or own.get(node.output[0], node.output[0])
                entry = calls.entry(name, node.op_type, found, settings)
                entry |= {"computed": calls.keep(values.get(output))} if output in own else {}
                calls.add(entry, values.get(own.get(output, output)), failed)
        calls.returned = [values.get(name) for name in ends]
    return calls.made


def _recorded(node: Any) -> list[str]:
    """Return the outputs of a node that are recorded: of most nodes only the first holds activations."""
    count = 0 if node.op_type == "Constant" else None if node.op_type.lower() in _SPLITS else 1
    return [*node.output[:count]]


def _onnxruntime(model: Any, feeds: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Run a model with onnxruntime, nothing fused: a fused node has no output of its own."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))


def record_tflite(
    model: Any, x: Any, instead: Instead | None = None, added: Instead | None = None
) -> Recording:
    """Return what a TFLite file computes for an array: its operators.

    An activation that an operator of floats contains is one of its own here. A file that takes integers gets
    an array of floats rounded to its scale.
    """
    import flatbuffers
    from ai_edge_litert import interpreter, schema_py_generated

    schema: Any = schema_py_generated
    with open(model, "rb") as file:
        whole = schema.ModelT.InitFromPackedBuf(file.read(), 0)
    graph, calls = whole.subgraphs[0], _Calls("tflite")
    words = {number: word for word, number in vars(schema.BuiltinOperator).items() if word[0] != "_"}
    kinds = {number: word for word, number in vars(schema.ActivationFunctionType).items()}
    operators: list[Any] = []

    def added_operator(word: str, inputs: list[int], outputs: list[int]) -> Any:
        code, operator = schema.OperatorCodeT(), schema.OperatorT()
        code.builtinCode = code.deprecatedBuiltinCode = getattr(schema.BuiltinOperator, word)
        operator.opcodeIndex, operator.inputs, operator.outputs = len(whole.operatorCodes), inputs, outputs
        whole.operatorCodes.append(code)
        return operator

    for operator in graph.operators:
        operators.append(operator)
        word = kinds[getattr(operator.builtinOptions, "fusedActivationFunction", 0)]
        before = copy(graph.tensors[operator.outputs[0]])
        if word in words.values() and before.type == schema.TensorType.FLOAT32:
            before.name = before.name.split(b";")[0] + b" before " + word.encode()
            operators.append(added_operator(word, [len(graph.tensors)], operator.outputs))
            operator.outputs = operators[-1].inputs
            operator.builtinOptions.fusedActivationFunction = 0
            graph.tensors.append(before)
    ends = list(graph.outputs)
    for signature in whole.signatureDefs or []:  # the converter shuffles the outputs, and numbers their names
        numbered = sorted(signature.outputs, key=lambda output: (len(output.name), output.name))
        ends = [output.tensorIndex for output in numbered]
    seen, recorded = {graph.inputs[0]}, list[tuple[str, list[Any]]]()
    for operator in operators:
        code = whole.operatorCodes[operator.opcodeIndex]
        word = words[max(code.builtinCode, code.deprecatedBuiltinCode)]
        if word == "SHAPE" or not seen & {*operator.inputs}:  # of weights and sizes alone
            continue
        seen |= {*operator.outputs}
        recorded.append((word, [operator]))
        kinds_of, parts = zip(*recorded[-3:], strict=True)
        is_dilation = kinds_of[::2] == ("SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND")
        if is_dilation and getattr(parts[1][0].builtinOptions, "strideH", 0) == 1:
            recorded[-3:] = [(kinds_of[1], [each for part in parts for each in part])]
    steps = [
        (word, group, at)
        for word, group in recorded
        for at in group[-1].outputs[: None if word.lower() in _SPLITS else 1]
    ]
    start, own = graph.inputs[0], dict[int, int]()
    given = {start: np.array(x)}
    for number, array in {**(instead or {}), **(added or {})}.items():
        _, (*_, last), at = steps[number]
        own[at], is_sum = len(graph.tensors), number in (added or {})
        last.outputs = [own[at] if output == at else output for output in last.outputs]
        graph.tensors += [copy(graph.tensors[at]), copy(graph.tensors[at])]  # of the second an input is added
        given[own[at] + 1 if is_sum else at] = array
        if is_sum:
            total = added_operator("ADD", [own[at], own[at] + 1], [at])
            total.builtinOptionsType = schema.BuiltinOptions.AddOptions
            total.builtinOptions = schema.AddOptionsT()
            operators.insert(next(n for n, each in enumerate(operators) if each is last) + 1, total)
    graph.inputs, graph.operators = [*given], operators  # an array that takes part is fed as an input
    builder = flatbuffers.Builder(0)
    builder.Finish(whole.Pack(builder), b"TFL3")
    resolver = interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    runner = interpreter.Interpreter(
        model_content=bytes(builder.Output()),
        experimental_preserve_all_tensors=True,
        experimental_op_resolver_type=resolver,
    )
    details = {each["index"]: each for each in runner.get_tensor_details()}
    numbers = {at: each["quantization_parameters"] for at, each in details.items()}
    stored = {at: [each["scales"], each["zero_points"]] for at, each in numbers.items()}
    if stored[start][0].size and given[start].dtype.kind == "f":
        (scale, zero), limits = stored[start], np.iinfo(details[start]["dtype"])
        given[start] = np.clip(np.rint(given[start] / scale) + zero, limits.min, limits.max).astype(
            limits.dtype
        )
    for at, array in given.items():
        runner.resize_tensor_input(at, np.shape(array))
    runner.allocate_tensors()
    for at, array in given.items():
        runner.set_tensor(at, np.array(array))
    runner.invoke()
    with calls.recorded(given[start]):
        for word, (first, *rest), at in steps:
            operator, last = [first, *rest][len(rest) // 2], [first, *rest][-1]
            said = vars(operator.builtinOptions) if operator.builtinOptions else {}
            if rest:
                block, pads, crops = map(runner.get_tensor, (*first.inputs[1:], last.inputs[2]))
                said |= {"dilationHFactor": int(block[0]), "dilationWFactor": int(block[-1])}
                said |= {"padding": (pads - crops).tolist()}
            inputs = (first.inputs[0], *operator.inputs[1:])
            arrays = [runner.get_tensor(one) if one >= 0 else None for one in inputs]
            name = graph.tensors[last.outputs[0]].name.decode().split(";")[0]
            facts = [[each.tolist() for each in stored.get(one, ())] for one in (*inputs, at)]
            if facts[0][0] or facts[-1][0]:
                said |= {"quantization": facts, "activation": kinds[said.get("fusedActivationFunction", 0)]}
            entry = calls.entry(name, word, arrays, said)
            entry |= {"computed": calls.keep(runner.get_tensor(own[at]))} if at in own else {}
            calls.add(entry, runner.get_tensor(at))
        calls.returned = [*map(runner.get_tensor, ends)]
    return calls.made


# ---------------------------------------------------------------------------------------------
# What is written down, and the file
# ---------------------------------------------------------------------------------------------


class _Calls:
    """The calls of one run.

    Args:
        framework: of the model.
        instead: what takes the place of the calls' results, by their numbers.
        added: what is added to results.
    """

    def __init__(self, framework: str, instead: Instead | None = None, added: Instead | None = None) -> None:
        self.framework, self.instead, self.added = framework, instead or {}, added or {}
        self.made: Recording = []
        self.returned: Any = None  # by the model
        self._kept: dict[Any, tuple[Any, ...]] = {}  # by what an array holds, where it is in the file

    @contextmanager
    def recorded(self, x: Any) -> Iterator[None]:
        """Let a recording end where the model raises; the last entry holds the error."""
        with TemporaryFile() as self._file:
            try:
                yield
            except Exception as error:
                if not self.made or not self.made[-1]["error"]:
                    self.add(self.entry("the model", "forward", [], {}), None, _words(error))
            if self.made:
                returned = [[place, self._plain(value)] for place, value in _leaves(self.returned)]
                self.made[-1] |= {"input": self.keep(x), "returned": returned}
            self._file.flush()
            # a memory mapping for each array would keep as many files open
            data = mmap(self._file.fileno(), 0, access=ACCESS_READ) if self._kept else b""
        arrays = {
            name: np.frombuffer(data, dtype, prod(shape), start).reshape(shape)
            for name, start, shape, dtype in self._kept.values()
        }
        self.made[:] = filled(self.made, arrays)

    def run(
        self, name: str, word: str, function: Any, args: Any, kwargs: Any, said: Mapping[str, Any]
    ) -> Any:
        """Run a function and record it, if its result is an array."""
        entry = self.entry(name, word, args, said)
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            self.add(entry, None, _words(error))
            raise
        return self.done(entry, result)

    def done(self, entry: dict[str, Any], result: Any) -> Any:
        """Record a call with its result, if that is an array; return it, or what takes its place."""
        is_one = not (isinstance(result, (tuple, list)) and result)
        parts = [result] if is_one else [*result]  # of an LSTM, say
        if not hasattr(parts[0], "dtype"):
            return result
        word = entry["word"].lower()
        for at, part in enumerate(parts if word in (*_SPLITS, *_PAIRS) else parts[:1]):
            number, own = len(self.made), entry | ({"part": at} if word in _PAIRS else {})
            if number in {**self.instead, **self.added}:
                own = own | {"computed": self.keep(part)}
                array = self.instead[number] if number in self.instead else _numpy(part) + self.added[number]
                parts[at] = _put(part, array)
                result = parts[0] if is_one else type(result)(parts)
            self.add(own, parts[at])
        return result

    def entry(self, name: str, word: str, args: Any, said: Mapping[str, Any]) -> dict[str, Any]:
        """Return what is known about a call before it runs."""
        given = {key: self._plain(value) for key, value in said.items()}
        return {
            "name": name,
            "framework": self.framework,
            "word": word,
            "args": self._plain(list(args)),
            "kwargs": given,
        }

    def add(self, entry: dict[str, Any], output: Any, error: str = "") -> None:
        """Record a call with its output."""
        self.made.append(entry | {"output": self.keep(output), "error": error})

    def _plain(self, value: Any) -> Any:
        """Return arrays as NumPy's, numbers and text as they are, and of anything else its type's name."""
        if isinstance(value, (list, tuple)):
            return [self._plain(item) for item in value]
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        found = value.decode() if isinstance(value, bytes) else self.keep(value)
        return type(value).__name__ if found is None else found

    def keep(self, value: Any) -> Any:
        """Return a copy of an array of numbers, or where it is in the file; None for anything else."""
        try:
            found = _numpy(value)
        except Exception:  # a framework may raise anything for other types
            return None
        if found.dtype.kind in "OUS" or found.nbytes < _SMALL:
            return None if found.dtype.kind in "OUS" else found.copy()
        raw = np.ascontiguousarray(found).view(np.uint8).data
        key = blake2b(raw).digest(), found.shape, found.dtype
        if key not in self._kept:
            start = self._file.seek(-(-self._file.tell() // 64) * 64)  # numbers must be aligned
            self._kept[key] = f"array_{len(self._kept)}", start, *key[1:]
            self._file.write(raw)
        return {"array": self._kept[key][0]}


# what returns several arrays that are parts of one; each is a call of its own
_SPLITS = (
    *("split", "chunk", "unbind", "tensor_split", "split_with_sizes", "unpack", "unstack", "split_v"),
    *("array_split", "hsplit", "vsplit", "dsplit"),
)

# what returns two arrays, each of which is a ``part`` of its own
_PAIRS = ("var_mean", "std_mean", "aminmax", "moments")


def _numpy(value: Any) -> np.ndarray:
    return np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value)


def _put(result: Any, array: np.ndarray) -> Any:
    """Return an array for a result; over a tensor of PyTorch, as others may be views of its memory."""
    value = result.new_tensor(array) if hasattr(result, "new_tensor") else array
    return result.copy_(value) if value is not array and value.shape == result.shape else value


def filled(value: Any, arrays: Mapping[str, Any]) -> Any:
    """Return nested lists and dictionaries with arrays in place of ``{"array": name}``."""
    if isinstance(value, dict):
        named = value.get("array")
        return arrays[named] if named else {name: filled(item, arrays) for name, item in value.items()}
    return [filled(item, arrays) for item in value] if isinstance(value, list) else value


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what nested tuples, lists and dictionaries hold, and where; and what is empty."""
    if isinstance(value, (list, tuple, Mapping)) and value:
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            yield from _leaves(item, f"{place}[{key!r}]")
    else:
        yield place, value


_SMALL = 1 << 16  # bytes; smaller arrays stay in memory


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:300]


def save(path: Any, recorded: Sequence[Mapping[str, Any]]) -> None:
    """Write a recording to an .npz file: arrays, and the calls as JSON that refers to them by number."""
    arrays: dict[Any, Any] = {}

    def refer(value: Any) -> dict[str, str]:
        key = value.ctypes.data, value.shape, value.dtype
        arrays[key] = value
        return {"array": f"array_{[*arrays].index(key)}"}

    text = json.dumps(list(recorded), default=refer)
    np.savez(path, layers=np.array(text), **{f"array_{n}": array for n, array in enumerate(arrays.values())})


def load(path: Any) -> Recording:
    """Return the recording in a file that `save` wrote."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    found: Recording = filled(json.loads(str(arrays.pop("layers"))), arrays)
    return found
