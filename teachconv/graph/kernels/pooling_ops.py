"""MaxPool, AvgPool and their gradients, over two axes and three; the arithmetic is in `teachconv.windows`.

TensorFlow: core/kernels/maxpooling_op.cc, avgpooling_op.cc and pooling_ops_3d.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from ...backends import to_accumulator
from ...core.arguments import normalize_padding, normalize_steps
from ...core.dtypes import is_integer
from ...core.geometry import ConvGeometry
from ...windows.pooling import PoolCall, backward, forward, pool_call, winning_taps
from ..core_ops.common_shape_fns import padding_argument
from ..framework.shape_inference import register_function
from . import compiled


def _kernel(op: str, name: str, *, infers: bool = False) -> Callable[[Any], Any]:
    """Register the kernel of a pool over two axes, and over three."""
    word = "MaxPool" if op.startswith("Max") else "AvgPool"
    ops = op, op.replace(word, f"{word}3D")
    return register_function(*ops, name=name, infers=infers)


def _pool(reduce: str, shape: Any, attrs: Mapping[str, Any]) -> PoolCall:
    """Return the call of a pool for an input of a shape."""
    layout = attrs["data_format"]
    sizes, strides = (normalize_steps(list(attrs[name]), name, layout) for name in ("ksize", "strides"))
    padding = normalize_padding(padding_argument(attrs), layout)
    return _resolved("a pool", reduce, tuple(shape), layout, sizes, strides, padding)


_resolved = lru_cache(maxsize=256)(pool_call)  # the next step has pools of the same shapes


@_kernel("MaxPool", "MaxPoolingOp")
def _max_pool(x: Any, *, attrs: Any) -> Any:
    """Return the maxima, from the lowest finite value of the dtype on; padding and NaN are skipped."""
    return forward(_pool("max", x.shape, attrs), x)


@_kernel("AvgPool", "AvgPoolingOp")
def _avg_pool(x: Any, *, attrs: Any) -> Any:
    """Return the sums in the accumulator's type, divided by the number of cells that are not padding."""
    return forward(_pool("average", x.shape, attrs), to_accumulator(x)).astype(x.dtype, copy=False)


@_kernel("MaxPoolGrad", "MaxPoolingGradOp", infers=True)
def _max_pool_grad(x: Any, _: Any, gradient: Any, *, attrs: Any) -> Any:
    """Return the gradient for orig_input and grad; overlapping windows add up in float32."""
    pool = _pool("max", x.shape, attrs)
    gradient = gradient if is_integer(x.dtype) else to_accumulator(gradient)
    result = None
    if pool.layout == "NHWC":
        channels = x.shape[-1]
        geometry = ConvGeometry(len(x), pool.spatial, channels, channels, channels)
        result = compiled.max_pool_gradient(x, gradient, geometry)
    if result is None:
        result = backward(pool, gradient, winning_taps(pool, x)).astype(x.dtype, copy=False)
    return result


@_kernel("AvgPoolGrad", "AvgPoolingGradOp")
def _avg_pool_grad(_: Any, gradient: Any, *, out_shape: Any, attrs: Any) -> Any:
    """Return the gradient for orig_input_shape and grad, summed in the accumulator's type."""
    found = backward(_pool("average", out_shape, attrs), to_accumulator(gradient))
    return found.astype(gradient.dtype, copy=False)
