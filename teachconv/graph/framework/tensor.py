"""`Tensor`, one output of an operation of a graph, and `TensorSpec`, its shape and dtype alone.

TensorFlow: python/framework/tensor.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...dtypes import to_dtype
from ...errors import ArgumentTypeError
from .context import session_for
from .errors import NoSymbolicArrayError, OperatorNotAllowedInGraphError
from .operators import Operators
from .tensor_shape import StaticShape, TensorShape

if TYPE_CHECKING:
    from .ops import Graph, Operation

__all__ = ["Tensor", "TensorSpec"]


class Tensor(Operators):
    """One output of an operation: a name, a dtype and a static shape, but no value.

    The static shape is the part of the shape that is known before a run. The operators ``+ - * @`` add nodes.

    Attributes:
        op: the operation.
        index: the index of this output among the operation's outputs.
        dtype: the NumPy dtype.
        shape: the static shape, a `TensorShape`.
        is_ref: whether the tensor is a reference to a variable.
        name: the operation's name, a colon and the index, as in ``conv1/Conv2D:0``.
    """

    __slots__ = ("dtype", "index", "is_ref", "op", "shape")

    def __init__(self, op: Operation, index: int, dtype: np.dtype[Any], shape: StaticShape, is_ref: bool):
        self.op, self.index, self.dtype, self.shape, self.is_ref = (
            op,
            index,
            dtype,
            TensorShape(shape),
            is_ref,
        )

    @property
    def name(self) -> str:
        """The operation's name, a colon and the output's index."""
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
            feed_dict: values by tensor, as in `Session.run`.
            session: the session to run in; None uses the default one.

        Returns:
            The value, a NumPy array or scalar.

        Raises:
            ValueError: if there is no session, and as `Session.run`.
        """
        return session_for(session, "evaluate tensor using `eval()`").run(self, feed_dict)

    def get_shape(self) -> TensorShape:
        """Return the static shape."""
        return self.shape

    def consumers(self) -> list[Operation]:
        """Return the operations that read the tensor, once for each time, in the order of their creation."""
        return [op for op in self.graph.get_operations() for tensor in op.inputs if tensor is self]

    @property
    def device(self) -> str:
        """The device that the operation requests."""
        return self.op.device

    @property
    def value_index(self) -> int:
        """The index of this output, as TensorFlow names it."""
        return self.index

    def _compares_values(self) -> bool:
        return self.graph.is_function

    def _no_value(self, wanted: str) -> ArgumentTypeError:
        return ArgumentTypeError(
            f"{self.name!r} is a tensor of a graph and has no {wanted} before the graph is run: "
            f"session.run({self.name!r}) gives its value"
        )

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
            f"graph is run; session.run({self.name!r}) gives its value"
        )

    def __bool__(self) -> bool:
        raise OperatorNotAllowedInGraphError(
            "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed: "
            f"{self.name!r} has no value while the graph is built. TensorFlow's AutoGraph would rewrite an "
            "`if` or `while` on it into tf.cond or tf.while_loop; nothing is rewritten here: call "
            "teachconv.graph.cond(pred, true_fn, false_fn)"
        )

    def __iter__(self) -> Iterator[Any]:
        raise OperatorNotAllowedInGraphError(
            f"Iterating over a symbolic `tf.Tensor` is not allowed: {self.name!r} has no value while the "
            "graph is built; tf.unstack gives its slices as tensors"
        )

    def __len__(self) -> int:
        raise self._no_value("length")

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
        object.__setattr__(self, "dtype", to_dtype(self.dtype))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """Return the shape and dtype of a tensor, variable or array."""
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Return whether a tensor or a specification has the dtype, and a shape that fits."""
        fits: bool = self.shape.is_compatible_with(spec_or_value.shape)
        return fits and bool(self.dtype == spec_or_value.dtype)

    def __str__(self) -> str:
        return f"{self.shape} {self.dtype.name}"

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self.dtype.name}, name={self.name!r})"
