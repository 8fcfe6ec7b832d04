"""MaxPool, AvgPool and their gradients: one tap (position in the window) at a time, for all windows at once.

TensorFlow: core/kernels/maxpooling_op.cc and avgpooling_op.cc. Windows follow the same index law as filters,
so the kernels use the same geometry and the same tables of taps, and work on views of the images.

Where several cells of a window are equally large, the gradient belongs to the first of them in row-major
order, as in TensorFlow on a CPU (SpatialMaxPoolWithArgMaxHelper in maxpooling_op.cc replaces the largest
value only by a larger one).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...arguments import normalize_padding, normalize_steps
from ...backends import to_accumulator
from ...dtypes import is_integer
from ...geometry import Conv2DGeometry, conv2d_geometry
from ...taps import overlap
from ..core_ops.common_shape_fns import padding_argument
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernelContext, register_kernel
from ..framework.shape_inference import InferringKernel
from .math_ops import lowest
from .nn_ops import where_or_zero

__all__: list[str] = []


class _Pool(InferringKernel):
    is_expensive = True

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        attrs = node.attrs
        self.nchw = attrs["data_format"] == "NCHW"
        self.ksize = normalize_steps(list(attrs["ksize"]), "ksize", attrs["data_format"])
        self.strides = normalize_steps(list(attrs["strides"]), "strides", attrs["data_format"])
        mode, pads = normalize_padding(padding_argument(attrs), attrs["data_format"])
        self.padding: Any = pads if mode == "EXPLICIT" else mode

    def geometry(self, shape: Any) -> Conv2DGeometry:
        """Return the geometry of the windows on images of a shape [batch, rows, cols, channels]."""
        batch, in_rows, in_cols, _ = shape
        return conv2d_geometry((batch, in_rows, in_cols, 1), (*self.ksize, 1, 1), self.strides, self.padding)

    def to_nhwc(self, images: Any) -> Any:
        """Return images as [batch, rows, cols, channels]."""
        return images.transpose(0, 2, 3, 1) if self.nchw else images

    def to_caller(self, images: Any) -> Any:
        """Return [batch, rows, cols, channels] in the layout of the node."""
        return np.ascontiguousarray(images.transpose(0, 3, 1, 2)) if self.nchw else images


def _pooled_shape(x: Any, geometry: Conv2DGeometry) -> tuple[int, ...]:
    return x.shape[0], geometry.rows.out_size, geometry.cols.out_size, x.shape[3]


def _each_tap(geometry: Conv2DGeometry) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
    """Yield, for each tap of the window, the slices of the outputs and of the inputs that it connects."""
    for tap in np.ndindex(geometry.filters_shape[:2]):
        out_rows, in_rows = overlap(geometry.rows, tap[0])
        out_cols, in_cols = overlap(geometry.cols, tap[1])
        yield (slice(None), out_rows, out_cols), (slice(None), in_rows, in_cols)


@register_kernel("MaxPool")
class MaxPoolingOp(_Pool):
    """Computes the largest value of each window."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the maxima, from the lowest finite value of the dtype on; padding and NaN are skipped."""
        x = self.to_nhwc(inputs[0])
        geometry = self.geometry(x.shape)
        y = np.full(_pooled_shape(x, geometry), lowest(x.dtype), x.dtype)
        for outputs, cells in _each_tap(geometry):
            np.fmax(y[outputs], x[cells], out=y[outputs])
        return self.to_caller(y)


def _first_largest(x: Any, y: Any, geometry: Conv2DGeometry) -> Iterator[tuple[Any, Any, Any]]:
    """Yield, for each tap, its outputs, its inputs, and where it is the first of the largest cells."""
    waiting = np.ones(y.shape, bool)  # windows whose largest cell was not found yet
    nan = np.isnan(x)
    any_nan = nan.any()
    if not is_integer(x.dtype):
        x = np.fmax(x, lowest(x.dtype))  # as MaxPool compares them
    first = np.ones(y.shape, bool)  # windows of which no cell was seen yet: a NaN there is never replaced
    for outputs, inputs in _each_tap(geometry):
        found = x[inputs] == y[outputs]
        if any_nan:
            found |= nan[inputs] & first[outputs]
            first[outputs] = False
        found &= waiting[outputs]
        waiting[outputs] &= ~found
        yield outputs, inputs, found


@register_kernel("MaxPoolGrad")
class MaxPoolingGradOp(_Pool):
    """Adds the gradient of each window to the first of its largest cells."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient for orig_input, orig_output and grad; overlapping windows add up in float32."""
        self.infer(*inputs)
        x, y, gradient = map(self.to_nhwc, inputs)
        gradient = gradient if is_integer(x.dtype) else to_accumulator(gradient)
        result = np.zeros(x.shape, gradient.dtype)
        geometry = self.geometry(x.shape)
        apart = all(step >= size for step, size in zip(self.strides, self.ksize, strict=True))
        for outputs, cells, found in _first_largest(x, y, geometry):
            if apart:  # each cell is in one window
                where_or_zero(found, gradient[outputs], out=result[cells])
            else:
                result[cells] += where_or_zero(found, gradient[outputs])
        return self.to_caller(result.astype(x.dtype, copy=False))


@register_kernel("MaxPoolGradGrad")
class MaxPoolingGradGradOp(_Pool):
    """Returns the value of grad at the first of the largest cells of each window."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient of MaxPoolGrad with respect to its input grad."""
        self.infer(*inputs)
        x, y, gradient = map(self.to_nhwc, inputs)
        result = np.zeros(y.shape, gradient.dtype)
        for outputs, cells, found in _first_largest(x, y, self.geometry(x.shape)):
            np.copyto(result[outputs], gradient[cells], where=found)
        return self.to_caller(result)


def _counts(shape: tuple[int, ...], geometry: Conv2DGeometry, dtype: Any) -> np.ndarray:
    """Return the number of cells of each window that are not padding, [1, out_rows, out_cols, 1]."""
    counts = np.zeros((1, *shape[1:3], 1), dtype)
    for outputs, _ in _each_tap(geometry):
        counts[outputs] += 1
    return counts


@register_kernel("AvgPool")
class AvgPoolingOp(_Pool):
    """Computes the mean of each window over the cells that are not padding."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the sums in the accumulator's type, divided by the number of cells of each window."""
        x = self.to_nhwc(to_accumulator(inputs[0]))
        geometry = self.geometry(x.shape)
        sums = np.zeros(_pooled_shape(x, geometry), x.dtype)
        for outputs, cells in _each_tap(geometry):
            sums[outputs] += x[cells]
        sums /= _counts(sums.shape, geometry, x.dtype)
        return self.to_caller(sums.astype(inputs[0].dtype, copy=False))


@register_kernel("AvgPoolGrad")
class AvgPoolingGradOp(_Pool):
    """Distributes the gradient of each window equally among its cells."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient for orig_input_shape and grad, summed in the accumulator's type."""
        (shape,) = self.infer(*inputs)
        gradient = self.to_nhwc(to_accumulator(inputs[1]))
        result = np.zeros((shape[0], *shape[2:], shape[1]) if self.nchw else shape, gradient.dtype)
        geometry = self.geometry(result.shape)
        share = gradient / _counts(gradient.shape, geometry, gradient.dtype)
        for outputs, cells in _each_tap(geometry):
            result[cells] += share[outputs]
        return self.to_caller(result.astype(inputs[1].dtype, copy=False))
