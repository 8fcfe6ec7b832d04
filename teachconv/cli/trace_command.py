"""``python -m teachconv trace``: every stage of one call."""

from __future__ import annotations

import argparse

from ..inspection.tracing import trace
from .call_arguments import add_call, add_options, read_call
from .output import show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the call, and the choice of what runs it."""
    add_call(parser)
    add_options(parser)


def run(arguments: argparse.Namespace) -> None:
    """Print the stages of one call."""
    op, args, kwargs = read_call(arguments)
    show(trace(op, *args, **kwargs))
