"""A fuzzer of convolutions: sizes around tiles and powers of two, one at a time, then several at once.

The calls are cases as those of the table, and judged as they are. A failure is made smaller, one number at a
time, for as long as it still fails.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from .. import record
from ..arguments import integer, real
from ..backends import ranks_of
from ..dtypes import is_integer, to_dtype
from ..errors import ArgumentError, brief
from ..kinds import Kind
from ..verification.cases import Case
from ..verification.diagnosing import at_most
from ..verification.diffing import DiffReport, DiffRow, check_cases
from .checking import Checked, of_kernel

__all__ = ["fuzz"]

_EDGES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
# what is drawn from, and what it is where another number is varied
_CHANNELS = {
    "images": ((1, 2, 3, 5), 1),
    "groups": ((1, 2, 3, 4, 8), 1),
    "depth": (_EDGES, 2),
    "outs": (_EDGES, 3),
    "bias": ((0, 1), 0),
}
_AXIS = {
    "size": (_EDGES, 6),
    "taps": ((1, 2, 3, 4, 5, 6, 7, 9, 11), 3),
    "stride": ((1, 2, 3, 4), 1),
    "dilation": ((1, 2, 3, 4), 1),
    "before": ((0, 1, 2, 3, 5, -1, -2), 0),
    "after": ((0, 1, 2, 3, 5, -1, -2), 0),
}
_MOST = 1 << 18  # multiply-adds, of which the exact sum takes a hundredth of a second

Numbers = dict[str, int]


def fuzz(
    kernel: Any,
    seconds: float = 20.0,
    seed: int = 0,
    *,
    dtypes: Iterable[str] | str | None = None,
    kinds: Iterable[str] | str | None = None,
) -> DiffReport:
    """Run a kernel on random convolutions until one fails or the time is over; make the failure small.

    Sizes are around powers of two, where tiles begin and end: first one number of a small convolution is
    changed at a time, on integers, whose sums are exact; then several at once, on numbers of all kinds. The
    same seed gives the same calls; how many of them depends on the machine.

    Args:
        kernel: what `teachconv.testing.kernel` returns, another backend, or the name of one.
        seconds: for how long; as much again may be spent on making a failure small.
        seed: an integer.
        dtypes: the dtypes; None for those of the kernel.
        kinds: the functions, such as "conv2d"; None for all that the kernel has.

    Returns:
        A `DiffReport`. The row of a failure is that of the smallest call; its note is a line to paste.

    Raises:
        ValueError: if ``seconds`` is not positive, or there is no such backend, dtype or kind.

    >>> from teachconv import testing as T
    >>> T.fuzz("numpy", seconds=0.2, seed=1).passed
    True
    """
    if not real(seconds, "seconds") > 0:
        raise ArgumentError(f"seconds must be positive; got {brief(seconds)}")
    name, module, names, chosen = of_kernel(kernel, dtypes, kinds)
    rows: list[DiffRow] = []
    end, failure = record.clock() + seconds, None
    for numbers, dtype, data in _calls(random.Random(integer(seed, "seed")), ranks_of(module), names):
        if failure is not None or record.clock() > end:
            break
        found = _run(module, numbers, dtype, data, chosen)
        failure = next((row for row in found if row.passed is False), None)
        rows += found if failure is None else _shrunk(module, numbers, dtype, data, chosen, end + seconds)
    return DiffReport(f"{len(rows):,} random calls of {name}, seed {seed}", tuple(rows))


@at_most(0.0)  # only the smallest failure is diagnosed
def _run(module: Any, numbers: Numbers, dtype: str, data: str, kinds: Iterable[Kind]) -> list[DiffRow]:
    return check_cases([module], dtype, data, _cases(numbers), kinds)


def _shrunk(
    module: Any, numbers: Numbers, dtype: str, data: str, kinds: list[Kind], end: float
) -> list[DiffRow]:
    """Return the failed rows of the smallest call that fails, with the line to paste."""

    def fails(numbers: Numbers, kinds: list[Kind]) -> bool:
        return any(row.passed is False for row in _run(module, numbers, dtype, data, kinds))

    kinds = next(([kind] for kind in kinds if fails(numbers, [kind])), kinds)
    numbers = _smallest(numbers, lambda fewer: fails(fewer, kinds), end)
    [case] = _cases(numbers)
    return [
        replace(row, note=f"{row.note}; {Checked(case, kinds[0], dtype, data)}".removeprefix("; "))
        for row in check_cases([module], dtype, data, [case], kinds)
        if row.passed is False
    ]


def _calls(
    source: random.Random, ranks: tuple[int, ...], dtypes: list[str]
) -> Iterator[tuple[Numbers, str, str]]:
    """Yield the calls in their order: one number varied on integers, then several; without end."""
    tables = [
        _CHANNELS | {f"{name}{axis}": choices for axis in range(rank) for name, choices in _AXIS.items()}
        for rank in ranks
    ]
    first = [
        {key: usual for key, (_, usual) in table.items()} | {name: value}
        for table in tables
        for name, (values, _) in table.items()
        for value in values
    ]
    source.shuffle(first)
    for numbers in first:
        yield numbers, source.choice(dtypes), "integers"
    while True:
        table = source.choice(tables)
        varied = set(source.sample(list(table), source.randint(2, len(table))))
        likely = source.choice((0.2, 0.8))  # 1x1 filters, single channels and plain steps come often
        numbers = {
            key: (values[0] if source.random() < likely else source.choice(values))
            if key in varied
            else usual
            for key, (values, usual) in table.items()
        }
        dtype = source.choice(dtypes)
        kinds = ("integers",) if is_integer(to_dtype(dtype)) else ("integers", "normal", "scaled")
        yield numbers, dtype, source.choice(kinds)


def _cases(numbers: Numbers) -> list[Case]:
    """Return the case of some numbers, if there is one and its exact sums are quick."""
    sizes, taps, strides, dilations, before, after = (
        tuple(numbers[f"{name}{axis}"] for axis in range(3) if f"{name}{axis}" in numbers) for name in _AXIS
    )
    spans = zip(sizes, before, after, taps, dilations, strict=True)
    if any(size + first + last < (k - 1) * d + 1 for size, first, last, k, d in spans):
        return []
    groups, depth, outs = (numbers[name] for name in ("groups", "depth", "outs"))
    made = Case(
        "fuzz",
        "conv2d" if len(sizes) == 2 else "convolution",
        (numbers["images"], *sizes, groups * depth),
        (*taps, depth, groups * outs),
        strides,
        tuple(zip(before, after, strict=True)) if any(before + after) else "VALID",
        dilations,
        f"N{'DHW'[-len(sizes) :]}C",
        bias=bool(numbers["bias"]),
    )
    return [made] if made.geometry.macs <= _MOST else []


def _smallest(numbers: Numbers, fails: Callable[[Numbers], bool], end: float) -> Numbers:
    """Return numbers that fail, none of which can be smaller alone."""
    least = {name: 0 if name.startswith(("before", "after", "bias")) else 1 for name in numbers}
    tried = True
    while tried and record.clock() < end:
        tried = False
        for name, value in numbers.items():
            for smaller in sorted({least[name], (value + least[name]) // 2, value - 1}, key=abs):
                if (
                    abs(smaller) < abs(value)
                    and smaller >= min(least[name], value)
                    and fails(numbers | {name: smaller})
                ):
                    numbers, tried = numbers | {name: smaller}, True
                    break
    return numbers
