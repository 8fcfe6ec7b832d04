"""What the compiled module does for a graph whichever backend convolves: a run's memory, and two gradients.

Beside each is NumPy's way, with the same bits: it is used until a convolution has loaded the module.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from ...backends.planes import ONE_ROW
from ...core.geometry import ConvGeometry

_KERNELS = "teachconv._kernels"


def reused_memory() -> AbstractContextManager[None]:
    """Within the block, give this thread's new arrays the memory of freed ones, which is kept as scratch is.

    The C library would give it back to the system, and a page fault for each of its pages would follow. An
    array owns its memory until it is freed itself, so that the caller may keep what is computed here.
    """
    kernels = _loaded()
    return nullcontext() if kernels is None else kernels.ReusedMemory()


def relu_gradient(gradients: np.ndarray, features: np.ndarray) -> np.ndarray | None:
    """Return the gradients where the features are positive, elsewhere 0; None if NumPy has to compute it."""
    kernels = _loaded()
    if kernels is None or gradients.shape != features.shape or not _loops_take(gradients, features):
        return None
    result = np.empty_like(gradients)
    kernels.relu_gradient(gradients.reshape(-1), features.reshape(-1), result.reshape(-1))
    return result


def max_pool_gradient(x: np.ndarray, dy: np.ndarray, geometry: ConvGeometry) -> np.ndarray | None:
    """Return the gradient of the maxima of windows; None if NumPy has to compute it.

    Args:
        x: what was pooled, [batch, in_rows, in_cols, channels].
        dy: the gradient with respect to the maxima, [batch, out_rows, out_cols, channels].
        geometry: of the convolution with the same windows, one group for each channel. A window's first
            largest cell has won, or its first cell if that is NaN.
    """
    kernels = _loaded()
    if kernels is None or geometry.rank != 2 or not _loops_take(x, dy):
        return None
    problem = kernels.Problem(*replace(geometry, axes=(ONE_ROW, *geometry.axes), data_format="").integers)
    result = np.zeros_like(x)
    kernels.max_pool_gradient(problem, x.reshape(-1), dy.reshape(-1), result.reshape(-1))
    return result


def _loaded() -> Any:
    """Return the compiled module if it is loaded, else None; wait for a thread that is loading it."""
    return import_module(_KERNELS) if _KERNELS in sys.modules else None


def _loops_take(first: np.ndarray, second: np.ndarray) -> bool:
    """Return whether two arrays are floats of one type, not empty, and in C order."""
    plain = type(first) is type(second) is np.ndarray and first.dtype == second.dtype
    return (
        plain
        and first.dtype in (np.float32, np.float64)
        and first.size * second.size > 0
        and all(array.flags.c_contiguous and array.flags.aligned for array in (first, second))
    )
