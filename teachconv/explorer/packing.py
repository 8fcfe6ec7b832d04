"""A document as the text in a page: JSON, without what the page makes itself with ``law.js``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..inspection.pictures import png
from .page import image_address

__all__ = ["AXIS_BYTES", "dumps", "image_numbers", "nbytes", "packed", "packed_variant"]

AXIS_BYTES = 160  # of an axis in a page
_MOST = 100_000  # bytes of the numbers of an image in a page
_LONGEST = 16_000  # pixels in a line or a column that every browser draws
_TABLES = ("gather", "scatter", "in", "out", "inserted", "windows")  # of an axis; the page makes them
_TEXTS = ("facts", "code")  # of a variant; the page makes them if it knows the function


def packed(data: dict[str, Any]) -> dict[str, Any]:
    """Return a document without the tables of its axes and the texts of its variants.

    An axis keeps its integers, the ranges of its indices on the page, and the numbers of its formulas in
    ``lines``.
    """
    numbers = {line: number for number, line in enumerate(data["call"]["lines"])}
    axes = []
    for axis in data["call"]["axes"]:
        kept = {name: value for name, value in axis.items() if name not in _TABLES}
        ranges = {"ins": _range_of(axis["scatter"]), "outs": _range_of(axis["gather"])}
        axes.append(kept | ranges | {"formulas": [numbers[line] for line in axis["formulas"]]})
    table = {key: packed_variant(made) for key, made in data["variants"]["table"].items()}
    variants = data["variants"] | {"table": table}
    return data | {"call": data["call"] | {"axes": axes}, "variants": variants}


def packed_variant(made: dict[str, Any]) -> dict[str, Any]:
    """Return a variant without the texts that the page makes."""
    return {k: v for k, v in made.items() if k not in _TEXTS} if "call" in made else made


def _range_of(table: Mapping[int, Any]) -> list[int]:
    """Return the first index of a table, and the one after its last."""
    return [min(table), max(table) + 1] if table else [0, 0]


def image_numbers(image: np.ndarray) -> dict[str, Any] | None:
    """Return all numbers of an image, [rows, cols, channels], as a PNG; None if that takes too many bytes.

    Its lines are those of the first channel, then those of the second one, and so on. Numbers from 0 to 255,
    or these divided by 255, are one byte each: ``scale`` is 1 or 255. Of other floats the PNG has the first
    byte of all numbers, then the second one, and so on: ``scale`` is None.
    """
    planes = np.moveaxis(image, 2, 0)
    scale = next((scale for scale in (1, 255) if _is_in_bytes(image, scale)), None)
    if scale is not None:
        written = np.rint(planes * scale).astype(np.uint8)
    elif image.dtype in (np.float32, np.float64):
        numbers = np.ascontiguousarray(planes, image.dtype.newbyteorder("<"))
        written = np.moveaxis(numbers[..., None].view(np.uint8), -1, 0)
    else:
        return None
    lines = written.reshape(-1, image.shape[1])
    found = png(lines) if max(lines.shape) <= _LONGEST else b""
    if not 0 < len(found) <= _MOST:
        return None
    return {"image": image_address(found), "scale": scale, "shape": list(image.shape)}


def _is_in_bytes(image: np.ndarray, scale: int) -> bool:
    """Whether the numbers of an image are 0 to 255, divided by ``scale`` in its own type."""
    if image.dtype.kind in "iu" and scale > 1:
        return False
    if not ((image >= 0) & (image <= 255 / scale)).all():  # NaN is not
        return False
    return bool((np.rint(image * scale).astype(image.dtype) / image.dtype.type(scale) == image).all())


def dumps(value: Any) -> str:
    """Return JSON text without spaces that is safe inside a script element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def nbytes(value: Any) -> int:
    """Return how many bytes of a page a value takes as JSON."""
    return len(dumps(value).encode())
