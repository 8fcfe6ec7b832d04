"""A call of an op, resolved: arrays as backends have them, and a geometry of integers.

`resolve` is the only way from the arguments of an op to a `Call` (a dialect's function comes by
`dialects.calls.to_call`); what differs between the ops is in their
entries of the table `kinds.OPS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..support import record
from ..support.devices import contiguous
from ..support.errors import ArgumentError
from .arguments import (
    Shape,
    as_array,
    axis_order,
    channels_first,
    channels_last,
    check_alike,
    check_data_format,
    grouped_shape,
    normalize_output_padding,
    normalize_padding,
    normalize_shape,
    normalize_steps,
    other_order,
)
from .geometry import ConvGeometry, ConvTransposeGeometry, forward_geometry, transposed_geometry
from .kinds import FORWARD, CellNames, DepthwiseCells, Kind, Op, layout_of, sibling


@dataclass(slots=True, eq=False)  # frozen would double the time of a small call
class Call:
    """One call of an op, resolved: what a backend is given, and how its result goes back.

    Attributes:
        op: the op, and with it the kind of call: which role each array has.
        first: the backend function's first array: NHWC, or what `layout_of` says for another rank.
        second: its second array, likewise; HWIO for filters.
        geometry: the convolution as integers.
        result_shape: the shape of the result as the caller has it.
        layout: the letters of the result's axes as the caller has them; "HWIO" for a filter gradient. A
            dialect may have them in any order. A depthwise filter is reshaped to ``result_shape``.
        bias: [out_channels], or None.
        title: what a dialect calls the op, or "".
        names: how the caller numbers cells, if not as NHWC and HWIO, or None.
    """

    op: Op
    first: np.ndarray = field(repr=False)
    second: np.ndarray = field(repr=False)
    geometry: ConvGeometry
    result_shape: Shape
    layout: str
    bias: np.ndarray | None = field(default=None, repr=False)
    title: str = ""
    names: CellNames | None = None

    @property
    def kind(self) -> Kind:
        """Which of the three arrays is computed: the backend function."""
        return self.op.kind

    @property
    def backend_shape(self) -> Shape:
        """Shape of the result as a backend returns it, with channels last."""
        return self.geometry.shape_of(self.op.kind.result)

    @property
    def terms(self) -> int:
        """How many terms the longest sum of a cell has, including the bias."""
        return max(1, self.geometry.terms_of(self.op.kind.result) + (self.bias is not None))

    def with_each(self, function: Callable[[np.ndarray], np.ndarray]) -> Call:
        """Return the call with ``function`` applied to each of its arrays."""
        bias = None if self.bias is None else function(self.bias)
        return replace(self, first=function(self.first), second=function(self.second), bias=bias)

    def to_caller(self, result: np.ndarray) -> np.ndarray:
        """Turn a backend's result into the caller's layout."""
        order = axis_order(self.layout)
        if order != _IN_ORDER[len(order)] or not result.flags.c_contiguous:
            result = contiguous(result.transpose(order))
        return result if result.shape == self.result_shape else result.reshape(self.result_shape)

    def from_caller(self, result: np.ndarray) -> np.ndarray:
        """Turn an array in the caller's layout into a backend's: the inverse of `to_caller`."""
        order, shape = axis_order(self.layout), self.backend_shape
        if order == _IN_ORDER[len(order)]:
            return result.reshape(shape)
        return result.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a cell of the array of one role as the caller numbers it."""
        return cell if self.names is None else self.names.name(role, cell)

    def find(self, role: str, cell: Shape) -> Shape:
        """Return the backend's cell: the inverse of `name`."""
        return cell if self.names is None else self.names.find(role, cell)

    def cells_of(self, role: str) -> tuple[Shape, str]:
        """Return shape and axis letters by which the caller numbers the cells of one role."""
        if self.names is None:
            return self.geometry.shape_of(role), layout_of(role, self.geometry.rank)
        return self.names.shape(role), self.names.layout(role)


_IN_ORDER = {axes: tuple(range(axes)) for axes in range(3, 6)}


def resolve(
    op: Op,
    first: Any,
    second: Any,
    bias: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    sizes: Any = None,
    output_padding: Any = None,
) -> Call:
    """Return the call of an op with these arguments: checked, in canonical form, with its geometry.

    Args:
        op: the op.
        first: the first array of the backend's function, as the caller gave it.
        second: the second.
        bias: the bias, or None.
        strides, padding, data_format, dilations, output_padding: as in the op's signature.
        sizes: the argument that says how large the result is, ``op.sizes``, or None.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.
    """
    kind = op.kind
    filters_name = op.sizes if kind.sums_images else "filters"
    with record.stage("normalise arguments") as stage:
        layout, first, second = arranged(op, data_format, first, second)
        shapes = {kind.first: first.shape, kind.second: second.shape}
        asked: Any = None  # the result's shape as the caller gave it
        if sizes is not None or (op.sizes and not op.transposed):
            batch = None if kind.sums_images else len(first)
            asked = normalize_shape(sizes, op.sizes, batch, len(layout) - 2)
            shapes[kind.result] = asked if kind.sums_images else channels_last(asked, layout)
        if op.depthwise:
            try:
                shapes["filters"] = grouped_shape(shapes["filters"], shapes["input"][-1], filters_name)
            except ArgumentError as error:
                _say_other_order(error, op, layout, first, second)
                raise
            if kind.second == "filters":
                second = second.reshape(shapes["filters"])
        extra = None if output_padding is None else normalize_output_padding(output_padding, layout)
        steps = normalize_steps(strides, "strides", layout)
        pads = normalize_padding(padding, layout, causal=True)
        spread = normalize_steps(dilations, "dilations", layout)
        stage.arrays(**{op.words[kind.first]: first, op.words[kind.second]: second})
    with record.stage("resolve geometry") as stage:
        try:
            if op.transposed:
                sides = shapes["output"], shapes["filters"]
                geometry = transposed_geometry(*sides, shapes.get("input"), steps, pads, spread, extra)
                stage.say("{}", ConvTransposeGeometry(geometry))
            else:
                sides = shapes["input"], shapes["filters"]
                geometry = forward_geometry(*sides, steps, pads, spread, filters_name)
                stage.say("{}", geometry)
        except ArgumentError as error:
            _say_other_order(error, op, layout, first, second)
            raise
    if op.is_gradient and shapes["output"] != geometry.output_shape:
        want, got = geometry.output_shape, shapes["output"]
        if layout[-1] != "C":
            want, got = channels_first(want), channels_first(got)
        of = sibling(op, FORWARD)
        raise ArgumentError(
            f"out_backprop must have shape {list(want)}, that of {of}'s output; got {list(got)}"
        )
    shape, letters = geometry.shape_of(kind.result), layout
    if kind.sums_images:
        shape, letters = asked, layout_of("filters", geometry.rank)
    elif layout[-1] != "C":
        shape = channels_first(shape)
    names = DepthwiseCells.of(geometry) if op.depthwise else None
    call = Call(op, first, second, geometry, shape, letters, names=names)
    return call if bias is None else replace(call, bias=checked_bias(bias, call))


def _say_other_order(
    error: ArgumentError, op: Op, layout: str, first: np.ndarray, second: np.ndarray
) -> None:
    """Add to an error that the image seems to have the other order of axes, if it does."""
    if op.kind.second == "filters":
        shape = first.shape if layout[-1] == "C" else channels_first(first.shape)
        channels = second.shape[-2 if op.kind.first == "input" else -1]
        error.args = (f"{error}{other_order(shape, layout, channels, 'data_format=')}",)


def arranged(op: Op, data_format: Any, first: Any, second: Any) -> tuple[str, np.ndarray, np.ndarray]:
    """Return layout and arrays of a call, checked; activations with channels last, filters as they are."""
    kind, rank = op.kind, op.rank
    named = [(op.words[kind.first], first), (op.words[kind.second], second)]
    if op.is_gradient and kind.scatters:
        named.reverse()  # the order of the op's signature
    if rank is None:
        name, head = named[0]
        rank = as_array(head, name, (3, 4, 5)).ndim - 2
        data_format = layout_of("input", rank) if data_format is None else data_format
    check_data_format(data_format, rank)
    arrays = {name: as_array(value, name, rank + 2) for name, value in named}
    check_alike(arrays)
    first, second = arrays[op.words[kind.first]], arrays[op.words[kind.second]]
    if data_format[-1] != "C":
        order = channels_last(tuple(range(rank + 2)), data_format)
        first = first.transpose(order)
        second = second if kind.second == "filters" else second.transpose(order)
    return data_format, first, second


def checked_bias(bias: Any, call: Call) -> np.ndarray:
    """Return the bias as an array; raise unless it fits a call's arrays and output channels."""
    array = as_array(bias, "bias", ndim=1)
    check_alike({"input": call.first, "filters": call.second, "bias": array})
    channels = call.backend_shape[-1]
    if len(array) != channels:
        raise ArgumentError(
            f"bias must have {channels} elements, one for each output channel; got {len(array)}"
        )
    return array
