"""What a comparison comes to: a row for each result, and the report of all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..inspection.explaining import Explanation
from ..support import tables
from .diagnosing import Diagnosis
from .flushing import flushes
from .running import ASPECTS

Cell = tuple[int, ...]  # 4 integers; 3 where a dialect's arrays have no batch


@dataclass(frozen=True, eq=False)
class DiffRow:
    """The comparison of one result with the reference.

    Cells are in NHWC order; those of a filter gradient are indices into the filter, and those of a dialect
    are indices into the dialect's own array.

    Attributes:
        name: the backend, or the name given in ``against``.
        algorithm: the backend's algorithm.
        passed: whether every cell is within its error bound; None if there was no result to judge. The
            note then says why: the backend has no such function, or too little memory for the algorithm.
        max_abs: the largest absolute error.
        max_ulps: the largest error in ulps (units in the last place) of the result, or of the mean term of
            its sum if that is larger: after cancellation, an error of one ulp of a term would be millions of
            ulps of the result.
        bound_fraction: the largest error as a fraction of its bound, or of the tolerance if that is larger;
            at most 1 if ``passed``.
        first_bad: the first cell outside its bound, or None.
        worst: the cell with the largest fraction, or None.
        diagnosis: the mistake that explains the failure, or None.
        seconds: the time of one run.
        note: a remark; for a failure without a diagnosis, the mistake that comes nearest.
        where: which cells are outside their bounds, in at most 60 characters: "channel 32 of 33 (last): never
            written". Indices count from 0.
        bad: the same cells, as booleans in the layout of the result; None if the row passed or has no result
            of the right shape.
        tried: how many mistakes were tried as an explanation.
        looked: how many seconds that took.
    """

    name: str
    algorithm: str
    passed: bool | None
    max_abs: float = 0.0
    max_ulps: float = 0.0
    bound_fraction: float = 0.0
    first_bad: Cell | None = None
    worst: Cell | None = None
    diagnosis: Diagnosis | None = None
    seconds: float | None = None
    note: str = ""
    where: str = ""
    bad: np.ndarray | None = field(default=None, repr=False)
    tried: int = 0
    looked: float = 0.0
    _explain: Callable[..., Explanation] | None = field(default=None, repr=False)
    _theirs: Any = field(default=None, repr=False)

    @property
    def _found(self) -> str:
        """Diagnosis and note as text."""
        return "; ".join(filter(None, [str(self.diagnosis or ""), self.note]))

    @property
    def _place(self) -> str:
        """Where it fails, and in how many cells, as text."""
        if self.bad is None or self.where.startswith((*"0123456789", "all but", "every")):
            return self.where  # words that have the number
        return f"{tables.count(int(self.bad.sum()), 'cell')}: {self.where}"

    @property
    def compared(self) -> bool:
        """Whether there was a result to judge."""
        return self.passed is not None

    @property
    def explanation(self) -> Explanation | None:
        """The first bad cell explained, else the worst: the products of its sum, and their value."""
        cell = self.first_bad or self.worst
        if cell is None or self._explain is None:
            return None
        return replace(self._explain(at=cell), theirs=self._theirs)


def failed_row(name: str, algorithm: str, note: str = "", **facts: Any) -> DiffRow:
    """Return the row of what failed without numbers to compare: they count as infinitely wrong."""
    return DiffRow(name, algorithm, False, np.inf, np.inf, np.inf, note=note, **facts)


@dataclass(frozen=True, eq=False, repr=False)
class DiffReport(tables.Report):
    """The comparison of every backend and algorithm with the reference.

    It prints the verdict first, then what is known of each failure, then a row for each result; with more
    than 60 rows, only failures, if there are any.

    Attributes:
        title: the call.
        rows: one `DiffRow` per result.
        reference_seconds: the time of the reference.
        rtol: the relative error that was allowed beside the bound.
        atol: the absolute error that was allowed beside it.
        loading: name and seconds of what was used for the first time in the process, such as a backend's
            module; no row's time includes it, and the text leaves it out.
        flushed: whether a library, such as one linked with ``-ffast-math``, makes this process flush
            subnormal numbers to zero. Backends ran so; the reference and the judge did not.
        asked: of the calls that a backend took, how many had padding, strides, dilations, groups and a bias;
            the first line names what none of them had. For random calls, also how many were layers as
            networks have them. Empty if one call is compared.
        limits: what the first line says of what was not covered: how large the largest call was that a
            backend took, and whether reads outside arrays could not be seen.
    """

    title: str
    rows: tuple[DiffRow, ...]
    reference_seconds: float | None = None
    rtol: float = 0.0
    atol: float = 0.0
    loading: tuple[tuple[str, float], ...] = ()
    flushed: bool = field(default_factory=flushes)
    asked: tuple[tuple[str, int], ...] = ()
    limits: tuple[str, ...] = ()

    @property
    def passed(self) -> bool | None:
        """Whether every row that was judged lies within its bound; None if none was judged."""
        return tables.verdict(row.passed for row in self.rows if row.compared)

    @property
    def failed(self) -> tuple[DiffRow, ...]:
        """The rows that failed."""
        return tuple(row for row in self.rows if row.passed is False)

    def check(self) -> None:
        """Raise ``AssertionError`` with the failed rows, or if nothing was compared."""
        if not self.passed:
            raise AssertionError(str(replace(self, rows=self.failed) if self.failed else self))

    @property
    def summary(self) -> str:
        """One line: whether it passed, and what was compared."""
        return self._headline() + (f", {self._tolerance}" if self._tolerance else "")

    def _headline(self) -> str:
        why = Counter(row.note.partition(": ")[0] for row in self.rows if not row.compared)
        verdict = {
            None: "nothing was compared",
            True: f"{len(self.rows) - why.total()} pass" if why else "all pass",
            False: f"{len(self.failed)} of {len(self.rows)} FAIL",
        }[self.passed]
        if why:
            reasons = [f"{number:,}: {note}" for note, number in why.most_common(_REASONS)]
            more = f"; {len(why) - _REASONS} more reasons" if len(why) > _REASONS else ""
            verdict += f", {why.total():,} not run ({'; '.join(reasons)}{more})"
        suspicious = sum("suspicious:" in row.note for row in self.rows)
        verdict += f", {suspicious} suspicious" if suspicious else ""
        base = (
            ""
            if self.reference_seconds is None
            else f" (reference: {tables.duration(self.reference_seconds)})"
        )
        flushed = "; this process flushes subnormal numbers to 0, as -ffast-math does" if self.flushed else ""
        never = "".join(f"; {word}: 0 calls" for word, count in self.asked if word in ASPECTS and not count)
        limits = "".join(f"; {limit}" for limit in self.limits)
        return f"{verdict}: {self.title} against the reference{base}{limits}{never}{flushed}"

    @property
    def _tolerance(self) -> str:
        if not (self.rtol or self.atol):
            return ""
        return f"with a tolerance of rtol {self.rtol:g}, atol {self.atol:g} where that is more than the bound"

    def _table(self) -> tables.Table:
        short = len(self.rows) > _ROWS  # what failed is what is asked
        ordered = self.failed if short else sorted(self.rows, key=lambda row: row.passed is not False)
        allowed = "of tolerance" if self._tolerance else "of bound"
        timed = any(row.seconds is not None for row in self.rows)
        shown = {"time": timed, "worst cell": True, "first bad cell": bool(self.failed)}
        optional = [name for name in shown if shown[name]]
        columns = (
            *tables.left("backend", "algorithm", ""),
            *tables.right("max abs", "max ulps", allowed, *optional),
            *tables.left(""),
        )
        rows = [_cells(row, optional) for row in ordered]
        found: dict[str, list[DiffRow]] = {}
        for row in self.failed:
            if row._found:
                found.setdefault(row._found, []).append(row)
        lines = [self._tolerance] if self._tolerance else []
        lines += ["calls: " + "; ".join(f"{word} {count:,}" for word, count in self.asked)] * bool(self.asked)
        for text, alike in found.items():
            names = ", ".join(f"{row.name} {row.algorithm}".strip() for row in alike[:3])
            more = f" and {len(alike) - 3:,} more" if len(alike) > 3 else ""
            tried, looked = sum(row.tried for row in alike), sum(row.looked for row in alike)
            how = (
                f" (tried {tables.count(tried, 'explanation')} in {tables.duration(float(f'{looked:.1g}'))})"
            )
            lines.append(f"{names}{more}: {text}{how if tried and not alike[0].diagnosis else ''}")
        return tables.Table(
            columns if rows else (), rows, self._headline(), lines, marked=range(len(self.failed))
        )


_REASONS = 6  # that the first line of a report has room for
_ROWS = 60  # that a report shows; of a longer one those that failed
_WORDS = {True: "pass", False: "FAIL", None: "not run"}


def _cells(row: DiffRow, optional: Iterable[str]) -> tuple[str, ...]:
    """The row of the table of a report, with these of the columns that not every report has."""
    found = {
        "time": "" if row.seconds is None else tables.duration(row.seconds),
        "worst cell": tables.index(row.worst),
        "first bad cell": tables.index(row.first_bad),
    }
    numbers = row.max_abs, row.max_ulps, row.bound_fraction
    return (
        row.name,
        row.algorithm,
        _WORDS[row.passed],
        *(tables.number(number) if row.compared else "" for number in numbers),
        *(found[name] for name in optional),
        row._place if row.passed is False else row._found,
    )
