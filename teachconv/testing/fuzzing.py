"""A fuzzer of convolutions: layers of networks, small and large, and all pairs of what kernels branch on.

The calls are cases as those of the table, and are run and judged as `check_backend` does. Calls that are like
those that a kernel refused are rarely drawn. A failure is made smaller, one number at a time, for as long as
it still fails.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, combinations, count, cycle, islice, product, takewhile
from math import inf, log2, prod
from operator import itemgetter
from time import process_time
from typing import Any

import numpy as np

from ..backends import ranks_of
from ..core.arguments import integer, real
from ..core.kinds import Kind
from ..core.law import split_padding
from ..data.seeded import DATA, EXACT
from ..support import record, tables
from ..support.errors import ArgumentError, brief, words_of
from ..verification.cases import Case
from ..verification.contract import SPREAD, WAYS, case_rows, limits, told, ways_on
from ..verification.diagnosing import ONE_CELL, Diagnosis, at_most
from ..verification.diffing import ALONE, judges, tolerance_of
from ..verification.reports import DiffReport, DiffRow
from ..verification.running import kept_afresh
from .checking import Checked, of_kernel
from .covering import CAUSAL, TYPES, USUAL, WORDS, Known, classes, draw
from .layers import Numbers, layers

# what networks have, and what is drawn from for each
_SIDES = (5, 7, 8, 9, 12, 13, 14)
_EACH_ALONE = {"groups": (8, 19, 24, 32, 104, 208, 528, 1040), "depth": (1,), "outs": (1,), "size": _SIDES}
_WIDE = {"depth": (104, 128, 160, 208), "outs": (104, 129, 144, 208)}
_FEW = {"depth": (3, 4, 8), "outs": (4, 5, 8)}
_CAUSAL = {"size": (9, 16, 40, 57, 100), "depth": (1, 3, 8, 24), "outs": (1, 4, 8, 24)}
_LONG = {"size": (1025, 1200, 2100), "depth": (1, 2, 3), "outs": (1, 2, 4)}
_CAUSAL_TAPS = (3, 2, 5, 4, 7, 8, 9, 6)
_TILED = {"size": (97, 131, 200, 290), "depth": (1, 2, 3), "outs": (1, 2, 4)}  # many tiles, few channels
_LAYERS: dict[str, dict[str, tuple[int, ...]]] = {
    "depthwise of 3 taps": _EACH_ALONE | {"taps": (3,)},
    "depthwise of 3 taps and stride 2": _EACH_ALONE | {"taps": (3,), "stride": (2,)},
    "104 to 208 channels": _WIDE | {"taps": (3, 1), "stride": (1, 2), "size": (3, 4, 5, 7, 9, 11, 13)},
    "2 groups": {
        "size": (5, 7),
        "taps": (3, 5),
        "stride": (2, 1),
        "groups": (2,),
        "depth": (32, 48, 96),
        "outs": (16, 32, 40),
    },
    "dilated and depthwise": _EACH_ALONE | {"size": (9, 13, 14), "taps": (3, 5), "dilation": (2, 4)},
    "filters of photographs": {
        "size": (48, 97),
        "taps": (3, 5, 2),
        "stride": (1, 2),
        "groups": (1, 3),
        "depth": (1,),
        "outs": (1,),
    },
    "large": {"size": (80, 97), "taps": (3,), "depth": (11, 16), "outs": (11, 16)},
    "large with wide filters": {
        "size": (5, 257, 300, 9),
        "taps": (9, 15, 25),
        "depth": (1, 2),
        "outs": (1, 2),
    },
    "large and dilated": _TILED | {"taps": (3, 2, 5), "dilation": (2, 4, 12, 3)},
    "large with a stride": _TILED | {"taps": (3, 4, 5, 7), "stride": (3, 2, 5), "dilation": (1, 2, 3)},
    "many outputs": {"size": (1, 2, 3), "taps": (1,), "depth": (3, 17, 40), "outs": (4097,)},
    "causal and long with a stride": _LONG
    | {"taps": _CAUSAL_TAPS, "stride": (3, 2, 5, 7), "dilation": (1, 2)},
    "large and transposed": {
        "size": (65, 97, 131),
        "taps": (4, 3, 2, 5),
        "stride": (2, 3),
        "depth": (1, 3),
        "outs": (2, 3),
        "transposed": (1,),
    },
    "causal": _CAUSAL | {"taps": _CAUSAL_TAPS, "groups": (1, 4)},
    "causal and dilated": _CAUSAL
    | {"taps": _CAUSAL_TAPS, "stride": (1, 2), "dilation": (2, 4, 8, 3), "groups": (1, 4)},
    "causal, dilations of 16 to 512": _LONG | {"taps": (3, 2, 5), "dilation": (16, 32, 64, 128, 256, 512)},
    "causal and long": _LONG | {"taps": _CAUSAL_TAPS, "dilation": (1, 2, 4, 8)},
    "depthwise of 5 taps": _EACH_ALONE | {"taps": (5,)},
    "depthwise of 5 taps and stride 2": _EACH_ALONE | {"taps": (5,), "stride": (2,)},
    "7 taps and stride 2": {
        "size": (20, 28, 29),
        "taps": (7,),
        "stride": (2,),
        "depth": (3,),
        "outs": (16, 32),
    },
    "11 taps and stride 4": _FEW | {"size": (27, 39, 47), "taps": (11,), "stride": (4,)},
    "1 tap": {
        "size": _SIDES,
        "taps": (1,),
        "stride": (1, 2),
        "depth": (16, 24, 64, 96),
        "outs": (16, 24, 96),
        "images": (1, 2),
    },
    "3 taps": {"size": _SIDES, "taps": (3,), "stride": (1, 2), "depth": (16, 24, 32), "outs": (16, 24, 33)},
    "sums of more than 4,096 terms": {
        "size": (1, 3, 4),
        "taps": (3, 1),
        "depth": (4097, 4608),
        "outs": (4, 9),
    },
    "large and depthwise": _EACH_ALONE
    | {"size": (91, 97), "taps": (3,), "stride": (1, 2), "dilation": (1, 2), "groups": (8, 9)},
    "large with one channel": {"size": (257, 300), "taps": (3,), "depth": (1,), "outs": (2, 3)},
    "2 taps and stride 2": _FEW | {"size": (8, 9, 14), "taps": (2,), "stride": (2,)},
    "4 taps": _FEW | {"size": (7, 8, 12), "taps": (4,)},
    "4 taps and stride 2": _FEW | {"size": (8, 9, 16), "taps": (4,), "stride": (2,)},
    "transposed, 4 taps and stride 2": _FEW
    | {"size": (4, 5, 7), "taps": (4,), "stride": (2,), "transposed": (1,)},
    "5 taps": _FEW | {"size": (7, 8, 12), "taps": (5,)},
    "dilations of 8 to 10": _FEW | {"size": (21, 33), "taps": (3,), "dilation": (8, 9, 10)},
    "5 taps and stride 2": _FEW | {"size": (8, 9, 13), "taps": (5,), "stride": (2,)},
    "groups of 4 and 8 channels": {
        "size": (5, 7, 9),
        "taps": (3,),
        "stride": (1, 2),
        "groups": (8, 32, 5),
        "depth": (4, 8),
        "outs": (4, 8),
        "images": (1, 5),
    },
    "sizes that are powers of 2": _FEW | {"size": (32, 64), "taps": (3,), "stride": (1, 2)},
    "32 images": _FEW | {"size": (3, 4, 5), "taps": (3, 1), "images": (33,)},
    "64 images": _FEW | {"size": (3, 4), "taps": (3, 1), "images": (64, 100, 65, 131)},
    "patches of 8": _FEW | {"size": (24, 33), "taps": (8,), "stride": (8,)},
    "patches of 16": {"size": (32, 48), "taps": (16,), "stride": (16,), "depth": (3,), "outs": (8, 16)},
    "strides of 5 to 16": _FEW | {"size": (33, 40), "taps": (3, 5, 7), "stride": (5, 6, 7, 10, 12, 16)},
    "dilations of 12 to 24": _FEW | {"size": (25, 49), "taps": (3,), "dilation": (12, 18, 24)},
    "depthwise of multiplier 2 and stride 2": _EACH_ALONE | {"taps": (3,), "stride": (2,), "outs": (2,)},
    "large, 3 x 224 x 224": {
        "size": (224, 224, 225),
        "taps": (3, 7),
        "stride": (2, 1),
        "depth": (3,),
        "outs": (2, 3),
    },
    "large, 3 x 512 x 512": {"size": (512,), "taps": (1, 3), "stride": (1, 2), "depth": (3,), "outs": (1, 2)},
}
_ONE_AXIS = 16  # how many times as long the only axis of a large layer is
_STEPS = ("taps", "stride", "dilation")
# how the call of a layer is changed for the next one
_MOVES: tuple[Numbers, ...] = (
    *({name: step} for name in ("size", "stride", "dilation") for step in (-1, 1)),
    *({"before": step, "after": -step} for step in (-1, 1)),
    {"before": 1},
    {"after": 1},
)
_OF_A_KIND = 3  # layers whose multiply-adds differ by a factor of up to 2 to this power may be of one kind
_ABOUT = 7.0  # quick layers come first, give or take a factor of 2 to this power
_PUBLISHED = "of {} layers of published networks, at full size"
# of all others 1; pads may be less, which crop
_LEAST = dict.fromkeys(("bias", "transposed", "before", "after", "extra"), 0)
_EVEN_AS = {"stride": "stride0", "dilation": "dilation0", "before": "before0", "after": "before0"}
# multiply-adds whose exact sums take a tenth of a second, and a second; and those of a large layer, on small
# whole numbers alone, which a slow kernel is not asked for
_QUICK, _MOST, _LARGE = 1 << 18, 1 << 21, 1 << 28
_CELLS = 1 << 25  # the most that an array has
_REWRITTEN, _SAME_BYTES = "new numbers at an old address", "after filters of the same bytes"
_MARGIN = 10.0  # seconds beside those of the fuzzer, for its calls in another process
_DRAWS = 100
_TRIES = 50  # draws until another kind of call has its turn

_CANDIDATES = 6, 32  # of which one is called; of many it has rare numbers, of few usual ones
_MANY = 1000  # are drawn where all of these are like those that were refused
_NEWEST = 5  # calls between those of other sources
_FOLLOWED = 0.33  # of all calls, by another one with filters that were there
_NEXT = 0.75  # of these, with the filters of the last call; else of the first or the recent ones
_FIRST, _RECENT = 6, 12
_WAYS = None, *WAYS
# how the arrays of small calls lie, and NaN among them, which else would come late
_LIES = [None] * 5 + [_REWRITTEN, _SAME_BYTES, *SPREAD, "NaN, bias and relu", "NaN times 0", "after NaN"]
_USUAL = ("integers", "long", "words", "pixels", "blurs", "normal", "scaled", "tiny")


@dataclass(frozen=True)
class _Drawn:
    """A call: its numbers, and how it is made."""

    numbers: Numbers
    dtype: str
    data: str = "integers"
    way: str | None = None  # None, or one of those of the contract
    most: int = _QUICK  # multiply-adds
    layer: str = ""  # of what networks have, which
    draw: int = 0  # of numbers: the same number gives the same first cells of an array


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

    Some calls are layers of published networks at full size; some are small layers of the same kinds:
    depthwise ones with strides, causal ones with dilation, many channels, long sums. Most are chosen among
    many that are drawn at random, so that soon all pairs, and most triples, of the properties that kernels
    branch on have been asked together: filter sizes, odd and even sizes, one-sided padding, what is left
    beside tiles of 16, and so on. They come on integers, whose sums are exact, on numbers of all kinds, and
    in one of the ways in which `check_backend` calls a backend, such as bias and relu, NaN, negative strides
    or ``out=``. After every third call comes another one with filters that were there: what a kernel keeps
    for them may not fit it. What is like the calls that the kernel refused becomes rare. The same seed gives
    the same calls; how many of them depends on the machine, and large ones are left out where the kernel
    would take long.

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
        A `DiffReport`. The row of a failure is that of the smallest call; its note is a line to paste. Its
        ``asked`` has what the calls covered: how many the kernel took of each layer. Its first line says of
        how many pairs of properties there were calls, and how much processor time these had if the machine
        was busy.

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
        return [row for case in _cases(drawn) for row in case_rows(module, case, *how, asked)]

    def last_fails(calls: list[_Call]) -> bool:
        with at_most(0.0):
            rows = [run(*call) for call in calls][-1]
        return any(row.passed is False for row in rows)

    history = list[_Call]()
    rows, asked = list[DiffRow](), Counter[tuple[Kind, str]]()
    covered, numbered = Counter[str](), Counter[str]()  # calls taken, by layer and by kind of numbers
    now, source, speed = record.clock(), random.Random(integer(seed, "seed")), 0.0
    began, processor, end, known = now, process_time(), now + seconds, Known()
    biased = getattr(module, "takes_bias", True)  # others would refuse half of the calls
    ways = [way for way in ways_on(data) if biased or not WAYS[way].bias]
    places = [way for way in _LIES if way in (None, *ways)]
    errors = {algorithm.error for algorithm in module.ALGORITHMS}
    with kept_afresh(last_fails, seconds + _MARGIN) as afresh:
        scatters = any(kind.scatters for kind in chosen)
        fixed = dict.fromkeys(["bias"] * (not biased) + ["transposed"] * (not scatters), 0)
        covered.update(dict.fromkeys(_layers_of(ranks_of(module), fixed), 0))
        for drawn in _calls(source, ranks_of(module), names, ways, numbers, known, fixed):
            drawn = replace(drawn, numbers=drawn.numbers | fixed)
            geometry = _cases(drawn)[0].geometry
            macs = geometry.macs
            first = len(known.taken) < _FIRST  # whose filters come again, and no others before
            if drawn.way is None and drawn.data == "integers" and 0 < macs <= _QUICK and not first:
                lies = replace(drawn, way=source.choice(places))
                drawn = drawn if known.rare(_classes(lies), source.random()) else lies
            covered[drawn.layer] += 0
            fits = any(judges(*of, geometry, drawn.dtype) for of in product(errors, chosen))
            if macs > _MOST and macs > speed * min(seconds / 20, (end - now) / 4):
                continue
            history.append((drawn, chosen))
            with at_most(0.0):  # the smallest call alone gets a diagnosis
                found = run(drawn, chosen) if fits else []
            if any(row.passed is False for row in found):
                allowed = {"rtol": rtol, "atol": atol}
                before, now = now, record.clock()
                end, cost = max(end, now + seconds / 5), now - before  # a process may have to start again
                rows += _shrunk(run, history, found, end, cost, allowed, afresh)
                break
            rows += found
            took = any(row.compared for row in found)
            covered[drawn.layer] += took
            numbered[drawn.data] += took
            if found or not fits:  # some ways say nothing of a call
                known.learn(_classes(drawn), took)
            known.taken.extend([drawn] * bool(took))
            before, now = now, record.clock()
            speed = max(speed, took * macs / max(now - before, 1e-9))  # a refusal takes no time
            if now > end:  # after a call: one is made however slow the machine is
                break
    del covered[""]
    stopped = any(row.passed is False for row in rows)  # then calls that were not made say nothing
    calls = [
        (word, number) for word, number in (*told(module, asked), *covered.items()) if number or not stopped
    ]
    told_of = ", ".join(f"{word} {n:,}" for word, n in numbered.most_common() if n)
    said = [*limits(module, asked), *[f"numbers: {told_of}"] * bool(told_of)]
    if not stopped and told_of:
        most = _MOST if "integers" in numbers else _QUICK
        pairs, had = known.pairs(ranks_of(module), names, most, fixed)
        share = f"{100 * had // pairs}% of {pairs:,}" if pairs else "too few calls were taken to count"
        said.append(f"{share} pairs of properties")
    wall, processor = record.clock() - began, process_time() - processor
    if getattr(module, "in_this_process", True) and processor + 1 < wall / 2:
        busy = "the machine was busy, or the kernel waited"
        said.append(f"{processor:.0f} s of processor time in {wall:.0f} s: {busy}")
    return DiffReport(
        f"{tables.count(len(rows), 'random call')} of {name}, seed {seed}",
        tuple(rows),
        rtol=tolerance.rtol,
        atol=tolerance.atol,
        asked=tuple(calls),
        limits=tuple(said),
    )


_Call = tuple[_Drawn, list[Kind]]


def _classes(drawn: _Drawn) -> np.ndarray:
    """Return the classes of a call's properties."""
    return classes(drawn.numbers, TYPES.index(drawn.dtype), _WAYS.index(drawn.way))


def _shrunk(
    run: Callable[..., list[DiffRow]],
    history: list[_Call],
    found: list[DiffRow],
    end: float,
    cost: float,
    allowed: dict[str, Any],
    afresh: Callable[[list[_Call]], bool | None],
) -> list[DiffRow]:
    """Return the failed rows of the smallest call that fails, with the line to paste.

    Where that passes in a process that has made no calls before, they are the rows of the last call of the
    history, with lines of calls that fail there, one after the other.
    """
    failed = [row for row in found if row.passed is False]
    drawn, kinds = history[-1]
    named = dict[str, Diagnosis]()
    for number in (drawn.draw, drawn.draw + _DRAWS):  # a name must explain other numbers, too
        with at_most(0.5):
            again = run(replace(drawn, draw=number), kinds) if record.clock() + cost < end else []
        names = {row.diagnosis.code: row.diagnosis for row in again if row.diagnosis}
        named = {code: name for code, name in names.items() if code in named or number == drawn.draw}
    if drawn.way is not None and WAYS[drawn.way].data == "nonfinite":  # any tap that is moved misses NaN
        named = {code: name for code, name in named.items() if code == "nan_lost"}
    until = end - 3 * cost  # so that a call that is begun then, and two that follow, end in time

    def fails(drawn: _Drawn, kinds: list[Kind]) -> bool:
        if record.clock() > until:  # then nothing is smaller
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
            drawn = _smallest(drawn, lambda smaller: fails(smaller, kinds), until)
        until = inf
    notes, calls = list[str](), [(drawn, kinds)]
    if record.clock() + cost < end and not fails(drawn, kinds):
        notes.append("not every time")
    alone = afresh(calls) if record.clock() + cost < end else None
    if alone is None:
        notes.append("not run in a process that made no calls before")
    elif not alone:
        failed = [row for row in found if row.passed is False]
        sequence = _sequence(history, afresh, end - cost)
        remark = "in turn, these calls fail there" if sequence else "also after the calls before it"
        notes += [f"passes in a process that made no calls before; {remark}"] * (len(sequence) != 1)
        calls = sequence or calls
    notes += ["not where its arrays are contiguous"] * (drawn.way in SPREAD)
    if named and not {row.diagnosis.code for row in failed if row.diagnosis} & {*named}:
        notes.append(f"a larger call: {next(iter(named.values()))}")
    lines = [
        str(Checked(_cases(one)[0], kind, one.dtype, one.data, {"way": one.way} | allowed))
        for one, of in calls
        for kind in of
    ]
    lines[:-1] = [line.removesuffix(".check()") for line in lines[:-1]]  # which are there to be run alone
    beside = ("nearest: ", ALONE, *["none of the usual mistakes"] * bool(named))  # a name of the larger call
    for place, row in enumerate(failed):
        if row.diagnosis is None or row.diagnosis.code not in named:  # the small call alone suggests it
            remarks = row.note.split("; ")
            left = [
                one
                for one in remarks
                if one.startswith("nan_lost") or not (one.startswith(beside) or ONE_CELL in one)
            ]
            row = replace(row, diagnosis=None, note="; ".join(left))
        failed[place] = replace(row, note="; ".join(filter(None, [row.note, *notes, *lines])))
    return failed


def _sequence(history: list[_Call], afresh: Callable[[list[_Call]], bool | None], end: float) -> list[_Call]:
    """Return few and small calls, the last of which fails in a process that made no others; [] for none."""
    lengths = takewhile(lambda length: length < 2 * len(history), (2**power for power in count()))
    suffixes = (history[-length:] for length in lengths if record.clock() < end)
    calls = next(filter(afresh, suffixes), [])
    for call in calls[:-1]:
        fewer = [each for each in calls if each is not call]
        calls = fewer if record.clock() < end and afresh(fewer) else calls
    for place, (drawn, kinds) in enumerate(calls):

        def fails(smaller: _Drawn, place: int = place, kinds: list[Kind] = kinds) -> bool:
            return bool(afresh([*calls[:place], (smaller, kinds), *calls[place + 1 :]]))

        calls[place] = _smallest(drawn, fails, end), kinds
    return calls


def _calls(
    source: random.Random,
    ranks: tuple[int, ...],
    dtypes: list[str],
    ways: list[str],
    data: list[str],
    known: Known,
    fixed: Numbers,
) -> Iterator[_Drawn]:
    """Yield layers, and between them calls whose properties are new, on all kinds of numbers; endlessly."""
    whole = [word for word in EXACT if word in data]
    usual_data = [word for word in data if word != "long"] or data  # large layers have long numbers
    random, rows = np.random.default_rng(source.getrandbits(64)), [TYPES.index(dtype) for dtype in dtypes]
    exact = "integers" if "integers" in data else data[0]

    def of_layer(layer: str, rank: int) -> Numbers:
        """Return the numbers of a layer; over three axes it may be thin along some."""
        table = {"groups": (1,), "images": (1, 1, 2), "transposed": (0,)} | _LAYERS[layer]
        numbers = {name: source.choice(values) for name, values in table.items()}
        long = _ONE_AXIS if "large" in layer and rank == 1 else 1
        for axis in source.sample(range(rank), source.randint(1, 3) if rank == 3 else rank):
            numbers |= {f"{word}{axis}": numbers.get(word, 1) for word in _STEPS}
            numbers[f"size{axis}"] = long * source.choice(table["size"])
        mode = CAUSAL if "causal" in layer else source.choice(USUAL)
        return numbers | fixed | {"mode": mode}

    def newest(data: str, way: str | None = None, layer: str = "") -> Iterator[_Drawn]:
        """Yield the call of many that is newest; one of a layer, if it is named."""
        few = data != "integers" or way
        most = (
            _QUICK if few else _LARGE if "large" in layer else source.choice((_QUICK, _MOST)[bool(layer) :])
        )
        for candidates in (*source.choices(_CANDIDATES, k=3), *[_MANY] * (not layer)):
            rank = 1 if "causal" in layer else source.choice(ranks)
            some = of_layer(layer, rank) if layer else fixed
            numbers = draw(random, rank, candidates, most, some)
            types = random.choice(rows, len(numbers["images"]))
            found = classes(numbers, types, _WAYS.index(way))
            usual = np.flatnonzero(~known.rare(found, source.random()))[: _CANDIDATES[1]]
            for place in usual[np.argsort(-known.new(found[usual]))]:
                one = {name: int(values[place]) for name, values in numbers.items()}
                drawn = _Drawn(one, TYPES[types[place]], data, way, most, layer)
                if _cases(drawn):
                    yield drawn
                    return

    def network() -> _Drawn:
        macs, layer_numbers = next(published)
        numbers = layer_numbers | {"bias": source.choice((0, 1))}
        batch = numbers | {"images": numbers["images"] * source.choice((1, 2, 2, 3, 8))}
        word = source.choice(whole) if macs > _QUICK else exact  # small ones come in all ways
        drawn = _Drawn(batch, source.choice(dtypes), word, most=_LARGE, layer=_PUBLISHED.format(len(legal)))
        return drawn if _cases(drawn) else replace(drawn, numbers=numbers)

    def sibling() -> _Drawn:
        """The filters of the last call, or of an earlier one, in a call that what was kept may not fit."""
        others = source.choice((known.taken[:_FIRST], known.taken[-_RECENT:]))
        last = known.taken[-1] if source.random() < _NEXT else source.choice(others)
        numbers = last.numbers
        axes = [name[-1] for name in numbers if name.startswith("size")]
        turned = {
            f"size{axis}": numbers[f"size{other}"] for axis, other in zip(axes, axes[::-1], strict=True)
        }
        wider = {  # another dilation, and pads with which the size of the output stays
            f"{name}{axis}": numbers[f"{name}{axis}"] + step
            for axis in axes
            for name, step in zip(
                ("dilation", "before", "after"), (1, *split_padding(numbers[f"taps{axis}"] - 1)), strict=True
            )
        }
        dims = [*(f"taps{axis}" for axis in axes), "depth", "outs"]
        whole = prod(numbers[name] for name in dims[:-2])  # the same bytes as a filter of another shape
        same_bytes = [{f"taps{axis}": whole if axis == chosen else 1 for axis in axes} for chosen in axes]
        same_bytes += [{one: numbers[other], other: numbers[one]} for one, other in combinations(dims, 2)]
        moved = [
            {f"{name}{axis}": numbers[f"{name}{axis}"] + step for name, step in move.items() for axis in some}
            for move in _MOVES
            for some in (axes, source.sample(axes, 1))
        ]
        groups, channels = numbers["groups"], numbers["groups"] * numbers["outs"]
        others = [{"images": numbers["images"] + 1}, {"bias": 1 - numbers["bias"]}, turned]
        if numbers["transposed"]:
            others.append({f"extra{axis}": numbers[f"stride{axis}"] for axis in axes})
        else:  # the same filters of more groups, or fewer
            parts = [n for n in (1, 2, 3, 4, max(1, channels)) if not channels % n and n != groups]
            others += [{"groups": n, "outs": channels // n} for n in parts]
        nothing = [{name: 0} for name in ("images", "depth", "outs", "size0")]
        changes: Numbers = source.choice(source.choice([[wider], moved, same_bytes, others, nothing, [{}]]))
        dtype = last.dtype if changes else source.choice(dtypes)
        return replace(last, numbers=numbers | changes, dtype=dtype, layer="", way=None)

    def one(call: Callable[[], _Drawn]) -> Iterator[_Drawn]:
        drawn = filter(_cases, (call() for _ in range(_TRIES)))
        return islice((call for call in drawn if not known.rare(_classes(call), source.random())), 1)

    turns, every = cycle(_layers_of(ranks, fixed)), list(chain.from_iterable(map(layers, ranks)))
    most_transposed = fixed.get("transposed", 1)
    legal = [(_macs(numbers), numbers) for numbers in every if numbers["transposed"] <= most_transposed]
    quick = sorted(legal, key=lambda layer: log2(layer[0]) + source.uniform(0, _ABOUT))
    published = cycle(_kinds_in_turn(quick))
    kinds_of_numbers = cycle(source.sample(usual_data, len(usual_data)))
    for way in cycle(ways):
        words = list(islice(kinds_of_numbers, 2))
        calls = chain(
            one(network) if exact == "integers" else (),
            islice(chain.from_iterable(newest(exact, layer=next(turns)) for _ in range(10)), 5),
            chain.from_iterable(newest(exact) for _ in range(_NEWEST)),
            *(newest(word, layer="filters of photographs" * (word == "blurs")) for word in words),
            newest("integers", way),
        )
        for call in calls:
            yield replace(call, draw=source.randrange(_DRAWS))
            if known.taken and source.random() < _FOLLOWED:
                yield from one(sibling)


def _layers_of(ranks: Iterable[int], fixed: Numbers) -> list[str]:
    """Return the small layers that can be drawn."""
    without = ["causal"] * (1 not in ranks) + ["transposed"] * ("transposed" in fixed)
    return [name for name in _LAYERS if not any(word in name for word in without)]


def _kinds_in_turn(layers: list[tuple[int, Numbers]]) -> list[tuple[int, Numbers]]:
    """Return layers so that each kind comes once before any comes twice: a kernel may treat each differently.

    Layers are of a kind if they have about as many multiply-adds, and the same numbers are above 1.
    """
    turns, counts = list[int](), Counter[tuple[Any, ...]]()
    for macs, numbers in layers:
        above_1 = {name.rstrip("012") for name, number in numbers.items() if number > 1}
        whole = above_1 & {"groups", "depth", "stride", "dilation", "taps"}
        kind = macs.bit_length() // _OF_A_KIND, numbers["transposed"], "size1" in numbers, *sorted(whole)
        turns.append(counts[kind])
        counts[kind] += 1
    return [layer for _, layer in sorted(zip(turns, layers, strict=True), key=itemgetter(0))]


def _even(numbers: Numbers) -> Numbers:
    """Return the numbers with one stride, padding and dilation for all axes, as many a function has them."""
    return {name: numbers[_EVEN_AS.get(name.rstrip("012"), name)] for name in numbers}


def _cases(drawn: _Drawn) -> list[Case]:
    """Return the case of a call, if there is one and its exact sums are quick."""
    numbers = drawn.numbers
    sizes, taps, strides, dilations, before, after, extra = (
        tuple(numbers[f"{name}{axis}"] for axis in range(3) if f"{name}{axis}" in numbers) for name in WORDS
    )
    groups, depth, outs = (numbers[name] for name in ("groups", "depth", "outs"))
    op, channels, filters = (
        (("conv2d_transpose", "conv_transpose"), depth, (*taps, outs, depth))  # of one group
        if numbers["transposed"]
        else (("conv2d", "convolution"), groups * depth, (*taps, depth, groups * outs))
    )
    made = Case(
        f"fuzz {drawn.draw}",
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
    with suppress(ValueError):  # the numbers may not be legal together
        g = made.geometry
        cells = max(map(prod, (g.input_shape, g.filters_shape, g.output_shape)))
        return [made] if g.macs <= drawn.most and cells <= _CELLS else []
    return []


def _macs(numbers: Numbers) -> int:
    """The multiply-adds of a legal call."""
    return _cases(_Drawn(numbers, "float32", most=_LARGE))[0].geometry.macs


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
