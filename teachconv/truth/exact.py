"""The sums behind a result, in float64: what a bound is a multiple of, and what a guess is compared with."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..backends import numpy_backend
from ..dispatch import Call
from ..dtypes import float_format, is_integer

__all__ = ["abs_sum", "float64_result"]


def abs_sum(call: Call) -> np.ndarray:
    """Return sum |x||w| of every cell, from finite values only, in float64, as a backend has it."""
    sizes = replace(
        call,
        first=_magnitudes(call.first),
        second=_magnitudes(call.second),
        bias=None if call.bias is None else _magnitudes(call.bias),
    )
    roundoff = 2 * call.terms * float_format("float64").unit_roundoff
    return float64_result(sizes) * (1 + roundoff)


def float64_result(call: Call) -> np.ndarray:
    """Return the canonical result of a call computed in float64, or in the integers' own type."""
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
    values = np.abs(array.astype(np.float64))
    return np.where(np.isfinite(values), values, 0.0)
