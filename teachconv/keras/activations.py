"""Functions that layers apply to their result. Keras: keras/src/activations/activations.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import finalize

from ..graph import EagerTensor, nn
from .checks import look_up

__all__ = ["get", "linear", "relu", "softmax"]


def linear(x: Any) -> Any:
    """Return ``x`` itself."""
    return x


def relu(x: Any) -> Any:
    """Return max(x, 0)."""
    return nn.relu(x)


def softmax(x: Any) -> Any:
    """Return exp(x) divided by its sum over the last axis."""
    y = nn.softmax(x)
    if isinstance(y, EagerTensor):
        _eager_logits[id(y)] = x
        finalize(y, _eager_logits.pop, id(y), None)
    return y


def logits_of(probabilities: Any) -> Any:
    """Return what a tensor is the softmax of, or None if it is no result of a softmax.

    In a graph the tensor's own node says so. Keras: _get_logits in keras/src/backend/tensorflow/nn.py,
    which looks at the node too, and at an attribute that its softmax gives to eager tensors.
    """
    node = getattr(probabilities, "op", None)
    if node is not None:
        return node.inputs[0] if node.type == "Softmax" else None
    return _eager_logits.get(id(probabilities))


# Of each eager tensor that `softmax` returned and that is still there, by its identity: the input.
_eager_logits: dict[int, Any] = {}


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
    if identifier is None:
        return linear
    function: Callable[[Any], Any] = look_up(identifier, _BY_NAME, "activation")
    return function
