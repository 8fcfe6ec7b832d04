"""``python -m teachconv find-source``: from a public function to the loops that ran, with file and line."""

from __future__ import annotations

import argparse

from ..inspection.sources import find_op, find_source
from .call_arguments import OPS, add_call_options, add_json, add_options, read_call, refuse_call
from .output import show, show_json

__all__ = ["add_arguments"]

_CALL = ("input", "filters", "out_backprop", "input_sizes", "filter_sizes")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the op, the call, and the choice of what runs it."""
    parser.add_argument("op", help="conv2d, tf.nn.conv2d, torch.conv2d, ...; alone, it lists all algorithms")
    add_call_options(parser)
    add_options(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the chain of one call, or of an op on all backends."""
    op = find_op(arguments.op)
    if all(getattr(arguments, name) is None for name in _CALL):
        refuse_call(arguments, "give its arrays, such as --input 1,8,8,1")
        chain = find_source(op)
    else:
        arguments.op = {function: name for name, function in OPS.items()}.get(op)
        if arguments.op is None:
            raise ValueError(
                f"a call is for {', '.join(OPS)}; a dialect's function is listed by its name alone"
            )
        op, args, kwargs = read_call(arguments)
        chain = find_source(op, *args, **kwargs)
    (show_json if arguments.json else show)(chain)
    return 0
