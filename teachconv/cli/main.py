"""The command line: ``python -m teachconv {demo, explain, trace, diff, explore, translate, ...}``.

Arrays are given as shapes ("1,8,8,1", filled with seeded numbers) or as .npy files. Exit status: 0 if
all is well, 1 where a diff fails, 2 where the arguments are wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import backends
from ..inspection.explaining import explain
from ..inspection.tracing import trace
from ..tuning import autotune
from ..verification.cases import CASES
from ..verification.diffing import DiffReport, check_cases, diff
from . import dialect_commands, explore_command, graph_commands
from .call_arguments import add_call, numbers, read_call

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m teachconv",
        description="Convolution to learn from and to check against: run, trace, explain, diff.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    add_demo(commands)
    add_explain(commands)
    add_trace(commands)
    add_diff(commands)
    add_backends(commands)
    explore_command.add_commands(commands)
    dialect_commands.add_commands(commands)
    add_bench(commands)
    graph_commands.add_commands(commands)
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (ValueError, TypeError, IndexError, OSError, MemoryError, RuntimeError) as error:
        print(f"teachconv {arguments.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader of our output has seen enough
        return 0


# ---------------------------------------------------------------------------------------------
# Commands
# ---------------------------------------------------------------------------------------------


def add_demo(commands: Any) -> None:
    """``demo``: the shipped photograph through an edge filter and back up, on every backend."""
    parser = commands.add_parser("demo", help="a photograph through conv2d and conv2d_transpose")
    parser.add_argument(
        "-o", "--output", default="teachconv-demo.html", help="the page to write (default: %(default)s)"
    )
    parser.set_defaults(run=run_demo)


def run_demo(arguments: argparse.Namespace) -> int:
    """Run the demo and write its page."""
    from .demo import demo

    return demo(Path(arguments.output))


def add_explain(commands: Any) -> None:
    """``explain``: every tap of one cell."""
    parser = commands.add_parser("explain", help="every tap of one cell, or what one input cell feeds")
    add_call(parser)
    parser.add_argument("--at", type=numbers, help="n,row,col,channel of an output cell")
    parser.add_argument("--at-input", type=numbers, help="n,row,col,channel of an input cell")
    parser.add_argument("--svg", metavar="FILE", help="write the picture of the cell to FILE")
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.set_defaults(run=run_explain)


def run_explain(arguments: argparse.Namespace) -> int:
    """Print one cell explained."""
    op, args, kwargs = read_call(arguments)
    where = {"at": arguments.at, "at_input": arguments.at_input}
    if arguments.at is None and arguments.at_input is None:
        where["at"] = (0, 0, 0, 0)
    explained = explain(op, *args, **where, **kwargs)
    if arguments.svg:
        Path(arguments.svg).write_text(explained.picture(), encoding="utf-8")
    if arguments.json:
        keys = ("op", "cell", "inverse", "value", "bias")
        answer = {key: getattr(explained, key) for key in keys}
        _print_json(answer | {"taps": list(explained.taps)})
    else:
        print(explained)
    return 0


def add_trace(commands: Any) -> None:
    """``trace``: every stage of one call."""
    parser = commands.add_parser("trace", help="every stage of one call, with file and line")
    add_call(parser)
    _add_choice(parser)
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.set_defaults(run=run_trace)


def run_trace(arguments: argparse.Namespace) -> int:
    """Print the stages of one call."""
    op, args, kwargs = read_call(arguments)
    for key in ("backend", "algorithm", "precision"):
        if getattr(arguments, key) is not None:
            kwargs[key] = getattr(arguments, key)
    traced = trace(op, *args, **kwargs)
    if arguments.json:
        _print_json(traced)
    else:
        print(traced)
    return 0


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", help="reference, numpy, scipy or cython")
    parser.add_argument("--algorithm", help="one of the backend's algorithms")
    parser.add_argument("--precision", help="strict or fast")


def add_diff(commands: Any) -> None:
    """``diff``: every backend against the reference."""
    parser = commands.add_parser(
        "diff", help="every backend against the reference; alone, the whole table of cases"
    )
    add_call(parser, optional=True)
    parser.add_argument("--backends", type=lambda text: text.split(","), help="names, comma-separated")
    parser.add_argument("--against", metavar="FILE", help="an .npy file with the output of another framework")
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every row, also those that pass")
    parser.set_defaults(run=run_diff)


def run_diff(arguments: argparse.Namespace) -> int:
    """Print a diff; the exit status says whether it passed."""
    if arguments.op is None:
        return _diff_table(arguments)
    op, args, kwargs = read_call(arguments)
    against = {arguments.against: np.load(arguments.against)} if arguments.against else None
    report = diff(op, *args, backends=arguments.backends, against=against, **kwargs)
    if arguments.json:
        _print_json(report)
    else:
        print(report)
        for row in report.rows:
            if not row.passed and row.explanation is not None:
                print(f"\nfirst bad cell of {row.name} {row.algorithm}:\n{row.explanation}")
    return 0 if report.passed else 1


def _diff_table(arguments: argparse.Namespace) -> int:
    """Every case, every backend and algorithm, with a line for each."""
    rows = []
    kinds = [arguments.data] if arguments.data else ["normal", "integers"]
    dtypes = [arguments.dtype] if arguments.dtype else ["float32", "int32"]
    runs = [(case, dtype, data) for dtype in dtypes for data in kinds for case in CASES]
    for case, dtype, data in _progress(runs, "cases"):
        rows += check_cases(arguments.backends, dtype, data, [case])
    report = DiffReport(f"{len(CASES)} cases, {len(rows)} results", tuple(rows))
    if arguments.json:
        _print_json(report)
        return 0 if report.passed else 1
    shown = report.rows if arguments.verbose else tuple(row for row in report.rows if not row.passed)
    if shown:
        print(DiffReport(report.title, shown))
    worst: dict[tuple[str, str], list[float]] = {}
    for row in report.rows:
        worst.setdefault((row.name.split(":")[0], row.algorithm), []).append(row.bound_fraction)
    table = [("backend", "algorithm", "results", "largest error, of its bound")]
    table += [
        (name, algorithm, str(len(found)), f"{max(found):.3g}") for (name, algorithm), found in worst.items()
    ]
    _print_table(table)
    print(report.summary)
    return 0 if report.passed else 1


def add_backends(commands: Any) -> None:
    """``backends``: which are there, and what they can do."""
    parser = commands.add_parser("backends", help="which backends can run here, and what they can do")
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.set_defaults(run=run_backends)


def run_backends(arguments: argparse.Namespace) -> int:
    """Print the table of backends, and of their algorithms."""
    infos = backends.report()
    if arguments.json:
        _print_json(infos)
        return 0
    print(infos)
    print()
    ladder = [("backend", "algorithm", "precision", "what it is")]
    ladder += [(i.name, a.name, a.precision, a.summary) for i in infos for a in i.algorithms]
    _print_table(ladder)
    return 0


def add_bench(commands: Any) -> None:
    """``bench``: every algorithm of every backend on one shape."""
    parser = commands.add_parser("bench", help="time every algorithm of every backend on one call")
    add_call(parser)
    parser.add_argument("--backends", type=lambda text: text.split(","), help="names, comma-separated")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.set_defaults(run=run_bench)


def run_bench(arguments: argparse.Namespace) -> int:
    """Print how fast each algorithm is on one call, as a bar chart."""
    op, args, kwargs = read_call(arguments)
    report = autotune(op, *args, backends=arguments.backends, rounds=arguments.rounds, **kwargs)
    if arguments.json:
        _print_json(report)
    else:
        print(report)
    return 0


# ---------------------------------------------------------------------------------------------
# Printing
# ---------------------------------------------------------------------------------------------


def _print_json(value: Any) -> None:
    json.dump(_plain(value), sys.stdout, indent=1)
    print()


def _plain(value: Any) -> Any:
    """Dataclasses as dicts of their public attributes, arrays as nested lists, NaN and infinity as text."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in fields(value) if not item.name.startswith("_")]
        names += ["passed"] if isinstance(value, DiffReport) else []
        return {name: _plain(getattr(value, name)) for name in names}
    if isinstance(value, np.ndarray):
        return _plain(value.astype(float).tolist() if value.dtype.kind == "V" else value.tolist())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return _plain(value.item()) if isinstance(value, np.generic) else str(value)


def _progress(items: list[Any], what: str) -> Iterable[Any]:
    """Show how far we are, on a terminal with rich; nothing otherwise."""
    if sys.stderr.isatty():
        try:
            from rich.console import Console
            from rich.progress import track
        except ImportError:
            return items
        return track(items, what, console=Console(stderr=True), transient=True)
    return items


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table: by rich in a terminal where it is installed, in plain columns otherwise."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
            from rich.table import Table
        except ImportError:
            pass
        else:
            table = Table(*rows[0], box=None, pad_edge=False)
            for row in rows[1:]:
                table.add_row(*row)
            Console().print(table)
            return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
