"""Errors name the invalid argument and what would be legal; unusual but valid input is accepted."""

import numpy as np
import pytest

import teachconv as tc

X, W = np.ones((1, 4, 4, 2), np.float32), np.ones((3, 3, 2, 3), np.float32)
DY = np.ones((1, 2, 2, 3), np.float32)


class OnAGpu:
    __cuda_array_interface__ = {}


class RaisesOnArray:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("can't convert: requires grad")


BAD_ARRAYS = [
    (np.ones((4, 4, 2), np.float32), ValueError, r"input must have 4 axes.*got shape \[4, 4, 2\]"),
    (np.float32(3), ValueError, r"input must have 4 axes.*got shape \[\]"),
    (3.0, ValueError, r"got shape \[\]"),
    ([[[[1.0]], [[1.0, 2.0]]]], ValueError, "input must be nested lists of equal lengths"),
    ([[[[2**31]]]], ValueError, "lists of integers become int32"),
    ([[[["a"]]]], TypeError, "input must have dtype"),
    ([[[[None]]]], TypeError, "input must have dtype"),
    (np.ones((1, 4, 4, 2), np.uint8), TypeError, r'got uint8: input.astype\("int32"\)'),
    (np.ones((1, 4, 4, 2), np.int16), TypeError, r'got int16: input.astype\("int32"\)'),
    (np.ones((1, 4, 4, 2), np.uint32), TypeError, r'got uint32: input.astype\("int64"\)'),
    (np.ones((1, 4, 4, 2), bool), TypeError, r'got bool: input.astype\("int32"\)'),
    (np.ones((1, 4, 4, 2), complex), TypeError, "got complex128: convolve input.real and input.imag"),
    (np.ones((1, 4, 4, 2), np.longdouble), TypeError, r'input.astype\("float64"\)'),
    (np.ones((1, 4, 4, 2), object), TypeError, r'got object: input.astype\("float64"\), if its elements'),
    (np.full((1, 4, 4, 2), "1"), TypeError, "got <U1"),
    (np.ma.masked_array(X, X > 0), ValueError, "input must have no masked elements"),
    (OnAGpu(), TypeError, "input lies on a GPU .*only the cupy backend|input must be an array"),
    (RaisesOnArray(), TypeError, "requires grad"),
    (
        X.astype(np.float64),
        TypeError,
        r"filters must have the dtype of input, float64; got float32: filters.astype",
    ),
]


@pytest.mark.parametrize(("array", "kind", "message"), BAD_ARRAYS)
def test_bad_arrays(array, kind, message):
    with pytest.raises(kind, match=message):
        tc.conv2d(array, W)


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"backend": "cudnn"}, ValueError, "backend must be one of reference, numpy, scipy, cython, cupy; got 'cudnn'"),
        ({"backend": 3}, ValueError, "or a module with conv2d, conv2d_backprop_input"),
        ({"backend": "numpy", "algorithm": "winograd9"}, ValueError, "must be one of auto, im2col, taps; got"),
        ({"backend": "numpy", "algorithm": 3}, ValueError, "must be one of auto, im2col, taps; got 3"),
        ({"backend": "numpy", "algorithm": ["taps"]}, ValueError, r"must be one of auto, .*; got \['taps'\]"),
        ({"precision": ["strict"]}, ValueError, r"precision must be None, .*; got \['strict'\]"),
        ({"precision": "double"}, ValueError, 'precision must be None, "strict" or "fast"; got \'double\''),
        ({"precision": "tf32"}, ValueError, "is for a GPU"),
        ({"backend": "scipy", "algorithm": "fft", "precision": "strict"}, ValueError, "does not keep the element-wise"),
        ({"bias": np.ones(2, np.float32)}, ValueError, "bias must have 3 elements"),
        ({"bias": np.ones((1, 3), np.float32)}, ValueError, r"bias must have 1 axis"),
        ({"bias": np.ones(3)}, TypeError, "bias must have the dtype of input, float32; got float64"),
        ({"out": np.ones((1, 2, 2, 2), np.float32)}, ValueError, r"out must have shape \[1, 2, 2, 3\]"),
        ({"out": np.ones((1, 2, 2, 3))}, ValueError, "dtype float32; got"),
        ({"out": [1]}, TypeError, "out must be a NumPy array; got list"),
        ({"data_format": "NCHW"}, ValueError, "filters.shape"),
        ({"padding": 1.5}, TypeError, "padding must be integers"),
        ({"strides": 0}, ValueError, "strides must be at least 1"),
        ({"nonsense": 1}, TypeError, "nonsense"),
    ],
)  # fmt: skip
def test_bad_options(arguments, kind, message):
    with pytest.raises(kind, match=message):
        tc.conv2d(X, W, **arguments)


def test_algorithms_without_integers_refuse_them():
    ones = np.ones((1, 1, 1, 1), np.int32)
    with pytest.raises(TypeError, match="algorithm 'fft' has no int32; it has float16, bfloat16, float32"):
        tc.conv2d(ones, ones, backend="scipy", algorithm="fft")


def test_a_backend_without_the_dtype_names_those_it_has():
    from types import SimpleNamespace

    from teachconv.backends import Algorithm

    def never(*args, **kwargs):
        raise AssertionError

    backend = SimpleNamespace(
        __name__="small",
        ALGORITHMS=(Algorithm("only", "", dtypes=("float32",)),),
        conv2d=never,
        conv2d_backprop_input=never,
        conv2d_backprop_filter=never,
    )
    with pytest.raises(TypeError, match="backend 'small' has no conv2d for float64; it has float32"):
        tc.conv2d(X.astype(float), W.astype(float), backend=_hashable(backend))


def _hashable(namespace):
    from types import ModuleType

    module = ModuleType("small")
    module.__dict__.update(vars(namespace))
    return module


def test_out_must_not_overlap_the_input():
    x = np.ones((1, 4, 4, 2), np.float32)
    with pytest.raises(ValueError, match="out must not overlap"):
        tc.conv2d(x, np.ones((1, 1, 2, 2), np.float32), out=x)
    out = np.ones((1, 2, 2, 3), np.float32)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="out must be writeable"):
        tc.conv2d(X, W, out=out)


def test_gradients_check_out_backprop():
    with pytest.raises(ValueError, match=r"out_backprop must have shape \[1, 2, 2, 3\]"):
        tc.conv2d_backprop_input((1, 4, 4, 2), W, np.ones((1, 3, 2, 3), np.float32))
    with pytest.raises(ValueError, match=r"out_backprop must have shape \[1, 3, 2, 2\]"):
        tc.conv2d_backprop_filter(
            np.ones((1, 2, 4, 4), np.float32), W.shape, np.ones((1, 2, 2, 3), np.float32), data_format="NCHW"
        )
    with pytest.raises(ValueError, match="input_sizes must have 4 sizes"):
        tc.conv2d_backprop_input((4, 4, 2), W, DY)
    with pytest.raises(TypeError, match="filter_sizes must be integers"):
        tc.conv2d_backprop_filter(X, (3, 3, 2, 3.0), DY)


def test_depthwise_filters_must_match_the_channels():
    with pytest.raises(ValueError, match="depthwise filters must be .* in_channels = 2"):
        tc.depthwise_conv2d(X, np.ones((3, 3, 3, 1), np.float32))


@pytest.mark.parametrize(
    "call",
    [
        lambda: tc.conv2d(X, W, padding=10**7),
        lambda: tc.conv2d(np.broadcast_to(np.float32(1), (2**20, 2**10, 2**10, 2)), W),
        lambda: tc.conv2d_transpose(X, W.transpose(0, 1, 3, 2), strides=10**7),
        lambda: tc.conv2d(X, W, padding=((0, 2**62), (0, 2**62))),
    ],
)
def test_results_too_large_for_memory_are_refused_before_anything_is_allocated(call):
    with pytest.raises(MemoryError, match="this machine has .* GiB"):
        call()


def test_geometry_alone_takes_any_size():
    assert tc.conv2d_geometry((1, 2**40, 2**40, 1), (3, 3, 1, 1)).output_shape[1] == 2**40 - 2


def test_empty_problems_have_empty_or_zero_results():
    for backend in ("reference", "numpy", "scipy", "cython"):
        if tc.backends.why_not(backend):
            continue
        none = np.ones((1, 4, 4, 0), np.float32)
        y = tc.conv2d(none, np.ones((3, 3, 0, 2), np.float32), bias=np.float32([1, 2]), backend=backend)
        assert y.tolist() == [[[[1, 2]] * 2] * 2]
        batch = np.ones((0, 4, 4, 2), np.float32)
        assert tc.conv2d(batch, W, backend=backend).shape == (0, 2, 2, 3)
        dw = tc.conv2d_backprop_filter(batch, W.shape, np.ones((0, 2, 2, 3), np.float32), backend=backend)
        assert not dw.any()
        assert dw.shape == W.shape


def test_mixed_up_ops_are_refused():
    with pytest.raises(TypeError, match=r"op must be one of teachconv.conv2d, .*got <built-in function len>"):
        tc.trace(len, X)
    with pytest.raises(TypeError, match="missing a required argument: 'filters'"):
        tc.diff(tc.conv2d, X)
