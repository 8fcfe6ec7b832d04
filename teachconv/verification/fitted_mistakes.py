"""Mistakes whose numbers are read off the wrong result: an order, a factor, a constant, the terms that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import log2, prod
from typing import Any

import numpy as np

from .. import tables
from ..calls import Call
from ..dtypes import FORMATS, is_integer
from ..geometry import slab
from ..kinds import gradient_of
from ..truth import bounds
from ..truth.exact import abs_sum, float64_result
from .failures import Failure, Mistake, relu
from .number_mistakes import order_words, padded
from .places import members

__all__ = [
    "copies",
    "doubled_terms",
    "missing_terms",
    "padding_constants",
    "scales",
    "scales_by_channel",
    "shifts",
]


def copies(case: Failure) -> Iterator[Mistake]:
    """The result's channels, images, rows or columns in another order: for each the nearest of the reference's."""
    call, rank = case.call, case.call.geometry.rank
    nouns = ["image", *("slice", "row", "column")[-rank:], "channel"]
    if call.kind.sums_images:
        nouns = [*(f"filter {noun}" for noun in nouns[1:-1]), "in channel", "out channel"]
    for axis in (rank + 1, 0, *range(1, rank + 1)):
        yield from _copied(case, axis, nouns[axis], case.want, 0.0, True)
        if (
            axis == rank + 1 and call.bias is not None
        ):  # the filters are in another order, and the bias is not
            bias = call.bias if is_integer(call.bias.dtype) else call.bias.astype(np.float64)
            if not case.activated:
                yield from _copied(case, axis, nouns[axis], case.exact - bias, bias, False)


def _copied(
    case: Failure, axis: int, noun: str, want: np.ndarray, bias: Any, all_of_it: bool
) -> Iterator[Mistake]:
    """One axis in another order."""
    got, near = (np.moveaxis(array, axis, 0).astype(np.float64) for array in (case.got - bias, want))
    count = len(got)
    got, near = got.reshape(count, -1), near.reshape(count, -1)
    if count < 2 or not (np.isfinite(got).all() and np.isfinite(near).all()):
        return
    with np.errstate(over="ignore", invalid="ignore"):
        distance = (near**2).sum(axis=1) - 2 * got @ near.T
    order = tuple(int(i) for i in distance.argmin(axis=1))
    moved = [i for i, j in enumerate(order) if i != j]
    if not moved:
        return
    if sorted(order) == list(range(count)):
        code, sentence = "permuted", f"when the result's {noun}s are in the order {order_words(order)}"
    else:
        code = "copied"
        words = [f"{noun} {i} holds {noun} {order[i]}" for i in moved[:3]]
        sentence = f"when {', '.join(words)}{', ...' if len(moved) > 3 else ''}"
    words = "" if all_of_it else ", before the bias is added"
    name = "batch" if noun == "image" else f"{noun.replace(' ', '_')}s"
    yield Mistake(
        f"{code}_{name}",
        sentence + words,
        case.call,
        lambda result: (result - bias).take(order, axis) + bias,
        moves=True,
        chosen=len(moved) * log2(count),
    )


# ---------------------------------------------------------------------------------------------
# Factors and constants
# ---------------------------------------------------------------------------------------------


def scales(case: Failure) -> Iterator[Mistake]:
    """The result times a factor, with the bias or before it is added; one cell gives the factor."""
    call, dtype = case.call, case.call.first.dtype
    bias = None if call.bias is None else call.bias.astype(np.float64)
    for words, offset in [("", 0.0)] + ([] if bias is None else [(", before the bias is added", bias)]):
        want, got = (array.astype(np.float64) - offset for array in (case.exact, case.got))
        if not (np.isfinite(want).all() and np.isfinite(got).all()):
            continue
        if case.activated:  # where the relu gives 0, nothing is known
            want = np.where(case.got > 0, want, 0.0)
        nonzero = np.abs(want[want != 0])
        if not nonzero.size or nonzero.min() == nonzero.max():
            continue  # a sum, a product, another value: nothing could tell them apart
        cell = np.unravel_index(int(np.abs(want).argmax()), want.shape)
        factor = Fraction(float(got[cell])) / Fraction(float(want[cell]))
        error = _error(case, cell)
        simple = factor if is_integer(dtype) else _simplest(factor, error / abs(float(want[cell])))
        if simple not in (0, 1):
            yield Mistake(
                "scale",
                f"after multiplying by {_factor_words(simple)}{words}",
                call,
                partial(_line, factor=float(simple), offset=offset, dtype=case.exact.dtype),
                slack=error + abs(float(simple) - 1) * float(np.max(case.bound)),
                chosen=case.digits,
            )


def _line(result: np.ndarray, factor: Any, offset: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """(result - offset) * factor + offset, in the type of the result; what is too large for it fits nothing."""
    with np.errstate(all="ignore"):
        values = (result.astype(np.float64) - offset) * factor + offset
        return np.rint(values).astype(dtype) if is_integer(dtype) else values


def _error(case: Failure, cell: Any = ...) -> float:
    """How far the number in a cell may lie from the exact one."""
    dtype = case.call.first.dtype
    if is_integer(dtype):
        return 0.0
    limits = np.broadcast_to(np.maximum(case.bound, case.tolerance.of(case.want)), case.got.shape)[cell]
    return float(
        np.max(2 * limits + 2 * FORMATS[dtype.name].unit_roundoff * np.abs(case.got[cell].astype(np.float64)))
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


def scales_by_channel(case: Failure) -> Iterator[Mistake]:
    """A factor and a constant for each channel, as a batch normalisation has them: a line through each one's cells."""
    want, got = (array.reshape(-1, array.shape[-1]).astype(np.float64) for array in (case.exact, case.got))
    factors, offsets, slack = np.ones(got.shape[1]), np.zeros(got.shape[1]), _error(case)
    for channel in range(got.shape[1]):
        x, y = want[:, channel], got[:, channel]
        known = np.isfinite(x) & np.isfinite(y) & ((y > 0) | (not case.activated))
        x, y = x[known], y[known]
        spread = x - x.mean() if x.size else x
        if x.size < 4 or not (square := float(spread @ spread)):
            return
        factor = float(spread @ (y - y.mean())) / square
        factor = 1.0 if abs(factor - 1) * np.abs(spread).max() <= 2 * slack else factor
        offset = float(y.mean() - factor * x.mean())
        factors[channel], offsets[channel] = factor, 0.0 if abs(offset) <= 2 * slack else offset
    if not factors.all():
        return  # a channel that holds one number has many causes
    changed = (factors != 1) | (offsets != 0)
    parts = [(factors, 1.0, "multiplied by"), (offsets, 0.0, "increased by")]
    words = [f"{text} {_listed(values[changed])}" for values, none, text in parts if (values != none).any()]
    if not words:
        return
    which = "every channel is" if changed.all() else f"channels {_listed(np.flatnonzero(changed))} are"
    sentence = f"when {which} {' and '.join(words)}"
    code = (
        "scale_and_shift" if len(words) > 1 else "channel_scale" if (factors != 1).any() else "channel_shift"
    )
    if (
        case.held is not None
        and changed.all()
        and np.array_equal(np.rint(offsets), np.full_like(offsets, case.held))
    ):
        code, sentence = "accumulates", "when the result is added to what out held before"
    yield Mistake(
        code,
        sentence,
        case.call,
        lambda result: _line(result, factors, 0.0, case.exact.dtype) + offsets.astype(case.exact.dtype),
        slack=slack,
        chosen=float(((factors != 1).sum() + (offsets != 0).sum()) * case.digits),
    )


def _listed(values: np.ndarray) -> str:
    """Numbers as text: one if all are equal, else the first three."""
    if (values == values[0]).all():
        return tables.number(float(values[0]), 4)
    return ", ".join(tables.number(float(value), 4) for value in values[:3]) + (
        ", ..." if len(values) > 3 else ""
    )


def padding_constants(case: Failure) -> Iterator[Mistake]:
    """Padding with a constant, the same for all channels or one for each: by least squares."""
    call = case.call
    ones = padded(replace(call, first=np.zeros_like(call.first), bias=None), constant_values=1)
    depth = call.first.shape[-1]
    if ones is None or depth > 16 or case.activated:
        return
    first = np.stack(
        [np.where(np.arange(depth) == c, ones.first[0], 0) for c in range(depth)]
    )  # an image a channel
    reaching = replace(ones, first=first, geometry=replace(ones.geometry, batch=depth))
    if call.kind.sums_images:
        return
    effect = float64_result(reaching).astype(np.float64).reshape(depth, -1).T
    with np.errstate(all="ignore"):
        rest = (case.got.astype(np.float64) - case.exact.astype(np.float64)).reshape(len(case.got), -1)[0]
    if not np.isfinite(rest).all():
        return
    for columns, words in ((effect.sum(axis=1, keepdims=True), "all channels"), (effect, "each channel")):
        found = np.linalg.lstsq(columns, rest, rcond=None)[0]
        if columns.shape[1] > 1 or words == "all channels":
            values = np.broadcast_to(found, (depth,))
            yield from _padded_with(case, values, words)


def _padded_with(case: Failure, values: np.ndarray, words: str) -> Iterator[Mistake]:
    """The call padded with these numbers, rounded to simple ones where that is as near."""
    simple = np.array([float(Fraction(v).limit_denominator(256)) for v in values])
    values = np.where(np.abs(simple - values) <= 1e-6 * np.abs(values), simple, values)
    call = case.call
    wide = call if is_integer(call.first.dtype) else call.with_each(lambda array: array.astype(np.float64))
    made = padded(wide)
    assert made is not None
    mask = padded(replace(wide, first=np.zeros_like(wide.first)), constant_values=1)
    assert mask is not None
    first = np.where(mask.first != 0, values.astype(wide.first.dtype), made.first)
    what = _listed(values)
    sentence = f"when the padding is {what} instead of 0" + (" (by channel)" if "," in what else "")
    if values.any():
        yield Mistake(
            "padding_values",
            sentence,
            replace(made, first=first),
            chosen=len(set(values)) * case.digits,
            slack=_error(case),
        )


# ---------------------------------------------------------------------------------------------
# Terms of the sums
# ---------------------------------------------------------------------------------------------


def missing_terms(case: Failure) -> Iterator[Mistake]:
    """Terms that the sums are without: those of some channels, taps, rows, images."""
    return _terms(case, -1, "missing_terms", "without")


def doubled_terms(case: Failure) -> Iterator[Mistake]:
    """Terms that are counted twice."""
    return _terms(case, 1, "doubled_terms", "with twice the products of")


def _terms(case: Failure, times: int, code: str, text: str) -> Iterator[Mistake]:
    """Parts of an array whose products, so many times, are the error."""
    call = case.call
    if not all(np.isfinite(array).all() for array in (call.first, call.second)):
        return
    wide = call if is_integer(call.first.dtype) else call.with_each(lambda array: array.astype(np.float64))
    cells = _telling(case)
    rest = np.array([float(case.got[cell]) - float(case.exact[cell]) for cell in cells])
    for name in ("second", "first") if cells else ():
        array = getattr(wide, name)
        products = np.stack([_products(wide, cell, name) for cell in cells])
        for axes, noun in _axes_of(call, name):
            back = np.argsort(axes)
            others = [axis for axis in range(array.ndim) if axis not in axes]
            sums = products.sum(axis=tuple(axis + 1 for axis in others)).transpose(0, *(1 + np.argsort(back)))
            shape = sums.shape[1:]
            for start, past in _ranges(sums.reshape(len(cells), -1), times * rest, _error(case)):
                part = np.zeros(prod(shape), bool)
                part[start:past] = True
                part = np.expand_dims(part.reshape(shape).transpose(back), others)
                changed = replace(call, **{name: np.where(part, (1 + times) * array, array)})
                which = members(np.arange(start, past), prod(shape), noun)
                yield Mistake(code, f"{text} {which}", changed, chosen=2 * log2(prod(shape)))


def _telling(case: Failure) -> list[tuple[int, ...]]:
    """A few of the bad cells, of those with a finite error the first, the last and others between them."""
    with np.errstate(all="ignore"):
        error = np.abs(case.got.astype(np.float64) - case.exact.astype(np.float64))
        known = np.argwhere(case.bad & np.isfinite(error) & ((case.got > 0) | (not case.activated)))
    picked = np.unique(np.linspace(0, len(known) - 1, min(6, len(known))).astype(int)) if len(known) else []
    return [tuple(int(i) for i in known[n]) for n in picked]


def _products(call: Call, cell: tuple[int, ...], name: str) -> np.ndarray:
    """The terms of the sum of one cell, each where its number is in the first array or in the second.

    The sum is linear in each array, so that they are the array times the gradient of the cell in it.
    """
    kind, array = call.kind, getattr(call, name)
    one = np.zeros(call.backend_shape, call.first.dtype)
    one[cell] = 1
    arrays = {kind.first: call.first, kind.second: call.second}
    computes, reads = gradient_of(kind, getattr(kind, name), arrays, one)
    first, second = reads[computes.first], reads[computes.second]
    op = replace(call.op, kind=computes)
    return array * float64_result(replace(call, op=op, first=first, second=second, bias=None)).astype(
        np.float64
    )


def _axes_of(call: Call, name: str) -> Iterator[tuple[tuple[int, ...], str]]:
    """The axes of an array along which a part of it may be left out, and what an index of them is called."""
    role, rank = getattr(call.kind, name), call.geometry.rank
    spatial = ("slice", "row", "column")[-rank:]
    if role == "filters":
        channel, taps = rank + call.kind.scatters, tuple(range(rank))
        of_group = " of each group" if call.geometry.groups > 1 and call.kind.gathers else ""
        yield (channel,), f"input channel{of_group}"
        yield from (((axis,), f"filter {noun}") for axis, noun in enumerate(spatial))
        yield from ((taps, "tap"), ((*taps, channel), "term"), ((channel, *taps), "term"))
    else:
        what = call.op.words[role] if call.op.is_gradient else "input"
        yield from (((rank + 1,), f"{what} channel"), ((0,), f"{what} image"))
        yield from (((axis,), f"{what} {noun}") for axis, noun in enumerate(spatial, 1))
        yield tuple(range(1, rank + 1)), f"{what} pixel"


def _ranges(sums: np.ndarray, rest: np.ndarray, error: float) -> Iterator[tuple[int, int]]:
    """The shortest few ranges of indices whose sums are the rest, in every row."""
    count = sums.shape[1]
    if not 1 < count <= 4096:
        return
    total = np.concatenate([np.zeros((len(sums), 1)), sums.cumsum(axis=1)], axis=1)
    noise = 4 * error + 1e-12 * np.abs(sums).sum(axis=1).max()
    # total[past] - total[start] = rest: by the first row there are few, which the others check
    order = np.argsort(total[0], kind="stable")
    low, high = (np.searchsorted(total[0][order], total[0] + rest[0] + side * noise) for side in (-1, 1))
    pairs = ((start, int(past)) for start in range(count) for past in order[low[start] : high[start]][:64])
    fitting = [
        (start, past)
        for start, past in pairs
        if 0 < past - start < count and (np.abs(total[:, past] - total[:, start] - rest) <= noise).all()
    ]
    yield from sorted(fitting, key=lambda pair: pair[1] - pair[0])[:3]


def shifts(case: Failure) -> Iterator[Mistake]:
    """got[r, c] = want[r - dr, c - dc] wherever both are there."""
    got, want, rank = case.got, case.want, case.call.geometry.rank
    axes = range(rank) if case.call.kind.sums_images else range(1, rank + 1)
    reach = [range(-min(8, got.shape[axis] - 1), min(8, got.shape[axis] - 1) + 1) for axis in axes]
    nouns = ("slice", "row", "column")[-rank:]
    for steps in sorted(product(*reach), key=lambda each: sum(map(abs, each))):
        here, there = ([slice(None)] * got.ndim for _ in range(2))
        for axis, step in zip(axes, steps, strict=True):
            here[axis] = slice(max(0, step), got.shape[axis] + min(0, step))
            there[axis] = slice(max(0, -step), got.shape[axis] + min(0, -step))
        expected = want[tuple(there)]
        if not any(steps) or 3 * expected.size < want.size or (expected == expected.flat[0]).all():
            continue  # too little left to tell, or nothing that could be told apart
        middle = tuple(size // 2 for size in expected.shape)
        if abs(float(got[tuple(here)][middle]) - float(expected[middle])) > 2 * _error(case):
            continue  # most are not worth a look at the other cells
        plural = [tables.count(abs(s), what) for s, what in zip(steps, nouns, strict=True) if s]
        yield Mistake(
            f"shift({','.join(map(str, steps))})",
            f"after a shift by {' and '.join(plural)}",
            case.call,
            lambda result, steps=steps: np.roll(result, steps, tuple(axes)),
            moves=True,
            part=tuple(here),
        )
