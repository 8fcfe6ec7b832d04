"""What a shape function is given: shapes, what is known about values; and kernels that ask one in a run.

TensorFlow: core/framework/shape_inference.h, core/common_runtime/shape_refiner.cc and eval_const_tensor.cc;
in Python, constant_value and constant_value_as_shape in python/framework/tensor_util.py. ``tf.shape(x)[0]``
is not known where the batch is not, but ``tf.stack([tf.shape(x)[0], 8, 8, 3])`` is known to be [?, 8, 8, 3],
and so is the shape of a tensor that is reshaped to it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any, TypeVar

import numpy as np

from ...errors import ArgumentError, brief
from ...memory import check_memory
from .node_def import NodeDef, from_operation
from .op_def import OpDef, get_op_def
from .op_kernel import OpKernel, OpKernelContext, find_kernel, register_kernel
from .tensor_shape import StaticShape, as_shape, is_compatible, is_fully_defined, text

_MAX_NODES = 64  # larger computations are left to the run
_MAX_DEPTH = 32
_MAX_ELEMENTS = 1 << 16


@dataclass(frozen=True, slots=True)
class InferenceContext:
    """The arguments of a shape function. TensorFlow: core/framework/shape_inference.h.

    Attributes:
        op: the name of the op.
        shapes: the static shapes of the inputs.
        values: the values of inputs that are known before the run, None for the others. The shape of
            Reshape's result, for example, depends on the value of its input ``shape``.
        attrs: the attributes by name.
    """

    op: str
    shapes: Sequence[StaticShape]
    values: Sequence[np.ndarray | None] | Values
    attrs: Mapping[str, Any]

    def with_rank(self, index: int, rank: int, what: str) -> tuple[int | None, ...]:
        """Return the shape of an input that must have ``rank`` axes; raise ``ValueError`` if it has not."""
        shape = self.shapes[index]
        if shape is None:
            return (None,) * rank
        if len(shape) != rank:
            raise ArgumentError(f"{what} of {self.op} must have {rank} axes; got shape {text(shape)}")
        return shape

    def shape_value(self, index: int, what: str, size: int | None = None) -> StaticShape:
        """Return the value of an input that holds sizes, as far as it is known; -1 stays -1.

        Args:
            index: the number of the input, a vector of int32 or int64.
            what: its name, for messages.
            size: how many sizes it must hold; None for any number.

        Returns:
            The sizes, None for one that is not known before the run; None if nothing is known.

        Raises:
            ValueError: if the input is no vector, or holds another number of sizes.
        """
        given = self.with_rank(index, 1, what)
        if size is not None and not is_compatible(given, (size,)):
            raise ArgumentError(f"{what} of {self.op} must hold {size} sizes; got shape {text(given)}")
        found: StaticShape
        if isinstance(self.values, Values):
            found = self.values.as_shape(index)
        else:
            value = self.values[index]
            found = None if value is None else tuple(int(each) for each in value)
        length = given[0] if size is None else size
        return (None,) * length if found is None and length is not None else found

    def int_value(self, index: int) -> int | None:
        """Return the value of an input that is a single integer, or None if it is not known."""
        value = self.values[index]
        if value is not None and (np.size(value) != 1 or np.asarray(value).dtype.kind not in "iu"):
            raise ArgumentError(f"input {index} of {self.op} must be one integer; got {brief(value)}")
        return None if value is None else int(np.reshape(value, ()))


class Values:
    """The values of tensors as a shape function asks for them: computed when they are, None where not known.

    Args:
        tensors: the tensors.
    """

    def __init__(self, tensors: Sequence[Any]) -> None:
        self.tensors = tensors

    def __getitem__(self, index: int) -> Any:
        return constant_value(self.tensors[index])

    def as_shape(self, index: int) -> StaticShape:
        """Return the value of a vector of sizes as far as it is known."""
        return constant_value_as_shape(self.tensors[index])


_Known = dict[tuple[int, int], "np.ndarray | None"]  # by operation and output


def constant_value(tensor: Any, known: _Known | None = None) -> np.ndarray | None:
    """Return the value of a tensor of a graph that depends on constants and known shapes only.

    Args:
        tensor: the tensor.
        known: what was found on the way to it already, or None.

    Returns:
        The value, computed by the kernels that would run; None if it is not known before the run, or takes
        more than a few nodes.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     x = tg.placeholder("float32", [None, 4])
    ...     constant_value(tg.shape(x)[1] * 2), constant_value(tg.shape(x)[0])
    (array(8, dtype=int32), None)
    """
    known = {} if known is None else known
    key = id(tensor.op), tensor.index
    if key not in known:
        known[key] = None  # while it is computed, and where it cannot be
        found = _at_once(tensor)
        known[key] = _computed(tensor, known) if found is None else found
    return known[key]


def _computed(tensor: Any, known: _Known) -> np.ndarray | None:
    """Return what the kernel of a node gives for inputs that are known, or None."""
    op = tensor.op
    if not op.inputs or op.op_def.is_stateful or op.control_inputs or len(known) > _MAX_NODES:
        return None
    inputs = []
    for each in op.inputs:
        value = None if each.is_ref else constant_value(each, known)
        if value is None or value.size > _MAX_ELEMENTS:
            return None
        inputs.append(value)
    result = run_on_constants(from_operation(op), inputs)
    return None if result is None else np.asarray(result if len(op.outputs) == 1 else result[tensor.index])


def known_value(tensor: Any) -> np.ndarray | None:
    """Return the value of an eager tensor, or of a tensor of a graph if it is known before the run."""
    return np.asarray(tensor) if hasattr(tensor, "numpy") else constant_value(tensor)


def _at_once(tensor: Any) -> np.ndarray | None:
    """Return a value that takes no kernel: a constant's or a known shape, or None."""
    op = tensor.op
    if op.type == "Const":
        value: np.ndarray = op.attrs["value"]
        return value
    if op.type in ("Shape", "Size", "Rank", "ShapeN"):
        shape = as_shape(op.inputs[tensor.index].shape)
        if op.type == "Rank":
            return None if shape is None else np.array(len(shape), tensor.dtype)
        if is_fully_defined(shape):
            return np.array(shape if op.type != "Size" else int(np.prod(shape)), tensor.dtype)  # type: ignore[arg-type]
    if op.type == "StridedSlice" and op.inputs[0].op.type == "Shape":  # one size of a shape in part unknown
        part = _part(op, 0)
        if isinstance(part, int):
            return np.array(part, tensor.dtype)
    return None


def run_on_constants(node: NodeDef, inputs: list[np.ndarray], label: str = "") -> Any:
    """Return what the kernel of a node gives for values known before the run; None where it fails."""
    try:
        kernel_def = find_kernel(node, "CPU", label)
        with np.errstate(all="ignore"):
            return kernel_def.kernel(node, kernel_def.label).compute(OpKernelContext({}), *inputs)
    except Exception:  # the run will raise it again, with the node's name
        return None


def constant_value_as_shape(tensor: Any, depth: int = 0) -> StaticShape:
    """Return the value of a vector of sizes as a static shape, with None for a size that is not known.

    It looks through Shape, Pack, ConcatV2, StridedSlice, Slice, Cast and Identity.

    Args:
        tensor: an int32 or int64 vector of a graph.
        depth: how deep this call is in such ops.

    Returns:
        The static shape; -1 stays -1. None if not even the number of sizes is known.
    """
    known = constant_value(tensor)
    if known is not None:
        return tuple(int(size) for size in known)
    op = tensor.op
    if op.type in ("Shape", "ShapeN"):
        return as_shape(op.inputs[tensor.index].shape)
    found: StaticShape = None
    if depth < _MAX_DEPTH:
        if op.type == "Pack" and op.attrs["axis"] in (0, -1):
            found = tuple(_size(each, depth + 1) for each in op.inputs)
        elif op.type == "ConcatV2":
            parts = [constant_value_as_shape(each, depth + 1) for each in op.inputs[:-1]]
            if None not in parts:
                found = tuple(size for part in parts for size in part)  # type: ignore[union-attr]
        elif op.type in ("Cast", "Identity"):
            found = constant_value_as_shape(op.inputs[0], depth + 1)
        elif op.type in ("StridedSlice", "Slice"):
            part = _part(op, depth)
            found = part if isinstance(part, tuple) else None
    if found is not None:
        return found
    length = as_shape(tensor.shape)
    return None if not length or length[0] is None else (None,) * length[0]


def _size(tensor: Any, depth: int) -> int | None:
    """Return one size, a scalar, if it is known."""
    known = constant_value(tensor)
    if known is not None:
        return int(known)
    op = tensor.op
    if depth < _MAX_DEPTH and op.type in ("Cast", "Identity"):
        return _size(op.inputs[0], depth + 1)
    if depth < _MAX_DEPTH and op.type == "StridedSlice":
        part = _part(op, depth)
        return part if isinstance(part, int) else None
    return None


def _part(op: Any, depth: int) -> Any:
    """Return the part of a shape that a StridedSlice or a Slice takes: sizes, one size, or None."""
    whole = constant_value_as_shape(op.inputs[0], depth + 1)
    bounds = [constant_value(each) for each in op.inputs[1:]]
    if whole is None or any(bound is None or bound.shape != (1,) for bound in bounds):
        return None
    first, last, *step = (int(bound[0]) for bound in bounds if bound is not None)
    if op.type == "Slice":
        return whole[first : None if last == -1 else first + last]
    attrs = op.attrs
    if attrs["shrink_axis_mask"]:
        return whole[first] if -len(whole) <= first < len(whole) else None
    if attrs["ellipsis_mask"] or attrs["new_axis_mask"]:
        return None
    return whole[None if attrs["begin_mask"] else first : None if attrs["end_mask"] else last : step[0]]


def check_size(op_def: OpDef, attrs: Mapping[str, Any], shapes: Sequence[StaticShape]) -> None:
    """Raise ``MemoryError`` if a result of known shape would not fit into memory."""
    for shape, dtype in zip(shapes, op_def.output_dtypes(attrs), strict=True):
        if shape is not None and None not in shape:
            check_memory(shape, dtype, f"the result of {op_def.name}")  # type: ignore[arg-type]


class InferringKernel(OpKernel):
    """The base of kernels whose result's shape depends on values, or whose inputs must fit each other."""

    def infer(self, *inputs: Any) -> Any:
        """Return the shapes of the outputs for these inputs.

        Raises:
            ValueError: if the inputs do not fit.
            MemoryError: if an output would not fit into memory.
        """
        op_def, attrs = get_op_def(self.node.op), self.node.attrs
        context = InferenceContext(op_def.name, [array.shape for array in inputs], inputs, attrs)
        shapes = op_def.shape_fn(context)
        check_size(op_def, attrs, shapes)
        return shapes


class FunctionKernel(InferringKernel):
    """A kernel that a function of the inputs defines; `register_function` makes one.

    Attributes:
        function: takes the inputs and, by keyword, what it names: attributes of the op, or all of them as
            ``attrs``; ``out_shape``, the shape of the only output, from the op's shape function; ``context``,
            the state of the run.
        infers: whether the shape function must accept the inputs first.
    """

    function: Callable[..., Any]
    infers = False
    _named: frozenset[str] = frozenset()

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        facts = {**node.attrs, "attrs": node.attrs} if self._named else {}
        given = {name: facts[name] for name in self._named if name in facts}
        self._function = partial(type(self).function, **given) if given else type(self).function

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the function of the inputs."""
        given: dict[str, Any] = {"context": context} if "context" in self._named else {}
        if self.infers:
            shapes = self.infer(*inputs)
            if "out_shape" in self._named:
                (given["out_shape"],) = shapes
        return self._function(*inputs, **given)


_F = TypeVar("_F", bound=Callable[..., Any])


def register_function(
    *ops: str,
    device: str = "CPU",
    name: str = "",
    infers: bool = False,
    base: type[FunctionKernel] = FunctionKernel,
    place: tuple[str, int] | None = None,
) -> Callable[[_F], _F]:
    """Decorate a function to register it as the kernel of an op; the kernel's class is made of it.

    Args:
        *ops: the names of the ops.
        device: the kind of device.
        name: the name of the class, as in TensorFlow; "" for that of the last op with Op at its end.
        infers: as in `FunctionKernel`; so is it, too, where the function takes ``out_shape``.
        base: what the class inherits.
        place: as in `register_kernel`; None for the function's.

    Returns:
        The decorator.
    """

    def register(function: _F) -> _F:
        parameters = inspect.signature(function).parameters if isinstance(function, FunctionType) else {}
        named = frozenset(key for key, each in parameters.items() if each.kind is each.KEYWORD_ONLY)
        facts = {
            "function": staticmethod(function),
            "infers": infers or "out_shape" in named,
            "_named": named,
        }
        kernel = type(name or f"{ops[-1]}Op", (base,), {"__doc__": function.__doc__, **facts})
        code = getattr(function, "__code__", None)
        for op in ops:
            register_kernel(op, device, place=place or (code.co_filename, code.co_firstlineno))(kernel)  # type: ignore[union-attr]
        return function

    return register
