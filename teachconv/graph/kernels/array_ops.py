"""Kernels that build, move, split and join values without computing.

TensorFlow: core/kernels/identity_op.cc, shape_ops.cc, constant_op.cc, reshape_op.h, transpose_op.cc,
pad_op.cc, slice_op.cc, strided_slice_op.cc, tile_ops.cc, gather_op.cc, pack_op.cc, concat_op.cc and similar
files. Reshape, Transpose and others return views, which is safe because values are never modified.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..core_ops.array_shape_fns import index_of, sliced_shape
from ..framework.errors import InvalidArgumentError
from ..framework.node_def import NodeDef
from ..framework.op_kernel import OpKernel, OpKernelContext, register_kernel
from ..framework.shape_inference import InferringKernel

__all__: list[str] = []


@register_kernel("StopGradient")
@register_kernel("Identity")
class IdentityOp(OpKernel):
    """Returns the input."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input; the executor has replaced a reference to a variable by its value."""
        return inputs[0]


@register_kernel("CheckNumerics")
class CheckNumericsOp(OpKernel):
    """Returns the input; fails if it is not finite. TensorFlow: core/kernels/check_numerics_op.cc."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input; raise `InvalidArgumentError` if it holds NaN or infinity."""
        if not np.isfinite(inputs[0]).all():
            found = [name for name, test in (("Inf", np.isinf), ("NaN", np.isnan)) if test(inputs[0]).any()]
            raise InvalidArgumentError(
                f"{self.node.attrs['message']} : Tensor had {' and '.join(found)} values"
            )
        return inputs[0]


# --- shapes as values --------------------------------------------------------------------------------


@register_kernel("Shape")
class ShapeOp(OpKernel):
    """Returns the shape of the input."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a vector with one size for each axis."""
        return np.array(inputs[0].shape, self.node.attrs["out_type"])


@register_kernel("ShapeN")
class ShapeNOp(OpKernel):
    """Returns the shapes of several inputs."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return one vector for each input."""
        shapes = tuple(np.array(each.shape, self.node.attrs["out_type"]) for each in inputs)
        return shapes if len(shapes) != 1 else shapes[0]


@register_kernel("Size")
class SizeOp(OpKernel):
    """Returns the number of elements of the input."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a scalar."""
        return np.array(inputs[0].size, self.node.attrs["out_type"])


@register_kernel("Rank")
class RankOp(OpKernel):
    """Returns the number of axes of the input."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a scalar."""
        return np.array(inputs[0].ndim, "int32")


@register_kernel("BroadcastGradientArgs")
class BCastGradArgsOp(OpKernel):
    """Returns, for two shapes, the axes along which the gradient must be summed."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return two vectors; an axis where both sizes are 1 is in both, as in TensorFlow's BCast."""
        shapes = [tuple(sizes.tolist()) for sizes in inputs]
        if shapes[0] == shapes[1]:
            return (np.zeros(0, inputs[0].dtype),) * 2
        rank = max(map(len, shapes))
        sizes = [(1,) * (rank - len(shape)) + shape for shape in shapes]
        for axis, pair in enumerate(zip(*sizes, strict=True)):
            if pair[0] != pair[1] and 1 not in pair:
                raise InvalidArgumentError(
                    f"s0 and s1 of BroadcastGradientArgs must fit each other; got {shapes[0]} and "
                    f"{shapes[1]} (axis {axis})"
                )
        return tuple(
            np.array([axis for axis, size in enumerate(one) if size == 1], inputs[0].dtype) for one in sizes
        )


# --- constants by shape ------------------------------------------------------------------------------


@register_kernel("Fill")
class FillOp(InferringKernel):
    """Returns a tensor filled with one value."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return an array of the shape given by the first input."""
        (shape,) = self.infer(*inputs)
        return np.full(shape, inputs[1])


@register_kernel("OneHot")
class OneHotOp(InferringKernel):
    """Returns on_value at each index of a new axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return off_value everywhere for an index that is negative or too large, as TensorFlow does."""
        self.infer(*inputs)
        indices, depth, on_value, off_value = inputs
        hot = np.where(indices[..., None] == np.arange(depth), on_value, off_value)
        axis = self.node.attrs["axis"]
        return hot if axis == -1 else np.moveaxis(hot, -1, axis)


@register_kernel("Range")
class RangeOp(InferringKernel):
    """Returns start, start + delta, ... below limit."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a vector."""
        ((count,),) = self.infer(*inputs)
        start, _, delta = inputs
        return (start + np.arange(count, dtype=start.dtype) * delta).astype(start.dtype, copy=False)


# --- the same elements in another shape --------------------------------------------------------------


@register_kernel("ExpandDims")
@register_kernel("Squeeze")
@register_kernel("Reshape")
class ReshapeOp(InferringKernel):
    """Returns the same elements in another shape, which is known once the inputs are."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the first input in the shape that the op's shape function infers."""
        (shape,) = self.infer(*inputs)
        return inputs[0].reshape(shape)


@register_kernel("Transpose")
class TransposeOp(InferringKernel):
    """Returns the input with permuted axes."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return x with its axes in the order given by the second input."""
        self.infer(*inputs)
        return inputs[0].transpose(inputs[1].tolist())


# --- more or fewer elements --------------------------------------------------------------------------


@register_kernel("Pad")
class PadOp(InferringKernel):
    """Adds zeros before and after along each axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input with zeros around it; the second input is [before, after] for each axis."""
        x, paddings = inputs
        (shape,) = self.infer(x, paddings)
        padded = np.zeros(shape, x.dtype)
        starts = paddings[:, 0].tolist()
        padded[tuple(slice(start, start + size) for start, size in zip(starts, x.shape, strict=True))] = x
        return padded


@register_kernel("Slice")
class SliceOp(InferringKernel):
    """Returns a part of the input."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the part that starts at the second input and has the size of the third."""
        (shape,) = self.infer(*inputs)
        starts = inputs[1].tolist()
        return inputs[0][tuple(slice(at, at + size) for at, size in zip(starts, shape, strict=True))]


@register_kernel("Tile")
class TileOp(InferringKernel):
    """Repeats the input along each axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input repeated as often as the second input says."""
        self.infer(*inputs)
        return np.tile(inputs[0], inputs[1].tolist())


@register_kernel("BroadcastTo")
class BroadcastToOp(InferringKernel):
    """Expands axes of size 1."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the input expanded to the shape given by the second input."""
        (shape,) = self.infer(*inputs)
        return np.broadcast_to(inputs[0], shape)


def _check_indices(indices: Any, size: int, what: str) -> None:
    if indices.size and not 0 <= indices.min() <= indices.max() < size:
        bad = indices[(indices < 0) | (indices >= size)].ravel()[0]
        raise InvalidArgumentError(f"{what} must be from 0 to {size - 1}; got {bad}")


@register_kernel("GatherV2")
class GatherOp(InferringKernel):
    """Returns the slices at the indices."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return params with the axis replaced by the axes of the indices."""
        self.infer(*inputs)
        params, indices, axis = inputs
        _check_indices(indices, params.shape[int(axis)], "indices of GatherV2")
        return np.take(params, indices, axis=int(axis))


@register_kernel("UnsortedSegmentSum")
class UnsortedSegmentSumOp(InferringKernel):
    """Adds up the slices with the same segment number."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return one sum for each segment; slices with a negative number are left out."""
        (shape,) = self.infer(*inputs)
        data, ids, count = inputs
        _check_indices(np.maximum(ids, 0), int(count), "segment_ids of UnsortedSegmentSum")
        sums = np.zeros(shape, data.dtype)
        np.add.at(sums, ids[ids >= 0], data[ids >= 0])
        return sums


@register_kernel("InvertPermutation")
class InvertPermutationOp(OpKernel):
    """Returns the permutation that undoes a permutation."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return y with y[x[i]] = i; raise ``ValueError`` if x is no permutation."""
        if sorted(inputs[0].tolist()) != list(range(inputs[0].size)):
            raise InvalidArgumentError(f"x must be a permutation of 0, 1, ...; got {inputs[0].tolist()}")
        return np.argsort(inputs[0]).astype(inputs[0].dtype)


# --- several tensors ---------------------------------------------------------------------------------


@register_kernel("Pack")
class PackOp(InferringKernel):
    """Joins the inputs along a new axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the stack."""
        self.infer(*inputs)
        return np.stack(inputs, self.node.attrs["axis"])


@register_kernel("Unpack")
class UnpackOp(InferringKernel):
    """Splits the input into its slices along an axis."""

    def __init__(self, node: NodeDef, label: str = ""):
        super().__init__(node, label)
        self.axis = node.attrs["axis"]

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the slices; a single one is not in a tuple, as for every kernel."""
        self.infer(*inputs)
        slices = tuple(np.moveaxis(inputs[0], self.axis, 0))
        return slices if len(slices) != 1 else slices[0]


@register_kernel("ConcatV2")
class ConcatV2Op(InferringKernel):
    """Joins the inputs along an axis."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return the inputs but the last joined along the axis that the last one gives."""
        self.infer(*inputs)
        return np.concatenate(inputs[:-1], int(inputs[-1]))


@register_kernel("ConcatOffset")
class ConcatOffsetOp(OpKernel):
    """Returns where each input of a ConcatV2 starts in its output."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return one vector for each shape; it is 0 except along the axis."""
        axis, shapes = int(inputs[0]), inputs[1:]
        starts = np.cumsum([0, *(shape[axis] for shape in shapes[:-1])])
        offsets = np.zeros((len(shapes), shapes[0].size), "int32")
        offsets[:, axis] = starts
        return tuple(offsets) if len(shapes) != 1 else offsets[0]


@register_kernel("DynamicStitch")
class DynamicStitchOp(InferringKernel):
    """Merges slices by their indices."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return one array; where an index occurs twice the later slice stays."""
        (shape,) = self.infer(*inputs)
        half = len(inputs) // 2
        merged = np.zeros(shape, inputs[half].dtype)
        for indices, data in zip(inputs[:half], inputs[half:], strict=True):
            merged[indices.ravel()] = data.reshape(prod(indices.shape), *data.shape[indices.ndim :])
        return merged


# --- parts -------------------------------------------------------------------------------------------


@register_kernel("StridedSlice")
class StridedSliceOp(OpKernel):
    """Returns a part of the input."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return a view of the input; NumPy's slices follow the same rules."""
        x, *bounds = inputs
        key = index_of(self.node.attrs, *bounds)
        sliced_shape(x.shape, key)  # raises for an index out of range
        return x[(*key, ...)] if Ellipsis not in key else x[key]  # an array also where no axis is left


@register_kernel("StridedSliceGrad")
class StridedSliceGradOp(OpKernel):
    """Puts a gradient where StridedSlice took its output from."""

    def compute(self, context: OpKernelContext, *inputs: Any) -> Any:
        """Return zeros of the given shape with ``dy`` in the place of the part."""
        shape, *bounds, dy = inputs
        whole = np.zeros(shape.tolist(), dy.dtype)
        whole[index_of(self.node.attrs, *bounds)] = dy
        return whole
