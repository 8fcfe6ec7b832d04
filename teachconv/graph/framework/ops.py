"""The graph: operations, and the scopes in which they are created. Nothing here computes.

TensorFlow: python/framework/ops.py; for TensorFlow 1's default graph of the whole process,
python/compat/v2_compat.py. A `Tensor` names an output of an operation; it has a value only during a run.
"""

from __future__ import annotations

import functools
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from os.path import abspath, dirname, join, sep
from typing import Any

import numpy as np

from ... import backends
from ...support.errors import ArgumentError, ArgumentTypeError, brief, warn
from ...support.settings import within
from .config import DeviceSpec, list_physical_devices
from .context import (
    current_graph,
    in_a_block,
    process_graph,
    session_for,
    set_default_graph,
    set_process_graph,
)
from .errors import InvalidArgumentError, SoftPlacementWarning, UnknownNameError
from .node_def import GraphDef, NodeDef, from_operation
from .op_def import OpDef, attr_of, get_op_def
from .tensor import Tensor
from .tensor_shape import StaticShape, TensorShape


class GraphKeys:
    """The names of collections of a graph.

    Attributes:
        GLOBAL_VARIABLES: every variable.
        LOCAL_VARIABLES: those of metrics.
        TRAINABLE_VARIABLES: those that an optimizer updates.
        GLOBAL_STEP: the variable that counts the steps of a training.
        LOSSES: the losses.
        REGULARIZATION_LOSSES: what regularizers of variables return.
        SUMMARIES: the summaries.
        UPDATE_OPS: what a training step runs in addition, such as updates of moving averages.
    """

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    GLOBAL_STEP = "global_step"
    LOSSES = "losses"
    REGULARIZATION_LOSSES = "regularization_losses"
    SUMMARIES = "summaries"
    UPDATE_OPS = "update_ops"


# TensorFlow's: at the top level a name starts with a letter, a digit or a dot, in a scope also with others
_ROOT_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_NAME = re.compile(r"^[A-Za-z0-9_.\\/>-]+$")


@dataclass(frozen=True)
class _Scopes:
    """What the blocks around the running code say of the next operation."""

    name: str = ""
    device: DeviceSpec = field(default_factory=DeviceSpec)
    control: tuple[Operation, ...] = ()
    original_op: Operation | None = None
    gradient_names: Mapping[str, str] = field(default_factory=dict)


_NO_SCOPES = _Scopes()


class Graph:
    """A list of operations in order of creation, and the scopes that apply to the next one.

    A scope holds in the thread or asyncio task that entered it; others may add to the same graph meanwhile.

    Attributes:
        is_function: whether it is the graph of a function that is traced (def_function.py).
        is_default: whether it is TensorFlow 1's default graph, to which its variables add assignments where
            ops run eagerly, too.
        outer: the graph inside which a function is traced, or None.
        shape_type: the class of the tensors' shapes, another one in TensorFlow 1.
        version: a counter of changes that can affect the result of a run.

    >>> from teachconv import graph as tg
    >>> graph = tg.Graph()
    >>> with graph.as_default(), graph.name_scope("layer"):
    ...     x = tg.placeholder("float32", [None, 4], name="x")
    ...     y = tg.nn.relu(x - 1.0)
    >>> [(op.name, op.type) for op in graph.get_operations()]
    [('layer/x', 'Placeholder'), ('layer/sub/y', 'Const'), ('layer/sub', 'Sub'), ('layer/Relu', 'Relu')]
    >>> y
    <tf.Tensor 'layer/Relu:0' shape=(None, 4) dtype=float32>
    """

    is_function = False
    is_default = False
    outer: Graph | None = None

    def __init__(self) -> None:
        self._operations: list[Operation] = []
        self._by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}  # in lower case: TensorFlow ignores case here
        self._scopes: ContextVar[_Scopes] = ContextVar("teachconv_graph_scopes", default=_NO_SCOPES)
        self._collections: dict[str, list[Any]] = {}
        # what tf.variable_scope and tf.get_variable know (ops/variable_scope.py)
        self.variable_scope: ContextVar[Any] = ContextVar("teachconv_variable_scope", default=None)
        self.variable_scope_counts: Counter[str] = Counter()
        self.variables_by_name: dict[str, Any] = {}
        self.shape_type: type[TensorShape] = TensorShape
        self.last_run: Mapping[str, Any] = {}  # name of each node of the latest run -> its KernelDef
        self.version = 0  # counts changes that can affect a run

    # --- reading ---------------------------------------------------------------------------------

    def get_operations(self) -> list[Operation]:
        """Return the operations in order of creation."""
        return list(self._operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """Return the operation with a name.

        Args:
            name: the operation's name, such as "conv1/Conv2D".

        Returns:
            The operation.

        Raises:
            ValueError: if the graph has no operation of that name.
        """
        if name not in self._by_name:
            raise UnknownNameError(f"the graph has no operation {brief(name)}; it has {self._some_names()}")
        return self._by_name[name]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Return the tensor with a name.

        Args:
            name: the operation's name, a colon and the output's index, such as "conv1/Conv2D:0".

        Returns:
            The tensor.

        Raises:
            ValueError: if the name is malformed, or the graph has no such tensor.
        """
        op_name, colon, index = name.partition(":")
        if not colon or not index.isdigit():
            raise ArgumentError(f'name must be that of a tensor, such as "{op_name}:0"; got {brief(name)}')
        outputs = self.get_operation_by_name(op_name).outputs
        if int(index) >= len(outputs):
            raise UnknownNameError(
                f"operation {brief(op_name)} has {len(outputs)} outputs; got {brief(name)}"
            )
        return outputs[int(index)]

    def as_graph_def(self) -> GraphDef:
        """Return the nodes as plain data, which prints in the text form of TensorFlow's GraphDef.

        Returns:
            The definitions of all operations, in order of creation.
        """
        return GraphDef(tuple(map(from_operation, self._operations)))

    # --- collections -----------------------------------------------------------------------------

    def add_to_collection(self, name: str, value: Any) -> None:
        """Append a value to a collection of the graph, such as ``GraphKeys.TRAINABLE_VARIABLES``."""
        self._collections.setdefault(name, []).append(value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """Return the values of a collection.

        Args:
            name: the collection's name.
            scope: a regular expression; only values whose name begins with a match are returned.

        Returns:
            A new list; empty if there is no such collection.
        """
        values = self._collections.get(name, [])
        if scope is None:
            return list(values)
        return [value for value in values if hasattr(value, "name") and re.match(scope, value.name)]

    def _some_names(self) -> str:
        names = [op.name for op in self._operations[:8]]
        return ", ".join(names) + (", ..." if len(self._operations) > 8 else "") if names else "none yet"

    # --- scopes ----------------------------------------------------------------------------------

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Within the block, add ops to this graph instead of running them."""
        with set_default_graph(self):
            yield self

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names created in the block with ``name/``.

        Args:
            name: the scope; a number is appended if the name is taken. A name that ends in "/" re-enters
                an existing scope. None or "" returns to the top level.

        Yields:
            The full scope, ending in "/", or "".
        """
        full = name if not name or name.endswith("/") else self.unique_name(name) + "/"
        with self._within(name=full or ""):
            yield full or ""

    def device(self, name: str | None) -> AbstractContextManager[None]:
        """Request a device for the operations created in the block.

        Args:
            name: a device such as "/cpu:1"; None requests none.
        """
        before = self._scopes.get().device
        return self._within(
            device=DeviceSpec() if name is None else before.merge(DeviceSpec.from_string(name))
        )

    def control_dependencies(self, inputs: Sequence[Any] | None) -> AbstractContextManager[None]:
        """Make all operations created in the block wait until ``inputs`` have finished.

        Operations created earlier are not affected: to read a variable after an assignment in ``inputs``,
        call ``read_value`` inside the block.

        Args:
            inputs: operations, tensors or variables of this graph; None clears the control dependencies
                of the enclosing blocks.

        Raises:
            ValueError, TypeError: if an item is of another graph or not an operation, tensor or variable.
        """
        added = [self._as_operation(item, "inputs") for item in inputs or ()]
        before = () if inputs is None else self._scopes.get().control
        return self._within(control=tuple(dict.fromkeys([*before, *added])))

    def original_op(self, op: Operation) -> AbstractContextManager[None]:
        """Note that the operations created in the block belong to the gradient of ``op``.

        TensorFlow: Graph._original_op.

        Args:
            op: an operation of this graph.
        """
        return self._within(original_op=op)

    def gradient_override_map(self, names: Mapping[str, str]) -> AbstractContextManager[None]:
        """Give the ops created in the block another gradient, as in ``{"Relu": "GuidedRelu"}``.

        Args:
            names: for each op name, the name under which `RegisterGradient` registered the gradient.

        Raises:
            ValueError: if there is no op of a name.
        """
        for op_type in names:
            get_op_def(op_type)
        return self._within(gradient_names={**self._scopes.get().gradient_names, **names})

    def _within(self, **changes: Any) -> AbstractContextManager[None]:
        """Change scopes of the running context within the block."""
        return within(self._scopes, replace(self._scopes.get(), **changes))

    def _as_operation(self, item: Any, what: str) -> Operation:
        found = getattr(item, "op", item)  # a tensor or a variable stands for its operation
        if not isinstance(found, Operation):
            raise ArgumentTypeError(f"{what} must hold operations, tensors or variables; got {brief(item)}")
        if found.graph is not self:
            raise ArgumentError(
                f"{what} must belong to this graph; {brief(found.name)} belongs to another one"
            )
        return found

    # --- adding ----------------------------------------------------------------------------------

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """Return ``name`` in the current scope, with a number appended if it is taken.

        Args:
            name: letters, digits and any of ``_ . / > -``.
            mark_as_used: whether to reserve the name.

        Returns:
            The full name.

        Raises:
            ValueError: if the name contains other characters.

        >>> graph = Graph()
        >>> graph.unique_name("Conv2D"), graph.unique_name("Conv2D"), graph.unique_name("conv2d")
        ('Conv2D', 'Conv2D_1', 'conv2d_2')
        """
        scope = self._scopes.get().name
        if not isinstance(name, str) or not (_NAME if scope else _ROOT_NAME).match(name):
            raise ArgumentError(
                f"name must be letters, digits and any of _ . / > - with a letter, digit or . first outside "
                f"of a scope; got {brief(name)}"
            )
        full = scope + name
        key = full.lower()
        count = self._names_in_use.get(key, 0)
        while count and f"{key}_{count}" in self._names_in_use:
            count += 1
        ending = f"_{count}" if count else ""
        if mark_as_used:
            self._names_in_use |= {key + ending: 1, key: count + 1}
        return full + ending

    def create_op(
        self,
        op_def: OpDef,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        dtypes: Sequence[np.dtype[Any]],
        shapes: Sequence[StaticShape],
    ) -> Operation:
        """Add a node with arguments that are already checked; op_def_library.py calls this.

        Args:
            op_def: the op's definition.
            name: the full, unique name.
            inputs: the input tensors, of this graph.
            attrs: all attributes.
            dtypes: the dtype of each output.
            shapes: the static shape of each output.

        Returns:
            The new operation.
        """
        scopes = self._scopes.get()
        gradient = scopes.gradient_names.get(op_def.name)
        if gradient is not None:
            attrs = attrs | {"_gradient_op_type": gradient}
        direct = {tensor.op for tensor in inputs}
        control = tuple(op for op in scopes.control if op not in direct)
        device, number = str(scopes.device), len(self._operations)
        op = Operation(self, name, op_def, inputs, attrs, control, device, number)
        op.original_op = scopes.original_op
        op.outputs = tuple(
            Tensor(op, index, dtype, shape, arg.is_ref)
            for index, (arg, dtype, shape) in enumerate(
                zip(op_def.flat(op_def.outputs, attrs), dtypes, shapes, strict=True)
            )
        )
        self._operations.append(op)
        self._by_name[name] = op
        return op


_GRAPH = dirname(dirname(abspath(__file__)))
# what only forwards a program's call: the graph, TensorFlow's names for it, teachconv.conv2d, and find_source
# with functools, which dispatches it
_FORWARDING = (
    *(join(dirname(_GRAPH), folder) + sep for folder in ("graph", "tf", "inspection")),
    join(dirname(_GRAPH), "running", "nn_ops.py"),
    functools.__file__,
)


class Operation:
    """One node: an op definition applied to tensors, with attributes, a name and a requested device.

    `Graph.create_op` creates operations.

    Attributes:
        graph: the graph that contains it.
        name: its unique name in the graph.
        op_def: the op's definition.
        inputs: the input tensors.
        attrs: the attributes by name.
        control_inputs: the operations that must finish before it starts.
        device: the requested device, "" for none.
        number: its position in the order of creation.
        file: the source file of the program that created it.
        line: the line in that file.
        outputs: the output tensors.
        original_op: the operation whose gradient function created it, or None.
    """

    __slots__ = (
        "attrs",
        "control_inputs",
        "device",
        "file",
        "graph",
        "inputs",
        "line",
        "name",
        "number",
        "op_def",
        "original_op",
        "outputs",
    )

    def __init__(
        self,
        graph: Graph,
        name: str,
        op_def: OpDef,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        control_inputs: tuple[Operation, ...],
        device: str,
        number: int,
    ):
        self.graph, self.name, self.op_def, self.inputs = graph, name, op_def, inputs
        self.attrs, self.control_inputs, self.device, self.number = attrs, control_inputs, device, number
        self.file, self.line = _caller()
        self.outputs: tuple[Tensor, ...] = ()
        self.original_op: Operation | None = None

    @property
    def type(self) -> str:
        """The name of the op."""
        return self.op_def.name

    def get_attr(self, name: str) -> Any:
        """Return the value of an attribute.

        Args:
            name: the name of the attribute.

        Returns:
            The attribute's value.

        Raises:
            ValueError: if the op has no attribute of that name.
        """
        return attr_of(self, name)

    def run(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> None:
        """Run the operation in a session: ``session.run(self, feed_dict)``.

        Args:
            feed_dict: values by tensor, as in ``Session.run``.
            session: the session to run in; None uses the default one.

        Raises:
            ValueError: if there is no session, and as ``Session.run``.
        """
        session_for(session, "execute operation using `run()`").run(self, feed_dict)

    @property
    def node_def(self) -> NodeDef:
        """The operation as plain data, a ``NodeDef``."""
        return from_operation(self)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


def _caller() -> tuple[str, int]:
    """Return file and line of the nearest frame outside this package, where the program created the node."""
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_FORWARDING):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def name_scope(name: str | None) -> Any:
    """Prefix names in the default graph: `Graph.name_scope`; without a graph it has no effect.

    Args:
        name: the scope, as in `Graph.name_scope`.

    Returns:
        The context manager.
    """
    graph = current_graph()
    if not isinstance(name, str | None):
        raise ArgumentTypeError(f"name must be a text or None; got {brief(name)}")
    return nullcontext(f"{name}/") if graph is None else graph.name_scope(name)


def device(device_name: str | None) -> Any:
    """Request a device in the default graph: `Graph.device`; without a graph, for the ops of the block.

    An op that runs eagerly runs on the requested GPU if it has a kernel there. If it has none, or the machine
    has no such GPU, it runs on the CPU and a `SoftPlacementWarning` says so.

    Args:
        device_name: a device such as "/cpu:1", or None.

    Returns:
        The context manager.

    Raises:
        ValueError: if ``device_name`` is not that of a device.
    """
    graph = current_graph()
    if graph is not None:
        return graph.device(device_name)
    spec = DeviceSpec() if device_name is None else DeviceSpec.from_string(device_name)
    gpu = DeviceSpec("GPU", spec.device_index or 0) if spec.device_type == "GPU" else None
    if gpu is not None and gpu not in list_physical_devices("GPU"):
        why = backends.why_not("cupy") or "the machine has fewer GPUs"
        text = f"{device_name}: ops run on the CPU, because {gpu} does not exist: {why}"
        warn(text, SoftPlacementWarning)
        gpu = None
    return within(_eager_device, gpu)


_eager_device: ContextVar[DeviceSpec | None] = ContextVar("teachconv_eager_device", default=None)


def eager_device() -> DeviceSpec | None:
    """Return the GPU for ops that run eagerly, or None for the CPU."""
    return _eager_device.get()


def control_dependencies(control_inputs: Sequence[Any] | None) -> Any:
    """Order operations in the default graph: `Graph.control_dependencies`; without a graph it has no effect.

    Args:
        control_inputs: operations, tensors or variables, or None.

    Returns:
        The context manager.
    """
    graph = current_graph()
    return nullcontext() if graph is None else graph.control_dependencies(control_inputs)


def disable_v2_behavior() -> None:
    """Add ops to one default graph instead of running them, in the whole process, as TensorFlow 1 does.

    >>> from teachconv import graph as tg
    >>> tg.disable_v2_behavior()
    >>> with tg.Session() as session:
    ...     print(session.run(tg.constant(1.0) + 2.0))
    3.0
    >>> tg.enable_v2_behavior()
    """
    set_process_graph(process_graph() or Graph())


def enable_v2_behavior() -> None:
    """Run ops immediately again, after `disable_v2_behavior`."""
    set_process_graph(None)


def reset_default_graph() -> None:
    """Replace the default graph of the process by an empty one.

    Raises:
        ValueError: inside ``with graph.as_default():``, where that would have no effect.
    """
    if in_a_block():
        raise InvalidArgumentError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit "
            "the nesting and create a new graph."
        )
    if process_graph() is not None:
        set_process_graph(Graph())
