"""Says which function each operator of a tensor calls, and which node teachconv.conv2d is for a tensor.

TensorFlow: python/ops/tensor_math_operator_overrides.py.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ...geometry import conv2d_transpose_geometry
from ..framework.operators import OVERRIDES
from ..framework.tensor_shape import TensorShape
from . import cwise_ops, gen_nn_ops, nn_ops
from .tensor_getitem_override import slice_helper

__all__ = ["library_op"]


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
    op = getattr(nn_ops, op_name, None)
    if op is None:
        raise ArgumentError(f"{op_name} takes no tensors of a graph or eager tensors, only arrays: .numpy()")
    for name in ("algorithm", "precision", "out"):
        value = arguments.get(name)
        if value is not None and not (isinstance(value, str) and value == "auto"):
            raise ArgumentError(
                f"{name} must not be given where {op_name} takes a tensor: the kernel of the node decides; "
                f"got {value!r}"
            )
    bias, output_padding = arguments.get("bias"), arguments.get("output_padding")
    given = {name: arguments[name] for name in inspect.signature(op).parameters}
    if output_padding is not None:
        geometry = conv2d_transpose_geometry(
            _sizes(given["input"], "input"),
            _sizes(given["filters"], "filters"),
            *(given[name] for name in ("output_shape", "strides", "padding", "data_format", "dilations")),
            output_padding=output_padding,
        )
        given["output_shape"] = list(geometry.output_shape)
    result = op(**given)
    return result if bias is None else nn_ops.bias_add(result, bias, given["data_format"])


def _sizes(value: Any, name: str) -> list[int]:
    shape = TensorShape(np.shape(value) if not hasattr(value, "shape") else value.shape)
    if not shape.is_fully_defined():
        raise ArgumentError(
            f"output_padding needs known shapes; {name} has {shape}: give output_shape instead"
        )
    return list(shape)  # type: ignore[arg-type]


OVERRIDES.update(
    {
        "add": gen_nn_ops.add,
        "sub": gen_nn_ops.sub,
        "mul": gen_nn_ops.mul,
        "matmul": gen_nn_ops.mat_mul,
        "truediv": cwise_ops.truediv,
        "floordiv": cwise_ops.floordiv,
        "mod": cwise_ops.floormod,
        "pow": cwise_ops.pow,
        "Greater": cwise_ops.greater,
        "GreaterEqual": cwise_ops.greater_equal,
        "Less": cwise_ops.less,
        "LessEqual": cwise_ops.less_equal,
        "and": cwise_ops.logical_and,
        "or": cwise_ops.logical_or,
        "LogicalNot": cwise_ops.logical_not,
        "Equal": cwise_ops.equal,
        "NotEqual": cwise_ops.not_equal,
        "Neg": cwise_ops.negative,
        "Abs": cwise_ops.abs,
        "strided_slice": slice_helper,
        "teachconv": library_op,
    }
)
