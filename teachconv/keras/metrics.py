"""Metrics: numbers that say how good a model is, averaged over an epoch. Keras: keras/src/metrics.

They are computed with NumPy from what the training step returned; no gradient goes through them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentError, ArgumentTypeError, brief
from ..graph import constant
from ..graph.ops.array_ops import is_tensor
from .checks import check_name, look_up, shape_text, snake_case
from .config import floatx
from .layers.layer import Shape

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
        self.name = check_name(name, snake_case(type(self).__name__))
        self.reset_state()

    def call(self, y_true: np.ndarray, y_pred: np.ndarray) -> Any:
        """Return a value for each sample."""
        if self._function is None:
            raise NotImplementedError(f"{type(self).__name__} must define call(y_true, y_pred)")
        return self._function(y_true, y_pred)

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        Args:
            y_true: what should come out.
            y_pred: what came out.
            sample_weight: how much each sample counts; a number for all, or [batch].
        """
        self._add(self.call(_array(y_true), _array(y_pred)), sample_weight)

    def _add(self, values: Any, sample_weight: Any) -> None:
        """Add a value for each sample; further axes are averaged."""
        array = np.atleast_1d(_array(values).astype(np.float64))
        array = array.reshape(len(array), -1).mean(1) if array.ndim > 1 and array.size else array
        given = _array(1 if sample_weight is None else sample_weight).astype(np.float64)
        if given.shape not in ((), array.shape, (*array.shape, 1)):
            raise ArgumentError(
                f"sample_weight must be a number, or one for each of the {len(array)} samples; got shape "
                f"{shape_text(given.shape)}"
            )
        weights = np.broadcast_to(given.reshape(-1), array.shape)
        self._total += float((array * weights).sum())
        self._count += float(weights.sum())

    def result(self) -> Any:
        """Return the mean as a tensor; 0 before the first sample."""
        return constant(self._mean(), floatx())

    def _mean(self) -> float:
        return self._total / self._count if self._count else 0.0

    def _number(self) -> float:
        """Return the result as a number: the mean in full precision, unless a subclass has a `result`."""
        return self._mean() if type(self).result is Metric.result else float(self.result())

    def reset_state(self) -> None:
        """Forget all samples."""
        self._total, self._count = 0.0, 0.0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch, as `update_state`; return the mean so far."""
        self.update_state(*args, **kwargs)
        return self.result()


class Mean(Metric):
    """The mean of numbers.

    >>> mean = Mean()
    >>> mean.update_state([1.0, 3.0]), mean.update_state(8.0, sample_weight=2), float(mean.result())
    (None, None, 5.0)
    """

    def update_state(self, values: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        """Add numbers.

        Args:
            values: a number, or an array with a number or more for each sample.
            sample_weight: how much each sample counts.
        """
        self._add(values, sample_weight)


def _array(values: Any) -> np.ndarray:
    """Return values as an array; raise for a tensor of a graph, which has none."""
    if is_tensor(values) and not hasattr(values, "numpy"):
        raise ArgumentTypeError(
            "a metric computes with NumPy, and a tensor of a function or graph has no value: return the "
            f"tensor from the function, and call the metric outside; got {brief(values)}"
        )
    return np.asarray(values)


class SparseCategoricalAccuracy(Metric):
    """How often the largest score is that of the true class; labels are integers.

    >>> float(SparseCategoricalAccuracy()([1, 0], [[0.1, 0.9], [0.2, 0.8]]))
    0.5
    """

    def __init__(self, name: str = "sparse_categorical_accuracy"):
        super().__init__(name=name)

    def call(self, y_true: np.ndarray, y_pred: np.ndarray) -> Any:
        """Return whether each sample is right."""
        return y_pred.argmax(-1) == y_true.reshape(y_pred.shape[:-1])


class CategoricalAccuracy(Metric):
    """How often the largest score is that of the true class; labels are one-hot.

    >>> float(CategoricalAccuracy()([[0, 1]], [[0.1, 0.9]]))
    1.0
    """

    def __init__(self, name: str = "categorical_accuracy"):
        super().__init__(name=name)

    def call(self, y_true: np.ndarray, y_pred: np.ndarray) -> Any:
        """Return whether each sample is right."""
        return y_pred.argmax(-1) == y_true.argmax(-1)


class MeanSquaredError(Metric):
    """The mean of the squared differences.

    >>> float(MeanSquaredError()([[0.0, 0.0]], [[1.0, 3.0]]))
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
                f"metrics: {brief(identifier)} needs a score for each class; the model returns one"
            )
        sparse = len(labels) < len(output) or labels[-1:] == (1,)
        return (SparseCategoricalAccuracy if sparse else CategoricalAccuracy)(identifier)
    found = look_up(identifier, {"accuracy": SparseCategoricalAccuracy} | _BY_NAME, "metric")
    if isinstance(identifier, str):
        found.name = identifier
    return found if isinstance(found, Metric) else Metric(found, getattr(found, "__name__", None))
