"""What is particular to teachconv.tf: two versions side by side, arguments that are not here, names that are not."""

import copy
import importlib
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import teachconv as tc
import teachconv.tf as tf
import teachconv.tf.compat.v1 as tf1
from teachconv.support import errors
from teachconv.tf import missing


@pytest.fixture(autouse=True)
def new_graph():
    tf1.reset_default_graph()
    yield
    tf1.enable_v2_behavior()


def test_two_versions_side_by_side():
    """TensorFlow 1's functions add to a graph while TensorFlow 2's run at once, without a switch."""
    w = tf1.Variable([1.0, 2.0], name="w")
    y = 2.0 * w[0] + tf1.constant(1.0) - np.float32(3.0)
    assert tf.executing_eagerly()
    assert tf.constant(1.0).numpy() == 1.0
    assert y.graph is tf1.get_default_graph()
    update = w.assign_add([1.0, 1.0])
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        assert session.run(y) == 0.0
        session.run(update)
        assert session.run([w, y])[1] == 2.0


@pytest.mark.parametrize(
    ("scope", "name", "device", "before"),
    [
        (lambda first: tf1.variable_scope("G"), "G/add:0", "", ()),
        (lambda first: tf1.variable_scope(None, default_name="G"), "G/add:0", "", ()),
        (lambda first: tf1.name_scope("G"), "G/add:0", "", ()),
        (lambda first: tf1.name_scope(None, "G"), "G/add:0", "", ()),
        (lambda first: tf1.device("/cpu:1"), "add:0", "/device:CPU:1", ()),
        (lambda first: tf1.control_dependencies([first]), "add:0", "", ("first",)),
        (lambda first: tf1.get_default_graph().as_default(), "add:0", "", ()),
    ],
)
def test_a_scope_of_the_default_graph_needs_no_graph_around_it(scope, name, device, before):
    """TensorFlow 1 has a default graph outside of ``with graph.as_default():``, in the block of every scope, too."""
    first = tf1.constant(1.0, name="first")
    assert tf.executing_eagerly()
    with scope(first):
        second = tf1.constant(2.0) + 3.0
    assert second.name == name
    assert second.graph is first.graph
    assert second.op.device == device
    assert tuple(op.name for op in second.op.control_inputs) == before
    assert (tf1.constant(2.0) + 3.0).name == (
        "add_1:0" if name == "add:0" else "add:0"
    )  # the scope has ended


def test_variable_scopes_outside_of_a_block():
    with tf1.variable_scope("G") as outer:
        w = tf1.get_variable("w", [2])
        with tf1.variable_scope("inner", initializer=tf1.ones_initializer()):
            v = tf1.get_variable("v", [2])
    with tf1.variable_scope(outer, reuse=True):
        assert tf1.get_variable("w", [2]) is w
        assert tf1.get_variable_scope().name == "G"
    with tf1.variable_scope("G", reuse=tf1.AUTO_REUSE), tf1.variable_scope("inner"):
        assert tf1.get_variable("v") is v
    assert (w.name, v.name, tf1.get_variable_scope().name) == ("G/w:0", "G/inner/v:0", "")
    with pytest.raises(ValueError, match="G/x does not exist"), tf1.variable_scope("G", reuse=True):
        tf1.get_variable("x", [1])
    assert tf1.get_variable_scope().name == ""  # left, although the block failed


def test_a_tensor_of_the_default_graph_goes_into_the_library():
    x = tf1.placeholder(tf1.float32, [1, 3, 3, 1])
    y = tc.conv2d(x, np.ones((2, 2, 1, 1), "float32"))
    assert y.op.type == "Conv2D"
    with tf1.Session() as session:
        assert session.run(y, {x: np.ones((1, 3, 3, 1))}).ravel().tolist() == [4.0] * 4


def test_an_initializer_makes_the_dtype_that_it_was_given():
    zeros, ones = tf1.zeros_initializer(tf1.float64), tf1.ones_initializer(tf1.int32)
    assert [zeros([2]).dtype, ones([2]).dtype, zeros([2], tf1.int32).dtype] == ["float64", "int32", "int32"]
    assert tf1.zeros_initializer()([2]).dtype == "float32"
    assert tf1.get_variable("w", [1], tf1.float16, tf1.ones_initializer()).dtype == "float16"


def test_an_interactive_session_ends_where_it_is_closed():
    session = tf1.InteractiveSession()
    assert tf1.constant(2.0).eval() == 2.0
    assert not tf.executing_eagerly()
    session.close()
    assert tf.executing_eagerly()


def test_disable_v2_behavior_holds_for_the_process():
    tf1.disable_v2_behavior()
    assert not tf.executing_eagerly()
    assert tf.constant(1.0).graph is tf1.get_default_graph()
    tf1.enable_v2_behavior()
    assert tf.executing_eagerly()


def test_a_node_names_the_line_of_the_program():
    x = tf1.placeholder(tf1.float32, [1, 3, 3, 1])
    filters = np.ones((2, 2, 1, 1), "float32")
    for node in (x, tf1.constant(1.0), tf1.nn.conv2d(x, filters, 1, "SAME"), tc.conv2d(x, filters), x + 1.0):
        assert node.op.file == __file__, node


def test_reset_default_graph():
    assert [tf1.constant(1.0, name="a").name for _ in range(2)] == ["a:0", "a_1:0"]
    tf1.reset_default_graph()
    assert tf1.constant(1.0, name="a").name == "a:0"
    with tf1.Graph().as_default(), pytest.raises(ValueError, match="nested graphs"):
        tf1.reset_default_graph()


def test_optimizers_train_the_default_graph():
    w = tf1.Variable(1.0)
    for optimizer in (tf1.train.GradientDescentOptimizer(0.25), tf1.train.MomentumOptimizer(0.1, 0.9)):
        assert optimizer.minimize(tf1.square(w - 5.0)).graph is tf1.get_default_graph()
    step = tf1.train.GradientDescentOptimizer(0.25).minimize(tf1.square(w - 5.0))
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(5):
            session.run(step)
        assert session.run(w) == 5 - 4 * 0.5**5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tf.matmul([[1.0]], [[1.0]], a_is_sparse=True), "a_is_sparse must be False: .*; got True"),
        (lambda: tf.transpose([[1.0]], conjugate=True), "conjugate must be False"),
        (lambda: tf.pad([1], [[1, 1]], constant_values=2), "constant_values must be 0: .*; got 2"),
        (lambda: tf.nn.pool(np.ones((1, 4, 1)), [2], "MAX", dilations=2), "dilations must be None or 1"),
        (lambda: tf1.train.RMSPropOptimizer(0.1, centered=True), "centered must be False"),
        (lambda: tf.nn.moments([[1.0]], [0], shift=1.0), "shift must be None"),
        (lambda: tf.Variable(1.0, shape=[2]), "shape must be None"),
        (lambda: tf.function(lambda x: x, reduce_retracing=True), "reduce_retracing must be False"),
        (lambda: tf1.Session("grpc://host"), "target must be ''"),
        (lambda: tf1.get_variable("w", [1], partitioner=3), "partitioner must be None"),
        (lambda: tf1.nn.max_pool(np.ones(1), 1, 1, "SAME", input=np.ones(1)), "both 'value' and 'input'"),
        (lambda: tf1.reduce_sum([1], axis=0, reduction_indices=0), "both 'reduction_indices' and 'axis'"),
    ],
)
def test_an_argument_that_is_not_here_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("module", "name", "near"),
    [
        (tf, "signal", "sign"),
        (tf.nn, "conv4d", "conv3d"),
        (tf1, "get_varible", "get_variable"),
        (tf.keras, "layer", "layers"),
    ],
)
def test_a_name_that_is_not_here_is_named(module, name, near):
    with pytest.raises(AttributeError, match=f"has no '{name}'.*did you mean \"{near}\""):
        getattr(module, name)


@pytest.mark.parametrize(
    ("module", "name", "near"),
    [
        (tf, "elu", "tf.nn.elu"),
        (tf, "log", "tf.math.log"),
        (tf.math, "uint8", "tf.uint8"),
        (tf, "placeholder", "tf.compat.v1.placeholder"),
        (tf, "Dense", "tf.keras.layers.Dense"),
        (tf1.nn, "exponential_decay", "tf.compat.v1.train.exponential_decay"),
    ],
)
def test_a_name_that_is_elsewhere_is_shown_there(module, name, near):
    with pytest.raises(AttributeError, match=f"has no '{name}'.*; nearest: {near}$"):
        getattr(module, name)


def modules_of(package):
    """Yield the dotted names of the public modules of a package, in whatever module each is defined."""
    module = importlib.import_module(package)
    yield package
    for name in module.__all__ if module.__name__ == package else ():
        if inspect.ismodule(getattr(module, name)):
            assert importlib.import_module(f"{package}.{name}") is getattr(module, name)
            yield from modules_of(f"{package}.{name}")


@pytest.mark.parametrize("module", [*modules_of("teachconv.tf"), *modules_of("teachconv.keras")])
def test_an_import_is_answered_as_an_attribute_is(module):
    for statement in (f"from {module} import bottleneck", f"import {module}.bottleneck"):
        with pytest.raises(AttributeError) as attribute:
            importlib.import_module(module).bottleneck  # noqa: B018 (the access is what is tested)
        with pytest.raises(ImportError) as refused:
            exec(statement)
        assert str(refused.value) == str(attribute.value)
        assert "has no 'bottleneck'" in str(attribute.value)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from teachconv.tf.keras import datasets", "nearest: teachconv.data.digits, or scikit-learn's"),
        (
            "from teachconv.tf.keras.datasets import mnist",
            "nearest: teachconv.data.digits, or scikit-learn's",
        ),
        ("import teachconv.tf.keras.datasets.mnist", "nearest: teachconv.data.digits, or scikit-learn's"),
        ("from teachconv.tf.nn import selu", "nearest: tf.nn.elu"),
        ("from teachconv.tf.compat import v2", "nearest: teachconv.tf, which has"),
        ("from teachconv.dialects.torch import conv4d", 'did you mean "conv3d"'),
        ("from teachconv import con2d", 'did you mean "conv2d"'),
    ],
)
def test_an_import_that_fails_names_what_is_nearest(statement, message):
    with pytest.raises(ImportError, match=message):
        exec(statement)


def test_a_tool_that_looks_for_files_elsewhere_gets_no_answer(tmp_path):
    """As pytest does with --import-mode=importlib, which asks every finder with the path of a folder."""
    for name in ("teachconv.tf", "teachconv.bottleneck", "teachconv.tf.bottleneck"):
        assert errors._Attributes.find_spec(name, [str(tmp_path)]) is None
    with pytest.raises(ImportError, match="has no 'bottleneck'"):
        errors._Attributes.find_spec("teachconv.tf.bottleneck", tf.__path__)


def test_a_class_of_one_version_counts_the_objects_of_all():
    """As in TensorFlow, isinstance does not depend on the function that made an object."""
    layer = tf.keras.layers.Dense(2)
    layer.build((None, 3))
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(layer.trainable_weights)
    with tf1.variable_scope("of_both"):
        own = tf1.get_variable("v", initializer=[1.0])
    assigned = []

    @tf.function
    def assigns():
        assigned.append(variables[0].assign([1.0]))

    variables = [tf.Variable([1.0]), tf1.Variable([1.0]), own, layer.kernel, *optimizer.variables]
    assigns()
    for variable in (*variables, *assigned, tc.graph.Variable(1.0)):
        assert isinstance(variable, tf.Variable)
        assert isinstance(variable, tf1.Variable)
        assert not isinstance(variable, tf.Tensor)
    for tensor in (tf.constant(1.0), own.value(), layer(tf.ones([1, 3])), tf1.placeholder("float")):
        assert isinstance(tensor, tf.Tensor)
        assert isinstance(tensor, tf1.Tensor)
        assert not isinstance(tensor, tf.Variable)

    class Own(tf.Variable):
        pass

    assert isinstance(Own(1.0), Own)
    assert not isinstance(variables[0], Own)


@pytest.mark.parametrize(
    "make", [tf1.get_variable, lambda name, **given: tf1.Variable([3.0, 4.0], name=name)]
)
def test_an_assignment_outside_of_a_block_adds_to_the_default_graph(make):
    v = make("v", shape=[2], initializer=tf1.constant_initializer([3.0, 4.0]))
    graph = tf1.get_default_graph()
    slot = tf1.train.MomentumOptimizer(0.1, 0.9).minimize(tf1.reduce_sum(v), var_list=[v])
    momentum = next(variable for variable in tf1.global_variables() if variable is not v)
    updates = [v.assign([1.0, 2.0]), tf1.assign_add(v, [1.0, 1.0]), momentum.assign([7.0, 7.0])]
    assert [update.graph for update in updates] == [graph] * 3
    assert (v.read_value().graph, slot.graph) == (graph, graph)
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        assert v.eval().tolist() == [3.0, 4.0]  # nothing has run yet
        assert [session.run(update).tolist() for update in updates] == [[1.0, 2.0], [2.0, 3.0], [7.0, 7.0]]
        assert session.run([v, momentum])[1].tolist() == [7.0, 7.0]


def test_a_name_of_pythons_own_has_no_reason():
    for module in (tf, tf1, tf.nn):
        with pytest.raises(AttributeError, match="has no '__path7__'$"):
            module.__path7__  # noqa: B018 (the access is what is tested)


def test_the_modules_of_keras_are_at_the_root_of_version_2():
    for name in ("initializers", "losses", "metrics", "optimizers"):
        assert getattr(tf, name) is getattr(tf.keras, name)
        assert getattr(tf1, name, None) is not getattr(tf.keras, name)  # those of TensorFlow 1 are others
    assert tf.random_normal_initializer is tf.initializers.RandomNormal


def test_app_run_ends_the_program():
    with pytest.raises(SystemExit) as ended:
        tf1.app.run(main=lambda argv: len(argv) + 5, argv=["program", "--steps"])
    assert ended.value.code == 7


def test_the_version_is_that_of_the_recording():
    assert tf.VERSION == tf1.VERSION == tf.__version__ == tf1.__version__
    assert tf.VERSION.startswith("2.21")


def test_nothing_is_left_out_of_dir():
    for module in (tf, tf1, tf.nn, tf.math, tf1.nn, tf1.train):
        later = {"compat", "keras", "python", "train", *missing._OF_KERAS}
        assert set(module.__all__) <= {*dir(module), *later}
        assert len(module.__all__) == len(set(module.__all__))


def test_what_only_a_module_below_has_is_not_at_the_root():
    below = {
        tf: ["log", "log_softmax", "rsqrt", "softmax"],
        tf1: ["log_softmax", "softmax", "normal"],
    }
    for module, names in below.items():
        assert not [name for name in names if hasattr(module, name)]


def test_functions_are_thin():
    """No function of teachconv.tf is longer than what it takes to rename and forward."""
    for module in (tf.nn, tf.math, tf.random, tf1.nn, tf1.math):
        for name in module.__all__:
            function = inspect.unwrap(getattr(module, name))
            if function.__module__.startswith("teachconv.tf."):
                body = inspect.getsource(function).partition('"""')[2].partition('"""')[2]
                assert not any(f" {word} " in body for word in ("for", "while", "with", "try:")), name


def test_importing_brings_no_keras():
    code = "import sys, teachconv.tf; print([m for m in sys.modules if 'keras' in m or 'compat' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "teachconv.keras" not in done.stdout
    assert "teachconv.tf.compat" not in done.stdout


def test_a_physical_device_has_a_name_and_a_type():
    device = tf.config.list_physical_devices("CPU")[0]
    assert (device.name, device.device_type) == ("/physical_device:CPU:0", "CPU")


def test_the_axis_of_a_softmax():
    """The numbers are TensorFlow 2.21's."""
    m = tf.constant([[0.0, 1.0], [2.0, 3.0]])
    for axis in (0, -2):
        np.testing.assert_allclose(tf.nn.softmax(m, axis), [[0.1192029] * 2, [0.8807970] * 2], 1e-6)
        np.testing.assert_allclose(tf.nn.log_softmax(m, axis), [[-2.126928] * 2, [-0.126928] * 2], 1e-5)
    found = tf.nn.softmax_cross_entropy_with_logits(m, m, axis=0)
    np.testing.assert_allclose(found, [0.2538561, 2.5077124], 1e-6)
    x = tf.constant(np.arange(24.0).reshape(2, 3, 4) % 5)
    np.testing.assert_allclose(
        tf.transpose(tf.nn.softmax(x, 0), [1, 2, 0]), tf.nn.softmax(tf.transpose(x, [1, 2, 0])), 1e-12
    )
    assert np.array_equal(tf.nn.softmax(m, np.int64(1)), tf.nn.softmax(m))
    with pytest.raises(ValueError, match="axis must be from -2 to 1; got 2"):
        tf.nn.softmax(m, 2)


def test_none_stands_for_nhwc():
    x, w = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1])
    for call in (
        lambda **layout: tf.nn.conv2d(x, w, 2, "SAME", **layout),
        lambda **layout: tf.nn.conv2d_transpose(x, w, [1, 8, 8, 1], 2, "SAME", **layout),
        lambda **layout: tf.nn.max_pool2d(x, 2, 2, "SAME", **layout),
        lambda **layout: tf.nn.avg_pool2d(x, 2, 2, "SAME", **layout),
        lambda **layout: tf.nn.depthwise_conv2d_backprop_filter(x, w.shape, x, [1] * 4, "SAME", **layout),
        lambda **layout: tf.nn.depthwise_conv2d_backprop_input(x.shape, w, x, [1] * 4, "SAME", **layout),
    ):
        assert np.array_equal(call(data_format=None), call())


def test_messages_name_what_is_wrong():
    with pytest.raises(
        TypeError, match="ConcatV2 must have one dtype, that of the first, float32; got int32"
    ):
        tf.concat([tf.constant([1.0]), tf.constant([1])], 0)
    with pytest.raises(ValueError, match="ksize must be 1 at N and C in NHWC order: no window"):
        tf.nn.max_pool2d(tf.ones([1, 4, 4, 2]), [1, 1, 1, 2], 1, "SAME")


def test_a_reduction_over_all_axes_of_a_tensor_of_unknown_rank():
    x = tf1.placeholder("float")
    total, mean = tf1.reduce_sum(tf1.pow(x, 2)), tf1.reduce_mean(x)
    (grad,) = tf1.gradients(mean, x)
    with tf1.Session() as session:
        for shape in ((), (3,), (2, 2)):
            array = np.arange(4.0)[: int(np.prod(shape))].reshape(shape)
            found = session.run([total, mean, grad], {x: array})
            np.testing.assert_array_equal(found[:2], [(array**2).sum(), array.mean()])
            np.testing.assert_array_equal(found[2], np.full(shape, 1 / array.size, "f4"))


def test_a_dtype_is_numpy_s_with_tensorflow_s_attributes():
    x = tf.constant([1, 2])
    for dtype in (x.dtype, tf.Variable(x).dtype, tf1.constant([1]).dtype, tf.TensorSpec([1], "int32").dtype):
        assert dtype is tf.int32
        assert (dtype.is_integer, dtype.is_floating, dtype.base_dtype, dtype.size) == (
            True,
            False,
            tf.int32,
            4,
        )
    assert {np.dtype("int32"): "found"}[x.dtype] == "found"
    assert np.arange(3).astype(x.dtype).dtype == np.zeros(1, tf.int32).dtype == np.dtype(tf.int32) == "int32"
    assert pickle.loads(pickle.dumps(tf.float32)) is copy.deepcopy(tf.float32) is tf.float32
    assert (tf.float16.max, tf.float32.min, tf.uint8.max) == (65504, np.finfo("f4").min, 255)
    with pytest.raises(AttributeError, match="nonsense"):
        tf.float32.nonsense  # noqa: B018 (the access is what is tested)
    assert tf1.ConfigProto(log_device_placement=True).log_device_placement


def test_what_a_program_says_about_a_gpus_memory_has_no_effect():
    config = tf1.ConfigProto(gpu_options=tf1.GPUOptions(per_process_gpu_memory_fraction=0.5))
    config.gpu_options.allow_growth = True
    x = tf1.constant([1.0, 2.0])
    with tf1.Session(config=config) as session:
        assert session.run(x * 2).tolist() == [2, 4]
    assert config == tf1.ConfigProto()
    assert tf1.ConfigProto().gpu_options == tf1.GPUOptions(allow_growth=False)
    with pytest.raises(TypeError, match="per_process_gpu_memory_fraction must be a number; got 'half'"):
        tf1.GPUOptions(per_process_gpu_memory_fraction="half")
    with pytest.raises(TypeError, match="gpu_options must be GPUOptions; got 0.5"):
        tf1.ConfigProto(gpu_options=0.5)


def test_a_window_that_is_a_tensor_is_refused_by_name():
    x, two = tf1.placeholder(tf1.float32, [1, 4, 4, 1]), tf1.placeholder(tf1.int32, [2])
    for name in ("ksize", "strides"):
        with pytest.raises(TypeError, match=f"^{name} must be ints, known before the run; got <tf.Tensor"):
            tf.nn.max_pool(x, **{"ksize": 2, "strides": 2, "padding": "SAME", name: two})
    assert tf.nn.max_pool(tf.ones([1, 4, 4, 1]), tf.constant([2, 2]), 2, "SAME").shape == (1, 2, 2, 1)


def test_set_shape_checks_what_is_known():
    x = tf.ones([2, 3])
    x.set_shape([None, 3])
    tf.Variable(x).set_shape([2, None])
    for known in (x, tf.Variable(x)):
        with pytest.raises(ValueError, match="not compatible"):
            known.set_shape([3, 3])
