"""The usual mistakes with filters, groups and geometry: a call with one of them made on purpose.

Each function yields calls, or views of a result, with one mistake in them, the usual ones first. `diagnoses` lists
the functions, and `diagnosing` runs the calls and compares the results with what was found. Mistakes in the numbers
of the arrays are in `number_mistakes`, those that are read off a wrong result in `fitted_mistakes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np

from ..arguments import axis_order
from ..calls import Call
from ..geometry import AxisGeometry, ConvGeometry, forward_axis, split_padding
from ..kinds import AXES, layout_of
from .failures import Failure, Mistake, View

__all__ = [
    "axis_words",
    "dilations",
    "flips",
    "group_offsets",
    "groups",
    "other_dilations",
    "other_padding",
    "output_alignments",
    "padding_modes",
    "padding_sides",
    "reread",
    "reshaped_filters",
    "stride_and_dilation",
    "stride_phases",
    "swapped_dilations",
    "swapped_filter_axes",
    "swapped_strides",
    "transposed_filters",
]

_AXIS_WORDS = {"depth": "depth", "rows": "rows", "cols": "columns"}
_PADS = {"depth": ("pad_front", "at the front"), "rows": ("pad_top", "at the top")}
_PADS["cols"] = "pad_left", "on the left"


def axis_words(axes: Sequence[int], rank: int) -> str:
    """Return the names of some spatial axes of a convolution."""
    return " and ".join(_AXIS_WORDS[AXES[-rank:][axis]] for axis in axes)


def _some(rank: int) -> list[tuple[int, ...]]:
    """Which axes a mistake may be made in: in all of them, or in some."""
    return [axes for size in range(rank, 0, -1) for axes in combinations(range(rank), size)]


# ---------------------------------------------------------------------------------------------
# The filter and the groups: the right geometry, but cells in another order
# ---------------------------------------------------------------------------------------------


def flips(case: Failure) -> Iterator[Mistake]:
    """The filter flipped; of a filter gradient, the result."""
    rank = case.call.geometry.rank
    for axes in _some(rank):
        what = axis_words(axes, rank)
        if len(axes) == rank:
            what += " (a true convolution instead of a cross-correlation)"

        def flip(filters: np.ndarray, axes: tuple[int, ...] = axes) -> np.ndarray:
            return np.flip(filters, axes)

        yield _filtered(case.call, "flipped_filter", f"the filter is flipped in {what}", flip)


def swapped_filter_axes(case: Failure) -> Iterator[Mistake]:
    """The filter with two of its spatial axes exchanged."""
    rank = case.call.geometry.rank
    for pair in combinations(range(rank), 2):
        order = list(range(rank + 2))
        order[pair[0]], order[pair[1]] = pair[1], pair[0]
        sentence = f"the filter's {axis_words(pair, rank)} are exchanged"
        yield _filtered(case.call, "swapped_filter_axes", sentence, lambda w, order=order: w.transpose(order))


def transposed_filters(case: Failure) -> Iterator[Mistake]:
    """The filter with its channels exchanged, or read in that order."""
    rank = case.call.geometry.rank
    order = (*range(rank), rank + 1, rank)
    sentence = "the filter's in and out channels are exchanged"
    yield _filtered(case.call, "transposed_filter", sentence, lambda w: w.transpose(order))
    read = reread(order, backwards=True)
    yield _filtered(
        case.call, "transposed_filter", f"{sentence} (its memory was read in the other order)", read
    )


def reshaped_filters(case: Failure) -> Iterator[Mistake]:
    """The filter of another framework reshaped to this layout, where it had to be transposed."""
    own = layout_of("filters", case.call.geometry.rank)
    taps = own[:-2]
    for theirs in (f"OI{taps}", f"O{taps}I", f"IO{taps}", f"I{taps}O", f"{taps}OI", own[::-1]):
        order = tuple(map(own.index, theirs))
        for backwards in (False, True):
            names = (own, theirs) if backwards else (theirs, own)
            sentence = "the filter is {} reshaped to {}, where it has to be transposed".format(*names)
            yield _filtered(case.call, "reshaped_filter", sentence, reread(order, backwards))


def reread(order: Sequence[int], backwards: bool = False) -> View:
    """Return a view that transposes in memory, then reads as if that had not happened; or the inverse."""

    def read(array: np.ndarray) -> np.ndarray:
        if backwards:
            return array.reshape([array.shape[axis] for axis in order]).transpose(np.argsort(order))
        return array.transpose(order).reshape(array.shape)

    return read


def _filtered(call: Call, code: str, sentence: str, change: View) -> Mistake:
    """A call with a changed filter, if the change keeps its shape; a filter gradient with a changed result."""
    role = "filters"
    own = call.cells_of(role)[0] if call.op.depthwise else call.geometry.shape_of(role)

    def changed(filters: np.ndarray) -> np.ndarray:
        made = change(filters.reshape(own))
        return made.reshape(filters.shape) if made.shape == own else filters

    if call.kind.sums_images:
        return Mistake(code, f"when {sentence}", call, changed, moves=True)
    return Mistake(code, f"when {sentence}", replace(call, second=changed(call.second)))


def groups(case: Failure) -> Iterator[Mistake]:
    """Channels dealt out to the groups like cards instead of in blocks, or the other way round."""

    def dealt(count: int) -> list[np.ndarray]:
        each = np.arange(count)
        return [
            each.reshape(parts).T.ravel()
            for parts in ((case.call.geometry.groups, -1), (-1, case.call.geometry.groups))
        ]

    sentence = "when {} channels are dealt out to the {} groups in turn instead of in blocks"
    yield from _regrouped(case.call, "groups", sentence, dealt)


def group_offsets(case: Failure) -> Iterator[Mistake]:
    """Every group reads the channels of the first, or of the next."""
    parts = case.call.geometry.groups

    def first(count: int) -> list[np.ndarray]:
        return [np.arange(count) % (count // parts)]

    def moved(count: int) -> list[np.ndarray]:
        return [np.roll(np.arange(count), step * (count // parts)) for step in (-1, 1)]

    yield from _regrouped(
        case.call, "group_offset", "when all {1} groups have the {0} channels of the first", first
    )
    yield from _regrouped(
        case.call, "group_offset", "when each of the {1} groups has the {0} channels of its neighbour", moved
    )


def _regrouped(call: Call, code: str, sentence: str, orders: Any) -> Iterator[Mistake]:
    """A grouped call with channels in other orders: those of the first array, of the second, of the result."""
    parts = call.geometry.groups
    if parts == 1:
        return
    for order in orders(call.first.shape[-1]):
        yield Mistake(code, sentence.format("input", parts), replace(call, first=call.first[..., order]))
    if call.second.shape[-1] % parts == 0 and not call.kind.sums_images:
        for order in orders(call.second.shape[-1]):
            yield Mistake(
                code, sentence.format("filter", parts), replace(call, second=call.second[..., order])
            )
    if call.backend_shape[-1] % parts == 0:
        for order in orders(call.backend_shape[-1]):
            view = lambda result, order=order: result[..., order]  # noqa: E731
            yield Mistake(code, sentence.format("output", parts), call, view, moves=True)


# ---------------------------------------------------------------------------------------------
# The geometry: padding, stride, dilation
# ---------------------------------------------------------------------------------------------


def padding_sides(case: Failure) -> Iterator[Mistake]:
    """As much padding before as there should be after: top for bottom, left for right."""
    g = case.call.geometry
    for swapped in _some(g.rank) if not case.call.op.transposed else ():
        axes = [_padded(axis, axis.pad_after) if i in swapped else axis for i, axis in enumerate(g.axes)]
        yield from _moved(case.call, axes, "padding_side", _where_padding_is(g, axes))


def _where_padding_is(g: ConvGeometry, axes: Sequence[AxisGeometry]) -> str:
    """Say how the padding before differs; the padding after is known only where one size alone fits."""
    changes, other_side = [], True
    for ours, theirs, name in zip(g.axes, axes, AXES[-g.rank :], strict=True):
        more = theirs.pad_before - ours.pad_before
        if not more:
            continue
        changes.append(
            f"{_NUMBERS.get(abs(more), abs(more))} {'more' if more > 0 else 'less'} {_PADS[name][1]}"
        )
        # as many outputs as ours result from this much padding after, or up to stride - 1 more
        least = ours.full_size - ours.in_size - theirs.pad_before
        other_side &= not least <= ours.pad_after < least + ours.stride
    return "padding is on the other side" if other_side else f"theirs has {' and '.join(changes)}"


_NUMBERS = {1: "one", 2: "two", 3: "three"}


def stride_phases(case: Failure) -> Iterator[Mistake]:
    """Every stride-th cell, but starting at another one."""
    call = case.call
    for axes in (
        _nearby(call, [axis.stride - 1 for axis in call.geometry.axes]) if not call.op.transposed else ()
    ):
        yield from _moved(call, axes, "stride_phase", "the stride starts at another cell")


def other_padding(case: Failure) -> Iterator[Mistake]:
    """Padding that is larger or smaller before the input, and the reverse after it."""
    call = case.call
    reach = [axis.effective_filter - 1 for axis in call.geometry.axes]
    for axes in _nearby(call, reach) if not call.kind.scatters else ():
        yield from _moved(call, axes, "padding_amount", "the padding before the input is another")


def output_alignments(case: Failure) -> Iterator[Mistake]:
    """Another part of the full transposed result was kept."""
    call = case.call
    reach = [max(axis.stride, axis.effective_filter) - 1 for axis in call.geometry.axes]
    for axes in _nearby(call, reach) if call.kind.scatters else ():
        yield from _moved(call, axes, "output_alignment", "another part of the full result is kept")


def _nearby(call: Call, reach: Sequence[int]) -> Iterator[list[AxisGeometry]]:
    """All axes with other values of pad_before, the nearest first."""
    steps = [range(-min(most, 7), min(most, 7) + 1) for most in reach]
    for moved in sorted(product(*steps), key=lambda each: sum(map(abs, each))):
        axes = zip(call.geometry.axes, moved, strict=True)
        yield [_padded(axis, axis.pad_before + step) for axis, step in axes]


def _padded(axis: AxisGeometry, before: int) -> AxisGeometry:
    return replace(axis, pad_before=before, pad_after=axis.pad_before + axis.pad_after - before)


def _moved(call: Call, axes: Sequence[AxisGeometry], code: str, sentence: str) -> Iterator[Mistake]:
    """The call with other padding before, if it is another."""
    g = call.geometry
    changes = [
        f"{_PADS[name][0]} {now.pad_before} instead of {was.pad_before}"
        for name, was, now in zip(AXES[-g.rank :], g.axes, axes, strict=True)
        if was.pad_before != now.pad_before
    ]
    if changes:
        moved = replace(call, geometry=replace(g, axes=tuple(axes)))
        yield Mistake(code, f"with {' and '.join(changes)}: {sentence}", moved)


def dilations(case: Failure) -> Iterator[Mistake]:
    """The dilation ignored, on all axes or where the stride is not 1, or applied twice."""
    strides, now = case.call.geometry.strides, case.call.geometry.dilations
    ignored = [(1,) * len(now), *((1, *now[1:]), (*now[:-1], 1))]
    ignored.append(
        tuple(1 if stride > 1 else dilation for stride, dilation in zip(strides, now, strict=True))
    )
    tries = dict.fromkeys(ignored, "is ignored") | {tuple(d * d for d in now): "is applied twice"}
    for other, what in tries.items():
        if other != now:
            sentence = f"with dilations {other} instead of {now}: the dilation {what}"
            yield from _resized(case.call, "dilation", sentence, strides, other)


def other_dilations(case: Failure) -> Iterator[Mistake]:
    """Any other dilation from 1 to 24, on all axes or on one."""
    strides, now = case.call.geometry.strides, case.call.geometry.dilations
    for dilation, axes in product(range(1, 25), _some(len(now))):
        other = tuple(dilation if i in axes else d for i, d in enumerate(now))
        if other != now:
            sentence = f"with dilations {other} instead of {now}"
            yield from _resized(case.call, "dilation", sentence, strides, other)


def stride_and_dilation(case: Failure) -> Iterator[Mistake]:
    """Stride and dilation exchanged."""
    strides, now = case.call.geometry.strides, case.call.geometry.dilations
    if strides != now:
        sentence = f"with strides {now} and dilations {strides}: the two are exchanged"
        yield from _resized(case.call, "stride_and_dilation", sentence, now, strides)


def swapped_strides(case: Failure) -> Iterator[Mistake]:
    """The strides in the order columns, rows."""
    strides, now = case.call.geometry.strides, case.call.geometry.dilations
    if strides != strides[::-1]:
        sentence = f"with strides {strides[::-1]} instead of {strides}: their axes are exchanged"
        yield from _resized(case.call, "swapped_strides", sentence, strides[::-1], now)


def swapped_dilations(case: Failure) -> Iterator[Mistake]:
    """The dilations in the order columns, rows."""
    strides, now = case.call.geometry.strides, case.call.geometry.dilations
    if now != now[::-1]:
        sentence = f"with dilations {now[::-1]} instead of {now}: their axes are exchanged"
        yield from _resized(case.call, "swapped_dilations", sentence, strides, now[::-1])


def _resized(
    call: Call, code: str, sentence: str, strides: Sequence[int], dilations: Sequence[int]
) -> Iterator[Mistake]:
    """The call with other strides and dilations, for each rule by which its padding may have been chosen."""
    for geometry in dict.fromkeys(_geometries(call, strides, dilations).values()):
        padding = f" (padding {geometry.padding})" if geometry.padding != call.geometry.padding else ""
        yield Mistake(code, sentence + padding, replace(call, geometry=geometry))


def padding_modes(case: Failure) -> Iterator[Mistake]:
    """VALID instead of SAME, or SAME instead of what was asked for; sizes mostly differ."""
    call, g = case.call, case.call.geometry
    found = _geometries(call, g.strides, g.dilations)
    known = {mode: found[mode] for mode in _MODES if mode in found}
    ours = next((mode for mode in known if _place(known[mode]) == _place(g)), "explicit padding")
    for mode in known:
        if _place(known[mode]) != _place(g):
            sentence = f"with {mode}, padding {found[mode].padding}, instead of {ours}, {g.padding}"
            yield Mistake("padding_mode", sentence, replace(call, geometry=found[mode]))


_MODES = ("VALID", "SAME", "SAME_LOWER")


def _place(g: ConvGeometry) -> tuple[int, ...]:
    """What of the padding shows in the result: where it begins, and the sizes."""
    return tuple(n for axis in g.axes for n in (axis.pad_before, axis.in_size, axis.out_size))


def _geometries(call: Call, strides: Sequence[int], dilations: Sequence[int]) -> dict[str, ConvGeometry]:
    """The geometry for other strides and dilations, by the rule for its padding."""
    g = call.geometry
    axes = [_axes(call, *each) for each in zip(g.axes, strides, dilations, strict=True)]
    return {rule: replace(g, axes=tuple(axis[rule] for axis in axes)) for rule in axes[0]}


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
