"""Explains one cell: every tap of an output cell, or every output cell that one input cell feeds.

The taps come from `taps`, the tables that the reference loops over, so that what is explained is what
is run. Cells are named in NHWC order whatever the data_format; for a filter gradient the cell is
(filter_row, filter_col, in_channel, out_channel).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from itertools import islice, product
from math import prod
from operator import mul
from threading import Lock
from typing import Any, overload

from .. import nn_ops, taps
from ..arguments import integer
from ..backends.reference import exact_product, round_sum
from ..devices import call_on_host
from ..dispatch import Call
from ..dtypes import is_integer
from ..errors import ArgumentError, ArgumentTypeError
from ..geometry import Conv2DGeometry
from .pictures import cell_picture

__all__ = ["Explanation", "Tap", "explain"]

Cell = tuple[int, ...]  # 4 integers; 3 where a dialect's arrays have no batch


@dataclass(frozen=True, slots=True)
class Tap:
    """One product of a sum.

    Explaining an output cell: ``input_index`` * ``filter_index`` with ``running_sum`` so far, rounded
    once to the result's dtype. ``in_padding`` says that no value stands behind the tap: nothing is
    multiplied, ``input_value`` and ``product`` count as zero. For the transposed op and the input
    gradient ``input_index`` is a cell of what is scattered. A filter gradient multiplies the input by
    ``out_backprop_value``; its ``filter_index`` is the cell explained. Explaining an input cell,
    ``output_index`` says which output the product is added to, and there is no running sum. Of a
    dialect's function every index is that of its own arrays: ``weight[tap.filter_index]`` is
    ``filter_value``.
    """

    filter_index: Cell
    input_index: Cell
    in_padding: bool
    input_value: Any
    filter_value: Any
    product: Any
    running_sum: Any = None
    output_index: Cell | None = None
    out_backprop_index: Cell | None = None
    out_backprop_value: Any = None


class Taps(Sequence[Tap]):
    """The taps of one cell, made when they are looked at: sized, indexable, sliceable.

    Running sums need all taps before, so the taps made so far are kept.
    """

    def __init__(self, length: int, make: Callable[[], Iterator[Tap]]) -> None:
        self._length = length
        self._source = make()
        self._made: list[Tap] = []
        self._lock = Lock()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Tap: ...
    @overload
    def __getitem__(self, index: slice) -> list[Tap]: ...
    def __getitem__(self, index: int | slice) -> Tap | list[Tap]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        position = range(self._length)[index]  # raises IndexError, and counts from the end
        if position >= len(self._made):
            with self._lock:  # of two threads one makes the taps; a generator cannot be advanced by both
                self._made += islice(self._source, max(0, position + 1 - len(self._made)))
        return self._made[position]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the taps themselves, all of them: what makes them cannot be pickled."""
        return _taps_of, (self[:],)


def _taps_of(made: list[Tap]) -> Taps:
    return Taps(len(made), lambda: iter(made))


@dataclass(frozen=True, eq=False)
class Explanation:
    """One cell of one call.

    ``cell`` is the cell asked for, ``value`` its value, ``taps`` what it is the sum of (``inverse``
    False), or which outputs it is added to (``inverse`` True). ``bias`` is added after the taps.
    ``value`` is the reference's: the exact sum, rounded once. ``canonical`` is there for a dialect's
    function only: the same explanation with its cells in NHWC and HWIO order.
    """

    op: str
    cell: Cell
    inverse: bool
    taps: Sequence[Tap]
    call: Call
    bias: Any = None
    canonical: Explanation | None = None

    @property
    def value(self) -> Any:
        """The value of the cell: of the output cell explained, or of the input cell followed."""
        if self.canonical is not None:
            return self.canonical.value
        if self.inverse:
            return _scalar(self.call.first[self.cell])
        rational = _is_float(self.call)
        multiply = exact_product if rational else mul
        terms = [multiply(*_factors(tap)) for tap in self.taps if not tap.in_padding]
        if self.bias is not None:
            terms.append(self.bias)
        return round_sum(terms, self.call.first.dtype, rational=rational)

    def _headline(self) -> str:
        if self.inverse:
            return (
                f"{self.op}: input{list(self.cell)} = {self.value} is in {_count(len(self.taps), 'product')}"
            )
        inside = sum(not tap.in_padding for tap in self.taps)
        outside = len(self.taps) - inside
        name = "filter gradient" if self.call.kind == "conv2d_backprop_filter" else "output"
        padding = f"; {outside} of {_count(len(self.taps), 'tap')} in the padding" if outside else ""
        return (
            f"{self.op}: {name}{list(self.cell)} = {self.value}, "
            f"the sum of {_count(inside, 'product')}{padding}"
        )

    def _columns(self) -> list[str]:
        if self.call.kind == "conv2d_backprop_filter":
            names = ["input", "out_backprop", "input value", "out_backprop value", "product"]
        else:
            names = ["input", "filter", "input value", "filter value", "product"]
        if self.inverse:
            return ["output" if self.call.kind != "conv2d_backprop_filter" else "filter", *names[1:]]
        return [*names, "running sum"]

    def _row(self, tap: Tap) -> list[str]:
        filter_gradient = self.call.kind == "conv2d_backprop_filter"
        first = tap.output_index if self.inverse else tap.input_index
        second = tap.out_backprop_index if filter_gradient else tap.filter_index
        other = tap.out_backprop_value if filter_gradient else tap.filter_value
        if tap.in_padding:
            row = [_index(first), _index(second), "padding", _number(other), ""]
        else:
            row = [
                _index(first),
                _index(second),
                _number(tap.input_value),
                _number(other),
                _number(tap.product),
            ]
        return row if self.inverse else [*row, _number(tap.running_sum)]

    def _shown(self, limit: int) -> tuple[list[list[str]], int]:
        count = len(self.taps) if len(self.taps) <= limit else limit - 10
        return [self._row(tap) for tap in self.taps[:count]], len(self.taps) - count

    def __str__(self) -> str:
        rows, hidden = self._shown(200)
        table = [self._columns(), *rows]
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = [self._headline()]
        lines += ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in table]
        if hidden:
            lines.append(f"... and {hidden:,} more in .taps")
        if self.bias is not None:
            lines.append(f"+ bias {_number(self.bias)} = {self.value}")
        return "\n".join(lines)

    def picture(self) -> str:
        """Draw the cell as SVG text: input with its padding, the window of its taps, the output cell.

        Of a filter gradient the window is every input cell that the tap meets. Large planes are cut to
        the part around the window. The numbers shown are those of the cell's first channel.
        """
        return cell_picture(self.canonical or self)

    def _repr_svg_(self) -> str:
        return self.picture()

    def _repr_html_(self) -> str:
        rows, hidden = self._shown(60)
        head = "".join(f"<th>{name}</th>" for name in self._columns())
        body = "".join(
            "<tr>" + "".join(f"<td style='text-align:right'>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        more = f"<p>… and {hidden:,} more in <code>.taps</code></p>" if hidden else ""
        bias = "" if self.bias is None else f"<p>+ bias {_number(self.bias)} = {self.value}</p>"
        return (
            f"<div><p><b>{escape(self._headline())}</b></p>{self.picture()}"
            f"<table><tr>{head}</tr>{body}</table>{more}{bias}</div>"
        )


def explain(
    op: Callable[..., Any],
    *args: Any,
    at: Sequence[int] | None = None,
    at_input: Sequence[int] | None = None,
    **kwargs: Any,
) -> Explanation:
    """Explain one cell of ``op(*args, **kwargs)``.

    Args:
        op: any op of teachconv; the other arguments are its own.
        at: (n, row, col, channel) of an output cell: every tap of its sum, in the order of the
            reference. For a filter gradient (filter_row, filter_col, in_channel, out_channel).
        at_input: (n, row, col, channel) of an input cell: every output cell that it feeds, and
            through which tap. Give one of the two.

    Both count from 0; negative numbers count from the end. Cells are in NHWC order whatever the
    data_format; of a dialect's function they are indices into its own arrays, as
    (n, channel, row, col) for PyTorch. Raises ``IndexError`` where the cell is outside, naming the
    legal range.

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([1, 2, 3, 4]).reshape(1, 1, 4, 1)
    >>> w = np.float32([1, 10, 100]).reshape(1, 3, 1, 1)
    >>> print(tc.explain(tc.conv2d, x, w, padding="SAME", at=(0, 0, 0, 0)))
    conv2d: output[0, 0, 0, 0] = 210.0, the sum of 2 products; 1 of 3 taps in the padding
          input      filter  input value  filter value  product  running sum
     0,0,-1,0  0,0,0,0      padding             1                      0
      0,0,0,0     0,1,0,0            1            10       10           10
      0,0,1,0     0,2,0,0            2           100      200          210
    """
    if (at is None) == (at_input is None):
        raise ArgumentTypeError("give one of at=(n, row, col, channel) and at_input=(n, row, col, channel)")
    call, _ = nn_ops.resolve(op, *call_on_host(args, kwargs))
    name = call.title or call.op
    if at is not None:
        cell = _cell(at, "at", "result", call)
        found = Explanation(name, cell, False, _output_taps(call, cell), call, _bias_of(call, cell))
    else:
        cell = _cell(at_input, "at_input", "first", call)
        found = Explanation(name, cell, True, _input_taps(call, cell), call)
    return found if call.names is None else _in_dialect(found)


def _in_dialect(found: Explanation) -> Explanation:
    """The same explanation with every cell as the dialect numbers it."""
    call, role = found.call, "first" if found.inverse else "result"
    gradient = call.kind == "conv2d_backprop_filter"
    filter_role, output_role = ("result", "second") if gradient else ("second", "result")

    def named(role: str, cell: Cell | None) -> Any:
        return None if cell is None else call.name(role, cell)

    def taps() -> Iterator[Tap]:
        for tap in kept:
            yield replace(
                tap,
                filter_index=named(filter_role, tap.filter_index),
                input_index=named("first", tap.input_index),
                output_index=named(filter_role if gradient else output_role, tap.output_index),
                out_backprop_index=named("second", tap.out_backprop_index),
            )

    kept: Sequence[Tap] = found.taps
    if call.names is not None and call.names.has_gaps:  # a zero between two cells is no tap of theirs
        kept = [tap for tap in found.taps if call.name("first", tap.input_index) is not None]
    cell = call.name(role, found.cell)
    assert cell is not None
    return replace(found, cell=cell, taps=Taps(len(kept), taps), canonical=found)


# ---------------------------------------------------------------------------------------------
# The taps of a cell, and of an input cell
# ---------------------------------------------------------------------------------------------


def _output_taps(call: Call, cell: Cell) -> Taps:
    """Every tap of one cell of the result, in the reference's order."""
    look = {"conv2d": _gathered, "conv2d_backprop_input": _scattered}.get(call.kind, _summed)
    length, places = look(call.geometry, cell := _canonical_cell(call, cell))
    filter_cell = cell if look is _summed else None
    return Taps(length, lambda: _sum_of(call, places(), filter_cell))


# A place is (outside, index into the first array, index into the second): outside means that no value
# stands behind the tap.
Places = Callable[[], Iterator[tuple[bool, Cell, Cell]]]


def _gathered(g: Conv2DGeometry, cell: Cell) -> tuple[int, Places]:
    """The places that conv2d gathers one output cell from, and how many they are."""
    n, out_row, out_col, o = cell
    depth, outs = g.filters_shape[2], g.out_channels // g.groups
    rows, cols = taps.gather_all(g.rows, out_row), taps.gather_all(g.cols, out_col)
    first = o // outs * depth

    def places() -> Iterator[tuple[bool, Cell, Cell]]:
        for row, col, i in product(rows, cols, range(depth)):
            outside = row.in_padding or col.in_padding
            yield outside, (n, row.in_index, col.in_index, first + i), (row.tap, col.tap, i, o)

    return len(rows) * len(cols) * depth, places


def _scattered(g: Conv2DGeometry, cell: Cell) -> tuple[int, Places]:
    """The places that scatter into one cell of the transposed result."""
    n, in_row, in_col, channel = cell
    depth, outs = g.filters_shape[2], g.out_channels // g.groups
    rows, cols = taps.scatter_all(g.rows, in_row), taps.scatter_all(g.cols, in_col)
    group, i = divmod(channel, depth)

    def places() -> Iterator[tuple[bool, Cell, Cell]]:
        for row, col, o in product(rows, cols, range(group * outs, group * outs + outs)):
            outside = row.in_padding or col.in_padding
            yield outside, (n, row.out_index, col.out_index, o), (row.tap, col.tap, i, o)

    return len(rows) * len(cols) * outs, places


def _summed(g: Conv2DGeometry, cell: Cell) -> tuple[int, Places]:
    """The places that a filter gradient sums over for one cell of the filter."""
    tap_row, tap_col, i, o = cell
    channel = o // (g.out_channels // g.groups) * g.filters_shape[2] + i
    sizes = g.batch, g.rows.out_size, g.cols.out_size

    def places() -> Iterator[tuple[bool, Cell, Cell]]:
        for n, out_row, out_col in product(*map(range, sizes)):
            in_row, in_col = g.rows.in_index(out_row, tap_row), g.cols.in_index(out_col, tap_col)
            outside = not (0 <= in_row < g.rows.in_size and 0 <= in_col < g.cols.in_size)
            yield outside, (n, in_row, in_col, channel), (n, out_row, out_col, o)

    return prod(sizes), places


def _sum_of(
    call: Call, places: Iterator[tuple[bool, Cell, Cell]], filter_cell: Cell | None = None
) -> Iterator[Tap]:
    """Make a `Tap` of each (in padding, index into first, index into second), with its running sum."""
    exact: Any = Fraction(0) if _is_float(call) else 0
    special: list[float] = []  # products with NaN or infinity, which no rational number can hold
    for outside, first_cell, second_cell in places:
        first = 0 if outside else _scalar(call.first[first_cell])
        second = _scalar(call.second[second_cell])
        if not outside:
            term = exact_product(first, second) if _is_float(call) else first * second
            if isinstance(term, float):
                special.append(term)
            else:
                exact += term
        total = round_sum([*special, exact], call.first.dtype, rational=_is_float(call))
        value = 0 if outside else first * second
        if filter_cell is None:
            name = _filter_name(call, second_cell)
            yield Tap(name, first_cell, outside, first, second, value, total)
        else:
            name = _filter_name(call, filter_cell)
            yield Tap(name, first_cell, outside, first, None, value, total, None, second_cell, second)


def _input_taps(call: Call, cell: Cell) -> Taps:
    """Every product that one cell of the first array is part of, and where it is added to."""
    g = call.geometry
    depth, outs = g.filters_shape[2], g.out_channels // g.groups
    n, row_index, col_index, channel = cell
    look = taps.gather_all if call.kind == "conv2d_backprop_input" else taps.scatter_all
    rows = [row for row in look(g.rows, row_index) if not row.in_padding]
    cols = [col for col in look(g.cols, col_index) if not col.in_padding]
    size = depth if call.kind == "conv2d_backprop_input" else outs
    first = _scalar(call.first[cell])

    def make() -> Iterator[Tap]:
        for row, col, other in product(rows, cols, range(size)):
            if call.kind == "conv2d_backprop_input":
                tap = (row.tap, col.tap, other, channel)
                fed = (n, row.in_index, col.in_index, channel // outs * depth + other)
            else:
                group, i = divmod(channel, depth)
                tap = (row.tap, col.tap, i, group * outs + other)
                fed = (n, row.out_index, col.out_index, group * outs + other)
            name = _filter_name(call, tap)
            if call.kind == "conv2d_backprop_filter":
                upstream = _scalar(call.second[fed])
                yield Tap(name, cell, False, first, None, first * upstream, None, name, fed, upstream)
            else:
                weight = _scalar(call.second[tap])
                yield Tap(name, cell, False, first, weight, first * weight, None, fed)

    return Taps(len(rows) * len(cols) * size, make)


def _factors(tap: Tap) -> tuple[Any, Any]:
    other = tap.filter_value if tap.out_backprop_index is None else tap.out_backprop_value
    return tap.input_value, other


def _filter_name(call: Call, cell: Cell) -> Cell:
    """A canonical filter cell as the caller numbers it: a depthwise filter has its own last two axes."""
    if not call.op.startswith("depthwise"):
        return cell
    row, col, _, o = cell
    multiplier = call.geometry.out_channels // call.geometry.groups
    return row, col, o // multiplier, o % multiplier


def _canonical_cell(call: Call, cell: Cell) -> Cell:
    """A cell of the result as the backends number it: `_filter_name`, read backwards."""
    if call.op != "depthwise_conv2d_backprop_filter":
        return cell
    row, col, channel, q = cell
    return row, col, 0, channel * (call.geometry.out_channels // call.geometry.groups) + q


_AXES = {"N": "n", "H": "row", "W": "col", "C": "channel"}
_FILTER_AXES = {"H": "filter_row", "W": "filter_col", "I": "in_channel", "O": "out_channel"}


def _cell(cell: Any, name: str, role: str, call: Call) -> Cell:
    """A cell given by the caller, checked against the shape and counted from 0, in cell order."""
    is_filter = role == "result" and call.kind == "conv2d_backprop_filter"
    if call.names is not None:
        shape, layout = call.names.shape(role), call.names.layout(role)
    elif is_filter:
        shape, layout = call.result_shape, "HWIO"
    else:
        shape, layout = call.canonical_shape if role == "result" else call.first.shape, "NHWC"
    axes = f"({', '.join((_FILTER_AXES if is_filter else _AXES)[letter] for letter in layout)})"
    try:
        numbers = [integer(index, name) for index in cell]
    except TypeError:
        raise ArgumentTypeError(f"{name} must be {axes}, {len(shape)} integers; got {cell!r}") from None
    if len(numbers) != len(shape):
        raise ArgumentError(f"{name} must be {axes}, {len(shape)} integers; got {cell!r}")
    for index, size in zip(numbers, shape, strict=True):
        if not -size <= index < size:
            raise IndexError(f"{name} must be inside shape {list(shape)} as {axes}; got {tuple(numbers)}")
    inside = tuple(index % size for index, size in zip(numbers, shape, strict=True))
    return inside if call.names is None else call.names.find(role, inside)


def _bias_of(call: Call, cell: Cell) -> Any:
    return None if call.bias is None else _scalar(call.bias[cell[3]])


def _is_float(call: Call) -> bool:
    return not is_integer(call.first.dtype)


def _scalar(value: Any) -> Any:
    return int(value) if is_integer(value.dtype) else float(value)


def _index(cell: Cell | None) -> str:
    return ",".join(map(str, cell)) if cell is not None else ""


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def _number(value: Any) -> str:
    return f"{value:.7g}" if isinstance(value, float) else str(value)
