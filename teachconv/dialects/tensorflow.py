"""Resolvers for teachconv's own ops, which make them known to `resolve` and `translate`.

The functions themselves are `teachconv.conv2d` and its relatives, which take TensorFlow's arguments.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import nn_ops
from ..arguments import Shape, channels_last, check_data_format, normalize_shape
from ..errors import ArgumentError
from ..geometry import Conv2DGeometry, conv2d_geometry, conv2d_transpose_geometry
from ..kinds import OPS, Op
from .calls import ConvCall, Operand, check_bias, dialect_function

__all__: list[str] = []

_INPUT = Operand("input", "input")
_FILTERS = Operand("filters", "filters")
_DY = Operand("out_backprop", "out_backprop")
_BIAS = Operand("bias", "bias")


def _plain(geometry: Conv2DGeometry) -> Conv2DGeometry:
    """Return the geometry in NHWC, as backends see it."""
    return replace(geometry, data_format="")


def _conv2d(
    input: Shape,
    filters: Shape,
    bias: Shape | None,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    op: Op = OPS["conv2d"],
    letters: str = "HWIO",
    **_: Any,
) -> ConvCall:
    """Resolve a call of conv2d, or of an op with the same geometry."""
    layout = check_data_format(data_format)
    geometry = _plain(conv2d_geometry(input, filters, strides, padding, data_format, dilations))
    check_bias(bias, geometry.out_channels)
    return ConvCall(f"tensorflow.{op.name}", op, geometry, layout, letters, layout, bias=bias is not None)


def _grouped(filters: Shape, channels: int) -> Shape:
    """Return the shape of a depthwise filter as that of a conv2d with one group for each input channel."""
    if len(filters) != 4 or filters[2] != channels:
        raise ArgumentError(
            f"filters must be [filter_rows, filter_cols, {channels}, channel_multiplier]; got {list(filters)}"
        )
    rows, cols, _, multiplier = filters
    return rows, cols, min(1, channels), channels * multiplier


def _depthwise(input: Shape, filters: Shape, data_format: Any, **arguments: Any) -> ConvCall:
    """Return the call of depthwise_conv2d: a conv2d with one group for each input channel."""
    grouped = _grouped(filters, channels_last(input, check_data_format(data_format))[3])
    return _conv2d(
        input, grouped, data_format=data_format, op=OPS["depthwise_conv2d"], letters="HWIM", **arguments
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


def _gradient(
    op: str, input: Any, filters: Any, out_backprop: Shape, data_format: Any, **facts: Any
) -> ConvCall:
    """Return the call of a gradient, whose geometry is that of the forward convolution."""
    conv = _conv2d(input, filters, None, data_format=data_format, op=OPS[op], **facts)
    if conv.output_shape != tuple(out_backprop):
        raise ArgumentError(
            f"out_backprop must have shape {list(conv.output_shape)}, that of conv2d's output; "
            f"got {list(out_backprop)}"
        )
    return conv


def _backprop_input(input_sizes: Any, out_backprop: Shape, **arguments: Any) -> ConvCall:
    """Resolve a call of conv2d_backprop_input."""
    sizes = normalize_shape(input_sizes, "input_sizes", out_backprop[0])
    return _gradient("conv2d_backprop_input", sizes, out_backprop=out_backprop, **arguments)


def _backprop_filter(filter_sizes: Any, **arguments: Any) -> ConvCall:
    """Resolve a call of conv2d_backprop_filter."""
    filters = normalize_shape(filter_sizes, "filter_sizes")
    return _gradient("conv2d_backprop_filter", filters=filters, **arguments)


def _depthwise_backprop_input(
    input_sizes: Any, filters: Shape, out_backprop: Shape, data_format: Any, **arguments: Any
) -> ConvCall:
    """Resolve a call of depthwise_conv2d_backprop_input."""
    sizes = normalize_shape(input_sizes, "input_sizes", out_backprop[0])
    grouped = _grouped(filters, channels_last(sizes, check_data_format(data_format))[3])
    facts = {"data_format": data_format, "letters": "HWIM", **arguments}
    return _gradient("depthwise_conv2d_backprop_input", sizes, grouped, out_backprop, **facts)


def _depthwise_backprop_filter(
    input: Shape, filter_sizes: Any, data_format: Any, **arguments: Any
) -> ConvCall:
    """Resolve a call of depthwise_conv2d_backprop_filter."""
    filters = normalize_shape(filter_sizes, "filter_sizes")
    grouped = _grouped(filters, channels_last(input, check_data_format(data_format))[3])
    facts = {"data_format": data_format, "letters": "HWIM", **arguments}
    return _gradient("depthwise_conv2d_backprop_filter", input, grouped, **facts)


def _enter(name: str, resolver: Any, function: Any, *operands: Operand) -> None:
    """Register one of teachconv's ops as a function of the dialect "tensorflow"."""
    dialect_function(f"tensorflow.{name}", resolver, *operands, is_op=False)(function)


_enter("conv2d", _conv2d, nn_ops.conv2d, _INPUT, _FILTERS, _BIAS)
_enter("depthwise_conv2d", _depthwise, nn_ops.depthwise_conv2d, _INPUT, _FILTERS, _BIAS)
_enter("conv2d_transpose", _transpose, nn_ops.conv2d_transpose, _INPUT, _FILTERS, _BIAS)
_enter("conv2d_backprop_input", _backprop_input, nn_ops.conv2d_backprop_input, _FILTERS, _DY)
_enter("conv2d_backprop_filter", _backprop_filter, nn_ops.conv2d_backprop_filter, _INPUT, _DY)
_enter(
    "depthwise_conv2d_backprop_input",
    _depthwise_backprop_input,
    nn_ops.depthwise_conv2d_backprop_input,
    _FILTERS,
    _DY,
)
_enter(
    "depthwise_conv2d_backprop_filter",
    _depthwise_backprop_filter,
    nn_ops.depthwise_conv2d_backprop_filter,
    _INPUT,
    _DY,
)
