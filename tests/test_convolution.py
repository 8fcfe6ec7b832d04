"""convolution, conv_transpose and their gradients over one, two and three axes."""

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
from teachconv.backends import numpy_backend
from teachconv.core.arguments import PADDING_WORDS
from teachconv.data.seeded import make_array
from teachconv.verification import diagnosing

BACKENDS = ("reference", "numpy")


def test_a_signal_by_hand():
    """out[m] = 1·x[2m] + 10·x[2m + 1]; the gradients are the same products, summed over the other two."""
    x, w = np.int32([1, 2, 3, 4, 5]).reshape(1, 5, 1), np.int32([1, 10]).reshape(2, 1, 1)
    for backend in BACKENDS:
        y = tc.convolution(x, w, 2, backend=backend)
        assert y.ravel().tolist() == [21, 43]
        dx = tc.convolution_backprop_input((1, 5, 1), w, y, 2, backend=backend)
        assert dx.ravel().tolist() == [21, 210, 43, 430, 0]
        dw = tc.convolution_backprop_filter(x, (2, 1, 1), y, 2, backend=backend)
        assert dw.ravel().tolist() == [21 * 1 + 43 * 3, 21 * 2 + 43 * 4]
        up = tc.conv_transpose(y, w, (1, 5, 1), 2, "VALID", backend=backend)
        assert up.ravel().tolist() == dx.ravel().tolist()


def test_a_volume_by_hand():
    """Each of the eight cells of a cube meets each cell of a window of two along every axis once."""
    x = np.int32([1, 10, 100, 1000, 2, 20, 200, 2000]).reshape(1, 2, 2, 2, 1)
    w = np.ones((2, 2, 2, 1, 1), "int32")
    for backend in BACKENDS:
        assert tc.convolution(x, w, backend=backend).ravel().tolist() == [3333]
        same = tc.convolution(
            x, w, padding="SAME", backend=backend
        )  # pads behind: the last sums are the shortest
        assert same.ravel().tolist() == [3333, 3030, 3300, 3000, 2222, 2020, 2200, 2000]


SIZES = st.tuples(st.integers(1, 3), st.lists(st.integers(1, 6), min_size=1, max_size=3))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    sizes=SIZES,
    taps=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    strides=st.lists(st.integers(1, 3), min_size=3, max_size=3),
    dilations=st.lists(st.integers(1, 2), min_size=3, max_size=3),
    padding=st.sampled_from([*PADDING_WORDS, 1, [(2, 0), (0, 1), (1, 1)]]),
    channels=st.sampled_from([(1, 1, 1), (2, 3, 1), (4, 6, 2)]),
    first=st.booleans(),
)
def test_numpy_equals_the_reference_and_the_gradients_are_adjoint(
    sizes, taps, strides, dilations, padding, channels, first
):
    batch, spatial = sizes
    rank, (ins, outs, groups) = len(spatial), channels
    spatial = [size + (taps[i] - 1) * dilations[i] for i, size in enumerate(spatial)]
    how = {
        "strides": strides[:rank],
        "padding": padding[:rank] if isinstance(padding, list) else padding,
        "dilations": dilations[:rank],
    }
    x = make_array((batch, *spatial, ins), "int64")
    w = make_array((*taps[:rank], ins // groups, outs), "int64")
    y = tc.convolution(x, w, **how, backend="reference", algorithm="loops")
    dy = make_array(y.shape, "int64", seed="dy")
    dx = tc.convolution_backprop_input(x.shape, w, dy, **how, backend="reference")
    dw = tc.convolution_backprop_filter(x, w.shape, dy, **how, backend="reference")
    assert (y * dy).sum() == (x * dx).sum() == (w * dw).sum()
    letters = "DHW"[-rank:]
    layout = f"NC{letters}" if first else f"N{letters}C"

    def moved(array):
        return np.moveaxis(array, -1, 1) if first else array

    for algorithm in ("im2col", "taps"):
        more = {"backend": "numpy", "algorithm": algorithm, "data_format": layout}
        assert np.array_equal(tc.convolution(moved(x), w, **how, **more), moved(y))
        back = tc.convolution_backprop_input(moved(x).shape, w, moved(dy), **how, **more)
        assert np.array_equal(back, moved(dx))
        assert np.array_equal(tc.convolution_backprop_filter(moved(x), w.shape, moved(dy), **how, **more), dw)


def test_two_axes_are_conv2d_bit_for_bit():
    x, w, b = (
        make_array((2, 7, 6, 4), "float32"),
        make_array((3, 2, 2, 6), "float32"),
        make_array((6,), "float32"),
    )
    y = tc.conv2d(x, w, (2, 1), "SAME", bias=b)
    assert tc.convolution(x, w, (2, 1), "SAME", bias=b).tobytes() == y.tobytes()
    dx = tc.conv2d_backprop_input(x.shape, w, y, (2, 1), "SAME")
    assert tc.convolution_backprop_input(x.shape, w, y, (2, 1), "SAME").tobytes() == dx.tobytes()
    dw = tc.conv2d_backprop_filter(x, w.shape, y, (2, 1), "SAME")
    assert tc.convolution_backprop_filter(x, w.shape, y, (2, 1), "SAME").tobytes() == dw.tobytes()
    up = tc.conv2d_transpose(y, w, (2, 7, 6, 4), (2, 1))
    assert tc.conv_transpose(y, w, (2, 7, 6, 4), (2, 1)).tobytes() == up.tobytes()


@pytest.mark.parametrize("rank", [1, 3])
def test_without_a_backend_cython_computes(rank):
    x, w = np.ones((1, *[4] * rank, 2), "float32"), np.ones((*[3] * rank, 2, 5), "float32")
    assert tc.convolution(x, w).tobytes() == tc.convolution(x, w, backend="cython").tobytes()
    if rank == 3:
        assert tc.convolution(x, w, algorithm="winograd2").ravel().tolist() == [54.0] * 40
        return
    message = "algorithm 'winograd2' has kernels for 2 or 3 axes; got .* over 1 axis"
    with pytest.raises(ValueError, match=message):
        tc.convolution(x, w, algorithm="winograd2")


def own(ranks):
    """A module that is numpy's backend by another name, for some ranks."""
    module = ModuleType("own")
    vars(module).update(vars(numpy_backend), __name__="own", RANKS=ranks)
    return module


X, W = np.ones((1, 4, 2), "float32"), np.ones((3, 2, 5), "float32")


def test_a_module_says_which_ranks_it_takes():
    assert tc.convolution(X, W, backend=own((1,))).shape == (1, 2, 5)
    with pytest.raises(
        ValueError, match="backend 'own' has kernels for 1 axis; got a convolution over 2 axes"
    ):
        tc.conv2d(X[None], W[None], backend=own((1,)))
    with pytest.raises(ValueError, match="backend 'own' has kernels for 1 or 3 axes"):
        tc.conv2d(X[None], W[None], backend=own([1, 3]))


@pytest.mark.parametrize("ranks", [2, (), (1, 4), ("2",), [[1]]])
def test_ranks_that_there_are_not_are_refused(ranks):
    for call in (lambda: tc.convolution(X, W, backend=own(ranks)), lambda: tc.check_backend(own(ranks))):
        with pytest.raises(ValueError, match="RANKS of backend 'own' must be some of 1, 2 and 3, such as"):
            call()


@pytest.mark.parametrize("rank", [1, 3])
def test_check_backend_tries_the_ranks_that_a_module_says_it_has(rank, monkeypatch):
    module, tags = own((rank,)), ["odd", "1d", "3d"]
    found = tc.check_backend(module, ["float32", "int32"], tags=tags, thorough=True)
    assert found.passed
    assert any("one axis" in row.name for row in found.rows) == (rank == 1)
    assert any("three axes" in row.name for row in found.rows) == (rank == 3)
    assert {row.name.split(":")[1] for row in found.rows} == {
        *(" convolution", " convolution input gradient", " convolution filter gradient", " conv_transpose")
    }
    module.conv2d_backprop_input = lambda dy, w, geometry, **how: np.zeros(geometry.input_shape, dy.dtype)
    monkeypatch.setattr(diagnosing, "_SECONDS", 0.0)  # which rows fail is all that is asked
    failed = [row.name for row in tc.check_backend(module, "float32", tags=tags).rows if row.passed is False]
    assert failed
    assert all("convolution input gradient: " in name or "conv_transpose: " in name for name in failed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"filters": W[None]}, r"filters must have 3 axes, \[cols, in, out\]; got shape \[1, 3, 2, 5\]"),
        (
            {"input": X[0]},
            r"input must have 3, 4 or 5 axes, \[batch, \*sizes, channels\]; got shape \[4, 2\]",
        ),
        ({"strides": (1, 2)}, r"strides must be an int, \(cols,\) or 3 ints in NWC order; got \(1, 2\)"),
        ({"padding": (1, 2)}, r"padding must be .* \(\(left, right\),\) or 3 pairs"),
        ({"data_format": "NHWC"}, 'data_format must be "NWC" or "NCW"; got \'NHWC\''),
        ({"input": X[:, :2]}, "VALID needs in_cols >= 3"),
    ],
)
def test_errors_name_the_argument_and_the_axis(arguments, message):
    with pytest.raises(ValueError, match=message):
        tc.convolution(**{"input": X, "filters": W} | arguments)


def test_what_a_gradient_is_given_has_the_shape_of_the_output():
    with pytest.raises(
        ValueError, match=r"out_backprop must have shape \[1, 2, 5\], that of convolution's output"
    ):
        tc.convolution_backprop_filter(X, W.shape, np.ones((1, 3, 5), "float32"))
