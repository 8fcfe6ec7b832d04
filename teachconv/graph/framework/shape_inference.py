"""The inputs of a shape function (shapes and known values), and kernels that call one during a run.

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

from ...core.dtypes import is_integer
from ...support.errors import ArgumentError, brief
from ...support.memory import check_memory
from .node_def import NodeDef, from_operation
from .op_def import OpDef, get_op_def
from .op_kernel import OpKernel, OpKernelContext, find_kernel, register_kernel
from .tensor_shape import StaticShape, as_shape, is_compatible, is_fully_defined, text

_MAX_NODES = 64  # larger computations are left to the run
_MAX_ELEMENTS = 1 << 16
# ops that only move elements: their kernels also accept arrays in which some elements are unknown
_MOVERS = ("ConcatV2", "ExpandDims", "GatherV2", "Identity", "Pack", "Reshape", "Slice", "StridedSlice")


class UnknownShapeError(Exception):
    """Ends a shape function that asks for something that is not known before the run.

    Attributes:
        shape: what is still known of the shape of each output.
    """

    def __init__(self, shape: StaticShape = None):
        self.shape = shape


@dataclass(frozen=True, slots=True)
class InferenceContext:
    """The arguments of a shape function. TensorFlow: core/framework/shape_inference.h.

    Attributes:
        op: the name of the op.
        shapes: the static shapes of the inputs.
        values: the values of the inputs as far as they are known before the run: `partial_value`. The shape
            of Reshape's result, for example, depends on the value of its input ``shape``.
        attrs: the attributes by name.
    """

    op: str
    shapes: Sequence[StaticShape]
    values: Sequence[np.ndarray | None] | Values | _Asked
    attrs: Mapping[str, Any]

    def shape(self, index: int) -> tuple[int | None, ...]:
        """Return the shape of an input; end the shape function where its number of axes is not known."""
        shape = self.shapes[index]
        if shape is None:
            raise UnknownShapeError
        return shape

    def with_rank(self, index: int, rank: int, what: str) -> tuple[int | None, ...]:
        """Return the shape of an input that must have ``rank`` axes; raise ``ValueError`` if it does not."""
        shape = self.shapes[index]
        if shape is None:
            return (None,) * rank
        if len(shape) != rank:
            raise ArgumentError(f"{what} of {self.op} must have {rank} axes; got shape {text(shape)}")
        return shape

    def value(self, index: int, axes: int | None = None) -> np.ndarray:
        """Return the value of an input; where it is not known, end the shape function.

        Args:
            index: the number of the input.
            axes: how many axes each output has, whatever the value is; None if that depends on it.
        """
        value = _if_known(self.values[index])
        if value is None:
            raise UnknownShapeError(None if axes is None else (None,) * axes)
        return value

    def int_value(self, index: int, axes: int | None = None) -> int:
        """Return the `value` of an input that is a single integer."""
        value = self.value(index, axes)
        if np.size(value) != 1 or np.asarray(value).dtype.kind not in "iu":
            raise ArgumentError(f"input {index} of {self.op} must be one integer; got {brief(value)}")
        return int(np.reshape(value, ()))

    def shape_value(self, index: int, what: str, size: int | None = None) -> StaticShape:
        """Return the value of an input that holds sizes, as far as it is known; -1 stays -1.

        Args:
            index: the number of the input, a vector of int32 or int64.
            what: its name, for messages.
            size: how many sizes it must hold; None for any number.

        Returns:
            The sizes, None for one that is not known before the run; None if nothing is known.

        Raises:
            ValueError: if the input is not a vector, or has a different number of sizes.
        """
        given = self.with_rank(index, 1, what)
        if size is not None and not is_compatible(given, (size,)):
            raise ArgumentError(f"{what} of {self.op} must hold {size} sizes; got shape {text(given)}")
        value = self.values[index]
        if value is None:
            return None if size is None else (None,) * size
        return tuple(None if each is None else int(each) for each in value)


@dataclass(slots=True)
class Values:
    """The values of tensors as a shape function asks for them: computed when they are.

    Args:
        tensors: the tensors.
    """

    tensors: Sequence[Any]

    def __getitem__(self, index: int) -> Any:
        return partial_value(self.tensors[index])


@dataclass(slots=True)
class _Asked:
    """The values of a kernel's inputs; they note whether the shape function depends on one of them."""

    inputs: Sequence[Any]
    some: bool = False

    def __getitem__(self, index: int) -> Any:
        self.some = True
        return self.inputs[index]


def infer_shapes(
    op_def: OpDef,
    shapes: Sequence[StaticShape],
    values: Sequence[np.ndarray | None] | Values | _Asked,
    attrs: Mapping[str, Any],
) -> list[StaticShape]:
    """Return the static shapes of an op's outputs.

    Args:
        op_def: the op.
        shapes, values, attrs: as in `InferenceContext`.

    Returns:
        A shape for each output.

    Raises:
        ValueError: if the inputs do not fit.
    """
    try:
        return op_def.shape_fn(InferenceContext(op_def.name, shapes, values, attrs))
    except UnknownShapeError as unknown:
        return [unknown.shape] * len(op_def.flat(op_def.outputs, attrs))


_Known = dict[tuple[int, int], "np.ndarray | None"]  # by operation and output


def _if_known(value: np.ndarray | None) -> np.ndarray | None:
    return None if value is None or value.dtype == object else value


def known_value(tensor: Any) -> np.ndarray | None:
    """Return the value of an eager tensor, or of a tensor of a graph if it is known before the run.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     x = tg.placeholder("float32", [None, 4])
    ...     known_value(tg.shape(x)[1] * 2), known_value(tg.shape(x)[0])
    (array(8, dtype=int32), None)
    """
    return np.asarray(tensor) if hasattr(tensor, "numpy") else _if_known(partial_value(tensor))


def partial_value(tensor: Any, known: _Known | None = None) -> np.ndarray | None:
    """Return the value of a tensor of a graph as far as constants and known shapes say it.

    Args:
        tensor: the tensor.
        known: what was found on the way to it already, or None.

    Returns:
        The value, computed by the kernels that would run. Of sizes some of which are not known before the
        run, an array of objects with None for those; None if nothing is known, or it takes more than a few
        nodes.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     partial_value(tg.stack([tg.shape(tg.placeholder("float32", [None, 4]))[0], 8, 8, 3]))
    array([None, 8, 8, 3], dtype=object)
    """
    known = {} if known is None else known
    key = id(tensor.op), tensor.index
    if key not in known:
        known[key] = None  # while it is computed
        found = _computed(tensor, known)
        known[key] = _unknown(tensor) if found is None else found
    return known[key]


def _unknown(tensor: Any) -> np.ndarray | None:
    """Return a value of which no element is known, if it may hold sizes and their number is known."""
    shape = as_shape(tensor.shape)
    few = is_fully_defined(shape) and np.prod(shape) <= _MAX_NODES  # type: ignore[arg-type]
    return np.full(shape, None) if few and is_integer(tensor.dtype) else None  # type: ignore[arg-type]


def _computed(tensor: Any, known: _Known) -> np.ndarray | None:
    """Return a constant, a shape, or what the kernel of a node gives for inputs that are known; or None."""
    op = tensor.op
    if op.type in ("Shape", "Size", "ShapeN"):
        return _of_shape(op.type, as_shape(op.inputs[tensor.index].shape), tensor.dtype)
    if op.type != "Const" and (
        not op.inputs or op.op_def.is_stateful or op.control_inputs or len(known) > _MAX_NODES
    ):
        return None
    inputs = []
    for each in op.inputs:
        value = None if each.is_ref else partial_value(each, known)
        if value is None or value.size > _MAX_ELEMENTS:
            return None
        inputs.append(value)
    if any(value.dtype == object for value in inputs):
        if op.type == "Cast":  # of sizes, which stay what they are
            return inputs[0]
        if op.type not in _MOVERS:
            return None
    result = run_on_constants(from_operation(op), inputs)
    if result is None:
        return None
    found = np.asarray(result if len(op.outputs) == 1 else result[tensor.index])
    one_size = found.dtype == object and not found.ndim and found[()] is not None
    return found.astype(tensor.dtype) if one_size else found  # several stay what they are, as in TensorFlow


def _of_shape(op_type: str, shape: StaticShape, dtype: np.dtype[Any]) -> np.ndarray | None:
    """Return what Shape or Size gives for a tensor of a static shape, as far as that is known."""
    if shape is None:
        return None
    sizes = np.array(shape, object if None in shape else dtype)
    if op_type != "Size":
        return sizes
    return None if None in shape else np.array(sizes.prod(), dtype)


def run_on_constants(node: NodeDef, inputs: list[np.ndarray], label: str = "") -> Any:
    """Return what the kernel of a node gives for values known before the run; None where it fails."""
    try:
        kernel_def = find_kernel(node, "CPU", label)
        with np.errstate(all="ignore"):
            return kernel_def.kernel(node, kernel_def.label).compute(OpKernelContext({}), *inputs)
    except Exception:  # the run will raise it again, with the node's name
        return None


def check_size(op_def: OpDef, attrs: Mapping[str, Any], shapes: Sequence[StaticShape]) -> None:
    """Raise ``MemoryError`` if a result of known shape would not fit into memory."""
    for shape, dtype in zip(shapes, op_def.output_dtypes(attrs), strict=True):
        if shape is not None and None not in shape:
            check_memory(shape, dtype, f"the result of {op_def.name}")  # type: ignore[arg-type]


class FunctionKernel(OpKernel):
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
    _inferred: tuple[Any, Any] = (None, [])  # from the last shapes of inputs whose values do not matter

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        facts = {**node.attrs, "attrs": node.attrs} if self._named else {}
        given = {name: facts[name] for name in self._named if name in facts}
        self._function = partial(type(self).function, **given) if given else type(self).function

    def infer(self, *inputs: Any) -> Any:
        """Return the shapes of the outputs for these inputs.

        Raises:
            ValueError: if the inputs do not fit.
            MemoryError: if an output would not fit into memory.
        """
        op_def, attrs, given = get_op_def(self.node.op), self.node.attrs, [array.shape for array in inputs]
        known, shapes = self._inferred
        if known != given:
            values = _Asked(inputs)
            shapes = infer_shapes(op_def, given, values, attrs)
            if not values.some:
                self._inferred = given, shapes
        check_size(op_def, attrs, shapes)
        return shapes

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
