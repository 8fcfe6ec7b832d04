"""Static shapes: what is known before a run, with unknown sizes and unknown ranks."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

# %% a placeholder of an unknown batch
x = tf.placeholder(tf.float32, [None, 28, 28, 1])
print(x.shape.as_list(), x.get_shape().as_list(), x.shape.ndims, x.shape.rank, x.shape.is_fully_defined())

# %% the text of a shape
x = tf.placeholder(tf.float32, [None, 28])
print(x.shape, repr(x.shape))

# %% a placeholder of unknown rank
x = tf.placeholder(tf.float32)
print(x.shape, x.shape.ndims)
x.shape.as_list()

# %% shapes compare with lists
x = tf.placeholder(tf.float32, [2, 3])
print(x.shape == [2, 3], x.shape == (2, 3), x.shape == [3, 2], len(x.shape))

# %% shapes are made, merged and compared
a = tf.TensorShape([None, 3])
b = tf.TensorShape([2, None])
print(a.merge_with(b).as_list(), a.is_compatible_with(b), a.num_elements())

# %% shapes that do not fit cannot be merged
tf.TensorShape([2, 3]).merge_with([2, 4])

# %% set_shape adds what is known
x = tf.placeholder(tf.float32, [None, 3])
x.set_shape([2, None])
print(x.shape.as_list())

# %% set_shape must fit
tf.placeholder(tf.float32, [None, 3]).set_shape([2, 4])

# %% reshape with -1 and an unknown batch
x = tf.placeholder(tf.float32, [None, 4, 4, 2])
print(
    tf.reshape(x, [-1, 32]).shape.as_list(),
    tf.reshape(x, [-1]).shape.as_list(),
    tf.reshape(x, [1, -1]).shape.as_list(),
)

# %% reshape of a known size with -1
x = tf.placeholder(tf.float32, [2, 4, 4])
print(tf.reshape(x, [-1, 8]).shape.as_list(), tf.reshape(x, [2, -1, 1]).shape.as_list())

# %% reshape to a size that does not fit
tf.reshape(tf.placeholder(tf.float32, [2, 3]), [4])

# %% reshape with -1 that does not divide
tf.reshape(tf.placeholder(tf.float32, [2, 3]), [-1, 4])

# %% reshape by the shape of another tensor
x = tf.placeholder(tf.float32, [None, 6])
y = tf.placeholder(tf.float32, [None, 2, 3])
print(tf.reshape(x, tf.shape(y)).shape.as_list())

# %% the shape of a tensor as a tensor
x = tf.placeholder(tf.float32, [None, 6])
print(
    tf.shape(x).shape.as_list(),
    tf.shape(x).dtype.name,
    tf.shape(x)[0].shape.as_list(),
    tf.size(x).shape.as_list(),
    tf.rank(x).shape.as_list(),
)

# %% broadcasting with unknown sizes
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [1, 3])
z = tf.placeholder(tf.float32, [None, 1])
print(
    (x + y).shape.as_list(),
    (x + z).shape.as_list(),
    (y + z).shape.as_list(),
    (x + tf.placeholder(tf.float32)).shape,
)

# %% shapes that do not broadcast
tf.placeholder(tf.float32, [2, 3]) + tf.placeholder(tf.float32, [2, 4])

# %% matmul with an unknown batch
x = tf.placeholder(tf.float32, [None, 3])
print(tf.matmul(x, tf.ones([3, 5])).shape.as_list(), tf.matmul(x, x, transpose_b=True).shape.as_list())

# %% matmul of sizes that do not fit
tf.matmul(tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [4, 5]))

# %% convolution of an unknown batch
x = tf.placeholder(tf.float32, [None, 28, 28, 1])
w = tf.ones([5, 5, 1, 32])
print([tf.nn.conv2d(x, w, [1, s, s, 1], p).shape.as_list() for s in (1, 2, 3) for p in ("SAME", "VALID")])

# %% convolution of unknown rows
x = tf.placeholder(tf.float32, [1, None, 28, 3])
print(tf.nn.conv2d(x, tf.ones([3, 3, 3, 8]), [1, 2, 2, 1], "SAME").shape.as_list())

# %% convolution of an unknown rank
x = tf.placeholder(tf.float32)
print(tf.nn.conv2d(x, tf.ones([3, 3, 3, 8]), [1, 1, 1, 1], "SAME").shape.as_list())

# %% convolution by unknown filters
x = tf.placeholder(tf.float32, [None, 8, 8, 3])
w = tf.placeholder(tf.float32, [None, None, 3, 5])
print(
    tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME").shape.as_list(),
    tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID").shape.as_list(),
)

# %% pooling of an unknown batch
x = tf.placeholder(tf.float32, [None, 7, 7, 2])
print([tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], p).shape.as_list() for p in ("SAME", "VALID")])

# %% conv2d_transpose of an unknown batch with a constant output_shape
x = tf.placeholder(tf.float32, [None, 4, 4, 2])
print(tf.nn.conv2d_transpose(x, tf.ones([3, 3, 1, 2]), [5, 8, 8, 1], [1, 2, 2, 1]).shape.as_list())

# %% conv2d_transpose with the batch of its input
x = tf.placeholder(tf.float32, [None, 4, 4, 2])
y = tf.nn.conv2d_transpose(x, tf.ones([3, 3, 1, 2]), tf.stack([tf.shape(x)[0], 8, 8, 1]), [1, 2, 2, 1])
print(y.shape.as_list())
with tf.Session() as session:
    print(session.run(y, {x: np.ones((3, 4, 4, 2))}).shape)

# %% flattening by reshape and the sizes of a static shape
x = tf.placeholder(tf.float32, [None, 7, 7, 64])
n = x.get_shape().as_list()
print(tf.reshape(x, [-1, n[1] * n[2] * n[3]]).shape.as_list())

# %% squeeze and expand_dims
x = tf.placeholder(tf.float32, [1, None, 4, 1])
print(
    tf.squeeze(x, [0, 3]).shape.as_list(),
    tf.squeeze(x, [0]).shape.as_list(),
    tf.expand_dims(x, 0).shape.as_list(),
)
print(tf.squeeze(tf.placeholder(tf.float32, [1, 4, 1])).shape.as_list())

# %% squeeze of an axis that is not 1
tf.squeeze(tf.placeholder(tf.float32, [1, 4]), [1])

# %% transpose
x = tf.placeholder(tf.float32, [None, 3, 5])
print(tf.transpose(x).shape.as_list(), tf.transpose(x, [0, 2, 1]).shape.as_list())

# %% transpose by something that is not a permutation
tf.transpose(tf.placeholder(tf.float32, [2, 3]), [0, 0])

# %% reductions
x = tf.placeholder(tf.float32, [None, 3, 5])
print(
    tf.reduce_sum(x).shape.as_list(),
    tf.reduce_mean(x, 1).shape.as_list(),
    tf.reduce_max(x, [0, -1], keepdims=True).shape.as_list(),
)

# %% reduction of an axis that is not there
tf.reduce_sum(tf.placeholder(tf.float32, [2, 3]), 2)

# %% argmax
x = tf.placeholder(tf.float32, [None, 10])
print(tf.argmax(x, 1).shape.as_list(), tf.argmax(x, 1).dtype.name)

# %% indexing
x = tf.placeholder(tf.float32, [None, 8, 3])
print(
    x[0].shape.as_list(),
    x[:, 2:5].shape.as_list(),
    x[..., 1].shape.as_list(),
    x[:, None].shape.as_list(),
    x[:, ::2].shape.as_list(),
)

# %% pad
x = tf.placeholder(tf.float32, [None, 3])
print(tf.pad(x, [[1, 1], [0, 2]]).shape.as_list())

# %% concat and stack
x = tf.placeholder(tf.float32, [None, 3])
y = tf.placeholder(tf.float32, [None, 2])
print(tf.concat([x, y], 1).shape.as_list(), tf.stack([x, x]).shape.as_list())

# %% losses
logits = tf.placeholder(tf.float32, [None, 10])
print(tf.nn.softmax_cross_entropy_with_logits(labels=logits, logits=logits).shape.as_list())

# %% attributes of dtypes
for dtype in (tf.float16, tf.float32, tf.float64, tf.int32, tf.int64, tf.uint8, tf.bool):
    print(dtype, repr(dtype), dtype.name, dtype.as_numpy_dtype.__name__, dtype.base_dtype, dtype.real_dtype, dtype.size)
    print(dtype.is_floating, dtype.is_integer, dtype.is_unsigned, dtype.is_bool, dtype.is_complex)
print([(float(dtype.min), float(dtype.max)) for dtype in (tf.float16, tf.float32, tf.int32, tf.uint8)])
print(tf.float32 == np.float32, tf.float32 == "float32", tf.float32 == tf.float64, tf.as_dtype("half") is tf.half)
