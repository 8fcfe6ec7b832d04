"""MaxPool, AvgPool and their gradients; the law and the arithmetic are in `teachconv.windows`.

TensorFlow: core/kernels/maxpooling_op.cc and avgpooling_op.cc.
"""

from __future__ import annotations

from typing import Any

from ...arguments import normalize_padding, normalize_steps
from ...backends import to_accumulator
from ...dtypes import is_integer
from ...windows.pooling import PoolCall, backward, forward, pool_call, winners
from ..core_ops.common_shape_fns import padding_argument
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernelContext, register_kernel
from ..framework.shape_inference import InferringKernel


class _Pool(InferringKernel):
    reduce = "max"

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        attrs = node.attrs
        self.layout = layout = attrs["data_format"]
        self.windows = (
            normalize_steps(list(attrs["ksize"]), "ksize", layout),
            normalize_steps(list(attrs["strides"]), "strides", layout),
            normalize_padding(padding_argument(attrs), layout),
        )

    def pool(self, shape: Any) -> PoolCall:
        """Return the call of the pool for an input of a shape."""
        return pool_call(self.node.op, self.reduce, tuple(shape), self.layout, *self.windows)


@register_kernel("MaxPool")
class MaxPoolingOp(_Pool):
    """Computes the largest value of each window."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the maxima, from the lowest finite value of the dtype on; padding and NaN are skipped."""
        return forward(self.pool(inputs[0].shape), inputs[0])


@register_kernel("AvgPool")
class AvgPoolingOp(_Pool):
    """Computes the mean of each window over the cells that are not padding."""

    reduce = "average"

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the sums in the accumulator's type, divided by the number of cells of each window."""
        means = forward(self.pool(inputs[0].shape), to_accumulator(inputs[0]))
        return means.astype(inputs[0].dtype, copy=False)


@register_kernel("MaxPoolGrad")
class MaxPoolingGradOp(_Pool):
    """Adds the gradient of each window to the first of its largest cells."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient for orig_input and grad; overlapping windows add up in float32."""
        self.infer(*inputs)
        x, _, gradient = inputs
        pool = self.pool(x.shape)
        gradient = gradient if is_integer(x.dtype) else to_accumulator(gradient)
        return backward(pool, gradient, winners(pool, x)).astype(x.dtype, copy=False)


@register_kernel("MaxPoolGradGrad")
class MaxPoolingGradGradOp(_Pool):
    """Returns the value of grad at the first of the largest cells of each window."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient of MaxPoolGrad with respect to its input grad."""
        self.infer(*inputs)
        x, _, gradient = inputs
        return gradient.take(winners(self.pool(x.shape), x))


@register_kernel("AvgPoolGrad")
class AvgPoolingGradOp(_Pool):
    """Distributes the gradient of each window equally among its cells."""

    reduce = "average"

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the gradient for orig_input_shape and grad, summed in the accumulator's type."""
        (shape,) = self.infer(*inputs)
        return backward(self.pool(shape), to_accumulator(inputs[1])).astype(inputs[1].dtype, copy=False)
