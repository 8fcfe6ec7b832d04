"""`FuncGraph`: the graph of a function, and what the function takes from outside of it.

TensorFlow: python/framework/func_graph.py.
"""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentError
from ..framework.context import current_graph
from ..framework.eager_tensor import EagerTensor
from ..framework.errors import InvalidArgumentError
from ..framework.object_identity import Reference
from ..framework.ops import Graph
from ..framework.tensor import Tensor
from ..ops import gen_nn_ops

__all__ = ["FuncGraph"]


class FuncGraph(Graph):
    """The graph of one trace of a function.

    Attributes:
        name: the function's name.
        outer: the graph in which the function is traced, or None.
        may_create_variables: whether the function may make variables, which it may on its first trace.
        created: the variables that it has made.
        captures: the tensors from outside that it uses, each with the placeholder that stands for it here, by
            the identity of the tensor.
        variables: the variables that it uses, each with the reference that stands for it here.
    """

    is_function = True

    def __init__(self, name: str, may_create_variables: bool = False) -> None:
        super().__init__()
        self.name, self.outer = name, current_graph()
        self.may_create_variables = may_create_variables
        self.created: list[Any] = []
        self.captures: dict[int, tuple[Any, Tensor]] = {}
        self.variables: dict[Reference, Tensor] = {}

    def capture(self, value: Any) -> Tensor:
        """Return the placeholder for a tensor from outside.

        Args:
            value: an eager tensor, or a tensor of a graph around this one.

        Returns:
            A tensor of this graph.

        Raises:
            ValueError: if the tensor is of a graph that does not enclose this one.
        """
        if id(value) in self.captures:
            return self.captures[id(value)][1]
        if isinstance(value, Tensor) and not self._encloses(value.graph):
            raise ArgumentError(
                f"{value.name!r} belongs to a graph that does not enclose the function {self.name!r}: pass "
                "it as an argument, or return it from its own function"
            )
        name = "" if isinstance(value, EagerTensor) else value.op.name.rpartition("/")[2].lstrip("_")
        with self.control_dependencies(None), self.name_scope(None), self.device(None):
            placeholder = gen_nn_ops.placeholder(value.dtype, value.shape, name=name or "captured")
        self.captures[id(value)] = value, placeholder
        return placeholder

    def capture_variable(self, variable: Any) -> Tensor:
        """Return the tensor that refers to a variable made outside.

        Args:
            variable: the variable; the same node refers to it however often it is used.

        Returns:
            A reference in this graph.

        Raises:
            ValueError: if the variable is of a graph that does not enclose this one.
        """
        if variable.ref() not in self.variables:
            if variable.graph is not None and not self._encloses(variable.graph):
                raise InvalidArgumentError(
                    f"variable {variable.name!r} belongs to a graph that does not enclose {self.name!r}"
                )
            name = variable.name.partition(":")[0]
            # an eager variable lies in the memory of the CPU
            with self.control_dependencies(None), self.name_scope(None), self.device("/cpu:0"):
                ref = gen_nn_ops.variable(variable.shape, variable.dtype, name=name)
            self.variables[variable.ref()] = ref
        return self.variables[variable.ref()]

    def _encloses(self, graph: Graph) -> bool:
        around = self.outer
        while around is not None and around is not graph:
            around = around.outer
        return around is graph
