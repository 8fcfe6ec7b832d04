"""The GPU's algorithms: what each can do, which one is chosen, and the launches that it consists of.

The algorithms form a ladder from simple to fast; each of them is a rung. This module takes plain integers
and returns a `Schedule`; `job`, `gemm`, `im2col` and `winograd` lay out the launches. The arithmetic is in
the .cu files, each of which begins with a drawing. A choice depends on shapes, dtype and the card's
generation, never on its speed, so that the same call gives the same bits with the same library versions. The
sizes of tiles and splits were derived on paper; Winograd's blocks were measured on an H100. The tiles that
wgmma_gemm chooses were within a sixth of the fastest of five on an H200.

A *tap* is one position of the filter. The input gradient sorts the input's cells into *phases*: cells whose
indices have the same remainder by the stride, and which are therefore read through the same taps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial

from ...core.dtypes import FLOATS
from ...core.geometry import ConvGeometry
from ...core.kinds import FORWARD, INPUT_GRADIENT, Kind
from ...support.errors import ArgumentError, brief
from .. import ONCE, Algorithm, winograd_needs
from ..planes import depthwise_needs
from .gemm import implicit_gemm, pipelined_gemm, pipelined_needs, registers, tensor_gemm, tiled
from .im2col import im2col, is_one_product
from .job import Job, depthwise, direct
from .launches import Schedule
from .wgmma import wgmma_gemm, wgmma_needs
from .winograd import winograd, winograd2_pays

_HALVES = ("float16", "bfloat16")
_SHARED = 1024  # input channels of a 1x1: so long a sum is shared by blocks, which suits few places better
_NEWEST = 90  # a compute capability, times ten, that has everything the ladder uses


# what pipelined_gemm needs and a geometry lacks: 16 bytes are 8 halves or 4 floats
_halves_need = partial(pipelined_needs, 8)
_floats_need = partial(pipelined_needs, 4)


_FILLED = "once for each multiply-add of the tiles, which zeros fill up"
_OF_HALVES = "once for each 4096 multiply-adds of the tiles, which zeros fill up"
_OF_TF32 = "once for each 2048 multiply-adds of the tiles, which zeros fill up"


@dataclass(frozen=True, slots=True)
class Rung(Algorithm):
    """An algorithm of the ladder.

    Attributes:
        build: a function that adds its steps to a job.
        arch: the least compute capability, times ten, of a card that has what it needs.
        newest: the greatest one.
        needs: what that is, in words.
    """

    build: Callable[[Job], None] = field(kw_only=True)
    arch: int = 0
    newest: int = 1000
    needs: str = ""


ALGORITHMS = (
    Rung(
        "direct",
        "the definition, one thread per cell of the result",
        why="the other algorithms take no integers",
        times=ONCE,
        build=direct,
    ),
    Rung(
        "tiled",
        "tiles of 16 x 16 in shared memory: each number loaded serves 16 threads",
        kinds=(FORWARD,),
        dtypes=FLOATS,
        times=_FILLED,
        build=tiled,
    ),
    Rung(
        "registers",
        "4 x 4 cells a thread: each number read from shared memory serves 4 sums",
        kinds=(FORWARD,),
        dtypes=FLOATS,
        times=_FILLED,
        build=registers,
    ),
    Rung(
        "im2col",
        "patches as a matrix, one block at a time, and one large product by cuBLAS",
        dtypes=FLOATS,
        why="1x1 at stride 1 is one product of the arrays as they are, without patches",
        build=im2col,
    ),
    Rung(
        "implicit_gemm",
        "larger tiles, double-buffered: the next chunk is loaded while one is multiplied",
        dtypes=FLOATS,
        why="the general default",
        times=_FILLED,
        usual=True,
        build=implicit_gemm,
    ),
    Rung(
        "tensor_gemm",
        "the same tiles on tensor cores: half types, sums in float32",
        dtypes=_HALVES,
        precision="default",
        error="tensor",
        why="tensor cores take half types and sum in float32",
        times=_OF_HALVES,
        build=tensor_gemm,
        arch=70,
        needs="tensor cores",
    ),
    Rung(
        "tensor_gemm_tf32",
        "float32 on tensor cores, factors rounded to 11 bits: only on request",
        dtypes=("float32",),
        precision="tf32",
        error="tf32",
        why="TF32 was requested",
        times=_OF_TF32,
        build=tensor_gemm,
        arch=80,
        needs="TF32",
    ),
    Rung(
        "pipelined_gemm",
        "asynchronous copies of 16 bytes, three chunks ahead; tensor cores, for half types",
        dtypes=_HALVES,
        precision="default",
        error="tensor",
        refuses=_halves_need,
        why="tensor cores take half types, and channels come in multiples of 8",
        times=_OF_HALVES,
        build=pipelined_gemm,
        arch=80,
        needs="asynchronous copies",
    ),
    Rung(
        "pipelined_gemm_tf32",
        "the same for float32, factors rounded to 11 bits: only on request",
        dtypes=("float32",),
        precision="tf32",
        error="tf32",
        refuses=_floats_need,
        why="TF32 was requested, and channels come in multiples of 4",
        times=_OF_TF32,
        build=partial(pipelined_gemm, defines=("TF32",)),
        arch=80,
        needs="asynchronous copies",
    ),
    Rung(
        "pipelined_gemm_float32",
        "the same copies for float32, and ordinary multiply-adds",
        dtypes=("float32",),
        refuses=_floats_need,
        why="channels come in multiples of 4",
        times=_FILLED,
        build=pipelined_gemm,
        arch=80,
        needs="asynchronous copies",
    ),
    Rung(
        "wgmma_gemm",
        "copies by the card's copy engine, products of four warps at once: half types on Hopper cards",
        dtypes=_HALVES,
        precision="default",
        error="tensor",
        refuses=partial(wgmma_needs, 8),
        ranks=(2,),
        why="a Hopper card has wgmma and a copy engine, which takes channels in multiples of 8",
        times=_OF_HALVES,
        build=wgmma_gemm,
        arch=90,
        newest=90,
        needs="wgmma",
    ),
    Rung(
        "wgmma_gemm_tf32",
        "the same for float32, factors rounded to 11 bits: only on request",
        kinds=(FORWARD, INPUT_GRADIENT),
        dtypes=("float32",),
        precision="tf32",
        error="tf32",
        refuses=partial(wgmma_needs, 4),
        ranks=(2,),
        why="TF32 was requested, and a Hopper card's copy engine takes channels in multiples of 4",
        times=_OF_TF32,
        build=wgmma_gemm,
        arch=90,
        newest=90,
        needs="wgmma",
    ),
    Rung(
        "winograd2",
        "F(2x2, 3x3): 16 multiplications instead of 36, and more additions",
        dtypes=FLOATS,
        precision="default",
        error="winograd2",
        refuses=winograd_needs,
        ranks=(2,),
        why="3x3 at stride 1 with enough channels to pay for its transforms",
        build=partial(winograd, tile=2),
    ),
    Rung(
        "winograd4",
        "F(4x4, 3x3): 36 multiplications instead of 144, and a larger error",
        kinds=(FORWARD, INPUT_GRADIENT),
        dtypes=FLOATS,
        precision="fast",
        error="winograd4",
        refuses=winograd_needs,
        ranks=(2,),
        why="3x3 at stride 1, and precision='fast' allows the larger tile",
        build=partial(winograd, tile=4),
    ),
    Rung(
        "depthwise",
        "a strip of outputs per thread, each weight and input read once: groups = in_channels only",
        dtypes=FLOATS,
        refuses=depthwise_needs,
        why="every channel is a group of its own",
        times=ONCE,
        build=depthwise,
    ),
)
_NAMED = {rung.name: rung for rung in ALGORITHMS}


def lacks(algorithm: str, dtype: str, arch: int) -> str:
    """Return what a card lacks for an algorithm, or "".

    Args:
        algorithm: the algorithm's name.
        dtype: the dtype's name.
        arch: the card's compute capability, times ten.

    Returns:
        The reason in words.

    >>> lacks("tensor_gemm", "bfloat16", 75)
    'a GPU of compute capability 8.0 or higher for bfloat16; this one has 7.5'
    """
    needed, what = _NAMED[algorithm].arch, _NAMED[algorithm].needs
    if dtype == "bfloat16" and 0 < needed < 80:  # the first tensor cores lack it
        needed, what = 80, dtype
    newest = _NAMED[algorithm].newest
    if needed <= arch <= newest:
        return ""
    more = " or higher" if newest > needed else ""
    return (
        f"a GPU of compute capability {needed // 10}.{needed % 10}{more} for {what}; "
        f"this one has {arch // 10}.{arch % 10}"
    )


def choose(
    kind: Kind, g: ConvGeometry, dtype: str, precision: str | None, arch: int = _NEWEST
) -> tuple[str, str]:
    """Return the algorithm that fits a call best, and why.

    Args:
        kind: the kind of call.
        g: its geometry.
        dtype: the dtype's name.
        precision: None, "strict", "fast" or "tf32".
        arch: the card's compute capability, times ten.

    Returns:
        The algorithm's name, and the reason in words.

    >>> from teachconv.core.geometry import conv2d_geometry
    >>> choose(FORWARD, conv2d_geometry((1, 56, 56, 64), (3, 3, 64, 64)), "float32", None)
    ('winograd2', '3x3 at stride 1 with enough channels to pay for its transforms')
    """
    fitting = {
        rung.name: (rung.name, rung.why)
        for rung in ALGORITHMS
        if rung.fits(kind, dtype, g) and not lacks(rung.name, dtype, arch)
    }
    if dtype not in FLOATS:
        return fitting["direct"]  # mark: choice of direct
    if "depthwise" in fitting and g.in_channels > 1:
        return fitting["depthwise"]  # mark: choice of depthwise
    width = (g.in_channels if kind.scatters else g.out_channels) // g.groups
    if g.groups > 1 and width < 8:
        # mark: choice of direct
        return "direct", f"groups of {width} channels would leave tiles nearly empty"
    if precision == "tf32":
        if "wgmma_gemm_tf32" in fitting:
            return fitting["wgmma_gemm_tf32"]  # mark: choice of wgmma_gemm_tf32
        if "pipelined_gemm_tf32" in fitting:
            return fitting["pipelined_gemm_tf32"]  # mark: choice of pipelined_gemm_tf32
        if "tensor_gemm_tf32" in fitting:
            return fitting["tensor_gemm_tf32"]  # mark: choice of tensor_gemm_tf32
    if precision != "strict":
        if "wgmma_gemm" in fitting:
            return fitting["wgmma_gemm"]  # mark: choice of wgmma_gemm
        if "pipelined_gemm" in fitting:
            return fitting["pipelined_gemm"]  # mark: choice of pipelined_gemm
        if "tensor_gemm" in fitting:
            return fitting["tensor_gemm"]  # mark: choice of tensor_gemm
        # no card has run its filter gradient yet: only on request
        is_deep = not kind.sums_images and min(g.in_channels, g.out_channels) >= 32
        if "winograd2" in fitting and is_deep:
            if precision == "fast" and "winograd4" in fitting:
                return fitting["winograd4"]  # mark: choice of winograd4
            if winograd2_pays(g) or "pipelined_gemm_float32" not in fitting:
                return fitting["winograd2"]  # mark: choice of winograd2
    if kind.gathers and dtype not in _HALVES and g.in_channels < _SHARED and is_one_product(g):
        return fitting["im2col"]  # mark: choice of im2col
    if "pipelined_gemm_float32" in fitting:
        return fitting["pipelined_gemm_float32"]  # mark: choice of pipelined_gemm_float32
    return fitting["implicit_gemm"]  # mark: choice of implicit_gemm


@lru_cache(maxsize=1024)
def schedule(
    kind: Kind,
    geometry: ConvGeometry,
    dtype: str,
    algorithm: str | None,
    precision: str | None,
    bias: bool,
    relu: bool,
    arch: int = _NEWEST,
) -> Schedule:
    """Return the launches of one call.

    Args:
        kind: the kind of call.
        geometry: its geometry.
        dtype: the dtype's name.
        algorithm: the requested algorithm, or None to choose one.
        precision: None, "strict", "fast" or "tf32".
        bias: whether there is a bias.
        relu: whether the activation is relu.
        arch: the card's compute capability, times ten.

    Returns:
        A `Schedule`.

    Raises:
        ArgumentError: if a size is too large for the kernels' 32-bit counters, or the card lacks what the
            requested algorithm needs.
    """
    _check_sizes(geometry)
    if algorithm and (reason := lacks(algorithm, dtype, arch)):
        raise ArgumentError(f"algorithm {brief(algorithm)} needs {reason}: use algorithm='implicit_gemm'")
    chosen, why = (algorithm, "requested") if algorithm else choose(kind, geometry, dtype, precision, arch)
    job = Job(kind, geometry, dtype, "bias" if bias else None, int(relu), arch)
    _NAMED[chosen].build(job)
    return job.finish(chosen, why)


def _check_sizes(g: ConvGeometry) -> None:
    """Raise if a size is too large for the kernels' 32-bit counters."""
    for name, axis in (("rows", g.rows), ("cols", g.cols)):
        reach = max(axis.in_size, axis.full_size) + abs(axis.pad_before) + axis.effective_filter
        if reach >= 1 << 30:
            raise ArgumentError(
                f"backend 'cupy' counts {name} in 32 bits: size, padding and filter together must stay "
                f"below 2**30; got {reach}"
            )
    if max(g.batch, g.in_channels, g.out_channels) >= 1 << 30:
        raise ArgumentError(
            f"backend 'cupy' counts images and channels in 32 bits: each must stay below 2**30; got batch "
            f"{g.batch}, in_channels {g.in_channels}, out_channels {g.out_channels}"
        )
