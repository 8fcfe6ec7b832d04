"""Candidates: calls with one of the usual mistakes made on purpose, and what is made of their results.

A row of the table in `diagnoses` makes its mistakes with a function of this file: of a failed result it
yields `Mistake`, the usual ones first. Most mistakes are of three forms, which have one function each: an
array is `seen` through a view, numbers are `changed` one by one, or the geometry is another one, which is in
`geometries`. `diagnosing` computes what a candidate gives, and compares it with what was found. What
has to be read off the wrong result, such as a factor, is in `fits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations, product
from math import erf, prod
from typing import Any

import numpy as np

from ..core.arguments import axis_order
from ..core.calls import Call
from ..core.dtypes import FORMATS, FloatFormat, accumulator, is_integer
from ..core.kinds import layout_of
from ..core.law import AxisGeometry
from ..core.taps import overlap
from ..windows.walking import counts
from .failures import Failure, Mistake, Tries, View, both, relu, wide
from .geometries import other_geometries, some_axes
from .places import axis_nouns

Views = Iterable[tuple[str, View]]  # what happened to an array, in words, and what that makes of it

# ---------------------------------------------------------------------------------------------
# Arrays seen through a view: the right geometry, but cells in another order
# ---------------------------------------------------------------------------------------------

# which arrays of a call are meant, and which of a filter gradient, whose result is the filter
_SEEN = {
    "first": (("first",), ("first",)),
    "filter": (("second",), ("result",)),
    "images": (("first", "result"), ("first",)),
    "grouped": (("first", "second", "result"), ("first", "result")),
    "result": (("result",), ("result",)),
}


def seen(arrays: str) -> Callable[[Callable[[Failure], Views]], Tries]:
    """Return a decorator of functions that return views: each makes the calls with arrays seen through them.

    Args:
        arrays: which arrays, a key of `_SEEN`. A view that cannot be had of one returns that array itself.
    """
    return lambda views: partial(_seen, arrays, views)


def _seen(arrays: str, views: Callable[[Failure], Views], case: Failure) -> Iterator[Mistake]:
    call = case.call
    for (words, view), name in product(views(case), _SEEN[arrays][call.kind.sums_images]):
        number = ("first", "second", "result").index(name)
        sentence = f"when {words.format(call.kind.words[number])}"
        own = (call.first, call.second, case.got)[number]
        if arrays == "filter" and call.op.depthwise:
            view = partial(_reshaped, call.cells_of("filters")[0], view)
        changed: Any = view(own)
        if changed is own:
            continue
        if name == "result":
            yield Mistake(sentence, call, view, moves=True)
        elif changed.shape == own.shape:
            yield Mistake(sentence, replace(call, **{name: changed}))
        elif arrays == "filter" and changed.shape[-2:] == own.shape[-2:]:
            yield from _other_sizes(call, changed, sentence)


def _reshaped(shape: tuple[int, ...], view: View, array: np.ndarray) -> np.ndarray:
    """An array seen through a view in another shape."""
    made = view(array.reshape(shape))
    return made.reshape(array.shape) if made.shape == shape else array


def _other_sizes(call: Call, filters: np.ndarray, sentence: str) -> Iterator[Mistake]:
    """A filter of other sizes, for each rule for its padding."""
    g = call.geometry
    pairs = zip(g.axes, filters.shape, strict=False)
    axes = tuple(replace(axis, filter_size=size) for axis, size in pairs)
    changed = replace(call, second=filters, geometry=replace(g, axes=axes))
    for geometry in dict.fromkeys(other_geometries(changed, g.strides, g.dilations).values()):
        yield Mistake(sentence, replace(changed, geometry=geometry))


@seen("filter")
def flips(case: Failure) -> Views:
    """The filter flipped; of a filter gradient, the result."""
    every, *some = some_axes(case.call.geometry.rank).items()
    true = (every[0], f"{every[1]} (a true convolution instead of a cross-correlation)")
    return [(f"the {{}} is flipped in {words}", partial(np.flip, axis=axes)) for axes, words in (true, *some)]


@seen("filter")
def swapped_filter_axes(case: Failure) -> Views:
    """The filter with two of its spatial axes exchanged; one that is not square then has another size."""
    pairs = [(axes, words) for axes, words in some_axes(case.call.geometry.rank).items() if len(axes) == 2]
    return [
        (f"the {{}} is read with its {words} exchanged", partial(np.swapaxes, axis1=axes[0], axis2=axes[1]))
        for axes, words in pairs
    ]


@seen("filter")
def transposed_filters(case: Failure) -> Views:
    """The filter with in and out channels exchanged: its axes, or what is in memory."""
    rank = case.call.geometry.rank
    order, words = (*range(rank), rank + 1, rank), "the {} is read with its in and out channels exchanged"
    in_memory = f"{words} (its memory, in the other order)"
    return (words, partial(np.transpose, axes=order)), (in_memory, partial(reread, range(rank + 2), order))


@seen("filter")
def reshaped_filters(case: Failure) -> Views:
    """The filter reshaped from or to another framework's order of axes."""
    own = layout_of("filters", case.call.geometry.rank)
    taps = own[:-2]
    # its input is the gradient's output
    exchanged = str.maketrans("IO", "OI" if case.call.op.transposed else "IO")
    theirs = ("OI" + taps, f"O{taps}I", "IO" + taps, f"I{taps}O", taps + "OI", own[::-1])
    for was, read in (pair for other in theirs for pair in permutations((other, own))):
        names = f"{was.translate(exchanged)} reshaped to {read.translate(exchanged)}"
        written, others = ([*map(own.index, axes)] for axes in (was, read))
        yield f"the {{}} is {names}, where it has to be transposed", partial(reread, written, others)


def reread(written: Sequence[int], read: Sequence[int], array: np.ndarray) -> np.ndarray:
    """Return an array that lies in memory with its axes in one order, and is read as if in another."""
    memory = array.transpose(written).reshape([array.shape[axis] for axis in read])
    return memory.transpose(np.argsort(read))


@seen("first")
def channel_orders(case: Failure) -> Views:
    """The channels of the first array in another order; those of the result are read off the result."""
    own = tuple(range(case.call.first.shape[-1]))
    half = len(own) // 2
    orders = {own[::-1]: ""}
    if len(own) % 2 == 0 and half > 1:
        orders |= {
            own[half:] + own[:half]: ": the two halves exchanged",
            own[::2] + own[1::2]: ": even ones first",
            tuple(c // 2 + half * (c % 2) for c in own): ": the two halves interleaved",
        }
    if len(own) <= 4 and case.call.geometry.groups == 1:
        orders |= {order: orders.get(order, "") for order in permutations(own)}
    for order, words in orders.items():
        if order != own:
            view = partial(np.take, indices=order, axis=-1)
            yield f"the {{}}'s channels are in the order {order_words(order)}{words}", view


def order_words(order: tuple[int, ...]) -> str:
    """Return an order of channels or images as text."""
    backwards = order == tuple(range(len(order)))[::-1]
    if len(order) > 8:
        shown = "n - 1, ..., 1, 0" if backwards else ", ".join(map(str, order[:8])) + ", ..."
        return f"[{shown}]"
    return f"{list(order)}{' (BGR for RGB)' if backwards and len(order) == 3 else ''}"


@seen("first")
def image_orders(case: Failure) -> Views:
    """The images in another order."""
    return [("the images of the {} are in reverse order", partial(np.flip, axis=0))] * (
        len(case.call.first) > 1
    )


@seen("first")
def flipped_images(case: Failure) -> Views:
    """The image upside down, or mirrored."""
    return [
        (f"the {{}} is reversed in {words}", partial(np.flip, axis=[axis + 1 for axis in axes]))
        for axes, words in some_axes(case.call.geometry.rank).items()
    ]


def _turns(rank: int) -> list[tuple[int, ...]]:
    """The orders of an image's axes that exchange spatial ones."""
    return [(0, *order, rank + 1) for order in permutations(range(1, rank + 1))][1:]


@seen("first")
def swapped_images(case: Failure) -> Views:
    """The image with spatial axes exchanged."""
    turns = _turns(case.call.geometry.rank)
    return [
        ("the {} has its rows and columns exchanged", partial(np.transpose, axes=order)) for order in turns
    ]


@seen("first")
def reshaped_images(case: Failure) -> Views:
    """The image reshaped where it had to be transposed."""
    g = case.call.geometry
    plain, first_channels = range(g.rank + 2), (0, g.rank + 1, *range(1, g.rank + 1))
    is_dense = all(axis.filter_size == axis.in_size and axis.out_size == 1 for axis in g.axes)
    for order in [*_turns(g.rank), first_channels]:
        for written, read in ((order, plain), (plain, order)):
            words = "the {} is reshaped where it has to be transposed"
            if is_dense and g.rank == 2 and order == first_channels:
                rows, image = ("NCHW", "NHWC") if written is plain else ("NHWC", "NCHW")
                words += f": the rows of the dense kernel are in {rows}'s order, the image is in {image}'s"
            yield words, partial(reread, written, read)


@seen("result")
def layouts(case: Failure) -> Views:
    """The right numbers with their axes in another order, or read in another order in the caller's layout."""
    call, own = case.call, tuple(range(case.got.ndim))
    shape = call.cells_of("filters")[0] if call.kind.sums_images and call.op.depthwise else call.backend_shape
    axes, words = axis_order(call.layout), "the axes of the {} are read in another order"
    for order in permutations(own):
        if order != own and tuple(shape[axis] for axis in order) == shape:
            turned = partial(np.transpose, axes=order)
            yield f"{words}: transposed by {order}", partial(_reshaped, shape, turned)
    for order in ((0, own[-1], *own[1:-1]), (0, *own[2:], 1)):
        read = both(partial(np.transpose, axes=axes), partial(reread, order, own))
        back = both(read, partial(np.transpose, axes=np.argsort(axes)))
        yield f"{words}: reshaped where transpose{order} was needed", back


@seen("grouped")
def _dealt_out(case: Failure) -> Views:
    """Channels dealt out to the groups like cards, not in blocks, or the reverse."""
    parts = case.call.geometry.groups
    words = f"{{}} channels are dealt out to the {parts} groups in turn instead of in blocks"
    if case.call.op.depthwise:
        words = "{} channels are in the order (multiplier, channel), or back from it"
    orders: list[View] = [np.transpose, lambda blocks: blocks.reshape(-1, parts).T]
    return [(words, partial(_regrouped, parts, order)) for order in orders]


@seen("grouped")
def group_offsets(case: Failure) -> Views:
    """The channels of another group."""
    parts = case.call.geometry.groups
    other = f"{{}} channels of each of the {parts} groups are its neighbour's"
    orders: list[tuple[str, View]] = [
        (f"{{}} channels of all {parts} groups are those of the first", lambda blocks: blocks[[0] * parts]),
        *((other, partial(np.roll, shift=step, axis=0)) for step in (1, -1)),
    ]
    return [(words, partial(_regrouped, parts, order)) for words, order in orders]


def _regrouped(parts: int, order: View, array: np.ndarray) -> np.ndarray:
    """An array's channels, [group, channel], in another order."""
    channels = np.arange(array.shape[-1])
    return array if channels.size % parts else array.take(order(channels.reshape(parts, -1)).ravel(), -1)


def groups(case: Failure) -> Iterator[Mistake]:
    """Channels dealt out to the groups in turn; a filter whose channels are read in another order."""
    yield from _dealt_out(case)
    call, parts = case.call, case.call.geometry.groups
    if call.op.depthwise or call.kind.sums_images:
        return
    *taps, depth, channels = call.second.shape
    if call.kind.gathers:
        order = np.arange(channels).reshape(-1, parts).T.ravel()
        bias = None if call.bias is None else call.bias[order]
        dealt = replace(call, second=call.second[..., order], bias=bias)
        view: View = partial(np.take, indices=np.argsort(order), axis=-1)
        yield Mistake(f"when output channel o belongs to group o mod {parts}", dealt, view, moves=True)
    for turn in [*permutations((0, 1, 2))][1:]:
        axes = (*range(len(taps)), *(len(taps) + axis for axis in turn))
        names = ", ".join(("depth", "group", "channel of the group")[axis] for axis in turn)
        second = call.second.reshape(*taps, depth, parts, channels // parts).transpose(axes)
        words = f"when the filter's channels are read in the order ({names})"
        yield Mistake(words, replace(call, second=second.reshape(call.second.shape)))


def blocks(case: Failure) -> Iterator[Mistake]:
    """Channels that lie in blocks in memory, as NC4HW4 and nChw8c have them, read as if they did not."""
    rank, sizes = case.call.geometry.rank, (4, 8, 16)
    images, filters = (0, rank + 1, *range(1, rank + 1)), (rank + 1, rank, *range(rank))
    inner = {"i{}o": (rank, rank + 1), "o{}i": (rank + 1, rank), "o": (rank + 1,)}
    for size in sizes:
        name = "NC4HW4" if size == 4 else f"nChw{size}c"
        plain = {"NCHW": images, "NHWC": range(rank + 2)}
        yield from _seen("images", partial(_blocked, name, plain, (rank + 1,), size), case)
    for size, (letters, axes) in product(sizes, inner.items()):
        name = f"blocks of {size}{letters.format(size)}"
        plain = {"OIHW": filters, "HWIO": range(rank + 2)}
        yield from _seen("filter", partial(_blocked, name, plain, axes, size), case)


def _blocked(
    name: str, plain: Mapping[str, Sequence[int]], inner: Sequence[int], size: int, case: Failure
) -> Views:
    """An array with blocks in memory read as a plain one, and the reverse.

    Args:
        name: what the layout with blocks is called.
        plain: the orders of axes of plain layouts, by their names; the first is also that of the blocks.
        inner: the axes of what a block holds, which come last.
        size: the size of the blocks on these axes.
        case: the failure.
    """
    cuts = [size if axis in inner else 1 for axis in range(case.got.ndim)]  # each axis is cut into two
    orders = {words: [2 * axis + part for axis in axes for part in (0, 1)] for words, axes in plain.items()}
    last = [2 * axis + 1 for axis in inner]
    with_blocks = [part for part in next(iter(orders.values())) if part not in last] + last
    for words, order in orders.items():
        for (was, written), (is_read, read) in permutations(((name, with_blocks), (words, order))):
            sentence = f"the {{}} is in memory as {was}, and is read as {is_read}"
            yield sentence, partial(_reread_in_parts, cuts, written, read)


def _reread_in_parts(
    cuts: Sequence[int], written: Sequence[int], read: Sequence[int], array: np.ndarray
) -> np.ndarray:
    """An array each of whose axes is cut into blocks of a size, if it can be, and then `reread`."""
    parts = [part for size, cut in zip(array.shape, cuts, strict=True) for part in (size // cut, cut)]
    if prod(parts) != array.size:
        return array
    return reread(written, read, array.reshape(parts)).reshape(array.shape)


@seen("images")
def pitches(case: Failure) -> Views:
    """Planes or rows that are aligned in memory, read as if there were no gaps between them."""
    kinds = {"plane": (True, case.call.geometry.rank), "row": (True, 1), "row of pixels": (False, 2)}
    for (noun, (first, axes)), align in product(kinds.items(), (4, 8, 16, 32, 64)):
        words = f"the {{}} has each {noun} at a multiple of {align} numbers in memory"
        yield f"{words}, and is read without the gaps", partial(_closed_up, align, first, axes)


def _closed_up(align: int, first: bool, axes: int, array: np.ndarray) -> np.ndarray:
    """What is read where the last axes in memory are followed by zeros up to a multiple of a number."""
    memory = np.moveaxis(array, -1, 1) if first else array
    parts = memory.reshape(-1, prod(memory.shape[-axes:]))
    gap = -parts.shape[1] % align
    if not gap:
        return array
    read = np.pad(parts, ((0, 0), (0, gap))).ravel()[: array.size].reshape(memory.shape)
    return np.moveaxis(read, 1, -1) if first else read


# ---------------------------------------------------------------------------------------------
# The bias, the activation, and what is added to the result
# ---------------------------------------------------------------------------------------------


def biases(case: Failure) -> Iterator[Mistake]:
    """The bias left out, added twice, subtracted, alone, in another order, or along another axis."""
    call, g, b = case.call, case.call.geometry, wide(case.call.bias)
    changes = {
        "without the bias": None,
        "when the bias is added twice": 2 * b,
        "when the bias is subtracted": -b,
        "when the bias is in reverse order": b[::-1],
        "when the first bias is added to every channel": np.full_like(b, b[0]),
    }
    yield from (Mistake(words, replace(call, bias=other)) for words, other in changes.items())
    yield Mistake("when the result is the bias alone", replace(call, first=0 * call.first))
    added = {
        f"when each {noun} has a bias, and not each channel": (
            np.resize(b, case.got.shape[axis]).reshape(-1, *(1,) * (g.rank + 1 - axis)) - b
        )
        for axis, noun in enumerate(axis_nouns(call)[:-1])
    }
    for times, words in ((1, "tap"), (call.second.shape[-2], "product")) if call.kind.gathers else ():
        sentence = f"when the bias is added once for each {words} that is inside the image"
        added[sentence] = (times * counts(g.axes)[..., None] - 1) * b
    for sentence, more in added.items():
        slack = float(np.abs(more).max(initial=0.0)) * 2.0 ** (1 - case.digits)
        yield Mistake(sentence, call, partial(np.add, more), moves=True, slack=slack)


def relu_before_bias(case: Failure) -> Iterator[Mistake]:
    """The activation applied to the sum of products, and the bias added to what that gives."""
    bare = replace(case.call, bias=None)
    for name, clamp in _HARD.items():
        view = both(clamp, partial(np.add, wide(case.call.bias)))
        yield Mistake(f"when the {name} comes before the bias", bare, view, activated=False)


# the usual smooth functions, of numbers in float64
ACTIVATIONS: dict[str, View] = {
    **{f"leaky relu of slope {s}": lambda x, s=s: np.where(x < 0, s * x, x) for s in (0.01, 0.1, 0.2, 0.3)},  # type: ignore[misc]
    "silu (swish)": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x * (1 + np.vectorize(erf, [float])(x / np.sqrt(2))) / 2,
    "gelu (tanh)": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "elu": lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "hardsigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "softplus": lambda x: np.logaddexp(x, 0),
    "mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
}
_HARD: dict[str, View] = {"relu": relu, "relu6": partial(np.clip, a_min=0, a_max=6)}


def activations(case: Failure) -> Iterator[Mistake]:
    """The activation left out, or another one."""
    words = "after a {}, which this call does not have"
    if case.activated:
        words = "after {} instead of relu"
        yield Mistake("without the relu: it was left out", case.call, activated=False)
    for name, function in (_HARD | ({} if is_integer(case.got.dtype) else ACTIVATIONS)).items():
        # a function of the mathematical library has an error of a few ulps
        slack = 0.0 if name in _HARD else 4 * 2.0**-case.digits
        if not (case.activated and function is relu):
            yield Mistake(words.format(name), case.call, function, activated=False, slack=slack)


def accumulations(case: Failure) -> Iterator[Mistake]:
    """The result added to what ``out`` held before the call."""
    held = case.held or 0.0
    view = both(relu if case.activated else None, partial(np.add, round(held)))
    words, slack = f"when it is added to what out held before, {held:g}", abs(held) * 2.0 ** (1 - case.digits)
    yield Mistake(words, case.call, view, activated=False, slack=slack)


def residuals(case: Failure) -> Iterator[Mistake]:
    """The input added to the result, before the activation or after it."""
    if case.call.first.shape == case.got.shape:
        words, view = "when the input is added to the result", partial(np.add, wide(case.call.first))
        yield Mistake(words, case.call, view, moves=True)
        yield Mistake(f"{words} after the relu", case.call, both(relu, view), moves=True, activated=False)


# ---------------------------------------------------------------------------------------------
# Padding
# ---------------------------------------------------------------------------------------------

_PADDINGS: dict[str, dict[str, Any]] = {
    "repeats the edge of the input": {"mode": "edge"},
    "mirrors the input without its edge (reflect)": {"mode": "reflect"},
    "mirrors the input with its edge (symmetric)": {"mode": "symmetric"},
    "continues the input from its other end (circular)": {"mode": "wrap"},
    "is 1": {"constant_values": 1},
    "is -1": {"constant_values": -1},
}


def padding_values(case: Failure) -> Iterator[Mistake]:
    """Padding with the input's own values instead of zeros; or zeros where the input has its padding."""
    call, g = case.call, case.call.geometry
    for words, how in _PADDINGS.items():
        made = padded(call, **how)
        if made is not None and all(max(_needed(axis)) < axis.in_size for axis in g.axes):
            # no framework mirrors more than there is
            yield Mistake(f"when the padding {words} instead of being zero", made)
    if (whole := padded(call)) is not None:
        for words, first in _running_on(call):
            yield Mistake(f"when {words}, as in memory, instead of zeros", replace(whole, first=first))
    for border in (1, 2, 3):
        inside = call.first[(slice(None), *(slice(border, -border),) * g.rank)]
        if inside.any():
            first = np.pad(inside, ((0, 0), *((border, border),) * g.rank, (0, 0)))
            sentence = f"when the input's border, {border} wide, is zero: its padding was lost"
            yield Mistake(sentence, replace(call, first=first))


def _running_on(call: Call) -> Iterator[tuple[str, np.ndarray]]:
    """The padded images where no test keeps a tap within its row: memory goes on with the next one."""
    if call.kind.first != "input" or call.geometry.rank != 2:
        return
    count, rows, cols, depth = call.first.shape
    top, left = map(_needed, call.geometry.axes)
    r, c = np.arange(-top[0], rows + top[1])[:, None], np.arange(-left[0], cols + left[1])
    place = r * cols + c
    inside = (r >= 0) & (r < rows) & (place >= 0) & (place < rows * cols)
    cells = call.first.reshape(count, rows * cols, depth)[:, place.clip(0, rows * cols - 1)]
    if left[1]:
        yield "behind a row of the input is the next row", np.where((inside & (c >= 0))[..., None], cells, 0)
    if left[0]:
        yield "beside a row of the input are its neighbours", np.where(inside[..., None], cells, 0)


def padded(call: Call, **how: Any) -> Call | None:
    """Return a call whose first array has its padding already, by `numpy.pad`; None if it needs none."""
    pads = [_needed(axis) for axis in call.geometry.axes]
    if call.kind.first != "input" or not any(map(any, pads)):
        return None
    axes = tuple(
        replace(
            axis,
            in_size=axis.in_size + before + after,
            pad_before=axis.pad_before - before,
            pad_after=axis.pad_after - after,
        )
        for axis, (before, after) in zip(call.geometry.axes, pads, strict=True)
    )
    if prod(axis.in_size for axis in axes) > 16 * max(1 << 16, prod(call.first.shape[1:-1])):
        return None  # little but padding
    first = np.pad(call.first, ((0, 0), *pads, (0, 0)), **how)
    return replace(call, first=first, geometry=replace(call.geometry, axes=axes))


def _needed(axis: AxisGeometry) -> tuple[int, int]:
    """How many cells of padding the taps reach before and after the input."""
    last = axis.in_index(axis.out_size - 1, axis.filter_size - 1)
    return max(0, axis.pad_before), max(0, last - axis.in_size + 1)


# ---------------------------------------------------------------------------------------------
# Numbers, one by one
# ---------------------------------------------------------------------------------------------


def changed(views: Callable[[Failure], Views]) -> Tries:
    """Decorate a function that returns what happens to each number: of the result, or of the arrays."""
    return partial(_changed, views)


def _changed(views: Callable[[Failure], Views], case: Failure) -> Iterator[Mistake]:
    for words, view in views(case):
        yield Mistake(f"when {words} in the result", case.call, view)
        yield Mistake(f"when {words} in the arrays", case.call.with_each(view))


@changed
def lost_nan(case: Failure) -> Views:
    """NaN replaced by 0, as a relu that compares does it."""
    return [("0 takes the place of NaN", partial(np.nan_to_num, nan=0, posinf=np.inf, neginf=-np.inf))]


@changed
def saturated(case: Failure) -> Views:
    """Numbers that are too large for the type replaced by its largest."""
    largest = FORMATS[case.call.first.dtype.name].largest
    words = "the largest number of the type takes the place of larger ones"
    return [(words, partial(np.clip, a_min=-largest, a_max=largest))]


@changed
def flushed(case: Failure) -> Views:
    """Numbers below the normal ones of the type replaced by 0."""
    form = FORMATS[case.call.first.dtype.name]
    normal = 2.0 ** (form.smallest_exponent + form.precision - 1)
    view: View = lambda y: np.where(np.abs(_rounded(y, form)) < normal, 0, y)  # noqa: E731
    return [("0 takes the place of subnormal numbers", view)]


@dataclass(frozen=True, slots=True)
class _CutOff(FloatFormat):
    """A format to which numbers are cut off, or rounded with midpoints away from zero.

    Attributes:
        first: what is added to their size, in units of the last bit, before they are cut off.
    """

    first: float = 0.0

    def round(self, doubles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        last_bit = np.maximum(np.frexp(doubles)[1] - self.precision, self.smallest_exponent)
        units = np.ldexp(doubles, -last_bit)
        cut = np.trunc(units + np.copysign(self.first, units))
        return np.ldexp(cut, last_bit), np.zeros(doubles.shape, bool)


_TF32 = FloatFormat(11, -136, FORMATS["float32"].largest)
_ROUNDED: dict[str, tuple[str, FloatFormat]] = {
    **{name: (f"rounded to {name}", FORMATS[name]) for name in ("float16", "bfloat16", "float32")},
    "tf32": ("rounded to TF32", _TF32),
    # what a GPU of NVIDIA does: PTX, cvt.rna.tf32.f32
    "tf32, midpoints away": (
        "rounded to TF32, midpoints away from zero",
        _CutOff(11, -136, _TF32.largest, 0.5),
    ),
    "tf32, cut off": ("cut off to TF32", _CutOff(11, -136, _TF32.largest)),
    "bfloat16, cut off": ("cut off to bfloat16", _CutOff(8, -133, _TF32.largest)),
}


def rounded(case: Failure) -> Iterator[Mistake]:
    """Arrays, result or both rounded to a format with fewer bits; the bias is often left as it is."""
    call, (first, second, result) = case.call, case.call.kind.words
    words_of = {"first": first, "second": second, "bias": "bias"}
    sets: tuple[tuple[str, ...], ...] = (), ("first", "second"), tuple(words_of), ("first",), ("second",)
    for name, (words, form) in _ROUNDED.items():
        if form.precision >= case.digits:
            continue
        small = call.with_each(partial(_rounded, form=form))
        alike = name == "float16" and _alike(call, small)
        for chosen, whole in product(sets, (False, True)):
            nouns = [words_of[array] for array in chosen] + [result] * whole
            if not nouns or (whole and name.startswith("tf32")) or ("bias" in chosen and call.bias is None):
                continue  # TF32 is not a type of results
            *some, last = nouns
            what = f"{', '.join(some)} and {last} are" if some else f"the {last} is"
            code, how = f"rounded({name})", words
            if alike and not whole:
                code, how = "rounded(float16 or tf32)", f"{words} or TF32, which are the same here"
            changed = replace(call, **{array: getattr(small, array) for array in chosen})
            yield Mistake(f"when {what} {how}", changed, rounded=form if whole else None, code=code)


def _alike(call: Call, small: Call) -> bool:
    """Whether numbers that are rounded to float16 are those that TF32 would give, except tiny ones."""
    for array, other in ((call.first, small.first), (call.second, small.second)):
        most = np.abs(_rounded(array, _TF32) - other).max(initial=0)
        if not most <= 2.0**-24 * np.abs(array).max(initial=0):
            return False
    return True


def _rounded(array: np.ndarray, form: FloatFormat) -> np.ndarray:
    # a number that is rounded up may be too large for its own type
    return form.round(array.astype(np.float64))[0].astype(array.dtype)


def rounded_before_bias(case: Failure) -> Iterator[Mistake]:
    """The sum is rounded to a half type, then the bias is added; what that gives is rounded again, or not."""
    call, dtype = case.call, case.call.first.dtype
    bias, bare = wide(call.bias), replace(call, bias=None)
    for name in ("float16", "bfloat16") if accumulator(dtype) == dtype else (dtype.name,):
        form = FORMATS[name]

        def view(y: np.ndarray, form: FloatFormat = form) -> np.ndarray:
            # of two roundings that the error of a sum leaves open, that of the result
            error = 2.0**-22 * np.abs(y).max(initial=0.0)
            low, high = (form.round(y + side * error)[0] + bias for side in (-1, 1))
            return np.where(np.abs(case.got - low) < np.abs(case.got - high), low, high)

        sentence = f"when the sum is rounded to {name} before the bias is added"
        yield Mistake(sentence, bare, view, moves=True)
        if name != dtype.name:
            yield Mistake(f"{sentence}, and again afterwards", bare, view, moves=True, rounded=form)


def accumulators(case: Failure) -> Iterator[Mistake]:
    """The sums formed in a half type, step by step; of data of that type in one of two orders."""
    call, name = case.call, case.got.dtype.name
    taps, depth = prod(call.second.shape[:-2]), call.second.shape[-2]
    orders = product(("tap after tap", "channel after channel"), (1, 4, 8, 16, 32, depth, taps))
    for half in ("float16", "bfloat16"):
        code, sentence = f"accumulator({half})", f"when the sums are formed in {half}, "
        if FORMATS[half].precision < case.digits:
            facts: dict[str, Any] = {"rounded": FORMATS[half], "summed_in": half}
            yield Mistake(f"{sentence}step by step", call, code=code, **facts)
        elif half == name and call.kind.gathers and call.terms * case.got.size < 1 << 24:
            for order, piece in orders:
                pieces = f", from sums of {piece} products" if piece > 1 else ""
                sums = partial(summed_in, FORMATS[half], order == "tap after tap", piece)
                yield Mistake(f"{sentence}{order}{pieces}", call, compute=sums, code=code)


def summed_in(
    form: FloatFormat, by_taps: bool, piece: int, call: Call, bias_first: bool = False
) -> np.ndarray:
    """The result with the sum of each few products rounded to a format, and every sum of those."""
    g, (depth, channels) = call.geometry, call.second.shape[-2:]
    group = np.arange(channels) // (channels // g.groups)
    x, w = call.first.astype(np.float64), call.second.astype(np.float64)
    total, part = np.zeros((2, *call.backend_shape))
    bias = 0.0 if call.bias is None else wide(call.bias)
    total += bias * bias_first
    terms = list(np.ndindex(*call.second.shape[:-1]))  # taps, and channels of each tap
    for number, term in enumerate(terms if by_taps else sorted(terms, key=lambda term: term[-1]), 1):
        outs, ins = zip(*map(overlap, g.axes, term), strict=False)
        part[(slice(None), *outs)] += x[(slice(None), *ins)][..., group * depth + term[-1]] * w[term]
        if number % piece == 0 or number == len(terms):
            total, part = form.round(total + form.round(part)[0])[0], np.zeros_like(part)
    return form.round(total + bias * (not bias_first))[0]


def cut_integers(case: Failure) -> Iterator[Mistake]:
    """Integers cut to fewer bits, as in a conversion or in a sum that is too small for them."""
    names = [f"{sign}{bits}" for bits in (8, 16, 32) if bits < case.digits for sign in ("int", "uint")]
    for name in names:
        cut = partial(_cut, name)
        yield Mistake(f"when the arrays are cut to {name}", case.call.with_each(cut), code=f"cut({name})")
        yield Mistake(f"when the result is cut to {name}", case.call, cut, code=f"cut({name})")


def _cut(name: str, array: np.ndarray) -> np.ndarray:
    return array.astype(name).astype(array.dtype)


def quantized(case: Failure) -> Iterator[Mistake]:
    """The filter quantized to 8 bits, with one scale or with one for each channel of the result."""
    call, rank = case.call, case.call.geometry.rank
    w, channels = wide(call.second), (*range(rank), rank + call.kind.scatters)
    for axes, words in ((None, "one scale for all"), (channels, "one for each channel")):
        step = np.abs(w).max(axes, keepdims=True) / 127
        changed = replace(call, second=np.rint(w / np.where(step, step, 1.0)) * step)
        yield Mistake(f"when the filter is quantized to int8, {words}", changed, code="quantized(int8)")
