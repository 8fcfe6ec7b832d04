"""Does a result depend on more than its numbers: on the batch, the threads, the memory, or the run?

No order of summation is wrong, but two orders give different bits. A backend whose order follows from the
shape of one image alone gives the same bits alone and in a batch, on any number of threads, run after run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..core.calls import Call
from ..core.kinds import KINDS
from ..running import dispatch
from ..support import settings
from ..support.argument_types import Backend, DTypeLike
from ..support.errors import words_of
from ..truth import bounds
from .cases import find_cases
from .contract import amid_guards, every_second_channel, into_out, packed, plain
from .flushing import judging
from .reports import DiffReport, DiffRow, failed_row
from .running import Refused, guarded, what_went_wrong


class InvarianceReport(DiffReport):
    """What `check_invariance` returns: a row for each way to run a call, compared with a plain run of it.

    A row passes if all bits are the same, except the sign and payload of a NaN. The note of one that fails
    says what changed, in how many cells, and by how many ulps (units in the last place).
    """

    def _headline(self) -> str:
        return super()._headline().replace("against the reference", "against a plain run of each call")


@judging()
def check_invariance(
    backend: Backend,
    dtype: DTypeLike = "float32",
    *,
    tags: Iterable[str] | str | None = ("real", "tails"),
    kinds: Iterable[str] | str | None = None,
) -> InvarianceReport:
    """Check that a backend's bits depend only on the numbers of an image and its shape.

    Each case is run with each algorithm, and with the choice left to the backend: again; as a part of a
    larger batch; on 1, 2, 3 and 7 threads of `teachconv.set_num_threads`; on strided arrays; into an ``out``.
    A filter gradient sums over the batch, and is not run in a larger one. A result within its bound may fail
    here, and a backend that passes may be wrong: `teachconv.check_backend` looks at the numbers.

    Args:
        backend: a backend, or the name of one in the table.
        dtype: the dtype of the arrays.
        tags: only cases that have one of these tags; None for all that do not take long.
        kinds: the functions to check, such as "conv2d", or one of them; None for all three.

    Returns:
        An `InvarianceReport`.

    Raises:
        ValueError: if there is no such backend, tag or kind.
        TypeError: if there is no such dtype.

    >>> check_invariance("cython", tags="hand").passed
    True
    """
    name, module = dispatch.find_backend(backend)
    module = guarded(module)
    chosen = words_of(kinds, "kinds", map(str, KINDS))
    rows: list[DiffRow] = []
    for problem in (problem for case in find_cases(tags) for problem in case.problems(dtype)):
        call = problem.call
        found = [(name, module)] if call.kind.name in chosen else []
        fitting = [one.name for _, _, one in dispatch.candidates(found, call)]
        for algorithm in [*fitting, None] if fitting else ():
            label = f"{name.rpartition('.')[2]}: {problem.name}, {call.first.dtype.name}"
            before, *after = (_result(run, call, module, algorithm) for run in (plain, *_WAYS.values()))
            for way, result in zip(_WAYS, after, strict=True):
                rows.append(_row(f"{label}, {way}", algorithm or "auto", call, before, result))
    return InvarianceReport(f"invariance of {name.rpartition('.')[2]}", tuple(rows))


def _result(run: Callable[..., np.ndarray], call: Call, module: Any, algorithm: str | None) -> Any:
    """Return the result of one way to run a call; or what went wrong."""
    try:
        return np.array(run(call, module, algorithm=algorithm))
    except Exception as error:  # a backend under test may do anything
        return error if isinstance(error, Refused) else what_went_wrong(error)


def _row(name: str, algorithm: str, call: Call, before: Any, after: Any) -> DiffRow:
    for refused in (result for result in (before, after) if isinstance(result, Refused)):
        return DiffRow(name, algorithm, None, note=str(refused))
    for failed in (result for result in (before, after) if isinstance(result, str)):
        return failed_row(name, algorithm, failed)
    bits = f"u{before.itemsize}"
    differ = (before.view(bits) != after.view(bits)) & ~((before != before) & (after != after))
    if not differ.any():
        return DiffRow(name, algorithm, True)
    verdict = bounds.judge(after, before)
    error, ulps = float(verdict.error.max()), float(verdict.ulps.max())
    note = f"{differ.sum():,} of {differ.size:,} cells change, by up to {ulps:,.0f} ulps"
    first = call.name(call.kind.result, tuple(map(int, np.argwhere(differ)[0])))
    return DiffRow(name, algorithm, False, error, ulps, np.inf, first, note=note)


def _in_a_larger_batch(call: Call, module: Any, **options: Any) -> np.ndarray:
    """Run a call as the middle third of a batch; a filter gradient as it is."""
    if call.kind.sums_images:
        return plain(call, module, **options)
    batch = call.geometry.batch
    first = np.concatenate([-call.first, call.first, call.first[..., ::-1]])
    larger = replace(call, first=first, geometry=replace(call.geometry, batch=3 * batch))
    return plain(larger, module, **options)[batch : 2 * batch]


def _on_threads(number: int, call: Call, module: Any, **options: Any) -> np.ndarray:
    with settings.on_threads(number):
        return plain(call, module, **options)


_WAYS: dict[str, Callable[..., np.ndarray]] = {
    "run again": plain,
    "in a larger batch": _in_a_larger_batch,
    **{f"threads: {number}": partial(_on_threads, number) for number in (1, 2, 3, 7)},
    "strided arrays": partial(amid_guards, every_second_channel),
    "out=": partial(into_out, packed),
}
