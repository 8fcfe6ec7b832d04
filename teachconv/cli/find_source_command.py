"""``python -m teachconv find-source``: from a public function to the loops that ran, with file and line."""

from __future__ import annotations

import argparse

from ..graph import Graph, Variable, placeholder
from ..graph.common_runtime.run_steps import Part
from ..graph.find_source import is_dialects, meant
from ..inspection.sources import find_source
from .call_arguments import ARRAYS, OPS, add_call_options, add_options, read_call, refuse_call
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the op, the call, and the choice of what runs it."""
    help = (
        "conv2d, tf.nn.conv2d, gen_nn_ops.conv2d, Conv2D, torch.conv2d, Session.run, executor; or a question"
    )
    parser.add_argument("op", help=help)
    parser.add_argument(
        "--all", action="store_true", help="every step and line, of every backend and algorithm"
    )
    add_call_options(parser)
    add_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the chain of one call, or of an op on all backends.

    With a part of the runtime, such as Session.run, the call is a node of a graph that a session runs.
    """
    op = meant(arguments.op)
    if all(getattr(arguments, name) is None for name in ARRAYS):
        refuse_call(arguments, "give its arrays, such as --input 1,8,8,1")
        chain = find_source(arguments.op)
    elif isinstance(op, Part):
        arguments.op = "conv2d"
        op, (images, filters), kwargs = read_call(arguments)
        with Graph().as_default():
            x = placeholder(images.dtype, images.shape)
            chain = find_source(op(x, Variable(filters), **kwargs), feed_dict={x: images})
    else:
        arguments.op = getattr(op, "__name__", "")
        if is_dialects(op) or arguments.op not in OPS:
            raise ValueError(
                f"a call is for {', '.join(OPS)}; a dialect's function is listed by its name alone"
            )
        op, args, kwargs = read_call(arguments)
        chain = find_source(op, *args, **kwargs)
    show(chain.all if arguments.all else chain)
