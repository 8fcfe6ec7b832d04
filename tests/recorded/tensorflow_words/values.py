"""Constants, conversion of values, dtypes, operators and broadcasting in a graph."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

# %% dtypes of Python numbers
print([tf.constant(value).dtype.name for value in (1, 1.0, True, [1, 2], [1.0, 2.0], [1, 2.0])])

# %% dtypes of NumPy arrays are kept
kinds = ("float16", "float32", "float64", "int32", "int64", "bool")
print([tf.constant(np.zeros(2, kind)).dtype.name for kind in kinds])

# %% a dtype as text
print(
    tf.float32,
    repr(tf.float32),
    tf.float32.name,
    tf.float32 == np.float32,
    tf.as_dtype("float32") == tf.float32,
)
print(tf.float32.is_floating, tf.int32.is_integer, tf.float32.as_numpy_dtype.__name__)

# %% a constant of a dtype
print(
    tf.constant([1, 2], tf.float32).dtype.name,
    tf.constant([1, 2], "float64").dtype.name,
    tf.constant(1.0, np.float16).dtype.name,
)

# %% floats are no int32
tf.constant(1.5, tf.int32)

# %% a text is no float32
tf.constant("a", tf.float32)

# %% a number repeated to a shape
c = tf.constant(-1.0, shape=[2, 3])
with tf.Session() as session:
    print(session.run(c).tolist())

# %% values shaped
c = tf.constant([1, 2, 3, 4], shape=[2, 2])
with tf.Session() as session:
    print(session.run(c).tolist())

# %% too few values for a shape
c = tf.constant([1, 2, 3], shape=[2, 2])
with tf.Session() as session:
    print(session.run(c).tolist())

# %% too many values for a shape
tf.constant([1, 2, 3, 4, 5], shape=[2, 2])

# %% nested lists of different lengths
tf.constant([[1, 2], [3]])

# %% a tensor is no constant value
tf.constant(tf.placeholder(tf.float32, [2]))

# %% convert_to_tensor
x = tf.placeholder(tf.float32, [2])
print(
    tf.convert_to_tensor(x) is x,
    tf.convert_to_tensor([1, 2]).dtype.name,
    tf.convert_to_tensor(1, tf.float32).dtype.name,
)

# %% convert_to_tensor changes no dtype of a tensor
tf.convert_to_tensor(tf.constant(1.0), tf.int32)

# %% convert_to_tensor of a float array to float32
print(tf.convert_to_tensor(np.ones(2), tf.float32).dtype.name)

# %% convert_to_tensor of None
tf.convert_to_tensor(None)

# %% convert_to_tensor of a list of tensors stacks them
a, b = tf.constant(1.0), tf.constant(2.0)
t = tf.convert_to_tensor([a, b, 3.0])
with tf.Session() as session:
    print(session.run(t).tolist(), t.op.type)

# %% two dtypes do not add
tf.constant([1.0]) + tf.constant([1])

# %% float32 and a float64 array
tf.constant([1.0]) + np.ones(1)

# %% float32 and an int
with tf.Session() as session:
    print(session.run(tf.constant([1.5]) + 1).tolist())

# %% int32 and a float
tf.constant([1]) + 1.5

# %% division of integers
x = tf.constant([7, -7])
y = x / 2
with tf.Session() as session:
    print(y.dtype.name, session.run(y).tolist(), session.run(x // 2).tolist(), session.run(x % 3).tolist())

# %% comparison gives booleans
x = tf.constant([1.0, 2.0, 3.0])
with tf.Session() as session:
    print((x > 2.0).dtype.name, session.run(x > 2.0).tolist(), session.run(tf.equal(x, 2.0)).tolist())

# %% in TensorFlow 1 == compares the objects
x = tf.constant([1.0])
print(x == x, x == tf.constant([1.0]), x == 1.0)

# %% operators and broadcasting
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
row = tf.constant([10.0, 20.0])
with tf.Session() as session:
    print(session.run([x + row, x - 1.0, 2.0 * x, x / row, -x, x**2.0, abs(-x)]))

# %% matmul by the operator
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.Session() as session:
    print(session.run(x @ x).tolist())

# %% indexing
x = tf.reshape(tf.range(12), [3, 4])
with tf.Session() as session:
    print(
        [value.tolist() for value in session.run([x[0], x[:, 1], x[1:, ::2], x[-1, -1], x[..., None][0, 0]])]
    )

# %% an index that is too large
x = tf.constant([1, 2, 3])
x[3]

# %% cast
with tf.Session() as session:
    print(
        session.run(
            [
                tf.cast([1.7, -1.7], tf.int32),
                tf.cast([1, 0], tf.float32),
                tf.cast([1, 0], tf.bool),
                tf.cast([True], tf.float32),
            ]
        )
    )

# %% means of integers are rounded towards zero
with tf.Session() as session:
    print(session.run([tf.reduce_mean([1, 2]), tf.reduce_mean([-1, -2]), tf.reduce_mean([1.0, 2.0])]))

# %% range, fill, zeros_like, ones_like, one_hot
x = tf.constant([[1.0, 2.0]])
with tf.Session() as session:
    print(
        [
            value.tolist()
            for value in session.run(
                [
                    tf.range(3),
                    tf.range(1, 7, 2),
                    tf.fill([2], 7),
                    tf.zeros_like(x),
                    tf.ones_like(x),
                    tf.one_hot([0, 2], 3),
                ]
            )
        ]
    )

# %% squeeze, expand_dims, transpose
x = tf.constant([[[1], [2]]])
with tf.Session() as session:
    print(
        [
            value.tolist()
            for value in session.run(
                [tf.squeeze(x), tf.expand_dims([1, 2], 0), tf.transpose([[1, 2], [3, 4]])]
            )
        ]
    )

# %% concat, stack, pad
with tf.Session() as session:
    print(
        [
            value.tolist()
            for value in session.run(
                [
                    tf.concat([[1, 2], [3]], 0),
                    tf.stack([[1, 2], [3, 4]], 1),
                    tf.pad([[1, 2]], [[0, 1], [1, 0]]),
                ]
            )
        ]
    )

# %% reductions
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.Session() as session:
    print(
        session.run(
            [tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.reduce_max(x, 1), tf.reduce_sum(x, 1, keepdims=True)]
        )
    )

# %% argmax, equal and the accuracy
scores = tf.constant([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]])
labels = tf.constant([1, 0, 0], tf.int64)
correct = tf.equal(tf.argmax(scores, 1), labels)
with tf.Session() as session:
    print(
        session.run(tf.argmax(scores, 1)).tolist(),
        round(float(session.run(tf.reduce_mean(tf.cast(correct, tf.float32)))), 4),
    )

# %% exp, log, sqrt, square, maximum
with tf.Session() as session:
    print(
        session.run(
            [
                tf.exp(0.0),
                tf.log(1.0),
                tf.sqrt(4.0),
                tf.square(3.0),
                tf.maximum([1.0, 5.0], 2.0),
                tf.minimum(1.0, 2.0),
            ]
        )
    )

# %% square of a boolean
tf.square(True)

# %% add_n
with tf.Session() as session:
    print(session.run(tf.add_n([tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])])).tolist())

# %% softmax and its logarithm
with tf.Session() as session:
    print(
        session.run(tf.nn.softmax([[0.0, 0.0]])).tolist(),
        np.round(session.run(tf.nn.log_softmax([[0.0, 0.0]])), 4).tolist(),
    )

# %% cross entropy
with tf.Session() as session:
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=[[2.0, 0.0], [2.0, 0.0]])
    print(np.round(session.run(loss), 4).tolist())
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=[[0.5, 0.5]], logits=[[2.0, 0.0]])
    print(np.round(session.run(loss), 4).tolist())

# %% cross entropy by position
tf.nn.sparse_softmax_cross_entropy_with_logits([0, 1], [[2.0, 0.0], [2.0, 0.0]])

# %% a label out of range
with tf.Session() as session:
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 5], logits=[[2.0, 0.0], [2.0, 0.0]])
    print(session.run(loss).tolist())

# %% random values have a shape and a dtype
made = [
    tf.random_normal([2, 3]),
    tf.truncated_normal([4], stddev=0.1),
    tf.random_uniform([2], 0, 10, tf.int32),
]
with tf.Session() as session:
    values = session.run(made)
print([(value.shape, value.dtype.name) for value in values], bool(np.abs(values[1]).max() <= 0.2))

# %% random values differ from run to run
x = tf.random_normal([4])
with tf.Session() as session:
    print(np.array_equal(session.run(x), session.run(x)))

# %% random values of a seed repeat from session to session
x = tf.random_normal([4], seed=1)
values = []
for _ in range(2):
    with tf.Session() as session:
        values.append(session.run([x, x]))
print(np.array_equal(values[0][0], values[1][0]), np.array_equal(values[0][0], values[0][1]))

# %% dropout leaves the shape and scales
x = tf.ones([1000])
with tf.Session() as session:
    value = session.run(tf.nn.dropout(x, rate=0.5))
print(value.shape, sorted(set(value.tolist())))
