"""The cupy backend on other cards, on several of them, and next to other libraries: on the stand-in for CuPy."""

import gc
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import cupy_backend
from teachconv.backends.cuda import compiling, ladder, sources
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, KINDS
from teachconv.data.seeded import make_array
from teachconv.dialects import jax
from teachconv.inspection import marks
from teachconv.running import planning
from teachconv.support import devices

pytestmark = pytest.mark.xdist_group("cuda")


def arrays(*shapes, dtype="float32", data="integers"):
    return [make_array(shape, dtype, data, f"cupy {i}") for i, shape in enumerate(shapes)]


@pytest.fixture
def xw():
    return arrays((2, 7, 6, 8), (3, 3, 8, 8))


@pytest.fixture
def card(stand_in, monkeypatch):
    """Make the stand-in a card of another compute capability."""

    def set_capability(capability):
        monkeypatch.setattr(stand_in.cuda.Device, "compute_capability", capability)
        compiling.forget()
        return stand_in

    return set_capability


# ---------------------------------------------------------------------------------------------
# Generations of cards
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arch", "dtype", "precision", "want"),
    [
        (75, "float16", None, "tensor_gemm"),
        (75, "bfloat16", None, "implicit_gemm"),
        (75, "float32", "tf32", "implicit_gemm"),
        (75, "float32", "strict", "implicit_gemm"),
        (60, "float16", None, "implicit_gemm"),
        (80, "bfloat16", None, "pipelined_gemm"),
        (90, "bfloat16", None, "wgmma_gemm"),
        (100, "bfloat16", None, "pipelined_gemm"),
        (100, "float32", "tf32", "pipelined_gemm_tf32"),
    ],
)
def test_the_default_runs_on_the_card(arch, dtype, precision, want):
    g = conv2d_geometry((1, 9, 9, 16), (5, 5, 16, 16), 1, "SAME")
    for kind in KINDS:
        name, _ = ladder.choose(kind, g, dtype, precision, arch)
        assert name == want
        assert not ladder.lacks(name, dtype, arch)


@pytest.mark.parametrize(
    ("kind", "batch", "size", "taps", "channels", "stride", "want"),
    [
        # measured: 3x3 with 64 channels is faster by the gemm where Winograd's tiles are more than a block
        (FORWARD, 8, 224, 3, (64, 64), 1, "pipelined_gemm_float32"),
        (INPUT_GRADIENT, 8, 224, 3, (64, 64), 1, "pipelined_gemm_float32"),
        (FORWARD, 1, 224, 3, (64, 64), 1, "winograd2"),
        (FORWARD, 8, 56, 3, (64, 64), 1, "winograd2"),
        (FORWARD, 8, 112, 3, (128, 128), 1, "winograd2"),
        (FORWARD, 64, 224, 3, (62, 62), 1, "winograd2"),
        (FORWARD, 8, 56, 1, (64, 256), 1, "im2col"),
        (FORWARD, 1, 45, 1, (95, 23), 1, "im2col"),
        (FORWARD, 8, 56, 1, (64, 256), 2, "pipelined_gemm_float32"),
        (FORWARD, 8, 14, 1, (1024, 256), 1, "pipelined_gemm_float32"),
        (INPUT_GRADIENT, 8, 56, 1, (64, 256), 1, "pipelined_gemm_float32"),
        # by winograd2 only on request: no card has run it
        (FILTER_GRADIENT, 1, 7, 3, (512, 512), 1, "pipelined_gemm_float32"),
        (FILTER_GRADIENT, 64, 56, 3, (62, 62), 1, "implicit_gemm"),
        (FILTER_GRADIENT, 8, 28, 3, (512, 512), 1, "pipelined_gemm_float32"),
        (FILTER_GRADIENT, 8, 112, 3, (128, 128), 2, "pipelined_gemm_float32"),
    ],
)
def test_the_choice_in_float32(kind, batch, size, taps, channels, stride, want):
    g = conv2d_geometry((batch, size, size, channels[0]), (taps, taps, *channels), stride, "SAME")
    assert ladder.choose(kind, g, "float32", None)[0] == want
    if kind is FILTER_GRADIENT:
        assert ladder.choose(kind, g, "float32", "fast")[0] == want
    assert "winograd" not in ladder.choose(kind, g, "float32", "strict")[0]
    if want == "im2col":
        assert ladder.choose(kind, g, "float32", "strict")[0] == want
        assert ladder.choose(kind, g, "float16", None)[0] != want
        assert ladder.choose(kind, g, "float16", "strict")[0] == "implicit_gemm"


def test_what_a_card_lacks_is_said_and_not_tried(card, xw):
    """On a T4, as in Colab: diff and autotune leave out what cannot run, and a request by name is an error."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    cupy = card("75")
    x, w = (a.astype(ml_dtypes.bfloat16) for a in xw)
    assert tc.trace(tc.conv2d, x, w, backend="cupy").algorithm == "implicit_gemm"
    with pytest.raises(ValueError, match=r"'tensor_gemm' needs a GPU of compute capability 8\.0 .* has 7\.5"):
        tc.conv2d(x, w, backend="cupy", algorithm="tensor_gemm")
    assert ladder.lacks("wgmma_gemm", "float16", 100) == (
        "a GPU of compute capability 9.0 for wgmma; this one has 10.0"
    )
    x, w = x[:, :, :, :3], w[:, :, :3]  # only a few algorithms take 3 channels
    report = tc.diff(tc.conv2d, x, w, backends=["cupy"])
    assert report.passed
    assert {"direct", "implicit_gemm"} <= {row.algorithm for row in report.rows}
    missing = {row.algorithm: row.note for row in report.rows if not row.compared}
    assert "tensor_gemm" in missing
    assert missing["tensor_gemm"].startswith("a GPU of compute capability 8.0 or higher for bfloat16")
    found = tc.autotune(tc.conv2d, *map(cupy.asarray, xw), padding="SAME", rounds=1, seconds=2)
    assert not [item for item in found if item.algorithm.startswith("pipelined")]


def test_an_old_card_is_refused_by_name(card, xw):
    card("61")
    with pytest.raises(tc.BackendUnavailable, match=r"capability 6\.1, and NVRTC 13\.0 supports 7\.5 or"):
        tc.conv2d(*xw, backend="cupy", algorithm="direct")


def test_a_card_that_nvrtc_does_not_know_gets_ptx(card, xw, monkeypatch):
    cupy = card("130")
    taken = []
    monkeypatch.setattr(cupy.cuda.nvrtc, "getPTX", lambda program: taken.append(1) or program.binary)
    tc.conv2d(*xw, backend="cupy", algorithm="direct")
    assert cupy.cuda.nvrtc.options[-1][-1] == "-arch=compute_90"
    assert taken


def test_headers_of_another_release_are_not_used(stand_in, xw, monkeypatch, tmp_path):
    """NVRTC 13 with the headers of CUDA 12: an error that names both."""
    (tmp_path / "include" / "crt").mkdir(parents=True)
    for name in sources._HEADERS:
        (tmp_path / "include" / name).touch()
    (tmp_path / "include" / "cuda_runtime_api.h").write_text("#define CUDART_VERSION  12080\n")
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    monkeypatch.setattr("sys.path", [])
    monkeypatch.setattr("shutil.which", lambda name: None)
    places = sources._header_places.__wrapped__()[:1]  # a toolkit of this machine aside
    monkeypatch.setattr(sources, "_header_places", lambda: places)
    assert sources.header_folders(12) == (str(tmp_path / "include"),)
    assert sources.header_folders(13) == ()
    with pytest.raises(tc.BackendUnavailable, match=r"NVRTC's release, CUDA 13, .* \(found: 12\)"):
        tc.conv2d(*(a.astype("float16") for a in xw), backend="cupy")


def test_two_threads_write_the_same_kernel(tmp_path, monkeypatch):
    """Both have written before either renames its file, which must not be the other's."""
    both, replace, errors = threading.Barrier(2), Path.replace, []
    monkeypatch.setattr(Path, "replace", lambda self, target: (both.wait(10), replace(self, target)))

    def keep():
        try:
            compiling._keep(tmp_path / "kernel.cubin", b"binary")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=keep) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert [path.name for path in tmp_path.iterdir()] == ["kernel.cubin"]


def test_a_missing_nvrtc_is_seen(stand_in, monkeypatch, xw):
    def missing():
        raise RuntimeError("libnvrtc.so.13: cannot open shared object file")

    monkeypatch.setattr(stand_in.cuda.nvrtc, "getVersion", missing)
    with pytest.raises(tc.BackendUnavailable, match=r"not NVRTC, which compiles the kernels: libnvrtc\.so"):
        tc.conv2d(*xw, backend="cupy")


# ---------------------------------------------------------------------------------------------
# Several cards, and memory
# ---------------------------------------------------------------------------------------------


def test_what_is_made_is_made_beside_the_input(stand_in):
    """An empty result, and the blank input of a plan, on a device that is not the current one."""
    with stand_in.cuda.Device(1):
        x = stand_in.asarray(np.ones((0, 4, 4, 2), "float32"))
        w = stand_in.asarray(np.ones((3, 3, 2, 5), "float32"))
    assert tc.conv2d(x, w).device.id == 1
    assert planning._blank((1, 4, 4, 2), w).device.id == 1
    plan = tc.plan(tc.conv2d, w, input_shape=(1, 4, 4, 2))
    with stand_in.cuda.Device(1):
        image = stand_in.asarray(np.ones((1, 4, 4, 2), "float32"))
    assert plan(image).device.id == 1
    for _ in range(2):
        assert tc.conv2d(stand_in.asarray(image.get()), stand_in.asarray(w.get())).device.id == 0
        assert tc.conv2d(image, w).device.id == 1


def test_a_volume_is_computed_where_it_is(stand_in):
    """Its planes are cut out, and its result made, on its own device, which is not the current one."""
    x, w, dy = arrays((1, 4, 5, 5, 4), (2, 3, 3, 4, 4), (1, 3, 3, 3, 4))
    for op, args in (
        (tc.conv3d, (x, w)),
        (tc.conv3d_backprop_input, (x.shape, w, dy)),
        (tc.conv3d_backprop_filter, (x, w.shape, dy)),
    ):
        with stand_in.cuda.Device(1):
            there = [stand_in.asarray(a) if isinstance(a, np.ndarray) else a for a in args]
        got = op(*there)
        assert got.device.id == 1
        assert np.array_equal(got.get(), op(*args))


def into_a_transposed_array(x, dy, out):
    """A gradient whose last two axes join, into an array where they are not next to each other."""
    out = out.transpose(2, 3, 1, 0)
    return tc.depthwise_conv2d_backprop_filter(x, out.shape, dy, out=out)


@pytest.mark.parametrize(
    ("call", "shapes"),
    [
        (lambda x, w: tc.conv2d(x, w, data_format="NCHW"), [(1, 4, 5, 5), (3, 3, 4, 6)]),
        (
            lambda x, w: jax.conv_general_dilated(x, w, (1, 1), ((1, 1), (1, 1)), (2, 1)),
            [(1, 4, 5, 5), (6, 4, 3, 3)],
        ),
        (lambda x: tc.pad(x, ((0, 0), (1, 1), (2, 0), (0, 0))), [(1, 5, 5, 2)]),
        (into_a_transposed_array, [(1, 5, 5, 4), (1, 3, 3, 8), (2, 4, 3, 3)]),
    ],
    ids=["channels first", "zeros between inputs", "padding", "out"],
)
def test_what_is_arranged_is_arranged_beside_the_input(call, shapes, stand_in):
    """On a device that is not the current one."""
    args = arrays(*shapes)
    with stand_in.cuda.Device(1):
        there = list(map(stand_in.asarray, args))
    got = call(*there)
    assert got.device.id == 1
    assert np.array_equal(got.get(), call(*args))


def test_a_plan_keeps_the_transformed_filter_on_the_gpu(stand_in, xw):
    x, w = arrays((2, 7, 6, 32), (3, 3, 32, 32), data="normal")
    for filters, image in ((w, x), (stand_in.asarray(w), stand_in.asarray(x))):
        plan = tc.plan(tc.conv2d, filters, input_shape=(1, 7, 6, 32), padding="SAME", backend="cupy")
        assert plan.algorithm == "winograd2"
        assert plan.nbytes == 16 * 32 * 32 * 4
        with tc.support.record.recording() as stages:
            got = plan(image)
        names = [stage.name for stage in stages]
        assert "launch transform_input" in names
        assert "launch transform_filter" not in names
        assert names.count("copy to the device") == (1 if filters is w else 0)
        again = tc.conv2d(image, filters, padding="SAME", backend="cupy")
        assert np.array_equal(devices.to_host(got), devices.to_host(again))
    x[0, 3, 3, 0] = np.inf
    got = tc.plan(tc.conv2d, w, input_shape=x.shape, padding="SAME", backend="cupy")(x)
    assert np.array_equal(got == np.inf, tc.conv2d(x, w, padding="SAME", backend="reference") == np.inf)


@pytest.mark.parametrize("shapes", [((1, 7, 6, 32), (3, 3, 32, 32)), ((1, 4, 5, 5, 4), (2, 3, 3, 4, 4))])
def test_a_plan_may_run_on_another_stream_than_made_it(shapes, stand_in, monkeypatch):
    """Its filter is copied and transformed on one stream; nothing but the plan orders another one behind it."""
    waited = []
    monkeypatch.setattr(
        type(stand_in.cuda.get_current_stream()), "synchronize", lambda self: waited.append(1)
    )
    op = tc.conv2d if len(shapes[0]) == 4 else tc.conv3d
    tc.plan(op, arrays(shapes[1])[0], input_shape=shapes[0], padding="SAME", backend="cupy")
    assert waited


def test_what_a_plan_keeps_is_held_until_all_streams_have_read_it(stand_in, monkeypatch):
    """CuPy gives its memory to the next array of the stream that made it, while another stream may still read."""
    kept, held = [], []

    def synchronize(device):
        held.extend(reference() is not None for reference in kept)

    monkeypatch.setattr(stand_in.cuda.Device, "synchronize", synchronize)
    x, w = arrays((1, 7, 6, 32), (3, 3, 32, 32))
    plan = tc.plan(tc.conv2d, w, input_shape=x.shape, padding="SAME", backend="cupy")
    plan(x)
    kept += map(weakref.ref, plan.packed.kept.values())
    del plan
    gc.collect()
    assert held == [True] * len(kept) == [True, True]
    assert [reference() for reference in kept] == [None, None]


def test_a_product_is_rounded_to_nothing_whatever_the_handle_says(stand_in):
    """TF32 as the math mode of CuPy's handle would break the bound of float32; it is what it was afterwards."""
    x, w = arrays((1, 6, 6, 8), (1, 1, 8, 8))
    cublas = stand_in.cuda.cublas
    assert cublas.math == 3
    traced = tc.trace(tc.conv2d, x, w, backend="cupy")
    assert traced.algorithm == "im2col"
    assert "cublas gemm" in [stage.name for stage in traced.stages]
    assert (cublas.math, cublas.mode) == (3, 1)
    assert "cuBLAS 130100" in str(tc.find_source(tc.conv2d, x, w, backend="cupy"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("far", [(1 << 20, 1), (1, 1 << 27)], ids=["rows", "columns"])
def test_offsets_from_far_outside_have_64_bits(far, kind):
    """A place in the padding, times columns and channels: beyond 2**31 though the arrays are small."""
    for dilations, wide in ((far, True), (1, False)):
        g = conv2d_geometry((1, 64, 128, 8), (3, 3, 8, 8), 1, "SAME", dilations=dilations)
        for name in ("implicit_gemm", "pipelined_gemm_float32"):
            step = ladder.schedule(kind, g, "float32", name, None, False, False).steps[0]
            assert ("WIDE" in step.kernel.defines) == wide


def test_arrays_at_odd_addresses(stand_in):
    """Kernels load 16 bytes at once; a view that begins between two of them is copied, and the trace says so."""
    x, w = arrays((1, 6, 6, 16), (5, 5, 16, 16), dtype="float16")
    flat = stand_in.asarray(np.concatenate([[0], x.ravel()]).astype("float16"))
    odd = flat[1:].reshape(x.shape)
    traced = tc.trace(tc.conv2d, odd, stand_in.asarray(w))
    assert traced.algorithm == "wgmma_gemm"
    assert "it does not begin at a multiple of 16 bytes" in "".join(stage.note for stage in traced.stages)
    want = tc.conv2d(x, w)
    assert np.array_equal(traced.result.get(), want)
    out = stand_in.asarray(np.zeros(want.size + 1, "float16"))
    assert np.array_equal(
        tc.conv2d(odd, stand_in.asarray(w)).get(), want
    )  # by no kernel kept for other arrays
    tc.conv2d(stand_in.asarray(x), stand_in.asarray(w), out=out[1:].reshape(want.shape))
    assert np.array_equal(out.get()[1:].reshape(want.shape), want)


# ---------------------------------------------------------------------------------------------
# Other libraries' arrays
# ---------------------------------------------------------------------------------------------


class Tensor:
    """A tensor on a GPU, of a library that has DLPack and nothing else."""

    def __init__(self, on_host, on_device):
        self.on_host, self._on_device = on_host, on_device

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **how):
        return self._on_device


@pytest.fixture
def tensor(stand_in):
    return lambda array: Tensor(array, stand_in.asarray(array))


def test_a_tensor_of_another_library(tensor, xw):
    got = tc.conv2d(*map(tensor, xw), 2)
    assert np.array_equal(got.get(), tc.conv2d(*xw, 2))


def test_borrowed_arrays_are_held_until_the_kernels_end(stand_in, tensor, xw, monkeypatch):
    """Their owner may use the memory again once nothing refers to it, while our kernels still run."""
    monkeypatch.setattr(devices, "_borrowed", [])
    monkeypatch.setattr(stand_in.cuda.Event, "done", False)
    borrowed, plain = [], stand_in.from_dlpack

    def from_dlpack(value):
        array = plain(value)
        borrowed.append(weakref.ref(array))
        return array

    monkeypatch.setattr(stand_in, "from_dlpack", from_dlpack)
    tc.conv2d(*map(tensor, xw))
    gc.collect()
    assert len(borrowed) == 2
    assert all(reference() is not None for reference in borrowed)
    monkeypatch.setattr(stand_in.cuda.Event, "done", True)
    devices.hold_borrowed()
    gc.collect()
    assert all(reference() is None for reference in borrowed)


def test_a_borrowed_array_waits_for_the_kernels_of_its_own_thread(stand_in, tensor, xw, monkeypatch):
    """Another thread's call ends between the conversion of an array and the launch of the kernel that reads it."""
    monkeypatch.setattr(devices, "_borrowed", [])
    recorded = []

    class Event(stand_in.cuda.Event):
        done = False

        def record(self):
            recorded.append(self)

    monkeypatch.setattr(stand_in.cuda, "Event", Event)
    reference = weakref.ref(devices.device_array(tensor(xw[0]), "x"))
    other = threading.Thread(target=devices.hold_borrowed)
    other.start()
    other.join()
    devices.hold_borrowed()
    theirs, ours = recorded
    for event, is_held in ((theirs, True), (ours, False)):
        event.done = True
        devices.hold_borrowed()
        gc.collect()
        assert (reference() is not None) == is_held


def test_find_source_shows_the_line_of_the_reason(stand_in):
    """It showed the line for integers, the first of the two that choose direct, for narrow groups too."""
    for dtype, want in (("int32", "dtype not in FLOATS"), ("float32", "width < 8")):
        x, w = arrays((1, 5, 5, 4), (3, 3, 2, 4), dtype=dtype)
        steps = tc.find_source(tc.conv2d, x, w, backend="cupy").steps
        (choice,) = (step for step in steps if step.what == "choice")
        before = marks.source(choice.file, choice.line, 1)[0][1]
        assert (choice.name, want in before) == ("choose", True)


# ---------------------------------------------------------------------------------------------
# autotune
# ---------------------------------------------------------------------------------------------


def test_autotune_offers_what_the_op_may_choose(stand_in, xw):
    for precision, offered in (
        (None, {"winograd2"}),
        ("strict", set()),
        ("fast", {"winograd2", "winograd4"}),
    ):
        x, w = map(stand_in.asarray, xw)
        found = tc.autotune(tc.conv2d, x, w, padding="SAME", precision=precision, rounds=1, seconds=2)
        names = {item.algorithm for item in found}
        assert "implicit_gemm" in names
        assert {name for name in names if "winograd" in name} == offered
        assert not [name for name in names if "tf32" in name]


def test_autotune_times_by_events(stand_in, xw, monkeypatch):
    """A GPU's time is that between two events, whatever the clock of the host says."""
    monkeypatch.setattr(stand_in.cuda, "get_elapsed_time", lambda start, stop: 250.0)
    x, w = map(stand_in.asarray, xw)
    found = tc.autotune(tc.conv2d, x, w, algorithm="direct", rounds=2, seconds=5)
    assert found.best.median == 0.25


def test_lacks_is_asked_of_the_arrays_card(stand_in):
    assert cupy_backend.lacks("pipelined_gemm", "float16", np.ones(1)) == ""
    assert (
        ladder.schedule(
            FORWARD, conv2d_geometry((1, 4, 4, 1), (3, 3, 1, 1)), "float16", None, None, False, False, 60
        ).algorithm
        == "implicit_gemm"
    )
