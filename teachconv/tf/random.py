"""tf.random: random numbers. They are seeded, but they are not TensorFlow's values.

TensorFlow: python/ops/random_ops.py.
"""

from __future__ import annotations

from typing import Any

from ..graph.ops import random_ops
from .dtypes import float32

__all__ = ["normal", "set_seed", "truncated_normal", "uniform"]


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return normal random numbers.

    Args:
        shape: the shape: ints, or a vector.
        mean: the mean, a number or a tensor.
        stddev: the standard deviation, likewise.
        dtype: a float dtype.
        seed: an int for the same numbers in every process.
        name: the name of the node.

    Returns:
        A tensor of ``shape``.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> normal([2, 3], seed=1).shape
    TensorShape([2, 3])
    """
    return random_ops.random_normal(shape, mean, stddev, dtype, seed, name)


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return normal random numbers no further than two standard deviations from the mean.

    Args:
        shape, mean, stddev, dtype, seed, name: as in `normal`.

    Returns:
        A tensor of ``shape``.

    Raises:
        ValueError, TypeError: if the arguments are invalid.
    """
    return random_ops.truncated_normal(shape, mean, stddev, dtype, seed, name)


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Return uniform random numbers from minval to maxval, which is not among them.

    Args:
        shape, seed, name: as in `normal`.
        minval: the least number.
        maxval: the end; None stands for 1, which ints do not have.
        dtype: a float dtype, or int32 or int64.

    Returns:
        A tensor of ``shape``.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> sorted(set(uniform([100], maxval=3, dtype="int32", seed=1).numpy().tolist()))
    [0, 1, 2]
    """
    return random_ops.random_uniform(shape, minval, maxval, dtype, seed, name)


def set_seed(seed: int | None) -> None:
    """Set the seed from which the seeds of all random ops derive.

    Args:
        seed: an int; None makes the numbers different in each process again.

    Raises:
        TypeError: if ``seed`` is no int.
    """
    random_ops.set_random_seed(seed)
