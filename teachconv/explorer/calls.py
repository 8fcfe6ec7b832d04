"""The call of a picture as Python in each framework's words, for the page's button that copies it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import nn_ops
from ..translation.translating import translate

__all__ = ["FRAMEWORKS", "calls_of"]

# what the page offers, by their names
FRAMEWORKS = {
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
    "onnx": "ONNX",
    "keras": "Keras",
}


def calls_of(op: Callable[..., Any], args: tuple[Any, ...], arguments: dict[str, Any]) -> dict[str, str]:
    """Return the code of a call in each framework, or the reason why there is none, by the framework's name.

    Args:
        op: the function.
        args: its arguments, of which only the shapes count.
        arguments: those given by name.

    Returns:
        The texts; a reason begins with "not possible: ". What translations do not know has none.
    """
    shapes = tuple(map(_shape, args))
    named = {name: _shape(value) for name, value in nn_ops.without_options(arguments).items()}
    found = {}
    for name in FRAMEWORKS:
        try:
            made = translate(op, *shapes, to=name, **named)
        except (TypeError, ValueError):
            return {}
        found[name] = made.code if made.possible else f"not possible: {made.why}"
    return found


def _shape(value: Any) -> Any:
    """Return the shape of an array of numbers, and anything else as it is."""
    return tuple(value.shape) if isinstance(value, np.ndarray) and value.ndim == 4 else value
