"""Selection by a mask, for the gradients of Relu and MaxPool."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["masked"]


def masked(mask: Any, values: Any) -> np.ndarray:
    """Return the values where the mask is true, elsewhere 0: also where a value is infinite or NaN.

    It ands the bits of the values with all ones or zeros. ``numpy.where`` branches for each element and takes
    about ten times as long where the mask has no pattern.

    Args:
        mask: booleans.
        values: numbers of the same shape.

    Returns:
        A new array of the dtype of ``values``.

    >>> masked(np.array([True, False, False]), np.float32([-1.5, 2.5, np.nan])).tolist()
    [-1.5, 0.0, 0.0]
    """
    values = np.asarray(values)
    bits = np.dtype(f"i{values.dtype.itemsize}")
    kept = np.array(mask, bits)
    np.negative(kept, out=kept)  # 1 becomes -1, all ones
    kept &= values.view(bits)
    return kept.view(values.dtype)
