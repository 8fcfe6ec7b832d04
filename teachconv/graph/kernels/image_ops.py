"""ResizeNearestNeighbor and its gradient. TensorFlow: core/kernels/image/resize_nearest_neighbor_op.cc."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import to_accumulator
from ...dtypes import is_integer
from ..framework.inference import InferringKernel
from ..framework.op_kernel import OpKernelContext, register_kernel

__all__: list[str] = []


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
