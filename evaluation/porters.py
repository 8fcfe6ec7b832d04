"""Mistakes that people make when they port one layer: the right call, the wrong result, and what names it.

Each row is a function of a `Problem`, which gives it arrays of one size, and returns the right call, in the
words of the framework that is ported to or from, and the result that the porter had. A diagnosis is right
if its text, "code: sentence", matches the pattern of the row. The wrong results are made with NumPy and
teachconv. `python evaluation/porters.py` prints how many rows are named.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

import teachconv as tc
from teachconv.core.dtypes import FORMATS
from teachconv.data.seeded import make_array

jax, keras, onnx, torch = tc.dialects.jax, tc.dialects.keras, tc.dialects.onnx, tc.dialects.torch

SIZES = ((2, 12, 10, 3, 4), (3, 16, 18, 4, 8), (2, 20, 14, 6, 6))  # batch, rows, cols, in and out channels


class Problem:
    """Arrays of one size. Rows and columns are even, and differ unless ``square`` is asked for."""

    def __init__(self, size: int = 0) -> None:
        self.size = size
        self.batch, self.rows, self.cols, self.depth, self.outs = SIZES[size]

    def array(self, name: str, *shape: int) -> np.ndarray:
        """Normal numbers, the same for the same name, shape and size."""
        return make_array(shape, "float32", "normal", f"{name}{self.size}")

    def x(
        self, depth: int | None = None, *, square: bool = False, rows: int = 0, cols: int = 0
    ) -> np.ndarray:
        """Images [batch, rows, cols, channels]; ``rows`` and ``cols`` are added to the sizes."""
        side = self.rows if square else self.cols
        return self.array("x", self.batch, self.rows + rows, side + cols, depth or self.depth)

    def w(
        self, rows: int = 3, cols: int = 0, depth: int | None = None, outs: int | None = None
    ) -> np.ndarray:
        """A filter [rows, cols, in_channels, out_channels]; without ``cols`` a square one."""
        return self.array("w", rows, cols or rows, depth or self.depth, outs or self.outs)

    def b(self, outs: int | None = None) -> np.ndarray:
        """A bias."""
        return self.array("b", outs or self.outs)

    def statistics(self) -> tuple[np.ndarray, ...]:
        """Gamma, beta, mean and variance of a batch normalisation."""
        gamma, beta, mean, spread = (self.array(name, self.outs) for name in ("gamma", "beta", "mean", "var"))
        return 1 + gamma / 4, beta, mean, np.exp(spread).astype(np.float32)


class Row(NamedTuple):
    """One mistake.

    Attributes:
        id: its name.
        words: what people say of it.
        pair: from where to where the layer was ported.
        kind: of which op, and whether the size is wrong.
        named: a pattern for a right diagnosis.
        make: returns the right call and the wrong result.
        where: of a mistake without a name, a pattern for where the bad cells lie; "" if that is not enough.
    """

    id: str
    words: str
    pair: str
    kind: str
    named: str
    make: Callable[[Problem], tuple[partial, np.ndarray]]
    where: str = ""


ROWS: list[Row] = []


def row(words: str, pair: str, named: str, kind: str = "forward", where: str = "") -> Callable:
    """Enter a function into the table; its name is the row's id."""

    def enter(make: Callable) -> Callable:
        ROWS.append(Row(make.__name__, words, pair, kind, named, make, where))
        return make

    return enter


def nchw(x: np.ndarray) -> np.ndarray:
    """Images for PyTorch and ONNX."""
    return x.transpose(0, 3, 1, 2)


def nhwc(x: np.ndarray) -> np.ndarray:
    """Images for TensorFlow."""
    return x.transpose(0, 2, 3, 1)


def oihw(w: np.ndarray) -> np.ndarray:
    """A filter [rows, cols, in, out] for PyTorch and ONNX; the same axes serve their transposed ones."""
    return w.transpose(3, 2, 0, 1)


def torch_layer(p: Problem, filter_size: int = 3, **arguments) -> tuple[partial, np.ndarray, np.ndarray]:
    """A call of PyTorch's conv2d, its input and its weight."""
    x, w = nchw(p.x()), oihw(p.w(filter_size))
    return partial(torch.conv2d, x, w, **arguments), x, w


def transposed_layer(p: Problem, filter_size: int = 3, **arguments) -> tuple[partial, np.ndarray, np.ndarray]:
    """A call of PyTorch's conv_transpose2d, its input and its weight [in, out, rows, cols]."""
    x, w = nchw(p.x()), p.w(filter_size).transpose(2, 3, 0, 1)
    return partial(torch.conv_transpose2d, x, w, **arguments), x, w


def layer(p: Problem, *args, filter_size: int = 3, **kwargs) -> tuple[partial, np.ndarray, np.ndarray]:
    """A call of TensorFlow's conv2d, its input and its filter."""
    x, w = p.x(), p.w(filter_size)
    return partial(tc.conv2d, x, w, *args, **kwargs), x, w


# ---------------------------------------------------------------------------------------------
# Padding: which side, how much, with what
# ---------------------------------------------------------------------------------------------

_SIDE = r"padding_side|stride_phase|pad_(top|left)"


@row("a stride 2 layer with SAME is off by one pixel in PyTorch with padding=1", "tf -> torch", _SIDE)
def same_is_not_half_the_filter(p):
    call, x, w = layer(p, 2, "SAME")
    return call, nhwc(torch.conv2d(nchw(x), oihw(w), stride=2, padding=1))


@row("padding=1 exported as SAME, stride 2", "torch -> tf", _SIDE)
def half_the_filter_is_not_same(p):
    call, x, w = torch_layer(p, stride=2, padding=1)
    return call, nchw(tc.conv2d(nhwc(x), w.transpose(2, 3, 1, 0), 2, "SAME"))


@row("the 7x7 stem of a ResNet, stride 2, padding=3, ported to SAME", "torch -> keras", _SIDE)
def resnet_stem(p):
    call, x, w = torch_layer(p, 7, stride=2, padding=3)
    return call, nchw(tc.conv2d(nhwc(x), w.transpose(2, 3, 1, 0), 2, "SAME"))


@row("5x5, stride 2, SAME, ported with padding=2", "tf -> torch", _SIDE)
def five_by_five_same(p):
    call, x, w = layer(p, 2, "SAME", filter_size=5)
    return call, nhwc(torch.conv2d(nchw(x), oihw(w), stride=2, padding=2))


@row("SAME_LOWER run as SAME_UPPER, an even filter", "onnx -> tf", _SIDE)
def auto_pad_lower_for_upper(p):
    x, w = nchw(p.x()), oihw(p.w(4))
    return partial(onnx.conv, x, w, auto_pad="SAME_LOWER"), onnx.conv(x, w, auto_pad="SAME_UPPER")


@row("SAME_UPPER run as SAME_LOWER, stride 2", "onnx -> runtime", _SIDE)
def auto_pad_upper_for_lower(p):
    x, w = nchw(p.x()), oihw(p.w(3))
    call = partial(onnx.conv, x, w, auto_pad="SAME_UPPER", strides=[2, 2])
    return call, onnx.conv(x, w, auto_pad="SAME_LOWER", strides=[2, 2])


@row("an even filter, padding='same' puts the odd row first", "torch -> own kernel", _SIDE)
def even_filter_odd_row_first(p):
    call, x, w = torch_layer(p, 2, padding="same")
    padded = np.pad(x, ((0, 0), (0, 0), (1, 0), (1, 0)))
    return call, torch.conv2d(padded, w)


@row("ZeroPadding2D(1) in place of ZeroPadding2D(((0, 1), (0, 1))), stride 2", "keras -> torch", _SIDE)
def zero_padding_on_both_sides(p):
    call, x, w = layer(p, 2, ((0, 1), (0, 1)))
    return call, tc.conv2d(x, w, 2, 1)


@row("F.pad was given (top, bottom, left, right); it wants the columns first", "tf -> torch", _SIDE)
def pad_order_columns_first(p):
    call, x, w = layer(p, 1, ((0, 1), (1, 0)))
    padded = torch.pad(nchw(x), (0, 1, 1, 0))
    return call, nhwc(torch.conv2d(padded, oihw(w)))


@row("ONNX pads given as (top, bottom, left, right); it wants begins, then ends", "tf -> onnx", _SIDE)
def onnx_pads_by_axis(p):
    x, w = nchw(p.x(cols=1)), oihw(p.w())
    call = partial(onnx.conv, x, w, pads=[1, 0, 1, 0], strides=[2, 2])
    return call, onnx.conv(x, w, pads=[1, 1, 0, 0], strides=[2, 2])


@row("only the columns were padded on the wrong side", "tf -> own kernel", _SIDE)
def wrong_side_of_columns_only(p):
    call, x, w = layer(p, 2, "SAME")
    return call, tc.conv2d(x, w, 2, ((0, 1), (1, 0)))


@row("stride done by slicing a stride 1 result: SAME pads otherwise at stride 1", "tf -> tfjs", _SIDE)
def stride_by_slicing(p):
    call, x, w = layer(p, 2, "SAME")
    return call, tc.conv2d(x, w, 1, "SAME")[:, ::2, ::2]


@row("stride done by slicing from the second cell", "torch -> own kernel", _SIDE)
def stride_by_slicing_from_one(p):
    call, x, w = torch_layer(p, stride=2, padding=1)
    return call, torch.conv2d(x, w, padding=1)[:, :, 1::2, 1::2]


@row("stride 3 starts at the middle of each block", "torch -> own kernel", _SIDE)
def stride_from_the_middle(p):
    call, x, w = torch_layer(p, stride=3, padding=1)
    rows, cols = (-(-(n) // 3) for n in x.shape[2:])
    whole = torch.conv2d(np.pad(x, ((0, 0), (0, 0), (0, 3), (0, 3))), w, padding=1)
    return call, whole[:, :, 1::3, 1::3][:, :, :rows, :cols]


@row("everything is one pixel down and right", "torch -> own kernel", r"shift|padding_side|pad_(top|left)")
def one_pixel_down_and_right(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(torch.pad(x, (2, 0, 2, 0)), w)


_VALUES = r"padding_values?|(padding|padded).*(constant|value|with|instead of)"


@row("the border is mirrored: padding_mode='reflect'", "torch -> tf", _VALUES + "|reflect")
def reflected_border(p):
    call, x, w = layer(p, 1, "SAME")
    return call, tc.conv2d(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect"), w)


@row("the border is repeated: padding_mode='replicate'", "torch -> onnx", _VALUES + "|edge")
def replicated_border(p):
    call, x, w = torch_layer(p, 5, padding=2)
    return call, torch.conv2d(torch.pad(x, (2, 2, 2, 2), mode="replicate"), w)


@row("the image is treated as periodic: padding_mode='circular'", "torch -> onnx", _VALUES + "|circular")
def circular_border(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(torch.pad(x, (1, 1, 1, 1), mode="circular"), w)


@row("tf.pad SYMMETRIC in place of zeros", "tf -> own kernel", _VALUES + "|symmetric")
def symmetric_border(p):
    call, x, w = layer(p, 2, "SAME", filter_size=5)
    return call, tc.conv2d(np.pad(x, ((0, 0), (1, 2), (1, 2), (0, 0)), "symmetric"), w, 2)


@row("zeros where the export lost padding_mode='circular'", "torch -> onnx", r"padding|border|pad_")
def circular_border_lost(p):
    x, w = nchw(p.x()), oihw(p.w())
    call = partial(torch.conv2d, torch.pad(x, (1, 1, 1, 1), mode="circular"), w)
    return call, torch.conv2d(x, w, padding=1)


@row("the image is padded with -1, black after scaling to [-1, 1]", "tf -> torch", _VALUES)
def padded_with_minus_one(p):
    call, x, w = layer(p, 1, "SAME")
    return call, tc.conv2d(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-1), w)


@row("the padding is the zero point's value, not zero", "tf -> tflite", _VALUES)
def padded_with_the_zero_point(p):
    call, x, w = torch_layer(p, stride=2, padding=1)
    return call, torch.conv2d(torch.pad(x, (1, 1, 1, 1), value=0.5), w, stride=2)


@row("the mean was subtracted after padding: the padding is -mean, by channel", "caffe -> tf", _VALUES)
def padded_before_the_mean(p):
    call, x, w = layer(p, 1, "SAME")
    mean = p.array("mean", x.shape[3])
    raw = np.pad(x + mean, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return call, tc.conv2d((raw - mean).astype("float32"), w)


@row(
    "the output was padded with zeros, not the input",
    "torch -> own kernel",
    r"pad",
    where=r"rows?|columns?|border",
)
def output_padded_with_zeros(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.pad(torch.conv2d(x, w), (1, 1, 1, 1))


# ---------------------------------------------------------------------------------------------
# Sizes
# ---------------------------------------------------------------------------------------------


@row(
    "padding='valid' where padding='same' was meant",
    "tf -> keras",
    r"same.*valid|valid.*same|padding",
    "size",
)
def valid_for_same(p):
    x, w = p.x(), p.w()
    return partial(keras.conv, x, w, padding="same"), keras.conv(x, w, padding="valid")


@row("SAME where VALID was meant", "torch -> tf", r"SAME", "size")
def same_for_valid(p):
    call, x, w = layer(p, 1, "VALID")
    return call, tc.conv2d(x, w, 1, "SAME")


@row("padding=1 was forgotten", "tf -> torch", r"padding=0|padding.*(forgotten|missing)", "size")
def padding_forgotten(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(x, w)


@row("padding=1 for a 5x5 filter", "keras -> torch", r"padding=1", "size")
def padding_for_a_smaller_filter(p):
    call, x, w = torch_layer(p, 5, padding=2)
    return call, torch.conv2d(x, w, padding=1)


@row("padding=(rows, cols) exchanged, filter 1x7", "torch -> torchsharp", r"padding=\(3, 0\)", "size")
def padding_axes_exchanged(p):
    x, w = nchw(p.x()), oihw(p.w(1, 7))
    return partial(torch.conv2d, x, w, padding=(0, 3)), torch.conv2d(x, w, padding=(3, 0))


@row("stride=(rows, cols) exchanged", "tf -> torch", r"stride=\(1, 2\)", "size")
def stride_axes_exchanged(p):
    call, x, w = torch_layer(p, stride=(2, 1), padding=1)
    return call, torch.conv2d(x, w, stride=(1, 2), padding=1)


@row("the stride is ignored", "tf -> tf-encrypted", r"strides?=1", "size")
def stride_ignored(p):
    call, x, w = layer(p, 2, "SAME")
    return call, tc.conv2d(x, w, 1, "SAME")


@row("strides [1, 2, 2, 1] read from the first number", "tf -> own kernel", r"strides?=\(1, 2\)", "size")
def strides_read_from_the_batch(p):
    call, x, w = layer(p, [1, 2, 2, 1], "SAME")
    return call, tc.conv2d(x, w, (1, 2), "SAME")


@row("every second cell is missing: stride 2 for 1", "onnx -> own kernel", r"strides=\[2, 2\]", "size")
def stride_too_many(p):
    x, w = nchw(p.x()), oihw(p.w())
    call = partial(onnx.conv, x, w, pads=[1, 1, 1, 1])
    return call, onnx.conv(x, w, pads=[1, 1, 1, 1], strides=[2, 2])


@row("the dilation is missing", "torch -> own kernel", r"dilation=1", "size")
def dilation_missing(p):
    call, x, w = torch_layer(p, padding=1, dilation=2)
    return call, torch.conv2d(x, w, padding=1)


@row("padding=1 kept at dilation 2, where SAME needs 2", "keras -> torch", r"padding=1", "size")
def padding_of_the_undilated(p):
    call, x, w = torch_layer(p, padding=2, dilation=2)
    return call, torch.conv2d(x, w, padding=1, dilation=2)


@row("ONNX pads (top, bottom, left, right), sizes differ", "tf -> onnx", r"pads=\[0, 1, 0, 1\]", "size")
def onnx_pads_by_axis_size(p):
    x, w = nchw(p.x()), oihw(p.w())
    return partial(onnx.conv, x, w, pads=[0, 0, 1, 1]), onnx.conv(x, w, pads=[0, 1, 0, 1])


@row("the size is rounded up: Caffe's and ceil_mode's rule", "caffe -> torch", r"ceil|rounded up", "size")
def size_rounded_up(p):
    call, x, w = torch_layer(p, stride=2)
    return call, torch.conv2d(torch.pad(x, (0, 1, 0, 1)), w, stride=2)


@row("the 2x2 max pool of the next layer is in it", "torch -> onnx", r"max.*pool|pool.*max", "size")
def max_pool_included(p):
    call, x, w = torch_layer(p, padding=1)
    return call, pooled(call()).max(axis=(3, 5))


@row(
    "the 2x2 average pool of the next layer is in it", "keras -> tflite", r"av(era)?g.*pool|pool.*av", "size"
)
def average_pool_included(p):
    x, w = p.x(), p.w()
    call = partial(keras.conv, x, w, padding="same")
    return call, nhwc(pooled(nchw(call())).mean(axis=(3, 5), dtype="float32"))


def pooled(y: np.ndarray) -> np.ndarray:
    """Blocks of 2x2 of [batch, channels, rows, cols], as axes 3 and 5."""
    n, c, rows, cols = y.shape
    return y[:, :, : rows // 2 * 2, : cols // 2 * 2].reshape(n, c, rows // 2, 2, cols // 2, 2)


@row("the result is channels-first", "tf -> torch", r"layout|transposed", "size")
def result_is_channels_first(p):
    call, _, _ = layer(p, 1, "SAME")
    return call, nchw(call())


@row("the batch axis is missing", "torch -> coreml", r"batch", "size")
def batch_axis_missing(p):
    x, w = nchw(p.x())[:1], oihw(p.w())
    call = partial(torch.conv2d, x, w)
    return call, call()[0]


@row("rows and columns of the result are exchanged", "matlab -> torch", r"layout|transposed", "size")
def result_rows_and_columns_exchanged(p):
    call, _, _ = torch_layer(p, padding=1)
    return call, call().swapaxes(2, 3)


@row(
    "only the first group's channels came out",
    "torch -> own kernel",
    r"channels|group|it is \[:, :3, :, :\]",
    "size",
)
def one_group_of_channels(p):
    x, w = nchw(p.x(4)), oihw(p.w(depth=2, outs=6))
    call = partial(torch.conv2d, x, w, padding=1, groups=2)
    return call, call()[:, :3]


# ---------------------------------------------------------------------------------------------
# Strides and dilations of the right size
# ---------------------------------------------------------------------------------------------


@row("dilation_rate=2 is ignored, SAME", "keras -> tflite", r"dilation")
def dilation_ignored(p):
    x, w = p.x(), p.w()
    call = partial(keras.conv, x, w, padding="same", dilation_rate=2)
    return call, keras.conv(x, w, padding="same")


@row("dilation counts the holes: 3 instead of 2", "caffe -> torch", r"dilation")
def dilation_counts_the_holes(p):
    call, x, w = layer(p, 1, "SAME", dilations=2)
    return call, tc.conv2d(x, w, 1, "SAME", dilations=3)


@row("the dilation is applied twice", "tf -> own kernel", r"dilation")
def dilation_twice(p):
    call, x, w = layer(p, 1, "SAME", dilations=2)
    return call, tc.conv2d(x, w, 1, "SAME", dilations=4)


@row(
    "dilations (rows, cols) exchanged",
    "torch -> tf",
    r"dilation.*exchanged|exchanged.*dilation|dilations \(2, 1\)",
)
def dilation_axes_exchanged(p):
    call, x, w = layer(p, 1, "SAME", dilations=(1, 2))
    return call, tc.conv2d(x, w, 1, "SAME", dilations=(2, 1))


@row("the dilation is dropped because the stride is 2", "torch -> keras", r"dilation")
def dilation_dropped_at_stride(p):
    call, x, w = torch_layer(p, stride=2, padding=2, dilation=2)
    return call, nchw(tc.conv2d(nhwc(x), w.transpose(2, 3, 1, 0), 2, 1))


@row("stride and dilation exchanged", "torch -> own kernel", r"stride_and_dilation|exchanged")
def stride_and_dilation_exchanged(p):
    call, x, w = layer(p, (1, 2), ((2, 2), (1, 1)), dilations=(2, 1))
    rows, cols = call().shape[1:3]
    padded = np.pad(x, ((0, 0), (1, rows), (2, cols * 2), (0, 0)))
    theirs = tc.conv2d(padded, w, (2, 1), dilations=(1, 2))
    return call, theirs[:, :rows, :cols]


@row(
    "strides (rows, cols) exchanged, and the size kept",
    "tf -> own kernel",
    r"stride.*exchanged|strides \(2, 1\)",
)
def stride_axes_exchanged_size_kept(p):
    x, w = p.x(), p.w()
    call = partial(
        tc.conv2d_backprop_input, x.shape, w, p.array("dy", *tc.conv2d(x, w, (1, 2)).shape), (1, 2)
    )
    dy = call.args[2]
    full = np.zeros((len(x), 2 * x.shape[1] + 3, 2 * x.shape[2] + 3, x.shape[3]), "float32")
    part = tc.conv2d_transpose(dy, w, None, (2, 1), "VALID")
    full[:, : part.shape[1], : part.shape[2]] = part
    return call, full[:, : x.shape[1], : x.shape[2]]


# ---------------------------------------------------------------------------------------------
# Filters
# ---------------------------------------------------------------------------------------------

_FILTER = (
    r"transposed_filter|swapped_filter_axes|filter.*(reshaped|exchanged|order|read)|weights.*(reshaped|read)"
)


@row("weights OIHW reshaped to HWIO instead of transposed", "torch -> tf", r"reshape|memory")
def weights_reshaped_to_hwio(p):
    call, x, w = layer(p, 1, "SAME")
    return call, tc.conv2d(x, oihw(w).reshape(w.shape), 1, "SAME")


@row("weights HWIO reshaped to OIHW instead of transposed", "tf -> torch", r"reshape|memory")
def weights_reshaped_to_oihw(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(x, w.transpose(2, 3, 1, 0).reshape(w.shape), padding=1)


@row("weights transposed to HWOI: in and out exchanged", "torch -> tf", _FILTER)
def weights_in_and_out_exchanged(p):
    x, w = p.x(4), p.w(depth=4, outs=4)
    return partial(tc.conv2d, x, w, 1, "SAME"), tc.conv2d(x, w.swapaxes(2, 3), 1, "SAME")


@row("in and out of the weights are exchanged by a reshape", "torch -> onnx", r"reshape|memory|exchanged")
def weights_in_and_out_reshaped(p):
    call, x, w = torch_layer(p)
    wrong = w.swapaxes(0, 1).reshape(w.shape)
    return call, torch.conv2d(x, wrong)


@row(
    "weights transposed to WHIO: rows and columns exchanged",
    "caffe -> tf",
    r"swapped_filter_axes|rows and columns",
)
def weights_rows_and_columns_exchanged(p):
    call, x, w = layer(p, 2, "SAME")
    return call, tc.conv2d(x, w.swapaxes(0, 1), 2, "SAME")


@row(
    "a 3x5 filter became 5x3: kernel_size=(width, height)",
    "tf -> own kernel",
    r"swapped_filter_axes|rows and columns",
)
def filter_size_width_first(p):
    x, w = p.x(), p.w(3, 5)
    return partial(tc.conv2d, x, w, 1, "SAME"), tc.conv2d(x, w.swapaxes(0, 1), 1, "SAME")


@row("scipy.signal.convolve2d flips the filter", "torch -> scipy", r"flipped_filter")
def true_convolution(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(x, w[:, :, ::-1, ::-1], padding=1)


@row("the filter is flipped, and even: it moves as well", "theano -> tf", r"flipped_filter")
def true_convolution_even(p):
    call, x, w = layer(p, 1, "SAME", filter_size=4)
    return call, tc.conv2d(x, w[::-1, ::-1], 1, ((2, 1), (2, 1)))


@row("the filter is flipped in its columns only", "own kernel -> tf", r"flipped_filter")
def columns_flipped(p):
    call, x, w = layer(p)
    return call, tc.conv2d(x, w[:, ::-1])


@row("the filter is rotated by 90 degrees", "matlab -> tf", r"rotate|flip|exchanged")
def filter_rotated(p):
    call, x, w = layer(p, 1, "SAME")
    return call, tc.conv2d(x, np.rot90(w), 1, "SAME")


@row(
    "a dense layer after flatten: its rows are in CHW order, not HWC",
    "torch -> keras",
    r"reshape|memory|layout|order",
)
def dense_after_flatten(p):
    x, w = p.x()[:, :4, :4], p.w(4, outs=10)
    wrong = w.transpose(2, 0, 1, 3).reshape(w.shape)
    return partial(tc.conv2d, x, w), tc.conv2d(x, wrong)


@row("the output channels are in another order", "caffe -> tf", r"permuted_channels|channels.*order")
def output_channels_reordered(p):
    call, _, _ = layer(p, 1, "SAME")
    return call, call()[..., np.random.default_rng(p.size).permutation(p.outs)]


@row(
    "the two halves of the channels are exchanged: a gate before its value",
    "torch -> tf",
    r"permuted_channels|halves",
)
def halves_exchanged(p):
    call, _, _ = layer(p)
    return call, np.roll(call(), p.outs // 2, 3)


@row(
    "every output channel has the first filter",
    "torch -> own kernel",
    r"copied|cop(y|ies)|repeat|same filter|filter 0|channel 0",
)
def first_filter_everywhere(p):
    call, _, _ = torch_layer(p, padding=1)
    return call, np.repeat(call()[:, :1], p.outs, 1)


@row(
    "the input channels of the weights are in reverse order",
    "darknet -> torch",
    r"permuted_channels|channels.*order|BGR",
)
def weights_for_bgr(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(x, w[:, ::-1], padding=1)


# ---------------------------------------------------------------------------------------------
# Groups and depthwise
# ---------------------------------------------------------------------------------------------


def grouped(p: Problem, groups: int = 2) -> tuple[partial, np.ndarray, np.ndarray]:
    """A call of PyTorch's conv2d with groups."""
    x, w = nchw(p.x(2 * groups)), oihw(p.w(depth=2, outs=3 * groups))
    return partial(torch.conv2d, x, w, padding=1, groups=groups), x, w


@row("the channels of the groups are interleaved", "theano -> torch", r"groups", "groups")
def groups_interleaved(p):
    call, x, w = grouped(p)
    mixed = x.reshape(len(x), 2, 2, *x.shape[2:]).swapaxes(1, 2).reshape(x.shape)
    return call, torch.conv2d(mixed, w, padding=1, groups=2)


@row("the outputs are shuffled as ShuffleNet does", "torch -> tf", r"groups|permuted_channels", "groups")
def outputs_shuffled(p):
    call, _, _ = grouped(p, 3)
    y = call()
    return call, y.reshape(len(y), 3, 3, *y.shape[2:]).swapaxes(1, 2).reshape(y.shape)


@row("every group reads the channels of the first", "torch -> own kernel", r"group", "groups")
def groups_read_the_first(p):
    call, x, w = grouped(p)
    return call, torch.conv2d(np.concatenate([x[:, :2]] * 2, 1), w, padding=1, groups=2)


@row("each group reads the next one's channels", "torch -> own kernel", r"group|permuted_channels", "groups")
def groups_read_the_next(p):
    call, x, w = grouped(p, 3)
    return call, torch.conv2d(np.roll(x, -2, 1), w, padding=1, groups=3)


@row(
    "all groups use the weights of the first", "keras -> tflite", r"group|copied|repeat|cop(y|ies)", "groups"
)
def groups_use_the_first_weights(p):
    call, x, w = grouped(p)
    return call, torch.conv2d(x, np.concatenate([w[:3]] * 2), padding=1, groups=2)


@row("the groups after the first are not computed", "torch -> cpu kernel", r"group", "groups", r"channels 3")
def later_groups_are_zero(p):
    call, _, _ = grouped(p)
    y = call()
    y[:, 3:] = 0
    return call, y


@row(
    "depthwise, multiplier 2: outputs by multiplier, then by channel",
    "torch -> tf",
    r"groups|permuted_channels|multiplier",
    "depthwise",
)
def multiplier_first(p):
    x, w = p.x(), p.w(outs=2)
    y = tc.depthwise_conv2d(x, w, 1, "SAME")
    wrong = y.reshape(*y.shape[:3], -1, 2).swapaxes(3, 4).reshape(y.shape)
    return partial(tc.depthwise_conv2d, x, w, 1, "SAME"), wrong


@row(
    "depthwise weights [channels * multiplier, 1, rows, cols] reshaped",
    "torch -> tf",
    r"reshape|memory",
    "depthwise",
)
def depthwise_weights_reshaped(p):
    x, w = p.x(), p.w(outs=2)
    theirs = w.transpose(2, 3, 0, 1).reshape(-1, 1, 3, 3)
    wrong = theirs.reshape(w.shape)
    return partial(tc.depthwise_conv2d, x, w, 1, "SAME"), tc.depthwise_conv2d(x, wrong, 1, "SAME")


@row(
    "depthwise weights multiplier-major",
    "caffe -> tf",
    r"groups|reshape|memory|multiplier|order",
    "depthwise",
)
def depthwise_weights_multiplier_first(p):
    x, w = p.x(), p.w(outs=2)
    wrong = w.swapaxes(2, 3).reshape(w.shape)
    return partial(tc.depthwise_conv2d, x, w), tc.depthwise_conv2d(x, wrong)


@row("depthwise, stride 2, SAME, ported with padding=1", "tf -> torch", _SIDE, "depthwise")
def depthwise_same(p):
    x, w = p.x(), p.w(outs=1)
    theirs = w.transpose(2, 3, 0, 1)
    wrong = torch.conv2d(nchw(x), theirs, stride=2, padding=1, groups=p.depth)
    return partial(tc.depthwise_conv2d, x, w, 2, "SAME"), nhwc(wrong)


@row("depthwise filter flipped", "tf -> own kernel", r"flipped_filter", "depthwise")
def depthwise_flipped(p):
    x, w = p.x(), p.w(outs=1)
    return partial(tc.depthwise_conv2d, x, w), tc.depthwise_conv2d(x, w[::-1, ::-1])


# ---------------------------------------------------------------------------------------------
# The image
# ---------------------------------------------------------------------------------------------


@row("RGB was expected, OpenCV gives BGR", "keras -> opencv", r"permuted_channels|BGR")
def bgr_for_rgb(p):
    x, w = p.x(3), p.w(depth=3)
    return partial(tc.conv2d, x, w, 2, "SAME"), tc.conv2d(x[..., ::-1], w, 2, "SAME")


@row("ARGB for RGBA", "ios -> coreml", r"permuted_channels|channels.*order")
def argb_for_rgba(p):
    x, w = p.x(4), p.w(depth=4)
    return partial(tc.conv2d, x, w), tc.conv2d(np.roll(x, 1, 3), w)


@row("an NHWC image reshaped to NCHW", "tf -> torch", r"reshape|read in another order|memory")
def image_reshaped(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(nhwc(x).reshape(x.shape), w, padding=1)


@row("an NCHW image reshaped to NHWC", "torch -> tf", r"reshape|read in another order|memory")
def image_reshaped_to_nhwc(p):
    call, x, w = layer(p, 1, "SAME")
    return call, tc.conv2d(nchw(x).reshape(x.shape), w, 1, "SAME")


@row("the NCHW result reshaped to NHWC", "onnx -> tf", r"layout|reshape")
def result_reshaped(p):
    call, _, _ = layer(p, 1, "SAME")
    y = call()
    return call, nchw(y).reshape(y.shape)


@row("the image's rows and columns are exchanged", "pil -> tf", r"rows and columns|transposed")
def image_transposed(p):
    x, w = p.x(square=True), p.w()
    return partial(tc.conv2d, x, w, 1, "SAME"), tc.conv2d(x.swapaxes(1, 2), w, 1, "SAME")


@row(
    "the result's rows and columns are exchanged, a square image",
    "matlab -> tf",
    r"layout|transposed|rows and columns",
)
def square_result_transposed(p):
    x, w = p.x(square=True), p.w()
    call = partial(tc.conv2d, x, w)
    return call, call().swapaxes(1, 2)


@row("the image is upside down", "opengl -> tf", r"upside|flip|mirror|revers")
def image_upside_down(p):
    call, x, w = layer(p, 1, "SAME")
    return call, tc.conv2d(x[:, ::-1], w, 1, "SAME")


@row("pixels from 0 to 255, not from 0 to 1", "torch -> tf", r"scale.*255")
def pixels_not_scaled(p):
    call, x, w = layer(p, 2, "SAME")
    return call, tc.conv2d(x * np.float32(255), w, 2, "SAME")


@row("divided by 255 twice", "keras -> coreml", r"scale.*255")
def pixels_scaled_twice(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(x / np.float32(255), w, padding=1)


@row(
    "the mean was not subtracted",
    "caffe -> tf",
    r"every channel|added to each channel|bias",
)
def mean_not_subtracted(p):
    call, x, w = layer(p)
    return call, tc.conv2d(x + p.array("mean", x.shape[3]), w)


@row("pixels in [0, 1], not in [-1, 1]", "tf -> torch", r"every channel|scale")
def pixels_in_unit_range(p):
    call, x, w = layer(p)
    return call, tc.conv2d(((x + 1) / 2).astype("float32"), w)


@row(
    "all images get the result of the last one",
    "torch -> tensorrt",
    r"last image|image.*(last|copied|repeat|same)|batch",
)
def last_image_everywhere(p):
    call, _, _ = torch_layer(p, padding=1)
    y = call()
    return call, np.repeat(y[-1:], len(y), 0)


@row(
    "all images get the result of the first one",
    "tf -> own kernel",
    r"first image|image 0|image.*(copied|repeat|same)|batch",
)
def first_image_everywhere(p):
    call, _, _ = layer(p)
    y = call()
    return call, np.repeat(y[:1], len(y), 0)


@row("the images are in reverse order", "torch -> own loader", r"permuted_batch")
def images_reversed(p):
    call, _, _ = layer(p)
    return call, call()[::-1]


# ---------------------------------------------------------------------------------------------
# Bias, activation, batch normalisation, residual, scale
# ---------------------------------------------------------------------------------------------


def biased(p: Problem) -> tuple[partial, np.ndarray, np.ndarray]:
    """A call of PyTorch's conv2d with a bias; its result without it, and the bias for that."""
    call, x, w = torch_layer(p, padding=1, bias=p.b())
    return call, torch.conv2d(x, w, padding=1), p.b().reshape(-1, 1, 1)


@row("the bias is missing", "torch -> onnx", r"bias")
def bias_missing(p):
    call, plain, _ = biased(p)
    return call, plain


@row("the bias is added twice: fused, and by the next op", "tf -> tflite", r"bias.*twice")
def bias_twice(p):
    call, plain, b = biased(p)
    return call, plain + b + b


@row("the bias belongs to another layer", "torch -> own loader", r"bias|every channel")
def bias_of_another_layer(p):
    call, plain, _ = biased(p)
    return call, plain + p.array("other", p.outs).reshape(-1, 1, 1)


@row("the bias is in another order", "darknet -> torch", r"bias|every channel")
def bias_reversed(p):
    call, plain, b = biased(p)
    return call, plain + b[::-1]


@row("relu, then bias", "torch -> own kernel", r"relu.*before.*bias|bias.*after.*relu")
def bias_after_relu(p):
    call, plain, b = biased(p)
    return call, np.maximum(plain, 0) + b


@row("a fused relu that the layer does not have", "torch -> tensorrt", r"relu\b")
def relu_fused(p):
    call, _, _ = biased(p)
    return call, np.maximum(call(), 0)


@row("a fused relu6", "tf -> tflite", r"relu6")
def relu6_fused(p):
    call, x, w = layer(p, 2, "SAME")
    return call, np.clip(call(), 0, 6)


@row("a fused leaky relu, slope 0.1", "darknet -> torch", r"leaky")
def leaky_relu_fused(p):
    call, _, _ = biased(p)
    y = call()
    return call, np.where(y > 0, y, np.float32(0.1) * y)


@row("a fused silu", "torch -> ncnn", r"silu|swish")
def silu_fused(p):
    call, _, _ = biased(p)
    y = call().astype("float64")
    return call, (y / (1 + np.exp(-y))).astype("float32")


def folded(p: Problem, eps: float = 1e-3) -> tuple[partial, Callable[..., np.ndarray]]:
    """A layer with its batch normalisation folded into it, and a function that folds it otherwise."""
    x, w = p.x(), p.w()
    statistics = dict(zip(("gamma", "beta", "mean", "var"), p.statistics(), strict=True))

    def fold(eps: float = eps, root: Callable = np.sqrt, **changes: np.ndarray) -> partial:
        s = statistics | changes
        factor = (s["gamma"] / root(s["var"] + np.float32(eps))).astype("float32")
        return partial(
            tc.conv2d, x, w * factor, 1, "SAME", bias=(s["beta"] - s["mean"] * factor).astype("float32")
        )

    return fold(), lambda *args, **kwargs: fold(*args, **kwargs)()


_NORM = r"every channel|batch norm"


@row("batch normalisation folded with PyTorch's eps, not Keras's", "keras -> torch", _NORM)
def batch_norm_eps(p):
    call, other = folded(p)
    return call, other(eps=1e-1)


@row("batch normalisation folded without gamma", "caffe -> tf", _NORM)
def batch_norm_without_gamma(p):
    call, other = folded(p)
    return call, other(gamma=np.ones(p.outs, "float32"))


@row("batch normalisation folded with the variance as the deviation", "darknet -> tf", _NORM)
def batch_norm_variance_as_deviation(p):
    call, other = folded(p)
    return call, other(root=np.asarray)


@row("batch normalisation folded without the mean", "torch -> ncnn", _NORM + "|bias")
def batch_norm_without_mean(p):
    call, other = folded(p)
    return call, other(mean=np.zeros(p.outs, "float32"))


@row("batch normalisation in training mode: statistics of the batch", "torch -> onnx", _NORM)
def batch_norm_of_the_batch(p):
    x, w = p.x(), p.w()
    call = partial(tc.conv2d, x, w, 1, "SAME")
    y = call().astype("float64")
    return call, ((y - y.mean((0, 1, 2))) / np.sqrt(y.var((0, 1, 2)) + 1e-5)).astype("float32")


@row(
    "the shortcut of the residual block is added",
    "torch -> tensorrt",
    r"residual|input.*added|plus the input",
)
def residual_added(p):
    x, w = p.x(), p.w(outs=p.depth)
    call = partial(tc.conv2d, x, w, 1, "SAME")
    return call, call() + x


@row("the average of the window, not its sum", "own kernel -> tf", r"scale.*1/")
def average_for_sum(p):
    call, _, w = layer(p)
    return call, call() / np.float32(w[..., 0].size)


@row("the weights were scaled at run time (equalized learning rate), and are not", "stylegan -> tf", r"scale")
def run_time_scale_missing(p):
    call, x, w = layer(p, 1, "SAME")
    return call, tc.conv2d(x, w * np.float32(np.sqrt(w[..., 0].size / 2)), 1, "SAME")


# ---------------------------------------------------------------------------------------------
# Precision
# ---------------------------------------------------------------------------------------------


def in_format(array: np.ndarray, name: str) -> np.ndarray:
    """Round to a format of fewer bits."""
    return FORMATS[name].round(array.astype("float64"))[0].astype("float32")


def cut_to(array: np.ndarray, bits: int) -> np.ndarray:
    """Drop the last bits of float32 numbers, rounding half up as tensor cores' TF32 does."""
    whole = np.ascontiguousarray(array).view("uint32") + np.uint32(1 << (bits - 1))
    return (whole >> np.uint32(bits) << np.uint32(bits)).view("float32")


@row("the result went through float16", "torch -> coreml", r"rounded\(float16\)|float16")
def result_in_float16(p):
    call, _, _ = torch_layer(p, padding=1)
    return call, in_format(call(), "float16")


@row("the weights are stored in float16", "torch -> ncnn", r"float16|TF32|tf32")
def weights_in_float16(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(x, in_format(w, "float16"), padding=1)


@row("oneDNN computes in bfloat16", "torch -> cpu with bf16 math", r"bfloat16")
def arrays_in_bfloat16(p):
    call, x, w = layer(p, 1, "SAME")
    return call, tc.conv2d(in_format(x, "bfloat16"), in_format(w, "bfloat16"), 1, "SAME")


@row("allow_tf32 is on", "torch cpu -> torch cuda", r"TF32|tf32")
def tf32_on(p):
    call, x, w = torch_layer(p, padding=1)
    return call, torch.conv2d(cut_to(x, 13), cut_to(w, 13), padding=1)


@row("sums kept in float16", "torch -> metal", r"float16")
def sums_in_float16(p):
    x, w = p.x(), p.w()
    call = partial(tc.conv2d, x, w)
    total = np.zeros(call().shape, "float16")
    rows, cols = total.shape[1:3]
    for r in range(3):
        for c in range(3):
            for i in range(x.shape[3]):
                product = x[:, r : r + rows, c : c + cols, i, None] * w[r, c, i]
                total = (total + product.astype("float16")).astype("float16")
    return call, total.astype("float32")


@row("weights quantised to int8, one scale for all", "torch -> tflite", r"quanti[sz]ed|int8")
def weights_in_int8(p):
    call, x, w = layer(p, 1, "SAME")
    step = np.abs(w).max() / np.float32(127)
    return call, tc.conv2d(x, np.rint(w / step) * step, 1, "SAME")


# ---------------------------------------------------------------------------------------------
# Transposed convolutions
# ---------------------------------------------------------------------------------------------

_CROP = r"output_alignment|pad_(top|left)|shift|padding_side"


@row(
    "output_padding=1 was forgotten: one row and column fewer",
    "torch -> tvm",
    r"output_padding=0",
    "transposed size",
)
def output_padding_forgotten(p):
    call, x, w = transposed_layer(p, stride=2, padding=1, output_padding=1)
    return call, torch.conv_transpose2d(x, w, stride=2, padding=1)


@row("output_padding=(1, 1) was lost on export", "torch -> onnx", r"output_padding=", "transposed size")
def onnx_output_padding_lost(p):
    x, w = nchw(p.x()), p.w().transpose(2, 3, 0, 1)
    call = partial(onnx.conv_transpose, x, w, strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    return call, onnx.conv_transpose(x, w, strides=[2, 2], pads=[1, 1, 1, 1])


@row("Keras's output_padding=0 gives an odd size", "torch -> keras", r"output_padding=0", "transposed size")
def keras_output_padding(p):
    x, w = p.x(), p.w().swapaxes(2, 3)
    call = partial(keras.conv_transpose, x, w, 2, "same")
    return call, keras.conv_transpose(x, w, 2, "same", output_padding=0)


@row(
    "an output_shape of 2 n - 1 instead of 2 n",
    "torch -> tf",
    r"output_shape|VALID|padding",
    "transposed size",
)
def output_shape_one_less(p):
    x, w = p.x(), p.w().swapaxes(2, 3)
    shape = p.batch, 2 * p.rows, 2 * p.cols, p.outs
    smaller = p.batch, 2 * p.rows - 1, 2 * p.cols - 1, p.outs
    call = partial(tc.conv2d_transpose, x, w, shape, 2, "SAME")
    return call, tc.conv2d_transpose(x, w, smaller, 2, "SAME")


@row("padding was not cropped", "torch -> executorch", r"padding=0", "transposed size")
def transposed_padding_not_cropped(p):
    call, x, w = transposed_layer(p, 4, stride=2, padding=1)
    return call, torch.conv_transpose2d(x, w, stride=2)


@row(
    "padding was added to the input instead of cropped from the output",
    "torch -> tico",
    r"padding|input|reference is \[",
    "transposed size",
)
def transposed_padding_of_the_input(p):
    call, x, w = transposed_layer(p, 4, stride=2, padding=1)
    return call, torch.conv_transpose2d(torch.pad(x, (1, 1, 1, 1)), w, stride=2)


@row("the stride is ignored: nothing is upsampled", "keras -> own kernel", r"strides=1", "transposed size")
def transposed_stride_ignored(p):
    x, w = p.x(), p.w().swapaxes(2, 3)
    call = partial(keras.conv_transpose, x, w, 2, "same")
    return call, keras.conv_transpose(x, w, 1, "same")


@row("the dilation is ignored", "torch -> keras", r"dilation=1", "transposed size")
def transposed_dilation_ignored(p):
    call, x, w = transposed_layer(p, stride=2, padding=1, dilation=2)
    return call, torch.conv_transpose2d(x, w, stride=2, padding=1)


@row("padding=1, output_padding=1 ported to SAME: one pixel off", "torch -> tf", _CROP, "transposed")
def transposed_same(p):
    call, x, w = transposed_layer(p, stride=2, padding=1, output_padding=1)
    return call, nchw(tc.conv2d_transpose(nhwc(x), w.transpose(2, 3, 1, 0), None, 2, "SAME"))


@row("SAME ported to padding=1, output_padding=1", "keras -> torch", _CROP, "transposed")
def transposed_same_to_torch(p):
    x, w = p.x(), p.w().swapaxes(2, 3)
    theirs = torch.conv_transpose2d(nchw(x), w.transpose(3, 2, 0, 1), stride=2, padding=1, output_padding=1)
    return partial(keras.conv_transpose, x, w, 2, "same"), nhwc(theirs)


@row("auto_pad SAME_LOWER run as SAME_UPPER", "onnx -> own kernel", _CROP, "transposed")
def transposed_auto_pad(p):
    x, w = nchw(p.x()), p.w().transpose(2, 3, 0, 1)
    call = partial(onnx.conv_transpose, x, w, strides=[2, 2], auto_pad="SAME_LOWER")
    return call, onnx.conv_transpose(x, w, strides=[2, 2], auto_pad="SAME_UPPER")


@row("the crop of rows and that of columns are exchanged", "tf -> tflite", _CROP, "transposed")
def transposed_crops_exchanged(p):
    x, w = p.x(), p.w(3, 5).swapaxes(2, 3)
    shape = p.batch, 2 * p.rows, 2 * p.cols, p.outs
    full = tc.conv2d_transpose(x, w, None, 2, "VALID")
    wrong = np.pad(full, ((0, 0), (0, 2), (0, 2), (0, 0)))[:, 1 : 1 + shape[1], : shape[2]]
    return partial(tc.conv2d_transpose, x, w, shape, 2, "SAME"), wrong


@row("JAX without transpose_kernel: the filter is not flipped", "tf -> jax", r"flipped_filter", "transposed")
def jax_without_transpose_kernel(p):
    x, w = p.x(), p.w()
    call = partial(tc.conv2d_transpose, x, w.swapaxes(2, 3), None, 2, "VALID")
    return call, jax.conv_transpose(x, w, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@row("JAX SAME is aligned otherwise than PyTorch's padding", "torch -> jax", _CROP, "transposed")
def jax_same(p):
    x, w = p.x(), p.w()
    numbers = ("NHWC", "HWIO", "NHWC")
    call = partial(jax.conv_transpose, x, w, (2, 2), "SAME", dimension_numbers=numbers)
    wrong = torch.conv_transpose2d(
        nchw(x), w[::-1, ::-1].transpose(2, 3, 0, 1), stride=2, padding=1, output_padding=1
    )
    return call, nhwc(wrong)


@row("weights [in, out] read as [out, in]", "torch -> tf", _FILTER, "transposed")
def transposed_weights_exchanged(p):
    x, w = nchw(p.x(4)), p.w(depth=4, outs=4).transpose(2, 3, 0, 1)
    return partial(torch.conv_transpose2d, x, w, stride=2), torch.conv_transpose2d(
        x, w.swapaxes(0, 1), stride=2
    )


@row(
    "weights [in, out, rows, cols] reshaped to [rows, cols, out, in]",
    "torch -> tf",
    r"reshape|memory",
    "transposed",
)
def transposed_weights_reshaped(p):
    x, w = p.x(), p.w().swapaxes(2, 3)
    wrong = w.transpose(3, 2, 0, 1).reshape(w.shape)
    return partial(tc.conv2d_transpose, x, w, None, 2, "SAME"), tc.conv2d_transpose(x, wrong, None, 2, "SAME")


@row("zeros are stuffed before each cell, not after", "torch -> own kernel", _CROP, "transposed")
def zeros_stuffed_before(p):
    call, x, w = transposed_layer(p, stride=2)
    full = call()
    return call, np.pad(full, ((0, 0), (0, 0), (1, 0), (1, 0)))[:, :, :-1, :-1]


@row("the bias is missing", "torch -> tflite", r"bias", "transposed")
def transposed_bias_missing(p):
    call, x, w = transposed_layer(p, stride=2, bias=p.b())
    return call, torch.conv_transpose2d(x, w, stride=2)


@row("the groups' outputs are interleaved", "torch -> tf", r"groups|permuted_channels", "transposed groups")
def transposed_groups(p):
    x, w = nchw(p.x(4)), p.w(depth=4, outs=3).transpose(2, 3, 0, 1)
    call = partial(torch.conv_transpose2d, x, w, stride=2, groups=2)
    y = call()
    return call, y.reshape(len(y), 2, 3, *y.shape[2:]).swapaxes(1, 2).reshape(y.shape)


# ---------------------------------------------------------------------------------------------
# Gradients
# ---------------------------------------------------------------------------------------------


def filter_gradient(p: Problem) -> tuple[partial, np.ndarray, np.ndarray]:
    """A call of PyTorch's conv2d_weight, its input and its grad_output."""
    x, w = nchw(p.x()), oihw(p.w())
    dy = p.array("dy", *torch.conv2d(x, w, padding=1).shape)
    return partial(torch.conv2d_weight, x, w.shape, dy, padding=1), x, dy


def input_gradient(p: Problem, depth: int | None = None) -> tuple[partial, np.ndarray, np.ndarray]:
    """A call of PyTorch's conv2d_input, its weight and its grad_output."""
    x, w = nchw(p.x(depth)), oihw(p.w(depth=depth, outs=depth))
    dy = p.array("dy", *torch.conv2d(x, w, padding=1).shape)
    return partial(torch.conv2d_input, x.shape, w, dy, padding=1), w, dy


@row("the filter gradient is the mean over the images", "tf -> own backward", r"scale.*1/", "gradients")
def gradient_averaged(p):
    call, x, _ = filter_gradient(p)
    return call, call() / np.float32(len(x))


@row("the filter gradient is flipped", "own backward -> torch", r"flipped_filter", "gradients")
def gradient_flipped(p):
    call, _, _ = filter_gradient(p)
    return call, call()[:, :, ::-1, ::-1]


@row(
    "the filter gradient is the last image's",
    "own backward -> torch",
    r"image \d of \d \(last\) only",
    "gradients",
)
def gradient_of_the_last_image(p):
    _, x, dy = filter_gradient(p)
    call, _, _ = filter_gradient(p)
    return call, torch.conv2d_weight(x[-1:], call.args[1], dy[-1:], padding=1)


@row("the filter gradient has in and out exchanged", "tf -> torch", _FILTER + r"|layout", "gradients")
def gradient_in_and_out_exchanged(p):
    x, w = nchw(p.x(p.outs)), oihw(p.w(depth=p.outs))
    dy = p.array("dy", *torch.conv2d(x, w, padding=1).shape)
    call = partial(torch.conv2d_weight, x, w.shape, dy, padding=1)
    return call, call().swapaxes(0, 1)


@row("the input gradient does not flip the filter", "own backward -> torch", r"flipped_filter", "gradients")
def input_gradient_not_flipped(p):
    call, w, dy = input_gradient(p)
    return call, torch.conv2d(dy, w.swapaxes(0, 1), padding=1)


@row(
    "the input gradient uses the filter without exchanging in and out",
    "own backward -> torch",
    _FILTER,
    "gradients",
)
def input_gradient_not_exchanged(p):
    call, w, dy = input_gradient(p, 4)
    return call, torch.conv2d(dy, w[:, :, ::-1, ::-1], padding=1)


@row("the input gradient at stride 2 with padding on the other side", "tf -> torch", _CROP, "gradients")
def input_gradient_other_side(p):
    x, w = p.x(), p.w()
    dy = p.array("dy", *tc.conv2d(x, w, 2, "SAME").shape)
    call = partial(tc.conv2d_backprop_input, x.shape, w, dy, 2, "SAME")
    return call, tc.conv2d_backprop_input(x.shape, w, dy, 2, 1)


# ---------------------------------------------------------------------------------------------
# Scoring
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """What is said of a row: it is "named", "located" by ``where``, "wrong" or "nothing"; and the text."""

    row: Row
    size: int
    verdict: str
    text: str


def score(row: Row, size: int) -> Score:
    """Diff one row at one size."""
    call, got = row.make(Problem(size))
    found = tc.diff(call.func, *call.args, **call.keywords, backends=[], against={"port": got}).rows[0]
    assert found.passed is False, f"{row.id} is no mistake at size {size}"
    name, where = found.diagnosis, str(getattr(found, "where", None) or "")
    if name is not None and name.code != "output_shape":
        verdict = "named" if re.search(row.named, str(name)) else "wrong"
        return Score(row, size, verdict, str(name))
    located = row.where and re.search(row.where, where)
    return Score(row, size, "located" if located else "nothing", f"{where} / {found._found}")


if __name__ == "__main__":
    import sys
    import time
    from collections import Counter

    counts: Counter[str] = Counter()
    for entry in ROWS:
        for number in range(len(SIZES)):
            start = time.perf_counter()
            found = score(entry, number)
            counts[found.verdict] += 1
            if found.verdict != "named" or "-v" in sys.argv:
                print(
                    f"{found.verdict:8} {entry.id}[{number}] {time.perf_counter() - start:.2f} s: {found.text[:200]}"
                )
    print(f"{len(ROWS)} rows at {len(SIZES)} sizes: {dict(counts)}")
