"""`function`: traces a Python function to a graph once per signature, and then runs the graph.

TensorFlow: python/eager/polymorphic_function/polymorphic_function.py, tracing_compilation.py and
python/framework/func_graph.py. The Python code runs only while it is traced: side effects such as printing
happen once per trace, and Python numbers that it reads become constants of the graph.
"""

from __future__ import annotations

import functools
import inspect
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .. import tables
from ..dtypes import to_dtype
from ..errors import ArgumentError, ArgumentTypeError
from . import gen_nn_ops
from .auto_control_deps import add_control_dependencies
from .config import ConfigProto
from .context import executing_eagerly, set_default_graph
from .eager_tensor import EagerTensor
from .errors import InvalidArgumentError
from .graph_execution_state import GraphExecutionState
from .op_kernel import OpKernelContext
from .ops import Graph, Operation, Tensor
from .run_metadata import RunMetadata
from .session import feed_value, fetched
from .tensor_shape import TensorShape
from .tensor_util import to_array
from .variables import Variable

__all__ = ["ConcreteFunction", "Function", "TensorSpec", "function"]

_log = logging.getLogger("teachconv.graph")


@dataclass(frozen=True)
class TensorSpec:
    """The shape and dtype of an argument.

    Attributes:
        shape: the static shape; None stands for sizes that may differ between calls.
        dtype: the dtype.

    >>> TensorSpec([None, 28, 28, 1], "float32")
    TensorSpec(shape=TensorShape([None, 28, 28, 1]), dtype=dtype('float32'))
    """

    shape: Any
    dtype: Any = "float32"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", TensorShape(self.shape))
        object.__setattr__(self, "dtype", to_dtype(self.dtype))

    def __str__(self) -> str:
        return f"{self.shape} {self.dtype.name}"


class FuncGraph(Graph):
    """The graph of one trace; each variable from outside is captured as one reference node."""

    is_function = True

    def __init__(self) -> None:
        super().__init__()
        self.captures: dict[Variable, Tensor] = {}

    def capture(self, variable: Variable) -> Tensor:
        """Return the tensor that refers to an eager variable."""
        if variable not in self.captures:
            with self.control_dependencies(None), self.name_scope(None):
                ref = gen_nn_ops.variable(variable.shape, variable.dtype, name=variable.name)
            self.captures[variable] = ref
        return self.captures[variable]


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
    input_signature: Sequence[TensorSpec] | None = None,
    config: ConfigProto | None = None,
) -> Any:
    """Decorate a function so that it is traced to a graph, optimised and run as a graph, as tf.function.

    Arrays become placeholders: a new shape or dtype is a new signature and causes a new trace. The values of
    other arguments (numbers, strings, flags) are part of the signature.

    Args:
        python_function: the function; None returns a decorator.
        input_signature: one `TensorSpec` per argument, in order; there is then only one trace.
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
        return functools.partial(function, input_signature=input_signature, config=config)
    if not callable(python_function):
        raise ArgumentTypeError(f"python_function must be callable; got {python_function!r}")
    return Function(python_function, input_signature, config)


class Function:
    """A Python function with one graph per signature; `function` creates it.

    Attributes:
        trace_log: a `TraceRecord` for each trace, with the reason for it.
    """

    def __init__(
        self,
        python_function: Callable[..., Any],
        input_signature: Sequence[TensorSpec] | None = None,
        config: ConfigProto | None = None,
    ):
        functools.update_wrapper(self, python_function)
        self._python_function = python_function
        self._signature = inspect.signature(python_function)
        self._specs = None if input_signature is None else tuple(input_signature)
        if self._specs and not all(isinstance(spec, TensorSpec) for spec in self._specs):
            raise ArgumentTypeError(f"input_signature must hold TensorSpecs; got {input_signature!r}")
        self._config = config or ConfigProto()
        self._concrete: dict[tuple[Leaf, ...], ConcreteFunction] = {}
        self._bound: WeakKeyDictionary[Any, Function] = WeakKeyDictionary()
        self.trace_log: list[TraceRecord] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph of this signature, tracing it first if necessary.

        Inside another trace or graph, the Python function is called directly and adds its nodes there.
        """
        if not executing_eagerly():
            return self._python_function(*args, **kwargs)
        concrete, arrays = self._find(args, kwargs)
        return concrete.run(arrays)

    def profile(self, *args: Any, **kwargs: Any) -> tuple[Any, RunMetadata]:
        """Call the function; return the result and the `RunMetadata` of the run."""
        metadata = RunMetadata()
        concrete, arrays = self._find(args, kwargs)
        return concrete.run(arrays, metadata), metadata

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
            self._bound[instance] = Function(method, self._specs, self._config)
        return self._bound[instance]

    def __repr__(self) -> str:
        name = getattr(self._python_function, "__qualname__", repr(self._python_function))
        return f"<function {name}, traced {tables.count(len(self.trace_log), 'time')}>"

    # --- signatures and traces -------------------------------------------------------------------

    def _find(self, args: Any, kwargs: Any) -> tuple[ConcreteFunction, list[Any]]:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self._specs is not None:
            self._apply_specs(bound)
        leaves: list[Leaf] = []
        arrays: list[Any] = []
        for name, value in bound.arguments.items():
            _flatten(name, value, leaves, arrays)
        key = tuple(leaves)
        if key not in self._concrete:
            self._concrete[key] = self._trace(key, bound)
        return self._concrete[key], arrays

    def _apply_specs(self, bound: inspect.BoundArguments) -> None:
        """Use the declared shapes in the signature, and check the arrays against them."""
        specs = self._specs or ()
        names = list(bound.arguments)
        if len(specs) != len(names):
            raise ArgumentError(
                f"input_signature must hold one TensorSpec for each argument ({', '.join(names) or 'none'}); "
                f"got {len(specs)}"
            )
        for name, spec in zip(names, specs, strict=True):
            value = bound.arguments[name]
            if isinstance(value, TensorSpec):
                bound.arguments[name] = spec
                continue
            array = to_array(value, spec.dtype, name)
            if not spec.shape.is_compatible_with(array.shape):
                raise ArgumentError(
                    f"{name} must have shape {spec.shape} (input_signature); got {array.shape}"
                )
            bound.arguments[name] = _Declared(spec, array)

    def _trace(self, key: tuple[Leaf, ...], bound: inspect.BoundArguments) -> ConcreteFunction:
        reason = self._reason(key)
        start = time.perf_counter()
        graph = FuncGraph()
        inputs: list[Tensor] = []
        with set_default_graph(graph):
            arguments = {
                name: _with_placeholders(name, value, inputs) for name, value in bound.arguments.items()
            }
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
        _log.info("%s %s", getattr(self, "__name__", "function"), record)
        return concrete

    def _reason(self, key: tuple[Leaf, ...]) -> str:
        """Return how a signature differs from the most similar one that was traced."""
        if not self._concrete:
            return "the first call"
        nearest: list[str] | None = None
        for other in self._concrete:
            old, new = dict(other), dict(key)
            changes = [
                f"{path}: {_leaf_text(old[path]) if path in old else 'not there'} -> "
                f"{_leaf_text(new[path]) if path in new else 'not there'}"
                for path in dict.fromkeys([*old, *new])
                if old.get(path) != new.get(path)
            ]
            if nearest is None or len(changes) < len(nearest):
                nearest = changes
        return "; ".join(nearest or ["the arguments come in another order"])


class ConcreteFunction:
    """One trace, ready to run.

    Attributes:
        graph: the traced `Graph`.
        inputs: the placeholders, in the order in which `run` takes the arrays.
    """

    def __init__(self, graph: FuncGraph, inputs: list[Tensor], result: Any, config: ConfigProto):
        self.graph, self.inputs = graph, tuple(inputs)
        self._outputs: list[Tensor] = []
        targets: list[Operation] = []
        self._rebuild = _flatten_result(result, graph, self._outputs, targets)
        writes = add_control_dependencies(graph)  # assignments always happen, in the program's order
        targets += [op for op in writes if op not in targets]
        self._executable = GraphExecutionState(graph, config).executable(self._outputs, targets, self.inputs)
        self._variables = {
            ref.op.name: variable._storage
            for variable, ref in graph.captures.items()
            if variable._storage is not None  # it is there for every eager variable
        }

    def __call__(self, *arrays: Any) -> Any:
        """Run with one array for each placeholder; raise ``ValueError`` if their number differs."""
        if len(arrays) != len(self.inputs):
            names = ", ".join(repr(tensor) for tensor in self.inputs) or "none"
            raise ArgumentError(f"the function takes {len(self.inputs)} arrays ({names}); got {len(arrays)}")
        return self.run(list(arrays))

    def run(self, arrays: list[Any], run_metadata: RunMetadata | None = None) -> Any:
        """Run the graph; assignments reach the variables at once and stay where the run fails later.

        Args:
            arrays: one array for each placeholder.
            run_metadata: filled with a log of the run if it is given.

        Returns:
            The result in the structure that the Python function returned.
        """
        feeds = [feed_value(tensor, array) for tensor, array in zip(self.inputs, arrays, strict=True)]
        results = self._executable.run(self._context(feeds), run_metadata)
        return self._rebuild(map(EagerTensor, map(np.asarray, fetched(results))))

    def _context(self, feeds: list[np.ndarray]) -> OpKernelContext:
        return OpKernelContext(self._variables, feeds)


# ---------------------------------------------------------------------------------------------
# Nested arguments and results
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Declared:
    """An array with the shape that input_signature declares for it."""

    spec: TensorSpec
    array: np.ndarray


def _flatten(path: str, value: Any, leaves: list[Leaf], arrays: list[Any]) -> None:
    """Collect the entries of the signature, and the arrays in the order of their placeholders."""
    if isinstance(value, (list, tuple)):
        leaves.append((path, f"{type(value).__name__} of {len(value)}"))
        for index, item in enumerate(value):
            _flatten(f"{path}[{index}]", item, leaves, arrays)
    elif isinstance(value, Mapping):
        leaves.append((path, f"dict of {', '.join(map(repr, value))}"))
        for key, item in value.items():
            _flatten(f"{path}[{key!r}]", item, leaves, arrays)
    elif isinstance(value, _Declared):
        leaves.append((path, value.spec))
        arrays.append(value.array)
    elif isinstance(value, (Variable, Tensor)):
        leaves.append((path, value))  # compared by identity
    elif (spec := _spec(value)) is not None:
        leaves.append((path, spec))
        arrays.append(value)
    else:
        try:
            hash(value)
        except TypeError:
            raise ArgumentTypeError(
                f"{path} must be an array, a hashable Python value, or lists, tuples and dicts of those; got "
                f"{value!r}"
            ) from None
        leaves.append((path, (type(value), value)))  # with the type: 1, 1.0 and True are equal


def _spec(value: Any) -> TensorSpec | None:
    """Return shape and dtype of a value that becomes a placeholder, or None for a Python value."""
    if isinstance(value, TensorSpec):
        return value
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "__array__"):
        array = to_array(value, None, "an argument")
        return TensorSpec(array.shape, array.dtype)
    return None


def _leaf_text(leaf: Any) -> str:
    return repr(leaf[1]) if isinstance(leaf, tuple) else str(leaf)


def _with_placeholders(path: str, value: Any, inputs: list[Tensor]) -> Any:
    """Return the argument that the Python function receives while it is traced."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_with_placeholders(f"{path}_{i}", item, inputs) for i, item in enumerate(value)))
    if isinstance(value, (list, tuple)):
        items = [_with_placeholders(f"{path}_{index}", item, inputs) for index, item in enumerate(value)]
        return type(value)(items)
    if isinstance(value, Mapping):
        return {key: _with_placeholders(f"{path}_{key}", item, inputs) for key, item in value.items()}
    if isinstance(value, (Variable, Tensor)):
        return value
    spec = value.spec if isinstance(value, _Declared) else _spec(value)
    if spec is None:
        return value
    name = "".join(letter if letter.isalnum() or letter in "_." else "_" for letter in path).lstrip("_")
    tensor: Tensor = gen_nn_ops.placeholder(spec.dtype, spec.shape, name=name or "argument")
    inputs.append(tensor)
    return tensor


def _flatten_result(result: Any, graph: Graph, tensors: list[Tensor], targets: list[Operation]) -> Any:
    """Collect the tensors of a result as the session does; every call returns other values unchanged."""
    if isinstance(result, (list, tuple)):
        parts = [_flatten_result(item, graph, tensors, targets) for item in result]
        if hasattr(result, "_fields"):
            return lambda values: type(result)(*(part(values) for part in parts))
        return lambda values: type(result)([part(values) for part in parts])
    if isinstance(result, Mapping):
        named = {key: _flatten_result(item, graph, tensors, targets) for key, item in result.items()}
        return lambda values: {key: part(values) for key, part in named.items()}
    if isinstance(result, Variable):
        result = gen_nn_ops.identity(result, name="read")
    if not isinstance(result, (Tensor, Operation)):
        return lambda values: result
    if result.graph is not graph:
        raise InvalidArgumentError(f"the function returned {result.name!r}, which belongs to another graph")
    if isinstance(result, Operation):
        targets.append(result)
        return lambda values: None
    tensors.append(result)
    return lambda values: next(values)
