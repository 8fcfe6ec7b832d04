"""Which algorithm the scipy backend chooses: the one that takes the least time, by a count of its work."""

import numpy as np
import pytest
from scipy import sparse

import teachconv as tc
from teachconv.backends.scipy_backend import ALGORITHMS, _cheapest, _direct, conv_matrix, expected_seconds
from teachconv.core.geometry import conv_geometry
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, KINDS

# input, filters, strides -> by default, by precision="fast"
FLOAT = np.dtype("float32")
CHOSEN = {
    "46 s as a matrix": ((1, 1200, 1200, 1), (39, 39, 1, 1), 1, "direct", "fft"),
    "more than 45 s as a matrix": ((1, 2000, 2000, 1), (24, 24, 1, 1), 1, "direct", "fft"),
    "a small layer": ((8, 28, 28, 1), (3, 3, 1, 8), 1, "sparse", "sparse"),
    "many images share a small matrix": ((500, 8, 8, 8), (3, 3, 8, 8), 1, "sparse", "sparse"),
    "a stride of which correlation computes all": ((1, 224, 224, 3), (16, 16, 3, 64), 16, "sparse", "sparse"),
    "wide": ((1, 56, 56, 64), (3, 3, 64, 64), 1, "direct", "direct"),
    "a long sequence": ((1, 400_000, 1), (400, 1, 1), 1, "direct", "fft"),
    "a volume": ((1, 40, 40, 40, 2), (3, 3, 3, 2, 8), 1, "direct", "fft"),
}


def geometry_of(shape, filters, strides):
    return conv_geometry(shape, filters, strides, "SAME")


@pytest.mark.parametrize("name", CHOSEN)
def test_the_cheapest_is_chosen(name):
    *shapes, by_default, fast = CHOSEN[name]
    geometry = geometry_of(*shapes)
    assert [_cheapest(FORWARD, geometry, FLOAT, p) for p in (None, "strict", "fast")] == [by_default] * 2 + [
        fast
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_large_image_and_filter_are_no_matrix_for_any_kind(kind):
    geometry = geometry_of((1, 1200, 1200, 1), (39, 39, 1, 1), 1)
    assert _cheapest(kind, geometry, FLOAT, None) == "direct"
    assert _cheapest(kind, geometry, FLOAT, "fast") == "fft"


def test_a_filter_gradient_counts_the_matrix_of_each_image():
    shapes = (64, 28, 28, 8), (3, 3, 8, 8), 1
    assert _cheapest(INPUT_GRADIENT, geometry_of(*shapes), FLOAT, None) == "sparse"
    assert _cheapest(FILTER_GRADIENT, geometry_of(*shapes), FLOAT, None) == "sparse"
    more = (512, *shapes[0][1:]), *shapes[1:]
    assert _cheapest(INPUT_GRADIENT, geometry_of(*more), FLOAT, None) == "sparse"
    assert _cheapest(FILTER_GRADIENT, geometry_of(*more), FLOAT, None) != "fft"


def test_the_entries_that_are_counted_are_those_of_the_matrix():
    geometry = conv_geometry((3, 9, 8, 4), (3, 2, 2, 6), 2, "VALID")
    matrix = conv_matrix(np.ones((3, 2, 2, 6), "float32"), geometry)
    assert matrix.nnz == geometry.macs // geometry.batch


def test_calls_run_what_is_chosen_and_the_trace_says_so():
    x, w = np.ones((1, 160, 160, 1), "float32"), np.ones((15, 15, 1, 1), "float32")
    for dtype, precision, chosen in (
        ("float32", None, "direct"), ("float32", "fast", "fft"), ("int32", "fast", "direct"),
    ):  # fmt: skip
        options = {"backend": "scipy", "precision": precision}
        trace = tc.trace(tc.conv2d, x.astype(dtype), w.astype(dtype), 1, "SAME", **options)
        assert trace.algorithm == chosen
    x[0, 3, 3, 0] = np.nan  # padding of zeros would be multiplied by it
    assert tc.trace(tc.conv2d, x, w, 1, "SAME", backend="scipy").algorithm == "sparse"
    assert tc.trace(tc.conv2d, x[:, 10:], w, 1, "SAME", backend="scipy").algorithm == "direct"


@pytest.mark.parametrize(
    ("shape", "filters", "seconds"),
    [((1, 14, 14, 512), (3, 3, 512, 512), (0.2, 4)), ((1, 112, 112, 128), (3, 3, 128, 128), (1, 15))],
)
def test_what_a_layer_is_expected_to_take(shape, filters, seconds):
    """Of the matrix: a few nanoseconds for each entry, which were 20 when it was built from a list of them."""
    expected = expected_seconds(FORWARD, geometry_of(shape, filters, 1))
    assert [*expected] == [one.name for one in ALGORITHMS]
    assert seconds[0] < expected["sparse"] < seconds[1]


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize(
    ("sizes", "taps"), [((9,), (3,)), ((7, 6), (3, 2)), ((5, 6, 7), (2, 3, 3)), ((6, 5, 4), (6, 1, 4))]
)
def test_rows_and_planes_are_the_same_sums(sizes, taps, dtype, rng):
    """Many channels are correlated by rows, a call for each row; few by planes, a call for each channel."""
    image, kernel = (rng.integers(-9, 9, (*shape, 8)).astype(dtype) for shape in (sizes, taps))
    alone = sum(_direct(image[..., i, None], kernel[..., i, None]) for i in range(8))
    together = _direct(image, kernel)
    assert together.dtype == dtype
    assert np.array_equal(together, alone)


def test_a_call_of_nothing_is_expected_to_take_no_time():
    for shape, filters in (
        ((1, 4, 4, 0), (3, 3, 0, 2)),
        ((1, 4, 4, 2), (3, 3, 2, 0)),
        ((0, 4, 4, 2), (3, 3, 2, 2)),
    ):
        for kind in KINDS:
            assert max(expected_seconds(kind, geometry_of(shape, filters, 1)).values()) < 1e-3


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("sizes", "taps", "strides", "dilations", "padding"),
    [
        ((5, 4), (3, 2), (2, 1), (1, 1), "SAME"),
        ((7, 6), (3, 3), (1, 1), (2, 3), ((9, 0), (1, 8))),  # some places have no taps inside
        ((7, 6), (3, 3), (3, 1), (1, 1), ((-1, 2), (0, -2))),
        ((6,), (4,), (1,), (2,), "SAME"),
        ((3, 4, 5), (2, 3, 2), (1, 2, 1), (1, 1, 2), "SAME"),
    ],
)
def test_the_matrix_is_that_of_a_list_of_its_entries(groups, sizes, taps, strides, dilations, padding, rng):
    """Each entry by the index law, in the order of rows, taps and in channels; SciPy sorts the list."""
    filters = (*taps, 2, 3 * groups)
    geometry = conv_geometry(
        (1, *sizes, 2 * groups),
        filters,
        strides,
        padding,
        ("NWC", "NHWC", "NDHWC")[len(sizes) - 1],
        dilations,
    )
    w = rng.standard_normal(filters)
    entries = []
    for *out, o in np.ndindex(geometry.output_shape[1:]):
        for *tap, i in np.ndindex(filters[:-1]):
            at = [
                axis.in_index(*pair)
                for axis, pair in zip(geometry.axes, zip(out, tap, strict=True), strict=True)
            ]
            if all(0 <= index < axis.in_size for index, axis in zip(at, geometry.axes, strict=True)):
                row = np.ravel_multi_index((*out, o), geometry.output_shape[1:])
                column = np.ravel_multi_index((*at, o // 3 * 2 + i), geometry.input_shape[1:])
                entries.append((w[*tap, i, o], row, column))
    values, rows, columns = zip(*entries, strict=True)
    matrix = conv_matrix(w, geometry)
    want = sparse.coo_array((values, (rows, columns)), matrix.shape).tocsr()
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(matrix, name), getattr(want, name)), name
