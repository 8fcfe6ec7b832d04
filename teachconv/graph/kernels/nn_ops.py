"""The kernels of bias, ReLU, softmax and cross-entropy, and of their gradients, in NumPy.

TensorFlow: core/kernels/bias_op.cc, relu_op.cc, softmax_op.cc, xent_op.cc and sparse_xent_op.cc.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...backends import to_accumulator
from ...core.dtypes import is_integer
from ...support.devices import array_module
from ...windows.walking import where_or_zero
from ..framework.errors import InvalidArgumentError
from ..framework.shape_inference import register_function
from . import compiled


@register_function("BiasAdd", name="BiasOp")
def _bias_add(value: Any, bias: Any, *, data_format: str) -> Any:
    """Return value + bias; value is [..., channels], or [batch, channels, ...] for NCHW."""
    if data_format == "NCHW":
        bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
    return array_module(value).add(value, bias)


@register_function("BiasAddGrad", name="BiasGradOp")
def _bias_add_grad(gradient: Any, *, data_format: str) -> Any:
    """Return the sums over all axes but the channels; float16 and bfloat16 are summed in float32."""
    cells = gradient if is_integer(gradient.dtype) else to_accumulator(gradient)
    if data_format == "NCHW":
        total = cells.sum(axis=tuple(axis for axis in range(cells.ndim) if axis != 1), dtype=cells.dtype)
    else:  # over the images first: NumPy adds long rows many times as fast as short ones
        rows = cells.sum(axis=0, dtype=cells.dtype)
        total = rows.reshape(prod(rows.shape[:-1]), rows.shape[-1]).sum(axis=0, dtype=cells.dtype)
    return total.astype(gradient.dtype, copy=False)


@register_function("ReluGrad", infers=True)
def _relu_grad(gradients: Any, features: Any) -> Any:
    """Return the gradients where the features are positive, elsewhere 0, also at 0 itself.

    Relu's output may stand for the features.
    """
    result = compiled.relu_gradient(gradients, features)
    return where_or_zero(features > 0, gradients) if result is None else result


# --- softmax -----------------------------------------------------------------------------------------


def _powers(logits: Any) -> tuple[Any, Any, Any]:
    """Return the logits minus the largest of each row, exp of them, and the sum of that for each row.

    The difference prevents overflow and changes no softmax.
    """
    wide = to_accumulator(logits)
    shifted = wide - wide.max(axis=-1, keepdims=True, initial=-np.inf)
    powers = np.exp(shifted)
    return shifted, powers, powers.sum(axis=-1, keepdims=True)


@register_function("Softmax")
def _softmax(logits: Any) -> Any:
    """Return exp(logits) divided by its sum along the last axis."""
    _, powers, totals = _powers(logits)
    return (powers / totals).astype(logits.dtype, copy=False)


@register_function("LogSoftmax")
def _log_softmax(logits: Any) -> Any:
    """Return the logarithm of the softmax: logits - log(sum(exp(logits)))."""
    shifted, _, totals = _powers(logits)
    return (shifted - np.log(totals)).astype(logits.dtype, copy=False)


@register_function("SoftmaxCrossEntropyWithLogits", name="SoftmaxXentWithLogitsOp", infers=True)
def _softmax_xent(features: Any, labels: Any) -> Any:
    """Return -sum(labels * log_softmax(features)) of each row, and softmax(features) - labels.

    The losses [batch] and the gradients [batch, classes] share their exponentials.
    """
    shifted, powers, totals = _powers(features)
    wide = to_accumulator(labels)
    # a label of 0 contributes nothing, even where the logarithm is -inf
    terms = np.where(wide == 0, wide, wide * (np.log(totals) - shifted))
    loss = terms.sum(axis=-1).astype(features.dtype, copy=False)
    return loss, (powers / totals - wide).astype(features.dtype, copy=False)


@register_function("SparseSoftmaxCrossEntropyWithLogits", name="SparseSoftmaxXentWithLogitsOp", infers=True)
def _sparse_softmax_xent(features: Any, labels: Any) -> Any:
    """Return the same for labels that are class numbers; raise ``ValueError`` for no class."""
    rows, classes = np.arange(len(labels)), features.shape[1]
    if labels.size and not 0 <= labels.min() <= labels.max() < classes:
        bad = labels[(labels < 0) | (labels >= classes)][0]
        raise InvalidArgumentError(
            f"labels must be class numbers from 0 to {classes - 1}, one for each column of the features; "
            f"got {bad}"
        )
    shifted, powers, totals = _powers(features)
    loss = np.log(totals[:, 0]) - shifted[rows, labels]
    backprop = powers / totals
    backprop[rows, labels] -= 1
    return loss.astype(features.dtype, copy=False), backprop.astype(features.dtype, copy=False)
