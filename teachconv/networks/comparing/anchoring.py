"""Where do two models carry the same numbers? And do the segments between such places compute the same?

An *anchor* is an activation of each model that holds the numbers of the other's, in whatever layout. A
*segment* is what is computed between an anchor and those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import permutations
from typing import NamedTuple

import numpy as np

from ...core.dtypes import float_format
from ...support.errors import ArgumentError
from ..reading import LAYOUT
from ..walking import INPUT, Network
from .judging import relayout
from .spreading import Errors, Spread, chosen, closure, output_of

Arrange = Callable[[np.ndarray], np.ndarray]
Made = tuple[np.ndarray, Sequence[int]]  # an array, and the layers that it may come from
_MOST_AXES = 5  # of which all orders are tried
_SOME = 64  # numbers are compared first
_ALIKE = 1e-3  # how far their sums may be apart, relative to the sum of sizes
AS_NEAR = 8  # roundings, or times as far as the nearest: nobody can tell which is the same
_UNKNOWN = (
    "no bound of that is known: of a layer there is no definition, or an input comes from what was not seen"
)
_USELESS = 0.05  # a bound of so much of the largest number says nothing


class Verdict(NamedTuple):
    """Whether two values are the same, None for not judged; a code, a sentence, and the error per bound."""

    same: bool | None
    code: str = ""
    reason: str = ""
    fraction: float = 0.0


class Anchor(NamedTuple):
    """A layer of each model with one result, or `INPUT`; and how to lay out the second's as the first's."""

    a: int
    b: int
    arrange: Arrange


class Anchors:
    """The anchors of two networks, and the segments before them.

    Args:
        first: the first network.
        second: the second one.
        found: the anchors, those of the inputs first.
    """

    def __init__(self, first: Network, second: Network, found: list[Anchor]) -> None:
        self.networks, self.found = (first, second), found

    @cached_property
    def spreads(self) -> tuple[Spread, Spread]:
        """The errors of both networks, as far as they come from the differences at the anchors.

        The first model's differences are carried through its own layers; for the second they are none.
        """
        first, second = self.networks
        apart: dict[int, np.ndarray] = {}
        nothing: dict[int, np.ndarray] = {}
        for a, b, arrange in self.found:
            one, other = output_of(first, a), output_of(second, b)
            apart[a], nothing[b] = difference(one, arrange(other)), np.zeros(other.shape)
        return Spread(first, apart, second.framework == "arrays"), Spread(second, nothing)

    def judged(self, anchor: Anchor) -> Verdict:
        """Judge the segment that ends at an anchor."""
        ends = zip(self.spreads, anchor[:2], strict=True)
        return judged(*self.pair(anchor), *self._laid_out([s.behind(n) for s, n in ends], anchor.arrange))

    def pair(self, place: Anchor) -> tuple[np.ndarray, np.ndarray]:
        """Return the results of both models at a place, the second's as the first's."""
        return output_of(self.networks[0], place.a), place.arrange(output_of(self.networks[1], place.b))

    def arrived(self, ours: Made, theirs: Made, arrange: Arrange) -> Verdict:
        """Judge arrays that come from layers, an anchor's too."""
        return judged(ours[0], arrange(theirs[0]), *self.errors(ours, theirs, arrange))

    def errors(self, ours: Made, theirs: Made, arrange: Arrange) -> list[Errors]:
        """Return the errors of arrays that come from layers, laid out as the first."""
        made = zip(self.spreads, (ours, theirs), strict=True)
        return self._laid_out([spread.arriving(*array) for spread, array in made], arrange)

    def _laid_out(self, errors: Sequence[Errors], arrange: Arrange) -> list[Errors]:
        """Return the errors of both models' arrays, laid out as the first's."""
        one, other = errors
        if self.networks[1].framework == "arrays":  # what wrote them adds the same products, in some order
            return [one, one]
        return [one, None if other is None else arrange(other)]

    def known(self, side: int) -> dict[int, int]:
        """Return the anchors of one side, and of each the other side's."""
        return {anchor[:2][side]: anchor[:2][1 - side] for anchor in self.found}

    def begins(self, side: int, number: int) -> list[int]:
        """Return the layers whose results one takes, whether they are anchors or not."""
        known = self.known(side)
        return [n for each in self.networks[side].layers[number].makers for n in chosen(each, known)]

    def origins(self, side: int, makers: Sequence[int]) -> set[int]:
        """Return the anchors that an array comes from, by their layers in the first model."""
        known = self.known(side)
        ends = chosen(makers, known)
        within = closure(self.networks[side], ends, known)
        begins = [*ends, *(n for number in within for n in self.begins(side, number))]
        return {(n, known[n])[side] for n in begins if n in known}

    def layers(self, side: int, number: int) -> list[int]:
        """Return the layers of one side's segment that ends at a layer."""
        before = closure(self.networks[side], self.begins(side, number), self.known(side))
        return sorted({number, *before})

    def _last(self, side: int) -> list[tuple[int, ...]]:
        """Return the makers of what a model returns, or the layer that raised an error."""
        network = self.networks[side]
        if network.layers[-1].error:
            return [(len(network.layers) - 1,)]
        return [makers for _, makers in network.returned.values()]

    def open(self, side: int, whole: bool = False) -> list[int]:
        """Return the layers before what a model returns that are in no segment that ends at an anchor.

        Args:
            side: of which model.
            whole: whether those of such a segment count too, from which a model returns other numbers.
        """
        network, known = self.networks[side], self.known(side)
        if network.framework == "arrays":
            return [number for number in range(len(network.layers)) if number not in known]
        ends = [n for makers in self._last(side) for n in chosen(makers, known)]
        within = {n for number in known if number != INPUT for n in self.layers(side, number) if not whole}
        return [number for number in closure(network, ends, known) if number not in within]


def anchored(first: Network, second: Network, forced: Sequence[tuple[int, int]] = ()) -> Anchors:
    """Return the anchors of two networks: of results that are equal up to half of the digits, the nearest.

    Args:
        first: the first network.
        second: the second one.
        forced: pairs of layers at which the first network was given the second's numbers.
    """
    anchors = [Anchor(INPUT, INPUT, _beside(first, second))]
    for a, b in forced:
        way = arranged(output_of(first, a), output_of(second, b))
        anchors += [Anchor(a, b, way[0])] if way else []
    done = {anchor.a for anchor in anchors}
    sides = [list(_activations(each)) for each in (first, second)]
    sides[0] = [(n, array) for n, array in sides[0] if n not in done]
    marks = [np.array([_mark(array) for _, array in side]).reshape(-1, 3) for side in sides]
    ways = list[tuple[int, float, int, Arrange]]()
    for (a, one), mark in zip(sides[0], marks[0], strict=True):
        near = marks[1][:, 0] == mark[0]
        near &= (np.abs(marks[1] - mark)[:, 1:] <= _ALIKE * mark[2] + np.finfo(float).tiny).all(1)
        for at in np.flatnonzero(near).tolist():
            b, other = sides[1][at]
            if first.layers[a].op_type == LAYOUT == second.layers[b].op_type:
                continue
            way = arranged(one, other)
            if way is not None:
                ways.append((a, way[1], at, way[0]))
    # of a layer that changes little, such as batch normalisation before training, the end is nearest
    nearest = [dict[int, float](), dict[int, float]()]
    for a, far, at, _ in ways:
        for known, n in zip(nearest, (a, at), strict=True):
            known[n] = min(far, known.get(n, far))
    taken = [set[int](), set[int]()]
    for a, far, at, arrange in sorted(ways, key=lambda way: way[:3]):
        least = min(nearest[0][a], nearest[1][at]) + _rounding(output_of(first, a))
        if far <= AS_NEAR * least and a not in taken[0] and at not in taken[1]:
            anchors.append(Anchor(a, sides[1][at][0], arrange))
            taken[0].add(a)
            taken[1].add(at)
    return Anchors(first, second, anchors)


def judged(one: np.ndarray, other: np.ndarray, *errors: Errors) -> Verdict:
    """Judge two activations by what their errors may be."""
    apart, unknown = difference(one, other), [each is None for each in errors]
    if not apart.any() and unknown in ([True, True], [False, False]):
        return Verdict(True)
    if True in unknown:
        return Verdict(None, "", f"they are up to {apart.max():.3g} apart, and {_UNKNOWN}")
    allowed: np.ndarray = sum((each for each in errors if each is not None), np.zeros(()))
    largest = float(np.abs(one).max(initial=0.0))
    if not allowed.max(initial=0.0) <= _USELESS * largest:
        words = f"the bound {allowed.max(initial=0.0):.3g} of numbers up to {largest:.3g} says nothing"
        return Verdict(None, "useless" * (not (apart > allowed).any()), words)
    fraction = float((apart / np.where(allowed > 0, allowed, 1e-300)).max(initial=0.0))
    return Verdict(fraction <= 1, "", "", fraction)


def difference(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return how far the numbers of two arrays are apart; infinity where one of them alone is NaN."""
    with np.errstate(all="ignore"):
        equal = (one == other) | (one != one) & (other != other)
        far = np.abs(np.subtract(one, other, dtype=np.result_type(one, other, float)))
    return np.where(equal, 0.0, np.where(far == far, far, np.inf)).astype(np.float64)


def farthest(one: np.ndarray, other: np.ndarray) -> float:
    """Return the largest difference of two arrays of one shape.

    >>> farthest(np.float32([1, np.nan, 3]), np.float32([1, np.nan, 5]))
    2.0
    """
    return float(difference(one, other).max(initial=0.0))


def half_of_the_digits(array: np.ndarray) -> float:
    """Return sqrt(u) times the largest number: rounding hardly costs as much where no bound is known."""
    return _rounding(array, 0.5)


def _rounding(array: np.ndarray, power: float = 1.0) -> float:
    """Return a power of u times the largest number: at 1 what one rounding changes at most."""
    unit_roundoff = float_format(array.dtype).unit_roundoff if array.dtype.kind == "f" else 0.0
    return unit_roundoff**power * float(np.abs(array[np.isfinite(array)]).max(initial=0.0))


def arranged(one: np.ndarray, other: np.ndarray) -> tuple[Arrange, float] | None:
    """Return how the second array is arranged to be near to the first, and how near; or None."""
    least = max(half_of_the_digits(one), half_of_the_digits(other))
    places = np.arange(0, one.size, max(1, one.size // _SOME))
    some = one.ravel()[places]
    for view in views(one.shape, other.shape):
        values = view(other)
        few = values[np.unravel_index(places, values.shape)]
        if farthest(some, few) <= least and (far := farthest(one, values.reshape(one.shape))) <= least:
            return (lambda array, view=view: view(array).reshape(one.shape)), far
    return None


def views(shape: tuple[int, ...], other: tuple[int, ...], likely: bool = False) -> Iterator[Arrange]:
    """Yield the ways to read an array as one of another shape: its axes in another order, merged or split.

    Args:
        shape: the shape that is wanted.
        other: the array's.
        likely: whether channels only change places as frameworks do it.
    """
    for axes in _orders(len(other), likely):
        yield lambda array, axes=axes: array.transpose(axes)  # type: ignore[misc]
    for axes in _orders(len(shape), likely):
        split, back = [shape[axis] for axis in axes], np.argsort(axes)
        yield lambda array, split=split, back=back: array.reshape(split).transpose(back)  # type: ignore[misc]


def _orders(rank: int, is_short: bool) -> Iterator[tuple[int, ...]]:
    """Yield orders of axes: first as they are, then with the channels at the other end."""
    plain = tuple(range(rank))
    likely = [plain]
    if rank > 2:
        likely += [(0, *plain[2:], 1), (0, rank - 1, *plain[1:-1])]
    yield from dict.fromkeys(likely)
    if not is_short and 1 < rank <= _MOST_AXES:
        yield from permutations(plain)


def _beside(first: Network, second: Network) -> Arrange:
    """Return how the second model's input is arranged as the first's."""
    if first.x.size != second.x.size:
        shapes = f"a has shape {list(first.x.shape)}, b {list(second.x.shape)}"
        raise ArgumentError(f"x must hold as many numbers for a as for b; got inputs of which {shapes}")
    way = arranged(first.x, second.x)
    return (
        way[0]
        if way
        else lambda array: relayout(array, second.axis, first.axis, first.x.ndim).reshape(first.x.shape)
    )


def _activations(network: Network) -> Iterator[tuple[int, np.ndarray]]:
    """Yield the numbers of the layers with a result that can be recognised, and that."""
    for number, layer in enumerate(network.layers):
        array = layer.output
        if array is None or array.dtype.kind not in "fiu":  # indices and integers that stand for numbers, too
            continue
        if array.size and array.min() != array.max():
            yield number, array


def _mark(array: np.ndarray) -> tuple[float, float, float]:
    """Return what arrays with the same content have in common: the size, the sum, and the sum of sizes."""
    wide = np.nan_to_num(array.astype(np.float64), posinf=1.0, neginf=1.0)
    return float(array.size), float(wide.sum()), float(np.abs(wide).sum())
