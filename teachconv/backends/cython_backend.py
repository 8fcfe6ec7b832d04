"""The compiled backend: checks, allocates, chooses the algorithm; `_kernels.pyx` loops.

A ladder to climb. ``direct`` is the definition as typed loops; ``im2col`` makes one large matrix
product of it and hands that to BLAS. Results do not depend on the number of threads, bit for bit, nor
do the forward op and the input gradient depend on the batch size.
"""

from __future__ import annotations

import threading
from functools import lru_cache
from importlib.util import find_spec
from math import prod
from typing import Any

import numpy as np

from .. import record, settings
from ..arguments import FLOATS, check_memory
from ..geometry import Conv2DGeometry
from . import Algorithm, finish, to_accumulator

try:
    from .. import _kernels  # type: ignore[attr-defined]
except ImportError as error:  # no compiler at install time: the other backends still work
    _kernels, _import_error = None, error

ALGORITHMS = (
    Algorithm("direct", "the definition as typed loops: no Python between two multiplications"),
    Algorithm(
        "im2col",
        "patches of a few output rows as a matrix, times the filter: BLAS blocks for the caches",
        dtypes=FLOATS,
    ),
)

_MACS_FOR_THREADS = 1_000_000
_BLOCK_BYTES = 8 << 20  # below about 8 MB OpenBLAS spends its time on repacking the filter


def unavailable() -> str:
    """Return why the compiled module is missing, or ""."""
    if _kernels is not None:
        return ""
    if find_spec("teachconv._kernels") is not None:
        return f"teachconv._kernels cannot be loaded: {_import_error}"
    return "teachconv._kernels is not compiled: install a C compiler, then install teachconv again"


def conv2d(
    x: np.ndarray,
    w: np.ndarray,
    geometry: Conv2DGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Gather."""
    return _run("conv2d", x, w, geometry, algorithm, bias, activation, out)


def conv2d_backprop_input(
    dy: np.ndarray,
    w: np.ndarray,
    geometry: Conv2DGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Scatter along the same taps."""
    return _run("conv2d_backprop_input", dy, w, geometry, algorithm, bias, activation, out)


def conv2d_backprop_filter(
    x: np.ndarray,
    dy: np.ndarray,
    geometry: Conv2DGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Sum over the same taps."""
    return _run("conv2d_backprop_filter", x, dy, geometry, algorithm, None, None, out)


def _run(
    kind: str,
    first: np.ndarray,
    second: np.ndarray,
    geometry: Conv2DGeometry,
    algorithm: str | None,
    bias: np.ndarray | None,
    activation: str | None,
    out: np.ndarray | None,
) -> np.ndarray:
    """Choose the algorithm, make the arrays contiguous, allocate the result, and call the kernel."""
    algorithm = _choose(kind, first, second, geometry, algorithm)
    with record.stage("arrange in memory") as stage:
        a = np.ascontiguousarray(to_accumulator(first))
        b = np.ascontiguousarray(to_accumulator(second))
        fits = out is not None and out.dtype == a.dtype and out.flags.carray
        sums = out if fits and out is not None else np.empty(_result_shape(kind, geometry), a.dtype)
        stage.arrays(first=a, second=b, result=sums)
    kernel = getattr(_kernels, f"{algorithm}_{kind}")
    # waking threads costs more than a small convolution
    threads = settings.get_num_threads() if geometry.macs > _MACS_FOR_THREADS else 1
    with record.stage(f"_kernels.{algorithm}_{kind}") as stage:
        if algorithm == "im2col":
            scratch, block_rows = _patches(kind, geometry, a.dtype, threads)
            stage.arrays(patches=scratch)
            stage.say("output rows a block: {}, threads: {}", block_rows, len(scratch))
            with _ONE_BLAS_THREAD:
                kernel(a, b, sums, _law(geometry), scratch, block_rows)
        else:
            stage.say("threads: {}", threads)
            kernel(a, b, sums, _law(geometry), threads)
    return finish(sums, first.dtype, bias, activation, out)


def _result_shape(kind: str, geometry: Conv2DGeometry) -> tuple[int, ...]:
    if kind == "conv2d":
        return geometry.output_shape
    return geometry.input_shape if kind == "conv2d_backprop_input" else geometry.filters_shape


@lru_cache(maxsize=1024)
def _law(geometry: Conv2DGeometry) -> dict[str, int]:
    """What the index law needs beyond the shapes of the arrays; the kernels' struct Law."""
    rows, cols = geometry.rows, geometry.cols
    return {
        "stride_rows": rows.stride,
        "stride_cols": cols.stride,
        "dilation_rows": rows.dilation,
        "dilation_cols": cols.dilation,
        "pad_top": rows.pad_before,
        "pad_left": cols.pad_before,
        "groups": geometry.groups,
    }


def _choose(
    kind: str, first: np.ndarray, second: np.ndarray, geometry: Conv2DGeometry, algorithm: str | None
) -> str:
    """Choose from the shape of one image and the dtype alone, so that bits depend on nothing else."""
    with record.stage("choose algorithm") as stage:
        depth, outs = geometry.filters_shape[2], geometry.out_channels // geometry.groups
        if algorithm:
            chosen, why = algorithm, "asked for"
        elif first.dtype.kind == "i":
            chosen, why = "direct", "BLAS has no integers"
        elif prod(geometry.filters_shape[:2]) * depth < 16 or outs < 4:
            chosen, why = "direct", "the matrices would be too thin for BLAS"
        else:
            chosen, why = "im2col", "one large matrix product"
        if chosen == "im2col":
            zeros_meet = second if kind != "conv2d_backprop_input" else first[:0]
            padded = geometry.rows.has_padding or geometry.cols.has_padding
            if padded and not np.isfinite(zeros_meet).all():
                chosen, why = "direct", "im2col gives way: its padding zeros would meet infinity or NaN"
        stage.know(algorithm=chosen)
        stage.say("{}: {}", chosen, why)
    return chosen


def _patches(
    kind: str, geometry: Conv2DGeometry, dtype: np.dtype[Any], threads: int
) -> tuple[np.ndarray, int]:
    """Allocate the patches of a block for each thread; return them and the block's output rows."""
    depth = prod(geometry.filters_shape[:3])
    row = geometry.cols.out_size * depth
    block_rows = min(geometry.rows.out_size, max(1, _BLOCK_BYTES // (row * dtype.itemsize)))
    jobs = geometry.batch
    if kind == "conv2d":
        jobs *= -(-geometry.rows.out_size // block_rows)
    elif kind == "conv2d_backprop_filter":
        jobs = geometry.groups
    shape = (min(threads, jobs), block_rows * row)
    check_memory(shape, dtype, "the patches of im2col")
    return np.empty(shape, dtype), block_rows


class _OneBlasThread:
    """Hold BLAS to one thread while a kernel runs: its threads inside ours only get in each other's way.

    Calls from several Python threads share one limit: the first sets it, the last takes it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limit = _blas_controller().limit(limits=1, user_api="blas")
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


@lru_cache(maxsize=1)
def _blas_controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # it looks through the loaded libraries once


_ONE_BLAS_THREAD = _OneBlasThread()
