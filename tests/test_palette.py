"""The palette: contrast, the colour-blind, and that every picture takes its colours from it."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.explorer.page import style
from teachconv.support import palette

PACKAGE = Path(tc.__file__).parent
LIGHT, DARK = ({name: colour[i] for name, colour in palette.COLOURS.items()} for i in (0, 1))


def contrast(one, other):
    low, high = sorted(map(palette.luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_a_contrast_of_4_5_and_rings_of_3(colours):
    grounds = [colours["paper"], colours["soft"]]
    tinted = [palette.mixed(colours[name], colours["paper"], palette.TINT) for name in ("above", "below")]
    for ground in grounds:
        for name in ("ink", "faint", "ring", "filter", "mark"):
            assert contrast(colours[name], ground) >= 4.5, (name, ground)
    for ground in tinted:
        assert contrast(colours["ink"], ground) >= 4.5
        for name in ("ring", "filter", "mark"):
            assert contrast(colours[name], ground) >= 3, (name, ground)


# Machado, Oliveira and Fernandes 2009, severity 1: what the colour-blind see, on linear RGB
BLIND = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def seen(colour, matrix):
    """A colour as Oklab, seen through a matrix."""
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    linear = np.clip(np.array(matrix) @ linear, 0, 1)
    to_lms = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    to_lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return to_lab @ np.cbrt(to_lms @ linear)


@pytest.mark.parametrize("kind", BLIND)
@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_the_colour_blind_can_tell_them_apart(colours, kind):
    """A distance of 0.05 in Oklab is seen at once; 0.02 is just seen."""
    matrix = BLIND[kind]
    for pair in (("above", "below"), *combinations(("ring", "mark", "faint"), 2), ("filter", "mark")):
        one, other = (seen(colours[name], matrix) for name in pair)
        assert np.linalg.norm(one - other) >= 0.05, pair


def test_the_style_sheet_has_the_palettes_colours():
    found = dict(re.findall(r"--(\w+): light-dark\((#\w+, #\w+)\)", style()))
    assert found == {name: ", ".join(colour) for name, colour in palette.COLOURS.items()}


def test_no_other_module_has_colours_of_its_own():
    # a photograph's ends, and the ring on it
    own = {
        "explorer.css": {"#fff", "#111", "#0b5c96"},
        "channels.js": {"#fff", "#111"},
    }
    for path in PACKAGE.rglob("*"):
        if path.suffix not in (".py", ".css", ".js") or path.name == "palette.py":
            continue
        found = set(
            re.findall(r"#(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b(?=[\"' ;,)])", path.read_text(encoding="utf-8"))
        )
        assert found <= own.get(path.name, set()), path


def test_an_svg_has_the_light_values_and_a_rule_for_each_dark_one():
    assert len({colour.light for colour in palette.COLOURS.values()}) == len(palette.COLOURS)
    x, w = np.arange(50, dtype="float32").reshape(1, 5, 5, 2), np.ones((3, 3, 2, 1), "float32")
    pictures = [tc.explain(tc.conv2d, x, w, 2, "SAME", at=(0, 0, 0, 0)).picture()]
    for svg in pictures:
        body = svg[svg.index("</style>") :]
        found = set(re.findall(r'(?:fill|stroke)="(#\w+)"', body))
        assert found <= set(LIGHT.values())
        assert LIGHT["paper"] in found
        assert len(found) >= 2
        for colour in found:
            assert f'[fill="{colour}"]{{fill:light-dark({colour},' in svg
