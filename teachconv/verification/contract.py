"""Checks that a module keeps the contract of `teachconv.backends`: its numbers, and every argument.

The case table checks the numbers. What a backend can ignore without a wrong number there is checked here:
``out``, bias and relu, arrays of any strides, arrays that must not be written to, a choice of algorithm that
is left to the backend, and NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from .. import backends, dispatch, nn_ops, tables
from ..argument_types import Backend, DTypeLike
from ..backends import Algorithm
from ..calls import Call, resolve
from ..data.seeded import make_array
from ..dtypes import is_integer, to_dtype
from ..errors import ArgumentError, ArgumentTypeError
from ..kinds import ANY_RANK, layout_of
from .cases import CASES
from .diffing import DiffReport, DiffRow, Truth, check_cases, locked, what_went_wrong

__all__ = ["check_backend"]


def check_backend(module: Backend, dtypes: Iterable[DTypeLike] | DTypeLike | None = None) -> DiffReport:
    """Check that a module keeps the contract of `teachconv.backends`, before it is in the table.

    Every named case and every algorithm is run on normal data and small integers. Where ``RANKS`` has 1 or 3,
    convolutions over one axis or three are run, too. A few cases are run again
    with ``out=``, with bias and relu, on strided, read-only arrays, with NaN and without an algorithm, so
    that a backend that ignores one of these fails; and so does one that writes to its input, or that returns
    the same memory twice.

    Args:
        module: the backend: the three functions and ``ALGORITHMS``; or the name of one in the table.
        dtypes: which dtypes to check, or one of them; None for all that its algorithms list, bfloat16 only
            where the package ml_dtypes is installed. One that no algorithm lists is left out.

    Returns:
        A `DiffReport` with a row for each check, each judged by the bound of its algorithm.

    Raises:
        ValueError: if a part of the contract is missing, no backend of the table has the name, or no
            algorithm lists any of ``dtypes``.
        TypeError: if ``module`` is None or an object that cannot be hashed, its ``ALGORITHMS`` is no tuple of
            `teachconv.backends.Algorithm`, or there is no such dtype.

    >>> import teachconv as tc
    >>> from teachconv.backends import numpy_backend
    >>> tc.check_backend(numpy_backend, ["float32"]).passed
    True
    """
    if module is None:
        raise ArgumentTypeError(
            f"module must be a backend or the name of one, {', '.join(backends.TABLE)}; got None"
        )
    name, module = dispatch.find_backend(module)  # raises, and says what is missing
    name = name.rpartition(".")[2]
    known = backends.dtypes_of(module.ALGORITHMS)
    if dtypes is None:
        wanted = [dtype for dtype in known if dtype != "bfloat16" or find_spec("ml_dtypes")]
    else:
        several = [dtypes] if isinstance(dtypes, (str, type, np.dtype)) else dtypes
        asked = [to_dtype(dtype).name for dtype in several]
        wanted = [dtype for dtype in asked if dtype in known]
        if not wanted:
            raise ArgumentError(f"dtypes {asked}: the algorithms of {name} list {', '.join(known)}")
    rows: list[DiffRow] = []
    for dtype in wanted:
        for data in ("normal", "integers"):
            rows += check_cases([module], dtype, data)
        rows += _contract_rows(name, module, dtype)
        rows += _rank_rows(name, module, dtype)
    return DiffReport(f"case table and contract on {name}", tuple(rows))


# small cases: among them padding, strides, dilations, groups, depthwise, a crop and a transposed call
_NAMES = ("same", "groups stride 2 dilation 2", "crop and pad", "depthwise multiplier", "default", "1x1")
_FEW = ("same", "depthwise multiplier")


class _Broken(Exception):  # noqa: N818 (it is what is said of the backend)
    """A part of the contract that a backend broke, as a sentence."""


@dataclass(frozen=True)
class _Check:
    """One way to call a backend.

    Attributes:
        name: what is asked of the backend.
        run: runs a call on a module with these options, and returns the result.
        activation: the activation, but not of a filter gradient, which has none.
        bias: whether the call has a bias; None if that is left to the case.
        change: returns the call with other numbers.
        cases: the names of the cases that are run.
        precision: with which ``precision`` the choice of an algorithm is left to the backend; "" if each
            algorithm is asked for.
    """

    name: str
    run: Callable[..., np.ndarray]
    activation: str | None = None
    bias: bool | None = None
    change: Callable[[Call], Call] | None = None
    cases: tuple[str, ...] = _FEW
    precision: str | None = ""

    def concerns(self, case: str, call: Call) -> bool:
        """Whether the check says anything of a call of a case."""
        if call.kind.sums_images and self.run is _plain and self.activation and self.change is None:
            return False  # a filter gradient has neither bias nor activation
        return case in self.cases and not (self.change is _with_nan and is_integer(call.first.dtype))

    def truth(self, call: Call) -> Truth:
        """The reference's result of what is asked."""
        activation = None if call.kind.sums_images else self.activation
        if self.bias is False:
            call = replace(call, bias=None)
        elif self.bias and call.bias is None and not call.kind.sums_images:
            channels = call.backend_shape[-1]
            call = replace(call, bias=(np.arange(channels) % 5 - 2).astype(call.first.dtype))
        call = locked(call if self.change is None else self.change(call))
        want = dispatch.run_canonical(call, "reference", activation=activation)
        return Truth(call, want, activation=activation)

    def rows(self, label: str, module: ModuleType, fitting: list[Algorithm], call: Call) -> Iterator[DiffRow]:
        """One row for each algorithm, or one where the choice is left to the backend."""
        if self.precision != "":
            fitting = [one for one in fitting if one.may_be_chosen(self.precision)]
        if not fitting:
            return
        truth = self.truth(call)
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
        except Exception as raised:  # a backend under test may do anything; the report says what
            note = str(raised) if isinstance(raised, _Broken) else what_went_wrong(raised)
            return DiffRow(label, shown, False, np.inf, np.inf, np.inf, note=note)
        return truth.row(label, shown, truth.call.to_caller(result), error)


def _contract_rows(name: str, module: ModuleType, dtype: str) -> Iterator[DiffRow]:
    for case in (case for case in CASES if case.name in _NAMES):
        for problem in case.problems(dtype, "integers"):
            call, _ = nn_ops.call_of(problem.op, problem.args, problem.kwargs)
            fitting = _fitting(module, call)
            for check in _CHECKS:
                if check.concerns(case.name, call):
                    yield from check.rows(
                        f"{name}: {problem.name}, {dtype}, {check.name}", module, fitting, call
                    )


def _fitting(module: ModuleType, call: Call) -> list[Algorithm]:
    if call.geometry.rank not in backends.ranks_of(module):
        return []
    return [one for one in module.ALGORITHMS if one.fits(call.kind, call.first.dtype.name, call.geometry)]


def _rank_rows(name: str, module: ModuleType, dtype: str) -> Iterator[DiffRow]:
    """The three functions on convolutions over one axis or three, where the module says that it has them."""
    for rank in backends.ranks_of(module):
        for call in _calls_over(rank, dtype) if rank != 2 else ():
            for check in _OF_ANY_RANK:
                label = (
                    f"{name}: {call.kind} over {tables.count(rank, 'axis', 'axes')}, {dtype}, {check.name}"
                )
                yield from check.rows(label, module, _fitting(module, call), call)


def _calls_over(rank: int, dtype: str) -> Iterator[Call]:
    """One call of each kind: with SAME padding of two sizes, a stride, a dilation and groups."""
    x = make_array((2, *(6, 8, 7)[-rank:], 4), dtype, "integers", "ranks input")
    w = make_array((*(2, 3, 3)[-rank:], 2, 6), dtype, "integers", "ranks filters")
    how = None, (1, 1, 2)[-rank:], "SAME", layout_of("input", rank), (1, 2, 1)[-rank:]
    forward = resolve(ANY_RANK["convolution"], x, w, *how)
    dy = make_array(forward.backend_shape, dtype, "integers", "ranks out_backprop")
    yield forward
    yield resolve(ANY_RANK["convolution_backprop_input"], dy, w, *how, sizes=x.shape)
    yield resolve(ANY_RANK["convolution_backprop_filter"], x, dy, *how, sizes=w.shape)


def _plain(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    return dispatch.run_canonical(call, module, **options)


def _with_out(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Fill ``out`` twice, from two sentinels: a cell that is never written differs, or is a sentinel."""
    return _filled(call, module, call.backend_shape, tuple(range(len(call.backend_shape))), options)


def _with_strided_out(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """The same with an ``out`` whose channels are not the last axis in memory, as a caller of NCHW has it."""
    batch, rows, cols, channels = call.backend_shape
    return _filled(call, module, (batch, channels, rows, cols), (0, 2, 3, 1), options)


def _filled(
    call: Call, module: ModuleType, shape: tuple[int, ...], order: tuple[int, ...], options: dict[str, Any]
) -> np.ndarray:
    found = []
    for sentinel in (-77, 99):
        out = np.full(shape, sentinel, call.first.dtype).transpose(order)
        dispatch.run_canonical(call, module, out=out, **options)
        found.append(out)
    unwritten = found[0] != found[1]
    if is_integer(call.first.dtype) and unwritten.any():
        raise _Broken(f"{int(unwritten.sum())} cells of out were not written")
    return np.where(unwritten, np.nan, found[0]).astype(call.first.dtype)


def _strided(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """The same numbers in every second channel of larger arrays, columns reversed."""
    return _elsewhere(call, module, (..., slice(None, None, -1), slice(None, None, 2)), options)


def _backwards(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """The same numbers in every second row of larger arrays, from the last to the first."""
    back = slice(None, None, -2)
    return _elsewhere(call, module, (back, back), options)


def _elsewhere(call: Call, module: ModuleType, where: Any, options: dict[str, Any]) -> np.ndarray:
    """Run a call with its numbers in parts of larger arrays, which may not be written to."""

    def view(array: np.ndarray) -> np.ndarray:
        wide = np.ones([2 * size for size in array.shape], array.dtype)
        part = wide[where if array.ndim > 1 else slice(None, None, -2)][tuple(map(slice, array.shape))]
        part[...] = array
        return part

    return np.array(dispatch.run_canonical(locked(call.with_each(view)), module, **options))


def _writeable(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Run a call on arrays that could be written to, and look whether they were."""
    copied = call.with_each(np.copy)
    result = dispatch.run_canonical(copied, module, **options)
    first, second, _ = call.kind.words
    for name, given, copy in (
        (first, call.first, copied.first),
        (second, call.second, copied.second),
        ("bias", call.bias, copied.bias),
    ):
        if given is not None and copy is not None and given.tobytes() != copy.tobytes():
            raise _Broken(f"the backend wrote to its input: {name} was changed")
    return result


def _twice(call: Call, module: ModuleType, **options: Any) -> np.ndarray:
    """Keep the result of a call while another call runs."""
    result = dispatch.run_canonical(call, module, **options)
    kept = result.copy()
    dispatch.run_canonical(replace(call, first=-2 * call.first), module, **options)
    if kept.tobytes() != result.tobytes():
        raise _Broken("two calls returned the same memory: the second changed the first one's result")
    return result


def _with_nan(call: Call) -> Call:
    first = call.first.copy()
    first[0, first.shape[1] // 2, 0, 0] = np.nan
    return replace(call, first=first)


_OF_ANY_RANK = (
    _Check("out=", _with_out, cases=_NAMES),
    _Check("bias and relu", _plain, "relu", True, cases=_NAMES),
)
_CHECKS: tuple[_Check, ...] = (
    *_OF_ANY_RANK,
    _Check("strided, read-only", _strided, cases=_NAMES),
    _Check("relu without bias", _plain, "relu", False),
    _Check("out= not contiguous, bias and relu", _with_strided_out, "relu", True),
    _Check("negative strides", _backwards),
    _Check("input unchanged", _writeable),
    _Check("a new array", _twice),
    _Check("NaN, bias and relu", _plain, "relu", True, _with_nan),
    _Check("algorithm=None", _plain, precision=None),
    _Check("algorithm=None, precision='strict'", _plain, precision="strict"),
    _Check("algorithm=None, precision='fast'", _plain, precision="fast"),
)
