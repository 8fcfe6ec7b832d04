"""Exact sums of products at the speed of a matrix product: numbers cut into slices that sum without error.

A slice of a number is some of its bits. If slices have few enough bits, all products of them that a sum
adds, and every partial sum in any order, are multiples of one unit and at most 2^53 of it: float64 holds each
exactly, and so a BLAS may add them as it likes. A sum is then a handful of exact numbers, one for each weight
of the products, which are added and rounded once.

Source: K. Ozaki, T. Ogita, S. Oishi and S. M. Rump, Error-free transformations of matrix multiplication by
using fast routines of matrix multiplication and its applications, Numerical Algorithms 59 (2012).
"""

from __future__ import annotations

from itertools import product
from math import fsum, prod
from typing import NamedTuple

import numpy as np

from .blas import held

_MOST = 8  # slices of a number; an array whose numbers differ more in size is not cut
_WIDEST = 50  # bits of a slice and its sign; a double has room for its unit beside it
_SMALLEST, _LARGEST = -500, 400  # exponents of an array's bits; its sums are inside the range of doubles


class Span(NamedTuple):
    """Where the bits of an array's numbers are.

    Attributes:
        exponent: all numbers are below 2^exponent.
        bits: all are multiples of 2^(exponent - bits).
    """

    exponent: int
    bits: int


def span_of(numbers: np.ndarray, precision: int) -> Span:
    """Return where the bits of finite numbers are.

    Args:
        numbers: float64 of any shape.
        precision: how many bits each has at most, from its first to its last.

    >>> span_of(np.array([1.0, 2.0**-20]), 24)
    Span(exponent=1, bits=44)
    """
    sizes = np.abs(numbers)
    largest = sizes.max(initial=0)
    smallest = sizes.min(where=sizes > 0, initial=largest)
    exponent, least = (int(np.frexp(size)[1]) for size in (largest, smallest))
    return Span(exponent, exponent - least + precision)


def widths_for(terms: int, one: Span, other: Span) -> tuple[int, int] | None:
    """Return how wide the slices of two factors may be, so that a sum of that many products has no error.

    A slice rounds what the slices before it left over to a multiple of its unit. So a number is at most
    2^(width - 1) units, and what is left is at most half a unit: the first slice takes width - 1 bits and
    each other one width bits, because its sign is one of them. A product of two slices has at most
    2^(width + other width - 2) units, and 2^53 of them are exact: with K terms, the widths may together be
    55 - log2 K. Of the ways to share them, the one that takes the fewest products of slices is the best.

    Args:
        terms: K, how many products a sum has.
        one: where the bits of one factor are.
        other: where those of the other are.

    Returns:
        The widths; None if the numbers differ too much in size, or are too large or too small.

    >>> widths_for(4608, Span(3, 43), Span(3, 50))  # 2 slices and 3
    (25, 17)
    """
    together = 55 - max(0, terms - 1).bit_length()
    counts = {}
    for width in range(together - 2, 1, -1):
        widths = min(width, _WIDEST), min(together - width, _WIDEST)
        slices = [-(-(span.bits + 1) // wide) for span, wide in zip((one, other), widths, strict=True)]
        if max(slices) <= _MOST:
            counts[widths] = prod(slices)
    inside = all(_SMALLEST <= span.exponent - span.bits <= span.exponent <= _LARGEST for span in (one, other))
    return min(counts, key=counts.__getitem__) if inside and counts else None


def cut(numbers: np.ndarray, span: Span, width: int) -> np.ndarray:
    """Cut finite numbers into slices.

    Args:
        numbers: float64 of any shape.
        span: what `span_of` returns for them.
        width: how wide a slice is, of what `widths_for` returns.

    Returns:
        The slices, which add up to the numbers, float64, [slices, *shape]. Slice i has multiples of
        2^(exponent + 1 - (i + 1) width), each at most 2^(width - 1) of them.

    >>> cut(np.array([1.0, 2.0**-20]), Span(1, 44), 20)
    array([[1.00000000e+00, 0.00000000e+00],
           [0.00000000e+00, 9.53674316e-07]])
    """
    parts: list[np.ndarray] = []
    rest = numbers
    while not parts or rest.any():
        # adding it leaves no place for the bits below the slice
        shift = 1.5 * 2.0 ** (53 + span.exponent - (len(parts) + 1) * width)
        parts.append((rest + shift) - shift)
        rest = rest - parts[-1]
    return np.stack(parts)


def exact_sums(left: np.ndarray, right: np.ndarray, bias: np.ndarray | None = None) -> np.ndarray:
    """Return the sums of all products of slices, plus the bias, rounded once to float64.

    Args:
        left: the slices of one factor, [slices, cells, terms].
        right: those of the other, [slices, terms, channels].
        bias: finite float64, [channels], or None.

    Returns:
        The sums, [cells, channels].

    >>> one, other = np.array([[2.0**60, 1.0, -(2.0**60)]]), np.ones((3, 2))
    >>> spans = span_of(one, 53), span_of(other, 53)
    >>> x, w = map(cut, (one, other), spans, widths_for(3, *spans))
    >>> exact_sums(x, w, np.array([0.0, 2.0**-60]))
    array([[1., 1.]])
    """
    with held("numpy"):
        # exact: all terms are multiples of one unit
        parts = [one @ other for one, other in product(left, right)]  # mark: multiply-add of slices by BLAS
    return _sum(parts if bias is None else [*parts, np.broadcast_to(bias, parts[0].shape)])


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a + b, rounded, and what the rounding left out, exactly (D. E. Knuth, TAOCP volume 2, 4.2.2)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def _sum(parts: list[np.ndarray]) -> np.ndarray:
    """Return the sum of all parts, rounded once.

    Two passes of two-sums give each sum as head + tail + something of at most ``doubt``. The head is the
    rounded sum wherever the tail is farther than that from half the distance to the next double; elsewhere
    `math.fsum` adds the parts.
    """
    total, rest, doubt = parts[0], np.zeros(parts[0].shape), np.zeros(parts[0].shape)
    for part in parts[1:]:
        total, left_out = _two_sum(total, part)
        rest, left_out = _two_sum(rest, left_out)
        doubt += np.abs(left_out)
    head, tail = _two_sum(total, rest)
    half = (np.abs(head) - np.nextafter(np.abs(head), 0)) / 2
    for place in np.argwhere((doubt > 0) & (2 * doubt >= half - np.abs(tail))):
        at = tuple(place)
        head[at] = fsum(part[at] for part in parts)
    return head + 0.0  # a sum of zeros is 0, not -0
