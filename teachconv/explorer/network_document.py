"""A network as the JSON that its page draws and computes: columns of maps, each made of those before it.

A column is a layer and what follows it without a window of its own: batch normalisation, an activation. Its
cells are [row, column, channel] for every framework; a vector has one row and one column, a sequence one row.
Column 0 is the input.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..core.arguments import as_array
from ..core.law import AxisGeometry
from ..networks import definitions
from ..networks.reading import Layer
from ..networks.walking import INPUT, Network, walk
from ..running import nn_ops
from ..support.devices import to_host
from ..support.errors import ArgumentError, plain
from ..windows.walking import whole
from .pools import pool_of

# what the page computes of smooth functions; others are boxes
SMOOTH = ("softmax", "sigmoid", "tanh", "silu (swish)", "gelu (tanh)", "elu", "hardswish", "hardsigmoid")
SOFTMAX = {"kind": "softmax"}
_CLASSES = 1000  # the most of an answer
# of an axis, in the order of AxisGeometry's fields in law.js
_INTEGERS = ("in_size", "filter_size", "out_size", "stride", "dilation", "pad_before", "pad_after")


def walked(model: Any, x: Any) -> Network:
    """Walk a network with the one image or sequence that it is to be drawn with.

    Raises:
        ValueError, TypeError: if x is not an array of finite numbers with a batch of one, or does not fit.
    """
    if x is not None:
        x = np.asarray(to_host(as_array(x.detach() if hasattr(x, "detach") else x, "x", None)))
    network = walk(model, x)
    shape = list(network.x.shape)
    for layer in network.layers:
        if layer.error:
            raise ArgumentError(f"x of shape {shape} does not fit {plain(layer.name)}: {plain(layer.error)}")
    if len(shape) < 2 or shape[0] != 1:
        raise ArgumentError(
            f"x must be one image with a batch of one in front, such as x[0:1]; got shape {shape}"
        )
    if not np.isfinite(network.x).all():
        raise ArgumentError("x must have finite numbers; got NaN or infinity")
    return network


class NetworkDocument:
    """The columns of a network, and which of them is the answer.

    Args:
        network: what `walk` returned.
        scales: the largest size of the numbers of each of its layers, and of the input as the last; by
            default those of this run.
    """

    def __init__(self, network: Network, scales: Sequence[float] | None = None) -> None:
        self.network = network
        self.scales = scales or largest(network)
        self.columns: list[dict[str, Any]] = []
        self._dtypes = {str(_output(layer).dtype) for layer in network.layers if layer.computes}
        if not self._dtypes < {"float32", "float64"}:
            raise ArgumentError(
                f"a network must compute in float32 or in float64; got {sorted(self._dtypes)}"
            )
        self._place: dict[int | None, int] = {INPUT: 0}  # of each layer, its column
        self._users = [
            sum(number in {*map(_last, other.sources)} for other in network.layers)
            for number in range(len(network.layers))
        ]
        cells = cells_of(network.x, network.axis)
        self.columns.append({"name": "input", "kind": "input", "axis": network.axis, "shape": [*cells.shape]})
        # of each column: its numbers, and the layer that has them
        self.values, self.layers = [cells], [INPUT]
        for number, layer in enumerate(network.layers):
            if layer.output is None:
                continue
            copies = bool(layer.inputs) and layer.output.size != layer.inputs[0].size  # as upsampling does
            if layer.computes or copies:
                self._add(number, layer)
        if len(self.columns) < 2:
            raise ArgumentError("a network must have a layer that changes numbers to be drawn")

    def data(self) -> dict[str, Any]:
        """Return the document, with its arrays."""
        network = self.network
        arrays = [value for value in network.returned.values() if isinstance(value[0], np.ndarray)]
        scores, makers = arrays[0]
        answer = self._place.get(_last(makers), 0)
        is_answer = self.columns[answer]["shape"] == [1, 1, scores.size] and 1 < scores.size <= _CLASSES
        return {
            "framework": network.framework,
            "columns": self.columns,
            "input": self.values[0],
            "dtype": next(iter(self._dtypes)),
            "answer": answer if is_answer else None,
            "returned": scores.reshape(-1) if is_answer else None,
            "outputs": len(arrays),
            "scale": [self.scales[-1], float(network.x.min()), float(network.x.max())],
        }

    @property
    def nbytes(self) -> int:
        """How many bytes its arrays take in a page."""
        arrays = [part for column in self.columns for part in column.values() if isinstance(part, np.ndarray)]
        return sum(array.nbytes for array in [self.values[0], *arrays]) * 4 // 3

    def _add(self, number: int, layer: Layer) -> None:
        """Add a layer: as a step of the column before it, or as a column of its own."""
        makers = [_last(source) for source in layer.sources]
        sources = [self._place.get(maker, 0) for maker in makers]  # a constant has none: that is a box
        step = self._step(layer)
        known = None not in makers
        alone = bool(known and sources[0]) and self._users[makers[0] or 0] == 1
        column = self.columns[sources[0]]
        if step is not None and alone and column["kind"] != "box":
            column["then"].append(step)
            column["largest"] = self.scales[number]
            if step != SOFTMAX:
                self.values[sources[0]] = cells_of(_output(layer), layer.axis)
                self.layers[sources[0]] = number
        else:
            made = self._column(layer, step, sources) if known else None
            column = {
                "name": layer.name if step else layer.name.partition(" (")[0],
                "word": layer.word,
                "shape": list(cells_of(_output(layer), layer.axis).shape),
                "from": sources,
                "then": [],
                "largest": self.scales[number],
                **(made or {"kind": "box", "values": cells_of(_output(layer), layer.axis)}),
            }
            self.columns.append(column)
            self.values.append(cells_of(layer.inputs[0] if step == SOFTMAX else _output(layer), layer.axis))
            self.layers.append(number)
        self._place[number] = self.columns.index(column)

    def _step(self, layer: Layer) -> dict[str, Any] | None:
        """Return what a layer made of each cell, or None; before the end, of a softmax too."""
        step = _STEPS.get(layer.op, _no_step)(layer)
        if step is not None and layer.op is not None:  # an argument may be read wrongly
            made = layer.op(layer.inputs[0], **layer.arguments)
            if not definitions.judged(layer.name, _output(layer), made, _output(layer).dtype).passed:
                return None
        inner = step == SOFTMAX and layer is not self.network.layers[-1]
        return None if inner else step

    def _column(self, layer: Layer, step: Any, sources: Sequence[int]) -> dict[str, Any] | None:
        """Return what the page computes a layer from; None if it does not know the layer."""
        shapes = [self.columns[source]["shape"] for source in sources]
        shape = list(cells_of(_output(layer), layer.axis).shape)
        if step is not None:
            return {"kind": "same", "steps": [step]} if shapes == [shape] else None
        if layer.arguments.get("constants"):  # which the page does not hold
            return None
        if layer.op_type in _JOINS and shapes[1:] and all(each == shape for each in shapes):
            return {"kind": layer.op_type}
        if layer.op_type == "concatenate":
            joined = [*shape[:2], sum(each[2] for each in shapes)] == shape
            return {"kind": "concatenate"} if joined and len(shapes) > 1 else None
        if layer.op_type in ("max pool", "average pool"):
            return _pool(layer, shapes[0])
        if layer.op_type.endswith("convolution"):
            return _convolution(layer, shapes[0], self.columns[sources[0]].get("axis", layer.axis))
        return None


def largest(network: Network) -> list[float]:
    """Return the largest size of the numbers of each layer, and of the input as the last: their colours."""
    arrays = [*(layer.output for layer in network.layers), network.x]
    return [0.0 if array is None else float(np.abs(array).max(initial=0.0)) for array in arrays]


def _last(layers: Collection[int]) -> int | None:
    """The latest of the layers whose output an array may be; None if it is a constant."""
    return max(layers, default=None)


def _output(layer: Layer) -> np.ndarray:
    assert layer.output is not None
    return layer.output


def cells_of(array: np.ndarray, axis: int) -> np.ndarray:
    """Return the one image of an array as [rows, columns, channels]; vectors and sequences lack the first."""
    cells = np.moveaxis(array, axis, -1)[0] if array.ndim > 2 else array.reshape(-1)
    if cells.ndim > 3:
        raise ArgumentError(f"a network must have at most two spatial axes to be drawn; got {cells.ndim - 1}")
    return np.ascontiguousarray(cells.reshape((1,) * (3 - cells.ndim) + cells.shape))


def _no_step(layer: Layer) -> None:
    """Any other layer makes a cell from several, or is not known."""


def _clip(layer: Layer) -> dict[str, Any]:
    limits = layer.arguments.get("low", 0.0), layer.arguments.get("high", np.inf)
    low, high = (None if np.isinf(limit) else float(limit) for limit in limits)
    return {"kind": "clip", "low": low, "high": high}


def _leaky(layer: Layer) -> dict[str, Any] | None:
    slope = np.ravel(layer.arguments["slope"])
    return {"kind": "leaky", "slope": float(slope[0])} if slope.size == 1 else None


def _smooth(layer: Layer) -> dict[str, Any] | None:
    function, is_usual = layer.arguments["function"], "alpha" not in layer.arguments
    return {"kind": function} if function in SMOOTH and is_usual else None


def _batch_norm(layer: Layer) -> dict[str, Any]:
    words = {name: value for name, value in layer.arguments.items() if name != "axis"}
    size = layer.inputs[0].shape[layer.axis]
    factor, offset, _ = (np.broadcast_to(part, size) for part in definitions.folded_factors(**words))
    return {"kind": "batch norm", "factor": factor, "offset": offset}


# layers that make each cell from the one in its place, and those that join what has one shape
_STEPS: dict[Any, Callable[[Layer], dict[str, Any] | None]] = {
    definitions.clip: _clip,
    definitions.leaky_relu: _leaky,
    definitions.smooth: _smooth,
    definitions.batch_norm: _batch_norm,
}
_JOINS = ("add", "multiply")  # of several arrays


def _axes(axes: Sequence[AxisGeometry], pads: Sequence[tuple[int, int]] = ()) -> list[AxisGeometry]:
    """Return rows and columns, with a layer's own padding added to that of its window."""
    around = pads or [(0, 0)] * len(axes)
    merged = [
        replace(
            axis,
            in_size=axis.in_size - before - after,
            pad_before=axis.pad_before + before,
            pad_after=axis.pad_after + after,
        )
        for axis, (before, after) in zip(axes, around, strict=True)
    ]
    return [whole(1)] * (2 - len(axes)) + merged


def _integers(axes: Sequence[AxisGeometry]) -> list[list[int]]:
    return [[getattr(axis, name) for name in _INTEGERS] for axis in axes]


def _spatial(layer: Layer) -> list[tuple[int, int]]:
    """The layer's own padding around the axes of its image."""
    pads = [*layer.pads]
    return pads[2:] if layer.axis == 1 else pads[1:-1]


def _pool(layer: Layer, shape: list[int]) -> dict[str, Any] | None:
    assert layer.op is not None
    if layer.pads and layer.op_type == "average pool":
        return None
    drawn = pool_of(layer.op, (layer.around(layer.inputs[0]),), dict(layer.arguments))
    pool = drawn.pool
    axes = _axes(pool.spatial, _spatial(layer))
    if shape != [*(axis.in_size for axis in axes), drawn.call.geometry.in_channels]:
        return None
    divisor = pool.divisor if pool.reduce == "average" else None
    filled = layer.filled if layer.pads and np.isfinite(layer.filled) else None
    return {"kind": f"{pool.reduce} pool", "divisor": divisor, "filled": filled, "axes": _integers(axes)}


def _convolution(layer: Layer, shape: list[int], axis: int) -> dict[str, Any] | None:
    """A convolution, or a dense layer, which is one whose window is its input."""
    assert layer.op is not None
    call, _ = nn_ops.call_of(layer.op, (layer.around(layer.inputs[0]),), dict(layer.arguments))
    geometry, filters, scatters = call.geometry, call.second, call.op.kind.scatters
    if geometry.rank > 2 or (layer.pads and (layer.filled or scatters)):
        return None
    filters = filters.reshape((1,) * (4 - filters.ndim) + filters.shape)
    axes = _axes(geometry.axes, _spatial(layer))
    groups, outs = geometry.groups, geometry.out_channels
    ins = outs if scatters else geometry.in_channels
    if shape != [*(axis.out_size if scatters else axis.in_size for axis in axes), ins]:
        if scatters or filters.shape[:2] != (1, 1) or ins != prod(shape) or groups > 1:
            return None
        rows, cols, channels = shape  # flattened in the order of its framework
        first = axis == 1 and rows * cols > 1
        filters = filters.reshape(channels, rows, cols, outs) if first else filters.reshape(*shape, outs)
        filters = np.moveaxis(filters, 0, 2) if first else filters
        axes = _axes([AxisGeometry(size, size, 1, 1, 1, 0, 0) for size in shape[:2]])
    bias = None if layer.bias is None else np.ravel(layer.bias)
    kind = "transposed convolution" if scatters else "convolution"
    return {"kind": kind, "filters": filters, "bias": bias, "groups": groups, "axes": _integers(axes)}


def packed(value: Any) -> Any:
    """Return a document for JSON, with the bytes of its arrays of floats, little-endian, in base64."""
    if isinstance(value, dict):
        return {name: packed(part) for name, part in value.items()}
    if isinstance(value, list):
        return [packed(part) for part in value]
    if not isinstance(value, np.ndarray):
        return value
    dtype = "float64" if value.dtype == np.float64 else "float32"
    data = np.ascontiguousarray(value, f"<f{8 if dtype == 'float64' else 4}").tobytes()
    return {"dtype": dtype, "shape": list(value.shape), "base64": b64encode(data).decode()}
