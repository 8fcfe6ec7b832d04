"""How two layers differ: the facts of their calls, then their weights, in the words of the frameworks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import combinations, pairwise, product, takewhile
from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import to_dtype
from ...quantized.explaining import is_quantized
from ...support.errors import brief, is_one_of
from ...translation.targets import TARGETS
from ...translation.translating import translate_call
from ...verification.reports import DiffRow
from ...windows.calls import FUNCTIONS as WINDOWS
from ...windows.calls import bound_call
from ...windows.pooling import PoolCall
from ...windows.resizing import ResizeCall, ShuffleCall
from .. import definitions
from ..reading import LAYOUT, NORM, Layer
from .anchoring import difference, farthest, half_of_the_digits
from .judging import call_of, folded, judge, judged_call, of_shape, relayout

# what a fact is called in the frameworks' arguments
_WORDS = {
    "stride": ("stride", "strides"),
    "dilation": ("dilation", "dilations", "dilation_rate"),
    "padding": ("padding", "pads", "auto_pad", "output_padding"),
    "output_alignment": ("padding", "pads", "auto_pad", "output_padding"),
    "groups": ("groups", "group"),
    "window": ("kernel_size", "kernel_shape", "pool_size"),
    "divisor": ("count_include_pad", "divisor_override"),
    "ceil_mode": ("ceil_mode", "padding"),
    "eps": ("eps", "epsilon"),
    "slope": ("negative_slope", "alpha"),
    "high": ("max_value", "max_val", "max"),
    "low": ("min_val", "min"),
    "axis": ("axis", "dim"),
    "function": ("approximate",),
    "alpha": ("alpha", "beta", "lambd", "threshold"),
    "count": ("k",),
    "scale": ("size", "scale_factor"),
    "coordinates": (
        *("mode", "interpolation", "align_corners", "alignCorners"),
        *("coordinate_transformation_mode", "nearest_mode"),
    ),
}


class Found(NamedTuple):
    """Why two segments differ: a code, a sentence, and the two layers that do, with the second's inputs."""

    code: str
    words: str
    pair: tuple[Layer, Layer, list[np.ndarray]] | None = None


def reason_of_segment(ours: Sequence[Layer], theirs: Sequence[Layer]) -> Found:
    """Say why two segments differ: their layers are paired by what they are, in order."""
    if theirs and theirs[-1].framework == "arrays":
        folded_ours, _ = _with_norms_folded(ours, [])
        return _reason_of_array(next((a for a in reversed(folded_ours) if a.computes), None), theirs[-1])
    ours, theirs = map(_as_activations, _with_norms_folded(*_with_factors_as_norms(ours, theirs)))
    if found := _other_activation(ours, theirs) or _other_activation(theirs, ours):
        return found
    counts = [sum("convolution" in layer.op_type for layer in side) for side in (ours, theirs)]
    if counts[1] == 1 < counts[0] and (found := reason_of_segment(theirs, ours)).pair:
        return Found(found.code, f"of the first model, beside the second: {found.words}")
    if counts[0] == 1 and not any(map(_joins, ours)):
        theirs = _as_one(theirs)
    alone, rest, undecided = list[Layer](), [layer for layer in theirs if layer.computes], ""
    pairs, small = list[tuple[Layer, Layer]](), list[Found]()
    for a in (layer for layer in ours if layer.computes):
        b = next((b for b in rest if _family(a) == _family(b)), None)
        if b is None:
            alone.append(a)
        else:
            del rest[: rest.index(b)]
            rest.remove(b)
            pairs.append((a, b))
    alone += [b for b in theirs if b.computes and not any(b is other for _, other in pairs)]
    for a, b in pairs:
        if a.op is None or a.output is None or not b.inputs:
            undecided = undecided or f"no definition of {a.word} here"
            continue
        inputs, row = _beside(a, b, b)
        if row.passed is False or not row.compared and b.op is not None:
            return Found(*reason(a, b, inputs, row), (a, b, inputs))
        if row.passed and row.max_abs:  # within the bound for any order of summation
            small += [found for found in [Found(*reason(a, b, inputs, row), (a, b, inputs))] if found.code]
        undecided = undecided or row.note * (not row.compared)
    if alone:
        lone, named = alone[0], [[layer for layer in side if layer.computes] for side in (ours, theirs)]
        if len({tuple(sorted(map(_family, side))) for side in named}) == 1:
            one, other = (", ".join(layer.op_type for layer in side) for side in named)
            return Found(
                "order", f"the layers are in another order: {other}, where the first model has {one}"
            )
        other = "second" if any(lone is a for a in ours) else "first"
        return Found(
            "missing", f"the {other} model has no such layer: {lone} is {_with_article(lone.op_type)}"
        )
    if small or undecided:
        return (*small, Found("result", undecided))[0]
    ends = [_ends_of_moves(side) for side in (ours, theirs)]
    orders = [_channel_order(*pair) for pair in (ends, ends[::-1])]
    if all(orders) and orders[0] != orders[1]:
        words = f"{theirs[-1]} reads it as {orders[1]}, where {ours[-1]} has {orders[0]}"
        return Found("channel_order", f"the order of a channel's numbers is another: {words}")
    ways = [
        [
            f"{list(x.inputs[0].shape)} as {list(np.asarray(x.output).shape)}"
            for x in side
            if x.op_type == LAYOUT
        ]
        for side in (ours, theirs)
    ]
    words = ": the first model reads {}, the second {}".format(
        *(", ".join(w) or "all as it is" for w in ways)
    )
    more = words * (ways[0] != ways[1])
    return Found("moved", f"the layers compute the same, but what moves the numbers differs{more}")


def _beside(a: Layer, first: Layer, last: Layer) -> tuple[list[np.ndarray], DiffRow]:
    """Judge what layers of the second model return by the call of one of the first, in its layout.

    If the shapes are equal, the axes may be as they are, too.

    Returns:
        Their inputs as the first model's layer takes them, and the row.
    """
    assert a.output is not None
    found, is_alike = [], [x.shape for x in a.inputs] == [x.shape for x in first.inputs]
    for axis in dict.fromkeys((first.axis, a.axis) if is_alike else (first.axis,)):
        inputs = [relayout(x, axis, a.axis, a.inputs[0].ndim) for x in first.inputs]
        row = DiffRow(last.name, "", False)
        if last.output is not None:
            row = judge(a, inputs, relayout(last.output, axis, a.axis, a.output.ndim))
        found.append((inputs, row))
    return max(found, key=lambda each: (None, False, True).index(each[1].passed))


def _as_activations(part: Sequence[Layer]) -> Sequence[Layer]:
    """Return layers of which those that compute an activation together are one."""
    for start, stop in combinations(range(len(part)), 2):
        (first, *_, last), (x, *more), y = part[start : stop + 1], part[start].inputs, part[stop].output
        is_small = all(is_one_of(layer.op, _POINTWISE) for layer in part[start : stop + 1])
        function = _activation(x, y) if is_small and all(np.array_equal(x, each) for each in more) else ""
        if function:
            facts: dict[str, Any] = {
                "op_type": function.partition(" ")[0],
                "arguments": {"function": function},
                "said": {},
            }
            facts |= {"op": definitions.smooth, "inputs": (x,), "name": f"{first.name} + {last.name}"}
            return _as_activations([*part[:start], replace(last, **facts), *part[stop + 1 :]])
    return part


def _activation(x: np.ndarray, y: np.ndarray | None) -> str:
    """Return the activation that makes one array of another of its shape, or ""."""
    if y is None or y.size != x.size:
        return ""
    some = [np.ravel(array)[:: max(1, y.size // _SOME)] for array in (x, y)]
    apart = {
        name: farthest(some[1], definitions.smooth(some[0], function=name).value)
        for name in (*definitions.SMOOTH, *definitions.SCALED)
    }
    nearest = min(apart, key=lambda name: apart[name])
    return nearest if apart[nearest] <= half_of_the_digits(some[1]) else ""


def _other_activation(ours: Sequence[Layer], theirs: Sequence[Layer]) -> Found | None:
    """Say so if layers end in an activation, in whose place the others have another one, however written."""
    if not ours or not theirs:
        return None
    (*_, last), (*_, other), function = ours, theirs, ""
    is_one = (
        is_one_of(last.op, [definitions.smooth]) and last.arguments["function"] not in definitions.SOFTMAX
    )
    if is_one and _family(last) != _family(other) and last.output is not None and other.output is not None:
        end = relayout(other.output, other.axis, last.axis, last.output.ndim)
        function = _activation(last.inputs[0], end)
    if function in ("", last.arguments.get("function")):
        return None
    return Found(
        "op_type", f"{_with_article(function)} for {_with_article(last.op_type)}: {other} beside {last}"
    )


def _with_factors_as_norms(*sides: Sequence[Layer]) -> list[Sequence[Layer]]:
    """Write factors and summands of one side as the batch normalisation that the other one has."""
    has_norm = [any(layer.op_type == NORM for layer in side) for side in sides]
    return [
        side if own or not other else _with_norm(side)
        for side, own, other in zip(sides, has_norm, has_norm[::-1], strict=True)
    ]


def _with_norm(part: Sequence[Layer]) -> Sequence[Layer]:
    """Return layers of which the first ones that multiply by constants or add them are one normalisation."""
    at = [n for n, layer in enumerate(part) if _is_affine(layer)][:1]
    affine = [*takewhile(_is_affine, part[sum(at) :])]
    if not affine:
        return part
    x, axis = affine[0].inputs[0], affine[0].axis
    ends = []
    for end in (np.zeros(x.shape), np.ones(x.shape)):
        for layer in affine:
            end = definitions.pointwise(end, **layer.arguments).value
        ends.append(np.moveaxis(end, axis, -1).reshape(-1, x.shape[axis])[0])
    given = {"mean": 0 * ends[0], "variance": 1 + 0 * ends[0], "gamma": ends[1] - ends[0], "beta": ends[0]}
    facts: dict[str, Any] = {"op_type": NORM, "op": definitions.batch_norm, "inputs": (x,), "said": {}}
    name = " + ".join(dict.fromkeys([affine[0].name, affine[-1].name]))
    whole = replace(affine[-1], name=name, arguments={**given, "eps": 0.0, "axis": axis}, **facts)
    return [*part[: at[0]], whole, *part[at[0] + len(affine) :]]


def _is_affine(layer: Layer) -> bool:
    """Return whether a layer multiplies by a constant, or adds one."""
    is_one = is_one_of(layer.op, [definitions.pointwise]) and len(layer.inputs) == 1
    return is_one and layer.op_type in _AFFINE and "constants" in layer.arguments


_AFFINE = "add", "subtract", "multiply", "divide"


_SOME = 256  # numbers of an activation are looked at
_POINTWISE = definitions.pointwise, definitions.smooth, definitions.clip


def _as_one(part: Sequence[Layer]) -> Sequence[Layer]:
    """Return layers of which neighbouring convolutions, and what joins them, are one without arguments."""
    at = [n for n, layer in enumerate(part) if "convolution" in layer.op_type][:1]
    merged = list(takewhile(lambda layer: "convolution" in layer.op_type or _joins(layer), part[sum(at) :]))
    if not at or len(merged) < 2:
        return part
    first, last = part[0] if part[0].op_type == LAYOUT else merged[0], merged[-1]  # a Split before them
    facts: dict[str, Any] = {"op_type": merged[0].op_type, "inputs": first.inputs, "axis": merged[0].axis}
    whole = replace(last, **facts, pads=(), op=None, arguments={}, said={})
    return [*part[: at[0]], whole, *part[at[0] + len(merged) :]]


def _joins(layer: Layer) -> bool:
    """Return whether a layer makes one array of the results of several."""
    return layer.op_type in ("concatenate", "add") and len(layer.inputs) > 1


def _ends_of_moves(part: Sequence[Layer]) -> list[np.ndarray]:
    """Return what the layers that only move numbers get, and what they return; or nothing."""
    moving = [layer for layer in part if layer.op_type == LAYOUT]
    return [moving[0].inputs[0], np.asarray(moving[-1].output)] if moving else []


def _channel_order(ends: list[np.ndarray], others: list[np.ndarray]) -> str:
    """Return ONNX's name for the order in which layers read channels as blocks of pixels, or "".

    DCR has the block's rows and columns first in a channel's number, CRD last. A shuffle that is written by
    hand permutes six axes, which are those of the other model's shuffle.
    """
    sizes = [[each.size for each in side] for side in (ends, others)]
    by_hand = [each.ndim for each in ends] == [6, 6] and sizes[0] == sizes[1]
    for axis, there in product((1, -1), (1, -1)):  # the other model may have its channels elsewhere
        shapes = [np.moveaxis(other, there, axis).shape for other in others] if by_hand else []
        arrays = [end.reshape(shape) for end, shape in zip(ends, shapes, strict=True)] if by_hand else ends
        if [array.ndim for array in arrays] != [4, 4]:
            continue
        moved = [np.moveaxis(array, axis, -1) for array in arrays]
        deep, wide = sorted(moved, key=lambda array: array.shape[1])
        for order in ("DCR", "CRD") if deep.size == wide.size else ():
            shuffle = ShuffleCall("", deep.shape, "NHWC", wide.shape[1] // max(1, deep.shape[1]), order)
            if shuffle.block > 1 and np.array_equal(shuffle(deep), wide):
                return order
    return ""


def _reason_of_array(a: Layer | None, b: Layer) -> Found:
    """Say why an array is not what a layer computes from what is equal before it."""
    row = DiffRow(b.name, "", None)
    if a is not None and a.op is not None and a.output is not None and b.output is not None:
        row = judge(a, a.inputs, of_shape(b.output, a.output.shape))
    if row.diagnosis is None:
        return Found("result", f"the array holds other numbers{_farthest_cell(a, b)}")
    return Found(row.diagnosis.code, f"the array is {row.diagnosis.sentence}")


def _farthest_cell(a: Layer | None, b: Layer) -> str:
    """Say where an array is how far from what a layer returns, or that the shapes differ."""
    if a is None or a.output is None or b.output is None:
        return ""
    other = of_shape(b.output, a.output.shape)
    if other.squeeze().shape != a.output.squeeze().shape:
        return f", of shape {list(other.shape)}, where {a} returns {list(a.output.shape)}"
    apart = difference(a.output, other.reshape(a.output.shape))
    at = tuple(map(int, np.unravel_index(np.argmax(apart), apart.shape)))
    return f", up to {apart.max(initial=0.0):.3g} from those of {a}, in its cell {[*at]}"


def without_effect(ours: Sequence[Layer], theirs: Sequence[Layer]) -> str:
    """Say so if segments that agree have other weights in their one layer that has any, else return ""."""
    sides = [[layer for layer in side if layer.computes] for side in _with_norms_folded(ours, theirs)]
    words = [[layer.op_type for layer in side] for side in sides]
    for a, b in zip(*sides, strict=True) if words[0] == words[1] else ():
        if is_quantized(a.op) and is_quantized(b.op):  # other integers may be rounded to the same ones
            facts = [_facts(layer, layer.inputs[0]) for layer in (a, b)]
            names = [name for name in facts[0] if not _same(facts[0][name], facts[1].get(name))]
            said = [f"{_said(b, names, facts[1])}, where {_said(a, names, facts[0])}"] * bool(names)
            if said := [*said, *_other_weights(a, b, [*b.inputs])]:
                return f"equal on these inputs; {'; '.join(said)}"
    weighted = [[layer for layer in side if layer.weights is not None] for side in sides]
    plain = {"relu", "max pool", "add", "concatenate", *(layer.op_type for layer in weighted[0])}
    if words[0] != words[1] or not {*words[0]} <= plain or len(weighted[0]) != len(weighted[1]):
        return ""
    found = [words for pair in zip(*weighted, strict=True) for words in _other_by_value(*pair)]
    # where those of two layers differ, a factor may have moved from the one to the other
    return f"equal on these inputs; {found[0]}" if len(found) == 1 else ""


def _other_by_value(a: Layer, b: Layer) -> Iterator[str]:
    """Say by how much the weights of layers differ, in whatever order they are, if they do."""
    for pair in zip(*(_weights(layer, layer.inputs[0]).values() for layer in (a, b)), strict=False):
        one, other = (np.zeros(1) if array is None else array for array in pair)  # without a bias it is 0
        if (
            isinstance(one, np.ndarray)
            and isinstance(other, np.ndarray)
            and len({one.size, other.size, 1}) < 3
        ):
            apart = np.abs(np.sort(one, None) - np.sort(other, None)).max(initial=0.0)
            if apart > _ALIKE * max(np.abs(one).max(initial=0.0), np.abs(other).max(initial=0.0)):
                yield f"the weights of {b} differ by up to {apart:.3g}"
                return


_ALIKE = 1e-4  # how far weights may be apart, relative to the largest: a file may hold fewer digits


def _weights(layer: Layer, x: np.ndarray) -> Mapping[str, Any]:
    """Return the arguments of a layer; of a convolution its weights, batch normalisation folded in."""
    with suppress(TypeError, ValueError):  # of an input that it refuses
        if "convolution" in layer.op_type and layer.op is not None and not is_quantized(layer.op):
            call = call_of(layer, layer.around(x))
            return {"filters": call.second, "bias": call.bias}
    return _given(layer)


def _family(layer: Layer) -> str:
    """What layers must have in common to belong together."""
    return _FAMILIES.get(layer.op_type, layer.op_type)


_FAMILIES = {
    **dict.fromkeys(("instance norm", "layer norm", "group norm", "rms norm"), "norm"),
    "transposed convolution": "convolution",
    **dict.fromkeys(("max pool", "average pool", "adaptive pool", "mean", "sum", "max", "min"), "pool"),
    **{
        name.partition(" ")[0]: "activation"
        for name in ("relu", *definitions.SOFTMAX, *definitions.SMOOTH, *definitions.SCALED)
    },
}


def _with_norms_folded(*sides: Sequence[Layer]) -> list[list[Layer]]:
    """Fold batch normalisation that one side lacks into the convolution before it."""
    found = [list(side) for side in sides]
    count = [sum(layer.op_type == NORM for layer in side) for side in found]
    for side, many, few in zip(found, count, count[::-1], strict=True):
        for conv, norm in pairwise(list(side)):
            if many > few and norm.op_type == NORM and "convolution" in conv.op_type:
                side[[*map(id, side)].index(id(conv))] = folded(conv, norm)
                side[:] = [layer for layer in side if layer is not norm]
                many -= 1
    return found


def reason(a: Layer, b: Layer, inputs: list[np.ndarray], row: DiffRow) -> tuple[str, str]:
    """Say why the second layer's result is not what the first would compute from the second's input.

    Args:
        a: the first model's layer.
        b: the second model's.
        inputs: the second's, as the first takes them.
        row: the second's result, judged by the first's call.

    Returns:
        A code, and a sentence.
    """
    if a.op_type != b.op_type:
        return "op_type", f"{_called(b)} for {_called(a)}: {b} beside {a}"
    if not inputs:  # of a node that did not run, nor what is before it
        return "", "it got no input"
    shapes = [[list(x.shape) for x in side] for side in (a.inputs, inputs)]
    if row.note and not row.compared and shapes[0] != shapes[1]:
        order = " (another order of axes)" * ([*map(sorted, shapes[0])] == [*map(sorted, shapes[1])])
        return "shape", f"the shapes differ: {b} takes {shapes[1]}, where {a} takes {shapes[0]}{order}"
    ours, theirs = _facts(a, inputs[0]), _facts(b, b.inputs[0])
    differing = [name for name in ours if name in theirs and not _same(ours[name], theirs[name])]
    is_rewritten = differing or np.asarray(a.output).size != np.asarray(b.output).size
    own = _with_weights_of(a, b) if is_rewritten else None
    if own is not None and own.passed is False:  # the weights differ, however the geometry is written
        row, differing = own, []
    if differing:
        return _differing(a, b, differing, ours, theirs, row)
    if row.diagnosis is not None:
        sentence = row.diagnosis.sentence
        return row.diagnosis.code, f"its result is {sentence}" if sentence.startswith("equal") else sentence
    if words := _factor(a, b, inputs):
        return "scale_and_shift", words
    if words := "; ".join(_other_weights(a, b, inputs)):
        one, other = (_weights(*pair).get("filters") for pair in ((a, inputs[0]), (b, b.inputs[0])))
        halves = [name for name in ("float16", "bfloat16") if _is_rounded(one, other, name)]
        return f"rounded({halves[0]})" if halves else "weights", words
    return "", row.note or "its result differs, and nothing explains it"


def _called(layer: Layer) -> str:
    """Return what a layer is, with its article."""
    name = {"max pool": "maximum", "average pool": "average"}.get(layer.op_type, layer.op_type)
    if is_one_of(layer.op, [definitions.reduced]):
        name += f" over axis {_facts(layer, layer.inputs[0])['axis']}"
    return _with_article(name)


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {_NOUNS.get(name, name)}"


# what layers are called whose function is a verb
_NOUNS = {"add": "addition", "subtract": "subtraction", "multiply": "multiplication", "divide": "division"}


def _given(layer: Layer) -> dict[str, Any]:
    """Return the arguments of a layer, and those that its definition has by itself."""
    function = str(layer.arguments.get("function"))
    usual = {
        "alpha": definitions.USUAL.get(function),
        "axis": -1 if function in definitions.SOFTMAX else None,
    }
    usual["slope"] = 0.0 if is_one_of(layer.op, [definitions.clip]) else None
    given = {name: value for name, value in usual.items() if value is not None} | dict(layer.arguments)
    constants = given.pop("constants", {})
    if constants and layer.op_type not in _IN_ANY_ORDER:
        given["place"] = min(constants)
    return given | {f"constant{n or ''}": value for n, value in enumerate(constants.values())}


_IN_ANY_ORDER = ("add", "multiply", "minimum", "maximum")


_OVER_AXES = definitions.smooth, definitions.reduced, definitions.concatenate, definitions.ordered


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):  # of fewer axes where one is added, as for a 1D convolution
        count = min(len(one), len(other))
        return bool(one[len(one) - count :] == other[len(other) - count :])
    # a file may hold a number in fewer digits
    return bool(np.float32(one) == np.float32(other) if isinstance(one, float) else one == other)


def _facts(layer: Layer, x: np.ndarray) -> dict[str, Any]:
    """What a layer computes, in the same words for all frameworks, without channels and sizes."""
    facts: dict[str, Any]
    if layer.op is None or is_quantized(layer.op) or layer.op.__module__ == definitions.__name__:
        given, channels = _given(layer), layer.axis % max(1, x.ndim)
        facts = {name: value for name, value in given.items() if isinstance(value, (int, float, str))}
        facts.pop("axis", None)
        if is_one_of(layer.op, _OVER_AXES):  # the channels count as the last
            over = np.ravel(given.get("axis", given.get("axes", ())))
            order = [*(axis for axis in range(x.ndim) if axis != channels), channels]
            facts["axis"] = [order.index(int(axis) % max(1, x.ndim)) for axis in over]
        return facts
    try:
        if is_one_of(layer.op, WINDOWS):
            call = bound_call(layer.op, (layer.around(x),), dict(layer.arguments))[0]
            if isinstance(call, ResizeCall):
                facts = {"coordinates": f"{call.coordinates.removeprefix('pytorch_')}, {call.reads}"}
                pairs = zip(call.layout, call.scales, strict=True)
                scales = [round(float(scale), 5) for letter, scale in pairs if letter not in "NC"]
                return facts if call.coordinates == "align_corners" else facts | {"scale": scales}
            if not isinstance(call, PoolCall):
                return {}
            axes, window = call.spatial, tuple(axis.filter_size for axis in call.spatial)
            padded = any(axis.pad_before or axis.pad_after for axis in axes)  # else it makes no difference
            facts = {"window": window} | ({"divisor": call.divisor} if padded else {})
        else:
            call = call_of(layer, layer.around(x))
            axes, facts = call.geometry.axes, {"groups": call.geometry.groups}
    except (TypeError, ValueError):
        return {}
    facts |= {
        "stride": tuple(a.stride for a in axes),
        "dilation": tuple(a.dilation for a in axes),
    }
    if layer.op_type.startswith("transposed"):
        return facts | {"output_alignment": tuple(axis.pad_before for axis in axes)}
    outer = (layer.pads[2:] if layer.axis == 1 else layer.pads[1:-1]) or ((0, 0),) * len(axes)
    padding = [  # behind only what is read, which a stride may leave out
        (a.pad_before + before, min(a.pad_after, a.full_size - a.in_size - a.pad_before) + after)
        for a, (before, after) in zip(axes, outer, strict=True)
    ]
    return facts | {"padding": tuple(padding)}


def _with_weights_of(a: Layer, b: Layer) -> DiffRow | None:
    """Judge the second layer's result by its own call with the first's weights; None if they do not fit."""
    with suppress(AssertionError, AttributeError, TypeError, ValueError):  # if it is not a convolution
        one, two = (call_of(layer, layer.around(layer.inputs[0])) for layer in (a, b))
        shapes = [[size for size in call.second.shape if size > 1] for call in (one, two)]
        if b.output is not None and shapes[0] == shapes[1]:  # of a 1D convolution, too, in an axis of one
            filters = one.second.reshape(two.second.shape)
            return judged_call(replace(two, second=filters, bias=one.bias), b, b.output)
    return None


def _differing(
    a: Layer, b: Layer, names: list[str], ours: Mapping[str, Any], theirs: Mapping[str, Any], row: DiffRow
) -> tuple[str, str]:
    """Return the name of a difference of facts, as of a diagnosis where there is one, and a sentence."""
    names = ["coordinates"] if "coordinates" in names else names
    code = "_and_".join(name for name in names if name != "padding" or len(names) == 1)
    words = f"another {code.replace('_and_', ' and ').replace('_', ' ')}"
    if names == ["padding"] and [sum(pair) for pair in ours["padding"]] == [
        sum(pair) for pair in theirs["padding"]
    ]:
        code, words = "padding_side", "the padding is on the other side"
    elif names == ["coordinates"] and row.diagnosis is not None:
        code, words = row.diagnosis.code, f"its result is {row.diagnosis.sentence}"
    return code, f"{words}: {_said(b, names, theirs)}, where {_said(a, names, ours)}"


def _said(layer: Layer, names: list[str], facts: Mapping[str, Any]) -> str:
    """Return a layer's arguments in its framework's words, and what they mean."""
    texts = []
    for name in names:
        words = [word for word in _WORDS.get(name, ()) if layer.said.get(word) is not None]
        said = ", ".join(f"{word}={brief(layer.said[word])}" for word in words)
        fact = f"{name} {brief(facts[name])}" if name != "padding" else f"of which it reads {facts[name]}"
        plain = len(words) == 1 and brief(layer.said[words[0]]) == brief(facts[name])
        texts.append(said if plain else f"{said} ({fact})" if said else fact)
    return f"{layer} has {', '.join(texts)}".replace("has of which it reads", "reads padding")


def _factor(a: Layer, b: Layer, inputs: list[np.ndarray]) -> str:
    """Say so if all weights differ by one factor, and all biases by that and one number."""
    pair = _weights(a, inputs[0]), _weights(b, b.inputs[0])
    w, v = (np.asarray(weights.get("filters", 0.0), float) for weights in pair)
    if w.shape != v.shape or not w.any():
        return ""
    factor = float(np.vdot(w, v) / np.vdot(w, w))
    one, other = (0.0 if weights.get("bias") is None else weights["bias"] for weights in pair)
    shift = np.ravel(other - np.multiply(factor, one))
    if (
        abs(factor - 1) < _ALIKE
        or np.abs(v - factor * w).max() > _ALIKE * np.abs(v).max()
        or np.ptp(shift) > _ALIKE
    ):
        return ""
    is_gate = (round(factor, 3), round(float(shift[0]), 3)) == (0.2, 0.5)
    hint = ": the hard sigmoid of Keras 2 is 0.2 x + 0.5, that of Keras 3 x / 6 + 0.5" * is_gate
    return f"its result is equal when it is multiplied by {factor:.4g} and increased by {shift[0]:.4g}{hint}"


def _other_weights(a: Layer, b: Layer, inputs: list[np.ndarray]) -> Iterator[str]:
    """Say which weights differ, and by how much."""
    ours, theirs = _weights(a, inputs[0]), _weights(b, b.inputs[0])
    for name in [name for name in ours if name in theirs]:
        pair = [np.float64(name == "gamma") if each is None else each for each in (ours[name], theirs[name])]
        one, other = map(np.squeeze, pair)
        if any(isinstance(each, np.ndarray) for each in pair) and len({one.shape, other.shape, ()}) < 3:
            apart = np.abs(np.subtract(one, other, dtype=float))
            if not apart.max() <= _ALIKE * np.abs(one).max():
                yield f"another {name}: {b} differs from {a} by up to {apart.max():.3g}"


def _is_rounded(ours: Any, theirs: Any, dtype: str) -> bool:
    """Return whether filters are those of another model, rounded to a type."""
    return ours is not None and np.array_equal(np.asarray(ours).astype(to_dtype(dtype)), theirs)


def mended_call(a: Layer, b: Layer, inputs: list[np.ndarray]) -> str:
    """Return source text for the second framework that computes the first layer, or "" if there is none."""
    to = TARGETS.get("keras" if b.framework == "teachconv" else b.framework)
    if to is None or a.op is None:
        return ""
    for any_size in (True, False):
        try:
            return translate_call(a.op, (a.around(inputs[0]),), dict(a.arguments), to, any_size).code
        except (TypeError, ValueError):
            continue
    return ""
