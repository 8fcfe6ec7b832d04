"""Sums in float64: sum |x||w|, which the error bounds are multiples of, and a call's result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..backends import numpy_backend
from ..dispatch import Call
from ..dtypes import float_format, is_integer

__all__ = ["abs_sum", "float64_result"]


def abs_sum(call: Call) -> np.ndarray:
    """Return sum |x||w| for every cell of the result, in float64, counting finite values only.

    Args:
        call: the call.

    Returns:
        An array in NHWC order, or HWIO for a filter gradient. It is rounded up, so that it is no smaller than
        the exact sum.
    """
    sizes = replace(
        call,
        first=_magnitudes(call.first),
        second=_magnitudes(call.second),
        bias=None if call.bias is None else _magnitudes(call.bias),
    )
    roundoff = 2 * call.terms * float_format("float64").unit_roundoff
    return float64_result(sizes) * (1 + roundoff)


def float64_result(call: Call) -> np.ndarray:
    """Return the result of a call, computed in float64; integers are computed in their own type.

    Args:
        call: the call.

    Returns:
        The result in NHWC order, or HWIO for a filter gradient.
    """
    first, second, bias = call.first, call.second, call.bias
    if not is_integer(first.dtype):
        first, second = first.astype(np.float64), second.astype(np.float64)
        bias = None if bias is None else bias.astype(np.float64)
    if first.size == 0 or second.size == 0 or 0 in call.backend_shape:
        result = np.zeros(call.backend_shape, first.dtype)
        return result if bias is None else result + bias
    options = {} if bias is None else {"bias": bias}
    return np.asarray(getattr(numpy_backend, call.kind.name)(first, second, call.geometry, **options))


def _magnitudes(array: np.ndarray) -> np.ndarray:
    """Return absolute values in float64, with 0 for NaN and infinity."""
    values = np.abs(array.astype(np.float64))
    return np.where(np.isfinite(values), values, 0.0)
