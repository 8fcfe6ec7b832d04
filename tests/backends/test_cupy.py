"""The cupy backend from end to end: on a stand-in for CuPy everywhere, and on a GPU where there is one."""

import importlib
import subprocess
import sys

import numpy as np
import pytest
from helpers import mostly_slow

import teachconv as tc
from teachconv import backends
from teachconv.backends import cupy_backend
from teachconv.backends.cuda import compiling, ladder, sources
from teachconv.core.kinds import KINDS
from teachconv.data.seeded import make_array
from teachconv.running import dispatch
from teachconv.support import record
from teachconv.verification.cases import find_cases
from teachconv.verification.diffing import check_cases

pytestmark = pytest.mark.xdist_group("cuda")

CASES = find_cases("small")
SOME = CASES[::9]


@pytest.fixture(params=["stand-in", pytest.param("GPU", marks=pytest.mark.gpu)])
def cupy(request, cupy_forgotten):
    """CuPy or its stand-in, with no kernel loaded yet."""
    if request.param == "stand-in":
        return request.getfixturevalue("stand_in")
    if why := backends.why_not("cupy"):
        pytest.skip(why)
    return importlib.import_module("cupy")


def arrays(*shapes, dtype="float32", data="integers"):
    return [make_array(shape, dtype, data, f"cupy {i}") for i, shape in enumerate(shapes)]


@pytest.fixture
def xw():
    return arrays((2, 7, 6, 4), (3, 3, 4, 5))


def names(trace):
    return [stage.name for stage in trace.stages]


def notes(trace):
    return "\n".join(stage.note for stage in trace.stages)


@pytest.mark.parametrize("dtype", mostly_slow(["float32", "float16", "float64", "int64"], "float32"))
def test_cases_keep_their_bounds(cupy, dtype):
    """Host arrays in and out; on a GPU, test_backends.py also runs the whole table."""
    rows = check_cases([cupy_backend], dtype, "integers" if dtype == "int64" else "normal", SOME)
    assert len(rows) >= 20
    assert not [row for row in rows if row.passed is False]


@pytest.mark.parametrize("bits", [0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001, 0x7FC00000, 0x7F800000])
def test_no_nan_is_lost_in_tf32(cupy, bits):
    """0x7fffffff is the NaN that a GPU's own arithmetic makes; half a unit more, and it were finite."""
    x, w = arrays((1, 7, 7, 16), (3, 3, 16, 16))
    x.view(np.uint32)[0, 1, 1, 5] = bits
    want, ran = tc.conv2d(x, w, padding="SAME", backend="reference"), []
    for rung in ladder.ALGORITHMS:
        if rung.error == "tf32" and not cupy_backend.lacks(rung.name, "float32", x):
            how = {"algorithm": rung.name, "precision": "tf32", "backend": "cupy"}
            got = tc.conv2d(cupy.asarray(x), cupy.asarray(w), padding="SAME", **how).get()
            assert np.array_equal(got, want, equal_nan=True), rung.name
            ran.append(rung.name)
    assert ran


@pytest.mark.parametrize("case", CASES[::4], ids=lambda case: f"{case.op} {case.name}".replace(" ", "-"))
def test_device_arrays_stay_on_the_device(cupy, case):
    for problem in case.problems("float32", "integers"):
        given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in problem.args]
        kwargs = {k: cupy.asarray(a) if isinstance(a, np.ndarray) else a for k, a in problem.kwargs.items()}
        traced = tc.trace(problem.op, *given, **kwargs)
        assert isinstance(traced.result, cupy.ndarray)
        assert traced.backend == "cupy"
        assert not any(name.startswith("copy") for name in names(traced))
        want = problem.op(*problem.args, backend="reference", **problem.kwargs)
        assert np.array_equal(traced.result.get(), want)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
@pytest.mark.parametrize("place", ["host", "device"])
@pytest.mark.parametrize(
    ("sizes", "taps", "how"),
    [
        ((11,), (3,), {"strides": 2, "padding": "SAME", "dilations": 1}),
        ((4, 5, 6), (3, 2, 3), {"strides": (2, 1, 1), "padding": "SAME", "dilations": 1}),
        # two planes of the result lie wholly in the padding
        ((2, 3, 4), (2, 2, 2), {"strides": 1, "padding": ((3, 1), (0, 0), (1, 0)), "dilations": (2, 1, 1)}),
    ],
    ids=["sequence", "volume", "planes in the padding"],
)
def test_sequences_and_volumes(cupy, dtype, place, sizes, taps, how):
    """A convolution of one or three axes, in two groups, with bias; and its gradients."""
    x, w, bias = arrays((2, *sizes, 4), (*taps, 2, 6), (6,), dtype=dtype)
    there = cupy.asarray if place == "device" else np.asarray
    y = tc.convolution(x, w, **how, bias=bias, backend="reference")
    calls = (
        (tc.convolution, (x, w), {"bias": there(bias)}, y),
        (tc.convolution_backprop_input, (x.shape, w, y), {}, None),
        (tc.convolution_backprop_filter, (x, w.shape, y), {}, None),
    )
    for op, given, more, want in calls:
        want = op(*given, **how, backend="reference") if want is None else want
        moved = [there(one) if isinstance(one, np.ndarray) else one for one in given]
        got = op(*moved, **how, **more, backend="cupy")
        assert isinstance(got, cupy.ndarray if place == "device" else np.ndarray)
        assert np.array_equal(got.get() if place == "device" else got, want)


def test_host_arrays_are_copied_and_say_so(cupy, xw):
    traced = tc.trace(tc.conv2d, *xw, padding="SAME", bias=np.ones(5, "float32"), backend="cupy")
    assert isinstance(traced.result, np.ndarray)
    assert names(traced).count("copy to the device") == 3
    assert names(traced).count("copy to the host") == 1
    copied = [stage for stage in traced.stages if stage.name == "copy to the device"]
    assert [stage.nbytes for stage in copied] == [2 * 7 * 6 * 4 * 4, 9 * 20 * 4, 20]
    assert np.array_equal(traced.result, tc.conv2d(*xw, padding="SAME", bias=np.ones(5, "float32")))


def test_trace_shows_compilation_once_launches_and_time(cupy, xw):
    x, w = map(cupy.asarray, xw)
    first = tc.trace(tc.conv2d, x, w, algorithm="implicit_gemm")
    assert "compile implicit_gemm of implicit_gemm.cu" in names(first)
    assert "-DNUMBER_FLOAT32 -DKIND=Forward -DTILE_ROWS=64 -DTILE_COLS=64" in notes(first)
    assert "launch implicit_gemm" in names(first)
    assert "grid 1, block 256" in notes(first)
    assert "µs on the device" in notes(first)
    again = tc.trace(tc.conv2d, x, w, algorithm="implicit_gemm")
    assert not [name for name in names(again) if name.startswith("compile")]
    compiling.forget()  # as in a new process: the compiled source is found again
    assert "compiled earlier" in notes(tc.trace(tc.conv2d, x, w, algorithm="implicit_gemm"))
    assert "cublas gemm" in names(tc.trace(tc.conv2d, x, w, algorithm="im2col"))
    groups = cupy.asarray(np.ones((3, 3, 2, 4), "float32"))
    assert "cublas gemmStridedBatched" in names(tc.trace(tc.conv2d, x, groups, algorithm="im2col"))


def test_a_first_call_compiles_the_kernels_that_it_runs(stand_in):
    """One kernel at a time, and none twice for a second kind of call."""
    x, w, dy = arrays((1, 6, 6, 4), (3, 3, 4, 4), (1, 6, 6, 4))
    calls = {
        "forward": lambda **how: tc.conv2d(x, w, 1, "SAME", **how),
        "dx": lambda **how: tc.conv2d_backprop_input(x.shape, w, dy, 1, "SAME", **how),
    }
    nvrtc = stand_in.cuda.nvrtc
    for algorithm, (forward, dx) in {
        "im2col": (["TO_GROUPS", "TO_PATCHES", "FROM_GROUPS"], ["COL2IM"]),
        "winograd2": (["TRANSFORM_FILTER", "TRANSFORM_INPUT", "TRANSFORM_OUTPUT"], ["TRANSFORM_OUTPUT"]),
    }.items():
        for kind, want in (("forward", forward), ("dx", dx)):
            nvrtc.options.clear()
            calls[kind](backend="cupy", algorithm=algorithm)
            assert [options[1].removeprefix("-D") for options in nvrtc.options] == want
    nvrtc.options.clear()
    tc.depthwise_conv2d(x, w[..., :1], (1, 1, 1, 1), "SAME", backend="cupy")
    assert [options[1] for options in nvrtc.options] == ["-DDEPTHWISE_STRIPS"]


def test_the_choice_and_its_reason(cupy):
    for dtype, precision, channels, want in (
        ("float32", None, 32, "winograd2: 3x3 at stride 1"),
        ("float32", "fast", 32, "winograd4: "),
        ("float32", "strict", 32, "pipelined_gemm_float32: channels come in multiples of 4"),
        ("float32", "strict", 6, "implicit_gemm: the general default"),
        ("float32", "tf32", 32, "wgmma_gemm_tf32: TF32 was requested"),
        ("float32", "tf32", 6, "tensor_gemm_tf32: TF32 was requested"),
        ("float16", None, 32, "wgmma_gemm: a Hopper card has wgmma"),
        ("float16", None, 12, "tensor_gemm: tensor cores"),
        ("int32", None, 2, "direct: the other algorithms take no integers"),
    ):
        x, w = map(cupy.asarray, arrays((1, 4, 4, channels), (3, 3, channels, channels), dtype=dtype))
        traced = tc.trace(tc.conv2d, x, w, padding="SAME", precision=precision)
        assert want in notes(traced)
        assert traced.algorithm == want.split(":")[0]


def test_precision_tf32_belongs_to_cupy(xw):
    with pytest.raises(ValueError, match='precision must be None, "strict" or "fast"; got \'tf32\''):
        tc.conv2d(*xw, precision="tf32")


def test_products_do_not_depend_on_cupy_tf32(cupy, monkeypatch):
    """CUPY_TF32=1 makes CuPy's own matmul round to 11 bits; a default 3x3 call neither raises nor rounds."""
    monkeypatch.setenv("CUPY_TF32", "1")
    x, w = arrays((1, 6, 6, 32), (3, 3, 32, 32), data="normal")
    for algorithm in (None, "im2col"):
        report = tc.diff(tc.conv2d, x, w, padding="SAME", backends=["cupy"], algorithm=algorithm)
        assert report.passed


def test_products_copy_nothing(cupy):
    """A 1x1 at stride 1 is one product of the arrays themselves, and groups are matrices in one stack."""
    x, w, dy = arrays((2, 5, 4, 6), (1, 1, 6, 3), (2, 5, 4, 3))
    geometry = tc.conv2d_geometry(x.shape, w.shape)
    for kind in KINDS:
        job = ladder.schedule(kind, geometry, "float32", "im2col", None, False, False)
        assert len(job.steps) == 1
        assert job.scratch_bytes == 0
    got = tc.conv2d(cupy.asarray(x), cupy.asarray(w), bias=cupy.asarray(w[0, 0, 0]), algorithm="im2col")
    assert np.array_equal(got.get(), tc.conv2d(x, w, bias=w[0, 0, 0]))
    got = tc.conv2d_backprop_input(x.shape, *map(cupy.asarray, (w, dy)), algorithm="im2col")
    assert np.array_equal(got.get(), tc.conv2d_backprop_input(x.shape, w, dy))
    got = tc.conv2d_backprop_filter(cupy.asarray(x), w.shape, cupy.asarray(dy), algorithm="im2col")
    assert np.array_equal(got.get(), tc.conv2d_backprop_filter(x, w.shape, dy))


def test_a_later_call_starts_at_its_kernel(cupy, monkeypatch):
    """With the bits of the first, of all steps and of the reference, in a new array; a plan does so too."""
    x, w, dy = map(cupy.asarray, arrays((2, 7, 6, 32), (3, 3, 32, 32), (2, 7, 6, 32)))
    d, bias = map(cupy.asarray, arrays((3, 3, 32, 1), (32,)))
    calls = (
        (tc.conv2d, (x, w, 1, "SAME")),
        (tc.conv2d_backprop_input, (x.shape, w, dy, 1, "SAME")),
        (tc.conv2d_backprop_filter, (x, w.shape, dy, 1, "SAME")),
        (tc.depthwise_conv2d, (x, d, 1, "SAME")),
        (tc.plan(tc.conv2d, w, input_shape=x.shape, padding="SAME", bias=bias), (x,)),
    )
    for op, args in calls:
        first = op(*args)
        with record.recording() as stages:
            traced = op(*args)
        assert "an untraced call goes on at the kernel from here" in "\n".join(stage.note for stage in stages)
        with monkeypatch.context() as no_steps:
            no_steps.setattr(dispatch.PreparedCall, "_run", None)
            again = op(*args)
        assert again is not first
        host = [one.get() if isinstance(one, cupy.ndarray) else one for one in args]
        want = tc.conv2d(*host, w.get(), 1, "SAME", bias=bias.get()) if op is calls[-1][0] else op(*host)
        for got in (first, traced, again):
            assert np.array_equal(got.get(), want)


def test_host_arrays_and_odd_ones_take_all_steps(cupy, xw):
    """A kept kernel is not for arrays that are copied first, in steps that the trace shows."""
    x, w = map(cupy.asarray, xw)
    want = tc.conv2d(x, w).get()
    backwards = cupy.asarray(np.ascontiguousarray(xw[0][:, ::-1]))[:, ::-1]
    for _ in range(2):
        assert np.array_equal(tc.conv2d(*xw, backend="cupy"), want)
        assert np.array_equal(tc.conv2d(backwards, w).get(), want)
    assert "goes on at the kernel" not in notes(tc.trace(tc.conv2d, *xw, backend="cupy"))


def test_what_is_done_again_is_said(cupy, xw):
    x, w = xw
    x[1, 3, 3, 0] = np.inf
    traced = tc.trace(tc.conv2d, x, w, padding="SAME", backend="cupy", algorithm="winograd2")
    assert traced.algorithm == "winograd2, direct"
    assert "1 of 2 images recomputed by direct" in notes(traced)
    assert np.array_equal(traced.result, tc.conv2d(x, w, padding="SAME", backend="reference"), equal_nan=True)


def test_a_filter_gradient_that_is_done_again_is_said(cupy):
    x, dy = arrays((2, 6, 5, 3), (2, 6, 5, 4))
    clean = tc.trace(
        tc.conv2d_backprop_filter, x, (3, 3, 3, 4), dy, 1, "SAME", backend="cupy", algorithm="winograd2"
    )
    assert clean.algorithm == "winograd2"
    dy[1, 3, 3, 0] = np.inf
    want = tc.conv2d_backprop_filter(x, (3, 3, 3, 4), dy, 1, "SAME", backend="reference")
    traced = tc.trace(
        tc.conv2d_backprop_filter, x, (3, 3, 3, 4), dy, 1, "SAME", backend="cupy", algorithm="winograd2"
    )
    assert "108 of 108 cells recomputed by direct: infinity, NaN, or numbers out of the range" in notes(
        traced
    )
    assert np.array_equal(traced.result, want, equal_nan=True)


@pytest.mark.parametrize(
    "algorithm", ["tiled", "registers", "im2col", "implicit_gemm", "pipelined_gemm_float32"]
)
def test_cells_that_are_done_again_are_counted(cupy, algorithm):
    """An infinite weight times the zeros of the padding is NaN in the first row and column of its channel.

    With 32 channels several blocks share the depth, and add_splits decides.
    """
    for channels in (4, 32):
        x, w = arrays((1, 3, 3, channels), (3, 3, channels, channels))
        x[...] = 1
        clean = tc.trace(tc.conv2d, x, w, padding="SAME", backend="cupy", algorithm=algorithm)
        assert clean.algorithm == algorithm
        w[0, 0, 2, 1] = np.inf
        traced = tc.trace(tc.conv2d, x, w, padding="SAME", backend="cupy", algorithm=algorithm)
        assert traced.algorithm == f"{algorithm}, direct"
        assert f"5 of {9 * channels} cells recomputed by direct: their sums were NaN" in notes(traced)
        assert np.array_equal(traced.result, tc.conv2d(x, w, padding="SAME", backend="reference"))


# ---------------------------------------------------------------------------------------------
# Arrays: other libraries', out=, in the wrong place
# ---------------------------------------------------------------------------------------------


class Tensor:
    """Another library's array on a GPU, which supports only DLPack."""

    def __init__(self, on_host, on_device):
        self.on_host, self._on_device = on_host, on_device

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **how):
        return self._on_device.__dlpack__(**how)


def test_dlpack(cupy, xw):
    x, w = (Tensor(array, cupy.asarray(array)) for array in xw)
    got = tc.conv2d(x, w, 2)
    assert isinstance(got, cupy.ndarray)
    assert np.array_equal(got.get(), tc.conv2d(*xw, 2))


@pytest.mark.gpu
def test_torch_tensors(xw):
    if why := backends.why_not("cupy"):
        pytest.skip(why)
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no GPU")
    for dtype in ("float32", "bfloat16", "float16"):
        x, w = (torch.tensor(a, dtype=getattr(torch, dtype), device="cuda") for a in xw)
        got = tc.conv2d(x, w, 2)
        assert (got.device, got.dtype) == (x.device, x.dtype)
        assert np.array_equal(got.cpu().float().numpy(), tc.conv2d(*xw, 2))


def test_dialects_and_plans_on_the_device(cupy):
    x, w = arrays((2, 4, 6, 6), (4, 2, 3, 3))
    here = map(cupy.asarray, (x, w))
    got = tc.dialects.torch.conv2d(*here, stride=2, padding=1, groups=2)
    assert np.array_equal(got.get(), tc.dialects.torch.conv2d(x, w, stride=2, padding=1, groups=2))
    x, w = arrays((2, 5, 5, 3), (3, 3, 3, 4))
    plan = tc.plan(tc.conv2d, cupy.asarray(w), input_shape=(1, 5, 5, 3))
    assert np.array_equal(plan(cupy.asarray(x)).get(), tc.conv2d(x, w))
    with pytest.raises(ValueError, match="filters must be where input is, on the host; got one on GPU 0"):
        plan(x)


def test_out(cupy, xw):
    x, w = map(cupy.asarray, xw)
    want = tc.conv2d(*xw)
    out = cupy.zeros(want.shape, "float32")
    assert tc.conv2d(x, w, out=out) is out
    assert np.array_equal(out.get(), want)
    wide = cupy.zeros((*want.shape[:3], 10), "float32")
    tc.conv2d(x, w, out=wide[..., ::2])
    assert np.array_equal(wide.get()[..., ::2], want)
    assert not wide.get()[..., 1::2].any()
    with pytest.raises(TypeError, match="out must be a CuPy array, as the input; got ndarray"):
        tc.conv2d(x, w, out=np.zeros(want.shape, "float32"))
    with pytest.raises(ValueError, match="out must have shape"):
        tc.conv2d(x, w, out=cupy.zeros((1, 2), "float32"))
    with pytest.raises(ValueError, match="out must not overlap"):
        tc.conv2d(x, w[:1, :1, :, :4], out=x)


def test_arrays_in_two_places(cupy, xw):
    x, w = xw
    with pytest.raises(
        ValueError, match=r"filters must be where input is, on GPU 0; got one on the host: cupy\.as"
    ):
        tc.conv2d(cupy.asarray(x), w)
    with pytest.raises(ValueError, match="filters must be where input is, on the host; got one on GPU 0"):
        tc.conv2d(x, cupy.asarray(w))
    with pytest.raises(ValueError, match="bias must be where input is, on GPU 0; got one on the host"):
        tc.conv2d(cupy.asarray(x), cupy.asarray(w), bias=np.ones(5, "float32"))
    with pytest.raises(ValueError, match="backend 'numpy' works in the memory of the host"):
        tc.conv2d(cupy.asarray(x), cupy.asarray(w), backend="numpy")
    if cupy.cuda.runtime.getDeviceCount() > 1:
        with cupy.cuda.Device(1):
            w = cupy.asarray(w)
        with pytest.raises(ValueError, match="filters must be where input is, on GPU 0; got one on GPU 1"):
            tc.conv2d(cupy.asarray(x), w)
        with cupy.cuda.Device(1):
            assert tc.conv2d(cupy.asarray(x), w).device.id == 1


def test_dtypes_are_refused_by_name(cupy):
    x = cupy.asarray(np.ones((1, 4, 4, 1), np.int8))
    with pytest.raises(TypeError, match="input must have dtype .*; got int8"):
        tc.conv2d(x, x)
    x, w = map(cupy.asarray, arrays((1, 4, 4, 1), (3, 3, 1, 1), dtype="int32"))
    with pytest.raises(TypeError, match="'im2col'.*int32"):
        tc.conv2d(x, w, algorithm="im2col")


def test_empty(cupy):
    x, w = cupy.asarray(np.ones((0, 4, 4, 2), "float32")), cupy.asarray(np.ones((3, 3, 2, 5), "float32"))
    assert tc.conv2d(x, w).shape == (0, 2, 2, 5)
    x, w = cupy.asarray(np.ones((1, 4, 4, 0), "float32")), cupy.asarray(np.ones((3, 3, 0, 5), "float32"))
    got = tc.conv2d(x, w, bias=cupy.asarray(np.arange(5, dtype="float32")))
    assert np.array_equal(got.get(), np.broadcast_to(np.arange(5), (1, 2, 2, 5)))


def test_memory_that_is_not_there(cupy):
    x, w = map(cupy.asarray, arrays((1, 64, 64, 16), (3, 3, 16, 16)))
    pool = cupy.get_default_memory_pool()
    pool.set_limit(size=2_000_000)
    try:
        with pytest.raises(
            MemoryError, match=r"'im2col' needs 2\.\d+ MiB on the GPU, 2\.\d+ MiB of it scratch; .* free"
        ):
            tc.conv2d(x, w, padding="SAME", algorithm="im2col")
        got = tc.conv2d(x, w, padding="SAME", algorithm="direct")  # the pool is usable
    finally:
        pool.set_limit(size=0)
    assert np.array_equal(got.get(), tc.conv2d(x.get(), w.get(), padding="SAME"))


# ---------------------------------------------------------------------------------------------
# Looking at calls: everything works with arrays of the device
# ---------------------------------------------------------------------------------------------


def test_diff_explain_explore_and_autotune(cupy, xw):
    x, w = map(cupy.asarray, xw)
    ours = tc.conv2d(x, w, padding="SAME")
    report = tc.diff(tc.conv2d, x, w, padding="SAME", backends=["cupy"], against={"kernel": ours})
    assert report.passed
    assert {"direct", "im2col", "implicit_gemm", "winograd2", "winograd4"} <= {
        row.algorithm for row in report.rows
    }
    assert tc.explain(tc.conv2d, x, w, padding="SAME", at=(1, 2, 3, 4)).value == ours.get()[1, 2, 3, 4]
    assert np.array_equal(tc.explore(tc.conv2d, x, w, padding="SAME").result, ours.get())
    found = tc.autotune(tc.conv2d, x, w, padding="SAME", rounds=1, seconds=5)
    assert {item.backend for item in found} == {"cupy"}


def test_wrong_kernels_fail_the_diff(cupy, xw):
    x, w = map(cupy.asarray, xw)
    flipped = tc.conv2d(x, w[::-1, ::-1], padding="SAME")
    report = tc.diff(tc.conv2d, x, w, padding="SAME", backends=[], against={"mine": flipped})
    assert report.rows[-1].diagnosis.code == "flipped_filter"


def test_bfloat16(cupy):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x, w = (a.astype(ml_dtypes.bfloat16) for a in arrays((1, 5, 5, 3), (3, 3, 3, 4)))
    got = tc.conv2d(x, w, backend="cupy")
    assert got.dtype == ml_dtypes.bfloat16
    assert np.array_equal(got, tc.conv2d(x, w))


# ---------------------------------------------------------------------------------------------
# What is missing is said
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "want"),
    [
        (
            "cudaErrorInsufficientDriver: CUDA driver version is insufficient",
            "no NVIDIA driver that is new enough",
        ),
        ("cudaErrorNoDevice: no CUDA-capable device is detected", "no NVIDIA GPU"),
        ("cudaErrorUnknown: something", "CUDA cannot be initialised: cudaErrorUnknown"),
        (None, "no NVIDIA GPU"),
    ],
)
def test_what_is_missing(stand_in, xw, error, want):
    def count():
        if error:
            raise RuntimeError(error)
        return 0

    stand_in.cuda.runtime.getDeviceCount = count
    with pytest.raises(tc.BackendUnavailable, match=f"backend 'cupy' cannot run here: .*{want}"):
        tc.conv2d(*xw, backend="cupy")
    info = next(info for info in tc.backends() if info.name == "cupy")
    assert not info.available
    assert want in info.why_not


def test_cupy_itself_is_missing(cupy_forgotten, monkeypatch, xw):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(
        tc.BackendUnavailable, match=r"CuPy is not installed .*pip install teachconv\[gpu-cuda13\]"
    ):
        tc.conv2d(*xw, backend="cupy")
    with pytest.raises(TypeError, match="input lies on a GPU .*Tensor.*, where only the cupy backend works"):
        tc.conv2d(Tensor(*xw), xw[1])


def test_import_leaves_cupy_alone():
    code = (
        "import sys, teachconv, numpy; teachconv.conv2d(numpy.ones((1, 3, 3, 1)), numpy.ones((2, 2, 1, 1)));"
    )
    code += "print('cupy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


# ---------------------------------------------------------------------------------------------
# CuPy's own compiler module, which needs no GPU
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "dtype", "defines"),
    [
        ("direct.cu", "float32", ("KIND=Forward",)),
        ("pipelined_gemm.cu", "float16", ("KIND=Forward", "TILE_ROWS=128", "TILE_COLS=128")),
    ],
)
def test_cupy_compiles(file, dtype, defines):
    """The real bindings of NVRTC: a binary for a card that it knows, PTX for a newer one."""
    cupy = pytest.importorskip("cupy")
    why = ""
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as error:
        why = str(error)
    if why:
        pytest.skip(f"NVRTC: {why}")
    options = (*sources.defines(dtype, defines), "-std=c++17", *compiling._include_options(cupy, file, dtype))
    for arch, begin in ((90, b"\x7fELF"), (990, b"//\n// Generated by NVIDIA NVVM Compiler")):
        arch_option = compiling._arch_option(arch, cupy.cuda.nvrtc)
        made = compiling._compile(cupy.cuda.nvrtc, file, (*options, arch_option))
        assert made.startswith(begin)
