"""A convolution in chunks: its dask graph, and parts of it as calls of their own.

The graph has a task for each chunk of the result, and where the input is computed one for each of its
chunks, which cuts the pieces that neighbouring slabs need.

dask's counterpart is dask.array.overlap, whose ``map_overlap`` knows neither strides nor a halo that differs
between the two sides. Here the chunks of the result decide, and each asks the geometry for its slab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product
from math import prod
from operator import getitem
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.base import tokenize
from dask.highlevelgraph import HighLevelGraph

from ..core.arguments import Pair, Shape, channels_first
from ..core.calls import Call
from ..core.kinds import layout_of
from ..core.slabs import slab
from ..dialects.calls import caller_layout
from ..running import streaming
from ..support.memory import check_memory
from ..support.tables import count
from .dask_chunks import (
    AxisChunk,
    Job,
    SlabCells,
    add_all,
    axis_chunks,
    compute_chunk,
    compute_partial,
    cut_all,
    joined,
    part_of,
    result_chunks,
    rounded,
)
from .dialect_calls import OwnCall

_FAN_IN = 8  # partial filter gradients that one task adds


@dataclass(frozen=True, eq=False)
class LazyCall:
    """A call whose arrays are not loaded.

    Attributes:
        job: what all chunks share.
        first: the array that the slabs are parts of, in the caller's layout.
        second: the filters [filter_rows, filter_cols, in_channels / groups, out_channels], NumPy or dask; for
            a filter gradient out_backprop, a dask array.
        bias: [out_channels], NumPy or dask, or None.
        of_op: the whole call of teachconv's op; its arrays have shapes and dtypes, and no values.
        algorithm: the algorithm that the layer is named after.
        options: backend, algorithm, precision and out.
        own: of a dialect's call, how it is a call of teachconv's op; else None.
    """

    job: Job
    first: da.Array
    second: Any
    bias: Any
    of_op: Call
    algorithm: str
    options: Mapping[str, Any]
    own: OwnCall | None = None

    @property
    def call(self) -> Call:
        """The whole call as its caller has it; its arrays have shapes and dtypes, and no values."""
        if self.own is None:
            return self.of_op
        conv = self.own.conv
        shape, layout = conv.result_shape, caller_layout(conv)
        return replace(self.of_op, result_shape=shape, layout=layout, title=conv.function, names=conv)

    @cached_property
    def axes(self) -> tuple[list[AxisChunk], ...]:
        """The chunks along images, rows and columns: of the result, or of a gradient's out_backprop."""
        job, geometry, kind = self.job, self.job.geometry, self.job.op.kind
        images, *places = (self.first.chunks[axis] for axis in job.axes())
        if kind.sums_images:
            parts = [self.second.chunks[axis] for axis in job.axes()]
        else:
            spatial = zip(geometry.axes, places, strict=True)
            parts = [images, *(result_chunks(axis, job.role, chunks) for axis, chunks in spatial)]
        several = (
            axis_chunks(sizes, chunks, job.read_of(axis))
            for axis, chunks, sizes in zip(geometry.axes, places, parts[1:], strict=True)
        )
        return axis_chunks(parts[0], images, lambda part: part), *several

    @property
    def chunks(self) -> int:
        """How many chunks are computed."""
        return prod(map(len, self.axes))

    @property
    def work(self) -> Callable[..., np.ndarray]:
        """The task of a chunk: a function of job, part, slab, second array and bias."""
        return compute_partial if self.job.op.kind.sums_images else compute_chunk

    def order(self, *of_axes: Any) -> tuple[Any, ...]:
        """Return what there is one of for each axis, channels last, in the order of the caller's axes."""
        return of_axes if self.job.layout[-1] == "C" else channels_first(of_axes)

    def build(self) -> da.Array:
        """Return the result as a dask array; nothing is computed."""
        name = self._name()
        shape, dtype = tuple(self.of_op.result_shape), self.of_op.first.dtype
        if self.job.op.kind.sums_images:
            chunks: tuple[Any, ...] = tuple((size,) for size in shape)
            tasks = self._tasks(f"partial-{name}")
            total = _add_up(tasks, f"sum-{name}", [key for key in tasks if key[0] == f"partial-{name}"])
            tasks[(name, *(0 for _ in shape))] = rounded, total, dtype, shape
        else:
            sizes = (tuple(past - first for (first, past), *_ in axis) for axis in self.axes)
            chunks = self.order(*sizes, (shape[self.job.layout.index("C")],))
            tasks = self._tasks(name)
        used = [array for array in (self.first, self.second, self.bias) if isinstance(array, da.Array)]
        layers = HighLevelGraph.from_collections(name, tasks, dependencies=used)
        return da.Array(layers, name, chunks, dtype=dtype)

    def _name(self) -> str:
        """Return the name of the result, which is the same for the same call."""
        job, names = self.job, (self.job.op.name, self.algorithm)
        arrays = (a.name if isinstance(a, da.Array) else a for a in (self.first, self.second, self.bias))
        backend = getattr(job.backend, "__name__", job.backend)
        options = job.geometry, job.layout, backend, job.algorithm, job.precision
        return f"{'-'.join(names)}-{tokenize(*names, *arrays, *options, tuple(self.of_op.result_shape))}"

    def _tasks(self, name: str) -> dict[Any, Any]:
        """Return a task of this name for each chunk, with what all share and what cuts the slabs."""
        tasks: dict[Any, Any] = {}
        sums, slabs = self.job.op.kind.sums_images, _Slabs(self, f"cut-{name}")
        job, bias = _shared(tasks, f"job-{name}", self.job), _shared(tasks, f"bias-{name}", self.bias)
        filters = None if sums else _shared(tasks, f"filters-{name}", self.second)
        for numbered in product(*map(enumerate, self.axes)):
            at, chunks = zip(*numbered, strict=True)
            place = self.order(*at, 0)
            second = (self.second.name, *place) if sums else filters
            tasks[(name, *place)] = self.work, job, part_of(chunks), slabs.of(chunks), second, bias
        return tasks | slabs.cuts()

    def around(self, role: str, cell: Shape) -> tuple[Call, Shape]:
        """Return the smallest call that has one cell, and the cell's number in it.

        Args:
            role: the role of the cell's array: the result or the first array of the call.
            cell: the cell, as a backend numbers those of the whole array.

        Returns:
            A call with values. For a filter gradient it is the whole one: a cell sums over all images.
        """
        kind, job = self.call.kind, self.job
        if kind.sums_images:
            for array in (self.first, self.second):
                check_memory(array.shape, array.dtype, "an array of which every cell is read")
            first, second = np.asarray(self.first), np.asarray(self.second)
            return replace(self.call, first=job.nhwc(first), second=job.nhwc(second)), cell
        part = [(index, index + 1) for index in cell[1:-1]]
        geometry, reads = slab(job.geometry, role, 1, part)
        n, own, other = cell[0], (*cell[:-1], 0), (cell[0], *(read[0] for read in reads), 0)
        load, across = (reads, kind.first) if role == kind.result else (part, kind.result)
        found = Call(
            job.op,
            job.nhwc(self._load(self.first, (n, n + 1), *load)),
            _loaded(self.second).reshape(geometry.filters_shape),
            geometry,
            geometry.shape_of(kind.result),
            layout_of("input", geometry.rank),
            _loaded(self.bias),
            names=SlabCells(self.call, {role: own, across: other}),
        )
        return found, (*(0 for _ in cell[:-1]), cell[-1])

    def steps(self) -> list[tuple[str, Callable[..., Any], str]]:
        """Return the step between the op and a backend: a word, a function, and what it does here."""
        steps: list[tuple[str, Callable[..., Any], str]] = [
            ("slab", slab, "the part of the input that a chunk reads, by the index law"),
            ("chunk", self.work, f"once for each of {count(self.chunks, 'chunk')}; one ran here"),
        ]
        if self.job.algorithm is None and self.algorithm != "auto":
            why = "its bits are independent of the image's extent"
            steps.append(("choice", streaming.steady_algorithm, f"{self.algorithm}: {why}"))
        return steps

    def run_one(self) -> np.ndarray:
        """Compute the first chunk, which has padding if one has, as its task does."""
        chunks = [axis[0] for axis in self.axes]
        read = self._load(self.first, *(chunk.read for chunk in chunks))
        own = (chunk.part for chunk in chunks)
        second = self._load(self.second, *own) if self.job.op.kind.sums_images else _loaded(self.second)
        return self.work(self.job, part_of(chunks), read, second, _loaded(self.bias))

    def _load(self, array: da.Array, *parts: Pair) -> np.ndarray:
        return _loaded(array[self.order(*(slice(*part) for part in parts), slice(None))])


def _shared(tasks: dict[Any, Any], key: str, value: Any) -> Any:
    """Return what stands for a value in the arguments of every task: the value is in the graph once."""
    if value is None:
        return None
    if isinstance(value, da.Array):
        return value.name, *(0 for _ in value.shape)
    tasks[key] = value
    return key


def _add_up(tasks: dict[Any, Any], name: str, keys: Sequence[Any]) -> Any:
    """Add tasks that sum those of ``keys``, as a tree in a fixed order; return the key of the whole sum."""
    while len(keys) > 1:
        groups = [list(keys[first : first + _FAN_IN]) for first in range(0, len(keys), _FAN_IN)]
        keys = [(name, len(groups), number) for number in range(len(groups))]
        tasks.update((key, (add_all, group)) for key, group in zip(keys, groups, strict=True))
    return keys[0]


def _loaded(array: Any) -> Any:
    return array.compute() if isinstance(array, da.Array) else array


class _Slabs:
    """What stands for slabs in a graph: a reading of the source, or pieces of the input's chunks.

    All pieces that are cut of one chunk are one task.
    """

    def __init__(self, call: LazyCall, name: str) -> None:
        self.call, self.name = call, name
        self.reading = _reading_of(call.first)
        # chunk of the input -> part of each axis -> which piece
        self.places: dict[Any, dict[Any, int]] = {}

    def of(self, chunks: Sequence[AxisChunk]) -> Any:
        """Return the slab of one chunk on each axis."""
        if self.reading is not None:
            where = self.call.order(*(slice(*chunk.read) for chunk in chunks), slice(None))
            return *self.reading, where
        axes = self.call.order(*(chunk.pieces for chunk in chunks), ((0, None),))
        pieces = [self._piece(*zip(*several, strict=True)) for several in product(*axes)]
        return (joined, tuple(map(len, axes)), *pieces) if len(pieces) > 1 else pieces[0]

    def _piece(self, chunk: tuple[int, ...], parts: tuple[Pair | None, ...]) -> Any:
        """Return what stands for a part of one of the input's chunks: the chunk, or what is cut of it."""
        if not any(parts):
            return self.call.first.name, *chunk
        numbers = self.places.setdefault(chunk, {})
        return getitem, (self.name, *chunk), numbers.setdefault(parts, len(numbers))

    def cuts(self) -> dict[Any, Any]:
        """Return the tasks that cut the input's chunks."""
        return {
            (self.name, *chunk): (cut_all, (self.call.first.name, *chunk), list(places))
            for chunk, places in self.places.items()
        }


def _reading_of(array: da.Array) -> tuple[Any, str] | None:
    """Return how a whole slab is read from what `dask.array.from_array` was given: no chunk waits for others.

    Returns:
        A function of the source and the place of the slab, and the key of the source; None for an array that
        is computed, or that has its source in every task.
    """
    source, chunk = f"original-{array.name}", (array.name, *(0 for _ in array.shape))
    if source not in array.dask.layers:
        return None
    tasks = array.dask.cull([chunk]).to_dict()
    return partial(_read, {key: task for key, task in tasks.items() if key != source}, chunk, source), source


def _read(tasks: Mapping[Any, Any], chunk: Any, key: str, source: Any, where: tuple[slice, ...]) -> Any:
    """Read a slab as dask reads a chunk, lock and conversion included: by its task, from the slab alone."""
    return dask.get({**tasks, key: _Part(source, where)}, chunk, callbacks=())


@dataclass(frozen=True, eq=False)
class _Part:
    """An array-like of which all that is read is one part of another."""

    source: Any
    where: tuple[slice, ...]

    def __getitem__(self, where: Any) -> Any:
        return self.source[self.where]
