"""Draws a call in chunks: the chunks of what it reads and of its result, and one chunk with its slab."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from itertools import accumulate
from typing import Any

from ..core.arguments import Pair
from ..support.errors import ArgumentError, brief
from ..support.palette import COLOURS, svg_style
from .dask_arrays import ADAPTER
from .dask_chunks import AxisChunk

_SIDE, _MARGIN, _WIDEST_TEXT = 260, 24, 440  # pixels
_MOST = 60  # lines between chunks in one direction
_INK, _LINE, _RING, _MARK = (COLOURS[name].light for name in ("ink", "line", "ring", "mark"))


def chunk_picture(op: Callable[..., Any], *args: Any, chunk: Pair | None = None, **kwargs: Any) -> str:
    """Draw the chunks of a lazy call as SVG text, one of them with the slab that it reads.

    Args:
        op: an op of teachconv.
        *args: its positional arguments, dask arrays among them.
        chunk: (row, column) of the chunk that is shown with its slab; the middle one if it is None.
        **kwargs: its keyword arguments.

    Returns:
        An SVG. On the left what is read: dark the cells that only this chunk reads, pale its halo, which
        neighbouring chunks read too. On the right the result.

    Raises:
        ArgumentError: if there is no such chunk.

    >>> import dask.array as da, numpy as np, teachconv as tc
    >>> x = da.ones((1, 90, 90, 1), chunks=(1, 30, 30, 1), dtype="float32")
    >>> chunk_picture(tc.conv2d, x, np.ones((5, 5, 1, 1), "float32"), 2, "SAME")[:4]
    '<svg'
    """
    lazy = ADAPTER.lazy_call(op, args, kwargs)
    plan, kind = lazy.plan, lazy.call.kind
    if (rank := plan.job.geometry.rank) != 2:
        raise ArgumentError(f"op must be over 2 axes, rows and columns, to be drawn; got one over {rank}")
    _, rows, cols = plan.axes
    at = (len(rows) // 2, len(cols) // 2) if chunk is None else chunk
    if not (0 <= at[0] < len(rows) and 0 <= at[1] < len(cols)):
        raise ArgumentError(f"chunk must be inside {len(rows)} x {len(cols)} chunks; got {brief(chunk)}")
    image, row_axis, col_axis = plan.job.axes()
    read_chunks = [_borders(plan.first.chunks[axis]) for axis in (row_axis, col_axis)]
    part_chunks = [[0, *(chunk.part[1] for chunk in axis)] for axis in (rows, cols)]
    scale = _SIDE / max(borders[-1] for borders in (*read_chunks, *part_chunks))
    row, col = rows[at[0]], cols[at[1]]
    words = plan.job.op.words
    left = _plane(words[kind.first], read_chunks, scale, _MARGIN)
    left += _box(row.read, col.read, scale, _MARGIN, _RING, 0.25)
    left += _box(_alone(rows, at[0]), _alone(cols, at[1]), scale, _MARGIN, _RING, 0.6)
    start = 2 * _MARGIN + read_chunks[1][-1] * scale
    right = _plane(words[plan.job.role], part_chunks, scale, start)
    right += _box(row.part, col.part, scale, start, _MARK, 0.6)
    lines = (
        f"chunk {at[0]}, {at[1]} of {len(rows)} x {len(cols)}: "
        f"rows {_span(row.part)}, columns {_span(col.part)}",
        f"it reads rows {_span(row.read)}, columns {_span(col.read)}",
    )
    title = escape("; ".join(lines))
    below = scale * max(read_chunks[0][-1], part_chunks[0][-1]) + 2 * _MARGIN
    width = max(_WIDEST_TEXT, start + part_chunks[1][-1] * scale + _MARGIN)
    text = "".join(
        f'<text x="{_MARGIN}" y="{below + 16 * number:.0f}" fill="{_INK}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tc-picture" width="{width:.0f}" '
        f'viewBox="0 0 {width:.0f} {below + 26:.0f}" font-family="sans-serif" font-size="11">'
        f"<title>{title}</title>{svg_style()}{left}{right}{text}</svg>"
    )


def _borders(chunks: Any) -> list[int]:
    """Return where chunks begin and end."""
    return [0, *accumulate(map(int, chunks))]


def _alone(chunks: list[AxisChunk], number: int) -> Pair:
    """Return what no neighbour of a chunk reads on one axis; nothing where the halo is wider than a chunk."""
    low, high = chunks[number].read
    if number:
        low = max(low, min(high, chunks[number - 1].read[1]))
    if number + 1 < len(chunks):
        high = max(low, min(high, chunks[number + 1].read[0]))
    return low, high


def _plane(title: str, borders: list[list[int]], scale: float, left: float) -> str:
    """Draw an array with the lines between its chunks; of very many lines only some."""
    rows, cols = borders
    height, width = rows[-1] * scale, cols[-1] * scale
    shown = [line[:: -(-len(line) // _MOST)] for line in borders]
    across = "".join(f"M{left:.1f} {_MARGIN + row * scale:.1f}h{width:.1f}" for row in shown[0])
    down = "".join(f"M{left + col * scale:.1f} {_MARGIN}v{height:.1f}" for col in shown[1])
    label = f"{title}, {rows[-1]:,} x {cols[-1]:,}"
    return (
        f'<text x="{left:.1f}" y="{_MARGIN - 8}" fill="{_INK}">{escape(label)}</text>'
        f'<path d="{across}{down}" fill="none" stroke="{_LINE}"/>'
        f'<rect x="{left:.1f}" y="{_MARGIN}" width="{width:.1f}" height="{height:.1f}" fill="none" '
        f'stroke="{_INK}"/>'
    )


def _box(rows: Pair, cols: Pair, scale: float, left: float, colour: str, opacity: float) -> str:
    """Draw a rectangle of cells."""
    (top, bottom), (first, past) = rows, cols
    return (
        f'<rect x="{left + first * scale:.1f}" y="{_MARGIN + top * scale:.1f}" '
        f'width="{(past - first) * scale:.1f}" height="{(bottom - top) * scale:.1f}" fill="{colour}" '
        f'fill-opacity="{opacity}" stroke="{colour}"/>'
    )


def _span(part: Pair) -> str:
    return f"{part[0]}..{part[1] - 1}"
