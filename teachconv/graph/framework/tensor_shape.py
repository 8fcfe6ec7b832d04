"""Static shapes: the part of a tensor's shape that is known before a run.

TensorFlow: python/framework/tensor_shape.py. Tensors, variables and specifications have a `TensorShape`.
Shape functions (common_shape_fns.py) compute with its plain form, `StaticShape`: a tuple of sizes with None
for an unknown size, or None where even the number of axes is unknown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from math import prod
from typing import Any, TypeAlias

from ...core.arguments import integer
from ...support.errors import ArgumentError, ArgumentTypeError, brief

StaticShape: TypeAlias = "tuple[int | None, ...] | None"


class TensorShape:
    """The static shape of a tensor; it compares equal to lists and tuples of the same sizes.

    Args:
        dims: a sequence of sizes with None for unknown ones, an int for one axis, another shape, or None
            where the number of axes is unknown.

    Raises:
        ValueError, TypeError: if a size is negative or not an integer.

    >>> shape = TensorShape([None, 28, 28, 1])
    >>> shape, str(shape), shape.rank, shape[1:3], shape == (None, 28, 28, 1)
    (TensorShape([None, 28, 28, 1]), '(None, 28, 28, 1)', 4, TensorShape([28, 28]), True)
    >>> shape.merge_with([3, None, 28, 1]).num_elements()
    2352
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        self._dims = as_shape(dims, "dims")

    @property
    def dims(self) -> list[int | None] | None:
        """The sizes, or None where the number of axes is unknown."""
        return None if self._dims is None else list(self._dims)

    @property
    def rank(self) -> int | None:
        """The number of axes, or None."""
        return None if self._dims is None else len(self._dims)

    ndims = rank

    def as_list(self) -> list[int | None]:
        """Return the sizes as a list; raise ``ValueError`` where the number of axes is unknown."""
        if self._dims is None:
            raise ArgumentError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self) -> int | None:
        """Return the number of elements, or None where a size is unknown."""
        return prod(self._dims) if is_fully_defined(self._dims) else None  # type: ignore[arg-type]

    def is_fully_defined(self) -> bool:
        """Return whether every size is known."""
        return is_fully_defined(self._dims)

    def is_compatible_with(self, other: Any) -> bool:
        """Return whether some fully known shape agrees with both; an unknown size agrees with every size."""
        return is_compatible(self._dims, as_shape(other))

    def merge_with(self, other: Any) -> TensorShape:
        """Return the sizes known from either shape; raise ``ValueError`` if they contradict each other."""
        if not self.is_compatible_with(other):
            raise ArgumentError(f"Shapes {self} and {TensorShape(other)} are not compatible")
        return type(self)(merge(self._dims, as_shape(other)))

    def __len__(self) -> int:
        return len(self._known("take the length of"))

    def __iter__(self) -> Iterator[int | None]:
        return iter(self._known("iterate over"))

    def _known(self, what: str) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ArgumentError(f"Cannot {what} a shape with unknown rank.")
        return self._dims

    def __getitem__(self, key: Any) -> Any:
        if self._dims is None:
            return type(self)(None) if isinstance(key, slice) else None
        return type(self)(self._dims[key]) if isinstance(key, slice) else self._dims[key]

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TensorShape):
            return self._dims == other._dims
        try:
            return self._dims == as_shape(other)
        except (ArgumentError, ArgumentTypeError):
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __str__(self) -> str:
        return "<unknown>" if self._dims is None else str(self._dims)

    def __reduce__(self) -> Any:
        return TensorShape, (self._dims,)


class Dimension(int):
    """A known size of a shape in TensorFlow 1: an int, which ``value`` is, too."""

    value = property(int)

    def __repr__(self) -> str:
        return f"Dimension({int(self)})"

    def __str__(self) -> str:
        return int.__repr__(self)


class Version1Shape(TensorShape):
    """The static shape of a tensor in TensorFlow 1, whose known sizes are of the class `Dimension`.

    >>> shape = Version1Shape([None, 28])
    >>> shape[1], shape[1].value, shape[1] * 2, shape[0], shape.as_list()
    (Dimension(28), 28, 56, None, [None, 28])
    >>> shape, str(shape)
    (TensorShape([Dimension(None), Dimension(28)]), '(?, 28)')
    """

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        return Dimension(found) if isinstance(found, int) else found

    def __iter__(self) -> Iterator[int | None]:
        return (self[axis] for axis in range(len(self)))

    def __repr__(self) -> str:
        sizes = ", ".join(f"Dimension({size})" for size in self.dims or ())
        return f"TensorShape({None if self.dims is None else f'[{sizes}]'})"

    def __str__(self) -> str:
        return super().__str__().replace("None", "?")


MOST_AXES = 64  # of an array of NumPy
_NO_SHAPES = (str, bytes, bytearray)


def as_shape(value: Any, name: str = "shape") -> StaticShape:
    """Convert a value to a static shape in its plain form.

    Args:
        value: None, a sequence of sizes and Nones, an int for one axis, or a `TensorShape`.
        name: the name of the argument, for messages.

    Returns:
        The static shape.

    Raises:
        ValueError, TypeError: if a size is negative or not an integer.

    >>> as_shape([None, 28, 28, 1]), as_shape(None), as_shape(3)
    ((None, 28, 28, 1), None, (3,))
    """
    if value is None:
        return None
    if isinstance(value, TensorShape):
        return value._dims
    given = value
    if isinstance(value, _NO_SHAPES) or not isinstance(value, Sequence):
        try:
            value = list(islice(value, MOST_AXES + 1)) if hasattr(value, "__len__") else [value]
        except TypeError:
            raise ArgumentTypeError(
                f"{name} must be a sequence of sizes, with None for unknown ones; got {brief(value)}"
            ) from None
    sizes = tuple(None if size is None else integer(size, name) for size in islice(value, MOST_AXES + 1))
    if any(size is not None and size < 0 for size in sizes):
        raise ArgumentError(f"{name} must have no negative size (None means unknown); got {brief(given)}")
    if len(sizes) > MOST_AXES or any(size is not None and size > sys.maxsize for size in sizes):
        raise ArgumentError(f"{name} must be at most {MOST_AXES} sizes below 2**63; got {brief(given)}")
    return sizes


def is_fully_defined(shape: StaticShape) -> bool:
    """Return whether every size is known.

    >>> is_fully_defined((2, 3)), is_fully_defined((None, 3)), is_fully_defined(None)
    (True, False, False)
    """
    return shape is not None and None not in shape


def is_compatible(first: StaticShape, second: StaticShape) -> bool:
    """Return whether some fully known shape is compatible with both; None is compatible with everything.

    >>> is_compatible((None, 3), (2, 3)), is_compatible((2, 3), (2, 4)), is_compatible(None, (1,))
    (True, False, True)
    """
    if first is None or second is None:
        return True
    return len(first) == len(second) and all(
        a is None or b is None or a == b for a, b in zip(first, second, strict=True)
    )


def merge(first: StaticShape, second: StaticShape) -> StaticShape:
    """Return the sizes known from either of two compatible shapes.

    >>> merge((None, 3), (2, None))
    (2, 3)
    """
    if first is None or second is None:
        return second if first is None else first
    return tuple(b if a is None else a for a, b in zip(first, second, strict=True))


def text(shape: StaticShape) -> str:
    """Format a shape as in TensorFlow's messages.

    >>> text((None, 28, 28, 1)), text(None), text(())
    ('[?, 28, 28, 1]', '<unknown>', '[]')
    """
    if shape is None:
        return "<unknown>"
    sizes = ", ".join("?" if size is None else str(size) for size in shape[:MOST_AXES])
    return f"[{sizes}{', ...' * (len(shape) > MOST_AXES)}]"
