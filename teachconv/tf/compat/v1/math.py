"""The arithmetic of TensorFlow 1: tf.math and what the root has of it. TensorFlow: python/ops/math_ops.py.

Every function of `teachconv.tf.math` is here too and adds to the default graph; below are those whose
arguments differ in TensorFlow 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .... import graph as tg
from ....arguments import truth
from ....graph.ops import nn_impl
from ... import math
from ...dtypes import float32, int32, int64
from ...missing import module_getattr
from ...options import either
from .default_graph import in_graph
from .nn import log_softmax, softmax  # noqa: F401  (their arguments differ, too)

__all__ = list(math.__all__)


def _reduction(name: str) -> Callable[..., Any]:
    """Return a reduction of tf.math with the arguments of TensorFlow 1, some of them under two names."""
    function = getattr(math, name)

    def reduction(
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        axis = either("axis", axis, "reduction_indices", reduction_indices)
        keepdims = either("keepdims", keepdims, "keep_dims", keep_dims)
        return function(input_tensor, axis, truth(keepdims, "keepdims"), name)

    reduction.__name__ = reduction.__qualname__ = name
    reduction.__doc__ = function.__doc__
    return in_graph(reduction)


globals().update(
    {
        name: _reduction(name) if name.startswith("reduce_") else in_graph(getattr(math, name))
        for name in (*math.__all__, "matmul", "range")
        if name not in globals()
    }
)
cast = in_graph(tg.cast)
clip_by_value = in_graph(nn_impl.clip_by_value)


@in_graph
def argmax(
    input: Any, axis: Any = None, name: str | None = None, dimension: Any = None, output_type: Any = int64
) -> Any:
    """Return the index of the largest value along an axis, the first by default."""
    return math.argmax(input, either("axis", axis, "dimension", dimension), output_type, name)


@in_graph
def to_float(x: Any, name: str = "ToFloat") -> Any:
    """Return the values as float32.

    Args:
        x: a tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    return tg.cast(x, float32, name)


@in_graph
def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """Return the values as int32; fractions are cut off.

    Args:
        x: a tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    return tg.cast(x, int32, name)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__ = module_getattr(__name__, __all__)
