"""Static pictures for slides and papers, and plots of numbers: ``tc.plot``.

`window` and `geometry` return a `Picture`, which needs no package. `diff_heatmap` and `receptive_field` draw
numbers with matplotlib, into the axes given or a figure of their own; nothing is shown, saved or registered
with pyplot. matplotlib is imported when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..core.geometry import Conv2DGeometry, Conv2DTransposeGeometry
from ..running import dispatch, nn_ops
from ..support import palette, tables
from ..support.argument_types import ArrayLike
from ..support.devices import call_on_host, values_on_host
from ..support.errors import ArgumentError, ArgumentTypeError, brief
from ..truth.exact import judge_direct
from .animating import animate
from .explaining import Explanation, explain
from .pictures import Geometry, cell_picture, columns_of, columns_picture
from .receptive import ReceptiveField
from .receptive import receptive_field as _receptive_field
from .svg import Picture

__all__ = ["Picture", "animate", "diff_heatmap", "geometry", "receptive_field", "window"]

Axes: TypeAlias = Any  # matplotlib.axes.Axes; matplotlib is optional

_COLUMNS, _WITH_PADDING = 40, 160  # the most columns of a geometry, and of one with its padding


def geometry(*found: Geometry, formulas: bool = True, ax: Any = None) -> Picture:
    """Draw the columns of geometries: input with its padding, each output with lines to its taps.

    The formulas are below the drawing. Several geometries are drawn one below the other.

    Args:
        *found: what `teachconv.conv2d_geometry` or `teachconv.conv2d_transpose_geometry` returned.
        formulas: whether the formulas are written.
        ax: not used: a picture has no axes of matplotlib's.

    Returns:
        The picture; ``.figure`` is one of matplotlib's.

    Raises:
        TypeError: if one is not a geometry, or none is given; for ``ax``.
        ValueError: above 40 columns, or 160 with the padding.

    >>> import teachconv as tc
    >>> tc.plot.geometry(tc.conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME"))
    <Picture: conv2d, columns: 5 to 3, stride 2, dilation 1>
    """
    if ax is not None:
        raise ArgumentTypeError(
            "geometry does not draw into axes: geometry(first, second) draws one below the other, "
            "and .figure is a figure of matplotlib's"
        )
    if not found:
        raise ArgumentTypeError("geometry needs a geometry, from a function such as conv2d_geometry")
    for one in found:
        if not isinstance(one, (Conv2DGeometry, Conv2DTransposeGeometry)):
            raise ArgumentTypeError(
                f"geometry must come from a function such as conv2d_geometry; got {brief(one)}"
            )
        _check_size("columns", max(one.cols.in_size, one.cols.out_size), _COLUMNS)
        _check_size("columns, padding included", len(columns_of(one.cols)), _WITH_PADDING)
    return columns_picture(found, formulas=formulas)


def _check_size(what: str, size: int, most: int) -> None:
    """Raise for what is too large for a picture."""
    if size > most:
        raise ArgumentError(f"a picture has room for {most} {what}; got {size}")


def window(op: Any, *args: Any, at: Sequence[int] | None = None, **kwargs: Any) -> Picture:
    """Draw one cell, as `teachconv.explain` does: the input with its window, the filter, the output.

    Args:
        op: any op of teachconv, or what `teachconv.explain` returned.
        *args: the op's positional arguments.
        at: the cell, as in `teachconv.explain`; None for the first.
        **kwargs: the op's keyword arguments.

    Returns:
        The picture. Large planes are cut to the surroundings of the window.

    Raises:
        ValueError: for a pool, or a quantized call.
        IndexError, TypeError: as from `teachconv.explain`.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    >>> tc.plot.window(tc.conv2d, x, np.ones((3, 3, 1, 1), "float32"), at=(0, 1, 1, 0))
    <Picture: output[0, 1, 1, 0] = 90; stride 1 x 1, dilation 1 x 1>
    """
    explained = op if isinstance(op, Explanation) else explain(op, *args, at=at or (0, 0, 0, 0), **kwargs)
    if not isinstance(explained, Explanation):
        raise ArgumentError(
            f"window draws convolutions, not {nn_ops.name_of(op)}: tc.explore draws pools and quantized calls"
        )
    return cell_picture(explained)


def diff_heatmap(op: Any, *args: Any, against: ArrayLike, ax: Axes = None, n: int = 0, **kwargs: Any) -> Axes:
    """Draw where another result differs from the reference's, and by how much of the error bound.

    Of each row and column of an image the worst channel is drawn; cells outside the bound carry a cross.

    Args:
        op: any op of teachconv.
        *args: the op's positional arguments.
        against: the other result, an array in the layout that the op returns.
        ax: the matplotlib axes to draw into; None makes a figure.
        n: the index of the image; a filter gradient has one plane for all.
        **kwargs: the op's keyword arguments.

    Returns:
        The axes.

    Raises:
        ValueError: if the shapes differ, or there is no image ``n``; and as the op.
        TypeError: for ``backend``, ``algorithm``, ``precision`` and ``out``, which this does not use.
        ImportError: without matplotlib.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 4, 4, 1), "float32"), np.ones((2, 2, 1, 1), "float32")
    >>> tc.plot.diff_heatmap(tc.conv2d, x, w, against=tc.conv2d(x, w)).get_title()
    'conv2d against the reference: 0 of 9 cells outside the bound'
    """
    args, kwargs = call_on_host(args, kwargs)
    call, options = nn_ops.call_of(op, args, kwargs)
    unused = dict.fromkeys(nn_ops.OPTIONS, "it compares an array with the exact sum")
    nn_ops.refuse(options, "diff_heatmap", **unused)
    theirs = values_on_host(against, "against")
    if theirs.shape != tuple(call.result_shape):
        raise ArgumentError(
            f"against must have the shape of the result, {list(call.result_shape)}; got {list(theirs.shape)}"
        )
    want = dispatch.run_canonical(call, "reference")
    verdict = judge_direct(call, call.from_caller(theirs), want)
    if call.kind.sums_images:
        fraction, bad = verdict.fraction.max(axis=(2, 3)), (~verdict.ok).any(axis=(2, 3))
    else:
        if not 0 <= n < want.shape[0]:
            raise ArgumentError(f"n must be an image of the {want.shape[0]}; got {n}")
        fraction, bad = verdict.fraction[n].max(axis=2), (~verdict.ok[n]).any(axis=2)
    from matplotlib.colors import TwoSlopeNorm

    strength = np.log10(np.clip(np.nan_to_num(fraction, nan=np.inf), 1e-3, 1e6))
    cells = tables.count(bad.size, "cell")
    title = f"{call.op} against the reference: {int(bad.sum()):,} of {cells} outside the bound"
    label = "error as a fraction of its bound, power of ten"
    ax, bar = _heat_map(ax, strength, TwoSlopeNorm(0, -3, 6), title, label, reverse=True)
    bar.set_ticks([-3, -2, -1, 0, 2, 4, 6])
    ink = _colours_of(ax)["ink"]
    for row, col in np.argwhere(bad)[:2000]:
        ax.plot(col, row, marker="x", color=ink, ms=5, mew=1.5)
    return ax


def receptive_field(
    found: ReceptiveField | Iterable[Geometry], at: Sequence[int] | None = None, *, ax: Axes = None
) -> Axes:
    """Draw what one output cell of a stack of layers sees: darker where more paths lead.

    The dashed frame is the field with its padding.

    Args:
        found: what `teachconv.receptive_field` returned, or its list of geometries.
        at: (row, col) of the output; None for its middle.
        ax: the matplotlib axes to draw into; None makes a figure.

    Returns:
        The axes.

    Raises:
        IndexError: if the cell is outside the output.
        ValueError, TypeError: as from `teachconv.receptive_field`.
        ImportError: without matplotlib.

    >>> import teachconv as tc
    >>> layer = tc.conv2d_geometry((1, 9, 9, 1), (3, 3, 1, 1), padding="SAME", dilations=2)
    >>> tc.plot.receptive_field([layer, layer]).get_title()
    'output [4, 4] sees 9 x 9 of the input'
    """
    field = found if isinstance(found, ReceptiveField) else _receptive_field(found)
    row, col = at if at is not None else [size // 2 for size in field.output_size]
    rows, cols = field.at(row, col)
    counts = np.zeros(field.input_size)
    for (r, ways), (c, others) in product(rows.paths.items(), cols.paths.items()):
        counts[r, c] = ways * others
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    title = f"output [{row}, {col}] sees {rows.size} x {cols.size} of the input"
    label = "ways from the input cell to the output cell"
    ax, bar = _heat_map(ax, counts, Normalize(-counts.max(), counts.max()), title, label)
    bar.ax.set_ylim(0, counts.max())
    corner = cols.start - 0.5, rows.start - 0.5
    ring = _colours_of(ax)["ring"]
    ax.add_patch(Rectangle(corner, cols.size, rows.size, fill=False, ec=ring, ls="--", lw=1.5))
    ax.set_xlim(min(-0.5, cols.start - 1), max(field.input_size[1] - 0.5, cols.stop))
    ax.set_ylim(max(field.input_size[0] - 0.5, rows.stop), min(-0.5, rows.start - 1))
    return ax


def _heat_map(
    ax: Axes, numbers: np.ndarray, norm: Any, title: str, label: str, *, reverse: bool = False
) -> tuple[Axes, Any]:
    """Draw numbers in the palette's colours, with a bar; return the axes and the bar."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import MaxNLocator

    from .drawn_svg import ShownFigure

    # a figure that belongs only to the caller: pyplot would keep it in its list
    ax = ShownFigure(figsize=(5.5, 4.5), layout="constrained").subplots() if ax is None else ax
    colours = _colours_of(ax)
    ends = [palette.mixed(colours[name], colours["paper"], palette.TINT) for name in ("below", "above")]
    scale = LinearSegmentedColormap.from_list("teachconv", [ends[0], colours["paper"], ends[1]])
    image = ax.imshow(numbers, cmap=scale.reversed() if reverse else scale, norm=norm)
    bar = ax.figure.colorbar(image, ax=ax, label=label)
    bar.outline.set_visible(False)
    # rows and columns are numbered as in the other pictures: whole numbers, the columns' above
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    ax.tick_params(length=0, labelsize=8, labelcolor=colours["faint"])
    ax.xaxis.tick_top()
    ax.spines[:].set_visible(False)
    ax.set_title(title, fontsize=10)
    return ax, bar


def _colours_of(ax: Axes) -> dict[str, str]:
    """Return the palette for the ground on which axes lie."""
    from .drawn_svg import colours_on

    return colours_on(ax.figure)
