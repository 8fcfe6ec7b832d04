"""Errors name the invalid argument and what would be legal; unusual but valid input is accepted."""

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import TABLE, why_not
from teachconv.core.arguments import grouped_shape

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
        ({"backend": "cudnn"}, ValueError, f"backend must be one of {', '.join(TABLE)}; got 'cudnn'"),
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
    ("shape", "axes"),
    [
        ((3, 4, 2), "filter_cols"),
        ((3, 3, 4, 2), "filter_rows, filter_cols"),
        ((2, 3, 3, 4, 2), "filter_depth, filter_rows, filter_cols"),
    ],
)
def test_depthwise_filters_have_the_axes_of_their_rank(shape, axes):
    with pytest.raises(ValueError, match=rf"must be \[{axes}, in_channels, channel_multiplier\]"):
        grouped_shape(shape, 5, "filters")


@pytest.mark.parametrize(
    "call",
    [
        lambda: tc.conv2d(X, W, padding=10**7),
        lambda: tc.conv2d(np.broadcast_to(np.float32(1), (2**20, 2**10, 2**10, 2)), W),
        lambda: tc.conv2d_transpose(X, W.transpose(0, 1, 3, 2), strides=10**7),
        lambda: tc.conv2d(X, W, padding=((0, 2**30), (0, 2**30))),
    ],
)
def test_results_too_large_for_memory_are_refused_before_anything_is_allocated(call):
    with pytest.raises(MemoryError, match="at most .* is legal: nine tenths of "):
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
    with pytest.raises(TypeError, match=r"op must be one of conv2d, .*got <built-in function len>"):
        tc.trace(len, X)
    with pytest.raises(TypeError, match="missing a required argument: 'filters'"):
        tc.diff(tc.conv2d, X)


MOST = 2**31 - 1


@pytest.mark.parametrize("value", [2**31, 2**62, 2**63, 2**200])
@pytest.mark.parametrize("shape", [lambda v: v, lambda v: (1, v), lambda v: [1, v, 1, 1]])
def test_strides_and_dilations_too_large_for_an_index(value, shape):
    for name in ("strides", "dilations"):
        with pytest.raises(ValueError, match=rf"{name} must be at most 2147483647 .* got .*{value}"):
            tc.conv2d(X, W[:1, :1], **{name: shape(value)})
        with pytest.raises(ValueError, match=f"{name} must be at most"):
            tc.conv2d_geometry(X.shape, W.shape, **{name: shape(value)})


@pytest.mark.parametrize("value", [2**31, 2**62, 2**63, -(2**63), 2**200])
def test_padding_too_large_for_an_index(value):
    for padding in (value, (0, value), ((0, value), (0, 0)), ((0, 0), (0, 0), (value, 0), (0, 0))):
        with pytest.raises(ValueError, match=rf"padding must be at most 2147483647 .* got .*{value}"):
            tc.conv2d(X, W, padding=padding)


@pytest.mark.parametrize("value", [2**31, 2**63])
def test_dialects_refuse_steps_too_large_for_an_index(value):
    x, w = X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1)
    dialects = tc.dialects
    for function, name, given in (
        (dialects.torch.conv2d, "stride", value),
        (dialects.torch.conv2d, "padding", (0, value)),
        (dialects.torch.conv2d, "dilation", value),
        (dialects.onnx.conv, "strides", [1, value]),
        (dialects.onnx.conv, "pads", [0, 0, value, 0]),
        (dialects.keras.conv, "strides", value),
    ):
        with pytest.raises(ValueError, match=f"{name} must be at most 2147483647"):
            function(*((X, W) if function is dialects.keras.conv else (x, w)), **{name: given})
    for padding, strides in (([(0, 0), (0, value)], (1, 1)), ("VALID", (1, value))):
        with pytest.raises(ValueError, match="(padding|window_strides) must be at most 2147483647"):
            dialects.jax.conv_general_dilated(x, w, strides, padding)


@pytest.mark.parametrize("backend", ["numpy", "scipy", "cython"])
def test_the_largest_steps_are_taken(backend):
    """One output, or three that stand two thousand million cells apart: every backend finds the taps inside."""
    if why_not(backend):
        pytest.skip(why_not(backend))
    x, w = X[..., :1], W[:, :, :1]
    for options in (
        {"strides": MOST, "padding": MOST},
        {"dilations": MOST, "padding": MOST},
        {"strides": MOST},
    ):
        want = tc.conv2d(x, w, backend="reference", **options)
        assert np.array_equal(tc.conv2d(x, w, backend=backend, **options), want)
        filter_gradient = tc.conv2d_backprop_filter(x, w.shape, want, backend=backend, **options)
        assert np.array_equal(
            filter_gradient, tc.conv2d_backprop_filter(x, w.shape, want, backend="reference", **options)
        )
        input_gradient = tc.conv2d_backprop_input(x.shape, w, want, backend=backend, **options)
        assert np.array_equal(
            input_gradient, tc.conv2d_backprop_input(x.shape, w, want, backend="reference", **options)
        )


@pytest.mark.parametrize("strides", [(1, MOST, MOST, 1), (1, 1, MOST, 1), (1, 100_000, 100_000, 1)])
def test_phases_without_outputs_are_not_counted(strides):
    """The input gradient of depthwise has stride x stride phases, most of which hold no cell."""
    if why_not("cython"):
        pytest.skip(why_not("cython"))
    x = np.arange(50, dtype="float32").reshape(1, 5, 5, 2)
    for multiplier in (1, 3):
        w = np.arange(18 * multiplier, dtype="float32").reshape(3, 3, 2, multiplier)
        y, same = (tc.depthwise_conv2d(x, w, strides, "VALID", backend=b) for b in ("cython", "reference"))
        assert np.array_equal(y, same)
        dx, same = (
            tc.depthwise_conv2d_backprop_input(x.shape, w, y, strides, "VALID", backend=b)
            for b in ("cython", "reference")
        )
        assert np.array_equal(dx, same)


def test_a_gpu_counts_in_32_bits():
    from teachconv.backends.cuda.launches import problem

    for strides in (1, 2**20):
        assert problem(tc.conv2d_geometry(X.shape, W.shape, strides, 2))["integers"].nbytes == 16 * 4
    for options in ({"strides": MOST, "padding": 2}, {"dilations": 2**30, "padding": 2**30}):
        with pytest.raises(
            ValueError, match="counts in 32 bits, and the taps span [0-9]+ rows; use backend='cython'"
        ):
            problem(tc.conv2d_geometry(X.shape, W.shape, **options))


def test_filter_sizes_are_spoken_of_by_their_name():
    for sizes, message in (
        ([0, 3, 2, 6], "filter_sizes must have at least one row and one column; got 0 x 3"),
        ([0, 3, 4, 6], "filter_sizes must have at least one row and one column; got 0 x 3"),
        ([3, 3, 4, 6], r"filter_sizes\[2\] must be the input's 2 channels, or divide them \(groups\); got 4"),
        (
            [3, 3, 1, 3],
            r"filter_sizes\[3\] must be a multiple of the 2 groups .* / filter_sizes\[2\] 1\); got 3",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            tc.conv2d_backprop_filter(X, sizes, DY)
    with pytest.raises(
        ValueError, match=r"depthwise filter_sizes must be .* in_channels = 2; got \[3, 3, 4, 6\]"
    ):
        tc.depthwise_conv2d_backprop_filter(X, [3, 3, 4, 6], DY)
    with pytest.raises(ValueError, match=r"filters.shape\[2\] must be the input's 2 channels"):
        tc.conv2d(X, np.ones((3, 3, 4, 6), np.float32))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64", "float16"])
def test_equal_dtypes_that_are_other_objects(dtype):
    """Integers of the other byte order failed on cython: their dtype was compared by identity."""
    x, w = np.arange(16, dtype=dtype).reshape(1, 4, 4, 1), np.ones((2, 2, 1, 1), dtype)
    want = tc.conv2d(x, w, backend="reference")
    swapped = np.dtype(dtype).newbyteorder()
    for first, second in (
        (x.astype(swapped), w),
        (x, w.astype(swapped)),
        (x.astype(swapped), w.astype(swapped)),
    ):
        y = tc.conv2d(first, second)
        assert y.dtype == want.dtype
        assert np.array_equal(y, want)


FRACTIONS = {"float16": 0.25, "float32": 0.1, "float64": 0.1}
MIXED = [
    ("int64", "float32", "int64"),
    ("int32", "float64", "int32"),
    ("int32", "int64", "int32"),
    ("int32", "int32", "float32"),
    ("float32", "int64", "float32"),
    ("int64", "float32", "float64"),
    ("float32", "float32", "int32"),
]
# the names of the arrays, the op, and its other arguments
CALLS = {
    "conv2d": ("input", "filters", "bias", tc.conv2d, {}),
    "depthwise": ("input", "filters", "bias", tc.depthwise_conv2d, {}),
    "transposed": ("input", "filters", "bias", tc.conv2d_transpose, {}),
    "input gradient": (
        *("out_backprop", "filters", None),
        *(tc.conv2d_backprop_input, {"input_sizes": (1, 6, 6, 2)}),
    ),
    "filter gradient": (
        *("input", "out_backprop", None),
        *(tc.conv2d_backprop_filter, {"filter_sizes": (2, 2, 2, 2)}),
    ),
    "torch": ("input", "weight", "bias", tc.dialects.torch.conv2d, {}),
    "onnx": ("X", "W", "B", tc.dialects.onnx.conv, {}),
    "jax": (
        *("lhs", "rhs", None),
        *(tc.dialects.jax.conv_general_dilated, {"window_strides": (1, 1), "padding": "VALID"}),
    ),
    "keras": ("inputs", "kernel", None, tc.dialects.keras.conv, {}),
    "to_onnx": ("input", "filters", "bias", tc.to_onnx, {"op": tc.conv2d}),
}


def mixed_arrays(name, dtypes):
    """Arrays of these dtypes with fractions, and with integers that int32 does not hold."""
    shapes = ((1, 4, 4, 2), (2, 2, 2, 2), (4 if name == "depthwise" else 2,))
    if name == "input gradient":
        shapes = ((1, 5, 5, 2), *shapes[1:])
    if name == "filter gradient":
        shapes = (shapes[0], (1, 3, 3, 2), shapes[2])
    if name in ("torch", "onnx", "jax"):
        shapes = ((1, 2, 4, 4), *shapes[1:])
    return [
        np.full(shape, FRACTIONS.get(dtype, 3 if dtype == "int32" else 2**33), dtype)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]


@pytest.mark.parametrize("dtypes", MIXED, ids=" ".join)
@pytest.mark.parametrize("name", CALLS)
def test_the_conversion_that_a_message_names_keeps_the_numbers(name, dtypes):
    """What the message says is done, and then the call runs, without a fraction or a large integer cut off."""
    *words, op, rest = CALLS[name]
    arrays = zip(words, mixed_arrays(name, dtypes), strict=True)
    before = {word: array for word, array in arrays if word is not None}
    if name == "to_onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
        if "float" not in " ".join(dtypes):
            pytest.skip("ONNX's Conv has no integers")
    after = dict(before)
    while len({array.dtype for array in after.values()}) > 1:
        with pytest.raises(tc.ArgumentTypeError, match=" must have the dtype of ") as raised:
            op(**rest, **after)
        for part in str(raised.value).rpartition(": ")[2].split(" and "):
            after[part.partition(".")[0]] = eval(part, {}, after)
    for word in before:
        unit = np.finfo(after[word].dtype).eps if after[word].dtype.kind == "f" else 0
        assert abs(after[word].astype("float64") / before[word].astype("float64") - 1).max() <= unit, word
    op(**rest, **after)


@pytest.mark.parametrize("shape", [np.array(3), np.array("x")])
def test_an_array_without_axes_is_no_shape(shape):
    with pytest.raises(TypeError, match="input shape must be .*got array"):
        tc.conv2d_geometry(shape, (2, 2, 1, 1))
    with pytest.raises(TypeError, match="filter_sizes must be .*got array"):
        tc.conv2d_backprop_filter(np.ones((1, 2, 2, 1)), shape, np.ones((1, 2, 2, 1)))
