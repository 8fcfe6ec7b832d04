"""Functions that layers apply to their result. Keras: keras/src/activations/activations.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import graph
from ..graph import EagerTensor, nn
from ..graph.ops import nn_impl
from .checks import look_up

__all__ = ["elu", "get", "leaky_relu", "linear", "relu", "sigmoid", "softmax", "tanh"]


def linear(x: Any) -> Any:
    """Return ``x`` itself."""
    return x


def relu(x: Any) -> Any:
    """Return max(x, 0)."""
    return nn.relu(x)


def leaky_relu(x: Any, negative_slope: float = 0.2) -> Any:
    """Return x, the negative numbers multiplied by ``negative_slope``."""
    return nn_impl.leaky_relu(x, negative_slope)


def elu(x: Any, alpha: float = 1.0) -> Any:
    """Return x, and for negative numbers alpha * (exp(x) - 1)."""
    y = nn.elu(x)
    return y if alpha == 1 else graph.where(y > 0, y, y * alpha)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    return graph.tanh(x)


def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + exp(-x)): a probability."""
    return _keeping_logits(graph.sigmoid(x), x)


def softmax(x: Any) -> Any:
    """Return exp(x) divided by its sum over the last axis: probabilities."""
    return _keeping_logits(nn.softmax(x), x)


def _keeping_logits(probabilities: Any, logits: Any) -> Any:
    if isinstance(probabilities, EagerTensor):
        probabilities._keras_logits = logits
    return probabilities


def logits_of(probabilities: Any, made_by: str) -> Any:
    """Return what a tensor is the Softmax or Sigmoid of, or None if it is not made by such an op.

    In a graph the tensor's own node says so. Keras: _get_logits in keras/src/backend/tensorflow/nn.py,
    which looks at the node too, and at an attribute that its functions give to eager tensors.
    """
    node = getattr(probabilities, "op", None)
    if node is not None:
        return node.inputs[0] if node.type == made_by else None
    return getattr(probabilities, "_keras_logits", None)


_BY_NAME: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (linear, relu, leaky_relu, elu, sigmoid, tanh, softmax)
}


def get(identifier: Any) -> Callable[[Any], Any]:
    """Return an activation function by its name, or a function as it is.

    Args:
        identifier: "relu", "leaky_relu", "elu", "sigmoid", "tanh", "softmax", "linear", None for linear, or a
            function.

    Returns:
        The function.

    Raises:
        ValueError, TypeError: if there is no such function.

    >>> get(None).__name__, get("relu").__name__
    ('linear', 'relu')
    """
    return linear if identifier is None else look_up(identifier, _BY_NAME, "activation")


class Replaceable:
    """The attribute ``activation`` of a layer: a function, which a name or None (linear) may replace."""

    def __get__(self, layer: Any, owner: type) -> Any:
        return self if layer is None else vars(layer)["activation"]

    def __set__(self, layer: Any, identifier: Any) -> None:
        vars(layer)["activation"] = get(identifier)
