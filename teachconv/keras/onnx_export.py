"""Writes a model as an ONNX graph: what `teachconv.to_onnx` does with a model.

Every layer becomes the operator of its name. Convolutions are written as the calls that they are
(`dialects.onnx_export.write_call`), and pooling and BatchNormalization take the channels second, too.
Transposes between layers cancel, so that a network of images has one at its beginning and one at its end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import begins_then_ends, channels_last
from ..core.dtypes import is_integer
from ..core.kinds import OPS
from ..dialects.calls import ConvCall
from ..dialects.onnx_export import write_call, write_model
from ..dialects.onnx_graph import OnnxGraph, OnnxTensor, check_dtype
from ..running import nn_ops
from ..support.errors import ArgumentError, ArgumentTypeError, brief
from ..translation.translating import resolve
from . import activations
from .checks import shape_text
from .layers import (
    ELU,
    Activation,
    Add,
    AveragePooling1D,
    AveragePooling2D,
    AveragePooling3D,
    BatchNormalization,
    Concatenate,
    Conv1D,
    Conv1DTranspose,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    Cropping2D,
    Dense,
    DepthwiseConv1D,
    DepthwiseConv2D,
    Dropout,
    Flatten,
    GlobalAveragePooling1D,
    GlobalAveragePooling2D,
    GlobalMaxPooling1D,
    GlobalMaxPooling2D,
    InputLayer,
    LeakyReLU,
    MaxPooling1D,
    MaxPooling2D,
    MaxPooling3D,
    Multiply,
    Permute,
    ReLU,
    Reshape,
    SeparableConv1D,
    SeparableConv2D,
    Softmax,
    UpSampling2D,
    ZeroPadding2D,
)
from .layers.layer import Layer, Shape, as_list
from .models import Model


@write_model.register(Layer)
def _of_model(model: Layer, args: tuple[Any, ...], arguments: dict[str, Any]) -> Any:
    """Return a model as an ``onnx.ModelProto``."""
    if not isinstance(model, Model):
        raise ArgumentTypeError(f"op must be a model, such as keras.Sequential([layer]); got {brief(model)}")
    unknown = [name for name in arguments if name != "input_shape"]
    if args or unknown:
        raise ArgumentTypeError(
            f"to_onnx of a model takes input_shape and path alone; got {', '.join(unknown) or args}"
        )
    shapes = _input_shapes(model, arguments.get("input_shape"))
    whole, graph = model.as_functional(), OnnxGraph(model.name)
    if isinstance(whole.output, list):
        raise ArgumentError(f"model {brief(model.name)} must have one output; it has {len(whole.outputs)}")
    inputs = [
        graph.input(tensor.name, shape, tensor.dtype)
        for tensor, shape in zip(whole.inputs, shapes, strict=True)
    ]
    return graph.model("output", _write(graph, whole, inputs if len(inputs) > 1 else inputs[0]))


def _input_shapes(model: Model, wanted: Any) -> list[Shape]:
    """Return the shape of each input, of which only the batch may be open."""
    if not model.built or model.input_shape is None:
        raise ArgumentError(f"model {brief(model.name)} has no weights yet: its first layer needs an Input")
    own = as_list(model.input_shape)
    shapes = own if wanted is None else [tuple(each) for each in wanted] if len(own) > 1 else [tuple(wanted)]
    fits = len(own) == len(shapes) and all(
        len(shape) == len(known) and all(a in (None, b) for a, b in zip(known, shape, strict=True))
        for known, shape in zip(own, shapes, strict=True)
    )
    if not fits:
        raise ArgumentError(
            f"input_shape must fit the model's, {shape_text(model.input_shape)}; got {brief(wanted)}"
        )
    if any(None in shape[1:] for shape in shapes):
        raise ArgumentError(
            f"input_shape must give all sizes except the batch, because padding depends on them; model "
            f"{brief(model.name)} has {shape_text(model.input_shape)}"
        )
    return shapes


def _write(graph: OnnxGraph, layer: Layer, x: Any) -> OnnxTensor:
    """Add the nodes of a layer, or of all the layers of a model."""
    if isinstance(layer, Model):
        return layer.as_functional().walk(x, lambda tensor, source: _write(graph, tensor.layer, source))
    write = _LAYERS.get(type(layer))
    if write is None:
        known = ", ".join(kind.__name__ for kind in _LAYERS)
        raise ArgumentError(
            f"the layers of an ONNX file must be {known}; got {brief(layer.name)} ({type(layer).__name__})"
        )
    with graph.inside(layer.name):
        given = [_as_taken(layer, each, write) for each in as_list(x)]
        y = write(graph, layer, given if isinstance(x, list) else given[0])
        function = getattr(layer, "activation", activations.linear)
        finish = next((known for name, known in _ACTIVATIONS if name is function), None)
        if finish is None:
            raise ArgumentError(
                f"the activation of layer {brief(layer.name)} must be one of {', '.join(_NAMES)} in an ONNX "
                f"file; got {brief(function)}"
            )
        return finish(graph, y)


def _as_taken(layer: Layer, x: OnnxTensor, write: Any) -> OnnxTensor:
    """Return a tensor in the dtype in which the layer computes."""
    if x.dtype.name != layer.dtype and (layer._casts_integers or not is_integer(x.dtype)):
        x = x.cast(layer.dtype)
    if not is_integer(x.dtype) or write not in _ANY_DTYPE:
        check_dtype(x.dtype, f"layer {brief(layer.name)}")
    return x


_ACTIVATIONS: tuple[tuple[Any, Callable[[OnnxGraph, OnnxTensor], OnnxTensor]], ...] = (
    (activations.linear, lambda graph, x: x),
    (activations.relu, lambda graph, x: x.map("Relu")),
    (activations.leaky_relu, lambda graph, x: x.map("LeakyRelu", alpha=0.2)),
    (activations.elu, lambda graph, x: x.map("Elu")),
    (activations.sigmoid, lambda graph, x: x.map("Sigmoid")),
    (activations.tanh, lambda graph, x: x.map("Tanh")),
    (activations.softmax, lambda graph, x: graph.add("Softmax", [x], x.shape, axis=-1)),
)
_NAMES = [function.__name__ for function, _ in _ACTIVATIONS]


# ---------------------------------------------------------------------------------------------
# One function for each kind of layer
# ---------------------------------------------------------------------------------------------


def _same(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    return x


def _slope(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    """LeakyRelu, or Elu; their attributes are float32."""
    if isinstance(layer, LeakyReLU):
        return x.map("LeakyRelu", alpha=layer.negative_slope)
    if x.dtype == np.float64 and float(np.float32(layer.alpha)) != layer.alpha:
        raise ArgumentError(
            f"alpha of layer {brief(layer.name)} must be a float32 in ONNX; got {layer.alpha}"
        )
    return x.map("Elu", alpha=layer.alpha)


def _sum(graph: OnnxGraph, layer: Any, xs: list[OnnxTensor]) -> OnnxTensor:
    op, result = "Mul" if isinstance(layer, Multiply) else "Add", xs[0]
    for x in xs[1:]:
        result = graph.add(op, [result, x], layer.merged([result.shape, x.shape]))
    return result


def _joined(graph: OnnxGraph, layer: Any, xs: list[OnnxTensor]) -> OnnxTensor:
    return graph.add("Concat", xs, layer.merged([x.shape for x in xs]), axis=layer.axis)


def _edges(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    sides = dict(zip(layer.spatial_axes, layer.padding, strict=True))
    return x.crop(sides) if isinstance(layer, Cropping2D) else x.pad(sides)


def _mean_or_max(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    name = "ReduceMax" if isinstance(layer, GlobalMaxPooling2D) else "ReduceMean"
    shape, axes = layer.compute_output_shape(x.shape), graph.constant("axes", np.array(layer.spatial_axes))
    return graph.add(name, [x, axes], shape, keepdims=int(layer.keepdims))


def _convolution(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    """Write the call that the layer makes, in the words of TensorFlow or, transposed, of Keras."""
    kernel = layer.kernel.numpy()
    if isinstance(layer, Conv2DTranspose):
        shape: Any = (1, *x.shape[1:])
        g = layer.geometry(channels_last(shape, layer.layout)).forward
        filters = f"{g.data_format[1:-1]}OI"
        op = OPS[f"conv{len(layer.kernel_size)}d_transpose"]
        conv = ConvCall("keras.conv_transpose", op, g, layer.layout, filters, layer.layout)
        bias = {} if layer.bias is None else {"bias": layer.bias.numpy()}
        return write_call(graph, conv, {"input": x, "filters": kernel, **bias})
    if isinstance(layer, DepthwiseConv2D):
        kernel = _grouped(kernel)
    return _forward(graph, layer, x, kernel, layer.windows(), layer.bias)


def _grouped(kernel: np.ndarray) -> np.ndarray:
    """Return depthwise filters as those of a convolution with one group for each channel."""
    return kernel.reshape(*kernel.shape[:-2], 1, -1)


def _forward(
    graph: OnnxGraph, layer: Any, x: OnnxTensor, kernel: np.ndarray, windows: dict[str, Any], bias: Any
) -> OnnxTensor:
    op = getattr(nn_ops, f"conv{len(layer.kernel_size)}d")
    conv = resolve(op, (1, *x.shape[1:]), kernel.shape, **windows)
    more = {} if bias is None else {"bias": bias.numpy()}
    return write_call(graph, conv, {"input": x, "filters": kernel, **more})


def _separable(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    between = _forward(graph, layer, x, _grouped(layer.depthwise_kernel.numpy()), layer.windows(), None)
    one_tap = {"data_format": layer.layout}
    return _forward(graph, layer, between, layer.pointwise_kernel.numpy(), one_tap, layer.bias)


def _pooling(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    rank = len(layer.window)
    order = [0, rank + 1, *range(1, rank + 1)] if layer.layout[-1] == "C" else [*range(rank + 2)]
    x = x.transpose(order)
    batch, channels, *sizes = x.shape
    axes = layer.geometry((1, *sizes, channels)).axes
    attributes = {
        "kernel_shape": list(layer.pool_size),
        "strides": list(layer.strides),
        "pads": begins_then_ends(axis.window_edges[0] for axis in axes),
    }
    name = "MaxPool" if isinstance(layer, MaxPooling2D) else "AveragePool"
    shape = batch, channels, *(axis.out_size for axis in axes)
    return graph.add(name, [x], shape, **attributes).transpose(np.argsort(order).tolist())


def _normalization(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    axis = layer.axis % len(x.shape)
    order = [0, axis, *(other for other in range(1, len(x.shape)) if other != axis)]
    mean, variance = layer.moving_mean.numpy(), layer.moving_variance.numpy()
    scale = np.ones_like(mean) if layer.gamma is None else layer.gamma.numpy()
    offset = np.zeros_like(mean) if layer.beta is None else layer.beta.numpy()
    epsilon = layer.epsilon
    if x.dtype == np.float64 and float(np.float32(epsilon)) != epsilon:  # attributes are float32
        variance, epsilon = variance + epsilon, 0.0
    weights = {"scale": scale, "offset": offset, "mean": mean, "variance": variance}
    names = [graph.constant(name, array) for name, array in weights.items()]
    x = x.transpose(order)
    y = graph.add("BatchNormalization", [x, *names], x.shape, epsilon=epsilon)
    return y.transpose(np.argsort(order).tolist())


def _dense(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    """Gemm for vectors with a bias; for more axes MatMul, which takes a batch of matrices, and Add."""
    shape = (*x.shape[:-1], layer.units)
    kernel = graph.constant("kernel", layer.kernel.numpy())
    if layer.bias is None:
        return graph.add("MatMul", [x, kernel], shape)
    bias = graph.constant("bias", layer.bias.numpy())
    if len(shape) == 2:
        return graph.add("Gemm", [x, kernel, bias], shape)
    return graph.add("Add", [graph.add("MatMul", [x, kernel], shape), bias], shape)


def _flatten(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    axes = range(len(x.shape))
    if layer.data_format == "channels_first" and len(axes) > 2:
        x = x.transpose([0, *axes[2:], 1])
    return graph.add("Flatten", [x], layer.compute_output_shape(x.shape), axis=1)


def _reshape(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    return x.reshape(layer.compute_output_shape(x.shape))


def _upsampling(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    """Resize by whole numbers: cell i of the result is cell i // scale of the input."""
    first = 1 if layer.data_format == "channels_last" else 2
    order = [0, 3, 1, 2] if first == 1 else [0, 1, 2, 3]  # the form of Resize that every runtime knows
    shape = layer.compute_output_shape(x.shape)
    scales = graph.constant("scales", np.array([1, 1, *layer.size], np.float32))
    words = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    done = graph.add(
        "Resize", [x.transpose(order), "", scales], tuple(shape[axis] for axis in order), **words
    )
    return done.transpose(np.argsort(order).tolist())


def _dropout(graph: OnnxGraph, layer: Any, x: OnnxTensor) -> OnnxTensor:
    """Dropout, which returns its input outside of training."""
    return x.map("Dropout", [graph.constant("ratio", np.array(layer.rate, np.float32))])


_LAYERS: dict[type[Layer], Callable[[OnnxGraph, Any, Any], OnnxTensor]] = {
    **dict.fromkeys((Activation, InputLayer, ReLU, Softmax), _same),
    **dict.fromkeys((LeakyReLU, ELU), _slope),
    **dict.fromkeys((ZeroPadding2D, Cropping2D), _edges),
    **dict.fromkeys((GlobalAveragePooling1D, GlobalAveragePooling2D), _mean_or_max),
    **dict.fromkeys((GlobalMaxPooling1D, GlobalMaxPooling2D), _mean_or_max),
    **dict.fromkeys((Add, Multiply), _sum),
    Concatenate: _joined,
    **dict.fromkeys((AveragePooling1D, AveragePooling2D, AveragePooling3D), _pooling),
    **dict.fromkeys((MaxPooling1D, MaxPooling2D, MaxPooling3D), _pooling),
    **dict.fromkeys((Conv1D, Conv2D, Conv3D, DepthwiseConv1D, DepthwiseConv2D), _convolution),
    **dict.fromkeys((Conv1DTranspose, Conv2DTranspose, Conv3DTranspose), _convolution),
    **dict.fromkeys((SeparableConv1D, SeparableConv2D), _separable),
    BatchNormalization: _normalization,
    Dense: _dense,
    Dropout: _dropout,
    Flatten: _flatten,
    Permute: lambda graph, layer, x: x.transpose([0, *layer.dims]),
    Reshape: _reshape,
    UpSampling2D: _upsampling,
}
_ANY_DTYPE = (_same, _flatten, _reshape, _dropout, _joined)
