"""tf.function: when it traces, what is a constant of the trace, and what it returns."""

import numpy as np
import tensorflow as tf


# %% Python's print runs while tracing only
@tf.function
def f(x):
    print("tracing")
    return x + 1.0


print(f(tf.constant(1.0)).numpy(), f(tf.constant(2.0)).numpy())

# %% another shape or dtype is another trace
traces = []


@tf.function
def f(x):
    traces.append((x.shape.as_list(), x.dtype.name))
    return x


for x in (tf.zeros([2]), tf.ones([2]), tf.zeros([3]), tf.zeros([2], tf.int32), tf.zeros([2, 1])):
    f(x)
print(traces)

# %% Python numbers are part of the signature
traces = []


@tf.function
def f(x):
    traces.append(x)
    return tf.constant(x)


for x in (1, 2, 1):
    f(x)
print(traces)

# %% 1, 1.0 and True are one signature
traces = []


@tf.function
def f(x):
    traces.append(x)
    return tf.constant(1)


for x in (1, 1.0, True):
    f(x)
print(traces)


# %% NumPy arrays are tensors inside
@tf.function
def f(x):
    print(tf.is_tensor(x), x.shape)
    return x * 2.0


print(f(np.ones(2, "float32")).numpy().tolist(), f(np.zeros(2, "float32")).numpy().tolist())

# %% a list is a structure
traces = []


@tf.function
def f(xs):
    traces.append(len(xs))
    return xs[0] + xs[-1]


print(
    f([tf.constant(1.0), tf.constant(2.0)]).numpy(),
    f([tf.constant(3.0)]).numpy(),
    f([tf.constant(5.0), tf.constant(2.0)]).numpy(),
    traces,
)


# %% tensors inside have no values
@tf.function
def f(x):
    return x.numpy()


f(tf.constant(1.0))


# %% inside, eager execution is off
@tf.function
def f(x):
    print(tf.executing_eagerly(), x.name.split(":")[1])
    return x


f(tf.constant(1.0))


# %% a tensor decides a branch
@tf.function
def f(x):
    if x > 0:
        return x
    return -x


print(f(tf.constant(-2.0)).numpy(), f(tf.constant(3.0)).numpy())


# %% a tensor decides a branch without AutoGraph
@tf.function(autograph=False)
def f(x):
    if x > 0:
        return x
    return -x


f(tf.constant(-2.0))


# %% a Python value decides a branch
@tf.function
def f(x, training=False):
    if training:
        return x * 2.0
    return x


print(
    f(tf.constant(1.0)).numpy(), f(tf.constant(1.0), training=True).numpy(), f(tf.constant(1.0), True).numpy()
)


# %% cond
@tf.function
def f(x):
    return tf.cond(x > 0, lambda: x, lambda: -x)


print(f(tf.constant(-2.0)).numpy(), f(tf.constant(3.0)).numpy())


# %% a loop over a Python range is unrolled
@tf.function
def f(x):
    for _ in range(3):
        x = x + x
    return x


print(
    f(tf.constant(1.0)).numpy(),
    [op.type for op in f.get_concrete_function(tf.constant(1.0)).graph.get_operations()],
)


# %% what is returned keeps its structure
@tf.function
def f(x):
    return {"double": x * 2.0, "pair": (x, [x + 1.0]), "none": None}


result = f(tf.constant(1.0))
print(result["double"].numpy(), result["pair"][0].numpy(), result["pair"][1][0].numpy(), result["none"])


# %% a Python number is returned as a tensor
@tf.function
def f():
    return 3


print(type(f()).__name__, f().numpy())


# %% nothing is returned
@tf.function
def f(x):
    x + 1.0


print(f(tf.constant(1.0)))

# %% a variable made outside is changed
v = tf.Variable(1.0)


@tf.function
def f(x):
    v.assign_add(x)
    return v.read_value()


print(f(tf.constant(2.0)).numpy(), v.numpy(), f(tf.constant(2.0)).numpy())


# %% a variable made at every call
@tf.function
def f(x):
    v = tf.Variable(1.0)
    return v * x


f(tf.constant(1.0))


# %% a variable made once
class Layer:
    def __init__(self):
        self.w = None

    @tf.function
    def __call__(self, x):
        if self.w is None:
            self.w = tf.Variable(2.0)
        return self.w * x


layer = Layer()
print(layer(tf.constant(3.0)).numpy(), layer(tf.constant(4.0)).numpy(), layer.w.numpy())

# %% a Python variable is read while tracing
scale = 2.0


@tf.function
def f(x):
    return x * scale


first = f(tf.constant(1.0)).numpy()
scale = 3.0
print(first, f(tf.constant(1.0)).numpy())


# %% a function inside a function
@tf.function
def inner(x):
    return x * 2.0


@tf.function
def outer(x):
    return inner(x) + 1.0


graph = outer.get_concrete_function(tf.constant(1.0)).graph
print(outer(tf.constant(3.0)).numpy(), [op.type for op in graph.get_operations()])


# %% an input signature
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    print("tracing", x.shape)
    return x * 2.0


print(f(tf.zeros([2])).shape, f(tf.zeros([3])).shape, f([1.0, 2.0]).numpy().tolist())


# %% an argument that the input signature does not allow
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    return x


f(tf.zeros([2, 2]))


# %% a dtype that the input signature does not allow
@tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
def f(x):
    return x


f(tf.zeros([2], tf.int32))


# %% a concrete function
@tf.function
def f(x):
    return x + 1.0


concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
print(concrete(tf.constant([1.0, 2.0])).numpy().tolist(), [x.shape.as_list() for x in concrete.inputs])


# %% operations of a traced function
@tf.function
def f(x, w):
    return tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME"))


graph = f.get_concrete_function(tf.TensorSpec([None, 4, 4, 1]), tf.TensorSpec([3, 3, 1, 2])).graph
print([(op.name, op.type) for op in graph.get_operations()])


# %% the name and the text of a function stay
@tf.function
def blur(x):
    """Blur."""
    return x


print(blur.__name__, blur.__doc__, blur.python_function is not blur)


# %% an error in a function is raised
@tf.function
def f(x):
    raise KeyError("mine")


f(tf.constant(1.0))


# %% an error of a kernel in a function
@tf.function
def f(x, n):
    return tf.reshape(x, n)


f(tf.constant([1.0, 2.0]), tf.constant([3]))

# %% a symbolic tensor that leaks
leaked = []


@tf.function
def f(x):
    leaked.append(x * 2.0)
    return x


f(tf.constant(1.0))
leaked[0] + 1.0


# %% a method
class Scale:
    def __init__(self, by):
        self.by = by

    @tf.function
    def __call__(self, x):
        return x * self.by


print(Scale(2.0)(tf.constant(3.0)).numpy(), Scale(4.0)(tf.constant(3.0)).numpy())


# %% functions run eagerly on request
@tf.function
def f(x):
    print("called", tf.executing_eagerly())
    return x


tf.config.run_functions_eagerly(True)
f(tf.constant(1.0))
f(tf.constant(1.0))
tf.config.run_functions_eagerly(False)


# %% an argument that is missing
@tf.function
def f(x, y):
    return x + y


f(tf.constant(1.0))


# %% a tensor is captured
c = tf.constant([1.0, 2.0])


@tf.function
def f(x):
    return x + c


print(f(tf.constant(1.0)).numpy().tolist())


# %% random values differ from call to call
@tf.function
def f():
    return tf.random.normal([4])


print(np.array_equal(f().numpy(), f().numpy()))


# %% conv2d in a function
@tf.function
def convolve(image, filters):
    return tf.nn.conv2d(image, filters, strides=[1, 1, 1, 1], padding="SAME")


print(convolve(tf.ones([1, 3, 3, 1]), tf.ones([3, 3, 1, 1])).numpy().ravel().tolist())


# %% retracing with Python's shapes
@tf.function
def f(x):
    print(x.shape[0] is None, tf.shape(x)[0].shape)
    return tf.reshape(x, [-1])


f(tf.zeros([2, 3]))

# %% what an assignment returns is the variable
expressions = [
    lambda v: v.value() + v.assign_add(1.0),
    lambda v: v.assign_add(1.0) + v.value(),
    lambda v: v.assign_add(1.0).value(),
    lambda v: v.assign_add(1.0).read_value(),
    lambda v: v.assign_add(1.0).value() + v.assign_add(1.0).value(),
    lambda v: v.assign_add(1.0) + v.assign_add(1.0),
    lambda v: tf.identity(v.assign_add(1.0)) + v.assign_add(1.0),
    lambda v: v.assign_add(1.0).assign_sub(3.0) + 0.0,
    lambda v: v.assign_sub(1.0).value() - v,
    lambda v: [v.value(), v.assign_add(1.0).value(), v.read_value(), v.assign(7.0)],
    lambda v: tf.stack([v, v.assign_add(1.0), v]),
    lambda v: tf.concat([[v.value()], [v.assign_add(1.0)], [v.value()]], 0),
]
for expression in expressions:
    for make in (lambda f: f, tf.function):
        v = tf.Variable(1.0)
        result = make(lambda: expression(v))()
        print(np.asarray(result).tolist(), v.numpy())

# %% an assignment orders what follows
v = tf.Variable(1.0)


@tf.function
def step():
    update = v.assign_add(1.0)
    with tf.control_dependencies([update]):
        return v.read_value() + update


print(step().numpy(), step().numpy())

# %% a list that holds a variable is read in each call
v = tf.Variable(1.0)
f = tf.function(lambda: tf.add([v, 1.0], 1.0))
print(f().numpy().tolist(), v.assign(5.0).numpy(), f().numpy().tolist())
