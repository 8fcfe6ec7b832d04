"""Batch normalisation, and its folding into a convolution: one factor and one offset a channel, rounded once.

y = gamma · (x - mean) / sqrt(variance + eps) + beta is y = x · factor + offset with factor = gamma /
sqrt(variance + eps) and offset = beta - mean · factor. A convolution before it takes both up: its filters
are multiplied by the factors, and its bias becomes bias · factor + offset. While training, mean and variance
are those of the batch, and the moving averages take a step towards them.

S. Ioffe and C. Szegedy, Batch normalization: accelerating deep network training by reducing internal
covariate shift, 2015.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, isqrt
from typing import Any, NamedTuple

import numpy as np

from ..core.arguments import Shape, check_alike, integer, real
from ..core.dtypes import float_format
from ..support import tables
from ..support.argument_types import ArrayLike
from ..support.errors import ArgumentError, brief
from .calls import CellExplanation, floating, host_array, run_window, window_function
from .walking import affine, exactly, rational


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
    groups: int = 1,
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
        channel_axis: the axis of the filters that holds the output channels: -1 for TensorFlow, 0 for PyTorch
            and ONNX; of transposed convolutions of any rank -2 for TensorFlow, 1 for PyTorch and ONNX.
        groups: those of a transposed convolution, whose filters have out_channels / groups in
            ``channel_axis`` and all input channels in the last axis for -2, in the first for 1. Other
            convolutions have all output channels in one axis, whatever their groups: 1.

    Returns:
        A ``FoldedBatchNorm``: ``.filters``, ``.bias``, and ``.error_bound(abs_sum)``.

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit each other, a number is not finite, variance
            + eps is not above 0, or ``groups`` does not fit the filters.

    >>> import numpy as np, teachconv as tc
    >>> w, one = np.float32([[[[1, 2]]]]), np.ones(2, "float32")
    >>> folded = tc.fold_batch_norm(w, None, 3 * one, one, 5 * one, 2.25 - 0 * one, 0.0)
    >>> folded.filters.ravel().tolist(), folded.bias.tolist()
    ([2.0, 4.0], [-9.0, -9.0])
    """
    w, added = host_array(filters, "filters", None), finite(eps, "eps")
    axis = integer(channel_axis, "channel_axis")
    if not -w.ndim <= axis < w.ndim:
        raise ArgumentError(f"channel_axis must be an axis of the filters {list(w.shape)}; got {axis}")
    inputs, parts = {w.ndim - 2: -1, -2: -1, 1: 0}.get(axis), integer(groups, "groups")
    if parts != 1 and inputs is None:
        raise ArgumentError(f"groups must be 1 unless channel_axis is -2 or 1; got {parts} and {axis}")
    ins = 1 if inputs is None else w.shape[inputs]
    if parts < 1 or ins % parts:
        raise ArgumentError(f"groups must divide the {ins} input channels of filters; got {parts}")
    given: dict[str, tuple[Any, int | None]] = {
        "gamma": (gamma, 1),
        "beta": (beta, 0),
        "bias": (bias, 0),
        "mean": (mean, None),
        "variance": (variance, None),
    }
    arrays = _channels(given, w.shape[axis] * parts, w.dtype, "output channels of filters")
    check_alike({"filters": w, **arrays})
    floating(w, "filters")
    if not np.isfinite(w).all():
        raise ArgumentError(f"filters must be finite; got {brief(w)}")
    exact = {name: rational(array) for name, array in arrays.items()}
    factors = _factors(exact["gamma"], exact["variance"], added)
    offsets = exactly(lambda bias: (bias - exact["mean"]) * factors + exact["beta"], arrays["bias"])
    axes: tuple[Any, ...] = (axis,) if parts == 1 else (inputs, axis)
    wide = np.moveaxis(w, axes, ends := range(-len(axes), 0))
    each = factors if parts == 1 else of_filters(factors, ins, parts).ravel()
    folded = affine(wide.reshape(*wide.shape[: -len(axes)], len(each)), each, 0 * each).reshape(wide.shape)
    return FoldedBatchNorm(np.ascontiguousarray(np.moveaxis(folded, ends, axes)), offsets)


def of_filters(factors: np.ndarray, in_channels: int, groups: int) -> np.ndarray:
    """Return [in_channels, out_channels / groups] from [out_channels]: which factor each filter has.

    Args:
        factors: one for each output channel of a transposed convolution.
        in_channels: how many input channels it has.
        groups: its groups; the first input channels belong to the first output channels.

    >>> of_filters(np.array([1, 2, 3, 4]), 2, 2).tolist()
    [[1, 2], [3, 4]]
    """
    return np.repeat(factors.reshape(groups, -1), in_channels // groups, axis=0)


@np.errstate(all="ignore")
def _channels(given: Mapping[str, Sequence[Any]], count: int, dtype: Any, what: str) -> dict[str, np.ndarray]:
    """Return a number for each channel of each argument, which is finite; by name, from (value, default)."""
    arrays = {
        name: np.full(count, default, dtype)
        if value is None and default is not None
        else host_array(value, name, 1)
        for name, (value, default) in given.items()
    }
    for name, array in arrays.items():
        if len(array) != count or not np.isfinite(array).all():
            raise ArgumentError(f"{name} must be finite, one for each of {count} {what}; got {brief(array)}")
    return arrays


def finite(value: Any, name: str) -> float:
    """Return a number that is finite."""
    if not isfinite(number := real(value, name)):
        raise ArgumentError(f"{name} must be finite; got {number:g}")
    return number


def _factors(gamma: np.ndarray, variance: np.ndarray, eps: float) -> np.ndarray:
    """Return gamma / sqrt(variance + eps) of rational numbers, the square root to 256 bits."""
    squares = variance + Fraction(eps)
    if min(squares, default=1) <= 0:
        raise ArgumentError(f"variance + eps must be above 0; got {float(min(squares)):g} for eps {eps:g}")
    roots = [Fraction(isqrt(v.numerator * v.denominator << 512), v.denominator << 256) for v in squares]
    return gamma / np.array(roots, object)


# ---------------------------------------------------------------------------------------------
# Batch normalisation itself
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BatchNormCall:
    """One call of batch normalisation in some framework's words, resolved.

    Attributes:
        function: the framework's name for it, such as "torch.batch_norm".
        input_shape: the shape of the input, and of the result.
        axis: the axis of the channels.
        channels: [4, channels]: moving mean, moving variance, gamma and beta.
        eps: what is added to the variance.
        keeps: while training, how much of a moving average a step keeps; None where it does not train: mean
            and variance are then the moving averages, else those of the batch.
        corrected: whether a step divides the squares of n numbers by n - 1 for the moving variance.
    """

    function: str
    input_shape: Shape
    axis: int
    channels: np.ndarray
    eps: float
    keeps: Fraction | None = None
    corrected: bool = False

    @property
    def output_shape(self) -> Shape:
        """The shape of the result."""
        return self.input_shape

    @property
    def layout(self) -> str:
        """A letter for each axis, C for the channels."""
        return f"{'NHWDEF'[: self.axis]}C{'NHWDEF'[self.axis : len(self.output_shape) - 1]}"

    def statistics(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the exact mean and variance of each channel that the call normalises x with."""
        if self.keeps is None:
            return rational(self.channels[0]), rational(self.channels[1])
        rows = rational(np.moveaxis(x, self.axis, -1)).reshape(-1, self.channels.shape[1])
        mean = rows.sum(axis=0) / Fraction(len(rows))
        return mean, (rows * rows).sum(axis=0) / Fraction(len(rows)) - mean * mean

    def __call__(self, x: np.ndarray) -> Any:
        """Return the result, exact and rounded once; while training the new moving averages too."""
        floating(host_array(x, "the input", None), "the input")
        count = x.size // max(1, self.channels.shape[1])
        if self.keeps is not None and (count < 1 + self.corrected or not np.isfinite(x).all()):
            many = f"{1 + self.corrected} or more finite numbers in each channel"
            raise ArgumentError(f"the input must have {many} while training; got {brief(x)}")
        (mean, variance), (*old, gamma, beta) = self.statistics(x), rational(self.channels)
        factors = _factors(gamma, variance, self.eps)
        offsets = beta - mean * factors
        y = np.moveaxis(affine(np.moveaxis(x, self.axis, -1), factors, offsets), -1, self.axis)
        if (keeps := self.keeps) is None:
            return y
        new = (mean, variance * Fraction(count, count - self.corrected))
        moved = [keeps * a + (1 - keeps) * b for a, b in zip(old, new, strict=True)]
        return y, *exactly(lambda zeros: zeros + moved, np.zeros((2, len(gamma)), x.dtype))

    def explain(self, x: np.ndarray, cell: Shape) -> CellExplanation:
        """Return the numbers that a cell of the result is made of."""
        mean, variance = (float(part[cell[self.axis]]) for part in self.statistics(x))
        gamma, beta = self.channels[2:, cell[self.axis]]
        result, number = self(x), x[cell].item()
        value = (result if self.keeps is None else result[0])[cell].item()
        what = f"{gamma:g} · ({number:g} - {mean:g}) / sqrt({variance:g} + {self.eps:g}) + {beta:g}"
        return CellExplanation(self, cell, value, ((cell, number),), what)

    @property
    def rule(self) -> str:
        """The formula, and where mean and variance are from, as a sentence."""
        formula = f"gamma · (x - mean) / sqrt(variance + eps) + beta, eps = {self.eps:g}; mean and variance: "
        if self.keeps is None:
            return f"{formula}the moving averages"
        step = f"{float(self.keeps):g} of itself + {float(1 - self.keeps):g} of the batch's"
        return f"{formula}the batch's, / n; a moving average becomes {step}, whose variance is / n" + (
            " - 1" * self.corrected
        )

    def __str__(self) -> str:
        head = f"{self.function}: input {list(self.output_shape)} {self.layout}, channels on axis {self.axis}"
        return tables.Table((), [], head, [f"  {self.rule}"]).text()


def norm_call(
    function: str,
    array: str,
    shape: Shape,
    axis: Any,
    eps: Any,
    given: dict[str, Any],
    defaults: tuple[int | None, ...] = (None, None, 1, 0),
    **more: Any,
) -> BatchNormCall:
    """Return the call of batch normalisation.

    Args:
        function: the framework's name for it.
        array: the framework's name of the input.
        shape: its shape.
        axis: the axis of the channels.
        eps: what is added to the variance.
        given: mean, variance, gamma and beta, in this order, by the framework's names.
        defaults: what stands for None, in this order; None where an array must be given.
        **more: the other attributes of `BatchNormCall`.
    """
    number, rank = integer(axis, "axis"), len(shape)
    if not -rank <= number < rank:
        raise ArgumentError(f"axis must be an axis of {array} {list(shape)}; got {number}")
    pairs = {name: pair for name, *pair in zip(given, given.values(), defaults, strict=True)}
    found = _channels(pairs, shape[number], np.float64, f"channels of {array}")
    channels = np.array([*found.values()], np.float64)
    return BatchNormCall(function, shape, number % rank, channels, finite(eps, "eps"), **more)


def _batch_normalization(
    x: Shape, mean: Any, variance: Any, offset: Any, scale: Any, variance_epsilon: Any, **_: Any
) -> BatchNormCall:
    """Resolve a call of batch_normalization."""
    return norm_call(
        "tensorflow.batch_normalization",
        "x",
        x,
        -1,
        finite(variance_epsilon, "variance_epsilon"),
        {"mean": mean, "variance": variance, "scale": scale, "offset": offset},
    )


@window_function(_batch_normalization, "x", None)
def batch_normalization(
    x: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    offset: ArrayLike | None,
    scale: ArrayLike | None,
    variance_epsilon: float,
    name: str | None = None,
) -> np.ndarray:
    """Normalise each channel as tf.nn.batch_normalization: scale (x - mean) / sqrt(variance + eps) + offset.

    Args:
        x: an array of a floating dtype whose last axis is the channels.
        mean: [channels].
        variance: [channels].
        offset: beta, [channels]; None for zeros.
        scale: gamma, [channels]; None for ones.
        variance_epsilon: what is added to the variance; it has no default. Keras' is 1e-3, PyTorch's 1e-5.
        name: accepted for compatibility with TensorFlow and ignored.

    Returns:
        An array of the shape and dtype of ``x``, exact and rounded once.

    Raises:
        ValueError, TypeError: if shapes do not fit each other, a number of a channel is not finite, or
            variance + eps is not above 0.

    Source: tensorflow/python/ops/nn_impl.py, batch_normalization.

    >>> import numpy as np, teachconv as tc
    >>> x, one = np.float32([[1], [3]]), np.float32([1])
    >>> tc.batch_normalization(x, 2 * one, 0.25 * one, one, 3 * one, 0.0).ravel().tolist()
    [-5.0, 7.0]
    """
    return run_window(
        batch_normalization,
        x=x,
        mean=mean,
        variance=variance,
        offset=offset,
        scale=scale,
        variance_epsilon=variance_epsilon,
        name=name,
    )
