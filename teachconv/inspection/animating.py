"""The sliding window as a film, ``tc.plot.animate``: the picture of each cell in turn, as an animated GIF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..running import dispatch, nn_ops
from ..support.devices import call_on_host
from ..support.errors import ArgumentError, brief
from ..support.files import path_of
from ..support.progress import track
from .explaining import Explanation, explain
from .panels import panels_to_svg, short
from .pictures import PART, call_panels, equals_sign, steps_of

_TAPS, _TAP = 49, 400  # of a cell that is shown tap by tap: the most, and the milliseconds of one
_LIMIT = 16  # rows and columns of a plane, with its padding
_SECONDS = 30  # of a film, if the frames per second are not given
_DPI = 72  # of a frame: one dot for a pixel


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

    With ``at`` the film begins with one cell, tap by tap, with its running sum.

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
        ValueError: above 16 rows or columns, padding included.
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
    result = dispatch.run_canonical(call)

    def explained(row: int, col: int) -> Explanation:
        at = call.name(call.kind.result, (n, row, col, channel))
        found: Explanation = explain(op, *args, at=at, **kwargs)
        return found

    first = explained(0, 0)
    if any(PART in panel.title for panel in call_panels(first.canonical or first, result, _LIMIT)):
        raise ArgumentError(
            f"a film has room for {_LIMIT} rows and columns, padding included; explore moves over larger "
            "arrays, and window draws a part of them"
        )
    cells = list(product(range(rows), range(cols)))
    speed = fps or max(2, min(25, round(len(cells) / _SECONDS)))

    pause = round(1000 / speed)
    frames = [_Frame(explained(*cell), number, pause) for number, cell in enumerate(cells, 1)]
    if at is not None:
        found = explain(op, *args, at=at, **kwargs)
        first = explained(*(found.canonical or found).cell[1:3])
        taps = range(len(first.taps) if len(first.taps) <= _TAPS else 0)
        frames = [*(_Frame(first, 0, _TAP, tap) for tap in taps), *frames]
    path.write_bytes(
        _gif([_picture(frame, result) for frame in frames], [frame.milliseconds for frame in frames])
    )
    return path


@dataclass(frozen=True)
class _Frame:
    """One frame of a film.

    Attributes:
        explained: the cell whose window is shown.
        filled: the number of cells of the result that are there.
        milliseconds: how long it is shown.
        tap: the last tap that is marked; None for all.
    """

    explained: Explanation
    filled: int
    milliseconds: int
    tap: int | None = None


def _picture(frame: _Frame, result: np.ndarray) -> str:
    """Return the picture of one frame as SVG: the caption has the sum, or the sum so far."""
    found = frame.explained.canonical or frame.explained
    call, value, so_far = found.call, found.value, "="
    if frame.tap is not None:
        found = replace(found, taps=found.taps[: frame.tap + 1])
        value, so_far = found.taps[-1].running_sum, "so far"
    source, operand, target = call_panels(found, result, _LIMIT)
    there = np.arange(target.size[0] * target.size[1]).reshape(target.size) < frame.filled
    target.plane = np.ma.array(target.plane, mask=~there)
    target.framed_text = short(value)
    caption = f"{call.kind.words[2]}{list(frame.explained.cell)} {so_far} {short(value)}; {steps_of(call)}"
    legend = {"window", "factor", "cell"}
    if source.size != (len(source.rows), len(source.cols)):
        legend |= {"padding", "tap in the padding"}
    # all frames have one size: the caption has room for the longest
    return panels_to_svg([source, operand, target], ["×", equals_sign(call)], caption.ljust(90), legend)


def _gif(pictures: list[str], times: list[int]) -> bytes:
    """Return an animated GIF. All frames have the same colours, those of the last one."""
    try:
        from PIL import Image

        from .drawn_svg import colours_on, dots, figure_of
    except ImportError as error:
        raise ImportError("a film needs matplotlib and pillow: pip install matplotlib pillow") from error
    last = figure_of(pictures[-1])
    drawn = [int(colour[i : i + 2], 16) for colour in colours_on(last).values() for i in (1, 3, 5)]
    rest = Image.fromarray(dots(last, _DPI)).quantize(255 - len(drawn) // 3)
    palette = Image.new("P", (1, 1))  # the marks' colours exactly, and the best ones for the rest
    palette.putpalette([*drawn, *(rest.getpalette() or [])])
    frames = (
        Image.fromarray(dots(figure_of(picture), _DPI)).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in track(pictures, "frames")
    )
    written = BytesIO()
    options = {"save_all": True, "duration": times, "loop": 0, "optimize": True}
    next(frames).save(written, "GIF", append_images=frames, **options)
    return written.getvalue()
