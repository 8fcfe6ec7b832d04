"""Wrong calls: every line that ends in a comment must be an error of each type checker, and no other line."""

import numpy as np

import teachconv as tc
import teachconv.tf as tf
from teachconv import exercises as ex
from teachconv import testing
from teachconv.dialects import jax, keras, onnx, torch

x = np.ones((1, 8, 8, 3), "float32")
w = np.ones((3, 3, 3, 4), "float32")
word = "same".upper()
line, line_filter = x[0], w[0]
volume, volume_filter = x[None], w[None]


def mistakes() -> None:
    tc.conv2d(x, w, padding="SMAE")  # no such word
    tc.conv2d(x, w, padding="same")  # in small letters
    tc.conv2d(x, w, padding=word)  # any text
    tc.conv2d(x, w, padding=None)  # no padding is "VALID"
    tc.conv2d(x, w, padding=1.5)  # half a row
    tc.conv2d(x, w, padding=["SAME", "VALID"])  # one word for each axis
    tc.conv2d(x, w, padding=((1, 2), ("a", "b")))  # a text in a pair
    tc.conv2d(x, w, strides="2")  # a text
    tc.conv2d(x, w, strides=2.0)  # no int
    tc.conv2d(x, w, strides=["2", "2"])  # texts
    tc.conv2d(x, w, dilations="1")  # a text
    tc.conv2d(x, w, data_format="NWHC")  # no such format
    tc.conv2d(x, w, precision="exact")  # no such precision
    tc.conv2d(x, w, backend="nunpy")  # no such backend
    tc.conv2d(x, w, backend=3)  # no backend
    tc.conv2d(x, w, algorithm=3)  # no name
    tc.conv2d(x, w, out=[0.0])  # a list cannot be written to
    tc.conv2d("x.npy", w)  # the name of a file
    tc.conv2d(3, w)  # no array
    tc.conv2d(x, [["a", "b"]])  # texts
    tc.conv2d(x, None)  # nothing
    tc.conv2d(x, w, bias="b")  # a text
    tc.conv2d(x)  # no filters
    tc.conv2d(x, w, stride=2)  # another framework's name of an argument
    tc.depthwise_conv2d(x, w, padding="SAME_UPPER")  # ONNX's word
    tc.conv2d_transpose(x, w, "SAME")  # padding where a shape stands
    tc.conv2d_transpose(x, w, 16)  # one size
    tc.conv2d_transpose(x, w, output_padding="1")  # a text
    tc.conv_transpose(x, w, padding="CAUSAL")  # that of a convolution, which the transpose refuses
    tc.conv3d(x, w, padding="CAUSAL")  # of one axis only
    tc.conv2d_backprop_input("1883", w, x)  # a text
    tc.conv2d_backprop_filter(x, 3, x)  # one size
    tc.conv2d_geometry(x.shape, w.shape, 2, "SMAE")  # no such word
    tc.conv2d_geometry("1883", w.shape)  # a text
    tc.conv2d_transpose_geometry(x.shape, w.shape, data_format="NHCW")  # no such format
    torch.conv2d(x, w, padding="SAME")  # TensorFlow's word
    torch.conv_transpose2d(x, w, padding="same")  # in a transposed convolution
    torch.pad(x, (1, 1), mode="edge")  # NumPy's word
    jax.conv_general_dilated(x, w, 1, "SAME")  # JAX takes a sequence
    jax.conv_general_dilated(x, w, (1, 1), "SMAE")  # no such word
    jax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers="NHWC")  # one layout of three
    keras.conv(x, w, data_format="NHWC")  # TensorFlow's word
    keras.conv(x, w, padding=1)  # Keras has words only
    onnx.conv(x, w, auto_pad="SAME")  # upper or lower
    onnx.conv(x, w, pads="1111")  # a text
    tc.trace(tc.conv2d, x, w, padding="SMAE")  # the op's argument
    tc.trace(tc.conv2d, x)  # the op has no filters
    tc.plan(tc.conv2d, w, input_shape=8)  # one size
    tc.diff(tc.conv2d, x, w, backends="nunpy")  # no such backend
    tc.diff(tc.conv2d, x, w, against="y.npy")  # the name of a file
    tc.check_backend("nunpy")  # no such backend
    tc.autotune(tc.conv2d, x, w, backends=["nunpy"])  # no such backend
    tc.translate(tc.conv2d, x, w, to="troch")  # no such framework
    tc.convert_filters(w, "torch", "mxnet")  # no such framework
    tc.explain(tc.conv2d, x, w, at="0000")  # a text
    tc.set_backend("nunpy")  # no such backend


def in_every_op() -> None:
    tc.conv1d(line, line_filter, padding="SMAE")  # no such word
    tc.conv1d(line, line_filter, strides="2")  # a text
    tc.conv1d_transpose(line, line_filter, padding="SMAE")  # no such word
    tc.conv1d_transpose(line, line_filter, strides="2")  # a text
    tc.conv1d_backprop_input(line.shape, line_filter, line, padding="SMAE")  # no such word
    tc.conv1d_backprop_input(line.shape, line_filter, line, strides="2")  # a text
    tc.conv1d_backprop_filter(line, line_filter.shape, line, padding="SMAE")  # no such word
    tc.conv1d_backprop_filter(line, line_filter.shape, line, strides="2")  # a text
    tc.conv2d_transpose(x, w, padding="SMAE")  # no such word
    tc.conv2d_transpose(x, w, strides="2")  # a text
    tc.conv2d_backprop_input(x.shape, w, x, padding="SMAE")  # no such word
    tc.conv2d_backprop_input(x.shape, w, x, strides="2")  # a text
    tc.conv2d_backprop_filter(x, w.shape, x, padding="SMAE")  # no such word
    tc.conv2d_backprop_filter(x, w.shape, x, strides="2")  # a text
    tc.conv3d(volume, volume_filter, padding="SMAE")  # no such word
    tc.conv3d(volume, volume_filter, strides="2")  # a text
    tc.conv3d_transpose(volume, volume_filter, padding="SMAE")  # no such word
    tc.conv3d_transpose(volume, volume_filter, strides="2")  # a text
    tc.conv3d_backprop_input(volume.shape, volume_filter, volume, padding="SMAE")  # no such word
    tc.conv3d_backprop_input(volume.shape, volume_filter, volume, strides="2")  # a text
    tc.conv3d_backprop_filter(volume, volume_filter.shape, volume, padding="SMAE")  # no such word
    tc.conv3d_backprop_filter(volume, volume_filter.shape, volume, strides="2")  # a text
    tc.depthwise_conv2d(x, w, padding="SMAE")  # no such word
    tc.depthwise_conv2d(x, w, strides="2")  # a text
    tc.depthwise_conv2d_backprop_input(x.shape, w, x, padding="SMAE")  # no such word
    tc.depthwise_conv2d_backprop_input(x.shape, w, x, strides="2")  # a text
    tc.depthwise_conv2d_backprop_filter(x, w.shape, x, padding="SMAE")  # no such word
    tc.depthwise_conv2d_backprop_filter(x, w.shape, x, strides="2")  # a text
    tc.convolution(x, w, padding="SMAE")  # no such word
    tc.convolution(x, w, strides="2")  # a text
    tc.conv_transpose(x, w, padding="SMAE")  # no such word
    tc.conv_transpose(x, w, strides="2")  # a text
    tc.convolution_backprop_input(x.shape, w, x, padding="SMAE")  # no such word
    tc.convolution_backprop_input(x.shape, w, x, strides="2")  # a text
    tc.convolution_backprop_filter(x, w.shape, x, padding="SMAE")  # no such word
    tc.convolution_backprop_filter(x, w.shape, x, strides="2")  # a text
    tc.conv2d_geometry(x.shape, w.shape, padding="SMAE")  # no such word
    tc.conv2d_geometry(x.shape, w.shape, strides="2")  # a text
    tc.conv2d_transpose_geometry(x.shape, w.shape, padding="SMAE")  # no such word
    tc.conv2d_transpose_geometry(x.shape, w.shape, strides="2")  # a text
    tc.conv_geometry(x.shape, w.shape, padding="SMAE")  # no such word
    tc.conv_geometry(x.shape, w.shape, strides="2")  # a text
    tc.conv_transpose_geometry(x.shape, w.shape, padding="SMAE")  # no such word
    tc.conv_transpose_geometry(x.shape, w.shape, strides="2")  # a text
    tc.max_pool(x, 2, 2, padding="SMAE")  # no such word
    tc.max_pool(x, 2, strides="2", padding="SAME")  # a text
    tc.avg_pool(x, 2, 2, padding="SMAE")  # no such word
    tc.avg_pool(x, 2, strides="2", padding="SAME")  # a text
    tc.max_pool_grad(x, x, 2, 2, padding="SMAE")  # no such word
    tc.max_pool_grad(x, x, 2, strides="2", padding="SAME")  # a text
    tc.avg_pool_grad(x.shape, x, 2, 2, padding="SMAE")  # no such word
    tc.avg_pool_grad(x.shape, x, 2, strides="2", padding="SAME")  # a text
    tc.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), "edge")  # NumPy's word
    tc.resize(x, (2, 2), "bicubic")  # not defined here
    jax.resize(x, (2, 2), "cubic")  # not defined here
    tc.depth_to_space(x, "2")  # a text
    ex.check("same", 3)  # no function
    ex.hint("same", step="2")  # a text
    ex.grade(3)  # no folder
    tc.explore(tc.conv2d, x, w, at="0000")  # a text
    tc.explore(tc.conv2d, x, w, budget="1 MB")  # a text
    tc.compare(x)  # one model
    testing.fuzz(tc.conv2d, seconds="2")  # a text


def in_tensorflows_words() -> None:
    tf.nn.conv1d(line, line_filter, 1, "SMAE")  # no such word
    tf.nn.conv2d(x, w, 1, "SMAE")  # no such word
    tf.nn.conv2d(x, w, "2", "SAME")  # a text
    tf.nn.conv3d(volume, volume_filter, 1, "SMAE")  # no such word
    tf.nn.conv2d_transpose(x, w, x.shape, 1, "SMAE")  # no such word
    tf.nn.conv2d_transpose(x, w, x.shape, "2")  # a text
    tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SMAE")  # no such word
    tf.nn.convolution(x, w, "2")  # a text
    tf.nn.max_pool(x, 2, 2, "SMAE")  # no such word
    tf.nn.avg_pool(x, 2, "2", "SAME")  # a text
    tf.keras.layers.Conv2D(4, 3, padding="SMAE")  # no such word
    tf.keras.layers.Conv2D(4, 3, strides="2")  # a text
    tf.keras.layers.Conv2DTranspose(4, 3, padding="SMAE")  # no such word
    tf.keras.layers.Conv2DTranspose(4, 3, strides="2")  # a text
    tf.keras.layers.DepthwiseConv2D(3, padding="SMAE")  # no such word
    tf.keras.layers.MaxPooling2D(2, padding="SMAE")  # no such word
    tf.keras.layers.AveragePooling2D(2, strides="2")  # a text
