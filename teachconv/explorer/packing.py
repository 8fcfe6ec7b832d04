"""A document as the text in a page: JSON, without what the page makes itself with ``law.js``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["AXIS_BYTES", "dumps", "nbytes", "packed", "packed_variant"]

AXIS_BYTES = 160  # of an axis in a page
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


def dumps(value: Any) -> str:
    """Return JSON text without spaces that is safe inside a script element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def nbytes(value: Any) -> int:
    """Return how many bytes of a page a value takes as JSON."""
    return len(dumps(value).encode())
