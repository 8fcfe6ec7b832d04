"""The law of one axis, and of groups: sizes, strides, dilations and pads of a convolution, as plain integers.

TensorFlow's padding arithmetic, forward and transposed, is in this module; where another framework chooses
sizes and pads by a rule of its own, the rule is in `dialects`. TensorFlow:
core/framework/common_shape_fns.cc, GetWindowedOutputSizeVerbose.

A *tap* is one position of the filter on one axis, 0..filter_size-1. The index law says which input index
a tap of an output index reads; it is written in `AxisGeometry.in_index`::

    in_index = out_index * stride - pad_before + tap * dilation

A tap whose input index lies outside 0..in_size-1 is in the padding. It contributes nothing; it is skipped,
not multiplied by zero. conv2d gathers along this law, conv2d_transpose and the input gradient scatter
along the same taps, and the filter gradient sums over them.

A transposed convolution goes the other way. Let it have i inputs and o outputs, which are the ``out_size``
and the ``in_size`` of its forward convolution. Its *full* result holds every index that a tap of any input
reaches, F = (i - 1) * stride + effective filter cells. The result is the part full[a : a + o]; all transposed
laws differ only in how they choose a and o.

Comments that begin with "mark", here and in the backends, are read by `find_source` (inspection/marks.py);
skip them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from ..support.errors import ArgumentError
from ..support.tables import count
from .arguments import (
    Padding,
    Pair,
    Shape,
)
from .kinds import AXES


@dataclass(frozen=True)
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

    @cached_property
    def effective_filter(self) -> int:
        """The filter's length including dilation gaps: ek = (k - 1)·d + 1."""
        return (self.filter_size - 1) * self.dilation + 1

    @cached_property
    def full_size(self) -> int:
        """The number of consecutive indices that the taps of all outputs span: F = (o - 1)·s + ek."""
        return (self.out_size - 1) * self.stride + self.effective_filter

    @property
    def window_edges(self) -> tuple[Pair, Pair]:
        """What to pad and what to crop before windows slide: two pairs (before, after), none negative.

        At the end, less than a stride is not cropped: a window that does not fit is left out anyway.

        >>> from teachconv.core.geometry import conv2d_geometry
        >>> conv2d_geometry((1, 8, 8, 1), (3, 3, 1, 1), 2, "SAME").rows.window_edges
        ((0, 1), (0, 0))
        """
        (pad_before, pad_after), (crop_before, crop_after) = self.full_edges[::-1]
        return (pad_before, pad_after), (crop_before, crop_after if crop_after >= self.stride else 0)

    @property
    def full_edges(self) -> tuple[Pair, Pair]:
        """What to pad and what to crop of the transpose's full result, like `window_edges`.

        >>> from teachconv.core.geometry import conv2d_transpose_geometry
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

        >>> from teachconv.core.geometry import conv2d_geometry
        >>> same = conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME").rows
        >>> [same.in_index(0, tap) for tap in range(3)]
        [-1, 0, 1]
        """
        # mark: stride dilation of reference.direct/y reference.direct/dx scipy.sparse/y scipy.sparse/dx
        # mark: stride dilation of reference.slices/y reference.slices/dx
        return out_index * self.stride - self.pad_before + tap * self.dilation

    @property
    def has_padding(self) -> bool:
        """Whether any tap of any output lies in the padding."""
        if self.out_size < 1:
            return False
        last = self.in_index(self.out_size - 1, self.filter_size - 1)
        return self.in_index(0, 0) < 0 or last >= self.in_size


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
    if mode in SAME_WORDS:
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
        dropped = int(ceil and o > 1 and (o - 1) * s - before >= n)
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


def transposed_axis(
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
    if mode in SAME_WORDS:
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
            f"output_shape {axis} must be {one_of(low, high)} for {_mode_name(mode)}, stride {s}, "
            f"input {axis} {i}; got {o}"
        )
        function = "conv2d_transpose_geometry" if rank == 2 else "conv_transpose_geometry"
        error.add_note(f"{function}(..., output_shape=None).legal_output_shapes lists what is legal")
        raise error
    if mode in SAME_WORDS:
        total = max(0, full - o) if i else 0
        before, after = split_padding(total, lower=mode == "SAME_LOWER")
    chosen = [
        f"output            o  = {formula} = {o}"
        if wanted is None
        else f"output            o  = {o}, requested; legal: {one_of(low, high)}"
    ]
    if mode in SAME_WORDS:
        chosen += [
            f"cropped           P  = max(0, F - o) = max(0, {full} - {o}) = {total}",
            _split_formula(total, mode),
        ]
    cropped = cropped_axis(i, k, s, d, before, after, o, chosen)
    return replace(cropped, legal_sizes=range(low, max(low, high) + 1))


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


SAME_WORDS = ("SAME", "SAME_LOWER")


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


def one_of(low: int, high: int) -> str:
    """Return the legal sizes from ``low`` to ``high`` as text."""
    if high <= low:
        return str(low)
    return f"{low} or {high}" if high == low + 1 else f"from {low} to {high}"


def groups_of(in_channels: int, filters_shape: Shape, name: str) -> int:
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


def transposed_groups(out_channels: int, filters_shape: Shape) -> int:
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


def check_output_padding(
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
    if padding[0] in SAME_WORDS:
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
