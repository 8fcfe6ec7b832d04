"""Kernels of matrix products, reductions (Sum, Mean, Prod, Max, Min, ArgMax) and random numbers.

TensorFlow: core/kernels/matmul_op_impl.h, reduction_ops_sum.cc and similar files, argmax_op.cc, random_op.cc.
Integers wrap around on overflow. Sums of float16 and bfloat16 are accumulated in float32. The random numbers
are those of NumPy's PCG64: reproducible, but not TensorFlow's, which are Philox's.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ... import backends
from ...backends import to_accumulator
from ...core.dtypes import is_integer, lowest
from ...core.kinds import OPS
from ...running import dispatch
from ..core_ops.common_shape_fns import broadcast, normalize_axes
from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel
from ..framework.shape_inference import FunctionKernel, register_function

# what a product of matrices is, by whether each is transposed; a filter gradient sums over an image's cells
_CONVOLUTION = {
    (False, False): "conv2d",
    (True, False): "conv2d_backprop_filter",
    (False, True): "conv2d_backprop_input",
}


@register_kernel("MatMul", "CPU", "", *backends.TABLE)
class MatMulOp(OpKernel):
    """Multiplies two matrices as a 1 x 1 convolution, with the backend's kernels.

    An image [1, 1, rows, inner] convolved with filters [1, 1, inner, cols] gives [1, 1, rows, cols]. The
    two products of MatMul's gradient, in which one factor is transposed, are then the two gradients of that
    convolution, with no matrix transposed in memory. The backend cython gives the same bits
    for any number of threads; NumPy's ``@`` would not promise that.
    """

    transposes = ("transpose_a", "transpose_b")

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.transpose_a, self.transpose_b = (node.attrs[name] for name in self.transposes)

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
        """Return a @ b after at most one transpose; bias and "relu" need an ``a`` that is not transposed."""
        rows, inner = a.shape[::-1] if transpose_a else a.shape
        other, cols = b.shape[::-1] if transpose_b else b.shape
        if inner != other:
            raise InvalidArgumentError(f"a must have as many columns as b has rows; got {inner} and {other}")
        op = OPS[_CONVOLUTION[transpose_a, transpose_b]]
        windows = (1, "VALID", "NHWC", 1, (1, 1, rows, cols) if op.is_gradient else None)
        options = (self.label or None, None, None)
        found = dispatch.compute(
            op, a[None, None], b[None, None], windows, options, bias, activation=activation
        )
        return found[0, 0]


@register_kernel("BatchMatMulV2", "CPU", "", *backends.TABLE)
class BatchMatMulOp(MatMulOp):
    """Multiplies the matrices of two batches, one pair after another, each as MatMul does."""

    transposes = ("adj_x", "adj_y")

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return [..., rows, cols]; the axes before the last two are broadcast."""
        batch: Any = broadcast(inputs[0].shape[:-2], inputs[1].shape[:-2], self.node.op)
        x, y = (np.broadcast_to(each, batch + each.shape[-2:]) for each in inputs)
        sizes = x.shape[-1 if self.transpose_a else -2], y.shape[-2 if self.transpose_b else -1]
        result = np.empty(batch + sizes, x.dtype)
        for at in np.ndindex(*batch):
            result[at] = super().compute(context, x[at], y[at])
        return result


@register_kernel("_FusedMatMul", "CPU", "", *backends.TABLE)
class FusedMatMulOp(MatMulOp):
    """Computes MatMul, BiasAdd and optionally Relu with one call to a backend."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the output for a, b and bias, which the backend's epilogue applies."""
        a, b, bias = inputs
        activation = "relu" if self.node.attrs["fused_ops"][1:] == ("Relu",) else None
        return self.product(a, b, False, self.transpose_b, bias, activation)


# --- reductions --------------------------------------------------------------------------------------


def _axes(x: Any, indices: Any) -> tuple[int, ...]:
    return normalize_axes(indices, x.ndim, "reduction_indices")


def _total(x: Any, indices: Any, keep_dims: bool) -> Any:
    """Return the sum in the accumulator's type."""
    cells = x if is_integer(x.dtype) else to_accumulator(x)
    return np.sum(cells, axis=_axes(x, indices), keepdims=keep_dims, dtype=cells.dtype)


@register_function("Sum")
def _sum(x: Any, indices: Any, *, keep_dims: bool) -> Any:
    """Return the sum of the input over axes."""
    return _total(x, indices, keep_dims).astype(x.dtype, copy=False)


@register_function("Mean")
def _mean(x: Any, indices: Any, *, keep_dims: bool) -> Any:
    """Return the mean over axes; integers are summed in int64, and their mean is rounded towards zero."""
    total = _total(x.astype("int64") if is_integer(x.dtype) else x, indices, keep_dims)
    count = prod(x.shape[axis] for axis in _axes(x, indices))
    if not is_integer(x.dtype):
        return (total / total.dtype.type(count)).astype(x.dtype, copy=False)
    if not count:
        return np.zeros_like(total, x.dtype)
    quotient, rest = np.divmod(total, total.dtype.type(count))  # rounded down
    return (quotient + ((rest != 0) & (total < 0))).astype(x.dtype, copy=False)


def _register_fold(op: str, ufunc: np.ufunc, of_nothing: Callable[[Any], Any]) -> None:
    """Register the reduction by a function of two values; without elements it is ``of_nothing(dtype)``."""

    def fold(x: Any, indices: Any, *, keep_dims: bool) -> Any:
        """Return the reduction of the input over axes."""
        start = of_nothing(x.dtype)
        return ufunc.reduce(x, axis=_axes(x, indices), keepdims=keep_dims, dtype=x.dtype, initial=start)

    register_function(op)(fold)


_FOLDS: dict[str, tuple[np.ufunc, Callable[[Any], Any]]] = {
    "Prod": (np.multiply, lambda dtype: dtype.type(1)),
    "Max": (np.maximum, lambda dtype: np.iinfo(dtype).min if is_integer(dtype) else dtype.type(-np.inf)),
    "Min": (np.minimum, lambda dtype: np.iinfo(dtype).max if is_integer(dtype) else dtype.type(np.inf)),
    "All": (np.logical_and, lambda dtype: True),
    "Any": (np.logical_or, lambda dtype: False),
}
for _op, _fold in _FOLDS.items():
    _register_fold(_op, *_fold)


@register_function("ArgMax")
def _arg_max(x: Any, axis: Any, *, output_type: Any) -> Any:
    """Return the first position of the largest value along an axis; NaN counts as lowest, as -inf does."""
    if not is_integer(x.dtype) and x.dtype != bool:
        x = np.fmax(x, lowest(x.dtype))
    return np.argmax(x, int(axis)).astype(output_type, copy=False)


# --- random numbers ----------------------------------------------------------------------------------


class _Random(FunctionKernel):
    """Keeps one generator for all runs of the node in a session, so that each continues the sequence.

    Its function draws: it takes the generator, the shape, and all inputs except the first.
    """

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        seeds = [node.attrs["seed"], node.attrs["seed2"]]
        self.seeds = [seed & 0xFFFFFFFF for seed in seeds] if any(seeds) else None

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return new numbers of the shape that the first input gives."""
        (shape,) = self.infer(*inputs)
        resources = {} if context.resources is None else context.resources
        generator = resources.get(self.node.name)
        if generator is None:
            fresh = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seeds)))
            generator = resources.setdefault(self.node.name, fresh)  # at once for all threads
        return self._function(generator, shape, *inputs[1:])


def _of_floats(draw: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function of a kernel that draws in float32 or float64, and converts to other dtypes."""

    def drawn(generator: np.random.Generator, shape: tuple[int, ...], *, dtype: Any) -> Any:
        wide = np.dtype("float64") if dtype == np.float64 else np.dtype("float32")
        return draw(generator, shape, wide).astype(dtype, copy=False)

    return drawn


def truncated_normal(generator: np.random.Generator, shape: Any, dtype: Any = np.float64) -> np.ndarray:
    """Return normal random numbers; those beyond two standard deviations are drawn again."""
    numbers = generator.standard_normal(shape, dtype)
    while (far := np.abs(numbers) > 2).any():
        numbers[far] = generator.standard_normal(int(far.sum()), dtype)
    return numbers


_DRAWS: dict[str, Callable[..., Any]] = {
    "RandomUniform": np.random.Generator.random,
    "RandomStandardNormal": np.random.Generator.standard_normal,
    "TruncatedNormal": truncated_normal,
}
for _op, _draw in _DRAWS.items():
    register_function(_op, base=_Random)(_of_floats(_draw))


@register_function("RandomUniformInt", base=_Random)
def _uniform_int(generator: np.random.Generator, shape: tuple[int, ...], low: Any, high: Any) -> Any:
    """Return integers from minval to below maxval."""
    if low >= high:
        raise InvalidArgumentError(f"Need minval < maxval, got {low} >= {high}")
    return generator.integers(low, high, shape, low.dtype)
