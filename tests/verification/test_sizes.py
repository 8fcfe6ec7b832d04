"""A result of another size: what gives it is named in the words of the caller's call."""

from functools import partial

import numpy as np
import pytest

import teachconv as tc
from teachconv.backends import numpy_backend
from teachconv.data.seeded import make_array
from teachconv.verification import sizes

jax, keras, onnx, torch = tc.dialects.jax, tc.dialects.keras, tc.dialects.onnx, tc.dialects.torch
SIZES = ((2, 11, 8, 2, 3), (1, 14, 17, 4, 4), (3, 9, 12, 3, 5))  # batch, rows, cols, in and out channels
LAYOUTS = {"torch": "NCHW", "onnx": "NCHW", "jax": "NCHW", "keras": "NHWC", "tf": "NHWC"}
NUMBERS = "this size and these numbers"


def said(call, got):
    """Return code and sentence of the diagnosis of ``got``."""
    report = tc.diff(call.func, *call.args, **call.keywords, backends=[], against={"port": got})
    assert not report.passed
    return report.rows[0].diagnosis.code, report.rows[0].diagnosis.sentence


def arrays(framework, size, transposed=False, filter_size=(3, 3), dtype="float32"):
    """An input and a filter in the framework's layout."""
    batch, rows, cols, depth, outs = SIZES[size]
    x = make_array((batch, rows, cols, depth), dtype, "normal", "x")
    w = make_array((*filter_size, depth, outs), dtype, "normal", "w")
    if LAYOUTS[framework] == "NCHW":
        x = x.transpose(0, 3, 1, 2)
        return x, w.transpose((2, 3, 0, 1) if transposed else (3, 2, 0, 1))
    return x, w.swapaxes(2, 3) if transposed else w


FORWARD = {
    "tf": tc.conv2d,
    "torch": torch.conv2d,
    "onnx": onnx.conv,
    "jax": jax.conv_general_dilated,
    "keras": keras.conv,
}
TRANSPOSED = {
    "tf": tc.conv2d_transpose,
    "torch": torch.conv_transpose2d,
    "onnx": onnx.conv_transpose,
    "jax": partial(jax.conv_transpose, dimension_numbers=("NCHW", "IOHW", "NCHW")),
    "keras": keras.conv_transpose,
}

# framework, the right call's arguments, the wrong one's, code, what is said
PLANTED = [
    (
        "tf",
        {"padding": "SAME"},
        {},
        "padding_mode",
        "padding='SAME' was forgotten: the default, padding='VALID',",
    ),
    ("tf", {}, {"padding": "SAME"}, "padding_mode", "padding='SAME' instead of padding='VALID'"),
    ("tf", {"padding": 1}, {"padding": 2}, "padding", "padding=2 instead of padding=1"),
    (
        "tf",
        {"padding": ((1, 1), (0, 2))},
        {"padding": ((0, 2), (0, 1))},
        "padding",
        "padding=((0, 2), (0, 1)) instead",
    ),
    ("tf", {"strides": 2}, {}, "stride", "strides=2 was forgotten: the default, strides=1,"),
    (
        "tf",
        {"strides": [1, 1, 2, 1]},
        {"strides": (2, 1)},
        "swapped_strides",
        "strides=[1, 2, 1, 1] instead of strides=[1, 1, 2, 1]",
    ),
    ("tf", {"dilations": 2}, {"dilations": 3}, "dilation", "dilations=3 instead of dilations=2"),
    ("torch", {"padding": 1}, {}, "padding", "padding=1 was forgotten: the default, padding=0,"),
    (
        "torch",
        {"padding": (0, 1)},
        {"padding": (1, 0)},
        "padding",
        "padding=(1, 0) instead of padding=(0, 1)",
    ),
    (
        "torch",
        {"stride": (2, 1)},
        {"stride": (1, 2)},
        "swapped_strides",
        "stride=(1, 2) instead of stride=(2, 1)",
    ),
    ("torch", {"stride": 3}, {"stride": 2}, "stride", "stride=2 instead of stride=3"),
    ("torch", {"dilation": 3}, {}, "dilation", "dilation=3 was forgotten: the default, dilation=1,"),
    (
        "torch",
        {"stride": 2, "padding": 2},
        {},
        "padding_and_stride",
        "padding=2 and stride=2 were forgotten: the defaults, padding=0 and stride=1,",
    ),
    (
        "torch",
        {"stride": (2, 1), "padding": (0, 1)},
        {"stride": (1, 2), "padding": (1, 0)},
        "padding_and_stride",
        "padding=(1, 0) and stride=(1, 2) instead of padding=(0, 1) and stride=(2, 1)",
    ),
    (
        "torch",
        {"stride": 1, "dilation": 2},
        {"stride": 2, "dilation": 1},
        "stride_and_dilation",
        "stride=2 and dilation=1 instead of stride=1 and dilation=2",
    ),
    (
        "onnx",
        {"pads": [1, 1, 1, 1]},
        {},
        "padding",
        "pads=[1, 1, 1, 1] was forgotten: the default, pads=None,",
    ),
    ("onnx", {"pads": [0, 0, 1, 1]}, {"pads": [0, 1, 0, 1]}, "padding", "pads=[0, 1, 0, 1] instead"),
    (
        "onnx",
        {"auto_pad": "SAME_UPPER"},
        {"auto_pad": "VALID"},
        "padding_mode",
        "auto_pad='SAME_UPPER' was forgotten: the default, auto_pad='NOTSET',",
    ),
    ("onnx", {"strides": [2, 2]}, {"strides": [3, 2]}, "stride", "strides=[3, 2] instead of strides=[2, 2]"),
    (
        "jax",
        {"window_strides": (1, 1), "padding": "SAME"},
        {"window_strides": (1, 1), "padding": "VALID"},
        "padding_mode",
        "padding='VALID' instead of padding='SAME'",
    ),
    (
        "jax",
        {"window_strides": (2, 2), "padding": ((1, 1), (1, 1))},
        {"window_strides": (1, 2), "padding": ((1, 1), (1, 1))},
        "stride",
        "window_strides=(1, 2) instead of window_strides=(2, 2)",
    ),
    (
        "keras",
        {"padding": "same"},
        {},
        "padding_mode",
        "padding='same' was forgotten: the default, padding='valid',",
    ),
    ("keras", {"strides": 2}, {"strides": 3}, "stride", "strides=3 instead of strides=2"),
    (
        "keras",
        {"dilation_rate": 2},
        {},
        "dilation",
        "dilation_rate=2 was forgotten: the default, dilation_rate=1,",
    ),
]
PLANTED_TRANSPOSED = [
    (
        "torch",
        {"stride": 2, "padding": 1, "output_padding": 1},
        {"stride": 2, "padding": 1},
        "output_padding",
        "output_padding=1 was forgotten: the default, output_padding=0,",
    ),
    (
        "torch",
        {"stride": 2, "padding": 1},
        {"stride": 2},
        "padding",
        "padding=1 was forgotten: the default, padding=0,",
    ),
    ("torch", {"stride": 2}, {"stride": 3}, "stride", "stride=3 instead of stride=2"),
    (
        "torch",
        {"stride": 2, "dilation": 2},
        {"stride": 2},
        "dilation",
        "dilation=2 was forgotten: the default, dilation=1,",
    ),
    (
        "onnx",
        {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]},
        {"strides": [2, 2], "pads": [1, 1, 1, 1]},
        "output_padding",
        "output_padding=[1, 1] was forgotten: the default, output_padding=None,",
    ),
    (
        "onnx",
        {"strides": [2, 2], "pads": [1, 1, 1, 1]},
        {"strides": [2, 2], "pads": [2, 1, 0, 2]},
        "padding",
        "pads=[2, 1, 0, 2] instead of pads=[1, 1, 1, 1]",
    ),
    (
        "keras",
        {"strides": 2, "padding": "same"},
        {"strides": 2},
        "padding_mode",
        "the default, padding='valid',",
    ),
    (
        "keras",
        {"strides": 2, "padding": "same"},
        {"strides": 2, "padding": "same", "output_padding": 0},
        "output_padding",
        "output_padding=0 instead of output_padding=None",
    ),
    (
        "tf",
        {"strides": 2},
        {"strides": 2, "padding": "VALID"},
        "padding_mode",
        "padding='VALID' instead of padding='SAME'",
    ),
    (
        "jax",
        {"strides": (2, 2), "padding": "SAME"},
        {"strides": (2, 2), "padding": "VALID"},
        "padding_mode",
        "'VALID'",
    ),
    (
        "jax",
        {"strides": (2, 2), "padding": "SAME"},
        {"strides": (3, 2), "padding": "SAME"},
        "stride",
        "strides=(3, 2)",
    ),
]


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("size", range(len(SIZES)))
@pytest.mark.parametrize(("framework", "right", "wrong", "code", "words"), PLANTED)
def test_other_arguments(framework, right, wrong, code, words, size, dtype):
    op, operands = FORWARD[framework], arrays(framework, size, dtype=dtype)
    found, sentence = said(partial(op, *operands, **right), op(*operands, **wrong))
    assert found == code
    assert f": {words}" in sentence
    assert sentence.endswith(NUMBERS)


@pytest.mark.parametrize("size", range(len(SIZES)))
@pytest.mark.parametrize(("framework", "right", "wrong", "code", "words"), PLANTED_TRANSPOSED)
def test_other_arguments_transposed(framework, right, wrong, code, words, size):
    op, operands = TRANSPOSED[framework], arrays(framework, size, transposed=True)
    call = partial(op, *operands, **right)
    found, sentence = said(call, op(*operands, **wrong))
    assert found == code
    assert words in sentence
    assert sentence.endswith(NUMBERS)


@pytest.mark.parametrize("size", range(len(SIZES)))
def test_the_size_that_was_asked_for(size):
    x, w = arrays("tf", size, transposed=True)
    batch, rows, cols, _, outs = SIZES[size]
    asked, wrong = (batch, 2 * rows, 2 * cols, outs), (batch, 2 * rows - 1, 2 * cols, outs)
    call = partial(tc.conv2d_transpose, x, w, asked, 2)
    code, sentence = said(call, tc.conv2d_transpose(x, w, wrong, 2))
    assert (code, f"output_shape={wrong} instead of output_shape={asked} gives {NUMBERS}" in sentence) == (
        "size",
        True,
    )
    x, w = arrays("tf", size)
    dy = make_array(tc.conv2d(x, w, 2).shape, "float32", "normal", "dy")
    shape = (x.shape[0], (x.shape[1] - 3) // 2 * 2 + 3, (x.shape[2] - 3) // 2 * 2 + 3, x.shape[3])
    shape = tuple(
        n + (n == old and axis in (1, 2)) for axis, (n, old) in enumerate(zip(shape, x.shape, strict=True))
    )
    call = partial(tc.conv2d_backprop_input, x.shape, w, dy, 2)
    code, sentence = said(call, tc.conv2d_backprop_input(shape, w, dy, 2))
    assert code == "size"
    assert f"input_sizes={shape} instead" in sentence


@pytest.mark.parametrize("size", range(len(SIZES)))
def test_groups_of_a_transposed_convolution(size):
    batch, rows, cols, _, outs = SIZES[size]
    x = make_array((batch, 4, rows, cols), "float32", "normal", "x")
    w = make_array((4, outs, 3, 3), "float32", "normal", "w")
    code, sentence = said(partial(torch.conv_transpose2d, x, w, groups=2), torch.conv_transpose2d(x, w))
    assert code == "groups"
    assert "groups=2 was forgotten: the default, groups=1," in sentence


@pytest.mark.parametrize("framework", FORWARD)
@pytest.mark.parametrize("size", range(len(SIZES)))
class TestOfTheReference:
    def call(self, framework, size, filter_size=(3, 3)):
        required = {"window_strides": (1, 1), "padding": "VALID"} if framework == "jax" else {}
        return partial(FORWARD[framework], *arrays(framework, size, filter_size=filter_size), **required)

    def spatial(self, framework, rows, cols):
        """An index of rows and columns in the framework's layout."""
        return (
            (slice(None), slice(None), rows, cols)
            if LAYOUTS[framework] == "NCHW"
            else (slice(None), rows, cols)
        )

    def test_another_layout(self, framework, size):
        call = self.call(framework, size)
        order = (0, 2, 3, 1) if LAYOUTS[framework] == "NCHW" else (0, 3, 1, 2)
        code, sentence = said(call, call().transpose(order))
        assert (code, f"transpose{order} of the reference gives {NUMBERS}" in sentence) == ("layout", True)

    def test_no_batch_axis(self, framework, size):
        call = self.call(framework, size)
        image = partial(call.func, call.args[0][:1], *call.args[1:], **call.keywords)
        code, sentence = said(image, call()[0])
        assert (code, "without its batch axis" in sentence) == ("layout", True)

    def test_a_window(self, framework, size):
        call = self.call(framework, size)
        code, sentence = said(call, call()[self.spatial(framework, slice(2, -1), slice(0, -1))])
        rows, cols = (call().shape[axis] for axis in ((2, 3) if LAYOUTS[framework] == "NCHW" else (1, 2)))
        assert code == "window"
        assert f"2:{rows - 1}, :{cols - 1}" in sentence

    def test_the_reference_is_a_window(self, framework, size):
        call = self.call(framework, size)
        margin = [(0, 0)] * 4
        margin[2] = (3, 1)  # rows or columns
        code, sentence = said(call, np.pad(call(), margin, constant_values=7))
        assert code == "window"
        assert f", 3:{3 + call().shape[2]}" in sentence
        assert "the reference is [" in sentence

    @pytest.mark.parametrize(
        ("size_of_pool", "name"), [(2, "max"), (2, "average"), (3, "max"), (3, "average")]
    )
    def test_a_pool(self, framework, size, size_of_pool, name):
        call = self.call(framework, size)
        reduce = {"max": np.max, "average": np.mean}[name]
        n, first = size_of_pool, 2 if LAYOUTS[framework] == "NCHW" else 1
        y = call()
        rows, cols = (length // n for length in y.shape[first : first + 2])
        y = y[self.spatial(framework, slice(rows * n), slice(cols * n))]
        got = reduce(
            y.reshape(*y.shape[:first], rows, n, cols, n, *y.shape[first + 2 :]), (first + 1, first + 3)
        )
        code, sentence = said(call, got.astype("float32"))
        assert (code, f"{name} pooling over {n} by {n} cells" in sentence) == ("pool", True)


@pytest.mark.parametrize("size", range(len(SIZES)))
def test_a_size_rounded_up(size):
    x, w = arrays("torch", size)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 3), (1, 3)))
    rows, cols = (-(-(n - 1) // 3) + 1 for n in x.shape[2:])
    code, sentence = said(
        partial(torch.conv2d, x, w, stride=3, padding=1),
        torch.conv2d(padded, w, stride=3)[:, :, :rows, :cols],
    )
    assert (code, "as with ceil_mode=True" in sentence) == ("ceil_mode", True)


@pytest.mark.parametrize("size", range(len(SIZES)))
def test_two_mistakes_one_of_them_in_the_size(size):
    x, w = arrays("torch", size, transposed=True)
    right = partial(torch.conv_transpose2d, x, w, stride=2, padding=1, output_padding=1)
    code, sentence = said(right, torch.conv_transpose2d(x, w[:, :, ::-1, ::-1], stride=2, padding=1))
    assert code == "output_padding"
    assert "gives this size, but the numbers differ: flipped_filter: equal when" in sentence
    got = right()[:, :, :-1, :-1]
    code, sentence = said(right, got + make_array(got.shape, "float32", "normal", "noise"))
    assert code == "output_padding"
    assert sentence.endswith("gives this size, but the numbers differ: the rest of the mistake is elsewhere")


def test_what_nothing_explains():
    x, w = arrays("torch", 0)
    assert said(partial(torch.conv2d, x, w), np.ones((2, 3, 4)))[0] == "output_shape"
    assert said(partial(torch.conv2d, x, w), np.ones(()))[0] == "output_shape"
    assert said(partial(torch.conv2d, x, w), np.ones((2, 3, 0, 6)))[0] == "output_shape"
    assert said(partial(torch.conv2d, x, w), np.zeros((2, 3, 20, 30)))[0] == "output_shape"


def test_zeros_are_no_explanation():
    x, w = arrays("torch", 0)
    call = partial(torch.conv2d, x, w, padding=1)
    _, sentence = said(call, np.zeros_like(torch.conv2d(x, w)))
    assert "gives this size, but the numbers differ" in sentence


def test_words_of_the_caller():
    """No caller of PyTorch reads of SAME, and none of TensorFlow of auto_pad."""
    x, w = arrays("torch", 0)
    _, sentence = said(partial(torch.conv2d, x, w, padding=1), torch.conv2d(x, w))
    assert "SAME" not in sentence
    assert "VALID" not in sentence


def test_steps_as_arrays():
    x, w = arrays("torch", 0)
    call = partial(torch.conv2d, x, w, stride=np.array([2, 1]), padding=np.int64(1))
    code, sentence = said(call, torch.conv2d(x, w, stride=(1, 2), padding=1))
    assert (code, "stride=[1, 2] instead of stride=[2, 1]" in sentence) == ("swapped_strides", True)


def test_a_backend_of_another_size_is_explained():
    """The rows of backends get the same words."""

    class Crops:
        __name__ = "crops"
        ALGORITHMS = numpy_backend.ALGORITHMS

        def __getattr__(self, name):
            return getattr(numpy_backend, name)

        def conv2d(self, x, w, geometry, **options):
            return numpy_backend.conv2d(x, w, geometry, **options)[:, :-1]

    for op, words in ((tc.conv2d, "[:, :8, :, :] of the reference"), (torch.conv2d, "[:, :, :8, :] of")):
        x, w = arrays("tf" if op is tc.conv2d else "torch", 0)
        diagnosis = tc.diff(op, x, w, backends=[Crops()]).rows[0].diagnosis
        assert (diagnosis.code, words in diagnosis.sentence) == ("window", True)


def test_the_search_ends(slow_clock, monkeypatch):
    """Of the arguments that give the size as many are tried as time allows, but never fewer than four."""
    x, w = arrays("tf", 0)
    got = np.ones((2, 11 + 6, 8 + 6, 3), "float32")  # of padding, each axis may have 0 and 8, 1 and 7, ...
    tries, as_of = [], sizes._as_of
    monkeypatch.setattr(sizes, "_as_of", lambda *args: tries.append(args) or as_of(*args))
    numbers = []
    for seconds in (0, 0.5, 1000):
        monkeypatch.setattr(sizes, "_SECONDS", seconds)
        said(partial(tc.conv2d, x, w), got)
        numbers.append(len(tries))
        tries.clear()
    assert numbers[0] == sizes._AT_LEAST
    assert numbers[0] < numbers[1] < numbers[2]
