"""Compares the speed of the reference backend with a bare exact sum in Python: ``fsum(map(mul, a, b))``.

    python benchmarks/reference.py [--cells 4000] [--rounds 9]
    python benchmarks/reference.py --layers [--rounds 9]
    python benchmarks/reference.py --real [--rounds 5] [--markdown docs/exact_times.inc]

Validates first, then times: some cells of each result are compared with the exact rational sum, rounded
once. Whole calls of conv2d and of its two gradients, with sums of 9, 27 and 288 terms, alternate in one
process with the same number of bare sums of the same length over existing lists. The table shows the terms
per second of the bare sums and the ratios to them, from medians of processor time. It times the algorithm
``direct``. With ``--layers`` it times ``slices`` beside ``direct`` on two layers of real size, whose bits it
compares first: calls of the reference, and whole diffs; and both beside one float64 matrix product of as many
multiply-adds, on one thread of BLAS. With ``--real`` it times what a user waits for on two layers, as
it runs by default, and compares that with matrix products, too.
"""

from __future__ import annotations

import argparse
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import fsum, inf
from operator import mul
from pathlib import Path
from typing import Any

import machine
import numpy as np

import teachconv as tc
from teachconv.backends import reference
from teachconv.backends.blas import held
from teachconv.core.rounding import round_sum
from teachconv.data.seeded import make_array

FILTERS = {9: (3, 3, 1), 27: (3, 3, 3), 288: (3, 3, 32)}  # by terms: filter_rows, filter_cols, in_channels
OUT_CHANNELS = 8
ALGORITHMS = ("direct", "slices")
AIMS = {"float32": 0.55, "float64": 0.2}  # of conv2d with 9 terms
PRODUCTS = {"the reference": 25, "diff of numpy": 45}  # at most how many matrix products the slices may take
# 3 x 3 layers, by size and channels
REAL = {"14 x 14, 512 to 512": (14, 512), "112 x 112, 128 to 128": (112, 128)}
# What is timed on them: at most how many matrix products it may take, or None, and seconds, by layer
WAITS: dict[str, tuple[int | None, dict[str, float]]] = {
    "the exact result": (25, {}),
    '`diff(backends=["numpy"])`': (45, {"14 x 14, 512 to 512": 0.7, "112 x 112, 128 to 128": 10}),
    '`diff(backends=["cython"])`': (45, {"14 x 14, 512 to 512": 0.7, "112 x 112, 128 to 128": 10}),
    "`diff()` of all": (None, {"14 x 14, 512 to 512": 3}),
}


def bare_sums(terms: int, count: int) -> Callable[[], list[float]]:
    """Compute ``count`` sums of products of two lists, in a loop that does nothing else."""
    numbers = random.Random(terms)
    lefts, rights = (
        [[numbers.gauss(0, 1) for _ in range(terms)] for _ in range(many)]
        for many in (count // OUT_CHANNELS, OUT_CHANNELS)
    )
    return lambda: [fsum(map(mul, left, right)) for left in lefts for right in rights]


def calls(terms: int, count: int, dtype: str) -> dict[str, tuple[Callable[[], np.ndarray], int]]:
    """Return whole calls of the reference with the number of products that each sums."""
    rows, cols, depth = FILTERS[terms]
    side = max(4, round((count / OUT_CHANNELS) ** 0.5))
    x = make_array((1, side + rows - 1, side + cols - 1, depth), dtype, "normal", "x")
    w = make_array((rows, cols, depth, OUT_CHANNELS), dtype, "normal", "w")
    dy = make_array((1, side, side, OUT_CHANNELS), dtype, "normal", "dy")
    image = make_array((1, side, side, depth), dtype, "normal", "image")
    back = w.transpose(0, 1, 3, 2)  # [filter_rows, filter_cols, out_channels, in_channels]
    sums = tc.conv2d_geometry(x.shape, w.shape).macs
    return {
        "conv2d": (lambda: tc.conv2d(x, w, backend="reference", algorithm="direct"), sums),
        "conv2d_transpose": (
            lambda: tc.conv2d_transpose(
                image, back, padding="VALID", backend="reference", algorithm="direct"
            ),
            sums,
        ),
        "filter gradient": (
            lambda: tc.conv2d_backprop_filter(x, w.shape, dy, backend="reference", algorithm="direct"),
            sums,
        ),
    }


def validate(terms: int, dtype: str) -> None:
    """Compare cells of a small conv2d with the exact sum, in rational numbers; raise if one differs."""
    rows, cols, depth = FILTERS[terms]
    x = make_array((1, rows + 2, cols + 2, depth), dtype, "normal", "small x")
    w = make_array((rows, cols, depth, 2), dtype, "normal", "small w")
    y = tc.conv2d(x, w, backend="reference", algorithm="direct")
    for row, col, channel in np.ndindex(3, 3, 2):
        patch, column = x[0, row : row + rows, col : col + cols].ravel(), w[..., channel].ravel()
        exact = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(patch, column, strict=True))
        want = round_sum([exact], dtype)
        if float(y[0, row, col, channel]) != want:
            raise SystemExit(f"{terms} terms, {dtype}: {y[0, row, col, channel]!r} is not {want!r}")


def race(runs: dict[Any, Callable[[], Any]], rounds: int) -> dict[Any, float]:
    """Run all alternately for ``rounds`` rounds after a warm-up; return the median processor time of each."""
    seconds: dict[Any, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = time.process_time()
            run()
            if turn:
                seconds[name].append(time.process_time() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}


def layers(rounds: int) -> list[str]:
    """Print how many times as fast as ``direct`` the slices are on two real layers; return the missed aims.

    Calls of the reference are timed, and whole diffs that judge an array, or the cython backend.
    """
    missed = []
    for size, channels in ((56, 64), (14, 512)):
        x = make_array((1, size, size, channels), "float32")
        w = make_array((3, 3, channels, channels), "float32")
        layer = partial(tc.conv2d, x, w, 1, "SAME", backend="reference")
        y, slices = (layer(algorithm=name) for name in ("direct", "slices"))
        if y.tobytes() != slices.tobytes():
            raise SystemExit(f"{size} x {size}, {channels} channels: the bits differ")
        diff = partial(tc.diff, tc.conv2d, x, w, 1, "SAME")
        timed: dict[str, Callable[[], Any]] = {
            "the reference": layer,
            "diff of an array": partial(diff, backends=[], against=y),
            "diff of cython": partial(diff, backends="cython"),
            "diff of numpy": partial(diff, backends="numpy"),
        }
        runs: dict[Any, Callable[[], Any]] = {
            (what, name): partial(with_algorithm, name, run)
            for what, run in timed.items()
            for name in ALGORITHMS
        }
        patches, filters = np.ones((size * size, 9 * channels)), np.ones((9 * channels, channels))
        with held("numpy", 1):
            seconds = race(runs | {"product": lambda p=patches, f=filters: p @ f}, rounds)
        print(f"3x3, {channels} channels on {size} x {size}:")
        for what in timed:
            direct, fast = (seconds[what, name] for name in ALGORITHMS)
            aim = 30 if what == "the reference" else 10
            products, most = fast / seconds["product"], PRODUCTS.get(what, inf)
            print(
                f"  {what:17} direct {direct:6.2f} s, slices {fast:5.3f} s, {direct / fast:3.0f} times "
                f"as fast (aim {aim}), {products:.0f} matrix products (at most {most})"
            )
            if direct < aim * fast or products > most:
                missed.append(f"{what}, {channels} channels: {direct / fast:.0f}, {products:.0f} products")
    return missed


def real(rounds: int) -> str:
    """Return a table of what an exact result and a diff take on layers of real size, on one thread."""
    rows = ["| 3 x 3 layer | what | processor time | matrix products | aim |", "|---|---|--:|--:|---|"]
    tc.set_num_threads(1)
    for name, (size, channels) in REAL.items():
        x = make_array((1, size, size, channels), "float32")
        w = make_array((3, 3, channels, channels), "float32")
        exact = partial(tc.conv2d, x, w, 1, "SAME", backend="reference")
        diff = partial(tc.diff, tc.conv2d, x, w, 1, "SAME")
        diffs = partial(diff, backends="numpy"), partial(diff, backends="cython"), diff
        patches, filters = np.ones((size * size, 9 * channels)), np.ones((9 * channels, channels))
        runs = dict(zip(WAITS, (exact, *diffs), strict=True))
        with held("numpy", 1):
            seconds = race(runs | {"product": lambda p=patches, f=filters: p @ f}, rounds)
        for what, (products, most) in WAITS.items():
            ratio, aims = seconds[what] / seconds["product"], []
            if products:
                aims.append((ratio <= products, f"{products} products"))
            if name in most:
                aims.append((seconds[what] <= most[name], f"{most[name]:g} s"))
            words = ", ".join(f"{aim}: {'met' if met else 'NOT met'}" for met, aim in aims)
            rows.append(f"| {name} | {what} | {seconds[what]:.2f} s | {ratio:.0f} | {words} |")
    return "\n".join(rows)


def with_algorithm(name: str, run: Callable[[], Any]) -> Any:
    """Run something while the reference chooses one algorithm for every call."""
    worth, reference._WORTH_SLICING = reference._WORTH_SLICING, 0 if name == "slices" else sys.maxsize
    try:
        return run()
    finally:
        reference._WORTH_SLICING = worth


def main(argv: list[str] | None = None) -> int:
    """Print the table; return the exit status, 1 if an aim is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", type=int, default=4000, help="sums in a call (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="interleaved rounds (default: %(default)s)")
    parser.add_argument(
        "--layers", action="store_true", help="time slices beside direct, and diffs, on two layers"
    )
    parser.add_argument("--real", action="store_true", help="time exact results and diffs of real layers")
    parser.add_argument("--markdown", type=Path, help="with --real: write the table to this file")
    arguments = parser.parse_args(argv)
    if arguments.real:
        facts = machine.facts_of_run("benchmarks/reference.py", argv)
        said = (
            f"`{facts['command']}`, {facts['date']}, {facts['machine']['processor']}, NumPy {np.__version__}"
        )
        text = f"{real(arguments.rounds)}\n\n{said}, one thread, medians.\n"
        print(text)
        if arguments.markdown:
            arguments.markdown.write_text(text, encoding="utf-8")
        return 0
    print(f"{machine.describe()['processor']}; Python {platform.python_version()}, NumPy {np.__version__}")
    if arguments.layers:
        missed = layers(arguments.rounds)
        print("the aims:", missed or "met")
        return 1 if missed else 0
    print("\ndtype    terms  bare Mterms/s  conv2d  conv2d_transpose  filter gradient")
    missed = []
    for dtype in AIMS:
        for terms in FILTERS:
            validate(terms, dtype)
            timed = calls(terms, arguments.cells, dtype)
            count = timed["conv2d"][1] // terms
            runs = {"bare": bare_sums(terms, count)} | {name: run for name, (run, _) in timed.items()}
            seconds = race(runs, arguments.rounds)
            bare = count * terms / seconds["bare"]
            ratios = {name: sums / seconds[name] / bare for name, (_, sums) in timed.items()}
            print(
                f"{dtype}{terms:7}{bare / 1e6:15.1f}{ratios['conv2d']:8.2f}"
                f"{ratios['conv2d_transpose']:18.2f}{ratios['filter gradient']:17.2f}"
            )
            if terms == 9 and ratios["conv2d"] < AIMS[dtype]:
                missed.append(f"{dtype}: {ratios['conv2d']:.2f}, and the aim is {AIMS[dtype]}")
    print("\nratios to the bare sums; the aims of conv2d at 9 terms:", missed or "met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
