"""Winograd's short convolutions F(m, r): their exact matrices, and how an axis is cut into tiles and pieces.

kernels/winograd_matrices.h derives the matrices, and winograd_pieces.h cuts in the same way. `truth.bounds`
takes the sizes of the entries from here, and `explain` computes a tile with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .geometry import ConvGeometry
from .kinds import Kind
from .law import AxisGeometry


@dataclass(frozen=True, slots=True)
class Surd:
    """An exact number p + q √2 with rational p and q. The points of F(4, r) are such numbers.

    >>> print(Surd(Fraction(1, 2), Fraction(-2, 3)), Surd(Fraction(3)) * Surd(Fraction(0), Fraction(1)))
    1/2-2√2/3 3√2
    """

    p: Fraction
    q: Fraction = Fraction(0)

    def __add__(self, other: Surd) -> Surd:
        return Surd(self.p + other.p, self.q + other.q)

    def __mul__(self, other: Surd) -> Surd:
        return Surd(self.p * other.p + 2 * self.q * other.q, self.p * other.q + self.q * other.p)

    def __float__(self) -> float:
        return float(self.p) + float(self.q) * sqrt(2)

    def __str__(self) -> str:
        if not self.q:
            return str(self.p)
        sign = "-" if self.q < 0 else "+" if self.p else ""
        top, bottom = abs(self.q.numerator), self.q.denominator
        root = f"{'' if top == 1 else top}√2{'' if bottom == 1 else f'/{bottom}'}"
        return f"{self.p if self.p else ''}{sign}{root}"


def exact(array: np.ndarray) -> np.ndarray:
    """Return an array of finite floats as exact numbers."""
    return np.frompyfunc(lambda value: Surd(Fraction(float(value))), 1, 1)(array)


@dataclass(frozen=True, slots=True, eq=False)
class Tiles:
    """The transforms along one axis, and where its tiles lie.

    Attributes:
        b, g, a: B', G and A'; ``b`` and ``g`` have a row for each product, ``a`` has one for each output.
        start: the index of the data in the first column of ``b``, for the first tile.
        step: how far the next tile's lies.
        size: how many outputs there are.
        pieces: how many products an element is the sum of.
        direct: how many products the outputs of a tile take without the transforms.
    """

    b: np.ndarray
    g: np.ndarray
    a: np.ndarray
    start: int
    step: int
    size: int
    pieces: int
    direct: int

    @property
    def tiles(self) -> int:
        """The number of tiles, at least one."""
        return max(1, -(-self.size // len(self.a)))

    def outputs(self, tile: int) -> range:
        """The outputs of a tile by its number; the last one may have fewer."""
        return range(self.size)[tile * len(self.a) : (tile + 1) * len(self.a)]


@lru_cache(maxsize=256)
def tiles_of(name: str, axis: AxisGeometry, scatters: bool) -> Tiles:
    """Return the transforms of an axis, whose taps are cut into pieces of up to three.

    Args:
        name: the algorithm, or the bound: a key of `FORMS`.
        axis: the geometry of the axis.
        scatters: whether it is that of an input gradient, which is a convolution for each of its phases.

    Returns:
        The transforms.
    """
    s, taps = axis.stride, range(axis.filter_size)
    tables = FORMS[name] if axis.filter_size > 1 else {1: (np.array([[_ONE]]),) * 3}
    m = len(next(iter(tables.values()))[2])  # outputs of a tile
    # the taps of each phase, what the first one reads for output 0, how far the next lie, and its outputs
    phases = [(taps[phase::s], phase - axis.pad_before, s, range(m)) for phase in taps[:s]]
    if scatters:
        law = [(phase, *divmod(phase + axis.pad_before, s)) for phase in range(s)]
        phases = [
            (taps[tap::s][::-1], start + 1 - len(taps[tap::s]), 1, range(phase, m * s, s))
            for phase, start, tap in law
        ]
    pieces: list[tuple[range, np.ndarray, range]] = []
    for some, start, step, outs in phases:
        while some:
            r = 2 if len(some) == 4 else min(3, len(some))
            pieces.append((some[:r], start + step * np.arange(r + m - 1), outs))
            some, start = some[r:], start + step * r
    first = min(inputs[0] for _, inputs, _ in pieces)
    slots, span = (sum(len(i) for _, i, _ in pieces), max(i[-1] for _, i, _ in pieces) + 1 - first)
    b, g = np.full((slots, span), _ZERO), np.full((slots, len(taps)), _ZERO)
    a = np.full((m * s if scatters else m, slots), _ZERO)
    at = 0
    for some, inputs, outs in pieces:
        rows = slice(at, at := at + len(inputs))
        b[rows, inputs - first], g[rows, list(some)], a[list(outs), rows] = tables[len(some)]
    most = max(-(-len(some) // 3) for some, *_ in phases)
    step, size = (m, axis.in_size) if scatters else (m * s, axis.out_size)
    return Tiles(b, g, a, int(first), step, size, most, m * len(taps))


def windows(data: np.ndarray, tables: Sequence[Tiles]) -> np.ndarray:
    """Return what each tile reads, with zeros for the padding.

    Args:
        data: [batch, rows, cols, channels].
        tables: the tiles of the rows, and of the columns.

    Returns:
        [batch, tile, tile, channel, span, span].
    """
    spans = [axis.b.shape[1] for axis in tables]
    data = np.pad(data, [(0, 0), (0, 1), (0, 1), (0, 0)])  # the last index has the zeros of the padding
    for place, (axis, span) in enumerate(zip(tables, spans, strict=True), 1):
        index = axis.start + np.arange(axis.step * (axis.tiles - 1) + span)
        inside = (index >= 0) & (index < data.shape[place] - 1)
        data = data.take(np.where(inside, index, -1), place)
    return sliding_window_view(data, spans, axis=(1, 2))[:, :: tables[0].step, :: tables[1].step]


def products(name: str, kind: Kind, geometry: ConvGeometry) -> str:
    """Say how many products a tile takes, and how many it would take without the transforms.

    Args:
        name: the algorithm.
        kind: the kind of call.
        geometry: its geometry; of a volume the tiles lie in its planes.

    Returns:
        A text such as "16 products for 2 x 2 outputs, instead of 36"; "" for any other algorithm.
    """
    if name not in FORMS:
        return ""
    tiles = [tiles_of(name, axis, kind.scatters) for axis in geometry.axes[-2:]]
    cells = " x ".join(str(len(axis.a)) for axis in tiles)
    made, direct = prod(len(axis.b) for axis in tiles), prod(axis.direct for axis in tiles)
    return f"{made} products for {cells} outputs, instead of {direct}"


_Matrices: TypeAlias = tuple[np.ndarray, np.ndarray, np.ndarray]  # B', G and A'
_ZERO, _ONE = Surd(Fraction(0)), Surd(Fraction(1))


def _table(*rows: str) -> np.ndarray:
    """Return a matrix by its rows, with entries such as "-5", "1/6", "2a/3"; a, b are roots of 1/2 and 2."""
    roots = {"a": Surd(Fraction(0), Fraction(1, 2)), "b": Surd(Fraction(0), Fraction(1))}

    def entry(text: str) -> Any:
        top, _, bottom = text.partition("/")
        digits = top.rstrip("ab")
        factor = Fraction(int(f"{digits}1" if digits in ("", "-") else digits), int(bottom or 1))
        return roots.get(top[-1], _ONE) * Surd(factor)

    return np.array([[entry(text) for text in row.split()] for row in rows])


_TWO: dict[int, _Matrices] = {
    1: (_table("1 0", "0 1"), _table("1", "1"), _table("1 0", "0 1")),
    2: (_table("1 -1 0", "0 -1 1", "0 1 0"), _table("1 0", "0 1", "1 1"), _table("1 0 1", "0 1 1")),
    3: (
        _table("1 0 -1 0", "0 -1 0 1", "0 1 1 0", "0 -1 1 0"),
        _table("1 0 0", "0 0 1", "1/2 1/2 1/2", "1/2 -1/2 1/2"),
        _table("1 0 1 1", "0 1 1 -1"),
    ),
}
_OUTPUTS = _table("1 0 1 1 1 1", "0 0 a -a b -b", "0 0 1/2 1/2 2 2", "0 1 a/2 -a/2 2b -2b")
_FOUR: dict[int, _Matrices] = {
    1: (
        _table("1 0 -2 0", "0 -1/2 0 1", "0 a 1 0", "0 -a 1 0"),
        _table("1", "1", "1", "1"),
        _OUTPUTS[:, :4],
    ),
    2: (
        _table("1 -a -2 b 0", "0 a -1/2 -b 1", "0 1 a -1 0", "0 1 -3a 1 0", "0 -1/2 0 1 0"),
        _table("1 0", "0 1", "b 1", "-b/3 1/3", "2a/3 2/3"),
        _OUTPUTS[:, :5],
    ),
    3: (
        _table(
            "1 0 -5/2 0 1 0",
            "0 1 0 -5/2 0 1",
            "0 b 2 -a -1 0",
            "0 -b 2 a -1 0",
            "0 -a -1/2 b 1 0",
            "0 a -1/2 -b 1 0",
        ),
        _table("1 0 0", "0 0 1", "2/3 2a/3 1/3", "2/3 -2a/3 1/3", "1/6 b/6 1/3", "1/6 -b/6 1/3"),
        _OUTPUTS,
    ),
}
# F(4, 3) with the points 0, +-1, +-2 and infinity: the GPU's kernel, and the bound "winograd4"
_TEXTBOOK: _Matrices = (
    _table(
        "4 0 -5 0 1 0", "0 -4 -4 1 1 0", "0 4 -4 -1 1 0", "0 -2 -1 2 1 0", "0 2 -1 -2 1 0", "0 4 0 -5 0 1"
    ),
    _table("1/4 0 0", "-1/6 -1/6 -1/6", "-1/6 1/6 -1/6", "1/24 1/12 1/6", "1/24 -1/12 1/6", "0 0 1"),
    _table("1 1 1 1 1 0", "0 1 -1 2 -2 0", "0 1 1 4 4 0", "0 1 -1 8 -8 1"),
)
# B', G and A' of F(m, r) by r, for each algorithm of the cython backend, and the textbook's
FORMS = {"winograd": _TWO, "winograd2": _TWO, "winograd4": _FOUR, "winograd4 textbook": {3: _TEXTBOOK}}
