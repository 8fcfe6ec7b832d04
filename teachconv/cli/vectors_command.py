"""``python -m teachconv vectors``: test vectors as files, and a verdict on the results."""

from __future__ import annotations

import argparse

from ..testing.vectors import export, judge
from .output import show
from .parsing import Parser, add_commands, add_tolerance


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two commands."""
    add_commands(parser, {"export": "write vectors", "judge": "judge results"}, _fill)  # type: ignore[arg-type]


def _fill(name: str, parser: Parser) -> None:
    parser.add_argument("directory", help="the directory of the vectors")
    if name == "judge":
        parser.add_argument("--results", help="the directory of the results (default: results in DIRECTORY)")
        parser.add_argument("--error", default="direct", help='how they were computed (default "direct")')
        add_tolerance(parser)
        parser.add_argument("--require", action="append", default=[], help="a case that must have a result")
        parser.set_defaults(run=_judge)
        return
    for word, usual in (("dtype", ["float32"]), ("data", ["integers", "normal"]), ("tag", ["small"])):
        help_ = f"several times for several (default {', '.join(usual)})"
        parser.add_argument(f"--{word}", action="append", help=help_)
    parser.add_argument("--kind", action="append", help="such as conv2d_backprop_input (default: all three)")
    parser.add_argument("--x", default="NHWC", help="the layout of the activations (default NHWC)")
    parser.add_argument("--w", default="HWIO", help="the layout of the filters (default HWIO)")
    parser.add_argument("--scheme", help="of quantized vectors, such as tflite (default: not quantized)")
    parser.add_argument("--large", action="store_true", help="even if they take more than 100 MB")
    parser.set_defaults(run=_export)


def _export(arguments: argparse.Namespace) -> None:
    options = {
        "dtypes": arguments.dtype,
        "data": arguments.data,
        "tags": arguments.tag,
        "kinds": arguments.kind,
    }
    chosen = {name: value for name, value in options.items() if value}
    how = {"x": arguments.x, "w": arguments.w, "scheme": arguments.scheme, "large": arguments.large}
    show(f"{arguments.directory}: {export(arguments.directory, **chosen, **how)}")


def _judge(arguments: argparse.Namespace) -> int:
    """Exit status 1 where a vector fails, and where there is no result."""
    options = {name: getattr(arguments, name) for name in ("results", "error", "require", "rtol", "atol")}
    report = judge(arguments.directory, **options)
    show(report if report.failed else report.summary)
    return 0 if report.passed else 1
