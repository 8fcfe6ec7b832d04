"""Variables: values that outlive a run.

TensorFlow: python/ops/variables.py and ref_variable.py. As in TensorFlow, a variable of a graph consists of
four nodes: ``w`` (Variable), ``w/initial_value``, ``w/Assign`` and ``w/read`` (Identity); each session stores
its value. Outside a graph the variable stores its value itself, and functions traced by `function` share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ...support.errors import ArgumentError, ArgumentTypeError, brief, plain
from ..common_runtime.graph_execution_state import GraphExecutionState
from ..framework.config import ConfigProto
from ..framework.context import (
    current_graph,
    executing_eagerly,
    get_default_graph,
    init_scope,
    session_for,
    set_default_graph,
)
from ..framework.dtypes import with_attributes
from ..framework.eager_tensor import EagerTensor, frozen, numpy_text, to_array
from ..framework.errors import InvalidArgumentError
from ..framework.op_def import as_dtype
from ..framework.op_kernel import OpKernelContext, VariableRef
from ..framework.ops import Graph, GraphKeys, Operation
from ..framework.tensor import Operators, Reference, Tensor
from ..framework.tensor_shape import TensorShape
from . import gen_nn_ops
from .array_ops import constant, group

__all__ = [
    "Variable",
    "assign",
    "global_variables",
    "global_variables_initializer",
    "trainable_variables",
    "variables_initializer",
]


class Variable(Operators):
    """A value that can be replaced with `assign`; the operators ``+ - * @`` apply to the value.

    Outside a graph ``==`` compares values too; ``v.ref()`` is the key for a dict.

    Args:
        initial_value: an array, nested lists or a number; in a graph also a tensor or a callable that
            returns one. It fixes the variable's dtype and shape.
        trainable: whether `trainable_variables` lists it, for optimizers.
        name: the name of the variable.
        dtype: the dtype to convert the initial value to.
        collections: the collections of the graph that list it; None for those of all variables.

    A function may make a variable on its first call only; it is made outside of the function's graph.

    Raises:
        ValueError, TypeError: if the initial value has no known shape or no supported dtype, or a function
            makes a variable again.

    >>> from teachconv import graph as tg
    >>> v = tg.Variable([1.0, 2.0], name="v")
    >>> v.assign(v + 1.0).numpy().tolist()
    [2.0, 3.0]
    """

    def __init__(
        self,
        initial_value: Any,
        trainable: bool = True,
        name: str = "Variable",
        dtype: Any = None,
        collections: Sequence[str] | None = None,
    ) -> None:
        if initial_value is None:
            raise ArgumentError("initial_value must be specified.")
        self.trainable = trainable
        function: Any = current_graph()
        if function is not None and function.is_function:
            initial_value = _lifted(initial_value, function)
        with init_scope():
            self._make(initial_value, trainable, name, dtype, collections)
        if function is not None and function.is_function:
            function.created.append(self)

    def _make(
        self, initial_value: Any, trainable: bool, name: str, dtype: Any, collections: Sequence[str] | None
    ) -> None:
        self._graph = current_graph()
        self._storage: VariableRef | None = None
        self.dtype: Any  # a DType
        wanted = None if dtype is None else as_dtype(dtype)
        if self._graph is None:
            if callable(initial_value):
                initial_value = initial_value()
            value = frozen(to_array(initial_value, wanted, "initial_value"))
            self.dtype, self._shape, self._name = with_attributes(value.dtype), TensorShape(value.shape), name
            self._storage = VariableRef(name, value.shape, value.dtype)
            self._storage.assign(value)
            return
        self._build(self._graph, initial_value, name, wanted)
        keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
        for key in [*keys, *([GraphKeys.TRAINABLE_VARIABLES] if trainable else [])]:
            self._graph.add_to_collection(key, self)

    def _build(self, graph: Graph, initial_value: Any, name: str, dtype: Any) -> None:
        # an initialiser must not depend on the control dependencies around the variable's creation
        with graph.control_dependencies(None), graph.name_scope(name) as scope:
            if callable(initial_value):
                with graph.name_scope("Initializer"):
                    initial_value = initial_value()
            if isinstance(initial_value, Variable):
                initial_value = initial_value.read_value()
            if isinstance(initial_value, Tensor):
                initial = initial_value
                if not initial.shape.is_fully_defined():
                    raise ArgumentError(
                        f"initial_value must have a known shape; {brief(initial.name)} has {initial.shape}"
                    )
            else:
                initial = constant(to_array(initial_value, dtype, "initial_value"), name="initial_value")
            with graph.name_scope(None):
                self._ref: Tensor = gen_nn_ops.variable(initial.shape, initial.dtype, name=scope)
            self.initializer: Operation = gen_nn_ops.assign(self._ref, initial, name="Assign").op
            self._read: Tensor = gen_nn_ops.identity(self._ref, name="read")
        self.initial_value, self.dtype, self._shape = initial, initial.dtype, initial.shape
        self._name = self._ref.op.name

    # --- properties ------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name of the node with ``:0``; outside a graph, the name as given."""
        return self._name if self._graph is None else f"{self._name}:0"

    @property
    def op(self) -> Operation:
        """The Variable node."""
        if self._graph is None:
            raise InvalidArgumentError(
                f"variable {brief(self._name)} was made outside a graph and has no node"
            )
        return self._ref.op

    @property
    def graph(self) -> Graph | None:
        """The graph that contains it, or None if it was created eagerly."""
        return self._graph

    _own_graph = graph

    @property
    def shape(self) -> TensorShape:
        """The shape, which assignments do not change."""
        return self._shape

    def __repr__(self) -> str:
        if self._storage is None:
            return f"<tf.Variable {self.name!r} shape={self._shape} dtype={self.dtype.name}>"
        value = numpy_text(self._storage.read())
        return f"<tf.Variable '{self.name}:0' shape={self._shape} dtype={self.dtype.name}, numpy={value}>"

    def _compares_values(self) -> bool:
        return self._graph is None

    def __hash__(self) -> int:
        if self._compares_values():
            raise ArgumentTypeError(
                f"Variable is unhashable. Instead, use variable.ref() as the key. (Variable: {brief(self)})"
            )
        return id(self)

    # --- reading ---------------------------------------------------------------------------------

    def value(self) -> Any:
        """Return the value: in its graph the tensor ``name/read``, otherwise an eager tensor."""
        return self.read_value() if self._graph is None else self._read

    def read_value(self) -> Any:
        """Return the current value: in a graph a new read node, which obeys the control dependencies."""
        with self._default_graph():
            graph = current_graph()
            if graph is not None:
                return _read(graph, self._graph_tensor(graph, True))
        self.numpy()  # raises for a variable of a graph
        return gen_nn_ops.identity(self)

    def numpy(self) -> Any:
        """Return the value of a variable created eagerly.

        Returns:
            A new array, or a NumPy scalar for a variable without axes.

        Raises:
            ValueError: if the variable belongs to a graph.
        """
        if self._storage is None:
            raise InvalidArgumentError(
                f"variable {brief(self._name)} is of a graph: session.run({brief(self.name)}) gives its value"
            )
        value = self._storage.read()
        return value.copy() if value.ndim else value[()]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.numpy(), dtype)

    def __float__(self) -> float:
        return float(self.numpy())

    def __int__(self) -> int:
        return int(self.numpy())

    def eval(self, session: Any = None) -> Any:
        """Return the value in a session.

        Args:
            session: the session that stores the value; None uses the default one.

        Returns:
            A NumPy array or scalar.
        """
        return session_for(session, "evaluate variable using `eval()`").run(self)

    # --- writing ---------------------------------------------------------------------------------

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Replace the value by one of the same shape and dtype.

        Args:
            value: the new value.
            name: the name of the node.

        Returns:
            In a graph, a tensor that performs the assignment when it is run and has the new value.
            Outside a graph and in a function, the variable.

        Raises:
            ValueError, TypeError: if the shape or dtype differs; the variable is then unchanged.
        """
        return self._update(gen_nn_ops.assign, value, name)

    def assign_add(self, delta: Any, name: str | None = None) -> Any:
        """Add to the value, while no other thread changes it.

        Args:
            delta: what to add, of the same shape and dtype.
            name: the name of the node.

        Returns:
            As `assign`.
        """
        return self._update(gen_nn_ops.assign_add, delta, name)

    def assign_sub(self, delta: Any, name: str | None = None) -> Any:
        """Subtract from the value, while no other thread changes it.

        Args:
            delta: what to subtract, of the same shape and dtype.
            name: the name of the node.

        Returns:
            As `assign`.
        """
        return self._update(gen_nn_ops.assign_sub, delta, name)

    def __iadd__(self, other: Any) -> Any:
        raise RuntimeError(
            "`variable += value` with `tf.Variable`s is not supported. Use `variable.assign_add(value)` to "
            "modify the variable, or `out = variable + value` if you need to get a new output Tensor."
        )

    def __isub__(self, other: Any) -> Any:
        raise RuntimeError("`variable -= value` is not supported: use `variable.assign_sub(value)`.")

    def _update(self, op: Callable[..., Any], value: Any, name: str | None) -> Any:
        """Apply an op that takes the reference and a value: run it, or add it to the graph."""
        with self._default_graph():
            graph = current_graph()
            if graph is not None:
                ref = self._graph_tensor(graph, True)
                with graph.device(None):  # it goes with the variable, whatever surrounds it
                    assigned = op(ref, value, name=name)
                return _UnreadVariable(self, assigned.op) if graph.is_function else assigned
        if self._graph is not None:
            raise InvalidArgumentError(
                f"variable {brief(self._name)} is of a graph: make the assignment inside `with "
                "graph.as_default():` and run it in a session"
            )
        if not isinstance(value, (Variable, EagerTensor)):
            value = to_array(value, self.dtype, "value")
        op(self, value)
        return self

    def _default_graph(self) -> AbstractContextManager[None]:
        """Where ops run eagerly, return the scope of the default graph of TensorFlow 1, if it is of that."""
        is_outside = self._graph is not None and self._graph.is_default and executing_eagerly()
        return set_default_graph(self._graph) if is_outside else nullcontext()

    def _graph_tensor(self, graph: Any, as_ref: bool) -> Tensor:
        """Return the variable as an input of a node of ``graph``: its reference or its value."""
        if self._graph is graph:
            return self._ref if as_ref else self._read
        if graph.is_function:
            ref: Tensor = graph.capture_variable(self)
            # each use gets its own read node, so that a read after an assignment sees the new value
            return ref if as_ref else _read(graph, ref)
        if self._graph is not None:
            raise ArgumentError(f"variable {brief(self._name)} belongs to a graph other than the default one")
        raise ArgumentTypeError(
            f"variable {brief(self._name)} was made eagerly: make it inside `with graph.as_default():`, or "
            "use it in a function decorated with teachconv.function"
        )


def _read(graph: Any, ref: Tensor) -> Tensor:
    """Add a node that reads a variable: as in TensorFlow a function has another op for it than a graph."""
    if graph.is_function:
        return gen_nn_ops.read_variable_op(ref, name="ReadVariableOp")
    return gen_nn_ops.identity(ref, name="read")


class _UnreadVariable(Variable):
    """What an assignment in a function returns: the variable, whose ``op`` is the assignment.

    TensorFlow: _UnreadVariable in python/ops/resource_variable_ops.py. A read comes after the assignment,
    because the accesses to a variable in a function keep their order.
    """

    def __init__(self, variable: Variable, op: Operation) -> None:
        vars(self).update(vars(variable))
        self._variable, self._assignment = variable, op

    @property
    def op(self) -> Operation:
        """The assignment."""
        return self._assignment

    def ref(self) -> Reference:
        """Return the variable's own key."""
        return self._variable.ref()

    def _graph_tensor(self, graph: Any, as_ref: bool) -> Tensor:
        return self._variable._graph_tensor(graph, as_ref)


def _lifted(initial_value: Any, function: Any) -> Any:
    """Return the initial value of a variable that a function makes, as a value outside of the function."""
    if not function.may_create_variables:
        raise InvalidArgumentError(
            "tf.function only supports singleton tf.Variables created on the first call. Make sure the "
            "tf.Variable is only created once or created outside tf.function."
        )
    is_inside = isinstance(initial_value, Tensor) and initial_value.op.graph is function
    if not is_inside:
        return initial_value
    name = initial_value.name
    state = GraphExecutionState(function, ConfigProto())
    try:
        (value,) = state.executable([initial_value], [], []).run(OpKernelContext({}))
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"initial_value must not depend on the arguments of {brief(function.name)}, because the "
            f"variable outlives the call; {brief(name)} does: {plain(error)}"
        ) from error
    return value


def global_variables_initializer() -> Any:
    """Return an operation that initialises all variables of the default graph.

    Returns:
        The operation.

    Raises:
        ValueError: outside a graph.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     v = tg.Variable(3, name="v")
    ...     init = tg.global_variables_initializer()
    ...     with tg.Session() as session:
    ...         session.run(init)
    ...         print(session.run(v))
    3
    """
    return variables_initializer(global_variables())


def variables_initializer(var_list: Sequence[Variable], name: str = "init") -> Any:
    """Return an operation that initialises variables of the default graph.

    Args:
        var_list: the variables.
        name: the name of the operation.

    Returns:
        The operation.

    Raises:
        ValueError: outside a graph.
    """
    return group(*(variable.initializer for variable in var_list), name=name)


def global_variables(scope: str | None = None) -> list[Variable]:
    """Return the variables of the default graph, in order of creation.

    Args:
        scope: a regular expression that the beginning of the name must match.

    Returns:
        The variables.

    Raises:
        ValueError: outside a graph.
    """
    return get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """Return the trainable variables of the default graph: those that an optimizer changes.

    Args:
        scope: as in `global_variables`.

    Returns:
        The variables.

    Raises:
        ValueError: outside a graph.
    """
    return get_default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def assign(ref: Variable, value: object, name: str | None = None) -> object:
    """Replace the value of a variable, as tf.compat.v1.assign.

    Args:
        ref: the variable.
        value: a value of the variable's shape and dtype.
        name: the name of the node.

    Returns:
        The result of `Variable.assign`: in a graph a tensor, otherwise the variable.

    Raises:
        ValueError, TypeError: if the shape or dtype differs from the variable's.
    """
    return ref.assign(value, name)
