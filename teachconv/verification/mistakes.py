"""The usual mistakes with filters, groups and geometry: a call with one of them made on purpose.

Each function yields calls, or views of a result, with one mistake in them, the usual ones first. `diagnoses`
lists the functions, and `diagnosing` runs the calls and compares the results with what was found. Mistakes in
the numbers of the arrays are in `number_mistakes`, those that are read off a wrong result in
`fitted_mistakes`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations, product
from math import prod

import numpy as np

from ..core.arguments import axis_order, begins_then_ends
from ..core.calls import Call
from ..core.geometry import ConvGeometry
from ..core.kinds import AXES, layout_of
from ..core.law import AxisGeometry, forward_axis, split_padding
from ..core.taps import overlap
from ..truth.exact import float64_result
from .failures import Failure, Mistake, View, cost

_WORDS = {"depth": "depth", "rows": "rows", "cols": "columns"}
_SIDES = {
    "depth": ("pad_front", "at the front"),
    "rows": ("pad_top", "at the top"),
    "cols": ("pad_left", "on the left"),
}


def some_axes(rank: int) -> dict[tuple[int, ...], str]:
    """Return the axes in which a mistake may be made, all of them first, and their names."""
    names = [_WORDS[axis] for axis in AXES[-rank:]]
    sets = (axes for size in range(rank, 0, -1) for axes in combinations(range(rank), size))
    return {axes: " and ".join(names[axis] for axis in axes) for axes in sets}


# ---------------------------------------------------------------------------------------------
# The filter and the groups: the right geometry, but cells in another order
# ---------------------------------------------------------------------------------------------


def flips(case: Failure) -> Iterator[Mistake]:
    """The filter flipped; of a filter gradient, the result."""
    for axes, words in some_axes(case.call.geometry.rank).items():
        if len(axes) == case.call.geometry.rank:
            words += " (a true convolution instead of a cross-correlation)"
        yield _filtered(case.call, "flipped_filter", f"flipped in {words}", partial(np.flip, axis=axes))


def filter_orders(code: str, case: Failure) -> Iterator[Mistake]:
    """The filter with axes exchanged, or reshaped from or to another framework's order of axes."""
    call, rank = case.call, case.call.geometry.rank
    own = layout_of("filters", rank)
    taps, channels = own[:-2], (*range(rank), rank + 1, rank)
    words = "read with its in and out channels exchanged"
    changes: list[tuple[str, View]] = []
    if code == "swapped_filter_axes":
        for pair, names in some_axes(rank).items():
            order = tuple({pair[0]: pair[-1], pair[-1]: pair[0]}.get(axis, axis) for axis in range(rank + 2))
            if len(pair) == 2:
                changes.append((f"read with its {names} exchanged", partial(np.transpose, axes=order)))
                yield from _other_sizes(call, order, changes[-1][0])
    elif code == "transposed_filter":
        changes = [(words, partial(np.transpose, axes=channels))]
        changes.append((f"{words} (its memory, in the other order)", reread(channels, backwards=True)))
    else:
        theirs = ("OI" + taps, f"O{taps}I", "IO" + taps, f"I{taps}O", taps + "OI", own[::-1])
        # its input is the gradient's output
        exchanged = str.maketrans("IO", "OI" if call.op.transposed else "IO")
        for each, backwards in product(theirs, (False, True)):
            was, read = (name.translate(exchanged) for name in ((own, each) if backwards else (each, own)))
            sentence = f"{was} reshaped to {read}, where it has to be transposed"
            changes.append((sentence, reread(tuple(map(own.index, each)), backwards)))
    yield from (_filtered(call, code, *change) for change in changes)


def reread(order: Sequence[int], backwards: bool = False) -> View:
    """Return a view that transposes in memory, then reads as if that had not happened; or the inverse."""
    if backwards:
        return lambda array: array.reshape([array.shape[axis] for axis in order]).transpose(np.argsort(order))
    return lambda array: array.transpose(order).reshape(array.shape)


def _filtered(call: Call, code: str, words: str, change: View) -> Mistake:
    """A call with a changed filter, if the change keeps its shape; of a filter gradient the result."""
    own = call.cells_of("filters")[0] if call.op.depthwise else call.geometry.filters_shape

    def changed(filters: np.ndarray) -> np.ndarray:
        made = change(filters.reshape(own))
        return made.reshape(filters.shape) if made.shape == own else filters

    if call.kind.sums_images:
        return Mistake(code, f"when the filter is {words}", call, changed, moves=True)
    return Mistake(code, f"when the filter is {words}", replace(call, second=changed(call.second)))


def _other_sizes(call: Call, order: Sequence[int], words: str) -> Iterator[Mistake]:
    """A filter that is not square with its spatial axes exchanged, for each rule for its padding."""
    g = call.geometry
    sizes = [g.axes[axis].filter_size for axis in order[: g.rank]]
    if call.kind.sums_images or call.op.depthwise or sizes == [axis.filter_size for axis in g.axes]:
        return
    resized = (replace(axis, filter_size=size) for axis, size in zip(g.axes, sizes, strict=True))
    changed = replace(call, second=call.second.transpose(order), geometry=replace(g, axes=tuple(resized)))
    for geometry in dict.fromkeys(_geometries(changed, g.strides, g.dilations).values()):
        yield Mistake(
            "swapped_filter_axes", f"when the filter is {words}", replace(changed, geometry=geometry)
        )


def groups(code: str, case: Failure) -> Iterator[Mistake]:
    """Channels dealt out to the groups like cards, not in blocks, or the reverse; those of another group."""
    call, parts = case.call, case.call.geometry.groups
    arrays = {"input": call.first, "filter": call.second, "output": case.got}
    if code == "groups" and parts > 1 and call.kind.gathers and not call.op.depthwise:
        order = np.arange(case.got.shape[-1]).reshape(-1, parts).T.ravel()
        bias = None if call.bias is None else call.bias[order]
        sentence = f"when output channel o belongs to group o mod {parts}"
        view: View = partial(np.take, indices=np.argsort(order), axis=-1)
        yield Mistake(
            code, sentence, replace(call, second=call.second[..., order], bias=bias), view, moves=True
        )
    if code == "groups" and parts > 1 and not call.op.depthwise and not call.kind.sums_images:
        yield from _grouped_filters(call)
    for name, array in arrays.items() if parts > 1 else ():
        count = array.shape[-1]
        if count % parts or (name == "filter" and call.kind.sums_images):
            continue
        blocks, cards = np.arange(count).reshape(parts, -1), np.arange(count).reshape(-1, parts)
        orders: dict[str, dict[str, tuple[np.ndarray, ...]]] = {
            "groups": {"are dealt out to the {} groups in turn instead of in blocks": (blocks.T, cards.T)},
            "group_offset": {
                "of all {} groups are those of the first": (blocks[[0] * parts],),
                "of each of the {} groups are its neighbour's": (
                    np.roll(blocks, 1, 0),
                    np.roll(blocks, -1, 0),
                ),
            },
        }
        for words, order in ((words, order) for words, each in orders[code].items() for order in each):
            sentence = f"when {name} channels {words.format(parts)}"
            if call.op.depthwise and code == "groups" and name != "input":
                sentence = f"when {name} channels are in the order (multiplier, channel), or back from it"
            view = partial(np.take, indices=order.ravel(), axis=-1)
            if name == "output":
                yield Mistake(code, sentence, call, view, moves=True)
            else:
                changed = {"first" if name == "input" else "second": view(array)}
                yield Mistake(code, sentence, replace(call, **changed))


def _grouped_filters(call: Call) -> Iterator[Mistake]:
    """The filter's two axes of channels, one of which is cut into groups, read in another order."""
    *taps, depth, channels = call.second.shape
    parts = call.geometry.groups
    shape = [*taps, depth, parts, channels // parts]
    lead = tuple(range(len(taps)))
    for order in [*permutations((0, 1, 2))][1:]:
        axes = (*lead, *(len(taps) + axis for axis in order))
        names = ", ".join(("depth", "group", "channel of the group")[axis] for axis in order)
        second = call.second.reshape(shape).transpose(axes).reshape(call.second.shape)
        sentence = f"when the filter's channels are read in the order ({names})"
        yield Mistake("groups", sentence, replace(call, second=second))


# ---------------------------------------------------------------------------------------------
# The geometry: padding, stride, dilation
# ---------------------------------------------------------------------------------------------


def padding_sides(case: Failure) -> Iterator[Mistake]:
    """As much padding before as there should be after: top for bottom, left for right."""
    g = case.call.geometry
    for swapped in some_axes(g.rank) if not case.call.op.transposed else ():
        axes = [_padded(axis, axis.pad_after) if i in swapped else axis for i, axis in enumerate(g.axes)]
        yield from _moved(case.call, axes, "padding_side", _where_padding_is(g, axes))


def causal_strides(case: Failure) -> Iterator[Mistake]:
    """A causal convolution that pads ek - s before, as codecs in PyTorch do, and not ek - 1."""
    axis, call = case.call.geometry.axes[-1], case.call
    ek, s = axis.effective_filter, axis.stride
    if call.geometry.rank == 1 and not call.op.transposed and s > 1 and axis.pad_before == ek - 1:
        words = f"causal at stride {s}: the framework pads ek - s = {ek} - {s}, and not ek - 1"
        yield from _moved(call, [_padded(axis, ek - s)], "causal_stride", words)


def _where_padding_is(g: ConvGeometry, axes: Sequence[AxisGeometry]) -> str:
    """Say how the padding before differs; the padding after is known only where one size alone fits."""
    changes, other_side = [], True
    for ours, theirs, name in zip(g.axes, axes, AXES[-g.rank :], strict=True):
        more = theirs.pad_before - ours.pad_before
        if not more:
            continue
        changes.append(
            f"{_NUMBERS.get(abs(more), abs(more))} {'more' if more > 0 else 'less'} {_SIDES[name][1]}"
        )
        # as many outputs as ours result from this much padding after, or up to stride - 1 more
        least = ours.full_size - ours.in_size - theirs.pad_before
        other_side &= not least <= ours.pad_after < least + ours.stride
    return "padding is on the other side" if other_side else f"theirs has {' and '.join(changes)}"


_NUMBERS = {1: "one", 2: "two", 3: "three"}


def alignments(code: str, case: Failure) -> Iterator[Mistake]:
    """Every stride-th cell from another one on; another padding before; another part of the full result."""
    call, axes = case.call, case.call.geometry.axes
    kinds = {
        "stride_phase": (
            call.op.transposed,
            "the stride starts at another cell",
            [axis.stride for axis in axes],
        ),
        "padding_amount": (
            call.kind.scatters,
            "another padding before the input",
            [axis.effective_filter for axis in axes],
        ),
        "output_alignment": (
            not call.kind.scatters,
            "another part of the full result is kept",
            [max(axis.stride, axis.effective_filter) for axis in axes],
        ),
    }
    never, words, reach = kinds[code]
    ranges = [range(-min(most - 1, 7), min(most - 1, 7) + 1) for most in reach]
    for moved in sorted(product(*ranges), key=lambda each: sum(map(abs, each))) if not never else ():
        pairs = zip(axes, moved, strict=True)
        yield from _moved(call, [_padded(axis, axis.pad_before + step) for axis, step in pairs], code, words)


def _padded(axis: AxisGeometry, before: int) -> AxisGeometry:
    """Other padding before, and after it the least that gives as many outputs."""
    return replace(axis, pad_before=before, pad_after=axis.full_size - axis.in_size - before)


def _moved(call: Call, axes: Sequence[AxisGeometry], code: str, sentence: str) -> Iterator[Mistake]:
    """The call with different padding before, if that makes it a different call."""
    g = call.geometry
    changes = [
        f"{_SIDES[name][0]} {now.pad_before} instead of {was.pad_before}"
        for name, was, now in zip(AXES[-g.rank :], g.axes, axes, strict=True)
        if was.pad_before != now.pad_before
    ]
    if changes:
        moved = replace(call, geometry=replace(g, axes=tuple(axes)))
        words = " and ".join(changes)
        if call.title.startswith(("onnx", "jax")):
            words = f"{_pads(call, moved.geometry)} instead of {_pads(call, g)}"
        yield Mistake(code, f"with {words}: {sentence}", moved)


def _pads(call: Call, g: ConvGeometry) -> str:
    """The padding as the caller's framework writes it."""
    if call.title.startswith("onnx"):
        return f"pads={begins_then_ends(g.padding)}"
    return f"{'padding=' if call.title.startswith('jax') else 'padding '}{g.padding}"


def steps(code: str, case: Failure) -> Iterator[Mistake]:
    """Strides or dilations ignored, applied twice, or exchanged."""
    s, d = case.call.geometry.strides, case.call.geometry.dilations
    each = range(len(d))
    ones = [tuple(1 if axis in axes else d[axis] for axis in each) for axes in some_axes(len(d))]
    at_stride = tuple(1 if s[axis] > 1 else d[axis] for axis in each)
    tries = {
        "dilation": [
            *((s, other, "the dilation is ignored") for other in dict.fromkeys((*ones, at_stride))),
            (s, tuple(n * n for n in d), "the dilation is applied twice"),
        ],
        # where the filter has one tap a dilation says nothing, and the stride is only left out
        "stride_and_dilation": [(d, s, "the two are exchanged")]
        * all(axis.filter_size > 1 or axis.stride == axis.dilation for axis in case.call.geometry.axes),
        "one_stride": [
            (tuple(s[axis] for _ in each), tuple(d[axis] for _ in each), f"those of {words} on every axis")
            for (axis,), words in list(some_axes(len(d)).items())[-len(d) :]
        ],
        "swapped_strides": [(s[::-1], d, "their axes are exchanged")],
        "swapped_dilations": [(s, d[::-1], "their axes are exchanged")],
    }
    for strides, dilations, words in tries[code]:
        yield from _resized(case.call, code, strides, dilations, f": {words}")


def strides_left_out(case: Failure) -> Iterator[Mistake]:
    """Windows that overlap as at stride 1; or the whole result at stride 1, of which a part is kept."""
    call, g = case.call, case.call.geometry
    for axes, words in some_axes(g.rank).items():
        if any(g.axes[axis].stride == 1 for axis in axes):
            continue
        where = f"in {words}" if len(axes) < g.rank else "everywhere"
        found: dict[tuple[AxisGeometry, ...], str] = {}
        for place in ("windows", "first", "middle") if call.kind.gathers else ("windows",):
            for same in (False, True):
                moved = (
                    _at_stride_1(axis, place, same) if i in axes else axis for i, axis in enumerate(g.axes)
                )
                found.setdefault(tuple(moved), place)
        for other, place in found.items():
            sentence = (
                f"when the stride is left out of the window's index {where}: windows overlap as at stride 1"
            )
            if place != "windows":
                sentence = f"when the stride is ignored {where}, and the {place} cells of the result are kept"
            yield Mistake("stride_left_out", sentence, replace(call, geometry=replace(g, axes=other)))
    if call.kind.gathers and max(g.strides) > 1:
        yield from _larger_buffers(case)


def _at_stride_1(axis: AxisGeometry, place: str, same: bool) -> AxisGeometry:
    """As many outputs at stride 1: the first ones, or those in the middle of the whole result."""
    before = (axis.effective_filter - 1) // 2 if same and place != "windows" else axis.pad_before
    pads = axis.effective_filter - 1 if same else axis.pad_before + axis.pad_after
    if place == "middle":
        before -= (axis.in_size + pads - axis.effective_filter + 1 - axis.out_size) // 2
    return _padded(replace(axis, stride=1), before)


_BUFFER = 1 << 26  # cells of a result at stride 1 that is looked at


def _larger_buffers(case: Failure) -> Iterator[Mistake]:
    """The whole result at stride 1, whose memory is read as if it had the size of the strided one."""
    g = case.call.geometry
    wholes = range(2 + (case.call.layout[-1] != "C"))  # all of memory, that of an image, and that of a plane
    for mode, lead in product(("EXPLICIT", "SAME"), wholes):
        each = tuple(_axes(case.call, axis, 1, axis.dilation)[mode] for axis in g.axes)
        whole = replace(g, axes=each)
        is_larger = all(one.out_size >= axis.out_size for one, axis in zip(each, g.axes, strict=True))
        if not is_larger or prod(whole.output_shape) > _BUFFER:
            continue
        if case.affords(cost(replace(case.call, geometry=whole))):
            sentence = (
                "when the stride is ignored, and the memory of the larger result is read as the smaller one"
            )
            read = partial(_read_as_smaller, whole, lead)
            yield Mistake("stride_left_out", sentence, case.call, compute=read, moves=True)


def _read_as_smaller(whole: ConvGeometry, lead: int, call: Call) -> np.ndarray:
    """The first cells in memory of the result of another geometry, behind those of the first axes."""
    order = axis_order(call.layout)
    shape = [call.backend_shape[axis] for axis in order]
    memory = float64_result(replace(call, geometry=whole)).transpose(order)
    cells = memory.reshape(*shape[:lead], -1)[..., : prod(shape[lead:])]
    return cells.reshape(shape).transpose(np.argsort(order))


def overwritten(case: Failure) -> Iterator[Mistake]:
    """A scatter whose overlapping windows overwrite each other: the last tap stays, or the last pixel."""
    for backwards, words in ((False, "tap"), (True, "pixel")) if case.call.kind.scatters else ():
        sentence = (
            f"when windows that overlap overwrite each other, and are not added: the last {words} stays"
        )
        yield Mistake("overwrites", sentence, case.call, compute=partial(_overwritten, backwards))


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


def other_direction(code: str, case: Failure) -> Iterator[Mistake]:
    """The transposed convolution instead of the forward one, or the reverse, at stride 1."""
    call, g, rank = case.call, case.call.geometry, case.call.geometry.rank
    wanted = call.kind.gathers if code == "transposed_for_forward" else call.op.transposed
    depth, channels = call.second.shape[-2:]
    if not wanted or depth != channels or g.groups > 1 or max(g.strides) > 1:
        return
    second = np.flip(call.second, tuple(range(rank))).swapaxes(-1, -2)
    axes = tuple(_padded(axis, axis.effective_filter - 1 - axis.pad_before) for axis in g.axes)
    is_now, was = ("a transposed", "a forward") if call.kind.gathers else ("a forward", "a transposed")
    sentence = f"when it is {is_now} convolution with the same filter, not {was} one"
    yield Mistake(code, sentence, replace(call, second=second, geometry=replace(g, axes=axes)))


def repeated_edges(case: Failure) -> Iterator[Mistake]:
    """A transposed convolution whose input was made longer by its edge, in place of output_padding."""
    call, g = case.call, case.call.geometry
    if call.op.transposed and max(g.strides) > 1:
        first = np.pad(call.first, ((0, 0), *((0, 1),) * g.rank, (0, 0)), "edge")
        axes = tuple(replace(axis, out_size=axis.out_size + 1) for axis in g.axes)
        longer = tuple(_padded(axis, axis.pad_before) for axis in axes)
        sentence = "when the input's last row and column are repeated, in place of output_padding"
        yield Mistake(
            "output_padding", sentence, replace(call, first=first, geometry=replace(g, axes=longer))
        )


def other_dilations(case: Failure) -> Iterator[Mistake]:
    """Any other dilation from 1 to 24, on all axes or on one."""
    g = case.call.geometry
    for dilation, axes in product(range(1, 25), some_axes(g.rank)):
        other = tuple(dilation if i in axes else d for i, d in enumerate(g.dilations))
        yield from _resized(case.call, "dilation", g.strides, other)


def _resized(
    call: Call, code: str, strides: tuple[int, ...], dilations: tuple[int, ...], words: str = ""
) -> Iterator[Mistake]:
    """The call with other strides or dilations, for each rule by which its padding may have been chosen."""
    g = call.geometry
    pairs = [("strides", strides, g.strides), ("dilations", dilations, g.dilations)]
    changed = [(name, now, was) for name, now, was in pairs if now != was]
    now, was = (" and ".join(f"{each[0]} {each[side]}" for each in changed) for side in (1, 2))
    for geometry in dict.fromkeys(_geometries(call, strides, dilations).values()) if changed else ():
        padding = f" (padding {geometry.padding})" if geometry.padding != g.padding else ""
        was = was.removeprefix("strides ").removeprefix("dilations ") if len(changed) == 1 else was
        yield Mistake(code, f"with {now} instead of {was}{words}{padding}", replace(call, geometry=geometry))


def padding_modes(case: Failure) -> Iterator[Mistake]:
    """VALID instead of SAME, or SAME instead of what was asked for; sizes mostly differ."""
    call, g = case.call, case.call.geometry
    found = _geometries(call, g.strides, g.dilations)
    known = {mode: found[mode] for mode in _MODES if mode in found}
    ours = next((mode for mode in known if _place(known[mode]) == _place(g)), "explicit padding")
    for mode in known:
        if _place(known[mode]) != _place(g):
            sentence = f"with {_pads(call, known[mode])} instead of {_pads(call, g)}"
            if not call.title:  # TensorFlow's words, and no other framework's
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
