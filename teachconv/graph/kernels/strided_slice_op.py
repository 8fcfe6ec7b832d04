"""StridedSlice and its gradient. TensorFlow: core/kernels/strided_slice_op.cc."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core_ops.strided_slice import index_of, sliced_shape
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel

__all__: list[str] = []


@register_kernel("StridedSlice")
class StridedSliceOp(OpKernel):
    """Returns a part of the input."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a view of the input; NumPy's slices follow the same rules."""
        x, *bounds = inputs
        key = index_of(self.node.attrs, *bounds)
        sliced_shape(x.shape, key)  # raises for an index out of range
        return x[(*key, ...)] if Ellipsis not in key else x[key]  # an array also where no axis is left


@register_kernel("StridedSliceGrad")
class StridedSliceGradOp(OpKernel):
    """Puts a gradient where StridedSlice took its output from."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return zeros of the given shape with ``dy`` in the place of the part."""
        shape, *bounds, dy = inputs
        whole = np.zeros(shape.tolist(), dy.dtype)
        whole[index_of(self.node.attrs, *bounds)] = dy
        return whole
