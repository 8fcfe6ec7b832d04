"""The GPU's algorithms: what each can do, which one is chosen, and the launches that it consists of.

The algorithms form a ladder from simple to fast; each of them is a rung. This module takes plain integers
and returns a `Schedule`; `job`, `gemm`, `im2col` and `winograd` lay out the launches. The arithmetic is in
the .cu files, each of which begins with a drawing. A choice depends on shapes, dtype and the card's
generation, never on its speed, so that the same call gives the same bits with the same library versions. The
sizes of tiles, splits and scratch blocks were derived on paper and not tuned.

A *tap* is one position of the filter. The input gradient sorts the input's cells into *phases*: cells whose
indices have the same remainder by the stride, and which are therefore read through the same taps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from ...dtypes import FLOATS
from ...errors import ArgumentError, brief
from ...geometry import Conv2DGeometry
from ...kinds import FORWARD, INPUT_GRADIENT, Kind
from .. import Algorithm, winograd_needs
from .gemm import implicit_gemm, pipelined_gemm, pipelined_needs, registers, tensor_gemm, tiled
from .im2col import im2col
from .job import Job, depthwise, direct
from .launches import Schedule
from .winograd import winograd

__all__ = ["ALGORITHMS", "choose", "lacks", "schedule"]

_HALVES = ("float16", "bfloat16")
_NEWEST = 90  # a compute capability, times ten, that has everything the ladder uses


def _depthwise_needs(kind: Kind, geometry: Conv2DGeometry) -> str:
    """Return what depthwise needs and a geometry lacks, or ""."""
    if geometry.groups == geometry.in_channels:
        return ""
    return f"groups = in_channels; got {geometry.groups} groups of {geometry.in_channels} channels"


# what pipelined_gemm needs and a geometry lacks: 16 bytes are 8 halves or 4 floats
_halves_need = partial(pipelined_needs, 8)
_floats_need = partial(pipelined_needs, 4)


ALGORITHMS = (
    Algorithm("direct", "the definition, one thread per cell of the result"),
    Algorithm(
        "tiled",
        "tiles of 16 x 16 in shared memory: each number loaded serves 16 threads",
        kinds=(FORWARD,),
        dtypes=FLOATS,
    ),
    Algorithm(
        "registers",
        "4 x 4 cells a thread: each number read from shared memory serves 4 sums",
        kinds=(FORWARD,),
        dtypes=FLOATS,
    ),
    Algorithm(
        "im2col", "patches as a matrix, one block at a time, and one large product by cuBLAS", dtypes=FLOATS
    ),
    Algorithm(
        "implicit_gemm",
        "larger tiles, double-buffered: the next chunk is loaded while one is multiplied",
        dtypes=FLOATS,
    ),
    Algorithm(
        "tensor_gemm",
        "the same tiles on tensor cores: half types, sums in float32",
        dtypes=_HALVES,
        precision="default",
        error="tensor",
    ),
    Algorithm(
        "tensor_gemm_tf32",
        "float32 on tensor cores, factors rounded to 11 bits: only on request",
        dtypes=("float32",),
        precision="tf32",
        error="tf32",
    ),
    Algorithm(
        "pipelined_gemm",
        "asynchronous copies of 16 bytes, three chunks ahead; tensor cores, for half types",
        dtypes=_HALVES,
        precision="default",
        error="tensor",
        refuses=_halves_need,
    ),
    Algorithm(
        "pipelined_gemm_tf32",
        "the same for float32, factors rounded to 11 bits: only on request",
        dtypes=("float32",),
        precision="tf32",
        error="tf32",
        refuses=_floats_need,
    ),
    Algorithm(
        "pipelined_gemm_float32",
        "the same copies for float32, and ordinary multiply-adds",
        dtypes=("float32",),
        refuses=_floats_need,
    ),
    Algorithm(
        "winograd2",
        "F(2x2, 3x3): 16 multiplications instead of 36, and more additions",
        kinds=(FORWARD, INPUT_GRADIENT),
        dtypes=FLOATS,
        precision="default",
        error="winograd2",
        refuses=winograd_needs,
    ),
    Algorithm(
        "winograd4",
        "F(4x4, 3x3): 36 multiplications instead of 144, and a larger error",
        kinds=(FORWARD, INPUT_GRADIENT),
        dtypes=FLOATS,
        precision="fast",
        error="winograd4",
        refuses=winograd_needs,
    ),
    Algorithm(
        "depthwise",
        "a strip of outputs per thread, each weight read once: groups = in_channels only",
        dtypes=FLOATS,
        refuses=_depthwise_needs,
    ),
)


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
    needed, what = 0, algorithm
    if algorithm.startswith("pipelined_gemm"):
        needed, what = 80, "asynchronous copies"
    elif algorithm == "tensor_gemm_tf32":
        needed, what = 80, "TF32"
    elif algorithm == "tensor_gemm":
        needed, what = (80, "bfloat16") if dtype == "bfloat16" else (70, "tensor cores")
    if arch >= needed:
        return ""
    return (
        f"a GPU of compute capability {needed // 10}.{needed % 10} or higher for {what}; "
        f"this one has {arch // 10}.{arch % 10}"
    )


def choose(
    kind: Kind, g: Conv2DGeometry, dtype: str, precision: str | None, arch: int = _NEWEST
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

    >>> from teachconv.geometry import conv2d_geometry
    >>> choose(FORWARD, conv2d_geometry((1, 56, 56, 64), (3, 3, 64, 64)), "float32", None)
    ('winograd2', '3x3 at stride 1 with enough channels to pay for its transforms')
    """

    def has(algorithm: str) -> bool:
        return not lacks(algorithm, dtype, arch)

    if dtype not in FLOATS:
        return "direct", "the other algorithms take no integers"  # mark: choice of direct
    if not _depthwise_needs(kind, g) and g.in_channels > 1:
        return "depthwise", "every channel is a group of its own"  # mark: choice of depthwise
    width = (g.in_channels if kind.scatters else g.out_channels) // g.groups
    if g.groups > 1 and width < 8:
        # mark: choice of direct
        return "direct", f"groups of {width} channels would leave tiles nearly empty"
    if dtype == "float32" and precision == "tf32":
        if has("pipelined_gemm_tf32") and not _floats_need(kind, g):
            # mark: choice of pipelined_gemm_tf32
            return "pipelined_gemm_tf32", "TF32 was requested, and channels come in multiples of 4"
        if has("tensor_gemm_tf32"):
            return "tensor_gemm_tf32", "TF32 was requested"  # mark: choice of tensor_gemm_tf32
    if dtype in _HALVES and precision != "strict":
        if has("pipelined_gemm") and not _halves_need(kind, g):
            # mark: choice of pipelined_gemm
            return "pipelined_gemm", "tensor cores take half types, and channels come in multiples of 8"
        if has("tensor_gemm"):
            # mark: choice of tensor_gemm
            return "tensor_gemm", "tensor cores take half types and sum in float32"
    small = min(g.in_channels, g.out_channels)
    if precision != "strict" and not kind.sums_images and not winograd_needs(kind, g) and small >= 32:
        if precision == "fast":
            # mark: choice of winograd4
            return "winograd4", "3x3 at stride 1, and precision='fast' allows the larger tile"
        # mark: choice of winograd2
        return "winograd2", "3x3 at stride 1 with enough channels to pay for its transforms"
    if dtype == "float32" and has("pipelined_gemm_float32") and not _floats_need(kind, g):
        # mark: choice of pipelined_gemm_float32
        return "pipelined_gemm_float32", "channels come in multiples of 4"
    return "implicit_gemm", "the general default"  # mark: choice of implicit_gemm


_BUILDERS: dict[str, Callable[[Job], None]] = {
    "direct": direct,
    "tiled": tiled,
    "registers": registers,
    "im2col": im2col,
    "implicit_gemm": implicit_gemm,
    "tensor_gemm": tensor_gemm,
    "tensor_gemm_tf32": tensor_gemm,
    "pipelined_gemm": pipelined_gemm,
    "pipelined_gemm_tf32": lambda job: pipelined_gemm(job, "TF32"),
    "pipelined_gemm_float32": pipelined_gemm,
    "winograd2": lambda job: winograd(job, 2),
    "winograd4": lambda job: winograd(job, 4),
    "depthwise": depthwise,
}


@lru_cache(maxsize=1024)
def schedule(
    kind: Kind,
    geometry: Conv2DGeometry,
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
    job = Job(kind, geometry, dtype, "bias" if bias else None, int(relu))
    _BUILDERS[chosen](job)
    return job.finish(chosen, why)


def _check_sizes(g: Conv2DGeometry) -> None:
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
