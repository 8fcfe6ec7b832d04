"""The walk of windows over an array, one tap at a time for all windows at once, and exact sums along it.

A window is a filter without weights: its taps follow the index law of `geometry`. Every axis of an array,
batch and channels too, has an `AxisGeometry`, so that no layout needs code of its own; a window has one tap
on an axis that is not pooled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..core.dtypes import float_format, is_integer
from ..core.law import AxisGeometry
from ..core.rounding import round_sum
from ..core.taps import each_tap
from ..support.memory import check_memory

Axes = Sequence[AxisGeometry]


def whole(size: int) -> AxisGeometry:
    """Return an axis on which every index is a window of its own: that of the batch and of the channels."""
    return AxisGeometry(size, 1, size, 1, 1, 0, 0)


@np.errstate(all="ignore")
def fold(combine: np.ufunc, x: np.ndarray, axes: Axes, start: Any) -> np.ndarray:
    """Return each window's cells combined, beginning with ``start``; padding is skipped.

    Args:
        combine: np.add, np.maximum or np.fmax.
        x: the array.
        axes: the geometry of each of its axes.
        start: what a window without cells gives.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> fold(np.add, np.array([1, 2, 3]), [conv2d_geometry((1, 3, 3, 1), (2, 2, 1, 1)).rows], 0).tolist()
    [3, 5]
    """
    shape = tuple(axis.out_size for axis in axes)
    check_memory(shape, x.dtype, "a pool's result")
    y = np.full(shape, start, x.dtype)
    for _, outputs, inputs in each_tap(axes):
        combine(y[outputs], x[inputs], out=y[outputs])
    return y


def where_or_zero(mask: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the values where a mask is true, elsewhere 0; many times as fast as numpy.where, which branches.

    It multiplies the bits as integers: NaN and infinity vanish too where the mask is false.

    >>> where_or_zero(np.array([True, False]), np.array([-2.0, np.nan]))
    array([-2.,  0.])
    """
    if values.dtype == object:
        return np.where(mask, values, 0)
    return np.multiply(values.view(f"i{values.itemsize}"), mask).view(values.dtype)


def counts(axes: Axes, padded: bool = False) -> np.ndarray:
    """Return how many cells each window has inside the input, or inside the padded input.

    What lies beyond the padding, where a last window that ``ceil_mode`` adds may reach, never counts.
    """
    total = np.ones((), np.int64)
    for axis in axes:
        low, high = (-axis.pad_before, axis.in_size + axis.pad_after) if padded else (0, axis.in_size)
        start = axis.in_index(np.arange(axis.out_size), 0)  # type: ignore[arg-type]
        stop = np.minimum(axis.filter_size, (high - 1 - start) // axis.dilation + 1)
        inside = np.maximum(0, stop - np.maximum(0, -((start - low) // axis.dilation)))
        total = np.multiply.outer(total, inside)
    return total


@np.errstate(all="ignore")
def exactly(
    walk: Callable[[np.ndarray], np.ndarray],
    x: np.ndarray,
    terms: int = 0,
    divisors: Any = None,
    near: Callable[[np.ndarray], tuple[Any, Any, Any]] | None = None,
) -> np.ndarray:
    """Return the result of sums and quotients of an array's numbers, each exact and rounded once.

    Args:
        walk: computes the result from an array of numbers, by additions, and divisions by integers.
        x: the array. Integers wrap around; NaN and infinities count as IEEE 754 says.
        terms: at least how many numbers ``walk`` adds to one, if it does nothing else; or 0. Doubles then
            compute it, of parts of the numbers whose sums have no error.
        divisors: what its sums are divided by, if it only adds; or None.
        near: computes the result in floating point, a bound of its error, and a function that gives the exact
            number of one cell; or None.

    >>> exactly(lambda x: x.sum(keepdims=True) / 3, np.float32([1e30, 1, -1e30])).tolist()
    [0.3333333432674408]
    """
    over = 1 if divisors is None else divisors
    if is_integer(x.dtype):
        return _rounded(walk(x.astype(object)), x.dtype)  # integers have no mean
    finite = np.isfinite(x)
    numbers = np.where(finite, x, 0).astype(np.float64)
    if terms and x.dtype.itemsize < 8:
        parts = [walk(part) for part in _without_error(numbers, terms)]
        sums, lost = summed(parts)
        found, all_over = sums / over, np.broadcast_to(over, sums.shape)
        rounded = np.frexp(all_over.astype(float))[0] != 0.5  # no power of two
        error = lost / np.abs(over) + 2.0**-52 * np.abs(found) * rounded
        result = _decided(
            found,
            error,
            lambda cell: sum(Fraction(float(part[cell])) for part in parts) / int(all_over[cell]),
            x.dtype,
        )
    elif near:
        result = _decided(*near(numbers), x.dtype)
    else:
        result = _rounded(walk(rational(numbers)) / over, x.dtype)
    if finite.all():
        return result
    special = (walk(np.where(finite, 0, x).astype(np.float64)) / over).astype(np.float64)
    return np.where(np.isfinite(special), result, special.astype(x.dtype))


def affine(x: np.ndarray, factors: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return x · factors + offsets, exact and rounded once; both are rational, one for each of the last axis.

    >>> affine(np.float32([[1, 2]]), np.array([Fraction(1, 3)] * 2), np.array([Fraction(0)] * 2)).tolist()
    [[0.3333333432674408, 0.6666666865348816]]
    """
    wide = np.float64 if x.dtype.itemsize < 8 else np.longdouble
    sizes = [abs(number) for number in (*factors, *offsets) if number]
    safe = min(sizes, default=1) > 2.0**-900 and max(sizes, default=1) < 2.0**900

    def near(numbers: np.ndarray) -> tuple[Any, Any, Any]:
        f, o = (
            np.array([wide(float(n)) + wide(float(n - Fraction(float(n)))) for n in each])
            for each in (factors, offsets)
        )
        scaled = numbers * f
        # f, the product, the sum and what is added to it here are rounded, each by at most half of eps
        error = 2.5 * np.finfo(wide).eps * (np.abs(scaled) + np.abs(o)) + np.finfo(wide).tiny
        return (
            scaled + o,
            error,
            lambda cell: Fraction(float(numbers[cell])) * factors[cell[-1]] + offsets[cell[-1]],
        )

    return exactly(lambda numbers: numbers * factors + offsets, x, near=near if safe else None)


def summed(terms: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum of arrays, and how far it may be from the exact one: 0 where nothing was rounded.

    Of two floats, what their sum leaves out is a float itself (O. Møller, Quasi double-precision in floating
    point addition, BIT 5, 1965; D. E. Knuth, TAOCP 2, section 4.2.2).

    >>> [part.tolist() for part in summed(np.float64([[1, 1], [2, 2.0**-60]]))]
    [[3.0, 1.0], [0.0, 1.734723475976807e-18]]
    """
    total = lost = np.zeros(())
    for term in terms:
        added = total + term
        back = added - total
        lost = lost + 2 * np.abs((total - (added - back)) + (term - back))  # twice: it is rounded, too
        total = added
    return total, lost


def _without_error(x: np.ndarray, terms: int) -> Iterator[np.ndarray]:
    """Yield arrays whose sum is x: each holds multiples of a unit, so that sums of its numbers are exact.

    No sum of ``terms`` of them exceeds 2**53 units. They are doubles that a smaller type holds.
    """
    while True:
        exponent = np.frexp(np.abs(x).max(initial=0.0))[1] + min(terms, x.size).bit_length() - 52
        high = np.ldexp(np.rint(np.ldexp(x, -exponent)), exponent)
        yield high
        x = x - high
        if not x.any():
            return


def _decided(
    near: np.ndarray, error: np.ndarray, exact: Callable[..., Any], dtype: np.dtype[Any]
) -> np.ndarray:
    """Return numbers rounded once that are known up to an error; where that matters, what ``exact`` gives."""
    form = float_format(dtype)
    low, high = (form.round(near + side * error)[0] for side in (-1, 1))
    for cell in map(tuple, np.argwhere((low != high) | ~np.isfinite(near))):
        low[cell] = round_sum([exact(cell)], dtype)
    return low.astype(dtype) + dtype.type(0)  # no zero is negative


def rational(numbers: np.ndarray) -> np.ndarray:
    """Return floats as rational numbers."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(numbers.astype(float)), object)


def _rounded(exact: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    return np.frompyfunc(lambda number: round_sum([number], dtype), 1, 1)(exact).astype(dtype)
