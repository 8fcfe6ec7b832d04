"""Static pictures as SVG text, without any plotting library: its elements, and what all pictures share.

A picture follows the theme of the page around it. Where pixels or a PDF are wanted, matplotlib draws the
same elements: ``drawn_svg.py``.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from ..support.errors import brief
from ..support.files import path_of
from ..support.palette import COLOURS, svg_style

LIGHT = {name: colour.light for name, colour in COLOURS.items()}  # svg_style has the dark values
_DPI = 144  # of a saved image: two dots for a pixel


def element(tag: str, inside: str = "", **attributes: Any) -> str:
    """Return an element of SVG.

    Args:
        tag: its name.
        inside: what it holds, as SVG.
        **attributes: those of SVG, with "_" for "-", and ``mark`` for its class. Numbers have six digits;
            colours are those of the palette, by name; what is "" is left out.

    >>> element("rect", x=1.5, fill="none", stroke_width=2, stroke_dasharray="", mark="frame")
    '<rect x="1.5" fill="none" stroke-width="2" class="frame"/>'
    """
    written = ""
    for name, value in attributes.items():
        text = f"{value:.6g}" if isinstance(value, (int, float)) else LIGHT.get(value, value)
        if text:
            written += f' {"class" if name == "mark" else name.replace("_", "-")}="{escape(text)}"'
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def text(x: float, y: float, words: str, *, size: float = 11, **looks: Any) -> str:
    """Return a text; what is not said is as the picture has it: in the middle around x, in ink."""
    return element("text", escape(words), x=x, y=y, font_size="" if size == 11 else size, **looks)


def picture(width: float, height: float, caption: str, body: str, style: str = "") -> str:
    """Return a whole picture.

    Args:
        width: its width in pixels.
        height: its height.
        caption: what it shows, in words.
        body: its elements.
        style: its size on a page, as CSS; by default it is smaller where there is less room.
    """
    style = style or "max-width:100%;height:auto"
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(caption)}" '
        f'class="tc-picture" {size} style="{style}" font-family="system-ui, sans-serif" font-size="11" '
        f'text-anchor="middle" fill="{LIGHT["ink"]}">{svg_style()}'
        f'<rect width="100%" height="100%" rx="6" fill="{LIGHT["paper"]}"/>{body}</svg>'
    )


@dataclass(frozen=True, repr=False)
class Picture:
    """A static picture, which a notebook shows where it is the last line of a cell.

    Attributes:
        svg: the picture as SVG text, which follows the theme of the page around it.
        caption: what it shows, in words.
    """

    svg: str
    caption: str

    def _repr_svg_(self) -> str:
        return self.svg

    @property
    def figure(self) -> Any:
        """The picture as a figure of matplotlib's; a dark one if matplotlib's style is dark."""
        try:
            from .drawn_svg import figure_of
        except ImportError as error:
            raise ImportError("an image needs the package matplotlib: pip install matplotlib") from error
        return figure_of(self.svg)

    def save(self, path: str | Path) -> Path:
        """Write the picture as one file.

        Args:
            path: where to write it; it ends in .svg, or in .png, .pdf or another format of matplotlib's.

        Returns:
            The path.

        Raises:
            ValueError: if matplotlib does not know the format.
            ImportError: if it is not SVG, without matplotlib.
        """
        path = path_of(path)
        if path.suffix.lower() == ".svg":
            path.write_text(self.svg, encoding="utf-8")
        else:
            self.figure.savefig(path, dpi=_DPI)
        return path

    def __getattr__(self, name: str) -> Any:
        hint = "" if name.startswith("_") else "; save writes a file, and figure is matplotlib's"
        raise AttributeError(f"'Picture' object has no attribute {brief(name)}{hint}", name=name, obj=None)

    def __repr__(self) -> str:
        return f"<Picture: {self.caption}>"
