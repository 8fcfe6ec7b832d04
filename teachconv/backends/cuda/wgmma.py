"""The steps of wgmma_gemm, and the tensor maps by which a card's copy engine finds its operands."""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from ...core.geometry import Conv2DGeometry
from ...core.kinds import Kind
from ...core.law import AxisGeometry
from .gemm import pipelined_needs
from .job import MULTIPROCESSORS, SPLIT_BYTES, Job
from .launches import TENSOR_MAP, TensorMap

_LINE = 128  # bytes of a line in shared memory: the depth of a chunk


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


def _walk(kind: Kind, axis: AxisGeometry) -> tuple[int, int, int, int, int]:
    """Return how the places of a product lie along an axis of the first operand.

    Args:
        kind: the kind of call; for an input gradient, at stride 1, the first tap is the last of the filter.
        axis: the axis.

    Returns:
        The operand's size, the number of places, their distance, where the first tap of the first place is,
        and where that of the last place is, from the operand's end.
    """
    size, places, step, first = axis.in_size, axis.out_size, axis.stride, -axis.pad_before
    if kind.scatters:
        size, places = places, size
        step, first = 1, axis.pad_before - axis.effective_filter + 1
    return size, places, step, first, first + (places - 1) * step - (size - 1)


def wgmma_needs(vector: int, kind: Kind, geometry: Conv2DGeometry) -> str:
    """Return what wgmma_gemm needs and a geometry lacks, or "": ``vector`` is the numbers in 16 bytes.

    The limits are those of the copy engine (cuTensorMapEncodeIm2col in NVIDIA's driver API).
    """
    axes, strides = (geometry.cols, geometry.rows), geometry.strides
    if kind.scatters and max(strides) > 1:
        return f"strides of 1 for an input gradient; got {strides}"
    if max(strides) > 8:
        return f"strides of at most 8, as the copy engine does; got {strides}"
    if (reach := max(axis.effective_filter for axis in axes) - 1) > 255:
        return f"taps at most 255 apart, as the copy engine does; got {reach}"
    _, places, _, lower, upper = zip(*(_walk(kind, axis) for axis in axes), strict=True)
    if min(*lower, *upper) < -128 or max(*lower, *upper) > 127:
        return f"a first tap between -128 and 127 from the image's edges; got {lower} and {upper}"
    if (count := geometry.batch * prod(places)) >= 1 << 31:
        return f"fewer than 2**31 places; got {count}"
    return pipelined_needs(vector, kind, geometry)


def wgmma_gemm(job: Job, tile: Tile | None = None, splits: int = 0) -> None:
    """Add the steps of wgmma_gemm.

    Args:
        job: the job.
        tile: the tile, or None to choose one of `TILES`.
        splits: how many blocks share the depth of a tile, at most; 0 to choose.
    """
    kind, g, numbers = job.kind, job.g, _LINE // job.itemsize  # of a line
    taps = prod(g.filters_shape[:2])
    # of columns and rows
    sizes, places, steps, lower, upper = zip(*(_walk(kind, axis) for axis in (g.cols, g.rows)), strict=True)
    depth, cols = (job.out_depth, job.in_depth) if kind.scatters else (job.in_depth, job.out_depth)
    rows = g.batch * prod(places)
    chunks = taps * -(-depth // numbers)
    # the second operand is [planes, lines, groups, inner]; its lines run along the depth if `along` is set
    second, planes, lines, inner, along = "second", taps, job.in_depth, job.out_depth, kind.scatters
    if kind.sums_images:
        planes, lines = 1, rows
        rows, chunks = taps * -(-depth // 64) * 64, -(-rows // numbers)
    elif kind.gathers and job.dtype == "float32":
        second, lines, inner, along = _arrange(job, taps), job.out_depth, job.in_depth, True
    tile, splits, count = _fastest(job, (tile,) if tile else TILES, splits, (rows, cols, chunks))
    brought = numbers, numbers if kind.sums_images else tile.rows
    first_map = TensorMap(
        "first", job.dtype, (depth * g.groups, *sizes, g.batch), brought, steps, lower, upper
    )
    box = numbers, 1, tile.cols if along else numbers, 1
    second_map = TensorMap(second, job.dtype, (inner, g.groups, lines, planes), box)
    macros = f"TILE_ROWS={tile.rows}", f"TILE_COLS={tile.cols}", f"STAGES={tile.stages}"
    kernel = job.kernel("wgmma_gemm.cu", "wgmma_gemm", *macros, f"BLOCKS={tile.blocks}")
    partial = job.partial(splits) if splits > 1 else None
    arguments = *job.call, splits, partial, "result", first_map, second_map
    # the stages begin at a multiple of 1024 bytes
    shared = tile.stages * (tile.rows + tile.cols) * _LINE + 1024
    job.launch_blocks(kernel, count * splits, *arguments, shared=shared)
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


def _fastest(
    job: Job, tiles: tuple[Tile, ...], splits: int, size: tuple[int, int, int]
) -> tuple[Tile, int, int]:
    """Return the tile and the splits that take least by the estimate, and the number of tiles.

    Args:
        job: the job.
        tiles: the tiles to choose from.
        splits: how many blocks share a depth, at most; 0 to choose.
        size: rows and columns of a group's product, and the chunks of its depth.
    """
    (rows, cols, chunks), choices = size, []
    for tile in tiles:
        count = -(-rows // tile.rows) * -(-cols // tile.cols) * job.g.groups
        most = min(chunks, SPLIT_BYTES // (4 * job.cells), 4 * MULTIPROCESSORS // count)
        for wanted in [splits] if splits else range(1, max(1, most) + 1):
            deep = -(-chunks // min(wanted, chunks))  # chunks of a block: every block has one
            choices.append((tile, -(-chunks // deep), count))
    return min(choices, key=lambda choice: _cycles(job, choice, chunks))


def _cycles(job: Job, choice: tuple[Tile, int, int], chunks: int) -> float:
    """Estimate how long a choice of tile, splits and number of tiles takes on a large card.

    The constants are those of an H100, on paper.

    A multiprocessor multiplies rows x cols of a chunk in 1/32 cycle each, and gets about 40 bytes a cycle
    from the second-level cache. A tile's first chunk takes about 1500 cycles to arrive, and its result leaves
    with 16 bytes a cycle; other blocks of the multiprocessor work meanwhile. Partial sums are written and
    read, and take a launch of their own.
    """
    tile, splits, count = choice
    chunk = max(tile.rows * tile.cols / 32, (tile.rows + tile.cols) * _LINE / 40)
    ends = 1500 + tile.rows * tile.cols * job.itemsize / 16
    rounds = -(-count * splits // MULTIPROCESSORS)
    cycles = rounds * (-(-chunks // splits) * chunk + ends / min(tile.blocks, rounds))
    return cycles if splits == 1 else cycles + 6000 + 8 * splits * job.cells / (32 * MULTIPROCESSORS)


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
    u32, u64, ones = ctypes.c_uint32, ctypes.c_uint64, (1,) * len(tensor.sizes)

    def array(kind: type[Any], values: tuple[int, ...]) -> Any:
        return (kind * len(values))(*values)

    arguments = [ctypes.c_void_p(memory.ctypes.data + begin), u32(_TYPES[tensor.dtype]), u32(len(ones))]
    arguments += [ctypes.c_void_p(address), array(u64, tensor.sizes), array(u64, tensor.strides)]
    # not interleaved; SWIZZLE_128B; L2_PROMOTION_256B; zeros outside
    last = u32(0), u32(3), u32(3), u32(0)
    if tensor.steps:
        corners = array(ctypes.c_int, tensor.lower), array(ctypes.c_int, tensor.upper)
        box, steps = map(u32, tensor.box), array(u32, (1, *tensor.steps, 1))
        status = driver.cuTensorMapEncodeIm2col(*arguments, *corners, *box, steps, *last)
    else:
        status = driver.cuTensorMapEncodeTiled(*arguments, array(u32, tensor.box), array(u32, ones), *last)
    if status:
        raise RuntimeError(f"the driver made no tensor map of {tensor}: CUDA error {status}")
    return memory[begin : begin + 128].view(TENSOR_MAP).reshape(())
