"""Explains one cell of a quantized convolution: its products, their sum, and each step of the rescaling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arguments import cell_inside
from ..core.kinds import layout_of
from ..core.taps import products_of
from ..running.nn_ops import with_defaults
from ..support import tables
from ..support.errors import check_word
from ..windows.calls import CellExplanation
from .calls import OPS, QuantizedCall, QuantizedPool, call_of, pool_call_of
from .schemes import Rescaling

Cell = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class QuantizedTap:
    """One product of a quantized sum.

    Attributes:
        input_index: the cell of x, in NHWC order.
        filter_index: the cell of w.
        in_padding: whether the tap lies in the padding, which holds x_zero_point and adds nothing.
        x: the stored integer of x.
        w: the stored integer of w.
        x_less: x - x_zero_point.
        w_less: w - w_zero_point.
        running_sum: the sum of the products x_less * w_less up to this one.
    """

    input_index: Cell
    filter_index: Cell
    in_padding: bool
    x: int
    w: int
    x_less: int
    w_less: int
    running_sum: int


@dataclass(frozen=True, eq=False, repr=False)
class QuantizedExplanation(tables.Report):
    """The explanation of one cell of a quantized convolution.

    Attributes:
        cell: the explained cell, in NHWC order.
        value: the integer that is stored there.
        taps: the products of its sum, those in the padding included.
        steps: (what is done, the number after it), from the sum to the value.
        rescaling: what the sum is multiplied by: a real number, in float32, and as an integer with a shift.
        call: the resolved call.
        theirs: the integer that another result has there, or None.
    """

    cell: Cell
    value: int
    taps: tuple[QuantizedTap, ...]
    steps: tuple[tuple[str, Any], ...]
    rescaling: Rescaling
    call: QuantizedCall
    theirs: int | None = None

    def _headline(self) -> str:
        op, scheme = self.call.call.op, self.call.scheme.name
        theirs = "" if self.theirs is None else f"; theirs is {self.theirs}"
        by = f"by the sum {self.steps[0][1]}{theirs}"
        return f"{op}, scheme {scheme}: output{list(self.cell)} = {self.value}, {by}"

    def _table(self, limit: int = 200) -> tables.Table:
        """The taps, at most ``limit`` of them, and the steps."""
        columns = tables.right("input", "filter", "x", "w", "x - zero", "w - zero", "product", "running sum")
        rows = []
        for tap in self.taps[:limit]:
            cells = [tables.index(cell) for cell in (tap.input_index, tap.filter_index)]
            stored = ["padding" if tap.in_padding else tap.x, tap.w]
            numbers = [*stored, tap.x_less, tap.w_less, tap.x_less * tap.w_less, tap.running_sum]
            rows.append([*cells, *map(str, numbers)])
        hidden = len(self.taps) - len(rows)
        more = [f"... and {hidden:,} more in .taps"] if hidden else []
        r = self.rescaling
        multiplier = (
            f"multiplier = x_scale * w_scale / y_scale = {float(r.real)!r}, in float32 {r.factor!s}, "
            f"as an integer {r.multiplier} / 2**31 * 2**{r.shift}"
        )
        notes = [*more, multiplier, *tables.aligned(self.steps)]
        return tables.Table(columns, rows, self._headline(), notes=notes)


def is_quantized(op: Any) -> bool:
    """Return whether an op is a function of `teachconv.quantized`."""
    return getattr(op, "__module__", "") == __package__


def is_pool(op: Any) -> bool:
    """Return whether an op is a pool of `teachconv.quantized`."""
    return is_quantized(op) and op.__name__.endswith("_pool")


def pool_of_op(op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[QuantizedPool, np.ndarray]:
    """Return the call of a pool of `teachconv.quantized`, checked, and its array."""
    return pool_call_of(op.__name__, **with_defaults(op, args, kwargs))


def call_of_op(
    op: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[QuantizedCall, dict[str, Any]]:
    """Return the call of a function of `teachconv.quantized`, checked, and its options."""
    name = op.__name__ if is_quantized(op) else op
    check_word(name, "op, a function of teachconv.quantized,", OPS)
    arguments = with_defaults(op, args, kwargs)
    options = {"backend": arguments.pop("backend", None)}
    return call_of(name, **arguments), options


def explain(
    op: Callable[..., np.ndarray], *args: Any, at: Sequence[int] | None, **kwargs: Any
) -> QuantizedExplanation | CellExplanation:
    """Explain one cell of ``op(*args, **kwargs)``.

    Args:
        op: a convolution or a pool of `teachconv.quantized`.
        *args: the op's positional arguments.
        at: (n, row, col, channel) of the cell, in this order whatever the data_format.
        **kwargs: the op's keyword arguments.

    Returns:
        A `QuantizedExplanation`: printed, it lists each product with the zero points taken off, and each step
        from the sum to the stored integer. Of a pool a ``CellExplanation``: the cells of its window, in the
        order of its own axes, and each step to the integer.

    Raises:
        IndexError: if the cell is outside the result.
        ValueError, TypeError: as the op.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int8([10, 20]).reshape(1, 1, 2, 1), np.int8([3, -2]).reshape(1, 2, 1, 1)
    >>> facts = dict(x_scale=0.5, x_zero_point=5, w_scale=0.5, y_scale=2.0, y_zero_point=1, scheme="tflite")
    >>> print(tc.quantized.explain(tc.quantized.conv2d, x, w, np.int32([9]), at=(0, 0, 0, 0), **facts))
    conv2d, scheme tflite: output[0, 0, 0, 0] = 0, by the sum -15
      input   filter   x   w  x - zero  w - zero  product  running sum
    0,0,0,0  0,0,0,0  10   3         5         3       15           15
    0,0,1,0  0,1,0,0  20  -2        15        -2      -30          -15
    multiplier = x_scale * w_scale / y_scale = 0.125, in float32 0.125, as an integer 1073741824 / 2**31 *
    2**-2
    sum of the products                     -15
    + bias 9                                -6
    shift left, in 32 bits                  -6
    * multiplier / 2**31, round half up     -3
    shift right, round half away from zero  -1
    + y_zero_point 1                        0
    saturated to -128 .. 127                0
    """
    if is_pool(op):
        pool, array = pool_of_op(op, args, kwargs)
        return pool.explain(
            array, cell_inside(at, "at", pool.pool.output_shape, f"({', '.join(pool.pool.layout)})")
        )
    call, _ = call_of_op(op, args, kwargs)
    kind, geometry = call.call.kind, call.call.geometry
    axes = ", ".join(layout_of("input", geometry.rank))
    cell = cell_inside(at, "at", call.call.backend_shape, f"({axes})")
    w_zero = np.broadcast_to(call.zeros[1], call.call.second.shape)
    taps, total = [], 0
    for product in products_of(geometry, kind.result, cell)[1]():
        x_cell, w_cell = (product.cells[role] for role in (kind.first, kind.second))
        x_zero, w = int(call.zeros[0]), int(call.call.second[w_cell])
        x = x_zero if product.in_padding else int(call.call.first[x_cell])
        less = x - x_zero, w - int(w_zero[w_cell])
        total += less[0] * less[1]
        theirs = call.call.name(kind.second, w_cell) or w_cell
        taps.append(QuantizedTap(x_cell, theirs, product.in_padding, x, w, *less, total))
    r = call.rescaling.of_channel(cell[-1])
    steps: list[tuple[str, Any]] = [("sum of the products", total)]
    if r.bias:
        steps.append((f"+ bias {r.bias}", total + r.bias))
    rescaled = call.scheme.rescale(total + r.bias, r)
    steps += [(what, np.asarray(number)[()]) for what, number in rescaled]
    y = int(steps[-1][1]) + call.y_zero_point
    low, high = call.limits
    value = min(max(y, low), high)
    steps += [(f"+ y_zero_point {call.y_zero_point}", y), (f"saturated to {low} .. {high}", value)]
    return QuantizedExplanation(cell, value, tuple(taps), tuple(steps), r, call)
