"""`Tensor`, one output of an operation of a graph; its operators; and `TensorSpec`, its shape and dtype.

TensorFlow: python/framework/tensor.py and override_binary_operator.py. Eager tensors and variables inherit
the operators too. ops/tensor_math_operator_overrides.py says which op each operator stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...running import nn_ops
from ...support.devices import Adapter, to_array
from ...support.errors import ArgumentTypeError, brief
from .context import executing_eagerly, session_for, set_default_graph
from .dtypes import with_attributes
from .errors import NoSymbolicArrayError, OperatorNotAllowedInGraphError
from .op_def import as_dtype
from .tensor_shape import StaticShape, TensorShape

if TYPE_CHECKING:
    from .ops import Graph, Operation


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


OVERRIDES: dict[str, Callable[..., Any]] = {}  # the name of an operator -> the function that it calls


Operator = Callable[[Any, Any], Any]


def _operator(name: str) -> tuple[Operator, Operator]:
    """Return the two methods of a binary operator: with the tensor on the left, and on the right."""
    return (
        lambda self, other: _binary(name, self, other),
        lambda self, other: _binary(name, other, self),
    )


class Operators:
    """A mixin with all operators."""

    __slots__ = ()
    __array_priority__ = 100  # makes NumPy arrays on the left defer to these operators
    _own_graph: Any = None  # the graph to which operators add where ops run eagerly

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("sub")
    __mul__, __rmul__ = _operator("mul")
    __matmul__, __rmatmul__ = _operator("matmul")
    __truediv__, __rtruediv__ = _operator("truediv")
    __floordiv__, __rfloordiv__ = _operator("floordiv")
    __mod__, __rmod__ = _operator("mod")
    __pow__, __rpow__ = _operator("pow")
    __and__, __rand__ = _operator("and")
    __or__, __ror__ = _operator("or")

    __gt__ = _operator("Greater")[0]
    __ge__ = _operator("GreaterEqual")[0]
    __lt__ = _operator("Less")[0]
    __le__ = _operator("LessEqual")[0]

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

    def get_shape(self) -> TensorShape:
        """Return the shape, as TensorFlow 1 does."""
        return self.shape  # type: ignore[attr-defined]

    def set_shape(self, shape: Any) -> None:
        """Raise ``ValueError`` if a shape contradicts that of the tensor, which is known."""
        self.shape.merge_with(shape)  # type: ignore[attr-defined]

    def ref(self) -> Reference:
        """Return a key that stands for it in dicts and sets: ``Reference``."""
        return Reference(self)


def tensor_dtype(value: Any) -> Any:
    """Return the dtype of a tensor or variable, or of the first one in nested lists; None without any."""
    waiting, seen = [value], set()
    while waiting:
        item = waiting.pop()
        if isinstance(item, Operators):
            return item.dtype  # type: ignore[attr-defined]
        if isinstance(item, (list, tuple)) and id(item) not in seen:  # a list may hold itself
            seen.add(id(item))
            waiting += item[::-1]
    return None


class _Tensors(Adapter):
    """Tensors and variables as arguments of the library's ops: each op runs as the graph op of that name."""

    name = "tensors of a graph"

    def knows(self, cls: type) -> bool:
        return issubclass(cls, Operators)

    def takes_over(self, value: Any) -> bool:
        return True

    def call(self, value: Any, op: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        if vars(nn_ops).get(op.__name__) is not op:  # a dialect's function, which needs values
            return super().call(value, op, arguments)
        given = {
            name: item if isinstance(item, Operators) else to_array(item, name)
            for name, item in arguments.items()
        }
        with _graph_of(given.values()):
            return OVERRIDES["teachconv"](op.__name__, given)


ADAPTER = _Tensors()


def _binary(name: str, x: Any, y: Any) -> Any:
    """Call the function of a binary operator; ``name`` is also that of the node."""
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


class Tensor(Operators):
    """One output of an operation: a name, a dtype and a static shape, but no value.

    The static shape is the part of the shape that is known before a run. The operators ``+ - * @`` add nodes.

    Attributes:
        op: the operation.
        index: the index of this output among the operation's outputs.
        dtype: the dtype, a ``DType``.
        shape: the static shape, a `TensorShape`.
        is_ref: whether the tensor is a reference to a variable.
    """

    __slots__ = ("dtype", "index", "is_ref", "op", "shape")
    dtype: Any  # a DType

    def __init__(self, op: Operation, index: int, dtype: np.dtype[Any], shape: StaticShape, is_ref: bool):
        self.op, self.index, self.dtype, self.shape, self.is_ref = (
            op,
            index,
            with_attributes(dtype),
            op.graph.shape_type(shape),
            is_ref,
        )

    @property
    def name(self) -> str:
        """The operation's name, a colon and the output's index, as in ``conv1/Conv2D:0``."""
        return f"{self.op.name}:{self.index}"

    @property
    def graph(self) -> Graph:
        """The graph that contains the tensor."""
        return self.op.graph

    @property
    def _own_graph(self) -> Graph | None:
        return None if self.graph.is_function else self.graph  # what leaks from a function stays unusable

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Any:
        """Return the tensor's value in a session: ``session.run(self, feed_dict)``.

        Args:
            feed_dict: values by tensor, as in ``Session.run``.
            session: the session to run in; None uses the default one.

        Returns:
            The value, a NumPy array or scalar.

        Raises:
            ValueError: if there is no session, and as ``Session.run``.
        """
        return session_for(session, "evaluate tensor using `eval()`").run(self, feed_dict)

    @property
    def device(self) -> str:
        """The device that the operation requests."""
        return self.op.device

    def _compares_values(self) -> bool:
        return self.graph.is_function

    def set_shape(self, shape: Any) -> None:
        """Add what is known of the static shape.

        Args:
            shape: a shape; None stands for sizes that are not known.

        Raises:
            ValueError: if it contradicts the static shape.
        """
        self.shape = self.shape.merge_with(shape)

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise NoSymbolicArrayError(
            f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array: it has no value before the "
            f"graph is run; session.run({brief(self.name)}) gives its value"
        )

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed: "
            f"{brief(self.name)} has no value while the graph is built. TensorFlow's AutoGraph would rewrite "
            "an `if` or `while` on it into tf.cond or tf.while_loop; nothing is rewritten here: compute both "
            "results, and choose by tf.where(pred, x, y)"
        )

    def __iter__(self) -> Iterator[Any]:
        raise OperatorNotAllowedInGraphError(
            f"Iterating over a symbolic `tf.Tensor` is not allowed: {brief(self.name)} has no value while "
            "the graph is built; tf.unstack gives its slices as tensors"
        )

    def __len__(self) -> int:
        raise ArgumentTypeError(
            f"{brief(self.name)} is a tensor of a graph and has no length before the graph is run: "
            f"session.run({brief(self.name)}) gives its value"
        )

    def __str__(self) -> str:
        known = "" if self.shape.rank is None else f"shape={self.shape}, "
        return f'Tensor("{self.name}", {known}dtype={self.dtype.name})'

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


@dataclass(frozen=True, repr=False)
class TensorSpec:
    """The shape and dtype of a tensor, such as an argument of a function.

    Attributes:
        shape: the static shape; None stands for sizes that may differ between calls.
        dtype: the dtype.
        name: the name of the argument's placeholder, or None.

    >>> TensorSpec([None, 28, 28, 1], "float32")
    TensorSpec(shape=(None, 28, 28, 1), dtype=float32, name=None)
    """

    shape: Any
    dtype: Any = "float32"
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", TensorShape(self.shape))
        object.__setattr__(self, "dtype", with_attributes(as_dtype(self.dtype)))

    def __str__(self) -> str:
        return f"{self.shape} {self.dtype.name}"

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype.name}, name={self.name!r})"
