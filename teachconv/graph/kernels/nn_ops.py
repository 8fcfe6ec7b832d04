"""The kernels of bias, ReLU, softmax and cross-entropy, of their gradients, and of resizing, in NumPy.

TensorFlow: core/kernels/bias_op.cc, relu_op.cc, softmax_op.cc, xent_op.cc, sparse_xent_op.cc and
image/resize_nearest_neighbor_op.cc.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...backends import to_accumulator
from ...dtypes import is_integer
from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel
from ..framework.shape_inference import InferringKernel

__all__: list[str] = []


@register_kernel("BiasAdd")
class BiasOp(OpKernel):
    """Adds a bias to each channel."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.nchw = node.attrs["data_format"] == "NCHW"

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return value + bias; value is [..., channels], or [batch, channels, ...] for NCHW."""
        value, bias = inputs
        if self.nchw:
            bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
        return value + bias


@register_kernel("BiasAddGrad")
class BiasGradOp(BiasOp):
    """Sums over all axes but that of the channels."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return [channels]; float16 and bfloat16 are summed in float32."""
        gradient = inputs[0]
        cells = gradient if is_integer(gradient.dtype) else to_accumulator(gradient)
        if self.nchw:
            axes = tuple(axis for axis in range(cells.ndim) if axis != 1)
        else:
            cells, axes = cells.reshape(prod(cells.shape[:-1]), cells.shape[-1]), (0,)
        return cells.sum(axis=axes, dtype=cells.dtype).astype(gradient.dtype, copy=False)


@register_kernel("Relu")
class ReluOp(OpKernel):
    """Computes max(features, 0); NaN stays NaN."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the result element-wise."""
        features = inputs[0]
        return np.maximum(features, features.dtype.type(0))


@register_kernel("ReluGrad")
class ReluGradOp(InferringKernel):
    """Returns the gradients where the features are positive, elsewhere 0, also at 0 itself."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the result element-wise; Relu's output may stand for the features."""
        self.infer(*inputs)
        gradients, features = inputs
        return where_or_zero(features > 0, gradients)


def where_or_zero(mask: np.ndarray, values: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Return the values where a mask is true, elsewhere 0; many times as fast as numpy.where, which branches.

    It multiplies the bits as integers: NaN and infinity vanish too where the mask is false.

    Args:
        mask: booleans.
        values: of the same shape.
        out: where the result goes, or None.

    Returns:
        The result.

    >>> where_or_zero(np.array([True, False]), np.array([-2.0, np.nan]))
    array([-2.,  0.])
    """
    bits = np.dtype(f"i{values.itemsize}")
    result = np.multiply(values.view(bits), mask, out=None if out is None else out.view(bits))
    return result.view(values.dtype)


# --- softmax -----------------------------------------------------------------------------------------


def _shifted(logits: Any) -> Any:
    """Return the logits minus the largest of each row, which prevents overflow and changes no softmax."""
    wide = to_accumulator(logits)
    return wide - wide.max(axis=-1, keepdims=True, initial=-np.inf)


@register_kernel("Softmax")
class SoftmaxOp(OpKernel):
    """Computes exp(logits) divided by its sum along the last axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the softmax."""
        powers = np.exp(_shifted(inputs[0]))
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(inputs[0].dtype, copy=False)


@register_kernel("LogSoftmax")
class LogSoftmaxOp(OpKernel):
    """Computes the logarithm of the softmax."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return logits - log(sum(exp(logits)))."""
        shifted = _shifted(inputs[0])
        total = np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
        return (shifted - total).astype(inputs[0].dtype, copy=False)


@register_kernel("SoftmaxCrossEntropyWithLogits")
class SoftmaxXentWithLogitsOp(InferringKernel):
    """Computes -sum(labels * log_softmax(features)) of each row, and softmax(features) - labels."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the losses [batch] and the gradients [batch, classes]; the two share their exponentials."""
        self.infer(*inputs)
        features, labels = inputs
        shifted = _shifted(features)
        powers = np.exp(shifted)
        totals = powers.sum(axis=-1, keepdims=True)
        wide = to_accumulator(labels)
        # a label of 0 contributes nothing, even where the logarithm is -inf
        terms = np.where(wide == 0, wide, wide * (np.log(totals) - shifted))
        loss = terms.sum(axis=-1).astype(features.dtype, copy=False)
        return loss, (powers / totals - wide).astype(features.dtype, copy=False)


@register_kernel("SparseSoftmaxCrossEntropyWithLogits")
class SparseSoftmaxXentWithLogitsOp(InferringKernel):
    """Computes the same for labels that are class numbers."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the losses [batch] and the gradients [batch, classes]; raise ``ValueError`` for no class."""
        self.infer(*inputs)
        features, labels = inputs
        rows, classes = np.arange(len(labels)), features.shape[1]
        if labels.size and not 0 <= labels.min() <= labels.max() < classes:
            bad = labels[(labels < 0) | (labels >= classes)][0]
            raise InvalidArgumentError(
                f"labels must be class numbers from 0 to {classes - 1}, one for each column of the features; "
                f"got {bad}"
            )
        shifted = _shifted(features)
        powers = np.exp(shifted)
        totals = powers.sum(axis=-1, keepdims=True)
        loss = np.log(totals[:, 0]) - shifted[rows, labels]
        backprop = powers / totals
        backprop[rows, labels] -= 1
        return loss.astype(features.dtype, copy=False), backprop.astype(features.dtype, copy=False)


# --- images ------------------------------------------------------------------------------------------


class _Resize(InferringKernel):
    def sources(self, in_size: int, out_size: int) -> np.ndarray:
        """Return, for each output row (or column), the input row that it copies.

        TensorFlow computes in float32, and the results for odd ratios depend on that.
        """
        corners = self.node.attrs["align_corners"] and out_size > 1
        scale = np.float32(in_size - 1) / np.float32(out_size - 1) if corners else None
        scale = np.float32(in_size) / np.float32(out_size) if scale is None else scale
        at = np.arange(out_size, dtype=np.float32)
        at = (at + np.float32(0.5)) * scale if self.node.attrs["half_pixel_centers"] else at * scale
        rounded = np.floor(at + np.float32(0.5)) if self.node.attrs["align_corners"] else np.floor(at)
        return np.clip(rounded.astype(np.intp), 0, in_size - 1)


@register_kernel("ResizeNearestNeighbor")
class ResizeNearestNeighborOp(_Resize):
    """Copies, for each cell, its nearest neighbour."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return [batch, rows, cols, channels] of the size given by the second input."""
        ((_, rows, cols, _),) = self.infer(*inputs)
        images = inputs[0]
        return images[:, self.sources(images.shape[1], rows)][:, :, self.sources(images.shape[2], cols)]


@register_kernel("ResizeNearestNeighborGrad")
class ResizeNearestNeighborOpGrad(_Resize):
    """Sums, for each cell, the gradients of its copies."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient of images of the size given by the second input."""
        (shape,) = self.infer(*inputs)
        gradient = inputs[0] if is_integer(inputs[0].dtype) else to_accumulator(inputs[0])
        for axis in (1, 2):
            sources = self.sources(shape[axis], gradient.shape[axis])
            summed = np.zeros(
                (*gradient.shape[:axis], shape[axis], *gradient.shape[axis + 1 :]), gradient.dtype
            )
            np.add.at(np.moveaxis(summed, axis, 0), sources, np.moveaxis(gradient, axis, 0))
            gradient = summed
        return gradient.astype(inputs[0].dtype, copy=False)
