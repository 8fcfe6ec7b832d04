"""A drawn digit as the network of `teachconv.data.digits` reads it: scaled, thickened, and its ink counted.

scikit-learn's digits are counts of ink. Programs of NIST made each digit fill a bitmap of 32 x 32 cells, and
E. Alpaydin and C. Kaynak counted the cells with ink in each block of 4 x 4. A drawing on a pad may have any
size, place and pen; `prepare` gives it the size, the place and the amount of ink of those digits.
``teachconv/explorer/script/pad.js`` does the same in a page, number for number.

A drawing is a list of strokes, and a stroke is a list of points (x, y) in fractions of the pad's side, from
its top left.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["as_drawn", "prepare"]

Strokes = Sequence[Sequence[Sequence[float]]]

SIDE, BLOCK = 32, 4  # rows, and columns, of the bitmap and of a block
FILLED = (16, 27)  # columns and rows between the outermost points; the lines around these fill the rest
INK = 310  # cells with ink, as in the mean of scikit-learn's digits
RADII = (1.2, 4.0)  # of the thinnest and of the thickest line, in cells
LEAST = 0.02  # of the pad: what is narrower or lower is scaled as if it were so large


def prepare(strokes: Strokes) -> np.ndarray:
    """Return what the network reads: the ink in each block of a drawing that was scaled to fill the bitmap.

    Args:
        strokes: lists of points; an empty drawing has none.

    Returns:
        [8, 8] integers from 0 to 16, which the network takes divided by 16.

    A vertical line becomes a thick one, as the ones of scikit-learn are:

    >>> prepare([[(0.3, 0.4), (0.3, 0.6)]])[:2]
    array([[ 0,  0,  0, 15, 15,  0,  0,  0],
           [ 0,  0,  0, 16, 16,  0,  0,  0]])

    >>> prepare([]).any()
    np.False_
    """
    points = np.array([point for stroke in strokes for point in stroke]).reshape(-1, 2)
    if not len(points):
        return np.zeros((SIDE // BLOCK, SIDE // BLOCK), int)
    low, high = points.min(0), points.max(0)
    width, height = high - low
    rows_for_one = FILLED[1] / max(height, width / 3, LEAST)  # a lying line does not become a high one
    cols_for_one = min(FILLED[0] / max(width, LEAST), rows_for_one)  # nor a narrow digit a wide one
    scale, middle = np.array([cols_for_one, rows_for_one]), (low + high) / 2
    scaled = [[(np.array(point) - middle) * scale + SIDE / 2 for point in stroke] for stroke in strokes]
    squares = squared_distances(scaled)
    least, most = RADII
    reach = min(max(np.sort(squares, axis=None)[INK - 1], least**2), most**2)
    return counts(squares <= reach)


def as_drawn(strokes: Strokes, pen: float) -> np.ndarray:
    """Return the ink in each block of a drawing that was not scaled.

    Args:
        strokes: lists of points.
        pen: the width of a line, as a fraction of the pad's side.

    Returns:
        [8, 8] integers from 0 to 16.

    >>> as_drawn([[(0.3, 0.4), (0.3, 0.6)]], 0.1)[:, 2].tolist()
    [0, 0, 2, 12, 12, 2, 0, 0]
    """
    scaled = [[np.array(point) * SIDE for point in stroke] for stroke in strokes]
    return counts(squared_distances(scaled) <= (pen * SIDE / 2) ** 2)


def squared_distances(strokes: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    """Return the square of the distance of each cell's middle to the nearest line, [32, 32]."""
    y, x = np.mgrid[:SIDE, :SIDE] + 0.5
    nearest = np.full((SIDE, SIDE), np.inf)
    for stroke in strokes:
        for (x0, y0), (x1, y1) in zip(stroke, [*stroke[1:], stroke[-1]], strict=True):
            across, down = x1 - x0, y1 - y0
            length = across * across + down * down
            along = ((x - x0) * across + (y - y0) * down) / (length or 1)  # 0 and 1 are the two ends
            along = np.minimum(np.maximum(along, 0), 1)
            dx, dy = x - x0 - along * across, y - y0 - along * down
            nearest = np.minimum(nearest, dx * dx + dy * dy)
    return nearest


def counts(ink: np.ndarray) -> np.ndarray:
    """Return how many cells of each block are True."""
    blocks: np.ndarray = ink.reshape(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK).sum((1, 3))
    return blocks
