"""One suite for every backend and algorithm: named cases, random shapes, unusual data, adjoint identity."""

import tracemalloc
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from helpers import backend_algorithms, only, only_memory, problems
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import TABLE
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT
from teachconv.core.taps import reached
from teachconv.data.seeded import make_array
from teachconv.truth import bounds
from teachconv.verification.cases import CASES as ALL
from teachconv.verification.cases import find_cases
from teachconv.verification.diffing import check_cases

SLOW_WITH_CHANNELS = [("scipy", "direct"), ("scipy", "fft")]  # a call of SciPy for each pair of channels
DTYPES = ["float32", "float64", "float16", "bfloat16", "int32", "int64"]
BACKENDS = list(backend_algorithms())
JUDGED = [param for param in BACKENDS if param.values[0] != "reference"]  # which judges them
LISTED = [
    param.values for param in backend_algorithms(DTYPES) if not param.marks and param.values[0] != "reference"
]
ALONE = [only(*param.values) for param in BACKENDS if not param.marks]  # each algorithm as a backend
CASES = find_cases("small")
LIKE_SMALLER = ("ASPP, dilation 24", "64 images")  # seconds each; dilation 12 and 32 images are quick
CASE_NUMBERS = [
    pytest.param(
        number,
        id=f"{case.op} {case.name}".replace(" ", "-"),
        marks=[pytest.mark.slow] * (case.name in LIKE_SMALLER),
    )
    for number, case in enumerate(CASES)
]
LARGE = [
    pytest.param(
        case, id=f"{case.op} {case.name}".replace(" ", "-"), marks=[pytest.mark.slow] * ("slow" in case.tags)
    )
    for case in ALL
    if case not in CASES
]
COMPARED = [one for one in ALONE if one.__name__ != "reference"]
PLANE_BY_PLANE = [one for one in ALONE if (one.__name__, one.ALGORITHMS[0].name) in SLOW_WITH_CHANNELS]
QUICK = [one for one in ALONE if one not in PLANE_BY_PLANE and one.__name__ != "reference"]


def check(op, args, kwargs, backend, algorithm):
    """Diff one algorithm against the reference; the reference itself is checked in test_reference."""
    if refused(op, args, kwargs, backend, algorithm):
        return None
    return row_of(tc.diff(op, *args, backends=[only(backend, algorithm)], **kwargs), backend, algorithm)


def refused(op, args, kwargs, backend, algorithm):
    """Whether the algorithm does not fit the call; if so, it has to refuse it by name."""
    call, _ = tc.nn_ops.call_of(op, args, kwargs)
    if algorithm.fits(call.kind, call.first.dtype.name, call.geometry):
        return False
    with pytest.raises((ValueError, TypeError), match=f"algorithm '{algorithm.name}'"):
        op(*args, **kwargs, backend=backend, algorithm=algorithm.name)
    return True


def row_of(report, backend, algorithm):
    """The one row of an algorithm in a report, which has to pass."""
    (row,) = all_pass(row for row in report.rows if (row.name, row.algorithm) == (backend, algorithm.name))
    return row


def all_pass(rows):
    """The rows, all of which have to pass."""
    rows = list(rows)
    failed = [row for row in rows if row.passed is False]
    assert not failed, "\n\n".join(f"{row}\n{row.explanation}" for row in failed)
    return rows


def has_many_channels(case):
    """Whether an algorithm that takes pairs of channels one by one takes long, and so does an exact sum."""
    return "tails" in case.tags or np.prod(case.filters[-2:]) >= 150


@lru_cache(maxsize=128)
def case_rows(number, dtype, data):
    """The problems of a case, and the rows of every backend on all of them: computed once, read by many tests."""
    case = CASES[number]
    modules = QUICK if has_many_channels(case) else COMPARED
    return list(case.problems(dtype, data)), check_cases(modules, dtype, data, [case])


def rows_of_case(number, dtype, data, backend, algorithm):
    """The row of one algorithm for each problem of a case that it does not refuse."""
    if (backend, algorithm.name) in SLOW_WITH_CHANNELS and has_many_channels(CASES[number]):
        return  # a slow test has them
    case_problems, rows = case_rows(number, dtype, data)
    for problem in case_problems:
        if not refused(problem.op, problem.args, problem.kwargs, backend, algorithm):
            name = f"{backend}: {problem.name}, {dtype} {data}"
            (row,) = (row for row in rows if (row.name, row.algorithm) == (name, algorithm.name))
            yield row


@pytest.mark.parametrize("case", CASE_NUMBERS)
def test_cases(case):
    """Every algorithm, in every dtype that it lists; with many channels in those that the kernels compute in."""
    dtypes = ("float32", "float64") if has_many_channels(CASES[case]) else DTYPES
    all_pass(
        row
        for backend, algorithm, dtype in LISTED
        if dtype in dtypes
        for row in rows_of_case(case, dtype, "integers" if dtype == "int64" else "normal", backend, algorithm)
    )


def data_of(dtype):
    return "integers" if dtype.startswith("int") else "normal"


@pytest.mark.parametrize("case", LARGE[::2])
def test_cases_of_real_sizes(case):
    check_real_size(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE[1::2])
def test_other_cases_of_real_sizes(case):
    check_real_size(case)


def check_real_size(case):
    all_pass(check_cases(QUICK, "float32", "normal", [case]))


@pytest.mark.slow
@pytest.mark.parametrize("case", LARGE)
def test_cases_of_real_sizes_in_every_dtype(case):
    """On one core, so many numbers take minutes in all."""
    for dtype in DTYPES[1:] if case.geometry.macs < 200_000_000 else ():
        all_pass(check_cases(QUICK, dtype, data_of(dtype), [case]))
    all_pass(check_cases(QUICK, "float32", "integers", [case]))
    if "slow" not in case.tags:
        all_pass(check_cases(PLANE_BY_PLANE, "float32", "normal", [case]))


@pytest.mark.slow
@pytest.mark.parametrize("case", list(filter(has_many_channels, CASES)), ids=lambda case: case.name)
def test_cases_of_many_channels(case):
    """Up to thousands of pairs of channels: what the tests above and below leave out."""
    for dtype in DTYPES:
        all_pass(check_cases(ALONE, dtype, data_of(dtype), [case]))
    for dtype, data in product(("float32", "float64"), ("integers", "scaled", "tiny", "huge", "nonfinite")):
        all_pass(check_cases(ALONE, dtype, data, [case]))


@pytest.mark.slow
def test_the_reference_is_a_backend_too():
    """Its algorithms against the one that judges the others; test_reference and test_slices compare the bits."""
    for dtype in DTYPES:
        few = [case for case in CASES if not has_many_channels(case)]
        all_pass(check_cases(["reference"], dtype, data_of(dtype), few))


def few_channels(first, step):
    """The numbers of some cases, of those without many channels."""
    return [number for number in range(first, len(CASES), step) if not has_many_channels(CASES[number])]


@pytest.mark.xdist_group("odd_data")  # they read the same rows
@pytest.mark.parametrize("first", [0, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("backend", "algorithm"), JUDGED)
@pytest.mark.parametrize("data", ["integers", "scaled", "tiny", "huge", "nonfinite"])
def test_odd_data(data, backend, algorithm, first):
    for case in few_channels(first, 4):
        for row in all_pass(rows_of_case(case, "float32", data, backend, algorithm)):
            if data == "integers" and algorithm.error == "direct":
                assert row.max_abs == 0  # sums of small integers are exact in any order


@pytest.mark.slow
@pytest.mark.parametrize(("backend", "algorithm"), JUDGED)
@pytest.mark.parametrize("data", ["scaled", "tiny", "huge", "nonfinite"])
def test_odd_data_in_float64(data, backend, algorithm):
    for case in few_channels(1, 9):
        all_pass(rows_of_case(case, "float64", data, backend, algorithm))


@pytest.mark.parametrize(("backend", "algorithm"), BACKENDS)
@settings(max_examples=15)
@given(data=st.data(), layout=st.sampled_from(["NHWC", "NCHW"]))
def test_random_shapes(backend, algorithm, data, layout):
    problem = data.draw(problems(algorithm=algorithm))
    dtype = data.draw(st.sampled_from(algorithm.dtypes))
    g = conv2d_geometry(**problem)
    x, w, dy = (
        make_array(shape, dtype, "integers", name)
        for shape, name in ((g.input_shape, "x"), (g.filters_shape, "w"), (g.output_shape, "dy"))
    )
    if layout == "NCHW":
        x, dy = x.transpose(0, 3, 1, 2), dy.transpose(0, 3, 1, 2)
    common = {key: problem[key] for key in ("strides", "padding", "dilations")}
    common |= {"data_format": layout}
    for op, args in (
        (tc.conv2d, (x, w)),
        (tc.conv2d_backprop_input, (x.shape, w, dy)),
        (tc.conv2d_backprop_filter, (x, w.shape, dy)),
    ):
        if refused(op, args, common, backend, algorithm):
            continue
        got = op(*args, **common, backend=backend, algorithm=algorithm.name)
        assert got.dtype == dtype
        assert got.flags.c_contiguous
        if algorithm.error == "direct":  # stricter than the bound by which `check` judges
            assert np.array_equal(got, op(*args, **common, backend="reference"))
        else:
            check(op, args, common, backend, algorithm)


@pytest.mark.parametrize(("backend", "algorithm", "dtype"), list(backend_algorithms(["int64"])))
@settings(max_examples=15)
@given(problem=problems())
def test_adjoint_identity(backend, algorithm, dtype, problem):
    """<conv(x), y> = <x, convT(y)> = <w, filter gradient>: in integers, and therefore exactly."""
    g = conv2d_geometry(**problem)
    x, w, dy = (
        make_array(shape, "int64", "integers", name)
        for shape, name in ((g.input_shape, "x"), (g.filters_shape, "w"), (g.output_shape, "dy"))
    )
    options = {key: problem[key] for key in ("strides", "padding", "dilations")}
    options |= {"backend": backend, "algorithm": algorithm.name}
    y = tc.conv2d(x, w, **options)
    dx = tc.conv2d_backprop_input(x.shape, w, dy, **options)
    dw = tc.conv2d_backprop_filter(x, w.shape, dy, **options)
    transposed = tc.conv2d_transpose(dy, w, x.shape, **options)
    assert (y * dy).sum() == (x * dx).sum() == (w * dw).sum()
    assert np.array_equal(transposed, dx)


@pytest.mark.parametrize(("backend", "algorithm"), BACKENDS)
def test_any_memory_layout_gives_the_same_result(backend, algorithm):
    x = make_array((2, 6, 7, 4), "float32", "integers", "x")
    depth = {"depthwise": 1, "winograd": 4, "winograd2": 4, "winograd4": 4}.get(algorithm.name, 2)
    w = make_array((3, 3, depth, 8), "float32", "integers", "w")
    options = {"padding": "SAME", "backend": backend, "algorithm": algorithm.name}
    if FORWARD not in algorithm.kinds:
        options["algorithm"] = None
    want = tc.conv2d(x, w, **options)

    class Subclass(np.ndarray):
        pass

    misaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape)
    assert not misaligned.flags.aligned
    read_only = x.copy()
    read_only.flags.writeable = False
    variants = [
        np.asfortranarray(x),
        np.repeat(x, 2, axis=1)[:, ::2],
        x[:, ::-1, ::-1].copy()[:, ::-1, ::-1],
        read_only,
        x.astype(">f4"),
        misaligned,
        x.view(Subclass),
        np.ma.masked_array(x),
    ]
    for variant in variants:
        assert np.array_equal(tc.conv2d(variant, w, **options), want)
    for variant in (np.asfortranarray(w), w[::-1].copy()[::-1], w.astype(">f4")):
        assert np.array_equal(tc.conv2d(x, variant, **options), want)
    broadcast = np.broadcast_to(x[:1, :1], x.shape)
    assert np.array_equal(tc.conv2d(broadcast, w, **options), tc.conv2d(broadcast.copy(), w, **options))


@pytest.mark.parametrize(("backend", "algorithm"), BACKENDS)
def test_out_is_written_and_returned(backend, algorithm):
    options = {"padding": "SAME", "backend": backend, "algorithm": algorithm.name}
    if algorithm.name == "depthwise" or "conv2d" not in algorithm.kinds:
        options["algorithm"] = None
    x, w = np.ones((1, 4, 5, 2), np.float32), np.ones((3, 3, 2, 3), np.float32)
    want = tc.conv2d(x, w, **options)
    for out in (np.full((1, 4, 5, 3), 7, np.float32), np.full((1, 4, 5, 6), 7, np.float32)[..., ::2]):
        assert tc.conv2d(x, w, **options, out=out) is out
        assert np.array_equal(out, want)
    out = np.empty((1, 3, 4, 5), np.float32)
    got = tc.conv2d(x.transpose(0, 3, 1, 2), w, **options, data_format="NCHW", out=out)
    assert got is out
    assert np.array_equal(out, want.transpose(0, 3, 1, 2))
    options["algorithm"] = None
    out = np.empty((3, 3, 2, 1), np.float32)
    tc.depthwise_conv2d_backprop_filter(x, (3, 3, 2, 1), x, **options, out=out)
    assert np.array_equal(out, tc.depthwise_conv2d_backprop_filter(x, (3, 3, 2, 1), x, **options))


def test_lists_and_other_libraries_arrays():
    assert tc.conv2d([[[[2]]]], [[[[3]]]]).dtype == np.int32
    assert tc.conv2d([[[[2.0]]]], [[[[3.0]]]]).dtype == np.float64

    class SpeaksArray:
        def __array__(self, dtype=None, copy=None):
            return np.full((1, 1, 1, 1), 2, np.float32)

    class SpeaksDlpack:
        array = np.full((1, 1, 1, 1), 2, np.float32)

        def __dlpack__(self, **kwargs):
            return self.array.__dlpack__(**kwargs)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    w = np.full((1, 1, 1, 1), 3, np.float32)
    assert tc.conv2d(SpeaksArray(), w).item() == 6
    assert tc.conv2d(SpeaksDlpack(), w).item() == 6


SKIPPED = (  # shapes, strides, padding, dilations: some cells of y, of dx or of dw belong to no product
    ((1, 7, 9, 3), (2, 1, 3, 4), 3, "VALID", 1),
    ((2, 4, 5, 3), (3, 3, 3, 4), 1, ((5, 4), (6, 3)), 1),
    ((1, 9, 8, 4), (3, 3, 4, 4), 1, ((-4, -1), (1, -5)), 1),
    ((1, 5, 6, 4), (3, 3, 1, 4), 1, ((0, 7), (7, 0)), 3),
    ((1, 2, 2, 2), (5, 5, 2, 1), 1, "SAME", 2),
)


@pytest.mark.parametrize("problem", SKIPPED)
@pytest.mark.parametrize(("backend", "algorithm"), BACKENDS)
def test_where_no_tap_lands_is_zero_and_not_a_rounding_error(backend, algorithm, problem):
    x_shape, w_shape, *how = problem
    geometry = conv2d_geometry(x_shape, w_shape, *how[:2], dilations=how[2])
    options = dict(zip(("strides", "padding", "dilations"), how, strict=True))
    options |= {"backend": backend, "algorithm": algorithm.name}
    x, w, dy = (-np.abs(make_array(shape, "float32")) for shape in (x_shape, w_shape, geometry.output_shape))
    for kind, op, args in (
        (FORWARD, tc.conv2d, (x, np.abs(w))),
        (INPUT_GRADIENT, tc.conv2d_backprop_input, (x_shape, w, np.abs(dy))),
        (FILTER_GRADIENT, tc.conv2d_backprop_filter, (x, w_shape, np.abs(dy))),
    ):
        if algorithm.fits(kind, "float32", geometry):
            got = op(*args, **options)
            cells = got[np.broadcast_to(~reached(geometry, kind.result), got.shape)]
            assert not cells.any()
            assert not np.signbit(cells).any()
    if algorithm.fits(FORWARD, "float32", geometry):
        bias = np.array([-1.5, 0.1, 2, 3][: w_shape[3]], "float32")
        got = tc.conv2d(x, w, **options, bias=bias)
        skipped = ~reached(geometry, "output")[..., 0]
        assert np.array_equal(got[:, skipped], np.broadcast_to(bias, got[:, skipped].shape))


@pytest.mark.parametrize("backend", ["reference", "cython"])
def test_bits_depend_neither_on_threads_nor_on_the_batch(backend):
    if tc.backends.why_not(backend):
        pytest.skip(tc.backends.why_not(backend))
    shapes = [((2, 5, 6, 3), (3, 3, 3, 4), 1)]
    if backend == "cython":
        shapes += [
            ((3, 40, 44, 16), (3, 3, 16, 24), 1),
            ((3, 60, 60, 32), (3, 3, 1, 32), 1),
            ((3, 7, 7, 96), (3, 3, 96, 128), 1),
            ((8, 33, 31, 8), (4, 4, 8, 40), 2),
        ]
    for x_shape, w_shape, strides in shapes:
        x, w = make_array(x_shape, "float32", "normal", "x"), make_array(w_shape, "float32", "normal", "w")
        options = {"strides": strides, "padding": "SAME", "backend": backend}
        dy = tc.conv2d(x, w, strides, "SAME", backend="numpy")
        geometry = conv2d_geometry(x_shape, w_shape, strides, "SAME")
        for algorithm in (None, *tc.backends.get(backend).ALGORITHMS):
            options["algorithm"] = None if algorithm is None else algorithm.name

            def fits(kind, algorithm=algorithm, geometry=geometry):
                return algorithm is None or algorithm.fits(kind, "float32", geometry)

            runs = []
            for threads in (1, 2, 3):
                tc.set_num_threads(threads)
                results = []
                if fits(FORWARD):
                    results.append(tc.conv2d(x, w, **options))
                    images = [tc.conv2d(x[n : n + 1], w, **options) for n in range(len(x))]
                    assert np.array_equal(results[-1], np.concatenate(images)), options
                if fits(INPUT_GRADIENT):
                    results.append(tc.conv2d_backprop_input(x.shape, w, dy, **options))
                    images = [
                        tc.conv2d_backprop_input((1, *x_shape[1:]), w, dy[n : n + 1], **options)
                        for n in range(len(x))
                    ]
                    assert np.array_equal(results[-1], np.concatenate(images)), options
                if fits(FILTER_GRADIENT):
                    results.append(tc.conv2d_backprop_filter(x, w_shape, dy, **options))
                runs.append([result.tobytes() for result in results])
            assert runs[0] == runs[1] == runs[2], options


@pytest.mark.parametrize("transposed", [False, True])
def test_conv_matrix_is_the_convolution(transposed, rng):
    x = rng.integers(-4, 5, (1, 5, 4, 4)).astype("int64")
    w = rng.integers(-4, 5, (3, 2, 2, 4)).astype("int64")
    if transposed:
        g = tc.conv2d_transpose_geometry(x.shape, w.shape, (1, 9, 7, 4), 2)
        y = tc.conv2d_transpose(x, w, (1, 9, 7, 4), 2)
    else:
        g = tc.conv2d_geometry(x.shape, w.shape, 2, "SAME")
        y = tc.conv2d(x, w, 2, "SAME")
    matrix = tc.conv_matrix(w, g)
    assert matrix.format == "csr"
    assert matrix.shape == (y.size, x.size)
    assert np.array_equal(matrix @ x.ravel(), y.ravel())
    with pytest.raises(ValueError, match="filters must have shape"):
        tc.conv_matrix(w[:2], g)
    with pytest.raises(TypeError, match="geometry must come from"):
        tc.conv_matrix(w, "geometry")


def peak_of(function):
    """The most memory, in bytes, that Python and NumPy held during a call, beyond what they held before."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("channels", "filter_size", "dtype"), [(2, 3, "float32"), (1, 1, "float64"), (4, 1, "int32")]
)
def test_the_memory_that_a_sparse_matrix_takes_is_counted(channels, filter_size, dtype, monkeypatch):
    """What is counted is what is used: the machine's memory is set to a little more, and to a little less."""
    w = np.ones((filter_size, filter_size, channels, channels), dtype)
    g = tc.conv2d_geometry((1, 200, 200, channels), w.shape, padding="SAME")
    tc.conv_matrix(w[:1, :1, :1, :1], tc.conv2d_geometry((1, 1, 1, 1), (1, 1, 1, 1)))  # imports
    peak = peak_of(lambda: tc.conv_matrix(w, g))
    only_memory(monkeypatch, int(1.05 * peak))
    tc.conv_matrix(w, g)
    only_memory(monkeypatch, int(0.95 * peak))
    with pytest.raises(MemoryError, match=r"building the sparse matrix of shape \[.*entries needs"):
        tc.conv_matrix(w, g)


def test_a_sparse_matrix_too_large_is_refused_before_anything_is_allocated(monkeypatch):
    only_memory(monkeypatch, 12 << 30)
    w = np.ones((3, 3, 2, 2), "float32")
    g = tc.conv2d_geometry((1, 5000, 5000, 2), w.shape, padding="SAME")

    def refused():
        with pytest.raises(
            MemoryError, match="needs 15 GiB; at most 12 GiB is legal: nine tenths of the test's memory"
        ):
            tc.conv_matrix(w, g)

    assert peak_of(refused) < 32 << 20
    g = tc.conv2d_geometry((1, 3, 3, 2), w.shape, padding=10**5)
    with pytest.raises(MemoryError, match="with 324 entries needs 4.95 TiB"):  # for its rows alone
        tc.conv_matrix(w, g)
    assert peak_of(lambda: pytest.raises(MemoryError, tc.conv_matrix, w, g)) < 1 << 20
    only_memory(monkeypatch, 1 << 20)
    x, dy = np.ones((1, 100, 100, 2), "float32"), np.ones((1, 100, 100, 2), "float32")
    with pytest.raises(MemoryError, match="building the sparse matrix"):
        tc.conv2d_backprop_filter(x, w.shape, dy, 1, "SAME", backend="scipy", algorithm="sparse")


def test_judge_fails_what_is_outside_the_bound():
    """An error of one ulp above the bound fails, and so does a NaN in the wrong place."""
    want = np.float32([1, 2, 3])
    limit = bounds.direct(np.abs(want).astype(float), 2, "float32")
    assert bounds.judge(want, want, limit).passed
    assert not bounds.judge(want * np.float32(1 + 2.0**-20), want, limit).passed
    assert not bounds.judge(np.float32([1, np.nan, 3]), want, limit).passed
    assert not bounds.judge(np.float32([1, np.inf, 3]), want, limit).passed
    nan = np.float32([1, np.nan, np.inf])
    assert bounds.judge(nan, nan, limit).passed
    assert not bounds.judge(want, nan, limit).passed
    assert not bounds.judge(-nan, nan, limit).passed
    assert not bounds.judge(np.int32([1, 2, 4]), np.int32([1, 2, 3])).passed
    overflowing = bounds.judge(np.float32([np.inf]), np.float32([3e38]), 0.0, np.array([4e38]))
    assert overflowing.passed
    assert overflowing.may_overflow.all()


def test_backends_table():
    table = tc.backends()
    assert [info.name for info in table] == list(TABLE)
    assert set(TABLE) >= {"reference", "numpy", "scipy", "cython", "cupy"}
    assert all(info.available for info in table if info.name not in ("cython", "cupy"))
    assert "im2col" in str(table)
    assert "<table>" in table._repr_html_()


def test_use_backend_sets_and_sets_back(rng):
    x, w = np.ones((1, 2, 2, 1)), np.ones((1, 1, 1, 1))
    before = tc.trace(tc.conv2d, x, w).backend
    with tc.use_backend("numpy"):
        assert tc.trace(tc.conv2d, x, w).backend == "numpy"
        with tc.use_backend("scipy"):
            assert tc.trace(tc.conv2d, x, w).backend == "scipy"
        assert tc.trace(tc.conv2d, x, w).backend == "numpy"
    assert tc.trace(tc.conv2d, x, w).backend == before
    with pytest.raises(ValueError, match="backend must be one of reference"):
        tc.use_backend("cudnn")


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", None, 10**6, True])
def test_set_num_threads_refuses(bad):
    with pytest.raises((ValueError, TypeError), match="num_threads must be"):
        tc.set_num_threads(bad)
