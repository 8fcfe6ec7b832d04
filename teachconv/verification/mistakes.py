"""The usual mistakes, made on purpose: a call with one thing about its filter, groups or geometry wrong.

Each generator yields calls, or views of a result, with one mistake in them. `diagnosing` runs them and
compares them with what was found. Mistakes in the numbers of the arrays are in `number_mistakes`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ..calls import Call
from ..dtypes import FloatFormat
from ..geometry import AxisGeometry, Conv2DGeometry, forward_axis, split_padding
from ..kinds import DepthwiseCells

__all__ = [
    "Mistake",
    "View",
    "geometry_mistakes",
    "in_own_axes",
    "indexed",
    "order_mistakes",
    "pair_mistakes",
]

View = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake, to be tried.

    Attributes:
        code: its name.
        sentence: what makes the results equal; "equal" is put before it.
        call: the call with the mistake in it.
        view: what the mistake makes of the call's result.
        rounded: the format that the result is rounded to, or None.
        activated: whether the activation of the call, if there is one, is applied.
    """

    code: str
    sentence: str
    call: Call
    view: View = lambda result: result
    rounded: FloatFormat | None = None
    activated: bool = True


def indexed(index: Any) -> View:
    """Return a view that indexes."""
    return lambda array: array[index]


# ---------------------------------------------------------------------------------------------
# The filter and the groups: the right geometry, but cells in another order
# ---------------------------------------------------------------------------------------------


def order_mistakes(call: Call) -> Iterator[Mistake]:
    """The filter, or the channels of groups, read in another order."""
    yield from _flips(call)
    yield from _exchanged_filter_axes(call)
    yield from _group_mistakes(call)


def _flips(call: Call) -> Iterator[Mistake]:
    """The filter flipped; of a filter gradient, the result."""
    flips: list[tuple[str, Any]] = [
        ("rows and columns (a true convolution instead of a cross-correlation)", np.s_[::-1, ::-1]),
        ("rows", np.s_[::-1]),
        ("columns", np.s_[:, ::-1]),
    ]
    for what, flip in flips:
        yield _filtered(call, "flipped_filter", f"the filter is flipped in {what}", indexed(flip))


def _exchanged_filter_axes(call: Call) -> Iterator[Mistake]:
    """The filter with two of its axes exchanged."""
    rows, cols, depth, outs = call.cells_of("filters")[0] if _depthwise(call) else call.geometry.filters_shape
    if rows == cols:
        sentence = "the filter's rows and columns are exchanged"
        yield _filtered(call, "swapped_filter_axes", sentence, lambda w: w.swapaxes(0, 1))
    sentence = "the filter's in and out channels are exchanged"
    if depth == outs:
        yield _filtered(call, "transposed_filter", sentence, lambda w: w.swapaxes(2, 3))
    yield _filtered(
        call,
        "transposed_filter",
        sentence + " (its memory was read in the other order)",
        lambda w: w.reshape(*w.shape[:2], w.shape[3], w.shape[2]).swapaxes(2, 3),
    )


def _filtered(call: Call, code: str, sentence: str, change: View) -> Mistake:
    changed = in_own_axes(call, change)
    if call.kind.sums_images:
        return Mistake(code, f"when {sentence}", call, changed)
    return Mistake(code, f"when {sentence}", replace(call, second=changed(call.second)))


def _depthwise(call: Call) -> bool:
    """Whether the caller's filters have axes of their own: in_channels and channel_multiplier."""
    return isinstance(call.names, DepthwiseCells)


def in_own_axes(call: Call, change: View) -> View:
    """The same change made to filters in the axes in which the caller of a depthwise op has them."""
    if not _depthwise(call):
        return change
    own = call.cells_of("filters")[0]

    def changed(filters: np.ndarray) -> np.ndarray:
        made = change(filters.reshape(own))
        return made.reshape(filters.shape) if made.shape == own else made

    return changed


def _group_mistakes(call: Call) -> Iterator[Mistake]:
    """Channels dealt out to the groups like cards instead of in blocks, or the other way round."""
    groups = call.geometry.groups
    if groups == 1:
        return
    sentence = "when {} channels are dealt out to the {} groups in turn instead of in blocks"

    def dealt(count: int) -> list[np.ndarray]:
        blocks = np.arange(count).reshape(groups, -1)
        return [blocks.T.ravel(), np.arange(count).reshape(-1, groups).T.ravel()]

    for order in dealt(call.first.shape[3]):
        mixed = call.first[..., order]
        yield Mistake("groups", sentence.format("input", groups), replace(call, first=mixed))
    if not call.kind.sums_images:
        for order in dealt(call.second.shape[3]):
            mixed = call.second[..., order]
            yield Mistake("groups", sentence.format("filter", groups), replace(call, second=mixed))
    results = call.backend_shape[3]
    if results % groups == 0:
        for order in dealt(results):
            text = sentence.format("output", groups)
            yield Mistake("groups", text, call, indexed((..., order)))


# ---------------------------------------------------------------------------------------------
# The geometry: padding, stride, dilation
# ---------------------------------------------------------------------------------------------


def geometry_mistakes(call: Call) -> Iterator[Mistake]:
    """Padding, stride or dilation wrong; the result may have another size."""
    if not call.op.transposed:
        yield from _padding_side(call)
        yield from _stride_phase(call)
    if call.kind.scatters:
        yield from _output_alignment(call)
    yield from _dilation_mistakes(call)
    yield from _padding_mode(call)


def pair_mistakes(call: Call) -> Iterator[Mistake]:
    """Two mistakes at once: the filter flipped, and padding on the other side."""
    for flip in _flips(call):
        transposed = call.op.transposed
        for other in _output_alignment(flip.call, 1) if transposed else _padding_side(flip.call):
            sentence = f"{flip.sentence}, and {other.sentence}"
            yield Mistake(f"{flip.code}+{other.code}", sentence, other.call, flip.view)


def _padding_side(call: Call) -> Iterator[Mistake]:
    """As much padding before as there should be after: top for bottom, left for right."""
    g = call.geometry
    for swap_rows, swap_cols in ((True, True), (True, False), (False, True)):
        rows = _padded(g.rows, g.rows.pad_after) if swap_rows else g.rows
        cols = _padded(g.cols, g.cols.pad_after) if swap_cols else g.cols
        yield from _moved(call, rows, cols, "padding_side", _where_padding_is(g, rows, cols))


def _where_padding_is(g: Conv2DGeometry, rows: AxisGeometry, cols: AxisGeometry) -> str:
    """Say how the padding before differs; the padding after is known only where one size alone fits."""
    changes, other_side = [], True
    for ours, theirs, side in ((g.rows, rows, "at the top"), (g.cols, cols, "on the left")):
        more = theirs.pad_before - ours.pad_before
        if not more:
            continue
        changes.append(f"{_WORDS.get(abs(more), abs(more))} {'more' if more > 0 else 'less'} {side}")
        # as many outputs as ours result from this much padding after, or up to stride - 1 more
        least = ours.full_size - ours.in_size - theirs.pad_before
        other_side &= not least <= ours.pad_after < least + ours.stride
    return "padding is on the other side" if other_side else f"theirs has {' and '.join(changes)}"


_WORDS = {1: "one", 2: "two", 3: "three"}


def _stride_phase(call: Call) -> Iterator[Mistake]:
    """Every stride-th cell, but starting at another one."""
    g = call.geometry
    for rows, cols in _nearby(g, g.rows.stride - 1, g.cols.stride - 1):
        yield from _moved(call, rows, cols, "stride_phase", "the stride starts at another cell")


def _output_alignment(call: Call, most: int = 7) -> Iterator[Mistake]:
    """Another part of the full transposed result was kept."""
    g = call.geometry
    reach = [min(most, max(axis.stride, axis.effective_filter) - 1) for axis in (g.rows, g.cols)]
    for rows, cols in _nearby(g, *reach):
        yield from _moved(call, rows, cols, "output_alignment", "another part of the full result is kept")


def _nearby(g: Conv2DGeometry, row_reach: int, col_reach: int) -> Iterator[tuple[AxisGeometry, AxisGeometry]]:
    """Both axes with other values of pad_before, the nearest first."""
    row_steps, col_steps = (range(-min(reach, 7), min(reach, 7) + 1) for reach in (row_reach, col_reach))
    for down, right in sorted(product(row_steps, col_steps), key=lambda step: abs(step[0]) + abs(step[1])):
        yield _padded(g.rows, g.rows.pad_before + down), _padded(g.cols, g.cols.pad_before + right)


def _padded(axis: AxisGeometry, before: int) -> AxisGeometry:
    return replace(axis, pad_before=before, pad_after=axis.pad_before + axis.pad_after - before)


def _moved(call: Call, rows: AxisGeometry, cols: AxisGeometry, code: str, sentence: str) -> Iterator[Mistake]:
    """The call with other padding before, if it is another."""
    g = call.geometry
    was, now = (g.rows.pad_before, g.cols.pad_before), (rows.pad_before, cols.pad_before)
    if was == now:
        return
    names = ("pad_top", "pad_left")
    changes = [f"{name} {b} instead of {a}" for name, a, b in zip(names, was, now, strict=True) if a != b]
    moved = replace(call, geometry=replace(g, axes=(rows, cols)))
    yield Mistake(code, f"with {' and '.join(changes)}: {sentence}", moved)


def _dilation_mistakes(call: Call) -> Iterator[Mistake]:
    """The dilation ignored or applied twice, or exchanged with the stride."""
    strides, dilations = call.geometry.strides, call.geometry.dilations
    if dilations != (1, 1):
        squares = dilations[0] ** 2, dilations[1] ** 2
        for other, what in (((1, 1), "is ignored"), (squares, "is applied twice")):
            sentence = f"with dilations {other} instead of {dilations}: the dilation {what}"
            yield from _resized(call, "dilation", sentence, strides, other)
    if strides != dilations:
        sentence = f"with strides {dilations} and dilations {strides}: the two are exchanged"
        yield from _resized(call, "stride_and_dilation", sentence, dilations, strides)


def _resized(
    call: Call, code: str, sentence: str, strides: tuple[int, ...], dilations: tuple[int, ...]
) -> Iterator[Mistake]:
    """The call with other strides and dilations, for each rule by which its padding may have been chosen."""
    for geometry in dict.fromkeys(_geometries(call, strides, dilations).values()):
        padding = f" (padding {geometry.padding})" if geometry.padding != call.geometry.padding else ""
        yield Mistake(code, sentence + padding, replace(call, geometry=geometry))


def _padding_mode(call: Call) -> Iterator[Mistake]:
    """VALID instead of SAME, or SAME instead of what was asked for; sizes mostly differ."""
    g = call.geometry
    found = _geometries(call, g.strides, g.dilations)
    known = {mode: found[mode] for mode in _MODES if mode in found}
    ours = next((mode for mode in known if _place(known[mode]) == _place(g)), "explicit padding")
    for mode in known:
        if _place(known[mode]) != _place(g):
            sentence = f"with {mode}, padding {found[mode].padding}, instead of {ours}, {g.padding}"
            yield Mistake("padding_mode", sentence, replace(call, geometry=found[mode]))


_MODES = ("VALID", "SAME", "SAME_LOWER")


def _place(g: Conv2DGeometry) -> tuple[int, ...]:
    """What of the padding shows in the result: where it begins, and the sizes."""
    return tuple(n for axis in (g.rows, g.cols) for n in (axis.pad_before, axis.in_size, axis.out_size))


def _geometries(
    call: Call, strides: tuple[int, ...], dilations: tuple[int, ...]
) -> dict[str, Conv2DGeometry]:
    """The geometry for other strides and dilations, by the rule for its padding."""
    g = call.geometry
    rows = _axes(call, g.rows, strides[0], dilations[0])
    cols = _axes(call, g.cols, strides[1], dilations[1])
    return {rule: replace(g, axes=(rows[rule], cols[rule])) for rule in rows}


def _axes(call: Call, axis: AxisGeometry, stride: int, dilation: int) -> dict[str, AxisGeometry]:
    """One axis for another stride and dilation, by the rule for its padding and for the size that follows."""
    n, k, o = axis.in_size, axis.filter_size, axis.out_size
    pads = axis.pad_before, axis.pad_after
    if call.kind.gathers:
        padded = dict.fromkeys(_MODES, (0, 0)) | {"EXPLICIT": pads}
        return {
            mode: forward_axis("rows", n, k, stride, dilation, mode, zeros, may_be_empty=True)
            for mode, zeros in padded.items()
        }
    reach = (k - 1) * dilation + 1
    full = (o - 1) * stride + reach
    rules = {"kept": (n, pads[0]), "SAME of that size": (n, split_padding(max(0, full - n))[0])}
    if call.op.transposed:  # its result has the size that the rule says; a gradient's is given
        same = o * stride
        total = max(0, full - same)
        rules |= {
            "VALID": ((o - 1) * stride + max(reach, stride), 0),
            "SAME": (same, split_padding(total)[0]),
            "SAME_LOWER": (same, split_padding(total, lower=True)[0]),
            "EXPLICIT": (max(0, full - sum(pads)), pads[0]),
        }
    return {
        rule: replace(
            axis,
            in_size=size,
            stride=stride,
            dilation=dilation,
            pad_before=before,
            pad_after=full - size - before,
        )
        for rule, (size, before) in rules.items()
    }
