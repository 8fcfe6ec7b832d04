"""Kernels that build, move, split and join values without computing.

TensorFlow: core/kernels/identity_op.cc, shape_ops.cc, constant_op.cc, reshape_op.h, transpose_op.cc,
pad_op.cc, slice_op.cc, strided_slice_op.cc, tile_ops.cc, gather_op.cc, pack_op.cc, concat_op.cc and similar
files. Reshape, Transpose and others return views, which is safe because values are never modified.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from ..core_ops.array_shape_fns import index_of, sliced_shape
from ..core_ops.common_shape_fns import mirror_pad
from ..framework.errors import InvalidArgumentError
from ..framework.shape_inference import register_function

# --- what is one expression ---------------------------------------------------------------------------


def _outputs(arrays: Any) -> Any:
    """Return several outputs as every kernel does: a tuple, but a single one alone."""
    found = tuple(arrays)
    return found if len(found) != 1 else found[0]


# An op, or several that do the same, and its function: of the inputs, and by name of the attributes and the
# shape of the output.
_FUNCTIONS: dict[tuple[str, ...], Callable[..., Any]] = {
    ("Shape",): lambda x, *, out_type: np.array(x.shape, out_type),
    ("ShapeN",): lambda *inputs, out_type: _outputs(np.array(each.shape, out_type) for each in inputs),
    ("Size",): lambda x, *, out_type: np.array(x.size, out_type),
    ("Fill",): lambda dims, value, *, out_shape: np.full(out_shape, value),
    ("ExpandDims", "Squeeze", "Reshape"): lambda x, *_, out_shape: x.reshape(out_shape),
    ("BroadcastTo",): lambda x, shape, *, out_shape: np.broadcast_to(x, out_shape),
}
# The same of ops whose shape function checks what NumPy would not.
_CHECKED: dict[str, Callable[..., Any]] = {
    "Transpose": lambda x, perm: x.transpose(perm.tolist()),
    "Tile": lambda x, multiples: np.tile(x, multiples.tolist()),
    "Pack": lambda *values, axis: np.stack(values, axis),
    "Unpack": lambda value, *, axis: _outputs(np.moveaxis(value, axis, 0)),
}
for _ops, _function in _FUNCTIONS.items():
    register_function(*_ops)(_function)
for _op, _function in _CHECKED.items():
    register_function(_op, infers=True)(_function)


# --- checks, shapes, constants by shape ---------------------------------------------------------------


@register_function("CheckNumerics")
def _check_numerics(tensor: Any, *, message: str) -> Any:
    """Return the input; raise `InvalidArgumentError` if it holds NaN or infinity.

    TensorFlow: core/kernels/check_numerics_op.cc.
    """
    if not np.isfinite(tensor).all():
        found = [name for name, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(tensor).any()]
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(found)} values")
    return tensor


@register_function("BroadcastGradientArgs", name="BCastGradArgsOp")
def _broadcast_gradient_args(s0: Any, s1: Any) -> Any:
    """Return, for two shapes, the axes along which the gradient must be summed.

    An axis where both sizes are 1 is in both, as in TensorFlow's BCast.
    """
    shapes = [tuple(sizes.tolist()) for sizes in (s0, s1)]
    if shapes[0] == shapes[1]:
        return (np.zeros(0, s0.dtype),) * 2
    rank = max(map(len, shapes))
    sizes = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    for axis, pair in enumerate(zip(*sizes, strict=True)):
        if pair[0] != pair[1] and 1 not in pair:
            raise InvalidArgumentError(
                f"s0 and s1 of BroadcastGradientArgs must fit each other; got {shapes[0]} and "
                f"{shapes[1]} (axis {axis})"
            )
    return tuple(np.array([axis for axis, size in enumerate(one) if size == 1], s0.dtype) for one in sizes)


@register_function("OneHot", infers=True)
def _one_hot(indices: Any, depth: Any, on_value: Any, off_value: Any, *, axis: int) -> Any:
    """Return on_value at each index of a new axis.

    An index that is negative or too large gives off_value everywhere, as in TensorFlow.
    """
    hot = np.where(indices[..., None] == np.arange(depth), on_value, off_value)
    return hot if axis == -1 else np.moveaxis(hot, -1, axis)


@register_function("Range")
def _range(start: Any, limit: Any, delta: Any, *, out_shape: Any) -> Any:
    """Return start, start + delta, ... below limit."""
    steps = np.arange(*out_shape, dtype=start.dtype)
    return (start + steps * delta).astype(start.dtype, copy=False)


# --- more or fewer elements --------------------------------------------------------------------------


@register_function("Pad")
def _pad(x: Any, paddings: Any, *, out_shape: Any) -> Any:
    """Return the input with zeros around it; paddings are [before, after] for each axis."""
    padded = np.zeros(out_shape, x.dtype)
    starts = paddings[:, 0].tolist()
    padded[tuple(slice(start, start + size) for start, size in zip(starts, x.shape, strict=True))] = x
    return padded


@register_function("MirrorPad", infers=True)
def _mirror_pad(x: Any, paddings: Any, *, mode: str) -> Any:
    """Return the input with cells around it that mirror those inside."""
    return mirror_pad("MirrorPad", x.shape, paddings.tolist(), mode)(x)


@register_function("MirrorPadGrad")
def _mirror_pad_grad(grad: Any, paddings: Any, *, mode: str, out_shape: Any) -> Any:
    """Return the sums of the gradients of all cells that show the same cell of the input."""
    return mirror_pad("MirrorPadGrad", out_shape, paddings.tolist(), mode).backward(grad)


@register_function("Slice")
def _slice(x: Any, begin: Any, size: Any, *, out_shape: Any) -> Any:
    """Return the part that starts at begin."""
    return x[tuple(slice(at, at + size) for at, size in zip(begin.tolist(), out_shape, strict=True))]


def _check_indices(indices: Any, size: int, what: str) -> None:
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        bad = indices[(indices < 0) | (indices >= size)].ravel()[0]
        raise InvalidArgumentError(f"{what} must be from 0 to {size - 1}; got {bad}")


@register_function("GatherV2", name="GatherOp", infers=True)
def _gather(params: Any, indices: Any, axis: Any) -> Any:
    """Return params with the axis replaced by the axes of the indices."""
    _check_indices(indices, params.shape[int(axis)], "indices of GatherV2")
    return np.take(params, indices, axis=int(axis))


@register_function("InvertPermutation")
def _invert_permutation(x: Any) -> Any:
    """Return y with y[x[i]] = i; raise ``ValueError`` if x is not a permutation."""
    if sorted(x.tolist()) != list(range(x.size)):
        raise InvalidArgumentError(f"x must be a permutation of 0, 1, ...; got {x.tolist()}")
    return np.argsort(x).astype(x.dtype)


# --- several tensors ---------------------------------------------------------------------------------


@register_function("ConcatV2", infers=True)
def _concat(*values_and_axis: Any) -> Any:
    """Return the inputs but the last joined along the axis that the last one gives."""
    *values, axis = values_and_axis
    return np.concatenate(values, int(axis))


@register_function("ConcatOffset")
def _concat_offset(concat_dim: Any, *shapes: Any) -> Any:
    """Return where each input of a ConcatV2 starts in its output: vectors, 0 except along the axis."""
    axis = int(concat_dim)
    offsets = np.zeros((len(shapes), shapes[0].size), "int32")
    offsets[:, axis] = np.cumsum([0, *(shape[axis] for shape in shapes[:-1])])
    return _outputs(offsets)


@register_function("DynamicStitch")
def _dynamic_stitch(*inputs: Any, out_shape: Any) -> Any:
    """Return slices merged by their indices; where an index occurs twice the later slice stays."""
    half = len(inputs) // 2
    merged = np.zeros(out_shape, inputs[half].dtype)
    for indices, data in zip(inputs[:half], inputs[half:], strict=True):
        merged[indices.ravel()] = data.reshape(prod(indices.shape), *data.shape[indices.ndim :])
    return merged


# --- parts -------------------------------------------------------------------------------------------


@register_function("StridedSlice")
def _strided_slice(x: Any, begin: Any, end: Any, strides: Any, *, attrs: Any) -> Any:
    """Return a view of a part of the input; NumPy's slices follow the same rules."""
    key = index_of(attrs, begin, end, strides)
    sliced_shape(x.shape, key)  # raises for an index out of range
    return x[(*key, ...)] if Ellipsis not in key else x[key]  # an array also where no axis is left


@register_function("StridedSliceGrad")
def _strided_slice_grad(shape: Any, begin: Any, end: Any, strides: Any, dy: Any, *, attrs: Any) -> Any:
    """Return zeros of the given shape with dy where StridedSlice took its output from."""
    whole = np.zeros(shape.tolist(), dy.dtype)
    whole[index_of(attrs, begin, end, strides)] = dy
    return whole
