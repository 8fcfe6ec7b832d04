"""tf.random: random numbers. They are seeded, but they are not TensorFlow's values.

TensorFlow: python/ops/random_ops.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..graph.ops import random_ops
from .dtypes import float32
from .missing import module_getattr

__all__ = ["normal", "set_seed", "truncated_normal", "uniform"]


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return normal random numbers."""
    return random_ops.random_normal(shape, mean, stddev, dtype, seed, name)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return normal random numbers no further than two standard deviations from the mean."""
    return random_ops.truncated_normal(shape, mean, stddev, dtype, seed, name)


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return uniform random numbers from minval to maxval, which is not among them."""
    return random_ops.random_uniform(shape, minval, maxval, dtype, seed, name)


def set_seed(seed: int | None) -> None:
    """Set the seed from which the seeds of all random ops derive."""
    random_ops.set_random_seed(seed)


if not TYPE_CHECKING:
    __getattr__ = module_getattr(__name__, __all__)
