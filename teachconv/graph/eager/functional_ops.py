"""`cond`, which runs one of two functions; and the gradients of calls and of conditionals.

TensorFlow: python/ops/cond_v2.py (AutoGraph writes an ``if`` on a tensor as such a call), and
_TapeGradientFunctions in python/eager/polymorphic_function/concrete_function.py. The engine of `gradients`
builds the backward function from the nodes of the function. What it needs of them, such as the result of a
Relu, become additional outputs of the forward call and arguments of the backward call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from ...errors import ArgumentTypeError, brief
from .. import nest
from ..framework import op_def_library
from ..framework.config import ConfigProto
from ..framework.context import executing_eagerly, set_default_graph
from ..framework.errors import InvalidArgumentError
from ..framework.op_def import is_trainable
from ..framework.op_kernel import TRACING
from ..framework.ops import Operation
from ..framework.tensor import Tensor
from ..gradients.gradients_util import RegisterGradient, backpropagate
from ..ops import array_ops, gen_nn_ops
from ..ops.variables import Variable
from .concrete_function import ConcreteFunction, FuncGraph

__all__ = ["cond", "differentiable"]


def cond(pred: Any, true_fn: Any = None, false_fn: Any = None, name: str | None = None) -> Any:
    """Return ``true_fn()`` if ``pred`` is true, else ``false_fn()``, as tf.cond; adds a node If.

    Both functions are traced; the run calls one of them.

    Args:
        pred: a scalar; a number is true if it is not 0.
        true_fn: a function without arguments.
        false_fn: likewise, with a result of the same structure and dtypes.
        name: the name of the node.

    Returns:
        The result of one function: tensors in their structure.

    Raises:
        TypeError: if a function is not callable, or the results differ in dtype.
        ValueError: if the results differ in structure, or ``pred`` is not a scalar.

    >>> import teachconv as tc
    >>> @tc.function
    ... def absolute(x):
    ...     return tc.graph.cond(x > 0.0, lambda: x, lambda: -x)
    >>> print(absolute(tc.graph.constant(-3.0)))
    tf.Tensor(3.0, shape=(), dtype=float32)
    """
    for function, what in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if not callable(function):
            raise ArgumentTypeError(f"{what} must be callable; got {brief(function)}")
    if executing_eagerly():
        return true_fn() if pred else false_fn()
    branches = [_branch(true_fn, "true"), _branch(false_fn, "false")]
    _check_alike(*branches)
    stateful = any(branch.is_stateful for branch in branches)
    outputs = op_def_library.apply_op(
        "If" if stateful else "StatelessIf",
        name or "cond",
        [
            pred,
            [value for branch in branches for value in branch.captured_inputs],
            [variable for branch in branches for variable in branch.variables],
        ],
        {
            "Tout": [output.dtype for output in branches[0].outputs],
            "then_branch": branches[0],
            "else_branch": branches[1],
        },
    )
    return branches[0].pack(outputs if branches[0].outputs else [])


def _branch(function: Callable[[], Any], name: str) -> ConcreteFunction:
    graph = FuncGraph(f"cond_{name}")
    with set_default_graph(graph):
        result = nest.map_structure(_as_tensor, function())
        return ConcreteFunction(graph, [], result, ConfigProto())


def _as_tensor(leaf: Any) -> Any:
    """Return a leaf as a tensor: what a branch returns may depend on the branch."""
    if leaf is None or isinstance(leaf, (Tensor, Operation, Variable)):
        return leaf
    return op_def_library.apply_op("Identity", None, [leaf], {})


def _check_alike(first: ConcreteFunction, second: ConcreteFunction) -> None:
    if first.structure != second.structure:
        raise InvalidArgumentError("true_fn and false_fn must return results of the same structure")
    for one, other in zip(first.outputs, second.outputs, strict=True):
        if one.dtype != other.dtype:
            raise ArgumentTypeError(
                "true_fn and false_fn must return the same dtypes; got "
                f"{one.dtype.name} and {other.dtype.name}"
            )


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
    differentiated = function if again else function.original
    backward = backward_of(differentiated)
    missing = _missing(function, backward.intermediates)
    if missing:
        _extend(op, function.with_outputs(missing))
    found = _call(backward, op.get_attr("f"), op.outputs, grads)
    in_grads: list[Any] = [None] * len(op.inputs)
    for index, grad in zip(backward.inputs, found, strict=True):
        in_grads[index] = grad
    return tuple(in_grads)


@RegisterGradient("If")
@RegisterGradient("StatelessIf")
def _if_grad(op: Any, *grads: Any) -> tuple[Any, ...]:
    """A conditional of the branches' backward functions; each branch gives zeros to the other's inputs.

    Which branch ran, and so which intermediate results there are, is not known before the run. The gradient
    therefore runs the branch again; TensorFlow passes its intermediate results on as optional values.
    """
    branches = [op.get_attr("then_branch"), op.get_attr("else_branch")]
    first, second = (len(branch.captured_inputs) for branch in branches)
    variables = 1 + first + second  # the inputs are the condition, what each branch captures, and variables
    inputs_of = [
        [*range(1, 1 + first), *range(variables, variables + len(branches[0].variables))],
        [*range(1 + first, variables), *range(variables + len(branches[0].variables), len(op.inputs))],
    ]
    wanted = sorted(
        inputs[index]
        for branch, inputs in zip(branches, inputs_of, strict=True)
        for index in backward_of(branch).inputs
    )

    def gradients_of(branch: ConcreteFunction, inputs: list[int]) -> list[Any]:
        forward, backward = differentiable(branch, higher_order=False), backward_of(branch)
        operands = [op.inputs[index] for index in inputs[: len(branch.captured_inputs)]]
        outputs = op_def_library.apply_op(*forward.call_node(operands, forward.variables))
        given = [inputs[index] for index in backward.inputs]
        found = dict(zip(given, _call(backward, forward, outputs, grads), strict=True))
        return [_zeros(op.inputs[index]) if index not in found else found[index] for index in wanted]

    then, otherwise = (partial(gradients_of, *pair) for pair in zip(branches, inputs_of, strict=True))
    results = dict(zip(wanted, cond(op.inputs[0], then, otherwise), strict=True)) if wanted else {}
    return tuple(results.get(index) for index in range(len(op.inputs)))


def _zeros(tensor: Any) -> Any:
    return array_ops.zeros(tensor.shape, tensor.dtype) if tensor.is_ref else array_ops.zeros_like(tensor)


def _call(
    backward: _Backward, forward: ConcreteFunction, outputs: Sequence[Any], grads: Sequence[Any]
) -> Any:
    """Call a backward function with the gradients of the outputs and the intermediate results among them."""
    place = {id(tensor): index for index, tensor in enumerate(forward.outputs)}
    starts = [
        array_ops.zeros_like(outputs[index]) if grads[index] is None else grads[index]
        for index in backward.outputs
    ]
    return backward.call.call([*starts, *(outputs[place[id(tensor)]] for tensor in backward.intermediates)])


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
