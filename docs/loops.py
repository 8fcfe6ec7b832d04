"""Loops: pictures in motion, as SVG without scripts and as GIF, 320 pixels wide.

A loop is planes of cells and frames. Each frame is a list of shapes; a shape that many frames have is one
element of the SVG, shown while they run. Where a reader asks for reduced motion, and in programs that do not
animate, the SVG is its last frame.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from io import BytesIO
from typing import Any

import numpy as np

from teachconv.support import palette

WIDTH = 320  # pixels
LONGEST = 8000  # milliseconds
_MOST = 26  # pixels of a cell
_TALLEST = 260  # pixels of a row of planes
_GAP = 10  # between planes
_LIGHT = {name: colour.light for name, colour in palette.COLOURS.items()}
_RINGS = {  # colour, width, inset, dashes
    "window": ("ring", 2, 1, ""),
    "factor": ("filter", 2, 1, ""),
    "fed": ("mark", 1.5, 1, ""),
    "other": ("mark", 1.5, 3, "3 2"),
    "current": ("mark", 3, 1.5, ""),
    "tap": ("ink", 2, 0, ""),
    "outside": ("ring", 1.5, 1, "3 2"),
}

Cell = tuple[int, int]


@dataclass(frozen=True)
class Plane:
    """A grid of cells.

    Attributes:
        title: what it is.
        numbers: its numbers, [rows, cols]; of a plane that fills, those that it has in the end.
        rows: the rows that are drawn; those outside the numbers are padding.
        cols: the columns that are drawn.
        fills: whether its numbers come with the frames.
        before: the sign before it.
    """

    title: str
    numbers: np.ndarray
    rows: range | None = None
    cols: range | None = None
    fills: bool = False
    before: str = ""

    @property
    def drawn(self) -> tuple[range, range]:
        """The rows and columns that are drawn."""
        rows, cols = self.numbers.shape
        return self.rows or range(rows), self.cols or range(cols)


@dataclass(frozen=True)
class Frame:
    """What is marked for some time: the marks and the numbers by plane and cell, and a line of text."""

    milliseconds: int
    text: str = ""
    marks: Mapping[int, Mapping[Cell, str]] = field(default_factory=dict)
    numbers: Mapping[int, Mapping[Cell, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Film:
    """Rows of planes, numbered through, and the frames."""

    rows: Sequence[Sequence[Plane]]
    frames: Sequence[Frame]

    def __post_init__(self) -> None:
        assert sum(frame.milliseconds for frame in self.frames) <= LONGEST

    @property
    def height(self) -> int:
        """The height of the picture in pixels."""
        return round(self._layout()[-1][1] + 26)

    def _layout(self) -> list[Any]:
        """The place and the size of a cell of each plane, and last the end of the picture."""
        found, y = [], 6.0
        for row in self.rows:
            columns = sum(len(plane.drawn[1]) for plane in row)
            size = min(_MOST, (WIDTH - 12 - sum(_GAP + 12 * bool(plane.before) for plane in row)) / columns)
            size = min(size, _TALLEST / max(len(plane.drawn[0]) for plane in row))
            size = int(size) if size >= 6 else size
            wide = columns * size + sum(_GAP + 12 * bool(plane.before) for plane in row) - _GAP
            tall = max(len(plane.drawn[0]) for plane in row) * size
            x = (WIDTH - wide) / 2
            for plane in row:
                x += 12 * bool(plane.before)
                found.append((x, y + 16 + (tall - len(plane.drawn[0]) * size) / 2, size))
                x += len(plane.drawn[1]) * size + _GAP
            y += 16 + tall + 8
        return [*found, (0, y, 0)]

    def shapes(self, frame: Frame) -> list[tuple[Any, ...]]:
        """The shapes of one frame, from the back to the front: (layer, what it is, where, and its looks)."""
        found: list[tuple[Any, ...]] = []
        planes = [plane for row in self.rows for plane in row]
        for number, (plane, (left, top, size)) in enumerate(zip(planes, self._layout()[:-1], strict=True)):
            rows, cols = plane.drawn
            largest = np.abs(plane.numbers).max(initial=0) or 1
            text = (left, top - 4, 11, plane.title, "ink", "bold", "start")
            found.append((0, "text", *text))
            if plane.before:
                place = (left - 11, top + len(rows) * size / 2 + 5, 14, plane.before, "faint", "", "middle")
                found.append((0, "text", *place))
            values = frame.numbers.get(number, {}) if plane.fills else None
            for r, row in enumerate(rows):
                for q, col in enumerate(cols):
                    box = (left + q * size, top + r * size, size, size)
                    if not (0 <= row < plane.numbers.shape[0] and 0 <= col < plane.numbers.shape[1]):
                        found.append((0, "rect", *box, None, 0, "faint", 0.75, "2 2"))
                    else:
                        found.append((0, "rect", *box, "paper", 1, "line", 0.75, ""))
                        value = plane.numbers[row, col] if values is None else values.get((row, col))
                        if value is not None:
                            found += _number(value, largest, box, int(values is not None))
            for (row, col), mark in frame.marks.get(number, {}).items():
                if row in rows and col in cols:
                    colour, width, inset, dashes = _RINGS[mark]
                    box = (left + cols.index(col) * size + inset, top + rows.index(row) * size + inset)
                    found.append(
                        (2, "rect", *box, size - 2 * inset, size - 2 * inset, None, 0, colour, width, dashes)
                    )
        if frame.text:
            found.append((3, "text", WIDTH / 2, self.height - 9, 13, frame.text, "ink", "", "middle"))
        return found


def _number(value: float, largest: float, box: Sequence[float], layer: int) -> list[tuple[Any, ...]]:
    """The colour of a cell, and its number if there is room."""
    left, top, size, _ = box
    share = round(palette.TINT * min(1.0, abs(value) / largest), 3)
    shapes: list[tuple[Any, ...]] = []
    if share:
        sign = "above" if value > 0 else "below"
        shapes.append((layer, "rect", left + 0.5, top + 0.5, size - 1, size - 1, sign, share, None, 0, ""))
    text = f"{value:.3g}".replace("-", "−")
    points = min(0.46 * size, (size - 2) / (0.62 * len(text)))
    if points >= 5.5:
        middle = (left + size / 2, top + size / 2 + 0.36 * points)
        shapes.append((layer, "text", *middle, round(points, 1), text, "ink", "", "middle"))
    return shapes


# ---------------------------------------------------------------------------------------------
# SVG
# ---------------------------------------------------------------------------------------------


def to_svg(film: Film, title: str) -> str:
    """Return a film as an SVG that is animated without scripts."""
    shown: dict[tuple[Any, ...], list[int]] = {}
    for number, frame in enumerate(film.frames):
        for shape in film.shapes(frame):
            shown.setdefault(shape, []).append(number)
    starts = np.cumsum([0, *(frame.milliseconds for frame in film.frames)])
    groups: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    for shape, numbers in shown.items():
        groups.setdefault((shape[0], tuple(numbers)), []).append(_element(shape))
    always = tuple(range(len(film.frames)))
    rules, body = [], []
    for number, ((_, numbers), elements) in enumerate(sorted(groups.items())):
        text = "".join(elements)
        if numbers == always:
            body.append(f"<g>{text}</g>")
            continue
        last = ' class="l"' if numbers[-1] == always[-1] else ""
        steps = ["0%{visibility:hidden}"] if numbers[0] else []
        for i in numbers:
            if i - 1 not in numbers:
                steps.append(f"{100 * starts[i] / starts[-1]:.2f}%{{visibility:visible}}")
            if i + 1 not in numbers and i != always[-1]:
                steps.append(f"{100 * starts[i + 1] / starts[-1]:.2f}%{{visibility:hidden}}")
        rules.append(f"@keyframes k{number}{{{''.join(steps)}}}#g{number}{{animation-name:k{number}}}")
        body.append(f'<g id="g{number}"{last} visibility="{"visible" if last else "hidden"}">{text}</g>')
    still = "@media (prefers-reduced-motion:reduce){g[id]{animation-name:none!important}}"
    style = f"g[id]{{animation:{starts[-1]}ms step-end infinite}}{''.join(rules)}{still}"
    size = f'width="{WIDTH}" height="{film.height}" viewBox="0 0 {WIDTH} {film.height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="DejaVu Sans, system-ui, sans-serif">'
        f"<title>{escape(title)}</title><style>{style}</style>"
        f'<rect width="100%" height="100%" fill="{_LIGHT["paper"]}"/>{"".join(body)}</svg>\n'
    )


def _element(shape: tuple[Any, ...]) -> str:
    """Return a shape as an element of an SVG."""
    _, what, *rest = shape
    if what == "text":
        x, y, size, text, colour, weight, anchor = rest
        bold = ' font-weight="600"' if weight else ""
        place = f'x="{x:g}" y="{y:.5g}" font-size="{size:g}"'
        return f'<text {place} text-anchor="{anchor}" fill="{_LIGHT[colour]}"{bold}>{escape(text)}</text>'
    x, y, width, height, fill, share, stroke, line, dashes = rest
    looks = f'fill="{_LIGHT[fill]}"' if fill else 'fill="none"'
    looks += f' fill-opacity="{share:g}"' if fill and share < 1 else ""
    looks += f' stroke="{_LIGHT[stroke]}" stroke-width="{line:g}"' if stroke else ""
    looks += f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'<rect x="{x:.5g}" y="{y:.5g}" width="{width:.5g}" height="{height:.5g}" {looks}/>'


# ---------------------------------------------------------------------------------------------
# GIF
# ---------------------------------------------------------------------------------------------

_FINE = 3  # dots for a pixel, before the picture is made smaller


def to_gif(film: Film) -> bytes:
    """Return a film as an animated GIF."""
    from PIL import Image

    pictures = [_picture(film, frame) for frame in film.frames]
    whole = Image.new("RGB", (WIDTH, film.height * len(pictures)))
    for number, picture in enumerate(pictures):
        whole.paste(picture, (0, number * film.height))
    colours = whole.quantize(64, dither=Image.Dither.NONE)  # one palette for all frames
    first, *rest = (picture.quantize(palette=colours, dither=Image.Dither.NONE) for picture in pictures)
    written = BytesIO()
    times = [frame.milliseconds for frame in film.frames]
    options = {"save_all": True, "duration": times, "loop": 0, "optimize": True, "disposal": 1}
    first.save(written, "GIF", append_images=rest, **options)
    return written.getvalue()


def _picture(film: Film, frame: Frame) -> Any:
    """Draw one frame in dots."""
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (WIDTH * _FINE, film.height * _FINE), _LIGHT["paper"])
    pen = ImageDraw.Draw(image)
    for _, what, *rest in film.shapes(frame):
        if what == "text":
            x, y, size, text, colour, weight, anchor = rest
            at, letters = {"start": "ls", "middle": "ms"}[anchor], _font(round(size * _FINE), bool(weight))
            pen.text((x * _FINE, y * _FINE), text, _LIGHT[colour], letters, at)
            continue
        x, y, width, height, fill, share, stroke, line, dashes = rest
        left, top, right, bottom = (round(v * _FINE) for v in (x, y, x + width, y + height))
        ground = palette.mixed(_LIGHT[fill], _LIGHT["paper"], share) if fill else None
        if ground:
            pen.rectangle((left, top, right, bottom), ground)
        if stroke and not dashes:
            half = line * _FINE / 2
            pen.rectangle(
                (left - half, top - half, right + half, bottom + half), None, _LIGHT[stroke], round(2 * half)
            )
        elif stroke:
            _dashed(pen, (left, top, right, bottom), _LIGHT[stroke], round(line * _FINE), dashes)
    return image.resize((WIDTH, film.height), Image.Resampling.LANCZOS)


def _dashed(pen: Any, box: Sequence[int], colour: str, line: int, dashes: str) -> None:
    on, off = (int(part) * _FINE for part in dashes.split())
    left, top, right, bottom = box
    for start in range(left, right, on + off):
        for y in (top, bottom):
            pen.line((start, y, min(right, start + on), y), colour, line)
    for start in range(top, bottom, on + off):
        for x in (left, right):
            pen.line((x, start, x, min(bottom, start + on)), colour, line)


def _font(size: int, bold: bool) -> Any:
    """Return matplotlib's font, which has the signs that are needed."""
    from matplotlib import get_data_path
    from PIL import ImageFont

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(f"{get_data_path()}/fonts/ttf/{name}", size)
