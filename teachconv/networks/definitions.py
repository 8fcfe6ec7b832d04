"""What the layers between convolutions and pools compute, in float64, and how large an error may be.

Each function returns a `Defined`: the value, and what the bound of `teachconv.truth.bounds.direct` needs.
"""

from __future__ import annotations

from collections.abc import Callable
from math import erf, pi
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Defined", "add", "batch_norm", "clip", "concatenate", "folded_factors", "leaky_relu", "multiply"]
__all__ += ["smooth"]


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
    scaled = wide * _wide(np.asarray(slope))
    return Defined(np.where(wide < 0, scaled, wide), np.where(wide < 0, np.abs(scaled), 0.0), 3)


def batch_norm(
    x: np.ndarray, *, mean: Any, variance: Any, gamma: Any, beta: Any, eps: float, axis: int
) -> Defined:
    """Return gamma · (x - mean) / sqrt(variance + eps) + beta, None for ones and zeros."""
    sizes = [1] * x.ndim
    sizes[axis] = -1
    factor, offset, moved = (
        np.reshape(each, sizes) for each in folded_factors(mean, variance, gamma, beta, eps)
    )
    return Defined(_wide(x) * factor + offset, np.abs(_wide(x) * factor) + moved, _ROUNDINGS)


_ROUNDINGS = 8  # the square root, the quotient, products and sums, and the mean that is folded into beta


def folded_factors(mean: Any, variance: Any, gamma: Any, beta: Any, eps: float) -> tuple[np.ndarray, ...]:
    """Return factor and offset of each channel in float64, and the sum of the offset's terms' sizes."""
    gamma, beta = (np.asarray(start if w is None else w, float) for w, start in ((gamma, 1.0), (beta, 0.0)))
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


def concatenate(*arrays: np.ndarray, axis: int) -> Defined:
    """Return arrays one after the other along an axis."""
    return Defined(np.concatenate([*map(_wide, arrays)], axis))


def smooth(x: np.ndarray, *, function: str) -> Defined:
    """Return a function of `SMOOTH`, if exponentials and the like are right to 4 ulps."""
    value, sizes = SMOOTH[function](_wide(x))
    return Defined(
        value, sizes * (1 + np.abs(x - x.max(-1, keepdims=True))), x.shape[-1] * (function == "softmax") + 16
    )


def _both(value: np.ndarray, size: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
    return value, np.maximum(np.abs(value), size)


def _exponentials(x: np.ndarray) -> np.ndarray:
    return np.exp(x - x.max(-1, keepdims=True))


_erf = np.vectorize(erf, otypes=[float])
# value, and the size of the terms that it is the difference of
SMOOTH: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "softmax": lambda x: _both(_exponentials(x) / _exponentials(x).sum(-1, keepdims=True)),
    "sigmoid": lambda x: _both(1 / (1 + np.exp(-x))),
    "tanh": lambda x: _both(np.tanh(x)),
    "silu": lambda x: _both(x / (1 + np.exp(-x))),
    "gelu": lambda x: _both(x * (1 + _erf(x / 2**0.5)) / 2, np.abs(x)),
    "gelu_tanh": lambda x: _both(x * (1 + np.tanh((2 / pi) ** 0.5 * (x + 0.044715 * x**3))) / 2, np.abs(x)),
}


def _wide(array: Any) -> np.ndarray:
    return np.asarray(array, np.float64)
