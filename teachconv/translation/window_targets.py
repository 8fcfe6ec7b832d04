"""How each framework expresses a pool, padding, batch normalisation or a resize, or why it cannot.

This module contains no framework's rules: the dialect's own function resolves each candidate call, which is
accepted if it resolves to the wanted call. If none does, the reason is the dialect's refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np

from ..core.arguments import Pads, begins_then_ends
from ..core.kinds import layout_of
from ..dialects import jax, keras, onnx, torch
from ..support.errors import ArgumentError
from ..windows import pooling
from ..windows.calls import FUNCTIONS, bound_shapes
from ..windows.normalization import BatchNormCall
from ..windows.padding import PadCall
from ..windows.patches import PatchCall
from ..windows.pooling import AdaptiveCall, PoolCall
from ..windows.resizing import ResizeCall, ShuffleCall
from ..windows.walking import counts, whole
from .sizes import LONGEST
from .source_text import call_lines, folded, transposed
from .target_calls import Code, Target, TargetCall, dilations_of, explicit, some, without_none

_RESIZES = 3  # how many larger sizes of a resize are tried
_LINEAR = "linear", "bilinear", "trilinear"  # the word for one axis, for two, for three
_CHANNELS = ("mean", "variance", "gamma", "beta")  # the rows of BatchNormCall.channels


def window_target(
    function: Callable[..., Any], call: Any, arguments: dict[str, Any], to: Target
) -> TargetCall:
    """Return how a framework expresses a call; the ``why_not`` of its call is set if it cannot.

    Args:
        function: a function of `teachconv.windows.calls.FUNCTIONS`.
        call: what it resolves to.
        arguments: its arguments by name, a shape in place of the array.
        to: the framework.
    """
    problems = (
        "" if to.pool else f"{to.title} is a target of convolutions only",
        "where the maxima are is a result of its own: leave the indices out"
        * bool(getattr(call, "places", ())),
        to.no_window_of_one * (getattr(call, "terms", 2) == 1),
        to.no_norm * isinstance(call, BatchNormCall),
        "a training step returns moving averages too, by rules that differ: leave training out"
        * (getattr(call, "keeps", None) is not None),
    )
    for why in filter(None, problems):
        return TargetCall(why_not=why)
    stride = max((axis.stride for axis in getattr(call, "spatial", ())), default=0)
    stride = _RESIZES if isinstance(call, ResizeCall) else stride
    sizes = [
        [n + more * (letter in "DHW") for n, letter in zip(call.input_shape, call.layout, strict=True)]
        for more in range(1, (stride if stride < LONGEST else 0) + 1)
    ]
    larger = (
        replace(
            bound_shapes(function, (), arguments | {FUNCTIONS[function][1]: shape})[0], layout=call.layout
        )
        for shape in sizes
    )
    try:
        family, found = [*map(regular, (call, *larger))], None
    except ArgumentError:  # larger arrays are refused
        family, found, stride = [regular(call)], None, LONGEST
    why = f"{to.title} has no function here that does this to an array {call.layout}"
    for way in _WAYS[type(call)](family[0], to):
        way = replace(way, target=to)
        first, *others = (_fitting(way, member) for member in family)
        if isinstance(first, str):
            why = first
        elif stride < LONGEST and all(other == first for other in others):
            return first
        else:
            found = found or replace(first, one_size=True)
    return found or TargetCall(why_not=why)


def regular(call: Any) -> Any:
    """Return a call; a pool without a batch or channels, or with more such axes, as one of one channel."""
    if not isinstance(call, PoolCall) or {*call.layout} - {*"DHW"} == {*"NC"}:
        return call
    outer, spatial = _letters(call.layout)
    rest = prod(axis.in_size for axis, letter in zip(call.axes, call.layout, strict=True) if letter in outer)
    return replace(call, axes=(whole(rest), whole(1), *call.spatial), layout=f"NC{spatial}")


def _letters(layout: str) -> tuple[str, str]:
    """Return the letters of a layout: those of images and channels, and those of the axes of the window."""
    spatial = "".join(letter for letter in layout if letter in "DHW")
    return "".join(letter for letter in layout if letter not in spatial), spatial


def _fitting(way: TargetCall, call: Any) -> TargetCall | str:
    """Return a candidate that resolves to the call, with the steps after it; else the reason."""
    order = [call.layout.index(letter) for letter in way.layout]
    pads = way.pad_input or ((0, 0),) * len(order)
    given: dict[str, Any] = {
        "x": [call.input_shape[axis] + sum(sides) for axis, sides in zip(order, pads, strict=True)]
    }
    if isinstance(call, BatchNormCall):
        given |= zip(_CHANNELS, call.channels, strict=True)
    arrays = tuple(given[name] if name in given else int(name) for name in way.arrays)
    try:
        made = bound_shapes(way.function, arrays, way.arguments)[0]  # type: ignore[arg-type]
    except (ValueError, TypeError) as error:
        return f"{way.name}: {error}"
    if isinstance(call, PoolCall):
        return _as_pool(
            way, replace(call, axes=tuple(call.axes[axis] for axis in order), layout=way.layout), made, pads
        )
    if isinstance(call, ResizeCall) and not _reads_alike(call, made, order):
        return f"no call of {way.name} reads the same cells with the same weights"
    if isinstance(call, ShuffleCall):
        numbers = np.arange(prod(call.input_shape)).reshape(call.input_shape)
        if not np.array_equal(call(numbers).transpose(order), made(numbers.transpose(order))):
            return f"{way.name} numbers the channels of a block in another order: {made.rule}"
    if isinstance(call, PadCall) and made.sources != tuple(call.sources[axis] for axis in order):
        return f"{way.name} reads other cells for these sides"
    return way


def _reads_alike(call: ResizeCall, made: ResizeCall, order: list[int]) -> bool:
    """Return whether two resizes read the same cells with the same weights; ``order`` is that of the axes."""
    return made.output_shape == tuple(call.output_shape[axis] for axis in order) and all(
        call.along(axis, out) == made.along(number, out)
        for number, axis in enumerate(order)
        for out in range(call.output_shape[axis])
    )


def _as_pool(way: TargetCall, call: PoolCall, made: PoolCall, pads: Pads) -> TargetCall | str:
    """Return a pool's candidate with the steps after it, if its windows are those of the call."""
    name, is_empty = way.name, 0 in counts(call.spatial, call.divisor == "padded")
    firsts = [(a.out_size, a.pad_before + first) for a, (first, _) in zip(made.axes, pads, strict=True)]
    if firsts != [(a.out_size, a.pad_before) for a in call.axes] or min(map(min, pads)) < 0:
        return f"{name} has other windows"
    if call.reduce == "max":
        if (call.start is None) == (made.start is None):
            note: tuple[str, ...] = ()
        elif is_empty:
            return f"{name} gives another number for a window without a cell"
        else:
            kind, skips = (name, call.function) if call.start is None else (call.function, name)
            note = (f"a window with NaN gives NaN in {kind}, and the largest number in {skips}",)
        after = (f"y = np.maximum(y, {call.start:g})",) if call.start not in (None, -inf, made.start) else ()
        return replace(way, after=after, notes=way.notes + note)
    if way.after:  # it divides by the means of ones
        return (
            "a window is empty" if is_empty or call.reduce == "sum" or isinstance(call.divisor, int) else way
        )
    ours, theirs = (np.squeeze(each.divisors if each.reduce == "average" else 1) for each in (call, made))
    if (ours * theirs.flat[0] != theirs * ours.flat[0]).any():
        return f"{name} divides by other numbers"
    share = Fraction(int(theirs.flat[0]), int(ours.flat[0]))
    words = f" * {share.numerator}" * (share.numerator != 1) + f" / {share.denominator}" * (
        share.denominator != 1
    )
    return replace(way, after=(f"y = y{words}",) if words else ())


# ---------------------------------------------------------------------------------------------
# The ways
# ---------------------------------------------------------------------------------------------


def _pool_ways(call: PoolCall, to: Target) -> Iterator[TargetCall]:
    """Yield the candidates for a pool: with the framework's own padding words, then with padding first."""
    axes, flags = call.spatial, (False, True)[: 1 + to.ceils]
    own, nothing = call.geometry.padding, ((0, 0),) * len(axes)
    for word, ceil, other in product(to.pool_words, flags, flags):
        yield _of_one_array(to.pool(call, word, own, ceil, other))
    fill, what = ("-np.inf", "minus infinity") if call.reduce == "max" else ("0", "zeros")
    target = _of_one_array(to.pool(call, "", nothing, False, False))
    target = replace(target, notes=(f"{target.name} has no such padding: {what} around the input first",))
    reached = [a.in_index(a.out_size - 1, a.filter_size - 1) + 1 - a.in_size for a in axes]
    more = "x = np.concatenate([x, np.ones_like(x[:1])])  # an image of ones, whose means divide the others"
    counted = own if call.divisor == "padded" else nothing
    for after in ([side for _, side in own], reached, [a.pad_after + a.stride - 1 for a in axes]):
        pads = tuple(
            (a.pad_before, max(last, side)) for a, (_, last), side in zip(axes, counted, after, strict=True)
        )
        wide = _for_all(target.layout, pads)
        yield replace(target, pad_input=wide, before=_pad(wide, fill))
        if call.reduce == "max":
            continue
        rest = [(b - d, a - c) for (b, a), (d, c) in zip(pads, counted, strict=True)]
        lines = (*_pad(_for_all(target.layout, counted)), more, *_pad(_for_all(target.layout, rest)))
        yield replace(target, pad_input=wide, before=lines, after=("y = y[:-1] / y[-1:]",))


def _for_all(layout: str, values: Any, rest: Any = (0, 0)) -> tuple[Any, ...]:
    """Extend values for the spatial axes to all axes."""
    given = iter(values)
    return tuple(next(given) if letter in "DHW" else rest for letter in layout)


def _pad(widths: Pads, fill: str = "0") -> tuple[str, ...]:
    """Return the line that pads x, or none."""
    return (f"x = np.pad(x, {widths}, constant_values={fill})",) if any(map(any, widths)) else ()


def _of_one_array(facts: tuple[Any, ...]) -> TargetCall:
    """Return a call of x that keeps its layout; arguments that are None are left out."""
    function, name, words, layout = facts
    return TargetCall(function, name, without_none(words), layout, layout, arrays=("x",))


def tensorflow_pool(call: PoolCall, word: str, pads: Pads, ceil: bool, other: bool) -> tuple[Any, ...]:
    """Return tf.nn.max_pool or tf.nn.avg_pool; only the maximum over two axes takes numbers."""
    g, is_max = call.geometry, call.reduce == "max"
    name = "max_pool" if is_max else "avg_pool"
    words = {
        "ksize": g.filters_shape[:-2],
        "strides": g.strides,
        "padding": word or (explicit(pads) if is_max and g.rank == 2 else "VALID"),
        "dilations": dilations_of(g),
    }
    return getattr(pooling, name), f"tf.nn.{name}", words, layout_of("input", g.rank)


def torch_pool(call: PoolCall, word: str, pads: Pads, ceil: bool, other: bool) -> tuple[Any, ...]:
    """Return F.max_pool2d, F.avg_pool2d, or those of another rank."""
    g, is_max = call.geometry, call.reduce == "max"
    name = f"{'max' if is_max else 'avg'}_pool{g.rank}d"
    divisor = call.divisor if call.reduce == "average" else 1
    words = {
        "kernel_size": g.filters_shape[:-2],
        "stride": g.strides,
        "padding": tuple(before for before, _ in pads) if some(pads) else None,
        "dilation": dilations_of(g),
        "ceil_mode": ceil or None,
        "count_include_pad": False if other else None,
        "divisor_override": divisor if isinstance(divisor, int) and not is_max and g.rank > 1 else None,
    }
    return getattr(torch, name), f"F.{name}", words, "NC" + "DHW"[-g.rank :]


def jax_pool(call: PoolCall, word: str, pads: Pads, ceil: bool, other: bool) -> tuple[Any, ...]:
    """Return jax.lax.reduce_window, which has sums in place of means."""
    g, is_max = call.geometry, call.reduce == "max"
    layout = layout_of("input", g.rank) if call.layout[-1] == "C" else "NC" + "DHW"[-g.rank :]
    dilations = dilations_of(g)
    words = {
        "init_value": 0.0 if not is_max else -inf if call.start is None else call.start,
        "computation": "max" if is_max else "add",
        "window_dimensions": _for_all(layout, g.filters_shape[:-2], 1),
        "window_strides": _for_all(layout, g.strides, 1),
        "padding": word or _for_all(layout, pads),
        "window_dilation": dilations and _for_all(layout, dilations, 1),
    }
    return jax.reduce_window, "jax.lax.reduce_window", words, layout


def onnx_pool(call: PoolCall, word: str, pads: Pads, ceil: bool, other: bool) -> tuple[Any, ...]:
    """Return the node of MaxPool or AveragePool."""
    g, is_max = call.geometry, call.reduce == "max"
    # with SAME and strides beyond the window onnxruntime takes negative pads
    by_word = word and all(axis.stride <= axis.filter_size for axis in g.axes)
    words = {
        "kernel_shape": list(g.filters_shape[:-2]),
        "strides": list(g.strides),
        "auto_pad": word if by_word else None,
        "pads": None if by_word else begins_then_ends(pads),
        "dilations": list(g.dilations) if max(g.dilations) > 1 else None,
        "ceil_mode": int(ceil) or None,
        "count_include_pad": int(other) or None,
    }
    function, name = (onnx.max_pool, "MaxPool") if is_max else (onnx.average_pool, "AveragePool")
    return function, name, words, "NC" + "DHW"[-g.rank :]


def keras_pool(call: PoolCall, word: str, pads: Pads, ceil: bool, other: bool) -> tuple[Any, ...]:
    """Return keras.ops.max_pool or keras.ops.average_pool."""
    g, name = call.geometry, "max_pool" if call.reduce == "max" else "average_pool"
    words = {
        "pool_size": g.filters_shape[:-2],
        "strides": g.strides,
        "padding": word or "valid",
        "dilation_rate": dilations_of(g),
        "data_format": "channels_last",
    }
    return getattr(keras, name), f"keras.ops.{name}", words, layout_of("input", g.rank)


def _pad_ways(call: PadCall, to: Target) -> Iterator[TargetCall]:
    """Yield the candidate for padding."""
    order, is_constant, first = [*range(len(call.sides))], call.mode == "constant", 0
    if to.of_tensors:  # F.pad pads all axes after the first, those after batch and channels for a mode
        order.sort(key=lambda axis: not is_constant and any(call.sides[axis]))
        padded = (place for place, axis in enumerate(order) if any(call.sides[axis]))
        first = min([*padded, len(order) - 1, *([] if is_constant else [2])])
    function, name, argument, number, sides, modes = to.pad
    pairs, layout = [list(call.sides[axis]) for axis in order], "".join(call.layout[axis] for axis in order)
    words = {argument: sides(pairs[first:]), "mode": modes.get(call.mode, call.mode)}
    words |= {number: call.value} if is_constant and call.value != 0 else {}
    yield _of_one_array((function, name, words, layout))


def _resize_ways(call: ResizeCall, to: Target) -> Iterator[TargetCall]:
    """Yield the candidates for a resize: with factors, which hold for all sizes, and then with sizes."""
    if not to.resize:
        return
    function, name, layout, arguments, ways = to.resize
    own = "".join(letter for letter in call.layout if letter not in "NC")
    layout = layout.format(own=own, all=call.layout)
    if sorted(layout) != sorted(call.layout):
        return
    axes = [axis for axis, letter in enumerate(layout) if letter in own]
    meant = {"{linear}": dict(enumerate(_LINEAR, 1)).get(len(own)), "{axes}": axes}
    for argument, words in product(arguments, ways):
        values = [float(n) for n in call.scales] if argument.startswith("scale") else call.output_shape
        numbers = [values[call.layout.index(letter)] for letter in (layout if argument == "shape" else own)]
        words = {word: meant.get(value, value) for word, value in words.items()}
        yield _of_one_array((function, name, {argument: numbers} | words, layout))


def _shuffle_ways(call: ShuffleCall, to: Target) -> Iterator[TargetCall]:
    """Yield the candidates for a shuffle of pixels."""
    for to_depth, function, name, argument, words, layout in to.shuffles:
        if to_depth == call.to_depth and sorted(layout) == sorted(call.layout):
            yield _of_one_array((function, name, {argument: call.block} | words, layout))


def _norm_ways(call: BatchNormCall, to: Target) -> Iterator[TargetCall]:
    """Yield the candidate for batch normalisation, which is one formula in all frameworks."""
    others = call.layout.replace("C", "")
    function, name, eps, arrays, layouts = to.norm
    layout = layouts.format(own=call.layout, first=others[:1], rest=others[1:])
    arrays = tuple(arrays.format(axis=call.axis).split())
    yield TargetCall(function, name, {eps: call.eps}, layout, layout, arrays=arrays)


def _adaptive_ways(call: AdaptiveCall, to: Target) -> Iterator[TargetCall]:
    """Yield the candidates for an adaptive pool."""
    spatial = "".join(letter for letter in call.layout if letter in "DHW")
    words = {"output_size": tuple(call.output_shape[axis] for axis in call.pooled)}
    for reduce, rank, function, name, layout in to.adaptive:
        own = layout.format(own=spatial)
        if (reduce, rank) == (call.reduce, len(spatial)) and sorted(own) == sorted(call.layout):
            yield _of_one_array((function, name, words, own))


def _no_ways(call: Any, to: Target) -> Iterator[TargetCall]:
    """Yield nothing: of patches of an image, the frameworks' functions order the cells differently."""
    yield from ()


_WAYS: dict[type, Callable[[Any, Target], Iterator[TargetCall]]] = {
    PoolCall: _pool_ways,
    AdaptiveCall: _adaptive_ways,
    PatchCall: _no_ways,
    PadCall: _pad_ways,
    BatchNormCall: _norm_ways,
    ResizeCall: _resize_ways,
    ShuffleCall: _shuffle_ways,
}

# ---------------------------------------------------------------------------------------------
# As text
# ---------------------------------------------------------------------------------------------

_NAMES = {
    PoolCall: "pool(x)",
    AdaptiveCall: "pool(x)",
    PadCall: "pad(x)",
    BatchNormCall: f"normalise(x, {', '.join(_CHANNELS)})",
    ResizeCall: "resize(x)",
    ShuffleCall: "shuffle(x)",
}
# arguments of a node that are inputs, with their types
_INPUTS = {
    "Pad": {"pads": "np.int64", "constant_value": "x.dtype"},
    "Resize": {"roi": "", "scales": "np.float32", "sizes": "np.int64"},
}


_OF_TENSORS = ("keras.ops.adaptive_average_pool",)  # which takes no array of NumPy's on TensorFlow


def write_window(call: Any, way: TargetCall) -> str:
    """Return the source text of ``pool(x)``, or of another function of x."""
    words = {name: Code(repr(value).replace("inf", "np.inf")) for name, value in way.arguments.items()}
    if "computation" in words and way.target.imports:
        words["computation"] = Code(f"jax.lax.{way.arguments['computation']}")
    if "shape" in words:  # of all axes; the code is for any number of images and channels
        sizes = enumerate(way.arguments["shape"])
        kept = (f"x.shape[{axis}]" if way.layout[axis] in "NC" else str(size) for axis, size in sizes)
        words["shape"] = Code(f"({', '.join(kept)})")
    inputs = _INPUTS.get(way.name, {})
    lines = [
        f"{name} = np.array({words.pop(name)}, {kind})" for name, kind in inputs.items() if name in words
    ]
    names = [name * (name in way.arguments) for name in inputs]  # "" for an input that is left out
    while names and not names[-1]:
        names.pop()
    arrays = (*way.arrays, *names)
    if way.name in _OF_TENSORS and way.target.imports:
        arrays = ("keras.ops.convert_to_tensor(x)",)
    lines += call_lines(call, replace(way, arguments=words, arrays=arrays))
    imports = ["import numpy as np", *way.target.imports]
    return "\n".join([*imports, "", "", *_function(call, way, lines), ""])


def _function(call: Any, way: TargetCall, section: list[str]) -> list[str]:
    """Return the lines of the function around those that call the framework."""
    have, want, is_pad = call.layout, way.layout, isinstance(call, PadCall)
    about = (
        "# x: in any layout; the sides are in the order of its axes"
        if is_pad
        else f"# x: {have}, as {call.function} has it"
    )
    lines = [about, *(f"# {note}" for note in way.notes)]
    if way.one_size:
        sizes = {i: n for i, n in enumerate(call.input_shape) if have[i] in "DHW"}
        shape = ", ".join(str(sizes.get(i, letter)) for i, letter in enumerate(have))
        lines += [
            f"if {' or '.join(f'x.shape[{i}] != {n}' for i, n in sizes.items())}:",
            f'    raise ValueError(f"made for x [{shape}]; got {{x.shape}}")',
        ]
    outer, spatial = _letters(have)
    back: list[str] = []
    if regular(call).layout != have:
        lines += [
            *transposed("x", have, outer + spatial),
            f"outer = x.shape[:{len(outer)}]",
            f"x = x.reshape(-1, 1, *x.shape[{len(outer)}:])"
            "  # all axes but those of the window are the batch",
        ]
        back = ["y = y.reshape(*outer, *y.shape[2:])", *transposed("y", outer + spatial, have)]
        have = f"NC{spatial}"
    lines += [*transposed("x", have, want), *way.before, *section, *way.after, *transposed("y", want, have)]
    lines = [part for line in [*lines, *back, "return y"] for part in folded(line)]
    return [f"def {_NAMES[type(call)]}:", *(f"    {line}" for line in lines)]
