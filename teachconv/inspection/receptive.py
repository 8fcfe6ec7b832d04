"""What one output cell of a stack of layers sees of the stack's input: its receptive field.

Nothing is computed by formula: the field is followed back layer by layer through the index law and the
tables of `taps`, so that padding, dilation's holes and transposed layers come out as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

from ..core import taps
from ..core.arguments import Shape, listed, normalize_steps
from ..core.geometry import ConvGeometry, ConvTransposeGeometry, conv_geometry, conv_transpose_geometry
from ..core.kinds import AXES, layout_of
from ..core.law import AxisGeometry
from ..support import tables
from ..support.argument_types import Ints
from ..support.errors import ArgumentError, ArgumentTypeError, brief, suggestion
from ..windows.pooling import PoolCall

Geometry: TypeAlias = ConvGeometry | ConvTransposeGeometry


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
    def rank(self) -> int:
        """The number of spatial axes: 1, 2 or 3."""
        return self.geometries[0].rank

    @property
    def size(self) -> Shape:
        """(rows, cols) of the largest field of any output cell, padding included; so for another rank."""
        return tuple(map(self._largest, range(self.rank)))

    @property
    def stride(self) -> tuple[float, ...]:
        """By how many input cells the field moves for one output cell, as (rows, cols)."""
        return tuple(
            prod(g.strides[axis] for g in self.geometries if isinstance(g, ConvGeometry)) / self._period(axis)
            for axis in range(self.rank)
        )

    @property
    def offset(self) -> Shape:
        """(row, col) of the first input cell that output cell (0, 0) sees; negative in the padding."""
        return tuple(field.start for field in self._first)

    @property
    def centre(self) -> tuple[float, ...]:
        """(row, col) of the middle of what output cell (0, 0) sees.

        That of output cell (i, j) is i and j strides further, except behind a transposed layer, where
        neighbouring fields may differ in size.
        """
        return tuple((field.start + field.stop - 1) / 2 for field in self._first)

    @property
    def _first(self) -> tuple[Field, ...]:
        """The field of output cell (0, 0); an empty one where there is no output."""
        return (Field(0, 0, {}),) * self.rank if 0 in self.output_size else self.at(*(0,) * self.rank)

    @property
    def output_size(self) -> Shape:
        """(rows, cols) of the stack's output."""
        return _sizes(self.geometries[-1])[1]

    @property
    def input_size(self) -> Shape:
        """(rows, cols) of the stack's input."""
        return _sizes(self.geometries[0])[0]

    def at(self, *cell: int) -> tuple[Field, ...]:
        """Return the field of an output cell.

        Args:
            *cell: the row and the column of the cell, or its place on each axis of another rank; negative
                numbers count from the end.

        Returns:
            Its rows and its columns, or one field for each axis.

        Raises:
            IndexError: if the cell is outside the output.

        >>> import teachconv as tc
        >>> layer = tc.conv2d_geometry((1, 9, 9, 1), (3, 3, 1, 1), padding="SAME")
        >>> rows, cols = tc.receptive_field([layer, layer]).at(0, 4)
        >>> (rows.start, rows.stop), cols.paths
        ((-2, 3), {2: 1, 3: 2, 4: 3, 5: 2, 6: 1})
        """
        names = ("depth", "row", "col")[-self.rank :]
        if len(cell) != self.rank:
            raise ArgumentTypeError(f"at takes {listed(names, 'and')}; got {brief(cell)}")
        for index, size, name in zip(cell, self.output_size, names, strict=True):
            if not -size <= index < size:
                raise IndexError(f"{name} must be inside the {size} of the output; got {index}")
        return tuple(
            self._field(axis, index % size)
            for axis, (index, size) in enumerate(zip(cell, self.output_size, strict=True))
        )

    def _field(self, axis: int, index: int) -> Field:
        span, paths = range(index, index + 1), {index: 1}
        for g in reversed(self.geometries):
            span, paths = _back(g, axis, span, paths)
        return Field(span.start, span.stop, dict(sorted(paths.items())))

    def _period(self, axis: int) -> int:
        """The product of the strides of the transposed layers."""
        return prod(g.strides[axis] for g in self.geometries if isinstance(g, ConvTransposeGeometry))

    def _largest(self, axis: int) -> int:
        """Far from the ends, a field has the same size as those a whole number of strides away."""
        cells = range(min(self.output_size[axis], self._period(axis)))
        return max((self._field(axis, i).size for i in cells), default=0)

    def _headline(self) -> str:
        layers = tables.count(len(self.geometries), "layer")
        return f"{layers}, each output cell sees {_joined(self.size)}"

    def _table(self) -> tables.Table:
        rows = []
        for number, g in enumerate(self.geometries, 1):
            so_far = ReceptiveField(self.geometries[:number], self.names[:number])
            layer = f"{number}. {self.names[number - 1]} {_joined(g.filters_shape[:-2])}"
            layer += f", stride {_joined(g.strides)}"
            if max(g.dilations) > 1:
                layer += f", dilation {_joined(g.dilations)}"
            places = (_joined(numbers, ", ") for numbers in (so_far.offset, so_far.centre))
            rows.append((layer, _joined(so_far.size), _joined(so_far.stride), *places))
        columns = (*tables.left("layer"), *tables.right("sees", "in steps of", "offset", "centre"))
        what = ("index", "row and column", "depth, row and column")[self.rank - 1]
        note = f"offset: the first input {what} that output {[0] * self.rank} sees; centre: the middle of "
        return tables.Table(columns, rows, notes=(f"{note}what it sees",))


def _joined(numbers: Sequence[float], sign: str = " x ") -> str:
    return sign.join(f"{number:g}" for number in numbers)


def receptive_field(
    geometries: Iterable[Geometry | PoolCall | Sequence[Any]], *, input_size: Ints = 224
) -> ReceptiveField:
    """Return the part of the input of a stack of layers that one output cell depends on.

    Args:
        geometries: the layers, first layer first, all of one rank: geometries from `conv_geometry` and
            `conv_transpose_geometry`, pools that `resolve` returned, or tuples (layer, size, stride, padding,
            dilation) such as ("conv", 3, 2) or ("pool", 2). The layer is "conv", "pool" or "transpose". The
            last elements may be left out: the defaults are stride 1 (for "pool" the size), padding "VALID"
            and dilation 1. The input size of a geometry must be the output size of the previous layer.
        input_size: rows and columns of the input, if the first layer is a tuple; of another rank, one number
            for each axis.

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
    if isinstance(geometries, (ConvGeometry, ConvTransposeGeometry)):
        raise ArgumentTypeError("geometries must be a list of geometries; got one, put it in brackets")
    if not isinstance(geometries, Iterable):
        raise ArgumentTypeError(f"geometries must be a list of geometries; got {brief(geometries)}")
    layers: list[Geometry] = []
    names = []
    axes = len(input_size) if isinstance(input_size, (tuple, list)) and len(input_size) in (1, 3) else 2
    size = normalize_steps(input_size, "input_size", layout_of("input", axes))
    for number, layer in enumerate(geometries):
        where = f"geometries[{number}]"
        if isinstance(layer, (ConvGeometry, ConvTransposeGeometry, PoolCall)):
            g, name = (layer.geometry, "pool") if isinstance(layer, PoolCall) else (layer, layer._name)
            if layers and g.rank != len(size):
                raise ArgumentError(
                    f"{where} must have {tables.count(len(size), 'axis', 'axes')}, as the layer before; got "
                    f"{g.rank}, of a {name}"
                )
        else:
            g = _from_words(layer, where, size)
            name = "pool" if layer[0] == "pool" else g._name
        takes, gives = _sizes(g)
        for axis, have, got in zip(AXES[-g.rank :], size if layers else takes, takes, strict=True):
            if have != got:
                raise ArgumentError(
                    f"{where} must have {have} input {axis}, as many as the layer before gives; got {got}"
                )
        layers.append(g)
        names.append(name)
        size = gives
    if not layers:
        raise ArgumentError("geometries must have at least one layer; got none")
    return ReceptiveField(tuple(layers), tuple(names))


def _from_words(layer: Any, where: str, size: tuple[int, ...]) -> Geometry:
    """Return the geometry of a layer given as (layer, size, stride, padding, dilation)."""
    if isinstance(layer, str) or not isinstance(layer, Sequence) or not 2 <= len(layer) <= 5:
        raise ArgumentTypeError(
            f"{where} must come from conv_geometry or conv_transpose_geometry, or be a tuple (layer, "
            f'size, stride, padding, dilation) such as ("conv", 3, 2); got {brief(layer)}'
        )
    name, filter_size, *rest = layer
    if name not in list(_LAYERS):  # a name may be anything, also what cannot be hashed
        near = suggestion(name, _LAYERS)
        raise ArgumentError(f"{where}[0] must be {', '.join(map(repr, _LAYERS))}; got {brief(name)}{near}")
    taps = normalize_steps(filter_size, f"{where}[1]", layout_of("input", len(size)))
    defaults = [filter_size if name == "pool" else 1, "VALID", 1]
    stride, padding, dilation = rest + defaults[len(rest) :]
    try:
        return _LAYERS[name](
            (1, *size, 1), (*taps, 1, 1), strides=stride, padding=padding, dilations=dilation
        )
    except (ArgumentError, ArgumentTypeError) as error:
        raise type(error)(f"{where}, on {_joined(size)}: {error}") from None


_LAYERS: dict[str, Callable[..., Geometry]] = {
    "conv": conv_geometry,
    "pool": conv_geometry,
    "transpose": conv_transpose_geometry,
}


def _sizes(g: Geometry) -> tuple[Shape, Shape]:
    """How many indices the axes of a layer take, and how many they give."""
    ins, outs = tuple(axis.in_size for axis in g.axes), tuple(axis.out_size for axis in g.axes)
    return (outs, ins) if isinstance(g, ConvTransposeGeometry) else (ins, outs)


def _back(g: Geometry, axis: int, span: range, paths: dict[int, int]) -> tuple[range, dict[int, int]]:
    """From indices of a layer's output to those of its input that they are computed from."""
    found = g.axes[axis]
    counts: dict[int, int] = {}
    transposed = isinstance(g, ConvTransposeGeometry)
    table = taps.scatter(found) if transposed else taps.gather(found)
    for index, ways in paths.items():
        for other in table[index].indices:
            counts[other] = counts.get(other, 0) + ways
    if transposed:
        return scattered(found, span), counts
    if not span:  # nothing reaches a cell in a transposed layer's gap
        return span, counts
    first, last = found.in_index(span.start, 0), found.in_index(span.stop - 1, found.filter_size - 1)
    return range(first, last + 1), counts


def scattered(axis: AxisGeometry, span: range) -> range:
    """The first to the last index that scatters into any of ``span``: by arithmetic, tap by tap.

    >>> from teachconv.core.geometry import conv2d_transpose_geometry
    >>> scattered(conv2d_transpose_geometry((1, 3, 3, 1), (3, 3, 1, 1), strides=2).rows, range(2, 5))
    range(0, 3)
    """
    ends = []
    for tap in range(axis.filter_size):
        at_zero = axis.in_index(0, tap)
        first, last = -((at_zero - span.start) // axis.stride), (span.stop - 1 - at_zero) // axis.stride
        if first <= last:
            ends += [first, last]
    return range(min(ends, default=0), max(ends, default=-1) + 1)
