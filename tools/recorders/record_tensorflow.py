"""Record what TensorFlow's CPU build answers, for its own words: conv2d, conv2d_transpose,
depthwise_conv2d and the gradients of conv2d and depthwise_conv2d.

    pip install tensorflow-cpu==2.21.0 && python record_tensorflow.py       # writes tensorflow.npz

oneDNN's kernels are switched on (the default on most processors): without them the CPU refuses NCHW,
dilated and grouped gradients, and depthwise strides that differ. The filters of a depthwise call are
called `filters` here, as in the other ops. Gradients of depthwise_conv2d with a dilation come from
GradientTape, because the raw ops ignore the dilation on the CPU.
"""

import os

os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "1"}

import numpy as np
import tensorflow as tf
from recording import Recording

ARRAY_NAMES = {
    "conv2d": ["input", "filters"],
    "conv2d_transpose": ["input", "filters"],
    "depthwise_conv2d": ["input", "filters"],
    "conv2d_backprop_input": ["filters", "out_backprop"],
    "conv2d_backprop_filter": ["input", "out_backprop"],
    "depthwise_conv2d_backprop_input": ["filters", "out_backprop"],
    "depthwise_conv2d_backprop_filter": ["input", "out_backprop"],
}


def depthwise_gradient(filters, input_sizes=None, filter_sizes=None, out_backprop=None, input=None, **kwargs):
    """A dilated depthwise gradient, by differentiating tf.nn.depthwise_conv2d."""
    wanted = tf.Variable(tf.zeros(input_sizes or filter_sizes))
    with tf.GradientTape() as tape:
        pair = (wanted, filters) if input_sizes else (input, wanted)
        output = tf.nn.depthwise_conv2d(*pair, **kwargs)
    return tape.gradient(output, wanted, out_backprop)


def call(op, arrays, arguments):
    arrays = {name: tf.constant(value) for name, value in arrays.items()}
    if op in ("conv2d", "conv2d_transpose"):
        return getattr(tf.nn, op)(**arrays, **arguments).numpy()
    if op in ("conv2d_backprop_input", "conv2d_backprop_filter"):
        return getattr(tf.compat.v1.nn, op)(**arrays, **arguments).numpy()
    if op == "depthwise_conv2d":
        return tf.nn.depthwise_conv2d(arrays["input"], arrays["filters"], **arguments).numpy()
    if max(arguments.get("dilations", [1])) > 1:
        return depthwise_gradient(arrays.pop("filters", None), **arrays, **arguments).numpy()
    if "filters" in arrays:
        arrays["filter"] = arrays.pop("filters")
    return getattr(tf.nn, op)(**arrays, **arguments).numpy()


recording = Recording(__file__, {"tensorflow": tf.__version__, "oneDNN": "on"}, ARRAY_NAMES, call)
case, refused = recording.case, recording.refused


def nhwc(rows, cols):
    return [1, rows, cols, 1]


def explicit(top, bottom, left, right):
    return [[0, 0], [top, bottom], [left, right], [0, 0]]


def explicit_nchw(top, bottom, left, right):
    return [[0, 0], [0, 0], [top, bottom], [left, right]]


# --- conv2d ----------------------------------------------------------------------------------------

image = np.array([[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]], "float32").reshape(1, 4, 4, 1)
kernel = np.array([[1, 0, 1], [2, 1, 0], [0, 0, 1]], "float32").reshape(3, 3, 1, 1)
case("hand_example", "conv2d", image, kernel, strides=1, padding="VALID")

for padding in ("SAME", "VALID"):
    for k in (1, 2, 3, 4):
        for s in (1, 2, 3):
            case(
                f"conv2d_{padding}_k{k}_s{s}",
                "conv2d",
                (1, 7, 6, 2),
                (k, k, 2, 2),
                strides=s,
                padding=padding,
            )

x, w = (2, 7, 8, 2), (3, 3, 2, 3)
case("conv2d_strides_1_2", "conv2d", x, w, strides=[1, 2], padding="SAME")
case("conv2d_strides_3_1_list_of_4", "conv2d", x, w, strides=[1, 3, 1, 1], padding="SAME")
case("conv2d_filter_2x5", "conv2d", x, (2, 5, 2, 3), strides=2, padding="SAME")
case("conv2d_filter_1x4", "conv2d", x, (1, 4, 2, 3), strides=[2, 3], padding="VALID")
case("conv2d_dilation_2_same", "conv2d", x, w, strides=1, padding="SAME", dilations=2)
case("conv2d_dilation_3_valid", "conv2d", x, w, strides=1, padding="VALID", dilations=3)
case("conv2d_dilations_1_3", "conv2d", x, w, strides=1, padding="SAME", dilations=[1, 3])
case("conv2d_dilation_2_stride_2_same", "conv2d", x, w, strides=2, padding="SAME", dilations=2)
case("conv2d_dilation_2_stride_2_valid", "conv2d", x, w, strides=2, padding="VALID", dilations=[1, 2, 2, 1])
case("conv2d_dilation_2_stride_3_even", "conv2d", x, (2, 4, 2, 3), strides=3, padding="SAME", dilations=2)
case("conv2d_explicit_one_side", "conv2d", x, w, strides=1, padding=explicit(0, 2, 1, 0))
case("conv2d_explicit_stride_2", "conv2d", x, w, strides=2, padding=explicit(1, 2, 3, 0))
case("conv2d_explicit_wider_than_filter", "conv2d", x, w, strides=2, padding=explicit(4, 0, 0, 5))
case("conv2d_explicit_dilation_2", "conv2d", x, w, strides=2, padding=explicit(1, 2, 2, 2), dilations=2)
case("conv2d_groups_2", "conv2d", (1, 6, 5, 4), (3, 3, 2, 6), strides=1, padding="SAME")
case("conv2d_groups_3_stride_2", "conv2d", (1, 6, 5, 3), (2, 3, 1, 6), strides=2, padding="SAME")
case(
    "conv2d_groups_2_stride_2_dilation_2",
    "conv2d",
    (1, 7, 8, 4),
    (3, 3, 2, 4),
    strides=2,
    padding="SAME",
    dilations=2,
)
case("conv2d_groups_are_channels", "conv2d", (1, 6, 5, 3), (3, 3, 1, 3), strides=1, padding="VALID")
case("conv2d_1x1_input", "conv2d", (1, 1, 1, 2), (3, 3, 2, 2), strides=2, padding="SAME")
case("conv2d_one_row", "conv2d", (1, 1, 6, 2), (3, 3, 2, 2), strides=[1, 2], padding="SAME")
case("conv2d_filter_larger_than_input", "conv2d", (1, 2, 2, 2), (5, 4, 2, 2), strides=1, padding="SAME")
case(
    "conv2d_filter_fits_exactly",
    "conv2d",
    (1, 3, 5, 2),
    (3, 3, 2, 2),
    strides=3,
    padding="VALID",
    dilations=[1, 2],
)
x, w = (1, 2, 7, 6), (3, 3, 2, 3)
case("conv2d_nchw", "conv2d", x, w, strides=1, padding="SAME", data_format="NCHW")
case("conv2d_nchw_strides_2_1", "conv2d", x, w, strides=[1, 1, 2, 1], padding="SAME", data_format="NCHW")
case(
    "conv2d_nchw_dilation_2",
    "conv2d",
    x,
    w,
    strides=2,
    padding="VALID",
    dilations=[1, 1, 2, 2],
    data_format="NCHW",
)
case("conv2d_nchw_explicit", "conv2d", x, w, strides=2, padding=explicit_nchw(0, 1, 2, 0), data_format="NCHW")
case(
    "conv2d_nchw_groups", "conv2d", (1, 4, 6, 5), (3, 3, 2, 4), strides=1, padding="SAME", data_format="NCHW"
)
case("conv2d_real_same", "conv2d", (1, 9, 8, 4), (3, 3, 4, 3), strides=2, padding="SAME", real=True)
case(
    "conv2d_real_dilated",
    "conv2d",
    (1, 9, 8, 4),
    (3, 2, 4, 3),
    strides=1,
    padding="VALID",
    dilations=[2, 3],
    real=True,
)
case(
    "conv2d_real_groups",
    "conv2d",
    (1, 9, 8, 4),
    (5, 5, 2, 4),
    strides=1,
    padding=explicit(1, 0, 3, 2),
    real=True,
)
case(
    "conv2d_real_float64",
    "conv2d",
    (1, 9, 8, 4),
    (3, 3, 4, 3),
    strides=2,
    padding="SAME",
    real=True,
    dtype="float64",
)
case("conv2d_int32", "conv2d", (1, 5, 6, 2), (3, 3, 2, 2), strides=2, padding="SAME", dtype="int32")
large = np.arange(2**30, 2**30 + 18, dtype="int32").reshape(1, 3, 3, 2)
case("conv2d_int32_wraps_around", "conv2d", large, (3, 3, 2, 2), strides=1, padding="SAME", dtype="int32")

# --- conv2d_transpose: both ends of the legal range of output_shape --------------------------------

for padding in ("SAME", "VALID"):
    for k in (1, 2, 3, 4):
        for s in (2, 3):
            first = (3 - 1) * s + (
                1 if padding == "SAME" else k
            )  # the rows that give back 3 rows are first .. first + s - 1
            for end, rows in (("low", first), ("high", first + s - 1)):
                case(
                    f"transpose_{padding}_k{k}_s{s}_{end}",
                    "conv2d_transpose",
                    (1, 3, 4, 2),
                    (k, k, 1, 2),
                    output_shape=nhwc(rows, rows + s),
                    strides=s,
                    padding=padding,
                )

one = (3, 3, 1, 1)
case(
    "transpose_8_to_15",
    "conv2d_transpose",
    (1, 8, 8, 1),
    one,
    output_shape=nhwc(15, 15),
    strides=2,
    padding="SAME",
)
case(
    "transpose_8_to_16",
    "conv2d_transpose",
    (1, 8, 8, 1),
    one,
    output_shape=nhwc(16, 16),
    strides=2,
    padding="SAME",
    note="the same input and filters as transpose_8_to_15; its cell [j + 1] is that one's cell [j]",
)
x, w = (2, 4, 3, 2), (3, 3, 3, 2)
case(
    "transpose_stride_1_same", "conv2d_transpose", x, w, output_shape=[2, 4, 3, 3], strides=1, padding="SAME"
)
case(
    "transpose_stride_1_valid",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 6, 5, 3],
    strides=1,
    padding="VALID",
)
case(
    "transpose_strides_1_3",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 4, 8, 3],
    strides=[1, 3],
    padding="SAME",
)
case(
    "transpose_filter_2x4",
    "conv2d_transpose",
    x,
    (2, 4, 3, 2),
    output_shape=[2, 8, 5, 3],
    strides=2,
    padding="SAME",
)
case(
    "transpose_explicit",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 7, 6, 3],
    strides=2,
    padding=explicit(1, 1, 0, 1),
)
case(
    "transpose_explicit_with_rest",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 8, 7, 3],
    strides=2,
    padding=explicit(1, 1, 0, 1),
)
case(
    "transpose_explicit_stride_3",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 11, 7, 3],
    strides=3,
    padding=explicit(0, 2, 2, 0),
)
case(
    "transpose_dilation_2",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 8, 7, 3],
    strides=1,
    padding="VALID",
    dilations=2,
)
case(
    "transpose_dilation_2_same",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 4, 3, 3],
    strides=1,
    padding="SAME",
    dilations=2,
)
case(
    "transpose_dilation_2_stride_2",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 8, 5, 3],
    strides=2,
    padding="SAME",
    dilations=2,
)
case(
    "transpose_dilation_3_stride_2_valid",
    "conv2d_transpose",
    x,
    w,
    output_shape=[2, 14, 11, 3],
    strides=2,
    padding="VALID",
    dilations=3,
)
case(
    "transpose_groups_2",
    "conv2d_transpose",
    (1, 4, 3, 6),
    (3, 3, 2, 6),
    output_shape=[1, 8, 6, 4],
    strides=2,
    padding="SAME",
)
case(
    "transpose_nchw",
    "conv2d_transpose",
    (1, 2, 4, 3),
    w,
    output_shape=[1, 3, 7, 6],
    strides=2,
    padding="SAME",
    data_format="NCHW",
)
case(
    "transpose_1x1_input",
    "conv2d_transpose",
    (1, 1, 1, 2),
    w,
    output_shape=[1, 2, 1, 3],
    strides=2,
    padding="SAME",
)
case(
    "transpose_empty_batch",
    "conv2d_transpose",
    (0, 4, 3, 2),
    w,
    output_shape=[0, 8, 6, 3],
    strides=2,
    padding="SAME",
)
case(
    "transpose_real",
    "conv2d_transpose",
    (1, 5, 4, 4),
    (4, 4, 3, 4),
    output_shape=[1, 10, 8, 3],
    strides=2,
    padding="SAME",
    real=True,
)
case(
    "transpose_real_valid",
    "conv2d_transpose",
    (1, 5, 4, 4),
    (3, 3, 3, 4),
    output_shape=[1, 12, 9, 3],
    strides=2,
    padding="VALID",
    real=True,
)

# --- depthwise_conv2d ------------------------------------------------------------------------------

x = (1, 7, 6, 3)
for multiplier in (1, 2, 3):
    w = (3, 3, 3, multiplier)
    for s in (1, 2):
        for padding in ("SAME", "VALID"):
            case(
                f"depthwise_{padding}_m{multiplier}_s{s}",
                "depthwise_conv2d",
                x,
                w,
                strides=[1, s, s, 1],
                padding=padding,
            )
w = (3, 3, 3, 2)
case(
    "depthwise_filter_2x4_stride_3", "depthwise_conv2d", x, (2, 4, 3, 2), strides=[1, 3, 3, 1], padding="SAME"
)
case("depthwise_strides_1_2", "depthwise_conv2d", x, w, strides=[1, 1, 2, 1], padding="SAME")
case(
    "depthwise_dilation_2_same",
    "depthwise_conv2d",
    x,
    w,
    strides=[1, 1, 1, 1],
    padding="SAME",
    dilations=[2, 2],
)
case(
    "depthwise_dilations_1_3_valid",
    "depthwise_conv2d",
    x,
    (3, 2, 3, 2),
    strides=[1, 1, 1, 1],
    padding="VALID",
    dilations=[1, 3],
)
case("depthwise_explicit", "depthwise_conv2d", x, w, strides=[1, 2, 2, 1], padding=explicit(0, 2, 1, 0))
case(
    "depthwise_explicit_dilation_2",
    "depthwise_conv2d",
    x,
    w,
    strides=[1, 1, 1, 1],
    padding=explicit(1, 2, 0, 1),
    dilations=[2, 2],
)
case(
    "depthwise_nchw",
    "depthwise_conv2d",
    (1, 3, 7, 6),
    w,
    strides=[1, 1, 2, 2],
    padding="SAME",
    data_format="NCHW",
)
case("depthwise_real", "depthwise_conv2d", x, w, strides=[1, 2, 2, 1], padding="SAME", real=True)

# --- the gradients of conv2d -----------------------------------------------------------------------

gradients = [  # name, input_sizes, filter_sizes, shape of out_backprop, the other arguments
    ("same", [2, 5, 4, 2], [3, 3, 2, 3], [2, 5, 4, 3], dict(strides=[1, 1, 1, 1], padding="SAME")),
    ("same_stride_2", [2, 6, 5, 2], [3, 3, 2, 3], [2, 3, 3, 3], dict(strides=[1, 2, 2, 1], padding="SAME")),
    (
        "valid_rows_unused",
        [1, 8, 7, 2],
        [3, 3, 2, 3],
        [1, 3, 3, 3],
        dict(strides=[1, 2, 2, 1], padding="VALID"),
    ),
    (
        "filter_less_than_stride",
        [1, 8, 7, 2],
        [2, 1, 2, 3],
        [1, 3, 3, 3],
        dict(strides=[1, 3, 3, 1], padding="VALID"),
    ),
    (
        "even_filter_strides_2_1",
        [1, 7, 6, 2],
        [4, 2, 2, 3],
        [1, 4, 6, 3],
        dict(strides=[1, 2, 1, 1], padding="SAME"),
    ),
    (
        "explicit",
        [1, 7, 6, 2],
        [3, 3, 2, 3],
        [1, 4, 3, 3],
        dict(strides=[1, 2, 2, 1], padding=explicit(1, 2, 0, 1)),
    ),
    (
        "dilation_2",
        [1, 7, 6, 2],
        [3, 3, 2, 3],
        [1, 3, 2, 3],
        dict(strides=[1, 1, 1, 1], padding="VALID", dilations=[1, 2, 2, 1]),
    ),
    (
        "dilations_2_1_strides_2_3",
        [1, 7, 6, 2],
        [3, 3, 2, 3],
        [1, 4, 2, 3],
        dict(strides=[1, 2, 3, 1], padding="SAME", dilations=[1, 2, 1, 1]),
    ),
    ("groups_2", [1, 6, 5, 4], [3, 3, 2, 6], [1, 6, 5, 6], dict(strides=[1, 1, 1, 1], padding="SAME")),
    (
        "groups_2_stride_2",
        [1, 6, 5, 4],
        [3, 3, 2, 6],
        [1, 3, 3, 6],
        dict(strides=[1, 2, 2, 1], padding="SAME"),
    ),
    (
        "nchw",
        [1, 2, 6, 5],
        [3, 3, 2, 3],
        [1, 3, 3, 3],
        dict(strides=[1, 1, 2, 2], padding="SAME", data_format="NCHW"),
    ),
    ("one_row", [1, 1, 5, 2], [3, 3, 2, 3], [1, 1, 3, 3], dict(strides=[1, 2, 2, 1], padding="SAME")),
    ("empty_batch", [0, 6, 5, 2], [3, 3, 2, 3], [0, 3, 3, 3], dict(strides=[1, 2, 2, 1], padding="SAME")),
    ("real", [1, 8, 7, 4], [3, 3, 4, 3], [1, 4, 4, 3], dict(strides=[1, 2, 2, 1], padding="SAME", real=True)),
]
for name, input_sizes, filter_sizes, out_shape, arguments in gradients:
    case(
        f"backprop_input_{name}",
        "conv2d_backprop_input",
        filter_sizes,
        out_shape,
        input_sizes=input_sizes,
        **arguments,
    )
    case(
        f"backprop_filter_{name}",
        "conv2d_backprop_filter",
        input_sizes,
        out_shape,
        filter_sizes=filter_sizes,
        **arguments,
    )

# --- the gradients of depthwise_conv2d -------------------------------------------------------------

tape = "by GradientTape: the raw op ignores the dilation on the CPU"
gradients = [
    ("same", [1, 6, 5, 2], [3, 3, 2, 1], [1, 6, 5, 2], dict(strides=[1, 1, 1, 1], padding="SAME")),
    ("stride_2_m2", [1, 6, 5, 2], [3, 3, 2, 2], [1, 3, 3, 4], dict(strides=[1, 2, 2, 1], padding="SAME")),
    ("valid_m3", [1, 7, 6, 2], [2, 3, 2, 3], [1, 3, 2, 6], dict(strides=[1, 2, 2, 1], padding="VALID")),
    (
        "explicit_m2",
        [1, 7, 6, 2],
        [3, 3, 2, 2],
        [1, 8, 5, 4],
        dict(strides=[1, 1, 1, 1], padding=explicit(1, 2, 0, 1)),
    ),
    ("strides_1_2", [1, 6, 5, 2], [3, 3, 2, 2], [1, 6, 3, 4], dict(strides=[1, 1, 2, 1], padding="SAME")),
    (
        "nchw",
        [1, 2, 6, 5],
        [3, 3, 2, 2],
        [1, 4, 6, 5],
        dict(strides=[1, 1, 1, 1], padding="SAME", data_format="NCHW"),
    ),
    (
        "dilation_2",
        [1, 6, 5, 2],
        [3, 3, 2, 2],
        [1, 6, 5, 4],
        dict(strides=[1, 1, 1, 1], padding="SAME", dilations=[2, 2], note=tape),
    ),
    (
        "dilation_2_valid",
        [1, 7, 6, 2],
        [3, 2, 2, 3],
        [1, 3, 4, 6],
        dict(strides=[1, 1, 1, 1], padding="VALID", dilations=[2, 2], note=tape),
    ),
]
for name, input_sizes, filter_sizes, out_shape, arguments in gradients:
    case(
        f"depthwise_backprop_input_{name}",
        "depthwise_conv2d_backprop_input",
        filter_sizes,
        out_shape,
        input_sizes=input_sizes,
        **arguments,
    )
    case(
        f"depthwise_backprop_filter_{name}",
        "depthwise_conv2d_backprop_filter",
        input_sizes,
        out_shape,
        filter_sizes=filter_sizes,
        **arguments,
    )

# --- calls that TensorFlow refuses -----------------------------------------------------------------

x, w = (1, 5, 5, 2), (3, 3, 2, 3)
refused("refused_channels_no_ratio", "conv2d", (1, 5, 5, 3), w, strides=1, padding="SAME")
refused("refused_out_channels_no_ratio", "conv2d", (1, 5, 5, 4), w, strides=1, padding="SAME")
refused("refused_stride_0", "conv2d", x, w, strides=0, padding="SAME")
refused("refused_stride_negative", "conv2d", x, w, strides=[1, -1, 1, 1], padding="SAME")
refused("refused_stride_over_batch", "conv2d", x, w, strides=[2, 1, 1, 1], padding="SAME")
refused("refused_stride_over_channels", "conv2d", x, w, strides=[1, 1, 1, 2], padding="SAME")
refused("refused_three_strides", "conv2d", x, w, strides=[1, 2, 2], padding="SAME")
refused("refused_dilation_0", "conv2d", x, w, strides=1, padding="SAME", dilations=0)
refused("refused_padding_name", "conv2d", x, w, strides=1, padding="SAME_LOWER")
# none that pads the batch either: oneDNN's kernel ignores such padding
refused("refused_padding_negative", "conv2d", x, w, strides=1, padding=explicit(-1, 0, 0, 0))
refused("refused_data_format", "conv2d", x, w, strides=1, padding="SAME", data_format="NWHC")
# no call with an input of rank 3 here: it ends the process (a failed check in oneDNN's kernel)
refused("refused_filter_too_large", "conv2d", (1, 3, 3, 2), w, strides=1, padding="VALID", dilations=2)
refused("refused_no_out_channels", "conv2d", x, (3, 3, 2, 0), strides=1, padding="SAME")
refused(
    "refused_mixed_dtypes", "conv2d", np.ones(x, "float32"), np.ones(w, "float64"), strides=1, padding="SAME"
)
one = (3, 3, 1, 1)
refused(
    "refused_transpose_8_to_14",
    "conv2d_transpose",
    (1, 8, 8, 1),
    one,
    output_shape=nhwc(14, 14),
    strides=2,
    padding="SAME",
)
refused(
    "refused_transpose_8_to_17",
    "conv2d_transpose",
    (1, 8, 8, 1),
    one,
    output_shape=nhwc(17, 17),
    strides=2,
    padding="SAME",
)
refused(
    "refused_transpose_valid_8_to_19",
    "conv2d_transpose",
    (1, 8, 8, 1),
    one,
    output_shape=nhwc(19, 19),
    strides=2,
    padding="VALID",
)
refused(
    "refused_transpose_explicit_too_large",
    "conv2d_transpose",
    (1, 4, 4, 1),
    one,
    output_shape=nhwc(9, 9),
    strides=2,
    padding=explicit(1, 1, 1, 1),
)
refused(
    "refused_transpose_channels",
    "conv2d_transpose",
    (1, 4, 4, 2),
    (3, 3, 2, 3),
    output_shape=[1, 8, 8, 2],
    strides=2,
    padding="SAME",
)
refused(
    "refused_transpose_batch",
    "conv2d_transpose",
    (1, 4, 4, 1),
    one,
    output_shape=[2, 8, 8, 1],
    strides=2,
    padding="SAME",
)
refused(
    "refused_depthwise_channels", "depthwise_conv2d", x, (3, 3, 3, 1), strides=[1, 1, 1, 1], padding="SAME"
)
refused(
    "refused_backprop_input_sizes",
    "conv2d_backprop_input",
    w,
    (1, 3, 3, 3),
    input_sizes=[1, 7, 7, 2],
    strides=[1, 2, 2, 1],
    padding="SAME",
)
refused(
    "refused_backprop_filter_sizes",
    "conv2d_backprop_filter",
    x,
    (1, 5, 5, 3),
    filter_sizes=[3, 3, 3, 3],
    strides=[1, 1, 1, 1],
    padding="SAME",
)

recording.write("tensorflow.npz")
