"""Resolvers for teachconv's own ops, which make them known to `resolve` and `translate`.

The functions themselves are `teachconv.conv2d` and its relatives, which take TensorFlow's arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.arguments import Shape, check_data_format, check_elements, shape_only
from ..core.geometry import Conv2DGeometry, conv2d_geometry, conv2d_transpose_geometry
from ..core.kinds import OPS, Op, layout_of
from ..running import nn_ops
from .calls import ConvCall, Operand, check_bias, dialect_function

__all__: list[str] = []


def _plain(geometry: Conv2DGeometry) -> Conv2DGeometry:
    """Return the geometry with the channels last, as backends see it."""
    return replace(geometry, data_format=layout_of("input", len(geometry.axes)))


def _conv2d(
    input: Shape,
    filters: Shape,
    bias: Shape | None,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    **_: Any,
) -> ConvCall:
    """Resolve a call of conv2d."""
    layout = check_data_format(data_format)
    geometry = _plain(conv2d_geometry(input, filters, strides, padding, data_format, dilations))
    check_bias(bias, geometry.out_channels)
    return ConvCall(
        "tensorflow.conv2d", OPS["conv2d"], geometry, layout, "HWIO", layout, bias=bias is not None
    )


def _transpose(
    input: Shape,
    filters: Shape,
    bias: Shape | None,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    output_padding: Any,
    **_: Any,
) -> ConvCall:
    """Resolve a call of conv2d_transpose."""
    layout = check_data_format(data_format)
    geometry = conv2d_transpose_geometry(
        input, filters, output_shape, strides, padding, data_format, dilations, output_padding=output_padding
    ).forward
    check_bias(bias, geometry.in_channels)
    return ConvCall(
        "tensorflow.conv2d_transpose",
        OPS["conv2d_transpose"],
        _plain(geometry),
        layout,
        "HWOI",
        layout,
        bias=bias is not None,
    )


def _resolver_of(op: Op, function: Callable[..., Any]) -> Callable[..., ConvCall]:
    """Return the resolver of an op: its call with arrays that have shapes and no values."""

    def resolved(**arguments: Any) -> ConvCall:
        given = nn_ops.without_options(arguments)
        for name in op.arrays:
            if (shape := given.get(name)) is not None:
                check_elements(shape, name)
                given[name] = shape_only(shape, np.float32)
        call, _ = nn_ops.call_of(function, (), given)
        layout = given["data_format"] or call.layout
        letters = layout_of("filters", call.geometry.rank)
        letters = letters.replace("IO", "IM" if op.depthwise else "OI" if op.transposed else "IO")
        bias = given.get("bias") is not None
        return ConvCall(
            f"tensorflow.{op.name}", op, _plain(call.geometry), layout, letters, layout, bias=bias
        )

    return resolved


# the pages have these as JavaScript
_WRITTEN: dict[str, Callable[..., ConvCall]] = {"conv2d": _conv2d, "conv2d_transpose": _transpose}

for _op in OPS.values():
    _function = nn_ops.FUNCTIONS[_op]
    _ranks = (_op.rank + 2,) if _op.rank else (3, 4, 5)
    _operands = (Operand(_name, _name, ranks=_ranks) for _name in _op.arrays)
    _resolver = _WRITTEN.get(_op.name) or _resolver_of(_op, _function)
    dialect_function(f"tensorflow.{_op.name}", _resolver, *_operands, is_op=False)(_function)
