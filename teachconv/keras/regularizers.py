"""Regularizers: what large weights add to the loss. Keras: keras/src/regularizers/regularizers.py.

A layer takes one for each of its weights, such as ``kernel_regularizer``. `Layer.losses` has their values,
and ``fit`` adds these to its loss.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph import abs, reduce_sum, square
from .checks import check_number, look_up

__all__ = ["L1", "L1L2", "L2", "Regularizer", "get", "l1", "l1_l2", "l2"]


class Regularizer:
    """The base of regularizers: a class of your own defines ``__call__``, which returns a number."""


class L1L2(Regularizer):
    """Adds l1 · Σ|w| + l2 · Σw².

    Args:
        l1: the factor of the absolute values.
        l2: the factor of the squares.

    Raises:
        ValueError, TypeError: if one is not a number from 0.

    >>> float(L1L2(l1=1.0, l2=0.5)([1.0, -2.0]))
    5.5
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0):
        self.l1, self.l2 = check_number(l1, "l1", 0), check_number(l2, "l2", 0)

    def __call__(self, x: Any) -> Any:
        """Return the number for a weight."""
        return reduce_sum(abs(x)) * self.l1 + reduce_sum(square(x)) * self.l2


class L1(L1L2):
    """Adds l1 · Σ|w|."""

    def __init__(self, l1: float = 0.01):
        super().__init__(l1)


class L2(L1L2):
    """Adds l2 · Σw², as weight decay does.

    >>> from teachconv import keras
    >>> layer = keras.layers.Dense(1, kernel_initializer="ones", kernel_regularizer=L2(0.5), input_shape=(3,))
    >>> [float(loss) for loss in layer.losses]
    [1.5]
    """

    def __init__(self, l2: float = 0.01):
        super().__init__(0.0, l2)


l1, l2, l1_l2 = L1, L2, L1L2  # Keras's other names


def get(identifier: Any) -> Callable[[Any], Any] | None:
    """Return a regularizer by its name, or as it is; None for None.

    Args:
        identifier: "l1", "l2", "l1_l2", None, or a function of a weight.

    Returns:
        The regularizer.

    Raises:
        ValueError, TypeError: if there is no such regularizer.

    >>> get("l2").l2
    0.01
    """
    return (
        None
        if identifier is None
        else look_up(identifier, {"l1": L1, "l2": L2, "l1_l2": L1L2}, "regularizer")
    )
