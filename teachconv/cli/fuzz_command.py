"""``python -m teachconv fuzz MODULE:FUNCTION``: random convolutions on a function, until one fails."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from ..testing import fuzz, kernel
from .output import show

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what is run, and for how long."""
    parser.add_argument(
        "function",
        metavar="MODULE:FUNCTION",
        help="a function of arrays, what testing.kernel made of one, or a module that is a backend",
    )
    for name, usual in (("x", "NHWC"), ("w", "HWIO")):
        parser.add_argument(f"--{name}", default=usual, help=f"its layout (of a function; default {usual})")
    parser.add_argument("--seconds", type=float, default=20.0, help="for how long (default 20)")
    parser.add_argument("--seed", type=int, default=0, help="another seed gives other calls (default 0)")
    parser.add_argument("--dtype", action="append", help="a dtype; several times for several")
    parser.add_argument("--isolate", action="store_true", help="in a process of its own, which may crash")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the failure and the line to paste; exit status 1 also where nothing was compared."""
    module, _, name = arguments.function.partition(":")
    sys.path.insert(0, os.getcwd())  # as `python module.py` has it
    found = import_module(module)
    for part in filter(None, name.split(".")):
        if not hasattr(found, part):
            raise ValueError(f"{module} has no {name}")
        found = getattr(found, part)
    if not hasattr(found, "ALGORITHMS"):
        found = kernel(found, x=arguments.x, w=arguments.w, isolate=arguments.isolate)
    elif arguments.isolate:
        found = kernel(found, isolate=True)
    report = fuzz(found, arguments.seconds, arguments.seed, dtypes=arguments.dtype)
    if report.failed:
        show(type(report)(report.title, report.failed))
    else:
        show(report.summary)
    return 0 if report.passed else 1
