"""The operators of tensors and variables, which add nodes to a graph or, outside a graph, run immediately.

TensorFlow: python/framework/override_binary_operator.py. Tensors and variables inherit them. Which op each
operator stands for is said in tensor_math_operator_overrides.py, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from .. import nn_ops
from ..devices import Adapter
from .context import executing_eagerly, set_default_graph
from .object_identity import Reference

__all__ = ["OVERRIDES", "Operators"]

OVERRIDES: dict[str, Callable[..., Any]] = {}  # the name of an operator -> the function that it calls


class Operators:
    """A mixin with all operators."""

    __slots__ = ()
    __array_priority__ = 100  # makes NumPy arrays on the left defer to these operators
    _own_graph: Any = None  # the graph to which operators add where ops run eagerly

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

    def __floordiv__(self, other: Any) -> Any:
        return _binary("floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _binary("floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        return _binary("mod", self, other)

    def __rmod__(self, other: Any) -> Any:
        return _binary("mod", other, self)

    def __pow__(self, other: Any) -> Any:
        return _binary("pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        return _binary("pow", other, self)

    def __gt__(self, other: Any) -> Any:
        return _binary("Greater", self, other)

    def __ge__(self, other: Any) -> Any:
        return _binary("GreaterEqual", self, other)

    def __lt__(self, other: Any) -> Any:
        return _binary("Less", self, other)

    def __le__(self, other: Any) -> Any:
        return _binary("LessEqual", self, other)

    def __and__(self, other: Any) -> Any:
        return _binary("and", self, other)

    def __rand__(self, other: Any) -> Any:
        return _binary("and", other, self)

    def __or__(self, other: Any) -> Any:
        return _binary("or", self, other)

    def __ror__(self, other: Any) -> Any:
        return _binary("or", other, self)

    def __invert__(self) -> Any:
        return _call("LogicalNot", self, name="LogicalNot")

    def __neg__(self) -> Any:
        return _call("Neg", self, name="Neg")

    def __abs__(self) -> Any:
        return _call("Abs", self, name="Abs")

    def __getitem__(self, key: Any) -> Any:
        return _call("strided_slice", self, key)

    def __eq__(self, other: object) -> Any:
        if other is None or not self._compares_values():
            return self is other
        return _binary("Equal", self, other)

    def __ne__(self, other: object) -> Any:
        if other is None or not self._compares_values():
            return self is not other
        return _binary("NotEqual", self, other)

    __hash__ = object.__hash__

    def _compares_values(self) -> bool:
        """Return whether ``==`` compares elements, as in TensorFlow 2, and not identities, as in 1."""
        return True

    def ref(self) -> Reference:
        """Return a key that stands for it in dicts and sets: `Reference`."""
        return Reference(self)


class _Tensors(Adapter):
    """Tensors and variables as arguments of the library's ops: each op runs as that of the same name here."""

    name = "tensors of a graph"

    def knows(self, cls: type) -> bool:
        return issubclass(cls, Operators)

    def takes_over(self, value: Any) -> bool:
        return True

    def call(self, value: Any, op: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        if vars(nn_ops).get(op.__name__) is not op:  # a dialect's function, which takes values only
            return super().call(value, op, arguments)
        with _graph_of(arguments.values()):
            return OVERRIDES["teachconv"](op.__name__, arguments)


ADAPTER = _Tensors()


def _binary(name: str, x: Any, y: Any) -> Any:
    """Call the function of a binary operator; ``name`` is also that of the node."""
    x, y = _like(x, y), _like(y, x)
    return _call(name, x, y, name=name)


def _call(override: str, *operands: Any, **name: str) -> Any:
    with _graph_of(operands):
        return OVERRIDES[override](*operands, **name)


def _graph_of(operands: Iterable[Any]) -> AbstractContextManager[Any]:
    """Where ops run eagerly, return the scope of an operand's graph: TensorFlow 1 adds to that graph."""
    if executing_eagerly():
        for operand in operands:
            graph = getattr(operand, "_own_graph", None)
            if graph is not None:
                return set_default_graph(graph)
    return nullcontext()


def _like(value: Any, other: Any) -> Any:
    """Return an array beside a tensor in the tensor's dtype, unless floats would become integers."""
    if not isinstance(value, (np.ndarray, np.generic)) or value.dtype == other.dtype:
        return value
    return value.astype(other.dtype) if value.dtype.kind + other.dtype.kind in ("ff", "if", "ii") else value
