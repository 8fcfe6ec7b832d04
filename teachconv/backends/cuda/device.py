"""The GPU as a machine of `launches`: CuPy allocates and launches, cuBLAS multiplies, cuDNN convolves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ...support import record
from . import cudnn
from .compiling import function
from .launches import PROBLEM, Convolution, Copy, Launch, TensorMap
from .wgmma import encode


class Device:
    """Runs the steps of a schedule on the current device and stream, and times them during a trace."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._timed: list[tuple[record.Stage, Any, Any]] = []
        self._redone: list[Any] = []  # the counters of each launch, during a trace

    def empty(self, size: int, dtype: str, zero: bool) -> Any:
        """Return a flat array on the device, zeroed if ``zero`` is set."""
        return (self._cupy.zeros if zero else self._cupy.empty)(size, dtype)

    def launch(self, step: Launch, arguments: Sequence[Any]) -> None:
        """Launch a kernel."""
        run = function(step.kernel, self._cupy.cuda.Device().id, step.shared)
        values = [np.uint64(0) if value is None else value for value in arguments]  # a null pointer
        with record.stage(f"launch {step.kernel.name}") as stage:
            stage.say("grid {}, block {}", step.grid, step.block)
            if isinstance(stage, record.Stage):
                values = [self._count(value, step) for value in values]
            start = self._start(stage)
            run((step.grid,), (step.block,), tuple(values), shared_mem=step.shared)
            self._stop(stage, start)

    def tensor_map(self, tensor: TensorMap, array: Any) -> np.ndarray:
        """Return a tensor map, made by the driver."""
        return encode(tensor, int(array.data.ptr))

    def matmul(self, left: Any, right: Any, out: Any, accumulate: bool) -> None:
        """Multiply stacks of matrices by cuBLAS, which takes transposed ones as they are.

        CuPy's own matmul copies stacks, and rounds the factors to TF32 if CUPY_TF32 is set. So does the math
        mode that a user may have set on CuPy's handle: the default one rounds nothing.
        """
        cublas = self._cupy.cuda.cublas  # this attribute also loads cuBLAS from NVIDIA's wheel
        count = out.shape[0]
        # for one product, cuBLAS may have blocks share the depth
        name, stack = ("gemm", []) if count == 1 else ("gemmStridedBatched", [count])
        with record.stage(f"cublas {name}") as stage:
            stage.arrays(left=left, right=right, product=out)
            start = self._start(stage)
            handle = self._cupy.cuda.device.get_cublas_handle()
            gemm = getattr(cublas, ("s" if out.dtype == np.float32 else "d") + name)
            one, keep = np.ones(1, out.dtype), np.full(1, accumulate, out.dtype)
            # cuBLAS counts along columns first, so it is given out' = right' left'
            (first, *a), (second, *b) = _factor(right), _factor(left)
            sizes = out.shape[2], out.shape[1], left.shape[2]
            c = [out.data.ptr, out.shape[2], out.shape[1] * out.shape[2]]
            if count == 1:  # without the distance to the next matrix
                a, b, c = a[:2], b[:2], c[:2]
            before = cublas.getPointerMode(handle), cublas.getMathMode(handle)
            cublas.setPointerMode(handle, cublas.CUBLAS_POINTER_MODE_HOST)
            cublas.setMathMode(handle, cublas.CUBLAS_DEFAULT_MATH)
            try:
                scales = one.ctypes.data, keep.ctypes.data
                # mark: multiply-add of im2col winograd2 winograd4 by cuBLAS
                gemm(handle, first, second, *sizes, scales[0], *a, *b, scales[1], *c, *stack)
            finally:
                cublas.setPointerMode(handle, before[0])
                cublas.setMathMode(handle, before[1])
            self._stop(stage, start)

    def copy(self, step: Copy, source: Any, out: Any) -> None:
        """Copy an array, or a part of it, to another; the rest of that becomes zero."""
        with record.stage("arrange in memory") as stage:
            stage.say("{}", step.why)
            start = self._start(stage)
            if step.out_part:
                out[...] = 0
            out[step.out_part] = source[step.source_part]
            stage.arrays(**{step.out.name: out})
            self._stop(stage, start)

    def convolve(self, step: Convolution, arrays: Mapping[str, Any], workspace: Any) -> None:
        """Run a convolution of cuDNN's."""
        with record.stage("cuDNN") as stage:
            stage.say("engine {}, workspace: {:,} bytes", step.engine, workspace.nbytes)
            stage.know(engine=step.engine)
            start = self._start(stage)
            handle = cudnn.handle(self._cupy.cuda.Device().id)
            pointers = {step.tensors[name]: array.data.ptr for name, array in arrays.items()}
            stream = self._cupy.cuda.get_current_stream().ptr
            with cudnn.LOCK:
                import_module("cudnn").set_stream(handle=handle, stream=stream)
                # mark: multiply-add of cudnn by cuDNN
                step.graph.execute(pointers, workspace.data.ptr, handle=handle)
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

    def _count(self, value: Any, step: Launch) -> Any:
        """Give a kernel's problem a counter for each thread; return other arguments unchanged."""
        if not isinstance(value, np.ndarray) or value.dtype != PROBLEM:
            return value
        self._redone.append(self._cupy.zeros(step.grid * step.block, "int32"))
        value = value.copy()
        value["redone"] = self._redone[-1].data.ptr
        return value

    def redone(self) -> int:
        """Return how many cells were computed again, because their sums were NaN; 0 outside of a trace."""
        return sum(int(counters.get().sum()) for counters in self._redone)

    def report(self, whole: Any) -> None:
        """Wait for the device, and add its times, measured by CUDA events, to the notes."""
        if not self._timed:
            return
        self._timed[-1][2].synchronize()
        elapsed = self._cupy.cuda.get_elapsed_time  # in milliseconds
        for stage, start, stop in self._timed:
            stage.say("{:,.1f} µs on the device", 1e3 * elapsed(start, stop))
        whole.say("{:,.1f} µs on the device", 1e3 * elapsed(self._timed[0][1], self._timed[-1][2]))


def _factor(stack: Any) -> tuple[int, int, int, int]:
    """Return whether a stack is transposed, its address, the length of a line in memory, and of a matrix."""
    _, rows, cols = stack.shape
    size = stack.dtype.itemsize
    transposed = cols > 1 and rows > 1 and stack.strides[2] != size
    return int(transposed), stack.data.ptr, rows if transposed else cols, rows * cols
