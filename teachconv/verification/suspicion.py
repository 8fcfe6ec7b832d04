"""What is odd about a result within its bound: a bound is a worst case, and right programs are far better.

Roundings to nearest go up as often as down, and mostly cancel. A result whose errors all have one sign, or
are many times as large as those of the plainest program, keeps the bound, so it is not a failure; but
somebody who truncates, or has lost the last bits of a constant, wants to know.
"""

from __future__ import annotations

from math import log2

import numpy as np

from ..backends import why_not
from ..core.calls import Call
from ..running import dispatch
from ..support import tables
from ..truth.bounds import Verdict

_ENOUGH = 32  # errors of one sign: chance gives as many one time in 10^9, of four ways to be odd


def independent(call: Call, sizes: np.ndarray) -> np.ndarray:
    """Return which cells `odd_signs` may count, because their roundings have nothing in common.

    An array of one number makes all terms alike, and small terms that are added to a large bias are lost, all
    in one direction. In sums of a few terms along a ramp the same rounding recurs; but there the bound itself
    leaves little room.

    Args:
        call: the call.
        sizes: sum |x||w| of each cell, and the bias.

    Returns:
        A boolean array that broadcasts to the result.
    """
    arrays = call.first, call.second
    if call.terms < 8 or any(not array.size or (array == array.flat[0]).all() for array in arrays):
        return np.zeros(1, bool)
    bias = 0 if call.bias is None else np.abs(call.bias.astype(np.float64))
    return np.asarray(sizes >= 2 * bias)


def odd_signs(got: np.ndarray, want: np.ndarray, among: np.ndarray | bool = True) -> str:
    """Say so if errors go one way far more often than the other.

    Up or down, away from zero or towards it: to rounding to nearest they are as likely. At least nine of
    ten errors must go one way, and chance must give as many less than one time in 10^9, by Chernoff's bound
    of the binomial distribution. Cells of one value count once, because they may be one sum.

    Args:
        got: the result.
        want: the exact sums, rounded once.
        among: which cells count.

    Returns:
        A sentence, or "".

    >>> want = np.arange(1, 101, dtype="float32")
    >>> odd_signs(want * np.float32(1 + 2.0**-20), want)
    'suspicious: 100 of 100 errors are away from zero'
    >>> odd_signs(want, want)
    ''
    """
    got, want = got.astype(np.float64), want.astype(np.float64)
    with np.errstate(invalid="ignore"):
        wrong = np.isfinite(got) & np.isfinite(want) & (got != want) & (want != 0) & among
    values, first = np.unique(want[wrong], return_index=True)
    errors, count = np.sign(got[wrong][first] - values), len(values)
    for signs, words in (
        (errors * np.sign(values), ("away from zero", "towards zero")),
        (errors, ("upwards", "downwards")),
    ):
        ups = int(np.count_nonzero(signs > 0))
        most = max(ups, count - ups)
        if 10 * most < 9 * count or not count:
            continue
        entropy = -sum(share * log2(share) for share in (most / count, 1 - most / count) if share)
        if count * (1 - entropy) >= _ENOUGH:
            return f"suspicious: {most:,} of {count:,} errors are {words[most != ups]}"
    return ""


def odd_size(verdict: Verdict, plain: float) -> str:
    """Say so if the largest error is ten times as much of its bound as that of the plain loops.

    Args:
        verdict: of the result.
        plain: what `largest_of_many` returns for the plain loops.

    Returns:
        A sentence, or "".
    """
    most = verdict.fraction.max()
    if not 0 < 10 * plain <= most:
        return ""
    times = f"{most / plain:.0f} times that of cython's direct"
    return f"suspicious: the largest error is {tables.number(most)} of its bound, {times}"


def plain_loops(call: Call, activation: str | None) -> np.ndarray | None:
    """Return the result of the cython backend's ``direct``, which adds from left to right, or None."""
    if why_not("cython") or call.geometry.rank != 2:
        return None
    return np.asarray(dispatch.run_canonical(call, "cython", "direct", activation=activation))


def largest_of_many(verdict: Verdict) -> float:
    """Return the largest error as a fraction of its bound; 0 if too few cells have one to tell."""
    return float(verdict.fraction.max()) if np.count_nonzero(verdict.error) >= _ENOUGH else 0.0
