"""Walks a model into layers: runs it, reads what it did, and finds which layer's output each input is.

Two arrays count as the same if their bytes are equal, so it does not matter how a framework wires its layers.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..support.errors import ArgumentError, ArgumentTypeError, BackendUnavailable, brief, plain
from ..support.files import check_size, path_of, read_arrays, read_npy, reading
from ..support.memory import check_bytes
from ..translation import onnx_models
from ..translation.onnx_run import run_model
from . import recorder
from .formula_calls import arrays_in
from .reading import LAYOUT, Layer, by_law, read

INPUT = -1  # stands for the model's input among the sources of a layer
OWN_AXIS = ("convolution", "transposed convolution", "max pool", "average pool", "batch norm")


@dataclass(frozen=True, eq=False)
class Network:
    """A model's layers in the order in which they ran.

    Attributes:
        framework: that of its layers.
        layers: all calls, those that change no number too.
        axis: of the channels of the model's input.
        model: the model.
        x: its input, as its first layer takes it.
        calls: the recording.
        returned: what the model returned, by its place in nested tuples, lists and dictionaries: an array, a
            number or None, of anything else its type's name; and the makers of an array, as of
            `Layer`. A recording that does not have it gives the last call's output.
        instead: the results that took the place of the layers' own, by the layers' numbers.
    """

    framework: str
    layers: tuple[Layer, ...]
    axis: int
    model: Any
    x: np.ndarray
    calls: recorder.Recording
    returned: Mapping[str, tuple[Any, tuple[int, ...]]]
    instead: recorder.Instead = field(default_factory=dict)

    def outputs(self) -> list[np.ndarray]:
        """Return the arrays that the model returns."""
        return arrays_in([value for value, _ in self.returned.values()])

    def last_like(self, number: int) -> int:
        """Return the last layer with the result of one, which others may have left as it is."""
        taken = [each for layer in self.layers for each in layer.makers]
        taken += [makers for _, makers in self.returned.values()]
        return max((makers[-1] for makers in taken if number in makers), default=number)

    @property
    def can_run(self) -> bool:
        """Whether there is a model to run again, not its recording or arrays alone."""
        return framework_of(self.model) not in ("recording", "arrays")

    def again(self, results: Mapping[int, np.ndarray]) -> Network:
        """Return the layers of another run, in which layers have different results, by their numbers.

        Raises:
            ValueError: if the model cannot run with them, or its layers are then others.
        """
        sizes = [(getattr(self.layers[n].output, "size", 0), array.size) for n, array in results.items()]
        if not self.can_run or any(one != other for one, other in sizes):
            raise ArgumentError("a recording cannot run, nor a model with a result of another size")
        instead = {**self.instead, **results}
        made = _walked(self.model, self.calls[-1]["input"], self.run_with(instead, {}), instead)
        if len(made.layers) != len(self.layers):
            raise ArgumentError("with other results, the model has other layers")
        return made

    def run_with(
        self, instead: Mapping[int, np.ndarray], added: Mapping[int, np.ndarray]
    ) -> recorder.Recording:
        """Return the recording of another run.

        Args:
            instead: what takes the place of layers' results, by their numbers, and by `INPUT` of the input.
            added: what is added to layers' results.

        Raises:
            ValueError: if the model cannot run with it.
        """
        start = self.calls[-1]["input"]
        x = instead.get(INPUT, start).reshape(start.shape).astype(start.dtype)
        given: list[dict[int, np.ndarray]] = []
        for arrays in (instead, added):
            calls = {self.layers[n].call: array for n, array in arrays.items() if n != INPUT}
            likes = {call: self.calls[call]["output"] for call in calls}
            given.append({call: calls[call].reshape(y.shape).astype(y.dtype) for call, y in likes.items()})
        recording = _record(self.model, x, *given)
        if recording[-1]["error"]:
            raise ArgumentError(f"a does not run on the numbers of b: {recording[-1]['error']}")
        return recording


def walk(model: Any, x: Any) -> Network:
    """Run a model on an array, and return its layers.

    Args:
        model: a ``torch.nn.Module``, a Keras model, one of ``teachconv.keras``, an ONNX file or
            ``onnx.ModelProto``, a TFLite file, or what `recorder` made: a file or a list.
        x: the input; a recording has its own.

    Raises:
        ValueError, TypeError: if it is not such a model, or is in training mode; or as the framework raises.
        BackendUnavailable: if a package that reads the model is missing.
    """
    if framework_of(model) == "recording" and isinstance(model, (str, Path)):
        check_bytes(path_of(model).stat().st_size, f"the recording {plain(model)}")
        with reading(model, "a file that recorder.save wrote", "a recording", sys.maxsize):
            return _walked(model, None, _opened(read_arrays(Path(model))))
    return _walked(model, x, _record(model, x))


def arrays_of(model: Any) -> Mapping[str, np.ndarray] | None:
    """Return the activations that another program wrote, by name; None for a model or a recording.

    Args:
        model: a mapping, a folder of .npy files, or an .npz file that `recorder` did not write.
    """
    if isinstance(model, Mapping):
        return {str(name): np.asarray(array) for name, array in model.items()}
    if isinstance(model, (str, Path)) and os.path.isdir(model):
        return {path.stem: read_npy(path, "a file") for path in sorted(Path(model).glob("*.npy"))}
    if isinstance(model, (str, Path)) and Path(model).suffix.lower() == ".npz":
        with reading(model, "an .npz file of arrays", "a recording", sys.maxsize):
            arrays = read_arrays(Path(model))
        return None if "layers" in arrays else arrays
    return None


def dumped(arrays: Mapping[str, np.ndarray], first: Network) -> Network:
    """Return activations that another program wrote as layers of which nothing else is known."""
    if not arrays:
        raise ArgumentError("the arrays of b must be at least one; got none")
    layers = [
        Layer(name, "arrays", "array", "array", (), array, axis=first.axis, makers=())
        for name, array in arrays.items()
    ]
    return Network("arrays", tuple(layers), first.axis, arrays, first.x, [], {})


def _opened(arrays: dict[str, Any]) -> recorder.Recording:
    """Return the recording in a file of these arrays; arrays of text or other types count as not recorded."""
    text = str(arrays.pop("layers"))
    known = {name: array if array.dtype.kind in "biuf" else None for name, array in arrays.items()}
    found: recorder.Recording = recorder.filled(json.loads(text), known)
    for entry in found:
        kinds = {"args": list, "output": np.ndarray | None, "error": str}
        for name in (name for name, kind in kinds.items() if not isinstance(entry.get(name, ""), kind)):
            raise TypeError(f"the {name} of a call is not of the right type")
        for place, value in entry.get("returned", []):
            if not isinstance(place, str) or isinstance(value, (list, dict)):
                raise TypeError(f"what was returned must be values at places; got {brief([place, value])}")
    return found


def _walked(
    model: Any, x: Any, recorded: recorder.Recording, instead: recorder.Instead | None = None
) -> Network:
    """Return the layers of a recording of a model."""
    called = Counter[str]()
    given = recorded[-1].get("input") if recorded else None  # older recordings do not have it
    start = x if given is None else given
    seen = _Seen({} if start is None else {_digest(np.asarray(start)): [INPUT]}, start)
    for number, entry in enumerate(recorded):
        arrays, name = arrays_in(entry["args"]), entry["name"]
        if (not arrays or entry["word"] in _MADE) and not entry.get("error"):
            continue
        # a framework may have cast the input
        if not seen.layers and arrays and (given is None or _is_cast(given, arrays[0])):
            start = seen.start = arrays[0]
            seen.where[_digest(start)] = [INPUT]
        layer = read(entry, lambda array: _digest(array) in seen.where)
        # what moves, casts or scales weights, or computes sizes
        is_aside = layer.op_type in (LAYOUT, "cast") or bool(arrays) and arrays[0].dtype.kind in "iub"
        if is_aside and not entry.get("error") and not any(map(seen.makers, arrays)):
            continue
        called[name] += 1
        name += f" (call {called[name]})" * (called[name] > 1)
        seen.add(replace(layer, name=name, call=number), entry["output"])
    if not seen.layers:
        raise ArgumentError(f"a model must have layers; {brief(model)} computes nothing that was seen")
    own = next((layer.axis for layer in seen.layers if layer.op_type in OWN_AXIS), seen.layers[0].axis)
    returned = {
        place: (value, seen.makers(value) if isinstance(value, np.ndarray) else ())
        for place, value in returned_by(recorded)
    }
    return Network(
        *(seen.layers[0].framework, tuple(seen.layers), own, model, np.asarray(start), recorded),
        *(returned, instead or {}),
    )


def returned_by(recorded: recorder.Recording) -> list[tuple[str, Any]]:
    """Return what a model returned: places and values."""
    return recorded[-1].get("returned", [("", recorded[-1]["output"])])


def _is_cast(array: np.ndarray, other: np.ndarray) -> bool:
    """Return whether an array holds the numbers of another one, rounded to its own dtype."""
    with np.errstate(all="ignore"):
        return np.array_equal(np.ravel(array).astype(other.dtype), np.ravel(other))


def _digest(array: np.ndarray) -> bytes:
    """Return a number for the bytes of an array, whatever its shape."""
    return blake2b(np.ascontiguousarray(array).view(np.uint8).data, digest_size=16).digest()


class _Seen:
    """The layers so far, and of each array the layers that it is the output of."""

    def __init__(self, where: dict[bytes, list[int]], start: Any) -> None:
        self.where, self.start = where, start
        self.layers: list[Layer] = []

    def add(self, layer: Layer, output: np.ndarray | None) -> None:
        """Add the next layer, merged with those before it that belong to it."""
        layer = self._behind(layer, self._makers(layer.inputs[0])) if layer.inputs else layer
        sources, makers = tuple(map(self.sources, layer.inputs)), tuple(map(self.makers, layer.inputs))
        if layer.quantization is None and layer.op_type in (LAYOUT, "max pool", "resize"):  # they keep it
            before = {number for each in makers for number in each} - {INPUT}
            known = (self.layers[number].quantization for number in before)
            layer = replace(layer, quantization=next(filter(None, known), None))
        self.layers.append(replace(layer, makers=makers, sources=sources))
        if output is not None:
            self.where.setdefault(_digest(output), []).append(len(self.layers) - 1)

    def makers(self, array: np.ndarray) -> tuple[int, ...]:
        """Return the layers whose output an array is, or whose numbers it holds, perhaps with zeros."""
        found = self.where.get(_digest(array), [])
        return tuple(found) or tuple(self._hidden(array))

    def _hidden(self, array: np.ndarray) -> Iterator[int]:
        """Yield the last layer from whose output a step that was not seen took all numbers but zeros."""
        numbers = array[array != 0]
        if array.dtype.kind == "f" and (numbers != numbers[:1]).any():
            for number in reversed(range(len(self.layers))):
                output = self.layers[number].output
                if output is None or not np.isin(numbers[:_SOME], output).all():
                    continue
                if np.isin(numbers, output).all():
                    yield number
                    return
            if np.isin(numbers, self.start).all():
                yield INPUT

    def _makers(self, array: np.ndarray) -> list[int]:
        """Return the layers whose output an array is, first to last, the input left out."""
        return [number for number in self.where.get(_digest(array), []) if number != INPUT]

    def sources(self, array: np.ndarray) -> frozenset[int]:
        """Return the layers that an array may come from; layers that change no numbers are skipped."""
        found = {number: self.layers[number] for number in self._makers(array)}
        ends = ({number} if layer.computes else layer.sources[0] for number, layer in found.items())
        return frozenset[int]({INPUT} & {*self.where.get(_digest(array), [])}).union(*ends)

    def _behind(self, layer: Layer, makers: list[int]) -> Layer:
        """Return a layer with the axis of its channels, and as one with padding or flattening before it."""
        if makers and layer.op_type not in OWN_AXIS:
            layer = replace(layer, axis=_axis_behind(self.layers[makers[-1]]))
        if layer.op_type == "concatenate":
            at, channels = (axis % layer.inputs[0].ndim for axis in (layer.arguments["axis"], layer.axis))
            layer = replace(
                layer, arguments={**layer.arguments, "axis": layer.axis if at == channels else at}
            )
        if makers and layer.word in DENSE and "filters" in layer.arguments:
            layer = _over_image(layer, self.layers[makers[0]])
        pad = self.layers[makers[-1]] if makers else layer
        # zeros; for a maximum also the value that never wins
        if (
            pad.pads
            and pad.op is None
            and (layer.op_type == "max pool" or pad.filled == 0 and layer.op_type in _PADDED)
        ):
            self.layers[makers[-1]] = replace(pad, op_type=LAYOUT)
            name = f"{pad.name} + {layer.name}"
            layer = replace(layer, name=name, inputs=pad.inputs, pads=pad.pads, filled=pad.filled)
        return layer


# what makes constants: shapes, and arrays of one number; a mask is none of the activations either
_MADE = (
    *("zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full", "Shape", "SHAPE"),
    *("ZerosLike", "OnesLike", "FullLike", "gt", "ge", "lt", "le", "eq", "ne", "Greater", "GreaterOrEqual"),
    *("GreaterEqual", "Less", "LessOrEqual", "LessEqual", "Equal", "NotEqual", "GREATER", "GREATER_EQUAL"),
    *("LESS", "LESS_EQUAL", "EQUAL", "NOT_EQUAL"),
)
_SOME = 16  # numbers of an array are looked for first
DENSE = ("Dense", "linear", "Gemm", "MatMul", "FULLY_CONNECTED")
_PADDED = ("convolution", "average pool")


def _over_image(layer: Layer, before: Layer) -> Layer:
    """Return a matrix times flattened images as a convolution whose window is the image.

    In its filters the order shows in which rows, columns and channels were flattened.
    """
    image, axis, matrix = before.output, _axis_behind(before), layer.arguments["filters"]
    if image is None or image.ndim < 3 or layer.inputs[0].shape[1:3] != (1, 1):
        return layer
    if image[0].size != matrix.shape[2] or image[0].size == image.shape[axis]:
        return layer
    filters = np.moveaxis(matrix.reshape(*image.shape[1:], -1), 0 if axis == 1 else -2, -2)
    sizes = [1] * image.ndim
    sizes[0], sizes[axis] = len(image), filters.shape[-1]
    output = None if layer.output is None else layer.output.reshape(sizes)
    return replace(layer, inputs=(image,), output=output, **by_law(filters, axis))


def _axis_behind(layer: Layer) -> int:
    """Return the axis of the channels of a layer's output, which a transpose moves to the other end."""
    x, y = layer.inputs[0], layer.output
    if layer.op_type != LAYOUT or y is None or x.ndim < 3 or x.ndim != y.ndim:
        return layer.axis
    moved = np.moveaxis(x, layer.axis, -1 if layer.axis == 1 else 1)
    return -layer.axis if not np.array_equal(x, y) and np.array_equal(moved, y) else layer.axis


# ---------------------------------------------------------------------------------------------
# Models, and their inputs
# ---------------------------------------------------------------------------------------------


def framework_of(model: Any) -> str:
    """Return the framework of a model, "recording", or "" for anything else.

    >>> framework_of("net.onnx"), framework_of("net.npz"), framework_of("net.txt")
    ('onnx', 'recording', '')
    """
    if isinstance(model, Mapping):
        return "arrays"
    if isinstance(model, (str, Path)):
        return "arrays" if os.path.isdir(model) else _FILES.get(Path(model).suffix.lower(), "")
    if isinstance(model, list):
        return "recording"
    homes = {
        cls.__module__.replace("teachconv.keras", "own").partition(".")[0] for cls in type(model).__mro__
    }
    names = {"own": "teachconv", "keras": "keras", "torch": "torch", "onnx": "onnx"}
    return next((name for home, name in names.items() if home in homes), "")


_FILES = {".onnx": "onnx", ".npz": "recording", ".tflite": "tflite"}


def _record(
    model: Any, x: Any, instead: recorder.Instead | None = None, added: recorder.Instead | None = None
) -> recorder.Recording:
    """Return the recording of a model; raise for anything else, and in training mode."""
    framework = framework_of(model)
    if framework not in (*_FILES.values(),) and not (framework and callable(model)):
        raise ArgumentTypeError(
            "a model must be a torch.nn.Module, a Keras model, a teachconv.keras model, an .onnx or .tflite "
            f"file, or a recording (.npz); got {brief(model)}"
        )
    if framework == "recording":
        return model
    if x is None:
        raise ArgumentError("x must be an array: only a recording has an input of its own")
    if framework == "torch":
        training = [name for name, part in model.named_modules() if part.training and _differs(part)]
        for name in training[:1]:
            raise ArgumentError(
                f"a model must be in evaluation mode, call .eval(): {brief(name)} is in training mode"
            )
        for name in [name for name, weight in model.named_parameters() if weight.is_meta][:1]:
            raise ArgumentError(f"a model must have its weights in memory: {brief(name)} is on meta")
    if framework not in ("onnx", "tflite"):
        run = recorder.record_torch if framework == "torch" else recorder.record_keras
        return run(model, x, instead, added)
    try:
        if framework == "tflite":
            check_size(model, "a TFLite file", "a model")
            return recorder.record_tflite(model, x, instead, added)
        model = onnx_models.load(import_module("onnx"), model)
        return recorder.record_onnx(model, x, instead, added)
    except ArgumentError:
        raise
    except ImportError as error:
        if error.name == "onnxruntime":
            return recorder.record_onnx(model, x, instead, added, run_model)
        words = f"this model needs the package {'onnx' if framework == 'onnx' else 'ai-edge-litert'}"
        raise BackendUnavailable(f"{words}: {plain(error)}") from error
    except Exception as error:  # the packages do not say which types they raise
        raise ArgumentError(f"the {framework} model {brief(model)} cannot be run: {plain(error)}") from error


def _differs(module: Any) -> bool:
    """Whether a PyTorch module computes something different in training mode."""
    return (
        "Dropout" in type(module).__name__ or "Norm" in type(module).__name__ and hasattr(module, "momentum")
    )


def walk_beside(model: Any, x: Any, axis: int) -> Network:
    """Walk a model on the input of another one, its channels where this model has them.

    Args:
        model: the model.
        x: the other model's input, or None.
        axis: of the channels in x, 1 or -1.
    """
    if x is None or x.ndim < 3 or framework_of(model) in ("recording", ""):
        return walk(model, x)
    moved = np.ascontiguousarray(np.moveaxis(x, axis, -1 if axis == 1 else 1))
    own = 1 if framework_of(model) in ("torch", "onnx") else -1
    networks: list[Network] = []
    for each in (x, moved) if own == axis else (moved, x):
        with suppress(ArgumentError):  # a file that does not take it
            networks.append(walk(model, each))
            # by its layers, not its framework: a matrix has the channels last in PyTorch, too
            if not networks[-1].layers[-1].error and (networks[-1].axis == axis) == (each is x):
                return networks[-1]
    best = max(networks, key=lambda one: (not one.layers[-1].error, len(one.layers)), default=None)
    return walk(model, x) if best is None else best
