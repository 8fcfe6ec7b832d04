"""What the layers between convolutions and pools compute, in float64, and how large an error may be.

Each function returns a `Defined`: the value, and what the bound of `teachconv.truth.bounds.direct` needs.
"""

from __future__ import annotations

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


def clip(x: np.ndarray, *, low: float = 0.0, high: float = np.inf) -> Defined:
    """Return x between two numbers: relu, relu6 and hardtanh; nothing is rounded."""
    return Defined(np.minimum(np.maximum(_wide(x), low), high))


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


def add(*arrays: np.ndarray) -> Defined:
    """Return the sum of arrays, such as a residual."""
    wide = [*map(_wide, arrays)]
    return Defined(np.asarray(sum(wide)), sum(map(np.abs, wide)), len(wide) - 1)


def multiply(*arrays: np.ndarray) -> Defined:
    """Return the product of arrays, such as an attention gate."""
    value = _wide(arrays[0])
    for array in arrays[1:]:
        value = value * _wide(array)
    return Defined(value, np.abs(value), len(arrays) - 1)


def product(x: np.ndarray, w: np.ndarray) -> Defined:
    """Return the product of matrices, such as a dense layer without its bias."""
    return Defined(_wide(x) @ _wide(w), np.abs(_wide(x)) @ np.abs(_wide(w)), len(w))


def pad(x: np.ndarray, *, sides: Pads, mode: str, value: float) -> Defined:
    """Return x with cells around it, or without its outer ones where a side is negative."""
    return Defined(_wide(PadCall("pad", mode, mode, x.shape, sides, value)(x)))


def concatenate(*arrays: np.ndarray, axis: int) -> Defined:
    """Return arrays one after the other along an axis."""
    return Defined(np.concatenate([*map(_wide, arrays)], axis))


def smooth(x: np.ndarray, *, function: str) -> Defined:
    """Return softmax or one of `ACTIVATIONS`, if exponentials and similar functions err by 4 ulps at most."""
    wide = _wide(x)
    if function == "softmax":
        apart = wide - wide.max(-1, keepdims=True)
        value = np.exp(apart) / np.exp(apart).sum(-1, keepdims=True)
        return Defined(value, value * (1 + np.abs(apart)), x.shape[-1] + 16)
    value, around = ACTIVATIONS[function](wide), 1 + np.abs(wide)
    return Defined(value, np.maximum(np.abs(value), around * (function in _DIFFERENCES)) * around, 16)


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
    verdict = bounds.judge(got, made.value.astype(dtype), bound)
    error, ulps, fraction = (
        float(part.max(initial=0.0)) for part in (verdict.error, verdict.ulps, verdict.fraction)
    )
    return DiffRow(name, "", verdict.passed, error, ulps, fraction)


_DIFFERENCES = ("gelu", "gelu (tanh)", "elu", "hardswish", "hardsigmoid")  # of terms as large as 1 + |x|


def _wide(array: Any) -> np.ndarray:
    return np.asarray(array, np.float64)
