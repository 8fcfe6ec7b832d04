"""Static pictures by matplotlib, for slides and papers: ``tc.plot``.

Each function draws into the axes given, or into a figure of its own, and returns what it drew into;
nothing is shown, saved or registered with pyplot. matplotlib is imported when a picture is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .. import dispatch, nn_ops, record, tables, taps
from ..devices import call_on_host, to_host
from ..dtypes import is_integer
from ..errors import ArgumentError, ArgumentTypeError
from ..geometry import AxisGeometry, Conv2DGeometry, Conv2DTransposeGeometry
from ..truth import bounds
from ..truth.exact import abs_sum
from .explaining import Explanation, explain
from .pictures import in_plane, plane_of, second_cell, short
from .receptive import ReceptiveField
from .receptive import receptive_field as _receptive_field

__all__ = ["animate", "diff_heatmap", "geometry", "receptive_field", "window"]

Axes: TypeAlias = Any  # matplotlib.axes.Axes; matplotlib is optional
Figure: TypeAlias = Any
Geometry: TypeAlias = Conv2DGeometry | Conv2DTransposeGeometry

_WINDOW, _CELL, _FAINT = "#0b5c96", "#c8480a", "#8a8f96"
_LIMIT = 40  # rows and columns that a plane may have
_MARGIN = 10  # rows and columns of padding that are drawn on each side: a large dilation has no end of them


def geometry(found: Geometry, *, ax: Axes = None) -> Axes:
    """Draw the columns of a geometry: input with its padding, each output with lines to its taps.

    ``found`` comes from `conv2d_geometry` or `conv2d_transpose_geometry`; the formulas stand below.
    Raises ``TypeError`` for anything else, ``ValueError`` above 40 columns, or 160 with the padding,
    ``ImportError`` without matplotlib.

    >>> import teachconv as tc
    >>> ax = tc.plot.geometry(tc.conv2d_geometry((1, 5, 5, 1), (3, 3, 1, 1), 2, "SAME"))
    >>> ax.get_title()
    'conv2d, columns: 5 to 3, stride 2, dilation 1'
    """
    if not isinstance(found, (Conv2DGeometry, Conv2DTransposeGeometry)):
        raise ArgumentTypeError(f"geometry must come from conv2d_geometry or its kin; got {found!r:.80}")
    axis = found.cols
    transposed = isinstance(found, Conv2DTransposeGeometry)
    _check_size("columns", axis.in_size, axis.out_size)
    top, bottom = 3.0, 0.0
    centre = (axis.in_size - axis.out_size) / 2
    reach = [axis.in_index(o, tap) for o in range(axis.out_size) for tap in (0, axis.filter_size - 1)]
    columns = range(min([0, *reach]), max([axis.in_size - 1, *reach]) + 1)
    _check_size("columns, padding included", len(columns), most=4 * _LIMIT)
    own = ax is None
    ax = _axes(ax, (max(7.5, 0.45 * (len(columns) + 3)), 4.2))
    for index in columns:
        _box(ax, index, top, str(index), padding=not 0 <= index < axis.in_size)
    for out in range(axis.out_size):
        _box(ax, out + centre, bottom, str(out))
        for tap in taps.gather_all(axis, out):
            style = {"color": _FAINT, "ls": ":"} if tap.in_padding else {"color": _WINDOW, "ls": "-"}
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
        fontsize=7,
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

    ``op`` is an op with its arguments and ``at`` as in `explain`, or an `Explanation` of an output cell.
    Returns the figure. Raises what `explain` raises, ``ValueError`` above 40 rows or columns and for an
    explanation of an input cell.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(16, dtype="float32").reshape(1, 4, 4, 1)
    >>> figure = tc.plot.window(tc.conv2d, x, np.ones((3, 3, 1, 1), "float32"), at=(0, 1, 1, 0))
    >>> [ax.get_title() for ax in figure.axes]
    ['input', 'filters', 'output[0, 1, 1, 0] = 90']
    """
    explained = op if isinstance(op, Explanation) else explain(op, *args, at=at or (0, 0, 0, 0), **kwargs)
    if explained.inverse:
        raise ArgumentError("window draws an output cell; got the explanation of an input cell")
    return _draw_window(explained, None, _output_of(explained))


def diff_heatmap(op: Any, *args: Any, against: Any, ax: Axes = None, n: int = 0, **kwargs: Any) -> Axes:
    """Draw where another result differs from the reference's, and by how much of the error bound.

    ``against`` is an array in the layout that the op returns. Of each row and column of image ``n`` the
    worst channel is drawn; cells outside the bound carry a cross. Raises ``ValueError`` where the shapes
    differ or there is no image ``n``.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 4, 4, 1), "float32"), np.ones((2, 2, 1, 1), "float32")
    >>> tc.plot.diff_heatmap(tc.conv2d, x, w, against=tc.conv2d(x, w)).get_title()
    'conv2d against the reference: 0 of 9 cells outside the bound'
    """
    args, kwargs = call_on_host(args, kwargs)
    call, options = nn_ops.call_of(op, args, kwargs)
    unused = dict.fromkeys(nn_ops.OPTIONS, "it compares an array with the exact sum")
    nn_ops.refuse(options, "diff_heatmap", **unused)
    theirs = np.asarray(to_host(against))
    if theirs.shape != tuple(call.result_shape):
        raise ArgumentError(
            f"against must have the shape of the result, {list(call.result_shape)}; got {list(theirs.shape)}"
        )
    want = dispatch.run_canonical(call, "reference")
    got = call.from_caller(theirs)
    sums = np.zeros(()) if is_integer(want.dtype) else abs_sum(call)
    bound = np.zeros(()) if is_integer(want.dtype) else bounds.direct(sums, call.terms, want.dtype)
    verdict = bounds.judge(got, want, bound, sums)
    if call.kind.sums_images:
        fraction, bad = verdict.fraction.max(axis=(2, 3)), (~verdict.ok).any(axis=(2, 3))
    else:
        if not 0 <= n < want.shape[0]:
            raise ArgumentError(f"n must be an image of the {want.shape[0]}; got {n}")
        fraction, bad = verdict.fraction[n].max(axis=2), (~verdict.ok[n]).any(axis=2)
    ax = _axes(ax, (5.5, 4.5))
    strength = np.log10(np.clip(np.nan_to_num(fraction, nan=np.inf), 1e-3, 1e6))
    image = ax.imshow(strength, cmap="cividis", vmin=-3, vmax=6)
    ax.figure.colorbar(image, ax=ax, label="error as a fraction of its bound, power of ten")
    for row, col in np.argwhere(bad)[:2000]:
        ax.plot(col, row, marker="x", color=_CELL, ms=5, mew=1.5)
    _whole_ticks(ax)
    cells = tables.count(bad.size, "cell")
    title = f"{call.op} against the reference: {int(bad.sum()):,} of {cells} outside the bound"
    ax.set_title(title, fontsize=10)
    return ax


def receptive_field(
    found: ReceptiveField | Iterable[Geometry], at: Sequence[int] | None = None, *, ax: Axes = None
) -> Axes:
    """Draw what one output cell of a stack of layers sees: darker where more ways lead there.

    ``found`` comes from `teachconv.receptive_field`, or is its list of geometries; ``at`` is (row, col) of
    the output, its middle by default. The dashed frame is the field with its padding.

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
    ax = _axes(ax, (5, 4.5))
    image = ax.imshow(counts, cmap="Blues", vmin=0)
    ax.figure.colorbar(image, ax=ax, label="ways from the input cell to the output cell")
    frame = _patches().Rectangle(
        (cols.start - 0.5, rows.start - 0.5), cols.size, rows.size, fill=False, ec=_CELL, ls="--", lw=1.5
    )
    ax.add_patch(frame)
    ax.set_xlim(min(-0.5, cols.start - 1), max(field.input_size[1] - 0.5, cols.stop))
    ax.set_ylim(max(field.input_size[0] - 0.5, rows.stop), min(-0.5, rows.start - 1))
    _whole_ticks(ax)
    ax.set_title(f"output [{row}, {col}] sees {rows.size} x {cols.size} of the input", fontsize=10)
    return ax


def animate(
    path: str | Path,
    op: Any,
    *args: Any,
    fps: int = 2,
    channel: int = 0,
    n: int = 0,
    seconds: float = 120.0,
    **kwargs: Any,
) -> Path:
    """Write the sliding window as an animated GIF: one frame for each cell of one output plane.

    ``path`` ends in .gif; ``op`` is an op of teachconv, no filter gradient, with its arguments. A
    progress bar shows on a terminal where rich is installed. Raises ``ValueError`` above 40 rows or
    columns or 400 frames, and where the first frames show that all of them would take more than ``seconds``;
    then nothing is written. Raises ``ImportError`` without matplotlib and Pillow.
    """
    if Path(path).suffix != ".gif":
        raise ArgumentError(f"path must end in .gif; got {str(path)!r}")
    args, kwargs = call_on_host(args, kwargs)
    call, _ = nn_ops.call_of(op, args, kwargs)
    if call.kind.sums_images:
        raise ArgumentError("animate draws an output plane, which a filter gradient does not have")
    rows, cols = call.backend_shape[1:3]
    if not 0 < rows * cols <= 400:
        raise ArgumentError(f"the output must have from 1 to 400 cells to animate; got {rows * cols}")
    from matplotlib.animation import PillowWriter

    writer = PillowWriter(fps=fps)
    figure = _figure((9, 3.6))
    output = np.full((rows, cols), np.nan)
    writer.setup(figure, str(path), dpi=100)  # writes nothing before finish
    start = record.clock()
    for done, (row, col) in enumerate(_progress(list(product(range(rows), range(cols))), "frames")):
        spent = record.clock() - start
        if done and spent / done * rows * cols > seconds:
            need = tables.duration(spent / done * rows * cols)
            raise ArgumentError(
                f"{rows * cols} frames would take about {need}, more than seconds={seconds:g}: give "
                f"more seconds, or a smaller input"
            )
        explained = explain(op, *args, at=(n, row, col, channel), **kwargs)
        output[row, col] = explained.value
        figure.clear()
        _draw_window(explained, figure, output)
        writer.grab_frame()
    writer.finish()
    return Path(path)


# ---------------------------------------------------------------------------------------------
# Planes
# ---------------------------------------------------------------------------------------------


def _output_of(explained: Explanation) -> np.ndarray:
    """The whole plane of the result that the cell lies in, as the reference has it."""
    call, cell = explained.call, (explained.canonical or explained).cell
    return _numbers(dispatch.run_canonical(call), call.kind.result, cell, call.geometry)


def _draw_window(explained: Explanation, figure: Figure, output: np.ndarray) -> Figure:
    """Three planes: what is read, what it is multiplied with, the result with one cell framed."""
    call, canonical = explained.call, explained.canonical or explained
    g, kind, names = call.geometry, call.kind, call.op.words
    _check_size("rows and columns", g.rows.size_of(kind.first), g.cols.size_of(kind.first), *output.shape)
    figure = figure or _figure((9, 3.6))
    axes = figure.subplots(1, 3)
    taps = canonical.taps
    first = taps[0].input_index if len(taps) else (0, 0, 0, 0)
    second = second_cell(taps[0]) if len(taps) else (0, 0, 0, 0)
    found = [tap for tap in taps if (tap.input_index[0], tap.input_index[3]) == (first[0], first[3])]
    inside = {tap.input_index[1:3] for tap in found if not tap.in_padding}
    outside = {tap.input_index[1:3] for tap in found if tap.in_padding}
    source = _numbers(call.first, kind.first, first, g)
    _plane(axes[0], source, inside, outside, None, (None, None) if kind.scatters else (g.rows, g.cols))
    axes[0].set_title(names[kind.first], fontsize=10)
    met = {in_plane(kind.second, second_cell(tap)) for tap in found if not tap.in_padding}
    _plane(axes[1], _numbers(call.second, kind.second, second, g), met, set(), None)
    axes[1].set_title(names[kind.second], fontsize=10)
    _plane(axes[2], output, set(), set(), in_plane(kind.result, canonical.cell))
    title = f"{kind.words[2]}{list(explained.cell)} = {short(explained.value)}"
    axes[2].set_title(title, fontsize=10)
    return figure


def _numbers(array: np.ndarray, role: str, cell: tuple[int, ...], g: Conv2DGeometry) -> np.ndarray:
    """The plane around a cell; one of NaN, which is not drawn, where the array has no numbers."""
    plane = plane_of(array, role, cell)
    if plane is None:
        return np.full((g.rows.size_of(role), g.cols.size_of(role)), np.nan)
    return plane.astype(np.float64)


def _plane(
    ax: Axes,
    plane: np.ndarray,
    inside: AbstractSet[tuple[int, ...]],
    outside: AbstractSet[tuple[int, ...]],
    framed: tuple[int, ...] | None,
    axes: tuple[AxisGeometry | None, AxisGeometry | None] = (None, None),
) -> None:
    """A plane of numbers; its padding dashed, its window ringed, one cell framed."""
    patches = _patches()
    largest = float(np.nanmax(np.abs(plane), initial=0, where=np.isfinite(plane))) or 1.0
    ax.imshow(plane, cmap="PuOr", vmin=-1.6 * largest, vmax=1.6 * largest)
    small = max(plane.shape) <= 14
    for (row, col), value in np.ndenumerate(plane):
        if small and not np.isnan(value):
            ax.text(col, row, short(value), ha="center", va="center", fontsize=7)
    spans = []
    for axis, size in zip(axes, plane.shape, strict=True):
        reach = [] if axis is None else [axis.in_index(0, 0), axis.in_index(0, 0) + axis.full_size - 1]
        spans.append((min([0, *reach]), max([size - 1, *reach])))
    spans = [
        (max(low, -_MARGIN), min(high, n - 1 + _MARGIN))
        for (low, high), n in zip(spans, plane.shape, strict=True)
    ]
    for row, col in product(*(range(low, high + 1) for low, high in spans)):
        if not (0 <= row < plane.shape[0] and 0 <= col < plane.shape[1]):
            ax.add_patch(_square(patches, row, col, ec=_FAINT, ls=":", lw=0.8))
    for row, col in inside:
        ax.add_patch(_square(patches, row, col, ec=_WINDOW, lw=2))
    for row, col in outside:
        ax.add_patch(_square(patches, row, col, ec=_WINDOW, lw=1.5, ls="--"))
    if framed is not None:
        ax.add_patch(_square(patches, framed[0], framed[1], ec=_CELL, lw=3))
    (top, bottom), (left, right) = spans
    ax.set_xlim(left - 0.7, right + 0.7)
    ax.set_ylim(bottom + 0.7, top - 0.7)
    _whole_ticks(ax)


def _whole_ticks(ax: Axes) -> None:
    """Indices are whole numbers: no tick at 2.5."""
    from matplotlib.ticker import MaxNLocator

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    ax.tick_params(length=0, labelsize=7)


def _square(patches: Any, row: int, col: int, **style: Any) -> Any:
    return patches.Rectangle((col - 0.48, row - 0.48), 0.96, 0.96, fill=False, **style)


def _box(ax: Axes, x: float, y: float, text: str, *, padding: bool = False) -> None:
    edge, line = (_FAINT, ":") if padding else ("black", "-")
    ax.add_patch(_patches().Rectangle((x - 0.45, y - 0.45), 0.9, 0.9, fill=False, ec=edge, ls=line))
    ax.annotate(text, (x, y), ha="center", va="center", fontsize=8, color=edge)


def _check_size(what: str, *sizes: int, most: int = _LIMIT) -> None:
    if max(sizes) > most:
        raise ArgumentError(f"a picture has room for {most} {what}; got {max(sizes)}")


# ---------------------------------------------------------------------------------------------
# matplotlib
# ---------------------------------------------------------------------------------------------


def _figure(size: tuple[float, float]) -> Figure:
    """A figure that belongs to nobody but the caller: pyplot's list would keep it."""
    _patches()
    from matplotlib.figure import Figure as MatplotlibFigure

    return MatplotlibFigure(figsize=size, layout="constrained")


def _axes(ax: Axes, size: tuple[float, float]) -> Axes:
    return ax if ax is not None else _figure(size).subplots()


def _patches() -> Any:
    try:
        from matplotlib import patches
    except ImportError as error:
        raise ImportError("pictures need the package matplotlib: pip install matplotlib") from error
    return patches


def _fit_figure(ax: Axes, margin: float = 0.15) -> None:
    """Make the figure as large as its one axes with all that stands around it, and ``margin`` inches."""
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


def _progress(items: list[Any], what: str) -> Iterable[Any]:
    """Show how far we are, on a terminal with rich; nothing otherwise."""
    import sys

    if not sys.stderr.isatty():
        return items
    try:
        from rich.console import Console
        from rich.progress import track
    except ImportError:
        return items
    shown: Callable[..., Iterable[Any]] = track
    return shown(items, what, console=Console(stderr=True), transient=True)
