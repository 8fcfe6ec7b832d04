"""`Dataset`: a sequence of elements, each made when it is requested.

TensorFlow: python/data/ops/dataset_ops.py, and core/kernels/data/ for what each method makes. There a dataset
is a graph of its own that threads run; here each method puts an iterator around that of the dataset before.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from math import inf
from operator import itemgetter
from typing import Any

import numpy as np

from ..core.arguments import integer, truth
from ..support.errors import ArgumentError, ArgumentTypeError, brief
from .framework.context import current_graph
from .framework.eager_tensor import EagerTensor
from .framework.errors import InvalidArgumentError, OperatorNotAllowedInGraphError
from .nest import DEEPEST, flatten, map_structure, pack_sequence_as
from .ops.array_ops import convert_to_tensor
from .ops.random_ops import get_seed
from .options import unsupported

AUTOTUNE, INFINITE_CARDINALITY = -1, -1


class Dataset:
    """A sequence of tensors, or of tuples and dicts of tensors, over which several loops may go.

    Static methods make one, and the others make one of another. In all of them ``name`` has no effect. The
    elements are TensorFlow's, except that `shuffle` gives a different random order.

    Args:
        make: returns an iterator over the elements, with arrays in place of tensors.
        size: the number of elements; infinity if they have no end.

    >>> dataset = Dataset.from_tensor_slices(([1, 2, 3], [10, 20, 30])).map(lambda x, y: (x, x + y)).batch(2)
    >>> [(x.numpy().tolist(), y.numpy().tolist()) for x, y in dataset], len(dataset)
    ([([1, 2], [11, 22]), ([3], [33])], 2)
    """

    def __init__(self, make: Callable[[], Iterator[Any]], size: float) -> None:
        self._make, self._size = make, size

    # --- sources ---------------------------------------------------------------------------------

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """Return the slices of tensors along their first axis.

        Args:
            tensors: a tensor, an array or nested lists, or a tuple or dict of them, all of one length.
            name: has no effect.

        Returns:
            A dataset with one element for each index.

        Raises:
            ValueError, TypeError: if the lengths differ, or a value is not a tensor with at least one axis.
        """
        arrays = _arrays(tensors)
        shapes = [array.shape for array in flatten(arrays)]
        if not all(shapes) or len({shape[0] for shape in shapes}) != 1:
            raise ArgumentError(f"tensors must have a first axis of one length; got shapes {brief(shapes)}")
        size = shapes[0][0]
        # with `...` an index of a vector gives an array too
        return Dataset(lambda: (map_structure(itemgetter((i, ...)), arrays) for i in range(size)), size)

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """Return a dataset of one element; the arguments are those of `from_tensor_slices`."""
        return Dataset(lambda: iter([_arrays(tensors)]), 1)

    # --- element by element ----------------------------------------------------------------------

    @unsupported("synchronous", "use_unbounded_threadpool")
    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Return the results of a function, which is called eagerly, once for each element.

        Args:
            map_func: a function of the element, or of the parts of a tuple; if it returns a list, that
                becomes a tuple.
            num_parallel_calls, deterministic, name: have no effect.
            synchronous, use_unbounded_threadpool: must have their defaults.

        Returns:
            A dataset.
        """

        def make() -> Iterator[Any]:
            for element in self._make():
                tensors = map_structure(EagerTensor, element)
                made = map_func(*tensors) if isinstance(tensors, tuple) else map_func(tensors)
                yield _arrays(tuple(made) if isinstance(made, list) else made)

        return Dataset(make, self._size)

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset:
        """Return pairs of a number, from ``start`` on, and an element."""
        first = integer(start, "start")
        return Dataset(
            lambda: ((np.array(number, np.int64), x) for number, x in enumerate(self._make(), first)),
            self._size,
        )

    def take(self, count: int, name: str | None = None) -> Dataset:
        """Return the first ``count`` elements; all of them for -1."""
        most = integer(count, "count")
        if most < 0:
            return self
        return Dataset(lambda: itertools.islice(self._make(), most), min(most, self._size))

    def skip(self, count: int, name: str | None = None) -> Dataset:
        """Return the elements after the first ``count``; none for -1."""
        gone = integer(count, "count")
        if gone < 0:
            return self.take(0)
        return Dataset(lambda: itertools.islice(self._make(), gone, None), max(0, self._size - gone))

    # --- rounds, order, batches ------------------------------------------------------------------

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset:
        """Return all elements ``count`` times; endlessly for None and -1."""
        times = inf if count is None or integer(count, "count") < 0 else integer(count, "count")

        def make() -> Iterator[Any]:
            for _ in itertools.count() if times == inf else range(int(times)):
                elements = self._make()
                for element in elements:
                    yield element
                    yield from elements
                    break
                else:
                    return  # without elements, no round has an end

        return Dataset(make, times and self._size and self._size * times)  # not 0 times infinity

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool = True,
        name: str | None = None,
    ) -> Dataset:
        """Return the elements in random order: each is drawn from a buffer, and the next one takes its place.

        Args:
            buffer_size: the number of elements in the buffer; the shuffle is uniform if all fit into it.
            seed: an int for the same order in every process; it is not TensorFlow's.
            reshuffle_each_iteration: whether each loop gets a new order.
            name: has no effect.

        Returns:
            A dataset.

        Raises:
            ValueError, TypeError: if ``buffer_size`` is not a positive int.

        >>> sorted(int(x) for x in Dataset.from_tensor_slices([0, 1, 2, 3]).shuffle(2, seed=0))
        [0, 1, 2, 3]
        """
        size, anew = (
            _positive(buffer_size, "buffer_size"),
            truth(reshuffle_each_iteration, "reshuffle_each_iteration"),
        )
        words = [number & 0xFFFFFFFF for number in get_seed(seed)]
        seeds = np.random.SeedSequence(words if any(words) else None)

        def make() -> Iterator[Any]:
            own = seeds.spawn(1)[0] if anew else seeds
            generator, elements = np.random.Generator(np.random.PCG64(own)), self._make()
            buffer = list(itertools.islice(elements, size))
            for element in elements:
                place = generator.integers(size)
                yield buffer[place]
                buffer[place] = element
            yield from (buffer[place] for place in generator.permutation(len(buffer)))

        return Dataset(make, self._size)

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """Return elements of one shape joined along a new first axis.

        Args:
            batch_size: how many are joined.
            drop_remainder: whether a last, smaller batch is left out.
            num_parallel_calls, deterministic, name: have no effect.

        Returns:
            A dataset.

        Raises:
            ValueError, TypeError: if ``batch_size`` is not a positive int; when iterating, if shapes differ.
        """
        size, drops = _positive(batch_size, "batch_size"), truth(drop_remainder, "drop_remainder")

        def make() -> Iterator[Any]:
            elements = self._make()
            while group := list(itertools.islice(elements, size)):
                if len(group) == size or not drops:
                    yield _joined(group)

        whole = self._size if drops else self._size + size - 1
        return Dataset(make, whole if whole == inf else whole // size)

    @unsupported("filename")
    def cache(self, filename: str = "", name: str | None = None) -> Dataset:
        """Return the same elements; after the first full pass they come from memory.

        Args:
            filename: must be "": the elements are kept in memory.
            name: has no effect.

        Returns:
            A dataset.
        """
        kept: list[Any] = []

        def make() -> Iterator[Any]:
            if kept:
                yield from kept[0]
                return
            found = []
            for element in self._make():
                found.append(element)
                yield element
            kept.append(found)

        return Dataset(make, self._size)

    def prefetch(self, buffer_size: int, name: str | None = None) -> Dataset:
        """Return the same elements; TensorFlow computes ``buffer_size`` of them ahead, teachconv none."""
        return self

    # --- iteration -------------------------------------------------------------------------------

    def cardinality(self) -> EagerTensor:
        """Return the number of elements, or ``INFINITE_CARDINALITY``."""
        return EagerTensor(np.array(INFINITE_CARDINALITY if self._size == inf else self._size, np.int64))

    def __len__(self) -> int:
        if self._size == inf:
            raise ArgumentTypeError("The dataset is infinite: it has no len()")
        return int(self._size)

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        if current_graph() is not None:
            raise OperatorNotAllowedInGraphError(
                "Iterating over a Dataset is not allowed while a graph is built: its elements would be "
                "constants of the graph. TensorFlow's AutoGraph would rewrite the loop; nothing is rewritten "
                "here: call the tf.function in the loop"
            )
        return (map_structure(EagerTensor, element) for element in self._make())

    def as_numpy_iterator(self) -> Iterator[Any]:
        """Return an iterator over the elements as NumPy arrays and scalars."""
        return (map_structure(lambda tensor: tensor.numpy(), element) for element in self)


def _arrays(structure: Any, depth: int = 0) -> Any:
    """Return tuples and dicts of tensors as those of arrays; a list is one tensor, as in TensorFlow."""
    if depth > DEEPEST:
        raise ArgumentError(f"structures must be nested at most {DEEPEST} times; got {brief(structure)}")
    if isinstance(structure, dict):
        return {key: _arrays(item, depth + 1) for key, item in structure.items()}
    if isinstance(structure, tuple):
        return tuple(_arrays(item, depth + 1) for item in structure)
    return convert_to_tensor(structure)._numpy()


def _joined(group: list[Any]) -> Any:
    """Return the elements of a batch joined along a new first axis."""
    columns = [list(column) for column in zip(*map(flatten, group), strict=True)]
    for column in columns:
        if len(shapes := {array.shape for array in column}) > 1:
            raise InvalidArgumentError(f"Cannot batch tensors with different shapes; got {sorted(shapes)}")
    return pack_sequence_as(group[0], map(np.stack, columns))


def _positive(value: Any, name: str) -> int:
    found = integer(value, name)
    if found < 1:
        raise InvalidArgumentError(f"{name} must be at least 1; got {brief(value)}")
    return found
