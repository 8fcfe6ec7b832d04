"""The usual mistakes in numbers: bias, activation, padding values, rounding, order of channels and axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import permutations, product
from math import erf, prod
from typing import Any

import numpy as np

from ..core.arguments import axis_order
from ..core.calls import Call
from ..core.dtypes import FORMATS, FloatFormat, accumulator, is_integer
from ..core.law import AxisGeometry
from ..core.taps import overlap
from ..windows.walking import counts
from .failures import Failure, Mistake, View, relu, wide
from .mistakes import reread, some_axes
from .places import axis_nouns


def biases(case: Failure) -> Iterator[Mistake]:
    """The bias left out, added twice, subtracted, or in another order."""
    b, changes = case.call.bias, {}
    if b is not None:
        changes = {
            "without the bias": None,
            "when the bias is added twice": 2 * b,
            "when the bias is subtracted": -b,
            "when the bias is in reverse order": b[::-1],
            "when the first bias is added to every channel": np.full_like(b, b[0]),
        }
    yield from (Mistake("bias", words, replace(case.call, bias=other)) for words, other in changes.items())
    if b is not None:
        yield Mistake(
            "bias", "when the result is the bias alone", replace(case.call, first=0 * case.call.first)
        )
        yield from _biases_elsewhere(case, wide(b))


def _biases_elsewhere(case: Failure, bias: np.ndarray) -> Iterator[Mistake]:
    """The bias along another axis, or as often as a window has taps inside the image."""
    call, g = case.call, case.call.geometry
    for axis, noun in enumerate(axis_nouns(call)[:-1]):
        along = np.resize(bias, case.got.shape[axis]).reshape(-1, *(1,) * (g.rank + 1 - axis))
        yield _other_bias(case, f"when each {noun} has a bias, and not each channel", along - bias)
    if call.kind.gathers:
        inside = counts(g.axes)[..., None]
        for times, words in ((1, "for each tap"), (call.second.shape[-2], "for each product")):
            sentence = f"when the bias is added once {words} that is inside the image"
            yield _other_bias(case, sentence, (times * inside - 1) * bias)


def _other_bias(case: Failure, sentence: str, more: np.ndarray) -> Mistake:
    """What a bias gives that is not one number for each channel."""
    slack = float(np.abs(more).max(initial=0.0)) * 2.0 ** (1 - case.digits)
    return Mistake("bias", sentence, case.call, lambda y: y + more, moves=True, slack=slack)


def relu_before_bias(case: Failure) -> Iterator[Mistake]:
    """The activation applied to the sum of products, and the bias added to what that gives."""
    if case.call.bias is not None:
        bias, bare = wide(case.call.bias), replace(case.call, bias=None)
        for name, clamp in _HARD.items():
            view: View = lambda result, clamp=clamp: clamp(result) + bias  # type: ignore[misc]  # noqa: E731
            sentence = f"when the {name} comes before the bias"
            yield Mistake("relu_before_bias", sentence, bare, view, activated=False)


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
_HARD: dict[str, View] = {"relu": relu, "relu6": lambda x: np.clip(x, 0, 6)}


def activations(case: Failure) -> Iterator[Mistake]:
    """The activation left out, or another one."""
    call, words = (
        case.call,
        "after {} instead of relu" if case.activated else "after a {}, which this call does not have",
    )
    if case.activated:
        yield Mistake("activation", "without the relu: it was left out", call, activated=False)
    for name, function in (_HARD | ({} if is_integer(case.got.dtype) else ACTIVATIONS)).items():
        # a function of the mathematical library has an error of a few ulps
        slack = 0.0 if name in _HARD else 4 * 2.0**-case.digits
        if not (case.activated and function is relu):
            yield Mistake("activation", words.format(name), call, function, activated=False, slack=slack)


def lost_nan(case: Failure) -> Iterator[Mistake]:
    """NaN replaced by 0: in the result, as a relu that compares does it, or before it is multiplied."""
    if np.isnan(case.exact).any():
        zero: View = lambda array: np.where(np.isnan(array), 0, array)  # noqa: E731
        yield Mistake("nan_lost", "when 0 takes the place of NaN in the result", case.call, zero)
        yield Mistake("nan_lost", "when NaN in the arrays is read as 0", case.call.with_each(zero))


def accumulations(case: Failure) -> Iterator[Mistake]:
    """The result added to what ``out`` held before the call."""
    if case.held is not None:
        held, words = round(case.held), f"when it is added to what out held before, {case.held:g}"
        after: View = relu if case.activated else np.asarray
        slack = abs(held) * 2.0 ** (1 - case.digits)
        yield Mistake(
            "accumulates", words, case.call, lambda y: after(y) + held, activated=False, slack=slack
        )


def residuals(case: Failure) -> Iterator[Mistake]:
    """The input added to the result, before the activation or after it."""
    x = wide(case.call.first)
    if x.shape == case.got.shape:
        call, words = case.call, "when the input is added to the result"
        yield Mistake("residual", words, call, lambda y: y + x, moves=True)
        yield Mistake(
            "residual", f"{words} after the relu", call, lambda y: relu(y) + x, moves=True, activated=False
        )


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
            yield Mistake("padding_values", f"when the padding {words} instead of being zero", made)
    if (whole := padded(call)) is not None:
        for words, first in _running_on(call):
            sentence = f"when {words}, as in memory, instead of zeros"
            yield Mistake("padding_values", sentence, replace(whole, first=first))
    for border in (1, 2, 3):
        inside = (slice(None), *(slice(border, -border),) * g.rank)
        first = np.zeros_like(call.first)
        first[inside] = call.first[inside]
        sentence = f"when the input's border, {border} wide, is zero: its padding was lost"
        if first.any():
            yield Mistake("padding_values", sentence, replace(call, first=first))


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
    sizes = (axis.in_size + sum(pair) for axis, pair in zip(call.geometry.axes, pads, strict=True))
    if prod(sizes) > 16 * max(1 << 16, prod(call.geometry.input_shape[1:-1])):  # little but padding
        return None
    first = np.pad(call.first, ((0, 0), *pads, (0, 0)), **how)
    axes = tuple(
        replace(
            axis,
            in_size=axis.in_size + before + after,
            pad_before=axis.pad_before - before,
            pad_after=axis.pad_after - after,
        )
        for axis, (before, after) in zip(call.geometry.axes, pads, strict=True)
    )
    return replace(call, first=first, geometry=replace(call.geometry, axes=axes))


def _needed(axis: AxisGeometry) -> tuple[int, int]:
    """How many cells of padding the taps reach before and after the input."""
    last = axis.in_index(axis.out_size - 1, axis.filter_size - 1)
    return max(0, axis.pad_before), max(0, last - axis.in_size + 1)


# ---------------------------------------------------------------------------------------------
# Rounding
# ---------------------------------------------------------------------------------------------


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
    """Arrays, result or both rounded to a format with fewer bits."""
    call = case.call
    first, second, result = call.kind.words
    formats = {} if is_integer(call.first.dtype) else _ROUNDED
    for name, (words, form) in formats.items():
        if form.precision >= case.digits:
            continue
        code, whole = f"rounded({name})", not name.startswith("tf32")  # TF32 is not a type of results
        if whole:
            yield Mistake(code, f"when the {result} is {words}", call, rounded=form)
        small = call.with_each(partial(_rounded, form=form))
        also = name == "float16" and _alike(call, small)
        for what, changed in (
            (f"{first} and {second} are", small),
            (f"the {first} is", replace(call, first=small.first)),
            (f"the {second} is", replace(call, second=small.second)),
        ):
            both = (
                (f"{code[:-1]} or tf32)", f"{words} or TF32, which are the same here")
                if also
                else (code, words)
            )
            yield Mistake(both[0], f"when {what} {both[1]}", changed)
            if whole:
                too = what.replace(" is", "").replace(" are", "").replace(" and", ",")
                yield Mistake(code, f"when {too} and {result} are {words}", changed, rounded=form)


def ranges(code: str, case: Failure) -> Iterator[Mistake]:
    """Numbers below the normal ones of the type replaced by 0, or too large ones by its largest."""
    form = FORMATS.get(case.call.first.dtype.name)
    if form is None:
        return
    if code == "saturated":
        clamp: View = lambda y: np.clip(y, -form.largest, form.largest)  # noqa: E731
        yield Mistake(
            code, "when numbers that are too large become the largest of the type", case.call, clamp
        )
    else:
        normal = 2.0 ** (form.smallest_exponent + form.precision - 1)
        flush: View = lambda y: np.where(np.abs(_rounded(y, form)) < normal, 0, y)  # noqa: E731
        yield Mistake(code, "when subnormal numbers of the result are flushed to 0", case.call, flush)
        small = case.call.with_each(flush)
        yield Mistake(code, "when subnormal numbers of the arrays are flushed to 0", small)


def rounded_before_bias(case: Failure) -> Iterator[Mistake]:
    """The sum is rounded to a half type, then the bias is added; what that gives is rounded again, or not."""
    call, dtype = case.call, case.call.first.dtype
    if call.bias is None or is_integer(dtype):
        return
    bias, bare = wide(call.bias), replace(call, bias=None)
    for name in ("float16", "bfloat16") if accumulator(dtype) == dtype else (dtype.name,):
        form = FORMATS[name]

        def view(y: np.ndarray, form: FloatFormat = form) -> np.ndarray:
            # of two roundings that the error of a sum leaves open, that of the result
            error = 2.0**-22 * np.abs(y).max(initial=0.0)
            low, high = (form.round(y + side * error)[0] + bias for side in (-1, 1))
            return np.where(np.abs(case.got - low) < np.abs(case.got - high), low, high)

        sentence = f"when the sum is rounded to {name} before the bias is added"
        yield Mistake("rounded_before_bias", sentence, bare, view, moves=True)
        if name != dtype.name:
            again = f"{sentence}, and again afterwards"
            yield Mistake("rounded_before_bias", again, bare, view, moves=True, rounded=form)


def accumulators(case: Failure) -> Iterator[Mistake]:
    """The sums formed in a half type, step by step; of data of that type in one of two orders."""
    call, name = case.call, case.got.dtype.name
    for half in ("float16", "bfloat16"):
        if not is_integer(case.got.dtype) and FORMATS[half].precision < case.digits:
            sentence = f"when the sums are formed in {half}, step by step"
            yield Mistake(f"accumulator({half})", sentence, call, rounded=FORMATS[half], summed_in=half)
        elif half == name and call.kind.gathers and call.terms * case.got.size < 1 << 24:
            taps, depth = prod(call.second.shape[:-2]), call.second.shape[-2]
            for order, piece in product(
                ("tap after tap", "channel after channel"), (1, 4, 8, 16, 32, depth, taps)
            ):
                sentence = f"when the sums are formed in {half}, {order}"
                sentence += f", from sums of {piece} products" if piece > 1 else ""
                sums = partial(_summed_in, FORMATS[half], order == "tap after tap", piece)
                yield Mistake(f"accumulator({half})", sentence, call, compute=sums)


def _summed_in(form: FloatFormat, by_taps: bool, piece: int, call: Call) -> np.ndarray:
    """The result with the sum of each few products rounded to a format, and every sum of those."""
    g, (depth, channels) = call.geometry, call.second.shape[-2:]
    group = np.arange(channels) // (channels // g.groups)
    x, w = call.first.astype(np.float64), call.second.astype(np.float64)
    total, part = np.zeros((2, *call.backend_shape))
    terms = list(np.ndindex(*call.second.shape[:-1]))  # taps, and channels of each tap
    for number, term in enumerate(terms if by_taps else sorted(terms, key=lambda term: term[-1]), 1):
        outs, ins = zip(*map(overlap, g.axes, term), strict=False)
        part[(slice(None), *outs)] += x[(slice(None), *ins)][..., group * depth + term[-1]] * w[term]
        if number % piece == 0 or number == len(terms):
            total, part = form.round(total + form.round(part)[0])[0], np.zeros_like(part)
    return total if call.bias is None else form.round(total + wide(call.bias))[0]


def cut_integers(case: Failure) -> Iterator[Mistake]:
    """Integers cut to fewer bits, as in a conversion or in a sum that is too small for them."""
    names = [f"{sign}{bits}" for bits in (8, 16, 32) if bits < case.digits for sign in ("int", "uint")]
    for name in names if is_integer(case.got.dtype) else ():
        cut: View = lambda array, name=name: array.astype(name).astype(array.dtype)  # type: ignore[misc]  # noqa: E731
        yield Mistake(f"cut({name})", f"when the arrays are cut to {name}", case.call.with_each(cut))
        yield Mistake(f"cut({name})", f"when the result is cut to {name}", case.call, cut)


def quantized(case: Failure) -> Iterator[Mistake]:
    """The filter quantized to 8 bits, with one scale or with one for each channel of the result."""
    call, rank = case.call, case.call.geometry.rank
    if call.kind.second == "filters" and not is_integer(call.second.dtype):
        w, each = wide(call.second), (*range(rank), rank + call.kind.scatters)
        for axes, words in ((None, "one scale for all"), (each, "one for each channel")):
            step = np.abs(w).max(axes, keepdims=True) / 127
            changed = replace(call, second=np.rint(w / np.where(step, step, 1.0)) * step)
            yield Mistake("quantized(int8)", f"when the filter is quantized to int8, {words}", changed)


def _alike(call: Call, small: Call) -> bool:
    """Whether numbers that are rounded to float16 are those that TF32 would give, except tiny ones."""
    pairs = ((call.first, small.first), (call.second, small.second))
    largest = [
        np.abs(own - other).max(initial=0) for own, other in ((_rounded(a, _TF32), b) for a, b in pairs)
    ]
    return all(
        most <= 2.0**-24 * np.abs(a).max(initial=0) for most, (a, _) in zip(largest, pairs, strict=True)
    )


def _rounded(array: np.ndarray, form: FloatFormat) -> np.ndarray:
    # a number that is rounded up may be too large for its own type
    return form.round(array.astype(np.float64))[0].astype(array.dtype)


# ---------------------------------------------------------------------------------------------
# Order
# ---------------------------------------------------------------------------------------------


def channel_orders(case: Failure) -> Iterator[Mistake]:
    """The channels of the first array in another order; those of the result are read off the result."""
    call, name = case.call, case.call.kind.words[0]
    own = tuple(range(call.first.shape[-1]))
    half = len(own) // 2
    orders = {
        own[::-1]: "",
        own[half:] + own[:half]: ": the two halves exchanged",
        own[::2] + own[1::2]: ": even ones first",
        tuple(c // 2 + half * (c % 2) for c in own): ": the two halves interleaved",
    }
    orders = orders if len(own) % 2 == 0 and half > 1 else {own[::-1]: ""}
    if len(own) <= 4 and call.geometry.groups == 1:
        orders |= {order: "" for order in permutations(own) if order not in orders}
    for order, words in orders.items():
        if order != own:
            sentence = f"when the {name}'s channels are in the order {order_words(order)}{words}"
            yield Mistake("permuted_channels", sentence, replace(call, first=call.first[..., order]))


def image_orders(case: Failure) -> Iterator[Mistake]:
    """The images of a filter gradient's first array in another order."""
    if case.call.kind.sums_images and len(case.call.first) > 1:
        sentence = f"when the images of the {case.call.kind.words[0]} are in reverse order"
        yield Mistake("permuted_batch", sentence, replace(case.call, first=case.call.first[::-1]))


def order_words(order: tuple[int, ...]) -> str:
    """Return an order of channels or images as text."""
    backwards = order == tuple(range(len(order)))[::-1]
    if len(order) > 8:
        shown = "n - 1, ..., 1, 0" if backwards else ", ".join(map(str, order[:8])) + ", ..."
        return f"[{shown}]"
    return f"{list(order)}{' (BGR for RGB)' if backwards and len(order) == 3 else ''}"


def input_axes(code: str, case: Failure) -> Iterator[Mistake]:
    """The image with spatial axes exchanged or reversed, or reshaped where it had to be transposed."""
    call, rank = case.call, case.call.geometry.rank
    axes = [axis + 1 for axis in range(rank)]
    turns = [(0, *order, rank + 1) for order in permutations(axes)][1:]
    first_channels = (0, rank + 1, *axes)
    is_dense = all(axis.filter_size == axis.in_size and axis.out_size == 1 for axis in call.geometry.axes)

    def dense(order: tuple[int, ...], backwards: bool) -> str:
        rows, image = ("NCHW", "NHWC") if backwards else ("NHWC", "NCHW")
        words = f": the rows of the dense kernel are in {rows}'s order, the image is in {image}'s"
        return words if is_dense and rank == 2 and order == first_channels else ""

    changes: dict[str, list[tuple[str, View]]] = {
        "flipped_image": [
            (f"is reversed in {words}", partial(np.flip, axis=tuple(axis + 1 for axis in each)))
            for each, words in some_axes(rank).items()
        ],
        "swapped_image_axes": [
            ("has its rows and columns exchanged", partial(np.transpose, axes=order)) for order in turns
        ],
        "reshaped_image": [
            (f"is reshaped where it has to be transposed{dense(order, backwards)}", reread(order, backwards))
            for order, backwards in product([*turns, first_channels], (False, True))
        ],
    }
    for words, change in changes[code]:
        first = change(call.first)
        if first.shape == call.first.shape:
            yield Mistake(code, f"when the {call.kind.words[0]} {words}", replace(call, first=first))


def blocks(case: Failure) -> Iterator[Mistake]:
    """Channels that lie in blocks in memory, as NC4HW4 and nChw8c have them, read as if they did not."""
    call, rank = case.call, case.call.geometry.rank
    spatial = tuple(range(rank))
    for size, backwards, last in product((4, 8, 16), (False, True), (False, True)):
        names = ["NHWC" if last else "NCHW", "NC4HW4" if size == 4 else f"nChw{size}c"]
        was, read = names if backwards else names[::-1]
        view = partial(_blocked, (0, rank + 1, *(1 + n for n in spatial)), (1, size), backwards, last)
        yield from _reread(case, "blocked", f"is in memory as {was}, and is read as {read}", view)
        for inner in ("i{0}o", "o{0}i", "{0}o") if call.kind.second == "filters" else ():
            names = ["HWIO" if last else "OIHW", f"blocks of {size}{inner.format(size)}"]
            was, read = names if backwards else names[::-1]
            axes = {"i": (size, size), "o": (size, -size), "{": (size, 1)}[inner[0]]
            second = _blocked((rank + 1, rank, *spatial), axes, backwards, last, call.second)
            sentence = f"when the filter is in memory as {was}, and is read as {read}"
            if second is not call.second:
                yield Mistake("blocked", sentence, replace(call, second=second))


def _blocked(
    plain: tuple[int, ...], sizes: tuple[int, int], backwards: bool, last: bool, array: np.ndarray
) -> np.ndarray:
    """An array whose channels are in blocks in memory, read as a plain one; or the reverse.

    Args:
        plain: the order of the axes that puts the channels first, such as NCHW or OIHW.
        sizes: how large the blocks are on its first two axes, 1 for none; below 0 if they change places.
        backwards: whether a plain array is read as one in blocks.
        last: whether the plain array has its channels last.
        array: the array, with its channels last.
    """
    own = array.transpose(plain)
    (one, other), (first, second, *rest) = map(abs, sizes), own.shape
    if first % one or second % other:
        return array
    split = first // one, one, second // other, other, *rest
    inner = (1, 3) if sizes[1] < 0 else (3, 1)
    order = (0, 2, *range(4, len(split)), *inner)
    if backwards:
        memory = (array if last else own).reshape([split[axis] for axis in order])
        return memory.transpose(np.argsort(order)).reshape(own.shape).transpose(np.argsort(plain))
    memory = own.reshape(split).transpose(order)
    return memory.reshape(array.shape) if last else memory.reshape(own.shape).transpose(np.argsort(plain))


def pitches(case: Failure) -> Iterator[Mistake]:
    """Planes or rows that are aligned in memory, read as if there were no gaps between them."""
    rank = case.call.geometry.rank
    kinds = {"plane": (True, rank), "row": (True, 1), "row of pixels": (False, 2)}
    for noun, (first, axes) in kinds.items():
        for align in (4, 8, 16, 32, 64):
            words = (
                f"has each {noun} at a multiple of {align} numbers in memory, and is read without the gaps"
            )
            yield from _reread(case, "pitch", words, partial(_closed_up, align, first, axes))


def _closed_up(align: int, first: bool, axes: int, array: np.ndarray) -> np.ndarray:
    """What is read where the last axes in memory are followed by zeros up to a multiple of a number."""
    memory = np.moveaxis(array, -1, 1) if first else array
    parts = memory.reshape(-1, prod(memory.shape[-axes:]))
    gap = -parts.shape[1] % align
    if not gap:
        return array
    read = np.pad(parts, ((0, 0), (0, gap))).ravel()[: array.size].reshape(memory.shape)
    return np.moveaxis(read, 1, -1) if first else read


def _reread(case: Failure, code: str, words: str, view: View) -> Iterator[Mistake]:
    """The image, or the result, seen through a view of its memory, if that changes it."""
    call = case.call
    first = view(call.first)
    if first is not call.first:
        yield Mistake(code, f"when the {call.kind.words[0]} {words}", replace(call, first=first))
    if not call.kind.sums_images and view(case.got) is not case.got:
        yield Mistake(code, f"when the {call.kind.words[2]} {words}", call, view, moves=True)


def layouts(case: Failure) -> Iterator[Mistake]:
    """The right numbers with their axes in another order, or read in another order in the caller's layout."""
    call, own = case.call, tuple(range(case.got.ndim))
    shape = call.cells_of("filters")[0] if call.kind.sums_images and call.op.depthwise else call.backend_shape
    axes = axis_order(call.layout)

    def turned(order: tuple[int, ...], y: np.ndarray) -> np.ndarray:
        return y.reshape(shape).transpose(order).reshape(y.shape)

    def read(order: tuple[int, ...], y: np.ndarray) -> np.ndarray:
        return reread(order)(y.transpose(axes)).transpose(np.argsort(axes))

    views = {
        f"transposed by {order}": partial(turned, order)
        for order in permutations(own)
        if order != own and tuple(shape[axis] for axis in order) == shape
    }
    for order in ((0, own[-1], *own[1:-1]), (0, *own[2:], 1)):
        views[f"reshaped where transpose{order} was needed"] = partial(read, order)
    for words, view in views.items():
        yield Mistake("layout", f"when the axes are read in another order: {words}", call, view, moves=True)
