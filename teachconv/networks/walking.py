"""Walks a model into layers: runs it, reads what it did, and finds which layer's output each input is.

Two arrays are the same if their bytes are: so nothing has to be known of how a framework wires its layers.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import permutations
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, BackendUnavailable, brief, plain
from ..translation.onnx_run import run_model
from . import recorder
from .definitions import smooth
from .reading import LAYOUT, Layer, arrays_in, by_law, read

__all__ = ["INPUT", "Network", "framework_of", "walk", "walk_beside"]

INPUT = -1  # stands for the model's input among the sources of a layer
_OWN_AXIS = ("convolution", "transposed convolution", "max pool", "average pool", "batch norm")


@dataclass(frozen=True, eq=False)
class Network:
    """A model's layers in the order in which they ran.

    Attributes:
        framework: that of its layers.
        layers: all calls, those that change no number too.
        sources: of each layer and each of its inputs, the layers whose output that is, or `INPUT`. Layers
            that move numbers and zeros around an input are passed over; there may be several, or none.
        axis: of the channels of the model's input.
        model: the model.
        x: its input; None for a recording.
        output: of its last call; None if there is none.
    """

    framework: str
    layers: tuple[Layer, ...]
    sources: tuple[tuple[frozenset[int], ...], ...]
    axis: int
    model: Any
    x: np.ndarray | None
    output: np.ndarray | None

    @property
    def rows(self) -> list[int]:
        """The layers that compute something."""
        padded = {id(layer.inputs[0]) for layer in self.layers if layer.pads and layer.op is not None}
        return [
            number
            for number, layer in enumerate(self.layers)
            if layer.op_type != LAYOUT
            and not (layer.op is None and layer.pads and id(layer.inputs[0]) in padded)
        ]

    def rerun(self, call: int, result: np.ndarray) -> np.ndarray | None:
        """Return what the model returns if a call has another result; None if that cannot be had."""
        if framework_of(self.model) == "recording":
            return None
        recorded = _record(self.model, self.x, {call: result})
        return recorded[-1]["output"]  # None where the rest does not run on it


def walk(model: Any, x: Any) -> Network:
    """Run a model on an array, and return its layers.

    Args:
        model: a ``torch.nn.Module``, a Keras model, one of ``teachconv.keras``, an ONNX file or
            ``onnx.ModelProto``, or what `recorder` made: a file or a list.
        x: the input; a recording has its own.

    Raises:
        ValueError, TypeError: if it is no such model, or one in training mode; or as the framework.
        BackendUnavailable: if a package that reads the model is missing.
    """
    recorded, called = _record(model, x), Counter[str]()
    seen = _Seen({} if x is None else {_digest(np.asarray(x)): [INPUT]})
    for number, entry in enumerate(recorded):
        arrays, name = arrays_in(entry["args"]), entry["name"]
        if not arrays and not entry.get("error"):
            continue
        if not seen.layers:  # a framework may have cast the input
            seen.where |= {_digest(each): [INPUT] for each in arrays[:1]}
        called[name] += 1
        name += f" (call {called[name]})" * (called[name] > 1)
        layer = read(entry, lambda array: _digest(array) in seen.where)
        seen.add(replace(layer, name=name, call=number), entry["output"])
    if not seen.layers:
        raise ArgumentError(f"a model must have layers; {brief(model)} computes nothing that was seen")
    layers = tuple(seen.layers)
    own = next((layer.axis for layer in layers if layer.op_type in _OWN_AXIS), layers[0].axis)
    sources = tuple(seen.sources)
    return Network(layers[0].framework, layers, sources, own, model, x, recorded[-1]["output"])


def _digest(array: np.ndarray) -> bytes:
    """Return a number for the bytes of an array, whatever its shape."""
    return blake2b(np.ascontiguousarray(array).view(np.uint8).data, digest_size=16).digest()


class _Seen:
    """The layers so far, and of each array the layers that it is the output of."""

    def __init__(self, where: dict[bytes, list[int]]) -> None:
        self.where = where
        self.layers: list[Layer] = []
        self.sources: list[tuple[frozenset[int], ...]] = []
        self._axes: dict[int, int] = {}  # of the channels of each layer's output
        self._through: dict[int, frozenset[int]] = {}  # the sources of layers that change no number

    def add(self, layer: Layer, output: np.ndarray | None) -> None:
        """Add the next layer, with the axis of its channels and with what it takes up."""
        before = self._before(layer.inputs[0]) if layer.inputs else []
        if layer.op_type not in _OWN_AXIS and before and before[-1] in self._axes:
            layer = replace(layer, axis=self._axes[before[-1]])
        if layer.op_type == "concatenate":
            at, channels = (axis % layer.inputs[0].ndim for axis in (layer.arguments["axis"], layer.axis))
            layer = replace(layer, arguments={"axis": layer.axis if at == channels else at})
        if layer.op_type == "multiply":
            layer = self._with_gate(layer)
        if layer.word in _DENSE and layer.op is not None and before:
            layer = self._over_image(layer, before[0])
        source = self.layers[before[-1]] if before and before[-1] != INPUT else None
        if source is not None and _goes_into(source, layer):
            name = f"{source.name} + {layer.name}"
            layer = replace(layer, name=name, inputs=source.inputs, pads=source.pads, filled=source.filled)
        found = tuple(
            frozenset[int]().union(*(self._through.get(one, frozenset([one])) for one in self._before(x)))
            for x in layer.inputs
        )
        number = len(self.layers)
        if (layer.op_type == LAYOUT or layer.op_type == "pad" and layer.pads) and found:
            self._through[number] = found[0]
        self._axes[number] = _axis_behind(layer)
        self.layers.append(layer)
        self.sources.append(found)
        if output is not None:
            self.where.setdefault(_digest(output), []).append(number)

    def _before(self, array: np.ndarray) -> list[int]:
        """Return the layers whose output an array is, first to last."""
        return self.where.get(_digest(array), [])

    def _with_gate(self, layer: Layer) -> Layer:
        """Return x · sigmoid(x), which some exporters write so, as the silu that it is."""
        for x, gate in permutations(layer.inputs, 2):
            at = self._before(gate)[-1:]
            if at and at[0] != INPUT and self.layers[at[0]].op_type == "sigmoid":
                sigmoid = self.layers[at[0]]
                if np.array_equal(sigmoid.inputs[0], x):
                    self.layers[at[0]] = replace(sigmoid, op_type=LAYOUT)  # a part of what follows
                    self._through[at[0]] = self.sources[at[0]][0]
                    return replace(
                        layer, op_type="silu", inputs=(x,), op=smooth, arguments={"function": "silu (swish)"}
                    )
        return layer

    def _over_image(self, layer: Layer, first: int) -> Layer:
        """Return a matrix times flattened images as a convolution whose window is the image.

        In its filters the order shows in which rows, columns and channels were flattened.
        """
        image = self.layers[first].output if first != INPUT else None
        if image is None or image.ndim < 3 or layer.inputs[0].shape[1:3] != (1, 1):
            return layer
        axis, matrix = self._axes[first], layer.arguments["filters"]
        if image[0].size != matrix.shape[2] or image[0].size == image.shape[axis]:
            return layer
        filters = np.moveaxis(matrix.reshape(*image.shape[1:], -1), 0 if axis == 1 else -2, -2)
        sizes = [1] * image.ndim
        sizes[0], sizes[axis] = len(image), filters.shape[-1]
        output = None if layer.output is None else layer.output.reshape(sizes)
        return replace(layer, inputs=(image,), output=output, **by_law(filters, axis))


def _goes_into(pad: Layer, layer: Layer) -> bool:
    """Whether padding is one with the layer behind it: zeros, or for a maximum what never wins too."""
    if not pad.pads or pad.op is not None or layer.op_type not in ("convolution", "max pool", "average pool"):
        return False
    return pad.filled == 0 or layer.op_type == "max pool"


_DENSE = ("Dense", "linear", "Gemm", "MatMul")


def _axis_behind(layer: Layer) -> int:
    """Return the axis of the channels of a layer's output, which a transpose moves to the other end."""
    x, y = layer.inputs[0] if layer.inputs else None, layer.output
    if layer.op_type != LAYOUT or x is None or y is None or x.ndim < 3 or x.ndim != y.ndim:
        return layer.axis
    moved = np.moveaxis(x, layer.axis, -1 if layer.axis == 1 else 1)
    return -layer.axis if not np.array_equal(x, y) and np.array_equal(moved, y) else layer.axis


# ---------------------------------------------------------------------------------------------
# Models, and their inputs
# ---------------------------------------------------------------------------------------------


def framework_of(model: Any) -> str:
    """Return the framework of a model, "recording", or "" for what is no model.

    >>> framework_of("net.onnx"), framework_of("net.npz"), framework_of("net.txt")
    ('onnx', 'recording', '')
    """
    if isinstance(model, (str, Path)):
        return {".onnx": "onnx", ".npz": "recording"}.get(Path(model).suffix.lower(), "")
    if isinstance(model, list):
        return "recording"
    homes = [cls.__module__.partition(".")[0] for cls in type(model).__mro__]
    return next((home for home in ("teachconv", "keras", "torch", "onnx") if home in homes), "")


def _record(model: Any, x: Any, instead: recorder.Instead | None = None) -> recorder.Recording:
    """Return the recording of a model; raise for what is none, or is in training mode."""
    framework = framework_of(model)
    if framework not in ("recording", "onnx") and not (framework and callable(model)):
        raise ArgumentTypeError(
            "a model must be a torch.nn.Module, a Keras model, a teachconv.keras model, an .onnx file, or a "
            f"recording (.npz); got {brief(model)}"
        )
    if framework == "recording":
        try:
            return recorder.load(model) if isinstance(model, (str, Path)) else model
        except (KeyError, ValueError, EOFError, BadZipFile) as error:
            raise ArgumentError(
                f"a recording must be a file that recorder.save wrote; {brief(str(model))} cannot be read: "
                f"{plain(error)}"
            ) from error
    if x is None:
        raise ArgumentError("x must be an array: only a recording has an input of its own")
    if framework == "torch":
        training = [name for name, part in model.named_modules() if part.training and _differs(part)]
        if training:
            raise ArgumentError(
                f"a model must be in evaluation mode, call .eval(): {brief(training[0])} is in training mode"
            )
        return recorder.record_torch(model, x, instead)
    if framework != "onnx":
        return recorder.record_keras(model, x, instead)
    try:
        return recorder.record_onnx(model, x, instead)
    except ImportError as error:
        if error.name != "onnxruntime":
            raise BackendUnavailable(f"an ONNX model needs the package onnx: {plain(error)}") from error
        return recorder.record_onnx(model, x, instead, run_model)
    except Exception as error:  # onnx and onnxruntime do not say which types they raise
        raise ArgumentError(f"the ONNX model {brief(model)} cannot be run: {plain(error)}") from error


def _differs(module: Any) -> bool:
    """Whether a module of PyTorch computes something else in training mode."""
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
    own = -1 if framework_of(model) in ("keras", "teachconv") else 1
    networks: list[Network] = []
    for each in (x, moved) if own == axis else (moved, x):
        with suppress(ArgumentError):  # a file that does not take it
            networks.append(walk(model, each))
            if not networks[-1].layers[-1].error:
                break
    return max(networks, key=lambda network: len(network.layers)) if networks else walk(model, x)
