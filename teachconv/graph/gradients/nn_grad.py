"""The gradient functions of the ops of neural networks. TensorFlow: python/ops/nn_grad.py, image_grad.py.

The gradient of Conv2D with respect to its input is the op Conv2DBackpropInput, which is what
conv2d_transpose runs. Both gradients of each of the three convolution ops are among the three again:
`teachconv.kinds.gradient_of` says which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, KINDS, ROLES, Kind, gradient_of
from ..framework.tensor_shape import as_shape
from ..ops import array_ops, gen_nn_ops, math_ops
from .gradients_util import RegisterGradient

_WINDOWS = ("strides", "padding", "explicit_paddings", "data_format", "dilations")
_MAX_POOL = ("ksize", "strides", "padding", "explicit_paddings", "data_format")
_AVG_POOL = ("ksize", "strides", "padding", "data_format")


def _attrs(op: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the attributes for a wrapper; with the kernel label, the gradient runs on the op's backend."""
    attrs = {name: op.get_attr(name) for name in names}
    return attrs | {"_kernel": op.attrs.get("_kernel")}


# --- convolution ------------------------------------------------------------------------------------


# the wrappers in the order of KINDS; each takes input, filter and out_backprop, as far as its op reads them,
# and that of a gradient takes the shape of its result in the place of the result
_CONV2D = gen_nn_ops.conv2d, gen_nn_ops.conv2d_backprop_input, gen_nn_ops.conv2d_backprop_filter
_DEPTHWISE = (
    gen_nn_ops.depthwise_conv2d_native,
    gen_nn_ops.depthwise_conv2d_native_backprop_input,
    gen_nn_ops.depthwise_conv2d_native_backprop_filter,
)
_CONVOLUTIONS: dict[str, tuple[Kind, tuple[Callable[..., Any], ...]]] = {
    "Conv2D": (FORWARD, _CONV2D),
    "Conv2DBackpropInput": (INPUT_GRADIENT, _CONV2D),
    "Conv2DBackpropFilter": (FILTER_GRADIENT, _CONV2D),
    "DepthwiseConv2dNative": (FORWARD, _DEPTHWISE),
    "DepthwiseConv2dNativeBackpropInput": (INPUT_GRADIENT, _DEPTHWISE),
    "DepthwiseConv2dNativeBackpropFilter": (FILTER_GRADIENT, _DEPTHWISE),
}


def _conv2d_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """The gradients of the six ops, by `gradient_of`; the shape of a result has none."""
    kind, wrappers = _CONVOLUTIONS[op.type]
    attrs = _attrs(op, _WINDOWS)
    arrays = dict(zip(ROLES, op.inputs, strict=False))
    # of Conv2D in one node, as TensorFlow's graphs have it
    shapes = dict(zip(ROLES, gen_nn_ops.shape_n(op.inputs), strict=False)) if op.type == "Conv2D" else {}

    def of(role: str) -> Any:
        if role == kind.result:
            return None
        computes, given = gradient_of(kind, role, arrays, grad)
        if role != "output":
            given[role] = shapes[role] if shapes else array_ops.shape(arrays[role])
        wrapper = wrappers[KINDS.index(computes)]
        return wrapper(*(given[each] for each in ROLES if each in given), **attrs)

    return tuple(map(of, arrays))


for _type in _CONVOLUTIONS:
    RegisterGradient(_type)(_conv2d_grad)


# --- bias, activations ------------------------------------------------------------------------------


@RegisterGradient("BiasAdd")
def _bias_add_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    return grad, gen_nn_ops.bias_add_grad(grad, data_format=op.get_attr("data_format"))


@RegisterGradient("BiasAddGrad")
def _bias_add_grad_grad(op: Any, grad: Any) -> Any:
    """One number for each channel goes back to all cells of the channel."""
    if op.get_attr("data_format") == "NCHW":
        rank = len(as_shape(op.inputs[0].shape) or ())
        grad = array_ops.reshape(grad, [1, -1] + [1] * (rank - 2))
    return array_ops.broadcast_to(grad, array_ops.shape(op.inputs[0]))


@RegisterGradient("Relu")
def _relu_grad(op: Any, grad: Any) -> Any:
    return gen_nn_ops.relu_grad(grad, op.outputs[0])


@RegisterGradient("ReluGrad")
def _relu_grad_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    features = op.inputs[1]
    return gen_nn_ops.relu_grad(grad, features), array_ops.zeros_like(features)


# --- pooling and resizing ---------------------------------------------------------------------------


@RegisterGradient("MaxPool")
def _max_pool_grad(op: Any, grad: Any) -> Any:
    return gen_nn_ops.max_pool_grad(op.inputs[0], op.outputs[0], grad, **_attrs(op, _MAX_POOL))


@RegisterGradient("MaxPoolGrad")
@RegisterGradient("MaxPoolGradGrad")
def _max_pool_grad_grad(op: Any, grad: Any) -> tuple[Any, Any, Any]:
    """Each is linear in its last input, and picks or spreads by the cells that the first two say."""
    orig_input, orig_output, _ = op.inputs
    other = gen_nn_ops.max_pool_grad_grad if op.type == "MaxPoolGrad" else gen_nn_ops.max_pool_grad
    moved = other(orig_input, orig_output, grad, **_attrs(op, _MAX_POOL))
    return array_ops.zeros_like(orig_input), array_ops.zeros_like(orig_output), moved


@RegisterGradient("AvgPool")
def _avg_pool_grad(op: Any, grad: Any) -> Any:
    return gen_nn_ops.avg_pool_grad(array_ops.shape(op.inputs[0]), grad, **_attrs(op, _AVG_POOL))


@RegisterGradient("AvgPoolGrad")
def _avg_pool_grad_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    return None, gen_nn_ops.avg_pool(grad, **_attrs(op, _AVG_POOL))


_RESIZE = ("align_corners", "half_pixel_centers")


@RegisterGradient("ResizeNearestNeighbor")
def _resize_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    sizes = as_shape(op.inputs[0].shape)
    known = sizes is not None and None not in sizes[1:3]
    size: Any = (
        list(sizes[1:3]) if known and sizes else array_ops.slice(array_ops.shape(op.inputs[0]), [1], [2])
    )
    return gen_nn_ops.resize_nearest_neighbor_grad(grad, size, **_attrs(op, _RESIZE)), None


@RegisterGradient("ResizeNearestNeighborGrad")
def _resize_grad_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    size = array_ops.slice(array_ops.shape(op.inputs[0]), [1], [2])
    return gen_nn_ops.resize_nearest_neighbor(grad, size, **_attrs(op, _RESIZE)), None


# --- softmax ------------------------------------------------------------------------------------------


@RegisterGradient("Softmax")
def _softmax_grad(op: Any, grad: Any) -> Any:
    """(grad - sum(grad * softmax)) * softmax: the Jacobian is diag(softmax) - softmax softmax'."""
    softmax = op.outputs[0]
    return (grad - math_ops.reduce_sum(grad * softmax, -1, keepdims=True)) * softmax


@RegisterGradient("LogSoftmax")
def _log_softmax_grad(op: Any, grad: Any) -> Any:
    softmax = math_ops.exp(op.outputs[0])
    return grad - math_ops.reduce_sum(grad, -1, keepdims=True) * softmax


def _of_logits(op: Any, grad_loss: Any, grad_backprop: Any) -> Any:
    """The loss's gradient; if the second output was used too, plus softmax's Jacobian times its own."""
    of_loss = None if grad_loss is None else _per_row(grad_loss, op.outputs[1])
    if grad_backprop is None:
        return of_loss
    softmax = gen_nn_ops.softmax(op.inputs[0])
    sums = math_ops.reduce_sum(grad_backprop * softmax, -1, keepdims=True)
    of_backprop = (grad_backprop - sums) * softmax
    return of_backprop if of_loss is None else of_loss + of_backprop


def _per_row(factors: Any, matrix: Any) -> Any:
    return array_ops.expand_dims(factors, -1) * matrix


@RegisterGradient("SoftmaxCrossEntropyWithLogits")
def _softmax_xent_grad(op: Any, grad_loss: Any, grad_backprop: Any) -> tuple[Any, ...]:
    to_logits = _of_logits(op, grad_loss, grad_backprop)
    if grad_loss is None:
        return to_logits, -grad_backprop
    to_labels = _per_row(grad_loss, -gen_nn_ops.log_softmax(op.inputs[0]))
    if grad_backprop is not None:  # softmax(features) - labels; TensorFlow leaves this term out
        to_labels = to_labels - grad_backprop
    return to_logits, to_labels


@RegisterGradient("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_softmax_xent_grad(op: Any, grad_loss: Any, grad_backprop: Any) -> tuple[Any, ...]:
    return _of_logits(op, grad_loss, grad_backprop), None
