"""MaxPool and AvgPool: process one tap (position in the window) at a time, on views, for all windows at once.

TensorFlow: core/kernels/maxpooling_op.cc and avgpooling_op.cc. Windows follow the same index law as filters,
so the kernels use the same geometry and the same tables of taps.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arguments import normalize_padding, normalize_pair
from ...backends import to_accumulator
from ...dtypes import is_integer
from ...geometry import Conv2DGeometry, conv2d_geometry
from ...taps import overlap
from ..common_shape_fns import padding_argument
from ..node_def import NodeDef
from ..op_kernel import OpKernel, OpKernelContext, register_kernel

__all__: list[str] = []


class _Pool(OpKernel):
    is_expensive = True

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        attrs = node.attrs
        self.nchw = attrs["data_format"] == "NCHW"
        self.ksize = normalize_pair(list(attrs["ksize"]), "ksize", attrs["data_format"])
        self.strides = normalize_pair(list(attrs["strides"]), "strides", attrs["data_format"])
        mode, pads = normalize_padding(padding_argument(attrs), attrs["data_format"])
        self.padding: Any = pads if mode == "EXPLICIT" else mode

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the pooled input in the same layout."""
        x = inputs[0].transpose(0, 2, 3, 1) if self.nchw else inputs[0]
        batch, in_rows, in_cols, channels = x.shape
        geometry = conv2d_geometry(
            (batch, in_rows, in_cols, 1), (*self.ksize, 1, 1), self.strides, self.padding
        )
        y = self.pool(x, geometry, (batch, geometry.rows.out_size, geometry.cols.out_size, channels))
        return np.ascontiguousarray(y.transpose(0, 3, 1, 2)) if self.nchw else y

    def pool(self, x: np.ndarray, geometry: Conv2DGeometry, shape: tuple[int, ...]) -> np.ndarray:
        """Return [batch, out_rows, out_cols, channels]."""
        raise NotImplementedError


def _each_tap(geometry: Conv2DGeometry) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
    """Yield, for each tap of the window, the slices of the outputs and of the inputs that it connects."""
    for tap in np.ndindex(geometry.filters_shape[:2]):
        out_rows, in_rows = overlap(geometry.rows, tap[0])
        out_cols, in_cols = overlap(geometry.cols, tap[1])
        yield (slice(None), out_rows, out_cols), (slice(None), in_rows, in_cols)


@register_kernel("MaxPool")
class MaxPoolingOp(_Pool):
    """Computes the largest value of each window."""

    def pool(self, x: np.ndarray, geometry: Conv2DGeometry, shape: tuple[int, ...]) -> np.ndarray:
        """Return the maxima, starting from the lowest value of the dtype; padding is skipped."""
        lowest = np.iinfo(x.dtype).min if is_integer(x.dtype) else -np.inf
        y = np.full(shape, lowest, x.dtype)
        for outputs, inputs in _each_tap(geometry):
            np.maximum(y[outputs], x[inputs], out=y[outputs])
        return y


@register_kernel("AvgPool")
class AvgPoolingOp(_Pool):
    """Computes the mean of each window over the cells that are not padding."""

    def pool(self, x: np.ndarray, geometry: Conv2DGeometry, shape: tuple[int, ...]) -> np.ndarray:
        """Return the sums in the accumulator's type, divided by the number of cells of each window."""
        cells = to_accumulator(x)
        sums, counts = np.zeros(shape, cells.dtype), np.zeros((1, *shape[1:3], 1), cells.dtype)
        for outputs, inputs in _each_tap(geometry):
            sums[outputs] += cells[inputs]
            counts[outputs] += 1
        return (sums / counts).astype(x.dtype, copy=False)
