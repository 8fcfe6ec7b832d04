"""Times teachconv's CPU engine next to PyTorch, ONNX Runtime, TensorFlow, JAX and NumPy.

    python benchmarks/cpu.py                                images: everything, on one core
    python benchmarks/cpu.py --rank 1,3 --dtypes float32    sequences and volumes
    python benchmarks/cpu.py --quick                        a smoke test: seconds, NumPy only
    python benchmarks/cpu.py --ops forward --shape mine:28x28x64:3x3x128:s2 --seconds 5

Validates first, then times (`racing`). Prints a table for each op, dtype and number of threads with the
ratio to the best peer, and the aims. Writes results.csv, results.json and a roofline. Ratios can be
compared between runs; GFLOP/s depend on the machine and its load. The exit status is 1 if a result of
teachconv is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import machine
import plot
import report
from layers import OPS, QUICK_TABLES, TABLES, Layer, Problem, expand, fits, parse_shape
from racing import Budget, Measurement, Race, validate_small

import teachconv as tc


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    peers = [*report.FRAMEWORKS, "numpy"]
    add_layer_arguments(parser, "1,8", "tiny layers, NumPy only")
    add_aims_argument(parser)
    parser.add_argument(
        "--rank",
        type=whole_numbers,
        default=[2],
        help="1: sequences, 2: images (the default), 3: volumes; such as 1,3",
    )
    parser.add_argument("--threads", type=whole_numbers, default=[1], help="such as 1,2 (default: 1)")
    parser.add_argument("--ops", type=some_of(OPS), default=list(OPS), help=f"of {','.join(OPS)}")
    dtypes = ("float32", "float64")
    parser.add_argument("--dtypes", type=some_of(dtypes), default=list(dtypes), help="default: both")
    parser.add_argument("--precision", choices=("default", "strict", "fast"), default="default")
    parser.add_argument("--plan", action="store_true", help="time a plan too, with packed weights as in ORT")
    parser.add_argument("--peers", type=some_of(peers), help=f"of {','.join(peers)} (default: installed)")
    parser.add_argument(
        "--peer-python", default=sys.executable, metavar="PATH", help="interpreter that has the peers"
    )
    parser.add_argument("--cores", type=_cores, help="processors to pin to (default: the first allowed)")
    parser.add_argument("--rounds", type=int, help="interleaved rounds, at most (default: 7)")
    parser.add_argument("--seconds", type=float, help="per problem, all peers together (default: 2)")
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("benchmark-results"),
        metavar="DIR",
        help="for results.csv, results.json and roofline.svg (default: %(default)s)",
    )
    arguments = parser.parse_args(argv)
    quick = arguments.quick
    arguments.batch = arguments.batch or ([1, 2] if quick else [1, 8])
    arguments.peers = arguments.peers or (["numpy"] if quick else peers)
    arguments.rounds = arguments.rounds or (2 if quick else 7)
    arguments.seconds = arguments.seconds or (0.02 if quick else 2.0)
    arguments.cores = arguments.cores or allowed_cores()
    if not {*arguments.rank} <= {*TABLES}:
        parser.error(f"--rank must be of 1,2,3; got {arguments.rank}")
    if max(arguments.threads) > len(arguments.cores):
        parser.error(f"--threads {max(arguments.threads)} needs as many cores; got {arguments.cores}")
    return arguments


def whole_numbers(text: str) -> list[int]:
    numbers = [int(part) for part in text.split(",")]
    if min(numbers) < 1:
        raise argparse.ArgumentTypeError(f"expected numbers from 1; got {text}")
    return numbers


def _cores(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def some_of(known: Sequence[str]) -> Any:
    def names(text: str) -> list[str]:
        unknown = [name for name in text.split(",") if name not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"expected some of {','.join(known)}; got {','.join(unknown)}")
        return text.split(",")

    return names


def shape_argument(text: str) -> Any:
    try:
        return parse_shape(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_layer_arguments(parser: argparse.ArgumentParser, batches: str, quick: str) -> None:
    """Add what every benchmark of layers takes: which layers, how many images, a page, a smoke test."""
    parser.add_argument("--batch", type=whole_numbers, help=f"default: {batches}")
    parser.add_argument(
        "--shape",
        type=shape_argument,
        action="append",
        default=[],
        help="NAME:ROWSxCOLSxIN:KROWSxKCOLSxOUT[:sSTRIDE][:dDILATION][:gGROUPS] in place of the table, "
        "repeatable; for transposed ROWSxCOLSxIN is what goes in",
    )
    parser.add_argument("--layers", metavar="TEXT,...", help="layers with one of these in their name")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write all tables to a file")
    parser.add_argument("--quick", action="store_true", help=f"a smoke test: {quick}")


def add_aims_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--aims", type=Path, metavar="FILE", help="put the aims into this page: benchmarks/aims.md"
    )


def allowed_cores() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def problems(arguments: argparse.Namespace) -> list[Problem]:
    """Return the problems of this run; the dtypes of one problem are adjacent and share its truth."""
    tables = QUICK_TABLES if arguments.quick else TABLES
    layers = layer_list(arguments, [layer for rank in arguments.rank for layer in tables[rank]])
    return [
        Problem(layer, op, batch, dtype)
        for asked in arguments.ops
        for op in expand(asked)
        for layer in layers
        if fits(layer, op)
        for batch in arguments.batch
        for dtype in arguments.dtypes
    ]


def layer_list(arguments: argparse.Namespace, table: Sequence[Layer]) -> list[Layer]:
    """Return the layers of --shape and those that --layers names; the whole table if neither is given."""
    own = list(arguments.shape)
    if own and not arguments.layers:
        return own
    texts = (arguments.layers or "").split(",")
    return [layer for layer in table if any(text in layer.name for text in texts)] + own


class Say(Protocol):
    """Reports progress on standard error."""

    def __call__(self, text: str, done: int) -> None: ...


@contextmanager
def progress(total: int) -> Iterator[Say]:
    """Show a progress bar on a terminal with rich, otherwise print a line now and then."""
    if sys.stderr.isatty():
        try:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        except ImportError:
            pass
        else:
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            with Progress(
                *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
            ) as bar:
                task = bar.add_task("", total=total)
                yield lambda text, done: bar.update(task, description=text, completed=done)
            return
    started = last = time.monotonic()

    def line(text: str, done: int) -> None:
        nonlocal last
        if done == 0 or time.monotonic() - last > 10:
            last = time.monotonic()
            print(f"{last - started:6.0f} s  {done}/{total}  {text}", file=sys.stderr, flush=True)

    yield line


def pin(cores: Sequence[int]) -> None:
    """Pin this process and every process and thread that it starts."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)
    tc.set_num_threads(len(cores))


def measure(
    arguments: argparse.Namespace, work: Sequence[Problem], facts: dict[str, Any]
) -> tuple[list[Measurement], list[str]]:
    """Run every problem; return the measurements and the failures of teachconv."""
    names = ["teachconv", *(["plan"] if arguments.plan else []), *arguments.peers]
    precision = None if arguments.precision == "default" else arguments.precision
    budget = Budget(arguments.rounds, arguments.seconds)
    measured, wrong, checked = [], [], set()
    with progress(len(work) * len(arguments.threads)) as say:
        for turn, threads in enumerate(arguments.threads):
            pin(arguments.cores[:threads])
            if turn == 0:
                facts["ceilings"] = ceilings(arguments)
                facts["call overhead, µs"] = round(machine.call_overhead() * 1e6, 2)
            say(f"starting {', '.join(names)}", turn * len(work))
            race = Race(names, arguments.peer_python, threads, precision, budget)
            facts["missing"] = race.missing
            for worker in race.workers:
                facts["versions"] |= worker.versions
            try:
                for number, problem in enumerate(work):
                    name = f"{problem.label} {problem.layer.name} batch {problem.batch} {problem.dtype}"
                    say(name, turn * len(work) + number)
                    key = (problem.op, problem.layer, problem.dtype)
                    failure = "" if key in checked else validate_small(problem)
                    checked.add(key)
                    measurement = race.run(problem)
                    ours = measurement.timings.get("teachconv")
                    if failure or ours is None or ours.status != "ok":
                        said = failure or (ours.note if ours else race.missing["teachconv"])
                        wrong.append(f"{name}, threads {threads}: {said}")
                    measured.append(measurement)
            finally:
                race.close()
    pin(arguments.cores[: arguments.threads[0]])
    again = ceilings(arguments)  # the better of before and after: a busy machine measures too low a ceiling
    facts["ceilings"] = {name: max(value, again[name]) for name, value in facts["ceilings"].items()}
    return measured, wrong


def ceilings(arguments: argparse.Namespace) -> dict[str, float]:
    """Measure the machine's ceilings; briefly for a smoke test."""
    return machine.ceilings(256, 8) if arguments.quick else machine.ceilings()


def show(arguments: argparse.Namespace, facts: dict[str, Any], measured: list[Measurement]) -> None:
    """Print the tables, the aims and the notes."""
    for title, table in report.sections(measured, facts["ceilings"]):
        print(f"\n{title}\n{report.as_markdown(table)}")
    if len(facts["aims"]) > 1:
        print(f"\n{report.as_markdown(facts['aims'])}")
    print("\nceilings: " + ", ".join(f"{name} {value:.1f}" for name, value in facts["ceilings"].items()))
    print(f"a call on an 8x8x1 image: {facts['call overhead, µs']} µs (aim: under 10)")
    for name, reason in facts["missing"].items():
        print(f"not here: {name}: {reason}")
    for remark in report.notes(measured):
        print(f"no number: {remark}")


def write(arguments: argparse.Namespace, facts: dict[str, Any], measured: list[Measurement]) -> None:
    """Write results and roofline to --output, all tables and a picture to --markdown, the aims to --aims."""
    report.write_files(arguments.output, facts, measured)
    _draw(facts, measured, arguments.output / "roofline.svg")
    if arguments.markdown:
        picture = arguments.markdown.with_suffix(".svg")
        drawn = _draw(facts, measured, picture)
        page = report.markdown_page(facts, measured, picture.name if drawn else None)
        arguments.markdown.write_text(page, encoding="utf-8")
    if arguments.aims:
        report.write_aims(arguments.aims, report.cpu_title(facts), facts, report.as_markdown(facts["aims"]))


def _draw(facts: dict[str, Any], measured: list[Measurement], path: Path) -> bool:
    try:
        plot.draw(json.loads(json.dumps(facts | {"results": report.records(measured)})), path)
    except ImportError as error:
        print(f"no picture {path}: {error} (pip install matplotlib)", file=sys.stderr)
        return False
    return True


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    work = problems(arguments)
    if not work:
        print("nothing to time: no layer fits --ops, --layers and --shape", file=sys.stderr)
        return 2
    facts = machine.facts_of_run("benchmarks/cpu.py", argv)
    facts["ranks"] = sorted({problem.layer.rank for problem in work})
    started = time.monotonic()
    measured, wrong = measure(arguments, work, facts)
    facts["minutes"] = round((time.monotonic() - started) / 60, 1)
    facts["aims"] = report.judge_aims(measured, arguments.precision)
    show(arguments, facts, measured)
    write(arguments, facts, measured)
    for failure in wrong:
        print(f"WRONG: {failure}", file=sys.stderr)
    print(f"{len(measured)} problems in {facts['minutes']} minutes", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
