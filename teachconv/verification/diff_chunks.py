"""Compares calls on arrays in chunks, chunk by chunk: nothing is loaded whole.

The chunks of a filter gradient are those of out_backprop, and each contributes to every cell: what each
contributes is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.calls import Call
from ..support.errors import ArgumentError, brief
from ..support.tables import verdict

if TYPE_CHECKING:
    from .diffing import DiffRow


def check_against(lazy: Any, against: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arrays to compare with, their axes as the parts have them; raise where that is not possible.

    Args:
        lazy: a `teachconv.arrays.dask_parts.LazyCall`.
        against: arrays by name, in the caller's layout.
    """
    if against and lazy.call.kind.sums_images:
        raise ArgumentError(
            "against must be None for a filter gradient of arrays in chunks, each of which contributes to "
            "every cell: diff a part that is in memory, such as x[...].compute()"
        )
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
