"""The gradient functions of the ops of neural networks. TensorFlow: python/ops/nn_grad.py.

The gradient of Conv2D with respect to its input is the op Conv2DBackpropInput, which is what
conv2d_transpose runs. Both gradients of each of the three convolution ops are among the three again:
`teachconv.kinds.gradient_of` says which.
"""

from __future__ import annotations

from typing import Any

from ...core.kinds import ROLES, gradient_of, sibling
from ..common_runtime.execute import run_or_add
from ..core_ops.nn_ops import CONVOLUTIONS
from ..ops import array_ops, gen_nn_ops, math_ops
from .gradients_util import RegisterGradient

_NAMES = {own: name for name, own in CONVOLUTIONS.items()}


def _attrs(op: Any) -> dict[str, Any]:
    """Return the attributes for a related op; with the kernel label, it runs on the op's backend."""
    attrs = {attr.name: op.get_attr(attr.name) for attr in op.op_def.attrs if attr.type != "type"}
    return attrs | {"_kernel": op.attrs.get("_kernel")}


# --- convolution ------------------------------------------------------------------------------------


def _conv2d_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """The gradients of the ops that convolve, by `gradient_of`; the shape of a result has none."""
    own = CONVOLUTIONS[op.type]
    arrays = dict(zip(ROLES, op.inputs, strict=False))
    # of Conv2D in one node, as TensorFlow's graphs have it
    in_one_node = own.kind.gathers and not own.depthwise
    shapes = dict(zip(ROLES, gen_nn_ops.shape_n(op.inputs), strict=False)) if in_one_node else {}

    def of(role: str) -> Any:
        if role == own.kind.result:
            return None
        computes, given = gradient_of(own.kind, role, arrays, grad)
        if role != "output":  # each op takes input, filter and out_backprop, or for its result the shape
            given[role] = shapes[role] if shapes else array_ops.shape(arrays[role])
        inputs = [given[each] for each in ROLES if each in given]
        return run_or_add(_NAMES[sibling(own, computes)], None, inputs, _attrs(op))

    return tuple(map(of, arrays))


for _type in CONVOLUTIONS:
    RegisterGradient(_type)(_conv2d_grad)


# --- bias, activations ------------------------------------------------------------------------------


@RegisterGradient("BiasAdd")
def _bias_add_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    return grad, gen_nn_ops.bias_add_grad(grad, data_format=op.get_attr("data_format"))


@RegisterGradient("Relu")
def _relu_grad(op: Any, grad: Any) -> Any:
    return gen_nn_ops.relu_grad(grad, op.outputs[0])


# --- pooling -----------------------------------------------------------------------------------------


@RegisterGradient("MaxPool")
@RegisterGradient("MaxPool3D")
def _max_pool_grad(op: Any, grad: Any) -> Any:
    return run_or_add(f"{op.type}Grad", None, [op.inputs[0], op.outputs[0], grad], _attrs(op))


@RegisterGradient("AvgPool")
@RegisterGradient("AvgPool3D")
def _avg_pool_grad(op: Any, grad: Any) -> Any:
    return run_or_add(f"{op.type}Grad", None, [array_ops.shape(op.inputs[0]), grad], _attrs(op))


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
