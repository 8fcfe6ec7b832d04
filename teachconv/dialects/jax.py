"""conv_general_dilated, conv_transpose and reduce_window of jax.lax, jax.numpy.pad and jax.image.resize.

Layouts are given by the argument ``dimension_numbers``. Their defaults differ: NCHW and OIHW for the first
function, NHWC and HWIO for the second. ``lhs_dilation`` inserts zeros between the input's cells, which turns
the call into a transposed convolution with a flipped filter.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import islice
from typing import Any, Literal, NamedTuple, Never, TypeAlias

import numpy as np

from ..core.arguments import Pads, Pair, Shape, integer, listed, normalize_shape, positive, real, truth
from ..core.geometry import ConvGeometry, one_each
from ..core.kinds import AXES, layout_of
from ..core.law import AxisGeometry, cropped_axis, forward_axis, split_padding
from ..support import tables
from ..support.argument_types import ArrayLike, Backend, Int, Pairs, ShapeLike
from ..support.errors import ArgumentError, ArgumentTypeError, brief, suggestion
from ..windows.calls import run_window, window_function
from ..windows.padding import PadCall, pad_call, pairs
from ..windows.pooling import PoolCall
from ..windows.resizing import ResizeCall, check_defined, resize_call
from ..windows.walking import whole
from .calls import (
    CONV,
    CONV_TRANSPOSE,
    ConvCall,
    Operand,
    check_groups,
    dialect_function,
    full_size,
    ints,
    rank_of,
    run,
    steps_of,
)

__all__ = ["ConvDimensionNumbers", "conv_general_dilated", "conv_transpose", "pad", "reduce_window", "resize"]

_LHS = Operand("lhs", "input", "in the order of dimension_numbers", (3, 4, 5))
_RHS = Operand("rhs", "filters", "in the order of dimension_numbers", (3, 4, 5))


class ConvDimensionNumbers(NamedTuple):
    """Where the axes are, like jax.lax.ConvDimensionNumbers.

    Attributes:
        lhs_spec: the positions of (batch, feature, rows, cols) in lhs, or of as many axes as there are.
        rhs_spec: the positions of (out feature, in feature, rows, cols) in rhs, or likewise.
        out_spec: the positions of (batch, feature, rows, cols) in the output, or likewise.
    """

    lhs_spec: tuple[int, ...]
    rhs_spec: tuple[int, ...]
    out_spec: tuple[int, ...]


DimensionNumbers: TypeAlias = tuple[str, str, str] | list[str] | tuple[Sequence[int], ...]


# ---------------------------------------------------------------------------------------------
# Layouts
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Layouts:
    """The three layouts in letters, and the order in which JAX's sequences name the axes, such as "WH"."""

    lhs: str
    rhs: str
    out: str
    order: str

    def ordered(self, sides: Any) -> Any:
        """Return items in JAX's order as (depth, rows, cols), or the last ones of these."""
        return tuple(sides[self.order.index(letter)] for letter in "DHW" if letter in self.order)


def _layouts(numbers: Any, rank: int, channels_last: bool) -> _Layouts:
    """Read ``dimension_numbers``: None for the usual layouts, three strings, or ConvDimensionNumbers."""
    axes = "DHW"[-rank:]
    if numbers is None:
        images, filters = (f"N{axes}C", f"{axes}IO") if channels_last else (f"NC{axes}", f"OI{axes}")
        return _Layouts(images, filters, images, axes)
    if hasattr(numbers, "lhs_spec"):
        numbers = (numbers.lhs_spec, numbers.rhs_spec, numbers.out_spec)
    if isinstance(numbers, str) or not isinstance(numbers, (list, tuple)) or len(numbers) != 3:
        raise ArgumentTypeError(
            "dimension_numbers must be None, three layouts such as ('NHWC', 'HWIO', 'NHWC') or "
            f"ConvDimensionNumbers; got {brief(numbers)}"
        )
    if all(isinstance(spec, str) for spec in numbers):
        return _from_strings(axes, *numbers)
    letters = f"NC{axes}", f"OI{axes}", f"NC{axes}"
    lhs, rhs, out = (_from_positions(*each) for each in zip(numbers, letters, strict=True))
    return _Layouts(lhs, rhs, out, axes)


def _from_positions(spec: Any, letters: str) -> str:
    """Return a layout in letters, given the positions of ``letters`` in it."""
    count = len(letters)
    positions = [integer(position, "dimension_numbers") for position in islice(spec, count + 1)]
    if sorted(positions) != [*range(count)]:
        raise ArgumentError(
            f"dimension_numbers must hold the positions 0 to {count - 1}, each once; got {brief(spec)}"
        )
    return "".join(letters[positions.index(axis)] for axis in range(count))


def _from_strings(axes: str, lhs: str, rhs: str, out: str) -> _Layouts:
    """Return the layouts with their axes named D, H and W, whatever letters name them."""
    size, named = len(axes) + 2, listed(AXES[-len(axes) :], "and")
    for spec, fixed in ((lhs, "NC"), (rhs, "OI"), (out, "NC")):
        if len(spec) != size or len(set(spec)) != size or not all(letter in spec for letter in fixed):
            raise ArgumentError(
                f"dimension_numbers must be {size} letters each, with {fixed[0]} and {fixed[1]} and those of "
                f"{named}; got {brief(spec)}"
            )
    spatial = [letter for letter in rhs if letter not in "OI"]  # strides are in the filter's order
    if any(letter in "NC" or letter not in spec for spec in (lhs, out) for letter in spatial):
        raise ArgumentError(f"dimension_numbers must name {named} by the same letters; got {(lhs, rhs, out)}")
    if sorted(spatial) == sorted(axes):
        return _Layouts(lhs, rhs, out, "".join(spatial))
    ours = str.maketrans(dict(zip(spatial, axes, strict=True)))
    return _Layouts(lhs.translate(ours), rhs.translate(ours), out.translate(ours), axes)


# ---------------------------------------------------------------------------------------------
# Resolvers: each takes shapes and arguments and returns a ConvCall
# ---------------------------------------------------------------------------------------------


def _conv_general_dilated(
    lhs: Shape,
    rhs: Shape,
    window_strides: Any,
    padding: Any,
    lhs_dilation: Any,
    rhs_dilation: Any,
    dimension_numbers: Any,
    feature_group_count: Any,
    batch_group_count: Any,
    function: str = "jax.conv_general_dilated",
) -> ConvCall:
    """Resolve a call of conv_general_dilated."""
    rank = rank_of(lhs, rhs, "rhs")
    layouts = _layouts(dimension_numbers, rank, channels_last=False)
    strides = layouts.ordered(ints(window_strides, "window_strides", rank, scalar=False))
    stuffing = layouts.ordered(steps_of(lhs_dilation, "lhs_dilation", rank))
    dilations = layouts.ordered(steps_of(rhs_dilation, "rhs_dilation", rank))
    mode, pads = _mode(padding, stuffing)
    pads = layouts.ordered(pads)
    axes = "DHW"[-rank:]
    n, *in_sizes, channels = (lhs[layouts.lhs.index(letter)] for letter in f"N{axes}C")
    *sizes, depth, outs = (rhs[layouts.rhs.index(letter)] for letter in f"{axes}IO")
    groups, batch_groups = _group_counts(feature_group_count, batch_group_count, n, channels, depth, outs)
    if min(sizes) < 1:
        raise ArgumentError(f"rhs must have at least {one_each(rank)}; got shape {list(rhs)}")
    steps = [f"layouts: lhs {layouts.lhs}, rhs {layouts.rhs}, out {layouts.out}"]
    if batch_groups > 1:
        steps.append(
            f"batch_group_count {batch_groups}: the batch is split into {batch_groups} parts, which become "
            f"groups of channels: {batch_groups} x {channels}"
        )
    gaps = max(stuffing) > 1
    transposed = gaps and max(strides) == 1
    spatial = []
    for name, i, k, s, up, d, pad in zip(
        AXES[-rank:], in_sizes, sizes, strides, stuffing, dilations, pads, strict=True
    ):
        if transposed:
            spatial.append(_stuffed_axis(i, k, up, d, pad))
        else:
            spatial.append(forward_axis(name, _stuffed(i, up, pad), k, s, d, mode, pad, may_be_empty=True))
    common = (layouts.lhs, layouts.rhs, layouts.out)
    batch, width = n // batch_groups, channels * batch_groups
    if transposed:
        steps.append(
            f"lhs_dilation {stuffing} with window_strides 1: a transposed convolution of stride {stuffing}; "
            "its filter is rhs flipped, in and out exchanged"
        )
        geometry = ConvGeometry(batch, tuple(spatial), outs, width, groups)
        return ConvCall(
            function,
            CONV_TRANSPOSE[rank],
            geometry,
            *common,
            flip=True,
            regroup=groups > 1,
            batch_groups=batch_groups,
            steps=tuple(steps),
        )
    if gaps:
        before = " x ".join(f"{size}" for size in in_sizes)
        after = " x ".join(f"{axis.in_size}" for axis in spatial)
        steps.append(
            f"lhs_dilation {stuffing} together with window_strides {strides}: TensorFlow has no such call; "
            f"zeros are inserted between the cells first, {before} becomes {after}"
        )
    geometry = ConvGeometry(batch, tuple(spatial), width, outs, groups)
    return ConvCall(
        function,
        CONV[rank],
        geometry,
        *common,
        stuffing=stuffing,
        batch_groups=batch_groups,
        steps=tuple(steps),
    )


def _mode(padding: Any, stuffing: Shape) -> tuple[str, Pads]:
    """Return the padding mode, as `geometry` names it, and the explicit pads."""
    if not isinstance(padding, str):
        return "EXPLICIT", pairs(padding, "padding", len(stuffing), "a string or ")
    if max(stuffing) > 1:
        raise ArgumentError(
            f"padding must be given as pairs if lhs_dilation is not 1; got {brief(padding)}: use "
            "conv_transpose, which gives these strings a meaning of its own"
        )
    if padding.upper() not in ("SAME", "VALID", "SAME_LOWER"):
        near = suggestion(padding, ("SAME", "SAME_LOWER", "VALID"))
        legal = f"'SAME', 'SAME_LOWER', 'VALID' or {tables.count(len(stuffing), 'pair')}"
        raise ArgumentError(f"padding must be {legal}; got {brief(padding)}{near}")
    return padding.upper(), ((0, 0),) * len(stuffing)


def _group_counts(
    feature_groups: Any, batch_groups: Any, batch: int, channels: int, depth: int, outs: int
) -> tuple[int, int]:
    """Check both group counts; return the number of channel groups, with and without the batch groups."""
    groups = positive(feature_groups, "feature_group_count")
    batches = positive(batch_groups, "batch_group_count")
    if groups > 1 and batches > 1:
        raise ArgumentError(
            f"feature_group_count and batch_group_count must not both be above 1; got {groups} and {batches}"
        )
    check_groups(groups, "feature_group_count", channels, depth, "rhs in", outs, "rhs out")
    if batch % batches or outs % batches:
        raise ArgumentError(
            f"batch_group_count must divide lhs's batch {batch} and rhs's out features {outs}; got {batches}"
        )
    return groups * batches, batches


def _stuffed(i: int, up: int, pads: Pair) -> int:
    """Return the size of an input with up - 1 zeros between its cells; raise if ``pads`` crop more."""
    size = max(0, (i - 1) * up + 1)
    if size + sum(pads) < 0:
        cells = tables.count(size, "cell")
        raise ArgumentError(f"padding must not crop more than the input's {cells}; got {pads}")
    return size


def _stuffed_axis(i: int, k: int, up: int, d: int, pads: Pair) -> AxisGeometry:
    """Return one axis of a convolution of stride 1 over an input with up - 1 zeros between its cells."""
    low, high = pads
    full = full_size(i, k, up, d)
    ek = (k - 1) * d + 1
    stuffed = _stuffed(i, up, pads)
    o = max(0, stuffed + low + high - ek + 1)
    before = ek - 1 - low
    chosen = [
        f"stuffed input     n  = (i - 1)·s + 1 = ({i} - 1)·{up} + 1 = {stuffed}",
        f"output            o  = n + low + high - ek + 1 = {stuffed} + {low} + {high} - {ek} + 1 = {o}",
        f"first cell        a  = ek - 1 - low = {ek} - 1 - {low} = {before}",
    ]
    return cropped_axis(i, k, up, d, before, full - before - o, o, chosen)


def _conv_transpose(
    lhs: Shape,
    rhs: Shape,
    strides: Any,
    padding: Any,
    rhs_dilation: Any,
    dimension_numbers: Any,
    transpose_kernel: Any,
    use_consistent_padding: Any = False,
) -> ConvCall:
    """Resolve a call of conv_transpose."""
    rank = rank_of(lhs, rhs, "rhs")
    layouts, letters = _layouts(dimension_numbers, rank, channels_last=True), "DHW"[-rank:]
    strides = layouts.ordered(ints(strides, "strides", rank, scalar=False))
    dilations = layouts.ordered(steps_of(rhs_dilation, "rhs_dilation", rank))
    n, *in_sizes, channels = (lhs[layouts.lhs.index(letter)] for letter in f"N{letters}C")
    transpose_kernel = truth(transpose_kernel, "transpose_kernel")
    # with transpose_kernel, the axis that the layout calls O holds the input's channels
    rhs_layout = layouts.rhs.translate(str.maketrans("IO", "OI")) if transpose_kernel else layouts.rhs
    *sizes, depth, outs = (rhs[rhs_layout.index(letter)] for letter in f"{letters}IO")
    if depth != channels:
        name = "O" if transpose_kernel else "I"
        raise ArgumentError(f"rhs must have lhs's {tables.count(channels, 'channel')} at {name}; got {depth}")
    if min(sizes) < 1:
        raise ArgumentError(f"rhs must have at least {one_each(rank)}; got shape {list(rhs)}")
    rule, pads = _transposed_rule(padding, strides, truth(use_consistent_padding, "use_consistent_padding"))
    pads = layouts.ordered(pads)
    axes = tuple(
        _transposed_axis(rule, *facts)
        for facts in zip(in_sizes, sizes, strides, dilations, pads, strict=True)
    )
    text = "filter: " + (
        f"transpose_kernel: TensorFlow's {letters}OI, as it is"
        if transpose_kernel
        else "flipped on every axis, in and out exchanged"
    )
    geometry = ConvGeometry(n, axes, outs, channels, 1)
    return ConvCall(
        "jax.conv_transpose",
        CONV_TRANSPOSE[rank],
        geometry,
        layouts.lhs,
        rhs_layout,
        layouts.out,
        flip=not transpose_kernel,
        steps=(f"layouts: lhs {layouts.lhs}, rhs {layouts.rhs}, out {layouts.out}", text),
    )


def _transposed_rule(padding: Any, strides: Shape, consistent: bool) -> tuple[str, Pads]:
    """Return how conv_transpose reads its padding ("SAME", "VALID", "raw" or "consistent"), and the pads."""
    if isinstance(padding, str):
        none = ((0, 0),) * len(strides)
        if padding in ("SAME", "VALID"):
            return padding, none
        # other strings are passed on to conv_general_dilated, which takes them only at stride 1
        if max(strides) == 1 and not consistent and padding.upper() in ("SAME", "VALID", "SAME_LOWER"):
            return "forward " + padding.upper(), none
        legal = f"'SAME', 'VALID' or {tables.count(len(strides), 'pair')} of ints"
        near = suggestion(padding, ("SAME", "VALID"))
        raise ArgumentError(f"padding must be {legal}; got {brief(padding)}{near}")
    return ("consistent" if consistent else "raw"), pairs(padding, "padding", len(strides), "a string or ")


def _transposed_axis(rule: str, i: int, k: int, s: int, d: int, pads: Pair) -> AxisGeometry:
    """Return one axis of conv_transpose; jax/_src/lax/convolution.py, _conv_transpose_padding."""
    full = full_size(i, k, s, d)
    ek = (k - 1) * d + 1
    low, high = pads
    if rule == "raw":
        return _stuffed_axis(i, k, s, d, pads)
    if rule.startswith("forward"):
        same = forward_axis("rows", i, k, 1, d, rule.split(" ")[1], (0, 0), may_be_empty=True)
        return _stuffed_axis(i, k, 1, d, (same.pad_before, same.pad_after))
    if rule == "consistent":
        _stuffed(i, s, (ek - 1 - low, ek - 1 - high))
        before, o = low, max(0, full - low - high)
        chosen = [f"output            o  = F - low - high = {full} - {low} - {high} = {o}"]
    elif rule == "VALID":
        before, o = 0, max(0, (i - 1) * s + max(ek, s))
        chosen = [f"output            o  = (i - 1)·s + max(ek, s) = ({i} - 1)·{s} + max({ek}, {s}) = {o}"]
    else:
        before, o = split_padding(max(0, ek - s))[0], i * s
        chosen = [
            f"output            o  = i·s = {i}·{s} = {o}",
            f"SAME              a  = ⌊max(0, ek - s) / 2⌋ = ⌊max(0, {ek} - {s}) / 2⌋ = {before}",
        ]
    return cropped_axis(i, k, s, d, before, full - before - o, o, chosen)


# ---------------------------------------------------------------------------------------------
# The functions
# ---------------------------------------------------------------------------------------------


@dialect_function("jax.conv_general_dilated", _conv_general_dilated, _LHS, _RHS)
def conv_general_dilated(
    lhs: ArrayLike,
    rhs: ArrayLike,
    window_strides: Sequence[Int],
    padding: Literal["SAME", "SAME_LOWER", "VALID"] | Pairs,
    lhs_dilation: Sequence[Int] | None = None,
    rhs_dilation: Sequence[Int] | None = None,
    dimension_numbers: DimensionNumbers | None = None,
    feature_group_count: Int = 1,
    batch_group_count: Int = 1,
    *,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Convolve like jax.lax.conv_general_dilated.

    Args:
        lhs: the input, with one, two (rows, cols) or three axes besides batch and features: NCHW unless
            ``dimension_numbers`` says otherwise.
        rhs: the filter, OIHW unless ``dimension_numbers`` says otherwise; of lhs's dtype.
        window_strides: one int for each axis, in the order that the axes have in rhs.
        padding: "SAME", "SAME_LOWER", "VALID", or a pair (low, high) for each axis; negative numbers crop.
        lhs_dilation: one int for each axis; above 1 it inserts zeros between the input's cells, and padding
            must be pairs.
        rhs_dilation: one int for each axis: the filter's dilation.
        dimension_numbers: None, three strings such as ("NHWC", "HWIO", "NHWC"), or ConvDimensionNumbers,
            either JAX's or this module's.
        feature_group_count: the number of channel groups.
        batch_group_count: the number of groups of images; one of the two counts must be 1.
        backend: as in `teachconv.conv2d`.

    Returns:
        The output, in the third layout. If the filter is larger than the padded input, it is empty.

    Raises:
        ValueError, TypeError: if JAX refuses the arguments.

    Source: jax/_src/lax/convolution.py (0.10.2).

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([[[[1, 2]]]]), np.int32([[[[1, 10, 100]]]])
    >>> tc.dialects.jax.conv_general_dilated(x, w, (1, 1), [(0, 0), (2, 1)], (1, 2)).ravel().tolist()
    [100, 10, 201, 20]
    """
    return run(
        conv_general_dilated,
        lhs=lhs,
        rhs=rhs,
        window_strides=window_strides,
        padding=padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        dimension_numbers=dimension_numbers,
        feature_group_count=feature_group_count,
        batch_group_count=batch_group_count,
        backend=backend,
        unknown=unknown,
    )


@dialect_function("jax.conv_transpose", _conv_transpose, _LHS, _RHS)
def conv_transpose(
    lhs: ArrayLike,
    rhs: ArrayLike,
    strides: Sequence[Int],
    padding: Literal["SAME", "SAME_LOWER", "VALID"] | Pairs,
    rhs_dilation: Sequence[Int] | None = None,
    dimension_numbers: DimensionNumbers | None = None,
    transpose_kernel: bool = False,
    *,
    use_consistent_padding: bool = False,
    backend: Backend | None = None,
    **unknown: Never,
) -> np.ndarray:
    """Apply a transposed convolution like jax.lax.conv_transpose; there are no groups.

    Args:
        lhs: the input, with one, two (rows, cols) or three axes besides batch and features: NHWC unless
            ``dimension_numbers`` says otherwise.
        rhs: the filter, HWIO unless ``dimension_numbers`` says otherwise; of lhs's dtype. It is flipped on
            every axis.
        strides: one int for each axis, in the order that the axes have in rhs.
        padding: "SAME" (out = in * stride), "VALID", or a pair (low, high) for each axis, added to the
            *dilated input*, so that (0, 0) gives the smallest result.
        rhs_dilation: one int for each axis: the filter's dilation.
        dimension_numbers: as in `conv_general_dilated`.
        transpose_kernel: whether the filter is TensorFlow's, HWOI and not flipped.
        use_consistent_padding: whether pairs are the pads of the forward convolution, as in PyTorch.
        backend: as in `teachconv.conv2d`.

    Returns:
        The output, in the third layout.

    Raises:
        ValueError, TypeError: if JAX refuses the arguments.

    Source: jax/_src/lax/convolution.py (0.10.2).

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.int32([1, 2]).reshape(1, 1, 2, 1), np.int32([1, 10, 100]).reshape(1, 3, 1, 1)
    >>> tc.dialects.jax.conv_transpose(x, w, (1, 2), "VALID").ravel().tolist()
    [100, 10, 201, 20, 2]
    >>> w = w.reshape(1, 3, 1, 1)
    >>> tc.dialects.jax.conv_transpose(x, w, (1, 2), "VALID", transpose_kernel=True).ravel().tolist()
    [1, 10, 102, 20, 200]
    """
    return run(
        conv_transpose,
        lhs=lhs,
        rhs=rhs,
        strides=strides,
        padding=padding,
        rhs_dilation=rhs_dilation,
        dimension_numbers=dimension_numbers,
        transpose_kernel=transpose_kernel,
        use_consistent_padding=use_consistent_padding,
        backend=backend,
        unknown=unknown,
    )


# ---------------------------------------------------------------------------------------------
# Pooling
# ---------------------------------------------------------------------------------------------

_REDUCTIONS = {"max": "max", "maximum": "max", "add": "sum"}


def _reduce_window(
    operand: Shape,
    init_value: Any,
    computation: Any,
    window_dimensions: Any,
    window_strides: Any,
    padding: Any,
    base_dilation: Any,
    window_dilation: Any,
) -> PoolCall:
    """Resolve a call of reduce_window."""
    rank = len(operand)

    def each(value: Any, name: str) -> Shape:
        return ints(
            (1,) * rank if value is None else value, name, rank, scalar=False, axes="as operand has axes"
        )

    reduce = _REDUCTIONS.get(getattr(computation, "__name__", brief(computation).strip("'")))
    if reduce is None:
        raise ArgumentError(f"computation must be jax.lax.max or add, or a name; got {brief(computation)}")
    start = real(init_value, "init_value")
    if reduce == "sum" and start != 0:
        raise ArgumentError(
            f"init_value must be 0 for add: JAX adds it for every cell of padding, and once; got {start:g}"
        )
    if max(each(base_dilation, "base_dilation")) > 1:
        raise ArgumentError(f"base_dilation must be 1: no pool has such gaps; got {brief(base_dilation)}")
    mode, pads = "EXPLICIT", ((0, 0),) * rank
    if isinstance(padding, str):
        mode, _ = _mode(padding, (1, 1))
    else:
        pads = pairs(padding, "padding", rank, "a string or ")
    sizes = ints(window_dimensions, "window_dimensions", rank, scalar=False, axes="as operand has axes")
    steps, spread = each(window_strides, "window_strides"), each(window_dilation, "window_dilation")
    axes = tuple(
        forward_axis("rows", *facts[:4], mode, facts[4], may_be_empty=True)
        for facts in zip(operand, sizes, steps, spread, pads, strict=True)
    )
    pooled = [number for number, axis in enumerate(axes) if axis != whole(axis.in_size)] or [rank - 1]
    if len(pooled) > 3:
        raise ArgumentError(
            f"window_dimensions must be 1 on all axes except 3; got {brief(window_dimensions)}"
        )
    return PoolCall("jax.reduce_window", reduce, axes, _named(pooled, rank), start=start)


def _named(spatial: Collection[int], rank: int) -> str:
    """Return a layout that calls these axes D, H and W, the last first, and the others N, C and so on."""
    letters, others = iter("ABEDHW"[6 - len(spatial) :]), iter("NCGTUV")
    return "".join(next(letters if number in spatial else others) for number in range(rank))


@window_function(_reduce_window, "operand", (1, 2, 3, 4, 5, 6), "any number up to 6")
def reduce_window(
    operand: ArrayLike,
    init_value: float,
    computation: Callable[..., Any] | Literal["max", "add"],
    window_dimensions: Sequence[Int],
    window_strides: Sequence[Int] | None = None,
    padding: Literal["SAME", "SAME_LOWER", "VALID"] | Pairs = "VALID",
    base_dilation: Sequence[Int] | None = None,
    window_dilation: Sequence[Int] | None = None,
) -> Any:
    """Reduce windows like jax.lax.reduce_window, to their maximum or their sum.

    JAX has no mean: an average pool divides the sum by the size of the window, or by a second call on ones,
    which counts the cells that are not padding.

    Args:
        operand: an array of up to 6 axes.
        init_value: -inf for a maximum, 0 for a sum. A larger one takes part in every maximum, so that 0 acts
            as zeros around *and* inside.
        computation: jax.lax.max or jax.lax.add, or their names.
        window_dimensions: the size of the window, one int for each axis, 1 for batch and channels.
        window_strides: the distance between windows, likewise; None for 1.
        padding: "SAME", "SAME_LOWER", "VALID", or a pair for each axis; negative numbers crop.
        base_dilation: None or ones.
        window_dilation: the distance between the cells of a window.

    Returns:
        The result; empty if a window is larger than the padded operand. NaN is larger than any number.

    Raises:
        ValueError, TypeError: if JAX refuses the arguments, or the reduction is not a maximum or sum.

    Source: jax/_src/lax/windowed_reductions.py (0.10.2).

    >>> import numpy as np, teachconv as tc
    >>> x = np.float32([-3, -1, -2])
    >>> tc.dialects.jax.reduce_window(x, -np.inf, "max", (2,), (2,), "SAME").tolist()
    [-1.0, -2.0]
    >>> tc.dialects.jax.reduce_window(x, 0, "max", (2,), (2,), "SAME").tolist()
    [0.0, 0.0]
    """
    return run_window(
        reduce_window,
        operand=operand,
        init_value=init_value,
        computation=computation,
        window_dimensions=window_dimensions,
        window_strides=window_strides,
        padding=padding,
        base_dilation=base_dilation,
        window_dilation=window_dilation,
    )


# ---------------------------------------------------------------------------------------------
# Padding
# ---------------------------------------------------------------------------------------------

_MODES = {name: name for name in ("constant", "edge", "reflect", "symmetric", "wrap")}


def _pad(array: Shape, pad_width: Any, mode: Any, constant_values: Any) -> PadCall:
    """Resolve a call of pad."""
    return pad_call(
        "jax.pad",
        "pad_width",
        array,
        pairs(pad_width, "pad_width", len(array), "an int, or ", spread=True),
        mode,
        _MODES,
        constant_values,
        limits=False,
    )


@window_function(_pad, "array", None)
def pad(
    array: ArrayLike,
    pad_width: Int | Sequence[Int] | Pairs,
    mode: Literal["constant", "edge", "reflect", "symmetric", "wrap"] = "constant",
    constant_values: float = 0,
) -> Any:
    """Pad like jax.numpy.pad, which pads as numpy.pad does.

    Args:
        array: an array of any number of axes.
        pad_width: (before, after) for each axis, none of them negative; or one pair, or one int, for all.
        mode: "constant"; "reflect", which does not repeat the edge; "symmetric" and "edge", which repeat it;
            or "wrap". Beyond the other end a reflection starts again.
        constant_values: the one number that "constant" pads with; integer arrays take its integer part.

    Returns:
        The padded array.

    Raises:
        ValueError, TypeError: if JAX refuses the arguments, or the mode is not supported here.

    Source: jax/_src/numpy/lax_numpy.py (0.10.2).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.jax.pad(np.int32([1, 2, 3]), (0, 5), "reflect").tolist()
    [1, 2, 3, 2, 1, 2, 3, 2]
    """
    return run_window(pad, array=array, pad_width=pad_width, mode=mode, constant_values=constant_values)


# ---------------------------------------------------------------------------------------------
# Resizing
# ---------------------------------------------------------------------------------------------


def _resize(image: Shape, shape: Any, method: Any, antialias: Any, **_: Any) -> ResizeCall:
    """Resolve a call of resize."""
    word = method.name.lower() if isinstance(method, Enum) else method
    check_defined(word, "method", "linear", "bilinear", "trilinear", "triangle", "nearest")
    rank, is_nearest = len(image), word == "nearest"
    try:
        new = normalize_shape(shape, "shape", rank=rank - 2)
    except ArgumentError as error:
        raise ArgumentError(f"{error}, for image {brief(list(image))}") from None
    sizes = {axis: new[axis] for axis in range(rank) if new[axis] != image[axis]}
    if truth(antialias, "antialias") and not is_nearest and any(n < image[axis] for axis, n in sizes.items()):
        raise ArgumentError(
            "antialias must be False where an axis shrinks: with it, which is the default, JAX weighs more "
            "than two cells along it, which is not defined here; "
            f"got {brief(antialias)} for {list(image)} -> {list(new)}"
        )
    usual = (layout_of("input", rank - 2), "NC" + "DHW"[5 - rank :]) if 3 <= rank <= 5 else ()
    fitting = [layout for layout in usual if all(layout[axis] in "DHW" for axis in sizes)]
    layout = fitting[0] if fitting else _named(sizes, rank)
    reads = ("tf_half_pixel_for_nn", "floor") if is_nearest else ("half_pixel", "linear")
    call = resize_call("jax.resize", "shape", layout, image, sizes, {}, *reads)
    if not is_nearest:
        return call
    # XLA folds (o + 1/2) · size / new to (o + 1/2) times size · (1 / new), both in float32
    steps = {axis: np.float32(image[axis]) * np.float32(1 / n) for axis, n in sizes.items()}
    return replace(call, scales=tuple(1 / Fraction(float(steps.get(axis, 1))) for axis in range(rank)))


@window_function(_resize, "image", (1, 2, 3, 4, 5, 6), "any number up to 6")
def resize(
    image: ArrayLike,
    shape: ShapeLike,
    method: Literal["linear", "bilinear", "trilinear", "triangle", "nearest"] | Enum,
    antialias: bool = True,
    precision: Any = None,
) -> Any:
    """Return an array of another shape like jax.image.resize, by half pixels.

    To the nearest, JAX's compiled code takes cell floor((o + ½) · step), where the step is size · (1 / new),
    rounded to float32. So where (o + ½) · size / new is a whole number, it may take the cell before it: of 10
    cells made 25, five are others than in ``tf.image.resize``. Under ``jax.disable_jit()`` they are the same.

    Args:
        image: an array of up to 6 axes.
        shape: that of the result, of all axes.
        method: "linear" ("bilinear", "trilinear" and "triangle" are the same), of a floating dtype, or
            "nearest"; or a member of jax.image.ResizeMethod.
        antialias: must be False for "linear" if an axis shrinks; otherwise it has no effect.
        precision: accepted for compatibility with JAX and ignored.

    Returns:
        The resized array; an interpolated cell is exact and rounded once.

    Raises:
        ValueError, TypeError: if the arguments are invalid; the message says what would be legal.

    Source: jax/_src/image/scale.py (0.10.2).

    >>> import numpy as np, teachconv as tc
    >>> tc.dialects.jax.resize(np.float32([0, 4]), (4,), "linear").tolist()
    [0.0, 1.0, 3.0, 4.0]
    >>> exact = (np.arange(25) + 0.5) * 10 // 25
    >>> np.flatnonzero(tc.dialects.jax.resize(np.arange(10), (25,), "nearest") != exact).tolist()
    [2, 7, 12, 17, 22]
    """
    return run_window(
        resize, image=image, shape=shape, method=method, antialias=antialias, precision=precision
    )
