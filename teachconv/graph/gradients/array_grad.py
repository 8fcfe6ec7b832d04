"""The gradients of ops that build, move, split and join tensors. TensorFlow: python/ops/array_grad.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...support.errors import ArgumentError
from ..core_ops.array_shape_fns import MASKS
from ..framework.shape_inference import known_value
from ..framework.tensor_shape import as_shape
from ..ops import array_ops, gen_nn_ops, math_ops
from .gradients_util import NotDifferentiable, RegisterGradient
from .math_grad import reduce_gradients

for _name in (  # those of math_ops first
    *("Greater", "GreaterEqual", "Less", "LessEqual", "Equal", "NotEqual"),
    *("LogicalAnd", "LogicalOr", "LogicalNot", "All", "Any", "FloorDiv", "Range", "ArgMax"),
    *("RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal"),
    *("StopGradient", "Shape", "ShapeN", "Size", "BroadcastGradientArgs", "ZerosLike", "OnesLike"),
    *("OneHot", "InvertPermutation", "ConcatOffset", "Assign", "AssignAdd", "AssignSub", "DynamicStitch"),
):
    NotDifferentiable(_name)


# --- what is one expression ---------------------------------------------------------------------------

_GRADIENTS: dict[str, Callable[[Any, Any], Any]] = {
    "Identity": lambda op, grad: grad,
    "ReadVariableOp": lambda op, grad: grad,
    "CheckNumerics": lambda op, grad: array_ops.check_numerics(
        grad, "Not a number (NaN) or infinity (Inf) values detected in gradient."
    ),
    "AddN": lambda op, grad: (grad,) * len(op.inputs),
    "Fill": lambda op, grad: (None, math_ops.reduce_sum(grad)),
    "Squeeze": lambda op, grad: _reshape_to_input(op, grad),
    "ExpandDims": lambda op, grad: (_reshape_to_input(op, grad), None),
    "Transpose": lambda op, grad: (
        array_ops.transpose(grad, gen_nn_ops.invert_permutation(op.inputs[1])),
        None,
    ),
    "BroadcastTo": lambda op, grad: (reduce_gradients(op.inputs[0], op.outputs[0], grad, None)[0], None),
    "Pack": lambda op, grad: gen_nn_ops.unpack(
        grad, len(op.inputs), axis=op.get_attr("axis"), name="unstack"
    ),
}


def _grad_of_one_expression(op: Any, grad: Any) -> Any:
    return _GRADIENTS[op.type](op, grad)


for _name in _GRADIENTS:
    RegisterGradient(_name)(_grad_of_one_expression)


# --- the same elements in another shape ---------------------------------------------------------------


def _reshape_to_input(op: Any, grad: Any) -> Any:
    return array_ops.reshape(grad, array_ops.shape(op.inputs[0]))


@RegisterGradient("Reshape")
def _reshape_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    shape = as_shape(op.inputs[0].shape)
    if shape is not None and shape.count(None) == 1 and 0 not in shape:  # no need to wait for the input
        return array_ops.reshape(grad, [-1 if size is None else size for size in shape]), None
    return _reshape_to_input(op, grad), None


# --- more or fewer elements ---------------------------------------------------------------------------


@RegisterGradient("Pad")
def _pad_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """The part that is not padding."""
    x, paddings = op.inputs
    before = array_ops.slice(paddings, [0, 0], array_ops.stack([array_ops.rank(x), 1]))
    begin = array_ops.reshape(before, [-1])
    return array_ops.slice(grad, begin, array_ops.shape(x, out_type=begin.dtype)), None


@RegisterGradient("MirrorPad")
@RegisterGradient("MirrorPadGrad")
def _mirror_pad_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """Each is the transpose of the other."""
    transpose = gen_nn_ops.mirror_pad_grad if op.type == "MirrorPad" else gen_nn_ops.mirror_pad
    return transpose(grad, op.inputs[1], op.get_attr("mode")), None


@RegisterGradient("Slice")
def _slice_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """The gradient with zeros around it."""
    x, begin, _ = op.inputs
    column = array_ops.stack([array_ops.rank(x), 1])
    sizes = array_ops.shape(x, out_type=begin.dtype)
    after = sizes - array_ops.shape(op.outputs[0], out_type=begin.dtype) - begin
    columns = [array_ops.reshape(begin, column), array_ops.reshape(after, column)]
    return array_ops.pad(grad, array_ops.concat(columns, 1)), None, None


@RegisterGradient("Tile")
def _tile_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """The sum over the repetitions, which a reshape to [multiple, size, multiple, size, ...] separates."""
    x, multiples = op.inputs
    sizes = array_ops.shape(x, out_type=multiples.dtype)
    both = array_ops.reshape(array_ops.transpose(array_ops.stack([multiples, sizes])), [-1])
    axes = math_ops.range(0, array_ops.size(both), 2)
    return math_ops.reduce_sum(array_ops.reshape(grad, both), axes), None


@RegisterGradient("GatherV2")
def _gather_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """The sum of the gradients of the slices with the same index: a product with ones at the indices.

    TensorFlow keeps it as IndexedSlices, and sums by UnsortedSegmentSum.
    """
    params, indices, axis = op.inputs
    number, rank = known_value(axis), len(as_shape(params.shape) or ())
    if number is None or not rank:
        raise ArgumentError("GatherV2 has a gradient only for a known axis and number of axes")
    axis = int(number) % rank
    axes, at = range(rank - 1 + len(indices.shape)), range(axis, axis + len(indices.shape))
    first = array_ops.transpose(grad, [*at, *(each for each in axes if each not in at)])
    order = [axis, *(each for each in range(rank) if each != axis)]
    sizes = array_ops.gather(array_ops.shape(params), order)
    hot = array_ops.one_hot(array_ops.reshape(indices, [-1]), sizes[0], dtype=grad.dtype)
    rows = array_ops.reshape(first, array_ops.stack([array_ops.size(indices), -1]))
    summed = array_ops.reshape(math_ops.matmul(hot, rows, transpose_a=True), sizes)
    return array_ops.transpose(summed, np.argsort(order)), None, None


# --- several tensors ----------------------------------------------------------------------------------


@RegisterGradient("Unpack")
def _unpack_grad(op: Any, *grads: Any) -> Any:
    pairs = zip(grads, op.outputs, strict=True)
    slices = [array_ops.zeros_like(output) if grad is None else grad for grad, output in pairs]
    return array_ops.stack(slices, axis=op.get_attr("axis"))


@RegisterGradient("ConcatV2")
def _concat_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    """The slice of each input."""
    *values, axis = op.inputs
    axis = gen_nn_ops.floor_mod(axis, array_ops.rank(values[0]), name="mod")
    sizes = gen_nn_ops.shape_n(values)
    offsets = gen_nn_ops.concat_offset(axis, sizes)
    return *(array_ops.slice(grad, begin, size) for begin, size in zip(offsets, sizes, strict=True)), None


# --- parts ------------------------------------------------------------------------------------------


@RegisterGradient("StridedSlice")
def _strided_slice_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    x, begin, end, strides = op.inputs
    shape = array_ops.shape(x, out_type=begin.dtype)
    masks = {mask: op.get_attr(mask) for mask in MASKS}
    return gen_nn_ops.strided_slice_grad(shape, begin, end, strides, grad, **masks), None, None, None


@RegisterGradient("StridedSliceGrad")
def _strided_slice_grad_grad(op: Any, grad: Any) -> tuple[Any, ...]:
    masks = {mask: op.get_attr(mask) for mask in MASKS}
    _, begin, end, strides, _ = op.inputs
    return None, None, None, None, gen_nn_ops.strided_slice(grad, begin, end, strides, **masks)
