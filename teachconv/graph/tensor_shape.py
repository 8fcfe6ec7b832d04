"""Static shapes: what is known of a tensor's shape before anything runs.

TensorFlow: python/framework/tensor_shape.py. A shape is a tuple of sizes, None for a size that is not
known yet (written ``?``); where not even the number of axes is known the whole shape is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from ..arguments import integer
from ..errors import ArgumentError, ArgumentTypeError

__all__ = ["StaticShape", "as_shape", "is_compatible", "is_fully_defined", "merge", "text"]

StaticShape: TypeAlias = "tuple[int | None, ...] | None"


def as_shape(value: Any, name: str = "shape") -> StaticShape:
    """Return ``value`` as a static shape: None, or a sequence of sizes and Nones; an int is one axis.

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
                f"{name} must be a sequence of sizes, None where one is not known; got {value!r}"
            ) from None
    sizes = tuple(None if size is None else integer(size, name) for size in value)
    if any(size is not None and size < 0 for size in sizes):
        raise ArgumentError(f"{name} must have no negative size (None means unknown); got {list(sizes)}")
    return sizes


def is_fully_defined(shape: StaticShape) -> bool:
    """Whether every size is known.

    >>> is_fully_defined((2, 3)), is_fully_defined((None, 3)), is_fully_defined(None)
    (True, False, False)
    """
    return shape is not None and None not in shape


def is_compatible(first: StaticShape, second: StaticShape) -> bool:
    """Whether some full shape fits both: None fits everything.

    >>> is_compatible((None, 3), (2, 3)), is_compatible((2, 3), (2, 4)), is_compatible(None, (1,))
    (True, False, True)
    """
    if first is None or second is None:
        return True
    return len(first) == len(second) and all(
        a is None or b is None or a == b for a, b in zip(first, second, strict=True)
    )


def merge(first: StaticShape, second: StaticShape) -> StaticShape:
    """Return what is known from either of two compatible shapes.

    >>> merge((None, 3), (2, None))
    (2, 3)
    """
    if first is None or second is None:
        return second if first is None else first
    return tuple(b if a is None else a for a, b in zip(first, second, strict=True))


def text(shape: StaticShape) -> str:
    """Write a shape as TensorFlow's messages do.

    >>> text((None, 28, 28, 1)), text(None), text(())
    ('[?, 28, 28, 1]', '<unknown>', '[]')
    """
    if shape is None:
        return "<unknown>"
    return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
