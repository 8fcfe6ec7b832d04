"""`function`: traces a Python function to a graph once per signature, and then runs the graph.

TensorFlow: python/eager/polymorphic_function/polymorphic_function.py and tracing_compilation.py. The Python
code runs only while it is traced: side effects such as printing happen once per trace, and Python numbers
that it reads become constants of the graph.
"""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...support import tables
from ...support.errors import ArgumentTypeError, brief, plain
from .. import nest
from ..common_runtime.run_metadata import RunMetadata
from ..framework.config import ConfigProto
from ..framework.context import current_graph, set_default_graph
from ..framework.eager_tensor import EagerTensor, to_array
from ..framework.op_kernel import TRACING
from ..framework.tensor import Reference, Tensor, TensorSpec
from ..ops import gen_nn_ops
from ..ops.variables import Variable
from ..options import check_type
from .concrete_function import ConcreteFunction, FuncGraph

_log = logging.getLogger("teachconv.graph")


@dataclass(frozen=True)
class TraceRecord:
    """One trace of a function.

    Attributes:
        number: the position in the order of traces, from 1.
        reason: why it was needed.
        signature: the signature as text.
        seconds: the duration of tracing.
        nodes: the number of nodes.
    """

    number: int
    reason: str
    signature: str
    seconds: float
    nodes: int

    def __str__(self) -> str:
        return (
            f"trace {self.number}: {self.reason}; signature {self.signature}; "
            f"{tables.count(self.nodes, 'node')} in {tables.duration(self.seconds)}"
        )


# One entry of a signature: the path of an argument, and its spec or value
Leaf = tuple[str, Any]


def function(
    python_function: Callable[..., Any] | None = None,
    *,
    config: ConfigProto | None = None,
) -> Any:
    """Decorate a function so that it is traced to a graph, optimised and run as a graph, as tf.function.

    Arrays become placeholders: a new shape or dtype is a new signature and causes a new trace. The values of
    other arguments (numbers, strings, flags) are part of the signature.

    Args:
        python_function: the function; None returns a decorator.
        config: switches the optimisers.

    Returns:
        A `Function`, or a decorator.

    Raises:
        TypeError: if ``python_function`` is not callable.

    >>> import numpy as np, teachconv as tc
    >>> @tc.function
    ... def blur(image, times=1):
    ...     print("tracing")
    ...     for _ in range(times):
    ...         image = tc.graph.nn.avg_pool(image, 3, 1, "SAME")
    ...     return image
    >>> image = np.eye(3, dtype="float32").reshape(1, 3, 3, 1)
    >>> print(blur(image)[0, 1, 1, 0], blur(2 * image)[0, 1, 1, 0])          # traced once
    tracing
    tf.Tensor(0.33333334, shape=(), dtype=float32) tf.Tensor(0.6666667, shape=(), dtype=float32)
    >>> _ = blur(image, times=2)
    tracing
    >>> [record.reason for record in blur.trace_log]
    ['the first call', 'times: 1 -> 2']
    """
    if python_function is None:
        return functools.partial(function, config=config)
    return Function(python_function, config)


class Function:
    """A Python function with one graph per signature; `function` creates it.

    Attributes:
        trace_log: a ``TraceRecord`` for each trace, with the reason for it.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        config: ConfigProto | None = None,
    ):
        check_type(python_function, Callable, "python_function must be callable")
        check_type(config, ConfigProto | None, "config must be a ConfigProto or None")
        functools.update_wrapper(self, python_function, updated=())  # a callable object keeps its state
        self._python_function = python_function
        try:
            self._signature = inspect.signature(python_function)
        except ValueError as error:
            raise ArgumentTypeError(f"python_function must have a signature: {plain(error)}") from None
        self._config = config or ConfigProto()
        self._concrete: dict[tuple[Leaf, ...], ConcreteFunction] = {}
        self._bound: WeakKeyDictionary[Any, Function] = WeakKeyDictionary()
        self.trace_log: list[TraceRecord] = []

    @property
    def python_function(self) -> Callable[..., Any]:
        """The function that is traced."""
        return self._python_function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph of this signature, tracing it first if necessary.

        Inside another function or graph, add a node that calls it.
        """
        concrete, arguments = self._find(args, kwargs)
        return concrete.call(arguments)

    def profile(self, *args: Any, **kwargs: Any) -> tuple[Any, RunMetadata]:
        """Call the function; return the result and the `RunMetadata` of the run."""
        metadata = RunMetadata()
        concrete, arguments = self._find(args, kwargs)
        return concrete.call(arguments, metadata), metadata

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Return the traced function for a signature.

        Args:
            *args: positional arguments; a `TensorSpec` may stand for an array.
            **kwargs: keyword arguments, likewise.

        Returns:
            The concrete function.
        """
        return self._find(args, kwargs)[0]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Return the method of an object; traces depend on its attributes, so each object has its own."""
        if instance is None:
            return self
        if instance not in self._bound:
            method = self._python_function.__get__(instance, owner)
            self._bound.setdefault(instance, Function(method, self._config))  # at once for threads
        return self._bound[instance]

    def __repr__(self) -> str:
        name = getattr(self._python_function, "__qualname__", repr(self._python_function))
        return f"<function {name}, traced {tables.count(len(self.trace_log), 'time')}>"

    # --- signatures and traces -------------------------------------------------------------------

    def _find(self, args: Any, kwargs: Any) -> tuple[ConcreteFunction, list[Any]]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        leaves: list[Leaf] = []
        arguments: list[Any] = []
        for path, container, value in nest.walk(dict(bound.arguments)):
            # the path as the program writes it: layers[0]['w']
            text = "".join(str(key) if index == 0 else f"[{key!r}]" for index, key in enumerate(path))
            leaf, is_argument = (container, False) if container else _leaf(text, value)
            if path:
                leaves.append((text, leaf))
            if is_argument:
                arguments.append(value)
        graph = current_graph()
        if graph is not None:
            leaves.append(("the graph around it", graph))  # which the function may take tensors from
        key = tuple(leaves)
        if key not in self._concrete:
            with TRACING.lock:
                if key not in self._concrete:  # another thread may have traced it
                    self._concrete[key] = self._trace(key, bound)
        return self._concrete[key], arguments

    def _trace(self, key: tuple[Leaf, ...], bound: inspect.BoundArguments) -> ConcreteFunction:
        first = not self._concrete
        concrete = self._trace_once(key, bound, self._reason(key), may_create_variables=first)
        if first and concrete.graph.created:
            names = ", ".join(variable.name for variable in concrete.graph.created)
            concrete = self._trace_once(key, bound, f"the trace before made {names}; this one makes none")
        return concrete

    def _trace_once(
        self,
        key: tuple[Leaf, ...],
        bound: inspect.BoundArguments,
        reason: str,
        may_create_variables: bool = False,
    ) -> ConcreteFunction:
        start = time.perf_counter()
        graph = FuncGraph(getattr(self, "__name__", "function"), may_create_variables)
        inputs: list[Tensor] = []
        with set_default_graph(graph):
            flat = nest.flatten_with_paths(dict(bound.arguments))
            leaves = [_with_placeholder(path, value, inputs) for path, value in flat]
            arguments = nest.pack_sequence_as(dict(bound.arguments), leaves)
            call = inspect.BoundArguments(bound.signature, arguments)
            result = self._python_function(*call.args, **call.kwargs)
            concrete = ConcreteFunction(graph, inputs, result, self._config)
        record = TraceRecord(
            len(self.trace_log) + 1,
            reason,
            ", ".join(f"{path}: {_leaf_text(leaf)}" for path, leaf in key) or "no arguments",
            time.perf_counter() - start,
            len(graph.get_operations()),
        )
        self.trace_log.append(record)
        _log.info("%s %s", graph.name, record)
        return concrete

    def _reason(self, key: tuple[Leaf, ...]) -> str:
        """Return how a signature differs from the most similar one that was traced."""
        if not self._concrete:
            return "the first call"
        nearest = min((_changes(dict(other), dict(key)) for other in self._concrete), key=len)
        return "; ".join(nearest or ["the arguments come in another order"])


# ---------------------------------------------------------------------------------------------
# The leaves of arguments
# ---------------------------------------------------------------------------------------------


def _leaf(path: str, value: Any) -> tuple[Any, bool]:
    """Return the entry of the signature for a leaf, and whether the leaf becomes a placeholder."""
    if isinstance(value, Variable):
        return value.ref(), False  # compared by identity
    spec = _spec(value)
    if spec is not None:
        return spec, True
    try:
        hash(value)
    except TypeError:
        raise ArgumentTypeError(
            f"{path} must be an array, a hashable Python value, or lists, tuples and dicts of those; got "
            f"{brief(value)}"
        ) from None
    return (type(value), value), False  # with the type: 1, 1.0 and True are equal


def _spec(value: Any) -> TensorSpec | None:
    """Return shape and dtype of a value that becomes a placeholder, or None for a Python value."""
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, (Tensor, EagerTensor)):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__"):
        array = to_array(value, None, "an argument")
        return TensorSpec(array.shape, array.dtype)
    return None


def _changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return what differs between the leaves of two signatures."""
    return [
        f"{path}: {_leaf_text(old[path]) if path in old else 'not there'} -> "
        f"{_leaf_text(new[path]) if path in new else 'not there'}"
        for path in dict.fromkeys([*old, *new])
        if old.get(path) != new.get(path)
    ]


def _leaf_text(leaf: Any) -> str:
    if isinstance(leaf, Reference):
        return str(leaf.deref())
    return repr(leaf[1]) if isinstance(leaf, tuple) else str(leaf)


def _with_placeholder(path: tuple[Any, ...], value: Any, inputs: list[Tensor]) -> Any:
    """Return the argument that the Python function receives while it is traced."""
    spec = None if isinstance(value, Variable) else _spec(value)
    if spec is None:
        return value
    text = spec.name or "_".join(map(str, path))
    name = "".join(letter if letter.isalnum() or letter in "_." else "_" for letter in text).lstrip("_")
    tensor: Tensor = gen_nn_ops.placeholder(spec.dtype, spec.shape, name=name or "argument")
    inputs.append(tensor)
    return tensor
