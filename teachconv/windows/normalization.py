"""Batch normalisation folded into a convolution: one factor and one offset a channel, rounded once.

y = gamma · (x - mean) / sqrt(variance + eps) + beta is y = x · factor + offset with factor = gamma /
sqrt(variance + eps) and offset = beta - mean · factor. A convolution before it takes both up: its filters
are multiplied by the factors, and its bias becomes bias · factor + offset.

S. Ioffe and C. Szegedy, Batch normalization: accelerating deep network training by reducing internal
covariate shift, 2015.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import NamedTuple

import numpy as np

from ..argument_types import ArrayLike
from ..arguments import check_alike, integer, real
from ..dtypes import float_format, is_integer
from ..errors import ArgumentError, ArgumentTypeError, brief
from .calls import host_array
from .walking import exactly

__all__ = ["FoldedBatchNorm", "fold_batch_norm"]


class FoldedBatchNorm(NamedTuple):
    """The filters and the bias of a convolution that does what a convolution and batch normalisation did.

    Attributes:
        filters: of the shape and dtype of the filters that were folded.
        bias: [out_channels].
    """

    filters: np.ndarray
    bias: np.ndarray

    def error_bound(self, abs_sum: ArrayLike) -> np.ndarray:
        """Return what rounding the weights costs: how far an exact result with them may be from the true one.

        Args:
            abs_sum: sum |x||w| of each cell, with these filters and channels last.

        Returns:
            The bound of each cell, u / (1 - u) · (sum |x||w| + |bias|), u the unit roundoff: every weight is
            rounded once. It holds where no weight is subnormal. What summing costs comes on top.
        """
        u = float_format(self.filters.dtype).unit_roundoff
        return u / (1 - u) * (np.asarray(abs_sum, np.float64) + np.abs(self.bias.astype(np.float64)))


def fold_batch_norm(
    filters: ArrayLike,
    bias: ArrayLike | None,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    mean: ArrayLike,
    variance: ArrayLike,
    eps: float,
    *,
    channel_axis: int = -1,
) -> FoldedBatchNorm:
    """Fold batch normalisation into the convolution before it.

    Every new weight is the exact value, rounded once (the square root to 256 bits before).

    Args:
        filters: [filter_rows, filter_cols, in_channels / groups, out_channels], or others; floating.
        bias: [out_channels], or None for none.
        gamma: the scale, [out_channels]; None for ones.
        beta: the offset, [out_channels]; None for zeros.
        mean: the moving mean, [out_channels].
        variance: the moving variance, [out_channels].
        eps: what is added to the variance: 1e-3 is Keras' default, 1e-5 PyTorch's and ONNX's.
        channel_axis: the axis of the filters that holds the output channels: -1 for TensorFlow's, 0 for
            PyTorch's and ONNX's, 1 for their transposed convolutions, 2 for TensorFlow's.

    Returns:
        A ``FoldedBatchNorm``: ``.filters``, ``.bias``, and ``.error_bound(abs_sum)``.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other, a number is not finite, or variance
            + eps is not above 0.

    >>> import numpy as np, teachconv as tc
    >>> w, one = np.float32([[[[1, 2]]]]), np.ones(2, "float32")
    >>> folded = tc.fold_batch_norm(w, None, 3 * one, one, 5 * one, 2.25 - 0 * one, 0.0)
    >>> folded.filters.ravel().tolist(), folded.bias.tolist()
    ([2.0, 4.0], [-9.0, -9.0])
    """
    w, added = host_array(filters, "filters", None), real(eps, "eps")
    axis = integer(channel_axis, "channel_axis")
    if not -w.ndim <= axis < w.ndim:
        raise ArgumentError(f"channel_axis must be an axis of the filters {list(w.shape)}; got {axis}")
    given = {"gamma": (gamma, 1), "beta": (beta, 0), "bias": (bias, 0), "mean": (mean, None)}
    arrays = {
        name: np.full(w.shape[axis], default, w.dtype)
        if value is None and default is not None
        else host_array(value, name, 1)
        for name, (value, default) in {**given, "variance": (variance, None)}.items()
    }
    check_alike({"filters": w, **arrays})
    if is_integer(w.dtype):
        raise ArgumentTypeError(f'filters must have a floating dtype; got {w.dtype}: .astype("float32")')
    for name, array in {"filters": w, "eps": np.array(added), **arrays}.items():
        if not np.isfinite(array).all() or (name in arrays and len(array) != w.shape[axis]):
            count = f", one for each of {w.shape[axis]} output channels" if name in arrays else ""
            raise ArgumentError(f"{name} must be finite{count}; got {brief(array)}")
    exact = {
        name: np.array([*map(Fraction, array.astype(float).tolist())], object)
        for name, array in arrays.items()
    }
    squares = exact["variance"] + Fraction(added)
    if min(squares, default=1) <= 0:
        raise ArgumentError(f"variance + eps must be above 0; got {float(min(squares)):g} for eps {added:g}")
    roots = [Fraction(isqrt(v.numerator * v.denominator << 512), v.denominator << 256) for v in squares]
    factors = exact["gamma"] / np.array(roots, object)
    folded = exactly(lambda weights: weights * factors, np.moveaxis(w, axis, -1))
    offsets = exactly(lambda bias: (bias - exact["mean"]) * factors + exact["beta"], arrays["bias"])
    return FoldedBatchNorm(np.ascontiguousarray(np.moveaxis(folded, -1, axis)), offsets)
