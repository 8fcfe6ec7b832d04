"""Volumes in the compiled kernels: taps in depth are runs of the same register tile, without a copy of a plane."""

from functools import partial

import numpy as np
import pytest
from helpers import assert_same_bits, mostly_slow, problems
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import cython_backend, numpy_backend, why_not
from teachconv.core.geometry import conv_geometry
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, KINDS
from teachconv.data.seeded import make_array
from teachconv.truth import bounds

pytestmark = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")

ALGORITHMS = {one.name: one for one in cython_backend.ALGORITHMS if one.name in cython_backend._OF_ANY_RANK}
ROLES = ("input", "filters", "output")
ERRORS = {"winograd4": bounds.winograd4_balanced, "winograd": bounds.winograd, "winograd2": bounds.winograd2}


def arrays_of(geometry, dtype="float32", values="normal"):
    return {role: make_array(geometry.shape_of(role), dtype, values, role) for role in ROLES}


def run(module, kind, arrays, geometry, **how):
    return getattr(module, kind.name)(
        arrays[kind.first], arrays[kind.second], geometry, **({"algorithm": None} | how)
    )


def limit(name, kind, arrays, geometry):
    """The bound of an algorithm: its transforms' or, where it computes directly, that of the sum."""
    sizes = {role: np.abs(array.astype(float)) for role, array in arrays.items()}
    direct = bounds.direct(
        run(numpy_backend, kind, sizes, geometry), geometry.terms_of(kind.result) + 1, "float32"
    )
    if name not in ERRORS:
        return direct
    transformed = ERRORS[name](kind, arrays[kind.first], arrays[kind.second], geometry, "float32")
    return np.maximum(direct, transformed)


def check(name, kind, geometry, values="normal", **changes):
    """Compare one result with that in float64, cell by cell."""
    arrays = arrays_of(geometry, values=values) | changes
    got = run(cython_backend, kind, arrays, geometry, algorithm=name)
    wide = {role: array.astype(float) for role, array in arrays.items()}
    want = run(numpy_backend, kind, wide, geometry)
    error = np.abs(got - want)
    # got is rounded once more
    assert (error <= limit(name, kind, arrays, geometry) * 1.01 + np.spacing(np.abs(got))).all(), error.max()
    return got


def kinds_of(name, geometry):
    return [kind for kind in KINDS if ALGORITHMS[name].fits(kind, "float32", geometry)]


@pytest.mark.parametrize("name", ALGORITHMS)
@settings(max_examples=20)
@given(data=st.data())
def test_any_volume_keeps_its_bound_and_integers_are_exact(name, data):
    many = data.draw(st.sampled_from([3, 3, 18]))
    g = conv_geometry(
        **data.draw(problems(rank=3, max_size=5, max_filter=4, max_channels=many, algorithm=ALGORITHMS[name]))
    )
    for kind in kinds_of(name, g):
        check(name, kind, g)
        arrays = arrays_of(g, values="integers")
        if name != "winograd4":  # its transforms have square roots
            assert_same_bits(
                run(cython_backend, kind, arrays, g, algorithm=name), run(numpy_backend, kind, arrays, g)
            )


# sizes, filter, strides, padding, dilations: each way through the kernels, with taps in depth beyond both ends
CASES = {
    "padded rows": ((5, 9, 17), (3, 3, 3), 1, "SAME", 1),
    "stride": ((9, 9, 17), (3, 3, 3), 2, "SAME", 1),
    "stride in depth": ((9, 8, 16), (3, 3, 3), (3, 1, 1), "SAME", 1),
    "steps past planes": ((9, 8, 16), (2, 3, 3), (4, 1, 1), "VALID", 1),
    "dilated depth": ((7, 9, 17), (3, 3, 3), 1, "SAME", (3, 1, 1)),
    "dilated": ((7, 9, 17), (2, 3, 3), 1, "SAME", (2, 2, 2)),
    "depth alone": ((6, 5, 9), (3, 1, 1), 1, "SAME", 1),
    "depth alone, stride": ((9, 5, 9), (4, 1, 1), (2, 1, 1), "VALID", 1),
    "planes alone": ((4, 8, 16), (1, 3, 3), 1, "SAME", 1),
    "skipped planes": ((9, 4, 8), (1, 1, 1), (2, 1, 1), "VALID", 1),
    "patches": ((4, 5, 5), (3, 3, 3), 1, "SAME", 1),
    "seven": ((8, 12, 16), (7, 7, 7), 2, "SAME", 1),
    "planes of padding": ((2, 6, 9), (2, 3, 3), 1, ((5, 3), (1, 1), (1, 1)), 1),
    "cropped": ((8, 9, 17), (3, 3, 3), 1, ((-2, -3), (1, -1), (0, 2)), 1),
}


def case(name, batch=2, channels=(5, 19)):
    sizes, taps, strides, padding, dilations = CASES[name]
    shapes = (batch, *sizes, channels[0]), (*taps, *channels)
    return conv_geometry(*shapes, strides, padding, None, dilations)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_each_way_through_the_kernels_is_exact_on_integers(isa, name):
    if cython_backend.set_isa(isa) != isa:
        cython_backend.set_isa("best")
        pytest.skip(f"no {isa} here")
    try:
        for channels in ((5, 19), (17, 35)):
            g = case(name, channels=channels)
            arrays = arrays_of(g, values="integers")
            for kind in KINDS:
                want = run(numpy_backend, kind, arrays, g)
                for algorithm in ALGORITHMS:
                    if algorithm != "winograd4" and kind in kinds_of(algorithm, g):
                        assert_same_bits(run(cython_backend, kind, arrays, g, algorithm=algorithm), want)
    finally:
        cython_backend.set_isa("best")


@pytest.mark.parametrize("name", ["padded rows", "stride", "stride in depth", "planes of padding", "cropped"])
def test_bits_depend_on_neither_threads_nor_batch_nor_plan(name):
    g, before = case(name, batch=3, channels=(33, 40)), tc.get_num_threads()
    arrays = arrays_of(g)
    alone = conv_geometry((1, *g.input_shape[1:]), g.filters_shape, g.strides, g.padding, None, g.dilations)
    try:
        for algorithm in ALGORITHMS:
            for kind in set(kinds_of(algorithm, g)) - {FILTER_GRADIENT}:
                how = {"algorithm": algorithm}
                tc.set_num_threads(1)
                want = run(cython_backend, kind, arrays, g, **how)
                tc.set_num_threads(5)
                assert_same_bits(run(cython_backend, kind, arrays, g, **how), want)
                first = {role: a if role == "filters" else a[1:2] for role, a in arrays.items()}
                assert_same_bits(run(cython_backend, kind, first, alone, **how), want[1:2])
                packed = cython_backend.pack(arrays["filters"], g, kind=kind, **how)
                assert packed.numbers is not None
                assert_same_bits(run(cython_backend, kind, arrays | {"filters": packed}, g, **how), want)
                prepared = cython_backend.prepare_kernel(
                    kind, g, np.dtype("float32"), want.shape, packed=packed
                )
                assert_same_bits(prepared(arrays[kind.first], packed.w), want)
    finally:
        tc.set_num_threads(before)


@pytest.mark.parametrize("name", mostly_slow(CASES, *list(CASES)[::2]))
@pytest.mark.parametrize("algorithm", ["pixel_gemm", "winograd", "winograd4"])
def test_filter_gradients_keep_their_bits_and_have_zeros_for_taps_in_the_padding(algorithm, name):
    """Of small volumes in one block, and of larger ones in several."""
    before = tc.get_num_threads()
    try:
        for repeat, channels in ((1, (5, 19)), (3, (20, 70))):
            g = case(name, batch=2 if repeat == 1 else 1, channels=channels)
            sizes = ((repeat if i == 1 else 1) * size for i, size in enumerate(g.input_shape))
            g = conv_geometry(tuple(sizes), g.filters_shape, g.strides, g.padding, None, g.dilations)
            if FILTER_GRADIENT not in kinds_of(algorithm, g):
                continue
            arrays = arrays_of(g)
            tc.set_num_threads(1)
            want = check(algorithm, FILTER_GRADIENT, g)
            tc.set_num_threads(5)
            assert_same_bits(run(cython_backend, FILTER_GRADIENT, arrays, g, algorithm=algorithm), want)
            ones = {role: np.ones_like(array) for role, array in arrays.items()}
            assert not want[run(numpy_backend, FILTER_GRADIENT, ones, g) == 0].any()
    finally:
        tc.set_num_threads(before)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e35])
def test_filter_gradients_of_volumes_out_of_range_are_done_directly(value):
    g = conv_geometry((2, 4, 6, 8, 5), (3, 3, 3, 5, 7), 1, "SAME")
    for role in ("input", "output"):
        arrays = arrays_of(g)
        arrays[role][1, 2, 3, 3, 3] = value
        want = run(cython_backend, FILTER_GRADIENT, arrays, g, algorithm="pixel_gemm")
        assert_same_bits(run(cython_backend, FILTER_GRADIENT, arrays, g, algorithm="winograd"), want)
        with np.errstate(invalid="ignore", over="ignore"):
            assert (np.isfinite(want) == np.isfinite(run(numpy_backend, FILTER_GRADIENT, arrays, g))).all()


@pytest.mark.parametrize("algorithm", ["winograd", "winograd2", "winograd4"])
@pytest.mark.parametrize("at", [(0, 0, 0), (1, 1, 0), (2, 0, 1), (3, 1, 1)])
def test_one_large_number_at_every_place_of_a_tile_keeps_the_bound(algorithm, at):
    g = conv_geometry((1, 4, 8, 8, 4), (3, 3, 3, 4, 8), 1, "SAME")
    for kind in kinds_of(algorithm, g):
        first = arrays_of(g)[kind.first]
        first[0, at[0], 2 + at[1], 2 + at[2]] *= 4096
        check(algorithm, kind, g, **{kind.first: first})


def test_a_large_number_in_another_plane_leaves_a_cells_error_as_it_is():
    """The bound follows from the cell's own window, also in depth."""
    g = conv_geometry((1, 7, 9, 9, 8), (3, 3, 3, 8, 32), 1, "SAME")
    arrays = arrays_of(g)
    arrays["input"][0, 3, 4, 4] *= 4096
    sizes = {role: np.abs(array.astype(float)) for role, array in arrays.items()}
    wide = {role: array.astype(float) for role, array in arrays.items()}
    own, want = (run(numpy_backend, FORWARD, each, g) for each in (sizes, wide))
    error = np.abs(run(cython_backend, FORWARD, arrays, g, algorithm="winograd2") - want) / own
    away = np.ones(want.shape, bool)
    away[:, 2:5, 3:6, 3:6] = False
    assert error[away].max() < 2e-6


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e35, 3e-38])
def test_volumes_out_of_range_are_done_directly(value):
    g = conv_geometry((2, 4, 6, 8, 5), (3, 3, 3, 5, 7), 1, "SAME")
    for kind in (FORWARD, INPUT_GRADIENT):
        arrays = arrays_of(g)
        first = arrays[kind.first]
        first[1] *= value if value == 3e-38 else 1
        first[1, 2, 3, 3, 3] = value
        op = tc.convolution if kind is FORWARD else partial(tc.convolution_backprop_input, g.input_shape)
        ordered = (first, arrays["filters"]) if kind is FORWARD else (arrays["filters"], first)
        traced = tc.trace(
            op if kind is FORWARD else tc.convolution_backprop_input,
            *(() if kind is FORWARD else (g.input_shape,)),
            *ordered,
            padding="SAME",
            backend="cython",
            algorithm="winograd2",
        )
        assert "redo" in traced.stages[-1].facts["paths"]
        other = "row_gemm" if kind is FORWARD else "phases"
        assert_same_bits(traced.result[1:], run(cython_backend, kind, arrays, g, algorithm=other)[1:])
        check("winograd2", kind, g, **{kind.first: np.nan_to_num(first, posinf=0)[:1].repeat(2, 0)})


@pytest.mark.parametrize("kind", [FORWARD, INPUT_GRADIENT])
def test_a_filter_with_infinity_meets_no_padding(kind):
    g = conv_geometry((1, 4, 6, 8, 2), (3, 3, 3, 2, 3), 1, "SAME")
    arrays = arrays_of(g, values="integers")
    arrays["filters"][0, 0, 0, 0, 0] = np.inf
    with np.errstate(invalid="ignore"):
        want = run(numpy_backend, kind, arrays, g)
    for algorithm in ALGORITHMS:
        if kind in kinds_of(algorithm, g):
            assert_same_bits(run(cython_backend, kind, arrays, g, algorithm=algorithm), want)


@pytest.mark.parametrize(
    ("sizes", "taps", "channels", "strides", "precision", "want"),
    [
        ((8, 16, 16), (3, 3, 3), (32, 32), 1, None, "winograd2"),
        ((8, 16, 16), (3, 3, 3), (32, 32), (2, 1, 1), None, "winograd2"),
        ((8, 28, 28), (3, 3, 3), (64, 64), 1, "fast", "winograd4"),
        ((8, 16, 16), (3, 3, 3), (32, 32), 1, "strict", "row_gemm"),
        ((8, 16, 16), (3, 5, 5), (32, 32), 1, None, "winograd"),
        ((8, 16, 16), (3, 1, 1), (32, 32), 1, None, "row_gemm"),
        ((8, 16, 16), (3, 3, 3), (3, 8), 1, None, "row_gemm"),
    ],
)
def test_what_is_chosen_for_a_volume(sizes, taps, channels, strides, precision, want):
    x, w = np.zeros((1, *sizes, channels[0]), "float32"), np.zeros((*taps, *channels), "float32")
    how = {"padding": "SAME", "backend": "cython", "precision": precision}
    assert tc.trace(tc.conv3d, x, w, strides, **how).algorithm == want


def test_find_source_names_the_lines_of_a_volume():
    x, w = make_array((1, 4, 8, 16, 16), "float32"), make_array((3, 3, 3, 16, 32), "float32")
    for algorithm, path in (("row_gemm", "padded_rows"), ("winograd2", "")):
        traced = tc.trace(tc.conv3d, x, w, padding="SAME", backend="cython", algorithm=algorithm)
        assert path in traced.stages[-1].facts["paths"]
        found = str(tc.find_source(tc.conv3d, x, w, padding="SAME", backend="cython", algorithm=algorithm))
        assert "register_tile.h" in found
