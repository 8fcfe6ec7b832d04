"""Sessions, feeds, variables, control dependencies, and runs that fail."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

# %% a placeholder that is not fed
x = tf.placeholder(tf.float32, [2], name="x")
with tf.Session() as session:
    session.run(x + 1.0)

# %% only what is fetched must be fed
x = tf.placeholder(tf.float32, [2], name="x")
y = tf.constant(2.0)
x + 1.0
with tf.Session() as session:
    print(session.run(y))

# %% a feed of the wrong shape
x = tf.placeholder(tf.float32, [None, 2], name="x")
with tf.Session() as session:
    session.run(x, {x: np.ones((2, 3))})

# %% a feed is converted to the dtype
x = tf.placeholder(tf.float32, [2])
with tf.Session() as session:
    value = session.run(x, {x: [1, 2]})
print(value.tolist(), value.dtype.name)

# %% a float array fed for int32
x = tf.placeholder(tf.int32, [2])
with tf.Session() as session:
    print(session.run(x, {x: np.array([1.7, -2.2])}).tolist())

# %% a Python float fed for int32
x = tf.placeholder(tf.int32, [])
with tf.Session() as session:
    print(session.run(x, {x: 1.5}))

# %% a text fed for float32
x = tf.placeholder(tf.float32, [])
with tf.Session() as session:
    print(session.run(x, {x: "a"}))

# %% a tensor as the value of a feed
x = tf.placeholder(tf.float32, [])
with tf.Session() as session:
    session.run(x, {x: tf.constant(1.0)})

# %% any tensor may be fed
x = tf.constant(1.0)
y = x * 2.0
with tf.Session() as session:
    print(
        session.run(y), session.run(y, {x: 5.0}), session.run(y, {y: 7.0}), session.run(y, {"Const:0": 3.0})
    )

# %% something that is no tensor as the key of a feed
x = tf.placeholder(tf.float32, [], name="x")
with tf.Session() as session:
    session.run(x, {3: 1.0})

# %% a feed for a name that is not there
x = tf.constant(1.0)
with tf.Session() as session:
    session.run(x, {"missing:0": 1.0})

# %% fetches have any structure
x = tf.constant([1.0, 2.0])
with tf.Session() as session:
    print(session.run({"a": x, "b": [x * 2.0, (x + 1.0,)]}))

# %% fetches by name
tf.constant([1, 2], name="x")
with tf.Session() as session:
    print(session.run("x:0").tolist(), session.run("x"))

# %% an operation gives None
x = tf.constant(1.0)
with tf.Session() as session:
    print(session.run(x.op), session.run([x, x.op]))

# %% None cannot be fetched
with tf.Session() as session:
    tf.constant(1.0)
    session.run(None)

# %% a number cannot be fetched
with tf.Session() as session:
    tf.constant(1.0)
    session.run(3)

# %% a fetch of another graph
x = tf.constant(1.0)
with tf.Session(graph=tf.Graph()) as session:
    session.run(x)

# %% a run of an empty graph
with tf.Session() as session:
    session.run([])

# %% values of a run are NumPy
x = tf.constant([1.0, 2.0])
with tf.Session() as session:
    print(type(session.run(x)).__name__, type(session.run(tf.reduce_sum(x))).__name__)

# %% eval uses the default session
x = tf.constant([1.0, 2.0])
with tf.Session():
    print(x.eval().tolist(), (x + 1.0).eval({x: [5.0, 6.0]}).tolist())

# %% eval without a session
tf.constant(1.0).eval()

# %% eval with a session by name
session = tf.Session()
print(tf.constant(3.0).eval(session=session))
session.close()

# %% an operation runs in the default session
v = tf.Variable(1.0)
with tf.Session():
    tf.global_variables_initializer().run()
    print(v.eval())

# %% an interactive session is the default at once
session = tf.InteractiveSession()
print(tf.constant(4.0).eval())
session.close()

# %% a closed session
session = tf.Session()
x = tf.constant(1.0)
session.close()
session.run(x)

# %% a tensor of a graph has no truth value
if tf.constant(1.0):
    print("yes")

# %% a tensor of a graph has no elements to iterate over
for value in tf.constant([1.0, 2.0]):
    print(value)

# %% a tensor of a graph has no length
len(tf.constant([1.0, 2.0]))

# %% NumPy cannot read a tensor of a graph
np.sin(tf.constant([1.0, 2.0]))

# %% a tensor of a graph has no numpy()
tf.constant(1.0).numpy()

# %% a variable that is not initialised
v = tf.Variable(1.0, name="v")
with tf.Session() as session:
    session.run(v)

# %% each session has its own variables
v = tf.Variable(1.0)
init = tf.global_variables_initializer()
first, second = tf.Session(), tf.Session()
first.run(init)
second.run(init)
first.run(v.assign(5.0))
print(first.run(v), second.run(v))

# %% the initial value may be a function
v = tf.Variable(lambda: tf.zeros([2, 3]), name="v")
with tf.Session() as session:
    session.run(v.initializer)
    print(session.run(v).tolist(), v.name)

# %% a variable that begins as another one
a = tf.Variable(2.0)
b = tf.Variable(a.initialized_value() * 3.0)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run([a, b]))

# %% the initial value must have a shape
tf.Variable(tf.placeholder(tf.float32))

# %% a variable needs a value
tf.Variable()

# %% assign gives the new value
v = tf.Variable([1.0, 2.0])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(
        session.run(tf.assign(v, [3.0, 4.0])).tolist(),
        session.run(v.assign_add([1.0, 1.0])).tolist(),
        session.run(v.assign_sub([2.0, 2.0])).tolist(),
    )

# %% assign of another shape
v = tf.Variable([1.0, 2.0])
tf.assign(v, [1.0, 2.0, 3.0])

# %% assign of another dtype
v = tf.Variable([1.0, 2.0])
tf.assign(v, tf.constant([1, 2]))

# %% assign to a tensor
tf.assign(tf.constant(1.0), 2.0)

# %% a variable is converted to a tensor by its value
v = tf.Variable([1.0, 2.0], name="v")
t = tf.convert_to_tensor(v)
print(t.name, t.dtype.name, (v + 1.0).op.inputs[0].name)

# %% operators of variables
v = tf.Variable([1.0, 2.0])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run([v + 1.0, v * v, 2.0 - v, v[0], -v]))

# %% control dependencies run first
v = tf.Variable(1.0)
add = v.assign_add(1.0)
with tf.control_dependencies([add]):
    after = v.read_value()
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run(after))

# %% control dependencies hold for nodes made inside only
v = tf.Variable(1.0)
x = tf.constant(3.0)
with tf.control_dependencies([v.assign(7.0)]):
    outside = x
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    session.run(outside)
    print(session.run(v))

# %% control dependencies are inputs of the node
x = tf.constant(1.0, name="x")
y = tf.constant(2.0, name="y")
with tf.control_dependencies([x]):
    with tf.control_dependencies([y]):
        both = tf.constant(3.0)
    with tf.control_dependencies(None):
        none = tf.constant(3.0)
print([op.name for op in both.op.control_inputs], [op.name for op in none.op.control_inputs])

# %% a data input is no control input as well
x = tf.constant(1.0, name="x")
with tf.control_dependencies([x]):
    print([op.name for op in tf.identity(x).op.control_inputs])

# %% a number is no control dependency
with tf.control_dependencies([3]):
    tf.constant(1.0)

# %% group runs all
a, b = tf.Variable(1.0), tf.Variable(2.0)
both = tf.group(a.assign(5.0), b.assign(6.0))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    print(session.run(both), session.run([a, b]))

# %% a failing run leaves what it assigned
v = tf.Variable(1.0)
x = tf.placeholder(tf.float32, [None])
with tf.control_dependencies([v.assign(5.0)]):
    bad = tf.reshape(x, [3])
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    try:
        session.run(bad, {x: [1.0, 2.0]})
    except tf.errors.InvalidArgumentError as error:
        print("InvalidArgumentError", error.op.name, error.node_def.op)
    print(session.run(v))

# %% an error of a kernel names the node
x = tf.placeholder(tf.float32, [None], name="x")
bad = tf.reshape(x, [3], name="bad")
with tf.Session() as session:
    session.run(bad, {x: [1.0, 2.0]})

# %% sizes that meet in the run only
x = tf.placeholder(tf.float32, [None])
y = tf.placeholder(tf.float32, [None])
with tf.Session() as session:
    session.run(x + y, {x: [1.0, 2.0], y: [1.0, 2.0, 3.0]})

# %% a device that is not there
with tf.device("/cpu:7"):
    x = tf.constant(1.0)
with tf.Session() as session:
    session.run(x)

# %% the whole graph is placed before it is pruned
with tf.device("/gpu:0"):
    tf.constant(1.0, name="unused")
x = tf.constant(2.0)
with tf.Session() as session:
    session.run(x)

# %% soft placement takes another device
with tf.device("/gpu:0"):
    x = tf.constant(1.0)
with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
    print(session.run(x), x.device)

# %% a device's name is completed
with tf.device("/cpu:0"):
    x = tf.constant(1.0)
with tf.device("/job:worker/task:1"):
    with tf.device("/gpu:2"):
        y = tf.constant(1.0)
    with tf.device(None):
        z = tf.constant(1.0)
print(x.device, y.device, repr(z.device))

# %% two CPU devices
with tf.device("/cpu:1"):
    x = tf.constant(1.0)
y = x + 1.0
with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
    print(session.run(y))

# %% a device's name that is none
with tf.device("/nonsense"):
    tf.constant(1.0)

# %% two graphs do not mix
x = tf.constant(1.0)
with tf.Graph().as_default():
    y = tf.constant(2.0)
    x + y

# %% graphs as default
graph = tf.Graph()
with graph.as_default():
    x = tf.constant(1.0)
print(x.graph is graph, tf.get_default_graph() is graph)

# %% a branch that is chosen in the run
x = tf.placeholder(tf.float32, [])
y = tf.cond(x > 0.0, lambda: x * 2.0, lambda: -x)
with tf.Session() as session:
    print(session.run(y, {x: 3.0}), session.run(y, {x: -3.0}))

# %% run metadata has the nodes that ran
x = tf.constant([1.0, 2.0])
options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
metadata = tf.RunMetadata()
with tf.Session() as session:
    print(session.run(x * 2.0, options=options, run_metadata=metadata).tolist())
