"""The CUDA sources as text for a compiler: headers put in where they are included, one dtype at a time."""

from __future__ import annotations

import os
import re
import shutil
import sys
from functools import lru_cache
from pathlib import Path

__all__ = [
    "FOLDER",
    "HALF_TYPES",
    "defines",
    "header_folders",
    "kernel_names",
    "needs_headers",
    "source_text",
]

FOLDER = Path(__file__).parent
HALF_TYPES = ("float16", "bfloat16")
_OWN_INCLUDE = re.compile(r'^#include "(\w+\.cuh)"$', re.MULTILINE)


@lru_cache(maxsize=32)
def source_text(file: str) -> str:
    """Return a source with our own headers put in, so that its text alone says whether it changed.

    ``#line`` keeps file and line of what a compiler says. CUDA's own headers stay included by name.
    """
    text = (FOLDER / file).read_text(encoding="utf-8")
    parts, position = [f'#line 1 "{file}"\n'], 0
    for found in _OWN_INCLUDE.finditer(text):
        after = text.count("\n", 0, found.end()) + 2
        parts.append(text[position : found.start()])
        parts.append(f'{source_text(found[1])}\n#line {after} "{file}"')
        position = found.end()
    return "".join([*parts, text[position:]])


def kernel_names(file: str) -> list[str]:
    """Return the kernels of a source, in order.

    >>> kernel_names("direct.cu")
    ['direct_forward', 'direct_input_gradient', 'direct_filter_gradient']
    """
    found = re.findall(r"__global__ void (?:__launch_bounds__\(\w+\) )?(\w+)\(", source_text(file))
    return list(found)


def defines(dtype: str, extra: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return the compiler options that choose the dtype, and whatever else a kernel is compiled for.

    >>> defines("float32", ("TILE=2",))
    ('-DNUMBER_FLOAT32', '-DTILE=2')
    """
    return (f"-DNUMBER_{dtype.upper()}", *(f"-D{name}" for name in extra))


def needs_headers(file: str, dtype: str) -> bool:
    """Whether CUDA's own headers are needed: for the half types, and for tensor cores."""
    return dtype in HALF_TYPES or "#include <mma.h>" in source_text(file)


@lru_cache(maxsize=1)
def header_folders() -> tuple[str, ...]:
    """Return the folder with cuda_fp16.h and mma.h as a tuple, or () where none is found.

    Looked for in order: ``CUDA_PATH`` and ``CUDA_HOME``; NVIDIA's packages from PyPI; the CUDA toolkit that
    ``nvcc`` belongs to; /usr/local/cuda.
    """
    roots = [Path(os.environ[name]) / "include" for name in ("CUDA_PATH", "CUDA_HOME") if name in os.environ]
    for place in map(Path, sys.path):
        roots += sorted(place.glob("nvidia/*/include"), reverse=True)
    compiler = shutil.which("nvcc")
    if compiler:
        roots.append(Path(compiler).resolve().parent.parent / "include")
    roots.append(Path("/usr/local/cuda/include"))
    for folder in roots:
        if all((folder / name).is_file() for name in ("cuda_fp16.h", "cuda_bf16.h", "mma.h", "crt/mma.h")):
            return (str(folder),)
    return ()
