"""dask arrays in dialects, in plans, and in the tools that look at calls."""

import pickle
import random

import numpy as np
import pytest
from helpers import mostly_slow
from lazy_arrays import Source, algorithm_of, chunked, numbers, same_bits

import teachconv as tc
from teachconv.backends import why_not

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

CYTHON = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")


@pytest.fixture(autouse=True)
def _one_scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


# ---------------------------------------------------------------------------------------------
# Dialects
# ---------------------------------------------------------------------------------------------

X, W, Y = numbers((2, 12, 13, 4)), numbers((3, 3, 4, 6), seed=1), numbers((2, 6, 7, 6), seed=2)
NCHW, OIHW, DY, BIAS = X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1), Y.transpose(0, 3, 1, 2), Y[0, 0, 0]
torch, jax, onnx, keras = tc.dialects.torch, tc.dialects.jax, tc.dialects.onnx, tc.dialects.keras


# function, arguments, the places of those in chunks with the axis of their channels
DIALECTS = {
    "torch.conv2d": (torch.conv2d, (NCHW, OIHW, BIAS, 2, 1), {0: 1}),
    "of one image": (torch.conv2d, (NCHW[0], OIHW, None, 2, 1), {0: 0}),
    "torch.conv_transpose2d": (torch.conv_transpose2d, (DY, OIHW, None, 2, 1, 1), {0: 1}),
    "torch.conv2d_input": (torch.conv2d_input, (NCHW.shape, OIHW, DY, 2, 1), {2: 1}),
    "torch.conv2d_weight": (torch.conv2d_weight, (NCHW, OIHW.shape, DY, 2, 1), {0: 1, 2: 1}),
    "onnx.conv": (onnx.conv, (NCHW, OIHW, BIAS), {0: 1}),
    "onnx.conv_transpose": (onnx.conv_transpose, (DY, OIHW), {0: 1}),
    "keras.conv": (keras.conv, (X, W, 2, "same"), {0: 3}),
    "keras.conv_transpose": (keras.conv_transpose, (Y, W, 2, "same"), {0: 3}),
    "jax.conv_general_dilated": (jax.conv_general_dilated, (NCHW, OIHW, (2, 2), "SAME"), {0: 1}),
    "with lhs_dilation": (jax.conv_general_dilated, (NCHW, OIHW, (1, 1), ((0, 1), (2, 0)), (2, 3)), {0: 1}),
    "in layouts of its own": (
        jax.conv_general_dilated,
        (X.transpose(1, 2, 3, 0), W.transpose(2, 3, 0, 1), (2, 1), "SAME", None, None, ("HWCN", "IOHW", "CNHW")),
        {0: 2},
    ),
    "jax.conv_transpose": (jax.conv_transpose, (X, W, (2, 2), "SAME"), {0: 3}),
}  # fmt: skip


OFTEN = "torch.conv2d", "torch.conv2d_weight", "onnx.conv_transpose", "keras.conv", "in layouts of its own"


@pytest.mark.parametrize("name", mostly_slow(DIALECTS, *OFTEN))
def test_a_dialect_is_its_op_in_chunks(name):
    function, args, places = DIALECTS[name]
    rng = random.Random(len(name))
    lazy = [chunked(rng, item, places[at], 5) if at in places else item for at, item in enumerate(args)]
    want, got = function(*args), function(*lazy)
    assert isinstance(got, da.Array)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    cell = tuple(size // 2 for size in want.shape)
    assert str(tc.explain(function, *lazy, at=cell)) == str(tc.explain(function, *args, at=cell))
    wrong = want.copy()
    wrong[cell] += 1
    against = {"whole": want, "lazy": got, "wrong": wrong}
    report = tc.diff(function, *lazy, backends="numpy", against=against)
    *right, failed = report.rows
    assert all(row.passed for row in right), report
    assert failed.first_bad == cell
    assert tc.diff(function, *args, backends=[], against=got.compute()).passed


@CYTHON
@pytest.mark.parametrize("layout", ["NCHW", "CHW"])
def test_a_dialect_has_the_bits_of_the_op(layout):
    x, lead = (NCHW, (1, 4)) if layout == "NCHW" else (NCHW[0], (4,))
    got = torch.conv2d(da.from_array(x, chunks=(*lead, 5, 6)), OIHW, None, 2, 1)
    want = tc.conv2d(X, W, 2, ((1, 1), (1, 1)), algorithm="row_gemm").transpose(0, 3, 1, 2)
    assert np.array_equal(got.compute(), want if layout == "NCHW" else want[0])


def test_a_dialect_reads_slabs_and_computes_nothing():
    source = Source(numbers((1, 40, 30, 1)).transpose(0, 3, 1, 2))
    x = da.from_array(source, chunks=(1, 1, 10, 10))
    source.read.clear()
    y = torch.conv2d(x, np.ones((1, 1, 5, 3), "float32"), padding=(2, 1))
    trace = tc.trace(torch.conv2d, x, np.ones((1, 1, 5, 3), "float32"), padding=(2, 1))
    assert [stage.name for stage in trace.stages][:2] == ["resolve torch.conv2d", "plan chunks"]
    assert not source.read
    y.blocks[:, :, 1, 2].compute()
    assert source.read == [((None, None), (8, 22))]  # of the axes 1 and 2, all channels and some rows


def test_what_a_dialect_does_not_take_lazily_is_named():
    x = da.from_array(NCHW, chunks=(1, 4, 5, 5))
    with pytest.raises(TypeError, match=r"torch\.pad takes no dask arrays"):
        torch.pad(x, (1, 1))
    for more in ({"batch_group_count": 2}, {"lhs_dilation": (2, 2)}):
        with pytest.raises(
            ValueError, match="no recorded or lazy arrays with batch_group_count, or with str"
        ):
            jax.conv_general_dilated(x, OIHW, (2, 2), ((0, 0), (0, 0)), **more)
    with pytest.raises(ValueError, match=r"input must have 3 or 4 axes.*got shape \[12, 13\]"):
        torch.conv2d(x[0, 0], OIHW)
    with pytest.raises(TypeError, match=r'weight must have the dtype of input.*weight.astype\("float32"\)'):
        torch.conv2d(x, OIHW.astype("float64"))
    with pytest.raises(ValueError, match=r"weight\.shape\[1\]"):
        torch.conv2d(x, OIHW[:, :3])
    with pytest.raises(ValueError, match=r"compute_chunk_sizes"):
        torch.conv2d(x[x[:, 0, 0, 0] > -99], OIHW)


# ---------------------------------------------------------------------------------------------
# Plans
# ---------------------------------------------------------------------------------------------

PLANS = {
    "conv2d": (tc.conv2d, {"strides": 2, "padding": "SAME"}, X, W),
    "NCHW": (tc.conv2d, {"padding": "SAME", "data_format": "NCHW"}, NCHW, W),
    "depthwise": (tc.depthwise_conv2d, {"padding": "SAME"}, X, W[..., :2]),
    "integers": (tc.conv2d, {}, (9 * X).astype("int32"), (9 * W).astype("int32")),
    "transposed": (tc.conv2d_transpose, {"strides": 2, "algorithm": "phases"}, Y, W),
}


@CYTHON
@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("chunked_filters", [False, True])
def test_a_plan_is_lazy_and_has_the_bits_of_its_algorithm(name, chunked_filters):
    op, how, x, w = PLANS[name]
    channels = 1 if name == "NCHW" else 3
    plan = tc.plan(op, da.from_array(w) if chunked_filters else w, input_shape=x.shape, **how)
    lazy = chunked(random.Random(4), x, channels, 5)
    y = plan(lazy)
    assert isinstance(y, da.Array)
    assert algorithm_of(y) == plan.algorithm
    want = op(x, w, **how | {"algorithm": plan.algorithm})
    assert same_bits(y.compute(), want)
    assert same_bits(pickle.loads(pickle.dumps(plan))(lazy[:1]).compute(), want[:1])


@CYTHON
def test_a_plan_of_another_algorithm_keeps_its_bound():
    x, w = numbers((1, 20, 20, 16)), numbers((3, 3, 16, 32), seed=1)
    plan = tc.plan(tc.conv2d, w, input_shape=x.shape, padding="SAME", algorithm="winograd2")
    y = plan(chunked(random.Random(1), x))
    assert algorithm_of(y) == "winograd2"
    report = tc.diff(tc.conv2d, x, w, padding="SAME", against=y.compute(), backends=[], rtol=1e-5, atol=1e-5)
    assert report.passed, report


def test_what_a_plan_refuses():
    plan = tc.plan(tc.conv2d, W, input_shape=X.shape)
    lazy = da.from_array(X, chunks=(1, 5, 5, 4))
    with pytest.raises(TypeError, match="out must be None for dask arrays"):
        plan(lazy, np.empty((2, 10, 11, 6), "float32"))
    with pytest.raises(ValueError, match=r"planned shape \[2, 12, 13, 4\].*got \[2, 12, 12, 4\] float32"):
        plan(lazy[:, :, 1:])
    with pytest.raises(ValueError, match="got .* float64"):
        plan(lazy.astype("float64"))


# ---------------------------------------------------------------------------------------------
# Tools that look at calls
# ---------------------------------------------------------------------------------------------


def test_a_trace_shows_chunks_and_halos():
    x = da.ones((2, 40, 50, 4), chunks=(2, 13, 17, 4), dtype="float32")
    trace = tc.trace(tc.conv2d, x, np.ones((3, 5, 4, 6), "float32"), 2, "SAME")
    assert isinstance(trace.result, da.Array)
    plan = next(stage for stage in trace.stages if stage.name == "plan chunks")
    assert "9 chunks (1 part of the batch, 3 rows, 3 columns)" in plan.note
    assert "rows: chunk 0..6 reads 0..14, neighbouring slabs share 1 (the halo)" in plan.note
    assert "columns: chunk 0..8 reads 0..19, neighbouring slabs share 3 (the halo)" in plan.note
    build = trace.stages[-1]
    assert (build.name, "nothing is computed yet" in build.note) == ("build graph", True)


CALLS = {
    "conv2d": lambda x, w, y: (tc.conv2d, (x, w, 2, "SAME"), (0, 3, 4, 1), (1, 9, 9, 1)),
    "conv2d_transpose": lambda x, w, y: (tc.conv2d_transpose, (y, w, None, 2), (0, 9, 5, 1), (1, 4, 4, 2)),
    "conv2d_backprop_input": lambda x, w, y: (
        tc.conv2d_backprop_input,
        ((2, 10, 11, 2), w, y, 2, "SAME"),
        (1, 9, 10, 0),
        (1, 4, 5, 2),
    ),
    "conv2d_backprop_filter": lambda x, w, y: (
        tc.conv2d_backprop_filter,
        (x, (3, 3, 2, 3), y, 2, "SAME"),
        (2, 1, 1, 2),
        (1, 9, 9, 1),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_explain_and_diff_say_what_they_say_of_arrays_in_memory(name):
    x, w, y = numbers((2, 10, 11, 2)), numbers((3, 3, 2, 3), seed=1), numbers((2, 5, 6, 3), seed=2)
    rng = random.Random(2)
    op, args, at, at_input = CALLS[name](x, w, y)
    _, lazy, _, _ = CALLS[name](chunked(rng, x, largest=4), w, chunked(rng, y, largest=4))
    assert str(tc.explain(op, *lazy, at=at)) == str(tc.explain(op, *args, at=at))
    assert str(tc.explain(op, *lazy, at_input=at_input)) == str(tc.explain(op, *args, at_input=at_input))
    with pytest.raises(IndexError, match="at must be inside"):
        tc.explain(op, *lazy, at=(99, 0, 0, 0))
    report = tc.diff(op, *lazy, backends=["numpy"])
    assert report.passed
    assert len(report.rows) == len(tc.diff(op, *args, backends=["numpy"]).rows)


def test_explain_loads_the_slab_of_its_cell_alone():
    source = Source(numbers((1, 40, 40, 1)))
    found = tc.explain(
        tc.conv2d, source.chunked(), np.ones((3, 3, 1, 1), "float32"), 2, "SAME", at=(0, 12, 7, 0)
    )
    assert found.taps[0].input_index == (0, 24, 14, 0)
    assert set(source.read) == {((24, 27), (14, 17))}


def test_explain_names_the_cells_of_a_depthwise_filter():
    x, w = numbers((1, 9, 9, 3)), numbers((3, 3, 3, 2), seed=1)
    lazy = tc.explain(tc.depthwise_conv2d, chunked(random.Random(1), x), w, at=(0, 5, 6, 3))
    assert str(lazy) == str(tc.explain(tc.depthwise_conv2d, x, w, at=(0, 5, 6, 3)))


def test_diff_finds_the_cell_and_the_mistake():
    x, w = numbers((1, 40, 40, 1)), numbers((3, 3, 1, 1), seed=1)
    lazy = Source(x).chunked()
    theirs = tc.conv2d(x, w, padding="SAME")
    theirs[0, 25, 31, 0] += 1
    flipped = tc.conv2d(lazy, w[:, ::-1].copy(), padding="SAME")
    report = tc.diff(
        tc.conv2d,
        lazy,
        w,
        padding="SAME",
        backends=[],
        against={"one cell": theirs, "flip": flipped},
    )
    one, flip = report.rows
    assert (one.first_bad, one.worst, flip.diagnosis.code) == (
        (0, 25, 31, 0),
        (0, 25, 31, 0),
        "flipped_filter",
    )
    assert one.explanation.theirs == theirs[0, 25, 31, 0]
    assert np.array_equal(flip.bad, tc.diff(tc.conv2d, x, w, padding="SAME", against=flipped).rows[-1].bad)


def test_the_picture_of_chunks_and_the_writer_name_what_does_their_work():
    for name in ("to_zarr", "chunk_picture"):
        with pytest.raises(
            ImportError, match=r"removed in 0\.2: dask\.array\.to_zarr writes .*teachconv\.trace"
        ):
            exec(f"from teachconv.arrays.dask import {name}")
    with pytest.raises(ImportError, match=r"removed in 0\.2"):
        exec("import teachconv.arrays.dask")
    with pytest.raises(AttributeError, match=r"removed in 0\.2"):
        tc.arrays.dask  # noqa: B018
    with pytest.raises(AttributeError, match=r"'teachconv\.arrays' has no attribute 'torhc' .*torch"):
        tc.arrays.torhc  # noqa: B018


# ---------------------------------------------------------------------------------------------
# Filter gradients
# ---------------------------------------------------------------------------------------------


def test_a_filter_gradient_in_chunks_is_compared_with_arrays():
    lazy = da.from_array(X, chunks=(1, 5, 5, 4)), W.shape, da.from_array(Y, chunks=(1, 2, 4, 6)), 2, "SAME"
    against = {"in chunks": tc.conv2d_backprop_filter(*lazy), "ones": np.ones(W.shape, "float32")}
    report = tc.diff(tc.conv2d_backprop_filter, *lazy, backends="numpy", against=against)
    *right, ones = report.rows
    assert all(row.passed for row in right)
    assert not ones.passed


# ---------------------------------------------------------------------------------------------
# Where does it run, and tools that need all values
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["reference", pytest.param("cython", marks=CYTHON)])
def test_find_source_runs_one_chunk(backend):
    source = Source(numbers((1, 40, 40, 1)))
    w = np.ones((3, 3, 1, 1), "float32")
    chain = tc.find_source(tc.conv2d, source.chunked(), w, 2, "SAME", backend=backend)
    assert {(0, 10), (10, 11)} == {part for read in source.read for part in read}  # the slab of one chunk
    alone = source.array[:, :11, :11]  # the slab, which has no padding, as an image of its own
    own = tc.find_source(tc.conv2d, alone, w, 2, backend=backend, algorithm=chain.algorithm)
    ran = [line for line in chain.lines if line.mark in ("stride", "multiply-add")]
    assert ran == [line for line in own.lines if line.mark in ("stride", "multiply-add")]
    steps = {step.what: step for step in chain.steps}
    assert steps["chunk"].name == "compute_chunk"
    assert steps["chunk"].note == "once for each of 16 chunks; one ran here"
    new = ("slab", "chunk", "choice")
    assert [step.name for step in chain.steps if step.what not in new] == [
        step.name for step in own.steps if step.what != "choice"
    ]
    gradient = tc.find_source(
        tc.conv2d_backprop_filter, source.chunked(), w.shape, source.chunked(), padding="SAME"
    )
    assert "compute_partial" in [step.name for step in gradient.steps]


def test_tools_that_need_all_values_compute_small_arrays():
    x = da.from_array(X, chunks=(1, 5, 5, 4))
    assert tc.check_gradients(tc.conv2d, x, da.from_array(W), cells=2).passed
    page = tc.explore(tc.conv2d, x, W)
    assert repr(page) == repr(tc.explore(tc.conv2d, X, W))
    assert np.array_equal(page.result, tc.conv2d(X, W))


@pytest.mark.parametrize("tool", [tc.explore, tc.check_gradients, tc.autotune, tc.diff])
def test_a_large_array_is_not_loaded_whole_without_a_word(tool):
    x = da.ones((1, 8000, 8000, 1), chunks=1000, dtype="float32")
    x = x.map_blocks(lambda block: 1 / 0, dtype="float32", meta=np.empty((0,) * 4, "float32"))
    with pytest.raises(TypeError, match=r"of 244 MiB.*at most 100 MiB.*\[\.\.\.\]\.compute\(\)"):
        tool(tc.conv2d, x, np.ones((3, 3, 1, 1), "float32"))
