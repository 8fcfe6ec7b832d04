"""``python -m teachconv bench``: every algorithm of every backend on one call."""

from __future__ import annotations

import argparse

from ..tuning import autotune
from .call_arguments import add_backends, add_call, read_call
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the call, and how it is timed."""
    add_call(parser)
    add_backends(parser)
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (default: %(default)s)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=2.0,
        help="time limit; what would exceed it is estimated from a part of the call (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> None:
    """Print how fast each algorithm is on one call, as a bar chart."""
    op, args, kwargs = read_call(arguments)
    limits = {"rounds": arguments.rounds, "seconds": arguments.seconds}
    report = autotune(op, *args, backends=arguments.backends, **limits, **kwargs)
    show(report)
