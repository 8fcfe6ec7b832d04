"""Variants of a call: other strides, dilations, padding, filter sizes and output sizes.

The op itself resolves each variant, so that the library decides what is legal. A page contains as many
variants as its budget allows, those with the fewest changes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from inspect import BoundArguments, signature
from itertools import product
from math import prod
from operator import add, sub
from typing import Any

import numpy as np

from ..core.arguments import PADDING_WORDS, Shape, as_array, channels_first, channels_last, shape_only
from ..core.calls import Call
from ..core.kinds import layout_of
from ..running import nn_ops
from ..support.errors import ArgumentError
from .calls import page_call
from .document import SIDES, Document, code, facts, resolver_of, variant
from .packing import nbytes
from .shown_part import Part, lift_cell, lifted, part_of, same_place

_OPTIONS = ("name", "backend", "algorithm", "precision", "out")
_MOST = 400  # the most variants of a page
_LONG = 500  # taps along an axis: of longer filters each variant takes long, and none is made
_MISSES = 30  # after so many variants that do not fit, no more are tried


@dataclass(frozen=True, slots=True)
class Choices:
    """One control of the picture.

    Attributes:
        name: its name.
        labels: the labels of its choices.
        values: their values.
        base: the index of the call's own choice.
    """

    name: str
    labels: tuple[str, ...]
    values: tuple[Any, ...]
    base: int


@dataclass(frozen=True, slots=True)
class Words:
    """What a function calls the arguments that the controls change.

    Attributes:
        stride: the stride.
        dilation: the dilation.
        padding: the padding.
        filters: the array of filters.
        paddings: the choices of padding that are offered; a dict changes several arguments.
    """

    stride: str
    dilation: str
    padding: str
    filters: str
    paddings: tuple[Any, ...]


_OWN = Words("strides", "dilations", "padding", "filters", (*PADDING_WORDS, 1))
_QUANTIZED = replace(_OWN, filters="w")
_ONNX = tuple({"auto_pad": word, "pads": None} for word in ("SAME_UPPER", "SAME_LOWER", "VALID")) + (
    {"auto_pad": "NOTSET", "pads": [1, 1, 1, 1]},
)
_WORDS = {
    "torch.conv2d": Words("stride", "dilation", "padding", "weight", ("same", 0, 1, 2)),
    "torch.conv_transpose2d": Words("stride", "dilation", "padding", "weight", (0, 1, 2)),
    "jax.conv_general_dilated": Words(
        "window_strides", "rhs_dilation", "padding", "rhs", ("SAME", "VALID", "SAME_LOWER")
    ),
    "jax.conv_transpose": Words("strides", "rhs_dilation", "padding", "rhs", ("SAME", "VALID")),
    "onnx.conv": Words("strides", "dilations", "pads", "W", _ONNX),
    "onnx.conv_transpose": Words("strides", "dilations", "pads", "W", _ONNX),
    "keras.conv": Words("strides", "dilation_rate", "padding", "kernel", ("same", "valid")),
    "keras.conv_transpose": Words("strides", "dilation_rate", "padding", "kernel", ("same", "valid")),
}


class Variants:
    """All variants of one document's call, in the words of its own function."""

    def __init__(self, document: Document) -> None:
        self.document, call = document, document.call
        self.words = _QUANTIZED if document.quantized else _WORDS.get(call.title, _OWN)
        if not call.title or self.words is not _OWN:
            self.op = document.op
            bound = signature(self.op).bind(*document.args, **document.kwargs)
        else:  # a gradient of a dialect, whose arrays would have to be resized in its own layouts
            self.op, bound = _own_words(call)
        self.resolve = resolver_of(self.op)
        bound.apply_defaults()
        self.arguments = {name: value for name, value in bound.arguments.items() if name not in _OPTIONS}
        g = call.geometry
        self.layout = self.arguments.get("data_format") or layout_of("input", g.rank)
        names = None if self.words is _OWN else document.call.names
        letters = names.layout("filters") if names else layout_of("filters", g.rank)
        self.filter_axes = tuple(letters.index(axis) for axis in "DHW"[-g.rank :])
        self.controls = [
            _choices("stride", g.strides, range(1, 4)),
            _choices("dilation", g.dilations, range(1, 3)),
            self._paddings(call.title),
            _choices("filter size", g.filters_shape[:-2], range(1, 6)),
        ]
        if call.op.transposed and self.words in (_OWN, _QUANTIZED):
            self.controls.append(self._outputs())

    def table(self, budget: int) -> dict[str, Any]:
        """Return the controls, and the variants that fit into ``budget`` bytes of JSON, by their choices."""
        tables, left, misses = self.document.tables, 0, 0
        found: dict[str, Any] = {}
        most = _MOST if max(self.document.call.geometry.filters_shape[:-2]) <= _LONG else 0
        for key in self.combinations():
            if len(found) >= most or budget <= 0 or misses >= _MISSES:
                left += 1
                continue
            before = tables.size()
            made = self.make(key)
            cost = nbytes({_key(key): made}) + tables.nbytes - before[-1]
            if cost > budget:  # a later variant may fit, because it shares arrays with earlier ones
                tables.shrink(before)
                misses, left = misses + 1, left + 1
                continue
            budget -= cost
            found[_key(key)] = made
        return {
            "controls": [{"name": c.name, "labels": c.labels, "base": c.base} for c in self.controls],
            "table": found,
            "left_out": left,
        }

    def combinations(self) -> Iterator[tuple[int, ...]]:
        """Return all combinations of choices except the call's own, those with the fewest changes first."""
        every = product(*(range(len(c.labels)) for c in self.controls))
        return (key for key in sorted(every, key=self._changes) if self._changes(key))

    def _changes(self, key: tuple[int, ...]) -> int:
        """Return how many choices differ from the call's own."""
        return sum(choice != c.base for choice, c in zip(key, self.controls, strict=True))

    def make(self, key: tuple[int, ...]) -> dict[str, Any]:
        """Return one variant: a geometry and its arrays, or the error that the op raises; the page sums.

        Of a function that the page knows, it makes the texts of the variant too.
        """
        try:
            call, numbers, part, note, arguments = self._resolve(key)
        except (ValueError, TypeError) as error:
            return {"error": str(error)}
        made = variant(call, part, self.document.tables, numbers, note)
        written = page_call(self.op, (), arguments) if self.document.function else None
        if written is not None:
            return made | {"call": written}
        return made | {"code": code(self.op, (), arguments), "facts": facts(call)}

    def _resolve(self, key: tuple[int, ...]) -> tuple[Call, dict[str, int], Part, str, dict[str, Any]]:
        """Return a variant's call, the numbers of its arrays, its part, what was resized, its arguments."""
        document, chosen = self.document, {}
        for control, index in zip(self.controls, key, strict=True):
            chosen[control.name] = control.values[index]
        words, padding = self.words, chosen["padding"]
        arguments = self.arguments | {words.stride: self._steps(chosen["stride"])}
        if max(chosen["dilation"]) > 1 or self.arguments[words.dilation] is not None:
            arguments[words.dilation] = self._steps(chosen["dilation"])
        arguments |= padding if isinstance(padding, dict) else {words.padding: padding}
        size = chosen["filter size"]
        g = document.call.geometry
        whole = g.filters_shape[:-2]
        if size != whole:
            if words.filters in arguments:
                arguments[words.filters] = self._filters(size)
                if "kernel_shape" in arguments:
                    arguments["kernel_shape"] = None
            else:
                arguments["filter_sizes"] = (*size, *arguments["filter_sizes"][g.rank :])
        if "output size" in chosen:
            arguments |= self._output_arguments(arguments, chosen["output size"])
        if "out_backprop" in arguments:
            arguments["out_backprop"] = self._fitting(arguments)
        call = self.resolve(**arguments)
        self._check_size(call.backend_shape)
        at = _inside(self._place(call), call.backend_shape)
        part = part_of(lifted(call), lift_cell(at, call.kind.result))
        source, operand = SIDES[call.kind.first], SIDES[call.kind.second]
        numbers = {
            source: document.tables.array(source, call.first, part),
            operand: document.tables.array(operand, call.second, part),
        }
        changed = [
            f"{name} is cropped or zero-padded"
            for name in (words.filters, "out_backprop")
            if name in arguments and np.shape(arguments[name]) != np.shape(self.arguments[name])
        ]
        return call, numbers, part, " and ".join(changed), arguments

    def _filters(self, size: tuple[int, ...]) -> np.ndarray:
        """Return the filters cropped, or padded with what stands for 0, to another size."""
        name, quantized = self.words.filters, self.document.quantized
        if quantized is None:
            array = as_array(self.arguments[name], name, self.document.call.geometry.rank + 2)
            return _resized(array, self.filter_axes, size, centred=True)
        array = np.asarray(self.arguments[name])
        zeros = np.broadcast_to(quantized.zeros[1], quantized.call.second.shape).reshape(array.shape)
        zeros = zeros.astype(array.dtype)  # which wraps around, and back again
        return (
            _resized(array - zeros, self.filter_axes, size, centred=True)
            + zeros[(slice(1),) * quantized.call.geometry.rank]
        )

    def _place(self, call: Call) -> tuple[int, ...]:
        """Return the cell of a variant whose window is where that of the document's first cell is."""
        at, g = self.document.at, self.document.call.geometry
        if call.kind.sums_images:
            return at
        axes = zip(g.axes, call.geometry.axes, at[1:-1], strict=True)
        return at[0], *(same_place(ours, theirs, call.kind, i) for ours, theirs, i in axes), at[-1]

    def _steps(self, pair: tuple[int, ...]) -> Any:
        """Return strides or dilations as their framework's users write them."""
        if self.document.call.title.startswith("onnx."):
            return list(pair)
        if self.document.call.title.startswith("jax."):
            return pair
        return pair[0] if len({*pair}) == 1 else pair

    def _output_arguments(self, arguments: dict[str, Any], more: Any) -> dict[str, Any]:
        """Return the output_shape of a transposed variant: the default, or ``more`` cells than that."""
        g = self.document.call.geometry
        if more is None and g.groups == 1:
            return {"output_shape": None, "output_padding": None}
        usual = self._default_size(arguments)
        shape = (g.batch, *map(add, usual, more or (0,) * g.rank), g.in_channels)
        if self.layout[-1] != "C":
            shape = channels_first(shape)
        return {"output_shape": shape, "output_padding": None}

    def _default_size(self, arguments: dict[str, Any]) -> tuple[int, ...]:
        """Return the default (rows, cols) of a transposed result."""
        plain = {"output_shape": None, "output_padding": None, "bias": None}
        return self.resolve(**arguments | plain).backend_shape[1:-1]

    def _fitting(self, arguments: dict[str, Any]) -> np.ndarray:
        """Return out_backprop, cropped or zero-padded to the output size of a variant."""
        forward = nn_ops.FORWARD_OF[self.op]
        dy = as_array(arguments["out_backprop"], "out_backprop", self.document.call.geometry.rank + 2)
        x_shape = arguments["input_sizes"] if "input_sizes" in arguments else np.shape(arguments["input"])
        w_shape = arguments["filter_sizes"] if "filter_sizes" in arguments else np.shape(arguments["filters"])
        x, w = (shape_only(shape, np.float32) for shape in (x_shape, w_shape))
        same = {key: arguments[key] for key in ("strides", "padding", "data_format", "dilations")}
        call = nn_ops.RESOLVERS[forward](input=x, filters=w, **same)
        axes = [self.layout.index(axis) for axis in "DHW"[-call.geometry.rank :]]
        self._check_size(call.backend_shape)
        return _resized(dy, axes, channels_last(tuple(call.result_shape), self.layout)[1:-1])

    def _check_size(self, shape: Shape) -> None:
        """Refuse a variant far larger than the call: a dilation's padding makes one where it is removed."""
        call = self.document.call
        own = max(call.first.size, call.second.size, prod(call.backend_shape))
        if prod(shape) > 16 * max(own, 1 << 20):
            raise ArgumentError(f"an array of shape {list(shape)} is too large to draw beside this call")

    def _paddings(self, title: str) -> Choices:
        """Return the padding words, and numbers: 1, or the call's own."""
        words = self.words
        if title.startswith("onnx."):
            given: Any = {name: self.arguments[name] for name in ("auto_pad", "pads")}
            if given["auto_pad"] != "NOTSET":
                given["pads"] = None
        else:
            given = self.arguments[words.padding]
        # a dialect's gradient has numbers alone
        usual = (0, 1, 2) if words is _OWN and title else words.paddings
        if (
            words in (_OWN, _QUANTIZED)
            and self.document.call.op.rank == 1
            and not self.document.call.op.transposed
        ):
            usual = ("CAUSAL", *usual)
        values = [*usual] if given in usual else [*(v for v in usual if isinstance(v, (str, dict))), given]
        return Choices("padding", tuple(map(_padding_text, values)), tuple(values), values.index(given))

    def _outputs(self) -> Choices:
        """Return the default output size of conv2d_transpose, and sizes a few cells smaller or larger.

        A label is the size itself for the call's own arguments; the page writes it for other ones.
        """
        call = self.document.call
        given = call.backend_shape[1:-1]
        steps: list[Any] = [None, *((n,) * len(given) for n in (-2, -1, 1, 2))]
        try:
            usual = self._default_size(self.arguments)
        except ValueError:  # only the requested size is legal
            usual = given
        more = tuple(map(sub, given, usual))
        if any(more) and more not in steps:
            steps.append(more)
        sizes = [usual, *(map(add, usual, step) for step in steps[1:])]
        labels = tuple(" × ".join(map(str, size)) for size in sizes)
        return Choices("output size", labels, tuple(steps), steps.index(more) if any(more) else 0)


def _padding_text(value: Any) -> str:
    """Return the label of one choice of padding."""
    if isinstance(value, dict):
        return value["auto_pad"] if value["pads"] is None else str(value["pads"])
    return value if isinstance(value, str) else str(value).replace("[", "(").replace("]", ")")


def _own_words(call: Call) -> tuple[Callable[..., Any], BoundArguments]:
    """Return a dialect's call as one of `nn_ops`, on its canonical arrays and with explicit padding."""
    g = call.geometry
    words: dict[str, Any] = {"strides": g.strides, "padding": g.padding, "dilations": g.dilations}
    op = nn_ops.FUNCTIONS[call.op]
    kind, names = call.kind, call.op.words
    words |= {names[kind.first]: call.first, names[kind.second]: call.second}
    if call.op.sizes:
        words[call.op.sizes] = g.shape_of(kind.result)
    if call.bias is not None:
        words["bias"] = call.bias
    return op, signature(op).bind(**words)


def _choices(name: str, given: tuple[int, ...], usual: range) -> Choices:
    """Return a control for one number on each axis: the usual ones, alike on all axes, and the call's own."""
    values = sorted({(v,) * len(given) for v in usual} | {given})
    one = {value: len({*value}) == 1 and name != "filter size" for value in values}
    labels = tuple(str(v[0]) if one[v] else " × ".join(map(str, v)) for v in values)
    return Choices(name, labels, tuple(values), values.index(given))


def _resized(array: np.ndarray, axes: Sequence[int], sizes: Any, *, centred: bool = False) -> np.ndarray:
    """Return an array cropped or zero-padded to other sizes along two axes."""
    for axis, size in zip(axes, sizes, strict=True):
        spare = array.shape[axis] - size
        if spare > 0:
            first = spare // 2 if centred else 0
            array = array.take(range(first, first + size), axis)
        elif spare < 0:
            before = -spare // 2 if centred else 0
            pads = [(0, 0)] * array.ndim
            pads[axis] = (before, -spare - before)
            array = np.pad(array, pads)
    return array


def _inside(cell: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Return the nearest cell that is inside a shape."""
    return tuple(max(0, min(index, size - 1)) for index, size in zip(cell, shape, strict=True))


def _key(key: tuple[int, ...]) -> str:
    """Return a combination of choices as the page's key."""
    return ",".join(map(str, key))
