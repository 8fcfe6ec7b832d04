"""`Operation`: one node of a graph.

TensorFlow: python/framework/ops.py, Operation.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from os.path import abspath, dirname, join, sep
from typing import TYPE_CHECKING, Any

from .context import session_for
from .node_def import NodeDef, from_operation
from .op_def import OpDef, attr_of
from .tensor import Tensor

if TYPE_CHECKING:
    from .ops import Graph

__all__ = ["Operation"]

_GRAPH = dirname(dirname(abspath(__file__)))
# what only forwards a program's call: the graph, TensorFlow's names for it, and teachconv.conv2d
_FORWARDING = (_GRAPH + sep, join(dirname(_GRAPH), "tf") + sep, join(dirname(_GRAPH), "nn_ops.py"))


class Operation:
    """One node: an op definition applied to tensors, with attributes, a name and a requested device.

    `Graph.create_op` creates operations.

    Attributes:
        graph: the graph that contains it.
        name: its unique name in the graph.
        op_def: the op's definition.
        inputs: the input tensors.
        attrs: the attributes by name.
        control_inputs: the operations that must finish before it starts.
        colocated_with: the operation that it is placed together with, or None.
        device: the requested device, "" for none.
        number: its position in the order of creation.
        file: the source file of the program that created it.
        line: the line in that file.
        outputs: the output tensors.
        original_op: the operation whose gradient function created it, or None.
    """

    __slots__ = (
        "attrs",
        "colocated_with",
        "control_inputs",
        "device",
        "file",
        "graph",
        "inputs",
        "line",
        "name",
        "number",
        "op_def",
        "original_op",
        "outputs",
    )

    def __init__(
        self,
        graph: Graph,
        name: str,
        op_def: OpDef,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        control_inputs: tuple[Operation, ...],
        colocated_with: Operation | None,
        device: str,
        number: int,
    ):
        self.graph, self.name, self.op_def, self.inputs = graph, name, op_def, inputs
        self.attrs, self.control_inputs, self.colocated_with = attrs, control_inputs, colocated_with
        self.device, self.number = device, number
        self.file, self.line = _caller()
        self.outputs: tuple[Tensor, ...] = ()
        self.original_op: Operation | None = None

    @property
    def type(self) -> str:
        """The name of the op."""
        return self.op_def.name

    def get_attr(self, name: str) -> Any:
        """Return the value of an attribute.

        Args:
            name: the name of the attribute.

        Returns:
            The attribute's value.

        Raises:
            ValueError: if the op has no attribute of that name.
        """
        return attr_of(self, name)

    def run(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> None:
        """Run the operation in a session: ``session.run(self, feed_dict)``.

        Args:
            feed_dict: values by tensor, as in ``Session.run``.
            session: the session to run in; None uses the default one.

        Raises:
            ValueError: if there is no session, and as ``Session.run``.
        """
        session_for(session, "execute operation using `run()`").run(self, feed_dict)

    @property
    def node_def(self) -> NodeDef:
        """The operation as plain data, a ``NodeDef``."""
        return from_operation(self)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


def _caller() -> tuple[str, int]:
    """Return file and line of the nearest frame outside this package, where the program created the node."""
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FORWARDING):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
