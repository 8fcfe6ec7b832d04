"""What one output cell of a stack of layers sees of the stack's input: its receptive field.

Nothing is computed by formula: the field is followed back layer by layer through the index law and the
tables of `taps`, so that padding, dilation's holes and transposed layers come out as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from .. import tables, taps
from ..errors import ArgumentError, ArgumentTypeError
from ..geometry import AxisGeometry, Conv2DGeometry, Conv2DTransposeGeometry

__all__ = ["Field", "ReceptiveField", "receptive_field"]

Geometry: TypeAlias = Conv2DGeometry | Conv2DTransposeGeometry


@dataclass(frozen=True, slots=True)
class Field:
    """One axis of a cell's receptive field, in indices of the stack's input.

    ``start`` and ``stop`` bound it, padding included: they may lie outside the input. ``paths`` says for
    each index inside the input on how many ways it reaches the cell; with dilation some have none.
    """

    start: int
    stop: int
    paths: dict[int, int]

    @property
    def size(self) -> int:
        """How many indices from the first to the last, padding included."""
        return self.stop - self.start


@dataclass(frozen=True, slots=True, repr=False)
class ReceptiveField(tables.Report):
    """The receptive field of a stack of layers; ``print`` shows how it grows layer by layer.

    Attributes:
        geometries: the geometries of the layers, first layer first.
    """

    geometries: tuple[Geometry, ...]

    @property
    def size(self) -> tuple[int, int]:
        """(rows, cols) of the largest field of any output cell, padding included."""
        return self._largest("rows"), self._largest("cols")

    @property
    def stride(self) -> tuple[float, float]:
        """(rows, cols): how many input cells further the field is, one output cell further."""
        steps = []
        for axis in ("rows", "cols"):
            up = prod(getattr(g, axis).stride for g in self.geometries if isinstance(g, Conv2DGeometry))
            down = prod(
                getattr(g, axis).stride for g in self.geometries if isinstance(g, Conv2DTransposeGeometry)
            )
            steps.append(up / down)
        return steps[0], steps[1]

    @property
    def output_size(self) -> tuple[int, int]:
        """(rows, cols) of the stack's output."""
        rows, cols = (_sizes(self.geometries[-1], axis)[1] for axis in ("rows", "cols"))
        return rows, cols

    @property
    def input_size(self) -> tuple[int, int]:
        """(rows, cols) of the stack's input."""
        rows, cols = (_sizes(self.geometries[0], axis)[0] for axis in ("rows", "cols"))
        return rows, cols

    def at(self, row: int, col: int) -> tuple[Field, Field]:
        """The field of output cell (row, col): its rows and its columns.

        Raises ``IndexError`` where the cell is outside the output; negative numbers count from the end.

        >>> import teachconv as tc
        >>> layer = tc.conv2d_geometry((1, 9, 9, 1), (3, 3, 1, 1), padding="SAME")
        >>> rows, cols = tc.receptive_field([layer, layer]).at(0, 4)
        >>> (rows.start, rows.stop), cols.paths
        ((-2, 3), {2: 1, 3: 2, 4: 3, 5: 2, 6: 1})
        """
        places = []
        for index, size, name in zip((row, col), self.output_size, ("row", "col"), strict=True):
            if not -size <= index < size:
                raise IndexError(f"{name} must be inside the {size} of the output; got {index}")
            places.append(index % size)
        return self._field("rows", places[0]), self._field("cols", places[1])

    def _field(self, axis: str, index: int) -> Field:
        span, paths = range(index, index + 1), {index: 1}
        for g in reversed(self.geometries):
            span, paths = _back(g, axis, span, paths)
        return Field(span.start, span.stop, dict(sorted(paths.items())))

    def _largest(self, axis: str) -> int:
        """Far from any end each field has the size of its neighbours a whole number of strides away."""
        size = _sizes(self.geometries[-1], axis)[1]
        period = prod(
            getattr(g, axis).stride for g in self.geometries if isinstance(g, Conv2DTransposeGeometry)
        )
        return max((self._field(axis, i).size for i in range(min(size, period))), default=0)

    def _headline(self) -> str:
        (rows, cols), layers = self.size, tables.count(len(self.geometries), "layer")
        return f"{layers}, each output cell sees {rows} x {cols}"

    def _table(self) -> tables.Table:
        rows = []
        for number, g in enumerate(self.geometries, 1):
            so_far = ReceptiveField(self.geometries[:number])
            (height, width), (down, across) = so_far.size, so_far.stride
            layer = f"{g._name} {g.filters_shape[0]} x {g.filters_shape[1]}"
            layer += f", stride {g.strides[0]} x {g.strides[1]}"
            if g.dilations != (1, 1):
                layer += f", dilation {g.dilations[0]} x {g.dilations[1]}"
            sees = f"sees {height} x {width}, in steps of {down:g} x {across:g}"
            rows.append((f"{number}. {layer}", sees))
        return tables.Table(tables.left("", ""), rows)

    def _repr_html_(self) -> str:
        return f"<div>{self._repr_svg_()}{self._table().html()}</div>"

    def _repr_svg_(self) -> str:
        """The field of the middle output cell, darker where more ways lead there."""
        import numpy as np

        from .pictures import Panel, panels_to_svg

        row, col = (size // 2 for size in self.output_size)
        rows, cols = self.at(row, col)
        counts = np.zeros(self.input_size)
        for r, ways in rows.paths.items():
            for c, others in cols.paths.items():
                counts[r, c] = ways * others
        shown = [range(f.start, f.stop)[:16] for f in (rows, cols)]
        shaded = {(r, c) for r in rows.paths for c in cols.paths}
        title = f"input, as output [{row}, {col}] sees it"
        panel = Panel(title, counts, self.input_size, shown[0], shown[1], shaded)
        caption = (
            f"{rows.size} x {cols.size}; the numbers count the ways from an input cell to the output cell"
        )
        return panels_to_svg([panel], [], caption)


def receptive_field(geometries: Iterable[Geometry]) -> ReceptiveField:
    """Return the part of the input of a stack of layers that one output cell depends on.

    Args:
        geometries: geometries from `conv2d_geometry` and `conv2d_transpose_geometry`, first layer first.
            The input size of each layer must be the output size of the previous layer.

    Returns:
        A `ReceptiveField`.

    Raises:
        ValueError: if the sizes of two layers do not match.
        TypeError: if an item is not a geometry.

    >>> import teachconv as tc
    >>> first = tc.conv2d_geometry((1, 32, 32, 3), (3, 3, 3, 8), strides=2, padding="SAME")
    >>> second = tc.conv2d_geometry(first.output_shape, (3, 3, 8, 8), padding="SAME", dilations=2)
    >>> print(tc.receptive_field([first, second]))
    1. conv2d 3 x 3, stride 2 x 2               sees 3 x 3, in steps of 2 x 2
    2. conv2d 3 x 3, stride 1 x 1, dilation 2 x 2 sees 11 x 11, in steps of 2 x 2
    """
    if isinstance(geometries, (Conv2DGeometry, Conv2DTransposeGeometry)):
        raise ArgumentTypeError("geometries must be a list of geometries; got one, put it in brackets")
    layers = tuple(geometries)
    if not layers:
        raise ArgumentError("geometries must have at least one layer; got none")
    for number, g in enumerate(layers):
        if not isinstance(g, (Conv2DGeometry, Conv2DTransposeGeometry)):
            raise ArgumentTypeError(
                f"geometries[{number}] must come from conv2d_geometry or conv2d_transpose_geometry; "
                f"got {g!r:.80}"
            )
        for axis in ("rows", "cols"):
            have = _sizes(layers[number - 1], axis)[1] if number else _sizes(g, axis)[0]
            if have != _sizes(g, axis)[0]:
                raise ArgumentError(
                    f"geometries[{number}] must have {have} input {axis}, as many as the layer before gives; "
                    f"got {_sizes(g, axis)[0]}"
                )
    return ReceptiveField(layers)


def _sizes(g: Geometry, axis: str) -> tuple[int, int]:
    """How many indices one axis of a layer takes, and how many it gives."""
    found: AxisGeometry = getattr(g, axis)
    if isinstance(g, Conv2DTransposeGeometry):
        return found.out_size, found.in_size
    return found.in_size, found.out_size


def _back(g: Geometry, axis: str, span: range, paths: dict[int, int]) -> tuple[range, dict[int, int]]:
    """From indices of a layer's output to those of its input that they are computed from."""
    found: AxisGeometry = getattr(g, axis)
    counts: dict[int, int] = {}
    transposed = isinstance(g, Conv2DTransposeGeometry)
    table = taps.scatter(found) if transposed else taps.gather(found)
    for index, ways in paths.items():
        for other in table[index].indices:
            counts[other] = counts.get(other, 0) + ways
    if transposed:
        met = [t.out_index for index in span for t in taps.scatter_all(found, index)]
        return range(min(met, default=0), max(met, default=-1) + 1), counts
    if not span:  # nothing reaches a cell in a transposed layer's gap
        return span, counts
    first, last = found.in_index(span.start, 0), found.in_index(span.stop - 1, found.filter_size - 1)
    return range(first, last + 1), counts
