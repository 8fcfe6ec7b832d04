"""Computes the tile of a cell as Winograd's kernels do, in exact numbers: the steps of kernels/winograd.h."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import Any

import numpy as np

from .. import backends
from ..core.arguments import Shape
from ..core.calls import Call
from ..core.winograd import FORMS, exact, products, tiles_of, windows
from ..running.dispatch import find_algorithm
from ..support import tables
from ..support.errors import ArgumentError, brief
from . import marks
from .tracing import beside, matrix_text

ALGORITHMS = tuple(name for name in FORMS if " " not in name)  # without the textbook's matrices
_BACKEND = "cython"  # whose matrices they are


@dataclass(frozen=True, eq=False)
class WinogradTile:
    """One tile of a call, step by step. Every number is exact: a `teachconv.core.winograd.Surd`, p + q √2.

    Attributes:
        algorithm: "winograd", "winograd2" or "winograd4".
        rows: the rows of the result that the tile has; its products may give more, past the edge.
        cols: the columns of the result that the tile has.
        saving: how many products the tile takes, and how many it would take without the transforms.
        inputs: d, what the tile reads, [channels, rows, cols], with zeros for the padding.
        filters: g, the filter's taps, [channels, filter_rows, filter_cols].
        transformed_inputs: V = B' d B of each channel.
        transformed_filters: U = G g G' of each channel.
        products: M, the sum of U * V over the channels, element by element.
        outputs: Y = A' M A, the result without its bias, [rows, cols].
        lines: the lines of the kernels that compute these steps.
    """

    algorithm: str
    rows: range
    cols: range
    saving: str
    inputs: np.ndarray
    filters: np.ndarray
    transformed_inputs: np.ndarray
    transformed_filters: np.ndarray
    products: np.ndarray
    outputs: np.ndarray
    lines: tuple[marks.SourceLine, ...]

    @property
    def headline(self) -> str:
        """Where the tile lies, and what it saves."""
        rows, cols = (f"{span[0]} to {span[-1]}" for span in (self.rows, self.cols))
        return f"rows {rows} and columns {cols}: {self.saving}"

    def text(self) -> list[str]:
        """The matrices before and after each step, those of the first channel; the products of all."""
        channels = len(self.inputs)
        one, over = (
            (f" of channel 0 of {channels}", f", summed over {channels} channels")
            if channels > 1
            else ("", "")
        )
        v, u = self.transformed_inputs[0], self.transformed_filters[0]
        steps: tuple[tuple[str, str, dict[str, np.ndarray]], ...] = (
            ("input-transform", f"input transform: B' d B{one}", {"d": self.inputs[0], "V": v}),
            ("filter-transform", f"filter transform: G g G'{one}", {"g": self.filters[0], "U": u}),
            ("multiply-add", f"products: U * V, element by element{over}", {"M": self.products}),
            ("output-transform", "output transform: A' M A", {"M": self.products, "Y": self.outputs}),
        )
        found = []
        for number, (mark, title, arrays) in enumerate(steps, 1):
            place = next((line.place for line in self.lines if line.mark == mark), "")
            blocks = [[name, *matrix_text(array, _written)] for name, array in arrays.items()]
            lines = beside(*blocks)
            lines = lines if max(map(len, lines)) <= _WIDTH else [*chain(*blocks)]
            found += [f"{number} {title}  {place}".rstrip(), *(f"    {line}" for line in lines)]
        if any("~" in line for line in found):
            found.append("~ is before a number that is written with four digits; .tile has all exactly")
        return found


_WIDTH = 96  # characters of a line, without what is before it
_LARGEST = 999  # denominator of a fraction that is written as it is


def _written(number: Any) -> str:
    """Write an exact number; one with a large denominator as a decimal with four digits."""
    if max(number.p.denominator, number.q.denominator) > _LARGEST:
        return f"~{tables.number(float(number), 4)}"
    return str(number)


def tile_of(call: Call, algorithm: Any, cell: Shape) -> WinogradTile:
    """Return the tile that has a cell of the result.

    Args:
        call: the call.
        algorithm: one of `ALGORITHMS`.
        cell: a cell of the result, (n, row, col, channel).

    Returns:
        The tile.

    Raises:
        ValueError, TypeError: if the algorithm cannot compute the call, or if there is no such tile to show.
    """
    kind, geometry = call.kind, call.geometry
    find_algorithm(_BACKEND, import_module(backends.TABLE[_BACKEND]), call, algorithm)
    needs = f"algorithm={brief(algorithm)} of explain needs"
    if geometry.rank != 2:
        raise ArgumentError(f"{needs} two spatial axes; got {geometry.rank}")
    if kind.sums_images:
        raise ArgumentError(f"{needs} a cell that one tile computes; a filter gradient sums over all tiles")
    n, *place, channel = cell
    axes = rows, cols = [tiles_of(algorithm, axis, kind.scatters) for axis in geometry.axes]
    row, col = (index // len(axis.a) for index, axis in zip(place, axes, strict=True))
    d = windows(call.first[n : n + 1].astype(np.float64), axes)[0, row, col]
    w = call.second if kind.scatters else call.second.swapaxes(-2, -1)  # [.., channel of the result, others]
    g = np.moveaxis(w[..., channel, :].astype(np.float64), -1, 0)
    if not (len(d) and np.isfinite(d).all() and np.isfinite(g).all()):
        raise ArgumentError(
            f"{needs} a tile of finite numbers: row_gemm computes an image that has infinity or NaN"
        )
    d, g = exact(d), exact(g)
    v, u = rows.b @ d @ cols.b.T, rows.g @ g @ cols.g.T
    m = (u * v).sum(0)
    return WinogradTile(
        algorithm,
        rows.outputs(row),
        cols.outputs(col),
        products(algorithm, kind, geometry),
        inputs=d,
        filters=g,
        transformed_inputs=v,
        transformed_filters=u,
        products=m,
        outputs=rows.a @ m @ cols.a.T,
        lines=tuple(marks.find(_BACKEND, [algorithm], kind)),
    )
