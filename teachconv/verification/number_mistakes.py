"""The usual mistakes in numbers: bias, activation, padding values, rounding, order of channels and axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np

from ..arguments import axis_order
from ..calls import Call
from ..dtypes import FORMATS, FloatFormat, is_integer
from ..geometry import AxisGeometry
from .mistakes import Mistake, View, in_own_axes

__all__ = ["channel_mistakes", "layout_mistakes", "order_words", "relu", "value_mistakes"]


def value_mistakes(call: Call, activated: bool) -> Iterator[Mistake]:
    """Bias, activation, padding values and rounding; ``activated`` says whether the call has a relu."""
    yield from _bias_mistakes(call)
    yield from _activation_mistakes(call, activated)
    yield from _padding_values(call)
    if not is_integer(call.first.dtype):
        yield from _rounding_mistakes(call)


def _bias_mistakes(call: Call) -> Iterator[Mistake]:
    if call.bias is None:
        return
    changes = {"without the bias": None, "when the bias is added twice": 2 * call.bias}
    changes["when the bias is subtracted"] = -call.bias
    for sentence, bias in changes.items():
        yield Mistake("bias", sentence, replace(call, bias=bias))


def relu(result: np.ndarray) -> np.ndarray:
    """Return what the activation makes of a result."""
    return np.asarray(np.maximum(result, 0))


def _activation_mistakes(call: Call, activated: bool) -> Iterator[Mistake]:
    if activated:
        yield Mistake("activation", "without the relu: it was left out", call, activated=False)
    else:
        yield Mistake("activation", "after a relu, which this call does not have", call, relu)


_PADDINGS = {
    "edge": "repeats the edge of the input",
    "reflect": "mirrors the input without its edge (reflect)",
    "symmetric": "mirrors the input with its edge (symmetric)",
    "wrap": "continues the input from its other end (circular)",
}


def _padding_values(call: Call) -> Iterator[Mistake]:
    """Padding with the input's own values instead of zeros."""
    if call.kind.first != "input":
        return
    g = call.geometry
    rows, cols = _needed(g.rows), _needed(g.cols)
    if not any(rows + cols) or any(max(n) >= a.in_size for n, a in ((rows, g.rows), (cols, g.cols))):
        return  # no framework mirrors more than there is
    for mode, words in _PADDINGS.items():
        padded = np.pad(call.first, ((0, 0), rows, cols, (0, 0)), mode)  # type: ignore[call-overload]
        geometry = replace(g, axes=(_in_front(g.rows, rows), _in_front(g.cols, cols)))
        sentence = f"when the padding {words} instead of being zero"
        yield Mistake("padding_values", sentence, replace(call, first=padded, geometry=geometry))


def _needed(axis: AxisGeometry) -> tuple[int, int]:
    """How many cells of padding the taps reach before and after the input."""
    last = axis.in_index(axis.out_size - 1, axis.filter_size - 1)
    return max(0, axis.pad_before), max(0, last - axis.in_size + 1)


def _in_front(axis: AxisGeometry, pads: tuple[int, int]) -> AxisGeometry:
    """The axis of an input that already has its padding."""
    before, after = pads
    return replace(
        axis,
        in_size=axis.in_size + before + after,
        pad_before=axis.pad_before - before,
        pad_after=axis.pad_after - after,
    )


def _rounding_mistakes(call: Call) -> Iterator[Mistake]:
    """Arrays, result or both rounded to a format with fewer bits."""
    first, second, result = call.kind.words
    own = FORMATS[call.first.dtype.name].precision
    for name in ("float16", "bfloat16", "float32"):
        form = FORMATS[name]
        if form.precision >= own:
            continue
        code = f"rounded({name})"
        yield Mistake(code, f"when the {result} is rounded to {name}", call, rounded=form)
        both: dict[str, Any] = {"first": _rounded(call.first, form), "second": _rounded(call.second, form)}
        if call.bias is not None:
            both["bias"] = _rounded(call.bias, form)
        for what, arrays in (
            (f"{first} and {second} are", both),
            (f"the {first} is", {"first": both["first"]}),
            (f"the {second} is", {"second": both["second"]}),
        ):
            changed = replace(call, **arrays)
            yield Mistake(code, f"when {what} rounded to {name}", changed)
            too = what.replace(" is", "").replace(" are", "").replace(" and", ",")
            yield Mistake(code, f"when {too} and {result} are rounded to {name}", changed, rounded=form)


def _rounded(array: np.ndarray, form: FloatFormat) -> np.ndarray:
    with np.errstate(over="ignore"):  # a number that is rounded up may be too large for its own type
        return form.round(array.astype(np.float64))[0].astype(array.dtype)


def channel_mistakes(call: Call) -> Iterator[Mistake]:
    """The channels of the first array, or the images of a filter gradient's, in another order.

    The order of the result's own channels and images is read off the result.
    """
    depth = call.first.shape[3]
    backwards = tuple(range(depth))[::-1]
    orders = [backwards] if depth > 1 else []
    if depth <= 4 and call.geometry.groups == 1:
        orders += [
            order for order in permutations(range(depth)) if order not in ((*range(depth),), backwards)
        ]
    for order in orders:
        sentence = f"when the {call.kind.words[0]}'s channels are in the order {order_words(order)}"
        yield Mistake("permuted_channels", sentence, replace(call, first=call.first[..., order]))
    if call.kind.sums_images and len(call.first) > 1:
        sentence = f"when the images of the {call.kind.words[0]} are in reverse order"
        yield Mistake("permuted_batch", sentence, replace(call, first=call.first[::-1]))


def order_words(order: tuple[int, ...]) -> str:
    """Return an order of channels or images as text."""
    backwards = order == tuple(range(len(order)))[::-1]
    if len(order) > 8:
        shown = "n - 1, ..., 1, 0" if backwards else ", ".join(map(str, order[:8])) + ", ..."
        return f"[{shown}]"
    return f"{list(order)}{' (BGR for RGB)' if backwards and len(order) == 3 else ''}"


def layout_mistakes(call: Call) -> Iterator[Mistake]:
    """The right numbers with their axes in another order, or read in another order."""
    sentence = "when the axes are read in another order"
    for order in permutations(range(4)):
        if order != (0, 1, 2, 3):
            turned = _transposed(order)
            turned = in_own_axes(call, turned) if call.kind.sums_images else turned
            yield Mistake("layout", f"{sentence}: transposed by {order}", call, turned)
    for order in ((0, 3, 1, 2), (0, 2, 3, 1)):
        text = f"{sentence}: reshaped where transpose{order} was needed"
        yield Mistake("layout", text, call, _reread(call, order))


def _transposed(order: tuple[int, ...]) -> View:
    return lambda array: array.transpose(order)


def _reread(call: Call, order: tuple[int, ...]) -> View:
    """Transpose in memory, then read as if that had not happened, in the caller's layout."""

    def reread(result: np.ndarray) -> np.ndarray:
        axes = axis_order(call.layout)
        theirs = result.transpose(axes)
        return theirs.transpose(order).reshape(theirs.shape).transpose(np.argsort(axes))

    return reread
