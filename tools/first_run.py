"""The steps of first_run.sh that are Python: bring_up, warm, exact, tall, cases, worst RESULTS, sweep, large."""

import csv
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path

import cupy
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))
sys.path.insert(0, str(Path(__file__).parents[1]))

import gpu

import teachconv as tc
from teachconv.backends import get
from teachconv.backends.cuda import compiling, gemm, ladder, wgmma, winograd
from teachconv.backends.cuda.launches import Launch
from teachconv.core.kinds import kind_of
from teachconv.running import dispatch
from teachconv.truth.exact import float64_result
from teachconv.verification.cases import Case, find_cases
from teachconv.verification.diffing import check_cases

EIGHTS = Case("eights", "conv2d", (2, 9, 8, 16), (3, 3, 16, 24), 2, "SAME")  # for pipelined_gemm
SMALL = (*find_cases("small")[::12], EIGHTS)
# ragged tiles of 128 and 64 columns, few places with a long depth, many tiles, groups, pads that are not equal
TILES = (
    EIGHTS,
    Case("128 columns", "conv2d", (1, 12, 11, 32), (3, 3, 32, 136), 1, "SAME", bias=True),
    Case("a long depth", "conv2d", (1, 7, 7, 256), (3, 3, 256, 64), 1, "SAME"),
    Case("many tiles", "conv2d", (3, 40, 37, 64), (3, 3, 64, 64), 1, "SAME", bias=True),
    Case("groups", "conv2d", (2, 10, 9, 64), (3, 3, 16, 64), 1, "SAME", bias=True),
    Case("pads", "conv2d", (2, 13, 12, 32), (3, 3, 32, 64), 1, ((1, 2), (0, 3)), 2),
    Case("1x1", "conv2d", (4, 14, 13, 64), (1, 1, 64, 256), bias=True),
    Case("1x1 stride 2", "conv2d", (4, 15, 13, 48), (1, 1, 48, 72), 2, "SAME"),
    Case("5x5 strides", "conv2d", (2, 15, 17, 24), (5, 5, 24, 40), (2, 1), "SAME", bias=True),
    Case("odd channels", "conv2d", (2, 11, 10, 5), (3, 3, 5, 7), 1, "SAME", bias=True),
    Case("depthwise", "depthwise_conv2d", (2, 19, 17, 64), (3, 3, 64, 1), 1, "SAME", bias=True),
    Case("multiplier", "depthwise_conv2d", (2, 16, 15, 24), (5, 5, 24, 2), 2, "SAME"),
)
# for tiles of 256 x 128, more than one of them in each kind of call
TALL = (Case("256 rows", "conv2d", (3, 20, 19, 136), (3, 3, 136, 264), 1, "SAME", bias=True),)
# batch, size, channels: few tiles to many
LAYERS = ((1, 7, 512, 512), (1, 14, 256, 256), (8, 28, 128, 128), (8, 56, 256, 256))
PIPELINED = "pipelined_gemm_float32", "pipelined_gemm_tf32"
GEMMS = "implicit_gemm", *PIPELINED
SIZES = {  # where: the name, what is tried, and for which rungs
    "columns for which tiles have 64": (gemm, "_NARROW", (0, 64, 1 << 30), PIPELINED),
    "blocks that share a depth": (gemm, "ENOUGH_BLOCKS", (132, 264, 528), GEMMS),
    "the least depth of a block": (gemm, "_SHORTEST", (128, 256, 512), GEMMS),
    "bytes of Winograd's blocks": (winograd, "_BLOCK_BYTES", (16 << 20, 64 << 20, 256 << 20), ["winograd2"]),
    "cards with tiles of 128 rows": (gemm, "_SHORT_ON", ((90,), ()), ("pipelined_gemm", PIPELINED[1])),
    "tile": (wgmma, "TILES", [(tile,) for tile in wgmma.TILES], ["wgmma_gemm", "wgmma_gemm_tf32"]),
}


def bring_up(dtypes=("float32", "float16", "float64", "int32")):
    """Every algorithm on one small convolution: compiled, loaded, launched and right."""
    print(cupy.cuda.runtime.getDeviceProperties(0)["name"], cupy.__version__, cupy.cuda.nvrtc.getVersion())
    x, w = (np.ones(shape, "float32") for shape in ((2, 9, 8, 16), (3, 3, 16, 24)))
    for dtype in dtypes:
        report = tc.diff(tc.conv2d, x.astype(dtype), w.astype(dtype), padding="SAME", backends=["cupy"])
        print(report)
        assert report.passed


def kernels(arch):
    """Return the kernels of every rung for the calls of the benchmark, and of the tables of cases."""
    ops = ",".join((*gpu.OPS, "transposed", "depthwise"))
    timed = gpu.problems(gpu.parse(["--ops", ops, "--batch", "1,8"]))
    calls = {(kind_of(problem.kind), problem.geometry, mode.dtype) for mode, problem in timed}
    small = [case for case in find_cases("small") if "empty" not in case.tags]
    for dtype in ("float32", "float16", "bfloat16", "float64", "int64"):
        for case in (*small, *TILES):
            calls |= {(p.call.kind, p.call.geometry, dtype) for p in case.problems(dtype, "integers")}
    return kernels_of(calls, [rung.name for rung in ladder.ALGORITHMS], arch)


def kernels_of(calls, names, arch):
    """Return the kernels of some rungs for calls, each a kind, a geometry and a dtype."""
    found = {}
    for (kind, geometry, dtype), rung in product(calls, ladder.ALGORITHMS):
        is_asked = rung.name in names and not ladder.lacks(rung.name, dtype, arch)
        if is_asked and rung.fits(kind, dtype, geometry):
            laid_out = ladder.schedule(kind, geometry, dtype, rung.name, None, False, False, arch)
            found |= {step.kernel: None for step in laid_out.steps if isinstance(step, Launch)}
    return list(found)


def warm(wanted=None, pool=None):
    """Every variant that the benchmark and the tests launch, compiled by 16 processes."""
    arch = compiling.architecture(0)
    wanted = wanted or kernels(arch)
    with pool or ProcessPoolExecutor(16, multiprocessing.get_context("spawn")) as workers:
        paths = set(workers.map(partial(compiling.compiled, arch=arch), wanted))
    print(len(paths), "kernels in", next(iter(paths)).parent)


def exact(rungs="", dtypes="float32,float16,bfloat16,float64", table=TILES):
    """Rungs on small integers: each result has to equal the exact sum, rounded once.

    F(4x4, 3x3) is not exact, and cuDNN may transform, too. Rungs and dtypes are names with commas between them;
    all rungs if there are none. Without CuPy's memory pool.
    """
    cupy.cuda.set_allocator(None)
    wrong, count, names = 0, 0, [name for name in rungs.split(",") if name]
    problems = [
        (dtype, one)
        for dtype in dtypes.split(",")
        for case in table
        for one in case.problems(dtype, "integers")
    ]
    for dtype, problem in problems:
        want = float64_result(problem.call).astype(problem.call.first.dtype)
        for _, backend, rung in dispatch.candidates([("cupy", get("cupy"))], problem.call):
            if (
                rung not in ladder.ALGORITHMS
                or rung.error == "winograd4"
                or (names and rung.name not in names)
            ):
                continue
            precision = rung.precision if rung.precision in ("fast", "tf32") else None
            got = dispatch.run_canonical(problem.call, backend, rung.name, precision)
            count += 1
            if not np.array_equal(got, want):
                wrong += 1
                print(f"{rung.name} {dtype} {problem.name}: {np.sum(got != want)} of {got.size} cells differ")
    print(f"{wrong} of {count} results differ from the exact sum", flush=True)
    assert count
    assert not wrong


def tall(dtypes="float16,bfloat16,float32", table=TALL, layers=LAYERS, pool=None, ballast=gpu.BALLAST):
    """Tiles of 256 rows, which a Hopper card does not choose: exact sums first, then times beside 128 rows."""
    names, before = ("pipelined_gemm", "pipelined_gemm_tf32"), (gemm._SHORT_ON, gemm.MULTIPROCESSORS)
    gemm._SHORT_ON, gemm.MULTIPROCESSORS = (), 1
    calls = {
        (p.call.kind, p.call.geometry, dtype)
        for dtype in dtypes.split(",")
        for case in table
        for p in case.problems(dtype, "integers")
    }
    wanted = kernels_of(calls, names, compiling.architecture(0))
    assert any("TILE_ROWS=256" in kernel.defines for kernel in wanted)
    warm(wanted, pool)
    exact(",".join(names), dtypes, table)
    gemm._SHORT_ON, gemm.MULTIPROCESSORS = before
    name = "cards with tiles of 128 rows"
    sweep(layers, 5, {name: SIZES[name]}, ballast)


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


def sweep(layers=LAYERS, rounds=5, sizes=SIZES, ballast=gpu.BALLAST):
    """Times what the ladder derives on paper with other sizes; the smallest of each line suits this card."""
    clock = gpu.Clock(cupy, ballast)
    for batch, size, depth, width in layers:
        shapes = (batch, size, size, depth), (3, 3, depth, width)
        for what, (module, name, values, algorithms) in sizes.items():
            for algorithm in algorithms:
                dtype = "float16" if algorithm in ("wgmma_gemm", "pipelined_gemm") else "float32"
                x, w = (cupy.ones(shape, dtype) for shape in shapes)
                before, times = getattr(module, name), []
                for value in values:
                    setattr(module, name, value)
                    ladder.schedule.cache_clear()
                    dispatch._places.cache_clear()

                    def run(algorithm=algorithm, x=x, w=w):
                        tc.conv2d(x, w, padding="SAME", algorithm=algorithm)

                    run()
                    times.append(min(clock.seconds(run) for _ in range(rounds)))
                setattr(module, name, before)
                shown = ", ".join(
                    f"{value}: {1e6 * t:.0f} µs" for value, t in zip(values, times, strict=True)
                )
                print(f"{batch}x{size}x{size}x{depth} {algorithm}, {what}: {shown}", flush=True)
    ladder.schedule.cache_clear()
    dispatch._places.cache_clear()


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
