"""A network whose weights do not fit into its page: maps as bytes, and exact numbers on the strongest ways.

The page has the four strongest maps of each column. From the answer, the strongest products lead back to the
input, as network_why.js follows them. Of the cells on these ways the page has the window and the filter as
they are, as many as fit, so that it sums them exactly.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..core.law import AxisGeometry
from ..core.taps import gather_all, scatter_all
from ..networks.walking import INPUT, framework_of
from ..support.progress import track
from .network_document import NetworkDocument, cells_of, packed
from .packing import nbytes

Cell = tuple[int, int, int, int]  # column, row, column of the map, channel
MAPS = 4  # of a column
GRID = 7  # rows and columns of the squares that are covered
_RIVALS = 3  # of the winner: the ways that lead to the difference from each
_SHOWN = 12  # classes whose sums the page has
_KEEP = (3, 2, 2, 1)  # ways from the answer, and from each cell that they come from: as in network_why.js


class LargeNetwork:
    """What the page of a large network holds.

    Args:
        document: the network's columns and numbers.
        at: the cell to begin with, if any.
    """

    def __init__(self, document: NetworkDocument, at: Sequence[int] | None) -> None:
        self.document = document
        self.columns, self.values = document.columns, document.values
        self.made = document.data()
        self.answer = self.made["answer"]
        self.at = None if at is None else (at[0], at[1], at[2], at[3])
        self.runs = self.answer is not None and framework_of(document.network.model) != "recording"
        self.places: list[set[int]] = [set() for _ in self.columns]  # whose numbers the page has
        self.held: list[set[int]] = [set() for _ in self.columns]  # channels whose filters it has
        self.cells: list[Cell] = []

    def data(self, room: int) -> dict[str, Any]:
        """Return the document.

        Args:
            room: how many bytes it may take.
        """
        made = self.made | {"input": None, "cells": [], "cover": self._cover(), "without": self._without()}
        columns = [self._column(k) for k in range(len(self.columns))]
        left = room - nbytes(packed(made | {"columns": columns}))
        for k, values in enumerate(self.values):
            if values.shape[:2] == (1, 1):
                self.places[k].add(0)
        for cell in self._wanted():
            places, filters = self._needs(cell)
            new = sum(self.values[k][0, 0].nbytes + 8 for k, at in places if at not in self.places[k])
            if filters is not None and cell[3] not in self.held[cell[0]]:
                new += filters.nbytes + 80
            left -= new * 4 // 3 + 40
            if left < 0:
                break
            self.cells.append(cell)
            for k, at in places:
                self.places[k].add(at)
            if filters is not None:
                self.held[cell[0]].add(cell[3])
        for k, column in enumerate(columns):
            numbers = self.values[k].reshape(-1, self.values[k].shape[2])
            column["places"] = sorted(self.places[k])
            column["known"] = numbers[column["places"]]
            column["held"] = {str(channel): self._filter(k, channel) for channel in sorted(self.held[k])}
        return made | {"columns": columns, "cells": [list(cell) for cell in self.cells]}

    def _column(self, k: int) -> dict[str, Any]:
        """Return a column without its numbers and weights, and with its strongest maps as bytes."""
        column, values = self.columns[k], self.values[k]
        maps = np.argsort(-np.abs(values).max((0, 1)), kind="stable")[:MAPS]
        low, high = float(values.min()), float(values.max())
        kept = {name: value for name, value in column.items() if name not in ("filters", "values")}
        if "filters" in column:
            kept["filters"] = {"shape": [*column["filters"].shape]}
        if values.shape[:2] == (1, 1):
            return kept
        numbers = np.moveaxis(values[..., maps], 2, 0)
        written = np.rint((numbers - low) * (255 / ((high - low) or 1))).astype(np.uint8)
        text = b64encode(written.tobytes()).decode()
        return kept | {"thumbs": maps.tolist(), "bytes": text, "low": low, "high": high}

    # ---------------------------------------------------------------------------------------------
    # Ways, as in network_why.js
    # ---------------------------------------------------------------------------------------------

    def _wanted(self) -> Iterator[Cell]:
        """Yield the cells that are shown with their sums: the one asked for, the answer's, those on ways."""
        lines: list[tuple[float, Cell]] = []
        if self.at is not None:
            lines += [(3.0, self.at), *((2 + share, cell) for share, cell in self._behind(self.at, 0.9, 0))]
        if self.answer is not None:
            lines += [(2.0, cell) for cell in self._best]
            for rival in self._best[1 : _RIVALS + 1] if self._explains() else ():
                lines += self._into(*self.difference(self._best[0], rival), 1.0, 0)
        cells = dict.fromkeys(cell for _, cell in sorted(lines, key=lambda line: -line[0]))
        yield from (cell for cell in cells if cell[0] and self.columns[cell[0]]["kind"] != "box")

    @cached_property
    def _best(self) -> list[Cell]:
        """The classes with the highest scores."""
        ranked = np.argsort(-self.values[self.answer].ravel(), kind="stable")[:_SHOWN]
        return [(self.answer, 0, 0, int(c)) for c in ranked]

    def _explains(self) -> bool:
        """Whether the answer is a sum whose products say why."""
        return self.columns[self.answer]["kind"] in ("convolution", "average pool")

    def difference(self, winner: Cell, rival: Cell) -> tuple[list[Cell], np.ndarray, float]:
        """Return what the difference of two scores is made of: cells, their products, and the bias."""
        (mine, first), (theirs, second) = self.taps(winner), self.taps(rival)
        if "filters" not in self.columns[winner[0]]:
            return mine + theirs, np.concatenate([first, -second]), 0.0
        bias = self.columns[winner[0]]["bias"]
        between = 0.0 if bias is None else float(bias[winner[3]]) - float(bias[rival[3]])
        numbers = np.array([self.values[k][r, q, c] for k, r, q, c in mine], np.float64)
        weights = self._weights(winner) - self._weights(rival)
        return mine, numbers * weights, between

    def _into(
        self, sources: list[Cell], products: np.ndarray, bias: float, wide: float, depth: int
    ) -> list[tuple[float, Cell]]:
        """Return the strongest cells that a sum is made of, and those behind them, with their shares."""
        positive = products[products > 0].sum() + max(0.0, bias) or 1.0
        lines = []
        for i in np.argsort(-products, kind="stable")[: _KEEP[min(depth, len(_KEEP) - 1)]]:
            share = wide * float(products[i]) / positive
            if products[i] > 0:
                lines += [(share, sources[i]), *self._behind(sources[i], share, depth)]
        return lines

    def _behind(self, cell: Cell, share: float, depth: int) -> list[tuple[float, Cell]]:
        column = self.columns[cell[0]]
        if not cell[0] or column["kind"] == "box":
            return []
        sources, products = self.taps(cell)
        if column["kind"] == "max pool" or (len(sources) == 1 and "filters" not in column):
            only = sources[int(products.argmax())]
            return [(share, only), *self._behind(only, share, depth)]
        bias = column.get("bias")
        return self._into(sources, products, 0.0 if bias is None else bias[cell[3]], share, depth + 1)

    def taps(self, cell: Cell) -> tuple[list[Cell], np.ndarray]:
        """Return the cells that a cell is made of, in the order of network_numbers.js, and their products."""
        k, row, col, channel = cell
        column = self.columns[k]
        if "axes" not in column:
            sources, before = [], 0
            for source in column["from"]:
                depth = self.columns[source]["shape"][2]
                own = channel - before if column["kind"] == "concatenate" else channel
                sources += [(source, row, col, own)] if 0 <= own < depth else []
                before += depth
        else:
            (source,) = column["from"]
            first, count = self._planes(cell)
            places = self._window(k, row, col)
            sources = [(source, y, z, first + i) for i in range(count) for _, _, y, z in places]
        numbers = np.array([self.values[at][r, q, c] for at, r, q, c in sources], np.float64)
        return sources, numbers * self._weights(cell)

    def _planes(self, cell: Cell) -> tuple[int, int]:
        """Return the first channel that a cell reads, and how many it reads."""
        column, depth = self.columns[cell[0]], self.columns[self.columns[cell[0]]["from"][0]]["shape"][2]
        groups = column["groups"] if "filters" in column else column["shape"][2]
        return cell[3] // (column["shape"][2] // groups) * (depth // groups), depth // groups

    def _window(self, k: int, row: int, col: int) -> list[tuple[int, int, int, int]]:
        """Return the taps of a place and where each reads, those in the padding left out."""
        column = self.columns[k]
        scatters = column["kind"] == "transposed convolution"
        taps = scatter_all if scatters else gather_all
        down, across = (
            [
                (tap.tap, tap.out_index if scatters else tap.in_index)
                for tap in taps(AxisGeometry(*axis), at)
                if not tap.in_padding
            ]
            for axis, at in zip(column["axes"], (row, col), strict=True)
        )
        return [(t, u, y, z) for t, y in down for u, z in across]

    def _filter(self, k: int, channel: int) -> np.ndarray:
        """Return the weights of a channel, [filter_rows, filter_cols, in_channels]."""
        column = self.columns[k]
        if column["kind"] == "convolution":
            return column["filters"][..., channel]
        first, count = self._planes((k, 0, 0, channel))
        outs = column["shape"][2] // column["groups"]
        return column["filters"][:, :, channel % outs, first : first + count]

    def _weights(self, cell: Cell) -> np.ndarray:
        """Return the weights of the cells of `taps`."""
        column = self.columns[cell[0]]
        if "axes" not in column:
            return np.ones(1)
        places = self._window(*cell[:3])
        if "filters" not in column:
            divisor = column["divisor"] if column["kind"] == "average pool" else 1
            counted = divisor if isinstance(divisor, int) else len(places)
            return np.full(len(places), 1 / counted)
        weights = self._filter(cell[0], cell[3]).astype(np.float64)
        return weights[[t for t, *_ in places], [u for _, u, *_ in places]].T.ravel()

    def _needs(self, cell: Cell) -> tuple[set[tuple[int, int]], np.ndarray | None]:
        """Return the places whose numbers show a cell's sum, and its filter."""
        k, row, col, channel = cell
        widths = {source: self.columns[source]["shape"][1] for source in self.columns[k]["from"]}
        filters = self._filter(k, channel) if "filters" in self.columns[k] else None
        own = {(k, row * self.columns[k]["shape"][1] + col)}
        if "axes" not in self.columns[k]:
            return own | {(source, row * width + col) for source, width in widths.items()}, filters
        ((source, width),) = widths.items()
        return own | {(source, y * width + z) for _, _, y, z in self._window(k, row, col)}, filters

    # ---------------------------------------------------------------------------------------------
    # Other runs of the model
    # ---------------------------------------------------------------------------------------------

    def _again(self, k: int, numbers: np.ndarray, *wanted: int) -> list[np.ndarray]:
        """Run the model after replacing the numbers of a column; return those of the wanted columns."""
        network, number = self.document.network, self.document.layers[k]
        layer = None if number == INPUT else network.layers[number]
        axis, like = (network.axis, network.x) if layer is None else (layer.axis, layer.output)
        assert like is not None
        there = np.moveaxis(numbers, -1, 0) if axis == 1 else numbers
        recording = network.run_with({number: np.ascontiguousarray(there).reshape(like.shape)}, {})
        layers = [network.layers[self.document.layers[n]] for n in wanted]
        return [cells_of(recording[layer.call]["output"], layer.axis) for layer in layers]

    def _without(self) -> dict[str, list[float]]:
        """Return, for the strongest cells of the difference to the next class, what taking one away leaves.

        Of each cell: the number that then stands there, and the difference of the scores.
        """
        if not self.runs or not self._explains():
            return {}
        winner, rival = self._best[:2]
        sources, products, _ = self.difference(winner, rival)
        left = {}
        for i in np.argsort(-products, kind="stable")[: _KEEP[0]]:
            origin = source = sources[i]
            while self.columns[origin[0]]["kind"] == "max pool":  # the cell that it passes on
                before, numbers = self.taps(origin)
                origin = before[int(numbers.argmax())]
            numbers = self.values[origin[0]].copy()
            numbers[origin[1:]] = 0
            there, scores = self._again(origin[0], numbers, source[0], self.answer)
            margin = scores[0, 0, winner[3]] - scores[0, 0, rival[3]]
            left[",".join(map(str, source))] = [float(there[source[1:]]), float(margin)]
        return left

    def _cover(self) -> dict[str, Any] | None:
        """Return what the winner is ahead by if a square of the input is covered, for a grid of them.

        A covered square has the mean of the whole input.
        """
        rows, cols = self.values[0].shape[:2]
        if not self.runs or min(rows, cols) < GRID:
            return None
        scores = self.values[self.answer].ravel()
        win = int(scores.argmax())
        edges = [np.linspace(0, size, GRID + 1).round().astype(int) for size in (rows, cols)]
        margins = []
        for number in track(list(range(GRID * GRID)), "covering parts of the input"):
            row, col = divmod(number, GRID)
            (top, bottom), (left, right) = edges[0][row : row + 2], edges[1][col : col + 2]
            cells = self.values[0].copy()
            cells[top:bottom, left:right] = cells.mean((0, 1))
            seen = self._again(0, cells, self.answer)[0].ravel()
            margins.append(float(seen[win] - np.delete(seen, win).max()))
        whole = float(scores[win] - np.delete(scores, win).max())
        named = {"grid": GRID, "edges": [edge.tolist() for edge in edges], "win": win}
        return named | {"margins": margins, "whole": whole}
