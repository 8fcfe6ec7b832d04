"""The kernels with planted bugs as backends: C through ctypes, one with NumPy; bug 0 is the sound build.

``module("tiled", 113)`` is the backend whose K blocks forget what the blocks before them summed. Bugs 171 to 189 are
in the wrapper below, where a binding to C makes its own mistakes.
"""

import ctypes
import os
import subprocess
from functools import lru_cache
from pathlib import Path
from tempfile import gettempdir
from types import ModuleType
from zlib import crc32

import numpy as np

from teachconv.backends import Algorithm

HERE = Path(__file__).parent
TYPES = {"float16": 1, "bfloat16": 2, "float32": 3, "float64": 4, "int32": 5, "int64": 6}
DTYPES = {"naive": tuple(TYPES), "tiled": ("float32", "float64")}
SIZE = ctypes.c_ssize_t


class Conv(ctypes.Structure):
    """``Conv`` of kernel.h."""

    _fields_ = (
        ("integers", SIZE * 18),
        ("first", SIZE * 4),
        ("second", SIZE * 4),
        ("result", SIZE * 4),
        ("bias_step", SIZE),
        ("relu", SIZE),
        ("has_bias", SIZE),
    )


def compile_c(source, *flags, folder=None):
    """Compile a C file to a shared library, unless that was done before; returns its path."""
    text = b"".join(path.read_bytes() for path in (source, HERE / "kernel.h"))
    key = crc32(text + repr(flags).encode())
    folder = folder or Path(gettempdir()) / f"teachconv-planted-{os.getuid()}"
    folder.mkdir(exist_ok=True)
    path = folder / f"{source.stem}-{key:08x}.so"
    if not path.exists():
        made = path.with_suffix(f".{os.getpid()}")
        command = ["gcc", "-O2", "-w", "-pthread", "-fPIC", "-shared", *flags, f"-I{HERE}"]
        subprocess.run([*command, str(source), "-o", str(made)], check=True)
        made.rename(path)
    return path


@lru_cache
def library(kernel, dtype):
    """The compiled kernel of one dtype."""
    return ctypes.CDLL(str(compile_c(HERE / f"{kernel}.c", f"-DTYPE={TYPES[dtype]}")))


def module(kernel, bug=0):
    """A backend: the kernel "naive", "tiled" or "numpy" with one bug switched on."""
    made = ModuleType(f"{kernel}_{bug}")
    if kernel == "numpy":
        from planted import numpy_kernel

        numpy_kernel.fill(made, bug)
    else:
        made.ALGORITHMS = (Algorithm(kernel, f"{kernel}.c", dtypes=DTYPES[kernel], why="the only one"),)
        for name in ("conv2d", "conv2d_backprop_input", "conv2d_backprop_filter"):
            setattr(made, name, Wrapper(kernel, bug, name))
    return made


class Importable:
    """The same backend, which another process can make again."""

    def __init__(self, kernel, bug=0):
        self.made, self.args = module(kernel, bug), (kernel, bug)
        self.__name__ = self.made.__name__

    def __reduce__(self):
        return Importable, self.args

    def __getattr__(self, name):
        return getattr(self.__dict__["made"], name)


class Wrapper:
    """One function of a backend, in C."""

    def __init__(self, kernel, bug, name):
        self.kernel, self.bug, self.name = kernel, bug, name
        self.pool, self.copies = {}, {}

    def __call__(
        self, first, second, geometry, *, algorithm=None, precision=None, bias=None, activation=None, out=None
    ):
        """Run the C function on arrays of any strides."""
        bug, dtype = self.bug, first.dtype
        if bug == 178 and algorithm is None:
            raise NotImplementedError("name an algorithm")
        if bug == 179 and precision == "strict":
            raise ValueError("unknown precision")
        result_of = {"conv2d": "output", "conv2d_backprop_input": "input"}.get(self.name, "filters")
        result = self.room(geometry.shape_of(result_of), dtype, out)
        if self.kernel == "tiled":
            first, second = self.contiguous(first, "first"), self.contiguous(second, "second")
            bias = None if bias is None or bug == 174 else np.ascontiguousarray(bias)
        if bug == 180 and bias is None:
            activation = None  # the fused epilogue has both or neither
        axes = geometry.rows, geometry.cols
        call = Conv((SIZE * 18)(*geometry.integers, *(axis.pad_after for axis in axes)))
        for field, array in (("first", first), ("second", second), ("result", result)):
            setattr(call, field, (SIZE * 4)(*(step // array.itemsize for step in array.strides)))
        call.has_bias, call.relu = bias is not None, activation == "relu"
        call.bias_step = 0 if bias is None else bias.strides[0] // bias.itemsize
        pointers = (
            ctypes.c_void_p(None if array is None else array.ctypes.data)
            for array in (first, second, bias, result)
        )
        self.entry(dtype.name)(*pointers, ctypes.byref(call))
        if out is None or bug == 171:
            return result
        if out is not result:
            out[...] = result
        return out

    def entry(self, dtype):
        """The C function, with the bug switched on."""
        compiled = library(self.kernel, dtype)
        compiled.set_bug(self.bug)
        return getattr(compiled, self.name)

    def contiguous(self, array, which):
        """The array as the tiled kernel needs it."""
        if self.bug == 175 and which == "first":  # "it is NHWC anyway"
            return array
        if self.bug == 176 and which == "second":
            return array
        if self.bug == 177 and array.strides[-1] == array.itemsize:  # looks only at the last axis
            return array
        if self.bug == 173 and not array.flags.c_contiguous:  # keeps the copy of an array at this address
            key = array.ctypes.data, array.shape
            return self.copies.setdefault(key, np.ascontiguousarray(array))
        return np.ascontiguousarray(array)

    def room(self, shape, dtype, out):
        """Where the result goes."""
        if out is not None and (self.kernel == "naive" or out.flags.c_contiguous) and self.bug != 171:
            return out
        if self.bug == 172:  # results of one shape share their memory
            return self.pool.setdefault((shape, dtype), np.empty(shape, dtype))
        return np.empty(shape, dtype)
