"""One case on one kernel, and the table of cases as the parameters of a pytest test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from ..backends import ranks_of
from ..core.dtypes import FLOATS, INTEGERS
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, KINDS, Kind, kind_of, layout_of
from ..data.seeded import DATA
from ..running.dispatch import find_backend
from ..support.errors import check_word, words_of
from ..verification.cases import Case, find_cases
from ..verification.contract import WAYS, case_rows, told
from ..verification.diffing import tolerance_of
from ..verification.reports import DiffReport

_Test = TypeVar("_Test", bound=Callable[..., Any])
_NAMES = {FORWARD: "", INPUT_GRADIENT: " input gradient", FILTER_GRADIENT: " filter gradient"}


def check(
    kernel: Any,
    case: Case,
    dtype: str = "float32",
    data: str = "normal",
    kinds: Iterable[str] | str | None = None,
    *,
    way: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> DiffReport:
    """Run one case on a kernel, or on another backend, and judge it as `diff` does.

    This is the line that a failed test and a fuzzer print, to paste. The kernel is run twice: other bits the
    second time are a failure.

    Args:
        kernel: what `teachconv.testing.kernel` returns, another backend, or the name of one.
        case: the case.
        dtype: its dtype.
        data: the kind of its numbers, such as "integers".
        kinds: the functions to check, such as "conv2d"; None for all.
        way: how `check_backend` calls a backend beside its case table, such as "bias and relu" or "negative
            strides", the words at the end of a row's name; then the numbers are integers.
        rtol: a relative error to allow beside the bound, as in `diff`; None for 0.
        atol: an absolute error to allow beside it; None for 0.

    Returns:
        A `DiffReport` with a row for each function and algorithm.

    Raises:
        ValueError: if there is no such kind, data, way or backend, the case is not legal, or a tolerance is
            negative.

    >>> from teachconv import testing as T
    >>> T.check("numpy", T.Case("mine", "conv2d", (1, 5, 5, 2), (3, 3, 2, 4)), "int32", kinds="conv2d").passed
    True
    """
    return _counted(None, kernel, case, dtype, data, kinds, way, rtol, atol)


def _counted(
    asked: Counter[tuple[Kind, str]] | None,
    kernel: Any,
    case: Case,
    dtype: str,
    data: str,
    kinds: Iterable[str] | str | None,
    way: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> DiffReport:
    """Do what `check` does, and count what the kernel was told of, as `told` does."""
    chosen = [kind_of(kind) for kind in words_of(kinds, "kinds", map(str, KINDS))]
    check_word(way, "way", [None, *WAYS])
    tolerance = tolerance_of(rtol, atol)
    rows = case_rows(kernel, case, dtype, data, chosen, way, tolerance, asked)
    return DiffReport(f"{case.op} {case.name}", tuple(rows), None, tolerance.rtol, tolerance.atol)


@dataclass(frozen=True)
class Checked:
    """A case with a dtype and a kind of numbers, as a test gets it.

    Attributes:
        case: the case.
        kind: the function that is checked.
        dtype: the dtype.
        data: the kind of the numbers.
        options: the options of `teachconv.testing.check`: how it is called, and what is allowed.
        required: whether it fails where it is refused.
        told: of how many calls with padding, with strides, and so on the kernel was told when it was checked.
    """

    case: Case
    kind: Kind
    dtype: str
    data: str
    options: Mapping[str, Any] = field(default_factory=dict)
    required: bool = False
    told: dict[str, int] = field(default_factory=dict, compare=False, repr=False)

    def check(self, kernel: Any) -> None:
        """Run it on a kernel; raise ``AssertionError`` if it fails, and skip the test if it is refused."""
        asked = Counter[tuple[Kind, str]]()
        report = _counted(asked, kernel, self.case, self.dtype, self.data, str(self.kind), **self.options)
        self.told.update(told(find_backend(kernel)[1], asked))
        if report.failed or (self.required and not report.passed):
            raise AssertionError(f"{self}\n{report}")
        if report.passed is None:
            import pytest

            pytest.skip("; ".join(row.note for row in report.rows) or "not run")

    def __str__(self) -> str:
        told = [
            f"{entry.name}={value!r}"
            for entry in fields(self.case)
            if (value := getattr(self.case, entry.name)) != entry.default
            and (entry.name, value) != ("data_format", layout_of("input", len(self.case.input) - 2))
        ]
        how = [f'"{self.dtype}"', f'"{self.data}"', f'"{self.kind}"']
        how += [f"{name}={value!r}" for name, value in self.options.items() if value is not None]
        return f"T.check(kernel, T.Case({', '.join(told)}), {', '.join(how)}).check()"

    @property
    def id(self) -> str:
        """Its name and tags, to select it by."""
        what = "" if "transposed" in self.case.tags else _NAMES[self.kind]
        return f"{self.case.op}{what}: {self.case.name} {self.dtype} {self.data} ({' '.join(self.case.tags)})"


def of_kernel(
    kernel: Any, dtypes: Iterable[str] | str | None, kinds: Iterable[str] | str | None
) -> tuple[str, Any, list[str], list[Kind]]:
    """Return a kernel's name and backend, the dtypes to check, and those of the functions that it has."""
    name, module = find_backend(kernel)
    asked = getattr(module, "DTYPES", "float32") if dtypes is None else dtypes
    names = words_of(asked, "dtypes", FLOATS + INTEGERS)
    chosen = [kind_of(kind) for kind in words_of(kinds, "kinds", map(str, KINDS))]
    return name, module, list(names), [kind for kind in chosen if hasattr(module, str(kind))]


def parametrize(
    kernel: Any,
    *,
    dtypes: Iterable[str] | str | None = None,
    tags: Iterable[str] | str | None = None,
    kinds: Iterable[str] | str | None = None,
    data: Iterable[str] | str = ("normal", "integers"),
    slow: bool = False,
    require: Iterable[str] | str = (),
    rtol: float | None = None,
    atol: float | None = None,
) -> Callable[[_Test], _Test]:
    """Run a pytest test once for each case that a kernel has functions for; ``case`` is its argument.

    The id of a test holds the case's name, its dtype, the kind of numbers, and its tags, so that ``-k "groups
    and not gradient"`` selects some. ``case.check(kernel)`` fails with a line to paste, and skips what is
    refused.

    Args:
        kernel: what `teachconv.testing.kernel` returns, another backend, or the name of one.
        dtypes: the dtypes; None for those of the kernel.
        tags: only cases with one of these tags; None for all.
        kinds: the functions, such as "conv2d"; None for all that the kernel has.
        data: the kinds of numbers.
        slow: whether to run the cases that take long as well.
        require: the names of cases that fail where they are refused.
        rtol: a relative error to allow beside the bound, as in `diff`; None for 0.
        atol: an absolute error to allow beside it; None for 0.

    Returns:
        A mark of pytest, to decorate a test with.

    Raises:
        ValueError: if there is no such dtype, tag, kind, data or case, or no case is left.

    >>> from teachconv import testing as T
    >>> @T.parametrize("numpy", tags="hand", dtypes="float32")
    ... def test_mine(case):
    ...     case.check("numpy")
    """
    import pytest

    _, module, names, chosen = of_kernel(kernel, dtypes, kinds)
    cases = [case for case in find_cases(tags, slow) if case.geometry.rank in ranks_of(module)]
    numbers = words_of(data, "data", DATA)
    required = words_of(require, "require", [case.name for case in cases]) if require else ()
    found = [
        Checked(case, kind, dtype, each, {"rtol": rtol, "atol": atol}, case.name in required)
        for dtype in names
        for each in numbers
        for case in cases
        for kind in chosen
        if case.takes(dtype, each) and (kind.scatters or "transposed" not in case.tags)
    ]
    mark: Callable[[_Test], _Test] = pytest.mark.parametrize(
        "case", [pytest.param(one, id=one.id) for one in found]
    )
    return mark
