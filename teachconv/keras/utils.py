"""Small helpers. Keras: keras.utils."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from .checks import clear_session
from .config import floatx, set_random_seed
from .saving import weights_from_torch, weights_to_torch

__all__ = ["clear_session", "set_random_seed", "to_categorical", "weights_from_torch", "weights_to_torch"]


def to_categorical(x: Any, num_classes: int | None = None) -> np.ndarray:
    """Return classes as one-hot vectors.

    Args:
        x: integers from 0, of any shape.
        num_classes: the length of the vectors; None for the largest class plus one.

    Returns:
        The shape of ``x``, without a last axis of 1, and a last axis of ``num_classes``.

    Raises:
        ValueError: if a class is negative or too large.

    >>> to_categorical([0, 2]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    array = np.asarray(x)
    if array.dtype.kind not in "iuf" or (array % 1).any():
        raise ArgumentError(f"x must hold whole numbers; got dtype {array.dtype}")
    classes = array.astype(np.int64)
    count = int(classes.max(initial=-1)) + 1 if num_classes is None else num_classes
    wrong = classes[(classes < 0) | (classes >= count)]
    if wrong.size:
        raise ArgumentError(f"x must hold classes from 0 to {count - 1}; got {wrong[0]}")
    if classes.ndim > 1 and classes.shape[-1] == 1:
        classes = classes[..., 0]
    return np.eye(count, dtype=floatx())[classes]
