"""Kernels that move values without computing: Identity, Reshape, Transpose, Pad and copies between devices.

TensorFlow: core/kernels/identity_op.cc, reshape_op.h, transpose_op.cc and pad_op.cc. Reshape and
Transpose return views, which is safe because values are never modified.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..common_shape_fns import InferenceContext, pad_shape, reshape_shape, transpose_shape
from ..op_kernel import OpKernel, OpKernelContext, register_kernel

__all__: list[str] = []


@register_kernel("Identity")
class IdentityOp(OpKernel):
    """Returns the input."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input; the executor has replaced a reference to a variable by its value."""
        return inputs[0]


@register_kernel("_Copy")
class CopyOp(OpKernel):
    """Copies the input to the memory of this node's device."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a copy of the input."""
        return np.array(inputs[0])


class _Reshaping(OpKernel):
    """Checks during the run what the shape function could not know when the node was created."""

    def checked(self, shape_fn: Any, tensor: Any, argument: Any) -> Any:
        """Return the shape of the output by the shape function, with all values known."""
        shapes = [tensor.shape, argument.shape]
        (shape,) = shape_fn(InferenceContext(self.node.op, shapes, [None, argument], self.node.attrs))
        return shape


@register_kernel("Reshape")
class ReshapeOp(_Reshaping):
    """Returns the same elements in another shape."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the tensor in the shape given by the second input."""
        return inputs[0].reshape(self.checked(reshape_shape, *inputs))


@register_kernel("Transpose")
class TransposeOp(_Reshaping):
    """Returns the input with permuted axes."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return x with its axes in the order given by the second input."""
        self.checked(transpose_shape, *inputs)
        return inputs[0].transpose(inputs[1].tolist())


@register_kernel("Pad")
class PadOp(_Reshaping):
    """Adds zeros before and after along each axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input with zeros around it; the second input is [before, after] for each axis."""
        x, paddings = inputs
        padded = np.zeros(self.checked(pad_shape, x, paddings), x.dtype)
        starts = paddings[:, 0].tolist()
        padded[tuple(slice(start, start + size) for start, size in zip(starts, x.shape, strict=True))] = x
        return padded
