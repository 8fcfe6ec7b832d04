"""Measures the candidates of one call, on request only: nothing is tuned behind the caller's back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from statistics import median
from types import ModuleType
from typing import Any

from ..backends import Algorithm
from ..core.arguments import integer, real
from ..core.calls import Call
from ..core.geometry import Conv2DGeometry
from ..core.kinds import layout_of
from ..core.law import AxisGeometry
from ..support import record, tables
from ..support.argument_types import Backend
from ..support.devices import call_on_host, is_on_device, seconds_on_device
from ..support.errors import ArgumentError, is_one_of
from ..support.progress import during, say
from . import dispatch, nn_ops

_FIRST_PIECE = 20_000  # multiply-adds: the first part of a call that is timed for an estimate
_GROWTH = 4  # how many times as large the next part is, at most


@dataclass(frozen=True, slots=True)
class Measurement:
    """How fast one algorithm of one backend is.

    Attributes:
        backend: the backend.
        algorithm: the algorithm.
        median: seconds, the median of its rounds.
        least: seconds of the fastest round.
        gflops: GFLOP/s by the median, counting the operations of direct summation.
        estimated: whether the seconds are estimated from a part of the call, because all of it would take
            longer than the time limit.
        over_reference: how many times as fast as the reference it is; the reference's time is estimated. 0 if
            the reference has too little memory for the call.
        over_numpy: how many times as fast as the numpy backend, or 0.
    """

    backend: Any  # the name of one in the table, which every op takes, or of a module of your own
    algorithm: str
    median: float
    least: float
    gflops: float
    estimated: bool = False
    over_reference: float = 0.0
    over_numpy: float = 0.0


class TuningReport(tables.Report, list[Measurement]):
    """What `autotune` returns: measurements, the fastest first, then estimates; prints as a bar chart.

    Attributes:
        skipped: a line for each algorithm that has too little memory for the call, with the reason.
    """

    skipped: tuple[str, ...] = ()

    @property
    def best(self) -> Measurement:
        """The fastest, by its median."""
        return self[0]

    def _headline(self) -> str:
        best = f", the fastest {self.best.backend} {self.best.algorithm}" if self else ""
        return tables.count(len(self), "measurement") + best

    def _table(self) -> tables.Table:
        titles = "median", "GFLOP/s", "× reference", "× numpy"
        columns = (*tables.left("backend", "algorithm"), *tables.right(*titles), *tables.bars(""))
        rows = [
            (
                item.backend,
                item.algorithm,
                ("about " if item.estimated else "") + tables.duration(item.median),
                tables.number(item.gflops),
                *(tables.number(over) if over else "" for over in (item.over_reference, item.over_numpy)),
                tables.bar(min(1.0, self.best.median / item.median)),
            )
            for item in self
        ]
        notes = [f"left out: {line}" for line in self.skipped]
        if any(item.estimated for item in self):
            notes.append(
                "about: estimated from a part of the call; all of it exceeds the time limit (seconds=...)"
            )
        return tables.Table(columns, rows, notes=notes)


def autotune(
    op: Callable[..., Any],
    *args: Any,
    backends: Iterable[Backend] | Backend | None = None,
    rounds: int = 7,
    seconds: float = 2.0,
    **kwargs: Any,
) -> TuningReport:
    """Time every algorithm that fits ``op(*args, **kwargs)`` in interleaved rounds.

    To use the result: ``op(..., backend=best.backend, algorithm=best.algorithm)``. Timings are wall-clock
    times, or CUDA events' if the arrays are on a GPU, and depend on the machine and its load. Each algorithm
    first computes a small part of the call; one that would exceed the time limit is not run on all of it, and
    its time is an estimate.

    Args:
        op: any op of teachconv. With ``algorithm`` only that algorithm is timed; otherwise those that
            ``precision`` allows, as the op itself would choose from.
        *args: the op's positional arguments.
        backends: names or modules, or one of them; None for all except the reference, which is not built for
            speed.
        rounds: the largest number of runs of each candidate.
        seconds: the time limit: a run that would probably end after it is not started. The parts that are
            timed for the estimates take some of it, and at least a few hundredths of a second.
        **kwargs: the op's keyword arguments.

    Returns:
        A ``TuningReport`` with the fastest algorithm first, estimates last; ``.best`` is the first. An
        algorithm whose memory does not suffice is left out, and ``.skipped`` says why.

    Raises:
        ValueError: if ``rounds`` or ``seconds`` is not positive, or ``backends`` has no algorithm for it.
        TypeError: if ``rounds`` is not an integer or ``seconds`` not a number, and for ``backend`` and
            ``out``, which a measurement does not use.
        MemoryError: if no algorithm has enough memory for the call.

    >>> import numpy as np, teachconv as tc
    >>> x, w = np.ones((1, 8, 8, 4), "float32"), np.ones((3, 3, 4, 4), "float32")
    >>> tc.autotune(tc.conv2d, x, w, backends=["numpy"], rounds=2).best.backend
    'numpy'
    """
    rounds = integer(rounds, "rounds", "an integer")
    seconds = real(seconds, "seconds")
    if rounds < 1 or not seconds > 0:
        raise ArgumentError(f"rounds must be at least 1 and seconds above 0; got {rounds} and {seconds}")
    start = record.clock()
    call, options = nn_ops.call_of(op, args, kwargs, autotune)
    nn_ops.refuse(options, "autotune", backend="give backends=[...]", out="it returns timings, not an array")
    algorithm, precision = options.get("algorithm"), options.get("precision")
    places = dispatch.find_backends(backends, call.first)
    fitting = dispatch.candidates(places, call, algorithm, precision)
    if is_one_of(algorithm, (None, "auto")):
        fitting = [one for one in fitting if one[2].may_be_chosen(precision)]
    if not fitting:
        names = ", ".join(name for name, _ in places) or "none"
        raise ArgumentError(f"backends must have an algorithm for this call; got {names}")
    candidates = [_Candidate(call, name, module, one, precision) for name, module, one in fitting]
    base_args, base_kwargs = call_on_host(args, kwargs) if is_on_device(call.first) else (args, kwargs)
    base_call, _ = nn_ops.call_of(op, base_args, base_kwargs)
    bases = [_Candidate(base_call, name, dispatch.find_backend(name)[1]) for name in ("reference", "numpy")]
    share = seconds / 3 / (len(candidates) + len(bases))  # a third of the time is for estimates
    with during("autotune"):
        for one in (*candidates, *bases):
            say(f"estimating {one}")
            one.attempt(one.estimate, share)
        _run_rounds(candidates, rounds, start + seconds)
    skipped = tuple(f"{one}: {one.problem}" for one in candidates if one.problem)
    if len(skipped) == len(candidates):
        raise MemoryError(f"no algorithm has enough memory for this call; {'; '.join(skipped)}")
    reference, numpy = (
        min([one.seconds for one in candidates if one.name == base.name], default=base.seconds)
        for base in bases
    )
    flops = 2 * call.geometry.macs
    measured = [
        Measurement(
            one.name,
            one.algorithm.name if one.algorithm else "",
            one.seconds,
            min(one.times, default=one.seconds),
            flops / one.seconds / 1e9,
            not one.times,
            *(0.0 if base == inf else base / one.seconds for base in (reference, numpy)),
        )
        for one in candidates
        if not one.problem
    ]
    report = TuningReport(sorted(measured, key=lambda item: (item.estimated, item.median)))
    report.skipped = skipped
    return report


def _run_rounds(candidates: Sequence[_Candidate], rounds: int, deadline: float) -> None:
    """Run the candidates in turn until the deadline, the quickest first; leave out those that do not fit."""
    fitting: list[_Candidate] = []
    end = record.clock()
    for one in sorted(candidates, key=lambda one: one.estimated):
        end += 2 * one.estimated  # a run that fills caches, and one that counts
        if end <= deadline:
            fitting.append(one)
    for one in fitting:
        say(f"running {one}")
        one.attempt(one.run, one.call)
    for number in range(rounds if fitting else 0):
        say(f"round {number + 1} of {rounds}")
        for one in fitting:
            if number and record.clock() + one.seconds > deadline:
                return
            one.attempt(one.measure)


class _Candidate:
    """An algorithm of a backend on one call, None for what the backend would choose, and its times."""

    def __init__(
        self,
        call: Call,
        name: str,
        module: ModuleType,
        algorithm: Algorithm | None = None,
        precision: str | None = None,
    ) -> None:
        self.call, self.name, self.module = call, name, module
        self.algorithm, self.precision = algorithm, precision
        self.estimated = 0.0
        self.times: list[float] = []
        self.problem = ""  # what says that the memory does not suffice

    def __str__(self) -> str:
        return f"{self.name} {self.algorithm.name}" if self.algorithm else self.name

    @property
    def seconds(self) -> float:
        """The median of the rounds, or the estimate."""
        return median(self.times) if self.times else self.estimated

    def attempt(self, step: Callable[..., None], *args: Any) -> None:
        """Take a step, unless the memory was too small before; if it is now, the candidate takes no more."""
        try:
            if not self.problem:
                step(*args)
        except MemoryError as error:
            self.problem, self.estimated = str(error) or "out of memory", inf
            self.times.clear()

    def measure(self) -> None:
        """Run the whole call, and keep the time."""
        self.times.append(_timed(self, self.call))

    def run(self, call: Call) -> None:
        name = self.algorithm.name if self.algorithm else None
        dispatch.run(call, self.module, name, self.precision)

    def estimate(self, enough: float) -> None:
        """Time larger and larger parts of the call, for ``enough`` seconds or until a part is all of it.

        The time of all of it is the least that any part says: other programs, and what a call costs whatever
        its size, make a part look slower than it is, never quicker.
        """
        macs, size, end = self.call.geometry.macs, _FIRST_PIECE, record.clock() + enough
        self.estimated = inf
        while True:
            piece = _piece(self.call, size)
            whole = piece is self.call
            facts = piece.kind, piece.first.dtype.name, piece.geometry
            if whole or self.algorithm is None or self.algorithm.fits(*facts):
                seconds = _timed(self, piece)  # it fills caches, too
                if 4 * seconds < enough:
                    seconds = min(_timed(self, piece) for _ in range(1 if whole else 3))
                scale = 1.0 if whole else macs / piece.geometry.macs
                self.estimated = seconds if whole else min(self.estimated, seconds * scale)
                if whole or record.clock() + _GROWTH * seconds > end:
                    return
            size *= _GROWTH


def _timed(one: _Candidate, call: Call) -> float:
    """Return the seconds of a run: by the clock, or by CUDA events if the arrays are on a GPU."""
    if is_on_device(call.first):
        return seconds_on_device(call.first, lambda: one.run(call))
    start = record.clock()
    one.run(call)
    return record.clock() - start


def _piece(call: Call, macs: int) -> Call:
    """Return at most about ``macs`` multiply-adds of a call: the call itself, or its first part of each axis.

    The images go first; then the longest axis is halved again and again, so that a part has the call's
    proportions: some algorithms work plane by plane, others pixel by pixel.
    """
    g = call.geometry
    if g.macs <= macs:
        return call
    part = replace(g, batch=1)
    while part.macs > macs:
        part = _halved(part)

    def cut(array: Any, role: str) -> Any:
        return array[tuple(slice(size) for size in part.shape_of(role))]

    kind = call.kind
    return replace(
        call,
        first=cut(call.first, kind.first),
        second=cut(call.second, kind.second),
        geometry=part,
        result_shape=part.shape_of(kind.result),
        layout=layout_of(kind.result, g.rank),
        bias=None,
        names=None,
    )


def _halved(g: Conv2DGeometry) -> Conv2DGeometry:
    """Return a geometry with half of an axis, of the channels or of the groups, whichever are the most."""
    ins, outs = g.in_channels // g.groups, g.out_channels // g.groups
    sizes = [*(axis.out_size for axis in g.axes), g.groups, ins, outs]
    sizes[sizes.index(max(sizes))] //= 2
    *places, groups, ins, outs = sizes
    axes = tuple(_first_outputs(axis, size) for axis, size in zip(g.axes, places, strict=True))
    return replace(g, axes=axes, in_channels=groups * ins, out_channels=groups * outs, groups=groups)


def _first_outputs(axis: AxisGeometry, outs: int) -> AxisGeometry:
    """Return an axis that ends with output ``outs`` - 1; the whole axis if that is its last."""
    if outs == axis.out_size:
        return axis
    last = axis.in_index(outs - 1, axis.filter_size - 1)
    return replace(axis, in_size=max(1, min(axis.in_size, last + 1)), out_size=outs)
