"""How far may an activation lie from what it would be, if all before it may be off by some known numbers?

Of the activations at which a segment begins, the errors are known: the differences of the two models there.
Each layer carries the errors of its inputs on and adds its own. Those are known: how far its result is from
the exact one of what it says, which is computed from the same input. They are far smaller than the bounds of
`teachconv.truth.bounds`, which hold for any order of summation and limit them. Layers that compute the same
may say it with numbers that were rounded otherwise, such as folded weights: for that, `FOLDING` roundings
are allowed. That is a running error analysis (N. J. Higham, Accuracy and Stability of Numerical Algorithms,
2nd ed., section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from ...core.dtypes import accumulator, float_format
from ...support.errors import is_one_of
from ...truth import bounds
from ...truth.exact import float64_result
from ...verification.window_mistakes import limits
from ...windows.calls import FUNCTIONS as WINDOWS
from ...windows.calls import bound_call
from .. import definitions
from ..reading import LAYOUT, STORED, Layer
from ..walking import INPUT, Network
from .judging import FOLDING, call_of

Errors = np.ndarray | None  # of each number of an activation; None if no bound is known


def output_of(network: Network, number: int) -> np.ndarray:
    """Return the activation behind a layer that has one, or the model's input."""
    found = network.x if number == INPUT else network.layers[number].output
    assert found is not None
    return found


def closure(network: Network, makers: Iterable[int], anchors: Mapping[int, Any]) -> list[int]:
    """Return the layers between some activations and the anchors before them, in the order they ran in."""
    waiting, found = [*makers], set[int]()
    while waiting:
        number = waiting.pop()
        if number not in anchors and number not in found:
            found.add(number)
            waiting += [maker for each in network.layers[number].makers for maker in chosen(each, anchors)]
    return sorted(found)


def chosen(makers: Sequence[int], anchors: Mapping[int, Any]) -> Sequence[int]:
    """Return the one of the layers with equal results that an array counts as of: an anchor, or the last."""
    known = [number for number in makers if number in anchors]
    return known[-1:] or makers[-1:]


class Spread:
    """The errors of a network's activations behind its anchors.

    Args:
        network: the network.
        anchors: the errors of some activations, by the numbers of their layers.
        anyhow: whether the errors are those of any program, not of this run.
    """

    def __init__(self, network: Network, anchors: Mapping[int, np.ndarray], anyhow: bool = False) -> None:
        self._network, self._anchors, self._anyhow = network, anchors, anyhow
        self._errors: dict[int, Errors] = {**anchors}  # by the numbers of layers, as far as they were needed

    def arriving(self, array: np.ndarray, makers: Sequence[int]) -> Errors:
        """Return the errors of an array that comes from some layer."""
        maker = chosen(makers, self._anchors)
        for number in closure(self._network, maker, self._anchors):
            if number not in self._errors:
                self._errors[number] = self.behind(number)
        error = self._errors[maker[0]] if maker else None
        return None if error is None else carried([output_of(self._network, maker[0])], [error], array)

    def behind(self, number: int) -> Errors:
        """Return the errors of a layer's output, computed from what is before it even if it is an anchor."""
        layer = self._network.layers[number]
        pairs = zip(layer.inputs, layer.makers, strict=True)
        known = [error for x, makers in pairs if (error := self.arriving(x, makers)) is not None]
        try:
            return grown(layer, known, self._anyhow) if len(known) == len(layer.inputs) else None
        except (TypeError, ValueError, IndexError):
            return None


def carried(sources: Sequence[np.ndarray], errors: Sequence[np.ndarray], array: np.ndarray) -> np.ndarray:
    """Return the errors of numbers that were moved: of those that are equal the largest, and 0 for constants.

    >>> carried([np.float32([1, 2, 2])], [np.float64([.1, .2, .3])], np.float32([[2, 0], [1, 2]]))
    array([[0.3, 0. ],
           [0.1, 0.3]])
    """
    values, sizes = (np.concatenate([np.ravel(each) for each in group]) for group in (sources, errors))
    if array.size == values.size and np.array_equal(np.ravel(array), values):
        return sizes.reshape(array.shape)
    order = np.argsort(values, kind="stable")
    values, starts = np.unique(values[order], return_index=True)
    largest = np.maximum.reduceat(sizes[order], starts)
    at = np.searchsorted(values, array).clip(max=values.size - 1)
    return np.where(values[at] == array, largest[at], 0.0)


def grown(layer: Layer, errors: Sequence[np.ndarray], anyhow: bool = False) -> Errors:
    """Return the errors of a layer's output for those of its inputs, its own roundings included.

    Args:
        layer: the layer.
        errors: of its inputs.
        anyhow: whether its own are bounded for any order of summation, not those of its output.
    """
    op, x, error, output = layer.op, layer.inputs[0], errors[0], layer.output
    if output is None or not all(np.isfinite(each).all() for each in errors):
        return None
    if op is not None and is_one_of(op, [definitions.concatenate]):
        none = {n: np.zeros_like(each) for n, each in layer.arguments.get("constants", {}).items()}
        joined = op(*errors, axis=layer.arguments["axis"], constants=none)
        return np.asarray(joined.value).reshape(output.shape)
    if layer.op_type in (LAYOUT, "concatenate", "pad"):
        return carried(layer.inputs, errors, output)
    if output.dtype in STORED:  # equal numbers give equal integers, and others some other integers
        return None if any(each.any() for each in errors) else np.zeros(output.shape)
    if op is None:
        return None
    if is_one_of(op, WINDOWS):
        around = layer.around(x)
        right, moved = (
            np.asarray(op(array, **layer.arguments), np.float64)
            for array in (around, layer.around(error.astype(x.dtype)))
        )
        few = bounds.direct(np.abs(around).max(initial=0.0), FOLDING, x.dtype)
        worst = limits(bound_call(op, (around,), dict(layer.arguments))[0], around)[0]
    elif op.__module__ == definitions.__name__:
        right, sizes, terms = op(*(each.astype(np.float64) for each in layer.inputs), **layer.arguments)
        moved = _moved_by_definition(layer, errors, right)
        few = bounds.direct(np.asarray(sizes), FOLDING, x.dtype)
        worst = bounds.direct(np.asarray(sizes), terms + FOLDING, x.dtype) * bool(terms)
    else:
        call, unit_roundoff = (
            call_of(layer, layer.around(x)),
            float_format(accumulator(x.dtype)).unit_roundoff,
        )
        factors = [bounds.gamma(terms, unit_roundoff) for terms in (FOLDING, call.terms + FOLDING)]
        apart = call_of(layer, layer.around((error * (1 + factors[1])).astype(x.dtype)))
        apart = replace(apart, second=np.abs(apart.second), bias=None)
        calls = call, call.with_each(np.abs), apart
        right, sizes, moved = (each.to_caller(float64_result(each)) for each in calls)
        few, worst = (factor * sizes for factor in factors)
    own = few + np.abs(output.reshape(right.shape) - right)
    own = worst if anyhow else np.fmin(worst, own)
    rounded = float_format(output.dtype).unit_roundoff * np.abs(output)
    if layer.op_type == "cast" and output.dtype.itemsize < 4:  # of equal numbers both models have the same
        rounded[error.reshape(output.shape) == 0] = 0
    return (moved + own).reshape(output.shape) + rounded


def _moved_by_definition(layer: Layer, errors: Sequence[np.ndarray], value: np.ndarray) -> np.ndarray:
    """Return how far a definition's result may move with its inputs."""
    assert layer.op is not None
    inputs, words = [each.astype(np.float64) for each in layer.inputs], dict(layer.arguments)
    if is_one_of(layer.op, [definitions.formula]):
        made = layer.op(*inputs, errors=errors, **words)
        return bounds.direct(made.sizes, made.terms, np.float32)
    if words.get("function") in definitions.SOFTMAX:  # the logarithm moves by twice the largest error
        most = 2 * errors[0].max(words.get("axis", -1), keepdims=True)
        return most if words["function"] == "log_softmax" else value * np.expm1(most)
    # what rises or falls in each number is farthest at the ends of the intervals
    signs = (
        product((-1, 1), repeat=len(inputs)) if len(inputs) < 4 else [(-1,) * len(inputs), (1,) * len(inputs)]
    )
    far = np.zeros(value.shape)
    for corner in signs:
        shifted = (x + sign * error for x, sign, error in zip(inputs, corner, errors, strict=True))
        far = np.maximum(far, np.abs(layer.op(*shifted, **words).value - value))
    return far
