"""Times the rungs of the CPU ladder side by side, on one layer for each kind of call.

    python benchmarks/rungs.py [--seconds 6] [--output docs/explanation/cpu_rungs.json]

Each result is compared first with a float64 one, within its bound (`racing.Truth`). Then the rungs take
turns in one process, on one thread. The file that it writes has each rung's fastest and median call, the
machine and the versions; docs/recorded_runs.py draws its bars.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from layers import LAYERS, Problem
from racing import Truth

import teachconv as tc

# (op, layer, algorithms from the first rung to the last)
LADDERS = (
    ("forward", "3x3 64-64@56", ("direct", "im2col", "row_gemm", "winograd2")),
    ("input_gradient", "3x3s2 128-128@56", ("direct", "col2im", "phases")),
    ("filter_gradient", "3x3 64-64@56", ("direct", "im2col", "pixel_gemm")),
)


def measure(problem: Problem, algorithms: tuple[str, ...], seconds: float) -> list[dict[str, Any]]:
    """Validate the rungs of one problem, time them in turns, and return one record for each."""
    arrays = problem.arrays()
    truth = Truth(problem, arrays)
    op, args, options = problem.call(arrays)
    calls: dict[str, Callable[[], np.ndarray]] = {}
    for name in algorithms:
        calls[name] = lambda name=name: op(*args, **options, backend="cython", algorithm=name)
        if wrong := truth.judge(calls[name](), name)[1]:
            raise SystemExit(f"{problem.op}, {name}: {wrong}")
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while len(times[algorithms[0]]) < 5 or time.perf_counter() < end:
        for name, call in calls.items():
            start = time.thread_time()  # processor time of the one thread, whatever else runs
            call()
            times[name].append(time.thread_time() - start)
    return [
        {
            "algorithm": name,
            "gflops": problem.flops / min(taken) / 1e9,
            "gflops_median": problem.flops / statistics.median(taken) / 1e9,
            "milliseconds": min(taken) * 1e3,
            "calls": len(taken),
        }
        for name, taken in times.items()
    ]


def main(argv: list[str] | None = None) -> None:
    """Time every ladder and write the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=6.0, help="for each ladder")
    parser.add_argument("--output", type=Path, default=Path("docs/explanation/cpu_rungs.json"))
    arguments = parser.parse_args(argv)
    tc.set_num_threads(1)
    by_name = {layer.name: layer for layer in LAYERS}
    ladders = []
    for op, layer, algorithms in LADDERS:
        problem = Problem(by_name[layer], op, 1, "float32")
        rungs = measure(problem, algorithms, arguments.seconds)
        shapes = {name: list(shape) for name, shape in problem.shapes.items()}
        ladders.append({"op": op, "layer": layer, "shapes": shapes, "flops": problem.flops, "rungs": rungs})
        for rung in rungs:
            print(f"{op:16} {layer:18} {rung['algorithm']:10} {rung['gflops']:7.1f} GFLOP/s")
    facts = machine.facts_of_run("benchmarks/rungs.py", argv) | {
        "versions": {"teachconv": tc.__version__, "numpy": np.__version__},
        "ceiling": machine.ceilings()["gemm float32 GFLOP/s"],
        "ladders": ladders,
    }
    arguments.output.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
