"""``python -m teachconv graph``: the graph runtime; where an op is executed, and networks with their log."""

from __future__ import annotations

import argparse
from typing import Any

from ..backends import TABLE
from .output import show
from .parsing import Parser, add_commands

__all__ = ["COMMANDS", "add_arguments"]

COMMANDS = {
    "find-source": "from a public function to the loops, with file and line",
    "ops": "the op definitions",
    "photo": "fixed filters on the shipped photograph, with the log",
    "digits": "a trained LeNet-shaped network on 100 digits, with the log",
}


def add_arguments(parser: Parser) -> None:
    """Add the commands of this command."""
    add_commands(parser, COMMANDS, _fill)


def _fill(name: str, parser: Parser) -> None:
    if name == "find-source":
        parser.add_argument("name", help="conv2d_transpose, conv2d_backprop_input, Conv2DBackpropInput, ...")
    elif name == "ops":
        parser.add_argument("name", nargs="?", help="one op; without it, all")
    else:
        parser.add_argument("--html", metavar="FILE", help="write the log and the graph to a page")
        parser.add_argument("--backend", default="", help=f"one of {', '.join(TABLE)}")
        parser.add_argument("--threads", type=int, default=0, help="how many nodes at once (0: choose)")
        parser.add_argument("--no-optimize", action="store_true", help="run the graph as it was built")
        parser.add_argument("--chrome-trace", metavar="FILE", help="write a file for chrome://tracing")
        parser.add_argument("--tree", action="store_true", help="print the graph before and after, as text")
    runs = {"find-source": _find_source, "ops": _ops, "photo": _photo, "digits": _digits}
    parser.set_defaults(run=runs[name])


def _find_source(args: argparse.Namespace) -> int:
    from ..graph.find_source import find_source

    show(find_source(args.name))
    return 0


def _ops(args: argparse.Namespace) -> int:
    from ..graph import core_ops  # noqa: F401  (fills the registry)
    from ..graph.op_def import REGISTRY, get_op_def

    chosen = list(REGISTRY.values()) if args.name is None else [get_op_def(args.name)]
    show("\n\n".join(map(str, chosen)))
    return 0


def _photo(args: argparse.Namespace) -> int:
    from ..graph import photo_network

    result = photo_network.run(args.backend, _config(args))
    _report(args, result.metadata)
    if args.html:
        result.save_html(args.html)
        show(f"wrote {args.html}")
    return 0


def _digits(args: argparse.Namespace) -> int:
    from ..data import digits
    from ..graph import digits_network
    from ..graph.run_metadata import RunMetadata

    metadata = RunMetadata()
    logits = digits_network.run(args.backend, _config(args), metadata)
    _report(args, metadata)
    data = digits()
    right = int((logits.argmax(axis=1) == data["labels"]).sum())
    same = int((logits.argmax(axis=1) == data["logits"].argmax(axis=1)).sum())
    show(f"{right} of {len(logits)} digits are read rightly; PyTorch's answer is the same for {same}")
    if args.html:
        metadata.save_html(args.html)
        show(f"wrote {args.html}")
    return 0


def _config(args: argparse.Namespace) -> Any:
    from ..graph.config import ConfigProto

    on = not args.no_optimize
    return ConfigProto(
        constant_folding=on,
        common_subexpression_elimination=on,
        remapping=on,
        inter_op_parallelism_threads=args.threads,
        backend=args.backend,
    )


def _report(args: argparse.Namespace, metadata: Any) -> None:
    show(metadata)
    if args.tree:
        show("", metadata.before, "", metadata.after)
    if args.chrome_trace:
        metadata.save_chrome_trace(args.chrome_trace)
        show(f"wrote {args.chrome_trace}")
