"""Times one thread and two next to OpenBLAS's sgemm, the matrix product of NumPy, on the same two cores.

    python benchmarks/two_threads.py                        every dense layer: about 6 minutes
    python benchmarks/two_threads.py --quick                a smoke test: seconds
    python benchmarks/two_threads.py --layers 3x3 --seconds 2

A layer's product is the one that im2col makes of the same call: as many multiply-adds. Both are timed with
one thread and with two, in turns, in one process. The speed-up is the median time of one thread over that of
two. The aim: the mean of our speed-ups is at least 0.9 of the mean of sgemm's; and for large calls 1.85.
Before the timing, a result of two threads is judged by its bound and compared with that of one thread, bit
for bit; the exit status is 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import machine
import numpy as np
import report
from cpu import add_aims_argument, add_layer_arguments, allowed_cores, layer_list, pin, progress
from layers import LAYERS, OPS, QUICK_LAYERS, Problem, fits
from racing import Truth
from threadpoolctl import threadpool_info, threadpool_limits

import teachconv as tc

AIM = 0.9
LARGE, LARGE_AIM = 50e6, 1.85  # operations of a call whose speed-up has an aim of its own
TITLE = "Two threads"
THREADS = (1, 2)
# Seconds of a turn: untimed and timed. After a pause, a system may take 30 ms to give a thread that wakes up
# the other processor; OpenBLAS's threads wait actively for work in such a pause.
WARM, TIMED = 0.06, 0.06

Call = Callable[[], Any]


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_layer_arguments(parser, "1,8", "tiny layers")
    add_aims_argument(parser)
    parser.add_argument("--seconds", type=float, help="for each problem (default: 2)")
    arguments = parser.parse_args(argv)
    arguments.batch = arguments.batch or ([1] if arguments.quick else [1, 8])
    arguments.seconds = arguments.seconds or (0.05 if arguments.quick else 2.0)
    if len(allowed_cores()) < max(THREADS):
        parser.error(f"two threads need two processors; this process may use {allowed_cores()}")
    return arguments


def problems(arguments: argparse.Namespace) -> list[Problem]:
    """Return the calls that are one matrix product: every op of the dense layers."""
    return [
        Problem(layer, op, batch, "float32")
        for op in OPS[:3]
        for layer in layer_list(arguments, QUICK_LAYERS if arguments.quick else LAYERS)
        if fits(layer, op) and layer.groups == 1
        for batch in arguments.batch
    ]


def product_of(problem: Problem) -> Call:
    """Return the matrix product that im2col makes of a call, on arrays of its own."""
    batch, *places, out_channels = problem.shapes["dy"]
    *taps, in_channels, _ = problem.shapes["w"]
    pixels, depth = batch * int(np.prod(places)), int(np.prod(taps)) * in_channels
    rows, inner, cols = {
        "conv2d": (pixels, depth, out_channels),
        "conv2d_backprop_input": (pixels, out_channels, depth),
        "conv2d_backprop_filter": (depth, pixels, out_channels),
    }[problem.kind]
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape, "float32") for shape in ((rows, inner), (inner, cols)))
    result = np.empty((rows, cols), "float32")
    return lambda: np.matmul(a, b, out=result)


def wrong_with_two_threads(problem: Problem, arrays: dict[str, np.ndarray]) -> str:
    """Return what is wrong with the result of two threads, or ""."""
    op, args, options = problem.call(arrays)
    results = []
    for threads in THREADS:
        tc.set_num_threads(threads)
        trace = tc.trace(op, *args, **options, backend="cython")
        results.append(trace.result)
    if not np.array_equal(*results):
        return "other bits than with one thread"
    got = results[-1] if problem.kind == "conv2d_backprop_filter" else results[-1][problem.images]
    return Truth(problem, arrays).judge(got, trace.algorithm)[1]


def speed_ups(ours: Call, product: Call, seconds: float) -> tuple[float, float]:
    """Return how many times as fast two threads are as one: for our call, and for the product."""
    turns = [(which, threads) for threads in THREADS for which in (ours, product)]
    medians: dict[tuple[Call, int], list[float]] = {turn: [] for turn in turns}
    end = time.perf_counter() + seconds
    while len(medians[turns[0]]) < 3 or time.perf_counter() < end:
        for which, threads in turns:
            tc.set_num_threads(threads)
            with threadpool_limits(threads, user_api="blas"):
                _times(which, min(WARM, seconds))
                medians[which, threads].append(statistics.median(_times(which, min(TIMED, seconds))))
    one, two = ({w: statistics.median(medians[w, threads]) for w in (ours, product)} for threads in THREADS)
    return one[ours] / two[ours], one[product] / two[product]


def _times(call: Call, seconds: float) -> list[float]:
    """Return the seconds of each of as many calls as fit into some seconds: three at least."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return times


def measure(arguments: argparse.Namespace) -> tuple[dict[Problem, tuple[float, float]], list[str]]:
    """Return both speed-ups of every problem, and what was wrong."""
    work = problems(arguments)
    pin(allowed_cores()[: max(THREADS)])
    found, wrong = {}, []
    with progress(len(work)) as say:
        for number, problem in enumerate(work):
            name = f"{problem.op}, {problem.layer.name}, batch {problem.batch}"
            say(name, number)
            arrays = problem.arrays()
            if said := wrong_with_two_threads(problem, arrays):
                wrong.append(f"{name}: {said}")
                continue
            op, args, options = problem.call(arrays)
            ours = lambda: op(*args, **options, backend="cython")  # noqa: B023, E731 - called in this turn only
            found[problem] = speed_ups(ours, product_of(problem), arguments.seconds)
    return found, wrong


def table(found: dict[Problem, tuple[float, float]]) -> report.Table:
    """Return a line per layer: our speed-up and sgemm's, for each op and batch."""
    keys = list(dict.fromkeys((problem.op, problem.batch) for problem in found))
    by_key = {(p.layer.name, p.op, p.batch): both for p, both in found.items()}
    lines = [["layer", *(f"{op.replace('_', ' ')}, batch {batch}" for op, batch in keys)]]
    for layer in dict.fromkeys(problem.layer.name for problem in found):
        cells = [by_key.get((layer, *key)) for key in keys]
        lines.append([layer, *(f"{both[0]:.2f} / {both[1]:.2f}" if both else "" for both in cells)])
    means = [mean([both for p, both in found.items() if (p.op, p.batch) == key]) for key in keys]
    return [*lines, ["geometric mean", *(f"{ours:.2f} / {product:.2f}" for ours, product in means)]]


def mean(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the geometric means of our speed-ups and of the products'."""
    ours, products = zip(*pairs, strict=True)
    return report.geometric_mean(ours), report.geometric_mean(products)


def verdict(found: dict[Problem, tuple[float, float]]) -> str:
    """Say the mean speed-ups of all calls."""
    ours, product = mean(list(found.values()))
    said = (
        f"{len(found)} calls: two threads are {ours:.2f} times as fast as one, sgemm's {product:.2f} times: "
        f"{ours / product:.2f} of it"
    )
    if large := [both for problem, both in found.items() if problem.flops > LARGE]:
        ours, product = mean(large)
        said += (
            f"; {len(large)} calls of more than {LARGE / 1e6:.0f} million operations: {ours:.2f} times "
            f"(aim: {LARGE_AIM}, {'met' if ours >= LARGE_AIM else 'NOT met'}), sgemm's {product:.2f}"
        )
    return said


def aim(found: dict[Problem, tuple[float, float]]) -> str:
    """Say whether the aim is met."""
    ours, product = mean(list(found.values()))
    share = ours / product
    return f"- {share:.2f} of sgemm's speed-up (aim: {AIM}, {'met' if share >= AIM else 'NOT met'})"


def page(facts: dict[str, Any], found: dict[Problem, tuple[float, float]]) -> str:
    """Return all tables of this run, and what they show in short."""
    known = [f"- {key}: {value}" for key, value in (facts["machine"] | facts["versions"]).items()]
    parts = [
        f"# {TITLE}",
        f"Made by `{facts['command']}` on {facts['date']}, on {facts['machine']['processor']}; do not edit.",
        verdict(found) + ".",
        "Each cell says how many times as fast two threads are as one: teachconv's call, then the matrix "
        "product of OpenBLAS that im2col would make of the same call, in float32. All four took turns in one "
        "process on the same two processors; medians of calls that follow one another without a pause. "
        "Results of two threads had the same bits as those of one. A call of fewer than ten million "
        "multiply-adds keeps one thread.",
        report.as_markdown(table(found)),
        "## Machine and versions",
        "\n".join(known),
    ]
    return "\n\n".join(parts) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    if not problems(arguments):
        print("nothing to time: no layer fits --layers and --shape", file=sys.stderr)
        return 2
    facts = machine.facts_of_run("benchmarks/two_threads.py", argv)
    blas = [
        f"{one['internal_api']} {one['version']}" for one in threadpool_info() if one["user_api"] == "blas"
    ]
    facts["versions"] = {
        "teachconv": tc.__version__,
        "numpy": np.__version__,
        "BLAS": ", ".join(sorted({*blas})),
    }
    found, wrong = measure(arguments)
    for failure in wrong:
        print(f"WRONG: {failure}", file=sys.stderr)
    if found:
        print(report.as_markdown(table(found)))
        print(verdict(found), aim(found), sep="\n")
        if arguments.markdown:
            arguments.markdown.write_text(page(facts, found), encoding="utf-8")
        if arguments.aims:
            report.write_aims(arguments.aims, TITLE, facts, aim(found))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
