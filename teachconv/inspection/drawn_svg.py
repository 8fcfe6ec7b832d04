"""matplotlib's figures: one that draws an SVG of ``svg.py``, and one that a notebook shows.

A notebook shows matplotlib's own figures only after pyplot has been imported there, which `tc.plot` never
does. This module imports matplotlib, so it is imported where a figure is asked for.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib.artist import Artist
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.textpath import TextPath
from matplotlib.transforms import Affine2D, Bbox, TransformedBbox

from ..support import palette

_LETTERS = 0.92  # matplotlib's font is wider than those of browsers
_INK = palette.COLOURS["ink"].light  # the colour of what says none
_BEFORE = {"start": 0.0, "middle": 0.5, "end": 1.0}  # the share of a text that is before its x


class ShownFigure(Figure):
    """A figure with the method that Jupyter asks for; otherwise matplotlib's."""

    def _repr_svg_(self) -> str:
        """Return the figure as SVG."""
        text = io.StringIO()
        self.savefig(text, format="svg")
        return text.getvalue()


def figure_of(svg: str) -> ShownFigure:
    """Return a figure of a picture, with one point for a pixel."""
    root = ElementTree.fromstring(svg)
    figure = ShownFigure(figsize=(float(root.attrib["width"]) / 72, float(root.attrib["height"]) / 72))
    colours = colours_on(figure)
    figure.set_facecolor(colours["paper"])
    figure.add_artist(_Drawing(root, colours))
    return figure


def dots(figure: Figure, dpi: float) -> np.ndarray:
    """Return a figure as dots, [rows, cols, 3], uint8."""
    figure.set_dpi(dpi)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def colours_on(figure: Any) -> dict[str, str]:
    """Return the palette for the ground of a figure, light or dark."""
    ground = figure.get_facecolor()
    return palette.of_ground(to_hex(ground if ground[3] else "white"))


class _Drawing(Artist):  # type: ignore[misc,unused-ignore]
    """Draws the elements that static pictures have: rect, line, text, g, and svg, which cuts off."""

    def __init__(self, root: ElementTree.Element, colours: dict[str, str]) -> None:
        super().__init__()
        self.root = root
        self.colours = {colour.light: colours[name] for name, colour in palette.COLOURS.items()}

    def draw(self, renderer: Any) -> None:
        """Draw all elements, from the back to the front; the figure has style and ground, the first two."""
        scale = renderer.points_to_pixels(1.0)
        height = scale * float(self.root.attrib["height"])
        self.to_canvas = Affine2D().scale(scale, -scale).translate(0, height)
        for element in self.root[2:]:
            self._draw(renderer, element, None)

    def _draw(self, renderer: Any, element: ElementTree.Element, clip: Any) -> None:
        if element.tag.endswith("}svg"):
            clip = TransformedBbox(_bounds(element), self.to_canvas)
        for part in element:
            self._draw(renderer, part, clip)
        path = outline(element)
        if path is None:
            return
        stroke, fill = element.get("stroke"), element.get("fill", _INK)
        pen = renderer.new_gc()
        pen.set_clip_rectangle(clip)
        pen.set_foreground(self.colours[stroke or _INK])
        pen.set_linewidth(_number(element, "stroke-width", 1.0) if stroke else 0)
        pen.set_joinstyle("miter")
        if dashes := element.get("stroke-dasharray"):
            pen.set_dashes(0, [float(length) for length in dashes.split()])
        opacity = _number(element, "fill-opacity", 1.0)
        face = None if fill == "none" else (*to_rgb(self.colours[fill]), opacity)
        renderer.draw_path(pen, path, self.to_canvas, face)
        pen.restore()


def outline(element: ElementTree.Element) -> Path | None:
    """Return what an element draws, with y downwards: a rectangle, a line or letters; None for a group."""
    tag = element.tag.rpartition("}")[2]
    if tag == "rect":
        return Path(_bounds(element).corners()[[0, 1, 3, 2, 0]], closed=True)
    if tag == "line":
        return Path([[_number(element, f"{axis}{end}") for axis in "xy"] for end in "12"])
    if tag != "text":
        return None
    size, looks = _number(element, "font-size", 11.0), map(element.get, ("font-family", "font-weight"))
    letters, width = _letters(element.text or "", _LETTERS * size, *looks)
    before = _BEFORE[element.get("text-anchor", "middle")] * width
    place = Affine2D().scale(1, -1).translate(_number(element, "x") - before, _number(element, "y"))
    return letters.transformed(place)


@lru_cache(maxsize=1024)
def _letters(words: str, size: float, family: str | None, weight: str | None) -> tuple[Path, float]:
    """Return the letters of a text as a path that begins at 0, and its width; films have many of the same."""
    path = TextPath((0, 0), words, size, FontProperties(family=family, weight=weight))
    return path, float(max(path.vertices[:, 0], default=0.0))


def _number(element: ElementTree.Element, name: str, usual: float = 0.0) -> float:
    return float(element.get(name, usual))


def _bounds(element: ElementTree.Element) -> Bbox:
    return Bbox.from_bounds(*(_number(element, name) for name in ("x", "y", "width", "height")))
