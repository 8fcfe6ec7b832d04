"""cuDNN as an algorithm of the cupy backend, on stand-ins for CuPy and for NVIDIA's package; see tests/peers for plans."""

import sys

import numpy as np
import pytest
from fake_cudnn import ENGINES
from helpers import mostly_slow, only

import teachconv as tc
from teachconv import backends
from teachconv.backends import cupy_backend
from teachconv.backends.cuda import cudnn, ladder
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import FORWARD, KINDS
from teachconv.data.seeded import make_array
from teachconv.verification.cases import find_cases
from teachconv.verification.diffing import check_cases

pytestmark = pytest.mark.xdist_group("cuda")

CASES = find_cases("small")


@pytest.fixture
def alone(cudnn_stand_in):
    """The cupy backend with cuDNN as its one algorithm."""
    return only("cupy", cudnn.ALGORITHM)


def arrays(*shapes, dtype="float32", data="integers"):
    return [make_array(shape, dtype, data, f"cudnn {i}") for i, shape in enumerate(shapes)]


def stages(traced, name):
    return [stage for stage in traced.stages if stage.name == name]


@pytest.mark.parametrize("evenly", [False, True], ids=["any padding", "even padding only"])
@pytest.mark.parametrize(
    "dtype", mostly_slow(["float16", "float32", "bfloat16", "float64"], "float16", "float32")
)
def test_cases_keep_their_bounds(alone, cudnn_stand_in, dtype, evenly):
    """All three kinds over one to three axes: groups, depthwise, dilation, strides, crops, bias."""
    cudnn_stand_in.pads_evenly = evenly
    rows = check_cases([alone], dtype, "normal", CASES)
    assert len(rows) > 100
    assert not [row for row in rows if not row.passed]
    assert len(cudnn_stand_in.ran) > 200
    assert {stream for _, stream in cudnn_stand_in.ran} == {7}


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16", "float64"])
def test_cases_keep_their_bounds_on_a_gpu(dtype):
    if why := backends.why_not("cupy") or cudnn.unavailable():
        pytest.skip(why)
    rows = check_cases([only("cupy", cudnn.ALGORITHM)], dtype, "normal", CASES)
    assert len(rows) > 100
    assert not [row for row in rows if not row.passed]


@pytest.mark.parametrize(
    ("dtype", "precision", "taps", "engine", "error"),
    [
        ("float32", None, 3, "transforms", "winograd2"),
        ("float32", "fast", 3, "transforms", "winograd2"),
        ("float32", None, 5, "plain", "direct"),
        ("float32", "strict", 3, "plain", "direct"),
        ("float32", "tf32", 3, "tensor", "tf32"),
        ("float16", None, 3, "tensor", "tensor"),
        ("float16", "strict", 3, "plain", "direct"),
        ("bfloat16", "fast", 3, "tensor", "tensor"),
        ("float64", "tf32", 5, "tensor", "direct"),  # tensor cores round float64 as IEEE 754 does
    ],
)
def test_the_precision_bars_engines(cudnn_stand_in, dtype, precision, taps, engine, error):
    """Of six, some of which are wrong at random or round to TF32; and diff judges by the bound of those allowed."""
    x, w = arrays((1, 7, 6, 4), (taps, taps, 4, 8), dtype=dtype, data="normal")
    options = {"padding": "SAME", "algorithm": "cudnn", "precision": precision}
    traced = tc.trace(tc.conv2d, x, w, backend="cupy", **options)
    assert [one for one, _ in cudnn_stand_in.ran] == [engine]
    (stage,) = stages(traced, "cuDNN")
    nbytes = {"tensor": 96, "transforms": 64, "plain": 32}[engine]
    assert f"engine {engine}, workspace: {nbytes} bytes" in stage.note
    assert "µs on the device" in stage.note
    geometry = conv2d_geometry(x.shape, w.shape, 1, "SAME")
    assert cudnn.ALGORITHM.for_call(FORWARD, dtype, geometry, precision).error == error
    assert tc.diff(tc.conv2d, x, w, backends=["cupy"], **options).passed


def test_an_engine_that_is_not_barred_in_time_would_be_seen(cudnn_stand_in, monkeypatch):
    """The stand-in's engines are as wrong as their notes say, and the bounds are narrow enough to see it."""
    x, w = arrays((2, 9, 9, 8), (3, 3, 8, 8), data="normal")
    for engine in ("random", "tensor"):
        cudnn_stand_in.engines = [one for one in cudnn_stand_in.engines if one[0] == engine]
        monkeypatch.setattr(cudnn._Steps, "_barred", lambda self, note: [])
        report = tc.diff(tc.conv2d, x, w, backends=["cupy"], algorithm="cudnn", precision="strict")
        assert report.passed is False
        cudnn.schedule.cache_clear()
        cudnn_stand_in.engines = ENGINES


def test_the_trace_says_what_is_copied_and_why(cudnn_stand_in):
    x, w = arrays((2, 8, 8, 4), (3, 3, 4, 6))
    options = {"padding": ((0, 1), (2, 0)), "backend": "cupy", "algorithm": "cudnn"}
    alone = tc.trace(tc.conv2d, x, w, **options)
    assert alone.algorithm == "cudnn"
    assert [one.note.partition(";")[0] for one in stages(alone, "arrange in memory")] == [
        "out_channels first"
    ]
    cudnn.schedule.cache_clear()
    cudnn_stand_in.pads_evenly = True
    padded = tc.trace(tc.conv2d, x, w, **options)
    why = "with its padding: cuDNN has no padding ((0, 1), (2, 0))"
    assert [one.note.partition(";")[0] for one in stages(padded, "arrange in memory")][1] == why
    want = tc.conv2d(x, w, padding=options["padding"], backend="reference")
    assert np.array_equal(alone.result, want)
    assert np.array_equal(padded.result, want)


def test_rows_that_no_window_reaches_have_gradient_zero(cudnn_stand_in):
    """Stride 3 leaves over the last two rows, and a crop the first: all of dx is written, these with 0."""
    dy, w = arrays((1, 2, 2, 2), (2, 2, 2, 2))
    for padding in ("VALID", ((-1, 0), (0, 0))):
        options = {"strides": 3, "padding": padding}
        got = tc.conv2d_backprop_input((1, 7, 7, 2), w, dy, **options, backend="cupy", algorithm="cudnn")
        assert not got[0, -1].any()
        assert np.array_equal(
            got, tc.conv2d_backprop_input((1, 7, 7, 2), w, dy, **options, backend="reference")
        )


def test_half_types_are_rounded_once(cudnn_stand_in):
    """The bias of a transposed convolution is added in float32: 2048.5 + 1.5 is 2050, and 2048 + 1.5 would be 2048."""
    x, w = np.full((1, 1, 1, 2), [2048, 0.5], "float16"), np.ones((1, 1, 1, 2), "float16")
    for dtype, large in (("float16", 2048), ("bfloat16", 256)):
        x[..., 0] = large
        given = [array.astype(tc.core.dtypes.to_dtype(dtype)) for array in (x, w, np.full(1, 1.5))]
        options = {"output_shape": (1, 1, 1, 1), "algorithm": "cudnn", "backend": "cupy"}
        assert tc.conv2d_transpose(*given[:2], **options, strides=1, bias=given[2]) == large + 2


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_relu(cudnn_stand_in, dtype, bias):
    """In cuDNN's graph of the forward op, and after cuDNN of the input gradient."""
    x, w, dy, of_y, of_dx = arrays((1, 5, 5, 4), (3, 3, 4, 6), (1, 3, 3, 6), (6,), (4,), dtype=dtype)
    geometry, options = conv2d_geometry(x.shape, w.shape), {"algorithm": "cudnn", "activation": "relu"}
    y = cupy_backend.conv2d(x, w, geometry, bias=of_y if bias else None, **options)
    assert np.array_equal(y, np.maximum(tc.conv2d(x, w, bias=of_y if bias else None, backend="reference"), 0))
    dx = cupy_backend.conv2d_backprop_input(dy, w, geometry, bias=of_dx if bias else None, **options)
    want = tc.conv2d_backprop_input(x.shape, w, dy, backend="reference") + (of_dx if bias else 0)
    assert np.array_equal(dx, np.maximum(want, 0))
    assert (y == 0).any()
    assert (dx == 0).any()


def test_find_source_says_which_engine_ran(cudnn_stand_in):
    x, w = arrays((1, 7, 6, 4), (3, 3, 4, 8))
    chain = tc.find_source(tc.conv2d, x, w, 2, "SAME", dilations=1, backend="cupy", algorithm="cudnn")
    assert chain.steps[-1].what == "library"
    assert (chain.steps[-1].name, chain.steps[-1].note) == ("cuDNN 9.28.1", "plain")
    assert {line.mark for line in chain.lines if line.file} == {"stride", "padding", "multiply-add"}
    files = {line.file.rpartition("/")[2] for line in chain.lines if line.file}
    assert files == {"cudnn.py", "device.py"}


def test_a_plan_keeps_the_ordered_filter(cudnn_stand_in):
    x, w = arrays((2, 7, 6, 4), (3, 3, 4, 8))
    plan = tc.plan(tc.conv2d, w, input_shape=x.shape, backend="cupy", algorithm="cudnn")
    assert (plan.algorithm, plan.nbytes) == ("cudnn", w.nbytes)
    with tc.support.record.recording() as recorded:
        got = plan(x)
    assert "arrange in memory" not in [stage.name for stage in recorded]
    assert np.array_equal(got, tc.conv2d(x, w))
    w, dy, bias = arrays((3, 3, 4, 8), (2, 5, 4, 8), (4,), dtype="float16")
    shapes = {"input_shape": dy.shape, "output_shape": (2, 7, 6, 4)}
    plan = tc.plan(
        tc.conv2d_transpose, w, **shapes, bias=bias, backend="cupy", algorithm="cudnn", padding="VALID"
    )
    want = tc.conv2d_transpose(dy, w, shapes["output_shape"], padding="VALID", bias=bias, backend="reference")
    assert np.array_equal(plan(dy), want)


def test_it_is_never_the_choice(cudnn_stand_in):
    for kind in KINDS:
        for precision in (None, "strict", "fast", "tf32"):
            for channels in (1, 3, 64):
                g = conv2d_geometry((8, 56, 56, channels), (3, 3, channels, channels), 1, "SAME")
                assert ladder.choose(kind, g, "float32", precision)[0] != "cudnn"
    assert "cudnn" in [one.name for one in cupy_backend.ALGORITHMS]


# ---------------------------------------------------------------------------------------------
# What is missing
# ---------------------------------------------------------------------------------------------


def absent(cudnn_stand_in, monkeypatch):
    monkeypatch.setitem(sys.modules, "cudnn", None)


def unusable(cudnn_stand_in, monkeypatch):
    def missing():
        raise RuntimeError("Unable to find symbol cudnnCreate")

    monkeypatch.setattr(cudnn_stand_in, "create_handle", missing)


@pytest.mark.parametrize(
    ("lose", "reason"),
    [
        (
            absent,
            r"nvidia-cudnn-frontend is not installed or cannot be loaded: .*\(pip install teachconv\[cudnn\]\)",
        ),
        (
            unusable,
            "nvidia-cudnn-frontend is installed, but cannot use cuDNN or the GPU: Unable to find symbol",
        ),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(cudnn_stand_in, monkeypatch, lose, reason):
    lose(cudnn_stand_in, monkeypatch)
    x, w = arrays((1, 5, 5, 2), (3, 3, 2, 2))
    with pytest.raises(tc.BackendUnavailable, match=f"algorithm 'cudnn' cannot run here: {reason}"):
        tc.conv2d(x, w, backend="cupy", algorithm="cudnn")
    report = tc.diff(tc.conv2d, x, w)  # every backend that can run
    assert report.passed
    (row,) = (row for row in report.rows if row.algorithm == "cudnn")
    assert row.passed is None
    assert row.note.startswith(reason[:25].replace("\\", ""))
    assert tc.diff(tc.conv2d, x, w, backends=["cupy"], algorithm="cudnn").passed is None


def test_no_engine(cudnn_stand_in):
    x, w = arrays((1, 5, 5, 2), (3, 3, 2, 2))
    cudnn_stand_in.engines = [one for one in cudnn_stand_in.engines if one[1]]
    message = r"cannot compute this conv2d in float32: cuDNN 9\.28\.1 has no engine for it that precision='strict' allows; all have notes"
    with pytest.raises(ValueError, match=message):
        tc.conv2d(x, w, backend="cupy", algorithm="cudnn", precision="strict")


def test_without_a_gpu_it_is_the_backend_that_is_missing():
    if backends.why_not("cupy"):
        with pytest.raises(tc.BackendUnavailable, match="backend 'cupy' cannot run here"):
            tc.conv2d(*arrays((1, 4, 9, 2), (1, 3, 2, 2)), backend="cupy", algorithm="cudnn")
