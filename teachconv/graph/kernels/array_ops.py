"""What moves values without computing: Identity, Reshape, Transpose, Pad and the copies between devices.

TensorFlow: core/kernels/identity_op.cc, reshape_op.h, transpose_op.cc and pad_op.cc. Reshape and
Transpose return views; nobody writes to a value once a node has made it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common_shape_fns import InferenceContext, pad_shape, reshape_shape, transpose_shape
from ..op_kernel import OpKernel, OpKernelContext, register_kernel

__all__: list[str] = []


@register_kernel("Identity")
class IdentityOp(OpKernel):
    """The input itself."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Of a variable, the executor has put its value here."""
        return inputs[0]


@register_kernel("_Copy")
class CopyOp(OpKernel):
    """The input in the memory of this node's device."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Between CPU devices, an ordinary copy."""
        return np.array(inputs[0])


class _Reshaping(OpKernel):
    """Checks in the run what the shape function could not know when the node was made."""

    def checked(self, shape_fn: Any, tensor: Any, argument: Any) -> Any:
        """The output's shape, by the shape function, now that all is known."""
        shapes = [tensor.shape, argument.shape]
        return shape_fn(InferenceContext(self.node.op, shapes, [None, argument], self.node.attrs))


@register_kernel("Reshape")
class ReshapeOp(_Reshaping):
    """The same elements in another shape."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """tensor, and the new shape as a vector."""
        return inputs[0].reshape(self.checked(reshape_shape, *inputs))


@register_kernel("Transpose")
class TransposeOp(_Reshaping):
    """The axes in another order."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """x, and the order as a vector."""
        self.checked(transpose_shape, *inputs)
        return inputs[0].transpose(inputs[1].tolist())


@register_kernel("Pad")
class PadOp(_Reshaping):
    """Zeros before and after."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """input, and [before, after] for each axis."""
        x, paddings = inputs
        padded = np.zeros(self.checked(pad_shape, x, paddings), x.dtype)
        starts = paddings[:, 0].tolist()
        padded[tuple(slice(start, start + size) for start, size in zip(starts, x.shape, strict=True))] = x
        return padded
