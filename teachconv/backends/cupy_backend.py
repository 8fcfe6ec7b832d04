"""The GPU backend: CuPy allocates, copies and launches; the kernels are in `cuda/*.cu`.

Like the CPU's, the algorithms form a ladder from simple to fast. `cuda.ladder` chooses one and lays out its
launches; this module runs them on a device. CuPy arrays stay where they are. NumPy arrays are copied to the
device and the result is copied back; both copies are stages of the trace. CuPy is imported at the first use.
There are no atomic additions: the same call on the same card with the same library versions gives the same
bits.

NVRTC compiles a kernel for one dtype, through CuPy's compiler module, and a RawModule loads it from a file.
RawModule does not compile it, because it would add -ftz=true, which flushes subnormals to zero.
"""

from __future__ import annotations

import hashlib
import os
import traceback
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .. import record
from ..errors import ArgumentError, BackendUnavailable
from ..geometry import Conv2DGeometry
from ..kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, Kind
from ..tables import size
from . import load
from .cuda import sources
from .cuda.ladder import ALGORITHMS, schedule
from .cuda.launches import Kernel, Matmul, Schedule, execute

__all__ = [
    "ALGORITHMS",
    "TAKES_DEVICE_ARRAYS",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "unavailable",
]

TAKES_DEVICE_ARRAYS = True  # the ops check this before they pass a CuPy array

_OPERANDS = {FORWARD: ("x", "w"), INPUT_GRADIENT: ("dy", "w"), FILTER_GRADIENT: ("x", "dy")}
_INSTALL = "pip install teachconv[gpu-cuda13], or [gpu-cuda12], as the CUDA version in `nvidia-smi` says"


def unavailable() -> str:
    """Return what is missing, CuPy, a driver or a GPU; "" if the backend can run."""
    try:
        cupy = load("cupy")
    except ImportError as error:
        return f"CuPy is not installed or cannot be loaded: {error} ({_INSTALL})"
    try:
        count = cupy.cuda.runtime.getDeviceCount()  # CuPy itself imports without a driver; this raises
    except Exception as error:
        text = str(error)
        if "InsufficientDriver" in text:
            return f"CuPy is installed, but no NVIDIA driver that is new enough for it: {text}"
        if "NoDevice" in text:
            return f"CuPy and a driver are installed, but there is no NVIDIA GPU: {text}"
        return f"CuPy is installed, but CUDA cannot be initialised: {text}"
    return "" if count else "CuPy and a driver are installed, but there is no NVIDIA GPU"


def conv2d(
    x: Any,
    w: Any,
    geometry: Conv2DGeometry,
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
    geometry: Conv2DGeometry,
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
    geometry: Conv2DGeometry,
    *,
    algorithm: str | None = None,
    precision: str | None = None,
    out: Any = None,
) -> Any:
    """Sum over the same taps: compute dw."""
    return _run(FILTER_GRADIENT, x, dy, geometry, algorithm, precision, None, None, out)


# ---------------------------------------------------------------------------------------------
# One call
# ---------------------------------------------------------------------------------------------


def _run(
    kind: Kind,
    first: Any,
    second: Any,
    geometry: Conv2DGeometry,
    algorithm: str | None,
    precision: str | None,
    bias: Any,
    activation: str | None,
    out: Any,
) -> Any:
    """Choose an algorithm and run it on the arrays' device; explain it if the GPU runs out of memory."""
    cupy = import_module("cupy")
    dtype, relu = first.dtype, activation == "relu"
    with record.stage("choose algorithm") as stage:
        job = schedule(kind, geometry, dtype.name, algorithm, precision, bias is not None, relu)
        stage.know(algorithm=job.algorithm)
        stage.say("{}: {}", job.algorithm, job.why)
    _check_tf32(job, dtype)
    shape = geometry.shape_of(kind.result)
    arrays = {"first": first, "second": second} | ({} if bias is None else {"bias": bias})
    names = dict(zip(arrays, (*_OPERANDS[kind], "bias"), strict=False))
    device = cupy.cuda.Device() if isinstance(first, np.ndarray) else first.device
    with device:
        try:
            return _work(cupy, job, arrays, names, shape, dtype, out)
        except cupy.cuda.memory.OutOfMemoryError as error:
            traceback.clear_frames(error.__traceback__)  # its frames still refer to what was allocated
        cupy.get_default_memory_pool().free_all_blocks()
        free, whole = cupy.cuda.runtime.memGetInfo()
    asked = _bytes_asked(job, arrays, shape, dtype, out)
    raise MemoryError(
        f"algorithm {job.algorithm!r} needs {size(asked)} on the GPU, {size(job.scratch_bytes)} of it "
        f"scratch; {size(free)} of {size(whole)} are free. A smaller batch needs less memory, and "
        f"algorithm='direct' needs no scratch"
    )


def _work(
    cupy: Any,
    job: Schedule,
    arrays: Mapping[str, Any],
    names: Mapping[str, str],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    out: Any,
) -> Any:
    """Copy arrays from the host if necessary, run the schedule, and copy the result back."""
    from_host = isinstance(arrays["first"], np.ndarray)
    given = {name: _on_device(cupy, names[name], array) for name, array in arrays.items()}
    bits = _bits_dtype(dtype)
    fits = out is not None and not from_host and out.flags.c_contiguous
    given["result"] = out.view(bits) if fits else cupy.empty(shape, bits)
    machine = _Device(cupy)
    with record.stage("run the schedule") as stage:
        stage.say("steps: {}, scratch: {:,} bytes", len(job.steps), job.scratch_bytes)
        scratch = execute(job, given, machine)
    machine.report(stage)
    if job.redo and isinstance(stage, record.Stage):
        _report_redo(job, scratch[job.redo].get())
    result = given["result"]
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
    if isinstance(array, np.ndarray):
        with record.stage("copy to the device") as stage:
            bits = cupy.asarray(np.ascontiguousarray(bits))
            stage.arrays(**{name: bits})
    elif not bits.flags.c_contiguous:
        with record.stage("arrange in memory") as stage:
            bits = cupy.ascontiguousarray(bits)
            stage.arrays(**{name: bits})
    return bits


def _bits_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return uint16 for bfloat16, which not every CuPy supports, and any other dtype unchanged."""
    return np.dtype(np.uint16) if dtype.name == "bfloat16" else dtype


def _check_tf32(job: Schedule, dtype: np.dtype[Any]) -> None:
    """Raise if the environment makes CuPy round the factors of a matrix product to TF32."""
    forced = os.environ.get("CUPY_TF32", "0") not in ("", "0")
    if forced and dtype.name != "float64" and any(isinstance(step, Matmul) for step in job.steps):
        raise ArgumentError(
            f"algorithm {job.algorithm!r} multiplies with cuBLAS, and CUPY_TF32={os.environ['CUPY_TF32']} "
            f"makes CuPy round the factors to TF32: unset it, or use algorithm='implicit_gemm'; "
            f"precision='tf32' requests TF32"
        )


def _report_redo(job: Schedule, flags: np.ndarray) -> None:
    """Record how many images were recomputed by direct."""
    if not flags.any():
        return
    with record.stage("choose algorithm again") as stage:
        stage.know(algorithm=f"{job.algorithm}, direct")
        stage.say(
            "{} of {} recomputed by direct: infinity, NaN, or numbers out of the range of the transform",
            int(flags.sum()),
            flags.size,
        )


def _bytes_asked(
    job: Schedule, arrays: Mapping[str, Any], shape: Sequence[int], dtype: np.dtype[Any], out: Any
) -> int:
    """Return how many bytes on the device a call needs."""
    from_host = isinstance(arrays["first"], np.ndarray)
    copied = sum(int(array.nbytes) for array in arrays.values()) if from_host else 0
    result = 0 if out is not None and not from_host else int(np.prod(shape, dtype=object)) * dtype.itemsize
    return job.scratch_bytes + copied + result


# ---------------------------------------------------------------------------------------------
# The device as a machine of `cuda.launches`
# ---------------------------------------------------------------------------------------------


class _Device:
    """Allocates, launches and multiplies on the current device and stream, and times it during a trace."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._timed: list[tuple[record.Stage, Any, Any]] = []

    def empty(self, size: int, dtype: str, zero: bool) -> Any:
        """Return a flat array on the device, zeroed if ``zero`` is set."""
        return (self._cupy.zeros if zero else self._cupy.empty)(size, dtype)

    def launch(self, kernel: Kernel, grid: int, block: int, arguments: Sequence[Any]) -> None:
        """Launch a kernel."""
        function = _function(kernel, self._cupy.cuda.Device().id)
        values = tuple(np.uint64(0) if value is None else value for value in arguments)  # a null pointer
        with record.stage(f"launch {kernel.name}") as stage:
            stage.say("grid {}, block {}", grid, block)
            start = self._start(stage)
            function((grid,), (block,), values)
            self._stop(stage, start)

    def matmul(self, left: Any, right: Any, out: Any, accumulate: bool) -> None:
        """Multiply stacks of matrices with CuPy, which calls cuBLAS."""
        with record.stage("cupy.matmul") as stage:
            stage.arrays(left=left, right=right, product=out)
            start = self._start(stage)
            if accumulate:
                out += self._cupy.matmul(left, right)
            else:
                # mark: multiply-add of im2col winograd2 winograd4 by cuBLAS
                self._cupy.matmul(left, right, out=out)
            self._stop(stage, start)

    def _start(self, stage: Any) -> Any:
        """Record an event before a step, during a trace."""
        if not isinstance(stage, record.Stage):
            return None
        event = self._cupy.cuda.Event()
        event.record()
        return event

    def _stop(self, stage: Any, start: Any) -> None:
        """Record an event after a step, during a trace."""
        if start is not None:
            event = self._cupy.cuda.Event()
            event.record()
            self._timed.append((stage, start, event))

    def report(self, whole: Any) -> None:
        """Wait for the device, and add its times, measured by CUDA events, to the notes."""
        if not self._timed:
            return
        self._timed[-1][2].synchronize()
        elapsed = self._cupy.cuda.get_elapsed_time  # in milliseconds
        for stage, start, stop in self._timed:
            stage.say("{:,.1f} µs on the device", 1e3 * elapsed(start, stop))
        whole.say("{:,.1f} µs on the device", 1e3 * elapsed(self._timed[0][1], self._timed[-1][2]))


@lru_cache(maxsize=512)
def _function(kernel: Kernel, device: int) -> Any:
    """Return a kernel for a device, compiled and loaded at its first use."""
    return _module(kernel.file, kernel.dtype, kernel.defines, device).get_function(kernel.name)


@lru_cache(maxsize=128)
def _module(file: str, dtype: str, defines: tuple[str, ...], device: int) -> Any:
    """Return the module of one source file, compiled for a dtype and a device."""
    cupy = import_module("cupy")
    options = (*sources.defines(dtype, defines), "-std=c++17", *_include_options(file, dtype))
    arch = str(cupy.cuda.Device(device).compute_capability)
    with record.loading(f"compile {file}") as stage:
        path = _cubin_path(cupy, file, options, arch)
        if path.is_file():
            stage.say("{} for {}, compiled earlier: {}", " ".join(options), arch, path)
        else:
            stage.say("{} for {}, used for the first time on this machine", " ".join(options), arch)
            _compile(file, options, arch, path)
        return cupy.RawModule(path=str(path))


def _include_options(file: str, dtype: str) -> tuple[str, ...]:
    """Return the compiler options for CUDA's headers, if a source file needs them."""
    if not sources.needs_headers(file, dtype):
        return ()
    folders = sources.header_folders()
    if not folders:
        raise BackendUnavailable(
            f"{file} for {dtype} needs CUDA's headers (cuda_fp16.h, mma.h), which were not found: set "
            f"CUDA_PATH, or pip install teachconv[gpu-cuda13], or [gpu-cuda12], which include them"
        )
    return tuple(f"-I{folder}" for folder in folders)


def _cubin_path(cupy: Any, file: str, options: Sequence[str], arch: str) -> Path:
    """Return where a compiled source is cached, named by a hash of the source, the options and the card."""
    version = str(cupy.cuda.nvrtc.getVersion())
    made_of = "\0".join([sources.source_text(file), *options, arch, version])
    folder = Path(os.environ.get("CUPY_CACHE_DIR") or "~/.cupy/kernel_cache").expanduser()
    return folder / f"teachconv-{Path(file).stem}-{hashlib.sha256(made_of.encode()).hexdigest()[:24]}.cubin"


def _compile(file: str, options: Sequence[str], arch: str, path: Path) -> None:
    """Compile a source file with NVRTC and write the binary to the cache."""
    compiler = import_module("cupy.cuda.compiler")
    binary, _ = compiler.compile_using_nvrtc(sources.source_text(file), tuple(options), arch, file)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(
        f".{os.getpid()}"
    )  # renaming is atomic, and another process may write the same
    partial.write_bytes(binary if isinstance(binary, bytes) else binary.encode())
    partial.replace(path)
