"""tf.GradientTape and the optimizers of TensorFlow 2."""

import numpy as np
import tensorflow as tf

# %% the gradient for a variable
v = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = v * v
print(tape.gradient(y, v).numpy())

# %% a constant is not watched
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = x * x
print(tape.gradient(y, x))

# %% watch
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(x * x)
print(tape.gradient(y, x).numpy().tolist())

# %% a tape is used once
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)
tape.gradient(y, x)

# %% a persistent tape is used again
x = tf.Variable(3.0)
with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = y * y
print(tape.gradient(y, x).numpy(), tape.gradient(z, x).numpy(), tape.gradient(z, y).numpy())

# %% the structure of the sources
a, b = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = a * b
grads = tape.gradient(y, {"a": a, "list": [b]})
print(grads["a"].numpy(), grads["list"][0].numpy())

# %% several targets are summed
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = [x * x, 3.0 * x]
print(tape.gradient(y, x).numpy())

# %% an unconnected source
a, b = tf.Variable(2.0), tf.Variable([3.0, 4.0])
with tf.GradientTape(persistent=True) as tape:
    y = a * a
print(
    tape.gradient(y, b),
    tape.gradient(y, b, unconnected_gradients=tf.UnconnectedGradients.ZERO).numpy().tolist(),
)

# %% unconnected gradients by a word
a, b = tf.Variable(2.0), tf.Variable([3.0, 4.0])
with tf.GradientTape() as tape:
    y = a * a
print(tape.gradient(y, b, unconnected_gradients="zero").numpy().tolist())

# %% output gradients
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = x * x
print(tape.gradient(y, x, output_gradients=tf.constant([10.0, 100.0])).numpy().tolist())

# %% watched variables
a, b, c = tf.Variable(1.0, name="a"), tf.Variable(1.0, name="b", trainable=False), tf.Variable(1.0, name="c")
with tf.GradientTape() as tape:
    y = a * b
print([v.name for v in tape.watched_variables()])

# %% variables are not watched on request
v = tf.Variable(3.0)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    y = v * v
print(tape.gradient(y, v), tape.watched_variables())

# %% second order by two tapes
x = tf.Variable(2.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x * x * x
    first = inner.gradient(y, x)
print(first.numpy(), outer.gradient(first, x).numpy())

# %% stop_gradient
x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * tf.stop_gradient(x)
print(tape.gradient(y, x).numpy())

# %% integers are not differentiated
x = tf.constant([1, 2])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
print(tape.gradient(y, x))

# %% a NumPy step leaves the tape
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.constant(np.square(x.numpy()))
print(tape.gradient(y, x))

# %% gradients of conv2d
x = tf.Variable(tf.ones([1, 4, 4, 1]))
w = tf.Variable(tf.ones([3, 3, 1, 2]))
with tf.GradientTape() as tape:
    y = tf.nn.conv2d(x, w, 2, "SAME")
dx, dw = tape.gradient(y, [x, w])
print(dx.numpy().ravel().tolist(), dw.numpy().ravel().tolist())

# %% gradients of pooling, bias and relu
x = tf.Variable(tf.reshape(tf.range(16.0) - 8.0, [1, 4, 4, 1]))
b = tf.Variable([0.5])
with tf.GradientTape() as tape:
    y = tf.nn.max_pool2d(tf.nn.relu(tf.nn.bias_add(x, b)), 2, 2, "VALID")
dx, db = tape.gradient(y, [x, b])
print(dx.numpy().ravel().tolist(), db.numpy().tolist())

# %% a jacobian
x = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = x * x
print(tape.jacobian(y, x).numpy().tolist())

# %% SGD
v = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    optimizer.apply_gradients([(tape.gradient(loss, v), v)])
print(np.round(v.numpy(), 5).tolist(), int(optimizer.iterations.numpy()))

# %% Adam
v = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.Adam(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(v * v)
    optimizer.apply_gradients(zip([tape.gradient(loss, v)], [v]))
print(np.round(v.numpy(), 4).tolist(), round(float(optimizer.learning_rate), 4))

# %% a tape inside a traced function
v = tf.Variable(3.0)


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = v * x * x
    return tape.gradient(y, v)


print(step(tf.constant(2.0)).numpy())


# %% tf.gradients inside a traced function
@tf.function
def slope(x):
    return tf.gradients(x * x, [x])[0]


print(slope(tf.constant(3.0)).numpy())


# %% a tape around a traced function
@tf.function
def square(x):
    return x * x


x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = square(x)
print(tape.gradient(y, x).numpy())

# %% a jacobian of each sample
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
print(tape.batch_jacobian(y, x).numpy().tolist())

# %% functions with kinks and their gradients
kinks = [-7.0, -1.0, -0.0, 0.0, 0.5, 5.5, 6.0, 6.5, float("inf"), -float("inf"), float("nan")]
functions = {
    "leaky_relu": tf.nn.leaky_relu,
    **{f"leaky_relu {alpha}": lambda x, alpha=alpha: tf.nn.leaky_relu(x, alpha) for alpha in (0, 0.0, 0.5, 1, 2.0, -1.0)},
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "abs": tf.abs,
    "sign": tf.sign,
    "square": tf.square,
    "maximum 0": lambda x: tf.maximum(x, 0.0),
    "0 maximum": lambda x: tf.maximum(0.0, x),
    "minimum 6": lambda x: tf.minimum(x, 6.0),
    "6 minimum": lambda x: tf.minimum(6.0, x),
    "clip 0 6": lambda x: tf.clip_by_value(x, 0.0, 6.0),
    "clip -1 0.5": lambda x: tf.clip_by_value(x, -1.0, 0.5),
    "clip 6 0": lambda x: tf.clip_by_value(x, 6.0, 0.0),
    "where": lambda x: tf.where(x > 0, x, 0.0),
    "power 0": lambda x: tf.pow(x, 0.0),
    "power 2": lambda x: tf.pow(x, 2.0),
    "floordiv": lambda x: x // 2.0,
    "0.1 floordiv": lambda x: x // 0.1,
    "mod": lambda x: x % 2.0,
    "mod inf": lambda x: x % float("inf"),
    "mod -2": lambda x: x % -2.0,
    "quotient": lambda x: 1.0 / x,
}
for dtype in ("float32", "float64"):
    x = tf.constant(kinks, dtype)
    for name, function in functions.items():
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = function(x)
            first = inner.gradient(y, x, unconnected_gradients="zero")
        print(name, y.numpy().tolist(), first.numpy().tolist())
        if not name.startswith("relu"):  # teachconv has no second derivative of these
            print(outer.gradient(first, x, unconnected_gradients="zero").numpy().tolist())

# %% reductions of equal values and their gradients
for function in (tf.reduce_max, tf.reduce_min, tf.reduce_mean, tf.nn.l2_loss, lambda x: tf.nn.max_pool2d(x[None, None, :, None], 3, 2, "SAME")):
    for numbers in ([0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 2.0, -1.0]):
        x = tf.constant(numbers)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        print(np.asarray(y).ravel().tolist(), tape.gradient(y, x).numpy().tolist())

# %% activations of integers
print(tf.nn.leaky_relu([-5, 5]).numpy().tolist(), tf.nn.relu6([-5, 5, 6, 7]).numpy().tolist(), tf.nn.relu([-5, 5]).numpy().tolist())
print(tf.nn.leaky_relu(tf.constant([-1.0], "float64"), 0.1).numpy().tolist(), tf.nn.leaky_relu(np.float16([-1]), 0.1).numpy().tolist())

# %% watched variables after the gradient
v, w = tf.Variable(1.0), tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = v * w
tape.gradient(y, v)
print(len(tape.watched_variables()), tape.watched_variables()[1] is w)

# %% a bias without channels
for shape, layout in (([2, 0], "NHWC"), ([0, 3], "NHWC"), ([2, 0, 3, 3], "NCHW"), ([2, 3, 0, 0], "NCHW")):
    b = tf.Variable(tf.zeros([shape[-1] if layout == "NHWC" else shape[1]]))
    with tf.GradientTape() as tape:
        y = tf.nn.bias_add(tf.zeros(shape), b, layout)
    print(tape.gradient(y, b).numpy().tolist(), y.shape)

# %% explicit padding in the gradients of depthwise_conv2d
x, w = tf.reshape(tf.range(16.0), [1, 4, 4, 1]), tf.reshape(tf.range(9.0), [3, 3, 1, 1])
padding = [[0, 0], [1, 1], [0, 1], [0, 0]]
with tf.GradientTape(persistent=True) as tape:
    tape.watch([x, w])
    y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], padding)
    z = tf.reduce_sum(y)
to_input = tf.nn.depthwise_conv2d_backprop_input([1, 4, 4, 1], w, tf.ones_like(y), [1, 1, 1, 1], padding)
to_filter = tf.nn.depthwise_conv2d_backprop_filter(x, [3, 3, 1, 1], tf.ones_like(y), [1, 1, 1, 1], padding)
print(to_input.numpy().ravel().tolist(), to_filter.numpy().ravel().tolist())
print(bool(tf.reduce_all(tape.gradient(z, x) == to_input)), bool(tf.reduce_all(tape.gradient(z, w) == to_filter)))

# %% a mean of means, whose parts are one list
v = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = tf.reduce_mean([tf.reduce_mean(v), tf.reduce_sum(v)])
print(y.numpy(), tape.gradient(y, v).numpy().tolist())
