"""Checks the gradients of a call against the call itself: no other implementation is needed.

The index law makes one number of three arrays: T(x, w, y) = sum of x * w * y over every triple of cells that
it relates. Each kind of call computes the derivative of T with respect to one of the arrays from the two
others. So <conv(x, w), y>, <x, input gradient> and <w, filter gradient> are all T: the *adjoint identity*.

T is linear in each array. A *central difference* (f(a + h) - f(a - h)) / 2h of one cell is therefore the
derivative itself, whatever the step h, and differs from the gradient by rounding only. The error allowed is
that of the sums on both sides, by `teachconv.truth.bounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum, inf
from typing import Any

import numpy as np

from .. import backends
from ..core.arguments import integer
from ..core.calls import Call
from ..core.dtypes import FORMATS, is_integer, wrap
from ..core.kinds import KINDS, layout_of, sibling
from ..data.seeded import make_array
from ..running import dispatch, nn_ops
from ..support import tables
from ..support.devices import call_on_host
from ..support.errors import ArgumentError
from ..support.progress import during, say
from ..truth.exact import abs_sum, float64_result
from .diffing import Truth, bound_of, check_comparison, locked
from .flushing import judging
from .reports import DiffRow
from .running import Refused, guarded, what_went_wrong

Cell = tuple[int, ...]


@dataclass(frozen=True)
class GradientRow:
    """One check of one gradient.

    Attributes:
        name: what was checked, and the argument that the gradient belongs to.
        passed: whether every error is within its bound; None if each bound is infinite, because sums may
            overflow.
        max_abs: the largest absolute error.
        bound_fraction: the largest error as a fraction of its bound; at most 1 if ``passed``.
        cells: how many cells of the argument were checked.
        worst: the cell with the largest fraction, or None where one number stands for all cells.
        note: a remark.
        wrong: of a check that failed, how the array that is wrong differs from the reference: a `DiffRow`
            with ``where``, ``bad`` and ``diagnosis``; None if both arrays are within their bounds.
        size: how many cells the argument has.
    """

    name: str
    passed: bool | None
    max_abs: float
    bound_fraction: float
    cells: int
    worst: Cell | None = None
    note: str = ""
    wrong: DiffRow | None = None
    size: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class GradientReport(tables.Report):
    """What `check_gradients` found.

    Attributes:
        title: the op, backend and algorithm.
        rows: one `GradientRow` for each check.
    """

    title: str
    rows: tuple[GradientRow, ...]

    @property
    def passed(self) -> bool | None:
        """Whether every check is within its bound; None if one could not be judged, and none fails."""
        return tables.verdict(row.passed for row in self.rows)

    def _headline(self) -> str:
        judged = (row.passed for row in self.rows)
        return f"{tables.verdict_text(judged, _WORDS[None])}: gradients of {self.title}"

    def _table(self) -> tables.Table:
        columns = (
            *tables.left("check", ""),
            *tables.right("max abs", "of bound", "cells", "worst cell"),
            *tables.left(""),
        )
        rows = [
            (
                row.name,
                _WORDS[row.passed],
                *map(tables.number, (row.max_abs, row.bound_fraction)),
                f"{row.cells:,} of {row.size:,}" if row.cells < row.size else f"{row.cells:,}",
                tables.index(row.worst),
                row.note,
            )
            for row in self.rows
        ]
        failed = [i for i, row in enumerate(self.rows) if row.passed is False]
        return tables.Table(columns, rows, self._headline(), marked=failed)


_WORDS = {True: "pass", False: "FAIL", None: "not judged"}


@judging()
@np.errstate(all="ignore")
def check_gradients(
    op: Callable[..., Any], *args: Any, cells: int | None = None, **kwargs: Any
) -> GradientReport:
    """Check the gradients of ``op(*args, **kwargs)``: the adjoint identity, and central differences.

    The gradients are those that the backend computes for this op: of a convolution, its input gradient and
    filter gradient; of a transposed convolution, the convolution and the filter gradient. They are compared
    with the op's own results on the same backend, so an error in either is found.

    Args:
        op: any op of teachconv.
        *args: the op's positional arguments; arrays must be finite and not empty.
        cells: how many cells of each array argument to check by central differences; the first, the last, and
            others chosen at random, the same at every call. Each costs two calls of the op. None for 16, or
            fewer where a call has more than 8 million multiply-adds, but at least two. The rows say how many
            of how many were checked. The adjoint identity is one number of all cells.
        **kwargs: the op's keyword arguments, among them ``backend``, ``algorithm`` and ``precision``. Where
            the algorithm has no gradient, the backend chooses one, and the row says so.

    Returns:
        A `GradientReport`: ``.passed``, None if a check says nothing because sums may overflow, and
        ``.rows``, two for each array argument and one for the bias.

    Raises:
        ValueError, TypeError: as the op; for arrays that are empty, or not finite; and for ``out``.
        MemoryError: if there is no memory for the bounds.

    >>> import numpy as np, teachconv as tc
    >>> x = np.arange(25, dtype="float32").reshape(1, 5, 5, 1)
    >>> report = tc.check_gradients(tc.conv2d, x, np.ones((3, 3, 1, 1), "float32"), 2, "SAME")
    >>> report.passed, [row.name for row in report.rows]  # doctest: +NORMALIZE_WHITESPACE
    (True, ['adjoint identity, input', 'adjoint identity, filters',
            'central differences, input', 'central differences, filters'])
    """
    if cells is not None and integer(cells, "cells") < 1:
        raise ArgumentError(f"cells must be at least 1; got {cells}")
    call, options = nn_ops.call_of(op, *call_on_host(args, kwargs), check_gradients)
    nn_ops.refuse(options, "check_gradients", out="it returns a report, not an array")
    name, module = dispatch.find_backend(options.get("backend"))
    algorithm, precision = options.get("algorithm"), options.get("precision")
    algorithm = dispatch.find_algorithm(name, module, call, algorithm, precision)
    check_comparison(call)
    some = cells or max(2, min(16, _MACS // max(1, call.geometry.macs)))
    form = _Form(call, guarded(module), algorithm, precision)
    form.check()
    with during("check_gradients"):
        rows = [form.tried("adjoint identity", form.adjoint, role) for role in form.arguments]
        rows += [form.tried("central differences", form.differences, role, some) for role in form.arguments]
        if call.bias is not None:
            rows.append(form.tried("central differences", form.differences, "bias", some))
    title = f"{call.title or call.op.name} on {name.rpartition('.')[2]}, algorithm {algorithm or 'auto'}"
    return GradientReport(title, tuple(rows))


_MACS = 1 << 27  # multiply-adds of the calls for the cells of one argument, unless the caller says how many
_COMPUTES = {kind.result: kind for kind in KINDS}  # the kind of call that computes the array of each role


@dataclass(frozen=True)
class _Run:
    """A result of the backend, and how far each of its cells may lie from the exact sum."""

    result: np.ndarray
    error: np.ndarray


class _Form:
    """T(x, w, y) of one call: the arrays of the three roles, and the backend that computes its derivatives.

    In place of the array that the call returns it has seeded integers: the gradient that comes from above.
    """

    def __init__(self, call: Call, module: Any, algorithm: str | None, precision: str | None) -> None:
        self.call, self.module, self.algorithm, self.precision = call, module, algorithm, precision
        kind, self.dtype = call.kind, call.first.dtype
        self.arguments = (kind.first, kind.second)
        self.above = make_array(call.backend_shape, self.dtype, "integers", "above")
        self.arrays = {kind.first: call.first, kind.second: call.second, kind.result: self.above}
        self.exact = is_integer(self.dtype)
        self.gradients: dict[str, _Run] = {}
        if call.bias is not None:  # its gradient is the sum over images and positions, of small integers
            sums = self.above.reshape(-1, call.bias.size).sum(0, np.int64 if self.exact else np.float64)
            self.gradients["bias"] = _Run(sums, np.zeros(sums.shape))

    def check(self) -> None:
        """Raise ``ValueError`` for arrays that have no gradient to check."""
        for role, array in self.arrays.items():
            word = self.call.op.words[role]
            if not array.size:
                raise ArgumentError(f"check_gradients needs arrays that are not empty; {word} is")
            if not np.isfinite(array.astype(np.float64)).all():
                raise ArgumentError(f"check_gradients needs finite numbers; {word} has NaN or infinity")

    # -- runs -------------------------------------------------------------------------------------

    def _call_for(self, role: str) -> Call:
        """The call that computes the derivative with respect to the array of a role."""
        if role not in self.arguments:
            return self.call
        kind = _COMPUTES[role]
        first, second = self.arrays[kind.first], self.arrays[kind.second]
        g, op = self.call.geometry, sibling(self.call.op, kind)
        return Call(op, first, second, g, g.shape_of(role), layout_of(role, g.rank))

    def _algorithms(self, call: Call) -> tuple[str | None, list[str]]:
        """The algorithm to ask for, and the bounds of all that may then run."""
        fitting = [a for a in self.module.ALGORITHMS if a.fits(call.kind, self.dtype.name, call.geometry)]
        asked = [a for a in fitting if a.name == self.algorithm]
        found = asked or [a for a in fitting if a.may_be_chosen(self.precision)]
        of_call = call.kind, self.dtype.name, call.geometry, self.precision
        return (self.algorithm if asked else None), sorted({a.for_call(*of_call).error for a in found})

    def _run(self, call: Call, error: np.ndarray | None = None) -> _Run:
        """Run a call; ``error`` bounds that of its cells, if that is known already."""
        if not hasattr(self.module, call.kind.name):
            raise Refused(f"has no {call.kind}")
        algorithm, _ = self._algorithms(call)
        result = np.asarray(dispatch.run_canonical(locked(call), self.module, algorithm, self.precision))
        return _Run(result, self._error(call) if error is None else error)

    def _error(self, call: Call) -> np.ndarray:
        if self.exact:
            return np.zeros(call.backend_shape)
        _, errors = self._algorithms(call)
        sizes, form = abs_sum(call), FORMATS[self.dtype.name]
        bound = np.max([np.broadcast_to(bound_of(call, e, sizes), sizes.shape) for e in errors], axis=0)
        last = form.unit_roundoff * (sizes + bound) + form.smallest_subnormal  # the result is rounded
        return np.where(sizes + bound < form.largest, bound + last, inf)

    def _gradient(self, role: str) -> _Run:
        if role not in self.gradients:
            self.gradients[role] = self._run(self._call_for(role))
        return self.gradients[role]

    def _note(self, role: str) -> str:
        call = self._call_for(role)
        if self.algorithm is None or self._algorithms(call)[0]:
            return ""
        return f"{self.algorithm} has no {call.kind} for this call: chosen by the backend"

    # -- checks -----------------------------------------------------------------------------------

    def tried(self, name: str, check: Callable[..., GradientRow], role: str, *cells: int) -> GradientRow:
        """Run a check; a backend that is not ours may do anything, and the row says what."""
        label = f"{name}, {self.call.op.words.get(role, role)}"
        try:
            return check(role, *cells)
        except Refused as refused:
            return GradientRow(label, None, 0.0, 0.0, 0, note=str(refused))
        except Exception as error:
            if backends.is_own(self.module):
                raise
            return GradientRow(label, False, inf, inf, 0, note=what_went_wrong(error))

    @cached_property
    def _forward(self) -> _Run:
        return self._run(self.call if self.call.bias is None else replace(self.call, bias=None))

    def adjoint(self, role: str) -> GradientRow:
        """<op(a, b), above> = <a, gradient of a>, without the bias, which is added to T."""
        left, right = self._forward, self._gradient(role)
        array = self.arrays[role]
        error = self._distance(_dot(left.result, self.above), _dot(right.result, array))
        limit = 0.0 if self.exact else _weighted(left, self.above) + _weighted(right, array)
        return self._row("adjoint identity", role, [(error, limit, None)], array.size, array.size)

    def differences(self, role: str, cells: int) -> GradientRow:
        """Central differences of some cells of an argument, or of the bias, beside the gradient."""
        place = {self.arguments[0]: "first", self.arguments[1]: "second"}.get(role, "bias")
        array, gradient = getattr(self.call, place), self._gradient(role)
        step = self._step(array)
        # the same for every cell: the numbers of all calls are no larger than these
        error = self._error(replace(self.call, **{place: np.maximum(np.abs(array), step)}))
        # arrays of ones: with them a cell reaches what its tap meets; the bias is added whatever they are
        ones = replace(
            self.call.with_each(lambda each: np.full(each.shape, float(place != "bias"))), bias=None
        )
        found = []
        for number, cell in enumerate(_chosen(array.shape, cells)):
            say(f"{role}, cell {number + 1} of {cells}")
            one = np.zeros(array.shape)
            one[cell] = 1
            reached = float64_result(replace(ones, **{place: one})) != 0  # type: ignore[arg-type]
            # around 0, where no rounding is
            moved = (np.where(one != 0, value, array) for value in (step, -step))
            changed = (replace(self.call, **{place: other}) for other in moved)
            slope, limit = self._slope(changed, error, reached, step)
            expected = gradient.result[cell].item()
            apart = self._distance(slope, 2 * expected if self.exact else expected)
            named = cell if place == "bias" else self.call.name(role, cell)
            found.append((apart, limit + float(gradient.error[cell]), named))
        return self._row("central differences", role, found, len(found), array.size)

    def _slope(
        self, calls: Iterator[Call], error: np.ndarray, reached: np.ndarray, step: Any
    ) -> tuple[Any, float]:
        """(f(a + h) - f(a - h)) / 2h of f = <op, above>, where the cell reaches, and the error of that.

        For integers it is not divided, because they wrap around.
        """
        runs = [self._run(call, error) for call in calls]
        above = self.above[reached]
        ahead, behind = (_dot(run.result[reached], above) for run in runs)
        if self.exact:
            return ahead - behind, 0.0
        parts = [_Run(run.result[reached], run.error[reached]) for run in runs]
        return (ahead - behind) / (2 * step), sum(_weighted(part, above) for part in parts) / (2 * step)

    def _step(self, array: np.ndarray) -> Any:
        """A power of two as large as the numbers are: exact, and rounding matters least."""
        largest = float(np.abs(array.astype(np.float64)).max())
        step = 1.0 if self.exact or not largest else 2.0 ** (int(np.frexp(largest)[1]) - 1)
        return self.dtype.type(step)

    def _distance(self, left: Any, right: Any) -> float:
        """How far two numbers are apart; those of an integer type may differ by whole turns."""
        return abs(float(wrap(int(left) - int(right), self.dtype))) if self.exact else abs(left - right)

    def _wrong(self, role: str) -> DiffRow | None:
        """Which of the two is wrong, the result of the op or the gradient, and how, by the reference."""
        for call in (self.call, self._call_for(role)):
            truth = Truth(call, dispatch.run_canonical(call, "reference"))
            error = max(self._algorithms(call)[1], key=lambda each: float(np.max(truth.bound(each))))
            name = self.call.op.words[call.kind.result] + (" gradient" if call is not self.call else "")
            row = truth.row(name, self.algorithm or "", call.to_caller(self._run(call).result), error)
            if row.passed is False:
                return row
        return None

    def _row(
        self, check: str, role: str, found: Sequence[tuple[float, float, Cell | None]], cells: int, size: int
    ) -> GradientRow:
        """The worst of what was found; where sums may overflow, nothing can be said."""
        judged = [(_fraction(error, limit), cell) for error, limit, cell in found]
        worst, cell = max(judged, key=lambda item: item[0])
        known = [error if error == error else inf for error, limit, _ in found if limit < inf]
        passed = bool(worst <= 1) if known else None
        wrong = self._wrong(role) if passed is False else None
        notes = [self._note(role), "some sums may overflow" if len(known) < len(found) else ""]
        notes += [f"{wrong.name} wrong in {wrong.where}", wrong._found] if wrong else []
        name, note = f"{check}, {self.call.op.words.get(role, role)}", "; ".join(filter(None, notes))
        return GradientRow(name, passed, max(known, default=0.0), worst, cells, cell, note, wrong, size)


def _fraction(error: float, limit: float) -> float:
    if limit == inf or error == 0:
        return 0.0
    return error / limit if limit and error == error else inf


def _dot(left: np.ndarray, right: np.ndarray) -> Any:
    """<left, right>: of integers exactly, of floats with exact sums of products rounded to float64."""
    if is_integer(left.dtype):
        return int((left.astype(object) * right.astype(object)).sum())
    products = (left.astype(np.float64) * right.astype(np.float64))[right != 0]
    return fsum(products) if np.isfinite(products).all() else float("nan")


def _weighted(run: _Run, weights: np.ndarray) -> float:
    """How far <run, weights> may lie from the exact value: by the errors of the cells, and by `_dot`'s."""
    size = np.abs(weights.astype(np.float64))
    unit = FORMATS["float64"].unit_roundoff
    error = run.error + 4 * unit * np.abs(run.result.astype(np.float64))
    error = np.where(run.error == inf, inf, error)  # the result may be NaN there
    return float((size * error)[size != 0].sum())


def _chosen(shape: Cell, cells: int) -> list[Cell]:
    """The first cell, the last, and others at random, but the same at every call."""
    size = int(np.prod(shape))
    random = np.random.Generator(np.random.PCG64(size)).permutation(size)
    picked = list(dict.fromkeys([0, size - 1, *random[: cells + 2].tolist()]))[: min(cells, size)]
    return [tuple(int(i) for i in np.unravel_index(index, shape)) for index in sorted(picked)]
