"""Explains one cell: every tap of an output cell, or every output cell that one input cell feeds.

The taps come from `taps`, the tables that the reference loops over, so that what is explained is what
is run. Cells are named in NHWC order whatever the data_format; for a filter gradient the cell is
(filter_row, filter_col, in_channel, out_channel).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from html import escape
from itertools import islice
from threading import Lock
from typing import Any

from ..backends.reference import exact_product, sum_of_cell
from ..core.arguments import cell_inside, listed
from ..core.calls import Call
from ..core.dtypes import is_integer
from ..core.kinds import Cell
from ..core.rounding import round_sum
from ..core.taps import Product, products_of
from ..quantized.explaining import explain as explain_quantized
from ..quantized.explaining import is_quantized
from ..running import nn_ops
from ..support import tables
from ..support.devices import call_on_host, lazy_call
from ..support.errors import ArgumentTypeError, brief, is_one_of
from ..windows.calls import FUNCTIONS, bound_call
from .pictures import cell_picture, second_cell
from .winograd_tile import ALGORITHMS, WinogradTile, tile_of


@dataclass(frozen=True, slots=True)
class Tap:
    """One product of a sum; a tap is one position of the filter.

    Every index of a dialect's function refers to the dialect's own arrays: ``weight[tap.filter_index]`` is
    ``filter_value``.

    Attributes:
        filter_index: the cell of the filter; for a filter gradient, the explained cell.
        input_index: the cell of the input; for the transposed op and the input gradient, the cell that is
            scattered.
        in_padding: whether the tap lies in the padding. Such a tap is skipped, and its ``input_value`` and
            ``product`` count as zero.
        input_value: the value of the input.
        filter_value: the value of the filter.
        product: the product of the two values.
        running_sum: the sum up to this tap, rounded once to the result's dtype; None when explaining an
            input cell.
        output_index: when explaining an input cell, the output that the product is added to.
        out_backprop_index: for a filter gradient, the cell of out_backprop.
        out_backprop_value: for a filter gradient, the value that the input is multiplied by.
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

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._length))]
        position = range(self._length)[index]  # raises IndexError, and counts from the end
        if position >= len(self._made):
            with self._lock:  # of two threads one makes the taps; a generator cannot be advanced by both
                self._made += islice(self._source, max(0, position + 1 - len(self._made)))
        return self._made[position]

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle all taps: the function that makes them cannot be pickled."""
        return _taps_of, (self[:],)


def _taps_of(made: list[Tap]) -> Taps:
    return Taps(len(made), lambda: iter(made))


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(tables.Report):
    """The explanation of one cell of one call.

    Attributes:
        op: the name of the op.
        cell: the explained cell.
        inverse: whether it is an input cell; then ``taps`` lists the outputs that it contributes to.
        taps: the products that the cell is the sum of, or to which it contributes.
        call: the resolved call.
        bias: the bias, which is added after the taps.
        canonical: for a dialect's function, the same explanation with cells in NHWC and HWIO order.
        theirs: the value of this cell in the result that `diff` judged, or None.
        tile: with ``algorithm``, Winograd's steps for the tile that has the cell; else None.
    """

    op: str
    cell: Cell
    inverse: bool
    taps: Sequence[Tap]
    call: Call
    bias: Any = None
    canonical: Explanation | None = None
    theirs: Any = None
    tile: WinogradTile | None = None

    @cached_property
    def value(self) -> Any:
        """The value of the cell by the reference, the exact sum rounded once; of an input cell, its value."""
        if self.canonical is not None:
            return self.canonical.value
        if self.inverse:
            return _scalar(self.call.first[self.cell])
        call, bias = self.call, [] if self.bias is None else [self.bias]
        return sum_of_cell(call.kind, call.first, call.second, call.geometry, self.cell, bias)

    @property
    def _products(self) -> int:
        """The number of taps that are not in the padding: of a long sum without a look at each."""
        call, own = self.call, self.canonical or self
        if call.names is not None and call.names.has_gaps:
            return sum(not tap.in_padding for tap in self.taps)
        return products_of(call.geometry, call.kind.result, own.cell, inside=True)[0]

    def _headline(self) -> str:
        if self.inverse:
            products = tables.count(len(self.taps), "product")
            return f"{self.op}: input{list(self.cell)} = {self._value} is in {products}"
        name, tile = self.call.kind.words[2], self.tile
        if tile is not None:
            return (
                f"{self.op} by {tile.algorithm}: {name}{list(self.cell)} = {self._value}, in the tile of "
                f"{tile.headline}"
            )
        inside = self._products
        outside = len(self.taps) - inside
        padding = f"; {outside:,} of {tables.count(len(self.taps), 'tap')} in the padding" if outside else ""
        return (
            f"{self.op}: {name}{list(self.cell)} = {self._value}, "
            f"the sum of {tables.count(inside, 'product')}{padding}"
        )

    @property
    def _value(self) -> Any:
        """The value to write: 0.0 for -0.0, whose sign would only distract."""
        return self.value + 0

    def _table(self, limit: int = 200) -> tables.Table:
        """The taps, at most ``limit`` of them."""
        first, second, result = self.call.kind.words
        names = [result.split()[0] if self.inverse else first, second, f"{first} value", f"{second} value"]
        columns = tables.right(*names, "product", *([] if self.inverse else ["running sum"]))
        shown = len(self.taps) if len(self.taps) <= limit else limit - 10
        hidden = len(self.taps) - shown
        notes = [f"... and {hidden:,} more in .taps"] if hidden else []
        if self.bias is not None:
            notes.append(f"+ bias {_number(self.bias)} = {self._value}")
        if self.tile is not None:
            return tables.Table((), (), self._headline(), notes=[*self.tile.text(), *notes])
        if self.theirs is not None:
            notes.append(f"theirs: {self.theirs + 0}, ours: {self._value}")
        rows = []
        for tap in self.taps[:shown]:
            cells = tap.output_index if self.inverse else tap.input_index, second_cell(tap)
            value, other = map(_number, _factors(tap))
            numbers = ["padding", other, ""] if tap.in_padding else [value, other, _number(tap.product)]
            sums = [] if self.inverse else [_number(tap.running_sum)]
            rows.append([*map(tables.index, cells), *numbers, *sums])
        return tables.Table(columns, rows, self._headline(), notes=notes)

    def picture(self) -> str:
        """Draw the cell as SVG text: input with its padding, the window of its taps, the output cell.

        For a filter gradient, the window is every input cell that the tap meets. Large planes are cut to the
        part around the window. The numbers shown are those of the cell's first channel.
        """
        return cell_picture(self).svg

    _repr_svg_ = picture

    def _repr_html_(self) -> str:
        table = self._table(60)
        shown = table.html() if self.tile is None else tables.pre(escape(table.text()))
        return f"<div>{self.picture()}{shown}</div>"


_NOT_EXPLAINED = dict.fromkeys(
    nn_ops.OPTIONS, "an explanation is the exact sum, whatever computes it; diff compares backends with it"
)
_NOT_EXPLAINED["algorithm"] += f"; of {listed(ALGORITHMS, 'and')} it shows the steps"


def explain(
    op: Callable[..., Any],
    *args: Any,
    at: Sequence[int] | None = None,
    at_input: Sequence[int] | None = None,
    **kwargs: Any,
) -> Explanation:
    """Explain one cell of ``op(*args, **kwargs)``.

    Indices count from 0; negative ones count from the end. Cells are in NHWC order whatever the data_format.
    For a dialect's function they are indices into its own arrays: (n, channel, row, col) for PyTorch.

    Args:
        op: any op of teachconv.
        *args: the op's positional arguments.
        at: (n, row, col, channel) of an output cell: lists every tap of its sum, in the order of the
            reference. For a filter gradient (filter_row, filter_col, in_channel, out_channel).
        at_input: (n, row, col, channel) of an input cell: lists every output cell that it contributes to,
            and by which tap. Give either ``at`` or ``at_input``.
        **kwargs: the op's keyword arguments. With ``algorithm="winograd2"``, "winograd4" or "winograd" the
            explanation shows the tile that has the output cell: the matrices before and after each of
            Winograd's four steps, in exact numbers, with the lines of the kernels. Its ``.tile`` holds
            these matrices (``inspection.winograd_tile.WinogradTile``).

    Returns:
        An `Explanation`: ``.value`` and ``.taps``. For a pool these are the cells of its window, in the order
        of its own axes, those in the padding included; ``.divisor`` is what their sum is divided by. For a
        convolution of `teachconv.quantized` see `teachconv.quantized.explain`.

    Raises:
        IndexError: if the cell is out of range; the message gives the legal range.
        ValueError, TypeError: as the op; if not exactly one cell is given; for ``backend``, ``precision``,
            ``out`` and any other ``algorithm``, because the exact sum is explained; and where Winograd's
            cannot compute the call, or no single tile gives the cell: filter gradients, ranks 1 and 3.

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
    if is_quantized(op):
        nn_ops.refuse({"at_input": at_input}, op.__name__, at_input="give at=, a cell of the result")
        steps: Any = explain_quantized(op, *args, at=at, **kwargs)
        return steps
    if is_one_of(op, FUNCTIONS):
        nn_ops.refuse({"at_input": at_input}, op.__name__, at_input="give at=, a cell of the result")
        pool, x = bound_call(op, args, kwargs)
        return pool.explain(x, cell_inside(at, "at", pool.output_shape, f"({', '.join(pool.layout)})"))
    lazy = lazy_call(op, args, kwargs)
    if lazy is None:
        call, options = nn_ops.call_of(op, *call_on_host(args, kwargs), explain)
    else:
        call, options = lazy.call, lazy.options
    algorithm = options.get("algorithm")
    by_winograd = is_one_of(algorithm, ALGORITHMS)
    nn_ops.refuse({**options, "algorithm": None} if by_winograd else options, "explain", **_NOT_EXPLAINED)
    if by_winograd and (lazy is not None or at is None):
        needs = "arrays in memory" if lazy is not None else "at=, a cell of the result"
        raise ArgumentTypeError(f"algorithm={brief(algorithm)} of explain needs {needs}")
    if (at is None) == (at_input is None):
        raise ArgumentTypeError("give one of at=(n, row, col, channel) and at_input=(n, row, col, channel)")
    name, inverse = call.title or call.op.name, at is None
    role = call.kind.first if inverse else call.kind.result
    cell = _cell(at_input, "at_input", role, call) if inverse else _cell(at, "at", role, call)
    if lazy is not None:
        call, cell = lazy.around(role, cell)  # of arrays larger than memory, what the cell needs
    count, products = products_of(call.geometry, role, cell, inside=inverse)
    result = call.kind.result
    if inverse:  # every product that the cell is part of, and where it is added to
        taps = Taps(count, lambda: (_tap(call, one, output_index=one.cells[result]) for one in products()))
    else:  # every tap of the cell, in the reference's order
        taps = Taps(count, lambda: _running(call, products()))
    bias = None if inverse or call.bias is None else _scalar(call.bias[cell[-1]])
    tile = tile_of(call, algorithm, cell) if by_winograd else None
    found = Explanation(name, cell, inverse, taps, call, bias, tile=tile)
    return found if call.names is None else _as_the_caller_numbers(found)


def _as_the_caller_numbers(found: Explanation) -> Explanation:
    """The same explanation with every cell as the caller numbers it: a dialect's, a depthwise filter's."""
    call, kind = found.call, found.call.kind

    def named(role: str, cell: Cell | None) -> Any:
        return None if cell is None else call.name(role, cell)

    def taps() -> Iterator[Tap]:
        for tap in kept:
            yield replace(
                tap,
                filter_index=named("filters", tap.filter_index),
                input_index=named(kind.first, tap.input_index),
                output_index=named(kind.result, tap.output_index),
                out_backprop_index=named("output", tap.out_backprop_index),
            )

    kept: Sequence[Tap] = found.taps
    if call.names is not None and call.names.has_gaps:  # a zero between two cells does not count as a tap
        kept = [tap for tap in found.taps if call.name(kind.first, tap.input_index) is not None]
    cell = call.name(kind.first if found.inverse else kind.result, found.cell)
    assert cell is not None
    return replace(found, cell=cell, taps=Taps(len(kept), taps), canonical=found)


# ---------------------------------------------------------------------------------------------
# The taps of a cell, and of an input cell
# ---------------------------------------------------------------------------------------------


def _running(call: Call, products: Iterator[Product]) -> Iterator[Tap]:
    """Make a `Tap` of each product, with the sum so far."""
    exact: Any = Fraction(0) if _is_float(call) else 0
    special: list[float] = []  # products with NaN or infinity, which no rational number can hold
    for one in products:
        tap = _tap(call, one)
        if not tap.in_padding:
            first, second = _factors(tap)
            term = exact_product(first, second) if _is_float(call) else first * second
            if isinstance(term, float):
                special.append(term)
            else:
                exact += term
        yield replace(tap, running_sum=round_sum([*special, exact], call.first.dtype))


def _tap(call: Call, one: Product, **more: Any) -> Tap:
    """One product of the law as a tap, its values looked up."""
    kind, cells = call.kind, one.cells
    first = 0 if one.in_padding else _scalar(call.first[cells[kind.first]])
    second = _scalar(call.second[cells[kind.second]])
    return Tap(
        filter_index=cells["filters"],
        input_index=cells[kind.first],
        in_padding=one.in_padding,
        input_value=first,
        product=0 if one.in_padding else first * second,
        **_SECOND[kind.second](cells[kind.second], second),
        **more,
    )


# a tap names its second factor by what it is
_SECOND: dict[str, Callable[[Cell, Any], dict[str, Any]]] = {
    "filters": lambda cell, value: {"filter_value": value},
    "output": lambda cell, value: {
        "filter_value": None,
        "out_backprop_index": cell,
        "out_backprop_value": value,
    },
}


def _factors(tap: Tap) -> tuple[Any, Any]:
    second = tap.filter_value if tap.out_backprop_index is None else tap.out_backprop_value
    return tap.input_value, second


_AXES = {"N": "n", "D": "depth", "H": "row", "W": "col", "C": "channel"}
_FILTER_AXES = {axis: f"filter_{_AXES[axis]}" for axis in "DHW"} | {"I": "in_channel", "O": "out_channel"}
_FILTER_AXES |= {"M": "channel_multiplier"}  # of a depthwise filter


def _cell(cell: Any, name: str, role: str, call: Call) -> Cell:
    """A cell given by the caller, checked against the shape and counted from 0, in cell order."""
    shape, layout = call.cells_of(role)
    words = _AXES if "C" in layout else _FILTER_AXES
    axes = f"({', '.join(words[letter] for letter in layout)})"
    return call.find(role, cell_inside(cell, name, shape, axes))


def _is_float(call: Call) -> bool:
    return not is_integer(call.first.dtype)


def _scalar(value: Any) -> Any:
    return int(value) if is_integer(value.dtype) else float(value)


def _number(value: Any) -> str:
    return tables.number(value, 7) if isinstance(value, float) else str(value)
