"""Arithmetic kernels in NumPy: Add, Sub, Mul, Square, MatMul, Sum and Mean.

TensorFlow: core/kernels/cwise_op_add_1.cc and similar files, matmul_op_impl.h, reduction_ops_sum.cc.
Integers wrap around on overflow. Sums of float16 and bfloat16 are accumulated in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...backends import to_accumulator
from ...dtypes import is_integer
from ..common_shape_fns import normalize_axes
from ..node_def import NodeDef
from ..op_kernel import OpKernel, OpKernelContext, register_kernel

__all__: list[str] = []


@register_kernel("Add")
class AddOp(OpKernel):
    """Computes x + y."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the result with broadcasting."""
        return np.add(inputs[0], inputs[1])


@register_kernel("Sub")
class SubOp(OpKernel):
    """Computes x - y."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the result with broadcasting."""
        return np.subtract(inputs[0], inputs[1])


@register_kernel("Mul")
class MulOp(OpKernel):
    """Computes x * y."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the result with broadcasting."""
        return np.multiply(inputs[0], inputs[1])


@register_kernel("Square")
class SquareOp(OpKernel):
    """Computes x * x."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the result element-wise."""
        return np.multiply(inputs[0], inputs[0])


@register_kernel("MatMul")
class MatMulOp(OpKernel):
    """Multiplies two matrices."""

    is_expensive = True

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.transpose_a, self.transpose_b = node.attrs["transpose_a"], node.attrs["transpose_b"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return [rows, cols] for a [rows, inner] and b [inner, cols], transposed as the attributes say."""
        a, b = (to_accumulator(matrix) for matrix in inputs)
        product = (a.T if self.transpose_a else a) @ (b.T if self.transpose_b else b)
        dtype = inputs[0].dtype
        return product.view(dtype) if is_integer(dtype) else product.astype(dtype, copy=False)


class _Reduction(OpKernel):
    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.keep_dims = node.attrs["keep_dims"]

    def sum(self, x: Any, indices: Any) -> tuple[Any, tuple[int, ...]]:
        """Return the sum in the accumulator's type, and the reduced axes."""
        axes = normalize_axes(indices, x.ndim, "reduction_indices")
        cells = x if is_integer(x.dtype) else to_accumulator(x)
        return np.sum(cells, axis=axes, keepdims=self.keep_dims, dtype=cells.dtype), axes


@register_kernel("Sum")
class SumOp(_Reduction):
    """Sums over axes."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the sum of the input over the axes given by the second input."""
        total, _ = self.sum(*inputs)
        return total.astype(inputs[0].dtype, copy=False)


@register_kernel("Mean")
class MeanOp(_Reduction):
    """Averages over axes."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the mean; for integers it is rounded towards zero, as in C and TensorFlow."""
        x = inputs[0]
        total, axes = self.sum(*inputs)
        count = int(np.prod([x.shape[axis] for axis in axes]))
        if is_integer(x.dtype):
            if not count:
                return np.zeros_like(total)
            quotient, rest = np.divmod(total, total.dtype.type(count))  # rounded down
            return (quotient + ((rest != 0) & (total < 0))).astype(x.dtype, copy=False)
        return (total / total.dtype.type(count)).astype(x.dtype, copy=False)
