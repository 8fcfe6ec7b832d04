"""A dialect's call on arrays that their library records: teachconv's own op between two permutations.

The library differentiates the permutations, and `gradient_rules` the op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import nn_ops
from ..dialects.calls import FUNCTIONS, ConvCall
from ..errors import ArgumentError
from .shapes import arguments_of

__all__ = ["run"]


def run(
    function: Callable[..., Any],
    arguments: Mapping[str, Any],
    convert: Callable[[Any, str], Any],
    permute: Callable[..., Any],
    flip: Callable[..., Any],
) -> Any:
    """Run a dialect's function by functions that a library records.

    Args:
        function: the dialect's function.
        arguments: its arguments by name.
        convert: makes an argument an array of the library, given its name for messages.
        permute: the library's function of an array and the order of its axes.
        flip: the library's function of an array and the axes to reverse.

    Returns:
        The result, an array of the library.

    Raises:
        ValueError, TypeError: as the function; if it needs more than a permutation, as some calls of JAX do.
    """
    entry, given = FUNCTIONS[function], arguments_of(function, arguments)
    backend = given.pop("backend")
    arrays = {
        operand.name: convert(given[operand.name], operand.name)
        for operand in entry.operands
        if given[operand.name] is not None
    }
    conv = entry.resolver(**given | {name: tuple(array.shape) for name, array in arrays.items()})
    if conv.regroup or conv.stuffing != (1, 1) or conv.batch_groups > 1:
        raise ArgumentError(
            f"{conv.function} has no derivative here with lhs_dilation, batch_group_count or groups of a "
            "transposed filter: call teachconv's own op"
        )
    own = _own_arguments(
        conv, {op.role: arrays[op.name] for op in entry.operands if op.name in arrays}, permute
    )
    if conv.flip:
        own["filters"] = flip(own["filters"], (0, 1))
    result = getattr(nn_ops, conv.op.name)(**own, backend=backend)
    role = conv.kind.result
    if role == "filters":
        return permute(result, tuple(int(axis) for axis in np.argsort(conv.filter_permutation)))
    layout = conv.layout(role)
    if "N" not in layout:
        result, order = result[0], "HWC"
    else:
        order = "NHWC"
    return permute(result, tuple(order.index(letter) for letter in layout))


def _own_arguments(conv: ConvCall, arrays: Mapping[str, Any], permute: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of teachconv's op: the arrays as NHWC and HWIO, and the geometry as integers."""
    rows, cols = conv.geometry.rows, conv.geometry.cols
    own: dict[str, Any] = {
        "strides": (rows.stride, cols.stride),
        "dilations": (rows.dilation, cols.dilation),
        "padding": ((rows.pad_before, rows.pad_after), (cols.pad_before, cols.pad_after)),
    }
    if conv.op.sizes:
        own[conv.op.sizes] = conv.geometry.shape_of(conv.kind.result)
    roles = {word: role for role, word in conv.op.words.items()}
    for word, array in arrays.items():
        if word == "bias":
            own[word] = array
        elif word == "filters":
            own[word] = permute(array, conv.filter_permutation)
        else:
            layout = conv.layout(roles[word])
            if "N" not in layout:
                array, layout = array[None], "N" + layout
            own[word] = permute(array, tuple(layout.index(letter) for letter in "NHWC"))
    return own
