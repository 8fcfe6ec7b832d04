"""Says which function each operator of a tensor calls, and which node teachconv.conv2d is for a tensor.

TensorFlow: python/ops/tensor_math_operator_overrides.py; for ``tensor[key]``, tensor_getitem_override.py.
"""

from __future__ import annotations

import inspect
from operator import index
from typing import Any

import numpy as np

from ...core.geometry import conv_transpose_geometry
from ...core.kinds import OPS
from ...support.errors import ArgumentError, ArgumentTypeError, brief
from ..core_ops.array_shape_fns import MASKS
from ..framework.context import current_graph
from ..framework.eager_tensor import EagerTensor
from ..framework.tensor import OVERRIDES
from ..framework.tensor_shape import TensorShape
from . import array_ops, gen_nn_ops, math_ops, nn_ops


def library_op(op_name: str, arguments: dict[str, Any]) -> Any:
    """Add the node of an op of the library to the graph, or run it eagerly.

    Args:
        op_name: the name of the op, such as "conv2d".
        arguments: its arguments by name; other names are ignored.

    Returns:
        A tensor.

    Raises:
        ValueError: if an argument has no meaning for a node, or there is no such op.

    >>> import teachconv as tc
    >>> x, w = tc.graph.constant([[[[3.0]]]]), [[[[2.0]]]]
    >>> print(tc.conv2d(x, w, bias=[1.0]))
    tf.Tensor([[[[7.]]]], shape=(1, 1, 1, 1), dtype=float32)
    """
    own = OPS.get(op_name)
    if own is not None and own.rank is None:  # the op of the rank that the first tensor has
        first = next(value for name, value in arguments.items() if not name.endswith("_sizes"))
        wanted = own.kind, own.transposed, False, (TensorShape(_shape_of(first)).rank or 4) - 2
        ops = ((op.kind, op.transposed, op.depthwise, op.rank) for op in OPS.values())
        op_name = dict(zip(ops, OPS, strict=True)).get(wanted, op_name)
    op = getattr(nn_ops, op_name, None)
    if op is None:
        raise ArgumentError(f"{op_name} takes no tensors of a graph or eager tensors, only arrays: .numpy()")
    for name in ("algorithm", "precision", "out"):
        value = arguments.get(name)
        if value is not None and not (isinstance(value, str) and value == "auto"):
            raise ArgumentError(
                f"{name} must not be given where {op_name} takes a tensor: the kernel of the node decides; "
                f"got {brief(value)}"
            )
    bias, output_padding = arguments.get("bias"), arguments.get("output_padding")
    given = {name: arguments[name] for name in inspect.signature(op).parameters}
    if output_padding is not None:
        geometry = conv_transpose_geometry(
            _sizes(given["input"], "input"),
            _sizes(given["filters"], "filters"),
            *(given[name] for name in ("output_shape", "strides", "padding", "data_format", "dilations")),
            output_padding=output_padding,
        )
        given["output_shape"] = list(geometry.output_shape)
    result = op(**given)
    return result if bias is None else nn_ops.bias_add(result, bias, given["data_format"])


def _sizes(value: Any, name: str) -> list[int]:
    shape = TensorShape(_shape_of(value))
    if not shape.is_fully_defined():
        raise ArgumentError(
            f"output_padding needs known shapes; {name} has {shape}: give output_shape instead"
        )
    return list(shape)  # type: ignore[arg-type]


def _shape_of(value: Any) -> Any:
    return value.shape if hasattr(value, "shape") else np.shape(value)


_STACKS = ("stack", "stack_1", "stack_2")  # TensorFlow's names of begin, end and strides


def slice_helper(tensor: Any, key: Any) -> Any:
    """Return ``tensor[key]``.

    Args:
        tensor: a tensor or variable.
        key: an int, a slice, ``...``, None (a new axis), or a tuple of them; ints may be scalar tensors. Or a
            mask: an array or eager tensor of booleans, in the shape of the first axes.

    Returns:
        A tensor.

    Raises:
        TypeError: if an item of the key is something else, such as an array of numbers.
        ValueError: if an index is out of range, or a mask has another shape.

    >>> from teachconv import graph as tg
    >>> t = tg.constant([[1, 2, 3], [4, 5, 6]])
    >>> print(t[1, ::2], t[..., -1], t[:, None].shape)
    tf.Tensor([4 6], shape=(2,), dtype=int32) tf.Tensor([3 6], shape=(2,), dtype=int32) (2, 1, 3)
    """
    if isinstance(key, (np.ndarray, EagerTensor)) and key.dtype == bool and key.ndim:
        return _masked(tensor, np.asarray(key))
    bounds: list[Any] = []
    masks: dict[str, Any] = dict.fromkeys(MASKS, 0)
    for position, item in enumerate(key if isinstance(key, tuple) else (key,)):
        bit = 1 << position
        ends: Any = (0, 0, 1)
        if item is Ellipsis:
            masks["ellipsis_mask"] |= bit
        elif item is None:
            masks["new_axis_mask"] |= bit
        elif isinstance(item, slice):
            masks["begin_mask"] |= bit * (item.start is None)
            masks["end_mask"] |= bit * (item.stop is None)
            written = zip((item.start, item.stop, item.step), ends, strict=True)
            ends = [usual if end is None else _integer(end) for end, usual in written]
        else:
            masks["shrink_axis_mask"] |= bit
            first = _integer(item)
            ends = (first, first + 1, 1)
        bounds.append(ends)
    columns = [[ends[column] for ends in bounds] for column in range(3)]  # begin, end, strides
    graph = current_graph()
    if graph is None:
        begin, end, strides = (np.array(column, np.int32) for column in columns)
        return gen_nn_ops.strided_slice(tensor, begin, end, strides, **masks)
    with graph.name_scope("strided_slice") as scope:
        begin, end, strides = map(_stacked, columns, _STACKS)
        return gen_nn_ops.strided_slice(tensor, begin, end, strides, name=scope, **masks)


def _masked(tensor: Any, mask: np.ndarray) -> Any:
    """Return the parts of a tensor for which a mask is true, one after another, as tf.boolean_mask."""
    sizes = tensor.shape.as_list()
    if sizes[: mask.ndim] != list(mask.shape):
        raise ArgumentError(f"mask must have the shape of the first axes of {sizes}; got {list(mask.shape)}")
    parts = array_ops.reshape(
        tensor, [mask.size, *(-1 if size is None else size for size in sizes[mask.ndim :])]
    )
    return array_ops.gather(parts, np.flatnonzero(mask))


def _integer(item: Any) -> Any:
    """Return a bound as an int, or unchanged if it is a scalar tensor of a graph."""
    try:
        return index(item)
    except TypeError:
        pass
    if getattr(item, "dtype", None) in (np.int32, np.int64) and item.shape in ((), None):
        return item
    raise ArgumentTypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
        f"tensors are valid indices, got {brief(item)}"
    )


def _stacked(items: list[Any], name: str) -> Any:
    if any(hasattr(item, "op") for item in items):
        return gen_nn_ops.pack(items, name=name)
    return gen_nn_ops.const(np.array(items, np.int32), np.int32, name=name)


OVERRIDES.update(
    {
        "add": gen_nn_ops.add,
        "sub": gen_nn_ops.sub,
        "mul": gen_nn_ops.mul,
        "matmul": math_ops.matmul,
        "truediv": math_ops.truediv,
        "floordiv": math_ops.floordiv,
        "mod": math_ops.floormod,
        "pow": math_ops.pow,
        "Greater": math_ops.greater,
        "GreaterEqual": math_ops.greater_equal,
        "Less": math_ops.less,
        "LessEqual": math_ops.less_equal,
        "and": math_ops.logical_and,
        "or": math_ops.logical_or,
        "LogicalNot": math_ops.logical_not,
        "Equal": math_ops.equal,
        "NotEqual": math_ops.not_equal,
        "Neg": math_ops.negative,
        "Abs": math_ops.abs,
        "strided_slice": slice_helper,
        "teachconv": library_op,
    }
)
