"""The laws of padding: shapes, strides, dilations and pads of a convolution, as plain integers.

All padding arithmetic, forward and transposed, is in this module. It takes arguments in TensorFlow's
words and returns frozen dataclasses of integers, each with the formulas that it was derived from and
their numbers filled in. TensorFlow: core/framework/common_shape_fns.cc, GetWindowedOutputSizeVerbose.

A *tap* is one position of the filter on one axis, 0..filter_size-1. The index law says which input index
a tap of an output index reads; it is written in `AxisGeometry.in_index`::

    in_index = out_index * stride - pad_before + tap * dilation

A tap whose input index lies outside 0..in_size-1 is in the padding. It contributes nothing; it is skipped,
not multiplied by zero. conv2d gathers along this law, conv2d_transpose and the input gradient scatter
along the same taps, and the filter gradient sums over them.

The *full* result of a transposed convolution holds every index that a tap of any input index reaches:
F = (i - 1) * stride + effective filter of them. Its result is the part full[a : a + o]; all transposed
laws differ only in how they choose a and o.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from typing import Any, Never

from .argument_types import AnyDataFormat, CausalPaddingLike, DataFormat, Ints, PaddingLike, ShapeLike
from .arguments import (
    SIDES,
    Padding,
    Pads,
    Pair,
    Shape,
    channels_last,
    check_data_format,
    listed,
    normalize_output_padding,
    normalize_padding,
    normalize_shape,
    normalize_steps,
)
from .errors import ArgumentError, brief, hide_unknown, refuse_unknown
from .kinds import AXES, layout_of
from .tables import Table, count, pre

# ---------------------------------------------------------------------------------------------
# One axis
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AxisGeometry:
    """One axis of a convolution, depth, rows or columns: seven integers, and how they were derived.

    The sizes are those of the *forward* convolution; its transpose goes from ``out_size`` to
    ``in_size``. ``out_size`` and ``pad_before`` are stored and must not be derived again, because a
    legal transposed size may be larger than the one that the forward formula gives back.

    Attributes:
        in_size: n, the size of the forward input.
        filter_size: k, the number of taps.
        out_size: o, the size of the forward output.
        stride: s, the distance between the inputs of two neighbouring outputs.
        dilation: d, the distance between the inputs of two neighbouring taps; 1 means none.
        pad_before: zeros in front of the input; a negative number crops it.
        pad_after: zeros behind the input, likewise.
        formulas: the derivation, one line for each step, numbers filled in.
        legal_sizes: of a conv2d_transpose, the sizes that ``output_shape`` may ask for.
    """

    in_size: int
    filter_size: int
    out_size: int
    stride: int
    dilation: int
    pad_before: int
    pad_after: int
    formulas: tuple[str, ...] = field(default=(), compare=False, repr=False)
    legal_sizes: range = field(default=range(0), compare=False, repr=False)

    @property
    def effective_filter(self) -> int:
        """The filter's length including dilation gaps: ek = (k - 1)·d + 1."""
        return (self.filter_size - 1) * self.dilation + 1

    @property
    def full_size(self) -> int:
        """The number of consecutive indices that the taps of all outputs span: F = (o - 1)·s + ek."""
        return (self.out_size - 1) * self.stride + self.effective_filter

    @property
    def window_edges(self) -> tuple[Pair, Pair]:
        """What to pad and what to crop before windows slide: two pairs (before, after), none negative.

        Behind the input less than a stride is not cropped: a window that does not fit is left out anyway.

        >>> conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, "SAME").rows.window_edges
        ((0, 1), (0, 0))
        """
        (pad_before, pad_after), (crop_before, crop_after) = self.full_edges[::-1]
        return (pad_before, pad_after), (crop_before, crop_after if crop_after >= self.stride else 0)

    @property
    def full_edges(self) -> tuple[Pair, Pair]:
        """What to pad and what to crop of the transpose's full result, like `window_edges`.

        >>> conv2d_transpose_geometry((1, 4, 4, 1), (3, 3, 1, 1), None, 2).forward.rows.full_edges
        ((0, 0), (0, 1))
        """
        after = self.full_size - self.pad_before - self.in_size
        return (max(0, -self.pad_before), max(0, -after)), (max(0, self.pad_before), max(0, after))

    def size_of(self, role: str) -> int:
        """Return the length of this axis in the array of a role: "input", "filters" or "output"."""
        return {"input": self.in_size, "filters": self.filter_size, "output": self.out_size}[role]

    def in_index(self, out_index: int, tap: int) -> int:
        """Return the input index that a tap of an output reads: the index law.

        Args:
            out_index: an index of the forward output.
            tap: a position of the filter.

        Returns:
            An index of the forward input, or one in the padding: below 0, or ``in_size`` and above.

        >>> same = conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows
        >>> [same.in_index(0, tap) for tap in range(3)]
        [-1, 0, 1]
        """
        # mark: stride dilation of reference.direct/y reference.direct/dx scipy.sparse
        # mark: stride dilation of reference.slices/y reference.slices/dx
        return out_index * self.stride - self.pad_before + tap * self.dilation

    @property
    def has_padding(self) -> bool:
        """Whether any tap of any output lies in the padding."""
        if self.out_size < 1:
            return False
        last = self.in_index(self.out_size - 1, self.filter_size - 1)
        return self.in_index(0, 0) < 0 or last >= self.in_size


def axis_slab(
    axis: AxisGeometry, role: str, part: Pair, present: Pair | None = None
) -> tuple[AxisGeometry, Pair]:
    """Return the convolution that computes a part of a result on one axis, and what it reads.

    A *slab* is the part of the input that a part of the output depends on: the cells beneath the part, and
    beside them the *halo*, which the neighbouring parts read too. Inside its slab a part is a convolution of
    its own, with the same taps: only sizes and padding differ.

    Args:
        axis: one axis of the whole convolution.
        role: the role of the array that is computed in parts: "output" for a forward convolution and for a
            filter gradient's out_backprop, "input" for a transposed convolution and an input gradient.
        part: (first, past) of the part.
        present: (first, past) of the cells on the other side that are in memory, all that the part reads
            among them; None for the whole axis.

    Returns:
        The axis of the part, and (first, past) of the indices that it reads of the array on the other side.
        A part that reads only padding, or in a transposed convolution the gaps between short filters, is
        given the nearest cell that is present, because a convolution of nothing has a rule of its own.

    >>> same = conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, "SAME").rows
    >>> part, read = axis_slab(same, "output", (2, 4))
    >>> read, (part.in_size, part.out_size, part.pad_before, part.pad_after)
    ((4, 8), (4, 2, 0, 1))
    >>> part, read = axis_slab(same, "input", (2, 4))       # of the transposed convolution
    >>> read, (part.in_size, part.out_size, part.pad_before)
    ((0, 2), (2, 2, 2))
    """
    first, past = part
    reach = axis.effective_filter - 1
    if role == "output":
        start = axis.in_index(first, 0)  # the first tap of the first output, perhaps in the padding
        low, high = _inside(
            (start, axis.in_index(past - 1, 0) + reach + 1), present or (0, axis.in_size), first < past
        )
        in_size, out_size, before = high - low, past - first, low - start
        read = low, high
    else:
        # output o reaches start..start + reach, where start is o * stride - pad_before
        shift = axis.pad_before + first
        span = -(-(shift - reach) // axis.stride), (axis.pad_before + past - 1) // axis.stride + 1
        low, high = _inside(span, present or (0, axis.out_size), first < past)
        in_size, out_size, before = past - first, high - low, shift - low * axis.stride
        read = low, high
    after = (out_size - 1) * axis.stride + reach + 1 - before - in_size
    return AxisGeometry(in_size, axis.filter_size, out_size, axis.stride, axis.dilation, before, after), read


def axis_due(axis: AxisGeometry, role: str, received: int) -> int:
    """Return how many cells of a result depend only on the first cells of the input.

    Their slabs end there, which makes this the inverse of `axis_slab`. A crop at the end, which moves as the
    input grows, holds back the cells that it may still remove.

    Args:
        axis: one axis of the convolution of any longer input; only its sizes depend on how long that is.
        role: the role of the result, as in `axis_slab`.
        received: how many cells of the input there are.

    Returns:
        The number of cells of the result; 0 as long as there is no input.

    >>> same = conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 1, "SAME").rows
    >>> [axis_due(same, "output", received) for received in range(5)]
    [0, 0, 1, 2, 3]
    """
    if not received:
        return 0
    reach, before, stride = axis.effective_filter - 1, axis.pad_before, axis.stride
    if role == "output":  # up to the output whose last tap reads the last cell
        return max(0, (received + min(0, axis.pad_after) + before - reach - 1) // stride + 1)
    after = axis.full_size - before - axis.in_size  # of the full result, behind its part that is kept
    return max(0, received * stride - before - max(0, stride - reach - 1 + after))


def _inside(span: Pair, present: Pair, wanted: bool) -> Pair:
    """Return the part of a span that is present, the index nearest to it if none is; none if unwanted."""
    if not wanted or present[0] == present[1]:
        return 0, 0
    low = min(max(present[0], span[0]), present[1] - 1)
    return low, max(low + 1, min(present[1], span[1]))


def split_padding(total: int, lower: bool = False) -> Pair:
    """Split the padding of one axis into half of it before, and the rest after.

    Every dialect's SAME uses this function, and the transposed laws use it for what they crop.

    Args:
        total: P, the padding of both sides together.
        lower: whether the larger part goes before, as in SAME_LOWER, instead of after, as in SAME.

    Returns:
        (pad_before, pad_after).

    >>> split_padding(5), split_padding(5, lower=True)
    ((2, 3), (3, 2))
    """
    small, large = total // 2, total - total // 2
    return (large, small) if lower else (small, large)


def forward_axis(
    axis: str,
    n: int,
    k: int,
    s: int,
    d: int,
    mode: str,
    pads: Pair,
    *,
    may_be_empty: bool = False,
    ceil: bool = False,
) -> AxisGeometry:
    """Return one axis of a forward convolution: how many outputs, and how many zeros before and after.

    Args:
        axis: its name in `AXES`, for error messages.
        n: the input's size.
        k: the filter's size.
        s: the stride.
        d: the dilation.
        mode: "SAME", "SAME_LOWER", "VALID", "CAUSAL" or "EXPLICIT".
        pads: (before, after), which only "EXPLICIT" and "VALID" (with zeros) use.
        may_be_empty: give an empty result if the input is too small, as JAX does, instead of raising.
        ceil: of a pool without SAME, whether a last window that does not fit counts too (``ceil_mode``), if
            it begins before the padding at the end.

    Returns:
        The axis, with its derivation.

    Raises:
        ArgumentError: if the input is smaller than the filter and ``may_be_empty`` is not set.
    """
    ek = (k - 1) * d + 1
    steps = [_effective_filter(k, d, ek)]
    if mode in _SAME:
        o = -(-n // s)
        total = max(0, (o - 1) * s + ek - n) if n else 0
        before, after = split_padding(total, lower=mode == "SAME_LOWER")
        steps += [
            f"output            o  = ⌈n / s⌉ = ⌈{n} / {s}⌉ = {o}",
            f"total padding     P  = max(0, (o - 1)·s + ek - n)"
            f" = max(0, ({o} - 1)·{s} + {ek} - {n}) = {total}",
            _split_formula(total, mode),
        ]
    else:
        before, after = (ek - 1, 0) if mode == "CAUSAL" else pads
        o = (n + before + after - ek + (s - 1 if ceil else 0)) // s + 1
        dropped = ceil and o > 1 and (o - 1) * s - before >= n
        o -= dropped
        if o < 1 and n and not may_be_empty:
            padded = f", padding {before} and {after}" if mode == "EXPLICIT" else ""
            raise ArgumentError(
                f"{_mode_name(mode)} needs in_{axis} >= {max(1, ek - before - after)} "
                f"(filter {k}, dilation {d}{padded}); got {n}"
            )
        o = max(0, o)  # an empty input gives an empty output; any other gives at least one cell
        opening, closing = "⌈⌉" if ceil else "⌊⌋"
        causal = f"(k - 1)·d = ({k} - 1)·{d} = " if mode == "CAUSAL" else ""
        steps += [
            f"padding           pad_before = {causal}{before}, pad_after = {after} ({_mode_name(mode)})",
            f"output            o  = {opening}(n + pad_before + pad_after - ek) / s{closing} + 1"
            f" = {opening}({n} + {before} + {after} - {ek}) / {s}{closing} + 1 = {o + dropped}",
        ]
        if dropped:
            steps.append(f"ceil_mode         o  = {o}: the last window would begin in the padding at the end")
    steps.append(f"index law         in_index = out_index·{s} - {_signed(before)} + tap·{d}")
    return AxisGeometry(n, k, o, s, d, before, after, tuple(steps))


def _transposed_axis(
    mode: str,
    rank: int,
    axis: str,
    i: int,
    k: int,
    s: int,
    d: int,
    pads: Pair,
    wanted: int | None,
    output_padding: int | None,
) -> AxisGeometry:
    """Return one axis of TensorFlow's transposed convolution: which part of the full result is kept."""
    ek = (k - 1) * d + 1
    full = (i - 1) * s + ek
    extra = output_padding or 0
    before, after = pads
    if mode == "CAUSAL":
        raise ArgumentError(
            'padding "CAUSAL" is for a convolution; for its transpose give the crop ((0, ek - s),), which is '
            f"((0, {ek - s}),) for filter {k}, dilation {d}, stride {s}"
        )
    if mode in _SAME:
        low, high, default = (i - 1) * s + 1, i * s, i * s
        formula = f"i·s = {i}·{s}"
    elif mode == "EXPLICIT" or output_padding is not None:
        low = full - before - after
        high, default = low + s - 1, low + extra
        formula = f"F - pad_before - pad_after + output_padding = {full} - {before} - {after} + {extra}"
    else:
        low, high, default = full, full + s - 1, (i - 1) * s + max(ek, s)
        formula = f"(i - 1)·s + max(ek, s) = ({i} - 1)·{s} + max({ek}, {s})"
    smallest = 1 if i else 0  # an empty input may give an empty result; any other gives at least one cell
    if i and (high < 1 or (wanted is None and default < 1)):
        raise ArgumentError(
            f"{_mode_name(mode)} {before, after} crops all {full} {'planes' if axis == 'depth' else axis} of "
            f"the full result (input {axis} {i}, filter {k}, stride {s}, dilation {d}); "
            f"pad_before + pad_after may be at most {full - 1 + extra}"
        )
    low, high, default = max(smallest, low), max(smallest, high), max(smallest, default)
    o = default if wanted is None else wanted
    if not low <= o <= high and wanted is not None:
        error = ArgumentError(
            f"output_shape {axis} must be {_one_of(low, high)} for {_mode_name(mode)}, stride {s}, "
            f"input {axis} {i}; got {o}"
        )
        function = "conv2d_transpose_geometry" if rank == 2 else "conv_transpose_geometry"
        error.add_note(f"{function}(..., output_shape=None).legal_output_shapes lists what is legal")
        raise error
    if mode in _SAME:
        total = max(0, full - o) if i else 0
        before, after = split_padding(total, lower=mode == "SAME_LOWER")
    chosen = [
        f"output            o  = {formula} = {o}"
        if wanted is None
        else f"output            o  = {o}, requested; legal: {_one_of(low, high)}"
    ]
    if mode in _SAME:
        chosen += [
            f"cropped           P  = max(0, F - o) = max(0, {full} - {o}) = {total}",
            _split_formula(total, mode),
        ]
    found = cropped_axis(i, k, s, d, before, after, o, chosen)
    return replace(found, legal_sizes=range(low, max(low, high) + 1))


def cropped_axis(
    i: int, k: int, s: int, d: int, before: int, after: int, o: int, chosen: Sequence[str]
) -> AxisGeometry:
    """Return one axis of a transposed convolution whose result is full[before : before + o].

    Each dialect chooses ``before`` and ``o`` by rules of its own.

    Args:
        i: the input's size.
        k: the filter's size.
        s: the stride.
        d: the dilation.
        before: a, the index of the full result where the result begins; it may be negative.
        after: how many cells of the full result follow the result; it may be negative.
        o: the result's size.
        chosen: the formulas by which the dialect chose, numbers filled in.

    Returns:
        The axis of the forward convolution that this is the transpose of.
    """
    ek = (k - 1) * d + 1
    full = (i - 1) * s + ek
    steps = [
        _effective_filter(k, d, ek),
        f"full size         F  = (i - 1)·s + ek = ({i} - 1)·{s} + {ek} = {full}",
        *chosen,
        _kept_part(before, o, full),
        f"index law         output_index = input_index·{s} - {_signed(before)} + tap·{d}",
    ]
    return AxisGeometry(o, k, i, s, d, before, after, tuple(steps))


_SAME = ("SAME", "SAME_LOWER")


def _mode_name(mode: str) -> str:
    """Return what a sentence calls a mode."""
    return "explicit padding" if mode == "EXPLICIT" else mode


def _effective_filter(k: int, d: int, ek: int) -> str:
    """Return the line of a derivation that gives the effective filter."""
    return f"effective filter  ek = (k - 1)·d + 1 = ({k} - 1)·{d} + 1 = {ek}"


def _split_formula(total: int, mode: str) -> str:
    """Return the line of a derivation that splits the padding."""
    lower = mode == "SAME_LOWER"
    first, second = ("P - ⌊P / 2⌋", "⌊P / 2⌋") if lower else ("⌊P / 2⌋", "P - ⌊P / 2⌋")
    before, after = split_padding(total, lower)
    return f"{mode:<17} pad_before = {first} = {before}, pad_after = {second} = {after}"


def _kept_part(before: int, o: int, full: int) -> str:
    """Return the line of a derivation that says which part of the full result is kept."""
    rest = "; the rest is zero" if before < 0 or before + o > full else ""
    return f"result            full[{before} : {before + o}] of its {max(0, full)} cells{rest}"


def _signed(number: int) -> str:
    """Return a number as text, a negative one in parentheses."""
    return f"({number})" if number < 0 else str(number)


def _one_of(low: int, high: int) -> str:
    """Return the legal sizes from ``low`` to ``high`` as text."""
    if high <= low:
        return str(low)
    return f"{low} or {high}" if high == low + 1 else f"from {low} to {high}"


# ---------------------------------------------------------------------------------------------
# All axes together
# ---------------------------------------------------------------------------------------------

TITLES = ("depth", "rows", "columns")  # of `AXES`


class _Shared:
    """What forward and transposed geometries have in common: properties read off the axes."""

    axes: Any
    batch: Any
    groups: Any
    data_format: Any
    input_shape: Any
    filters_shape: Any
    output_shape: Any
    _name: Any

    @property
    def rank(self) -> int:
        """The number of spatial axes: 1, 2 or 3."""
        return len(self.axes)

    # cached: calls look them up again and again
    @cached_property
    def depth(self) -> AxisGeometry:
        """The axis of the depth, the first of three; ranks 1 and 2 have none."""
        return self.axes[-3] if len(self.axes) > 2 else self._lacks("depth")

    @cached_property
    def rows(self) -> AxisGeometry:
        """The axis of the rows, the last but one; rank 1 has none."""
        return self.axes[-2] if len(self.axes) > 1 else self._lacks("rows")

    @cached_property
    def cols(self) -> AxisGeometry:
        """The axis of the columns, the last one."""
        return self.axes[-1]

    def _lacks(self, name: str) -> Never:
        """Raise ``AttributeError``: the rank has no axis of this name."""
        there = listed(AXES[-self.rank :], "and")
        raise AttributeError(f"a convolution of rank {self.rank} has no {name}; it has {there}")

    @cached_property
    def macs(self) -> int:
        """The number of multiply-adds as they are usually counted: taps in the padding included."""
        return int(prod((self.batch, *(axis.out_size for axis in self.axes), *self.filters_shape)))

    @cached_property
    def strides(self) -> Shape:
        """The strides, one for each axis, such as (rows, cols)."""
        return tuple(axis.stride for axis in self.axes)

    @cached_property
    def dilations(self) -> Shape:
        """The dilations, one for each axis, such as (rows, cols); 1 means none."""
        return tuple(axis.dilation for axis in self.axes)

    @property
    def padding(self) -> Pads:
        """Zeros around the forward input, a pair for each axis; negative numbers crop."""
        return tuple((axis.pad_before, axis.pad_after) for axis in self.axes)

    def _layout(self, sizes: Iterable[int], channels: int) -> Shape:
        """Return a shape in ``data_format`` order."""
        if self.data_format[1] == "C":
            return (self.batch, channels, *sizes)
        return (self.batch, *sizes, channels)

    def _headline(self) -> str:
        """Return the first line of the text: the shapes."""
        return (
            f"{self._name}: input {list(self.input_shape)} {self.data_format}, "
            f"filters {list(self.filters_shape)} -> output {list(self.output_shape)}"
        )

    def _facts(self) -> tuple[str, ...]:
        """Return what follows the first line: strides, padding, multiply-adds; two lines for rank 3."""
        pads = (
            f"{before} {axis.pad_before} {after} {axis.pad_after}"
            for (before, after), axis in zip(SIDES[-self.rank :], self.axes, strict=True)
        )
        steps = f"strides {self.strides}, dilations {self.dilations}, groups {self.groups},"
        edges = f"padding {' '.join(pads)}, {count(self.macs, 'multiply-add')}"
        return (f"{steps} {edges}",) if self.rank < 3 else (steps, edges)

    def _derivations(self) -> dict[str, tuple[str, ...]]:
        """Return the formulas of the axes by their names; equal axes are named together."""
        names: dict[tuple[AxisGeometry, tuple[str, ...]], list[str]] = {}
        for name, axis in zip(TITLES[-self.rank :], self.axes, strict=True):
            names.setdefault((axis, axis.formulas), []).append(name)
        return {listed(same, "and"): formulas for (_, formulas), same in names.items()}

    def __str__(self) -> str:
        lines = [self._headline(), *("  " + line for line in self._facts())]
        for title, formulas in self._derivations().items():
            lines += [f"{title}:", *("  " + step for step in formulas)]
        return Table((), [], lines=lines).text()

    def _repr_html_(self) -> str:
        body = "".join(
            f"<b>{title}</b>{pre(html.escape(chr(10).join(formulas)), 'margin:0 0 .6em')}"
            for title, formulas in self._derivations().items()
        )
        head, facts = html.escape(self._headline()), "<br>".join(map(html.escape, self._facts()))
        return f"<div><b>{head}</b><br>{facts}<br><br>{body}</div>"


@dataclass(frozen=True)
class ConvGeometry(_Shared):
    """A convolution as integers: all that a backend is told about a call.

    Backends always see it with channels last, ``data_format="NHWC"`` for rank 2, whatever the caller's
    layout is. `Conv2DGeometry` is a second name for this class.

    Attributes:
        batch: the number of images.
        axes: the geometry of each spatial axis: (cols,), (rows, cols) or (depth, rows, cols). ``depth``,
            ``rows`` and ``cols`` are names of the last ones.
        in_channels: channels of the input, all groups together.
        out_channels: channels of the output, all groups together.
        groups: the number of channel groups, which are convolved independently.
        data_format: the order of ``input_shape`` and ``output_shape``: "NHWC" or "NCHW", for rank 1 "NWC" or
            "NCW", for rank 3 "NDHWC" or "NCDHW"; "" means channels last.
    """

    batch: int
    axes: tuple[AxisGeometry, ...]
    in_channels: int
    out_channels: int
    groups: int
    data_format: str = ""

    def __post_init__(self) -> None:
        axes = tuple(self.axes) if isinstance(self.axes, (list, tuple)) else ()
        if not (1 <= len(axes) <= 3 and all(isinstance(axis, AxisGeometry) for axis in axes)):
            raise ArgumentError(f"axes must be a tuple of 1, 2 or 3 AxisGeometry; got {brief(self.axes)}")
        object.__setattr__(self, "axes", axes)
        if self.data_format:
            check_data_format(self.data_format, self.rank)
        else:
            object.__setattr__(self, "data_format", layout_of("input", self.rank))

    @property
    def _name(self) -> str:
        return f"conv{self.rank}d"

    # cached, the hash too: deriving them takes longer than a small convolution
    @cached_property
    def input_shape(self) -> Shape:
        """Shape of the input in ``data_format`` order."""
        return self._layout((axis.in_size for axis in self.axes), self.in_channels)

    @cached_property
    def filters_shape(self) -> Shape:
        """Shape of the filters, ``[*filter_sizes, in_channels / groups, out_channels]``."""
        taps = (axis.filter_size for axis in self.axes)
        return (*taps, self.in_channels // self.groups, self.out_channels)

    @cached_property
    def output_shape(self) -> Shape:
        """Shape of the output in ``data_format`` order."""
        return self._layout((axis.out_size for axis in self.axes), self.out_channels)

    def shape_of(self, role: str) -> Shape:
        """Return the shape of the array of a role.

        Args:
            role: "input", "filters" or "output".

        Returns:
            The shape; activations are in ``data_format`` order.

        >>> conv2d_geometry((1, 5, 6, 2), (3, 2, 2, 4)).shape_of("output")
        (1, 3, 5, 4)
        """
        return self._shapes[role]

    @cached_property
    def _shapes(self) -> dict[str, Shape]:
        return {"input": self.input_shape, "filters": self.filters_shape, "output": self.output_shape}

    def terms_of(self, role: str) -> int:
        """Return the number of terms of the longest sum if the array of a role is the result.

        Args:
            role: "input", "filters" or "output".

        Returns:
            The number of products, those with padding included.

        >>> g = conv2d_geometry((2, 5, 6, 2), (3, 2, 2, 4))
        >>> [g.terms_of(role) for role in ("input", "filters", "output")]
        [24, 30, 12]
        """
        taps = prod(axis.filter_size for axis in self.axes)
        return {
            "input": taps * self.out_channels // self.groups,
            "filters": self.batch * prod(axis.out_size for axis in self.axes),
            "output": taps * (self.in_channels // self.groups),
        }[role]

    @cached_property
    def has_padding(self) -> bool:
        """Whether any tap of any output lies in the padding, on any axis."""
        return any(axis.has_padding for axis in self.axes)

    @property
    def integers(self) -> tuple[int, ...]:
        """The integers that define the convolution, in the order in which compiled kernels take them.

        There are 4 and 6 for each axis: 16 for rank 2.

        >>> conv2d_geometry((1, 5, 6, 2), (3, 2, 2, 4), 2, "SAME").integers
        (1, 5, 6, 2, 3, 3, 4, 1, 3, 2, 2, 2, 1, 1, 1, 0)
        """
        axes = self.axes
        return (
            *(self.batch, *(axis.in_size for axis in axes), self.in_channels),
            *(*(axis.out_size for axis in axes), self.out_channels, self.groups),
            *(*(axis.filter_size for axis in axes), *(axis.stride for axis in axes)),
            *(*(axis.dilation for axis in axes), *(axis.pad_before for axis in axes)),
        )

    @cached_property
    def _hash(self) -> int:
        return hash(
            (self.axes, self.batch, self.in_channels, self.out_channels, self.groups, self.data_format)
        )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the fields alone: strings hash differently in every process, so the hash must not travel."""
        return type(self), tuple(getattr(self, entry.name) for entry in fields(self))


Conv2DGeometry = ConvGeometry


def slab(
    geometry: ConvGeometry, role: str, images: int, parts: Sequence[Pair]
) -> tuple[ConvGeometry, tuple[Pair, ...]]:
    """Return the convolution that computes a part of a result, and the slab that it reads.

    Args:
        geometry: the whole convolution.
        role: the role of the array that is computed in parts, as in `axis_slab`.
        images: how many images the part has.
        parts: (first, past) of the part on each axis.

    Returns:
        The geometry of the part, and (first, past) of its slab on each axis.

    >>> whole = conv2d_geometry((2, 100, 100, 3), (5, 5, 3, 8), padding="SAME")
    >>> part, (rows, cols) = slab(whole, "output", 2, ((0, 50), (50, 100)))
    >>> rows, cols, part.output_shape, part.padding
    ((0, 52), (48, 100), (2, 50, 50, 8), ((2, 0), (0, 2)))
    """
    found = (axis_slab(axis, role, part) for axis, part in zip(geometry.axes, parts, strict=True))
    axes, reads = zip(*found, strict=True)
    return replace(geometry, batch=images, axes=axes), reads


@dataclass(frozen=True)
class ConvTransposeGeometry(_Shared):
    """A transposed convolution: the geometry of a forward convolution, with input and output exchanged.

    `Conv2DTransposeGeometry` is a second name for this class.

    Attributes:
        forward: the convolution that this is the transpose of; it maps this op's output to its input.
    """

    forward: ConvGeometry

    @property
    def _name(self) -> str:
        return f"{self.forward._name}_transpose"

    @property
    def axes(self) -> tuple[AxisGeometry, ...]:
        """The forward convolution's axes: their ``in_size`` are the sizes of the transposed output."""
        return self.forward.axes

    @property
    def batch(self) -> int:
        """Number of images."""
        return self.forward.batch

    @property
    def groups(self) -> int:
        """Channel groups."""
        return self.forward.groups

    @property
    def data_format(self) -> str:
        """NHWC or NCHW, or that of another rank."""
        return self.forward.data_format

    @property
    def input_shape(self) -> Shape:
        """Shape of the input in ``data_format`` order."""
        return self.forward.output_shape

    @property
    def filters_shape(self) -> Shape:
        """Shape of the filters, ``[*filter_sizes, out_channels / groups, in_channels]``."""
        return self.forward.filters_shape

    @property
    def output_shape(self) -> Shape:
        """Shape of the output in ``data_format`` order."""
        return self.forward.input_shape

    @property
    def legal_output_shapes(self) -> tuple[Shape, ...]:
        """Every ``output_shape`` that a call with this input, these filters and this padding may ask for.

        All have this geometry's channels, which set the groups. At stride s there are up to s for each axis.

        >>> conv2d_transpose_geometry((1, 8, 8, 3), (3, 3, 2, 3), strides=(2, 1)).legal_output_shapes
        ((1, 15, 8, 2), (1, 16, 8, 2))
        """
        sizes = product(*(axis.legal_sizes or (axis.in_size,) for axis in self.axes))
        return tuple(self._layout(each, self.out_channels) for each in sizes)

    @property
    def in_channels(self) -> int:
        """Channels of the input."""
        return self.forward.out_channels

    @property
    def out_channels(self) -> int:
        """Channels of the output."""
        return self.forward.in_channels


Conv2DTransposeGeometry = ConvTransposeGeometry


@hide_unknown
def conv_geometry(
    input_shape: ShapeLike,
    filters_shape: ShapeLike,
    strides: Ints = 1,
    padding: CausalPaddingLike = "VALID",
    data_format: AnyDataFormat | None = None,
    dilations: Ints | None = None,
    **unknown: Never,
) -> ConvGeometry:
    """Return the geometry of a convolution of rank 1, 2 or 3 from shapes alone; no data is needed.

    The rank is the number of the spatial axes, those of the input's shape beside batch and channels. An axis
    is called cols for rank 1; rows, cols for rank 2; depth, rows, cols for rank 3.

    Args:
        input_shape: ``[batch, *in_sizes, in_channels]``, or that in ``data_format`` order.
        filters_shape: ``[*filter_sizes, in_channels / groups, out_channels]``.
        strides: an int, one int for each axis, or one for each letter of ``data_format``.
        padding: "SAME", "VALID", "SAME_LOWER", an int, one int for each axis, a pair (before, after) for each
            axis, or a pair for each letter of ``data_format``. Negative numbers crop. (left, right) alone is
            refused for rank 1: write ((left, right),). Rank 1 also has "CAUSAL": (k - 1)·d before and none
            after, so that no output reads what comes after it.
        data_format: "NWC" or "NCW" for rank 1, "NHWC" or "NCHW" for rank 2, "NDHWC" or "NCDHW" for rank 3;
            None means channels last.
        dilations: as strides; 1, or None, means none.

    Returns:
        A `ConvGeometry`, which prints as its derivation.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: tensorflow/core/framework/common_shape_fns.cc. TensorFlow has no explicit padding for rank 3.

    >>> causal = conv_geometry((1, 8, 1), (3, 1, 1), padding="CAUSAL", dilations=2)
    >>> causal.output_shape, causal.cols.in_index(0, 2)     # the last tap of output 0 reads input 0
    ((1, 8, 1), 0)
    >>> print(conv_geometry((1, 8, 1), (3, 1, 4), strides=2, padding="SAME"))
    conv1d: input [1, 8, 1] NWC, filters [3, 1, 4] -> output [1, 4, 4]
      strides (2,), dilations (1,), groups 1, padding left 0 right 1, 48 multiply-adds
    columns:
      effective filter  ek = (k - 1)·d + 1 = (3 - 1)·1 + 1 = 3
      output            o  = ⌈n / s⌉ = ⌈8 / 2⌉ = 4
      total padding     P  = max(0, (o - 1)·s + ek - n) = max(0, (4 - 1)·2 + 3 - 8) = 1
      SAME              pad_before = ⌊P / 2⌋ = 0, pad_after = P - ⌊P / 2⌋ = 1
      index law         in_index = out_index·2 - 0 + tap·1
    """
    return _forward(conv_geometry, None, **locals())


@hide_unknown
def conv_transpose_geometry(
    input_shape: ShapeLike,
    filters_shape: ShapeLike,
    output_shape: ShapeLike | None = None,
    strides: Ints = 1,
    padding: PaddingLike = "SAME",
    data_format: AnyDataFormat | None = None,
    dilations: Ints | None = None,
    *,
    output_padding: Ints | None = None,
    **unknown: Never,
) -> ConvTransposeGeometry:
    """Return the geometry of a transposed convolution of rank 1, 2 or 3 from shapes alone; no data is needed.

    Args:
        input_shape: ``[batch, *in_sizes, in_channels]``, or that in ``data_format`` order.
        filters_shape: ``[*filter_sizes, out_channels / groups, in_channels]``.
        output_shape: one of the shapes whose forward convolution gives the input's size, or None for a
            default, as in `conv2d_transpose_geometry`.
        strides: as in `conv_geometry`.
        padding: that of the forward convolution, as in `conv_geometry`.
        data_format: as in `conv_geometry`.
        dilations: as strides; 1, or None, means none.
        output_padding: an int or one for each axis, added at the end; for VALID or explicit padding only.

    Returns:
        A `ConvTransposeGeometry`, which prints as its derivation.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message lists the legal sizes.

    Source: tensorflow/core/framework/common_shape_fns.cc and core/kernels/conv_grad_shape_utils.cc.

    >>> conv_transpose_geometry((1, 8, 1), (3, 1, 1), strides=2).output_shape
    (1, 16, 1)
    >>> conv_transpose_geometry((1, 8, 1), (3, 1, 1), strides=2).legal_output_shapes
    ((1, 15, 1), (1, 16, 1))
    """
    return _transposed(conv_transpose_geometry, None, **locals())


@hide_unknown
def conv2d_geometry(
    input_shape: ShapeLike,
    filters_shape: ShapeLike,
    strides: Ints = 1,
    padding: PaddingLike = "VALID",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    **unknown: Never,
) -> ConvGeometry:
    """Return the geometry of a `conv2d` call from shapes alone; no data is needed.

    Args:
        input_shape: [batch, in_rows, in_cols, in_channels], or that in ``data_format`` order.
        filters_shape: [filter_rows, filter_cols, in_channels / groups, out_channels].
        strides: an int, (rows, cols), or TensorFlow's list of 4 in ``data_format`` order.
        padding: "SAME", "VALID", "SAME_LOWER", an int, (rows, cols), ((top, bottom), (left, right)), or
            TensorFlow's list of 4 pairs. Negative numbers crop.
        data_format: "NHWC" or "NCHW".
        dilations: as strides; 1, or None, means none.

    Returns:
        A `ConvGeometry`, which prints as its derivation.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: tensorflow/core/framework/common_shape_fns.cc.

    >>> g = conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 4), strides=2, padding="SAME")
    >>> g.output_shape, g.padding                  # SAME puts the odd row at the bottom
    ((1, 4, 4, 4), ((0, 1), (0, 1)))
    >>> print(g)
    conv2d: input [1, 8, 8, 1] NHWC, filters [3, 3, 1, 4] -> output [1, 4, 4, 4]
      strides (2, 2), dilations (1, 1), groups 1, padding top 0 bottom 1 left 0 right 1, 576 multiply-adds
    rows and columns:
      effective filter  ek = (k - 1)·d + 1 = (3 - 1)·1 + 1 = 3
      output            o  = ⌈n / s⌉ = ⌈8 / 2⌉ = 4
      total padding     P  = max(0, (o - 1)·s + ek - n) = max(0, (4 - 1)·2 + 3 - 8) = 1
      SAME              pad_before = ⌊P / 2⌋ = 0, pad_after = P - ⌊P / 2⌋ = 1
      index law         in_index = out_index·2 - 0 + tap·1
    """
    return _forward(conv2d_geometry, 2, **locals())


@hide_unknown
def conv2d_transpose_geometry(
    input_shape: ShapeLike,
    filters_shape: ShapeLike,
    output_shape: ShapeLike | None = None,
    strides: Ints = 1,
    padding: PaddingLike = "SAME",
    data_format: DataFormat = "NHWC",
    dilations: Ints | None = None,
    *,
    output_padding: Ints | None = None,
    **unknown: Never,
) -> ConvTransposeGeometry:
    """Return the geometry of a `conv2d_transpose` call from shapes alone; no data is needed.

    Args:
        input_shape: [batch, in_rows, in_cols, in_channels], or that in ``data_format`` order.
        filters_shape: [filter_rows, filter_cols, out_channels / groups, in_channels].
        output_shape: one of the shapes whose forward convolution gives the input's size. It moves the
            result within the full one, and does not only crop it. -1 for the batch means the input's. None
            means a size of i·s for SAME and (i - 1)·s + max(ek, s) for VALID; ``legal_output_shapes`` of the
            result lists all.
        strides: an int, (rows, cols), or TensorFlow's list of 4 in ``data_format`` order.
        padding: that of the forward convolution, as in `conv2d_geometry`.
        data_format: "NHWC" or "NCHW".
        dilations: as strides; 1, or None, means none.
        output_padding: an int or (rows, cols): rows and columns added at the end, for VALID or explicit
            padding only.

    Returns:
        A `ConvTransposeGeometry`, which prints as its derivation.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message lists the legal sizes.

    Source: tensorflow/core/framework/common_shape_fns.cc and core/kernels/conv_grad_shape_utils.cc.

    >>> conv2d_transpose_geometry((1, 8, 8, 1), (3, 3, 1, 1), strides=2).output_shape
    (1, 16, 16, 1)
    >>> short = conv2d_transpose_geometry((1, 8, 8, 1), (3, 3, 1, 1), (1, 15, 15, 1), strides=2)
    >>> short.padding                               # 16 would give (0, 1): shifted by one row
    ((1, 1), (1, 1))
    """
    return _transposed(conv2d_transpose_geometry, 2, **locals())


def _forward(
    function: Callable[..., Any],
    rank: int | None,
    input_shape: Any,
    filters_shape: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    unknown: dict[str, Any],
) -> ConvGeometry:
    """Return what `conv_geometry` returns, from the arguments of a function of one rank, or of any (None)."""
    shape, layout = _laid_out(function, rank, input_shape, data_format, unknown)
    geometry = forward_geometry(
        channels_last(shape, layout),
        normalize_shape(filters_shape, "filters", rank=len(shape) - 2),
        normalize_steps(strides, "strides", layout),
        normalize_padding(padding, layout, causal=True),
        normalize_steps(dilations, "dilations", layout),
    )
    return geometry if geometry.data_format == layout else replace(geometry, data_format=layout)


def _transposed(
    function: Callable[..., Any],
    rank: int | None,
    input_shape: Any,
    filters_shape: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: Any,
    dilations: Any,
    output_padding: Any,
    unknown: dict[str, Any],
) -> ConvTransposeGeometry:
    """Return what `conv_transpose_geometry` returns, as `_forward`."""
    given, layout = _laid_out(function, rank, input_shape, data_format, unknown)
    rank = len(given) - 2
    wanted = None if output_shape is None else normalize_shape(output_shape, "output_shape", given[0], rank)
    forward = transposed_geometry(
        channels_last(given, layout),
        normalize_shape(filters_shape, "filters", rank=rank),
        None if wanted is None else channels_last(wanted, layout),
        normalize_steps(strides, "strides", layout),
        normalize_padding(padding, layout, causal=True),
        normalize_steps(dilations, "dilations", layout),
        None if output_padding is None else normalize_output_padding(output_padding, layout),
    )
    if forward.data_format != layout:
        forward = replace(forward, data_format=layout)
    return ConvTransposeGeometry(forward)


def _laid_out(
    function: Callable[..., Any],
    rank: int | None,
    input_shape: Any,
    data_format: Any,
    unknown: dict[str, Any],
) -> tuple[Shape, str]:
    """Return the shape of an input and the layout of its axes; without a rank the shape sets it."""
    if unknown:
        refuse_unknown(function, unknown)
    shape = normalize_shape(input_shape, "input", rank=rank)
    if rank is None and data_format is None:
        return shape, layout_of("input", len(shape) - 2)
    return shape, check_data_format(data_format, len(shape) - 2)


@lru_cache(maxsize=4096)
def forward_geometry(
    input_shape: Shape,
    filters_shape: Shape,
    strides: Shape,
    padding: Padding,
    dilations: Shape,
    filters_name: str = "filters",
) -> ConvGeometry:
    """Return what `conv_geometry` returns, from normalised arguments and shapes with channels last; cached.

    ``filters_name`` is the argument that an error names: a filter gradient has ``filter_sizes``.
    """
    batch, *in_sizes, in_channels = input_shape
    *filter_sizes, _, out_channels = filters_shape
    _check_filter_sizes(filter_sizes, filters_name)
    groups = _groups(in_channels, filters_shape, filters_name)
    mode, pads = padding
    facts = AXES[-len(in_sizes) :], in_sizes, filter_sizes, strides, dilations, pads
    axes = tuple(
        forward_axis(name, n, k, s, d, mode, pair) for name, n, k, s, d, pair in zip(*facts, strict=True)
    )
    return ConvGeometry(batch, axes, in_channels, out_channels, groups)


@lru_cache(maxsize=4096)
def transposed_geometry(
    input_shape: Shape,
    filters_shape: Shape,
    output_shape: Shape | None,
    strides: Shape,
    padding: Padding,
    dilations: Shape,
    output_padding: Shape | None,
) -> ConvGeometry:
    """Return the ``forward`` of `conv_transpose_geometry`, from normalised arguments; cached."""
    batch, *in_sizes, in_channels = input_shape
    *filter_sizes, filter_depth, filter_inputs = filters_shape
    rank = len(in_sizes)
    _check_filter_sizes(filter_sizes)
    if filter_inputs != in_channels:
        sizes = ", ".join(f"filter_{name}" for name in AXES[-rank:])
        raise ArgumentError(
            f"filters must be [{sizes}, out_channels, in_channels] with in_channels "
            f"= {in_channels}, the input's channels; got {list(filters_shape)}"
        )
    out_channels = filter_depth if output_shape is None else output_shape[-1]
    groups = _transposed_groups(out_channels, filters_shape)
    if output_shape is not None and output_shape[0] != batch:
        raise ArgumentError(f"output_shape batch must be {batch}, the input's; got {output_shape[0]}")
    if output_padding is not None:
        _check_output_padding(output_padding, output_shape, strides, padding, dilations)
    mode, pads = padding
    none: tuple[int | None, ...] = (None,) * rank
    wanted = none if output_shape is None else output_shape[1:-1]
    facts = AXES[-rank:], in_sizes, filter_sizes, strides, dilations, pads, wanted, output_padding or none
    axes = tuple(_transposed_axis(mode, rank, *each) for each in zip(*facts, strict=True))
    return ConvGeometry(batch, axes, out_channels, in_channels, groups)


def _check_filter_sizes(sizes: Sequence[int], name: str = "filters") -> None:
    """Raise if the filter has no cells on some axis."""
    if min(sizes) < 1:
        raise ArgumentError(
            f"{name} must have at least {one_each(len(sizes))}; got {' x '.join(map(str, sizes))}"
        )


def one_each(rank: int) -> str:
    """Return the smallest legal size of an array in words: "one row and one column"."""
    return listed(("one plane", "one row", "one column")[-rank:], "and")


def _groups(in_channels: int, filters_shape: Shape, name: str) -> int:
    """Return the groups of a forward convolution, the ratio of the channels as in TensorFlow."""
    *sizes, filter_depth, out_channels = filters_shape
    if in_channels == filter_depth:
        return 1
    shape, rank = "filters.shape" if name == "filters" else name, len(sizes)
    if filter_depth < 1 or in_channels % filter_depth or in_channels == 0:
        raise ArgumentError(
            f"{shape}[{rank}] must be the input's {count(in_channels, 'channel')}, or divide them (groups); "
            f"got {filter_depth}"
        )
    groups = in_channels // filter_depth
    if out_channels % groups:
        raise ArgumentError(
            f"{shape}[{rank + 1}] must be a multiple of the {count(groups, 'group')} (input channels "
            f"{in_channels} / {shape}[{rank}] {filter_depth}); got {out_channels}"
        )
    return groups


def _transposed_groups(out_channels: int, filters_shape: Shape) -> int:
    """Return the groups of a transposed convolution."""
    *sizes, filter_depth, in_channels = filters_shape
    if out_channels == filter_depth:
        return 1
    depth = f"filters.shape[{len(sizes)}]"
    if filter_depth < 1 or out_channels % filter_depth or out_channels == 0:
        raise ArgumentError(
            f"output_shape channels must be {filter_depth} ({depth}) or a multiple of it (groups); "
            f"got {out_channels}"
        )
    groups = out_channels // filter_depth
    if in_channels % groups:
        raise ArgumentError(
            f"output_shape channels {out_channels} / {depth} {filter_depth} gives {groups} "
            f"groups, which must divide the input's channels; got {in_channels}"
        )
    return groups


def _check_output_padding(
    output_padding: Shape,
    output_shape: Shape | None,
    strides: Shape,
    padding: Padding,
    dilations: Shape,
) -> None:
    """Raise if ``output_padding`` is out of range or does not go with the other arguments."""
    if output_shape is not None:
        raise ArgumentError(
            f"output_padding {output_padding} and output_shape {output_shape} both set the size; "
            "give only one of them"
        )
    if padding[0] in _SAME:
        raise ArgumentError(
            f"output_padding needs VALID or explicit padding; got {output_padding} with "
            f"{padding[0]} (give output_shape instead)"
        )
    names = AXES[-len(strides) :]
    for axis, extra, s, d in zip(names, output_padding, strides, dilations, strict=True):
        check_extra(axis, extra, s, d)


def check_extra(axis: str, extra: int, s: int, d: int) -> None:
    """Raise if the ``output_padding`` of an axis is out of range."""
    if not 0 <= extra < max(s, d):
        raise ArgumentError(
            f"output_padding {axis} must be from 0 to {max(s, d) - 1} (below the larger of stride {s} and "
            f"dilation {d}); got {extra}"
        )
