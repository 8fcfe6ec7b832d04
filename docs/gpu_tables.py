"""Writes docs/gpu_tables.inc: what the machine code of the GPU's rungs says without a GPU.

    python docs/gpu_tables.py       (needs NVRTC and nvdisasm from PyPI: pip install ".[test,cuda-compiler]")

tests/backends/test_cuda_machine_code.py fails if the file is out of date, and holds the kernels to budgets.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TARGET = HERE / "gpu_tables.inc"
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "tools")]

from cuda_compilers import Kept  # noqa: E402
from cuda_machine_code import (  # noqa: E402
    Loop,
    blocks_per_multiprocessor,
    main_loop,
    resources,
)

from teachconv.backends.cuda import ladder, sources  # noqa: E402
from teachconv.core.geometry import conv2d_geometry  # noqa: E402
from teachconv.core.kinds import FORWARD  # noqa: E402

ARCHS = (80, 90)
# The multiply-adds a cycle of one multiprocessor's units, from NVIDIA's white papers on A100 and H100. Its
# four schedulers issue one instruction a cycle each.
RATES = {
    ("FFMA", "float32", 80): 64,
    ("FFMA", "float32", 90): 128,
    ("HMMA", "float16", 80): 1024,
    ("HMMA", "float16", 90): 2048,
    ("HMMA", "float32", 80): 512,  # TF32
    ("HMMA", "float32", 90): 1024,
}
RUNGS = (  # algorithm, dtype, channels
    ("direct", "float32", 256),
    ("tiled", "float32", 256),
    ("registers", "float32", 256),
    ("implicit_gemm", "float32", 256),
    ("pipelined_gemm_float32", "float32", 256),
    ("pipelined_gemm_float32", "float32", 64),
    ("depthwise", "float32", 256),
    ("tensor_gemm", "float16", 256),
    ("pipelined_gemm", "float16", 256),
    ("pipelined_gemm", "float16", 64),
    ("pipelined_gemm", "bfloat16", 256),
    ("tensor_gemm_tf32", "float32", 256),
    ("pipelined_gemm_tf32", "float32", 256),
    ("pipelined_gemm_tf32", "float32", 64),
)
ROUNDS = {"pipelined_gemm_float32": 4}  # of the innermost loop, for a step of the one around it; else 1


def digest() -> str:
    """Return a digest of all sources, which shows whether the tables belong to them."""
    files = sorted(sources.FOLDER.glob("*.cu*"))
    return hashlib.sha256("".join(path.read_text(encoding="utf-8") for path in files).encode()).hexdigest()[
        :16
    ]


def measure(compiler: Any, algorithm: str, dtype: str, channels: int, arch: int) -> tuple[Loop, int, int]:
    """Return the main loop, registers and shared memory of a rung's forward kernel on a layer."""
    depth = 1 if algorithm == "depthwise" else channels
    g = conv2d_geometry((64, 28, 28, channels), (3, 3, depth, channels), 1, "SAME")
    step: Any = ladder.schedule(FORWARD, g, dtype, algorithm, None, False, False, arch).steps[0]
    kernel = step.kernel
    options = [*sources.defines(dtype, kernel.defines), f"-arch=sm_{arch}", "-std=c++17"]
    cubin, log = compiler.binary(sources.source_text(kernel.file), kernel.file, options)
    assert cubin, log
    taken = resources(cubin)[kernel.name]
    assert taken.stack == 0, f"{algorithm} spills"
    loop = main_loop(compiler.text(cubin), kernel.name, ROUNDS.get(algorithm, 1))
    return loop, taken.registers, step.shared + taken.shared


def row(compiler: Any, algorithm: str, dtype: str, channels: int, arch: int) -> str:
    """Return a line of the table."""
    loop, registers, shared = measure(compiler, algorithm, dtype, channels, arch)
    each = loop.instructions / loop.counts[loop.operation]
    rate = RATES[loop.operation, "float16" if dtype == "bfloat16" else dtype, arch]
    ceiling = min(1.0, 4 * loop.macs / each / rate)
    bytes_ = " or ".join(map(str, sorted(set(loop.loads)))) or "–"
    blocks = blocks_per_multiprocessor(arch, registers, shared)
    return (
        f"| `{algorithm}`{' (bfloat16)' if dtype == 'bfloat16' else ''}"
        f"{', 64 channels' if channels == 64 else ''} | "
        f"{loop.counts[loop.operation]} {loop.operation} of {loop.instructions} | "
        f"{loop.macs} | {each:.1f} | {bytes_} | {registers} | {shared / 1024:.0f} | {blocks} | "
        f"{ceiling:.0%} |"
    )


def tables(compiler: Any) -> str:
    """Return the tables as Markdown."""
    parts = [f"<!-- made by docs/gpu_tables.py from sources {digest()}; do not edit -->"]
    for arch in ARCHS:
        parts.append(
            f"\nsm_{arch}:\n\n"
            "| rung | inner loop | multiply-adds of one | instructions for one | bytes per load | "
            "registers | shared KiB | blocks | ceiling |\n" + "|---" * 9 + "|"
        )
        parts += [row(compiler, *rung, arch) for rung in RUNGS]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        TARGET.write_text(tables(Kept(folder)), encoding="utf-8")
    print(TARGET)
