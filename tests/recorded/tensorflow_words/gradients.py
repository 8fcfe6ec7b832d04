"""tf.gradients and optimizers: values, names of nodes, unconnected tensors, second order."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def run(*tensors):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in session.run(list(tensors)):
            print(np.round(value, 4).tolist())


# %% the gradient of a square
x = tf.constant([1.0, 2.0, 3.0])
run(*tf.gradients(tf.square(x), [x]))

# %% names of the gradient's nodes
x = tf.constant([1.0, 2.0], name="x")
y = tf.reduce_sum(tf.nn.relu(x * 3.0), name="y")
(g,) = tf.gradients(y, [x])
print(g.name, g.op.type)

# %% every gradient's nodes are in a scope of their own
x = tf.constant([1.0, 2.0], name="x")
y = tf.square(x, name="y")
print(
    tf.gradients(y, x)[0].name.split("/")[:2],
    tf.gradients(y, x)[0].name.split("/")[:2],
    tf.gradients(y, x, name="mine")[0].name.split("/")[0],
)

# %% an unconnected tensor gives None
x, y = tf.constant(1.0), tf.constant(2.0)
print(tf.gradients(x * 2.0, [x, y])[1])

# %% an unconnected tensor gives zeros on request
x, y = tf.constant(1.0), tf.constant([2.0, 3.0])
run(tf.gradients(x * 2.0, [x, y], unconnected_gradients=tf.UnconnectedGradients.ZERO)[1])

# %% stop_gradient
x = tf.constant(3.0)
run(*tf.gradients(x * tf.stop_gradient(x), [x]))
print(tf.gradients(tf.stop_gradient(x) * 2.0, [x]))

# %% stop_gradients
a = tf.constant(0.0)
b = 2 * a
print(tf.gradients(a + b, [a, b], stop_gradients=[a, b])[0].op.type)
run(*tf.gradients(a + b, [a, b], stop_gradients=[a, b]))

# %% several ys are summed
x = tf.constant(2.0)
run(*tf.gradients([x * x, 3.0 * x], [x]))

# %% a tensor used twice has a sum of gradients
x = tf.constant(2.0, name="x")
(g,) = tf.gradients(x * x + x, [x])
print(g.op.type)
run(g)

# %% grad_ys weight
x = tf.constant([1.0, 2.0])
run(*tf.gradients(x * x, [x], grad_ys=[tf.constant([10.0, 100.0])]))

# %% grad_ys of another number
x = tf.constant([1.0, 2.0])
tf.gradients(x * x, [x], grad_ys=[tf.constant([10.0]), tf.constant(1.0)])

# %% second order
x = tf.constant(2.0)
y = x * x * x
(first,) = tf.gradients(y, [x])
run(first, *tf.gradients(first, [x]))

# %% the gradient for a variable
v = tf.Variable([1.0, 2.0])
run(*tf.gradients(tf.reduce_sum(v * v), [v]))

# %% the gradient of an integer
x = tf.constant([1, 2])
print(tf.gradients(x * x, [x]))

# %% the gradient through argmax
x = tf.constant([[1.0, 2.0]])
print(tf.gradients(tf.cast(tf.argmax(x, 1), tf.float32), [x]))

# %% broadcasting is summed
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
b = tf.constant([1.0, 1.0])
s = tf.constant(2.0)
run(*tf.gradients(x * s + b, [b, s]))

# %% gradients of a division
x, y = tf.constant(6.0), tf.constant(2.0)
run(*tf.gradients(x / y, [x, y]))

# %% gradients of matmul
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
w = tf.constant([[1.0, -1.0], [0.0, 2.0]])
run(*tf.gradients(tf.matmul(x, w), [x, w]))

# %% gradients of means, sums and maxima
x = tf.constant([[1.0, 4.0], [4.0, 2.0]])
run(*(tf.gradients(f(x), [x])[0] for f in (tf.reduce_mean, tf.reduce_sum, tf.reduce_max)))

# %% gradients of exp, log, sqrt
x = tf.constant([1.0, 4.0])
run(*(tf.gradients(f(x), [x])[0] for f in (tf.exp, tf.log, tf.sqrt, tf.negative, tf.tanh, tf.sigmoid)))

# %% gradients of shapes
x = tf.constant([[1.0, 2.0, 3.0]])
run(
    *(
        tf.gradients(f, [x])[0]
        for f in (
            tf.reshape(x, [3]) * [1.0, 2.0, 3.0],
            tf.transpose(x) * [[1.0], [2.0], [3.0]],
            tf.squeeze(x) * [1.0, 2.0, 3.0],
            tf.pad(x, [[0, 0], [1, 1]]) * [[9.0, 1.0, 2.0, 3.0, 9.0]],
        )
    )
)

# %% the gradient of relu at zero
x = tf.constant([-1.0, 0.0, 1.0])
run(*tf.gradients(tf.nn.relu(x), [x]))

# %% the gradient of max_pool at a tie
x = tf.ones([1, 2, 2, 1])
run(*tf.gradients(tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), [x]))

# %% the gradient of avg_pool
x = tf.ones([1, 3, 3, 1])
run(*tf.gradients(tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [x]))

# %% the gradients of conv2d are two convolutions
x = tf.ones([1, 4, 4, 1], name="x")
w = tf.ones([3, 3, 1, 2], name="w")
y = tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME", name="y")
dx, dw = tf.gradients(y, [x, w])
print(dx.op.type, dw.op.type, dx.name, dw.name)
run(dx, dw)

# %% the gradient of conv2d_transpose is conv2d
x = tf.ones([1, 2, 2, 1], name="x")
w = tf.ones([3, 3, 1, 1], name="w")
y = tf.nn.conv2d_transpose(x, w, [1, 4, 4, 1], [1, 2, 2, 1], "SAME", name="y")
dx, dw = tf.gradients(y, [x, w])
print(dx.op.type, dw.op.type)
run(dx, dw)

# %% the second order of conv2d
x = tf.ones([1, 3, 3, 1])
w = tf.ones([2, 2, 1, 1])
y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID")
(dx,) = tf.gradients(y * y, [x])
run(*tf.gradients(dx, [w]))

# %% the gradient of depthwise_conv2d
x = tf.ones([1, 3, 3, 2])
w = tf.ones([2, 2, 2, 1])
dx, dw = tf.gradients(tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), [x, w])
print(dx.op.type, dw.op.type)
run(dx, dw)

# %% the gradient of bias_add
x, b = tf.ones([1, 2, 2, 3]), tf.zeros([3])
run(tf.gradients(tf.nn.bias_add(x, b), [b])[0])

# %% the gradient of softmax cross entropy
logits = tf.constant([[2.0, 0.0, 1.0]])
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=logits)
run(*tf.gradients(loss, [logits]))

# %% the gradient of softmax and log_softmax
x = tf.constant([[1.0, 2.0]])
run(tf.gradients(tf.nn.softmax(x)[0, 0], [x])[0], tf.gradients(tf.nn.log_softmax(x)[0, 0], [x])[0])

# %% with an unknown batch
x = tf.placeholder(tf.float32, [None, 4, 4, 1])
w = tf.Variable(tf.ones([3, 3, 1, 1]))
(dx,) = tf.gradients(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), [x])
print(dx.shape.as_list())
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run(dx, {x: np.ones((2, 4, 4, 1))}).sum())

# %% a step of gradient descent
v = tf.Variable([1.0, 2.0], name="v")
train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v * v))
print(train.name, train.type)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(train)
    print(np.round(session.run(v), 6).tolist())

# %% nodes of an optimizer
v = tf.Variable([1.0, 2.0], name="v")
tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(v * v))
print([(op.name, op.type) for op in tf.get_default_graph().get_operations() if op.type.startswith("Apply")])

# %% momentum
v = tf.Variable([1.0, 2.0], name="v")
train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(v * v))
print([variable.name for variable in tf.global_variables()])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(train)
    print(np.round(session.run(v), 5).tolist())

# %% Adam
v = tf.Variable([1.0, 2.0], name="v")
train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(v * v))
print([variable.name for variable in tf.global_variables()])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(train)
    print(np.round(session.run(v), 5).tolist())

# %% gradients and variables of an optimizer
v = tf.Variable([1.0, 2.0], name="v")
optimizer = tf.train.GradientDescentOptimizer(1.0)
pairs = optimizer.compute_gradients(tf.reduce_sum(v * v))
print([(variable.name, gradient.shape.as_list()) for gradient, variable in pairs])
train = optimizer.apply_gradients([(gradient * 0.5, variable) for gradient, variable in pairs])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(train)
    print(session.run(v).tolist())

# %% a loss without variables
tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))

# %% a loss that no variable reaches
tf.Variable(1.0)
tf.train.GradientDescentOptimizer(0.1).minimize(tf.constant(1.0))

# %% global_step counts
v = tf.Variable(1.0)
step = tf.Variable(0, trainable=False)
train = tf.train.GradientDescentOptimizer(0.1).minimize(v * v, global_step=step)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(3):
        session.run(train)
    print(session.run(step))


# %% a gradient of one's own
@tf.RegisterGradient("TwiceTheGradient")
def twice(op, grad):
    return 2.0 * grad


x = tf.constant([1.0, 2.0])
with tf.get_default_graph().gradient_override_map({"Identity": "TwiceTheGradient"}):
    y = tf.identity(x)
run(*tf.gradients(y, [x]))

# %% an op without a gradient
x = tf.constant([1.0, 2.0])
with tf.get_default_graph().gradient_override_map({"Identity": "NobodyRegisteredThis"}):
    y = tf.identity(x)
tf.gradients(y, [x])
