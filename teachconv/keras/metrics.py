"""Metrics: numbers that say how good a model is, averaged over an epoch. Keras: keras/src/metrics.

Sum and count are variables, so that a metric can also be called inside a traced function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import (
    Variable,
    argmax,
    cast,
    convert_to_tensor,
    equal,
    greater,
    init_scope,
    ones_like,
    reduce_mean,
    reduce_sum,
    reshape,
    shape,
    where,
)
from ..support.errors import ArgumentError
from .checks import check_number, look_up, shape_text, snake_case
from .config import floatx
from .layers.layer import Shape
from .losses import FunctionWrapper, mean_absolute_error, mean_squared_error

__all__ = [
    "BinaryAccuracy",
    "CategoricalAccuracy",
    "Mean",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "Metric",
    "SparseCategoricalAccuracy",
    "get",
]


class Metric(FunctionWrapper):
    """The mean of a function over all the samples since the last ``reset_state``.

    Args:
        function: (y_true, y_pred) -> a value for each sample, with tensors.
        name: the name in logs; None for that of the class.
    """

    def __init__(self, function: Callable[[Any, Any], Any] | None = None, name: str | None = None):
        super().__init__(function, name)
        with init_scope():
            self.total, self.count = (
                Variable(0.0, False, f"{self.name}/{sum_of}", "float64") for sum_of in ("total", "count")
            )

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch.

        Args:
            y_true: the targets.
            y_pred: the predictions.
            sample_weight: how much each sample counts; a number for all, or [batch].
        """
        self._add(self.call(convert_to_tensor(y_true), convert_to_tensor(y_pred)), sample_weight)

    def _add(self, values: Any, sample_weight: Any) -> None:
        """Add a value for each sample; further axes are averaged."""
        values = cast(values, "float64")
        axes = len(values.shape)
        values = reduce_mean(values, [*range(1, axes)]) if axes > 1 else reshape(values, [-1])
        weights = cast(1.0 if sample_weight is None else sample_weight, "float64")
        sizes, samples = tuple(weights.shape), values.shape[0]
        if sizes not in ((), (samples,), (samples, 1)):
            raise ArgumentError(
                f"sample_weight must be a number, or one for each of the {samples} samples; got shape "
                f"{shape_text(sizes)}"
            )
        weights = reshape(weights, [-1]) * ones_like(values)
        self.count.assign_add(reduce_sum(weights))
        self.total.assign_add(reduce_sum(values * weights))

    def result(self) -> Any:
        """Return the mean as a tensor; 0 before the first sample."""
        return cast(self._mean(), floatx())

    def precise(self) -> Any:
        """Return the result; the mean in float64, unless a subclass has a `result` of its own."""
        return self._mean() if type(self).result is Metric.result else self.result()

    def _mean(self) -> Any:
        return self.total / where(equal(self.count, 0.0), ones_like(self.count), self.count)

    def reset_state(self) -> None:
        """Forget all samples."""
        self.total.assign(0.0)
        self.count.assign(0.0)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Add a batch, as `update_state`; return the mean so far."""
        self.update_state(*args, **kwargs)
        return self.result()


class CompileMetrics:
    """The metrics of `compile` as one, by whose names their means are known.

    Keras: keras/src/trainers/compile_utils.py.
    """

    name = "compile_metrics"

    def __init__(self) -> None:
        self.metrics: list[Metric] = []  # until the first labels say which accuracy is meant

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Add a batch; weights change nothing, because in Keras they go with ``weighted_metrics``."""
        for each in self.metrics:
            each.update_state(y_true, y_pred)

    def result(self) -> dict[str, Any]:
        """Return the means by their names."""
        return {each.name: each.result() for each in self.metrics}

    def precise(self) -> dict[str, Any]:
        """Return the means by their names, in float64."""
        return {each.name: each.precise() for each in self.metrics}

    def reset_state(self) -> None:
        """Forget all samples."""
        for each in self.metrics:
            each.reset_state()


def _sparse_matches(y_true: Any, y_pred: Any) -> Any:
    """Return whether the largest score is that of the class of each sample."""
    found = argmax(y_pred, -1)
    return equal(cast(found, "float64"), cast(reshape(y_true, shape(found)), "float64"))


class _Named(Metric):
    """The mean of a function of tensors.

    Args:
        name: the name in logs; None for that of the class.
        dtype: accepted as in Keras; sums are float64.
    """

    def __init__(self, name: str | None = None, dtype: Any = None):
        super().__init__(name=name)


class Mean(_Named):
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


class SparseCategoricalAccuracy(_Named, of=_sparse_matches):
    """How often the largest score is that of the true class; labels are integers.

    >>> float(SparseCategoricalAccuracy()([1, 0], [[0.1, 0.9], [0.2, 0.8]]))
    0.5
    """


class CategoricalAccuracy(_Named):
    """How often the largest score is that of the true class; labels are one-hot.

    >>> float(CategoricalAccuracy()([[0, 1]], [[0.1, 0.9]]))
    1.0
    """

    _of = staticmethod(lambda y_true, y_pred: equal(argmax(y_true, -1), argmax(y_pred, -1)))


class BinaryAccuracy(Metric):
    """How often a probability is above the threshold where the label is 1, and not where it is 0.

    Args:
        name: the name in logs; None for that of the class.
        threshold: a number; 0 is that of logits.

    >>> float(BinaryAccuracy()([[1], [0]], [[0.9], [0.6]]))
    0.5
    """

    def __init__(self, name: str | None = None, *, threshold: float = 0.5):
        self.threshold = check_number(threshold, "threshold", -np.inf)
        super().__init__(name=name)

    def _of(self, y_true: Any, y_pred: Any) -> Any:
        y_pred = convert_to_tensor(y_pred)
        above = cast(greater(y_pred, cast(self.threshold, y_pred.dtype)), "float64")
        return equal(above, cast(reshape(y_true, shape(y_pred)), "float64"))


class MeanSquaredError(_Named, of=mean_squared_error):
    """The mean of the squared differences.

    >>> float(MeanSquaredError()([[0.0, 0.0]], [[1.0, 3.0]]))
    5.0
    """


class MeanAbsoluteError(_Named, of=mean_absolute_error):
    """The mean of the absolute differences.

    >>> float(MeanAbsoluteError()([[0.0, 0.0]], [[1.0, -3.0]]))
    2.0
    """


_CLASSES = BinaryAccuracy, CategoricalAccuracy, SparseCategoricalAccuracy, MeanAbsoluteError, MeanSquaredError
_BY_NAME: dict[str, type[Metric]] = {
    **{snake_case(kind.__name__): kind for kind in _CLASSES},
    "mae": MeanAbsoluteError,
    "mse": MeanSquaredError,
}


def get(identifier: Any, labels: Shape = (), output: Shape = ()) -> Metric:
    """Return a metric, given by its name or as an object.

    Args:
        identifier: "accuracy" or "acc", the name of another metric, a `Metric`, its class, or a function
            (y_true, y_pred) -> a value for each sample, with tensors.
        labels: the shape of the labels, which decides which accuracy is meant.
        output: the shape of the model's output; one with a last size of 1 means `BinaryAccuracy`.

    Returns:
        The metric.

    Raises:
        ValueError, TypeError: if there is no such metric.

    >>> type(get("accuracy", (None,), (None, 10))).__name__
    'SparseCategoricalAccuracy'
    """
    if isinstance(identifier, str) and identifier in ("accuracy", "acc"):
        if output[-1:] == (1,):
            return BinaryAccuracy(identifier)
        sparse = len(labels) < len(output) or labels[-1:] == (1,)
        return (SparseCategoricalAccuracy if sparse else CategoricalAccuracy)(identifier)
    found = look_up(identifier, {"accuracy": SparseCategoricalAccuracy} | _BY_NAME, "metric")
    if isinstance(identifier, str):
        found.name = identifier
    return found if isinstance(found, Metric) else Metric(found, getattr(found, "__name__", None))
