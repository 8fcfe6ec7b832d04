"""Measures the candidates of one call, on request only: nothing is tuned behind the caller's back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median
from typing import Any

from . import backends as backend_table
from . import dispatch, nn_ops, tables
from .devices import array_module, is_on_device

__all__ = ["Measurement", "TuningReport", "autotune"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """How fast one algorithm of one backend ran: median and least of its rounds, in seconds."""

    backend: str
    algorithm: str
    median: float
    least: float
    gflops: float


class TuningReport(tables.Report, list[Measurement]):
    """What `autotune` returns: measurements, the fastest first; prints as a bar chart."""

    @property
    def best(self) -> Measurement:
        """The fastest, by its median."""
        return self[0]

    def _headline(self) -> str:
        best = f", the fastest {self.best.backend} {self.best.algorithm}" if self else ""
        return tables.count(len(self), "measurement") + best

    def _table(self) -> tables.Table:
        columns = (*tables.left("backend", "algorithm"), *tables.right("median", "GFLOP/s"), *tables.left(""))
        rows = [
            (
                item.backend,
                item.algorithm,
                tables.duration(item.median),
                tables.number(item.gflops),
                tables.bar(self.best.median / item.median),
            )
            for item in self
        ]
        return tables.Table(columns, rows)


def autotune(
    op: Callable[..., Any],
    *args: Any,
    backends: Iterable[Any] | None = None,
    rounds: int = 7,
    seconds: float = 2.0,
    **kwargs: Any,
) -> TuningReport:
    """Time every algorithm that fits ``op(*args, **kwargs)`` in interleaved rounds.

    To use the result: ``op(..., backend=best.backend, algorithm=best.algorithm)``. Timings are wall-clock
    times and depend on the machine and its load.

    Args:
        op: any op of teachconv.
        *args: the op's positional arguments.
        backends: names or modules; None for all except the reference, which is not built for speed.
        rounds: the largest number of runs of each candidate.
        seconds: no new round begins after this time.
        **kwargs: the op's keyword arguments.

    Returns:
        A `TuningReport` with the fastest algorithm first; ``.best`` is the fastest.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 8, 8, 4), "float32"), np.ones((3, 3, 4, 4), "float32")
    >>> tc.autotune(tc.conv2d, x, w, backends=["numpy"], rounds=2).best.backend
    'numpy'
    """
    call, _ = nn_ops.call_of(op, args, kwargs)
    names = [name for name in backend_table.TABLE if name != "reference" and not backend_table.why_not(name)]
    names = ["cupy"] if is_on_device(call.first) else names
    candidates = []
    for backend in names if backends is None else backends:
        name, module = dispatch.find_backend(backend, call.first)
        for algorithm in module.ALGORITHMS:
            if algorithm.fits(call.kind, call.first.dtype.name, call.geometry):
                candidates.append((name, module, algorithm.name))
    for _, module, algorithm_name in candidates:
        _run(call, module, algorithm_name)  # imports, caches, page faults
    times: dict[tuple[str, str], list[float]] = {(name, algorithm): [] for name, _, algorithm in candidates}
    deadline = time.perf_counter() + seconds
    for number in range(max(1, rounds)):
        if number and time.perf_counter() > deadline:
            break
        for name, module, algorithm_name in candidates:
            start = time.perf_counter()
            _run(call, module, algorithm_name)
            times[name, algorithm_name].append(time.perf_counter() - start)
    flops = 2 * call.geometry.macs
    measured = [
        Measurement(name, algorithm, median(found), min(found), flops / median(found) / 1e9)
        for (name, algorithm), found in times.items()
    ]
    return TuningReport(sorted(measured, key=lambda item: item.median))


def _run(call: dispatch.Call, module: Any, algorithm: str) -> None:
    """Run, and wait for a GPU: its launches return before the work is done."""
    result = dispatch.run(call, module, algorithm)
    if is_on_device(result):
        array_module(result).cuda.get_current_stream().synchronize()
