"""Validates, then times. Each competitor has its own process; one runs at a time, in interleaved rounds.

A result counts only if it is within the bound of direct summation of teachconv's float64 result, which
itself is checked against the exact reference on a small version of the same layer.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from layers import Problem

import teachconv as tc
from teachconv.backends import get
from teachconv.core.dtypes import float_format
from teachconv.running import nn_ops
from teachconv.truth import bounds

SCRIPT = Path(__file__).with_name("peers.py")
TRANSFORMING = ("ncnn",)  # those that may transform the data with larger tiles than winograd2's
OURS = ("teachconv", "plan", "fast_plan", "numpy")  # those that need teachconv, and so this interpreter
START_SECONDS = 120  # to import a framework


class WorkerError(Exception):
    """A competitor's process died or exceeded its time limit."""


class Worker:
    """A competitor's process and both ends of its pipe; restarted if it has died."""

    def __init__(self, name: str, python: str, threads: int, log: Path) -> None:
        self.name, self._python, self._threads, self._log = name, python, threads, log
        self._process: subprocess.Popen[bytes] | None = None
        self.versions: dict[str, str] = {}
        self.problem = ""  # why it cannot run, or ""
        self.start()

    def start(self) -> None:
        """Start the process and wait until it has imported the framework."""
        count = str(self._threads)
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._python, str(SCRIPT), self.name, count],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=os.environ | dict.fromkeys(names, count),
                bufsize=0,
            )
        try:
            hello = self._read(START_SECONDS)
        except WorkerError as error:
            hello = {"broken": str(error)}
        self.problem = hello.get("missing") or hello.get("broken") or ""
        self.versions = hello.get("versions", {})
        if self.problem:
            self.stop()

    def ask(self, request: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """Send a request and return its answer; raise `WorkerError` if none arrives within ``seconds``."""
        if self._process is None:
            self.start()
        if self._process is None:
            raise WorkerError(self.problem)
        assert self._process.stdin is not None
        try:
            self._process.stdin.write((json.dumps(request) + "\n").encode())
            return self._read(seconds)
        except (BrokenPipeError, WorkerError) as error:
            self.stop()
            raise WorkerError(str(error) or "the process died") from error

    def _read(self, seconds: float) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        stdout, buffer, deadline = self._process.stdout, b"", time.monotonic() + seconds
        while not buffer.endswith(b"\n"):
            ready, _, _ = select.select([stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise WorkerError(f"no answer within {seconds:.0f} s")
            part = stdout.read(1 << 16)
            if not part:
                raise WorkerError(f"the process died with status {self._process.wait()}; see {self._log}")
            buffer += part
        answer: dict[str, Any] = json.loads(buffer)
        return answer

    def stop(self) -> None:
        """End the process; `ask` starts it again."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@dataclass
class Timing:
    """What one competitor did on one problem. ``status``: ok, refused, wrong or slow; ``note`` says why."""

    status: str
    note: str = ""
    algorithm: str = ""
    seconds: list[float] = field(default_factory=list)
    bound_fraction: float | None = None

    def gflops(self, flops: int, statistic: str = "min") -> float | None:
        """GFLOP/s of the fastest or the median call; None if nothing was timed."""
        if self.status != "ok":
            return None
        seconds = min(self.seconds) if statistic == "min" else median(self.seconds)
        return flops / seconds / 1e9


@dataclass
class Measurement:
    """All competitors on one problem with one number of threads (0 on a GPU)."""

    problem: Problem
    threads: int
    timings: dict[str, Timing]

    def gflops(self, name: str, statistic: str = "min") -> float | None:
        timing = self.timings.get(name)
        return None if timing is None else timing.gflops(self.problem.flops, statistic)

    def best(self, names: Sequence[str], statistic: str = "min") -> tuple[str, float] | None:
        """Return the fastest of these competitors and its speed."""
        found = [(name, self.gflops(name, statistic)) for name in names]
        timed = [(name, speed) for name, speed in found if speed is not None]
        return max(timed, key=lambda item: item[1]) if timed else None

    def ratio(self, names: Sequence[str], statistic: str = "min", ours: str = "teachconv") -> float | None:
        """Return teachconv's speed divided by that of the fastest of these competitors."""
        mine, best = self.gflops(ours, statistic), self.best(names, statistic)
        return None if mine is None or best is None else mine / best[1]


# ---------------------------------------------------------------------------------------------
# Validation
# ---------------------------------------------------------------------------------------------


def validate_small(problem: Problem) -> str:
    """Check every algorithm against the exact reference on a small version; return the failure, or ""."""
    small = replace(problem, layer=problem.layer.smaller(), batch=2)
    arrays = {name: array.astype(small.dtype) for name, array in small.arrays().items()}
    op, args, options = small.call(arrays)
    report = tc.diff(op, *args, backends=["cython"], **options)
    return "" if report.passed else str(report)


class Truth:
    """A problem's result in float64 and the sum of its absolute terms, which define the bound."""

    def __init__(self, problem: Problem, arrays: Mapping[str, np.ndarray]) -> None:
        images = problem.images
        if problem.kind != "conv2d_backprop_filter":  # a filter gradient needs all images
            arrays = {name: a if name == "w" else a[images] for name, a in arrays.items()}
            problem = replace(problem, batch=len(images))
        wide = {name: array.astype(np.float64) for name, array in arrays.items()}
        self.kind = problem.kind
        self.want = self._run(problem, wide)
        self.abs_sum = self._run(problem, {name: np.abs(array) for name, array in wide.items()})
        op, args, options = problem.call(wide)
        self.call = nn_ops.call_of(op, args, options)[0]
        self.terms = self.call.terms
        self.abs_sum *= 1 + bounds.gamma(self.terms, float_format("float64").unit_roundoff)

    @staticmethod
    def _run(problem: Problem, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
        op, args, options = problem.call(arrays)
        shape = problem.shapes[({"x", "w", "dy"} - set(problem.operands)).pop()]
        return op(*args, **options, backend="cython", precision="strict").reshape(shape)

    def judge(self, got: np.ndarray, algorithm: str = "") -> tuple[float, str]:
        """Return the largest error as a fraction of its bound, and the failure or ""."""
        ours = {entry.name: entry for entry in get("cython").ALGORITHMS}.get(algorithm)
        by_largest = ours is not None and ours.precision != "strict"
        return self.judge_by(bounds.direct(self.abs_sum, self.terms, got.dtype), got, by_largest)

    def judge_transformed(self, got: np.ndarray) -> str:
        """Judge a result beyond the bound of direct summation by that of Winograd's F(4x4, 3x3)."""
        fits = next(a for a in get("cython").ALGORITHMS if a.name == "winograd2").fits
        if not fits(self.call.kind, "float32", self.call.geometry):
            return "not 3x3 at stride 1, so its sums should be direct"
        call = self.call
        bound = bounds.winograd4(call.kind, call.first, call.second, call.geometry, got.dtype)
        return self.judge_by(bound.reshape(self.want.shape), got, False)[1]

    def judge_by(self, allowed: np.ndarray, got: np.ndarray, by_largest: bool) -> tuple[float, str]:
        """Judge by any bound; ``by_largest`` if the bound is relative to the largest sum."""
        if got.shape != self.want.shape:
            return np.inf, f"shape {list(got.shape)}, not {list(self.want.shape)}"
        if by_largest:
            allowed = np.full_like(allowed, allowed.max())
        allowed = allowed + bounds.direct(self.abs_sum, self.terms, "float64")  # error of the float64 result
        verdict = bounds.judge(got, self.want.astype(got.dtype), allowed, self.abs_sum)
        worst = float(verdict.fraction.max(initial=0))
        return worst, "" if verdict.passed else f"error {worst:.3g} times its bound"


# ---------------------------------------------------------------------------------------------
# The race
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    """How long to measure: up to ``rounds`` rounds and ``seconds`` per problem, but at least three rounds."""

    rounds: int = 7
    seconds: float = 2.0
    patience: float = 20.0  # time limit for one competitor to prepare, run and repeat


class Race:
    """The competitors with one number of threads, their processes and their folder of arrays."""

    def __init__(
        self, names: Sequence[str], peer_python: str, threads: int, precision: str | None, budget: Budget
    ) -> None:
        self.threads, self.precision, self.budget = threads, precision, budget
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self._folder = tempfile.TemporaryDirectory(prefix="teachconv-bench-", dir=memory)
        self.folder = Path(self._folder.name)
        log = self.folder / "log"
        self.workers = [Worker(n, sys.executable if n in OURS else peer_python, threads, log) for n in names]
        self.missing = {worker.name: worker.problem for worker in self.workers if worker.problem}
        self.workers = [worker for worker in self.workers if not worker.problem]
        self._truth: tuple[Any, Truth] | None = None

    def close(self) -> None:
        """End the processes and remove the arrays."""
        for worker in self.workers:
            worker.stop()
        self._folder.cleanup()

    def run(self, problem: Problem) -> Measurement:
        """Validate every competitor on one problem, then time those with correct results."""
        truth, files = self._arrays(problem)
        timings: dict[str, Timing] = {}
        estimates: dict[str, float] = {}
        for worker in self.workers:
            timings[worker.name], estimate = self._prepare(worker, problem, truth, files)
            if estimate is not None:
                estimates[worker.name] = estimate
        self._time(timings, estimates)
        return Measurement(problem, self.threads, timings)

    def _arrays(self, problem: Problem) -> tuple[Truth, dict[str, str]]:
        """Return the truth and the files of the operands; both are kept for the next dtype of the problem."""
        key = replace(problem, dtype="")
        files = {name: str(self.folder / f"{name}.npy") for name in problem.operands}
        if self._truth is None or self._truth[0] != key:
            self._truth = None
            arrays = problem.arrays()
            for name, file in files.items():
                np.save(file, arrays[name])
            self._truth = key, Truth(problem, arrays)
        return self._truth[1], files

    def _prepare(
        self, worker: Worker, problem: Problem, truth: Truth, files: Mapping[str, str]
    ) -> tuple[Timing, float | None]:
        """Let one competitor compute the problem; return the seconds of a call if the result is correct."""
        result = self.folder / "result.npy"
        request = {
            "do": "prepare",
            "facts": problem.facts() | {"precision": self.precision},
            "arrays": dict(files),
            "result": str(result),
        }
        try:
            answer = worker.ask(request, self.budget.patience)
        except WorkerError as error:
            return Timing("slow" if "within" in str(error) else "refused", str(error)), None
        if "refused" in answer:
            return Timing("refused", answer["refused"]), None
        algorithm = answer["algorithm"]
        got = np.load(result)
        fraction, wrong = truth.judge(got, algorithm if worker.name in OURS else "")
        if wrong and worker.name in TRANSFORMING:
            wrong = truth.judge_transformed(got)
        result.unlink()
        timing = Timing("wrong" if wrong else "ok", wrong, algorithm, [], fraction)
        if wrong:
            return timing, None
        timing.seconds.append(answer["seconds"])
        return timing, answer["seconds"]

    def _time(self, timings: dict[str, Timing], estimates: Mapping[str, float]) -> None:
        """Time all competitors in rounds; in each round every competitor has the same time."""
        if not estimates:
            return
        budget, once = self.budget, sum(estimates.values())
        rounds = max(min(3, budget.rounds), min(budget.rounds, int(budget.seconds / once)))
        turn = budget.seconds / rounds / len(estimates)
        racing = [worker for worker in self.workers if worker.name in estimates]
        fastest = min(estimates.values())
        for number in range(rounds):
            for worker in racing:
                one_call = estimates[worker.name]
                if number and one_call > 0.3 and one_call > 3 * fastest:
                    continue  # far behind and slow: two calls suffice
                calls = max(1, min(10_000, int(turn / one_call)))
                warm = 1 if one_call < 0.05 else 0  # others have evicted its data from the caches
                if self.threads > 1:
                    time.sleep(0.002)  # let threads that still spin come to rest
                request = {"do": "time", "calls": calls, "warm": warm}
                try:
                    answer = worker.ask(request, budget.patience + 10 * calls * one_call)
                except WorkerError as error:
                    timings[worker.name] = Timing("refused", str(error))
                    racing = [other for other in racing if other is not worker]
                    continue
                timings[worker.name].seconds += answer["seconds"]
