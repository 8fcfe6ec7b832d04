"""``python -m teachconv graph``: the graph runtime; where an op is executed, and how ops are defined."""

from __future__ import annotations

import argparse

from ..tables import Table
from .output import show
from .parsing import Parser, add_commands

__all__ = ["COMMANDS", "add_arguments"]

COMMANDS = {
    "find-source": "from a public function to the loops, with file and line",
    "ops": "the op definitions",
}


def add_arguments(parser: Parser) -> None:
    """Add the commands of this command."""
    add_commands(parser, COMMANDS, _fill)


def _fill(name: str, parser: Parser) -> None:
    if name == "find-source":
        parser.add_argument("name", help="conv2d_transpose, conv2d_backprop_input, Conv2DBackpropInput, ...")
        parser.add_argument("--all", action="store_true", help="every step and line, of every backend")
    else:
        parser.add_argument("name", nargs="?", help="one op; without it, all")
    parser.set_defaults(run={"find-source": _find_source, "ops": _ops}[name])


def _find_source(args: argparse.Namespace) -> int:
    from ..graph.find_source import find_source

    chain = find_source(args.name)
    show(chain.all if args.all else chain)
    return 0


def _ops(args: argparse.Namespace) -> int:
    from ..graph import core_ops  # noqa: F401  (fills the registry)
    from ..graph.framework.op_def import REGISTRY, get_op_def

    chosen = list(REGISTRY.values()) if args.name is None else [get_op_def(args.name)]
    show(Table((), [], lines="\n\n".join(map(str, chosen)).split("\n")))
    return 0
