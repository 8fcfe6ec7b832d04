"""The command line of the graph runtime: ``python -m teachconv graph {find-source,ops,photo,digits}``.

Errors are raised; the program in front of this (cli.py) prints them.
"""

from __future__ import annotations

import argparse
from typing import Any

from .. import backends

__all__ = ["add_commands"]


def add_commands(subparsers: Any) -> None:
    """Add ``graph`` and its own commands to the parser of the whole program."""
    about = "the graph runtime: where an op is executed, and networks with their log"
    graph = subparsers.add_parser("graph", help=about, description=about)
    commands = graph.add_subparsers(required=True, metavar="COMMAND")

    find = commands.add_parser("find-source", help="from a public function to the loops, with file and line")
    find.add_argument("name", help="conv2d_transpose, conv2d_backprop_input, Conv2DBackpropInput, ...")
    find.set_defaults(run=_find_source)

    ops = commands.add_parser("ops", help="the op definitions")
    ops.add_argument("name", nargs="?", help="one op; without it, all")
    ops.set_defaults(run=_ops)

    photo = commands.add_parser("photo", help="fixed filters on the shipped photograph, with the log")
    photo.add_argument("--html", metavar="FILE", help="write pictures, log and graph to a page")
    photo.set_defaults(run=_photo)
    digits = commands.add_parser("digits", help="a trained LeNet-shaped network on 100 digits, with the log")
    digits.add_argument("--html", metavar="FILE", help="write the log and the graph to a page")
    digits.set_defaults(run=_digits)
    for parser in (photo, digits):
        parser.add_argument("--backend", default="", help=f"one of {', '.join(backends.TABLE)}")
        parser.add_argument("--threads", type=int, default=0, help="how many nodes at once (0: choose)")
        parser.add_argument("--no-optimize", action="store_true", help="run the graph as it was built")
        parser.add_argument("--chrome-trace", metavar="FILE", help="write a file for chrome://tracing")
        parser.add_argument("--tree", action="store_true", help="print the graph before and after, as text")


def _find_source(args: argparse.Namespace) -> int:
    from ..graph.find_source import find_source

    print(find_source(args.name))
    return 0


def _ops(args: argparse.Namespace) -> int:
    from ..graph import core_ops  # noqa: F401  (fills the registry)
    from ..graph.op_def import REGISTRY, get_op_def

    chosen = list(REGISTRY.values()) if args.name is None else [get_op_def(args.name)]
    print("\n\n".join(str(op_def) for op_def in chosen))
    return 0


def _photo(args: argparse.Namespace) -> int:
    from ..graph import photo_network

    result = photo_network.run(args.backend, _config(args))
    _report(args, result.metadata)
    if args.html:
        result.save_html(args.html)
        print(f"wrote {args.html}")
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
    print(f"{right} of {len(logits)} digits are read rightly; PyTorch's answer is the same for {same}")
    if args.html:
        metadata.save_html(args.html)
        print(f"wrote {args.html}")
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
    print(metadata)
    if args.tree:
        print(f"\n{metadata.before}\n\n{metadata.after}")
    if args.chrome_trace:
        metadata.save_chrome_trace(args.chrome_trace)
        print(f"wrote {args.chrome_trace}")
