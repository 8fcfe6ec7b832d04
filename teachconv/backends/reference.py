"""The definition: convolution in pure Python, each result the exact sum rounded once.

Read it first. TensorFlow's own loops are far away (tensorflow/core/kernels/conv_ops.cc hands on to
Eigen, oneDNN or cuDNN); these are all there is, and every other backend is checked against them. The
sum of the products is exact and is rounded once, in `round_sum`, so that a backend's distance from
this one is its error.

The shape of all three functions is the same: find the pairs of numbers that meet in one cell (the
index law, tabulated for rows and columns in `taps`), multiply them, sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import product, repeat
from math import copysign, frexp, fsum, inf, isfinite, ldexp, nan
from operator import mul
from typing import Any, TypeAlias

import numpy as np

from .. import record, taps
from ..dtypes import float_format, to_dtype
from ..geometry import Conv2DGeometry
from . import Algorithm, finish

ALGORITHMS = (Algorithm("direct", "the definition: every tap of every cell, the exact sum rounded once"),)

Numbers: TypeAlias = list[Any]  # Python floats or ints


def conv2d(
    x: np.ndarray,
    w: np.ndarray,
    geometry: Conv2DGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Gather: y[n, r, c, o] = sum of x[n, in_row, in_col, i] * w[tap_row, tap_col, i, o]."""
    numbers = Factors(x, w)
    image = numbers.first  # [batch][in_rows][in_cols][in_channels]
    filters = numbers.second  # [filter_rows][filter_cols][in_channels / groups][out_channels]
    extra = _extra_terms(bias, geometry.out_channels)
    rows, cols = taps.gather(geometry.rows), taps.gather(geometry.cols)
    in_group, out_group = _channel_groups(geometry)
    columns: dict[Any, list[Numbers]] = {}  # by (tap rows, tap cols, group): one for each out channel
    y: Numbers = []
    with record.stage("taps") as stage:
        stage.know(algorithm="direct")
        stage.say("every cell: patch x filter, exact sum, rounded once to {}", x.dtype)
        for n, row, col in product(range(geometry.batch), rows, cols):
            for group in range(geometry.groups):
                patch: Numbers = []
                for in_row in row.indices:
                    for in_col in col.indices:
                        patch += image[n][in_row][in_col][in_group[group]]
                patch = numbers.left(patch)
                key = row.taps, col.taps, group
                if key not in columns:
                    block = [
                        cell for r in row.taps for c in col.taps for cell in filters[r][c]
                    ]  # [taps * in_channels / groups][out_channels]
                    columns[key] = [
                        numbers.right([cell[o] for cell in block])
                        for o in range(geometry.out_channels)[out_group[group]]
                    ]
                y += map(numbers.sum, repeat(patch), columns[key], extra[out_group[group]])
    return _result(y, geometry.output_shape, x.dtype, activation, out)


def conv2d_backprop_input(
    dy: np.ndarray,
    w: np.ndarray,
    geometry: Conv2DGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Scatter along the same taps: dx[n, in_row, in_col, i] = sum of dy[n, r, c, o] * w[.., i, o].

    Read backwards, cell of dx by cell of dx, so that each cell's terms come together and are rounded
    once. This is conv2d_transpose.
    """
    numbers = Factors(dy, w)
    image = numbers.first  # [batch][out_rows][out_cols][out_channels]
    filters = numbers.second  # [filter_rows][filter_cols][in_channels / groups][out_channels]
    extra = _extra_terms(bias, geometry.in_channels)
    rows, cols = taps.scatter(geometry.rows), taps.scatter(geometry.cols)
    in_group, out_group = _channel_groups(geometry)
    columns: dict[Any, list[Numbers]] = {}  # by (tap rows, tap cols, group): one for each in channel
    dx: Numbers = []
    with record.stage("taps") as stage:
        stage.know(algorithm="direct")
        stage.say("every cell: patch x filter, exact sum, rounded once to {}", dy.dtype)
        for n, row, col in product(range(geometry.batch), rows, cols):
            for group in range(geometry.groups):
                patch: Numbers = []
                for out_row in row.indices:
                    for out_col in col.indices:
                        patch += image[n][out_row][out_col][out_group[group]]
                patch = numbers.left(patch)
                key = row.taps, col.taps, group
                if key not in columns:
                    block = [filters[r][c] for r in row.taps for c in col.taps]
                    columns[key] = [
                        numbers.right([o for cell in block for o in cell[i][out_group[group]]])
                        for i in range(geometry.filters_shape[2])
                    ]
                dx += map(numbers.sum, repeat(patch), columns[key], extra[in_group[group]])
    return _result(dx, geometry.input_shape, dy.dtype, activation, out)


def conv2d_backprop_filter(
    x: np.ndarray,
    dy: np.ndarray,
    geometry: Conv2DGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Sum over the same taps: dw[tap_row, tap_col, i, o] = sum of x[.., i] * dy[n, r, c, o]."""
    numbers = Factors(x, dy)
    image = numbers.first  # [batch][in_rows][in_cols][in_channels]
    upstream = numbers.second  # [batch][out_rows][out_cols][out_channels]
    rows, cols = list(taps.triples(geometry.rows)), list(taps.triples(geometry.cols))
    in_group, out_group = _channel_groups(geometry)
    rights: dict[Any, Numbers] = {}
    dw: dict[Any, Any] = {}
    with record.stage("taps") as stage:
        stage.know(algorithm="direct")
        stage.say("every filter cell: images x out_backprop, rounded once to {}", x.dtype)
        for tap_row, tap_col in product(*map(range, geometry.filters_shape[:2])):
            row_pairs = [(r, in_row) for r, tap, in_row in rows if tap == tap_row]
            col_pairs = [(c, in_col) for c, tap, in_col in cols if tap == tap_col]
            places = list(product(range(geometry.batch), row_pairs, col_pairs))
            inputs = [image[n][in_row][in_col] for n, (_, in_row), (_, in_col) in places]
            outputs = [upstream[n][r][c] for n, (r, _), (c, _) in places]
            for group in range(geometry.groups):
                for i, channel in enumerate(range(geometry.in_channels)[in_group[group]]):
                    left = numbers.left([cell[channel] for cell in inputs])
                    for o in range(geometry.out_channels)[out_group[group]]:
                        if (tap_row, tap_col, o) not in rights:
                            right = numbers.right([cell[o] for cell in outputs])
                            rights[tap_row, tap_col, o] = right
                        dw[tap_row, tap_col, i, o] = numbers.sum(left, rights[tap_row, tap_col, o])
    ordered = [dw[cell] for cell in product(*map(range, geometry.filters_shape))]
    return _result(ordered, geometry.filters_shape, x.dtype, None, out)


def _channel_groups(geometry: Conv2DGeometry) -> tuple[list[slice], list[slice]]:
    """Which input and which output channels belong to each group."""
    ins = geometry.in_channels // geometry.groups
    outs = geometry.out_channels // geometry.groups
    groups = range(geometry.groups)
    return [slice(g * ins, g * ins + ins) for g in groups], [slice(g * outs, g * outs + outs) for g in groups]


def _extra_terms(bias: np.ndarray | None, channels: int) -> list[Numbers]:
    """The bias is one more term of each sum."""
    return [[]] * channels if bias is None else [[term] for term in _numbers(bias)]


def _result(
    cells: Numbers,
    shape: Sequence[int],
    dtype: np.dtype[Any],
    activation: str | None,
    out: np.ndarray | None,
) -> np.ndarray:
    exact = np.array(cells, np.int64 if dtype.kind == "i" else np.float64)  # no rounding: see round_sum
    return finish(exact.reshape(shape).astype(dtype), dtype, None, activation, out)


# ---------------------------------------------------------------------------------------------
# The exact sum, rounded once
# ---------------------------------------------------------------------------------------------


def round_sum(terms: Iterable[Any], dtype: Any, *, rational: bool = False) -> Any:
    """Return the exact sum of the terms, rounded once to ``dtype``; integers wrap around.

    Terms are Python floats for a floating-point ``dtype`` and ints for an integer one; with
    ``rational`` they may be `fractions.Fraction` too. NaN and infinities count as IEEE 754 says. Ties
    go to the even neighbour.

    >>> round_sum([2.0**70, 1.0, -(2.0**70)], "float32")
    1.0
    >>> round_sum([1.0, 2.0**-24, 2.0**-60], "float32") == 1 + 2.0**-23    # rounding twice gives 1
    True
    >>> round_sum([2**31 - 1, 1], "int32")
    -2147483648
    """
    terms = list(terms)
    dtype = to_dtype(dtype)
    if dtype.kind == "i":
        half = 1 << (8 * dtype.itemsize - 1)
        return (sum(terms) + half) % (2 * half) - half
    if rational:
        return _round_exact(terms, dtype)
    try:
        total = fsum(terms)
    except ValueError:  # inf - inf
        return nan
    except OverflowError:  # an intermediate sum; the result may be finite
        return _round_exact(terms, dtype)
    if dtype.name == "float64" or not isfinite(total):
        return total
    return _round_double(total, terms, dtype)


def _round_double(total: float, terms: Numbers, dtype: np.dtype[Any]) -> float:
    """Round a double to a narrower format, where ``total`` is itself the rounded sum of ``terms``."""
    form = float_format(dtype)
    last_bit = max(frexp(total)[1] - form.precision, form.smallest_exponent)
    units = ldexp(total, -last_bit)  # exact: the number in units of the last place
    nearest = round(units)  # half to even
    if abs(units - nearest) == 0.5:  # a midpoint: the part that fsum rounded away decides
        rest = fsum([*terms, -total])
        if rest:
            nearest = round(units + copysign(0.25, rest))
    result = ldexp(nearest, last_bit)
    return copysign(inf if abs(result) > form.largest else abs(result), total)


def _round_exact(terms: Numbers, dtype: np.dtype[Any]) -> float:
    """Round in rational arithmetic: for what fsum cannot hold. Slow, and always right."""
    special = [float(term) for term in terms if not _finite(term)]
    if special:
        return float(sum(special))
    form = float_format(dtype)
    exact = sum(map(Fraction, terms), Fraction(0))
    size = abs(exact)
    # 2^(exponent - 1) <= size < 2^(exponent + 1): one step at most from frexp's exponent
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent += size >= Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - form.precision, form.smallest_exponent)
    value = round(size / unit) * unit  # half to even
    return copysign(inf if value > form.largest else float(value), -1 if exact < 0 else 1)


def _finite(term: Any) -> bool:
    return not isinstance(term, float) or isfinite(term)


class Factors:
    """Two arrays as nested lists of Python numbers, and how to sum products of them exactly.

    ``left`` and ``right`` prepare a list from the first and from the second array, once; ``sum`` then
    multiplies, adds and rounds. A product of two float32 is exact in double. One of two float64 is
    not: there each number is split into two halves of at most 27 bits (Veltkamp), whose four products
    are exact. Where even those could overflow or underflow, or a number is not finite, the products
    are rational numbers.
    """

    def __init__(self, first: np.ndarray, second: np.ndarray) -> None:
        self.dtype = first.dtype
        self.first, self.second = _numbers(first), _numbers(second)
        self._split = self.dtype.name == "float64"
        self._rational = self._split and not _halves_are_exact(first, second)

    def left(self, values: Numbers) -> Numbers:
        """Prepare numbers of the first array."""
        if not self._split or self._rational:
            return values
        high, low = _halves(values)
        return high + high + low + low

    def right(self, values: Numbers) -> Numbers:
        """Prepare numbers of the second array, to meet those of the first."""
        if not self._split or self._rational:
            return values
        high, low = _halves(values)
        return high + low + high + low

    def sum(self, left: Numbers, right: Numbers, extra: Numbers = []) -> Any:  # noqa: B006 (never changed)
        """Return the exact sum of left[k] * right[k] and the extra terms, rounded once."""
        if self._rational:
            return round_sum([*map(exact_product, left, right), *extra], self.dtype, rational=True)
        return round_sum([*map(mul, left, right), *extra], self.dtype)


def exact_product(a: Any, b: Any) -> Any:
    """Return a * b without rounding: a Fraction where both are finite, else what IEEE says."""
    if isfinite(a) and isfinite(b):
        return Fraction(a) * Fraction(b)
    return a * b


def _numbers(array: np.ndarray) -> Any:
    if array.dtype.kind == "i":
        return array.tolist()
    return array.astype(np.float64).tolist()


def _halves(values: Numbers) -> tuple[Numbers, Numbers]:
    """Split each double into two numbers of at most 26 and 27 bits (Veltkamp)."""
    high = []
    for value in values:
        scaled = 134217729.0 * value  # 2^27 + 1
        high.append(scaled - (scaled - value))
    return high, [value - top for value, top in zip(values, high, strict=True)]


def _halves_are_exact(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether splitting overflows nowhere, no half product underflows, and fsum stays finite."""
    top, bottom = 0, 0  # exponents of the largest and of the smallest product
    for array in (first, second):
        sizes = np.abs(array[array != 0])
        if not np.isfinite(sizes).all() or sizes.max(initial=0.0) > 2.0**995:
            return False
        top += int(np.frexp(sizes.max(initial=0.0))[1])
        bottom += int(np.frexp(sizes.min(initial=inf))[1]) - 1 if sizes.size else 0
    terms = 4 * min(first.size, second.size)
    return bottom >= -970 and top + terms.bit_length() < 1020
