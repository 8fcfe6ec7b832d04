"""The compiled backend: it checks, allocates and chooses the algorithm; `_kernels.pyx` loops.

The algorithms form a ladder. ``direct`` is the definition as typed loops; ``im2col`` turns it into one large
matrix product and calls BLAS; the others are in ``kernels/``. Results are the same bit for bit for
any number of threads; those of the forward op and the input gradient also for any batch size. Of a NaN only
the place is the same: its sign and payload depend on which operand an instruction takes them from.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..core.dtypes import FLOATS
from ..core.geometry import ConvGeometry
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ..support import record, settings
from ..support.errors import ArgumentError, check_word
from ..support.memory import check_memory
from . import ONCE, Algorithm, PackedFilters, finish, pieces_needs, to_accumulator, winograd_needs
from .blas import held
from .planes import ONE_ROW, depthwise_needs, with_planes


def _load() -> tuple[Any, Exception | None]:
    """Import the compiled module and choose the instruction set."""
    try:
        kernels = import_module("teachconv._kernels")
        wanted = os.environ.get("TEACHCONV_ISA", "best")
        check_word(wanted, "TEACHCONV_ISA", ("best", *kernels.ISA_NAMES))
        settings.instruction_set = kernels.set_isa(wanted)
        return kernels, None
    except (ImportError, ArgumentError) as error:  # no compiler at install time; the others still work
        return None, error


_kernels, _import_error = _load()


def _col2im_needs(kind: Kind, geometry: ConvGeometry) -> str:
    return "" if geometry.groups == 1 else f"one group; got {geometry.groups}"


ALGORITHMS = (
    Algorithm(
        "direct",
        "the definition as typed loops: no Python between two multiplications",
        independent_of_extent=True,
        why="no other algorithm has integers",
        times=ONCE,
    ),
    Algorithm(
        "im2col",
        "patches of a few output rows as a matrix, times the filter: BLAS blocks for the caches",
        kinds=(FORWARD, FILTER_GRADIENT),
        dtypes=FLOATS,
        gives_way_to="direct",
    ),
    Algorithm(
        "row_gemm",
        "no matrix is built: rows of the input are one already; sums stay in registers",
        kinds=(FORWARD,),
        dtypes=FLOATS,
        independent_of_extent=True,
        why="the general default",
        gives_way_to="direct",
        times="once for each vector of multiply-adds; padding beside an image is multiplied too",
        usual=True,
        path="padded_rows",
    ),
    Algorithm(
        "winograd",
        "F(2, r) for pieces of a filter: a 5x5 in 49 multiplications where there were 100",
        dtypes=FLOATS,
        precision="default",
        error="winograd",
        refuses=pieces_needs,
        why="a filter larger than its strides, with channels enough to pay for its transforms",
        gives_way_to="direct",
        times="once for each vector of the products of a tile",
    ),
    Algorithm(
        "winograd2",
        "F(2x2, 3x3): 16 multiplications where there were 36, for some additions",
        kinds=(FORWARD, INPUT_GRADIENT),
        dtypes=FLOATS,
        precision="default",
        error="winograd2",
        refuses=winograd_needs,
        ranks=(2, 3),
        why="3x3 at stride 1 with channels enough to pay for its transforms",
        gives_way_to="direct",
        times="once for each vector of 16 products for 2x2 outputs, which are 36 otherwise",
    ),
    Algorithm(
        "winograd4",
        "F(4, r) for pieces: a 3x3 in 36 multiplications where there were 144, and a larger error",
        dtypes=FLOATS,
        precision="fast",
        error="winograd4_balanced",
        refuses=pieces_needs,
        why="a filter larger than its strides, and precision='fast' allows the larger tile",
        gives_way_to="direct",
        times="once for each vector of the products of a tile",
    ),
    Algorithm(
        "col2im",
        "dy times the transposed filter, added back patch by patch: for few input channels",
        kinds=(INPUT_GRADIENT,),
        dtypes=FLOATS,
        refuses=_col2im_needs,
        why="few input channels would leave vectors half empty",
        gives_way_to="direct",
        times="once for each vector of dy times the filter's taps, which are then added to dx",
    ),
    Algorithm(
        "phases",
        "the scatter as stride x stride small gathers: every cell is written once",
        kinds=(INPUT_GRADIENT,),
        dtypes=FLOATS,
        independent_of_extent=True,
        why="the general default for scatters",
        gives_way_to="direct",
        times="once for each vector of multiply-adds; some zeros beyond an edge are multiplied too",
        usual=True,
        path="padded_rows",
    ),
    Algorithm(
        "pixel_gemm",
        "a tile of the filter gradient in registers while all pixels pass by",
        kinds=(FILTER_GRADIENT,),
        dtypes=FLOATS,
        why="the general default for filter gradients",
        times="once for each vector of multiply-adds; merged taps multiply padding too",
        usual=True,
        path="taps",
    ),
    Algorithm(
        "depthwise",
        "channels side by side in a vector, taps in registers: groups = in_channels only",
        dtypes=FLOATS,
        refuses=depthwise_needs,
        independent_of_extent=True,
        why="every channel is a group of its own",
        times="once for each vector of multiply-adds outside the padding, all these lines together",
    ),
)
_NAMED = {algorithm.name: algorithm for algorithm in ALGORITHMS}
# those of any number of axes; the others are of two: `with_planes`
_OF_ANY_RANK = ("row_gemm", "winograd", "winograd2", "winograd4", "phases", "pixel_gemm")
RANKS = (1, 2, 3)

_LINE = 64  # bytes of a cache line
_PAGE = 4096  # bytes; two addresses whose difference is a multiple of this compete, see _aligned
_APART = 448  # bytes from the input's place in a page to the result's, at most
_WORTH_ALIGNING = 256 << 10  # bytes of an array; below that it takes longer than it gains
# bytes of each thread: OpenBLAS maps 32 MB; without them it loops for ever, or ends the process
_BLAS_BYTES = 64 << 20
# The most multiply-adds of a thread in one call of a kernel: Python answers Ctrl-C in between
_LOOP_MACS = 128 << 20  # of the loops of direct
_RUNG_MACS = 4 << 30  # of a rung, which is cut by images
_BLOCK_BYTES = 8 << 20  # of im2col; below about 8 MB OpenBLAS spends its time on repacking the filter


def unavailable() -> str:
    """Return why the compiled module is missing, or ""."""
    if _kernels is not None:
        return ""
    if find_spec("teachconv._kernels") is not None:
        return f"teachconv._kernels cannot be loaded: {_import_error}"
    if sys.platform == "emscripten":
        return "Python in a browser has no compiled backend: use numpy, scipy or reference"
    return (
        "teachconv._kernels is not compiled: install a C compiler (gcc or clang; on Windows mingw-w64), "
        "then teachconv again"
    )


def left_out() -> bool:
    """Whether this package was installed from a wheel that has no compiled module on purpose."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        installed = distribution("teachconv")
        pure = "Root-Is-Purelib: true" in (installed.read_text("WHEEL") or "")
        # in a checkout the files lie elsewhere
        there = Path(str(installed.locate_file("teachconv/backends"))).resolve()
        return pure and there == Path(__file__).resolve().parent
    except (PackageNotFoundError, OSError):
        return False


def set_isa(name: str) -> str:
    """Use "baseline", "avx2", "avx512" or "best", if the processor has it, and return the one in use."""
    _choice_for.cache_clear()  # the algorithm depends on the width of a vector
    settings.instruction_set = str(_kernels.set_isa(name))
    return settings.instruction_set


def release_scratch() -> None:
    """Give the scratch memory that is kept for later calls back to the system; calls that run keep theirs."""
    if _kernels is not None:
        _kernels.keep_scratch(0)
        _kernels.keep_scratch(_kernels.KEPT_BYTES)


def conv2d(
    x: np.ndarray,
    w: np.ndarray | PackedFilters,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Gather."""
    return _run(FORWARD, x, w, geometry, algorithm, precision, bias, activation, out)


def conv2d_backprop_input(
    dy: np.ndarray,
    w: np.ndarray | PackedFilters,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: np.ndarray | None = None,
    activation: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Scatter along the same taps."""
    return _run(INPUT_GRADIENT, dy, w, geometry, algorithm, precision, bias, activation, out)


def conv2d_backprop_filter(
    x: np.ndarray,
    dy: np.ndarray,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Sum over the same taps."""
    return _run(FILTER_GRADIENT, x, dy, geometry, algorithm, precision, None, None, out)


def pack(
    w: np.ndarray,
    geometry: ConvGeometry,
    *,
    kind: Kind,
    algorithm: str | None,
    precision: str | None = None,
) -> PackedFilters:
    """Choose the algorithm once and pack the filter once, for many calls with the same filter."""
    isa = _kernels.isa_level()
    filters = np.ascontiguousarray(to_accumulator(w))
    choice = _choice_for(kind, geometry, w.dtype, algorithm, precision, planned=True)
    if choice.chosen in _LOOPS or choice.by_planes:
        return PackedFilters(filters, choice.chosen, None, isa)
    if choice.gives_way_to and not _kernels.all_finite(filters.reshape(-1)):
        return PackedFilters(filters, choice.gives_way_to, None, isa)
    size = _kernels.packed_numbers(choice.chosen, kind.scatters, choice.problem, filters.itemsize)
    numbers = None
    if size:
        check_memory((size,), filters.dtype, "the packed filter")
        numbers = _aligned((size,), filters)
        threads = choice.problem.threads(settings.get_num_threads())
        if _kernels.pack(choice.chosen, kind.scatters, choice.problem, filters.reshape(-1), numbers, threads):
            numbers = None  # out of the transform's range: each call deals with that itself
    return PackedFilters(filters, choice.chosen, numbers, isa)


def prepare_kernel(
    kind: Kind,
    geometry: ConvGeometry,
    dtype: np.dtype[Any],
    result_shape: tuple[int, ...],
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    packed: PackedFilters | None = None,
    bias: np.ndarray | None = None,
) -> Any:
    """Return a function of the two arrays that runs the kernel at once, or None if a call needs more steps.

    It returns a new array of ``result_shape`` with the bits of the functions above, or None for arrays that
    have to be arranged or dealt with first: see `_kernels.CompiledCall`. It holds for the instruction set
    and the number of threads in use now.
    """
    choice = _choice_for(kind, geometry, dtype, algorithm if packed is None else packed.algorithm, precision)
    if choice.by_planes or choice.chosen in _LOOPS or to_accumulator(np.empty(0, dtype)).dtype != dtype:
        return None
    numbers, isa = (None, _kernels.isa_level()) if packed is None else (packed.numbers, packed.isa)
    if isa != _kernels.isa_level() or (bias is not None and not bias.flags.c_contiguous):
        return None
    check_filter = bool(choice.gives_way_to) and numbers is None
    threads = settings.get_num_threads()
    if not kind.sums_images and geometry.macs > _RUNG_MACS * threads:
        return None
    how = choice.allocate, choice.apart, threads, check_filter, numbers, bias
    return _kernels.CompiledCall(choice.chosen, kind, choice.problem, result_shape, dtype, *how)


@dataclass(frozen=True, eq=False, slots=True)
class _Choice:
    """What is known about a call before its data. It is cached, so that small calls are fast."""

    kind: Kind
    chosen: str
    why: str
    problem: Any
    geometry: ConvGeometry
    by_planes: bool  # whether the call becomes calls for images: see `with_planes`
    result_shape: tuple[int, ...]
    allocate: Callable[..., np.ndarray]  # of the result: its shape, and the input if apart, else the dtype
    apart: bool
    gives_way_to: str  # what runs where infinity or NaN would meet the zeros of the padding, or ""


@lru_cache(maxsize=1024)
def _choice_for(
    kind: Kind,
    geometry: ConvGeometry,
    dtype: np.dtype[Any],
    algorithm: str | None,
    precision: str | None,
    planned: bool = False,
) -> _Choice:
    """Choose the algorithm from the shape of one image, the dtype and the instruction set alone."""
    problem = _problem(geometry)
    rules = (
        "direct" if dtype.kind == "i" else problem.choose(kind, max(4, dtype.itemsize), precision, planned)
    )
    chosen = _NAMED[algorithm or rules]
    why = "asked for" if algorithm else chosen.why
    by_planes = geometry.rank != 2 and chosen.name not in _OF_ANY_RANK
    # a scatter has an edge on every side, beyond which zeros are multiplied too
    gives_way_to = chosen.gives_way_to if geometry.has_padding or kind.scatters else ""
    shape = geometry.shape_of(kind.result)
    apart = prod(shape) * max(4, dtype.itemsize) >= _WORTH_ALIGNING
    allocate = _aligned if apart else np.empty
    return _Choice(kind, chosen.name, why, problem, geometry, by_planes, shape, allocate, apart, gives_way_to)


def _problem(geometry: ConvGeometry) -> Any:
    """Return the integers of a convolution for the kernels: those of three axes, some of them of length 1."""
    axes = (*(ONE_ROW,) * (3 - geometry.rank), *geometry.axes)
    return _kernels.Problem(*replace(geometry, axes=axes, data_format="").integers)


def _run(
    kind: Kind,
    first: np.ndarray,
    second: np.ndarray | PackedFilters,
    geometry: ConvGeometry,
    algorithm: str | None,
    precision: str | None,
    bias: np.ndarray | None,
    activation: str | None,
    out: np.ndarray | None,
) -> np.ndarray:
    """Choose the algorithm, make the arrays contiguous, allocate the result, and call the kernel."""
    packed: PackedFilters | None = None
    if isinstance(second, PackedFilters):
        packed = second
        algorithm, second = packed.algorithm, packed.w.reshape(geometry.filters_shape)
    if (
        geometry.rank != 2
        and (choice := _choice_for(kind, geometry, first.dtype, algorithm, precision)).by_planes
    ):

        def run(a: np.ndarray, b: np.ndarray, flat: ConvGeometry, *last: Any) -> np.ndarray:
            return _run(kind, a, b, flat, choice.chosen, precision, *last)

        return with_planes(run, kind, first, second, geometry, bias, activation, out)
    with record.stage("choose algorithm") as stage:
        choice = _choice_for(kind, geometry, first.dtype, algorithm, precision)
        stage.know(algorithm=choice.chosen)
        stage.say("{}: {}", choice.chosen, choice.why)
    with record.stage("arrange in memory") as stage:
        a = np.ascontiguousarray(to_accumulator(first))
        b = np.ascontiguousarray(to_accumulator(second))
        fits = out is not None and out.dtype == a.dtype and out.flags.carray
        sums = (
            out
            if fits and out is not None
            else choice.allocate(choice.result_shape, a if choice.apart else a.dtype)
        )
        stage.arrays(first=a, second=b, result=sums)
    threads = settings.get_num_threads()
    if choice.chosen in _LOOPS:
        _run_loops(choice, a, b, sums, threads)
    elif kind.sums_images:
        with record.stage("_kernels.run_filter_gradient") as stage:
            stage.say(
                "{}, instruction set {}, threads: at most {}",
                choice.chosen,
                settings.instruction_set,
                threads,
            )
            arrays = a.reshape(-1), b.reshape(-1), sums.reshape(-1)
            _run_kernel(stage, _kernels.run_filter_gradient, choice.chosen, choice.problem, *arrays, threads)
    else:
        wide_bias = None if bias is None else np.ascontiguousarray(to_accumulator(bias))
        if _run_rung(choice, a, b, packed, wide_bias, activation == "relu", sums, threads):
            bias = activation = None  # done in the kernel
    return finish(sums, first.dtype, bias, activation, out)


def _aligned(shape: tuple[int, ...], beside: np.ndarray) -> np.ndarray:
    """Allocate an array like ``beside`` that begins at a cache line, at a different offset in a page.

    A vector store of AVX-512 fills a whole line. In an array that begins elsewhere, as NumPy's do, each store
    writes to two lines. Depthwise, which mostly loads and stores, becomes an eighth faster.

    A load waits for an earlier store to an address that is the same modulo 4096, because the processor
    compares only these bits at first. If a pixel's channels are a power of two, a kernel that reads one array
    and writes to the same position of another would wait at every step. With 512 channels, depthwise becomes
    1.4 times as fast.
    """
    check_memory(shape, beside.dtype, "the result")
    block = np.empty(prod(shape) * beside.itemsize + _PAGE, np.uint8)
    start, other = (array.__array_interface__["data"][0] for array in (block, beside))
    return np.ndarray(shape, beside.dtype, block, ((other + _APART) // _LINE * _LINE - start) % _PAGE)


def _run_rung(
    choice: _Choice,
    data: np.ndarray,
    w: np.ndarray,
    packed: PackedFilters | None,
    bias: np.ndarray | None,
    relu: bool,
    result: np.ndarray,
    threads: int,
) -> bool:
    """Run a rung that may multiply padding as zeros.

    An infinity or NaN in the filter would turn those zeros into NaN. That shows in the filter before the call
    and in the result after it; the smaller of the two is checked. A packed filter was checked by `pack`.

    Returns:
        True; or False if the direct loops had to run instead, which add no bias.
    """
    numbers, isa = (None, 0) if packed is None else (packed.numbers, packed.isa)
    look = bool(choice.gives_way_to) and numbers is None
    before = look and w.nbytes <= result.nbytes
    flat = w.reshape(-1)
    if not before or _kernels.all_finite(flat):
        with record.stage("_kernels.run") as stage:
            stage.say(
                "{}, instruction set {}, threads: at most {}",
                choice.chosen,
                settings.instruction_set,
                threads,
            )
            step = max(1, _RUNG_MACS * len(data) * threads // choice.geometry.macs)
            for part in (slice(first, first + step) for first in range(0, len(data), step)):
                images, problem = data[part], choice.problem
                if len(images) < len(data):
                    problem = _problem(replace(choice.geometry, batch=len(images)))
                arrays = images.reshape(-1), flat, numbers, isa, bias, relu, result[part].reshape(-1)
                _run_kernel(
                    stage, _kernels.run, choice.chosen, choice.kind.scatters, problem, *arrays, threads
                )
        if not look or before or _kernels.all_finite(result.reshape(-1)) or _kernels.all_finite(flat):
            return True
    with record.stage("choose algorithm again") as stage:
        stage.know(algorithm=choice.gives_way_to)
        stage.say("{} gives way: its padding zeros would meet infinity or NaN in the filter", choice.chosen)
    if choice.geometry.rank == 2:
        _LOOPS[choice.gives_way_to](choice, data, w, result, threads)
    else:
        _run(choice.kind, data, w, choice.geometry, choice.gives_way_to, None, None, None, result)
    return False


def _run_loops(choice: _Choice, a: np.ndarray, b: np.ndarray, sums: np.ndarray, threads: int) -> None:
    """Run one of the loops of _kernels.pyx, or the one that replaces it for this call."""
    chosen = choice.chosen
    if choice.gives_way_to and not np.isfinite(b).all():
        with record.stage("choose algorithm again") as stage:
            stage.know(algorithm=choice.gives_way_to)
            stage.say("{} gives way: its padding zeros would meet infinity or NaN", chosen)
        chosen = choice.gives_way_to
    _LOOPS[chosen](choice, a, b, sums, threads)


def _run_direct(choice: _Choice, a: np.ndarray, b: np.ndarray, sums: np.ndarray, threads: int) -> None:
    """Run `direct`, part by part."""
    threads = choice.problem.threads(threads)
    name = f"direct_{choice.kind}"
    with record.stage(f"_kernels.{name}") as stage:
        _forget()
        stage.say("threads: {}", threads)
        places = prod(sums.shape[:2])
        parts = prod(b.shape[:2]) if choice.kind.sums_images else sums.shape[2]
        some, few = (_LOOP_MACS * pieces // choice.geometry.macs for pieces in (places, places * parts))
        for place, part in product(_ranges(places, max(1, some) * threads), _ranges(parts, max(1, few))):
            getattr(_kernels, name)(a, b, sums, choice.problem, threads, place, part)
        _tell(stage)


def _run_im2col(choice: _Choice, a: np.ndarray, b: np.ndarray, sums: np.ndarray, threads: int) -> None:
    """Run `im2col`, in blocks of output rows."""
    name = f"im2col_{choice.kind}"
    with record.stage(f"_kernels.{name}") as stage:
        _forget()
        threads = choice.problem.threads(threads)
        scratch, block_rows = _patches(choice.kind, choice.geometry, a.dtype, threads, stage)
        stage.arrays(patches=scratch)
        stage.say("output rows a block: {}, threads: {}", block_rows, len(scratch))
        with held("scipy", 1):  # BLAS's threads and the kernel's would compete for cores
            getattr(_kernels, name)(a, b, sums, choice.problem, scratch, block_rows)
        _tell(stage)


_LOOPS = {"direct": _run_direct, "im2col": _run_im2col}


def _ranges(size: int, step: int) -> list[tuple[int, int]]:
    """Return (first, past) of the parts of a range, each as long as a step; the last may be shorter."""
    return [(first, min(size, first + step)) for first in range(0, size, step)]


def _forget() -> None:
    """Start recording what the kernels do, during a trace."""
    if record.is_on():
        _kernels.take_paths()
        _kernels.take_shortage()


def _tell(stage: Any) -> None:
    """Record the paths that the kernels took since `_forget` (kernels/paths.h), and missing threads."""
    if isinstance(stage, record.Stage):
        stage.know(paths=" ".join(_kernels.take_paths()), instruction_set=settings.instruction_set)
        if shortage := _kernels.take_shortage():
            stage.say("{}", shortage)


def _run_kernel(stage: Any, kernel: Callable[..., int], *arguments: Any) -> None:
    """Call a kernel, whose last argument is the number of threads, and turn its status into an error."""
    _forget()
    status = kernel(*arguments)
    if status == 1 and arguments[-1] > 1:
        stage.say("one thread: there is no memory for the scratch of more")
        status = kernel(*arguments[:-1], 1)
    _tell(stage)
    if status == 1:
        raise MemoryError("no memory for the scratch of the kernel")
    if status:
        raise RuntimeError(f"the kernel refused the problem with status {status}: a bug in _choice_for")


def _patches(
    kind: Kind, geometry: ConvGeometry, dtype: np.dtype[Any], threads: int, stage: Any
) -> tuple[np.ndarray, int]:
    """Allocate each thread's patches of one block; return them and the output rows of a block."""
    depth = prod(geometry.filters_shape[:3])
    row = geometry.cols.out_size * depth
    block_rows = min(geometry.rows.out_size, max(1, _BLOCK_BYTES // (row * dtype.itemsize)))
    blocks = geometry.batch * -(-geometry.rows.out_size // block_rows)
    jobs = blocks if kind.gathers else geometry.groups
    wanted = min(threads, jobs)
    shape = (_threads_with_blas(wanted), block_rows * row)
    if shape[0] < wanted:
        stage.say("{} of {} threads: there is no memory for the buffers of BLAS in more", shape[0], wanted)
    check_memory(shape, dtype, "the patches of im2col")
    return np.empty(shape, dtype), block_rows


def _threads_with_blas(wanted: int) -> int:
    """Return for how many threads BLAS finds memory: ``wanted``, or half of it, and so on."""
    threads = wanted
    while threads:
        try:
            np.empty(threads * _BLAS_BYTES, np.uint8)  # mapped and given back: that takes 7 µs
            return threads
        except MemoryError:
            threads //= 2
    raise MemoryError(f"im2col needs {_BLAS_BYTES >> 20} MB for the buffers of BLAS; use another algorithm")
