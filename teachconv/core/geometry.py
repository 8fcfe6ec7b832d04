"""Geometries: the shapes of a convolution's arrays and the law of each axis, derived from the arguments.

The functions take arguments in TensorFlow's words and return frozen dataclasses of integers, each with the
formulas that it was derived from and their numbers filled in. The arithmetic of an axis is in `law`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, lru_cache
from itertools import product
from math import prod
from typing import Any, Never

from ..support.argument_types import (
    AnyDataFormat,
    CausalPaddingLike,
    DataFormat,
    Ints,
    PaddingLike,
    ShapeLike,
)
from ..support.errors import ArgumentError, brief, hide_unknown, refuse_unknown
from ..support.tables import Table, count, pre
from .arguments import (
    SIDES,
    Padding,
    Pads,
    Shape,
    channels_last,
    check_data_format,
    listed,
    normalize_output_padding,
    normalize_padding,
    normalize_shape,
    normalize_steps,
)
from .kinds import AXES, layout_of
from .law import (
    AxisGeometry,
    check_output_padding,
    forward_axis,
    groups_of,
    transposed_axis,
    transposed_groups,
)

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

    # cached: calls look them up again and again
    @cached_property
    def rank(self) -> int:
        """The number of spatial axes: 1, 2 or 3."""
        return len(self.axes)

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

    def _formulas(self) -> list[str]:
        """Return the formulas of the axes as lines, below the names of the axes."""
        axes = self._derivations().items()
        return [line for title, steps in axes for line in (f"{title}:", *("  " + step for step in steps))]

    def __str__(self) -> str:
        lines = [self._headline(), *("  " + line for line in self._facts()), *self._formulas()]
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
        return tuple(self._layout(shape, self.out_channels) for shape in sizes)

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
    shape, layout = _laid_out(conv_geometry, unknown, input_shape, data_format)
    geometry = forward_geometry(
        channels_last(shape, layout),
        normalize_shape(filters_shape, "filters", rank=len(shape) - 2),
        normalize_steps(strides, "strides", layout),
        normalize_padding(padding, layout, causal=True),
        normalize_steps(dilations, "dilations", layout),
    )
    return geometry if geometry.data_format == layout else replace(geometry, data_format=layout)


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
    shape, layout = _laid_out(conv_transpose_geometry, unknown, input_shape, data_format)
    rank = len(shape) - 2
    wanted = None if output_shape is None else normalize_shape(output_shape, "output_shape", shape[0], rank)
    forward = transposed_geometry(
        channels_last(shape, layout),
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
    shape, layout = _laid_out(conv2d_geometry, unknown, input_shape, data_format, 2)
    return conv_geometry(shape, filters_shape, strides, padding, layout, dilations)


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
    shape, layout = _laid_out(conv2d_transpose_geometry, unknown, input_shape, data_format, 2)
    return conv_transpose_geometry(
        shape, filters_shape, output_shape, strides, padding, layout, dilations, output_padding=output_padding
    )


def _laid_out(
    function: Callable[..., Any],
    unknown: dict[str, Any],
    input_shape: Any,
    data_format: Any,
    rank: int | None = None,
) -> tuple[Shape, Any]:
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

    ``filters_name`` is the argument that an error names, such as ``filter_sizes``.
    """
    batch, *in_sizes, in_channels = input_shape
    *filter_sizes, _, out_channels = filters_shape
    _check_filter_sizes(filter_sizes, filters_name)
    groups = groups_of(in_channels, filters_shape, filters_name)
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
    groups = transposed_groups(out_channels, filters_shape)
    if output_shape is not None and output_shape[0] != batch:
        raise ArgumentError(f"output_shape batch must be {batch}, the input's; got {output_shape[0]}")
    if output_padding is not None:
        check_output_padding(output_padding, output_shape, strides, padding, dilations)
    mode, pads = padding
    none: tuple[int | None, ...] = (None,) * rank
    wanted = none if output_shape is None else output_shape[1:-1]
    facts = AXES[-rank:], in_sizes, filter_sizes, strides, dilations, pads, wanted, output_padding or none
    axes = tuple(transposed_axis(mode, rank, *axis) for axis in zip(*facts, strict=True))
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
