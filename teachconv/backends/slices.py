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
from math import fsum
from typing import NamedTuple

import numpy as np

from .blas import held

_MOST = 8  # slices of a number; an array whose numbers differ more in size is not cut
_SMALLEST, _LARGEST = -400, 400  # exponents of an array; its sums are far inside the range of doubles


class Slices(NamedTuple):
    """The slices of an array, which add up to it.

    Attributes:
        parts: float64, [slices, *shape]; part i has multiples of 2^(-bits * (i + 1)), at most 2^bits of them.
        exponent: the array is 2^exponent times the sum of the parts.
    """

    parts: np.ndarray
    exponent: int


def bits_for(terms: int) -> int:
    """Return how many bits a slice may have, so that a sum of that many products has no error.

    At most `_MOST` products of slices of each term have the same weight, and ``2^(2 * bits)`` is the largest.

    >>> bits_for(576)
    20
    """
    return (53 - (_MOST * max(1, terms)).bit_length()) // 2


def cut(numbers: np.ndarray, bits: int) -> Slices | None:
    """Cut finite numbers into slices of ``bits`` bits.

    Args:
        numbers: float64 of any shape.
        bits: what `bits_for` returns for the sums that the products of the slices are terms of.

    Returns:
        The slices; None if the numbers differ too much in size, or are too large or too small.

    >>> cut(np.array([1.0, 2.0**-20]), 20)
    Slices(parts=array([[5.00000000e-01, 0.00000000e+00],
           [0.00000000e+00, 4.76837158e-07]]), exponent=1)
    """
    exponent = int(np.frexp(np.abs(numbers).max(initial=0))[1])
    if not _SMALLEST <= exponent <= _LARGEST:
        return None
    rest, parts = np.ldexp(numbers, -exponent), []
    if ((np.abs(rest) < 2.0**-1000) & (numbers != 0)).any():  # it may have lost bits
        return None
    for i in range(1, _MOST + 1):
        shift = 0.75 * 2.0 ** (53 - i * bits)  # adding it leaves no place for the bits below the slice
        parts.append((rest + shift) - shift)
        rest = rest - parts[-1]
        if not rest.any():
            return Slices(np.stack(parts), exponent)
    return None


def exact_sums(
    left: np.ndarray, right: np.ndarray, exponent: int = 0, bias: np.ndarray | None = None
) -> np.ndarray:
    """Return 2^exponent times the sums of all products of slices, plus the bias, rounded once to float64.

    Args:
        left: the slices of one factor, [slices, cells, terms].
        right: those of the other, [slices, terms, channels].
        exponent: the exponents of both together.
        bias: finite float64, [channels], or None.

    Returns:
        The sums, [cells, channels].

    >>> x, w = cut(np.array([[2.0**60, 1.0, -(2.0**60)]]), bits_for(3)), cut(np.ones((3, 2)), bits_for(3))
    >>> exact_sums(x.parts, w.parts, x.exponent + w.exponent, np.array([0.0, 2.0**-60]))
    array([[1., 1.]])
    """
    shape = left.shape[1], right.shape[2]
    sums = np.zeros((len(left) + len(right) - 1, *shape))
    with held("numpy"):
        for (i, one), (j, other) in product(enumerate(left), enumerate(right)):
            # exact: all are multiples of 2^(-bits * (i + j + 2))
            sums[i + j] += one @ other  # mark: multiply-add of slices by BLAS
    parts = list(np.ldexp(sums, exponent))
    return _sum(parts if bias is None else [*parts, np.broadcast_to(bias, shape)])


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
