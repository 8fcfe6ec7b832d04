"""Weights from a PyTorch module and to one: the same numbers in the other layout.

Filters go through `teachconv.convert_filters`. The matrix of a Dense after a Flatten is reordered, because
PyTorch flattens [channels, rows, cols] and Keras [rows, cols, channels]. Keras' own weights need no
conversion: ``model.set_weights(keras_model.get_weights())``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, brief
from ..translation.filters import convert_filters
from .layers import BatchNormalization, Conv2D, Conv2DTranspose, Dense, DepthwiseConv2D, Flatten
from .layers.layer import Layer, set_all
from .layers.layer import shape_text as text

if TYPE_CHECKING:
    from .models import Model

__all__ = ["weights_from_torch", "weights_to_torch"]

# torch's name of each weight of a layer, by ours
_NAMES = {
    "kernel": "weight",
    "bias": "bias",
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}
_COUNTER = "num_batches_tracked"  # of a BatchNorm2d; nothing here counts batches


def weights_from_torch(model: Model, state_dict: Mapping[str, Any]) -> None:
    """Copy the weights of a PyTorch module into a model with the same layers in the same order.

    Args:
        model: the model; it is changed only if every weight fits.
        state_dict: what ``module.state_dict()`` returned, or arrays by the same names.

    Raises:
        ValueError: if the numbers of weights or their shapes do not fit; the message names the weight.

    >>> import numpy as np
    >>> from teachconv import keras
    >>> model = keras.Sequential([keras.Input((8, 8, 3)), keras.layers.Conv2D(4, 5)])
    >>> state = {"0.weight": np.ones((4, 3, 5, 5), "float32"), "0.bias": np.zeros(4, "float32")}
    >>> keras.utils.weights_from_torch(model, state)
    >>> model.get_weights()[0].shape
    (5, 5, 3, 4)
    """
    if not isinstance(state_dict, Mapping):
        raise ArgumentTypeError(
            f"state_dict must be what module.state_dict() returns; got {brief(state_dict)}"
        )
    given = {key: np.asarray(value) for key, value in state_dict.items() if not key.endswith(_COUNTER)}
    weights = list(_weights_of(model))
    if len(given) != len(weights):
        raise ArgumentError(
            f"state_dict must have {len(weights)} weights, as model {brief(model.name)} has; got "
            f"{len(given)}: {', '.join(given)}"
        )
    arrays = []
    for (key, array), (layer, name, ours, to_torch, from_torch) in zip(given.items(), weights, strict=True):
        wanted = to_torch(ours).shape
        if key.rpartition(".")[2] != name or array.shape != wanted:
            raise ArgumentError(
                f"state_dict[{brief(key)}] of shape {text(array.shape)} does not fit layer "
                f"{brief(layer.name)} ({type(layer).__name__}), which needs a {name} of shape {text(wanted)}"
            )
        arrays.append(from_torch(array))
    set_all(model.weights, arrays, f"model {brief(model.name)}")


def weights_to_torch(model: Model, like: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
    """Return the weights of a model as PyTorch lays them out.

    Args:
        model: the model.
        like: the ``state_dict()`` of the module that they are for, whose names are then used; None names
            them by the model's layers.

    Returns:
        Arrays by name; ``{name: torch.from_numpy(array) for ...}`` is what ``load_state_dict`` takes.

    Raises:
        ValueError: if ``like`` has another number of weights, or other shapes.
    """
    found = {f"{layer.name}.{name}": to_torch(ours) for layer, name, ours, to_torch, _ in _weights_of(model)}
    if like is None:
        return found
    result: dict[str, np.ndarray] = {}
    mine = iter(found.items())
    for key, value in like.items():
        if key.endswith(_COUNTER):
            result[key] = np.asarray(value)
            continue
        name, array = next(mine, ("no weight", np.empty(0)))
        if array.shape != tuple(value.shape):
            raise ArgumentError(
                f"like[{brief(key)}] has shape {text(tuple(value.shape))}; {name} of model "
                f"{brief(model.name)} has {text(array.shape)}"
            )
        result[key] = array
    if rest := list(mine):
        raise ArgumentError(f"like has no weight for {rest[0][0]} of model {brief(model.name)}")
    return result


Convert = Callable[[np.ndarray], np.ndarray]


def _weights_of(model: Model) -> Iterator[tuple[Layer, str, np.ndarray, Convert, Convert]]:
    """Yield each weight: its layer, torch's name of it, its value, and the conversions to torch and back."""
    flattened: tuple[int, ...] | None = None
    for layer in model.layers:
        if isinstance(layer, Flatten) and layer.data_format == "channels_last":
            flattened = tuple(layer.input_shape or ())[1:]  # type: ignore[assignment]
        for weight in layer.weights:
            ours = weight.name.rpartition("/")[2]
            to_torch, from_torch = _conversions(layer, ours, flattened)
            yield layer, _NAMES[ours], weight.numpy(), to_torch, from_torch
        if layer.weights and not isinstance(layer, BatchNormalization):
            flattened = None


def _conversions(layer: Layer, name: str, flattened: tuple[int, ...] | None) -> tuple[Convert, Convert]:
    """Return the functions that convert a weight to torch's layout and back."""
    if name != "kernel":
        return _same, _same
    if isinstance(layer, Dense):
        return _matrix(flattened) if flattened and len(flattened) == 3 else (np.transpose, np.transpose)
    if isinstance(layer, DepthwiseConv2D):
        shape = layer.kernel.numpy().shape
        return (
            lambda w: convert_filters(w, "tensorflow_depthwise", "torch"),
            lambda w: convert_filters(w, "torch", "tensorflow_depthwise").reshape(shape),
        )
    if not isinstance(layer, (Conv2D, Conv2DTranspose)):
        raise ArgumentError(
            f"layer {brief(layer.name)} ({type(layer).__name__}) has no counterpart in PyTorch"
        )
    transposed = isinstance(layer, Conv2DTranspose)
    return (
        lambda w: convert_filters(w, "keras", "torch", transposed),
        lambda w: convert_filters(w, "torch", "keras", transposed),
    )


def _same(w: np.ndarray) -> np.ndarray:
    return w


def _matrix(flattened: tuple[int, ...]) -> tuple[Convert, Convert]:
    """Return the conversions of a matrix whose inputs are an image flattened in two orders."""
    rows, cols, channels = flattened

    def to_torch(w: np.ndarray) -> np.ndarray:
        return w.reshape(rows, cols, channels, -1).transpose(3, 2, 0, 1).reshape(w.shape[1], -1)

    def from_torch(w: np.ndarray) -> np.ndarray:
        return w.reshape(-1, channels, rows, cols).transpose(2, 3, 1, 0).reshape(-1, w.shape[0])

    return to_torch, from_torch
