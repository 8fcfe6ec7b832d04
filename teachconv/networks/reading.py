"""Turns what `recorder` wrote into layers whose calls teachconv can compute.

For each word of a framework, a function says which op it is, with which arguments, and which axis holds the
channels. A word that is not in the table gives a layer without an op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from .. import nn_ops
from ..dialects import keras, onnx, torch
from ..kinds import layout_of
from . import definitions

__all__ = ["LAYOUT", "Layer", "arrays_in", "by_law", "read"]

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
        kind: what it is in every framework: "convolution", "max pool", "relu", ...
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
    kind: str
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
    framework, word, said = entry["framework"], entry["word"], entry["kwargs"]
    family = "keras" if framework == "teachconv" else framework
    arrays = [array for array in arrays_in(entry["args"]) if known(array)]
    facts: Facts = {"kind": _KINDS.get(word.lower(), word.lower()), "inputs": arrays[:1]}
    reader = _READERS.get((family, word), _READERS.get(("", word.lower())))
    if reader is not None and arrays and entry["output"] is not None:
        try:
            facts |= reader(entry, arrays)
        except (TypeError, ValueError, KeyError, IndexError):  # a form of the call that is not read here
            facts["kind"] = word.lower()
    names = [*_POSITIONAL.get(word, ())]
    said = {
        key: value
        for key, value in {**dict(zip(names, entry["args"], strict=False)), **said}.items()
        if not isinstance(value, np.ndarray)
    }
    default = -1 if family == "keras" else 1
    facts = {"output": entry["output"], "axis": default, "said": said} | facts
    facts["inputs"] = tuple(facts["inputs"])
    return Layer(entry["name"], framework, word, error=entry.get("error", ""), **facts)


def arrays_in(value: Any) -> list[np.ndarray]:
    """Return the arrays of nested lists."""
    if isinstance(value, list):
        return [array for item in value for array in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


# ---------------------------------------------------------------------------------------------
# Convolutions
# ---------------------------------------------------------------------------------------------


def _bound(function: Callable[..., Any], entry: Entry, *more: str) -> dict[str, Any]:
    """Return a call's arguments by the names of a function, without those that it does not have."""
    given = {name: value for name, value in entry["kwargs"].items() if name not in more}
    bound = nn_ops.bind(function, tuple(entry["args"]), given)
    return {name: value for name, value in bound.arguments.items() if value is not None}


def _torch_convolution(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    transposed, rank = "transpose" in entry["word"], entry["args"][0].ndim - 2
    function = torch.conv_transpose2d if transposed else torch.conv2d
    given = _bound(function, entry)
    x, kind = given.pop("input"), "transposed convolution" if transposed else "convolution"
    facts = {"kind": kind, "inputs": [x], "op": function, "arguments": given, "bias": given.pop("bias", None)}
    if rank == 2 or x.ndim == 3 and entry["word"].endswith("2d"):
        return facts
    if transposed:
        return {"kind": kind}
    padding = given.get("padding", 0)
    pads = (padding,) * rank if isinstance(padding, int) else padding
    words = {"padding": padding.upper() if isinstance(padding, str) else [(pad, pad) for pad in pads]}
    words |= {"strides": given.get("stride", 1), "dilations": given.get("dilation", 1)}
    return facts | by_law(np.moveaxis(given["weight"], (1, 0), (-2, -1)), rank, 1, words)


def by_law(filters: np.ndarray, rank: int, axis: int, words: dict[str, Any]) -> Facts:
    """A convolution over any number of axes as TensorFlow's; the filters have TensorFlow's layout."""
    order = layout_of("input", rank)
    layout = order if axis == -1 else "NC" + order[1:-1]
    function = nn_ops.conv2d if rank == 2 else nn_ops.convolution
    return {"op": function, "arguments": {"filters": filters, "data_format": layout} | words, "axis": axis}


def _keras_convolution(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, x = entry["kwargs"], arrays[0]
    axis = 1 if said.get("data_format") == "channels_first" else -1
    facts: Facts = {"kind": "convolution", "inputs": [x], "axis": axis, "bias": said.get("bias")}
    names = {"strides": "strides", "padding": "padding", "dilation_rate": "dilations"}
    words = {names[name]: value for name, value in said.items() if name in names}
    if "Transpose" in entry["word"]:
        names = ("kernel", "strides", "padding", "data_format", "dilation_rate", "output_padding")
        given = {name: said[name] for name in names if name in said}
        op = keras.conv_transpose if x.ndim == 4 else None
        return facts | {"kind": "transposed convolution", "op": op, "arguments": given}
    words["padding"] = words["padding"].upper()
    facts |= by_law(said["kernel"], x.ndim - 2, axis, words)
    if "Depthwise" in entry["word"]:
        filters = said["kernel"]
        merged = filters.reshape(*filters.shape[:-2], 1, -1)
        if x.ndim != 4:
            facts["arguments"]["filters"] = merged
        else:
            facts["op"] = nn_ops.depthwise_conv2d
    return facts


def _onnx_convolution(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    transposed, x = entry["word"] == "ConvTranspose", entry["args"][0]
    function, rank = (onnx.conv_transpose if transposed else onnx.conv), x.ndim - 2
    given = _bound(function, entry)
    bias = given.pop("B", None)
    facts = {"kind": "transposed convolution" if transposed else "convolution", "inputs": [given.pop("X")]}
    facts |= {"op": function, "arguments": given, "bias": bias}
    if rank == 2:
        return facts
    if transposed or given.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID"):
        return {"kind": facts["kind"]}
    pads = given.get("pads", [0] * (2 * rank))
    words = {"padding": [*zip(pads[:rank], pads[rank:], strict=True)]}
    words |= {"strides": given.get("strides", 1), "dilations": given.get("dilations", 1)}
    return facts | by_law(np.moveaxis(given["W"], (1, 0), (-2, -1)), rank, 1, words)


def _product(x: np.ndarray, matrix: np.ndarray, output: np.ndarray) -> Facts:
    """A product with a matrix [inputs, outputs] as the convolution of one tap that it is."""
    rows = (len(x), 1, prod(x.shape[1:-1]))
    return {
        "kind": "convolution",
        "inputs": [x.reshape(*rows, x.shape[-1])],
        "output": output.reshape(*rows, output.shape[-1]),
        **by_law(matrix[None, None], 2, -1, {}),
    }


def _dense(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    x, word = arrays[0], entry["word"]
    args, said = entry["args"], entry["kwargs"]
    if word == "Dense":
        matrix, bias = said["kernel"], said.get("bias")
    else:
        weight, *more = [*args[1:], *(said[name] for name in ("weight", "bias") if name in said)]
        matrix, bias = (weight if word == "MatMul" else weight.T), (more or [None])[0]
    if word == "Gemm":
        matrix = matrix if said.get("transB") else matrix.T
        if said.get("transA") or said.get("alpha", 1.0) != 1 or said.get("beta", 1.0) != 1:
            return {}
    if matrix.ndim != 2 or len(arrays) != 1:
        return {"kind": word.lower()}  # of two computed arrays
    return _product(x, matrix, entry["output"]) | {"bias": bias}


# ---------------------------------------------------------------------------------------------
# Pools
# ---------------------------------------------------------------------------------------------


def _kind_of_pool(word: str) -> str:
    return "max pool" if "max" in word.lower() else "average pool"


def _torch_pool(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    word, x = entry["word"], arrays[0]
    function = getattr(torch, word.removeprefix("adaptive_"))
    if word.startswith("adaptive_"):
        size = entry["args"][1] if len(entry["args"]) > 1 else entry["kwargs"]["output_size"]
        sizes = [size] * (x.ndim - 2) if isinstance(size, int) else size
        windows = [divmod(n, out or n) for n, out in zip(x.shape[2:], sizes, strict=True)]
        if any(rest for _, rest in windows):
            return {}
        window = {"kernel_size": [size for size, _ in windows]}
        return {"kind": _kind_of_pool(word), "op": function, "arguments": window}
    given = _bound(function, entry)
    given.pop("input")
    return {"kind": _kind_of_pool(word), "op": function, "arguments": given}


def _keras_pool(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    word, x, said = entry["word"], arrays[0], entry["kwargs"]
    function = keras.max_pool if "Max" in word else keras.average_pool
    given = {
        name: said[name] for name in ("pool_size", "strides", "padding", "data_format") if name in said
    }
    axis = 1 if said.get("data_format") == "channels_first" else -1
    facts = {"kind": _kind_of_pool(word), "op": function, "arguments": given, "axis": axis}
    return facts | _whole(x, axis, entry["output"], given) if word.startswith("Global") else facts


def _whole(x: np.ndarray, axis: int, output: np.ndarray, more: Facts) -> Facts:
    """A window as large as the image; the result keeps its axes."""
    sizes = x.shape[2:] if axis == 1 else x.shape[1:-1]
    ones = (1,) * len(sizes)
    shape = (len(x), x.shape[axis], *ones) if axis == 1 else (len(x), *ones, x.shape[axis])
    formats = {key: value for key, value in more.items() if key == "data_format"}
    return {"arguments": {"pool_size": sizes, **formats}, "output": output.reshape(shape)}


def _onnx_pool(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    word, x = entry["word"], arrays[0]
    function = onnx.max_pool if "Max" in word else onnx.average_pool
    facts: Facts = {"kind": _kind_of_pool(word), "op": function}
    if word.startswith("Global"):
        return facts | {"arguments": {"kernel_shape": [*x.shape[2:]]}}
    given = _bound(function, entry, "storage_order")
    given.pop("X")
    return facts | {"arguments": given}


def _mean(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """The mean over all rows and columns as a pool."""
    x, said = arrays[0], entry["kwargs"]
    axes = said.get("dim", said.get("axes", said.get("axis", [*entry["args"][1:], None][0])))
    axes = sorted(int(axis) % x.ndim for axis in np.ravel(axes))
    axis = {tuple(range(2, x.ndim)): 1, tuple(range(1, x.ndim - 1)): -1}[tuple(axes)]
    words = {"data_format": "channels_first" if axis == 1 else "channels_last"}
    op = {"kind": "average pool", "op": keras.average_pool, "axis": axis}
    return op | _whole(x, axis, entry["output"], words)


# ---------------------------------------------------------------------------------------------
# What is between
# ---------------------------------------------------------------------------------------------


def _clip(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    word, said, rest = entry["word"].lower(), entry["kwargs"], entry["args"][1:]
    low, high = 0.0, 6.0 if word == "relu6" else np.inf
    if word in ("clip", "clamp", "hardtanh"):
        first, second = [*rest, None, None][:2]
        low = said.get("min_val", said.get("min", first))
        high = said.get("max_val", said.get("max", second))
    if said.get("max_value") is not None:  # of Keras' ReLU
        high = said["max_value"]
    if said.get("threshold"):
        return {"kind": word}
    limits = {"low": -np.inf if low is None else float(low), "high": np.inf if high is None else float(high)}
    if said.get("negative_slope"):
        return _leaky(entry, arrays) if np.isinf(high) else {"kind": word}
    return {"kind": "relu", "op": definitions.clip, "arguments": limits}


def _leaky(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, default = entry["kwargs"], 0.2 if entry["framework"] == "keras" else 0.01
    given = [value for value in entry["args"][1:] if isinstance(value, float)]
    slope = said.get("negative_slope", said.get("alpha", (given or [default])[0]))
    return {"kind": "relu", "op": definitions.leaky_relu, "arguments": {"slope": slope}}


def _batch_norm(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, args = entry["kwargs"], entry["args"]
    axis = 1 if entry["framework"] in ("torch", "onnx") else said.get("axis", -1)
    axis = axis if isinstance(axis, int) else axis[0]
    x = args[0] if isinstance(args[0], np.ndarray) else arrays[0]
    if entry["word"] == "BatchNormalization" and entry["framework"] == "onnx":
        gamma, beta, mean, variance = args[1:5]
        eps = said.get("epsilon", 1e-5)
    elif entry["framework"] == "torch":
        mean, variance = args[1:3]
        gamma, beta, eps = said.get("weight"), said.get("bias"), said.get("eps", 1e-5)
        if said.get("training"):
            return {"kind": "batch norm in training"}
    else:
        gamma, beta, mean, variance = map(said.get, ("gamma", "beta", "moving_mean", "moving_variance"))
        eps = said["epsilon"]
    return _normalised(x, mean, variance, gamma, beta, eps, -1 if axis % x.ndim == x.ndim - 1 else axis)


def _normalised(x: Any, mean: Any, variance: Any, gamma: Any, beta: Any, eps: float, axis: int) -> Facts:
    given = {"mean": mean, "variance": variance, "gamma": gamma, "beta": beta, "eps": eps, "axis": axis}
    op = definitions.batch_norm
    return {"kind": "batch norm", "inputs": [x], "op": op, "arguments": given, "axis": axis}


def _binary(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """A sum or product of computed arrays; with one weight for each channel, a batch norm without the rest."""
    product = entry["word"].lower() in ("mul", "multiply")
    every = arrays_in(entry["args"])
    constants = [array for array in every if not any(array is one for one in arrays)]
    if not constants and len(arrays) > 1 and not said_otherwise(entry):
        op = definitions.multiply if product else definitions.add
        return {"inputs": arrays, "op": op, "kind": "multiply" if product else "add"}
    (x,), (weight,) = arrays, constants
    axis = 1 if x.ndim > 2 and x.shape[1] == weight.size and weight.shape[-1] == 1 else -1
    if weight.size != x.shape[axis]:
        return {}
    zeros = np.zeros(weight.size)
    gamma, beta = (weight.ravel(), zeros) if product else (None, weight.ravel())
    return _normalised(x, zeros, zeros + 1, gamma, beta, 0.0, axis)


def said_otherwise(entry: Entry) -> bool:
    """Whether a sum has a factor too, as torch.add(x, y, alpha=2)."""
    return bool(entry["kwargs"].get("alpha", 1) != 1)


def _concatenate(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    said, rest = entry["kwargs"], entry["args"][1:]
    numbers = [value for value in rest if isinstance(value, int)]
    default = -1 if entry["framework"] in ("keras", "teachconv") else 0
    axis = said.get("dim", said.get("axis", (numbers or [default])[0]))
    given = {"axis": axis}
    return {"kind": "concatenate", "inputs": arrays, "op": definitions.concatenate, "arguments": given}


def _moved(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    return {"kind": LAYOUT}


def _pad(entry: Entry, arrays: list[np.ndarray]) -> Facts:
    """Zeros around the input, as (before, after) of each axis."""
    x, said, rest = arrays[0], entry["kwargs"], [v for v in entry["args"][1:] if not isinstance(v, str)]
    if entry["framework"] == "torch":
        flat = said.get("pad", (rest or [None])[0])
        pairs = [*zip(flat[::2], flat[1::2], strict=True)]
        pads = [(0, 0)] * (x.ndim - len(pairs)) + pairs[::-1]
    elif entry["framework"] == "onnx":
        flat = [int(n) for n in np.ravel(rest[0] if rest else said["pads"])]
        pads = [*zip(flat[: x.ndim], flat[x.ndim :], strict=True)]
    else:
        pads = [(0, 0), *map(tuple, said["padding"]), (0, 0)]
        pads = [pads[0], pads[-1], *pads[1:-1]] if said.get("data_format") == "channels_first" else pads
    value = said.get("value") if entry["framework"] == "torch" else (rest[1:2] or [None])[0]
    if said.get("mode", "constant") != "constant" or np.min(pads) < 0:
        return {}
    return {"kind": "pad", "pads": tuple(pads), "filled": 0.0 if value is None else float(np.ravel(value)[0])}


_KINDS = {"softmax": "softmax", "sigmoid": "sigmoid", "logistic": "sigmoid", "silu": "silu", "swish": "silu"}
_POSITIONAL = {
    "conv2d": ("", "", "", "stride", "padding", "dilation", "groups"),
    "conv_transpose2d": ("", "", "", "stride", "padding", "output_padding", "groups", "dilation"),
    "max_pool2d": ("", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
    "avg_pool2d": ("", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"),
    "leaky_relu": ("", "negative_slope"),
    "cat": ("", "dim"),
}
_POSITIONAL |= {"conv1d": _POSITIONAL["conv2d"], "conv3d": _POSITIONAL["conv2d"]}
_MOVES = (
    *("flatten", "view", "reshape", "permute", "transpose", "contiguous", "squeeze", "unsqueeze", "identity"),
    *("dropout", "dropout2d", "feature_dropout", "inputlayer", "detach", "to", "clone", "spatialdropout2d"),
)
_Reader = Callable[[Entry, list[np.ndarray]], Facts]
_READERS: dict[tuple[str, str], _Reader] = {}
for _words, _reader in (
    (_MOVES, _moved),
    (("relu", "relu6", "hardtanh", "clamp", "clip"), _clip),
    (("leaky_relu", "leakyrelu"), _leaky),
    (("add", "sum", "mul", "multiply"), _binary),
    (("cat", "concat", "concatenate"), _concatenate),
    (("batch_norm", "batchnormalization"), _batch_norm),
    (("mean", "reducemean"), _mean),
    (("pad", "zeropadding1d", "zeropadding2d", "zeropadding3d"), _pad),
    (("linear", "dense", "gemm", "matmul"), _dense),
):
    _READERS |= {("", word): _reader for word in _words}
for _rank in "123":
    _READERS |= {
        ("torch", word + _rank + "d"): _torch_pool
        for word in ("max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool")
    }
    _READERS |= {("torch", f"{word}{_rank}d"): _torch_convolution for word in ("conv", "conv_transpose")}
    _pools = (f"{word}Pooling{_rank}D" for word in ("Max", "Average", "GlobalAverage", "GlobalMax"))
    _READERS |= {("keras", word): _keras_pool for word in _pools}
    _names = (f"Conv{_rank}D", f"DepthwiseConv{_rank}D", f"Conv{_rank}DTranspose")
    _READERS |= {("keras", word): _keras_convolution for word in _names}
_READERS |= {("onnx", word): _onnx_convolution for word in ("Conv", "ConvTranspose")}
_READERS |= {
    ("onnx", word): _onnx_pool for word in ("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool")
}
