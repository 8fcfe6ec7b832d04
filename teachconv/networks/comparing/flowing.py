"""Do the same numbers arrive at each layer, and at the end? Steps that move numbers have no result to judge.

Such a step changes no number. So if the outputs of two layers differ by d at most, what arrives of them
differs by d at most, wherever it is moved; unless the two models move it to different places.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ...core.dtypes import float_format
from ..walking import INPUT, OWN_AXIS, Network
from .judging import relayout
from .lining import Pair, Row


class Verdict(NamedTuple):
    """Whether two values are the same, None for not judged; and if not, a code and a sentence."""

    same: bool | None
    code: str = ""
    reason: str = ""


class Flow:
    """Where the values of two models come from.

    Attributes:
        lonely: the numbers of the pairs in which one model has no layer.
    """

    def __init__(self, pairs: Sequence[Pair], first: Network, second: Network) -> None:
        self._pairs, self._networks = pairs, (first, second)
        self._places = [
            {INPUT: -1} | {n: at for at, pair in enumerate(pairs) for n in getattr(pair[side], "numbers", ())}
            for side in (0, 1)
        ]
        self.lonely = {at for at, pair in enumerate(pairs) if None in pair}
        self._spread = cache(self._spread_of)

    def inputs(self, a: Row, b: Row) -> Iterator[Verdict]:
        """Judge the inputs of two layers that belong together."""
        ours, theirs = (
            [(self._from(side, each), x) for each, x in zip(row.sources, row.layer.inputs, strict=False)]
            for side, row in enumerate((a, b))
        )
        if a.layer.op_type in ("add", "multiply"):  # in any order
            theirs.sort(key=lambda way: next((i for i, (at, _) in enumerate(ours) if at & way[0]), -1))
        names = f"that of {a.layer}", f"an input of {b.layer}"
        for (from_a, one), (from_b, other) in zip(ours, theirs, strict=False):
            ways = self._ways(one, other, a, b)
            verdict = self._arriving(from_a, from_b, names, _nearest(one, ways))
            is_guess = verdict.code == "moved" and len(ways) > 1
            yield Verdict(None, "", verdict.reason) if is_guess else verdict

    def returned(self, passed: bool | None) -> Verdict:
        """Judge what the models return.

        Args:
            passed: whether all layers do the same; None if one was not judged.
        """
        values = [network.returned for network in self._networks]
        if any(network.layers[-1].error for network in self._networks):
            return Verdict(None)
        numbers = [np.sort(network.x, None) for network in self._networks]
        if passed is not False and _nearest(numbers[0], numbers[1:]) > _half_of_the_digits(numbers[0]):
            return Verdict(None, "", "the models had other inputs")
        if {network.framework for network in self._networks} & {"onnx", "tflite"}:  # a file has a list
            arrays = ([each for each in one.values() if isinstance(each[0], np.ndarray)] for one in values)
            values = [{f"[{n}]": each for n, each in enumerate(one)} for one in arrays]
        places = [", ".join(place or "a value alone" for place in one) or "nothing" for one in values]
        if values[0].keys() != values[1].keys():
            found = [Verdict(False, "structure", f"the first returns {places[0]}, the second {places[1]}")]
        else:
            found = [self._result(place, ours, values[1][place], passed) for place, ours in values[0].items()]
        if not any(isinstance(value, (np.ndarray, float)) for one in values for value, _ in one.values()):
            found.append(Verdict(None, "", "the models return no array"))
        verdict = min(found, key=lambda each: (False, None, True).index(each.same))
        words = f"{verdict.reason}; {self._last_equal()}" if verdict.same is False else verdict.reason
        return verdict._replace(reason=words)

    def _result(self, place: str, ours: Any, theirs: Any, passed: bool | None) -> Verdict:
        """Judge one of the values that the models return, which come with their sources."""
        first, second = self._networks
        names = f"that of the first{place}", f"the result{place} of the second model"
        one, other = (np.asarray(value) for value, _ in (ours, theirs))
        # a model may compute in another precision, and frameworks count with different integers
        rounded = one.dtype.kind == "f" and one.dtype != other.dtype and first.x.dtype == second.x.dtype
        if rounded or one.dtype.kind != other.dtype.kind:
            said = (each if each.dtype.kind in "OU" else f"an array of {each.dtype}" for each in (other, one))
            return Verdict(False, "dtype", "{} is {}, not {}".format(names[1], *said))
        # the numbers must be at the indices that one of the readings gives them: order in memory says nothing
        readings = other, relayout(other, second.axis, first.axis, other.ndim)
        ways = [reading for reading in readings if reading.shape == one.shape]
        if not ways:
            return Verdict(False, "shape", f"{names[1]} has shape {list(other.shape)}, not {list(one.shape)}")
        if one.dtype.kind in "OU":  # None, and the names of types
            return (
                Verdict(True)
                if one == other
                else Verdict(False, "result", f"{names[1]} is {other}, not {one}")
            )
        far, from_a, from_b = _nearest(one, ways), self._from(0, ours[1]), self._from(1, theirs[1])
        verdict = self._arriving(from_a, from_b, names, far)
        if verdict.same is False or passed is False:
            return verdict if verdict.same is False else Verdict(None)
        if (one != one).any():
            return Verdict(None, "", "it holds NaN")
        is_far, agree = far > _half_of_the_digits(one), passed and verdict.same and from_a & from_b
        if far == 0 or agree and not is_far:
            return Verdict(True)
        words = f"{names[1]} is up to {far:.3g} from {names[0]}" + ", though all layers agree" * bool(agree)
        return Verdict(False, "result", words) if is_far and not agree else Verdict(None, "", words)

    def _from(self, side: int, layers: frozenset[int]) -> set[int]:
        """Return the pairs that an array may come from, -1 for the model's input."""
        return {self._places[side][n] for n in layers if n in self._places[side]}

    def _arriving(self, ours: set[int], theirs: set[int], names: tuple[str, str], far: float) -> Verdict:
        """Judge two values by the pairs that they come from, and by how far they are apart."""
        common = ours & theirs
        if not (ours and theirs):
            words = f"in the {'first' if theirs else 'second'} model an input comes from what was not seen"
            return Verdict(True) if not (ours or theirs or far) else Verdict(None, "", words)
        if not common:
            words = f"{names[1]} comes from {self._name(theirs, 1)}, {names[0]} from {self._name(ours, 0)}"
            return Verdict(True) if (ours | theirs) & self.lonely else Verdict(False, "wiring", words)
        near = max(map(self._spread, common))
        words = (
            f"{names[1]} is up to {far:.3g} from {names[0]}, though both come from {self._name(common, 1)}, "
            f"where the models differ by {near:.3g} at most: what moves the numbers differs"
        )
        return Verdict(False, "moved", words) if far > near else Verdict(True)

    def _name(self, sources: set[int], side: int) -> str:
        """Return the last layer of those that a value may come from, as text."""
        row = None if max(sources) < 0 else self._pairs[max(sources)][side]
        return "the model's input" if row is None else str(row.layer)

    def _ways(self, one: np.ndarray, other: np.ndarray, a: Row, b: Row) -> list[np.ndarray]:
        """Return the second model's array in the first's layout.

        Where the models' layouts differ, the axis of the channels is a guess for layers that have none of
        their own, and the array as it is comes second.
        """
        found = relayout(other, b.layer.axis, a.layer.axis, one.ndim)
        is_guess = self._networks[0].axis != self._networks[1].axis and a.layer.op_type not in OWN_AXIS
        return [found, other] if is_guess else [found]

    def _spread_of(self, at: int) -> float:
        """Return how far the outputs of two layers are apart, or with -1 the models' inputs."""
        first, second = self._networks
        if at < 0:
            return _nearest(first.x, [second.x, relayout(second.x, second.axis, first.axis, first.x.ndim)])
        a, b = self._pairs[at]
        if a is None or b is None or a.layer.output is None or b.layer.output is None:
            return np.inf
        return _nearest(a.layer.output, self._ways(a.layer.output, b.layer.output, a, b))

    def _last_equal(self) -> str:
        """Say up to where the models' numbers are equal."""
        last = "the models' input"
        for at, (a, b) in enumerate(self._pairs):
            if a is not None and b is not None and a.layer.output is not None:
                if self._spread(at) > _half_of_the_digits(a.layer.output):
                    break
                last = f"that of {a.layer} and {b.layer}"
        return f"the last equal activation is {last}"


def _nearest(one: np.ndarray, ways: Sequence[np.ndarray]) -> float:
    """Return the largest difference of two arrays, in the nearest of the ways to read the second.

    It is infinity for other sizes, or where one of the arrays alone is NaN.

    >>> _nearest(np.float32([1, np.nan, 3]), [np.float32([1, np.nan, 5]), np.zeros(2)])
    2.0
    """
    found = [np.inf]
    for other in (way.reshape(one.shape) for way in ways if way.size == one.size):
        with np.errstate(all="ignore"):
            equal = (one == other) | (one != one) & (other != other)
            far = np.abs(np.subtract(one, other, dtype=np.result_type(one, other, float)))
        found.append(float(np.where(equal, 0.0, np.where(far == far, far, np.inf)).max(initial=0.0)))
    return min(found)


def _half_of_the_digits(array: np.ndarray) -> float:
    """Return sqrt(u) times the largest number: rounding hardly costs as much where no bound is known."""
    unit_roundoff = float_format(array.dtype).unit_roundoff if array.dtype.kind == "f" else 0.0
    return unit_roundoff**0.5 * float(np.abs(array).max(initial=0.0))
