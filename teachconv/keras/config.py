"""The settings that all of teachconv.keras shares: the dtype of layers, and the seed.

Keras: keras/src/backend/config.py (floatx) and keras/src/utils/rng_utils.py (set_random_seed).
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ..core.arguments import integer
from ..support.errors import ArgumentError, brief, check_word

__all__ = [
    "check_seed",
    "epsilon",
    "floatx",
    "image_data_format",
    "next_seed",
    "set_floatx",
    "set_random_seed",
]

_FLOATS = ("float32", "float64", "float16", "bfloat16")
_floatx = "float32"
_seeds = np.random.default_rng()


def floatx() -> str:
    """Return the default dtype of layers.

    Returns:
        "float32", unless `set_floatx` changed it.

    >>> floatx()
    'float32'
    """
    return _floatx


def set_floatx(value: str) -> None:
    """Set the default dtype of layers that are created afterwards.

    Args:
        value: "float32", "float64", "float16" or "bfloat16".

    Raises:
        ValueError: for any other value.
    """
    global _floatx
    check_word(value, "value", _FLOATS)
    _floatx = value


def epsilon() -> float:
    """Return how far losses keep probabilities from 0 and 1."""
    return 1e-7


def image_data_format() -> str:
    """Return the default data format of layers, which cannot be set here."""
    return "channels_last"


def set_random_seed(seed: int) -> None:
    """Seed all random numbers that follow: initial weights, dropout, and the order of samples in ``fit``.

    As in Keras, Python's ``random`` and ``numpy.random`` are seeded, too.

    Args:
        seed: an integer from 0 to 2**32 - 1.

    Raises:
        ValueError, TypeError: if it is not such an integer.

    >>> from teachconv import keras
    >>> keras.utils.set_random_seed(0)
    >>> first = keras.layers.Dense(2, input_shape=(3,)).get_weights()[0]
    >>> keras.utils.set_random_seed(0)
    >>> bool((keras.layers.Dense(2, input_shape=(3,)).get_weights()[0] == first).all())
    True
    """
    global _seeds
    seed = check_seed(seed)
    random.seed(seed)
    np.random.seed(seed)
    _seeds = np.random.default_rng(seed)


def check_seed(seed: Any) -> int:
    """Return a seed as an int; raise unless it is an integer from 0 to 2**32 - 1."""
    found = integer(seed, "seed", "an integer")
    if not 0 <= found < 2**32:
        raise ArgumentError(f"seed must be from 0 to 2**32 - 1; got {brief(seed)}")
    return found


def next_seed(seed: int | None = None) -> int:
    """Return ``seed``, or the next one of the sequence that `set_random_seed` starts."""
    return int(_seeds.integers(2**32)) if seed is None else check_seed(seed)
