"""The kernels of BiasAdd, Relu and Softmax in NumPy.

TensorFlow: core/kernels/bias_op.cc, relu_op.cc and softmax_op.cc.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import to_accumulator
from ..node_def import NodeDef
from ..op_kernel import OpKernel, OpKernelContext, register_kernel

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


@register_kernel("Relu")
class ReluOp(OpKernel):
    """Computes max(features, 0); NaN stays NaN."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the result element-wise."""
        features = inputs[0]
        return np.maximum(features, features.dtype.type(0))


@register_kernel("Softmax")
class SoftmaxOp(OpKernel):
    """Computes exp(logits) divided by its sum along the last axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the softmax; subtracting the largest logit first prevents overflow without changing it."""
        logits = to_accumulator(inputs[0])
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(inputs[0].dtype, copy=False)
