"""Diffs a pool against its definition, and names the usual mistakes.

Each mistake is a call with one fact changed. The first whose result is what was found is the diagnosis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ..devices import to_host
from ..errors import ArgumentError
from ..geometry import forward_axis
from ..truth import bounds
from ..windows.calls import FUNCTIONS, bound_call
from ..windows.pooling import PoolCall
from ..windows.walking import counts
from .diagnosing import Diagnosis, Tolerance
from .diffing import REPORTS, DiffReport, DiffRow

__all__: list[str] = []

Mistake = tuple[str, str, Callable[[np.ndarray], Any]]


def _pool_mistakes(call: PoolCall) -> Iterator[Mistake]:
    """Yield the mistakes of a pool: code, sentence ("equal" is put before it), and what gives the result."""
    size = prod(axis.filter_size for axis in call.axes)
    for ceil in (False, True):
        facts = (
            (a.in_size, a.filter_size, a.stride, a.dilation, a.pad_before, a.pad_after) for a in call.axes
        )
        axes = tuple(
            forward_axis("rows", *each[:4], "EXPLICIT", each[4:], may_be_empty=True, ceil=ceil)
            for each in facts
        )
        if axes != call.axes:
            sentence = f"if a last window that does not fit is {'kept' if ceil else 'dropped'} (ceil_mode)"
            yield "ceil_mode", sentence, replace(call, axes=axes)
    if call.reduce == "max":
        full = counts(call.axes) == size
        zeros = "if the padding of the maximum is zeros, not minus infinity"
        yield "padded_with_zeros", zeros, lambda x: np.where(full, call(x), np.maximum(call(x), 0))
        yield "average_for_max", "if it is the mean, not the maximum", replace(call, reduce="average")
    else:
        divisors: tuple[tuple[str | int, str], ...] = (
            ("padded", "count_include_pad: equal if padding counts in the divisor"),
            ("inside", "count_include_pad: equal if padding does not count in the divisor"),
            (size, "divisor: equal if every sum is divided by the size of the window"),
            (1, "divisor: equal if the sums are not divided"),
        )
        for divisor, words in divisors:
            code, _, sentence = words.partition(": equal ")
            yield code, sentence, replace(call, divisor=divisor)
        yield (
            "max_for_average",
            "if it is the maximum, not the mean",
            replace(call, reduce="max", start=-np.inf),
        )
    swapped = tuple(replace(a, pad_before=a.pad_after, pad_after=a.pad_before) for a in call.axes)
    sentence = "if the larger half of the padding goes to the other side"
    yield "padding_side", sentence, replace(call, axes=swapped)


def _bound(call: PoolCall, x: np.ndarray) -> np.ndarray:
    """Return how far the sums and means of a library may be from ours; a maximum is not rounded."""
    if call.reduce == "max" or x.dtype.kind in "iu":
        return np.zeros(())
    sizes = call(np.where(np.isfinite(x), np.abs(x), 0).astype(x.dtype)).astype(np.float64)
    return bounds.direct(sizes, prod(axis.filter_size for axis in call.axes) + 2, x.dtype)


def _report(
    op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], against: Any, tolerance: Tolerance
) -> DiffReport:
    """Return what `diff` returns for a pool."""
    call, x = bound_call(op, args, kwargs)
    if against is None:
        raise ArgumentError("against must be an array, or arrays by name: a pool has no backends to compare")
    call = replace(call, places=())
    want = call(x)
    allowed = np.maximum(_bound(call, x), tolerance.of(want))

    def judged(got: np.ndarray, guess: np.ndarray) -> bounds.Verdict | None:
        limits = allowed if allowed.shape in ((), guess.shape) else allowed.max(initial=0)
        return bounds.judge(got, guess, limits) if got.shape == guess.shape else None

    def row(name: str, got: np.ndarray) -> DiffRow:
        verdict = judged(got, want)
        parts = () if verdict is None else (verdict.error, verdict.ulps, verdict.fraction)
        largest, ulps, fraction = [float(part.max(initial=0)) for part in parts] or [np.inf] * 3
        if verdict is not None and verdict.passed:
            return DiffRow(name, "", True, largest, ulps, fraction)
        bad = None if verdict is None else tuple(np.argwhere(~verdict.ok)[0].tolist())
        note = "" if verdict else f"its shape is {list(got.shape)}, not {list(want.shape)}"
        tried = ((code, words, judged(got, made(x))) for code, words, made in _pool_mistakes(call))
        found = (Diagnosis(code, f"equal {words}") for code, words, fit in tried if fit and fit.passed)
        return DiffRow(name, "", False, largest, ulps, fraction, bad, bad, next(found, None), note=note)

    named = against if isinstance(against, Mapping) else {"against": against}
    rows = tuple(row(str(name), np.asarray(to_host(array))) for name, array in named.items())
    return DiffReport(call.function, rows, None, tolerance.rtol, tolerance.atol)


REPORTS.append((FUNCTIONS, _report))
