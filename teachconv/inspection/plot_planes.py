"""Planes of numbers drawn by matplotlib; ``palette.py`` says what the marks mean.

matplotlib is imported when a picture is asked for, and pyplot never.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from ..core.calls import Call
from ..core.law import AxisGeometry
from ..core.taps import scatter_all
from ..running import dispatch
from ..support import palette
from ..support.errors import ArgumentError
from .explaining import Explanation
from .panels import largest_of, short
from .pictures import equals_sign, in_plane, plane_of, second_cell

Axes: TypeAlias = Any  # matplotlib.axes.Axes; matplotlib is optional
Figure: TypeAlias = Any
Cells: TypeAlias = Set[tuple[int, ...]]

_LIMIT = 40  # rows and columns of a plane with numbers in its cells; without them, twice as many
_NUMBERED = 14  # rows and columns of a plane whose cells show their numbers
_MARGIN = 10  # rows and columns of padding that are drawn on each side: a large dilation has no end of them
_PHOTO = 300  # pixels of a photograph at least
_LEAST = 8  # points of the smallest digits
_WIDEST = 13  # inches of the planes of a figure; cells that need more have no digits


class Plane:
    """One plane of numbers, whose marks can be moved.

    Attributes:
        ax: where it is drawn.
        numbers: its numbers, [rows, cols]; NaN is not drawn.
        numbered: whether its cells show their numbers.
        size: the size of a cell in points, once the figure is laid out.
        framed: whether the window has a frame.
        marks: the frame of the window, its cells, the taps in the padding, and the cell.
    """

    def __init__(
        self,
        ax: Axes,
        numbers: np.ndarray,
        largest: float,
        *,
        ring: str = "ring",
        reads: tuple[range, range] = (range(0), range(0)),
        image: np.ndarray | None = None,
    ) -> None:
        """Draw a plane, [rows, cols], with the padding that is read around it; of NaN nothing is drawn."""
        from matplotlib.collections import PolyCollection

        self.ax, self.numbers, self.largest = ax, numbers, largest or 1.0
        self.colours = colours_of(ax)
        self.map = value_colours(self.colours)
        ax.imshow(self.rgb(numbers) if image is None else image, interpolation="nearest")
        ax.set_facecolor(self.colours["paper"])
        spans = _spans(reads, numbers.shape)
        padding = [_square(cell, 0.46) for cell in product(*spans) if not self._inside(cell)]
        cells = [_square(cell, 0.5) for cell in np.ndindex(numbers.shape) if max(numbers.shape) <= _LIMIT]
        for squares, colour, dash in ((cells, "line", "-"), (padding, "faint", ":")):
            edges = self.colours[colour]
            ax.add_collection(PolyCollection(squares, facecolors="none", edgecolors=edges, ls=dash, lw=0.8))
        self.numbered = image is None and max(numbers.shape) <= _NUMBERED
        self.framed, thick = ring == "ring", 3 if max(numbers.shape) <= _LIMIT else 1.5
        self.marks = []
        for colour, width, dash in (
            (ring, 2.5, "-"),
            (ring, 1.5, "-"),
            (ring, 1.5, "--"),
            ("mark", thick, "-"),
        ):
            edges = self.colours[colour]
            mark = PolyCollection([], facecolors="none", edgecolors=edges, lw=width, ls=dash, zorder=3)
            mark.set_clip_on(False)
            self.marks.append(mark)
            ax.add_collection(mark, autolim=False)
        (top, bottom), (left, right) = ((span.start, span.stop - 1) for span in spans)
        ax.set_xlim(left - 0.6, right + 0.6)
        ax.set_ylim(bottom + 0.6, top - 0.6)
        whole_ticks(ax)
        if image is None:
            self._scale(bottom - top + 1)

    def rgb(self, numbers: np.ndarray) -> np.ndarray:
        """Return the colours of numbers, [..., 4] from 0 to 1; NaN has none."""
        shares = np.clip(np.nan_to_num(numbers / self.largest, nan=0, posinf=0, neginf=0), -1, 1)
        found = np.asarray(self.map(0.5 + 0.5 * shares))
        found[np.isnan(numbers)] = 0
        return found

    def write(self, numbers: np.ndarray) -> None:
        """Write the numbers into the cells, which have their size now, if all of ``numbers`` are legible."""
        box = self.ax.get_window_extent()
        self.size = 72 / self.ax.figure.dpi * box.width / np.ptp(self.ax.get_xlim())
        self.numbered &= self.size >= cell_of(numbers) - 0.01
        for text in self.texts(np.argwhere(~np.isnan(self.numbers))) if self.numbered else ():
            self.ax.add_artist(text)

    def texts(self, cells: Iterable[Any]) -> list[Any]:
        """Return the numbers of some cells as artists; their digits are as large as the cells allow."""
        from matplotlib.text import Text

        found = []
        for row, col in cells:
            text = short(self.numbers[row, col])
            style: Any = {"ha": "center", "va": "center", "color": self.colours["ink"]}
            style["fontsize"] = self.size * _share(len(text))
            found.append(Text(col, row, text, transform=self.ax.transData, **style))
        return found

    def mark(self, window: Cells = frozenset(), framed: tuple[int, ...] | None = None) -> None:
        """Move the marks: a ring in each cell of the window, and the frame of the cell."""
        inside = {cell for cell in window if self._inside(cell)}
        each = max(self.numbers.shape) <= _LIMIT  # smaller cells have no room for rings
        taps = (inside, window - inside) if each else ((), ())
        self.marks[0].set_verts(_frame(window) if self.framed else [])
        for mark, cells in zip(self.marks[1:], (*taps, () if framed is None else [framed]), strict=True):
            mark.set_verts([_square(cell, 0.42 if each else 0.9) for cell in cells])

    def _inside(self, cell: tuple[int, ...]) -> bool:
        rows, cols = self.numbers.shape
        return 0 <= cell[0] < rows and 0 <= cell[1] < cols

    def _scale(self, rows: int) -> None:
        """Draw the colours of the numbers, from the smallest to the largest that there may be, below."""
        high = max(0.25 / rows, 0.03)
        ax = self.ax.inset_axes((0.0, -0.35 / rows - high, 1.0, high))
        ax.imshow(self.map(np.linspace(0, 1, 101))[None], aspect="auto", extent=(-1, 1, 0, 1))
        ax.set_xticks([-1, 0, 1], [short(-self.largest), "0", short(self.largest)])
        ax.set_yticks([])
        ax.tick_params(length=0, labelsize=8, pad=2)
        for spine in ax.spines.values():
            spine.set_color(self.colours["line"])


def _share(length: int) -> float:
    """Return the size of digits, as a share of the size of their cell."""
    return min(0.42, 1.4 / max(1, length))


def cell_of(numbers: np.ndarray) -> float:
    """Return the points that a cell of a plane needs for legible digits; 0 if the plane shows none."""
    if max(numbers.shape) > _NUMBERED or np.isnan(numbers).all():
        return 0.0
    return _LEAST / _share(max(len(short(number)) for number in numbers[~np.isnan(numbers)]))


class Windows:
    """Three planes: what is read, what it is multiplied by, the result with one cell framed.

    Attributes:
        figure: the figure.
        planes: the three of them.
    """

    def __init__(self, explained: Explanation, *, filled: bool, most: int = _LIMIT) -> None:
        """Draw the planes around an explained cell, the result empty if it is not ``filled``."""
        call, canonical = explained.call, explained.canonical or explained
        g, kind = call.geometry, call.kind
        if g.rank != 2:
            raise ArgumentError(
                f"plots need 2 axes, rows and columns; {call.op} has {g.rank}: explore draws it"
            )
        roles = (kind.first, kind.second, kind.result)
        sizes = [(g.rows.size_of(role), g.cols.size_of(role)) for role in roles]
        check_size("rows and columns", *sizes[0], *sizes[2], most=most)
        result = dispatch.run_canonical(call)
        numbers = _numbers(result, call, kind.result, canonical.cell)
        first, second = self._cells(canonical)
        reads = _read(g.rows, kind.scatters), _read(g.cols, kind.scatters)
        spans = _spans(reads, sizes[0])
        padded = [len(span) for span in spans] != list(sizes[0])
        wide = [size[1] for size in sizes]
        tall = max(len(spans[0]), *(size[0] for size in sizes))
        ratios = [max(width, 0.3 * max(wide), 2.5) for width in wide]
        photo = _photo(call, first)
        source = _numbers(call.first, call, kind.first, first)
        operand = _numbers(call.second, call, kind.second, second)
        self.result = numbers
        shown = [source if photo is None else source * np.nan, operand, numbers]
        columns = [len(spans[1]), *wide[1:]]  # of the source with its padding
        needed = [
            cell_of(plane) * (count + 0.2) * sum(ratios) / ratio / 72
            for plane, count, ratio in zip(shown, columns, ratios, strict=True)
        ]
        room = max(5.8, *(inches for inches in needed if inches <= _WIDEST))  # what cells have in a row
        self.figure = figure_of((3.2 + room, min(room + 0.2, max(2.6, 1.25 + room / sum(ratios) * tall))))
        axes = self.figure.subplots(1, 3, width_ratios=ratios)
        self.planes = [
            Plane(axes[0], source, largest_of(call.first), reads=reads, image=photo),
            Plane(axes[1], operand, largest_of(call.second), ring="filter"),
            Plane(axes[2], numbers if filled else numbers * np.nan, largest_of(result)),
        ]
        for ax, role in zip(axes, roles, strict=True):
            ax.set_title(call.op.words[role], fontsize=10)
        faint = self.planes[0].colours["faint"]
        for ax, sign in ((axes[1], "×"), (axes[2], equals_sign(call))):
            place = {"xycoords": "axes fraction", "textcoords": "offset points", "color": faint}
            ax.annotate(sign, (0, 0.5), xytext=(-20, 0), ha="right", va="center", fontsize=9, **place)
        self._legend(padded)
        for _ in range(2):  # a single pass leaves titles outside: the heights of the axes follow their widths
            self.figure.get_layout_engine().execute(self.figure)
        for plane, values in zip(self.planes, shown, strict=True):
            plane.write(values)

    @staticmethod
    def _cells(canonical: Explanation) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the cells of the first tap, whose planes are drawn."""
        found = next(iter(canonical.taps), None)
        return ((0, 0, 0, 0), (0, 0, 0, 0)) if found is None else (found.input_index, second_cell(found))

    def mark(self, explained: Explanation, last: int | None = None) -> None:
        """Move the window and the frame to an explained cell, whose planes are those drawn.

        With ``last`` only the taps up to that one are marked, and the title is their running sum.
        """
        kind, canonical = explained.call.kind, explained.canonical or explained
        first = self._cells(canonical)[0]
        known = canonical.taps if last is None else canonical.taps[: last + 1]
        taps = [t for t in known if (t.input_index[0], t.input_index[3]) == (first[0], first[3])]
        self.planes[0].mark({tap.input_index[1:3] for tap in taps})
        self.planes[1].mark({in_plane(kind.second, second_cell(tap)) for tap in taps if not tap.in_padding})
        self.planes[2].mark(framed=in_plane(kind.result, canonical.cell))
        value = f"= {short(explained.value)}" if last is None else f"so far {short(known[-1].running_sum)}"
        title = f"{kind.words[2]}{list(explained.cell)} {value}"
        self.planes[2].ax.title.set_text(title)  # set_title would move it

    def _legend(self, padded: bool) -> None:
        """Say below what the marks mean."""
        colours = self.planes[0].colours
        marks = [("in the window", "ring", "-", 2.0), ("what it is multiplied by", "filter", "-", 2)]
        marks += (
            [("padding in the window", "ring", "--", 1.5), ("padding", "faint", ":", 1)] if padded else []
        )
        marks.append(("the cell", "mark", "-", 3))
        handles = [
            patches().Patch(fc="none", ec=colours[colour], ls=dash, lw=width, label=label)
            for label, colour, dash, width in marks
        ]
        style = {"handlelength": 1.2, "handleheight": 1.2, "labelcolor": colours["ink"], "frameon": False}
        self.figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=8, **style)


def _read(axis: AxisGeometry, scatters: bool) -> range:
    """Return what the windows of all cells of the result read on one axis, the padding included."""
    if scatters:
        indices = [tap.out_index for i in range(axis.in_size) for tap in scatter_all(axis, i)]
        return range(min(indices, default=0), max(indices, default=-1) + 1)
    first = axis.in_index(0, 0)
    return range(first, first + axis.full_size)


def _spans(reads: tuple[range, range], sizes: tuple[int, ...]) -> list[range]:
    """Return the rows and the columns that are drawn, the padding included."""
    return [
        range(max(min(0, read.start), -_MARGIN), min(max(size, read.stop), size + _MARGIN))
        for read, size in zip(reads, sizes, strict=True)
    ]


def _numbers(array: np.ndarray, call: Call, role: str, cell: tuple[int, ...]) -> np.ndarray:
    """Return the plane around a cell; one of NaN, which is not drawn, where the array has no numbers."""
    plane = plane_of(array, role, cell)
    if plane is None:
        g = call.geometry
        return np.full((g.rows.size_of(role), g.cols.size_of(role)), np.nan)
    return plane.astype(np.float64)


def _photo(call: Call, cell: tuple[int, ...]) -> np.ndarray | None:
    """Return the image that is read in its own colours, if that is what it is: bytes of three channels."""
    x = call.first
    if not call.kind.gathers or x.ndim != 4 or x.shape[3] != 3 or x.shape[1] * x.shape[2] < _PHOTO:
        return None
    image = x[cell[0]].astype(np.float64)
    if not (np.isfinite(image).all() and image.min() >= 0 and image.max() <= 255):
        return None
    return np.asarray(image * (255 if image.max() <= 1 else 1), np.uint8)


def _square(cell: tuple[int, ...], half: float) -> list[tuple[float, float]]:
    row, col = cell
    return [(col + dx * half, row + dy * half) for dx, dy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]


def _frame(cells: Cells) -> list[Any]:
    """Return a frame around cells."""
    if not cells:
        return []
    rows, cols = ([cell[axis] for cell in cells] for axis in (0, 1))
    top, left, bottom, right = min(rows) - 0.5, min(cols) - 0.5, max(rows) + 0.5, max(cols) + 0.5
    return [[(left, top), (right, top), (right, bottom), (left, bottom)]]


def whole_ticks(ax: Axes) -> None:
    """Number rows and columns as the other pictures do: whole numbers, the columns' above."""
    from matplotlib.ticker import MaxNLocator

    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    ax.tick_params(length=0, labelsize=8, labelcolor=colours_of(ax)["faint"])
    ax.xaxis.tick_top()
    for spine in ax.spines.values():
        spine.set_visible(False)


def check_size(what: str, *sizes: int, most: int = _LIMIT) -> None:
    """Raise for arrays that are too large for a picture."""
    if max(sizes) > most:
        raise ArgumentError(f"a picture has room for {most} {what}; got {max(sizes)}")


def colours_of(ax: Axes) -> dict[str, str]:
    """Return the palette for the ground on which axes lie, light or dark."""
    from matplotlib.colors import to_hex

    ground = ax.figure.get_facecolor()
    return palette.of_ground(to_hex(ground if ground[3] else "white"))


def value_colours(colours: dict[str, str]) -> Any:
    """Return the colours of numbers, symmetric around zero, as a colour map of matplotlib's."""
    from matplotlib.colors import LinearSegmentedColormap

    paper = colours["paper"]
    below, above = (palette.mixed(colours[name], paper, palette.TINT) for name in ("below", "above"))
    return LinearSegmentedColormap.from_list("teachconv", [below, paper, above])


def figure_of(size: tuple[float, float]) -> Figure:
    """A figure that belongs only to the caller: pyplot would keep it in its list."""
    patches()
    from .shown_figure import ShownFigure

    return ShownFigure(figsize=size, layout="constrained")


def axes_of(ax: Axes, size: tuple[float, float]) -> Axes:
    """Return the axes given, or those of a figure of their own."""
    return ax if ax is not None else figure_of(size).subplots()


def patches() -> Any:
    """Return matplotlib's module of patches, or say what to install."""
    try:
        from matplotlib import patches
    except ImportError as error:
        raise ImportError("pictures need the package matplotlib: pip install matplotlib") from error
    return patches
