"""Op definitions: the name of an op, its inputs and outputs, and its attributes.

TensorFlow: core/framework/op_def.proto defines the fields, core/framework/op.h the registry, and
op_def_builder.cc parses the specification strings. This module parses the same strings:
``"input: T"``, ``"strides: list(int)"``, ``"data_format: {'NHWC', 'NCHW'} = 'NHWC'"``.

An op definition does not say how the op is computed; kernels do (op_kernel.py). The definitions are in
core_ops/.
"""

from __future__ import annotations

import ast
import difflib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ...core.arguments import integer
from ...core.dtypes import FLOATS, INTEGERS, to_dtype
from ...support.errors import ArgumentError, ArgumentTypeError, brief, check_word, suggestion
from .tensor_shape import StaticShape, as_shape

TYPE_LISTS = {  # the names for several dtypes in the definition of an op
    "floattype": FLOATS,
    "numbertype": FLOATS + INTEGERS,
    "realnumbertype": (*FLOATS, *INTEGERS, "uint8"),  # where TensorFlow has a kernel for uint8, too
    "type": (*FLOATS, *INTEGERS, "uint8", "bool"),
}
# TensorFlow's names -> NumPy's
DATA_TYPES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    **{name: name for name in TYPE_LISTS["type"]},
}
ATTR_TYPES = (
    "type",
    "string",
    "bool",
    "int",
    "shape",
    "tensor",
    "func",
    "list(int)",
    "list(string)",
    "list(type)",
)


@dataclass(frozen=True, slots=True)
class ArgDef:
    """One input or output of an op.

    Attributes:
        name: its name.
        type: a dtype, or the name of the attribute that determines the dtype; with an attribute of the type
            list(type), the argument is a list with one tensor for each.
        is_ref: whether it is a reference to a variable.
        number: the name of the attribute that counts the tensors, if the argument is a list of one type.
    """

    name: str
    type: str
    is_ref: bool = False
    number: str = ""

    def __str__(self) -> str:
        kind = f"{self.number} * {self.type}" if self.number else self.type
        return f"{self.name}: {f'Ref({kind})' if self.is_ref else kind}"


@dataclass(frozen=True, slots=True)
class AttrDef:
    """One attribute of an op.

    Attributes:
        name: its name.
        type: one of `ATTR_TYPES`.
        allowed: the allowed values; empty if there is no restriction.
        has_default: False if the caller must give a value or the value is inferred from the inputs.
        default: the default value.
    """

    name: str
    type: str
    allowed: tuple[str, ...] = ()
    has_default: bool = False
    default: Any = None

    def __str__(self) -> str:
        kind = "{" + ", ".join(self.allowed) + "}" if self.allowed else self.type
        return f"{self.name}: {kind}" + (f" = {self.default!r}" if self.has_default else "")

    def check(self, value: Any, op: str) -> Any:
        """Return ``value`` converted to the form that nodes store.

        Args:
            value: the value given by the caller.
            op: the name of the op, for messages.

        Returns:
            The converted value.

        Raises:
            ValueError, TypeError: if the value is not allowed.
        """
        where = f"attribute {self.name} of {op}"
        if self.type == "type":
            value = value if isinstance(value, np.dtype) else as_dtype(value)
            if _name_of(value) not in self.allowed:
                raise ArgumentTypeError(f"{where} must be one of {', '.join(self.allowed)}; got {value.name}")
        elif self.type == "int":
            value = integer(value, where)
        elif self.type == "shape":
            value = as_shape(value, where)
        elif self.type in _PYTHON:
            kinds, what = _PYTHON[self.type]
            if not isinstance(value, kinds):
                raise ArgumentTypeError(f"{where} must be {what}; got {brief(value)}")
            if self.allowed:
                check_word(value, where, self.allowed)
            value = kinds[0](value)
        elif self.type.startswith("list("):
            if isinstance(value, (str, bytes, dict, set)) or not hasattr(value, "__iter__"):
                raise ArgumentTypeError(f"{where} must be a {self.type}; got {brief(value)}")
            converters: dict[str, Callable[[Any], Any]] = {"list(string)": str, "list(type)": as_dtype}
            value = tuple(value)
            if self.type in converters:
                value = tuple(map(converters[self.type], value))
            elif not all(type(item) is int and item in _USUAL for item in value):
                value = tuple(integer(item, where) for item in value)
        return value


_USUAL = range(-(1 << 31), 1 << 31)
_PYTHON: dict[str, tuple[tuple[type, ...], str]] = {
    "string": ((str,), "a string"),
    "bool": ((bool, np.bool_), "True or False"),
}


@lru_cache(maxsize=64)
def _name_of(dtype: np.dtype[Any]) -> str:
    """Return the name of a dtype; cached, because NumPy builds the text on every access."""
    return dtype.name


ShapeFunction = Callable[..., list[StaticShape]]  # of an InferenceContext; one for each output


@dataclass(frozen=True, slots=True)
class OpDef:
    """The definition of an op.

    Attributes:
        name: the op's name in CamelCase.
        inputs: the inputs.
        outputs: the outputs.
        attrs: the attributes.
        shape_fn: the function that computes the static shapes of the outputs, a list of one for each.
        summary: one sentence.
        is_stateful: whether a run can have side effects or a result that is not determined by the inputs.
        file: the source file that registers the op.
        line: the line in that file.
        function: the NumPy function that computes an element-wise op; None if a kernel of its own does.
        attr_by_name: the attributes by name.
    """

    name: str
    inputs: tuple[ArgDef, ...]
    outputs: tuple[ArgDef, ...]
    attrs: tuple[AttrDef, ...]
    shape_fn: ShapeFunction
    summary: str
    is_stateful: bool = False
    file: str = ""
    line: int = 0
    function: Callable[..., Any] | None = None
    attr_by_name: dict[str, AttrDef] = field(default_factory=dict, repr=False, compare=False)

    @property
    def gradient(self) -> Callable[..., Any] | None:
        """The op's gradient function, or None if it has none."""
        return GRADIENTS.get(self.name)

    @property
    def inferred_attrs(self) -> frozenset[str]:
        """The type attributes that are inferred from the inputs instead of given by the caller."""
        found = {name for arg in self.inputs for name in (arg.type, arg.number)}
        return frozenset(found & self.attr_by_name.keys())

    def is_list(self, arg: ArgDef) -> bool:
        """Return whether an input or output is a list of tensors."""
        attr = self.attr_by_name.get(arg.type)
        return bool(arg.number) or (attr is not None and attr.type == "list(type)")

    def flat(self, args: tuple[ArgDef, ...], attrs: Mapping[str, Any]) -> tuple[ArgDef, ...]:
        """Return one definition for each tensor of a node: lists are written out.

        Args:
            args: the op's inputs or outputs.
            attrs: the attributes of the node.

        Returns:
            The inputs or outputs of the node, in order.
        """
        if not any(map(self.is_list, args)):
            return args
        flat: list[ArgDef] = []
        for arg in args:
            if arg.number:
                flat += [arg] * attrs[arg.number]
            elif self.is_list(arg):
                flat += [ArgDef(arg.name, dtype.name, arg.is_ref) for dtype in attrs[arg.type]]
            else:
                flat.append(arg)
        return tuple(flat)

    def output_dtypes(self, attrs: Mapping[str, Any]) -> list[np.dtype[Any]]:
        """Return the dtype of each output of a node with these attributes."""
        return [attrs.get(arg.type) or as_dtype(arg.type) for arg in self.flat(self.outputs, attrs)]

    def __str__(self) -> str:
        lines = (
            f"op {self.name}{' (stateful)' if self.is_stateful else ''}: {self.summary}",
            *(f"  input   {arg}" for arg in self.inputs),
            *(f"  output  {arg}" for arg in self.outputs),
            *(f"  attr    {attr}" for attr in self.attrs),
            f"  shape   {getattr(self.shape_fn, '__name__', self.shape_fn)}",
            f"  grad    {getattr(self.gradient, '__name__', 'none')}",
        )
        return "\n".join(lines)


REGISTRY: dict[str, OpDef] = {}
GRADIENTS: dict[str, Callable[..., Any] | None] = {}  # which RegisterGradient fills


def define_op(
    name: str,
    *,
    inputs: Sequence[str] = (),
    outputs: Sequence[str] = (),
    attrs: Sequence[str] = (),
    shape_fn: ShapeFunction,
    summary: str,
    is_stateful: bool = False,
    function: Callable[..., Any] | None = None,
    depth: int = 1,
) -> OpDef:
    """Return the definition of an op: a row of the tables in core_ops/.

    Args:
        name: the op's name in CamelCase.
        inputs: specifications of the inputs, such as "input: T".
        outputs: specifications of the outputs.
        attrs: specifications of the attributes, such as "strides: list(int)".
        shape_fn: the shape function.
        summary: one sentence.
        is_stateful: whether the op has side effects or state.
        function: for an element-wise op, the NumPy function that computes it.
        depth: how many calls up the file and the line are.

    Returns:
        The definition, with file and line of the caller.

    >>> from teachconv import graph as tg
    >>> print(tg.get_op_def("Relu"))
    op Relu: Returns max(features, 0) element-wise; NaN stays NaN.
      input   features: T
      output  activations: T
      attr    T: {float16, bfloat16, float32, float64, int32, int64, uint8}
      shape   unchanged_shape
      grad    _relu_grad
    """
    caller = sys._getframe(depth)
    parsed = tuple(parse_attr(attr) for attr in attrs)
    return OpDef(
        name,
        tuple(parse_arg(arg) for arg in inputs),
        tuple(parse_arg(arg) for arg in outputs),
        parsed,
        shape_fn,
        summary,
        is_stateful,
        caller.f_code.co_filename,
        caller.f_lineno,
        function,
        {attr.name: attr for attr in parsed},
    )


def register_ops(op_defs: Iterable[OpDef]) -> None:
    """Add definitions to the registry, as TensorFlow's REGISTER_OP macro does.

    Args:
        op_defs: the definitions.

    Raises:
        ValueError: if an op of that name is already registered.
    """
    for op_def in op_defs:
        known = REGISTRY.setdefault(op_def.name, op_def)
        if known is not op_def:
            raise ArgumentError(f"op {brief(op_def.name)} is registered already, at {known.file}")


def get_op_def(name: str) -> OpDef:
    """Return the definition of an op.

    Args:
        name: the op's name, such as "Conv2D".

    Returns:
        The definition.

    Raises:
        ValueError: if there is no op of that name; the message suggests similar names.
    """
    try:
        return REGISTRY[name]
    except (KeyError, TypeError):
        near = difflib.get_close_matches(str(name), REGISTRY, 3) or sorted(REGISTRY)
        raise ArgumentError(f"there is no op {brief(name)}; did you mean {' or '.join(near)}?") from None


def attr_of(op: Any, name: str) -> Any:
    """Return an attribute of an operation of either kind; raise ``ValueError`` if it does not exist."""
    if name not in op.attrs:
        have = ", ".join(sorted(op.attrs)) or "none"
        raise ArgumentError(f"{op.type} has no attribute {brief(name)}; it has {have}")
    return op.attrs[name]


# ---------------------------------------------------------------------------------------------
# Dtypes: NumPy's, under the names that TensorFlow knows. TensorFlow: python/framework/dtypes.py
# ---------------------------------------------------------------------------------------------


def as_dtype(type_value: Any) -> np.dtype[Any]:
    """Return the dtype that a name, a type of NumPy's, float, bool or a dtype stands for.

    Args:
        type_value: such as "float32", float, numpy.float32 or tf.float32.

    Returns:
        A NumPy dtype.

    Raises:
        TypeError: if it is not one of these. As in TensorFlow, int is not.

    >>> as_dtype("half"), as_dtype(float), as_dtype("float"), as_dtype("double")
    (dtype('float16'), dtype('float32'), dtype('float32'), dtype('float64'))
    """
    word = "float" if type_value is float else type_value
    is_name = isinstance(word, str)
    known = word in DATA_TYPES if is_name else word is not None and word is not int
    found = to_dtype(DATA_TYPES[word] if is_name else word) if known else None
    if found is None or found.name not in DATA_TYPES:
        names = TYPE_LISTS["type"]
        raise ArgumentTypeError(
            f"dtype must be one of {', '.join(names)}; got {brief(type_value)}{suggestion(type_value, names)}"
        )
    return found


def is_trainable(dtype: np.dtype[Any]) -> bool:
    """Return whether a tensor of a dtype can have a gradient: whether it holds floats.

    TensorFlow: IsTrainable in python/eager/backprop_util.py.

    >>> is_trainable(np.dtype("float16")), is_trainable(np.dtype("uint8"))
    (True, False)
    """
    return dtype.kind not in "iub"  # the kind of bfloat16 is V


# ---------------------------------------------------------------------------------------------
# The specification strings of arguments and attributes
# ---------------------------------------------------------------------------------------------


def parse_arg(spec: str) -> ArgDef:
    """Parse ``name: type``, ``name: Ref(type)`` or ``name: number * type``.

    >>> parse_arg("ref: Ref(T)")
    ArgDef(name='ref', type='T', is_ref=True, number='')
    >>> print(parse_arg("inputs: N * T"))
    inputs: N * T
    """
    name, _, kind = (part.strip() for part in spec.partition(":"))
    is_ref = kind.startswith("Ref(")
    kind = kind[4:-1] if is_ref else kind
    number, _, kind = (part.strip() for part in kind.rpartition("*"))
    return ArgDef(name, DATA_TYPES.get(kind, kind), is_ref, number)


def parse_attr(spec: str) -> AttrDef:
    """Parse ``name: type`` or ``name: {values}``, with an optional ``= default``.

    >>> parse_attr("T: {half, float}")
    AttrDef(name='T', type='type', allowed=('float16', 'float32'), has_default=False, default=None)
    >>> parse_attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'").default
    'NHWC'
    """
    name, _, rest = (part.strip() for part in spec.partition(":"))
    kind, equals, default_text = (part.strip() for part in rest.partition("="))
    allowed: tuple[str, ...] = ()
    if kind in TYPE_LISTS:
        kind, allowed = "type", TYPE_LISTS[kind]
    elif kind.startswith("{"):
        items = [item.strip() for item in kind.strip("{}").split(",")]
        strings = items[0].startswith("'")
        kind = "string" if strings else "type"
        allowed = tuple(item.strip("'") if strings else DATA_TYPES[item] for item in items)
    if kind not in ATTR_TYPES:
        raise ArgumentError(
            f"the type of an attribute must be one of {', '.join(ATTR_TYPES)}; got {brief(kind)}"
        )
    default: Any = None
    if equals:
        if kind == "type":
            default = DATA_TYPES[default_text]
        else:
            words = {"true": "True", "false": "False"}
            default = ast.literal_eval(words.get(default_text, default_text))
            default = tuple(default) if isinstance(default, list) else default
    return AttrDef(name, kind, allowed, bool(equals), default)
