"""Describes the machine and measures its ceilings: matrix product, copy, and the overhead of a call."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import teachconv as tc

# What holds a run to an instruction set: teachconv; oneDNN, in PyTorch and TensorFlow; PyTorch's own loops;
# NumPy. ONNX Runtime has no such variable, and JAX's (XLA_FLAGS) does not hold its convolutions.
HELD = ("TEACHCONV_ISA", "ONEDNN_MAX_CPU_ISA", "ATEN_CPU_CAPABILITY", "OPENBLAS_CORETYPE")


def facts_of_run(script: str, argv: Sequence[str] | None) -> dict[str, Any]:
    """Return what a page says of a run: its command, the date, and the machine; versions are added later."""
    return {
        "command": command_of(script, argv),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": describe(),
        "versions": {},
    }


def command_of(script: str, argv: Sequence[str] | None) -> str:
    """Return the command of a run as a page shows it."""
    words = list(sys.argv[1:] if argv is None else argv)
    # a path on this machine means nothing to readers of the page
    words = [Path(word).name if word.startswith("/") else word for word in words]
    held = [f"{name}={os.environ[name]}" for name in HELD if name in os.environ]
    return shlex.join([*held, "python", script, *words])


def describe() -> dict[str, str]:
    """Return processor, caches, frequency governor and system, as far as they can be read."""
    held = os.environ.get("TEACHCONV_ISA")
    facts = {"processor": processor() + (f", held to {held}" if held else "")}
    lines = _read(Path("/proc/cpuinfo")).splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    shown = [flag for flag in ("avx2", "fma", "avx512f", "avx512_bf16", "amx_bf16") if flag in flags]
    if shown:
        facts["instruction sets"] = ", ".join(shown)
    caches = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
    if caches:
        texts = [f"L{_read(c / 'level')} {_read(c / 'type').lower()} {_read(c / 'size')}" for c in caches]
        facts["caches"] = ", ".join(texts)
    facts["governor"] = _read(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")) or "not readable"
    facts["processors"] = str(os.cpu_count())
    if hasattr(os, "getloadavg"):
        facts["load before the run"] = f"{os.getloadavg()[0]:.2f}"
    facts["system"] = f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    return facts


def processor() -> str:
    """Return the name of this machine's processor, as its system has it; a name alone, with its numbers."""
    pairs = [line.partition(":") for line in _read(Path("/proc/cpuinfo")).splitlines()]
    facts = {key.strip(): value.strip() for key, _, value in pairs}
    name = facts.get("model name") or platform.processor() or platform.machine()
    if "cpu family" not in facts or any(letter.isdigit() for letter in name):
        return name
    return f"{name} (family {facts['cpu family']}, model {facts['model']})"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def ceilings(size: int = 1536, megabytes: int = 128) -> dict[str, float]:
    """Return GFLOP/s of a large matrix product in each dtype, and GB/s of a copy (bytes read and written).

    The product takes teachconv's number of threads: BLAS started its own before this process was pinned.
    """
    found = {}
    for dtype in ("float32", "float64"):
        a, b = np.ones((size, size), dtype), np.ones((size, size), dtype)
        product = np.empty_like(a)
        with threadpool_limits(tc.get_num_threads(), user_api="blas"):
            seconds = _best(lambda a=a, b=b, product=product: np.matmul(a, b, out=product))
        found[f"gemm {dtype} GFLOP/s"] = 2 * size**3 / seconds / 1e9
    source = np.ones(megabytes << 17)
    target = np.empty_like(source)
    found["copy GB/s"] = 2 * source.nbytes / _best(lambda: np.copyto(target, source)) / 1e9
    return found


def call_overhead() -> float:
    """Return the seconds of a conv2d call on an 8x8x1 image: arguments, geometry, allocation and kernel."""
    x, w = np.ones((1, 8, 8, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)
    return _best(lambda: tc.conv2d(x, w, backend="cython"), 2000)


def _best(run: Callable[[], Any], repeats: int = 7) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
