"""Runs one op immediately, without a graph, with the same definition, checks and kernel as in a graph.

TensorFlow: python/eager/execute.py and record.py, and TFE_Py_FastPathExecute behind them. `execute` hands
each op that ran to every active recorder of its thread, such as a gradient tape, as an `EagerOperation`. That
reads like a node of a graph, so one gradient engine walks both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ...support import record
from ...support.devices import to_host
from ...support.errors import ArgumentError, ArgumentTypeError, brief, plain, warn
from ...support.settings import within
from .. import kernels  # noqa: F401  (kernels fills the registry)
from ..framework.config import DeviceSpec
from ..framework.context import executing_eagerly
from ..framework.eager_tensor import EagerTensor, to_argument
from ..framework.errors import InvalidArgumentError, InvalidArgumentTypeError, SoftPlacementWarning
from ..framework.node_def import NodeDef
from ..framework.op_def import ArgDef, OpDef, attr_of, get_op_def
from ..framework.op_def_library import apply_op, check_attrs, element_type, packed
from ..framework.op_kernel import OpKernelContext, VariableRef, find_kernel, has_kernel
from ..framework.ops import eager_device
from ..framework.shape_inference import check_size, infer_shapes
from ..framework.tensor import Tensor, tensor_dtype
from ..kernels.gpu_ops import to_gpu

_NOTHING = OpKernelContext({})
_CPU = DeviceSpec("CPU", 0)
_OF_GRAPHS = ("Placeholder", "Variable")  # attributes that have no meaning without a run


def run_or_add(op_type: str, name: str | None, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """Do what each generated function does: run its op, or add a node if a graph is being built.

    Args:
        op_type, inputs, attrs: as in `execute`.
        name: the name of the node.

    Returns:
        What `execute` returns, or `apply_op`.
    """
    if executing_eagerly():
        return execute(op_type, inputs, attrs)
    return apply_op(op_type, name, inputs, attrs)


def execute(op_type: str, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """Run an op on eager tensors, variables, arrays or Python numbers.

    Args:
        op_type: the op's name.
        inputs: one value per input; an eager variable where the op takes a reference.
        attrs: the attributes by name.

    Returns:
        The result, an `EagerTensor` that owns its memory; the variable where the op returns its reference; a
        tuple of several outputs; None for an op without any.

    Raises:
        ValueError, TypeError: as in a graph, and if the op needs a graph.

    >>> execute("Add", [np.float32([1, 2]), 1.5], {})
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([2.5, 3.5], dtype=float32)>
    """
    op_def = get_op_def(op_type)
    if op_type in _OF_GRAPHS:
        raise InvalidArgumentError(
            f"{op_type} belongs to a graph and cannot run eagerly: build one inside `with "
            "graph.as_default():`"
        )
    try:
        args, values, checked = check_attrs(op_def, inputs, attrs)
    except ArgumentTypeError as error:
        raise InvalidArgumentTypeError(str(error)) from None
    taken = [_input(value, arg, op_def, checked) for value, arg in zip(values, args, strict=True)]
    given = [value for value, _, _ in taken]
    own = all(owned for _, _, owned in taken)
    node, device = _placed(op_type, args, checked)
    arrays = [_at(device, array, arg) for (_, array, _), arg in zip(taken, args, strict=True)]
    if not own and any(arg.is_ref for arg in args):  # a variable must not take over the caller's array
        arrays = [array.view() if isinstance(array, np.ndarray) else array for array in arrays]
    _check_shapes(op_def, arrays, checked)
    kernel_def = find_kernel(node, device.device_type or "")
    kernel = kernel_def.kernel(node, kernel_def.label)
    with record.stage(f"eager {op_type}") as stage, np.errstate(all="ignore"):
        stage.say("{}", kernel_def)
        stage.know(kernel=kernel_def)
        result = _computed(kernel, op_type, arrays)
    out_args = op_def.flat(op_def.outputs, checked)
    results = (result,) if len(out_args) == 1 else result
    outputs = tuple(
        _variable(value, given, arrays) if type(value) is VariableRef else _output(value, arrays, own, device)
        for value in results
    )
    for output in outputs:
        if type(output) is EagerTensor:
            output.made_by = op_type
    tapes = active_tapes()
    if tapes:
        inputs = tuple(
            _output(item, arrays, False) if isinstance(item, np.ndarray) else item for item in given
        )
        operation = EagerOperation(op_def, inputs, outputs, checked)
        for tape in tapes:
            tape.record(operation)
    return packed(op_def, outputs, None)


def _computed(kernel: Any, op_type: str, arrays: list[Any]) -> Any:
    """Return a kernel's result; what NumPy refuses is an `InvalidArgumentError`, as in a session."""
    try:
        return kernel.compute(_NOTHING, *arrays)
    except (ArgumentError, ArgumentTypeError):
        raise
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise InvalidArgumentError(f"{op_type}: {plain(error)}") from error


def _check_shapes(op_def: OpDef, arrays: list[Any], attrs: dict[str, Any]) -> None:
    """Raise `InvalidArgumentError` if the shapes of the inputs do not fit."""
    values = [None if type(array) is VariableRef else array for array in arrays]
    try:
        check_size(op_def, attrs, infer_shapes(op_def, [array.shape for array in arrays], values, attrs))
    except ArgumentError as error:  # when a node is added a ValueError, in a run InvalidArgumentError
        raise InvalidArgumentError(str(error)) from None


def _input(value: Any, arg: ArgDef, op_def: OpDef, checked: dict[str, Any]) -> tuple[Any, Any, bool]:
    """Return an input as the tape sees it and as the kernel does, and whether nobody else can write to it."""
    if isinstance(value, Tensor):
        raise ArgumentTypeError(
            f"{arg.name} of {op_def.name}: {brief(value.name)} is a tensor of a graph, and this op would run "
            "eagerly: use it inside `with graph.as_default():`"
        )
    if arg.is_ref:
        return value, _reference(value, arg, op_def), True
    if hasattr(value, "_graph_tensor"):  # a variable: its value
        value = value.read_value() if op_def.name != "Identity" else value
    elif isinstance(value, (list, tuple)) and tensor_dtype(value) is not None:
        value = execute("Pack", [value], {})
    what = f"{arg.name} of {op_def.name}"
    dtype = element_type(arg, checked, op_def)
    if type(value) is EagerTensor:
        same = dtype is None or dtype == value.dtype
        array, own = value._array if same else to_argument(value, dtype, what), True
    elif hasattr(value, "_graph_tensor"):
        array, own = _reference(value, arg, op_def).read(), True
    else:
        array = to_argument(value, dtype, what)
        own = not isinstance(value, (np.ndarray, np.generic)) and not hasattr(value, "__array__")
        value = array
    if dtype is None:
        checked[arg.type] = op_def.attr_by_name[arg.type].check(array.dtype, op_def.name)
    return value, array, own


def _reference(value: Any, arg: ArgDef, op_def: OpDef) -> VariableRef:
    """Return the storage of an eager variable."""
    ref = getattr(value, "_storage", None)
    if ref is None:
        raise ArgumentTypeError(
            f"{arg.name} of {op_def.name} must be a variable made eagerly; got {brief(value)}"
        )
    return ref


def _variable(ref: VariableRef, given: list[Any], arrays: list[Any]) -> Any:
    return next(variable for variable, array in zip(given, arrays, strict=True) if array is ref)


def _placed(op_type: str, args: Sequence[ArgDef], attrs: dict[str, Any]) -> tuple[NodeDef, DeviceSpec]:
    """Return the op as a node, and its device: the requested GPU if it has a kernel there, or the CPU."""
    gpu = eager_device()
    if gpu is not None and not any(arg.is_ref for arg in args):  # a variable made eagerly is on the CPU
        node = NodeDef(op_type, op_type, (), (), attrs, str(gpu), 0, "", 0)
        if has_kernel(node, "GPU"):
            return node, gpu
        warn(f"{op_type} has no kernel on {gpu}: it runs on the CPU", SoftPlacementWarning)
    return NodeDef(op_type, op_type, (), (), attrs, "", 0, "", 0), _CPU


def _at(device: DeviceSpec, array: Any, arg: ArgDef) -> Any:
    """Return an input in the memory of a device."""
    if device.device_type == "GPU":
        # what has a type of its own, such as sizes, stays on the host: TensorFlow's HostMemory
        return to_gpu(array, str(device)) if arg.type == "T" else array
    return array if isinstance(array, (np.ndarray, VariableRef)) else to_host(array)


def _output(result: Any, arrays: list[Any], own: bool, device: DeviceSpec = _CPU) -> EagerTensor:
    """Return a result as a tensor; a copy if it shares memory with an array that the caller can write to."""
    if device.device_type == "GPU":
        return EagerTensor(result, str(device))
    if not isinstance(result, np.ndarray):
        result = np.asarray(result)
    elif not own and (result.base is not None or any(result is array for array in arrays)):
        result = result.copy()
    return EagerTensor(result)


class EagerOperation:
    """One op that ran eagerly, with the reading interface of an `Operation`.

    Attributes:
        op_def: the op's definition.
        inputs: the inputs: eager tensors; a variable where the op read or assigned one.
        outputs: the eager tensors that it returned.
        attrs: the attributes by name.
    """

    __slots__ = ("attrs", "inputs", "op_def", "outputs")

    def __init__(
        self, op_def: OpDef, inputs: tuple[Any, ...], outputs: tuple[Any, ...], attrs: Mapping[str, Any]
    ):
        self.op_def, self.inputs, self.outputs, self.attrs = op_def, inputs, outputs, attrs

    @property
    def type(self) -> str:
        """The name of the op."""
        return self.op_def.name

    name = type  # what runs eagerly has no name of its own

    def get_attr(self, name: str) -> Any:
        """Return the value of an attribute; raise ``ValueError`` if there is none of that name."""
        return attr_of(self, name)

    def __repr__(self) -> str:
        return f"<EagerOperation type={self.type}>"


_tapes: ContextVar[tuple[Any, ...]] = ContextVar("teachconv_tapes", default=())


def active_tapes() -> tuple[Any, ...]:
    """Return the `GradientTape`s that record in this thread or asyncio task, the innermost last."""
    return _tapes.get()


def recorded_by(tape: Any) -> AbstractContextManager[None]:
    """Within the block, hand the ops that this thread or task runs to ``tape`` too."""
    return within(_tapes, (*active_tapes(), tape))
