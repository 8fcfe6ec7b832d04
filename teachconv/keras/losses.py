"""Losses: the numbers that training minimises.

Keras: keras/src/losses/losses.py and keras/src/backend/tensorflow/nn.py.

A loss is computed for each sample and then averaged over the batch. It is made of the runtime's ops, so
that its gradient comes from the same registry as that of every layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.dtypes import is_integer
from ..graph import (
    abs,
    cast,
    convert_to_tensor,
    expand_dims,
    log,
    maximum,
    minimum,
    name_scope,
    nn,
    reduce_mean,
    reduce_sum,
    reshape,
    shape,
    square,
)
from ..graph.framework.op_def import is_trainable
from ..graph.ops.nn_impl import sigmoid_cross_entropy_with_logits
from ..support.errors import ArgumentError, ArgumentTypeError
from .activations import logits_of
from .checks import check_name, look_up, refuse, shape_text, snake_case
from .config import epsilon, floatx
from .layers.layer import Shape

__all__ = [
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "KLDivergence",
    "Loss",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "SparseCategoricalCrossentropy",
    "binary_crossentropy",
    "categorical_crossentropy",
    "get",
    "kl_divergence",
    "mae",
    "mean_absolute_error",
    "mean_squared_error",
    "mse",
    "sparse_categorical_crossentropy",
]


# ---------------------------------------------------------------------------------------------
# Functions: one loss for each sample
# ---------------------------------------------------------------------------------------------


def sparse_categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """Return minus the logarithm of the probability of the true class.

    Args:
        y_true: [batch], the classes as integers from 0.
        y_pred: [batch, classes], probabilities, or logits, whose softmax gives the probabilities.
        from_logits: whether ``y_pred`` are logits. Probabilities that come right out of a softmax are
            replaced by its input, because the logarithm of a softmax loses digits.

    Returns:
        [batch].

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit.

    >>> print(sparse_categorical_crossentropy([1, 0], [[0.2, 0.8], [0.5, 0.5]]).numpy().round(3))
    [0.223 0.693]
    """
    y_pred = _floats(y_pred)
    logits = find_logits(y_pred, from_logits, "Softmax")
    if logits is None:
        logits = log(_clip(y_pred))
    axes = tuple(y_pred.shape)[:-1]
    labels = cast(y_true, "int64")
    if tuple(labels.shape) != axes:  # a last axis of 1
        labels = reshape(labels, [-1, *axes[1:]])
    return nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


def categorical_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """Return minus the sum of the true probabilities times the logarithms of the predicted ones.

    Args:
        y_true: [batch, classes], probabilities, mostly one 1 among zeros.
        y_pred: [batch, classes], as in `sparse_categorical_crossentropy`.
        from_logits: likewise.

    Returns:
        [batch].

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit.

    >>> print(categorical_crossentropy([[0.0, 1.0]], [[0.2, 0.8]]).numpy().round(3))
    [0.223]
    """
    y_true, y_pred = _pair(y_true, y_pred)
    logits = find_logits(y_pred, from_logits, "Softmax")
    if logits is not None:
        return nn.softmax_cross_entropy_with_logits(y_true, logits)
    probabilities = _clip(y_pred / reduce_sum(y_pred, -1, keepdims=True))
    return -reduce_sum(y_true * log(probabilities), -1)


def binary_crossentropy(y_true: Any, y_pred: Any, from_logits: bool = False) -> Any:
    """Return minus the logarithm of the probability of the true answer, yes or no; averaged over an axis.

    Args:
        y_true: [batch, ...], 1 for yes and 0 for no, or a probability.
        y_pred: [batch, ...], the predicted probabilities of yes, or logits, whose sigmoid they are.
        from_logits: whether ``y_pred`` are logits. Probabilities that come right out of a sigmoid are
            replaced by its input.

    Returns:
        The shape without its last axis.

    Raises:
        ValueError, TypeError: if shapes do not fit.

    >>> print(binary_crossentropy([[1.0], [0.0]], [[0.8], [0.5]]).numpy().round(3))
    [0.223 0.693]
    """
    y_true, y_pred = _pair(y_true, y_pred)
    logits = find_logits(y_pred, from_logits, "Sigmoid")
    if logits is not None:
        return reduce_mean(sigmoid_cross_entropy_with_logits(y_true, logits), -1)
    yes = _clip(y_pred)
    return -reduce_mean(y_true * log(yes) + (1 - y_true) * log(1 - yes), -1)


def kl_divergence(y_true: Any, y_pred: Any) -> Any:
    """Return the sum of y_true * log(y_true / y_pred) over the last axis: how far probabilities differ.

    Args:
        y_true: [batch, classes], probabilities.
        y_pred: [batch, classes], probabilities.

    Returns:
        [batch].

    Raises:
        ValueError, TypeError: if shapes do not fit.

    >>> print(kl_divergence([[0.5, 0.5]], [[0.25, 0.75]]).numpy().round(4))
    [0.1438]
    """
    y_true, y_pred = (minimum(maximum(each, epsilon()), 1.0) for each in _pair(y_true, y_pred))
    return reduce_sum(y_true * log(y_true / y_pred), -1)


def mean_absolute_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of the absolute differences over the last axis; arguments as in `mean_squared_error`.

    >>> mean_absolute_error([[0.0, 0.0]], [[1.0, -3.0]]).numpy().tolist()
    [2.0]
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return reduce_mean(abs(y_pred - y_true), -1)


def mean_squared_error(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of the squared differences over the last axis.

    Args:
        y_true: the targets.
        y_pred: the predictions, of the same shape.

    Returns:
        The shape without its last axis.

    Raises:
        ValueError, TypeError: if shapes do not fit.

    >>> mean_squared_error([[0.0, 0.0]], [[1.0, 3.0]]).numpy().tolist()
    [5.0]
    """
    y_true, y_pred = _pair(y_true, y_pred)
    return reduce_mean(square(y_pred - y_true), -1)


mae, mse = mean_absolute_error, mean_squared_error  # Keras's other names


def _pair(y_true: Any, y_pred: Any) -> tuple[Any, Any]:
    """Return both as tensors of one dtype and one rank, as Keras does; raise unless their shapes agree."""
    y_pred = _floats(y_pred)
    y_true = cast(y_true, y_pred.dtype)
    if y_pred.shape[-1:] == (1,) and len(y_true.shape) == len(y_pred.shape) - 1:
        y_true = expand_dims(y_true, -1)
    if not y_true.shape.is_compatible_with(y_pred.shape):
        raise ArgumentError(
            "y_true and y_pred must have the same shape; got "
            f"{shape_text(y_true.shape)} and {shape_text(y_pred.shape)}"
        )
    return y_true, y_pred


def _floats(y_pred: Any) -> Any:
    """Return predictions as a tensor of floats: a loss of integers would have no fraction."""
    y_pred = convert_to_tensor(y_pred)
    return y_pred if is_trainable(y_pred.dtype) else cast(y_pred, floatx())


def find_logits(y_pred: Any, from_logits: bool, op: str) -> Any:
    """Return ``y_pred`` if it holds logits, or the input of the op whose result it is, or None."""
    logits = logits_of(y_pred, op)
    return y_pred if logits is None and from_logits else logits


def _clip(probabilities: Any) -> Any:
    return minimum(maximum(probabilities, epsilon()), 1 - epsilon())


def _beside(losses: Any, weights: Any) -> Any:
    """Return weights with as many axes as losses, where a last axis of 1 is the difference, as Keras does."""
    more = len(losses.shape) - len(weights.shape)
    if more == 1 and losses.shape[-1] == 1:
        return expand_dims(weights, -1)
    return reshape(weights, shape(losses)) if more == -1 and weights.shape[-1] == 1 else weights


# ---------------------------------------------------------------------------------------------
# Classes: the mean over the batch, and what a model checks before it trains
# ---------------------------------------------------------------------------------------------


class FunctionWrapper:
    """A function of labels and predictions with a name: a loss or a metric.

    Args:
        function: (y_true, y_pred) -> a value for each sample.
        name: the name in logs; None for that of the class.
    """

    _of: Any = None

    def __init_subclass__(cls, of: Callable[..., Any] | None = None, **kwargs: Any) -> None:
        """Let a class statement name the function, as in ``class MeanSquaredError(Loss, of=...)``."""
        super().__init_subclass__(**kwargs)
        if of is not None:
            cls._of = staticmethod(of)

    def __init__(self, function: Callable[[Any, Any], Any] | None = None, name: str | None = None):
        self._function = function
        self.name = check_name(name, snake_case(type(self).__name__))

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return a value for each sample; of a class of losses, also for each axis but the last."""
        function = self._of or self._function
        if function is None:
            raise NotImplementedError(f"{type(self).__name__} must define call(y_true, y_pred)")
        return function(y_true, y_pred)


class Loss(FunctionWrapper):
    """The mean of a function over the batch.

    Args:
        function: (y_true, y_pred) -> one loss for each sample.
        name: the name in logs; None for that of the class.
    """

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """Return the mean over the batch, a scalar.

        Args:
            y_true: the targets.
            y_pred: the predictions.
            sample_weight: what the losses are multiplied with before their mean: a number, or [batch]; a last
                axis of 1 may be there or not. The sum is divided by the number of losses, not by the weights.

        Returns:
            A tensor without axes.

        >>> float(MeanSquaredError()([[0.0], [0.0]], [[1.0], [2.0]], sample_weight=[3.0, 1.0]))
        3.5
        """
        with name_scope(self.name):
            losses = self.call(y_true, y_pred)
            if sample_weight is not None:
                losses = losses * _beside(losses, cast(sample_weight, losses.dtype))
            return reduce_mean(losses)

    def check(self, y: np.ndarray, output_shape: Shape, dtype: str) -> np.ndarray:
        """Return the labels in the dtype in which they enter the graph.

        Args:
            y: all the labels.
            output_shape: the shape of the model's output.
            dtype: the dtype of the model's output.

        Raises:
            ValueError: if the labels do not fit the output.
        """
        return y if is_integer(y.dtype) else y.astype(dtype, copy=False)


class _Named(Loss):
    """The mean of a function of this file."""

    _hint = ""  # for labels with fewer axes than the output

    def __init__(self, *, name: str | None = None, **unknown: Any):
        refuse(type(self).__name__, unknown)
        super().__init__(name=name)

    def check(self, y: np.ndarray, output_shape: Shape, dtype: str) -> np.ndarray:
        """Return the values in the output's dtype and shape; a last axis of 1 may be missing."""
        if output_shape[-1] == 1 and y.ndim == len(output_shape) - 1:
            y = y[..., np.newaxis]
        if y.ndim != len(output_shape) or any(
            size not in (None, have) for size, have in zip(output_shape[1:], y.shape[1:], strict=True)
        ):
            raise ArgumentError(
                f"y must have the shape of the model's output, {shape_text(output_shape)}; got "
                f"{shape_text(y.shape)}{self._hint * (y.ndim < len(output_shape))}"
            )
        return y.astype(dtype, copy=False)


class MeanSquaredError(_Named, of=mean_squared_error):
    """The mean of the squared differences.

    Args:
        name: the name in logs; None for that of the class.
        **unknown: Keras' other arguments, which are refused by name.
    """


class MeanAbsoluteError(_Named, of=mean_absolute_error):
    """The mean of the absolute differences; arguments as in `MeanSquaredError`."""


class KLDivergence(_Named, of=kl_divergence):
    """The mean of `kl_divergence`; arguments as in `MeanSquaredError`."""


class _Crossentropy(_Named):
    """The model returns probabilities, or logits."""

    def __init__(self, from_logits: bool = False, *, name: str | None = None, **unknown: Any):
        super().__init__(name=name, **unknown)
        self.from_logits = from_logits

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """Return one loss for each sample."""
        return self._of(y_true, y_pred, self.from_logits)


class BinaryCrossentropy(_Crossentropy, of=binary_crossentropy):
    """The mean of `binary_crossentropy`: labels are 1 for yes and 0 for no.

    Args:
        from_logits: whether the model returns logits and not probabilities.
        name: the name in logs; None for that of the class.
        **unknown: Keras' other arguments, which are refused by name.

    >>> loss = BinaryCrossentropy(from_logits=True)
    >>> float(loss([[1], [0]], [[0.0], [0.0]])).__round__(3)
    0.693
    """


class CategoricalCrossentropy(_Crossentropy, of=categorical_crossentropy):
    """The mean of `categorical_crossentropy`: labels are probabilities, mostly one-hot.

    Arguments as in `BinaryCrossentropy`.
    """

    _hint = '; integers go with "sparse_categorical_crossentropy"'


class SparseCategoricalCrossentropy(_Crossentropy, of=sparse_categorical_crossentropy):
    """The mean of `sparse_categorical_crossentropy`: labels are integers.

    Arguments as in `BinaryCrossentropy`.

    >>> loss = SparseCategoricalCrossentropy(from_logits=True)
    >>> float(loss([0, 1], [[0.0, 0.0], [0.0, 0.0]])).__round__(3)
    0.693
    """

    def check(self, y: np.ndarray, output_shape: Shape, dtype: str) -> np.ndarray:
        """Return the labels as int64, without a last axis of 1; raise unless they are legal classes."""
        classes = output_shape[-1]
        if y.ndim == len(output_shape) and y.shape[-1] == 1:
            y = y[..., 0]
        if y.ndim != len(output_shape) - 1 or any(
            size not in (None, have) for size, have in zip(output_shape[1:-1], y.shape[1:], strict=True)
        ):
            hint = '; one-hot labels go with "categorical_crossentropy"' if y.shape[-1:] == (classes,) else ""
            raise ArgumentError(
                f"y must hold one integer for each sample, shape {shape_text(output_shape[:-1])}; got "
                f"{shape_text(y.shape)}{hint}"
            )
        whole = y if is_integer(y.dtype) else np.rint(y.astype(np.float64))
        if not np.array_equal(whole, y):
            raise ArgumentError(f"y must hold whole numbers; got {y[whole != y].ravel()[0]}")
        wrong = (whole < 0) | (whole >= classes)
        if wrong.any():
            first = np.argwhere(wrong)[0]
            raise ArgumentError(
                f"y must hold classes from 0 to {classes - 1}, because the model returns {classes} scores; "  # type: ignore[operator]
                f"y[{', '.join(map(str, first))}] is {y[tuple(first)]}"
            )
        return whole.astype(np.int64)


_CLASSES = (
    *(BinaryCrossentropy, CategoricalCrossentropy, SparseCategoricalCrossentropy),
    *(KLDivergence, MeanAbsoluteError, MeanSquaredError),
)
_BY_NAME: dict[str, type[Loss]] = {
    **{snake_case(kind.__name__): kind for kind in _CLASSES},
    "kl_divergence": KLDivergence,
    "mae": MeanAbsoluteError,
    "mse": MeanSquaredError,
}


def get(identifier: Any) -> Loss:
    """Return a loss, given by its name or as an object.

    Args:
        identifier: the name of a function of this module, such as "sparse_categorical_crossentropy" or "mse",
            a `Loss`, its class, or a function (y_true, y_pred) -> one loss for each sample.

    Returns:
        The loss.

    Raises:
        ValueError, TypeError: if there is no such loss.

    >>> get("mse").name
    'mean_squared_error'
    """
    if identifier is None:
        raise ArgumentTypeError(f"loss must be a name ({', '.join(_BY_NAME)}) or a Loss; got None")
    found = look_up(identifier, _BY_NAME, "loss")
    own = {kind._of: kind for kind in _CLASSES}
    if found in own:  # the function: its class also checks labels
        return own[found]()
    if isinstance(found, Loss):
        return found
    return Loss(found, getattr(found, "__name__", "loss").strip("<>"))  # a lambda has the name "<lambda>"
