"""Which layers of two models belong together: by their weights, then by what they are, and by their order.

Weights are compared by their sorted numbers, so that neither layout nor flips matter. The second model's
layers are first brought into the order of the first, as far as the data's flow allows: two branches may run in
either order. A longest common sequence then pairs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..networks.reading import Layer
from ..networks.walking import Network
from .judging import call_of, folded

__all__ = ["Pair", "line_up"]

_ALIKE = 1e-2  # how far the sorted weights of one layer may be from those of its port, relative to their size
_SOME = 257  # of them are compared
_FAMILIES = {"transposed convolution": "convolution", "max pool": "pool", "average pool": "pool"}
_FAMILIES |= dict.fromkeys(
    ("relu", "softmax", "sigmoid", "silu", "tanh", "gelu", "elu", "hardswish"), "activation"
)


@dataclass(frozen=True)
class Pair:
    """Layers that belong together; None where a model has none.

    Attributes:
        a: the layer of the first model, batch normalisation folded in where the second model has none.
        b: likewise.
        numbers: the layers' numbers in each network; several where one is folded in.
    """

    a: Layer | None
    b: Layer | None
    numbers: tuple[tuple[int, ...], tuple[int, ...]]


def line_up(a: Network, b: Network) -> list[Pair]:
    """Return the pairs of two networks in the order of the first; every layer is in one of them."""
    left = [_Print(number, a.layers[number]) for number in a.rows]
    right = [_Print(number, b.layers[number]) for number in b.rows]
    right = _in_order(left, right, b)
    pairs = _paired(left, right)
    pairs = _with_norms_folded(pairs, a, b)
    return [
        Pair(
            one and one.layer,
            other and other.layer,
            (one.numbers if one else (), other.numbers if other else ()),
        )
        for one, other in pairs
    ]


class _Print:
    """A layer, and what it is recognised by."""

    def __init__(self, number: int, layer: Layer, *more: int) -> None:
        self.number, self.layer, self.numbers = number, layer, (number, *more)

    @cached_property
    def family(self) -> str:
        return _FAMILIES.get(self.layer.kind, self.layer.kind)

    @cached_property
    def weights(self) -> np.ndarray | None:
        """Some of the sorted weights, the number of all of them before."""
        layer, weights = self.layer, self.layer.weights
        if layer.scale is not None:
            weights = call_of(layer, layer.padded).second
        if weights is None or not weights.size:
            return None
        ordered = np.sort(weights.ravel().astype(np.float64))
        some = np.linspace(0, ordered.size - 1, min(_SOME, ordered.size)).astype(int)
        return np.concatenate([[ordered.size], ordered[some]])

    def distance(self, other: _Print) -> float:
        """Return how far the weights are from another layer's, relative to their size; infinity without any."""
        one, two = self.weights, other.weights
        if one is None or two is None or one.shape != two.shape or one[0] != two[0]:
            return np.inf
        size = float(np.linalg.norm(one[1:])) or 1.0
        return float(np.linalg.norm(one[1:] - two[1:])) / size

    def likeness(self, other: _Print) -> int:
        """Return how much two layers have in common; 0 for nothing."""
        if self.family != other.family:
            return 0
        found = 2 + (self.layer.kind == other.layer.kind) + (_cells(self.layer) == _cells(other.layer))
        if self.weights is not None and other.weights is not None:
            found += 8 * (self.distance(other) < _ALIKE) + 2 * (self.weights[0] == other.weights[0])
        return found


def _cells(layer: Layer) -> int:
    return -1 if layer.output is None else layer.output.size


def _in_order(left: list[_Print], right: list[_Print], b: Network) -> list[_Print]:
    """Return the second model's layers in an order in which its data may flow, near to the first model's."""
    place: dict[int, int] = {}
    free = set(range(len(left)))
    for each in right:
        near = [(left[at].distance(each), at) for at in sorted(free)] if each.weights is not None else []
        if near and min(near)[0] < _ALIKE:
            place[each.number] = min(near)[1]
            free.remove(min(near)[1])
    rows = {each.number: each for each in right}
    ordered: list[_Print] = []
    waiting, done = list(rows), set[int]()
    while waiting:
        ready = [
            number
            for number in waiting
            if all(max(each) in done or max(each) not in rows for each in b.sources[number] if each)
        ] or waiting[:1]
        # what has no weights runs at once, and else what comes first in the first model
        number = min(ready, key=lambda number: (place.get(number, -1), number))
        waiting.remove(number)
        done.add(number)
        ordered.append(rows[number])
    return ordered


def _paired(left: list[_Print], right: list[_Print]) -> list[tuple[_Print | None, _Print | None]]:
    """Return the pairs with the most in common that keep both orders, and between them what has no partner."""
    likeness = np.array([[one.likeness(other) for other in right] for one in left]).reshape(
        len(left), len(right)
    )
    best = np.zeros((len(left) + 1, len(right) + 1), int)  # of the layers from here on
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            pair = likeness[i, j] and likeness[i, j] + best[i + 1, j + 1]
            best[i, j] = max(pair, best[i + 1, j], best[i, j + 1])
    pairs: list[tuple[_Print | None, _Print | None]] = []
    i = j = 0
    while i < len(left) or j < len(right):
        both = i < len(left) and j < len(right)
        if both and likeness[i, j] and best[i, j] == likeness[i, j] + best[i + 1, j + 1]:
            pairs.append((left[i], right[j]))
            i, j = i + 1, j + 1
        elif i < len(left) and (j == len(right) or best[i, j] == best[i + 1, j]):
            pairs.append((left[i], None))
            i += 1
        else:
            pairs.append((None, right[j]))
            j += 1
    return pairs


def _with_norms_folded(
    pairs: list[tuple[_Print | None, _Print | None]], a: Network, b: Network
) -> list[tuple[_Print | None, _Print | None]]:
    """Fold batch normalisation that one model lacks into its convolution, if the other's weights say so."""
    found = list(pairs)
    for side, network in ((0, a), (1, b)):
        for alone in list(found):
            norm = alone[side]
            if norm is None or alone[1 - side] is not None or norm.layer.kind != "batch norm":
                continue
            sources = network.sources[norm.number][0] if network.sources[norm.number] else ()
            for at, pair in enumerate(found):
                one, other = pair[side], pair[1 - side]
                if (
                    one is None
                    or other is None
                    or one.family != "convolution"
                    or not {*one.numbers} & {*sources}
                ):
                    continue
                made = _Print(norm.number, folded(one.layer, norm.layer), *one.numbers)
                if made.distance(other) <= one.distance(other) + 1e-6:
                    found[at] = (made, other) if side == 0 else (other, made)
                    found.remove(alone)
                break
    return found
