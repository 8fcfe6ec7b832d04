"""The GPU's kernels, thread by thread on the host: the same .cu files and the same launches, judged by the bounds."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cuda_host import COMPILER, FLAGS, SHIM, Host, build_host, host_backend

import teachconv as tc
from teachconv.backends.cuda import ladder, launches, sources
from teachconv.data.seeded import make_array
from teachconv.geometry import conv2d_geometry
from teachconv.kinds import FORWARD, KINDS
from teachconv.truth import bounds
from teachconv.verification import diffing
from teachconv.verification.cases import CASES

pytestmark = pytest.mark.skipif(
    COMPILER is None or sys.platform == "win32", reason="needs a C++ compiler and ucontext.h"
)
NAMES = {algorithm.name: algorithm for algorithm in ladder.ALGORITHMS}
TESTS = Path(__file__).parents[1]


@pytest.fixture
def small_blocks(monkeypatch):
    """Small grids, little scratch and the largest tiles, to exercise what otherwise only large problems do."""
    ladder.schedule.cache_clear()
    monkeypatch.setattr(launches, "MOST_BLOCKS", 3)
    monkeypatch.setattr(ladder, "_BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(ladder, "_ENOUGH_TILES", 1)
    monkeypatch.setattr(ladder, "_REDO_BLOCKS", 1)
    yield
    ladder.schedule.cache_clear()


def failures(host, names, dtype, data="normal", cases=CASES):
    """Run cases with the algorithms that take the dtype; return the rows that failed, and how many ran."""
    module = host_backend(host, [NAMES[name] for name in names if dtype in NAMES[name].dtypes])
    rows = [row for row in diffing.check_cases([module], dtype, data, cases) if row.algorithm]
    return [(row.name, row.algorithm, row.bound_fraction, row.note) for row in rows if not row.passed], len(
        rows
    )


@pytest.mark.parametrize("name", [name for name in NAMES if "float32" in NAMES[name].dtypes])
def test_cases_in_float32(name, kernel_folder):
    failed, count = failures(Host(kernel_folder), [name], "float32")
    assert not failed
    assert count > 20


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "int32", "int64"])
def test_cases_in_other_dtypes(dtype, kernel_folder):
    failed, count = failures(
        Host(kernel_folder),
        NAMES,
        dtype,
        "integers" if dtype == "int64" else "normal",
        CASES[2 :: 5 if "16" in dtype else 3],
    )
    assert not failed
    assert count > 40


@pytest.mark.parametrize("data", ["integers", "scaled", "tiny", "huge", "nonfinite"])
def test_odd_data(data, kernel_folder):
    failed, count = failures(Host(kernel_folder), NAMES, "float32", data, CASES[::3])
    assert not failed
    assert count > 100
    if data != "integers":
        assert not failures(Host(kernel_folder), NAMES, "float16", data, CASES[::12])[0]
        assert not failures(Host(kernel_folder), NAMES, "float64", data, CASES[1::12])[0]


def test_small_integers_are_exact(kernel_folder):
    """Products and sums of small integers are exact, also on tensor cores and with TF32."""
    x, w = (
        make_array((2, 9, 8, 5), "float32", "integers", "x"),
        make_array((3, 2, 5, 7), "float32", "integers", "w"),
    )
    for dtype in ("float32", "float16"):
        want = tc.conv2d(x.astype(dtype), w.astype(dtype), 2, "SAME", backend="reference")
        module = host_backend(Host(kernel_folder))
        for algorithm in ladder.ALGORITHMS:
            if algorithm.fits(FORWARD, dtype, conv2d_geometry(x.shape, w.shape, 2, "SAME")):
                got = tc.conv2d(
                    x.astype(dtype), w.astype(dtype), 2, "SAME", backend=module, algorithm=algorithm.name
                )
                assert np.array_equal(got, want), algorithm.name


def test_blocks_tiles_and_grids_as_of_large_problems(kernel_folder, small_blocks):
    host = Host(kernel_folder)
    chosen = [
        case for case in CASES if case.name in ("many channels", "groups", "3x3 mid network", "7x7 stride 2")
    ]
    chosen += [
        case for case in CASES if case.name in ("same", "crop and pad", "depthwise stride 2", "explicit")
    ]
    failed, count = failures(host, NAMES, "float32", "normal", chosen)
    assert not failed
    assert count > 80
    assert not failures(host, ["tensor_gemm", "im2col"], "float16", "nonfinite", chosen[:4])[0]
    assert max(grid for _, grid, _ in host.launched) == 3


def test_large_tiles_are_used(kernel_folder, small_blocks):
    """The test above runs 8 x 8 sums per thread and 2 x 4 fragments per warp."""
    g = conv2d_geometry((1, 14, 14, 20), (3, 3, 20, 130), 1, "SAME")
    for name, want in (
        ("implicit_gemm", ("RM=8", "RN=8")),
        ("tensor_gemm_tf32", ("TILE_ROWS=128", "TILE_COLS=128")),
    ):
        assert (
            ladder.schedule(FORWARD, g, "float32", name, None, False, False).steps[0].kernel.defines == want
        )
    x, w = (
        make_array(g.input_shape, "float32", "integers", "x"),
        make_array(g.filters_shape, "float32", "integers", "w"),
    )
    want = tc.conv2d(x, w, padding="SAME", backend="numpy")
    for name in ("implicit_gemm", "tensor_gemm_tf32"):
        got = tc.conv2d(x, w, padding="SAME", backend=host_backend(Host(kernel_folder)), algorithm=name)
        assert np.array_equal(got, want)


@pytest.mark.parametrize("name", NAMES)
def test_bits_do_not_depend_on_the_order_of_threads(name, kernel_folder):
    """Both thread orders agree; a missing barrier or two threads adding to one cell would differ."""
    algorithm = NAMES[name]
    dtype = "float32" if "float32" in algorithm.dtypes else "float16"
    g = conv2d_geometry((2, 9, 11, 6), (3, 3, 1 if name == "depthwise" else 6, 12), 1, "SAME")
    arrays = [
        make_array(s, dtype, "normal", s_name)
        for s, s_name in ((g.input_shape, "x"), (g.filters_shape, "w"), (g.output_shape, "dy"))
    ]
    for kind, operands in zip(KINDS, ((0, 1), (2, 1), (0, 2)), strict=True):
        if kind in algorithm.kinds:
            first, second = (arrays[i] for i in operands)
            options = {"algorithm": name, "precision": None}
            runs = [
                getattr(host_backend(Host(kernel_folder, reverse)), kind.name)(first, second, g, **options)
                for reverse in (False, True)
            ]
            assert runs[0].tobytes() == runs[1].tobytes()


def test_the_images_of_a_batch_are_done_again_one_by_one(kernel_folder):
    """One image with a NaN is recomputed by direct; the bits of the others do not change."""
    g = conv2d_geometry((3, 7, 6, 4), (3, 3, 4, 5), 1, "SAME")
    x, w = (
        make_array(g.input_shape, "float32", "normal", "x"),
        make_array(g.filters_shape, "float32", "normal", "w"),
    )
    module = host_backend(Host(kernel_folder))
    clean = tc.conv2d(x, w, padding="SAME", backend=module, algorithm="winograd4")
    x[1, 3, 2, 1] = np.nan
    got = tc.conv2d(x, w, padding="SAME", backend=module, algorithm="winograd4")
    assert np.array_equal(got[[0, 2]], clean[[0, 2]])
    want = tc.conv2d(x, w, padding="SAME", backend="reference")
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert 0 < np.isnan(got).sum() < got[1].size


def test_relu_and_bias(kernel_folder):
    x, w = (
        make_array((1, 5, 6, 4), "float32", "integers", "x"),
        make_array((3, 3, 4, 6), "float32", "integers", "w"),
    )
    bias, module = make_array((6,), "float32", "integers", "b"), host_backend(Host(kernel_folder))
    call, _ = tc.nn_ops.call_of(tc.conv2d, (x, w), {"padding": "SAME", "bias": bias})
    want = tc.dispatch.run_canonical(call, "reference", activation="relu")
    for algorithm in ladder.ALGORITHMS:
        if algorithm.fits(FORWARD, "float32", call.geometry) and algorithm.name != "winograd4":
            got = tc.dispatch.run_canonical(call, module, algorithm.name, activation="relu")
            assert np.array_equal(got, want), algorithm.name


# ---------------------------------------------------------------------------------------------
# The shim itself: it can fail, and its half types are right
# ---------------------------------------------------------------------------------------------


def broken(file, old, new):
    """A source with one mistake made on purpose."""
    text = sources.source_text(file)
    assert old in text
    return {file: text.replace(old, new, 1)}


def orders_differ(kernel_folder, mistake):
    g = conv2d_geometry((1, 9, 9, 20), (3, 3, 20, 20), 1, "SAME")
    x, dy = (
        make_array(g.input_shape, "float32", "normal", "x"),
        make_array(g.output_shape, "float32", "normal", "dy"),
    )
    runs = []
    for reverse in (False, True):
        module = host_backend(Host(kernel_folder, reverse, mistake))
        runs.append(module.conv2d_backprop_filter(x, dy, g, algorithm="implicit_gemm", precision=None))
    return runs[0].tobytes() != runs[1].tobytes()


def test_a_missing_barrier_is_found(kernel_folder):
    barrier = "            __syncthreads();\n        }\n"  # after a chunk was fetched
    assert not orders_differ(kernel_folder, None)
    assert orders_differ(kernel_folder, broken("implicit_gemm.cu", barrier, "        }\n"))


def test_a_barrier_that_some_threads_miss_is_found(kernel_folder):
    mistake = broken("depthwise.cu", "        __syncthreads();\n", "        if (lane) __syncthreads();\n")
    g = conv2d_geometry((1, 4, 4, 3), (3, 3, 1, 3), 1, "SAME")
    x = np.ones(g.input_shape, np.float32)
    with pytest.raises(AssertionError, match="part at a barrier"):
        host_backend(Host(kernel_folder, False, mistake)).conv2d_backprop_filter(
            x, x, g, algorithm="depthwise", precision=None
        )


def test_half_types_of_the_shim(tmp_path):
    """Every 16-bit pattern and every midpoint converts as in NumPy and ml_dtypes."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    source = f"""#include "{SHIM}"
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED void there(const unsigned short *from, float *to, int n, int is_bfloat) {{
    for (int i = 0; i < n; i++) to[i] = is_bfloat ? (float)__nv_bfloat16{{from[i]}} : (float)__half{{from[i]}};
}}
EXPORTED void back(const float *from, unsigned short *to, int n, int is_bfloat) {{
    for (int i = 0; i < n; i++) to[i] = is_bfloat ? __float2bfloat16_rn(from[i]).bits : __float2half_rn(from[i]).bits;
}}
EXPORTED void tf32(const float *from, float *to, int n) {{
    for (int i = 0; i < n; i++) to[i] = nvcuda::wmma::__float_to_tf32(from[i]);
}}
"""
    (tmp_path / "half.cpp").write_text(source)
    library = tmp_path / "half.so"
    subprocess.run([COMPILER, *FLAGS, "-o", str(library), str(tmp_path / "half.cpp")], check=True)
    shim = ctypes.CDLL(str(library))

    def call(function, array, dtype, *more):
        out = np.empty(array.shape, dtype)
        getattr(shim, function)(
            ctypes.c_void_p(array.ctypes.data), ctypes.c_void_p(out.ctypes.data), array.size, *more
        )
        return out

    patterns = np.arange(1 << 16, dtype=np.uint16)
    for is_bfloat, half in ((0, np.float16), (1, ml_dtypes.bfloat16)):
        with np.errstate(invalid="ignore", over="ignore"):
            wide = patterns.view(half).astype(np.float32)
            assert np.array_equal(call("there", patterns, np.float32, is_bfloat), wide, equal_nan=True)
            finite = np.sort(wide[np.isfinite(wide)]).astype(np.float64)
            midpoints = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
            for near in (
                midpoints,
                np.nextafter(midpoints, np.float32(np.inf)),
                np.float32([65519, 65520, 1e9, 3.4e38, -np.inf]),
            ):
                got = call("back", near, np.uint16, is_bfloat).view(half)
                assert np.array_equal(got, near.astype(half))
    numbers = make_array((1000,), "float32", "scaled", "tf32")
    rounded = call("tf32", numbers, np.float32)
    assert (np.abs(rounded - numbers) <= 2.0**-11 * np.abs(numbers)).all()
    assert (rounded.view(np.uint32) & 0x1FFF == 0).all()


# ---------------------------------------------------------------------------------------------
# AddressSanitizer
# ---------------------------------------------------------------------------------------------


def sanitized(*arguments):
    """Run tests/cuda/sanitize.py under AddressSanitizer; skip where the compiler has none."""
    found = subprocess.run(
        [COMPILER, "-print-file-name=libasan.so"], capture_output=True, text=True
    ).stdout.strip()
    if not os.path.isabs(found):
        pytest.skip("the compiler has no libasan.so")
    environment = os.environ | {"LD_PRELOAD": found, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0"}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    return subprocess.run(
        [sys.executable, str(TESTS / "cuda" / "sanitize.py"), *arguments],
        capture_output=True,
        text=True,
        env=environment,
    )


@pytest.mark.slow
def test_no_access_out_of_bounds():
    done = sanitized()
    assert done.returncode == 0, done.stderr[-3000:]
    assert "no fault" in done.stdout


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("direct.cu", "if (!p.has_input(in_row, in_col)) continue;", ""),
        ("depthwise.cu", "Sum sums[ROWS][LANES]", "Sum sums[ROWS - 1][LANES]"),
    ],
)
def test_access_out_of_bounds_is_found(file, old, new):
    done = sanitized(file, old, new)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr


def test_bounds_of_tensor_cores_are_larger():
    assert bounds.tensor(np.ones(()), 9, "float16") > bounds.direct(np.ones(()), 9, "float16")
    assert bounds.tf32(np.ones(()), 9, 1.0) > bounds.tensor(np.ones(()), 9, "float32")


def test_a_source_is_compiled_once(tmp_path):
    first, other = (sources.defines(dtype) for dtype in ("float32", "float64"))
    assert build_host(tmp_path, "helpers.cu", first) == build_host(tmp_path, "helpers.cu", first)
    assert build_host(tmp_path, "helpers.cu", first) != build_host(tmp_path, "helpers.cu", other)
