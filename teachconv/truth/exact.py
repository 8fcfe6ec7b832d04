"""Sums in float64: sum |x||w|, which the error bounds are multiples of, and a call's result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..backends import numpy_backend
from ..core.calls import Call
from ..core.dtypes import accumulator, float_format, is_integer
from . import bounds


def abs_sum(call: Call) -> np.ndarray:
    """Return sum |x||w| for every cell of the result, in float64, counting finite values only.

    Args:
        call: the call.

    Returns:
        An array in NHWC order, or HWIO for a filter gradient. It is rounded up, so that it is no smaller than
        the exact sum.
    """
    roundoff = 2 * call.terms * float_format("float64").unit_roundoff
    return float64_result(call.with_each(_magnitudes)) * (1 + roundoff)


def never_rounds(call: Call, sizes: np.ndarray) -> np.ndarray:
    """Return which cells are exact in whatever order their products are summed.

    They are sums of whole numbers that, all positive, would not exceed those that the accumulator's type
    counts one by one, such as 2**24 in float32: then no product and no sum on the way is rounded.

    Args:
        call: the call.
        sizes: what `abs_sum` returns.

    Returns:
        A boolean array that broadcasts to ``sizes``.
    """
    if is_integer(call.first.dtype):
        return np.zeros((), bool)
    arrays = (array for array in (call.first, call.second, call.bias) if array is not None)
    with np.errstate(invalid="ignore"):  # of a signalling NaN, which is not whole
        if not all(np.array_equal(array, np.rint(array)) for array in arrays):
            return np.zeros((), bool)
    return sizes <= 2.0 ** float_format(accumulator(call.first.dtype)).precision


def signed_sums(call: Call, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the sum of the positive terms of each cell and that of the negative ones, if any may overflow.

    Args:
        call: the call.
        sizes: what `abs_sum` returns for it.

    Returns:
        Two arrays in float64, both without sign, counting finite values only; or None where no sum comes near
        the largest number of the data's type.
    """
    dtype = call.first.dtype
    if is_integer(dtype) or not (sizes > float_format(dtype).largest / 2).any():
        return None
    first, second = _parts(call.first), _parts(call.second)
    bias = (0.0, 0.0) if call.bias is None else _parts(call.bias)

    def sums(other: int) -> np.ndarray:
        """Add the products of numbers of one sign, or those of different signs."""
        with np.errstate(over="ignore"):
            pairs = (
                replace(call, first=first[sign], second=second[sign ^ other], bias=None) for sign in (0, 1)
            )
            one, two = map(float64_result, pairs)
            return one + two + bias[other]

    return sums(0), sums(1)


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


def unrounded(call: Call) -> np.ndarray | None:
    """Return the result in float64 for a type whose sums are rounded again at the end, else None.

    These are the half types. Their sums are formed in float32, whose roundings are 2^29 times as large as
    those of float64.

    Args:
        call: the call.

    Returns:
        What `float64_result` returns, or None.
    """
    dtype = call.first.dtype
    return None if is_integer(dtype) or accumulator(dtype) == dtype else float64_result(call)


def judge_direct(call: Call, got: np.ndarray, want: np.ndarray) -> bounds.Verdict:
    """Judge a result by the bound of direct summation; integers must be equal.

    Args:
        call: the call.
        got: the result, as a backend returns it.
        want: the reference's.

    Returns:
        What `teachconv.truth.bounds.judge` returns.
    """
    if is_integer(want.dtype):
        return bounds.judge(got, want)
    sizes = abs_sum(call)
    bound, signed = bounds.direct(sizes, call.terms, want.dtype), signed_sums(call, sizes)
    return bounds.judge(got, want, bound, sizes, call.terms, signed, unrounded(call))


def _magnitudes(array: np.ndarray) -> np.ndarray:
    """Return absolute values in float64, with 0 for NaN and infinity."""
    values = np.abs(array.astype(np.float64))
    return np.where(np.isfinite(values), values, 0.0)


def _parts(array: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positive and the negative numbers, both without sign and with 0 for all others."""
    sizes = _magnitudes(array)
    return np.where(array > 0, sizes, 0.0), np.where(array < 0, sizes, 0.0)
