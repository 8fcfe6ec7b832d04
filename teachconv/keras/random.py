"""Random tensors in Keras' words; the values are not Keras'. Keras: keras/src/random."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph.ops.random_ops import random_normal, random_uniform
from .config import floatx, next_seed

__all__ = ["SeedGenerator", "normal", "uniform"]


class SeedGenerator:
    """A seed for each call, or for each trace of a call.

    Args:
        seed: an integer, or None for the next one of ``set_random_seed``.

    Raises:
        TypeError: if ``seed`` is not an integer.
    """

    def __init__(self, seed: int | None = None):
        self.seed = next_seed(seed)
        self._seeds = np.random.default_rng(self.seed)

    def next(self) -> int:
        """Return the next seed."""
        return int(self._seeds.integers(2**31))


def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Return normal random numbers.

    Args:
        shape: the shape: ints, or a vector.
        mean: the mean, a number or a tensor.
        stddev: the standard deviation.
        dtype: a float dtype; None for `teachconv.keras.config.floatx`.
        seed: a `SeedGenerator`, an integer, or None for the next one of ``set_random_seed``.

    Returns:
        A tensor.

    Raises:
        ValueError, TypeError: if an argument is invalid.

    >>> seed = SeedGenerator(7)
    >>> float(normal((1,), seed=seed)[0]) == float(normal((1,), seed=seed)[0])
    False
    """
    return random_normal(shape, mean, stddev, dtype or floatx(), _seed_of(seed))


def uniform(shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Return uniform random numbers from minval (included) to maxval (excluded).

    Args:
        shape, dtype, seed: as in `normal`.
        minval: the lower end.
        maxval: the upper end.

    Returns:
        A tensor.

    Raises:
        ValueError, TypeError: if an argument is invalid.
    """
    return random_uniform(shape, minval, maxval, dtype or floatx(), _seed_of(seed))


def _seed_of(seed: Any) -> int:
    return seed.next() if isinstance(seed, SeedGenerator) else next_seed(seed)
