"""Records what each layer of a network computes: with PyTorch, Keras or ONNX, into one .npz file.

This file needs NumPy and the framework alone: copy it to where the model runs.

    import recorder
    recorder.save("model.npz", recorder.record_torch(model, x))

A recording is a list of dictionaries, one for each call in order: its ``name`` in the model, the
``framework``, the function or class as ``word``, ``args`` and ``kwargs`` with arrays and numbers in the
framework's own words, the ``output``, and an ``error`` where the call raised one. Arrays are copied before
the call: an in-place operation changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["load", "record_keras", "record_onnx", "record_torch", "save"]

Recording = list[dict[str, Any]]


def record_torch(model: Any, x: Any) -> Recording:
    """Return what a ``torch.nn.Module`` computes for an array: modules, functions and operators."""
    import torch
    from torch.nn.modules import module as hooks
    from torch.overrides import TorchFunctionMode

    names = {module: name for name, module in model.named_modules()}
    recorded: Recording = []
    inside = [""]

    class Recorder(TorchFunctionMode):
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            word = getattr(function, "__name__", str(function)).strip("_")
            call = [inside[-1] or word, "torch", _TORCH.get(word, word), args, kwargs or {}]
            return _recorded(recorded, call, function, args, kwargs or {}, torch.Tensor)

    def enter(module: Any, *_: Any) -> None:
        name, leaf = names.get(module, ""), next(module.children(), None) is None
        inside.append(name if leaf else "")

    def leave(*_: Any) -> None:
        inside.pop()

    entered = hooks.register_module_forward_pre_hook(enter)
    left = hooks.register_module_forward_hook(leave, always_call=True)
    try:
        with _errors(recorded, "torch"), torch.no_grad():
            given = torch.from_numpy(np.array(x)).to(next(iter(model.parameters()), torch.empty(0)).device)
            with Recorder():
                model(given)
    finally:
        entered.remove()
        left.remove()
    return recorded


_TORCH = {"iadd": "add", "radd": "add", "imul": "mul", "rmul": "mul", "concat": "cat", "concatenate": "cat"}


def record_keras(model: Any, x: Any) -> Recording:
    """Return what a Keras model computes for an array: its layers, and the operators between them."""
    own = (
        cls for cls in reversed(type(model).__mro__) if cls.__module__.startswith(("keras.", "teachconv."))
    )
    base: Any = next(cls for cls in own if "__call__" in vars(cls))
    recorded: Recording = []
    original = base.__call__
    inside: list[Any] = []  # layers call operations of Keras, which are part of them
    framework = base.__module__.partition(".")[0]

    def record(layer: Any, *args: Any, **kwargs: Any) -> Any:
        if inside or _has_layers(layer):
            return original(layer, *args, **kwargs)
        before, activation, word = len(recorded), getattr(layer, "activation", None), type(layer).__name__
        settings = {
            name: getattr(layer, name) for name in _SETTINGS if getattr(layer, name, None) is not None
        }
        name = getattr(activation, "__name__", "linear")
        handed: list[Any] = []

        def activate(value: Any) -> Any:
            handed.append(value)
            call = [f"{layer.name} ({name})", framework, name, (value,), {}]
            return _recorded(recorded, call, activation, (value,), {})

        inside.append(layer)
        try:
            alone = any(parent.__name__ == "Activation" for parent in type(layer).__mro__)
            if name != "linear" and not alone:
                layer.activation = activate  # the layer and its activation are two calls
            call = [layer.name, framework, name if word == "Activation" else word, args, settings]
            result = _recorded(recorded, call, original, (layer, *args), kwargs)
        finally:
            inside.pop()
            if activation is not None:
                layer.activation = activation
        if len(handed) == 1:
            whole = recorded.pop()
            recorded.insert(before, {**whole, "output": _array(handed[0])})
        return result

    base.__call__ = record
    try:
        with _errors(recorded, framework):
            model(np.array(x), training=False)
    finally:
        base.__call__ = original
    return recorded


# the attributes of layers that say what is computed
_SETTINGS = (
    *("kernel", "bias", "gamma", "beta", "moving_mean", "moving_variance", "pointwise_kernel"),
    *("strides", "padding", "data_format", "dilation_rate", "groups", "output_padding", "depth_multiplier"),
    *("pool_size", "epsilon", "axis", "negative_slope", "max_value", "threshold", "approximate"),
)


def _has_layers(layer: Any) -> bool:
    """Return whether a layer contains layers, which are recorded instead of it; or is only an input."""
    inner = getattr(layer, "_layers", None) or getattr(layer, "_sublayers", None)
    return bool(inner) or hasattr(layer, "layers") or type(layer).__name__ == "InputLayer"


def record_onnx(
    model: Any, x: Any, run: Callable[[Any, Mapping[str, np.ndarray]], Mapping[str, Any]] | None = None
) -> Recording:
    """Return what an ONNX file or ``ModelProto`` computes for an array: its nodes.

    ``run`` returns the outputs of a model by name, for arrays by name; None for onnxruntime.
    """
    import onnx

    whole = onnx.ModelProto()
    whole.CopyFrom(model if isinstance(model, onnx.ModelProto) else onnx.load(str(model)))
    graph = whole.graph
    values = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    feeds = {next(info.name for info in graph.input if info.name not in values): np.array(x)}
    known = {info.name: info for info in onnx.shape_inference.infer_shapes(whole).graph.value_info}
    known |= {info.name: info for info in graph.output}
    values, error, nodes = values | feeds, "", list(graph.node)
    for count in range(len(nodes), 0, -1):  # where a node cannot run, those before it
        del graph.node[count:], graph.output[:]
        there = dict.fromkeys(name for node in graph.node for name in node.output[:1])
        graph.output.extend(known.get(name) or onnx.ValueInfoProto(name=name) for name in there)
        try:
            values |= (run or _onnxruntime)(whole, feeds)
            break
        except Exception as problem:  # onnxruntime does not say which types it raises
            if count == 1 or isinstance(problem, ImportError):
                raise
            error = f"{type(problem).__name__}: {problem}"[:300]
    recorded = []
    for number, node in enumerate(nodes[: count + bool(error)]):
        settings = {item.name: _text(onnx.helper.get_attribute_value(item)) for item in node.attribute}
        if node.op_type != "Constant":
            found = [values.get(name) for name in node.input]
            entry = _entry([node.name or node.output[0], "onnx", node.op_type, found, settings])
            recorded.append(
                entry | {"output": _array(values.get(node.output[0])), "error": error * (number == count)}
            )
    return recorded


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def _onnxruntime(model: Any, feeds: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """Run a model with onnxruntime, nothing fused: a fused node has no output of its own."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, dict(feeds)), strict=True))


# ---------------------------------------------------------------------------------------------
# What is written down, and the file
# ---------------------------------------------------------------------------------------------


def _recorded(
    recorded: Recording, call: list[Any], function: Any, args: Any, kwargs: Any, kind: Any = object
) -> Any:
    """Run a function and write it down, if its result is an array."""
    entry = _entry(call)
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        recorded.append(entry | {"output": None, "error": f"{type(error).__name__}: {error}"[:300]})
        raise
    first = result[0] if isinstance(result, tuple) and result else result  # of an LSTM, say
    if isinstance(first, kind):
        recorded.append(entry | {"output": _array(first)})
    return result


def _entry(call: list[Any]) -> dict[str, Any]:
    name, framework, word, args, kwargs = call
    given = {key: _plain(value) for key, value in kwargs.items()}
    return {"name": name, "framework": framework, "word": word, "args": _plain(list(args)), "kwargs": given}


def _plain(value: Any) -> Any:
    """Return arrays as NumPy's, numbers and text as they are, and of anything else its type's name."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    found = _array(value)
    return type(value).__name__ if found is None else found


def _array(value: Any) -> np.ndarray | None:
    """Return a copy of an array of numbers in the host's memory, or None."""
    try:
        found = np.asarray(value.detach().cpu().numpy() if hasattr(value, "detach") else value).copy()
    except Exception:  # a framework may raise anything for what is no array
        return None
    return None if found.dtype.kind in "OUS" else found


@contextmanager
def _errors(recorded: Recording, framework: str) -> Iterator[None]:
    """Let a recording end where the model raises: the last entry says what."""
    try:
        yield
    except Exception as error:
        if not recorded or "error" not in recorded[-1]:
            entry = _entry(["the model", framework, "forward", [], {}])
            recorded.append(entry | {"output": None, "error": f"{type(error).__name__}: {error}"[:300]})


def save(path: Any, recorded: Sequence[Mapping[str, Any]]) -> None:
    """Write a recording to an .npz file: arrays, and the calls as JSON that refers to them by number."""
    arrays: dict[str, np.ndarray] = {}

    def refer(value: Any) -> dict[str, str]:
        name = f"array_{len(arrays)}"
        arrays[name] = value
        return {"array": name}

    text = json.dumps(list(recorded), default=refer)
    np.savez(path, **{"layers": np.array(text), **arrays})  # type: ignore[arg-type]


def load(path: Any) -> Recording:
    """Return the recording in a file that `save` wrote."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    text = str(arrays.pop("layers"))
    return json.loads(text, object_hook=lambda found: arrays[found["array"]] if "array" in found else found)
