"""tf.image of TensorFlow 1, with its names and its rules for where a pixel lies.

TensorFlow: python/ops/image_ops_impl.py.
"""

from __future__ import annotations

from typing import Any

from ....graph.ops import image_ops
from ....graph.ops.image_ops import extract_patches, rgb_to_grayscale
from ....graph.options import unsupported
from ....support.errors import ArgumentError, brief
from .default_graph import imported_in_graph, in_graph, version_1

__all__ = [
    "ResizeMethod",
    "extract_image_patches",
    "extract_patches",
    "resize",
    "resize_bilinear",
    "resize_images",
    "resize_nearest_neighbor",
    "rgb_to_grayscale",
]


class ResizeMethod:
    """How `resize_images` computes a pixel.

    Attributes:
        BILINEAR: between two rows and two columns.
        NEAREST_NEIGHBOR: as a copy.
    """

    BILINEAR, NEAREST_NEIGHBOR = 0, 1


@version_1(extract_patches)
def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: Any = None,
    name: str | None = None,
    sizes: Any = None,
) -> Any:
    """Return the patch under each window as one vector, arguments as in `extract_patches`."""


@in_graph
@unsupported("preserve_aspect_ratio")
def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Any:
    """Return images of another size.

    Args:
        images: [batch, rows, cols, channels] with known rows and columns, or one image.
        size: [rows, cols] of the result.
        method: a number of `ResizeMethod`, or "bilinear" or "nearest".
        align_corners: whether the outermost pixels stay the outermost, exactly.
        preserve_aspect_ratio: must be False.
        name: the name scope of the nodes.

    Returns:
        Images of that size, [batch, rows, cols, channels], or one image.

    Raises:
        ValueError: if ``method`` is another one.
    """
    if method not in (0, 1, "bilinear", "nearest"):
        raise ArgumentError(f"method must be bilinear (0) or nearest (1); got {brief(method)}")
    return image_ops.resized(images, size, method in (1, "nearest"), align_corners, name=name)


resize = resize_images


@in_graph
def resize_bilinear(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:
    """Return images of another size, each pixel interpolated, arguments as in `resize_images`."""
    return image_ops.resized(images, size, False, align_corners, half_pixel_centers, name)


@in_graph
def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:
    """Return images of another size, each pixel a copy, arguments as in `resize_images`."""
    return image_ops.resized(images, size, True, align_corners, half_pixel_centers, name)


imported_in_graph(globals())
