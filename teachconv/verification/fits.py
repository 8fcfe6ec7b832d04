"""Fits: mistakes with numbers that are read off the wrong result.

An order, a factor, a constant, the terms that are missing: each is found by a few of the wrong cells, most by
least squares, and `diagnosing` then asks whether it explains the others as well.
"""

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
from .candidates import order_words, padded
from .failures import Failure, Mistake, cost, part_of, wide
from .places import SPATIAL, axis_nouns, members

_ROWS = 1024  # cells that a fit looks at
_PAIR = 8  # products that take as long as it takes to write a distance, and to look at it


# ---------------------------------------------------------------------------------------------
# What is fitted
# ---------------------------------------------------------------------------------------------


def _telling(case: Failure) -> np.ndarray:
    """The bad cells with a finite error, [cell, axis]; not those where a relu gives 0, which tell nothing."""
    error = case.got.astype(np.float64) - case.exact.astype(np.float64)
    return np.argwhere(case.bad & np.isfinite(error) & ((case.got > 0) | (not case.activated)))


def _error(case: Failure) -> float:
    """How far a number of the result may lie from the exact one."""
    if is_integer(case.got.dtype):
        return 0.0
    limits = np.maximum(case.bound, case.tolerance.of(case.want))
    limits = limits + 2.0**-case.digits * np.abs(case.got.astype(np.float64))
    return float(2 * np.max(limits, where=np.isfinite(limits), initial=0.0))


def _solved(columns: np.ndarray, rest: np.ndarray, error: float) -> np.ndarray | None:
    """The numbers by which columns give a rest, each the simplest that its error allows; None if none do.

    Args:
        columns: what each number multiplies: [cell, number].
        rest: [cell].
        error: how far a cell may lie from what the numbers give.
    """
    rows = np.flatnonzero(np.isfinite(columns).all(axis=1) & np.isfinite(rest) & columns.any(axis=1))[:_ROWS]
    columns, rest = columns[rows], rest[rows]
    values, _, rank, _ = np.linalg.lstsq(columns, rest, rcond=None)
    close = error * 2 * np.abs(values).max(initial=1.0) + 2.0**-40 * np.abs(rest).max(initial=0.0)
    if rank < len(values) or not np.isfinite(values).all() or np.abs(columns @ values - rest).max() > close:
        return None  # nothing tells them apart, or they give other numbers
    allowed = error / (2 * len(values) * np.abs(columns).max(axis=0)) + 2.0**-40 * np.abs(values)
    return np.array([float(_simplest(*pair)) for pair in zip(values, allowed, strict=True)])


def _simplest(number: float, error: float) -> Fraction:
    """The fraction with the smallest denominator, or one over an integer, that is as near as is known."""
    exact = Fraction(number)
    for limit in (1, 2, 10, 100, 1000, 10**6):
        simple = exact.limit_denominator(limit)
        inverse = 1 / exact if exact else exact
        for near in (simple, 1 / inverse.limit_denominator(limit) if abs(inverse) >= 1 else simple):
            if abs(near - exact) <= error:
                return near
    return exact


def _factor_words(value: float) -> str:
    factor = _simplest(value, 2.0**-40 * abs(value))
    shown = tables.number(value, 6)
    return f"{factor} ({shown})" if 1 < factor.denominator <= 10**6 and str(factor) != shown else shown


def _listed(values: np.ndarray) -> str:
    """Numbers as text: one if all are equal, else the first three."""
    shown = values[: 1 if (values == values[0]).all() else 3]
    return ", ".join(tables.number(float(value), 4) for value in shown) + ", ..." * (
        1 < len(shown) < len(values)
    )


def _line_words(factors: np.ndarray, constants: np.ndarray) -> tuple[str, str]:
    """A code and a sentence for factors and constants, of those that change something; "" for none."""
    parts = {"scale": ("multiplied by", factors, 1.0), "shift": ("increased by", constants, 0.0)}
    words = {
        name: f"{verb} {_listed(values)}"
        for name, (verb, values, nothing) in parts.items()
        if (values != nothing).any()
    }
    return "_and_".join(words), " and ".join(words.values())


def copies(case: Failure) -> Iterator[Mistake]:
    """The result's channels, images, rows or columns in another order: the nearest of the reference's."""
    call, rank = case.call, case.call.geometry.rank
    nouns = axis_nouns(call)
    offsets: list[Any] = [0.0] if call.bias is None or case.activated else [0.0, wide(call.bias)]
    for axis, offset in product((rank + 1, 0, *range(1, rank + 1)), offsets):
        noun, of_filters = nouns[axis], isinstance(offset, np.ndarray)  # the bias is where it was
        arrays = (np.moveaxis(array - offset, axis, 0) for array in (case.got, case.want))
        got, want = (array.reshape(len(array), -1).astype(np.float64) for array in arrays)
        if (
            len(got) < 2
            or not (np.isfinite(got).all() and np.isfinite(want).all())
            or not case.work.affords((got.shape[1] + _PAIR) * len(got) ** 2)  # the distances of all pairs
        ):
            continue
        sizes, blocks = (want**2).sum(axis=1), np.array_split(got, 1 + (len(got) * len(want) >> 22))
        order = tuple(int(j) for block in blocks for j in (sizes - 2 * block @ want.T).argmin(axis=1))
        moved = [i for i, j in enumerate(order) if i != j]
        if not moved:
            continue
        way, words = "permuted", f"the result's {noun}s are in the order {order_words(order)}"
        if len(set(order)) < len(order):
            way = "copied"
            words = ", ".join(f"{noun} {i} holds {noun} {order[i]}" for i in moved[:3]) + ", ..." * (
                len(moved) > 3
            )
        yield Mistake(
            f"when {words}{', before the bias is added' if of_filters else ''}",
            call,
            lambda y, axis=axis, order=order, offset=offset: (y - offset).take(order, axis) + offset,  # type: ignore[misc]
            moves=True,
            chosen=len(moved) * log2(len(order)),
            code=f"{way}_{'batch' if noun == 'image' else noun.replace(' ', '_') + 's'}",
        )


# ---------------------------------------------------------------------------------------------
# Factors and constants
# ---------------------------------------------------------------------------------------------


def scales(case: Failure) -> Iterator[Mistake]:
    """The result times a factor, with the bias or before it is added."""
    cells, error, dtype = tuple(_telling(case).T), _error(case), case.exact.dtype
    offsets: dict[str, Any] = {"": 0.0}
    if case.call.bias is not None:
        offsets[", before the bias is added"] = case.call.bias.astype(np.float64)
    for words, offset in offsets.items():
        want, got = ((array.astype(np.float64) - offset)[cells] for array in (case.exact, case.got))
        if len(np.unique(np.abs(want))) < 2:
            continue  # of equal numbers a sum, a product, another value: nothing could tell them apart
        factor = _solved(want[:, None], got, error)
        if factor is not None and factor[0] not in (0, 1):
            view = partial(_line, factor=factor[0], offset=offset, dtype=dtype)
            slack = error + abs(factor[0] - 1) * float(np.max(case.bound))
            sentence = f"after multiplying by {_factor_words(factor[0])}{words}"
            yield Mistake(sentence, case.call, view, slack=slack, chosen=case.digits)


def _line(result: np.ndarray, factor: Any, offset: Any, dtype: np.dtype[Any], shift: Any = 0.0) -> np.ndarray:
    """(result - offset) * factor + offset + shift, in a type; what is too large for it fits nothing."""
    values = (result.astype(np.float64) - offset) * factor + offset + shift
    return np.rint(values).astype(dtype) if is_integer(dtype) else values


def scales_by_channel(case: Failure) -> Iterator[Mistake]:
    """A factor and a constant for each channel, as in batch normalisation: a line through its cells."""
    want, got = (array.reshape(-1, array.shape[-1]).astype(np.float64) for array in (case.exact, case.got))
    known, slack, lines = (got > 0) | (not case.activated), _error(case), []
    for channel, cells in enumerate(known.T):
        columns = np.stack([want[cells, channel], np.ones(np.count_nonzero(cells))], axis=1)
        line = _solved(columns, got[cells, channel], slack) if len(columns) > 3 else None
        if line is None or not line[0]:
            return  # a channel that holds one number has many causes
        lines.append(line)
    factors, constants = np.transpose(lines)
    changed = (factors != 1) | (constants != 0)
    if not changed.any():
        return
    code, words = _line_words(factors[changed], constants[changed])
    which = "" if changed.all() else f" ({members(np.flatnonzero(changed), changed.size, 'channel')})"
    why = "batch normalisation" if "scale" in code else "bias, or another mean"
    view = partial(_line, factor=factors, offset=0.0, dtype=case.exact.dtype, shift=constants)
    chosen = float(((factors != 1).sum() + (constants != 0).sum()) * case.digits)
    code = code if "_and_" in code else f"channel_{code}"
    sentence = f"when it is, per output channel{which}, {words}: another {why}"
    yield Mistake(sentence, case.call, view, slack=slack, chosen=chosen, code=code)


def repeated_biases(case: Failure) -> Iterator[Mistake]:
    """The bias more or less often than once: for each group, tap, or part of a sum."""
    call, cells = case.call, tuple(_telling(case).T)
    bias = np.broadcast_to(wide(call.bias), case.got.shape)[cells]
    rest = (case.got.astype(np.float64) - case.exact)[cells]
    more = _solved(bias[:, None], rest, _error(case))
    times = Fraction(0 if more is None else 1 + more[0]).limit_denominator(1 << 16)
    taps, depth = prod(call.second.shape[:-2]), call.second.shape[-2]
    known = {taps: "tap", depth: "input channel", taps * depth: "product", call.geometry.groups: "group"}
    if times > 0 and times != 1 and 1 in (times.numerator, times.denominator):
        often = f": once for each {known.get(int(times), 'part of the sum')}" * (times > 1)
        words = f"when the bias is added {tables.number(float(times))} times{often}"
        yield Mistake(words, replace(call, bias=wide(call.bias) * float(times)), slack=_error(case))


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
    """A factor and a constant for the input, the same for all channels or one for each."""
    depth, corner, error = case.call.first.shape[-1], _corner(case), _error(case)
    if corner is None:
        return
    got, part = corner
    for shares in (np.ones((1, depth)), np.eye(depth))[: 1 + (1 < depth <= 16)]:
        if not case.work.affords(2 * len(shares) * cost(part)):
            return
        columns = _by_channel(part, shares, part.first, np.ones_like(part.first)).reshape(got.size, -1)
        values = _solved(columns, got.ravel(), error)
        factors, constants = np.zeros((2, 1)) if values is None else values.reshape(2, -1)
        code, words = _line_words(factors, constants)
        if code and factors.all():
            which = "" if len(factors) == 1 else ", per channel,"
            sentence = f"when the input{which} is {words}: is it normalised as before?"
            changed = replace(case.call, first=wide(case.call.first) * factors + constants)
            chosen = 2 * len(factors) * case.digits
            yield Mistake(sentence, changed, slack=error, chosen=chosen, code=f"input_{code}")


def factor_axes(case: Failure) -> Iterator[Mistake]:
    """Factors g of the output channels that multiply the filter along its input channels instead."""
    call, depth = case.call, case.call.first.shape[-1]
    square = depth == case.got.shape[-1] > 1 == call.geometry.groups
    found = _corner(case) if square else None
    if found is None or not case.work.affords(depth * cost(found[1]) + 100 * depth**3):
        return
    got, part = found
    each = _by_channel(part, np.eye(depth), part.first).reshape(-1, depth, depth)
    # got[o] * g[o] is the sum of g[i] * each[o, i]: a homogeneous system
    system = (each - got[:, :, None] * np.eye(depth)).reshape(-1, depth)
    system = system[np.isfinite(system).all(axis=1)][: 8 * depth]
    g = np.linalg.svd(system, full_matrices=False)[2][-1] if len(system) >= 2 * depth else np.zeros(depth)
    if not g.all() or (np.abs(g / g[0] - 1) < 1e-5).all():
        return
    ratios = g[:, None] / g if call.kind.gathers else g / g[:, None]
    sentence = (
        "when the factors of the output channels, as of a batch normalisation, multiply the input channels"
    )
    changed = replace(call, second=wide(call.second) * ratios)
    yield Mistake(sentence, changed, slack=_error(case), chosen=depth * case.digits)


def padding_constants(case: Failure) -> Iterator[Mistake]:
    """Padding with a constant, the same for all channels or one for each."""
    call, depth, error = case.call.with_each(wide), case.call.first.shape[-1], _error(case)
    whole, ring = padded(call), padded(replace(call, first=np.zeros_like(call.first)), constant_values=1)
    if whole is None or ring is None or depth > 16 or case.activated or call.kind.sums_images:
        return
    if not case.work.affords(depth * cost(ring)):
        return
    effect = _by_channel(ring, np.eye(depth, dtype=ring.first.dtype), ring.first[:1])
    effect = effect.reshape(-1, depth).astype(np.float64)
    rest = (wide(case.got[:1]).astype(np.float64) - case.exact[:1]).ravel()
    for columns in (effect.sum(axis=1, keepdims=True), effect)[: 1 + (depth > 1)]:
        values = _solved(columns, rest, error)
        if values is not None and values.any():
            each = np.broadcast_to(values, depth)
            first = np.where(ring.first != 0, each.astype(whole.first.dtype), whole.first)
            by_channel = " (by channel)" * (len(set(values)) > 1)
            sentence = f"when the padding is {_listed(each)} instead of 0{by_channel}"
            chosen = len(values) * case.digits
            yield Mistake(sentence, replace(whole, first=first), chosen=chosen, slack=error)


# ---------------------------------------------------------------------------------------------
# Terms of the sums
# ---------------------------------------------------------------------------------------------

_SUMS = 20  # products that take as long as it takes to sum a term along all of its axes


def terms(case: Failure) -> Iterator[Mistake]:
    """Terms that the sums are without, or count twice: those of some channels, taps, rows or images."""
    call, every, error = case.call, _telling(case), _error(case)
    if not len(every) or not all(np.isfinite(array).all() for array in (call.first, call.second)):
        return
    # the first, the last and others between them
    cells = [tuple(map(int, every[n])) for n in np.unique(np.linspace(0, len(every) - 1, 6).astype(int))]
    rest = np.array([float(case.got[cell]) - float(case.exact[cell]) for cell in cells])
    for name in ("second", "first"):
        array = wide(getattr(call, name))
        one = cost(call) if call.kind.sums_images else call.terms * call.backend_shape[-1]
        if not case.work.affords(len(cells) * (one + _SUMS * array.size)):
            continue
        products = np.stack([_products(call.with_each(wide), cell, name) for cell in cells])
        for axes, noun in _axes_of(call, name):
            back = np.argsort(axes)
            others = [axis for axis in range(array.ndim) if axis not in axes]
            sums = products.sum(axis=tuple(axis + 1 for axis in others)).transpose(0, *(1 + np.argsort(back)))
            flat = sums.reshape(len(cells), -1)
            missing = [(0, *span) for span in _ranges(flat, -rest, error)]
            for times, start, past in (*missing, *((2, *span) for span in _ranges(flat, rest, error))):
                part = np.zeros(flat.shape[1], bool)
                part[start:past] = True
                keep = np.expand_dims(part.reshape(sums.shape[1:]).transpose(back), others)
                other: Any = np.where(keep, times * array, array)
                which = members(np.flatnonzero(part), part.size, noun)
                code, words = "missing_terms", f"without {which}"
                if times:
                    code, words = "doubled_terms", f"with twice the products of {which}"
                elif part.sum() == part.size - 1:
                    words = f"with {members(np.flatnonzero(~part), part.size, noun)} only"
                changed = replace(call, **{name: other})
                yield Mistake(words, changed, chosen=2 * log2(part.size), code=code)


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
        if (
            not any(steps)
            or 3 * expected.size < want.size  # too little left to tell
            # most are not worth a look at the other cells
            or abs(float(got[tuple(here)][middle]) - float(expected[middle])) > error
            or (expected == expected.flat[0]).all()  # nothing that could be told apart
        ):
            continue
        plural = [tables.count(abs(s), what) for s, what in zip(steps, nouns, strict=True) if s]
        yield Mistake(
            f"after a shift by {' and '.join(plural)}",
            case.call,
            partial(np.roll, shift=steps, axis=tuple(axes)),
            moves=True,
            part=tuple(here),
            code=f"shift({','.join(map(str, steps))})",
        )
