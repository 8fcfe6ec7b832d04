"""The steps of wgmma_gemm, and the tensor maps by which a card's copy engine finds its operands."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from functools import lru_cache
from math import prod

import numpy as np

from ...core.geometry import Conv2DGeometry
from ...core.kinds import Kind
from ...core.law import AxisGeometry
from .gemm import pipelined_needs
from .job import ENOUGH_BLOCKS, SPLIT_BYTES, Job
from .launches import TENSOR_MAP, TensorMap

_LINE = 128  # bytes of a line in shared memory: the depth of a chunk
_PROCESSORS = ENOUGH_BLOCKS // 2  # multiprocessors of a large card


@dataclass(frozen=True, slots=True)
class Tile:
    """How the result is cut.

    Attributes:
        rows: rows of a tile.
        cols: columns of a tile.
        stages: chunks that shared memory holds.
        blocks: blocks that share a multiprocessor.
    """

    rows: int
    cols: int
    stages: int
    blocks: int


TILES = (
    Tile(128, 64, 3, 3),
    Tile(128, 128, 3, 2),
    Tile(128, 256, 4, 1),
    Tile(256, 64, 5, 1),
    Tile(256, 128, 4, 1),
)


@dataclass(frozen=True, slots=True)
class _Walk:
    """How the places of a product lie along one axis of the first operand.

    Attributes:
        size: the size of the operand.
        places: the number of places.
        step: the distance of places.
        first: where the first tap of place 0 is.
    """

    size: int
    places: int
    step: int
    first: int

    @property
    def last(self) -> int:
        """Where the first tap of the last place is, from the end of the operand."""
        return self.first + (self.places - 1) * self.step - (self.size - 1)


def _walk(kind: Kind, axis: AxisGeometry) -> _Walk:
    """Return the walk along an axis; that of an input gradient at stride 1 begins with the last tap."""
    if kind.scatters:
        return _Walk(axis.out_size, axis.in_size, 1, axis.pad_before - axis.effective_filter + 1)
    return _Walk(axis.in_size, axis.out_size, axis.stride, -axis.pad_before)


def wgmma_needs(vector: int, kind: Kind, geometry: Conv2DGeometry) -> str:
    """Return what wgmma_gemm needs and a geometry lacks, or "": ``vector`` is the numbers in 16 bytes.

    The limits are those of the copy engine (cuTensorMapEncodeIm2col in NVIDIA's driver API).
    """
    axes = geometry.rows, geometry.cols
    strides, reach = geometry.strides, max(axis.effective_filter - 1 for axis in axes)
    if kind.scatters and max(strides) > 1:
        return f"strides of 1 for an input gradient; got {strides}"
    if max(strides) > 8:
        return f"strides of at most 8, as the copy engine does; got {strides}"
    if reach > 255:
        return f"taps at most 255 apart, as the copy engine does; got {reach}"
    walks = [_walk(kind, axis) for axis in axes]
    ends = [end for walk in walks for end in (walk.first, walk.last)]
    if min(ends) < -128 or max(ends) > 127:
        return f"a first tap that stays within -128 and 127 of the image's edges; got {ends}"
    if (places := geometry.batch * prod(walk.places for walk in walks)) >= 1 << 31:
        return f"fewer than 2**31 places; got {places}"
    return pipelined_needs(vector, kind, geometry)


def wgmma_gemm(job: Job, tile: Tile | None = None, splits: int = 0) -> None:
    """Add the steps of wgmma_gemm.

    Args:
        job: the job.
        tile: the tile, or None to choose one of `TILES`.
        splits: how many blocks share the depth of a tile, at most; 0 to choose.
    """
    kind, g, itemsize = job.kind, job.g, 4 if job.dtype == "float32" else 2
    numbers = _LINE // itemsize  # of a line
    taps = prod(g.filters_shape[:2])
    cols, rows = _walk(kind, g.cols), _walk(kind, g.rows)
    places = g.batch * rows.places * cols.places
    depth, width = (job.out_depth, job.in_depth) if kind.scatters else (job.in_depth, job.out_depth)
    # the columns' factor is [taps, lines, groups, inner]; its lines run along the depth if `along` is set
    along, second, lines, inner = kind.scatters, "second", job.in_depth, job.out_depth
    if kind.sums_images:
        size = _Size(-(-depth // 64) * 64 * taps, width, g.groups, -(-places // numbers), itemsize)
        lines, taps = places, 1
    else:
        size = _Size(places, width, g.groups, taps * -(-depth // numbers), itemsize)
        if kind.gathers and itemsize == 4:
            along, second, lines, inner = True, _arrange(job, taps), job.out_depth, job.in_depth
    tile, splits = _fastest(size, (tile,) if tile else TILES, splits, SPLIT_BYTES // (4 * job.cells))
    first_map = TensorMap(
        "first",
        job.dtype,
        (depth * g.groups, cols.size, rows.size, g.batch),
        (numbers, numbers if kind.sums_images else tile.rows),
        (cols.step, rows.step),
        (cols.first, rows.first),
        (cols.last, rows.last),
    )
    box = (numbers, 1, tile.cols if along else numbers, 1)
    second_map = TensorMap(second, job.dtype, (inner, g.groups, lines, taps), box)
    macros = (f"TILE_ROWS={tile.rows}", f"TILE_COLS={tile.cols}", f"STAGES={tile.stages}")
    kernel = job.kernel("wgmma_gemm.cu", "wgmma_gemm", *macros, f"BLOCKS={tile.blocks}")
    partial = job.partial(splits) if splits > 1 else None
    arguments = *job.call, splits, partial, "result", first_map, second_map
    # lines begin at a multiple of 1024 bytes
    shared = tile.stages * (tile.rows + tile.cols) * _LINE + 1024
    job.launch_blocks(kernel, size.tiles(tile) * splits, *arguments, shared=shared)
    if splits > 1:
        job.add_splits(splits)


def _arrange(job: Job, taps: int) -> str:
    """Add the launch that transposes the filter, and return the buffer's name; a plan keeps it."""
    arranged = job.buffer("arranged", job.depth * job.g.out_channels)
    blocks = taps * -(-job.in_depth // 32) * -(-job.g.out_channels // 32)
    kernel = job.kernel("wgmma_gemm.cu", "arrange_filter", kind=False)
    job.launch_blocks(kernel, blocks, job.problem, "second", arranged)
    job.kept, job.preparing = (arranged,), len(job.steps)
    return arranged


@dataclass(frozen=True, slots=True)
class _Size:
    """The size of a product: the rows and columns of a group, the groups, the chunks of the depth."""

    rows: int
    cols: int
    groups: int
    chunks: int
    itemsize: int

    def tiles(self, tile: Tile) -> int:
        """Return the number of tiles."""
        return -(-self.rows // tile.rows) * -(-self.cols // tile.cols) * self.groups

    def cycles(self, tile: Tile, splits: int) -> float:
        """Estimate how long the product takes on a large card; the constants are those of an H100, on paper.

        A multiprocessor multiplies rows x cols of a chunk in 1/32 cycle each, and gets about 40 bytes a cycle
        from the second-level cache. A tile's first chunk takes about 1500 cycles to arrive, and its result
        leaves with 16 bytes a cycle; other blocks of the multiprocessor work meanwhile. Partial sums are
        written and read, and take a launch of their own.
        """
        turn = max(tile.rows * tile.cols / 32, (tile.rows + tile.cols) * _LINE / 40)
        rounds = -(-self.tiles(tile) * splits // _PROCESSORS)
        ends = 1500 + tile.rows * tile.cols * self.itemsize / 16
        cycles = rounds * (-(-self.chunks // splits) * turn + ends / min(tile.blocks, rounds))
        if splits == 1:
            return cycles
        return cycles + 6000 + splits * self.rows * self.cols * self.groups * 8 / (32 * _PROCESSORS)


def _fastest(size: _Size, tiles: tuple[Tile, ...], splits: int, most: int) -> tuple[Tile, int]:
    """Return the tile and the splits, ``most`` of which have memory, that take least by the estimate."""
    choices = []
    for tile in tiles:
        useful = min(size.chunks, most, 4 * _PROCESSORS // size.tiles(tile))
        for wanted in [splits] if splits else range(1, max(1, useful) + 1):
            each = -(-size.chunks // min(wanted, size.chunks))
            choices.append((tile, -(-size.chunks // each)))  # each split has a chunk
    return min(choices, key=lambda choice: size.cycles(*choice))


_TYPES = {"float16": 6, "bfloat16": 9, "float32": 11}  # CU_TENSOR_MAP_DATA_TYPE_...; 11 rounds floats to TF32


@lru_cache(maxsize=1024)
def encode(tensor: TensorMap, address: int) -> np.ndarray:
    """Return a tensor map as the copy engine takes it, made by the driver (CUDA 12 or later).

    Args:
        tensor: what it describes.
        address: where the array is on the device.

    Returns:
        128 bytes, as an array with one element.

    Raises:
        RuntimeError: if the driver refuses it.
    """
    driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    memory = np.zeros(128 + 64, np.uint8)
    begin = -memory.ctypes.data % 64  # where the driver wants it
    rank = len(tensor.sizes)

    def array(
        kind: type[ctypes._SimpleCData[int]], values: tuple[int, ...]
    ) -> ctypes.Array[ctypes._SimpleCData[int]]:
        return (kind * len(values))(*values)

    u32, u64 = ctypes.c_uint32, ctypes.c_uint64
    arguments = (
        ctypes.c_void_p(memory.ctypes.data + begin),
        u32(_TYPES[tensor.dtype]),
        u32(rank),
        ctypes.c_void_p(address),
        array(u64, tensor.sizes),
        array(u64, tensor.strides),
    )
    # not interleaved; SWIZZLE_128B; L2_PROMOTION_256B; zeros outside
    last = u32(0), u32(3), u32(3), u32(0)
    if tensor.steps:
        corners = array(ctypes.c_int, tensor.lower), array(ctypes.c_int, tensor.upper)
        steps = array(u32, (1, *tensor.steps, 1))
        status = driver.cuTensorMapEncodeIm2col(*arguments, *corners, *map(u32, tensor.box), steps, *last)
    else:
        status = driver.cuTensorMapEncodeTiled(
            *arguments, array(u32, tensor.box), array(u32, (1,) * rank), *last
        )
    if status:
        raise RuntimeError(f"the driver made no tensor map of {tensor}: CUDA error {status}")
    return memory[begin : begin + 128].view(TENSOR_MAP).reshape(())
