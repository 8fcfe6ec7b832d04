"""Times the cupy backend next to PyTorch's cuDNN on the same card, in the same run.

    python benchmarks/gpu.py                                the whole table at batch 1, 8 and 64
    python benchmarks/gpu.py --layers VGG --modes float16 --algorithms
    python benchmarks/gpu.py --shape mine:28x28x64:3x3x128:s2

Validates first: every result must be within the bound of its arithmetic around a float64 result, which modes
of one dtype share; of a filter gradient some channels are judged. A result of a peer that is less exact than
that, but right to three digits, is timed and flagged. Then times with CUDA events, in interleaved rounds.
Before each call the L2 cache is overwritten, and a kernel spins while Python queues the call, so the time is
that of the kernels and not of the interpreter. A mode is a dtype and the arithmetic it permits: tf32 rows
allow TF32 on both sides, float32 rows forbid it on both. The exit status is 1 if a result of teachconv is
wrong, 2 if there is no GPU.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import machine
import numpy as np
import report
from cpu import add_aims_argument, add_layer_arguments, layer_list, progress, some_of
from layers import LAYERS, QUICK_LAYERS, Layer, Problem, expand, fits
from peers import Torch
from racing import Measurement, Timing, Truth
from report import CUDNN

import teachconv as tc
from teachconv.backends import get, why_not
from teachconv.backends.cuda import compiling, ladder
from teachconv.backends.cuda import cudnn as frontend
from teachconv.core.kinds import FORWARD, kind_of
from teachconv.truth import bounds

OPS = ("forward", "input_gradient", "filter_gradient")
BALLAST = 1 << 30  # bytes written between two calls: more than any L2 cache
SPIN = """
extern "C" __global__ void spin(long long cycles) {
    const long long start = clock64();
    while (clock64() - start < cycles) {}
}
"""
HEAD_START = 2  # milliseconds for which it spins: Python takes about 0.1 ms for a call of one kernel


@dataclass(frozen=True)
class Mode:
    """A dtype, the arithmetic it may be computed in, and the bound on its results."""

    name: str
    dtype: str
    precision: str | None
    bound: Callable[[Truth, float], np.ndarray]
    aim: Callable[[Layer], float]


MODES = (
    Mode(
        "float32",
        "float32",
        None,
        lambda truth, _: bounds.direct(truth.abs_sum, truth.terms, "float32"),
        lambda layer: 1.0 if layer.is_3x3 else 0.8,
    ),
    Mode(
        "tf32",
        "float32",
        "tf32",
        lambda truth, largest: bounds.tf32(truth.abs_sum, truth.terms, largest),
        lambda layer: 0.6,
    ),
    Mode(
        "float16",
        "float16",
        None,
        lambda truth, _: bounds.tensor(truth.abs_sum, truth.terms, "float16"),
        lambda layer: 0.6,
    ),
)
# Multiply-adds a cycle of one multiprocessor, by compute capability: NVIDIA's white papers on A100 and H100
RATES = {
    (8, 0): {"float32": 64, "tf32": 512, "float16": 1024},
    (9, 0): {"float32": 128, "tf32": 1024, "float16": 2048},
}
CLOCK = 13  # cudaDevAttrClockRate: the highest clock, in kHz
LESS_EXACT = 1e-3  # of the largest sum |x||w|: an error of a peer above its bound and below this is flagged
SLICE = 8  # output channels of a filter gradient that are judged


# ---------------------------------------------------------------------------------------------
# Competitors: prepare(problem, arrays) returns what is called, and what turns its result into NumPy's
# ---------------------------------------------------------------------------------------------


class Ours:
    """The cupy backend with its own choice of algorithm or a given one."""

    def __init__(self, cupy: Any, mode: Mode, algorithm: str | None = None) -> None:
        self.cupy, self.mode, self.algorithm = cupy, mode, algorithm

    def prepare(self, problem: Problem, arrays: dict[str, np.ndarray]) -> tuple[Any, Any, str]:
        here = {name: self.cupy.asarray(array) for name, array in arrays.items()}
        op, args, options = problem.call(here)
        options |= {"algorithm": self.algorithm, "precision": self.mode.precision}
        chosen = tc.trace(op, *args, **options).algorithm
        return lambda: op(*args, **options), lambda y: y.get(), chosen


class Cudnn(Torch):
    """PyTorch with cuDNN, which first measures its algorithms (cudnn.benchmark)."""

    device = "cuda"

    def __init__(self, mode: Mode) -> None:
        super().__init__(1)
        backends = self.torch.backends
        backends.cudnn.benchmark = True
        backends.cudnn.allow_tf32 = backends.cuda.matmul.allow_tf32 = mode.name == "tf32"

    def prepare(self, problem: Problem, arrays: dict[str, np.ndarray]) -> tuple[Any, Any, str]:  # type: ignore[override]
        return *super().prepare(problem.facts(), arrays), ""


class CudnnChannelsLast(Cudnn):
    channels_last = True


def competitors(cupy: Any, mode: Mode, problem: Problem, every_algorithm: bool) -> dict[str, Any]:
    """Return the available competitors by name; with ``every_algorithm`` also each rung that fits."""
    found: dict[str, Any] = {"teachconv": Ours(cupy, mode)}
    if not frontend.unavailable():  # the same library without PyTorch, held to our bounds
        found["cudnn_frontend"] = Ours(cupy, mode, "cudnn")
    if every_algorithm:
        for entry in get("cupy").ALGORITHMS:
            permitted = (entry.precision == "tf32") == (mode.precision == "tf32") and entry.name != "cudnn"
            if permitted and entry.fits(kind_of(problem.kind), mode.dtype, problem.geometry):
                found[entry.name] = Ours(cupy, mode, entry.name)
    if not cudnn_missing():
        found |= {"cudnn": Cudnn(mode), "cudnn_channels_last": CudnnChannelsLast(mode)}
    return found


def cudnn_missing() -> str:
    """Return why PyTorch's cuDNN is not among the competitors, or ""."""
    try:
        import torch
    except ImportError as error:
        return str(error)
    return "" if torch.cuda.is_available() else "PyTorch sees no GPU"


# ---------------------------------------------------------------------------------------------
# Measuring
# ---------------------------------------------------------------------------------------------


class Clock:
    """Times one call on the card after overwriting the L2 cache.

    A spinning kernel holds the card until Python has queued the whole call. If it ended too early, the call
    is timed again after a longer one; the third time stands, because some calls wait for the card themselves.
    """

    def __init__(self, cupy: Any, ballast: int = BALLAST) -> None:
        self._cuda, self._ballast = cupy.cuda, cupy.zeros(ballast // 4, "float32")
        self._spin = cupy.RawKernel(SPIN, "spin")
        self._cycles = HEAD_START * cupy.cuda.runtime.deviceGetAttribute(CLOCK, cupy.cuda.Device().id)

    def seconds(self, run: Callable[[], Any]) -> float:
        for times in (1, 4, 16):
            start, stop = self._cuda.Event(), self._cuda.Event()
            self._ballast[...] = 0
            self._spin((1,), (1,), (np.int64(times * self._cycles),))
            start.record()
            run()
            card_waited = start.done
            stop.record()
            stop.synchronize()
            if not card_waited:
                break
        return float(self._cuda.get_elapsed_time(start, stop)) / 1e3


class Facts:
    """A problem's arrays and its results in float64, kept for the next mode of the same problem."""

    def __init__(self) -> None:
        self._key: Problem | None = None
        self._arrays: dict[str, np.ndarray] = {}
        self._truths: dict[str, Truth] = {}

    def of(self, problem: Problem) -> tuple[dict[str, np.ndarray], Truth]:
        """Return the arrays in the problem's dtype, and the truth about them."""
        key, dtype = replace(problem, dtype=""), problem.dtype
        if key != self._key:
            self._key, self._arrays, self._truths = key, problem.arrays(), {}
        arrays = {name: array.astype(dtype, copy=False) for name, array in self._arrays.items()}
        if dtype not in self._truths:  # float32 and tf32 have the same
            judged = {name: self.judged(problem, name, array) for name, array in arrays.items()}
            self._truths[dtype] = Truth(self.judged_problem(problem), judged)
        return arrays, self._truths[dtype]

    @staticmethod
    def judged_problem(problem: Problem) -> Problem:
        """Return the part of a problem that is judged: some output channels of a filter gradient."""
        layer = problem.layer
        if problem.kind != "conv2d_backprop_filter" or layer.groups > 1 or layer.out_channels <= SLICE:
            return problem
        return replace(problem, layer=replace(layer, out_channels=SLICE))

    @classmethod
    def judged(cls, problem: Problem, name: str, array: np.ndarray) -> np.ndarray:
        """Return the part of an operand, or of the result of a filter gradient, that is judged."""
        return array if cls.judged_problem(problem) == problem or name == "x" else array[..., :SLICE]


def measure(
    cupy: Any,
    clock: Clock,
    mode: Mode,
    problem: Problem,
    rounds: int,
    every_algorithm: bool,
    facts: Facts | None = None,
) -> Measurement:
    """Validate every competitor on one problem, then time the correct ones in interleaved rounds."""
    arrays, truth = (facts or Facts()).of(problem)
    largest = sum(float(np.abs(array.astype(np.float64)).max()) for array in arrays.values())
    timings: dict[str, Timing] = {}
    racing: dict[str, Callable[[], Any]] = {}
    for name, competitor in competitors(cupy, mode, problem, every_algorithm).items():
        try:
            run, restore, algorithm = competitor.prepare(problem, arrays)
            got = restore(run()).reshape(problem.shapes[({"x", "w", "dy"} - set(problem.operands)).pop()])
        except Exception as error:  # a framework may raise anything; the table shows it
            timings[name] = Timing("refused", f"{type(error).__name__}: {error}")
            continue
        if problem.kind == "conv2d_backprop_filter":
            got = Facts.judged(problem, "w", got)
        else:
            got = got[problem.images]
        allowed = mode.bound(truth, largest)
        if algorithm == "winograd4":
            allowed = allowed + _winograd4_bound(problem, arrays)
        fraction, wrong = truth.judge_by(allowed, got, by_largest=True)
        timings[name] = Timing("wrong" if wrong else "ok", wrong, algorithm, [], fraction)
        if wrong and isinstance(competitor, Cudnn) and _is_less_exact(truth, got):
            timings[name] = Timing("ok", f"less exact: {wrong}", "less exact", [], fraction)
        if timings[name].status == "ok":
            racing[name] = run
            run()  # a second call: compiled, loaded, tuned, memory in the pool
    for _ in range(rounds):
        for name, run in racing.items():
            timings[name].seconds.append(clock.seconds(run))
    return Measurement(replace(problem, dtype=mode.name), 0, timings)


def _is_less_exact(truth: Truth, got: np.ndarray) -> bool:
    """Return whether a result is right, but to fewer digits than its bound asks for."""
    return truth.judge_by(np.full_like(truth.abs_sum, LESS_EXACT * truth.abs_sum.max()), got, False)[1] == ""


def _winograd4_bound(problem: Problem, arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Return the error bound of F(4x4, 3x3) on the images that are judged."""
    data = arrays["x" if problem.kind == "conv2d" else "dy"][problem.images]
    geometry = replace(problem, batch=len(data)).geometry
    return bounds.winograd4(kind_of(problem.kind), data, arrays["w"], geometry, problem.dtype)


def aims(measured: Sequence[Measurement]) -> report.Table:
    """Return a line per op, mode and batch: mean and worst ratio to cuDNN, and the number of layers."""
    lines = [["op", "mode", "batch", "geometric mean", "worst layer", "layers at their aim"]]
    groups: dict[tuple[str, str, int], list[Measurement]] = {}
    for m in measured:
        groups.setdefault((m.problem.op, m.problem.dtype, m.problem.batch), []).append(m)
    for (op, name, batch), group in groups.items():
        mode = next(mode for mode in MODES if mode.name == name)
        ratios = [(m.ratio(CUDNN, "median"), m.problem.layer) for m in group]
        known = [(ratio, layer) for ratio, layer in ratios if ratio is not None]
        if known:
            worst, where = min(known, key=lambda item: item[0])
            reached = sum(ratio >= mode.aim(layer) for ratio, layer in known)
            mean = report.geometric_mean([ratio for ratio, _ in known])
            row = [op.replace("_", " "), name, str(batch), f"{mean:.2f}", f"{worst:.2f} ({where.name})"]
            lines.append([*row, f"{reached} of {len(known)}"])
    return lines


# ---------------------------------------------------------------------------------------------
# The command
# ---------------------------------------------------------------------------------------------


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    modes = [mode.name for mode in MODES]
    every_op = (*OPS, "transposed", "depthwise")
    parser.add_argument("--ops", type=some_of(every_op), default=list(OPS), help=f"of {','.join(every_op)}")
    parser.add_argument("--modes", type=some_of(modes), default=modes, help=f"of {','.join(modes)}")
    add_layer_arguments(parser, "1,8,64", "tiny layers, few rounds")
    add_aims_argument(parser)
    parser.add_argument("--algorithms", action="store_true", help="time every rung of the ladder, too")
    parser.add_argument("--calls", action="store_true", help="only what a call costs before it is queued")
    parser.add_argument("--rounds", type=int, help="interleaved rounds (default: 30)")
    parser.add_argument("--seconds", type=float, help="stop after this time and write what was measured")
    parser.add_argument("--output", type=Path, default=Path("benchmark-results-gpu"), metavar="DIR")
    arguments = parser.parse_args(argv)
    arguments.batch = arguments.batch or ([2] if arguments.quick else [1, 8, 64])
    arguments.rounds = arguments.rounds or (2 if arguments.quick else 30)
    return arguments


def problems(arguments: argparse.Namespace) -> list[tuple[Mode, Problem]]:
    """Return the problems of this run with their modes."""
    layers = layer_list(arguments, QUICK_LAYERS if arguments.quick else LAYERS)
    return [
        (mode, Problem(layer, op, batch, mode.dtype))
        for asked in arguments.ops
        for op in expand(asked)
        for layer in layers
        if fits(layer, op)
        for batch in arguments.batch
        for mode in MODES  # the innermost: they share the arrays and the truth
        if mode.name in arguments.modes
    ]


def describe(cupy: Any) -> dict[str, str]:
    """Return the card, the driver and the versions."""
    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    facts = {
        "GPU": properties["name"].decode(),
        "memory": f"{properties['totalGlobalMem'] / 2**30:.0f} GiB",
        "multiprocessors": str(properties["multiProcessorCount"]),
        "driver's CUDA": str(cupy.cuda.runtime.driverGetVersion()),
        "CUDA runtime": str(cupy.cuda.runtime.runtimeGetVersion()),
        "cupy": cupy.__version__,
        "teachconv": tc.__version__,
    }
    if not frontend.unavailable():
        facts["cuDNN by its frontend"] = import_module("cudnn").backend_version_string()
    if not cudnn_missing():
        import torch

        facts |= {"torch": torch.__version__, "cuDNN": str(torch.backends.cudnn.version())}
    return facts | {"host": machine.describe()["processor"]}


def limits(cupy: Any) -> dict[str, float]:
    """Return GFLOP/s in each mode at the highest clock, as `report.limit` reads it; {} if not known."""
    runtime, device = cupy.cuda.runtime, cupy.cuda.Device().id
    found = runtime.getDeviceProperties(device)
    rates = RATES.get((found["major"], found["minor"]), {})
    cycles = found["multiProcessorCount"] * runtime.deviceGetAttribute(CLOCK, device) / 1e6  # 10⁹ a second
    return {f"gemm {mode} GFLOP/s": 2 * rate * cycles for mode, rate in rates.items()}


def call_seconds(cupy: Any) -> dict[str, float]:
    """Return the seconds until a convolution of an 8x8x1 image returns, without waiting for the card."""
    x, w = cupy.ones((1, 8, 8, 1), "float32"), cupy.ones((3, 3, 1, 1), "float32")
    plan, device = tc.plan(tc.conv2d, w, input_shape=x.shape), cupy.cuda.Device().id
    how = "float32", None, None, False, False, compiling.architecture(device)
    (step,) = ladder.schedule(FORWARD, tc.conv2d_geometry(x.shape, w.shape), *how).steps
    kernel = compiling.function(step.kernel, device, step.shared)
    arrays = {None: np.uint64(0), "first": x, "second": w, "result": tc.conv2d(x, w)}
    values = tuple(arrays[a] if a is None or isinstance(a, str) else a for a in step.arguments)
    seconds = {}
    for name, run in {
        "a call on an 8x8x1 image": lambda: tc.conv2d(x, w),
        "the same by a plan": lambda: plan(x),
        "its kernel launched by CuPy alone": lambda: kernel(
            (step.grid,), (step.block,), values, shared_mem=step.shared
        ),
    }.items():
        times = []
        for _ in range(200):
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
            cupy.cuda.get_current_stream().synchronize()
        seconds[name] = sorted(times)[len(times) // 2]
    return seconds


def page(command: str, facts: dict[str, str], measured: Sequence[Measurement], most: dict[str, float]) -> str:
    """Return all tables of this run, and what they show in short."""
    parts = [
        "# Speed on the GPU",
        f"Made by `{command}` on {datetime.now(UTC):%Y-%m-%d}; do not edit. Calls were timed with CUDA "
        "events in interleaved rounds, with the L2 cache overwritten before each call; GFLOP/s count the "
        "operations of direct summation. The ratio is to the fastest cuDNN: PyTorch's in NCHW and in "
        "channels_last, which measured its algorithms first, and, if it is installed, algorithm='cudnn'. "
        "TF32 was forbidden in the float32 rows and allowed in the tf32 rows, for both sides. A ratio below "
        "1 means that teachconv is behind. The limit "
        "is what the multiprocessors can multiply and add at the card's highest clock.",
        "## In short",
        report.as_markdown([line[:-1] for line in aims(measured)]),
    ]
    for title, table in report.sections(measured, most):
        parts += [f"## {title[0].upper()}{title[1:].partition(':')[0]}", report.as_markdown(table)]
    remarks = report.notes(measured)
    if remarks:
        parts += ["## Without a number", "\n".join(f"- `{remark}`" for remark in remarks)]
    parts += ["## Device and versions", "\n".join(f"- {key}: {value}" for key, value in facts.items())]
    return "\n\n".join(parts) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parse(argv)
    if problem := why_not("cupy"):
        print(f"nothing was measured: {problem}", file=sys.stderr)
        return 2
    import cupy

    work = problems(arguments)
    costs = {name: f"{seconds * 1e6:.1f} µs of Python" for name, seconds in call_seconds(cupy).items()}
    print("\n".join(f"{name}: {cost}" for name, cost in costs.items()))
    if arguments.calls:
        return 0
    facts = describe(cupy)
    clock = Clock(cupy, 1 << 20 if arguments.quick else BALLAST)
    measured, wrong, kept = [], [], Facts()
    stop = time.monotonic() + (arguments.seconds or np.inf)
    with progress(len(work)) as say:
        for number, (mode, problem) in enumerate(work):
            name = f"{problem.op} {problem.layer.name} batch {problem.batch} {mode.name}"
            say(name, number)
            measured.append(measure(cupy, clock, mode, problem, arguments.rounds, arguments.algorithms, kept))
            ours = measured[-1].timings["teachconv"]
            if ours.status != "ok":
                wrong.append(f"{name}: {ours.note}")
            if time.monotonic() > stop:
                break
    facts |= costs
    most = limits(cupy)
    facts |= {key.replace("gemm", "limit of"): f"{value:.0f}" for key, value in most.items()}
    for title, table in report.sections(measured, most):
        print(f"\n{title}\n{report.as_markdown(table)}")
    if len(judged := aims(measured)) > 1:
        print(f"\n{report.as_markdown(judged)}")
    if len(measured) < len(work):
        print(f"out of time: {len(measured)} of {len(work)} problems were measured")
    if missing := cudnn_missing():
        print(f"not here: cuDNN by PyTorch: {missing}")
    for remark in report.notes(measured):
        print(f"no number: {remark}")
    report.write_files(arguments.output, {"machine": facts}, measured)
    command = machine.command_of("benchmarks/gpu.py", argv)
    if arguments.markdown:
        arguments.markdown.write_text(page(command, facts, measured, most), encoding="utf-8")
    if arguments.aims:
        run = {"command": command, "date": f"{datetime.now(UTC):%Y-%m-%d}"}
        report.write_aims(
            arguments.aims, f"Speed on the GPU: {facts['GPU']}", run, report.as_markdown(judged)
        )
    for failure in wrong:
        print(f"WRONG: {failure}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
