"""A dialect's call as a call of teachconv's own op, on arrays that a library of arrays works with.

A library that records what is done with its arrays, or delays it, gives its own functions to permute axes;
around the op nothing else is done. It differentiates the permutations, and `gradient_rules` the op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from ..core.arguments import as_array, check_alike, shape_only
from ..core.kinds import layout_of
from ..dialects.calls import FUNCTIONS, ConvCall, Operand
from ..running import nn_ops
from ..support import record
from ..support.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class OwnCall:
    """A dialect's call in teachconv's words.

    Attributes:
        op: teachconv's op.
        arguments: its arguments by name, the arrays permuted to its order.
        conv: the dialect's call.
        permute: the library's function of an array and the order of its axes.
    """

    op: Callable[..., Any]
    arguments: Mapping[str, Any]
    conv: ConvCall
    permute: Callable[..., Any]

    def to_theirs(self, result: Any) -> Any:
        """Return the op's result in the dialect's order of axes."""
        role = self.conv.kind.result
        if role == "filters":
            return _permuted(result, np.argsort(self.conv.filter_permutation), self.permute)
        layout, ours = self.conv.layout(role), _data_format(self.conv)
        if "N" not in layout:
            result, ours = result[0], ours[1:]
        return _permuted(result, [ours.index(letter) for letter in layout], self.permute)


def run(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    convert: Callable[[Any, str], Any],
    permute: Callable[..., Any],
    flip: Callable[..., Any],
) -> Any:
    """Run a dialect's function by functions that a library records.

    Args:
        function, arguments, convert, permute, flip: as in `own_call`.

    Returns:
        The result, an array of the library.

    Raises:
        ValueError, TypeError: as the function; if it needs more than a permutation, as some calls of JAX do.
    """
    own = own_call(function, arguments, convert, permute, flip)
    return own.to_theirs(own.op(**own.arguments))


def own_call(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    convert: Callable[[Any, str], Any],
    permute: Callable[..., Any],
    flip: Callable[..., Any],
) -> OwnCall:
    """Return the call of teachconv's op that a call of a dialect's function comes to.

    Args:
        function: the dialect's function.
        arguments: its arguments by name.
        convert: makes an argument an array of the library, given its name for messages.
        permute: the library's function of an array and the order of its axes.
        flip: the library's function of an array and the axes to reverse.

    Returns:
        The call.

    Raises:
        ValueError, TypeError: as the function; if it needs more than a permutation, as some calls of JAX do.
    """
    entry = FUNCTIONS[function]
    given = {name: arguments[name] for name in signature(function).parameters}
    backend = given.pop("backend")
    arrays = {
        operand.name: convert(given[operand.name], operand.name)
        for operand in entry.operands
        if given[operand.name] is not None
    }
    blanks = {op.name: _blank(arrays[op.name], op) for op in entry.operands if op.name in arrays}
    check_alike(blanks)
    shapes = {name: blank.shape for name, blank in blanks.items()}
    with record.stage(f"resolve {entry.name}") as stage:
        conv = entry.resolve(given | shapes)
        stage.say("{}", conv)
    if conv.regroup or conv.has_gaps or conv.batch_groups > 1:
        raise ArgumentError(
            f"{conv.function} takes no recorded or lazy arrays with batch_group_count, or with strides or "
            "groups beside lhs_dilation: call teachconv's own op"
        )
    operands = {op.role: arrays[op.name] for op in entry.operands if op.name in arrays}
    own = _own_arguments(conv, operands, permute)
    if conv.flip:
        own["filters"] = flip(own["filters"], tuple(range(conv.geometry.rank)))
    return OwnCall(nn_ops.FUNCTIONS[conv.op], own | {"backend": backend}, conv, permute)


def _blank(array: Any, operand: Operand) -> np.ndarray:
    """Return the stand-in for an array argument; raise if the number of axes is not allowed.

    A library's own dtypes are left to the op: all arrays with one become float32.
    """
    dtype = array.dtype if isinstance(array.dtype, np.dtype) else np.float32
    ranks = 1 if operand.role == "bias" else operand.ranks
    return as_array(shape_only(tuple(array.shape), dtype), operand.name, ranks, operand.axes)


def _data_format(conv: ConvCall) -> str:
    """Return the layout in which the op takes the images: the dialect's own, where it is one of the op's."""
    layouts = {
        layout if "N" in layout else f"N{layout}" for layout in (conv.input_layout, conv.output_layout)
    }
    last = conv.geometry.data_format
    first = f"NC{last[1:-1]}"
    return first if layouts == {first} else last


def _own_arguments(conv: ConvCall, arrays: Mapping[str, Any], permute: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of teachconv's op: the arrays in its order, and the geometry as integers."""
    g, result = conv.geometry, conv.kind.result
    own: dict[str, Any] = {
        "strides": g.strides,
        "dilations": g.dilations,
        "padding": g.padding,
        "data_format": _data_format(conv),
    }
    if conv.op.sizes:
        sizes = dict(zip(layout_of(result, g.rank), g.shape_of(result), strict=True))
        order = sizes if result == "filters" else own["data_format"]
        own[conv.op.sizes] = tuple(sizes[letter] for letter in order)
    roles = {word: role for role, word in conv.op.words.items()}
    for word, array in arrays.items():
        own[word] = array if word == "bias" else _in_our_order(conv, roles[word], array, permute)
    return own


def _in_our_order(conv: ConvCall, role: str, array: Any, permute: Callable[..., Any]) -> Any:
    """Return an array of one role in the order of the op's."""
    if role == "filters":
        return _permuted(array, conv.filter_permutation, permute)
    layout = conv.layout(role)
    if "N" not in layout:
        array, layout = array[None], "N" + layout
    return _permuted(array, [layout.index(letter) for letter in _data_format(conv)], permute)


def _permuted(array: Any, order: Any, permute: Callable[..., Any]) -> Any:
    """Return an array with its axes in a different order, or itself if they are in that order already."""
    axes = tuple(int(axis) for axis in order)
    return array if axes == tuple(range(len(axes))) else permute(array, axes)
