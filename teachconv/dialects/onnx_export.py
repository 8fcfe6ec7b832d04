"""Writes a call, in teachconv's words or a dialect's, as an ONNX graph: `to_onnx`.

Conv and ConvTranspose take rows and columns last and pads that are not negative. Nodes around them express
everything else: Transpose the layouts, Pad and Slice the padding that the operator's own pads cannot express.
The filter gradient is a Conv too, with batch and channels exchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from ..core.arguments import as_array, axis_order, begins_then_ends, check_alike, is_shape
from ..core.dtypes import to_dtype
from ..core.law import AxisGeometry
from ..running import nn_ops
from ..support.argument_types import File
from ..support.devices import to_host
from ..support.errors import ArgumentError, ArgumentTypeError, brief, is_one_of
from ..support.files import path_of, replacing
from .calls import FUNCTIONS, ConvCall, DialectFunction, bind_shapes
from .onnx_graph import OnnxGraph, OnnxTensor, check_dtype, import_onnx


def to_onnx(op: Any, *args: Any, path: File | None = None, **arguments: Any) -> Any:
    """Return a call, or a model of `teachconv.keras`, as an ONNX model of opset 18.

    Args:
        op: an op of teachconv, a function of `teachconv.dialects`, or a model of `teachconv.keras`.
        *args: the arguments of the op; a shape can stand in for an array. Filters and bias that are arrays
            are stored in the file, and are inputs of the model if only their shapes are given. Images are
            always inputs. A model of `teachconv.keras` needs no arguments; ``input_shape=``, with the batch,
            fixes sizes that its ``Input`` leaves open.
        path: a file to write the model to, or None. A failed write leaves no partial file.
        **arguments: likewise, by name. ``dtype="float64"`` is for calls without arrays.

    Returns:
        An ``onnx.ModelProto`` that ``onnx.checker`` accepts. The inputs have the names of the op's arguments,
        or of the model's Input; layouts are the op's own.

    Raises:
        BackendUnavailable: if the package onnx is missing.
        ValueError, TypeError: if the arguments are invalid, or ONNX cannot express them; the message says
            which.

    Source: https://onnx.ai/onnx/operators/onnx__Conv.html and onnx__ConvTranspose.html.

    >>> import numpy as np, teachconv as tc
    >>> model = tc.to_onnx(tc.conv2d, (1, 8, 8, 3), np.ones((3, 3, 3, 4), "float32"), 2, "SAME")
    >>> [node.op_type for node in model.graph.node]
    ['Transpose', 'Conv', 'Transpose']
    >>> tc.onnx_model(model).run({"input": np.ones((1, 8, 8, 3), "float32")})["output"][0, 0, :, 0].tolist()
    [27.0, 27.0, 27.0, 18.0]
    """
    import_onnx("to_onnx")
    target = None if path is None else path_of(path)
    model = write_model(op, args, arguments)
    if target is not None:
        with replacing(target) as file:
            file.write(model.SerializeToString())
    return model


@singledispatch
def write_model(op: Any, args: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """Return the model of a call; `teachconv.keras` registers what its models become.

    Args:
        op: the function.
        args: its positional arguments.
        arguments: its arguments by name, and ``dtype``.

    Returns:
        An ``onnx.ModelProto``.
    """
    if not is_one_of(op, FUNCTIONS):
        known = nn_ops.listed(FUNCTIONS)
        raise ArgumentTypeError(f"op must be a keras.Model or one of {known}; got {brief(op)}")
    wanted = arguments.pop("dtype", None)
    conv, shapes = bind_shapes(op, args, arguments, "to_onnx")
    entry, given = FUNCTIONS[op], nn_ops.bind(op, args, arguments).arguments
    arrays = _arrays(entry, given)
    asked = None if wanted is None else to_dtype(wanted)
    dtype = next((array.dtype for array in arrays.values()), asked or np.dtype("float32"))
    if asked is not None and asked != dtype:
        raise ArgumentError(f"dtype must be that of the arrays, {dtype}, or be left out; got {brief(wanted)}")
    check_dtype(dtype, next(iter(arrays), "dtype"))
    graph, operands = OnnxGraph(entry.name), {}
    for operand in entry.operands:
        shape = shapes[operand.name]
        if shape is None:
            continue
        if 0 in shape:
            raise ArgumentError(f"{operand.name} must not be empty in an ONNX file; got shape {list(shape)}")
        stored = operand.role in ("filters", "bias") and operand.name in arrays
        operands[operand.role] = arrays[operand.name] if stored else graph.input(operand.name, shape, dtype)
    if 0 in conv.result_shape:
        raise ArgumentError(
            f"the result must not be empty in an ONNX file; it has shape {list(conv.result_shape)}"
        )
    return graph.model("output", write_call(graph, conv, operands))


def _arrays(entry: DialectFunction, given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the operands that were given as arrays; raise unless they have one dtype."""
    found: dict[str, np.ndarray] = {}
    for operand in entry.operands:
        value = given.get(operand.name)
        if value is None or is_shape(value):
            continue
        found[operand.name] = to_host(as_array(value, operand.name, None))
    if found:
        check_alike(found)
    return found


# ---------------------------------------------------------------------------------------------
# A call as nodes
# ---------------------------------------------------------------------------------------------


def write_call(graph: OnnxGraph, conv: ConvCall, operands: Mapping[str, Any]) -> OnnxTensor:
    """Add the nodes of a call.

    Args:
        graph: the graph.
        conv: the resolved call.
        operands: by their roles, "input", "filters", "bias" or "out_backprop", tensors of the graph in the
            layouts of the call; filters and bias may be arrays.

    Returns:
        The result, in the layout of the call.
    """
    kind, words = conv.kind, conv.op.words
    arranged: dict[str, Callable[[], Any]] = {
        "input": lambda: _stuffed(conv, operands["input"]),
        "filters": lambda: conv.prepare_filter(operands["filters"]),
        "out_backprop": lambda: conv.to_nhwc(operands["out_backprop"], conv.output_layout),
    }
    first, second = arranged[words[kind.first]](), arranged[words[kind.second]]()
    if kind.sums_images:
        result = _filter_gradient(graph, conv, first, second)
    else:
        result = _convolution(graph, conv, first, second, operands.get("bias"))
    layout = conv.layout(kind.result)
    if "M" in layout:
        return result.reshape(conv.result_shape)
    if "C" in layout and "N" not in layout:
        return result.transpose(axis_order("N" + layout)).reshape(conv.result_shape)
    return result.transpose(axis_order(layout))


def _stuffed(conv: ConvCall, x: OnnxTensor) -> OnnxTensor:
    """Return the input as the law reads it, NHWC; JAX's lhs_dilation puts zeros between its cells."""
    x = replace(conv, stuffing=()).prepare_input(x)  # type: ignore[arg-type, assignment]
    if not conv.has_gaps:
        return x
    n, *sizes, channels = x.shape
    x = x.reshape(n, *(part for size in sizes for part in (size, 1)), channels)
    x = x.pad({2 * number: (0, step - 1) for number, step in enumerate(conv.stuffing, 1)})
    x = x.reshape(n, *(size * step for size, step in zip(sizes, conv.stuffing, strict=True)), channels)  # type: ignore[operator]
    stuffed = conv.geometry.shape_of("input")[1:-1]
    return x.crop({axis: (0, x.shape[axis] - size) for axis, size in enumerate(stuffed, 1)})  # type: ignore[operator]


def _convolution(graph: OnnxGraph, conv: ConvCall, first: Any, second: Any, bias: Any) -> OnnxTensor:
    """Return the forward call, or its transpose, of NHWC and HWIO in NHWC."""
    g, letters = conv.geometry, conv.geometry.data_format[1:-1]
    x = first.transpose(axis_order(f"NC{letters}"))
    w = graph.tensor("filters", second.transpose(axis_order(f"OI{letters}")))
    b = None if bias is None else graph.tensor("bias", bias)
    if conv.kind.gathers:
        y = _conv(x, w, b, g.axes, g.groups, g.out_channels)
    else:
        y = _conv_transpose(x, w, b, g.axes, g.groups, g.in_channels)
    return y.transpose(0, *range(2, g.rank + 2), 1)


Axes = tuple[AxisGeometry, ...]


def _conv(
    x: OnnxTensor, w: OnnxTensor, b: OnnxTensor | None, axes: Axes, groups: int, channels: int
) -> OnnxTensor:
    """Return a Conv node of an input NCHW, after a Pad and a Slice where its input has to be cropped."""
    edges = [axis.window_edges for axis in axes]
    pads = [pad for pad, _ in edges]
    if any(any(crop) for _, crop in edges):
        x = x.pad(dict(enumerate(pads, 2))).crop({axis: crop for axis, (_, crop) in enumerate(edges, 2)})
        pads = [(0, 0)] * len(axes)
    shape = x.shape[0], channels, *(axis.out_size for axis in axes)
    inputs = [x, w] if b is None else [x, w, b]
    return x.graph.add("Conv", inputs, shape, **_attributes(axes, groups, pads))


def _conv_transpose(
    x: OnnxTensor, w: OnnxTensor, b: OnnxTensor | None, axes: Axes, groups: int, channels: int
) -> OnnxTensor:
    """Return a ConvTranspose node of an input NCHW, with a Pad and a Slice after it where it needs them."""
    edges = [axis.full_edges for axis in axes]
    shape = x.shape[0], channels, *(axis.in_size for axis in axes)
    # zeros in front, or more of them behind than output_padding can say
    simple = all(
        before == 0 and after < axis.stride for axis, ((before, after), _) in zip(axes, edges, strict=True)
    )
    if simple:
        attributes = _attributes(axes, groups, [crop for _, crop in edges])
        if any(after for (_, after), _ in edges):
            attributes["output_padding"] = [after for (_, after), _ in edges]
        return x.graph.add("ConvTranspose", [x, w] if b is None else [x, w, b], shape, **attributes)
    full = x.shape[0], channels, *(axis.full_size for axis in axes)
    y = x.graph.add("ConvTranspose", [x, w], full, **_attributes(axes, groups, [(0, 0)] * len(axes)))
    y = y.pad({axis: pad for axis, (pad, _) in enumerate(edges, 2)})
    y = y.crop({axis: crop for axis, (_, crop) in enumerate(edges, 2)})
    return y if b is None else x.graph.add("Add", [y, b.reshape(-1, *(1,) * len(axes))], shape)


def _filter_gradient(graph: OnnxGraph, conv: ConvCall, x: OnnxTensor, dy: OnnxTensor) -> OnnxTensor:
    """Return the gradient in the filter, HWIO: a Conv of x with dy as its filter.

    The images are what is summed over, so they become channels, and the channels images. Stride and dilation
    change places, because neighbouring taps read inputs that are a dilation apart.
    """
    g, rank = conv.geometry, conv.geometry.rank
    n, *sizes, channels = x.shape
    depth, first = g.filters_shape[-2], (rank + 1, *range(rank + 1))
    axes = tuple(
        replace(
            axis,
            filter_size=axis.out_size,
            out_size=axis.filter_size,
            stride=axis.dilation,
            dilation=axis.stride,
        )
        for axis in g.axes
    )
    if g.groups > 1:  # [n, rows, cols, groups * depth] to [depth, groups * n, rows, cols]
        x = x.reshape(n, *sizes, g.groups, depth).transpose(rank + 2, *first)
        x = x.reshape(depth, g.groups * n, *sizes)  # type: ignore[operator]
    else:
        x = x.transpose(first)
    w = dy.transpose(first)  # [out_channels, n, out_rows, out_cols]
    result = _conv(x, w, None, axes, g.groups, g.out_channels)  # [depth, out_channels, rows, cols]
    return result.transpose(*range(2, rank + 2), 0, 1)


def _attributes(axes: Axes, groups: int, pads: list[Any]) -> dict[str, Any]:
    """Return the attributes that Conv and ConvTranspose share; pads are [top, left, bottom, right]."""
    return {
        "kernel_shape": [axis.filter_size for axis in axes],
        "strides": [axis.stride for axis in axes],
        "dilations": [axis.dilation for axis in axes],
        "group": groups,
        "pads": begins_then_ends(pads),
    }
