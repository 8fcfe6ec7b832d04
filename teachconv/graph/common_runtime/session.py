"""Runs graphs: takes fetches, returns values, and stores the values of variables.

TensorFlow: python/client/session.py in front of core/common_runtime/direct_session.cc.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from copy import copy, deepcopy
from dataclasses import replace
from types import TracebackType
from typing import Any

import numpy as np

from ...support import tables
from ...support.errors import ArgumentError, ArgumentTypeError, brief, plain
from .. import nest
from ..framework.config import ConfigProto, RunOptions
from ..framework.context import get_default_graph, set_default_graph, set_default_session
from ..framework.eager_tensor import to_array
from ..framework.errors import InvalidArgumentError, SessionError
from ..framework.op_kernel import OpKernelContext, VariableRef
from ..framework.ops import Graph, Operation
from ..framework.tensor import Tensor
from ..options import check_type
from .graph_execution_state import GraphExecutionState
from .run_metadata import RunMetadata
from .run_steps import Part, program_step


class Session:
    """Runs a graph; as a context manager, it also makes the graph the default.

    A session stores the values of the variables. It also caches one executable for each combination of
    fetches and feeds, so that placement, optimisation and pruning happen once.

    Args:
        graph: the graph to run; None uses the default graph.
        config: switches the optimisers, devices and threads.

    Raises:
        TypeError: if ``graph`` or ``config`` is of another type.
        ValueError: if there is no graph.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default() as graph:
    ...     x = tg.placeholder("float32", [None], name="x")
    ...     y = {"double": x + x, "squares": [x * x, tg.reduce_sum(x * x)]}
    >>> with tg.Session(graph) as session:
    ...     session.run(y, {x: [1, 2, 3]})
    {'double': array([2., 4., 6.], dtype=float32),
     'squares': [array([1., 4., 9.], dtype=float32), np.float32(14.0)]}
    """

    def __init__(self, graph: Graph | None = None, config: ConfigProto | None = None):
        check_type(graph, Graph | None, "graph must be a Graph or None")
        check_type(config, ConfigProto | None, "config must be a ConfigProto or None")
        self.graph = get_default_graph() if graph is None else graph
        self.config = config or ConfigProto()
        self._variables: dict[str, VariableRef] = {}
        self._resources: dict[str, Any] = {}  # what kernels keep, such as generators of random numbers
        self._state = GraphExecutionState(self.graph, self.config)
        self._closed = False
        self._scope: Any = None

    def run(
        self,
        fetches: Any,
        feed_dict: Mapping[Any, Any] | None = None,
        options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:
        """Run the graph and return the values of ``fetches``.

        What a run assigned before it failed stays assigned.

        Args:
            fetches: a tensor, an operation (whose value is None), a variable, a name such as "y:0"
                (a tensor) or "init" (an operation), or lists, tuples and dicts of those.
            feed_dict: values by tensor or tensor name; any tensor may be fed, not only placeholders.
                Arrays are converted to the tensor's dtype within the same kind of number.
            options: how to run; None for the defaults.
            run_metadata: an empty `RunMetadata` to fill with a log of the run; logging takes time.

        Returns:
            The values in the structure of ``fetches``.

        Raises:
            ValueError, TypeError: if fetches or feeds do not fit the graph, a placeholder is not fed, a
                device does not exist, or a kernel rejects its inputs; the message then names the node
                and the line that created it.
            FailedPreconditionError: if a variable is not initialised.
        """
        if self._closed:
            raise SessionError("Attempted to use a closed Session: create another one.")
        if not self.graph.get_operations():
            raise SessionError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )
        check_type(options, RunOptions | None, "options must be RunOptions")
        check_type(run_metadata, RunMetadata | None, "run_metadata must be a RunMetadata")
        found = [_graph_element(fetch, self.graph, "fetches") for fetch in nest.flatten(fetches)]
        tensors = [item for item in found if isinstance(item, Tensor)]
        targets = [item for item in found if isinstance(item, Operation)]
        feeds = _feeds(self.graph, feed_dict or {})
        if run_metadata is not None:
            names = ", ".join(item.name for item in found)
            note = f"{tables.count(len(found), 'fetch', 'fetches')}, {tables.count(len(feeds), 'feed')}"
            made = [item.op if isinstance(item, Tensor) else item for item in found[:1]]
            run_metadata.asked = next(map(program_step, made), None)
            run_metadata.called = replace(RUN.step(note), name=f"session.run({names})")
        executable = self._state.executable(tensors, targets, list(feeds))
        context = OpKernelContext(self._variables, list(feeds.values()), self.config)
        context.resources = self._resources
        seed = None if options is None else options.shuffle_seed
        try:
            values = executable.run(context, run_metadata, seed)
        except InvalidArgumentError as error:
            if error.node_def is not None:  # passes may have renamed it
                error.op = self.graph._by_name.get(error.node_def.name)
            raise
        arrays = iter(fetched(values))
        results = [next(arrays) if isinstance(item, Tensor) else None for item in found]
        return nest.pack_sequence_as(fetches, results)

    def as_default(self) -> Any:
        """Return a context manager that makes this the default session; it does not close the session."""
        return set_default_session(self)

    def close(self) -> None:
        """Release all values; the session can no longer run."""
        self._closed = True
        self._variables, self._state = {}, GraphExecutionState(Graph(), self.config)

    def __enter__(self) -> Session:
        self._scope = ExitStack()
        self._scope.enter_context(set_default_graph(self.graph))
        self._scope.enter_context(set_default_session(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._scope.__exit__(kind, error, where)
        self.close()


RUN = Part(
    "Session.run",
    Session.run,
    "tensorflow/core/common_runtime/direct_session.cc DirectSession::Run",
    "takes fetches and feeds, has the graph prepared for them once, and has it run",
    ("session", "sess.run", "tf.session", "directsession", "directsession.run"),
)
C_API = Part(
    "C API",
    Session.run,
    "tensorflow/c/c_api.cc TF_SessionRun",
    "is where a run goes from Python to C++, to DirectSession::Run; here Session.run does the work itself",
    ("tf_session", "tf_sessionrun", "tf_sessionrun_wrapper"),
)


class InteractiveSession(Session):
    """A session that is the default from its creation until ``close``, for a Python prompt or a notebook.

    Args:
        graph, config: as for `Session`.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     session = tg.InteractiveSession()
    ...     (tg.constant(1.0) + 2.0).eval()
    ...     session.close()
    np.float32(3.0)
    """

    def __init__(self, graph: Graph | None = None, config: ConfigProto | None = None):
        super().__init__(graph, config)
        self.__enter__()

    def close(self) -> None:
        """Release all values, and stop being the default."""
        scope, self._scope = self._scope, None
        if scope is not None:
            scope.close()
        super().close()


def copy_of(session: Session) -> Session:
    """Return a session with the same graph and values; its runs do not change the values of the other."""
    other = copy(session)
    other._variables = {name: copy(ref) for name, ref in session._variables.items()}
    other._resources = deepcopy(session._resources)
    return other


# ---------------------------------------------------------------------------------------------
# Fetches
# ---------------------------------------------------------------------------------------------


def _graph_element(item: Any, graph: Graph, what: str) -> Tensor | Operation:
    """Return the tensor or operation that a fetch or the key of a feed stands for."""
    if isinstance(item, str):
        return graph.get_tensor_by_name(item) if ":" in item else graph.get_operation_by_name(item)
    if hasattr(item, "_graph_tensor"):  # a variable
        if item.graph is not graph:
            raise ArgumentError(f"{what}: variable {brief(item.name)} is not of the session's graph")
        return item.value()
    if not isinstance(item, (Tensor, Operation)):
        raise ArgumentTypeError(
            f"{what} must be tensors, operations, variables or names of them; got {brief(item)} of type "
            f"{type(item).__name__}"
        )
    if item.graph is not graph:
        raise ArgumentError(f"{what}: {brief(item.name)} belongs to a graph other than the session's")
    return item


def fetched(values: list[Any]) -> list[Any]:
    """Return the values such that the caller owns them: copies of stored arrays, and no shared memory."""
    seen: set[int] = set()
    results: list[Any] = []
    for value in values:
        if isinstance(value, np.generic) or value.ndim == 0:
            results.append(value[()])
            continue
        own = value.base is None and value.flags.writeable and value.flags.c_contiguous
        if not own or id(value) in seen:
            value = np.array(value, order="C")
        seen.add(id(value))
        results.append(value)
    return results


# ---------------------------------------------------------------------------------------------
# Feeds
# ---------------------------------------------------------------------------------------------


def _feeds(graph: Graph, feed_dict: Mapping[Any, Any]) -> dict[Tensor, np.ndarray]:
    if not isinstance(feed_dict, Mapping):
        raise ArgumentTypeError(f"feed_dict must map tensors to values; got {type(feed_dict).__name__}")
    feeds: dict[Tensor, np.ndarray] = {}
    for key, value in feed_dict.items():
        try:
            tensor = _graph_element(key, graph, "feed_dict")
        except ArgumentError as error:
            raise ArgumentTypeError(f"Cannot interpret feed_dict key as Tensor: {plain(error)}") from None
        if isinstance(tensor, Operation):
            raise ArgumentTypeError(
                f"feed_dict: {brief(tensor.name)} is an operation; feed its tensor, "
                f"{brief(tensor.name + ':0')}"
            )
        if tensor.is_ref:
            raise ArgumentError(
                f"feed_dict: {brief(tensor.name)} is a reference to a variable, which cannot be fed; feed "
                f"its value, {brief(tensor.op.name + '/read:0')}, or assign to it"
            )
        if tensor in feeds:
            raise ArgumentError(f"feed_dict holds two values for {brief(tensor.name)}")
        feeds[tensor] = feed_value(tensor, value)
    return feeds


def feed_value(tensor: Tensor, value: Any) -> np.ndarray:
    """Return a value as a read-only array of the dtype and a compatible shape of ``tensor``."""
    what = f"the value fed for {brief(tensor.name)}"
    if isinstance(value, (Tensor, Operation)):
        raise ArgumentTypeError(f"{what} must be numbers; got {brief(value)}: fetch its value first")
    array = to_array(value, tensor.dtype, what)
    if not tensor.shape.is_compatible_with(array.shape):
        raise ArgumentError(f"{what} must have shape {tensor.shape}; got {array.shape}")
    array = array.view()
    array.flags.writeable = False
    return array
