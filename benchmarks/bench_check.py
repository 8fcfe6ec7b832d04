"""Compare the working tree with another commit on a dozen layers: faster, slower or the same.

Usage: python benchmarks/bench_check.py [BASE] [--rounds N], by default main and 15 rounds.

BASE is checked out and built below build/bench. Three processes take turns in each round, in random order:
the working tree, the base, and the base a second time. The ratio of the two bases is the noise. A layer is
slower only if the 95 % interval of its median ratio lies beyond 1 by more than the interval of the bases
does. The exit status is 1 if a layer is slower.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
SECONDS = 0.02  # of one measurement
LAYERS = {  # name: (op, input, filters, strides)
    "3x3, 64 channels": ("conv2d", (1, 56, 56, 64), (3, 3, 64, 64), 1),
    "3x3, 512 channels": ("conv2d", (1, 7, 7, 512), (3, 3, 512, 512), 1),
    "3x3, stride 2": ("conv2d", (1, 28, 28, 128), (3, 3, 128, 128), 2),
    "1x1": ("conv2d", (1, 28, 28, 256), (1, 1, 256, 64), 1),
    "7x7 on an image": ("conv2d", (1, 112, 112, 3), (7, 7, 3, 64), 2),
    "5x5": ("conv2d", (1, 27, 27, 48), (5, 5, 48, 64), 1),
    "grouped": ("conv2d", (1, 28, 28, 128), (3, 3, 16, 128), 1),
    "small": ("conv2d", (1, 8, 8, 4), (3, 3, 4, 8), 1),
    "depthwise": ("depthwise_conv2d", (1, 56, 56, 64), (3, 3, 64, 1), 1),
    "input gradient": ("conv2d_backprop_input", (1, 28, 28, 64), (3, 3, 64, 64), 2),
    "filter gradient": ("conv2d_backprop_filter", (1, 28, 28, 64), (3, 3, 64, 64), 1),
    "transposed": ("conv2d_transpose", (1, 14, 14, 128), (4, 4, 64, 128), 2),
}


def worker() -> None:
    """Answer each layer's name on standard input with the seconds of one call of it."""
    import teachconv as tc
    from teachconv.data.seeded import make_array

    tc.set_num_threads(1)
    calls: dict[str, Any] = {}
    for name, (op, x_shape, w_shape, strides) in LAYERS.items():
        x, w = make_array(x_shape, "float32"), make_array(w_shape, "float32")
        args: tuple[Any, ...] = (x, w)
        if op.startswith("conv2d_backprop"):
            dy = make_array(tc.conv2d(x, w, strides, "SAME").shape, "float32")
            args = (x_shape, w, dy) if op.endswith("input") else (x, w_shape, dy)
        function = getattr(tc, op)
        calls[name] = lambda f=function, a=args, s=strides: f(*a, strides=s, padding="SAME")
        calls[name]()  # what is loaded and prepared once
    print(json.dumps({"file": tc.__file__}), flush=True)
    for line in sys.stdin:
        call, number, spent = calls[line.strip()], 0, 0.0
        start = time.perf_counter()
        while spent < SECONDS:
            call()
            number += 1
            spent = time.perf_counter() - start
        print(spent / number, flush=True)


class Worker:
    """A process that runs the layers of one tree."""

    def __init__(self, tree: Path) -> None:
        environment = os.environ | {
            "PYTHONPATH": str(tree),
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-P", str(Path(__file__)), "--worker"]
        self._process = subprocess.Popen(
            command, env=environment, cwd=tree, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        file = json.loads(self._answer())["file"]
        assert Path(file).is_relative_to(tree), f"{file} is not of {tree}"

    def time(self, name: str) -> float:
        """Return the seconds of one call."""
        assert self._process.stdin is not None
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        return float(self._answer())

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"the worker ended with status {self._process.wait()}")
        return line

    def end(self) -> None:
        """Let the process end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def interval(ratios: list[float]) -> tuple[float, float, float]:
    """Return the median and its 95 % interval, by the order statistics of a binomial."""
    ordered, n = sorted(ratios), len(ratios)
    skip = max(0, int(n / 2 - 0.98 * n**0.5))
    return median(ordered), ordered[skip], ordered[n - 1 - skip]


def verdict(head: list[float], again: list[float]) -> tuple[str, float, float]:
    """Judge the ratios of the working tree by those of the second base: a word, the median, the noise.

    >>> verdict([1.30, 1.31, 1.29, 1.30, 1.32], [1.0, 1.01, 0.99, 1.0, 1.02])[0]
    'slower'
    >>> verdict([1.01, 1.00, 0.99, 1.02, 1.0], [1.0, 1.01, 0.99, 1.0, 1.02])[0]
    'same'
    """
    middle, low, high = interval(head)
    _, noise_low, noise_high = interval(again)
    noise = max(noise_high - 1, 1 - noise_low, 0.0)
    word = "slower" if low > 1 + noise else "faster" if high < 1 / (1 + noise) else "same"
    return word, middle, noise


def checked_out(base: str) -> Path:
    """Return a built copy of a commit; one that is there is used again."""
    commit = subprocess.check_output(["git", "rev-parse", f"{base}^{{commit}}"], cwd=ROOT, text=True).strip()
    tree = ROOT / "build" / "bench" / commit[:12]
    if not list(tree.glob("teachconv/_kernels*.so")):
        tree.mkdir(parents=True, exist_ok=True)
        archive = subprocess.check_output(["git", "archive", commit], cwd=ROOT)
        subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
        command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(command, cwd=tree, env=os.environ | {"TEACHCONV_REQUIRE_CYTHON": "1"}, check=True)
    return tree


def main() -> int:
    """Time, print a table, return 1 if a layer is slower."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("base", nargs="?", default="main")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker()
        return 0
    base = checked_out(options.base)
    workers = [Worker(base), Worker(base), Worker(ROOT)]  # the base, the base again, the working tree
    rng, words = random.Random(20261122), []
    print(f"{'layer':20} {'base':>10} {'here':>10} {'ratio':>6} {'noise':>6}")
    for name in LAYERS:
        rounds: list[list[float]] = []
        for _ in range(options.rounds):
            order = rng.sample(range(3), 3)
            times = {number: workers[number].time(name) for number in order}
            rounds.append([times[number] for number in range(3)])
        word, ratio, noise = verdict([r[2] / r[0] for r in rounds], [r[1] / r[0] for r in rounds])
        words.append(word)
        first, last = (1e6 * median(r[number] for r in rounds) for number in (0, 2))
        print(f"{name:20} {first:7.1f} µs {last:7.1f} µs {ratio:6.2f} {noise:6.1%}  {word}", flush=True)
    for one in workers:
        one.end()
    print(", ".join(f"{words.count(word)} {word}" for word in ("faster", "slower", "same")))
    return int("slower" in words)


if __name__ == "__main__":
    sys.exit(main())
