"""Metrics: numbers that say how good a model is, averaged over an epoch. Keras: keras/src/metrics.

They are computed with NumPy from what the training step returned; no gradient goes through them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError
from .layers.layer import Shape
from .missing import module_getattr
from .naming import look_up, snake_case

__all__ = [
    "CategoricalAccuracy",
    "Mean",
    "MeanSquaredError",
    "Metric",
    "SparseCategoricalAccuracy",
    "get",
]


class Metric:
    """The mean of a function over all the samples since the last ``reset_state``.

    Args:
        function: (y_true, y_pred) -> a value for each sample, with NumPy arrays.
        name: the name in logs; None for that of the class.
    """

    def __init__(self, function: Callable[[Any, Any], Any] | None = None, name: str | None = None):
        self._function = function
        self.name = name or snake_case(type(self).__name__)
        self.reset_state()

    def call(self, y_true: np.ndarray, y_pred: np.ndarray) -> Any:
        """Return a value for each sample."""
        if self._function is None:
            raise NotImplementedError(f"{type(self).__name__} must define call(y_true, y_pred)")
        return self._function(y_true, y_pred)

    def update_state(self, y_true: Any, y_pred: Any) -> None:
        """Add a batch.

        Args:
            y_true: what should come out.
            y_pred: what came out.
        """
        self._add(np.asarray(self.call(np.asarray(y_true), np.asarray(y_pred)), np.float64))

    def _add(self, values: np.ndarray) -> None:
        self._total += float(values.sum())
        self._count += values.size

    def result(self) -> float:
        """Return the mean; 0 before the first sample."""
        return self._total / self._count if self._count else 0.0

    def reset_state(self) -> None:
        """Forget all samples."""
        self._total, self._count = 0.0, 0

    def __call__(self, y_true: Any, y_pred: Any) -> float:
        """Add a batch; return the mean so far."""
        self.update_state(y_true, y_pred)
        return self.result()


class Mean(Metric):
    """The mean of numbers; ``weight`` is how many samples a number stands for.

    >>> losses = Mean(name="loss")
    >>> losses.update_state(1.0, 30), losses.update_state(2.0, 10), losses.result()
    (None, None, 1.25)
    """

    def update_state(self, value: Any, weight: int = 1) -> None:
        """Add a number that is the mean of ``weight`` samples."""
        self._total += float(value) * weight
        self._count += weight

    def __call__(self, value: Any, weight: int = 1) -> float:
        """Add a number; return the mean so far."""
        self.update_state(value, weight)
        return self.result()


class SparseCategoricalAccuracy(Metric):
    """How often the largest score is that of the true class; labels are integers.

    >>> SparseCategoricalAccuracy()([1, 0], [[0.1, 0.9], [0.2, 0.8]])
    0.5
    """

    def __init__(self, name: str = "sparse_categorical_accuracy"):
        super().__init__(name=name)

    def call(self, y_true: np.ndarray, y_pred: np.ndarray) -> Any:
        """Return whether each sample is right."""
        return y_pred.argmax(-1) == y_true.reshape(y_pred.shape[:-1])


class CategoricalAccuracy(Metric):
    """How often the largest score is that of the true class; labels are one-hot.

    >>> CategoricalAccuracy()([[0, 1]], [[0.1, 0.9]])
    1.0
    """

    def __init__(self, name: str = "categorical_accuracy"):
        super().__init__(name=name)

    def call(self, y_true: np.ndarray, y_pred: np.ndarray) -> Any:
        """Return whether each sample is right."""
        return y_pred.argmax(-1) == y_true.argmax(-1)


class MeanSquaredError(Metric):
    """The mean of the squared differences.

    >>> MeanSquaredError()([[0.0, 0.0]], [[1.0, 3.0]])
    5.0
    """

    def __init__(self, name: str = "mean_squared_error"):
        super().__init__(name=name)

    def call(self, y_true: np.ndarray, y_pred: np.ndarray) -> Any:
        """Return the squared differences."""
        if y_pred.shape[-1:] == (1,) and y_true.ndim == y_pred.ndim - 1:
            y_true = y_true[..., np.newaxis]
        return np.square(y_pred - y_true.astype(y_pred.dtype))


_BY_NAME: dict[str, type[Metric]] = {
    "categorical_accuracy": CategoricalAccuracy,
    "mean_squared_error": MeanSquaredError,
    "mse": MeanSquaredError,
    "sparse_categorical_accuracy": SparseCategoricalAccuracy,
}


def get(identifier: Any, labels: Shape = (), output: Shape = ()) -> Metric:
    """Return a metric by its name, or one that is given as such.

    Args:
        identifier: "accuracy" or "acc", the name of another metric, a `Metric`, its class, or a function
            (y_true, y_pred) -> a value for each sample, with NumPy arrays.
        labels: the shape of the labels, which decides which accuracy is meant.
        output: the shape of the model's output.

    Returns:
        The metric.

    Raises:
        ValueError, TypeError: if there is no such metric.

    >>> type(get("accuracy", (None,), (None, 10))).__name__
    'SparseCategoricalAccuracy'
    """
    if isinstance(identifier, str) and identifier in ("accuracy", "acc"):
        if output[-1:] == (1,):
            raise ArgumentError(
                f"metrics: {identifier!r} needs a score for each class; the model returns one"
            )
        sparse = len(labels) < len(output) or labels[-1:] == (1,)
        return (SparseCategoricalAccuracy if sparse else CategoricalAccuracy)(identifier)
    found = look_up(identifier, {"accuracy": SparseCategoricalAccuracy} | _BY_NAME, "metric")
    if isinstance(found, type):
        found = found(identifier) if isinstance(identifier, str) else found()
    return found if isinstance(found, Metric) else Metric(found, getattr(found, "__name__", None))


if not TYPE_CHECKING:
    __getattr__ = module_getattr(__name__, __all__)
