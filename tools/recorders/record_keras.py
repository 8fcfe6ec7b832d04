"""Record what Keras answers: keras.ops.conv and keras.ops.conv_transpose.

    pip install keras==3.15.1 jax==0.10.2 jaxlib==0.10.2 tensorflow-cpu==2.21.0
    python record_keras.py       # writes keras.npz

Keras runs on its JAX backend. Only its TensorFlow backend refuses an illegal output_padding, so those
refusals, the last ones, are in TensorFlow's words. The kernel is [rows, cols, in/groups, out],
transposed [rows, cols, out, in], whatever the data_format.
"""

import os

# without oneDNN TensorFlow's refusals say what is wrong
os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
os.environ |= {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu"}

import jax
import keras
import tensorflow as tf
from keras.src.backend.tensorflow import nn as keras_on_tensorflow
from recording import Recording

ARRAY_NAMES = {"conv": ["inputs", "kernel"], "conv_transpose": ["inputs", "kernel"]}


def call(op, arrays, arguments):
    arrays = {name: keras.ops.convert_to_tensor(value) for name, value in arrays.items()}
    return keras.ops.convert_to_numpy(getattr(keras.ops, op)(**arrays, **arguments))


def call_on_tensorflow(op, arrays, arguments):
    return getattr(keras_on_tensorflow, op)(**arrays, **arguments).numpy()


versions = {
    "keras": keras.__version__,
    "backend": keras.backend.backend(),
    "jax": jax.__version__,
    "tensorflow": tf.__version__,
}
recording = Recording(__file__, versions, ARRAY_NAMES, call)
case, refused = recording.case, recording.refused

# --- conv ------------------------------------------------------------------------------------------

for padding in ("same", "valid"):
    for k in (1, 2, 3, 4):
        for s in (1, 2, 3):
            case(f"conv_{padding}_k{k}_s{s}", "conv", (1, 7, 6, 2), (k, k, 2, 2), strides=s, padding=padding)

x, w = (2, 7, 8, 2), (3, 3, 2, 3)
case("conv_defaults", "conv", x, w)
case("conv_upper_case", "conv", x, w, padding="SAME")
case("conv_strides_1_3", "conv", x, w, strides=[1, 3], padding="same")
case("conv_filter_2x5", "conv", x, (2, 5, 2, 3), strides=[2, 1], padding="same")
case("conv_dilation_2_same", "conv", x, w, padding="same", dilation_rate=2)
case("conv_dilation_3_valid", "conv", x, w, padding="valid", dilation_rate=3)
case("conv_dilation_1_3", "conv", x, (3, 2, 2, 3), padding="same", dilation_rate=[1, 3])
case(
    "conv_dilation_2_stride_2_same",
    "conv",
    x,
    w,
    strides=2,
    padding="same",
    dilation_rate=2,
    note="Keras' TensorFlow backend refuses strides > 1 with dilation_rate > 1",
)
case(
    "conv_dilation_2_stride_3_valid",
    "conv",
    x,
    (2, 3, 2, 3),
    strides=[3, 1],
    padding="valid",
    dilation_rate=2,
    note="Keras' TensorFlow backend refuses strides > 1 with dilation_rate > 1",
)
case("conv_groups_2", "conv", (1, 6, 5, 4), (3, 3, 2, 6), padding="same")
case("conv_groups_3_stride_2", "conv", (1, 6, 5, 3), (2, 3, 1, 6), strides=2, padding="valid")
case("conv_depthwise", "conv", (1, 6, 5, 3), (3, 3, 1, 3), padding="same")
case("conv_1x1_input", "conv", (1, 1, 1, 2), w, strides=2, padding="same")
case("conv_one_row", "conv", (1, 1, 8, 2), w, strides=[1, 2], padding="same")
case("conv_filter_larger_than_input", "conv", (1, 2, 2, 2), (5, 4, 2, 2), padding="same")
case("conv_channels_last", "conv", x, w, strides=2, padding="same", data_format="channels_last")
x = (1, 2, 7, 6)
case("conv_channels_first", "conv", x, w, padding="same", data_format="channels_first")
case("conv_channels_first_stride_2", "conv", x, w, strides=2, padding="valid", data_format="channels_first")
case(
    "conv_channels_first_dilation_2",
    "conv",
    x,
    w,
    padding="same",
    dilation_rate=2,
    data_format="channels_first",
)
case(
    "conv_channels_first_groups",
    "conv",
    (1, 4, 6, 5),
    (3, 3, 2, 4),
    padding="same",
    data_format="channels_first",
)
case("conv_real", "conv", (1, 9, 8, 4), (3, 3, 4, 3), strides=2, padding="same", real=True)
case(
    "conv_real_dilated", "conv", (1, 9, 8, 4), (3, 2, 4, 3), padding="valid", dilation_rate=[2, 3], real=True
)
case(
    "conv_real_channels_first",
    "conv",
    (1, 4, 9, 8),
    (4, 4, 4, 3),
    padding="same",
    data_format="channels_first",
    real=True,
)

# --- conv_transpose --------------------------------------------------------------------------------

for padding in ("same", "valid"):
    for k in (1, 2, 3, 4):
        for s in (1, 2, 3):
            case(
                f"transpose_{padding}_k{k}_s{s}",
                "conv_transpose",
                (1, 3, 4, 2),
                (k, k, 1, 2),
                strides=s,
                padding=padding,
            )

for k in (1, 2, 3, 4):
    for s in (2, 3):
        odd = k % 2
        for output_padding in range(1 - odd, s - odd + 1):
            case(
                f"transpose_same_k{k}_s{s}_out{output_padding}",
                "conv_transpose",
                (1, 3, 4, 2),
                (k, k, 1, 2),
                strides=s,
                padding="same",
                output_padding=output_padding,
            )
for k in (2, 3):
    for s in (2, 3):
        for output_padding in range(s):
            case(
                f"transpose_valid_k{k}_s{s}_out{output_padding}",
                "conv_transpose",
                (1, 3, 4, 2),
                (k, k, 1, 2),
                strides=s,
                padding="valid",
                output_padding=output_padding,
            )

x, w = (2, 4, 3, 2), (3, 3, 3, 2)
case("transpose_defaults", "conv_transpose", x, w)
case("transpose_strides_1_3", "conv_transpose", x, w, strides=[1, 3], padding="same")
case(
    "transpose_strides_2_3_output_padding_0_2",
    "conv_transpose",
    x,
    w,
    strides=[2, 3],
    padding="same",
    output_padding=[0, 2],
)
case("transpose_filter_2x4", "conv_transpose", x, (2, 4, 3, 2), strides=[2, 3], padding="valid")
case("transpose_stride_1_same_output_padding_0", "conv_transpose", x, w, padding="same", output_padding=0)
case("transpose_dilation_2_same", "conv_transpose", x, w, padding="same", dilation_rate=2)
case("transpose_dilation_2_valid", "conv_transpose", x, w, padding="valid", dilation_rate=2)
case("transpose_dilation_1_3_same", "conv_transpose", x, (2, 2, 3, 2), padding="same", dilation_rate=[1, 3])
case("transpose_dilation_2_stride_2_same", "conv_transpose", x, w, strides=2, padding="same", dilation_rate=2)
case(
    "transpose_dilation_3_stride_2_valid",
    "conv_transpose",
    x,
    (2, 3, 3, 2),
    strides=2,
    padding="valid",
    dilation_rate=3,
    output_padding=1,
)
case("transpose_1x1_input", "conv_transpose", (1, 1, 1, 2), w, strides=2, padding="same")
case("transpose_one_row", "conv_transpose", (1, 1, 4, 2), w, strides=[2, 1], padding="same", output_padding=0)
case("transpose_empty_batch", "conv_transpose", (0, 4, 3, 2), w, strides=2, padding="same")
case(
    "transpose_channels_last", "conv_transpose", x, w, strides=2, padding="valid", data_format="channels_last"
)
x = (1, 2, 4, 3)
case(
    "transpose_channels_first",
    "conv_transpose",
    x,
    w,
    strides=2,
    padding="same",
    data_format="channels_first",
)
case(
    "transpose_channels_first_output_padding",
    "conv_transpose",
    x,
    w,
    strides=3,
    padding="same",
    output_padding=1,
    data_format="channels_first",
)
case(
    "transpose_channels_first_valid",
    "conv_transpose",
    x,
    (1, 2, 3, 2),
    strides=3,
    padding="valid",
    data_format="channels_first",
)
case("transpose_real", "conv_transpose", (1, 5, 4, 4), (4, 4, 3, 4), strides=2, padding="same", real=True)
case(
    "transpose_real_output_padding",
    "conv_transpose",
    (1, 5, 4, 4),
    (3, 3, 3, 4),
    strides=3,
    padding="same",
    output_padding=1,
    real=True,
)

# --- calls that Keras refuses ----------------------------------------------------------------------

x, w = (1, 5, 5, 2), (3, 3, 2, 3)
refused("refused_channels", "conv", (1, 5, 5, 3), w)
refused("refused_groups_ratio", "conv", (1, 5, 5, 4), w)
refused("refused_padding_name", "conv", x, w, padding="full")
refused("refused_causal", "conv", x, w, padding="causal")
refused("refused_data_format", "conv", x, w, data_format="NHWC")
refused("refused_stride_0", "conv", x, w, strides=0)
refused("refused_three_strides", "conv", x, w, strides=[1, 1, 1])
refused("refused_dilation_0", "conv", x, w, dilation_rate=0)
refused("refused_filter_too_large", "conv", (1, 2, 2, 2), w)
refused("refused_integer_padding", "conv", x, w, padding=1)
x, w = (1, 4, 3, 2), (3, 3, 3, 2)
refused("refused_transpose_channels", "conv_transpose", (1, 4, 3, 3), w)
refused("refused_transpose_padding_name", "conv_transpose", x, w, padding="full")
refused("refused_transpose_data_format", "conv_transpose", x, w, data_format="NCHW")

recording.call = call_on_tensorflow
other = "Keras' TensorFlow backend; the JAX and PyTorch backends answer"
refused(
    "refused_transpose_output_padding_is_stride",
    "conv_transpose",
    x,
    w,
    strides=2,
    padding="same",
    output_padding=2,
    note=other,
)
refused(
    "refused_transpose_output_padding_even_0",
    "conv_transpose",
    x,
    (2, 2, 3, 2),
    strides=2,
    padding="same",
    output_padding=0,
    note=other,
)
refused(
    "refused_transpose_output_padding_valid",
    "conv_transpose",
    x,
    w,
    strides=2,
    padding="valid",
    output_padding=2,
    note=other,
)
refused(
    "refused_transpose_output_padding_negative",
    "conv_transpose",
    x,
    w,
    strides=2,
    padding="valid",
    output_padding=-1,
    note=other,
)

recording.write("keras.npz")
