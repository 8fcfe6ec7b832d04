"""Shape functions of the gradients of convolution, pooling, bias and cross-entropy, and of resizing.

TensorFlow: core/framework/common_shape_fns.cc, core/ops/nn_ops.cc and image_ops.cc.
"""

from __future__ import annotations

from dataclasses import replace

from ...errors import ArgumentError
from ..framework.tensor_shape import StaticShape, is_compatible, merge, text
from .common_shape_fns import (
    InferenceContext,
    bias_add_shape,
    depthwise_conv2d_native_shape,
    input_sizes,
    merged_shape,
    pool_shape,
)

__all__: list[str] = []


def depthwise_backprop_input_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``input_sizes``, and check that it fits ``out_backprop``."""
    sizes = input_sizes(c)
    return _backprop(c, sizes, sizes, c.with_rank(1, 4, "filter"))


def depthwise_backprop_filter_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``filter_sizes``, and check that it fits ``out_backprop``."""
    sizes = c.shape_value(1, "filter_sizes", 4)
    return _backprop(c, sizes, c.with_rank(0, 4, "input"), sizes)


def _backprop(
    c: InferenceContext, sizes: StaticShape, images: StaticShape, filters: StaticShape
) -> list[StaticShape]:
    (wanted,) = depthwise_conv2d_native_shape(replace(c, shapes=[images, filters]))
    if not is_compatible(wanted, c.with_rank(2, 4, "out_backprop")):
        raise ArgumentError(
            f"out_backprop of {c.op} must have shape {text(wanted)}, that of the convolution of an input "
            f"{text(images)} with filters {text(filters)}; got {text(c.shapes[2])}"
        )
    return [sizes]


def bias_add_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [channels]."""
    shape = c.shapes[0]
    if shape is None:
        return [(None,)]
    bias_add_shape(replace(c, shapes=[shape, (None,)]))  # checks the number of axes
    return [(shape[1 if c.attrs["data_format"] == "NCHW" else -1],)]


def softmax_xent_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [batch] for the loss and [batch, classes] for the gradient."""
    logits = merge(c.with_rank(0, 2, "features"), c.with_rank(1, 2, "labels"))
    if not is_compatible(c.shapes[0], c.shapes[1]):
        raise ArgumentError(
            f"features and labels of {c.op} must have one shape; got {text(c.shapes[0])} and "
            f"{text(c.shapes[1])}"
        )
    return [None if logits is None else logits[:1], logits]


def sparse_softmax_xent_shape(c: InferenceContext) -> list[StaticShape]:
    """Return [batch] for the loss and [batch, classes] for the gradient."""
    (rows, classes), labels = c.with_rank(0, 2, "features"), c.with_rank(1, 1, "labels")
    if not is_compatible((rows,), labels):
        raise ArgumentError(
            f"labels of {c.op} must have one class for each row of the features {text(c.shapes[0])}; got "
            f"shape {text(labels)}"
        )
    batch = labels[0] if rows is None else rows
    return [(batch,), (batch, classes)]


def max_pool_grad_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of ``orig_output``; ``grad`` has that of ``orig_input``."""
    (pooled,) = pool_shape(c)
    merged_shape(replace(c, shapes=[c.shapes[0], c.shapes[2]]))
    if not is_compatible(pooled, c.shapes[1]):
        raise ArgumentError(f"orig_output of {c.op} must have shape {text(pooled)}; got {text(c.shapes[1])}")
    return [merge(pooled, c.shapes[1])]


def avg_pool_grad_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the value of ``orig_input_shape``."""
    sizes = c.shape_value(0, "orig_input_shape", 4)
    (pooled,) = pool_shape(replace(c, shapes=[sizes]))
    if not is_compatible(pooled, c.with_rank(1, 4, "grad")):
        raise ArgumentError(f"grad of {c.op} must have shape {text(pooled)}; got {text(c.shapes[1])}")
    return [sizes]


def resize_shape(c: InferenceContext) -> list[StaticShape]:
    """Return the shape of the images with the rows and columns of ``size``."""
    batch, _, _, channels = c.with_rank(0, 4, "images")
    rows, cols = c.shape_value(1, "size", 2) or (None, None)
    if 0 in (rows, cols):
        raise ArgumentError(f"size of {c.op} must be positive; got {[rows, cols]}")
    return [(batch, rows, cols, channels)]
