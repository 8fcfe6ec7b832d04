"""The sliding window as a film, ``tc.plot.animate``: the planes are drawn once, the marks for each frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..running import nn_ops
from ..support.devices import call_on_host
from ..support.errors import ArgumentError, brief
from ..support.files import path_of
from ..support.progress import track
from .explaining import explain
from .plot_planes import Windows

_FRAMES = 240  # of a larger output a frame adds several cells
_TAPS, _TAP = 49, 400  # of a cell that is shown tap by tap: the most, and the milliseconds of one
_LIMIT = 80  # rows and columns of a plane
_SECONDS = 30  # of a film, if the frames per second are not given


def animate(
    path: str | Path,
    op: Any,
    *args: Any,
    fps: int | None = None,
    channel: int = 0,
    n: int = 0,
    at: Sequence[int] | None = None,
    **kwargs: Any,
) -> Path:
    """Write the sliding window as an animated GIF: one frame for each cell of one output plane.

    Of an output of more than 240 cells each frame adds several. With ``at`` the film begins with one cell,
    tap by tap, with the running sum above it.

    Args:
        path: where to write; it ends in .gif.
        op: any op of teachconv but a filter gradient.
        *args: the op's positional arguments.
        fps: frames per second; None for 2, or more if that would take more than 30 seconds.
        channel: the index of the output channel.
        n: the index of the image.
        at: the cell to begin with, as in `teachconv.explain`; one of more than 49 taps is not shown tap by
            tap. None for none.
        **kwargs: the op's keyword arguments.

    Returns:
        The path.

    Raises:
        ValueError: above 80 rows or columns.
        IndexError, TypeError: as from `teachconv.explain`.
        ImportError: without matplotlib or Pillow.
    """
    path = path_of(path)
    if path.suffix.lower() != ".gif":
        raise ArgumentError(f"path must end in .gif; got {brief(str(path))}")
    args, kwargs = call_on_host(args, kwargs)
    call, _ = nn_ops.call_of(op, args, kwargs)
    if call.kind.sums_images:
        raise ArgumentError("animate draws an output plane, which a filter gradient does not have")
    if call.geometry.rank != 2:
        raise ArgumentError(f"animate needs 2 axes, rows and columns; {call.op} has {call.geometry.rank}")
    rows, cols = call.backend_shape[1:3]
    if not rows * cols:
        raise ArgumentError("the output must have cells to animate; it is empty")
    cells = list(product(range(rows), range(cols)))
    step = -(-len(cells) // _FRAMES)
    parts = [cells[i : i + step] for i in range(0, len(cells), step)]
    speed = fps or max(2, min(25, round(len(parts) / _SECONDS)))

    def explained(cell: tuple[int, int]) -> Any:
        return explain(op, *args, at=call.name(call.kind.result, (n, *cell, channel)), **kwargs)

    steps: list[tuple[Any, int | None]] = [(part, None) for part in parts]
    if at is not None:
        found = explain(op, *args, at=at, **kwargs)
        _, row, col, _ = (found.canonical or found).cell
        first = row, col
        count = len(explained(first).taps)
        steps = [*(([first], tap) for tap in range(count if count <= _TAPS else 0)), *steps]
    film = _Film(Windows(explained(cells[0]), filled=False, most=_LIMIT), explained)
    path.write_bytes(_gif(film, steps, speed))
    return path


class _Film:
    """The frames of a film as pixels, uint8, [rows, cols, 3]."""

    def __init__(self, windows: Windows, explained: Callable[[tuple[int, int]], Any]) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        self.windows, self.explained = windows, explained
        figure = windows.figure
        self.canvas = FigureCanvasAgg(figure)
        windows.mark(explained((0, 0)))  # the title has its height
        self.moving: list[Any] = [mark for plane in windows.planes for mark in plane.marks]
        self.moving.append(windows.planes[2].ax.title)
        for artist in self.moving:
            artist.set_animated(True)
        figure.draw_without_rendering()  # lays it out, once
        figure.set_layout_engine("none")
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(figure.bbox)

    def fill(self, cells: Iterable[tuple[int, int]]) -> None:
        """Draw cells of the result to what stays."""
        plane, numbers = self.windows.planes[2], self.windows.result
        from matplotlib.patches import Rectangle

        self.canvas.restore_region(self.still)
        for row, col in cells:
            plane.numbers[row, col] = numbers[row, col]
            colour = plane.rgb(numbers[row : row + 1, col])[0]
            plane.ax.draw_artist(plane.ax.add_patch(Rectangle((col - 0.5, row - 0.5), 1, 1, color=colour)))
            plane.ax.patches[-1].remove()
        if plane.numbered:
            for text in plane.texts(cells):
                plane.ax.add_artist(text)
                plane.ax.draw_artist(text)
                text.remove()
        self.still = self.canvas.copy_from_bbox(self.windows.figure.bbox)

    def frame(self, cells: list[tuple[int, int]], tap: int | None = None) -> np.ndarray:
        """Return the frame after some more cells, with the window of the last of them.

        With ``tap`` no cell is added, and only the taps up to that one are marked.
        """
        if tap is None:
            self.fill(cells)
        else:
            self.canvas.restore_region(self.still)
        self.windows.mark(self.explained(cells[-1]), tap)
        for artist in self.moving:
            artist.axes.draw_artist(artist)
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()


def _gif(film: _Film, parts: list[tuple[Any, int | None]], fps: int) -> bytes:
    """Return an animated GIF. All frames have the same colours, those of the whole result."""
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError("a .gif needs the package pillow: pip install pillow") from error
    empty = film.still
    whole = Image.fromarray(film.frame(list(np.ndindex(film.windows.result.shape))))
    film.still = empty
    marks = [int(c[i : i + 2], 16) for c in film.windows.planes[0].colours.values() for i in (1, 3, 5)]
    colours = Image.new("P", (1, 1))  # those of the marks exactly, and the best ones for the rest
    colours.putpalette([*marks, *(whole.quantize(255 - len(marks) // 3).getpalette() or [])])
    frames = (
        Image.fromarray(film.frame(*part)).quantize(palette=colours, dither=Image.Dither.NONE)
        for part in track(parts, "frames")
    )
    written = BytesIO()
    times = [round(1000 / fps) if tap is None else _TAP for _, tap in parts]
    options = {"save_all": True, "duration": times, "loop": 0, "optimize": True}
    next(frames).save(written, "GIF", append_images=frames, **options)
    return written.getvalue()
