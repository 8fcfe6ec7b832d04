"""Why does a result have another shape than the reference's?

The caller's own call is tried with other arguments, in the words of its dialect; those that give the shape of
what was found are run. Then what was found is looked for in the reference, and the reference in it. An
explanation that gives the numbers as well comes before one of the shape alone, a short one before a long one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, islice, permutations, product
from typing import Any

import numpy as np

from ..core.arguments import axis_order, begins_then_ends
from ..core.calls import Call
from ..core.dtypes import is_integer
from ..dialects.calls import FUNCTIONS, ConvCall, bind_shapes
from ..running import nn_ops
from ..support.errors import brief
from ..support.progress import say
from ..truth import bounds
from ..truth.exact import abs_sum, float64_result
from .diagnosing import Diagnosis, diagnose, thread_time
from .failures import Failure
from .geometries import turned

_SECONDS = 0.5  # for other arguments; a machine that is busy with others does not count
_AT_LEAST = 4  # other arguments are looked at, however long that takes


_Found = tuple[str, str, Call, np.ndarray]  # a code, words, what gives the shape, and the result as its own


@np.errstate(all="ignore")
def diagnose_shape(case: Failure, asked: Callable[..., Any] | None = None) -> Diagnosis:
    """Say what is wrong with a result, in the caller's layout, that has not even the right shape.

    Args:
        case: the failure.
        asked: a partial of the caller's op and what it was called with, or None if that is not known: then
            no arguments are varied.
    """
    call, sizes = case.call, f"the shape is {list(case.got.shape)}, and the reference's is "
    say("looking for what gives this shape")
    fits: list[tuple[str, str, Failure]] = []
    for code, words, other, got in chain(
        _reordered(case),
        _varied(case.got, asked),
        _rounded_up(case),
        _other_direction(case),
    ):
        as_other = _as_of(case, other, got)
        fits.append((code, f"{sizes}{list(call.result_shape)}: {words} this size", as_other))
        if as_other.want.any() and as_other.allows(as_other.got, as_other.want, as_other.bound).all():
            return Diagnosis(code, f"{fits[-1][1]} and these numbers")
    bound = np.ascontiguousarray(np.broadcast_to(case.bound, case.want.shape))
    for code, words in chain(
        *(parts(case, *map(call.to_caller, (case.want, bound))) for parts in (_parts, _pools))
    ):
        return Diagnosis(code, f"{sizes}{list(call.result_shape)}: {words}")
    if not fits:
        return Diagnosis("output_shape", f"{sizes}{list(call.result_shape)}")
    rest = diagnose(fits[0][2]).diagnosis or "the rest of the mistake is elsewhere"
    return Diagnosis(fits[0][0], f"{fits[0][1]}, but the numbers differ: {rest}")


def _as_of(case: Failure, call: Call, got: np.ndarray) -> Failure:
    """A result as that of another call; the bound is doubled, as both have an error."""
    want = float64_result(call)
    want = case.finished(want).astype(call.first.dtype)
    bound = np.zeros(want.shape)
    if not is_integer(want.dtype):
        bound = np.maximum(2 * bounds.direct(abs_sum(call), call.terms, want.dtype), np.max(case.bound))
    return replace(case, call=call, got=call.from_caller(got), want=want, bound=bound)


# ---------------------------------------------------------------------------------------------
# The caller's call with other arguments
# ---------------------------------------------------------------------------------------------

_ROLES = {  # the arguments by what they mean, the likeliest to be forgotten first
    "output_padding": ("output_padding",),
    "padding": ("padding", "pads", "auto_pad"),
    "stride": ("strides", "stride", "window_strides"),
    "dilation": ("dilations", "dilation", "dilation_rate", "rhs_dilation"),
    "groups": ("groups", "group", "feature_group_count"),
    "size": ("output_shape", "input_sizes", "filter_sizes", "input_size", "weight_size"),
}
_ROLE = {name: role for role, names in _ROLES.items() for name in names}
_WORDS: dict[str, Sequence[Any]] = {
    "padding": ("SAME", "VALID", "same", "valid", "SAME_LOWER"),
    "auto_pad": ("SAME_UPPER", "SAME_LOWER", "VALID"),
    **dict.fromkeys(_ROLES["groups"], range(1, 129)),
}
_BESIDE: dict[str, dict[str, Any]] = {"pads": {"auto_pad": "NOTSET"}}
_SIDES = sorted(product(range(13), repeat=2), key=lambda side: (side[0] != side[1], sum(side)))
_NUMBERS: dict[str, Sequence[Any]] = {  # what one axis may have
    "stride": range(1, 9),
    "dilation": range(1, 25),
    "output_padding": range(24),
    "padding": _SIDES,
}


def _varied(got: np.ndarray, asked: Callable[..., Any] | None) -> Iterator[_Found]:
    """The caller's call with other arguments where they give the shape of what was found."""
    if not isinstance(asked, partial) or asked.args[0] not in FUNCTIONS:
        return
    op, args, until = asked.args[0], asked.args[1:], thread_time() + _SECONDS
    given = nn_ops.bind(op, args, asked.keywords).arguments
    conv, shapes = bind_shapes(op, args, asked.keywords)
    shapes = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in shapes.items()}

    def shape_with(change: dict[str, Any]) -> tuple[int, ...]:
        try:
            return FUNCTIONS[op].resolver(**shapes | change).result_shape
        except (TypeError, ValueError):  # the framework refuses it
            return (-1,)

    changes, found = chain(_changes(op, shapes, got), _by_axis(conv, shapes, got, shape_with)), 0
    for change in changes:
        if found >= _AT_LEAST and thread_time() > until:
            return
        news = {name: value for name, value in change.items() if value != shapes[name]}
        if news and shape_with(change) == got.shape:
            roles = (_ROLE[name] + "_mode" * isinstance(value, str) for name, value in news.items())
            try:
                other, _ = nn_ops.call_of(op, (), given | change)
            except (TypeError, ValueError):  # "same", which TensorFlow's shapes take and its arrays do not
                continue
            code = "_and_".join(dict.fromkeys(roles))
            steps = {"stride": "strides", "dilation": "dilations"}.get(code)
            if steps and getattr(other.geometry, steps) == getattr(conv.geometry, steps)[::-1]:
                code = f"swapped_{steps}"
            found += 1
            yield code, _text(op, news, shapes), other, got


def _changes(op: Any, shapes: dict[str, Any], got: np.ndarray) -> Iterator[dict[str, Any]]:
    """Other arguments: without what may have been forgotten, exchanged, or with another word."""
    known = sorted((name for name in shapes if name in _ROLE), key=list(_ROLE).index)
    optional = {
        name: _default(op, name) for name in known if _default(op, name) is not inspect.Parameter.empty
    }
    for count in (1, 2, 3):
        yield from map(dict, combinations(optional.items(), count))
    yield {name: shapes[name][::-1] for name in known if isinstance(shapes[name], (list, tuple))}
    for one, other in combinations(known, 2):
        yield {one: shapes[other], other: shapes[one]}
    for name in known:
        words = (got.shape, got.shape[2:]) if _ROLE[name] == "size" else _WORDS.get(name, ())
        yield from ({name: word} for word in words if shapes[name] not in (None, "NOTSET"))


def _by_axis(
    conv: ConvCall, shapes: dict[str, Any], got: np.ndarray, shape_with: Callable[..., tuple[int, ...]]
) -> Iterator[dict[str, Any]]:
    """Arguments with different numbers, where each gives one of the sizes; the same for both axes first."""
    axes = [conv.layout(conv.kind.result).index(letter) for letter in conv.geometry.data_format[1:-1]]
    sizes, rank = got.shape, len(axes)
    framework = conv.function.partition(".")[0]
    for role, name in product(_NUMBERS, shapes):
        if _ROLE.get(name) != role:
            continue
        beside = _BESIDE.get(name, {})
        found = {n: shape_with({name: _spelled(framework, (n,) * rank)} | beside) for n in _NUMBERS[role]}
        fitting = ([n for n in found if found[n][axis : axis + 1] == sizes[axis : axis + 1]] for axis in axes)
        for each in sorted(product(*fitting), key=lambda each: len(set(each)) > 1):
            yield {name: _spelled(framework, each)} | beside


def _spelled(framework: str, each: tuple[Any, ...]) -> Any:
    """What each axis has, of padding both sides of each, as the framework's users write it."""
    if isinstance(each[0], tuple):
        if framework == "onnx":
            return begins_then_ends(each)
        if framework == "jax" or any(before != after for before, after in each):
            return each
        each = tuple(before for before, _ in each)
    if framework == "onnx":
        return list(each)
    return each if framework == "jax" or len(set(each)) > 1 else each[0]


def _text(op: Any, news: dict[str, Any], shapes: dict[str, Any]) -> str:
    """What was changed, in words."""
    new, old = (" and ".join(f"{n}={brief(values[n])}" for n in news) for values in (news, shapes))
    was, s, gives = ("was", "", "gives") if len(news) == 1 else ("were", "s", "give")
    if all(value == _default(op, name) for name, value in news.items()):
        return f"{old} {was} forgotten: the default{s}, {new}, {gives}"
    return f"{new} instead of {old} {gives}"


def _default(op: Any, name: str) -> Any:
    return inspect.signature(op).parameters[name].default


# ---------------------------------------------------------------------------------------------
# The reference's own numbers: another order, a size rounded up, a part, a pool
# ---------------------------------------------------------------------------------------------


def _reordered(case: Failure) -> Iterator[_Found]:
    """The axes in another order, or one of size 1 left out or added."""
    got, shape = case.got, tuple(case.call.result_shape)
    for order in permutations(range(len(shape))) if got.ndim == len(shape) else ():
        if tuple(shape[axis] for axis in order) == got.shape:
            turned = got.transpose(np.argsort(order))
            yield "layout", f"transpose{order} of the reference gives", case.call, turned
    if got.ndim != len(shape) and [n for n in shape if n != 1] == [n for n in got.shape if n != 1]:
        words = "without its batch axis" if shape == (1, *got.shape) else "with other axes of size 1"
        yield "layout", f"the reference {words} gives", case.call, got.reshape(shape)


def _rounded_up(case: Failure) -> Iterator[_Found]:
    """The size of the result rounded up: the last window may reach over the edge."""
    call = case.call
    axes = tuple(
        replace(axis, out_size=1 - (axis.effective_filter - axis.in_size - sum(pads)) // axis.stride)
        for axis, pads in zip(call.geometry.axes, call.geometry.padding, strict=True)
    )
    longer = replace(call, geometry=replace(call.geometry, axes=axes))
    shape = tuple(longer.backend_shape[axis] for axis in axis_order(call.layout))
    if call.kind.gathers and shape[-case.got.ndim :] == case.got.shape != tuple(call.result_shape):
        yield ("ceil_mode", "rounding the size up, as with ceil_mode=True, gives", longer, case.got)


def _other_direction(case: Failure) -> Iterator[_Found]:
    """The transposed convolution instead of the forward one, or the reverse, of the same arrays."""
    call, got = case.call, case.got
    code, words = "transposed_for_forward", "a transposed convolution, not a forward one, gives"
    if call.kind.scatters:
        code, words = "forward_for_transposed", "a forward convolution, not a transposed one, gives"
    if got.ndim == len(call.layout) and not case.quantized:
        other = turned(call, [got.shape[axis] for axis, letter in enumerate(call.layout) if letter in "DHW"])
        if other and tuple(other.backend_shape[axis] for axis in axis_order(call.layout)) == got.shape:
            yield code, words, other, got


def _parts(case: Failure, want: np.ndarray, limits: np.ndarray) -> Iterator[tuple[str, str]]:
    """What was found is a part of the reference, or the other way round: a window, or every second cell."""
    got = case.got
    for part, whole, words in (
        (got, want, "it is [{}] of the reference"),
        (want, got, "the reference is [{}] of it"),
    ):
        cuts = [_cuts(*sizes) for sizes in zip(part.shape, whole.shape, strict=False)]
        for index in islice(product(*cuts), 4096 if got.ndim == want.ndim else 0):
            arrays = (got, want[index], limits[index]) if part is got else (got[index], want, limits)
            corner = tuple(slice(2) for _ in cuts)  # enough to see that it is missing
            if arrays[1].any() and all(case.allows(*(a[cut] for a in arrays)).all() for cut in (corner, ...)):
                ends = ([cut.start, cut.stop, *filter(None, [cut.step])] for cut in index)
                text = ", ".join(":".join(str(n or "") for n in end) for end in ends)
                yield "stride" if any(cut.step for cut in index) else "window", words.format(text)


def _cuts(small: int, large: int) -> list[slice]:
    """How an axis can be a part of another: all of it, from a cell on, or each second to fourth cell."""
    if small == large:
        return [slice(None)]
    steps = [slice(start, None, step) for step in range(2, 5) for start in range(step)]
    windows = [slice(start, start + small) for start in range(min(17, large - small + 1))]
    return windows + [cut for cut in steps if len(range(large)[cut]) == small]


def _pools(case: Failure, want: np.ndarray, limits: np.ndarray) -> Iterator[tuple[str, str]]:
    """What was found is the reference after a pool over blocks of 2 by 2 or 3 by 3."""
    letters = case.call.layout[-want.ndim :]
    for size in (2, 3) if not case.call.kind.sums_images else ():
        starts = product(*(range(size) if letter in "DHW" else (None,) for letter in letters))
        ends = [
            n // size * size if letter in "DHW" else n for letter, n in zip(letters, want.shape, strict=True)
        ]
        steps = [size if letter in "DHW" else 1 for letter in letters]
        cuts = [tuple(map(slice, start, ends, steps)) for start in starts]
        blocks, near = (np.stack([array[cut] for cut in cuts]).astype(np.float64) for array in (want, limits))
        near = near.max(0) + bounds.direct(np.abs(blocks).max(0), len(cuts), np.dtype("float32"))
        for name, pooled in (("max", blocks.max(0)), ("average", blocks.mean(0))):
            if pooled.shape == case.got.shape and pooled.any() and case.allows(case.got, pooled, near).all():
                yield "pool", f"it is the reference after {name} pooling over {size} by {size} cells"
