"""Candidates whose geometry is another one: padding, stride, dilation, or the direction of the convolution.

They are rows of the table in `diagnoses`, as those of `candidates`. A function that is decorated with
`differing` returns the axes of other geometries; each that differs is a call, and the sentence says in what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from math import prod
from operator import attrgetter
from typing import Any

import numpy as np

from ..core.arguments import axis_order, begins_then_ends
from ..core.calls import Call
from ..core.geometry import ConvGeometry
from ..core.kinds import AXES, OPS
from ..core.law import AxisGeometry, forward_axis, split_padding
from ..core.taps import overlap
from ..truth.exact import float64_result
from .failures import Failure, Mistake, Tries, cost

Axes = tuple[AxisGeometry, ...]

_WORDS = {"depth": "depth", "rows": "rows", "cols": "columns"}
_SIDES = {
    "depth": ("pad_front", "at the front"),
    "rows": ("pad_top", "at the top"),
    "cols": ("pad_left", "on the left"),
}


def skipped_edges(case: Failure) -> Iterator[Mistake]:
    """The first or the last row of the input taken for padding, or a column."""
    axes = enumerate(AXES[-case.call.geometry.rank :], 1)
    for (axis, name), (words, side) in product(axes, {"first": 0, "last": -1}.items()):
        first = case.call.first.copy()
        np.moveaxis(first, axis, 0)[side] = 0
        if first.any():
            sentence = f"when the {words} of the input's {_WORDS[name]} counts as padding"
            yield Mistake(sentence, replace(case.call, first=first))


def some_axes(rank: int) -> dict[tuple[int, ...], str]:
    """Return the axes in which a mistake may be made, all of them first, and their names."""
    names = [_WORDS[axis] for axis in AXES[-rank:]]
    sets = (axes for size in range(rank, 0, -1) for axes in combinations(range(rank), size))
    return {axes: " and ".join(names[axis] for axis in axes) for axes in sets}


def differing(geometries: Callable[[Failure], Iterable[tuple[Axes, str]]]) -> Tries:
    """Decorate a function that returns the axes of other geometries, and why they may be so.

    Where one differs, the call is made with it; the sentence says in what.
    """
    return partial(_differing, geometries)


def _differing(
    geometries: Callable[[Failure], Iterable[tuple[Axes, str]]], case: Failure
) -> Iterator[Mistake]:
    call, g = case.call, case.call.geometry
    sides = [_SIDES[name][0] for name in AXES[-g.rank :]]
    for axes, why in geometries(case):
        other = replace(g, axes=axes)
        pads = ([axis.pad_before for axis in each.axes] for each in (other, g))
        changes: list[tuple[str, Any, Any]] = list(zip(sides, *pads, strict=True))
        if (g.strides, g.dilations) != (other.strides, other.dilations):
            changes = [(name, getattr(other, name), getattr(g, name)) for name in ("strides", "dilations")]
            why += f" (padding {other.padding})" * (other.padding != g.padding)
        elif call.title.startswith(("onnx", "jax")) and any(now != was for _, now, was in changes):
            changes = [("", _pads(call, other), _pads(call, g))]
        words = " and ".join(f"{name} {now} instead of {was}" for name, now, was in changes if now != was)
        if words:
            yield Mistake(f"with {words.strip()}{why}", replace(call, geometry=other))


def _pads(call: Call, g: ConvGeometry) -> str:
    """The padding as the caller's framework writes it."""
    if call.title.startswith("onnx"):
        return f"pads={begins_then_ends(g.padding)}"
    return f"{'padding=' if call.title.startswith('jax') else 'padding '}{g.padding}"


@differing
def padding_sides(case: Failure) -> Iterator[tuple[Axes, str]]:
    """As much padding before as there should be after: top for bottom, left for right."""
    g = case.call.geometry
    for swapped in some_axes(g.rank):
        pairs = enumerate(g.axes)
        axes = tuple(_padded(axis, axis.pad_after) if i in swapped else axis for i, axis in pairs)
        yield axes, f": {_where_padding_is(g, axes)}"


def _where_padding_is(g: ConvGeometry, axes: Sequence[AxisGeometry]) -> str:
    """Say how the padding before differs; the padding after is known only where one size alone fits."""
    names = [_SIDES[name][1] for name in AXES[-g.rank :]]
    every = zip(g.axes, axes, names, strict=True)
    changes = [(a, b.pad_before - a.pad_before, name) for a, b, name in every if a.pad_before != b.pad_before]
    # as many outputs as ours result from this much padding after, or up to stride - 1 more
    least = (axis.full_size - axis.in_size - axis.pad_before - more for axis, more, _ in changes)
    pairs = zip(least, changes, strict=True)
    if not any(after <= axis.pad_after < after + axis.stride for after, (axis, *_) in pairs):
        return "padding is on the other side"
    numbers = {1: "one", 2: "two", 3: "three"}
    said = (
        f"{numbers.get(abs(more), abs(more))} {'more' if more > 0 else 'less'} {name}"
        for _, more, name in changes
    )
    return f"theirs has {' and '.join(said)}"


@differing
def causal_strides(case: Failure) -> Iterator[tuple[Axes, str]]:
    """A causal convolution that pads ek - s before, as codecs in PyTorch do, and not ek - 1."""
    *more, axis = case.call.geometry.axes
    ek, s = axis.effective_filter, axis.stride
    if not more and s > 1 and axis.pad_before == ek - 1:
        words = f": causal at stride {s}: the framework pads ek - s = {ek} - {s}, and not ek - 1"
        yield (_padded(axis, ek - s),), words


def _aligned(why: str, reach: Callable[[AxisGeometry], int], case: Failure) -> Iterator[tuple[Axes, str]]:
    """Fewer or more cells of padding before, at most 7 and fewer than a reach, the fewest first."""
    axes = case.call.geometry.axes
    most = [min(reach(axis) - 1, 7) for axis in axes]
    every = product(*(range(-number, number + 1) for number in most))
    for moved in sorted(every, key=lambda steps: sum(map(abs, steps))):
        pairs = zip(axes, moved, strict=True)
        yield tuple(_padded(axis, axis.pad_before + step) for axis, step in pairs), why


stride_phases = differing(partial(_aligned, ": the stride starts at another cell", attrgetter("stride")))
padding_amounts = differing(
    partial(_aligned, ": another padding before the input", attrgetter("effective_filter"))
)
output_alignments = differing(
    partial(
        _aligned,
        ": another part of the full result is kept",
        lambda axis: max(axis.stride, axis.effective_filter),
    )
)


def _padded(axis: AxisGeometry, before: int) -> AxisGeometry:
    """Other padding before, and after it the least that gives as many outputs."""
    return replace(axis, pad_before=before, pad_after=axis.full_size - axis.in_size - before)


def _steps(code: str, case: Failure) -> Iterator[tuple[Axes, str]]:
    """Strides or dilations ignored, applied twice, exchanged, or others, for each rule for the padding."""
    g, s, d = case.call.geometry, case.call.geometry.strides, case.call.geometry.dilations
    sets, each = some_axes(g.rank), range(g.rank)
    ones = [tuple(1 if axis in axes else d[axis] for axis in each) for axes in sets]
    at_stride = tuple(1 if s[axis] > 1 else d[axis] for axis in each)
    tries = {
        "dilation": [
            *((s, other, "the dilation is ignored") for other in dict.fromkeys((*ones, at_stride))),
            (s, tuple(n * n for n in d), "the dilation is applied twice"),
        ],
        "other_dilation": [
            (s, tuple(n if axis in axes else d[axis] for axis in each), "the dilation is another one")
            for n, axes in product(range(1, 25), sets)
        ],
        # where the filter has one tap a dilation says nothing, and the stride is only left out
        "stride_and_dilation": [(d, s, "the two are exchanged")]
        * all(axis.filter_size > 1 or axis.stride == axis.dilation for axis in g.axes),
        "one_stride": [
            (tuple(s[axis] for _ in each), tuple(d[axis] for _ in each), f"those of {words} on every axis")
            for (axis,), words in list(sets.items())[-g.rank :]
        ],
        "swapped_strides": [(s[::-1], d, "their axes are exchanged")],
        "swapped_dilations": [(s, d[::-1], "their axes are exchanged")],
    }
    for strides, dilations, words in tries[code]:
        if (strides, dilations) != (s, d):
            for geometry in dict.fromkeys(other_geometries(case.call, strides, dilations).values()):
                yield geometry.axes, f": {words}"


STEPS = {
    code: differing(partial(_steps, code))
    for code in (
        *("dilation", "other_dilation", "stride_and_dilation"),
        *("one_stride", "swapped_strides", "swapped_dilations"),
    )
}


def strides_left_out(case: Failure) -> Iterator[Mistake]:
    """Windows that overlap as at stride 1; or the whole result at stride 1, of which a part is kept."""
    call, g = case.call, case.call.geometry
    for axes, words in some_axes(g.rank).items():
        if any(g.axes[axis].stride == 1 for axis in axes):
            continue
        where = f"in {words}" if len(axes) < g.rank else "everywhere"
        for place, same in _PLACES if call.kind.gathers else _PLACES[:1]:
            other = (_at_stride_1(axis, place, same) if i in axes else axis for i, axis in enumerate(g.axes))
            sentence = f"when the stride is ignored {where}, and the {place} cells of the result are kept"
            if not place:
                left_out = "when the stride is left out of the window's index"
                sentence = f"{left_out} {where}: windows overlap as at stride 1"
            yield Mistake(sentence, replace(call, geometry=replace(g, axes=tuple(other))))
    if call.kind.gathers and max(g.strides) > 1:
        yield from _larger_buffers(case)


# which cells of the result at stride 1 are kept, and whether that has SAME's padding
_PLACES = (("", False), ("first", True), ("middle", False), ("middle", True))


def _at_stride_1(axis: AxisGeometry, place: str, same: bool) -> AxisGeometry:
    """As many outputs at stride 1: the first ones, or those in the middle of the whole result."""
    before = (axis.effective_filter - 1) // 2 if same else axis.pad_before
    pads = axis.effective_filter - 1 if same else axis.pad_before + axis.pad_after
    if place == "middle":
        before -= (axis.in_size + pads - axis.effective_filter + 1 - axis.out_size) // 2
    return _padded(replace(axis, stride=1), before)


_BUFFER = 1 << 26  # cells of a result at stride 1 that is looked at


def _larger_buffers(case: Failure) -> Iterator[Mistake]:
    """The whole result at stride 1, whose memory is read as if it had the size of the strided one."""
    call, g = case.call, case.call.geometry
    wholes = range(2 + (call.layout[-1] != "C"))  # all of memory, that of an image, and that of a plane
    sentence = "when the stride is ignored, and the memory of the larger result is read as the smaller one"
    for mode, lead in product(("EXPLICIT", "SAME"), wholes):
        whole = other_geometries(call, [1] * g.rank, g.dilations)[mode]
        sizes = zip(whole.axes, g.axes, strict=True)
        fits = (
            all(one.out_size >= axis.out_size for one, axis in sizes) and prod(whole.output_shape) <= _BUFFER
        )
        if fits and case.work.affords(cost(replace(call, geometry=whole))):
            yield Mistake(sentence, call, compute=partial(_read_as_smaller, whole, lead), moves=True)


def _read_as_smaller(whole: ConvGeometry, lead: int, call: Call) -> np.ndarray:
    """The first cells in memory of the result of another geometry, behind those of the first axes."""
    order = axis_order(call.layout)
    shape = [call.backend_shape[axis] for axis in order]
    memory = float64_result(replace(call, geometry=whole)).transpose(order)
    cells = memory.reshape(*shape[:lead], -1)[..., : prod(shape[lead:])]
    return cells.reshape(shape).transpose(np.argsort(order))


def overwritten(case: Failure) -> Iterator[Mistake]:
    """A scatter whose overlapping windows overwrite each other: the last tap stays, or the last pixel."""
    words = "when windows that overlap overwrite each other, and are not added: the last"
    for backwards, last in ((False, "tap"), (True, "pixel")) if case.call.kind.scatters else ():
        yield Mistake(f"{words} {last} stays", case.call, compute=partial(_overwritten, backwards))


def _overwritten(backwards: bool, call: Call) -> np.ndarray:
    """The products of each tap where it comes last, and the bias."""
    g, total = call.geometry, np.zeros(call.backend_shape)
    taps = list(np.ndindex(*(axis.filter_size for axis in g.axes)))
    for tap in taps[::-1] if backwards else taps:
        pairs = list(zip(g.axes, tap, strict=True))
        axes = (
            replace(axis, filter_size=1, pad_before=axis.pad_before - t * axis.dilation) for axis, t in pairs
        )
        second = call.second[tuple(slice(t, t + 1) for t in tap)]
        alone = replace(call, second=second, bias=None, geometry=replace(g, axes=tuple(axes)))
        cells = (slice(None), *(overlap(axis, t)[1] for axis, t in pairs))
        total[cells] = float64_result(alone)[cells]
    return total if call.bias is None else total + call.bias


def other_direction(case: Failure) -> Iterator[Mistake]:
    """The transposed convolution instead of the forward one, or the reverse, with a result of this size."""
    call, shape = case.call, case.got.shape
    other = None if case.quantized else turned(call, shape[1:-1])
    depth, channels = call.second.shape[-2:]  # where they differ, it is the filter flipped
    if other is not None and other.backend_shape == shape and depth == channels:
        is_now, was = ("a transposed", "a forward") if call.kind.gathers else ("a forward", "a transposed")
        sentence = f"when it is {is_now} convolution with the same filter, not {was} one"
        yield Mistake(sentence, replace(other, bias=call.bias))


def turned(call: Call, sizes: Sequence[int]) -> Call | None:
    """Return the transposed convolution of the arrays of a forward one, or the reverse, without the bias.

    Args:
        call: the call.
        sizes: the sizes of its result along the axes of the geometry.

    Returns:
        The call; None if the arrays or the sizes do not allow it.
    """
    g, forward = call.geometry, call.kind.scatters
    if call.op.is_gradient or g.groups > 1:
        return None
    op = OPS["convolution" if forward else "conv_transpose"]
    # what its input and its output are called in the geometry
    ends = zip(sizes, call.first.shape[1:-1], strict=True)
    pairs = zip(g.axes, (end[::-1] if forward else end for end in ends), strict=True)
    axes = tuple(replace(axis, in_size=n, out_size=o) for axis, (n, o) in pairs)
    over = (axis.in_size + axis.pad_before + axis.pad_after - axis.full_size for axis in axes)
    if not all(0 <= n < axis.stride for n, axis in zip(over, axes, strict=True)):
        return None
    fits = call.second.shape[-2 if forward else -1] == call.first.shape[-1]
    second = call.second if fits else call.second.swapaxes(-1, -2)
    geometry = ConvGeometry(g.batch, axes, second.shape[-2], second.shape[-1], 1)
    return replace(call, op=op, second=second, geometry=geometry, bias=None)


def repeated_edges(case: Failure) -> Iterator[Mistake]:
    """A transposed convolution whose input was made longer by its edge, in place of output_padding."""
    call, g = case.call, case.call.geometry
    first = np.pad(call.first, ((0, 0), *((0, 1),) * g.rank, (0, 0)), "edge")
    axes = (replace(axis, out_size=axis.out_size + 1) for axis in g.axes)
    longer = tuple(_padded(axis, axis.pad_before) for axis in axes)
    sentence = "when the input's last row and column are repeated, in place of output_padding"
    yield Mistake(sentence, replace(call, first=first, geometry=replace(g, axes=longer)))


@differing
def padding_modes(case: Failure) -> Iterator[tuple[Axes, str]]:
    """VALID instead of SAME, or SAME instead of what was asked for; sizes mostly differ."""
    call, g = case.call, case.call.geometry
    for mode, other in other_geometries(call, g.strides, g.dilations).items():
        if mode in _MODES:  # a word of TensorFlow, which callers of other frameworks do not read
            yield other.axes, "" if call.title else f": the padding is that of {mode}"


_MODES = ("VALID", "SAME", "SAME_LOWER")


def other_geometries(call: Call, strides: Sequence[int], dilations: Sequence[int]) -> dict[str, ConvGeometry]:
    """The geometry for other strides and dilations, by the rule for its padding."""
    g = call.geometry
    axes = [_axes(call, *each) for each in zip(g.axes, strides, dilations, strict=True)]
    return {rule: replace(g, axes=tuple(axis[rule] for axis in axes)) for rule in axes[0]}


def _axes(call: Call, axis: AxisGeometry, stride: int, dilation: int) -> dict[str, AxisGeometry]:
    """One axis for another stride and dilation, by the rule for its padding and for the size that follows."""
    n, k, o = axis.in_size, axis.filter_size, axis.out_size
    pads = axis.pad_before, axis.pad_after
    reach = (k - 1) * dilation + 1
    full = (o - 1) * stride + reach
    if call.kind.gathers:
        padded = dict.fromkeys(_MODES, (0, 0)) | {"EXPLICIT": pads}
        own = {
            mode: forward_axis("rows", n, k, stride, dilation, mode, zeros, may_be_empty=True)
            for mode, zeros in padded.items()
        }
        for rule, before in {"size kept": pads[0], "half the filter": reach // 2}.items():
            after = full - n - before
            own[rule] = replace(axis, stride=stride, dilation=dilation, pad_before=before, pad_after=after)
        return own
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
