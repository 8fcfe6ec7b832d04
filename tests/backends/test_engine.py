"""The CPU engine: every instruction set, plans, its build, and the tightness of its bounds."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_same_bits, mostly_slow, problems
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import cython_backend, get, why_not
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import FORWARD, INPUT_GRADIENT
from teachconv.data.seeded import make_array
from teachconv.truth import bounds
from teachconv.verification.cases import find_cases
from teachconv.verification.diffing import check_cases

pytestmark = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
ALGORITHMS = () if why_not("cython") else get("cython").ALGORITHMS


@pytest.fixture(params=["baseline", "avx2", "avx512"])
def isa(request):
    if cython_backend.set_isa(request.param) != request.param:
        cython_backend.set_isa("best")
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    cython_backend.set_isa("best")


@pytest.mark.parametrize(
    ("dtype", "data", "step"),
    [
        ("float32", "normal", 6),
        ("float32", "nonfinite", 6),
        ("float64", "normal", 8),
        ("float64", "nonfinite", 8),
        *(pytest.param("float32", data, 1, marks=pytest.mark.slow) for data in ("normal", "nonfinite")),
        *(pytest.param("float64", data, 1, marks=pytest.mark.slow) for data in ("normal", "nonfinite")),
    ],
)
def test_every_instruction_set_passes_the_cases(isa, dtype, data, step):
    """Of the processor's best, test_bounds_are_kept runs all; a step takes some of the small ones."""
    rows = check_cases(["cython"], dtype, data, find_cases("small" if step > 1 else None)[::step])
    assert all(row.passed for row in rows), [
        f"{row.name} {row.algorithm}" for row in rows if row.passed is False
    ]


@settings(max_examples=60)
@given(data=st.data())
def test_random_shapes_with_remainders(data):
    """Channel counts around the widths of vectors and tiles, in integers, and therefore exactly."""
    # winograd4's balanced points are square roots, and no sum of its products is exact
    exact = [one for one in ALGORITHMS if one.name != "winograd4"]
    algorithm = data.draw(st.sampled_from(exact))
    problem = data.draw(problems(max_size=20, max_filter=5, max_channels=40, algorithm=algorithm))
    g = conv2d_geometry(**problem)
    options = {key: problem[key] for key in ("strides", "padding", "dilations")}
    shapes = (("x", g.input_shape), ("w", g.filters_shape), ("dy", g.output_shape))
    x, w, dy = (make_array(shape, "float32", "integers", name) for name, shape in shapes)
    for kind, op, args in (
        ("conv2d", tc.conv2d, (x, w)),
        ("conv2d_backprop_input", tc.conv2d_backprop_input, (x.shape, w, dy)),
        ("conv2d_backprop_filter", tc.conv2d_backprop_filter, (x, w.shape, dy)),
    ):
        if not algorithm.fits(kind, "float32", g):
            continue
        want = op(*args, **options, backend="numpy")
        got = op(*args, **options, backend="cython", algorithm=algorithm.name)
        assert np.array_equal(got, want)  # Winograd's halves are exact, too


def test_plans_give_the_bits_of_the_op():
    for case in find_cases("small"):
        for problem in case.problems("float32"):
            name = problem.op.__name__
            if name.endswith("backprop_filter") or 0 in case.input or 0 in case.filters:
                continue
            gradient = name.endswith("backprop_input")
            filters, x = problem.args[1], problem.args[2 if gradient else 0]
            shape = problem.args[0] if gradient else x.shape
            arguments = dict(problem.kwargs)
            if name == "conv2d_transpose":
                arguments["output_shape"] = problem.args[2]
            call, _ = tc.nn_ops.call_of(problem.op, problem.args, problem.kwargs)
            names = [a.name for a in ALGORITHMS if a.fits(call.kind, "float32", call.geometry)]
            for algorithm in (None, *names):
                planned = tc.plan(
                    problem.op, filters, input_shape=shape, backend="cython", algorithm=algorithm, **arguments
                )
                want = problem.op(
                    *problem.args, **problem.kwargs, backend="cython", algorithm=planned.algorithm
                )
                assert np.array_equal(planned(x), want), (problem.name, algorithm)
                assert planned.algorithm in names
                out = np.empty_like(want)
                assert planned(x, out=out) is out
                assert np.array_equal(out, want)


@pytest.mark.parametrize(("op", "kind"), [(tc.conv2d, FORWARD), (tc.conv2d_transpose, INPUT_GRADIENT)])
def test_bits_with_infinity_and_nan(op, kind):
    """A plan, any number of threads and the long way agree on all numbers and on the place of each NaN."""
    x, w = make_array((2, 40, 44, 16), "float32"), make_array((3, 3, 16, 16), "float32", "normal", "w")
    x[0, 20, 20, 3], x[1, 5, 30, 7], x[1, 39, 43, 0] = np.nan, -np.inf, -0.0
    geometry = conv2d_geometry(x.shape, w.shape, 1, "SAME")
    names = [a.name for a in ALGORITHMS if a.fits(kind, "float32", geometry)]
    for value in (1.0, -np.inf, np.nan):
        w[1, 2, 3, 4] = value
        for algorithm in (None, *names):
            options = {"strides": 1, "padding": "SAME", "backend": "cython", "algorithm": algorithm}
            tc.set_num_threads(1)
            planned = tc.plan(op, w, input_shape=x.shape, **options)
            assert_same_bits(planned(x), op(x, w, **options | {"algorithm": planned.algorithm}))
            want = op(x, w, **options)
            assert_same_bits(tc.trace(op, x, w, **options).result, want)
            tc.set_num_threads(3)
            assert_same_bits(op(x, w, **options), want)


@pytest.mark.parametrize("op", [tc.conv2d, tc.conv2d_backprop_input, tc.depthwise_conv2d])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_a_plan_gives_way_where_the_op_does(op, padding):
    """A plan ran the direct loops for every filter with a NaN, the op only where it meets the padding."""
    x, w = make_array((1, 9, 9, 8), "float32"), make_array((3, 3, 8, 1), "float32")
    w[0, 0, 0, 0] = np.nan
    if op is tc.conv2d_backprop_input:
        size, w = (9, 9) if padding == "SAME" else (11, 11), w.repeat(8, 3)
        args, shape = ((1, *size, 8), w, x), (1, *size, 8)
    else:
        args, shape = (x, w), x.shape
    planned, traced = tc.plan(op, w, input_shape=shape, padding=padding), tc.trace(op, *args, padding=padding)
    assert planned.algorithm == traced.algorithm
    assert_same_bits(planned(x), op(*args, padding=padding))


def test_a_plan_does_not_count_the_transform_of_its_filter():
    """winograd pays for 256 channels on 7 x 7 pixels if the filter is transformed once; its bits are the op's.

    The larger tile would read 2.25 times as much of the filter for a quarter of the tiles.
    """
    x, w = make_array((2, 7, 7, 256), "float32"), make_array((3, 3, 256, 256), "float32")
    for op, args, direct in (
        (tc.conv2d, (x, w), "row_gemm"),
        (tc.conv2d_backprop_input, (x.shape, w, x), "phases"),
    ):
        how = {"padding": "SAME", "backend": "cython"}
        for precision, best in (("strict", direct), (None, "winograd2"), ("fast", "winograd2")):
            assert tc.trace(op, *args, **how, precision=precision).algorithm == direct
            planned = tc.plan(op, w, input_shape=(1, 7, 7, 256), **how, precision=precision)
            assert planned.algorithm == best
            assert_same_bits(planned(x), op(*args, **how, algorithm=best))
    how = {"input_shape": (1, 20, 256), "padding": "SAME", "backend": "cython"}
    assert tc.plan(tc.conv1d, w[0], **how).algorithm == "winograd"
    volume = tc.plan(tc.conv3d, w[None], input_shape=(1, 1, 7, 7, 256), padding="SAME", backend="cython")
    assert volume.algorithm == "winograd2"


def test_plans_take_another_batch_and_refuse_another_image():
    x, w = make_array((3, 8, 8, 16), "float32"), make_array((3, 3, 16, 32), "float32")
    planned = tc.plan(tc.conv2d, w, input_shape=(1, 8, 8, 16), padding="SAME")
    assert np.array_equal(planned(x), tc.conv2d(x, w, padding="SAME"))
    assert planned.nbytes > 0
    assert "plan of conv2d" in repr(planned)
    for wrong in (x[:, :7], x.astype(np.float64)):
        with pytest.raises(ValueError, match="apart from the batch, input must have the planned shape"):
            planned(wrong)
    with pytest.raises(TypeError, match="op must be one of"):
        tc.plan(tc.conv2d_backprop_filter, w, input_shape=x.shape)
    with pytest.raises(ValueError, match="filters.shape"):
        tc.plan(tc.conv2d, w, input_shape=(1, 8, 8, 15))
    with pytest.raises(ValueError, match="input_shape must have 4 sizes"):
        tc.plan(tc.conv2d, w, input_shape=(8, 8, 16))


@pytest.mark.parametrize("backend", ["reference", "numpy", "scipy"])
def test_plans_on_backends_that_arrange_nothing(backend):
    x, w = make_array((1, 5, 5, 2), "float32"), make_array((3, 3, 2, 3), "float32")
    planned = tc.plan(tc.conv2d, w, input_shape=x.shape, backend=backend)
    assert planned.nbytes == 0
    assert np.array_equal(planned(x), tc.conv2d(x, w, backend=backend))


def test_plans_of_filters_that_are_not_finite():
    x, w = make_array((1, 6, 6, 16), "float32"), make_array((3, 3, 16, 32), "float32")
    for value in (np.nan, np.inf, 1e30):
        w[0, 0, 0, 0] = value
        planned = tc.plan(tc.conv2d, w, input_shape=x.shape, padding="SAME")
        assert tc.diff(tc.conv2d, x, w, padding="SAME", backends=[], against={"plan": planned(x)}).passed


PLANNED = (  # each algorithm that packs its filter, with columns that fill no vector of any width
    (tc.conv2d, "row_gemm", (2, 9, 9, 5), (3, 3, 5, 37), {}),
    (tc.conv2d, "winograd2", (2, 9, 9, 32), (3, 3, 32, 64), {}),
    (tc.conv2d, "winograd4", (2, 9, 9, 32), (3, 3, 32, 64), {}),
    (tc.conv2d_backprop_input, "phases", (2, 9, 9, 37), (3, 3, 37, 21), {"strides": 2}),
    (tc.conv2d_backprop_input, "winograd2", (2, 9, 9, 37), (3, 3, 37, 21), {}),
    (tc.conv2d_backprop_input, "winograd4", (2, 9, 9, 37), (3, 3, 37, 21), {}),
    (tc.conv2d_backprop_input, "col2im", (2, 9, 9, 3), (3, 3, 3, 21), {}),
    (tc.conv2d_backprop_input, "col2im", (2, 9, 9, 3), (3, 3, 3, 21), {"strides": 2}),
)


@pytest.mark.parametrize(("op", "algorithm", "image", "filters", "options"), PLANNED)
@pytest.mark.parametrize("made_on", ["baseline", "avx2", "best"])
def test_a_plan_outlives_a_change_of_the_instruction_set(
    isa, made_on, op, algorithm, image, filters, options
):
    options = options | {"padding": "SAME", "backend": "cython", "algorithm": algorithm}
    x, w = make_array(image, "float32"), make_array(filters, "float32")
    cython_backend.set_isa(made_on)
    planned = tc.plan(op, w, input_shape=image, **options)
    assert planned.nbytes > 0
    cython_backend.set_isa(isa)
    if op is tc.conv2d:
        assert np.array_equal(planned(x), op(x, w, **options))
    else:
        dy = make_array(planned.geometry.output_shape, "float32")
        assert np.array_equal(planned(dy), op(image, w, dy, **options))


FEW_CHANNELS = (  # image, filters, options, whether col2im makes planes
    ((2, 9, 40, 1), (3, 3, 1, 21), {"padding": "SAME"}, True),
    ((1, 9, 17, 4), (2, 5, 4, 3), {"strides": (2, 1), "padding": "SAME"}, True),
    ((1, 7, 70, 2), (3, 4, 2, 33), {"dilations": (2, 3), "padding": "SAME"}, True),
    ((1, 8, 50, 3), (3, 3, 3, 5), {"padding": [[0, 0], [30, 1], [2, 40], [0, 0]]}, True),
    ((3, 300, 130, 1), (5, 5, 1, 2), {"padding": "VALID"}, True),  # several blocks of out rows
    ((1, 5, 5, 1), (1, 1, 1, 40), {"padding": "VALID"}, True),
    ((1, 9, 40, 5), (3, 3, 5, 21), {"padding": "SAME"}, False),
    ((1, 9, 40, 1), (3, 3, 1, 21), {"strides": (1, 2), "padding": "SAME"}, False),
    ((1, 200, 200, 1), (190, 190, 1, 1), {"padding": "VALID"}, False),  # planes of 2 MB and more
)


@pytest.mark.parametrize(("image", "filters", "options", "planes"), FEW_CHANNELS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_col2im_of_few_channels(isa, image, filters, options, planes, dtype):
    """Small integers: every order of summation is exact, so the cells equal those of `phases`."""
    shape = conv2d_geometry(image, filters, **options).output_shape
    w, dy = make_array(filters, dtype, "integers"), make_array(shape, dtype, "integers")

    options = options | {"backend": "cython"}
    traced = tc.trace(tc.conv2d_backprop_input, image, w, dy, **options, algorithm="col2im")
    assert ("planes" in traced.stages[-1].facts["paths"]) is planes
    want = tc.conv2d_backprop_input(image, w, dy, **options, algorithm="phases")
    assert np.array_equal(traced.result, want)
    planned = tc.plan(tc.conv2d_backprop_input, w, input_shape=image, **options, algorithm="col2im")
    assert planned(dy).tobytes() == traced.result.tobytes()


def test_the_choice_follows_the_instruction_set(isa):
    """winograd2 pays for 24 channels only where these fill some vectors: the choice is not a cached one."""
    x, w = make_array((1, 32, 32, 48), "float32"), make_array((3, 3, 48, 24), "float32")
    wide = isa == "avx512"
    for name in ("best", isa):
        cython_backend.set_isa(name)
        chosen = tc.trace(tc.conv2d, x, w, 1, "SAME", backend="cython").algorithm
    assert chosen == ("row_gemm" if wide else "winograd2")


def test_an_input_gradient_with_a_stride_much_larger_than_the_image(isa):
    """It took 45 seconds: one step for each pair of residues, of which an image of 4 x 4 has 16."""
    image, filters, options = (1, 4, 4, 20), (3, 3, 20, 20), {"strides": 30_000, "padding": "SAME"}
    w, dy = make_array(filters, "float32"), make_array((1, 1, 1, 20), "float32")
    start = time.process_time()  # that of other programs does not count
    got = tc.conv2d_backprop_input(image, w, dy, **options, backend="cython", algorithm="phases")
    planned = tc.plan(tc.conv2d_backprop_input, w, input_shape=image, algorithm="phases", **options)
    assert np.array_equal(planned(dy), got)
    assert time.process_time() - start < 10
    check = tc.diff(tc.conv2d_backprop_input, image, w, dy, **options, backends=[], against={"phases": got})
    assert check.passed


def test_precision_decides_about_winograd():
    x, w = make_array((1, 32, 32, 64), "float32"), make_array((3, 3, 64, 64), "float32")
    assert tc.trace(tc.conv2d, x, w, 1, "SAME").algorithm == "winograd2"
    assert tc.trace(tc.conv2d, x, w, 1, "SAME", precision="strict").algorithm == "row_gemm"
    traced = tc.trace(tc.conv2d, x, w, 1, "SAME", precision="fast")
    assert (
        "winograd4: a filter larger than its strides, and precision='fast' allows the larger tile"
        in " ".join(str(traced).split())
    )
    dy = make_array(x.shape, "float32")
    for precision, want in ((None, "winograd2"), ("fast", "winograd4")):
        call = tc.conv2d_backprop_input, x.shape, w, dy, 1, "SAME"
        assert tc.trace(*call, precision=precision).algorithm == want
    with pytest.raises(ValueError, match="does not keep the element-wise bound"):
        tc.conv2d(x, w, 1, "SAME", algorithm="winograd2", precision="strict")
    with pytest.raises(ValueError, match="algorithm 'winograd4' does not keep the element-wise bound"):
        tc.conv2d(x, w, 1, "SAME", algorithm="winograd4", precision="strict")
    with pytest.raises(ValueError, match="algorithm 'winograd2' needs filters 3 x 3, strides 1"):
        tc.conv2d(x, w, 2, "SAME", algorithm="winograd2")
    with pytest.raises(ValueError, match="algorithm 'depthwise' needs groups = in_channels"):
        tc.conv2d(x, w, algorithm="depthwise")


def test_the_choice_and_its_reason_are_in_the_trace():
    x, w = make_array((1, 32, 32, 64), "float32"), make_array((3, 3, 64, 64), "float32")
    assert "winograd2: 3x3 at stride 1" in str(tc.trace(tc.conv2d, x, w, 1, "SAME"))
    assert "instruction set" in str(tc.trace(tc.conv2d, x, w, 1, "SAME"))


@pytest.mark.parametrize("algorithm", ["winograd2", "winograd4"])
def test_images_out_of_winograds_range_are_done_by_row_gemm(algorithm):
    """The bad image has the bits of row_gemm and does not change the others."""
    x, w = make_array((3, 12, 12, 32), "float32"), make_array((3, 3, 32, 64), "float32")
    options = {"padding": "SAME", "backend": "cython"}
    clean = tc.conv2d(x, w, **options, algorithm=algorithm)
    for value in (np.nan, np.inf, 1e35, 3e-38):
        bad = x.copy()
        bad[1] = bad[1] * value if value == 3e-38 else bad[1]
        bad[1, 5, 5, 3] = value
        got = tc.conv2d(bad, w, **options, algorithm=algorithm)
        assert np.array_equal(got[0], clean[0])
        assert np.array_equal(got[2], clean[2])
        want = tc.conv2d(bad[1:2], w, **options, algorithm="row_gemm")[0]
        assert np.array_equal(got[1], want, equal_nan=True)


def test_denormals_are_not_flushed():
    tiny = np.float32(2.0**-140)
    x, w = np.full((1, 4, 4, 1), tiny), np.ones((1, 1, 1, 1), np.float32)
    for algorithm in ALGORITHMS:
        if algorithm.fits(FORWARD, "float32", conv2d_geometry(x.shape, w.shape)):
            assert (tc.conv2d(x, w, backend="cython", algorithm=algorithm.name) == tiny).all()


PITCH = 4096  # bytes from one row of a tile to the next: rows that fall on one set of the cache
PITCHED = (  # op, batch, rows, cols, filter sizes, narrow channels, strides; the other channels fill PITCH
    (tc.conv2d, 3, 3, 5, (1, 1), 37, 1),  # x in place; a filter that stays in the cache
    (tc.conv2d, 1, 3, 29, (1, 1), 75, 1),  # panel by panel, or a filter read in place
    (tc.conv2d, 3, 3, 5, (1, 1), 133, 1),  # x copied at another pitch, for 128 columns of the filter and more
    (tc.conv2d, 2, 4, 4, (2, 2), 133, 1),  # patches at another pitch than their own
    (tc.conv2d_backprop_input, 2, 5, 7, (1, 1), 133, 1),  # likewise dy
    (tc.conv2d, 2, 3, 16, (3, 3), 5, 1),  # padded rows
    (tc.conv2d_backprop_input, 1, 6, 6, (4, 4), 37, 2),  # exchanged operands
    (tc.conv2d_backprop_input, 3, 14, 14, (4, 4), 15, 2),  # phases by row_gemm
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("op", "batch", "rows", "cols", "size", "narrow", "strides"), PITCHED)
def test_tiles_whose_rows_share_a_set_of_the_cache(isa, op, batch, rows, cols, size, narrow, strides, dtype):
    """Integers, so the sums are exact; and random numbers, whose bits depend on neither batch nor plan."""
    wide, image = PITCH // np.dtype(dtype).itemsize, (batch, rows, cols)
    forward = op is tc.conv2d
    x_shape = (*image, wide if forward else narrow)
    w_shape = (*size, wide, narrow) if forward else (*size, narrow, wide)
    options = {"strides": strides, "padding": "SAME"}
    algorithm = "row_gemm" if forward else "phases"
    out_shape = conv2d_geometry(x_shape, w_shape, **options).output_shape

    def run(data, w, **choice):
        args = (data, w) if forward else ((len(data), *x_shape[1:]), w, data)
        return op(*args, **options, **choice)

    for values in ("integers", "normal"):
        data = make_array(x_shape if forward else out_shape, dtype, values, "data")
        w = make_array(w_shape, dtype, values, "w")
        got = run(data, w, backend="cython", algorithm=algorithm)
        if values == "integers":
            assert np.array_equal(got, run(data, w, backend="numpy"))
        alone = [run(data[i : i + 1], w, backend="cython", algorithm=algorithm) for i in range(batch)]
        assert np.concatenate(alone).tobytes() == got.tobytes()
        planned = tc.plan(op, w, input_shape=x_shape, backend="cython", algorithm=algorithm, **options)
        assert planned(data).tobytes() == got.tobytes()


@pytest.mark.parametrize(("channels", "columns"), [(1024, 127), (1024, 128), (1040, 128)])
def test_pixels_that_share_a_set_are_copied_if_it_pays(isa, channels, columns):
    x, w = make_array((1, 5, 7, channels), "float32"), make_array((1, 1, channels, columns), "float32")
    traced = tc.trace(tc.conv2d, x, w, backend="cython", algorithm="row_gemm")
    copied = (channels, columns) == (1024, 128)
    assert traced.stages[-1].facts["paths"] == ("patches" if copied else "whole_input")


WIDE = (  # shapes whose whole rows would take more than the 4 MB of scratch, with every width of vectors
    ("depthwise", (1, 1000, 320, 1), (3, 3, 1, 1), 1, (450, 2)),  # copied rows: 901 of them
    ("depthwise", (1, 1000, 320, 1), (3, 3, 1, 3), 1, (450, 2)),  # the same with a multiplier
    ("depthwise", (1, 2, 2100, 256), (1, 3, 256, 2), (1, 2), 1),  # a row of dx before it is summed
    ("pixel_gemm", (1, 2, 27000, 2), (1, 3, 2, 33), 1, 1),  # a row of dy, in panels
)


@pytest.mark.parametrize(
    ("name", "image", "filters", "strides", "dilations"), mostly_slow(WIDE, WIDE[0], *WIDE[2:])
)
def test_rows_too_large_for_scratch_are_done_in_parts(isa, name, image, filters, strides, dilations):
    options = {"strides": strides, "padding": "SAME", "dilations": dilations}
    g = conv2d_geometry(image, filters, **options)
    shapes = (("x", image), ("w", filters), ("dy", g.output_shape))
    x, w, dy = (make_array(shape, "float32", "normal", key) for key, shape in shapes)
    algorithm = next(a for a in ALGORITHMS if a.name == name)
    sums_of = {"conv2d": filters[0] * filters[1] * filters[2], "conv2d_backprop_filter": dy[..., 0].size}
    sums_of["conv2d_backprop_input"] = filters[0] * filters[1] * filters[3]
    for op, args in (
        (tc.conv2d, (x, w)),
        (tc.conv2d_backprop_input, (x.shape, w, dy)),
        (tc.conv2d_backprop_filter, (x, w.shape, dy)),
    ):
        kind = op.__name__
        if not algorithm.fits(kind, "float32", g):
            continue
        wide = [a.astype(np.float64) if isinstance(a, np.ndarray) else a for a in args]
        sizes = [abs(a) if isinstance(a, np.ndarray) else a for a in wide]
        want, abs_sum = (op(*a, **options, backend="cython", algorithm="direct") for a in (wide, sizes))
        bound = bounds.direct(abs_sum, sums_of[kind], "float32")
        results = []
        for threads in (1, 2, 3):
            tc.set_num_threads(threads)
            results.append(op(*args, **options, backend="cython", algorithm=name))
        assert bounds.judge(results[0], want.astype(np.float32), bound, abs_sum).passed, kind
        assert all(got.tobytes() == results[0].tobytes() for got in results), kind


def observed(data, dtype):
    """The largest error of each algorithm over the cases, as a fraction of its bound."""
    worst = {}
    for row in check_cases(["cython"], dtype, data):
        assert row.passed, row.name
        worst[row.algorithm] = max(worst.get(row.algorithm, 0.0), row.bound_fraction)
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("data", ["normal", "scaled", "tiny", "huge", "nonfinite"])
def test_bounds_are_kept_and_not_hopelessly_loose(data, record_property):
    """A very loose bound proves nothing; for these worst-case bounds, a hundredth is close enough."""
    worst = observed(data, "float32")
    record_property("observed_over_bound", worst)
    assert set(worst) == {algorithm.name for algorithm in ALGORITHMS}
    assert all(0.01 < fraction <= 1 for fraction in worst.values()), worst


def test_winograd_is_no_worse_than_direct_summation_measured_by_the_largest_sum():
    """precision=None bounds the error relative to the largest sum |x||w| of the result."""
    x, w = make_array((2, 20, 20, 64), "float32"), make_array((3, 3, 64, 64), "float32")
    truth = tc.conv2d(x.astype(float), w.astype(float), padding="SAME")
    largest = tc.conv2d(np.abs(x).astype(float), np.abs(w).astype(float), padding="SAME").max()
    allowed = bounds.direct(largest, 9 * 64, "float32") / largest
    for algorithm in ("winograd2", "row_gemm"):
        error = np.abs(tc.conv2d(x, w, padding="SAME", algorithm=algorithm) - truth).max() / largest
        assert error <= allowed


SETUP = ["setup.py", "-q", "build_ext"]
ON_32_BITS = f"import runpy, sys; sys.maxsize, sys.argv = 2**31 - 1, {SETUP}; runpy.run_path('setup.py')"
UNSUPPORTED = {
    "Microsoft's C compiler": [*SETUP, "--compiler=msvc"],
    "a 32-bit processor": ["-c", ON_32_BITS],
}


@pytest.mark.slow
@pytest.mark.parametrize("required", ["0", "1"])
@pytest.mark.parametrize("what", UNSUPPORTED)
def test_the_extension_is_left_out_where_it_is_not_supported(tmp_path, required, what):
    root = Path(tc.__file__).parents[1]
    if not (root / "setup.py").exists():
        pytest.skip("an installed package has no setup.py")
    (tmp_path / "teachconv").mkdir()
    shutil.copy(root / "setup.py", tmp_path)
    shutil.copy2(root / "teachconv" / "_kernels.pyx", tmp_path / "teachconv")
    kernels = Path("teachconv/backends/kernels")
    shutil.copytree(root / kernels, tmp_path / kernels)
    if (
        root / "build" / "cython"
    ).exists():  # of an installation in place; Cython makes it otherwise, in seconds
        shutil.copytree(root / "build" / "cython", tmp_path / "build" / "cython")
    environment = os.environ | {"TEACHCONV_REQUIRE_CYTHON": required}
    command = [sys.executable, *UNSUPPORTED[what]]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == int(required)
    assert f"{what} is not supported" in ran.stderr
    assert not list(tmp_path.glob("build/lib*"))


def test_autotune_measures_what_fits_and_nothing_else():
    x, w = make_array((1, 8, 8, 4), "float32"), make_array((3, 3, 4, 4), "float32")
    report = tc.autotune(tc.conv2d, x, w, rounds=2)
    names = {(item.backend, item.algorithm) for item in report}
    assert ("cython", "row_gemm") in names
    assert ("cython", "depthwise") not in names
    assert [item.median for item in report] == sorted(item.median for item in report)
    assert "GFLOP/s" in str(report)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("strides", [1, 2])
def test_streamed_results_are_the_same(strides, dtype):
    """A batch beyond the caches is streamed; its images alone are not. Integers make every sum exact."""
    x = make_array((24, 112, 104, 16), dtype, "integers")
    w = make_array((3, 3, 16, 1), dtype, "integers")
    y = tc.depthwise_conv2d(x, w, strides, "SAME")
    dx = tc.depthwise_conv2d_backprop_input(x.shape, w, y, strides, "SAME")
    assert x.nbytes + y.nbytes > 16 << 20
    for image in (slice(0, 1), slice(23, 24)):
        alone = tc.depthwise_conv2d(x[image], w, strides, "SAME", backend="numpy")
        assert np.array_equal(y[image], alone)
        gradient = tc.depthwise_conv2d_backprop_input(
            alone.shape[:1] + x.shape[1:], w, alone, strides, "SAME", backend="numpy"
        )
        assert np.array_equal(dx[image], gradient)


def test_results_lie_elsewhere_in_a_page_than_the_input():
    x, w = make_array((1, 14, 14, 512), "float32"), make_array((3, 3, 512, 1), "float32")
    y = tc.depthwise_conv2d(x, w, 1, "SAME")
    x_at, y_at = (array.__array_interface__["data"][0] for array in (x, y))
    assert y_at % 64 == 0
    assert 384 <= (y_at - x_at) % 4096 <= 448


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("x", "w", "strides", "padding", "dilations"),
    [
        # tall tiles of depthwise, and tiles of its filter gradient: two rows, one, a last block that steps back
        ((2, 14, 14, 32), (3, 3, 1, 32), 1, "SAME", 1),
        ((1, 7, 9, 35), (3, 3, 1, 35), 1, "VALID", 1),
        ((1, 5, 70, 64), (3, 3, 1, 64), 1, "SAME", 1),
        ((2, 15, 13, 32), (3, 3, 1, 32), 2, "SAME", 1),
        ((1, 6, 70, 20), (3, 3, 1, 20), 2, "VALID", 1),
        ((1, 2, 2, 16), (3, 3, 1, 16), 1, ((2, 2), (2, 2)), 1),
        ((1, 1, 1, 16), (3, 3, 1, 16), 2, ((1, 3), (4, 1)), 1),
        ((1, 9, 9, 32), (3, 3, 1, 32), (2, 1), "SAME", 1),  # no tall tiles
        # of 5x5 and at stride 2: pairs and single rows, 4 pixels and fewer, copied rows, a multiplier
        ((2, 12, 13, 35), (5, 5, 1, 35), 1, "SAME", 1),
        ((1, 9, 9, 3), (5, 5, 1, 6), 1, "VALID", 1),
        ((1, 11, 10, 19), (3, 3, 1, 19), 2, ((2, 3), (0, 4)), 1),
        # tiles of its gradients: all kinds of borders, a last block that steps back, pixels 1024 bytes apart
        ((2, 11, 13, 256), (3, 3, 1, 256), 1, "SAME", 1),
        ((1, 12, 9, 256), (3, 3, 1, 256), 2, "SAME", 1),
        ((1, 10, 13, 37), (3, 3, 1, 37), 2, "VALID", 1),
        ((2, 2, 3, 256), (3, 3, 1, 256), 2, ((2, 3), (4, 5)), 1),
        ((1, 8, 5, 21), (3, 3, 1, 21), 2, ((0, 1), (3, 0)), 1),
        # many taps in a row: five at a time, and the rest; several rows of them
        ((2, 1, 60, 20), (1, 31, 1, 20), 1, "SAME", 1),
        ((1, 9, 20, 16), (7, 9, 1, 16), 1, "SAME", 1),
        # one input channel: 4 pixels and fewer, one to three panels, part of a vector
        ((2, 28, 28, 1), (3, 3, 1, 32), 1, "SAME", 1),
        ((1, 7, 11, 1), (3, 3, 1, 100), 1, "VALID", 1),
        ((1, 9, 15, 1), (3, 3, 1, 17), (2, 3), ((1, 2), (3, 0)), (2, 1)),
        ((1, 3, 3, 1), (3, 3, 1, 16), 1, ((4, 0), (5, 5)), 1),
        ((2, 150, 60, 1), (3, 3, 1, 16), (2, 1), "SAME", (5, 1)),  # two blocks of rows
        ((1, 2, 9, 1), (3, 3, 1, 48), 1, "SAME", (1, 3)),
        # few filters: squares of pixels that fit and that do not, every stride and dilation, one to six channels
        ((2, 20, 37, 1), (5, 5, 1, 1), 1, "SAME", 1),
        ((1, 28, 28, 3), (3, 3, 3, 6), 1, "VALID", 1),
        ((2, 9, 90, 6), (2, 5, 6, 3), (2, 3), ((1, 2), (3, 0)), (2, 1)),
        ((1, 7, 40, 2), (3, 3, 2, 10), 1, ((4, 0), (9, 5)), (1, 2)),
        ((1, 150, 60, 4), (3, 3, 4, 5), (1, 2), "SAME", (5, 3)),  # several blocks of rows
        ((3, 1, 17, 1), (1, 3, 1, 8), 1, "SAME", 1),
        # filters as wide as their stride, whose input gradient merges columns; too few and too many columns
        ((2, 8, 12, 5), (2, 2, 5, 7), 2, "VALID", 1),
        ((1, 9, 15, 21), (3, 3, 21, 33), 3, "VALID", 1),
        ((1, 4, 8, 40), (4, 2, 40, 3), (4, 2), "VALID", 1),
        ((1, 7, 10, 9), (2, 2, 9, 5), 2, "SAME", 1),
        ((1, 9, 11, 9), (2, 2, 9, 5), 2, "VALID", 1),
        ((1, 6, 8, 9), (3, 2, 9, 40), (1, 2), "VALID", (2, 1)),
    ],
)
def test_kernels_of_special_layers(isa, dtype, x, w, strides, padding, dilations):
    """Integers make every sum exact, so the results equal those of another backend."""
    g = conv2d_geometry(x, w, strides, padding, dilations=dilations)
    x, w, dy = (make_array(shape, dtype, "integers") for shape in (x, w, g.output_shape))
    options = {"strides": strides, "padding": padding, "dilations": dilations}
    for op, args in (
        (tc.conv2d, (x, w)),
        (tc.conv2d_backprop_input, (x.shape, w, dy)),
        (tc.conv2d_backprop_filter, (x, w.shape, dy)),
    ):
        want = op(*args, **options, backend="numpy")
        assert np.array_equal(op(*args, **options, backend="cython"), want), op.__name__


def test_results_beyond_the_caches_have_the_same_bits():
    """Eight images of 5x5 depthwise are streamed, row by row; one is computed in tall tiles."""
    x, w = make_array((8, 100, 100, 48), "float32"), make_array((5, 5, 48, 1), "float32")
    assert np.array_equal(
        tc.depthwise_conv2d(x, w, 1, "SAME")[3:4], tc.depthwise_conv2d(x[3:4], w, 1, "SAME")
    )


@pytest.mark.parametrize("filters", [16, 3])
def test_small_layers_give_the_bits_of_row_gemm(filters):
    """A row of 90,000 columns does not fit the scratch, and row_gemm computes it; its beginning does."""
    x, w = make_array((1, 3, 90_000, 1), "float32"), make_array((3, 3, 1, filters), "float32")
    whole, part = tc.conv2d(x, w), tc.conv2d(x[:, :, :40], w)
    assert np.array_equal(whole[:, :, :38], part)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_merged_columns_have_the_bits_of_phases(isa, dtype):
    """Eight columns are four times two; seven are not, and are computed phase by phase. A plan packs the same."""
    w, dy = make_array((2, 2, 21, 33), dtype), make_array((2, 4, 4, 33), dtype)
    bias = make_array((21,), dtype, "normal", "bias")
    options = {"backend": "cython", "algorithm": "phases"}
    for more in ({}, {"bias": bias}):
        merged, phases = (
            tc.conv2d_transpose(dy, w, (2, size, size, 21), 2, "SAME", **more, **options) for size in (8, 7)
        )
        assert_same_bits(merged[:, :7, :7], phases)
    planned = tc.plan(tc.conv2d_transpose, w, input_shape=dy.shape, strides=2, **options)
    assert_same_bits(planned(dy) + bias, merged)
