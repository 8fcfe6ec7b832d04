"""Which calls were asked, by the properties that kernels branch on, and which of many to ask next.

A call has one class of each property: a filter of 3 columns, an odd number of images, 13 pixels beside tiles
of 16. A fault often needs two or three of these together. Of many calls that are drawn as numbers alone, the
next one has most pairs and triples of classes that were asked seldom or never: a greedy covering array
(Cohen, Dalal, Fredman and Patton, "The AETG system", 1997).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from ..core.dtypes import FLOATS, INTEGERS
from ..core.kinds import AXES
from .layers import Numbers

TYPES = FLOATS + INTEGERS
WORDS = ("size", "taps", "stride", "dilation", "before", "after", "extra")  # of an axis
_CHANNELS, _MOD_8, _MOD_16 = (2, 3, 4, 5, 8, 9, 17, 65, 257, 1025), tuple(range(1, 8)), tuple(range(1, 16))
_BLOCKS = 5, 8, 10, 12  # powers of 2: of a number beside a multiple of one, the largest
# where the classes of a property begin, but the first; those with a star are in triples, too
_OF_AXIS: dict[str, tuple[int, ...]] = {
    "*filter": (2, 3, 4, 5, 6, 7, 8, 11, 12),
    "*stride": (2, 3, 4, 5),
    "*dilation": (2, 3, 4, 8),
    "stride minus filter": (0, 1),
    "pad before": (0, 1),
    "*pad after": (0, 1),
    "pad after minus before": (0, 1),
    "pad minus reach of filter": (0, 1),
    "reach": (16, 128, 2048),
    "size mod 8": _MOD_8,
    "*out": (2, 9, 17, 33, 65, 100, 129, 257, 513),
    "*out mod 2": (1,),
    "out mod 8": _MOD_8,
}
_OF_CALL: dict[str, tuple[int, ...]] = {
    "*images": (2, 3, 17, 65, 257),
    "*images mod 2": (1,),
    "*groups": (2, 3, 17, 257, 513),
    "*groups mod 2": (1,),
    "groups mod 16": (1, 8, 9),
    "groups beside": _BLOCKS,
    "*in_channels": _CHANNELS,
    "in_channels mod 16": _MOD_16,
    "*out_channels": _CHANNELS,
    "out_channels mod 16": _MOD_16,
    "terms": (2, 65, 257, 1025, 4097),
    "terms mod 16": _MOD_16,
    "terms beside": _BLOCKS,
    "pixels mod 16": _MOD_16,
    "pixels beside": _BLOCKS,
    "pixels of all images beside": _BLOCKS,
    "*bias": (1,),
    "*transposed": (1,),
    "steps alike": (1,),
    "filter square": (1,),
    "dtype": tuple(range(1, len(TYPES))),
}
_ALL = _OF_CALL | {f"{axis} {name}": edges for axis in AXES for name, edges in _OF_AXIS.items()}
_ALL["way"] = tuple(range(1, 32))  # in which the call is made; in no pair
_EDGES = {name: np.array(edges) for name, edges in _ALL.items()}
_SIZES = [len(edges) + 2 for edges in _EDGES.values()]  # and one for a missing axis
_FIRST = np.cumsum([0, *_SIZES])  # the number of the first class of each property
_PAIRS = list(combinations(range(len(_EDGES) - 1), 2))
_STARS = [place for place, name in enumerate(_EDGES) if "*" in name and AXES[0] not in name]
_TOGETHER = [*_PAIRS, *combinations(_STARS, 3)]
# in a table of all pairs and triples of classes, where those of each pair of properties begin, and how many
# cells further the next class of a property is
_BEGIN = np.cumsum([0, *(prod(_SIZES[place] for place in places) for places in _TOGETHER)])
_STRIDES = np.zeros((len(_EDGES), len(_TOGETHER)), np.float32)  # whole numbers, which are exact
for _column, _places in enumerate(_TOGETHER):
    _STRIDES[_places, _column] = [
        prod(_SIZES[after] for after in _places[rank:]) for rank in range(1, len(_places) + 1)
    ]
_THERE = np.concatenate(  # pairs of axes that a call has
    [np.outer(*(np.arange(_SIZES[place]) < _SIZES[place] - 1 for place in pair)).ravel() for pair in _PAIRS]
)
_SEVERAL = 3  # refusals after which calls of the kind become rare
_SAMPLE = 2000  # calls like those that were taken, which show what pairs there are
# a number is at most 2 to this power; a size by how many axes there are
_POWERS = {"images": 8.5, "groups": 11.1, "depth": 12.1, "outs": 12.1}
_AXIS_POWERS = {
    1: {"size": 14.1, "taps": 4.0, "stride": 2.8, "dilation": 11.1},
    2: {"size": 9.5, "taps": 4.0, "stride": 2.8, "dilation": 4.2},
    3: {"size": 6.5, "taps": 4.0, "stride": 2.8, "dilation": 4.2},
}
_PIXELS_POWER, _TRIED = 13.1, 16  # pixels of all axes; products of which one lies beside a multiple
USUAL, CAUSAL = (0, 1, 2, 4), 3  # modes of padding


def draw(random: np.random.Generator, rank: int, calls: int, most: int, fixed: Numbers) -> dict[str, Any]:
    """Return the numbers of the legal ones of ``calls`` calls drawn at random, each number as an array.

    A number is as often between 2 and 4 as between 64 and 128, many are 1. Some lie beside multiples of
    powers of two, where blocks end, and so do some products: the pixels of an image or of all, the terms.

    Args:
        random: the source of numbers.
        rank: over how many axes the calls are.
        calls: how many are drawn.
        most: the most multiply-adds of one.
        fixed: numbers that all calls have, and "mode" where all are padded in one way.
    """
    blocks = (random.random(calls) < 0.4) & ("size0" not in fixed)  # whose pixels lie beside a multiple
    few = np.where(blocks, 3.0, random.choice((1.0, 2.0, 4.0), calls))  # the larger, the more numbers are 1

    def number(name: str, power: float) -> np.ndarray:
        powers = power * random.random(calls) ** few
        drawn = np.where(random.random(calls) < 0.25, beside(powers), (2**powers).astype(int))
        return np.full(calls, fixed[name]) if name in fixed else drawn

    def beside(powers: np.ndarray) -> np.ndarray:
        """Return numbers of about these powers of 2, each beside a multiple of a block."""
        block = 2 ** np.rint(powers * (1 - random.random(powers.shape) ** 2)).astype(int)
        multiple = np.rint(2**powers / block).astype(int) * block
        return np.maximum(multiple + random.integers(-3, 4, powers.shape), 1)

    def beside_with(power: float, *factors: Any) -> list[np.ndarray]:
        """Return a number and factors whose product lies beside a multiple, of many the largest factors."""
        numbers = beside(4 + (power - 4) * random.random((_TRIED, calls)))
        product = np.broadcast_to(np.prod(np.broadcast_arrays(*factors), axis=0), numbers.shape)
        best = (product * (numbers % product == 0)).argmax(axis=0), np.arange(calls)
        return [np.broadcast_to(one, numbers.shape)[best] for one in (numbers // product, *factors)]

    def often(name: str, share: float) -> np.ndarray:
        return np.asarray(random.random(calls) < fixed.get(name, share))

    numbers: dict[str, Any] = {name: number(name, power) for name, power in _POWERS.items()}
    numbers |= {"bias": often("bias", 0.5).astype(int), "transposed": often("transposed", 0.15).astype(int)}
    numbers["groups"] = np.where(numbers["transposed"], 1, numbers["groups"])
    if "depth" not in fixed:  # as many outputs as inputs, and depthwise
        numbers["outs"] = np.where(often("", 0.3), numbers["depth"], numbers["outs"])
        numbers["depth"] = np.where(often("", 0.2), 1, numbers["depth"])
    alike, square, threes = (often("", share) for share in (0.6, 0.4, 0.25))
    mode, images = random.integers(0, 8, calls), np.where(often("", 0.5), 1, numbers["images"])
    sides = 2 ** (_PIXELS_POWER / rank * random.random((rank - 1, _TRIED, calls)))
    wanted = random.permutation(beside_with(_PIXELS_POWER, *sides.astype(int), images)[:-1])
    for axis in range(rank):
        for word, power in _AXIS_POWERS[rank].items():
            own = number(f"{word}{axis}", power)
            own = np.where(threes & (word == "taps") & (f"taps{axis}" not in fixed), 3, own)
            copied = (square if word == "size" else alike) & (f"{word}{axis}" not in fixed)
            numbers[f"{word}{axis}"] = np.where(copied, numbers.get(f"{word}0", own), own)
        size, taps, stride, dilation = (numbers[f"{word}{axis}"] for word in WORDS[:4])
        reach, small = (taps - 1) * dilation, random.integers(0, 4, (2, calls))
        size = np.where(blocks, wanted[axis] * stride - random.integers(0, stride), size)
        same = np.maximum((-(-size // stride) - 1) * stride + reach + 1 - size, 0)
        pads = (  # VALID, SAME, SAME_LOWER, causal, half, any, a crop, more than the filter reaches
            (0 * size, 0 * size),
            (same // 2, same - same // 2),
            (same - same // 2, same // 2),
            (reach, 0 * size),
            (reach // 2, reach // 2),
            small,
            small - 2,
            reach + small,
        )
        modes = np.where(alike, mode, random.integers(0, len(pads), calls))
        padding = np.choose(fixed.get("mode", modes), np.array(pads))
        numbers[f"before{axis}"], numbers[f"after{axis}"] = padding
        fitting = (wanted[axis] - 1) * stride + reach + 1 - np.sum(padding, axis=0)
        numbers[f"size{axis}"] = np.where(blocks & ~numbers["transposed"] & (fitting > 0), fitting, size)
        numbers[f"extra{axis}"] = numbers["transposed"] * often("", 0.3) * random.integers(0, stride)
    depth, _ = beside_with(
        _POWERS["depth"], np.prod([numbers[f"taps{axis}"] for axis in range(rank)], axis=0)
    )
    numbers["depth"] = np.where(
        often("", 0.2) & ("depth" not in fixed) & (depth > 0), depth, numbers["depth"]
    )
    outs, macs = _outs_and_macs(numbers)
    legal = (np.min(outs, axis=0) > 0) & (macs <= most)
    return {name: values[legal] for name, values in numbers.items()}


def _outs_and_macs(numbers: Mapping[str, Any]) -> tuple[list[Any], Any]:
    """Return the sizes of the output and the multiply-adds; they say which calls are worth a look."""
    outs, macs = list[Any](), numbers["images"] * numbers["groups"] * numbers["depth"] * numbers["outs"]
    for axis in range(sum(name.startswith("size") for name in numbers)):
        size, taps, stride, dilation, before, after, extra = (numbers[f"{word}{axis}"] for word in WORDS)
        reach, up = (taps - 1) * dilation, numbers["transposed"]
        whole = (size - 1) * stride + reach + 1 - before - after + extra
        outs.append(np.where(up, whole, (size + before + after - reach - 1) // stride + 1))
        macs = macs * np.where(up, size, outs[-1]) * taps
    return outs, macs


def classes(numbers: Mapping[str, Any], dtype: Any, way: int = 0) -> np.ndarray:
    """Return the class of each property, each with a number of its own; of many calls a row for each."""
    outs, _ = _outs_and_macs(numbers)
    images, groups, depth, channels = (numbers[name] for name in _POWERS)
    axes = [{word: numbers[f"{word}{axis}"] for word in WORDS} for axis in range(len(outs))]
    terms, pixels = depth * np.prod([axis["taps"] for axis in axes], axis=0), np.prod(outs, axis=0)

    def beside(number: Any) -> Any:
        """The largest power of 2 a multiple of which is 3 beside a number, or less; 0 for a small one."""
        powers = {power: 2**power for power in range(_BLOCKS[0], _BLOCKS[-1] + 1)}
        return np.max([n * ((number + 3) % size <= 6) * (number > size - 4) for n, size in powers.items()], 0)

    def alike(*words: str) -> Any:
        return np.all([axis[word] == axes[0][word] for axis in axes for word in words], axis=0)

    of_call: tuple[Any, ...] = (
        *(images, images % 2, groups, groups % 2, groups % 16, beside(groups)),
        *(depth, depth % 16, channels, channels % 16, terms, terms % 16, beside(terms)),
        *(pixels % 16, beside(pixels), beside(images * pixels), numbers["bias"], numbers["transposed"]),
        *(alike("stride", "dilation", "before", "after"), alike("taps"), dtype),
    )
    values = {"way": way, **dict(zip(_OF_CALL, of_call, strict=True))}
    for axis, out, name in zip(axes, outs, AXES[-len(axes) :], strict=True):
        _, taps, stride, dilation, before, after, _ = axis.values()
        of_axis = (
            *(taps, stride, dilation, stride - taps, before, after, after - before),
            *(np.maximum(before, after) - (taps - 1) * dilation, (taps - 1) * dilation, axis["size"] % 8),
            *(out, out % 2, out % 8),
        )
        values |= {f"{name} {word}": value for word, value in zip(_OF_AXIS, of_axis, strict=True)}
    places = [
        edges.searchsorted(values[name], "right") if name in values else len(edges) + 1
        for name, edges in _EDGES.items()
    ]
    return np.stack(np.broadcast_arrays(*places), axis=-1) + _FIRST[:-1]


@dataclass(frozen=True)
class Known:
    """What is known of the calls that a kernel takes, and of those that it refuses."""

    worth: np.ndarray = field(default_factory=lambda: np.ones(_BEGIN[-1], np.float32))  # of one more call
    refused: np.ndarray = field(default_factory=lambda: np.zeros(_FIRST[-1]))  # below 0 once it was taken
    taken: list[Any] = field(default_factory=list)  # calls

    def rare(self, found: np.ndarray, chance: float) -> Any:
        """Whether each call has suspects, classes that were refused and never taken; chance allows a few."""
        often = self.refused[found]
        suspected = np.where(often >= _SEVERAL, often, 0).sum(axis=-1) * (self.refused < 0).any()
        return chance * suspected**2 > _SEVERAL  # many are drawn to find one

    def new(self, found: np.ndarray) -> np.ndarray:
        """Return how much is new in each call, by its classes."""
        return self.worth[_cells(found)].sum(axis=-1)

    def learn(self, found: np.ndarray, took: bool) -> None:
        """Note the classes of a call that was taken, or refused: any of several suspects may be why."""
        suspects = found[self.refused[found] >= _SEVERAL]
        if took:
            self.refused[found] = -np.inf
        elif suspects.size < 2:
            self.refused[suspects if suspects.size else found] += 1
        self.worth[_cells(found)] /= 4 if took else 1

    def pairs(self, ranks: Iterable[int], dtypes: list[str], most: int, fixed: Numbers) -> tuple[int, int]:
        """Return how many pairs of classes many drawn calls have, and how many of them were asked.

        What was always refused is left out.
        """
        random, there = np.random.default_rng(0), np.zeros(_BEGIN[len(_PAIRS)], bool)
        for rank in ranks:
            numbers = draw(random, rank, 10 * _SAMPLE, most, fixed)
            found = classes(numbers, random.choice(list(map(TYPES.index, dtypes)), len(numbers["bias"])))
            there[_cells(found[~self.rare(found, 1.0)][:_SAMPLE], len(_PAIRS))] = True
        there &= _THERE
        return int(there.sum()), int((there & (self.worth[: len(there)] < 1)).sum())


def _cells(found: np.ndarray, columns: int = len(_TOGETHER)) -> np.ndarray:
    """Return the places of the first pairs and triples of calls in the table of all."""
    ranks = (found - _FIRST[:-1]).astype(np.float32)
    return (ranks @ _STRIDES[:, :columns]).astype(int) + _BEGIN[:columns]
