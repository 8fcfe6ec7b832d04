"""Record the gradients that real TensorFlow computes, and the nodes that tf.gradients adds to a graph.

    pip install tensorflow-cpu==2.21.0 && python record_tensorflow_gradients.py

It writes tensorflow_gradients.npz (values, float64, from a tape) and tensorflow_gradients.json (nodes).
`CASES`, `inputs_of` and `GRAPHS` are what both sides run: the tests call them with ``teachconv.graph``. oneDNN's
own kernels are off, so that like is compared with like.
"""

import json
import os
import zlib
from pathlib import Path

import numpy as np

WINDOWS = {"strides": [1, 2, 2, 1], "padding": "SAME"}


def word(tf, name):
    """A function by its name: TensorFlow has some of them only in tf.math."""
    return getattr(tf, name, None) or getattr(tf.math, name)


def nn(tf, name):
    """A function of tf.nn by its name: teachconv.graph has some of them in another file."""
    if hasattr(tf.nn, name):
        return getattr(tf.nn, name)
    from teachconv.graph.ops import nn_impl

    return getattr(nn_impl, name)


def unary(name):
    return lambda tf, x: word(tf, name)(x)


def binary(name):
    return lambda tf, x, y: word(tf, name)(x, y)


def pooled(name, ksize, strides, padding):
    return lambda tf, x: getattr(tf.nn, name)(x, ksize, strides, padding)


def explicit(tf, x, w):
    return tf.nn.conv2d(x, w, [1, 2, 1, 1], [[0, 0], [1, 0], [2, 1], [0, 0]])


def depthwise(tf, x, w):
    return tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME")


def transposed(tf, x, w):
    return tf.nn.conv2d_transpose(x, w, [2, 8, 6, 3], [1, 2, 2, 1], "SAME")


def of_float32(function):
    """MaxPool3D has no float64 in TensorFlow, nor a gradient without a data_format; the inputs fit float32."""
    return lambda tf, x: tf.cast(function(tf, tf.cast(x, "float32")), "float64")


LABELS = np.array([2, 0, 1], "int32")
POSITIVE = ("log", "log1p", "sqrt", "rsqrt", "pow", "truediv")

CASES = {  # name: function of (tf, *inputs), shapes of the inputs
    "conv2d": (lambda tf, x, w: tf.nn.conv2d(x, w, **WINDOWS), (2, 5, 4, 2), (3, 3, 2, 3)),
    "conv2d valid": (lambda tf, x, w: tf.nn.conv2d(x, w, 1, "VALID"), (1, 4, 4, 2), (2, 3, 2, 2)),
    "conv2d explicit": (explicit, (1, 4, 4, 2), (3, 2, 2, 2)),
    "conv2d_transpose": (transposed, (2, 4, 3, 2), (3, 3, 3, 2)),
    "depthwise_conv2d": (depthwise, (2, 5, 4, 2), (3, 3, 2, 2)),
    "bias_add": (lambda tf, x, b: tf.nn.bias_add(x, b), (2, 3, 2, 3), (3,)),
    "relu": (lambda tf, x: tf.nn.relu(x), (3, 5)),
    "max_pool": (pooled("max_pool", 2, 2, "VALID"), (2, 5, 4, 2)),
    "max_pool overlapping": (pooled("max_pool", 3, 2, "SAME"), (1, 5, 6, 2)),
    "avg_pool": (pooled("avg_pool", 3, 2, "SAME"), (1, 5, 6, 2)),
    "softmax": (lambda tf, x: tf.nn.softmax(x), (3, 4)),
    "log_softmax": (lambda tf, x: tf.nn.log_softmax(x), (3, 4)),
    "softmax cross-entropy": (  # its gradient is that of labels whose sum is 1
        lambda tf, y, x: tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(y), x),
        (3, 4),
        (3, 4),
    ),
    "sparse cross-entropy": (
        lambda tf, x: tf.nn.sparse_softmax_cross_entropy_with_logits(LABELS, x),
        (3, 4),
    ),
    "sigmoid cross-entropy": (
        lambda tf, y, x: nn(tf, "sigmoid_cross_entropy_with_logits")(y, x),
        (3, 4),
        (3, 4),
    ),
    "softplus": (lambda tf, x: tf.nn.softplus(x), (3, 4)),
    "elu": (lambda tf, x: tf.nn.elu(x), (3, 4)),
    "batch_normalization": (
        lambda tf, x, mean, variance, offset, scale: nn(tf, "batch_normalization")(
            x, mean, tf.exp(variance), offset, scale, 0.01
        ),
        (2, 3, 4),
        *[(4,)] * 4,
    ),
    "separable_conv2d": (
        lambda tf, x, d, p: nn(tf, "separable_conv2d")(x, d, p, [1, 2, 2, 1], "SAME"),
        (1, 5, 4, 2),
        (3, 3, 2, 2),
        (1, 1, 4, 3),
    ),
    "pool": (lambda tf, x: nn(tf, "pool")(x, [2, 3], "AVG", [2, 1], "SAME"), (1, 5, 6, 2)),
    "matmul": (lambda tf, a, b: tf.matmul(a, b), (3, 4), (4, 2)),
    "matmul transpose_a": (lambda tf, a, b: tf.matmul(a, b, transpose_a=True), (4, 3), (4, 2)),
    "matmul transpose_b": (lambda tf, a, b: tf.matmul(a, b, transpose_b=True), (3, 4), (2, 4)),
    "matmul transpose both": (lambda tf, a, b: tf.matmul(a, b, True, True), (4, 3), (2, 4)),
    "add": (binary("add"), (2, 3, 4), (3, 1)),
    "subtract": (binary("subtract"), (3, 4), (2, 1, 4)),
    "multiply": (binary("multiply"), (2, 3), (3,)),
    "truediv": (binary("truediv"), (2, 1, 3), (4, 1)),
    "pow": (binary("pow"), (2, 3), (3,)),
    "maximum": (binary("maximum"), (3, 4), (4,)),
    "minimum": (binary("minimum"), (3, 1), (4,)),
    **{
        name: (unary(name), (3, 4))
        for name in ("negative", "abs", "square", "sqrt", "rsqrt", "exp", "log", "log1p", "tanh", "sigmoid")
    },
    "where": (lambda tf, x, y: tf.where([[True], [False], [True]], x, y), (3, 4), (4,)),
    "add_n": (lambda tf, x, y: tf.add_n([x, y, x]), (3, 2), (3, 2)),
    "reduce_sum": (lambda tf, x: tf.reduce_sum(x), (2, 3, 2)),
    "reduce_sum axis": (lambda tf, x: tf.reduce_sum(x, [0, 2]), (2, 3, 2)),
    "reduce_mean": (lambda tf, x: tf.reduce_mean(x, 1, keepdims=True), (2, 3, 2)),
    "reduce_mean all": (lambda tf, x: tf.reduce_mean(x), (2, 3, 2)),
    "reduce_max": (lambda tf, x: tf.reduce_max(x, -1), (3, 5)),
    "reduce_min": (lambda tf, x: tf.reduce_min(x, 0, keepdims=True), (3, 5)),
    "reshape": (lambda tf, x: tf.reshape(x, [-1, 2]), (3, 4)),
    "transpose": (lambda tf, x: tf.transpose(x, [2, 0, 1]), (2, 3, 4)),
    "squeeze": (lambda tf, x: tf.squeeze(x, [1]), (3, 1, 2)),
    "expand_dims": (lambda tf, x: tf.expand_dims(x, 1), (3, 2)),
    "pad": (lambda tf, x: tf.pad(x, [[1, 0], [2, 1]]), (3, 2)),
    "pad reflect": (lambda tf, x: tf.pad(x, [[2, 1], [0, 3]], "REFLECT"), (3, 4)),
    "pad symmetric": (lambda tf, x: tf.pad(x, [[3, 1], [0, 4]], "symmetric"), (3, 4)),
    "slice": (lambda tf, x: tf.slice(x, [1, 0], [2, 3]), (4, 4)),
    "strided_slice": (lambda tf, x: x[1:, ::2, 1], (3, 5, 2)),
    "tile": (lambda tf, x: tf.tile(x, [2, 3]), (2, 3)),
    "broadcast_to": (lambda tf, x: tf.broadcast_to(x, [4, 2, 3]), (2, 1)),
    "gather": (lambda tf, x: tf.gather(x, [2, 0, 2]), (3, 2)),
    "stack": (lambda tf, x, y: tf.stack([x, y, x], 1), (3, 2), (3, 2)),
    "unstack": (lambda tf, x: tf.unstack(x, axis=1)[1], (3, 2)),
    "concat": (lambda tf, x, y: tf.concat([x, y], -1), (2, 3), (2, 2)),
    "cast": (lambda tf, x: tf.cast(tf.cast(x, "float32"), "float64"), (3, 2)),
    "conv1d": (lambda tf, x, w: tf.nn.conv1d(x, w, 2, "SAME"), (2, 7, 3), (3, 3, 4)),
    "conv1d_transpose": (
        lambda tf, x, w: tf.nn.conv1d_transpose(x, w, [2, 8, 3], 2, "SAME"),
        (2, 4, 2),
        (3, 3, 2),
    ),
    "conv3d": (
        lambda tf, x, w: tf.nn.conv3d(x, w, [1, 2, 1, 2, 1], "SAME"),
        (1, 4, 3, 5, 2),
        (2, 3, 2, 2, 3),
    ),
    "conv3d_transpose": (
        lambda tf, x, w: tf.nn.conv3d_transpose(x, w, [1, 4, 3, 5, 3], [1, 2, 1, 2, 1], "SAME"),
        (1, 2, 3, 3, 2),
        (2, 3, 2, 3, 2),
    ),
    "max_pool 1": (lambda tf, x: tf.nn.max_pool(x, 3, 2, "SAME", "NWC"), (2, 7, 3)),
    "max_pool 3": (of_float32(lambda tf, x: tf.nn.max_pool(x, 2, 2, "SAME", "NDHWC")), (1, 3, 5, 4, 2)),
    "avg_pool 1": (lambda tf, x: tf.nn.avg_pool(x, 3, 2, "SAME", "NWC"), (2, 7, 3)),
    "avg_pool 3": (of_float32(lambda tf, x: tf.nn.avg_pool(x, 2, 2, "SAME", "NDHWC")), (1, 3, 5, 4, 2)),
    "stop_gradient": (lambda tf, x: x * tf.stop_gradient(x), (3, 2)),
}

TIES = {  # MaxPool on images with equal cells: which of them gets the gradient
    "2, stride 2, VALID": (2, 2, "VALID"),
    "3, stride 2, SAME": (3, 2, "SAME"),
    "3, stride 1, VALID": (3, 1, "VALID"),
}


def inputs_of(name):
    """Seeded inputs: multiples of 1/8 that all differ, so that no two are close to a tie."""
    shapes = CASES[name][1:]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    count = sum(int(np.prod(shape)) for shape in shapes)
    numbers = rng.permutation(np.arange(count) - count // 2 + (1 if name in POSITIVE else 0.5)) / 8
    if name in POSITIVE:
        numbers = np.abs(numbers) + 0.5
    parts = np.split(numbers, np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def weights_of(shape, dtype="float64"):
    """What each element of a result counts in the sum that is differentiated."""
    return ((np.arange(int(np.prod(shape))) * 5 % 7 - 3) / 2).reshape(shape).astype(dtype)


def gradients_of(tf, name):
    """The gradients of a case's inputs."""
    function = CASES[name][0]
    inputs = [tf.constant(array) for array in inputs_of(name)]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(tf, *inputs)
    # the gradient of gather is sparse in TensorFlow
    return [
        np.asarray(grad if not hasattr(grad, "values") else tf.convert_to_tensor(grad))
        for grad in tape.gradient(result, inputs, weights_of(result.shape))
    ]


def tie_images():
    """Images with many equal cells."""
    return np.random.default_rng(1).integers(0, 3, (2, 6, 5, 2)).astype("float32")


# --- graphs -----------------------------------------------------------------------------------------


def network(tf):
    images = tf.placeholder(tf.float32, [None, 8, 8, 1], name="images")
    filters = tf.Variable(np.ones((3, 3, 1, 4), "float32"), name="filters")
    biases = tf.Variable(np.zeros(4, "float32"), name="biases")
    dense = tf.Variable(np.ones((64, 3), "float32"), name="dense")
    hidden = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, filters, [1, 1, 1, 1], "SAME"), biases))
    pooled = tf.nn.max_pool(hidden, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    scores = tf.matmul(tf.reshape(pooled, [-1, 64]), dense)
    loss = tf.reduce_mean(tf.square(scores), name="loss")
    tf.gradients(loss, [filters, biases, dense, images])


def arithmetic(tf):
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    y = tf.placeholder(tf.float32, [3], name="y")
    z = (x + y) * (x - y) / y
    z = tf.exp(z) - tf.square(z) + tf.abs(-z)
    tf.gradients(tf.reduce_sum(z, name="total"), [x, y])


def unknown_sizes(tf):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [None, 1], name="y")
    tf.gradients(tf.reduce_mean(x * y, axis=[0], name="mean"), [x, y], name="backward")


def second_order(tf):
    x = tf.placeholder(tf.float32, [1, 4, 4, 1], name="x")
    w = tf.placeholder(tf.float32, [3, 3, 1, 2], name="w")
    y = tf.square(tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID"))
    dx, _ = tf.gradients(y, [x, w])
    tf.gradients(dx, [w], name="again")


def transpose_and_average(tf):
    x = tf.placeholder(tf.float32, [2, 4, 4, 3], name="x")
    w = tf.Variable(np.ones((2, 2, 5, 3), "float32"), name="w")
    up = tf.nn.conv2d_transpose(x, w, [2, 8, 8, 5], [1, 2, 2, 1], "SAME", name="up")
    mean = tf.nn.avg_pool(tf.transpose(up, [0, 2, 1, 3]), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    tf.gradients(tf.nn.softmax(tf.reshape(mean, [2, 80])), [w], grad_ys=[np.ones((2, 80), "float32")])


def signals(tf):
    x = tf.placeholder(tf.float32, [5, 8, 3], name="x")
    w = tf.Variable(np.ones((3, 3, 4), "float32"), name="w")
    up = tf.Variable(np.ones((3, 2, 4), "float32"), name="up")
    down = tf.nn.conv1d(x, w, 2, "SAME")
    tf.gradients(tf.nn.conv1d_transpose(down, up, [5, 8, 2], 2), [x, w, up])


def volumes(tf):
    x = tf.placeholder(tf.float32, [None, 4, 6, 6, 3], name="x")
    w = tf.Variable(np.ones((3, 3, 3, 3, 4), "float32"), name="w")
    up = tf.Variable(np.ones((3, 3, 3, 2, 4), "float32"), name="up")
    down = tf.nn.conv3d(x, w, [1, 2, 2, 2, 1], "SAME")
    tf.gradients(tf.nn.conv3d_transpose(down, up, [5, 4, 6, 6, 2], [1, 2, 2, 2, 1]), [x, w, up])


def optimizers(tf):
    w = tf.Variable([1.0, 2.0], name="w")
    b = tf.Variable(3.0, name="b")
    count = tf.Variable(0, trainable=False, name="count")
    loss = tf.reduce_sum(tf.square(w) * b, name="loss")
    tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True).minimize(loss, var_list=[w])
    tf.train.AdamOptimizer(0.01).minimize(loss, global_step=count)


GRAPHS = {
    function.__name__: function
    for function in (
        *(network, arithmetic, unknown_sizes, second_order, transpose_and_average, signals, volumes),
        optimizers,
    )
}

STEPS = {  # a few steps of each optimizer: name, arguments
    "descent": ("GradientDescentOptimizer", {"learning_rate": 0.25}),
    "momentum": ("MomentumOptimizer", {"learning_rate": 0.125, "momentum": 0.75}),
    "nesterov": ("MomentumOptimizer", {"learning_rate": 0.125, "momentum": 0.75, "use_nesterov": True}),
    "rmsprop": (
        "RMSPropOptimizer",
        {"learning_rate": 0.125, "decay": 0.75, "momentum": 0.5, "epsilon": 0.0625},
    ),
    "decay": ("GradientDescentOptimizer", {"learning_rate": (0.25, 2, 0.5)}),
    "stairs": ("GradientDescentOptimizer", {"learning_rate": (0.25, 2, 0.5, True)}),
    "adam": ("AdamOptimizer", {"learning_rate": 0.125, "beta1": 0.75, "beta2": 0.875, "epsilon": 0.0625}),
}


def steps_of(tf, name, count=5):
    """A variable after each of a few steps, in float64; several numbers as learning rate are those of its decay."""
    optimizer, arguments = STEPS[name]
    w, count_of_steps = tf.Variable(np.array([1.0, -2.0, 0.5]), name="w"), tf.Variable(0, trainable=False)
    rate = arguments["learning_rate"]
    if isinstance(rate, tuple):
        decayed = tf.train.exponential_decay(np.float64(rate[0]), count_of_steps, *rate[1:])
        arguments = arguments | {"learning_rate": decayed}
    loss = tf.reduce_sum(w * w * w * w) / 4.0
    step = getattr(tf.train, optimizer)(**arguments).minimize(loss, count_of_steps)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = []
        for _ in range(count):
            session.run(step)
            values.append(session.run(w))
    return np.array(values)


if __name__ == "__main__":
    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    import tensorflow as tf

    versions = {"tensorflow": tf.__version__, "numpy": np.__version__}
    arrays = {}
    for case in CASES:
        for index, gradient in enumerate(gradients_of(tf, case)):
            arrays[f"{case}/{index}"] = gradient
    for case, (ksize, strides, padding) in TIES.items():
        images = tf.constant(tie_images())
        with tf.GradientTape() as tape:
            tape.watch(images)
            result = tf.nn.max_pool2d(images, ksize, strides, padding)
        grad = weights_of(result.shape, "float32")
        arrays[f"ties {case}"] = tape.gradient(result, images, grad).numpy()
    here = Path(__file__).parents[2] / "tests" / "recorded"
    tf.compat.v1.disable_resource_variables()  # a variable of TensorFlow 1 is a reference, as ours
    graphs = {}
    for title, build in GRAPHS.items():
        with tf.Graph().as_default() as graph:
            build(tf.compat.v1)
        graphs[title] = [
            [op.name, op.type, [tensor.name for tensor in op.inputs], [str(out.shape) for out in op.outputs]]
            for op in graph.get_operations()
        ]
    for title in STEPS:
        with tf.Graph().as_default():
            arrays[f"steps {title}"] = steps_of(tf.compat.v1, title)
    np.savez_compressed(here / "tensorflow_gradients.npz", meta=json.dumps(versions), **arrays)
    text = json.dumps({"versions": versions, "script": Path(__file__).name, "graphs": graphs}, indent=1)
    (here / "tensorflow_gradients.json").write_text(text + "\n", encoding="utf-8")
