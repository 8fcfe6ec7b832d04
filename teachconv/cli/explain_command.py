"""``python -m teachconv explain``: every tap of one cell."""

from __future__ import annotations

import argparse

from ..files import path_of
from ..inspection.explaining import explain
from .call_arguments import add_call, add_json, numbers, read_call
from .output import show, show_json

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the call, the cell, and where to write its picture."""
    add_call(parser)
    parser.add_argument("--at", type=numbers, help="n,row,col,channel of an output cell")
    parser.add_argument("--at-input", type=numbers, help="n,row,col,channel of an input cell")
    parser.add_argument("--svg", metavar="FILE", help="write the picture of the cell to FILE")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one cell explained."""
    op, args, kwargs = read_call(arguments)
    where = {"at": arguments.at, "at_input": arguments.at_input}
    if arguments.at is None and arguments.at_input is None:
        where["at"] = (0, 0, 0, 0)
    explained = explain(op, *args, **where, **kwargs)
    if arguments.svg is not None:
        path_of(arguments.svg, "--svg").write_text(explained.picture(), encoding="utf-8")
    if arguments.json:
        keys = ("op", "cell", "inverse", "value", "bias")
        show_json({key: getattr(explained, key) for key in keys} | {"taps": list(explained.taps)})
    else:
        show(explained)
    return 0
