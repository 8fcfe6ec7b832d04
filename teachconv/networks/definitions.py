"""What the layers between convolutions and pools compute, in float64, and how large an error may be.

Each function returns a `Defined`: the value, and what the bound of `teachconv.truth.bounds.direct` needs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import erf
from typing import Any, NamedTuple

import numpy as np

from ..core.arguments import Pads
from ..truth import bounds
from ..verification.candidates import ACTIVATIONS
from ..verification.reports import DiffRow, failed_row
from ..windows.padding import PadCall


class Defined(NamedTuple):
    """A value in float64, the sum of the sizes of its terms, and how many roundings it may have."""

    value: np.ndarray
    sizes: Any = 0.0
    terms: int = 0


Constants = Mapping[int, Any]  # the operands that a model does not compute, by their places among all
NONE: Constants = {}


def operands(arrays: Sequence[np.ndarray], constants: Constants) -> list[np.ndarray]:
    """Return arrays with constants at their places among them.

    >>> operands([np.ones(1), np.ones(1)], {0: 5, 2: 7})
    [array(5.), array([1.]), array(7.), array([1.])]
    """
    computed = iter(arrays)
    count = len(arrays) + len(constants)
    return [_wide(constants[n] if n in constants else next(computed)) for n in range(count)]


def clip(x: np.ndarray, *, low: float = 0.0, high: float = np.inf) -> Defined:
    """Return x between two numbers: relu, relu6 and hardtanh; nothing is rounded."""
    return Defined(np.minimum(np.maximum(_wide(x), low), high))


def thresholded(x: np.ndarray, *, threshold: float, value: float) -> Defined:
    """Return x, or a number where x is not above a threshold; nothing is rounded."""
    return Defined(np.where(_wide(x) > threshold, _wide(x), value))


def leaky_relu(x: np.ndarray, *, slope: Any) -> Defined:
    """Return x, or slope · x where that is negative; the slope may be an array, as of PReLU."""
    wide = _wide(x)
    scaled = wide * _wide(slope)
    return Defined(np.where(wide < 0, scaled, wide), np.where(wide < 0, np.abs(scaled), 0.0), 3)


def batch_norm(
    x: np.ndarray, *, mean: Any, variance: Any, gamma: Any, beta: Any, eps: float, axis: int
) -> Defined:
    """Return gamma · (x - mean) / sqrt(variance + eps) + beta, None for ones and zeros."""
    factor, offset, moved = folded_factors(mean, variance, gamma, beta, eps)
    scaled = np.moveaxis(_wide(x), axis, -1) * factor
    value, sizes = (np.moveaxis(part, -1, axis) for part in (scaled + offset, np.abs(scaled) + moved))
    return Defined(value, sizes, _ROUNDINGS)


_ROUNDINGS = 8  # the square root, the quotient, products and sums, and the mean that is folded into beta


def folded_factors(mean: Any, variance: Any, gamma: Any, beta: Any, eps: float) -> tuple[np.ndarray, ...]:
    """Return factor and offset of each channel in float64, and the sum of the offset's terms' sizes."""
    gamma, beta = (_wide(start if w is None else w) for w, start in ((gamma, 1.0), (beta, 0.0)))
    factor = gamma / np.sqrt(_wide(variance) + eps)
    shift = _wide(mean) * factor
    return factor, beta - shift, np.abs(beta) + np.abs(shift)


def grouped(x: np.ndarray, groups: int, axes: tuple[int, ...]) -> np.ndarray:
    """Return an array with an axis for the groups of its channels, which are in axis 1, or last; 0 for none.

    >>> x = np.zeros((1, 6, 5, 4))
    >>> grouped(x, 2, (2,)).shape, grouped(x, 2, (1, 3)).shape
    ((1, 2, 60), (1, 30, 2, 2))
    """
    shape = (groups, -1) if axes == (2,) else (-1, groups, x.shape[-1] // max(1, groups))
    return x.reshape(len(x), *shape) if groups else x


def pointwise(*arrays: np.ndarray, function: str, constants: Constants = NONE) -> Defined:
    """Return a function of `POINTWISE` of arrays, such as a + b, or of arrays and constants: x / 255."""
    wide = operands(arrays, constants)
    apply, (sizes, terms) = _ERF if function == "erf" else getattr(np, function), POINTWISE[function]
    value = reduce(apply, wide) if wide[1:] else apply(*wide)
    rounded = bool(terms) and bool(constants)  # a constant, to the type of the array
    return Defined(value, sizes(value, *wide), terms * max(1, len(wide) - 1) + rounded)


_ERF = np.vectorize(erf, [float])
_ULPS = 16  # of a function of the mathematical library
_UNIT = 2.0**-24  # the unit roundoff of the type that the bounds of formulas are computed for
# NumPy's name of each function, the size that its roundings are relative to, and how many it may have
POINTWISE: dict[str, tuple[Callable[..., Any], int]] = {
    **dict.fromkeys(("add", "subtract"), (lambda _, *arrays: sum(map(np.abs, arrays)), 1)),
    "multiply": (lambda value, *_: np.abs(value) + _FLUSHED, 1),
    "divide": (lambda value, *_: np.abs(value), 2),  # or it is a product with a reciprocal
    **dict.fromkeys(("sqrt", "square", "reciprocal"), (lambda value, *_: np.abs(value), 3)),
    **dict.fromkeys(("minimum", "maximum", "abs", "negative"), (lambda *_: 0.0, 0)),
    **dict.fromkeys(("floor", "ceil", "rint", "sign", "trunc"), (lambda *_: 0.0, 0)),
    **dict.fromkeys(("erf", "log", "log1p", "expm1"), (lambda value, _: np.abs(value), _ULPS)),
    **dict.fromkeys(("log2", "log10", "arctan"), (lambda value, _: np.abs(value), _ULPS)),
    **dict.fromkeys(("exp", "exp2"), (lambda value, x: value * (1 + np.abs(x)), _ULPS)),
    **dict.fromkeys(("sin", "cos"), (lambda *_: 1.0, _ULPS)),
    "power": (lambda value, x, y: np.abs(value) * (1 + np.abs(y * np.log(np.abs(x)))), _ULPS),
}


def reduced(x: np.ndarray, *, function: str, axes: tuple[int, ...], keepdims: bool) -> Defined:
    """Return the sum, mean, extreme or its index over axes, or the logarithm of the sum of exponentials."""
    wide = _wide(x)
    if function == "logsumexp":
        largest = wide.max(axes, keepdims=True)
        powers = np.exp(wide - largest)
        # an exponential's error is relative to 1 + |x - largest|, and the logarithm makes it absolute
        means = (powers * np.abs(wide - largest)).sum(axes, keepdims=True) / powers.sum(axes, keepdims=True)
        total = powers.sum(axis=axes, keepdims=keepdims)
        value = np.log(total) + largest.reshape(total.shape)
        sizes = 1 + means.reshape(total.shape) + np.log(total) + np.abs(largest).reshape(total.shape)
        return Defined(value, sizes, wide.size // max(1, value.size) + _ULPS)
    axis = axes if function not in INDICES else axes[0] if len(axes) == 1 else None  # of all, flattened
    value, sizes = (
        getattr(np, function)(part, axis=axis, keepdims=keepdims) for part in (wide, np.abs(wide))
    )
    return Defined(value, sizes, (wide.size // max(1, value.size) + 1) * (function in ("sum", "mean")))


def ordered(x: np.ndarray, *, axis: int, count: int, largest: bool) -> Defined:
    """Return the largest or the smallest numbers along an axis, in order."""
    wide = np.sort(_wide(x), axis)
    return Defined(np.take(np.flip(wide, axis) if largest else wide, range(count), axis))


def gated(x: np.ndarray, gate: np.ndarray) -> Defined:
    """Return x · sigmoid(gate), as GLU of the two halves of an array."""
    made = smooth(gate, function="sigmoid")
    return Defined(_wide(x) * made.value, np.abs(_wide(x)) * made.sizes, made.terms + 1)


def pad(x: np.ndarray, *, sides: Pads, mode: str, value: float) -> Defined:
    """Return x with cells around it, or without its outer ones where a side is negative."""
    return Defined(_wide(PadCall("pad", mode, mode, x.shape, sides, value)(x)))


def quantized(x: np.ndarray, *, scale: Any, zero_point: Any, dtype: str) -> Defined:
    """Return x / scale in float32, rounded half to even, plus zero_point, in the limits of a type."""
    limits = np.iinfo(dtype)
    return Defined(np.clip(np.rint(np.float32(x) / scale) + zero_point, limits.min, limits.max))


def dequantized(x: np.ndarray, *, scale: Any, zero_point: Any) -> Defined:
    """Return the numbers that integers stand for: (x - zero_point) * scale."""
    value = (_wide(x) - zero_point) * scale
    return Defined(value, np.abs(value), 2)


def concatenate(*arrays: np.ndarray, axis: int, constants: Constants = NONE) -> Defined:
    """Return arrays one after the other along an axis, such as a constant class token and patches."""
    return Defined(np.concatenate(operands(arrays, constants), axis))


def smooth(x: np.ndarray, *, function: str, axis: int = -1, alpha: float | None = None) -> Defined:
    """Return softmax, its logarithm or a function of `SMOOTH`, if exponentials err by 4 ulps at most.

    Args:
        x: the input.
        function: its name.
        axis: of a softmax.
        alpha: the setting of functions that are in `USUAL`; None for the usual one.
    """
    setting = USUAL.get(function, 1.0) if alpha is None else alpha
    own, inner, outer, below = SCALED.get(function, lambda _: (function, 1.0, 1.0, 1.0))(setting)
    wide = inner * _wide(x)
    around = 1 + np.abs(wide)
    if function in SOFTMAX:
        largest = wide.max(axis, keepdims=True)
        apart = largest - wide  # of large numbers the logarithm of the sum would lose the digits
        total, sizes, terms = reduced(-apart, function="logsumexp", axes=(axis,), keepdims=True)
        value = -apart - total
        if function == "log_softmax":
            return Defined(value, sizes + np.abs(largest) + np.abs(wide), terms + 1)
        return Defined(np.exp(value), np.exp(value) * (1 + apart) + _FLUSHED, terms)
    outer = np.where(wide < 0, below, outer)
    value, flushed = outer * SMOOTH[own](wide), _FLUSHED * np.abs(outer) * around
    if own in _FACTORS:
        return Defined(value, np.abs(outer * wide) + flushed, _ULPS)
    sizes = np.maximum(np.abs(value), np.abs(outer) * around * (own in _DIFFERENCES)) * around
    return Defined(value, sizes + flushed + 0.5 * (own in _HALVES), _ULPS)


@np.errstate(divide="ignore", invalid="ignore")  # of numbers that are not finite
def formula(
    *arrays: np.ndarray, function: str, constants: Constants = NONE, errors: Any = None, **settings: Any
) -> Defined:
    """Return what a formula of `FORMULAS` makes of arrays and constants.

    Args:
        arrays: its operands.
        function: its name.
        constants: operands that a model does not compute, by their places.
        errors: how far each array may be off; the sizes are then those of what follows from that alone.
        settings: of the formula.
    """
    unit = _UNIT if errors is None else 0.0
    given = [np.zeros(())] * len(arrays) if errors is None else errors
    pairs = zip(operands(arrays, constants), operands(given, dict.fromkeys(constants, 0.0)), strict=True)
    made = FORMULAS[function](*(Bounded(value, error, unit) for value, error in pairs), **settings)
    return Defined(made.value, made.error / _UNIT / max(1, made.terms), max(1, made.terms))


@dataclass(frozen=True, eq=False)
class Bounded:
    """A number or an array, and how far it may be off when it is computed in floating point, in any order.

    Attributes:
        value: in float64.
        error: of each number, at most.
        unit: the unit roundoff; 0 for exact steps, which only carry errors on.
        terms: how many roundings lie behind it.
    """

    value: np.ndarray
    error: Any
    unit: float
    terms: int = 0

    def off(self, value: np.ndarray, error: Any, sizes: Any = None, terms: int = 1) -> Bounded:
        """Return a value with an error, and with that of rounding terms of some sizes, or the value."""
        sizes = _FLUSHED + (np.abs(value) if sizes is None else sizes)
        error = error + bounds.gamma(terms, self.unit) * sizes
        return Bounded(value, np.where(np.isfinite(value), error, 0.0), self.unit, self.terms + terms)

    def by(self, function: Callable[..., np.ndarray], *args: Any) -> Bounded:
        """Return it moved by a function of NumPy."""
        error = np.broadcast_to(self.error, self.value.shape)
        return replace(self, value=function(self.value, *args), error=function(error, *args))

    def __add__(self, other: Any) -> Bounded:
        other = self._of(other)
        return self.off(self.value + other.value, self.error + other.error)

    def __mul__(self, other: Any) -> Bounded:
        return self.contracted(np.multiply, self._of(other))

    def __abs__(self) -> Bounded:
        return replace(self, value=np.abs(self.value))

    def power(self, exponent: float) -> Bounded:
        """Return a power of numbers that are at least 0."""
        value = self.value**exponent
        least = 2.0**-20 * self.value * (exponent < 0)  # of a quotient by less, nothing is known
        ends = (np.maximum(self.value + sign * self.error, least) ** exponent for sign in (-1, 1))
        terms = 3 if 2 * exponent % 1 == 0 else _ULPS  # of a root, a quotient and a product
        return self.off(value, reduce(np.maximum, (np.abs(end - value) for end in ends)), None, terms)

    def mean(self, axes: tuple[int, ...]) -> Bounded:
        """Return the mean over axes, which are kept."""
        parts = self.value, np.broadcast_to(self.error, self.value.shape), np.abs(self.value)
        value, error, sizes = (np.mean(part, axes, keepdims=True) for part in parts)
        return self.off(value, error, sizes, self.value.size // max(1, value.size) + 1)

    def variance(self, axes: tuple[int, ...], fewer: float = 0.0) -> Bounded:
        """Return the sum of squared distances from the mean over axes, by their number of cells less some."""
        mean, over = self.mean(axes), partial(np.mean, axis=axes, keepdims=True)
        centred, size = np.abs(self.value - mean.value), over(np.abs(self.value))
        value = np.asarray(over(centred**2))
        error = 2 * over(centred * self.error) + over((self.error + mean.error) ** 2)
        # also as E[x²] - m² (onnxruntime, JAX) or by Welford's sums
        sizes = over(self.value**2) + 2 * size * (np.abs(mean.value) + np.sqrt(value))
        count = self.value.size // max(1, value.size)
        return self.off(value, error, sizes, count + _ROUNDINGS) * (count / (count - fewer))

    def contracted(self, function: Callable[..., np.ndarray], *others: Bounded) -> Bounded:
        """Return what a sum of products, such as NumPy's matmul, makes of it and others."""
        parts = self, *others
        value = function(*(part.value for part in parts))
        sizes = function(*(np.abs(part.value) for part in parts))
        far = function(*(np.abs(part.value) + part.error for part in parts))
        count = function(*(np.broadcast_to(1.0, part.value.shape) for part in parts)).max(initial=0.0)
        return self.off(value, np.maximum(far - sizes, 0.0), sizes, int(count) * len(others))

    def softmax(self) -> Bounded:
        """Return the softmax over the last axis; -infinity is none of the numbers."""
        # exp(-10,000) is 0
        wide = np.maximum(self.value, self.value.max(-1, keepdims=True) - 1e4)
        made = smooth(wide, function="softmax")
        total = np.log((made.value * np.exp(self.error)).sum(-1, keepdims=True))
        return self.off(made.value, made.value * np.expm1(self.error + total), made.sizes, made.terms)

    def _of(self, other: Any) -> Bounded:
        return (
            other if isinstance(other, Bounded) else Bounded(_wide(other), self.unit * abs(other), self.unit)
        )


def _product(x: Bounded, w: Bounded, *, transposed: tuple[int, ...] = ()) -> Bounded:
    parts = (each.by(np.swapaxes, -1, -2) if n in transposed else each for n, each in enumerate((x, w)))
    return next(parts).contracted(np.matmul, next(parts))


def _attention(query: Bounded, key: Bounded, value: Bounded, *mask: Bounded, scale: float) -> Bounded:
    scores = _product(query, key, transposed=(1,)) * scale
    return _product(reduce(Bounded.__add__, mask, scores).softmax(), value)


def _einsum(first: Bounded, *others: Bounded, equation: str, bias: Any = None) -> Bounded:
    made = first.contracted(partial(np.einsum, equation), *others)
    return made if bias is None else made + Bounded(_wide(bias), 0.0, made.unit)


def _kept(made: Bounded, axes: tuple[int, ...], keepdims: bool) -> Bounded:
    return made if keepdims else made.by(np.squeeze, axes)


def _norm(
    x: Bounded, *, order: float, axes: tuple[int, ...], keepdims: bool = True, is_root: bool = True
) -> Bounded:
    total = abs(x).power(order).mean(axes) * float(np.prod([x.value.shape[axis] for axis in axes]))
    return _kept(total.power(1 / order) if is_root else total, axes, keepdims)


def _by_norm(x: Bounded, *, order: float, axes: tuple[int, ...], floor: float) -> Bounded:
    norm = _norm(x, order=order, axes=axes)
    return x * replace(norm, value=np.maximum(norm.value, floor)).power(-1.0)


def _variance(x: Bounded, *, axes: tuple[int, ...], fewer: float, keepdims: bool, exponent: float) -> Bounded:
    return _kept(x.variance(axes, fewer).power(exponent), axes, keepdims)


def _normalised(
    x: Bounded, *, groups: int, gamma: Any, beta: Any, eps: float, axes: tuple[int, ...]
) -> Bounded:
    """Return x less its mean over axes, by its deviation there: instance, layer and group normalisation."""
    parts = x.by(grouped, groups, axes)
    factor = (parts.variance(axes) + eps).power(-0.5)
    made = (parts + parts.mean(axes) * -1.0) * factor
    sizes = np.abs(parts.value) * factor.value  # also as x · factor - mean · factor
    made = made.off(made.value, made.error, sizes, _ROUNDINGS)
    gamma, beta = (Bounded(_wide(n if w is None else w), 0.0, x.unit) for n, w in ((1, gamma), (0, beta)))
    made = made.by(np.reshape, x.value.shape) * gamma + beta
    return made.off(made.value, made.error, np.abs(beta.value), _ROUNDINGS)


def _by_neighbours(
    x: Bounded, *, before: int, after: int, axis: int, bias: float, alpha: float, beta: float
) -> Bounded:
    last, count = x.by(np.moveaxis, axis, -1), x.value.shape[axis]
    band = np.tri(count, k=before) * np.tri(count, k=after).T
    near = abs(last).power(2).contracted(np.matmul, Bounded(band, 0.0, x.unit))
    return (last * (near * alpha + bias).power(-beta)).by(np.moveaxis, -1, axis)


# of operands and settings; each bound follows from the steps
FORMULAS: dict[str, Callable[..., Bounded]] = {
    "product": _product,
    "attention": _attention,
    "einsum": _einsum,
    "squared difference": lambda x, y: abs(x + y * -1.0).power(2),
    "norm": _norm,
    "normalised": _normalised,
    "normalize": _by_norm,
    "variance": _variance,
    "local response norm": _by_neighbours,
    "rms norm": lambda x, *gamma, axes, eps: reduce(
        Bounded.__mul__, gamma, x * (abs(x).power(2).mean(axes) + eps).power(-0.5)
    ),
    "average": lambda x, *more: reduce(Bounded.__add__, more, x) * (1 / (1 + len(more))),
}


def judged(name: str, got: np.ndarray, made: Defined, dtype: Any) -> DiffRow:
    """Judge a result by a definition.

    Args:
        name: what the row is called.
        got: the result.
        made: what it should be.
        dtype: in which it was computed.
    """
    if got.shape != made.value.shape:
        return failed_row(name, "", f"its shape is {list(got.shape)}, not {list(made.value.shape)}")
    bound = bounds.direct(np.asarray(made.sizes), made.terms, dtype) if made.terms else 0.0
    want = made.value.astype(dtype)
    is_infinite = np.isinf(want)
    if is_infinite.any():  # TFLite returns the largest number
        got = np.where(is_infinite & (got == np.nextafter(want, np.zeros_like(want))), want, got)
    verdict = bounds.judge(got, want, bound)
    error, ulps, fraction = (
        float(part.max(initial=0.0)) for part in (verdict.error, verdict.ulps, verdict.fraction)
    )
    return DiffRow(name, "", verdict.passed, error, ulps, fraction)


SOFTMAX = ("softmax", "log_softmax")
INDICES = ("argmax", "argmin")
_FACTORS = ("gelu", "gelu (tanh)", "hardswish")  # x times a number of at most 1, of terms as large as 1
_DIFFERENCES = ("elu", "hardsigmoid", "tanhshrink", "softshrink")  # of terms as large as 1 + |x|
SMOOTH = ACTIVATIONS | {
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanhshrink": lambda x: x - np.tanh(x),
    "softshrink": lambda x: x - np.clip(x, -1, 1),
    "hardshrink": lambda x: np.where(np.abs(x) > 1, x, 0),
}
_SELU = 1.0507009873554805, 1.7580993408473766  # above 0, and below (arXiv:1706.02515)
# outer · f(inner · x) for a setting: f, inner, outer, and what is in its place below 0
SCALED: dict[str, Callable[[float], tuple[str, float, float, float]]] = {
    "elu": lambda alpha: ("elu", 1.0, 1.0, alpha),
    "selu": lambda _: ("elu", 1.0, *_SELU),
    "celu": lambda alpha: ("elu", 1 / alpha, alpha, alpha),
    "softplus": lambda alpha: ("softplus", alpha, 1 / alpha, 1 / alpha),
    "logsigmoid": lambda _: ("softplus", -1.0, -1.0, -1.0),
    "hardsigmoid": lambda alpha: ("hardsigmoid", 6 * alpha, 1.0, 1.0),
    "softshrink": lambda alpha: ("softshrink", 1 / alpha, alpha, alpha),
    "hardshrink": lambda alpha: ("hardshrink", 1 / alpha, alpha, alpha),
}
# that setting, where a call has none
USUAL = {"elu": 1.0, "celu": 1.0, "softplus": 1.0, "hardsigmoid": 1 / 6, "softshrink": 0.5, "hardshrink": 0.5}
# times u: 2**-126, which an exponential misses that overflows or is flushed to 0 as no normal number
_FLUSHED = 2.0**-102
_HALVES = ("sigmoid",)  # 1/2 + a function of at most 1/2, as in ONNX Runtime (MLAS, logistic.cpp) and XLA


def _wide(array: Any) -> np.ndarray:
    return np.asarray(array, np.float64)
