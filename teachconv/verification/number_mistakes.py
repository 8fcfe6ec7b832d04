"""The usual mistakes in numbers: bias, activation, padding values, rounding, order of channels and axes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from math import erf
from typing import Any

import numpy as np

from ..arguments import axis_order
from ..calls import Call
from ..dtypes import FORMATS, FloatFormat, is_integer
from ..geometry import AxisGeometry
from .failures import Failure, Mistake, View, relu
from .mistakes import reread

__all__ = [
    "activations",
    "biases",
    "channel_orders",
    "image_orders",
    "layouts",
    "lost_nan",
    "order_words",
    "padded",
    "padding_values",
    "relu_before_bias",
    "residuals",
    "rounded",
    "swapped_image_axes",
]


def biases(case: Failure) -> Iterator[Mistake]:
    """The bias left out, added twice, subtracted, or in another order."""
    bias = case.call.bias
    if bias is None:
        return
    changes = {
        "without the bias": None,
        "when the bias is added twice": 2 * bias,
        "when the bias is subtracted": -bias,
    }
    changes["when the first bias is added to every channel"] = np.full_like(bias, bias[0])
    changes["when the bias is in reverse order"] = bias[::-1]
    for sentence, other in changes.items():
        yield Mistake("bias", sentence, replace(case.call, bias=other))


def relu_before_bias(case: Failure) -> Iterator[Mistake]:
    """The activation applied to the sum of products, and the bias added to what that gives."""
    bias = case.call.bias
    if bias is not None:
        wide = bias if is_integer(bias.dtype) else bias.astype(np.float64)
        bare = replace(case.call, bias=None)
        sentence = "when the relu comes before the bias"
        yield Mistake("relu_before_bias", sentence, bare, lambda result: relu(result) + wide, activated=False)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return np.asarray(1 / (1 + np.exp(-x)))


def _leaky(slope: float) -> View:
    return lambda x: np.where(x < 0, slope * x, x)


_ACTIVATIONS: dict[str, View] = {
    "relu": relu,
    "relu6": lambda x: np.clip(x, 0, 6),
    **{f"leaky relu of slope {slope}": _leaky(slope) for slope in (0.01, 0.1, 0.2, 0.3)},
    "silu (swish)": lambda x: x * _sigmoid(x),
    "gelu": lambda x: x * (1 + np.vectorize(erf, [float])(x / np.sqrt(2))) / 2,
    "gelu (tanh)": lambda x: x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2,
    "elu": lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
}


def activations(case: Failure) -> Iterator[Mistake]:
    """The activation left out, or another one."""
    if case.activated:
        yield Mistake("activation", "without the relu: it was left out", case.call, activated=False)
    for name, function in _ACTIVATIONS.items():
        if not (case.activated and function is relu) and not (is_integer(case.got.dtype) and name != "relu"):
            sentence = (
                f"after {name} instead of relu"
                if case.activated
                else f"after a {name}, which this call does not have"
            )
            # a function of the mathematical library has an error of a few ulps
            slack = 0.0 if function is relu else 4 * 2.0**-case.digits
            yield Mistake("activation", sentence, case.call, function, activated=False, slack=slack)


def lost_nan(case: Failure) -> Iterator[Mistake]:
    """NaN replaced by 0: in the result, as a relu that compares does it, or before it is multiplied."""
    call = case.call
    if np.isnan(case.exact).any():
        zero: Callable[[np.ndarray], np.ndarray] = lambda array: np.where(np.isnan(array), 0, array)  # noqa: E731
        yield Mistake("nan_lost", "when 0 takes the place of NaN in the result", call, zero)
        yield Mistake("nan_lost", "when NaN in the arrays is read as 0", call.with_each(zero))


def residuals(case: Failure) -> Iterator[Mistake]:
    """The input added to the result, before the activation or after it."""
    x = case.call.first if is_integer(case.got.dtype) else case.call.first.astype(np.float64)
    if x.shape == case.got.shape:
        yield Mistake(
            "residual", "when the input is added to the result", case.call, lambda y: y + x, moves=True
        )
        if case.activated:
            sentence = "when the input is added after the relu"
            yield Mistake("residual", sentence, case.call, lambda y: relu(y) + x, moves=True, activated=False)


# ---------------------------------------------------------------------------------------------
# Padding
# ---------------------------------------------------------------------------------------------

_PADDINGS = {
    "edge": "repeats the edge of the input",
    "reflect": "mirrors the input without its edge (reflect)",
    "symmetric": "mirrors the input with its edge (symmetric)",
    "wrap": "continues the input from its other end (circular)",
}


def padding_values(case: Failure) -> Iterator[Mistake]:
    """Padding with the input's own values instead of zeros."""
    g = case.call.geometry
    for mode, words in _PADDINGS.items():
        call = padded(case.call, mode=mode)
        if call is not None and all(max(needed(axis)) < axis.in_size for axis in g.axes):
            # no framework mirrors more than there is
            yield Mistake("padding_values", f"when the padding {words} instead of being zero", call)


def padded(call: Call, **how: Any) -> Call | None:
    """Return a call whose first array has its padding already, by `numpy.pad`; None if it needs none."""
    pads = [needed(axis) for axis in call.geometry.axes]
    if call.kind.first != "input" or not any(map(any, pads)):
        return None
    first = np.pad(call.first, ((0, 0), *pads, (0, 0)), **how)
    axes = tuple(_in_front(*each) for each in zip(call.geometry.axes, pads, strict=True))
    return replace(call, first=first, geometry=replace(call.geometry, axes=axes))


def needed(axis: AxisGeometry) -> tuple[int, int]:
    """Return how many cells of padding the taps reach before and after the input."""
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


# ---------------------------------------------------------------------------------------------
# Rounding
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _CutOff(FloatFormat):
    """A format to which numbers are cut off instead of rounded."""

    def round(self, doubles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with np.errstate(all="ignore"):
            last_bit = np.maximum(np.frexp(doubles)[1] - self.precision, self.smallest_exponent)
            return np.ldexp(np.trunc(np.ldexp(doubles, -last_bit)), last_bit), np.zeros(doubles.shape, bool)


_TF32 = 11, -136, FORMATS["float32"].largest
_ROUNDED: dict[str, tuple[str, FloatFormat]] = {
    **{name: (f"rounded to {name}", FORMATS[name]) for name in ("float16", "bfloat16", "float32")},
    "tf32": ("rounded to TF32", FloatFormat(*_TF32)),
    "tf32, cut off": ("cut off to TF32", _CutOff(*_TF32)),
    "bfloat16, cut off": (
        "cut off to bfloat16",
        _CutOff(
            *(getattr(FORMATS["bfloat16"], name) for name in ("precision", "smallest_exponent", "largest"))
        ),
    ),
}


def rounded(case: Failure) -> Iterator[Mistake]:
    """Arrays, result or both rounded to a format with fewer bits; or the sums formed in one."""
    call = case.call
    if is_integer(call.first.dtype):
        return
    first, second, result = call.kind.words
    for name, (words, form) in _ROUNDED.items():
        if form.precision >= case.digits:
            continue
        code = f"rounded({name})"
        if not name.startswith("tf32"):
            yield Mistake(code, f"when the {result} is {words}", call, rounded=form)
        small = call.with_each(lambda array, form=form: _rounded(array, form))
        if name == "float16" and _alike(call, small):
            code, words = "rounded(float16 or tf32)", "rounded to float16 or TF32, which are the same here"
        for what, changed in (
            (f"{first} and {second} are", small),
            (f"the {first} is", replace(call, first=small.first)),
            (f"the {second} is", replace(call, second=small.second)),
        ):
            yield Mistake(code, f"when {what} {words}", changed)
            if not name.startswith("tf32"):
                too = what.replace(" is", "").replace(" are", "").replace(" and", ",")
                yield Mistake(
                    f"rounded({name})",
                    f"when {too} and {result} are {words.partition(' or')[0]}",
                    changed,
                    rounded=form,
                )
    for name in ("float16", "bfloat16"):
        if FORMATS[name].precision < case.digits:
            sentence = f"when the sums are formed in {name}, step by step"
            yield Mistake("accumulator", sentence, call, rounded=FORMATS[name], summed_in=name)


def _alike(call: Call, small: Call) -> bool:
    """Whether numbers that are rounded to float16 are those that TF32 would give, but for tiny ones."""
    for own, array in ((call.first, small.first), (call.second, small.second)):
        other = _rounded(own, _ROUNDED["tf32"][1])
        with np.errstate(invalid="ignore"):
            if not np.abs(array - other).max(initial=0.0) <= 2.0**-24 * np.abs(own).max(initial=0.0):
                return False
    return True


def _rounded(array: np.ndarray, form: FloatFormat) -> np.ndarray:
    with np.errstate(over="ignore"):  # a number that is rounded up may be too large for its own type
        return form.round(array.astype(np.float64))[0].astype(array.dtype)


# ---------------------------------------------------------------------------------------------
# Order
# ---------------------------------------------------------------------------------------------


def channel_orders(case: Failure) -> Iterator[Mistake]:
    """The channels of the first array in another order; those of the result are read off the result."""
    call = case.call
    depth = call.first.shape[-1]
    own = tuple(range(depth))
    orders = {own[::-1]: ""}
    if depth % 2 == 0:
        orders[own[depth // 2 :] + own[: depth // 2]] = "the two halves exchanged"
        orders[own[::2] + own[1::2]] = "even ones first"
        orders[tuple(np.reshape(own, (2, -1)).T.ravel().tolist())] = "the two halves interleaved"
    if depth <= 4 and call.geometry.groups == 1:
        orders = dict.fromkeys(permutations(own), "") | orders
    for order, words in orders.items():
        if order != own:
            words = f"{order_words(order)}{f': {words}' if words and depth > 2 else ''}"
            sentence = f"when the {call.kind.words[0]}'s channels are in the order {words}"
            yield Mistake("permuted_channels", sentence, replace(call, first=call.first[..., order]))


def image_orders(case: Failure) -> Iterator[Mistake]:
    """The images of a filter gradient's first array in another order."""
    call = case.call
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


def swapped_image_axes(case: Failure) -> Iterator[Mistake]:
    """The image with rows and columns exchanged, or reshaped where it had to be transposed."""
    call, rank = case.call, case.call.geometry.rank
    turned = {
        (0, *order, rank + 1): "has its rows and columns exchanged"
        for order in permutations(range(1, rank + 1))
    }
    for order, words in turned.items():
        other = call.first.transpose(order)
        if other.shape == call.first.shape and order != (*range(rank + 2),):
            yield Mistake(
                "swapped_image_axes", f"when the {call.kind.words[0]} {words}", replace(call, first=other)
            )
    channels_first = (0, rank + 1, *range(1, rank + 1))
    for order in (*turned, channels_first):
        for backwards in (False, True):
            sentence = f"when the {call.kind.words[0]} is reshaped where it has to be transposed"
            yield Mistake(
                "reshaped_input", sentence, replace(call, first=reread(order, backwards)(call.first))
            )


def layouts(case: Failure) -> Iterator[Mistake]:
    """The right numbers with their axes in another order, or read in another order."""
    call, rank = case.call, case.call.geometry.rank
    own = tuple(range(rank + 2))
    sentence = "when the axes are read in another order"
    shape = call.cells_of("filters")[0] if call.kind.sums_images and call.op.depthwise else call.backend_shape
    for order in permutations(own):
        turned: View = lambda result, order=order: (
            result.reshape(shape).transpose(order).reshape(result.shape)
        )  # type: ignore[misc]  # noqa: E731
        if order != own and tuple(shape[axis] for axis in order) == shape:
            yield Mistake("layout", f"{sentence}: transposed by {order}", call, turned, moves=True)
    for order in ((0, rank + 1, *own[1:-1]), (0, *own[2:], 1)):
        text = f"{sentence}: reshaped where transpose{order} was needed"
        yield Mistake("layout", text, call, _reread_by_caller(call, order), moves=True)


def _reread_by_caller(call: Call, order: tuple[int, ...]) -> View:
    """Transpose in memory, then read as if that had not happened, in the caller's layout."""
    axes = axis_order(call.layout)
    return lambda result: reread(order)(result.transpose(axes)).transpose(np.argsort(axes))
