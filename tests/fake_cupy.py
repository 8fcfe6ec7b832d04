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

    __module__ = "cupy"  # by which the library recognises CuPy's arrays

    def __init__(self, behind, device=None):
        self._behind, self.device = behind, device or Device()

    shape = property(lambda self: self._behind.shape)
    dtype = property(lambda self: self._behind.dtype)
    ndim = property(lambda self: self._behind.ndim)
    size = property(lambda self: self._behind.size)
    nbytes = property(lambda self: self._behind.nbytes)
    strides = property(lambda self: self._behind.strides)
    data = property(lambda self: SimpleNamespace(ptr=self._behind.ctypes.data))
    flags = property(lambda self: SimpleNamespace(c_contiguous=self._behind.flags.c_contiguous))
    __cuda_array_interface__ = property(lambda self: {"shape": self.shape, "version": 3})

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __len__(self):
        return len(self._behind)

    def __getitem__(self, key):
        return Array(self._behind[self._index(key)], self.device)

    def __setitem__(self, key, value):
        assert self.device.id == Device.current
        self._behind[self._index(key)] = _behind(value)

    def _index(self, key):
        keys = key if isinstance(key, tuple) else (key,)
        assert all(one.device.id == self.device.id for one in keys if isinstance(one, Array))
        return tuple(map(_behind, keys))

    def __ge__(self, number):
        return Array(self._behind >= number, self.device)

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

    def copy(self):
        return Array(self._behind.copy(), self.device)

    def get(self):
        return self._behind.copy()


class Device:
    """One of two devices; ``with Device(1):`` makes it the current one."""

    current, _before = 0, []  # an array's device may be entered twice
    compute_capability = "90"

    def __init__(self, id=None):
        self.id = Device.current if id is None else id

    def __enter__(self):
        self._before.append(Device.current)
        Device.current = self.id
        return self

    def __exit__(self, *error):
        Device.current = self._before.pop()

    def synchronize(self):
        pass  # the stand-in has computed when a launch returns


class OutOfMemoryError(MemoryError):
    """What cupy.cuda.memory.OutOfMemoryError is."""


class Event:
    done = True  # the stand-in has computed when a launch returns

    def __init__(self, disable_timing=False):
        self.time = None

    def record(self):
        self.time = time.perf_counter()

    def synchronize(self):
        pass


class Stream(Event):
    ptr = 7


class Nvrtc:
    """The compiler's bindings; "binaries" are libraries of the host."""

    class NVRTCError(RuntimeError):
        pass

    def __init__(self, folder):
        self.folder, self.compiled, self.options = folder, [], []

    def getVersion(self):  # noqa: N802 (CuPy's name)
        return 13, 0

    def getSupportedArchs(self):  # noqa: N802
        return 75, 80, 90

    def createProgram(self, source, name, headers, include_names):  # noqa: N802
        return SimpleNamespace(source=source, name=name, binary=None)

    def compileProgram(self, program, options):  # noqa: N802
        assert "-std=c++17" in options
        self.compiled.append(program.name)
        self.options.append(options)
        wanted = tuple(option for option in options if option.startswith("-D"))
        program.binary = build_host(self.folder, program.name, wanted, program.source).read_bytes()

    def getCUBIN(self, program):  # noqa: N802
        return program.binary

    getPTX = getCUBIN  # noqa: N815

    def destroyProgram(self, program):  # noqa: N802
        program.binary = None


class RawModule:
    """A library of kernels, loaded from the file that "the compiler" wrote."""

    def __init__(self, path):
        self._library = ctypes.CDLL(path, mode=os.RTLD_LOCAL | os.RTLD_NOW)

    def get_function(self, name):
        return RawKernel(getattr(self._library, f"launch_{name}"))


class RawKernel:
    max_dynamic_shared_size_bytes = 48 << 10

    def __init__(self, function):
        self._function = function

    def __call__(self, grid, block, values, shared_mem=0):
        assert shared_mem <= self.max_dynamic_shared_size_bytes
        for value in values:  # CuPy passes NumPy arrays by value, if they have one element
            assert not isinstance(value, np.ndarray) or value.size == 1
            assert not isinstance(value, Array) or value.device.id == Device.current
        given = [None if isinstance(value, np.uint64) else _behind(value) for value in values]
        assert not self._function(*grid, *block, shared_mem, arguments_of(given), 0)


def fake_cublas():
    """Return the bindings of cuBLAS that multiply stacks: matrices by address, columns first."""
    cublas = ModuleType("cupy_backends.cuda.libs.cublas")
    cublas.CUBLAS_POINTER_MODE_HOST = 0
    cublas.mode = 1
    cublas.getVersion = lambda handle: 130100
    cublas.CUBLAS_DEFAULT_MATH, cublas.math = 0, 3  # as if a user had set TF32
    cublas.getMathMode = lambda handle: cublas.math
    cublas.setMathMode = lambda handle, mode: setattr(cublas, "math", mode)
    cublas.getPointerMode = lambda handle: cublas.mode
    cublas.setPointerMode = lambda handle, mode: setattr(cublas, "mode", mode)

    def at(address, dtype, shape, strides):
        """Columns-first matrices in memory, as an array of [batch, rows, cols]."""
        batch, rows, cols = shape
        last = (batch - 1) * strides[0] + (cols - 1) * strides[1] + rows
        flat = np.ctypeslib.as_array((np.ctypeslib.as_ctypes_type(dtype) * last).from_address(address))
        size = flat.itemsize
        steps = (strides[0] * size, size, strides[1] * size)
        return np.lib.stride_tricks.as_strided(flat, shape, steps)

    def gemm_of(dtype):
        def gemm(handle, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, batch):
            assert cublas.mode == cublas.math == 0
            assert lda >= (k if ta else m)
            assert ldb >= (n if tb else k)
            scale, keep = (at(address, dtype, (1, 1, 1), (0, 1))[0, 0, 0] for address in (alpha, beta))
            left = at(a, dtype, (batch, *((k, m) if ta else (m, k))), (sa, lda))
            right = at(b, dtype, (batch, *((n, k) if tb else (k, n))), (sb, ldb))
            out = at(c, dtype, (batch, m, n), (sc, ldc))
            left, right = (x.swapaxes(1, 2) if t else x for x, t in ((left, ta), (right, tb)))
            with np.errstate(all="ignore"):
                out[...] = scale * (left @ right) + (keep * out if keep else 0)

        return gemm

    def one_of(gemm):
        def one(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc):
            gemm(handle, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0, 1)

        return one

    cublas.sgemmStridedBatched, cublas.dgemmStridedBatched = gemm_of(np.float32), gemm_of(np.float64)
    cublas.sgemm, cublas.dgemm = one_of(cublas.sgemmStridedBatched), one_of(cublas.dgemmStridedBatched)
    return cublas


def _behind(value):
    return value._behind if isinstance(value, Array) else value


def fake_cupy(folder, limit=1 << 28):
    """Return what replaces modules; kernels are kept in ``folder``, no array is above ``limit`` bytes."""
    cupy = ModuleType("cupy")
    pool = SimpleNamespace(limit=limit)

    def fits(shape, dtype):
        if np.prod(shape, dtype=object) * np.dtype(dtype).itemsize > pool.limit:
            raise OutOfMemoryError(f"Out of memory allocating for {shape}")
        return shape

    def asarray(value, dtype=None):
        if isinstance(value, Array):
            return value
        made = np.array(value, dtype)
        fits(made.shape, made.dtype)
        return Array(made)

    def ascontiguousarray(array):
        assert array.device.id == Device.current
        return Array(np.ascontiguousarray(array._behind), array.device)

    def set_limit(size):
        pool.limit = size or limit

    cupy.ndarray = Array
    cupy.__version__ = "stand-in"
    cupy.empty = lambda shape, dtype: Array(np.full(fits(shape, dtype), poison(dtype), dtype))
    cupy.ones = lambda shape, dtype: Array(np.ones(fits(shape, dtype), dtype))
    cupy.zeros = lambda shape, dtype: Array(np.zeros(fits(shape, dtype), dtype))
    cupy.full = lambda shape, number, dtype: Array(np.full(fits(shape, dtype), number, dtype))
    cupy.nonzero = lambda array: tuple(Array(found, array.device) for found in np.nonzero(array._behind))
    cupy.ix_ = lambda *axes: tuple(map(Array, np.ix_(*map(_behind, axes))))
    cupy.asarray = asarray
    cupy.asnumpy = lambda array: array.get()
    cupy.ascontiguousarray = ascontiguousarray
    cupy.broadcast_to = lambda array, shape: Array(np.broadcast_to(array._behind, shape), array.device)
    cupy.maximum = lambda array, number, out=None: Array(
        np.maximum(array._behind, number, out=None if out is None else out._behind)
    )
    cupy.add = lambda one, other: Array(np.add(one._behind, other._behind))
    cupy.pad = lambda array, *how, **more: Array(np.pad(array._behind, *how, **more))
    cupy.may_share_memory = lambda a, b: np.may_share_memory(a._behind, b._behind)
    cupy.from_dlpack = lambda value: Array(np.from_dlpack(value.on_host))
    cupy.get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None, set_limit=set_limit)
    cupy.RawModule = RawModule
    cupy.RawKernel = lambda source, name: lambda grid, block, values: None
    cupy.cuda = SimpleNamespace(
        Device=Device,
        Event=Event,
        get_elapsed_time=lambda start, stop: 1e3 * (stop.time - start.time),
        get_current_stream=lambda: Stream(),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        nvrtc=Nvrtc(folder),
        cublas=fake_cublas(),
        device=SimpleNamespace(get_cublas_handle=lambda: 1),
        runtime=SimpleNamespace(
            getDeviceCount=lambda: 2,
            memGetInfo=lambda: (pool.limit, 1 << 30),
            getDeviceProperties=lambda device: {
                "name": b"no GPU",
                "totalGlobalMem": 1 << 30,
                "multiProcessorCount": 1,
                "major": 9,
                "minor": 0,
            },
            deviceGetAttribute=lambda attribute, device: 1_000_000,
            driverGetVersion=lambda: 0,
            runtimeGetVersion=lambda: 0,
        ),
    )
    # CuPy's attribute looks for cuBLAS in NVIDIA's wheel; the module does not load by itself
    return {"cupy": cupy, "cupy_backends.cuda.libs.cublas": None}
