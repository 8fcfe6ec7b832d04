"""The usual mistakes, made on purpose: which of them explains a result that is not the reference's?

Each candidate is a call, or a view of a result, with one mistake in it. It is run in float64 (integers
in their own type) and compared with what was found, by the bound of direct summation. The first that
fits is the diagnosis; named causes come before a bare shift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Any

import numpy as np

from ..arguments import axis_order
from ..dispatch import Call
from ..dtypes import is_integer
from ..geometry import AxisGeometry, Conv2DGeometry
from ..kinds import DepthwiseCells
from ..truth import bounds
from ..truth.exact import abs_sum, float64_result

__all__ = ["Diagnosis", "diagnose", "diagnose_shape"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What went wrong: a code, such as "flipped_filter" or "shift(0,1)", and a sentence that explains it."""

    code: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.code}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class _Mistake:
    code: str
    sentence: str
    call: Call
    view: Callable[[np.ndarray], np.ndarray] = lambda result: result


def diagnose(call: Call, got: np.ndarray, want: np.ndarray, bound: np.ndarray) -> Diagnosis | None:
    """Return the mistake that explains ``got``, or None if none of the usual ones does.

    ``got`` and ``want`` are as a backend returns them; ``bound`` is the error bound that ``got``
    did not keep. For a result of another shape see `diagnose_shape`.
    """
    bad = ~bounds.judge(got, want, bound).ok
    if not call.kind.sums_images:  # one image is enough to tell
        n = int(np.unravel_index(int(bad.argmax()), bad.shape)[0])
        bound = np.broadcast_to(bound, want.shape)[n : n + 1]
        call, got, want = _one_image(call, n), got[n : n + 1], want[n : n + 1]
    slack = float(np.max(bound, initial=0.0))
    for mistake in _mistakes(call):
        guess = mistake.view(float64_result(mistake.call))
        if guess.shape != got.shape or np.array_equal(guess, want):
            continue  # a mistake that changes nothing here explains nothing
        allowed = mistake.view(abs_sum(mistake.call))
        if _fits(got, guess, allowed, call, slack):
            return Diagnosis(mistake.code, mistake.sentence)
    return _shifted(call, got, want, bound)


def _fits(got: np.ndarray, guess: np.ndarray, sizes: np.ndarray, call: Call, slack: float) -> bool:
    dtype = call.first.dtype
    if is_integer(dtype):
        return np.array_equal(got, guess)
    # twice: the guess has an error of its own, in float64
    allowed = np.maximum(2 * bounds.direct(sizes, call.terms, dtype), slack)
    with np.errstate(over="ignore"):
        return bounds.judge(got, guess.astype(dtype), allowed, sizes).passed


def _one_image(call: Call, n: int) -> Call:
    geometry = replace(call.geometry, batch=1)
    shape = (1, *call.backend_shape[1:])
    theirs = tuple(shape[axis] for axis in axis_order(call.layout))
    return replace(call, first=call.first[n : n + 1], geometry=geometry, result_shape=theirs)


# ---------------------------------------------------------------------------------------------
# The candidates, in the order in which they are tried
# ---------------------------------------------------------------------------------------------


def _mistakes(call: Call) -> Iterator[_Mistake]:
    yield from _filter_mistakes(call)
    yield from _group_mistakes(call)
    if not call.op.transposed:
        yield from _padding_mistakes(call)
        yield from _phase_mistakes(call)
    if call.kind.scatters:
        yield from _alignment_mistakes(call)
    yield from _layout_mistakes(call)


def _filter_mistakes(call: Call) -> Iterator[_Mistake]:
    """The filter flipped, or with two of its axes exchanged; of a filter gradient, the result."""
    flips: list[tuple[str, Any]] = [
        ("rows and columns (a true convolution instead of a cross-correlation)", np.s_[::-1, ::-1]),
        ("rows", np.s_[::-1]),
        ("columns", np.s_[:, ::-1]),
    ]
    rows, cols, depth, outs = call.cells_of("filters")[0] if _depthwise(call) else call.geometry.filters_shape
    for what, flip in flips:
        yield _filtered(call, "flipped_filter", f"the filter is flipped in {what}", _indexed(flip))
    if rows == cols:
        yield _filtered(
            call,
            "swapped_filter_axes",
            "the filter's rows and columns are exchanged",
            lambda w: w.swapaxes(0, 1),
        )
    sentence = "the filter's in and out channels are exchanged"
    if depth == outs:
        yield _filtered(call, "transposed_filter", sentence, lambda w: w.swapaxes(2, 3))
    yield _filtered(
        call,
        "transposed_filter",
        sentence + " (its memory was read in the other order)",
        lambda w: w.reshape(*w.shape[:2], w.shape[3], w.shape[2]).swapaxes(2, 3),
    )


def _filtered(call: Call, code: str, sentence: str, change: Callable[[np.ndarray], np.ndarray]) -> _Mistake:
    changed = _in_own_axes(call, change)
    if call.kind.sums_images:
        return _Mistake(code, f"equal when {sentence}", call, changed)
    return _Mistake(code, f"equal when {sentence}", replace(call, second=changed(call.second)))


def _depthwise(call: Call) -> bool:
    """Whether the caller's filters have axes of their own: in_channels and channel_multiplier."""
    return isinstance(call.names, DepthwiseCells)


def _in_own_axes(
    call: Call, change: Callable[[np.ndarray], np.ndarray]
) -> Callable[[np.ndarray], np.ndarray]:
    """The same change made to filters in the axes in which the caller of a depthwise op has them."""
    if not _depthwise(call):
        return change
    own = call.cells_of("filters")[0]

    def changed(filters: np.ndarray) -> np.ndarray:
        made = change(filters.reshape(own))
        return made.reshape(filters.shape) if made.shape == own else made

    return changed


def _group_mistakes(call: Call) -> Iterator[_Mistake]:
    """Channels dealt out to the groups like cards instead of in blocks, or the other way round."""
    groups = call.geometry.groups
    if groups == 1:
        return
    sentence = "equal when {} channels are dealt out to the {} groups in turn instead of in blocks"

    def dealt(count: int) -> list[np.ndarray]:
        blocks = np.arange(count).reshape(groups, -1)
        return [blocks.T.ravel(), np.arange(count).reshape(-1, groups).T.ravel()]

    for order in dealt(call.first.shape[3]):
        mixed = call.first[..., order]
        yield _Mistake("groups", sentence.format("input", groups), replace(call, first=mixed))
    if not call.kind.sums_images:
        for order in dealt(call.second.shape[3]):
            mixed = call.second[..., order]
            yield _Mistake("groups", sentence.format("filter", groups), replace(call, second=mixed))
    results = call.backend_shape[3]
    if results % groups == 0:
        for order in dealt(results):
            text = sentence.format("output", groups)
            yield _Mistake("groups", text, call, _indexed((..., order)))


def _padding_mistakes(call: Call) -> Iterator[_Mistake]:
    """Padding on the other side: top for bottom, left for right."""
    g = call.geometry
    for swap_rows, swap_cols in ((True, True), (True, False), (False, True)):
        rows = _padded(g.rows, g.rows.pad_after) if swap_rows else g.rows
        cols = _padded(g.cols, g.cols.pad_after) if swap_cols else g.cols
        mistake = _moved(call, rows, cols, "padding_side", "padding is on the other side")
        if mistake:
            yield mistake


def _phase_mistakes(call: Call) -> Iterator[_Mistake]:
    """Every stride-th cell, but starting at another one."""
    g = call.geometry
    for rows, cols in _nearby(g, g.rows.stride - 1, g.cols.stride - 1):
        mistake = _moved(call, rows, cols, "stride_phase", "the stride starts at another cell")
        if mistake:
            yield mistake


def _alignment_mistakes(call: Call) -> Iterator[_Mistake]:
    """Another part of the full transposed result was kept."""
    g = call.geometry
    reach = [max(axis.stride, axis.effective_filter) - 1 for axis in (g.rows, g.cols)]
    for rows, cols in _nearby(g, *reach):
        sentence = "another part of the full result is kept"
        mistake = _moved(call, rows, cols, "output_alignment", sentence)
        if mistake:
            yield mistake


def _nearby(g: Conv2DGeometry, row_reach: int, col_reach: int) -> Iterator[tuple[AxisGeometry, AxisGeometry]]:
    """Both axes with other values of pad_before, the nearest first."""
    row_steps, col_steps = (range(-min(reach, 7), min(reach, 7) + 1) for reach in (row_reach, col_reach))
    for down, right in sorted(product(row_steps, col_steps), key=lambda step: abs(step[0]) + abs(step[1])):
        yield _padded(g.rows, g.rows.pad_before + down), _padded(g.cols, g.cols.pad_before + right)


def _padded(axis: AxisGeometry, before: int) -> AxisGeometry:
    return replace(axis, pad_before=before, pad_after=axis.pad_before + axis.pad_after - before)


def _moved(call: Call, rows: AxisGeometry, cols: AxisGeometry, code: str, sentence: str) -> _Mistake | None:
    g = call.geometry
    was, now = (g.rows.pad_before, g.cols.pad_before), (rows.pad_before, cols.pad_before)
    if was == now:
        return None
    names = ("pad_top", "pad_left")
    changes = [f"{name} {b} instead of {a}" for name, a, b in zip(names, was, now, strict=True) if a != b]
    moved = replace(call, geometry=replace(g, rows=rows, cols=cols))
    return _Mistake(code, f"equal with {' and '.join(changes)}: {sentence}", moved)


def _layout_mistakes(call: Call) -> Iterator[_Mistake]:
    """The right numbers with their axes in another order, or read in another order."""
    sentence = "equal when the axes are read in another order"
    for order in permutations(range(4)):
        if order != (0, 1, 2, 3):
            turned = _transposed(order)
            turned = _in_own_axes(call, turned) if call.kind.sums_images else turned
            yield _Mistake("layout", f"{sentence}: transposed by {order}", call, turned)
    for order in ((0, 3, 1, 2), (0, 2, 3, 1)):
        yield _Mistake(
            "layout",
            f"{sentence}: reshaped where transpose{order} was needed",
            call,
            _reread(call, order),
        )


def _indexed(index: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: array[index]


def _transposed(order: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda array: array.transpose(order)


def _reread(call: Call, order: tuple[int, ...]) -> Callable[[np.ndarray], np.ndarray]:
    """Transpose in memory, then read as if that had not happened, in the caller's layout."""

    def reread(result: np.ndarray) -> np.ndarray:
        theirs = call.to_caller(result)
        return call.from_caller(theirs.transpose(order).reshape(theirs.shape))

    return reread


def diagnose_shape(call: Call, got: np.ndarray, want: np.ndarray, bound: np.ndarray) -> Diagnosis:
    """Say what is wrong with a ``got``, in the caller's layout, that has not even the right shape."""
    shape = list(call.result_shape)
    if got.ndim == 4:
        theirs = call.to_caller(want)
        limits = call.to_caller(np.broadcast_to(bound, want.shape))
        for order in permutations(range(4)):
            turned = theirs.transpose(order)
            if turned.shape == got.shape and bounds.judge(got, turned, limits.transpose(order)).passed:
                return Diagnosis("layout", f"equal when transposed: got {list(got.shape)} for {shape}")
    return Diagnosis("output_shape", f"the shape is {list(got.shape)}, and the reference's is {shape}")


def _shifted(call: Call, got: np.ndarray, want: np.ndarray, bound: np.ndarray) -> Diagnosis | None:
    """got[r, c] = want[r - dr, c - dc] wherever both are there."""
    axes = (0, 1) if call.kind.sums_images else (1, 2)
    limits = np.broadcast_to(bound, want.shape)
    reach = [range(-min(8, got.shape[axis] - 1), min(8, got.shape[axis] - 1) + 1) for axis in axes]
    for dr, dc in sorted(product(*reach), key=lambda step: abs(step[0]) + abs(step[1])):
        here, there = ([slice(None)] * 4 for _ in range(2))
        for axis, step in zip(axes, (dr, dc), strict=True):
            here[axis] = slice(max(0, step), got.shape[axis] + min(0, step))
            there[axis] = slice(max(0, -step), got.shape[axis] + min(0, -step))
        expected = want[tuple(there)]
        if (dr, dc) == (0, 0) or 3 * expected.size < want.size or (expected == expected.flat[0]).all():
            continue  # too little left to tell, or nothing that could be told apart
        if bounds.judge(got[tuple(here)], expected, limits[tuple(there)]).passed:
            plural = [f"{abs(s)} {what}" for s, what in ((dr, "rows"), (dc, "columns")) if s]
            return Diagnosis(f"shift({dr},{dc})", f"equal after a shift by {' and '.join(plural)}")
    return None
