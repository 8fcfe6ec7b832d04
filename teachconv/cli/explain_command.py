"""``python -m teachconv explain``: every tap of one cell, or the tile of Winograd's that has it."""

from __future__ import annotations

import argparse

from ..core.arguments import listed
from ..inspection.explaining import explain
from ..inspection.winograd_tile import ALGORITHMS
from .call_arguments import add_call, numbers, read_call
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the call and the cell."""
    add_call(parser)
    parser.add_argument("--at", type=numbers, help="n,row,col,channel of an output cell; so for another rank")
    parser.add_argument("--at-input", type=numbers, help="n,row,col,channel of an input cell")
    parser.add_argument("--algorithm", help=f"{listed(ALGORITHMS, 'or')}: the steps of the cell's tile")


def run(arguments: argparse.Namespace) -> None:
    """Print one cell explained."""
    op, args, kwargs = read_call(arguments)
    where = {"at": arguments.at, "at_input": arguments.at_input}
    if arguments.at is None and arguments.at_input is None:
        where["at"] = (0,) * len(getattr(args[0], "shape", args[0]))  # as many as the op's first array has
    show(explain(op, *args, **where, **kwargs))
