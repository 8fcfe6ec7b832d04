"""Mistakes that are read off the wrong result: an order, a factor, a constant, the terms that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import log2, prod
from typing import Any

import numpy as np

from ..core.calls import Call
from ..core.dtypes import is_integer
from ..core.kinds import gradient_of
from ..support import tables
from ..truth.exact import float64_result
from .failures import Failure, Mistake, cost, part_of, wide
from .number_mistakes import order_words, padded
from .places import SPATIAL, axis_nouns, members

_PAIR = 8  # products that take as long as it takes to write a distance, and to look at it


def copies(code: str, case: Failure) -> Iterator[Mistake]:
    """The result's channels, images, rows or columns in another order: the nearest of the reference's."""
    call, rank = case.call, case.call.geometry.rank
    nouns = axis_nouns(call)
    offsets: list[Any] = [0.0] if call.bias is None or case.activated else [0.0, wide(call.bias)]
    for axis, offset in product((rank + 1, 0, *range(1, rank + 1)), offsets):
        noun, of_filters = nouns[axis], isinstance(offset, np.ndarray)  # the bias is where it was
        got, want = (np.moveaxis(a - offset, axis, 0).astype(np.float64) for a in (case.got, case.want))
        got, want = (array.reshape(len(array), -1) for array in (got, want))
        if len(got) < 2 or not (np.isfinite(got).all() and np.isfinite(want).all()):
            continue
        if not case.affords((got.shape[1] + _PAIR) * len(got) ** 2):
            continue  # the distances of all pairs
        sizes, blocks = (want**2).sum(axis=1), np.array_split(got, 1 + (len(got) * len(want) >> 22))
        order = tuple(int(j) for block in blocks for j in (sizes - 2 * block @ want.T).argmin(axis=1))
        moved = [i for i, j in enumerate(order) if i != j]
        way = "permuted" if len(set(order)) == len(order) else "copied"
        if not moved or code != way:
            continue
        words = f"the result's {noun}s are in the order {order_words(order)}"
        if way == "copied":
            words = ", ".join(f"{noun} {i} holds {noun} {order[i]}" for i in moved[:3]) + ", ..." * (
                len(moved) > 3
            )
        yield Mistake(
            f"{way}_{'batch' if noun == 'image' else noun.replace(' ', '_') + 's'}",
            f"when {words}{', before the bias is added' if of_filters else ''}",
            call,
            lambda y, axis=axis, order=order, offset=offset: (y - offset).take(order, axis) + offset,  # type: ignore[misc]
            moves=True,
            chosen=len(moved) * log2(len(order)),
        )


# ---------------------------------------------------------------------------------------------
# Factors and constants
# ---------------------------------------------------------------------------------------------


def scales(case: Failure) -> Iterator[Mistake]:
    """The result times a factor, with the bias or before it is added; one cell gives the factor."""
    call, dtype = case.call, case.call.first.dtype
    offsets: dict[str, Any] = {"": 0.0}
    if call.bias is not None:
        offsets[", before the bias is added"] = call.bias.astype(np.float64)
    for words, offset in offsets.items():
        want, got = (array.astype(np.float64) - offset for array in (case.exact, case.got))
        if case.activated:  # where the relu gives 0, nothing is known
            want = np.where(case.got > 0, want, 0.0)
        sizes = np.abs(want[want != 0])
        if not (
            np.isfinite(want).all() and np.isfinite(got).all() and sizes.size and sizes.min() < sizes.max()
        ):
            continue  # of equal numbers a sum, a product, another value: nothing could tell them apart
        cell = np.unravel_index(int(np.abs(want).argmax()), want.shape)
        if not np.isfinite(got[cell] / want[cell]):
            continue  # the factor is infinite
        factor, error = Fraction(float(got[cell])) / Fraction(float(want[cell])), _error(case, cell)
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


def _line(result: np.ndarray, factor: Any, offset: Any, dtype: np.dtype[Any], shift: Any = 0.0) -> np.ndarray:
    """(result - offset) * factor + offset + shift, in a type; what is too large for it fits nothing."""
    values = (result.astype(np.float64) - offset) * factor + offset + shift
    return np.rint(values).astype(dtype) if is_integer(dtype) else values


def _error(case: Failure, cell: Any = ...) -> float:
    """How far the number in a cell may lie from the exact one."""
    if is_integer(case.got.dtype):
        return 0.0
    got = np.abs(case.got[cell].astype(np.float64))
    limits = np.maximum(case.bound, case.tolerance.of(case.want))
    limits = np.broadcast_to(limits, case.got.shape)[cell] + 2.0**-case.digits * got
    return float(2 * np.max(limits, where=np.isfinite(limits), initial=0.0))


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
    """A factor and a constant for each channel, as in batch normalisation: a line through its cells."""
    # [channel, cell], copied: sums along memory keep more digits
    want, got = (
        np.ascontiguousarray(array.reshape(-1, array.shape[-1]).T, np.float64)
        for array in (case.exact, case.got)
    )
    slack, known = _error(case), np.isfinite(want) & np.isfinite(got) & ((got > 0) | (not case.activated))
    counts = known.sum(axis=1)
    if counts.min() < 4:
        return
    x, y = (np.sum(array, axis=1, where=known) / counts for array in (want, got))
    middle, height = (np.where(known, each - mean[:, None], 0.0) for each, mean in ((want, x), (got, y)))
    unit = np.abs(middle).max(axis=1)  # squares of the smallest numbers would be 0, of the largest infinite
    shares, heights = middle / unit[:, None], height / unit[:, None]
    factors = (shares * heights).sum(axis=1) / (shares * shares).sum(axis=1)
    if not np.isfinite(factors).all():
        return  # a channel of one number, or an infinite factor
    factors = np.where(np.abs(factors - 1) * unit <= slack / 2, 1.0, factors)
    offsets = y - factors * x
    offsets = np.where(np.abs(offsets) <= slack / 2, 0.0, offsets)
    changed = (factors != 1) | (offsets != 0)
    if not factors.all() or not changed.any():
        return  # a channel that holds one number has many causes
    parts = {
        "scale": (factors, factors != 1, "multiplied by"),
        "shift": (offsets, offsets != 0, "increased by"),
    }
    words = {
        name: f"{verb} {_listed(values[changed])}"
        for name, (values, other, verb) in parts.items()
        if other.any()
    }
    code = "scale_and_shift" if len(words) > 1 else f"channel_{[*words][0]}"
    which = "" if changed.all() else f" ({members(np.flatnonzero(changed), changed.size, 'channel')})"
    sentence = f"when it is, per output channel{which}, {' and '.join(words.values())}"
    sentence += ": another batch normalisation" if "scale" in words else ": another bias, or another mean"
    view = partial(_line, factor=factors, offset=0.0, dtype=case.exact.dtype, shift=offsets)
    chosen = float(sum(other.sum() for _, other, _ in parts.values()) * case.digits)
    yield Mistake(code, sentence, case.call, view, slack=slack, chosen=chosen)


def repeated_biases(case: Failure) -> Iterator[Mistake]:
    """The bias as often as the cell with the largest one says: once for each group, tap, or part of a sum."""
    call = case.call
    if call.bias is None or is_integer(case.got.dtype) or not np.isfinite(call.bias).all():
        return
    sizes = np.where(case.bad & ((case.got > 0) | (not case.activated)), np.abs(wide(call.bias)), 0.0)
    cell = np.unravel_index(int(sizes.argmax()), sizes.shape)
    bias, taps, depth = float(call.bias[cell[-1]]), prod(call.second.shape[:-2]), call.second.shape[-2]
    if not sizes[cell]:
        return
    more = (float(case.got[cell]) - float(case.exact[cell])) / bias
    if not np.isfinite(more):
        return
    times = _simplest(Fraction(more + 1), _error(case, cell) / abs(bias))
    known = {taps: "tap", depth: "input channel", taps * depth: "product", call.geometry.groups: "group"}
    whole = times.denominator == 1 or times.numerator == 1
    if times > 0 and times != 1 and whole and max(times.numerator, times.denominator) <= 1 << 16:
        often = (
            f": once for each {known[int(times)]}" if times in known else ": once for each part of the sum"
        )
        words = f"when the bias is added {tables.number(float(times))} times{often if times > 1 else ''}"
        yield Mistake(
            "bias_repeated", words, replace(call, bias=wide(call.bias) * float(times)), slack=_error(case)
        )


# ---------------------------------------------------------------------------------------------
# Factors and constants of the input channels
# ---------------------------------------------------------------------------------------------


def _by_channel(call: Call, shares: np.ndarray, *images: np.ndarray) -> np.ndarray:
    """What an image, or each of several, gives to a call's result, times each row of shares of its channels.

    Without the bias: [..., outs, images times rows].
    """
    shares = shares.reshape(len(shares), *(1,) * call.geometry.rank, -1)
    alone = np.concatenate([shares * image for image in images])
    geometry = replace(call.geometry, batch=len(alone))
    return np.moveaxis(float64_result(replace(call, first=alone, bias=None, geometry=geometry)), 0, -1)


def _corner(case: Failure) -> tuple[np.ndarray, Call] | None:
    """A part of the result without its bias, [cell, outs], and its call; None where nothing is fitted."""
    call = case.call
    if case.activated or call.kind.sums_images or is_integer(case.got.dtype) or call.first.shape[-1] > 256:
        return None
    corner = slice(0, 4096 if call.geometry.rank == 1 else 12)
    window = (slice(0, 1), *(corner,) * call.geometry.rank, slice(None))
    part, _ = part_of(call.with_each(wide), window)
    got = wide(case.got[window]) - (0 if part.bias is None else part.bias)
    return got.reshape(-1, got.shape[-1]), part


def input_scales(case: Failure) -> Iterator[Mistake]:
    """A factor and a constant for the input, the same for all channels or one for each: by least squares."""
    call, depth = case.call, case.call.first.shape[-1]
    if (found := _corner(case)) is None:
        return
    got, part = found[0].ravel(), found[1]
    for shares in (np.ones((1, depth)), np.eye(depth)) if 1 < depth <= 16 else (np.ones((1, depth)),):
        if not case.affords(2 * len(shares) * cost(part)):
            return
        columns = _by_channel(part, shares, part.first, np.ones_like(part.first)).reshape(got.size, -1)
        known = np.isfinite(columns).all(axis=1) & np.isfinite(got)
        values, _, rank, _ = np.linalg.lstsq(columns[known], got[known], rcond=None)
        if rank < len(values):
            continue  # constants that nothing tells apart
        simple = np.array([float(Fraction(value).limit_denominator(1000)) for value in values])
        values = np.where(np.abs(simple - values) <= 1e-5 * np.maximum(1, np.abs(values)), simple, values)
        factors, constants = values.reshape(2, -1)
        parts = {
            "scale": (factors, "multiplied by", (factors != 1).any()),
            "shift": (constants, "increased by", constants.any()),
        }
        code = "_and_".join(name for name, (*_, changed) in parts.items() if changed)
        words = " and ".join(f"{verb} {_listed(each)}" for each, verb, changed in parts.values() if changed)
        first, chosen = wide(call.first) * factors + constants, len(values) * case.digits
        which = "" if len(factors) == 1 else ", per channel,"
        sentence = f"when the input{which} is {words}: is it normalised as before?"
        if code and factors.all():
            changed = replace(call, first=first)
            yield Mistake(f"input_{code}", sentence, changed, slack=_error(case), chosen=chosen)


def factor_axes(case: Failure) -> Iterator[Mistake]:
    """Factors g of the output channels that multiply the filter along its input channels instead."""
    call, depth = case.call, case.call.first.shape[-1]
    square = depth == case.got.shape[-1] > 1 == call.geometry.groups
    found = _corner(case) if square else None
    if found is None or not case.affords(depth * cost(found[1])):
        return
    got, part = found
    each = _by_channel(part, np.eye(depth), part.first).reshape(-1, depth, depth)
    # got[o] * g[o] is the sum of g[i] * each[o, i]: a homogeneous system
    system = (each - got[:, :, None] * np.eye(depth)).reshape(-1, depth)
    system = system[np.isfinite(system).all(axis=1)][:4096]
    g = np.linalg.svd(system, full_matrices=False)[2][-1] if len(system) >= 2 * depth else np.zeros(depth)
    if not g.all() or (np.abs(g / g[0] - 1) < 1e-5).all():
        return
    ratios = g[:, None] / g if call.kind.gathers else g / g[:, None]
    sentence = (
        "when the factors of the output channels, as of a batch normalisation, multiply the input channels"
    )
    changed = replace(call, second=wide(call.second) * ratios)
    yield Mistake("factor_axis", sentence, changed, slack=_error(case), chosen=depth * case.digits)


def _listed(values: np.ndarray) -> str:
    """Numbers as text: one if all are equal, else the first three."""
    shown = values[: 1 if (values == values[0]).all() else 3]
    return ", ".join(tables.number(float(value), 4) for value in shown) + ", ..." * (
        1 < len(shown) < len(values)
    )


def padding_constants(case: Failure) -> Iterator[Mistake]:
    """Padding with a constant, the same for all channels or one for each: by least squares."""
    call, depth = case.call, case.call.first.shape[-1]
    plain = call.with_each(wide)
    own = padded(replace(plain, first=plain.first[:1]))
    if own is None or depth > 16 or case.activated or call.kind.sums_images:
        return
    if not case.affords(depth * cost(own)):
        return
    ring = padded(replace(plain, first=np.zeros_like(plain.first[:1])), constant_values=1)
    assert ring is not None
    effect = (
        _by_channel(ring, np.eye(depth, dtype=ring.first.dtype), ring.first)
        .reshape(-1, depth)
        .astype(np.float64)
    )
    rest = (wide(case.got[:1]).astype(np.float64) - case.exact[:1]).ravel()
    for columns in {1: effect.sum(axis=1, keepdims=True), depth: effect}.values():
        known = np.isfinite(columns).all(axis=1) & np.isfinite(rest)  # an infinity of the filter has no part
        rows = np.flatnonzero(columns.any(axis=1) & known)[:4096]
        found = np.linalg.lstsq(columns[rows], rest[rows], rcond=None)[0]
        if not np.isfinite(found).all():
            continue
        simple = np.array([float(Fraction(value).limit_denominator(256)) for value in found])
        values = np.broadcast_to(
            np.where(np.abs(simple - found) <= 1e-5 * np.abs(found), simple, found), depth
        )
        made = padded(plain)
        assert made is not None
        first = np.where(ring.first != 0, values.astype(made.first.dtype), made.first)
        what = f"{_listed(values)} instead of 0{' (by channel)' if len(set(values)) > 1 else ''}"
        if values.any():
            changed, chosen = replace(made, first=first), len(found) * case.digits
            yield Mistake(
                "padding_values", f"when the padding is {what}", changed, chosen=chosen, slack=_error(case)
            )


# ---------------------------------------------------------------------------------------------
# Terms of the sums
# ---------------------------------------------------------------------------------------------

_SUMS = 20  # products that take as long as it takes to sum a term along all of its axes


def terms(code: str, case: Failure) -> Iterator[Mistake]:
    """Terms that the sums are without, or count twice: those of some channels, taps, rows or images."""
    call, times = case.call, -1 if code == "missing_terms" else 1
    plain, cells = call.with_each(wide), _telling(case)
    if not cells or not all(np.isfinite(array).all() for array in (call.first, call.second)):
        return
    rest = np.array([float(case.got[cell]) - float(case.exact[cell]) for cell in cells])
    for name in ("second", "first"):
        array = getattr(plain, name)
        one = cost(call) if call.kind.sums_images else call.terms * call.backend_shape[-1]
        if not case.affords(len(cells) * (one + _SUMS * array.size)):
            continue
        products = np.stack([_products(plain, cell, name) for cell in cells])
        for axes, noun in _axes_of(call, name):
            back = np.argsort(axes)
            others = [axis for axis in range(array.ndim) if axis not in axes]
            sums = products.sum(axis=tuple(axis + 1 for axis in others)).transpose(0, *(1 + np.argsort(back)))
            shape = sums.shape[1:]
            for start, past in _ranges(sums.reshape(len(cells), -1), times * rest, _error(case)):
                part = np.zeros(prod(shape), bool)
                part[start:past] = True
                which = members(np.flatnonzero(part), part.size, noun)
                words = f"without {which}" if times < 0 else f"with twice the products of {which}"
                if times < 0 and part.sum() == part.size - 1:
                    words = f"with {members(np.flatnonzero(~part), part.size, noun)} only"
                keep = np.expand_dims(part.reshape(shape).transpose(back), others)
                changed = replace(call, **{name: np.where(keep, (1 + times) * array, array)})
                yield Mistake(code, words, changed, chosen=2 * log2(part.size))


def _telling(case: Failure) -> list[tuple[int, ...]]:
    """A few of the bad cells, of those with a finite error the first, the last and others between them."""
    error = np.abs(case.got.astype(np.float64) - case.exact.astype(np.float64))
    known = np.argwhere(case.bad & np.isfinite(error) & ((case.got > 0) | (not case.activated)))
    picked = np.unique(np.linspace(0, len(known) - 1, 6).astype(int)) if len(known) else ()
    return [tuple(int(i) for i in known[n]) for n in picked]


def _products(call: Call, cell: tuple[int, ...], name: str) -> np.ndarray:
    """The terms of the sum of one cell, each where its number is in the first array or in the second.

    The sum is linear in each array, so that they are the array times the gradient of the cell in it.
    """
    kind, whole = call.kind, np.zeros(getattr(call, name).shape)
    read: Any = ...
    if not kind.sums_images:  # the terms of one cell are in its window
        call, read = part_of(call, (*(slice(i, i + 1) for i in cell[:-1]), slice(None)))
        cell = (*(0 for _ in cell[:-1]), cell[-1])
    one = np.zeros(call.backend_shape, call.first.dtype)
    one[cell] = 1
    arrays = {kind.first: call.first, kind.second: call.second}
    computes, reads = gradient_of(kind, getattr(kind, name), arrays, one)
    first, second = reads[computes.first], reads[computes.second]
    op = replace(call.op, kind=computes)
    gradient = float64_result(replace(call, op=op, first=first, second=second, bias=None))
    whole[read if name == "first" else ...] = getattr(call, name) * gradient.astype(np.float64)
    return whole


def _axes_of(call: Call, name: str) -> Iterator[tuple[tuple[int, ...], str]]:
    """The axes of an array along which a part of it may be left out, and what an index of them is called."""
    role, rank = getattr(call.kind, name), call.geometry.rank
    spatial = SPATIAL[-rank:]
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
    ends = [order[first:last][:64] for first, last in zip(low[:count], high, strict=False)]
    start, past = np.repeat(np.arange(count), [*map(len, ends)]), np.concatenate(ends)
    fits = (np.abs(total[:, past] - total[:, start] - rest[:, None]) <= noise).all(axis=0)
    fits &= (start < past) & (past - start < count)
    pairs = zip(start[fits].tolist(), past[fits].tolist(), strict=True)
    yield from sorted(pairs, key=lambda pair: pair[1] - pair[0])[:3]


def shifts(case: Failure) -> Iterator[Mistake]:
    """got[r, c] = want[r - dr, c - dc] wherever both exist."""
    got, want, rank = case.got, case.want, case.call.geometry.rank
    axes = range(rank) if case.call.kind.sums_images else range(1, rank + 1)
    reach = [range(-min(8, got.shape[axis] - 1), min(8, got.shape[axis] - 1) + 1) for axis in axes]
    nouns, error = SPATIAL[-rank:], 2 * _error(case)
    for steps in sorted(product(*reach), key=lambda each: sum(map(abs, each))):
        here, there = ([slice(None)] * got.ndim for _ in range(2))
        for axis, step in zip(axes, steps, strict=True):
            here[axis] = slice(max(0, step), got.shape[axis] + min(0, step))
            there[axis] = slice(max(0, -step), got.shape[axis] + min(0, -step))
        expected = want[tuple(there)]
        middle = tuple(size // 2 for size in expected.shape)
        if not any(steps) or 3 * expected.size < want.size:
            continue  # too little left to tell
        if abs(float(got[tuple(here)][middle]) - float(expected[middle])) > error:
            continue  # most are not worth a look at the other cells
        if (expected == expected.flat[0]).all():
            continue  # nothing that could be told apart
        plural = [tables.count(abs(s), what) for s, what in zip(steps, nouns, strict=True) if s]
        yield Mistake(
            f"shift({','.join(map(str, steps))})",
            f"after a shift by {' and '.join(plural)}",
            case.call,
            partial(np.roll, shift=steps, axis=tuple(axes)),
            moves=True,
            part=tuple(here),
        )
