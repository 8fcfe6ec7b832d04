"""Functions that layers apply to their result. Keras: keras/src/activations/activations.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph import nn
from .naming import look_up

__all__ = ["get", "linear", "relu", "softmax"]


def linear(x: Any) -> Any:
    """Return ``x`` itself."""
    return x


def relu(x: Any) -> Any:
    """Return max(x, 0)."""
    return nn.relu(x)


def softmax(x: Any) -> Any:
    """Return exp(x) divided by its sum over the last axis."""
    return nn.softmax(x)


_BY_NAME: dict[str, Callable[[Any], Any]] = {"linear": linear, "relu": relu, "softmax": softmax}


def get(identifier: Any) -> Callable[[Any], Any]:
    """Return an activation function by its name, or a function as it is.

    Args:
        identifier: "relu", "softmax", "linear", None for linear, or a function.

    Returns:
        The function.

    Raises:
        ValueError, TypeError: if there is no such function.

    >>> get(None).__name__, get("relu").__name__
    ('linear', 'relu')
    """
    function: Callable[[Any], Any] = look_up(identifier or linear, _BY_NAME, "activation")
    return function
