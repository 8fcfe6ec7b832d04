"""Turns what `recorder` wrote into layers whose calls teachconv can compute.

For each function, class or operator of a framework, a function returns the op, its arguments, and the axis of
the channels. A name that is not in the table gives a layer without an op.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import numpy as np

from .. import quantized
from ..core.kinds import layout_of
from ..dialects import keras, onnx, torch
from ..running import nn_ops
from ..support.errors import brief
from ..windows.calls import bound_call
from ..windows.resizing import resize
from . import definitions
from .formula_calls import FORMULAS, Entry, Facts, arrays_in, constants_of, formula, over_axes
from .words import (
    BEFORE_11,
    CASTS,
    DROPS,
    FIXED,
    LIMITS,
    MATMUL,
    MOVES,
    NORM_WORDS,
    PAIRS,
    POINTWISE,
    POSITIONAL,
    REDUCED,
    REFLECTED,
    SETTING,
    SMOOTH,
)

NORM = "batch norm"
LAYOUT = "layout"  # the kind of layers that change no number
STORED = ("int8", "uint8", "int16", "uint16")  # types of integers that stand for numbers


@dataclass(frozen=True, eq=False)
class Layer:
    """One call of a model.

    Attributes:
        name: as the model has it.
        framework: "torch", "keras", "teachconv" (for teachconv.keras), "onnx" or "tflite".
        word: the function, class or operator: "conv2d", "Conv2D", "Conv".
        op_type: what it is in every framework: "convolution", "max pool", "relu", ...
        inputs: the arrays that go in, without weights.
        output: the array that comes out, or None.
        op: what computes it here: an op, a function of `teachconv.dialects` or `teachconv.networks`; or None.
        arguments: those of the op behind its inputs, weights included.
        bias: what is added to the op's result, one number for each channel.
        axis: the axis of the channels, 1 or -1.
        said: the call's arguments in the framework's words.
        error: what it raised, or "".
        pads: (before, after) for each axis, put around the input first.
        filled: the number that they hold.
        scale: of batch normalisation that is folded in, what `definitions.folded_factors` returns.
        call: the number of the call in the recording, of several the last.
        makers: of each input, the layers whose output that is, or `walking.INPUT`, first to last; none if
            that was not seen.
        sources: the same, but layers that move numbers and zeros around an input are passed over.
        quantization: the scale and the zero point of an output of integers that stand for numbers, or None.
    """

    name: str
    framework: str
    word: str
    op_type: str
    inputs: tuple[np.ndarray, ...]
    output: np.ndarray | None
    op: Callable[..., Any] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    bias: np.ndarray | None = None
    axis: int = -1
    said: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""
    pads: tuple[tuple[int, int], ...] = ()
    filled: float = 0.0
    scale: tuple[np.ndarray, ...] | None = None
    call: int = 0
    makers: tuple[tuple[int, ...], ...] = ()
    sources: tuple[frozenset[int], ...] = ()
    quantization: tuple[float, int] | None = None

    @property
    def computes(self) -> bool:
        """Whether it changes numbers, and does not just move them or put some around them."""
        return self.op_type != LAYOUT and not (self.pads and self.op is None)

    @property
    def weights(self) -> np.ndarray | None:
        """The largest of its weights, or None."""
        return max(arrays_in([*self.arguments.values()]), key=np.size, default=None)

    def around(self, x: np.ndarray) -> np.ndarray:
        """Return an input with what the layer puts around it first."""
        return np.pad(x, self.pads, constant_values=self.filled) if self.pads else x

    def __str__(self) -> str:
        return f"{self.name!r} ({self.framework})"


def read(entry: Entry, known: Callable[[np.ndarray], bool]) -> Layer:
    """Return the layer of one call of a recording.

    Args:
        entry: the call.
        known: whether an array was computed from the model's input, and so is not a weight.
    """
    framework, word = entry["framework"], entry["word"]
    every = arrays_in(entry["args"])
    arrays = [*filter(known, every)] or every[:1]  # the first is the model's input
    said = {**dict(zip(POSITIONAL.get(word, ()), entry["args"], strict=False)), **entry["kwargs"]}
    for part, name in enumerate(PAIRS.get(word.lower(), ())):
        if entry.get("part") == part:
            word, entry = name, {**entry, "word": name, "args": entry["args"][:1]}
    last = "channels_first" if framework in ("torch", "onnx") else "channels_last"
    facts: Facts = {
        "op_type": word.lower(),
        "inputs": arrays[:1],
        "output": entry["output"],
        "axis": 1 if said.get("data_format", last) == "channels_first" else -1,
        "said": {name: value for name, value in said.items() if name and not isinstance(value, np.ndarray)},
    }
    reader = _READERS.get((framework, word), _READERS.get(("", word.lower())))
    if framework == "tflite" and arrays and arrays[0].dtype.kind != "f":  # integers that stand for numbers
        reader = _of_integers if reader is _tflite else reader if reader is _moved else None
        reader, word = reader or _OF_INTEGERS.get(word), f"{word} of {arrays[0].dtype}"
    number = None  # in place of an array: only a damaged recording has that
    # a form that is not read here is a layer without an op
    with suppress(AttributeError, TypeError, ValueError, KeyError, IndexError):
        if reader is not None and arrays:
            found = reader({**entry, "said": said, "axis": facts["axis"]}, arrays)
            given = found.get("inputs", [])
            number = next((each for each in given if isinstance(each, (bool, int, float))), None)
            is_read = isinstance(found.get("bias"), np.ndarray | None)
            facts |= found if is_read and all(isinstance(each, np.ndarray) for each in given) else {}
    if number is not None:
        raise TypeError(f"the input of {brief(entry['name'])} must be an array; got {number}")
    facts["inputs"] = tuple(facts["inputs"])
    error, own = entry.get("error", ""), quantization_of(entry)
    return Layer(entry["name"], framework, word, error=error, quantization=own, **facts)


def quantization_of(entry: Entry, place: int = -1) -> tuple[float, int] | None:
    """Return the scale and the zero point of an output of integers, or None if a call does not have them.

    Args:
        entry: the call.
        place: of an array among the arguments of a TFLite operator, in place of its output.
    """
    word, args = entry["word"], entry["args"]
    if entry["framework"] == "tflite":
        found = (entry["kwargs"].get("quantization") or [None])[place]
    elif word.startswith(("QuantizeLinear", "QLinear", "QGemm")):  # they end in those of the result
        found = args[{"QuantizeLinear": 1, "QLinearConcat": 0, "QLinearConv": 6}.get(word, len(args) - 2) :]
    else:
        found = None
    if not found or np.size(found[0]) != 1:  # an activation has one scale
        return None
    zero = found[1] if len(found) > 1 and found[1] is not None else 0
    return float(np.ravel(found[0])[0]), int(np.ravel(zero)[0])


# ---------------------------------------------------------------------------------------------
# Convolutions and pools
# ---------------------------------------------------------------------------------------------


def _dialect(op_type: str, function: Callable[..., Any], entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A call with the arguments of a function of `teachconv.dialects`; a layer may have more settings."""
    known = inspect.signature(function).parameters
    named = {name: value for name, value in entry["kwargs"].items() if name in known}
    bound = nn_ops.bind(function, tuple(entry["args"]), named).arguments
    given = {name: value for name, value in bound.items() if value is not None}
    x = given.pop(next(iter(given)))
    bias = given.pop("bias", given.pop("B", entry["kwargs"].get("bias")))
    return {"op_type": op_type, "inputs": [x], "op": function, "arguments": given, "bias": bias}


def by_law(filters: np.ndarray, axis: int, **words: Any) -> Facts:
    """A convolution as TensorFlow's, over one to three axes; the filters have TensorFlow's layout."""
    rank = filters.ndim - 2
    order = layout_of("input", rank)
    words |= {"filters": filters, "data_format": order if axis == -1 else "NC" + order[1:-1]}
    op = nn_ops.conv2d if rank == 2 else nn_ops.convolution
    return {"op_type": "convolution", "op": op, "arguments": words, "axis": axis}


def _keras_convolution(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, filters = entry["said"], entry["said"]["kernel"]
    padding = said["padding"].upper() if isinstance(said["padding"], str) else said["padding"]
    depthwise = "Depthwise" in entry["word"]
    if depthwise and filters.ndim != 4:
        filters = filters.reshape(*filters.shape[:-2], 1, -1)
    own = {"op": nn_ops.depthwise_conv2d} if depthwise and filters.ndim == 4 else {}
    law = by_law(
        filters, entry["axis"], dilations=said["dilation_rate"], strides=said["strides"], padding=padding
    )
    return law | {"bias": said.get("bias")} | own


def _separable(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A depthwise convolution and one of one tap, as the convolution that they are together."""
    said = entry["said"]
    depthwise, pointwise = said["depthwise_kernel"], said["pointwise_kernel"]
    if depthwise.shape[-1] != 1:
        return {}
    return _keras_convolution(
        {**entry, "word": "Conv2D", "said": {**said, "kernel": depthwise * pointwise}}, arrays
    )


def _dense(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A product with a matrix [inputs, outputs] as the convolution of one tap that it is."""
    said, (x, *more), output, args = entry["said"], arrays, entry["output"], entry["args"]
    matrix = said["weight"].T if "weight" in said else said["kernel"]
    turned = tuple(n for n, word in enumerate(("adjX", "adjY")) if said.get(word))
    if entry["word"].lower() in MATMUL and (more or x is not args[0] or matrix.ndim != 2 or turned):
        return formula("product", lambda *_: {"transposed": turned} if turned else {}, entry, arrays)
    if more:
        return {}
    matrix = matrix.T if said.get("transB") else matrix
    if matrix.ndim != 2 or said.get("transA") or {said.get("alpha", 1.0), said.get("beta", 1.0)} != {1.0}:
        return {}
    rows = len(x), 1, prod(x.shape[1:-1])
    output = output if output is None else output.reshape(*rows, output.shape[-1])
    facts = by_law(matrix[None, None], -1) | {"output": output, "bias": said.get("bias")}
    return facts | {"inputs": [x.reshape(*rows, x.shape[-1])]}


def _whole(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A pool whose window is the image, which keeps its axes: also a mean over all rows and columns."""
    x, word, said, axis = arrays[0], entry["word"].lower(), entry["said"], entry["axis"]
    reduced = _reduced(entry, arrays) if word in REDUCED else {}
    wanted = sorted(reduced["arguments"]["axes"]) if reduced else []
    axis = 1 if wanted[-1:] == [x.ndim - 1] else -1 if reduced else axis
    images = [*range(2, x.ndim)] if axis == 1 else [*range(1, x.ndim - 1)]
    if reduced and (wanted != images or not wanted or reduced["op_type"] not in ("mean", "max")):
        return reduced
    if {*np.ravel(said.get("output_size", 1))} != {1}:
        return _dialect("adaptive pool", getattr(torch, word), entry, arrays)
    order = [1 if number in images else size for number, size in enumerate(x.shape)]
    given: Facts = {
        "pool_size": tuple(x.shape[number] for number in images),
        "data_format": "channels_first" if axis == 1 else "channels_last",
    }
    kind, output = "max" if "max" in word else "average", entry["output"]
    facts = {"op_type": f"{kind} pool", "op": getattr(keras, f"{kind}_pool"), "arguments": given}
    return facts | {"axis": axis, "output": output if output is None else output.reshape(order)}


def _tflite(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A convolution or pool of TFLite, in Keras' or TensorFlow's words."""
    said, word, (x, *_), kernel = entry["said"], entry["word"], arrays, entry["said"].get("kernel")
    given: Facts = {
        "strides": (said["strideH"], said["strideW"]),
        "padding": said["padding"]
        if isinstance(said["padding"], list)
        else ("same", "valid")[said["padding"]],
    }
    if "POOL" in word:
        given["pool_size"] = said["filterHeight"], said["filterWidth"]
        kind = "max" if "MAX" in word else "average"
        return _dialect(f"{kind} pool", getattr(keras, f"{kind}_pool"), {**entry, "kwargs": given}, arrays)
    given["bias"] = said.get("bias")
    if word == "TRANSPOSE_CONV":
        words = {
            "filters": kernel.transpose(1, 2, 0, 3),
            "output_shape": said["output_shape"].tolist(),
            "strides": given["strides"],
            "padding": given["padding"].upper(),
        }
        facts = {"op_type": "transposed convolution", "op": nn_ops.conv2d_transpose, "arguments": words}
        return facts | {"bias": given["bias"], "inputs": [x]}
    deep = word == "DEPTHWISE_CONV_2D"
    kernel = kernel.reshape(*kernel.shape[1:3], x.shape[-1], -1) if deep else kernel.transpose(1, 2, 3, 0)
    given |= {"kernel": kernel, "dilation_rate": (said["dilationHFactor"], said["dilationWFactor"])}
    return _keras_convolution({**entry, "said": given, "word": "Depthwise" * deep}, arrays)


def _of_integers(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A convolution or pool of TFLite's integers, by the kernels that `recorder` runs."""
    said, word = entry["said"], entry["word"]
    facts = _dense(entry, arrays) if word == "FULLY_CONNECTED" else _tflite(entry, arrays)
    given, stored, activation = facts["arguments"], said["quantization"], said["activation"].lower()
    numbers: Facts = {"scheme": "tflite_builtin", "activation": None if activation == "none" else activation}
    for name, (scales, zeros) in (("x", stored[2 * (word == "TRANSPOSE_CONV")]), ("y", stored[-1])):
        numbers |= {f"{name}_scale": scales[0], f"{name}_zero_point": zeros[0]}
    if "POOL" in word:
        given = {
            "ksize": given["pool_size"],
            "strides": given["strides"],
            "padding": given["padding"].upper(),
        }
        if "AVERAGE" in word:
            return facts | {"op": quantized.avg_pool, "arguments": given | numbers}
        return facts | {"op": quantized.max_pool, "arguments": given} if activation == "none" else {}
    bias, scales = facts.pop("bias"), np.squeeze(np.float32(stored[1][0]))
    if word == "FULLY_CONNECTED" and arrays[0].dtype == np.int16:  # which is rounded once, whatever its bias
        bias = np.zeros(len(entry["args"][1]), np.int32) if bias is None else bias.astype(np.int32)
        numbers["scheme"] = "tflite_single"
    given = {"w": given.pop("filters"), "bias": bias, "w_scale": scales, **given, **numbers}
    return facts | {"op": getattr(quantized, facts["op"].__name__), "arguments": given}


def _qlinear_conv(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """ONNX's convolution of integers."""
    x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *bias = entry["args"]
    axes = nn_ops.call_of(onnx.conv, (x.astype("float32"), w.astype("float32")), dict(entry["kwargs"]))[
        0
    ].geometry.axes
    given = {
        "w": w.transpose(*range(2, w.ndim), 1, 0),
        "bias": bias[0] if bias else None,
        **{"x_scale": float(np.ravel(x_scale)[0]), "x_zero_point": int(np.ravel(x_zero)[0])},
        **{"y_scale": float(np.ravel(y_scale)[0]), "y_zero_point": int(np.ravel(y_zero)[0])},
        **{"w_scale": np.squeeze(w_scale), "w_zero_point": np.squeeze(w_zero), "scheme": "onnx"},
        "strides": [axis.stride for axis in axes],
        "dilations": [axis.dilation for axis in axes],
        "padding": [(0, 0), (0, 0), *((axis.pad_before, axis.pad_after) for axis in axes)],
        "data_format": "NC" + layout_of("input", w.ndim - 2)[1:-1],
    }
    op = getattr(quantized, f"conv{w.ndim - 2}d")
    return {"op_type": "convolution", "inputs": [x], "op": op, "arguments": given}


def _quantize(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """Numbers that are rounded to integers, or integers that are read as numbers."""
    said, is_back = entry["said"], "dequantize" in entry["word"].lower()
    stored = said["quantization"][0 if is_back else -1] if "quantization" in said else entry["args"][1:]
    scale, zero = np.float32(stored[0]), np.int64(stored[1] if len(stored) > 1 else 0)
    if said.get("block_size"):
        return {}
    given: Facts = {"scale": scale, "zero_point": zero}
    if scale.size > 1:
        shape = [-1 if n == said.get("axis", 1) % arrays[0].ndim else 1 for n in range(arrays[0].ndim)]
        given = {name: np.broadcast_to(each, scale.shape).reshape(shape) for name, each in given.items()}
    else:
        given = {name: each.item() for name, each in given.items()}
    if is_back:
        return {"op_type": "dequantize", "op": definitions.dequantized, "arguments": given}
    given["dtype"] = entry["output"].dtype.name
    return {"op_type": "quantize", "op": definitions.quantized, "arguments": given}


# ---------------------------------------------------------------------------------------------
# What is between
# ---------------------------------------------------------------------------------------------


def _activation(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A relu with its limits or its slope, or one for each channel, in all frameworks' words."""
    name, said = entry["word"].lower().replace("_", ""), entry["said"]
    usual = (0.01 if entry["framework"] in ("torch", "onnx") else 0.2) if "leaky" in name else 0
    slope = said.get("negative_slope", said.get("alpha", usual))
    if entry["framework"] == "torch" and np.size(slope) > 1:
        slope = slope.reshape(-1, *[1] * (arrays[0].ndim - 2))
    words = ("{}_value", "{}_val", "{}", "x_{}")  # the last is keras.ops.clip's
    places = [(side, word.format(end)) for side, end in (("low", "min"), ("high", "max")) for word in words]
    limits = {side: np.ravel(said[word])[0].item() for side, word in places if said.get(word) is not None}
    if said.get("threshold"):
        return {"op_type": "relu"}
    if np.any(slope) and "high" not in limits:
        return {"op_type": "relu", "op": definitions.leaky_relu, "arguments": {"slope": slope}}
    low, high = LIMITS.get(name, (0.0, np.inf))
    op = None if np.any(slope) else definitions.clip
    return {"op_type": "relu", "op": op, "arguments": {"low": low, "high": high} | limits}


def _resized(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A resize, by the function of its framework's dialect; one that is not defined there raises."""
    said, args, words, framework = entry["said"], entry["args"], dict(entry["kwargs"]), entry["framework"]
    op = _RESIZES.get(framework, keras.resize)
    if framework == "onnx" and len(args) == 2:  # Upsample, and Resize before opset 11
        args, words = [args[0], None, args[1]], BEFORE_11 | words
    elif framework == "tflite":
        shift = "half_pixel" if said.get("halfPixelCenters") else "asymmetric"
        words = {"method": "bilinear" if entry["word"] == "RESIZE_BILINEAR" else "nearest"}
        words["coordinates"] = "align_corners" if said.get("alignCorners") else shift
    if framework not in ("torch", "onnx"):
        shape = entry["output"].shape
        args, words["size"] = arrays[:1], shape[2:] if entry["axis"] == 1 else shape[1:-1]
    facts = _dialect("resize", op, {**entry, "args": args, "kwargs": words}, arrays)
    bound_call(op, tuple(facts["inputs"]), facts["arguments"])
    return facts


_RESIZES: dict[str, Callable[..., Any]] = {"torch": torch.interpolate, "onnx": onnx.resize, "tflite": resize}


def _smooth(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A softmax or an activation, whose setting each framework calls something else."""
    word, said = entry["word"].lower(), entry["said"]
    word += "_tanh" if said.get("approximate", "none") in (True, "tanh") else ""
    function, axis = SMOOTH[word], said.get("dim", said.get("axis", -1))
    if any(abs(said.get(name, usual) - usual) > 1e-6 for name, usual in FIXED.get(function, {}).items()):
        return {}
    given: Facts = {"function": function}
    if function in definitions.SOFTMAX and axis not in (-1, arrays[0].ndim - 1):
        given["axis"] = axis
    usual = definitions.USUAL.get(function, 0.0)
    own = 0.2 if (entry["framework"], word) == ("onnx", "hardsigmoid") else usual
    setting = next((said[name] for name in SETTING.get(function, ("alpha",)) if name in said), own)
    if usual and abs(setting - usual) > 1e-6:
        given["alpha"] = setting
    return {"op_type": function.partition(" ")[0], "op": definitions.smooth, "arguments": given}


def _gated(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """One half of the channels times the sigmoid of the other."""
    halves = np.split(arrays[0], 2, entry["said"].get("dim", entry["said"].get("axis", -1)))
    return {"op_type": "glu", "inputs": halves, "op": definitions.gated}


def _ordered(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """The largest or smallest numbers along an axis; the places where they were are another result."""
    said = entry["said"]
    axis = said.get("dim", said.get("axis", -1))
    given = {"axis": axis, "count": entry["output"].shape[axis], "largest": bool(said.get("largest", True))}
    return {"op_type": "topk", "op": definitions.ordered, "arguments": given} if said.get("sorted", 1) else {}


def _batch_norm(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, names = entry["said"], ("moving_mean", "moving_variance", "weight", "bias")
    if said.get("training"):
        return {}
    given = {own: said.get(own, said.get(name)) for own, name in zip(NORM_WORDS, names, strict=True)}
    axis = int(np.ravel(said.get("axis", entry["axis"]))[0])
    return _normalised(arrays[0], given, said.get("eps", said.get("epsilon", 1e-5)), axis)


def _instance_norm(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """Instance, layer or group normalisation."""
    said, x, word = entry["said"], arrays[0], entry["word"].lower().replace("_", "")
    own = {name: said.get(name, said.get(other)) for name, other in (("gamma", "weight"), ("beta", "bias"))}
    axis = said.get("axis", 1) % x.ndim if word.startswith("group") else 1
    shape, axes, groups = [-1 if n == axis else 1 for n in range(x.ndim)], tuple(range(2, x.ndim)), 0
    if word.startswith("layernorm"):
        first = said.get("axis", -len(said.get("normalized_shape", "1")))  # Keras names every axis
        every = range(first % x.ndim, x.ndim) if entry["framework"] in ("torch", "onnx") else np.ravel(first)
        axes = tuple(int(axis) % x.ndim for axis in every)
        shape = [size if axis in axes else 1 for axis, size in enumerate(x.shape)]
    elif word.startswith("groupnorm"):
        groups, axes = said.get("num_groups", said.get("groups")), (2,) if axis == 1 else (1, 3)
        if groups in (-1, x.shape[axis]):  # of one channel each
            word, groups, axes = "instancenorm", 0, tuple(n for n in range(1, x.ndim) if n != axis)
        own = {n: None if w is None else np.repeat(w, x.shape[axis] // w.size) for n, w in own.items()}
    elif said.get("running_mean") is not None:
        return {}
    weights = {name: None if w is None else w.reshape(shape) for name, w in own.items()}
    given = weights | {"groups": groups, "eps": said.get("eps", said.get("epsilon", 1e-5)), "axes": axes}
    return {
        "op_type": word.removesuffix("alization").replace("norm", " norm"),
        "op": definitions.formula,
        "arguments": {"function": "normalised", **given},
    }


def _scaled(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A layer of Keras before the first one: a factor and an offset, or means and variances."""
    usual, x = {"mean": 0.0, "variance": 1.0, "scale": 1.0, "offset": 0.0}, arrays[0]
    values = (np.ravel(np.asarray(entry["said"].get(name, usual[name]), np.float64)) for name in usual)
    spread = (np.broadcast_to(value, x.shape[-1:]) for value in values)
    return _normalised(x, dict(zip(NORM_WORDS, spread, strict=True)), 0.0, -1)


def _normalised(x: Any, given: dict[str, Any], eps: float, axis: int) -> Facts:
    axis = -1 if axis % x.ndim == x.ndim - 1 else range(x.ndim)[axis]
    given |= {"eps": eps, "axis": axis}
    return {"op_type": NORM, "op": definitions.batch_norm, "arguments": given, "axis": axis, "inputs": [x]}


def _pointwise(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A function of arrays, or of one and a constant; with one for each channel it is batch normalisation.

    A largest or least number of one array is over axes.
    """
    word, args = entry["word"].lower(), entry["args"]
    function = POINTWISE[word]
    if word in REDUCED and entry["framework"] != "onnx" and len(arrays_in(args)) == 1:
        return _whole(entry, arrays)
    plain = [each for each in args if isinstance(each, (np.ndarray, int, float))]
    plain += [-0.5] * (function == "power" and word == "rsqrt")
    said = entry["kwargs"]
    if said.get("alpha", 1) != 1 or said.get("rounding_mode") is not None or said.get("decimals"):
        return {}
    given = constants_of(plain[::-1] if word in REFLECTED else plain, arrays)
    weight = next(iter(given.get("constants", {}).values()), None)
    norm = _per_channel(arrays[0], weight, function) if len(plain) == 2 else {}
    facts = {"op_type": function, "inputs": arrays, "op": definitions.pointwise}
    return norm or facts | {"arguments": {"function": function, **given}}


def _per_channel(x: np.ndarray, weight: Any, function: str) -> Facts:
    """A product or sum with one weight for each channel, as the batch normalisation that it is."""
    if not isinstance(weight, np.ndarray):
        return {}
    axis = 1 if x.ndim > 2 and x.shape[1] == weight.size and weight.shape[-1:] == (1,) else -1
    whole = tuple(size if n == axis % x.ndim else 1 for n, size in enumerate(x.shape))
    if function not in ("add", "multiply") or weight.size != x.shape[axis]:
        return {}
    if weight.shape not in ((weight.size,), whole[-weight.ndim :]):
        return {}
    zeros, flat = np.zeros(weight.size), weight.ravel()
    factor, offset = (flat, zeros) if function == "multiply" else (None, flat)
    return _normalised(x, dict(zip(NORM_WORDS, (zeros, zeros + 1, factor, offset), strict=True)), 0.0, axis)


def _reduced(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A sum, mean, largest or least number over some axes, or a logarithm of a sum of exponentials."""
    x, function = arrays[0], REDUCED[entry["word"].lower()]
    usual = 0 if entry["word"] in ("ArgMax", "ArgMin") else None  # ONNX's
    given = {"function": function, **over_axes(entry, x, usual)}
    return {"op_type": function, "inputs": [x], "op": definitions.reduced, "arguments": given}


def _thresholded(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said = entry["said"]
    given = {"threshold": said.get("threshold", said.get("alpha", 1.0)), "value": said.get("value", 0.0)}
    return {"op_type": "threshold", "op": definitions.thresholded, "arguments": given}


def _concatenate(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said = {"dim": 0 if entry["framework"] == "torch" else -1} | entry["said"]
    given = {"axis": said.get("axis", said["dim"]), **constants_of(arrays_in(entry["args"]), arrays)}
    facts = {"op": definitions.concatenate, "arguments": given}
    return {"op_type": "concatenate", "inputs": arrays, **facts}


def _pad(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """Numbers around the input, as (before, after) of each axis."""
    (x, *rest), said = entry["args"], dict(entry["kwargs"])
    op: Any = torch.pad
    if entry["framework"] == "onnx":  # the number is an array; before opset 11 it was an attribute
        rest[1:2] = [None if value is None else np.ravel(value)[0].item() for value in rest[1:2]]
        op, said = onnx.pad, {{"value": "constant_value"}.get(name, name): v for name, v in said.items()}
    elif entry["framework"] == "tflite":
        op, rest = keras.pad, [each.tolist() for each in rest]
    elif entry["framework"] != "torch":
        inner, first = np.reshape(said.pop("padding", ()), (-1, 2)), entry["axis"] == 1
        around = [(0, 0)] * (1 + first), [(0, 0)] * (not first)
        op, rest = keras.pad, [said.pop("pad_width", [*around[0], *inner.tolist(), *around[1]])]
        said = {name: said[name] for name in ("mode", "constant_values") if name in said}
    call = bound_call(op, (x, *rest), said)[0]
    facts: Facts = {"op_type": "pad"}
    if np.min(call.sides) < 0 if call.mode == "constant" else np.min(call.sides) >= 0:
        words = {"sides": call.sides, "mode": call.mode, "value": float(call.value)}
        return facts | {"op": definitions.pad, "arguments": words}
    return facts | ({"pads": call.sides, "filled": float(call.value)} if call.mode == "constant" else {})


def _moved(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """What a function of such a name returns if it only moves numbers: a class of that name may do more.

    In a resize to the nearest, padding by reflection or a slice, every number is one of the input, or 0.
    """
    every, y = [np.ravel(each) for each in arrays_in(entry["args"])], entry["output"]
    if np.isin(y, np.concatenate([*every, np.zeros(1, y.dtype)])).all() and y.any() | (not arrays[0].any()):
        return {"op_type": LAYOUT, "inputs": arrays}
    return {}


def _cast(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """The same numbers in another precision."""
    (x, *_), y = arrays, entry["output"]
    if np.array_equal(np.ravel(x).astype(y.dtype), np.ravel(y)):
        return {"op_type": "cast", "op": definitions.clip, "arguments": {"low": -np.inf}}
    return {}


_Reader = Callable[[Entry, list[np.ndarray]], Facts]
_BY_WORD: dict[tuple[str, ...], _Reader] = {
    MOVES: _moved,
    CASTS: _cast,
    DROPS: lambda entry, arrays: {"op_type": LAYOUT} if np.array_equal(arrays[0], entry["output"]) else {},
    ("relu", "relu6", "leaky_relu", "leakyrelu", "prelu", "clamp", "clip"): _activation,
    ("hardtanh", "hard_tanh", "relu_n1_to_1", "relu_0_to_1"): _activation,
    tuple(SMOOTH): _smooth,
    tuple(POINTWISE): _pointwise,
    tuple(REDUCED): _reduced,
    ("cat", "concat", "concatenate", "concatenation"): _concatenate,
    ("batch_norm", "batchnormalization"): _batch_norm,
    ("instance_norm", "instancenormalization", "layer_norm", "layernormalization"): _instance_norm,
    ("group_norm", "groupnormalization"): _instance_norm,
    ("glu",): _gated,
    ("topk", "top_k", "topk_v2"): _ordered,
    ("rescaling", "normalization"): _scaled,
    ("interpolate", "resize", "upsample", "upsampling2d", "resizing"): _resized,
    ("resize_bilinear", "resize_nearest_neighbor"): _resized,
    ("separableconv1d", "separableconv2d"): _separable,
    ("fold",): partial(_dialect, "fold", torch.fold),
    ("pad", "zeropadding1d", "zeropadding2d", "zeropadding3d"): _pad,
    ("linear", "dense", "gemm", "fully_connected", *MATMUL): _dense,
    ("threshold", "thresholdedrelu"): _thresholded,
    **FORMULAS,
    ("max", "min"): _pointwise,
    ("mean", "reducemean", "amax", "reducemax", "reduce_max", "globalaveragepool", "globalmaxpool"): _whole,
    ("quantize", "quantizelinear", "dequantizelinear"): _quantize,
    ("qlinearconv",): _qlinear_conv,
    ("conv_2d", "depthwise_conv_2d", "transpose_conv", "max_pool_2d", "average_pool_2d"): _tflite,
}
for _rank in "123":
    _BY_WORD |= {
        tuple(f"adaptive_{kind}_pool{_rank}d" for kind in ("avg", "max")): _whole,
        tuple(f"global{kind}pooling{_rank}d" for kind in ("average", "max")): _whole,
        (f"maxpooling{_rank}d",): partial(_dialect, "max pool", keras.max_pool),
        (f"averagepooling{_rank}d",): partial(_dialect, "average pool", keras.average_pool),
        (f"adaptiveaveragepooling{_rank}d",): partial(_dialect, "adaptive pool", keras.adaptive_average_pool),
        (f"adaptivemaxpooling{_rank}d",): partial(_dialect, "adaptive pool", keras.adaptive_max_pool),
        (f"conv{_rank}d", f"depthwiseconv{_rank}d"): _keras_convolution,
        (f"conv{_rank}dtranspose",): partial(_dialect, "transposed convolution", keras.conv_transpose),
    }
_OF_TORCH = {
    **{"conv": "convolution", "conv_transpose": "transposed convolution"},
    **{"max_pool": "max pool", "avg_pool": "average pool"},
}
_READERS: dict[tuple[str, str], _Reader] = {
    **{("", word): reader for words, reader in _BY_WORD.items() for word in words},
    **{
        ("torch", f"{word}{rank}d"): partial(_dialect, op_type, getattr(torch, f"{word}{rank}d"))
        for word, op_type in _OF_TORCH.items()
        for rank in "123"
    },
    ("onnx", "Conv"): partial(_dialect, "convolution", onnx.conv),
    ("onnx", "ConvTranspose"): partial(_dialect, "transposed convolution", onnx.conv_transpose),
    ("onnx", "MaxPool"): partial(_dialect, "max pool", onnx.max_pool),
    ("onnx", "AveragePool"): partial(_dialect, "average pool", onnx.average_pool),
    **{(framework, "linear"): _moved for framework in ("keras", "teachconv")},  # the activation
    ("keras", "MaxPool"): partial(_dialect, "max pool", keras.max_pool),
    ("keras", "AveragePool"): partial(_dialect, "average pool", keras.average_pool),
    ("onnx", "Mean"): partial(formula, "average", lambda *_: {}),  # of several arrays
    ("onnx", "Sum"): lambda entry, arrays: _pointwise({**entry, "word": "add"}, arrays),
}
_OF_INTEGERS: dict[str, _Reader] = {"FULLY_CONNECTED": _of_integers, "DEQUANTIZE": _quantize}
