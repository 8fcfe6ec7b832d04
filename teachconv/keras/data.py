"""Checks samples and labels before a model sees them, and divides them into batches.

Keras: keras/src/trainers/data_adapters.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, brief
from .checks import as_numpy, check_number, positive
from .layers.layer import shape_text

__all__ = ["as_batch_size", "batches", "check_x", "check_y", "split"]


def check_x(model: Any, x: Any, name: str = "x") -> np.ndarray:
    """Return samples as an array of the model's dtype; build the model if it has no weights yet.

    Args:
        model: the model.
        x: the samples, [samples, ...].
        name: what error messages call the argument.

    Returns:
        The array.

    Raises:
        ValueError, TypeError: if there are no samples, a value is not finite, or the shape is not that of the
            model's input; the message names the layer.
    """
    array = _finite(x, name).astype(model.dtype, copy=False)
    if not model.built:
        model.build_for((None, *array.shape[1:]))
    wanted = model.input_shape or ()
    if array.ndim != len(wanted) or any(
        size not in (None, have) for size, have in zip(wanted[1:], array.shape[1:], strict=True)
    ):
        first = model.layers[0]
        raise ArgumentError(
            f"{name} must have shape {shape_text((None, *wanted[1:]))} for layer {brief(first.name)} "
            f"({type(first).__name__}), the first of model {brief(model.name)}; got {shape_text(array.shape)}"
        )
    return array


def check_y(model: Any, y: Any, samples: int, name: str = "y") -> np.ndarray:
    """Return labels as the loss wants them; raise unless there is a legal one for each sample."""
    array = _finite(y, name)
    if len(array) != samples:
        raise ArgumentError(f"{name} must have a label for each of the {samples} samples; got {len(array)}")
    checked: np.ndarray = model.loss.check(array, model.output_shape, model.dtype)
    return checked


def _finite(values: Any, name: str) -> np.ndarray:
    if values is None or hasattr(values, "__next__"):
        raise ArgumentTypeError(
            f"{name} must be an array: generators and datasets are not in teachconv.keras, "
            f"train_on_batch takes a batch at a time; got {brief(values)}"
        )
    array = as_numpy(values, name)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise ArgumentTypeError(f"{name} must hold numbers; got dtype {array.dtype}")
    if not array.ndim or not len(array):
        raise ArgumentError(f"{name} must have at least one sample; got shape {array.shape}")
    if array.dtype.kind not in "iub" and not np.isfinite(array).all():
        first = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ArgumentError(f"{name} must be finite; {name}{first} is {array[tuple(first)]}")
    return array


def split(x: Any, y: Any, validation_split: float) -> tuple[tuple[Any, Any], tuple[Any, Any] | None]:
    """Return the first part of the data for training, and the rest for validation, as Keras divides them.

    >>> split([[1], [2], [3]], [0, 1, 2], 0.3)[1]
    ([[3]], [2])
    """
    if not check_number(validation_split, "validation_split", 0, 1, below=True):
        return (x, y), None
    for name, values in (("x", x), ("y", y)):
        if not hasattr(values, "__len__"):
            _finite(values, name)  # raises
    samples = len(x)
    at = floor(samples * (1 - validation_split))
    if not 0 < at < samples:
        raise ArgumentError(
            f"validation_split {validation_split} of {samples} samples leaves {at} for training and "
            f"{samples - at} for validation; both need at least one"
        )
    return (x[:at], y[:at]), (x[at:], y[at:])


def as_batch_size(value: Any, name: str = "batch_size") -> int:
    """Return a batch size as an int, 32 for None as in Keras; raise unless it is at least 1."""
    return 32 if value is None else positive(value, name)


def batches(order: np.ndarray, batch_size: int) -> Iterator[np.ndarray]:
    """Yield the indices of each batch; the last one may be smaller.

    >>> [rows.tolist() for rows in batches(np.arange(5), 2)]
    [[0, 1], [2, 3], [4]]
    """
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
