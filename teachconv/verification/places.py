"""Places: what is said of wrong cells where no mistake explains them, and of right ones that are odd.

A set of cells is described axis by axis, with as few words as say exactly which cells
they are, "channel 32 of 33 (last)", and what they hold, "never written". Indices count from 0.
A set that no words describe exactly is given as a number of cells, and the box around them.

A result within its bound may be odd all the same: a bound is a worst case, and right programs are far better.
Roundings to nearest go up as often as down, and mostly cancel. A result whose errors all have one sign, or
are many times as large as those of the plainest program, keeps the bound, so it is not a failure; but
somebody who truncates, or has lost the last bits of a constant, wants to know.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log2

import numpy as np

from ..backends import why_not
from ..core.calls import Call
from ..running import dispatch
from ..support.tables import count, number
from ..truth.bounds import Verdict
from .failures import TRY, Failure

_LONGEST = 60  # characters: it has to fit on a line of a report
SPATIAL = ("slice", "row", "column")
_NOUNS = dict(
    zip("NCIOMDHW", ("image", "channel", "in channel", "out channel", "multiplier", *SPATIAL), strict=True)
)


def axis_nouns(call: Call) -> tuple[str, ...]:
    """Return what an index of each axis of a call's result is called."""
    spatial = SPATIAL[-call.geometry.rank :]
    if call.kind.sums_images:
        return (*(f"filter {noun}" for noun in spatial), "in channel", "out channel")
    return ("image", *spatial, "channel")


def where(call: Call, bad: np.ndarray, held: str = "") -> str:
    """Describe cells of a call's result in at most 60 characters.

    Args:
        call: the call.
        bad: which cells, in the caller's layout; at least one.
        held: what they hold, or "".

    Returns:
        Words that are true of these cells and no others, or how many of the cells of a box they are.

    >>> from teachconv.core.calls import resolve
    >>> from teachconv.kinds import OPS
    >>> x, w = np.zeros((2, 9, 8, 1)), np.zeros((1, 1, 1, 33))
    >>> call = resolve(OPS["conv2d"], x, w, None, 1, "SAME", "NHWC", 1)
    >>> bad = np.zeros(call.result_shape, bool)
    >>> bad[1, :, 3::4, 32] = True
    >>> where(call, bad)
    'image 1 of 2, channel 32 of 33, columns 3, 7 of 8'
    """
    shape, letters = call.cells_of(call.kind.result)
    if shape != bad.shape:  # the caller numbers cells as a backend does; a dialect's array may have no batch
        letters = call.layout[-bad.ndim :]
    return cells_in_words(bad, letters, held)


def cells_in_words(bad: np.ndarray, letters: str, held: str = "") -> str:
    """The same for an array whose axes have these letters, such as "NHWC", or "HWIO" of filters."""
    nouns = [_NOUNS[letter] for letter in letters]
    if "O" in letters or "M" in letters:
        nouns = [f"filter {noun}" if noun in SPATIAL else noun for noun in nouns]
    # channels, then rows
    order = sorted(range(bad.ndim), key=lambda axis: nouns[axis].split()[-1] in SPATIAL)
    held = f": {held}" if held else ""
    for detail in (2, 1, 0):
        words = f"{_described(bad, nouns, order, detail)}{held}"
        if len(words) <= _LONGEST:
            return words
    return f"{_share(bad)}{held}"


def held_words(values: np.ndarray) -> str:
    """Say what cells hold if they all hold the same: zeros, NaN, or another number; else nothing."""
    values = values.astype(np.float64)
    if not values.size or not ((values == values[0]) | (np.isnan(values) & np.isnan(values[0]))).all():
        return ""
    one = values[0]
    return "NaN" if np.isnan(one) else number(one, 6) if one and values.size > 1 else "" if one else "zeros"


def _share(bad: np.ndarray) -> str:
    return f"{int(bad.sum()):,} of {count(bad.size, 'cell')}"


def _described(bad: np.ndarray, nouns: Sequence[str], order: Sequence[int], detail: int) -> str:
    """Words for a set of cells: those of each axis on which it is a set by itself, then of the others."""

    def others(*axes: int) -> tuple[int, ...]:
        return tuple(axis for axis in range(bad.ndim) if axis not in axes)

    sets = [np.flatnonzero(bad.any(others(axis))) for axis in range(bad.ndim)]
    words = {axis: members(sets[axis], bad.shape[axis], nouns[axis], detail) for axis in order}
    joint = [axis for axis in range(bad.ndim) if not _separable(bad, axis, sets[axis])]
    if joint and bad.mean() > 0.95:
        return f"all but {int((~bad).sum()):,} of {count(bad.size, 'cell')}"
    if joint:
        rest = np.asarray(bad.any(others(*joint)))
        together = _joint(rest, [nouns[axis] for axis in joint], detail)
        if not together:  # no words are exact: a number of cells, and the box that they lie in
            box = ", ".join(filter(None, words.values()))
            return f"{_share(bad[np.ix_(*sets)])} in {box}".removesuffix(" in ")
        words = {axis: text for axis, text in words.items() if axis not in joint} | {-1: together}
    return ", ".join(filter(None, words.values())) or "every cell"


def _separable(bad: np.ndarray, axis: int, found: np.ndarray) -> bool:
    """Whether every index of the set on this axis has the same cells of the others."""
    slabs = bad.take(found, axis)
    return bool((slabs == slabs.take([0], axis)).all())


def _joint(rest: np.ndarray, nouns: Sequence[str], detail: int) -> str:
    """Words for a set of several axes together: a border, a union, or neighbours in the order of memory."""
    inner = [
        np.flatnonzero(~rest.all(tuple(a for a in range(rest.ndim) if a != axis)))
        for axis in range(rest.ndim)
    ]
    if not rest[np.ix_(*inner)].any():  # all but a box
        margin = int(inner[0][0])
        pairs = list(zip(inner, rest.shape, strict=True))
        if all(np.array_equal(inside, np.arange(margin, size - margin)) for inside, size in pairs):
            return f"the border of {' and '.join(f'{noun}s' for noun in nouns)}, {margin} wide"
        outer = [(np.setdiff1d(np.arange(size), inside), size) for inside, size in pairs]
        return " or ".join(members(*each, noun, detail) for each, noun in zip(outer, nouns, strict=True))
    flat = np.flatnonzero(rest)
    if len(_runs(flat)) > 1:
        return ""
    images = all(noun in ("image", *SPATIAL) for noun in nouns)
    return members(flat, rest.size, "pixel" if images else "cell", detail)


def members(found: np.ndarray, size: int, noun: str, detail: int = 2) -> str:
    """Words for a set of indices of one axis; none for all of them."""
    runs = _runs(found)
    first, last = int(found[0]), int(found[-1])
    total = f" of {size:,}" if detail else ""
    tail = f" (last{f' {len(found)}' if len(found) > 1 else ''})" if detail > 1 and last == size - 1 else ""
    if len(found) == size:
        return ""
    if len(runs) == 1:
        return f"{_ranges(noun, runs)}{total}{tail}"
    if size - len(found) == 1 and size > 3:
        return f"all {noun}s but {runs[0][1]}"
    if len(runs) == 2 and runs[0][1] - first == last + 1 - runs[1][0] and (first, last) == (0, size - 1):
        width = runs[0][1]
        return f"first and last {noun if width == 1 else f'{width} {noun}s'}"
    period = runs[1][0] - first
    again = np.isin((np.arange(size) - first) % period, found[found < runs[1][0]] - first)
    if len(runs) > 4 and np.array_equal(np.flatnonzero(again & (np.arange(size) >= first)), found):
        return f"{_ranges(noun, runs[:3])}, ...{total}"
    return f"{_ranges(noun, runs)}{total}" if len(runs) <= 4 else f"{len(found):,} of {size:,} {noun}s"


def _ranges(noun: str, runs: Sequence[tuple[int, int]]) -> str:
    texts = [str(start) if past == start + 1 else f"{start}-{past - 1}" for start, past in runs]
    return f"{noun}{'s' if runs[-1][1] - runs[0][0] > 1 else ''} {', '.join(texts)}"


def _runs(found: np.ndarray) -> list[tuple[int, int]]:
    """(first, past) of each run of neighbours in a sorted list of indices."""
    breaks = np.flatnonzero(np.diff(found) > 1) + 1
    return [(int(part[0]), int(part[-1]) + 1) for part in np.split(found, breaks)]


# ---------------------------------------------------------------------------------------------
# What wrong cells have in common
# ---------------------------------------------------------------------------------------------


def patterns(case: Failure) -> Iterator[str]:
    """Say what the wrong cells have in common."""
    got, want, bad = case.got, case.want, case.bad
    if (got == got.flat[0]).all():
        return  # one number, such as 0, is alike in every place
    error = got.astype(np.float64) - want.astype(np.float64)
    limits = np.broadcast_to(2 * np.maximum(case.bound, case.tolerance.of(want)), got.shape)
    for axis, noun in enumerate(axis_nouns(case.call)):
        others = tuple(other for other in range(got.ndim) if other != axis)
        steps = np.diff(np.flatnonzero(bad.any(others)))
        if len(steps) > 1 and steps[0] > 1 and (steps == steps[0]).all():
            yield f"it is wrong in every {_NTH.get(int(steps[0]), f'{steps[0]}th')} {noun}"
        if got.shape[axis] > 1 and (np.abs(error - error.take([0], axis)) <= limits).all():
            yield f"the error is the same for all {noun}s"
    for moved in range(1, min(_FAR, got.shape[-1] - 1)):
        for here, there in ((slice(moved, None), slice(-moved)), (slice(-moved), slice(moved, None))):
            parts = got[..., here], want[..., there], limits[..., there]
            corner = (part[(0,) * (got.ndim - 1)] for part in parts)  # most are not worth a look at the rest
            alike = case.work.affords(TRY) and case.allows(*corner).all() and case.allows(*parts).all()
            if alike and bad[..., here].any():
                yield f"it equals the right result moved by {count(moved, 'channel')}"


_FAR = 65  # channels, and one: the largest block that the result may have moved by
_NTH = {2: "second", 3: "third"}


# ---------------------------------------------------------------------------------------------
# What is odd about right cells
# ---------------------------------------------------------------------------------------------

ODD = 10  # times the largest error of plain loops: no program of their type has such a one
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
    errors, size = np.sign(got[wrong][first] - values), len(values)
    for signs, words in (
        (errors * np.sign(values), ("away from zero", "towards zero")),
        (errors, ("upwards", "downwards")),
    ):
        ups = int(np.count_nonzero(signs > 0))
        most = max(ups, size - ups)
        if 10 * most < 9 * size or not size:
            continue
        entropy = -sum(share * log2(share) for share in (most / size, 1 - most / size) if share)
        if size * (1 - entropy) >= _ENOUGH:
            return f"suspicious: {most:,} of {size:,} errors are {words[most != ups]}"
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
    if not 0 < ODD * plain <= most:
        return ""
    times = f"{most / plain:.0f} times that of cython's direct"
    return f"suspicious: the largest error is {number(most)} of its bound, {times}"


def plain_loops(call: Call, activation: str | None) -> np.ndarray | None:
    """Return the result of the cython backend's ``direct``, which adds from left to right, or None."""
    if why_not("cython") or call.geometry.rank != 2:
        return None
    return np.asarray(dispatch.run_canonical(call, "cython", "direct", activation=activation))


def largest_of_many(verdict: Verdict) -> float:
    """Return the largest error as a fraction of its bound; 0 if too few cells have one to tell."""
    return float(verdict.fraction.max()) if np.count_nonzero(verdict.error) >= _ENOUGH else 0.0
