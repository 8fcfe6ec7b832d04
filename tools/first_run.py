"""The steps of first_run.sh that are Python: bring_up, cases, worst RESULTS, sweep, large."""

import csv
import sys
from pathlib import Path

import cupy
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import teachconv as tc
from teachconv.backends import get
from teachconv.backends.cuda import gemm, ladder, winograd
from teachconv.support.devices import seconds_on_device
from teachconv.verification.cases import Case, find_cases
from teachconv.verification.diffing import check_cases

EIGHTS = Case("eights", "conv2d", (2, 9, 8, 16), (3, 3, 16, 24), 2, "SAME")  # for pipelined_gemm
SMALL = (*find_cases("small")[::12], EIGHTS)
LAYERS = ((1, 7, 512, 512), (1, 14, 256, 256), (8, 28, 128, 128))  # batch, size, channels: few tiles to many
RUNGS = "implicit_gemm", "pipelined_gemm_float32", "pipelined_gemm_tf32", "winograd2"
SIZES = {  # where: the name, and what is tried
    "columns for which tiles have 64": (gemm, "_NARROW", (0, 64, 1 << 30)),
    "blocks that share a depth": (gemm, "ENOUGH_BLOCKS", (132, 264, 528)),
    "the least depth of a block": (gemm, "_SHORTEST", (128, 256, 512)),
    "bytes of Winograd's blocks": (winograd, "_BLOCK_BYTES", (16 << 20, 64 << 20, 256 << 20)),
}


def bring_up(dtypes=("float32", "float16", "float64", "int32")):
    """Every algorithm on one small convolution: compiled, loaded, launched and right."""
    print(cupy.cuda.runtime.getDeviceProperties(0)["name"], cupy.__version__, cupy.cuda.nvrtc.getVersion())
    x, w = (np.ones(shape, "float32") for shape in ((2, 9, 8, 16), (3, 3, 16, 24)))
    for dtype in dtypes:
        report = tc.diff(tc.conv2d, x.astype(dtype), w.astype(dtype), padding="SAME", backends=["cupy"])
        print(report)
        assert report.passed


def cases(dtypes=("float32", "float16"), table=SMALL):
    """A small table of cases, for compute-sanitizer: without CuPy's memory pool."""
    cupy.cuda.set_allocator(None)
    for dtype in dtypes:
        rows = check_cases([get("cupy")], dtype, "normal", table)
        print(dtype, len(rows), "results")
        assert not [row for row in rows if row.passed is False]


def worst(results, most=5):
    """One call of each of the layers that are furthest behind cuDNN, for ncu."""
    from layers import LAYERS as ALL
    from layers import QUICK_LAYERS, Problem

    with open(results, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    speeds = {}
    for line in (line for line in lines if line["status"] == "ok" and line["dtype"] != "tf32"):
        key = line["op"], line["layer"], int(line["batch"]), line["dtype"]
        name = "cudnn" if line["competitor"].startswith("cudnn") else line["competitor"]
        known = speeds.setdefault(key, {})
        known[name] = max(known.get(name, 0.0), float(line["gflops_median"]))
    behind = sorted(
        (speed["teachconv"] / speed.get("cudnn", 1.0), key)
        for key, speed in speeds.items()
        if "teachconv" in speed
    )
    by_name = {layer.name: layer for layer in (*ALL, *QUICK_LAYERS)}
    for ratio, (op, name, batch, dtype) in behind[:most]:
        problem = Problem(by_name[name], op, batch, dtype)
        arrays = {role: cupy.asarray(array.astype(dtype)) for role, array in problem.arrays().items()}
        function, args, options = problem.call(arrays)
        print(
            f"{op} {name} batch {batch} {dtype}: {ratio:.2f} of cuDNN:",
            tc.trace(function, *args, **options).algorithm,
        )


def sweep(layers=LAYERS, rounds=5, algorithms=RUNGS):
    """Times what the ladder derives on paper with other sizes; the smallest of each line suits this card."""
    for batch, size, depth, width in layers:
        x = cupy.asarray(np.ones((batch, size, size, depth), "float32"))
        w = cupy.asarray(np.ones((3, 3, depth, width), "float32"))
        for algorithm in algorithms:
            for what, (module, name, values) in SIZES.items():
                before, times = getattr(module, name), []
                for value in values:
                    setattr(module, name, value)
                    ladder.schedule.cache_clear()

                    def run(algorithm=algorithm, x=x, w=w):
                        tc.conv2d(x, w, padding="SAME", algorithm=algorithm)

                    run()
                    times.append(min(seconds_on_device(x, run) for _ in range(rounds)))
                setattr(module, name, before)
                shown = ", ".join(
                    f"{value}: {1e6 * t:.0f} µs" for value, t in zip(values, times, strict=True)
                )
                print(f"{batch}x{size}x{size}x{depth} {algorithm}, {what}: {shown}", flush=True)
    ladder.schedule.cache_clear()


def large(rows=32769, cols=32768):
    """One array of more than 2**31 elements: its first, middle and last rows against the same rows alone."""
    x = cupy.zeros((1, rows, cols, 2), "float16")
    lines = [np.random.default_rng(i).integers(-3, 4, (cols, 2)).astype("float16") for i in range(7)]
    there = [cupy.asarray(line) for line in lines]
    for row in range(rows):
        x[0, row] = there[row % 7]
    w = np.random.default_rng(7).integers(-3, 4, (3, 3, 2, 1)).astype("float16")
    print(f"{rows * cols * 2:,} elements")
    y = tc.conv2d(x, cupy.asarray(w))
    for row in (0, rows // 2, rows - 3):
        part = np.stack([lines[r % 7] for r in range(row, row + 3)])[None]
        assert np.array_equal(y[0, row].get(), tc.conv2d(part, w)[0, 0]), row


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
