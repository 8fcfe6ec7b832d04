"""Makes the dask graph of a convolution in chunks.

There is a task for each chunk of the result, and where the input is computed one for each of its chunks,
which cuts the pieces that neighbouring slabs need.

dask's counterpart is dask.array.overlap, whose ``map_overlap`` knows neither strides nor a halo that differs
between the two sides. Here the chunks of the result decide, and each asks the geometry for its slab.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from operator import getitem
from typing import Any

import dask.array as da
import numpy as np
from dask._task_spec import DataNode, Task, TaskRef
from dask.array.core import ArraySliceDep, getter, getter_inline, getter_nofancy
from dask.base import tokenize
from dask.blockwise import Blockwise
from dask.highlevelgraph import HighLevelGraph

from ..core.arguments import Shape, channels_first
from ..core.calls import Call
from .dask_chunks import (
    AxisChunk,
    Job,
    Part,
    Piece,
    add_all,
    axis_chunks,
    compute_chunk,
    compute_partial,
    cut,
    cut_all,
    part_of,
    result_chunks,
    rounded,
)

_MOST_PIECES = (
    9  # of one slab that are cut by tasks of their own; a slab of more is cut in the task of its chunk
)
_FAN_IN = 8  # partial filter gradients that one task adds


@dataclass(frozen=True, eq=False)
class Plan:
    """A lazy call: its arrays, and which chunks its result has.

    Attributes:
        job: what all chunks share.
        first: the array that the slabs are parts of, in the caller's layout.
        second: the filters [filter_rows, filter_cols, in_channels / groups, out_channels], NumPy or dask; for
            a filter gradient out_backprop, a dask array.
        bias: [out_channels], NumPy or dask, or None.
        call: the whole call, with stand-ins in the place of arrays; they have shape and dtype alone.
        algorithm: the algorithm that the layer is named after.
    """

    job: Job
    first: da.Array
    second: Any
    bias: Any
    call: Call
    algorithm: str

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the result."""
        return self.call.first.dtype

    @property
    def result_shape(self) -> Shape:
        """The shape of the result."""
        return tuple(self.call.result_shape)

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

    def build(self) -> da.Array:
        """Return the result as a dask array; nothing is computed."""
        job, names = self.job, (self.job.op.name, self.algorithm)
        arrays = self.first.name, _token(self.second), _token(self.bias)
        settings = (
            job.geometry,
            job.layout,
            getattr(job.backend, "__name__", job.backend),
            job.algorithm,
            job.precision,
            self.result_shape,
        )
        name = f"{names[0]}-{names[1]}-{tokenize(*names, *arrays, *settings)}"
        with _no_collection():
            graph = _Graph(self, name)
            tasks = graph.gradient() if job.op.kind.sums_images else graph.chunked()
        used = [array for array in (self.first, self.second, self.bias) if isinstance(array, da.Array)]
        layers = HighLevelGraph.from_collections(name, tasks, dependencies=used)
        return da.Array(layers, name, self._result_chunks(), dtype=self.dtype)

    def _result_chunks(self) -> tuple[tuple[int, ...], ...]:
        if self.job.op.kind.sums_images:
            return tuple((size,) for size in self.result_shape)
        sizes = dict(zip(self.job.layout.replace("C", ""), self.axes, strict=True))
        return tuple(
            tuple(past - first for (first, past), _, _ in sizes[letter])
            if letter in sizes
            else (self.result_shape[axis],)
            for axis, letter in enumerate(self.job.layout)
        )


@contextmanager
def _no_collection() -> Iterator[None]:
    """Hold Python's search for garbage in cycles: among a million new tasks it takes most of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _token(array: Any) -> Any:
    return array.name if isinstance(array, da.Array) else array


class _Graph:
    """The tasks of one plan."""

    def __init__(self, plan: Plan, name: str) -> None:
        self.plan, self.name = plan, name
        self.tasks: dict[Any, Any] = {}
        self.job = self._shared("job", plan.job)
        self.source = _source_of(plan.first)
        self.read_name, self.cut_name = plan.first.name, f"cut-{name}"
        # chunk of the input -> (start, stop) of axes -> which piece
        self.cuts: dict[Any, dict[Any, int]] = {}

    def order(self, *at: Any) -> tuple[Any, ...]:
        """Return what there is one of for each axis, channels last, in the order of the caller's axes."""
        return at if self.plan.job.layout[-1] == "C" else channels_first(at)

    def _shared(self, name: str, value: Any) -> Any:
        """Return what stands for a value in the arguments of every task: the value is in the graph once."""
        if value is None:
            return None
        if isinstance(value, da.Array):
            return TaskRef((value.name, *(0 for _ in value.chunks)))
        key = f"{name}-{self.name}"
        self.tasks[key] = DataNode(key, value)
        return TaskRef(key)

    def chunked(self) -> dict[Any, Any]:
        """Return the tasks of a forward op or an input gradient: one of the result's chunks each."""
        filters, bias = self._shared("filters", self.plan.second), self._shared("bias", self.plan.bias)
        for at, part, grid, pieces in self._parts():
            key = (self.name, *self.order(*at, 0))
            self.tasks[key] = Task(key, compute_chunk, self.job, filters, bias, part, grid, *pieces)
        self._add_cuts()
        return self.tasks

    def gradient(self) -> dict[Any, Any]:
        """Return the tasks of a filter gradient: a partial one of each chunk, and a tree that adds them."""
        out_backprop = self.plan.second
        keys: list[Any] = []
        for at, part, grid, pieces in self._parts():
            key = (f"partial-{self.name}", *at)
            theirs = TaskRef((out_backprop.name, *self.order(*at, 0)))
            self.tasks[key] = Task(key, compute_partial, self.job, part, grid, theirs, *pieces)
            keys.append(key)
        self._add_cuts()
        level = 0
        while len(keys) > 1:
            groups = [keys[first : first + _FAN_IN] for first in range(0, len(keys), _FAN_IN)]
            keys = [(f"sum-{self.name}", level, number) for number in range(len(groups))]
            for key, group in zip(keys, groups, strict=True):
                self.tasks[key] = Task(key, add_all, *map(TaskRef, group))
            level += 1
        last = (self.name, *(0 for _ in self.plan.result_shape))
        self.tasks[last] = Task(last, rounded, TaskRef(keys[0]), self.plan.dtype, self.plan.result_shape)
        return self.tasks

    def _parts(self) -> Iterator[tuple[Shape, Part, Shape, list[Any]]]:
        """Yield place, part, grid and pieces of every chunk."""
        for numbered in product(*map(enumerate, self.plan.axes)):
            at, chunks = zip(*numbered, strict=True)
            part = part_of(chunks)
            if self.source is not None:
                yield at, part, (1,) * len(at), [self._read(*chunks)]
            else:
                found = list(product(*(chunk.pieces for chunk in chunks)))
                yield at, part, tuple(len(chunk.pieces) for chunk in chunks), self._pieces(found)

    def _read(self, *chunks: AxisChunk) -> Task:
        """Return the reading of a whole slab from the array-like that the input's chunks are parts of."""
        assert self.source is not None
        where = self.order(*(slice(*chunk.read) for chunk in chunks), _ALL)
        function, source, options = self.source
        return Task(None, function, source, where, **options)

    def _pieces(self, found: list[tuple[Piece, ...]]) -> list[Any]:
        """Return what stands for each piece of a slab: a chunk of the input, or a part that is cut of it.

        All pieces of one chunk are one task.
        """
        pieces: list[Any] = []
        for several in found:
            chunk = self.order(*(piece.chunk for piece in several), 0)
            ref: Any = TaskRef((self.read_name, *chunk))
            where = self.order(*(piece.cut for piece in several), _ALL)
            if where == (_ALL,) * len(where):
                pieces.append(ref)
            elif len(found) > _MOST_PIECES:
                pieces.append(Task(None, cut, ref, where))
            else:
                of_chunk = self.cuts.setdefault(chunk, {})
                number = of_chunk.setdefault(tuple((part.start, part.stop) for part in where), len(of_chunk))
                pieces.append(Task(None, getitem, TaskRef((self.cut_name, *chunk)), number))
        return pieces

    def _add_cuts(self) -> None:
        """Add the tasks that cut the input's chunks."""
        for chunk, places in self.cuts.items():
            key = (self.cut_name, *chunk)
            where = tuple(tuple(slice(*part) for part in place) for place in places)
            self.tasks[key] = Task(key, cut_all, TaskRef((self.read_name, *chunk)), where)


_ALL = slice(None)


def _source_of(array: da.Array) -> tuple[Any, Any, dict[str, Any]] | None:
    """Return how slabs are read from what a dask array was made of by from_array or from_zarr, or None.

    Each chunk then reads its slab by itself, so that no chunk of the input waits in memory for the neighbours
    that need its edges.

    Returns:
        dask's function that reads, the array-like or what stands for it in the graph, and the function's
        options.
    """
    layer = array.dask.layers.get(array.name)
    if not isinstance(layer, Blockwise) or layer.task.func not in (getter, getter_nofancy, getter_inline):
        return None
    if [type(dep) for dep in layer.io_deps.values()] != [ArraySliceDep]:
        return None
    (source, index), _ = layer.indices
    return None if index is not None else (layer.task.func, source, dict(layer.task.kwargs))
