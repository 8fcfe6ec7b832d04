"""Diffs backends, and arrays from elsewhere, against the reference: judged by a bound, with a diagnosis.

A comparison that fails is run again with each of the usual mistakes made on purpose (filter flipped,
padding on the other side, ...); the mistake whose result fits the bound is named. If none fits, the row says
which comes nearest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice
from math import inf, prod
from typing import Any

import numpy as np

from ..backends import BOUNDS, HALF_SUMS, WINOGRADS, Algorithm, is_own, pieces_needs, ranks_of, winograd_needs
from ..core.arguments import axis_order, real
from ..core.calls import Call
from ..core.dtypes import accumulator, float_format, is_integer, to_dtype
from ..core.geometry import ConvGeometry
from ..core.kinds import KINDS, Kind
from ..data.seeded import EXACT
from ..inspection.explaining import Explanation, explain
from ..quantized.calls import QuantizedCall
from ..quantized.explaining import call_of_op, is_pool, is_quantized
from ..running import dispatch, nn_ops
from ..support import record
from ..support.argument_types import ArrayLike, Backend
from ..support.devices import call_on_host, refuse_masked, values_on_host
from ..support.errors import (
    ArgumentError,
    ArgumentTypeError,
    ContractError,
    brief,
    is_one_of,
    suggestion,
)
from ..support.memory import check_bytes
from ..support.progress import during, say
from ..truth import bounds
from ..truth.exact import abs_sum, float64_result, never_rounds, signed_sums, unrounded
from ..windows.calls import FUNCTIONS as WINDOWS
from . import window_mistakes
from .cases import CASES, Case, find_cases
from .diagnosing import Found, diagnose, hurried
from .failures import Failure, Tolerance
from .flushing import judging
from .places import (
    ODD,
    held_words,
    independent,
    largest_of_many,
    odd_signs,
    odd_size,
    plain_loops,
    where,
)
from .quantized_cases import quantized_calls
from .reports import Cell, DiffReport, DiffRow, failed_row
from .running import Refused, guarded, never_written, what_went_wrong
from .sizes import diagnose_shape


@judging()
@np.errstate(all="ignore")
def diff(
    op: Callable[..., Any],
    *args: Any,
    backends: Iterable[Backend] | Backend | None = None,
    against: ArrayLike | Mapping[str, ArrayLike] | None = None,
    error: str | Mapping[str, str] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    thorough: bool = False,
    **kwargs: Any,
) -> DiffReport:
    """Compare backends, and arrays from other frameworks, with the reference on one call.

    Args:
        op: any op of teachconv, or a pool, which has no backends: it is compared with ``against``. For a
            convolution of `teachconv.quantized`, the bits must be equal; ``atol=1`` allows one step. With
            ``algorithm`` there are rows of that algorithm only, with ``precision="strict"`` only those of
            algorithms that satisfy it.
        *args: the op's positional arguments.
        backends: names, or modules that implement the contract of `teachconv.backends`, or one of them; None
            for every backend that can run here. There is one row for each algorithm that fits the call. They
            get read-only views of the arrays: a backend that writes to its input fails. An algorithm that the
            backend expects to take more than 5 seconds runs only if ``algorithm`` names it.
        against: an array, or arrays by name, such as {"my port": y}: the output of another framework in the
            layout that the op returns.
        error: how they were computed, which says what bound they are judged by: one word for all, or words by
            name, such as {"my port": "fft"}. None means "direct", products added in any order in the data's
            type, or in float32 for half types; the other words are those of `teachconv.backends.Algorithm`:
            "fft", "winograd", "winograd2", "winograd4", "winograd4_balanced", "tensor", "tf32",
            "float16 accumulation" and "bfloat16 accumulation". Integers must be equal whatever the word. A
            backend's algorithms have words of their own.
        rtol: a relative error to allow as well, for results of lower precision. A cell passes if its error is
            within its bound or within ``atol + rtol * |value|``. None means 0.
        atol: an absolute error to allow as well. None means 0.
        thorough: whether every pair of mistakes is tried on a result that fails, however long it takes. If
            not, the search for an explanation ends after half a second for each result.
        **kwargs: the op's keyword arguments.

    Returns:
        A `DiffReport`: ``.passed``, None if nothing was compared, and ``.rows``. A wrong result is a failed
        row with a diagnosis, never an exception.

    Raises:
        TypeError: for ``backend`` and ``out``, which a comparison does not use.
        ValueError: if ``rtol`` or ``atol`` is negative or not finite, if there are neither backends nor
            arrays to compare, an array has masked elements, ``error`` is not such a word or its bound does
            not hold for the call; and as the op.
        MemoryError: if there is no memory for the reference or the bounds.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(25, dtype="float32").reshape(1, 5, 5, 1)
    >>> w = np.arange(9, dtype="float32").reshape(3, 3, 1, 1)
    >>> flipped = tc.conv2d(x, w[::-1, ::-1])
    >>> report = tc.diff(tc.conv2d, x, w, against={"my port": flipped})
    >>> report.passed, report.rows[-1].diagnosis.code
    (False, 'flipped_filter')
    """
    tolerance = tolerance_of(rtol, atol)
    if is_one_of(op, WINDOWS) or is_pool(op):
        nn_ops.refuse({"backends": backends or None}, op.__name__, backends="it has none, give against=")
        return window_mistakes.compared(op, args, kwargs, against, tolerance)
    args, kwargs = call_on_host(args, kwargs)
    quantized = None
    if is_quantized(op):
        quantized, options = call_of_op(op, args, kwargs)
        call = quantized.integers
    else:
        call, options = nn_ops.call_of(op, args, kwargs, diff)
    nn_ops.refuse(options, "diff", backend="give backends=[...]", out="it returns a report, not an array")
    loaded = len(record.loads)
    found = [(name, guarded(module)) for name, module in dispatch.find_backends(backends)]
    tried = [(name, module, _SUMS) for name, module in found]
    named = options.get("algorithm")
    within = _BUDGET if named in (None, "auto") else inf
    if quantized is None:
        tried = dispatch.candidates(found, call, named, options.get("precision"), within)
    explain_cell = partial(explain, op, *args, **nn_ops.without_options(kwargs))
    if against is None:
        against = {}
    elif not isinstance(against, Mapping):
        against = {"against": against}
    if not found and not against:
        raise ArgumentError("backends is empty, and there is no against: name a backend, or give an array")
    for name, array in against.items():
        refuse_masked(array, f"against[{brief(name)}]")
    words = _error_words(error, against)
    for word in words.values():
        check_error(word, call)

    with during("diff"):
        check_comparison(call)
        start = record.clock()
        # sums of integers are exact in float64, too, and a thousand times as fast
        base = "numpy" if quantized and call.geometry.macs > _QUICK else "reference"
        want = quantized.run_canonical(base) if quantized else dispatch.run_canonical(call, base)
        seconds = record.clock() - start
        truth = Truth(call, want, explain_cell, tolerance, thorough=thorough, quantized=quantized)
        rows: list[DiffRow] = []
        for name, module in found:
            algorithms = [algorithm for _, owner, algorithm in tried if owner is module]
            label = name.rpartition(".")[2]
            rows += _backend_rows(label, module, algorithms, truth, options)
            missing = dispatch.left_out(module, call, named, within)
            rows += [DiffRow(label, algorithm, None, note=reason) for algorithm, reason in missing]
        rows += [
            truth.row(str(name), "", _their_array(array, name), words[name])
            for name, array in against.items()
        ]
    loading = tuple((load.name, load.seconds) for load in record.loads[loaded:])
    title = str(quantized or call.title or call.op.name)
    return DiffReport(title, tuple(rows), seconds, tolerance.rtol, tolerance.atol, loading)


def check_cases(
    modules: Iterable[Any] | None = None,
    dtype: str = "float32",
    data: str = "normal",
    cases: Iterable[Case] | None = None,
    kinds: Iterable[Kind] = KINDS,
    tolerance: Tolerance = Tolerance(),  # noqa: B008 (frozen)
) -> list[DiffRow]:
    """Run the case table with one dtype and one kind of data; a row's name says which problem it is.

    Left out are cases over a number of axes that a module does not have, and large ones whose exact sums
    would take long (`Case.takes`). None for ``cases``: those that are not slow. An algorithm that has failed
    some cases is not run on more large ones, where each diagnosis takes long.
    """
    rows: list[DiffRow] = []
    failed: Counter[tuple[Any, ...]] = Counter()
    found = [(name, guarded(module)) for name, module in dispatch.find_backends(modules)]
    plain_ones = [pair for pair in found if not hasattr(pair[1], "SCHEME")]
    for case in (case for case in (find_cases() if cases is None else cases) if case.takes(dtype, data)):
        say(f"{case.name}, {dtype} {data}")
        for name, module in found:
            if hasattr(module, "SCHEME") and case.geometry.rank in ranks_of(module):
                rows += _quantized_rows(name.rpartition(".")[2], module, case, data, kinds, tolerance)
        large = "small" not in case.tags
        for number, problem in enumerate(case.problems(dtype, data)):
            call = problem.call
            able = [each for each in plain_ones if call.geometry.rank in ranks_of(each[1])]
            if call.kind not in kinds or not able:
                continue
            explain_cell = partial(explain, problem.op, *problem.args, **problem.kwargs)
            truth = Truth(call, _case_result(case, number, call, data), explain_cell, tolerance)
            for name, module in able:
                label = f"{name.rpartition('.')[2]}: {problem.name}, {dtype} {data}"
                fitting = [algorithm for _, _, algorithm in dispatch.candidates([(name, module)], call)]
                for algorithms in [[one] for one in fitting] or [[]]:
                    what = module, call.kind, *(one.name for one in algorithms)
                    if large and failed[what] >= _ENOUGH:
                        note = f"{_ENOUGH} cases before it failed"
                        rows.append(DiffRow(label, algorithms[0].name, None, note=note))
                        continue
                    rows += _backend_rows(label, module, algorithms, truth, {}, timed=False)
                    if rows[-1].diagnosis and not hurried():
                        again = next(islice(case.problems(dtype, data, " again"), number, None)).call
                        want = float64_result(again).astype(again.first.dtype)
                        fresh = Truth(again, want, None, tolerance)
                        rows[-1] = _confirmed(rows[-1], module, algorithms[0], fresh)
                    failed[what] += rows[-1].passed is False
    return rows


ALONE = "with these numbers alone"


def _quantized_rows(
    name: str, module: Any, case: Case, data: str, kinds: Iterable[Kind], tolerance: Tolerance
) -> Iterator[DiffRow]:
    """Run quantized calls with the shapes of a case on a kernel of a scheme, if it has the function."""
    sizes = module.SCHEME, module.TYPES
    again = quantized_calls(case, *sizes, f"{data} again")
    for (words, call), (_, other) in zip(quantized_calls(case, *sizes, data), again, strict=False):
        if call.call.kind in kinds and hasattr(module, str(call.call.kind)):
            truths = (
                Truth(each.integers, each.run_canonical("numpy"), tolerance=tolerance, quantized=each)
                for each in (call, other)
            )
            label = f"{name}: {case.op}: {case.name}, {words}"
            for row in _backend_rows(label, module, module.ALGORITHMS, next(truths), {}, timed=False):
                confirms = row.diagnosis and not hurried()
                yield _confirmed(row, module, module.ALGORITHMS[0], next(truths)) if confirms else row


def _confirmed(row: DiffRow, module: Any, algorithm: Algorithm, truth: Truth) -> DiffRow:
    """Return a row without its name where that does not explain what a backend makes of other numbers."""
    name = row.diagnosis
    with suppress(Exception):  # it fails in another way: nothing is known of the name
        got = np.asarray(truth.run(module, algorithm.name, None))
        failure = truth._failure(got, truth.bound(algorithm.error))
        if name and failure.bad.any() and not diagnose(failure, only=name.code).diagnosis:
            notes = row.note, f"{ALONE}, {name}"
            return replace(row, diagnosis=None, note="; ".join(filter(None, notes)))
    return row


_ENOUGH = 4  # failures that say what is to be said
_BUDGET = 5.0  # seconds of an algorithm that `diff` runs although nobody asked for it
_BRIEF = 0.1  # seconds of a run that is timed a second time
_QUICK = 1 << 17  # multiply-adds whose exact sums take a twentieth of a second
_WHOLE = 1 << 12  # of whole numbers, where sums in float64 are quicker by far

# by problem, dtype and data: they take half of the time, and every backend is judged by the same
_case_results: dict[tuple[str, int, str, str], np.ndarray] = {}


def _case_result(case: Case, number: int, call: Call, data: str) -> np.ndarray:
    """Return the exact result of a problem, rounded once, kept for those of the case table."""
    key = repr(case), number, call.first.dtype.name, data
    if key in _case_results:
        return _case_results[key]
    in_table = any(case is one for one in CASES)
    result = dispatch.run_canonical(call, "reference") if in_table else exact_result(call, data)
    if in_table:
        _case_results[key] = result
        result.setflags(write=False)
    return result


def exact_result(call: Call, data: str) -> np.ndarray:
    """Return the exact result of a call, rounded once: the reference's.

    Whole numbers are summed in float64 without an error, too, and a thousand times as fast.
    """
    if data not in EXACT or call.geometry.macs <= _WHOLE:
        return dispatch.run_canonical(call, "reference")
    with np.errstate(over="ignore"):
        return float64_result(call).astype(call.first.dtype)


class Truth:
    """The reference's result of one call, and what it takes to judge another result by it.

    Args:
        call: the call.
        want: the reference's result, as a backend returns it.
        explain_cell: explains the cell of the result that ``at`` names, or None where nobody asks.
        tolerance: the error that is allowed beside the bound.
        activation: the activation that ``want`` has, which a `Call` does not say.
        thorough: whether all pairs of mistakes are tried on what fails.
        quantized: the quantized call whose sums the call computes, or None.
    """

    def __init__(
        self,
        call: Call,
        want: np.ndarray,
        explain_cell: Callable[..., Explanation] | None = None,
        tolerance: Tolerance = Tolerance(),  # noqa: B008 (frozen)
        activation: str | None = None,
        thorough: bool = False,
        quantized: QuantizedCall | None = None,
    ) -> None:
        self.call, self.want, self._explain, self._thorough = call, want, explain_cell, thorough
        self.tolerance, self.activation, self.quantized = tolerance, activation, quantized
        self.loops: np.ndarray | None = None  # what cython's direct returned, if it has run
        self._bounds: dict[str, np.ndarray] = {}

    # what an equal result does not need takes longer than many a backend
    @cached_property
    def exact(self) -> np.ndarray | None:
        """The result before it was rounded, for half types."""
        exact = unrounded(self.call)
        return np.maximum(exact, 0) if exact is not None and self.activation == "relu" else exact

    @cached_property
    def abs_sum(self) -> np.ndarray:
        """Sum |x||w| of each cell."""
        return np.zeros(()) if is_integer(self.want.dtype) else abs_sum(self.call)

    @cached_property
    def signed(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The sums of the positive and of the negative terms of each cell, where these may overflow."""
        return signed_sums(self.call, self.abs_sum)

    @cached_property
    def _never_overflows(self) -> bool:
        """Whether it is plain from the largest numbers that no sum on the way overflows."""
        call, dtype = self.call, self.want.dtype
        if is_integer(dtype):
            return True
        largest = _largest(call.first) * _largest(call.second) * call.terms
        return largest + (0.0 if call.bias is None else _largest(call.bias)) < float_format(dtype).largest / 4

    def bound(self, error: str, declared: bool = False) -> np.ndarray:
        """The bound of one kind of algorithm, cell by cell; ``declared`` as in `row`."""
        check_error(error, self.call)
        word = "winograd" if error == "winograd2" else error  # one bound where both hold: `bounds.winograd2`
        if word not in self._bounds:
            self._bounds[word] = bound_of(self.call, word, self.abs_sum)
        bound = self._bounds[word]
        if declared and error == "direct":
            bound = np.where(never_rounds(self.call, self.abs_sum), 0, bound)
        return bound

    def _name(self, cell: Cell) -> Cell | None:
        """A cell of the result as the caller numbers it."""
        return self.call.name(self.call.kind.result, cell)

    def row(
        self,
        name: str,
        algorithm: str,
        got: np.ndarray,
        error: str = "direct",
        seconds: float | None = None,
        unwritten: np.ndarray | None = None,
        held: float | None = None,
        declared: bool = False,
    ) -> DiffRow:
        """Judge one result, given in the caller's layout.

        Args:
            name: the row's name.
            algorithm: its algorithm.
            got: the result.
            error: the bound of the algorithm.
            seconds: the time of one run.
            unwritten: which of its cells are known to hold what ``out`` held before the call.
            held: what that was.
            declared: whether the algorithm says of itself that this is its bound. One that sums the products
                directly then has no error where these are whole numbers that are never rounded.
        """
        shape = tuple(self.call.result_shape)
        if got.shape != shape:
            wrong = diagnose_shape(self._failure(got, self.bound(error)), self._explain)
            return failed_row(name, algorithm, diagnosis=wrong, seconds=seconds)
        got, bound, sizes, terms = self.call.from_caller(got), np.zeros(()), np.zeros(()), self.call.terms
        if not got.size:
            return DiffRow(name, algorithm, True, seconds=seconds, note="empty")
        alike = got.dtype == self.want.dtype and np.array_equal(got, self.want)
        if alike and self._never_overflows:
            verdict = bounds.Verdict.of_equals(got.shape)
        else:
            say(f"the bound of {name} {algorithm}")
            bound, sizes = self.bound(error, declared), self.abs_sum
            allowed = np.maximum(bound, self.tolerance.of(self.want))
            signed = self.signed if error in SUMS_OF_PRODUCTS else None
            sums = HALF_SUMS.get(error)
            verdict = bounds.judge(got, self.want, allowed, sizes, terms, signed, self.exact, sums)
        worst, first_bad = _first(verdict.fraction == verdict.fraction.max()), _first(~verdict.ok)
        found, bad, words = Found(), None, ""
        notes = ["some sums may overflow"] if verdict.may_overflow.any() else []
        if not verdict.passed:
            bad = self.call.to_caller(~verdict.ok)
            held_before = unwritten is not None and bool(unwritten[~verdict.ok].all())
            holds_now = "never written" if held_before else held_words(got[~verdict.ok])
            if never_written(got)[~verdict.ok].all():  # of an array that was there to write to
                held_before, holds_now = True, "never written, or added to"
            words = where(self.call, bad, holds_now)
            if not held_before:
                failure = self._failure(got, bound, held)
                found = diagnose(failure, self._thorough) if failure.bad.any() else Found()
                notes.append(found.remark if failure.bad.any() else _LAST_ROUNDING)
                if declared and error == "direct" and (bound < (wide := self.bound(error))).any():
                    hidden = bounds.judge(got, self.want, wide, sizes, terms).passed
                    notes.append(_NEVER_ROUNDS * hidden)
        elif error == "direct" and sizes.ndim and self.tolerance == Tolerance() and verdict.error.any():
            # without errors nothing is odd
            signs = odd_signs(got, self.want, independent(self.call, sizes))
            notes.append(signs or odd_size(verdict, self._plain))
            if notes[-1] and not signs:  # as of TF32, whose error is below the bound of long sums
                odd = self._failure(got, ODD * self._plain * bound)
                notes.append(str(diagnose(odd, only="rounded").diagnosis or ""))
        return DiffRow(
            name,
            algorithm,
            verdict.passed,
            float(verdict.error.max()),
            float(verdict.ulps.max()),
            float(verdict.fraction.max()),
            None if verdict.passed else self._name(first_bad),
            self._name(worst) if verdict.error.any() else None,
            found.diagnosis,
            seconds,
            "; ".join(filter(None, notes)),
            words,
            bad,
            found.tried,
            found.seconds,
            self._explain,
            got[worst if verdict.passed else first_bad].item(),
        )

    @cached_property
    def _plain(self) -> float:
        """The largest error of our own plain loops, as a fraction of its bound; 0 if there is none."""
        got = plain_loops(self.call, self.activation) if self.loops is None else self.loops
        if got is None:
            return 0.0
        sizes = self.abs_sum
        return largest_of_many(bounds.judge(got, self.want, self.bound("direct"), sizes, self.call.terms))

    def _failure(self, got: np.ndarray, bound: np.ndarray, held: float | None = None) -> Failure:
        relu = self.activation == "relu"
        return Failure(self.call, got, self.want, bound, self.tolerance, relu, held, self.quantized)

    def run(self, module: Any, algorithm: str, precision: Any) -> np.ndarray:
        """Return what a backend's algorithm gives, as a backend returns it."""
        if self.quantized is not None:
            return self.quantized.run_canonical(module)
        return dispatch.run_canonical(locked(self.call), module, algorithm, precision)


class WideTruth(Truth):
    """What is known of a call by its result in float64: the reference would take minutes for a network."""

    def __init__(self, call: Call) -> None:
        super().__init__(call, float64_result(call).astype(call.first.dtype))

    def bound(self, error: str, declared: bool = False) -> np.ndarray:
        """The bound of the sum in the data's type, and of that in float64."""
        own = super().bound(error, declared)
        return own + (
            0 if is_integer(self.want.dtype) else bounds.direct(self.abs_sum, self.call.terms, "float64")
        )


def check_comparison(call: Call) -> None:
    """Raise ``MemoryError`` if there is no memory for the bounds and errors of a call, in float64."""
    nbytes = 80 * (call.first.size + call.second.size) + 160 * prod(call.backend_shape)  # measured
    check_bytes(nbytes, f"comparing a result of {list(call.backend_shape)}")


_SUMS = Algorithm("", "the exact sums of a quantized call, in the type that its numbers need")
# only the comparison with the unrounded sum tells this
_LAST_ROUNDING = (
    "each cell is next to the exact sum, but not always what it rounds to: truncated, or rounded twice"
)
_NEVER_ROUNDS = (
    "in whatever order these whole numbers are summed, nothing is rounded; an algorithm that sums something "
    'else says so, such as error="winograd4" or "fft"'
)
# the bounds that need only sum |x||w|
_BY_SIZE = {
    "direct": bounds.direct,
    "tensor": bounds.tensor,
    **dict.fromkeys(HALF_SUMS, bounds.half_accumulation),
}
# those of algorithms that add the products themselves, and not sums of a transform
SUMS_OF_PRODUCTS = (*_BY_SIZE, "tf32")


def check_error(error: str, call: Call) -> None:
    """Raise ``ArgumentError`` if a bound is not known, or does not hold for a call."""
    if not is_one_of(error, BOUNDS):
        raise ArgumentError(
            f"error must be one of {', '.join(BOUNDS)}; got {brief(error)}{suggestion(error, BOUNDS)}"
        )
    if needs := _needs(error, call.kind, call.geometry, call.first.dtype.name):
        raise ArgumentError(f"error {brief(error)} needs {needs}")


def _needs(error: str, kind: Kind, geometry: ConvGeometry, dtype: str) -> str:
    """What a bound needs that a call does not have, or ""."""
    if is_integer(to_dtype(dtype)):
        return ""
    if error in WINOGRADS:
        pieces = error in ("winograd", "winograd4_balanced")
        return (pieces_needs if pieces else winograd_needs)(kind, geometry)
    return "" if dtype == HALF_SUMS.get(error, dtype) else f"data of {HALF_SUMS[error]}; got {dtype}"


def judges(error: str, kind: Kind, geometry: ConvGeometry, dtype: str) -> bool:
    """Return whether a bound is known and holds for calls of a function, and may judge them."""
    return is_one_of(error, BOUNDS) and not _needs(error, kind, geometry, dtype)


def holds(error: str, call: Call) -> bool:
    """Return whether a bound is known and holds for a call, and may judge it."""
    return judges(error, call.kind, call.geometry, call.first.dtype.name)


def bound_of(call: Call, error: str, sizes: np.ndarray) -> np.ndarray:
    """Return the bound of one kind of algorithm, cell by cell.

    Args:
        call: the call.
        error: the name of the bound in `teachconv.truth.bounds`.
        sizes: sum |x||w| of each cell.

    Returns:
        The bound; 0 for integers and where there is nothing to sum.

    Raises:
        ArgumentError: the bound does not hold for the call.
    """
    dtype = call.first.dtype
    check_error(error, call)
    if is_integer(dtype) or 0 in (*call.first.shape, *call.second.shape, *call.backend_shape):
        return np.zeros(())
    if error in _BY_SIZE:
        return _BY_SIZE[error](sizes, call.terms, dtype)
    if error == "tf32":
        return bounds.tf32(sizes, call.terms, _largest(call.first) + _largest(call.second))
    transformed = getattr(bounds, error)(call.kind, call.first, call.second, call.geometry, dtype)
    # data that a transform cannot hold are summed directly instead; and a bias is added at the end
    last = float_format(accumulator(dtype)).unit_roundoff * sizes
    return np.maximum(bounds.direct(sizes, call.terms, dtype), transformed) + last


def _backend_rows(
    name: str,
    module: Any,
    algorithms: Sequence[Algorithm],
    truth: Truth,
    options: Mapping[str, Any],
    timed: bool = True,
) -> Iterable[DiffRow]:
    call, precision = truth.call, options.get("precision")
    if not algorithms and options.get("algorithm") in (None, "auto"):
        of_dtype = f" for {call.first.dtype.name}" if hasattr(module, str(call.kind)) else ""
        yield DiffRow(name, "", None, note=f"has no {call.kind}{of_dtype}")
    for algorithm in algorithms:
        say(f"{name} {algorithm.name}")
        if not holds(algorithm.error, call):
            note = f"its bound, {brief(algorithm.error)}, does not hold for such a call"
            yield DiffRow(name, algorithm.name, None, note=note)
            continue
        try:
            start = record.clock()
            result = truth.run(module, algorithm.name, precision)
            seconds: float | None = record.clock() - start if timed else None
            if seconds is not None and seconds < _BRIEF:  # the first run fills caches
                start = record.clock()
                truth.run(module, algorithm.name, precision)
                seconds = record.clock() - start
            result = np.asarray(result)
            if is_own(module) and (name, algorithm.name) == ("cython", "direct"):
                truth.loops = result
        except Exception as error:  # a backend under test may do anything; a diff reports it
            # the cases are small, and need no memory
            if isinstance(error, Refused) or (isinstance(error, MemoryError) and timed):
                yield DiffRow(name, algorithm.name, None, note=str(error) or type(error).__name__)
                continue
            shape = getattr(getattr(error, "result", None), "shape", call.backend_shape)
            numbers = np.asarray(getattr(error, "result", None)).dtype.kind in "iufV"
            if not isinstance(error, ContractError) or shape == call.backend_shape or not numbers:
                yield failed_row(name, algorithm.name, what_went_wrong(error))
                continue
            # of a result of another size the diagnosis says more
            result, seconds = np.asarray(error.result), None
        if result.shape == call.backend_shape:
            result = call.to_caller(result)
        elif result.ndim == len(call.layout):
            result = result.transpose(axis_order(call.layout))
        yield truth.row(name, algorithm.name, result, algorithm.error, seconds, declared=True)


def locked(call: Call) -> Call:
    """Return a call with views of its arrays that cannot be written to: they are the caller's."""

    def view(array: np.ndarray) -> np.ndarray:
        found = array.view()
        found.flags.writeable = False
        return found

    return call.with_each(view)


def tolerance_of(rtol: Any, atol: Any) -> Tolerance:
    """The two numbers of a tolerance, checked; None for 0."""
    given = {"rtol": rtol, "atol": atol}
    numbers = {name: 0.0 if value is None else real(value, name) for name, value in given.items()}
    for name, number in numbers.items():
        if not (number >= 0 and np.isfinite(number)):
            raise ArgumentError(f"{name} must be 0 or a positive finite number; got {brief(given[name])}")
    return Tolerance(**numbers)


def _error_words(error: Any, against: Mapping[str, Any]) -> dict[str, Any]:
    """How each of the arrays was computed."""
    words: dict[str, Any] = dict.fromkeys(against, "direct")
    if error is None:
        return words
    if not against:
        raise ArgumentError(
            "error must be None without against, as the algorithms of a backend have their own; "
            f"got {brief(error)}"
        )
    given = error if isinstance(error, Mapping) else dict.fromkeys(against, error)
    for name in given:
        if name not in against:
            raise ArgumentError(
                f"error must have names that against has, {', '.join(map(brief, against))}; got {brief(name)}"
            )
    return words | dict(given)


def _their_array(array: Any, name: Any) -> np.ndarray:
    result = values_on_host(array, f"against[{brief(name)}]")
    if result.dtype.kind not in "iuf" and result.dtype.name != "bfloat16":
        raise ArgumentTypeError(
            f"against[{brief(name)}] must be an array of numbers; got dtype {result.dtype}"
        )
    return result


def _largest(array: np.ndarray) -> float:
    """The largest finite number, without its sign."""
    sizes = np.abs(array.astype(np.float64))
    return float(sizes.max(initial=0.0, where=np.isfinite(sizes)))


def _first(where: np.ndarray) -> Cell:
    return tuple(int(index) for index in np.unravel_index(int(where.argmax()), where.shape))
