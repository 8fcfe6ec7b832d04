"""Static pictures by matplotlib, for slides and papers: ``tc.plot``.

Each function draws into the axes given, or into a figure of its own, and returns what it drew into;
nothing is shown, saved or registered with pyplot. matplotlib is imported when a picture is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..core import taps
from ..core.arguments import first_of, refuse_masked
from ..core.geometry import Conv2DGeometry, Conv2DTransposeGeometry
from ..running import dispatch, nn_ops
from ..support import tables
from ..support.argument_types import ArrayLike
from ..support.devices import call_on_host, to_host
from ..support.errors import ArgumentError, ArgumentTypeError, brief
from ..truth.exact import judge_direct
from .animating import animate
from .explaining import Explanation, explain
from .plot_planes import (
    Axes,
    Figure,
    Windows,
    axes_of,
    check_size,
    colours_of,
    patches,
    value_colours,
    whole_ticks,
)
from .receptive import ReceptiveField
from .receptive import receptive_field as _receptive_field

__all__ = ["animate", "diff_heatmap", "geometry", "receptive_field", "window"]

Geometry: TypeAlias = Conv2DGeometry | Conv2DTransposeGeometry


def geometry(found: Geometry, *, ax: Axes = None) -> Axes:
    """Draw the columns of a geometry: input with its padding, each output with lines to its taps.

    The formulas are below the drawing.

    Args:
        found: what `teachconv.conv2d_geometry` or `teachconv.conv2d_transpose_geometry` returned.
        ax: the matplotlib axes to draw into; None makes a figure.

    Returns:
        The axes.

    Raises:
        TypeError: if ``found`` is not a geometry.
        ValueError: above 40 columns, or 160 with the padding.
        ImportError: without matplotlib.

    >>> import teachconv as tc
    >>> ax = tc.plot.geometry(tc.conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME"))
    >>> ax.get_title()
    'conv2d, columns: 5 to 3, stride 2, dilation 1'
    """
    if not isinstance(found, (Conv2DGeometry, Conv2DTransposeGeometry)):
        raise ArgumentTypeError(
            f"geometry must come from a function such as conv2d_geometry; got {brief(found)}"
        )
    axis = found.cols
    transposed = isinstance(found, Conv2DTransposeGeometry)
    check_size("columns", axis.in_size, axis.out_size)
    top, bottom = 3.0, 0.0
    centre = (axis.in_size - axis.out_size) / 2
    reach = [axis.in_index(o, tap) for o in range(axis.out_size) for tap in (0, axis.filter_size - 1)]
    columns = range(min([0, *reach]), max([axis.in_size - 1, *reach]) + 1)
    check_size("columns, padding included", len(columns), most=160)
    own = ax is None
    ax = axes_of(ax, (max(7.5, 0.45 * (len(columns) + 3)), 4.2))
    colours = colours_of(ax)
    for index in columns:
        _box(ax, index, top, str(index), padding=not 0 <= index < axis.in_size)
    for out in range(axis.out_size):
        _box(ax, out + centre, bottom, str(out))
        for tap in taps.gather_all(axis, out):
            style = {"color": colours["ring"], "ls": "--" if tap.in_padding else "-"}
            ax.plot([out + centre, tap.in_index], [bottom + 0.45, top - 0.45], lw=1, **style)
    names = ("output", "input") if transposed else ("input", "output")
    for name, height in zip(names, (top, bottom), strict=True):
        ax.annotate(name, (min([0, *reach]) - 0.7, height), ha="right", va="center")
    ax.annotate(
        "\n".join(axis.formulas),
        (0, 0),
        xytext=(0, -12),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        family="monospace",
        fontsize=9,
    )
    sizes = (axis.out_size, axis.in_size) if transposed else (axis.in_size, axis.out_size)
    title = (
        f"{found._name}, columns: {sizes[0]} to {sizes[1]}, stride {axis.stride}, dilation {axis.dilation}"
    )
    ax.set_title(title, fontsize=10)
    ax.set_aspect("equal")
    ax.autoscale_view()
    ax.axis("off")
    if own:
        _fit_figure(ax)
    return ax


def window(op: Any, *args: Any, at: Sequence[int] | None = None, **kwargs: Any) -> Figure:
    """Draw one output cell: the input with its window, the filter, the output so far.

    Args:
        op: any op of teachconv, or what `teachconv.explain` returned for an output cell.
        *args: the op's positional arguments.
        at: the cell, as in `teachconv.explain`; None for the first.
        **kwargs: the op's keyword arguments.

    Returns:
        The figure.

    Raises:
        ValueError: above 40 rows or columns, and for the explanation of an input cell.
        IndexError, TypeError: as from `teachconv.explain`.
        ImportError: without matplotlib.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    >>> figure = tc.plot.window(tc.conv2d, x, np.ones((3, 3, 1, 1), "float32"), at=(0, 1, 1, 0))
    >>> [ax.get_title() for ax in figure.axes]
    ['input', 'filters', 'output[0, 1, 1, 0] = 90']
    """
    explained = op if isinstance(op, Explanation) else explain(op, *args, at=at or (0, 0, 0, 0), **kwargs)
    if not isinstance(explained, Explanation):
        raise ArgumentError(f"window draws a convolution; {op.__name__} is not one: explore draws pools")
    if explained.inverse:
        raise ArgumentError("window draws an output cell; got the explanation of an input cell")
    windows = Windows(explained, filled=True)
    windows.mark(explained)
    return windows.figure


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
    refuse_masked(against, "against")
    first_of(against, "against")
    theirs = np.asarray(to_host(against))
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
    ax = axes_of(ax, (5.5, 4.5))
    strength = np.log10(np.clip(np.nan_to_num(fraction, nan=np.inf), 1e-3, 1e6))
    from matplotlib.colors import TwoSlopeNorm

    colours = colours_of(ax)
    image = ax.imshow(strength, cmap=value_colours(colours).reversed(), norm=TwoSlopeNorm(0, -3, 6))
    label = "error as a fraction of its bound, power of ten"
    bar = ax.figure.colorbar(image, ax=ax, label=label, ticks=[-3, -2, -1, 0, 2, 4, 6])
    bar.outline.set_visible(False)
    for row, col in np.argwhere(bad)[:2000]:
        ax.plot(col, row, marker="x", color=colours["ink"], ms=5, mew=1.5)
    whole_ticks(ax)
    cells = tables.count(bad.size, "cell")
    title = f"{call.op} against the reference: {int(bad.sum()):,} of {cells} outside the bound"
    ax.set_title(title, fontsize=10)
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
    ax = axes_of(ax, (5, 4.5))
    colours = colours_of(ax)
    image = ax.imshow(counts, cmap=value_colours(colours), vmin=-counts.max(), vmax=counts.max())
    bar = ax.figure.colorbar(image, ax=ax, label="ways from the input cell to the output cell")
    bar.ax.set_ylim(0, counts.max())
    bar.outline.set_visible(False)
    frame = patches().Rectangle(
        (cols.start - 0.5, rows.start - 0.5),
        cols.size,
        rows.size,
        fill=False,
        ec=colours["ring"],
        ls="--",
        lw=1.5,
    )
    ax.add_patch(frame)
    ax.set_xlim(min(-0.5, cols.start - 1), max(field.input_size[1] - 0.5, cols.stop))
    ax.set_ylim(max(field.input_size[0] - 0.5, rows.stop), min(-0.5, rows.start - 1))
    whole_ticks(ax)
    ax.set_title(f"output [{row}, {col}] sees {rows.size} x {cols.size} of the input", fontsize=10)
    return ax


def _box(ax: Axes, x: float, y: float, text: str, *, padding: bool = False) -> None:
    edge, line = ("faint", ":") if padding else ("ink", "-")
    edge = colours_of(ax)[edge]
    ax.add_patch(patches().Rectangle((x - 0.45, y - 0.45), 0.9, 0.9, fill=False, ec=edge, ls=line))
    ax.annotate(text, (x, y), ha="center", va="center", fontsize=8, color=edge)


def _fit_figure(ax: Axes, margin: float = 0.15) -> None:
    """Make the figure as large as its one axes with its labels, and ``margin`` inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = ax.figure
    figure.draw_without_rendering()  # lays it out, once
    figure.set_layout_engine("none")
    to_inches = figure.dpi_scale_trans.inverted()
    drawn = ax.get_tightbbox(FigureCanvasAgg(figure).get_renderer()).transformed(to_inches)
    plane = ax.get_window_extent().transformed(to_inches)
    width, height = drawn.width + 2 * margin, drawn.height + 2 * margin
    left, bottom = plane.x0 - drawn.x0 + margin, plane.y0 - drawn.y0 + margin
    figure.set_size_inches(width, height)
    ax.set_position((left / width, bottom / height, plane.width / width, plane.height / height))
