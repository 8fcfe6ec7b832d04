"""What programs of TensorFlow 1 use apart from ops: tf.layers, collections, sizes, summaries, savers, averages.

Values and names that have no other source are those of TensorFlow: its layers are gone from TensorFlow 2.21 with Keras 3, so
they are computed here in NumPy, by the laws of its source.
"""

import inspect

import numpy as np
import pytest

import teachconv.tf.compat.v1 as tf

RNG = np.random.default_rng(0)
IMAGES = RNG.normal(size=(4, 6, 6, 2)).astype("float32")


@pytest.fixture(autouse=True)
def new_graph():
    tf.reset_default_graph()


def names(variables):
    return [variable.name for variable in variables]


def network(x, training):
    h = tf.layers.conv2d(x, 3, 3, padding="SAME", activation=tf.nn.relu)
    h = tf.layers.batch_normalization(h, training=training)
    h = tf.layers.conv2d(h, 2, (3, 2), strides=2)
    h = tf.layers.conv2d_transpose(h, 2, 4, strides=(2, 2), padding="same")
    h = tf.layers.max_pooling2d(h, 2, 1)
    h = tf.layers.average_pooling2d(h, [2, 2], [1, 1], "same")
    h = tf.layers.dropout(h, 0.5, training=training)
    return tf.layers.dense(tf.layers.flatten(h), 5, name="out")


OF_NETWORK = ["conv2d/kernel:0", "conv2d/bias:0"]
OF_NETWORK += [
    f"batch_normalization/{name}:0" for name in ("gamma", "beta", "moving_mean", "moving_variance")
]
OF_NETWORK += ["conv2d_1/kernel:0", "conv2d_1/bias:0", "conv2d_transpose/kernel:0", "conv2d_transpose/bias:0"]
OF_NETWORK += ["out/kernel:0", "out/bias:0"]


def test_variables_of_layers_have_the_names_of_tensorflow_1():
    x, training = tf.placeholder(tf.float32, [None, 6, 6, 2]), tf.placeholder(tf.bool)
    y = network(x, training)
    assert names(tf.global_variables()) == OF_NETWORK
    assert names(tf.trainable_variables()) == [name for name in OF_NETWORK if "moving" not in name]
    assert [variable.shape.as_list() for variable in tf.global_variables()[6:10]] == [
        [3, 2, 3, 2],
        [2],
        [4, 4, 2, 2],
        [2],
    ]
    assert y.shape.as_list() == [None, 5]
    assert y.name == "out/BiasAdd:0"
    ops = {op.name for op in tf.get_default_graph().get_operations()}
    assert {
        "conv2d/Conv2D",
        "conv2d/Relu",
        "conv2d_1/BiasAdd",
        "max_pooling2d/MaxPool",
        "flatten/Reshape",
    } <= ops


def test_a_scope_that_is_entered_again_shares_the_variables_of_its_layers():
    x = tf.placeholder(tf.float32, [None, 6, 6, 2])
    with tf.variable_scope("net"):
        first = network(x, False)
    with tf.variable_scope("net", reuse=True):
        second = network(x, False)
    with tf.variable_scope("other") as scope:
        network(x, False)
        scope.reuse_variables()
        tf.get_variable("conv2d/kernel")
    assert names(tf.global_variables()) == [
        f"{scope}/{name}" for scope in ("net", "other") for name in OF_NETWORK
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        one, two = session.run([first, second], {x: IMAGES})
    assert (one == two).all()
    tf.layers.conv2d(x, 1, 1, name="conv1")
    with pytest.raises(ValueError, match="conv1/kernel already exists"):
        tf.layers.conv2d(x, 1, 1, name="conv1")


def test_default_names_of_variable_scopes_count_as_in_tensorflow():
    """Recorded: TensorFlow 2.21, tf.compat.v1.variable_scope(None, default_name=...)."""
    opened = []

    def inside(times):
        for _ in range(times):
            with tf.variable_scope(None, "a") as scope:
                opened.append(scope.name)

    inside(2)
    with tf.variable_scope("b") as b:
        inside(2)
    with tf.variable_scope("b"):
        inside(1)
    with tf.variable_scope(b):
        inside(1)
    inside(1)
    assert opened == ["a", "a_1", "b/a", "b/a_1", "b/a", "b/a", "a_2"]


def test_batch_normalization_normalises_by_the_batch_and_updates_its_averages():
    training = tf.placeholder(tf.bool)
    x = tf.placeholder(tf.float32, [None, 6, 6, 2])
    y = tf.layers.batch_normalization(x, momentum=0.9, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    assert len(updates) == 2
    mean, variance = IMAGES.mean((0, 1, 2)), IMAGES.var((0, 1, 2))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run([y, *updates], {x: IMAGES, training: True})[0]
        np.testing.assert_allclose(found, (IMAGES - mean) / np.sqrt(variance + 1e-3), rtol=1e-4, atol=1e-5)
        moving = session.run(tf.global_variables()[2:])
        # the kernel of images corrects the variance: n / (n - 1)
        wanted = [0.1 * mean, 0.9 + 0.1 * variance * 144 / 143]
        np.testing.assert_allclose(moving, wanted, rtol=1e-5)
        found = session.run([y, *updates], {x: IMAGES, training: False})[0]
        np.testing.assert_allclose(
            found, (IMAGES - wanted[0]) / np.sqrt(wanted[1] + 1e-3), rtol=1e-4, atol=1e-5
        )
        assert (np.array(session.run(tf.global_variables()[2:])) == moving).all()  # not updated


def test_a_layer_takes_what_becomes_a_tensor_and_has_its_dtype():
    y = tf.layers.dense(np.ones((2, 3)), 1, kernel_initializer=tf.ones_initializer())
    z = tf.layers.dense([[1.0, 2.0]], 1, kernel_initializer=tf.keras.initializers.Ones(), use_bias=False)
    assert [variable.dtype for variable in tf.global_variables()] == ["float64", "float64", "float32"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [value.tolist() for value in session.run([y, z])] == [[[3.0], [3.0]], [[3.0]]]


def test_dropout_of_a_layer_is_active_while_training():
    training = tf.placeholder(tf.bool)
    y = tf.layers.dropout(tf.ones([50, 50]), 0.2, training=training)
    with tf.Session() as session:
        assert (session.run(y, {training: False}) == 1).all()
        found = session.run(y, {training: True})
    assert set(np.unique(found).tolist()) == {0.0, 1.25}
    assert 0.15 < (found == 0).mean() < 0.25


def test_arguments_of_layers_are_those_of_tensorflow_1():
    def check(function, wanted):
        assert " ".join(inspect.signature(function).parameters) == " ".join(wanted.split())

    weights = """activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer
        activity_regularizer kernel_constraint bias_constraint trainable name reuse"""
    windows = "inputs filters kernel_size strides padding data_format"
    check(tf.layers.conv2d, f"{windows} dilation_rate {weights}")
    check(tf.layers.conv2d_transpose, f"{windows} {weights}")
    check(tf.layers.dense, f"inputs units {weights}")
    check(tf.layers.max_pooling2d, "inputs pool_size strides padding data_format name")
    check(tf.layers.average_pooling2d, "inputs pool_size strides padding data_format name")
    check(tf.layers.dropout, "inputs rate noise_shape seed training name")
    check(tf.layers.flatten, "inputs name data_format")
    check(
        tf.layers.batch_normalization,
        """inputs axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer
        moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint training
        trainable name reuse renorm renorm_clipping renorm_momentum fused virtual_batch_size adjustment""",
    )
    with pytest.raises(ValueError, match="kernel_constraint must be None"):
        tf.layers.dense(tf.ones([1, 2]), 1, kernel_constraint=abs)


def test_a_regularizer_adds_to_a_collection_once_for_each_variable():
    def half_of_squares(w):
        return 0.5 * tf.nn.l2_loss(w)

    with tf.variable_scope("s", regularizer=half_of_squares):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("w", regularizer=half_of_squares) is w
    tf.layers.dense(
        tf.ones([1, 2]), 3, kernel_initializer=tf.ones_initializer(), kernel_regularizer=half_of_squares
    )
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(losses) == [0.5, 1.5]


def test_a_size_has_a_value_in_version_1_alone():
    import teachconv.tf as tf2

    x = tf.placeholder(tf.float32, [None, 28, 28, 1])
    size = x.get_shape()[1]
    assert (repr(size), str(size), size.value, int(size), size // 4 * 2) == (
        "Dimension(28)",
        "28",
        28,
        28,
        14,
    )
    assert [each.value for each in x.shape[1:]] == [28, 28, 1]
    assert x.shape[0] is None
    assert [type(each) for each in x.shape.as_list()[1:]] == [int] * 3
    assert tf.reshape(x, [-1, size * x.shape[2]]).shape.as_list() == [None, 784]
    assert not hasattr(tf2.ones([2]).shape[0], "value")
    assert not hasattr(
        tf2.function(lambda y: tf2.constant(y.shape[0]))
        .get_concrete_function(tf2.TensorSpec([3]))
        .inputs[0]
        .shape[0],
        "value",
    )


def test_summaries_are_lines_of_a_file(tmp_path):
    x = tf.placeholder(tf.float32, [])
    with tf.name_scope("train"):
        tf.summary.scalar("loss", x)
    tf.summary.histogram("weights", tf.ones([2]))
    tf.summary.image("pictures", tf.ones([1, 2, 2, 1]))
    own = tf.summary.merge([tf.summary.scalar("twice", 2.0 * x, collections=[])])
    merged = tf.summary.merge_all()
    with tf.Session() as session:
        writer = tf.summary.FileWriter(tmp_path / "logs", session.graph)
        for step in (1, 2):
            summary, _ = session.run([merged, x], {x: step / 4})
            writer.add_summary(summary, step)
        writer.add_summary(session.run(own, {x: 1.0}))
        writer.flush()
        writer.close()
    lines = (tmp_path / "logs" / "scalars.csv").read_text().splitlines()
    assert lines == ["1,train/loss,0.25", "2,train/loss,0.5", "0,twice,2.0"]
    tf.reset_default_graph()
    assert tf.summary.merge_all() is None


def test_a_saver_writes_and_reads_the_values_of_a_session(tmp_path):
    v = tf.Variable([1.0, 2.0], name="v")
    step = tf.train.get_or_create_global_step()
    assert tf.train.get_or_create_global_step() is step
    more = tf.group(tf.assign_add(v, [1.0, 1.0]), tf.assign_add(step, 1))
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert tf.train.get_checkpoint_state(tmp_path) is None
        paths = []
        for _ in range(3):
            session.run(more)
            paths.append(saver.save(session, tmp_path / "model", global_step=step))
        assert tf.train.global_step(session, step) == 3
    assert [path.rpartition("/")[2] for path in paths] == ["model-1", "model-2", "model-3"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint", "model-2.npz", "model-3.npz"]
    assert tf.train.latest_checkpoint(tmp_path) == paths[2]
    assert tf.train.get_checkpoint_state(tmp_path).model_checkpoint_path == paths[2]
    with tf.Session() as session:
        saver.restore(session, paths[1])  # without an initialiser
        assert session.run(v).tolist() == [3.0, 4.0]
        tf.train.Saver({"v": v}).save(session, tmp_path / "part")
        with pytest.raises(ValueError, match="it lacks global_step"):
            saver.restore(session, tmp_path / "part")
        with pytest.raises(FileNotFoundError):
            saver.restore(session, paths[0])
    tf.reset_default_graph()
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()


@pytest.mark.parametrize(
    ("step", "of_variable", "of_tensor"), [(None, [1.2, 1.38], [1.0, 1.9]), (0, [1.9, 1.99], [9.0, 9.9])]
)
def test_an_exponential_moving_average(step, of_variable, of_tensor):
    """Recorded: TensorFlow 2.21; a variable that is 1 and becomes 3 or 2, and a constant, with a decay of 0.9."""
    v = tf.Variable(1.0, name="v")
    average = tf.train.ExponentialMovingAverage(0.9, step)
    value = tf.constant(10.0, name="x")
    update = average.apply([v, value])
    assert average.average(v).name == "v/ExponentialMovingAverage:0"
    assert average.average(value).name == "x/ExponentialMovingAverage:0"
    assert average.average(update) is None
    assert names(tf.trainable_variables()) == ["v:0"]
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(tf.assign(v, 3.0 if step is None else 2.0))
        for _ in range(2):
            session.run(update)
            found.append(session.run([average.average(v), average.average(value)]))
    np.testing.assert_allclose(found, np.transpose([of_variable, of_tensor]), rtol=1e-6)


def test_losses_are_listed_and_accuracy_counts_over_runs():
    logits = tf.placeholder(tf.float32, [None, 2])
    sparse = tf.losses.sparse_softmax_cross_entropy([1, 0], logits)
    dense = tf.losses.softmax_cross_entropy([[0.0, 1.0], [1.0, 0.0]], logits)
    squares = tf.losses.mean_squared_error([[0.0, 1.0], [1.0, 0.0]], logits, loss_collection=None)
    sigmoid = tf.losses.sigmoid_cross_entropy([[0.0, 1.0], [1.0, 0.0]], logits)
    assert tf.get_collection(tf.GraphKeys.LOSSES) == [sparse, dense, sigmoid]
    accuracy, update = tf.metrics.accuracy(tf.constant([1, 0]), tf.argmax(logits, 1))
    assert names(tf.get_collection(tf.GraphKeys.LOCAL_VARIABLES)) == ["accuracy/total:0", "accuracy/count:0"]
    assert tf.global_variables() == []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        zeros = np.zeros((2, 2))
        found = session.run([sparse, dense, squares, sigmoid], {logits: zeros})
        np.testing.assert_allclose(found, [np.log(2), np.log(2), 0.5, np.log(2)], rtol=1e-6)
        assert session.run(update, {logits: [[0, 1], [0, 1]]}) == 0.5
        assert session.run(update, {logits: [[0, 1], [1, 0]]}) == 0.75
        assert session.run(accuracy) == 0.75


def test_old_names_of_arithmetic():
    with tf.Session() as session:
        found = session.run(
            [tf.div(-7, 2), tf.div(7.0, 2.0), tf.nn.xw_plus_b([[1.0, 2.0]], [[3.0], [4.0]], [0.5])]
        )
        assert (found[0], found[1], found[2].tolist()) == (-4, 3.5, [[11.5]])
        rows = session.run(tf.nn.embedding_lookup(tf.constant([[1.0], [2.0], [3.0]]), [[2, 0]]))
        assert rows.tolist() == [[[3.0], [1.0]]]


def test_ops_of_tensorflow_s_own_python():
    from teachconv.tf.python.framework import ops

    ops.reset_default_graph()

    @ops.RegisterGradient("TimesSeven")
    def _seven(op, grad):
        return 7.0 * grad

    x = tf.placeholder(tf.float32, [])
    with ops.get_default_graph().gradient_override_map({"Identity": "TimesSeven"}):
        y = tf.identity(x)
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x), {x: 1.0}) == [7.0]


@pytest.mark.parametrize(
    "call",
    [
        lambda x, w, y: tf.nn.conv2d_backprop_input([1, 5, 5, 1], w, y, strides=[1] * 4),
        lambda x, w, y: tf.nn.conv2d_backprop_input([1, 5, 5, 1], w, y, strides=[1] * 4, padding=None),
        lambda x, w, y: tf.nn.conv2d_backprop_filter(x, [3, 3, 1, 1], y, strides=[1] * 4, padding=None),
        lambda x, w, y: tf.nn.conv3d_transpose(y[None], w[None], [1, 1, 5, 5, 1], [1] * 5, padding=None),
        lambda x, w, y: tf.nn.convolution(x, w, padding=None),
        lambda x, w, y: tf.nn.pool(x, [2, 2], "MAX", padding=None),
    ],
)
def test_no_padding_is_chosen_for_none(call):
    """TensorFlow 2.21: TypeError, "Expected string for argument 'padding' not None" for each of them."""
    arrays = [np.ones(shape, "float32") for shape in ([1, 5, 5, 1], [3, 3, 1, 1], [1, 3, 3, 1])]
    with pytest.raises(TypeError, match="padding must be"):
        call(*arrays)
