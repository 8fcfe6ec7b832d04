"""Functions of networks that are composed of other ops. TensorFlow: python/ops/nn_impl.py and clip_ops.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.arguments import check_data_format, normalize_steps, real, truth
from ...core.dtypes import is_integer
from ...core.kinds import layout_of
from ...support.errors import ArgumentError, brief, check_word
from ..framework.eager_tensor import items, static_shape
from ..framework.op_def import is_trainable
from ..framework.ops import name_scope
from ..framework.tensor import tensor_dtype
from ..framework.tensor_shape import is_compatible, text
from ..options import check_type, either, unsupported
from .array_ops import convert_to_tensor, shape, squeeze, stop_gradient, zeros_like
from .math_ops import (
    add,
    cast,
    exp,
    greater,
    greater_equal,
    log1p,
    maximum,
    minimum,
    multiply,
    reduce_mean,
    reduce_sum,
    rsqrt,
    sqrt,
    square,
    subtract,
    truediv,
    where,
)
from .nn_ops import avg_pool, conv2d, depthwise_conv2d, max_pool, relu
from .random_ops import random_uniform

_NUMBERS = (int, float, np.integer, np.floating)


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Clip the values to an interval: each one outside of it becomes the nearer end.

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


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scale the values such that the root of their sum of squares is at most ``clip_norm``.

    Args:
        t: a tensor, variable or array of floats.
        clip_norm: the largest norm.
        axes: the axes of the sum; None for all.
        name: the name scope of the nodes.

    Returns:
        A tensor of the same shape.

    >>> clip_by_norm([3.0, 4.0], 1.0).numpy().tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    with name_scope(name or "clip_by_norm"):
        t = convert_to_tensor(t, name="t")
        squares = reduce_sum(square(t), axes, keepdims=True)
        positive = greater(squares, 0)  # the root has no gradient at 0
        norm = where(positive, sqrt(where(positive, squares, 1)), squares)
        return truediv(multiply(t, clip_norm), maximum(norm, clip_norm))


def l2_normalize(
    x: Any, axis: Any = None, epsilon: Any = 1e-12, name: str | None = None, dim: Any = None
) -> Any:
    """Divide the values by the root of their sum of squares.

    Args:
        x: a tensor, variable or array of floats.
        axis: the axes of the sum; None for all.
        epsilon: the smallest sum of squares.
        name: the name scope of the nodes.
        dim: the old name of ``axis``.

    Returns:
        A tensor of the same shape.

    >>> l2_normalize([3.0, 4.0]).numpy().tolist()
    [0.6000000238418579, 0.800000011920929]
    """
    with name_scope(name or "l2_normalize"):
        squares = reduce_sum(square(x), either("axis", axis, "dim", dim), keepdims=True)
        return multiply(x, rsqrt(maximum(squares, epsilon)))


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
        TypeError: if ``alpha`` is not a number.

    >>> leaky_relu([-10.0, 5.0]).numpy().tolist()
    [-2.0, 5.0]
    """
    check_type(alpha, _NUMBERS, "alpha must be a number")
    with name_scope(name or "LeakyRelu") as scope:
        x = convert_to_tensor(features, name="features")
        x = cast(x, "float32") if is_integer(x.dtype) else x
        return where(greater(x, 0), x, multiply(x, np.float32(real(alpha, "alpha"))), scope)


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """Return -labels * log(p) - (1 - labels) * log(1 - p), element by element, for p = sigmoid(logits).

    It is computed as max(logits, 0) - logits * labels + log(1 + exp(-abs(logits))), which cannot overflow.

    Args:
        labels: numbers from 0 to 1.
        logits: floats, a tensor, variable or array of the same shape.
        name: the name of the node.

    Returns:
        A tensor of that shape.

    Raises:
        ValueError, TypeError: if shapes or dtypes differ.

    >>> sigmoid_cross_entropy_with_logits([1.0, 0.0], [0.0, 100.0]).numpy().tolist()
    [0.6931471824645996, 100.0]
    """
    with name_scope(name or "logistic_loss") as scope:
        logits, labels = convert_to_tensor(logits, name="logits"), convert_to_tensor(labels, name="labels")
        if not labels.shape.is_compatible_with(logits.shape):
            raise ArgumentError(f"logits and labels must have one shape; got {logits.shape}, {labels.shape}")
        zeros = zeros_like(logits)
        positive = greater_equal(logits, zeros)
        relu_logits = where(positive, logits, zeros)
        below_zero = where(positive, -logits, logits)
        return add(relu_logits - logits * labels, log1p(exp(below_zero)), name=scope)


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, name: str | None = None
) -> Any:
    """Return (x - mean) / sqrt(variance + variance_epsilon) * scale + offset.

    Args:
        x: a tensor, variable or array of floats.
        mean: of a shape that broadcasts to that of ``x``, as are the next three.
        variance: as ``mean``.
        offset: what is added, often called beta, or None.
        scale: the factor, often called gamma, or None.
        variance_epsilon: a small number against division by zero.
        name: the name scope of the nodes.

    Returns:
        A tensor of the shape of ``x``.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other.

    >>> batch_normalization([1.0, 3.0], 2.0, 1.0, 10.0, 2.0, 0.0).numpy().tolist()
    [8.0, 12.0]
    """
    with name_scope(name or "batchnorm"):
        inverse = rsqrt(add(variance, variance_epsilon))
        inverse = inverse if scale is None else multiply(inverse, scale)
        shift = multiply(mean, inverse)
        shift = -shift if offset is None else subtract(offset, shift)
        dtype = tensor_dtype(x) or inverse.dtype
        return multiply(x, cast(inverse, dtype)) + cast(shift, dtype)


def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Return `max_pool` or `avg_pool` over as many axes as the window has, as tf.nn.pool.

    Args:
        input: as in `max_pool`.
        window_shape: one size for each spatial axis.
        pooling_type: "MAX" or "AVG".
        strides: as ``window_shape``; None stands for 1.
        padding, data_format, name: as in `max_pool`.
        dilations: must be None or 1.

    Returns:
        As `max_pool`.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> pool([[[1.0], [5.0], [3.0]]], [2], "MAX").numpy().ravel().tolist()
    [5.0, 5.0]
    """
    check_word(pooling_type, "pooling_type", ("MAX", "AVG"))
    sizes = items(window_shape, "window_shape", "a list of ints")
    rank = len(sizes) if len(sizes) in (1, 2, 3) else 2
    layout = check_data_format(layout_of("input", rank) if data_format is None else data_format, rank)
    if max(normalize_steps(dilations, "dilations", layout)) > 1:
        raise ArgumentError(f"dilations must be None or 1: teachconv has no other; got {brief(dilations)}")
    op, steps = max_pool if pooling_type == "MAX" else avg_pool, 1 if strides is None else strides
    return op(input, sizes, steps, padding, layout, name or f"{pooling_type.lower()}_pool")


def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """Convolve each channel with its own filters, then mix the channels, as tf.nn.separable_conv2d.

    Args:
        input: as in `conv2d`.
        depthwise_filter: [filter_rows, filter_cols, in_channels, channel_multiplier].
        pointwise_filter: [1, 1, in_channels * channel_multiplier, out_channels].
        strides, padding, data_format, dilations: as in `depthwise_conv2d`.
        name: the name scope of the nodes.

    Returns:
        [batch, out_rows, out_cols, out_channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    shape = static_shape(pointwise_filter)
    if not is_compatible(shape, (1, 1, None, None)):
        raise ArgumentError(
            f"pointwise_filter must be [1, 1, channels, out_channels]; got shape {text(shape)}"
        )
    with name_scope(name or "separable_conv2d") as scope:
        each = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
        return conv2d(each, pointwise_filter, 1, "VALID", data_format, name=scope)


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
        shift: must be None.
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
        noise_shape: must be None.
        seed: an int for the same zeros in every process; they are not TensorFlow's.
        name: the name scope of the nodes.

    Returns:
        A tensor of the same shape.

    Raises:
        ValueError: if ``rate`` is neither a tensor nor a number in [0, 1), or ``x`` does not hold floats.

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
