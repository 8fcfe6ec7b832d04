"""The public ops of images. TensorFlow: python/ops/image_ops_impl.py, tf.compat.v1.image."""

from __future__ import annotations

from typing import Any

from . import gen_nn_ops

__all__ = ["resize_nearest_neighbor"]


def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Any:
    """Resize images; each cell copies its nearest neighbour.

    Args:
        images: [batch, rows, cols, channels].
        size: the new rows and columns: two ints or a vector.
        align_corners: whether the corner cells of both images coincide.
        name: the name of the node.
        half_pixel_centers: whether cells are taken as squares, compared by their centres.

    Returns:
        [batch, new rows, new columns, channels].

    Raises:
        ValueError, TypeError: if shapes or dtypes do not fit.

    >>> resize_nearest_neighbor([[[[1], [2]]]], [1, 4]).numpy().ravel().tolist()
    [1, 1, 2, 2]
    """
    return gen_nn_ops.resize_nearest_neighbor(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )
