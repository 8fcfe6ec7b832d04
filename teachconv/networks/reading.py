"""Turns what `recorder` wrote into layers whose calls teachconv can compute.

For each word of a framework, a function says which op it is, with which arguments, and which axis holds the
channels. A word that is not in the table gives a layer without an op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import numpy as np

from .. import nn_ops
from ..dialects import keras, onnx, torch
from ..kinds import layout_of
from ..windows.calls import bound_call
from . import definitions

__all__ = ["LAYOUT", "NORM", "Layer", "arrays_in", "by_law", "read"]

NORM = "batch norm"
LAYOUT = "layout"  # the kind of layers that change no number
Entry = Mapping[str, Any]
Facts = dict[str, Any]  # the attributes of a layer that its word determines


@dataclass(frozen=True, eq=False)
class Layer:
    """One call of a model.

    Attributes:
        name: as the model has it.
        framework: "torch", "keras", "teachconv" (for teachconv.keras) or "onnx".
        word: the function, class or operator: "conv2d", "Conv2D", "Conv".
        op_type: what it is in every framework: "convolution", "max pool", "relu", ...
        inputs: the arrays that go in, without weights.
        output: the array that comes out; None if there is none.
        op: what computes it here: an op, a function of `teachconv.dialects` or `teachconv.networks`; or None.
        arguments: those of the op behind its inputs, weights included.
        bias: what is added to the op's result, one number for each channel.
        axis: the axis of the channels, 1 or -1.
        said: the call's arguments in the framework's words.
        error: what it raised, or "".
        pads: (before, after) for each axis, put around the input first.
        filled: the number that they hold.
        scale: of batch normalisation that is folded in, what `definitions.folded_factors` returns.
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

    @property
    def weights(self) -> np.ndarray | None:
        """The largest of its weights, or None."""
        arrays = [value for value in self.arguments.values() if isinstance(value, np.ndarray)]
        return max(arrays, key=np.size, default=None)

    @property
    def padded(self) -> np.ndarray:
        """The first input with what is put around it."""
        return self.around(self.inputs[0])

    def around(self, x: np.ndarray) -> np.ndarray:
        """Return an input with what the layer puts around it first."""
        return np.pad(x, self.pads, constant_values=self.filled) if self.pads else x

    def __str__(self) -> str:
        return f"{self.name!r} ({self.framework})"


def read(entry: Entry, known: Callable[[np.ndarray], bool]) -> Layer:
    """Return the layer of one call of a recording.

    Args:
        entry: the call.
        known: whether an array was computed from the model's input, and so is no weight.
    """
    framework, word, given = entry["framework"], entry["word"], entry["kwargs"]
    family = "keras" if framework == "teachconv" else framework
    every = arrays_in(entry["args"])
    arrays = [*filter(known, every)] or every[:1]  # of what was not seen, the first is no weight
    said = {**dict(zip(_POSITIONAL.get(word, ()), entry["args"], strict=False)), **given}
    facts: Facts = {
        "op_type": word.lower(),
        "inputs": arrays[:1],
        "output": entry["output"],
        "axis": -1 if given.get("data_format", family) in ("channels_last", "keras") else 1,
        "said": {name: value for name, value in said.items() if not isinstance(value, np.ndarray)},
    }
    reader = _READERS.get((family, word), _READERS.get(("", word.lower())))
    if reader is not None and arrays:
        with suppress(
            AttributeError, TypeError, ValueError, KeyError, IndexError
        ):  # a form that is not read here
            facts |= reader(entry, arrays)
    facts["inputs"] = tuple(facts["inputs"])
    return Layer(entry["name"], framework, word, error=entry.get("error", ""), **facts)


def arrays_in(value: Any) -> list[np.ndarray]:
    """Return the arrays of nested lists."""
    if isinstance(value, list):
        return [array for item in value for array in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


# ---------------------------------------------------------------------------------------------
# Convolutions and pools
# ---------------------------------------------------------------------------------------------


def _dialect(op_type: str, function: Callable[..., Any], entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A call with the arguments of a function of `teachconv.dialects`."""
    named = {name: value for name, value in entry["kwargs"].items() if name != "storage_order"}
    bound = nn_ops.bind(function, tuple(entry["args"]), named).arguments
    given = {name: value for name, value in bound.items() if value is not None}
    x = given.pop(next(iter(given)))
    bias = given.pop("bias", given.pop("B", None))
    facts = {"op_type": op_type, "inputs": [x], "op": function, "arguments": given, "bias": bias}
    return facts if "pool" in op_type or x.ndim == 4 else facts | _over_other_axes(op_type, x, given)


def _over_other_axes(op_type: str, x: np.ndarray, given: dict[str, Any]) -> Facts:
    """A convolution over one or three axes, which the dialects do not have, as TensorFlow's."""
    rank, padding, pads = x.ndim - 2, given.get("padding", 0), given.get("pads")
    if op_type != "convolution" or given.get("auto_pad", "NOTSET") != "NOTSET" or rank < 1:
        return {"op": None}
    if pads is not None:
        padding = [*zip(pads[:rank], pads[rank:], strict=True)]
    elif not isinstance(padding, str):
        padding = [(n, n) for n in np.broadcast_to(padding, rank).tolist()]
    words = {"padding": padding.upper() if isinstance(padding, str) else padding}
    words |= {"strides": given.get("stride", given.get("strides", 1))}
    words |= {"dilations": given.get("dilation", given.get("dilations", 1))}
    return by_law(np.moveaxis(given.get("weight", given.get("W")), (1, 0), (-2, -1)), rank, 1, words)  # type: ignore[arg-type]


def by_law(filters: np.ndarray, rank: int, axis: int, words: dict[str, Any]) -> Facts:
    """A convolution as TensorFlow's, over any number of axes; the filters have TensorFlow's layout."""
    order = layout_of("input", rank)
    words = {"filters": filters, "data_format": order if axis == -1 else "NC" + order[1:-1], **words}
    op = nn_ops.conv2d if rank == 2 else nn_ops.convolution
    return {"op_type": "convolution", "op": op, "arguments": words, "axis": axis}


def _keras_convolution(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, rank = entry["kwargs"], arrays[0].ndim - 2
    if "Transpose" in entry["word"]:
        names = ("kernel", "strides", "padding", "data_format", "dilation_rate", "output_padding")
        given = {name: said[name] for name in names if name in said}
        op = keras.conv_transpose if rank == 2 else None
        return {"op_type": "transposed convolution", "op": op, "arguments": given, "bias": said.get("bias")}
    words = {
        "strides": said["strides"],
        "padding": said["padding"].upper(),
        "dilations": said["dilation_rate"],
    }
    axis = 1 if said.get("data_format") == "channels_first" else -1
    filters, depthwise = said["kernel"], "Depthwise" in entry["word"]
    if depthwise and rank != 2:
        filters = filters.reshape(*filters.shape[:-2], 1, -1)
    facts = by_law(filters, rank, axis, words) | {"bias": said.get("bias")}
    return facts | ({"op": nn_ops.depthwise_conv2d} if depthwise and rank == 2 else {})


def _dense(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A product with a matrix [inputs, outputs] as the convolution of one tap that it is."""
    said, (x,) = entry["kwargs"], arrays
    matrix, bias = [*entry["args"][1:], *map(said.get, ("kernel", "weight", "bias")), None][:2]
    if entry["word"] == "Dense":
        matrix, bias = said["kernel"], said.get("bias")
    elif entry["word"] == "linear" or said.get("transB"):
        matrix = matrix.T
    if matrix.ndim != 2 or said.get("transA") or {said.get("alpha", 1.0), said.get("beta", 1.0)} != {1.0}:
        return {}
    rows, output = (len(x), 1, prod(x.shape[1:-1])), entry["output"]
    output = output if output is None else output.reshape(*rows, output.shape[-1])
    arrays = [x.reshape(*rows, x.shape[-1])]
    return by_law(matrix[None, None], 2, -1, {}) | {"inputs": arrays, "output": output, "bias": bias}


def _keras_pool(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, is_max = entry["kwargs"], "Max" in entry["word"]
    given = {name: said[name] for name in ("pool_size", "strides", "padding", "data_format") if name in said}
    op = keras.max_pool if is_max else keras.average_pool
    return {"op_type": "max pool" if is_max else "average pool", "op": op, "arguments": given}


def _whole(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A pool whose window is the image, which keeps its axes: also a mean over all rows and columns."""
    x, word, said = arrays[0], entry["word"].lower(), entry["kwargs"]
    first = said.get("data_format") != "channels_last" and entry["framework"] in ("torch", "onnx")
    first |= said.get("data_format") == "channels_first"
    rest = [said[name] for name in ("dim", "axes", "axis", "output_size") if name in said] + entry["args"][1:]
    numbers = [int(n) for n in np.ravel(rest[0])] if rest else []
    if "mean" in word:
        first = sorted(n % x.ndim for n in numbers) == [*range(2, x.ndim)]
        if not first and sorted(n % x.ndim for n in numbers) != [*range(1, x.ndim - 1)]:
            return {}
    elif "adaptive" in word and {*numbers} != {1}:
        return {}
    sizes, axis = (x.shape[2:], 1) if first else (x.shape[1:-1], -1)
    order = (len(x), x.shape[1], *(1,) * len(sizes)) if first else (len(x), *(1,) * len(sizes), x.shape[-1])
    facts = _keras_pool({"word": "Max" if "max" in word else "Average", "kwargs": {}}, arrays)
    given = {"pool_size": sizes, "data_format": "channels_first" if first else "channels_last"}
    output = entry["output"]
    return facts | {
        "arguments": given,
        "axis": axis,
        "output": None if output is None else output.reshape(order),
    }


# ---------------------------------------------------------------------------------------------
# What is between
# ---------------------------------------------------------------------------------------------


def _activation(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A relu with its limits or its slope, in all frameworks' words."""
    word, said, rest = entry["word"].lower(), entry["kwargs"], [*entry["args"][1:], None, None]
    slope = said.get("negative_slope", said.get("alpha"))
    if word in ("leaky_relu", "leakyrelu") and slope is None:
        slope = rest[0] or (0.2 if entry["framework"] == "keras" else 0.01)
    if slope and said.get("max_value") is None and not said.get("threshold"):
        return {"op_type": "relu", "op": definitions.leaky_relu, "arguments": {"slope": slope}}
    limits = {"low": 0.0, "high": said.get("max_value", 6.0 if word == "relu6" else None)}
    if word in ("clip", "clamp", "hardtanh"):
        limits = {
            "low": said.get("min_val", said.get("min", rest[0])),
            "high": said.get("max_val", said.get("max", rest[1])),
        }
    limits = {name: float(value) for name, value in limits.items() if value is not None}
    op = definitions.clip if not slope and not said.get("threshold") else None
    return {"op_type": "relu", "op": op, "arguments": {"low": -np.inf} | limits}


def _smooth(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    word, said = _SMOOTH[entry["word"].lower()], entry["kwargs"]
    axis = said.get("dim", said.get("axis", [*entry["args"][1:], -1][0]))
    if word == "softmax" and (axis not in (-1, arrays[0].ndim - 1)):
        return {"op_type": word}
    word += "_tanh" if word == "gelu" and said.get("approximate", "none") in (True, "tanh") else ""
    return {"op_type": word.partition("_")[0], "op": definitions.smooth, "arguments": {"function": word}}


def _batch_norm(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, args, framework = entry["kwargs"], entry["args"], entry["framework"]
    names = ("moving_mean", "moving_variance", "gamma", "beta")
    given = [*map(said.get, names)]
    if framework == "onnx":
        given = [args[3], args[4], args[1], args[2]]
    elif framework == "torch":
        given = [*args[1:3], said.get("weight"), said.get("bias")]
    if said.get("training"):
        return {}
    axis = int(np.ravel(said.get("axis", -1))[0]) if framework not in ("onnx", "torch") else 1
    return _normalised(args[0], given, said.get("eps", said.get("epsilon", 1e-5)), axis)


def _normalised(x: Any, weights: Iterable[Any], eps: float, axis: int) -> Facts:
    axis = -1 if axis % x.ndim == x.ndim - 1 else axis
    names = ("mean", "variance", "gamma", "beta")
    given = dict(zip(names, weights, strict=True)) | {"eps": eps, "axis": axis}
    facts = {"op": definitions.batch_norm, "arguments": given, "axis": axis}
    return {"op_type": NORM, "inputs": [x], **facts}


def _binary(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A sum or product of arrays; with one weight for each channel, batch normalisation without the rest."""
    name = "multiply" if entry["word"].lower().startswith("mul") else "add"
    constants = [array for array in arrays_in(entry["args"]) if not any(array is one for one in arrays)]
    if entry["kwargs"].get("alpha", 1) != 1:
        return {}
    if not constants and len(arrays) > 1:
        return {"op_type": name, "inputs": arrays, "op": getattr(definitions, name)}
    (x,), (weight,) = arrays, constants
    axis = 1 if x.ndim > 2 and x.shape[1] == weight.size and weight.shape[-1] == 1 else -1
    if weight.size != x.shape[axis]:
        return {}
    zeros, flat = np.zeros(weight.size), weight.ravel()
    return _normalised(
        x, (zeros, zeros + 1, *((flat, zeros) if name == "multiply" else (None, flat))), 0.0, axis
    )


def _concatenate(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, numbers = entry["kwargs"], [value for value in entry["args"][1:] if isinstance(value, int)]
    default = 0 if entry["framework"] == "torch" else -1
    axis = said.get("dim", said.get("axis", [*numbers, default][0]))
    return {
        "op_type": "concatenate",
        "inputs": arrays,
        "op": definitions.concatenate,
        "arguments": {"axis": axis},
    }


def _pad(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """Numbers around the input, as (before, after) of each axis."""
    (x, *rest), said = entry["args"], dict(entry["kwargs"])
    op: Any = torch.pad
    if entry["framework"] == "onnx":  # the number is an array; before opset 11 it was an attribute
        rest[1:2] = [None if value is None else np.ravel(value)[0].item() for value in rest[1:2]]
        op, said = onnx.pad, {{"value": "constant_value"}.get(name, name): v for name, v in said.items()}
    elif entry["framework"] != "torch":
        inner, first = [*map(tuple, said["padding"])], said.get("data_format") == "channels_first"
        op, rest, said = keras.pad, [[(0, 0)] * (1 + first) + inner + [(0, 0)] * (not first)], {}
    call = bound_call(op, (x, *rest), said)[0]
    if call.mode != "constant" or np.min(call.sides) < 0:
        return {}
    return {"op_type": "pad", "pads": call.sides, "filled": float(call.value)}


_CONVOLUTION = ("", "", "", "stride", "padding", "dilation", "groups")
_POSITIONAL = dict.fromkeys(("conv1d", "conv2d", "conv3d"), _CONVOLUTION) | {
    "conv_transpose2d": ("", "", "", "stride", "padding", "output_padding", "groups", "dilation"),
    "max_pool2d": ("", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
    "avg_pool2d": ("", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"),
    "leaky_relu": ("", "negative_slope"),
    "cat": ("", "dim"),
}
_SMOOTH = {name: name for name in ("softmax", "sigmoid", "tanh", "silu", "gelu")}
_SMOOTH |= {"swish": "silu", "logistic": "sigmoid"}
_MOVES = (
    *("flatten", "view", "reshape", "permute", "transpose", "contiguous", "squeeze", "unsqueeze", "identity"),
    *(
        "dropout",
        "dropout2d",
        "feature_dropout",
        "detach",
        "to",
        "clone",
        "spatialdropout2d",
        "stochastic_depth",
    ),
)
_Reader = Callable[[Entry, list[np.ndarray]], Facts]
_BY_WORD: dict[tuple[str, ...], _Reader] = {
    _MOVES: lambda entry, arrays: {"op_type": LAYOUT},
    ("relu", "relu6", "hardtanh", "clamp", "clip", "leaky_relu", "leakyrelu"): _activation,
    tuple(_SMOOTH): _smooth,
    ("add", "sum", "mul", "multiply"): _binary,
    ("cat", "concat", "concatenate"): _concatenate,
    ("batch_norm", "batchnormalization"): _batch_norm,
    ("pad", "zeropadding1d", "zeropadding2d", "zeropadding3d"): _pad,
    ("linear", "dense", "gemm", "matmul"): _dense,
    ("mean", "reducemean", "globalaveragepool", "globalmaxpool"): _whole,
    tuple(f"adaptive_{kind}_pool{rank}d" for rank in "123" for kind in ("avg", "max")): _whole,
    tuple(f"global{kind}pooling{rank}d" for rank in "123" for kind in ("average", "max")): _whole,
    tuple(f"{kind}pooling{rank}d" for rank in "123" for kind in ("average", "max")): _keras_pool,
    tuple(
        f"{kind}{rank}d{end}"
        for rank in "123"
        for kind in ("conv", "depthwiseconv")
        for end in ("", "transpose")
    ): (_keras_convolution),
}
_READERS: dict[tuple[str, str], _Reader] = {("", word): r for words, r in _BY_WORD.items() for word in words}
_READERS |= {("torch", f"conv{rank}d"): partial(_dialect, "convolution", torch.conv2d) for rank in "123"}
_TRANSPOSED = "transposed convolution"
_READERS |= {
    ("torch", "conv_transpose2d"): partial(_dialect, _TRANSPOSED, torch.conv_transpose2d),
    ("onnx", "Conv"): partial(_dialect, "convolution", onnx.conv),
    ("onnx", "ConvTranspose"): partial(_dialect, _TRANSPOSED, onnx.conv_transpose),
    ("onnx", "MaxPool"): partial(_dialect, "max pool", onnx.max_pool),
    ("onnx", "AveragePool"): partial(_dialect, "average pool", onnx.average_pool),
    **{
        ("torch", f"{short}_pool{rank}d"): partial(
            _dialect, f"{kind} pool", getattr(torch, f"{short}_pool{rank}d")
        )
        for rank in "123"
        for short, kind in (("max", "max"), ("avg", "average"))
    },
}
