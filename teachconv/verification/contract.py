"""Checks that a module keeps the contract of `teachconv.backends`: its numbers, and every argument.

The case table checks the numbers. What a backend can ignore without a wrong number there is checked here:
``out``, bias with relu, arrays of any strides, arrays that must not be written to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from types import ModuleType

import numpy as np

from .. import backends, dispatch, nn_ops
from ..backends import Algorithm
from ..dispatch import Call
from ..dtypes import is_integer, to_dtype
from ..errors import ArgumentError
from .cases import CASES
from .diffing import DiffReport, DiffRow, Truth, check_cases

__all__ = ["check_backend"]


def check_backend(module: ModuleType | str, dtypes: Iterable[str] | None = None) -> DiffReport:
    """Check that a module keeps the contract of `teachconv.backends`, before it is in the table.

    Every named case and every algorithm is run on normal data and small integers. A few cases are run again
    with ``out=``, with bias and relu, and on strided, read-only arrays, so that a backend that ignores one of
    these fails.

    Args:
        module: the backend: the three functions and ``ALGORITHMS``; or the name of one in the table.
        dtypes: which dtypes to check; None for all that its algorithms list, bfloat16 only where the package
            ml_dtypes is installed. One that no algorithm lists is left out.

    Returns:
        A `DiffReport` with a row for each check, each judged by the bound of its algorithm.

    Raises:
        ValueError: if a part of the contract is missing, no backend of the table has the name, or no
            algorithm lists any of ``dtypes``.
        TypeError: if ``module`` is an object that cannot be hashed, or there is no such dtype.

    >>> import teachconv as tc
    >>> from teachconv.backends import numpy_backend
    >>> tc.check_backend(numpy_backend, ["float32"]).passed
    True
    """
    name, module = dispatch.find_backend(module)  # raises, and says what is missing
    name = name.rpartition(".")[2]
    known = backends.dtypes_of(module.ALGORITHMS)
    if dtypes is None:
        wanted = [dtype for dtype in known if dtype != "bfloat16" or find_spec("ml_dtypes")]
    else:
        asked = [to_dtype(dtype).name for dtype in dtypes]
        wanted = [dtype for dtype in asked if dtype in known]
        if not wanted:
            raise ArgumentError(f"dtypes {asked}: the algorithms of {name} list {', '.join(known)}")
    rows: list[DiffRow] = []
    for dtype in wanted:
        for data in ("normal", "integers"):
            rows += check_cases([module], dtype, data)
        rows += _contract_rows(name, module, dtype)
    return DiffReport(f"case table and contract on {name}", tuple(rows))


# small cases: among them padding, strides, dilations, groups, depthwise, a crop and a transposed call
_NAMES = ("same", "groups stride 2 dilation 2", "crop and pad", "depthwise multiplier", "default", "1x1")


@dataclass(frozen=True)
class _Check:
    """One way to call a backend: what is asked of it, and how to run it."""

    name: str
    run: Callable[[Call, ModuleType, str], np.ndarray]
    activation: str | None = None


def _contract_rows(name: str, module: ModuleType, dtype: str) -> Iterator[DiffRow]:
    for case in (case for case in CASES if case.name in _NAMES):
        for problem in case.problems(dtype, "integers"):
            call, _ = nn_ops.call_of(problem.op, problem.args, problem.kwargs)
            for check in _CHECKS:
                if check.activation and call.kind.sums_images:
                    continue  # a filter gradient has neither bias nor activation
                truth = _truth(call, check.activation)
                for algorithm in module.ALGORITHMS:
                    if algorithm.fits(call.kind, dtype, call.geometry):
                        label = f"{name}: {problem.name}, {dtype}, {check.name}"
                        yield _judged(label, module, algorithm, check, truth)


def _truth(call: Call, activation: str | None) -> Truth:
    if activation and call.bias is None:
        channels = call.backend_shape[3]
        call = replace(call, bias=(np.arange(channels) % 5 - 2).astype(call.first.dtype))
    want = dispatch.run_canonical(call, "reference", activation=activation)
    return Truth(call, want, activation=activation)


def _judged(label: str, module: ModuleType, algorithm: Algorithm, check: _Check, truth: Truth) -> DiffRow:
    try:
        result = check.run(truth.call, module, algorithm.name)
    except Exception as error:  # a backend under test may do anything; the report says what
        note = f"raised {type(error).__name__}: {error}"
        return DiffRow(label, algorithm.name, False, np.inf, np.inf, np.inf, note=note)
    return truth.row(label, algorithm.name, truth.call.to_caller(result), algorithm.error)


def _with_out(call: Call, module: ModuleType, algorithm: str) -> np.ndarray:
    """Fill ``out`` twice, from two sentinels: a cell that is never written differs, or is a sentinel."""
    found = []
    for sentinel in (-77, 99):
        out = np.full(call.backend_shape, sentinel, call.first.dtype)
        dispatch.run_canonical(call, module, algorithm, out=out)
        found.append(out)
    unwritten = found[0] != found[1]
    if is_integer(call.first.dtype) and unwritten.any():
        raise AssertionError(f"{int(unwritten.sum())} cells of out were not written")
    return np.where(unwritten, np.nan, found[0]).astype(call.first.dtype)


def _with_relu(call: Call, module: ModuleType, algorithm: str) -> np.ndarray:
    return dispatch.run_canonical(call, module, algorithm, activation="relu")


def _strided(call: Call, module: ModuleType, algorithm: str) -> np.ndarray:
    """The same numbers in arrays that are not contiguous and may not be written to."""
    first, second = (_spread(array) for array in (call.first, call.second))
    strided = replace(call, first=first, second=second)
    result = dispatch.run_canonical(strided, module, algorithm)
    return np.array(result)


def _spread(array: np.ndarray) -> np.ndarray:
    """A read-only view with the same numbers: every second channel of a larger array, columns reversed."""
    wide = np.zeros((*array.shape[:3], 2 * array.shape[3]), array.dtype)
    view = wide[:, :, ::-1, ::2]
    view[...] = array
    view.flags.writeable = False
    return view


_CHECKS: tuple[_Check, ...] = (
    _Check("out=", _with_out),
    _Check("bias and relu", _with_relu, "relu"),
    _Check("strided, read-only", _strided),
)
