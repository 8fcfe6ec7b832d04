"""The part of CuPy that teachconv uses, on the host: the real cupy backend and its kernels run on it.

Its arrays are no NumPy arrays and refuse to become one by themselves, as CuPy's do; its memory has a limit;
its compiler is the host's (see cuda_host). So everything in cupy_backend.py runs, except the device.
"""

import ctypes
import os
import time
from types import ModuleType, SimpleNamespace

import numpy as np
from cuda_host import arguments_of, build_host, poison


class Array:
    """A device array: a NumPy array that is not directly accessible."""

    def __init__(self, behind, device=None):
        self._behind, self.device = behind, device or Device()

    shape = property(lambda self: self._behind.shape)
    dtype = property(lambda self: self._behind.dtype)
    ndim = property(lambda self: self._behind.ndim)
    size = property(lambda self: self._behind.size)
    nbytes = property(lambda self: self._behind.nbytes)
    flags = property(lambda self: SimpleNamespace(c_contiguous=self._behind.flags.c_contiguous))
    __cuda_array_interface__ = property(lambda self: {"shape": self.shape, "version": 3})

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __len__(self):
        return len(self._behind)

    def __getitem__(self, key):
        return Array(self._behind[key], self.device)

    def __setitem__(self, key, value):
        self._behind[key] = _behind(value)

    def __iadd__(self, other):
        self._behind += _behind(other)
        return self

    def view(self, dtype):
        return Array(self._behind.view(dtype), self.device)

    def reshape(self, *shape):
        return Array(self._behind.reshape(*shape), self.device)

    def transpose(self, *axes):
        return Array(self._behind.transpose(*axes), self.device)

    def swapaxes(self, first, second):
        return Array(self._behind.swapaxes(first, second), self.device)

    def astype(self, dtype):
        return Array(self._behind.astype(dtype), self.device)

    def get(self):
        return self._behind.copy()


class Device:
    """One of two devices; ``with Device(1):`` makes it the current one."""

    current = 0
    compute_capability = "90"

    def __init__(self, id=None):
        self.id = Device.current if id is None else id

    def __enter__(self):
        self._before, Device.current = Device.current, self.id
        return self

    def __exit__(self, *error):
        Device.current = self._before


class OutOfMemoryError(MemoryError):
    """What cupy.cuda.memory.OutOfMemoryError is."""


class Event:
    def record(self):
        self.time = time.perf_counter()

    def synchronize(self):
        pass


class RawModule:
    """A library of kernels, loaded from the file that "the compiler" wrote."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)

    def get_function(self, name):
        function = getattr(self._library, f"launch_{name}")

        def launch(grid, block, values):
            given = [None if isinstance(value, np.uint64) else _behind(value) for value in values]
            assert not function(*grid, *block, arguments_of(given), 0)

        return launch


def _behind(value):
    return value._behind if isinstance(value, Array) else value


def fake_cupy(folder, limit=1 << 28):
    """Return the module, and its compiler's; kernels are kept in ``folder``, no array is above ``limit`` bytes."""
    cupy = ModuleType("cupy")
    pool = SimpleNamespace(limit=limit)
    cupy.compiled = []  # file names, in order

    def fits(shape, dtype):
        if np.prod(shape, dtype=object) * np.dtype(dtype).itemsize > pool.limit:
            raise OutOfMemoryError(f"Out of memory allocating for {shape}")
        return shape

    def matmul(left, right, out=None):
        with np.errstate(all="ignore"):
            product = _behind(left) @ _behind(right)
        if out is None:
            return Array(product)
        out[...] = product
        return out

    def compile_using_nvrtc(source, options=(), arch=None, filename="kern.cu", *more):
        assert "-std=c++17" in options
        assert arch == "90"
        cupy.compiled.append(filename)
        wanted = tuple(option for option in options if option.startswith("-D"))
        return build_host(folder, filename, wanted, source).read_bytes(), None

    def asarray(value):
        if isinstance(value, Array):
            return value
        fits(value.shape, value.dtype)
        return Array(np.array(value))

    def set_limit(size):
        pool.limit = size or limit

    cupy.ndarray = Array
    cupy.__version__ = "stand-in"
    cupy.empty = lambda shape, dtype: Array(np.full(fits(shape, dtype), poison(dtype), dtype))
    cupy.ones = lambda shape, dtype: Array(np.ones(fits(shape, dtype), dtype))
    cupy.zeros = lambda shape, dtype: Array(np.zeros(fits(shape, dtype), dtype))
    cupy.asarray = asarray
    cupy.asnumpy = lambda array: array.get()
    cupy.ascontiguousarray = lambda array: Array(np.ascontiguousarray(array._behind), array.device)
    cupy.broadcast_to = lambda array, shape: Array(np.broadcast_to(array._behind, shape), array.device)
    cupy.maximum = lambda array, number, out=None: Array(
        np.maximum(array._behind, number, out=None if out is None else out._behind)
    )
    cupy.add = lambda one, other: Array(np.add(one._behind, other._behind))
    cupy.pad = lambda array, *how, **more: Array(np.pad(array._behind, *how, **more))
    cupy.matmul = matmul
    cupy.may_share_memory = lambda a, b: np.may_share_memory(a._behind, b._behind)
    cupy.from_dlpack = lambda value: Array(np.from_dlpack(value.on_host))
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None, set_limit=set_limit)
    cupy.RawModule = RawModule
    cupy.cuda = SimpleNamespace(
        Device=Device,
        Event=Event,
        get_elapsed_time=lambda start, stop: 1e3 * (stop.time - start.time),
        get_current_stream=lambda: Event(),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        nvrtc=SimpleNamespace(getVersion=lambda: (13, 0)),
        runtime=SimpleNamespace(
            getDeviceCount=lambda: 2,
            memGetInfo=lambda: (pool.limit, 1 << 30),
            getDeviceProperties=lambda device: {
                "name": b"no GPU",
                "totalGlobalMem": 1 << 30,
                "multiProcessorCount": 1,
            },
            driverGetVersion=lambda: 0,
            runtimeGetVersion=lambda: 0,
        ),
    )
    compiler = ModuleType("cupy.cuda.compiler")
    compiler.compile_using_nvrtc = compile_using_nvrtc
    return {"cupy": cupy, "cupy.cuda.compiler": compiler}
