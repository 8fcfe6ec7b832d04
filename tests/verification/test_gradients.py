"""check_gradients passes what is right, on every backend, and finds each planted error."""

import numpy as np
import pytest
from helpers import backend_algorithms, broken, only

import teachconv as tc
from teachconv.backends import numpy_backend
from teachconv.core.kinds import KINDS, OPS
from teachconv.data.seeded import make_array
from teachconv.truth.exact import abs_sum
from teachconv.verification import gradients

X, W = make_array((2, 7, 6, 4), "float32"), make_array((3, 2, 4, 4), "float32", "normal", "w")
B = make_array((4,), "float32", "normal", "b")
DY = make_array((2, 4, 3, 4), "float32", "normal", "dy")
NCHW, OIHW = X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1)
CALLS = {
    "conv2d": (tc.conv2d, (X, W, 2, "SAME"), {"bias": B}),
    "groups, dilation": (tc.conv2d, (X, W[:, :, :2], 1, ((1, 2), (0, -1))), {"dilations": (2, 1)}),
    "transposed": (tc.conv2d_transpose, (X, W), {"strides": (2, 3), "bias": B}),
    "depthwise": (tc.depthwise_conv2d, (X, W[..., :2], 1, "SAME"), {}),
    "input gradient": (tc.conv2d_backprop_input, (X.shape, W, DY, 2, "SAME"), {}),
    "filter gradient": (tc.conv2d_backprop_filter, (X, W.shape, DY, 2, "SAME"), {}),
    "torch": (tc.dialects.torch.conv2d, (NCHW, OIHW, B), {"stride": 2, "padding": 1}),
    "torch, transposed": (tc.dialects.torch.conv_transpose2d, (NCHW, OIHW, B), {"stride": 2}),
    "jax": (tc.dialects.jax.conv_transpose, (X, W), {"strides": (2, 2), "padding": "SAME"}),
    "jax, gaps": (
        tc.dialects.jax.conv_general_dilated,
        (NCHW, OIHW, (1, 2), [(1, 2), (0, 1)]),
        {"lhs_dilation": (2, 2)},
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_every_kind_of_call_passes(name, dtype):
    op, args, kwargs = CALLS[name]

    def cast(value):
        if not isinstance(value, np.ndarray):
            return value
        return make_array(value.shape, dtype) if dtype == "int32" else value.astype(dtype)

    kwargs = {key: cast(value) for key, value in kwargs.items()}
    report = tc.check_gradients(op, *map(cast, args), cells=5, **kwargs)
    assert report.passed, report
    assert len(report.rows) == 4 + any(
        isinstance(a, np.ndarray) and a.ndim == 1 for a in (*args, *kwargs.values())
    )
    assert all(row.bound_fraction <= 1 for row in report.rows)


@pytest.mark.parametrize(("name", "algorithm"), list(backend_algorithms()))
def test_every_algorithm_passes(name, algorithm):
    kinds = [kind for kind in KINDS if kind in algorithm.kinds] if algorithm else []
    geometry = tc.conv2d_geometry((1, 6, 6, 3), (3, 3, 3, 3), 1, "SAME")
    dtype = "float32" if "float32" in algorithm.dtypes else algorithm.dtypes[0]
    x, w = make_array((1, 6, 6, 3), dtype), make_array((3, 3, 3, 3), dtype, "normal", "w")
    calls = {
        "conv2d": (tc.conv2d, (x, w, 1, "SAME")),
        "conv2d_backprop_input": (tc.conv2d_backprop_input, (x.shape, w, x, 1, "SAME")),
        "conv2d_backprop_filter": (tc.conv2d_backprop_filter, (x, w.shape, x, 1, "SAME")),
    }
    for kind in kinds:
        if algorithm.fits(kind, dtype, geometry):
            op, args = calls[str(kind)]
            precision = None if algorithm.precision in ("strict", "default") else algorithm.precision
            options = {"backend": name, "algorithm": algorithm.name, "precision": precision}
            report = tc.check_gradients(op, *args, cells=3, **options)
            assert report.passed, report


def wrong(kind, change):
    """The numpy backend with one function whose result is changed."""
    real = getattr(numpy_backend, kind)

    def function(first, second, geometry, **options):
        return change(np.array(real(first, second, geometry, **options)))

    return broken(**{kind: function})


def one_cell(result):
    result[0, 0, 0, 0] *= 1.001
    return result


def without_last_row(result):
    result[-1, -1] = 0
    return result


MISTAKES = {
    "flipped": lambda result: np.ascontiguousarray(result[::-1, ::-1]),
    "halved": lambda result: result / 2,
    "channels reversed": lambda result: np.ascontiguousarray(result[..., ::-1]),
    "a row forgotten": without_last_row,
    "one cell off by a thousandth": one_cell,
}


@pytest.mark.parametrize("name", ["conv2d", "transposed", "depthwise"])
def test_a_copy_of_a_right_backend_passes(name):
    op, args, kwargs = CALLS[name]
    assert tc.check_gradients(op, *args, **kwargs, backend=broken()).passed


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("kind", list(map(str, KINDS)))
@pytest.mark.parametrize("name", ["conv2d", "transposed", "depthwise"])
def test_a_planted_error_is_found(name, kind, mistake):
    op, args, kwargs = CALLS[name]
    report = tc.check_gradients(op, *args, **kwargs, backend=wrong(kind, MISTAKES[mistake]))
    assert not report.passed
    assert "FAIL" in str(report)


def test_the_gradient_at_fault_is_named():
    report = tc.check_gradients(tc.conv2d, X, W, backend=wrong("conv2d_backprop_filter", lambda dw: dw + 1))
    assert {row.name for row in report.rows if row.passed is False} == {
        "adjoint identity, filters",
        "central differences, filters",
    }


def test_a_bias_added_twice_is_found():
    def twice(x, w, geometry, *, bias=None, **options):
        return numpy_backend.conv2d(x, w, geometry, bias=None if bias is None else 2 * bias, **options)

    report = tc.check_gradients(tc.conv2d, X, W, bias=B, backend=broken(conv2d=twice))
    assert [row.name for row in report.rows if row.passed is False] == ["central differences, bias"]


def test_an_integer_gradient_must_be_exact():
    def one_more(result):
        result[-1, -1, -1, -1] += 1
        return result

    x, w = make_array((1, 5, 5, 2), "int32"), make_array((3, 3, 2, 2), "int32", "normal", "w")
    assert tc.check_gradients(tc.conv2d, x, w, backend=broken()).passed
    assert not tc.check_gradients(tc.conv2d, x, w, backend=wrong("conv2d_backprop_input", one_more)).passed


def test_cells_are_the_callers():
    report = tc.check_gradients(tc.dialects.torch.conv2d, NCHW, OIHW, cells=1000)
    inputs, filters = report.rows[2:]
    assert (inputs.cells, filters.cells) == (X.size, W.size)
    assert all(i < n for i, n in zip(inputs.worst, NCHW.shape, strict=True))
    assert all(i < n for i, n in zip(filters.worst, OIHW.shape, strict=True))


def test_an_op_without_gradients_says_so(monkeypatch):
    monkeypatch.delitem(OPS, "depthwise_conv2d_backprop_input")
    with pytest.raises(
        tc.ArgumentError, match=r"depthwise_conv2d has no derivatives: .*needs an op of conv2d_backprop_input"
    ):
        tc.check_gradients(tc.depthwise_conv2d, X, W[..., :2], 1, "SAME")


def test_an_algorithm_without_the_gradient_says_so():
    report = tc.check_gradients(tc.conv2d, X, W[:2], backend="scipy", algorithm="fft", precision="fast")
    assert report.passed
    alone = only("numpy", next(a for a in numpy_backend.ALGORITHMS if a.name == "taps"))
    assert tc.check_gradients(tc.conv2d, X, W, backend=alone, algorithm="taps").rows[0].note == ""
    module = broken(
        ALGORITHMS=(tc.backends.Algorithm("forward", "x", ("conv2d",)), *numpy_backend.ALGORITHMS)
    )
    module.conv2d = lambda *args, algorithm, **options: numpy_backend.conv2d(*args, **options)
    rows = tc.check_gradients(tc.conv2d, X, W, backend=module, algorithm="forward").rows
    assert rows[0].note == "forward has no conv2d_backprop_input for this call: chosen by the backend"


def test_sums_that_may_overflow_are_not_judged():
    huge = make_array(X.shape, "float32", "huge"), make_array(W.shape, "float32", "huge", "w")
    report = tc.check_gradients(tc.conv2d, *huge, backend="numpy")
    assert {row.passed for row in report.rows} == {None}
    assert report.passed is None
    assert "4 of 4 not judged" in str(report)
    assert "some sums may overflow" in str(report)
    assert tc.GradientReport("nothing", ()).passed is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tc.check_gradients(tc.conv2d, X * np.nan, W), "finite numbers; input has NaN"),
        (lambda: tc.check_gradients(tc.conv2d, X[:0], W), "not empty; input is"),
        (lambda: tc.check_gradients(tc.conv2d, X, W, cells=0), "cells must be at least 1"),
        (lambda: tc.check_gradients(tc.conv2d, X, W, out=X), "check_gradients takes no out"),
        (lambda: tc.check_gradients(tc.conv2d, X, W, algorithm="tops"), "must be one of auto"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_a_backend_cannot_write_to_the_callers_arrays():
    def writes(x, w, geometry, **options):
        y = numpy_backend.conv2d(x, w, geometry, **options)
        if x.flags.writeable:
            x *= 0
        return y

    x = X.copy()
    assert tc.check_gradients(tc.conv2d, x, W, backend=broken(conv2d=writes)).passed
    assert np.array_equal(x, X)


def test_fewer_cells_of_a_large_call_and_the_report_says_how_many(monkeypatch):
    """On 2000 x 2000 it took more than 95 seconds without a word."""
    monkeypatch.setattr(gradients, "_MACS", 3 * tc.conv2d_geometry(X.shape, W.shape, 2, "SAME").macs)
    report = tc.check_gradients(tc.conv2d, X, W, 2, "SAME", bias=B)
    assert report.passed
    of_input, of_filters, *differences = report.rows
    assert [(row.cells, row.size) for row in differences] == [(3, X.size), (3, W.size), (3, B.size)]
    assert (of_input.cells, of_filters.cells) == (X.size, W.size)  # the adjoint identity is of all cells
    assert f" 3 of {X.size} " in str(report)
    assert str(report) == str(tc.check_gradients(tc.conv2d, X, W, 2, "SAME", bias=B))
    asked = tc.check_gradients(tc.conv2d, X, W, 2, "SAME", cells=20)
    assert [row.cells for row in asked.rows[2:]] == [20, 20]


def test_a_cell_costs_two_calls_and_no_bound_of_its_own(monkeypatch):
    """The bound, which takes ten times as long as the call, was computed anew for each of them."""
    bounds = []
    monkeypatch.setattr(gradients, "abs_sum", lambda call: bounds.append(call) or abs_sum(call))
    counts = []
    for cells in (2, 10):
        bounds.clear()
        assert tc.check_gradients(tc.conv2d, X, W, 2, "SAME", cells=cells).passed
        counts.append(len(bounds))
    assert counts[0] == counts[1]
