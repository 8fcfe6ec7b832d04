"""Compares calls on arrays in chunks, chunk by chunk: nothing is loaded whole.

The chunks of a filter gradient are those of out_backprop, and each contributes to every cell: what each
contributes is compared for backends, and the sum of all for an array from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import dispatch
from ..calls import Call
from ..dtypes import accumulator, is_integer
from ..errors import ArgumentError, brief
from ..tables import verdict
from ..truth import bounds
from ..truth.exact import abs_sum

if TYPE_CHECKING:
    from .diffing import DiffRow

__all__ = ["Parts", "check_against", "compare_chunks", "sum_of_chunks"]


@dataclass(frozen=True, eq=False)
class Parts:
    """What is known of a sum of parts beside its value.

    Attributes:
        abs_sum: sum |x||w| of each cell over all parts.
        error: how far the sum may lie from the exact one, before it is rounded to the data's type.
        exact: the sum in float64 if it is rounded from a wider type at the end, else None.
    """

    abs_sum: np.ndarray
    error: np.ndarray
    exact: np.ndarray | None


def check_against(lazy: Any, against: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays to compare with, their axes as the parts have them; raise for another shape.

    Args:
        lazy: a `teachconv.arrays.dask_parts.LazyCall`.
        against: arrays by name, in the caller's layout.
    """
    shape = tuple(lazy.call.result_shape)
    for name, array in against.items():
        if getattr(array, "shape", None) != shape:
            raise ArgumentError(
                f"against[{brief(name)}] must be an array of shape {list(shape)}; "
                f"got {list(getattr(array, 'shape', ()))}"
            )
    return {name: lazy.ours(array) for name, array in against.items()}


def compare_chunks(
    lazy: Any,
    compare: Callable[[Call, Mapping[str, Any]], tuple[list[DiffRow], float]],
    against: Mapping[str, Any],
) -> tuple[list[DiffRow], float]:
    """Compare a call chunk by chunk; each row covers all chunks.

    Args:
        lazy: a `teachconv.arrays.dask_parts.LazyCall`.
        compare: returns the rows of one call, and the time of the reference.
        against: arrays that `check_against` returned.

    Returns:
        The rows, and the time of the reference.
    """
    total: list[DiffRow] = []
    seconds = 0.0
    for where, call in lazy.parts():
        rows, more = compare(call, {name: np.asarray(array[where]) for name, array in against.items()})
        rows = [replace(row, bad=None, where=row.where and f"in a chunk: {row.where}"[:60]) for row in rows]
        total = [_joined(*pair) for pair in zip(total, rows, strict=True)] if total else rows
        seconds += more
    return total, seconds


def sum_of_chunks(lazy: Any) -> tuple[Call, np.ndarray, Parts]:
    """Return a filter gradient as the sum of what its chunks contribute.

    The reference computes each contribution in float64, rounded once, and they are added in float64: the
    error is that of a sum of as many terms and of one rounding more. Integers are exact.

    Args:
        lazy: a `teachconv.arrays.dask_parts.LazyCall` of a filter gradient.

    Returns:
        The call, its arrays without values; the result; and what is known of it.
    """
    whole = replace(lazy.plan.call, names=lazy.call.names)
    dtype = whole.first.dtype
    exact = is_integer(dtype)
    wide = dtype if exact else np.dtype(np.float64)
    want, sizes = np.zeros(whole.backend_shape, wide), np.zeros(() if exact else whole.backend_shape)
    count = 0
    with np.errstate(all="ignore"):  # infinities are judged, and integers wrap around
        for _, call in lazy.parts():
            part = replace(call, first=call.first.astype(wide), second=call.second.astype(wide))
            want += dispatch.run_canonical(part, "reference")
            if not exact:
                sizes += abs_sum(part)
            count += 1
        error = np.zeros(()) if exact else bounds.direct(sizes, count + 1, wide)
        unrounded = None if exact or accumulator(dtype) == dtype else want
        return whole, want.astype(dtype), Parts(sizes, error, unrounded)


def _joined(one: DiffRow, other: DiffRow) -> DiffRow:
    """Return one row for two chunks: the first that failed, or was not judged, or is nearer to its bound."""
    pair = one, other
    passed = verdict(row.passed for row in pair)
    nearest = max(pair, key=lambda row: row.bound_fraction)
    shown = nearest if passed else next(row for row in pair if row.passed is passed)
    times = [row.seconds for row in pair if row.seconds is not None]
    return replace(
        shown,
        passed=passed,
        max_abs=max(row.max_abs for row in pair),
        max_ulps=max(row.max_ulps for row in pair),
        bound_fraction=max(row.bound_fraction for row in pair),
        seconds=sum(times) if times else None,
        note="; ".join(dict.fromkeys(filter(None, (row.note for row in pair)))),
    )
