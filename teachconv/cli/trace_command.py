"""``python -m teachconv trace``: every stage of one call."""

from __future__ import annotations

import argparse

from ..backends import TABLE
from ..inspection.tracing import trace
from .call_arguments import add_call, add_json, read_call
from .output import show, show_json

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the call, and the choice of what runs it."""
    add_call(parser)
    parser.add_argument("--backend", help=f"one of {', '.join(TABLE)}")
    parser.add_argument("--algorithm", help="one of the backend's algorithms")
    parser.add_argument("--precision", help="strict or fast")
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the stages of one call."""
    op, args, kwargs = read_call(arguments)
    for key in ("backend", "algorithm", "precision"):
        if getattr(arguments, key) is not None:
            kwargs[key] = getattr(arguments, key)
    traced = trace(op, *args, **kwargs)
    if arguments.json:
        show_json(traced)
    else:
        show(traced)
    return 0
