"""conv2d, conv2d_transpose, depthwise_conv2d and pooling in TensorFlow 1: arguments, values, errors."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def numbers(*shape):
    return (np.arange(np.prod(shape)) * 7 % 5 - 2).reshape(shape).astype("float32")


def run(tensor):
    with tf.Session() as session:
        value = session.run(tensor)
    print(value.shape, value.dtype.name, value.ravel().tolist()[:12], float(value.sum()))


# %% strides of the four axes
run(tf.nn.conv2d(numbers(1, 5, 5, 2), numbers(3, 3, 2, 2), strides=[1, 2, 2, 1], padding="VALID"))

# %% strides as one number
run(tf.nn.conv2d(numbers(1, 5, 5, 2), numbers(3, 3, 2, 2), strides=2, padding="VALID"))

# %% strides as two numbers
run(tf.nn.conv2d(numbers(1, 5, 6, 2), numbers(3, 3, 2, 2), strides=[2, 1], padding="SAME"))

# %% the filter by its old name
run(tf.nn.conv2d(numbers(1, 4, 4, 1), filter=numbers(3, 3, 1, 2), strides=[1, 1, 1, 1], padding="SAME"))

# %% the filter by its new name
run(tf.nn.conv2d(numbers(1, 4, 4, 1), filters=numbers(3, 3, 1, 2), strides=[1, 1, 1, 1], padding="SAME"))

# %% the filter by both names
tf.nn.conv2d(
    numbers(1, 4, 4, 1),
    filter=numbers(3, 3, 1, 2),
    filters=numbers(3, 3, 1, 2),
    strides=[1, 1, 1, 1],
    padding="SAME",
)

# %% strides left out
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 2), padding="SAME")

# %% padding left out
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 2), [1, 1, 1, 1])

# %% padding in small letters
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 2), [1, 1, 1, 1], "same")

# %% padding that is not a mode
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 2), [1, 1, 1, 1], "FULL")

# %% SAME at stride 2 with an even filter
run(tf.nn.conv2d(numbers(1, 5, 6, 1), numbers(2, 4, 1, 1), [1, 2, 2, 1], "SAME"))

# %% SAME puts the odd row at the bottom
run(tf.nn.conv2d(np.ones((1, 4, 4, 1), "float32"), np.ones((2, 2, 1, 1), "float32"), [1, 1, 1, 1], "SAME"))

# %% explicit paddings
run(tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], [[0, 0], [2, 1], [0, 3], [0, 0]]))

# %% explicit paddings of the batch
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], [[1, 0], [2, 1], [0, 3], [0, 0]])

# %% explicit paddings below zero
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], [[0, 0], [-1, 1], [0, 0], [0, 0]])

# %% explicit paddings of two axes
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], [[1, 1], [1, 1]])

# %% dilations
run(tf.nn.conv2d(numbers(1, 7, 7, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], "VALID", dilations=[1, 2, 3, 1]))

# %% dilations and strides
run(tf.nn.conv2d(numbers(1, 7, 7, 1), numbers(3, 3, 1, 1), [1, 2, 2, 1], "SAME", dilations=[1, 2, 2, 1]))

# %% a dilation of the batch
tf.nn.conv2d(numbers(1, 7, 7, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], "VALID", dilations=[2, 1, 1, 1])

# %% a stride of the channels
y = tf.nn.conv2d(numbers(1, 7, 7, 1), numbers(3, 3, 1, 1), [1, 1, 1, 2], "VALID")
run(y)

# %% a stride of zero
tf.nn.conv2d(numbers(1, 7, 7, 1), numbers(3, 3, 1, 1), [1, 0, 0, 1], "VALID")

# %% three strides
tf.nn.conv2d(numbers(1, 7, 7, 1), numbers(3, 3, 1, 1), [1, 2, 2], "VALID")

# %% a float as a stride
tf.nn.conv2d(numbers(1, 7, 7, 1), numbers(3, 3, 1, 1), [1, 2.5, 2.5, 1], "VALID")

# %% NCHW builds a node
y = tf.nn.conv2d(numbers(1, 2, 5, 5), numbers(3, 3, 2, 2), [1, 1, 2, 2], "SAME", data_format="NCHW")
print(y.shape.as_list(), y.op.get_attr("data_format"))

# %% a data format that is none
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], "SAME", data_format="NHCW")

# %% a data format that is not a string
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], "SAME", data_format=3)

# %% channels that do not fit
tf.nn.conv2d(numbers(1, 4, 4, 3), numbers(3, 3, 2, 1), [1, 1, 1, 1], "SAME")

# %% groups follow from the channels
run(tf.nn.conv2d(numbers(1, 4, 4, 4), numbers(3, 3, 2, 4), [1, 1, 1, 1], "SAME"))

# %% an input of three axes
tf.nn.conv2d(numbers(4, 4, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], "SAME")

# %% a filter of three axes
tf.nn.conv2d(numbers(1, 4, 4, 1), numbers(3, 3, 1), [1, 1, 1, 1], "SAME")

# %% an input that is smaller than the filter
tf.nn.conv2d(numbers(1, 2, 2, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], "VALID")

# %% float64
run(
    tf.nn.conv2d(
        numbers(1, 4, 4, 1).astype("float64"), numbers(3, 3, 1, 1).astype("float64"), [1, 1, 1, 1], "SAME"
    )
)

# %% int32
run(
    tf.nn.conv2d(
        numbers(1, 4, 4, 1).astype("int32"), numbers(3, 3, 1, 1).astype("int32"), [1, 1, 1, 1], "VALID"
    )
)

# %% int64
tf.nn.conv2d(numbers(1, 4, 4, 1).astype("int64"), numbers(3, 3, 1, 1).astype("int64"), [1, 1, 1, 1], "VALID")

# %% two dtypes
tf.nn.conv2d(
    tf.constant(numbers(1, 4, 4, 1)), tf.constant(numbers(3, 3, 1, 1).astype("float64")), [1, 1, 1, 1], "SAME"
)

# %% lists of Python numbers
run(
    tf.nn.conv2d(
        [[[[1.0], [2.0]], [[3.0], [4.0]]]], [[[[1.0]], [[1.0]]], [[[1.0]], [[1.0]]]], [1, 1, 1, 1], "SAME"
    )
)

# %% cuDNN's switch and the name
y = tf.nn.conv2d(
    numbers(1, 4, 4, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], "SAME", use_cudnn_on_gpu=True, name="conv"
)
print(y.name)

# %% an empty batch
run(tf.nn.conv2d(numbers(0, 4, 4, 1), numbers(3, 3, 1, 2), [1, 1, 1, 1], "SAME"))

# %% conv2d_transpose with SAME
run(tf.nn.conv2d_transpose(numbers(1, 3, 3, 1), numbers(3, 3, 2, 1), [1, 6, 6, 2], [1, 2, 2, 1], "SAME"))

# %% conv2d_transpose by the old names
run(
    tf.nn.conv2d_transpose(
        value=numbers(1, 3, 3, 1), filter=numbers(3, 3, 1, 1), output_shape=[1, 5, 5, 1], strides=[1, 2, 2, 1]
    )
)

# %% conv2d_transpose with VALID
run(tf.nn.conv2d_transpose(numbers(1, 3, 3, 1), numbers(3, 3, 1, 1), [1, 7, 7, 1], [1, 2, 2, 1], "VALID"))

# %% conv2d_transpose of a size that cannot be
y = tf.nn.conv2d_transpose(numbers(1, 3, 3, 1), numbers(3, 3, 1, 1), [1, 9, 9, 1], [1, 2, 2, 1], "SAME")
run(y)

# %% conv2d_transpose of channels that do not fit
tf.nn.conv2d_transpose(numbers(1, 3, 3, 2), numbers(3, 3, 1, 1), [1, 6, 6, 1], [1, 2, 2, 1], "SAME")

# %% conv2d_transpose of an output_shape of three
tf.nn.conv2d_transpose(numbers(1, 3, 3, 1), numbers(3, 3, 1, 1), [6, 6, 1], [1, 2, 2, 1], "SAME")

# %% conv2d_transpose of another batch
run(tf.nn.conv2d_transpose(numbers(1, 3, 3, 1), numbers(3, 3, 1, 1), [2, 6, 6, 1], [1, 2, 2, 1], "SAME"))

# %% conv2d_transpose without an output_shape
tf.nn.conv2d_transpose(numbers(1, 3, 3, 1), numbers(3, 3, 1, 1), strides=[1, 2, 2, 1])

# %% depthwise_conv2d
run(tf.nn.depthwise_conv2d(numbers(1, 4, 4, 2), numbers(3, 3, 2, 2), [1, 1, 1, 1], "SAME"))

# %% depthwise_conv2d at stride 2
run(tf.nn.depthwise_conv2d(numbers(1, 5, 5, 2), numbers(3, 3, 2, 1), [1, 2, 2, 1], "VALID"))

# %% depthwise_conv2d at two strides
y = tf.nn.depthwise_conv2d(numbers(1, 5, 5, 2), numbers(3, 3, 2, 1), [1, 2, 1, 1], "VALID")
run(y)

# %% depthwise_conv2d with rates
run(tf.nn.depthwise_conv2d(numbers(1, 6, 6, 1), numbers(3, 3, 1, 1), [1, 1, 1, 1], "VALID", rate=[2, 2]))

# %% max_pool
run(tf.nn.max_pool(numbers(1, 5, 5, 1), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"))

# %% max_pool by the old name
run(tf.nn.max_pool(value=numbers(1, 4, 4, 1), ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="VALID"))

# %% max_pool with one number
run(tf.nn.max_pool(numbers(1, 4, 4, 1), 3, 1, "SAME"))

# %% max_pool of a window that is larger than the input
tf.nn.max_pool(numbers(1, 2, 2, 1), [1, 3, 3, 1], [1, 1, 1, 1], "VALID")

# %% avg_pool counts no padding
run(tf.nn.avg_pool(np.ones((1, 3, 3, 1), "float32"), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"))

# %% avg_pool with VALID
run(tf.nn.avg_pool(numbers(1, 5, 5, 1), [1, 2, 2, 1], [1, 2, 2, 1], "VALID"))

# %% bias_add
run(tf.nn.bias_add(numbers(1, 2, 2, 3), [1.0, 2.0, 3.0]))

# %% bias_add of another size
tf.nn.bias_add(numbers(1, 2, 2, 3), [1.0, 2.0])

# %% relu and its kin
x = tf.constant([-2.0, 0.0, 7.0])
run(tf.nn.relu(x))
run(tf.nn.relu6(x))

# %% a convolution of ones by an edge filter
image = np.zeros((1, 5, 5, 1), "float32")
image[0, 2, 2, 0] = 1.0
edge = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], "float32").reshape(3, 3, 1, 1)
run(tf.nn.conv2d(image, edge, [1, 1, 1, 1], "SAME"))

# %% the input's gradient by its op
run(tf.nn.conv2d_backprop_input([1, 4, 4, 1], numbers(3, 3, 1, 2), numbers(1, 2, 2, 2), [1, 2, 2, 1], "SAME"))

# %% the filter's gradient by its op
run(
    tf.nn.conv2d_backprop_filter(numbers(1, 4, 4, 1), [3, 3, 1, 2], numbers(1, 2, 2, 2), [1, 2, 2, 1], "SAME")
)
