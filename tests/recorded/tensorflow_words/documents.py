"""Whole programs: those that people meet when they ask what conv2d does, completed where they were cut off."""

# %% a graph of TensorFlow 1: placeholder, Variable, truncated_normal, Session.run
import numpy as np
import tensorflow.compat.v1 as tf

x = tf.placeholder(tf.float32, shape=[None, 28, 28, 1], name="x")
W = tf.Variable(tf.truncated_normal([5, 5, 1, 32], stddev=0.1), name="W")
b = tf.Variable(tf.constant(0.1, shape=[32]), name="b")
h = tf.nn.relu(tf.nn.conv2d(x, W, strides=[1, 1, 1, 1], padding="SAME") + b)
pool = tf.nn.max_pool(h, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    images = np.ones((2, 28, 28, 1), "float32")
    features, pooled = sess.run([h, pool], feed_dict={x: images})

print(h)
print(features.shape, pooled.shape, features.dtype)

# %% a convolution on a 4 x 4 image, worked out by hand
import tensorflow.compat.v1 as tf

k = tf.constant([[1, 0, 1], [2, 1, 0], [0, 0, 1]], dtype=tf.float32, name="k")
i = tf.constant([[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]], dtype=tf.float32, name="i")
kernel = tf.reshape(k, [3, 3, 1, 1], name="kernel")
image = tf.reshape(i, [1, 4, 4, 1], name="image")

res = tf.squeeze(tf.nn.conv2d(image, kernel, [1, 1, 1, 1], "VALID"))
# VALID means no padding
with tf.Session() as sess:
    print(sess.run(res))

# %% one filter over every pixel: Variables of random numbers, evaluated in the default session
import tensorflow.compat.v1 as tf

input = tf.Variable(tf.random_normal([1, 3, 3, 5]))
filter = tf.Variable(tf.random_normal([1, 1, 5, 1]))
op = tf.nn.conv2d(input, filter, strides=[1, 1, 1, 1], padding="VALID")
op2 = tf.nn.conv2d(input, filter, strides=[1, 2, 2, 1], padding="SAME")

init = tf.global_variables_initializer()
with tf.Session() as sess:
    sess.run(init)
    print(input.eval().shape, filter.eval().shape)
    print(op.eval().shape, sess.run(op2).shape)

# %% a softmax regression, trained by gradient descent
import numpy as np
import tensorflow.compat.v1 as tf

x = tf.placeholder(tf.float32, [None, 4])
y_ = tf.placeholder(tf.float32, [None, 2])
W = tf.Variable(tf.zeros([4, 2]))
b = tf.Variable(tf.zeros([2]))
y = tf.matmul(x, W) + b

cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y))
train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))

points = np.float32([[1, 0, 2, 1], [0, 1, 0, 3], [2, 0, 1, 1], [0, 2, 1, 2]])
classes = np.float32([[1, 0], [0, 1], [1, 0], [0, 1]])
sess = tf.InteractiveSession()
tf.global_variables_initializer().run()
for _ in range(20):
    train_step.run({x: points, y_: classes})
print(accuracy.eval({x: points, y_: classes}), round(float(cross_entropy.eval({x: points, y_: classes})), 4))
sess.close()

# %% a Keras model with Adam and sparse categorical cross-entropy
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers, models

model = models.Sequential()
model.add(layers.Conv2D(32, (3, 3), activation="relu", input_shape=(32, 32, 3)))
model.add(layers.MaxPooling2D((2, 2)))
model.add(layers.Conv2D(64, (3, 3), activation="relu"))
model.add(layers.MaxPooling2D((2, 2)))
model.add(layers.Conv2D(64, (3, 3), activation="relu"))
model.add(layers.Flatten())
model.add(layers.Dense(64, activation="relu"))
model.add(layers.Dense(10))

model.compile(
    optimizer="adam",
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)

rng = np.random.default_rng(0)
train_images, train_labels = rng.random((16, 32, 32, 3), "float32"), rng.integers(0, 10, (16, 1))
history = model.fit(train_images, train_labels, epochs=2, batch_size=8, verbose=0)
test_loss, test_acc = model.evaluate(train_images, train_labels, verbose=0)

print([tuple(layer.output.shape) for layer in model.layers], model.count_params())
print(sorted(history.history), 0 <= test_acc <= 1, model.predict(train_images, verbose=0).shape)

# %% conv2d under tf.function
import tensorflow as tf


@tf.function
def conv(x, w):
    return tf.nn.conv2d(x, w, strides=[1, 2, 2, 1], padding="SAME")


x = tf.reshape(tf.range(25.0), [1, 5, 5, 1])
w = tf.ones([3, 3, 1, 1])
print(conv(x, w)[0, :, :, 0].numpy())
print([op.type for op in conv.get_concrete_function(x, w).graph.get_operations()])

# %% the generated file that is in no repository
import tensorflow as tf
from tensorflow.python.ops import gen_nn_ops

x = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
w = tf.ones([2, 2, 1, 1])
y = gen_nn_ops.conv2d(input=x, filter=w, strides=[1, 1, 1, 1], padding="VALID")
print(y[0, :, :, 0].numpy())
up = gen_nn_ops.conv2d_backprop_input([1, 4, 4, 1], w, y, [1, 1, 1, 1], "VALID")
print(up[0, :, :, 0].numpy())

# %% the module behind conv2d_transpose
import inspect

import tensorflow as tf

function = inspect.unwrap(tf.nn.conv2d_transpose)
gen_nn_ops = function.__globals__["gen_nn_ops"]
print(gen_nn_ops.__name__.split(".")[-1], gen_nn_ops.conv2d_backprop_input.__name__)

# %% the module behind conv2d_transpose, without unwrapping
import tensorflow as tf

print(tf.nn.conv2d_transpose.__globals__["gen_nn_ops"].conv2d_backprop_input.__name__)

# %% a step of training with a tape
import numpy as np
import tensorflow as tf

x = tf.constant(np.linspace(-1, 1, 32, dtype="float32").reshape(2, 4, 4, 1))
target = tf.zeros([2, 4, 4, 1])
w = tf.Variable(tf.ones([3, 3, 1, 1]))
losses = []
for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.conv2d(x, w, 1, "SAME") - target))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    losses.append(round(float(loss), 4))
print(losses)
