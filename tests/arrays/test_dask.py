"""dask arrays: lazy ops, chunk by chunk of the result, with the bits of the unchunked call."""

import ast
import importlib
import random
import threading
import weakref
from math import prod
from pathlib import Path

import numpy as np
import pytest
from lazy_arrays import Source, algorithm_of, chunked, numbers, same_bits

import teachconv as tc
from teachconv.backends import why_not
from teachconv.core.arguments import PADDING_WORDS
from teachconv.support.devices import adapter_of
from teachconv.truth import bounds

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

CYTHON = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")


@pytest.fixture(autouse=True)
def _one_scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def random_call(rng):
    """Return strides, padding, dilations, the shapes of input and filters, and dtype of a legal call."""
    while True:
        groups, more = rng.choice([1, 1, 2, 5]), rng.choice([1, 2])
        x = (rng.randint(1, 3), rng.randint(1, 25), rng.randint(1, 25), groups * more)
        w = (rng.randint(1, 4), rng.randint(1, 4), more, groups * rng.choice([1, 3]))
        pads = tuple((rng.randint(-2, 4), rng.randint(-2, 4)) for _ in range(2))
        how = {
            "strides": (rng.randint(1, 3), rng.randint(1, 3)),
            "padding": rng.choice([*PADDING_WORDS, pads, pads]),
            "dilations": (rng.randint(1, 2), rng.randint(1, 2)),
        }
        try:
            tc.conv2d_geometry(x, w, **how)
        except ValueError:
            continue
        return x, w, how, rng.choice(["float32", "float32", "float64", "int32", "float16"])


@CYTHON
@pytest.mark.parametrize("seed", range(20))
def test_chunks_give_the_bits_of_the_unchunked_call(seed):
    rng = random.Random(seed)
    shape, filters, how, dtype = random_call(rng)
    x, w = numbers(shape, dtype, 1), numbers(filters, dtype, 2)
    bias = numbers(filters[3], dtype, 3) if rng.random() < 0.5 else None
    backend = rng.choice(["cython"] * 4 + ["reference"]) if prod(shape) < 2000 else "cython"

    y = tc.conv2d(chunked(rng, x), w, **how, bias=bias, backend=backend)
    want = tc.conv2d(x, w, **how, bias=bias, backend=backend, algorithm=algorithm_of(y))
    assert same_bits(y.compute(), want)

    dy = numbers(want.shape, dtype, 4)
    dx = tc.conv2d_backprop_input(shape, w, chunked(rng, dy), **how, backend=backend)
    assert same_bits(
        dx.compute(),
        tc.conv2d_backprop_input(shape, w, dy, **how, backend=backend, algorithm=algorithm_of(dx)),
    )
    dw = tc.conv2d_backprop_filter(chunked(rng, x), filters, chunked(rng, dy), **how, backend=backend)
    within_the_bound(dw.compute(), tc.conv2d_backprop_filter, x, filters, dy, **how)


def within_the_bound(got, op, *args, **kwargs):
    report = tc.diff(op, *args, **kwargs, backends=[], against=got)
    assert report.passed, report


@CYTHON
@pytest.mark.parametrize("scheduler", ["threads", pytest.param("processes", marks=pytest.mark.slow)])
def test_any_scheduler_reads_a_file_and_gives_the_same_bits(scheduler, tmp_path):
    pytest.importorskip("zarr")
    x, w = numbers((1, 40, 60, 3)), numbers((5, 5, 3, 2), seed=1)
    da.to_zarr(da.from_array(x, chunks=(1, 20, 20, 3)), str(tmp_path / "x.zarr"))
    with dask.config.set(scheduler=scheduler, num_workers=2):
        y = tc.conv2d(da.from_zarr(str(tmp_path / "x.zarr")), w, 2, "SAME")
        dw = tc.conv2d_backprop_filter(da.from_zarr(str(tmp_path / "x.zarr")), w.shape, y, 2, "SAME")
        got, gradient = dask.compute(y, dw)
    assert same_bits(got, tc.conv2d(x, w, 2, "SAME", algorithm="row_gemm"))
    within_the_bound(gradient, tc.conv2d_backprop_filter, x, w.shape, got, 2, "SAME")


@CYTHON
@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("size", [None, "short"])
def test_the_transposed_op_in_chunks(layout, size):
    rng = random.Random(5)
    shape = (2, 9, 11, 4) if layout == "NHWC" else (2, 4, 9, 11)
    x, w = numbers(shape), numbers((3, 4, 2, 4), seed=1)
    short = (2, 17, 33, 4) if layout == "NHWC" else (2, 4, 17, 33)
    how = {
        "strides": (2, 3),
        "padding": "SAME",
        "data_format": layout,
        "output_shape": short if size else None,
    }
    y = tc.conv2d_transpose(chunked(rng, x, layout.index("C"), 4), w, **how)
    assert algorithm_of(y) == "phases"
    assert same_bits(y.compute(), tc.conv2d_transpose(x, w, **how, algorithm="phases"))


@CYTHON
def test_depthwise_and_its_gradients_in_chunks():
    rng = random.Random(3)
    x, w = numbers((2, 12, 13, 5)), numbers((3, 3, 5, 2), seed=1)
    how = {"strides": 1, "padding": "SAME"}
    y = tc.depthwise_conv2d(chunked(rng, x), w, **how)
    assert algorithm_of(y) == "depthwise"
    want = tc.depthwise_conv2d(x, w, **how, algorithm="depthwise")
    assert same_bits(y.compute(), want)
    dx = tc.depthwise_conv2d_backprop_input(x.shape, w, y, **how)
    assert same_bits(
        dx.compute(), tc.depthwise_conv2d_backprop_input(x.shape, w, want, **how, algorithm="depthwise")
    )
    dw = tc.depthwise_conv2d_backprop_filter(chunked(rng, x), w.shape, y, **how)
    assert dw.shape == w.shape
    within_the_bound(dw.compute(), tc.depthwise_conv2d_backprop_filter, x, w.shape, want, **how)


@CYTHON
def test_which_algorithm_is_chosen():
    def chosen(dtype="float32", channels=4, groups=1, **options):
        x = da.ones((1, 8, 8, channels), chunks=(1, 4, 4, -1), dtype=dtype)
        return algorithm_of(tc.conv2d(x, np.ones((3, 3, channels // groups, 8), dtype), **options))

    assert [chosen(), chosen("int32"), chosen(groups=4), chosen(groups=2)] == [
        "row_gemm",
        "direct",
        "depthwise",
        "row_gemm",
    ]
    # the unchunked call takes winograd2 here
    assert chosen(channels=64) == "row_gemm"
    assert chosen(channels=64, algorithm="winograd2") == "winograd2"
    assert chosen(channels=1) == "row_gemm"
    assert [chosen(backend="reference"), chosen(backend="numpy")] == ["slices", "auto"]
    with tc.use_backend("reference"):
        assert chosen() == "slices"


@CYTHON
@pytest.mark.parametrize(("backend", "algorithm"), [("cython", "winograd2"), ("numpy", None)])
def test_another_algorithm_keeps_its_bound(backend, algorithm):
    x, w = numbers((1, 30, 31, 16)), numbers((3, 3, 16, 32), seed=1)
    y = tc.conv2d(chunked(random.Random(1), x), w, padding="SAME", backend=backend, algorithm=algorithm)
    want = tc.conv2d(x, w, padding="SAME", backend="reference")
    limit = bounds.direct(
        tc.conv2d(abs(x), abs(w), padding="SAME").astype("float64"), 145, np.dtype("float32")
    )
    if algorithm:
        call, _ = tc.nn_ops.call_of(tc.conv2d, (x, w), {"padding": "SAME"})
        limit = limit + bounds.winograd2(call.kind, x, w, call.geometry, x.dtype)
    assert (abs(y.compute() - want) <= limit).all()


@CYTHON
def test_filters_that_are_not_finite_are_direct_in_every_chunk():
    x, w = numbers((1, 20, 21, 3)), numbers((3, 3, 3, 4), seed=1)
    w[0, 0, 0, 0] = np.inf
    y = tc.conv2d(chunked(random.Random(1), x), w, padding="SAME")
    want = tc.conv2d(x, w, padding="SAME", algorithm="row_gemm")
    assert np.isfinite(want[..., 1:]).all()
    assert same_bits(y.compute()[..., 1:], want[..., 1:])


# ---------------------------------------------------------------------------------------------
# The graph
# ---------------------------------------------------------------------------------------------


def test_nothing_is_computed_before_it_is_asked_for():
    source = Source(numbers((1, 40, 40, 1)))
    x = source.chunked()
    w = np.ones((3, 3, 1, 1), "float32")
    y = tc.conv2d_transpose(tc.conv2d(x, w, 2, "SAME"), w, strides=2)
    tc.conv2d_backprop_filter(x, w.shape, tc.conv2d(x, w))
    assert not source.read
    assert y.shape == x.shape
    y[:, :5, :5].compute()
    assert {rows for rows, _ in source.read} == {(0, 11)}


@pytest.mark.parametrize("op", [tc.conv2d, tc.convolution])
def test_an_array_larger_than_the_memory_is_planned(op):
    x = da.zeros((1, 2**20, 2**20, 3), chunks=(1, 2**19, 2**20, 3), dtype="float32")  # 12 TiB
    assert op(x, numbers((3, 3, 3, 1)), padding="SAME").shape == (1, 2**20, 2**20, 1)


def test_a_chunk_reads_its_slab_from_the_source_and_nothing_else():
    source = Source(numbers((1, 40, 30, 1)))
    y = tc.conv2d(source.chunked(), np.ones((5, 3, 1, 1), "float32"), padding="SAME")
    want = tc.conv2d(source.array, np.ones((5, 3, 1, 1), "float32"), padding="SAME")
    y.blocks[:, 1, 2].compute()
    assert source.read == [((8, 22), (19, 30))]
    source.read.clear()
    np.testing.assert_array_equal(y.compute(), want)
    assert len(source.read) == 12


class Recorded(Source):
    """A source that writes down when it is read, and whose parts are no NumPy arrays; also its lock."""

    def __init__(self, array):
        super().__init__(array)
        self.events = []

    def __getitem__(self, where):
        self.events.append("read")
        return memoryview(np.ascontiguousarray(super().__getitem__(where)))

    def acquire(self):
        self.events.append("acquired")

    def release(self):
        self.events.append("released")


def test_a_source_is_read_with_its_lock_and_converted():
    source, w = Recorded(numbers((1, 40, 30, 1))), numbers((5, 3, 1, 1), seed=1)
    x = da.from_array(source, chunks=(1, 10, 10, 1), lock=source, asarray=True, meta=EMPTY)
    y = tc.conv2d(x, w, padding="SAME")
    assert not source.events
    assert same_bits(y.compute(), tc.conv2d(source.array, w, padding="SAME", algorithm="row_gemm"))
    assert source.events == ["acquired", "read", "released"] * 12


@pytest.mark.parametrize("inline", [False, True])
def test_a_source_in_every_task_gives_the_same_bits(inline):
    source = Source(numbers((1, 40, 30, 1)))
    x = da.from_array(source, chunks=(1, 10, 10, 1), inline_array=inline)
    w = numbers((5, 3, 1, 1), seed=1)
    source.read.clear()
    y = tc.conv2d(x, w, padding="SAME")
    assert not source.read
    assert same_bits(y.compute(), tc.conv2d(source.array, w, padding="SAME", algorithm="row_gemm"))
    assert len(source.read) == 12


def layer_of(array):
    return dict(array.dask.layers[array.name])


@pytest.mark.parametrize("size", [10, 2])  # chunks larger and smaller than the halo
def test_a_chunk_depends_on_its_slab_alone(size):
    """Of the input's chunks it needs those that the slab touches; NaN outside the slab changes nothing."""
    x, w = numbers((1, 40, 40, 2)), numbers((5, 7, 2, 1), seed=1)
    X = da.from_array(x, chunks=(1, size, size, 2)).map_blocks(np.positive)
    y = tc.conv2d(X, w, (2, 1), "SAME")
    number = 20 // size
    part = y.blocks[:, number, number]
    rows, cols = ((sum(y.chunks[axis][:number]), sum(y.chunks[axis][: number + 1])) for axis in (1, 2))
    read = slice(rows[0] * 2 - 1, (rows[1] - 1) * 2 - 1 + 5), slice(cols[0] - 3, cols[1] - 1 - 3 + 7)
    touched = {(X.name, 0, r, c, 0) for r, c in np.ndindex(*X.numblocks[1:3])}
    touched = {
        key
        for key in touched
        if all(size * key[2 + i] < read[i].stop and size * (key[2 + i] + 1) > read[i].start for i in range(2))
    }
    graph = part.dask.cull([(part.name, 0, 0, 0, 0)])
    assert {key for key in graph.to_dict() if key[0] == X.name} == touched
    poisoned = np.full_like(x, np.nan)
    poisoned[:, read[0], read[1]] = x[:, read[0], read[1]]
    Y = tc.conv2d(da.from_array(poisoned, chunks=(1, size, size, 2)), w, (2, 1), "SAME")
    assert same_bits(Y.blocks[:, number, number].compute(), part.compute())
    assert np.isfinite(part.compute()).all()


def test_the_graph_is_small_and_has_the_filters_once():
    cloudpickle = pytest.importorskip("cloudpickle")
    X = da.zeros((1, 300, 400, 3), chunks=(1, 10, 10, 3), dtype="float32")
    filters = np.ones((3, 3, 3, 400), "float32")
    for y in (
        tc.conv2d(X, filters, padding="SAME", bias=np.ones(400, "float32")),
        tc.conv2d_transpose(tc.conv2d(X, filters), filters, strides=2),
        tc.conv2d_backprop_filter(X, filters.shape, tc.conv2d(X, filters)),
    ):
        tasks = layer_of(y)
        assert len(tasks) <= 2.5 * 1200
        sizes = sorted(len(cloudpickle.dumps(task)) for task in tasks.values())  # of what goes to workers
        assert (sizes[-1] > filters.nbytes) == ("backprop_filter" not in y.name)
        assert sizes[-2] < filters.nbytes / 4
        assert sizes[len(sizes) // 2] < 1500


def test_no_private_part_of_dask_is_imported():
    public = {"", "array", "base.tokenize", "highlevelgraph.HighLevelGraph"}
    for path in Path(tc.__file__).parent.joinpath("arrays").glob("dask_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            module = getattr(node, "module", None)
            names = [alias.name for alias in getattr(node, "names", ()) if isinstance(alias, ast.alias)]
            dotted = [f"{module}.{name}" if module else name for name in names]
            ours = {name.partition(".")[2] for name in dotted if name.partition(".")[0] == "dask"}
            assert ours <= public, f"{path.name}:{node.lineno}"


def test_the_same_call_has_the_same_name():
    x = da.ones((1, 8, 8, 1), chunks=4, dtype="float32")
    w = np.ones((3, 3, 1, 1), "float32")
    assert tc.conv2d(x, w).name == tc.conv2d(x, w.copy()).name
    others = [tc.conv2d(x, w, 2), tc.conv2d(x, w * 2), tc.conv2d(x, w, bias=np.ones(1, "float32"))]
    assert len({tc.conv2d(x, w).name, *(other.name for other in others)}) == 4


def test_filters_and_arrays_of_either_kind():
    x, w = numbers((2, 12, 12, 2)), numbers((3, 3, 2, 3), seed=1)
    want = tc.conv2d(x, w, padding="SAME", algorithm="row_gemm")
    for X, W in (
        (da.from_array(x, chunks=5), w),
        (x, da.from_array(w)),
        (da.from_array(x, chunks=12), da.from_array(w)),
    ):
        X = X.rechunk({3: -1}) if isinstance(X, da.Array) else X
        y = tc.conv2d(X, W, padding="SAME")
        assert isinstance(y, da.Array)
        assert same_bits(y.compute(), want)
    dw = tc.conv2d_backprop_filter(da.from_array(x, chunks=(1, 5, 5, 2)), w.shape, want, padding="SAME")
    within_the_bound(dw.compute(), tc.conv2d_backprop_filter, x, w.shape, want, padding="SAME")
    depthwise = tc.depthwise_conv2d(x, da.from_array(w))
    assert same_bits(depthwise.compute(), tc.depthwise_conv2d(x, w, algorithm="depthwise"))


def test_no_image_no_channel_and_padding_alone():
    w = np.ones((3, 3, 2, 1), "float32")
    assert tc.conv2d(da.ones((0, 8, 8, 2), dtype="float32"), w).compute().shape == (0, 6, 6, 1)
    x = da.ones((1, 4, 4, 2), chunks=(1, 2, 2, 2), dtype="float32")
    wide = tc.conv2d(x, w, padding=((9, 9), (9, 9)), bias=np.float32([-0.0]))
    assert same_bits(
        wide.compute(),
        tc.conv2d(x.compute(), w, padding=((9, 9), (9, 9)), bias=np.float32([-0.0]), algorithm="row_gemm"),
    )
    assert max(wide.chunks[1]) <= 4


def test_kernels_use_one_thread_in_a_task():
    seen = []

    class Backend:
        ALGORITHMS = tc.backends.get("reference").ALGORITHMS

        @staticmethod
        def conv2d(x, w, geometry, **options):
            seen.append(tc.get_num_threads())
            return tc.backends.get("reference").conv2d(x, w, geometry, **options)

        conv2d_backprop_input = conv2d_backprop_filter = conv2d

    before = tc.get_num_threads()
    tc.set_num_threads(3)
    try:
        import types

        module = types.ModuleType("mine")
        for name in ("ALGORITHMS", "conv2d", "conv2d_backprop_input", "conv2d_backprop_filter"):
            setattr(module, name, getattr(Backend, name))
        x = da.ones((1, 6, 6, 1), chunks=(1, 3, 3, 1), dtype="float32")
        tc.conv2d(x, np.ones((1, 1, 1, 1), "float32"), backend=module).compute(scheduler="threads")
        assert seen == [1, 1, 1, 1]
        assert tc.get_num_threads() == 3
    finally:
        tc.set_num_threads(before)


class Alive:
    """Counts the arrays that are in memory at the same time, and the most that ever were."""

    def __init__(self):
        self.now = self.most = 0
        self.lock = threading.Lock()

    def __call__(self, array):
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        weakref.finalize(array, self.one_less)
        return array

    def one_less(self):
        self.now -= 1


EMPTY = np.empty((0,) * 4, "float32")


def drain(y):
    """Compute an array chunk by chunk and keep nothing of it."""
    y.map_blocks(lambda block: EMPTY.reshape(0, 1, 1, 1), chunks=(0, 1, 1, 1), meta=EMPTY).compute()


def test_memory_holds_one_slab_for_each_worker():
    alive, source = Alive(), Source(numbers((1, 200, 200, 1)))
    read = source.__class__.__getitem__
    source.__class__ = type(
        "Counted", (Source,), {"__getitem__": lambda s, where: alive(read(s, where).copy())}
    )
    y = tc.conv2d(source.chunked(), np.ones((3, 3, 1, 1), "float32"), padding="SAME")
    with dask.config.set(scheduler="threads", num_workers=2):
        drain(y)
    assert len(source.read) == 400
    assert alive.most <= 2


def test_chunks_that_are_computed_are_released_when_their_neighbours_have_their_halos():
    alive = Alive()
    x = da.ones((1, 200, 200, 1), chunks=(1, 10, 10, 1), dtype="float32")
    x = x.map_blocks(lambda block: alive(block + 1), meta=EMPTY)
    drain(tc.conv2d(x, np.ones((3, 3, 1, 1), "float32"), padding="SAME"))
    assert alive.most <= 4 * 20  # some rows of 20 chunks, of 400 chunks in all


# ---------------------------------------------------------------------------------------------
# Bad input
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", [tc.conv2d, tc.convolution])
def test_channels_in_chunks_are_joined_with_a_sentence(op):
    x = da.ones((1, 6, 6, 4), chunks=(1, 3, 3, 2), dtype="float32")
    with pytest.warns(da.PerformanceWarning, match=r"input\.rechunk\(\{3: -1\}\)") as warned:
        y = op(x, np.ones((3, 3, 4, 1), "float32"))
    assert [one.filename for one in warned] == [__file__]
    assert y.compute().max() == 36


def test_unknown_sizes_are_refused():
    x = da.ones((8, 6, 6, 4), chunks=(2, 3, 3, 4), dtype="float32")
    unknown = x[da.ones(8, chunks=2) > 0]
    with pytest.raises(ValueError, match=r"input\.compute_chunk_sizes\(\)"):
        tc.conv2d(unknown, np.ones((3, 3, 4, 1), "float32"))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"out": np.ones((1, 4, 4, 1), "float32")}, TypeError, "out must be None for dask arrays"),
        ({"algorithm": "rowgemm"}, ValueError, "row_gemm"),
        ({"backend": "numpi"}, ValueError, "numpy"),
        ({"precision": "exact"}, ValueError, "precision"),
        ({"filters": np.ones((3, 3, 4, 1))}, TypeError, 'filters.astype\\("float32"\\)'),
        ({"filters": np.ones((3, 3, 3, 1), "float32")}, ValueError, r"filters\.shape\[2\]"),
        ({"bias": np.ones(2, "float32")}, ValueError, "bias must have 1 element"),
        ({"input": da.ones((6, 6, 4), dtype="float32")}, ValueError, r"got shape \[6, 6, 4\]"),
        ({"input": da.ones((1, 6, 6, 4), dtype="uint8")}, TypeError, "input.astype"),
    ],
)
def test_bad_arguments_are_named_when_the_call_is_made(arguments, error, message):
    good = {"input": da.ones((1, 6, 6, 4), dtype="float32"), "filters": np.ones((3, 3, 4, 1), "float32")}
    with pytest.raises(error, match=message):
        tc.conv2d(**(good | arguments))


def test_chunks_of_another_kind_are_refused():
    masked = da.ma.masked_greater(da.ones((1, 6, 6, 1), chunks=3, dtype="float32"), 2)
    with pytest.raises(
        TypeError, match=r"input must have NumPy arrays as chunks; got numpy\.ma.*MaskedArray"
    ):
        tc.conv2d(masked, np.ones((3, 3, 1, 1), "float32"))


@pytest.mark.parametrize("wrong", [lambda block: block.astype("float64"), lambda block: block[:, 1:]])
def test_a_chunk_that_is_not_what_dask_says_is_refused(wrong):
    x = da.ones((1, 6, 6, 1), chunks=(1, 3, 6, 1), dtype="float32").map_blocks(wrong, meta=EMPTY)
    with pytest.raises(
        ValueError, match=r"the part of input that a chunk reads must have shape \[1, 4, 6, 1\]"
    ):
        tc.conv2d(x, np.ones((3, 3, 1, 1), "float32"), padding="SAME").compute()


def test_only_arrays_are_known():
    assert adapter_of(da.ones(3)) is not None
    assert adapter_of(dask.delayed(1)) is None


@CYTHON
def test_the_benchmark_validates_and_times(monkeypatch, capsys):
    folder = Path(__file__).parents[2] / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    benchmark = importlib.import_module("dask_chunks")
    benchmark.main(["--size", "48", "--chunk", "16", "--rounds", "1", "--graph", "100"])
    text = capsys.readouterr().out
    assert all(f"{size} x {size}  teachconv, dask" in text for size in benchmark.FILTERS)
    assert "100 chunks: " in text
    image = numbers((48, 48))
    with pytest.raises(SystemExit, match="ours is wrong"):
        benchmark.check("ours", image, image, numbers((3, 3), seed=1))
