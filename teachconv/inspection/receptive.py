"""What one output cell of a stack of layers sees of the stack's input: its receptive field.

Nothing is computed by formula: the field is followed back layer by layer through the index law and the
tables of `taps`, so that padding, dilation's holes and transposed layers come out as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

from .. import tables, taps
from ..argument_types import Ints
from ..arguments import normalize_steps
from ..errors import ArgumentError, ArgumentTypeError, brief, suggestion
from ..geometry import (
    AxisGeometry,
    Conv2DGeometry,
    Conv2DTransposeGeometry,
    conv2d_geometry,
    conv2d_transpose_geometry,
)
from ..windows.pooling import PoolCall

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

    ``tc.plot.receptive_field`` draws it.

    Attributes:
        geometries: the geometries of the layers, first layer first.
        names: what each layer is called.
    """

    geometries: tuple[Geometry, ...]
    names: tuple[str, ...]

    @property
    def size(self) -> tuple[int, int]:
        """(rows, cols) of the largest field of any output cell, padding included."""
        return self._largest("rows"), self._largest("cols")

    @property
    def stride(self) -> tuple[float, float]:
        """How many input cells further the field is, one output cell further, as (rows, cols)."""
        steps = []
        for axis in ("rows", "cols"):
            up = prod(getattr(g, axis).stride for g in self.geometries if isinstance(g, Conv2DGeometry))
            down = prod(
                getattr(g, axis).stride for g in self.geometries if isinstance(g, Conv2DTransposeGeometry)
            )
            steps.append(up / down)
        return steps[0], steps[1]

    @property
    def offset(self) -> tuple[int, int]:
        """(row, col) of the first input cell that output cell (0, 0) sees; negative in the padding."""
        rows, cols = self._first
        return rows.start, cols.start

    @property
    def centre(self) -> tuple[float, float]:
        """(row, col) of the middle of what output cell (0, 0) sees.

        That of output cell (i, j) is i and j strides further, except behind a transposed layer, where
        neighbouring fields may have other sizes.
        """
        rows, cols = ((field.start + field.stop - 1) / 2 for field in self._first)
        return rows, cols

    @property
    def _first(self) -> tuple[Field, Field]:
        """The field of output cell (0, 0); an empty one where there is no output."""
        return (Field(0, 0, {}),) * 2 if 0 in self.output_size else self.at(0, 0)

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
        """Return the field of an output cell.

        Args:
            row: the row of the cell; negative numbers count from the end.
            col: its column, likewise.

        Returns:
            Its rows and its columns.

        Raises:
            IndexError: if the cell is outside the output.

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
            so_far = ReceptiveField(self.geometries[:number], self.names[:number])
            layer = f"{number}. {self.names[number - 1]} {g.filters_shape[0]} x {g.filters_shape[1]}"
            layer += f", stride {g.strides[0]} x {g.strides[1]}"
            if g.dilations != (1, 1):
                layer += f", dilation {g.dilations[0]} x {g.dilations[1]}"
            pairs = so_far.size, so_far.stride, so_far.offset, so_far.centre
            rows.append((layer, *(f"{a:g}{sign}{b:g}" for (a, b), sign in zip(pairs, _SIGNS, strict=True))))
        columns = (*tables.left("layer"), *tables.right("sees", "in steps of", "offset", "centre"))
        return tables.Table(columns, rows, notes=(_NOTE,))


_SIGNS = (" x ", " x ", ", ", ", ")
_NOTE = "offset: the first input row and column that output [0, 0] sees; centre: the middle of what it sees"


def receptive_field(
    geometries: Iterable[Geometry | PoolCall | Sequence[Any]], *, input_size: Ints = 224
) -> ReceptiveField:
    """Return the part of the input of a stack of layers that one output cell depends on.

    Args:
        geometries: the layers, first layer first: geometries from `conv2d_geometry` and
            `conv2d_transpose_geometry`, pools that `resolve` returned, or tuples (layer, size, stride,
            padding, dilation) such as ("conv", 3, 2) or ("pool", 2). The layer is "conv", "pool" or
            "transpose". What is left out at the end is stride 1 (for "pool" the size), padding "VALID" and
            dilation 1. The input size of a geometry must be the output size of the previous layer.
        input_size: rows and columns of the input, if the first layer is a tuple.

    Returns:
        A `ReceptiveField`.

    Raises:
        ValueError: if the sizes of two layers do not match, or the numbers of a layer are not legal.
        TypeError: if an item is neither a geometry nor such a tuple.

    >>> import teachconv as tc
    >>> first = tc.conv2d_geometry((1, 32, 32, 3), (3, 3, 3, 8), strides=2, padding="SAME")
    >>> second = tc.conv2d_geometry(first.output_shape, (3, 3, 8, 8), padding="SAME", dilations=2)
    >>> tc.receptive_field([first, second]).size
    (11, 11)
    >>> print(tc.receptive_field([("conv", 7, 2, "SAME"), ("pool", 3, 2, 1), ("conv", 3, 1, "SAME", 2)]))
    layer                                             sees  in steps of    offset      centre
    1. conv2d 7 x 7, stride 2 x 2                    7 x 7        2 x 2    -2, -2        1, 1
    2. pool 3 x 3, stride 2 x 2                    11 x 11        4 x 4    -4, -4        1, 1
    3. conv2d 3 x 3, stride 1 x 1, dilation 2 x 2  27 x 27        4 x 4  -12, -12        1, 1
    offset: the first input row and column that output [0, 0] sees; centre: the middle of what it sees
    """
    if isinstance(geometries, (Conv2DGeometry, Conv2DTransposeGeometry)):
        raise ArgumentTypeError("geometries must be a list of geometries; got one, put it in brackets")
    if not isinstance(geometries, Iterable):
        raise ArgumentTypeError(f"geometries must be a list of geometries; got {brief(geometries)}")
    layers: list[Geometry] = []
    names = []
    size = normalize_steps(input_size, "input_size")
    for number, layer in enumerate(geometries):
        where = f"geometries[{number}]"
        if isinstance(layer, (Conv2DGeometry, Conv2DTransposeGeometry, PoolCall)):
            g, name = (layer.geometry, "pool") if isinstance(layer, PoolCall) else (layer, layer._name)
            if g.rank != 2:
                raise ArgumentError(f"{where} must have 2 axes, rows and cols; got {g.rank}, of a {name}")
        else:
            g = _from_words(layer, where, size)
            name = "pool" if layer[0] == "pool" else g._name
        for axis, have in zip(("rows", "cols"), size, strict=True):
            if layers and have != _sizes(g, axis)[0]:
                raise ArgumentError(
                    f"{where} must have {have} input {axis}, as many as the layer before gives; "
                    f"got {_sizes(g, axis)[0]}"
                )
        layers.append(g)
        names.append(name)
        size = _sizes(g, "rows")[1], _sizes(g, "cols")[1]
    if not layers:
        raise ArgumentError("geometries must have at least one layer; got none")
    return ReceptiveField(tuple(layers), tuple(names))


def _from_words(layer: Any, where: str, size: tuple[int, ...]) -> Geometry:
    """Return the geometry of a layer given as (layer, size, stride, padding, dilation)."""
    if isinstance(layer, str) or not isinstance(layer, Sequence) or not 2 <= len(layer) <= 5:
        raise ArgumentTypeError(
            f"{where} must come from conv2d_geometry or conv2d_transpose_geometry, or be a tuple (layer, "
            f'size, stride, padding, dilation) such as ("conv", 3, 2); got {brief(layer)}'
        )
    name, filter_size, *rest = layer
    if name not in list(_LAYERS):  # a name may be anything, also what cannot be hashed
        near = suggestion(name, _LAYERS)
        raise ArgumentError(f"{where}[0] must be {', '.join(map(repr, _LAYERS))}; got {brief(name)}{near}")
    rows, cols = normalize_steps(filter_size, f"{where}[1]")
    defaults = [filter_size if name == "pool" else 1, "VALID", 1]
    stride, padding, dilation = rest + defaults[len(rest) :]
    try:
        return _LAYERS[name](
            (1, *size, 1), (rows, cols, 1, 1), strides=stride, padding=padding, dilations=dilation
        )
    except (ArgumentError, ArgumentTypeError) as error:
        raise type(error)(f"{where}, on {size[0]} x {size[1]}: {error}") from None


_LAYERS: dict[str, Callable[..., Geometry]] = {
    "conv": conv2d_geometry,
    "pool": conv2d_geometry,
    "transpose": conv2d_transpose_geometry,
}


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
        return _scattered(found, span), counts
    if not span:  # nothing reaches a cell in a transposed layer's gap
        return span, counts
    first, last = found.in_index(span.start, 0), found.in_index(span.stop - 1, found.filter_size - 1)
    return range(first, last + 1), counts


def _scattered(axis: AxisGeometry, span: range) -> range:
    """The first to the last index that scatters into any of ``span``: by arithmetic, tap by tap.

    >>> from teachconv.geometry import conv2d_transpose_geometry
    >>> _scattered(conv2d_transpose_geometry((1, 3, 3, 1), (3, 3, 1, 1), strides=2).rows, range(2, 5))
    range(0, 3)
    """
    ends = []
    for tap in range(axis.filter_size):
        at_zero = axis.in_index(0, tap)
        first, last = -((at_zero - span.start) // axis.stride), (span.stop - 1 - at_zero) // axis.stride
        if first <= last:
            ends += [first, last]
    return range(min(ends, default=0), max(ends, default=-1) + 1)
