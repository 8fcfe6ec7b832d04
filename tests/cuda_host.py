"""Runs the launches of backends/cuda on the host: the same .cu files through a C++ compiler and tests/cuda/shim.h."""

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType

import numpy as np

from teachconv.backends.cuda import ladder, launches, sources
from teachconv.backends.planes import with_planes
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT

SHIM = Path(__file__).parent / "cuda" / "shim.h"
HOPPER = SHIM.with_name("hopper.h")  # for sources that use what only these cards have
DYNAMIC = "extern __shared__ __align__(128) unsigned char memory[];"  # its size is the launch's
COMPILER = shutil.which("g++") or shutil.which("clang++")
# hidden: otherwise the static (shared) memory of one library would be that of another dtype's, too
FLAGS = ("-std=c++17", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-fno-strict-aliasing", "-w")


def host_source(file, text=None):
    """A kernel source as the host compiler sees it: the shim first, CUDA's own headers left out, exports last."""
    body = sources.source_text(file) if text is None else text
    body = body.replace(DYNAMIC, "unsigned char *memory = shim::get_dynamic_memory();")
    lines = ["" if line.startswith("#include <") else line for line in body.splitlines()]
    names = sources.kernel_names(file)
    exports = "\n".join(
        f"EXPORT({name})" if len(names) == 1 else f"#if defined({name.upper()})\nEXPORT({name})\n#endif"
        for name in names
    )
    headers = [SHIM, HOPPER] if sources.arch_suffix(file) else [SHIM]
    includes = "".join(f'#include "{header}"\n' for header in headers)
    return includes + "\n".join(lines) + "\n" + exports + "\n"


def build_host(folder, file, options, text=None, flags=FLAGS):
    """Compile one source with its -D options, cached in ``folder``; return the path of the shared object."""
    # the shim has the compiler's libraries; to look into them takes as long as to link
    options, libraries = [*flags, *options, "-nodefaultlibs"], [build_shim(folder, flags)]
    return build(folder, f"{Path(file).stem}.so", host_source(file, text), options, libraries)


def build_shim(folder, flags=FLAGS):
    """Compile the shim's scheduler, a library that all kernels share; of sanitizers it has only the names."""
    options = [flag.replace("-fsanitize=", "-DSANITIZE_") for flag in flags]
    return build(folder, "shim.so", SHIM.with_suffix(".cpp").read_text(), [*options, "-I", SHIM.parent])


def build(folder, name, source, options, libraries=()):
    """Return the path of what a source compiles to; it is compiled if no test of this run has done so."""
    options = [str(option) for option in options]
    headers = SHIM.read_text() + HOPPER.read_text()
    made_of = "\0".join([source, headers, *options, *map(str, libraries)])

    def make(target):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            path = Path(scratch) / f"{Path(name).stem}.cpp"
            path.write_text(source)
            command = [COMPILER, *options, "-o", str(target), str(path), *map(str, libraries)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr

    return made_once(folder, name, made_of.encode(), make)


def made_once(folder, name, made_of, make):
    """Return a file that ``make`` has written in this run, in whichever worker came first; others wait for it."""
    import fcntl  # not on Windows, where nothing here is compiled

    path = Path(folder) / f"{Path(name).stem}-{hashlib.sha256(made_of).hexdigest()[:24]}{Path(name).suffix}"
    if not path.exists():
        with open(f"{path}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                unfinished = path.with_name(f"unfinished-{path.name}")
                make(unfinished)
                unfinished.replace(path)
    return path


class FaultError(AssertionError):
    """A kernel misuses the copy engine, its barriers or wgmma: see cuda/hopper.h."""


class Host:
    """A machine of backends.cuda.launches: kernels in a host library, matrix products by NumPy."""

    def __init__(self, folder, reverse=False, sources_of=None, flags=FLAGS):
        self.folder, self.reverse, self.flags = folder, reverse, flags
        self.sources_of = sources_of or {}  # file -> text instead of its own
        self.launched = []
        self._libraries = {}

    def empty(self, size, dtype, zero):
        return np.zeros(size, dtype) if zero else np.full(size, poison(dtype), dtype)

    def launch(self, step, arguments):
        kernel = step.kernel
        key = kernel.file, kernel.dtype, kernel.defines
        if key not in self._libraries:
            options = sources.defines(kernel.dtype, kernel.defines)
            path = build_host(
                self.folder, kernel.file, options, text=self.sources_of.get(kernel.file), flags=self.flags
            )
            self._libraries[key] = ctypes.CDLL(str(path), mode=os.RTLD_LOCAL | os.RTLD_NOW)
        function = getattr(self._libraries[key], f"launch_{kernel.name}")
        self.launched.append((kernel.name, step.grid, step.block))
        status = function(step.grid, step.block, step.shared, arguments_of(arguments), int(self.reverse))
        assert status != 1, f"threads of {kernel.name} part at a barrier"
        if status:
            raise FaultError(f"{kernel.name} does what a card would not take, or waits without end")

    def tensor_map(self, tensor, array):
        return encode_for_host(tensor, array.ctypes.data)

    def matmul(self, left, right, out, accumulate):
        with np.errstate(all="ignore"):
            product = left @ right
            out[...] = out + product if accumulate else product


# struct TensorMap of cuda/hopper.h, with the bytes of the driver's
TENSOR_MAP = np.dtype(
    [
        ("base", "u8"),
        *((name, "i8", 4) for name in ("sizes", "strides")),
        ("box", "i4", 4),
        *((name, "i4", 2) for name in ("steps", "lower", "upper")),
        ("itemsize", "i2"),
        ("rounds", "i2"),
        ("walks", "i4"),
    ]
)


def encode_for_host(tensor, address):
    """What the driver makes of a tensor map, for cuda/hopper.h; what the driver would refuse is refused."""
    made = np.zeros((), TENSOR_MAP)
    floats = tensor.dtype == "float32"
    made["base"], made["itemsize"], made["rounds"] = address, 4 if floats else 2, floats
    made["sizes"], made["strides"] = tensor.sizes, (made["itemsize"], *tensor.strides)
    assert address % 16 == 0
    assert all(stride % 16 == 0 and 0 < stride < 1 << 40 for stride in tensor.strides)
    assert all(0 < size <= 1 << 31 for size in tensor.sizes)
    made["walks"] = bool(tensor.steps)
    made["box"][: len(tensor.box)] = tensor.box
    if tensor.steps:
        assert tensor.box[0] <= 256
        assert tensor.box[1] <= 1024
        assert all(0 < step <= 8 for step in tensor.steps)
        assert all(-128 <= corner <= 127 for corner in (*tensor.lower, *tensor.upper))
        made["steps"], made["lower"], made["upper"] = tensor.steps, tensor.lower, tensor.upper
    else:
        assert all(0 < length <= 256 for length in tensor.box)
    return made


def poison(dtype):
    """Return a value for uninitialised memory that reveals its use; no NaN, which kernels recompute."""
    dtype = np.dtype(dtype)
    return 31.4e3 if dtype.kind not in "iu" else 0x5A5A if dtype.itemsize > 1 else 0x5A


def arguments_of(values):
    """Arguments as cuLaunchKernel takes them: an array of pointers to them. It keeps what it points to."""
    kept = [_value(value) for value in values]
    pointers = (ctypes.c_void_p * len(kept))(*(ctypes.addressof(value) for value in kept))
    pointers.kept = kept
    return pointers


def _value(argument):
    if argument is None:
        return ctypes.c_void_p(None)
    if isinstance(argument, np.ndarray):
        assert argument.flags.c_contiguous
        if argument.dtype.names:  # a struct, by value
            return (ctypes.c_char * argument.nbytes).from_buffer_copy(argument.tobytes())
        return ctypes.c_void_p(argument.ctypes.data)
    return np.ctypeslib.as_ctypes_type(argument.dtype)(argument.item())


def host_backend(machine, algorithms=ladder.ALGORITHMS):
    """The contract of `teachconv.backends` implemented by the launches on a machine."""

    def run(kind, first, second, geometry, algorithm, precision, bias=None, activation=None, out=None):
        if geometry.rank != 2:  # as the cupy backend does

            def flat(a, b, image, *last):
                return run(kind, a, b, image, algorithm, precision, *last)

            return with_planes(flat, kind, first, second, geometry, bias, activation)
        scheduled = ladder.schedule(
            kind, geometry, first.dtype.name, algorithm, precision, bias is not None, activation == "relu"
        )
        wrong = np.nan if first.dtype.kind not in "iu" else poison(first.dtype)
        result = np.full(geometry.shape_of(kind.result), wrong, first.dtype)
        arrays = {"first": np.ascontiguousarray(first), "second": np.ascontiguousarray(second)}
        arrays |= {"result": result} | ({} if bias is None else {"bias": np.ascontiguousarray(bias)})
        launches.execute(scheduled, arrays, machine)
        return result

    module = ModuleType("host")
    module.ALGORITHMS, module.RANKS = tuple(algorithms), (1, 2, 3)
    module.conv2d = lambda x, w, g, **options: run(FORWARD, x, w, g, **options)
    module.conv2d_backprop_input = lambda dy, w, g, **options: run(INPUT_GRADIENT, dy, w, g, **options)
    module.conv2d_backprop_filter = lambda x, dy, g, **options: run(FILTER_GRADIENT, x, dy, g, **options)
    return module
