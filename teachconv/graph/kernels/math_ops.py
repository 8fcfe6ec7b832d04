"""Kernels of matrix products, reductions (Sum, Mean, Prod, Max, Min, ArgMax) and random numbers.

TensorFlow: core/kernels/matmul_op_impl.h, reduction_ops_sum.cc and similar files, argmax_op.cc, random_op.cc.
Integers wrap around on overflow. Sums of float16 and bfloat16 are accumulated in float32. The random numbers
are those of NumPy's PCG64: reproducible, but not TensorFlow's, which are Philox's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import backends, dispatch
from ...backends import to_accumulator
from ...calls import Call
from ...dtypes import is_integer, lowest
from ...geometry import conv2d_geometry
from ...kinds import OPS
from ..core_ops.common_shape_fns import normalize_axes
from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel
from ..framework.shape_inference import InferringKernel

__all__: list[str] = []


@register_kernel("MatMul", "CPU", "", *backends.TABLE)
class MatMulOp(OpKernel):
    """Multiplies two matrices as a 1 x 1 convolution, with the backend's kernels.

    An image [1, 1, rows, inner] convolved with filters [1, 1, inner, cols] gives [1, 1, rows, cols]. The
    two products of MatMul's gradient, in which one factor is transposed, are then the two gradients of that
    convolution, with no matrix transposed in memory. The backend cython gives the same bits
    for any number of threads; NumPy's ``@`` would not promise that.
    """

    is_expensive = True

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.transpose_a, self.transpose_b = node.attrs["transpose_a"], node.attrs["transpose_b"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return [rows, cols] for a [rows, inner] and b [inner, cols], transposed as the attributes say."""
        a, b = inputs
        if self.transpose_a and self.transpose_b:
            return np.ascontiguousarray(self.product(b, a, False, False).T)
        return self.product(a, b, self.transpose_a, self.transpose_b)

    def product(
        self,
        a: Any,
        b: Any,
        transpose_a: bool,
        transpose_b: bool,
        bias: Any = None,
        activation: str | None = None,
    ) -> Any:
        """Return a @ b after at most one transpose; the bias and "relu" go with an ``a`` as it is only."""
        rows, inner = a.shape[::-1] if transpose_a else a.shape
        other, cols = b.shape[::-1] if transpose_b else b.shape
        if inner != other:
            raise InvalidArgumentError(
                f"the columns of a and the rows of b must be equally many; got {inner} and {other}"
            )
        if transpose_a:  # the sum over the positions of an image
            op, first, second = "conv2d_backprop_filter", a[None, None], b[None, None]
            geometry = conv2d_geometry((1, 1, inner, rows), (1, 1, rows, cols))
        elif transpose_b:
            op, first, second = "conv2d_backprop_input", a[None, None], b[None, None]
            geometry = conv2d_geometry((1, 1, rows, cols), (1, 1, cols, inner))
        else:
            op, first, second = "conv2d", a[None, None], b[None, None]
            geometry = conv2d_geometry((1, 1, rows, inner), (1, 1, inner, cols))
        call = Call(OPS[op], first, second, geometry, (1, 1, rows, cols), "NHWC", bias)
        return dispatch.run_canonical(call, self.label or None, activation=activation)[0, 0]


@register_kernel("_FusedMatMul", "CPU", "", *backends.TABLE)
class FusedMatMulOp(MatMulOp):
    """Computes MatMul, BiasAdd and optionally Relu with one call to a backend."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the output for a, b and bias, which the backend's epilogue applies."""
        a, b, bias = inputs
        activation = "relu" if self.node.attrs["fused_ops"][1:] == ("Relu",) else None
        return self.product(a, b, False, self.transpose_b, bias, activation)


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
        """Return the mean; for integers it is rounded towards zero, and their sum is one of int64."""
        x = inputs[0]
        total, axes = self.sum(x.astype("int64") if is_integer(x.dtype) else x, inputs[1])
        count = int(np.prod([x.shape[axis] for axis in axes]))
        if is_integer(x.dtype):
            if not count:
                return np.zeros_like(total, x.dtype)
            quotient, rest = np.divmod(total, total.dtype.type(count))  # rounded down
            return (quotient + ((rest != 0) & (total < 0))).astype(x.dtype, copy=False)
        return (total / total.dtype.type(count)).astype(x.dtype, copy=False)


class _Fold(_Reduction):
    """A reduction by a NumPy ufunc.

    Attributes:
        ufunc: the function of two values.
    """

    ufunc: np.ufunc

    @staticmethod
    def initial(dtype: np.dtype[Any]) -> Any:
        """Return the result for no elements."""
        raise NotImplementedError

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the reduction of the input over the axes given by the second input."""
        x, indices = inputs
        axes = normalize_axes(indices, x.ndim, "reduction_indices")
        initial = self.initial(x.dtype)
        return self.ufunc.reduce(x, axis=axes, keepdims=self.keep_dims, dtype=x.dtype, initial=initial)


@register_kernel("Prod")
class ProdOp(_Fold):
    """Multiplies over axes."""

    ufunc = np.multiply
    initial = staticmethod(lambda dtype: dtype.type(1))


@register_kernel("Max")
class MaxOp(_Fold):
    """Returns the largest value over axes."""

    ufunc = np.maximum

    @staticmethod
    def initial(dtype: np.dtype[Any]) -> Any:
        """Return the lowest value of the dtype."""
        return np.iinfo(dtype).min if is_integer(dtype) else dtype.type(-np.inf)


@register_kernel("Min")
class MinOp(_Fold):
    """Returns the smallest value over axes."""

    ufunc = np.minimum

    @staticmethod
    def initial(dtype: np.dtype[Any]) -> Any:
        """Return the largest value of the dtype."""
        return np.iinfo(dtype).max if is_integer(dtype) else dtype.type(np.inf)


@register_kernel("All")
class AllOp(_Fold):
    """Returns whether all values over axes are True."""

    ufunc = np.logical_and
    initial = staticmethod(lambda dtype: True)


@register_kernel("Any")
class AnyOp(_Fold):
    """Returns whether any value over axes is True."""

    ufunc = np.logical_or
    initial = staticmethod(lambda dtype: False)


@register_kernel("ArgMax")
class ArgMaxOp(OpKernel):
    """Returns the position of the largest value along an axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the first position where several are equal; NaN counts as the lowest value, as -inf does."""
        x, axis = inputs
        if not is_integer(x.dtype) and x.dtype != bool:
            x = np.fmax(x, lowest(x.dtype))
        return np.argmax(x, int(axis)).astype(self.node.attrs["output_type"], copy=False)


# --- random numbers ----------------------------------------------------------------------------------


class _Random(InferringKernel):
    """Keeps one generator for all runs of the node in a session, so that each continues the sequence."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        seeds = [node.attrs["seed"], node.attrs["seed2"]]
        self.seeds = [seed & 0xFFFFFFFF for seed in seeds] if any(seeds) else None

    def generator(self, context: OpKernelContext) -> np.random.Generator:
        """Return the node's generator."""
        resources = {} if context.resources is None else context.resources
        known = resources.get(self.node.name)
        if known is None:
            fresh = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seeds)))
            known = resources.setdefault(self.node.name, fresh)  # at once for all threads
        return known

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return new numbers of the shape that the input gives."""
        (shape,) = self.infer(*inputs)
        dtype = self.node.attrs["dtype"]
        drawn = np.dtype("float64") if dtype == np.float64 else np.dtype("float32")
        return self.draw(self.generator(context), shape, drawn).astype(dtype, copy=False)

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return random numbers in float32 or float64."""
        raise NotImplementedError


@register_kernel("RandomUniform")
class RandomUniformOp(_Random):
    """Draws from the uniform distribution on [0, 1)."""

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return uniform random numbers."""
        return generator.random(shape, dtype)


@register_kernel("RandomUniformInt")
class RandomUniformIntOp(_Random):
    """Draws integers from minval to maxval, which is not among them."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return new integers of the shape that the first input gives."""
        (shape,) = self.infer(*inputs)
        _, low, high = inputs
        if low >= high:
            raise InvalidArgumentError(f"Need minval < maxval, got {low} >= {high}")
        return self.generator(context).integers(low, high, shape, low.dtype)


@register_kernel("RandomStandardNormal")
class RandomStandardNormalOp(_Random):
    """Draws from the normal distribution with mean 0 and standard deviation 1."""

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return normal random numbers."""
        return generator.standard_normal(shape, dtype)


@register_kernel("TruncatedNormal")
class TruncatedNormalOp(_Random):
    """Draws from the normal distribution cut off at two standard deviations."""

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return normal random numbers; those beyond 2 are drawn again until none is left."""
        numbers = generator.standard_normal(shape, dtype)
        while (far := np.abs(numbers) > 2).any():
            numbers[far] = generator.standard_normal(int(far.sum()), dtype)
        return numbers
