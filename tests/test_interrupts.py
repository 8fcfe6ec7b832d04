"""Ctrl-C ends a call soon: no step that Python cannot interrupt is long."""

import os
import select
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import blocks, numpy_backend, reference, scipy_backend, why_not
from teachconv.running import dispatch

HALF_A_SECOND = 2 << 30  # multiply-adds: BLAS has some 4 billion a second on a slow processor's core
LOOPS = 128 << 20  # the same of SciPy's loops; of NumPy's a quarter

# ---------------------------------------------------------------------------------------------
# No step is long
# ---------------------------------------------------------------------------------------------

PATIENCE = 15  # seconds until an answer, on a machine that does much else

LARGE = [
    tc.conv2d_geometry((1, 512, 512, 64), (3, 3, 64, 256), 1, "SAME"),
    tc.conv2d_geometry((64, 56, 56, 256), (3, 3, 256, 256), 2, "SAME"),
    tc.conv2d_geometry((3, 4000, 3000, 64), (5, 5, 1, 64), 1, 2),
    tc.conv2d_geometry((1, 1, 10**8, 1), (1, 999, 1, 4), 1, "SAME"),
    tc.conv2d_geometry((2, 300, 300, 3), (100, 100, 3, 50), 1, "SAME", dilations=2),
]


@pytest.mark.parametrize("geometry", LARGE, ids=lambda geometry: str(geometry.filters_shape))
@pytest.mark.parametrize("dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow), "uint32"])
def test_no_product_of_numpy_is_long_and_every_place_has_its_turn(geometry, dtype):
    dtype, size = np.dtype(dtype), geometry.batch * geometry.rows.out_size * geometry.cols.out_size
    channels = geometry.filters_shape[2] * geometry.out_channels
    most = HALF_A_SECOND if dtype.kind == "f" else LOOPS // 4
    per_place = geometry.macs // size
    found = list(numpy_backend._patch_blocks(geometry, dtype))
    assert max(block.geometry.macs for block in found) <= most
    assert sum(block.geometry.macs for block in found) == geometry.macs
    patches = max(block.geometry.macs // per_place for block in found) * per_place // geometry.out_channels
    assert patches * geometry.groups * dtype.itemsize <= 64 << 20
    assert len({(*map(str, block.outputs),) for block in found}) == len(found)
    of_taps = {id(block): block.geometry for block, *_ in numpy_backend._each_tap(geometry, dtype)}
    taps = geometry.rows.filter_size * geometry.cols.filter_size
    assert max(part.macs // taps for part in of_taps.values()) <= most
    assert channels * taps == per_place


@pytest.mark.parametrize("places", [1, 3, 7, 20, 23, 46, 1000])
@pytest.mark.parametrize("stride", [1, 2, 5])
def test_blocks_are_parts_of_the_convolution(places, stride):
    geometry = tc.conv2d_geometry((3, 9, 11, 1), (3, 2, 1, 1), stride, ((4, 1), (0, 5)), dilations=2)
    x, w = np.random.default_rng(1).integers(-9, 9, (2, 3, 9, 11, 1))[0], np.int64([[[[1]], [[-2]]]] * 3)
    y, whole = np.full(geometry.output_shape, 99), reference.conv2d(x, w, geometry)
    for block in blocks(geometry, places):
        part = block.geometry
        assert part.batch * part.rows.out_size * part.cols.out_size <= max(1, places)
        assert (y[block.outputs] == 99).all()
        y[block.outputs] = reference.conv2d(np.ascontiguousarray(x[block.inputs]), w, part)
    assert np.array_equal(y, whole)


@pytest.mark.parametrize(
    ("backend", "algorithm", "limits"),
    [
        (numpy_backend, "im2col", {"_BLOCK_BYTES": 4000}),
        (numpy_backend, "taps", {"_BLOCK_MACS": {"f": 300, "u": 100}}),
        (scipy_backend, "sparse", {"_BLOCK_ENTRIES": 300}),
        (scipy_backend, "direct", {"_BLOCK_MACS": 300}),
        (scipy_backend, "fft", {"_BLOCK_POINTS": 60}),
    ],
)
def test_a_call_in_many_blocks_passes_its_diff(backend, algorithm, limits, monkeypatch):
    rng = np.random.default_rng(4)
    x, w, dy = (rng.standard_normal(shape) for shape in ((3, 12, 13, 4), (3, 4, 2, 6), (3, 6, 7, 6)))
    for name, value in limits.items():
        monkeypatch.setattr(backend, name, value)
    for op, args in (
        (tc.conv2d, (x, w)),
        (tc.conv2d_backprop_input, (x.shape, w, dy)),
        (tc.conv2d_backprop_filter, (x, w.shape, dy)),
    ):
        assert tc.diff(op, *args, 2, "SAME", backends=backend, algorithm=algorithm).passed


def test_no_correlation_of_scipy_is_long():
    for sizes, kernel in (
        ((4000, 3000), (50, 60)),
        ((1, 10**8), (1, 99)),
        ((10**5, 10**5), (1, 1)),
        ((9, 9), (3, 3)),
    ):
        rows, cols = scipy_backend._tile(sizes, kernel, "direct")
        assert rows * cols * kernel[0] * kernel[1] <= LOOPS
        rows, cols = (
            min(pair) for pair in zip(scipy_backend._tile(sizes, kernel, "fft"), sizes, strict=True)
        )
        assert (rows + kernel[0] - 1) * (cols + kernel[1] - 1) <= 4 << 20
        assert rows >= min(kernel[0], sizes[0])
        assert cols >= min(kernel[1], sizes[1])


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("loop", [1, 3000, 30_000])
def test_cython_in_many_calls_of_its_kernels_has_the_same_bits(threads, loop, monkeypatch):
    cython = tc.backends.get("cython")
    rng = np.random.default_rng(5)
    x, w, dy = (
        rng.standard_normal(shape, "float32") for shape in ((7, 9, 10, 8), (3, 3, 8, 8), (7, 9, 10, 8))
    )
    tc.set_num_threads(threads)

    def results():
        for algorithm in ("direct", "row_gemm", "winograd2", "winograd4", "im2col", None):
            yield tc.conv2d(x, w, 1, "SAME", algorithm=algorithm, backend="cython", precision="fast")
        for algorithm in ("direct", "phases", "col2im", "winograd2", None):
            yield tc.conv2d_backprop_input(x.shape, w, dy, 1, "SAME", algorithm=algorithm, backend="cython")
        for algorithm in ("direct", None):
            yield tc.conv2d_backprop_filter(x, w.shape, dy, 1, "SAME", algorithm=algorithm, backend="cython")
        yield tc.conv2d(x.astype("int32"), w.astype("int32"), 1, "SAME", backend="cython")
        yield tc.depthwise_conv2d(x, w[..., :1], padding="SAME", backend="cython")
        yield tc.plan(tc.conv2d, w, input_shape=x.shape, padding="SAME", backend="cython")(x)

    whole = list(results())
    for name, value in (("_LOOP_MACS", loop), ("_RUNG_MACS", 9 * 10 * 9 * 8 * 8 * 2)):
        monkeypatch.setattr(cython, name, value)
    dispatch._places.cache_clear()
    for before, after in zip(whole, results(), strict=True):
        assert before.tobytes() == after.tobytes()


# ---------------------------------------------------------------------------------------------
# A real SIGINT
# ---------------------------------------------------------------------------------------------

CALLS = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background a shell ignores the signal
import numpy as np
import teachconv as tc
import scipy.signal, scipy.sparse

def call(backend, algorithm, x, w, dtype):
    x, w = np.zeros(x, dtype), np.zeros(w, dtype)
    tc.conv2d(x, w, backend=backend, algorithm=algorithm)

for line in sys.stdin:
    backend, algorithm, x, w, dtype = eval(line)
    call(backend, algorithm, (1, 2, 2, 1), (1, 1, 1, 1), dtype)  # an import could swallow the signal
    print("begins", flush=True)
    try:
        call(backend, algorithm, x, w, dtype)
        print("ended", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
# Each takes minutes; a step of numpy, of scipy's direct, of the reference and of cython's loops took half a minute or
# more of them
MINUTES = [
    ("numpy", "im2col", (1, 128, 64, 4096), (1, 1, 4096, 4096), "int32"),
    ("numpy", "taps", (1, 128, 64, 4096), (1, 1, 4096, 4096), "int32"),
    ("scipy", "sparse", (1, 512, 512, 64), (3, 3, 64, 64), "float32"),
    ("scipy", "direct", (1, 3000, 3000, 1), (200, 200, 1, 1), "float32"),
    ("scipy", "fft", (1, 1500, 1500, 16), (99, 99, 16, 32), "float32"),
    ("reference", "direct", (1, 66, 66, 64), (3, 3, 64, 1024), "float32"),
    ("cython", "direct", (1, 128, 64, 8192), (1, 1, 8192, 8192), "int32"),
]


@pytest.mark.skipif(sys.platform == "win32", reason="a process on Windows is sent no SIGINT")
def test_ctrl_c_ends_a_call_long_before_its_end():
    env = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    child = subprocess.Popen(
        [sys.executable, "-c", CALLS], env=env, stdin=-1, stdout=-1, text=True, bufsize=1
    )

    def answer():
        ready, _, _ = select.select([child.stdout], [], [], PATIENCE)
        return child.stdout.readline().strip() if ready else f"no answer for {PATIENCE} seconds"

    try:
        for line in MINUTES:
            if why_not(line[0]):
                continue
            child.stdin.write(f"{line}\n")
            assert answer() == "begins"
            time.sleep(0.4)
            child.send_signal(signal.SIGINT)
            assert answer() == "interrupted", line
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()
