"""A fuzzer of convolutions: sizes around tiles and powers of two, one at a time, then several at once.

The calls are cases as those of the table, and are run and judged as `check_backend` does. A failure is made
smaller, one number at a time, for as long as it still fails.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import cycle, product
from math import inf
from typing import Any

from .. import record
from ..arguments import integer, real
from ..backends import ranks_of
from ..data.seeded import DATA
from ..errors import ArgumentError, brief, words_of
from ..kinds import Kind
from ..verification.cases import Case
from ..verification.contract import WAYS, case_rows, ways_on
from ..verification.diagnosing import at_most
from ..verification.diffing import DiffReport, DiffRow, tolerance_of
from .checking import Checked, of_kernel

__all__ = ["fuzz"]

_EDGES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
_FAR = (255, 256, 257, 511, 513, 1025, 4097, 16393)  # where blocks and indices of 8 and 16 bits end
# what is drawn from, and what it is where another number is varied
_CHANNELS = {
    "images": ((1, 2, 3, 4, 5, 8, 9, 17), 1),
    "groups": (_EDGES, 1),
    "depth": (_EDGES, 2),
    "outs": (_EDGES, 3),
    "bias": ((0, 1), 0),
    "transposed": ((0, 1), 0),
}
_AXIS = {
    "size": (_EDGES, 12),
    "taps": ((1, 2, 3, 4, 5, 6, 7, 9, 11), 3),
    "stride": ((1, 2, 3, 4), 1),
    "dilation": ((1, 2, 3, 4), 1),
    "before": ((0, 1, 2, 3, 5, -1, -2), 0),
    "after": ((0, 1, 2, 3, 5, -1, -2), 0),
    "extra": ((0, 1, 2, 3), 0),  # of the output, if transposed
}
# beside the usual: depthwise, 1x1, transposed
_BASES: tuple[dict[str, int], ...] = (
    {},
    {"groups": 5, "depth": 1, "outs": 2},
    {"taps": 1},
    {"transposed": 1, "stride": 2},
)
_LEAST = dict.fromkeys(("bias", "transposed", "before", "after", "extra"), 0)  # of all others 1
_EVEN_AS = {"stride": "stride0", "dilation": "dilation0", "before": "before0", "after": "before0"}
# multiply-adds whose exact sums take a tenth of a second, and a second
_QUICK, _MOST = 1 << 18, 1 << 21

Numbers = dict[str, int]
_USUAL = ("integers", "normal", "scaled", "tiny")


@dataclass(frozen=True)
class _Drawn:
    """A call: its numbers, and how it is made."""

    numbers: Numbers
    dtype: str
    data: str = "integers"
    way: str | None = None  # None, or one of those of the contract
    most: int = _QUICK  # multiply-adds


def fuzz(
    kernel: Any,
    seconds: float = 20.0,
    seed: int = 0,
    *,
    dtypes: Iterable[str] | str | None = None,
    kinds: Iterable[str] | str | None = None,
    data: Iterable[str] | str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> DiffReport:
    """Run a kernel on random convolutions until one fails or the time is over; make the failure small.

    Sizes are around powers of two, where tiles begin and end. Most calls change one number of a small
    convolution, on integers, whose sums are exact. In turn with them there are several numbers at once, on
    numbers of all kinds, and one of the ways in which `check_backend` calls a backend, such as bias and relu,
    NaN, negative strides or ``out=``. The same seed gives the same calls; how many of them depends on the
    machine.

    Args:
        kernel: what `teachconv.testing.kernel` returns, another backend, or the name of one.
        seconds: for how long, making a failure small and the search for its name included; of one that is
            found last these may take a fifth more.
        seed: an integer.
        dtypes: the dtypes; None for those of the kernel.
        kinds: the functions, such as "conv2d"; None for all that the kernel has.
        data: the kinds of numbers, such as "normal"; None for all but "huge" and "nonfinite": where a sum
            overflows, or padding is multiplied with an infinity, many a good kernel differs.
        rtol: a relative error to allow beside the bound, as in `diff`; None for 0.
        atol: an absolute error to allow beside it; None for 0.

    Returns:
        A `DiffReport`. The row of a failure is that of the smallest call; its note is a line to paste.

    Raises:
        ValueError: if ``seconds`` is not positive, a tolerance is negative, or there is no such backend,
            dtype, kind or data.

    >>> from teachconv import testing as T
    >>> T.fuzz("numpy", seconds=0.2, seed=1).passed
    True
    """
    if not real(seconds, "seconds") > 0:
        raise ArgumentError(f"seconds must be positive; got {brief(seconds)}")
    name, module, names, chosen = of_kernel(kernel, dtypes, kinds)
    numbers = words_of(_USUAL if data is None else data, "data", DATA)
    tolerance = tolerance_of(rtol, atol)

    def run(drawn: _Drawn, kinds: Iterable[Kind]) -> list[DiffRow]:
        how = drawn.dtype, drawn.data, kinds, drawn.way, tolerance
        return [row for case in _cases(drawn) for row in case_rows(module, case, *how)]

    rows: list[DiffRow] = []
    end, source = record.clock() + seconds, random.Random(integer(seed, "seed"))
    biased = getattr(module, "takes_bias", True)  # others would refuse half of the calls
    ways = [way for way in ways_on(data) if biased or not WAYS[way].bias]
    for drawn in _calls(source, ranks_of(module), names, ways, numbers):
        drawn = replace(drawn, numbers=drawn.numbers | ({} if biased else {"bias": 0}))
        with at_most(0.0):  # the smallest call alone gets a diagnosis
            found = run(drawn, chosen)
        if any(row.passed is False for row in found):
            end = max(end, record.clock() + seconds / 5)
            rows += _shrunk(run, drawn, chosen, found, end, {"rtol": rtol, "atol": atol})
            break
        rows += found
        if record.clock() > end:  # after a call: one is made however slow the machine is
            break
    return DiffReport(
        f"{len(rows):,} random calls of {name}, seed {seed}",
        tuple(rows),
        rtol=tolerance.rtol,
        atol=tolerance.atol,
    )


def _shrunk(
    run: Callable[..., list[DiffRow]],
    drawn: _Drawn,
    kinds: list[Kind],
    found: list[DiffRow],
    end: float,
    allowed: dict[str, Any],
) -> list[DiffRow]:
    """Return the failed rows of the smallest call that fails, with the line to paste."""
    failed = [row for row in found if row.passed is False]
    with at_most(0.5):  # as it was drawn
        named = {row.diagnosis.code: row.diagnosis for row in run(drawn, kinds) if row.diagnosis}

    def fails(drawn: _Drawn, kinds: list[Kind]) -> bool:
        if record.clock() > end:  # then nothing is smaller
            return False
        rows = [row for row in run(drawn, kinds) if row.passed is False]
        failed[:] = rows or failed
        return bool(rows)

    with at_most(0.0):
        kinds = next(([kind] for kind in kinds if fails(drawn, [kind])), kinds)
        for _ in range(2):  # groups are joined where that is a quick call
            groups, depth, outs = (drawn.numbers[name] for name in ("groups", "depth", "outs"))
            whole = drawn.numbers | {"groups": 1, "depth": groups * depth, "outs": groups * outs}
            for change in ({"way": None}, {"data": "integers"}, {"numbers": whole}):
                drawn = next((one for one in [replace(drawn, **change)] if fails(one, kinds)), drawn)
            drawn = _smallest(drawn, lambda smaller: fails(smaller, kinds), end)
        end = inf
        note = "" if fails(drawn, kinds) else "not every time"
    codes = {row.diagnosis.code for row in failed if row.diagnosis}
    if named and not codes & {*named}:  # a small call may fit another mistake as well
        note = "; ".join(filter(None, [note, f"a larger call: {next(iter(named.values()))}"]))
    line = str(Checked(_cases(drawn)[0], kinds[0], drawn.dtype, drawn.data, {"way": drawn.way} | allowed))
    return [replace(row, note="; ".join(filter(None, [row.note, note, line]))) for row in failed]


def _calls(
    source: random.Random, ranks: tuple[int, ...], dtypes: list[str], ways: list[str], data: list[str]
) -> Iterator[_Drawn]:
    """Yield one number varied on integers, and between them several at once; endlessly."""
    exact = "integers" if "integers" in data else data[0]
    tables = [
        _CHANNELS | {f"{name}{axis}": choices for axis in range(rank) for name, choices in _AXIS.items()}
        for rank in ranks
    ]
    near, more = list[_Drawn](), list[_Drawn]()
    for table, special in product(tables, _BASES):
        base = {name: special.get(name.rstrip("012"), usual) for name, (_, usual) in table.items()}
        for name, (values, _) in table.items():
            far = _FAR if values is _EDGES and not special else ()
            sizes = {each: 1 for each in table if each.startswith(("size", "taps"))}
            thin = {"depth": 1, "outs": 1} if name in sizes else sizes  # few cells, or few terms
            (more if special else near).extend(
                _Drawn(
                    numbers | ({"bias": source.choice((0, 1))} if special else {}),
                    source.choice(dtypes),
                    exact,
                )
                for value in values
                for numbers in [
                    base | {name: value},
                    *([_even(base | {name: value})] * (name in _EVEN_AS.values())),
                ]
            )
            more += [
                _Drawn(base | other | {name: value}, source.choice(dtypes), exact, most=_MOST)
                for value, other in product(far, ({}, thin))
            ]
    for each in (near, more, ways):
        source.shuffle(each)

    def several(data: str, way: str | None = None) -> _Drawn:
        table = source.choice(tables)
        likely = source.choice((0.2, 0.8))  # 1x1 filters, single channels and plain steps come often
        few = source.sample(_EDGES, 2)  # sizes are often equal: some mistakes show only then
        numbers = {name: usual for name, (_, usual) in table.items()} | {"bias": source.choice((0, 1))}
        for name in source.sample(list(table), source.randint(2, len(table))):
            values = few if table[name][0] is _EDGES and source.random() < 0.5 else table[name][0]
            numbers[name] = source.choice(values[: 1 if source.random() < likely else None])
        numbers = _even(numbers) if source.random() < 0.3 else numbers
        drawn = _Drawn(numbers, source.choice(dtypes), data, way)
        return drawn if _cases(drawn) else several(data, way)

    for way in cycle(ways):
        for left, count in ((near, 3), (more, 1 if near else 3)):
            yield from (left.pop() for _ in range(min(count, len(left))))
        yield several(source.choice(data))
        yield several("integers", way)


def _even(numbers: Numbers) -> Numbers:
    """Return the numbers with one stride, padding and dilation for all axes, as many a function has them."""
    return {name: numbers[_EVEN_AS.get(name.rstrip("012"), name)] for name in numbers}


def _cases(drawn: _Drawn) -> list[Case]:
    """Return the case of a call, if there is one and its exact sums are quick."""
    numbers = drawn.numbers
    sizes, taps, strides, dilations, before, after, extra = (
        tuple(numbers[f"{name}{axis}"] for axis in range(3) if f"{name}{axis}" in numbers) for name in _AXIS
    )
    groups, depth, outs = (numbers[name] for name in ("groups", "depth", "outs"))
    op, channels, filters = (
        (("conv2d_transpose", "conv_transpose"), depth, (*taps, outs, depth))  # of one group
        if numbers["transposed"]
        else (("conv2d", "convolution"), groups * depth, (*taps, depth, groups * outs))
    )
    made = Case(
        "fuzz",
        op[len(sizes) != 2],
        (numbers["images"], *sizes, channels),
        filters,
        strides,
        tuple(zip(before, after, strict=True)) if any(before + after + extra) else "VALID",
        dilations,
        f"N{'DHW'[-len(sizes) :]}C",
        output_padding=extra if numbers["transposed"] and any(extra) else None,
        bias=bool(numbers["bias"]),
    )
    with suppress(ArgumentError):  # the numbers may not be legal together
        return [made] if made.geometry.macs <= drawn.most else []
    return []


def _smallest(drawn: _Drawn, fails: Callable[[_Drawn], bool], end: float) -> _Drawn:
    """Return a call that fails, none of whose numbers can be smaller alone."""
    tried = True
    while tried and record.clock() < end:
        tried = False
        for name, value in drawn.numbers.items():
            least, total = _LEAST.get(name.rstrip("012"), 1), sum(map(abs, drawn.numbers.values()))
            smaller = (
                replace(drawn, numbers=numbers)
                for less in sorted({least, (value + least) // 2, value - 2, value - 1}, key=abs)
                if abs(less) < abs(value) and less >= min(least, value)
                for one in [drawn.numbers | {name: less}]
                for numbers in [one, *([_even(one)] * (_even(one) != one))]
                if sum(map(abs, numbers.values())) < total
            )
            if (found := next(filter(fails, smaller), None)) is not None:
                drawn, tried = found, True
    return drawn
