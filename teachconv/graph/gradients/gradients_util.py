"""The registry of gradients, and the engine that walks operations backwards and calls them.

TensorFlow: python/framework/ops.py, RegisterGradient; python/ops/gradients_util.py, _GradientsHelper; and for
tapes eager/tape.h. `gradients` walks the nodes of a graph; a tape (eager/backprop.py) hands its records to
the same loop, because they read like nodes. The walk is a queue, not a recursion, and visits each operation
once.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from typing import Any

from ...support.errors import ArgumentError, ArgumentTypeError, brief, check_word
from ..framework.context import current_graph, get_default_graph
from ..framework.eager_tensor import EagerTensor
from ..framework.op_def import GRADIENTS, is_trainable
from ..framework.tensor_shape import TensorShape
from ..ops import array_ops, control_flow_ops, gen_nn_ops
from ..ops.array_ops import constant, is_tensor
from ..ops.math_ops import add_n


class RegisterGradient:
    """Decorate a function ``(op, *output_gradients)`` to register it: ``@RegisterGradient("Conv2D")``.

    The function returns the gradient of each input, or one gradient if there is one input; None for an input
    without a gradient.

    Args:
        op_type: the op's name; or a name of your own, which `Graph.gradient_override_map` gives to ops.

    Raises:
        ValueError: if that name already has a gradient.
    """

    def __init__(self, op_type: str) -> None:
        _check_new(op_type)
        self._op_type = op_type

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Register the function and return it unchanged."""
        GRADIENTS[self._op_type] = function
        return function


def NotDifferentiable(op_type: str) -> None:  # noqa: N802  (TensorFlow's name)
    """Register that an op has no gradient: its result counts as a constant, as tf.no_gradient.

    Args:
        op_type: the op's name.

    Raises:
        ValueError: if it already has a gradient.
    """
    _check_new(op_type)
    GRADIENTS[op_type] = None


def _check_new(op_type: str) -> None:
    if not isinstance(op_type, str) or not op_type:
        raise ArgumentTypeError(f"op_type must be the name of an op; got {brief(op_type)}")
    if op_type in GRADIENTS:
        raise ArgumentError(f"op {brief(op_type)} has a gradient already: {GRADIENTS[op_type]}")


def get_gradient_function(op: Any) -> Callable[..., Any] | None:
    """Return the gradient function of an op.

    Args:
        op: an operation, whose attribute ``_gradient_op_type``, if it has one, names another registered
            gradient; or the name of an op.

    Returns:
        The function, or None for an op that is not differentiable.

    Raises:
        LookupError: if nothing is registered for the op.

    >>> get_gradient_function("Conv2D").__name__, get_gradient_function("Shape")
    ('_conv2d_grad', None)
    """
    op_type = op if isinstance(op, str) else op.attrs.get("_gradient_op_type", op.type)
    if op_type not in GRADIENTS:
        name = op_type if isinstance(op, str) else f"{brief(op.name)} (op type: {op.type})"
        second = "; relu, bias_add and pools have no second derivative" if op_type.endswith("Grad") else ""
        raise LookupError(
            f"No gradient defined for operation {name}. An op needs a function registered by "
            f"@RegisterGradient, or stop_gradient in front of it, which makes its input a constant{second}"
        )
    return GRADIENTS[op_type]


class UnconnectedGradients(StrEnum):
    """The gradient with respect to a tensor on which the target does not depend.

    Attributes:
        NONE: None.
        ZERO: zeros of the tensor's shape.
    """

    NONE = "none"
    ZERO = "zero"


Producer = Callable[[Any], Any]  # from a tensor to the operation that made it, or None
Scope = Callable[[Any], AbstractContextManager[Any]]


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: str = UnconnectedGradients.NONE,
) -> list[Any]:
    """Add nodes that compute the gradient of the sum of ``ys`` with respect to each of ``xs``.

    Args:
        ys: a tensor or a list of tensors of the default graph.
        xs: a tensor or variable, or a list of those.
        grad_ys: the initial gradients, one tensor of the shape of each y or None for ones.
        name: the name scope; each op of the walk adds its nodes in ``name/<op>_grad``.
        colocate_gradients_with_ops: accepted for compatibility.
        gate_gradients: whether the gradients of an op's inputs wait for each other; the values are the same.
        aggregation_method: accepted for compatibility; gradients of one tensor are added by AddN.
        stop_gradients: tensors that count as constants.
        unconnected_gradients: "none" or "zero": the gradient of an x on which no y depends.

    Returns:
        A list with one tensor for each x, or None where no y depends on it.

    Raises:
        ValueError, TypeError: if ``ys`` or ``xs`` are of another graph, or ``grad_ys`` do not fit.
        LookupError: if an op between them has no registered gradient.
        RuntimeError: outside a graph: use `GradientTape` there.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default() as graph:
    ...     x = tg.placeholder("float32", [], name="x")
    ...     (dx,) = tg.gradients(x * x * x, x)
    ...     with tg.Session() as session:
    ...         print(dx.name, session.run(dx, {x: 2.0}))
    gradients/AddN:0 12.0
    """
    if current_graph() is None:
        raise RuntimeError(
            "gradients is not supported when eager execution is enabled. Use GradientTape instead."
        )
    check_word(unconnected_gradients, "unconnected_gradients", UnconnectedGradients)
    graph = get_default_graph()
    targets = [_tensor_of(y, False) for y in _as_list(ys)]
    sources = [_tensor_of(x, True) for x in _as_list(xs)]
    stops = {
        id(_tensor_of(stop, True)) for stop in _as_list([] if stop_gradients is None else stop_gradients)
    }
    for what, items in (("ys", targets), ("xs", sources)):
        for item in items:
            if item.graph is not graph:
                raise ArgumentError(
                    f"{what} must be of the default graph; got {brief(item.name)} of another one"
                )

    with graph.name_scope(name):
        starts = default_gradients(targets, grad_ys)
        found = backpropagate(
            targets,
            starts,
            sources,
            lambda tensor: None if id(tensor) in stops else tensor.op,
            scope=lambda op: graph.name_scope(f"{op.name}_grad"),
            gate=control_flow_ops.tuple if gate_gradients else None,
        )
        return fill_unconnected(found, sources, unconnected_gradients)


def _as_list(items: Any) -> list[Any]:
    return list(items) if isinstance(items, (list, tuple)) else [items]


def _tensor_of(item: Any, as_ref: bool) -> Any:
    """Return a tensor of the graph: of a variable, its reference, to which all reads lead back."""
    if hasattr(item, "_graph_tensor"):
        return item._graph_tensor(get_default_graph(), as_ref)
    if not is_tensor(item) or not hasattr(item, "op"):
        raise ArgumentTypeError(f"gradients takes tensors and variables of a graph; got {brief(item)}")
    return item


def default_gradients(targets: Sequence[Any], given: Any) -> list[Any]:
    """Return the gradient that each target starts with: the given one, or ones of its shape.

    Args:
        targets: the tensors.
        given: a list with a tensor or None for each, or None.

    Returns:
        A list of tensors.

    Raises:
        ValueError, TypeError: if their number, a dtype or a shape does not fit.
    """
    grads = [None] * len(targets) if given is None else _as_list(given)
    if len(grads) != len(targets):
        raise ArgumentError(
            f"grad_ys must have one gradient for each of the {len(targets)} ys; got {len(grads)}"
        )
    starts = []
    for index, (target, grad) in enumerate(zip(targets, grads, strict=True)):
        name = f"grad_ys_{index}"
        if grad is None:
            starts.append(array_ops.ones(array_ops.shape(target), target.dtype, name))
            continue
        if not is_tensor(grad):
            grad = constant(grad, target.dtype, name=f"grad_y_{index}")
        if grad.dtype != target.dtype or not TensorShape(target.shape).is_compatible_with(grad.shape):
            raise ArgumentError(
                f"grad_ys must have the shape and dtype of its y, {target.shape} and {target.dtype.name}; "
                f"got {grad.shape} and {grad.dtype.name}"
            )
        starts.append(gen_nn_ops.identity(grad, name=name))
    return starts


def fill_unconnected(found: list[Any], sources: Sequence[Any], choice: str) -> list[Any]:
    """Return the gradients with zeros for None, if ``choice`` is "zero"."""
    if choice == "none":
        return found
    return [
        array_ops.zeros_like(source) if grad is None else grad
        for grad, source in zip(found, sources, strict=True)
    ]


# ---------------------------------------------------------------------------------------------
# The walk
# ---------------------------------------------------------------------------------------------


def backpropagate(
    targets: Sequence[Any],
    starts: Sequence[Any],
    sources: Sequence[Any],
    producer: Producer,
    scope: Scope = lambda op: nullcontext(),
    gate: Callable[[Sequence[Any]], list[Any]] | None = None,
) -> list[Any]:
    """Return the gradients of ``sources``: the chain rule, from the targets backwards.

    An operation is visited once the gradients of all its outputs have arrived, that is, after all operations
    between it and the targets. Several gradients of one tensor are added.

    Args:
        targets: the tensors that are differentiated.
        starts: the gradient of each target.
        sources: the tensors, or variables of a tape, to return the gradients of.
        producer: returns the operation that made a tensor, or None where the walk ends.
        scope: the name scope of the nodes of an operation's gradient.
        gate: a function that makes the gradients of an operation's inputs wait for each other, or None.

    Returns:
        One gradient for each source, or None where there is no way to it.

    Raises:
        LookupError: if an operation on the way has no registered gradient.
        ValueError: if a gradient function returns gradients that do not fit the inputs.
    """
    made_by = _through_floats(producer)
    pending = _count_pending(targets, sources, made_by)
    received: dict[int, list[Any]] = {}
    for target, start in zip(targets, starts, strict=True):
        received.setdefault(id(target), []).append(start)
    ready = deque(op for op in _unique(map(made_by, targets)) if pending.get(id(op)) == 0)
    while ready:
        op = ready.popleft()
        grads = [_sum_up(received, output) for output in op.outputs]
        in_grads = _input_gradients(op, grads, scope, gate)
        for tensor, grad in zip(op.inputs, in_grads, strict=True):
            if grad is not None:
                received.setdefault(id(tensor), []).append(grad)
            before = made_by(tensor)
            if id(before) in pending:
                pending[id(before)] -= 1
                if not pending[id(before)]:
                    ready.append(before)
    return [_sum_up(received, source) for source in sources]


def _through_floats(producer: Producer) -> Producer:
    """Return a producer that ends the walk at integers and booleans, such as the shapes in a graph."""
    return lambda tensor: producer(tensor) if is_trainable(tensor.dtype) else None


def _count_pending(targets: Sequence[Any], sources: Sequence[Any], producer: Producer) -> dict[int, int]:
    """Return, for each operation between sources and targets, how often operations between take its outputs.

    Args:
        targets: the tensors that are differentiated.
        sources: the tensors to differentiate with respect to.
        producer: as in `backpropagate`.

    Returns:
        The counts by the identity of the operation.
    """
    wanted = {id(source) for source in sources}
    seen: set[int] = set()
    between: dict[int, Any] = {}
    stack = [(op, False) for op in _unique(map(producer, targets))]
    while stack:
        op, is_after_its_inputs = stack.pop()
        earlier = _unique(map(producer, op.inputs))
        if is_after_its_inputs:
            if wanted.intersection(map(id, op.inputs)) or between.keys() & map(id, earlier):
                between[id(op)] = op
        elif id(op) not in seen:
            seen.add(id(op))
            stack += [(op, True), *((before, False) for before in earlier)]
    uses = Counter(id(before) for op in between.values() for before in map(producer, op.inputs))
    return {key: uses[key] for key in between}


def _unique(items: Iterable[Any]) -> list[Any]:
    return list({id(item): item for item in items if item is not None}.values())


def _sum_up(received: dict[int, list[Any]], tensor: Any) -> Any:
    """Return the sum of the gradients that arrived for a tensor, or None; it is added only once."""
    grads = received.get(id(tensor))
    if not grads:
        return None
    if len(grads) > 1:
        received[id(tensor)] = grads = [add_n(grads)]
    return grads[0]


def _input_gradients(op: Any, grads: list[Any], scope: Scope, gate: Any) -> Sequence[Any]:
    """Return the gradients of an operation's inputs, by its registered function."""
    nothing = (None,) * len(op.inputs)
    if all(grad is None for grad in grads):
        return nothing
    function = get_gradient_function(op)
    if function is None:
        return nothing
    graph = current_graph()
    with scope(op), nullcontext() if graph is None else graph.original_op(op):
        in_grads = function(op, *grads)
        in_grads = list(in_grads) if isinstance(in_grads, (list, tuple)) else [in_grads]
        if gate is not None and sum(grad is not None for grad in in_grads) > 1:
            in_grads = gate(in_grads)
    if len(in_grads) != len(op.inputs):
        raise ArgumentError(
            f"the gradient function of {op.type} must return one gradient for each of the "
            f"{len(op.inputs)} inputs of {brief(op.name)}; got {len(in_grads)}"
        )
    for index, (tensor, grad) in enumerate(zip(op.inputs, in_grads, strict=True)):
        if grad is not None and hasattr(grad, "op"):
            _refine_shape(op, index, tensor, grad)
        elif isinstance(grad, EagerTensor):
            name = op.attrs.get("_gradient_op_type", op.type)
            grad.gradient_of = grad.gradient_of or name  # some functions pass a gradient on
    return in_grads


def _refine_shape(op: Any, index: int, tensor: Any, grad: Any) -> None:
    """Give a gradient the static shape of its tensor, which it must have."""
    if not grad.shape.is_compatible_with(tensor.shape):
        raise ArgumentError(
            f"the gradient of input {index} of {brief(op.name)} must have the shape {tensor.shape} of the "
            f"input; got {grad.shape}"
        )
    grad.shape = grad.shape.merge_with(tensor.shape)
