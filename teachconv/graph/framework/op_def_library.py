"""Applies an op definition to arguments: infers types, checks attributes, adds a node.

TensorFlow: python/framework/op_def_library.py, _apply_op_helper. The generated wrappers
(gen_nn_ops.py) call `apply_op`; eager execution (execute.py) uses the same checks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...support.errors import ArgumentError, ArgumentTypeError, brief, plain
from .context import get_default_graph
from .eager_tensor import EagerTensor, frozen, to_argument, to_array
from .op_def import ArgDef, OpDef, as_dtype, get_op_def
from .ops import Graph
from .shape_inference import Values, infer_shapes
from .tensor import Operators, Tensor, tensor_dtype
from .tensor_shape import as_shape


def apply_op(op_type: str, name: str | None, inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
    """Add a node to the default graph.

    All checks, including static shapes, happen before the node is added. The arguments have then become
    nodes of their own; these stay where a check fails, as in TensorFlow.

    Args:
        op_type: the name of the op.
        name: the name of the node; None uses the name of the op.
        inputs: one value per input: a tensor, variable, array or Python number, or a list of those.
        attrs: the attributes by name.

    Returns:
        The output tensor, a tuple if there are several outputs or a list of them, or the operation if there
        are none.

    Raises:
        ValueError, TypeError: if an input or attribute does not fit the definition.

    >>> from teachconv import graph as tg
    >>> with tg.Graph().as_default():
    ...     apply_op("Add", None, [tg.placeholder("float32", [2, 1]), [1, 2, 3]], {})
    <tf.Tensor 'Add:0' shape=(2, 3) dtype=float32>
    """
    op_def = get_op_def(op_type)
    graph = get_default_graph()
    args, values, checked = check_attrs(op_def, inputs, attrs)
    with graph.name_scope(name or op_type.lstrip("_")) as scope:
        tensors = tuple(
            _as_tensor(value, arg, checked, op_def, graph, name)
            for value, arg, name in zip(values, args, _names(args), strict=True)
        )
    shapes = infer_shapes(op_def, [as_shape(tensor.shape) for tensor in tensors], Values(tensors), checked)
    op = graph.create_op(op_def, scope[:-1], tensors, checked, op_def.output_dtypes(checked), shapes)
    return packed(op_def, op.outputs, op)


def packed(op_def: OpDef, outputs: tuple[Any, ...], op: Any) -> Any:
    """Return what a wrapper returns: the only output, a tuple of outputs, or the operation without any."""
    if len(op_def.outputs) == 1 and not op_def.is_list(op_def.outputs[0]):
        return outputs[0]
    return outputs if op_def.outputs else op


def check_attrs(
    op_def: OpDef, inputs: Sequence[Any], attrs: Mapping[str, Any]
) -> tuple[tuple[ArgDef, ...], list[Any], dict[str, Any]]:
    """Check the arguments of an op.

    Args:
        op_def: the op's definition.
        inputs: one value per input.
        attrs: the attributes that the caller gave.

    Returns:
        The inputs, one definition and one value for each tensor (lists are written out), and all attributes:
        checked, with defaults, and with types inferred from the inputs.

    Raises:
        ValueError, TypeError: if an input or attribute does not fit the definition.
    """
    if len(inputs) != len(op_def.inputs):
        names = ", ".join(arg.name for arg in op_def.inputs) or "none"
        raise ArgumentError(f"{op_def.name} takes {len(op_def.inputs)} inputs ({names}); got {len(inputs)}")
    checked: dict[str, Any] = {}
    for name, value in attrs.items():
        if name == "_kernel":  # every op accepts a kernel label
            if value is not None:
                checked[name] = value
        elif name not in op_def.attr_by_name:
            have = ", ".join(op_def.attr_by_name) or "none"
            raise ArgumentError(f"{op_def.name} has no attribute {brief(name)}; it has {have}")
        else:
            checked[name] = op_def.attr_by_name[name].check(value, op_def.name)
    args, values = op_def.inputs, list(inputs)
    if any(map(op_def.is_list, args)):
        args, values = _written_out(op_def, inputs, checked)
    _infer_types(op_def, args, values, checked)
    for attr in op_def.attrs:
        if attr.name in checked:
            continue
        if attr.has_default:
            checked[attr.name] = as_dtype(attr.default) if attr.type == "type" else attr.default
        # of Python numbers alone the dtype is determined by `to_array`
        elif attr.type != "type" or attr.name not in op_def.inferred_attrs:
            raise ArgumentError(f"{op_def.name} needs the attribute {attr.name} ({attr.type})")
    return args, values, checked


def _written_out(
    op_def: OpDef, inputs: Sequence[Any], checked: dict[str, Any]
) -> tuple[tuple[ArgDef, ...], list[Any]]:
    """Set the attributes that describe lists of inputs; return one definition and value for each tensor."""
    values: list[Any] = []
    for value, arg in zip(inputs, op_def.inputs, strict=True):
        if not op_def.is_list(arg):
            values.append(value)
            continue
        if not isinstance(value, (list, tuple)):
            raise ArgumentTypeError(
                f"{arg.name} of {op_def.name} must be a list of tensors; got {brief(value)}"
            )
        if arg.number:
            if not value:
                raise ArgumentError(f"{arg.name} of {op_def.name} must hold at least one tensor; got none")
            checked[arg.number] = len(value)
        else:
            checked[arg.type] = tuple(
                item.dtype if hasattr(item, "dtype") else to_array(item, None, arg.name).dtype
                for item in value
            )
        values += value
    return op_def.flat(op_def.inputs, checked), values


def _infer_types(
    op_def: OpDef, args: Sequence[ArgDef], values: Sequence[Any], checked: dict[str, Any]
) -> None:
    """Set each type attribute to the dtype of its tensors, which must agree; without any, of its first array.

    In a graph TensorFlow takes the first argument's, so that an array before a tensor may have the wrong one.
    """
    source: dict[str, ArgDef] = {}
    tensors = [tensor_dtype(value) for value in values]
    arrays = [getattr(value, "dtype", None) for value in values]
    for dtypes in (tensors, arrays):
        for dtype, arg in zip(dtypes, args, strict=True):
            is_known = dtypes is arrays and arg.type in source
            if dtype is None or is_known or arg.type not in op_def.attr_by_name:
                continue
            try:
                known = op_def.attr_by_name[arg.type].check(dtype, op_def.name)
            except ArgumentTypeError as error:
                raise ArgumentTypeError(f"{arg.name} of {op_def.name}: {plain(error)}") from None
            if arg.type in source and checked[arg.type] != known:
                first, names = source[arg.type].name, f"{checked[arg.type].name}; got {known.name}"
                which = "one dtype, that of the first" if first == arg.name else f"the dtype of {first}"
                cast = f"tf.cast({arg.name}, tf.{checked[arg.type].name})"
                raise ArgumentTypeError(f"{arg.name} of {op_def.name} must have {which}, {names}: {cast}")
            source[arg.type] = arg
            checked[arg.type] = known


def element_type(arg: ArgDef, checked: dict[str, Any], op_def: OpDef) -> Any:
    """Return the dtype that an argument is converted to, or None if it keeps its own."""
    return checked.get(arg.type) if arg.type in op_def.attr_by_name else as_dtype(arg.type)


def _names(args: Sequence[ArgDef]) -> list[str]:
    """Return what constants for the arguments are called: by the argument, in a list with a number."""
    seen: dict[str, int] = {}
    names = []
    for arg in args:
        seen[arg.name] = seen.get(arg.name, -1) + 1
        names.append(f"{arg.name}_{seen[arg.name]}" if arg.number else arg.name)
    return names


def _packed_list(items: Sequence[Any], dtype: Any, name: str, graph: Graph) -> Tensor:
    """Return a Pack node for a list such as [tf.shape(x)[0], 8, 8, 3], which holds tensors and numbers.

    TensorFlow: python/ops/array_ops.py, _autopacking_conversion_function.
    """
    dtype = dtype or tensor_dtype(items)
    parts: list[Any] = []
    with graph.name_scope(name) as scope:
        for index, item in enumerate(items):
            if isinstance(item, (list, tuple)):
                parts.append(_packed_list(item, dtype, str(index), graph))
            elif isinstance(item, Operators):
                parts.append(item)
            else:
                array = to_array(item, dtype, f"{name}[{index}]")
                value = {"value": frozen(array), "dtype": array.dtype}
                parts.append(apply_op("Const", str(index), [], value))
    return apply_op("Pack", scope, [parts], {})


def _as_tensor(
    value: Any, arg: ArgDef, checked: dict[str, Any], op_def: OpDef, graph: Any, name: str
) -> Tensor:
    dtype = element_type(arg, checked, op_def)
    if hasattr(value, "_graph_tensor"):  # a variable: its reference, or its value
        value = value._graph_tensor(graph, arg.is_ref)
    elif graph.is_function and (
        isinstance(value, EagerTensor) or (isinstance(value, Tensor) and value.op.graph is not graph)
    ):
        value = graph.capture(value)
    if isinstance(value, (list, tuple)) and tensor_dtype(value) is not None:
        value = _packed_list(value, dtype, name, graph)
    if not isinstance(value, Tensor):
        if arg.is_ref:
            raise ArgumentTypeError(f"{arg.name} of {op_def.name} must be a variable; got {brief(value)}")
        array = to_argument(value, dtype, f"{arg.name} of {op_def.name}")
        value = apply_op("Const", name, [], {"value": frozen(array), "dtype": array.dtype})
    if value.op.graph is not graph:
        raise ArgumentError(
            f"{arg.name} of {op_def.name}: {brief(value.name)} belongs to a graph other than the default one"
        )
    if dtype is None:
        checked[arg.type] = op_def.attr_by_name[arg.type].check(value.dtype, op_def.name)
    elif value.dtype != dtype:
        raise ArgumentTypeError(
            f"{arg.name} of {op_def.name} must have dtype {dtype.name}; got {value.dtype.name}"
        )
    if arg.is_ref and not value.is_ref:
        raise ArgumentTypeError(
            f"{arg.name} of {op_def.name} must be a variable; {brief(value.name)} is a value, which nothing "
            "can be assigned to"
        )
    return value
