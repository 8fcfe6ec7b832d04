"""Variants of a call: other strides, dilations, padding, filter sizes and output sizes.

The op itself resolves each variant, so that the library decides what is legal. A page contains as many
variants as its budget allows, those with the fewest changes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from inspect import BoundArguments, signature
from itertools import product
from typing import Any

import numpy as np

from .. import dispatch, nn_ops
from ..arguments import as_array, to_nhwc
from ..dispatch import Call
from .axis_tables import Part, part_of
from .document import SIDES, Document, nbytes, variant

__all__ = ["Choices", "Variants"]

_OPTIONS = ("name", "backend", "algorithm", "precision", "out")
_MOST = 400  # the most variants of a page
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


class Variants:
    """All variants of one document's call."""

    def __init__(self, document: Document, *, live: bool = False) -> None:
        self.document, self.live = document, live
        call = document.call
        if not call.title:
            self.op = document.op
            bound = signature(self.op).bind(*document.args, **document.kwargs)
        else:
            self.op, bound = _own_words(call)
        bound.apply_defaults()
        self.arguments = {name: value for name, value in bound.arguments.items() if name not in _OPTIONS}
        self.layout = self.arguments["data_format"]
        g = call.geometry
        self.controls = [
            _choices("stride", g.strides, range(1, 6) if live else range(1, 4)),
            _choices("dilation", g.dilations, range(1, 5) if live else range(1, 3)),
            self._paddings(),
            _choices("filter size", g.filters_shape[:2], range(1, 8) if live else range(1, 6)),
        ]
        if call.op.transposed:
            self.controls.append(self._outputs())

    def table(self, budget: int) -> dict[str, Any]:
        """Return the controls, and the variants that fit into ``budget`` bytes of JSON, by their choices."""
        tables, left, misses = self.document.tables, 0, 0
        found: dict[str, Any] = {}
        for key in self.combinations():
            if len(found) >= _MOST or budget <= 0 or misses >= _MISSES:
                left += 1
                continue
            before = tables.size()
            made = self.make(key)
            cost = nbytes(made) + tables.size()[2] - before[2]
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
        base = tuple(c.base for c in self.controls)
        every = product(*(range(len(c.labels)) for c in self.controls))

        def changes(key: tuple[int, ...]) -> int:
            return sum(k != b for k, b in zip(key, base, strict=True))

        return (key for key in sorted(every, key=changes) if key != base)

    def make(self, key: tuple[int, ...], *, run: bool = False) -> dict[str, Any]:
        """Return one variant: a geometry and its arrays, or the error that the op raises.

        With ``run`` the chosen backend computes the result; without it the page sums the taps.
        """
        try:
            call, numbers, part, note = self._resolve(key)
        except (ValueError, TypeError) as error:
            return {"error": str(error)}
        made = variant(call, part, self.document.tables, numbers, note)
        if run:
            options = {k: v for k, v in self.document.options.items() if k != "out"}
            result = dispatch.run_canonical(call, **options)
            side = SIDES[call.kind.result]
            numbers[side] = self.document.tables.array(side, np.asarray(result), part, key)
        return made

    def _resolve(self, key: tuple[int, ...]) -> tuple[Call, dict[str, int], Part, str]:
        """Return a variant's call, the numbers of its arrays, its part, and which arrays were resized."""
        document, chosen = self.document, {}
        for control, index in zip(self.controls, key, strict=True):
            chosen[control.name] = control.values[index]
        arguments = self.arguments | {
            "strides": chosen["stride"],
            "dilations": chosen["dilation"],
            "padding": chosen["padding"],
        }
        size = chosen["filter size"]
        whole = document.call.geometry.filters_shape[:2]
        if size != whole:
            if "filters" in arguments:
                arguments["filters"] = _resized(
                    as_array(arguments["filters"], "filters"), (0, 1), size, centred=True
                )
            else:
                arguments["filter_sizes"] = (*size, *arguments["filter_sizes"][2:])
        if "output_shape" in arguments:
            arguments |= self._output_arguments(arguments, chosen["output size"])
        if "out_backprop" in arguments:
            arguments["out_backprop"] = self._fitting(arguments)
        call = nn_ops.RESOLVERS[self.op](**arguments)
        part = part_of(call, _inside(document.at, call.backend_shape))
        source, operand = SIDES[call.kind.first], SIDES[call.kind.second]
        numbers = {
            source: document.tables.array(source, call.first, part),
            operand: document.tables.array(operand, call.second, part),
        }
        changed = [
            f"{name} is cropped or zero-padded"
            for name in ("filters", "out_backprop")
            if name in arguments and np.shape(arguments[name]) != np.shape(self.arguments[name])
        ]
        return call, numbers, part, " and ".join(changed)

    def _output_arguments(self, arguments: dict[str, Any], more: Any) -> dict[str, Any]:
        """Return the output_shape of a transposed variant: the default, or ``more`` cells than that."""
        g = self.document.call.geometry
        if more is None and g.groups == 1:
            return {"output_shape": None, "output_padding": None}
        rows, cols = self._default_size(arguments)
        more = more or (0, 0)
        shape = (g.batch, rows + more[0], cols + more[1], g.in_channels)
        if self.layout == "NCHW":
            shape = (shape[0], shape[3], shape[1], shape[2])
        return {"output_shape": shape, "output_padding": None}

    def _default_size(self, arguments: dict[str, Any]) -> tuple[int, int]:
        """Return the default (rows, cols) of a transposed result."""
        plain = {"output_shape": None, "output_padding": None, "bias": None}
        rows, cols = nn_ops.RESOLVERS[self.op](**arguments | plain).backend_shape[1:3]
        return rows, cols

    def _fitting(self, arguments: dict[str, Any]) -> np.ndarray:
        """Return out_backprop, cropped or zero-padded to the output size of a variant."""
        forward = nn_ops.FORWARD_OF[self.op]
        dy = as_array(arguments["out_backprop"], "out_backprop")
        x_shape = arguments["input_sizes"] if "input_sizes" in arguments else np.shape(arguments["input"])
        w_shape = arguments["filter_sizes"] if "filter_sizes" in arguments else np.shape(arguments["filters"])
        blank = [np.broadcast_to(np.float32(0), tuple(shape)) for shape in (x_shape, w_shape)]
        keys = ("strides", "padding", "data_format", "dilations")
        call = nn_ops.RESOLVERS[forward](*blank, **{k: arguments[k] for k in keys}, bias=None)
        axes = (1, 2) if self.layout == "NHWC" else (2, 3)
        return _resized(dy, axes, to_nhwc(tuple(call.result_shape), self.layout)[1:3])

    def _paddings(self) -> Choices:
        """Return the padding words, and 1 or the call's own explicit padding."""
        given = self.arguments["padding"]
        values = ["SAME", "VALID", "SAME_LOWER", 1]
        if not isinstance(given, str) and given != 1:
            values[3] = given
        labels = tuple(
            v if isinstance(v, str) else str(v).replace("[", "(").replace("]", ")") for v in values
        )
        base = values.index(given) if isinstance(given, str) else 3
        return Choices("padding", labels, tuple(values), base)

    def _outputs(self) -> Choices:
        """Return the default output size of conv2d_transpose, and sizes a few cells smaller or larger."""
        call = self.document.call
        steps: list[Any] = [None, (-2, -2), (-1, -1), (1, 1), (2, 2)]
        labels = ["default", "-2", "-1", "+1", "+2"]
        given = call.backend_shape[1:3]
        try:
            rows, cols = self._default_size(self.arguments)
        except ValueError:  # only the requested size is legal
            rows, cols = given
        more = (given[0] - rows, given[1] - cols)
        if more == (0, 0):
            return Choices("output size", tuple(labels), tuple(steps), 0)
        if more not in steps:
            steps.append(more)
            labels.append(f"{more[0]:+d}, {more[1]:+d}")
        return Choices("output size", tuple(labels), tuple(steps), steps.index(more))


def _own_words(call: Call) -> tuple[Callable[..., Any], BoundArguments]:
    """Return a dialect's call as one of `nn_ops`, on its canonical arrays and with explicit padding."""
    g = call.geometry
    pads = tuple((axis.pad_before, axis.pad_after) for axis in (g.rows, g.cols))
    words: dict[str, Any] = {"strides": g.strides, "padding": pads, "dilations": g.dilations}
    op: Callable[..., Any] = getattr(nn_ops, call.op.name)
    kind, names = call.kind, call.op.words
    words |= {names[kind.first]: call.first, names[kind.second]: call.second}
    if call.op.sizes:
        words[call.op.sizes] = g.shape_of(kind.result)
    if call.bias is not None:
        words["bias"] = call.bias
    return op, signature(op).bind(**words)


def _choices(name: str, given: tuple[int, ...], usual: range) -> Choices:
    """Return a control for (rows, cols): the usual squares, and the call's own pair."""
    values = sorted({(v, v) for v in usual} | {(given[0], given[1])})
    labels = tuple(f"{a}" if a == b and name != "filter size" else f"{a} × {b}" for a, b in values)
    return Choices(name, labels, tuple(values), values.index((given[0], given[1])))


def _resized(array: np.ndarray, axes: tuple[int, int], sizes: Any, *, centred: bool = False) -> np.ndarray:
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
