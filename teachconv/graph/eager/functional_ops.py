"""The gradients of calls of functions.

TensorFlow: _TapeGradientFunctions in python/eager/polymorphic_function/concrete_function.py. The engine of
`gradients` builds the backward function from the nodes of the function. What it needs of them, such as the
result of a Relu, become additional outputs of the forward call and arguments of the backward call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from ..framework.config import ConfigProto
from ..framework.context import set_default_graph
from ..framework.errors import InvalidArgumentError
from ..framework.op_def import is_trainable
from ..framework.op_kernel import TRACING
from ..framework.tensor import Tensor
from ..gradients.gradients_util import RegisterGradient, backpropagate
from ..ops import array_ops, gen_nn_ops
from .concrete_function import ConcreteFunction, FuncGraph

__all__ = ["differentiable"]


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
