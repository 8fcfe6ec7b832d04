"""The CUDA sources as text for a compiler, with our own headers inlined."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent
HALF_TYPES = ("float16", "bfloat16")
_OWN_INCLUDE = re.compile(r'^#include "(\w+\.cuh)"$', re.MULTILINE)


@lru_cache(maxsize=32)
def source_text(file: str) -> str:
    """Return a source with our own headers inlined, so that its text changes when any of them does.

    ``#line`` directives keep the file and line of compiler messages. CUDA's own headers remain ``#include``s.

    Args:
        file: the name of a file in this folder.

    Returns:
        The text.
    """
    text = (FOLDER / file).read_text(encoding="utf-8")
    parts, position = [f'#line 1 "{file}"\n'], 0
    for include in _OWN_INCLUDE.finditer(text):
        after = text.count("\n", 0, include.end()) + 2
        parts.append(text[position : include.start()])
        parts.append(f'{source_text(include[1])}\n#line {after} "{file}"')
        position = include.end()
    return "".join([*parts, text[position:]])


def kernel_names(file: str) -> list[str]:
    """Return the names of a source's kernels.

    Args:
        file: the name of a file in this folder.

    Returns:
        The names, in the file's order.

    >>> kernel_names("direct.cu")
    ['direct']
    """
    names = re.findall(r"__global__ void (?:__launch_bounds__\([\w, ]+\) )?(\w+)\(", source_text(file))
    return list(names)


def defines(dtype: str, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the compiler options that define a kernel's macros.

    Args:
        dtype: the dtype to compile for.
        extra: further macros, such as "TILE=2".

    Returns:
        One ``-D`` option for each.

    >>> defines("float32", ("TILE=2",))
    ('-DNUMBER_FLOAT32', '-DTILE=2')
    """
    return (f"-DNUMBER_{dtype.upper()}", *(f"-D{name}" for name in extra))


def needs_headers(file: str, dtype: str) -> bool:
    """Return whether a source needs CUDA's headers: for half types, tensor cores, asynchronous copies."""
    includes = ("#include <mma.h>", "#include <cuda_pipeline.h>")
    return dtype in HALF_TYPES or any(name in source_text(file) for name in includes)


def arch_suffix(file: str) -> str:
    """Return "a" for a source that only one generation of cards can run, else "": for sm_90a, say.

    Args:
        file: the name of a file in this folder.

    Returns:
        What is added to the name of the architecture.

    >>> arch_suffix("wgmma_gemm.cu")
    'a'
    """
    return "a" if '"hopper.cuh"' in (FOLDER / file).read_text(encoding="utf-8") else ""


_HEADERS = ("cuda_fp16.h", "cuda_bf16.h", "mma.h", "crt/mma.h", "cuda_pipeline.h")


@lru_cache(maxsize=1)
def _header_places() -> tuple[tuple[int, tuple[str, ...]], ...]:
    """Return CUDA's release and the folders that together hold its headers, for each place that has them.

    The places are, in this order: ``CUDA_PATH`` and ``CUDA_HOME``; NVIDIA's packages from PyPI (one folder
    for CUDA 13, two for CUDA 12); the CUDA toolkit of ``nvcc``; /usr/local/cuda.
    """
    places = [
        [Path(os.environ[name]) / "include"] for name in ("CUDA_PATH", "CUDA_HOME") if name in os.environ
    ]
    for site in (Path(entry) / "nvidia" for entry in sys.path):
        places += [[folder] for folder in sorted(site.glob("cu[0-9]*/include"), reverse=True)]
        places.append([site / "cuda_runtime" / "include", site / "cuda_nvcc" / "include"])
    compiler = shutil.which("nvcc")
    if compiler:
        places.append([Path(compiler).resolve().parent.parent / "include"])
    places.append([Path("/usr/local/cuda/include")])
    return tuple(
        (_release(folders), tuple(map(str, folders)))
        for folders in places
        if all(any((folder / name).is_file() for folder in folders) for name in _HEADERS)
    )


def _release(folders: Sequence[Path]) -> int:
    """Return the major version of CUDA that a folder of headers belongs to, or 0 if it does not say so."""
    for path in (folder / "cuda_runtime_api.h" for folder in folders):
        if path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            version = re.search(r"^#define\s+CUDART_VERSION\s+(\d+)", text, re.MULTILINE)
            if version:
                return int(version[1]) // 1000
    return 0


def header_releases() -> list[int]:
    """Return the major versions of CUDA whose headers were found."""
    return sorted({release for release, _ in _header_places()})


def header_folders(release: int | None = None) -> tuple[str, ...]:
    """Return the folders that together hold CUDA's own headers, or () if they are not found.

    Args:
        release: the major version of CUDA, NVRTC's; None takes the first that is found.

    Returns:
        The folders.
    """
    for version, folders in _header_places():
        if release is None or version == release:
            return folders
    return ()
