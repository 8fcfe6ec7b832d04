"""``python -m teachconv demo``: a photograph through an edge filter at stride 2, and back by the transpose.

Prints the geometry with its numbers, one cell explained, the trace, and the diff of all backends; writes a
page with the pictures.
"""

from __future__ import annotations

import argparse
import base64
from html import escape
from typing import Any

import numpy as np

from ..core.geometry import conv2d_geometry, conv2d_transpose_geometry
from ..data import photo
from ..explorer import explore
from ..explorer.digits import draw_a_digit
from ..inspection.explaining import explain
from ..inspection.images import png
from ..inspection.tracing import trace
from ..running.nn_ops import conv2d, conv2d_transpose
from ..support.files import path_of
from ..support.tables import count
from ..verification.diffing import diff
from .output import show

CELL = (0, 28, 41, 0)  # on the rim of the cat's left eye


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add where the page goes."""
    parser.add_argument(
        "-o", "--output", default="teachconv-demo.html", help="the page to write (default: %(default)s)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the demo, print what it does, write its page; the exit status says whether every backend passed."""
    output, image = path_of(arguments.output, "--output"), photo()
    gray = image.astype(np.float32).mean(axis=2).reshape(1, *image.shape[:2], 1)  # [1, 150, 225, 1]
    sobel = _sobel()
    edge_call: tuple[Any, ...] = (gray, sobel, 2, "SAME")
    geometry = conv2d_geometry(gray.shape, sobel.shape, 2, "SAME")
    traced = trace(conv2d, *edge_call)  # the first call of the process: it loads the backend
    edges = traced.result  # [1, 75, 113, 2]: how much rows and columns change
    strength = np.sqrt((edges**2).sum(axis=3, keepdims=True))
    bilinear = _bilinear()
    back_call = (strength, bilinear, gray.shape, 2)
    back_geometry = conv2d_transpose_geometry(strength.shape, bilinear.shape, gray.shape, 2)
    back_traced = trace(conv2d_transpose, *back_call)
    upsampled = back_traced.result

    explained = explain(conv2d, *edge_call, at=CELL)
    corner = explain(conv2d, *edge_call, at=(0, 74, 112, 0))
    back = explain(conv2d_transpose, *back_call, at=(0, 78, 120, 0))
    report, back_report = diff(conv2d, *edge_call), diff(conv2d_transpose, *back_call)

    _show("1. The geometry: an edge filter (Sobel) at stride 2, SAME", geometry)
    _show("2. One output cell, explained tap by tap", explained)
    _show("3. The trace: where conv2d is executed", traced)
    _show("4. Back up: conv2d_transpose with a bilinear filter", back_geometry)
    _show("5. Every backend and algorithm against the reference", report)
    _show("6. The same for the transposed convolution", back_report)

    pictures = [
        ("the photograph (CC0, Stefan van der Walt)", image),
        ("conv2d, Sobel, stride 2: strength of edges", _bytes(strength[0, :, :, 0])),
        ("conv2d_transpose, bilinear, back to the size of the photograph", _bytes(upsampled[0, :, :, 0])),
    ]
    sections = [
        ("A whole network: draw a digit, and ask why", draw_a_digit()._repr_html_()),
        (
            "One output cell and every window around it, to play with",
            explore(conv2d, *edge_call, at=CELL)._repr_html_(),
        ),
        ("What conv2d was asked for, and what follows", geometry._repr_html_()),
        ("That cell: every product of its sum", explained._repr_html_()),
        (f"The last cell: SAME padded {_sides(geometry.padding)}", corner._repr_html_()),
        ("Where it was executed", traced._repr_html_()),
        ("The way back: conv2d_transpose", back_geometry._repr_html_() + back._repr_html_()),
        ("Where that was executed", back_traced._repr_html_()),
        ("Every backend against the reference: conv2d", report._repr_html_()),
        ("... and conv2d_transpose", back_report._repr_html_()),
    ]
    output.write_text(_page(pictures, sections), encoding="utf-8")
    show(f"The pictures are in {output.resolve()}")
    return 0 if report.passed and back_report.passed else 1


def _sobel() -> np.ndarray:
    """Two filters, [3, 3, 1, 2]: change along the columns, and along the rows."""
    horizontal = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32)
    return np.stack([horizontal, horizontal.T], axis=-1).reshape(3, 3, 1, 2)


def _bilinear() -> np.ndarray:
    """The 4 x 4 filter that interpolates linearly when its transpose is applied at stride 2."""
    ramp = np.array([0.25, 0.75, 0.75, 0.25], np.float32)
    return np.outer(ramp, ramp).reshape(4, 4, 1, 1)


def _show(title: str, *things: object) -> None:
    show(f"{title}\n{'-' * len(title)}", *things, "")


def _sides(padding: tuple[tuple[int, int], ...]) -> str:
    """The padding in words."""
    (top, bottom), (left, right) = padding
    rows = f"{count(top, 'row')} above and {count(bottom, 'row')} below"
    return f"{rows}, {count(left, 'column')} at the left and {count(right, 'column')} at the right"


def _bytes(plane: np.ndarray) -> np.ndarray:
    return np.asarray((255 * plane / plane.max()).clip(0, 255).astype(np.uint8))


_STYLE = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem }
pre, code { font-size: .85rem; white-space: pre-wrap }
table { border-collapse: collapse; margin: .8em 0; font-size: .9rem; display: block; overflow-x: auto }
td, th { padding: .15em .7em; border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent) }
caption { text-align: left; font-weight: bold; padding-bottom: .3em }
figure { display: inline-block; width: calc(100% / 3 - .9rem); margin: 0 .8rem 1rem 0; vertical-align: top }
figcaption { font-size: .85rem }
img { width: 100%; image-rendering: pixelated; display: block }
div:has(> .tc-picture) { overflow-x: auto }
.tc-picture { max-width: max(100%, 60rem) !important }
@media (max-width: 30rem) {
  figure { display: grid; grid-template-columns: 1fr 1fr; gap: .8rem; width: auto; margin-right: 0 }
  table { font-size: .7rem }
  td, th { padding: .15em .3em }
  caption { position: sticky; left: 0; max-width: calc(100vw - 2rem) }
}
"""


def _page(pictures: list[tuple[str, np.ndarray]], sections: list[tuple[str, str]]) -> str:
    figures = "".join(
        f"<figure><img alt='{escape(caption)}' src='data:image/png;base64,"
        f"{base64.b64encode(png(image)).decode()}'><figcaption>{escape(caption)}, "
        f"{image.shape[0]} x {image.shape[1]}</figcaption></figure>"
        for caption, image in pictures
    )
    # on a phone tables and pictures scroll, which the keyboard has to reach
    tables = (
        html.replace("<table", "<table tabindex='0'").replace("<div><svg", "<div tabindex='0'><svg")
        for _, html in sections
    )
    body = "".join(
        f"<h2>{escape(title)}</h2>{html}" for (title, _), html in zip(sections, tables, strict=True)
    )
    return (
        "<!DOCTYPE html><html lang='en'><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>teachconv: one photograph, two convolutions</title><style>{_STYLE}</style>"
        f"<main><h1>One photograph, two convolutions</h1>{figures}{body}</main></html>"
    )
