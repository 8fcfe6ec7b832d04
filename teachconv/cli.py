"""The command line: ``python -m teachconv {demo, explain, trace, diff, backends,
bench, graph}``.

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

from . import backends, dialects_cli, nn_ops
from .cases import CASES, DATA, make_array
from .diffing import DiffReport, check_cases, diff
from .explaining import explain
from .graph import commands as graph_commands
from .tracing import trace
from .tuning import autotune

__all__ = ["main"]

OPS = {op.__name__: op for op in nn_ops.RESOLVERS if op.__module__ == nn_ops.__name__}


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
    dialects_cli.add_commands(commands)
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
    _add_call(parser)
    parser.add_argument("--at", type=_numbers, help="n,row,col,channel of an output cell")
    parser.add_argument("--at-input", type=_numbers, help="n,row,col,channel of an input cell")
    parser.add_argument("--svg", metavar="FILE", help="write the picture of the cell to FILE")
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.set_defaults(run=run_explain)


def run_explain(arguments: argparse.Namespace) -> int:
    """Print one cell explained."""
    op, args, kwargs = _call(arguments)
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
    _add_call(parser)
    _add_choice(parser)
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.set_defaults(run=run_trace)


def run_trace(arguments: argparse.Namespace) -> int:
    """Print the stages of one call."""
    op, args, kwargs = _call(arguments)
    for key in ("backend", "algorithm", "precision"):
        if getattr(arguments, key) is not None:
            kwargs[key] = getattr(arguments, key)
    traced = trace(op, *args, **kwargs)
    if arguments.json:
        _print_json(traced)
    else:
        print(traced)
    return 0


def add_diff(commands: Any) -> None:
    """``diff``: every backend against the reference."""
    parser = commands.add_parser(
        "diff", help="every backend against the reference; alone, the whole table of cases"
    )
    _add_call(parser, optional=True)
    parser.add_argument("--backends", type=lambda text: text.split(","), help="names, comma-separated")
    parser.add_argument("--against", metavar="FILE", help="an .npy file with the output of another framework")
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.add_argument("-v", "--verbose", action="store_true", help="print every row, also those that pass")
    parser.set_defaults(run=run_diff)


def run_diff(arguments: argparse.Namespace) -> int:
    """Print a diff; the exit status says whether it passed."""
    if arguments.op is None:
        return _diff_table(arguments)
    op, args, kwargs = _call(arguments)
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
    _add_call(parser)
    parser.add_argument("--backends", type=lambda text: text.split(","), help="names, comma-separated")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON with the attributes as keys")
    parser.set_defaults(run=run_bench)


def run_bench(arguments: argparse.Namespace) -> int:
    """Print how fast each algorithm is on one call, as a bar chart."""
    op, args, kwargs = _call(arguments)
    report = autotune(op, *args, backends=arguments.backends, rounds=arguments.rounds, **kwargs)
    if arguments.json:
        _print_json(report)
    else:
        print(report)
    return 0


# ---------------------------------------------------------------------------------------------
# A call from the command line
# ---------------------------------------------------------------------------------------------


def _add_call(parser: argparse.ArgumentParser, optional: bool = False) -> None:
    parser.add_argument("op", nargs="?" if optional else None, choices=list(OPS), help="the op to call")
    array = "a shape such as 1,8,8,1, or an .npy file"
    parser.add_argument("--input", help=array)
    parser.add_argument("--filters", help=array)
    parser.add_argument("--out-backprop", help=array + " (gradients; default: the shape that fits)")
    parser.add_argument("--input-sizes", type=_numbers, help="4 ints (input gradients)")
    parser.add_argument("--filter-sizes", type=_numbers, help="4 ints (filter gradients)")
    parser.add_argument("--output-shape", type=_numbers, help="4 ints (conv2d_transpose)")
    parser.add_argument("--output-padding", type=_numbers, help="an int or rows,cols (conv2d_transpose)")
    parser.add_argument("--strides", type=_numbers, default=1, help="an int, rows,cols, or 4 ints")
    parser.add_argument("--dilations", type=_numbers, default=1, help="an int, rows,cols, or 4 ints")
    parser.add_argument(
        "--padding", type=_padding, help="SAME, VALID, SAME_LOWER, an int, rows,cols or top,bottom,left,right"
    )
    parser.add_argument("--data-format", default="NHWC", help="NHWC or NCHW")
    parser.add_argument("--dtype", help="dtype of arrays given as shapes (default: float32)")
    parser.add_argument("--data", choices=DATA, help="what arrays given as shapes hold (default: integers)")


def _add_choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--backend", help="reference, numpy, scipy or cython")
    parser.add_argument("--algorithm", help="one of the backend's algorithms")
    parser.add_argument("--precision", help="strict or fast")


def _call(arguments: argparse.Namespace) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The op, its positional arguments and its keyword arguments."""
    op = OPS[arguments.op]
    kwargs: dict[str, Any] = {
        "strides": arguments.strides,
        "dilations": arguments.dilations,
        "data_format": arguments.data_format,
    }
    if arguments.padding is not None:
        kwargs["padding"] = arguments.padding
    if arguments.op == "conv2d_transpose":
        kwargs |= {"output_shape": arguments.output_shape, "output_padding": arguments.output_padding}
    elif arguments.output_shape is not None or arguments.output_padding is not None:
        raise ValueError("--output-shape and --output-padding go with conv2d_transpose")
    if arguments.op.endswith("backprop_input"):
        sizes = arguments.input_sizes or _shape_of(arguments, "input")
        filters = _array(arguments, "filters")
        dy = _out_backprop(arguments, sizes, filters.shape, kwargs)
        return op, (sizes, filters, dy), kwargs
    if arguments.op.endswith("backprop_filter"):
        x = _array(arguments, "input")
        sizes = arguments.filter_sizes or _shape_of(arguments, "filters")
        return op, (x, sizes, _out_backprop(arguments, x.shape, sizes, kwargs)), kwargs
    return op, (_array(arguments, "input"), _array(arguments, "filters")), kwargs


def _array(arguments: argparse.Namespace, name: str) -> np.ndarray:
    text = getattr(arguments, name)
    if text is None:
        raise ValueError(f"{arguments.op} needs --{name.replace('_', '-')}: a shape or an .npy file")
    if text.endswith(".npy"):
        return np.asarray(np.load(text))
    shape = _numbers(text)
    shape = (shape,) if isinstance(shape, int) else shape
    return make_array(shape, arguments.dtype or "float32", arguments.data or "integers", name)


def _shape_of(arguments: argparse.Namespace, name: str) -> Any:
    return _array(arguments, name).shape


def _out_backprop(
    arguments: argparse.Namespace, input_shape: Any, filters_shape: Any, kwargs: dict[str, Any]
) -> np.ndarray:
    """The array asked for, or seeded numbers of the shape that the forward op gives."""
    if arguments.out_backprop is not None:
        return _array(arguments, "out_backprop")
    dtype = arguments.dtype or "float32"
    forward = nn_ops.depthwise_conv2d if arguments.op.startswith("depthwise") else nn_ops.conv2d
    blank = [np.zeros(shape, "float32") for shape in (input_shape, filters_shape)]
    call, _ = nn_ops.resolve(forward, tuple(blank), kwargs)
    return make_array(call.result_shape, dtype, arguments.data or "integers", "out_backprop")


def _numbers(text: str) -> Any:
    """ "2" as an int, "1,2,2,1" as a tuple of ints."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected ints separated by commas; got {text!r}") from None
    return numbers[0] if len(numbers) == 1 else numbers


def _padding(text: str) -> Any:
    if text.replace("_", "").isalpha():
        return text.upper()
    numbers = _numbers(text)
    if isinstance(numbers, tuple) and len(numbers) == 4:
        top, bottom, left, right = numbers
        return (top, bottom), (left, right)
    return numbers


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
