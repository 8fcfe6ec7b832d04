"""The operators of tensors and variables, which add nodes to a graph or, outside a graph, run immediately.

TensorFlow: python/framework/override_binary_operator.py. Tensors and variables inherit them.
"""

from __future__ import annotations

from typing import Any

__all__ = ["Operators"]


class Operators:
    """A mixin that maps each operator to the op that TensorFlow uses for it."""

    __slots__ = ()
    __array_priority__ = 100  # makes NumPy arrays on the left defer to these operators

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

    def __truediv__(self, other: Any) -> Any:
        return _binary("truediv", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _binary("truediv", other, self)

    def __pow__(self, other: Any) -> Any:
        return _binary("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _binary("pow", other, self)

    def __gt__(self, other: Any) -> Any:
        return _binary("greater", self, other, "Greater")

    def __ge__(self, other: Any) -> Any:
        return _binary("greater_equal", self, other, "GreaterEqual")

    def __lt__(self, other: Any) -> Any:
        return _binary("less", self, other, "Less")

    def __le__(self, other: Any) -> Any:
        return _binary("less_equal", self, other, "LessEqual")

    def __neg__(self) -> Any:
        return _wrapper("neg")(self, name="Neg")

    def __abs__(self) -> Any:
        return _wrapper("abs")(self, name="Abs")


_WRAPPERS = {"matmul": "mat_mul", "truediv": "real_div"}


def _wrapper(name: str) -> Any:
    from . import gen_nn_ops  # late: gen_nn_ops imports the tensors that inherit from this class

    return getattr(gen_nn_ops, _WRAPPERS.get(name, name))


def _binary(name: str, x: Any, y: Any, node: str | None = None) -> Any:
    return _wrapper(name)(x, y, name=node or name)
