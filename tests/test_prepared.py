"""Prepared calls: the bits of the long way, which a trace takes, and never a call that another one was kept for."""

import os
import pickle
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import cython_backend, why_not
from teachconv.core.arguments import PADDING_WORDS
from teachconv.core.kinds import OPS
from teachconv.data.seeded import make_array
from teachconv.running import dispatch

pytestmark = pytest.mark.skipif(bool(why_not("cython")), reason="calls are prepared for the compiled backend")

X, W = make_array((2, 9, 8, 4), "float32"), make_array((3, 3, 4, 6), "float32")
DY, D = make_array((2, 5, 4, 6), "float32"), make_array((3, 3, 4, 2), "float32")
DEPTHWISE_DY = make_array((2, 5, 4, 8), "float32")
CALLS = {
    "conv2d": (tc.conv2d, (X, W, 2, "SAME")),
    "a list of strides": (tc.conv2d, (X, W, [1, 2, 1, 1], [[0, 0], [1, 2], [0, 1], [0, 0]], "NHWC", (1, 2))),
    "groups": (tc.conv2d, (X, make_array((3, 3, 2, 6), "float32"))),
    "winograd2": (tc.conv2d, (make_array((1, 12, 12, 32), "float32"), make_array((3, 3, 32, 64), "float32"))),
    "depthwise": (tc.depthwise_conv2d, (X, D, 2, "SAME")),
    "transpose": (tc.conv2d_transpose, (DY, W, (2, 9, 8, 4), 2)),
    "output_padding": (tc.conv2d_transpose, (DY, W, None, 2, "VALID", "NHWC", None)),
    "input gradient": (tc.conv2d_backprop_input, (X.shape, W, DY, 2, "SAME")),
    "filter gradient": (tc.conv2d_backprop_filter, (X, W.shape, DY, 2, "SAME")),
    "depthwise input gradient": (tc.depthwise_conv2d_backprop_input, (X.shape, D, DEPTHWISE_DY, 2, "SAME")),
    "depthwise filter gradient": (tc.depthwise_conv2d_backprop_filter, (X, D.shape, DEPTHWISE_DY, 2, "SAME")),
}


@pytest.fixture
def threads():
    before = tc.get_num_threads()
    yield
    tc.set_num_threads(before)


def same(got, want):
    return (got.dtype, got.shape, got.tobytes()) == (want.dtype, want.shape, want.tobytes())


def long_way(op, *args, **kwargs):
    return tc.trace(op, *args, **kwargs).result


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CALLS)
def test_the_bits_of_the_long_way(name, dtype):
    op, args = CALLS[name]
    args = [one.astype(dtype) if isinstance(one, np.ndarray) else one for one in args]
    results = [op(*args), op(*args)]
    trace = tc.trace(op, *args)
    assert all(same(result, trace.result) for result in results)
    assert results[0] is not results[1]
    assert results[0].flags.carray
    assert "an untraced call goes on at the kernel" in str(trace)


LONG = {
    "bias": (tc.conv2d, (X, W), {"bias": np.ones(6, "float32")}),
    "out": (tc.conv2d, (X, W), {"out": np.empty((2, 7, 6, 6), "float32")}),
    "NCHW": (tc.conv2d, (X.transpose(0, 3, 1, 2).copy(), W, 1, "SAME", "NCHW"), {}),
    "NCHW, filter gradient": (
        tc.conv2d_backprop_filter,
        (X.transpose(0, 3, 1, 2).copy(), W.shape, tc.conv2d(X, W).transpose(0, 3, 1, 2).copy()),
        {"data_format": "NCHW"},
    ),
    "a subclass": (tc.conv2d, (X.view(np.memmap), W), {}),
    "lists": (tc.conv2d, (X.tolist(), W.tolist()), {}),
    "byte-swapped": (tc.conv2d, (X.astype(">f4"), W), {}),
    "byte-swapped filters": (tc.conv2d, (X, W.astype(">f4")), {}),
    "float16": (tc.conv2d, (X.astype("float16"), W.astype("float16")), {}),
    "integers": (tc.conv2d, (np.ones((1, 4, 4, 1), "int32"), np.ones((2, 2, 1, 1), "int32")), {}),
    "no images": (tc.conv2d, (X[:0], W), {}),
    "NumPy integers": (tc.conv2d, (X, W, np.int64(2)), {}),
    "direct": (tc.conv2d, (X, W), {"algorithm": "direct"}),
    "another backend": (tc.conv2d, (X, W), {"backend": "numpy"}),
    "a module": (tc.conv2d, (X, W), {"backend": cython_backend}),
}


@pytest.mark.parametrize("name", LONG)
def test_other_calls_take_the_long_way(name):
    op, args, kwargs = LONG[name]
    results = [op(*args, **kwargs).copy(), op(*args, **kwargs)]
    trace = tc.trace(op, *args, **kwargs)
    assert all(same(result, trace.result) for result in results)
    assert "untraced" not in str(trace)


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_gradients_of_cubes_in_both_layouts(layout):
    """Of 4 x 4 x 4 cells every axis fits every other; the numpy backend has no prepared calls."""
    rng = np.random.default_rng(9)
    x, dy = (rng.integers(-4, 5, (2, 4, 4, 4)).astype("float32") for _ in range(2))
    for op, shape in (
        (tc.conv2d_backprop_filter, (3, 3, 4, 4)),
        (tc.depthwise_conv2d_backprop_filter, (3, 3, 4, 1)),
    ):
        how = {"padding": "SAME", "data_format": layout}
        want = op(x, shape, dy, **how, backend="numpy")
        assert all(same(op(x, shape, dy, **how, backend="cython"), want) for _ in range(2))


def misaligned(array):
    block = np.empty(array.nbytes + 1, np.uint8)
    moved = block[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


@pytest.mark.parametrize(
    "other",
    [
        (X[::-1], W),
        (np.asfortranarray(X), W),
        (X, W[:, :, ::-1]),
        (misaligned(X), W),
        (X, np.where(W.max() == W, np.nan, W)),
        (X, np.where(W.max() == W, np.inf, W)),
    ],
    ids=["reversed", "Fortran order", "filters reversed", "misaligned", "NaN", "infinity"],
)
def test_arrays_that_a_prepared_kernel_leaves_to_the_long_way(other):
    before = tc.conv2d(X, W, 1, "SAME")
    result = tc.conv2d(*other, 1, "SAME")
    assert same(result, long_way(tc.conv2d, *other, 1, "SAME"))
    assert same(result, tc.conv2d(*other, 1, "SAME", backend=cython_backend))
    assert same(tc.conv2d(X, W, 1, "SAME"), before)


def test_infinities_in_the_input_and_read_only_arrays():
    x, w = X.copy(), W.copy()
    x[0, 3, 3] = np.inf
    x.flags.writeable = w.flags.writeable = False
    for filters in (w, make_array((1, 5, 4, 1), "float32")):  # checked before the call, and after it
        result = tc.conv2d(x, filters, 1, "SAME")
        assert same(result, long_way(tc.conv2d, x, filters, 1, "SAME"))
        assert result.flags.writeable


@pytest.mark.parametrize("bad", [True, 1.0, np.float64(1), np.bool_(True), (1, True), (1.0, 1), [1, 1.0]])
@pytest.mark.parametrize("name", ["strides", "dilations"])
def test_what_equals_a_legal_argument_and_is_none(bad, name):
    good = tuple(map(int, bad)) if isinstance(bad, (tuple, list)) else 1
    tc.conv2d(X, W, **{name: good})
    with pytest.raises(TypeError, match=f"{name} must be"):
        tc.conv2d(X, W, **{name: bad})
    with pytest.raises(TypeError):
        tc.conv2d(X, W, padding=((0, 0), (0, False)))


def test_odd_arguments_raise_the_errors_of_the_long_way():
    endless = []
    endless.append(endless)
    for kwargs in (
        {"strides": {1: 2}},
        {"strides": endless},
        {"strides": 0},
        {"padding": "SMAE"},
        {"padding": None},
        {"backend": ""},
        {"backend": []},
        {"algorithm": "phases"},
        {"algorithm": ["row_gemm"]},
        {"precision": "tf32"},
        {"data_format": "NHCW"},
        {"filters": W[:, :, :3]},
        {"filters": W.astype("float64")},
        {"input": X[0]},
        {"input": X[:, :2]},
    ):
        arguments = {"input": X, "filters": W} | kwargs
        errors = []
        for compute in (tc.conv2d, tc.conv2d, lambda **given: tc.trace(tc.conv2d, **given)):
            with pytest.raises((ValueError, TypeError)) as caught:
                compute(**arguments)
            errors.append((type(caught.value), str(caught.value)))
        assert errors[0] == errors[1] == errors[2]


def test_a_change_of_the_settings_counts_from_the_next_call(threads):
    want = tc.conv2d(X, W)
    tc.set_num_threads(tc.get_num_threads() + 1)
    assert same(tc.conv2d(X, W), want)
    with tc.use_backend("reference"):
        assert same(tc.conv2d(X, W), tc.conv2d(X, W, backend="reference"))
        other = []
        worker = threading.Thread(target=lambda: other.append(tc.conv2d(X, W)))  # the default of the process
        worker.start()
        worker.join()
    assert same(other[0], want)
    tc.set_backend("numpy")
    try:
        assert same(tc.conv2d(X, W), tc.conv2d(X, W, backend="numpy"))
    finally:
        tc.set_backend(None)
    assert same(tc.conv2d(X, W), want)


@pytest.mark.parametrize("name", ["baseline", "avx2"])
def test_another_instruction_set(name):
    want = tc.conv2d(X, W)
    planned = tc.plan(tc.conv2d, W, input_shape=X.shape)
    try:
        cython_backend.set_isa(name)
        assert same(tc.conv2d(X, W), long_way(tc.conv2d, X, W))
        assert same(planned(X), long_way(tc.conv2d, X, W))
        cython_backend._kernels.set_isa("best")  # behind the back of everything in Python
        assert same(tc.conv2d(X, W), long_way(tc.conv2d, X, W))
    finally:
        cython_backend.set_isa("best")
    assert same(tc.conv2d(X, W), want)
    assert same(planned(X), want)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    op=st.sampled_from(["conv2d", "conv2d_transpose", "depthwise_conv2d"]),
    sizes=st.tuples(*[st.integers(0, 7)] * 3, *[st.integers(1, 4)] * 4),
    strides=st.sampled_from([1, 2, (2, 1), [1, 2, 3, 1], None, 1.0, True]),
    padding=st.sampled_from([*PADDING_WORDS, 1, (0, -1), [[1, 2], (0, 1)], None]),
    dtype=st.sampled_from(["float32", "float64", "float16", "int64", ">f4"]),
)
def test_any_call(op, sizes, strides, padding, dtype):
    batch, rows, cols, filter_rows, filter_cols, ins, outs = sizes
    if op == "conv2d_transpose":
        ins, outs = outs, ins
    x = make_array((batch, rows, cols, outs if op == "conv2d_transpose" else ins), dtype)
    w = make_array((filter_rows, filter_cols, ins, outs), dtype)
    kwargs = {"strides": strides, "padding": padding}
    found = []
    for compute in (getattr(tc, op),) * 2, (long_way,):
        for run in compute:
            args = (x, w) if run is not long_way else (getattr(tc, op), x, w)
            try:
                found.append(run(*args, **kwargs))
            except (ValueError, TypeError) as error:
                found.append(str(error))
    first, second, want = found
    if isinstance(want, str):
        assert first == second == want
    else:
        assert same(first, want)
        assert same(second, want)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:os.fork:RuntimeWarning")  # JAX's, if loaded
def test_many_threads_and_a_fork():
    inputs = [make_array((1, 6, cols, 4), "float32") for cols in range(3, 9)]
    wanted = [long_way(tc.conv2d, x, W) for x in inputs]
    wrong = []

    def work():
        for _ in range(20):
            wrong.extend(not same(tc.conv2d(x, W), want) for x, want in zip(inputs, wanted, strict=True))

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not any(wrong)
    if not hasattr(os, "fork"):
        return
    child = os.fork()
    if child == 0:
        good = all(same(tc.conv2d(x, W), want) for x, want in zip(inputs, wanted, strict=True))
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


WIDE = make_array((1, 5, 23, 4), "float32")  # of a shape that no other test prepares


@pytest.mark.parametrize(
    "call",
    [
        lambda: tc.conv2d(WIDE, W),
        lambda: tc.convolution(WIDE[0], W[0]),
        lambda: tc.plan(tc.conv2d, W, input_shape=WIDE.shape),
    ],
)
def test_the_warning_that_cython_is_missing_points_at_the_caller(monkeypatch, call):
    monkeypatch.setattr(dispatch.backends, "why_not", lambda name: "no compiler" if name == "cython" else "")
    monkeypatch.setattr(dispatch, "_best_backend", dispatch._best_backend.__wrapped__)
    with pytest.warns(RuntimeWarning, match="numpy backend: no compiler") as caught:
        call()
    assert caught[0].filename == __file__


def test_a_plan_on_auto_is_one_without_an_algorithm():
    plans = [tc.plan(tc.conv2d, W, input_shape=X.shape, algorithm=name) for name in ("auto", None)]
    assert plans[0].algorithm == plans[1].algorithm
    assert same(plans[0](X), tc.conv2d(X, W, algorithm="auto"))


@pytest.mark.parametrize("bias", [None, np.arange(6, dtype="float32")])
def test_a_plan_gives_the_bits_of_the_long_way(bias):
    planned = tc.plan(tc.conv2d, W, input_shape=X.shape, strides=2, padding="SAME", bias=bias)
    inputs = X, X, X[:1], make_array((5, 9, 8, 4), "float32"), X
    wanted = [long_way(tc.conv2d, x, W, 2, "SAME", bias=bias) for x in inputs]
    assert all(same(planned(x), want) for x, want in zip(inputs, wanted, strict=True))
    assert same(planned(X[::-1]), tc.conv2d(X[::-1], W, 2, "SAME", bias=bias))
    assert same(pickle.loads(pickle.dumps(planned))(X), planned(X))
    with pytest.raises(ValueError, match="apart from the batch, input must have the planned shape"):
        planned(X[:, :3])
    with pytest.raises(ValueError, match="planned shape .* and dtype float32; got .* float64"):
        planned(X.astype("float64"))


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("backend", ["numpy", "cython"])
def test_an_activation_is_applied_to_out_too(backend, data_format):
    x = make_array((1, 5, 5, 2), "float32")
    w = make_array((3, 3, 2, 3), "float32", seed="w")
    x = x.transpose(0, 3, 1, 2) if data_format == "NCHW" else x
    arguments, options = (1, "SAME", data_format, None), (backend, None, None)
    want = dispatch.compute(OPS["conv2d"], x, w, arguments, options)
    out = np.full_like(want, np.nan)
    got = dispatch.compute(OPS["conv2d"], x, w, arguments, options, None, out, "relu")
    assert got is out
    assert (want < 0).any()
    assert np.array_equal(out, np.maximum(want, 0))
