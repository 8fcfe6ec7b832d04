"""`GradientTape` records the ops that run and differentiates them with the engine of `gradients`.

TensorFlow: python/eager/backprop.py, and python/ops/custom_gradient.py for `custom_gradient`. Eagerly,
`execute` hands every op to the tape as a record that reads like a node. In a graph, or in a function that is
traced, the records are the nodes themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from itertools import count
from types import TracebackType
from typing import Any

from ...errors import ArgumentError, ArgumentTypeError
from .. import nest
from ..common_runtime.execute import EagerOperation, active_recorders, recorded_by, stop_recording
from ..framework.context import current_graph
from ..framework.eager_tensor import EagerTensor
from ..framework.op_def import get_op_def
from ..framework.ops import GraphKeys
from ..gradients.gradients_util import (
    RegisterGradient,
    backpropagate,
    check_unconnected,
    default_gradients,
    fill_unconnected,
)
from ..ops import array_ops, gen_nn_ops
from ..ops.constant_op import is_tensor

__all__ = ["GradientTape", "custom_gradient"]

_log = logging.getLogger("teachconv.graph")


class GradientTape:
    """Records ops for automatic differentiation, as tf.GradientTape.

    Trainable variables that are read inside the block are watched by themselves; other tensors must be named
    with `watch`. Only ops that depend on something watched are kept.

    Args:
        persistent: whether `gradient` may be called more than once; the tape then keeps its records.
        watch_accessed_variables: whether trainable variables are watched when they are read.

    >>> from teachconv import graph as tg
    >>> v = tg.Variable(3.0)
    >>> with tg.GradientTape() as tape:
    ...     y = v * v
    >>> float(tape.gradient(y, v))
    6.0

    Tapes may be nested for second derivatives:

    >>> with tg.GradientTape() as outer:
    ...     with tg.GradientTape() as inner:
    ...         y = v * v * v
    ...     first = inner.gradient(y, v)
    >>> float(first), float(outer.gradient(first, v))
    (27.0, 18.0)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watch_accessed = persistent, watch_accessed_variables
        self._recording = self._used = False
        self._scope: AbstractContextManager[Any] = nullcontext()
        self._graph: Any = None
        self._start = 0  # number of the graph's nodes before those that belong to the tape
        self._watched: dict[int, Any] = {}  # tensors and variables by identity, which keeps them alive
        self._variables: dict[int, Any] = {}  # of those, the variables
        self._producers: dict[int, Any] = {}  # the operation that made a tensor, by the tensor's identity

    # --- recording -------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name in ("jacobian", "batch_jacobian"):
            raise AttributeError(
                f"GradientTape.{name} is not here: with persistent=True, gradient() of each element of the "
                "target gives the rows of the Jacobian"
            )
        raise AttributeError(f"GradientTape has no attribute {name!r}")

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ArgumentError(
                "Tape is still recording, This can happen if you try to re-enter an already-active tape."
            )
        self._begin()
        self._scope = recorded_by(self)
        self._scope.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._end()
        self._scope.__exit__(kind, error, where)

    def _begin(self) -> None:
        self._recording, self._graph = True, current_graph()
        self._start = 0 if self._graph is None else len(self._graph.get_operations())

    def _end(self) -> None:
        self._read_graph()
        self._recording = False

    def _read_graph(self) -> None:
        """Record the nodes that the graph has got since the last time."""
        if self._graph is None or not self._recording:
            return
        operations = self._graph.get_operations()
        trainable = _trainable_by_ref(self._graph)
        for op in operations[self._start :]:
            for tensor in op.inputs:  # a variable is read through an Identity, perhaps an older node
                read = tensor.op if tensor.op.type == "Identity" else op
                ref = read.inputs[0] if read.type == "Identity" else tensor
                if self._watch_accessed and id(ref) in trainable:
                    self._watched[id(ref)], self._variables[id(ref)] = ref, trainable[id(ref)]
                    self._keep(read)
            self._keep(op)
        self._start = len(operations)

    def watches(self, inputs: Sequence[Any]) -> bool:
        """Return whether an op with these inputs would be kept."""
        if not self._recording or self._graph is not None:
            return False
        return any(
            id(item) in self._watched or (self._watch_accessed and getattr(item, "trainable", False))
            for item in inputs
        )

    def record(self, operation: Any) -> None:
        """Take note of an op that ran eagerly; `execute` calls this.

        Args:
            operation: the op with its inputs and outputs.
        """
        if not self._recording or self._graph is not None:
            return
        for tensor in operation.inputs:
            if self._watch_accessed and getattr(tensor, "trainable", False):
                self._watched[id(tensor)] = self._variables[id(tensor)] = tensor
        self._keep(operation)

    def _keep(self, operation: Any) -> None:
        if any(id(tensor) in self._watched for tensor in operation.inputs):
            for output in operation.outputs:
                self._watched[id(output)] = output
                self._producers[id(output)] = operation

    def watch(self, tensor: Any) -> None:
        """Record what is computed from a tensor, or from each of a nested structure of them.

        Args:
            tensor: a tensor or variable, or lists, tuples and dicts of those.

        Raises:
            ValueError: if something else is among them, such as an array.
        """
        for item in nest.flatten(tensor):
            if not is_tensor(item) and not hasattr(item, "_graph_tensor"):
                raise ArgumentError(
                    f"Passed in object {item!r} of type {type(item).__name__!r}, not tf.Tensor or tf.Variable"
                )
            if item.dtype.kind in "ib":
                _log.warning("the dtype of the watched tensor must be floating; got %s", item.dtype.name)
            self._read_graph()  # what came before is not watched
            found = self._source(item)
            self._watched[id(found)] = found
            if hasattr(item, "_graph_tensor"):
                self._variables[id(found)] = item

    def operations(self) -> list[Any]:
        """Return the recorded operations, the last one first."""
        self._read_graph()
        return list({id(op): op for op in reversed(self._producers.values())}.values())

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables that are watched, in the order in which they were first."""
        self._read_graph()
        return tuple(self._variables.values())

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Within the block, record nothing on this tape."""
        if not self._recording:
            raise ArgumentError("Trying to stop recording a tape which is not recording.")
        self._end()
        try:
            yield
        finally:
            self._begin()

    def reset(self) -> None:
        """Forget all records and what is watched, as if the block began here."""
        self._watched, self._variables, self._producers = {}, {}, {}
        self._used = False
        if self._recording:
            self._begin()

    # --- differentiating -------------------------------------------------------------------------

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: str = "none",
    ) -> Any:
        """Return the gradient of the target with respect to each source.

        Args:
            target: a tensor, or a nested structure of tensors whose sum is differentiated.
            sources: a tensor or variable, or a nested structure of them.
            output_gradients: what the gradients start from, one for each target; None for ones.
            unconnected_gradients: "none" or "zero": what a source gets on which the target does not depend.

        Returns:
            The structure of ``sources`` with a tensor for each, or None where the target does not depend on
            it, it was not watched, or the target is of an integer dtype.

        Raises:
            RuntimeError: if the tape was used already and is not persistent.
            ValueError, TypeError: if target or sources are no tensors, or ``output_gradients`` do not fit.
            LookupError: if an op between them has no registered gradient.
        """
        if self._used:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or "
                "jacobians)"
            )
        check_unconnected(unconnected_gradients)
        self._read_graph()
        targets = [self._target(item) for item in nest.flatten(target)]
        flat = [self._source(item) for item in nest.flatten(sources)]
        if not self._persistent:
            if self._recording:
                self._end()
            self._used = True
        producers = dict(self._producers) if self._recording else self._producers
        starts = default_gradients(
            targets, None if output_gradients is None else nest.flatten(output_gradients)
        )
        known = [index for index, source in enumerate(flat) if id(source) in self._watched]
        found: list[Any] = [None] * len(flat)
        grads = backpropagate(
            targets,
            starts,
            [flat[index] for index in known],
            lambda tensor: producers.get(id(tensor)),
            scope=self._name_scope,
        )
        for index, grad in zip(known, grads, strict=True):
            found[index] = grad
        if not self._persistent:
            self._watched, self._variables, self._producers = {}, {}, {}
        return nest.pack_sequence_as(sources, fill_unconnected(found, flat, unconnected_gradients))

    def _name_scope(self, op: Any) -> AbstractContextManager[Any]:
        graph = current_graph()
        return nullcontext() if graph is None else graph.name_scope(f"gradient_tape/{op.name}/")

    def _target(self, item: Any) -> Any:
        if not is_tensor(item) and not hasattr(item, "_graph_tensor"):
            raise ArgumentError(f"target must hold tensors; got {item!r} of type {type(item).__name__}")
        if item.dtype.kind in "ib":
            _log.warning(
                "The dtype of the target tensor must be floating (e.g. tf.float32) when calling "
                "GradientTape.gradient, got %s",
                item.dtype.name,
            )
        return self._source(item)

    def _source(self, item: Any) -> Any:
        """Return what the records have as input: in a graph, the reference of a variable."""
        if hasattr(item, "_graph_tensor"):
            return item if self._graph is None else item._graph_tensor(self._graph, True)
        if not is_tensor(item):
            raise ArgumentError(
                f"sources must hold tensors and variables; got {item!r} of type {type(item).__name__}"
            )
        return item


def _trainable_by_ref(graph: Any) -> dict[int, Any]:
    """Return the trainable variables of a graph by the identity of the tensors that refer to them."""
    known = (
        [key.deref() for key in graph.variables]
        if graph.is_function
        else graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    )
    return {id(variable._graph_tensor(graph, True)): variable for variable in known if variable.trainable}


_numbers = count()


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that returns its result and the function of its gradient, as tf.custom_gradient.

    Args:
        f: a function of tensors. It returns the result (a tensor or a nested structure of them) and a
            function that takes the gradient of each tensor of the result and returns that of each argument.
            It must not read trainable variables; pass them as arguments.

    Returns:
        A function that returns the result alone.

    Raises:
        TypeError: at the call, if ``f`` returns something else or reads a trainable variable.

    >>> from teachconv import graph as tg
    >>> @tg.custom_gradient
    ... def clipped(x):
    ...     return x, lambda dy: tg.minimum(dy, 1.0)
    >>> x = tg.constant(2.0)
    >>> with tg.GradientTape() as tape:
    ...     tape.watch(x)
    ...     y = 5.0 * clipped(x)
    >>> float(y), float(tape.gradient(y, x))
    (10.0, 1.0)
    """

    @wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        tensors = [arg if is_tensor(arg) else array_ops.identity(arg) for arg in args]
        with stop_recording(), GradientTape() as reads:
            returned = f(*tensors, **kwargs)
        if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[1]):
            raise ArgumentTypeError(
                f"a function with a custom gradient must return (result, gradient function); got {returned!r}"
            )
        if reads.watched_variables():
            names = ", ".join(variable.name for variable in reads.watched_variables())
            raise ArgumentTypeError(
                f"a function with a custom gradient must not read trainable variables ({names}): pass them "
                "as arguments"
            )
        result, function = returned
        return nest.pack_sequence_as(result, _with_gradient(nest.flatten(result), tensors, function))

    return decorated


def _with_gradient(results: list[Any], arguments: list[Any], function: Callable[..., Any]) -> list[Any]:
    """Return the results as outputs of an IdentityN node whose gradient is the function's."""

    def gradient(op: Any, *grads: Any) -> tuple[Any, ...]:
        pairs = zip(grads, op.outputs, strict=True)
        given = [array_ops.zeros_like(output) if grad is None else grad for grad, output in pairs]
        found = nest.flatten(function(*given[: len(results)]))
        if len(found) != len(arguments):
            raise ArgumentTypeError(
                f"a custom gradient must return one gradient for each of the {len(arguments)} arguments; got "
                f"{len(found)}"
            )
        return *(None,) * len(results), *found

    graph = current_graph()
    if graph is not None:
        name = f"CustomGradient-{next(_numbers)}"  # for as long as the process runs, as in TensorFlow
        RegisterGradient(name)(gradient)
        with graph.gradient_override_map({"IdentityN": name}):
            return list(gen_nn_ops.identity_n([*results, *arguments])[: len(results)])
    outputs = [EagerTensor(item._numpy()) for item in (*results, *arguments)]
    operation = EagerOperation(
        get_op_def("IdentityN"), (*results, *arguments), tuple(outputs), {"_gradient_function": gradient}
    )
    for recorder in active_recorders():
        recorder.record(operation)
    return outputs[: len(results)]
