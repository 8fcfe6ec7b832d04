"""BiasAdd, Relu and Softmax in plain NumPy.

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
    """One number added to each channel."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.nchw = node.attrs["data_format"] == "NCHW"

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """value [..., channels], or [batch, channels, ...] where the data_format is NCHW."""
        value, bias = inputs
        if self.nchw:
            bias = bias.reshape(-1, *(1,) * (value.ndim - 2))
        return value + bias


@register_kernel("Relu")
class ReluOp(OpKernel):
    """max(features, 0); NaN stays NaN."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Element by element."""
        features = inputs[0]
        return np.maximum(features, features.dtype.type(0))


@register_kernel("Softmax")
class SoftmaxOp(OpKernel):
    """exp(logits) over its sum along the last axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """The largest logit is subtracted first: no exp overflows, and the quotient is the same."""
        logits = to_accumulator(inputs[0])
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
        return (powers / powers.sum(axis=-1, keepdims=True)).astype(inputs[0].dtype, copy=False)
