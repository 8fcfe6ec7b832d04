"""Which of the usual mistakes explains a result that is not the reference's?

Each mistake of the table in `diagnoses` is made in float64 (integers in their own type), and its result
compared with what was found, by the bound of direct summation. The first that fits in every cell is the
diagnosis. If none does, but one fits in every bad cell, that is it; else the one that explains most of the
error is reported as the nearest, if that is nearly all of it. To be quick, a mistake is made in a small
window of the result first. So that nothing fits by chance, the cells must hold more bits than are needed to
choose among the mistakes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from math import inf, log2, prod
from typing import Any

import numpy as np

from ..core.calls import Call
from ..core.dtypes import FORMATS, is_integer
from ..support.progress import say
from ..support.settings import within
from ..truth import bounds
from ..truth.exact import abs_sum, float64_result
from .diagnoses import attempts
from .failures import TRY, Failure, Mistake, Work, cost, part_of
from .places import patterns

# seconds that are left for the mistakes of all results together
_budget: ContextVar[list[float]] = ContextVar("teachconv_diagnoses", default=[inf])  # noqa: B039 (inf stays inf)
_SECONDS = 0.5  # for one failure
# Products that a search may evaluate for each of these seconds, and how often a large call as a whole. A step
# cannot be interrupted, so it is not begun where it would take too long.
_PER_SECOND, _WHOLE = 1e9, 8
ONE_CELL = "but one cell cannot tell"
_AGAIN = 100  # mistakes that are looked at after one that fits, for another one
_NEAR, _FEW = 0.9, 20  # the nearest mistake explains more of the error, in more wrong cells
_SMALL = 250_000  # products of a call that is not looked at in a window first
_VIEW = 20  # products that take as long as it takes to move a cell of the right result, and to compare it
thread_time = getattr(time, "thread_time", time.process_time)  # Python in a browser has no thread_time
_EVIDENCE = 20.0  # bits: that a mistake fits by chance has a probability of 2^-20


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What went wrong, in one row of a report.

    Attributes:
        code: its name, such as "flipped_filter" or "shift(0,1)".
        sentence: the explanation.
    """

    code: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Found:
    """What a search for the mistake found.

    Attributes:
        diagnosis: the mistake that explains the failure, or None.
        remark: another mistake that explains it as well; of a failure without a diagnosis, which mistake
            comes nearest, if one explains nearly all of the error, and what the wrong cells have in common.
        tried: how many mistakes were made and compared.
        seconds: how long that took.
    """

    diagnosis: Diagnosis | None = None
    remark: str = ""
    tried: int = 0
    seconds: float = 0.0


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Look no longer than this for the mistakes of all results together, but at least a moment at each."""
    with within(_budget, [seconds]):
        yield


@np.errstate(all="ignore")  # mistakes are made of any numbers: no warning says more than the result
def diagnose(case: Failure, thorough: bool = False, only: str = "") -> Found:
    """Look for the mistake that explains a failed result of the right shape; for another see `sizes`.

    Args:
        case: the failed result.
        thorough: try all pairs of mistakes as well, and take the time that this needs.
        only: the name of the mistakes to try, whatever their details; "" for all.

    Returns:
        What was found, and how many mistakes were tried. Without ``thorough`` the search ends after half a
        second of the processor, and after as many products as that takes.
    """
    if not (case.call.first.size and case.call.second.size):
        return Found()  # of sums without a term nothing can be told
    work, seconds = case.work, _SECONDS if _budget.get()[0] > 0 else 0.02
    if thorough:
        seconds = inf
    work.left, work.seconds, work.short = seconds * _PER_SECOND + _WHOLE * cost(case.call), seconds, False
    judged, wrong = partial(_judged, case=case, near=_first_bad_part(case)), int(np.count_nonzero(case.bad))
    name: Any = str if case.quantized else _name  # of roundings, several may fit where cells are wrong
    found = search(attempts(case, thorough), judged, work, wrong, name, _name(only))
    remarks = found.remark, *(() if found.diagnosis else patterns(case))
    return replace(found, remark="; ".join(filter(None, remarks)))


def _name(code: str) -> str:
    """Return a mistake's code without its details."""
    return code.partition("(")[0]


def search(
    mistakes: Iterable[Mistake],
    judged: Callable[[Mistake], tuple[str, float]],
    work: Work,
    wrong: int,
    name: Callable[[str], str] = _name,
    only: str = "",
) -> Found:
    """Try mistakes until two explain every cell, or as long as the work allows.

    Of two, the simpler is the diagnosis, and the remark mentions the other one.

    Args:
        mistakes: the mistakes.
        judged: where a mistake fits, "" for nowhere, and how much of the error it explains.
        work: what may be evaluated.
        wrong: how many cells are wrong.
        name: what of a code is its name: all but the details.
        only: the name of the mistakes to try, the first of which that fits ends the search; "" for all.

    Returns:
        What was found.
    """
    start, tried, last, cells, nearest = thread_time(), 0, inf, "", (_NEAR, "")
    named: Mistake | None = None
    first: Mistake | None = None
    remarks: list[str] = []
    for mistake in mistakes:
        if not work.affords(TRY) or thread_time() - start > work.seconds:
            work.short = True
            break
        vague = mistake.chosen or mistake.summed_in  # fitted to the result, or with a wide bound
        known = named and (vague or name(mistake.code) == name(named.code) or _alike(mistake, first))
        if known or (only and _name(mistake.code) != only):
            continue
        say(f"looking for the mistake: {mistake.code}")
        tried += 1
        fits, explained = judged(mistake)
        if fits == "in every cell" and first:
            named, other = sorted((first, mistake), key=lambda one: (one.code.count("+"), one.chosen))
            remarks = [f"{other.code} fits as well: {other.sentence}"]
            break
        if fits == "in one cell":
            remarks = remarks or [f"{mistake.code} fits ({mistake.sentence}), {ONE_CELL}"]
        elif fits and (named is None or fits == "in every cell"):
            named, cells, remarks = mistake, "in these cells " * (fits == "in the bad cells"), []
        if fits == "in every cell" or (fits and only):
            last, first = tried + (0 if only else _AGAIN), mistake
        # of two that explain as much the first, which is the likelier
        if 1 - explained <= (0.9 if nearest[1] else 1) * (1 - nearest[0]) and not mistake.chosen:
            nearest = explained, f"{mistake.code} ({mistake.sentence})"
        if tried >= last:
            break
    if named is None:
        cut = " in this time: tc.diff(..., thorough=True) looks for all" if work.short else ""
        remarks = remarks or [f"none of the usual mistakes{cut}"]
        if nearest[1] and wrong > _FEW:
            share = f"{min(99, round(100 * nearest[0]))} %"
            remarks.append(f"nearest: {nearest[1]}, which explains {share} of the error")
    seconds = thread_time() - start
    _budget.get()[0] -= seconds
    diagnosis = Diagnosis(named.code, f"{cells}equal {named.sentence}") if named else None
    return Found(diagnosis, "; ".join(remarks), tried, seconds)


def _alike(mistake: Mistake, first: Mistake | None) -> bool:
    """Whether a mistake is the same call as the first that fits, by another name."""
    if first is None or not isinstance(first.call, Call) or mistake.view or first.view:
        return False
    one, two = mistake.call, first.call
    alike = np.array_equal(one.first, two.first) and np.array_equal(one.second, two.second)
    return alike and one.geometry == two.geometry


def hurried() -> bool:
    """Return whether `at_most` leaves no time for the mistakes of several more results."""
    return _budget.get()[0] <= 2 * _SECONDS


# ---------------------------------------------------------------------------------------------
# Does a mistake fit?
# ---------------------------------------------------------------------------------------------


def _judged(mistake: Mistake, case: Failure, near: _Part | None) -> tuple[str, float]:
    """Where a mistake fits, "" for nowhere, and how much of the error it explains."""
    if prod(mistake.call.backend_shape) != case.got.size:
        return "", 0.0
    looks = [(mistake, case)]
    if near is not None and not mistake.moves:  # most do not even fit there
        window, part = near
        call = part.call if mistake.call is case.call else part_of(mistake.call, window)[0]
        looks.insert(0, (replace(mistake, call=call), part))
    for one, here in looks:
        whole = _values(one, here)
        if whole is None:
            return "", 0.0
        got, want, bad, values = (array[one.part] for array in (here.got, here.want, here.bad, whole))
        ok, limits, sizes = _fitting(one, here, whole)
        if not bad.any() or not ok[bad].all():
            return "", explained_by(values, got, want)
    form = mistake.rounded
    if form is None:
        new = bad & ok & ~case.allows(want, values, limits, sizes)
        # a sum that may overflow is allowed to: that it does not must be explained
        new |= bad & (np.isfinite(got) != np.isfinite(want)) & case.allows(got, values, limits)
    else:  # small integers are numbers of every format
        new = bad & ok & (form.round(want.astype(np.float64))[0] != want)
    alike = (np.abs(values - values[bad][0]) <= limits) | (values == values[bad][0])
    if np.isfinite(want[bad]).all() and (alike[bad].all() or not np.isfinite(values[bad]).any()):
        # one number has many causes, and one that is not finite, too: the other cells must confirm this one,
        # as they do a relu
        ok &= ok.all() and mistake.view is not None and not mistake.moves and not alike.all()
    if mistake.summed_in and explained_by(want, got, np.zeros_like(want)) < 0.9:
        return "", 0.0  # the bound of such sums is so wide that other mistakes lie within it
    if case.got.size == 1 and new.all():
        return "in one cell", 0.0
    share = explained_by(values, got, want)
    bits = max(_evidence(mistake, case, got, want, limits, new), _agreement(mistake, case, share, got - want))
    if not ok[bad].all() or bits < _EVIDENCE:
        return "", share
    fits = "in the bad cells" if not ok.all() else "in every cell" if mistake.part is ... else "in a part"
    return fits, 1.0


def _fitting(
    mistake: Mistake, case: Failure, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which cells of its part a mistake explains, the limits, and the sizes of the sums."""
    got, bad, values = (array[mistake.part] for array in (case.got, case.bad, values))
    if not _comes_close(mistake, case, got[bad], values[bad]):
        return np.zeros(got.shape, bool), np.zeros(()), np.zeros(())
    sizes = np.zeros(()) if is_integer(case.call.first.dtype) else abs_sum(mistake.call)
    if sizes.ndim and mistake.moves and mistake.view is not None:
        sizes = np.abs(mistake.view(sizes))
    arrays = _limits(mistake, case, sizes), sizes
    limits, sizes = (np.broadcast_to(array, case.got.shape)[mistake.part] for array in arrays)
    form = mistake.rounded
    if form is None or got.dtype.name not in FORMATS:  # a port's integers, say
        return case.allows(got, values, limits, sizes), limits, sizes
    found = got.astype(np.float64)  # numbers of the format only, and the values within the limits, rounded
    reach = limits + 2 * FORMATS[got.dtype.name].unit_roundoff * np.abs(values)
    low, high = form.round(values - reach)[0], form.round(values + reach)[0]
    return (form.round(found)[0] == found) & (low <= found) & (found <= high), limits, sizes


_Part = tuple[tuple[slice, ...], Failure]


def _first_bad_part(case: Failure) -> _Part | None:
    """A part of the result around its first bad cell, or None if the whole is small."""
    call = case.call
    if call.kind.sums_images or call.terms * case.got.size < _SMALL:
        return None
    image, *cell, _ = np.unravel_index(int(case.bad.argmax()), case.bad.shape)
    spans = (slice(max(0, int(i) - 3), int(i) + 4) for i in cell)
    window = (slice(int(image), int(image) + 1), *spans, slice(None))
    bound = np.broadcast_to(case.bound, case.got.shape)
    got, want, bound = (array[window] for array in (case.got, case.want, bound))
    return window, replace(case, call=part_of(call, window)[0], got=got, want=want, bound=bound)


def _values(mistake: Mistake, case: Failure) -> np.ndarray | None:
    """What it gives, in float64 or the integer type; None if it takes too long or has another shape."""
    is_right = mistake.call is case.call and mistake.compute is float64_result
    if not case.work.affords(_VIEW * case.got.size if is_right else cost(mistake.call)):
        return None
    values = case.exact if is_right else mistake.compute(mistake.call)
    if case.quantized is not None and values.shape != case.got.shape:
        return None  # the multipliers are those of other channels
    views = [mistake.view] if mistake.view else []
    if mistake.activated:  # what is moved has the scale of the channel that it comes from
        views.insert(0 if case.quantized and mistake.moves else 1, case.finished)
    for view in views:
        values = view(values)
    # as many cells in all may be others along an axis
    return values if values.shape == case.got.shape else None


def _limits(mistake: Mistake, case: Failure, sizes: Any) -> Any:
    """How far a result may lie from a mistake's, by sum |x||w|: twice the bound, as both have an error."""
    dtype, terms = case.call.first.dtype, mistake.call.terms
    if is_integer(dtype):
        return mistake.slack
    if mistake.summed_in:  # of very many terms there is no bound
        return bounds.gamma(terms, FORMATS[mistake.summed_in].unit_roundoff) * sizes + mistake.slack
    # what is rounded to a small format was summed in float32
    direct = bounds.direct(sizes, terms, "float32" if mistake.rounded else dtype)
    return np.maximum(2 * direct, np.max(case.bound)) + mistake.slack


def _comes_close(mistake: Mistake, case: Failure, got: np.ndarray, values: np.ndarray) -> bool:
    """Whether the largest error may be within the limits: a quick look, which costs no bounds."""
    call, values = mistake.call, values.astype(np.float64)
    error = np.abs(got.astype(np.float64) - values).max(initial=0.0)
    arrays = (call.first, call.second, np.zeros(1) if call.bias is None else call.bias)
    x, w, b = (float(np.abs(array).max(initial=0.0)) for array in arrays)
    # 4 times, because what is made of the result may double its numbers
    limit = 4 * _limits(mistake, case, np.array(call.terms * x * w + b))
    digits = mistake.rounded.precision if mistake.rounded else case.digits
    limit = limit + 4 * 2.0**-digits * np.abs(values).max(initial=0.0)
    return not error > limit + case.tolerance.of(values).max(initial=0.0)  # NaN: the bounds are to decide


def _evidence(
    mistake: Mistake, case: Failure, got: np.ndarray, want: np.ndarray, limits: np.ndarray, new: np.ndarray
) -> float:
    """How many bits of the result a mistake explains and the reference does not, less those that chose it.

    An error that is 2^n times as large as the limit gives n bits. Cells with the same numbers count once.
    """
    picked = np.argwhere(new)[:4096]
    index = tuple(picked.T)
    error = np.abs(got[index].astype(np.float64) - want[index].astype(np.float64))
    numbers = [got[index].astype(np.float64), error]
    if case.quantized is not None:  # in 8 bits the same numbers come of many sums
        numbers.append(case.exact[mistake.part][index].astype(np.float64))
    _, first = np.unique(np.stack(numbers), axis=1, return_index=True)
    error = error[first]
    limit = limits[index][first] + 2.0**-case.digits * np.abs(want[index][first].astype(np.float64))
    limit = np.maximum(
        limit + case.tolerance.of(want[index][first]), 0.5 if is_integer(case.got.dtype) else 0.0
    )
    bits = np.log2(1 + error / limit)
    if case.quantized is not None:  # which cells differ tells more than by how much
        bits += np.log2(got.size / max(1, len(picked)))
    # a number where the reference has none tells much; NaN, which whatever touches it gives, little
    bits = np.where(np.isfinite(error), bits, np.where(np.isfinite(got[index][first]), case.digits, 1))
    if mistake.rounded:  # that a number is one of a smaller format
        bits = np.full(bits.shape, float(case.digits - mistake.rounded.precision))
    return float(np.minimum(bits, case.digits).sum()) - mistake.chosen


def _agreement(mistake: Mistake, case: Failure, share: float, error: np.ndarray) -> float:
    """How many bits it tells that a mistake leaves at most a tenth of an error that the bound nearly hides.

    Chance would have to guess the error of each cell as well as that. Cells count by how large theirs is.
    """
    if share < _NEAR or mistake.rounded or is_integer(case.got.dtype):
        return 0.0
    squares = np.square(np.unique(error[np.isfinite(error)].astype(np.float64)))
    cells = squares.sum() ** 2 / np.square(squares).sum()
    return float(cells * min(-log2(1 - min(share, 1 - 2.0**-52)), case.digits)) - mistake.chosen


def explained_by(values: np.ndarray, got: np.ndarray, want: np.ndarray) -> float:
    """Return how much of the error a mistake explains: 1 if all of it, 0 or less if none.

    One that is not nearer to the result than zeros are explains nothing: its error is smaller only because
    its numbers are.
    """
    got, want = got.astype(np.float64), want.astype(np.float64)
    left, error = got - values, got - want
    known = np.isfinite(left) & np.isfinite(error)
    # sums of squares, not np.linalg.norm: BLAS would wake its threads for each of hundreds of guesses
    rest, whole, size = (float(np.square(part[known]).sum()) for part in (left, error, got))
    return 1 - (rest / whole) ** 0.5 if rest < size and whole else 0.0
