"""``python -m teachconv compare``: two models layer by layer."""

from __future__ import annotations

import argparse

from ..comparing.models import compare
from .call_arguments import add_json, read_npy
from .output import show, show_json

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two models and the input."""
    parser.add_argument("a", help="the model that is right: an .onnx file, or a recording (.npz)")
    parser.add_argument("b", help="its port, likewise")
    parser.add_argument(
        "--input", metavar="FILE", help="an .npy file, the input of a; a recording has its own"
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the comparison; exit status 1 where it fails, or something could not be judged."""
    found = compare(arguments.a, arguments.b, read_npy(arguments.input) if arguments.input else None)
    (show_json if arguments.json else show)(found)
    return 0 if found.passed else 1
