"""Which of the usual mistakes explains a result that is not the reference's?

Each mistake is run in float64 (integers in their own type) and compared with what was found, by the bound of
direct summation. The first that fits is the diagnosis; named causes come before a bare shift. If none fits,
the one that explains most of the error is reported as the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain, islice, product
from math import prod
from typing import Any

import numpy as np

from .. import tables
from ..arguments import axis_order
from ..calls import Call
from ..dtypes import FORMATS, FloatFormat, is_integer
from ..progress import say
from ..truth import bounds
from ..truth.exact import abs_sum, float64_result
from .mistakes import Mistake, View, geometry_mistakes, order_mistakes, pair_mistakes
from .number_mistakes import channel_mistakes, layout_mistakes, order_words, relu, value_mistakes

__all__ = ["Diagnosis", "Failure", "Tolerance", "diagnose"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What went wrong: a code, such as "flipped_filter" or "shift(0,1)", and a sentence that explains it."""

    code: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """An error that is allowed beside the bound: ``atol + rtol * |value|``."""

    rtol: float = 0.0
    atol: float = 0.0

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the error that is allowed for each value."""
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = np.abs(values.astype(np.float64))
            return np.where(np.isfinite(sizes), self.atol + self.rtol * sizes, 0.0)


@dataclass(frozen=True)
class Failure:
    """A result that failed.

    Attributes:
        call: the call.
        got: what was found, as a backend returns it.
        want: what the reference gives.
        bound: the error bound that ``got`` did not keep, cell by cell, the tolerance aside.
        tolerance: what is allowed beside it.
        activated: whether a relu belongs to the call.
    """

    call: Call
    got: np.ndarray
    want: np.ndarray
    bound: np.ndarray
    tolerance: Tolerance = field(default_factory=Tolerance)
    activated: bool = False

    def image(self, n: int) -> Failure:
        """The case of one image of the batch."""
        call, here = self.call, np.s_[n : n + 1]
        shape = (1, *call.backend_shape[1:])
        one = replace(
            call,
            first=call.first[here],
            geometry=replace(call.geometry, batch=1),
            result_shape=tuple(shape[axis] for axis in axis_order(call.layout)),
        )
        bound = np.broadcast_to(self.bound, self.want.shape)[here]
        return replace(self, call=one, got=self.got[here], want=self.want[here], bound=bound)

    def allows(self, got: np.ndarray, guess: np.ndarray, limits: np.ndarray, sizes: Any = 0.0) -> np.ndarray:
        """Return which cells lie within a limit, or within the tolerance, of a guess."""
        dtype = self.call.first.dtype
        with np.errstate(over="ignore"):
            guess = guess.astype(dtype)
        return bounds.judge(got, guess, np.maximum(limits, self.tolerance.of(guess)), sizes).ok


@dataclass(frozen=True)
class _Guess:
    """What a mistake would have given.

    Attributes:
        code: the mistake.
        sentence: what makes the results equal; "equal" is put before it.
        values: the result, in float64 or the integer type.
        limits: computes the error bound of each value, and sum |x||w|; only called if the values come close.
        part: the part of the result that is compared.
        rounded: the format that the values are rounded to, or None.
        scale: how many times as large as the call's the terms are.
    """

    code: str
    sentence: str
    values: np.ndarray
    limits: Callable[[], tuple[np.ndarray, Any]]
    part: Any = ...
    rounded: FloatFormat | None = None
    scale: float = 1.0


def diagnose(case: Failure) -> tuple[Diagnosis | None, str]:
    """Return the mistake that explains a failed result, or None and a remark on which comes nearest.

    For a result of another shape see `sizes`. The mistakes are those of rows and columns.
    """
    if case.call.geometry.rank != 2:
        return None, "mistakes are only looked for in convolutions over two axes"
    bad = ~case.allows(case.got, case.want, case.bound)
    whole, n = case, None
    if not case.call.kind.sums_images and case.call.geometry.batch > 1:  # one image is enough to tell
        n = int(np.unravel_index(int(bad.argmax()), bad.shape)[0])
        case, bad = whole.image(n), bad[n : n + 1]
        found = _first_fit(_reordered(whole, 0), whole)
        if found:
            return Diagnosis(found.code, f"equal {found.sentence}"), ""
    most, nearest = 0.0, None
    for number, guess in enumerate(_guesses(case)):
        say(f"looking for the mistake: {guess.code}")
        if _fits(guess, case, bad):
            sentence = f"equal {guess.sentence}"
            if n is not None and not _first_fit(islice(_guesses(whole), number, number + 1), whole):
                sentence += f"; that is image {n}, and the others differ"
            return Diagnosis(guess.code, sentence), ""
        explained = _explained(guess, case)
        if explained > most:
            most, nearest = explained, guess
    if nearest is None or most < 0.01:
        return None, "none of the usual mistakes, and none of them comes nearer"
    share = f"{min(99, round(100 * most))} %"
    return None, (
        f"none of the usual mistakes; nearest: {nearest.code} ({nearest.sentence}), which explains {share} "
        "of the error"
    )


def _first_fit(guesses: Iterator[_Guess], case: Failure) -> _Guess | None:
    """Return the first guess that fits."""
    bad = ~case.allows(case.got, case.want, case.bound)
    return next((guess for guess in guesses if _fits(guess, case, bad)), None)


def _guesses(case: Failure) -> Iterator[_Guess]:
    """The guesses, in the order in which they are tried."""
    call = case.call
    made = (_made(case, mistake) for mistake in _usual(call, case.activated))
    axes = (2, 3) if call.kind.sums_images else (3,)
    yield from (guess for guess in made if guess is not None)
    for axis in axes:
        yield from _reordered(case, axis)
    yield from _scaled(case)
    pairs = (_made(case, mistake) for mistake in chain(pair_mistakes(call), layout_mistakes(call)))
    yield from (guess for guess in pairs if guess is not None)
    yield from _shifted(case)


def _usual(call: Call, activated: bool) -> Iterator[Mistake]:
    yield from order_mistakes(call)
    yield from geometry_mistakes(call)
    yield from value_mistakes(call, activated)
    yield from channel_mistakes(call)


# ---------------------------------------------------------------------------------------------
# Does a guess fit?
# ---------------------------------------------------------------------------------------------


def _fits(guess: _Guess, case: Failure, bad: np.ndarray) -> bool:
    """Whether a guess is equal to what was found, and says more than the reference does."""
    got, want, bad = case.got[guess.part], case.want[guess.part], bad[guess.part]
    if not guess.values.any() or not _comes_close(guess, case, got):
        return False  # zeros have many causes
    limits, sizes = guess.limits()
    limits = np.broadcast_to(limits, got.shape)
    if guess.rounded is not None:
        return _rounds_to(got, guess.values, limits, guess.rounded)
    if not case.allows(got, guess.values, limits, sizes).all():
        return False
    # where the guess is the reference's own value, within its bound, it explains nothing
    return bool((bad & ~case.allows(want, guess.values, limits, sizes)).any())


def _comes_close(guess: _Guess, case: Failure, got: np.ndarray) -> bool:
    """Whether the largest error may be within the limits: a quick look, which costs no bounds."""
    call, dtype = case.call, case.call.first.dtype
    with np.errstate(all="ignore"):
        values = guess.values.astype(np.float64)
        error = np.abs(got.astype(np.float64) - values).max()
        limit = case.tolerance.of(values).max()
        if not is_integer(dtype):
            x, w = (float(np.abs(array).max(initial=0.0)) for array in (call.first, call.second))
            b = 0.0 if call.bias is None else float(np.abs(call.bias).max(initial=0.0))
            # 8 times, because a mistake may double the numbers and the bound is doubled as well
            sizes = np.array(guess.scale * (call.terms * x * w + b))
            limit += 8 * bounds.direct(sizes, call.terms, _summed_in(guess.rounded, call))
            unit = (guess.rounded or FORMATS[dtype.name]).unit_roundoff
            limit += np.max(case.bound) + 4 * unit * np.abs(values).max()
    return not error > limit  # NaN is not larger: the bounds are to decide


def _rounds_to(got: np.ndarray, values: np.ndarray, limits: np.ndarray, form: FloatFormat) -> bool:
    """Whether ``got`` holds numbers of a format only, and they are the values within the limits, rounded."""
    found = got.astype(np.float64)
    with np.errstate(all="ignore"):
        limits = limits + 2 * FORMATS[got.dtype.name].unit_roundoff * np.abs(values)
        low, high = form.round(values - limits)[0], form.round(values + limits)[0]
        return bool(np.all((form.round(found)[0] == found) & (low <= found) & (found <= high)))


def _explained(guess: _Guess, case: Failure) -> float:
    """How much of the error a guess explains: 1 if all of it, 0 or less if none.

    A guess that is no nearer to the result than zeros are explains nothing: its error is smaller only because
    its numbers are.
    """
    values = guess.values if guess.rounded is None else guess.rounded.round(guess.values)[0]
    got, want = (array[guess.part].astype(np.float64) for array in (case.got, case.want))
    with np.errstate(all="ignore"):
        left, error = got - values, got - want
        known = np.isfinite(left) & np.isfinite(error)
        # sums of squares, not np.linalg.norm: BLAS would wake its threads for each of hundreds of guesses
        rest, whole, size = (float(np.square(part[known]).sum()) for part in (left, error, got))
        return 1 - (rest / whole) ** 0.5 if rest < size and whole else 0.0


# ---------------------------------------------------------------------------------------------
# Guesses: the usual mistakes run, and those whose numbers are read off the result
# ---------------------------------------------------------------------------------------------


def _made(case: Failure, mistake: Mistake) -> _Guess | None:
    """The result of a mistake, or None if it has not the size of what was found."""
    if prod(mistake.call.backend_shape) != case.got.size:
        return None
    activate = relu if case.activated and mistake.activated else np.asarray
    with np.errstate(all="ignore"):
        values = activate(mistake.view(float64_result(mistake.call)))
    if values.shape != case.got.shape:
        return None

    def limits() -> tuple[np.ndarray, Any]:
        return _doubled(case, mistake.call, mistake.view, _summed_in(mistake.rounded, mistake.call))

    return _Guess(mistake.code, mistake.sentence, values, limits, rounded=mistake.rounded)


def _summed_in(rounded: FloatFormat | None, call: Call) -> np.dtype[Any]:
    """The type in which a sum was formed: what is rounded to a small format was summed in float32."""
    return call.first.dtype if rounded is None else np.dtype("float32")


def _doubled(case: Failure, call: Call, view: View, dtype: np.dtype[Any]) -> tuple[np.ndarray, Any]:
    """Twice the bound of direct summation, as a guess has an error of its own; and sum |x||w|."""
    if is_integer(dtype):
        return np.zeros(()), 0.0
    sizes = view(abs_sum(call))
    return np.maximum(2 * bounds.direct(sizes, call.terms, dtype), np.max(case.bound)), sizes


def _reordered(case: Failure, axis: int) -> Iterator[_Guess]:
    """The result's channels or images in another order: for each the nearest of the reference's."""
    got, want = (np.moveaxis(array, axis, 0).astype(np.float64) for array in (case.got, case.want))
    count = len(got)
    got, want = got.reshape(count, -1), want.reshape(count, -1)
    if count < 2 or not (np.isfinite(got).all() and np.isfinite(want).all()):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        distance = (want**2).sum(axis=1) - 2 * got @ want.T
    order: list[int] = []
    for row in distance:
        row[order] = np.inf
        order.append(int(row.argmin()))
    if order == sorted(order):
        return
    what = "images" if axis == 0 else "channels"
    code = "permuted_batch" if axis == 0 else "permuted_channels"
    sentence = f"when the result's {what} are in the order {order_words(tuple(order))}"
    limits = np.broadcast_to(case.bound, case.want.shape).take(order, axis)
    yield _Guess(code, sentence, case.want.take(order, axis), lambda: (limits, 0.0))


def _scaled(case: Failure) -> Iterator[_Guess]:
    """The result times a factor, with the bias or before it is added; one cell gives the factor."""
    call, dtype = case.call, case.call.first.dtype
    offsets = [("", np.zeros((), dtype))]
    if call.bias is not None:
        offsets.append((", before the bias is added", call.bias))
    for words, offset in offsets:
        want = float64_result(call).astype(np.float64) - offset.astype(np.float64)
        got = case.got.astype(np.float64) - offset.astype(np.float64)
        if not (np.isfinite(want).all() and np.isfinite(got).all()):
            continue
        if case.activated:  # where the relu gives 0, nothing is known
            want = np.where(case.got > 0, want, 0.0)
        nonzero = np.abs(want[want != 0])
        if not nonzero.size or nonzero.min() == nonzero.max():
            continue  # a sum, a product, another value: nothing could tell them apart
        cell = np.unravel_index(int(np.abs(want).argmax()), want.shape)
        limits, sizes = _doubled(case, call, np.asarray, dtype)
        limits, sizes = np.broadcast_to(limits, want.shape), np.broadcast_to(sizes, want.shape)
        factor = Fraction(float(got[cell])) / Fraction(float(want[cell]))
        if is_integer(dtype):
            simple, uncertain = factor, 0.0
        else:
            unit = FORMATS[dtype.name].unit_roundoff
            error = float(limits[cell] + 2 * unit * abs(got[cell]))
            uncertain = error / abs(float(want[cell]))
            simple = _simplest(factor, uncertain)
        if not simple:
            continue
        values = float(simple) * want + offset
        values = relu(values) if case.activated else values
        if is_integer(dtype):
            with np.errstate(invalid="ignore"):  # what is too large for the type fits nothing
                values = np.rint(values).astype(dtype)
        scale = max(1.0, abs(float(simple)))
        near = abs(float(simple)) * limits + uncertain * np.abs(want)
        yield _Guess(
            "scale",
            f"after multiplying by {_factor_words(simple)}{words}",
            values,
            lambda near=near, sizes=sizes * scale: (near, sizes),  # type: ignore[misc]
            scale=scale,
        )


def _simplest(factor: Fraction, uncertain: float) -> Fraction:
    """The fraction with the smallest denominator, or one over an integer, that is as near as is known."""
    for limit in (1, 2, 10, 100, 1000, 10**6):
        for simple in (factor.limit_denominator(limit), _inverse(factor, limit)):
            if simple and abs(simple - factor) <= uncertain:
                return simple
    return factor


def _inverse(factor: Fraction, limit: int) -> Fraction:
    return 1 / simple if factor and (simple := (1 / factor).limit_denominator(limit)) else Fraction(0)


def _factor_words(factor: Fraction) -> str:
    value = tables.number(float(factor), 6)
    return f"{factor} ({value})" if 1 < factor.denominator <= 10**6 and str(factor) != value else value


def _shifted(case: Failure) -> Iterator[_Guess]:
    """got[r, c] = want[r - dr, c - dc] wherever both are there."""
    got, want = case.got, case.want
    axes = (0, 1) if case.call.kind.sums_images else (1, 2)
    limits = np.broadcast_to(case.bound, want.shape)
    reach = [range(-min(8, got.shape[axis] - 1), min(8, got.shape[axis] - 1) + 1) for axis in axes]
    for dr, dc in sorted(product(*reach), key=lambda step: abs(step[0]) + abs(step[1])):
        here, there = ([slice(None)] * 4 for _ in range(2))
        for axis, step in zip(axes, (dr, dc), strict=True):
            here[axis] = slice(max(0, step), got.shape[axis] + min(0, step))
            there[axis] = slice(max(0, -step), got.shape[axis] + min(0, -step))
        expected = want[tuple(there)]
        if (dr, dc) == (0, 0) or 3 * expected.size < want.size or (expected == expected.flat[0]).all():
            continue  # too little left to tell, or nothing that could be told apart
        plural = [tables.count(abs(s), what) for s, what in ((dr, "row"), (dc, "column")) if s]
        near = limits[tuple(there)]
        sentence = f"after a shift by {' and '.join(plural)}"
        yield _Guess(f"shift({dr},{dc})", sentence, expected, lambda near=near: (near, 0.0), tuple(here))  # type: ignore[misc]
