"""What becomes of arguments: dtypes, lists that hold tensors, and the names in messages.

The answers of TensorFlow are in tests/recorded/tensorflow_words/conversions.py.
"""

import numpy as np
import pytest

import teachconv.tf as tf
import teachconv.tf.compat.v1 as tf1
from teachconv import graph as tg
from teachconv.graph.framework.eager_tensor import to_array

T = tf.constant([1.0])


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda a: tf.random.uniform([2], minval=a), "minval of random_uniform"),
        (lambda a: tf.random.uniform([2], maxval=a), "maxval of random_uniform"),
        (lambda a: tf1.random_normal([2], stddev=a), "stddev of random_normal"),
        (lambda a: tg.random_uniform([2], a), "minval of random_uniform"),
        (lambda a: tf.clip_by_value(a, 0.0, 1.0), "t of clip_by_value"),
        (lambda a: tf.clip_by_value(T, a, 1.0), "clip_value_min of clip_by_value"),
        (lambda a: tf.clip_by_value(T, 0.0, a), "clip_value_max of clip_by_value"),
        (lambda a: tf.nn.leaky_relu(a), "features of leaky_relu"),
        (lambda a: tf.nn.relu6(a), "features of relu6"),
        (lambda a: tf.nn.l2_loss(a), "t of l2_loss"),
        (lambda a: tf.nn.moments(a, [0]), "x of moments"),
        (lambda a: tf.nn.dropout(a, 0.5), "x of dropout"),
        (lambda a: tf.nn.softmax(a), "logits of softmax"),
        (
            lambda a: tf.nn.softmax_cross_entropy_with_logits(a, [T]),
            "labels of softmax_cross_entropy_with_logits",
        ),
        (lambda a: tf.nn.conv2d(T, a, 1, "SAME"), "filters of conv2d"),
        (lambda a: tf.where([True], a, 1.0), "x of where"),
        (lambda a: tf.where([True], 1.0, a), "y of where"),
        (lambda a: tf.reduce_sum(a), "input_tensor of reduce_sum"),
        (lambda a: tf1.nn.relu6(a), "features of relu6"),
        (lambda a: tf.expand_dims(a, 0), "input of expand_dims"),
        (lambda a: tf.transpose(a), "a of transpose"),
        (lambda a: tf.pad(a, [[1, 1]]), "tensor of pad"),
        (lambda a: tf.divide(a, T), "x of divide"),
        (lambda a: tf.range(a), "start of range"),
        (lambda a: tf.constant(a), "value of constant"),
        (lambda a: tf.convert_to_tensor(a), "value of convert_to_tensor"),
        (lambda a: tf.Variable(a), "initial_value"),
        (lambda a: tf.Variable([1.0]).assign(a), "value"),
    ],
)
def test_a_message_names_the_argument_that_the_program_wrote(call, argument):
    """And not, say, the y of an inner Mul."""
    word = "no number"
    with pytest.raises(TypeError, match=f"^{argument} must have dtype .*; got 'no number'$"):
        call(word)
    graph_call = tf.function(lambda: call(word))
    if argument not in ("initial_value", "value"):
        with pytest.raises(TypeError, match=f"^{argument} must have dtype .*; got 'no number'$"):
            graph_call()


@pytest.mark.parametrize("traced", [False, True])
def test_a_list_that_holds_a_tensor_is_no_constant(traced):
    """Eagerly it had no gradient; in a function it held the variable's value while tracing."""
    v = tf.Variable(2.0)
    function = tf.function(lambda: tf.multiply([v, 3.0], [10.0, 1.0]))
    with tf.GradientTape() as tape:
        y = function() if traced else tf.multiply([v, 3.0], [10.0, 1.0])
    assert (y.numpy().tolist(), float(tape.gradient(y, v))) == ([20.0, 3.0], 10.0)
    v.assign(5.0)
    assert function().numpy().tolist() == [50.0, 3.0]
    assert tf.add([[v, 1], [2, v]], np.ones(2)).numpy().tolist() == [[6, 2], [3, 6]]
    assert tf.function(lambda x: tf.reduce_sum([[x, 1.0], [v, v]], 0))(1.0).numpy().tolist() == [6, 6]


def test_a_tensor_keeps_its_dtype_where_an_array_is_converted():
    wide = tf.constant([1.0], "float64")
    for call in (lambda: T + wide, lambda: tf.maximum(wide, T), lambda: tf.concat([T, wide], 0)):
        with pytest.raises(TypeError, match=r"must have .*float(32|64); got float(32|64)"):
            call()
    with pytest.raises(
        TypeError, match="must have the variable.s|must have the dtype of ref, float32; got float64"
    ):
        tf.Variable([1.0]).assign(wide)
    assert (T + wide.numpy()).dtype == (wide.numpy() + T).dtype == "float32"
    with tg.Graph().as_default():
        x = tg.placeholder("float32", [1])
        assert tg.maximum(np.ones(1), x).dtype == "float32"  # TensorFlow's graphs take the first argument's
        with tg.Session() as session:
            assert session.run(x, {x: np.int64([3])}).dtype == "float32"


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(np.array([1.5]), "int32"), (np.float64(2**31), "int32"), (np.array(np.nan), "int64"), (np.inf, "int64")]
    + [(np.int64([256]), "uint8"), (-1, "uint8"), ([1, 2**31], "int32"), (np.array([0, 2]), "bool")],
)
def test_a_number_that_a_dtype_cannot_hold_is_refused(value, dtype):
    with pytest.raises((TypeError, ValueError), match=f"x must (fit|have) dtype {dtype}; got "):
        to_array(value, np.dtype(dtype), "x")


def test_what_a_dtype_can_hold_is_converted():
    for value, dtype, wanted in [
        (np.float64([1, -2]), "int32", [1, -2]),
        (np.array([True, False]), "float32", [1, 0]),
        (np.uint8([0, 255]), "int32", [0, 255]),
        (np.int8([1, 0]), "bool", [True, False]),
        (np.arange(2, dtype=">i8"), "float16", [0, 1]),
        (255, "uint8", 255),
        ([2**40], "int64", [2**40]),
        (True, "int32", 1),
        ([], "int32", []),
        (range(3), "uint8", [0, 1, 2]),
    ]:
        array = to_array(value, np.dtype(dtype), "x")
        assert (array.dtype, array.tolist()) == (np.dtype(dtype), wanted)
        assert array.dtype.isnative
    itself = []
    itself.append(itself)
    with pytest.raises(ValueError, match="x must be nested lists of equal lengths"):
        to_array(itself, None, "x")
    with pytest.raises(ValueError, match="y of add must be nested lists of equal lengths"):
        tf.add(T, itself)


def test_uint8_goes_through_a_graph():
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("uint8", [None, 2], name="x")
        v = tg.Variable(np.uint8([1, 2]), name="v")
        y = tg.cast(tg.gather(tg.add(x, v), [0]), "float32") / 255.0
        wide = tg.one_hot(x, 3)
        add = v.assign_add([255, 1])
        with tg.Session(graph) as session:
            session.run(v.initializer)
            assert session.run(y, {x: np.uint8([[254, 0], [3, 3]])}).tolist() == [[1.0, np.float32(2 / 255)]]
            assert session.run(wide, {x: [[2, 9]]}).tolist() == [[[0, 0, 1], [0, 0, 0]]]
            assert session.run(add).tolist() == [0, 3]
            with pytest.raises(ValueError, match="'x:0' must fit dtype uint8; got int64 256"):
                session.run(y, {x: [[256, 0]]})
    with pytest.raises(TypeError, match="T of MatMul must be one of float16, .*int64; got uint8"):
        tf.matmul(np.uint8([[1]]), np.uint8([[1]]))


def test_integers_and_bools_have_no_gradient():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        y = [tf.cast(tf.cast(x, dtype), "float32") * x for dtype in ("uint8", "int32", "bool", "float64")]
    assert [tape.gradient(each, x).numpy().tolist() for each in y] == [[1, 2], [1, 2], [1, 1], [2, 4]]


def test_the_quotient_of_floats_is_rounded_before_it_is_rounded_down():
    """As TensorFlow computes it; NumPy's 1 // 0.1 is 9, and its infinity // 2 NaN."""
    for dtype in ("float32", "float64"):
        x, y = tf.constant([1.0, np.inf, -1.0], dtype), tf.constant([0.1, 2.0, 0.1], dtype)
        assert (x // y).numpy().tolist() == [10, np.inf, -10]


def test_the_first_array_of_matmul_is_converted_by_itself():
    with pytest.raises(
        TypeError, match="b of MatMul must have one dtype|b of MatMul must have the dtype of a"
    ):
        tf.matmul(np.ones((2, 2)), tf.ones([2, 2]))  # float64 and float32, which TensorFlow 2.21 refuses, too
    assert tf.matmul(np.ones((2, 2), "float32"), tf.ones([2, 2])).numpy().tolist() == [[2, 2], [2, 2]]
    image, filters = np.ones((1, 4, 4, 1)), tf.ones([2, 2, 1, 1])
    with pytest.raises(TypeError, match="filter of DepthwiseConv2dNative must have"):
        tf.nn.depthwise_conv2d(image, filters, [1, 1, 1, 1], "SAME")
