"""Compiles a kernel for a GPU with NVRTC, once on each machine, and loads it.

CuPy has the bindings of NVRTC, and a RawModule loads the binary from a file. RawModule does not compile it,
because it would add -ftz=true, which flushes subnormals to zero.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ...support import record
from ...support.errors import BackendUnavailable
from ...support.files import replacing
from . import sources
from .launches import Kernel

INSTALL = "pip install teachconv[gpu-cuda13], or [gpu-cuda12], as the CUDA version in `nvidia-smi` says"
_STATIC_SHARED = 48 << 10  # a kernel has to be allowed more shared memory than this


@lru_cache(maxsize=512)
def function(kernel: Kernel, device: int, shared: int) -> Any:
    """Return a kernel for a device, compiled and loaded at its first use.

    Args:
        kernel: the kernel.
        device: the number of the device, which is the current one.
        shared: the bytes of shared memory that its launches ask for.

    Returns:
        What CuPy launches.

    Raises:
        BackendUnavailable: if it needs CUDA's headers, and none of NVRTC's release are found.
    """
    made = _module(kernel, device).get_function(kernel.name)
    if shared > _STATIC_SHARED:
        made.max_dynamic_shared_size_bytes = shared
    return made


def forget() -> None:
    """Forget what was loaded, as at the start of a process."""
    for cached in (function, _module, architecture):
        cached.cache_clear()


@lru_cache(maxsize=64)
def architecture(device: int) -> int:
    """Return the compute capability of a device, times ten: 75 for 7.5."""
    return int(import_module("cupy").cuda.Device(device).compute_capability)


@lru_cache(maxsize=512)
def _module(kernel: Kernel, device: int) -> Any:
    """Return a module with one kernel, compiled for a device."""
    return import_module("cupy").RawModule(path=str(compiled(kernel, architecture(device))))


def compiled(kernel: Kernel, arch: int) -> Path:
    """Return the file with a kernel's binary, which is compiled unless it was on this machine before.

    Args:
        kernel: the kernel.
        arch: the card's compute capability, times ten.

    Returns:
        Its path in the cache.

    Raises:
        BackendUnavailable: as for `function`.
    """
    cupy, file = import_module("cupy"), kernel.file
    with record.loading(f"compile {kernel.name} of {file}") as stage:
        headers = _include_options(cupy, file, kernel.dtype)
        made_for = _arch_option(arch, cupy.cuda.nvrtc) + sources.arch_suffix(file)
        # before 13.5, NVRTC takes a lambda with a parameter of any type for a function of the host
        fixed = "-std=c++17", "-default-device"
        options = (*sources.defines(kernel.dtype, kernel.defines), *fixed, *headers, made_for)
        path = _path(cupy, file, options)
        if path.is_file():
            stage.say("{}, compiled earlier: {}", " ".join(options), path)
        else:
            stage.say("{}, used for the first time on this machine", " ".join(options))
            _keep(path, _compile(cupy.cuda.nvrtc, file, options))
        return path


def _arch_option(arch: int, nvrtc: Any) -> str:
    """Return the option for a binary for this architecture, or for PTX, if NVRTC does not know it yet.

    The driver translates PTX for any newer card; a binary runs on its own generation only.
    """
    known = nvrtc.getSupportedArchs()
    if arch in known:
        return f"-arch=sm_{arch}"
    if arch < min(known):
        release = ".".join(map(str, nvrtc.getVersion()))
        raise BackendUnavailable(
            f"this GPU has compute capability {arch // 10}.{arch % 10}, and NVRTC {release} supports "
            f"{min(known) // 10}.{min(known) % 10} or higher: {INSTALL}"
        )
    return f"-arch=compute_{max(one for one in known if one < arch)}"


def _include_options(cupy: Any, file: str, dtype: str) -> tuple[str, ...]:
    """Return the compiler options for CUDA's headers, if a source file needs them."""
    if not sources.needs_headers(file, dtype):
        return ()
    major = cupy.cuda.nvrtc.getVersion()[0]
    folders = sources.header_folders(major)
    if not folders:
        others = ", ".join(str(release) for release in sources.header_releases()) or "none at all"
        raise BackendUnavailable(
            f"{file} for {dtype} needs CUDA's headers (cuda_fp16.h, mma.h) of NVRTC's release, CUDA {major}, "
            f"which were not found (found: {others}): set CUDA_PATH, or {INSTALL}, which include them"
        )
    return tuple(f"-I{folder}" for folder in folders)


def _path(cupy: Any, file: str, options: Sequence[str]) -> Path:
    """Return where a compiled source is cached, named by a hash of source, options and NVRTC's version."""
    version = str(cupy.cuda.nvrtc.getVersion())
    made_of = "\0".join([sources.source_text(file), *options, version])
    folder = Path(os.environ.get("CUPY_CACHE_DIR") or "~/.cupy/kernel_cache").expanduser()
    return folder / f"teachconv-{Path(file).stem}-{hashlib.sha256(made_of.encode()).hexdigest()[:24]}.cubin"


def _compile(nvrtc: Any, file: str, options: Sequence[str]) -> bytes:
    """Compile a source file with NVRTC and return the binary, or the PTX."""
    program = nvrtc.createProgram(sources.source_text(file), file, (), ())
    try:
        nvrtc.compileProgram(program, options)
        get = nvrtc.getPTX if options[-1].startswith("-arch=compute") else nvrtc.getCUBIN
        return bytes(get(program))
    except nvrtc.NVRTCError as error:
        raise RuntimeError(f"NVRTC: {error}: {nvrtc.getProgramLog(program)}") from error
    finally:
        nvrtc.destroyProgram(program)


def _keep(path: Path, binary: bytes) -> None:
    """Write a binary to the cache; another thread or process may write the same at the same time."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(binary)
