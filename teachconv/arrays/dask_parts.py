"""Parts of a lazy call as calls of their own, for tools that look at cells or at what runs.

Only the slab of the part is computed. Cells keep the numbers that they have in the whole arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import dask.array as da
import numpy as np

from ..core.arguments import Pair, Shape, channels_first
from ..core.calls import Call
from ..core.kinds import ROLES, CellNames, layout_of
from ..core.slabs import slab
from ..dialects.calls import caller_layout
from ..running import dispatch
from ..support.memory import check_memory
from ..support.tables import count
from .dask_chunks import call_of_part, compute_chunk, compute_partial, part_of
from .dask_graph import Plan
from .dialect_calls import OwnCall


@dataclass(frozen=True, slots=True)
class SlabCells:
    """The cells of a slab and of the part that is computed from it, by their numbers in the whole arrays.

    Attributes:
        shapes: the shape of the whole array of each role.
        starts: of each role where the part begins, [image, row, column, channel].
        inner: how the caller numbers the cells of the whole call, where that is a different way, or None.
    """

    shapes: Mapping[str, Shape]
    starts: Mapping[str, Shape]
    inner: CellNames | None = None

    @property
    def has_gaps(self) -> bool:
        """Whether the caller's arrays lack some cells."""
        return self.inner is not None and self.inner.has_gaps

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a cell of the part by its number in the whole array.

        >>> cells = SlabCells({"input": (1, 90, 90, 1)}, {"input": (0, 40, 50, 0)})
        >>> cells.name("input", (0, 1, 2, 0)), cells.find("input", (0, 41, 52, 0))
        ((0, 41, 52, 0), (0, 1, 2, 0))
        """
        start = self.starts.get(role, (0,) * len(cell))
        whole = tuple(index + first for index, first in zip(cell, start, strict=True))
        return whole if self.inner is None else self.inner.name(role, whole)

    def find(self, role: str, cell: Shape) -> Shape:
        """Return the cell of the part: the inverse of `name`."""
        whole = cell if self.inner is None else self.inner.find(role, cell)
        start = self.starts.get(role, (0,) * len(whole))
        return tuple(index - first for index, first in zip(whole, start, strict=True))

    def layout(self, role: str) -> str:
        """Return the letters of the caller's axes."""
        rank = len(self.shapes[role]) - 2
        return layout_of(role, rank) if self.inner is None else self.inner.layout(role)

    def shape(self, role: str) -> Shape:
        """Return the shape of the caller's array."""
        return self.shapes[role] if self.inner is None else self.inner.shape(role)


@dataclass(frozen=True, eq=False)
class LazyCall:
    """A call whose arrays are not loaded.

    Attributes:
        plan: the call with its arrays; ``plan.call`` has stand-ins without values in their place.
        options: backend, algorithm, precision and out.
        own: of a dialect's call, how it is a call of teachconv's op, whose plan ``plan`` is; else None.
    """

    plan: Plan
    options: Mapping[str, Any]
    own: OwnCall | None = None

    @property
    def call(self) -> Call:
        """The whole call as its caller has it; its arrays have shapes and dtypes, and no values."""
        call = self.plan.call
        if self.own is None:
            return call
        conv = self.own.conv
        shape, layout = conv.result_shape, caller_layout(conv)
        return replace(call, result_shape=shape, layout=layout, title=conv.function, names=conv)

    def ours(self, array: Any) -> Any:
        """Return an array like the caller's result with its axes as the parts have them; nothing is read."""
        if self.own is None:
            return array
        return self.own.to_ours(array if isinstance(array, da.Array) else da.from_array(array, name=False))

    def around(self, role: str, cell: Shape) -> tuple[Call, Shape]:
        """Return the smallest call that has one cell, and the cell's number in it.

        Args:
            role: the role of the cell's array: the result or the first array of the call.
            cell: the cell, as a backend numbers those of the whole array.

        Returns:
            A call with values. For a filter gradient it is the whole one: a cell sums over all images.
        """
        kind, job = self.call.kind, self.plan.job
        if kind.sums_images:
            for array in (self.plan.first, self.plan.second):
                check_memory(array.shape, array.dtype, "an array of which every cell is read")
            first, second = np.asarray(self.plan.first), np.asarray(self.plan.second)
            return replace(self.call, first=job.nhwc(first), second=job.nhwc(second)), cell
        part = [(index, index + 1) for index in cell[1:-1]]
        geometry, reads = slab(job.geometry, role, 1, part)
        n, own, other = cell[0], (*cell[:-1], 0), (cell[0], *(read[0] for read in reads), 0)
        load = reads if role == kind.result else part
        found = Call(
            job.op,
            job.nhwc(self._load(self.plan.first, (n, n + 1), *load)),
            _loaded(self.plan.second).reshape(geometry.filters_shape),
            geometry,
            geometry.shape_of(kind.result),
            layout_of("input", geometry.rank),
            None if self.plan.bias is None else _loaded(self.plan.bias),
            names=self._names(role, own, other),
        )
        return found, (*(0 for _ in cell[:-1]), cell[-1])

    def parts(self) -> Iterator[tuple[tuple[slice, ...], Call]]:
        """Yield each chunk's place in the result and its call, its slab loaded.

        The chunks of a filter gradient are those of out_backprop; each contributes to all of the result.
        """
        plan, job = self.plan, self.plan.job
        filters = None if job.op.kind.sums_images else _loaded(plan.second)
        bias = None if plan.bias is None else _loaded(plan.bias)
        for chunks in product(*plan.axes):
            parts, reads = [chunk.part for chunk in chunks], [chunk.read for chunk in chunks]
            second = self._load(plan.second, *parts) if filters is None else filters
            call = call_of_part(job, part_of(chunks), self._load(plan.first, *reads), second, bias)
            own, other = ((*(first for first, _ in spans), 0) for spans in (parts, reads))
            call.names = self._names(job.role, own, other)
            yield self._where(*parts), call

    def steps(self) -> list[tuple[str, Callable[..., Any], str]]:
        """Return the step between the op and a backend: a word, a function, and what it does here."""
        job = self.plan.job
        task = compute_partial if job.op.kind.sums_images else compute_chunk
        steps: list[tuple[str, Callable[..., Any], str]] = [
            ("slab", slab, "the part of the input that a chunk reads, by the index law"),
            ("chunk", task, f"once for each of {count(self.plan.chunks, 'chunk')}; one ran here"),
        ]
        if job.algorithm is None and self.plan.algorithm != "auto":
            why = "its bits are independent of the image's extent"
            steps.append(("choice", dispatch.steady_algorithm, f"{self.plan.algorithm}: {why}"))
        return steps

    def run_one(self) -> np.ndarray:
        """Compute the first chunk, which has padding if one has, as its task does."""
        job, plan = self.plan.job, self.plan
        chunks = [axis[0] for axis in plan.axes]
        part, grid = part_of(chunks), (1,) * len(chunks)
        read = self._load(plan.first, *(chunk.read for chunk in chunks))
        if job.op.kind.sums_images:
            second = self._load(plan.second, *(chunk.part for chunk in chunks))
            return compute_partial(job, part, grid, second, read)
        bias = None if plan.bias is None else _loaded(plan.bias)
        return compute_chunk(job, _loaded(plan.second), bias, part, grid, read)

    def _names(self, role: str, own: Shape, other: Shape) -> SlabCells:
        shapes = {name: self.plan.job.geometry.shape_of(name) for name in ROLES}
        across = {"input": "output", "output": "input"}[role]
        return SlabCells(shapes, {role: own, across: other}, self.call.names)

    def _where(self, *parts: Pair) -> tuple[slice, ...]:
        where = (*(slice(*part) for part in parts), slice(None))
        return where if self.plan.job.layout[-1] == "C" else channels_first(where)

    def _load(self, array: da.Array, *parts: Pair) -> np.ndarray:
        return _loaded(array[self._where(*parts)])


def _loaded(array: Any) -> np.ndarray:
    return np.asarray(array.compute() if isinstance(array, da.Array) else array)
