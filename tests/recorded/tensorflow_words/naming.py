"""Names of nodes, scopes, and what can be looked up in a graph."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

# %% a name that is taken gets a number
print([tf.constant(1.0, name="a").name for _ in range(3)])

# %% names differ in more than case
print([tf.constant(1.0, name=name).name for name in ("x", "X", "x", "X_1")])

# %% without a name the op gives it
x = tf.placeholder(tf.float32, [2, 2])
made = [x, tf.constant(1.0), tf.zeros([2]), tf.ones([2]), tf.nn.relu(x), tf.matmul(x, x), tf.reshape(x, [4])]
made += [tf.squeeze(x), tf.transpose(x), tf.identity(x), tf.cast(x, tf.int32), tf.shape(x)]
print([(tensor.name, tensor.op.type) for tensor in made])

# %% names of the operators
x = tf.placeholder(tf.float32, [2, 2], name="x")
y = tf.placeholder(tf.float32, [2, 2], name="y")
made = [x + y, x - y, x * y, x / y, -x, x @ y, x**2.0, x > y, x >= y, x < y, x <= y]
print([(tensor.name, tensor.op.type) for tensor in made])

# %% names of operators with a number on the left
x = tf.placeholder(tf.float32, [2], name="x")
print([tensor.name for tensor in (1.0 + x, 1.0 - x, 2.0 * x, 1.0 / x)])

# %% the constant that an argument becomes
x = tf.placeholder(tf.float32, [2], name="x")
x + 1.0
tf.add(x, 2.0, name="plus")
print([op.name for op in tf.get_default_graph().get_operations()])

# %% a scope that is opened twice gets a number
names = []
for _ in range(2):
    with tf.name_scope("layer"):
        names.append(tf.constant(1.0, name="a").name)
print(names)

# %% a scope that is entered again by its string keeps its name
with tf.name_scope("layer") as scope:
    tf.constant(1.0, name="a")
with tf.name_scope(scope):
    again = tf.constant(1.0, name="a")
print(scope, again.name)

# %% scopes inside scopes
with tf.name_scope("a"):
    with tf.name_scope("b"):
        inner = tf.constant(1.0)
    with tf.name_scope("b"):
        second = tf.constant(1.0)
    with tf.name_scope(None):
        outside = tf.constant(1.0)
print(inner.name, second.name, outside.name)

# %% a scope and a node share one set of names
tf.constant(1.0, name="a")
with tf.name_scope("a"):
    print(tf.constant(1.0, name="b").name)
tf.constant(1.0, name="c/d")
with tf.name_scope("c"):
    print(tf.constant(1.0, name="e").name)

# %% a name ending in a slash is used as it is
print(tf.constant(1.0, name="a").name, tf.constant(1.0, name="b/").name)

# %% a root name must not begin with an underscore
tf.constant(1.0, name="_x")

# %% inside a scope a name may begin with an underscore
with tf.name_scope("a"):
    print(tf.constant(1.0, name="_x").name)

# %% a name must not have a space
tf.constant(1.0, name="a b")

# %% a scope's name is checked too
with tf.name_scope("a:b"):
    pass

# %% unique_name reserves a name
graph = tf.get_default_graph()
print(
    graph.unique_name("a"),
    graph.unique_name("a"),
    graph.unique_name("b", mark_as_used=False),
    graph.unique_name("b"),
)

# %% the nodes of a Variable
tf.Variable([1.0, 2.0], name="w")
print([(op.name, op.type) for op in tf.get_default_graph().get_operations()])

# %% the nodes of a Variable with random initial values
tf.Variable(tf.truncated_normal([3, 3], stddev=0.1), name="w")
print([(op.name, op.type) for op in tf.get_default_graph().get_operations()])

# %% two Variables without a name
print(tf.Variable(1.0).name, tf.Variable(1.0).name, tf.Variable(1.0).op.name)

# %% a Variable in a scope
with tf.name_scope("conv1"):
    w = tf.Variable(1.0, name="w")
print(w.name, w.op.name, w.initializer.name, w.value().name)

# %% names of a convolution and its bias
x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
w = tf.Variable(tf.ones([3, 3, 1, 4]), name="w")
y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), tf.zeros([4])))
print(y.name, [tensor.name for tensor in y.op.inputs], [tensor.name for tensor in y.op.inputs[0].op.inputs])
print([tensor.name for tensor in y.op.inputs[0].op.inputs[0].op.inputs])

# %% conv2d_transpose is the node Conv2DBackpropInput
x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
w = tf.placeholder(tf.float32, [3, 3, 1, 2], name="w")
y = tf.nn.conv2d_transpose(x, w, [1, 8, 8, 1], [1, 2, 2, 1], "SAME")
print(y.name, y.op.type, [tensor.name for tensor in y.op.inputs])

# %% depthwise_conv2d is the node DepthwiseConv2dNative
x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
w = tf.placeholder(tf.float32, [3, 3, 2, 1], name="w")
y = tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME")
print(y.name, y.op.type)

# %% names of pooling
x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
made = [
    tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
    tf.nn.avg_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
]
print([(tensor.name, tensor.op.type) for tensor in made])

# %% a reduction over all axes has a constant of axes
x = tf.placeholder(tf.float32, [2, 3], name="x")
made = [tf.reduce_sum(x), tf.reduce_mean(x), tf.reduce_max(x, axis=1)]
print([(tensor.name, tensor.op.type) for tensor in made])
print([tensor.op.inputs[1].name for tensor in made])

# %% names of the losses
logits = tf.placeholder(tf.float32, [None, 10], name="logits")
labels = tf.placeholder(tf.int32, [None], name="labels")
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
print(
    loss.name.split("/")[0], tf.nn.softmax(logits).name, tf.nn.log_softmax(logits).name, loss.shape.as_list()
)

# %% group and no_op
x = tf.constant(1.0, name="x")
done = tf.group(x)
print(done.name, done.type, tf.no_op().name, [op.name for op in done.control_inputs])

# %% the initializer of all variables
tf.Variable(1.0, name="a")
tf.Variable(2.0, name="b")
init = tf.global_variables_initializer()
print(init.name, init.type, sorted(op.name for op in init.control_inputs))

# %% the initializer of no variables
print(tf.global_variables_initializer().type)

# %% a tensor as text
print(tf.placeholder(tf.float32, [None, 8, 8, 1], name="x"))

# %% a tensor of unknown rank as text
print(tf.placeholder(tf.float32, name="x"))

# %% an operation as text is its definition
print(repr(tf.constant(1.0, name="x").op))

# %% an operation that is not there
tf.get_default_graph().get_operation_by_name("missing")

# %% a tensor of an operation that is not there
tf.get_default_graph().get_tensor_by_name("missing:0")

# %% the name of a tensor has an index
tf.constant(1.0, name="x")
tf.get_default_graph().get_tensor_by_name("x")

# %% an output that an operation does not have
tf.constant(1.0, name="x")
tf.get_default_graph().get_tensor_by_name("x:1")

# %% what is found by name is the same object
x = tf.constant(1.0, name="x")
graph = tf.get_default_graph()
print(graph.get_tensor_by_name("x:0") is x, graph.get_operation_by_name("x") is x.op, graph is x.graph)

# %% attributes of a node
x = tf.placeholder(tf.float32, [1, 8, 8, 1], name="x")
y = tf.nn.conv2d(x, tf.ones([3, 3, 1, 1]), [1, 2, 2, 1], "SAME")
print(
    y.op.get_attr("strides"),
    y.op.get_attr("padding"),
    y.op.get_attr("data_format"),
    y.op.get_attr("dilations"),
)

# %% an attribute that a node does not have
tf.constant(1.0).op.get_attr("strides")

# %% the definition of a graph lists its nodes
x = tf.placeholder(tf.float32, [2], name="x")
tf.nn.relu(x * 2.0, name="y")
for node in tf.get_default_graph().as_graph_def().node:
    print(node.name, node.op, list(node.input))

# %% trainable variables and all variables
a = tf.Variable(1.0, name="a")
b = tf.Variable(1.0, trainable=False, name="b")
print([v.name for v in tf.trainable_variables()], [v.name for v in tf.global_variables()])

# %% a variable scope names variables that are asked for
with tf.variable_scope("layer"):
    w = tf.get_variable("w", [2, 3], initializer=tf.zeros_initializer())
print(w.name, w.shape.as_list())

# %% a variable of a name that is taken
tf.get_variable("w", [2])
tf.get_variable("w", [2])

# %% a variable that is asked for again is shared with reuse
with tf.variable_scope("layer"):
    w = tf.get_variable("w", [2])
with tf.variable_scope("layer", reuse=True):
    again = tf.get_variable("w", [2])
print(w is again)

# %% reset_default_graph begins a new one
tf.constant(1.0, name="a")
tf.reset_default_graph()
print(len(tf.get_default_graph().get_operations()), tf.constant(1.0, name="a").name)
