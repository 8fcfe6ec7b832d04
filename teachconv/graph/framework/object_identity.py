"""`Reference`: the key that stands for a tensor or a variable in a dict or a set.

TensorFlow: python/util/object_identity.py. ``==`` compares the values of variables and eager tensors, so they
are no good keys themselves.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Reference"]


class Reference:
    """Refers to an object; two references are equal if they refer to the same one.

    Args:
        wrapped: the object.

    >>> from teachconv import graph as tg
    >>> v, w = tg.Variable(1.0), tg.Variable(1.0)
    >>> bool(v == w), v.ref() == w.ref(), v.ref() == v.ref(), v.ref().deref() is v
    (True, False, True, True)
    """

    __slots__ = ("_wrapped",)

    def __init__(self, wrapped: Any) -> None:
        self._wrapped = wrapped

    def deref(self) -> Any:
        """Return the object."""
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._wrapped!r}>"
