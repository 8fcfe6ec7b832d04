"""A result that failed, and a mistake that may explain it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import inf, prod
from typing import Any

import numpy as np

from ..core.calls import Call
from ..core.dtypes import FORMATS, FloatFormat, is_integer
from ..core.slabs import slab
from ..quantized.calls import QuantizedCall
from ..truth import bounds
from ..truth.exact import float64_result

View = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """An error that is allowed beside the bound: ``atol + rtol * |value|``."""

    rtol: float = 0.0
    atol: float = 0.0

    def of(self, values: np.ndarray) -> np.ndarray:
        """Return the error that is allowed for each value."""
        with np.errstate(over="ignore", invalid="ignore"):
            sizes = np.abs(values.astype(np.float64))
            return np.where(np.isfinite(sizes), self.atol + self.rtol * sizes, 0.0)


@dataclass(slots=True)
class Work:
    """What a search for a mistake may still evaluate.

    Attributes:
        left: how many products; all else that is evaluated counts as products that take as long.
        seconds: how long the processor may take for it.
        short: whether something was left out because that was not enough.
    """

    left: float = inf
    seconds: float = inf
    short: bool = False

    def affords(self, products: float) -> bool:
        """Return whether this number of products may still be evaluated; if so, count them."""
        enough = products <= self.left
        self.left -= products if enough else 0
        self.short |= not enough
        return enough


@dataclass(frozen=True)
class Failure:
    """A result that failed.

    Attributes:
        call: the call.
        got: what was found, as a backend returns it.
        want: what the reference gives.
        bound: the error bound that ``got`` did not keep, cell by cell, the tolerance aside.
        tolerance: what is allowed beside it.
        activated: whether a relu belongs to the call.
        quantized: the quantized call whose sums the call computes, or None.
        held: what ``out`` held before the call in every cell, or None if that is not known.
        work: what the search for its mistake may still evaluate.
    """

    call: Call
    got: np.ndarray
    want: np.ndarray
    bound: np.ndarray
    tolerance: Tolerance = field(default_factory=Tolerance)
    activated: bool = False
    held: float | None = None
    quantized: QuantizedCall | None = None
    work: Work = field(default_factory=Work)

    @cached_property
    def bad(self) -> np.ndarray:
        """The cells that are not within their bounds."""
        return ~self.allows(self.got, self.want, self.bound)

    @cached_property
    def exact(self) -> np.ndarray:
        """The result in float64, or in the integer type, without the activation; the sums if quantized."""
        with np.errstate(all="ignore"):
            return float64_result(self.call)

    @property
    def digits(self) -> int:
        """How many bits a number of the type has."""
        dtype = self.call.first.dtype if self.quantized is None else self.want.dtype
        return 8 * dtype.itemsize if is_integer(dtype) else FORMATS[dtype.name].precision

    def finished(self, sums: np.ndarray) -> Any:
        """Return what the call makes of its sums: they are rescaled, or its activation is applied."""
        if self.quantized is not None:
            return self.quantized.rescaled(sums.astype(np.int64))
        return relu(sums) if self.activated else sums

    def allows(self, got: np.ndarray, guess: np.ndarray, limits: np.ndarray, sizes: Any = 0.0) -> np.ndarray:
        """Return which cells lie within a limit, or within the tolerance, of a guess."""
        dtype = self.call.first.dtype
        with np.errstate(over="ignore", invalid="ignore"):
            guess = guess.astype(dtype)
        return bounds.judge(got, guess, np.maximum(limits, self.tolerance.of(guess)), sizes).ok


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake, to be tried: a call, and what is made of its result.

    Attributes:
        sentence: what makes the results equal; "equal" is put before it.
        call: the call with the mistake in it: a `Call`, or that of a function of windows.
        view: what the mistake makes of the call's result, or None.
        moves: whether ``view`` moves numbers to other cells; if not, it knows only the channel of a number.
        activated: whether the activation of the call, if there is one, is applied; of a quantized call
            whether ``view`` is of its sums, which are rescaled then, or gives the numbers of the result.
        rounded: the format that the result is rounded to, or None.
        summed_in: the type in which the sums are formed, "" for the call's.
        slack: an error that is allowed beside the bound, because a number was read off the result.
        chosen: how many bits of the result were needed to choose among mistakes of this kind.
        part: the part of the result that is compared.
        compute: how the call is computed; by default right.
        code: its name, where that has details; "" for that of its row in the table.
    """

    sentence: str
    call: Any
    view: View | None = None
    moves: bool = False
    activated: bool = True
    rounded: FloatFormat | None = None
    summed_in: str = ""
    slack: float = 0.0
    chosen: float = 0.0
    part: Any = ...
    compute: Callable[[Call], np.ndarray] = float64_result
    code: str = ""


Tries = Callable[[Failure], Iterable[Mistake]]  # the mistakes of a row of the table


def both(first: View | None, second: View | None) -> Any:
    """Return a view of a view."""
    return (lambda result: second(first(result))) if first and second else first or second


def cost(call: Call) -> float:
    """Return what it takes to evaluate and to judge a call: its products, its cells, the copies of arrays."""
    cells = prod(call.backend_shape)
    return call.terms * cells + _CELL * cells + _COPY * (call.first.size + call.second.size)


_CELL, _COPY = 60, 4  # products that take as long as it takes to judge a cell, and to convert a number
TRY = 200_000  # and as it takes to make and to look at one mistake


def part_of(call: Call, window: tuple[slice, ...]) -> tuple[Call, tuple[slice, ...]]:
    """Return the call that computes a part of one image of a result, and what it reads of the first array."""
    sizes = call.backend_shape[1:-1]
    parts = [part.indices(size)[:2] for part, size in zip(window[1:-1], sizes, strict=True)]
    geometry, reads = slab(call.geometry, call.kind.result, 1, parts)
    read = (window[0], *(slice(*each) for each in reads))
    return replace(call, first=call.first[read], geometry=geometry), read


def wide(array: Any) -> np.ndarray:
    """Return an array in the type in which mistakes are computed: float64, or its own integer type."""
    return array if is_integer(array.dtype) else array.astype(np.float64)


def relu(result: np.ndarray) -> np.ndarray:
    """Return what the activation makes of a result."""
    return np.asarray(np.maximum(result, 0))
