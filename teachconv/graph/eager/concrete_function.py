"""`ConcreteFunction`: one trace of a function, which runs on its own or as a node of another graph.

TensorFlow: python/eager/polymorphic_function/concrete_function.py; python/framework/func_graph.py for
`FuncGraph`. Called eagerly it runs its graph. Called while another graph is built, it becomes a node
PartitionedCall, or StatefulPartitionedCall if it changes variables, with the function as an attribute.
TensorFlow may inline such a node before it runs; here its kernel (kernels/functional_ops.py) runs the
function's graph.

The gradients of calls: _TapeGradientFunctions there. The engine of `gradients` builds the backward function
from the nodes of the function. What it needs of them, such as the result of a Relu, become additional outputs
of the forward call and arguments of the backward call.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...support.errors import ArgumentError, brief
from .. import nest
from ..common_runtime.execute import EagerOperation, active_tapes
from ..common_runtime.graph_execution_state import Executable, GraphExecutionState
from ..common_runtime.run_metadata import RunMetadata
from ..common_runtime.run_steps import Part
from ..common_runtime.session import feed_value, fetched
from ..framework import op_def_library
from ..framework.config import ConfigProto
from ..framework.context import current_graph, executing_eagerly, set_default_graph
from ..framework.eager_tensor import EagerTensor
from ..framework.errors import InvalidArgumentError
from ..framework.op_def import get_op_def, is_trainable
from ..framework.op_kernel import TRACING, OpKernelContext, VariableRef
from ..framework.ops import Graph, Operation
from ..framework.tensor import Reference, Tensor
from ..framework.tensor_shape import StaticShape, as_shape
from ..gradients.gradients_util import RegisterGradient, backpropagate
from ..ops import array_ops, gen_nn_ops
from ..ops.control_flow_ops import add_control_dependencies
from ..ops.variables import Variable


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
                f"{brief(value.name)} belongs to a graph that does not enclose the function "
                f"{brief(self.name)}: pass it as an argument, or return it from its own function"
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
                    f"variable {brief(variable.name)} belongs to a graph that does not enclose "
                    f"{brief(self.name)}"
                )
            name = variable.name.partition(":")[0]
            # an eager variable is in the memory of the CPU
            with self.control_dependencies(None), self.name_scope(None), self.device("/cpu:0"):
                ref = gen_nn_ops.variable(variable.shape, variable.dtype, name=name)
            self.variables[variable.ref()] = ref
        return self.variables[variable.ref()]

    def _encloses(self, graph: Graph) -> bool:
        around = self.outer
        while around is not None and around is not graph:
            around = around.outer
        return around is graph


class ConcreteFunction:
    """One trace of a function, ready to run.

    Attributes:
        name: the name of the function.
        graph: the traced graph.
        inputs: the placeholders of the arguments.
        outputs: the tensors of the result.
        captured_inputs: what it takes from outside: eager tensors, or tensors of the graph around it.
        variables: the variables that it uses.
        is_stateful: whether it changes a variable, prints or checks.
    """

    def __init__(self, graph: FuncGraph, inputs: Sequence[Tensor], result: Any, config: ConfigProto):
        self.name, self.graph, self.inputs = graph.name, graph, tuple(inputs)
        self.outputs: list[Tensor] = []
        self._targets: list[Operation] = []
        self._structure = nest.map_structure(self._leaf, result)  # of indices of outputs, and constant leaves
        writes = add_control_dependencies(graph)  # they always happen, in the program's order
        self._targets += [op for op in writes if op not in self._targets]
        self.is_stateful = bool(writes)
        self.captured_inputs = [value for value, _ in graph.captures.values()]
        self.variables = [key.deref() for key in graph.variables]
        self._feeds = (*self.inputs, *(placeholder for _, placeholder in graph.captures.values()))
        self._ref_names = [ref.op.name for ref in graph.variables.values()]
        self.original = self  # differs for the forward function of a gradient
        self._resources: dict[str, Any] = {}  # what kernels keep, such as generators of random numbers
        self._config = config
        self._states: dict[int, GraphExecutionState] = {}  # by the id of the config, which a state keeps

    def _leaf(self, leaf: Any) -> Any:
        """Note an output; return what stands for it in the structure of the result."""
        if isinstance(leaf, Variable):
            leaf = leaf.read_value()
        elif isinstance(leaf, EagerTensor):
            leaf = self.graph.capture(leaf)
        if isinstance(leaf, (bool, int, float, np.ndarray, np.generic)):
            with set_default_graph(self.graph):
                leaf = array_ops.constant(leaf)
        if not isinstance(leaf, (Tensor, Operation)):
            return _Leaf(leaf)
        if isinstance(leaf, Tensor) and leaf.graph is not self.graph:
            leaf = self.graph.capture(leaf)
        if leaf.graph is not self.graph:
            raise InvalidArgumentError(
                f"the function returned {brief(leaf.name)}, which belongs to another graph"
            )
        if isinstance(leaf, Operation):
            self._targets.append(leaf)
            return _Leaf(None)
        self.outputs.append(gen_nn_ops.identity(leaf))  # as TensorFlow marks what a function returns
        return len(self.outputs) - 1

    def pack(self, outputs: Sequence[Any]) -> Any:
        """Return values of the outputs in the structure of the function's result."""
        return nest.map_structure(
            lambda leaf: leaf.value if isinstance(leaf, _Leaf) else outputs[leaf], self._structure
        )

    @property
    def operands(self) -> list[Tensor]:
        """The placeholders in the graph for the inputs of a call: arguments, captured tensors, variables."""
        return [*self._feeds, *self.graph.variables.values()]

    def with_outputs(self, more: Sequence[Tensor]) -> ConcreteFunction:
        """Return a function on the same graph that returns some tensors of it in addition."""
        extended = copy(self)
        extended.outputs = [*self.outputs, *more]
        return extended

    @property
    def output_shapes(self) -> list[StaticShape]:
        """The static shapes of the outputs."""
        return [as_shape(output.shape) for output in self.outputs]

    def __call__(self, *arrays: Any) -> Any:
        """Call with one value for each placeholder; raise ``ValueError`` if their number differs."""
        if len(arrays) != len(self.inputs):
            names = ", ".join(repr(tensor) for tensor in self.inputs) or "none"
            raise ArgumentError(f"the function takes {len(self.inputs)} arrays ({names}); got {len(arrays)}")
        return self.call(list(arrays))

    def call(self, arguments: list[Any], run_metadata: RunMetadata | None = None) -> Any:
        """Run the graph, or add a node that calls it to the graph that is being built.

        Args:
            arguments: one value for each placeholder.
            run_metadata: filled with a log of the run if it is given.

        Returns:
            The result in the structure that the Python function returned.
        """
        if executing_eagerly():
            return self.pack(self._run_eagerly(arguments, run_metadata))
        operands = [*arguments, *self.captured_inputs]
        outputs = op_def_library.apply_op(*self.call_node(operands, self.variables))
        return self.pack(outputs if self.outputs else [])

    def call_node(
        self, operands: list[Any], variables: list[Any]
    ) -> tuple[str, None, list[Any], dict[str, Any]]:
        """Return op, name, inputs and attributes of a node that calls the function."""
        op_type = "StatefulPartitionedCall" if self.is_stateful else "PartitionedCall"
        attrs = {"Tout": [output.dtype for output in self.outputs], "f": self}
        return op_type, None, [operands, variables], attrs

    def _run_eagerly(self, arguments: list[Any], run_metadata: RunMetadata | None) -> list[EagerTensor]:
        """Run with values; assignments reach the variables at once and stay where the run fails later."""
        operands = [*arguments, *self.captured_inputs]
        feeds = [feed_value(tensor, value) for tensor, value in zip(self._feeds, operands, strict=True)]
        refs = [variable._storage for variable in self.variables]
        function, inputs = self, [*operands, *self.variables]
        tapes = [tape for tape in active_tapes() if tape.watches(inputs)]
        if tapes:
            function = differentiable(self, higher_order=len(tapes) > 1)
        if run_metadata is not None:
            run_metadata.called = replace(CALL.step(), name=f"{self.name}(...)")
        executable = function._executable(self._config)
        results = executable.run(self._context(feeds, refs, self._config), run_metadata)
        outputs = [EagerTensor(np.asarray(value)) for value in fetched(results)]
        if tapes:
            op_type, _, _, attrs = function.call_node([], [])
            tensors = [
                value if isinstance(value, EagerTensor) else EagerTensor(np.array(feed))
                for value, feed in zip(operands, feeds, strict=True)
            ]
            operation = EagerOperation(
                get_op_def(op_type), (*tensors, *self.variables), tuple(outputs), attrs
            )
            for tape in tapes:
                tape.record(operation)
        return outputs[: len(self.outputs)]

    def run_in_kernel(self, context: OpKernelContext, inputs: Sequence[Any]) -> list[Any]:
        """Run as part of another run: for a kernel that has the values and references as its inputs."""
        count = len(self._feeds)
        config = context.config or self._config
        inner = self._context(list(inputs[:count]), list(inputs[count:]), config)
        return self._executable(config).run_inside(inner, context.recorder)

    def _executable(self, config: ConfigProto) -> Executable:
        if id(config) not in self._states:  # a state keeps its config, and so the id
            self._states[id(config)] = GraphExecutionState(self.graph, config)
        return self._states[id(config)].executable(self.outputs, self._targets, self._feeds)

    def _context(
        self, feeds: list[Any], refs: Sequence[VariableRef | None], config: ConfigProto
    ) -> OpKernelContext:
        variables = {name: ref for name, ref in zip(self._ref_names, refs, strict=True) if ref is not None}
        context = OpKernelContext(variables, feeds, config)
        context.resources = self._resources
        return context

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.name}({', '.join(tensor.op.name for tensor in self.inputs)})>"


CALL = Part(
    "call",
    ConcreteFunction.call,
    "tensorflow/python/eager/polymorphic_function/concrete_function.py ConcreteFunction._call_flat",
    "runs the graph of a traced function",
    ("concretefunction", "concretefunction.call", "partitionedcall"),
)


@dataclass(eq=False, slots=True)
class _Leaf:
    """A leaf of a result that is not a tensor: every call returns it unchanged."""

    value: Any


@dataclass(frozen=True, eq=False)
class _Backward:
    """The backward function of a function.

    Attributes:
        call: takes the gradients of the outputs that have one, and the intermediate results.
        outputs: the indices of the outputs that have a gradient: those of a float dtype.
        intermediates: the tensors of the function's graph that it takes.
        inputs: the indices of the inputs (arguments, captured tensors, variables) for which it returns one.
    """

    call: ConcreteFunction
    outputs: tuple[int, ...]
    intermediates: tuple[Tensor, ...]
    inputs: tuple[int, ...]


_backward: WeakKeyDictionary[ConcreteFunction, _Backward] = WeakKeyDictionary()
_differentiable: WeakKeyDictionary[ConcreteFunction, dict[bool, ConcreteFunction]] = WeakKeyDictionary()


def differentiable(function: ConcreteFunction, higher_order: bool) -> ConcreteFunction:
    """Return the function that runs where a tape records a call: it also returns intermediate results.

    Args:
        function: the function that is called.
        higher_order: whether the gradient may be differentiated again, which takes more of them.

    Returns:
        A function on the same graph.

    Raises:
        LookupError: if an op of the function has no registered gradient.
    """
    with TRACING.lock:
        known = _differentiable.setdefault(function, {})
        if higher_order not in known:
            forward = _with_intermediates(function)
            while higher_order and (more := _with_intermediates(forward)) is not forward:
                forward = more
            known[higher_order] = forward
        return known[higher_order]


def _with_intermediates(function: ConcreteFunction) -> ConcreteFunction:
    """Return the function with those outputs in addition that its backward function takes."""
    missing = _missing(function, backward_of(function).intermediates)
    return function.with_outputs(missing) if missing else function


def _missing(function: ConcreteFunction, wanted: Sequence[Tensor]) -> list[Tensor]:
    have = set(map(id, function.outputs))
    return [tensor for tensor in wanted if id(tensor) not in have]


def backward_of(function: ConcreteFunction) -> _Backward:
    """Return the backward function, built at the first use."""
    with TRACING.lock:
        if function not in _backward:
            _backward[function] = _build(function)
        return _backward[function]


def _build(function: ConcreteFunction) -> _Backward:
    graph = function.graph
    outputs = tuple(index for index, output in enumerate(function.outputs) if is_trainable(output.dtype))
    with set_default_graph(graph):  # which so encloses the new graph: it may capture its tensors
        inner = FuncGraph(f"backward_{function.name}")
    with set_default_graph(inner):
        targets = [function.outputs[index] for index in outputs]
        starts = [gen_nn_ops.placeholder(target.dtype, target.shape, name="grad") for target in targets]
        grads = backpropagate(
            targets,
            starts,
            function.operands,
            lambda tensor: tensor.op if tensor.graph is graph else None,
            scope=lambda op: inner.name_scope(f"{op.name}_grad"),
        )
        inputs = tuple(index for index, grad in enumerate(grads) if grad is not None)
        captured, inner.captures = list(inner.captures.values()), {}  # from here on they are arguments
        arguments = [*starts, *(placeholder for _, placeholder in captured)]
        call = ConcreteFunction(inner, arguments, [grads[index] for index in inputs], ConfigProto())
    return _Backward(call, outputs, tuple(tensor for tensor, _ in captured), inputs)


@RegisterGradient("PartitionedCall")
@RegisterGradient("StatefulPartitionedCall")
def _call_grad(op: Any, *grads: Any) -> tuple[Any, ...]:
    function: ConcreteFunction = op.get_attr("f")
    again = any(grad is not None for grad in grads[len(function.original.outputs) :])  # of a gradient
    backward = backward_of(function if again else function.original)
    missing = _missing(function, backward.intermediates)
    if missing:
        _extend(op, function.with_outputs(missing))
    outputs = dict(zip(map(id, op.get_attr("f").outputs), op.outputs, strict=True))
    starts = [
        array_ops.zeros_like(op.outputs[index]) if grads[index] is None else grads[index]
        for index in backward.outputs
    ]
    arguments = [*starts, *(outputs[id(tensor)] for tensor in backward.intermediates)]
    in_grads = dict(zip(backward.inputs, backward.call.call(arguments), strict=True))
    return tuple(in_grads.get(index) for index in range(len(op.inputs)))


def _extend(op: Any, forward: ConcreteFunction) -> None:
    """Let a node return intermediate results too, as TensorFlow's _rewrite_forward_and_call_backward does."""
    if not hasattr(op, "graph"):
        raise InvalidArgumentError(
            "a gradient of higher order through a function needs all tapes to be active when it is called"
        )
    attrs = {**op.attrs, "f": forward, "Tout": tuple(output.dtype for output in forward.outputs)}
    facts = list(zip(op.op_def.output_dtypes(attrs), forward.output_shapes, strict=True))
    new = [Tensor(op, index, *facts[index], False) for index in range(len(op.outputs), len(facts))]
    op.attrs, op.outputs = attrs, (*op.outputs, *new)
    op.graph.version += 1
