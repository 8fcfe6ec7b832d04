"""A convolution in chunks: which chunks the result has, which slab each reads, and the work of one chunk.

A chunk of the result is computed from its *slab*, the part of the input that its taps read; the arithmetic
is that of `slabs.slab`. What neighbouring slabs share is their *halo*. This module imports no dask:
`dask_graph` makes tasks of what is here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..core.arguments import Pair, Shape, channels_first
from ..core.calls import Call
from ..core.dtypes import accumulator, is_integer
from ..core.geometry import Conv2DGeometry
from ..core.kinds import Op, layout_of
from ..core.law import AxisGeometry
from ..core.slabs import axis_slab, slab
from ..running import dispatch, streaming
from ..support.errors import ArgumentError
from ..support.settings import on_threads

Part: TypeAlias = tuple[Any, ...]  # the number of images, and (first, past) on each axis


class AxisChunk(NamedTuple):
    """One chunk of the result on one axis.

    Attributes:
        part: (first, past) of its indices.
        read: (first, past) of the input indices that it reads.
        pieces: the number of each input chunk that it reads of, and (first, past) of the part; None for all.
    """

    part: Pair
    read: Pair
    pieces: tuple[tuple[int, Pair | None], ...]


def result_chunks(axis: AxisGeometry, role: str, chunks: Sequence[int]) -> tuple[int, ...]:
    """Return the chunks of the result on one axis, for those of the input.

    A border between two input chunks is one of the result too: divided by the stride where the result is
    smaller, multiplied by it where it is larger.

    Args:
        axis: the geometry of the axis.
        role: the role of the result, "output" or "input".
        chunks: the sizes of the input's chunks.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> rows = conv2d_geometry((1, 9, 9, 1), (3, 3, 1, 1), 2, "SAME").rows
    >>> result_chunks(rows, "output", (4, 4, 1)), result_chunks(rows, "input", (2, 2, 1))
    ((2, 2, 1), (4, 4, 1))
    """
    size, stride = axis.size_of(role), axis.stride
    borders = accumulate(chunks)
    scaled = [-(-border // stride) if role == "output" else border * stride for border in borders]
    inner = sorted({border for border in scaled if 0 < border < size})
    sizes = [past - first for first, past in zip([0, *inner], [*inner, size], strict=True)]
    # padding may make the last one large: no chunk is larger than the largest of the others
    most = max(sizes[:-1], default=max(scaled, default=0)) or size
    while sizes[-1] > max(1, most):
        sizes[-1:] = [most, sizes[-1] - most]
    return tuple(sizes)


def axis_chunks(
    parts: Sequence[int], chunks: Sequence[int], read_of: Callable[[Pair], Pair]
) -> list[AxisChunk]:
    """Return the chunks of one axis of the result, with the pieces of input chunks that each reads.

    Args:
        parts: the sizes of the result's chunks.
        chunks: the sizes of the input's chunks.
        read_of: a function from (first, past) of a part to (first, past) of what it reads.
    """
    starts, spans = [0, *accumulate(chunks)], pairwise([0, *accumulate(parts)])
    reads = ((part, read_of(part)) for part in spans)
    return [AxisChunk(part, read, tuple(_pieces(starts, *read))) for part, read in reads]


def _pieces(starts: Sequence[int], low: int, high: int) -> Iterator[tuple[int, Pair | None]]:
    """Yield the pieces of the chunks that begin at ``starts`` which make up low..high-1; one at least."""
    first = min(bisect_right(starts, low), len(starts) - 1) - 1
    for chunk in range(first, max(first + 1, bisect_left(starts, high))):
        start, past = starts[chunk], starts[chunk + 1]
        if past > start or high == low:
            part = max(low, start) - start, min(high, past) - start
            yield chunk, None if part == (0, past - start) else part


@dataclass(frozen=True, slots=True)
class SlabCells:
    """The cells of a slab and of the part that is computed from it, by their numbers in the whole arrays.

    Attributes:
        whole: the whole call.
        starts: of each role where the part begins, [image, row, column, channel].
    """

    whole: Call
    starts: Mapping[str, Shape]

    @property
    def has_gaps(self) -> bool:
        """Whether the caller's arrays lack some cells."""
        return self.whole.names is not None and self.whole.names.has_gaps

    def name(self, role: str, cell: Shape) -> Shape | None:
        """Return a cell of the part by its number in the whole array."""
        start = self.starts.get(role, (0,) * len(cell))
        return self.whole.name(role, tuple(index + first for index, first in zip(cell, start, strict=True)))

    def find(self, role: str, cell: Shape) -> Shape:
        """Return the cell of the part: the inverse of `name`."""
        whole = self.whole.find(role, cell)
        start = self.starts.get(role, (0,) * len(whole))
        return tuple(index - first for index, first in zip(whole, start, strict=True))

    def layout(self, role: str) -> str:
        """Return the letters of the caller's axes."""
        return self.whole.cells_of(role)[1]

    def shape(self, role: str) -> Shape:
        """Return the shape of the caller's array."""
        return self.whole.cells_of(role)[0]


# ---------------------------------------------------------------------------------------------
# The work of one chunk
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Job:
    """What all chunks of a call share; it is in the graph once.

    Attributes:
        op: the op.
        geometry: the whole convolution.
        layout: "NHWC" or "NCHW", or that of another rank: the order of the axes of images.
        backend: a backend's name, a module, or None for the default of the worker that runs a chunk.
        algorithm: the algorithm that was asked for, or None.
        precision: the precision that was asked for, or None.
    """

    op: Op
    geometry: Conv2DGeometry
    layout: str
    backend: Any = None
    algorithm: str | None = None
    precision: str | None = None

    @property
    def role(self) -> str:
        """The role of the array whose chunks are computed one by one."""
        kind = self.op.kind
        return "output" if kind.sums_images else kind.result

    def read_of(self, axis: AxisGeometry) -> Callable[[Pair], Pair]:
        """Return the function from a part of one axis of the result to what it reads."""
        return lambda part: axis_slab(axis, self.role, part)[1]

    def axes(self) -> Shape:
        """Return where images, rows and columns are among the axes of an image array; all but channels."""
        return tuple(place for place, letter in enumerate(self.layout) if letter != "C")

    def nhwc(self, array: np.ndarray) -> np.ndarray:
        """Return an array of images in NHWC order."""
        return array.transpose(*self.axes(), self.layout.index("C"))


def part_of(chunks: Sequence[AxisChunk]) -> Part:
    """Return the part of the result that one chunk on each axis stands for, that of the images first."""
    images, *others = (chunk.part for chunk in chunks)
    return images[1] - images[0], *others


def cut_all(chunk: np.ndarray, places: Sequence[Sequence[Pair | None]]) -> list[np.ndarray]:
    """Return pieces of a chunk as arrays of their own: a view would keep the whole chunk in memory.

    Args:
        chunk: the chunk.
        places: of each piece (first, past) on each axis; None for all.
    """
    return [chunk[tuple(slice(*(part or (None,))) for part in parts)].copy() for parts in places]


def joined(grid: Shape, *pieces: np.ndarray) -> np.ndarray:
    """Return the slab that pieces are parts of.

    Args:
        grid: how many pieces there are along each axis.
        *pieces: the pieces, in C order of the grid.

    >>> joined((2, 2), *np.arange(12).reshape(4, 1, 3)).tolist()
    [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    """
    lines: Sequence[np.ndarray] = pieces
    for axis, count in reversed(tuple(enumerate(grid))):  # the last varies fastest
        if count > 1:
            starts = range(0, len(lines), count)
            lines = [np.concatenate(lines[first : first + count], axis) for first in starts]
    return lines[0]


def call_of_part(job: Job, part: Part, read: np.ndarray, second: np.ndarray, bias: np.ndarray | None) -> Call:
    """Return the call that computes a part of the result.

    Args:
        job: what all chunks share.
        part: the number of images, and (first, past) on each axis.
        read: the slab, in the caller's layout.
        second: the filters, or for a filter gradient the chunk of out_backprop in the caller's layout.
        bias: [out_channels], or None.
    """
    geometry, _ = slab(job.geometry, job.role, part[0], part[1:])
    kind = job.op.kind
    if kind.sums_images:
        shape, layout, second = geometry.filters_shape, layout_of("filters", geometry.rank), job.nhwc(second)
    else:
        whole, layout = geometry.shape_of(kind.result), job.layout
        shape = whole if layout[-1] == "C" else channels_first(whole)
        second = second.reshape(geometry.filters_shape)
    first = job.nhwc(read)
    for role, array in ((kind.first, first), (kind.second, second)):
        want = geometry.shape_of(role)
        if array.shape != want or array.dtype != second.dtype:
            raise ArgumentError(
                f"the part of {job.op.words[role]} that a chunk reads must have shape {list(want)} and dtype "
                f"{second.dtype}, as its dask array says; got {list(array.shape)} and {array.dtype}"
            )
    return Call(job.op, first, second, geometry, shape, layout, bias)


def compute_chunk(
    job: Job, part: Part, read: np.ndarray, filters: np.ndarray, bias: np.ndarray | None
) -> np.ndarray:
    """Return one chunk of the result, in the caller's layout: the task of forward ops and input gradients."""
    with on_threads(1):  # the scheduler's own threads are busy with other chunks
        call = call_of_part(job, part, read, filters, bias)
        return dispatch.run(call, job.backend, algorithm_here(job, call), job.precision)


def algorithm_here(job: Job, call: Call) -> str | None:
    """Return the algorithm of chunks where they are computed: one of the backend that this worker has."""
    name, module = dispatch.find_backend(job.backend)
    steady = streaming.steady_algorithm(
        name,
        module,
        call.kind,
        call.second,
        call.geometry,
        job.algorithm,
        job.precision,
        padded=job.geometry.has_padding,
    )
    return steady or job.algorithm


def compute_partial(
    job: Job, part: Part, read: np.ndarray, out_backprop: np.ndarray, bias: None = None
) -> np.ndarray:
    """Return the part of a filter gradient that one chunk of out_backprop contributes, HWIO.

    It is in the type in which products are summed, so that only the last sum is rounded to a half type.
    """
    if not is_integer(read.dtype):
        wide = accumulator(read.dtype)
        read, out_backprop = read.astype(wide, copy=False), out_backprop.astype(wide, copy=False)
    with on_threads(1):
        call = call_of_part(job, part, read, out_backprop, bias)
        return dispatch.run_canonical(call, job.backend, job.algorithm, job.precision)


def add_all(partials: Sequence[np.ndarray]) -> np.ndarray:
    """Return the sum of partial results, from first to last."""
    with np.errstate(all="ignore"):  # overflow is IEEE arithmetic, and integers wrap around
        return reduce(np.add, partials)


def rounded(total: np.ndarray, dtype: np.dtype[Any], shape: Shape) -> np.ndarray:
    """Return a filter gradient in its own dtype and in the caller's shape."""
    with np.errstate(all="ignore"):
        return total.astype(dtype, copy=False).reshape(shape)
