"""The GPU backend: CuPy allocates, copies and launches; the kernels are in `cuda/*.cu`.

Like the CPU's, the algorithms form a ladder from simple to fast. `cuda.ladder` chooses one and lays out its
launches; this module runs them on a device. CuPy arrays stay where they are. NumPy arrays are copied to the
device and the result is copied back; both copies are stages of the trace. CuPy is imported at the first use.
There are no atomic additions: the same call on the same card with the same library versions gives the same
bits.
"""

from __future__ import annotations

import traceback
import weakref
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..core.geometry import ConvGeometry
from ..core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ..support import record
from ..support.devices import hold_borrowed, is_on_device
from ..support.errors import brief
from ..support.tables import size
from . import PackedFilters, load
from .cuda import cudnn, ladder
from .cuda.compiling import INSTALL, architecture
from .cuda.device import Device
from .cuda.ladder import choose
from .cuda.launches import Schedule, execute, prepare
from .planes import as_image, flat_geometry, with_planes

ALGORITHMS = (*ladder.ALGORITHMS, cudnn.ALGORITHM)
RANKS = (1, 2, 3)
TAKES_DEVICE_ARRAYS = True  # the ops check this before they pass a CuPy array

_OPERANDS = {FORWARD: ("x", "w"), INPUT_GRADIENT: ("dy", "w"), FILTER_GRADIENT: ("x", "dy")}
_ALIGNMENT = 16  # bytes that a kernel loads at once


def unavailable() -> str:
    """Return what is missing, CuPy, a driver, a GPU or NVRTC; "" if the backend can run."""
    try:
        cupy = load("cupy")
    except ImportError as error:
        return f"CuPy is not installed or cannot be loaded: {error} ({INSTALL})"
    try:
        count = cupy.cuda.runtime.getDeviceCount()  # CuPy itself imports without a driver; this raises
    except Exception as error:
        text = str(error)
        if "InsufficientDriver" in text:
            return f"CuPy is installed, but no NVIDIA driver that is new enough for it: {text}"
        if "NoDevice" in text:
            return f"CuPy and a driver are installed, but there is no NVIDIA GPU: {text}"
        return f"CuPy is installed, but CUDA cannot be initialised: {text}"
    if not count:
        return "CuPy and a driver are installed, but there is no NVIDIA GPU"
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as error:  # CuPy loads NVRTC at its first use
        return f"CuPy and a GPU were found, but not NVRTC, which compiles the kernels: {error} ({INSTALL})"
    return ""


def lacks(algorithm: str, dtype: str, array: Any) -> str:
    """Return what the GPU of an array, or the current one for a host array, lacks for an algorithm, or ""."""
    if algorithm == cudnn.ALGORITHM.name:
        with _device_of(import_module("cupy"), array):
            return cudnn.unavailable()
    return ladder.lacks(algorithm, dtype, _architecture(array))


def conv2d(
    x: Any,
    w: Any,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: Any = None,
    activation: str | None = None,
    out: Any = None,
) -> Any:
    """Gather: compute y from x and w."""
    return _run(FORWARD, x, w, geometry, algorithm, precision, bias, activation, out)


def conv2d_backprop_input(
    dy: Any,
    w: Any,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    bias: Any = None,
    activation: str | None = None,
    out: Any = None,
) -> Any:
    """Scatter along the same taps: compute dx, as a gather, so that no two threads add to the same cell."""
    return _run(INPUT_GRADIENT, dy, w, geometry, algorithm, precision, bias, activation, out)


def conv2d_backprop_filter(
    x: Any,
    dy: Any,
    geometry: ConvGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    out: Any = None,
) -> Any:
    """Sum over the same taps: compute dw."""
    return _run(FILTER_GRADIENT, x, dy, geometry, algorithm, precision, None, None, out)


def pack(
    w: Any,
    geometry: ConvGeometry,
    *,
    kind: Kind,
    algorithm: str | None,
    precision: str | None = None,
) -> PackedFilters:
    """Choose the algorithm once, copy the filter to the GPU and transform it there, for many calls."""
    cupy = import_module("cupy")
    with _device_of(cupy, w):
        kept: dict[str, Any] = {}
        if geometry.rank == 3:
            chosen, on_device = _of_volume(kind, geometry, w, algorithm, precision), _on_device(cupy, "w", w)
        else:
            if geometry.rank == 1:
                geometry, w = flat_geometry(kind, geometry), as_image(w, "filters")
            job = _schedule(kind, geometry, w, algorithm, precision, False, False)
            chosen, on_device = job.algorithm, _on_device(cupy, "w", w)
            kept = prepare(job, on_device, Device(cupy))
            hold_borrowed()
        cupy.cuda.get_current_stream().synchronize()  # the calls may come on other streams
        numbers = max(kept.values(), key=lambda array: array.nbytes, default=None)
        packed = PackedFilters(on_device, chosen, numbers, kept=kept)
        # the memory returns to this stream's pool, and the last calls may still run on other streams
        weakref.finalize(packed, cupy.cuda.Device().synchronize)
    return packed


def prepare_kernel(
    kind: Kind,
    geometry: ConvGeometry,
    dtype: np.dtype[Any],
    result_shape: tuple[int, ...],
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    packed: PackedFilters | None = None,
    bias: Any = None,
) -> Any:
    """Return a function of two arrays on the current GPU that launches at once, or None.

    It returns a new array of ``result_shape``, or None for arrays that have to be copied or arranged first.
    A CUDA graph would not help: it holds the addresses of the arrays, its scratch and the tensor maps, and
    all of its nodes, one to three launches here, would have to be reset for each call.
    """
    if geometry.rank != 2:
        return None
    cupy, bits = import_module("cupy"), _bits_dtype(dtype)
    machine = Device(cupy)
    asked, kept = (algorithm, None) if packed is None else (packed.algorithm, packed.kept)
    jobs: dict[int, Schedule] = {}  # by device

    def run(first: Any, second: Any) -> Any:
        arrays = {"first": first, "second": second} | ({} if bias is None else {"bias": bias})
        here = cupy.cuda.Device().id
        if not all(_is_ready(array, here) for array in arrays.values()):
            return None
        if here not in jobs:
            jobs[here] = _schedule(kind, geometry, first, asked, precision, bias is not None, False)
        try:
            result = cupy.empty(result_shape, bits)
            buffers = {name: array.view(bits) for name, array in arrays.items()} | {"result": result}
            execute(jobs[here], buffers, machine, kept)
        except cupy.cuda.memory.OutOfMemoryError:
            return None  # the call with all steps says what it needs
        hold_borrowed()
        return result.view(dtype)

    return run


def _is_ready(array: Any, device: int) -> bool:
    """Return whether kernels on a device can take an array as it is."""
    if not is_on_device(array) or array.device.id != device:
        return False
    return bool(array.flags.c_contiguous) and _is_aligned(array)


# ---------------------------------------------------------------------------------------------
# One call
# ---------------------------------------------------------------------------------------------


def _run(
    kind: Kind,
    first: Any,
    second: Any,
    geometry: ConvGeometry,
    algorithm: str | None,
    precision: str | None,
    bias: Any,
    activation: str | None,
    out: Any,
) -> Any:
    """Choose an algorithm and run it on the arrays' device; explain it if the GPU runs out of memory."""
    cupy = import_module("cupy")
    dtype, relu = first.dtype, activation == "relu"
    packed = second if isinstance(second, PackedFilters) else None
    if packed is not None:
        second, algorithm = packed.w.reshape(geometry.filters_shape), packed.algorithm
    with _device_of(cupy, first if is_on_device(first) else second):  # a packed filter is on a GPU
        if geometry.rank != 2:
            if geometry.rank == 3:
                algorithm = _of_volume(kind, geometry, first, algorithm, precision)

            def run(a: Any, b: Any, flat: ConvGeometry, *last: Any) -> Any:
                return _run(
                    kind, a, packed if packed and packed.kept else b, flat, algorithm, precision, *last
                )

            return with_planes(run, kind, first, second, geometry, bias, activation, out)
        with record.stage("choose algorithm") as stage:
            job = _schedule(kind, geometry, first, algorithm, precision, bias is not None, relu)
            stage.know(algorithm=job.algorithm)
            stage.say("{}: {}", job.algorithm, job.why)
        shape = geometry.shape_of(kind.result)
        arrays = {"first": first, "second": second} | ({} if bias is None else {"bias": bias})
        names = dict(zip(arrays, (*_OPERANDS[kind], "bias"), strict=False))
        kept = packed.kept if packed is not None else None
        try:
            return _work(cupy, job, arrays, names, shape, dtype, out, kept)
        except cupy.cuda.memory.OutOfMemoryError as error:
            traceback.clear_frames(error.__traceback__)  # its frames still refer to what was allocated
        cupy.get_default_memory_pool().free_all_blocks()
        free, whole = cupy.cuda.runtime.memGetInfo()
    asked = _bytes_asked(job, arrays, shape, dtype, out)
    raise MemoryError(
        f"algorithm {brief(job.algorithm)} needs {size(asked)} on the GPU, {size(job.scratch_bytes)} of it "
        f"scratch; {size(free)} of {size(whole)} are free. A smaller batch needs less memory, and "
        f"algorithm='direct' needs no scratch"
    )


def _schedule(
    kind: Kind,
    geometry: ConvGeometry,
    array: Any,
    algorithm: str | None,
    precision: str | None,
    bias: bool,
    relu: bool,
) -> Schedule:
    """Return the steps of a call on the device of an array."""
    call, options = (kind, geometry, array.dtype.name), (precision, bias, relu)
    if algorithm == cudnn.ALGORITHM.name:
        device = _device_of(import_module("cupy"), array)
        with device:  # where cuDNN loads its kernels
            return cudnn.schedule(*call, *options, device.id)
    return ladder.schedule(*call, algorithm, *options, _architecture(array))


def _of_volume(
    kind: Kind, geometry: ConvGeometry, array: Any, algorithm: str | None, precision: str | None
) -> str:
    """Return the algorithm of the planes of a volume: one that needs no 3x3 transforms."""
    allowed = precision if precision == "tf32" else "strict"
    flat, dtype = flat_geometry(kind, geometry), array.dtype.name
    return algorithm or choose(kind, flat, dtype, allowed, _architecture(array))[0]


def _work(
    cupy: Any,
    job: Schedule,
    arrays: Mapping[str, Any],
    names: Mapping[str, str],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    out: Any,
    kept: Mapping[str, Any] | None,
) -> Any:
    """Copy arrays from the host if necessary, run the schedule, and copy the result back."""
    from_host = isinstance(arrays["first"], np.ndarray)
    buffers = {name: _on_device(cupy, names[name], array) for name, array in arrays.items()}
    bits = _bits_dtype(dtype)
    fits = out is not None and not from_host and out.flags.c_contiguous and _is_aligned(out)
    buffers["result"] = out.view(bits) if fits else cupy.empty(shape, bits)
    machine = Device(cupy)
    with record.stage("run the schedule") as stage:
        stage.say("steps: {}, scratch: {:,} bytes", len(job.steps), job.scratch_bytes)
        scratch = execute(job, buffers, machine, kept)
        hold_borrowed()
    machine.report(stage)
    if isinstance(stage, record.Stage):
        _report_redo(job, scratch, machine.redone(), buffers["result"].size)
    result = buffers["result"]
    if from_host:
        with record.stage("copy to the host") as stage:
            result = result.get()
            stage.arrays(result=result)
    if out is None:
        return result.view(dtype)
    if not fits:
        out[...] = result.view(dtype)
    return out


def _on_device(cupy: Any, name: str, array: Any) -> Any:
    """Return an array on the device, in C order; bfloat16 becomes uint16 with the same bits."""
    bits = array.view(_bits_dtype(array.dtype))
    if not is_on_device(array):
        with record.stage("copy to the device") as stage:
            bits = cupy.asarray(np.ascontiguousarray(bits))
            stage.arrays(**{name: bits})
    elif not bits.flags.c_contiguous:
        with record.stage("arrange in memory") as stage:
            bits = cupy.ascontiguousarray(bits)
            stage.arrays(**{name: bits})
    elif not _is_aligned(bits):
        with record.stage("arrange in memory") as stage:
            bits = bits.copy()
            stage.say("it does not begin at a multiple of {} bytes", _ALIGNMENT)
            stage.arrays(**{name: bits})
    return bits


def _is_aligned(array: Any) -> bool:
    """Return whether an array on a GPU is aligned, so that kernels may load several numbers at once."""
    return int(array.data.ptr) % _ALIGNMENT == 0


def _device_of(cupy: Any, array: Any) -> Any:
    """Return the device of an array on a GPU; the current one for a host array."""
    return array.device if is_on_device(array) else cupy.cuda.Device()


def _architecture(array: Any) -> int:
    """Return the compute capability, times ten, of the GPU that works on an array."""
    return architecture(_device_of(import_module("cupy"), array).id)


def _bits_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return uint16 for bfloat16, which not every CuPy supports, and any other dtype unchanged."""
    return np.dtype(np.uint16) if dtype.name == "bfloat16" else dtype


def _report_redo(job: Schedule, scratch: Mapping[str, Any], redone: int, cells: int) -> None:
    """Record how many cells, or images of Winograd's, were computed by the definition, and why."""
    count, whole, what = redone, cells, "cells"
    why = (
        "infinity, NaN, or numbers out of the range of the transform"
        if job.algorithm.startswith("winograd")
        else "their sums were NaN, as infinity times a zero of the padding is"
    )
    if "data_marks" in scratch:  # winograd.cu explains them
        marks = scratch["data_marks"].get().reshape(-1, 3).T > 0, scratch["filter_marks"].get() > 0
        (bad, some, enough), (bad_w, some_w, enough_w) = marks
        again = bad | (some & ~enough) | bool(bad_w or (some_w and not enough_w))
        count, whole, what = int(again.sum()), again.size, "images"
    if not count:
        return
    with record.stage("choose algorithm again") as stage:
        stage.know(algorithm=f"{job.algorithm}, direct")
        stage.say("{:,} of {:,} {} recomputed by direct: {}", count, whole, what, why)


def _bytes_asked(
    job: Schedule, arrays: Mapping[str, Any], shape: Sequence[int], dtype: np.dtype[Any], out: Any
) -> int:
    """Return how many bytes on the device a call needs."""
    from_host = isinstance(arrays["first"], np.ndarray)
    copied = sum(int(array.nbytes) for array in arrays.values()) if from_host else 0
    result = 0 if out is not None and not from_host else int(np.prod(shape, dtype=object)) * dtype.itemsize
    return job.scratch_bytes + copied + result
