"""ONNX's convolutions of integers: the sums are exact, then they are rounded as the file says.

ConvInteger gives the sums of (x - x_zero_point)·(w - w_zero_point) in int32. QLinearConv rescales them by the
scheme "onnx" of `teachconv.quantized`, as onnxruntime does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..dialects import onnx as dialect
from ..inspection.explaining import Explanation, explain
from ..quantized.calls import rescaling_of
from ..quantized.schemes import SCHEMES, Rescaling, by_float32
from ..support import tables
from ..support.errors import ArgumentError, ArgumentTypeError, brief

PLACES = {"ConvInteger": (0, 1), "QLinearConv": (0, 3, 8)}  # of x, w and the bias among a node's inputs


@dataclass(frozen=True, eq=False)
class QuantizedConv:
    """A convolution of integers, as a function of x.

    Attributes:
        op_type: "ConvInteger" or "QLinearConv".
        filters: [out, in / group, rows, cols], int32, without their zero points.
        bias: [out], int32; or None.
        x_zero_point: the integer that stands for 0 in x, and with which x is padded.
        rescaling: what the sums of each filter are multiplied by; None if they are the result.
        y_zero_point: what is added to the rounded products.
        dtype: of the result.
        attributes: those of Conv.
    """

    op_type: str
    filters: np.ndarray
    bias: np.ndarray | None
    x_zero_point: int
    rescaling: Rescaling | None
    y_zero_point: int
    dtype: np.dtype[Any]
    attributes: Mapping[str, Any]

    def sums(self, x: np.ndarray) -> np.ndarray:
        """Return the exact sums with the bias, in int32."""
        return dialect.conv(*self._integers(x), **self.attributes)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return the result for x, int8 or uint8 [batch, channels, rows, cols]."""
        sums = self.sums(x)
        if self.rescaling is None:
            return sums
        limits = np.iinfo(self.dtype)
        *_, (_, rescaled) = by_float32(np.moveaxis(sums, 1, -1), self.rescaling)
        y = np.clip(rescaled + self.y_zero_point, limits.min, limits.max).astype(self.dtype)
        return np.moveaxis(y, -1, 1)

    def explain(self, x: np.ndarray, at: Sequence[int]) -> QuantizedExplanation:
        """Explain one cell: its taps without zero points, the sum, the scale, and the rounded value.

        Args:
            x: the input.
            at: (n, channel, row, col), or as many places as the axes have.
        """
        found = explain(dialect.conv, *self._integers(x), at=at, **self.attributes)
        return QuantizedExplanation(self(x)[found.cell].item(), found, self)

    def _integers(self, x: Any) -> tuple[Any, ...]:
        """Return what is convolved, in int32: x and the filters without their zero points, and the bias."""
        if getattr(x, "dtype", None) not in (np.int8, np.uint8):
            raise ArgumentTypeError(f"x must be an array of int8 or uint8; got {brief(x)}")
        return x.astype(np.int32) - np.int32(self.x_zero_point), self.filters, self.bias


@dataclass(frozen=True, eq=False, repr=False)
class QuantizedExplanation(tables.Report):
    """The explanation of one cell of a convolution of integers.

    Attributes:
        value: the cell's value.
        sum: the explanation of the integer sum, of numbers without their zero points.
        conv: the convolution.
    """

    value: int
    sum: Explanation
    conv: QuantizedConv

    def _headline(self) -> str:
        return f"{self.conv.op_type}: output{list(self.sum.cell)} = {self.value}, by the sum {self.sum.value}"

    def _table(self) -> tables.Table:
        conv, total, inner = self.conv, self.sum.value, self.sum._table()
        notes = [f"input values are less the zero point {conv.x_zero_point}, and filter values less theirs"]
        if conv.rescaling is not None:
            r, zero = conv.rescaling.of_channel(self.sum.cell[1]), conv.y_zero_point
            _, (_, scaled), (how, rounded) = by_float32(total, r)
            whole = int(rounded)
            notes += [
                f"{total} · {r.factor:g} = {scaled:g}; {how}: {whole}",
                f"{whole} + zero point {zero} = {whole + zero}, in {conv.dtype} {self.value}",
            ]
        return replace(inner, caption=self._headline(), notes=[*inner.notes, *notes])


def quantized(op_type: str, operands: Sequence[Any], attributes: Mapping[str, Any]) -> QuantizedConv:
    """Return the convolution of a node.

    Args:
        op_type: "ConvInteger" or "QLinearConv".
        operands: the node's inputs; the first is ignored, and omitted ones are None.
        attributes: the node's attributes.

    Raises:
        ValueError, TypeError: if a scale or zero point is not valid; the message names it.
    """
    given = dict(zip(_INPUTS[op_type].split(), operands, strict=False))
    filters = np.asarray(given["w"])

    def number(name: str, several: bool = False) -> np.ndarray:
        """Return a scale or a zero point, for each filter or one for all."""
        is_scale, found = name.endswith("scale"), given.get(name)
        value = np.asarray(np.uint8(0) if found is None else found)
        fits = value.size in {1, len(filters) * several} and value.dtype.kind in ("f" if is_scale else "iu")
        if not fits or is_scale and not 0 < value.min() <= value.max() < np.inf:
            words = ("a positive number" if is_scale else "an integer") + ", or one for each filter" * several
            raise ArgumentError(f"{name} must be {words}; got {brief(found)}")
        return value.reshape(-1, *[1] * (filters.ndim - 1))

    filters = filters.astype(np.int32) - number("w_zero_point", True).astype(np.int32)
    rescaling, zero = None, np.int32(0)
    if op_type == "QLinearConv":
        scales = number("x_scale").ravel(), number("w_scale", True).ravel(), number("y_scale").ravel()
        rescaling = rescaling_of(SCHEMES["onnx"], scales, None, False, len(filters))
        zero = number("y_zero_point").ravel()[0]
    facts = filters, given.get("B"), number("x_zero_point").item(), rescaling, int(zero), zero.dtype
    return QuantizedConv(op_type, *facts, dict(attributes))


_INPUTS = {
    "ConvInteger": "x w x_zero_point w_zero_point",
    "QLinearConv": "x x_scale x_zero_point w w_scale w_zero_point y_scale y_zero_point B",
}


def constants(graph: Any) -> dict[str, np.ndarray]:
    """Return the initializers of a graph, and the values of its Constant nodes, by name."""
    from onnx import numpy_helper

    found = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            found[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
    return found


def fused(model: Any) -> Any:
    """Return a model with QLinearConv in place of each DequantizeLinear, Conv, QuantizeLinear.

    onnxruntime fuses the three in the same way, so that integers are summed; with them a Relu or Clip before
    QuantizeLinear that changes no number which the integers can stand for. They stay unfused if another node
    takes the Conv's result, a zero point is missing, the bias is not int32 or has another scale than the
    products, or onnxruntime's QLinearConv does not have it: other types, scales of blocks.
    """
    known = constants(model.graph)
    nodes, dropped = list(model.graph.node), []
    makers = {name: node for node in nodes for name in node.output}
    taken = [name for node in nodes for name in node.input] + [out.name for out in model.graph.output]
    for at, last in enumerate(nodes):
        conv: Any = makers.get("".join(last.input[:1]))
        between = [conv] * (getattr(conv, "op_type", "") in ("Relu", "Clip"))
        for clamp in between:
            conv = makers.get(clamp.input[0])
        if (last.op_type, getattr(conv, "op_type", "")) != ("QuantizeLinear", "Conv"):
            continue
        parts = [makers.get(name) for name in conv.input]
        x, w, *bias = ([*part.input] if part and part.op_type == "DequantizeLinear" else [] for part in parts)
        if not all((x, w, *bias)) or any(taken.count(each.output[0]) > 1 for each in (conv, *between)):
            continue
        if len(operands := [*x, *w, *last.input[1:], *(each[0] for each in bias)]) != 8 + len(bias):
            continue
        scales: list[Any] = [known.get(each[1]) for each in (x, w, last.input, *bias)]
        x_scale, w_scale, y_scale, *b_scale = scales
        zeros: list[Any] = [known.get(each[2]) for each in (x, w, last.input)]
        fits = all(scale is not None and scale.dtype == np.float32 and scale.ndim < 2 for scale in scales)
        fits = fits and all(zero is not None for zero in zeros)
        fits = fits and (zeros[0].dtype.name, zeros[1].dtype.name) in SCHEMES["onnx"].types
        fits = fits and zeros[0].dtype == zeros[2].dtype
        fits = fits and x_scale.size == y_scale.size == 1 and (w_scale.size == 1 or _axis(parts[1]) == 0)
        if not fits or any((x_scale * w_scale != scale).any() for scale in b_scale):
            continue
        if any(np.any(known.get(name, 1)) for each in bias for name in each[2:]):
            continue
        if any(each[0] in known and known[each[0]].dtype != np.int32 for each in bias):
            continue
        if not all(_is_implied(clamp, known, y_scale, zeros[2]) for clamp in between):
            continue
        made = deepcopy(conv)
        made.op_type, made.name = "QLinearConv", conv.name or conv.output[0]
        made.input[:], made.output[:] = operands, last.output[:]
        dropped += [conv, *between]
        nodes[at] = made
    whole = deepcopy(model)
    del whole.graph.node[:]
    whole.graph.node.extend(node for node in nodes if not any(node is other for other in dropped))
    return whole


def _is_implied(clamp: Any, known: Mapping[str, np.ndarray], scale: np.ndarray, zero: np.ndarray) -> bool:
    """Return whether a Relu or Clip changes none of the numbers that quantized integers can stand for."""
    names = [*clamp.input[1:], "", ""][:2]
    if clamp.attribute or any(name and name not in known for name in names):
        return False
    usual = 0.0 if clamp.op_type == "Relu" else -np.inf, np.inf
    low, high = (known[name] if name else end for name, end in zip(names, usual, strict=True))
    limits = np.iinfo(zero.dtype)
    least, most = (np.float32(limit - int(zero.item())) * scale for limit in (limits.min, limits.max))
    return bool(low <= least and most <= high)


def _axis(node: Any) -> int:
    """Return the axis along which a node has its scales."""
    return next((item.i for item in node.attribute if item.name == "axis"), 1)
