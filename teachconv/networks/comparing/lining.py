"""Which layers of two models belong together: by their weights, then by what they are, and by their order.

Weights are compared by their sorted numbers, so that neither layout nor flips matter. The second model's
layers are first brought into the order of the first, as far as its data's flow allows: branches may run in
either order. A longest common sequence then pairs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product

import numpy as np

from ..reading import LAYOUT, NORM, Layer
from ..walking import Network
from .judging import call_of, folded

Pair = tuple["Row | None", "Row | None"]  # None where a model has no such layer
_CONVOLUTION = "convolution"
_ALIKE = 1e-2  # how far the sorted weights of one layer may be from those of its port, relative to their size
_SOME = 257  # of them are compared
_FAMILIES = {
    "transposed convolution": _CONVOLUTION,
    **dict.fromkeys(("max pool", "average pool"), "pool"),
    **dict.fromkeys(("relu", "softmax", "sigmoid", "silu", "tanh", "gelu", "elu", "hardswish"), "activation"),
}


def line_up(a: Network, b: Network) -> list[Pair]:
    """Return the pairs of two networks' layers in the order of the first; every layer is in one of them.

    Batch normalisation that one of them lacks is folded into the convolution before it.
    """
    left, right = (
        [Row(layer, n) for n, layer in enumerate(each.layers) if layer.op_type != LAYOUT] for each in (a, b)
    )
    return _with_norms_folded(_paired(_in_order(left, left), _in_order(left, right)))


class Row:
    """A layer of a network, and what it is recognised by.

    Attributes:
        layer: the layer.
        numbers: its number in the network, that of batch normalisation that is folded in before it.
    """

    def __init__(self, layer: Layer, *numbers: int) -> None:
        self.layer, self.sources, self.numbers = layer, layer.sources, numbers

    @cached_property
    def family(self) -> str:
        """What layers must have in common to belong together."""
        return _FAMILIES.get(self.layer.op_type, self.layer.op_type)

    @cached_property
    def weights(self) -> np.ndarray | None:
        """Some of the sorted weights, the number of all of them before."""
        layer, weights = self.layer, self.layer.weights
        if layer.scale is not None:
            weights = call_of(layer, layer.around(layer.inputs[0])).second
        if weights is None or not weights.size:
            return None
        ordered = np.sort(weights.ravel().astype(np.float64))
        some = np.linspace(0, ordered.size - 1, min(_SOME, ordered.size)).astype(int)
        return np.concatenate([[ordered.size], ordered[some]])

    @cached_property
    def needs(self) -> list[int]:
        """Of each input the last layer that it may come from; empty if one is not known."""
        return [max(each) for each in self.sources] if all(self.sources) else []

    def distances(self, others: Sequence[Row]) -> np.ndarray:
        """Return how far the weights are from those of other layers, relative to their size."""
        found, own = np.full(len(others), np.inf), self.weights
        if own is None:
            return found
        every = [(at, other.weights) for at, other in enumerate(others)]
        known = [(at, each) for at, each in every if each is not None and each[0] == own[0]]
        if known:
            table = np.stack([each for _, each in known])[:, 1:]  # [layers, some of the weights]
            size = float(np.linalg.norm(own[1:])) or 1.0
            found[[at for at, _ in known]] = np.linalg.norm(table - own[1:], axis=1) / size
        return found

    def distance(self, other: Row) -> float:
        """Return how far the weights are from another layer's; see `distances`."""
        return float(self.distances([other])[0])

    def likeness(self, other: Row, alike: bool) -> int:
        """Return how much two layers have in common, 0 for nothing; ``alike`` says that the weights are."""
        if self.family != other.family:
            return 0
        one, two = self.layer, other.layer
        sizes = [-1 if layer.output is None else layer.output.size for layer in (one, two)]
        found = 2 + (one.op_type == two.op_type) + (sizes[0] == sizes[1])
        if self.weights is not None and other.weights is not None:
            found += 8 * alike + 2 * int(self.weights[0] == other.weights[0])
        return found


def _in_order(left: list[Row], right: list[Row]) -> list[Row]:
    """Return the second model's layers in an order in which its data may flow, near to the first model's."""
    place: dict[int, int] = {}  # in the first model, of what has weights
    free = np.ones(len(left), bool)
    for row in right:
        far = row.distances(left)
        far = np.where(free & (far < _ALIKE), far, np.inf)
        if far.min(initial=np.inf) < np.inf:
            place[row.numbers[0]] = at = int(far.argmin())
            free[at] = False
    ordered: list[Row] = []
    waiting = {row.numbers[0]: row for row in right}
    while waiting:
        first = next(iter(waiting))  # all before it are done; what has an unknown source waits until then
        ready = [
            number
            for number, row in waiting.items()
            if number == first or row.needs and not any(source in waiting for source in row.needs)
        ]
        # what has no weights runs at once, and else what comes first in the first model
        number = min(ready, key=lambda number: (place.get(number, -1), number))
        ordered.append(waiting.pop(number))
    return ordered


def _paired(left: list[Row], right: list[Row]) -> list[Pair]:
    """Return the pairs with the most in common that keep both orders, and what has no partner."""
    best = np.zeros((len(left) + 1, len(right) + 1), int)  # what the layers from here on have in common
    step = best.copy()  # 0 for a pair, 1 for a layer of the first model alone, 2 for one of the second
    step[:-1, -1], step[-1, :-1] = 1, 2
    alike = [(row.distances(right) < _ALIKE).tolist() for row in left]
    for i, j in product(reversed(range(len(left))), reversed(range(len(right)))):
        likeness = left[i].likeness(right[j], alike[i][j])
        ways = (likeness and likeness + best[i + 1, j + 1], best[i + 1, j], best[i, j + 1])
        best[i, j] = max(ways)
        step[i, j] = ways.index(best[i, j]) or int(not likeness)
    pairs: list[Pair] = []
    i = j = 0
    while i < len(left) or j < len(right):
        alone = step[i, j]
        pairs.append((None if alone == 2 else left[i], None if alone == 1 else right[j]))
        i, j = i + (alone != 2), j + (alone != 1)
    return pairs


def _with_norms_folded(pairs: list[Pair]) -> list[Pair]:
    """Fold batch normalisation that one model lacks into its convolution, if the other's weights say so."""
    found = list(pairs)
    for side, alone in product((0, 1), pairs):
        norm = alone[side]
        if norm is None or alone[1 - side] is not None or norm.layer.op_type != NORM or not norm.sources:
            continue
        for at, pair in enumerate(found):
            one, other = pair[side], pair[1 - side]
            if one is None or other is None or one.family != _CONVOLUTION:
                continue
            if not norm.sources[0] & {*one.numbers}:
                continue
            made = Row(folded(one.layer, norm.layer), *one.numbers, *norm.numbers)
            if made.distance(other) <= one.distance(other) + 1e-6:
                found[at] = (other, made) if side else (made, other)
                found.remove(alone)
                break
    return found
