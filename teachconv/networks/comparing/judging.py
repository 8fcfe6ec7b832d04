"""Is a result what a layer computes from its input? Judged by the bounds of `teachconv.truth`.

The result is compared with that in float64, whose own error is added to the bound: the reference would take
minutes for a network. Where a sum fails, the usual mistakes are looked for as `teachconv.diff` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...core.calls import Call
from ...core.dtypes import float_format
from ...quantized.calls import OPS
from ...quantized.explaining import is_quantized
from ...running import nn_ops
from ...support.errors import is_one_of, plain
from ...truth.exact import float64_result
from ...verification.diffing import WideTruth, diff
from ...verification.reports import DiffRow
from ...windows.calls import FUNCTIONS as WINDOWS
from ...windows.normalization import of_filters
from .. import definitions
from ..reading import Layer

FOLDING = 8  # roundings of each weight that batch normalisation is folded into, by whoever did it


def judge(layer: Layer, inputs: Sequence[np.ndarray], got: np.ndarray) -> DiffRow:
    """Judge a result by what a layer computes from an input.

    Args:
        layer: the layer, which has an op.
        inputs: as the layer takes them.
        got: as the layer returns it.

    Returns:
        A row as of `teachconv.diff`; ``passed`` is None where the layer refuses the input, and the note
        then says why.
    """
    assert layer.op is not None
    with np.errstate(all="ignore"):
        try:
            x = layer.around(inputs[0])
            if is_one_of(layer.op, WINDOWS):
                return diff(layer.op, x, **layer.arguments, against={layer.name: got}).rows[0]
            if is_quantized(layer.op) or layer.op.__module__ == definitions.__name__:
                made = layer.op(x, *inputs[1:], **layer.arguments)
                made = definitions.Defined(made) if is_quantized(layer.op) else made
                row = definitions.judged(layer.name, got, made, got.dtype)
                if row.passed or layer.op.__name__ not in OPS or got.shape != made.value.shape:
                    return row
                return diff(layer.op, x, **layer.arguments, backends=[], against={layer.name: got}).rows[0]
            return judged_call(call_of(layer, x), layer, got)
        except (TypeError, ValueError, IndexError) as error:
            return DiffRow(layer.name, "", None, note=plain(error))


def judged_call(call: Call, layer: Layer, got: np.ndarray) -> DiffRow:
    """Judge a result by a call, as that of a layer, whose weights may have batch normalisation folded in."""
    return _Exact(call, layer).row(layer.name, "", got)


def exact(layer: Layer, inputs: Sequence[np.ndarray]) -> np.ndarray:
    """Return what a layer computes from an input, rounded from float64, as the layer returns it."""
    assert layer.op is not None
    x = layer.around(inputs[0])
    if is_one_of(layer.op, WINDOWS) or is_quantized(layer.op):
        return np.asarray(layer.op(x, **layer.arguments))
    if layer.op.__module__ == definitions.__name__:
        dtype = x.dtype if layer.output is None else layer.output.dtype
        return np.asarray(layer.op(x, *inputs[1:], **layer.arguments).value.astype(dtype))
    call = call_of(layer, x)
    return call.to_caller(float64_result(call).astype(x.dtype))


def call_of(layer: Layer, x: np.ndarray) -> Call:
    """Return the call of a convolution, batch normalisation folded into its weights."""
    assert layer.op is not None
    call, _ = nn_ops.call_of(layer.op, (x,), dict(layer.arguments))
    bias = layer.bias
    if layer.scale is not None:
        factor, offset, _ = layer.scale
        ins, groups = call.second.shape[-1], call.geometry.groups
        wide = factor if call.op.kind.gathers else of_filters(factor, ins, groups).T
        call = replace(call, second=(call.second * wide).astype(call.second.dtype))
        bias = offset if bias is None else bias * factor + offset
    return call if bias is None else replace(call, bias=np.asarray(bias, call.first.dtype).ravel())


def folded(layer: Layer, norm: Layer) -> Layer:
    """Return a convolution that does what it did together with the batch normalisation behind it."""
    given, output = {name: value for name, value in norm.arguments.items() if name != "axis"}, norm.output
    factor, offset, moved = definitions.folded_factors(**given)
    if output is not None and layer.output is not None:
        output = output.reshape(layer.output.shape)
    scale = factor, offset, moved + (0 if layer.bias is None else np.abs(layer.bias * factor))
    name = f"{layer.name} + {norm.name}"
    return replace(layer, name=name, scale=scale, output=output, call=norm.call)


def relayout(array: np.ndarray, axis: int, to: int, rank: int) -> np.ndarray:
    """Return an array with its channels in another axis, and with axes of size 1 added or left out.

    Args:
        array: the array.
        axis: of its channels, 1 or -1.
        to: where they are wanted.
        rank: how many axes are wanted.
    """
    if array.ndim < 2:
        return array
    found = np.moveaxis(array, axis, -1)
    inner = [size for size in found.shape[1:-1] if size != 1]
    if found.ndim != rank and len(inner) <= rank - 2:
        found = found.reshape(len(found), *(1,) * (rank - 2 - len(inner)), *inner, found.shape[-1])
    return np.ascontiguousarray(np.moveaxis(found, -1, to))


def of_shape(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return an array whose layout is not known with its channels where that gives a shape, else as it is."""
    inner = min(1, array.ndim - 1)
    ways = array, np.moveaxis(array, -1, inner), np.moveaxis(array, inner, -1)
    return next((way for way in ways if way.shape == shape), array)


class _Exact(WideTruth):
    """What is known of a layer's convolution, whose weights may have batch normalisation folded in."""

    _plain = 0.0  # the plain loops, which show what is odd about a right result, would take as long again

    def __init__(self, call: Call, layer: Layer) -> None:
        super().__init__(call)
        self._scale = layer.scale

    def bound(self, error: str, declared: bool = False) -> np.ndarray:
        """The bound of the sum, and of weights that were folded."""
        own, dtype = super().bound(error, declared), self.call.first.dtype
        if self._scale is None:
            return own
        return own + FOLDING * float_format(dtype).unit_roundoff * (self.abs_sum + self._scale[2])
