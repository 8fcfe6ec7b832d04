"""The exact sum of numbers, rounded once: what every result is measured against."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import fsum, inf, isfinite, nan, nextafter
from typing import Any

import numpy as np

from .dtypes import float_format, is_integer, to_dtype, wrap


def round_sum(terms: Iterable[Any], dtype: Any) -> Any:
    """Return the exact sum of the terms, rounded once to ``dtype``; integers wrap around.

    NaN and infinities count as IEEE 754 says. Ties go to the even neighbour.

    Args:
        terms: Python floats or `fractions.Fraction` for a floating-point ``dtype``, ints for an integer one.
        dtype: what to round to.

    Returns:
        A Python float or int that ``dtype`` holds exactly.

    Raises:
        TypeError: ``dtype`` is not one that teachconv computes in.

    >>> round_sum([2.0**70, 1.0, -(2.0**70)], "float32")
    1.0
    >>> round_sum([1.0, 2.0**-24, 2.0**-60], "float32") == 1 + 2.0**-23    # rounding twice gives 1
    True
    >>> round_sum([2**31 - 1, 1], "int32")
    -2147483648
    """
    terms = list(terms)
    dtype = to_dtype(dtype)
    if is_integer(dtype):
        return wrap(sum(terms), dtype)
    total, rest = _double_and_rest(terms)
    if dtype.name == "float64" or not isfinite(total):  # as it is: to round one number takes as long as a sum
        return total
    form = float_format(dtype)
    rounded, midpoint = form.round(np.array(total))
    if midpoint and rest:  # what the double leaves out decides
        rounded, _ = form.round(np.array(nextafter(total, inf if rest > 0 else -inf)))
    return float(rounded)


def _double_and_rest(terms: list[Any]) -> tuple[float, Any]:
    """Return the correctly rounded double of a sum, and a number with the sign of what it leaves out."""
    if Fraction not in map(type, terms):  # isinstance would ask Fraction's abstract base class, slowly
        try:
            total = fsum(terms)
            return total, fsum([*terms, -total]) if isfinite(total) else 0
        except ValueError:  # inf - inf
            return nan, 0
        except OverflowError:  # an intermediate sum is too large; the result may be finite
            pass
    special = [term for term in terms if type(term) is not Fraction and not isfinite(term)]
    if special:
        return float(sum(special)), 0
    exact = sum(map(Fraction, terms), Fraction(0))
    try:
        return float(exact), exact - Fraction(float(exact))
    except OverflowError:
        return (inf if exact > 0 else -inf), 0
