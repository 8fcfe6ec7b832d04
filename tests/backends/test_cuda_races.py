"""No two threads of a block race, and every barrier and every wait is needed: without it, a test here fails."""

import re
import sys

import numpy as np
import pytest
from cuda_host import COMPILER, Host, host_backend
from cuda_races import RaceError, Racer, has_thread_sanitizer

from teachconv.backends import get
from teachconv.backends.cuda import gemm, ladder, sources
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD
from teachconv.data.seeded import make_array

pytestmark = [
    pytest.mark.xdist_group("gpu_on_the_host"),
    pytest.mark.slow,
    pytest.mark.skipif(
        COMPILER is None or sys.platform != "linux" or not has_thread_sanitizer(),
        reason="needs a C++ compiler with ThreadSanitizer",
    ),
]
SYNCHRONISES = re.compile(r"__syncthreads\(\);|__syncwarp\(\);|__pipeline_wait_prior\(STAGES - 2\);")
DENSE = conv2d_geometry((2, 9, 8, 16), (3, 3, 16, 24), 1, "SAME")
DEPTHWISE = conv2d_geometry((2, 9, 8, 24), (3, 3, 1, 24), 1, "SAME")
# the two widths of pipelined_gemm's tiles: each is 5 chunks of halves and 9 of floats deep, more than it has stages
NARROW = conv2d_geometry((1, 9, 8, 32), (3, 3, 32, 24), 1, "SAME")
WIDE = conv2d_geometry((1, 9, 8, 16), (3, 3, 16, 72), 1, "SAME")
RUNS = {  # source: algorithm, dtype, geometry
    "tiled.cu": ("tiled", "float32", DENSE),
    "registers.cu": ("registers", "float32", DENSE),
    "implicit_gemm.cu": ("implicit_gemm", "float32", DENSE),
    "tensor_gemm.cu": ("tensor_gemm", "float16", DENSE),
    "pipelined_gemm.cu": ("pipelined_gemm", "float16", NARROW),
    "depthwise.cu": ("depthwise", "float32", DEPTHWISE),
}
MORE = [
    ("pipelined_gemm_float32", "float32", NARROW),
    ("pipelined_gemm_tf32", "float32", NARROW),
    ("pipelined_gemm", "float16", WIDE),
    ("pipelined_gemm_float32", "float32", WIDE),
    ("pipelined_gemm_tf32", "float32", WIDE),
]
TALL = [run for run in MORE if run[2] is WIDE and run[0] != "pipelined_gemm_float32"]


def run(machine, kind, algorithm, dtype, g):
    """Run a kind of call on small integers, which every algorithm adds exactly; return whether all is right."""
    x, w, dy = (
        make_array(shape, dtype, "integers", role)
        for role, shape in (("x", g.input_shape), ("w", g.filters_shape), ("dy", g.output_shape))
    )
    operands = (x, dy) if kind.sums_images else (x, w) if kind.gathers else (dy, w)
    got = getattr(host_backend(machine), kind.name)(*operands, g, algorithm=algorithm, precision=None)
    want = getattr(get("numpy"), kind.name)(*operands, g, algorithm=None, precision=None)
    return np.array_equal(got, want)


@pytest.mark.parametrize(
    "reverse",
    [
        pytest.param(False, id="first to last"),
        pytest.param(True, id="last to first", marks=pytest.mark.release),
    ],
)
@pytest.mark.parametrize(
    ("name", "dtype", "g"),
    [*RUNS.values(), *MORE],
    ids=lambda value: f"{value.filters_shape[3]} columns" if hasattr(value, "filters_shape") else value,
)
def test_no_two_threads_race(name, dtype, g, reverse, kernel_folder):
    for kind in next(one.kinds for one in ladder.ALGORITHMS if one.name == name):
        assert run(Racer(kernel_folder, reverse), kind, name, dtype, g)


@pytest.mark.parametrize(("name", "dtype", "g"), TALL, ids=["halves", "tf32"])
def test_nor_where_tiles_have_256_rows(name, dtype, g, kernel_folder, monkeypatch):
    monkeypatch.setattr(gemm, "MULTIPROCESSORS", 1)
    monkeypatch.setattr(gemm, "_SHORT_ON", ())
    ladder.schedule.cache_clear()
    machine = Racer(kernel_folder)
    assert all(run(machine, kind, name, dtype, g) for kind in (FORWARD, FILTER_GRADIENT))
    ladder.schedule.cache_clear()


def places():
    """Every barrier and every wait of the sources, as each kernel has it."""
    for file in sorted(path.name for path in sources.FOLDER.glob("*.cu")):
        if sources.arch_suffix(file):  # a tensor map has an address: test_cuda_wgmma.py has tests of its own
            continue
        for number, found in enumerate(SYNCHRONISES.finditer(sources.source_text(file))):
            yield pytest.param(file, number, id=f"{file}-{number}-{found[0].split('(')[0].strip('_')}")


@pytest.mark.parametrize(("file", "number"), list(places()))
def test_each_barrier_and_wait_is_needed(file, number, kernel_folder):
    text = sources.source_text(file)
    found = list(SYNCHRONISES.finditer(text))[number]
    mistake = {file: text[: found.start()] + ";" + text[found.end() :]}
    kind = FILTER_GRADIENT if file == "depthwise.cu" else FORWARD
    for machine in (Host(kernel_folder, False, mistake), Racer(kernel_folder, False, mistake)):
        try:
            if not run(machine, kind, *RUNS[file]):
                return
        except RaceError:
            return
    pytest.fail(f"{found[0]} could be removed from {file} unnoticed")


def test_every_kernel_with_a_barrier_is_looked_at():
    assert set(RUNS) == {param.values[0] for param in places()}
    assert {run[0] for run in (*RUNS.values(), *MORE)} <= {one.name for one in ladder.ALGORITHMS}
