"""Winograd: the matrices in exact arithmetic, the kernels' copies of them, and their errors."""

from fractions import Fraction

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import cython_backend, why_not
from teachconv.core import winograd
from teachconv.data.seeded import make_array
from teachconv.truth import bounds

pytestmark = pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")


class Surd:
    """p + q sqrt(2) with rational p and q: sqrt(1/2) is sqrt(2) / 2, so the matrices consist of such numbers."""

    def __init__(self, p, q=0):
        self.p, self.q = Fraction(p), Fraction(q)

    def __add__(self, other):
        return Surd(self.p + other.p, self.q + other.q)

    def __mul__(self, other):
        return Surd(self.p * other.p + 2 * self.q * other.q, self.p * other.q + self.q * other.p)

    def __eq__(self, other):
        return (self.p, self.q) == (other.p, other.q)

    __hash__ = None

    def __float__(self):
        return float(self.p) + float(self.q) * 2**0.5


def surds(*rows):
    """A matrix of rows such as "1 -b 5/2 a/2", where a is sqrt(1/2) and b is sqrt(2)."""
    roots = {"a": Surd(0, Fraction(1, 2)), "b": Surd(0, 1)}

    def entry(text):
        sign, text = (-1, text[1:]) if text[0] == "-" else (1, text)
        top, _, bottom = text.partition("/")
        root = roots.get(top[-1], Surd(1))
        return root * Surd(sign * Fraction(top.rstrip("ab") or 1) / int(bottom or 1))

    return [[entry(text) for text in row.split()] for row in rows]


# as in kernels/winograd_matrices.h: B', G and A' of r taps, at the points 0, infinity, a, -a, b and -b
LAST = ("1 0 1 1 1 1", "0 0 a -a b -b", "0 0 1/2 1/2 2 2", "0 1 a/2 -a/2 2b -2b")
FOUR = {
    1: (["1 0 -2 0", "0 -1/2 0 1", "0 a 1 0", "0 -a 1 0"], ["1"] * 4),
    2: (
        ["1 -a -2 b 0", "0 a -1/2 -b 1", "0 1 a -1 0", "0 1 -3a 1 0", "0 -1/2 0 1 0"],
        ["1 0", "0 1", "b 1", "-b/3 1/3", "2a/3 2/3"],
    ),
    3: (
        [
            "1 0 -5/2 0 1 0",
            "0 1 0 -5/2 0 1",
            "0 b 2 -a -1 0",
            "0 -b 2 a -1 0",
            "0 -a -1/2 b 1 0",
            "0 a -1/2 -b 1 0",
        ],
        ["1 0 0", "0 0 1", "2/3 2a/3 1/3", "2/3 -2a/3 1/3", "1/6 b/6 1/3", "1/6 -b/6 1/3"],
    ),
}
FOUR = {
    taps: (surds(*b), surds(*g), [row[: taps + 3] for row in surds(*LAST)]) for taps, (b, g) in FOUR.items()
}
B, G, A = FOUR[3]


def times(matrix, vector):
    return [sum((m * v for m, v in zip(row, vector, strict=True)), Surd(0)) for row in matrix]


def short_convolution(d, g):
    """A' [ (G g) * (B' d) ]: four outputs of the taps."""
    inputs, taps, outputs = FOUR[len(g)]
    return times(outputs, [u * v for u, v in zip(times(taps, g), times(inputs, d), strict=True)])


@pytest.mark.parametrize("taps", [1, 2, 3])
def test_the_short_convolution_is_exact_in_exact_arithmetic(taps):
    """It is linear in d and in g, so the unit vectors prove it for all numbers."""
    for place, tap in np.ndindex(taps + 3, taps):
        d, g = ([Surd(i == at) for i in range(size)] for at, size in ((place, taps + 3), (tap, taps)))
        assert short_convolution(d, g) == [Surd(out + tap == place) for out in range(4)]


def test_a_worked_example():
    """d = 1 0 0 2 0 0 and g = 1 2 3: y[1] = 0·1 + 0·2 + 2·3."""
    d, g = ([Surd(number) for number in numbers] for numbers in ((1, 0, 0, 2, 0, 0), (1, 2, 3)))
    b = Surd(0, 1)
    assert times(B, d) == [Surd(1), Surd(-5), b * Surd(-1), b, b * Surd(2), b * Surd(-2)]
    assert times(G, g) == [
        Surd(1),
        Surd(3),
        Surd(Fraction(5, 3), Fraction(2, 3)),
        Surd(Fraction(5, 3), Fraction(-2, 3)),
        Surd(Fraction(7, 6), Fraction(1, 3)),
        Surd(Fraction(7, 6), Fraction(-1, 3)),
    ]
    assert short_convolution(d, g) == [Surd(1), Surd(6), Surd(4), Surd(2)]


@pytest.mark.parametrize("taps", [1, 2, 3])
def test_bound_and_explanation_have_the_same_matrices(taps):
    for ours, theirs in zip(FOUR[taps], winograd.FORMS["winograd4"][taps], strict=True):
        assert [[(one.p, one.q) for one in row] for row in ours] == [
            [(one.p, one.q) for one in row] for row in theirs
        ]


@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2.0**-20), ("float64", 2.0**-49)])
def test_the_kernel_moves_a_single_number_to_its_place(isa, dtype, tolerance):
    """One input 1 and one tap 1, at each of their places in a tile: a transform with a wrong entry shows."""
    if cython_backend.set_isa(isa) != isa:
        cython_backend.set_isa("best")
        pytest.skip(f"no {isa} here")
    try:
        for cell in np.ndindex(6, 6):
            x = np.zeros((1, 6, 6, 1), dtype)
            x[0, *cell, 0] = 1
            w = np.zeros((3, 3, 1, 9), dtype)  # each output channel has one tap
            w.reshape(9, 9)[np.diag_indices(9)] = 1
            y = tc.conv2d(x, w, backend="cython", algorithm="winograd4")
            want = tc.conv2d(x, w, backend="cython", algorithm="direct")
            assert np.abs(y - want).max() <= tolerance
            dy = np.zeros((1, 4, 4, 16), dtype)  # each output channel has one output of the tile
            dy.reshape(16, 16)[np.diag_indices(16)] = 1
            args = x, (3, 3, 1, 16), dy
            dw, want = (
                tc.conv2d_backprop_filter(*args, backend="cython", algorithm=name)
                for name in ("winograd4", "direct")
            )
            call, _ = tc.nn_ops.call_of(tc.conv2d_backprop_filter, args, {})
            assert (
                np.abs(dw - want) <= bounds.winograd4_balanced(call.kind, x, dy, call.geometry, dtype)
            ).all()
    finally:
        cython_backend.set_isa("best")


SIZES = [(1, 1), (1, 4), (3, 5), (4, 4), (5, 9), (8, 8), (13, 7)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_tiles_that_the_image_does_not_fill(size, dtype):
    """Whole tiles, parts of tiles, and images smaller than one; channels that fill no vector."""
    x, w = make_array((2, *size, 3), dtype), make_array((3, 3, 3, 18), dtype)
    for padding in ("SAME", ((2, 3), (1, 0)), ((-1, 4), (3, 3))):
        if padding != "SAME" and min(size[0] + 1, size[1] + 1) < 3:
            continue
        for op, args in (
            (tc.conv2d, (x, w)),
            (tc.conv2d_backprop_input, (x.shape, w, _dy(x, w, padding))),
            (tc.conv2d_backprop_filter, (x, w.shape, _dy(x, w, padding))),
        ):
            options = {"padding": padding, "backends": ["cython"], "algorithm": "winograd4"}
            assert tc.diff(op, *args, **options).passed, (op.__name__, padding)


@pytest.mark.parametrize("algorithm", ["winograd", "winograd4"])
def test_taps_that_read_padding_only_have_no_gradient(algorithm):
    """The transforms leave rounding errors there, which are cleared."""
    x, dy = make_array((2, 2, 3, 5), "float32"), make_array((2, 2, 4, 33), "float32")
    how = {"padding": [[0, 0], [2, 0], [1, 2], [0, 0]], "backend": "cython", "algorithm": algorithm}
    dw = tc.conv2d_backprop_filter(x, (3, 3, 5, 33), dy, **how)
    assert not dw[0].any()
    assert dw[1:].all()


@pytest.mark.parametrize("at", [(0, 0), (1, 2), (3, 3), (2, 0)])
@pytest.mark.parametrize(("size", "strides"), [((3, 3), 1), ((5, 5), 1), ((3, 3), 2), ((4, 4), 2)])
def test_one_large_number_at_a_place_of_a_tile_of_four_keeps_the_bound(at, size, strides):
    for op, args in calls((1, 20, 20, 4), (*size, 4, 8), strides, "SAME"):
        for array in (array for array in args if isinstance(array, np.ndarray) and array.shape[1] > 7):
            array[0, 4 + at[0], 4 + at[1]] *= 4096
        report = tc.diff(op, *args, strides, "SAME", backends=["cython"], algorithm="winograd4")
        assert report.passed, op.__name__


def test_filter_gradients_of_four_give_the_same_bits_for_threads_and_are_done_directly_out_of_range():
    x, dy = make_array((2, 23, 25, 33), "float32"), make_array((2, 23, 25, 65), "float32")
    filters, how = (3, 3, 33, 65), {"padding": "SAME", "backend": "cython"}
    before = tc.get_num_threads()
    try:
        bits = []
        for threads in (1, 2, 5):
            tc.set_num_threads(threads)
            dw = tc.conv2d_backprop_filter(x, filters, dy, **how, algorithm="winograd4")
            bits.append(dw.tobytes())
        assert bits[0] == bits[1] == bits[2]
    finally:
        tc.set_num_threads(before)
    x[0, 3, 3, 3] = 1e35
    done = [
        tc.conv2d_backprop_filter(x, filters, dy, **how, algorithm=name)
        for name in ("winograd4", "pixel_gemm")
    ]
    assert done[0].tobytes() == done[1].tobytes()


def _dy(x, w, padding):
    return make_array(tc.conv2d_geometry(x.shape, w.shape, 1, padding).output_shape, x.dtype.name)


def test_only_winograd4_brings_a_large_neighbour_into_a_cells_error():
    """Of cells whose window does not read the large number, winograd2's error has the size of their own sums."""
    x, w = make_array((1, 16, 16, 16), "float32"), make_array((3, 3, 16, 32), "float32")
    x[0, 5, 5] *= 2.0**12
    truth, own = (
        tc.conv2d(f(x.astype(float)), f(w.astype(float)), padding="SAME", backend="numpy")
        for f in (np.array, np.abs)
    )
    away = np.ones(truth.shape, bool)
    away[:, 4:7, 4:7] = False
    errors = {
        name: (np.abs(tc.conv2d(x, w, padding="SAME", algorithm=name) - truth) / own)[away].max()
        for name in ("row_gemm", "winograd2", "winograd4")
    }
    assert max(errors["row_gemm"], errors["winograd2"]) < 1e-6
    assert errors["winograd4"] > 1e-4
    call, _ = tc.nn_ops.call_of(tc.conv2d, (x, w), {"padding": "SAME"})
    two, four = (
        (f(call.kind, x, w, call.geometry, "float32") / own)[away].max()
        for f in (bounds.winograd2, bounds.winograd4_balanced)
    )
    assert two < 1e-4
    assert four > errors["winograd4"]


def test_the_error_by_the_largest_sum_is_about_that_of_direct_summation():
    """In-order summation reaches 2e-7 to 3e-7 here; the textbook's points 0, +-1, +-2 would reach 1.6e-6."""
    x, w = make_array((1, 24, 24, 128), "float32"), make_array((3, 3, 128, 32), "float32")
    truth, sums = (
        tc.conv2d(f(x.astype(float)), f(w.astype(float)), backend="numpy") for f in (np.array, np.abs)
    )
    error = np.abs(tc.conv2d(x, w, backend="cython", algorithm="winograd4") - truth).max() / sums.max()
    assert error < 6e-7


@pytest.mark.parametrize("value", [2.0**-149, 2.0**-126])
def test_subnormal_parts_of_an_image_keep_the_bound(value):
    """The image is in range, but the inputs of some tiles are not normal numbers."""
    x, w = make_array((1, 16, 16, 4), "float32"), make_array((3, 3, 4, 8), "float32")
    x[0, :8] = np.float32(value) * np.arange(1, 5, dtype="float32")
    for size in (1.0, 2.0**40):
        options = {"padding": "SAME", "backends": ["cython"], "algorithm": "winograd4"}
        assert tc.diff(tc.conv2d, x, w * np.float32(size), **options).passed


# ----------------------------------------------------------------------------------------------------
# F(2, r): the pieces of larger filters, strides and gradients
# ----------------------------------------------------------------------------------------------------

# as in kernels/winograd_matrices.h: B', G and A' of r taps, at the points 0, infinity, 1 and -1
PIECES = {
    1: (["1 0", "0 1"], ["1", "1"], ["1 0", "0 1"]),
    2: (["1 -1 0", "0 -1 1", "0 1 0"], ["1 0", "0 1", "1 1"], ["1 0 1", "0 1 1"]),
    3: (
        ["1 0 -1 0", "0 -1 0 1", "0 1 1 0", "0 -1 1 0"],
        ["1 0 0", "0 0 1", "1/2 1/2 1/2", "1/2 -1/2 1/2"],
        ["1 0 1 1", "0 1 1 -1"],
    ),
}


def matrix(rows):
    return np.array([[Fraction(entry) for entry in row.split()] for row in rows])


def sum_of_pieces(d, g):
    """Two outputs of five taps: A' of F(2, 3) applied to the products of 3 taps and, point by point, of 2."""
    m = np.zeros(4, object)
    for taps, first in ((3, 0), (2, 3)):
        b, transform, _ = map(matrix, PIECES[taps])
        m[: taps + 1] += (b @ d[first : first + taps + 1]) * (transform @ g[first : first + taps])
    return list(matrix(PIECES[3][2]) @ m)


def test_pieces_of_five_taps_are_exact_with_seven_products_and_one_last_transform():
    for place, tap in np.ndindex(6, 5):
        d, g = np.zeros(6, object), np.zeros(5, object)
        d[place] = g[tap] = Fraction(1)
        assert sum_of_pieces(d, g) == [out + tap == place for out in range(2)]


def test_the_bound_and_the_explanation_of_pieces_have_the_same_matrices():
    for taps, rows in PIECES.items():
        for ours, theirs in zip(map(matrix, rows), winograd.FORMS["winograd"][taps], strict=True):
            assert np.array_equal(ours.astype(float), theirs.astype(float))


CUT = (  # filters, strides: each kind of piece, and of phase, along each axis
    ((5, 5), (1, 1)),
    ((3, 3), (2, 2)),
    ((1, 3), (1, 1)),
    ((4, 2), (1, 1)),
    ((7, 6), (2, 3)),
    ((9, 8), (1, 1)),
    ((2, 3), (2, 1)),
    ((4, 4), (2, 2)),
    ((3, 5), (1, 4)),
)


def calls(image, filters, strides, padding, values="normal", dtype="float32"):
    """The three kinds of call with the same arrays."""
    shape = tc.conv2d_geometry(image, filters, strides, padding).output_shape
    x, w, dy = (
        make_array(one, dtype, values, name) for one, name in ((image, "x"), (filters, "w"), (shape, "dy"))
    )
    return (
        (tc.conv2d, (x, w)),
        (tc.conv2d_backprop_input, (image, w, dy)),
        (tc.conv2d_backprop_filter, (x, filters, dy)),
    )


def fitting(kind, geometry):
    return not next(a for a in cython_backend.ALGORITHMS if a.name == "winograd").refuses(kind, geometry)


@pytest.mark.parametrize(("size", "strides"), CUT)
@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_cut_is_exact_on_integers(isa, size, strides):
    if cython_backend.set_isa(isa) != isa:
        cython_backend.set_isa("best")
        pytest.skip(f"no {isa} here")
    try:
        for image, channels, padding, dtype in (
            ((2, 9, 11), (3, 5), "SAME", "float32"),
            ((1, 12, 10), (17, 35), [[0, 0], [3, -1], [-1, 4], [0, 0]], "float64"),
        ):
            for op, args in calls(
                (*image, channels[0]), (*size, *channels), strides, padding, "integers", dtype
            ):
                call, _ = tc.nn_ops.call_of(op, args, {"strides": strides, "padding": padding})
                if not fitting(call.kind, call.geometry):
                    continue
                got = op(*args, strides, padding, backend="cython", algorithm="winograd")
                assert np.array_equal(got, op(*args, strides, padding, backend="numpy")), op.__name__
    finally:
        cython_backend.set_isa("best")


@pytest.mark.parametrize(("size", "strides"), CUT)
@pytest.mark.parametrize("isa", ["baseline", "avx2", "avx512"])
def test_every_cut_with_tiles_of_four_keeps_its_bound(isa, size, strides):
    """float64's bound is 5e8 times as tight, so a wrong entry shows; cells whose windows are padding are 0."""
    if cython_backend.set_isa(isa) != isa:
        cython_backend.set_isa("best")
        pytest.skip(f"no {isa} here")
    try:
        for image, channels, padding, dtype in (
            ((2, 9, 11), (3, 5), "SAME", "float32"),
            ((1, 12, 10), (17, 35), [[0, 0], [3, -1], [-1, 4], [0, 0]], "float64"),
            ((1, 2, 3), (4, 9), [[0, 0], [13, 9], [11, 12], [0, 0]], "float64"),
        ):
            for op, args in calls((*image, channels[0]), (*size, *channels), strides, padding, dtype=dtype):
                call, _ = tc.nn_ops.call_of(op, args, {"strides": strides, "padding": padding})
                if not fitting(call.kind, call.geometry):
                    continue
                report = tc.diff(op, *args, strides, padding, backends=["cython"], algorithm="winograd4")
                assert report.passed, op.__name__
                if op is tc.conv2d:
                    ones = np.ones_like(args[0]), np.ones_like(args[1])
                    reads_nothing = op(*ones, strides, padding, backend="numpy") == 0
                    y = op(*args, strides, padding, backend="cython", algorithm="winograd4")
                    assert not y[reads_nothing].any()
    finally:
        cython_backend.set_isa("best")


def test_the_larger_tile_is_chosen_for_other_filters_phases_and_axes():
    how = {"padding": "SAME", "backend": "cython", "precision": "fast"}
    for op, image, filters in (
        (tc.conv2d, (1, 28, 28, 64), (5, 5, 64, 64)),
        (tc.conv1d, (1, 3000, 128), (3, 128, 128)),
    ):
        x, w = np.zeros(image, "float32"), np.zeros(filters, "float32")
        assert tc.trace(op, x, w, **how).algorithm == "winograd4"
    dy, w = np.zeros((1, 28, 28, 128), "float32"), np.zeros((3, 3, 128, 128), "float32")
    traced = tc.trace(tc.conv2d_backprop_input, (1, 56, 56, 128), w, dy, strides=2, **how)
    assert traced.algorithm == "winograd4"


@pytest.mark.parametrize("at", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize(("size", "strides"), CUT[:3])
def test_one_large_number_at_every_place_of_a_tile_keeps_the_bound(at, size, strides):
    for op, args in calls((1, 12, 12, 4), (*size, 4, 8), strides, "SAME"):
        for array in (array for array in args if isinstance(array, np.ndarray) and array.shape[1] > 3):
            array[0, 2 + at[0], 2 + at[1]] *= 4096
        assert tc.diff(op, *args, strides, "SAME", backends=["cython"], algorithm="winograd").passed, (
            op.__name__
        )


def test_a_cell_of_pieces_reads_its_own_window_only():
    """As in winograd2, a large number outside its window leaves a cell's error as it is."""
    x, w = make_array((1, 17, 17, 8), "float32"), make_array((5, 5, 8, 32), "float32")
    x[0, 8, 8] *= 4096
    wide = tc.conv2d(x.astype(float), w.astype(float), 1, "SAME", backend="numpy")
    own = tc.conv2d(np.abs(x).astype(float), np.abs(w).astype(float), 1, "SAME", backend="numpy")
    error = np.abs(tc.conv2d(x, w, 1, "SAME", backend="cython", algorithm="winograd") - wide) / own
    away = np.ones(wide.shape, bool)
    away[:, 6:11, 6:11] = False
    assert error[away].max() < 2e-6


@pytest.mark.parametrize(("size", "strides"), CUT[:2])
def test_pieces_give_the_same_bits_for_threads_batches_and_plans(size, strides):
    (_, (x, w)), (_, (image, _, dy)), (_, (_, filters, _)) = calls(
        (3, 23, 25, 33), (*size, 33, 65), strides, "SAME"
    )
    how = {"strides": strides, "padding": "SAME", "backend": "cython", "algorithm": "winograd"}
    before = tc.get_num_threads()
    try:
        bits = {}
        for threads in (1, 2, 5):
            tc.set_num_threads(threads)
            y, dx = tc.conv2d(x, w, **how), tc.conv2d_backprop_input(image, w, dy, **how)
            alone = [tc.conv2d(x[i : i + 1], w, **how) for i in range(3)]
            assert np.concatenate(alone).tobytes() == y.tobytes()
            assert tc.plan(tc.conv2d, w, input_shape=image, **how)(x).tobytes() == y.tobytes()
            planned = tc.plan(tc.conv2d_backprop_input, w, input_shape=image, **how)
            assert planned(dy).tobytes() == dx.tobytes()
            bits[threads] = [r.tobytes() for r in (y, dx, tc.conv2d_backprop_filter(x, filters, dy, **how))]
        assert bits[1] == bits[2] == bits[5]
    finally:
        tc.set_num_threads(before)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e35, 3e-38])
def test_pieces_out_of_range_are_done_directly(value):
    for op, args in calls((2, 9, 9, 5), (5, 5, 5, 7), 1, "SAME"):
        arrays = [array for array in args if isinstance(array, np.ndarray)]
        arrays[0 if op is not tc.conv2d_backprop_input else 1][1] *= value if value == 3e-38 else 1
        arrays[0 if op is not tc.conv2d_backprop_input else 1][1, 4, 4, 3] = value
        traced = tc.trace(op, *args, 1, "SAME", backend="cython", algorithm="winograd")
        both = value != 3e-38 or op is not tc.conv2d_backprop_filter  # dw sums over both images
        assert ("redo" in traced.stages[-1].facts["paths"]) is both
        assert tc.diff(op, *args, 1, "SAME", backends=[], against=traced.result).passed


def test_one_axis_has_pieces_too():
    x, w = make_array((2, 70, 32), "float32"), make_array((5, 32, 64), "float32")
    assert tc.diff(tc.convolution, x, w, backends=["cython"], algorithm="winograd").passed
    with pytest.raises(ValueError, match=r"algorithm 'winograd' needs one group.*and pieces \(4,\)"):
        tc.convolution(x, make_array((11, 32, 64), "float32"), backend="cython", algorithm="winograd")


@pytest.mark.parametrize(("size", "strides"), CUT[:2])
def test_pieces_are_no_worse_than_direct_summation_measured_by_the_largest_sum(size, strides):
    """precision=None bounds the error relative to the largest sum |x||w| of the result, or |x||dy|."""
    for op, args in calls((2, 16, 16, 32), (*size, 32, 32), strides, "SAME"):
        wide, sizes = (
            op(*(f(a.astype(float)) if isinstance(a, np.ndarray) else a for a in args), strides, "SAME")
            for f in (np.array, np.abs)
        )
        got = op(*args, strides, "SAME", backend="cython", algorithm="winograd")
        call, _ = tc.nn_ops.call_of(op, args, {"strides": strides, "padding": "SAME"})
        assert np.abs(got - wide).max() <= bounds.direct(sizes.max(), call.terms, "float32"), op.__name__


def test_the_filter_gradient_of_many_channels_is_chosen():
    for size, channels, precision, want in (
        (14, 256, None, "winograd"),
        (14, 256, "strict", "pixel_gemm"),
        (7, 512, "fast", "pixel_gemm"),  # more filter than pixels
        (28, 256, "fast", "winograd4"),
    ):
        x = np.zeros((1, size, size, channels), "float32")
        how = {"backend": "cython", "precision": precision}
        traced = tc.trace(tc.conv2d_backprop_filter, x, (3, 3, channels, channels), x, 1, "SAME", **how)
        assert traced.algorithm == want


def test_the_default_takes_pieces_where_they_pay():
    for op, args in calls((1, 28, 28, 64), (5, 5, 64, 64), 1, "SAME"):
        assert tc.trace(op, *args, 1, "SAME", backend="cython").algorithm == "winograd"
        assert tc.trace(op, *args, 1, "SAME", backend="cython", precision="strict").algorithm != "winograd"
    for op, args in calls((1, 7, 7, 256), (5, 5, 256, 256), 1, "SAME"):  # more filter than pixels
        assert tc.trace(op, *args, 1, "SAME", backend="cython").algorithm != "winograd"


def test_the_choice_does_not_count_the_phases_of_a_large_stride():
    """It took minutes: the phases that hold no tap were counted, too."""
    image, filters, options = (1, 4, 4, 32), (3, 1, 32, 32), {"strides": (1, 2**31 - 1), "padding": "SAME"}
    w, dy = make_array(filters, "float32"), make_array((1, 4, 1, 32), "float32")
    traced = tc.trace(tc.conv2d_backprop_input, image, w, dy, **options, backend="cython")
    assert traced.algorithm == "phases"
