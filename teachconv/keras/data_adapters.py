"""The batches for `fit`, `evaluate` and `predict`: cut from arrays, or supplied by a dataset.

A batch is (x, y, sample_weight), with None for what there is not.

Keras: keras/src/trainers/data_adapters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import floor
from typing import Any

import numpy as np

from ..core.arguments import other_order, positive
from ..support.errors import ArgumentError, ArgumentTypeError, brief
from .checks import as_numpy, check_number, shape_text
from .layers.layer import Layer, any_batch, are_several, as_list

Parts = tuple[Any, Any, Any]  # samples, labels and weights


def parts_of(data: Any) -> Parts:
    """Return samples, labels and weights of a batch that is a tuple of them, or the samples alone.

    >>> parts_of(("x", "y")), parts_of("x")
    (('x', 'y', None), ('x', None, None))
    """
    x, y, sample_weight, *_ = (*(data if isinstance(data, tuple) else (data,)), None, None)
    return x, y, sample_weight


def one_of(batch: Parts) -> Any:
    """Return a batch as the steps of a model take it: a tuple of what there is, or the samples alone."""
    given = tuple(part for part in batch if part is not None)
    return given if len(given) > 1 else given[0]


def batches_of(
    check: Callable[..., Parts], data: Parts, size: int, steps: Any, name: str = "x"
) -> ArrayBatches | Stream:
    """Return batches of samples, labels and weights, which can be iterated again in each epoch.

    Args:
        check: makes arrays of them, or raises.
        data: arrays of samples, labels and weights; or a dataset, an object with ``__len__`` and
            ``__getitem__`` or another iterable that gives batches of them, and None for the others.
        size: how many samples of arrays are a batch.
        steps: how many batches of an iterable are an epoch; None for all that it gives.
        name: what messages call ``x``.
    """
    x, *others = data
    if not is_stream(x):
        if steps is not None:
            raise ArgumentTypeError(
                "steps_per_epoch, validation_steps and steps go with a dataset; of arrays, pass those "
                f"samples; got {brief(steps)}"
            )
        return ArrayBatches(check(*data), size)
    for other, value in zip(("y", "sample_weight"), others, strict=True):
        if value is not None:
            raise ArgumentTypeError(
                f"{other} must be left out where {name} gives batches (x, y); got {brief(value)}"
            )
    return Stream(check, x, steps, name)


def is_stream(x: Any) -> bool:
    """Return whether x gives batches: a dataset or a generator does, not an array or a list.

    An object with ``__getitem__`` gives them by their numbers, as Keras' ``PyDataset`` does.

    >>> is_stream(iter([])), is_stream([[1.0]]), is_stream(np.ones(3))
    (True, False, False)
    """
    gives = hasattr(x, "__iter__") or hasattr(x, "__getitem__")
    is_array = hasattr(x, "__array__") or hasattr(x, "__dlpack__")
    return gives and not (is_array or isinstance(x, (Sequence, Mapping)))


class ArrayBatches:
    """The batches of arrays, in an order that can be shuffled; the last one may be smaller.

    >>> [x.tolist() for x, _, _ in ArrayBatches((np.arange(5), np.arange(5), None), 2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, parts: Parts, size: int):
        self._parts, self._size = parts, size
        self._order = np.arange(len(as_list(parts[0])[0]))
        self.steps: int | None = -(-len(self._order) // size)

    def shuffle(self, rng: np.random.Generator) -> None:
        """Change the order of the samples."""
        rng.shuffle(self._order)

    def __iter__(self) -> Iterator[Parts]:
        for start in range(0, len(self._order), self._size):
            rows = self._order[start : start + self._size]
            x, y, sample_weight = (_rows_of(part, rows) for part in self._parts)
            yield x, y, sample_weight


def _rows_of(part: Any, rows: Any) -> Any:
    if isinstance(part, list):
        return [each[rows] for each in part]
    return None if part is None else part[rows]


_MOST = 100_000  # batches of an iterable that does not say how many it has


class Stream:
    """The batches of a dataset or an iterable, checked as they come.

    An iterable decides their order. Those of an object with ``__len__`` and ``__getitem__`` can be shuffled,
    and its ``on_epoch_end`` is called. Keras: keras/src/trainers/data_adapters/py_dataset_adapter.py.
    """

    def __init__(self, check: Callable[..., Parts], x: Any, steps: Any, name: str):
        self._check, self._source, self._name = check, x, name
        self._limit = None if steps is None else positive(steps, "steps")
        self._iterator: Iterator[Any] | None = None
        length = _length(x)
        if length == -1 and steps is None:
            raise ArgumentError(f"{name} is an endless dataset: say how many steps an epoch has")
        self._length = length if length >= 0 else None
        self._order = np.arange(self._length or 0) if hasattr(x, "__getitem__") else None
        self._read = 0
        self.steps: int | None = self._limit or self._length

    def shuffle(self, rng: np.random.Generator) -> None:
        """Change the order of numbered batches; leave all others to the iterable."""
        if self._order is not None:
            rng.shuffle(self._order)

    def __iter__(self) -> Iterator[Parts]:
        if self._limit is None or self._iterator is None or self._read == self._length:
            self._iterator, self._read = self._batches(), 0
        most = self._limit or (_MOST if self._length is None else self._length)
        given = 0
        for batch in islice(self._iterator, most):
            given += 1
            self._read += 1
            if isinstance(batch, (tuple, list)) and not 0 < len(batch) <= 3:
                raise ArgumentTypeError(
                    f"{self._name} must give batches (x, y) or (x, y, sample_weight); got {len(batch)} parts"
                )
            yield self._check(*parts_of(tuple(batch) if isinstance(batch, list) else batch))
        if given < (self._limit or 1):
            raise ArgumentError(
                f"{self._name} must give {self._limit or 'its'} batches in each epoch; it gave {given}: a "
                "generator is read once, a dataset can be read again or has a repeat()"
            )
        if self._limit is None and self._length is None and given == _MOST:
            raise ArgumentError(
                f"{self._name} has given {_MOST} batches, and has no length: say how many steps an epoch has"
            )
        self.steps = given
        if hasattr(self._source, "on_epoch_end"):
            self._source.on_epoch_end()

    def _batches(self) -> Iterator[Any]:
        """Yield the batches of one pass, as they are."""
        if self._order is None or self._length is None:
            yield from self._source
        else:
            for number in self._order.tolist():
                yield self._source[number]


def _length(x: Any) -> int:
    """Return how many batches an iterable gives; -1 for no end, -2 if it does not say, as TensorFlow does."""
    if callable(getattr(x, "cardinality", None)):
        return int(x.cardinality())
    batches = getattr(x, "num_batches", -2)  # of Keras' PyDataset, where None stands for no end
    if batches is None:
        return -1
    try:
        return len(x)
    except TypeError:  # it has no length, or not of these data
        return batches if isinstance(batches, int) else -2


def check_x(model: Any, x: Any, name: str = "x") -> Any:
    """Return samples as an array of the model's dtype, or a list of them for a model with several inputs.

    A model that has no weights yet is built.

    Args:
        model: the model.
        x: the samples, [samples, ...].
        name: what error messages call the argument.

    Returns:
        The array, or the list.

    Raises:
        ValueError, TypeError: if there are no samples, a value is not finite, or the shape is not that of the
            model's input; the message names the layer.
    """
    several = isinstance(model.input_shape, list) or (not model.built and model._own_call and are_several(x))
    if several and not (isinstance(x, (list, tuple)) and len(x) == len(model.input_shape or x)):
        raise ArgumentTypeError(
            f"{name} must be a list of {len(model.input_shape)} arrays, one for each input of model "
            f"{brief(model.name)}; got {brief(x)}"
        )
    names = [f"{name}[{index}]" for index in range(len(x))] if several else [name]
    given = zip(x if several else [x], names, strict=True)
    arrays = [_finite(each, name).astype(model.dtype, copy=False) for each, name in given]
    if not model.built and type(model).call is not Layer.call:  # a step of its own may need no call
        shapes = any_batch([array.shape for array in arrays])
        model.build_for(shapes if several else shapes[0])
    for array, wanted, name in zip(arrays, as_list(model.input_shape), names, strict=True):
        if wanted is not None:
            _check_samples(model, array, wanted, name)
        if len(array) != len(arrays[0]):
            raise ArgumentError(
                f"{name} must have {len(arrays[0])} samples, as {names[0]} has; got {len(array)}"
            )
    return arrays if several else arrays[0]


def _check_samples(model: Any, array: np.ndarray, wanted: Sequence[int | None], name: str) -> None:
    if array.ndim != len(wanted) or any(
        size not in (None, have) for size, have in zip(wanted[1:], array.shape[1:], strict=True)
    ):
        first = model.layers[0] if model.layers else model
        layout = getattr(first, "layout", "")
        hint = other_order(array.shape, layout, wanted[layout.index("C")]) if layout else ""
        raise ArgumentError(
            f"{name} must have shape {shape_text((None, *wanted[1:]))} for layer {brief(first.name)} "
            f"({type(first).__name__}), the first of model {brief(model.name)}; got "
            f"{shape_text(array.shape)}{hint}"
        )


def check_y(model: Any, y: Any, x: Any, name: str = "y") -> np.ndarray:
    """Return labels as the loss wants them; raise unless there is a legal one for each sample."""
    array = _for_each(y, name, "label", x)
    if model.loss is None:
        return array
    if isinstance(model.output_shape, list):
        raise ArgumentError(
            f"model {brief(model.name)} has {len(model.output_shape)} outputs, and a loss here takes one: "
            "write the training step with a GradientTape"
        )
    return model.loss.check(array, model.output_shape, model.dtype)


def check_weights(model: Any, sample_weight: Any, y: Any, x: Any) -> Any:
    """Return the weights of the samples as an array, None for none; raise unless there is one for each."""
    if sample_weight is None:
        return None
    if y is None:
        raise ArgumentTypeError(f"sample_weight goes with labels; got {brief(sample_weight)} without y")
    array = _for_each(sample_weight, "sample_weight", "weight", x)
    if not array.size:
        raise ArgumentError(
            f"sample_weight must hold a number for each sample; got shape {shape_text(array.shape)}"
        )
    return array.astype(model.dtype, copy=False)


def _for_each(values: Any, name: str, noun: str, x: Any) -> np.ndarray:
    """Return values as an array; raise unless there is one for each sample."""
    array, samples = _finite(values, name), len(as_list(x)[0])
    if len(array) != samples:
        raise ArgumentError(f"{name} must have a {noun} for each of the {samples} samples; got {len(array)}")
    return array


def _finite(values: Any, name: str) -> np.ndarray:
    if values is None or hasattr(values, "__next__"):
        raise ArgumentTypeError(f"{name} must be an array; got {brief(values)}")
    array = as_numpy(values, name)
    if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
        raise ArgumentTypeError(f"{name} must hold numbers; got dtype {array.dtype}")
    if not array.ndim or not len(array):
        raise ArgumentError(f"{name} must have at least one sample; got shape {array.shape}")
    if array.dtype.kind not in "iub" and not np.isfinite(array).all():
        first = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ArgumentError(f"{name} must be finite; {name}{first} is {array[tuple(first)]}")
    return array


def split(data: Parts, validation_split: float) -> tuple[Parts, Parts | None]:
    """Return the first part of the data for training, and the rest for validation, as Keras divides them.

    >>> split(([[1], [2], [3]], [0, 1, 2], None), 0.3)[1]
    ([[3]], [2], None)
    """
    if not check_number(validation_split, "validation_split", 0, 1, below=True):
        return data, None
    for name, values in zip(("x", "y", "sample_weight"), data, strict=True):
        if values is None and name != "x":
            continue
        if is_stream(values):
            raise ArgumentTypeError(
                f"{name} must be an array where validation_split divides it; got {brief(values)}: batches go "
                "with validation_data"
            )
        if not hasattr(values, "__len__"):
            _finite(values, name)  # raises
    samples = len(data[0])
    at = floor(samples * (1 - validation_split))
    if not 0 < at < samples:
        raise ArgumentError(
            f"validation_split {validation_split} of {samples} samples leaves {at} for training and "
            f"{samples - at} for validation; both need at least one"
        )
    x, y, sample_weight = ((None, None) if each is None else (each[:at], each[at:]) for each in data)
    return (x[0], y[0], sample_weight[0]), (x[1], y[1], sample_weight[1])


def as_batch_size(value: Any, name: str = "batch_size") -> int:
    """Return a batch size as an int, 32 for None as in Keras; raise unless it is at least 1."""
    return 32 if value is None else positive(value, name)
