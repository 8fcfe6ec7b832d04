"""Static shapes: the part of a tensor's shape that is known before a run.

TensorFlow: python/framework/tensor_shape.py. A shape is a tuple of sizes, with None for an unknown size
(written ``?``). If even the number of axes is unknown, the whole shape is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..arguments import integer
from ..errors import ArgumentError, ArgumentTypeError

__all__ = ["StaticShape", "as_shape", "is_compatible", "is_fully_defined", "merge", "text"]

StaticShape: TypeAlias = "tuple[int | None, ...] | None"


def as_shape(value: Any, name: str = "shape") -> StaticShape:
    """Convert a value to a static shape.

    Args:
        value: None, a sequence of sizes and Nones, or an int for one axis.
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
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        try:
            value = [integer(value, name)] if not hasattr(value, "__len__") else list(value)
        except TypeError:
            raise ArgumentTypeError(
                f"{name} must be a sequence of sizes, with None for unknown ones; got {value!r}"
            ) from None
    sizes = tuple(None if size is None else integer(size, name) for size in value)
    if any(size is not None and size < 0 for size in sizes):
        raise ArgumentError(f"{name} must have no negative size (None means unknown); got {list(sizes)}")
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
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
