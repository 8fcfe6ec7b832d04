"""Checks that a module keeps the contract of `teachconv.backends`: its numbers, and every argument.

The case table checks the numbers. What a backend can ignore without a wrong number there is checked here:
``out``, bias and relu, arrays of any strides, arrays that must not be written to, a choice of algorithm that
is left to the backend, and NaN.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from math import log2
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np

from .. import backends
from ..backends import Algorithm
from ..core.calls import Call
from ..core.dtypes import float_format, is_integer, to_dtype
from ..core.kinds import INPUT_GRADIENT, KINDS, Kind, kind_of, layout_of
from ..data.seeded import DATA
from ..running import dispatch
from ..support import record, tables
from ..support.argument_types import Backend, DTypeLike
from ..support.errors import ArgumentError, ArgumentTypeError, ContractError, brief, words_of
from ..support.progress import during
from .cases import Case, find_cases
from .diagnosing import at_most
from .diffing import (
    SUMS_OF_PRODUCTS,
    Truth,
    check_cases,
    exact_result,
    holds,
    locked,
    tolerance_of,
)
from .failures import Tolerance
from .flushing import judging
from .places import cells_in_words
from .reports import DiffReport, DiffRow, failed_row
from .running import ASPECTS, SIZES, Refused, Wrapped, never_written, watch, what_went_wrong


@judging()
@at_most(10.0)  # a backend with one bug may fail in a thousand rows
def check_backend(
    module: Backend,
    dtypes: Iterable[DTypeLike] | DTypeLike | None = None,
    *,
    tags: Iterable[str] | str | None = None,
    kinds: Iterable[str] | str | None = None,
    data: Iterable[str] | str | None = None,
    slow: bool = False,
    thorough: bool = False,
    require: Iterable[str] | str = (),
    rtol: float | None = None,
    atol: float | None = None,
) -> DiffReport:
    """Check that a module keeps the contract of `teachconv.backends`, before it is in the table.

    Every named case runs twice on every algorithm: a backend that gives different bits the second time fails.
    Among them are sizes of real layers, and convolutions over one axis or three where ``RANKS`` has 1 or 3. A
    few cases are run again with ``out=``, with bias and relu, on arrays of any memory strides that lie amid
    cells of NaN, with new weights at an old address, with subnormal and huge numbers, with NaN, and without
    an algorithm, so that a backend that ignores one of these fails; and so does one that writes to its input
    or outside ``out``, or that returns the same memory twice.

    Args:
        module: the backend: the three functions, or some of them, and ``ALGORITHMS``; what
            `teachconv.testing.kernel` makes of a plain function; or the name of a backend in the table.
        dtypes: which dtypes to check, or one of them; None for its ``DTYPES``, or all that its algorithms
            list, bfloat16 only where the package ml_dtypes is installed. One that no algorithm lists is left
            out.
        tags: only cases that have one of these tags, such as "groups", "transposed" or "small"; None for all.
        kinds: the functions to check, such as "conv2d_backprop_filter", or one of them; None for all three.
        data: the kinds of data of the cases, such as "scaled", or one of them; None for "normal" and
            "integers". Large cases are run on these two alone, and in integer dtypes on "integers". If they
            are named, a few cases run with NaN, subnormal or huge numbers only where "nonfinite", "tiny" or
            "huge" is among them.
        slow: whether to run the cases that take long as well: layers at full size, indices beyond 20 bits.
        thorough: whether to run all cases in all dtypes. If not, those of more than 2^15 multiply-adds are
            run in one alone, float32 if it is among them, else the first, and the report says how many were
            left out; for NumPy's backend that takes a quarter of the time.
        require: the names of cases that must run, such as "same stride 2, odd input": one that the backend
            does not take is a failed row.
        rtol: a relative error to allow beside the bound, as in `diff`; None for 0.
        atol: an absolute error to allow beside it; None for 0.

    Returns:
        A `DiffReport` with a row for each check, each judged by the bound of its algorithm.

    Raises:
        ValueError: if a part of the contract is missing, no backend of the table has the name, no
            algorithm lists any of ``dtypes``, there is no such tag, kind, data or case, no case with these
            tags is one for the backend, or a tolerance is negative.
        TypeError: if ``module`` is None or an object that cannot be hashed, its ``ALGORITHMS`` is not a tuple
            of `teachconv.backends.Algorithm`, or there is no such dtype.

    >>> import teachconv as tc
    >>> from teachconv.backends import numpy_backend
    >>> tc.check_backend(numpy_backend, "float32", tags="small").passed
    True
    """
    if module is None:
        raise ArgumentTypeError(
            f"module must be a backend or the name of one, {', '.join(backends.TABLE)}; got None"
        )
    name, module = dispatch.find_backend(module)  # raises, and says what is missing
    asked = Counter[tuple[Kind, str]]()
    name, module = name.rpartition(".")[2], Wrapped(module, partial(watch, asked=asked))
    known = backends.dtypes_of(module.ALGORITHMS)
    if dtypes is None:
        wanted = [
            dtype
            for dtype in getattr(module, "DTYPES", known)
            if dtype != "bfloat16" or find_spec("ml_dtypes")
        ]
    else:
        several = [dtypes] if isinstance(dtypes, (str, type, np.dtype)) else dtypes
        named = [to_dtype(dtype).name for dtype in several]
        wanted = [dtype for dtype in named if dtype in known]
        if not wanted:
            raise ArgumentError(f"dtypes {named}: the algorithms of {name} list {', '.join(known)}")
    cases, tolerance = find_cases(tags, slow), tolerance_of(rtol, atol)
    chosen = [kind_of(kind) for kind in words_of(kinds, "kinds", map(str, KINDS))]
    if tags is not None and not any(_concerns(case, module, chosen) for case in cases):
        axes = " or ".join(map(str, backends.ranks_of(module)))
        raise ArgumentError(
            f"tags {brief(tags)}: no case with one of these is for {name}, which takes calls over {axes} "
            "spatial axes; leave tags out for all cases"
        )
    required = words_of(require, "require", [case.name for case in cases]) if require else []
    repeated, rows = Wrapped(module, _run_again), []
    whole = "float32" if "float32" in wanted else wanted[0]
    everywhere = [case for case in cases if case.name in required or case.geometry.macs <= _EVERYWHERE]
    with during(f"check_backend of {name}"):
        for dtype in wanted:
            now = [case for case in cases if thorough or dtype == whole or case in everywhere]
            left = [case for case in cases if case not in now and _concerns(case, module, chosen)]
            for each in words_of(("normal", "integers") if data is None else data, "data", DATA):
                rows += check_cases([repeated], dtype, each, now, chosen, tolerance)
                labels = [f"{name}: {case.name}, {dtype} {each}" for case in left if case.takes(dtype, each)]
                rows += [DiffRow(label, "", None, note="left to thorough=True") for label in labels]
            for case in cases:
                checks = [WAYS[way] for way in ways_on(data) if case.name in WAYS[way].cases]
                rows += _contract_rows(name, module, dtype, case, chosen, checks, tolerance)
    rows += required_rows(required, rows)
    return DiffReport(
        f"case table and contract on {name}",
        tuple(rows),
        None,
        tolerance.rtol,
        tolerance.atol,
        asked=told(module, asked),
        limits=limits(module, asked),
    )


def told(module: Any, asked: Counter[tuple[Kind, str]]) -> tuple[tuple[str, int], ...]:
    """How many of the calls that `watch` counted told a backend of padding, strides and the other aspects.

    A function that is given images that are padded already is never told of padding; a filter gradient has no
    bias.
    """
    padded = getattr(module, "padded", lambda kind: False)
    spared = {(kind, "padding") for kind in KINDS if asked[kind, "padding"] and padded(str(kind))}
    counted = asked.keys() - spared
    biased = not asked or not all(kind.sums_images for kind, _ in asked)
    words = [word for word in ASPECTS if word != "bias" or biased]
    return tuple((word, sum(asked[key] for key in counted if key[1] == word)) for word in words)


def limits(module: Any, asked: Counter[tuple[Kind, str]]) -> tuple[str, ...]:
    """What the calls that `watch` counted say nothing of: larger ones, and reads that are not seen."""
    largest = {word: max((asked[key] for key in asked if key[1] == word), default=0) for word in SIZES}
    said = ", ".join(f"{word} {size:,}" for word, size in largest.items())
    here = getattr(module, "in_this_process", None)  # None: ours, or a module
    unseen = "reads outside arrays: not looked for" + " (isolate=True does)" * bool(here)
    return (
        *[f"at most {said}"] * any(largest.values()),
        *[unseen] * (here is not None and not getattr(module, "fenced", False)),
    )


_EVERYWHERE = 1 << 15  # multiply-adds of a case that every dtype runs
_ONCE, _SHORT = 1 << 24, 0.02  # of one that is not run again, unless it takes no more seconds
_RACE, _RUNS, _MOST_RUNS = 1 << 16, 4, 20  # of one that may have threads, which runs again and again if short


def _concerns(case: Case, module: Any, kinds: Iterable[Kind]) -> bool:
    """Whether a case has calls that a backend may have to run."""
    has = case.geometry.rank in backends.ranks_of(module)
    return has and ("transposed" not in case.tags or INPUT_GRADIENT in kinds)


@judging()
def case_rows(
    module: Any,
    case: Case,
    dtype: str,
    data: str,
    kinds: Iterable[Kind] = KINDS,
    way: str | None = None,
    tolerance: Tolerance = Tolerance(),  # noqa: B008 (frozen)
    asked: Counter[tuple[Kind, str]] | None = None,
) -> list[DiffRow]:
    """Run one case on a backend as `check_backend` does: twice, or in one of `WAYS`, then on integers."""
    name, module = dispatch.find_backend(module)
    module = Wrapped(module, partial(watch, asked=asked))
    if way is None or hasattr(module, "SCHEME"):  # of which each call has numbers of its own
        return check_cases([Wrapped(module, _run_again)], dtype, data, [case], kinds, tolerance)
    return list(_contract_rows(name.rpartition(".")[2], module, dtype, case, kinds, [WAYS[way]], tolerance))


def ways_on(data: Any) -> list[str]:
    """The names of `WAYS` that run on these kinds of numbers; all for None."""
    chosen = ("integers", *words_of(data, "data", DATA))
    return [name for name, check in WAYS.items() if check.data in chosen]


def required_rows(names: Iterable[str], rows: Iterable[DiffRow]) -> list[DiffRow]:
    """A failed row for each named case of which no row was compared."""
    ran = [f"{row.name}," for row in rows if row.compared]
    missing = [name for name in names if not any(f": {name}, " in each for each in ran)]
    return [failed_row(name, "", "required, and not run") for name in missing]


def _run_again(kind: Kind, function: Callable[..., np.ndarray], *args: Any, **options: Any) -> np.ndarray:
    """Run a function, and again unless that takes long; raise ``ContractError`` if the bits differ."""
    macs, began = args[2].macs, record.clock()
    before = np.array(function(*args, **options))
    short = record.clock() < began + _SHORT
    if macs > _ONCE and not short:
        return before
    if before.dtype.kind != "O":  # new memory is often zero, as a cell that is left out may have to be
        held = [np.full_like(before, _HELD[1]) for _ in range(20)]
        del held
    least, most = (_RUNS, _MOST_RUNS) if short and macs > _RACE else (2, 2)
    for run in range(2, most + 1):
        result = function(*args, **options)
        _check_same_bits(kind, before, result)
        if run >= least and record.clock() > began + 2 * _SHORT:
            break
    return result


def _check_same_bits(kind: Kind, before: np.ndarray, result: np.ndarray) -> None:
    """Raise ``ContractError`` if two runs of one call differ, and say where."""
    if before.dtype.kind != "O" and before.tobytes() != np.asarray(result).tobytes():
        differ = np.atleast_1d((before != result) & ~((before != before) & (result != result)))
        letters = layout_of(kind.result, before.ndim - 2)
        places = cells_in_words(differ, letters) if differ.any() and before.ndim > 2 else "in NaN"
        raise ContractError(f"gives other bits when run again: {places}", result)


# small cases: among them padding, strides, dilations, groups, depthwise, a crop and a transposed call
_NAMES = (
    *("same", "groups stride 2 dilation 2", "crop and pad", "depthwise multiplier", "default", "1x1"),
    *("many channels", "one axis", "causal", "three axes"),
)
_FEW = ("same", "depthwise multiplier", "causal")

_HELD = (-77, 99)  # what `out` holds before a call


@dataclass(frozen=True)
class _Check:
    """One way to call a backend.

    Attributes:
        name: what is asked of the backend.
        run: runs a call on a module with these options, and returns the result.
        activation: the activation, but not of a filter gradient, which has none.
        bias: whether the call has a bias; None if that is left to the case.
        change: returns the call with different numbers.
        cases: the names of the cases that are run.
        precision: with which ``precision`` the choice of an algorithm is left to the backend; "" if each
            algorithm is asked for.
        data: the kind of numbers, of `teachconv.data.seeded.DATA`.
    """

    name: str
    run: Callable[..., np.ndarray]
    activation: str | None = None
    bias: bool | None = None
    change: Callable[[Call], Call] | None = None
    cases: tuple[str, ...] = _FEW
    precision: str | None = ""
    data: str = "integers"

    def concerns(self, call: Call) -> bool:
        """Whether the check says anything of a call."""
        ends = self.run is plain and self.activation and self.change is None
        if call.kind.sums_images and (ends or self.run is _after_its_bytes):
            return False  # a filter gradient has neither bias nor activation, and no filters
        if self.change is _with_nan_weight and any(
            max(axis.pad_before, axis.pad_after) > 0
            or (call.kind.scatters and (axis.filter_size, axis.in_size) != (1, axis.out_size))
            for axis in call.geometry.axes
        ):
            return False  # NaN times 0 is NaN: a kernel that multiplies with padding may spread it
        whole = self.change in (None, _with_repeats) and self.data != "nonfinite"
        return whole or not is_integer(call.first.dtype)

    def truth(self, call: Call, tolerance: Tolerance) -> Truth:
        """The reference's result of what is asked."""
        activation = None if call.kind.sums_images else self.activation
        if self.bias is False:
            call = replace(call, bias=None)
        elif self.bias and call.bias is None and not call.kind.sums_images:
            channels = call.backend_shape[-1]
            call = replace(call, bias=(np.arange(channels) % 5 - 2).astype(call.first.dtype))
        call = locked(call if self.change is None else self.change(call))
        want = exact_result(call, self.data)
        want = np.maximum(want, 0) if activation else want
        return Truth(call, want, tolerance=tolerance, activation=activation)

    def rows(
        self, label: str, module: ModuleType, fitting: list[Algorithm], call: Call, tolerance: Tolerance
    ) -> Iterator[DiffRow]:
        """One row for each algorithm, or one where the choice is left to the backend."""
        if self.precision != "":
            fitting = [one for one in fitting if one.may_be_chosen(self.precision)]
        own = backends.is_own(getattr(module, "module", module))
        # a transform may overflow, and spreads NaN; only ours give way then
        if self.change in (_huge, _with_nan, _with_nan_weight) and not own:
            fitting = [one for one in fitting if one.error in SUMS_OF_PRODUCTS]
        if not fitting:
            return
        truth = self.truth(call, tolerance)
        if self.precision == "":
            for one in fitting:
                yield self._row(label, module, one.name, one.name, one.error, truth)
        else:  # any of them may run
            widest = max(fitting, key=lambda one: float(truth.bound(one.error).max()))
            yield self._row(label, module, None, "", widest.error, truth)

    def _row(
        self, label: str, module: ModuleType, asked: str | None, shown: str, error: str, truth: Truth
    ) -> DiffRow:
        options = {"algorithm": asked, "precision": self.precision or None, "activation": truth.activation}
        try:
            result = self.run(truth.call, module, **options)
        except Refused as refused:
            return DiffRow(label, shown, None, note=str(refused))
        except Exception as raised:  # a backend under test may do anything; the report says what
            return failed_row(label, shown, what_went_wrong(raised))
        unwritten = np.ma.getmaskarray(result)  # cells of out that hold what they held before
        result = np.ma.getdata(result).copy()
        result[unwritten & (result == truth.want)] = _HELD[1]
        result = truth.call.to_caller(result)
        return truth.row(label, shown, result, error, unwritten=unwritten, held=_HELD[0], declared=True)


def _contract_rows(
    name: str,
    module: Any,
    dtype: str,
    case: Case,
    kinds: Iterable[Kind],
    checks: Iterable[_Check],
    tolerance: Tolerance,
) -> Iterator[DiffRow]:
    for problem in case.problems(dtype, "integers") if checks and not hasattr(module, "SCHEME") else ():
        call = problem.call
        found = [(name, module)] if call.kind in kinds else []
        fitting = [one for _, _, one in dispatch.candidates(found, call) if holds(one.error, call)]
        for check in checks:
            if check.concerns(call):
                label = f"{name}: {problem.name}, {dtype}, {check.name}"
                yield from check.rows(label, module, fitting, call, tolerance)


# ---------------------------------------------------------------------------------------------
# Where arrays lie
# ---------------------------------------------------------------------------------------------

_Laid: TypeAlias = tuple[np.ndarray, np.ndarray]  # a block of memory, and an array in it
_Layout: TypeAlias = Callable[[np.ndarray, Any], _Laid]
_GUARD = 1024  # cells before and behind a contiguous array


def packed(array: np.ndarray, guard: Any, beyond: int = 1) -> _Laid:
    """Contiguous, one element or another number beyond an address that 64 divides."""
    block = np.full(array.size + 2 * _GUARD + 64, guard, array.dtype)
    start = _GUARD + (beyond - block.ctypes.data // array.itemsize - _GUARD) % (64 // array.itemsize)
    part = block[start : start + array.size].reshape(array.shape)
    part[...] = array
    return block, part


def _among(where: Any, order: Any, array: np.ndarray, guard: Any) -> _Laid:
    """Some cells of a block that has twice as many along each axis; the bias has no rows and columns."""
    block = np.full([2 * size + 2 for size in array.shape], guard, array.dtype, order)
    part = block[where if array.ndim > 1 else slice(None, None, -2)]
    part = part[tuple(slice(1, size + 1) for size in array.shape)]
    part[...] = array
    return block, part


def _channels_first(array: np.ndarray, guard: Any) -> _Laid:
    """Contiguous with the channels first, as a caller of NCHW has it."""
    first = min(1, array.ndim - 1)
    block, part = packed(np.moveaxis(array, -1, first), guard)
    return block, np.moveaxis(part, first, -1)


def fortran(array: np.ndarray, guard: Any) -> _Laid:
    """Contiguous in Fortran's order: the first axis innermost, without a gap."""
    block, part = packed(array.T, guard)
    return block, part.T


def _cut(axes: slice, array: np.ndarray, guard: Any) -> _Laid:
    """A crop of a larger array along some of its axes: what is left between cells is not used.

    Args:
        axes: which of them are cut.
        array: what is to lie there.
        guard: what the cells around it hold.
    """
    cut_axes = range(array.ndim)[axes]
    block = np.full([n + 3 * (axis in cut_axes) for axis, n in enumerate(array.shape)], guard, array.dtype)
    part = block[tuple(slice(axis in cut_axes, n + (axis in cut_axes)) for axis, n in enumerate(array.shape))]
    part[...] = array
    return block, part


def _once(array: np.ndarray) -> np.ndarray:
    """The first cells along the second axis and the last one."""
    ends = 1, array.ndim - 1
    return array[tuple(slice(0, 1 if axis in ends else None) for axis in range(array.ndim))]


def _repeated(array: np.ndarray, guard: Any) -> _Laid:
    """An array as `np.broadcast_to` gives it: along the second axis and the last all cells are one."""
    block, part = packed(_once(array), guard)
    return block, np.broadcast_to(part, array.shape)


def is_cut(array: np.ndarray) -> bool:
    """Whether an array lies as `cut`, `cut_rows` and `cut_images` lay it."""
    steps = array.strides
    falling = all(left >= right for left, right in zip(steps, steps[1:], strict=False))
    return falling and steps[-1] == array.itemsize and not array.flags.c_contiguous


def layout_like(array: np.ndarray) -> _Layout:
    """Return what lays other numbers as an array lies that is not contiguous."""
    if array[:1].flags.c_contiguous:
        return cut_images
    if is_cut(array):
        return cut
    return fortran if array.flags.f_contiguous else every_second_channel


def guard_of(dtype: np.dtype[Any]) -> Any:
    """Return what lies around an array: NaN, or the largest integer."""
    return np.iinfo(dtype).max if is_integer(dtype) else np.nan


cut, cut_rows = partial(_cut, slice(None)), partial(_cut, slice(-1, None))
cut_images = partial(_cut, slice(1, 2))  # each of which lies in one piece
every_second_channel = partial(_among, (..., slice(None, None, -1), slice(None, None, 2)), "C")
_backwards = partial(_among, (slice(None, None, -2), slice(None, None, -2)), "C")
_first_axis_innermost = partial(_among, ..., "F")


# ---------------------------------------------------------------------------------------------
# Ways to run a call
# ---------------------------------------------------------------------------------------------


def plain(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Run a call as it is."""
    return dispatch.run_canonical(call, module, **options)


def into_out(layout: _Layout, call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Fill ``out`` twice, from two sentinels: where the results differ, what ``out`` held is in them.

    The cells that were never written are masked.
    """

    def filled(sentinel: int) -> np.ndarray:
        block, out = layout(np.full(call.backend_shape, sentinel, call.first.dtype), sentinel)
        dispatch.run_canonical(call, module, out=out, **options)
        result = out.copy()
        check_guards(block, out, sentinel, "out", "around it, or between its rows,")
        return result

    found = [filled(sentinel) for sentinel in _HELD]
    unwritten = (found[0] == _HELD[0]) & (found[1] == _HELD[1])
    by = found[0].astype(np.float64) - found[1] - (_HELD[0] - _HELD[1])
    if np.any((found[0] != found[1]) & (np.abs(by) > 1)):
        _check_same_bits(call.kind, found[0], filled(_HELD[0]))
        raise ContractError("the result depends on what out held before")
    return np.ma.array(found[0], mask=unwritten)


def check_guards(block: np.ndarray, out: np.ndarray, guard: Any, name: str, where: str) -> None:
    """Raise ``ContractError`` if a guard changed in a block in which ``out`` lies; overwrite ``out``."""
    out[...] = guard
    if outside := int((block != guard).sum()):
        raise ContractError(f"wrote outside {name}: {tables.count(outside, 'cell')} {where} changed")


def amid_guards(layout: _Layout, call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Run a call whose arrays may not be written to, and lie amid NaN or the largest integer."""
    guard = guard_of(call.first.dtype)
    moved = locked(call.with_each(lambda array: layout(array, guard)[1]))
    result = np.array(dispatch.run_canonical(moved, module, **options))
    if outside := int(((result != result) & ~never_written(result)).sum()):
        raise ContractError(
            "read outside its arrays: memory around or between them gives "
            f"{tables.count(outside, 'cell')} of the result"
        )
    return result


def _writeable(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Run a call on arrays that could be written to; `watch` sees whether they were."""
    return dispatch.run_canonical(call.with_each(np.copy), module, **options)


def _several(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Keep the result of a call while others run."""
    result = dispatch.run_canonical(call, module, **options)
    kept = result.copy()
    for later in range(1, _LATER + 1):
        dispatch.run_canonical(replace(call, first=(-1 - later) * call.first), module, **options)
        if kept.tobytes() != result.tobytes():
            words = "the second" if later == 1 else f"the one {later} calls later"
            raise ContractError(f"two calls returned the same memory: {words} changed the first one's result")
    return result


_LATER = 8  # calls in which a result must stay as it was

_CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    ", which began like this one": lambda numbers: np.where(
        np.arange(numbers.size) < numbers.size // 2, numbers, 2 * numbers + 1
    ),
    ", of which one number differs": lambda numbers: numbers + (np.arange(numbers.size) == numbers.size // 2),
    ", which had the same numbers in another order": lambda numbers: numbers[::-1],
    ", which had the same numbers with other signs": lambda numbers: -numbers,
    "": lambda numbers: 3 - numbers,
}


def _new_numbers(layout: _Layout, call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Run a call, and again after writing other numbers to the memory of one of its arrays.

    First the second half changes, then one number in the middle, then the order of all, their signs, and all:
    who tells arrays apart by some of their numbers, by their sum or their size, is found, too.
    """
    moved = call.with_each(lambda array: layout(array, 0)[1])
    at_first = result = dispatch.run_canonical(moved, module, **options)
    for role, name in (("second", call.kind.words[1]), ("first", call.kind.words[0]), ("bias", "bias")):
        array, right, was = getattr(moved, role), getattr(call, role), call
        changes: dict[str, Any] = {"": _CHANGES[""]} if role == "bias" else dict(_CHANGES)
        changes[" and before that"] = None  # as they were
        for words, change in changes.items() if array is not None else ():
            array[...] = change(array.ravel()).reshape(array.shape) if change else right
            now = replace(call, **{role: array.copy()})
            before, result = result, dispatch.run_canonical(moved, module, **options)
            if (  # as it has to be where another array is 0
                before.tobytes() == result.tobytes()
                and np.isfinite(result.astype(np.float64)).any()
                and len({exact_result(each, "integers").tobytes() for each in (was, now)}) > 1
            ):
                raise ContractError(
                    f"the result is that of the {name} that was at this address before{words}"
                )
            elsewhere = now.with_each(lambda array: layout(array, 0)[1])
            again = dispatch.run_canonical(elsewhere, module, **options) if change else at_first
            _check_same_bits(call.kind, again, result)
            was = now
    return result


def _after_nan(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Run a call after one on NaN that has more channels: what a kernel keeps may still hold some of it."""
    g, dtype = call.geometry, call.first.dtype
    more: dict[str, Any] = {"in_channels": g.in_channels + 7}
    if call.kind.scatters:
        more = {"out_channels": g.out_channels + 7}
    if g.groups > 1:
        more = {name: 2 * getattr(g, name) for name in ("in_channels", "out_channels", "groups")}
    larger = replace(g, **more)
    roles = call.kind.first, call.kind.second
    first, second = (np.full(larger.shape_of(role), np.nan, dtype) for role in roles)
    bias = None if call.bias is None else np.full(larger.shape_of(call.kind.result)[-1:], np.nan, dtype)
    with suppress(Refused, ArgumentError):  # a kernel or an algorithm may not take as many channels
        wider = replace(call, first=first, second=second, bias=bias, geometry=larger)
        dispatch.run_canonical(wider, module, **options)
    return dispatch.run_canonical(call, module, **options)


def _after_its_bytes(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Run a call after one whose filters have the same bytes, and in and out channels exchanged."""
    g, letters = call.geometry, layout_of("filters", call.geometry.rank)
    turned = replace(g, in_channels=g.out_channels, out_channels=g.in_channels)
    theirs = getattr(module, "FILTERS", letters) + letters  # in whose memory the bytes are the same
    order = sorted(range(len(letters)), key=lambda axis: theirs.index(letters[axis]))
    filters = call.second.transpose(order).reshape([turned.filters_shape[axis] for axis in order])
    first = np.resize(call.first, turned.shape_of(call.kind.first))
    other = replace(
        call, first=first, second=filters.transpose(np.argsort(order)), bias=None, geometry=turned
    )
    with suppress(Refused, ArgumentError):  # a kernel or an algorithm may not take these
        dispatch.run_canonical(other, module, **options)
    return dispatch.run_canonical(call, module, **options)


def _with_nan(call: Call) -> Call:
    first, second = call.first.copy(), call.second.copy()
    middle = first.shape[1] // 2
    first[:1, middle : middle + 1, ..., :1] = np.nan
    second[:1] = 0  # NaN times 0 is NaN: no product may be left out
    if call.bias is None:
        return replace(call, first=first, second=second)
    bias = call.bias.copy()
    bias[1:][-1:] = np.nan  # of the last of several channels
    return replace(call, first=first, second=second, bias=bias)


def _with_repeats(call: Call) -> Call:
    return call.with_each(lambda array: np.array(np.broadcast_to(_once(array), array.shape)))


def _with_nan_weight(call: Call) -> Call:
    second = call.second.copy()
    second[..., :1] = np.nan
    return replace(call, second=second)


def _subnormal(call: Call) -> Call:
    """The first array's numbers below the smallest normal number; no bits of the result are lost."""
    return _times(call, 8 * float_format(call.first.dtype).smallest_subnormal)


def _huge(call: Call) -> Call:
    """Numbers of both arrays as large as they may be if no sum is to overflow, whatever its order."""
    power = int(log2(float_format(call.first.dtype).largest / call.terms)) - 6
    of_second = min(20, power // 2)
    return _times(call, 2.0 ** (power - of_second), 2.0**of_second)


def _times(call: Call, factor: float, of_second: float = 1.0) -> Call:
    first = (call.first.astype(np.float64) * factor).astype(call.first.dtype)
    return replace(call, first=first, second=(call.second.astype(np.float64) * of_second).astype(first.dtype))


WAYS: dict[str, _Check] = {
    check.name: check
    for check in (
        _Check("out=", partial(into_out, packed), cases=_NAMES),
        _Check("bias and relu", plain, "relu", True, cases=_NAMES),
        _Check("misaligned, read-only", partial(amid_guards, packed), cases=_NAMES),
        _Check("strided, read-only", partial(amid_guards, every_second_channel), cases=_NAMES),
        _Check("relu without bias", plain, "relu", False),
        _Check("relu of fractions", plain, "relu", False, partial(_times, factor=2.0**-6)),
        _Check("out= not contiguous, bias and relu", partial(into_out, _channels_first), "relu", True),
        _Check("negative strides", partial(amid_guards, _backwards)),
        _Check("first axis innermost", partial(amid_guards, _first_axis_innermost)),
        _Check("in Fortran's order", partial(amid_guards, fortran), cases=_NAMES),
        _Check("cut from larger arrays", partial(amid_guards, cut), cases=_NAMES),
        _Check("rows cut from longer ones", partial(amid_guards, cut_rows)),
        _Check("images cut from larger ones", partial(amid_guards, cut_images), cases=_NAMES),
        _Check("channels first in memory", partial(amid_guards, _channels_first)),
        _Check("repeated, with strides of 0", partial(amid_guards, _repeated), change=_with_repeats),
        _Check("input unchanged", _writeable),
        _Check("a new array", _several),
        _Check("new numbers at an old address", partial(_new_numbers, packed), cases=_NAMES),
        _Check("new numbers at an old address, strided", partial(_new_numbers, every_second_channel)),
        _Check("after filters of the same bytes", _after_its_bytes, cases=_NAMES),
        _Check("subnormal numbers", plain, bias=False, change=_subnormal, data="tiny"),
        _Check("huge numbers", plain, bias=False, change=_huge, data="huge"),
        _Check("NaN, bias and relu", plain, "relu", True, _with_nan, data="nonfinite"),
        _Check("NaN times 0", plain, bias=False, change=_with_nan_weight, cases=("1x1",), data="nonfinite"),
        _Check("after NaN", _after_nan, cases=_NAMES, data="nonfinite"),
        _Check("algorithm=None", plain, precision=None),
        _Check("algorithm=None, precision='strict'", plain, precision="strict"),
        _Check("algorithm=None, precision='fast'", plain, precision="fast"),
    )
}
# those whose arrays have other memory strides
SPREAD = tuple(
    name
    for name, check in WAYS.items()
    if isinstance(check.run, partial) and check.run.func is amid_guards and check.run.args != (packed,)
)
