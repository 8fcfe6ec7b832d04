"""The operators ``+ - * @``, which add nodes to a graph or, outside a graph, run immediately.

TensorFlow: python/framework/override_binary_operator.py. Tensors and variables inherit them.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Operators"]


class Operators:
    """A mixin that maps each operator to the op of the same name in math_ops."""

    __slots__ = ()
    __array_ufunc__ = None  # makes NumPy arrays on the left defer to these operators

    def __add__(self, other: Any) -> Any:
        return _binary("add", self, other)

    def __radd__(self, other: Any) -> Any:
        return _binary("add", other, self)

    def __sub__(self, other: Any) -> Any:
        return _binary("sub", self, other)

    def __rsub__(self, other: Any) -> Any:
        return _binary("sub", other, self)

    def __mul__(self, other: Any) -> Any:
        return _binary("mul", self, other)

    def __rmul__(self, other: Any) -> Any:
        return _binary("mul", other, self)

    def __matmul__(self, other: Any) -> Any:
        return _binary("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _binary("matmul", other, self)


def _binary(name: str, x: Any, y: Any) -> Any:
    from . import gen_nn_ops  # late: gen_nn_ops imports the tensors that inherit from this class

    if name == "matmul":
        return gen_nn_ops.mat_mul(x, y, name=name)
    return getattr(gen_nn_ops, name)(x, y, name=name)
