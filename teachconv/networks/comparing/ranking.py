"""Which layer's quantization hurts? A float network beside its quantized copy.

The two networks are equal in no layer. So each quantized activation is matched with the float layer's result
that it resembles most. Then the float network runs with quantized activations in place of its own results:
with all of them, which shows what each layer adds to the error, and for each layer with all but its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np

from ...support import tables
from ...support.errors import ArgumentError, brief
from ...support.progress import say
from ..formula_calls import arrays_in
from ..reading import LAYOUT, NORM, STORED, Layer, quantization_of
from ..walking import INPUT, Network, framework_of, returned_by
from .anchoring import Arrange, views
from .judging import relayout
from .spreading import chosen, closure, output_of

_ALIKE = 0.5  # the least likeness of a layer's result and its quantized activation
_SOME = 4096  # numbers are compared
_MOST = 48  # layers are put into float alone
_ROUNDED = 0.5  # steps: a larger error does not come from rounding the result


@dataclass(frozen=True, eq=False)
class QuantizedLayer:
    """A layer of a float network, and what its quantization costs.

    Attributes:
        name: the layers that end in one quantized activation, as the float network names them, with " + "
            between.
        tensor: the quantized activation, as the other network names it.
        op_type: what the last of the layers is.
        scale: of the activation: the real number that a step stands for.
        zero_point: the integer that stands for 0.
        rms_steps: the root mean square of the layer's own error, in steps: of what it adds to the errors of
            its inputs. Rounding alone gives 0.29.
        most_steps: the largest own error, in steps.
        sqnr: the signal to quantization noise ratio of the own error in dB: 10 log10 of the sum of squares of
            the float results over that of the errors.
        total_sqnr: the same for all errors up to this layer, its own and those before.
        saturated: the share of cells that hold the largest or the smallest integer although the float result
            is more than half a step beyond it.
        share: which part of the output's error is gone if this layer alone is computed in float; None if that
            was not computed.
        code: "saturation", "scale", "weights", "arithmetic" or "rounding".
        reason: where most of the own error comes from, as a sentence.
    """

    name: str
    tensor: str
    op_type: str
    scale: float
    zero_point: int
    rms_steps: float
    most_steps: float
    sqnr: float
    total_sqnr: float
    saturated: float
    share: float | None = None
    code: str = ""
    reason: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class QuantizedComparison(tables.Report):
    """The layers of a float network by what their quantization costs, the worst first.

    Attributes:
        frameworks: of the float network and of the quantized one.
        layers: a `QuantizedLayer` for each quantized activation that was matched, the largest share first.
        sqnr: the ratio of signal to error of what the networks return, in dB.
        unmatched: the quantized activations that resemble no layer's result.
        passed: None: a quantized network does not equal its original; how near it must be is yours to say.

    >>> import numpy as np, teachconv as tc
    >>> from teachconv import keras
    >>> model = keras.Sequential([keras.Input((4,)), keras.layers.ReLU(name="relu")])
    >>> x = np.float32([[1, 2, -1, 8]])
    >>> node = {"name": "q", "framework": "onnx", "word": "QuantizeLinear", "kwargs": {}, "input": x}
    >>> arguments = [np.maximum(x, 0), np.float32(1), np.int8(123)]       # 123 stands for 0, and 127 for 4
    >>> copy = [node | {"args": arguments, "output": np.int8([[124, 125, 123, 127]])}]
    >>> worst = tc.compare(model, copy, x).layers[0]
    >>> worst.name, worst.code, worst.saturated, worst.most_steps
    ('relu', 'saturation', 0.25, 4.0)
    """

    frameworks: tuple[str, str]
    layers: tuple[QuantizedLayer, ...]
    sqnr: float
    unmatched: tuple[str, ...] = ()
    passed: bool | None = None

    def _headline(self) -> str:
        worst = self.layers[0]
        share = worst.share or 0.0
        gone = f", in float it would take away {share:.0%} of the output's error" * bool(share)
        return (
            f"the quantization of layer {worst.name!r} costs most{gone}: {worst.reason}; "
            f"SQNR of the output {tables.number(self.sqnr)} dB"
        )

    def _table(self) -> tables.Table:
        rows = [
            (
                row.name,
                row.op_type,
                "" if row.share is None else f"{tables.number(round(100 * row.share))}%",
                *map(tables.number, (row.sqnr, row.total_sqnr, row.rms_steps, row.most_steps)),
                f"{tables.number(100 * row.saturated)}%",
                row.code,
            )
            for row in self.layers
        ]
        left = sum(row.share is None for row in self.layers)
        notes = [
            "share: of the output's error that is gone if this layer alone is in float; SQNR: of the layer's "
            "own error, and of all errors up to it; steps: of the own error, root mean square and largest",
            *[f"the {_MOST} layers with the lowest SQNR were put into float; {left} have no share"]
            * bool(left),
            *[f"not matched: {', '.join(map(repr, self.unmatched))}"] * bool(self.unmatched),
            *(f"{row.name}: {row.reason}" for row in self.layers[1:] if row.code != "rounding"),
        ]
        numbers = tables.right("share", "SQNR", "so far", "steps", "largest", "saturated")
        columns = (*tables.left(f"layer ({self.frameworks[0]})", "type"), *numbers, *tables.left(""))
        return tables.Table(columns, rows, self._headline(), notes)


def _real(integers: Any, scale: float, zero: int) -> np.ndarray:
    return (np.asarray(integers, np.float64) - zero) * scale


class Tensor(NamedTuple):
    """A quantized activation: its integers, what they stand for, and the layer that computes it."""

    name: str
    integers: np.ndarray
    scale: float
    zero: int
    layer: Layer

    def real(self, integers: Any) -> np.ndarray:
        """Return the numbers that integers stand for."""
        return _real(integers, self.scale, self.zero)

    @property
    def limits(self) -> np.ndarray:
        """The smallest and the largest integer."""
        limits = np.iinfo(self.integers.dtype)
        return np.array([limits.min, limits.max])


def ranked(first: Network, second: Network) -> QuantizedComparison:
    """Return the layers of a float network by what their quantization in a second network costs."""
    if framework_of(first.model) == "recording":
        raise ArgumentError("a must be a model: it runs again on the numbers of b, which a recording cannot")
    if error := second.calls[-1].get("error"):
        raise ArgumentError(f"b must run to its end; {error}")
    found, matches = _tensors(second), dict[int, Tensor]()
    for tensor in found:
        if not 0 < tensor.scale < np.inf:
            name = brief(tensor.name)
            raise ArgumentError(f"b must have positive and finite scales; that of {name} is {tensor.scale}")
    ends = [n for n, layer in enumerate(first.layers) if layer.op_type != LAYOUT and layer.output is not None]
    results = {number: output_of(first, number) for number in (INPUT, *ends)}
    while matches.keys() < (more := _matched(first, results, found)).keys():
        matches = more
        real = {number: tensor.real(tensor.integers) for number, tensor in matches.items()}
        say("running the first model on the second's numbers")
        every = first.run_with(real, {})
        # these resemble the second's also behind an activation that does not
        results = {number: _own_result(first, every, number) for number in results}
    if not matches:
        raise ArgumentError("b must be the quantized copy of a; no activation of b resembles a result of a")
    errors = {n: array - results[n] for n, array in real.items()}
    rows = {n: _row(first, matches, n, results[n], errors[n]) for n in real}
    whole = _distance(first, every)
    for number in sorted(rows, key=lambda n: rows[n].sqnr)[: _MOST * bool(whole)]:
        say(f"running with {rows[number].name} alone in float")
        before = {n: array for n, array in real.items() if n < number}
        alone = first.run_with(before, {n: error for n, error in errors.items() if n > number})
        rows[number] = replace(rows[number], share=1 - _distance(first, alone) / whole)
    order = sorted(rows.values(), key=lambda row: -np.inf if row.share is None else row.share, reverse=True)
    matched = [tensor.name for tensor in matches.values()]
    unmatched = (tensor.name for tensor in found if tensor.name not in matched)
    frameworks = first.framework, second.framework
    return QuantizedComparison(frameworks, (*order,), _sqnr_of_output(first, second), (*unmatched,))


def decibels(signal: np.ndarray, error: np.ndarray) -> float:
    """Return 10 log10 of the sum of squares of a signal over that of an error.

    >>> decibels(np.array([3.0, 4.0]), np.array([0.3, 0.4])), decibels(np.ones(2), np.zeros(2))
    (20.0, inf)
    """
    noise = float(np.square(error, dtype=np.float64).sum())
    return float(10 * np.log10(np.square(signal, dtype=np.float64).sum() / noise)) if noise else np.inf


# ---------------------------------------------------------------------------------------------
# Which activation belongs to which layer
# ---------------------------------------------------------------------------------------------


def _tensors(network: Network) -> list[Tensor]:
    """Return the quantized activations of a network, an input of integers too."""
    start = network.layers[0]
    own = quantization_of(network.calls[start.call], 0) if network.x.dtype in STORED else None
    found = [Tensor("the input", network.x, *own, replace(start, op_type="input"))] if own else []
    for layer in network.layers:
        if layer.quantization and layer.op_type != LAYOUT and layer.output is not None:
            source = layer  # in ONNX, clamping and rounding are layers of their own
            while source.word in ("QuantizeLinear", "Relu", "Clip") and {*source.makers[0]} - {INPUT}:
                source = network.layers[source.makers[0][-1]]
            found.append(Tensor(layer.name, layer.output, *layer.quantization, source))
    return found


def _matched(network: Network, results: Mapping[int, np.ndarray], found: list[Tensor]) -> dict[int, Tensor]:
    """Return the activations by the numbers of their layers, in the layout of these layers' results."""
    ways: list[tuple[float, int, int, Arrange]] = []
    for number, one in results.items():
        same = [at for at, tensor in enumerate(found) if tensor.integers.size == one.size > 0]
        ways += [(likeness, number, at, view) for at in same for likeness, view in _alike(one, found[at])]
    # of layers that it resembles as much, the last is the activation's: a ReLU, not the convolution before it
    ways.sort(key=lambda way: way[:3], reverse=True)
    matches, taken = dict[int, Tensor](), set[int]()
    for _, number, at, view in (*ways, *_by_order(network, found)):
        if number not in matches and at not in taken:
            taken.add(at)
            integers = view(found[at].integers).reshape(output_of(network, number).shape)
            matches[number] = found[at]._replace(integers=integers)
    return dict(sorted(matches.items()))


def _alike(one: np.ndarray, tensor: Tensor) -> Iterator[tuple[float, Arrange]]:
    """Yield how much an activation resembles an array, 1 for equal numbers, in the layouts where it does.

    The array is clamped as the activation is: one that saturates still resembles what is right. The measure
    is the concordance correlation of L. I-K. Lin, Biometrics 45 (1989).
    """
    places = np.random.default_rng(0).integers(0, one.size, min(_SOME, one.size))
    some = one.ravel()[places].astype(np.float64).clip(*tensor.real(tensor.limits))
    for view in views(one.shape, tensor.integers.shape, likely=True):
        values = view(tensor.integers)
        few = tensor.real(values[np.unravel_index(places, values.shape)])
        spread = some.var() + few.var() + (some.mean() - few.mean()) ** 2
        likeness = round(2 * float(np.cov(some, few, bias=True)[0, 1] / spread), 2)
        if likeness >= _ALIKE:  # not NaN
            yield likeness, view


def _by_order(network: Network, found: list[Tensor]) -> Iterator[tuple[float, int, int, Arrange]]:
    """Yield the convolutions of two networks that have as many in pairs, for numbers that are destroyed.

    Of the float network it is the last of the layers that an exporter fuses into the convolution.
    """
    layers = network.layers
    ours = [n for n, layer in enumerate(layers) if "convolution" in layer.op_type]
    theirs = [at for at, tensor in enumerate(found) if "convolution" in tensor.layer.op_type]
    for number, at in zip(ours, theirs, strict=False) if len(ours) == len(theirs) else ():
        behind = takewhile(lambda n: layers[n].op_type in ("relu", NORM), range(number + 1, len(layers)))
        number = max(behind, default=number)
        shape, axes = output_of(network, number).shape, (found[at].layer.axis, layers[number].axis)
        if np.prod(shape) == found[at].integers.size:
            yield 0.0, number, at, partial(relayout, axis=axes[0], to=axes[1], rank=len(shape))


# ---------------------------------------------------------------------------------------------
# What the quantization of a layer costs, and why
# ---------------------------------------------------------------------------------------------


def _own_result(network: Network, recording: Any, number: int) -> np.ndarray:
    """Return what a layer computed in another run, also if another array took the place of its result."""
    plain = output_of(network, number)
    entry = {"output": plain} if number == INPUT else recording[network.layers[number].call]
    return np.asarray(entry.get("computed", entry["output"]).reshape(plain.shape), np.float64)


def _distance(network: Network, recording: Any) -> float:
    """Return how far what another run returned is from what the network returns, all arrays together."""
    theirs = arrays_in([value for _, value in returned_by(recording)])
    return float(np.sqrt(sum(np.square(x - y).sum() for x, y in zip(network.outputs(), theirs, strict=True))))


def _sqnr_of_output(first: Network, second: Network) -> float:
    """Return the ratio of signal to error of what the second network returns."""
    theirs = list[np.ndarray]()
    for value, makers in second.returned.values():
        facts = second.layers[makers[-1]].quantization if makers and makers[-1] != INPUT else None
        theirs += arrays_in([_real(value, *facts) if facts else value])
    ours, theirs = (sorted(side, key=np.size) for side in (first.outputs(), theirs))
    if [*map(np.size, ours)] != [*map(np.size, theirs)]:
        shapes = ([list(np.shape(each)) for each in side] for side in (ours, theirs))
        raise ArgumentError("a and b must return arrays of the same sizes; got {} and {}".format(*shapes))
    signal, noisy = (np.concatenate([*map(np.ravel, side)]) for side in (ours, map(_nearest, ours, theirs)))
    return decibels(signal, noisy - signal)


def _nearest(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return their array in the layout that is nearest to ours: a file's channels may be at either end."""
    ways = (view(theirs).reshape(ours.shape) for view in views(ours.shape, theirs.shape, likely=True))
    return min(ways, key=lambda way: float(np.square(way - ours, dtype=np.float64).sum()))


def _row(
    network: Network, matches: Mapping[int, Tensor], number: int, right: np.ndarray, error: np.ndarray
) -> QuantizedLayer:
    """Return the row of a layer.

    Args:
        network: the float network.
        matches: the activations of its layers.
        number: of the layer, or `INPUT`.
        right: what the layer computes from quantized activations.
        error: how far its quantized activation is from that.
    """
    tensor, part = matches[number], list[Layer]()
    if number != INPUT:
        known = {INPUT: None, **dict.fromkeys(matches)}
        makers = [maker for each in network.layers[number].makers for maker in chosen(each, known)]
        part = [network.layers[n] for n in (*closure(network, makers, known), number)]
    low, high = tensor.limits
    beyond = right / tensor.scale + tensor.zero
    is_low = (tensor.integers == low) & (beyond < low - 0.5)
    is_high = (tensor.integers == high) & (beyond > high + 0.5)
    steps, plain = np.abs(error) / tensor.scale, output_of(network, number)
    row = QuantizedLayer(
        name=" + ".join(each.name for each in part if each.op_type != LAYOUT) or "the input",
        tensor=tensor.name,
        op_type=part[-1].op_type if part else "input",
        scale=tensor.scale,
        zero_point=tensor.zero,
        rms_steps=float(np.sqrt(np.mean(steps**2))),
        most_steps=float(steps.max()),
        sqnr=decibels(right, error),
        total_sqnr=decibels(plain, tensor.real(tensor.integers) - plain),
        saturated=float((is_low | is_high).mean()),
    )
    squares = np.square(error)
    lost = [float(squares[cells].sum() / (squares.sum() or 1)) for cells in (is_low, is_high)]
    code, reason = _why(row, tensor, right, error, lost, part)
    return replace(row, code=code, reason=reason)


def _why(
    row: QuantizedLayer,
    tensor: Tensor,
    right: np.ndarray,
    error: np.ndarray,
    lost: list[float],
    part: list[Layer],
) -> tuple[str, str]:
    """Return the code and the sentence that say where most of a layer's own error comes from.

    Args:
        row: the layer's row.
        tensor: its activation.
        right: its result in float.
        error: what its quantization adds.
        lost: the part of the error's squares in the cells that saturate at the least and the largest integer.
        part: the layers.
    """
    ends, spans = (right.min(), right.max()), tensor.limits - tensor.zero
    needed = max(float(end / span) for end, span in zip(ends, spans, strict=True) if span)
    if sum(lost) > 0.5:
        at = int(lost[1] > lost[0])
        cells = f"{tables.number(100 * row.saturated)}% of its cells"
        words = f"it saturates: {cells} are beyond {tensor.limits[at]}, which stands for"
        words += f" {spans[at] * row.scale:.3g}, and its results reach {ends[at]:.3g}"
        cure = f"in place of {row.scale:.3g} its scale must be {needed:.3g} to hold them"
        return "saturation", f"{words}; {cure if spans[at] else 'its zero point leaves no integers there'}"
    if row.rms_steps > _ROUNDED:
        words = f"its result is {tables.number(row.rms_steps)} steps off, more than rounding it gives"
        if not any(layer.weights is not None for layer in part):
            return "arithmetic", words
        count = right.shape[axis := part[-1].axis]
        sides = (np.moveaxis(each, axis, 0).reshape(count, -1) for each in (right, error))
        channels = [decibels(*pair) for pair in zip(*sides, strict=True) if pair[0].any() and pair[1].any()]
        if channels:
            words += f"; of its channels the SQNR is {min(channels):.3g} to {max(channels):.3g} dB"
        return "weights", f"its weights or bias: {words}"
    if needed < row.scale / 4:
        words = f"its results take {needed / row.scale:.0%} of the range"
        return "scale", f"{words}; a scale of {needed:.3g} in place of {row.scale:.3g} would use all of it"
    return "rounding", f"its results are rounded to steps of {row.scale:.3g}"
