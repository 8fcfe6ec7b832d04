"""``python -m teachconv fuzz MODULE:FUNCTION``: random convolutions on a function, until one fails."""

from __future__ import annotations

import argparse
import os
import sys
from pkgutil import resolve_name

from ..testing import fuzz, kernel
from .output import show
from .parsing import add_tolerance


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
    add_tolerance(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the failure and the line to paste; exit status 1 also where nothing was compared."""
    sys.path.insert(0, os.getcwd())  # as `python module.py` has it
    try:
        function = resolve_name(arguments.function)
    except AttributeError as lacks:
        raise ValueError(f"there is no {arguments.function}: {lacks}") from None
    function = kernel(function, x=arguments.x, w=arguments.w, isolate=arguments.isolate)
    report = fuzz(
        function,
        arguments.seconds,
        arguments.seed,
        dtypes=arguments.dtype,
        rtol=arguments.rtol,
        atol=arguments.atol,
    )
    show(report)
    return 0 if report.passed else 1
