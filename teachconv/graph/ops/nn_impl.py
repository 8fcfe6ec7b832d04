"""Functions of networks that are composed of other ops. TensorFlow: python/ops/nn_impl.py and clip_ops.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arguments import real, truth
from ...dtypes import is_integer
from ...errors import ArgumentError, ArgumentTypeError, brief
from ..framework.op_def import is_trainable
from ..framework.ops import name_scope
from ..framework.tensor import tensor_dtype
from ..options import unsupported
from .array_ops import convert_to_tensor, shape, squeeze, stop_gradient
from .math_ops import (
    cast,
    greater,
    greater_equal,
    maximum,
    minimum,
    multiply,
    reduce_mean,
    reduce_sum,
    square,
    subtract,
    where,
)
from .nn_ops import relu
from .random_ops import random_uniform

_NUMBERS = (int, float, np.integer, np.floating)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Return the values, those outside of an interval replaced by its nearer end.

    Args:
        t: a tensor, variable or array.
        clip_value_min: the lower end.
        clip_value_max: the upper end.
        name: the name of the node.

    Returns:
        A tensor of the same shape.

    >>> clip_by_value([-2.0, 0.5, 9.0], -1.0, 1.0).numpy().tolist()
    [-1.0, 0.5, 1.0]
    """
    with name_scope(name or "clip_by_value") as scope:
        return maximum(minimum(convert_to_tensor(t, name="t"), clip_value_max), clip_value_min, scope)


def relu6(features: Any, name: str | None = None) -> Any:
    """Return min(max(features, 0), 6).

    Args:
        features: a tensor, variable or array.
        name: the name of the node.

    Returns:
        A tensor of the same shape.
    """
    with name_scope(name or "Relu6") as scope:
        return minimum(6, relu(features), scope)  # in this order: at 6 the gradient is that of the number


def leaky_relu(features: Any, alpha: float = 0.2, name: str | None = None) -> Any:
    """Return features, the negative ones multiplied by ``alpha``.

    Args:
        features: a tensor, variable or array.
        alpha: the slope for negative values: any number, rounded to float32.
        name: the name of the node.

    Returns:
        A tensor of the same shape; float32 for integers.

    Raises:
        TypeError: if ``alpha`` is no number.

    >>> leaky_relu([-10.0, 5.0]).numpy().tolist()
    [-2.0, 5.0]
    """
    if not isinstance(alpha, _NUMBERS):
        raise ArgumentTypeError(f"alpha must be a number; got {brief(alpha)}")
    with name_scope(name or "LeakyRelu") as scope:
        x = convert_to_tensor(features, name="features")
        x = cast(x, "float32") if is_integer(x.dtype) else x
        return where(greater(x, 0), x, multiply(x, np.float32(real(alpha, "alpha"))), scope)


def l2_loss(t: Any, name: str | None = None) -> Any:
    """Return half the sum of the squares.

    Args:
        t: a tensor, variable or array.
        name: the name of the node.

    Returns:
        A scalar.

    >>> float(l2_loss([1.0, 2.0, 3.0]))
    7.0
    """
    with name_scope(name or "L2Loss") as scope:
        return multiply(reduce_sum(square(t)), 0.5, scope)


@unsupported("shift")
def moments(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """Return the mean and the variance over axes.

    Args:
        x: a tensor, variable or array of floats.
        axes: the axes, a list of ints.
        shift: None; teachconv has no other.
        keepdims: whether to keep the axes with size 1.
        name: the name scope of the nodes.

    Returns:
        Two tensors, the mean and the mean squared distance from it.

    >>> mean, variance = moments([1.0, 3.0], [0])
    >>> float(mean), float(variance)
    (2.0, 1.0)
    """
    with name_scope(name or "moments"):
        mean = reduce_mean(x, axes, keepdims=True, name="mean")
        distance = square(subtract(x, stop_gradient(mean)), name="SquaredDifference")
        variance = reduce_mean(distance, axes, keepdims=True, name="variance")
        return (
            (mean, variance)
            if truth(keepdims, "keepdims")
            else (squeeze(mean, axes), squeeze(variance, axes))
        )


@unsupported("noise_shape")
def dropout(
    x: Any, rate: Any, noise_shape: Any = None, seed: int | None = None, name: str | None = None
) -> Any:
    """Set elements to zero at random and multiply the others by 1 / (1 - rate), which keeps the mean.

    Args:
        x: a tensor, variable or array of floats.
        rate: the probability of a zero: a number from 0 to below 1, or a tensor.
        noise_shape: None; teachconv has no other.
        seed: an int for the same zeros in every process; they are not TensorFlow's.
        name: the name scope of the nodes.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: if ``rate`` is no tensor and no number in [0, 1), or ``x`` does not hold floats.

    >>> sorted(set(dropout([1.0] * 100, 0.5, seed=0).numpy().tolist()))
    [0.0, 2.0]
    """
    if tensor_dtype(rate) is None and not (isinstance(rate, _NUMBERS) and 0 <= rate < 1):
        raise ArgumentError(f"rate must be from 0 to below 1, or a tensor; got {brief(rate)}")
    with name_scope(name or "dropout"):
        x = convert_to_tensor(x, name="x")
        if not is_trainable(x.dtype):
            raise ArgumentError(f"x of dropout must hold floats, which are scaled; got {x.dtype.name}")
        kept = greater_equal(random_uniform(shape(x), dtype=x.dtype, seed=seed), rate)
        return where(kept, multiply(x, 1.0 / (1.0 - rate)), 0)
