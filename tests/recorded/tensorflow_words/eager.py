"""Eager tensors in TensorFlow 2: values, operators, conversion, errors."""

import numpy as np
import tensorflow as tf

# %% an eager tensor has a value
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(x.numpy().tolist(), x.shape.as_list(), x.dtype.name, x.ndim, tf.executing_eagerly())

# %% an eager tensor as text
print(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
print(tf.constant(3))

# %% the repr of an eager tensor
print(repr(tf.constant([1.0, 2.0])), repr(tf.constant(3)))

# %% the shape of an eager tensor
x = tf.zeros([2, 3])
print(x.shape, repr(x.shape), x.shape[0], tuple(x.shape), x.shape == (2, 3), x.get_shape().as_list())

# %% one number has a truth value, a length it has not
print(bool(tf.constant(1.0)), bool(tf.constant([0])), float(tf.constant(1.5)), int(tf.constant(3)))
len(tf.constant(1.0))

# %% several numbers have no truth value
bool(tf.constant([1.0, 2.0]))

# %% length and iteration
x = tf.constant([[1, 2], [3, 4], [5, 6]])
print(len(x), [row.numpy().tolist() for row in x])

# %% a number cannot be iterated over
list(tf.constant(1.0))

# %% a tensor cannot be changed
x = tf.constant([1.0, 2.0])
x[0] = 5.0

# %% the array of a tensor
x = tf.constant([1.0, 2.0])
array = x.numpy()
array = np.array(x)
array[0] = 5.0
print(x.numpy().tolist(), np.asarray(x).tolist(), np.sum(x), np.square(x).tolist())

# %% a tensor has no hash
hash(tf.constant(1.0))

# %% the reference of a tensor has a hash
x = tf.constant(1.0)
print(x.ref() == x.ref(), x.ref().deref() is x, len({x.ref(), x.ref()}))

# %% == compares element by element
x = tf.constant([1.0, 2.0])
print((x == [1.0, 3.0]).numpy().tolist(), (x != 1.0).numpy().tolist(), (x > 1.0).numpy().tolist())

# %% == of shapes that do not fit
print(tf.constant([1.0, 2.0]) == tf.constant([1.0, 2.0, 3.0]))

# %% operators
x = tf.constant([1.0, 2.0])
print(
    [
        value.numpy().tolist()
        for value in (x + 1.0, 1.0 - x, x * x, x / 2.0, -x, x**2, x // 2.0, x % 2.0, abs(-x))
    ]
)

# %% operators with NumPy on the left
x = tf.constant([1.0, 2.0])
y = np.float32([10.0, 20.0]) + x
print(type(y).__name__, y.numpy().tolist(), (np.float32(2.0) * x).numpy().tolist())

# %% logic of booleans
x = tf.constant([True, False])
print((x & [True, True]).numpy().tolist(), (x | [False, True]).numpy().tolist(), (~x).numpy().tolist())

# %% dtypes do not mix
tf.constant(1.0) + tf.constant(1)

# %% a float array of float64 does not mix
tf.constant([1.0]) + np.ones(1)

# %% dtypes of Python values
print([tf.constant(value).dtype.name for value in (1, 1.0, True, [1, 2.5], np.ones(2), np.int64(3))])

# %% a float does not become int32
tf.constant(1.5, dtype=tf.int32)

# %% a number too large for int32
tf.constant(2**40)

# %% nested lists of different lengths
tf.constant([[1, 2], [3]])

# %% None is no tensor
tf.constant(None)

# %% constant with a shape
print(tf.constant(3.0, shape=[2, 2]).numpy().tolist())
tf.constant([1.0, 2.0, 3.0], shape=[2, 2])

# %% convert_to_tensor
x = tf.constant(1.0)
print(
    tf.convert_to_tensor(x) is x,
    tf.convert_to_tensor([1, 2], dtype=tf.float32).dtype.name,
    tf.is_tensor(x),
    tf.is_tensor(1.0),
)
tf.convert_to_tensor(x, dtype=tf.int32)

# %% cast
print(
    tf.cast(1.7, tf.int32).numpy(),
    tf.cast([0, 2], tf.bool).numpy().tolist(),
    tf.cast(tf.constant(3), tf.float32).numpy(),
)

# %% indexing
x = tf.reshape(tf.range(12), [3, 4])
print([v.numpy().tolist() for v in (x[0], x[:, 1], x[1:, ::2], x[-1, -1], x[0, tf.newaxis], x[..., 0])])

# %% an index that is too large
tf.constant([1, 2, 3])[3]

# %% matmul of sizes that do not fit
tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))

# %% broadcasting that does not fit
tf.ones([2, 3]) + tf.ones([2, 4])

# %% reshape that does not fit
tf.reshape(tf.range(6), [4])

# %% matmul
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(tf.matmul(x, x, transpose_b=True).numpy().tolist(), (x @ x).numpy().tolist())

# %% math
x = tf.constant([1.0, 4.0])
print(
    [
        np.round(f(x).numpy(), 4).tolist()
        for f in (tf.sqrt, tf.square, tf.exp, tf.math.log, tf.abs, tf.negative, tf.tanh, tf.sigmoid)
    ]
)

# %% reductions
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
print(
    tf.reduce_sum(x).numpy(),
    tf.reduce_mean(x, axis=0).numpy().tolist(),
    tf.reduce_max(x, axis=1, keepdims=True).numpy().tolist(),
    tf.argmax(x, axis=1).numpy().tolist(),
)

# %% mean of integers
print(tf.reduce_mean([1, 2]).numpy(), tf.reduce_mean(tf.constant([-1, -2])).numpy())

# %% shapes of tensors
x = tf.zeros([2, 3, 4])
print(
    tf.shape(x).numpy().tolist(),
    tf.rank(x).numpy(),
    tf.size(x).numpy(),
    tf.transpose(x).shape,
    tf.expand_dims(x, 0).shape,
    tf.squeeze(tf.zeros([1, 2])).shape,
)

# %% joining
x = tf.constant([[1, 2]])
print(
    tf.concat([x, x], 0).numpy().tolist(),
    tf.stack([x, x], 1).numpy().tolist(),
    tf.pad(x, [[0, 0], [1, 1]]).numpy().tolist(),
)

# %% makers
print(
    [
        v.numpy().tolist()
        for v in (
            tf.zeros([2]),
            tf.ones([2], tf.int32),
            tf.fill([2], 7),
            tf.range(3),
            tf.zeros_like([1, 2]),
            tf.eye(2),
            tf.one_hot([1], 3),
            tf.linspace(0.0, 1.0, 3),
        )
    ]
)

# %% where and maximum
x = tf.constant([1.0, -2.0])
print(
    tf.where(x > 0, x, 0.0).numpy().tolist(),
    tf.maximum(x, 0.0).numpy().tolist(),
    tf.clip_by_value(x, -1.0, 0.5).numpy().tolist(),
)

# %% random values have a shape and a dtype
made = [tf.random.normal([2, 3]), tf.random.truncated_normal([4]), tf.random.uniform([2], 0, 10, tf.int32)]
print([(value.shape, value.dtype.name) for value in made])

# %% a global seed repeats
values = []
for _ in range(2):
    tf.random.set_seed(7)
    values.append([tf.random.normal([3]).numpy(), tf.random.normal([3]).numpy()])
print(np.array_equal(values[0], values[1]), np.array_equal(values[0][0], values[0][1]))

# %% integers need a maximum
tf.random.uniform([2], dtype=tf.int32)

# %% a Variable
v = tf.Variable([1.0, 2.0], name="v")
print(v.name, v.shape, v.dtype.name, v.trainable, v.numpy().tolist())
print(
    v.assign([3.0, 4.0]).numpy().tolist(),
    v.assign_add([1.0, 1.0]).numpy().tolist(),
    v.assign_sub([1.0, 2.0]).numpy().tolist(),
)

# %% a Variable as text
print(tf.Variable([1.0, 2.0], name="v"))

# %% names of Variables are not unique
print(tf.Variable(1.0).name, tf.Variable(1.0).name)

# %% operators of Variables
v = tf.Variable([1.0, 2.0])
print(
    [value.numpy().tolist() for value in (v + 1.0, 2.0 * v, v * v, -v, v[0], tf.square(v))],
    type(v + 1.0).__name__,
)

# %% += makes a tensor
v = tf.Variable(1.0)
w = v
v += 1.0
print(type(v).__name__, v.numpy(), w.numpy())

# %% assign of another shape
tf.Variable([1.0, 2.0]).assign([1.0])

# %% assign of another dtype
tf.Variable([1.0, 2.0]).assign(tf.constant([1, 2]))

# %% an element of a Variable cannot be set
v = tf.Variable([1.0, 2.0])
v[0] = 5.0

# %% the initial value may be a function
print(tf.Variable(lambda: tf.zeros([2])).numpy().tolist(), tf.Variable(1, dtype=tf.float32).dtype.name)

# %% conv2d needs strides and padding
tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 1]))

# %% conv2d
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
w = tf.ones([3, 3, 1, 1])
print([tf.nn.conv2d(x, w, s, p).numpy().ravel().tolist() for s in (1, 2) for p in ("SAME", "VALID")])

# %% conv2d in the words of TensorFlow 1
tf.nn.conv2d(input=tf.ones([1, 4, 4, 1]), filter=tf.ones([3, 3, 1, 1]), strides=1, padding="SAME")

# %% conv2d of channels that do not fit
tf.nn.conv2d(tf.ones([1, 4, 4, 3]), tf.ones([3, 3, 2, 1]), 1, "SAME")

# %% conv2d of an input that is too small
tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([3, 3, 1, 1]), 1, "VALID")

# %% conv2d of padding that is not a mode
tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([3, 3, 1, 1]), 1, "FULL")

# %% conv2d of int32
print(
    tf.nn.conv2d(tf.ones([1, 4, 4, 1], tf.int32), tf.ones([3, 3, 1, 1], tf.int32), 1, "VALID")
    .numpy()
    .ravel()
    .tolist()
)

# %% conv2d of int64
tf.nn.conv2d(tf.ones([1, 4, 4, 1], tf.int64), tf.ones([3, 3, 1, 1], tf.int64), 1, "VALID")

# %% conv2d of float64
y = tf.nn.conv2d(tf.ones([1, 4, 4, 1], tf.float64), tf.ones([3, 3, 1, 1], tf.float64), 1, "VALID")
print(y.dtype.name, y.numpy().ravel().tolist())

# %% conv2d of NumPy's float64 and a float32 tensor
tf.nn.conv2d(np.ones((1, 4, 4, 1)), tf.ones([3, 3, 1, 1]), 1, "VALID")

# %% conv2d with NCHW on a CPU
y = tf.nn.conv2d(tf.ones([1, 1, 4, 4]), tf.ones([3, 3, 1, 2]), 1, "VALID", data_format="NCHW")
print(y.shape, y.numpy().ravel().tolist())

# %% a stride that differs in rows and columns
print(tf.nn.conv2d(tf.ones([1, 7, 7, 1]), tf.ones([3, 3, 1, 1]), [1, 2, 3, 1], "SAME").shape)

# %% strides of the batch
tf.nn.conv2d(tf.ones([1, 7, 7, 1]), tf.ones([3, 3, 1, 1]), [2, 1, 1, 1], "SAME")

# %% conv2d_transpose
x = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
print(tf.nn.conv2d_transpose(x, tf.ones([3, 3, 1, 1]), [1, 4, 4, 1], 2).numpy().ravel().tolist())

# %% conv2d_transpose of a size that cannot be
tf.nn.conv2d_transpose(tf.ones([1, 2, 2, 1]), tf.ones([3, 3, 1, 1]), [1, 9, 9, 1], 2)

# %% depthwise_conv2d
x = tf.reshape(tf.range(18.0), [1, 3, 3, 2])
print(tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 2, 1]), [1, 1, 1, 1], "VALID").numpy().ravel().tolist())

# %% max_pool2d and avg_pool2d
x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
print(
    tf.nn.max_pool2d(x, 2, 2, "VALID").numpy().ravel().tolist(),
    tf.nn.avg_pool2d(x, 2, 2, "SAME").numpy().ravel().tolist(),
)

# %% activations
x = tf.constant([-1.0, 0.0, 8.0])
print(
    [
        np.round(f(x).numpy(), 4).tolist()
        for f in (
            tf.nn.relu,
            tf.nn.relu6,
            tf.nn.sigmoid,
            tf.nn.tanh,
            tf.nn.softmax,
            tf.nn.elu,
            tf.nn.softplus,
        )
    ]
)

# %% leaky_relu
print(np.round(tf.nn.leaky_relu(tf.constant([-1.0, 2.0])).numpy(), 4).tolist())

# %% l2_loss and moments
x = tf.constant([1.0, 2.0, 3.0])
mean, variance = tf.nn.moments(x, axes=[0])
print(tf.nn.l2_loss(x).numpy(), mean.numpy(), round(float(variance), 4))

# %% a placeholder needs a graph
tf.compat.v1.placeholder(tf.float32, [2])

# %% a Session needs a graph
tf.compat.v1.Session().run(tf.constant(1.0))

# %% gradients need a graph
x = tf.constant(1.0)
tf.gradients(x * x, [x])

# %% a graph inside TensorFlow 2
with tf.Graph().as_default() as graph:
    x = tf.constant(1.0)
    print(x.name, tf.executing_eagerly())
    x.numpy()

# %% devices of this machine
print(
    [device.device_type for device in tf.config.list_physical_devices()],
    tf.config.list_physical_devices("GPU"),
)

# %% a device in a block
with tf.device("/CPU:0"):
    x = tf.constant(1.0)
print(x.device)

# %% a GPU that is not there
with tf.device("/GPU:0"):
    x = tf.constant(1.0)
print(x.numpy(), x.device[-5:])

# %% name of an eager tensor
tf.constant(1.0, name="x").name

# %% TensorShape and TensorSpec
spec = tf.TensorSpec([None, 3], tf.float32, name="x")
print(
    spec.shape,
    spec.dtype.name,
    spec.name,
)

# %% whether all or any hold
x = tf.constant([[1.0, -2.0], [3.0, 4.0]])
print(tf.reduce_all(x > 0.0).numpy(), tf.reduce_any(x < 0.0, axis=1).numpy().tolist())
print(tf.math.reduce_all(x > 0.0, axis=0, keepdims=True).numpy().tolist())

# %% depthwise_conv2d with strides and dilations above 1
x, w = tf.ones([1, 7, 7, 1]), tf.ones([3, 3, 1, 1])
print(tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME", dilations=[2, 2]).shape)

# %% convolution with strides and dilations above 1
tf.nn.convolution(tf.ones([1, 7, 7, 1]), tf.ones([3, 3, 1, 1]), 2, "SAME", dilations=2)

# %% softmax along the first axis
print(tf.nn.softmax(tf.constant([[0.0, 1.0], [0.0, 1.0]]), axis=0).numpy().tolist())

# %% an array beside a dtype
print(
    tf.constant(np.linspace(0, 1, 3), dtype=tf.float32),
    tf.Variable(np.array([1, 2]), dtype=tf.float16).numpy(),
)

# %% an array with a fraction beside an integer dtype
print(tf.constant(np.array([1.5, -1.5]), dtype=tf.int32))
