"""The colours of every picture: the explorer's page, `explain`, `tc.plot`, graphs and timelines.

Each colour has a value for light and one for dark pages; text keeps a contrast of 4.5 on its ground. The hues
are those of Okabe and Ito's set for the colour-blind, blue, vermilion and green, and orange for negative
numbers. All pictures draw the same marks, none by its colour alone:

- the window: a ring in each of its cells, "ring" on what is read, "filter" on what it is multiplied by. A
  dilation leaves the cells between its taps without a ring;
- the cell that is explained: a heavy frame in "mark";
- padding: a dashed "faint" border; a tap in the padding: a dashed ring;
- a cell that is cropped away: faint, with a line across.

Numbers have one diverging scale, symmetric around zero: "below" and "above", over "paper".
"""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """One colour: its value on a light page, and on a dark one."""

    light: str
    dark: str


COLOURS = {
    "paper": Colour("#fdfdfc", "#16181c"),  # the ground of a picture
    "soft": Colour("#f3f3f0", "#20232a"),  # the background of a group
    "ink": Colour("#1c2025", "#e8e8e4"),  # text
    "faint": Colour("#63686f", "#a2a7b0"),  # text of lesser importance, and padding
    "line": Colour("#d9d9d4", "#3a3f48"),  # the borders of cells
    "above": Colour("#3b7fb6", "#3f86bd"),  # numbers above zero
    "below": Colour("#d08a2e", "#b5761f"),  # numbers below zero
    "ring": Colour("#0b5c96", "#7cc4f5"),  # the window: what is read
    "filter": Colour("#00694f", "#4fd0a5"),  # what it is multiplied by
    "mark": Colour("#b54206", "#ff9a52"),  # the cell that is explained, and what differs
}

# the share of its colour that the cell of the largest number has; the rest is paper
TINT = 0.45

# how the pages around a picture say that they are light or dark: JupyterLab, Sphinx themes such as Furo,
# Bootstrap, VS Code, Colab. VS Code's light high contrast has both of its classes.
_DARK = (
    '[data-jp-theme-light="false"], [data-theme="dark"], [data-bs-theme="dark"], [theme="dark"], '
    ".vscode-dark, .vscode-high-contrast"
)
_LIGHT = (
    '[data-jp-theme-light="true"], [data-theme="light"], [data-bs-theme="light"], [theme="light"], '
    ".vscode-light, .vscode-high-contrast-light"
)


def scheme_rules(selector: str) -> str:
    """Return CSS by which what is selected follows the theme of the page around it, or else the system's.

    >>> scheme_rules(".picture").split("\\n")[0]
    '.picture { color-scheme: light dark }'
    """
    dark, light = (f"{selector}:is({signs}, :is({signs}) *)" for signs in (_DARK, _LIGHT))
    return (
        f"{selector} {{ color-scheme: light dark }}\n"
        f"{dark} {{ color-scheme: dark }}\n"
        f"{light} {{ color-scheme: light }}\n"
    )


def css(selector: str) -> str:
    """Return CSS that defines the colours as variables of what is selected."""
    names = "".join(f"  --{name}: light-dark({light}, {dark});\n" for name, (light, dark) in COLOURS.items())
    return f"{selector} {{\n{names}  --tinted: {TINT:.0%};\n}}\n"


def svg_style() -> str:
    """Return the style element of an SVG of class tc-picture, whose attributes have the light values.

    Where CSS does not know light-dark(), the light values hold.
    """
    rules = "".join(
        f'.tc-picture [{what}="{light}"]{{{what}:light-dark({light},{dark})}}'
        for light, dark in COLOURS.values()
        for what in ("fill", "stroke")
    )
    rules += f".tc-picture{{fill:light-dark({','.join(COLOURS['ink'])})}}"
    return f"<style>{scheme_rules('.tc-picture')}{rules}</style>"


def of_ground(ground: str) -> dict[str, str]:
    """Return the colours that go with a ground, given as "#rrggbb": those for light or for dark.

    >>> of_ground("#000000")["ink"], of_ground("#ffffff")["ink"]
    ('#e8e8e4', '#1c2025')
    """
    dark = luminance(ground) < 0.18
    return {name: colour[dark] for name, colour in COLOURS.items()}


def luminance(colour: str) -> float:
    """Return the relative luminance of "#rrggbb", 0 to 1, as WCAG 2 defines it.

    >>> luminance("#ffffff"), luminance("#000000")
    (1.0, 0.0)
    """
    red, green, blue = (
        v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4
        for v in (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def mixed(colour: str, ground: str, share: float) -> str:
    """Return a colour of which ``share`` lies over a ground, as CSS's color-mix in srgb has it.

    >>> mixed("#000000", "#ffffff", 0.2)
    '#cccccc'
    """
    pairs = ((int(colour[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)
