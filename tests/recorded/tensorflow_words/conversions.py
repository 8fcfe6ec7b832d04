"""What NumPy's arrays and Python's numbers become beside a tensor; dtypes by their names; uint8."""

import numpy as np
import tensorflow as tf


def tell(*calls):
    for call in calls:
        try:
            result = call()
            print(result.dtype.name, np.asarray(result).tolist())
        except (TypeError, ValueError, tf.errors.InvalidArgumentError):
            print("refused")


F64, F32, F16 = np.array([1.0, 2.0]), np.float32([1, 2]), np.float16([1, 2])
I32, I64, U8, I8, B = np.int32([1, 2]), np.int64([1, 2]), np.uint8([1, 200]), np.int8([1, 2]), np.array([True, False])
ARRAYS = [F64, F32, F16, I32, I64, U8, I8, B]
SCALARS = [np.float64(1.5), np.float32(1.5), np.int64(2), np.int32(2), np.uint8(200), np.bool_(True), np.array(1.5)]
NUMBERS = [1, 1.5, True, 300, [1, 2], [1.5, 2.5], [True, False], [1, 2.5], (1, 2), range(2)]
NESTED = [[np.float64(1.5), 2.0], [1, np.float64(2)], [np.int64(1), 2], [np.float32(1.5), 2], [np.array(1.5), 2.0]]
EVERY = [*ARRAYS, *SCALARS, *NUMBERS, *NESTED]

# %% what a constant becomes
tell(*(lambda value=value: tf.constant(value) for value in EVERY if value is not I8))
tell(lambda: tf.constant(2**40), lambda: tf.constant([1, 2**40]), lambda: tf.constant([True, 2]), lambda: tf.constant([2, True]))
tell(lambda: tf.constant([]), lambda: tf.constant("a", tf.float32), lambda: tf.constant(None))

# %% a constant of a dtype
for dtype in ("float16", "float32", "float64"):
    tell(*(lambda value=value, dtype=dtype: tf.constant(value, dtype) for value in EVERY))
tell(*(lambda value=value: tf.constant(value, "int32") for value in [*ARRAYS, *NUMBERS, *NESTED]))
tell(lambda: tf.constant([0, 255], "uint8"), lambda: tf.constant([2**40], "int64"), lambda: tf.constant([1, 0], "bool"))

# %% beside float32, the tensor first
t = tf.constant([1.0, 0.0])
for op in (tf.add, tf.subtract, tf.multiply, tf.maximum, tf.truediv, tf.less, tf.equal):
    tell(*(lambda value=value, op=op: op(t, value) for value in EVERY))
tell(*(lambda value=value: t + value for value in EVERY))
tell(*(lambda value=value: tf.where([True, False], t, value) for value in EVERY))
tell(*(lambda value=value: tf.clip_by_value(t, value, value) for value in EVERY))

# %% beside float32, the tensor last
t = tf.constant([1.0, 0.0])
for op in (tf.subtract, tf.multiply, tf.maximum, tf.less, tf.equal):
    tell(*(lambda value=value, op=op: op(value, t) for value in EVERY))
tell(*(lambda value=value: value * t for value in EVERY if not isinstance(value, (tuple, range))))

# %% add converts its first argument by itself
t = tf.constant([1.0, 0.0])
tell(*(lambda value=value: tf.add(value, t) for value in EVERY))
tell(*(lambda value=value: tf.add_n([t, value]) for value in ARRAYS))

# %% beside int32
t = tf.constant([1, 0])
whole = [value for value in EVERY if type(value) in (list, tuple, range, int, float, bool) or (np.asarray(value) % 1 == 0).all()]
for op in (tf.add, tf.multiply, tf.maximum, tf.less):
    tell(*(lambda value=value, op=op: op(t, value) for value in whole))
tell(*(lambda value=value: t / value for value in (2, I64, F64, 2.5)))

# %% beside float64 and float16
for t in (tf.constant(F64), tf.constant(F16)):
    tell(*(lambda value=value, t=t: tf.multiply(t, value) for value in EVERY))
    tell(*(lambda value=value, t=t: tf.concat([t, value], 0) for value in ARRAYS))
    tell(*(lambda value=value, t=t: tf.stack([value, t]) for value in ARRAYS))

# %% two tensors of two dtypes
tell(lambda: tf.constant([1.0]) + tf.constant([1]), lambda: tf.maximum(tf.constant(F64), tf.constant(F32)))
tell(lambda: tf.constant([1]) / tf.constant([1], "int64"), lambda: tf.constant(U8) + tf.constant(I32))

# %% assign
for initial in ([0.0, 0.0], [0, 0]):
    v = tf.Variable(initial)
    tell(*(lambda value=value, v=v: (v.assign(value), v.read_value())[1] for value in ARRAYS))
    tell(*(lambda value=value, v=v: (v.assign_add(value), v.read_value())[1] for value in ARRAYS))

# %% a function of a signature
f = tf.function(lambda x: x + 1, input_signature=[tf.TensorSpec([2], tf.float32)])
tell(*(lambda value=value: f(value) for value in [*ARRAYS, [1, 2], [1.5, 2.5], (True, False)]))
tell(lambda: f(tf.constant(F64)))

# %% arrays in a function
v = tf.Variable([1.0, 0.0])
f = tf.function(lambda i: (tf.add(v, EVERY[i]), EVERY[i] * v, tf.maximum(v, EVERY[i])))
for i, value in enumerate(EVERY[:21]):
    tell(*(lambda k=k, i=i: f(i)[k] for k in range(3)))

# %% lists that hold tensors keep their gradients
x = tf.Variable([1.0, 2.0])
for function in (
    lambda x: tf.add([x[0], x[1]], 1.0) * [1.0, 3.0],
    lambda x: tf.reshape([x, x * 2.0], [4]) * [1.0, 2.0, 3.0, 4.0],
    lambda x: tf.concat([[x[0]], [x[1], 3.0]], 0) * [1.0, 2.0, 3.0],
    lambda x: tf.stack([[x[0], 2.0], [x[1], 3.0]]) * [1.0, 2.0],
    lambda x: tf.reduce_mean([x[0], 2.0 * x[1]]),
    lambda x: tf.matmul([x], [[1.0], [2.0]]),
):
    with tf.GradientTape() as tape:
        y = function(x)
    print(tape.gradient(y, x).numpy().tolist(), tf.function(function)(x).numpy().tolist())

# %% random numbers between NumPy's
for low, high in ((-np.sqrt(2.0), np.sqrt(2.0)), (np.float32(-1), 1), (np.array(0.0), np.int64(2)), (True, 3)):
    numbers = tf.random.uniform([100], low, high)
    print(numbers.dtype.name, bool(tf.reduce_all((numbers >= low) & (numbers <= high))))
print(tf.random.normal([2], np.float64(1.0), np.array(2.0)).dtype.name, tf.random.uniform([2], np.int64(1), 5, "int32").dtype.name)
tell(lambda: tf.random.uniform([2], "a"), lambda: tf.random.uniform([2], tf.constant(1)), lambda: tf.random.uniform([2], 1.5, 3, "int32"))

# %% ranges
tell(lambda: tf.range(np.float64(1.5)), lambda: tf.range(0, 3, 0.5), lambda: tf.range(tf.constant(3), delta=0.5), lambda: tf.range(np.int64(3)))
tell(lambda: tf.range(3, dtype="float"), lambda: tf.range(2.5, dtype="int32"), lambda: tf.range(3, dtype="uint8"), lambda: tf.range(2**40, 2**40 + 2))

# %% the names of dtypes
for word in ("float", float, "double", "half", "bool", bool, "float16", "bfloat16", "uint8", np.float64, np.int32, np.dtype("float64")):
    print(tf.as_dtype(word).name)
for word in (int, "int", "f4", "<f8", "d", None, "x", complex):
    try:
        tf.as_dtype(word)
    except TypeError:
        print("refused")
tell(lambda: tf.ones([1], float), lambda: tf.zeros([1], "float"), lambda: tf.cast([1], "float"), lambda: tf.cast([1], float))
tell(lambda: tf.Variable(1, dtype="float"), lambda: tf.random.uniform([1], dtype=float) * 0, lambda: tf.one_hot([0], 2, dtype="float"))
tell(lambda: tf.ones([1], int), lambda: tf.constant([1], "int"), lambda: tf.ones([1], None))
print(tf.TensorSpec([1], "float").dtype.name, tf.TensorSpec([1], float).dtype.name, tf.constant([1], "float").dtype.name)
with tf.Graph().as_default():
    print(tf.compat.v1.placeholder("float").dtype.name, tf.compat.v1.placeholder(float, [2]).dtype.name)

# %% one_hot with values
tell(lambda: tf.one_hot([0], 2, 5, 1), lambda: tf.one_hot([0], 2, 5.0, 1), lambda: tf.one_hot([0], 2, 5.0, 1.0), lambda: tf.one_hot([0], 2, 5))
tell(lambda: tf.one_hot([0], 2, 5, 1, dtype="float32"), lambda: tf.one_hot([0], 2, off_value=5), lambda: tf.one_hot([0], 2, True, False))
tell(lambda: tf.one_hot([0], 2, True), lambda: tf.one_hot([0], 2, np.float64(5), 1.0), lambda: tf.one_hot([0], 2, tf.constant(5.0), 1))
tell(lambda: tf.one_hot([0], 2, tf.constant(5.0), 1.0), lambda: tf.one_hot([0], 2, tf.constant(5.0), 1, dtype="int32"))
tell(lambda: tf.one_hot([0], 2, 5.0, 1.0, dtype="int32"), lambda: tf.one_hot([0], 2, dtype="uint8"), lambda: tf.one_hot([0], 2, dtype="bool"))
tell(lambda: tf.one_hot(tf.constant(U8), 3), lambda: tf.one_hot(np.uint8([0, 1]), 2), lambda: tf.one_hot([0.0], 2))

# %% uint8
u, m = tf.constant([200, 100, 0], tf.uint8), tf.constant([[200, 100], [3, 4]], tf.uint8)
tell(lambda: u + u, lambda: u - 1, lambda: u * u, lambda: u // 3, lambda: u % 7, lambda: u / 2, lambda: 2 / (u + 1), lambda: tf.square(u))
tell(lambda: u < 150, lambda: u == 200, lambda: u != 200, lambda: tf.maximum(u, 50), lambda: tf.where(u > 50, u, 0), lambda: tf.clip_by_value(u, 10, 150))
tell(lambda: tf.reduce_sum(u), lambda: tf.reduce_mean(u), lambda: tf.reduce_max(u), lambda: tf.reduce_min(u), lambda: tf.reduce_prod(u), lambda: tf.argmax(u))
tell(lambda: tf.reduce_mean(m, 1), lambda: tf.reduce_mean(tf.constant([], tf.uint8)), lambda: tf.reduce_max(tf.constant([], tf.uint8)))
tell(lambda: tf.add_n([u, u]), lambda: tf.nn.relu(u), lambda: tf.nn.relu6(u), lambda: tf.nn.leaky_relu(u), lambda: tf.nn.bias_add(m, tf.constant([100, 1], tf.uint8)))
tell(lambda: tf.nn.max_pool2d(m[None, :, :, None], 2, 1, "SAME"), lambda: tf.gather(u, [1]), lambda: tf.concat([u, u], 0), lambda: tf.pad(u, [[1, 1]]))
tell(lambda: tf.cast(u, "int32"), lambda: tf.cast(u, "float16"), lambda: tf.cast(u, "bool"), lambda: tf.cast([300, -1], "uint8"), lambda: tf.cast([True], "uint8"))
tell(lambda: tf.cast([255.9, 0.5], "uint8"), lambda: tf.cast(U8, "float32"), lambda: tf.cast(I8, "float32"), lambda: tf.zeros([1], "uint8"), lambda: tf.ones_like(u))
tell(lambda: tf.fill([2], tf.constant(3, tf.uint8)), lambda: tf.Variable(u).assign_add([1, 1, 1]), lambda: u[1:])
tell(lambda: -u, lambda: abs(u), lambda: tf.sign(u), lambda: u**2, lambda: tf.exp(u), lambda: tf.sqrt(u), lambda: tf.nn.softmax(m), lambda: tf.nn.l2_loss(u))
tell(lambda: tf.gather([1, 2], tf.constant([1], tf.uint8)), lambda: tf.range(tf.constant(3)), lambda: tf.logical_not(u), lambda: tf.nn.dropout(u, 0.5))
print(repr(u), str(u[0]))

# %% uint8 labels
logits = tf.constant([[1.0, 2.0], [3.0, 1.0]])
for labels in (np.uint8([1, 0]), tf.constant([1, 0], tf.uint8), np.int64([1, 0])):
    print(tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, logits).numpy().round(4))
    print(tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True).numpy().round(4).tolist())
tell(lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(np.uint8([1, 0]), logits))
for kind in ("uint8", "int32", "float64", "bool"):
    print(tf.nn.softmax_cross_entropy_with_logits(tf.constant([[0, 1], [1, 0]], "uint8").numpy().astype(kind), logits).numpy().round(4).tolist())
    print(tf.nn.softmax_cross_entropy_with_logits(tf.cast([[0, 1], [1, 0]], kind), logits).numpy().round(4).tolist())

# %% means of integers are summed in int64
tell(lambda: tf.reduce_mean([2**31 - 1, 1]), lambda: tf.reduce_mean(np.int32([-1, -(2**31)])), lambda: tf.reduce_mean(np.uint8([255] * 300)))

# %% numbers that an op does not take
tell(lambda: tf.exp(1), lambda: tf.sqrt([4]), lambda: tf.reduce_sum(True), lambda: tf.nn.relu([True]), lambda: tf.gather([1, 2], True))
tell(lambda: tf.fill([2], [1, 2]), lambda: tf.nn.dropout([1, 2], 0.5), lambda: tf.nn.dropout([1.0], np.float32(2)), lambda: tf.nn.dropout([1.0], "a"))

# %% dropout leaves zeros where infinity was
print(bool(tf.reduce_any(tf.nn.dropout([float("inf")] * 100, 0.5) == 0.0)))

# %% in a graph the first argument decides
tf1 = tf.compat.v1
with tf1.Graph().as_default():
    t = tf1.placeholder(tf1.float32, [2])
    for call in (lambda: tf1.maximum(F64, t), lambda: tf1.maximum(1, t), lambda: tf1.multiply(I64, t)):
        try:
            print(call().dtype.name)
        except (TypeError, ValueError):
            print("refused")

# %% numbers that would change
tell(lambda: tf.constant([1]) + F64 / 2, lambda: tf.constant(np.int64([2**40]), "int32"), lambda: tf.constant([300], "uint8"), lambda: tf.logical_not(F64))
