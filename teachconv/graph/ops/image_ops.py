"""Patches, other sizes, blocks of pixels, greys: composed ops. TensorFlow: python/ops/image_ops_impl.py."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ...core.arguments import normalize_steps
from ...core.geometry import conv_geometry
from ...core.law import AxisGeometry
from ...support.errors import ArgumentError, brief, check_word
from ...windows import resizing
from ...windows.calls import bound_shapes
from ..framework.eager_tensor import static_shape
from ..framework.ops import name_scope
from ..options import unsupported
from .array_ops import concat, gather, pad, reshape
from .math_ops import cast, multiply, reduce_sum

__all__ = [
    "depth_to_space",
    "extract_patches",
    "resize",
    "resized",
    "rgb_to_grayscale",
    "space_to_depth",
]

_GREY = np.array([0.2989, 0.587, 0.114], "float32")


def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: Any, name: str | None = None
) -> Any:
    """Return the patch under each window as one vector: the first of the three steps of a convolution.

    A product with filters [rows * cols * channels, out_channels] and a reshape are the other two.

    Args:
        images: [batch, in_rows, in_cols, channels], with known sizes apart from the batch.
        sizes: the size of the window, [1, rows, cols, 1].
        strides: as ``sizes``.
        rates: the dilation, as ``sizes``.
        padding: "SAME" or "VALID".
        name: the name scope of the nodes.

    Returns:
        [batch, out_rows, out_cols, rows * cols * channels], each vector row by row, the channels innermost.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> image = np.arange(9.0).reshape(1, 3, 3, 1)
    >>> extract_patches(image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID").numpy()[0, 0].tolist()
    [[0.0, 1.0, 3.0, 4.0], [1.0, 2.0, 4.0, 5.0]]
    """
    shape, window = static_shape(images), normalize_steps(sizes, "sizes")
    if shape is None or None in shape[1:]:
        raise ArgumentError(f"images must have known sizes apart from the batch; got shape {brief(shape)}")
    geometry = conv_geometry((1, *shape[1:]), (*window, shape[-1], 1), strides, padding, "NHWC", rates)
    rows, cols = geometry.axes
    with name_scope(name or "ExtractImagePatches"):
        padded = pad(images, [[0, 0], *map(list, geometry.padding), [0, 0]])
        taps = [padded[:, _under(rows, row), _under(cols, col)] for row, col in np.ndindex(*window)]
        return concat(taps, -1)


def _under(axis: AxisGeometry, tap: int) -> slice:
    """Return the cells of a padded axis that lie under a tap, one for each output."""
    first, last = (axis.in_index(out, tap) + axis.pad_before for out in (0, axis.out_size - 1))
    return slice(first, last + 1, axis.stride)


@unsupported("preserve_aspect_ratio", "antialias")
def resize(
    images: Any,
    size: Any,
    method: str = "bilinear",
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """Return images of another size; the centre of a pixel, not its corner, is where its index is.

    Args:
        images: [batch, rows, cols, channels] with known rows and columns, or one image.
        size: [rows, cols] of the result.
        method: "bilinear", which gives float32, or "nearest".
        preserve_aspect_ratio, antialias: must be False.
        name: the name scope of the nodes.

    Returns:
        Images of that size, [batch, rows, cols, channels], or one image.

    Raises:
        ValueError: if an argument is not one of these.

    >>> resize(np.float32([0, 4]).reshape(1, 1, 2, 1), [1, 4]).numpy().ravel().tolist()
    [0.0, 1.0, 3.0, 4.0]
    """
    check_word(method, "method", ("bilinear", "nearest"))
    return resized(images, size, method == "nearest", half_pixel_centers=True, name=name)


def resized(
    images: Any,
    size: Any,
    nearest: bool,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    name: str | None = None,
) -> Any:
    """Return images of another size, by one of the three rules for where a pixel lies that TensorFlow had.

    Args:
        images, size, name: as in `resize`.
        nearest: whether a pixel is copied, not interpolated between two rows and two columns.
        align_corners: whether the outermost pixels stay the outermost, exactly.
        half_pixel_centers: whether a pixel lies at its index and a half; otherwise at its index.

    Returns:
        As `resize`.
    """
    images, shape = images if nearest else cast(images, "float32"), static_shape(images)
    coordinates = "align_corners" if align_corners else "half_pixel" if half_pixel_centers else "asymmetric"
    words = {"method": "nearest" if nearest else "bilinear", "coordinates": coordinates}
    law, _ = bound_shapes(resizing.resize, ((*shape[-3:-1], 1), np.asarray(size)), words)
    with name_scope(name or "resize"):
        for axis in law.resized:
            taps = [[*law.along(axis, out).items()] for out in range(law.output_shape[axis])]
            low, *high = (
                gather(
                    images, np.array([cells[end][0] for cells in taps], np.int32), axis=axis - 3 + len(shape)
                )
                for end in ((0,) if nearest else (0, -1))
            )
            weights = np.array([cells[-1][1] for cells in taps], np.float32).reshape(-1, *[1] * (2 - axis))
            images = low + (high[0] - low) * weights if high else low
        return images


def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Any:
    """Return channels as blocks of pixels.

    Args:
        input: [batch, rows, cols, channels * block_size**2] in ``data_format`` order, with known sizes apart
            from the batch.
        block_size: how many rows, and columns, a block has; at least 2.
        data_format: "NHWC" or "NCHW".
        name: the name scope of the nodes.

    Returns:
        [batch, rows * block_size, cols * block_size, channels] in ``data_format`` order.

    Raises:
        ValueError, TypeError: if the arguments are invalid.

    >>> depth_to_space(np.arange(8.0).reshape(1, 1, 1, 8), 2).numpy()[0, :, :, 0].tolist()
    [[0.0, 2.0], [4.0, 6.0]]
    """
    return _shuffled(resizing.depth_to_space, input, block_size, data_format, name)


def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC", name: str | None = None) -> Any:
    """Return blocks of pixels as channels: the inverse of `depth_to_space`, whose arguments it takes.

    >>> space_to_depth(np.arange(4.0).reshape(1, 2, 2, 1), 2).numpy().ravel().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    return _shuffled(resizing.space_to_depth, input, block_size, data_format, name)


def _shuffled(law: Any, input: Any, block_size: Any, data_format: Any, name: str | None) -> Any:
    """Gather the cells of each image in the order that a function of windows gives them."""
    shape = static_shape(input)
    if shape is None or None in shape[1:]:
        raise ArgumentError(f"input must have known sizes apart from the batch; got shape {brief(shape)}")
    call, _ = bound_shapes(law, ((1, *shape[1:]), block_size, data_format), {})
    read = call(np.arange(prod(shape[1:]), dtype=np.int32).reshape(call.input_shape)).ravel()
    with name_scope(name or law.__name__):
        cells = gather(reshape(input, [-1, read.size]), read, axis=1)
        return reshape(cells, [-1, *call.output_shape[1:]])


def rgb_to_grayscale(images: Any, name: str | None = None) -> Any:
    """Return images in greys: 0.2989 of red, 0.587 of green and 0.114 of blue.

    Args:
        images: [..., 3], floats.
        name: the name of the node.

    Returns:
        [..., 1].

    >>> round(float(rgb_to_grayscale([[1.0, 1.0, 1.0]])[0, 0]), 4)
    0.9999
    """
    return reduce_sum(multiply(images, _GREY), -1, keepdims=True, name=name or "rgb_to_grayscale")
