"""trace shows the call that ran; without a trace, recording costs nothing."""

import linecache

import numpy as np
import pytest
from helpers import backend_algorithms

import teachconv as tc
from teachconv.support import record

X, W = np.ones((1, 6, 6, 4), np.float32), np.ones((3, 3, 4, 5), np.float32)
DY = np.ones((1, 3, 3, 5), np.float32)
CALLS = {
    "conv2d": (tc.conv2d, (X, W, 2, "SAME")),
    "depthwise_conv2d": (tc.depthwise_conv2d, (X, W, 2, "SAME")),
    "conv2d_transpose": (tc.conv2d_transpose, (DY, W, None, 2)),
    "conv2d_backprop_input": (tc.conv2d_backprop_input, (X.shape, W, DY, 2, "SAME")),
    "conv2d_backprop_filter": (tc.conv2d_backprop_filter, (X, W.shape, DY, 2, "SAME")),
}


@pytest.mark.parametrize(("backend", "algorithm"), list(backend_algorithms()))
@pytest.mark.parametrize("name", CALLS)
def test_every_op_on_every_algorithm(name, backend, algorithm):
    op, args = CALLS[name]
    call, _ = tc.nn_ops.call_of(op, args, {})
    if not algorithm.fits(call.kind, "float32", call.geometry):
        with pytest.raises(ValueError, match=f"algorithm '{algorithm.name}'"):
            tc.trace(op, *args, backend=backend, algorithm=algorithm.name)
        return
    result = op(*args, backend=backend, algorithm=algorithm.name)  # test_first_call.py has what is loaded
    trace = tc.trace(op, *args, backend=backend, algorithm=algorithm.name)
    assert np.array_equal(trace.result, result)
    assert (trace.backend, trace.algorithm) == (backend, algorithm.name)
    names = [stage.name for stage in trace.stages if stage.name != "prepared call"]
    assert names[:3] == ["normalise arguments", "resolve geometry", "dispatch"]
    assert any(
        stage.file.endswith(f"{backend}_backend.py") or stage.file.endswith("reference.py")
        for stage in trace.stages
    )
    for stage in trace.stages:
        is_function = (
            stage.name == f"{backend}.{call.kind}"
        )  # the place is the backend's function, or the stage
        here = f"def {call.kind}(" if is_function else "record.stage("
        assert here in linecache.getline(stage.file, stage.line)
        assert 0 <= stage.seconds <= trace.seconds
        assert set(stage.shapes) == set(stage.dtypes)
        assert (stage.nbytes > 0) == bool(stage.shapes)
    for text in (str(trace), trace._repr_html_()):
        assert backend in text
        assert "index law" in text


def test_shapes_and_bytes_are_those_of_the_arrays():
    trace = tc.trace(tc.conv2d, X, W, backend="numpy")
    patches = next(stage for stage in trace.stages if stage.name == "extract patches")
    assert patches.shapes["patches"] == (1, 16, 36)
    assert patches.nbytes == 16 * 36 * 4 + 6 * 6 * 4 * 4
    assert patches.depth == 1


def test_functions_of_windows_have_stages_of_their_own():
    x, first = X[..., :1], X.transpose(0, 3, 1, 2)
    words = {"x_scale": 0.5, "x_zero_point": 3, "scheme": "tflite"}
    torch, quantized = tc.dialects.torch, tc.quantized
    stored = np.arange(36, dtype="int8").reshape(1, 6, 6, 1)
    for op, args, kwargs, where, said in (
        (tc.max_pool, (x, 2, 2, "SAME"), {}, "windows/pooling.py", ""),
        (torch.max_pool2d, (first, 2), {"return_indices": True}, "windows/pooling.py", ""),
        (torch.interpolate, (first,), {"scale_factor": 2}, "windows/resizing.py", ""),
        (quantized.avg_pool, (stored, 2, 2, "SAME"), words, "quantized/schemes.py", "half away from zero"),
        (quantized.max_pool, (stored, 2, 2, "SAME"), {}, "windows/walking.py", "maximum"),
    ):
        trace = tc.trace(op, *args, **kwargs)
        assert [stage.name for stage in trace.stages] == ["resolve geometry", "compute"]
        resolved, computed = trace.stages
        assert "input [1" in resolved.note
        assert where in computed.file.replace("\\", "/")
        assert said in computed.note
        assert list(computed.shapes) == ["x", "result"]
        want = op(*args, **kwargs)
        for ours, theirs in zip(np.atleast_1d(trace.result), np.atleast_1d(want), strict=True):
            assert np.array_equal(ours, theirs)
        assert str(trace).startswith(f"{op.__name__} in NumPy: ")
    with pytest.raises(ValueError, match="x_zero_point must be -128 to 127"):
        tc.trace(quantized.avg_pool, stored, 2, 2, "SAME", **words | {"x_zero_point": 200})


def test_why_an_algorithm_gave_way_is_in_the_trace():
    w = W.copy()
    w[0, 0, 0, 0] = np.nan
    for backend, name in (("numpy", "im2col"), ("scipy", "fft"), ("cython", "im2col")):
        if tc.backends.why_not(backend):
            continue
        trace = tc.trace(tc.conv2d, X, w, 1, "SAME", backend=backend, algorithm=name)
        assert trace.algorithm != name
        assert "gives way" in str(trace)


def test_errors_pass_through_and_end_the_recording():
    with pytest.raises(ValueError, match="strides"):
        tc.trace(tc.conv2d, X, W, 0)
    assert record._listener.get() is None
    with record.recording() as stages:
        pass
    tc.conv2d(X, W)
    assert stages == []


def test_stages_are_free_where_nobody_listens():
    """Without a trace, the same object is returned each time, and it neither formats nor stores anything."""
    silence = record.stage("a")
    assert silence is record.stage("b")
    with silence as stage:
        stage.say("{} {}", "one value for two places")  # would raise if it were formatted
    assert not hasattr(silence, "__dict__") or not vars(silence)


def test_nested_traces_do_not_mix():
    outer = tc.trace(tc.conv2d, X, W, backend="numpy")
    inner = tc.trace(tc.conv2d_transpose, DY, W, None, 2, backend="numpy")
    assert "add patches" not in [stage.name for stage in outer.stages]
    assert "add patches" in [stage.name for stage in inner.stages]
