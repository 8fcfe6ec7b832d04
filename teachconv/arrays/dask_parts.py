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

from ..arguments import Shape
from ..calls import Call
from ..dialects.calls import caller_layout
from ..geometry import slab
from ..kinds import LAYOUTS, CellNames
from ..memory import check_memory
from ..tables import count
from .dask_chunks import call_of_part, compute_chunk, compute_partial, steady_algorithm
from .dask_graph import Plan
from .dialect_calls import OwnCall

__all__ = ["LazyCall", "SlabCells"]


@dataclass(frozen=True, slots=True)
class SlabCells:
    """The cells of a slab and of the part that is computed from it, by their numbers in the whole arrays.

    Attributes:
        shapes: the shape of the whole array of each role.
        starts: of each role where the part begins, [image, row, column, channel].
        inner: how the caller numbers the cells of the whole call, where that is another way, or None.
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
        return LAYOUTS[role] if self.inner is None else self.inner.layout(role)

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
        n, row, col, _ = cell
        part = (1, (row, row + 1), (col, col + 1))
        geometry, (rows, cols) = slab(job.geometry, role, part[0], part[1:])
        own, other = (n, row, col, 0), (n, rows[0], cols[0], 0)
        load = (rows, cols) if role == kind.result else part[1:]
        found = Call(
            job.op,
            job.nhwc(self._load(self.plan.first, (n, n + 1), *load)),
            _loaded(self.plan.second).reshape(geometry.filters_shape),
            geometry,
            geometry.shape_of(kind.result),
            "NHWC",
            None if self.plan.bias is None else _loaded(self.plan.bias),
            names=self._names(role, own, other),
        )
        return found, (0, 0, 0, cell[3])

    def parts(self) -> Iterator[tuple[tuple[slice, ...], Call]]:
        """Yield each chunk's place in the result and its call, its slab loaded.

        The chunks of a filter gradient are those of out_backprop; each contributes to all of the result.
        """
        plan, job = self.plan, self.plan.job
        filters = None if job.op.kind.sums_images else _loaded(plan.second)
        bias = None if plan.bias is None else _loaded(plan.bias)
        for images, rows, cols in product(*plan.axes):
            part = images.part[1] - images.part[0], rows.part, cols.part
            read = self._load(plan.first, images.read, rows.read, cols.read)
            second = filters
            if second is None:
                second = self._load(plan.second, images.part, rows.part, cols.part)
            call = call_of_part(job, part, read, second, bias)
            own = images.part[0], rows.part[0], cols.part[0], 0
            other = images.read[0], rows.read[0], cols.read[0], 0
            call.names = self._names(job.role, own, other)
            where = self._where(images.part, rows.part, cols.part)
            yield where, call

    def steps(self) -> list[tuple[str, Callable[..., Any], str]]:
        """Return what stands between the op and a backend: a word, a function, and what it does here."""
        job = self.plan.job
        task = compute_partial if job.op.kind.sums_images else compute_chunk
        steps: list[tuple[str, Callable[..., Any], str]] = [
            ("slab", slab, "the part of the input that a chunk reads, by the index law"),
            ("chunk", task, f"once for each of {count(self.plan.chunks, 'chunk')}; one ran here"),
        ]
        if job.algorithm is None and self.plan.algorithm != "auto":
            why = "its bits are independent of the image's extent"
            steps.append(("choice", steady_algorithm, f"{self.plan.algorithm}: {why}"))
        return steps

    def run_one(self) -> np.ndarray:
        """Compute the first chunk, which has padding if one has, as its task does."""
        job, plan = self.plan.job, self.plan
        images, rows, cols = (chunks[0] for chunks in plan.axes)
        part = images.part[1] - images.part[0], rows.part, cols.part
        read = self._load(plan.first, images.read, rows.read, cols.read)
        if job.op.kind.sums_images:
            second = self._load(plan.second, images.part, rows.part, cols.part)
            return compute_partial(job, part, (1, 1, 1), second, read)
        bias = None if plan.bias is None else _loaded(plan.bias)
        return compute_chunk(job, _loaded(plan.second), bias, part, (1, 1, 1), read)

    def _names(self, role: str, own: Shape, other: Shape) -> SlabCells:
        geometry, inner = self.plan.job.geometry, self.call.names
        shapes = {name: geometry.shape_of(name) for name in ("input", "filters", "output")}
        across = {"input": "output", "output": "input"}[role]
        return SlabCells(shapes, {role: own, across: other}, inner)

    def _where(self, images: Any, rows: Any, cols: Any) -> tuple[slice, ...]:
        where = [slice(None)] * 4
        for axis, part in zip(self.plan.job.axes(), (images, rows, cols), strict=True):
            where[axis] = slice(*part)
        return tuple(where)

    def _load(self, array: da.Array, images: Any, rows: Any, cols: Any) -> np.ndarray:
        return _loaded(array[self._where(images, rows, cols)])


def _loaded(array: Any) -> np.ndarray:
    return np.asarray(array.compute() if isinstance(array, da.Array) else array)
