"""Stencils on images: every pixel of the result is a weighted sum of pixels near it."""

from collections.abc import Sequence

import numpy as np

__all__ = ["BLUR", "SOBEL", "correlate", "edges"]

BLUR = np.outer([1, 2, 1], [1, 2, 1]) / 16
SOBEL = np.outer([1, 2, 1], [-1, 0, 1])


def correlate(
    image: np.ndarray,
    filters: np.ndarray,
    strides: Sequence[int] = (1, 1),
    pads: Sequence[Sequence[int]] = ((0, 0), (0, 0)),
) -> np.ndarray:
    """Correlate an image with filters, one shifted copy of the image for each tap.

    It computes what :func:`teachconv.conv2d` computes for a batch of one.

    Args:
        image: an array of [rows, cols, channels].
        filters: an array of [filter_rows, filter_cols, channels, results], of the image's type.
        strides: how far apart the results are, in rows and in columns.
        pads: how many zeros are added at ((top, bottom), (left, right)).

    Returns:
        An array of [rows, cols, results].
    """
    padded = np.pad(image, (*pads, (0, 0)))
    sizes = [(n - k) // step + 1 for n, k, step in zip(padded.shape, filters.shape, strides, strict=False)]
    result = np.zeros((*sizes, filters.shape[3]), image.dtype)
    for row, col in np.ndindex(filters.shape[:2]):
        rows = slice(row, row + (sizes[0] - 1) * strides[0] + 1, strides[0])
        cols = slice(col, col + (sizes[1] - 1) * strides[1] + 1, strides[1])
        result += padded[rows, cols] @ filters[row, col]
    return result


def edges(image: np.ndarray) -> np.ndarray:
    """Return how steep a gray image of [rows, cols] is at each pixel."""
    plane = np.asarray(image, np.float64)[:, :, None]
    both = np.stack([SOBEL, SOBEL.T], axis=-1)[:, :, None, :].astype(np.float64)
    down, across = np.moveaxis(correlate(plane, both, pads=((1, 1), (1, 1))), -1, 0)
    steepness: np.ndarray = np.hypot(down, across)
    return steepness
