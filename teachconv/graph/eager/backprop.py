"""`GradientTape` records the ops that run and differentiates them with the engine of `gradients`.

TensorFlow: python/eager/backprop.py. Eagerly, ``execute`` hands every op to the tape as a record that reads
like a node. In a graph, or in a function that is traced, the records are the nodes themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from types import TracebackType
from typing import Any

import numpy as np

from ...support.errors import ArgumentError, brief, check_word
from .. import nest
from ..common_runtime.execute import recorded_by
from ..framework.context import current_graph
from ..framework.op_def import is_trainable
from ..framework.ops import GraphKeys, name_scope
from ..framework.tensor_shape import TensorShape
from ..gradients.gradients_util import (
    UnconnectedGradients,
    backpropagate,
    default_gradients,
    fill_unconnected,
)
from ..ops import array_ops

_log = logging.getLogger("teachconv.graph")
_READS = ("Identity", "ReadVariableOp")  # in a graph, and in a function


class GradientTape:
    """Records ops for automatic differentiation, as tf.GradientTape.

    Trainable variables that are read inside the block are watched automatically; other tensors must be
    passed to `watch`. Only ops that depend on something watched are kept.

    Args:
        persistent: whether ``gradient`` may be called more than once; the tape then keeps its records.
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
        self._graph: Any = None
        self._watched: dict[int, Any] = {}  # tensors and variables by identity, which keeps them alive
        self._variables: dict[int, Any] = {}  # of those, the variables
        self._producers: dict[int, Any] = {}  # the operation that made a tensor, by the tensor's identity

    # --- recording -------------------------------------------------------------------------------

    def __enter__(self) -> GradientTape:
        if self._recording:
            raise ArgumentError(
                "Tape is still recording, This can happen if you try to re-enter an already-active tape."
            )
        self._recording, self._graph = True, current_graph()
        # the number of the graph's nodes before those that belong to the tape
        self._start = 0 if self._graph is None else len(self._graph.get_operations())
        self._scope = recorded_by(self)
        self._scope.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._read_graph()
        self._recording = False
        self._scope.__exit__(kind, error, where)

    def _read_graph(self) -> None:
        """Record the nodes that the graph has got since the last time."""
        if self._graph is None or not self._recording:
            return
        operations = self._graph.get_operations()
        trainable = _trainable_by_ref(self._graph)
        for op in operations[self._start :]:
            for tensor in op.inputs:  # a variable is read through one of these, perhaps an older node
                read = tensor.op if tensor.op.type in _READS else op
                ref = read.inputs[0] if read.type in _READS else tensor
                if self._watch_accessed and id(ref) in trainable:
                    self._watched[id(ref)], self._variables[id(ref)] = ref, trainable[id(ref)]
                if id(ref) in self._variables:
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
        """Take note of an op that ran eagerly; ``execute`` calls this.

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
            if not array_ops.is_tensor(item) and not hasattr(item, "_graph_tensor"):
                raise ArgumentError(
                    f"Passed in object {brief(item)} of type {brief(type(item).__name__)}, not tf.Tensor or "
                    "tf.Variable"
                )
            if not is_trainable(item.dtype):
                _log.warning("the dtype of the watched tensor must be floating; got %s", item.dtype.name)
            self._read_graph()  # what came before is not watched
            found = self._source(item)
            self._watched[id(found)] = found
            if hasattr(item, "_graph_tensor"):
                self._variables[id(found)] = item

    def why_none(self, source: Any) -> str:
        """Return in words why the gradient of a source was None.

        Args:
            source: the tensor or variable.

        Returns:
            Whether it was not watched, no op read it, or the way from it to the target is interrupted.

        Raises:
            RuntimeError: if the tape was used already and is not persistent: then it has no records.
        """
        if self._used:
            raise RuntimeError("the tape was used and has no records: ask with GradientTape(persistent=True)")
        found = self._source(source)
        if id(found) not in self._watched and not getattr(source, "trainable", False):
            return "it was not watched: tape.watch(x) before the computation; a trainable variable needs none"
        if any(item is found for op in self.operations() for item in op.inputs):
            return "ops read it, but none leads to the target: .numpy(), NumPy and integers end a way"
        return "no op of the tape read it: .numpy() and NumPy's functions are not followed"

    def operations(self) -> list[Any]:
        """Return the recorded operations, the last one first."""
        self._read_graph()
        return list({id(op): op for op in reversed(self._producers.values())}.values())

    def watched_variables(self) -> tuple[Any, ...]:
        """Return the variables that are watched, in the order in which they were first."""
        self._read_graph()
        return tuple(self._variables.values())

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
            output_gradients: the initial gradients, one for each target; None for ones.
            unconnected_gradients: "none" or "zero": the gradient of a source on which the target does not
                depend.

        Returns:
            The structure of ``sources`` with a tensor for each, or None where the target does not depend on
            it, it was not watched, or the target is of an integer dtype.

        Raises:
            RuntimeError: if the tape was used already and is not persistent.
            ValueError, TypeError: if target or sources are not tensors, or ``output_gradients`` do not fit.
            LookupError: if an op between them has no registered gradient.
        """
        check_word(unconnected_gradients, "unconnected_gradients", UnconnectedGradients)
        targets = [self._target(item) for item in nest.flatten(target)]
        flat = [self._source(item) for item in nest.flatten(sources)]
        with self._one_use():
            found = self._backpropagate(
                targets, flat, None if output_gradients is None else nest.flatten(output_gradients)
            )
            found = fill_unconnected(found, flat, unconnected_gradients)
        return nest.pack_sequence_as(sources, found)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: str = "none",
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Return the derivative of each element of the target with respect to each element of a source.

        The engine runs once for each element of the target. TensorFlow rewrites the engine's nodes to run for
        all elements at once.

        Args:
            target: a tensor of known shape.
            sources: a tensor or variable, or a nested structure of them.
            unconnected_gradients: "none", or "zero" for zeros of the source's shape, where the target does
                not depend on a source.
            parallel_iterations: has no effect, because the elements are taken one after the other.
            experimental_use_pfor: has no effect.

        Returns:
            The structure of ``sources`` with a tensor of shape ``[*target, *source]`` for each, or None.

        Raises:
            RuntimeError: if the tape was used already and is not persistent.
            ValueError, TypeError: as from ``gradient``, and if the shape of the target is not known.

        >>> from teachconv import graph as tg
        >>> x = tg.Variable([1.0, 2.0])
        >>> with tg.GradientTape() as tape:
        ...     y = x * x
        >>> tape.jacobian(y, x).numpy().tolist()
        [[2.0, 0.0], [0.0, 4.0]]
        """
        check_word(unconnected_gradients, "unconnected_gradients", UnconnectedGradients)
        y = self._target(target)
        flat = [self._source(item) for item in nest.flatten(sources)]
        shape = _known_shape(y, "target")
        size = prod(shape)
        ones = (np.eye(1, size, index, y.dtype).reshape(shape) for index in range(size))  # of each element
        with self._one_use():
            rows = [self._backpropagate([y], flat, [one]) for one in ones]
            found: list[Any] = []
            for source, *grads in zip(flat, *rows, strict=True):
                sizes = [*shape, *_known_shape(source, "a source")]
                if not grads:
                    found.append(array_ops.zeros(sizes, y.dtype))
                elif grads[0] is None:
                    found.append(None)
                else:
                    found.append(array_ops.reshape(array_ops.stack(grads), sizes))
            found = fill_unconnected(found, flat, unconnected_gradients)
        return nest.pack_sequence_as(sources, found)

    @contextmanager
    def _one_use(self) -> Iterator[None]:
        """Within the block, the records exist; afterwards, a tape that is not persistent is used up."""
        if self._used:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients (or "
                "jacobians)"
            )
        self._read_graph()
        if not self._persistent:
            self._recording, self._used = False, True
        yield
        if not self._persistent:  # the variables stay: `watched_variables` names them afterwards, too
            self._watched, self._producers = {}, {}

    def _backpropagate(self, targets: list[Any], sources: list[Any], starts: list[Any] | None) -> list[Any]:
        """Return the gradient of the targets with respect to each source; None where there is none."""
        producers = dict(self._producers) if self._recording else self._producers
        known = [index for index, source in enumerate(sources) if id(source) in self._watched]
        grads = backpropagate(
            targets,
            default_gradients(targets, starts),
            [sources[index] for index in known],
            lambda tensor: producers.get(id(tensor)),
            scope=lambda op: name_scope(f"gradient_tape/{op.name}/"),
        )
        found = dict(zip(known, grads, strict=True))
        return [found.get(index) for index in range(len(sources))]

    def _target(self, item: Any) -> Any:
        if not array_ops.is_tensor(item) and not hasattr(item, "_graph_tensor"):
            raise ArgumentError(f"target must hold tensors; got {brief(item)} of type {type(item).__name__}")
        if not is_trainable(item.dtype):
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
        if not array_ops.is_tensor(item):
            raise ArgumentError(
                f"sources must hold tensors and variables; got {brief(item)} of type {type(item).__name__}"
            )
        return item


def _known_shape(tensor: Any, what: str) -> tuple[int, ...]:
    """Return the static shape of a tensor or variable; raise ``ValueError`` if a size is not known."""
    shape = TensorShape(tensor.shape)
    if not shape.is_fully_defined():
        raise ArgumentError(f"a Jacobian needs known shapes; {what} has {shape}")
    return tuple(map(int, shape.as_list()))  # type: ignore[arg-type]


def _trainable_by_ref(graph: Any) -> dict[int, Any]:
    """Return the trainable variables of a graph by the identity of the tensors that refer to them."""
    known = (
        [key.deref() for key in graph.variables]
        if graph.is_function
        else graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    )
    return {id(variable._graph_tensor(graph, True)): variable for variable in known if variable.trainable}
